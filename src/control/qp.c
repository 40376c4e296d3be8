// A strictly convex quadratic program as a contact problem: with x = H^-1 (A'z - c), the dual is K
// ∋ z ⟂ G z + g ∈ K*, G = A H^-1 A', which is the law ccp. Multipliers take the role of impulses.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/error.h"
#include "control/work.h"
#include "linalg/dense.h"
#include "tribo/control.h"

// ---- memory ------------------------------------------------------------------------------------

tbControlWork* tb_control_work_create(void) {
  tbControlWork* work = calloc(1, sizeof *work);
  if (!work) return NULL;
  tb_arena_init(&work->arena);
  work->solve = tb_solve_work_create();
  if (work->solve) return work;
  free(work);
  return NULL;
}

void tb_control_work_free(tbControlWork* work) {
  if (!work) return;
  tb_arena_free(&work->arena);
  tb_solve_work_free(work->solve);
  free(work);
}

size_t tb_control_work_allocations(const tbControlWork* work) {
  return work ? work->arena.allocations + tb_solve_work_allocations(work->solve) : 0;
}

// ---- the dual ----------------------------------------------------------------------------------

static int rows_of(const tbQp* qp) {
  int rows = 0;
  for (int i = 0; i < qp->nblock; i++) rows += qp->block[i].dim;
  return rows;
}

static tbResult check(const tbQp* qp, tbError* error) {
  enum { MOST_ROWS = 30000 };
  if (!qp || qp->n < 1 || !qp->H || !qp->c || qp->nblock < 0) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "a quadratic program needs unknowns, H and c");
  }
  if (qp->nblock > 0 && (!qp->block || !qp->A || !qp->b)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "a quadratic program with blocks needs A and b");
  }
  long long rows = 0;
  for (int i = 0; i < qp->nblock; i++) {
    int dim = qp->block[i].dim;
    if (qp->block[i].type == TB_BLOCK_BOX) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "block %d: box blocks are not allowed", i);
    }
    if (dim < 1 || dim > TB_MAX_BLOCK_DIM) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "block %d: %d rows, 1 to %d expected", i, dim,
                     TB_MAX_BLOCK_DIM);
    }
    rows += dim;
  }
  // Matrix sizes are products of these two.
  if (rows > MOST_ROWS || qp->n > MOST_ROWS) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "%d unknowns and %lld rows, up to %d expected", qp->n,
                   rows, MOST_ROWS);
  }
  for (int i = 0; i < qp->n * qp->n; i++) {
    if (!isfinite(qp->H[i]) || !isfinite(qp->c[i % qp->n])) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "H or c is not finite");
    }
  }
  return TB_OK;
}

// W = A L^-T by rows, so that G = W W'; and y = L^-1 c, so that A H^-1 c = W y.
static void half_solve(int n, const tbReal* L, tbReal* x) {
  for (int i = 0; i < n; i++) {
    tbReal sum = x[i];
    for (int k = 0; k < i; k++) sum -= L[i * n + k] * x[k];
    x[i] = sum / L[i * n + i];
  }
}

static void build_dual(const tbQp* qp, int rows, const tbReal* L, tbReal* W, tbReal* y, tbReal* G,
                       tbReal* g) {
  int n = qp->n;
  memcpy(y, qp->c, sizeof(tbReal) * (size_t)n);
  half_solve(n, L, y);
  for (int i = 0; i < rows; i++) {
    tbReal* row = W + i * n;
    memcpy(row, qp->A + i * n, sizeof(tbReal) * (size_t)n);
    half_solve(n, L, row);
    g[i] = -qp->b[i];
    for (int k = 0; k < n; k++) g[i] -= row[k] * y[k];
    for (int j = 0; j <= i; j++) {
      tbReal sum = 0;
      for (int k = 0; k < n; k++) sum += row[k] * W[j * n + k];
      G[i * rows + j] = G[j * rows + i] = sum;
    }
  }
}

