// Frozen springs: the springs of the start of a step, for an evaluation at its middle.
#include <stdlib.h>

#include "laws/viscoelastic/viscoelastic.h"

bool tb_springs_freeze(tbStepState* state) {
  tbViscoelasticState* own = tb_viscoelastic_state(state);
  if (own->springs.count > own->frozen_capacity) {
    int capacity = 2 * own->springs.count + 8;
    tbFrozenSpring* grown = realloc(own->frozen, sizeof(tbFrozenSpring) * (size_t)capacity);
    if (!grown) return false;
    own->frozen = grown;
    state->bytes += sizeof(tbFrozenSpring) * (size_t)(capacity - own->frozen_capacity);
    own->frozen_capacity = capacity;
    state->allocations++;
  }
  own->frozen_count = own->springs.count;
  for (int i = 0; i < own->springs.count; i++) {
    own->frozen[i].spring = own->springs.list[i];
    int constraint = own->springs.list[i].constraint;
    own->frozen[i].key = state->constraints.list[constraint].key;
    own->frozen[i].turn = own->turn ? own->turn[constraint] : 0;
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
  tbViscoelasticState* own = tb_viscoelastic_state(state);
  if (own->springs.count != own->frozen_count) return 0;
  for (int i = 0; i < own->springs.count; i++) {
    tbSpring *s = &own->springs.list[i], now = *s;
    const tbConstraint* c = &state->constraints.list[s->constraint];
    if (c->key != own->frozen[i].key) return 0;
    *s = own->frozen[i].spring;
    s->constraint = now.constraint;
    if (s->slipping && c->source == TB_SOURCE_CONTACT && s->force[0] > 0) {
      redirect(d, c, now.velocity, own->frozen[i].turn, s);
    }
  }
  return 1;
}
