// The table of laws.
#include <stdlib.h>

#include "model/law_kinds.h"
#include "step/step.h"

#define X(LAW, word, family, traits) extern const tbLawType tb_law_##family;
TB_STEP_LAWS(X)
#undef X

static const tbLawType* const LAWS[TB_STEP_LAW_COUNT] = {
#define X(LAW, word, family, traits) [TB_LAW_##LAW] = &tb_law_##family,
    TB_STEP_LAWS(X)
#undef X
};

const tbLawType* tb_law_type(int law) {
  return law >= 0 && law < TB_STEP_LAW_COUNT ? LAWS[law] : NULL;
}

void tb_law_reshape(const tbModel* m, tbStepState* state) {
  for (int i = 0; i < TB_STEP_LAW_COUNT; i++) {
    if (state->law[i].state && LAWS[i]->open) LAWS[i]->open(state->law[i].state, m);
  }
}

bool tb_law_open(const tbModel* m, tbStepState* state, int law) {
  const tbLawType* type = LAWS[law];
  tbOwned* own = &state->law[law];
  if (own->state || type->state_size == 0) return true;
  own->state = calloc(1, type->state_size);
  if (!own->state) return false;
  own->free = type->close ? type->close : free;
  state->bytes += type->state_size;
  if (type->open) type->open(own->state, m);
  return true;
}
