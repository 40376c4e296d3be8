// Elementary functions: within their bounds of the C library's long double ones, special values as
// C17's annex F has them, and the same bits on every machine.
#include "base/elementary.h"

#include <float.h>

#include "base/hash.h"
#include "common/test.h"

enum { TRIALS = 200000 };

// Units in the last place between a result and the true value.
static double error_of(double got, long double wanted) {
  double rounded = (double)wanted;
  if (got == rounded || (isnan(got) && isnan(rounded))) {
    if (!isfinite(rounded) || rounded == 0) return 0;
  } else if (!isfinite(got) || !isfinite(rounded)) {
    return INFINITY;
  }
  int exponent;
  frexp(rounded, &exponent);
  double unit = ldexp(1, exponent - 53 < -1074 ? -1074 : exponent - 53);
  return (double)(fabsl((long double)got - wanted) / unit);
}

typedef struct {
  const char* name;
  tbReal (*ours)(tbReal);
  long double (*theirs)(long double);
  double low, high, bound;
  int exponential;  // arguments exp(low...high)
} Case;

static const Case CASES[] = {
    {"sin", tb_sin, sinl, -4, 4, 0.8, 0},       {"sin", tb_sin, sinl, -1e5, 1e5, 0.8, 0},
    {"sin", tb_sin, sinl, -1e12, 1e12, 0.8, 0}, {"cos", tb_cos, cosl, -4, 4, 0.8, 0},
    {"cos", tb_cos, cosl, -1e5, 1e5, 0.8, 0},   {"cos", tb_cos, cosl, -1e12, 1e12, 0.8, 0},
    {"tan", tb_tan, tanl, -10, 10, 2.3, 0},     {"asin", tb_asin, asinl, -1, 1, 2.3, 0},
    {"acos", tb_acos, acosl, -1, 1, 2.3, 0},    {"atan", tb_atan, atanl, -3, 3, 1.5, 0},
    {"atan", tb_atan, atanl, -30, 30, 1.5, 1},  {"exp", tb_exp, expl, -1, 1, 0.8, 0},
    {"exp", tb_exp, expl, -708, 709, 0.8, 0},   {"exp", tb_exp, expl, -745, -708, 1.01, 0},
    {"log", tb_log, logl, 0.7, 1.4, 0.8, 0},    {"log", tb_log, logl, -740, 700, 0.8, 1},
    {"log2", tb_log2, log2l, -740, 700, 0.8, 1}};
enum { NCASES = sizeof CASES / sizeof CASES[0] };

static void functions_are_within_their_bounds(void** state) {
  (void)state;
  if (LDBL_MANT_DIG <= DBL_MANT_DIG) skip();
  tbRng rng = {17};
  for (int c = 0; c < NCASES; c++) {
    const Case* k = &CASES[c];
    for (int i = 0; i < TRIALS; i++) {
      double x = tb_rng_uniform(&rng, k->low, k->high);
      if (k->exponential) x = exp(x);
      double error = error_of(k->ours(x), k->theirs(x));
      if (!(error <= k->bound)) fail_msg("%s(%.17g) is off by %g", k->name, x, error);
    }
  }
}

static void functions_of_two_numbers_are_within_their_bounds(void** state) {
  (void)state;
  if (LDBL_MANT_DIG <= DBL_MANT_DIG) skip();
  tbRng rng = {19};
  for (int i = 0; i < TRIALS; i++) {
    double x = exp(tb_rng_uniform(&rng, -7, 7)), y = tb_rng_uniform(&rng, -90, 90);
    double z = tb_rng_uniform(&rng, -5, 5);
    if (!(error_of(tb_pow(x, y), powl(x, y)) <= 0.8)) fail_msg("pow(%.17g, %.17g)", x, y);
    if (!(error_of(tb_pow(y, 3), powl(y, 3)) <= 0.8)) fail_msg("pow(%.17g, 3)", y);
    if (!(error_of(tb_atan2(y, z), atan2l(y, z)) <= 1.5)) fail_msg("atan2(%.17g, %.17g)", y, z);
    if (!(error_of(tb_hypot(x, z), hypotl(x, z)) <= 1.5)) fail_msg("hypot(%.17g, %.17g)", x, z);
  }
}

