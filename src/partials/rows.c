// Derivatives of a constraint's rows by the configuration: T[r][i][k] = dJ[r][i]/dq_k
// (docs/notebook/derivatives.md, eq. 25-27 and 34-37).
#include <string.h>

#include "dynamics/axis.h"
#include "dynamics/equality/residual.h"
#include "model/chain.h"
#include "model/joint_space.h"
#include "model/workspace.h"
#include "spatial/so3.h"
#include "partials/derivatives.h"
#include "tribo/dynamics.h"

static tbReal* entry(const tbActiveRows* a, int r, int i, int k) {
  return a->T + ((size_t)r * (size_t)a->nnz + (size_t)i) * (size_t)a->nnz + (size_t)k;
}

void tb_active_velocity(const tbActiveRows* a, const tbReal* x, tbReal scale, tbReal* out,
                        int stride) {
  if (a->moving) tb_moving_velocity(a, x, scale, out, stride);
  for (int r = 0; a->T && r < a->dim; r++) {
    tbReal* row = out + (size_t)r * (size_t)stride;
    for (int i = 0; i < a->nnz; i++) {
      tbReal s = scale * x[a->col[i]];
      const tbReal* t = entry(a, r, i, 0);
      if (s == 0) continue;
      for (int k = 0; k < a->nnz; k++) row[a->col[k]] += s * t[k];
    }
  }
}

tbActiveRows tb_active_row(const tbActiveRows* a, int r) {
  tbActiveRows one = *a;
  one.dim = 1;
  one.first = a->first + r;
  if (a->T) one.T = a->T + (size_t)r * (size_t)(a->nnz * a->nnz);
  return one;
}

void tb_active_force(const tbActiveRows* a, tbPartials* out) {
  if (a->moving) tb_moving_force(a, out);
  for (int r = 0; a->T && r < a->dim; r++) {
    if (a->force[r] == 0) continue;
    for (int i = 0; i < a->nnz; i++) {
      const tbReal* t = entry(a, r, i, 0);
      tbReal* row = tb_partial(out, a->col[i], 0);
      for (int k = 0; k < a->nnz; k++) row[a->col[k]] += a->force[r] * t[k];
    }
  }
}

// ---- points of two bodies -----------------------------------------------------------------------

// One side of a connect or weld.
typedef struct {
  tbReal sign;
  tbReal offset[3];  // of the point from the tree's centre
  int n;
  const int* chain;
} Side;

static Side side_of(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                    tbReal sign) {
  Side s = {.sign = sign};
  s.n = tb_body_chain(m, body, &s.chain);
  tb_sub3(s.offset, point, d->subtree_com + 3 * m->body_rootid[body]);
  return s;
}

// The index of each dof of a chain in the constraint's support.
static void places(const tbActiveRows* a, const Side* s, int* place) {
  for (int k = 0, c = 0; k < s->n; k++, c++) {
    while (a->col[c] != s->chain[k]) c++;
    place[k] = c;
  }
}

// The motion (angular, linear at the side's point) of dof i.
static void motion_at(const tbData* d, const Side* s, int dof, tbReal out[6]) {
  tb_copy3(out, d->cdof + 6 * dof);
  tb_motion_at(out + 3, d->cdof + 6 * dof, s->offset);
}

// Add the part of T that comes from the motion of a side's own axes, along the world's axes: d(S_i
// at the point).
static void add_axes(const tbModel* m, const tbData* d, const tbActiveRows* a, const Side* s,
                     const int* place) {
  for (int i = 0; i < s->n; i++) {
    for (int k = 0; k < s->n; k++) {
      if (!tb_axis_moves(m, s->chain[k], s->chain[i])) continue;
      tbReal axis[6], v[3];
      tb_motion_cross(axis, d->cdof + 6 * s->chain[k], d->cdof + 6 * s->chain[i]);
      tb_motion_at(v, axis, s->offset);
      for (int r = 0; r < 3; r++) *entry(a, r, place[i], place[k]) += s->sign * v[r];
    }
  }
}

// ---- equalities ---------------------------------------------------------------------------------

// The motions of a side's body by every dof of the support, at the side's point.
static void side_motions(const tbData* d, const Side* s, const int* place, tbReal* motion) {
  for (int k = 0; k < s->n; k++) motion_at(d, s, s->chain[k], motion + 6 * place[k]);
}

// r = vector part of a b c, for quaternions with b = (0, w).
static void sandwich(const tbReal a[4], const tbReal w[3], const tbReal c[4], tbReal out[4]) {
  tbReal spin[4] = {0, w[0], w[1], w[2]}, product[4];
  tb_quat_mul(product, a, spin);
  tb_quat_mul(out, product, c);
}

