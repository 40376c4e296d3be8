// Spatial velocities of bodies and derivatives of motion axes (docs/dynamics.md, eq. 8-9).
#include "spatial/motion.h"
#include "tribo/dynamics.h"

// Add one joint's motion to the velocity v of its body, and set how its axes change: an axis fixed
// to a body changes with the velocity of that body.
static void joint_velocity(int type, tbReal v[6], const tbReal* cdof, const tbReal* qvel,
                           tbReal* cdof_dot) {
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
    for (int k = 0; k < 3; k++) tb_motion_cross(cdof_dot + 6 * k, v, cdof + 6 * k);
    for (int k = 0; k < 3; k++) tb_add_scaled6(v, v, qvel[k], cdof + 6 * k);
  } else {
    tb_motion_cross(cdof_dot, v, cdof);
    tb_add_scaled6(v, v, *qvel, cdof);
  }
}

void tb_com_velocity(const tbModel* m, tbData* d) {
  tb_zero6(d->cvel);
  for (int i = 1; i < m->nbody; i++) {
    tbReal v[6];
    tb_copy6(v, d->cvel + 6 * m->body_parentid[i]);
    int first = m->body_jntadr[i], end = first + m->body_jntnum[i];
    for (int j = first; j < end; j++) {
      int dof = m->jnt_dofadr[j];
      joint_velocity(m->jnt_type[j], v, d->cdof + 6 * dof, d->qvel + dof, d->cdof_dot + 6 * dof);
    }
    tb_copy6(d->cvel + 6 * i, v);
  }
}
