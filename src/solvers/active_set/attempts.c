// What rounds on the active set leave (docs/solver-interior.md): interior points, and again from
// the best point so far; between attempts sweeps, on large islands from place to place; convex
// problems at last. Each ends with a candidate that is judged as any other.
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "solvers/active_set/state.h"

// Islands of more rows are solved from place to place first.
enum { MANY = 400 };
enum { SWEEPS = 80 };         // plain sweeps before an attempt
enum { POLISH = 1 };          // rounds on the modes where interior points end
enum { CONVEX_ROUNDS = 40 };  // factorisations of the convex problems
enum { LATER = 6 };           // rounds on the modes where convex problems end
// Attempts of interior points: on a large island, on a small one (the first SMALL_PLAIN of them
// without sweeps before them), and on a part of an island. On islands of up to so many rows under
// the exact law the second goes around folds, and is the last.
enum { ATTEMPTS = 4, SMALL_ATTEMPTS = 7, SMALL_PLAIN = 4, PART_ATTEMPTS = 2, FOLDS = 1500 };
// Products of an attempt's first point, over the residual of the best point. Small islands come
// here only after rounds near the last impulses have failed, so they start a little farther away,
// then from the centre.
static const tbReal PRODUCTS[ATTEMPTS] = {0.1, 0.1, 1, 0.1};
static const tbReal PRODUCTS_SMALL[SMALL_ATTEMPTS] = {3, 1e9, 0.1, 10, 0.1, 1, 0.1};
enum { FROM_THE_CENTRE = 1 };
// Interior points stop at this share of the tolerance; lower on a small island, where what is left
// shows: a box in a grip creeps.
static const tbReal STOP = 0.9, STOP_SMALL = 0.5;
// Their iterations at most, and without progress. Products are not brought below KAPPA times the
// infeasibility.
enum { ITERATIONS = 40, AROUND_FOLDS = 150, PATIENCE = 4 };
static const tbReal KAPPA = 0.005;

// Whether most blocks are contacts of the exact law on free bodies, by their shape: those whose
// sweeps cost little next to factors.
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

// Sweeps from the best point so far, on large islands only where they are needed and with repairs
// after them; what they end with is a candidate too. Sets *solved. False: out of memory.
static bool relax_best(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                       bool* solved) {
  memcpy(s->lambda, s->best, sizeof(tbReal) * (size_t)s->p->n);
  // From the same point repairs would lead to the same place: plain sweeps, then.
  bool local = !TB_WITHOUT(SUBDOMAINS) && !s->small && !s->a->part && s->p->n > TB_ACTIVE_LARGE &&
               s->best_measure < s->repaired;
  bool free_bodies = local && on_free_bodies(s);
  s->repaired = s->best_measure;
  if (!(free_bodies ? tb_active_whiten(s, arena) : tb_active_sweep(s, arena, SWEEPS))) {
    return false;
  }
  if (local && !tb_active_subdomain_layers(s, arena, info)) return false;
  tb_active_candidate(s, s->lambda, s->sigma);
  *solved = tb_active_evaluate(s, lambda, info);
  return true;
}

// One attempt of interior points from `trial` and its velocity `check`, and a round on the modes
// where they end, which brings the last digits. Sets *solved. False: out of memory.
static bool interior_attempt(tbActiveState* s, tbArena* arena, const tbInterior* settings,
                             tbReal* lambda, tbSolveInfo* info, bool* solved) {
  if (!tb_active_interior(s->a, arena, settings, s->trial, s->check, info)) return false;
  tb_active_go_to(s, s->trial, s->check);
  tbSolveInfo found = *info;
  *solved = tb_active_evaluate(s, lambda, &found);
  if (!*solved && !tb_active_will_do(s)) return true;
  if (!tb_active_moving(s) && tb_active_iterate(s, POLISH, lambda, info)) {
    *solved = true;
    return true;
  }
  found.iterations = info->iterations;
  found.factorizations = info->factorizations;
  *info = found;
  return true;
}

// Where an attempt starts without sweeps: the guess or the best point so far, or none where these
// are worse.
static void propose_start(tbActiveState* s, bool guess) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  memcpy(s->trial, guess ? s->guess : s->best, bytes);
  if (s->best_measure > 1) memset(s->trial, 0, bytes);
  s->form->velocity(s, s->trial, s->check);
}

bool tb_active_attempts(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                        bool* solved) {
  bool small = s->small, many = tb_active_domain_decomposition(s);
  bool folds = !TB_WITHOUT(TURNING_POINTS) && !small && !s->a->part && s->a->law == TB_LAW_NCP &&
               s->p->n <= FOLDS;
  int attempts = s->a->part || folds ? PART_ATTEMPTS : small ? SMALL_ATTEMPTS : ATTEMPTS;
  if (TB_WITHOUT(ATTEMPTS)) attempts = 1;
  const tbReal* products = small ? PRODUCTS_SMALL : PRODUCTS;
  for (int k = 0; k < attempts && !*solved && info->iterations < s->a->max_iter; k++) {
    bool swept = many || k >= (small ? SMALL_PLAIN : 1);
    if (swept && !relax_best(s, arena, lambda, info, solved)) return false;
    if (*solved || tb_active_will_do(s)) return true;
    if (!tb_velocity_analyze(s->a->system)) return false;
    bool around = folds && k > 0;
    tbInterior settings = {.rounds = around ? AROUND_FOLDS : ITERATIONS,
                           .patience = PATIENCE,
                           .target = small ? STOP_SMALL : STOP,
                           .mu = tb_min(1, products[k] * tb_min(s->best_measure, 1)),
                           .kappa = KAPPA,
                           .gentle = small,
                           .folds = around};
    if (!swept) propose_start(s, small && k == FROM_THE_CENTRE);
    if (!interior_attempt(s, arena, &settings, lambda, info, solved)) return false;
    if (!*solved && small) *solved = tb_active_stages(s, lambda, info);
    if (tb_active_will_do(s)) break;
  }
  return true;
}

bool tb_active_last_resort(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                           bool* solved) {
  if (info->iterations >= s->a->max_iter || TB_WITHOUT(PROXIMAL_NEWTON)) return true;
  memcpy(s->trial, s->best, sizeof(tbReal) * (size_t)s->p->n);
  s->form->velocity(s, s->trial, s->check);
  if (!tb_active_proximal_newton(s->a, arena, CONVEX_ROUNDS, s->a->tolerance, s->trial, s->check,
                                 info)) {
    return false;
  }
  s->form->velocity(s, s->trial, s->check);
  tb_active_go_to(s, s->trial, s->check);
  *solved = tb_active_evaluate(s, lambda, info) || tb_active_iterate(s, LATER, lambda, info);
  return true;
}
