// The contacts and constraint rows of a step.
#ifndef TRIBO_STEP_ROWS_H_
#define TRIBO_STEP_ROWS_H_

#include <stdbool.h>

#include "world/state.h"

// Find contacts and rows for the current position and velocity; repeated if they wake a sleeping
// island. With `all`, also rows of contacts that cannot push in this step. `collide_end` gets the
// clock time when contacts were found.
tbResult tb_rows_find(const tbModel* model, tbData* data, tbStepState* state, bool all,
                      tbReal* collide_end);

// The next velocity of a rigid law, with rows of all constraints that the motion violates: the
// first rows are those that are near at the velocity of the start.
tbResult tb_rows_solve(const tbModel* model, tbData* data, tbStepState* state, tbReal* v_next);

#endif
