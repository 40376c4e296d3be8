// Constraint rows: which dofs move each constraint, and how fast.
#include <math.h>
#include <string.h>

#include "contact/assemble.h"
#include "linalg/four.h"
#include "model/chain.h"
#include "model/workspace.h"
#include "spatial/quat.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

// ---- supports ----------------------------------------------------------------------------------

// Support of a relative motion of two bodies. Returns -1 when out of memory.
static int pair_support(const tbModel* m, tbArena* arena, int body1, int body2, const int** col) {
  const int *a = NULL, *b = NULL;
  int na = tb_body_chain(m, body1, &a), nb = tb_body_chain(m, body2, &b);
  *col = na ? a : b;
  if (na == 0) return nb;
  if (nb == 0) return na;
  int* merged = tb_arena_alloc(arena, sizeof(int) * (size_t)(na + nb));
  if (!merged) return -1;
  *col = merged;
  return tb_union(a, na, b, nb, merged);
}

// ---- Jacobians ---------------------------------------------------------------------------------

// The row of a unit direction in a body's twists: f.(w x arm + v) = (arm x f).w + f.v.
static void twist_row(const tbReal arm[3], const tbReal f[3], tbReal sign, tbReal row[6]) {
  tbReal direction[3] = {sign * f[0], sign * f[1], sign * f[2]};
  tb_cross(row, arm, direction);
  tb_copy3(row + 3, direction);
}

// Three directions f as linear functions of a body's twist, side by side: how fast the point at
// `arm` moves along each, and how fast the body turns about each.
typedef struct {
  tbReal turn[3][4], along[3][4];
} Directions;

static void set_directions(Directions* x, const tbReal arm[3], const tbReal* frame, tbReal sign) {
  for (int k = 0; k < 3; k++) {
    for (int r = 0; r < 3; r++) x->along[k][r] = sign * frame[3 * r + k];
    x->along[k][3] = 0;
  }
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    for (int r = 0; r < 4; r++) x->turn[k][r] = arm[i] * x->along[j][r] - arm[j] * x->along[i][r];
  }
}

// J of a block with support `col` += its first `linear` directions of the point and `angular` ones
// of the turn, in the columns of `chain`.
TB_INLINE void add_columns(const Directions* x, int linear, int angular, const tbReal* cdof,
                           const int* chain, int n, const int* col, int nnz, tbReal* J) {
  for (int k = 0, at = 0; k < n; k++, at++) {
    while (col[at] != chain[k]) at++;
    const tbReal* axis = cdof + 6 * chain[k];
    tbReal* to = J + at;
#if TB_PART == 4
    const tbFour *turn = (const tbFour*)x->turn, *along = (const tbFour*)x->along;
    tbFour v = (turn[0] * axis[0] + turn[1] * axis[1] + turn[2] * axis[2]) +
               (along[0] * axis[3] + along[1] * axis[4] + along[2] * axis[5]);
    tbFour w = along[0] * axis[0] + along[1] * axis[1] + along[2] * axis[2];
#else
    tbReal v[3], w[3];
    for (int r = 0; r < 3; r++) {
      v[r] = (x->turn[0][r] * axis[0] + x->turn[1][r] * axis[1] + x->turn[2][r] * axis[2]) +
             (x->along[0][r] * axis[3] + x->along[1][r] * axis[4] + x->along[2][r] * axis[5]);
      w[r] = x->along[0][r] * axis[0] + x->along[1][r] * axis[1] + x->along[2][r] * axis[2];
    }
#endif
    if (linear > 0) to[0] += v[0];
    if (linear > 1) {
      to[nnz] += v[1];
      to[2 * nnz] += v[2];
    }
    to += linear * nnz;
    if (angular > 0) to[0] += w[0];
    if (angular > 1) {
      to[nnz] += w[1];
      to[2 * nnz] += w[2];
    }
  }
}

// The usual contact, of three rows, has a copy of its own.
static void columns_narrow(const Directions* x, int linear, int angular, const tbReal* cdof,
                           const int* chain, int n, const int* col, int nnz, tbReal* J) {
  if (linear == 3 && angular == 0) {
    add_columns(x, 3, 0, cdof, chain, n, col, nnz, J);
  } else {
    add_columns(x, linear, angular, cdof, chain, n, col, nnz, J);
  }
}

