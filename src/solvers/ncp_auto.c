// ncp/auto: the cheapest method that will do. See docs/solver-auto.md.
//
// 1. Gauss-Seidel, as long as its rate promises to end before interior points would.
// 2. Interior points, which converge in some ten factorisations whatever the conditioning.
// 3. Semismooth Newton and more sweeps from the best point so far, for the last digits.
#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "solvers/local.h"
#include "solvers/newton.h"

static void update(void* context, const tbBlock* block, const tbReal* A, const tbReal* b,
                   tbReal* lambda, tbReal* slip) {
  (void)context;
  tb_local_solve(block, TB_LAW_NCP, A, b, lambda, slip);
}

// Arithmetic of one sweep and of a whole interior-point solve, in multiplications.
static double sweep_cost(const tbProblem* p) {
  double entries = (double)p->n * p->n;
  if (p->G.form == TB_DELASSUS_SPARSE) entries = 9.0 * p->G.block_start[p->nblock];
  if (p->G.form == TB_DELASSUS_PRODUCT) entries = 2.0 * p->G.row_start[p->n];
  return entries + 150.0 * p->nblock;
}

static double interior_cost(const tbProblem* p) {
  double n = p->n;
  return 12 * (n * n * n / 12 + 20 * n * n + 2000);
}

// Sweeps while they are worth it. True when done.
static bool sweep_phase(tbSolve* s, tbSweep* sweep) {
  double budget = interior_cost(s->p), cost = sweep_cost(s->p);
  tbReal last = INFINITY;
  int last_k = 0, check = 4;
  tb_sweep_set(sweep, s->lambda);
  for (int k = 1; k <= s->settings->max_iter; k++) {
    tbReal change = tb_sweep(sweep, s->law, 1, false, s->lambda, update, NULL);
    s->info->iterations = k;
    if (k < check && change > 0) continue;
    if (tb_solve_check(s, s->lambda, k, 1)) return true;
    tbReal measure = tb_solve_measure(s, &s->last);
    if (change == 0 || !isfinite(measure)) return false;

    // Linear convergence at the rate seen last: is the rest cheaper than the alternative?
    if (k > 4) {
      double rate = pow(measure / last, 1.0 / (k - last_k));
      double rest = rate < 1 ? log(s->tolerance / measure) / log(rate) : INFINITY;
      if (!(rest * cost < budget)) return false;
    }
    last = measure;
    last_k = k;
    check = k + k / 2;
  }
  return true;
}

// Newton from the best point; where it does not descend, sweeps in between.
static bool polish_phase(tbSolve* s, tbSweep* sweep, tbNewton* newton, tbReal* clean) {
  size_t bytes = (size_t)s->p->n * sizeof *clean;
  int base = s->info->iterations, failures = 0;
  memcpy(s->lambda, s->best, bytes);
  for (int k = 1; k <= 60 && failures < 6; k++) {
    bool progress = false;
    tb_newton_step(newton, s->lambda, &progress);
    tb_newton_clean(newton, s->lambda, clean);
    if (tb_solve_check(s, clean, base + k, 0)) return true;
    if (progress) continue;
    failures++;
    memcpy(s->lambda, s->best, bytes);
    tb_sweep_set(sweep, s->lambda);
    for (int j = 0; j < 10 << failures; j++) {
      tb_sweep(sweep, s->law, 1, j & 1, s->lambda, update, NULL);
    }
    if (tb_solve_check(s, s->lambda, base + k, 1)) return true;
  }
  return false;
}

tbResult tb_solve_ncp_auto(tbSolve* s) {
  tbSweep sweep;
  tbNewton newton;
  if (!tb_sweep_init(&sweep, s)) return tb_solve_no_memory(s);
  s->info->solver = "pgs";
  if (sweep_phase(s, &sweep)) return TB_OK;

  s->info->solver = "ipm";
  tbResult result = tb_solve_ncp_ipm(s);
  if (result != TB_OK || s->info->status == TB_SOLVE_CONVERGED ||
      s->info->status == TB_SOLVE_TIME_LIMIT) {
    return result;
  }
  s->info->solver = "newton";
  tbReal* clean = tb_solve_reals(s, (size_t)s->p->n);
  if (!clean || !tb_newton_init(&newton, s)) return tb_solve_no_memory(s);
  if (!polish_phase(s, &sweep, &newton, clean)) s->info->status = TB_SOLVE_STALLED;
  return TB_OK;
}
