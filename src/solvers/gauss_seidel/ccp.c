// ccp/pgs: projected Gauss-Seidel on the convex law (CM Alg. 2), with a few projected gradient
// steps per block, or its exact minimum if these converge slowly.
#include "solvers/local/local.h"
#include "solvers/gauss_seidel/sweep.h"

static void update(void* context, const tbBlock* block, const tbReal* A, const tbReal* b,
                   tbReal* lambda, tbReal* slip) {
  (void)context;
  tb_local_solve(block, TB_LAW_CCP, A, b, lambda, slip);
}

tbResult tb_solve_ccp_pgs(tbSolve* s) {
  return tb_sweep_solve(s, update, NULL);
}
