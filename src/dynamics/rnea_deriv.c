// Partial derivatives of recursive Newton-Euler (docs/notebook/derivatives.md, eq. 4-12; the
// recursion of Carpentier and Mansard, RSS 2018, about the tree's centre of mass taken as a fixed
// point).
#include <string.h>

#include "dynamics/axis.h"
#include "dynamics/drift.h"
#include "dynamics/gravity.h"
#include "model/chain.h"
#include "model/workspace.h"
#include "tribo/derivatives.h"
#include "tribo/dynamics.h"

enum {
  MOMENTUM = 9,
  FORCE = 12,
  WIDTH = 18
};  // per body: B (eq. 8), then acceleration and later
    // force

static void outward(const tbModel* m, const tbData* d, const tbReal* qacc, tbReal* bodies,
                    tbReal* drift) {
  tb_gravity_acceleration(m, bodies + FORCE);
  for (int b = 1; b < m->nbody; b++) {
    int parent = m->body_parentid[b];
    tbReal* a = bodies + WIDTH * b + FORCE;
    tbReal v[6];
    tb_copy6(a, bodies + WIDTH * parent + FORCE);
    tb_copy6(v, d->cvel + 6 * parent);
    int first = m->body_jntadr[b], end = first + m->body_jntnum[b];
    for (int j = first; j < end; j++) tb_joint_velocity_product(m, d, j, qacc, a, v, drift);
  }
}

// B x = I (x x V) + x x* (I V) + V x* (I x) (eq. 8). With I = (J, h, m) and V = (w, v) most of it
// cancels by Jacobi's identity: for x = (a, b), B x = (K a, 2 a x P), where P is the linear
// momentum and K = -tr(J) [w] + 2 [w] J - 2 [h x v] - 2 h v^T + 2 (v.h) 1.
static void velocity_map(const tbReal* I, const tbReal* velocity, const tbReal momentum[6],
                         tbReal* B) {
  const tbReal *w = velocity, *v = velocity + 3, *h = I + 6;
  const tbReal J[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
  tbReal trace = I[0] + I[1] + I[2], swing[3], vh = 2 * tb_dot3(v, h), u[3];
  tb_cross(swing, h, v);
  for (int i = 0; i < 3; i++) u[i] = trace * w[i] + 2 * swing[i];
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    for (int c = 0; c < 3; c++) {
      B[3 * i + c] = 2 * (w[j] * J[3 * k + c] - w[k] * J[3 * j + c]) - 2 * h[i] * v[c];
    }
    B[4 * i] += vh;
  }
  // -[u]
  B[1] += u[2];
  B[2] -= u[1];
  B[3] -= u[2];
  B[5] += u[0];
  B[6] += u[1];
  B[7] -= u[0];
  for (int i = 0; i < 3; i++) B[MOMENTUM + i] = 2 * momentum[3 + i];
}

// r = B x
static void mul_B(tbReal r[6], const tbReal* B, const tbReal x[6]) {
  tb_mul_mat3_vec3(r, B, x);
  tb_cross(r + 3, x, B + MOMENTUM);
}

// r = angular part of B^T x; the linear part is zero.
static void mul_B_transposed(tbReal r[3], const tbReal* B, const tbReal x[6]) {
  tbReal term[3];
  tb_mul_mat3t_vec3(r, B, x);
  tb_cross(term, B + MOMENTUM, x + 3);
  tb_add3(r, r, term);
}

// Replace a body's acceleration by its force, and set its B.
static void body_terms(const tbData* d, int b, tbReal* body) {
  const tbReal *inertia = d->cinert + 10 * b, *velocity = d->cvel + 6 * b;
  tbReal momentum[6], force[6], term[6];
  tb_inertia_mul(momentum, inertia, velocity);
  tb_inertia_mul(force, inertia, body + FORCE);
  tb_force_cross(term, velocity, momentum);
  tb_add6(body + FORCE, force, term);
  velocity_map(inertia, velocity, momentum, body);
}

