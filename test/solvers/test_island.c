// Parts of ncp/auto by themselves: Newton on an island converges fast from nearby, on regular and
// on hyperstatic problems, with and without the reduction of redundant contacts.
#include "base/rng.h"
#include "common/contact_problems.h"
#include "common/hard_problems.h"
#include "solvers/islands/island.h"

typedef struct {
  tbArena arena;
  tbSolveSettings settings;
  tbSolveInfo info;
  tbSolveCache cache;
  tbSolve solve;
  tbSolveIsland island;
} Setup;

static bool check(tbSolveIsland* island, const tbReal* lambda, const tbReal* sigma, int iteration,
                  tbReal penalty) {
  (void)iteration;
  (void)penalty;
  tbReal measure = tb_residual(&island->p, TB_LAW_NCP, lambda, sigma).relative;
  island->last_residual = measure;
  if (measure < island->best_residual) {
    island->best_residual = measure;
    memcpy(island->best, lambda, (size_t)island->p.n * sizeof *lambda);
  }
  island->converged = island->best_residual <= island->tolerance;
  return island->converged;
}

static void open_island(Setup* s, const tbProblem* p, tbReal tolerance) {
  memset(s, 0, sizeof *s);
  tb_arena_init(&s->arena);
  s->settings = tbDefaultSolveSettings();
  s->solve = (tbSolve){.p = p,
                       .settings = &s->settings,
                       .law = TB_LAW_NCP,
                       .arena = &s->arena,
                       .cache = &s->cache,
                       .info = &s->info};
  assert_true(tb_island_extract(&s->island, &s->solve, NULL, 0));
  s->island.check = check;
  s->island.tolerance = tolerance;
}

// From a point that is off by `noise`: how many steps to the tolerance?
static int newton_steps(const tbProblem* p, const tbReal* near, tbReal noise, tbReal tolerance) {
  Setup s;
  tbRng rng = {5};
  open_island(&s, p, tolerance);
  for (int i = 0; i < p->n; i++) s.island.best[i] = near[i] * (1 + noise * tb_rng_normal(&rng));
  assert_true(tb_island_newton(&s.island, 60));
  int steps = s.island.converged ? s.island.iterations : 1000;
  assert_int_equal(s.island.factorizations, s.island.iterations);
  tb_arena_free(&s.arena);
  return steps;
}

static void newton_is_fast_nearby(void** state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    tbTestState kind = seed % 2 ? TB_STATE_SLIDE : TB_STATE_STICK;
    tbTestProblem t = tb_test_backward(kind, 6, seed % 4 < 2 ? 3 : 6, seed % 3 == 0, 0, seed);
    assert_true(newton_steps(t.problem, t.lambda, 1e-3, 1e-12) <= 4);
    tb_test_problem_free(&t);
  }
}

// Boxes on boxes, four contacts a face: impulses are not unique.
static void newton_on_stacks(void** state) {
  (void)state;
  tbReal mass[3] = {1, 100, 3};
  tbTestProblem t = tb_test_stack(3, mass, 0.5);
  tbReal lambda[36] = {0};
  tb_test_solve(t.problem, TB_LAW_NCP, "auto", 1e-9, 10000, lambda);
  assert_true(newton_steps(t.problem, lambda, 1e-3, 1e-11) <= 6);
  tb_test_problem_free(&t);
}

// The first iterations of interior points, into `lambda`: products are still large there.
static void iterate(tbSolveIsland* island, tbReal* lambda) {
  const tbIpmSettings settings = {3, 3, true, false, 0.03, 1, 1, 0, 0};
  island->best_residual = INFINITY;
  island->converged = false;
  assert_true(tb_island_ipm(island, &settings, NULL));
  memcpy(lambda, island->best, (size_t)island->p.n * sizeof *lambda);
}

// Walls large enough for the reduction: the plain LU replaces it unless its cost is far higher, and
// steps are the same: refined to residuals of 1e-13, times the condition number of the system. The
// LU does not change whether they lead to an answer.
static void plain_factors(void** state) {
  (void)state;
  static tbReal reduced[2000], plain[2000];
  int replaced = 0, kept = 0;
  for (uint64_t seed = 1; seed < 60 && (!replaced || !kept); seed++) {
    Setup s;
    tbReal most = 0;
    tbProblem* p = tb_hard_problem(1, 1, seed);
    assert_non_null(p);
    assert_true(p->n <= 2000);
    open_island(&s, p, 1e-7);
    assert_true(tb_island_analyze(&s.island));
    assert_true(s.island.lu.any);
    assert_true(s.island.lu.lu.size < p->n);
    iterate(&s.island, reduced);
    assert_true(tb_island_analyze_plain(&s.island));
    if (s.island.lu.any) {
      kept++;
    } else {
      assert_int_equal(s.island.lu.lu.size, p->n);
      assert_true(s.island.lu.lu.flops < 1e9);
      iterate(&s.island, plain);
      for (int i = 0; i < p->n; i++) most = fmax(most, fabs(reduced[i]));
      assert_near_array(plain, reduced, p->n, 1e-7 * most);
      replaced++;
    }
    tb_arena_free(&s.arena);
    tb_problem_free(p);
  }
  assert_true(replaced > 0 && kept > 0);
}

// A proof that there is no solution is never found where there is one: these scenes have gaps and
// corrections that bodies can follow.
static void no_false_proof(void** state) {
  (void)state;
  for (int family = 0; family < 9; family++) {
    for (uint64_t seed = 300; seed < 306; seed++) {
      Setup s;
      bool proven = true;
      tbProblem* p = tb_hard_problem(family, 0, seed);
      assert_non_null(p);
      open_island(&s, p, 1e-6);
      assert_true(tb_island_infeasible(&s.island, &proven));
      if (proven) fail_msg("%s %d", tb_hard_family_name(family), (int)seed);
      tb_arena_free(&s.arena);
      tb_problem_free(p);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(newton_is_fast_nearby), cmocka_unit_test(newton_on_stacks),
      cmocka_unit_test(plain_factors), cmocka_unit_test(no_false_proof)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
