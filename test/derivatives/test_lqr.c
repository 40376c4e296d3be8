// Linear-quadratic regulators about a stance by hold_contacts: they balance a quadruped that stands
// by its motors' torques, and quicken one that stands by position servos (docs/manual/lqr.md).
#include "common/test.h"
#include "linalg/dense.h"
#include "tribo/tribo.h"

enum { NV = 18, NU = 12, NX = 2 * NV, PUSHES = 9 };

static const tbReal SECONDS = 5;

// ---- matrices -----------------------------------------------------------------------------------

// C (n x p) = A^T B for A (m x n), or A B for A (n x m).
static void product(const tbReal* A, int transposed, const tbReal* B, int n, int m, int p,
                    tbReal* C) {
  memset(C, 0, sizeof(tbReal) * (size_t)(n * p));
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < m; k++) {
      tbReal a = transposed ? A[k * n + i] : A[i * m + k];
      for (int j = 0; j < p; j++) C[i * p + j] += a * B[k * p + j];
    }
  }
}

// One step back of the Riccati recursion: the gain K (NU x n) for the cost P to go, and P before.
// Returns the relative change.
static tbReal riccati_step(int n, const tbReal* A, const tbReal* B, const tbReal* Q, tbReal r,
                           tbReal* P, tbReal* K) {
  static tbReal PA[NX * NX], PB[NX * NU], S[NU * NU], G[NU * NX], next[NX * NX], KG[NX * NX];
  tbReal scratch[1024], column[NU], change = 0, scale = 0;
  assert_true(tb_cholesky_scratch(NU) <= 1024);
  product(P, 0, A, n, n, n, PA);
  product(P, 0, B, n, n, NU, PB);
  product(B, 1, PB, NU, n, NU, S);
  product(B, 1, PA, NU, n, n, G);
  for (int i = 0; i < NU; i++) S[i * NU + i] += r;
  assert_true(tb_cholesky(NU, S, NU, scratch));
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < NU; i++) column[i] = G[i * n + j];
    tb_cholesky_solve(NU, S, NU, column);
    for (int i = 0; i < NU; i++) K[i * n + j] = column[i];
  }
  product(A, 1, PA, n, n, n, next);
  product(G, 1, K, n, NU, n, KG);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      tbReal here = next[i * n + j] - KG[i * n + j], there = next[j * n + i] - KG[j * n + i];
      tbReal value = Q[i * n + j] + (here + there) / 2;
      change = fmax(change, fabs(value - P[i * n + j]));
      scale = fmax(scale, fabs(value));
      P[i * n + j] = P[j * n + i] = value;
    }
  }
  return change / scale;
}

// Iterate until the cost to go no longer changes. False without convergence.
static bool riccati(int n, const tbReal* A, const tbReal* B, const tbReal* Q, tbReal r, tbReal* K) {
  static tbReal P[NX * NX];
  memcpy(P, Q, sizeof(tbReal) * (size_t)(n * n));
  for (int k = 0; k < 20000; k++) {
    if (riccati_step(n, A, B, Q, r, P, K) < 1e-9) return true;
  }
  return false;
}

static tbReal largest(const tbReal* K, int n) {
  tbReal most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(K[i]));
  return most;
}

// ---- the stance ---------------------------------------------------------------------------------

typedef struct {
  tbModel* m;
  tbData* d;
  tbDerivatives* x;
  tbReal qpos[NV + 1], ctrl[NU];  // the stance, and what holds it
  tbReal W[NX * NX];              // motions on the contact manifold by rows, n of them
  int n;
  void* start;
  size_t size;
} Stance;

static Stance stance_load(const char* scene) {
  char path[1024];
  tbError error;
  Stance s = {0};
  snprintf(path, sizeof path, "%s/%s", TB_SCENES_DIR, scene);
  s.m = tb_load(path, NULL, &error);
  if (!s.m) fail_msg("%s", error.message);
  assert_true(s.m->nv == NV && s.m->nu == NU && s.m->na == 0);
  s.d = tb_data_new(s.m);
  s.x = tb_derivatives_new(s.m);
  assert_int_equal(tb_reset_keyframe(s.m, s.d, 0), TB_OK);
  return s;
}

