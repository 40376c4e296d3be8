// Geometric stiffness of links under loads that a step does not resolve.
#ifndef TRIBO_FORCES_GEOMETRIC_STIFFNESS_H_
#define TRIBO_FORCES_GEOMETRIC_STIFFNESS_H_

#include <stdbool.h>

#include "dynamics/mass.h"

// Geometric stiffness (Tournier et al., Stable Constrained Dynamics, ACM Trans. Graph. 34, 2015): a
// force f at arm r of a body that turns by a makes the torque -S a, S = (f . r) 1 - (f r^T + r
// f^T)/2. A step with forces of its start does not include this torque until the next step. For h^2
// S > 4 I this is unstable: links of grams under a load of a hundredweight vibrate with growing
// amplitude. S is largest if f pulls along r, as on hanging bodies: A = |f| |r| (1 - r r^T / r^2),
// which turns with the body as an inertia does.
//
// So bodies that carry weights by their joints, xfrc_applied along their arms, or forces of the
// last step by equalities (eq_load) and spatial tendons (ten_load), get L = (h^2 A - I)^+ added to
// cinert, and qM is recomputed. Called after kinematics and inertia.
tbResult tb_geometric_stiffness_add(const tbModel* model, tbData* data);

// Largest load that an equality or tendon carries, in weights of all bodies: redundant closed loops
// may have forces of any size.
#define TB_MOST_WEIGHTS 4

// Whether a force at a point of a body is above a fraction of the force that a step resolves, for
// the body or any of its ancestors.
bool tb_load_is_unresolved(const tbModel* model, const tbData* data, int body, tbReal force,
                           const tbReal* point);

// Whether two bodies of one tree coupled by `force` close a belt under tension.
bool tb_belt_is_tight(const tbModel* model, const tbData* data, int body1, int body2, tbReal force);

#endif
