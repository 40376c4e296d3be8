// What keeps the impulses of an unsolved step from making energy.
#ifndef TRIBO_LAWS_RIGID_ENERGY_BOUND_H_
#define TRIBO_LAWS_RIGID_ENERGY_BOUND_H_

#include "world/state.h"

// For steps whose solver did not converge, or found impulses without measure: those of an island
// that make far more energy than there is are scaled down to it (docs/step.md), and the certificate
// counts what is left. After the solve, before impulses are stored.
tbResult tb_bound_impulse_energy(const tbModel* model, tbData* data,
                                 const tbConstraints* constraints, tbInertiaFactor factor,
                                 const tbReal* v_free, const tbIslands* islands);

#endif
