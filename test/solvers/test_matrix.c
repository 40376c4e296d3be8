// Every solver on every problem: success is never claimed falsely, solvers of one law agree on the
// velocity, steady work allocates nothing, and the same input gives the same bits.
#include "common/contact_problems.h"

enum { MAX_PROBLEMS = 64 };

static int corpus(tbTestProblem* out) {
  int count = 0;
  tbReal equal[3] = {1, 1, 1}, heavy[2] = {1e-3, 1e3};
  for (int kind = 0; kind <= TB_STATE_MIXED; kind++) {
    out[count++] = tb_test_backward((tbTestState)kind, 5, 3, false, 0, 40 + (uint64_t)kind);
  }
  out[count++] = tb_test_backward(TB_STATE_MIXED, 12, 3, false, 0.05, 50);
  out[count++] = tb_test_backward(TB_STATE_MIXED, 5, 3, true, 0, 51);
  out[count++] = tb_test_backward(TB_STATE_MIXED, 4, 6, true, 0, 52);
  out[count++] = tb_test_backward(TB_STATE_MIXED, 4, 4, false, 0, 53);
  out[count++] = tb_test_backward_blocks(11, 54);
  out[count++] = tb_test_table(3, 0.5, 0);
  out[count++] = tb_test_table(7, 0.5, 0.001);
  out[count++] = tb_test_table(12, 0.5, 0.1);
  out[count++] = tb_test_table(4, 0, 0.1);
  out[count++] = tb_test_table(4, 1e6, 0.1);
  out[count++] = tb_test_stack(3, equal, 0.5);
  out[count++] = tb_test_stack(2, heavy, 0.5);
  return count;
}

// The exact law of round 3-row contacts, implemented a second time in another way: by cases.
static tbReal violation(const tbProblem* p, const tbReal* lambda, const tbReal* sigma) {
  tbReal worst = 0, impulse = 0, velocity = 0;
  for (int i = 0; i < p->n; i++) {
    impulse = fmax(impulse, fabs(lambda[i]));
    velocity = fmax(velocity, fabs(p->g[i]));
  }
  for (int i = 0; i < p->nblock; i++) {
    const tbReal *x = lambda + p->block[i].row, *y = sigma + p->block[i].row;
    tbReal mu = p->block[i].mu[0], friction = hypot(x[1], x[2]), slip = hypot(y[1], y[2]);
    // Coulomb's cone, no penetration, no force apart, and dissipation at the largest.
    worst = fmax(worst, (friction - mu * x[0]) / impulse / (1 + mu));
    worst = fmax(worst, -y[0] / velocity);
    worst = fmax(worst, fabs(x[0] * y[0]) / impulse / velocity);
    worst = fmax(worst, fabs(x[1] * y[1] + x[2] * y[2] + mu * x[0] * slip) / impulse / velocity);
  }
  return worst;
}

static bool round_contacts(const tbProblem* p) {
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    if (b->type != TB_BLOCK_CONE || b->dim != 3 || b->mu[0] != b->mu[1]) return false;
  }
  return true;
}

static void no_false_success(void** state) {
  (void)state;
  tbTestProblem problems[MAX_PROBLEMS];
  int count = corpus(problems), converged = 0, runs = 0;
  for (int k = 0; k < count; k++) {
    const tbProblem* p = problems[k].problem;
    tbReal *lambda = calloc((size_t)p->n, sizeof *lambda),
           *sigma = calloc((size_t)p->n, sizeof *sigma);
    for (int s = 0; s < tb_solver_count(); s++) {
      tbSolveSettings settings = tbDefaultSolveSettings();
      settings.law = tb_solver_law(s);
      settings.solver = tb_solver_name(s);
      settings.max_iter = 2000;
      settings.time_limit = 1;
      settings.tol = 1e-8;
      tbSolveInfo info;
      tbError error;
      memset(lambda, 0, (size_t)p->n * sizeof *lambda);
      tbResult result = tb_solve(p, &settings, lambda, NULL, &info, &error);
      if (result == TB_ERROR_UNSUPPORTED) continue;
      assert_int_equal(result, TB_OK);
      runs++;
      // The reported residual is that of the answer.
      tb_problem_velocity(p, lambda, sigma, NULL);
      bool solves_exact = strcmp(settings.solver, "pgs-exact") == 0;
      tbLaw law = solves_exact ? TB_LAW_NCP : (tbLaw)settings.law;
      tbResidual own = tb_residual(p, law, lambda, sigma);
      tbResidual exact = tb_residual(p, TB_LAW_NCP, lambda, sigma);
      assert_near(own.relative, info.residual.relative, 1e-15);
      assert_near(exact.relative, info.residual_exact.relative, 1e-15);
      assert_true((info.status == TB_SOLVE_CONVERGED) == (own.relative <= settings.tol));
      converged += info.status == TB_SOLVE_CONVERGED;
      if (law == TB_LAW_NCP && info.status == TB_SOLVE_CONVERGED && round_contacts(p)) {
        tbReal v = violation(p, lambda, sigma);
        if (!(v < 1e-5)) {
          fail_msg("%s/%s on %s: %g", tb_law_name((tbLaw)settings.law), settings.solver,
                   problems[k].name, v);
        }
      }
    }
    free(lambda);
    free(sigma);
    tb_test_problem_free(&problems[k]);
  }
  // Most runs converge: problems that no solver solves would test nothing.
  print_message("%d of %d runs converged\n", converged, runs);
  assert_true(converged > 0.85 * runs);
}

