// Statements of the papers on laws and algorithms (CM tables II and III, section IV-A), as tests.
#include "common/contact_problems.h"

// One contact of unit mass at rest on the ground, sliding with (speed cos a, speed sin a).
static tbProblem sliding(tbBlock* block, tbReal mu, tbReal* g, const tbReal* G, tbReal angle) {
  tb_blocks_contacts(1, &mu, block);
  g[0] = -1;
  g[1] = 10 * cos(angle);
  g[2] = 10 * sin(angle);
  tbProblem p = {.n = 3, .nblock = 1, .block = block, .g = g};
  p.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = G, .stride = 3};
  return p;
}

static const tbReal UNIT[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

// LCP: friction is stronger along the diagonal and turns towards the pyramid's corner (CM fig. 6,
// 9); the exact law's friction has one size and opposes the motion in every direction.
static void lcp_is_anisotropic(void** state) {
  (void)state;
  for (int k = 1; k < 8; k++) {
    tbReal angle = 0.1 * k, g[3], lcp[3] = {0}, ncp[3] = {0};
    tbBlock block;
    tbProblem p = sliding(&block, 0.5, g, UNIT, angle);
    const char* solvers[] = {"pgs", "lemke", "staggered"};
    for (int s = 0; s < 3; s++) {
      memset(lcp, 0, sizeof lcp);
      tbSolveInfo info = tb_test_solve(&p, TB_LAW_LCP, solvers[s], 1e-10, 1000, lcp);
      assert_int_equal(info.status, TB_SOLVE_CONVERGED);
      // At the corner whatever the direction: 45 degrees, sqrt(2) mu N.
      assert_near(lcp[1], -0.5, 1e-8);
      assert_near(lcp[2], -0.5, 1e-8);
      assert_true(info.residual_exact.relative > 1e-2);
    }
    tb_test_solve(&p, TB_LAW_NCP, "auto", 1e-10, 1000, ncp);
    assert_near(hypot(ncp[1], ncp[2]), 0.5, 1e-9);
    assert_near(atan2(-ncp[2], -ncp[1]), angle, 1e-9);
  }
}

// CCP: a sliding contact lifts off with sigma_N = mu |sigma_T| while it is pushed (CM eq. 19).
static void ccp_lifts_while_sliding(void** state) {
  (void)state;
  const char* solvers[] = {"pgs", "admm", "newton", "ipm", "auto"};
  for (int s = 0; s < 5; s++) {
    tbReal g[3], lambda[3] = {0}, sigma[3];
    tbBlock block;
    tbProblem p = sliding(&block, 0.5, g, UNIT, 0.7);
    tbSolveInfo info = tb_test_solve(&p, TB_LAW_CCP, solvers[s], 1e-10, 10000, lambda);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
    tb_problem_velocity(&p, lambda, sigma, NULL);
    assert_true(lambda[0] > 0.1);
    assert_near(sigma[0], 0.5 * hypot(sigma[1], sigma[2]), 1e-7);
    assert_true(sigma[0] > 0.1);
    assert_true(info.residual_exact.relative > 1e-2);
    // Sticking contacts are the same in both laws.
    g[0] = -10;
    g[1] = 0.5;
    g[2] = 0.1;
    tbReal exact[3] = {0};
    info = tb_test_solve(&p, TB_LAW_CCP, solvers[s], 1e-10, 10000, lambda);
    tb_test_solve(&p, TB_LAW_NCP, "auto", 1e-10, 1000, exact);
    assert_near_array(lambda, exact, 3, 1e-6);
    assert_true(info.residual_exact.relative < 1e-7);
  }
}

// RaiSim: Signorini and Coulomb hold, but sliding friction does not oppose the velocity; the angle
// is that of CM eq. 24. `pgs-exact` solves the exact law.
static void raisim_departs_from_maximum_dissipation(void** state) {
  (void)state;
  const tbReal G[9] = {1, 0.3, -0.1, 0.3, 1.2, 0.2, -0.1, 0.2, 0.9};
  tbReal g[3], lambda[3] = {0}, sigma[3], mu = 0.5;
  tbBlock block;
  tbProblem p = sliding(&block, mu, g, G, 0.4);
  tbSolveInfo info = tb_test_solve(&p, TB_LAW_RAISIM, "pgs", 1e-10, 1000, lambda);
  assert_int_equal(info.status, TB_SOLVE_CONVERGED);
  tb_problem_velocity(&p, lambda, sigma, NULL);
  assert_near(sigma[0], 0, 1e-8);
  assert_near(hypot(lambda[1], lambda[2]), mu * lambda[0], 1e-9);
  tbReal cross = sigma[1] * lambda[2] - sigma[2] * lambda[1];
  assert_true(fabs(cross) > 1e-2 * hypot(sigma[1], sigma[2]) * hypot(lambda[1], lambda[2]));
  // c_T is along -lambda_T - mu^2 lambda_N / G_NN G_NT.
  tbReal along[2];
  for (int i = 0; i < 2; i++) along[i] = -lambda[i + 1] - mu * mu * lambda[0] / G[0] * G[i + 1];
  assert_near(sigma[1] * along[1] - sigma[2] * along[0], 0, 1e-7);
  assert_true(sigma[1] * along[0] + sigma[2] * along[1] > 0);

  memset(lambda, 0, sizeof lambda);
  info = tb_test_solve(&p, TB_LAW_RAISIM, "pgs-exact", 1e-10, 1000, lambda);
  assert_int_equal(info.status, TB_SOLVE_CONVERGED);
  assert_true(info.residual_exact.relative <= 1e-10);
}

// The part of lambda that moves nothing: lambda minus its projection on the range of G.
static tbReal internal_force(const tbProblem* p, const tbReal* lambda) {
  int n = p->n;
  tbReal *G = tb_test_matrix(p), *x = calloc((size_t)n, sizeof *x),
         *y = calloc((size_t)n, sizeof *y);
  // Gradient flow x' = -G (G x - G lambda) from zero stays in the range of G and ends at the
  // projection; conjugate gradients get there in rank-many steps.
  tbReal *r = calloc((size_t)n, sizeof *r), *d = calloc((size_t)n, sizeof *d), rr = 0, size = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) r[i] += G[i * n + j] * lambda[j];
    d[i] = r[i];
    rr += r[i] * r[i];
  }
  for (int k = 0; k < 50 && rr > 1e-30; k++) {
    tbReal dGd = 0, next = 0;
    for (int i = 0; i < n; i++) {
      y[i] = 0;
      for (int j = 0; j < n; j++) y[i] += G[i * n + j] * d[j];
      dGd += d[i] * y[i];
    }
    for (int i = 0; i < n; i++) {
      x[i] += rr / dGd * d[i];
      r[i] -= rr / dGd * y[i];
      next += r[i] * r[i];
    }
    for (int i = 0; i < n; i++) d[i] = r[i] + next / rr * d[i];
    rr = next;
  }
  for (int i = 0; i < n; i++) size = hypot(size, lambda[i] - x[i]);
  free(G);
  free(x);
  free(y);
  free(r);
  free(d);
  return size;
}

