// Options by name: numbers, vectors, words, and errors that name the nearest option.
#include "common/test.h"
#include "tribo/option.h"

static void defaults_are_as_declared(void** state) {
  (void)state;
  tbOption option = tbDefaultOption();
  assert_near(option.timestep, 0.002, 0);
  assert_near(option.gravity[2], -9.81, 0);
  assert_near(option.o_solimp[4], 2, 0);
  assert_int_equal(option.iterations, 100);
}

static void values_and_words_are_set(void** state) {
  (void)state;
  tbOption option = tbDefaultOption();
  tbError error;
  assert_int_equal(tb_option_set(&option, "timestep", "1e-3", &error), TB_OK);
  assert_int_equal(tb_option_set(&option, "gravity", "1, 2 3", &error), TB_OK);
  assert_int_equal(tb_option_set(&option, "integrator", "rk4", &error), TB_OK);
  assert_near(option.timestep, 1e-3, 0);
  assert_near(option.gravity[1], 2, 0);
  assert_int_equal(option.integrator, TB_INTEGRATOR_RK4);
}

static void bad_input_is_refused(void** state) {
  (void)state;
  tbOption option = tbDefaultOption();
  tbError error;
  assert_int_equal(tb_option_set(&option, "timestpe", "1", &error), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "timestep"));
  assert_int_equal(tb_option_set(&option, "gravity", "1 2", &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_option_set(&option, "timestep", "nan", &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_option_set(&option, "timestep", "1 2", &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_option_set(&option, "iterations", "1.5", &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_option_set(&option, "integrator", "leapfrog", &error), TB_ERROR_ARGUMENT);
  assert_near(option.timestep, 0.002, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_are_as_declared),
      cmocka_unit_test(values_and_words_are_set),
      cmocka_unit_test(bad_input_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
