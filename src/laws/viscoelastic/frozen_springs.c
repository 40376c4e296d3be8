// Frozen springs: the springs of the start of a step, for an evaluation at its middle.
#include <stdlib.h>

#include "laws/viscoelastic/viscoelastic.h"

// A spring of the start of the step and the key of its constraint.
struct tbFrozenSpring {
  uint64_t key;
  tbSpring spring;
  tbReal turn;  // rad: angle by which friction can turn its slip in the step
};

bool tb_springs_freeze(tbStepState* state) {
  if (state->springs.count > state->frozen_capacity) {
    int capacity = 2 * state->springs.count + 8;
    tbFrozenSpring* grown = realloc(state->frozen, sizeof(tbFrozenSpring) * (size_t)capacity);
    if (!grown) return false;
    state->frozen = grown;
    state->bytes += sizeof(tbFrozenSpring) * (size_t)(capacity - state->frozen_capacity);
    state->frozen_capacity = capacity;
    state->allocations++;
  }
  state->frozen_count = state->springs.count;
  for (int i = 0; i < state->springs.count; i++) {
    state->frozen[i].spring = state->springs.list[i];
    int constraint = state->springs.list[i].constraint;
    state->frozen[i].key = state->constraints.list[constraint].key;
    state->frozen[i].turn = state->turn ? state->turn[constraint] : 0;
  }
  return true;
}

// Direct the friction of a slipping contact against its present velocity.
static void redirect(const tbData* d, const tbConstraint* c, const tbReal* velocity, tbReal turn,
                     tbSpring* s) {
  tbReal friction[6];
  for (int r = 1; r < s->dim; r++) friction[r] = s->force[r] / s->force[0];
  tb_slip_direction(d, c, velocity, turn, friction);
  for (int r = 1; r < s->dim; r++) s->force[r] = friction[r] * s->force[0];
}

int tb_springs_restore_frozen(const tbData* d, tbStepState* state) {
  if (state->springs.count != state->frozen_count) return 0;
  for (int i = 0; i < state->springs.count; i++) {
    tbSpring *s = &state->springs.list[i], now = *s;
    const tbConstraint* c = &state->constraints.list[s->constraint];
    if (c->key != state->frozen[i].key) return 0;
    *s = state->frozen[i].spring;
    s->constraint = now.constraint;
    if (s->slipping && c->source == TB_SOURCE_CONTACT && s->force[0] > 0) {
      redirect(d, c, now.velocity, state->frozen[i].turn, s);
    }
  }
  return 1;
}
