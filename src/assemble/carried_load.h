// Loads that equalities and tendons carry from one step to the next, for the geometric stiffness
// (forces/geometric_stiffness.h).
#ifndef TRIBO_ASSEMBLE_CARRIED_LOAD_H_
#define TRIBO_ASSEMBLE_CARRIED_LOAD_H_

#include "assemble/assemble.h"

// After a step: stores eq_load of equalities between trees, or that close a belt, and ten_load of
// spatial tendons, if they are large enough to matter, and zero otherwise. A body in contact turns
// with its support, and so do its contact forces.
tbResult tb_carried_load_keep(const tbModel* model, tbData* data, const tbConstraints* constraints,
                              const tbReal* row_force);

#endif