// ADMM leaves no internal forces at stiction, per-contact methods do (CM table III, fig. 11).
static void admm_has_no_internal_forces(void** state) {
  (void)state;
  tbTestProblem t = tb_test_table(4, 0.8, 0.002);
  tbReal pgs[12] = {0}, bisection[12] = {0}, admm[12] = {0}, convex[12] = {0};
  tb_test_solve(t.problem, TB_LAW_NCP, "pgs", 1e-9, 100000, pgs);
  tb_test_solve(t.problem, TB_LAW_RAISIM, "pgs", 1e-8, 100000, bisection);
  tbSolveInfo info = tb_test_solve(t.problem, TB_LAW_NCP, "admm", 1e-9, 100000, admm);
  assert_int_equal(info.status, TB_SOLVE_CONVERGED);
  info = tb_test_solve(t.problem, TB_LAW_CCP, "admm", 1e-9, 100000, convex);
  assert_int_equal(info.status, TB_SOLVE_CONVERGED);
  tbReal weight = 9.81e-3;
  assert_true(internal_force(t.problem, pgs) > 1e-2 * weight);
  assert_true(internal_force(t.problem, bisection) > 1e-2 * weight);
  assert_true(internal_force(t.problem, admm) < 1e-5 * weight);
  assert_true(internal_force(t.problem, convex) < 1e-5 * weight);
  tb_test_problem_free(&t);
}

