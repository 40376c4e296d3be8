// MuJoCo's constraint parameters: impedance d(r), regularisation R = (1-d)/d A, reference
// acceleration aref = -b v - k d r, elliptic and pyramidal contacts (MuJoCo, "Solver parameters").
#include "laws/soft/rows.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "spatial/quat.h"
#include "tribo/dynamics.h"

#include "laws/impedance.h"

static const tbReal SMALLEST = 1e-15, FARTHEST_TURN = 0.1;

typedef struct {
  tbReal ref[2], ref_friction[2], imp[5];
} Parameters;

// ---- parameters --------------------------------------------------------------------------------

static void check_ref(const tbModel* m, tbReal ref[2]) {
  // Positive (time constant, damping ratio) and negative (stiffness, damping) values must not be
  // mixed.
  if ((ref[0] > 0) != (ref[1] > 0)) {
    ref[0] = 0.02;
    ref[1] = 1;
  }
  if (ref[0] > 0 && !(m->opt.disableflags & TB_DISABLE_REFSAFE)) {
    ref[0] = tb_max(ref[0], 2 * m->opt.timestep);
  }
}

static Parameters parameters_of(const tbModel* m, const tbData* d, const tbConstraint* c) {
  Parameters p = {0};
  const tbReal *ref = NULL, *imp = NULL;
  switch (c->source) {
    case TB_SOURCE_EQUALITY:
      ref = m->eq_solref + TB_NREF * c->id;
      imp = m->eq_solimp + TB_NIMP * c->id;
      break;
    case TB_SOURCE_FRICTION_DOF:
      ref = m->dof_solref + TB_NREF * c->id;
      imp = m->dof_solimp + TB_NIMP * c->id;
      break;
    case TB_SOURCE_FRICTION_TENDON:
      ref = m->tendon_solref_fri + TB_NREF * c->id;
      imp = m->tendon_solimp_fri + TB_NIMP * c->id;
      break;
    case TB_SOURCE_LIMIT_JOINT:
      ref = m->jnt_solref + TB_NREF * c->id;
      imp = m->jnt_solimp + TB_NIMP * c->id;
      break;
    case TB_SOURCE_LIMIT_TENDON:
      ref = m->tendon_solref_lim + TB_NREF * c->id;
      imp = m->tendon_solimp_lim + TB_NIMP * c->id;
      break;
    default:
      ref = d->contact[c->id].solref;
      imp = d->contact[c->id].solimp;
      memcpy(p.ref_friction, d->contact[c->id].solreffriction, sizeof p.ref_friction);
  }
  memcpy(p.ref, ref, sizeof p.ref);
  memcpy(p.imp, imp, sizeof p.imp);
  if (p.ref_friction[0] == 0 && p.ref_friction[1] == 0) {
    memcpy(p.ref_friction, p.ref, sizeof p.ref);
  }
  check_ref(m, p.ref);
  check_ref(m, p.ref_friction);
  tb_impedance_check(p.imp);
  return p;
}

// Stiffness and damping of the reference.
static void reference(const tbReal ref[2], tbReal largest, tbReal* k, tbReal* b) {
  if (ref[0] > 0) {
    tbReal scale = largest * ref[0] * ref[1];
    *k = 1 / tb_max(SMALLEST, scale * scale);
    *b = 2 / tb_max(SMALLEST, largest * ref[0]);
  } else {
    *k = -ref[0] / tb_max(SMALLEST, largest * largest);
    *b = -ref[1] / tb_max(SMALLEST, largest);
  }
}

// ---- rows --------------------------------------------------------------------------------------

static int is_pyramid(const tbModel* m, const tbConstraint* c) {
  return c->source == TB_SOURCE_CONTACT && c->dim > 1 && m->opt.cone == TB_CONE_PYRAMIDAL;
}

int tb_soft_rows_of(const tbModel* m, const tbConstraint* c) {
  return is_pyramid(m, c) ? 2 * (c->dim - 1) : c->dim;
}

static tbReal row_velocity(const tbSoftBlock* b, int r, const tbReal* v) {
  tbReal sum = 0;
  for (int k = b->lead; k < b->nnz; k++) sum += b->J[r * b->nnz + k] * v[b->col[k]];
  return sum;
}

static tbReal regularisation(tbReal imp, tbReal weight) {
  return tb_max(SMALLEST, (1 - imp) / imp * weight);
}

