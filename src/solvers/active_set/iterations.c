// Newton iterations on the modes of an island (docs/notebook/active-set.md): they alternate between
// the modes by (1) of active_set.c and the system (3) of these modes. Iterations with a step length
// come first; if they fail, proximal continuation with a decreasing weight; once the modes are
// fixed, further solutions with the same modes bring the residual far below the tolerance.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "problem/cone.h"
#include "solvers/active_set/state.h"

// The proximal weight E, over the diagonal of G. An iteration multiplies the error by about E, so
// on a small island E begins at WEIGHT_SHARE tolerance / residual of the guess, clamped to
// [WEIGHT_LEAST, WEIGHT_FIRST]. A full step multiplies E by DECREASE; a step shorter than SHORT by
// INCREASE, clamped to [LEAST_INCREASED, MOST_INCREASED].
static const tbReal WEIGHT_SHARE = 0.1, WEIGHT_LEAST = 1e-4, WEIGHT_FIRST = 1e-3;
static const tbReal DECREASE = 1e-2, INCREASE = 30, LEAST_INCREASED = 1e-4, MOST_INCREASED = 1;

// Proximal continuation: E is multiplied by WEIGHT_DECAY from stage to stage; modes that still
// change far from their fixed point once E is below WEIGHT_LITTLE will not converge. A stage has
// STAGE iterations, the last one LAST_STAGE.
static const tbReal WEIGHT_DECAY = 0.1, WEIGHT_LITTLE = 2e-3;
enum { STAGE = 2, LAST_STAGE = 4 };

// Bounds of the fixed-point residual, a velocity. Relative to tolerance times the largest velocity:
// candidates are evaluated up to NEAR while modes change; on a small island with unchanged modes
// only below CLOSE, because until then another iteration is cheaper than the evaluation. Relative
// to the largest velocity alone: with unchanged modes on a small island, full steps are taken up to
// FAR; beyond, a line search sets the length.
static const tbReal NEAR = 100, CLOSE = 30, FAR = 0.1;

// Step lengths: one below SHORT indicates failure, one below TOO_SHORT ends the iterations of a
// small island; the search stops at SHORTEST, on a small island at SHORTEST_SMALL.
static const tbReal SHORT = 0.3, TOO_SHORT = 0.1, SHORTEST = 1e-2, SHORTEST_SMALL = 0.05;

// A solution with a residual below this share of the tolerance is not refined, whether or not modes
// change.
static const tbReal EARLY = 1e-2;

// With fixed modes the system is solved again, as long as each solution at least multiplies the
// residual by HALF, until the residual is below this share of the tolerance: on large islands, on
// small ones, and on small ones with sliding contacts, whose forces the next step must find anew.
// The shares are larger if bodies move (the guess was off by more than MOVING tolerances), and in a
// subdomain, whose neighbours will change.
static const tbReal REFINED = 1e-6, REFINED_SMALL = 1e-5, REFINED_SLIDING = 0.1;
static const tbReal REFINED_MOVING = 0.3, MOVING = 100, REFINED_SUBDOMAIN = 0.1, HALF = 0.5;
enum { REFINE = 8, REFINE_SLIDING = 2 };  // limits of these solutions

// ---- evaluation --------------------------------------------------------------------------------

bool tb_active_evaluate(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  info->residual = tb_residual(s->p, s->a->law, s->candidate, s->candidate_sigma);
  if (info->residual.relative < s->best_residual) {
    s->best_residual = info->residual.relative;
    memcpy(s->best, s->candidate, bytes);
  }
  if (!(info->residual.relative <= s->a->tolerance)) return false;
  memcpy(lambda, s->candidate, bytes);
  info->residual_exact = s->a->law == TB_LAW_NCP
                             ? info->residual
                             : tb_residual(s->p, TB_LAW_NCP, s->candidate, s->candidate_sigma);
  info->status = TB_SOLVE_CONVERGED;
  return true;
}

// The projection of the iterate on the cones is the candidate.
static bool evaluate_projection(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  const tbProblem* p = s->p;
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    tb_block_project(&p->block[i], s->a->law, s->lambda + row, s->candidate + row);
  }
  s->form->velocity(s, s->candidate, s->candidate_sigma);
  return tb_active_evaluate(s, lambda, info);
}

