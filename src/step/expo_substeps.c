// Substeps of expo-midpoint at events. Springs that start to act within a step would act only from
// the next step on, an error of first order at every impact. So a step in which a gap closes, a
// contact separates, or slip begins or ends (expo_events.c) is divided in two at that time.
#include <math.h>

#include "base/minmax.h"
#include "base/timer.h"
#include "model/workspace.h"
#include "laws/viscoelastic/viscoelastic.h"
#include "step/integrator.h"
#include "tribo/step.h"

// The largest number of parts of a step.
enum { MOST_SUBSTEPS = 12 };

// First root of gap + v t + (v_end - v) t^2 / (2 h) = 0, plus a small delay so that the gap has
// closed.
static tbReal closing_time(tbReal gap, tbReal v, tbReal v_end, tbReal h) {
  tbReal a = (v_end - v) / (2 * h), end = gap + 0.5 * h * (v + v_end);
  if (end >= 0) return 0;
  tbReal root = sqrt(tb_max(0, v * v - 4 * a * gap));
  // The root by that of its two formulas in which nothing cancels.
  tbReal t = v <= 0 ? 2 * gap / (root - v) : (-v - root) / (2 * a);
  return t + 1e-6 * h;
}

// The time within the step when the first gap closes or a force first changes its mode
// (tbViscoelasticState.event), or 0 if there is none.
static tbReal first_event(const tbStep* s, const tbReal* v_next) {
  const tbData* d = s->d;
  const tbStepState* state = s->state;
  const tbDivision* division = s->purpose.division;
  tbReal event = tb_viscoelastic_state(state)->event;
  tbReal h = s->m->opt.timestep, first = event > 0 ? tb_min(h, event) : h;
  for (int i = 0; i < state->constraints.count; i++) {
    const tbConstraint* c = &state->constraints.list[i];
    if (c->source < TB_SOURCE_LIMIT_JOINT || !(c->pos[0] > 0)) continue;
    tbReal v = 0, v_end = 0;
    for (int k = 0; k < c->nnz; k++) {
      v += c->J[k] * d->qvel[c->col[k]];
      v_end += c->J[k] * v_next[c->col[k]];
    }
    tbReal t = closing_time(c->pos[0], v, v_end, h);
    if (t > 0 && t < first) first = t;
  }
  // If the gap is not quite closed by then, the remaining step would have another very short
  // substep.
  tbReal last = division && division->until_event ? (1 - 1e-5) * h : (1 - 1e-7) * h;
  return first > 1e-7 * h && first < last ? first : 0;
}

// Memory for the state at the start of the next substep; NULL when out of memory.
static tbReal* substep_start(const tbModel* m, tbStepState* state, int depth) {
  size_t size = (size_t)tb_state_size(m);
  tbIntegratorState* own = tb_integrator_state(state);
  if (!own || !tb_integrator_memory(state, &own->substeps, MOST_SUBSTEPS * size)) return NULL;
  return own->substeps + (size_t)depth * size;
}

static bool may_divide(const tbDivision* division) {
  return !division || *division->splits < MOST_SUBSTEPS;
}

bool tb_expo_locates(const tbModel* m, const tbDivision* division) {
  return m->opt.integrator == TB_INTEGRATOR_EXPO_MIDPOINT && may_divide(division) &&
         !(division && division->until_event);
}

bool tb_expo_substeps(const tbStep* s, const tbReal* v_next, tbResult* result) {
  const tbModel* m = s->m;
  tbData* d = s->d;
  const tbDivision* outer = s->purpose.division;
  int splits = 0;
  tbDivision inner = {.splits = &splits, .whole = m->opt.timestep};
  if (outer) inner = *outer;
  tbReal touch = may_divide(outer) ? first_event(s, v_next) : 0;
  tbReal* start = touch > 0 ? substep_start(m, s->state, inner.depth) : NULL;
  if (!start) return false;
  tb_state_get(m, d, start);
  inner.depth++;
  ++*inner.splits;

  // First substep, up to that time, from the results of the first half of the step.
  bool until_event = inner.until_event;
  tbModel part = *m;
  tbStep first = *s;
  first.m = &part;
  first.purpose.division = &inner;
  part.opt.timestep = touch;
  d->work->halfway = 1;
  inner.until_event = true;
  *result = tb_step_second_half(&first, tb_seconds());

  // Second substep, as a step of its own.
  inner.until_event = until_event;
  if (*result == TB_OK) {
    part.opt.timestep = m->opt.timestep - touch;
    *result = tb_step_for(&part, d, first.purpose);
    if (*result != TB_OK) tb_state_set(m, d, start);
  }
  return true;
}
