// Projections: their defining properties on random cones, and derivatives by finite differences.
#include <string.h>

#include "common/test.h"
#include "problem/cone.h"
#include "problem/cone_derivative.h"

enum { MAX = TB_MAX_BLOCK_DIM };

static void random_mu(tbRng* rng, int dim, bool round, tbReal* mu) {
  for (int i = 0; i < dim - 1; i++) {
    mu[i] = round && i ? mu[0] : pow(10, tb_rng_uniform(rng, -2, 1));
    if (!round && tb_rng_int(rng, 8) == 0) mu[i] = 0;
  }
}

static void random_vector(tbRng* rng, int dim, tbReal* x) {
  for (int i = 0; i < dim; i++) {
    x[i] = tb_rng_normal(rng);
    if (tb_rng_int(rng, 6) == 0) x[i] = 0;
  }
}

// A random member of the cone (or pyramid).
static void random_member(tbRng* rng, int dim, const tbReal* mu, bool pyramid, tbReal* y) {
  tbReal u[MAX], length = 0;
  y[0] = fabs(tb_rng_normal(rng)) * 3;
  for (int i = 1; i < dim; i++) {
    u[i] = tb_rng_uniform(rng, -1, 1);
    length = hypot(length, u[i]);
  }
  tbReal f = pyramid || length <= 1 ? 1 : 1 / length;
  for (int i = 1; i < dim; i++) y[i] = f * u[i] * mu[i - 1] * y[0];
}

