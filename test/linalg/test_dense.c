// Blocked factorisations against their definition, over sizes around the panel width.
#include "common/test.h"
#include "linalg/dense.h"
#include "linalg/gemm.h"

static const int SIZES[] = {1, 2, 5, 23, 24, 25, 31, 48, 63, 100, 131};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

static double* random_matrix(int n, bool spd, tbRng* rng) {
  double *A = calloc((size_t)(n * n), sizeof *A), *S = calloc((size_t)(n * n), sizeof *S);
  for (int i = 0; i < n * n; i++) A[i] = tb_rng_normal(rng);
  if (!spd) {
    free(S);
    return A;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      for (int k = 0; k < n; k++) S[i * n + j] += A[i * n + k] * A[j * n + k];
    }
    S[i * n + i] += 0.1;
  }
  free(A);
  return S;
}

static void products(void** state) {
  (void)state;
  tbRng rng = {1};
  for (int t = 0; t < 60; t++) {
    int m = 1 + tb_rng_int(&rng, 40), n = 1 + tb_rng_int(&rng, 40), k = 1 + tb_rng_int(&rng, 40);
    int lda = k + 3, ldb = n + 1, ldc = n + 2;
    double A[40 * 43], B[40 * 41], C[40 * 42], D[40 * 42];
    for (int i = 0; i < m * lda; i++) A[i] = tb_rng_normal(&rng);
    for (int i = 0; i < k * ldb; i++) B[i] = tb_rng_normal(&rng);
    for (int i = 0; i < m * ldc; i++) C[i] = D[i] = tb_rng_normal(&rng);
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        for (int p = 0; p < k; p++) D[i * ldc + j] -= A[i * lda + p] * B[p * ldb + j];
      }
    }
    tb_gemm_subtract(m, n, k, A, lda, B, ldb, C, ldc);
    assert_near_array(C, D, m * ldc, 1e-13);
  }
}

static void cholesky(void** state) {
  (void)state;
  tbRng rng = {2};
  for (int s = 0; s < SIZE_COUNT; s++) {
    int n = SIZES[s];
    double *A = random_matrix(n, true, &rng), *L = malloc((size_t)(n * n) * sizeof *L);
    double* scratch = malloc((size_t)tb_cholesky_scratch(n) * sizeof *scratch);
    double b[200], x[200];
    memcpy(L, A, (size_t)(n * n) * sizeof *L);
    assert_true(tb_cholesky(n, L, n, scratch));
    for (int i = 0; i < n; i++) b[i] = x[i] = sin(i);
    tb_cholesky_solve(n, L, n, x);
    double r[200];
    for (int i = 0; i < n; i++) {
      r[i] = 0;
      for (int j = 0; j < n; j++) r[i] += A[i * n + j] * x[j];
      for (int j = 0; j <= i; j++) {
        double sum = 0;
        for (int k = 0; k <= j; k++) sum += L[i * n + k] * L[j * n + k];
        assert_near(sum / n, A[i * n + j] / n, 1e-12);
      }
    }
    assert_near_array(r, b, n, 1e-8);
    // Not positive definite: refused.
    A[(n - 1) * (n + 1)] = -1;
    assert_false(tb_cholesky(n, A, n, scratch));
    free(A);
    free(L);
    free(scratch);
  }
}

static void lu(void** state) {
  (void)state;
  tbRng rng = {3};
  for (int s = 0; s < SIZE_COUNT; s++) {
    int n = SIZES[s], pivot[200];
    double *A = random_matrix(n, false, &rng), *M = malloc((size_t)(n * n) * sizeof *M);
    double b[200], x[200], r[200];
    A[0] = 0;  // needs a row exchange at once
    if (n == 1) A[0] = 2;
    memcpy(M, A, (size_t)(n * n) * sizeof *M);
    assert_true(tb_lu(n, M, n, pivot));
    for (int i = 0; i < n; i++) b[i] = x[i] = cos(i);
    tb_lu_solve(n, M, n, pivot, x);
    for (int i = 0; i < n; i++) {
      r[i] = 0;
      for (int j = 0; j < n; j++) r[i] += A[i * n + j] * x[j];
    }
    assert_near_array(r, b, n, 1e-9);
    // A zero column has no pivot.
    for (int i = 0; i < n; i++) A[i * n + n / 2] = 0;
    assert_false(tb_lu(n, A, n, pivot));
    free(A);
    free(M);
  }
}

// A = B B^T of rank r, with rows of very different size: the rank is found, the product returns.
static void pivoted(void** state) {
  (void)state;
  enum { N = 40, RANK = 13 };
  tbRng rng = {4};
  double F[N * RANK], A[N * N] = {0}, B[N * N] = {0}, work[2 * N];
  int perm[N];
  for (int i = 0; i < N; i++) {
    double size = pow(10, tb_rng_uniform(&rng, -4, 4));
    for (int k = 0; k < RANK; k++) F[i * RANK + k] = size * tb_rng_normal(&rng);
  }
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      for (int k = 0; k < RANK; k++) A[i * N + j] += F[i * RANK + k] * F[j * RANK + k];
    }
  }
  assert_int_equal(tb_cholesky_pivoted(N, A, N, 1e-10, B, N, work, perm), RANK);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      double sum = 0, scale = sqrt(A[i * (N + 1)] * A[j * (N + 1)]);
      for (int k = 0; k < RANK; k++) sum += B[i * N + k] * B[j * N + k];
      assert_true(fabs(sum - A[i * N + j]) <= 1e-9 * scale);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(cholesky),
                                     cmocka_unit_test(lu), cmocka_unit_test(pivoted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
