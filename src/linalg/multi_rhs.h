// Solves with many right-hand sides at once: X holds one row per unknown, so that every inner loop
// runs over the contiguous right-hand sides.
#ifndef TRIBO_LINALG_MULTI_RHS_H_
#define TRIBO_LINALG_MULTI_RHS_H_

#include "linalg/ltdl.h"

// y += sum over i < n of a[i * step] X[row[i]], where row r of X starts at X + r * stride; rows 0,
// 1, ... if `row` is NULL. Each row has `count` numbers. Four rows at a time, so that y is read and
// written less often.
void tb_add_rows(tbReal* y, int n, const tbReal* a, int step, const tbReal* X, const int* row,
                 int stride, int count);

// X <- M^-1 X for `count` right-hand sides; row i of X starts at X + i * stride.
void tb_ltdl_solve_multi(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* X,
                         int stride, int count);

// X <- A^-1 X with the factor and the pivots of tb_lu.
void tb_lu_solve_multi(int n, const tbReal* LU, int lda, const int* pivot, tbReal* X, int stride,
                       int count);

// X <- (L L^T)^-1 X with the factor of tb_cholesky.
void tb_cholesky_solve_multi(int n, const tbReal* L, int lda, tbReal* X, int stride, int count);

// x <- A^-T x.
void tb_lu_solve_transposed(int n, const tbReal* LU, int lda, const int* pivot, tbReal* x);

#endif
