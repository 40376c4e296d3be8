// Small dense kernels: random systems solve to rounding, singular ones are called so.
#include "common/test.h"
#include "linalg/small.h"
#include "tribo/tribo.h"

enum { MOST = 7 };

static void fill(tbRng* rng, int n, double* a) {
  for (int i = 0; i < n; i++) a[i] = tb_rng_normal(rng);
}

// |A x - b| for a matrix with `columns` right-hand sides.
static double defect(int n, const double* a, int columns, const double* x, const double* b) {
  double worst = 0;
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < columns; c++) {
      double sum = -b[r * columns + c];
      for (int k = 0; k < n; k++) sum += a[r * n + k] * x[k * columns + c];
      worst = fmax(worst, fabs(sum));
    }
  }
  return worst;
}

static void test_divide(void** state) {
  (void)state;
  tbRng rng = {3};
  for (int t = 0; t < 2000; t++) {
    int n = 1 + t % MOST, columns = 1 + t % 3;
    double a[MOST * MOST], used[MOST * MOST], b[MOST * 3], x[MOST * 3];
    fill(&rng, n * n, a);
    // A zero first pivot: rows must change places.
    if (n > 1) a[0] = 0;
    fill(&rng, n * columns, b);
    memcpy(used, a, sizeof a);
    memcpy(x, b, sizeof b);
    assert_true(tb_small_divide(n, used, columns, x));
    double size = 1;
    for (int i = 0; i < n * columns; i++) size = fmax(size, fabs(x[i]));
    assert_true(defect(n, a, columns, x, b) < 1e-12 * size * n);
  }
}

static void test_divide_singular(void** state) {
  (void)state;
  double a[9] = {1, 2, 0, 0, 0, 0, 0, 0, 4}, b[3] = {3, 5, 8};
  assert_false(tb_small_divide(3, a, 1, b));
  assert_near(b[0], 3, 1e-15);
  assert_near(b[1], 0, 0);
  assert_near(b[2], 2, 1e-15);
}

static void test_cholesky(void** state) {
  (void)state;
  tbRng rng = {5};
  for (int t = 0; t < 500; t++) {
    int n = 1 + t % TB_SMALL_MAX;
    double f[36], a[36], l[36], b[6], x[6];
    fill(&rng, n * n, f);
    fill(&rng, n, b);
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        a[i * n + j] = i == j ? 0.1 : 0;
        for (int k = 0; k < n; k++) a[i * n + j] += f[i * n + k] * f[j * n + k];
      }
    }
    assert_true(tb_small_cholesky(n, a, 0, 0, l));
    tb_small_solve(n, l, b, x);
    assert_true(defect(n, a, 1, x, b) < 1e-11);
    a[0] = -1;
    assert_false(tb_small_cholesky(n, a, 0, 0, l));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_divide),
      cmocka_unit_test(test_divide_singular),
      cmocka_unit_test(test_cholesky),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