static void laws_agree_on_velocity(void** state) {
  (void)state;
  tbTestProblem problems[MAX_PROBLEMS];
  int count = corpus(problems), compared = 0;
  for (int k = 0; k < count; k++) {
    const tbProblem* p = problems[k].problem;
    tbReal* sigma[TB_LAW_COUNT] = {0};
    for (int s = 0; s < tb_solver_count(); s++) {
      tbLaw law = tb_solver_law(s);
      if (strcmp(tb_solver_name(s), "pgs-exact") == 0) continue;
      tbSolveSettings settings = tbDefaultSolveSettings();
      settings.law = law;
      settings.solver = tb_solver_name(s);
      settings.tol = 1e-9;
      settings.max_iter = 5000;
      settings.time_limit = 1;
      tbReal *lambda = calloc((size_t)p->n, sizeof *lambda),
             *own = calloc((size_t)p->n, sizeof *own);
      tbSolveInfo info;
      if (tb_solve(p, &settings, lambda, NULL, &info, NULL) == TB_OK &&
          info.status == TB_SOLVE_CONVERGED) {
        tb_problem_velocity(p, lambda, own, NULL);
        if (!sigma[law]) {
          sigma[law] = own;
          own = NULL;
        } else {
          // The degenerate ones lose half of the digits.
          assert_near_array(own, sigma[law], p->n, 2e-4);
          compared++;
        }
      }
      free(lambda);
      free(own);
    }
    for (int law = 0; law < TB_LAW_COUNT; law++) free(sigma[law]);
    tb_test_problem_free(&problems[k]);
  }
  assert_true(compared > 100);
}

// The iterations are limited to a few, and a solver that uses all of them reports it.
static void few_iterations_are_kept_to(void** state) {
  (void)state;
  tbTestProblem problems[MAX_PROBLEMS];
  int count = corpus(problems), used_up = 0;
  for (int k = 0; k < count; k++) {
    const tbProblem* p = problems[k].problem;
    tbReal* lambda = calloc((size_t)p->n, sizeof *lambda);
    for (int s = 0; s < 3 * tb_solver_count(); s++) {
      tbSolveSettings settings = tbDefaultSolveSettings();
      settings.law = tb_solver_law(s / 3);
      settings.solver = tb_solver_name(s / 3);
      settings.max_iter = (int[]){0, 1, 5}[s % 3];
      tbSolveInfo info;
      memset(lambda, 0, (size_t)p->n * sizeof *lambda);
      if (tb_solve(p, &settings, lambda, NULL, &info, NULL) != TB_OK) continue;
      bool kept = info.iterations <= settings.max_iter;
      bool says = info.status != TB_SOLVE_STALLED || info.iterations < settings.max_iter;
      if (!kept || !says) {
        fail_msg("%s/%s on %s: %d iterations of %d, %s", info.law, settings.solver,
                 problems[k].name, info.iterations, settings.max_iter,
                 tb_solve_status_name((tbSolveStatus)info.status));
      }
      used_up += info.status == TB_SOLVE_MAX_ITERATIONS;
    }
    free(lambda);
    tb_test_problem_free(&problems[k]);
  }
  assert_true(used_up > 100);
}

