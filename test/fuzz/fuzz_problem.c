// Contact problems as another engine might hand them over, and every solver on them. The input
// chooses blocks, the form of G and every number, small ones and nasty ones alike.
#include <limits.h>
#include <math.h>

#include "fuzz/fuzz.h"

enum { MAX_BLOCKS = 6, MAX_ROWS = MAX_BLOCKS * TB_MAX_BLOCK_DIM, MAX_COLUMNS = 12 };

// The remaining input; zeros after its end.
typedef struct {
  const uint8_t* at;
  size_t left;
} Input;

static int take(Input* in, int below) {
  if (!in->left) return 0;
  in->left--;
  return *in->at++ % below;
}

// Mostly plain numbers; sometimes one at the limits of double.
static tbReal number(Input* in) {
  static const tbReal ODD[] = {0,   1,   -1,    1e-300,    1e300, 1e-12,    -1e12, -INFINITY,
                               NAN, 1e8, -1e-8, 0x1p-1074, -0.0,  INFINITY, 1e16,  -1e-16};
  int a = take(in, 256);
  return a < 16 ? ODD[a] : (a - 128) * pow(10, take(in, 16) / 4 - 2);
}

static int make_blocks(Input* in, tbBlock* block, int* n) {
  int nblock = take(in, MAX_BLOCKS + 1);
  *n = 0;
  for (int i = 0; i < nblock; i++) {
    tbBlock* b = &block[i];
    *b = (tbBlock){.type = take(in, 4), .row = *n, .dim = 1 + take(in, TB_MAX_BLOCK_DIM)};
    for (int k = 0; k < TB_MAX_BLOCK_DIM - 1; k++) b->mu[k] = fabs(number(in));
    b->lower = number(in), b->upper = number(in);
    // One in sixteen is wrong on purpose.
    if (take(in, 16) == 15) b->type = take(in, 256) - 128, b->dim = take(in, 256) - 128;
    *n += b->dim > 0 && b->dim <= TB_MAX_BLOCK_DIM ? b->dim : 0;
  }
  return nblock;
}

static void check_answer(const tbProblem* p, const tbReal* lambda, const tbSolveInfo* info,
                         const tbSolveSettings* set) {
  FUZZ_CHECK(info->status >= TB_SOLVE_CONVERGED && info->status <= TB_SOLVE_INFEASIBLE, "status");
  for (int i = 0; i < p->n; i++) FUZZ_CHECK(isfinite(lambda[i]), set->solver);
  FUZZ_CHECK(!isnan(info->residual.relative), set->solver);
  FUZZ_CHECK(info->status != TB_SOLVE_CONVERGED || info->residual.relative <= set->tol,
             set->solver);
}

static void solve_all(const tbProblem* p) {
  tbReal lambda[MAX_ROWS + 1], before[MAX_ROWS + 1];
  for (int i = 0; i < tb_solver_count(); i++) {
    tbSolveSettings set = tbDefaultSolveSettings();
    set.law = tb_solver_law(i);
    set.solver = tb_solver_name(i);
    set.max_iter = 30;
    for (int k = 0; k <= MAX_ROWS; k++) lambda[k] = before[k] = k;
    tbSolveInfo info = {0};
    tbError error = {0};
    if (tb_solve(p, &set, lambda, NULL, &info, &error) == TB_OK) {
      check_answer(p, lambda, &info, &set);
    } else {
      FUZZ_CHECK(error.code != TB_OK && error.message[0], "an error without a message");
      FUZZ_CHECK(memcmp(lambda, before, sizeof lambda) == 0, "an error that changed lambda");
    }
  }
}

// Replace an entry of an array of indices by another number; nothing after the end of the input.
static void damage(Input* in, int* index, int n) {
  static const int ODD[] = {-1, 0, 1, 5, 1000, INT_MAX, INT_MIN, 1 << 30};
  for (int k = take(in, 4); k > 0 && n > 0; k--) index[take(in, n)] = ODD[take(in, 8)];
}

