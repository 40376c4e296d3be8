// Spatial velocities of bodies and derivatives of motion axes (docs/dynamics.md, eq. 8-9).
#include "spatial/wide.h"
#include "tribo/dynamics.h"

// Add one joint's motion to the velocity v of its body, and set how its axes change: an axis fixed
// to a body changes with the velocity of that body.
TB_INLINE void joint_velocity(int type, tbReal v[6], const tbReal* cdof, const tbReal* qvel,
                              tbReal* cdof_dot, int wide) {
  if (type == TB_JOINT_FREE) {
    // The three translations are along fixed axes.
    for (int k = 0; k < 18; k++) cdof_dot[k] = 0;
    for (int k = 0; k < 3; k++) v[3 + k] += qvel[k];
    cdof += 18;
    qvel += 3;
    cdof_dot += 18;
  }
  if (type == TB_JOINT_FREE || type == TB_JOINT_BALL) {
    // The axes turn with the joint itself too, but that part cancels in their sum w x w.
    for (int k = 0; k < 3; k++) tb_wide_motion_cross(wide, cdof_dot + 6 * k, v, cdof + 6 * k);
    for (int k = 0; k < 3; k++) tb_wide_add_scaled6(v, qvel[k], cdof + 6 * k);
  } else {
    tb_wide_motion_cross(wide, cdof_dot, v, cdof);
    tb_wide_add_scaled6(v, *qvel, cdof);
  }
}

TB_INLINE void com_velocity(const tbModel* m, tbData* d, int wide) {
  tb_zero6(d->cvel);
  for (int i = 1; i < m->nbody; i++) {
    tbReal v[6];
    tb_copy6(v, d->cvel + 6 * m->body_parentid[i]);
    int first = m->body_jntadr[i], end = first + m->body_jntnum[i];
    for (int j = first; j < end; j++) {
      int dof = m->jnt_dofadr[j];
      joint_velocity(m->jnt_type[j], v, d->cdof + 6 * dof, d->qvel + dof, d->cdof_dot + 6 * dof,
                     wide);
    }
    tb_copy6(d->cvel + 6 * i, v);
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
