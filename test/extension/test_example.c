// The extension of examples/extension: its kinds load, have the values of their closed forms,
// and survive a file; a library without them refuses what names them.
#include "common/model_difference.h"
#include "common/test.h"
#include "model/binary.h"
#include "model/model.h"
#include "tribo/tribo.h"

static tbModel* load(const char* scene) {
  char path[512];
  snprintf(path, sizeof path, "%s/extension/%s.xml", TB_EXAMPLES_DIR, scene);
  tbError error = {0};
  tbModel* m = tb_load(path, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  return m;
}

// Torque k u (1 - v / v0) on the inertia I: v = v0 (1 - exp(-k u t / (I v0))).
static void test_motor_and_power(void** state) {
  (void)state;
  tbModel* m = load("motor");
  tbData* d = tb_data_new(m);
  assert_int_equal(m->actuator_gaintype[0], TB_GAIN_TORQUE_SPEED);
  assert_int_equal(m->sensor_type[0], TB_SENS_POWER);
  const tbReal k = 0.5, v0 = 20, u = 0.8, inertia = 0.5 * 2 * 0.1 * 0.1;
  d->ctrl[0] = u;
  while (d->time < 1) {
    tbReal v = d->qvel[0];
    assert_int_equal(tb_step(m, d), TB_OK);
    assert_near(d->actuator_force[0], k * u * (1 - v / v0), 1e-12);
    assert_near(d->sensordata[0], d->actuator_force[0] * v, 1e-12);
  }
  assert_near(d->qvel[0], v0 * (1 - exp(-k * u * d->time / (inertia * v0))), 2e-3 * v0);
  assert_true(d->qvel[0] > 0.8 * v0);
  tb_data_free(d);
  tb_model_free(m);
}

// A ramp of 2 per second, then an exponential of 0.02 s from where (1 - act) / 0.02 = 2; the cutoff
// of its power acts.
static void test_slew(void** state) {
  (void)state;
  tbModel* m = load("motor");
  tbData* d = tb_data_new(m);
  assert_int_equal(m->actuator_dyntype[1], TB_DYN_SLEW);
  d->ctrl[1] = 1;
  for (int i = 1; i <= 900; i++) {
    assert_int_equal(tb_step(m, d), TB_OK);
    assert_near(d->act[0], 2 * m->opt.timestep * i, 1e-9);
  }
  assert_true(d->sensordata[1] == 0.001);
  const tbReal start = 0.48, before = 0.96;
  while (d->time < 0.6) assert_int_equal(tb_step(m, d), TB_OK);
  assert_near(d->act[0], 1 - (1 - before) * exp(-(d->time - start) / 0.02), 1e-3);
  tb_data_free(d);
  tb_model_free(m);
}

// Exact round trip; a type beyond the last one, and a file of a library without the extension, are
// refused.
static void test_binary(void** state) {
  (void)state;
  static const char* const SCENES[] = {"motor", "yoke", "screw"};
  for (size_t i = 0; i < sizeof SCENES / sizeof *SCENES; i++) {
    tbModel* m = load(SCENES[i]);
    size_t size = tb_model_binary_size(m);
    unsigned char *bytes = malloc(size), *again = malloc(size);
    tb_model_write(m, bytes);
    tbError error = {0};
    tbModel* copy = tb_model_load_binary(bytes, size, &error);
    if (!copy) fail_msg("%s", error.message);
    tb_model_write(copy, again);
    assert_memory_equal(bytes, again, size);
    tbData *one = tb_data_new(m), *two = tb_data_new(copy);
    for (int k = 0; k < 20; k++) {
      assert_int_equal(tb_step(m, one), TB_OK);
      assert_int_equal(tb_step(copy, two), TB_OK);
      assert_memory_equal(one->qpos, two->qpos, (size_t)m->nq * sizeof(tbReal));
    }
    tb_data_free(one);
    tb_data_free(two);
    // The hash of the fields names the extension's kinds.
    bytes[16] ^= 1;
    assert_null(tb_model_load_binary(bytes, size, &error));
    assert_non_null(strstr(error.message, "extensions"));
    free(bytes);
    free(again);
    tb_model_free(copy);
    tb_model_free(m);
  }
}

// As a spec, as text and from the compiled model: the same model each time.
static void test_specs(void** state) {
  (void)state;
  static const char* const SCENES[] = {"motor", "yoke", "screw"};
  for (size_t i = 0; i < sizeof SCENES / sizeof *SCENES; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s/extension/%s.xml", TB_EXAMPLES_DIR, SCENES[i]);
    tbError error = {0};
    tbModel* m = load(SCENES[i]);
    tbSpec* specs[3] = {tb_spec_load(path, NULL, &error), NULL, tb_spec_from_model(m, &error)};
    char* text = tb_spec_save_xml(specs[0], &error);
    specs[1] = tb_spec_load_xml(text, NULL, NULL, &error);
    assert_true(tb_spec_equal(specs[0], specs[1]));
    for (int k = 0; k < 3; k++) {
      tbModel* again = specs[k] ? tb_spec_compile(specs[k], &error) : NULL;
      if (!again) fail_msg("%s", error.message);
      const char* why = tb_test_difference(m, again, k < 2 ? 0 : 1e-12);
      if (why) fail_msg("%s, route %d: %s", SCENES[i], k, why);
      tb_model_free(again);
      tb_spec_free(specs[k]);
    }
    tb_text_free(text);
    tb_model_free(m);
  }
}

// A force F along the yoke's slide has the moment F r cos q, and the virtual work F d(r sin q).
static void test_yoke_transmission(void** state) {
  (void)state;
  tbModel* m = load("yoke");
  tbData* d = tb_data_new(m);
  assert_int_equal(m->actuator_trntype[0], TB_TRN_YOKE);
  const tbReal r = 0.2, force = 3, inertia = 0.5 * 2 * 0.1 * 0.1;
  int q = m->jnt_qposadr[2], v = m->jnt_dofadr[2];
  d->qpos[q] = -1;
  d->ctrl[0] = force;
  while (d->time < 0.3) {
    tbReal angle = d->qpos[q], rate = d->qvel[v];
    assert_int_equal(tb_step(m, d), TB_OK);
    assert_near(d->actuator_length[0], r * sin(angle), 1e-12);
    assert_near(d->actuator_velocity[0], r * cos(angle) * rate, 1e-12);
    assert_near(d->qfrc_actuator[v], force * r * cos(angle), 1e-12);
    assert_near(d->sensordata[0], force * r * cos(angle) * rate, 1e-12);
  }
  tbReal gained = force * r * (sin(d->qpos[q]) - sin(-1));
  assert_true(gained > 0.5);
  assert_near(0.5 * inertia * d->qvel[v] * d->qvel[v], gained, 1e-2);
  tb_data_free(d);
  tb_model_free(m);
}

// The slide stays at r sin q of the crank, at constant kinetic energy of both.
static void test_yoke_equality(void** state) {
  (void)state;
  static const int LAWS[] = {TB_LAW_NCP, TB_LAW_SOFT, TB_LAW_COMFREE};
  for (int i = 0; i < 3; i++) {
    tbModel* m = load("yoke");
    m->opt.law = LAWS[i];
    tbData* d = tb_data_new(m);
    assert_int_equal(m->eq_type[0], TB_EQ_YOKE);
    const tbReal r = 0.2, inertia = 0.01, mass = 3;
    d->qvel[0] = 4;
    d->qvel[1] = 4 * r;
    tbReal energy = 0.5 * inertia * 16 + 0.5 * mass * 16 * r * r, fastest = 0;
    while (d->time < 1) {
      assert_int_equal(tb_step(m, d), TB_OK);
      assert_near(d->qpos[1], r * sin(d->qpos[0]), 3e-3);
      fastest = fmax(fastest, fabs(d->qvel[0]));
    }
    // At the dead centre all energy is in the crank; the springs of the soft law lose some.
    assert_near(fastest, sqrt(2 * energy / inertia), LAWS[i] == TB_LAW_SOFT ? 0.1 : 1e-3);
    tb_data_free(d);
    tb_model_free(m);
  }
}

// A and B of a step with the yoke's row against differences of whole steps.
static void test_yoke_derivatives(void** state) {
  (void)state;
  tbModel* m = load("yoke");
  tbData *d = tb_data_new(m), *next = tb_data_new(m);
  d->qpos[0] = 0.7;
  d->qpos[1] = 0.2 * sin(0.7);
  d->qvel[0] = 2;
  d->qvel[1] = 2 * 0.2 * cos(0.7);
  d->ctrl[0] = 1;
  enum { N = 6 };
  assert_int_equal(2 * m->nv + m->na, N);
  tbReal A[N * N], B[N], ends[2][N];
  tbDerivatives* derivatives = tb_derivatives_new(m);
  assert_int_equal(tb_step_linearize(m, d, NULL, derivatives, NULL), TB_OK);
  tb_derivatives_dense(derivatives, A, B);
  for (int k = 0; k < N; k++) {
    for (int side = 0; side < 2; side++) {
      tb_reset(m, next);
      memcpy(next->qpos, d->qpos, 3 * sizeof(tbReal));
      memcpy(next->qvel, d->qvel, 3 * sizeof(tbReal));
      next->ctrl[0] = d->ctrl[0];
      (k < 3 ? next->qpos : next->qvel)[k % 3] += side ? 1e-5 : -1e-5;
      assert_int_equal(tb_step(m, next), TB_OK);
      memcpy(ends[side], next->qpos, 3 * sizeof(tbReal));
      memcpy(ends[side] + 3, next->qvel, 3 * sizeof(tbReal));
    }
    for (int i = 0; i < N; i++) assert_near(A[N * i + k], (ends[1][i] - ends[0][i]) / 2e-5, 1e-4);
  }
  tb_derivatives_free(derivatives);
  tb_data_free(next);
  tb_data_free(d);
  tb_model_free(m);
}

// Mistakes of a file in the words of an extension.
static void test_errors(void** state) {
  (void)state;
  static const char START[] =
      "<mujoco><worldbody><body><joint name='a'/><geom size='1'/></body>"
      "<body><joint name='ball' type='ball'/><geom size='1'/></body></worldbody>";
  static const struct {
    const char *text, *message;
  } CASES[] = {
      {"<actuator><motor yoke='b'/></actuator>", "b"},
      {"<actuator><motor yoke='a' joint='a'/></actuator>", "yoke"},
      {"<actuator><motor/></actuator>", "yoke"},
      {"<actuator><motor yokes='a'/></actuator>", "yokes"},
      {"<actuator><motor yoke='ball'/></actuator>", "expected a slide or a hinge"},
      {"<equality><yoke joint1='ball'/></equality>", "expected a slide or a hinge"},
      {"<equality><yoke joint1='b'/></equality>", "b"},
      {"<equality><yoke body1='a'/></equality>", "body1"},
      {"<sensor><power/></sensor>", "actuator"},
      {"<sensor><power joint='a'/></sensor>", "joint"},
      {"<actuator><general joint='a' gaintype='torquespeeds'/></actuator>", "torquespeed"},
      {"<worldbody><body><joint type='screws'/><geom size='1'/></body></worldbody>", "screw"},
      {"<worldbody><body><joint type='screw' axis='0 0 0'/><geom size='1'/></body></worldbody>",
       "axis"},
  };
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    char text[512];
    snprintf(text, sizeof text, "%s%s</mujoco>", START, CASES[i].text);
    tbError error = {0};
    assert_null(tb_load_string(text, NULL, NULL, &error));
    if (!strstr(error.message, CASES[i].message)) fail_msg("%s: %s", text, error.message);
  }
}