// Edges of the pyramid: normal +- mu_j tangent_j.
static tbResult fill_pyramid(const tbModel* m, const tbData* d, const tbConstraint* c,
                             tbArena* arena, const Parameters* p, tbSoftBlock* block, tbReal* aref,
                             tbReal* D) {
  const tbContact* contact = &d->contact[c->id];
  const tbReal* mu = contact->friction;
  tbReal* J = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(block->dim * c->nnz + 1));
  if (!J) return TB_ERROR_MEMORY;
  for (int e = 0; e < block->dim; e++) {
    tbReal s = e % 2 ? -mu[e / 2] : mu[e / 2];
    const tbReal* tangent = c->J + (size_t)(1 + e / 2) * (size_t)c->nnz;
    for (int k = 0; k < c->nnz; k++) J[e * c->nnz + k] = c->J[k] + s * tangent[k];
  }
  block->J = J;
  tbReal tran = tb_row_weight(m, d, c, 0);
  tbReal imp = tb_impedance(p->imp, c->pos[0] - c->margin), k, b;
  tbReal R = regularisation(imp, tran + mu[0] * mu[0] * tran);
  R = tb_max(SMALLEST, 2 * mu[0] * mu[0] / m->opt.impratio * R);
  reference(p->ref, p->imp[1], &k, &b);
  for (int e = 0; e < block->dim; e++) {
    D[e] = 1 / R;
    aref[e] = -b * row_velocity(block, e, d->qvel) - k * imp * (c->pos[0] - c->margin);
  }
  return TB_OK;
}

static void fill_elliptic(const tbModel* m, const tbData* d, const tbConstraint* c,
                          const Parameters* p, tbSoftBlock* block, tbReal* aref, tbReal* D) {
  const tbContact* contact = &d->contact[c->id];
  const tbReal* mu = contact->friction;
  tbReal imp = tb_impedance(p->imp, c->pos[0] - c->margin), k, b;
  tbReal R = regularisation(imp, tb_row_weight(m, d, c, 0));
  tbReal R_friction = R / tb_max(SMALLEST, m->opt.impratio);
  reference(p->ref, p->imp[1], &k, &b);
  D[0] = 1 / R;
  aref[0] = -b * row_velocity(block, 0, d->qvel) - k * imp * (c->pos[0] - c->margin);
  block->kind = TB_SOFT_CONE;
  block->mu = mu[0] * sqrt(R_friction / R);
  memcpy(block->friction, mu, sizeof block->friction);
  reference(p->ref_friction, p->imp[1], &k, &b);
  for (int r = 1; r < c->dim; r++) {
    // Friction rows: R_j mu_j^2 is the same for all of them.
    D[r] = mu[r - 1] * mu[r - 1] / (R_friction * mu[0] * mu[0]);
    aref[r] = -b * row_velocity(block, r, d->qvel);
  }
}

tbReal tb_soft_drift_fade(const tbModel* m, const tbData* d, const int body[2], int* faster) {
  tbReal speed[2] = {tb_norm3(d->cvel + 6 * body[0]), tb_norm3(d->cvel + 6 * body[1])};
  *faster = speed[1] > speed[0];
  tbReal turn = speed[*faster] * m->opt.timestep;
  return turn > FARTHEST_TURN ? FARTHEST_TURN * FARTHEST_TURN / (turn * turn) : 1;
}

void tb_soft_drift(const tbModel* m, const tbData* d, const tbConstraint* c, tbReal* drift) {
  int body[2], faster;
  tbReal point[2][3], quat[2][4], linear[2][3], angular[2][3];
  tb_equality_points(m, d, c->id, body, point, quat);
  for (int i = 0; i < 2; i++) tb_jac_dot_v(m, d, body[i], point[i], linear[i], angular[i]);
  tbReal fade = tb_soft_drift_fade(m, d, body, &faster);
  tb_sub3(drift, linear[0], linear[1]);
  tb_scale3(drift, drift, fade);
  if (c->dim < 6) return;
  // The rows are s/2 vec(q2^-1 w q1) with w = w1 - w2; dq1/dt = w1 q1 / 2 and
  // dq2^-1/dt = -q2^-1 w2 / 2.
  const tbReal *w1 = d->cvel + 6 * body[0], *w2 = d->cvel + 6 * body[1];
  tbReal a[4] = {0, w1[0], w1[1], w1[2]}, b[4] = {0, w2[0], w2[1], w2[2]}, w[4], ahead[4], back[4];
  tbReal inner[4] = {0}, conjugate[4];
  for (int k = 0; k < 4; k++) w[k] = a[k] - b[k];
  tb_quat_mul(ahead, w, a);
  tb_quat_mul(back, b, w);
  for (int k = 0; k < 4; k++) inner[k] = 0.5 * (ahead[k] - back[k]);
  for (int k = 0; k < 3; k++) inner[k + 1] += angular[0][k] - angular[1][k];
  tb_quat_conjugate(conjugate, quat[1]);
  tb_quat_mul(inner, conjugate, inner);
  tb_quat_mul(inner, inner, quat[0]);
  tb_scale3(drift + 3, inner + 1, 0.5 * fade * m->eq_data[TB_NEQDATA * c->id + TB_EQ_TORQUESCALE]);
}

