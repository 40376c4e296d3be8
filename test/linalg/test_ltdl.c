// The factorisation by tree sparsity against dense products, on random forests.
#include "linalg/ltdl.h"

#include "common/test.h"

enum { MOST = 150, SMALL = 40 };

typedef struct {
  int n, rowadr[MOST], rownnz[MOST], run[MOST], colind[MOST * MOST];
  double M[MOST * MOST];      // by rows of the pattern
  double dense[MOST * MOST];  // the same, all of it
  int parent[MOST];
} Forest;

static tbForest view(const Forest* f) {
  return (tbForest){f->n, f->rowadr, f->rownnz, f->colind, f->run};
}

// A random forest and a positive definite matrix on it: L^T D L of a random factor of its pattern.
static void random_forest(Forest* f, tbRng* rng, int n, int branches) {
  static double L[MOST][MOST];
  double D[MOST];
  memset(L, 0, sizeof L);
  int entries = 0;
  f->n = n;
  for (int i = 0; i < n; i++) {
    // Mostly chains, with branches and new roots.
    int p = i - 1;
    while (branches && p >= 0 && tb_rng_int(rng, 4) == 0) p = f->parent[p];
    f->parent[i] = p;
    f->run[i] = i > 0 && p == i - 1 ? f->run[i - 1] : i;
    f->rowadr[i] = entries;
    f->rownnz[i] = 1 + (p < 0 ? 0 : f->rownnz[p]);
    for (int k = 0; k + 1 < f->rownnz[i]; k++) f->colind[entries++] = f->colind[f->rowadr[p] + k];
    f->colind[entries++] = i;
    // Long chains need small factors, lest their products grow without bound.
    double size = n > SMALL ? 0.05 : 0.7;
    for (int j = p; j >= 0; j = f->parent[j]) L[i][j] = size * tb_rng_normal(rng);
    L[i][i] = 1;
    D[i] = tb_rng_uniform(rng, 0.5, 2);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += L[k][i] * D[k] * L[k][j];
      f->dense[i * n + j] = sum;
    }
    for (int k = 0; k < f->rownnz[i]; k++) {
      f->M[f->rowadr[i] + k] = f->dense[i * n + f->colind[f->rowadr[i] + k]];
    }
  }
}

static void multiply(const Forest* f, const double* x, double* y) {
  for (int i = 0; i < f->n; i++) {
    y[i] = 0;
    for (int j = 0; j < f->n; j++) y[i] += f->dense[i * f->n + j] * x[j];
  }
}

static void solves_and_half_solves(void** state) {
  (void)state;
  tbRng rng = {31};
  for (int trial = 0; trial < 300; trial++) {
    static Forest f;
    // The last ones are long, some of them a single chain.
    int n = trial < 295 ? 1 + tb_rng_int(&rng, SMALL) : MOST;
    random_forest(&f, &rng, n, trial < 298);
    double b[MOST], x[MOST], y[MOST], h[MOST], inverse[MOST];
    for (int i = 0; i < n; i++) b[i] = tb_rng_normal(&rng);
    tb_forest_mul(view(&f), f.M, x, b);
    multiply(&f, b, y);
    assert_near_array(x, y, n, 1e-13);

    assert_int_equal(tb_ltdl_factor(view(&f), f.M, inverse, 0), -1);
    memcpy(x, b, sizeof x);
    tb_ltdl_solve(view(&f), f.M, inverse, x);
    multiply(&f, x, y);
    assert_near_array(y, b, n, 1e-7);
    // Without knowing of runs, and with zeros in the right side.
    tbForest plain = view(&f);
    plain.run = NULL;
    for (int zeros = 0; zeros < 2; zeros++) {
      for (int i = 0; zeros && i < n; i++) b[i] = tb_rng_int(&rng, 3) ? 0 : b[i];
      memcpy(x, b, sizeof x);
      tb_ltdl_solve(zeros ? view(&f) : plain, f.M, inverse, x);
      multiply(&f, x, y);
      assert_near_array(y, b, n, 1e-7);
    }
    memcpy(h, b, sizeof h);
    tb_ltdl_half_solve(view(&f), f.M, inverse, h);
    double norm = 0, energy = 0;
    for (int i = 0; i < n; i++) {
      norm += h[i] * h[i];
      energy += b[i] * x[i];
    }
    assert_near(norm, energy, 1e-7);
  }
}

static void bad_pivots_are_found(void** state) {
  (void)state;
  tbRng rng = {32};
  static const double BAD[] = {0, -1, NAN, INFINITY};
  for (int trial = 0; trial < 100; trial++) {
    static Forest f;
    random_forest(&f, &rng, 12, 1);
    double inverse[MOST];
    int i = tb_rng_int(&rng, 12);
    double bad = BAD[trial % 4];
    f.M[f.rowadr[i] + f.rownnz[i] - 1] = bad == 0 ? -1e9 : bad * 1e9;
    int found = tb_ltdl_factor(view(&f), f.M, inverse, 0);
    assert_true(found >= 0 && found < 12);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solves_and_half_solves),
      cmocka_unit_test(bad_pivots_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
