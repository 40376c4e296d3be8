// Contacts are looked for at the velocities of the start of a step. A force that comes on, or an
// impact, may move a body much farther than that: then they are looked for once more, at the
// velocities that a solve led to (docs/step.md).
#ifndef TRIBO_STEP_FORESEE_H_
#define TRIBO_STEP_FORESEE_H_

#include "step/state.h"

// Adds to data->contact what velocity `v_next` of the dofs leads to, within `reach`: `found`
// contacts.
tbResult tb_foresee(const tbModel* model, tbData* data, tbStepState* state, tbReal reach,
                    const tbReal* v_next, int* found);

// Of the thinnest geom that moves and may touch: half its thickness, m. For tbStepState.thinnest.
tbReal tb_thinnest_mover(const tbModel* model);

#endif
