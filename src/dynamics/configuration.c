// The configuration manifold: integrate, difference, normalise (docs/manual/dynamics.md, eq.
// 35-36).
#include "spatial/quat.h"
#include "tribo/dynamics.h"

// First quaternion coordinate and first rotational dof of a joint, relative to its own; false for
// slides and hinges.
static int quaternion_part(int type, int* coordinate, int* dof) {
  *coordinate = *dof = type == TB_JOINT_FREE ? 3 : 0;
  return type == TB_JOINT_FREE || type == TB_JOINT_BALL;
}

void tb_integrate_pos(const tbModel* m, tbReal* qpos, const tbReal* qvel, tbReal dt) {
  if (!m || !qpos || !qvel) return;
  for (int j = 0; j < m->njnt; j++) {
    tbReal* q = qpos + m->jnt_qposadr[j];
    const tbReal* v = qvel + m->jnt_dofadr[j];
    int coordinate, dof;
    if (quaternion_part(m->jnt_type[j], &coordinate, &dof)) {
      tb_quat_integrate(q + coordinate, v + dof, dt);
      for (int k = 0; k < dof; k++) q[k] += dt * v[k];
    } else {
      q[0] += dt * v[0];
    }
  }
}

void tb_differentiate_pos(const tbModel* m, tbReal* qvel, tbReal dt, const tbReal* qpos1,
                          const tbReal* qpos2) {
  if (!m || !qvel || !qpos1 || !qpos2) return;
  tbReal rate = 1 / dt;
  for (int j = 0; j < m->njnt; j++) {
    const tbReal* q1 = qpos1 + m->jnt_qposadr[j];
    const tbReal* q2 = qpos2 + m->jnt_qposadr[j];
    tbReal* v = qvel + m->jnt_dofadr[j];
    int coordinate, dof;
    if (quaternion_part(m->jnt_type[j], &coordinate, &dof)) {
      tbReal inverse[4], turn[4];
      tb_quat_conjugate(inverse, q1 + coordinate);
      tb_quat_mul(turn, inverse, q2 + coordinate);
      tb_quat_log(v + dof, turn);
      tb_scale3(v + dof, v + dof, rate);
      for (int k = 0; k < dof; k++) v[k] = (q2[k] - q1[k]) * rate;
    } else {
      v[0] = (q2[0] - q1[0]) * rate;
    }
  }
}

void tb_normalize_quat(const tbModel* m, tbReal* qpos) {
  if (!m || !qpos) return;
  for (int j = 0; j < m->njnt; j++) {
    int coordinate, dof;
    if (quaternion_part(m->jnt_type[j], &coordinate, &dof)) {
      tb_quat_normalize(qpos + m->jnt_qposadr[j] + coordinate);
    }
  }
}
