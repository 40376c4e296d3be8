// Steps of expo-midpoint in parts. Springs that come into play within a step would act only from
// the next one on, an error of first order at every impact. So a step in which a gap closes, a
// contact lets go, or friction begins or ends to slip (expo_events.c) is made in two, up to that
// moment and on.
#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/timer.h"
#include "model/workspace.h"
#include "laws/viscoelastic/viscoelastic.h"
#include "tribo/step.h"

// gap + v t + (v_end - v) t^2 / (2 h) = 0: its first root, a little late so that the gap has
// closed.
static tbReal closing_time(tbReal gap, tbReal v, tbReal v_end, tbReal h) {
  tbReal a = (v_end - v) / (2 * h), end = gap + 0.5 * h * (v + v_end);
  if (end >= 0) return 0;
  tbReal root = sqrt(tb_max(0, v * v - 4 * a * gap));
  // The root of either formula that does not cancel.
  tbReal t = v <= 0 ? 2 * gap / (root - v) : (-v - root) / (2 * a);
  return t + 1e-6 * h;
}

// The time within the step when the first gap closes or a force first changes its kind
// (state->event), or 0 where none does.
static tbReal first_touch(const tbModel* m, const tbData* d, const tbStepState* state,
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
  // Where the gap is not quite closed by then, what is left of the step has another sliver.
  tbReal last = state->until_event ? (1 - 1e-5) * h : (1 - 1e-7) * h;
  return first > 1e-7 * h && first < last ? first : 0;
}

// Where the next part keeps the state of its start; NULL when out of memory.
static tbReal* start_of_part(const tbModel* m, tbStepState* state) {
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
  tbReal touch = tb_step_splits(m, state) ? first_touch(m, d, state, v_next) : 0;
  tbReal* start = touch > 0 ? start_of_part(m, state) : NULL;
  if (!start) return false;
  tb_state_get(m, d, start);
  state->parts++;
  state->splits++;

  // Up to that moment, from what the first half has already found.
  tbModel part = *m;
  int until = state->until_event;
  part.opt.timestep = touch;
  d->work->halfway = state->until_event = 1;
  *result = tb_step2_from(&part, d, tb_seconds());
  state->until_event = until;

  // And on, as a step by itself.
  if (*result == TB_OK) {
    part.opt.timestep = m->opt.timestep - touch;
    *result = tb_step(&part, d);
    if (*result != TB_OK) tb_state_set(m, d, start);
  }
  state->parts--;
  return true;
}
