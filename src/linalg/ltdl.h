// M = L^T D L of a matrix with the sparsity of a forest, after Featherstone (2005): no fill-in.
//
// Row i of the lower triangle holds the columns of i's ancestors in ascending order and i itself
// last: entries rowadr[i] ... rowadr[i] + rownnz[i], one row after the other. Because the ancestors
// of an ancestor j of i are the first of i's, row j's columns are the first rownnz[j] of row i's:
// every inner loop runs over contiguous numbers. After factoring, a row holds L's entries and D
// last.
#ifndef TRIBO_LINALG_LTDL_H_
#define TRIBO_LINALG_LTDL_H_

#include "tribo/types.h"

typedef struct {
  int n;
  const int* rowadr;
  const int* rownnz;
  const int* colind;
  // By index: the first index of the run that ends here, in which each index is the parent of the
  // next; or NULL, which makes solves slower.
  const int* run;
} tbForest;

// Replace M by its factor; `inverse` (n) receives 1/D. An index whose pivot is at most `least`
// times its diagonal is held: it gets an inertia so large that it does not move (0: no index is
// held). So a singular M, such as that of two hinges on one axis, assigns the motion to the last of
// them. Returns the first pivot that is not positive and finite (the factor is then unusable), or
// -1.
int tb_ltdl_factor(tbForest forest, tbReal* M, tbReal* inverse, tbReal least);

// The largest rounding error of a pivot that should be zero, over its diagonal. A chain of 500
// links has pivots of 2e-8.
#define TB_LEAST_PIVOT 1e-12

// The same for the indices first ... end - 1, which hold whole trees.
int tb_ltdl_factor_range(tbForest forest, tbReal* M, tbReal* inverse, tbReal least, int first,
                         int end);

// x <- M^-1 x.
void tb_ltdl_solve(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x);

// The same for x that is zero outside the indices first ... end - 1, which hold whole trees: only
// these are read and written.
void tb_ltdl_solve_range(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x,
                         int first, int end);

// x <- D^-1/2 L^-T x.
void tb_ltdl_half_solve(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x);

// The same for `rows` vectors on the ascending, ancestor-closed index set `support`; row r is x[r *
// stride ... + nsupport).
void tb_ltdl_half_solve_support(tbForest forest, const tbReal* LD, const tbReal* inverse,
                                const int* support, int nsupport, tbReal* x, int stride, int rows);

// r = M v, from the rows of M (not the factor). r must not alias v.
void tb_forest_mul(tbForest forest, const tbReal* M, tbReal* r, const tbReal* v);

#endif
