// The complementarity-free law in the table of laws.
#include "assemble/carried_load.h"
#include "laws/comfree/comfree.h"

static tbResult keep(const tbStep* s) {
  return tb_carried_load_keep(s->m, s->d, &s->state->constraints, s->state->row_force);
}

// The softening of an island has no partials.
static bool has_partials(const tbStep* s, bool forces_only) {
  (void)forces_only;
  const tbComfreeState* own = s->state->law[TB_LAW_COMFREE].state;
  return !own->softened;
}

const tbLawType tb_law_comfree = {
    .solvers = 1u << TB_SOLVER_AUTO,
    .velocity = tb_comfree_velocity,
    .keep = keep,
    .has_partials = has_partials,
    .linearize = tb_comfree_linearize,
    .state_size = sizeof(tbComfreeState),
};
