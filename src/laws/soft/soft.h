// The soft law: MuJoCo's constraint model in acceleration form.
#ifndef TRIBO_LAWS_SOFT_SOFT_H_
#define TRIBO_LAWS_SOFT_SOFT_H_

#include "world/state.h"

// From qacc_smooth to the next velocity, as MuJoCo's forward dynamics and its Euler or implicitfast
// integrator. Fills qacc, qfrc_constraint, contact forces and the certificate data->solve.
tbResult tb_soft_velocity(const tbModel* model, tbData* data, tbStepState* state, tbReal* v_next);

#endif