TB_WIDE static void columns_wide(const Directions* x, int linear, int angular, const tbReal* cdof,
                                 const int* chain, int n, const int* col, int nnz, tbReal* J) {
  if (linear == 3 && angular == 0) {
    add_columns(x, 3, 0, cdof, chain, n, col, nnz, J);
  } else {
    add_columns(x, linear, angular, cdof, chain, n, col, nnz, J);
  }
}

// Add sign * (velocity of `point` on `body`, projected on the first `linear` rows of `frame`, then
// angular velocity on the first `angular`; each 0, 1 or 3) to the columns of `body`, from the
// `first` of its dofs on, in a block with support `col`.
static void add_point_rows(const tbModel* m, const tbData* d, int body, int first,
                           const tbReal point[3], const tbReal* frame, int linear, int angular,
                           tbReal sign, const int* col, int nnz, tbReal* J) {
  const int* chain = NULL;
  int n = tb_body_chain(m, body, &chain) - first;
  if (n <= 0) return;
  tbReal arm[3];
  Directions x;
  tb_sub3(arm, point, d->subtree_com + 3 * m->body_rootid[body]);
  set_directions(&x, arm, frame, sign);
  if (tb_wide()) {
    columns_wide(&x, linear, angular, d->cdof, chain + first, n, col, nnz, J);
  } else {
    columns_narrow(&x, linear, angular, d->cdof, chain + first, n, col, nnz, J);
  }
}

