// Factorisations of G + R + diag(shift), and the extreme eigenvalues of G + R.
//
// Three forms, chosen by size and structure at tb_factor_init:
//   dense     Cholesky of the n x n matrix
//   velocity  G = B B^T with fewer columns than rows: Cholesky of I + B^T (R + shift)^-1 B
//   sparse    LU of the block-sparse form over pairs of bodies; its symbolic analysis is done once
#ifndef TRIBO_OPERATOR_IMPULSE_FACTOR_H_
#define TRIBO_OPERATOR_IMPULSE_FACTOR_H_

#include <stdbool.h>

#include "base/arena.h"
#include "tribo/problem.h"

typedef enum { TB_FACTOR_DENSE, TB_FACTOR_VELOCITY, TB_FACTOR_SPARSE } tbFactorSide;

typedef struct tbSparseFactor tbSparseFactor;

typedef struct {
  const tbProblem* p;
  const tbReal* scale;  // rows and columns multiplied by this (n entries); NULL: 1
  tbFactorSide side;
  int n, size;
  tbReal* G;         // dense: scaled G + R
  tbReal* B;         // velocity: scaled B, n x size
  tbReal* M;         // the factor, size x size
  tbReal* diagonal;  // velocity: R + shift
  tbReal *work, *scratch;
  tbSparseFactor* sparse;
  int count;  // factorisations so far
} tbFactor;

// False when out of memory.
bool tb_factor_init(tbFactor* factor, const tbProblem* problem, const tbReal* scale,
                    tbArena* arena);

// Factor G + R + diag(shift), shift > 0. False if it is not positive definite.
bool tb_factor_shift(tbFactor* factor, const tbReal* shift);

// x = (G + R + diag(shift))^-1 b; x may be b.
void tb_factor_solve(tbFactor* factor, const tbReal* b, tbReal* x);

// Largest eigenvalue of (scaled) G + R by power iteration from `vector` (n entries, in and out; if
// all are zero, a default start is used). `work`: n + ncol entries.
tbReal tb_eigen_largest(const tbProblem* problem, const tbReal* scale, int iterations,
                        tbReal* vector, tbReal* work);

// Smallest eigenvalue by inverse iteration with the last factorisation, which was shifted by
// `shift` in every row. Returns 0 instead of a negative value.
tbReal tb_eigen_smallest(tbFactor* factor, tbReal shift, int iterations, tbReal* vector,
                         tbReal* work);

#endif
