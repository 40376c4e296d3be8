// Task-space inverse dynamics: accelerations and contact forces that track tasks, by one quadratic
// program, and the corresponding joint forces.
//
//   minimise  sum w |J qacc + dJ/dt v - a*|^2 + w_f |f|^2
//   such that M qacc + b = J_c' f on the unactuated dofs,
//             J_c qacc + dJ_c/dt v = a_c* for supporting bodies,
//             f within the friction cones, f_n >= f_min.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "control/work.h"
#include "model/floating.h"
#include "model/workspace.h"
#include "spatial/quat.h"
#include "spatial/vec3.h"
#include "forces/forces.h"
#include "tribo/control.h"
#include "tribo/dynamics.h"

// Weight of a squared normal force relative to that of a squared tangential force.
static const tbReal NORMAL_SHARE = 1e-4;

typedef struct {
  const tbModel* m;
  tbData* d;
  const tbInverseDynamics* controller;
  int nv, nf, n;   // dofs, force components, unknowns
  int nfree;       // unactuated dofs
  int rows, nrow;  // constraint rows: allocated and used
  int nblock;
  tbReal *H, *c, *A, *b, *x;
  tbReal *J, *rhs;  // rows of one task or support: 6 x nv, 6; posture uses one row at a time
  tbReal *M, *Jc;   // nv x nv, 3 x nv
  tbBlock* block;
} Builder;

static int allocate(Builder* b, tbArena* arena) {
  const tbInverseDynamics* k = b->controller;
  int points = 0, motion = 0, blocks = 1;
  for (int i = 0; i < k->nsupport; i++) {
    points += k->support[i].npoint;
    if (k->support[i].weight == 0) motion += k->support[i].npoint == 1 ? 3 : 6;
    blocks += 1 + 2 * k->support[i].npoint;
  }
  b->nf = 3 * points;
  b->n = b->nv + b->nf;
  b->rows = b->nfree + motion + 4 * points;
  size_t N = (size_t)b->n, nv = (size_t)b->nv, R = (size_t)b->rows;
  size_t reals = N * N + 2 * N + R * N + R + 6 * nv + 6 + nv * nv + 3 * nv + 1;
  b->H = TB_ARENA_NEW(arena, tbReal, reals);
  b->block = TB_ARENA_NEW(arena, tbBlock, blocks);
  if (!b->H || !b->block) return 0;
  b->c = b->H + N * N;
  b->x = b->c + N;
  b->A = b->x + N;
  b->b = b->A + R * N;
  b->J = b->b + R;
  b->rhs = b->J + 6 * nv;
  b->M = b->rhs + 6;
  b->Jc = b->M + nv * nv;
  return 1;
}

// ---- rows --------------------------------------------------------------------------------------

// World position of a body's point.
static void place(const tbData* d, int body, const tbReal point[3], tbReal out[3]) {
  tb_mul_mat3_vec3(out, d->xmat + 9 * body, point);
  tb_add3(out, out, d->xpos + 3 * body);
}

// Rotation vector in world axes that rotates `from` to `to`.
static void rotation_error(const tbReal from[4], const tbReal to[4], tbReal out[3]) {
  tbReal inverse[4], change[4];
  tb_quat_conjugate(inverse, from);
  tb_quat_mul(change, to, inverse);
  if (change[0] < 0) {
    for (int i = 0; i < 4; i++) change[i] = -change[i];
  }
  tb_quat_log(out, change);
}

static void velocity_of(const Builder* b, const tbReal* J, int rows, tbReal* v) {
  for (int r = 0; r < rows; r++) {
    v[r] = 0;
    for (int k = 0; k < b->nv; k++) v[r] += J[r * b->nv + k] * b->d->qvel[k];
  }
}

