// Eigenvalues and eigenvectors of a small dense symmetric matrix: Householder to tridiagonal form,
// then implicit QL. Row-major, in the caller's memory.
#ifndef TRIBO_LINALG_SYMEIG_H_
#define TRIBO_LINALG_SYMEIG_H_

#include <stdbool.h>

// A (n x n, symmetric, both halves) = sum of w[i] q_i q_i^T, where q_i is row i of Q. Eigenvalues
// come in no particular order. A is destroyed. `work`: 2 n reals. False where the iteration does
// not end (only for non-finite input).
bool tb_symmetric_eigen(int n, double* A, double* w, double* Q, double* work);

#endif
