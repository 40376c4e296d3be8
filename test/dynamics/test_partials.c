// Analytic partials of the rigid-body algorithms against centred differences on the manifold: on
// random trees with every joint, and on every robot of the shared models.
#include "common/random_tree.h"
#include "common/robots.h"
#include "common/test.h"
#include "tribo/derivatives.h"
#include "tribo/dynamics.h"

static const tbReal STEP = 1e-4;

typedef struct {
  const tbModel* m;
  tbData *d, *other;
  tbReal *qacc, *xfrc, *point;  // a random acceleration, forces on all bodies, a point per body
  tbRng rng;
} World;

static World world_new(const tbModel* m, uint64_t seed) {
  World w = {.m = m, .d = tb_data_new(m), .other = tb_data_new(m), .rng = {seed}};
  assert_true(w.d && w.other);
  w.qacc = calloc((size_t)m->nv + 1, sizeof(tbReal));
  w.xfrc = calloc(6 * (size_t)m->nbody, sizeof(tbReal));
  w.point = calloc(3 * (size_t)m->nbody, sizeof(tbReal));
  tb_random_state(m, w.d, &w.rng);
  for (int i = 0; i < m->nv; i++) w.qacc[i] = 3 * tb_rng_normal(&w.rng);
  for (int i = 0; i < 6 * m->nbody; i++) w.xfrc[i] = tb_rng_normal(&w.rng);
  tb_compute_position(m, w.d);
  tb_compute_velocity(m, w.d);
  return w;
}

static void world_free(World* w) {
  tb_data_free(w->d);
  tb_data_free(w->other);
  free(w->qacc);
  free(w->xfrc);
  free(w->point);
}

// Put `other` at the state moved by e along dof k of q (or of v).
static void shift(World* w, int k, tbReal e, bool of_velocity) {
  const tbModel* m = w->m;
  tbReal* unit = calloc((size_t)m->nv, sizeof(tbReal));
  unit[k] = 1;
  memcpy(w->other->qpos, w->d->qpos, sizeof(tbReal) * (size_t)m->nq);
  memcpy(w->other->qvel, w->d->qvel, sizeof(tbReal) * (size_t)m->nv);
  if (of_velocity) {
    w->other->qvel[k] += e;
  } else {
    tb_integrate_pos(m, w->other->qpos, unit, e);
  }
  tb_compute_position(m, w->other);
  tb_compute_velocity(m, w->other);
  free(unit);
}

typedef void Function(World* w, tbData* d, tbReal* out);

// Centred differences of fourth order (nout x nv) of `f` by q or v.
static void differences(World* w, Function* f, int nout, bool of_velocity, tbReal* out) {
  static const tbReal PLACE[4] = {-2, -1, 1, 2}, WEIGHT[4] = {1, -8, 8, -1};
  int nv = w->m->nv;
  tbReal* value = calloc((size_t)nout, sizeof(tbReal));
  memset(out, 0, sizeof(tbReal) * (size_t)nout * (size_t)nv);
  for (int k = 0; k < nv; k++) {
    for (int p = 0; p < 4; p++) {
      shift(w, k, PLACE[p] * STEP, of_velocity);
      f(w, w->other, value);
      for (int i = 0; i < nout; i++) out[i * nv + k] += WEIGHT[p] * value[i] / (12 * STEP);
    }
  }
  free(value);
}

static void inverse_dynamics(World* w, tbData* d, tbReal* tau) {
  tb_rne(w->m, d, w->qacc, w->xfrc, tau);
}

static void rne_partials(World* w) {
  int nv = w->m->nv, n = nv * nv;
  tbReal *dq = calloc((size_t)(4 * n), sizeof(tbReal)), *dv = dq + n, *fq = dv + n, *fv = fq + n;
  assert_int_equal(tb_rne_derivatives(w->m, w->d, w->qacc, w->xfrc, dq, dv), TB_OK);
  differences(w, inverse_dynamics, nv, false, fq);
  differences(w, inverse_dynamics, nv, true, fv);
  assert_near_array(dq, fq, n, 2e-7);
  assert_near_array(dv, fv, n, 2e-7);
  free(dq);
}

