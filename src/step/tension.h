// Bodies that hang in equalities or joints under tension.
#ifndef TRIBO_STEP_TENSION_H_
#define TRIBO_STEP_TENSION_H_

#include "contact/assemble.h"
#include "step/state.h"

// Geometric stiffness (Tournier et al., Stable Constrained Dynamics, ACM Trans. Graph. 34, 2015): a
// force f at arm r of a body that turns by a makes the torque -S a, S = (f . r) 1 - (f r^T + r
// f^T)/2, which neither M nor rows see that are held at their place at the start of the step. From
// h^2 S > 4 I on that is unstable: links of grams that bear a hundredweight shake themselves apart.
// What is missing of h^2 S as inertia makes it stable, and what turns steadily goes on to.
//
// By what ties and joints bore in the last step (eq_pull, body_pull), where h^2 S is more than a
// body's inertia: `factor` becomes that of H + sum J^T (h^2 S - I)^+ J over bodies, J their angular
// Jacobians, and state->stiffened is 1.
tbResult tb_tension_stiffen(const tbModel* model, tbData* data, tbStepState* state,
                            tbInertiaFactor* factor);

// After the first solve of a world `found` is 1 where what joints bear matters and was not known:
// it is now (state->pull), and the solve is to be made again with it.
tbResult tb_tension_found(const tbModel* model, tbData* data, tbStepState* state, bool* found);

// After a step: body_pull and eq_pull where they matter, zero elsewhere: ties within a tree close
// loops, and what lies on something turns with it, and the forces of its ties along.
tbResult tb_tension_keep(const tbModel* model, tbData* data, const tbStepState* state);

#endif