bool tb_active_moving(const tbActiveState* s) {
  return s->guess_residual > MOVING * s->a->tolerance;
}

// ---- refinement with fixed modes ---------------------------------------------------------------

// The residual aimed at with fixed modes, as a share of the tolerance.
static tbReal refined_share(const tbActiveState* s) {
  if (s->a->part) return REFINED_SUBDOMAIN;
  if (tb_active_moving(s) && !(s->a->free_floating && tb_active_is_at_rest(s, s->lambda)))
    return REFINED_MOVING;
  if (!s->small) return REFINED;
  return s->sliding ? REFINED_SLIDING : REFINED_SMALL;
}

// The next solution with the same modes, and the same factors if possible. Sliding directions
// change the matrix. Without sliding, a proximal weight above the minimum needs more solutions than
// one factorisation without it costs. False: there is none.
static bool solve_again(tbActiveState* s, bool last_sliding, int* factorizations) {
  bool heavy = s->small && !s->sliding && s->proximal_weight > TB_ACTIVE_LEAST_WEIGHT;
  if (heavy) s->proximal_weight = TB_ACTIVE_LEAST_WEIGHT;
  if (s->sliding || heavy) {
    ++*factorizations;
    if ((s->sliding && last_sliding) || !s->form->factor(s)) return false;
  }
  return s->form->refine(s);
}

// Solutions with the same modes until the residual is far below the tolerance or stops falling:
// bodies at rest on these impulses then stay in place, and the impulses serve as warm start of the
// next steps. True: one of them is good enough.
static bool refine_fixed_modes(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  tbSolveInfo best = *info;
  tbReal last = INFINITY;
  bool held = true;
  for (int k = 0; k < REFINE; k++) {
    tbSolveInfo now = *info;
    bool enough = evaluate_projection(s, s->accepted, &now);
    tbReal measure = now.residual.relative;
    if (enough && (best.status != TB_SOLVE_CONVERGED || measure < best.residual.relative)) {
      best = now;
      memcpy(lambda, s->accepted, sizeof(tbReal) * (size_t)s->p->n);
    }
    if (!held || measure <= refined_share(s) * s->a->tolerance || !(measure < HALF * last)) break;
    last = measure;
    tb_active_set_iterate(s, s->candidate, s->candidate_sigma);
    tb_active_set_center(s);
    tb_active_modes(s);
    if (s->changed || !solve_again(s, k >= REFINE_SLIDING, &best.factorizations)) break;
    tb_active_set_iterate(s, s->next, s->next_sigma);
    tb_active_set_center(s);
    tb_active_modes(s);
    held = !s->changed;
  }
  *info = best;
  return info->status == TB_SOLVE_CONVERGED;
}

// ---- iterations --------------------------------------------------------------------------------

// One iteration: a full step to the solution of the modes. False: the matrix is singular.
static bool full_step(tbActiveState* s, tbSolveInfo* info) {
  info->iterations++;
  info->factorizations++;
  if (!s->form->factor(s) || !s->form->solve(s)) return false;
  tb_active_set_iterate(s, s->next, s->next_sigma);
  return true;
}

// The largest proximal weight with which the first iteration still ends well below the tolerance,
// for an iterate that is already close to the solution.
static tbReal first_weight(const tbActiveState* s) {
  if (!s->small) return TB_ACTIVE_LEAST_WEIGHT;
  return tb_min(WEIGHT_FIRST,
                tb_max(WEIGHT_LEAST, WEIGHT_SHARE * s->a->tolerance / s->best_residual));
}

// The candidate is good enough; if the modes stay fixed, one more iteration reduces its residual
// much further.
static void refine_once(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  if (info->iterations >= s->a->max_iter) return;
  s->proximal_weight = TB_ACTIVE_LEAST_WEIGHT;
  s->proximal = false;
  tb_active_set_center(s);
  if (!full_step(s, info)) return;
  tb_active_modes(s);
  if (!s->changed) refine_fixed_modes(s, lambda, info);
}

