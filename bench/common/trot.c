#include "common/trot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "linalg/small.h"

enum { LEGS = 4, MOST_DOFS = 64 };
static const char* const NAME[LEGS] = {"FL", "FR", "HL", "HR"};
static const tbReal MOST_MISSING = 0.1;  // m, so that a slip does not wind the integral up
static const tbReal TORQUE_LIMIT = 2.7;  // N m, of Solo's motors

bool trot_init(const tbModel* m, Trot* trot) {
  *trot = (Trot){.speed = 0.3, .height = 0.22, .period = 0.16, .step = 0.05, .friction = 0.5};
  trot->base = 1;
  for (int i = 0; i < LEGS; i++) {
    char name[16];
    snprintf(name, sizeof name, "foot_%s", NAME[i]);
    trot->foot[i] = tb_name2id(m, TB_OBJ_GEOM, name);
    if (trot->foot[i] < 0 || m->nv > MOST_DOFS) {
      fprintf(stderr, "trot: no geom %s\n", name);
      return false;
    }
    // The hip: the ancestor of the foot that hangs on the base.
    int body = m->geom_bodyid[trot->foot[i]];
    while (m->body_parentid[body] != trot->base) body = m->body_parentid[body];
    trot->hip[i] = body;
  }
  return true;
}

// ---- helpers -----------------------------------------------------------------------------------

// Positions, velocities and Jacobian of a foot.
typedef struct {
  const tbReal* at;
  tbReal velocity[3];
  tbReal J[3 * MOST_DOFS];
} Foot;

static void read_foot(const tbModel* m, const tbData* d, int geom, Foot* foot) {
  foot->at = d->geom_xpos + 3 * geom;
  tb_jac_geom(m, d, geom, foot->J, NULL);
  for (int k = 0; k < 3; k++) {
    foot->velocity[k] = 0;
    for (int i = 0; i < m->nv; i++) foot->velocity[k] += foot->J[k * m->nv + i] * d->qvel[i];
  }
}

static bool touches(const tbData* d, int geom) {
  for (int c = 0; c < d->ncon; c++) {
    const tbContact* contact = &d->contact[c];
    if ((contact->geom[0] == geom || contact->geom[1] == geom) && contact->dist < 1e-3) return true;
  }
  return false;
}

// tau += sign J^T f on the driven dofs.
static void add_force(const tbModel* m, const Foot* foot, const tbReal f[3], tbReal sign,
                      tbReal* tau) {
  for (int i = 6; i < m->nv; i++) {
    for (int k = 0; k < 3; k++) tau[i] += sign * foot->J[k * m->nv + i] * f[k];
  }
}

// ---- stance ------------------------------------------------------------------------------------

// The wrench about the centre of mass that brings the base to its speed, height and heading.
static void wanted_wrench(const tbModel* m, const tbData* d, const Trot* trot, tbReal ground,
                          tbReal mass, tbReal wrench[6]) {
  const tbReal *R = d->xmat + 9 * trot->base, *p = d->xpos + 3 * trot->base, *v = d->qvel;
  static const tbReal INERTIA[3] = {0.03, 0.06, 0.07};
  const tbReal angle[3] = {atan2(R[7], R[8]), -asin(fmax(-1, fmin(1, R[6]))), atan2(R[3], R[0])};
  tbReal spin[3];
  for (int k = 0; k < 3; k++) {
    spin[k] = R[3 * k] * v[3] + R[3 * k + 1] * v[4] + R[3 * k + 2] * v[5];
  }
  wrench[0] = mass * (25 * (trot->speed - v[0]) + 40 * trot->missing);
  wrench[1] = mass * (6 * (0 - v[1]) - 4 * p[1]);
  wrench[2] = mass * (-m->opt.gravity[2] + 150 * (trot->height - (p[2] - ground)) - 18 * v[2]);
  for (int k = 0; k < 3; k++) wrench[3 + k] = INERTIA[k] * (-200 * angle[k] - 20 * spin[k]);
}

