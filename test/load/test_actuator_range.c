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

// The ends are those of the joint, except for the compliance of soft limits.
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
  // Limits of joints and tendons are copied; a given range stays.
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

  // Values that are no number or no mode are errors, not defaults.
  tbError error;
  options.maxforce = NAN;
  assert_int_equal(tb_set_length_ranges(m, &options, NULL, &error), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "maxforce"));
  options.maxforce = 0;
  options.mode = 99;
  assert_int_equal(tb_set_length_ranges(m, &options, NULL, &error), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "mode 99"));
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
  expect_error("<lengthrange inttotal='1e30'/>", "range='-1 1'", "do not define a simulation");
  expect_error("<lengthrange interval='0'/>", "range='-1 1'", "interval 0");
  expect_error("<lengthrange accel='0'/>", "range='-1 1'", "triceps");
}

// A long simulation time is no reason to refuse a robot that comes to rest early, and times of
// actuators that need no range are not used (a musculoskeletal arm has inttotal="500" beside the
// ranges of all its muscles).
static void long_times_and_unused_ones_are_read(void** state) {
  (void)state;
  tbModel* ten = must_load("", "range='-30 40'", "<muscle joint='j'/>");
  tbModel* m = must_load("<lengthrange inttotal='5000'/>", "range='-30 40'", "<muscle joint='j'/>");
  assert_near_array(m->actuator_lengthrange, ten->actuator_lengthrange, 2, 1e-9);
  tb_model_free(ten);
  tb_model_free(m);
  const char* unused[] = {"<lengthrange inttotal='1e30'/>", "<lengthrange interval='0'/>"};
  for (int k = 0; k < 2; k++) {
    m = must_load(unused[k], "", "<muscle joint='j' lengthrange='0.2 0.4'/><motor joint='j'/>");
    assert_near(m->actuator_lengthrange[1], 0.4, 0);
    tb_model_free(m);
  }
}

// An arm of its own with a muscle over its joint and one along a tendon, at `x`.
static void write_arm(char* bodies, char* tendons, char* muscles, size_t size, int k) {
  snprintf(bodies, size,
           "<site name='w%d' pos='%d 0 1'/><body pos='%d 0 0'><joint name='j%d' axis='0 1 0' "
           "range='%d %d'/><geom type='capsule' size='0.05' fromto='0 0 0 0.4 0 0'/>"
           "<body pos='0.4 0 0'><joint name='e%d' axis='0 1 0' range='-%d 40'/>"
           "<geom size='0.04' pos='0.1 0 0'/><site name='s%d' pos='0.1 0 0.02'/></body></body>",
           k, k, k, k, -60 + 7 * k, 20 + 3 * k, k, 30 + 5 * k, k);
  snprintf(tendons, size,
           "<spatial name='t%d'><site site='w%d'/><site site='s%d'/></spatial>"
           "<spatial name='unused%d'><site site='s%d'/><site site='w%d'/></spatial>",
           k, k, k, k, k, k);
  snprintf(muscles, size, "<muscle joint='j%d'/><muscle tendon='t%d'/>", k, k);
}

// Arms first ... end - 1, the first two of them joined where `joined` says so.
static tbModel* load_arms(int first, int end, bool joined) {
  static char bodies[8192], tendons[4096], muscles[2048], xml[16384];
  char body[1024], tendon[1024], muscle[1024];
  bodies[0] = tendons[0] = muscles[0] = 0;
  for (int k = first; k < end; k++) {
    write_arm(body, tendon, muscle, sizeof body, k);
    strcat(bodies, body), strcat(tendons, tendon), strcat(muscles, muscle);
  }
  snprintf(
      xml, sizeof xml,
      "<mujoco><worldbody>%s</worldbody><tendon>%s</tendon>%s<actuator>%s</actuator></mujoco>",
      bodies, tendons,
      joined ? "<equality><joint joint1='j0' joint2='j1' polycoef='0 -0.5 0 0 0'/></equality>" : "",
      muscles);
  tbError error = {0};
  tbModel* m = tb_load_string(xml, NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  return m;
}

// Arms that nothing joins have the ranges that each has alone, and every tendon keeps its points.
static void arms_together_are_arms_alone(void** state) {
  (void)state;
  enum { ARMS = 5 };
  tbModel* all = load_arms(0, ARMS, false);
  tbModel* joined = load_arms(0, ARMS, true);
  for (int t = 0; t < all->ntendon; t++) assert_int_equal(all->tendon_num[t], 2);
  for (int k = 0; k < ARMS; k++) {
    tbModel* one = load_arms(k, k + 1, false);
    assert_near_array(all->actuator_lengthrange + 4 * k, one->actuator_lengthrange, 4, 1e-9);
    if (k > 1) {
      assert_near_array(joined->actuator_lengthrange + 4 * k, one->actuator_lengthrange, 4, 1e-9);
    }
    tb_model_free(one);
  }
  // j0 = -j1 / 2, with j1 between -53 and 23 degrees: the second arm's upper limit is the first's
  // lower one, and nothing else pulls at the second.
  const double DEG = 3.14159265358979323846 / 180;
  assert_near(joined->actuator_lengthrange[0], -11.5 * DEG, 0.03);
  assert_near(joined->actuator_lengthrange[1], 20 * DEG, 0.03);
  tb_model_free(all);
  tb_model_free(joined);
}

// One arm that never rests is named, whatever is pulled with it.
static void the_one_that_fails_is_named(void** state) {
  (void)state;
  tbError error = {0};
  tbModel* m = tb_load_string(
      "<mujoco><worldbody><body><joint name='a' axis='0 1 0' range='-30 30'/>"
      "<geom size='0.1' pos='0.2 0 0'/></body><body pos='1 0 0'><joint name='b' axis='0 1 0'/>"
      "<geom size='0.1' pos='0.2 0 0'/></body></worldbody><actuator><muscle name='biceps' "
      "joint='a'/><muscle name='triceps' joint='b'/></actuator></mujoco>",
      NULL, NULL, &error);
  assert_null(m);
  if (!strstr(error.message, "actuator 1 'triceps'")) fail_msg("%s", error.message);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_follow_the_limits),
      cmocka_unit_test(settings_count),
      cmocka_unit_test(arms_together_are_arms_alone),
      cmocka_unit_test(the_one_that_fails_is_named),
      cmocka_unit_test(what_never_rests_is_an_error),
      cmocka_unit_test(long_times_and_unused_ones_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
