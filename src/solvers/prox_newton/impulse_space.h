// Shared by the proximal methods on the impulses (equations in prox/ncp.c): impulses from z, and
// the exact line search of Newton's method on their convex function.
#ifndef TRIBO_SOLVERS_PROX_NEWTON_IMPULSE_SPACE_H_
#define TRIBO_SOLVERS_PROX_NEWTON_IMPULSE_SPACE_H_

#include "tribo/problem.h"

// E of a cone's rows from E of its normal row, so that the cone becomes round in the metric: E_j =
// E_N (largest mu / mu_j)^2; 0 for an axis without friction.
void tb_prox_cone_rows(const tbBlock* block, tbReal* E);

// lambda = Proj(z) / E of one block and, unless W is NULL, its derivative by z (dim x dim). `E` has
// an entry per row; that of a cone is scaled as by tb_prox_cone_rows.
void tb_prox_impulse(const tbBlock* block, const tbReal* E, const tbReal* z, tbReal* lambda,
                     tbReal* W);

// The t > 0 with zero slope along a step of the velocity: slope(t) = linear + t quadratic - <v,
// lambda(z - t v)>, by Newton's method inside a bracket, up to `accuracy` times `first`. z, v, E by
// row.
tbReal tb_prox_line_search(const tbProblem* problem, const tbReal* E, const tbReal* z,
                           const tbReal* v, tbReal quadratic, tbReal linear, tbReal first,
                           tbReal accuracy);

#endif
