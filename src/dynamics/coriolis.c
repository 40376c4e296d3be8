// Coriolis and gyroscopic forces of one tree at any velocity: the recursions of com_velocity.c and
// rnea.c in one, without accelerations and without gravity.
#include "dynamics/coriolis.h"

#include "dynamics/newton_euler.h"

enum { MOST_DOFS = 6 };  // of a joint

// Outward from the parent: the velocity of a body, and its acceleration while joints' velocities
// stay.
TB_INLINE void move_body(const tbModel* m, const tbData* d, int body, const tbReal* qvel,
                         tbReal v[6], tbReal a[6], int wide) {
  int first = m->body_jntadr[body], end = first + m->body_jntnum[body];
  for (int j = first; j < end; j++) {
    static const int DOFS[] = {
        [TB_JOINT_FREE] = 6, [TB_JOINT_BALL] = 3, [TB_JOINT_SLIDE] = 1, [TB_JOINT_HINGE] = 1};
    tbReal change[6 * MOST_DOFS];
    int dof = m->jnt_dofadr[j];
    tb_joint_velocity(m->jnt_type[j], v, d->cdof + 6 * dof, qvel + dof, change, wide);
    for (int k = 0; k < DOFS[m->jnt_type[j]]; k++) {
      tb_wide_add_scaled6(a, qvel[dof + k], change + 6 * k);
    }
  }
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
    move_body(m, d, i, qvel, v, a, wide);
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
