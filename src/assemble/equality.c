// Rows of equalities: connects and welds of two bodies, and polynomials of joints and tendons. Also
// their forces on bodies and along tendons.
#include <string.h>

#include "assemble/rows.h"
#include "model/chain.h"
#include "spatial/quat.h"
#include "model/law_kinds.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

// ---- bodies ------------------------------------------------------------------------------------

static const tbReal IDENTITY[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

// World pose of the object of an equality: a body frame or a site frame.
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
    // Anchors: connect has one per body; weld has that of body 2 and its target position in body 1.
    tb_zero3(f->point[i]);
    if (type != TB_OBJ_SITE) tb_mul_mat3_vec3(f->point[i], mat[i], data + 3 * (weld ? 1 - i : i));
    tb_add3(f->point[i], f->point[i], pos[i]);
    if (weld) tb_quat_from_mat(f->quat[i], mat[i]);
  }
  if (weld && type != TB_OBJ_SITE) tb_quat_mul(f->quat[0], f->quat[0], data + 6);
  // The anchor of a rigid weld can be any point. If the weld is compliant, as under MuJoCo's law
  // and with springs, or leaves rotations free (torquescale 0), the anchor of the file matters.
  bool is_compliant = tb_law_has(&m->opt, TB_TRAIT_COMPLIANT) || data[TB_EQ_TORQUESCALE] == 0;
  for (int i = 0; i < 2 && weld && !is_compliant; i++) {
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
static bool add_body_equality(tbRowBuilder* b, int id) {
  const tbModel* m = b->m;
  int weld = m->eq_type[id] == TB_EQ_WELD, angular = weld ? 3 : 0;
  EqualityFrames f;
  equality_frames(m, b->d, id, &f);
  const int* col;
  int nnz = tb_bodies_support(b, f.body[0], f.body[1], &col);
  uint64_t key = tb_plain_key(TB_SOURCE_EQUALITY, id, 0);
  tbConstraint* c = tb_add_constraint(b, TB_SOURCE_EQUALITY, id, 3 + angular, nnz, col, key);
  if (!c) return false;
  tb_sub3(c->pos, f.point[0], f.point[1]);
  for (int i = 0; i < 2; i++) {
    tbPointRows rows = {f.point[i], IDENTITY, 3, angular};
    tb_add_point_rows(b, c, &rows, f.body[i], 0, i ? -1 : 1);
  }
  if (!weld) return true;
  tbReal scale = m->eq_data[TB_NEQDATA * id + TB_EQ_TORQUESCALE], conjugate[4], error[4];
  tb_quat_conjugate(conjugate, f.quat[1]);
  tb_quat_mul(error, conjugate, f.quat[0]);
  tb_scale3(c->pos + 3, error + 1, scale);
  for (int k = 0; k < nnz; k++) {
    tbReal w[3] = {c->J[3 * nnz + k], c->J[4 * nnz + k], c->J[5 * nnz + k]}, rate[3];
    weld_rate(&f, w, scale, rate);
    for (int r = 0; r < 3; r++) c->J[(3 + r) * nnz + k] = rate[r];
  }
  return true;
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
      weld_rate(&f, axis, m->eq_data[TB_NEQDATA * c->id + TB_EQ_TORQUESCALE], rate);
      torque[k] = tb_dot3(rate, force + 3);
    }
    tb_add_wrench(m, d, f.body[0], f.point[0], force, torque);
    tb_scale3(minus, force, -1);
    tb_scale3(torque, torque, -1);
    tb_add_wrench(m, d, f.body[1], f.point[1], minus, torque);
  }
}

// ---- joints and tendons ------------------------------------------------------------------------

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

// Slope of the right side of y1 = a0 + a1 y2 + a2 y2^2 + a3 y2^3 + a4 y2^4.
static tbReal polynomial_slope(const tbReal* poly, tbReal y2) {
  return poly[1] + y2 * (2 * poly[2] + y2 * (3 * poly[3] + y2 * 4 * poly[4]));
}

// y1 = a0 + a1 y2 + a2 y2^2 + a3 y2^3 + a4 y2^4, with y measured from the reference pose.
static bool add_scalar_equality(tbRowBuilder* b, int id) {
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
  if (!both) return false;
  int n = tb_union(col1, n1, col2, n2, both);
  int nnz = tb_closed_support(b, both, n, &col);
  uint64_t key = tb_plain_key(TB_SOURCE_EQUALITY, id, 0);
  tbConstraint* c = tb_add_constraint(b, TB_SOURCE_EQUALITY, id, 1, nnz, col, key);
  if (!c) return false;
  c->pos[0] = y1 - target;
  tb_scatter_row(col1, J1, n1, 1, c);
  if (n2) tb_scatter_row(col2, J2, n2, -slope, c);
  return true;
}

tbReal tb_tendon_row_force(const tbModel* m, const tbData* d, const tbConstraints* constraints,
                           const tbReal* row_force, int tendon) {
  tbReal total = 0;
  if (!tb_tendon_moves(m, d, tendon)) return 0;
  for (int i = 0; i < constraints->count; i++) {
    const tbConstraint* c = &constraints->list[i];
    tbReal force = row_force[c->row];
    if (c->source == TB_SOURCE_FRICTION_TENDON || c->source == TB_SOURCE_LIMIT_TENDON) {
      // The row of an upper limit has the opposite sign (tb_plain_key).
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

bool tb_add_equalities(tbRowBuilder* b) {
  const tbModel* m = b->m;
  if (m->opt.disableflags & TB_DISABLE_EQUALITY) return true;
  for (int i = 0; i < m->neq; i++) {
    if (!b->d->eq_active[i]) continue;
    int bodies = m->eq_type[i] == TB_EQ_CONNECT || m->eq_type[i] == TB_EQ_WELD;
    if (!(bodies ? add_body_equality(b, i) : add_scalar_equality(b, i))) return false;
  }
  return true;
}
