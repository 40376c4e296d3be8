// Our sine and cosine against the C library's in extended precision.
#include "spatial/trig.h"

#include "common/test.h"

static void check(double x, double tolerance) {
  double s, c;
  tb_sincos(x, &s, &c);
  assert_true(fabsl((long double)s - sinl((long double)x)) <= tolerance);
  assert_true(fabsl((long double)c - cosl((long double)x)) <= tolerance);
}

static void close_to_the_library(void** state) {
  (void)state;
  tbRng rng = {11};
  for (int i = 0; i < 400000; i++) {
    double size = pow(10, tb_rng_uniform(&rng, -8, 5));
    check(tb_rng_uniform(&rng, -size, size), 2e-16);
  }
}

static void close_at_multiples_of_a_quarter_turn(void** state) {
  (void)state;
  tbRng rng = {12};
  for (int n = -1000; n <= 1000; n++) {
    double x = n * 0.78539816339744830962;
    check(x, 2e-16);
    check(nextafter(x, 1e9), 2e-16);
    check(nextafter(x, -1e9), 2e-16);
    check(x + 1e-9 * tb_rng_normal(&rng), 2e-16);
  }
}

// Exact where it matters: zero, symmetry, and the library's answers where ours ends.
static void special_values(void** state) {
  (void)state;
  double s, c, s2, c2;
  tb_sincos(0, &s, &c);
  assert_true(s == 0 && c == 1);
  tbRng rng = {13};
  for (int i = 0; i < 1000; i++) {
    double x = tb_rng_uniform(&rng, -100, 100);
    tb_sincos(x, &s, &c);
    tb_sincos(-x, &s2, &c2);
    assert_true(s == -s2 && c == c2);
    assert_near(s * s + c * c, 1, 4e-16);
  }
  tb_sincos(1e5, &s, &c);
  assert_true(s == sin(1e5) && c == cos(1e5));
  tb_sincos(1e300, &s, &c);
  assert_true(s == sin(1e300) && c == cos(1e300));
  tb_sincos(NAN, &s, &c);
  assert_true(isnan(s) && isnan(c));
  tb_sincos(INFINITY, &s, &c);
  assert_true(isnan(s) && isnan(c));
}

// Any number of them at once, some of which the library answers: the same bits as one by one.
static void many_are_as_one(void** state) {
  (void)state;
  tbRng rng = {14};
  for (int trial = 0; trial < 20000; trial++) {
    double x[12] = {0}, s[12], c[12];
    int count = (int)tb_rng_uniform(&rng, 0, 12.99);
    for (int i = 0; i < count; i++) {
      double size = pow(10, tb_rng_uniform(&rng, -8, 5));
      x[i] = tb_rng_uniform(&rng, -size, size);
    }
    static const double ODD[] = {1e5, -1e5, 3e7, 1e300, INFINITY, NAN, -0.0};
    if (count > 0 && trial % 3 == 0) x[trial % count] = ODD[trial % 7];
    tb_sincos_many(count, x, s, c);
    for (int i = 0; i < count; i++) {
      double one[2];
      tb_sincos(x[i], &one[0], &one[1]);
      if (isnan(one[0])) {
        assert_true(isnan(s[i]) && isnan(c[i]));
      } else {
        assert_memory_equal(&one[0], &s[i], sizeof s[i]);
        assert_memory_equal(&one[1], &c[i], sizeof c[i]);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(close_to_the_library),
      cmocka_unit_test(close_at_multiples_of_a_quarter_turn),
      cmocka_unit_test(special_values),
      cmocka_unit_test(many_are_as_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
