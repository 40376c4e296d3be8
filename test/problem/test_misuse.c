// Wrongly filled problems are refused with the reason, and no memory outside of their arrays is
// read.
#include <limits.h>

#include "common/test.h"
#include "tribo/problem.h"

static void stale(tbError* error) {
  error->code = TB_OK;
  strcpy(error->message, "OLD");
}

static void assert_says(const tbError* error, const char* part) {
  assert_int_equal(error->code, TB_ERROR_ARGUMENT);
  if (!strstr(error->message, part)) fail_msg("\"%s\" does not say \"%s\"", error->message, part);
}

// tb_problem_check, tb_solve and tb_problem_velocity refuse it alike.
static void refused(const tbProblem* p, const char* part) {
  tbError error;
  tbReal lambda[12] = {0};
  stale(&error);
  assert_int_equal(tb_problem_check(p, &error), TB_ERROR_ARGUMENT);
  assert_says(&error, part);
  stale(&error);
  assert_int_equal(tb_solve(p, NULL, lambda, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  assert_says(&error, part);
}

static void refused_everywhere(const tbProblem* p, const char* part) {
  refused(p, part);
  tbError error;
  tbReal lambda[12] = {0}, sigma[12];
  stale(&error);
  assert_int_equal(tb_problem_velocity(p, lambda, sigma, &error), TB_ERROR_ARGUMENT);
  assert_says(&error, part);
}

// ---- compressed rows ----------------------------------------------------------------------------

// Two contacts; the arrays are as long as a right problem needs, on the heap so that a sanitizer
// sees what lies outside.
typedef struct {
  tbBlock block[2];
  tbReal g[6];
  int *start, *column;
  tbReal* value;
} Rows;

static void rows_open(Rows* r) {
  tbReal mu[2] = {0.5, 0.5};
  memset(r, 0, sizeof *r);
  tb_blocks_contacts(2, mu, r->block);
  r->start = malloc(7 * sizeof *r->start);
  r->column = malloc(6 * sizeof *r->column);
  r->value = malloc(6 * sizeof *r->value);
  for (int i = 0; i < 6; i++) {
    r->start[i] = r->column[i] = i;
    r->value[i] = 1;
    r->g[i] = -1;
  }
  r->start[6] = 6;
}

static void rows_close(Rows* r) {
  free(r->start);
  free(r->column);
  free(r->value);
}

typedef struct {
  int row, start;
  const char* reason;
} BadStart;

static const BadStart BAD_STARTS[] = {
    {0, 1, "begin with 0"},    {0, -1, "begin with 0"},        {1, INT_MAX, "entries"},
    {1, -3, "below the last"}, {3, INT_MIN, "below the last"}, {2, 1000000, "entries"},
    {6, INT_MAX, "entries"},   {4, 2, "below the last"},
};

static void starts_that_lead_outside(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof BAD_STARTS / sizeof *BAD_STARTS; i++) {
    const BadStart* bad = &BAD_STARTS[i];
    Rows r;
    rows_open(&r);
    r.start[bad->row] = bad->start;
    tbError error;
    stale(&error);
    assert_null(tb_problem_create_csr(2, r.block, r.start, r.column, r.value, NULL, r.g, &error));
    assert_says(&error, bad->reason);
    stale(&error);
    assert_null(
        tb_problem_create_product(2, r.block, 6, r.start, r.column, r.value, NULL, r.g, &error));
    assert_says(&error, bad->reason);
    // As M and as J.
    int start[7] = {0, 1, 2, 3, 4, 5, 6}, column[6] = {0, 1, 2, 3, 4, 5};
    tbReal one[6] = {1, 1, 1, 1, 1, 1};
    stale(&error);
    assert_null(tb_problem_create_mass(2, r.block, 6, r.start, r.column, r.value, start, column,
                                       one, NULL, one, NULL, &error));
    assert_says(&error, bad->reason);
    stale(&error);
    assert_null(tb_problem_create_mass(2, r.block, 6, start, column, one, r.start, r.column,
                                       r.value, NULL, one, NULL, &error));
    assert_says(&error, bad->reason);
    // By hand.
    tbProblem p = {.n = 6, .nblock = 2, .block = r.block, .g = r.g};
    p.G = (tbDelassus){.form = TB_DELASSUS_PRODUCT,
                       .ncol = 6,
                       .row_start = r.start,
                       .row_column = r.column,
                       .row_value = r.value};
    refused_everywhere(&p, bad->reason);
    rows_close(&r);
  }
}

static void columns_that_are_not_there(void** state) {
  (void)state;
  static const int BAD[] = {-1, 6, INT_MAX, INT_MIN};
  for (int i = 0; i < 4; i++) {
    Rows r;
    rows_open(&r);
    r.column[5] = BAD[i];
    tbError error;
    stale(&error);
    assert_null(tb_problem_create_csr(2, r.block, r.start, r.column, r.value, NULL, r.g, &error));
    assert_says(&error, "column");
    tbProblem p = {.n = 6, .nblock = 2, .block = r.block, .g = r.g};
    p.G = (tbDelassus){.form = TB_DELASSUS_PRODUCT,
                       .ncol = 6,
                       .row_start = r.start,
                       .row_column = r.column,
                       .row_value = r.value};
    refused_everywhere(&p, "columns must ascend");
    rows_close(&r);
  }
}

// ---- blocks -------------------------------------------------------------------------------------

typedef struct {
  tbProblem p;
  tbBlock block[2];
  tbReal g[6];
  int start[3], column[4], offset[4];
  tbReal* value;  // (0, 0), (0, 1), (1, 0), (1, 1), 9 each
} Blocks;

static void blocks_open(Blocks* b) {
  tbReal mu[2] = {0.5, 0.5};
  memset(b, 0, sizeof *b);
  tb_blocks_contacts(2, mu, b->block);
  b->value = calloc(36, sizeof(tbReal));
  for (int i = 0; i < 6; i++) b->g[i] = -1;
  for (int k = 0; k < 4; k++) {
    b->column[k] = k % 2;
    b->offset[k] = 9 * k;
  }
  for (int i = 0; i < 3; i++) {
    b->start[i] = 2 * i;
    b->value[4 * i] = b->value[27 + 4 * i] = 1;
    b->value[9 + 4 * i] = b->value[18 + 4 * i] = 0.25;
  }
  b->p = (tbProblem){.n = 6, .nblock = 2, .block = b->block, .g = b->g};
  b->p.G = (tbDelassus){.form = TB_DELASSUS_SPARSE,
                        .block_start = b->start,
                        .block_column = b->column,
                        .block_offset = b->offset,
                        .block_value = b->value};
}

static void blocks_that_lead_outside(void** state) {
  (void)state;
  typedef struct {
    int array, at, value;
    const char* reason;
  } Bad;
  static const Bad BAD[] = {
      {0, 0, 1, "begin with 0"},
      {0, 1, 1000000, "entries"},
      {0, 1, -1, "below the last"},
      {0, 2, INT_MAX, "entries"},
      {0, 2, 1, "below the last"},
      {1, 1, 2, "block column"},
      {1, 2, -1, "block column"},
      {1, 0, INT_MAX, "block column"},
      {1, 1, 0, "twice"},
      {2, 0, 9, "block_offset[0]"},
      {2, 3, INT_MAX, "block_offset[3]"},
      {2, 1, 0, "block_offset[1]"},
      {2, 2, -9, "block_offset[2]"},
      {2, 3, 28, "block_offset[3]"},
  };
  Blocks b;
  blocks_open(&b);
  assert_int_equal(tb_problem_check(&b.p, NULL), TB_OK);
  free(b.value);
  for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
    blocks_open(&b);
    int* const array[] = {b.start, b.column, b.offset};
    array[BAD[i].array][BAD[i].at] = BAD[i].value;
    refused_everywhere(&b.p, BAD[i].reason);
    free(b.value);
  }
}