// Forces on the stance feet: least squares for the wrench, then into the friction cone.
static void distribute(const tbReal wrench[6], const tbReal* com, Foot* const* feet, int count,
                       tbReal friction, tbReal force[LEGS][3]) {
  tbReal W[6][3 * LEGS] = {{0}}, A[36], L[36], y[6];
  for (int i = 0; i < count; i++) {
    tbReal r[3];
    for (int k = 0; k < 3; k++) r[k] = feet[i]->at[k] - com[k];
    for (int k = 0; k < 3; k++) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      W[k][3 * i + k] = 1;
      W[3 + a][3 * i + b] = -r[k];
      W[3 + b][3 * i + a] = r[k];
    }
  }
  for (int r = 0; r < 6; r++) {
    for (int c = 0; c < 6; c++) {
      A[6 * r + c] = r == c ? (r < 3 ? 1e-3 : 1e-5) : 0;
      for (int k = 0; k < 3 * count; k++) A[6 * r + c] += W[r][k] * W[c][k];
    }
  }
  if (!tb_small_cholesky(6, A, 0, 0, L)) return;
  tb_small_solve(6, L, wrench, y);
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < 3; k++) {
      force[i][k] = 0;
      for (int r = 0; r < 6; r++) force[i][k] += W[r][3 * i + k] * y[r];
    }
    force[i][2] = fmax(force[i][2], 0.5);
    tbReal tangential = hypot(force[i][0], force[i][1]), most = friction * force[i][2];
    for (int k = 0; k < 2 && tangential > most; k++) force[i][k] *= most / tangential;
  }
}

// ---- swing -------------------------------------------------------------------------------------

// Raibert: land where the hip will be in the middle of the next stance, corrected by the speed.
static void swing(const tbModel* m, const tbData* d, const Trot* trot, int leg, tbReal phase,
                  tbReal ground, const Foot* foot, tbReal* tau) {
  const tbReal *R = d->xmat + 9 * trot->base, *hip = d->xpos + 3 * trot->hip[leg], *v = d->qvel;
  tbReal side = leg % 2 ? -0.0455 : 0.0455, target[3], reference[3], speed[3], force[3];
  const tbReal wanted[2] = {trot->speed, 0};
  for (int k = 0; k < 2; k++) {
    target[k] =
        hip[k] + R[3 * k + 1] * side + 0.5 * trot->period * v[k] + 0.06 * (v[k] - wanted[k]);
  }
  target[2] = ground + m->geom_size[3 * trot->foot[leg]] - 0.01;
  tbReal s = phase * phase * (3 - 2 * phase), ds = 6 * phase * (1 - phase) / trot->period;
  for (int k = 0; k < 3; k++) {
    reference[k] = trot->lift[leg][k] + s * (target[k] - trot->lift[leg][k]);
    speed[k] = ds * (target[k] - trot->lift[leg][k]);
  }
  reference[2] += trot->step * 16 * phase * phase * (1 - phase) * (1 - phase);
  speed[2] += trot->step * 32 * phase * (1 - phase) * (1 - 2 * phase) / trot->period;
  for (int k = 0; k < 3; k++) {
    force[k] = 120 * (reference[k] - foot->at[k]) + 2.5 * (speed[k] - foot->velocity[k]);
  }
  add_force(m, foot, force, 1, tau);
}

void trot_control(const tbModel* m, tbData* d, Trot* trot) {
  tbReal cycle = fmod(d->time / trot->period, 2), phase = cycle - floor(cycle), mass = 0;
  tbReal tau[MOST_DOFS] = {0}, ground = 0, wrench[6], force[LEGS][3] = {{0}};
  Foot foot[LEGS], *stance[LEGS];
  int count = 0, first = cycle < 1;
  for (int b = 1; b < m->nbody; b++) mass += m->body_mass[b];

  // A leg swings in its turn until it touches down early; the others stand.
  for (int i = 0; i < LEGS; i++) {
    bool turn = first == (i == 0 || i == 3);
    read_foot(m, d, trot->foot[i], &foot[i]);
    if (turn && (!trot->swinging[i] || phase < 0.02))
      memcpy(trot->lift[i], foot[i].at, sizeof trot->lift[i]);
    trot->swinging[i] = turn && !(phase > 0.6 && touches(d, trot->foot[i]));
    if (!trot->swinging[i]) stance[count++] = &foot[i];
  }
  for (int i = 0; i < count; i++) {
    ground += (stance[i]->at[2] - m->geom_size[3 * trot->foot[0]]) / count;
  }
  trot->missing += m->opt.timestep * (trot->speed - d->qvel[0]);
  trot->missing = fmax(-MOST_MISSING, fmin(MOST_MISSING, trot->missing));
  wanted_wrench(m, d, trot, ground, mass, wrench);
  distribute(wrench, d->subtree_com + 3 * trot->base, stance, count, trot->friction, force);
  for (int i = 6; i < m->nv; i++) tau[i] = d->qfrc_bias[i];
  for (int i = 0; i < count; i++) add_force(m, stance[i], force[i], -1, tau);
  for (int i = 0; i < LEGS; i++) {
    if (trot->swinging[i]) swing(m, d, trot, i, phase, ground, &foot[i], tau);
  }
  for (int i = 6; i < m->nv; i++) {
    d->qfrc_applied[i] = fmax(-TORQUE_LIMIT, fmin(TORQUE_LIMIT, tau[i]));
  }
}
