// Memory of a solve: limits and discarded warm starts; names of laws, the largest part of a
// residual.
#include "common/contact_problems.h"

static tbResult solve(const tbProblem* p, const char* solver, tbSolveWork* work, tbReal* lambda,
                      tbSolveInfo* info) {
  tbSolveSettings settings = tbDefaultSolveSettings();
  settings.solver = solver;
  settings.warm_start = 1;  // from zero, with what the memory knows
  for (int i = 0; i < p->n; i++) lambda[i] = 0;
  return tb_solve(p, &settings, lambda, work, info, NULL);
}

static void memory_stays_within_its_limit(void** state) {
  (void)state;
  tbTestProblem problem = tb_test_backward(TB_STATE_MIXED, 20, 3, false, 0, 7);
  tbReal lambda[60];
  tbSolveInfo info;
  assert_int_equal(problem.problem->n, 60);
  tbSolveWork* free_work = tb_solve_work_create();
  assert_int_equal(solve(problem.problem, "admm", free_work, lambda, &info), TB_OK);
  size_t needed = tb_solve_work_bytes(free_work);
  tb_solve_work_free(free_work);

  // Half of the necessary memory: an error, and the answer is left unchanged.
  tbSolveWork* work = tb_solve_work_create();
  tb_solve_work_limit(work, needed / 2);
  assert_int_equal(solve(problem.problem, "admm", work, lambda, &info), TB_ERROR_MEMORY);
  for (int i = 0; i < 60; i++) assert_true(lambda[i] == 0);
  assert_true(tb_solve_work_bytes(work) <= needed);
  // Without the limit the same memory serves.
  tb_solve_work_limit(work, 0);
  assert_int_equal(solve(problem.problem, "admm", work, lambda, &info), TB_OK);
  assert_int_equal(info.status, TB_SOLVE_CONVERGED);
  tb_solve_work_free(work);
  tb_test_problem_free(&problem);
}

// Memory that has solved something starts ADMM elsewhere, memory that has forgotten as new memory.
static void forgotten_memory_gives_the_bits_of_new_memory(void** state) {
  (void)state;
  tbTestProblem problem = tb_test_backward(TB_STATE_MIXED, 12, 3, false, 0, 8);
  tbReal first[36], again[36], fresh[36];
  tbSolveInfo info, info_again;
  tbSolveWork* work = tb_solve_work_create();
  assert_int_equal(solve(problem.problem, "admm", work, first, &info), TB_OK);
  assert_int_equal(solve(problem.problem, "admm", work, again, &info_again), TB_OK);
  assert_true(memcmp(first, again, sizeof first) != 0);
  tb_solve_work_forget(work);
  size_t allocations = tb_solve_work_allocations(work);
  assert_int_equal(solve(problem.problem, "admm", work, fresh, &info_again), TB_OK);
  assert_memory_equal(first, fresh, sizeof first);
  assert_int_equal(info.iterations, info_again.iterations);
  assert_int_equal(tb_solve_work_allocations(work), allocations);
  tb_solve_work_free(work);
  tb_test_problem_free(&problem);
}

static void laws_are_found_by_their_names(void** state) {
  (void)state;
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    assert_int_equal(tb_law_find(tb_law_name((tbLaw)law)), law);
  }
  assert_int_equal(tb_law_find("coulomb"), TB_LAW_COUNT);
  assert_int_equal(tb_law_find(""), TB_LAW_COUNT);
}

static void absolute_residual_is_the_largest_part(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    tbResidual r = {.primal = k == 0 ? 3 : 1,
                    .dual = k == 1 ? 3 : 2,
                    .complementarity = k == 2 ? 3 : 0.5,
                    .relative = 7};
    assert_true(tb_residual_absolute(&r) == 3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_stays_within_its_limit),
      cmocka_unit_test(forgotten_memory_gives_the_bits_of_new_memory),
      cmocka_unit_test(laws_are_found_by_their_names),
      cmocka_unit_test(absolute_residual_is_the_largest_part),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
