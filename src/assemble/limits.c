// Rows of dry friction and limits of joints and tendons, and the look-ahead of limits
// (docs/manual/step.md, "Which contacts a rigid law sees").
#include <math.h>

#include "base/minmax.h"
#include "assemble/rows.h"
#include "model/joint_space.h"

bool tb_tendon_moves(const tbModel* m, const tbData* d, int tendon) {
  for (int s = m->tendon_Jadr[tendon]; s < m->tendon_Jadr[tendon] + m->tendon_Jnnz[tendon]; s++) {
    if (d->ten_J[s] != 0) return true;
  }
  return false;
}

// One row along a single dof.
static tbConstraint* add_dof_row(tbRowBuilder* b, int source, int id, int dof, tbReal value,
                                 int side) {
  const tbModel* m = b->m;
  const int* col = m->M_colind + m->M_rowadr[dof];
  int nnz = m->M_rownnz[dof];
  tbConstraint* c = tb_add_constraint(b, source, id, 1, nnz, col, tb_plain_key(source, id, side));
  if (!c) return NULL;
  c->J[nnz - 1] = value;
  c->lead = nnz - 1;
  return c;
}

static tbConstraint* add_tendon_row(tbRowBuilder* b, int source, int id, tbReal sign, int side) {
  const tbModel* m = b->m;
  const int *own = m->Jten_colind + m->tendon_Jadr[id], *col;
  int n = m->tendon_Jnnz[id];
  int nnz = tb_closed_support(b, own, n, &col);
  tbConstraint* c = tb_add_constraint(b, source, id, 1, nnz, col, tb_plain_key(source, id, side));
  if (c) tb_scatter_row(own, b->d->ten_J + m->tendon_Jadr[id], n, sign, c);
  return c;
}

// ---- dry friction ------------------------------------------------------------------------------

bool tb_add_frictions(tbRowBuilder* b) {
  const tbModel* m = b->m;
  if (m->opt.disableflags & TB_DISABLE_FRICTIONLOSS) return true;
  for (int i = 0; i < m->nv; i++) {
    if (m->dof_frictionloss[i] <= 0) continue;
    tbConstraint* c = add_dof_row(b, TB_SOURCE_FRICTION_DOF, i, i, 1, 0);
    if (!c) return false;
    c->bound = m->dof_frictionloss[i];
  }
  for (int i = 0; i < m->ntendon; i++) {
    if (m->tendon_frictionloss[i] <= 0 || !tb_tendon_moves(m, b->d, i)) continue;
    tbConstraint* c = add_tendon_row(b, TB_SOURCE_FRICTION_TENDON, i, 1, 0);
    if (!c) return false;
    c->bound = m->tendon_frictionloss[i];
  }
  return true;
}

// ---- look-ahead --------------------------------------------------------------------------------

// A tolerance: this fraction of the limit's range, but no more than LITTLE_MOST (rad or m).
static const tbReal LITTLE_SHARE = 1e-3, LITTLE_MOST = 1e-2;

static tbReal little_of(const tbReal* range) {
  return tb_min(LITTLE_SHARE * fabs(range[1] - range[0]), LITTLE_MOST);
}

// The distance within which a limit gets a row, from a speed, or from the sum of the n speed bounds
// of its dofs from earlier solves.
static tbReal look_ahead_distance(tbLookAhead look_ahead, const tbReal* range, tbReal speed,
                                  const int* dof, const tbReal* J, int n) {
  tbReal bound = 0;
  for (int k = 0; k < n && look_ahead.speed_bound; k++)
    bound += fabs(J[k]) * look_ahead.speed_bound[dof[k]];
  tbReal ahead = look_ahead.horizon * tb_max(fabs(speed), bound);
  return look_ahead.near ? tb_max(ahead, little_of(range)) : ahead;
}

static tbReal number_ahead(const tbModel* m, const tbData* d, tbLookAhead look_ahead, int j) {
  const tbReal one = 1;
  return look_ahead_distance(look_ahead, m->jnt_range + 2 * j, d->qvel[m->jnt_dofadr[j]],
                             &m->jnt_dofadr[j], &one, 1);
}

