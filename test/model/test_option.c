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

// Every option with a choice or a range refuses other values, names the valid ones, and keeps its
// value.
static void values_out_of_range_are_refused(void** state) {
  (void)state;
  static const char* const BAD[][3] = {
      {"timestep", "0", "x > 0"},         {"impratio", "-1", "x > 0"},
      {"density", "-1", "x >= 0"},        {"o_friction", "1 1 1 1 -1", "x >= 0"},
      {"jacobian", "9", "dense, sparse"}, {"integrator", "8", "expo-midpoint"},
      {"cone", "-1", "elliptic"},         {"solver", "9", "pgs-exact"},
      {"iterations", "-5", "x >= 0"},     {"baumgarte", "1.5", "x <= 1"},
      {"comfree_facets", "5", "x % 2"},   {"comfree_facets", "34", "x <= 32"},
      {"expm_order", "4", "x == 13"},     {"warmstart", "7", "x == 0 || x == 1"},
      {"sleep", "-1", "x == 1"},          {"threads", "-1", "x >= 0"},
      {"disableflags", "-1", "x >= 0"},   {"contact_bilateral", "2", "x == 1"},
  };
  tbOption option = tbDefaultOption(), before = option;
  tbError error;
  for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
    assert_int_equal(tb_option_set(&option, BAD[i][0], BAD[i][1], &error), TB_ERROR_ARGUMENT);
    if (!strstr(error.message, BAD[i][2])) fail_msg("%s: %s", BAD[i][0], error.message);
    if (!strstr(error.message, BAD[i][0])) fail_msg("%s: %s", BAD[i][0], error.message);
    assert_memory_equal(&option, &before, sizeof option);
  }
  // At the edge all is well.
  assert_int_equal(tb_option_set(&option, "comfree_facets", "32", &error), TB_OK);
  assert_int_equal(tb_option_set(&option, "baumgarte", "1", &error), TB_OK);
  assert_int_equal(tb_option_set(&option, "jacobian", "sparse", &error), TB_OK);
  assert_int_equal(option.jacobian, TB_JACOBIAN_SPARSE);
}

// Defaults lie within the ranges: setting an option to the text of its default changes nothing.
static void defaults_are_allowed(void** state) {
  (void)state;
  tbOption option = tbDefaultOption();
  tbError error;
#define X(type, name, count, value, allowed, unit, what)                            \
  {                                                                                 \
    char text[200] = "";                                                            \
    const type* values = (const type*)&option.name;                                 \
    for (int i = 0; i < (count); i++) {                                             \
      size_t used = strlen(text);                                                   \
      snprintf(text + used, sizeof text - used, "%.17g,", (double)values[i]);       \
    }                                                                               \
    if (tb_option_set(&option, #name, text, &error)) fail_msg("%s", error.message); \
  }
  TB_OPTION_FIELDS(X)
#undef X
  tbOption standard = tbDefaultOption();
  assert_memory_equal(&option, &standard, sizeof option);
}

static void numbers_have_a_point_in_any_locale(void** state) {
  (void)state;
  if (!tb_test_comma("locale_option")) skip();
  tbOption option = tbDefaultOption();
  tbError error;
  tbResult result = tb_option_set(&option, "gravity", " 0.5 1.5,2.5", &error);
  tb_test_comma(NULL);
  assert_int_equal(result, TB_OK);
  assert_near(option.gravity[2], 2.5, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_are_as_declared),
      cmocka_unit_test(values_and_words_are_set),
      cmocka_unit_test(bad_input_is_refused),
      cmocka_unit_test(values_out_of_range_are_refused),
      cmocka_unit_test(defaults_are_allowed),
      cmocka_unit_test(numbers_have_a_point_in_any_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
