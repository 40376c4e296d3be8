// Building problems: the forms of G agree, and bad input is an error with a reason.
#include "common/contact_problems.h"
#include "operator/impulse_factor.h"

static const tbReal MASS[3] = {1, 10, 0.1};

static void forms_agree(void** state) {
  (void)state;
  tbTestProblem t = tb_test_stack(3, MASS, 0.5);
  int n = t.problem->n;
  tbProblem* forms[3] = {t.problem, tb_test_convert(t.problem, TB_DELASSUS_DENSE),
                         tb_test_convert(t.problem, TB_DELASSUS_SPARSE)};
  assert_int_equal(forms[0]->G.form, TB_DELASSUS_PRODUCT);
  assert_int_equal(forms[2]->G.form, TB_DELASSUS_SPARSE);
  tbReal *x = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *y),
         *first = calloc((size_t)n, sizeof *first);
  for (int i = 0; i < n; i++) x[i] = sin(1 + i);
  tb_problem_velocity(forms[0], x, first, NULL);
  for (int k = 1; k < 3; k++) {
    tb_problem_velocity(forms[k], x, y, NULL);
    assert_near_array(y, first, n, 1e-13);
  }
  tb_problem_free(forms[1]);
  tb_problem_free(forms[2]);
  free(x);
  free(y);
  free(first);
  tb_test_problem_free(&t);
}

// G of one body by hand: J M^-1 J^T of a contact below the centre of a cube.
static void mass_and_jacobian(void** state) {
  (void)state;
  tbTestProblem t = tb_test_table(1, 0.5, 0.2);
  tbReal* G = tb_test_matrix(t.problem);
  tbReal x = 0.5 * cos(0.3), y = 0.5 * sin(0.3), z = -0.5, i = 6;
  assert_near(G[0], 1 + i * (x * x + y * y), 1e-12);
  assert_near(G[4], 1 + i * (z * z + y * y), 1e-12);
  assert_near(G[1], -i * x * z, 1e-12);
  assert_near(t.problem->g[0], -9.81e-3, 1e-15);
  assert_near(t.problem->g[1], 0.2, 1e-15);
  free(G);
  tb_test_problem_free(&t);
}

// (G + R + D)^-1 on all three sides, and eigenvalues against a dense power iteration.
static void factors_agree(void** state) {
  (void)state;
  tbReal mass[16];
  for (int i = 0; i < 16; i++) mass[i] = 1 + i;
  tbTestProblem t = tb_test_stack(16, mass, 0.5);
  int n = t.problem->n;
  tbReal* R = calloc((size_t)n, sizeof *R);
  for (int i = 0; i < n; i++) R[i] = 0.01 * (1 + i % 3);
  tbProblem* forms[3] = {t.problem, tb_test_convert(t.problem, TB_DELASSUS_DENSE),
                         tb_test_convert(t.problem, TB_DELASSUS_SPARSE)};
  tbReal *shift = calloc((size_t)n, sizeof *shift), *b = calloc((size_t)n, sizeof *b),
         *x = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n + 100, sizeof *y),
         *first = calloc((size_t)n, sizeof *first), *v = calloc((size_t)n, sizeof *v);
  for (int k = 0; k < 3; k++) {
    tbArena arena;
    tbFactor factor;
    forms[k]->R = R;
    tb_arena_init(&arena);
    assert_true(tb_factor_init(&factor, forms[k], NULL, &arena));
    // Two shifts with one analysis.
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < n; i++) {
        shift[i] = 0.1 + round + 0.01 * (i % 7);
        b[i] = cos(i);
      }
      assert_true(tb_factor_shift(&factor, shift));
      tb_factor_solve(&factor, b, x);
      tb_problem_velocity(forms[k], x, y, NULL);
      for (int i = 0; i < n; i++) y[i] += shift[i] * x[i] - forms[k]->g[i];
      assert_near_array(y, b, n, 1e-10);
    }
    if (k == 0) {
      assert_int_equal(factor.side, TB_FACTOR_VELOCITY);
      memcpy(first, x, (size_t)n * sizeof *x);
    }
    assert_near_array(x, first, n, 1e-10);
    tbReal largest = tb_eigen_largest(forms[k], NULL, 500, v, y);
    for (int i = 0; i < n; i++) shift[i] = 0.5;
    assert_true(tb_factor_shift(&factor, shift));
    memset(v, 0, (size_t)n * sizeof *v);
    tbReal smallest = tb_eigen_smallest(&factor, 0.5, 200, v, y);
    // The smallest eigenvalue of G + R lies near the compliance, for G is singular.
    assert_true(smallest > 0.005 && smallest < 0.04);
    assert_true(largest > 1 && largest < 100);
    tb_arena_free(&arena);
    forms[k]->R = NULL;
  }
  for (int k = 1; k < 3; k++) tb_problem_free(forms[k]);
  tbReal* all[] = {R, shift, b, x, y, first, v};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) free(all[k]);
  tb_test_problem_free(&t);
}

