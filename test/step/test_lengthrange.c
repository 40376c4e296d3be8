// Length ranges of muscles: against geometry, against limits, and where there is none.
#include "common/test.h"
#include "tribo/tribo.h"

static tbModel* load(const char* settings, const char* joint, const char* actuator,
                     tbError* error) {
  char xml[2048];
  snprintf(xml, sizeof xml,
           "<mujoco><compiler>%s</compiler><option gravity='3 0 -9'/><worldbody>"
           "<site name='w' pos='0 0 1'/><geom type='plane' size='1 1 1' pos='0 0 -0.1'/>"
           "<body><joint name='j' axis='0 1 0' damping='0.3' stiffness='2' %s/>"
           "<geom type='capsule' size='0.05' fromto='0 0 0 0.4 0 0'/>"
           "<site name='s' pos='0.3 0 0'/></body></worldbody><tendon>"
           "<spatial name='t' range='0.5 2'><site site='w'/><site site='s'/></spatial></tendon>"
           "<actuator>%s</actuator></mujoco>",
           settings, joint, actuator);
  return tb_load_string(xml, NULL, NULL, error);
}

static tbModel* must_load(const char* settings, const char* joint, const char* actuator) {
  tbError error = {0};
  tbModel* m = load(settings, joint, actuator, &error);
  if (!m) fail_msg("%s", error.message);
  return m;
}

// Distance from w to s with the hinge at q.
static double length_at(double q) {
  return hypot(0.3 * cos(q), 1 + 0.3 * sin(q));
}

// The ends are those of the joint, but for what a soft limit gives.
static void ranges_follow_the_limits(void** state) {
  (void)state;
  const double DEG = 3.14159265358979323846 / 180;
  for (int k = 0; k < 6; k++) {
    double low = -70 + 5 * k, high = 10 * k;
    char joint[64];
    snprintf(joint, sizeof joint, "range='%g %g'", low, high);
    tbModel* m = must_load("", joint, "<muscle joint='j' gear='2'/><muscle tendon='t'/>");
    const tbReal* r = m->actuator_lengthrange;
    double span = (high - low) * DEG;
    assert_true(fabs(r[0] - 2 * low * DEG) < 0.01 * 2 * span);
    assert_true(fabs(r[1] - 2 * high * DEG) < 0.01 * 2 * span);
    assert_true(r[0] <= 2 * low * DEG && r[1] >= 2 * high * DEG);
    // The tendon is longest where the arm points down: y turns x towards -z.
    double a = length_at(low * DEG), b = length_at(high * DEG);
    assert_true(fabs(r[2] - a) < 0.01 * (b - a));
    assert_true(fabs(r[3] - b) < 0.01 * (b - a));
    tb_model_free(m);
  }
}

static void settings_count(void** state) {
  (void)state;
  // Limits of joints and tendons are taken as they are; a range that is there stays.
  tbModel* m = must_load("<lengthrange mode='all' uselimit='true'/>", "range='-30 40'",
                         "<motor joint='j'/><muscle tendon='t'/><muscle tendon='t' "
                         "lengthrange='0.1 0.2'/>");
  const double DEG = 3.14159265358979323846 / 180;
  const double expected[6] = {-30 * DEG, 40 * DEG, 0.5, 2, 0.1, 0.2};
  assert_near_array(m->actuator_lengthrange, expected, 6, 1e-15);
  tb_model_free(m);
  // Only muscles by default; none on request.
  m = must_load("", "range='-30 40'", "<motor joint='j'/>");
  assert_near(m->actuator_lengthrange[1], 0, 0);
  tb_model_free(m);
  m = must_load("<lengthrange mode='none'/>", "range='-30 40'", "<muscle joint='j'/>");
  assert_near(m->actuator_lengthrange[1], 0, 0);

  // Again by hand; the model's options are as before.
  tbOption before = m->opt;
  tbLengthRangeOptions options = tbDefaultLengthRangeOptions();
  int failed;
  assert_int_equal(tb_set_length_ranges(m, &options, &failed, NULL), TB_OK);
  assert_int_equal(failed, -1);
  assert_memory_equal(&before, &m->opt, sizeof before);
  assert_true(m->actuator_lengthrange[1] > 0.6);
  tb_model_free(m);
}

static void expect_error(const char* settings, const char* joint, const char* what) {
  tbError error = {0};
  tbModel* m = load(settings, joint, "<muscle name='triceps' joint='j'/>", &error);
  assert_null(m);
  if (!strstr(error.message, what)) fail_msg("'%s' is not in: %s", what, error.message);
}

static void what_never_rests_is_an_error(void** state) {
  (void)state;
  expect_error("", "", "string:1: actuator 0 'triceps'");
  expect_error("<lengthrange inttotal='-1'/>", "range='-1 1'", "inttotal -1");
  expect_error("<lengthrange inttotal='1e30'/>", "range='-1 1'", "do not make a simulation");
  expect_error("<lengthrange interval='0'/>", "range='-1 1'", "interval 0");
  expect_error("<lengthrange accel='0'/>", "range='-1 1'", "triceps");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_follow_the_limits),
      cmocka_unit_test(settings_count),
      cmocka_unit_test(what_never_rests_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
