// Fallbacks after the Newton iterations on the active set (docs/notebook/interior-point.md):
// interior points, repeated from the best point so far; between attempts Gauss-Seidel sweeps, with
// domain decomposition on large islands; convex problems last. Each ends with a candidate whose
// residual is evaluated.
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "solvers/active_set/state.h"

// Larger islands start with domain decomposition.
enum { MANY = 400 };
enum { SWEEPS = 80 };             // sweeps before an attempt
enum { AFTER_INTERIOR = 1 };      // Newton iterations after interior points
enum { CONVEX_ITERATIONS = 40 };  // factorisations of the convex problems
enum { AFTER_CONVEX = 6 };        // Newton iterations after the convex problems
// Attempts of interior points: on a large island, on a small one (the first SMALL_PLAIN of them
// without sweeps before), and on a subdomain. On islands of up to TURNING rows under the exact law
// the second attempt follows the path around turning points, and is the last.
enum { ATTEMPTS = 4, SMALL_ATTEMPTS = 7, SMALL_PLAIN = 4, PART_ATTEMPTS = 2, TURNING = 1500 };
// Barrier parameter of an attempt's first point, over the residual of the best point. Small islands
// get here only after Newton iterations near the last impulses have failed, so they start a little
// farther away, then from the centre of the cones.
static const tbReal BARRIER[ATTEMPTS] = {0.1, 0.1, 1, 0.1};
static const tbReal BARRIER_SMALL[SMALL_ATTEMPTS] = {3, 1e9, 0.1, 10, 0.1, 1, 0.1};
enum { FROM_THE_CENTRE = 1 };
// Interior points stop at this multiple of the tolerance; lower on a small island, where the
// remaining error is visible as slow drift, for example of a gripped box.
static const tbReal STOP = 0.9, STOP_SMALL = 0.5;
// Limits of iterations in all, and of iterations without progress. Complementarity stays above
// KAPPA times the infeasibility.
enum { ITERATIONS = 40, TURNING_ITERATIONS = 150, PATIENCE = 4 };
static const tbReal KAPPA = 0.005;

// Whether most blocks are contacts of the exact law on free bodies, by the number of their columns:
// there a sweep is cheap compared with a factorisation.
static bool on_free_bodies(const tbActiveState* s) {
  enum { ROWS = 3, BODY = 6 };
  int count = 0;
  for (int i = 0; i < s->p->nblock; i++) {
    int nnz = s->a->block[i].nnz;
    bool free_bodies = nnz == BODY || nnz == 2 * BODY;
    count += s->p->block[i].type == TB_BLOCK_CONE && s->p->block[i].dim == ROWS && free_bodies;
  }
  return s->a->law == TB_LAW_NCP && 4 * count >= 3 * s->p->nblock;
}

bool tb_active_domain_decomposition(const tbActiveState* s) {
  return !TB_WITHOUT(SUBDOMAINS) && !s->small && !s->a->part && s->p->n > MANY && on_free_bodies(s);
}

// Relaxation by sweeps from the best point so far; on large islands over unconverged blocks only
// and followed by subdomain solves. The result is a candidate. Sets *solved. False: out of memory.
static bool relax_best(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                       bool* solved) {
  memcpy(s->lambda, s->best, sizeof(tbReal) * (size_t)s->p->n);
  // Subdomain solves would end at the same point again: plain sweeps instead.
  bool local = !TB_WITHOUT(SUBDOMAINS) && !s->small && !s->a->part && s->p->n > TB_ACTIVE_LARGE &&
               s->best_residual < s->relaxed_residual;
  bool free_bodies = local && on_free_bodies(s);
  s->relaxed_residual = s->best_residual;
  if (!(free_bodies ? tb_active_whiten(s, arena) : tb_active_sweep(s, arena, SWEEPS))) {
    return false;
  }
  if (local && !tb_active_subdomain_layers(s, arena, info)) return false;
  tb_active_candidate(s, s->lambda, s->sigma);
  *solved = tb_active_evaluate(s, lambda, info);
  return true;
}

