// The soft law: MuJoCo's constraint model in acceleration form.
#ifndef TRIBO_LAWS_SOFT_SOFT_H_
#define TRIBO_LAWS_SOFT_SOFT_H_

#include "laws/law.h"

// From qacc_smooth to the next velocity, as MuJoCo's forward dynamics and its Euler or implicitfast
// integrator. Fills qacc, qfrc_constraint, contact forces and the certificate data->solve.
tbResult tb_soft_velocity(const tbStep* step, tbReal* v_next);

tbResult tb_soft_linearize(tbDerivatives* x, const tbStep* step,
                           const tbDerivativeSettings* settings);
tbResult tb_soft_inverse(const tbStep* step, const tbReal* qacc, const tbInverseSettings* settings,
                         tbReal* qfrc, tbInverseInfo* info);

#endif
