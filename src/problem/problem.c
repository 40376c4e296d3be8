// Checks of a problem, and its velocity.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/error.h"
#include "problem/delassus.h"
#include "problem/problem.h"

static tbResult check_reals(const char* what, const tbReal* x, size_t count, bool nonnegative,
                            tbError* error) {
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(x[i]) || (nonnegative && x[i] < 0)) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "%s[%zu] = %g: expected a finite%s number", what, i,
                     x[i], nonnegative ? ", non-negative" : "");
    }
  }
  return TB_OK;
}

static tbResult check_block(const tbProblem* p, int i, long long row, tbError* error) {
  const tbBlock* b = &p->block[i];
  if (b->type < TB_BLOCK_EQUALITY || b->type > TB_BLOCK_CONE) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "block %d: unknown type %d", i, b->type);
  }
  int least = b->type == TB_BLOCK_CONE ? 2 : 1;
  if (b->dim < least || b->dim > TB_MAX_BLOCK_DIM) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "block %d: %d rows, %d to %d expected", i, b->dim,
                   least, TB_MAX_BLOCK_DIM);
  }
  if (b->row != row) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "block %d starts at row %d, %lld expected", i, b->row,
                   row);
  }
  if (b->type == TB_BLOCK_CONE) {
    for (int k = 0; k < b->dim - 1; k++) {
      if (!(b->mu[k] >= 0) || !isfinite(b->mu[k])) {
        return tb_fail(error, TB_ERROR_ARGUMENT,
                       "block %d: friction coefficient %d is %g, a finite number >= 0 expected", i,
                       k, b->mu[k]);
      }
    }
  }
  if (b->type == TB_BLOCK_BOX &&
      !(b->lower <= b->upper && b->lower < INFINITY && b->upper > -INFINITY)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "block %d: bounds %g and %g contain no number", i,
                   b->lower, b->upper);
  }
  return TB_OK;
}

// Symmetric entries may differ by rounding of the data (files hold some 8 digits), relative to the
// diagonal.
static bool is_symmetric_pair(tbReal a, tbReal b, tbReal scale) {
  return fabs(a - b) <= 1e-6 * tb_max(scale, tb_max(fabs(a), fabs(b)));
}

// Entries of a positive semidefinite matrix: |G_ij| <= sqrt(G_ii G_jj), within the accuracy of the
// data.
static bool is_bounded(tbReal entry, tbReal mean) {
  return fabs(entry) <= (1 + 1e-6) * mean;
}

static tbResult indefinite(int i, int j, tbReal entry, tbReal mean, tbError* error) {
  return tb_fail(error, TB_ERROR_ARGUMENT,
                 "G is indefinite: |G[%d][%d]| = %g is above sqrt(G[%d][%d] G[%d][%d]) = %g", i, j,
                 fabs(entry), i, i, j, j, mean);
}

// ---- structure of G: checked before its arrays are indexed
// ---------------------------------------

static tbResult check_structure_dense(const tbProblem* p, tbError* error) {
  const tbDelassus* G = &p->G;
  if (p->n && (!G->dense || G->stride < p->n)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "dense G: NULL, or stride %d below %d rows", G->stride,
                   p->n);
  }
  return TB_OK;
}

tbResult tb_check_row_starts(const char* what, int rows, int columns, const int* start,
                             tbError* error) {
  if (!start || start[0] != 0) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "%s: row starts must begin with 0", what);
  }
  for (int r = 0; r < rows; r++) {
    if (start[r + 1] < start[r]) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "%s: the start of row %d, %d, is below the last, %d",
                     what, r + 1, start[r + 1], start[r]);
    }
    if (start[r + 1] - start[r] > columns) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "%s: row %d has %d entries in %d columns", what, r,
                     start[r + 1] - start[r], columns);
    }
  }
  return TB_OK;
}

static int find_entry(const tbDelassus* G, int i, int j) {
  for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
    if (G->block_column[k] == j) return k;
  }
  return -1;
}

