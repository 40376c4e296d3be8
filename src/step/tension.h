// Bodies that hang in equalities under tension.
#ifndef TRIBO_STEP_TENSION_H_
#define TRIBO_STEP_TENSION_H_

#include "contact/assemble.h"
#include "step/state.h"

// Geometric stiffness (Tournier et al., Stable Constrained Dynamics, ACM Trans. Graph. 34, 2015): a
// force f at arm r of a body that turns by a makes the torque -S a, S = (f . r) 1 - (f r^T + r
// f^T)/2, which rows held at their place at the start of the step do not see. From h^2 S > 4 I on
// that is unstable: links of grams that bear a hundredweight shake themselves apart. With I + h^2 S
// for I it never is, and what turns steadily goes on to.
//
// Of the last step's equality forces (eq_pull), where h^2 S is a quarter of I or more: `factor`
// becomes that of H + h^2 S, and state->stiffened is 1.
tbResult tb_tension_stiffen(const tbModel* model, tbData* data, tbStepState* state,
                            tbInertiaFactor* factor);

// After a step: eq_pull of bodies that fly free and lie on nothing, zero elsewhere.
tbResult tb_tension_keep(const tbModel* model, tbData* data, const tbStepState* state);

#endif
