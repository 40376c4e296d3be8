// Derivatives of the projections of problem/cone.h.
#ifndef TRIBO_PROBLEM_CONE_DERIVATIVE_H_
#define TRIBO_PROBLEM_CONE_DERIVATIVE_H_

#include "tribo/problem.h"

// The Jacobian of tb_cone_project at x (row-major dim x dim, symmetric, eigenvalues in [0, 1]). At
// a kink, one of its limits.
void tb_cone_project_derivative(int dim, const tbReal* mu, const tbReal* x, tbReal* out);

#endif
