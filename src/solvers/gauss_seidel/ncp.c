// ncp/pgs: Gauss-Seidel on the exact law (CM Alg. 6, Jean's NSGS). By default each contact's law
// is solved exactly (take-off, stiction, sliding); with pgs_local_exact = 0 the paper's two
// projected steps are taken as written.
#include <math.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "solvers/local/local.h"
#include "solvers/gauss_seidel/sweep.h"

static void update_exact(void* context, const tbBlock* block, const tbReal* A, const tbReal* b,
                         tbReal* lambda, tbReal* slip) {
  (void)context;
  tb_local_solve(block, TB_LAW_NCP, A, b, lambda, slip);
}

// CM Alg. 6, lines 3-6.
static void update_paper(void* context, const tbBlock* block, const tbReal* A, const tbReal* b,
                         tbReal* lambda, tbReal* slip) {
  (void)context;
  if (block->type != TB_BLOCK_CONE) {
    tb_local_solve(block, TB_LAW_NCP, A, b, lambda, slip);
    return;
  }
  int d = block->dim;
  tbReal sigma[TB_MAX_BLOCK_DIM], smallest = INFINITY, length = 0;
  if (!(A[0] > 0)) return;

  // Normal impulse on the half line.
  sigma[0] = b[0];
  for (int j = 0; j < d; j++) sigma[0] += A[j] * lambda[j];
  lambda[0] = tb_max(0, lambda[0] - sigma[0] / A[0]);

  // Friction on the disc that the new normal impulse allows.
  for (int i = 1; i < d; i++) {
    smallest = tb_min(smallest, A[i * d + i]);
    sigma[i] = b[i];
    for (int j = 0; j < d; j++) sigma[i] += A[i * d + j] * lambda[j];
  }
  for (int i = 1; i < d; i++) {
    if (smallest > 0) lambda[i] -= sigma[i] / smallest;
    if (block->mu[i - 1] == 0) lambda[i] = 0;
    if (lambda[i] != 0) length = tb_hypot(length, lambda[i] / block->mu[i - 1]);
  }
  if (length > lambda[0]) {
    for (int i = 1; i < d; i++) lambda[i] *= lambda[0] / length;
  }
}

tbResult tb_solve_ncp_pgs(tbSolve* s) {
  return tb_sweep_solve(s, s->settings->pgs_local_exact ? update_exact : update_paper, NULL);
}