// A weld's rows 3-5 are B(w) = scale/2 vec(q2^-1 w q1) of the relative angular velocity w; dof k
// changes the quaternions by dq1 = w1 q1 / 2, dq2^-1 = -q2^-1 w2 / 2 (eq. 36).
static void weld_rows(const tbModel* m, const tbConstraint* c, const tbActiveRows* a,
                      const tbReal quat[2][4], const tbReal* motion1, const tbReal* motion2,
                      const tbReal* dw) {
  int n = a->nnz;
  tbReal scale = 0.5 * m->eq_data[TB_NEQDATA * c->id + TB_EQ_TORQUESCALE], conjugate[4];
  tb_quat_conjugate(conjugate, quat[1]);
  for (int i = 0; i < n; i++) {
    tbReal w[3];
    tb_sub3(w, motion1 + 6 * i, motion2 + 6 * i);
    for (int k = 0; k < n; k++) {
      tbReal turned[4], left[4], right[4], whole[4];
      sandwich(conjugate, dw + 3 * ((size_t)i * (size_t)n + (size_t)k), quat[0], turned);
      tbReal spin1[4] = {0, motion1[6 * k], motion1[6 * k + 1], motion1[6 * k + 2]};
      tbReal spin2[4] = {0, motion2[6 * k], motion2[6 * k + 1], motion2[6 * k + 2]};
      tb_quat_mul(right, spin1, quat[0]);
      tb_quat_mul(left, conjugate, spin2);
      sandwich(conjugate, w, right, whole);
      for (int r = 0; r < 3; r++)
        *entry(a, 3 + r, i, k) = scale * (turned[1 + r] + 0.5 * whole[1 + r]);
      sandwich(left, w, quat[0], whole);
      for (int r = 0; r < 3; r++) *entry(a, 3 + r, i, k) -= scale * 0.5 * whole[1 + r];
    }
  }
}

// dw[i][k] = d(w1_i - w2_i)/dq_k from the axes of both sides.
static void relative_spin(const tbModel* m, const tbData* d, const Side* s, const int* place, int n,
                          tbReal* dw) {
  for (int i = 0; i < s->n; i++) {
    for (int k = 0; k < s->n; k++) {
      tbReal axis[6];
      tb_axis_derivative(m, d, s->chain[k], s->chain[i], axis);
      tbReal* to = dw + 3 * ((size_t)place[i] * (size_t)n + (size_t)place[k]);
      tb_add_scaled3(to, to, s->sign, axis);
    }
  }
}

static tbResult body_equality(tbDerivatives* x, const tbData* d, const tbConstraint* c,
                              tbActiveRows* a) {
  const tbModel* m = x->m;
  int body[2], n = a->nnz, weld = c->dim == 6;
  tbReal point[2][3], quat[2][4];
  tb_equality_points(m, d, c->id, body, point, quat);
  tbReal* room = TB_ARENA_NEW(&x->arena, tbReal, 12 * n + 3 * n * n);
  int* place = TB_ARENA_NEW(&x->arena, int, n);
  if (!room || !place) return TB_ERROR_MEMORY;
  for (int s = 0; s < 2; s++) {
    Side side = side_of(m, d, body[s], point[s], s ? -1 : 1);
    places(a, &side, place);
    side_motions(d, &side, place, room + 6 * n * s);
    add_axes(m, d, a, &side, place);
    if (weld) relative_spin(m, d, &side, place, n, room + 12 * n);
    // Each point moves with its own body.
    for (int i = 0; i < side.n; i++) {
      for (int k = 0; k < side.n; k++) {
        tbReal velocity[3], swing[3];
        tb_motion_at(velocity, d->cdof + 6 * side.chain[k], side.offset);
        tb_cross(swing, d->cdof + 6 * side.chain[i], velocity);
        for (int r = 0; r < 3; r++) *entry(a, r, place[i], place[k]) += side.sign * swing[r];
      }
    }
  }
  if (weld) weld_rows(m, c, a, quat, room, room + 6 * n, room + 12 * n);
  return TB_OK;
}

// ---- tendons, couplings, ball limits ------------------------------------------------------------

// T of a row that is `scale` times a tendon's Jacobian: by differences for a spatial tendon.
static tbResult add_tendon(tbDerivatives* x, const tbData* d, int t, tbReal scale,
                           tbActiveRows* a) {
  const tbReal e = 1e-6;
  const tbModel* m = x->m;
  if (m->tendon_num[t] == 0 || m->wrap_type[m->tendon_adr[t]] == TB_WRAP_JOINT) return TB_OK;
  if (!x->probe) x->probe = tb_data_new(m);
  if (!x->probe) return TB_ERROR_MEMORY;
  tbData* p = x->probe;
  int adr = m->tendon_Jadr[t], count = m->tendon_Jnnz[t];
  for (int k = 0; k < a->nnz; k++) {
    for (int side = -1; side <= 1; side += 2) {
      memcpy(p->qpos, d->qpos, sizeof(tbReal) * (size_t)m->nq);
      memset(p->work->scratch_nv, 0, sizeof(tbReal) * (size_t)m->nv);
      p->work->scratch_nv[a->col[k]] = 1;
      tb_integrate_pos(m, p->qpos, p->work->scratch_nv, side * e);
      tb_kinematics(m, p);
      tb_com_position(m, p);
      tb_tendon(m, p);
      for (int s = 0, i = 0; s < count; s++, i++) {
        while (a->col[i] != m->Jten_colind[adr + s]) i++;
        *entry(a, 0, i, k) += scale * side * p->ten_J[adr + s] / (2 * e);
      }
    }
  }
  x->info.finite_differences = 1;
  return TB_OK;
}

