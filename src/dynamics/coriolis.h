#ifndef TRIBO_DYNAMICS_CORIOLIS_H_
#define TRIBO_DYNAMICS_CORIOLIS_H_

#include "tribo/data.h"

// The force b(q, v) that keeps a tree's joints at the velocities v without gravity, on its dofs;
// `qvel` and `out` have an entry per dof of the model. Armature of tendons is left out. After
// tb_compute_position.
void tb_coriolis(const tbModel* m, tbData* d, int tree, const tbReal* qvel, tbReal* out);

// Increase of twice the kinetic energy of a tree over the last h seconds, if its joints moved at
// their present velocities (by angles that need not be small); `momentum` gets the increase of its
// momentum. The translation of a floating tree is left out. After tb_compute_velocity.
tbReal tb_kinetic_energy_growth(const tbModel* m, tbData* d, int tree, tbReal h,
                                tbReal momentum[3]);

// Kinetic-energy limit: changes v, the velocity at the end of a step h in which the joints of a
// tree move by h `move`, so that the tree's energy is at most a hundredth above the kinetic energy
// that it had with velocity `start` before the motion, and, if it floats, so that it keeps the
// momentum that it had then. After tb_compute_velocity at the start.
void tb_keep_kinetic(const tbModel* m, tbData* d, int tree, tbReal h, const tbReal* move,
                     const tbReal* start, tbReal* v);

#endif
