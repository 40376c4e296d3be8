// Proximal ADMM, shared by ncp/admm and ccp/admm.
#ifndef TRIBO_SOLVERS_ADMM_ADMM_H_
#define TRIBO_SOLVERS_ADMM_ADMM_H_

#include "solvers/solver.h"

// ADMM paper, Alg. 1. With `shift`, the De Saxcé term s = Gamma(z) enters (exact law); without it
// the iteration is CM Alg. 3 (convex law).
tbResult tb_admm(tbSolve* s, bool shift);

#endif
