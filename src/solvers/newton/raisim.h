// RaiSim's law by Newton's method from a good first guess: a component of raisim/auto.
#ifndef TRIBO_SOLVERS_NEWTON_RAISIM_H_
#define TRIBO_SOLVERS_NEWTON_RAISIM_H_

#include "solvers/solver.h"

// Whether the problem has few enough rows, or columns of a product, for dense factors.
bool tb_raisim_newton_fits(const tbProblem* problem);

// Starts from s->lambda; converges in a few steps, or gives up (`stalled`) after some dozens.
tbResult tb_solve_raisim_newton(tbSolve* s);

#endif
