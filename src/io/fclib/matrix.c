#include "io/fclib/matrix.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void tb_fclib_matrix_free(tbFclibMatrix* matrix) {
  free(matrix->start);
  free(matrix->index);
  free(matrix->value);
  *matrix = (tbFclibMatrix){0, 0, NULL, NULL, NULL};
}

void tb_fclib_stored_free(tbFclibStored* stored) {
  free(stored->p);
  free(stored->i);
  free(stored->x);
  memset(stored, 0, sizeof *stored);
}

static bool matrix_alloc(tbFclibMatrix* matrix, int rows, int cols, int count) {
  *matrix = (tbFclibMatrix){rows, cols, NULL, NULL, NULL};
  matrix->start = calloc((size_t)rows + 1, sizeof(int));
  matrix->index = malloc(((size_t)count + 1) * sizeof(int));
  matrix->value = malloc(((size_t)count + 1) * sizeof(tbReal));
  if (matrix->start && matrix->index && matrix->value) return true;
  tb_fclib_matrix_free(matrix);
  return false;
}

tbResult tb_fclib_matrix_transpose(const tbFclibMatrix* matrix, tbFclibMatrix* out,
                                   tbError* error) {
  int count = matrix->rows > 0 ? matrix->start[matrix->rows] : 0;
  if (!matrix_alloc(out, matrix->cols, matrix->rows, count)) {
    return tb_fail(error, TB_ERROR_MEMORY, "no memory for a matrix of %d entries", count);
  }
  // Count the entries of each column, then store them; visiting rows in order sorts the result.
  for (int k = 0; k < count; k++) out->start[matrix->index[k] + 1]++;
  for (int c = 0; c < out->rows; c++) out->start[c + 1] += out->start[c];
  for (int r = 0; r < matrix->rows; r++) {
    for (int k = matrix->start[r]; k < matrix->start[r + 1]; k++) {
      int to = out->start[matrix->index[k]]++;
      out->index[to] = r;
      out->value[to] = matrix->value[k];
    }
  }
  // Storing has advanced every offset to the start of the next row: shift them back.
  for (int c = out->rows; c > 0; c--) out->start[c] = out->start[c - 1];
  out->start[0] = 0;
  return TB_OK;
}

// Adds up entries of the same row and column, which are adjacent since columns ascend.
static void sum_duplicates(tbFclibMatrix* matrix) {
  int to = 0, begin = 0;
  for (int r = 0; r < matrix->rows; r++) {
    int end = matrix->start[r + 1], first = to;
    for (int k = begin; k < end; k++) {
      if (to > first && matrix->index[to - 1] == matrix->index[k]) {
        matrix->value[to - 1] += matrix->value[k];
      } else {
        matrix->index[to] = matrix->index[k];
        matrix->value[to++] = matrix->value[k];
      }
    }
    begin = end;
    matrix->start[r + 1] = to;
  }
}

// ---- from a file -------------------------------------------------------------------------------

// Number of entries according to the header, checked against the arrays' lengths.
static tbResult check_sizes(const tbFclibStored* s, const char* name, int* count, tbError* error) {
  if (s->m < 0 || s->n < 0) {
    return tb_fail(error, TB_ERROR_PARSE, "matrix %s has negative size %d x %d", name, s->m, s->n);
  }
  if (s->nz < -2) {
    return tb_fail(error, TB_ERROR_PARSE,
                   "matrix %s has nz = %d; expected -2 (compressed rows), -1 (compressed columns) "
                   "or the number of triplets",
                   name, s->nz);
  }
  if (s->nz >= 0) {
    *count = s->nz;
    if (s->p_count < s->nz || s->i_count < s->nz || s->x_count < s->nz) {
      return tb_fail(error, TB_ERROR_PARSE,
                     "matrix %s has %d triplets but arrays p, i, x of length %d, %d, %d", name,
                     s->nz, s->p_count, s->i_count, s->x_count);
    }
    return TB_OK;
  }
  // Compressed: p has one offset per row or column and ends with the number of entries.
  int lines = s->nz == -2 ? s->m : s->n;
  if (s->p_count - 1 < lines) {
    return tb_fail(error, TB_ERROR_PARSE, "matrix %s needs %d offsets, its array p has %d", name,
                   lines + 1, s->p_count);
  }
  if (s->p[0] != 0) {
    return tb_fail(error, TB_ERROR_PARSE, "matrix %s: p[0] is %d, expected 0", name, s->p[0]);
  }
  for (int k = 0; k < lines; k++) {
    if (s->p[k + 1] < s->p[k]) {
      return tb_fail(error, TB_ERROR_PARSE, "matrix %s: offsets decrease, p[%d] = %d, p[%d] = %d",
                     name, k, s->p[k], k + 1, s->p[k + 1]);
    }
  }
  *count = s->p[lines];
  if (*count > s->i_count || *count > s->x_count) {
    return tb_fail(error, TB_ERROR_PARSE,
                   "matrix %s has %d entries but arrays i, x of length %d, %d", name, *count,
                   s->i_count, s->x_count);
  }
  return TB_OK;
}

// Sizes far beyond the number of entries indicate damage, and would waste memory.
static tbResult check_claims(const tbFclibStored* s, int count, const char* name, tbError* error) {
  double limit = 1e6 + 16.0 * ((double)count + (double)s->p_count);
  if (s->m <= limit && s->n <= limit) return TB_OK;
  return tb_fail(error, TB_ERROR_PARSE, "matrix %s claims %d x %d, but holds only %d entries", name,
                 s->m, s->n, count);
}

