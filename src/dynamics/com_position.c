// Centres of mass of subtrees, and inertias and motion axes about them (docs/manual/dynamics.md,
// eq. 5-7).
#include "base/kernel.h"
#include "dynamics/joints/joint.h"
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

TB_INLINE void joint_axes(const tbModel* m, tbData* d, int joint) {
  int body = m->jnt_bodyid[joint];
  tbReal offset[3];
  tb_sub3(offset, d->subtree_com + 3 * m->body_rootid[body], d->xanchor + 3 * joint);
  tb_joint_axes(m->jnt_type[joint], d->xmat + 9 * body, d->xaxis + 3 * joint, offset,
                d->cdof + 6 * m->jnt_dofadr[joint]);
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
