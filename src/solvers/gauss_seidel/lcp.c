// lcp/pgs: Gauss-Seidel with the pyramid |lambda_Ti| <= mu_i lambda_N (CM Alg. 1). Each row takes
// its own exact step 1 / G_ii, because the paper's common step 1 / min(G_xx, G_yy) may overshoot.
#include "solvers/local/local.h"
#include "solvers/gauss_seidel/sweep.h"

static void update(void* context, const tbBlock* block, const tbReal* A, const tbReal* b,
                   tbReal* lambda, tbReal* slip) {
  (void)context;
  tb_local_solve(block, TB_LAW_LCP, A, b, lambda, slip);
}

tbResult tb_solve_lcp_pgs(tbSolve* s) {
  return tb_sweep_solve(s, update, NULL);
}
