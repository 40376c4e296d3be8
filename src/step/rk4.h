// The classical Runge-Kutta step on the configuration manifold.
#ifndef TRIBO_STEP_RK4_H_
#define TRIBO_STEP_RK4_H_

#include "step/state.h"

// Advance qpos, qvel and act after the first stage's qacc and act_dot are known (tb_forward at the
// current state). Each further stage evaluates tb_forward. On error the state is as it was.
tbResult tb_rk4(const tbModel* model, tbData* data, tbStepState* state);

#endif
