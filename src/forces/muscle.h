// MuJoCo's muscle: activation dynamics, active and passive force over length and velocity.
#ifndef TRIBO_FORCES_MUSCLE_H_
#define TRIBO_FORCES_MUSCLE_H_

#include "base/kernel.h"
#include "tribo/types.h"

// prm: time constants of activation and deactivation, width of smoothing between them.
TB_HOST_DEVICE tbReal tb_muscle_dynamics(tbReal ctrl, tbReal act, const tbReal prm[3]);

// prm: range (2), peak force, scale, lmin, lmax, vmax, fpmax, fvmax.
TB_HOST_DEVICE tbReal tb_muscle_gain(tbReal length, tbReal velocity, const tbReal lengthrange[2],
                                     tbReal acc0, const tbReal prm[9]);
TB_HOST_DEVICE tbReal tb_muscle_gain_velocity(tbReal length, tbReal velocity,
                                              const tbReal lengthrange[2], tbReal acc0,
                                              const tbReal prm[9]);
TB_HOST_DEVICE tbReal tb_muscle_bias(tbReal length, const tbReal lengthrange[2], tbReal acc0,
                                     const tbReal prm[9]);

#endif