// y1 = f(y2): the row is J1 - f'(y2) J2.
static tbResult scalar_equality(tbDerivatives* x, const tbData* d, const tbConstraint* c,
                                tbActiveRows* a) {
  const tbModel* m = x->m;
  int tendon = tb_equality_ends(m, c->id) == TB_ENDS_TENDONS, id1 = m->eq_obj1id[c->id];
  int id2 = m->eq_obj2id[c->id];
  tbResult result = tendon ? add_tendon(x, d, id1, 1, a) : TB_OK;
  if (id2 < 0 || result != TB_OK) return result;
  tbReal y = tendon ? d->ten_length[id2] - m->tendon_length0[id2]
                    : d->qpos[m->jnt_qposadr[id2]] - m->qpos0[m->jnt_qposadr[id2]];
  tbReal f[3];
  tb_equality_coupling(m, c->id, y, f);
  if (tendon) result = add_tendon(x, d, id2, -f[1], a);
  if (f[2] == 0) return result;

  // - f''(y2) J2 J2^T
  tbReal one = 1;
  int joint_dof = tendon ? 0 : m->jnt_dofadr[id2];
  const int* col = tendon ? m->Jten_colind + m->tendon_Jadr[id2] : &joint_dof;
  const tbReal* J = tendon ? d->ten_J + m->tendon_Jadr[id2] : &one;
  int count = tendon ? m->tendon_Jnnz[id2] : 1;
  for (int s = 0, i = 0; s < count; s++, i++) {
    while (a->col[i] != col[s]) i++;
    for (int q = 0, k = 0; q < count; q++, k++) {
      while (a->col[k] != col[q]) k++;
      *entry(a, 0, i, k) -= f[2] * J[s] * J[q];
    }
  }
  return result;
}

// The row of the limit of a rotation; the dofs of the rotation are the last of the support.
static void angle_limit(const tbModel* m, const tbData* d, const tbConstraint* c,
                        const tbActiveRows* a) {
  tbReal by_q[9];
  tb_joint_angle_partials(m->jnt_type[c->id], d->qpos + m->jnt_qposadr[c->id], by_q);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) *entry(a, 0, a->nnz - 3 + i, a->nnz - 3 + k) = by_q[3 * i + k];
  }
}

// +1 at a tendon's lower limit, -1 at its upper one.
static tbReal tendon_side(const tbModel* m, const tbData* d, const tbConstraint* c) {
  tbReal above = d->ten_length[c->id] - m->tendon_range[2 * c->id];
  return tb_gap_to(above, m->tendon_margin[c->id]) == c->pos[0] ? 1 : -1;
}

tbResult tb_deriv_rows(tbDerivatives* x, tbData* d, const tbConstraint* c, tbActiveRows* a) {
  const tbModel* m = x->m;
  bool is_constant = c->source == TB_SOURCE_LIMIT_JOINT && tb_joint_limits(m->jnt_type[c->id]) == 2;
  a->dpos = TB_ARENA_NEW(&x->arena, tbReal, a->dim * a->nnz);
  if (!a->dpos) return TB_ERROR_MEMORY;
  if (c->source != TB_SOURCE_CONTACT && c->source != TB_SOURCE_FRICTION_DOF &&
      c->source != TB_SOURCE_FRICTION_TENDON) {
    memcpy(a->dpos, a->J, sizeof(tbReal) * (size_t)(a->dim * a->nnz));
  }
  if (is_constant || c->source == TB_SOURCE_FRICTION_DOF) return TB_OK;
  if (c->source == TB_SOURCE_CONTACT) return tb_deriv_contact(x, d, c, a);
  a->T = TB_ARENA_NEW(&x->arena, tbReal, a->dim * a->nnz * a->nnz);
  if (!a->T) return TB_ERROR_MEMORY;
  switch (c->source) {
    case TB_SOURCE_LIMIT_JOINT: angle_limit(m, d, c, a); return TB_OK;
    case TB_SOURCE_LIMIT_TENDON: return add_tendon(x, d, c->id, tendon_side(m, d, c), a);
    case TB_SOURCE_FRICTION_TENDON: return add_tendon(x, d, c->id, 1, a);
    default: break;
  }
  return tb_equality_joins_bodies(m, c->id) ? body_equality(x, d, c, a)
                                            : scalar_equality(x, d, c, a);
}
