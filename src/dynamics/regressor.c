// Forces as a linear function of the inertial parameters (docs/notebook/derivatives.md, eq. 17-19).
#include "dynamics/regressor.h"

#include <math.h>
#include <string.h>

#include "dynamics/gravity.h"
#include "model/chain.h"
#include "model/workspace.h"
#include "spatial/eig3.h"
#include "tribo/derivatives.h"

// Index of each parameter among the ten numbers of spatial/motion.h.
static const int PLACE[TB_NINERTIAL] = {9, 6, 7, 8, 0, 3, 1, 4, 5, 2};

// Acceleration of every body, gravity included.
static void accelerations(const tbModel* m, const tbData* d, const tbReal* qacc, tbReal* a) {
  tb_gravity_acceleration(m, a);
  for (int b = 1; b < m->nbody; b++) {
    tb_copy6(a + 6 * b, a + 6 * m->body_parentid[b]);
    int first = m->body_dofadr[b], end = first + m->body_dofnum[b];
    for (int i = first; i < end; i++) {
      tb_add_scaled6(a + 6 * b, a + 6 * b, d->qvel[i], d->cdof_dot + 6 * i);
      if (qacc) tb_add_scaled6(a + 6 * b, a + 6 * b, qacc[i], d->cdof + 6 * i);
    }
  }
}

// A motion about the tree's centre in a body's own frame at its origin.
static void to_body(const tbReal R[9], const tbReal offset[3], const tbReal motion[6],
                    tbReal local[6]) {
  tbReal linear[3];
  tb_motion_at(linear, motion, offset);
  tb_mul_mat3t_vec3(local, R, motion);
  tb_mul_mat3t_vec3(local + 3, R, linear);
}

// Force of one unit parameter on a body, about the tree's centre.
static void unit_force(const tbReal R[9], const tbReal offset[3], int parameter, const tbReal v[6],
                       const tbReal a[6], tbReal force[6]) {
  tbReal inertia[10] = {0}, momentum[6], local[6], term[6], swing[3];
  inertia[PLACE[parameter]] = 1;
  tb_inertia_mul(local, inertia, a);
  tb_inertia_mul(momentum, inertia, v);
  tb_force_cross(term, v, momentum);
  tb_add6(local, local, term);
  tb_mul_mat3_vec3(force, R, local);
  tb_mul_mat3_vec3(force + 3, R, local + 3);
  tb_cross(swing, offset, force + 3);
  tb_add3(force, force, swing);
}

void tb_rne_regressor(const tbModel* m, tbData* d, const tbReal* qacc, tbReal* Y) {
  if (!tb_is_world_of(m, d) || !Y) return;
  size_t width = (size_t)TB_NINERTIAL * (size_t)m->nbody;
  memset(Y, 0, (size_t)m->nv * width * sizeof(tbReal));
  tbReal* acceleration = d->work->scratch_body;
  accelerations(m, d, qacc, acceleration);
  for (int b = 1; b < m->nbody; b++) {
    const int* dofs;
    int n = tb_body_chain(m, b, &dofs);
    if (n == 0) continue;
    const tbReal* R = d->xmat + 9 * b;
    tbReal offset[3], v[6], a[6], force[6];
    tb_sub3(offset, d->xpos + 3 * b, d->subtree_com + 3 * m->body_rootid[b]);
    to_body(R, offset, d->cvel + 6 * b, v);
    to_body(R, offset, acceleration + 6 * b, a);
    for (int p = 0; p < TB_NINERTIAL; p++) {
      unit_force(R, offset, p, v, a, force);
      for (int k = 0; k < n; k++) {
        Y[(size_t)dofs[k] * width + (size_t)(TB_NINERTIAL * b + p)] =
            tb_dot6(d->cdof + 6 * dofs[k], force);
      }
    }
  }
}

