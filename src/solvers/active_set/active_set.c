// Newton's method on the active set, the fast path of a step: the order of its attempts.
//
// With sigma = g + J x + R lambda, x = M^-1 J^T lambda, a contact of the exact law is open
// (lambda = 0), sticks (sigma = 0) or slides (sigma_N = 0, lambda_T = mu lambda_N u). Which of them
// follows from the fixed point of Alart and Curnier (1991),
//
//     y = lambda - sigma / rho:   y_N <= 0 open,   |y_T| <= mu y_N sticks,   else slides along
//     u = y_T / |y_T|                                                                         (1)
//
// and so does the derivative of the direction: across u, lambda_T = -c sigma_T with
// c = kappa / (rho (1 - kappa)), kappa = mu y_N / |y_T|. Given the modes, every block is affine in
// its velocity,
//
//     lambda = c0 - W (g + J x)                                                               (2)
//
// where rows with sigma = 0 get the proximal term E (lambda - lambda_k), which makes W = 1/(E + R)
// finite. Together with M x = J^T lambda this is one linear system with M + J^T W J (3), which is
// symmetric unless a contact slides. Newton's method alternates between modes and system; near the
// solution of the last step it takes two iterations, typically. Elliptic cones become round in the
// coordinates lambda_j / mu_j, mu_j sigma_j. ccp differs only in the sliding zone of (1): it uses
// the projection on the cone, with W along the edge d = (1, mu u).
#include <math.h>
#include <string.h>

#include "base/ablation.h"
#include "solvers/active_set/state.h"

// Iterations of the first attempt, by the size of the island.
enum { FIRST_SMALL = 8, FIRST = 10, FIRST_LARGE = 3 };
// The share of contacts whose mode differs from what their impulses imply, above which Newton
// iterations are skipped on a large island.
static const tbReal MOVED = 0.02;

static bool allocate(tbActiveState* s, tbArena* arena) {
  size_t n = (size_t)s->p->n + 1;
  tbReal** const vectors[] = {&s->lambda,          &s->sigma,     &s->center,   &s->next,
                              &s->next_sigma,      &s->old_sigma, &s->old,      &s->candidate,
                              &s->candidate_sigma, &s->best,      &s->accepted, &s->guess};
  enum { COUNT = sizeof vectors / sizeof *vectors };
  tbReal* block = tb_arena_alloc(arena, sizeof(tbReal) * COUNT * n);
  s->mode = tb_arena_alloc(arena, sizeof(int) * n);
  s->slide = tb_arena_alloc(arena, sizeof(tbSlide) * (size_t)(s->p->nblock + 1));
  if (!block || !s->mode || !s->slide) return false;
  for (int k = 0; k < COUNT; k++) *vectors[k] = block + (size_t)k * n;
  return s->form->start(s, arena);
}

// An island is small if an iteration is cheap.
static void choose_form(tbActiveState* s) {
  const tbActive* a = s->a;
  bool dense = a->system && a->system->dense;
  s->small = !a->system || dense || a->few_dofs;
  // A small subdomain also solves every step as a change.
  if (a->part && a->few_dofs) dense = true;
  s->form = !a->system ? &TB_ACTIVE_DUAL : dense ? &TB_ACTIVE_DENSE : &TB_ACTIVE_VELOCITY;
}

// The first guess becomes the iterate and the best candidate so far.
static void start(tbActiveState* s, const tbReal* lambda, const tbReal* sigma) {
  const tbActive* a = s->a;
  int n = s->p->n;
  tb_active_set_iterate(s, lambda, sigma);
  memcpy(s->best, lambda, sizeof(tbReal) * (size_t)n);
  memcpy(s->guess, lambda, sizeof(tbReal) * (size_t)n);
  s->best_residual =
      a->start_residual ? *a->start_residual : tb_residual(a->p, a->law, lambda, sigma).relative;
  s->relaxed_residual = INFINITY;
  for (int r = 0; r < n; r++) {
    tbReal speed = fabs(a->p->g[r]);
    if (speed > s->max_speed) s->max_speed = speed;
    s->mode[r] = -1;
    if (lambda[r] != 0) s->guess_residual = s->best_residual;
  }
}

