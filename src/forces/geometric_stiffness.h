// Geometric stiffness of links under loads that a step does not resolve.
#ifndef TRIBO_FORCES_GEOMETRIC_STIFFNESS_H_
#define TRIBO_FORCES_GEOMETRIC_STIFFNESS_H_

#include "dynamics/mass.h"
#include "world/state.h"

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

// After a step: stores eq_load of equalities between trees, or that close a belt, and ten_load of
// spatial tendons, if they are large enough to matter, and zero otherwise. A body in contact turns
// with its support, and so do its contact forces.
tbResult tb_carried_load_keep(const tbModel* model, tbData* data, const tbStepState* state);

#endif
