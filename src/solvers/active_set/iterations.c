// Rounds of Newton's method on the modes of an island (docs/solver-active.md): modes by (1) of
// active.c and the system (3) that they make, in turn. Rounds that are cut short come first; where
// these do not settle, stages of a proximal term that fades; where modes hold, more solutions of
// the same modes bring the residual far below the tolerance.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "problem/cone.h"
#include "solvers/active_set/state.h"

// The proximal term E, over the diagonal of G. A round leaves about E times the error it began
// with, so on a small island E begins at SOFT_SHARE tolerance / residual of the guess, held between
// SOFT_LEAST and SOFT_FIRST. A full step multiplies it by BOLDER; a step shorter than SHORT by
// CAUTIOUS, held between LEAST_CAUTIOUS and MOST_CAUTIOUS.
static const tbReal SOFT_SHARE = 0.1, SOFT_LEAST = 1e-4, SOFT_FIRST = 1e-3;
static const tbReal BOLDER = 1e-2, CAUTIOUS = 30, LEAST_CAUTIOUS = 1e-4, MOST_CAUTIOUS = 1;

// Stages: E falls by SOFT_DECAY from one to the next; modes that still change once it is below
// SOFT_LITTLE will not settle. A stage has STAGE rounds, the last one LAST_STAGE.
static const tbReal SOFT_DECAY = 0.1, SOFT_LITTLE = 2e-3;
enum { STAGE = 2, LAST_STAGE = 4 };

// How far the modes are from their fixed point, as a velocity. Over the tolerance times the largest
// velocity: what modes that change lead to is judged up to NEAR; on a small island, modes that hold
// are judged only from CLOSE on, since until then the next round costs less. Over the largest
// velocity alone: up to FAR such rounds go whole steps, beyond, their length is searched for.
static const tbReal NEAR = 100, CLOSE = 30, FAR = 0.1;

// Lengths of a step: one below SHORT is a sign of trouble, one below TOO_SHORT ends the rounds of a
// small island; the search looks no further than SHORTEST, on a small island SHORTEST_SMALL.
static const tbReal SHORT = 0.3, TOO_SHORT = 0.1, SHORTEST = 1e-2, SHORTEST_SMALL = 0.05;

// An answer with a residual below this share of the tolerance is not polished, whatever modes do.
static const tbReal EARLY = 1e-2;

// Settled modes are solved again, as long as every solution leaves less than HALF of the residual,
// until it is below this share of the tolerance: on large islands, on small ones, and on small ones
// where something slides, whose forces the next step finds anew. Less is worth the effort where
// things move, the guess having been off by more than MOVING tolerances, and in a part of an
// island, which its neighbours will disturb.
static const tbReal SETTLED = 1e-6, SETTLED_SMALL = 1e-5, SETTLED_SLIDING = 0.1;
static const tbReal SETTLED_MOVING = 0.3, MOVING = 100, SETTLED_PART = 0.1, HALF = 0.5;
enum { SETTLE = 8, SETTLE_SLIDING = 2 };  // solutions at most

// ---- judging -----------------------------------------------------------------------------------

bool tb_active_evaluate(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  info->residual = tb_residual(s->p, s->a->law, s->trial, s->check);
  if (info->residual.relative < s->best_measure) {
    s->best_measure = info->residual.relative;
    memcpy(s->best, s->trial, bytes);
  }
  if (!(info->residual.relative <= s->a->tolerance)) return false;
  memcpy(lambda, s->trial, bytes);
  info->residual_exact =
      s->a->law == TB_LAW_NCP ? info->residual : tb_residual(s->p, TB_LAW_NCP, s->trial, s->check);
  info->status = TB_SOLVE_CONVERGED;
  return true;
}

// What the modes lead to, within the cones, is a candidate.
static bool accept(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  const tbProblem* p = s->p;
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    tb_block_project(&p->block[i], s->a->law, s->lambda + row, s->trial + row);
  }
  s->form->velocity(s, s->trial, s->check);
  return tb_active_evaluate(s, lambda, info);
}

