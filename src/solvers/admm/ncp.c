// ncp/admm: proximal ADMM on the exact law (ADMM paper, Alg. 1).
#include "solvers/admm/admm.h"

tbResult tb_solve_ncp_admm(tbSolve* s) {
  return tb_admm(s, true);
}
