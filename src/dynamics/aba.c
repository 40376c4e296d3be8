// Articulated-body algorithm (docs/dynamics.md, eq. 20-23), one dof at a time: a joint of several
// dofs is a chain of single-dof joints with massless bodies between. All spatial quantities of a
// tree are about one point in world axes, so that nothing is transformed from body to body.
#include "dynamics/gravity.h"
#include "spatial/motion.h"
#include "tribo/dynamics.h"

// Per body, in scratch: the 21 numbers of the symmetric articulated inertia, by rows of the lower
// triangle, and the six of the bias force; the acceleration takes the bias force's place.
enum { INERTIA = 0, BIAS = 21, WIDTH = 27 };

static void rigid_to_articulated(tbReal A[21], const tbReal I[10]) {
  A[0] = I[0];
  A[1] = I[3];
  A[2] = I[1];
  A[3] = I[4];
  A[4] = I[5];
  A[5] = I[2];
  // Lower left block: the transpose of [h]x; lower right: mass.
  A[6] = 0;
  A[7] = I[8];
  A[8] = -I[7];
  A[9] = I[9];
  A[10] = -I[8];
  A[11] = 0;
  A[12] = I[6];
  A[13] = 0;
  A[14] = I[9];
  A[15] = I[7];
  A[16] = -I[6];
  A[17] = 0;
  A[18] = A[19] = 0;
  A[20] = I[9];
}

// r = A v
static void articulated_mul(tbReal r[6], const tbReal A[21], const tbReal v[6]) {
  r[0] = A[0] * v[0] + A[1] * v[1] + A[3] * v[2] + A[6] * v[3] + A[10] * v[4] + A[15] * v[5];
  r[1] = A[1] * v[0] + A[2] * v[1] + A[4] * v[2] + A[7] * v[3] + A[11] * v[4] + A[16] * v[5];
  r[2] = A[3] * v[0] + A[4] * v[1] + A[5] * v[2] + A[8] * v[3] + A[12] * v[4] + A[17] * v[5];
  r[3] = A[6] * v[0] + A[7] * v[1] + A[8] * v[2] + A[9] * v[3] + A[13] * v[4] + A[18] * v[5];
  r[4] = A[10] * v[0] + A[11] * v[1] + A[12] * v[2] + A[13] * v[3] + A[14] * v[4] + A[19] * v[5];
  r[5] = A[15] * v[0] + A[16] * v[1] + A[17] * v[2] + A[18] * v[3] + A[19] * v[4] + A[20] * v[5];
}

// A -= U U^T / D
static void subtract_outer(tbReal A[21], const tbReal U[6], tbReal inverse) {
  for (int i = 0, k = 0; i < 6; i++) {
    tbReal a = U[i] * inverse;
    for (int j = 0; j <= i; j++, k++) A[k] -= a * U[j];
  }
}

// What one dof leaves for the outward pass: u = tau - S . p, 1/D and U = A S.
typedef struct {
  tbReal* U;        // nv x 6
  tbReal* u;        // nv
  tbReal* inverse;  // nv
} Dofs;

// Bias of a body before its children push: v x* I v - external.
static void initialize(const tbModel* m, const tbData* d, const tbReal* xfrc, tbReal* bodies) {
  for (int i = 1; i < m->nbody; i++) {
    if (m->body_lastdof[i] < 0) continue;
    tbReal* body = bodies + WIDTH * i;
    tbReal momentum[6];
    rigid_to_articulated(body + INERTIA, d->cinert + 10 * i);
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

// Take the last free dof of a body out of its inertia and bias. False if it carries no inertia.
static int eliminate(const tbModel* m, const tbData* d, const tbReal* tau, int i, tbReal* body,
                     Dofs dofs) {
  const tbReal* axis = d->cdof + 6 * i;
  tbReal* A = body + INERTIA;
  tbReal* bias = body + BIAS;
  tbReal* U = dofs.U + 6 * i;
  articulated_mul(U, A, axis);
  tbReal D = tb_dot6(axis, U) + m->dof_armature[i];
  if (!(D > 0 && D < INFINITY)) return 0;
  tbReal inverse = 1 / D;
  tbReal u = tau[i] - tb_dot6(axis, bias);
  dofs.u[i] = u;
  dofs.inverse[i] = inverse;
  subtract_outer(A, U, inverse);

  // bias += A c + U u / D, with c = dS/dt qvel.
  tbReal c[6], Ac[6];
  for (int k = 0; k < 6; k++) c[k] = d->cdof_dot[6 * i + k] * d->qvel[i];
  articulated_mul(Ac, A, c);
  for (int k = 0; k < 6; k++) bias[k] += Ac[k] + U[k] * (u * inverse);
  return 1;
}

static int inward(const tbModel* m, const tbData* d, const tbReal* tau, tbReal* bodies, Dofs dofs) {
  for (int b = m->nbody - 1; b > 0; b--) {
    if (m->body_lastdof[b] < 0) continue;
    tbReal* body = bodies + WIDTH * b;
    int first = m->body_dofadr[b];
    for (int i = first + m->body_dofnum[b] - 1; i >= first; i--) {
      if (!eliminate(m, d, tau, i, body, dofs)) return 0;
    }
    int parent = m->body_parentid[b];
    if (m->body_lastdof[parent] < 0) continue;
    tbReal* target = bodies + WIDTH * parent;
    for (int k = 0; k < WIDTH; k++) target[k] += body[k];
  }
  return 1;
}

static void outward(const tbModel* m, const tbData* d, tbReal* bodies, Dofs dofs, tbReal* qacc) {
  tbReal gravity[6];
  tb_gravity_acceleration(m, gravity);
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    int parent = m->body_parentid[b];
    tbReal a[6];
    tb_copy6(a, m->body_lastdof[parent] < 0 ? gravity : bodies + WIDTH * parent + BIAS);
    int first = m->body_dofadr[b], end = first + m->body_dofnum[b];
    for (int i = first; i < end; i++) {
      // Featherstone table 7.1: a' = a + c, qacc = (u - U . a') / D, a = a' + S qacc.
      tb_add_scaled6(a, a, d->qvel[i], d->cdof_dot + 6 * i);
      qacc[i] = dofs.inverse[i] * (dofs.u[i] - tb_dot6(dofs.U + 6 * i, a));
      tb_add_scaled6(a, a, qacc[i], d->cdof + 6 * i);
    }
    tb_copy6(bodies + WIDTH * b + BIAS, a);
  }
}

tbResult tb_aba(const tbModel* m, tbData* d, const tbReal* tau, const tbReal* xfrc, tbReal* qacc) {
  for (int t = 0; t < m->ntendon; t++) {
    if (m->tendon_armature[t] != 0) return TB_ERROR_UNSUPPORTED;
  }
  tbReal* bodies = d->scratch_body;
  Dofs dofs = {d->scratch_dof, d->scratch_nv, d->scratch_nv + m->nv};
  initialize(m, d, xfrc, bodies);
  if (!inward(m, d, tau, bodies, dofs)) return TB_ERROR_NUMERIC;
  outward(m, d, bodies, dofs, qacc);
  return TB_OK;
}
