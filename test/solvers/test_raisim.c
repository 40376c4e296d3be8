// RaiSim's law on one contact of any number of rows: least energy on the cone cut by sigma_N = 0.
#include "base/rng.h"
#include "common/contact_problems.h"
#include "solvers/local.h"

enum { MAX = TB_MAX_BLOCK_DIM };

typedef struct {
  tbBlock block;
  tbReal A[MAX * MAX], g[MAX];
  tbProblem p;
} Contact;

// A random contact that closes: A = W W^T + a ridge, a coefficient per axis.
static void make(Contact* c, int dim, tbRng* rng) {
  memset(c, 0, sizeof *c);
  c->block = (tbBlock){.type = TB_BLOCK_CONE, .dim = dim};
  tbReal W[MAX * MAX];
  for (int k = 0; k < dim * dim; k++) W[k] = tb_rng_normal(rng);
  for (int i = 0; i < dim; i++) {
    if (i > 0) c->block.mu[i - 1] = 0.05 + tb_rng_uniform(rng, 0, 1);
    c->g[i] = tb_rng_normal(rng);
    for (int j = 0; j < dim; j++) {
      for (int k = 0; k < dim; k++) c->A[i * dim + j] += W[i * dim + k] * W[j * dim + k];
    }
    c->A[i * (dim + 1)] += 0.1;
  }
  c->g[0] = -0.1 - fabs(c->g[0]);
  c->p = (tbProblem){.n = dim, .nblock = 1, .block = &c->block, .g = c->g};
  c->p.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = c->A, .stride = dim};
}

static tbReal energy(const Contact* c, const tbReal* x) {
  int d = c->block.dim;
  tbReal e = 0;
  for (int i = 0; i < d; i++) {
    e += c->g[i] * x[i];
    for (int j = 0; j < d; j++) e += 0.5 * x[i] * c->A[i * d + j] * x[j];
  }
  return e;
}

static tbReal residual(const Contact* c, const tbReal* x) {
  tbReal sigma[MAX];
  tb_problem_velocity(&c->p, x, sigma, NULL);
  return tb_residual(&c->p, TB_LAW_RAISIM, x, sigma).relative;
}

// With three rows the bisection over the angle of the ellipse is another way to the same point.
static void as_the_ellipse(void** state) {
  (void)state;
  tbRng rng = {7};
  int sliding = 0;
  for (int k = 0; k < 500; k++) {
    Contact c;
    make(&c, 3, &rng);
    tbReal a[3] = {0}, b[3] = {0}, slip = 0;
    tbSolveInfo info = tb_test_solve(&c.p, TB_LAW_RAISIM, "bisection", 1e-11, 1000, a);
    tb_local_raisim(&c.block, c.A, c.g, b, &slip);
    assert_true(residual(&c, b) < 1e-9);
    if (info.status != TB_SOLVE_CONVERGED) continue;
    tbReal size = fabs(a[0]) + fabs(a[1]) + fabs(a[2]);
    assert_near_array(a, b, 3, 1e-6 * size);
    sliding += slip > 0;
  }
  assert_true(sliding > 50);
}

// Four and six rows: a point of the law, and no point of the set has less energy.
static void least_energy(void** state) {
  (void)state;
  tbRng rng = {7};
  for (int k = 0; k < 300; k++) {
    static const int dims[] = {2, 4, 5, 6};
    Contact c;
    int d = dims[k % 4];
    make(&c, d, &rng);
    tbReal x[MAX] = {0}, slip = 0;
    tbSolveInfo info = tb_test_solve(&c.p, TB_LAW_RAISIM, "bisection", 1e-9, 1000, x);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
    tbReal least = energy(&c, x);
    // The exact law's answer lies in the set too.
    tbReal exact[MAX] = {0};
    tb_local_solve(&c.block, TB_LAW_NCP, c.A, c.g, exact, &slip);
    assert_true(least <= energy(&c, exact) + 1e-9 * fabs(least));
    for (int trial = 0; trial < 200; trial++) {
      // A direction inside the cone, its length from sigma_N = 0.
      tbReal y[MAX] = {1}, norm = 0, reach = 0;
      for (int i = 1; i < d; i++) {
        y[i] = tb_rng_normal(&rng);
        norm += y[i] * y[i];
      }
      tbReal radius = trial % 2 ? 1 : tb_rng_uniform(&rng, 0, 1);
      for (int i = 1; i < d; i++) y[i] *= radius * c.block.mu[i - 1] / sqrt(norm);
      for (int i = 0; i < d; i++) reach += c.A[i] * y[i];
      if (!(reach > 0)) continue;
      for (int i = 0; i < d; i++) y[i] *= -c.g[0] / reach;
      assert_true(energy(&c, y) >= least - 1e-9 * fabs(least));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_ellipse),
                                     cmocka_unit_test(least_energy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