static const tbReal IDENTITY[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

typedef struct {
  const tbModel* m;
  tbData* d;
  tbArena* arena;
  tbConstraints* out;
  int capacity;
} Builder;

// The next constraint with its rows zeroed, or NULL when out of memory.
static tbConstraint* add(Builder* b, int source, int id, int dim, int nnz, const int* col,
                         uint64_t key) {
  if (b->out->count == b->capacity || nnz < 0) return NULL;
  tbConstraint* c = &b->out->list[b->out->count];
  memset(c, 0, sizeof *c);
  c->source = source;
  c->id = id;
  c->row = b->out->nrow;
  c->dim = dim;
  c->nnz = nnz;
  c->col = col;
  c->J = TB_ARENA_NEW(b->arena, tbReal, dim * nnz);
  c->key = key;
  if (!c->J) return NULL;
  b->out->count++;
  b->out->nrow += dim;
  return c;
}

// Keys of constraints other than contacts: source, id and side; contacts have the top bit set.
static uint64_t plain_key(int source, int id, int side) {
  return ((uint64_t)source << 48) | ((uint64_t)(uint32_t)id << 2) | (uint64_t)side;
}

// ---- equality ----------------------------------------------------------------------------------

// World pose of what an equality refers to: a body frame or a site frame.
static int eq_frame(const tbModel* m, const tbData* d, int type, int id, const tbReal** pos,
                    const tbReal** mat) {
  if (type == TB_OBJ_SITE) {
    *pos = d->site_xpos + 3 * id;
    *mat = d->site_xmat + 9 * id;
    return m->site_bodyid[id];
  }
  *pos = d->xpos + 3 * id;
  *mat = d->xmat + 9 * id;
  return id;
}

// The two points of a connect or weld, and for a weld the two orientations that must agree.
typedef struct {
  int body[2];
  tbReal point[2][3];
  tbReal quat[2][4];
} EqualityFrames;

static void equality_frames(const tbModel* m, const tbData* d, int id, EqualityFrames* f) {
  const tbReal *data = m->eq_data + TB_NEQDATA * id, *pos[2], *mat[2];
  int type = m->eq_objtype[id], weld = m->eq_type[id] == TB_EQ_WELD;
  f->body[0] = eq_frame(m, d, type, m->eq_obj1id[id], &pos[0], &mat[0]);
  f->body[1] = eq_frame(m, d, type, m->eq_obj2id[id], &pos[1], &mat[1]);
  for (int i = 0; i < 2; i++) {
    // Anchors: connect has one per body; weld has body 2's and where body 1 should have it.
    tb_zero3(f->point[i]);
    if (type != TB_OBJ_SITE) tb_mul_mat3_vec3(f->point[i], mat[i], data + 3 * (weld ? 1 - i : i));
    tb_add3(f->point[i], f->point[i], pos[i]);
    if (weld) tb_quat_from_mat(f->quat[i], mat[i]);
  }
  if (weld && type != TB_OBJ_SITE) tb_quat_mul(f->quat[0], f->quat[0], data + 6);
  // A weld holds wherever its bodies are held together; where it yields, as by MuJoCo's law and by
  // springs, or lets them turn (torquescale 0), it does so at the anchor.
  bool yields = m->opt.law == TB_LAW_SOFT || m->opt.law == TB_LAW_VISCOELASTIC || data[10] == 0;
  for (int i = 0; i < 2 && weld && !yields; i++) {
    tbReal arm[3];
    tb_quat_rotate(arm, f->quat[i], m->eq_hold + 3 * id);
    tb_add3(f->point[i], f->point[i], arm);
  }
}

void tb_equality_points(const tbModel* m, const tbData* d, int id, int body[2], tbReal point[2][3],
                        tbReal quat[2][4]) {
  EqualityFrames f;
  memset(&f, 0, sizeof f);
  equality_frames(m, d, id, &f);
  memcpy(body, f.body, sizeof f.body);
  memcpy(point, f.point, sizeof f.point);
  memcpy(quat, f.quat, sizeof f.quat);
}

// d/dt of the vector part of q2^-1 q1 when the relative angular velocity is w: 1/2 q2^-1 w q1.
static void weld_rate(const EqualityFrames* f, const tbReal w[3], tbReal scale, tbReal rate[3]) {
  tbReal spin[4] = {0, w[0], w[1], w[2]}, conjugate[4], product[4];
  tb_quat_conjugate(conjugate, f->quat[1]);
  tb_quat_mul(product, conjugate, spin);
  tb_quat_mul(product, product, f->quat[0]);
  tb_scale3(rate, product + 1, 0.5 * scale);
}

// Two points that must coincide: 3 rows, body 1's point minus body 2's. A weld adds torquescale
// times the vector part of q2^-1 q1 and its derivative.
static int add_body_equality(Builder* b, int id) {
  const tbModel* m = b->m;
  int weld = m->eq_type[id] == TB_EQ_WELD, angular = weld ? 3 : 0;
  EqualityFrames f;
  equality_frames(m, b->d, id, &f);
  const int* col;
  int nnz = pair_support(m, b->arena, f.body[0], f.body[1], &col);
  tbConstraint* c = add(b, TB_SOURCE_EQUALITY, id, 3 + angular, nnz, col, plain_key(0, id, 0));
  if (!c) return 0;
  tb_sub3(c->pos, f.point[0], f.point[1]);
  add_point_rows(m, b->d, f.body[0], 0, f.point[0], IDENTITY, 3, angular, 1, col, nnz, c->J);
  add_point_rows(m, b->d, f.body[1], 0, f.point[1], IDENTITY, 3, angular, -1, col, nnz, c->J);
  if (!weld) return 1;
  tbReal scale = m->eq_data[TB_NEQDATA * id + 10], conjugate[4], error[4];
  tb_quat_conjugate(conjugate, f.quat[1]);
  tb_quat_mul(error, conjugate, f.quat[0]);
  tb_scale3(c->pos + 3, error + 1, scale);
  for (int k = 0; k < nnz; k++) {
    tbReal w[3] = {c->J[3 * nnz + k], c->J[4 * nnz + k], c->J[5 * nnz + k]}, rate[3];
    weld_rate(&f, w, scale, rate);
    for (int r = 0; r < 3; r++) c->J[(3 + r) * nnz + k] = rate[r];
  }
  return 1;
}

void tb_equality_wrenches(const tbModel* m, tbData* d, const tbConstraints* constraints,
                          const tbReal* row_force) {
  for (int i = 0; i < constraints->count; i++) {
    const tbConstraint* c = &constraints->list[i];
    if (c->source != TB_SOURCE_EQUALITY || c->dim < 3) continue;
    EqualityFrames f;
    equality_frames(m, d, c->id, &f);
    const tbReal* force = row_force + c->row;
    tbReal torque[3] = {0}, minus[3];
    for (int k = 0; k < 3 && c->dim == 6; k++) {
      tbReal axis[3] = {k == 0, k == 1, k == 2}, rate[3];
      weld_rate(&f, axis, m->eq_data[TB_NEQDATA * c->id + 10], rate);
      torque[k] = tb_dot3(rate, force + 3);
    }
    tb_add_wrench(m, d, f.body[0], f.point[0], force, torque);
    tb_scale3(minus, force, -1);
    tb_scale3(torque, torque, -1);
    tb_add_wrench(m, d, f.body[1], f.point[1], minus, torque);
  }
}

// Value and Jacobian row of a scalar joint or a tendon.
static int scalar_row(const tbModel* m, const tbData* d, int type, int id, tbReal* value,
                      const int** col, const tbReal** J) {
  static const tbReal ONE = 1;
  if (type == TB_EQ_JOINT) {
    *value = d->qpos[m->jnt_qposadr[id]] - m->qpos0[m->jnt_qposadr[id]];
    // A dof is the last entry of its own row of M.
    int dof = m->jnt_dofadr[id];
    *col = m->M_colind + m->M_rowadr[dof] + m->M_rownnz[dof] - 1;
    *J = &ONE;
    return 1;
  }
  *value = d->ten_length[id] - m->tendon_length0[id];
  *col = m->Jten_colind + m->tendon_Jadr[id];
  *J = d->ten_J + m->tendon_Jadr[id];
  return m->tendon_Jnnz[id];
}

// Add `factor` times a sparse row to a constraint row with support `to`.
static void scatter(const int* col, const tbReal* value, int n, tbReal factor, const int* to,
                    tbReal* row) {
  for (int k = 0, c = 0; k < n; k++, c++) {
    while (to[c] != col[k]) c++;
    row[c] += factor * value[k];
  }
}

// Close an ascending list of dofs under ancestors (the Delassus half-solve needs it).
static int close_support(const tbModel* m, tbArena* arena, const int* col, int n, const int** out) {
  int total = 0;
  for (int k = 0; k < n; k++) total += m->M_rownnz[col[k]];
  int* closed = tb_arena_alloc(arena, sizeof(int) * (size_t)(total + 1));
  int* previous = tb_arena_alloc(arena, sizeof(int) * (size_t)(total + 1));
  if (!closed || !previous) return -1;
  int count = 0;
  for (int k = 0; k < n; k++) {
    memcpy(previous, closed, sizeof(int) * (size_t)count);
    count =
        tb_union(previous, count, m->M_colind + m->M_rowadr[col[k]], m->M_rownnz[col[k]], closed);
  }
  *out = closed;
  return count;
}

// Whether any dof moves a tendon; a limit or dry friction of one that none does has no row.
static bool tendon_moves(const tbModel* m, const tbData* d, int tendon) {
  for (int s = m->tendon_Jadr[tendon]; s < m->tendon_Jadr[tendon] + m->tendon_Jnnz[tendon]; s++) {
    if (d->ten_J[s] != 0) return true;
  }
  return false;
}

// Slope of the right side of y1 = a0 + a1 y2 + a2 y2^2 + a3 y2^3 + a4 y2^4.
static tbReal polynomial_slope(const tbReal* poly, tbReal y2) {
  return poly[1] + y2 * (2 * poly[2] + y2 * (3 * poly[3] + y2 * 4 * poly[4]));
}

tbReal tb_tendon_row_force(const tbModel* m, const tbData* d, const tbConstraints* constraints,
                           const tbReal* row_force, int tendon) {
  tbReal total = 0;
  if (!tendon_moves(m, d, tendon)) return 0;
  for (int i = 0; i < constraints->count; i++) {
    const tbConstraint* c = &constraints->list[i];
    tbReal force = row_force[c->row];
    if (c->source == TB_SOURCE_FRICTION_TENDON || c->source == TB_SOURCE_LIMIT_TENDON) {
      // The row of an upper limit has the other sign (plain_key).
      if (c->id == tendon) total += c->key & 1 ? -force : force;
    } else if (c->source == TB_SOURCE_EQUALITY && m->eq_type[c->id] == TB_EQ_TENDON) {
      int second = m->eq_obj2id[c->id];
      if (m->eq_obj1id[c->id] == tendon) total += force;
      if (second != tendon) continue;
      tbReal y2 = d->ten_length[second] - m->tendon_length0[second];
      total -= polynomial_slope(m->eq_data + TB_NEQDATA * c->id, y2) * force;
    }
  }
  return total;
}

// y1 = a0 + a1 y2 + a2 y2^2 + a3 y2^3 + a4 y2^4, with y measured from the reference pose.
static int add_scalar_equality(Builder* b, int id) {
  const tbModel* m = b->m;
  const tbReal* poly = m->eq_data + TB_NEQDATA * id;
  int type = m->eq_type[id];
  tbReal y1, y2 = 0, slope = 0, target = poly[0];
  const int *col1, *col2 = NULL, *col;
  const tbReal *J1, *J2 = NULL;
  int n1 = scalar_row(m, b->d, type, m->eq_obj1id[id], &y1, &col1, &J1), n2 = 0;
  if (m->eq_obj2id[id] >= 0) {
    n2 = scalar_row(m, b->d, type, m->eq_obj2id[id], &y2, &col2, &J2);
    target += y2 * (poly[1] + y2 * (poly[2] + y2 * (poly[3] + y2 * poly[4])));
    slope = polynomial_slope(poly, y2);
  }
  int* both = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(n1 + n2 + 1));
  if (!both) return 0;
  int n = tb_union(col1, n1, col2, n2, both);
  int nnz = close_support(m, b->arena, both, n, &col);
  tbConstraint* c = add(b, TB_SOURCE_EQUALITY, id, 1, nnz, col, plain_key(0, id, 0));
  if (!c) return 0;
  c->pos[0] = y1 - target;
  scatter(col1, J1, n1, 1, col, c->J);
  if (n2) scatter(col2, J2, n2, -slope, col, c->J);
  return 1;
}

