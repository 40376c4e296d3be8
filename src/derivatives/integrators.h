// Derivatives of integrators that evaluate forces more than once within a step.
#ifndef TRIBO_DERIVATIVES_INTEGRATORS_H_
#define TRIBO_DERIVATIVES_INTEGRATORS_H_

#include "step/step.h"

// Implicit Euler: dense A, B and F.
tbResult tb_deriv_euler_implicit(tbDerivatives* x, tbData* d, tbStepState* state,
                                 const tbDerivativeSettings* settings);

// Runge-Kutta: dense A, B and F, by the chain rule over its stages.
tbResult tb_deriv_rk4(tbDerivatives* x, tbData* d, tbStepState* state,
                      const tbDerivativeSettings* settings);

#endif
