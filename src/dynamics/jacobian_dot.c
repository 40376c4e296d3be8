// Time derivatives of Jacobians (docs/manual/dynamics.md, eq. 31-33).
#include <string.h>

#include "model/chain.h"
#include "model/joint_kinds.h"
#include "model/workspace.h"
#include "spatial/motion.h"
#include "tribo/dynamics.h"

// Derivative of the axis of dof i. For joints with several axes in their body, cdof_dot omits the
// part that cancels in the product with qvel; a single column needs it.
static void axis_dot(const tbModel* m, const tbData* d, int i, tbReal r[6]) {
  int joint = m->dof_jntid[i], type = m->jnt_type[joint];
  if (i >= m->jnt_dofadr[joint] + tb_joint_translations(type) && tb_joint_body_axes(type) > 1) {
    // Velocity of the frame between this joint and the next: without the later dofs of the body.
    int body = m->dof_bodyid[i], first = m->jnt_dofadr[joint] + tb_joint_nv(type);
    int end = m->body_dofadr[body] + m->body_dofnum[body];
    tbReal velocity[6];
    tb_copy6(velocity, d->cvel + 6 * body);
    for (int k = first; k < end; k++)
      tb_add_scaled6(velocity, velocity, -d->qvel[k], d->cdof + 6 * k);
    tb_motion_cross(r, velocity, d->cdof + 6 * i);
  } else {
    tb_copy6(r, d->cdof_dot + 6 * i);
  }
}

void tb_jac_dot(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                tbReal* jacp_dot, tbReal* jacr_dot) {
  if (!tb_is_world_of(m, d) || !point) return;
  body = tb_valid_body(m, body);
  size_t nv = (size_t)m->nv;
  if (jacp_dot) memset(jacp_dot, 0, 3 * nv * sizeof(tbReal));
  if (jacr_dot) memset(jacr_dot, 0, 3 * nv * sizeof(tbReal));
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  tbReal offset[3], velocity[3];
  tb_sub3(offset, point, d->subtree_com + 3 * m->body_rootid[body]);
  tb_motion_at(velocity, d->cvel + 6 * body, offset);
  for (int k = 0; k < n; k++) {
    int i = dofs[k];
    tbReal change[6], linear[3], swept[3];
    axis_dot(m, d, i, change);
    tb_motion_at(linear, change, offset);
    tb_cross(swept, d->cdof + 6 * i, velocity);
    for (size_t row = 0; row < 3; row++) {
      if (jacp_dot) jacp_dot[row * nv + (size_t)i] = linear[row] + swept[row];
      if (jacr_dot) jacr_dot[row * nv + (size_t)i] = change[row];
    }
  }
}

void tb_jac_dot_v(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                  tbReal linear[3], tbReal angular[3]) {
  if (!tb_is_world_of(m, d) || !point) return;
  body = tb_valid_body(m, body);
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  tbReal acceleration[6], offset[3], velocity[3], centripetal[3];
  tb_zero6(acceleration);
  for (int k = 0; k < n; k++) {
    int i = dofs[k];
    tb_add_scaled6(acceleration, acceleration, d->qvel[i], d->cdof_dot + 6 * i);
  }
  tb_sub3(offset, point, d->subtree_com + 3 * m->body_rootid[body]);
  tb_motion_at(velocity, d->cvel + 6 * body, offset);
  tb_cross(centripetal, d->cvel + 6 * body, velocity);
  if (angular) tb_copy3(angular, acceleration);
  if (linear) {
    tb_motion_at(linear, acceleration, offset);
    tb_add3(linear, linear, centripetal);
  }
}
