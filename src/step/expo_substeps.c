// Substeps of expo-midpoint at events. Springs that start to act within a step would act only from
// the next step on, an error of first order at every impact. So a step in which a gap closes, a
// contact separates, or slip begins or ends (expo_events.c) is divided in two at that time.
#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/timer.h"
#include "model/workspace.h"
#include "laws/viscoelastic/viscoelastic.h"
#include "tribo/step.h"

// First root of gap + v t + (v_end - v) t^2 / (2 h) = 0, plus a small delay so that the gap has
// closed.
static tbReal closing_time(tbReal gap, tbReal v, tbReal v_end, tbReal h) {
  tbReal a = (v_end - v) / (2 * h), end = gap + 0.5 * h * (v + v_end);
  if (end >= 0) return 0;
  tbReal root = sqrt(tb_max(0, v * v - 4 * a * gap));
  // Of the two formulas for the root, the one without cancellation.
  tbReal t = v <= 0 ? 2 * gap / (root - v) : (-v - root) / (2 * a);
  return t + 1e-6 * h;
}

// The time within the step when the first gap closes or a force first changes its mode
// (state->event), or 0 if there is none.
static tbReal first_event(const tbModel* m, const tbData* d, const tbStepState* state,
                          const tbReal* v_next) {
  tbReal h = m->opt.timestep, first = state->event > 0 ? tb_min(h, state->event) : h;
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
  tbReal last = state->until_event ? (1 - 1e-5) * h : (1 - 1e-7) * h;
  return first > 1e-7 * h && first < last ? first : 0;
}

// Memory for the state at the start of the next substep; NULL when out of memory.
static tbReal* substep_start(const tbModel* m, tbStepState* state) {
  size_t size = (size_t)tb_state_size(m);
  if (!state->start) {
    size_t bytes = sizeof(tbReal) * TB_MOST_SUBSTEPS * size;
    state->start = malloc(bytes);
    state->allocations++;
    state->bytes += bytes;
    if (!state->start) return NULL;
  }
  return state->start + (size_t)state->parts * size;
}

bool tb_expo_substeps(const tbModel* m, tbData* d, const tbReal* v_next, tbResult* result) {
  tbStepState* state = tb_step_state(m, d);
  if (state->parts == 0) {
    state->splits = 0;
    state->whole = m->opt.timestep;
  }
  tbReal touch = tb_step_splits(m, state) ? first_event(m, d, state, v_next) : 0;
  tbReal* start = touch > 0 ? substep_start(m, state) : NULL;
  if (!start) return false;
  tb_state_get(m, d, start);
  state->parts++;
  state->splits++;

  // First substep, up to that time, from the results of the first half of the step.
  tbModel part = *m;
  int until = state->until_event;
  part.opt.timestep = touch;
  d->work->halfway = state->until_event = 1;
  *result = tb_step2_from(&part, d, tb_seconds());
  state->until_event = until;

  // Second substep, as a step of its own.
  if (*result == TB_OK) {
    part.opt.timestep = m->opt.timestep - touch;
    *result = tb_step(&part, d);
    if (*result != TB_OK) tb_state_set(m, d, start);
  }
  state->parts--;
  return true;
}
