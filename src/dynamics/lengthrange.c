// Shortest and longest length of an actuator over the joints' limits, by projected gradient descent
// in the metric of M, as if the actuator alone pulled the robot (docs/constants.md, eq. 6).
#include "dynamics/lengthrange.h"

#include <math.h>
#include <string.h>

#include "tribo/dynamics.h"

enum { ITERATIONS = 500 };

static int needs_range(const tbModel* m, int u) {
  int muscle =
      m->actuator_gaintype[u] == TB_GAIN_MUSCLE || m->actuator_biastype[u] == TB_BIAS_MUSCLE;
  return muscle && m->actuator_lengthrange[2 * u] >= m->actuator_lengthrange[2 * u + 1];
}

static void update(const tbModel* m, tbData* d) {
  tb_kinematics(m, d);
  tb_com_position(m, d);
  tb_tendon(m, d);
  tb_transmission(m, d);
}

// Put limited slides and hinges back into their range.
static void clamp_limits(const tbModel* m, tbReal* qpos) {
  for (int j = 0; j < m->njnt; j++) {
    int scalar = m->jnt_type[j] == TB_JOINT_SLIDE || m->jnt_type[j] == TB_JOINT_HINGE;
    if (!scalar || !m->jnt_limited[j]) continue;
    tbReal* q = qpos + m->jnt_qposadr[j];
    q[0] = fmin(fmax(q[0], m->jnt_range[2 * j]), m->jnt_range[2 * j + 1]);
  }
}

// Step direction: sign * M0^-1 moment with the diagonal of M, without the joints held by a limit.
// Returns its largest entry.
static tbReal direction(const tbModel* m, const tbData* d, int u, tbReal sign, tbReal* step) {
  tbReal largest = 0;
  memset(step, 0, (size_t)m->nv * sizeof(tbReal));
  for (int s = m->actuator_Jadr[u]; s < m->actuator_Jadr[u] + m->actuator_Jnnz[u]; s++) {
    int i = m->Jmom_colind[s], j = m->dof_jntid[i];
    tbReal v = sign * d->actuator_moment[s] / fmax(m->dof_M0[i], 1e-12);
    int scalar = m->jnt_type[j] == TB_JOINT_SLIDE || m->jnt_type[j] == TB_JOINT_HINGE;
    if (scalar && m->jnt_limited[j]) {
      tbReal q = d->qpos[m->jnt_qposadr[j]];
      if ((v < 0 && q <= m->jnt_range[2 * j]) || (v > 0 && q >= m->jnt_range[2 * j + 1])) v = 0;
    }
    step[i] = v;
    largest = fmax(largest, fabs(v));
  }
  return largest;
}

// Follow the direction with a step that halves whenever the length gets worse.
static tbReal extreme_length(const tbModel* m, tbData* d, int u, tbReal sign, tbReal* step,
                             tbReal* saved) {
  memcpy(d->qpos, m->qpos0, (size_t)m->nq * sizeof(tbReal));
  clamp_limits(m, d->qpos);
  update(m, d);
  tbReal best = d->actuator_length[u], stride = 0.2;
  for (int iteration = 0; iteration < ITERATIONS && stride > 1e-9; iteration++) {
    tbReal largest = direction(m, d, u, sign, step);
    if (!(largest > 1e-12)) break;
    memcpy(saved, d->qpos, (size_t)m->nq * sizeof(tbReal));
    tb_integrate_pos(m, d->qpos, step, stride / largest);
    clamp_limits(m, d->qpos);
    update(m, d);
    if (sign * (d->actuator_length[u] - best) > 0) {
      best = d->actuator_length[u];
    } else {
      memcpy(d->qpos, saved, (size_t)m->nq * sizeof(tbReal));
      update(m, d);
      stride *= 0.5;
    }
  }
  return best;
}

void tb_set_length_ranges(tbModel* m, tbData* d) {
  tbReal* saved = d->scratch_dof;
  for (int u = 0; u < m->nu; u++) {
    if (!needs_range(m, u)) continue;
    m->actuator_lengthrange[2 * u] = extreme_length(m, d, u, -1, d->scratch_nv, saved);
    m->actuator_lengthrange[2 * u + 1] = extreme_length(m, d, u, 1, d->scratch_nv, saved);
  }
}
