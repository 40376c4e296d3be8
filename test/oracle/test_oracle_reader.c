// The peer itself: the dump of a model whose numbers are known in closed form.
#include "common/oracle.h"
#include "common/test.h"

static const char* const PENDULUM =
    "<mujoco><worldbody><body name='rod' pos='0 0 2'><joint name='hinge' axis='0 1 0'/>"
    "<geom type='sphere' size='0.1' pos='0 0 -1' mass='3'/></body></worldbody></mujoco>";

static void write_text(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void test_pendulum(void** state) {
  (void)state;
  if (!tb_oracle_available()) skip();
  const char* path = TB_BUILD_DIR "/oracle_pendulum.xml";
  write_text(path, PENDULUM);
  char message[256];
  tbOracle* oracle = tb_oracle_run(path, NULL, 7, 2, message, sizeof message);
  assert_non_null(oracle);
  assert_int_equal(tb_oracle_size(oracle, "nq"), 1);
  assert_near(tb_oracle_model(oracle, "body_mass")->values[1], 3, 1e-15);
  assert_string_equal(tb_oracle_model(oracle, "names")->text, "MuJoCo Model");

  // M = m l^2 + 2/5 m r^2, and the bias is gravity's moment m g l sin(q).
  assert_near(tb_oracle_state(oracle, 1, "M")->values[0], 3 * (1 + 0.4 * 0.01), 1e-14);
  double q = tb_oracle_state(oracle, 1, "qpos")->values[0];
  assert_near(tb_oracle_state(oracle, 1, "qfrc_bias")->values[0], 3 * 9.81 * sin(q), 1e-13);

  // Its generator is ours.
  tbRng rng = {7};
  assert_near(q, tb_rng_uniform(&rng, -1, 1), 0);
  tb_oracle_free(oracle);
}

static void test_refused_model(void** state) {
  (void)state;
  if (!tb_oracle_available()) skip();
  const char* path = TB_BUILD_DIR "/oracle_refused.xml";
  write_text(path, "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>");
  char message[256];
  assert_null(tb_oracle_run(path, NULL, 1, 1, message, sizeof message));
  assert_non_null(strstr(message, "mass and inertia"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pendulum),
      cmocka_unit_test(test_refused_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
