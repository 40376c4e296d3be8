// The classical Runge-Kutta step on the configuration manifold (Munthe-Kaas): with the start q0 and
// q = q0 exp(u), the stages are combined in the rotation vectors u of free and ball joints, and
//
//     du/dt = w + u x w / 2 + u x (u x w) / 12 + O(u^4),   w the joint's angular velocity,
//
// which within a step is of fourth order. H. Munthe-Kaas, High order Runge-Kutta methods on
// manifolds, Applied Numerical Mathematics 29, 1999.
#ifndef TRIBO_STEP_RK4_H_
#define TRIBO_STEP_RK4_H_

#include "world/state.h"

// Whether the forces at this state have rates. Impulses at the end of a step have none, so rigid
// laws and comfree use stages only where nothing touches.
bool tb_rk4_applies(const tbModel* model, const tbStepState* state);

// Advance qpos, qvel and act after the first stage's qacc and act_dot are known (tb_forward at the
// current state). Each further stage calls tb_forward; if one has contacts, the step is Euler's. On
// error the state is unchanged.
tbResult tb_rk4(const tbStep* step);

// The rates of the coordinates u for the velocity `v` of the dofs there: v itself except for those
// of rotations.
void tb_rk4_rates(const tbModel* model, const tbReal* u, const tbReal* v, tbReal* rate);

// Derivatives of these rates by u and v: columns of both, `stride` apart in rows of the dofs; `du`
// is replaced by the change of the rates.
void tb_rk4_rates_change(const tbModel* model, const tbReal* u, const tbReal* v, const tbReal* dv,
                         tbReal* du, int columns);

#endif
