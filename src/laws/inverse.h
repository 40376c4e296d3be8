// Inverse dynamics: what all laws share.
#ifndef TRIBO_LAWS_INVERSE_H_
#define TRIBO_LAWS_INVERSE_H_

#include "world/state.h"
#include "tribo/inverse.h"

// |R lambda + g| of a block counts as zero below this value (m/s).
#define TB_INVERSE_REST 1e-7

// The actuated dofs: those of the settings, or those that the actuators move; without actuators all
// but those of free joints. NULL: out of memory.
int* tb_inverse_actuated(const tbModel* model, tbData* data, const tbInverseSettings* settings);

// After the forces by row: whether the forces left on unactuated dofs are negligible. They are
// compared with all forces that they are the sum of, and count only if the motion would be visible:
// compliant contacts turn rounding errors of velocities into forces.
void tb_inverse_feasible(const tbModel* model, const tbData* data, const tbStepState* state,
                         const int* actuated, const tbReal* qfrc, tbInverseInfo* info);

#endif
