// Checks of a problem, and its velocity.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/error.h"
#include "contact/delassus.h"

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

static tbResult check_block(const tbProblem* p, int i, int row, tbError* error) {
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
    return tb_fail(error, TB_ERROR_ARGUMENT, "block %d starts at row %d, %d expected", i, b->row,
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
    return tb_fail(error, TB_ERROR_ARGUMENT, "block %d: bounds %g and %g hold no number", i,
                   b->lower, b->upper);
  }
  return TB_OK;
}

// Entries may differ by rounding of the data (files hold some 8 digits), relative to the diagonal.
static bool mirrored(tbReal a, tbReal b, tbReal scale) {
  return fabs(a - b) <= 1e-6 * tb_max(scale, tb_max(fabs(a), fabs(b)));
}

static tbResult check_dense(const tbProblem* p, tbError* error) {
  const tbDelassus* G = &p->G;
  if (p->n && (!G->dense || G->stride < p->n)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "dense G: NULL, or stride %d below %d rows", G->stride,
                   p->n);
  }
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
      if (!mirrored(a, b, d)) {
        return tb_fail(error, TB_ERROR_ARGUMENT, "G is not symmetric: [%d][%d] %g, [%d][%d] %g", i,
                       j, a, j, i, b);
      }
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

static tbResult check_pair(const tbProblem* p, int i, int k, tbError* error) {
  const tbDelassus* G = &p->G;
  int j = G->block_column[k], m = find_entry(G, j, i), di = p->block[i].dim, dj = p->block[j].dim;
  if (m < 0) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "G is not symmetric: block (%d, %d) has no mirror", i,
                   j);
  }
  const tbReal *a = G->block_value + G->block_offset[k], *b = G->block_value + G->block_offset[m];
  const tbReal *ii = G->block_value + G->block_offset[find_entry(G, i, i)],
               *jj = G->block_value + G->block_offset[find_entry(G, j, j)];
  for (int r = 0; r < di; r++) {
    for (int c = 0; c < dj; c++) {
      if (!mirrored(a[r * dj + c], b[c * di + r], sqrt(fabs(ii[r * di + r] * jj[c * dj + c])))) {
        return tb_fail(error, TB_ERROR_ARGUMENT, "G is not symmetric in block (%d, %d)", i, j);
      }
    }
  }
  return TB_OK;
}

static tbResult check_sparse(const tbProblem* p, tbError* error) {
  const tbDelassus* G = &p->G;
  if (!G->block_start || (p->nblock && (!G->block_column || !G->block_offset || !G->block_value))) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "sparse G: NULL arrays");
  }
  if (G->block_start[0] != 0) return tb_fail(error, TB_ERROR_ARGUMENT, "sparse G: starts not at 0");
  for (int i = 0; i < p->nblock; i++) {
    if (G->block_start[i + 1] < G->block_start[i]) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "sparse G: block row %d has negative length", i);
    }
    for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
      int j = G->block_column[k];
      if (j < 0 || j >= p->nblock || G->block_offset[k] < 0) {
        return tb_fail(error, TB_ERROR_ARGUMENT, "sparse G: entry %d lies outside", k);
      }
      tbResult result = check_reals("G", G->block_value + G->block_offset[k],
                                    (size_t)(p->block[i].dim * p->block[j].dim), false, error);
      if (result != TB_OK) return result;
    }
    int d = find_entry(G, i, i);
    if (d < 0) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "sparse G: block row %d lacks its diagonal", i);
    }
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

static tbResult check_product(const tbProblem* p, tbError* error) {
  const tbDelassus* G = &p->G;
  if (!G->row_start || G->ncol < 0) return tb_fail(error, TB_ERROR_ARGUMENT, "product G: no rows");
  if (G->row_start[0] != 0) return tb_fail(error, TB_ERROR_ARGUMENT, "product G: starts not at 0");
  for (int r = 0; r < p->n; r++) {
    int begin = G->row_start[r], end = G->row_start[r + 1], last = -1;
    if (end < begin || (end > begin && (!G->row_column || !G->row_value))) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "product G: row %d has no valid entries", r);
    }
    for (int k = begin; k < end; k++) {
      if (G->row_column[k] <= last || G->row_column[k] >= G->ncol) {
        return tb_fail(error, TB_ERROR_ARGUMENT,
                       "product G: row %d: columns must ascend within [0, %d)", r, G->ncol);
      }
      last = G->row_column[k];
    }
    tbResult result = check_reals("B", G->row_value + begin, (size_t)(end - begin), false, error);
    if (result != TB_OK) return result;
  }
  return TB_OK;
}

tbResult tb_problem_check(const tbProblem* p, tbError* error) {
  tb_error_clear(error);
  if (!p || p->n < 0 || p->nblock < 0 || (p->nblock && !p->block) || (p->n && !p->g)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "problem: negative size or missing blocks or g");
  }
  int row = 0;
  tbResult result = TB_OK;
  for (int i = 0; i < p->nblock && result == TB_OK; i++) {
    result = check_block(p, i, row, error);
    row += p->block[i].dim;
  }
  if (result != TB_OK) return result;
  if (row != p->n) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "the blocks cover %d rows of %d", row, p->n);
  }
  result = check_reals("g", p->g, (size_t)p->n, false, error);
  if (result == TB_OK && p->R) result = check_reals("R", p->R, (size_t)p->n, true, error);
  if (result != TB_OK) return result;
  switch (p->G.form) {
    case TB_DELASSUS_DENSE: return check_dense(p, error);
    case TB_DELASSUS_SPARSE: return check_sparse(p, error);
    case TB_DELASSUS_PRODUCT: return check_product(p, error);
    default: return tb_fail(error, TB_ERROR_ARGUMENT, "unknown form %d of G", p->G.form);
  }
}

tbResult tb_problem_velocity(const tbProblem* p, const tbReal* lambda, tbReal* sigma,
                             tbError* error) {
  tb_error_clear(error);
  if (!p || !lambda || !sigma) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_problem_velocity: an argument is NULL");
  }
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
  for (int i = 0; i < count; i++) {
    block[i] = (tbBlock){.type = TB_BLOCK_CONE, .row = 3 * i, .dim = 3, .mu = {mu[i], mu[i]}};
  }
}
