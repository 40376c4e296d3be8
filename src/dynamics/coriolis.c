// Coriolis and gyroscopic forces of one tree at any velocity: the recursions of com_velocity.c and
// rnea.c in one, without accelerations and without gravity.
#include "dynamics/coriolis.h"

#include "dynamics/newton_euler.h"

// Outward over one joint: the velocity of its body, and its acceleration while joints' velocities
// stay. Axes fixed to a body change with that body's velocity; a free joint's translations are
// along fixed ones.
TB_INLINE void move_by_joint(int type, const tbReal* cdof, const tbReal* qvel, tbReal v[6],
                             tbReal a[6], int wide) {
  tbReal own[6], change[6];
  if (type == TB_JOINT_FREE) {
    for (int k = 0; k < 3; k++) v[3 + k] += qvel[k];
    cdof += 18;
    qvel += 3;
  }
  for (int k = 0; k < 6; k++) own[k] = *qvel * cdof[k];
  if (type == TB_JOINT_FREE || type == TB_JOINT_BALL) {
    tb_wide_add_scaled6(own, qvel[1], cdof + 6);
    tb_wide_add_scaled6(own, qvel[2], cdof + 12);
  }
  tb_wide_motion_cross(wide, change, v, own);
  for (int k = 0; k < 6; k++) a[k] += change[k];
  for (int k = 0; k < 6; k++) v[k] += own[k];
}

TB_INLINE void coriolis(const tbModel* m, tbData* d, int tree, const tbReal* qvel, tbReal* out,
                        int wide) {
  tbReal *velocity = d->scratch_body, *acceleration = velocity + 6 * m->nbody;
  tbReal* force = acceleration + 6 * m->nbody;
  int first = m->tree_bodyadr[tree], end = first + m->tree_bodynum[tree];
  for (int i = first; i < end; i++) {
    int parent = m->body_parentid[i];
    tbReal v[6] = {0}, a[6] = {0};
    if (parent >= first) {
      tb_copy6(v, velocity + 6 * parent);
      tb_copy6(a, acceleration + 6 * parent);
    }
    int joint = m->body_jntadr[i], last = joint + m->body_jntnum[i];
    for (; joint < last; joint++) {
      int dof = m->jnt_dofadr[joint];
      move_by_joint(m->jnt_type[joint], d->cdof + 6 * dof, qvel + dof, v, a, wide);
    }
    tb_inertial_force(d->cinert + 10 * i, v, a, force + 6 * i, wide);
    tb_copy6(velocity + 6 * i, v);
    tb_copy6(acceleration + 6 * i, a);
  }
  for (int i = end - 1; i > first; i--) {
    int parent = m->body_parentid[i];
    if (parent >= first) tb_wide_add6(force + 6 * parent, force + 6 * i);
  }
  int dof = m->tree_dofadr[tree], last = dof + m->tree_dofnum[tree];
  for (; dof < last; dof++) {
    out[dof] = tb_wide_dot6(d->cdof + 6 * dof, force + 6 * m->dof_bodyid[dof]);
  }
}

static void coriolis_narrow(const tbModel* m, tbData* d, int tree, const tbReal* v, tbReal* out) {
  coriolis(m, d, tree, v, out, 0);
}

TB_WIDE static void coriolis_wide(const tbModel* m, tbData* d, int tree, const tbReal* v,
                                  tbReal* out) {
  coriolis(m, d, tree, v, out, 1);
}

void tb_coriolis(const tbModel* m, tbData* d, int tree, const tbReal* qvel, tbReal* out) {
  if (tb_wide()) {
    coriolis_wide(m, d, tree, qvel, out);
  } else {
    coriolis_narrow(m, d, tree, qvel, out);
  }
}
