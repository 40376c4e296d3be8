// Dependence of motion axes on the configuration (docs/notebook/derivatives.md, eq. 1-3).
#ifndef TRIBO_DYNAMICS_AXIS_H_
#define TRIBO_DYNAMICS_AXIS_H_

#include "model/joint_kinds.h"
#include "spatial/motion.h"
#include "tribo/data.h"

// 1 if dof i is one of the three translations of a free joint, whose axis is constant.
static inline int tb_is_free_translation(const tbModel* m, int i) {
  int joint = m->dof_jntid[i];
  return i < m->jnt_dofadr[joint] + tb_joint_translations(m->jnt_type[joint]);
}

// 1 if dof k moves the axis of dof i; both are on one chain.
static inline int tb_axis_moves(const tbModel* m, int k, int i) {
  if (m->dof_jntid[k] != m->dof_jntid[i]) return k < i;
  return !tb_is_free_translation(m, i);
}

// dS_i/dq_k = S_k x S_i if k moves i, else zero, with S about a point fixed in the world.
static inline void tb_axis_derivative(const tbModel* m, const tbData* d, int k, int i,
                                      tbReal r[6]) {
  if (tb_axis_moves(m, k, i)) {
    tb_motion_cross(r, d->cdof + 6 * k, d->cdof + 6 * i);
  } else {
    tb_zero6(r);
  }
}

// tb_rne_derivatives for any model; the inertia of spatial tendons is left out.
void tb_rne_partials(const tbModel* m, tbData* d, const tbReal* qacc, const tbReal* xfrc,
                     tbReal* dtau_dq, tbReal* dtau_dv);

#endif
