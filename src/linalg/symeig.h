// Eigenvalues and eigenvectors of a small dense symmetric matrix: Householder to tridiagonal form,
// then implicit QL. Row-major, in the caller's memory.
#ifndef TRIBO_LINALG_SYMEIG_H_
#define TRIBO_LINALG_SYMEIG_H_

#include <stdbool.h>

// A (n x n, symmetric, both halves) = sum of w[i] q_i q_i^T. The eigenvectors are not formed but
// kept as reflections and rotations, which suffices for a few products with them.
typedef struct {
  int n, stride;
  double* reflector;      // n x stride: the vectors, right of the diagonal
  double* beta;           // n
  double *cosine, *sine;  // of every rotation
  int* row;               // row of every rotation
  int count, capacity;    // rotations
} tbEigenBasis;

// The length of a row of A: n rounded up; the additional entries are zero.
static inline int tb_eigen_stride(int n) {
  return (n + 3) & ~3;
}

// A = Q T Q^T with T tridiagonal, d its diagonal and e its off-diagonal (n each, the last of e is
// 0). A (n rows of tb_eigen_stride) is overwritten and, like `memory` (two such rows), stays in use
// by the basis, which maps to T's coordinates.
void tb_symmetric_tridiagonal(int n, double* A, double* d, double* e, tbEigenBasis* basis,
                              double* memory);

// Second step: the eigenvalues, in no particular order, into d; the basis then maps to
// eigenvectors. `rotations`: memory for tb_eigen_rotations(n) cosines and as many sines; as many
// ints in `rows`. False if the iteration does not converge (non-finite input).
int tb_eigen_rotations(int n);
bool tb_tridiagonal_eigen(double* d, double* e, tbEigenBasis* basis, double* rotations, int* rows);

// Replace four columns X (n x 4) by their coordinates along the eigenvectors, and back.
void tb_eigen_to_modes(const tbEigenBasis* basis, double* X);
void tb_eigen_from_modes(const tbEigenBasis* basis, double* X);

#endif
