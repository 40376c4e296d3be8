// Admissible sets of one block and their projections: second-order cone with a coefficient per
// axis, pyramid, half line and box. A cone's vector has its normal entry first.
//
// K  = { x : sqrt(sum (x_Ti / mu_i)^2) <= x_N }, where mu_i = 0 requires x_Ti = 0
// K* = { y : sqrt(sum (mu_i y_Ti)^2) <= y_N }
// P  = { x : |x_Ti| <= mu_i x_N }, the pyramid
// P* = { y : sum mu_i |y_Ti| <= y_N }
#ifndef TRIBO_PROBLEM_CONE_H_
#define TRIBO_PROBLEM_CONE_H_

#include <stdbool.h>

#include "tribo/problem.h"

// Whether x is in the cone of tb_cone_project: it is then its own projection.
bool tb_cone_contains(int dim, const tbReal* mu, const tbReal* x);

// Euclidean projections. `out` may be `x`.
void tb_cone_project(int dim, const tbReal* mu, const tbReal* x, tbReal* out);
void tb_pyramid_project(int dim, const tbReal* mu, const tbReal* x, tbReal* out);

// Projection on K in the metric |x|^2 = sum metric_i x_i^2, metric > 0 (ADMM IV).
void tb_cone_project_metric(int dim, const tbReal* mu, const tbReal* metric, const tbReal* x,
                            tbReal* out);

// The De Saxcé shift of the normal row: sqrt(sum (mu_i sigma_Ti)^2); for the pyramid,
// sum mu_i |sigma_Ti|.
tbReal tb_cone_shift(int dim, const tbReal* mu, const tbReal* sigma);
tbReal tb_pyramid_shift(int dim, const tbReal* mu, const tbReal* sigma);

// Projection of x on the set of admissible impulses of a block under a law.
void tb_block_project(const tbBlock* block, tbLaw law, const tbReal* x, tbReal* out);

#endif
