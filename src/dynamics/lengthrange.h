// Feasible lengths of muscles.
#ifndef TRIBO_DYNAMICS_LENGTHRANGE_H_
#define TRIBO_DYNAMICS_LENGTHRANGE_H_

#include "tribo/data.h"

// Set actuator_lengthrange of every muscle that has none (low >= high). `d` is scratch; its state
// is lost.
void tb_set_length_ranges(tbModel* m, tbData* d);

#endif