static void refuse(tbModel* m, int* field, int value, const char* name) {
  tbError error = {0};
  int was = *field;
  *field = value;
  assert_int_not_equal(tb_model_check(m, &error), TB_OK);
  if (!strstr(error.message, name)) fail_msg("%s", error.message);
  *field = was;
  assert_int_equal(tb_model_check(m, &error), TB_OK);
}

static void test_ranges(void** state) {
  (void)state;
  tbModel* m = load("motor");
  refuse(m, &m->sensor_type[0], TB_NSENSORTYPES, "sensor_type");
  refuse(m, &m->actuator_gaintype[0], TB_NGAINTYPES, "actuator_gaintype");
  refuse(m, &m->actuator_dyntype[1], TB_NDYNTYPES, "actuator_dyntype");
  refuse(m, &m->actuator_biastype[0], TB_NBIASTYPES, "actuator_biastype");
  tb_model_free(m);
  m = load("yoke");
  refuse(m, &m->actuator_trntype[0], TB_NTRNTYPES, "actuator_trntype");
  refuse(m, &m->eq_type[0], TB_NEQTYPES, "eq_type");
  refuse(m, &m->actuator_trnid[0], 3, "actuator 0");
  refuse(m, &m->eq_obj1id[0], 3, "equality 0");
  refuse(m, &m->jnt_type[0], TB_NJOINTTYPES, "jnt_type");
  tb_model_free(m);
}