static void forward_dynamics(World* w, tbData* d, tbReal* qacc) {
  // w->qacc plays the role of tau here.
  memcpy(qacc, w->qacc, sizeof(tbReal) * (size_t)w->m->nv);
  for (int i = 0; i < w->m->nv; i++) qacc[i] -= d->qfrc_bias[i];
  tb_apply_xfrc(w->m, d, w->xfrc, qacc);
  tb_solve_m(w->m, d, qacc, qacc, 1);
}

static void forward_partials(World* w) {
  const tbModel* m = w->m;
  int nv = m->nv, n = nv * nv;
  tbReal *dq = calloc((size_t)(6 * n + nv), sizeof(tbReal)), *dv = dq + n, *dtau = dv + n;
  tbReal *fq = dtau + n, *fv = fq + n, *M = fv + n, *qacc = M + n;
  forward_dynamics(w, w->d, qacc);
  assert_int_equal(tb_forward_derivatives(m, w->d, qacc, w->xfrc, dq, dv, dtau), TB_OK);
  differences(w, forward_dynamics, nv, false, fq);
  differences(w, forward_dynamics, nv, true, fv);
  assert_near_array(dq, fq, n, 1e-6);
  assert_near_array(dv, fv, n, 1e-6);
  // dqacc/dtau is the inverse of M.
  tb_full_m(m, w->d, M);
  for (int i = 0; i < nv; i++) {
    for (int j = 0; j < nv; j++) {
      tbReal sum = 0;
      for (int k = 0; k < nv; k++) sum += M[i * nv + k] * dtau[k * nv + j];
      assert_near(sum, i == j, 1e-7);
    }
  }
  free(dq);
}

// A point fixed to the last body, and the Jacobians of it.
static void jacobians(World* w, tbData* d, tbReal* out) {
  int body = w->m->nbody - 1, nv = w->m->nv;
  const tbReal local[3] = {0.3, -0.2, 0.5};
  tbReal point[3];
  for (int r = 0; r < 3; r++) {
    point[r] = d->xpos[3 * body + r];
    for (int k = 0; k < 3; k++) point[r] += d->xmat[9 * body + 3 * r + k] * local[k];
  }
  memcpy(w->point, point, sizeof point);
  tb_jac(w->m, d, body, point, out, out + 3 * nv);
}

static void jacobian_partials(World* w) {
  const tbModel* m = w->m;
  int nv = m->nv, n = 3 * nv * nv, body = m->nbody - 1;
  tbReal* J = calloc((size_t)(6 * nv), sizeof(tbReal));
  tbReal *found = calloc((size_t)(4 * n), sizeof(tbReal)), *expected = found + 2 * n;
  tbReal *velocity = calloc((size_t)(12 * nv), sizeof(tbReal)), *product = velocity + 6 * nv;
  differences(w, jacobians, 6 * nv, false, expected);
  jacobians(w, w->d, J);
  tb_jac_derivative(m, w->d, body, w->point, found, found + n);
  assert_near_array(found, expected, 2 * n, 2e-8);
  // The velocity's partials are the same contracted with a velocity.
  tb_velocity_derivative(m, w->d, body, w->point, w->qacc, velocity, velocity + 3 * nv);
  for (int r = 0; r < 6; r++) {
    for (int i = 0; i < nv; i++) {
      for (int k = 0; k < nv; k++) {
        product[r * nv + k] += expected[(r * nv + i) * nv + k] * w->qacc[i];
      }
    }
  }
  assert_near_array(velocity, product, 6 * nv, 1e-7);
  free(J);
  free(found);
  free(velocity);
}

