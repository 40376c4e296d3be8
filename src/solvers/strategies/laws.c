// auto for the relaxed laws: a cheap method first, then more robust ones for hard problems, each
// with a bounded number of operations.
#include <math.h>
#include <string.h>

#include "solvers/prox_newton/prox.h"
#include "solvers/newton/raisim.h"
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

// Set s->lambda to the solution of the exact law, or its approximation after some dozens of
// iterations: for sticking contacts it also satisfies the relaxed law.
static tbResult start_from_exact_law(tbSolve* s) {
  enum { MOST = 60 };
  size_t bytes = (size_t)s->p->n * sizeof *s->lambda;
  tbReal* best = tb_solve_reals(s, (size_t)s->p->n);
  if (!best) return tb_solve_no_memory(s);
  memcpy(best, s->best, bytes);
  memcpy(s->lambda, s->best, bytes);
  tbReal best_residual = s->best_residual;
  tbLaw law = s->law;
  tbSolveSettings settings = *s->settings;
  const tbSolveSettings* full = s->settings;
  if (settings.max_iter > MOST) settings.max_iter = MOST;
  settings.history = NULL;
  s->law = TB_LAW_NCP;
  s->settings = &settings;
  s->best_residual = INFINITY;
  tbResult result = tb_prox_fits(s->p) ? tb_solve_prox_newton(s) : tb_solve_ncp_auto(s);
  if (isfinite(s->best_residual)) memcpy(s->lambda, s->best, bytes);
  s->law = law;
  s->settings = full;
  s->best_residual = best_residual;
  memcpy(s->best, best, bytes);
  if (s->info->status == TB_SOLVE_CONVERGED) s->info->status = TB_SOLVE_MAX_ITERATIONS;
  return result;
}

// Whether the first guess, with velocity s->sigma, already solves the exact law.
static bool is_exact(const tbSolve* s) {
  tbResidual residual = tb_residual(s->p, TB_LAW_NCP, s->lambda, s->sigma);
  return tb_solve_measure(s, &residual) <= s->tolerance;
}

tbResult tb_solve_ccp_auto(tbSolve* s) {
  tbResult result;
  if (tb_prox_fits(s->p)) {
    s->info->solver = "prox-newton";
    result = tb_solve_prox_newton(s);
    if (result != TB_OK || s->info->status == TB_SOLVE_CONVERGED) return result;
    memcpy(s->lambda, s->best, (size_t)s->p->n * sizeof *s->lambda);
  }
  s->info->solver = "pgs";
  if (try_first(s, tb_solve_ccp_pgs, 100, &result)) return result;
  s->info->solver = "ipm";
  return tb_solve_ccp_ipm(s);
}

// Lemke's tableau has about eight times the rows squared entries, all of which every pivot updates:
// the pivots that fit in a bounded number of multiplications.
static int affordable_pivots(int n) {
  tbReal count = 1e8 / (8.0 * n * n + 1);
  return count < 2000 ? (int)count : 2000;
}

tbResult tb_solve_lcp_auto(tbSolve* s) {
  size_t bytes = (size_t)s->p->n * sizeof *s->lambda;
  int n = s->p->n, pivots = affordable_pivots(n);
  bool small = n <= 300;
  tbResult result;
  // Newton converges from a good guess in a step or two; interior points need no guess, and provide
  // a good one.
  static const struct {
    const char* name;
    tbSolverFunction solve;
    int budget;
  } TRIES[] = {{"newton", tb_solve_lcp_newton, 2},
               {"ipm", tb_solve_lcp_ipm, 100},
               {"newton", tb_solve_lcp_newton, 2}};
  for (int k = 0; small && k < 3; k++) {
    s->info->solver = TRIES[k].name;
    if (try_first(s, TRIES[k].solve, TRIES[k].budget, &result)) return result;
    memcpy(s->lambda, s->best, bytes);
  }
  // Lemke's method takes one to two pivots per row.
  if (pivots >= 3 * n) {
    s->info->solver = "lemke";
    s->info->iterations = 0;
    if (try_first(s, tb_solve_lcp_lemke, pivots, &result)) return result;
    memcpy(s->lambda, s->best, bytes);
  }
  s->info->solver = "pgs";
  if (try_first(s, tb_solve_lcp_pgs, 200, &result)) return result;
  memcpy(s->lambda, s->best, bytes);
  if (!small && n <= 3000) {
    s->info->solver = "newton";
    if (try_first(s, tb_solve_lcp_newton, 50, &result)) return result;
    memcpy(s->lambda, s->best, bytes);
    s->info->solver = "pgs";
  }
  return tb_solve_lcp_pgs(s);
}

// Above this residual the impulses are no better than zero impulses.
static const tbReal FAILED = 0.1;

// Sweeps from the present guess; if they fail, Newton from the solution of the exact law; if that
// fails too, Newton after some sweeps from zero (with few rows, where this is cheap), or sweeps
// alone.
tbResult tb_solve_raisim_auto(tbSolve* s) {
  enum { MOST_AGAIN = 100 };
  tbResult result;
  s->info->solver = "pgs";
  if (!is_exact(s)) {
    if (try_first(s, tb_solve_raisim_pgs, 30, &result)) return result;
    result = start_from_exact_law(s);
    if (result != TB_OK || s->info->status == TB_SOLVE_TIME_LIMIT) return result;
  }
  if (tb_solve_check(s, s->lambda, s->info->iterations, 0)) return TB_OK;
  size_t bytes = (size_t)s->p->n * sizeof *s->lambda;
  tbReal *exact = tb_solve_reals(s, (size_t)s->p->n), measure = tb_solve_measure(s, &s->last);
  if (!exact) return tb_solve_no_memory(s);
  memcpy(exact, s->lambda, bytes);
  // A contact that begins to slip slides in another direction, and faster, by this law than by the
  // exact one. Newton does not find that solution from the exact law's, but from sweeps that start
  // at zero.
  int tries = s->p->n <= MOST_AGAIN ? 2 : 1;
  for (int k = 0; k < tries && tb_raisim_newton_fits(s->p); k++) {
    if (k == 1) {
      memset(s->lambda, 0, bytes);
      if (try_first(s, tb_solve_raisim_pgs, 30, &result)) return result;
    }
    s->info->solver = "newton";
    result = tb_solve_raisim_newton(s);
    if (result != TB_OK || s->info->status == TB_SOLVE_CONVERGED ||
        s->info->status == TB_SOLVE_TIME_LIMIT) {
      return result;
    }
    s->info->solver = "pgs";
  }
  memcpy(s->lambda, exact, bytes);
  result = tb_solve_raisim_pgs(s);
  // If the sweeps fail, the exact law's solution is better than none.
  if (s->info->status != TB_SOLVE_CONVERGED && s->best_residual > FAILED && isfinite(measure)) {
    memcpy(s->best, exact, bytes);
    memcpy(s->lambda, exact, bytes);
    s->best_residual = measure;
  }
  return result;
}