static tbResult check_structure_sparse(const tbProblem* p, tbError* error) {
  const tbDelassus* G = &p->G;
  tbResult result = tb_check_row_starts("sparse G", p->nblock, p->nblock, G->block_start, error);
  if (result != TB_OK) return result;
  if (p->nblock && (!G->block_column || !G->block_offset || !G->block_value)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "sparse G: NULL arrays");
  }
  long long offset = 0;
  for (int i = 0; i < p->nblock; i++) {
    for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
      int j = G->block_column[k];
      if (j < 0 || j >= p->nblock) {
        return tb_fail(error, TB_ERROR_ARGUMENT, "sparse G: entry %d has block column %d of %d", k,
                       j, p->nblock);
      }
      if (find_entry(G, i, j) != k) {
        return tb_fail(error, TB_ERROR_ARGUMENT, "sparse G: block (%d, %d) occurs twice", i, j);
      }
      if (G->block_offset[k] != offset) {
        return tb_fail(error, TB_ERROR_ARGUMENT,
                       "sparse G: block_offset[%d] is %d, %lld expected: blocks must be contiguous",
                       k, G->block_offset[k], offset);
      }
      offset += (long long)p->block[i].dim * p->block[j].dim;
    }
    if (find_entry(G, i, i) < 0) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "sparse G: block row %d lacks its diagonal", i);
    }
  }
  return TB_OK;
}

static tbResult check_structure_product(const tbProblem* p, tbError* error) {
  const tbDelassus* G = &p->G;
  if (G->ncol < 0) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "product G: %d columns", G->ncol);
  }
  tbResult result = tb_check_row_starts("product G", p->n, G->ncol, G->row_start, error);
  if (result != TB_OK) return result;
  if (G->row_start[p->n] && (!G->row_column || !G->row_value)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "product G: NULL arrays");
  }
  for (int r = 0; r < p->n; r++) {
    int last = -1;
    for (int k = G->row_start[r]; k < G->row_start[r + 1]; k++) {
      if (G->row_column[k] <= last || G->row_column[k] >= G->ncol) {
        return tb_fail(error, TB_ERROR_ARGUMENT,
                       "product G: row %d: columns must ascend within [0, %d)", r, G->ncol);
      }
      last = G->row_column[k];
    }
  }
  return TB_OK;
}

// Sizes, blocks, and the structure of G.
static tbResult check_structure(const tbProblem* p, tbError* error) {
  if (!p || p->n < 0 || p->nblock < 0 || (p->nblock && !p->block) || (p->n && !p->g)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "problem: negative size or missing blocks or g");
  }
  long long row = 0;
  for (int i = 0; i < p->nblock; i++) {
    tbResult result = check_block(p, i, row, error);
    if (result != TB_OK) return result;
    row += p->block[i].dim;
  }
  if (row != p->n) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "the blocks cover %lld rows of %d", row, p->n);
  }
  switch (p->G.form) {
    case TB_DELASSUS_DENSE: return check_structure_dense(p, error);
    case TB_DELASSUS_SPARSE: return check_structure_sparse(p, error);
    case TB_DELASSUS_PRODUCT: return check_structure_product(p, error);
    default: return tb_fail(error, TB_ERROR_ARGUMENT, "unknown form %d of G", p->G.form);
  }
}

// ---- values of G -------------------------------------------------------------------------------

static tbResult check_dense(const tbProblem* p, tbError* error) {
  const tbDelassus* G = &p->G;
  for (int i = 0; i < p->n; i++) {
    const tbReal* row = G->dense + (size_t)i * (size_t)G->stride;
    tbResult result = check_reals("G", row, (size_t)p->n, false, error);
    if (result != TB_OK) return result;
    if (row[i] < 0) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "G[%d][%d] = %g is negative", i, i, row[i]);
    }
  }
  for (int i = 0; i < p->n; i++) {
    for (int j = 0; j < i; j++) {
      tbReal a = G->dense[(size_t)i * (size_t)G->stride + (size_t)j];
      tbReal b = G->dense[(size_t)j * (size_t)G->stride + (size_t)i];
      tbReal d = sqrt(G->dense[(size_t)i * (size_t)(G->stride + 1)] *
                      G->dense[(size_t)j * (size_t)(G->stride + 1)]);
      if (!is_symmetric_pair(a, b, d)) {
        return tb_fail(error, TB_ERROR_ARGUMENT, "G is not symmetric: [%d][%d] %g, [%d][%d] %g", i,
                       j, a, j, i, b);
      }
      if (!is_bounded(a, d)) return indefinite(i, j, a, d, error);
    }
  }
  return TB_OK;
}