static int* copy_ints(const int* from, int n) {
  int* to = malloc(sizeof *to * (size_t)(n + 1));
  if (to && n > 0) memcpy(to, from, sizeof *to * (size_t)n);
  return to;
}

// A problem that a user filled, with wrong indices and arrays of exactly their length: if it passes
// the check it can be multiplied, else every function returns an error.
static void damage_by_hand(Input* in, const tbProblem* p) {
  tbProblem q = *p;
  tbDelassus* G = &q.G;
  bool sparse = G->form == TB_DELASSUS_SPARSE;
  int rows = sparse ? p->nblock : p->n;
  const int* start = sparse ? G->block_start : G->row_start;
  if (G->form == TB_DELASSUS_DENSE || !start) return;
  int entries = start[rows];
  int *starts = copy_ints(start, rows + 1), *offsets = NULL;
  int* columns = copy_ints(sparse ? G->block_column : G->row_column, entries);
  if (sparse) offsets = copy_ints(G->block_offset, entries);
  damage(in, starts, rows + 1);
  damage(in, columns, entries);
  if (offsets) damage(in, offsets, entries);
  if (sparse) G->block_start = starts, G->block_column = columns, G->block_offset = offsets;
  if (!sparse) G->row_start = starts, G->row_column = columns;
  tbReal lambda[MAX_ROWS + 1] = {0}, sigma[MAX_ROWS + 1];
  tbError error = {0};
  tbResult checked = tb_problem_check(&q, &error);
  FUZZ_CHECK(checked == TB_OK || error.message[0], "an error without a message");
  tbResult multiplied = tb_problem_velocity(&q, lambda, sigma, &error);
  FUZZ_CHECK(checked != TB_OK || multiplied == TB_OK, "what passes the check is multiplied");
  free(starts);
  free(columns);
  free(offsets);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  Input in = {bytes, size};
  int form = take(&in, 3), ncol = 1 + take(&in, MAX_COLUMNS), n = 0;
  bool compliant = take(&in, 2);
  tbBlock block[MAX_BLOCKS];
  int nblock = make_blocks(&in, block, &n);
  tbReal B[MAX_ROWS * MAX_COLUMNS], G[MAX_ROWS * MAX_ROWS], R[MAX_ROWS], g[MAX_ROWS];
  int start[MAX_ROWS + 1], column[MAX_ROWS * MAX_ROWS];
  for (int i = 0; i < n * ncol; i++) B[i] = number(&in);
  for (int i = 0; i < n; i++) R[i] = fabs(number(&in)), g[i] = number(&in);
  // G = B B^T, so that finite numbers give a valid problem; or arbitrary numbers where the input
  // selects them.
  bool nonsense = take(&in, 16) == 15;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      tbReal sum = nonsense ? number(&in) : 0;
      for (int k = 0; k < ncol; k++) sum += B[i * ncol + k] * B[j * ncol + k];
      G[i * n + j] = sum;
    }
  }
  int width = form == 2 ? ncol : n;
  for (int i = 0; i <= n; i++) start[i] = i * width;
  for (int i = 0; i < n * width; i++) column[i] = i % width;
  damage(&in, start, n + 1);
  damage(&in, column, n * width);
  tbError error = {0};
  const tbReal* soft = compliant ? R : NULL;
  tbProblem* p =
      form == 0 ? tb_problem_create_dense(nblock, block, G, soft, g, &error)
      : form == 1
          ? tb_problem_create_csr(nblock, block, start, column, G, soft, g, &error)
          : tb_problem_create_product(nblock, block, ncol, start, column, B, soft, g, &error);
  FUZZ_CHECK(p || (error.code != TB_OK && error.message[0]), "an error without a message");
  if (p) damage_by_hand(&in, p);
  if (p) solve_all(p);
  tb_problem_free(p);
  return 0;
}
