// The first contact of solver and problem: one cube's contact in its three states.
#include "common/test.h"
#include "tribo/problem.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_contact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
