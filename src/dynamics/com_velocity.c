// Spatial velocities of bodies and derivatives of motion axes (docs/manual/dynamics.md, eq. 8-9).
#include "dynamics/stage.h"
#include "model/joint_kinds.h"
#include "model/workspace.h"
#include "spatial/wide.h"
#include "tribo/dynamics.h"

// Add one joint's motion to the velocity of its body, and set the derivatives of its axes: an axis
// fixed to a body changes with the velocity of that body.
TB_INLINE tbSimd6 add_joint(int type, tbSimd6 v, const tbReal* cdof, const tbReal* qvel,
                            tbReal* cdof_dot) {
  int axes = tb_joint_body_axes(type);
  if (tb_joint_floats(type)) {
    // The three translations are along fixed axes.
    for (int k = 0; k < 18; k++) cdof_dot[k] = 0;
    v = tb_simd6_shift(v, qvel);
    cdof += 18;
    qvel += 3;
    cdof_dot += 18;
  }
  // Several axes also rotate with the joint itself, but that part cancels in their sum, w x w = 0.
  tbSimd6 before = v;
  for (int k = 0; k < axes; k++) {
    tbSimd6 axis = tb_simd6_load(cdof + 6 * k);
    tb_simd6_store(cdof_dot + 6 * k, tb_simd6_motion_cross(before, axis));
    v = tb_simd6_add(v, tb_simd6_scale(qvel[k], axis));
  }
  return v;
}

TB_INLINE void com_velocity(const tbModel* m, tbData* d) {
  tb_zero6(d->cvel);
  tbSimd6 v = tb_simd6_load(d->cvel);
  for (int i = 1; i < m->nbody; i++) {
    int parent = m->body_parentid[i], joint = m->body_jntadr[i], end = joint + m->body_jntnum[i];
    if (parent != i - 1) v = tb_simd6_load(d->cvel + 6 * parent);
    for (; joint < end; joint++) {
      int dof = m->jnt_dofadr[joint];
      v = add_joint(m->jnt_type[joint], v, d->cdof + 6 * dof, d->qvel + dof, d->cdof_dot + 6 * dof);
    }
    tb_simd6_store(d->cvel + 6 * i, v);
  }
}

static void com_velocity_generic(const tbModel* m, tbData* d) {
  com_velocity(m, d);
}

TB_WIDE static void com_velocity_avx2(const tbModel* m, tbData* d) {
  com_velocity(m, d);
}

void tb_stage_com_velocity(const tbModel* m, tbData* d) {
  if (tb_wide()) {
    com_velocity_avx2(m, d);
  } else {
    com_velocity_generic(m, d);
  }
}

void tb_com_velocity(const tbModel* m, tbData* d) {
  if (tb_is_world_of(m, d)) tb_stage_com_velocity(m, d);
}