bool tb_active_moving(const tbActiveState* s) {
  return s->guess_measure > MOVING * s->a->tolerance;
}

// ---- modes that hold ---------------------------------------------------------------------------

// Of the tolerance: what a residual is brought to where modes hold.
static tbReal settled_share(const tbActiveState* s) {
  if (s->a->part) return SETTLED_PART;
  if (tb_active_moving(s) && !(s->a->loose && tb_active_is_at_rest(s, s->lambda)))
    return SETTLED_MOVING;
  if (!s->small) return SETTLED;
  return s->sliding ? SETTLED_SLIDING : SETTLED_SMALL;
}

// The next solution of the same modes, with the same factors if they can be. Directions of sliding
// change the matrix; without them, more of a proximal term than is needed costs more solutions than
// factors without it do. False: there is none.
static bool solve_again(tbActiveState* s, bool last_sliding, int* factorizations) {
  bool soft = s->small && !s->sliding && s->softness > TB_ACTIVE_SOFTNESS;
  if (soft) s->softness = TB_ACTIVE_SOFTNESS;
  if (s->sliding || soft) {
    ++*factorizations;
    if ((s->sliding && last_sliding) || !s->form->factor(s)) return false;
  }
  return s->form->refine(s);
}

// Solutions of the same modes until the residual is far below the tolerance or no longer falls:
// what rests on these impulses then stays where it is, and they are good for the next steps too.
// True: one of them is good enough.
static bool settle(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  tbSolveInfo best = *info;
  tbReal last = INFINITY;
  bool held = true;
  for (int k = 0; k < SETTLE; k++) {
    tbSolveInfo now = *info;
    bool enough = accept(s, s->good, &now);
    tbReal measure = now.residual.relative;
    if (enough && (best.status != TB_SOLVE_CONVERGED || measure < best.residual.relative)) {
      best = now;
      memcpy(lambda, s->good, sizeof(tbReal) * (size_t)s->p->n);
    }
    if (!held || measure <= settled_share(s) * s->a->tolerance || !(measure < HALF * last)) break;
    last = measure;
    tb_active_go_to(s, s->trial, s->check);
    tb_active_set_center(s);
    tb_active_modes(s);
    if (s->changed || !solve_again(s, k >= SETTLE_SLIDING, &best.factorizations)) break;
    tb_active_go_to(s, s->next, s->speed);
    tb_active_set_center(s);
    tb_active_modes(s);
    held = !s->changed;
  }
  *info = best;
  return info->status == TB_SOLVE_CONVERGED;
}

// ---- rounds ------------------------------------------------------------------------------------

// One round: to the solution of the modes. False: the matrix is singular.
static bool whole_step(tbActiveState* s, tbSolveInfo* info) {
  info->iterations++;
  info->factorizations++;
  if (!s->form->factor(s) || !s->form->solve(s)) return false;
  tb_active_go_to(s, s->next, s->speed);
  return true;
}

// As much of a proximal term as the first round can have and still end well below the tolerance:
// what is close to its answer has no need to go far.
static tbReal first_softness(const tbActiveState* s) {
  if (!s->small) return TB_ACTIVE_SOFTNESS;
  return tb_min(SOFT_FIRST, tb_max(SOFT_LEAST, SOFT_SHARE * s->a->tolerance / s->best_measure));
}

// The answer will do, but where modes settle one more round takes its residual far down.
static void polish(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  if (info->iterations >= s->a->max_iter) return;
  s->softness = TB_ACTIVE_SOFTNESS;
  s->proximal = false;
  tb_active_set_center(s);
  if (!whole_step(s, info)) return;
  tb_active_modes(s);
  if (!s->changed) settle(s, lambda, info);
}

