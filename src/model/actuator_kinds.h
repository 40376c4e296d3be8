// Every kind of an actuator's gain, bias and activation dynamics, once: force = gain * input +
// bias, where the input is the control or the activation that the dynamics make of it (MuJoCo's
// model).
//
//   X(TYPE, "word", AFFINE, function)
//
// TYPE      TB_GAIN_TYPE, TB_BIAS_TYPE or TB_DYN_TYPE
// "word"    the value of gaintype, biastype or dyntype in MJCF
// AFFINE    1 where value or rate is affine in length, velocity and state, so that derivatives of
//           a step know it in closed form; 0: they are differenced
// function  tb_gain_<function>, tb_bias_<function> or tb_activation_rate_<function> of
//           forces/actuator_force.h
//
// A gain has its slope by the velocity as a second function, tb_gain_velocity_<function>. The
// loader, the checks of a model, the forces and the derivatives read these lists. A kind is a line
// here, its enumerator in tribo/enums.h and its function; one of an extension is a line in the
// extension's list and its function (tribo/extension.h).
#ifndef TRIBO_MODEL_ACTUATOR_KINDS_H_
#define TRIBO_MODEL_ACTUATOR_KINDS_H_

#include "tribo/extension.h"

#define TB_ACTUATOR_GAINS(X)     \
  X(FIXED, "fixed", 1, fixed)    \
  X(AFFINE, "affine", 1, affine) \
  X(MUSCLE, "muscle", 0, muscle) \
  X(USER, "user", 0, user)       \
  TB_EXTENSION_GAINS(X)

#define TB_ACTUATOR_BIASES(X)    \
  X(NONE, "none", 1, none)       \
  X(AFFINE, "affine", 1, affine) \
  X(MUSCLE, "muscle", 0, muscle) \
  X(USER, "user", 0, user)       \
  TB_EXTENSION_BIASES(X)

#define TB_ACTUATOR_DYNAMICS(X)              \
  X(NONE, "none", 1, none)                   \
  X(INTEGRATOR, "integrator", 1, integrator) \
  X(FILTER, "filter", 1, filter)             \
  X(FILTEREXACT, "filterexact", 1, filter)   \
  X(MUSCLE, "muscle", 0, muscle)             \
  X(USER, "user", 0, user)                   \
  TB_EXTENSION_DYNAMICS(X)

#endif