static void steady_work_allocates_nothing(void** state) {
  (void)state;
  tbTestProblem t = tb_test_table(7, 0.5, 0.001);
  for (int s = 0; s < tb_solver_count(); s++) {
    tbSolveWork* work = tb_solve_work_create();
    tbSolveSettings settings = tbDefaultSolveSettings();
    settings.law = tb_solver_law(s);
    settings.solver = tb_solver_name(s);
    settings.max_iter = 300;
    size_t before = 0;
    for (int k = 0; k < 5; k++) {
      tbReal lambda[21] = {0};
      assert_int_equal(tb_solve(t.problem, &settings, lambda, work, NULL, NULL), TB_OK);
      if (k == 2) before = tb_solve_work_allocations(work);
    }
    assert_int_equal(tb_solve_work_allocations(work), before);
    tb_solve_work_free(work);
  }
  tb_test_problem_free(&t);
}

static void same_bits(void** state) {
  (void)state;
  tbReal mass[3] = {1, 5, 2};
  tbTestProblem t = tb_test_stack(3, mass, 0.4);
  for (int s = 0; s < tb_solver_count(); s++) {
    tbReal a[36] = {0}, b[36] = {0};
    tb_test_solve(t.problem, tb_solver_law(s), tb_solver_name(s), 1e-8, 300, a);
    tb_test_solve(t.problem, tb_solver_law(s), tb_solver_name(s), 1e-8, 300, b);
    assert_memory_equal(a, b, sizeof a);
  }
  tb_test_problem_free(&t);
}

// The three forms of G give one answer (velocities are unique, impulses are not).
static void forms_agree(void** state) {
  (void)state;
  tbReal mass[3] = {1, 5, 2};
  tbTestProblem t = tb_test_stack(3, mass, 0.4);
  tbProblem* forms[3] = {t.problem, tb_test_convert(t.problem, TB_DELASSUS_DENSE),
                         tb_test_convert(t.problem, TB_DELASSUS_SPARSE)};
  const char* solvers[] = {"pgs", "admm", "newton", "ipm", "auto"};
  for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; s++) {
    tbReal sigma[3][36];
    for (int k = 0; k < 3; k++) {
      tbReal lambda[36] = {0};
      tb_test_solve(forms[k], TB_LAW_NCP, solvers[s], 1e-9, 20000, lambda);
      tb_problem_velocity(forms[k], lambda, sigma[k], NULL);
      assert_near_array(sigma[k], sigma[0], 36, 1e-8);
    }
  }
  for (int k = 1; k < 3; k++) tb_problem_free(forms[k]);
  tb_test_problem_free(&t);
}

static void warm_start_and_history(void** state) {
  (void)state;
  tbTestProblem t = tb_test_backward(TB_STATE_MIXED, 8, 3, false, 0, 60);
  for (int s = 0; s < tb_solver_count(); s++) {
    if (!tb_test_supports(t.problem, s)) continue;
    tbSolveSettings settings = tbDefaultSolveSettings();
    tbSolveHistory history[50];
    settings.law = tb_solver_law(s);
    settings.solver = tb_solver_name(s);
    settings.history = history;
    settings.history_capacity = 50;
    tbSolveInfo cold, warm;
    tbReal lambda[24] = {0};
    assert_int_equal(tb_solve(t.problem, &settings, lambda, NULL, &cold, NULL), TB_OK);
    assert_int_equal(cold.status, TB_SOLVE_CONVERGED);
    assert_true(cold.history_count >= 2 && cold.history_count <= 50);
    assert_int_equal(history[0].iteration, 0);
    settings.warm_start = 1;
    assert_int_equal(tb_solve(t.problem, &settings, lambda, NULL, &warm, NULL), TB_OK);
    assert_int_equal(warm.status, TB_SOLVE_CONVERGED);
    if (strcmp(settings.solver, "pgs-exact") != 0) assert_int_equal(warm.iterations, 0);
  }
  tb_test_problem_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_false_success),
      cmocka_unit_test(laws_agree_on_velocity),
      cmocka_unit_test(few_iterations_are_kept_to),
      cmocka_unit_test(steady_work_allocates_nothing),
      cmocka_unit_test(same_bits),
      cmocka_unit_test(forms_agree),
      cmocka_unit_test(warm_start_and_history),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
