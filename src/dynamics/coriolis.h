#ifndef TRIBO_DYNAMICS_CORIOLIS_H_
#define TRIBO_DYNAMICS_CORIOLIS_H_

#include "tribo/data.h"

// The force b(q, v) that keeps a tree's joints at the velocities v without gravity, on its dofs;
// `qvel` and `out` have an entry per dof of the model. Inertia of tendons is left out.
// After tb_compute_position.
void tb_coriolis(const tbModel* m, tbData* d, int tree, const tbReal* qvel, tbReal* out);

// By how much twice the kinetic energy of a tree has grown since a time h ago, had its joints moved
// at their present velocities all the while (by angles that need not be small); `momentum` gets the
// growth of its momentum. The translation of a floating tree is left out. After
// tb_compute_velocity.
tbReal tb_kinetic_energy_growth(const tbModel* m, tbData* d, int tree, tbReal h,
                                tbReal momentum[3]);

// Change v, the velocity with which a tree ends a step of h in which its joints go h `move`, so
// that the tree has no more than a hundredth above the kinetic energy that it had with velocity
// `start` before they moved, and, if it floats, the momentum that it had then. After
// tb_compute_velocity at the start.
void tb_keep_kinetic(const tbModel* m, tbData* d, int tree, tbReal h, const tbReal* move,
                     const tbReal* start, tbReal* v);

#endif
