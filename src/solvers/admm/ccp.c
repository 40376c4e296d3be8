// ccp/admm: ADMM on the dual convex problem (CM Alg. 3), with the proximal term and the penalty
// rules of the ADMM paper.
#include "solvers/admm/admm.h"

tbResult tb_solve_ccp_admm(tbSolve* s) {
  return tb_admm(s, false);
}
