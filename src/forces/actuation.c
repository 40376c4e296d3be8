// Actuators: activation dynamics, scalar force = gain * input + bias, and its moment (MuJoCo's
// model).
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "forces/actuator_force.h"
#include "forces/forces.h"
#include "tribo/callbacks.h"
#include "model/joint_kinds.h"
#include "model/transmission_kinds.h"

static const tbReal SMALLEST = 1e-15;

static tbReal clamp(tbReal x, const tbReal range[2]) {
  return x < range[0] ? range[0] : x > range[1] ? range[1] : x;
}

static int is_disabled(const tbModel* m, int i) {
  if (!m->opt.disableactuator) return 0;
  int group = m->actuator_group[i];
  return group >= 0 && group <= 30 && (m->opt.disableactuator >> group & 1);
}

static tbReal control_of(const tbModel* m, const tbData* d, int i) {
  int clamped = m->actuator_ctrllimited[i] && !(m->opt.disableflags & TB_DISABLE_CLAMPCTRL);
  return clamped ? clamp(d->ctrl[i], m->actuator_ctrlrange + 2 * i) : d->ctrl[i];
}

static tbActuatorState state_of(const tbModel* m, const tbData* d, int i) {
  return (tbActuatorState){d->actuator_length[i], d->actuator_velocity[i],
                           m->actuator_lengthrange + 2 * i, m->actuator_acc0[i]};
}

tbReal tb_activation_reach(const tbModel* m, int actuator) {
  tbReal h = m->opt.timestep, tau = tb_max(SMALLEST, m->actuator_dynprm[TB_NDYN * actuator]);
  // The filter's exact solution with the input held over the step.
  return m->actuator_dyntype[actuator] == TB_DYN_FILTEREXACT ? tau * (1 - tb_exp(-h / tau)) : h;
}

tbReal tb_next_activation(const tbModel* m, const tbData* d, int actuator, int state,
                          tbReal act_dot) {
  tbReal act = d->act[state] + act_dot * tb_activation_reach(m, actuator);
  return m->actuator_actlimited[actuator] ? clamp(act, m->actuator_actrange + 2 * actuator) : act;
}

void tb_next_activations(const tbModel* m, tbData* d, const tbReal* act_dot) {
  for (int i = 0; i < m->nu; i++) {
    int adr = m->actuator_actadr[i];
    for (int k = 0; adr >= 0 && k < m->actuator_actnum[i]; k++) {
      d->act[adr + k] = tb_next_activation(m, d, i, adr + k, act_dot[adr + k]);
    }
  }
}

// What the gain multiplies: the control, or the activation where there is one.
static tbReal input_of(const tbModel* m, const tbData* d, int i, tbReal ctrl) {
  if (m->actuator_actadr[i] < 0) return ctrl;
  int state = m->actuator_actadr[i] + m->actuator_actnum[i] - 1;
  return m->actuator_actearly[i] ? tb_next_activation(m, d, i, state, d->act_dot[state])
                                 : d->act[state];
}

// Length of a whole turn in an actuator's units, where its length is a rotation: a ball joint, or a
// site that turns against another; else 0.
static tbReal whole_turn(const tbModel* m, int i) {
  const tbReal *gear = m->actuator_gear + 6 * i, *axis = gear;
  int joint = tb_geared_joint(m, i);
  if (joint >= 0) {
    if (!tb_joint_is_rotation(m->jnt_type[joint])) return 0;
  } else if (tb_transmission_has_arm(m->actuator_trntype[i], TB_ARM_WRENCH)) {
    if (m->actuator_trnid[2 * i + 1] < 0 || gear[0] != 0 || gear[1] != 0 || gear[2] != 0) return 0;
    axis = gear + 3;
  } else {
    return 0;
  }
  return 6.28318530717958648 * sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
}

// A servo for a rotation goes the short way (MuJoCo since 3.x): its target, up to whole turns, is
// the one nearest to where it is. Filtered targets are not turned.
static tbReal short_way(const tbModel* m, const tbData* d, int i, tbReal target) {
  // Most actuators have no target, or turn a hinge.
  if (m->actuator_biastype[i] != TB_BIAS_AFFINE) return target;
  int joint = tb_geared_joint(m, i);
  if (joint >= 0 && !tb_joint_is_rotation(m->jnt_type[joint])) return target;
  tbReal kp = m->actuator_gainprm[TB_NGAIN * i];
  if (m->actuator_gaintype[i] != TB_GAIN_FIXED || kp == 0 ||
      m->actuator_biasprm[TB_NBIAS * i + 1] != -kp) {
    return target;
  }
  if (m->actuator_dyntype[i] != TB_DYN_NONE && m->actuator_dyntype[i] != TB_DYN_INTEGRATOR) {
    return target;
  }
  tbReal turn = whole_turn(m, i), error = target - d->actuator_length[i];
  return turn > 0 ? target - turn * floor(error / turn + 0.5) : target;
}

tbReal tb_actuator_velocity_gain(const tbModel* m, const tbData* d, int i) {
  if (is_disabled(m, i) || (m->opt.disableflags & TB_DISABLE_ACTUATION)) return 0;
  tbReal slope = 0;
  if (m->actuator_biastype[i] == TB_BIAS_AFFINE) slope += m->actuator_biasprm[TB_NBIAS * i + 2];
  if (m->actuator_gaintype[i] == TB_GAIN_FIXED) return slope;
  tbActuatorState a = state_of(m, d, i);
  const tbReal* prm = m->actuator_gainprm + TB_NGAIN * i;
  slope +=
      tb_gain_velocity(m->actuator_gaintype[i], &a, prm) * input_of(m, d, i, control_of(m, d, i));
  return slope;
}

