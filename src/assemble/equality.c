// Rows of equalities, of bodies and of joints and tendons (dynamics/equality/residual.h). Also
// their forces on bodies and along tendons.
#include <string.h>

#include "assemble/rows.h"
#include "dynamics/equality/residual.h"
#include "model/chain.h"
#include "spatial/quat.h"
#include "tribo/dynamics.h"

// ---- bodies ------------------------------------------------------------------------------------

static const tbReal IDENTITY[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

// d/dt of the vector part of q2^-1 q1 when the relative angular velocity is w: 1/2 q2^-1 w q1.
static void weld_rate(const tbEqualityFrames* f, const tbReal w[3], tbReal scale, tbReal rate[3]) {
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
  int weld = tb_equality_ends(m, id) == TB_ENDS_FRAMES, angular = weld ? 3 : 0;
  tbEqualityFrames f;
  tb_equality_frames(m, b->d, id, &f);
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
    tbEqualityFrames f;
    tb_equality_frames(m, d, c->id, &f);
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
static int scalar_row(const tbModel* m, const tbData* d, int ends, int id, tbReal* value,
                      const int** col, const tbReal** J) {
  static const tbReal ONE = 1;
  if (ends == TB_ENDS_JOINTS) {
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

// y1 = f(y2), with y measured from the reference pose.
static bool add_scalar_equality(tbRowBuilder* b, int id) {
  const tbModel* m = b->m;
  int ends = tb_equality_ends(m, id);
  tbReal y1, y2 = 0, f[3];
  const int *col1, *col2 = NULL, *col;
  const tbReal *J1, *J2 = NULL;
  int n1 = scalar_row(m, b->d, ends, m->eq_obj1id[id], &y1, &col1, &J1), n2 = 0;
  if (m->eq_obj2id[id] >= 0) {
    n2 = scalar_row(m, b->d, ends, m->eq_obj2id[id], &y2, &col2, &J2);
  }
  tb_equality_coupling(m, id, y2, f);
  int* both = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(n1 + n2 + 1));
  if (!both) return false;
  int n = tb_union(col1, n1, col2, n2, both);
  int nnz = tb_closed_support(b, both, n, &col);
  uint64_t key = tb_plain_key(TB_SOURCE_EQUALITY, id, 0);
  tbConstraint* c = tb_add_constraint(b, TB_SOURCE_EQUALITY, id, 1, nnz, col, key);
  if (!c) return false;
  c->pos[0] = y1 - f[0];
  tb_scatter_row(col1, J1, n1, 1, c);
  if (n2) tb_scatter_row(col2, J2, n2, -f[1], c);
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
    } else if (c->source == TB_SOURCE_EQUALITY && tb_equality_ends(m, c->id) == TB_ENDS_TENDONS) {
      int second = m->eq_obj2id[c->id];
      if (m->eq_obj1id[c->id] == tendon) total += force;
      if (second != tendon) continue;
      tbReal f[3];
      tb_equality_coupling(m, c->id, d->ten_length[second] - m->tendon_length0[second], f);
      total -= f[1] * force;
    }
  }
  return total;
}

bool tb_add_equalities(tbRowBuilder* b) {
  const tbModel* m = b->m;
  if (m->opt.disableflags & TB_DISABLE_EQUALITY) return true;
  for (int i = 0; i < m->neq; i++) {
    if (!b->d->eq_active[i]) continue;
    if (!(tb_equality_joins_bodies(m, i) ? add_body_equality(b, i) : add_scalar_equality(b, i)))
      return false;
  }
  return true;
}
