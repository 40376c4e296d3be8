// Links that bear more than a step resolves.
#ifndef TRIBO_FORCES_GEOMETRIC_STIFFNESS_H_
#define TRIBO_FORCES_GEOMETRIC_STIFFNESS_H_

#include "dynamics/mass.h"
#include "world/state.h"

// Geometric stiffness (Tournier et al., Stable Constrained Dynamics, ACM Trans. Graph. 34, 2015): a
// force f at arm r of a body that turns by a makes the torque -S a, S = (f . r) 1 - (f r^T + r
// f^T)/2, which a step with forces of its start does not see until it is over. From h^2 S > 4 I on
// that is unstable: links of grams that bear a hundredweight shake themselves apart. S is most
// where f pulls along r, as on what hangs: A = |f| |r| (1 - r r^T / r^2), which turns with the body
// as an inertia does.
//
// So bodies that bear weights by their joints, what xfrc_applied pulls along their arms, or forces
// of the last step by equalities (eq_load) and spatial tendons (ten_load), have L = (h^2 A - I)^+
// added to cinert, and qM is made anew. After kinematics and inertia.
tbResult tb_geometric_stiffness_add(const tbModel* model, tbData* data);

// After a step: eq_load of equalities between trees, or that close a belt, and ten_load of spatial
// tendons, where it matters, zero elsewhere. What lies on something turns with it, and its forces
// along.
tbResult tb_carried_load_keep(const tbModel* model, tbData* data, const tbStepState* state);

#endif
