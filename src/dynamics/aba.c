// Articulated-body algorithm (docs/manual/dynamics.md, eq. 20-23), one dof at a time: a joint of
// several dofs is a chain of single-dof joints with massless bodies between. All spatial quantities
// of a tree are about one point in world axes, so that nothing is transformed from body to body.
#include "base/kernel.h"
#include "dynamics/articulated.h"
#include "dynamics/composite.h"
#include "dynamics/gravity.h"
#include "linalg/ltdl.h"
#include "model/joint_kinds.h"
#include "model/workspace.h"
#include "spatial/motion.h"
#include "tribo/dynamics.h"

// Per body, in scratch memory: the symmetric articulated inertia (all 36 numbers, so that loops run
// over whole rows) and the bias force, which the outward pass overwrites with the acceleration.
enum { BIAS = 36, WIDTH = 42 };

// Results of the inward pass for the outward one, per dof: U = A s, u = tau - s . p, 1/D (0: dof
// held).
typedef struct {
  tbReal* U;        // nv x 6
  tbReal* u;        // nv
  tbReal* inverse;  // nv
} Dofs;

// c = sum of dS/dt qvel over the dofs of a body: its acceleration when no dof accelerates.
static void velocity_product(const tbModel* m, const tbData* d, int body, tbReal c[6]) {
  int first = m->body_dofadr[body], end = first + m->body_dofnum[body];
  tb_zero6(c);
  for (int i = first; i < end; i++) tb_add_scaled6(c, c, d->qvel[i], d->cdof_dot + 6 * i);
}

// Each body alone: its inertia, and v x* I v minus the external force.
static void initialize(const tbModel* m, const tbData* d, const tbReal* xfrc, tbReal* bodies) {
  for (int i = 1; i < m->nbody; i++) {
    if (m->body_lastdof[i] < 0) continue;
    tbReal* body = bodies + WIDTH * i;
    tbReal momentum[6];
    tb_articulated_make(body, d->cinert + 10 * i);
    tb_inertia_mul(momentum, d->cinert + 10 * i, d->cvel + 6 * i);
    tb_force_cross(body + BIAS, d->cvel + 6 * i, momentum);
    if (xfrc) {
      tbReal at[3], wrench[6];
      tb_sub3(at, d->xipos + 3 * i, d->subtree_com + 3 * m->body_rootid[i]);
      tb_force_make(wrench, at, xfrc + 6 * i, xfrc + 6 * i + 3);
      tb_add_scaled6(body + BIAS, body + BIAS, -1, wrench);
    }
  }
}

// Eliminate the last remaining dof of a body from its inertia and bias; with `root` these are not
// needed afterwards. A dof whose inertia is entirely carried by joints further outward is held, as
// in tb_factor_m, since its D is then a rounding error. Returns 0 if the dof moves no inertia at
// all.
static int eliminate(const tbModel* m, const tbData* d, const tbReal* tau, int i, int root,
                     tbReal* body, Dofs dofs) {
  const tbReal* axis = d->cdof + 6 * i;
  tbReal *U = dofs.U + 6 * i, whole[6];
  tb_articulated_mul(U, body, axis);
  tb_inertia_mul(whole, d->crb + 10 * m->dof_bodyid[i], axis);
  tbReal D = tb_dot6(axis, U) + m->dof_armature[i];
  tbReal diagonal = tb_dot6(axis, whole) + m->dof_armature[i];
  if (!(diagonal > 0 && D < INFINITY)) return 0;
  tbReal inverse = D > TB_LEAST_PIVOT * diagonal ? 1 / D : 0;
  tbReal u = tau[i] - tb_dot6(axis, body + BIAS);
  dofs.u[i] = u;
  dofs.inverse[i] = inverse;
  if (root) return 1;
  tb_articulated_reduce(body, U, inverse);
  tb_add_scaled6(body + BIAS, body + BIAS, u * inverse, U);
  return 1;
}

// Whether a body is joined to the world by a free joint without rotor inertia: its six dofs are
// solved at once.
static int is_free_root(const tbModel* m, int body) {
  int joint = m->body_jntadr[body];
  if (m->body_lastdof[m->body_parentid[body]] >= 0 || m->body_jntnum[body] != 1) return 0;
  if (!tb_joint_floats(m->jnt_type[joint])) return 0;
  for (int k = 0; k < 6; k++) {
    if (m->dof_armature[m->jnt_dofadr[joint] + k] != 0) return 0;
  }
  return 1;
}

