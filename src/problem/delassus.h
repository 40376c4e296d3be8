// Products with G + R in each of its forms (tbDelassus).
#ifndef TRIBO_PROBLEM_DELASSUS_H_
#define TRIBO_PROBLEM_DELASSUS_H_

#include "tribo/problem.h"

// sigma = (G + R) lambda + g. `velocity` is scratch of G.ncol entries for the product form (and
// then holds B^T lambda), unused otherwise.
void tb_delassus_velocity(const tbProblem* problem, const tbReal* lambda, tbReal* velocity,
                          tbReal* sigma);

// y = (G + R) x.
void tb_delassus_apply(const tbProblem* problem, const tbReal* x, tbReal* velocity, tbReal* y);

// The diagonal block i of G + R, row-major dim x dim.
void tb_delassus_diagonal_block(const tbProblem* problem, int i, tbReal* out);

// Entry (r, s) of G = B B^T in its product form; the columns of a row of B ascend.
tbReal tb_delassus_row_product(const tbDelassus* G, int r, int s);

// The whole of G (without R) as a dense row-major n x n matrix.
void tb_delassus_dense(const tbProblem* problem, tbReal* out);

#endif