// Rows J qacc = rhs of a body's point and orientation, selected by `linear` and `angular`.
static int body_rows(Builder* b, int body, const tbReal point[3], int linear, int angular,
                     const tbTask* t) {
  tbReal at[3], bias[6], v[6], error[6];
  place(b->d, body, point, at);
  tbReal *J = b->J, *Jr = J + (linear ? 3 : 0) * b->nv;
  tb_jac(b->m, b->d, body, at, linear ? J : NULL, angular ? Jr : NULL);
  tb_jac_dot_v(b->m, b->d, body, at, bias, bias + 3);
  int rows = 3 * (linear + angular), first = linear ? 0 : 3;
  velocity_of(b, J, rows, v);
  tb_sub3(error, t->position, at);
  rotation_error(b->d->xquat + 4 * body, t->quat, error + 3);
  for (int r = 0; r < rows; r++) {
    int k = first + r;
    b->rhs[r] = t->acceleration[k] + t->kd * (t->velocity[k] - v[r]) + t->kp * error[k] - bias[k];
  }
  return rows;
}

static int com_rows(Builder* b, const tbTask* t) {
  int root = b->m->body_rootid[t->body];
  tb_jac_subtree_com(b->m, b->d, root, b->J);
  // dJ/dt v of the centre of mass: the mass-weighted mean over the tree's bodies.
  tbReal bias[3] = {0, 0, 0}, v[3], mass = 0;
  for (int i = root; i < root + b->m->body_subtreenum[root]; i++) {
    tbReal linear[3];
    tb_jac_dot_v(b->m, b->d, i, b->d->xipos + 3 * i, linear, NULL);
    tb_add_scaled3(bias, bias, b->m->body_mass[i], linear);
    mass += b->m->body_mass[i];
  }
  velocity_of(b, b->J, 3, v);
  for (int r = 0; r < 3; r++) {
    tbReal error = t->position[r] - b->d->subtree_com[3 * root + r];
    b->rhs[r] = t->acceleration[r] + t->kd * (t->velocity[r] - v[r]) + t->kp * error -
                (mass > 0 ? bias[r] / mass : 0);
  }
  return 3;
}

// ---- cost --------------------------------------------------------------------------------------

// H += w J'J, c -= w J' rhs over `rows` rows.
static void add_cost(Builder* b, int rows, tbReal weight) {
  for (int r = 0; r < rows; r++) {
    const tbReal* J = b->J + r * b->nv;
    for (int i = 0; i < b->nv; i++) {
      if (J[i] == 0) continue;
      for (int k = 0; k < b->nv; k++) b->H[i * b->n + k] += weight * J[i] * J[k];
      b->c[i] -= weight * J[i] * b->rhs[r];
    }
  }
}

static void add_posture(Builder* b, const tbTask* t) {
  const tbModel* m = b->m;
  for (int j = 0; j < m->njnt; j++) {
    if (!tb_joint_is_scalar(m->jnt_type[j])) continue;
    int dof = m->jnt_dofadr[j], q = m->jnt_qposadr[j];
    tbReal wanted = t->kp * (t->qpos[q] - b->d->qpos[q]) - t->kd * b->d->qvel[dof];
    b->H[dof * b->n + dof] += t->weight;
    b->c[dof] -= t->weight * wanted;
  }
}

static void add_task(Builder* b, const tbTask* t) {
  switch (t->type) {
    case TB_TASK_COM: add_cost(b, com_rows(b, t), t->weight); break;
    case TB_TASK_POINT: add_cost(b, body_rows(b, t->body, t->point, 1, 0, t), t->weight); break;
    case TB_TASK_ORIENTATION:
      add_cost(b, body_rows(b, t->body, t->point, 0, 1, t), t->weight);
      break;
    case TB_TASK_POSE: add_cost(b, body_rows(b, t->body, t->point, 1, 1, t), t->weight); break;
    default: add_posture(b, t);
  }
}

// ---- constraints -------------------------------------------------------------------------------

static tbBlock* add_block(Builder* b, int type, int dim) {
  tbBlock* block = &b->block[b->nblock++];
  block->type = type;
  block->row = b->nrow;
  block->dim = dim;
  b->nrow += dim;
  return block;
}

// An equality block has at most six rows.
static void add_base_rows(Builder* b) {
  int row = b->nrow;
  for (int i = 0; i < b->nv; i++) {
    if (!tb_dof_floats(b->m, i)) continue;
    for (int k = 0; k < b->nv; k++) b->A[row * b->n + k] = b->M[i * b->nv + k];
    b->b[row++] = b->d->qfrc_passive[i] - b->d->qfrc_bias[i];
  }
  for (int left = b->nfree; left > 0; left -= 6) {
    add_block(b, TB_BLOCK_EQUALITY, left < 6 ? left : 6);
  }
}