// tau = Y pi + armature, and pi survives a round trip through the model.
static void regressor(World* w) {
  const tbModel* m = w->m;
  int nv = m->nv, width = TB_NINERTIAL * m->nbody;
  tbReal* Y = calloc((size_t)nv * (size_t)width, sizeof(tbReal));
  tbReal *pi = calloc((size_t)width, sizeof(tbReal)),
         *tau = calloc((size_t)(2 * nv), sizeof(tbReal));
  tbReal* sum = tau + nv;
  tb_rne_regressor(m, w->d, w->qacc, Y);
  tb_rne(m, w->d, w->qacc, NULL, tau);
  tbModel* changed = tb_model_copy(m);
  for (int b = 0; b < m->nbody; b++) {
    tb_inertial_get(m, b, pi + TB_NINERTIAL * b);
    if (b == 0 || !(m->body_mass[b] > 0)) continue;
    tbReal again[TB_NINERTIAL];
    // Files may hold moments that no body has.
    const tbReal* I = m->body_inertia + 3 * b;
    tbReal excess = 2 * fmax(I[0], fmax(I[1], I[2])) - (I[0] + I[1] + I[2]);
    tbResult result = tb_inertial_set(changed, b, pi + TB_NINERTIAL * b);
    if (fabs(excess) < 1e-9 * (I[0] + I[1] + I[2])) continue;
    assert_int_equal(result, excess > 0 ? TB_ERROR_MODEL : TB_OK);
    if (result != TB_OK) continue;
    tb_inertial_get(changed, b, again);
    assert_near_array(again, pi + TB_NINERTIAL * b, TB_NINERTIAL, 1e-9);
  }
  bool tendon_inertia = false;
  for (int t = 0; t < m->ntendon; t++) tendon_inertia |= m->tendon_armature[t] != 0;
  for (int i = 0; i < nv; i++) {
    sum[i] = m->dof_armature[i] * w->qacc[i];
    for (int p = 0; p < width; p++) sum[i] += Y[i * width + p] * pi[p];
  }
  if (!tendon_inertia) assert_near_array(sum, tau, nv, 1e-10);
  tb_model_free(changed);
  free(Y);
  free(pi);
  free(tau);
}

static void check_model(const tbModel* m, uint64_t seed) {
  World w = world_new(m, seed);
  rne_partials(&w);
  forward_partials(&w);
  jacobian_partials(&w);
  regressor(&w);
  world_free(&w);
}

static void test_random_trees(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    tbRandomTree options = {.seed = seed, .nbody = 2 + (int)(seed % 9)};
    tbModel* m = tb_random_tree(&options);
    if (m->nv > 0) check_model(m, seed);
    tb_model_free(m);
  }
}

static void test_robots(void** state) {
  (void)state;
  int count = 0;
  for (int i = 0; i < TB_TEST_ROBOT_COUNT; i++) {
    tbModel* m = tb_test_robot(i);
    if (!m) continue;
    check_model(m, (uint64_t)i + 7);
    tb_model_free(m);
    count++;
  }
  if (count == 0) skip();
}

static void test_refusals(void** state) {
  (void)state;
  tbRandomTree options = {.seed = 3, .nbody = 4, .ntendon = 4, .tendon_armature = true};
  tbModel* m = tb_random_tree(&options);
  tbReal bad[TB_NINERTIAL] = {-1}, thin[TB_NINERTIAL] = {1, 0, 0, 0, 5, 0, 1, 0, 0, 1};
  assert_int_equal(tb_inertial_set(m, 1, bad), TB_ERROR_MODEL);
  assert_int_equal(tb_inertial_set(m, 1, thin), TB_ERROR_MODEL);
  assert_int_equal(tb_inertial_set(m, 0, thin), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_inertial_set(m, m->nbody, thin), TB_ERROR_ARGUMENT);
  thin[4] = NAN;
  assert_int_equal(tb_inertial_set(m, 1, thin), TB_ERROR_ARGUMENT);
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_trees),
                                     cmocka_unit_test(test_robots),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
