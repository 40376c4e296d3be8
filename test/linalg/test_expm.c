// The matrix exponential against closed forms, series in higher precision and its own laws.
#include "common/test.h"
#include "linalg/expm.h"

enum { MAX_N = 24 };
static const int ORDERS[] = {1, 2, 3, 5, 7, 13};
enum { NORDER = sizeof ORDERS / sizeof ORDERS[0] };

static double work[MAX_N * (MAX_N * 8 + 2 * MAX_N + 2)];
static int iwork[MAX_N];

// E = exp(A): the action on all columns of the identity.
static bool expm_of(int n, const double* A, const tbExpmSettings* settings, double* E,
                    tbExpmInfo* info) {
  double I[MAX_N * MAX_N] = {0};
  for (int i = 0; i < n; i++) I[i * n + i] = 1;
  return tb_expm_action(n, A, n, I, settings, E, work, iwork, info);
}

static void random_matrix(tbRng* rng, int n, double norm, double* A) {
  double largest = 0;
  for (int i = 0; i < n * n; i++) A[i] = tb_rng_uniform(rng, -1, 1);
  for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(A[i * n + j]);
    largest = fmax(largest, sum);
  }
  for (int i = 0; i < n * n; i++) A[i] *= norm / largest;
}

// Taylor series of A / 2^s in long double, squared s times: an independent method.
static void reference(int n, const double* A, double* E) {
  static long double X[MAX_N * MAX_N], P[MAX_N * MAX_N], S[MAX_N * MAX_N];
  long double norm = 0;
  for (int i = 0; i < n * n; i++) norm = fmaxl(norm, fabsl(A[i]));
  int s = 0;
  while (norm * n > 0.25L) norm /= 2, s++;
  for (int i = 0; i < n * n; i++) P[i] = X[i] = ldexpl(A[i], -s), S[i] = 0;
  for (int i = 0; i < n; i++) S[i * n + i] = 1;
  static long double T[MAX_N * MAX_N];
  for (int k = 1; k < 30; k++) {
    for (int i = 0; i < n * n; i++) S[i] += P[i];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        long double sum = 0;
        for (int l = 0; l < n; l++) sum += P[i * n + l] * X[l * n + j];
        T[i * n + j] = sum / (k + 1);
      }
    }
    memcpy(P, T, sizeof T);
  }
  for (int q = 0; q < s; q++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        long double sum = 0;
        for (int l = 0; l < n; l++) sum += S[i * n + l] * S[l * n + j];
        T[i * n + j] = sum;
      }
    }
    memcpy(S, T, sizeof T);
  }
  for (int i = 0; i < n * n; i++) E[i] = (double)S[i];
}

static void agrees_with_taylor_series(void** state) {
  (void)state;
  tbRng rng = {1};
  double A[MAX_N * MAX_N], E[MAX_N * MAX_N], R[MAX_N * MAX_N];
  for (int t = 0; t < 60; t++) {
    int n = 1 + tb_rng_int(&rng, 12);
    random_matrix(&rng, n, pow(10, tb_rng_uniform(&rng, -8, 1)), A);
    reference(n, A, R);
    assert_true(expm_of(n, A, NULL, E, NULL));
    assert_near_array(E, R, n * n, 1e-13);
  }
}

// Each order and each accuracy asked for is met, with the squarings chosen for it.
static void every_order_meets_the_accuracy(void** state) {
  (void)state;
  tbRng rng = {2};
  double A[64], E[64], R[64];
  for (int o = -1; o < NORDER; o++) {
    for (int digits = 2; digits <= 14; digits += 3) {
      for (int t = 0; t < 4; t++) {
        random_matrix(&rng, 8, pow(10, tb_rng_uniform(&rng, -3, 1)), A);
        tbExpmSettings s = tb_expm_defaults();
        s.order = o < 0 ? 0 : ORDERS[o];
        s.accuracy = pow(10, -digits);
        reference(8, A, R);
        tbExpmInfo info;
        assert_true(expm_of(8, A, &s, E, &info));
        if (o >= 0) assert_int_equal(info.order, ORDERS[o]);
        // Backward errors are amplified by the condition of the exponential, about |A| here; many
        // squarings of order 1 also round.
        assert_near_array(E, R, 64, 50 * s.accuracy + ldexp(1e-15, info.squarings));
      }
    }
  }
}

// Without squarings the error falls as |A|^(2m+1), the documented order.
static void orders_converge_at_their_rate(void** state) {
  (void)state;
  tbRng rng = {3};
  double A[36], B[36], E[36], R[36], error[2];
  for (int o = 0; o < 4; o++) {
    int m = ORDERS[o];
    double big = m == 5 ? 2.5 : m == 3 ? 1 : 0.3;
    random_matrix(&rng, 6, big, A);
    for (int half = 0; half < 2; half++) {
      for (int i = 0; i < 36; i++) B[i] = half ? A[i] / 2 : A[i];
      reference(6, B, R);
      tbExpmSettings s = {m, 0, 0, false};
      assert_true(expm_of(6, B, &s, E, NULL));
      error[half] = 0;
      for (int i = 0; i < 36; i++) error[half] = fmax(error[half], fabs(E[i] - R[i]));
    }
    double rate = log2(error[0] / error[1]);
    assert_true(rate > 2 * m + 0.5 && rate < 2 * m + 1.5);
  }
}