// Solve the dual for z. Rows are scaled uniformly within a block so that G has a unit diagonal: the
// residual's tolerance then has the same meaning for forces and accelerations.
static tbResult solve_dual(const tbQp* qp, int rows, tbReal tolerance, tbControlWork* work,
                           tbReal* G, tbReal* g, tbReal* z, tbSolveInfo* info, tbError* error) {
  tbReal* scale = TB_ARENA_NEW(&work->arena, tbReal, rows + 1);
  tbBlock* block = TB_ARENA_NEW(&work->arena, tbBlock, qp->nblock + 1);
  if (!scale || !block) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  for (int i = 0, row = 0; i < qp->nblock; i++) {
    tbReal largest = 0;
    block[i] = qp->block[i];
    block[i].row = row;
    for (int r = 0; r < qp->block[i].dim; r++) {
      largest = tb_max(largest, G[(row + r) * rows + row + r]);
    }
    for (int r = 0; r < qp->block[i].dim; r++, row++) {
      scale[row] = largest > 0 ? 1 / sqrt(largest) : 1;
    }
  }
  for (int i = 0; i < rows; i++) {
    g[i] *= scale[i];
    for (int j = 0; j < rows; j++) G[i * rows + j] *= scale[i] * scale[j];
  }
  tbProblem problem = {.n = rows, .nblock = qp->nblock, .block = block, .g = g};
  problem.G.form = TB_DELASSUS_DENSE;
  problem.G.stride = rows;
  problem.G.dense = G;
  tbSolveSettings settings = tbDefaultSolveSettings();
  settings.law = TB_LAW_CCP;
  settings.tol = tolerance;
  settings.islands = 0;
  tbResult result = tb_solve(&problem, &settings, z, work->solve, info, error);
  for (int i = 0; i < rows; i++) z[i] *= scale[i];
  return result;
}

tbResult tb_qp_solve_within(const tbQp* qp, tbReal tolerance, tbReal* x, tbReal* z,
                            tbControlWork* work, tbSolveInfo* info, tbError* error) {
  tbSolveInfo own;
  if (!info) info = &own;
  memset(info, 0, sizeof *info);
  tbResult result = check(qp, error);
  if (result != TB_OK) return result;
  int n = qp->n, rows = rows_of(qp);
  size_t N = (size_t)n, R = (size_t)rows, scratch = (size_t)tb_cholesky_scratch(n);
  tbReal* memory =
      TB_ARENA_NEW(&work->arena, tbReal, N * N + scratch + N + R * N + R * R + 2 * R + 1);
  if (!memory) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  tbReal *L = memory, *y = L + N * N, *W = y + N, *G = W + R * N, *g = G + R * R, *own_z = g + R;
  memcpy(L, qp->H, sizeof(tbReal) * N * N);
  if (!tb_cholesky(n, L, n, own_z + R)) {
    return tb_fail(error, TB_ERROR_NUMERIC, "H is not positive definite");
  }
  build_dual(qp, rows, L, W, y, G, g);
  if (rows) result = solve_dual(qp, rows, tolerance, work, G, g, own_z, info, error);
  if (result != TB_OK) return result;
  // x = L^-T (W'z - y)
  for (int k = 0; k < n; k++) {
    x[k] = -y[k];
    for (int i = 0; i < rows; i++) x[k] += W[i * n + k] * own_z[i];
  }
  for (int i = n - 1; i >= 0; i--) {
    x[i] /= L[i * n + i];
    for (int k = 0; k < i; k++) x[k] -= L[i * n + k] * x[i];
  }
  if (z) memcpy(z, own_z, sizeof(tbReal) * R);
  return TB_OK;
}

tbResult tb_qp_solve(const tbQp* qp, tbReal tolerance, tbReal* x, tbReal* z, tbControlWork* work,
                     tbSolveInfo* info, tbError* error) {
  tb_error_clear(error);
  if (!x || !(tolerance >= 0)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_qp_solve: x is NULL, or tolerance %g is not >= 0",
                   tolerance);
  }
  tbControlWork* own = work ? NULL : tb_control_work_create();
  if (!work && !own) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  if (work) tb_arena_reset(&work->arena);
  tbResult result = tb_qp_solve_within(qp, tolerance, x, z, work ? work : own, info, error);
  tb_control_work_free(own);
  return result;
}