static void fill_plain(const tbModel* m, const tbData* d, const tbConstraint* c,
                       const Parameters* p, tbSoftBlock* block, tbReal* aref, tbReal* D) {
  tbReal k, b;
  reference(p->ref, p->imp[1], &k, &b);
  int friction = c->source == TB_SOURCE_FRICTION_DOF || c->source == TB_SOURCE_FRICTION_TENDON;
  for (int r = 0; r < c->dim; r++) {
    tbReal violation = c->pos[r] - c->margin, weight = tb_row_weight(m, d, c, r);
    // The rows of connect and weld share the impedance of their common violation.
    tbReal size = violation;
    if (c->source == TB_SOURCE_EQUALITY && c->dim > 1) {
      size = 0;
      for (int s = 0; s < c->dim; s++) size += c->pos[s] * c->pos[s];
      size = sqrt(size);
    }
    tbReal imp = tb_impedance(p->imp, size);
    D[r] = 1 / regularisation(imp, weight);
    aref[r] = -b * row_velocity(block, r, d->qvel) - (friction ? 0 : k * imp * violation);
  }
  if (c->source == TB_SOURCE_EQUALITY && c->dim >= 3) {
    tbReal drift[6];
    tb_soft_drift(m, d, c, drift);
    for (int r = 0; r < c->dim; r++) aref[r] -= drift[r];
  }
  block->kind = c->source == TB_SOURCE_EQUALITY ? TB_SOFT_EQUALITY
                : friction                      ? TB_SOFT_FRICTION
                                                : TB_SOFT_ONE_SIDED;
  block->bound = c->bound;
}

tbResult tb_soft_fill(const tbModel* model, tbData* data, const tbConstraint* c, tbArena* arena,
                      tbSoftBlock* block, tbReal* aref, tbReal* D) {
  Parameters p = parameters_of(model, data, c);
  memset(block, 0, sizeof *block);
  block->dim = tb_soft_rows_of(model, c);
  block->nnz = c->nnz;
  block->col = c->col;
  block->J = c->J;
  // Rows of a joint's dry friction or limit are nonzero only on the last dofs of their support.
  while (c->dim == 1 && block->lead + 1 < c->nnz && c->J[block->lead] == 0) block->lead++;
  block->kind = TB_SOFT_ONE_SIDED;
  block->pyramid = is_pyramid(model, c);
  if (block->pyramid) return fill_pyramid(model, data, c, arena, &p, block, aref, D);
  if (c->source == TB_SOURCE_CONTACT && c->dim > 1) {
    fill_elliptic(model, data, c, &p, block, aref, D);
  } else {
    fill_plain(model, data, c, &p, block, aref, D);
  }
  return TB_OK;
}

void tb_soft_decode(const tbModel* model, const tbData* data, const tbConstraint* c,
                    const tbReal* soft_force, tbReal* force) {
  if (!is_pyramid(model, c)) {
    memcpy(force, soft_force, sizeof(tbReal) * (size_t)c->dim);
    return;
  }
  const tbReal* mu = data->contact[c->id].friction;
  force[0] = 0;
  for (int e = 0; e < 2 * (c->dim - 1); e++) force[0] += soft_force[e];
  for (int r = 1; r < c->dim; r++) {
    force[r] = mu[r - 1] * (soft_force[2 * (r - 1)] - soft_force[2 * (r - 1) + 1]);
  }
}

tbSoftReference tb_soft_reference(const tbModel* m, const tbData* d, const tbConstraint* c) {
  Parameters p = parameters_of(m, d, c);
  tbSoftReference r = {0};
  tbReal unused, violation = c->pos[0] - c->margin;
  if (c->source == TB_SOURCE_EQUALITY && c->dim > 1) {
    violation = 0;
    for (int s = 0; s < c->dim; s++) violation += c->pos[s] * c->pos[s];
    violation = sqrt(violation);
  }
  r.impedance = tb_impedance(p.imp, violation);
  r.impedance_slope = tb_impedance_slope(p.imp, violation);
  reference(p.ref, p.imp[1], &r.stiffness, &r.damping);
  int elliptic = c->source == TB_SOURCE_CONTACT && c->dim > 1 && !is_pyramid(m, c);
  reference(elliptic ? p.ref_friction : p.ref, p.imp[1], &unused, &r.damping_friction);
  if (c->source == TB_SOURCE_FRICTION_DOF || c->source == TB_SOURCE_FRICTION_TENDON) {
    r.stiffness = 0;
  }
  return r;
}