tbReal tb_actuator_position_gain(const tbModel* m, int i) {
  if (is_disabled(m, i) || (m->opt.disableflags & TB_DISABLE_ACTUATION)) return 0;
  return m->actuator_biastype[i] == TB_BIAS_AFFINE ? m->actuator_biasprm[TB_NBIAS * i + 1] : 0;
}

// Tendons whose total actuator force is clamped: scale all actuators on them alike.
static void clamp_tendon_forces(const tbModel* m, tbData* d) {
  for (int t = 0; t < m->ntendon; t++) {
    if (!m->tendon_actfrclimited[t]) continue;
    tbReal total = 0;
    for (int i = 0; i < m->nu; i++) {
      if (tb_geared_tendon(m, i) == t) {
        total += d->actuator_force[i];
      }
    }
    tbReal allowed = clamp(total, m->tendon_actfrcrange + 2 * t);
    if (allowed == total || total == 0) continue;
    for (int i = 0; i < m->nu; i++) {
      if (tb_geared_tendon(m, i) == t) {
        d->actuator_force[i] *= allowed / total;
      }
    }
  }
}

// ---- forces ------------------------------------------------------------------------------------

// Kinds "user" ask the callbacks of the model.
TB_INLINE tbReal rate_of(const tbModel* m, const tbData* d, const tbCallbacks* user, int i,
                         tbReal ctrl, tbReal act) {
  if (user && m->actuator_dyntype[i] == TB_DYN_USER && user->act_dyn) {
    return user->act_dyn(m, d, i, user->user);
  }
  return tb_activation_rate(m->actuator_dyntype[i], ctrl, act, m->actuator_dynprm + TB_NDYN * i);
}

TB_INLINE tbReal gain_of(const tbModel* m, const tbData* d, const tbCallbacks* user, int i,
                         const tbActuatorState* a) {
  if (user && m->actuator_gaintype[i] == TB_GAIN_USER && user->act_gain) {
    return user->act_gain(m, d, i, user->user);
  }
  return tb_gain(m->actuator_gaintype[i], a, m->actuator_gainprm + TB_NGAIN * i);
}

TB_INLINE tbReal bias_of(const tbModel* m, const tbData* d, const tbCallbacks* user, int i,
                         const tbActuatorState* a) {
  if (user && m->actuator_biastype[i] == TB_BIAS_USER && user->act_bias) {
    return user->act_bias(m, d, i, user->user);
  }
  return tb_bias(m->actuator_biastype[i], a, m->actuator_biasprm + TB_NBIAS * i);
}

void tb_actuation(const tbModel* m, tbData* d) {
  memset(d->qfrc_actuator, 0, sizeof(tbReal) * (size_t)m->nv);
  memset(d->actuator_force, 0, sizeof(tbReal) * (size_t)m->nu);
  memset(d->act_dot, 0, sizeof(tbReal) * (size_t)m->na);
  if (tb_is_unactuated(m)) return;

  // Scalar forces.
  const tbCallbacks* user = m->callbacks;
  for (int i = 0; i < m->nu; i++) {
    if (is_disabled(m, i)) continue;
    tbReal ctrl = control_of(m, d, i);
    if (m->actuator_actadr[i] >= 0) {
      int last = m->actuator_actadr[i] + m->actuator_actnum[i] - 1;
      d->act_dot[last] = rate_of(m, d, user, i, ctrl, d->act[last]);
    }
    tbReal input = short_way(m, d, i, input_of(m, d, i, ctrl));
    tbActuatorState a = state_of(m, d, i);
    d->actuator_force[i] = gain_of(m, d, user, i, &a) * input + bias_of(m, d, user, i, &a);
  }
  clamp_tendon_forces(m, d);

  // Their moments on the joints.
  for (int i = 0; i < m->nu; i++) {
    if (m->actuator_forcelimited[i]) {
      d->actuator_force[i] = clamp(d->actuator_force[i], m->actuator_forcerange + 2 * i);
    }
    if (d->actuator_force[i] == 0) continue;
    const tbReal* moment = d->actuator_moment + m->actuator_Jadr[i];
    const int* col = m->Jmom_colind + m->actuator_Jadr[i];
    for (int k = 0; k < m->actuator_Jnnz[i]; k++) {
      d->qfrc_actuator[col[k]] += moment[k] * d->actuator_force[i];
    }
  }

  // Gravity compensation that counts as actuation, then the joints' own clamps.
  for (int j = 0; j < m->njnt; j++) {
    if (!m->jnt_actgravcomp[j] && !m->jnt_actfrclimited[j]) continue;
    int first = m->jnt_dofadr[j], ndof = tb_joint_nv(m->jnt_type[j]);
    for (int i = first; i < first + ndof && m->jnt_actgravcomp[j]; i++) {
      d->qfrc_actuator[i] += d->qfrc_gravcomp[i];
    }
    if (ndof == 1 && m->jnt_actfrclimited[j]) {
      d->qfrc_actuator[first] = clamp(d->qfrc_actuator[first], m->jnt_actfrcrange + 2 * j);
    }
  }
}