// A heavy cube on a light one, mass ratio 1e6 (CM fig. 12): per-contact methods stall, the global
// ones converge.
static void mass_ratio_of_a_million(void** state) {
  (void)state;
  tbReal mass[2] = {1e-3, 1e3};
  tbTestProblem t = tb_test_stack(2, mass, 0.5);
  struct {
    tbLaw law;
    const char* solver;
    bool robust;
  } cases[] = {{TB_LAW_NCP, "pgs", false},     {TB_LAW_CCP, "pgs", false},
               {TB_LAW_LCP, "pgs", false},     {TB_LAW_RAISIM, "pgs", false},
               {TB_LAW_NCP, "admm", true},     {TB_LAW_CCP, "admm", true},
               {TB_LAW_CCP, "newton", true},   {TB_LAW_NCP, "staggered", true},
               {TB_LAW_NCP, "ipm", true},      {TB_LAW_CCP, "ipm", true},
               {TB_LAW_NCP, "auto", true},     {TB_LAW_LCP, "lemke", true},
               {TB_LAW_LCP, "staggered", true}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    tbReal lambda[24] = {0};
    tbSolveInfo info = tb_test_solve(t.problem, cases[k].law, cases[k].solver, 1e-6, 10000, lambda);
    bool converged = info.status == TB_SOLVE_CONVERGED;
    if (converged != cases[k].robust) {
      fail_msg("%s/%s: %s, %g after %d", info.law, info.solver,
               tb_solve_status_name((tbSolveStatus)info.status), info.residual.relative,
               info.iterations);
    }
    if (!converged) continue;
    // The ground carries both, in newton seconds.
    tbReal weight = 0;
    for (int i = 0; i < 4; i++) weight += lambda[3 * i];
    assert_near(weight / 9.81, 1.000001, 1e-3);
  }
  tb_test_problem_free(&t);
}

// Up to 1e9, what double precision can tell.
static void mass_ratio_of_a_billion(void** state) {
  (void)state;
  tbReal mass[3] = {1, 1e4, 1e9};
  tbTestProblem t = tb_test_stack(3, mass, 0.5);
  tbReal lambda[36] = {0};
  tbSolveInfo info = tb_test_solve(t.problem, TB_LAW_NCP, "auto", 1e-6, 10000, lambda);
  assert_int_equal(info.status, TB_SOLVE_CONVERGED);
  tbReal weight = 0;
  for (int i = 0; i < 4; i++) weight += lambda[3 * i];
  assert_near(weight / (9.81e-3 * (1 + 1e4 + 1e9)), 1, 1e-5);
  tb_test_problem_free(&t);
}

