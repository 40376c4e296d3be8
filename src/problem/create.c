// Creation of problems that own a copy of their data.
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/arena.h"
#include "base/error.h"
#include "problem/problem.h"
#include "tribo/problem.h"

// The public part is first, so that callers handle a tbProblem* only.
typedef struct {
  tbProblem problem;
  tbArena arena;
} Owned;

static void* copy(Owned* owned, const void* data, size_t count, size_t size) {
  void* result = tb_arena_calloc(&owned->arena, count, size);
  if (result && data && count) memcpy(result, data, count * size);
  return result;
}

// Blocks, g (zero if NULL) and R; NULL for invalid blocks or missing memory.
static Owned* create(int nblock, const tbBlock* block, const tbReal* R, const tbReal* g,
                     tbError* error) {
  tb_error_clear(error);
  if (nblock < 0 || (nblock && !block)) {
    tb_fail(error, TB_ERROR_ARGUMENT, "problem: negative number of blocks, or no blocks");
    return NULL;
  }
  long long n = 0;
  for (int i = 0; i < nblock; i++) {
    if (block[i].dim < 1 || block[i].dim > TB_MAX_BLOCK_DIM) {
      tb_fail(error, TB_ERROR_ARGUMENT, "block %d: %d rows, 1 to %d expected", i, block[i].dim,
              TB_MAX_BLOCK_DIM);
      return NULL;
    }
    n += block[i].dim;
  }
  if (n > INT_MAX / 2) {
    tb_fail(error, TB_ERROR_MEMORY, "problem: %lld rows are too many", n);
    return NULL;
  }
  Owned* owned = calloc(1, sizeof *owned);
  if (!owned) {
    tb_fail(error, TB_ERROR_MEMORY, "problem: out of memory");
    return NULL;
  }
  tb_arena_init(&owned->arena);
  tbProblem* p = &owned->problem;
  p->n = (int)n;
  p->nblock = nblock;
  p->block = copy(owned, block, (size_t)nblock, sizeof *block);
  p->g = copy(owned, g, (size_t)n, sizeof *g);
  if (R) p->R = copy(owned, R, (size_t)n, sizeof *R);
  return owned;
}

// The same with a mandatory g.
static Owned* create_with_velocity(int nblock, const tbBlock* block, const tbReal* R,
                                   const tbReal* g, tbError* error) {
  if (nblock <= 0 || g) return create(nblock, block, R, g, error);
  tb_fail(error, TB_ERROR_ARGUMENT, "problem: no free velocity g");
  return NULL;
}

static tbProblem* finish(Owned* owned, tbError* error) {
  if (owned->arena.failed) {
    tb_fail(error, TB_ERROR_MEMORY, "problem: out of memory");
  } else if (tb_problem_check(&owned->problem, error) == TB_OK) {
    return &owned->problem;
  }
  tb_problem_free(&owned->problem);
  return NULL;
}

void tb_problem_free(tbProblem* problem) {
  if (!problem) return;
  Owned* owned = (Owned*)problem;
  tb_arena_free(&owned->arena);
  free(owned);
}

tbProblem* tb_problem_create_dense(int nblock, const tbBlock* block, const tbReal* G,
                                   const tbReal* R, const tbReal* g, tbError* error) {
  Owned* owned = create_with_velocity(nblock, block, R, g, error);
  if (!owned) return NULL;
  size_t n = (size_t)owned->problem.n;
  owned->problem.G.form = TB_DELASSUS_DENSE;
  owned->problem.G.stride = (int)n;
  if (G) owned->problem.G.dense = copy(owned, G, n * n, sizeof *G);
  return finish(owned, error);
}

// ---- sparse ------------------------------------------------------------------------------------

// A matrix in compressed rows: row r has the entries start[r] to start[r + 1] - 1.
typedef struct {
  const int *start, *column;
  const tbReal* value;
} Csr;

