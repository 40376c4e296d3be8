// RaiSim's law on one contact of any number of rows: least energy on the cone cut by sigma_N = 0;
// and Newton's method on several.
#include "base/rng.h"
#include "common/contact_problems.h"
#include "solvers/active_set/state.h"
#include "solvers/local/local.h"
#include "solvers/local/raisim.h"

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
    tbSolveInfo info = tb_test_solve(&c.p, TB_LAW_RAISIM, "pgs", 1e-11, 1000, a);
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
    tbSolveInfo info = tb_test_solve(&c.p, TB_LAW_RAISIM, "pgs", 1e-9, 1000, x);
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

// The equation of one contact vanishes where the law holds, and C and D are its derivatives.
static void equation(void** state) {
  (void)state;
  tbRng rng = {11};
  int compared = 0, steep = 0;
  for (int k = 0; k < 600; k++) {
    Contact c;
    int d = 2 + k % 5;
    make(&c, d, &rng);
    tbReal lambda[MAX] = {0}, sigma[MAX], answer[MAX], F[MAX], slip = 0, own = 0, aa = 0;
    tbReal C[MAX * MAX], D[MAX * MAX];
    tbRaisimCone cone = {&c.block, c.A, &own};
    tb_local_raisim(&c.block, c.A, c.g, lambda, &slip);
    tb_problem_velocity(&c.p, lambda, sigma, NULL);
    tb_raisim_cone(&cone, lambda, sigma, answer, F, NULL, NULL);
    for (int r = 0; r < d; r++) assert_true(fabs(F[r]) < 1e-7);

    // Somewhere else.
    for (int r = 0; r < d; r++) {
      lambda[r] += 0.3 * tb_rng_normal(&rng);
      sigma[r] += 0.3 * tb_rng_normal(&rng);
      if (r > 0) aa += pow(c.block.mu[r - 1] * c.A[r] / c.A[0], 2);
    }
    tb_raisim_cone(&cone, lambda, sigma, answer, F, C, D);
    for (int column = 0; column < 2 * d; column++) {
      tbReal *x = column < d ? lambda + column : sigma + column - d, kept = *x, h = 1e-6;
      tbReal up[MAX], down[MAX], *slope = column < d ? C + column : D + column - d;
      *x = kept + h;
      tb_raisim_cone(&cone, lambda, sigma, answer, up, NULL, NULL);
      *x = kept - h;
      tb_raisim_cone(&cone, lambda, sigma, answer, down, NULL, NULL);
      *x = kept;
      for (int r = 0; r < d; r++) {
        // Where the mode changes in between there is no derivative.
        tbReal above = (up[r] - F[r]) / h, below = (F[r] - down[r]) / h;
        if (fabs(above - below) > 1e-3 * (1 + fabs(above))) continue;
        assert_near(slope[r * d], 0.5 * (above + below), 2e-3 * (1 + fabs(above)));
        compared++;
        steep += aa > 1 && answer[0] > 0;
      }
    }
  }
  assert_true(compared > 15000 && steep > 2000);
}

// Two contacts of a body, built backwards from the exact law's answer: one slides, the other would
// open without its own friction, |a| > 1.
typedef struct {
  tbReal G[36], g[6], exact[6];
} Jam;

static bool make_jam(Jam* jam, tbRng* rng) {
  enum { ROWS = 6, DOFS = 6 };
  tbReal B[ROWS * DOFS], angle = tb_rng_uniform(rng, 0, 6), sigma[ROWS] = {0};
  for (int k = 0; k < ROWS * DOFS; k++) B[k] = tb_rng_normal(rng);
  for (int k = 0; k < ROWS * ROWS; k++) {
    jam->G[k] = 0;
    for (int i = 0; i < DOFS; i++) jam->G[k] += B[k / ROWS * DOFS + i] * B[k % ROWS * DOFS + i];
  }
  tbReal a[2] = {jam->G[1] / jam->G[0], jam->G[2] / jam->G[0]}, length = hypot(a[0], a[1]);
  tbReal exact[ROWS] = {1, -0.9 * a[0] / length, -0.9 * a[1] / length, 1, cos(angle), sin(angle)};
  memcpy(jam->exact, exact, sizeof exact);
  for (int r = 4; r < ROWS; r++) sigma[r] = -0.2 * exact[r];
  for (int r = 0; r < ROWS; r++) {
    jam->g[r] = sigma[r];
    for (int c = 0; c < ROWS; c++) jam->g[r] -= jam->G[r * ROWS + c] * exact[c];
  }
  return length > 1.3;
}