// A table on many legs: the velocity is unique, the forces are not.
static void hyperstatic_table(void** state) {
  (void)state;
  const char* solvers[] = {"pgs", "admm", "newton", "ipm", "auto", "staggered"};
  for (int legs = 3; legs <= 30; legs += 9) {
    for (int sliding_table = 0; sliding_table < 2; sliding_table++) {
      tbTestProblem t = tb_test_table(legs, 0.5, sliding_table ? 0.1 : 0.001);
      tbReal first[90] = {0}, spread = 0, one[90] = {0};
      for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; s++) {
        tbReal lambda[90] = {0}, sigma[90], weight = 0, push = 0;
        tbReal tol = strcmp(solvers[s], "ipm") == 0 ? 1e-8 : 1e-9;
        tbSolveInfo info = tb_test_solve(t.problem, TB_LAW_NCP, solvers[s], tol, 100000, lambda);
        if (info.status != TB_SOLVE_CONVERGED) {
          fail_msg("%s on %s: %s %g", solvers[s], t.name,
                   tb_solve_status_name((tbSolveStatus)info.status), info.residual.relative);
        }
        tb_problem_velocity(t.problem, lambda, sigma, NULL);
        if (s == 0) memcpy(first, sigma, sizeof first);
        if (s == 0) memcpy(one, lambda, sizeof one);
        assert_near_array(sigma, first, 3 * legs, 1e-6);
        for (int i = 0; i < 3 * legs; i++) spread = fmax(spread, fabs(lambda[i] - one[i]));
        for (int i = 0; i < legs; i++) {
          weight += lambda[3 * i];
          push += lambda[3 * i + 1];
        }
        assert_near(weight / 9.81e-3, 1, 1e-6);
        // Sticking stops the table, sliding takes mu times the weight from it.
        tbReal expected = sliding_table ? -0.5 * 9.81e-3 : -0.001;
        assert_near(push / 9.81e-3, expected / 9.81e-3, 1e-5);
      }
      if (legs > 3) assert_true(spread > 1e-4 * 9.81e-3);
      tb_test_problem_free(&t);
    }
  }
}

// No friction, huge friction, no contact at all, contacts that all open.
static void extremes(void** state) {
  (void)state;
  for (int s = 0; s < tb_solver_count(); s++) {
    tbLaw law = tb_solver_law(s);
    const char* solver = tb_solver_name(s);
    tbTestProblem t = tb_test_table(4, 0, 0.1);
    tbReal lambda[12] = {0}, weight = 0;
    tbSolveInfo info = tb_test_solve(t.problem, law, solver, 1e-8, 20000, lambda);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
    for (int i = 0; i < 4; i++) {
      weight += lambda[3 * i];
      assert_near(lambda[3 * i + 1], 0, 1e-12);
      assert_near(lambda[3 * i + 2], 0, 1e-12);
    }
    assert_near(weight / 9.81e-3, 1, 1e-6);
    tb_test_problem_free(&t);

    // Everything opens: no impulse, exactly (the convex law acts at a distance while sliding).
    tbTestProblem apart = tb_test_backward(TB_STATE_APART, 4, 3, false, 0, 5);
    tbReal none[12] = {0};
    if (!tb_test_supports(apart.problem, s)) {
      tb_test_problem_free(&apart);
      continue;
    }
    info = tb_test_solve(apart.problem, law, solver, 1e-8, 1000, none);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
    for (int i = 0; i < 12 && law != TB_LAW_CCP; i++) assert_true(none[i] == 0);
    tb_test_problem_free(&apart);

    // Nothing to solve.
    tbProblem empty = {0};
    tbReal nothing = 0;
    tbSolveSettings settings = tbDefaultSolveSettings();
    settings.law = law;
    settings.solver = solver;
    assert_int_equal(tb_solve(&empty, &settings, &nothing, NULL, &info, NULL), TB_OK);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
  }
  // mu = 1e6: a leg that carries something does not slide (the others lift: the table tips).
  const char* exact[] = {"pgs", "auto", "newton"};
  for (int s = 0; s < 3; s++) {
    tbTestProblem t = tb_test_table(4, 1e6, 0.1);
    tbReal lambda[12] = {0}, sigma[12];
    tbSolveInfo info = tb_test_solve(t.problem, TB_LAW_NCP, exact[s], 1e-8, 100000, lambda);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
    tb_problem_velocity(t.problem, lambda, sigma, NULL);
    int carrying = 0;
    for (int i = 0; i < 4; i++) {
      if (lambda[3 * i] < 1e-4) continue;
      carrying++;
      for (int r = 0; r < 3; r++) assert_near(sigma[3 * i + r], 0, 1e-4);
    }
    assert_true(carrying >= 1);
    tb_test_problem_free(&t);
  }
}