static int add_equalities(Builder* b) {
  const tbModel* m = b->m;
  if (m->opt.disableflags & TB_DISABLE_EQUALITY) return 1;
  for (int i = 0; i < m->neq; i++) {
    if (!b->d->eq_active[i]) continue;
    int bodies = m->eq_type[i] == TB_EQ_CONNECT || m->eq_type[i] == TB_EQ_WELD;
    if (!(bodies ? add_body_equality(b, i) : add_scalar_equality(b, i))) return 0;
  }
  return 1;
}

// ---- dry friction and limits -------------------------------------------------------------------

// One row along a single dof.
static tbConstraint* add_dof_row(Builder* b, int source, int id, int dof, tbReal value, int side) {
  const tbModel* m = b->m;
  const int* col = m->M_colind + m->M_rowadr[dof];
  int nnz = m->M_rownnz[dof];
  tbConstraint* c = add(b, source, id, 1, nnz, col, plain_key(source, id, side));
  if (!c) return NULL;
  c->J[nnz - 1] = value;
  c->lead = nnz - 1;
  return c;
}

static tbConstraint* add_tendon_row(Builder* b, int source, int id, tbReal sign, int side) {
  const tbModel* m = b->m;
  const int *own = m->Jten_colind + m->tendon_Jadr[id], *col;
  int n = m->tendon_Jnnz[id];
  int nnz = close_support(m, b->arena, own, n, &col);
  tbConstraint* c = add(b, source, id, 1, nnz, col, plain_key(source, id, side));
  if (c) scatter(own, b->d->ten_J + m->tendon_Jadr[id], n, sign, col, c->J);
  return c;
}