// The forces of one support point: columns in the base's rows, friction cone, minimum normal force.
static void add_force(Builder* b, const tbSupport* s, int point, int column) {
  tbReal at[3], t1[3], t2[3];
  place(b->d, s->body, s->point[point], at);
  tb_jac(b->m, b->d, s->body, at, b->Jc, NULL);
  for (int i = 0, row = 0; i < b->nv; i++) {
    if (!tb_dof_floats(b->m, i)) continue;
    for (int k = 0; k < 3; k++) b->A[row * b->n + column + k] = -b->Jc[k * b->nv + i];
    row++;
  }
  tb_frame_from_normal(s->normal, t1, t2);
  // Normal forces carry the robot's weight, so they get a small cost.
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      tbReal along = (1 - NORMAL_SHARE) * s->normal[i] * s->normal[k];
      b->H[(column + i) * b->n + column + k] = b->controller->force_weight * ((i == k) - along);
    }
  }
  tbBlock* cone = add_block(b, TB_BLOCK_CONE, 3);
  cone->mu[0] = cone->mu[1] = 1 / s->friction;
  for (int k = 0; k < 3; k++) {
    b->A[cone->row * b->n + column + k] = s->normal[k];
    b->A[(cone->row + 1) * b->n + column + k] = t1[k];
    b->A[(cone->row + 2) * b->n + column + k] = t2[k];
  }
  tbBlock* least = add_block(b, TB_BLOCK_ONE_SIDED, 1);
  for (int k = 0; k < 3; k++) b->A[least->row * b->n + column + k] = s->normal[k];
  b->b[least->row] = s->force_min;
}

static void add_support(Builder* b, const tbSupport* s, int column) {
  tbTask hold = {.body = s->body, .kp = s->kp, .kd = s->kd};
  memcpy(hold.position, s->position, sizeof hold.position);
  memcpy(hold.quat, s->quat, sizeof hold.quat);
  int rows = body_rows(b, s->body, s->point[0], 1, s->npoint > 1, &hold);
  if (s->weight > 0) {
    add_cost(b, rows, s->weight);
  } else {
    tbBlock* block = add_block(b, TB_BLOCK_EQUALITY, rows);
    for (int r = 0; r < rows; r++) {
      memcpy(b->A + (block->row + r) * b->n, b->J + r * b->nv, sizeof(tbReal) * (size_t)b->nv);
      b->b[block->row + r] = b->rhs[r];
    }
  }
  for (int i = 0; i < s->npoint; i++) add_force(b, s, i, column + 3 * i);
}

// ---- all of it ---------------------------------------------------------------------------------

static tbResult check(const tbModel* m, const tbInverseDynamics* k, tbError* error) {
  if (!(k->force_weight > 0)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "force_weight must be positive");
  }
  if (k->ntask < 0 || k->nsupport < 0 || (k->ntask && !k->task) || (k->nsupport && !k->support)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "%d tasks and %d supports, or their arrays are NULL",
                   k->ntask, k->nsupport);
  }
  for (int i = 0; i < k->ntask; i++) {
    const tbTask* t = &k->task[i];
    int posture = t->type == TB_TASK_POSTURE;
    if (t->type < 0 || t->type > TB_TASK_POSTURE) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "task %d: type is %d, no tbTaskType", i, t->type);
    }
    if (posture && !t->qpos) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "task %d: a posture needs a reference qpos", i);
    }
    if (!posture && (t->body < 1 || t->body >= m->nbody)) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "task %d: body is %d, expected 1 to %d", i, t->body,
                     m->nbody - 1);
    }
    if (!(t->weight >= 0)) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "task %d: weight is %g, expected >= 0", i,
                     t->weight);
    }
  }
  for (int i = 0; i < k->nsupport; i++) {
    const tbSupport* s = &k->support[i];
    if (s->body < 1 || s->body >= m->nbody || s->npoint < 1 || s->npoint > TB_SUPPORT_POINTS) {
      return tb_fail(error, TB_ERROR_ARGUMENT,
                     "support %d: body is %d with %d points, expected 1 to %d with 1 to %d", i,
                     s->body, s->npoint, m->nbody - 1, TB_SUPPORT_POINTS);
    }
    if (!(s->friction > 0) || !(s->weight >= 0)) {
      return tb_fail(error, TB_ERROR_ARGUMENT,
                     "support %d: friction is %g and weight %g, expected > 0 and >= 0", i,
                     s->friction, s->weight);
    }
    if (!(fabs(tb_norm3(s->normal) - 1) <= 1e-6)) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "support %d: normal has length %g, expected 1", i,
                     tb_norm3(s->normal));
    }
  }
  return TB_OK;
}

