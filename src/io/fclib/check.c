// Consistency checks of an FCLIB problem that a caller has filled.
#include <math.h>

#include "base/error.h"
#include "io/fclib/matrix.h"

static tbResult check_matrix(const tbFclibMatrix* a, const char* name, int rows, int cols,
                             tbError* error) {
  if (a->rows != rows || a->cols != cols) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "matrix %s is %d x %d, expected %d x %d", name,
                   a->rows, a->cols, rows, cols);
  }
  if (rows == 0) return TB_OK;
  if (!a->start || a->start[0] != 0 || (a->start[rows] > 0 && (!a->index || !a->value))) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "matrix %s has no entries by rows", name);
  }
  for (int r = 0; r < rows; r++) {
    if (a->start[r + 1] < a->start[r] || a->start[r + 1] > a->start[rows]) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "matrix %s: row %d ends before it starts", name, r);
    }
    for (int k = a->start[r]; k < a->start[r + 1]; k++) {
      int least = k > a->start[r] ? a->index[k - 1] + 1 : 0;
      if (a->index[k] < least || a->index[k] >= cols || !isfinite(a->value[k])) {
        return tb_fail(
            error, TB_ERROR_ARGUMENT,
            "matrix %s: row %d has %g at column %d, expected finite numbers at ascending "
            "columns of %d",
            name, r, a->value[k], a->index[k], cols);
      }
    }
  }
  return TB_OK;
}

static tbResult check_vector(const tbReal* x, const char* name, int count, tbReal least,
                             tbError* error) {
  if (count > 0 && !x) return tb_fail(error, TB_ERROR_ARGUMENT, "vector %s is missing", name);
  for (int k = 0; k < count; k++) {
    if (!isfinite(x[k]) || x[k] < least) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "vector %s: entry %d is %g, expected %s", name, k,
                     x[k], least < 0 ? "a finite number" : "a finite number >= 0");
    }
  }
  return TB_OK;
}

static tbResult check_local(const tbFclib* p, int rows, tbError* error) {
  int extra = p->V.cols;
  tbResult result = check_matrix(&p->W, "W", rows, rows, error);
  if (result == TB_OK) result = check_vector(p->q, "q", rows, -INFINITY, error);
  if (result != TB_OK || extra == 0) return result;
  result = check_matrix(&p->V, "V", rows, extra, error);
  if (result == TB_OK) result = check_matrix(&p->R, "R", extra, extra, error);
  return result == TB_OK ? check_vector(p->s, "s", extra, -INFINITY, error) : result;
}

static tbResult check_global(const tbFclib* p, int columns, tbError* error) {
  int size = p->M.rows, extra = p->G.cols;
  tbResult result = check_matrix(&p->M, "M", size, size, error);
  if (result == TB_OK) result = check_matrix(&p->H, "H", size, columns, error);
  if (result == TB_OK) result = check_vector(p->f, "f", size, -INFINITY, error);
  if (result == TB_OK) result = check_vector(p->w, "w", columns, -INFINITY, error);
  if (result != TB_OK || extra == 0) return result;
  result = check_matrix(&p->G, "G", size, extra, error);
  return result == TB_OK ? check_vector(p->b, "b", extra, -INFINITY, error) : result;
}

tbResult tb_fclib_check(const tbFclib* p, tbError* error) {
  const int most = 1 << 28;
  if ((p->spacedim != 2 && p->spacedim != 3) || p->contacts < 0 || p->contacts > most) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "%d contacts of %d rows each; expected a number of contacts, and 2 or 3 rows",
                   p->contacts, p->spacedim);
  }
  if (p->V.cols < 0 || p->M.rows < 0 || p->G.cols < 0) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "a matrix has a negative size");
  }
  int rows = p->spacedim * p->contacts;
  tbResult result = p->global ? check_global(p, rows, error) : check_local(p, rows, error);
  return result == TB_OK ? check_vector(p->mu, "mu", p->contacts, 0, error) : result;
}