static tbResult check_csr(const char* name, int rows, int columns, Csr m, tbError* error) {
  tbResult result = tb_check_row_starts(name, rows, columns, m.start, error);
  if (result != TB_OK) return result;
  if (m.start[rows] && (!m.column || !m.value)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "%s: no columns or no values", name);
  }
  for (int r = 0; r < rows; r++) {
    for (int k = m.start[r]; k < m.start[r + 1]; k++) {
      int column = m.column[k];
      if (column < 0 || column >= columns) {
        return tb_fail(error, TB_ERROR_ARGUMENT, "%s: row %d has column %d of %d", name, r, column,
                       columns);
      }
      if (!isfinite(m.value[k])) {
        return tb_fail(error, TB_ERROR_ARGUMENT, "%s: row %d column %d is not finite", name, r,
                       column);
      }
    }
  }
  return TB_OK;
}

static int compare_int(const void* a, const void* b) {
  int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

// The block columns of block row i, ascending, the diagonal included; returns their number.
static int row_pattern(const tbProblem* p, int i, const int* block_of, Csr G, int* mark, int* out) {
  int count = 0;
  mark[i] = i + 1;
  out[count++] = i;
  for (int r = p->block[i].row; r < p->block[i].row + p->block[i].dim; r++) {
    for (int k = G.start[r]; k < G.start[r + 1]; k++) {
      int j = block_of[G.column[k]];
      if (mark[j] == i + 1) continue;
      mark[j] = i + 1;
      out[count++] = j;
    }
  }
  qsort(out, (size_t)count, sizeof *out, compare_int);
  return count;
}

static void fill_bsr(Owned* owned, Csr G) {
  tbProblem* p = &owned->problem;
  size_t nb = (size_t)p->nblock;
  int* block_of = TB_ARENA_NEW(&owned->arena, int, p->n);
  int* mark = TB_ARENA_NEW(&owned->arena, int, nb);
  int* where = TB_ARENA_NEW(&owned->arena, int, nb);
  int* pattern = TB_ARENA_NEW(&owned->arena, int, nb);
  int* block_start = TB_ARENA_NEW(&owned->arena, int, nb + 1);
  if (owned->arena.failed) return;
  for (int i = 0; i < p->nblock; i++) {
    for (int r = 0; r < p->block[i].dim; r++) block_of[p->block[i].row + r] = i;
  }

  // Count, then fill.
  long long values = 0;
  for (int i = 0; i < p->nblock; i++) {
    int count = row_pattern(p, i, block_of, G, mark, pattern);
    block_start[i + 1] = block_start[i] + count;
    for (int k = 0; k < count; k++) values += p->block[i].dim * p->block[pattern[k]].dim;
  }
  if (values > INT_MAX) {
    owned->arena.failed = true;
    return;
  }
  int* block_column = TB_ARENA_NEW(&owned->arena, int, block_start[nb]);
  int* block_offset = TB_ARENA_NEW(&owned->arena, int, block_start[nb]);
  tbReal* block_value = TB_ARENA_NEW(&owned->arena, tbReal, values);
  if (owned->arena.failed) return;
  memset(mark, 0, nb * sizeof *mark);
  int offset = 0;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    int count = row_pattern(p, i, block_of, G, mark, pattern);
    for (int k = 0; k < count; k++) {
      block_column[block_start[i] + k] = pattern[k];
      block_offset[block_start[i] + k] = offset;
      where[pattern[k]] = offset;
      offset += b->dim * p->block[pattern[k]].dim;
    }
    for (int r = 0; r < b->dim; r++) {
      for (int k = G.start[b->row + r]; k < G.start[b->row + r + 1]; k++) {
        int j = block_of[G.column[k]];
        const tbBlock* bj = &p->block[j];
        block_value[where[j] + r * bj->dim + G.column[k] - bj->row] += G.value[k];
      }
    }
  }
  p->G.form = TB_DELASSUS_SPARSE;
  p->G.block_start = block_start;
  p->G.block_column = block_column;
  p->G.block_offset = block_offset;
  p->G.block_value = block_value;
}

