// The classical Runge-Kutta step on the configuration manifold.
#ifndef TRIBO_STEP_RK4_H_
#define TRIBO_STEP_RK4_H_

#include <stdbool.h>

#include "step/state.h"

// Whether what acts at this state has rates. Impulses at the end of a step have none, so that rigid
// laws and comfree have stages only where nothing touches.
bool tb_rk4_applies(const tbModel* model, const tbStepState* state);

// Advance qpos, qvel and act after the first stage's qacc and act_dot are known (tb_forward at the
// current state). Each further stage evaluates tb_forward; where
// one touches, the step is Euler's. On error the state is as it was.
tbResult tb_rk4(const tbModel* model, tbData* data, tbStepState* state);

#endif