// A count of blocks whose rows do not fit an int.
static void sizes_that_overflow(void** state) {
  (void)state;
  Blocks b;
  blocks_open(&b);
  b.p.n = INT_MAX;
  refused_everywhere(&b.p, "rows");
  b.p.n = 6;
  b.p.G.form = TB_DELASSUS_PRODUCT;
  b.p.G.ncol = -1;
  refused_everywhere(&b.p, "columns");
  free(b.value);
}

// ---- indefinite G -------------------------------------------------------------------------------

static tbProblem dense(int n, int nblock, const tbBlock* block, const tbReal* G, const tbReal* g) {
  tbProblem p = {.n = n, .nblock = nblock, .block = block, .g = g};
  p.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = G, .stride = n};
  return p;
}

static void indefinite_blocks(void** state) {
  (void)state;
  tbReal mu = 0.5, g[3] = {-1, 0.3, 0};
  tbBlock block, rows[2] = {{.type = TB_BLOCK_ONE_SIDED, .row = 0, .dim = 1},
                            {.type = TB_BLOCK_ONE_SIDED, .row = 1, .dim = 1}};
  tb_blocks_contacts(1, &mu, &block);
  // A minor of two rows, in one block and across two.
  const tbReal two[9] = {1, 2, 0, 2, 1, 0, 0, 0, 1}, across[4] = {1, -1.001, -1.001, 1};
  tbProblem p = dense(3, 1, &block, two, g);
  refused(&p, "indefinite");
  p = dense(2, 2, rows, across, g);
  refused(&p, "indefinite");
  // All minors of two rows are positive, the determinant is -0.25.
  const tbReal three[9] = {1, -0.75, -0.75, -0.75, 1, -0.75, -0.75, -0.75, 1};
  p = dense(3, 1, &block, three, g);
  refused(&p, "diagonal block 0");
  // In blocks, within one and between two.
  Blocks b;
  blocks_open(&b);
  b.value[9] = b.value[18] = 1.5;
  refused(&b.p, "indefinite");
  free(b.value);
  blocks_open(&b);
  memcpy(b.value, three, sizeof three);
  refused(&b.p, "diagonal block 0");
  free(b.value);
  // On the border, and to the digits of a file: both are positive semidefinite.
  const tbReal border[9] = {1, 1, 0, 1, 1, 0, 0, 0, 0};
  p = dense(3, 1, &block, border, g);
  assert_int_equal(tb_problem_check(&p, NULL), TB_OK);
  const tbReal rounded[9] = {1, 1 + 1e-9, 0, 1 + 1e-9, 1, 0, 0, 0, 1};
  p = dense(3, 1, &block, rounded, g);
  assert_int_equal(tb_problem_check(&p, NULL), TB_OK);
}