// Near multiples of pi/2 all leading bits cancel.
static void large_angles_keep_their_digits(void** state) {
  (void)state;
  assert_near(tb_sin(1e22), -0.8522008497671888, 2e-16);
  assert_near(tb_cos(1e22), 0.5232147853951389, 2e-16);
  // The double nearest to a multiple of pi/2 (Muller, Elementary Functions, 2006, 10.2).
  double nearest = 0x1.6ac5b262ca1ffp+849;
  assert_near(tb_cos(nearest) * 1e19, -4.687165924254624, 1e-14);
  assert_near(tb_sin(nearest), 1, 0);
  for (int n = 1; n < 200000; n += 7) {
    double x = n * 1.5707963267948966;
    assert_near(tb_sin(x) * tb_sin(x) + tb_cos(x) * tb_cos(x), 1, 5e-16);
    if (LDBL_MANT_DIG <= DBL_MANT_DIG) continue;
    assert_true(error_of(tb_sin(x), sinl(x)) <= 0.8 && error_of(tb_cos(x), cosl(x)) <= 0.8);
  }
}

static void assert_as_libm(double ours, double theirs, const char* name, double x, double y) {
  if (isnan(ours) && isnan(theirs)) return;
  if (error_of(ours, theirs) <= 3 && !signbit(ours) == !signbit(theirs)) return;
  fail_msg("%s(%g, %g) is %g, not %g", name, x, y, ours, theirs);
}

static void special_values_are_those_of_the_standard(void** state) {
  (void)state;
  static const double X[] = {0,        -0.0,      1,     -1,     0.5,    -0.5,   2,      3,
                             -3,       -2.5,      1e300, -1e300, 1e-310, 5e-324, 0x1p53, -0x1p53,
                             INFINITY, -INFINITY, NAN,   1e5,    -1e5,   710,    -746,   1e-20};
  for (size_t i = 0; i < sizeof X / sizeof X[0]; i++) {
    double x = X[i];
#define SAME(f) assert_as_libm(tb_##f(x), f(x), #f, x, 0)
    SAME(sin);
    SAME(cos);
    SAME(tan);
    SAME(asin);
    SAME(acos);
    SAME(atan);
    SAME(exp);
    SAME(log);
    SAME(log2);
#undef SAME
    for (size_t j = 0; j < sizeof X / sizeof X[0]; j++) {
      double y = X[j];
      assert_as_libm(tb_pow(x, y), pow(x, y), "pow", x, y);
      assert_as_libm(tb_atan2(x, y), atan2(x, y), "atan2", x, y);
      assert_as_libm(tb_hypot(x, y), hypot(x, y), "hypot", x, y);
    }
  }
  for (int k = -1074; k < 1024; k++) assert_true(tb_log2(ldexp(1, k)) == k);
}

// Stored once, by gcc on x86-64: other compilers and machines compute the same.
static void bits_are_the_same_everywhere(void** state) {
  (void)state;
  tbRng rng = {23};
  uint64_t hash = TB_HASH_SEED;
  for (int i = 0; i < 20000; i++) {
    double x = tb_rng_uniform(&rng, -20, 20), y = tb_rng_uniform(&rng, -3, 3), z = y / 3;
    double a = x < 0 ? -x : x;
    double value[] = {tb_sin(x),    tb_cos(1e6 * x), tb_tan(y),        tb_asin(z), tb_acos(z),
                      tb_atan(x),   tb_atan2(x, y),  tb_exp(x),        tb_log(a),  tb_log2(a),
                      tb_pow(a, y), tb_hypot(x, y),  tb_sin(1e300 * x)};
    hash = tb_hash(hash, value, sizeof value);
  }
  if (hash != UINT64_C(0xa0b48703c7896b18)) fail_msg("hash is %016llx", (unsigned long long)hash);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_are_within_their_bounds),
      cmocka_unit_test(functions_of_two_numbers_are_within_their_bounds),
      cmocka_unit_test(large_angles_keep_their_digits),
      cmocka_unit_test(special_values_are_those_of_the_standard),
      cmocka_unit_test(bits_are_the_same_everywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
