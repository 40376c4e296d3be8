// Contacts that were detected but are too far apart to push in this step are pruned from its
// problem, and checked again after the solve: the exact law holds for all of them
// (docs/manual/step.md).
#ifndef TRIBO_LAWS_RIGID_PRUNED_CONTACTS_H_
#define TRIBO_LAWS_RIGID_PRUNED_CONTACTS_H_

#include "laws/law.h"

// Select the contacts without rows, in state->pruned (NULL: none). Called after the velocity
// stage. TB_ERROR_MEMORY, or TB_OK.
tbResult tb_prune_contacts(const tbStep* step);

// Count the pruned contacts that would be violated at the velocity `v_next` of a solve, and restore
// them.
int tb_restore_violated_contacts(const tbModel* model, const tbData* data, tbStepState* state,
                                 const tbReal* v_next);

#endif