// Newton iterations, then proximal continuation from the guess. Sets *solved. False: out of memory.
static bool small_island(tbActiveState* s, tbReal* lambda, tbSolveInfo* info, bool* solved) {
  if (s->a->system && !tb_velocity_analyze(s->a->system)) return false;
  *solved = tb_active_iterate(s, FIRST_SMALL, lambda, info);
  if (*solved) return true;
  memcpy(s->lambda, s->guess, sizeof(tbReal) * (size_t)s->p->n);
  s->form->velocity(s, s->lambda, s->sigma);
  *solved = tb_active_proximal_continuation(s, lambda, info);
  return true;
}

// A few Newton iterations, none if too many contacts changed. The sparsity of the whole island is
// analysed unless sweeps come first, which mostly need no factors of it. Sets *solved. False: out
// of memory.
static bool large_island(tbActiveState* s, tbReal* lambda, tbSolveInfo* info, bool* solved) {
  bool tried = s->a->impulse_space_failed, large = s->p->n > TB_ACTIVE_LARGE;
  bool skip = tried || (large && tb_active_moved_share(s) > MOVED);
  bool sweeps_first = skip && tb_active_domain_decomposition(s);
  if (!sweeps_first && !tb_velocity_analyze(s->a->system)) return false;
  if (!skip) *solved = tb_active_iterate(s, large ? FIRST_LARGE : FIRST, lambda, info);
  return true;
}

// No solution within the tolerance: return the best candidate. False: out of memory.
static bool give_best(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  const tbActive* a = s->a;
  memcpy(lambda, s->best, sizeof(tbReal) * (size_t)s->p->n);
  if (a->system && !tb_velocity_analyze(a->system)) return false;
  s->form->velocity(s, s->best, s->candidate_sigma);
  info->residual = tb_residual(a->p, a->law, s->best, s->candidate_sigma);
  info->residual_exact = tb_residual(a->p, TB_LAW_NCP, s->best, s->candidate_sigma);
  if (info->residual.relative <= a->acceptable) info->status = TB_SOLVE_CONVERGED;
  // The modes and factors in memory belong to other impulses.
  s->changed = true;
  return true;
}

bool tb_active_solve(const tbActive* a, tbArena* arena, const tbReal* sigma, tbReal* lambda,
                     tbSolveInfo* info) {
  tbActiveState s = {.a = a, .p = a->p};
  *info = (tbSolveInfo){
      .status = TB_SOLVE_MAX_ITERATIONS, .law = tb_law_name(a->law), .solver = "active-set"};
  choose_form(&s);
  if (!allocate(&s, arena)) return false;
  start(&s, lambda, sigma);

  bool solved = false, sure = a->p->n <= TB_ACTIVE_LARGE && !a->part;
  if (!(s.small ? small_island : large_island)(&s, lambda, info, &solved)) return false;
  if (a->system && a->law == TB_LAW_LCP) {
    if (!solved && !tb_active_pyramid(&s, arena, lambda, info, &solved)) return false;
  } else if (a->system && a->law != TB_LAW_RAISIM) {
    if (!solved && !tb_active_attempts(&s, arena, lambda, info, &solved)) return false;
    sure = sure && !solved && !tb_active_is_acceptable(&s);
    if (sure && !tb_active_last_resort(&s, arena, lambda, info, &solved)) return false;
  }
  if (!solved && !give_best(&s, lambda, info)) return false;
  if (a->resting_start && !TB_WITHOUT(REST) && info->status == TB_SOLVE_CONVERGED)
    tb_active_resting_start(&s, lambda);
  return true;
}
