// The configuration manifold: integrate, difference, normalise (docs/manual/dynamics.md, eq.
// 35-36).
#include "model/joint_space.h"
#include "tribo/dynamics.h"

void tb_integrate_pos(const tbModel* m, tbReal* qpos, const tbReal* qvel, tbReal dt) {
  if (!m || !qpos || !qvel) return;
  for (int j = 0; j < m->njnt; j++) {
    tb_joint_integrate(m->jnt_type[j], qpos + m->jnt_qposadr[j], qvel + m->jnt_dofadr[j], dt);
  }
}

void tb_differentiate_pos(const tbModel* m, tbReal* qvel, tbReal dt, const tbReal* qpos1,
                          const tbReal* qpos2) {
  if (!m || !qvel || !qpos1 || !qpos2) return;
  tbReal rate = 1 / dt;
  for (int j = 0; j < m->njnt; j++) {
    int at = m->jnt_qposadr[j];
    tb_joint_difference(m->jnt_type[j], qvel + m->jnt_dofadr[j], qpos1 + at, qpos2 + at, rate);
  }
}

void tb_normalize_quat(const tbModel* m, tbReal* qpos) {
  if (!m || !qpos) return;
  for (int j = 0; j < m->njnt; j++) {
    tb_joint_normalize(m->jnt_type[j], qpos + m->jnt_qposadr[j]);
  }
}