static tbResult check_pair(const tbProblem* p, int i, int k, tbError* error) {
  const tbDelassus* G = &p->G;
  int j = G->block_column[k], m = find_entry(G, j, i), di = p->block[i].dim, dj = p->block[j].dim;
  if (m < 0) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "G is not symmetric: block (%d, %d) has no transposed block", i, j);
  }
  const tbReal *a = G->block_value + G->block_offset[k], *b = G->block_value + G->block_offset[m];
  const tbReal *ii = G->block_value + G->block_offset[find_entry(G, i, i)],
               *jj = G->block_value + G->block_offset[find_entry(G, j, j)];
  for (int r = 0; r < di; r++) {
    for (int c = 0; c < dj; c++) {
      tbReal mean = sqrt(fabs(ii[r * di + r] * jj[c * dj + c]));
      if (!is_symmetric_pair(a[r * dj + c], b[c * di + r], mean)) {
        return tb_fail(error, TB_ERROR_ARGUMENT, "G is not symmetric in block (%d, %d)", i, j);
      }
      if ((i != j || r != c) && !is_bounded(a[r * dj + c], mean)) {
        return indefinite(p->block[i].row + r, p->block[j].row + c, a[r * dj + c], mean, error);
      }
    }
  }
  return TB_OK;
}

static tbResult check_sparse(const tbProblem* p, tbError* error) {
  const tbDelassus* G = &p->G;
  for (int i = 0; i < p->nblock; i++) {
    for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
      int j = G->block_column[k];
      tbResult result = check_reals("G", G->block_value + G->block_offset[k],
                                    (size_t)(p->block[i].dim * p->block[j].dim), false, error);
      if (result != TB_OK) return result;
    }
    int d = find_entry(G, i, i);
    for (int r = 0; r < p->block[i].dim; r++) {
      if (G->block_value[G->block_offset[d] + r * (p->block[i].dim + 1)] < 0) {
        return tb_fail(error, TB_ERROR_ARGUMENT, "G has a negative diagonal in block %d", i);
      }
    }
  }
  for (int i = 0; i < p->nblock; i++) {
    for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
      if (G->block_column[k] > i) continue;
      tbResult result = check_pair(p, i, k, error);
      if (result != TB_OK) return result;
    }
  }
  return TB_OK;
}

// The diagonal blocks of G are positive semidefinite.
static tbResult check_diagonal_blocks(const tbProblem* p, tbError* error) {
  for (int i = 0; i < p->nblock; i++) {
    tbReal A[TB_MAX_BLOCK_DIM * TB_MAX_BLOCK_DIM];
    tb_delassus_diagonal_block(p, i, A);
    if (tb_is_indefinite(p->block[i].dim, A)) {
      return tb_fail(error, TB_ERROR_ARGUMENT,
                     "G is indefinite: its diagonal block %d has a negative eigenvalue", i);
    }
  }
  return TB_OK;
}

tbResult tb_problem_check(const tbProblem* p, tbError* error) {
  tb_error_clear(error);
  tbResult result = check_structure(p, error);
  if (result == TB_OK) result = check_reals("g", p->g, (size_t)p->n, false, error);
  if (result == TB_OK && p->R) result = check_reals("R", p->R, (size_t)p->n, true, error);
  if (result != TB_OK) return result;
  // A product is symmetric and positive semidefinite by its form.
  if (p->G.form == TB_DELASSUS_PRODUCT) {
    return check_reals("B", p->G.row_value, (size_t)p->G.row_start[p->n], false, error);
  }
  result = p->G.form == TB_DELASSUS_DENSE ? check_dense(p, error) : check_sparse(p, error);
  return result == TB_OK ? check_diagonal_blocks(p, error) : result;
}

tbResult tb_problem_velocity(const tbProblem* p, const tbReal* lambda, tbReal* sigma,
                             tbError* error) {
  tb_error_clear(error);
  if (!p || !lambda || !sigma) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_problem_velocity: an argument is NULL");
  }
  tbResult result = check_structure(p, error);
  if (result != TB_OK) return result;
  tbReal* velocity = NULL;
  if (p->G.form == TB_DELASSUS_PRODUCT) {
    velocity = malloc(((size_t)p->G.ncol + 1) * sizeof *velocity);
    if (!velocity) return tb_fail(error, TB_ERROR_MEMORY, "tb_problem_velocity: out of memory");
  }
  tb_delassus_velocity(p, lambda, velocity, sigma);
  free(velocity);
  return TB_OK;
}

void tb_blocks_contacts(int count, const tbReal* mu, tbBlock* block) {
  if (!mu || !block) return;
  for (int i = 0; i < count; i++) {
    block[i] = (tbBlock){.type = TB_BLOCK_CONE, .row = 3 * i, .dim = 3, .mu = {mu[i], mu[i]}};
  }
}
