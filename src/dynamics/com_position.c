// Centres of mass of subtrees, and inertias and motion axes about them (docs/manual/dynamics.md,
// eq. 5-7).
#include "base/kernel.h"
#include "dynamics/stage.h"
#include "model/workspace.h"
#include "spatial/motion.h"
#include "tribo/dynamics.h"

// Mass-weighted sums from the leaves to the world, then divided by the mass of each subtree.
TB_INLINE void subtree_centers(const tbModel* m, tbData* d) {
  tbReal* com = d->subtree_com;
  for (int i = 0; i < m->nbody; i++) {
    tb_scale3(com + 3 * i, d->xipos + 3 * i, m->body_mass[i]);
  }
  for (int i = m->nbody - 1; i > 0; i--) {
    tbReal* parent = com + 3 * m->body_parentid[i];
    tb_add3(parent, parent, com + 3 * i);
    if (m->body_subtreemass[i] < TB_TINY) {
      tb_copy3(com + 3 * i, d->xipos + 3 * i);
    } else {
      tb_scale3(com + 3 * i, com + 3 * i, 1 / m->body_subtreemass[i]);
    }
  }
  if (m->body_subtreemass[0] < TB_TINY) {
    tb_copy3(com, d->xipos);
  } else {
    tb_scale3(com, com, 1 / m->body_subtreemass[0]);
  }
}

// Rotation about `axis` through a point that lies `offset` before the origin.
TB_INLINE void set_rotation(tbReal* cdof, const tbReal axis[3], const tbReal offset[3]) {
  tb_copy3(cdof, axis);
  tb_cross(cdof + 3, axis, offset);
}

TB_INLINE void rotations_about_body_axes(tbReal* cdof, const tbReal xmat[9],
                                         const tbReal offset[3]) {
  for (int k = 0; k < 3; k++) {
    tbReal axis[3] = {xmat[k], xmat[3 + k], xmat[6 + k]};
    set_rotation(cdof + 6 * k, axis, offset);
  }
}

TB_INLINE void joint_axes(const tbModel* m, tbData* d, int joint) {
  int body = m->jnt_bodyid[joint];
  tbReal* cdof = d->cdof + 6 * m->jnt_dofadr[joint];
  tbReal offset[3];
  tb_sub3(offset, d->subtree_com + 3 * m->body_rootid[body], d->xanchor + 3 * joint);
  switch (m->jnt_type[joint]) {
    case TB_JOINT_FREE:
      for (int k = 0; k < 18; k++) cdof[k] = 0;
      cdof[3] = cdof[10] = cdof[17] = 1;
      rotations_about_body_axes(cdof + 18, d->xmat + 9 * body, offset);
      break;
    case TB_JOINT_BALL: rotations_about_body_axes(cdof, d->xmat + 9 * body, offset); break;
    case TB_JOINT_SLIDE:
      tb_zero3(cdof);
      tb_copy3(cdof + 3, d->xaxis + 3 * joint);
      break;
    default: set_rotation(cdof, d->xaxis + 3 * joint, offset); break;
  }
}

TB_INLINE void com_position(const tbModel* m, tbData* d) {
  subtree_centers(m, d);
  for (int i = 0; i < 10; i++) d->cinert[i] = 0;
  for (int i = 1; i < m->nbody; i++) {
    tbReal c[3];
    tb_sub3(c, d->xipos + 3 * i, d->subtree_com + 3 * m->body_rootid[i]);
    tb_inertia_make(d->cinert + 10 * i, m->body_mass[i], m->body_inertia + 3 * i, d->ximat + 9 * i,
                    c);
  }
  for (int j = 0; j < m->njnt; j++) joint_axes(m, d, j);
}

static void com_position_generic(const tbModel* m, tbData* d) {
  com_position(m, d);
}

TB_WIDE static void com_position_avx2(const tbModel* m, tbData* d) {
  com_position(m, d);
}

void tb_stage_com_position(const tbModel* m, tbData* d) {
  if (tb_wide()) {
    com_position_avx2(m, d);
  } else {
    com_position_generic(m, d);
  }
}

void tb_com_position(const tbModel* m, tbData* d) {
  if (tb_is_world_of(m, d)) tb_stage_com_position(m, d);
}
