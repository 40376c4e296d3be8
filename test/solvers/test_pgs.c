// The first contact of solver and problem: one cube's contact in its three states; one block under
// the convex law against plain descent; sweeps and staggered projections on badly conditioned
// cubes.
#include "base/rng.h"
#include "common/contact_problems.h"
#include "common/test.h"
#include "problem/cone.h"
#include "solvers/local/local.h"
#include "tribo/tribo.h"

// One contact of unit mass: G = 1 on the diagonal. Take-off, stiction and sliding by hand.
static void one_contact(void** state) {
  (void)state;
  tbReal G[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu = 0.5;
  tbBlock block;
  tb_blocks_contacts(1, &mu, &block);
  tbReal g[3][3] = {{0.1, 1, 2}, {-1, 0.3, -0.2}, {-1, 3, 4}};
  tbReal expected[3][3] = {{0, 0, 0}, {1, -0.3, 0.2}, {1, -0.3, -0.4}};
  for (int k = 0; k < 3; k++) {
    tbProblem p = {.n = 3, .nblock = 1, .block = &block, .g = g[k]};
    p.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = G, .stride = 3};
    tbSolveSettings settings = tbDefaultSolveSettings();
    settings.solver = "pgs";
    settings.tol = 1e-12;
    tbReal lambda[3] = {0};
    tbSolveInfo info;
    tbError error;
    assert_int_equal(tb_solve(&p, &settings, lambda, NULL, &info, &error), TB_OK);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
    assert_near_array(lambda, expected[k], 3, 1e-12);
  }
}

// ---- one block under the convex law ------------------------------------------------------------

// A random block of `d` rows whose axes differ by up to six orders of magnitude.
static void random_block(tbRng* rng, int d, tbBlock* block, tbReal* A, tbReal* b) {
  tbReal F[36];
  *block = (tbBlock){.type = TB_BLOCK_CONE, .dim = d};
  for (int i = 0; i + 1 < d; i++) {
    block->mu[i] = pow(10, 1.5 * tb_rng_uniform(rng, -1, 1) - 1);
    if (tb_rng_uniform(rng, -1, 1) > 0.9) block->mu[i] = 0;
  }
  for (int i = 0; i < d * d; i++) F[i] = tb_rng_uniform(rng, -1, 1);
  for (int i = 0; i < d; i++) {
    b[i] = tb_rng_uniform(rng, -1, 1) - (i == 0 ? 0.3 : 0);
    for (int j = 0; j < d; j++) {
      A[i * d + j] = i == j ? 1e-6 : 0;
      for (int k = 0; k < d; k++) A[i * d + j] += F[i * d + k] * F[j * d + k];
    }
  }
}

static tbReal energy(int d, const tbReal* A, const tbReal* b, const tbReal* x) {
  tbReal value = 0;
  for (int i = 0; i < d; i++) {
    value += b[i] * x[i];
    for (int j = 0; j < d; j++) value += 0.5 * A[i * d + j] * x[i] * x[j];
  }
  return value;
}

// How far a projected gradient step of unit length moves x: zero at the minimum only.
static tbReal optimality(const tbBlock* block, const tbReal* A, const tbReal* b, const tbReal* x) {
  int d = block->dim;
  tbReal y[6] = {0}, worst = 0;
  for (int i = 0; i < d; i++) {
    y[i] = x[i] - b[i];
    for (int j = 0; j < d; j++) y[i] -= A[i * d + j] * x[j];
  }
  tb_cone_project(d, block->mu, y, y);
  for (int i = 0; i < d; i++) worst = fmax(worst, fabs(y[i] - x[i]));
  return worst;
}

static void block_minimum(void** state) {
  (void)state;
  tbRng rng = {5};
  static const int dims[3] = {3, 4, 6};
  int exact = 0, count = 3000;
  for (int k = 0; k < count; k++) {
    tbBlock block;
    tbReal A[36], b[6], x[6] = {0}, size = 1;
    int d = dims[k % 3];
    random_block(&rng, d, &block, A, b);
    tbReal before = energy(d, A, b, x);
    // Every update descends and stays in the cone; a few of them reach the minimum.
    for (int round = 0; round < 3; round++) {
      tb_local_ccp(&block, A, b, x);
      tbReal after = energy(d, A, b, x), inside[6];
      assert_true(after <= before + 1e-12 * (fabs(before) + size * size));
      tb_cone_project(d, block.mu, x, inside);
      for (int i = 0; i < d; i++) {
        assert_true(isfinite(x[i]));
        size = fmax(size, fabs(x[i]));
      }
      assert_near_array(inside, x, d, 1e-12 * size);
      before = after;
    }
    exact += optimality(&block, A, b, x) <= 1e-9 * size;
  }
  // 95 to 96 in a hundred, of whatever sample; gradient steps alone reach it on a quarter of them.
  assert_true(exact >= count * 90 / 100);
}

// Velocities next to the border of the dual cone: impulses are as small as their distance from it,
// and so is the energy of the minimum next to the terms it is a sum of. Two updates find all but
// one in a thousand of them: the second where the first was content with gradient steps.
static void small_impulses(void** state) {
  (void)state;
  tbRng rng = {6};
  static const int dims[3] = {3, 4, 6};
  int exact = 0, count = 3000;
  for (int k = 0; k < count; k++) {
    tbBlock block;
    tbReal A[36], b[6], x[6] = {0}, tail = 0, size = 0;
    int d = dims[k % 3];
    random_block(&rng, d, &block, A, b);
    for (int i = 1; i < d; i++) tail += block.mu[i - 1] * b[i] * block.mu[i - 1] * b[i];
    b[0] = sqrt(tail) * (1 - pow(10, tb_rng_uniform(&rng, -10, -2)));
    for (int round = 0; round < 2; round++) tb_local_ccp(&block, A, b, x);
    for (int i = 0; i < d; i++) size = fmax(size, fabs(x[i]));
    exact += optimality(&block, A, b, x) <= 1e-4 * size + 1e-15;
  }
  assert_true(exact >= count * 99 / 100);
}