// A known spectrum: diag(1 .. 12).
static void eigenvalues_of_a_diagonal(void** state) {
  (void)state;
  tbReal G[144] = {0}, g[12] = {0}, v[12] = {0}, work[12], shift[12], mu[4] = {1, 1, 1, 1};
  tbBlock block[4];
  tb_blocks_contacts(4, mu, block);
  for (int i = 0; i < 12; i++) {
    G[13 * i] = 1 + i;
    shift[i] = 0.25;
  }
  tbProblem p = {.n = 12, .nblock = 4, .block = block, .g = g};
  p.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = G, .stride = 12};
  assert_near(tb_eigen_largest(&p, NULL, 1000, v, work), 12, 2e-2);
  // Warm: the vector found makes a second call exact at once.
  assert_near(tb_eigen_largest(&p, NULL, 2, v, work), 12, 1e-2);
  tbArena arena;
  tbFactor factor;
  tb_arena_init(&arena);
  assert_true(tb_factor_init(&factor, &p, NULL, &arena));
  assert_true(tb_factor_shift(&factor, shift));
  memset(v, 0, sizeof v);
  assert_near(tb_eigen_smallest(&factor, 0.25, 1000, v, work), 1, 2e-2);
  // Warm again, and what two iterations reach without.
  assert_near(tb_eigen_smallest(&factor, 0.25, 2, v, work), 1, 1e-2);
  memset(v, 0, sizeof v);
  assert_true(fabs(tb_eigen_smallest(&factor, 0.25, 2, v, work) - 1) > 2e-2);
  memset(v, 0, sizeof v);
  assert_true(fabs(tb_eigen_largest(&p, NULL, 2, v, work) - 12) > 2e-2);
  tb_arena_free(&arena);
}

