// Random hard problems of every family: `auto` solves nearly all of them to 1e-6, and no solver
// reports success that the residual function denies.
#include "common/hard_problems.h"
#include "common/test.h"

static bool solve(const tbProblem* p, const char* solver, double limit, tbSolveInfo* info) {
  tbReal *lambda = calloc((size_t)p->n + 1, sizeof *lambda),
         *sigma = calloc((size_t)p->n + 1, sizeof *sigma);
  tbSolveSettings set = tbDefaultSolveSettings();
  tbError error;
  set.solver = solver;
  set.time_limit = limit;
  if (tb_solve(p, &set, lambda, NULL, info, &error) != TB_OK) fail_msg("%s", error.message);
  assert_int_equal(tb_problem_velocity(p, lambda, sigma, NULL), TB_OK);
  tbReal relative = tb_residual(p, TB_LAW_NCP, lambda, sigma).relative;
  assert_true((info->status == TB_SOLVE_CONVERGED) == (relative <= set.tol));
  free(lambda);
  free(sigma);
  return info->status == TB_SOLVE_CONVERGED;
}

static void families(void** state) {
  (void)state;
  int solved = 0, count = 0;
  for (int f = 0; f < tb_hard_family_count(); f++) {
    for (uint64_t seed = 100; seed < 125; seed++) {
      tbProblem* p = tb_hard_problem(f, 0, seed);
      tbSolveInfo info;
      assert_non_null(p);
      bool good = solve(p, "auto", 0, &info);
      if (!good) {
        print_message("%s %d, %d blocks: %s, %.1e\n", tb_hard_family_name(f), (int)seed, p->nblock,
                      tb_solve_status_name((tbSolveStatus)info.status), info.residual.relative);
      }
      solved += good;
      count++;
      tb_problem_free(p);
    }
  }
  print_message("%d of %d\n", solved, count);
  assert_true(solved >= 0.99 * count);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(families)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