// Near the solution, a candidate is evaluated even if the modes still change: on the boundary
// between two modes both are right.
static bool try_early(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  if (!(s->fixed_point_residual <= NEAR * s->a->tolerance * s->max_speed)) return false;
  tbSolveInfo now = *info;
  if (!evaluate_projection(s, lambda, &now)) return false;
  *info = now;
  bool holds = !s->changed || tb_active_moving(s);
  tbReal share = holds ? tb_max(EARLY, refined_share(s)) : EARLY;
  if (info->residual.relative > share * s->a->tolerance) refine_once(s, lambda, info);
  return true;
}

// Whether the iterations end at a step of length t.
static bool too_short(const tbActiveState* s, int round, tbReal t) {
  return s->small ? t < TOO_SHORT : t < SHORT && round == 0 && s->p->n > TB_ACTIVE_LARGE;
}

// Shorten the last step to length t.
static void shorten(tbActiveState* s, tbReal t) {
  for (int r = 0; r < s->p->n; r++) {
    s->lambda[r] = s->old[r] + t * (s->next[r] - s->old[r]);
    s->sigma[r] = s->old_sigma[r] + t * (s->next_sigma[r] - s->old_sigma[r]);
  }
}

bool tb_active_iterate(tbActiveState* s, int iterations, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  s->proximal_weight = first_weight(s);
  tb_active_set_center(s);
  tb_active_first_modes(s, info->iterations == 0);
  for (int k = 0; k < iterations && info->iterations < s->a->max_iter; k++) {
    memcpy(s->old, s->lambda, bytes);
    memcpy(s->old_sigma, s->sigma, bytes);
    if (!full_step(s, info)) return false;
    tb_active_set_center(s);
    tb_active_modes(s);
    // With unchanged modes only sliding directions remain to converge, and on small islands the
    // next iteration costs less than evaluating a candidate.
    bool close = !s->small || s->fixed_point_residual <= CLOSE * s->a->tolerance * s->max_speed;
    if (!s->changed && close && refine_fixed_modes(s, lambda, info)) return true;
    if (s->small && s->changed && try_early(s, lambda, info)) return true;
    bool held = s->small && !s->changed && s->fixed_point_residual <= FAR * s->max_speed;
    tbReal t = held ? 1 : tb_active_length(s, s->small ? SHORTEST_SMALL : SHORTEST);
    if (t == 1) {
      s->proximal_weight = tb_max(TB_ACTIVE_LEAST_WEIGHT, DECREASE * s->proximal_weight);
      continue;
    }
    bool ends = too_short(s, k, t);
    if (ends) t = 0;
    if (t < SHORT) {
      s->proximal_weight =
          tb_min(MOST_INCREASED, tb_max(LEAST_INCREASED, INCREASE * s->proximal_weight));
    }
    shorten(s, t);
    if (ends) return false;
    tb_active_set_center(s);
    tb_active_modes(s);
  }
  return false;
}

bool tb_active_proximal_continuation(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  bool solved = false, last = false, lost = false;
  s->proximal = true;
  for (tbReal weight = TB_ACTIVE_FIRST_WEIGHT; !solved && !last && !lost; weight *= WEIGHT_DECAY) {
    last = weight < 2 * TB_ACTIVE_LEAST_WEIGHT;
    s->proximal_weight = last ? TB_ACTIVE_LEAST_WEIGHT : weight;
    tb_active_set_center(s);
    if (weight == TB_ACTIVE_FIRST_WEIGHT) tb_active_modes(s);
    for (int k = 0; k < (last ? LAST_STAGE : STAGE) && !solved && !lost; k++) {
      lost = info->iterations >= s->a->max_iter || !full_step(s, info);
      if (lost) break;
      tb_active_modes(s);
      solved = (s->changed || !last) && try_early(s, lambda, info);
      if (!s->changed) break;
    }
    // The residual is large although the proximal weight is small: a smaller weight will not help.
    lost = lost || (s->changed && weight < WEIGHT_LITTLE &&
                    !(s->fixed_point_residual <= FAR * s->max_speed));
  }
  s->proximal = false;
  if (solved || lost || s->changed) return solved;
  tb_active_set_center(s);
  return refine_fixed_modes(s, lambda, info);
}