// tau = M qacc + b - passive - J' f.
static void joint_forces(Builder* b, tbReal* tau) {
  int column = b->nv;
  for (int i = 0; i < b->nv; i++) {
    tau[i] = b->d->qfrc_bias[i] - b->d->qfrc_passive[i];
    for (int k = 0; k < b->nv; k++) tau[i] += b->M[i * b->nv + k] * b->x[k];
  }
  for (int i = 0; i < b->controller->nsupport; i++) {
    const tbSupport* s = &b->controller->support[i];
    for (int p = 0; p < s->npoint; p++, column += 3) {
      tbReal at[3];
      place(b->d, s->body, s->point[p], at);
      tb_jac(b->m, b->d, s->body, at, b->Jc, NULL);
      for (int k = 0; k < 3; k++) {
        for (int j = 0; j < b->nv; j++) tau[j] -= b->Jc[k * b->nv + j] * b->x[column + k];
      }
    }
  }
  for (int i = 0; i < b->nv; i++) {
    if (tb_dof_floats(b->m, i)) tau[i] = 0;
  }
}

static tbResult control(const tbModel* m, tbData* d, const tbInverseDynamics* controller,
                        tbReal* tau, tbReal* qacc, tbReal* force, tbControlWork* work,
                        tbSolveInfo* info, tbError* error) {
  Builder b = {.m = m, .d = d, .controller = controller, .nv = m->nv};
  for (int i = 0; i < m->nv; i++) b.nfree += tb_dof_floats(m, i);
  if (!allocate(&b, &work->arena)) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  tb_compute_position(m, d);
  tb_compute_velocity(m, d);
  tb_passive(m, d);
  tb_full_m(m, d, b.M);

  // A small cost of every acceleration and force keeps the program strictly convex.
  for (int i = 0; i < b.nv; i++) b.H[i * b.n + i] = 1e-8;
  for (int i = 0; i < controller->ntask; i++) add_task(&b, &controller->task[i]);
  add_base_rows(&b);
  for (int i = 0, column = b.nv; i < controller->nsupport; i++) {
    add_support(&b, &controller->support[i], column);
    column += 3 * controller->support[i].npoint;
  }
  tbQp qp = {b.n, b.H, b.c, b.nblock, b.block, b.A, b.b};
  tbResult result = tb_qp_solve_within(&qp, 1e-9, b.x, NULL, work, info, error);
  if (result != TB_OK) return result;
  joint_forces(&b, tau);
  if (qacc) memcpy(qacc, b.x, sizeof(tbReal) * (size_t)b.nv);
  if (force) memcpy(force, b.x + b.nv, sizeof(tbReal) * (size_t)b.nf);
  return TB_OK;
}

tbResult tb_inverse_dynamics_control(const tbModel* m, tbData* d,
                                     const tbInverseDynamics* controller, tbReal* tau, tbReal* qacc,
                                     tbReal* force, tbControlWork* work, tbSolveInfo* info,
                                     tbError* error) {
  if (!m || !d || !controller || !tau) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "model, data, controller and tau must not be NULL");
  }
  if (!tb_is_world_of(m, d)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "the data is a world of another model");
  }
  tbResult result = check(m, controller, error);
  if (result != TB_OK) return result;
  tbControlWork* own = work ? NULL : tb_control_work_create();
  if (!work && !own) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  if (work) tb_arena_reset(&work->arena);
  result = control(m, d, controller, tau, qacc, force, work ? work : own, info, error);
  tb_control_work_free(own);
  return result;
}