// Forces and B of all bodies, summed over subtrees.
static void inward(const tbModel* m, const tbData* d, tbReal* bodies) {
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] >= 0) body_terms(d, b, bodies + WIDTH * b);
  }
  for (int b = m->nbody - 1; b > 0; b--) {
    int parent = m->body_parentid[b];
    if (m->body_lastdof[parent] < 0) continue;
    tbReal *to = bodies + WIDTH * parent, *from = bodies + WIDTH * b;
    for (int k = 0; k < WIDTH; k++) to[k] += from[k];
  }
}

// Terms of dof i: change of the forces along ancestors' axes by dof i, and factors of the change of
// the force on dof i by its ancestors (eq. 9-12).
typedef struct {
  tbReal by_q[6], by_v[6];    // change of force per q_i and qvel_i
  tbReal row_I[6], row_B[3];  // I S_i and B^T S_i
  tbReal own[6];              // S_i x* F_i: rotation of the force with dof i
} Terms;

static void dof_terms(const tbModel* m, const tbData* d, const tbReal* bodies, const tbReal* drift,
                      int i, Terms* t) {
  int body = m->dof_bodyid[i];
  const tbReal *B = bodies + WIDTH * body, *S = d->cdof + 6 * i, *I = d->crb + 10 * body;
  tbReal product[6], fast[6];
  tb_inertia_mul(t->row_I, I, S);
  mul_B_transposed(t->row_B, B, S);
  tb_force_cross(t->own, S, B + FORCE);
  tb_inertia_mul(t->by_q, I, drift + 6 * i);
  mul_B(product, B, d->cdof_dot + 6 * i);
  tb_add6(t->by_q, t->by_q, product);
  tb_velocity_drift(m, d, i, fast);
  tb_inertia_mul(t->by_v, I, fast);
  mul_B(product, B, S);
  tb_add6(t->by_v, t->by_v, product);
}

// Rows and columns of dof i over the dofs above it.
static void fill_pairs(const tbModel* m, const tbData* d, const tbReal* bodies, const tbReal* drift,
                       int i, tbReal* dq, tbReal* dv) {
  size_t nv = (size_t)m->nv, row = (size_t)i;
  Terms t;
  dof_terms(m, d, bodies, drift, i, &t);
  const int* above = m->M_colind + m->M_rowadr[i];
  for (int s = 0; s < m->M_rownnz[i]; s++) {
    int k = above[s];
    size_t column = (size_t)k;
    const tbReal *S = d->cdof + 6 * k, *S_dot = d->cdof_dot + 6 * k;
    if (dq) {
      // Force on k by q_i; if i moves k's axis (one ball joint), the rotation of the force cancels.
      tbReal up = tb_dot6(S, t.by_q);
      if (!tb_axis_moves(m, i, k)) up += tb_dot6(S, t.own);
      dq[column * nv + row] = up;
      // Force on i by q_k: the rotation with dof k cancels.
      if (k != i) dq[row * nv + column] = tb_dot6(t.row_I, drift + 6 * k) + tb_dot3(t.row_B, S_dot);
    }
    if (dv) {
      tbReal fast[6];
      dv[column * nv + row] = tb_dot6(S, t.by_v);
      tb_velocity_drift(m, d, k, fast);
      dv[row * nv + column] = tb_dot3(t.row_B, S) + tb_dot6(t.row_I, fast);
    }
  }
}

void tb_wrench_derivative(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                          const tbReal force[3], const tbReal torque[3], tbReal scale,
                          tbReal* dqfrc) {
  if (!tb_is_world_of(m, d) || !point || !dqfrc) return;
  body = tb_valid_body(m, body);
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  tbReal at[3], wrench[6];
  tb_sub3(at, point, d->subtree_com + 3 * m->body_rootid[body]);
  tb_force_make(wrench, at, force, torque);
  for (int b = 0; b < n; b++) {
    int k = dofs[b];
    // The point moves with dof k, the force keeps its direction.
    tbReal velocity[3], moment[3] = {0};
    tb_motion_at(velocity, d->cdof + 6 * k, at);
    if (force) tb_cross(moment, velocity, force);
    for (int a = 0; a < n; a++) {
      int i = dofs[a];
      tbReal axis[6];
      tb_axis_derivative(m, d, k, i, axis);
      dqfrc[(size_t)i * (size_t)m->nv + (size_t)k] +=
          scale * (tb_dot6(axis, wrench) + tb_dot3(d->cdof + 6 * i, moment));
    }
  }
}