// One attempt of interior points from the candidate, and a Newton iteration at its end, which gains
// the last digits. Sets *solved. False: out of memory.
static bool interior_attempt(tbActiveState* s, tbArena* arena, const tbInterior* settings,
                             tbReal* lambda, tbSolveInfo* info, bool* solved) {
  if (!tb_active_interior(s->a, arena, settings, s->candidate, s->candidate_sigma, info))
    return false;
  tb_active_set_iterate(s, s->candidate, s->candidate_sigma);
  tbSolveInfo found = *info;
  *solved = tb_active_evaluate(s, lambda, &found);
  if (!*solved && !tb_active_is_acceptable(s)) return true;
  if (!tb_active_moving(s) && tb_active_iterate(s, AFTER_INTERIOR, lambda, info)) {
    *solved = true;
    return true;
  }
  found.iterations = info->iterations;
  found.factorizations = info->factorizations;
  *info = found;
  return true;
}

// The start of an attempt without sweeps: the guess or the best point so far, or zero if the best
// residual exceeds 1.
static void set_start(tbActiveState* s, bool guess) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  memcpy(s->candidate, guess ? s->guess : s->best, bytes);
  if (s->best_residual > 1) memset(s->candidate, 0, bytes);
  s->form->velocity(s, s->candidate, s->candidate_sigma);
}

bool tb_active_attempts(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                        bool* solved) {
  bool small = s->small, many = tb_active_domain_decomposition(s);
  bool turning = !TB_WITHOUT(TURNING_POINTS) && !small && !s->a->part && s->a->law == TB_LAW_NCP &&
                 s->p->n <= TURNING;
  int attempts = s->a->part || turning ? PART_ATTEMPTS : small ? SMALL_ATTEMPTS : ATTEMPTS;
  if (TB_WITHOUT(ATTEMPTS)) attempts = 1;
  const tbReal* barrier = small ? BARRIER_SMALL : BARRIER;
  for (int k = 0; k < attempts && !*solved && info->iterations < s->a->max_iter; k++) {
    bool swept = many || k >= (small ? SMALL_PLAIN : 1);
    if (swept && !relax_best(s, arena, lambda, info, solved)) return false;
    if (*solved || tb_active_is_acceptable(s)) return true;
    if (!tb_velocity_analyze(s->a->system)) return false;
    bool around = turning && k > 0;
    tbInterior settings = {.max_iter = around ? TURNING_ITERATIONS : ITERATIONS,
                           .patience = PATIENCE,
                           .target = small ? STOP_SMALL : STOP,
                           .mu = tb_min(1, barrier[k] * tb_min(s->best_residual, 1)),
                           .kappa = KAPPA,
                           .mild = small,
                           .turning_points = around};
    if (!swept) set_start(s, small && k == FROM_THE_CENTRE);
    if (!interior_attempt(s, arena, &settings, lambda, info, solved)) return false;
    if (!*solved && small) *solved = tb_active_proximal_continuation(s, lambda, info);
    if (tb_active_is_acceptable(s)) break;
  }
  return true;
}

bool tb_active_last_resort(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                           bool* solved) {
  if (info->iterations >= s->a->max_iter || TB_WITHOUT(PROXIMAL_NEWTON)) return true;
  memcpy(s->candidate, s->best, sizeof(tbReal) * (size_t)s->p->n);
  s->form->velocity(s, s->candidate, s->candidate_sigma);
  if (!tb_active_proximal_newton(s->a, arena, CONVEX_ITERATIONS, s->a->tolerance, s->candidate,
                                 s->candidate_sigma, info)) {
    return false;
  }
  s->form->velocity(s, s->candidate, s->candidate_sigma);
  tb_active_set_iterate(s, s->candidate, s->candidate_sigma);
  *solved = tb_active_evaluate(s, lambda, info) || tb_active_iterate(s, AFTER_CONVEX, lambda, info);
  return true;
}
