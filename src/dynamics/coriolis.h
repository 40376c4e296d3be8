#ifndef TRIBO_DYNAMICS_CORIOLIS_H_
#define TRIBO_DYNAMICS_CORIOLIS_H_

#include "tribo/data.h"

// The force b(q, v) that keeps a tree's joints at the velocities v without gravity, on its dofs;
// `qvel` and `out` have an entry per dof of the model. Inertia of tendons is left out.
// After tb_compute_position.
void tb_coriolis(const tbModel* m, tbData* d, int tree, const tbReal* qvel, tbReal* out);

#endif
