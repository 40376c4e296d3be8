#ifndef TRIBO_DYNAMICS_CORIOLIS_H_
#define TRIBO_DYNAMICS_CORIOLIS_H_

#include "tribo/data.h"

// The force b(q, v) that keeps a tree's joints at the velocities v without gravity, on its dofs;
// `qvel` and `out` have an entry per dof of the model. Inertia of tendons is left out.
// After tb_compute_position.
void tb_coriolis(const tbModel* m, tbData* d, int tree, const tbReal* qvel, tbReal* out);

// By how much twice the kinetic energy of a tree is more than it was a time h ago, had its joints
// moved at their velocities of now; a floating tree's translation is left out. What they moved by
// is not small. `momentum` is what has come to its momentum. After tb_compute_velocity.
tbReal tb_kinetic_growth(const tbModel* m, tbData* d, int tree, tbReal h, tbReal momentum[3]);

// Change the velocity v that a tree ends a step of h with, in which its joints have gone h `move`:
// to the momentum that it has with velocity `start` where it was before, if it floats, and to no
// more than a hundredth above its kinetic energy then. After tb_compute_velocity at the start.
void tb_keep_kinetic(const tbModel* m, tbData* d, int tree, tbReal h, const tbReal* move,
                     const tbReal* start, tbReal* v);

#endif
