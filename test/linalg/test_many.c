// Solves with many right-hand sides against the same one by one.
#include "common/test.h"
#include "linalg/dense.h"
#include "linalg/multi_rhs.h"

enum { N = 13, COUNT = 9, STRIDE = 11 };

static void fill(tbRng* rng, tbReal* x, int n) {
  for (int i = 0; i < n; i++) x[i] = tb_rng_normal(rng);
}

static void column(const tbReal* X, int k, tbReal* out) {
  for (int i = 0; i < N; i++) out[i] = X[i * STRIDE + k];
}

static void test_lu(void** state) {
  (void)state;
  tbRng rng = {1};
  for (int trial = 0; trial < 20; trial++) {
    tbReal A[N * N], LU[N * N], X[N * STRIDE], B[N * STRIDE], x[N], y[N];
    int pivot[N];
    fill(&rng, A, N * N);
    // Zeros on the diagonal make rows swap.
    for (int i = 0; i < N; i += 2) A[i * N + i] = 0;
    memcpy(LU, A, sizeof A);
    assert_true(tb_lu(N, LU, N, pivot));
    fill(&rng, B, N * STRIDE);
    memcpy(X, B, sizeof B);
    tb_lu_solve_multi(N, LU, N, pivot, X, STRIDE, COUNT);
    for (int k = 0; k < COUNT; k++) {
      column(B, k, x);
      tb_lu_solve(N, LU, N, pivot, x);
      column(X, k, y);
      assert_near_array(y, x, N, 1e-9);
    }
    // Columns beyond the count stay.
    for (int i = 0; i < N; i++) assert_true(X[i * STRIDE + COUNT] == B[i * STRIDE + COUNT]);
    // A^T (A^-T x) = x
    column(B, 0, x);
    memcpy(y, x, sizeof x);
    tb_lu_solve_transposed(N, LU, N, pivot, y);
    for (int i = 0; i < N; i++) {
      tbReal sum = 0;
      for (int j = 0; j < N; j++) sum += A[j * N + i] * y[j];
      assert_near(sum, x[i], 1e-8);
    }
  }
}

static void test_cholesky(void** state) {
  (void)state;
  tbRng rng = {2};
  tbReal B[N * N], A[N * N] = {0}, X[N * STRIDE], Y[N * STRIDE], x[N], y[N];
  fill(&rng, B, N * N);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      for (int k = 0; k < N; k++) A[i * N + j] += B[i * N + k] * B[j * N + k];
    }
    A[i * N + i] += 1;
  }
  tbReal* scratch = calloc((size_t)tb_cholesky_scratch(N) + 1, sizeof(tbReal));
  assert_true(tb_cholesky(N, A, N, scratch));
  fill(&rng, X, N * STRIDE);
  memcpy(Y, X, sizeof X);
  tb_cholesky_solve_multi(N, A, N, Y, STRIDE, COUNT);
  for (int k = 0; k < COUNT; k++) {
    column(X, k, x);
    tb_cholesky_solve(N, A, N, x);
    column(Y, k, y);
    assert_near_array(y, x, N, 1e-10);
  }
  free(scratch);
}

// A chain with two branches: 0-1-2, 1-3-4.
static void test_ltdl(void** state) {
  (void)state;
  enum { DOFS = 5 };
  static const int ADR[] = {0, 1, 3, 6, 9}, NNZ[] = {1, 2, 3, 3, 4};
  static const int COL[] = {0, 0, 1, 0, 1, 2, 0, 1, 3, 0, 1, 3, 4};
  tbForest forest = {DOFS, ADR, NNZ, COL, NULL};
  tbReal M[13] = {9, 1, 8, .5, .4, 7, .3, .2, 6, .1, .6, .7, 5}, inverse[DOFS];
  tbReal X[DOFS * STRIDE], Y[DOFS * STRIDE];
  tbRng rng = {3};
  for (int i = 0; i < DOFS * STRIDE; i++) X[i] = tb_rng_normal(&rng);
  memcpy(Y, X, sizeof X);
  tb_ltdl_factor(forest, M, inverse, 0);
  tb_ltdl_solve_multi(forest, M, inverse, Y, STRIDE, COUNT);
  for (int k = 0; k < COUNT; k++) {
    tbReal x[DOFS];
    for (int i = 0; i < DOFS; i++) x[i] = X[i * STRIDE + k];
    tb_ltdl_solve(forest, M, inverse, x);
    for (int i = 0; i < DOFS; i++) assert_near(Y[i * STRIDE + k], x[i], 1e-13);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lu), cmocka_unit_test(test_cholesky),
                                     cmocka_unit_test(test_ltdl)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
