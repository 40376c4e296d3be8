// The rigid laws in the table of laws.
#include "assemble/carried_load.h"
#include "laws/rigid/pruned_contacts.h"
#include "laws/rigid/rigid.h"
#include "laws/rigid/speculative_contacts.h"

static void open(void* own, const tbModel* m) {
  tbRigidState* state = own;
  state->smallest_half_thickness = tb_smallest_half_thickness(m);
  state->most_margin = tb_most_margin(m);
}

static tbResult keep(const tbStep* s) {
  return tb_carried_load_keep(s->m, s->d, &s->state->constraints, s->state->row_force);
}

const tbLawType tb_law_rigid = {
    .solvers = ~0u,  // tb_solve knows which of them solve this law
    .look_ahead = tb_rigid_look_ahead,
    .reach = tb_rigid_reach,
    .prune = tb_prune_contacts,
    .velocity = tb_rigid_velocity,
    .keep = keep,
    .linearize = tb_rigid_linearize,
    .inverse = tb_rigid_inverse,
    .state_size = sizeof(tbRigidState),
    .open = open,
};
