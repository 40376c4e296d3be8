// The classical Runge-Kutta step on the configuration manifold (Munthe-Kaas): with the start q0 and
// q = q0 exp(u), the rotation vectors u of free and ball joints are what the stages add up, and
//
//     du/dt = w + u x w / 2 + u x (u x w) / 12 + O(u^4),   w the joint's angular velocity,
//
// which for stages within a step is of fourth order. H. Munthe-Kaas, High order Runge-Kutta
// methods on manifolds, Applied Numerical Mathematics 29, 1999.
#ifndef TRIBO_STEP_RK4_H_
#define TRIBO_STEP_RK4_H_

#include <stdbool.h>

#include "world/state.h"

// Whether what acts at this state has rates. Impulses at the end of a step have none, so that rigid
// laws and comfree have stages only where nothing touches.
bool tb_rk4_applies(const tbModel* model, const tbStepState* state);

// Advance qpos, qvel and act after the first stage's qacc and act_dot are known (tb_forward at the
// current state). Each further stage evaluates tb_forward; where
// one touches, the step is Euler's. On error the state is as it was.
tbResult tb_rk4(const tbModel* model, tbData* data, tbStepState* state);

// The rates of the coordinates u from the velocity `v` of the dofs there: v itself but for those of
// rotations.
void tb_rk4_rates(const tbModel* model, const tbReal* u, const tbReal* v, tbReal* rate);

// How these rates change with u and v: columns of both, `stride` apart in rows of the dofs; `du`
// is replaced by the change of the rates.
void tb_rk4_rates_change(const tbModel* model, const tbReal* u, const tbReal* v, const tbReal* dv,
                         tbReal* du, int columns);

#endif