static void rejects(const tbProblem* p, const char* part) {
  tbError error;
  assert_int_equal(tb_problem_check(p, &error), TB_ERROR_ARGUMENT);
  if (!strstr(error.message, part)) fail_msg("\"%s\" does not name %s", error.message, part);
  // The solver refuses it, too, and leaves lambda alone.
  tbReal lambda[9] = {5, 5, 5, 5, 5, 5, 5, 5, 5};
  assert_int_equal(tb_solve(p, NULL, lambda, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  assert_true(lambda[0] == 5);
}

static void bad_input(void** state) {
  (void)state;
  tbReal G[36] = {0}, g[6] = {-1, 0, 0, -1, 0, 0}, mu[2] = {0.5, 0.5}, R[6] = {0};
  for (int i = 0; i < 6; i++) G[7 * i] = 1;
  tbBlock block[2];
  tb_blocks_contacts(2, mu, block);
  tbProblem good = {.n = 6, .nblock = 2, .block = block, .g = g, .R = R};
  good.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = G, .stride = 6};
  assert_int_equal(tb_problem_check(&good, NULL), TB_OK);

  tbProblem p = good;
  p.n = 7;
  rejects(&p, "rows");
  p = good;
  p.n = -1;
  rejects(&p, "size");
  p = good;
  p.g = NULL;
  rejects(&p, "g");
  p = good;
  p.G.form = 17;
  rejects(&p, "form");
  p = good;
  p.G.stride = 5;
  rejects(&p, "stride");
  block[1].mu[1] = -0.1;
  rejects(&good, "friction");
  block[1].mu[1] = NAN;
  rejects(&good, "friction");
  block[1].mu[1] = 0.5;
  block[1].row = 4;
  rejects(&good, "row");
  block[1].row = 3;
  block[1].dim = 9;
  rejects(&good, "rows");
  block[1].dim = 3;
  block[1].type = 12;
  rejects(&good, "type");
  block[1] = (tbBlock){.type = TB_BLOCK_BOX, .row = 3, .dim = 3, .lower = 1, .upper = 0};
  rejects(&good, "bounds");
  block[1] = (tbBlock){.type = TB_BLOCK_BOX, .row = 3, .dim = 3, .lower = NAN, .upper = 0};
  rejects(&good, "bounds");
  tb_blocks_contacts(2, mu, block);
  g[2] = INFINITY;
  rejects(&good, "g[2]");
  g[2] = 0;
  R[5] = -1e-3;
  rejects(&good, "R[5]");
  R[5] = 0;
  G[1] = NAN;
  rejects(&good, "G[1]");
  G[1] = 0.5;
  rejects(&good, "symmetric");
  G[1] = 0;
  G[0] = -1;
  rejects(&good, "negative");
  G[0] = 1;
  assert_int_equal(tb_problem_check(&good, NULL), TB_OK);
}

static void bad_creation(void** state) {
  (void)state;
  tbError error;
  tbReal mu = 0.5, g[3] = {-1, 0, 0}, value[3] = {1, 1, 1};
  tbBlock block;
  tb_blocks_contacts(1, &mu, &block);
  int start[4] = {0, 1, 2, 3}, column[3] = {0, 1, 2}, wrong[3] = {0, 1, 3};
  tbProblem* p = tb_problem_create_csr(1, &block, start, column, value, NULL, g, &error);
  assert_non_null(p);
  tb_problem_free(p);
  assert_null(tb_problem_create_csr(1, &block, start, wrong, value, NULL, g, &error));
  assert_non_null(strstr(error.message, "column"));
  value[1] = NAN;
  assert_null(tb_problem_create_csr(1, &block, start, column, value, NULL, g, &error));
  value[1] = 1;
  // A missing array is not an array of zeros.
  tbReal G[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  assert_null(tb_problem_create_dense(1, &block, NULL, NULL, g, &error));
  assert_null(tb_problem_create_dense(1, &block, G, NULL, NULL, &error));
  assert_non_null(strstr(error.message, "no free velocity"));
  assert_null(tb_problem_create_csr(1, &block, start, column, value, NULL, NULL, &error));
  assert_null(tb_problem_create_product(1, &block, 3, start, column, value, NULL, NULL, &error));
  assert_null(tb_problem_create_product(1, &block, -3, start, column, value, NULL, g, &error));
  assert_null(tb_problem_create_csr(-1, &block, start, column, value, NULL, g, &error));
  // M must be positive definite and symmetric.
  tbReal M[3] = {1, -1, 1}, v[3] = {0, 0, -1};
  assert_null(tb_problem_create_mass(1, &block, 3, start, column, M, start, column, value, NULL, v,
                                     NULL, &error));
  assert_non_null(strstr(error.message, "positive definite"));
  int full_start[4] = {0, 2, 3, 4}, full_column[4] = {0, 1, 1, 2};
  tbReal full[4] = {1, 0.5, 1, 1};
  assert_null(tb_problem_create_mass(1, &block, 3, full_start, full_column, full, start, column,
                                     value, NULL, v, NULL, &error));
  assert_non_null(strstr(error.message, "symmetric"));
  tb_problem_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forms_agree),   cmocka_unit_test(mass_and_jacobian),
      cmocka_unit_test(factors_agree), cmocka_unit_test(eigenvalues_of_a_diagonal),
      cmocka_unit_test(bad_input),     cmocka_unit_test(bad_creation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