// ---- badly conditioned cubes -------------------------------------------------------------------

// The contact problem of a cube 10^6 times as heavy as the one below it, pulled sideways.
static tbProblem* heavy_on_light(void) {
  tbError error;
  tbModel* m = tb_load(TB_SCENES_DIR "/cm_two_cubes.xml", NULL, &error);
  assert_non_null(m);
  tbReal scale = 1e3 / m->body_mass[2];
  m->body_mass[2] *= scale;
  for (int k = 0; k < 3; k++) m->body_inertia[6 + k] *= scale;
  tb_set_constants(m, NULL);
  m->opt.timestep = 1e-3;
  m->opt.baumgarte = 0;
  m->opt.contact_margin = 1e-3;
  tbData* d = tb_data_new(m);
  assert_non_null(d);
  d->qfrc_applied[7] = 785;
  for (int i = 0; i < 10; i++) assert_int_equal(tb_step(m, d), TB_OK);
  assert_int_equal(tb_forward(m, d), TB_OK);
  tbProblem* p = tb_step_problem(m, d, &error);
  tb_data_free(d);
  tb_model_free(m);
  return p;
}

// Staggered projections, which hardly contract there, against Newton.
static void staggered_stands_mass_ratios(void** state) {
  (void)state;
  static const char* const solvers[2] = {"newton", "staggered"};
  tbProblem* p = heavy_on_light();
  assert_non_null(p);
  assert_int_equal(p->n, 24);
  tbReal lambda[2][24] = {{0}}, sigma[2][24];
  for (int k = 0; k < 2; k++) {
    tbSolveSettings settings = tbDefaultSolveSettings();
    settings.solver = solvers[k];
    // Rounding leaves 2e-8 to every solver here.
    settings.tol = k ? 1e-6 : 1e-7;
    settings.max_iter = 1000;
    tbSolveInfo info;
    tbError error;
    assert_int_equal(tb_solve(p, &settings, lambda[k], NULL, &info, &error), TB_OK);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
    assert_int_equal(tb_problem_velocity(p, lambda[k], sigma[k], &error), TB_OK);
  }
  assert_near_array(sigma[0], sigma[1], 24, 1e-7);
  tb_problem_free(p);
}

// ---- effects of settings ------------------------------------------------------------------------

// CM Alg. 6 as written, over- and under-relaxed sweeps, and every rule of ADMM's penalty reach the
// answer of the defaults, and by another way: in other numbers of iterations.
static void settings_lead_to_the_same_velocity(void** state) {
  (void)state;
  static const struct {
    const char *law, *solver, *name, *value;
  } SETTING[] = {
      {"ncp", "pgs", "pgs_local_exact", "0"},    {"ncp", "pgs", "relaxation", "1.3"},
      {"ncp", "pgs", "relaxation", "0.7"},       {"lcp", "pgs", "relaxation", "1.2"},
      {"ncp", "admm", "admm_rule", "1"},         {"ncp", "admm", "admm_rule", "2"},
      {"ncp", "admm", "admm_scaling", "0"},      {"ncp", "admm", "admm_memory", "0"},
      {"ccp", "admm", "admm_relaxation", "1.6"}, {"ccp", "admm", "admm_interval", "1"},
      {"ccp", "admm", "admm_backoff", "1"},
  };
  for (size_t k = 0; k < sizeof SETTING / sizeof SETTING[0]; k++) {
    tbTestProblem t = tb_test_backward(TB_STATE_MIXED, 6, 3, false, 0.05, 60 + k);
    int n = t.problem->n, iterations[2];
    tbReal *lambda = calloc((size_t)n, sizeof *lambda), *sigma[2];
    for (int changed = 0; changed < 2; changed++) {
      tbSolveSettings s = tbDefaultSolveSettings();
      tbSolveInfo info;
      tbError error;
      s.law = tb_law_find(SETTING[k].law);
      s.solver = SETTING[k].solver;
      s.tol = 1e-10;
      s.admm_rho = 30;  // too large, so that the rules have something to do
      if (changed) {
        assert_int_equal(tb_solve_settings_set(&s, SETTING[k].name, SETTING[k].value, &error),
                         TB_OK);
      }
      assert_int_equal(tb_solve(t.problem, &s, lambda, NULL, &info, &error), TB_OK);
      assert_int_equal(info.status, TB_SOLVE_CONVERGED);
      iterations[changed] = info.iterations;
      sigma[changed] = calloc((size_t)n, sizeof(tbReal));
      tb_problem_velocity(t.problem, lambda, sigma[changed], NULL);
    }
    assert_int_not_equal(iterations[0], iterations[1]);
    assert_near_array(sigma[1], sigma[0], n, 1e-6);
    for (int i = 0; i < 2; i++) free(sigma[i]);
    free(lambda);
    tb_test_problem_free(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_contact), cmocka_unit_test(block_minimum),
                                     cmocka_unit_test(settings_lead_to_the_same_velocity),
                                     cmocka_unit_test(small_impulses),
                                     cmocka_unit_test(staggered_stands_mass_ratios)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
