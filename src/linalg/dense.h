// Dense factorisations, row-major, blocked, in the caller's memory.
#ifndef TRIBO_LINALG_DENSE_H_
#define TRIBO_LINALG_DENSE_H_

#include <stdbool.h>

// Cholesky L L^T = A in place (the lower triangle is read and written, the upper one is not
// touched). `scratch`: tb_cholesky_scratch(n) reals. False if a pivot is not positive.
int tb_cholesky_scratch(int n);
bool tb_cholesky(int n, double* A, int lda, double* scratch);

// x = (L L^T)^-1 b in place.
void tb_cholesky_solve(int n, const double* L, int lda, double* x);

// LU with partial pivoting in place, rows swapped as in `pivot`. False if a pivot is zero.
bool tb_lu(int n, double* A, int lda, int* pivot);

// x = A^-1 b in place.
void tb_lu_solve(int n, const double* LU, int lda, const int* pivot, double* x);

// Cholesky with diagonal pivoting of a positive semidefinite matrix: A[perm, perm] ~ B B^T, where
// row perm[i] of `B` (n x n room, stride n) has `rank` entries. Stops when the largest remaining
// diagonal falls below tolerance times that row's own first diagonal entry. A is only read.
// `work`: 2 n reals, `perm`: n ints. Returns the rank.
int tb_cholesky_pivoted(int n, const double* A, int lda, double tolerance, double* B, int ldb,
                        double* work, int* perm);

#endif
