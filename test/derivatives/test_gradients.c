// Gradients through many steps against closed forms, and an application: identifying friction and
// mass of a pushed box from its motion.
#include "common/test.h"
#include "tribo/tribo.h"

enum { STEPS = 100 };

static const tbReal H = 0.002, GRAVITY = 9.81;

static tbModel* load(const char* geom, tbReal friction, tbReal z) {
  char xml[1024];
  tbError error;
  snprintf(xml, sizeof xml,
           "<mujoco><option timestep='0.002'/><default><geom friction='%g 0.01 "
           "0.01'/></default><worldbody><geom type='plane' size='50 50 1'/><body pos='0 0 "
           "%.9f'><freejoint/>%s</body></worldbody></mujoco>",
           friction, z, geom);
  tbModel* m = tb_load_string(xml, NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  m->opt.solve_tolerance = 1e-13;
  return m;
}

// J = product of the A of all steps (12 x 12), the state moved along.
static void chain(const tbModel* m, tbData* d, tbReal J[144], int* kinks) {
  tbDerivatives* x = tb_derivatives_new(m);
  tbReal column[12], next[12];
  memset(J, 0, sizeof(tbReal) * 144);
  for (int i = 0; i < 12; i++) J[13 * i] = 1;
  *kinks = 0;
  for (int s = 0; s < STEPS; s++) {
    tbDerivativeInfo info;
    assert_int_equal(tb_step_linearize(m, d, NULL, x, &info), TB_OK);
    *kinks += !info.differentiable;
    for (int k = 0; k < 12; k++) {
      for (int i = 0; i < 12; i++) column[i] = J[12 * i + k];
      tb_derivatives_apply(x, column, NULL, next);
      for (int i = 0; i < 12; i++) {
        assert_true(isfinite(next[i]));
        J[12 * i + k] = next[i];
      }
    }
    assert_int_equal(tb_step(m, d), TB_OK);
  }
  tb_derivatives_free(x);
}

// A box slides along x: v_k = v_0 - k mu g h, so dx/dv0 = N h, dv/dv0 = 1. The overlap is one that
// is left alone.
static void test_sliding(void** state) {
  (void)state;
  tbModel* m = load("<geom type='box' size='.1 .1 .1' mass='3'/>", 0.3, 0.1 - 5e-6);
  tbData* d = tb_data_new(m);
  tbReal J[144];
  int kinks;
  d->qvel[0] = 2;
  chain(m, d, J, &kinks);
  assert_near(d->qvel[0], 2 - STEPS * 0.3 * GRAVITY * H, 1e-9);
  assert_near(J[12 * 0 + 6], STEPS * H, 1e-8);
  assert_near(J[12 * 6 + 6], 1, 1e-8);
  assert_near(J[12 * 0 + 0], 1, 1e-8);
  // Across the motion, friction turns with the velocity: dvy_k+1/dvy_k = 1 - mu g h / v_k.
  tbReal across = 1, v = 2;
  for (int s = 0; s < STEPS; s++) {
    v -= 0.3 * GRAVITY * H;
    across *= v / (v + 0.3 * GRAVITY * H);
  }
  assert_near(J[12 * 7 + 7], across, 1e-6);
  tb_data_free(d);
  tb_model_free(m);
}

// A ball rolls: a change of speed and spin that keeps rolling stays, one that does not is halved
// between them in the ratio of the inertias: v = (5 v0 + 2 r w0) / 7.
static void test_rolling(void** state) {
  (void)state;
  tbModel* m = load("<geom type='sphere' size='.1' mass='3'/>", 1, 0.1 - 5e-6);
  tbData* d = tb_data_new(m);
  tbReal J[144];
  int kinks;
  d->qvel[0] = 1;
  d->qvel[4] = 10;
  chain(m, d, J, &kinks);
  assert_near(J[12 * 6 + 6], 5.0 / 7, 1e-4);
  assert_near(J[12 * 6 + 10], 0.2 / 7, 1e-4);
  assert_near(J[12 * 0 + 6], STEPS * H * 5 / 7, 1e-4);
  tb_data_free(d);
  tb_model_free(m);
}

// A ball falls and bounces with restitution e. The scheme, in closed form: free fall; where the gap
// would close within the step at the speed it has, it leaves with -e times that speed; where only
// the speed after gravity closes it, it lands on the floor.
static void bounce(tbReal z0, tbReal v0) {
  const tbReal e = 0.7;
  tbModel* m = load("<geom type='sphere' size='.1' mass='3'/>", 1, 0.1 + z0);
  for (int g = 0; g < m->ngeom; g++) m->geom_restitution[g] = e;
  m->opt.contact_margin = 0.02;  // seen before it overlaps
  tbData* d = tb_data_new(m);
  tbReal J[144], z = z0, v = v0, dz[2] = {1, 0}, dv[2] = {0, 1};
  int kinks, bounces = 0;
  d->qvel[2] = v0;
  chain(m, d, J, &kinks);
  for (int s = 0; s < STEPS; s++) {
    tbReal factor = 1, by_z = 0, fall = v - GRAVITY * H;
    if (z < 0.02 && v < -0.01 && z + H * v <= 0) {
      v = -e * v;
      factor = -e;
      bounces++;
    } else if (z < 0.02 && z + H * fall < 0) {
      v = -z / H;
      factor = 0;
      by_z = -1 / H;
    } else {
      v = fall;
    }
    z += H * v;
    for (int k = 0; k < 2; k++) {
      dv[k] = factor * dv[k] + by_z * dz[k];
      dz[k] += H * dv[k];
    }
  }
  assert_true(bounces >= 1);
  assert_near(d->qvel[2], v, 1e-9);
  assert_near(J[12 * 8 + 8], dv[1], 1e-8);
  assert_near(J[12 * 8 + 2], dv[0], 1e-8);
  assert_near(J[12 * 2 + 8], dz[1], 1e-8);
  assert_near(J[12 * 2 + 2], dz[0], 1e-8);
  tb_data_free(d);
  tb_model_free(m);
}

static void test_bouncing(void** state) {
  (void)state;
  bounce(0.1, -0.45);
  bounce(0.1, -0.5);  // lands first
  bounce(0.05, -1.3);
}

// ---- identification -----------------------------------------------------------------------------

// Gravity and a push that ends halfway act on a box that slides: velocities at every step.
static void roll_out(const tbModel* m, tbReal* speed, tbReal* by_mu, tbReal* by_mass) {
  tbData* d = tb_data_new(m);
  tbDerivatives* x = tb_derivatives_new(m);
  tbReal sensitivity[2][12] = {{0}}, next[12], part[12], inertial[120];
  for (int s = 0; s < STEPS; s++) {
    d->qfrc_applied[0] = s < STEPS / 2 ? 30 : 0;
    assert_int_equal(tb_step_linearize(m, d, NULL, x, NULL), TB_OK);
    assert_int_equal(tb_derivatives_inertial(x, m, d, 1, inertial), TB_OK);
    for (int p = 0; p < 2; p++) {
      tb_derivatives_apply(x, sensitivity[p], NULL, next);
      for (int c = 0; p == 0 && c < d->ncon; c++) {
        assert_int_equal(tb_derivatives_friction(x, c, part), TB_OK);
        for (int i = 0; i < 12; i++) next[i] += part[i];
      }
      for (int i = 0; p == 1 && i < 12; i++) next[i] += inertial[TB_NINERTIAL * i];
      memcpy(sensitivity[p], next, sizeof next);
    }
    assert_int_equal(tb_step(m, d), TB_OK);
    speed[s] = d->qvel[0];
    by_mu[s] = sensitivity[0][6];
    by_mass[s] = sensitivity[1][6];
  }
  tb_derivatives_free(x);
  tb_data_free(d);
}

static void set_parameters(tbModel* m, tbReal mu, tbReal mass) {
  tbError error;
  for (int g = 0; g < m->ngeom; g++) m->geom_friction[3 * g] = mu;
  // The box keeps its shape: moments grow with the mass.
  for (int k = 0; k < 3; k++) m->body_inertia[3 + k] *= mass / m->body_mass[1];
  m->body_mass[1] = mass;
  assert_int_equal(tb_set_constants(m, &error), TB_OK);
}

static void test_identification(void** state) {
  (void)state;
  tbModel* m = load("<geom type='box' size='.1 .1 .1' mass='2'/>", 0.35, 0.1 - 5e-6);
  tbReal truth[STEPS], speed[STEPS], by_mu[STEPS], by_mass[STEPS], mu = 0.6, mass = 3.5;
  roll_out(m, truth, by_mu, by_mass);
  int iterations = 0;
  tbReal loss = INFINITY;
  for (; iterations < 50 && loss > 1e-16; iterations++) {
    set_parameters(m, mu, mass);
    roll_out(m, speed, by_mu, by_mass);
    // Gradient of half the squared error, scaled by its Gauss-Newton matrix.
    tbReal A[3] = {1e-12, 0, 1e-12}, b[2] = {0, 0};
    loss = 0;
    for (int s = 0; s < STEPS; s++) {
      tbReal e = speed[s] - truth[s];
      loss += 0.5 * e * e;
      A[0] += by_mu[s] * by_mu[s];
      A[1] += by_mu[s] * by_mass[s];
      A[2] += by_mass[s] * by_mass[s];
      b[0] += by_mu[s] * e;
      b[1] += by_mass[s] * e;
    }
    tbReal det = A[0] * A[2] - A[1] * A[1];
    tbReal dmu = -(A[2] * b[0] - A[1] * b[1]) / det, dmass = -(A[0] * b[1] - A[1] * b[0]) / det;
    mu = fmin(fmax(mu + dmu, 0.05), 0.9);
    mass = fmin(fmax(mass + dmass, 0.5), 10);
  }
  print_message("mu %.9f, mass %.9f after %d iterations, loss %.1e\n", mu, mass, iterations, loss);
  assert_true(iterations < 50);
  assert_near(mu, 0.35, 1e-6);
  assert_near(mass, 2, 1e-6);
  tb_model_free(m);
}

// ---- where there is no derivative ---------------------------------------------------------------

static int is_differentiable(tbModel* m, tbReal push, tbReal speed, char reason[128]) {
  tbData* d = tb_data_new(m);
  tbDerivatives* x = tb_derivatives_new(m);
  tbDerivativeInfo info;
  d->qfrc_applied[0] = push;
  d->qvel[2] = speed;
  assert_int_equal(tb_step_linearize(m, d, NULL, x, &info), TB_OK);
  memcpy(reason, info.reason, sizeof info.reason);
  tb_derivatives_free(x);
  tb_data_free(d);
  return info.differentiable;
}

// A box that a push just moves, and a ball that just touches, have none, and the info says where;
// a little to either side they have one.
static void test_flag(void** state) {
  (void)state;
  static const int LAWS[] = {TB_LAW_NCP, TB_LAW_CCP};
  char reason[128];
  tbReal limit = 0.5 * 3 * GRAVITY;
  for (int i = 0; i < 2; i++) {
    tbModel* box = load("<geom type='box' size='.2 .2 .01' mass='3'/>", 0.5, 0.01 - 5e-6);
    box->opt.law = LAWS[i];
    assert_false(is_differentiable(box, limit, 0, reason));
    assert_true(reason[0] != 0);
    assert_true(is_differentiable(box, 1.1 * limit, 0, reason));
    assert_string_equal(reason, "");
    assert_true(is_differentiable(box, 0.9 * limit, 0, reason));
    tb_model_free(box);
    // Resting at a gap of zero: the gap term has a kink between opening and overlap.
    tbModel* ball = load("<geom type='sphere' size='.1' mass='3'/>", 0.5, 0.1);
    ball->opt.law = LAWS[i];
    assert_false(is_differentiable(ball, 0, 0, reason));
    assert_true(reason[0] != 0);
    tb_model_free(ball);
    ball = load("<geom type='sphere' size='.1' mass='3'/>", 0.5, 0.1 - 5e-6);
    ball->opt.law = LAWS[i];
    assert_true(is_differentiable(ball, 0, 0, reason));
    // Lifting off at the speed that gravity takes away within the step: neither held nor free.
    assert_false(is_differentiable(ball, 0, GRAVITY * H, reason));
    tb_model_free(ball);
  }
  // A spring whose damper takes all of its force away: it is about to let go.
  tbModel* m = load("<geom type='sphere' size='.1' mass='3'/>", 0.5, 0.1 - 5e-4);
  m->opt.law = TB_LAW_VISCOELASTIC;
  m->opt.integrator = TB_INTEGRATOR_EULER_EXPLICIT;
  tbData* d = tb_data_new(m);
  tbDerivatives* x = tb_derivatives_new(m);
  tbDerivativeInfo info;
  for (int k = -1; k <= 1; k++) {
    tbReal balance = m->opt.contact_stiffness * 5e-4 / m->opt.contact_damping;
    d->qvel[2] = (1 + 0.01 * k) * balance;
    assert_int_equal(tb_step_linearize(m, d, NULL, x, &info), TB_OK);
    assert_int_equal(info.differentiable, k != 0);
  }
  tb_derivatives_free(x);
  tb_data_free(d);
  tb_model_free(m);
}

// ---- smoothing ----------------------------------------------------------------------------------

// A ball just above the floor feels nothing; the smoothed steps do.
static void test_smoothing(void** state) {
  (void)state;
  tbModel* m = load("<geom type='sphere' size='.1' mass='3'/>", 1, 0.1 + 1e-4);
  tbData* d = tb_data_new(m);
  tbDerivatives* x = tb_derivatives_new(m);
  tbDerivativeSettings settings = tbDefaultDerivativeSettings();
  tbReal A[144];
  assert_int_equal(tb_step_linearize(m, d, &settings, x, NULL), TB_OK);
  tb_derivatives_dense(x, A, NULL);
  assert_near(A[12 * 8 + 8], 1, 1e-9);
  settings.relaxation = 0.1;
  assert_int_equal(tb_step_linearize(m, d, &settings, x, NULL), TB_OK);
  tb_derivatives_dense(x, A, NULL);
  print_message("relaxed %g\n", A[12 * 8 + 8]);
  assert_true(A[12 * 8 + 8] > 0.01 && A[12 * 8 + 8] < 0.95);
  settings.relaxation = 0;
  settings.samples = 200;
  settings.spread = 0.1;
  assert_int_equal(tb_step_linearize(m, d, &settings, x, NULL), TB_OK);
  tb_derivatives_dense(x, A, NULL);
  print_message("sampled %g\n", A[12 * 8 + 8]);
  assert_true(A[12 * 8 + 8] > 0.1 && A[12 * 8 + 8] < 0.9);
  for (int i = 0; i < 144; i++) assert_true(isfinite(A[i]));
  // For inertial parameters the mean over nearly equal states is the gradient of the state.
  tbReal by_inertia[12 * TB_NINERTIAL], mean[12 * TB_NINERTIAL];
  d->qpos[2] = 0.1 - 5e-6;
  d->qvel[0] = 1;
  settings = tbDefaultDerivativeSettings();
  assert_int_equal(tb_step_linearize(m, d, &settings, x, NULL), TB_OK);
  assert_int_equal(tb_derivatives_inertial(x, m, d, 1, by_inertia), TB_OK);
  settings.samples = 3;
  settings.spread = 1e-9;
  assert_int_equal(tb_step_linearize(m, d, &settings, x, NULL), TB_OK);
  assert_int_equal(tb_derivatives_inertial(x, m, d, 1, mean), TB_OK);
  tbReal largest = 0;
  for (int i = 0; i < 12 * TB_NINERTIAL; i++) largest = fmax(largest, fabs(by_inertia[i]));
  assert_true(largest > 1e-4);
  assert_near_array(mean, by_inertia, 12 * TB_NINERTIAL, 1e-5 * largest);
  tb_derivatives_free(x);
  tb_data_free(d);
  tb_model_free(m);
}

// Differences hold at a simulation's tolerance too, where the impulses of the start would do for
// the moved step.
static void test_differences(void** state) {
  (void)state;
  tbModel* m = load("<geom size='0.3' mass='2' condim='6'/>", 1, 0.2999);
  m->opt.solve_tolerance = tbDefaultOption().solve_tolerance;
  tbData* d = tb_data_new(m);
  tbDerivatives* x = tb_derivatives_new(m);
  d->qvel[0] = 4;
  d->qvel[4] = 13.3;
  for (int s = 0; s < 8; s++) assert_int_equal(tb_step(m, d), TB_OK);
  tbReal A[144], differences[144], scale = 0;
  assert_int_equal(tb_step_linearize(m, d, NULL, x, NULL), TB_OK);
  tb_derivatives_dense(x, A, NULL);
  assert_int_equal(tb_step_differences(m, d, 1e-6, 1, differences, NULL), TB_OK);
  for (int i = 0; i < 144; i++) scale = fmax(scale, fabs(A[i]));
  for (int i = 0; i < 144; i++) assert_near(differences[i], A[i], 1e-4 * scale);
  tb_derivatives_free(x);
  tb_data_free(d);
  tb_model_free(m);
}

// Where no step was linearised, products with its derivatives do not look like numbers.
static void test_no_answer(void** state) {
  (void)state;
  tbModel* m = load("<geom type='box' size='.1 .1 .1' mass='3'/>", 0.3, 0.1);
  tbData* d = tb_data_new(m);
  tbDerivatives* x = tb_derivatives_new(m);
  tbReal y[12] = {1}, out[12] = {0};
  for (int k = 0; k < 2; k++) {
    out[0] = 1;
    if (k == 0) tb_derivatives_apply(x, y, NULL, out);
    if (k == 1) tb_derivatives_force(x, y, out);
    assert_true(isnan(out[0]));
    out[0] = 1;
    tb_derivatives_apply_transposed(x, y, k ? NULL : out, NULL, k ? out : NULL, NULL);
    assert_true(isnan(out[0]));
    assert_int_equal(tb_derivatives_friction(x, 0, out), TB_ERROR_ARGUMENT);
    tbDerivativeSettings settings = tbDefaultDerivativeSettings();
    *(k ? &settings.relaxation : &settings.mode_tolerance) = k ? -1 : NAN;
    assert_int_equal(tb_step_linearize(m, d, &settings, x, NULL), TB_ERROR_ARGUMENT);
    // A step that was, and one that fails after it.
    assert_int_equal(tb_step_linearize(m, d, NULL, x, NULL), TB_OK);
    tb_derivatives_apply(x, y, NULL, out);
    assert_true(isfinite(out[0]));
    d->qvel[2] = NAN;
    assert_int_equal(tb_step_linearize(m, d, NULL, x, NULL), TB_ERROR_NUMERIC);
    d->qvel[2] = 0;
  }
  tb_derivatives_free(x);
  tb_data_free(d);
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sliding),     cmocka_unit_test(test_rolling),
      cmocka_unit_test(test_bouncing),    cmocka_unit_test(test_identification),
      cmocka_unit_test(test_flag),        cmocka_unit_test(test_smoothing),
      cmocka_unit_test(test_differences), cmocka_unit_test(test_no_answer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
