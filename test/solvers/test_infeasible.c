// Problems without a solution are reported as such, and only these.
#include "common/contact_problems.h"

// A body of mass 1 that moves along x, pressed on from both sides at `left` and `right` m/s, and a
// second one that falls on the floor.
typedef struct {
  tbReal G[81], g[9], R[9], lambda[9], mu[3];
  tbBlock block[3];
  tbProblem p;
} Walls;

static void make(Walls* w, tbReal left, tbReal right, tbReal compliance) {
  memset(w, 0, sizeof *w);
  for (int i = 0; i < 9; i++) w->G[10 * i] = 1;
  // Normals against each other, friction on one body.
  w->G[3] = w->G[27] = -1;
  w->G[1 * 9 + 4] = w->G[4 * 9 + 1] = w->G[2 * 9 + 5] = w->G[5 * 9 + 2] = 1;
  w->g[0] = -left;
  w->g[3] = -right;
  w->g[1] = w->g[4] = 0.3;
  w->g[6] = -1;
  w->g[7] = 2;
  for (int i = 0; i < 3; i++) w->mu[i] = 0.5;
  for (int i = 0; i < 9; i++) w->R[i] = compliance;
  tb_blocks_contacts(3, w->mu, w->block);
  w->p = (tbProblem){.n = 9, .nblock = 3, .block = w->block, .g = w->g, .R = w->R};
  w->p.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = w->G, .stride = 9};
}

static int status_of(Walls* w) {
  tbSolveInfo info;
  tbSolveSettings set = tbDefaultSolveSettings();
  tbError error;
  memset(w->lambda, 0, sizeof w->lambda);
  if (tb_solve(&w->p, &set, w->lambda, NULL, &info, &error) != TB_OK) fail_msg("%s", error.message);
  return info.status;
}

static void between_walls(void** state) {
  (void)state;
  Walls w;
  make(&w, 1, 1, 0);
  assert_int_equal(status_of(&w), TB_SOLVE_INFEASIBLE);
  assert_string_equal(tb_solve_status_name(TB_SOLVE_INFEASIBLE), "infeasible");
  make(&w, 1, -0.9, 0);
  assert_int_equal(status_of(&w), TB_SOLVE_INFEASIBLE);
  // The other side moves away at the same speed: barely feasible.
  make(&w, 1, -1, 0);
  assert_int_equal(status_of(&w), TB_SOLVE_CONVERGED);
  make(&w, 1, -2, 0);
  assert_int_equal(status_of(&w), TB_SOLVE_CONVERGED);
  // Compliant walls always have a solution.
  make(&w, 1, 1, 1e-3);
  assert_int_equal(status_of(&w), TB_SOLVE_CONVERGED);
}

static void contradicting_equalities(void** state) {
  (void)state;
  tbReal G[4] = {2, 2, 2, 2}, g[2] = {1, 0.5}, lambda[2] = {0};
  tbBlock block[2] = {{.type = TB_BLOCK_EQUALITY, .row = 0, .dim = 1},
                      {.type = TB_BLOCK_EQUALITY, .row = 1, .dim = 1}};
  tbProblem p = {.n = 2, .nblock = 2, .block = block, .g = g};
  p.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = G, .stride = 2};
  tbSolveInfo info;
  assert_int_equal(tb_solve(&p, NULL, lambda, NULL, &info, NULL), TB_OK);
  assert_int_equal(info.status, TB_SOLVE_INFEASIBLE);
  g[1] = 1;
  assert_int_equal(tb_solve(&p, NULL, lambda, NULL, &info, NULL), TB_OK);
  assert_int_equal(info.status, TB_SOLVE_CONVERGED);
}

// Problems built from their solution have one.
static void never_where_there_is_one(void** state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    tbTestProblem t = seed % 3 ? tb_test_backward(TB_STATE_MIXED, 8, 3, seed % 2, 0, seed)
                               : tb_test_backward_blocks(9, seed);
    tbReal* lambda = calloc((size_t)t.problem->n, sizeof *lambda);
    tbSolveSettings set = tbDefaultSolveSettings();
    tbSolveInfo info;
    set.tol = 1e-14;
    assert_int_equal(tb_solve(t.problem, &set, lambda, NULL, &info, NULL), TB_OK);
    assert_int_not_equal(info.status, TB_SOLVE_INFEASIBLE);
    free(lambda);
    tb_test_problem_free(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(between_walls),
                                     cmocka_unit_test(contradicting_equalities),
                                     cmocka_unit_test(never_where_there_is_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