static int add_frictions(Builder* b) {
  const tbModel* m = b->m;
  if (m->opt.disableflags & TB_DISABLE_FRICTIONLOSS) return 1;
  for (int i = 0; i < m->nv; i++) {
    if (m->dof_frictionloss[i] <= 0) continue;
    tbConstraint* c = add_dof_row(b, TB_SOURCE_FRICTION_DOF, i, i, 1, 0);
    if (!c) return 0;
    c->bound = m->dof_frictionloss[i];
  }
  for (int i = 0; i < m->ntendon; i++) {
    if (m->tendon_frictionloss[i] <= 0 || !tendon_moves(m, b->d, i)) continue;
    tbConstraint* c = add_tendon_row(b, TB_SOURCE_FRICTION_TENDON, i, 1, 0);
    if (!c) return 0;
    c->bound = m->tendon_frictionloss[i];
  }
  return 1;
}

// The way within which a limit is seen at a speed, or at the sum of the n speeds that solves have
// led its dofs to.
static tbReal seen_ahead(tbSight sight, tbReal speed, const int* dof, const tbReal* J, int n) {
  tbReal led = 0;
  for (int k = 0; k < n && sight.led; k++) led += fabs(J[k]) * sight.led[dof[k]];
  return sight.horizon * fmax(fabs(speed), led);
}

static tbReal joint_ahead(const tbModel* m, const tbData* d, tbSight sight, int j) {
  const tbReal one = 1;
  return seen_ahead(sight, d->qvel[m->jnt_dofadr[j]], &m->jnt_dofadr[j], &one, 1);
}

