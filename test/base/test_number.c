// Numbers in text: the same value as strtod, whatever the spelling.
#include "base/number.h"
#include "common/test.h"

static void same(const char* text) {
  tbReal value = -1;
  const char* end = text + strlen(text);
  assert_ptr_equal(tb_parse_real(text, end, &value), end);
  double expected = strtod(text, NULL);
  assert_memory_equal(&value, &expected, sizeof value);
}

static void test_reals(void** state) {
  (void)state;
  static const char* const TEXT[] = {"0",
                                     "-0",
                                     "1",
                                     "+1",
                                     "1.",
                                     ".5",
                                     "-.5e3",
                                     "1e22",
                                     "1e23",
                                     "1e-22",
                                     "1e-23",
                                     "123456789012345678",
                                     "0.1",
                                     "3.14159265358979323846264338327950288",
                                     "9007199254740993",
                                     "1e-320",
                                     "1.7976931348623157e308",
                                     "000000000000000000000000000001.50",
                                     "0.00000000000000000000000000001",
                                     "5E-1"};
  for (size_t i = 0; i < sizeof TEXT / sizeof TEXT[0]; i++) same(TEXT[i]);
  tbRng rng = {1};
  for (int i = 0; i < 20000; i++) {
    char text[64];
    double v = tb_rng_normal(&rng);
    v *= pow(10, tb_rng_uniform(&rng, -30, 30));
    snprintf(text, sizeof text, i % 3 == 0 ? "%.17g" : i % 3 == 1 ? "%.6f" : "%g", v);
    if (strlen(text) < 60) same(text);
  }
}

static void test_refused(void** state) {
  (void)state;
  static const char* const TEXT[] = {"",    "-",    ".",  "e5",    "nan",
                                     "inf", "-inf", "x1", "1e999", "+-1"};
  for (size_t i = 0; i < sizeof TEXT / sizeof TEXT[0]; i++) {
    tbReal value;
    assert_null(tb_parse_real(TEXT[i], TEXT[i] + strlen(TEXT[i]), &value));
  }
  // Only the characters before the end are read.
  tbReal value;
  const char* text = "12345e7";
  assert_ptr_equal(tb_parse_real(text, text + 2, &value), text + 2);
  assert_near(value, 12, 0);
  // An e without digits is not part of the number.
  text = "2em";
  assert_ptr_equal(tb_parse_real(text, text + 3, &value), text + 1);
  int whole;
  text = "99999999999";
  assert_null(tb_parse_int(text, text + 11, &whole));
  text = "-12x";
  assert_ptr_equal(tb_parse_int(text, text + 4, &whole), text + 3);
  assert_int_equal(whole, -12);
}

// A written number is read back bit for bit, also if the locale has a decimal comma.
static void test_printed(void** state) {
  (void)state;
  for (int comma = 0; comma < 2; comma++) {
    if (comma && !tb_test_comma("locale_number")) skip();
    tbRng rng = {2};
    bool good = true;
    for (int i = 0; i < 2000 && good; i++) {
      char text[TB_NUMBER_TEXT];
      double v = tb_rng_normal(&rng), back = 0;
      v *= pow(10, tb_rng_uniform(&rng, -300, 300));
      tb_print_real(text, v);
      const char* end = text + strlen(text);
      good = tb_parse_real(text, end, &back) == end && back == v && !strchr(text, ',');
    }
    tb_test_comma(NULL);
    assert_true(good);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_reals), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_printed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
