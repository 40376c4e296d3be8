#include "step/stiffness.h"

#include "step/forces.h"

static bool is_spatial(const tbModel* m, int t) {
  return m->tendon_num[t] > 0 && m->wrap_type[m->tendon_adr[t]] != TB_WRAP_JOINT;
}

static bool joint_spring(const tbModel* m, int dof, tbStiffness* s) {
  static const tbReal ONE = 1;
  *s = (tbStiffness){m->jnt_stiffness[m->dof_jntid[dof]], NULL, &ONE, 1, dof};
  s->col = &s->dof;
  return s->k > 0 && !(m->opt.disableflags & TB_DISABLE_SPRING);
}

static bool tendon_spring(const tbModel* m, const tbData* d, int t, tbStiffness* s) {
  int adr = m->tendon_Jadr[t];
  const tbReal* rest = m->tendon_lengthspring + 2 * t;
  *s = (tbStiffness){m->tendon_stiffness[t], m->Jten_colind + adr, d->ten_J + adr,
                     m->tendon_Jnnz[t], 0};
  bool taut = d->ten_length[t] > rest[1] || d->ten_length[t] < rest[0];
  return s->k > 0 && taut && !(m->opt.disableflags & TB_DISABLE_SPRING);
}

// Whether the force of a servo is held by its own clamp, its tendon's or its joint's.
static bool is_held(const tbModel* m, const tbData* d, int i) {
  const tbReal *range = m->actuator_forcerange + 2 * i, force = d->actuator_force[i];
  if (m->actuator_forcelimited[i] && (force <= range[0] || force >= range[1])) return true;
  if (m->actuator_trntype[i] == TB_TRN_TENDON) {
    return m->tendon_actfrclimited[m->actuator_trnid[2 * i]];
  }
  for (int k = 0; k < m->actuator_Jnnz[i]; k++) {
    int dof = m->Jmom_colind[m->actuator_Jadr[i] + k], joint = m->dof_jntid[dof];
    const tbReal* limit = m->jnt_actfrcrange + 2 * joint;
    if (!m->jnt_actfrclimited[joint]) continue;
    if (d->qfrc_actuator[dof] <= limit[0] || d->qfrc_actuator[dof] >= limit[1]) return true;
  }
  return false;
}

static bool servo(const tbModel* m, const tbData* d, int i, tbStiffness* s) {
  int adr = m->actuator_Jadr[i];
  *s = (tbStiffness){-tb_actuator_position_gain(m, i), m->Jmom_colind + adr,
                     d->actuator_moment + adr, m->actuator_Jnnz[i], 0};
  return s->k > 0 && !is_held(m, d, i);
}

bool tb_stiffness_get(const tbModel* m, const tbData* d, int i, tbStiffness* s) {
  if (i < m->nv) return joint_spring(m, i, s);
  if (i < m->nv + m->ntendon) return tendon_spring(m, d, i - m->nv, s);
  return servo(m, d, i - m->nv - m->ntendon, s);
}

void tb_stiffness_mean(const tbModel* m, const tbData* d, tbReal* force) {
  for (int i = 0; i < tb_stiffness_count(m); i++) {
    tbStiffness s;
    if (!tb_stiffness_get(m, d, i, &s)) continue;
    tbReal rate = 0;
    for (int k = 0; k < s.n; k++) rate += s.x[k] * d->qvel[s.col[k]];
    for (int k = 0; k < s.n; k++) {
      force[s.col[k]] -= 0.5 * m->opt.timestep * s.k * rate * s.x[k];
    }
  }
}

bool tb_stiffness_turns(const tbModel* m) {
  for (int t = 0; t < m->ntendon; t++) {
    if (is_spatial(m, t) && m->tendon_stiffness[t] > 0) return true;
  }
  for (int i = 0; i < m->nu; i++) {
    if (!(tb_actuator_position_gain(m, i) < 0)) continue;
    int type = m->actuator_trntype[i], target = m->actuator_trnid[2 * i];
    bool joint = type == TB_TRN_JOINT || type == TB_TRN_JOINTINPARENT;
    if (type == TB_TRN_TENDON && !is_spatial(m, target)) continue;
    if (joint && (m->jnt_type[target] == TB_JOINT_HINGE || m->jnt_type[target] == TB_JOINT_SLIDE)) {
      continue;
    }
    return true;
  }
  return false;
}