static tbReal ball_ahead(const tbModel* m, const tbData* d, tbSight sight, int j,
                         const tbReal axis[3]) {
  int first = m->jnt_dofadr[j], dof[3] = {first, first + 1, first + 2};
  return seen_ahead(sight, tb_dot3(axis, d->qvel + first), dof, axis, 3);
}

static tbReal tendon_ahead(const tbModel* m, const tbData* d, tbSight sight, int t) {
  int at = m->tendon_Jadr[t];
  return seen_ahead(sight, d->ten_velocity[t], m->Jten_colind + at, d->ten_J + at,
                    m->tendon_Jnnz[t]);
}

// A ball joint's angle from its reference must stay below range[1]: by how much it does, and the
// axis about which it grows.
static tbReal ball_gap(const tbModel* m, const tbData* d, int j, tbReal axis[3]) {
  tbReal quat[4];
  memcpy(quat, d->qpos + m->jnt_qposadr[j], sizeof quat);
  tb_quat_normalize(quat);
  tb_quat_log(axis, quat);
  tbReal angle = tb_normalize3(axis);
  const tbReal* range = m->jnt_range + 2 * j;
  return (range[0] > range[1] ? range[0] : range[1]) - angle;
}

static int add_ball_limit(Builder* b, int j, tbSight sight) {
  const tbModel* m = b->m;
  tbReal axis[3], dist = ball_gap(m, b->d, j, axis);
  int dof = m->jnt_dofadr[j];
  if (dist >= m->jnt_margin[j] + ball_ahead(m, b->d, sight, j, axis)) return 1;
  const int* col = m->M_colind + m->M_rowadr[dof + 2];
  int nnz = m->M_rownnz[dof + 2];
  tbConstraint* c =
      add(b, TB_SOURCE_LIMIT_JOINT, j, 1, nnz, col, plain_key(TB_SOURCE_LIMIT_JOINT, j, 0));
  if (!c) return 0;
  for (int k = 0; k < 3; k++) c->J[nnz - 3 + k] = -axis[k];
  c->lead = nnz - 3;
  c->pos[0] = dist;
  c->margin = m->jnt_margin[j];
  return 1;
}

static int add_limits(Builder* b, tbSight sight) {
  const tbModel* m = b->m;
  if (m->opt.disableflags & TB_DISABLE_LIMIT) return 1;
  for (int j = 0; j < m->njnt; j++) {
    if (!m->jnt_limited[j]) continue;
    if (m->jnt_type[j] == TB_JOINT_BALL) {
      if (!add_ball_limit(b, j, sight)) return 0;
      continue;
    }
    int dof = m->jnt_dofadr[j];
    tbReal value = b->d->qpos[m->jnt_qposadr[j]], reach = joint_ahead(m, b->d, sight, j);
    for (int side = 0; side < 2; side++) {
      tbReal sign = side ? -1 : 1;
      tbReal dist = sign * (value - m->jnt_range[2 * j + side]);
      if (dist >= m->jnt_margin[j] + reach) continue;
      tbConstraint* c = add_dof_row(b, TB_SOURCE_LIMIT_JOINT, j, dof, sign, side);
      if (!c) return 0;
      c->pos[0] = dist;
      c->margin = m->jnt_margin[j];
    }
  }
  for (int i = 0; i < m->ntendon; i++) {
    if (!m->tendon_limited[i] || !tendon_moves(m, b->d, i)) continue;
    tbReal reach = tendon_ahead(m, b->d, sight, i);
    for (int side = 0; side < 2; side++) {
      tbReal sign = side ? -1 : 1;
      tbReal dist = sign * (b->d->ten_length[i] - m->tendon_range[2 * i + side]);
      if (dist >= m->tendon_margin[i] + reach) continue;
      tbConstraint* c = add_tendon_row(b, TB_SOURCE_LIMIT_TENDON, i, sign, side);
      if (!c) return 0;
      c->pos[0] = dist;
      c->margin = m->tendon_margin[i];
    }
  }
  return 1;
}

// Whether a limit at distance `dist` that is seen within `reach` had no row, and is crossed within
// a step at that speed towards it, by more than a thousandth of the range: less is left to the next
// step, which pushes it back.
static bool is_crossed(const tbModel* m, const tbReal* range, tbReal dist, tbReal reach,
                       tbReal speed) {
  const tbReal share = 1e-3, most = 1e-2;
  tbReal little = fmin(share * fabs(range[1] - range[0]), most);
  return dist >= reach && dist - m->opt.timestep * speed < -little;
}