void tb_inertial_get(const tbModel* m, int body, tbReal parameters[TB_NINERTIAL]) {
  if (!m || !parameters) return;
  body = tb_valid_body(m, body);
  tbReal R[9], inertia[10];
  tb_quat_to_mat(R, m->body_iquat + 4 * body);
  tb_inertia_make(inertia, m->body_mass[body], m->body_inertia + 3 * body, R,
                  m->body_ipos + 3 * body);
  for (int p = 0; p < TB_NINERTIAL; p++) parameters[p] = inertia[PLACE[p]];
}

// Rotational inertia about the centre of mass from that about the body's origin.
static void central_inertia(const tbReal p[TB_NINERTIAL], const tbReal c[3], tbReal I[9]) {
  tbReal mass = p[0], cc = tb_dot3(c, c);
  const tbReal full[9] = {p[4], p[5], p[7], p[5], p[6], p[8], p[7], p[8], p[9]};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      I[3 * i + j] = full[3 * i + j] - mass * ((i == j ? cc : 0) - c[i] * c[j]);
    }
  }
}

void tb_inertia_products(const tbModel* m, const tbData* d, int body, const tbReal* u,
                         const tbReal* w, tbReal out[TB_NINERTIAL]) {
  const tbReal *motion[2] = {u, w}, *R = d->xmat + 9 * body;
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  tbReal offset[3], v[2][6], term[3];
  tb_sub3(offset, d->xpos + 3 * body, d->subtree_com + 3 * m->body_rootid[body]);
  for (int s = 0; s < 2; s++) {
    tbReal sum[6] = {0};
    for (int k = 0; k < n; k++) {
      tb_add_scaled6(sum, sum, motion[s][dofs[k]], d->cdof + 6 * dofs[k]);
    }
    to_body(R, offset, sum, v[s]);
  }
  const tbReal *w1 = v[0], *w2 = v[1], *v1 = v[0] + 3, *v2 = v[1] + 3;
  out[0] = tb_dot3(v1, v2);
  tb_cross(out + 1, v1, w2);
  tb_cross(term, v2, w1);
  tb_add3(out + 1, out + 1, term);
  out[4] = w1[0] * w2[0];
  out[5] = w1[0] * w2[1] + w1[1] * w2[0];
  out[6] = w1[1] * w2[1];
  out[7] = w1[0] * w2[2] + w1[2] * w2[0];
  out[8] = w1[1] * w2[2] + w1[2] * w2[1];
  out[9] = w1[2] * w2[2];
}

void tb_inertial_write(tbModel* m, int body, const tbReal parameters[TB_NINERTIAL]) {
  tbReal c[3], I[9], moment[3], quat[4];
  tb_scale3(c, parameters + 1, 1 / parameters[0]);
  central_inertia(parameters, c, I);
  tb_eig3(moment, quat, I);
  m->body_mass[body] = parameters[0];
  tb_copy3(m->body_ipos + 3 * body, c);
  tb_copy3(m->body_inertia + 3 * body, moment);
  for (int k = 0; k < 4; k++) m->body_iquat[4 * body + k] = quat[k];
}

tbResult tb_inertial_set(tbModel* m, int body, const tbReal parameters[TB_NINERTIAL]) {
  if (!m || !parameters) return TB_ERROR_ARGUMENT;
  if (body <= 0 || body >= m->nbody) return TB_ERROR_ARGUMENT;
  for (int p = 0; p < TB_NINERTIAL; p++) {
    if (!isfinite(parameters[p])) return TB_ERROR_ARGUMENT;
  }
  if (!(parameters[0] > 0)) return TB_ERROR_MODEL;
  tbReal c[3], I[9], moment[3], quat[4];
  tb_scale3(c, parameters + 1, 1 / parameters[0]);
  central_inertia(parameters, c, I);
  tb_eig3(moment, quat, I);
  // Moments of a body of positive density obey the triangle inequality.
  tbReal slack = 1e-12 * (fabs(moment[0]) + fabs(moment[1]) + fabs(moment[2]));
  if (!(moment[2] >= 0) || moment[0] > moment[1] + moment[2] + slack) return TB_ERROR_MODEL;
  tb_inertial_write(m, body, parameters);
  return TB_OK;
}
