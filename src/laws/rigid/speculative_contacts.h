// Contacts are looked for at the velocities of the start of a step. A force that comes on, or an
// impact, may move a body much farther than that: then they are looked for once more, at the
// velocities that a solve led to (docs/step.md).
#ifndef TRIBO_LAWS_RIGID_SPECULATIVE_CONTACTS_H_
#define TRIBO_LAWS_RIGID_SPECULATIVE_CONTACTS_H_

#include "world/state.h"

// Adds to data->contact what velocity `v_next` of the dofs leads to, within `reach`: `found`
// contacts.
tbResult tb_find_speculative_contacts(const tbModel* model, tbData* data, tbStepState* state,
                                      tbReal reach, const tbReal* v_next, int* found);

// Of the thinnest geom that moves and may touch: half its thickness, m. For tbStepState.thinnest.
tbReal tb_smallest_half_thickness(const tbModel* model);

// The most that contact_margin counts for, m: where nothing that moves is larger than 20 mm across
// its middle, a twentieth of that. Grains of 1 mm would see all of their neighbours. For
// tbStepState.most_margin.
tbReal tb_most_margin(const tbModel* model);

// From where on rigid laws see contacts that do not close, m.
static inline tbReal tb_margin(const tbModel* model, const tbStepState* state) {
  tbReal margin = model->opt.contact_margin;
  return margin < state->most_margin ? margin : state->most_margin;
}

#endif