static bool joint_crossed(const tbModel* m, const tbData* d, int j, tbSight sight,
                          const tbReal* v) {
  const tbReal* range = m->jnt_range + 2 * j;
  tbReal margin = m->jnt_margin[j], speed = v[m->jnt_dofadr[j]];
  if (m->jnt_type[j] == TB_JOINT_BALL) {
    tbReal axis[3], dist = ball_gap(m, d, j, axis), reach = ball_ahead(m, d, sight, j, axis);
    return is_crossed(m, range, dist, margin + reach, tb_dot3(axis, v + m->jnt_dofadr[j]));
  }
  tbReal value = d->qpos[m->jnt_qposadr[j]], reach = margin + joint_ahead(m, d, sight, j);
  return is_crossed(m, range, value - range[0], reach, -speed) ||
         is_crossed(m, range, range[1] - value, reach, speed);
}

static bool tendon_crossed(const tbModel* m, const tbData* d, int t, tbSight sight,
                           const tbReal* v) {
  tbReal speed = 0, value = d->ten_length[t];
  tbReal reach = m->tendon_margin[t] + tendon_ahead(m, d, sight, t);
  const tbReal* range = m->tendon_range + 2 * t;
  for (int s = m->tendon_Jadr[t]; s < m->tendon_Jadr[t] + m->tendon_Jnnz[t]; s++) {
    speed += d->ten_J[s] * v[m->Jten_colind[s]];
  }
  return is_crossed(m, range, value - range[0], reach, -speed) ||
         is_crossed(m, range, range[1] - value, reach, speed);
}

bool tb_limits_crossed(const tbModel* m, const tbData* d, tbSight sight, const tbReal* v) {
  if (m->opt.disableflags & (TB_DISABLE_LIMIT | TB_DISABLE_CONSTRAINT)) return false;
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_limited[j] && joint_crossed(m, d, j, sight, v)) return true;
  }
  for (int t = 0; t < m->ntendon; t++) {
    if (m->tendon_limited[t] && tendon_crossed(m, d, t, sight, v)) return true;
  }
  return false;
}

// ---- contacts ----------------------------------------------------------------------------------

uint64_t tb_contact_key(const tbContact* contact) {
  return contact->key | UINT64_C(0x8000000000000000);
}

// Contacts of the same two bodies follow each other.
typedef struct {
  int body[2], nnz;
  int common;  // dofs that move both bodies, the first ones: at the same point by the same
  const int* col;
} Support;

static bool find_support(const Builder* b, int body1, int body2, Support* s) {
  if (s->body[0] == body1 && s->body[1] == body2) return true;
  const int *chain1 = NULL, *chain2 = NULL;
  int n1 = tb_body_chain(b->m, body1, &chain1), n2 = tb_body_chain(b->m, body2, &chain2),
      common = 0;
  while (common < n1 && common < n2 && chain1[common] == chain2[common]) common++;
  int nnz = pair_support(b->m, b->arena, body1, body2, &s->col);
  if (nnz < 0) return false;
  s->body[0] = body1;
  s->body[1] = body2;
  s->nnz = nnz;
  s->common = common;
  return true;
}

static int eq_body(const tbModel* m, int eq, int id) {
  return m->body_weldid[m->eq_objtype[eq] == TB_OBJ_SITE ? m->site_bodyid[id] : id];
}

// Whether a weld holds two bodies together.
static bool are_welded(const tbModel* m, const tbData* d, int body1, int body2) {
  if (m->opt.disableflags & TB_DISABLE_EQUALITY) return false;
  int one = m->body_weldid[body1], two = m->body_weldid[body2];
  for (int eq = 0; eq < m->neq; eq++) {
    bool turns = m->eq_data[TB_NEQDATA * eq + 10] == 0;
    if (m->eq_type[eq] != TB_EQ_WELD || !d->eq_active[eq] || turns) continue;
    int a = eq_body(m, eq, m->eq_obj1id[eq]), b = eq_body(m, eq, m->eq_obj2id[eq]);
    if ((a == one && b == two) || (a == two && b == one)) return true;
  }
  return false;
}