static tbResult check_entries(const tbFclibStored* s, int count, const char* name, tbError* error) {
  int limit = s->nz == -1 ? s->m : s->n;
  for (int k = 0; k < count; k++) {
    if (s->i[k] < 0 || s->i[k] >= limit) {
      return tb_fail(error, TB_ERROR_PARSE, "matrix %s: entry %d has index %d outside [0, %d)",
                     name, k, s->i[k], limit);
    }
    if (s->nz >= 0 && (s->p[k] < 0 || s->p[k] >= s->m)) {
      return tb_fail(error, TB_ERROR_PARSE, "matrix %s: triplet %d has row %d outside [0, %d)",
                     name, k, s->p[k], s->m);
    }
    if (!isfinite(s->x[k])) {
      return tb_fail(error, TB_ERROR_PARSE, "matrix %s: entry %d is not a finite number", name, k);
    }
  }
  return TB_OK;
}

tbResult tb_fclib_matrix_unpack(const tbFclibStored* stored, const char* name, tbFclibMatrix* out,
                                tbError* error) {
  *out = (tbFclibMatrix){0, 0, NULL, NULL, NULL};
  int count = 0;
  tbResult result = check_sizes(stored, name, &count, error);
  if (result == TB_OK) result = check_claims(stored, count, name, error);
  if (result == TB_OK) result = check_entries(stored, count, name, error);
  if (result != TB_OK) return result;
  // Convert every encoding to unsorted compressed rows or columns.
  bool by_columns = stored->nz == -1;
  int lines = by_columns ? stored->n : stored->m, across = by_columns ? stored->m : stored->n;
  tbFclibMatrix raw;
  if (!matrix_alloc(&raw, lines, across, count)) {
    return tb_fail(error, TB_ERROR_MEMORY, "no memory for matrix %s of %d entries", name, count);
  }
  if (stored->nz < 0) {
    memcpy(raw.start, stored->p, ((size_t)lines + 1) * sizeof(int));
    memcpy(raw.index, stored->i, (size_t)count * sizeof(int));
    memcpy(raw.value, stored->x, (size_t)count * sizeof(tbReal));
  } else {
    for (int k = 0; k < count; k++) raw.start[stored->p[k] + 1]++;
    for (int r = 0; r < lines; r++) raw.start[r + 1] += raw.start[r];
    for (int k = 0; k < count; k++) {
      int to = raw.start[stored->p[k]]++;
      raw.index[to] = stored->i[k];
      raw.value[to] = stored->x[k];
    }
    for (int r = lines; r > 0; r--) raw.start[r] = raw.start[r - 1];
    raw.start[0] = 0;
  }
  // A transposition sorts: one for compressed columns, two for rows.
  result = tb_fclib_matrix_transpose(&raw, out, error);
  tb_fclib_matrix_free(&raw);
  if (result == TB_OK && !by_columns) {
    raw = *out;
    result = tb_fclib_matrix_transpose(&raw, out, error);
    tb_fclib_matrix_free(&raw);
  }
  if (result == TB_OK) sum_duplicates(out);
  return result;
}

// ---- to a file ---------------------------------------------------------------------------------

tbResult tb_fclib_matrix_pack(const tbFclibMatrix* matrix, tbFclibEncoding encoding,
                              tbFclibStored* stored, tbError* error) {
  memset(stored, 0, sizeof *stored);
  tbFclibMatrix lines = {0, 0, NULL, NULL, NULL};
  const tbFclibMatrix* source = matrix;
  if (encoding == TB_FCLIB_CSC) {
    tbResult result = tb_fclib_matrix_transpose(matrix, &lines, error);
    if (result != TB_OK) return result;
    source = &lines;
  }
  int count = source->rows > 0 ? source->start[source->rows] : 0;
  stored->m = matrix->rows;
  stored->n = matrix->cols;
  stored->nzmax = stored->i_count = stored->x_count = count;
  stored->nz = encoding == TB_FCLIB_TRIPLET ? count : encoding == TB_FCLIB_CSC ? -1 : -2;
  stored->p_count = encoding == TB_FCLIB_TRIPLET ? count : source->rows + 1;
  stored->p = calloc((size_t)stored->p_count + 1, sizeof(int));
  stored->i = malloc(((size_t)count + 1) * sizeof(int));
  stored->x = malloc(((size_t)count + 1) * sizeof(tbReal));
  if (!stored->p || !stored->i || !stored->x) {
    tb_fclib_stored_free(stored);
    tb_fclib_matrix_free(&lines);
    return tb_fail(error, TB_ERROR_MEMORY, "no memory for a matrix of %d entries", count);
  }
  if (count > 0) memcpy(stored->i, source->index, (size_t)count * sizeof(int));
  if (count > 0) memcpy(stored->x, source->value, (size_t)count * sizeof(tbReal));
  if (encoding == TB_FCLIB_TRIPLET) {
    for (int r = 0; r < source->rows; r++) {
      for (int k = source->start[r]; k < source->start[r + 1]; k++) stored->p[k] = r;
    }
  } else if (source->rows > 0) {
    memcpy(stored->p, source->start, ((size_t)source->rows + 1) * sizeof(int));
  }
  tb_fclib_matrix_free(&lines);
  return TB_OK;
}