// What the modes lead to is tried even where others come next, if it is close: at a border between
// two modes both are right.
static bool try_early(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  if (!(s->miss <= NEAR * s->a->tolerance * s->fastest)) return false;
  tbSolveInfo now = *info;
  if (!accept(s, lambda, &now)) return false;
  *info = now;
  bool holds = !s->changed || tb_active_moving(s);
  tbReal share = holds ? tb_max(EARLY, settled_share(s)) : EARLY;
  if (info->residual.relative > share * s->a->tolerance) polish(s, lambda, info);
  return true;
}

// Whether the rounds end at a step of length t.
static bool too_short(const tbActiveState* s, int round, tbReal t) {
  return s->small ? t < TOO_SHORT : t < SHORT && round == 0 && s->p->n > TB_ACTIVE_LARGE;
}

// Back to a part t of the way of the last round.
static void shorten(tbActiveState* s, tbReal t) {
  for (int r = 0; r < s->p->n; r++) {
    s->lambda[r] = s->old[r] + t * (s->next[r] - s->old[r]);
    s->sigma[r] = s->slow[r] + t * (s->speed[r] - s->slow[r]);
  }
}

bool tb_active_iterate(tbActiveState* s, int rounds, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  s->softness = first_softness(s);
  tb_active_set_center(s);
  tb_active_first_modes(s, info->iterations == 0);
  for (int k = 0; k < rounds && info->iterations < s->a->max_iter; k++) {
    memcpy(s->old, s->lambda, bytes);
    memcpy(s->slow, s->sigma, bytes);
    if (!whole_step(s, info)) return false;
    tb_active_set_center(s);
    tb_active_modes(s);
    // While modes hold, only directions of sliding are left to find, and on small islands the next
    // round costs less than a trial.
    bool close = !s->small || s->miss <= CLOSE * s->a->tolerance * s->fastest;
    if (!s->changed && close && settle(s, lambda, info)) return true;
    if (s->small && s->changed && try_early(s, lambda, info)) return true;
    bool held = s->small && !s->changed && s->miss <= FAR * s->fastest;
    tbReal t = held ? 1 : tb_active_length(s, s->small ? SHORTEST_SMALL : SHORTEST);
    if (t == 1) {
      s->softness = tb_max(TB_ACTIVE_SOFTNESS, BOLDER * s->softness);
      continue;
    }
    bool ends = too_short(s, k, t);
    if (ends) t = 0;
    if (t < SHORT) {
      s->softness = tb_min(MOST_CAUTIOUS, tb_max(LEAST_CAUTIOUS, CAUTIOUS * s->softness));
    }
    shorten(s, t);
    if (ends) return false;
    tb_active_set_center(s);
    tb_active_modes(s);
  }
  return false;
}

bool tb_active_stages(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  bool solved = false, last = false, lost = false;
  s->proximal = true;
  for (tbReal softness = TB_ACTIVE_SOFT_START; !solved && !last && !lost; softness *= SOFT_DECAY) {
    last = softness < 2 * TB_ACTIVE_SOFTNESS;
    s->softness = last ? TB_ACTIVE_SOFTNESS : softness;
    tb_active_set_center(s);
    if (softness == TB_ACTIVE_SOFT_START) tb_active_modes(s);
    for (int k = 0; k < (last ? LAST_STAGE : STAGE) && !solved && !lost; k++) {
      lost = info->iterations >= s->a->max_iter || !whole_step(s, info);
      if (lost) break;
      tb_active_modes(s);
      solved = (s->changed || !last) && try_early(s, lambda, info);
      if (!s->changed) break;
    }
    // Far off although the proximal term is small: less of it will not help.
    lost = lost || (s->changed && softness < SOFT_LITTLE && !(s->miss <= FAR * s->fastest));
  }
  s->proximal = false;
  if (solved || lost || s->changed) return solved;
  tb_active_set_center(s);
  return settle(s, lambda, info);
}
