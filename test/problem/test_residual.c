// The residual function against formulas written a second time, case by case.
#include "common/contact_problems.h"

static tbProblem one_cone(tbBlock* block, tbReal mu, const tbReal* G, const tbReal* g) {
  tb_blocks_contacts(1, &mu, block);
  tbProblem p = {.n = 3, .nblock = 1, .block = block, .g = g};
  p.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = G, .stride = 3};
  return p;
}

// Hand-computed: lambda outside the cone, sigma with too small a normal part.
static void by_hand(void** state) {
  (void)state;
  tbBlock block;
  tbReal G[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, g[3] = {-2, 0, 4};
  tbProblem p = one_cone(&block, 1, G, g);
  tbReal lambda[3] = {1, 3, 0}, sigma[3] = {-1, 3, 4};
  // dist(lambda, K) for mu = 1: ((3 - 1) / sqrt 2). Shifted normal: -1 + 5 = 4 < |sigma_T| = 5.
  tbResidual r = tb_residual(&p, TB_LAW_NCP, lambda, sigma);
  assert_near(r.primal, 2 / sqrt(2), 1e-14);
  assert_near(r.dual, 1 / sqrt(2), 1e-14);
  assert_near(r.complementarity, fabs(1 * 4.0 + 3 * 3), 1e-14);
  assert_near(r.relative, fmax(2 / sqrt(2) / 3, 13.0 / (3 * 4)), 1e-14);
  // Without the shift: normal -1 against 5.
  r = tb_residual(&p, TB_LAW_CCP, lambda, sigma);
  assert_near(r.dual, 6 / sqrt(2), 1e-14);
  assert_near(r.complementarity, 8, 1e-14);
  // Pyramid |lambda_T| <= lambda_N: distance (3 - 1) / sqrt 2; shift 3 + 4, dual sum 7, so -1.
  r = tb_residual(&p, TB_LAW_LCP, lambda, sigma);
  assert_near(r.primal, 2 / sqrt(2), 1e-14);
  assert_near(r.complementarity, fabs(6 + 9.0), 1e-14);
  assert_near(r.dual, 1 / sqrt(3), 1e-14);
}

static void exact_states_have_no_residual(void** state) {
  (void)state;
  for (int kind = 0; kind <= TB_STATE_MIXED; kind++) {
    for (int dim = 2; dim <= 6; dim++) {
      tbTestProblem t = tb_test_backward((tbTestState)kind, 4, dim, dim & 1, 0.1, 7);
      tbReal sigma[24];
      assert_int_equal(tb_problem_velocity(t.problem, t.lambda, sigma, NULL), TB_OK);
      tbResidual r = tb_residual(t.problem, TB_LAW_NCP, t.lambda, sigma);
      assert_true(r.relative < 1e-14);
      tb_test_problem_free(&t);
    }
  }
}

// In newtons or meganewtons the relative residual is the same.
static void scale_free(void** state) {
  (void)state;
  tbTestProblem t = tb_test_backward(TB_STATE_MIXED, 5, 3, false, 0, 3);
  tbProblem p = *t.problem;
  tbReal g[15], lambda[15], sigma[15];
  for (int i = 0; i < 15; i++) lambda[i] = t.lambda[i] + 0.01 * sin(i);
  tb_problem_velocity(&p, lambda, sigma, NULL);
  tbResidual one = tb_residual(&p, TB_LAW_NCP, lambda, sigma);
  for (int i = 0; i < 15; i++) {
    g[i] = 1e-9 * t.problem->g[i];
    lambda[i] *= 1e-9;
  }
  p.g = g;
  tb_problem_velocity(&p, lambda, sigma, NULL);
  tbResidual small = tb_residual(&p, TB_LAW_NCP, lambda, sigma);
  assert_true(one.relative > 1e-4);
  assert_near(small.relative, one.relative, 1e-9);
  assert_near(small.primal / 1e-9, one.primal, 1e-9);
  tb_test_problem_free(&t);
}

static void other_blocks(void** state) {
  (void)state;
  tbReal G[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, g[4] = {1, 1, 1, 1};
  tbBlock block[3] = {{.type = TB_BLOCK_EQUALITY, .row = 0, .dim = 1},
                      {.type = TB_BLOCK_ONE_SIDED, .row = 1, .dim = 2},
                      {.type = TB_BLOCK_BOX, .row = 3, .dim = 1, .lower = -1, .upper = 2}};
  tbProblem p = {.n = 4, .nblock = 3, .block = block, .g = g};
  p.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = G, .stride = 4};
  tbReal lambda[4] = {2, -0.5, 1, 3}, sigma[4] = {0.25, 0.1, -0.75, -0.5};
  tbResidual r = tb_residual(&p, TB_LAW_NCP, lambda, sigma);
  assert_near(r.primal, 1, 1e-15);   // the box, 3 above 2
  assert_near(r.dual, 0.75, 1e-15);  // the one-sided row
  assert_near(r.complementarity, fmax(0.05 + 0.75, 0.5), 1e-15);
  // A box without bounds is an equality.
  block[2].lower = -INFINITY;
  block[2].upper = INFINITY;
  r = tb_residual(&p, TB_LAW_NCP, lambda, sigma);
  assert_near(r.primal, 0.5, 1e-15);
  sigma[2] = 0;
  r = tb_residual(&p, TB_LAW_NCP, lambda, sigma);
  assert_near(r.dual, 0.5, 1e-15);
}

static void not_finite(void** state) {
  (void)state;
  tbBlock block;
  tbReal G[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, g[3] = {-1, 0, 0}, sigma[3] = {0, 0, 0};
  tbProblem p = one_cone(&block, 0.5, G, g);
  tbReal lambda[3] = {1, NAN, 0};
  assert_true(isinf(tb_residual(&p, TB_LAW_NCP, lambda, sigma).relative));
  // No impulse and no free velocity: nothing to divide by, and nothing wrong.
  tbReal zero[3] = {0, 0, 0};
  p.g = zero;
  assert_true(tb_residual(&p, TB_LAW_NCP, zero, zero).relative == 0);
}

// With a free velocity of nearly zero, impulses that move bodies have a large but finite residual;
// and the bound on the scale does not affect answers that are merely inaccurate.
static void tiny_free_velocity(void** state) {
  (void)state;
  tbBlock block;
  tbReal G[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, lambda[3] = {2, 0.1, 0};
  static const tbReal TINY[4] = {0, 1e-300, 1e-17, 1e-8};
  for (int k = 0; k < 4; k++) {
    tbReal g[3] = {-TINY[k], 0, 0}, sigma[3] = {2 - TINY[k], 0.1, 0};
    tbProblem p = one_cone(&block, 0.5, G, g);
    tbReal relative = tb_residual(&p, TB_LAW_NCP, lambda, sigma).relative;
    assert_true(relative >= 100 && relative <= 1e4);
  }
  // 1 m/s of free velocity and impulses that make 400 of it: the plain definition
  tbReal g[3] = {-1, 0, 0}, sigma[3] = {399, 0, 0};
  tbProblem p = one_cone(&block, 0.5, G, g);
  lambda[0] = 400;
  lambda[1] = 0;
  assert_near(tb_residual(&p, TB_LAW_NCP, lambda, sigma).relative, 399, 1e-12);
}

// Dry friction with nearly no load: the remaining velocity counts, not the distance from the bound.
static void idle_dry_friction(void** state) {
  (void)state;
  tbBlock block = {.type = TB_BLOCK_BOX, .dim = 1, .lower = -2, .upper = 2};
  tbReal G = 1, g = 1e-16, lambda = -0.5e-16, sigma = 0.5e-16;
  tbProblem p = {.n = 1, .nblock = 1, .block = &block, .g = &g};
  p.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = &G, .stride = 1};
  tbReal relative = tb_residual(&p, TB_LAW_NCP, &lambda, &sigma).relative;
  assert_true(relative > 0.1 && relative < 1e4);
  // as much as it could hold within a factor of a thousand: the plain definition
  lambda = -0.1, g = 0.3, sigma = 0.2;
  relative = tb_residual(&p, TB_LAW_NCP, &lambda, &sigma).relative;
  assert_near(relative, 0.2 * (2 - 0.1) / 0.1 / 0.3, 1e-12);
}

// RaiSim's law (CM eq. 23-24): a sliding answer by brute force over the ellipse has no residual,
// and other points of the ellipse do.
static void raisim_by_brute_force(void** state) {
  (void)state;
  tbReal A[9] = {1, 0.3, -0.1, 0.3, 1.2, 0.2, -0.1, 0.2, 0.9}, g[3] = {-1, 2, 1}, mu = 0.5;
  tbBlock block;
  tbProblem p = one_cone(&block, mu, A, g);
  tbReal best[3] = {0}, least = INFINITY;
  for (int k = 0; k < 2000000; k++) {
    tbReal a = 6.283185307179586 * k / 2000000, u = mu * cos(a), v = mu * sin(a);
    tbReal n = 1 / (A[0] + A[1] * u + A[2] * v), x[3] = {n, n * u, n * v}, e = 0;
    for (int i = 0; i < 3; i++) {
      e += g[i] * x[i];
      for (int j = 0; j < 3; j++) e += 0.5 * x[i] * A[3 * i + j] * x[j];
    }
    if (e < least) {
      least = e;
      memcpy(best, x, sizeof best);
    }
  }
  tbReal sigma[3];
  tb_problem_velocity(&p, best, sigma, NULL);
  assert_true(tb_residual(&p, TB_LAW_RAISIM, best, sigma).relative < 1e-5);
  assert_true(tb_residual(&p, TB_LAW_NCP, best, sigma).relative > 1e-3);
  tbReal lambda[3] = {0};
  tbSolveInfo info = tb_test_solve(&p, TB_LAW_RAISIM, "pgs", 1e-10, 1000, lambda);
  assert_int_equal(info.status, TB_SOLVE_CONVERGED);
  assert_near_array(lambda, best, 3, 1e-5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_hand),           cmocka_unit_test(exact_states_have_no_residual),
      cmocka_unit_test(scale_free),        cmocka_unit_test(other_blocks),
      cmocka_unit_test(not_finite),        cmocka_unit_test(tiny_free_velocity),
      cmocka_unit_test(idle_dry_friction), cmocka_unit_test(raisim_by_brute_force),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