// Rigid bodies that overlap and are welded together: a push apart and the weld would contradict
// each other, and the weld is what the file asks for.
static bool is_held(const Builder* b, const tbContact* contact, int body1, int body2) {
  const tbOption* opt = &b->m->opt;
  return opt->law < TB_LAW_COUNT && contact->dist < -opt->overlap_allowed &&
         contact->compliance == 0 && are_welded(b->m, b->d, body1, body2);
}

static int add_contacts(Builder* b, const char* left_out) {
  const tbModel* m = b->m;
  Support s = {.body = {-1, -1}};
  for (int i = 0; i < b->d->ncon; i++) {
    tbContact* contact = &b->d->contact[i];
    contact->row = -1;
    if (contact->exclude || (left_out && left_out[i])) continue;
    int body1 = m->geom_bodyid[contact->geom[0]], body2 = m->geom_bodyid[contact->geom[1]];
    if (is_held(b, contact, body1, body2)) continue;
    if (!find_support(b, body1, body2, &s)) return 0;
    tbConstraint* c =
        add(b, TB_SOURCE_CONTACT, i, contact->dim, s.nnz, s.col, tb_contact_key(contact));
    if (!c) return 0;
    int linear = contact->dim < 3 ? contact->dim : 3, angular = contact->dim - linear;
    add_point_rows(m, b->d, body1, s.common, contact->pos, contact->frame, linear, angular, -1,
                   s.col, s.nnz, c->J);
    add_point_rows(m, b->d, body2, s.common, contact->pos, contact->frame, linear, angular, 1,
                   s.col, s.nnz, c->J);
    // A contact that nothing moves is some tree's all the same. Single rows keep their zeros:
    // without them dense factors took Go2's fall 0.8 rounds a step instead of 0.5.
    c->lead = s.common < s.nnz && c->dim > 1 ? s.common : 0;
    c->pos[0] = contact->dist;
    c->margin = contact->includemargin;
    contact->row = c->row;
    // RaiSim's per-contact problem is that of a point: torsion and rolling are in J for the
    // certificate alone.
    if (m->opt.law == TB_LAW_RAISIM && c->dim > 3) {
      b->out->nrow -= c->dim - 3;
      c->dim = 3;
    }
  }
  return 1;
}

int tb_contact_body(const tbModel* m, const tbContact* contact) {
  int body1 = m->geom_bodyid[contact->geom[0]], body2 = m->geom_bodyid[contact->geom[1]];
  bool moves1 = m->body_lastdof[body1] >= 0, moves2 = m->body_lastdof[body2] >= 0;
  return moves1 == moves2 ? -1 : moves1 ? body1 : body2;
}

void tb_contact_twist_rows(const tbModel* m, const tbData* d, const tbContact* contact, int body,
                           int dim, tbReal* P) {
  tbReal arm[3], sign = m->geom_bodyid[contact->geom[1]] == body ? 1 : -1;
  tb_sub3(arm, contact->pos, d->subtree_com + 3 * m->body_rootid[body]);
  for (int r = 0; r < dim; r++, P += 6) {
    if (r < 3) {
      twist_row(arm, contact->frame + 3 * r, sign, P);
      continue;
    }
    tb_scale3(P, contact->frame + 3 * (r - 3), sign);
    tb_zero3(P + 3);
  }
}

int tb_body_twist(const tbModel* m, const tbData* d, int body, const int** col, tbReal* J) {
  int n = tb_body_chain(m, body, col);
  for (int k = 0; k < n; k++) {
    const tbReal* axis = d->cdof + 6 * (*col)[k];
    for (int r = 0; r < 6; r++) J[r * n + k] = axis[r];
  }
  return n;
}

tbResult tb_assemble_rows(const tbModel* model, tbData* data, tbSight sight, const char* left_out,
                          tbConstraints* out) {
  tbArena* arena = &data->work->arena;
  memset(out, 0, sizeof *out);
  if (model->opt.disableflags & TB_DISABLE_CONSTRAINT) return TB_OK;
  Builder b = {.m = model, .d = data, .arena = arena, .out = out};
  b.capacity = model->neq + model->nv + 3 * model->ntendon + 2 * model->njnt + data->ncon;
  out->list = tb_arena_alloc(arena, sizeof(tbConstraint) * (size_t)(b.capacity + 1));
  if (!out->list) return TB_ERROR_MEMORY;
  int ok = add_equalities(&b) && add_frictions(&b) && add_limits(&b, sight) &&
           add_contacts(&b, left_out);
  return ok ? TB_OK : TB_ERROR_MEMORY;
}