// A box of one point and a cone without friction next to each other: sets without interior.
static void empty_interior(void** state) {
  (void)state;
  const tbReal G[16] = {2, 1, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, g[4] = {-1, -1, 3, 1};
  tbBlock block[2] = {{.type = TB_BLOCK_BOX, .row = 0, .dim = 1, .lower = 0.2, .upper = 0.2},
                      {.type = TB_BLOCK_CONE, .row = 1, .dim = 3, .mu = {0, 0}}};
  tbProblem p = {.n = 4, .nblock = 2, .block = block, .g = g};
  p.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = G, .stride = 4};
  const tbReal expected[4] = {0.2, 0.4, 0, 0};
  for (int s = 0; s < tb_solver_count(); s++) {
    tbReal lambda[4] = {0};
    if (!tb_test_supports(&p, s)) continue;
    tbSolveInfo info = tb_test_solve(&p, tb_solver_law(s), tb_solver_name(s), 1e-9, 20000, lambda);
    if (info.status != TB_SOLVE_CONVERGED) {
      fail_msg("%s/%s: %g", info.law, info.solver, info.residual.relative);
    }
    assert_near_array(lambda, expected, 4, 1e-7);
  }
}

static void bad_settings(void** state) {
  (void)state;
  tbTestProblem t = tb_test_table(3, 0.5, 0);
  tbReal lambda[9] = {0};
  tbError error;
  tbSolveSettings s = tbDefaultSolveSettings();
  s.solver = "lemke's cat";
  assert_int_equal(tb_solve(t.problem, &s, lambda, NULL, NULL, &error), TB_ERROR_UNSUPPORTED);
  s = tbDefaultSolveSettings();
  s.law = 99;
  assert_int_equal(tb_solve(t.problem, &s, lambda, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  s = tbDefaultSolveSettings();
  s.tol = NAN;
  assert_int_equal(tb_solve(t.problem, &s, lambda, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  s = tbDefaultSolveSettings();
  s.relaxation = 2;
  assert_int_equal(tb_solve(t.problem, &s, lambda, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_solve_settings_set(&s, "admm_tau", "8", &error), TB_OK);
  assert_true(s.admm_tau == 8);
  assert_int_equal(tb_solve_settings_set(&s, "law", "raisim", &error), TB_OK);
  assert_int_equal(s.law, TB_LAW_RAISIM);
  assert_int_equal(tb_solve_settings_set(&s, "max_iter", "1e3", &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_solve_settings_set(&s, "nonsense", "1", &error), TB_ERROR_ARGUMENT);

  // Out of range: the message names the valid range, for values set by name and written into the
  // struct.
  s = tbDefaultSolveSettings();
  assert_int_equal(tb_solve_settings_set(&s, "admm_rule", "7", &error), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "0: spectral, 1: linear"));
  assert_int_equal(s.admm_rule, TB_PENALTY_SPECTRAL);
  assert_int_equal(tb_solve_settings_set(&s, "admm_memory", "7", &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_solve_settings_set(&s, "islands", "-1", &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_solve_settings_set(&s, "tol", "nan", &error), TB_ERROR_ARGUMENT);
  s.admm_rule = 3;
  assert_int_equal(tb_solve(t.problem, &s, lambda, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "admm_rule is 3"));
  tb_test_problem_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lcp_is_anisotropic),
      cmocka_unit_test(ccp_lifts_while_sliding),
      cmocka_unit_test(raisim_departs_from_maximum_dissipation),
      cmocka_unit_test(admm_has_no_internal_forces),
      cmocka_unit_test(mass_ratio_of_a_million),
      cmocka_unit_test(mass_ratio_of_a_billion),
      cmocka_unit_test(hyperstatic_table),
      cmocka_unit_test(extremes),
      cmocka_unit_test(empty_interior),
      cmocka_unit_test(bad_settings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