// Blocks must be contiguous before they are used to index rows.
static tbResult check_rows(const tbProblem* p, tbError* error) {
  int row = 0;
  for (int i = 0; i < p->nblock; i++) {
    if (p->block[i].row != row) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "block %d starts at row %d, %d expected", i,
                     p->block[i].row, row);
    }
    row += p->block[i].dim;
  }
  return TB_OK;
}

tbProblem* tb_problem_create_csr(int nblock, const tbBlock* block, const int* row_start,
                                 const int* column, const tbReal* value, const tbReal* R,
                                 const tbReal* g, tbError* error) {
  Csr G = {row_start, column, value};
  Owned* owned = create_with_velocity(nblock, block, R, g, error);
  if (!owned) return NULL;
  int n = owned->problem.n;
  if (!owned->arena.failed &&
      (check_rows(&owned->problem, error) != TB_OK || check_csr("G", n, n, G, error) != TB_OK)) {
    tb_problem_free(&owned->problem);
    return NULL;
  }
  if (!owned->arena.failed) fill_bsr(owned, G);
  return finish(owned, error);
}

// ---- mass matrix and Jacobian ------------------------------------------------------------------

// The connected components of M: part[d] of each dof, its index within the component, and the dense
// Cholesky factor of each component (lower, row-major, at factor + offset[part]).
typedef struct {
  int count;
  int *part, *index, *size, *member_start, *member;
  size_t* offset;
  tbReal* factor;
} Components;

static int find_root(int* parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void find_components(tbArena* arena, int nv, Csr M, Components* components) {
  int* parent = TB_ARENA_NEW(arena, int, nv);
  components->part = TB_ARENA_NEW(arena, int, nv);
  components->index = TB_ARENA_NEW(arena, int, nv);
  components->size = TB_ARENA_NEW(arena, int, nv);
  components->member_start = TB_ARENA_NEW(arena, int, nv + 1);
  components->member = TB_ARENA_NEW(arena, int, nv);
  components->offset = TB_ARENA_NEW(arena, size_t, nv + 1);
  if (arena->failed) return;
  for (int i = 0; i < nv; i++) parent[i] = i;
  for (int i = 0; i < nv; i++) {
    for (int k = M.start[i]; k < M.start[i + 1]; k++) {
      int a = find_root(parent, i), b = find_root(parent, M.column[k]);
      if (a < b) {
        parent[b] = a;
      } else {
        parent[a] = b;
      }
    }
  }
  // A component is numbered at its root, which is its first dof.
  for (int i = 0; i < nv; i++) {
    int root = find_root(parent, i);
    components->part[i] = root == i ? components->count++ : components->part[root];
    components->index[i] = components->size[components->part[i]]++;
  }
  for (int k = 0; k < components->count; k++) {
    components->member_start[k + 1] = components->member_start[k] + components->size[k];
    components->offset[k + 1] =
        components->offset[k] + (size_t)components->size[k] * (size_t)components->size[k];
  }
  for (int i = 0; i < nv; i++) {
    components->member[components->member_start[components->part[i]] + components->index[i]] = i;
  }
}

// Tolerance of symmetric entries of M: a share of themselves, or of the diagonal.
static const tbReal ASYMMETRY = 1e-6, ASYMMETRY_OF_DIAGONAL = 1e-12;

static bool is_symmetric(int n, const tbReal* A) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      tbReal a = A[i * n + j], b = A[j * n + i];
      tbReal diagonal = tb_max(fabs(A[i * n + i]), fabs(A[j * n + j]));
      if (fabs(a - b) > ASYMMETRY * tb_max(fabs(a), fabs(b)) &&
          fabs(a - b) > ASYMMETRY_OF_DIAGONAL * diagonal) {
        return false;
      }
    }
  }
  return true;
}

// A = L L^T in place, L below the diagonal. False: A is not positive definite.
static bool factor_component(int n, tbReal* L) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      tbReal sum = L[i * n + j];
      for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
      if (i == j && !(sum > 0)) return false;
      L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
    }
  }
  return true;
}