// Orthonormal motions: first those that move a contact, then the others, which are kept.
static int others(const tbReal* rows, int nrow, tbReal* kept) {
  tbReal basis[NV * NV];
  int found = 0, count = 0;
  for (int k = 0; k < nrow + NV && found < NV; k++) {
    tbReal v[NV] = {0}, before = 0, after = 0;
    if (k < nrow) memcpy(v, rows + k * NV, sizeof v);
    if (k >= nrow) v[k - nrow] = 1;
    for (int i = 0; i < NV; i++) before += v[i] * v[i];
    for (int pass = 0; pass < 2; pass++) {
      for (int b = 0; b < found; b++) {
        tbReal along = 0;
        for (int i = 0; i < NV; i++) along += basis[b * NV + i] * v[i];
        for (int i = 0; i < NV; i++) v[i] -= along * basis[b * NV + i];
      }
    }
    for (int i = 0; i < NV; i++) after += v[i] * v[i];
    if (after < 1e-12 * before) continue;
    for (int i = 0; i < NV; i++) basis[found * NV + i] = v[i] / sqrt(after);
    if (k >= nrow) memcpy(kept + count++ * NV, basis + found * NV, sizeof v);
    found++;
  }
  return count;
}

// W: velocities and displacements at which no contact that carries moves.
static void find_manifold(Stance* s) {
  tbReal rows[3 * 8 * NV], jacp[3 * NV], kept[NV * NV];
  int nrow = 0;
  for (int i = 0; i < s->d->ncon && nrow < 24; i++) {
    const tbContact* c = &s->d->contact[i];
    if (!(c->force[0] > 0)) continue;
    memset(rows + nrow * NV, 0, sizeof jacp);
    for (int side = 0; side < 2; side++) {
      tb_jac(s->m, s->d, s->m->geom_bodyid[c->geom[side]], c->pos, jacp, NULL);
      for (int k = 0; k < 3 * NV; k++) rows[nrow * NV + k] += (side ? 1 : -1) * jacp[k];
    }
    nrow += 3;
  }
  int r = others(rows, nrow, kept);
  s->n = 2 * r;
  memset(s->W, 0, sizeof s->W);
  for (int k = 0; k < r; k++) {
    memcpy(s->W + k * NX, kept + k * NV, sizeof(tbReal) * NV);
    memcpy(s->W + (r + k) * NX + NV, kept + k * NV, sizeof(tbReal) * NV);
  }
}

// The state that data has now is the stance.
static void stance_take(Stance* s) {
  memcpy(s->qpos, s->d->qpos, sizeof s->qpos);
  memcpy(s->ctrl, s->d->ctrl, sizeof s->ctrl);
  memset(s->d->qvel, 0, sizeof(tbReal) * NV);
  assert_int_equal(tb_forward(s->m, s->d), TB_OK);
  for (int i = 0; i < NV; i++) assert_true(fabs(s->d->qacc[i]) * s->m->opt.timestep < 1e-5);
  find_manifold(s);
  assert_int_equal(s->n, 2 * 6);  // four feet leave the trunk's
  s->size = tb_snapshot_size(s->m, s->d);
  s->start = malloc(s->size);
  assert_int_equal(tb_snapshot_save(s->m, s->d, s->start, s->size), TB_OK);
}

static void stance_free(Stance* s) {
  free(s->start);
  tb_derivatives_free(s->x);
  tb_data_free(s->d);
  tb_model_free(s->m);
}

// On motors: feet a nanometre above the floor, as after settling, and the torques of inverse
// dynamics.
static Stance on_motors(void) {
  Stance s = stance_load("quadruped_torque.xml");
  tbReal gap = 1, rest[NV] = {0}, torque[NV];
  tbInverseInfo info;
  assert_int_equal(tb_forward(s.m, s.d), TB_OK);
  for (int i = 0; i < s.d->ncon; i++) gap = fmin(gap, s.d->contact[i].dist);
  s.d->qpos[2] -= gap;
  assert_int_equal(tb_inverse(s.m, s.d, rest, NULL, torque, &info), TB_OK);
  assert_true(info.feasible);
  for (int i = 0; i < NU; i++) s.d->ctrl[i] = torque[NV - NU + i];
  s.d->qpos[2] += 1e-9;
  stance_take(&s);
  return s;
}