// First of the three dofs of a joint's rotation.
static int rotation_dof(const tbModel* m, int j) {
  return m->jnt_dofadr[j] + tb_joint_numbers(m->jnt_type[j]);
}

static tbReal angle_ahead(const tbModel* m, const tbData* d, tbLookAhead look_ahead, int j,
                          const tbReal axis[3]) {
  int first = rotation_dof(m, j), dof[3] = {first, first + 1, first + 2};
  return look_ahead_distance(look_ahead, m->jnt_range + 2 * j, tb_dot3(axis, d->qvel + first), dof,
                             axis, 3);
}

static tbReal tendon_ahead(const tbModel* m, const tbData* d, tbLookAhead look_ahead, int t) {
  int at = m->tendon_Jadr[t];
  return look_ahead_distance(look_ahead, m->tendon_range + 2 * t, d->ten_velocity[t],
                             m->Jten_colind + at, d->ten_J + at, m->tendon_Jnnz[t]);
}

// ---- limits ------------------------------------------------------------------------------------

// The remaining angle of a rotation, and the axis about which the angle grows.
static tbReal angle_gap(const tbModel* m, const tbData* d, int j, tbReal axis[3]) {
  const tbReal *q = d->qpos + m->jnt_qposadr[j], *range = m->jnt_range + 2 * j;
  return tb_gap_to(tb_joint_angle_gap(m->jnt_type[j], q, range, axis), m->jnt_margin[j]);
}

// The remaining distance of the first number to a side of its range.
static tbReal number_gap(const tbModel* m, const tbData* d, int j, int side) {
  const tbReal *q = d->qpos + m->jnt_qposadr[j], *range = m->jnt_range + 2 * j;
  return tb_gap_to(tb_joint_number_gap(q, range, side), m->jnt_margin[j]);
}

static bool add_angle_limit(tbRowBuilder* b, int j, tbLookAhead look_ahead) {
  const tbModel* m = b->m;
  tbReal axis[3], gap = angle_gap(m, b->d, j, axis), margin = tb_max(m->jnt_margin[j], 0);
  int dof = rotation_dof(m, j);
  if (gap >= margin + angle_ahead(m, b->d, look_ahead, j, axis)) return true;
  const int* col = m->M_colind + m->M_rowadr[dof + 2];
  int nnz = m->M_rownnz[dof + 2];
  uint64_t key = tb_plain_key(TB_SOURCE_LIMIT_JOINT, j, 0);
  tbConstraint* c = tb_add_constraint(b, TB_SOURCE_LIMIT_JOINT, j, 1, nnz, col, key);
  if (!c) return false;
  for (int k = 0; k < 3; k++) c->J[nnz - 3 + k] = -axis[k];
  c->lead = nnz - 3;
  c->pos[0] = gap;
  c->margin = margin;
  return true;
}

static bool add_number_limits(tbRowBuilder* b, int j, tbLookAhead look_ahead) {
  const tbModel* m = b->m;
  tbReal reach = number_ahead(m, b->d, look_ahead, j), margin = tb_max(m->jnt_margin[j], 0);
  for (int side = 0; side < 2; side++) {
    tbReal sign = side ? -1 : 1;
    tbReal gap = number_gap(m, b->d, j, side);
    if (gap >= margin + reach) continue;
    tbConstraint* c = add_dof_row(b, TB_SOURCE_LIMIT_JOINT, j, m->jnt_dofadr[j], sign, side);
    if (!c) return false;
    c->pos[0] = gap;
    c->margin = margin;
  }
  return true;
}

static bool add_tendon_limits(tbRowBuilder* b, int t, tbLookAhead look_ahead) {
  const tbModel* m = b->m;
  tbReal reach = tendon_ahead(m, b->d, look_ahead, t), margin = tb_max(m->tendon_margin[t], 0);
  for (int side = 0; side < 2; side++) {
    tbReal sign = side ? -1 : 1, length = b->d->ten_length[t];
    tbReal gap = tb_gap_to(sign * (length - m->tendon_range[2 * t + side]), m->tendon_margin[t]);
    if (gap >= margin + reach) continue;
    tbConstraint* c = add_tendon_row(b, TB_SOURCE_LIMIT_TENDON, t, sign, side);
    if (!c) return false;
    c->pos[0] = gap;
    c->margin = margin;
  }
  return true;
}