static tbResult factor_components(int nv, Csr M, Components* components, tbError* error) {
  for (int i = 0; i < nv; i++) {
    int part = components->part[i], size = components->size[part];
    tbReal* row =
        components->factor + components->offset[part] + (size_t)components->index[i] * (size_t)size;
    for (int k = M.start[i]; k < M.start[i + 1]; k++)
      row[components->index[M.column[k]]] += M.value[k];
  }
  for (int part = 0; part < components->count; part++) {
    int size = components->size[part];
    tbReal* L = components->factor + components->offset[part];
    if (!is_symmetric(size, L)) return tb_fail(error, TB_ERROR_ARGUMENT, "M is not symmetric");
    if (!factor_component(size, L)) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "M is not positive definite");
    }
  }
  return TB_OK;
}

// One row of B, by dof.
typedef struct {
  tbReal* value;  // nonzero only on the touched components
  int *touched, ntouched;
  bool* is_touched;  // by component
} WhiteRow;

// Row r of B = J L^-T: on each component that the row touches, solve L y = J_r^T. Returns the
// number of its entries.
static int whiten_row(const Components* components, Csr J, int r, WhiteRow* row) {
  int filled = 0;
  for (int t = 0; t < row->ntouched; t++) row->is_touched[row->touched[t]] = false;
  row->ntouched = 0;
  for (int k = J.start[r]; k < J.start[r + 1]; k++) {
    int part = components->part[J.column[k]];
    if (!row->is_touched[part]) {
      row->is_touched[part] = true;
      row->touched[row->ntouched++] = part;
      for (int m = components->member_start[part]; m < components->member_start[part + 1]; m++) {
        row->value[components->member[m]] = 0;
      }
    }
    row->value[J.column[k]] += J.value[k];
  }
  for (int t = 0; t < row->ntouched; t++) {
    int part = row->touched[t], size = components->size[part];
    const tbReal* L = components->factor + components->offset[part];
    const int* member = components->member + components->member_start[part];
    for (int i = 0; i < size; i++) {
      tbReal sum = row->value[member[i]];
      for (int k = 0; k < i; k++) sum -= L[i * size + k] * row->value[member[k]];
      row->value[member[i]] = sum / L[i * size + i];
      filled += row->value[member[i]] != 0;
    }
  }
  return filled;
}

// Copy the entries of the row in ascending order of columns.
static void copy_row(const Components* components, const WhiteRow* row, int* column,
                     tbReal* value) {
  int count = 0;
  for (int t = 0; t < row->ntouched; t++) {
    int part = row->touched[t];
    for (int m = components->member_start[part]; m < components->member_start[part + 1]; m++) {
      if (row->value[components->member[m]] != 0) column[count++] = components->member[m];
    }
  }
  qsort(column, (size_t)count, sizeof *column, compare_int);
  for (int k = 0; k < count; k++) value[k] = row->value[column[k]];
}

static tbResult fill_product(Owned* owned, int nv, const Components* components, Csr J,
                             tbError* error) {
  tbProblem* p = &owned->problem;
  tbArena* arena = &owned->arena;
  WhiteRow row = {.value = TB_ARENA_NEW(arena, tbReal, nv),
                  .touched = TB_ARENA_NEW(arena, int, components->count),
                  .is_touched = TB_ARENA_NEW(arena, bool, components->count)};
  int* start = TB_ARENA_NEW(arena, int, p->n + 1);
  if (arena->failed) return tb_fail(error, TB_ERROR_MEMORY, "problem: out of memory");
  for (int r = 0; r < p->n; r++) {
    int count = whiten_row(components, J, r, &row);
    if (start[r] > INT_MAX - count) return tb_fail(error, TB_ERROR_MEMORY, "problem: too large");
    start[r + 1] = start[r] + count;
  }
  int* column = TB_ARENA_NEW(arena, int, start[p->n]);
  tbReal* value = TB_ARENA_NEW(arena, tbReal, start[p->n]);
  if (arena->failed) return tb_fail(error, TB_ERROR_MEMORY, "problem: out of memory");
  for (int r = 0; r < p->n; r++) {
    whiten_row(components, J, r, &row);
    copy_row(components, &row, column + start[r], value + start[r]);
  }
  p->G.form = TB_DELASSUS_PRODUCT;
  p->G.ncol = nv;
  p->G.row_start = start;
  p->G.row_column = column;
  p->G.row_value = value;
  return TB_OK;
}

