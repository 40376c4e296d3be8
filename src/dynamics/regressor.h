// Inertial parameters, for derivatives by them.
#ifndef TRIBO_DYNAMICS_REGRESSOR_H_
#define TRIBO_DYNAMICS_REGRESSOR_H_

#include "tribo/derivatives.h"

// out = d(u^T M w)/d(parameters of `body`). After tb_com_position.
void tb_inertia_products(const tbModel* m, const tbData* d, int body, const tbReal* u,
                         const tbReal* w, tbReal out[TB_NINERTIAL]);

// tb_inertial_set without the check that a body can have such an inertia; the mass must not be
// zero.
void tb_inertial_write(tbModel* m, int body, const tbReal parameters[TB_NINERTIAL]);

#endif
