// Derivatives of Jacobians and of point velocities with respect to the configuration
// (docs/notebook/derivatives.md, eq. 14).
#include <string.h>

#include "dynamics/axis.h"
#include "model/chain.h"
#include "model/workspace.h"
#include "tribo/derivatives.h"

// d(column i)/dq_k of a point fixed to a body at `offset` from the tree's centre (eq. 14).
static void column_derivative(const tbModel* m, const tbData* d, const tbReal offset[3], int i,
                              int k, tbReal linear[3], tbReal angular[3]) {
  tbReal axis[6], velocity[3], swing[3];
  tb_axis_derivative(m, d, k, i, axis);
  tb_motion_at(linear, axis, offset);
  tb_copy3(angular, axis);
  // The point itself moves with dof k.
  tb_motion_at(velocity, d->cdof + 6 * k, offset);
  tb_cross(swing, d->cdof + 6 * i, velocity);
  tb_add3(linear, linear, swing);
}

void tb_jac_derivative(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                       tbReal* djacp, tbReal* djacr) {
  if (!tb_is_world_of(m, d) || !point) return;
  body = tb_valid_body(m, body);
  size_t nv = (size_t)m->nv, bytes = 3 * nv * nv * sizeof(tbReal);
  if (djacp) memset(djacp, 0, bytes);
  if (djacr) memset(djacr, 0, bytes);
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  tbReal offset[3], linear[3], angular[3];
  tb_sub3(offset, point, d->subtree_com + 3 * m->body_rootid[body]);
  for (int a = 0; a < n; a++) {
    for (int b = 0; b < n; b++) {
      size_t at = (size_t)dofs[a] * nv + (size_t)dofs[b];
      column_derivative(m, d, offset, dofs[a], dofs[b], linear, angular);
      for (size_t r = 0; r < 3; r++) {
        if (djacp) djacp[r * nv * nv + at] = linear[r];
        if (djacr) djacr[r * nv * nv + at] = angular[r];
      }
    }
  }
}

void tb_velocity_derivative(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                            const tbReal* velocity, tbReal* dlinear_dq, tbReal* dangular_dq) {
  if (!tb_is_world_of(m, d) || !point || !velocity) return;
  body = tb_valid_body(m, body);
  size_t nv = (size_t)m->nv;
  if (dlinear_dq) memset(dlinear_dq, 0, 3 * nv * sizeof(tbReal));
  if (dangular_dq) memset(dangular_dq, 0, 3 * nv * sizeof(tbReal));
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  tbReal offset[3], linear[3], angular[3];
  tb_sub3(offset, point, d->subtree_com + 3 * m->body_rootid[body]);
  for (int b = 0; b < n; b++) {
    size_t k = (size_t)dofs[b];
    for (int a = 0; a < n; a++) {
      column_derivative(m, d, offset, dofs[a], dofs[b], linear, angular);
      for (size_t r = 0; r < 3; r++) {
        if (dlinear_dq) dlinear_dq[r * nv + k] += linear[r] * velocity[dofs[a]];
        if (dangular_dq) dangular_dq[r * nv + k] += angular[r] * velocity[dofs[a]];
      }
    }
  }
}
