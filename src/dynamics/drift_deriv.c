// Derivatives of dJ/dt v (docs/notebook/derivatives.md, eq. 46-48).
#include "dynamics/drift.h"

#include "dynamics/axis.h"
#include "model/chain.h"

// C_k = a x S_k + p x dS_k, with a and p acceleration and velocity before dof k (eq. 6).
static void acceleration_drift(tbReal drift[6], const tbReal a[6], const tbReal p[6],
                               const tbReal* axis, const tbReal* axis_dot) {
  tbReal term[6];
  tb_motion_cross(drift, a, axis);
  tb_motion_cross(term, p, axis_dot);
  tb_add6(drift, drift, term);
}

void tb_joint_velocity_product(const tbModel* m, const tbData* d, int joint, const tbReal* qacc,
                               tbReal a[6], tbReal v[6], tbReal* drift) {
  int type = m->jnt_type[joint], first = m->jnt_dofadr[joint], end = first + tb_joint_nv(type);
  if (tb_joint_floats(type)) {
    // Translations have no velocity-product term; they are handled before the rotations.
    for (int i = first; i < first + 3; i++) {
      tb_zero6(drift + 6 * i);
      tb_add_scaled6(v, v, d->qvel[i], d->cdof + 6 * i);
      if (qacc) tb_add_scaled6(a, a, qacc[i], d->cdof + 6 * i);
    }
    first += 3;
  }
  for (int i = first; i < end; i++) {
    acceleration_drift(drift + 6 * i, a, v, d->cdof + 6 * i, d->cdof_dot + 6 * i);
  }
  for (int i = first; i < end; i++) {
    tb_add_scaled6(a, a, d->qvel[i], d->cdof_dot + 6 * i);
    tb_add_scaled6(v, v, d->qvel[i], d->cdof + 6 * i);
    if (qacc) tb_add_scaled6(a, a, qacc[i], d->cdof + 6 * i);
  }
}

// dS_k + (velocity after the joint) x S_k, which is twice dS_k except for the joint's own spin.
void tb_velocity_drift(const tbModel* m, const tbData* d, int k, tbReal drift[6]) {
  for (int r = 0; r < 6; r++) drift[r] = 2 * d->cdof_dot[6 * k + r];
  int joint = m->dof_jntid[k], type = m->jnt_type[joint];
  int first = m->jnt_dofadr[joint] + tb_joint_translations(type);
  int end = first + tb_joint_body_axes(type);
  if (end - first == 1 || k < first) return;
  tbReal spin[6] = {0}, term[6];
  for (int i = first; i < end; i++) tb_add_scaled6(spin, spin, d->qvel[i], d->cdof + 6 * i);
  tb_motion_cross(term, spin, d->cdof + 6 * k);
  tb_add6(drift, drift, term);
}

void tb_velocity_product(const tbModel* m, const tbData* d, tbReal* acceleration, tbReal* by_dof) {
  tb_zero6(acceleration);
  for (int b = 1; b < m->nbody; b++) {
    int parent = m->body_parentid[b];
    tbReal *a = acceleration + 6 * b, v[6];
    tb_copy6(a, acceleration + 6 * parent);
    tb_copy6(v, d->cvel + 6 * parent);
    int first = m->body_jntadr[b], end = first + m->body_jntnum[b];
    for (int j = first; j < end; j++) tb_joint_velocity_product(m, d, j, NULL, a, v, by_dof);
  }
}

// Change of the linear acceleration a + alpha x r + w x (v + w x r) of a point at r by da and dV.
static void point_change(const tbReal offset[3], const tbReal* V, const tbReal velocity[3],
                         const tbReal da[6], const tbReal dV[6], tbReal linear[3],
                         tbReal angular[3]) {
  tbReal at[3], term[3];
  tb_copy3(angular, da);
  tb_motion_at(linear, da, offset);
  tb_cross(term, dV, velocity);
  tb_add3(linear, linear, term);
  tb_motion_at(at, dV, offset);
  tb_cross(term, V, at);
  tb_add3(linear, linear, term);
}

void tb_velocity_product_partials(const tbModel* m, const tbData* d, int body,
                                  const tbReal point[3], const tbReal* acceleration,
                                  const tbReal* by_dof, tbVelocityProductPartials* out) {
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  const tbReal *V = d->cvel + 6 * body, *A = acceleration + 6 * body;
  tbReal offset[3], velocity[3];
  tb_sub3(offset, point, d->subtree_com + 3 * m->body_rootid[body]);
  tb_motion_at(velocity, V, offset);
  for (int s = 0; s < n; s++) {
    int k = dofs[s];
    const tbReal *S = d->cdof + 6 * k, *S_dot = d->cdof_dot + 6 * k;
    tbReal da[6], dV[6], term[6];
    // By q (eq. 2, 4).
    tb_motion_cross(dV, S, V);
    tb_add6(dV, dV, S_dot);
    tb_motion_cross(da, S, A);
    tb_motion_cross(term, S_dot, V);
    tb_add6(da, da, term);
    tb_add6(da, da, by_dof + 6 * k);
    point_change(offset, V, velocity, da, dV, out[s].linear_q, out[s].angular_q);
    // By v (eq. 3, 5).
    tb_motion_cross(da, S, V);
    tb_velocity_drift(m, d, k, term);
    tb_add6(da, da, term);
    point_change(offset, V, velocity, da, S, out[s].linear_v, out[s].angular_v);
  }
}

void tb_velocity_product_of_point(const tbData* d, int body, const tbReal* acceleration,
                                  tbReal out[9]) {
  const tbReal *w = d->cvel + 6 * body, *a = acceleration + 6 * body;
  tbReal square = tb_dot3(w, w);
  // [alpha] + w w^T - |w|^2
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) out[3 * i + k] = w[i] * w[k] - (i == k) * square;
  }
  out[1] -= a[2];
  out[2] += a[1];
  out[3] += a[2];
  out[5] -= a[0];
  out[6] -= a[1];
  out[7] += a[0];
}
