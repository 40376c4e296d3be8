// Speculative contacts: contacts are searched with the velocities of the start of a step. A sudden
// force or an impact may move a body much farther; then a second search uses the velocities that a
// solve led to (docs/manual/step.md).
#ifndef TRIBO_LAWS_RIGID_SPECULATIVE_CONTACTS_H_
#define TRIBO_LAWS_RIGID_SPECULATIVE_CONTACTS_H_

#include "laws/rigid/rigid.h"

// Adds to data->contact the contacts that close at velocity `v_next` of the dofs, within `reach`;
// `found`: their number.
tbResult tb_find_speculative_contacts(const tbModel* model, tbData* data, tbStepState* state,
                                      tbReal reach, const tbReal* v_next, int* found);

// Half the thickness of the thinnest geom that moves and collides, m.
tbReal tb_smallest_half_thickness(const tbModel* model);

// Upper bound of contact_margin, m: if the largest bounding radius of all moving geoms is below 20
// mm, a twentieth of it. With a larger margin, grains of 1 mm would have contacts with all their
// neighbours.
tbReal tb_most_margin(const tbModel* model);

// Detection distance of contacts under rigid laws, m.
static inline tbReal tb_margin(const tbModel* model, const tbStepState* state) {
  tbReal margin = model->opt.contact_margin, most = tb_rigid_state(model, state)->most_margin;
  return margin < most ? margin : most;
}

#endif
