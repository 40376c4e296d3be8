// One function for each kind of gain, bias and activation dynamics, as actuator_kinds.h names them.
// They compile for devices too.
#ifndef TRIBO_FORCES_ACTUATOR_FORCE_H_
#define TRIBO_FORCES_ACTUATOR_FORCE_H_

#include "base/kernel.h"
#include "base/minmax.h"
#include "forces/muscle.h"
#include "model/actuator_kinds.h"
#include "tribo/enums.h"
#include "tribo/model.h"

// Quantities on which a gain or bias depends besides its parameters.
typedef struct {
  tbReal length, velocity;    // m and m/s or rad and rad/s, times the gear
  const tbReal* lengthrange;  // of a muscle
  tbReal acc0;                // acceleration by a unit force at qpos0
} tbActuatorState;

// ---- gains -------------------------------------------------------------------------------------

TB_INLINE tbReal tb_gain_fixed(const tbActuatorState* a, const tbReal* prm) {
  (void)a;
  return prm[0];
}
TB_INLINE tbReal tb_gain_affine(const tbActuatorState* a, const tbReal* prm) {
  return prm[0] + prm[1] * a->length + prm[2] * a->velocity;
}
TB_INLINE tbReal tb_gain_muscle(const tbActuatorState* a, const tbReal* prm) {
  return tb_muscle_gain(a->length, a->velocity, a->lengthrange, a->acc0, prm);
}
TB_INLINE tbReal tb_gain_user(const tbActuatorState* a, const tbReal* prm) {
  (void)a;
  (void)prm;
  return 1;
}

// The slope of a gain by the velocity.
TB_INLINE tbReal tb_gain_velocity_fixed(const tbActuatorState* a, const tbReal* prm) {
  (void)a;
  (void)prm;
  return 0;
}
TB_INLINE tbReal tb_gain_velocity_affine(const tbActuatorState* a, const tbReal* prm) {
  (void)a;
  return prm[2];
}
TB_INLINE tbReal tb_gain_velocity_muscle(const tbActuatorState* a, const tbReal* prm) {
  return tb_muscle_gain_velocity(a->length, a->velocity, a->lengthrange, a->acc0, prm);
}
TB_INLINE tbReal tb_gain_velocity_user(const tbActuatorState* a, const tbReal* prm) {
  (void)a;
  (void)prm;
  return 0;
}

// ---- biases ------------------------------------------------------------------------------------

TB_INLINE tbReal tb_bias_none(const tbActuatorState* a, const tbReal* prm) {
  (void)a;
  (void)prm;
  return 0;
}
TB_INLINE tbReal tb_bias_affine(const tbActuatorState* a, const tbReal* prm) {
  return prm[0] + prm[1] * a->length + prm[2] * a->velocity;
}
TB_INLINE tbReal tb_bias_muscle(const tbActuatorState* a, const tbReal* prm) {
  return tb_muscle_bias(a->length, a->lengthrange, a->acc0, prm);
}
TB_INLINE tbReal tb_bias_user(const tbActuatorState* a, const tbReal* prm) {
  (void)a;
  (void)prm;
  return 0;
}

// ---- activation dynamics -----------------------------------------------------------------------

TB_INLINE tbReal tb_activation_rate_none(tbReal ctrl, tbReal act, const tbReal* prm) {
  (void)ctrl;
  (void)act;
  (void)prm;
  return 0;
}
TB_INLINE tbReal tb_activation_rate_integrator(tbReal ctrl, tbReal act, const tbReal* prm) {
  (void)act;
  (void)prm;
  return ctrl;
}
TB_INLINE tbReal tb_activation_rate_filter(tbReal ctrl, tbReal act, const tbReal* prm) {
  return (ctrl - act) / tb_max(TB_TINY, prm[0]);
}
TB_INLINE tbReal tb_activation_rate_muscle(tbReal ctrl, tbReal act, const tbReal* prm) {
  return tb_muscle_dynamics(ctrl, act, prm);
}
TB_INLINE tbReal tb_activation_rate_user(tbReal ctrl, tbReal act, const tbReal* prm) {
  (void)ctrl;
  (void)act;
  (void)prm;
  return 0;
}

// ---- of an extension ---------------------------------------------------------------------------

#define X(TYPE, word, affine, function)                                   \
  tbReal tb_gain_##function(const tbActuatorState* a, const tbReal* prm); \
  tbReal tb_gain_velocity_##function(const tbActuatorState* a, const tbReal* prm);
TB_EXTENSION_GAINS(X)
#undef X
#define X(TYPE, word, affine, function) \
  tbReal tb_bias_##function(const tbActuatorState* a, const tbReal* prm);
TB_EXTENSION_BIASES(X)
#undef X
#define X(TYPE, word, affine, function) \
  tbReal tb_activation_rate_##function(tbReal ctrl, tbReal act, const tbReal* prm);
TB_EXTENSION_DYNAMICS(X)
#undef X

// ---- by type -----------------------------------------------------------------------------------

TB_INLINE tbReal tb_gain(int type, const tbActuatorState* a, const tbReal* prm) {
  switch (type) {
#define X(TYPE, word, affine, function) \
  case TB_GAIN_##TYPE: return tb_gain_##function(a, prm);
    TB_ACTUATOR_GAINS(X)
#undef X
    default: return 1;
  }
}

TB_INLINE tbReal tb_gain_velocity(int type, const tbActuatorState* a, const tbReal* prm) {
  switch (type) {
#define X(TYPE, word, affine, function) \
  case TB_GAIN_##TYPE: return tb_gain_velocity_##function(a, prm);
    TB_ACTUATOR_GAINS(X)
#undef X
    default: return 0;
  }
}

TB_INLINE tbReal tb_bias(int type, const tbActuatorState* a, const tbReal* prm) {
  switch (type) {
#define X(TYPE, word, affine, function) \
  case TB_BIAS_##TYPE: return tb_bias_##function(a, prm);
    TB_ACTUATOR_BIASES(X)
#undef X
    default: return 0;
  }
}

TB_INLINE tbReal tb_activation_rate(int type, tbReal ctrl, tbReal act, const tbReal* prm) {
  switch (type) {
#define X(TYPE, word, affine, function) \
  case TB_DYN_##TYPE: return tb_activation_rate_##function(ctrl, act, prm);
    TB_ACTUATOR_DYNAMICS(X)
#undef X
    default: return 0;
  }
}

// Whether gain, bias and dynamics of an actuator are known to derivatives in closed form.
TB_INLINE int tb_actuator_is_affine(const tbModel* m, int i) {
  int affine = 0;
#define X(TYPE, word, known, function) \
  affine |= (known) && m->actuator_gaintype[i] == TB_GAIN_##TYPE;
  TB_ACTUATOR_GAINS(X)
#undef X
  int bias = 0, dynamics = 0;
#define X(TYPE, word, known, function) bias |= (known) && m->actuator_biastype[i] == TB_BIAS_##TYPE;
  TB_ACTUATOR_BIASES(X)
#undef X
#define X(TYPE, word, known, function) \
  dynamics |= (known) && m->actuator_dyntype[i] == TB_DYN_##TYPE;
  TB_ACTUATOR_DYNAMICS(X)
#undef X
  return affine & bias & dynamics;
}

#endif
