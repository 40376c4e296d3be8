// Contacts that are seen but too far apart to push in this step are left out of its problem, and
// looked at again afterwards: the exact law holds for all of them (docs/step.md).
#ifndef TRIBO_LAWS_RIGID_PRUNED_CONTACTS_H_
#define TRIBO_LAWS_RIGID_PRUNED_CONTACTS_H_

#include "world/state.h"

// Which of the contacts found go without rows, in state->left_out (NULL: none do). After the
// velocity stage. TB_ERROR_MEMORY, or TB_OK.
tbResult tb_prune_contacts(const tbModel* model, tbData* data, tbStepState* state);

// How many of those left out would be crossed at the velocity `v_next` that a solve led to; they
// count from now on.
int tb_restore_violated_contacts(const tbModel* model, const tbData* data, tbStepState* state,
                                 const tbReal* v_next);

#endif
