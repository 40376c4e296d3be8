// auto for the relaxed laws: Gauss-Seidel for a while, then what handles the hard problems.
#include <string.h>

#include "solvers/prox.h"
#include "solvers/solver.h"

// Run `first` with at most `budget` iterations; true if it converged or time ran out.
static bool try_first(tbSolve* s, tbSolverFunction first, int budget, tbResult* result) {
  tbSolveSettings settings = *s->settings;
  const tbSolveSettings* full = s->settings;
  if (settings.max_iter > budget) settings.max_iter = budget;
  s->settings = &settings;
  *result = first(s);
  s->settings = full;
  return *result != TB_OK || s->info->status == TB_SOLVE_CONVERGED ||
         s->info->status == TB_SOLVE_TIME_LIMIT || full->max_iter <= budget;
}

tbResult tb_solve_ccp_auto(tbSolve* s) {
  tbResult result;
  if (tb_prox_fits(s->p)) {
    s->info->solver = "prox";
    result = tb_solve_ncp_prox(s);
    if (result != TB_OK || s->info->status == TB_SOLVE_CONVERGED) return result;
    memcpy(s->lambda, s->best, (size_t)s->p->n * sizeof *s->lambda);
  }
  s->info->solver = "pgs";
  if (try_first(s, tb_solve_ccp_pgs, 100, &result)) return result;
  s->info->solver = "ipm";
  return tb_solve_ccp_ipm(s);
}

tbResult tb_solve_lcp_auto(tbSolve* s) {
  tbResult result;
  // Newton from a good guess ends in a few steps; sweeps would only spoil it.
  if (s->p->n <= 300) {
    s->info->solver = "newton";
    if (try_first(s, tb_solve_lcp_newton, 50, &result)) return result;
    memcpy(s->lambda, s->best, (size_t)s->p->n * sizeof *s->lambda);
  }
  s->info->solver = "pgs";
  if (try_first(s, tb_solve_lcp_pgs, 200, &result)) return result;
  memcpy(s->lambda, s->best, (size_t)s->p->n * sizeof *s->lambda);
  if (s->p->n > 300 && s->p->n <= 3000) {
    s->info->solver = "newton";
    if (try_first(s, tb_solve_lcp_newton, 50, &result)) return result;
    memcpy(s->lambda, s->best, (size_t)s->p->n * sizeof *s->lambda);
  }
  // Lemke's tableau grows with the square of the rows.
  if (s->p->n <= 300) {
    s->info->solver = "direct";
    result = tb_solve_lcp_direct(s);
    if (result != TB_OK || s->info->status == TB_SOLVE_CONVERGED) return result;
  }
  s->info->solver = "pgs";
  memcpy(s->lambda, s->best, (size_t)s->p->n * sizeof *s->lambda);
  return tb_solve_lcp_pgs(s);
}