static int inward(const tbModel* m, const tbData* d, const tbReal* tau, tbReal* bodies, Dofs dofs) {
  for (int b = m->nbody - 1; b > 0; b--) {
    if (m->body_lastdof[b] < 0 || is_free_root(m, b)) continue;
    tbReal* body = bodies + WIDTH * b;
    int first = m->body_dofadr[b], count = m->body_dofnum[b], parent = m->body_parentid[b];
    int root = m->body_lastdof[parent] < 0;
    if (count > 0) {
      tbReal c[6], force[6];
      velocity_product(m, d, b, c);
      tb_articulated_mul(force, body, c);
      tb_add6(body + BIAS, body + BIAS, force);
    }
    for (int i = first + count - 1; i >= first; i--) {
      if (!eliminate(m, d, tau, i, root && i == first, body, dofs)) return 0;
    }
    if (root) continue;
    tbReal* target = bodies + WIDTH * parent;
    for (int k = 0; k < WIDTH; k++) target[k] += body[k];
  }
  return 1;
}

// x <- A^-1 x by L D L^T, in place. Returns 0 if A is not positive definite.
static int solve6(tbReal A[36], tbReal x[6]) {
  for (int k = 0; k < 6; k++) {
    tbReal pivot = A[7 * k];
    if (!(pivot > 0 && pivot < INFINITY)) return 0;
    tbReal inverse = 1 / pivot;
    for (int i = k + 1; i < 6; i++) {
      tbReal a = A[6 * k + i] * inverse;
      for (int j = i; j < 6; j++) A[6 * i + j] -= a * A[6 * k + j];
      x[i] -= a * x[k];
    }
    A[7 * k] = inverse;
  }
  for (int k = 5; k >= 0; k--) {
    for (int j = k + 1; j < 6; j++) x[k] -= A[6 * k + j] * x[j];
    x[k] *= A[7 * k];
  }
  return 1;
}

// Spatial acceleration of a free body from the wrench of its dofs' forces, then the dofs'
// accelerations: the translation is that of the body's origin in world axes, the rotation is in the
// body's axes.
static int accelerate_free(const tbModel* m, const tbData* d, const tbReal* tau,
                           const tbReal gravity[6], int b, tbReal* body, tbReal* qacc) {
  int first = m->body_dofadr[b];
  const tbReal* R = d->xmat + 9 * b;
  tbReal origin[3], torque[3], wrench[6], c[6], rest[6], spin[3];
  tb_sub3(origin, d->xpos + 3 * b, d->subtree_com + 3 * b);
  tb_mul_mat3_vec3(torque, R, tau + first + 3);
  tb_force_make(wrench, origin, tau + first, torque);
  for (int k = 0; k < 6; k++) wrench[k] -= body[BIAS + k];
  if (!solve6(body, wrench)) return 0;
  tb_copy6(body + BIAS, wrench);

  velocity_product(m, d, b, c);
  for (int k = 0; k < 6; k++) rest[k] = wrench[k] - gravity[k] - c[k];
  tb_mul_mat3t_vec3(qacc + first + 3, R, rest);
  tb_cross(spin, rest, origin);
  tb_add3(qacc + first, rest + 3, spin);
  return 1;
}

static int outward(const tbModel* m, const tbData* d, const tbReal* tau, tbReal* bodies, Dofs dofs,
                   tbReal* qacc) {
  tbReal gravity[6];
  tb_gravity_acceleration(m, gravity);
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    tbReal* body = bodies + WIDTH * b;
    if (is_free_root(m, b)) {
      if (!accelerate_free(m, d, tau, gravity, b, body, qacc)) return 0;
      continue;
    }
    int parent = m->body_parentid[b];
    tbReal a[6], c[6];
    tb_copy6(a, m->body_lastdof[parent] < 0 ? gravity : bodies + WIDTH * parent + BIAS);
    int first = m->body_dofadr[b], end = first + m->body_dofnum[b];
    for (int i = first; i < end; i++) {
      qacc[i] = dofs.inverse[i] * (dofs.u[i] - tb_dot6(dofs.U + 6 * i, a));
      tb_add_scaled6(a, a, qacc[i], d->cdof + 6 * i);
    }
    velocity_product(m, d, b, c);
    tb_add6(body + BIAS, a, c);
  }
  return 1;
}

tbResult tb_aba(const tbModel* m, tbData* d, const tbReal* tau, const tbReal* xfrc, tbReal* qacc) {
  if (!tb_is_world_of(m, d) || !tau || !qacc) return TB_ERROR_ARGUMENT;
  for (int t = 0; t < m->ntendon; t++) {
    if (m->tendon_armature[t] != 0) return TB_ERROR_UNSUPPORTED;
  }
  tbReal* bodies = d->work->scratch_body;
  Dofs dofs = {d->work->scratch_dof, d->work->scratch_nv, d->work->scratch_nv + m->nv};
  tb_composite_inertias(m, d);
  initialize(m, d, xfrc, bodies);
  if (!inward(m, d, tau, bodies, dofs)) return TB_ERROR_NUMERIC;
  return outward(m, d, tau, bodies, dofs, qacc) ? TB_OK : TB_ERROR_NUMERIC;
}