void tb_rne_partials(const tbModel* m, tbData* d, const tbReal* qacc, const tbReal* xfrc,
                     tbReal* dtau_dq, tbReal* dtau_dv) {
  size_t bytes = (size_t)m->nv * (size_t)m->nv * sizeof(tbReal);
  tbReal *bodies = d->work->scratch_body, *drift = d->work->scratch_dof;
  if (dtau_dq) memset(dtau_dq, 0, bytes);
  if (dtau_dv) memset(dtau_dv, 0, bytes);
  outward(m, d, qacc, bodies, drift);
  inward(m, d, bodies);
  for (int i = 0; i < m->nv; i++) fill_pairs(m, d, bodies, drift, i, dtau_dq, dtau_dv);
  for (int b = 1; xfrc && dtau_dq && b < m->nbody; b++) {
    const tbReal* f = xfrc + 6 * b;
    int zero = 1;
    for (int k = 0; k < 6; k++) zero &= f[k] == 0;
    if (!zero) tb_wrench_derivative(m, d, b, d->xipos + 3 * b, f, f + 3, -1, dtau_dq);
  }
}

tbResult tb_rne_derivatives(const tbModel* m, tbData* d, const tbReal* qacc, const tbReal* xfrc,
                            tbReal* dtau_dq, tbReal* dtau_dv) {
  if (!tb_is_world_of(m, d)) return TB_ERROR_ARGUMENT;
  for (int t = 0; t < m->ntendon; t++) {
    int fixed = m->tendon_num[t] == 0 || m->wrap_type[m->tendon_adr[t]] == TB_WRAP_JOINT;
    if (m->tendon_armature[t] != 0 && !fixed) return TB_ERROR_UNSUPPORTED;
  }
  tb_rne_partials(m, d, qacc, xfrc, dtau_dq, dtau_dv);
  return TB_OK;
}

// dqacc = -M^-1 dtau: the partials of qacc at constant tau (eq. 13). `partial` holds dtau by rows.
static void to_acceleration(const tbModel* m, const tbData* d, tbReal* partial, tbReal* column) {
  size_t nv = (size_t)m->nv;
  for (size_t k = 0; k < nv; k++) {
    for (size_t i = 0; i < nv; i++) column[i] = -partial[i * nv + k];
    tb_solve_m(m, d, column, column, 1);
    for (size_t i = 0; i < nv; i++) partial[i * nv + k] = column[i];
  }
}

tbResult tb_forward_derivatives(const tbModel* m, tbData* d, const tbReal* qacc, const tbReal* xfrc,
                                tbReal* dqacc_dq, tbReal* dqacc_dv, tbReal* dqacc_dtau) {
  tbResult result = tb_rne_derivatives(m, d, qacc, xfrc, dqacc_dq, dqacc_dv);
  if (result != TB_OK) return result;
  if (dqacc_dq) to_acceleration(m, d, dqacc_dq, d->work->scratch_nv);
  if (dqacc_dv) to_acceleration(m, d, dqacc_dv, d->work->scratch_nv);
  if (dqacc_dtau) {
    size_t nv = (size_t)m->nv;
    memset(dqacc_dtau, 0, nv * nv * sizeof(tbReal));
    for (size_t i = 0; i < nv; i++) dqacc_dtau[i * nv + i] = 1;
    tb_solve_m(m, d, dqacc_dtau, dqacc_dtau, m->nv);
  }
  return TB_OK;
}