// Derivatives of a step difference a gain that is not affine; its slope makes the step implicit.
static void test_derivatives(void** state) {
  (void)state;
  tbModel* m = load("motor");
  tbData* d = tb_data_new(m);
  d->ctrl[0] = 0.8;
  for (int i = 0; i < 100; i++) assert_int_equal(tb_step(m, d), TB_OK);
  int n = 2 * m->nv + m->na;
  tbReal A[25], B[10];
  assert_true(n * n <= 25 && n * m->nu <= 10);
  tbDerivatives* derivatives = tb_derivatives_new(m);
  tbDerivativeInfo info;
  assert_int_equal(tb_step_linearize(m, d, NULL, derivatives, &info), TB_OK);
  assert_true(info.finite_differences);
  tb_derivatives_dense(derivatives, A, B);
  // Damping of actuators is implicit: v+ = v + h F / D, where D = I + h k u / v0 and F = k u (1 - v
  // / v0).
  const tbReal h = m->opt.timestep, k = 0.5, u = 0.8, v0 = 20, inertia = 0.01;
  tbReal slow = 1 - d->qvel[0] / v0, D = inertia + h * k * u / v0;
  assert_near(A[2 * n + 2], 1 - h * k * u / v0 / D, 1e-8);
  assert_near(B[2 * m->nu], h * k * slow / D - h * k * u * slow * h * k / v0 / (D * D), 1e-8);
  tb_derivatives_free(derivatives);
  tb_data_free(d);
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_motor_and_power),
      cmocka_unit_test(test_slew),
      cmocka_unit_test(test_binary),
      cmocka_unit_test(test_specs),
      cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_yoke_transmission),
      cmocka_unit_test(test_yoke_equality),
      cmocka_unit_test(test_yoke_derivatives),
      cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
