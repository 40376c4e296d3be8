// Loads that equalities and tendons carry from one step to the next, for the geometric stiffness
// (forces/geometric_stiffness.h).
#ifndef TRIBO_ASSEMBLE_CARRIED_LOAD_H_
#define TRIBO_ASSEMBLE_CARRIED_LOAD_H_

#include "assemble/assemble.h"

// Stores the loads of a finished step: eq_load of equalities that connect trees or close a belt,
// and ten_load of spatial tendons. A load too small to matter is stored as zero. Contacts have
// none: the force of a contact turns with the bodies that touch.
tbResult tb_carried_load_keep(const tbModel* model, tbData* data, const tbConstraints* constraints,
                              const tbReal* row_force);

#endif
