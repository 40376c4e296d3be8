// Inverse dynamics of a robot with an unactuated base.
#ifndef TRIBO_LAWS_RIGID_INVERSE_BASE_H_
#define TRIBO_LAWS_RIGID_INVERSE_BASE_H_

#include "world/state.h"
#include "tribo/inverse.h"

// Change the impulses of all islands within the set that the law allows for this motion, so that on
// the dofs with actuated[i] = 0 their sum is closest to `target` (nv, N s). Impulses that the law
// determines are kept.
tbResult tb_inverse_base(const tbModel* model, tbData* data, const tbConstraints* constraints,
                         const tbIslands* islands, const int* actuated, const tbReal* target,
                         tbReal proximal, int law);

#endif
