// Coriolis and gyroscopic forces of one tree at any velocity: the recursions of com_velocity.c and
// rnea.c combined, without joint accelerations and without gravity.
#include "dynamics/coriolis.h"

#include "model/joint_kinds.h"
#include "model/workspace.h"
#include "spatial/wide.h"

// Outward over one joint: the velocity of its body, and its acceleration at constant joint
// velocities. Axes fixed to a body change with that body's velocity; a free joint's translations
// have fixed axes.
TB_INLINE void move_by_joint(int type, const tbReal* cdof, const tbReal* qvel, tbSimd6* v,
                             tbSimd6* a) {
  int axes = tb_joint_body_axes(type);
  if (tb_joint_floats(type)) {
    *v = tb_simd6_shift(*v, qvel);
    cdof += 18;
    qvel += 3;
  }
  tbSimd6 own = tb_simd6_scale(qvel[0], tb_simd6_load(cdof));
  for (int k = 1; k < axes; k++) {
    own = tb_simd6_add(own, tb_simd6_scale(qvel[k], tb_simd6_load(cdof + 6 * k)));
  }
  *a = tb_simd6_add(*a, tb_simd6_motion_cross(*v, own));
  *v = tb_simd6_add(*v, own);
}

TB_INLINE void coriolis(const tbModel* m, tbData* d, int tree, const tbReal* qvel, tbReal* out) {
  static const tbReal NOTHING[6] = {0};
  tbReal *velocity = d->work->scratch_body, *acceleration = velocity + 6 * m->nbody;
  tbReal* force = acceleration + 6 * m->nbody;
  int first = m->tree_bodyadr[tree], end = first + m->tree_bodynum[tree];
  tbSimd6 v = tb_simd6_load(NOTHING), a = v;
  for (int i = first; i < end; i++) {
    int parent = m->body_parentid[i], joint = m->body_jntadr[i], last = joint + m->body_jntnum[i];
    if (parent < first) {
      v = a = tb_simd6_load(NOTHING);
    } else if (parent != i - 1) {
      v = tb_simd6_load(velocity + 6 * parent);
      a = tb_simd6_load(acceleration + 6 * parent);
    }
    for (; joint < last; joint++) {
      int dof = m->jnt_dofadr[joint];
      move_by_joint(m->jnt_type[joint], d->cdof + 6 * dof, qvel + dof, &v, &a);
    }
    tb_simd6_store(force + 6 * i, tb_simd6_inertial_force(d->cinert + 10 * i, v, a));
    tb_simd6_store(velocity + 6 * i, v);
    tb_simd6_store(acceleration + 6 * i, a);
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

static void coriolis_generic(const tbModel* m, tbData* d, int tree, const tbReal* v, tbReal* out) {
  coriolis(m, d, tree, v, out);
}

TB_WIDE static void coriolis_avx2(const tbModel* m, tbData* d, int tree, const tbReal* v,
                                  tbReal* out) {
  coriolis(m, d, tree, v, out);
}

void tb_coriolis(const tbModel* m, tbData* d, int tree, const tbReal* qvel, tbReal* out) {
  if (tb_wide()) {
    coriolis_avx2(m, d, tree, qvel, out);
  } else {
    coriolis_generic(m, d, tree, qvel, out);
  }
}