// The sweeps' step lets go of such a contact. Newton holds it, from the exact law's answer.
static void jammed(void** state) {
  (void)state;
  tbRng rng = {3};
  int solved = 0, swept = 0, problems = 0;
  while (problems < 200) {
    Jam jam;
    tbBlock block[2];
    const tbReal mu[] = {1, 1};
    if (!make_jam(&jam, &rng)) continue;
    problems++;
    tb_blocks_contacts(2, mu, block);
    tbProblem p = {.n = 6, .nblock = 2, .block = block, .g = jam.g};
    p.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = jam.G, .stride = 6};
    tbSolveSettings settings = tbDefaultSolveSettings();
    settings.law = TB_LAW_RAISIM;
    settings.warm_start = 1;
    static const char* const names[] = {"auto", "pgs"};
    for (int s = 0; s < 2; s++) {
      tbReal lambda[6];
      tbSolveInfo info;
      tbError error;
      memcpy(lambda, jam.exact, sizeof lambda);
      settings.solver = names[s];
      assert_int_equal(tb_solve(&p, &settings, lambda, NULL, &info, &error), TB_OK);
      *(s ? &swept : &solved) += info.status == TB_SOLVE_CONVERGED;
    }
  }
  print_message("%d of %d solved, %d by sweeps\n", solved, problems, swept);
  assert_true(solved > 0.9 * problems && swept < 0.85 * problems);
}

// A contact that slides under raisim, x = x_N u and y = -t (a + u) in the coordinates in which its
// cone is round: the modes give u, and the weights are correct to first order for a nearby u.
static void check_lean(tbRng* rng, double turn) {
  tbBlock block = {.type = TB_BLOCK_CONE, .dim = 3, .mu = {0.7, 0.4}};
  tbReal g[3] = {0}, rho[3] = {2, 3, 3}, a[3] = {0}, lambda[3], sigma[3], c0[3], W[9];
  tbProblem p = {.n = 3, .nblock = 1, .block = &block, .g = g};
  tbActive active = {.p = &p, .rho = rho, .law = TB_LAW_RAISIM, .coupling = a, .tolerance = 1e-6};
  tbSlide slide;
  int mode[3] = {0};
  double angle = tb_rng_uniform(rng, 0, 6.28), normal = tb_rng_uniform(rng, 1, 2);
  double slip = tb_rng_uniform(rng, 0.1, 1.1);
  for (int j = 1; j < 3; j++) a[j] = tb_rng_uniform(rng, -0.5, 0.5);
  tbActiveState s = {.a = &active, .p = &p, .lambda = lambda, .sigma = sigma, .center = lambda};
  s.mode = mode;
  s.slide = &slide;
  s.proximal_weight = TB_ACTIVE_LEAST_WEIGHT;
  for (int k = 0; k < 2; k++) {
    const double u[3] = {0, cos(angle + k * turn), sin(angle + k * turn)};
    tbReal impulse[3] = {normal}, velocity[3] = {0};
    for (int j = 1; j < 3; j++) {
      impulse[j] = block.mu[j - 1] * normal * u[j];
      velocity[j] = -slip * (a[j] + u[j]) / block.mu[j - 1];
    }
    if (k == 0) {
      memcpy(lambda, impulse, sizeof lambda);
      memcpy(sigma, velocity, sizeof sigma);
      tb_active_modes(&s);
      assert_int_equal(mode[0], TB_MODE_SLIDE);
      assert_true(s.fixed_point_residual < 1e-12);
      for (int j = 1; j < 3; j++) assert_near(slide.u[j], u[j], 1e-12);
      tb_active_weights(&s, 0, c0, W);
      continue;
    }
    for (int r = 0; r < 3; r++) {
      double linear = c0[r];
      for (int c = 0; c < 3; c++) linear -= W[3 * r + c] * velocity[c];
      assert_near(linear, impulse[r], 1e-5 * normal + 20 * turn * turn);
    }
  }
}

static void sliding_under_raisim_leans(void** state) {
  (void)state;
  tbRng rng = {8};
  for (int trial = 0; trial < 200; trial++) check_lean(&rng, trial % 2 ? 1e-3 : -1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sliding_under_raisim_leans), cmocka_unit_test(as_the_ellipse),
      cmocka_unit_test(least_energy), cmocka_unit_test(equation), cmocka_unit_test(jammed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