// On servos: the robot stands until nothing moves.
static Stance on_servos(void) {
  Stance s = stance_load("quadruped.xml");
  for (int k = 0; k < 15000; k++) assert_int_equal(tb_step(s.m, s.d), TB_OK);
  stance_take(&s);
  return s;
}

// ---- gains --------------------------------------------------------------------------------------

typedef struct {
  tbReal position, velocity, control;  // weights
} Weights;

static tbDerivativeInfo linearize(const Stance* s, int hold, tbReal* A, tbReal* B) {
  tbDerivativeSettings settings = tbDefaultDerivativeSettings();
  tbDerivativeInfo info;
  settings.hold_contacts = hold;
  assert_int_equal(tb_snapshot_load(s->m, s->d, s->start, s->size, NULL), TB_OK);
  assert_int_equal(tb_step_linearize(s->m, s->d, &settings, s->x, &info), TB_OK);
  tb_derivatives_dense(s->x, A, B);
  return info;
}

static void weigh(const Weights* w, tbReal* Q) {
  memset(Q, 0, sizeof(tbReal) * NX * NX);
  for (int i = 0; i < NX; i++) Q[i * NX + i] = i < NV ? w->position : w->velocity;
}

// K (NU x NX) on the contact manifold: x = W^T z, A_z = W A W^T, B_z = W B.
static void reduced_gains(const Stance* s, const tbReal* A, const tbReal* B, const Weights* w,
                          tbReal* K) {
  static tbReal Q[NX * NX], AW[NX * NX], Az[NX * NX], Bz[NX * NU], Qz[NX * NX], Wt[NX * NX];
  static tbReal Kz[NU * NX];
  int n = s->n;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < NX; k++) Wt[k * n + i] = s->W[i * NX + k];
  }
  weigh(w, Q);
  product(A, 0, Wt, NX, NX, n, AW);
  product(s->W, 0, AW, n, NX, n, Az);
  product(s->W, 0, B, n, NX, NU, Bz);
  product(Q, 0, Wt, NX, NX, n, AW);
  product(s->W, 0, AW, n, NX, n, Qz);
  assert_true(riccati(n, Az, Bz, Qz, w->control, Kz));
  product(Kz, 0, s->W, NU, n, NX, K);
}

// K of the whole state: what contacts hold can neither be moved nor decays, so the cost to go is
// finite only with a discount.
static void discounted_gains(const tbReal* A, const tbReal* B, const Weights* w, tbReal* K) {
  static tbReal Q[NX * NX], Ad[NX * NX], Bd[NX * NU];
  const tbReal discount = 0.9995;
  for (int i = 0; i < NX * NX; i++) Ad[i] = discount * A[i];
  for (int i = 0; i < NX * NU; i++) Bd[i] = discount * B[i];
  weigh(w, Q);
  assert_true(riccati(NX, Ad, Bd, Q, w->control, K));
}

// ---- pushes -------------------------------------------------------------------------------------

typedef struct {
  tbReal peak, end, speed;  // trunk: farthest from the stance (m, rad), at the end, fastest dof
  tbReal sum;               // of its squared distance over time, pushes of 0.1 m/s
} Outcome;

// The trunk starts at 0.1, 0.2 or 0.3 m/s in one of three directions; K NULL: open loop.
static Outcome pushed(const Stance* s, const tbReal* K, int push) {
  Outcome out = {0};
  tbRng rng = {(uint64_t)(1 + push % 3)};
  tbReal direction[3], length = 0, dx[NX], h = s->m->opt.timestep;
  assert_int_equal(tb_snapshot_load(s->m, s->d, s->start, s->size, NULL), TB_OK);
  for (int k = 0; k < 3; k++) direction[k] = tb_rng_normal(&rng);
  for (int k = 0; k < 3; k++) length += direction[k] * direction[k];
  for (int k = 0; k < 3; k++) {
    s->d->qvel[k] = 0.1 * (1 + push / 3) * direction[k] / sqrt(length);
  }
  for (int t = 0; t * h < SECONDS; t++) {
    tb_differentiate_pos(s->m, dx, 1, s->qpos, s->d->qpos);
    memcpy(dx + NV, s->d->qvel, sizeof(tbReal) * NV);
    for (int i = 0; i < NU; i++) {
      s->d->ctrl[i] = s->ctrl[i];
      for (int k = 0; K && k < NX; k++) s->d->ctrl[i] -= K[i * NX + k] * dx[k];
    }
    out.end = largest(dx, 6);
    out.peak = fmax(out.peak, out.end);
    out.speed = largest(dx + NV, NV);
    for (int k = 0; k < 6; k++) out.sum += h * dx[k] * dx[k];
    if (tb_step(s->m, s->d) != TB_OK) return (Outcome){INFINITY, INFINITY, INFINITY, INFINITY};
  }
  return out;
}

