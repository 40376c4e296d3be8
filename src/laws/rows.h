// The contacts and constraint rows of a step.
#ifndef TRIBO_LAWS_ROWS_H_
#define TRIBO_LAWS_ROWS_H_

#include "laws/law.h"

// Find contacts and rows for the current position and velocity; repeated if they wake a sleeping
// island. With `all`, also rows of contacts that cannot push in this step. `collide_end` gets the
// clock time when contacts were found.
tbResult tb_rows_find(const tbStep* step, bool all, tbReal* collide_end);

// Assemble rows of the detected constraints, and memory for their forces.
tbResult tb_rows_assemble(const tbStep* step, tbLookAhead ahead);

// For derivatives by differences: shift the friction of the contact that the step's purpose names,
// among those from `first` on.
void tb_rows_shift_friction(const tbStep* step, int first);

// Detection distance of a law with look-ahead, m: a body that starts at rest falls by h^2 g in a
// step, which at 20 ms is more than the margin.
tbReal tb_rows_detection(const tbModel* model, tbReal margin);

#endif