bool tb_add_limits(tbRowBuilder* b, tbLookAhead look_ahead) {
  const tbModel* m = b->m;
  if (m->opt.disableflags & TB_DISABLE_LIMIT) return true;
  for (int j = 0; j < m->njnt; j++) {
    if (!m->jnt_limited[j]) continue;
    int sides = tb_joint_limits(m->jnt_type[j]);
    if (sides == 2) {
      if (!add_number_limits(b, j, look_ahead)) return false;
    } else if (sides == 1) {
      if (!add_angle_limit(b, j, look_ahead)) return false;
    }
  }
  for (int t = 0; t < m->ntendon; t++) {
    if (!m->tendon_limited[t] || !tb_tendon_moves(m, b->d, t)) continue;
    if (!add_tendon_limits(b, t, look_ahead)) return false;
  }
  return true;
}

// ---- violated limits without rows --------------------------------------------------------------

// Whether a limit at distance `gap` is violated within a step at this speed towards it by more than
// the tolerance. A smaller violation is left to the next step, which corrects it.
static bool is_violated(const tbModel* m, const tbReal* range, tbReal gap, tbReal speed) {
  return gap - m->opt.timestep * speed < -little_of(range);
}

// The same for limits without a row in this step, those beyond the look-ahead distance; most are
// not violated.
static bool joint_violated(const tbModel* m, const tbData* d, int j, tbLookAhead look_ahead,
                           const tbReal* v) {
  const tbReal* range = m->jnt_range + 2 * j;
  int sides = tb_joint_limits(m->jnt_type[j]);
  tbReal margin = m->jnt_margin[j], speed = v[m->jnt_dofadr[j]];
  if (sides == 1) {
    tbReal axis[3], gap = angle_gap(m, d, j, axis);
    return is_violated(m, range, gap, tb_dot3(axis, v + rotation_dof(m, j))) &&
           gap >= tb_max(margin, 0) + angle_ahead(m, d, look_ahead, j, axis);
  }
  tbReal low = number_gap(m, d, j, 0), high = number_gap(m, d, j, 1);
  bool below = is_violated(m, range, low, -speed), above = is_violated(m, range, high, speed);
  if ((!below && !above) || sides == 0) return false;
  tbReal reach = tb_max(margin, 0) + number_ahead(m, d, look_ahead, j);
  return (below && low >= reach) || (above && high >= reach);
}

static bool tendon_violated(const tbModel* m, const tbData* d, int t, tbLookAhead look_ahead,
                            const tbReal* v) {
  tbReal speed = 0, value = d->ten_length[t], margin = m->tendon_margin[t];
  const tbReal* range = m->tendon_range + 2 * t;
  for (int s = m->tendon_Jadr[t]; s < m->tendon_Jadr[t] + m->tendon_Jnnz[t]; s++) {
    speed += d->ten_J[s] * v[m->Jten_colind[s]];
  }
  tbReal low = tb_gap_to(value - range[0], margin), high = tb_gap_to(range[1] - value, margin);
  bool below = is_violated(m, range, low, -speed), above = is_violated(m, range, high, speed);
  if (!below && !above) return false;
  tbReal reach = tb_max(margin, 0) + tendon_ahead(m, d, look_ahead, t);
  return (below && low >= reach) || (above && high >= reach);
}

bool tb_limits_violated(const tbModel* m, const tbData* d, tbLookAhead look_ahead,
                        const tbReal* v) {
  if (m->opt.disableflags & (TB_DISABLE_LIMIT | TB_DISABLE_CONSTRAINT)) return false;
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_limited[j] && joint_violated(m, d, j, look_ahead, v)) return true;
  }
  for (int t = 0; t < m->ntendon; t++) {
    if (m->tendon_limited[t] && tendon_violated(m, d, t, look_ahead, v)) return true;
  }
  return false;
}