tbProblem* tb_problem_create_product(int nblock, const tbBlock* block, int ncol,
                                     const int* row_start, const int* column, const tbReal* value,
                                     const tbReal* R, const tbReal* g, tbError* error) {
  Owned* owned = create_with_velocity(nblock, block, R, g, error);
  if (!owned) return NULL;
  tbProblem* p = &owned->problem;
  if (check_csr("B", p->n, ncol, (Csr){row_start, column, value}, error) != TB_OK) {
    tb_problem_free(p);
    return NULL;
  }
  size_t count = (size_t)row_start[p->n];
  p->G.form = TB_DELASSUS_PRODUCT;
  p->G.ncol = ncol;
  p->G.row_start = copy(owned, row_start, (size_t)p->n + 1, sizeof *row_start);
  p->G.row_column = copy(owned, column, count, sizeof *column);
  p->G.row_value = copy(owned, value, count, sizeof *value);
  return finish(owned, error);
}

// B = J L^-T with M = L L^T, component by component.
static tbResult fill_whitened(Owned* owned, int nv, Csr M, Csr J, tbError* error) {
  tbArena* arena = &owned->arena;
  Components components = {0};
  find_components(arena, nv, M, &components);
  if (!arena->failed)
    components.factor = TB_ARENA_NEW(arena, tbReal, components.offset[components.count]);
  if (arena->failed) return tb_fail(error, TB_ERROR_MEMORY, "problem: out of memory");
  tbResult result = factor_components(nv, M, &components, error);
  return result == TB_OK ? fill_product(owned, nv, &components, J, error) : result;
}

static tbResult check_mass(const tbProblem* p, int nv, Csr M, Csr J, const tbReal* v_free,
                           tbError* error) {
  tbResult result = check_rows(p, error);
  if (result == TB_OK && (nv < 0 || (nv && !v_free))) {
    result = tb_fail(error, TB_ERROR_ARGUMENT, "M: nv = %d, or no free velocity", nv);
  }
  if (result == TB_OK) result = check_csr("M", nv, nv, M, error);
  return result == TB_OK ? check_csr("J", p->n, nv, J, error) : result;
}

tbProblem* tb_problem_create_mass(int nblock, const tbBlock* block, int nv, const int* M_start,
                                  const int* M_column, const tbReal* M_value, const int* J_start,
                                  const int* J_column, const tbReal* J_value, const tbReal* R,
                                  const tbReal* v_free, const tbReal* gamma, tbError* error) {
  Csr M = {M_start, M_column, M_value}, J = {J_start, J_column, J_value};
  Owned* owned = create(nblock, block, R, gamma, error);
  if (!owned) return NULL;
  tbProblem* p = &owned->problem;
  tbResult result = owned->arena.failed ? tb_fail(error, TB_ERROR_MEMORY, "problem: out of memory")
                                        : check_mass(p, nv, M, J, v_free, error);
  if (result == TB_OK) {
    // g = J v_free + gamma.
    tbReal* g = (tbReal*)p->g;
    for (int r = 0; r < p->n; r++) {
      for (int k = J.start[r]; k < J.start[r + 1]; k++) g[r] += J.value[k] * v_free[J.column[k]];
    }
    result = fill_whitened(owned, nv, M, J, error);
  }
  if (result != TB_OK) {
    tb_problem_free(p);
    return NULL;
  }
  return finish(owned, error);
}
