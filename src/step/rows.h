// The contacts and constraint rows of a step.
#ifndef TRIBO_STEP_ROWS_H_
#define TRIBO_STEP_ROWS_H_

#include <stdbool.h>

#include "world/state.h"

// Contacts and rows of the current position and velocity, once more where they wake someone. With
// `all`, rows of contacts that cannot push in this step too. `collide_end` gets the clock when
// contacts were found.
tbResult tb_rows_find(const tbModel* model, tbData* data, tbStepState* state, bool all,
                      tbReal* collide_end);

// The next velocity of a rigid law, with rows of all that this velocity leads through: the rows
// found are of what is near at the velocity of the start.
tbResult tb_rows_solve(const tbModel* model, tbData* data, tbStepState* state, tbReal* v_next);

#endif
