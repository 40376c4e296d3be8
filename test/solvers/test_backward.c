// Problems built backwards from a known solution: recovered to 1e-10, in every state, degenerate
// ones included, with every kind of block.
#include "common/contact_problems.h"

static void recover(tbTestProblem* t, const char* solver, tbReal tol, tbReal accuracy) {
  int n = t->problem->n;
  // Interior points end with x z = 1e-10, so where neither vanishes with 1e-5.
  bool interior = strcmp(solver, "ipm") == 0;
  if (interior) tol = 1e-10;
  if (interior) accuracy = 1e-4;
  tbReal *lambda = calloc((size_t)n, sizeof *lambda), *sigma = calloc((size_t)n, sizeof *sigma);
  tbReal* known = calloc((size_t)n, sizeof *known);
  tbSolveInfo info = tb_test_solve(t->problem, TB_LAW_NCP, solver, tol, 200000, lambda);
  if (info.status != TB_SOLVE_CONVERGED) {
    fail_msg("%s on %s: %s, relative residual %g", solver, t->name,
             tb_solve_status_name((tbSolveStatus)info.status), info.residual.relative);
  }
  assert_near_array(lambda, t->lambda, n, accuracy);
  tb_problem_velocity(t->problem, lambda, sigma, NULL);
  tb_problem_velocity(t->problem, t->lambda, known, NULL);
  assert_near_array(sigma, known, n, accuracy);
  free(lambda);
  free(sigma);
  free(known);
}

// Sticking, sliding, separating and mixed: regular, so all solvers find them to 1e-10.
static void regular_states(void** state) {
  (void)state;
  const char* solvers[] = {"pgs", "auto", "newton", "admm", "ipm", "staggered"};
  const tbTestState states[] = {TB_STATE_STICK, TB_STATE_SLIDE, TB_STATE_APART};
  for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; s++) {
    for (size_t k = 0; k < sizeof states / sizeof states[0]; k++) {
      for (uint64_t seed = 1; seed <= 5; seed++) {
        tbTestProblem t = tb_test_backward(states[k], 6, 3, false, 0, seed);
        recover(&t, solvers[s], 1e-12, 1e-10);
        tb_test_problem_free(&t);
      }
    }
  }
}

// At the cone's tip and edge the solution is still unique, but strict complementarity is lost:
// where impulse and velocity both vanish, their product, and with it the residual, is as small as
// the square of either. So lambda is known to a few roots of the tolerance.
static void degenerate_states(void** state) {
  (void)state;
  const tbTestState states[] = {TB_STATE_TIP, TB_STATE_EDGE, TB_STATE_MIXED};
  for (size_t k = 0; k < sizeof states / sizeof states[0]; k++) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
      tbTestProblem t = tb_test_backward(states[k], 6, 3, false, 0, seed);
      recover(&t, "pgs", 1e-13, 1e-6);
      recover(&t, "auto", 1e-13, 1e-6);
      recover(&t, "newton", 1e-13, 1e-6);
      recover(&t, "admm", 1e-13, 1e-6);
      tb_test_problem_free(&t);
    }
  }
}

// Two to six rows, a coefficient per axis, with and without compliance.
static void anisotropic_cones(void** state) {
  (void)state;
  const char* solvers[] = {"pgs", "auto", "newton", "admm", "ipm"};
  for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; s++) {
    for (int dim = 2; dim <= 6; dim++) {
      for (int compliant = 0; compliant < 2; compliant++) {
        tbTestProblem t =
            tb_test_backward(TB_STATE_SLIDE, 4, dim, true, compliant ? 0.3 : 0, (uint64_t)dim);
        recover(&t, solvers[s], 1e-12, 1e-10);
        tb_test_problem_free(&t);
      }
    }
  }
}

static void all_blocks(void** state) {
  (void)state;
  const char* solvers[] = {"pgs", "auto", "newton", "admm", "ipm", "staggered"};
  for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; s++) {
    for (uint64_t seed = 1; seed <= 5; seed++) {
      tbTestProblem t = tb_test_backward_blocks(12, seed);
      recover(&t, solvers[s], 1e-12, 1e-9);
      tb_test_problem_free(&t);
    }
  }
}

// ncp/newton takes any solver's rough answer to 1e-12.
static void newton_polishes(void** state) {
  (void)state;
  const char* solvers[] = {"pgs", "admm", "ipm", "staggered", "auto"};
  for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; s++) {
    for (uint64_t seed = 1; seed <= 5; seed++) {
      tbTestProblem t = tb_test_backward(TB_STATE_MIXED, 10, 3, false, 0, 100 + seed);
      tbReal lambda[30] = {0};
      tb_test_solve(t.problem, TB_LAW_NCP, solvers[s], 1e-4, 10000, lambda);
      tbSolveSettings settings = tbDefaultSolveSettings();
      settings.solver = "newton";
      settings.tol = 1e-12;
      settings.warm_start = 1;
      tbSolveInfo info;
      assert_int_equal(tb_solve(t.problem, &settings, lambda, NULL, &info, NULL), TB_OK);
      assert_int_equal(info.status, TB_SOLVE_CONVERGED);
      assert_true(info.residual.relative <= 1e-12);
      assert_true(info.iterations <= 30);
      tb_test_problem_free(&t);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(regular_states),    cmocka_unit_test(degenerate_states),
      cmocka_unit_test(anisotropic_cones), cmocka_unit_test(all_blocks),
      cmocka_unit_test(newton_polishes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
