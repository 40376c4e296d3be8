// Spatial velocities of bodies and derivatives of motion axes (docs/dynamics.md, eq. 8-9).
#include "dynamics/newton_euler.h"
#include "tribo/dynamics.h"

TB_INLINE void com_velocity(const tbModel* m, tbData* d, int wide) {
  tb_zero6(d->cvel);
  for (int i = 1; i < m->nbody; i++) {
    tbReal v[6];
    tb_wide_copy6(v, d->cvel + 6 * m->body_parentid[i]);
    int first = m->body_jntadr[i], end = first + m->body_jntnum[i];
    for (int j = first; j < end; j++) {
      int dof = m->jnt_dofadr[j];
      tb_joint_velocity(m->jnt_type[j], v, d->cdof + 6 * dof, d->qvel + dof, d->cdof_dot + 6 * dof,
                        wide);
    }
    tb_wide_copy6(d->cvel + 6 * i, v);
  }
}

static void com_velocity_narrow(const tbModel* m, tbData* d) {
  com_velocity(m, d, 0);
}

TB_WIDE static void com_velocity_wide(const tbModel* m, tbData* d) {
  com_velocity(m, d, 1);
}

void tb_com_velocity(const tbModel* m, tbData* d) {
  if (tb_wide()) {
    com_velocity_wide(m, d);
  } else {
    com_velocity_narrow(m, d);
  }
}