// What shows only in the whole matrix: a solver that finds no answer says so.
static void indefinite_as_a_whole(void** state) {
  (void)state;
  tbReal g[4] = {-1, -1, -1, -1}, G[16];
  tbBlock block[4];
  for (int i = 0; i < 4; i++) {
    block[i] = (tbBlock){.type = TB_BLOCK_ONE_SIDED, .row = i, .dim = 1};
    for (int j = 0; j < 4; j++) G[4 * i + j] = i == j ? 1 : -0.75;
  }
  tbProblem p = dense(4, 4, block, G, g);
  assert_int_equal(tb_problem_check(&p, NULL), TB_OK);
  int refusals = 0;
  for (int k = 0; k < tb_solver_count(); k++) {
    tbSolveSettings settings = tbDefaultSolveSettings();
    settings.law = (int)tb_solver_law(k);
    settings.solver = tb_solver_name(k);
    settings.max_iter = 200;
    tbReal lambda[4] = {7, 7, 7, 7};
    tbSolveInfo info;
    tbError error;
    stale(&error);
    tbResult result = tb_solve(&p, &settings, lambda, NULL, &info, &error);
    if (result == TB_OK) {
      // No answer exists: (G lambda)_i >= 1 for all i and lambda >= 0 contradict each other.
      fail_msg("%s/%s: %s", info.law, info.solver, tb_solve_status_name(info.status));
    }
    if (result == TB_ERROR_UNSUPPORTED) continue;
    assert_says(&error, "indefinite");
    assert_true(lambda[0] == 7 && lambda[3] == 7);
    refusals++;
  }
  assert_true(refusals >= 10);
}

// ---- missing arrays ----------------------------------------------------------------------------

static void null_arguments(void** state) {
  (void)state;
  tbReal mu = 0.5, g[3] = {-1, 0, 0}, G[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, x[3] = {0};
  tbBlock block;
  tb_blocks_contacts(1, NULL, &block);
  tb_blocks_contacts(1, &mu, NULL);
  tb_blocks_contacts(-3, &mu, &block);
  tb_blocks_contacts(1, &mu, &block);
  tbProblem p = dense(3, 1, &block, G, g), empty = {.n = 3};
  const tbResidual none[] = {
      tb_residual(NULL, TB_LAW_NCP, x, x), tb_residual(&p, TB_LAW_NCP, NULL, x),
      tb_residual(&p, TB_LAW_NCP, x, NULL), tb_residual(&empty, TB_LAW_NCP, x, x)};
  for (int i = 0; i < 4; i++) {
    assert_true(isinf(none[i].relative) && isinf(none[i].primal));
    assert_true(isinf(tb_residual_absolute(&none[i])));
  }
  assert_true(isinf(tb_residual_absolute(NULL)));
  tbError error;
  stale(&error);
  assert_int_equal(tb_problem_check(NULL, &error), TB_ERROR_ARGUMENT);
  assert_says(&error, "problem");
  stale(&error);
  assert_int_equal(tb_problem_velocity(&empty, x, x, &error), TB_ERROR_ARGUMENT);
  assert_string_not_equal(error.message, "OLD");
  stale(&error);
  assert_int_equal(tb_solve(NULL, NULL, x, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  assert_string_not_equal(error.message, "OLD");
  assert_int_equal(tb_law_find(NULL), TB_LAW_COUNT);
  assert_int_equal(tb_solve_work_allocations(NULL), 0);
  assert_int_equal(tb_solve_work_bytes(NULL), 0);
  tb_solve_work_limit(NULL, 1);
  tb_solve_work_forget(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(starts_that_lead_outside), cmocka_unit_test(columns_that_are_not_there),
      cmocka_unit_test(blocks_that_lead_outside), cmocka_unit_test(sizes_that_overflow),
      cmocka_unit_test(indefinite_blocks),        cmocka_unit_test(indefinite_as_a_whole),
      cmocka_unit_test(null_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