// exp of [-d w; -w -d] is a damped rotation: norms from 1e-8 to 1e8.
static void damped_rotation_at_any_norm(void** state) {
  (void)state;
  for (int e = -8; e <= 8; e++) {
    double w = pow(10, e), d = fmin(0.3 * w, 2), A[4] = {-d, w, -w, -d}, E[4];
    double exact[4] = {exp(-d) * cos(w), exp(-d) * sin(w), -exp(-d) * sin(w), exp(-d) * cos(w)};
    assert_true(expm_of(2, A, NULL, E, NULL));
    // The angle itself is known to w eps.
    assert_near_array(E, exact, 4, 1e-14 + 4e-16 * w);
  }
}

// A stiff overdamped oscillator in its natural, badly scaled units: closed form by its real roots.
static void stiff_oscillator_at_any_norm(void** state) {
  (void)state;
  for (int e = 0; e <= 8; e++) {
    double k = pow(10, e), b = 4 * sqrt(k), root = sqrt(b * b - 4 * k), E[4];
    double slow = -2 * k / (b + root), fast = -(b + root) / 2, A[4] = {0, 1, -k, -b};
    double u = (exp(slow) - exp(fast)) / (slow - fast),
           du = (slow * exp(slow) - fast * exp(fast)) / (slow - fast);
    double exact[4] = {du + b * u, u, -k * u, du};
    tbExpmInfo info;
    assert_true(expm_of(2, A, NULL, E, &info));
    assert_true(info.norm_balanced <= 6 * sqrt(k) + 4);
    for (int i = 0; i < 4; i++) {
      double scale = fmax(fabs(exact[i]), i == 1 ? 1 / sqrt(k) : i == 2 ? sqrt(k) : 1);
      assert_near(E[i] / scale, exact[i] / scale, 1e-12);
    }
  }
}

static void nilpotent_and_zero(void** state) {
  (void)state;
  double A[16] = {0}, E[16], exact[16] = {1, 2, 2, 0, 0, 1, 2, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  assert_true(expm_of(4, A, NULL, E, NULL));
  for (int i = 0; i < 16; i++) assert_true(E[i] == (i % 5 == 0));
  A[1] = A[6] = 2;
  assert_true(expm_of(4, A, NULL, E, NULL));
  assert_near_array(E, exact, 16, 1e-15);
}

// exp(A) exp(-A) = 1 and det exp(A) = exp(trace A), without any reference.
static void inverse_and_trace(void** state) {
  (void)state;
  tbRng rng = {4};
  for (int t = 0; t < 50; t++) {
    double A[25], B[25], E[25], F[25], P[25] = {0}, one[25] = {0};
    random_matrix(&rng, 5, pow(10, tb_rng_uniform(&rng, -6, 0.7)), A);
    for (int i = 0; i < 25; i++) B[i] = -A[i];
    assert_true(expm_of(5, A, NULL, E, NULL));
    assert_true(expm_of(5, B, NULL, F, NULL));
    for (int i = 0; i < 25; i++) {
      for (int k = 0; k < 5; k++) P[i] += E[i / 5 * 5 + k] * F[k * 5 + i % 5];
      one[i] = i % 6 == 0;
    }
    assert_near_array(P, one, 25, 1e-11);
  }
}

// The action equals the product with the exponential, for any number of squarings.
static void action_equals_product(void** state) {
  (void)state;
  tbRng rng = {5};
  for (int t = 0; t < 60; t++) {
    int n = 2 + tb_rng_int(&rng, MAX_N - 2), columns = 1 + tb_rng_int(&rng, 2);
    double A[MAX_N * MAX_N], E[MAX_N * MAX_N], V[MAX_N * 2], Y[MAX_N * 2], P[MAX_N * 2];
    random_matrix(&rng, n, pow(10, tb_rng_uniform(&rng, -3, 2)), A);
    for (int i = 0; i < n; i++) A[i * n + i] -= 2;
    for (int i = 0; i < n * columns; i++) V[i] = tb_rng_uniform(&rng, -1, 1);
    tbExpmSettings s = tb_expm_defaults();
    if (t % 3 == 0) s.order = ORDERS[t / 3 % NORDER], s.squarings = t % 4;
    assert_true(expm_of(n, A, &s, E, NULL));
    assert_true(tb_expm_action(n, A, columns, V, &s, Y, work, iwork, NULL));
    for (int i = 0; i < n * columns; i++) {
      P[i] = 0;
      for (int k = 0; k < n; k++) P[i] += E[i / columns * n + k] * V[k * columns + i % columns];
    }
    assert_near_array(Y, P, n * columns, 1e-9);
  }
}

static void bad_input_is_refused(void** state) {
  (void)state;
  double A[4] = {0, 1, 1, 0}, E[4];
  tbExpmSettings s = tb_expm_defaults();
  s.order = 4;
  assert_false(expm_of(2, A, &s, E, NULL));
  A[1] = NAN;
  assert_false(expm_of(2, A, NULL, E, NULL));
  A[1] = INFINITY;
  assert_false(expm_of(2, A, NULL, E, NULL));
  double growth[1] = {800};
  assert_false(expm_of(1, growth, NULL, E, NULL));
  double decay[1] = {-1e300};
  assert_true(expm_of(1, decay, NULL, E, NULL));
  assert_near(E[0], 0, 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_taylor_series),
      cmocka_unit_test(every_order_meets_the_accuracy),
      cmocka_unit_test(orders_converge_at_their_rate),
      cmocka_unit_test(damped_rotation_at_any_norm),
      cmocka_unit_test(stiff_oscillator_at_any_norm),
      cmocka_unit_test(nilpotent_and_zero),
      cmocka_unit_test(inverse_and_trace),
      cmocka_unit_test(action_equals_product),
      cmocka_unit_test(bad_input_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
