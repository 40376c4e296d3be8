#include "forces/stiff_springs.h"

#include "base/minmax.h"
#include "forces/forces.h"
#include "model/joint_kinds.h"
#include "model/transmission_kinds.h"

static bool is_spatial(const tbModel* m, int t) {
  return m->tendon_num[t] > 0 && m->wrap_type[m->tendon_adr[t]] != TB_WRAP_JOINT;
}

static bool joint_spring(const tbModel* m, int dof, tbStiffness* s) {
  static const tbReal ONE = 1;
  *s = (tbStiffness){m->jnt_stiffness[m->dof_jntid[dof]], m->dof_damping[dof], NULL, &ONE, 1, dof};
  s->col = &s->dof;
  return s->k > 0 && !(m->opt.disableflags & TB_DISABLE_SPRING);
}

static bool tendon_spring(const tbModel* m, const tbData* d, int t, tbStiffness* s) {
  int adr = m->tendon_Jadr[t];
  const tbReal* rest = m->tendon_lengthspring + 2 * t;
  *s = (tbStiffness){m->tendon_stiffness[t], m->tendon_damping[t], m->Jten_colind + adr,
                     d->ten_J + adr,         m->tendon_Jnnz[t],    0};
  bool taut = d->ten_length[t] > rest[1] || d->ten_length[t] < rest[0];
  return s->k > 0 && taut && !(m->opt.disableflags & TB_DISABLE_SPRING);
}

// Whether the force of a servo is clamped, by itself, its tendon or its joint.
static bool is_clamped(const tbModel* m, const tbData* d, int i) {
  const tbReal *range = m->actuator_forcerange + 2 * i, force = d->actuator_force[i];
  if (m->actuator_forcelimited[i] && (force <= range[0] || force >= range[1])) return true;
  int tendon = tb_geared_tendon(m, i);
  if (tendon >= 0) return m->tendon_actfrclimited[tendon];
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
  *s = (tbStiffness){-tb_actuator_position_gain(m, i),
                     tb_max(0, -tb_actuator_velocity_gain(m, d, i)),
                     m->Jmom_colind + adr,
                     d->actuator_moment + adr,
                     m->actuator_Jnnz[i],
                     0};
  if (s->n == 1 && s->x[0] != 0) s->damping += m->dof_damping[s->col[0]] / (s->x[0] * s->x[0]);
  return s->k > 0 && !is_clamped(m, d, i);
}

bool tb_stiffness_get(const tbModel* m, const tbData* d, int i, tbStiffness* s) {
  if (i < m->nv) return joint_spring(m, i, s);
  if (i < m->nv + m->ntendon) return tendon_spring(m, d, i - m->nv, s);
  return servo(m, d, i - m->nv - m->ntendon, s);
}

// 1 / inertia along a spring.
static tbReal weight_along(const tbModel* m, const int* col, const tbReal* x, int n) {
  tbReal weight = 0;
  for (int k = 0; k < n; k++) weight += x[k] * x[k] * m->dof_invweight0[col[k]];
  return weight;
}

// Whether a step does not resolve a spring: h^2 k > I, or, for a single dof, I + h D of its own
// damping. This is a quick test, false for most springs.
static bool is_unresolved(const tbModel* m, tbReal k, const int* col, const tbReal* x, int n) {
  const tbReal h = m->opt.timestep;
  if (!(k > 0)) return false;
  if (n != 1) return h * h * k * weight_along(m, col, x, n) > 1;
  return h * (h * k * x[0] * x[0] - m->dof_damping[col[0]]) * m->dof_invweight0[col[0]] > 1;
}

static bool may_be_unresolved(const tbModel* m, const tbData* d, int i) {
  static const tbReal ONE = 1;
  if (i < m->nv) return is_unresolved(m, m->jnt_stiffness[m->dof_jntid[i]], &i, &ONE, 1);
  const int t = i - m->nv, u = t - m->ntendon;
  if (u < 0) {
    const int adr = m->tendon_Jadr[t];
    return is_unresolved(m, m->tendon_stiffness[t], m->Jten_colind + adr, d->ten_J + adr,
                         m->tendon_Jnnz[t]);
  }
  const int adr = m->actuator_Jadr[u];
  return m->actuator_biastype[u] == TB_BIAS_AFFINE &&
         is_unresolved(m, -m->actuator_biasprm[TB_NBIAS * u + 1], m->Jmom_colind + adr,
                       d->actuator_moment + adr, m->actuator_Jnnz[u]);
}

int tb_stiffness_unresolved(const tbModel* m, const tbData* d, int i, tbStiffness* s,
                            tbReal* lacks) {
  const tbReal h = m->opt.timestep;
  for (int n = tb_stiffness_count(m); i < n; i++) {
    if (!may_be_unresolved(m, d, i) || !tb_stiffness_get(m, d, i, s)) continue;
    *lacks = h * h * s->k - h * s->damping - 1 / weight_along(m, s->col, s->x, s->n);
    if (*lacks > 0) return i;
  }
  return -1;
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

bool tb_stiff_springs_turn(const tbModel* m) {
  for (int t = 0; t < m->ntendon; t++) {
    if (is_spatial(m, t) && m->tendon_stiffness[t] > 0) return true;
  }
  for (int i = 0; i < m->nu; i++) {
    if (tb_actuator_position_gain(m, i) < 0 && !tb_transmission_is_constant(m, i)) return true;
  }
  return false;
}