// The worst of all pushes, and how many end within 5 cm or rad / 20 of the stance.
static Outcome all_pushes(const Stance* s, const tbReal* K, const char* what, int* returned) {
  Outcome worst = {0};
  *returned = 0;
  for (int p = 0; p < PUSHES; p++) {
    Outcome o = pushed(s, K, p);
    worst.peak = fmax(worst.peak, o.peak);
    worst.end = fmax(worst.end, o.end);
    worst.speed = fmax(worst.speed, o.speed);
    worst.sum += p < 3 ? o.sum : 0;
    *returned += o.end < 0.05;
  }
  print_message(
      "%s: gains up to %.3g, %d of %d return; farthest %.4f, end %.4f, speed %.1e, "
      "sum %.3g\n",
      what, K ? largest(K, NU * NX) : 0, *returned, PUSHES, worst.peak, worst.end, worst.speed,
      worst.sum);
  return worst;
}

static tbReal A[NX * NX], B[NX * NU], K[NU * NX];

// Constant torques let the robot fall. On the contact manifold the regulator brings it back.
static void test_balance_on_motors(void** state) {
  (void)state;
  const Weights weights = {100, 1, 10};
  Stance s = on_motors();
  int returned;
  all_pushes(&s, NULL, "constant torques", &returned);
  assert_int_equal(returned, 0);
  assert_true(linearize(&s, 1, A, B).differentiable);
  reduced_gains(&s, A, B, &weights, K);
  Outcome worst = all_pushes(&s, K, "regulator on the contact manifold", &returned);
  assert_int_equal(returned, PUSHES);
  assert_true(worst.end < 0.01);
  assert_true(worst.speed < 1e-4);
  stance_free(&s);
}

// A regulator of the whole state is as good with hold_contacts. Without, the info refuses the step;
// its gains, and those of differences, hold the gap's stiffness and lose the robot.
static void test_whole_state(void** state) {
  (void)state;
  const Weights weights = {100, 10, 100};
  Stance s = on_motors();
  int returned;
  assert_true(linearize(&s, 1, A, B).differentiable);
  discounted_gains(A, B, &weights, K);
  tbReal held = largest(K, NU * NX);
  all_pushes(&s, K, "whole state, hold_contacts", &returned);
  assert_int_equal(returned, PUSHES);
  assert_false(linearize(&s, 0, A, B).differentiable);
  discounted_gains(A, B, &weights, K);
  all_pushes(&s, K, "whole state, without", &returned);
  assert_true(returned < PUSHES);
  assert_true(largest(K, NU * NX) > 10 * held);
  assert_int_equal(tb_step_differences(s.m, s.d, 1e-6, 1, A, B), TB_OK);
  discounted_gains(A, B, &weights, K);
  all_pushes(&s, K, "whole state, differences", &returned);
  assert_true(returned < PUSHES);
  assert_true(largest(K, NU * NX) > 10 * held);
  stance_free(&s);
}

// Servos hold the robot by themselves. A regulator that moves their targets keeps it closer.
static void test_targets_of_servos(void** state) {
  (void)state;
  const Weights weights = {100, 1, 100};
  Stance s = on_servos();
  int returned;
  Outcome open = all_pushes(&s, NULL, "constant targets", &returned);
  assert_true(linearize(&s, 1, A, B).differentiable);
  reduced_gains(&s, A, B, &weights, K);
  Outcome closed = all_pushes(&s, K, "regulator of the targets", &returned);
  assert_int_equal(returned, PUSHES);
  assert_true(closed.end < 0.01);
  assert_true(closed.peak < 0.7 * open.peak);
  assert_true(closed.sum < 0.5 * open.sum);
  stance_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_balance_on_motors),
      cmocka_unit_test(test_whole_state),
      cmocka_unit_test(test_targets_of_servos),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