static tbReal dot(int n, const tbReal* a, const tbReal* b) {
  tbReal sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// y = P(x) for a closed convex cone exactly if y in K, x - y orthogonal to y, and x - y makes an
// obtuse angle with every member.
static void check_projection(tbRng* rng, int dim, const tbReal* mu, bool pyramid, const tbReal* x,
                             const tbReal* y) {
  tbReal left[MAX], norm = 0, bound = 0;
  for (int i = 0; i < dim; i++) {
    left[i] = x[i] - y[i];
    norm = hypot(norm, x[i]);
  }
  for (int i = 1; i < dim; i++) {
    if (mu[i - 1] == 0) assert_near(y[i], 0, 1e-15);
    tbReal share = mu[i - 1] > 0 ? fabs(y[i]) / mu[i - 1] : 0;
    bound = pyramid ? fmax(bound, share) : hypot(bound, share);
  }
  assert_true(bound <= y[0] * (1 + 1e-12) + 1e-14);
  assert_true(fabs(dot(dim, left, y)) <= 1e-11 * norm * norm + 1e-300);
  for (int k = 0; k < 5; k++) {
    tbReal member[MAX];
    random_member(rng, dim, mu, pyramid, member);
    tbReal size = sqrt(dot(dim, member, member));
    assert_true(dot(dim, left, member) <= 1e-10 * norm * size + 1e-300);
  }
}

static void projections_are_optimal(void** state) {
  (void)state;
  tbRng rng = {1};
  for (int k = 0; k < 20000; k++) {
    int dim = 2 + tb_rng_int(&rng, 5);
    tbReal mu[MAX], x[MAX], y[MAX];
    random_mu(&rng, dim, k & 1, mu);
    random_vector(&rng, dim, x);
    tb_cone_project(dim, mu, x, y);
    check_projection(&rng, dim, mu, false, x, y);
    tb_pyramid_project(dim, mu, x, y);
    check_projection(&rng, dim, mu, true, x, y);
    // In place.
    tbReal z[MAX];
    memcpy(z, x, sizeof z);
    tb_pyramid_project(dim, mu, z, z);
    assert_near_array(z, y, dim, 0);
  }
}

// Members, and only they, are their own projections.
static void members_stay(void** state) {
  (void)state;
  tbRng rng = {4};
  int inside = 0;
  for (int k = 0; k < 20000; k++) {
    int dim = 2 + tb_rng_int(&rng, 5);
    tbReal mu[MAX], x[MAX], y[MAX];
    random_mu(&rng, dim, k & 1, mu);
    if (k % 3) {
      random_vector(&rng, dim, x);
    } else {
      random_member(&rng, dim, mu, false, x);
    }
    tb_cone_project(dim, mu, x, y);
    bool same = memcmp(x, y, sizeof(tbReal) * (size_t)dim) == 0;
    bool contains = tb_cone_contains(dim, mu, x);
    // The result of a projection may be its input, and must be for a member of the cone.
    assert_true(!contains || same);
    if (k % 3 == 0) {
      x[0] *= 1 + 1e-12;
      assert_true(tb_cone_contains(dim, mu, x));
    }
    inside += contains;
    x[0] = -1;
    assert_false(tb_cone_contains(dim, mu, x));
  }
  assert_true(inside > 5000 && inside < 15000);
}

// Moreau: x + P_K(-x) is the projection on K*, and lies there.
static void dual_projection(void** state) {
  (void)state;
  tbRng rng = {2};
  for (int k = 0; k < 5000; k++) {
    int dim = 2 + tb_rng_int(&rng, 5);
    tbReal mu[MAX], x[MAX], y[MAX], member[MAX];
    random_mu(&rng, dim, k & 1, mu);
    random_vector(&rng, dim, x);
    for (int i = 0; i < dim; i++) y[i] = -x[i];
    tb_cone_project(dim, mu, y, y);
    for (int i = 0; i < dim; i++) y[i] += x[i];
    assert_true(tb_cone_shift(dim, mu, y) <= y[0] + 1e-10);
    for (int j = 0; j < 5; j++) {
      random_member(&rng, dim, mu, false, member);
      assert_true(dot(dim, y, member) >= -1e-9 * (1 + dot(dim, member, member)));
    }
  }
}

// In a metric: no member is nearer (checked against many random ones near the answer).
static void metric_projection(void** state) {
  (void)state;
  tbRng rng = {3};
  for (int k = 0; k < 3000; k++) {
    int dim = 3 + tb_rng_int(&rng, 4);
    tbReal mu[MAX], x[MAX], y[MAX], metric[MAX];
    random_mu(&rng, dim, false, mu);
    random_vector(&rng, dim, x);
    for (int i = 0; i < dim; i++) metric[i] = pow(10, tb_rng_uniform(&rng, -3, 3));
    tb_cone_project_metric(dim, mu, metric, x, y);
    tbReal best = 0;
    for (int i = 0; i < dim; i++) best += metric[i] * (y[i] - x[i]) * (y[i] - x[i]);
    for (int j = 0; j < 20; j++) {
      tbReal other[MAX], distance = 0;
      random_member(&rng, dim, mu, false, other);
      tbReal blend = j < 10 ? 1e-3 : 1;
      for (int i = 0; i < dim; i++) {
        tbReal z = (1 - blend) * y[i] + blend * other[i];
        distance += metric[i] * (z - x[i]) * (z - x[i]);
      }
      assert_true(distance >= best * (1 - 1e-10));
    }
  }
}

static void derivative_matches_differences(void** state) {
  (void)state;
  tbRng rng = {4};
  int checked = 0;
  for (int k = 0; k < 4000; k++) {
    int dim = 2 + tb_rng_int(&rng, 5);
    tbReal mu[MAX], x[MAX], D[MAX * MAX], worst = 0;
    random_mu(&rng, dim, k & 1, mu);
    for (int i = 0; i < dim - 1; i++) mu[i] = fmin(mu[i], 3);
    for (int i = 0; i < dim; i++) x[i] = tb_rng_normal(&rng);
    // A kink within the difference's reach tells nothing: skip points close to one.
    tbReal y[MAX], minus[MAX];
    for (int i = 0; i < dim; i++) minus[i] = -x[i];
    tbReal inside = x[0], outside = -x[0] - tb_cone_shift(dim, mu, x);
    for (int i = 1; i < dim; i++) inside = mu[i - 1] > 0 ? inside - fabs(x[i]) / mu[i - 1] : inside;
    if (fabs(inside) < 1e-2 || fabs(outside) < 1e-2) continue;
    tb_cone_project(dim, mu, minus, y);
    tb_cone_project_derivative(dim, mu, x, D);
    for (int j = 0; j < dim; j++) {
      tbReal a[MAX], b[MAX], h = 1e-6;
      memcpy(a, x, sizeof a);
      memcpy(b, x, sizeof b);
      a[j] += h;
      b[j] -= h;
      tb_cone_project(dim, mu, a, a);
      tb_cone_project(dim, mu, b, b);
      for (int i = 0; i < dim; i++) {
        worst = fmax(worst, fabs((a[i] - b[i]) / (2 * h) - D[i * dim + j]));
      }
    }
    assert_true(worst < 2e-3);
    checked++;
  }
  assert_true(checked > 1000);
}

static void extremes(void** state) {
  (void)state;
  tbReal big[2] = {1e6, 1e6}, none[2] = {0, 0}, y[3];
  tbReal x[3] = {1, 5e5, -2};
  tb_cone_project(3, big, x, y);
  assert_near_array(y, x, 3, 1e-15);
  tb_cone_project(3, none, x, y);
  assert_near(y[0], 1, 1e-15);
  assert_near(y[1], 0, 1e-15);
  tbReal huge[3] = {-1e200, 1e200, 1e200}, tiny[3] = {0, 1e-200, 1e-200}, half[2] = {0.5, 0.5};
  tb_cone_project(3, half, huge, y);
  assert_near(y[0], 0, 1e-15);
  tb_cone_project(3, half, tiny, y);
  assert_near(y[0] / 1e-200, 0.5 * sqrt(2) / 1.25, 1e-12);
  assert_near(tb_cone_shift(3, half, huge) / 1e200, sqrt(0.5), 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(projections_are_optimal),
      cmocka_unit_test(members_stay),
      cmocka_unit_test(dual_projection),
      cmocka_unit_test(metric_projection),
      cmocka_unit_test(derivative_matches_differences),
      cmocka_unit_test(extremes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
