// Bounds the energy that the impulses of an unsolved step can add.
#ifndef TRIBO_LAWS_RIGID_ENERGY_BOUND_H_
#define TRIBO_LAWS_RIGID_ENERGY_BOUND_H_

#include "world/state.h"

// Applies to steps whose solver did not converge or found extremely large impulses: if the impulses
// of an island add far more energy than is available, they are scaled down to the available energy
// (docs/manual/step.md), and the certificate is recomputed for them. Called after the solve, before
// impulses are stored.
tbResult tb_bound_impulse_energy(const tbModel* model, tbData* data,
                                 const tbConstraints* constraints, tbInertiaFactor factor,
                                 const tbReal* v_free, const tbIslands* islands);

#endif
