#include "linalg/many.h"

#include "base/kernel.h"

// y -= a x
static void subtract(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, tbReal a, int n) {
  for (int i = 0; i < n; i++) y[i] -= a * x[i];
}

// y += a x + b z + c u + d v
static void add_four(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, tbReal a,
                     const tbReal* TB_RESTRICT z, tbReal b, const tbReal* TB_RESTRICT u, tbReal c,
                     const tbReal* TB_RESTRICT v, tbReal d, int n) {
  for (int i = 0; i < n; i++) y[i] += (a * x[i] + b * z[i]) + (c * u[i] + d * v[i]);
}

void tb_add_rows(tbReal* y, int n, const tbReal* a, int step, const tbReal* X, const int* row,
                 int stride, int count) {
  size_t w = (size_t)stride, s = (size_t)step;
  // Rows that do not count are left out first.
  const tbReal* pending[4];
  tbReal factor[4];
  int waiting = 0;
  for (int i = 0; i < n; i++) {
    tbReal f = a[(size_t)i * s];
    if (f == 0) continue;
    pending[waiting] = X + (size_t)(row ? row[i] : i) * w;
    factor[waiting++] = f;
    if (waiting < 4) continue;
    add_four(y, pending[0], factor[0], pending[1], factor[1], pending[2], factor[2], pending[3],
             factor[3], count);
    waiting = 0;
  }
  for (int i = 0; i < waiting; i++) subtract(y, pending[i], -factor[i], count);
}

static void scale(tbReal* x, tbReal a, int n) {
  for (int i = 0; i < n; i++) x[i] *= a;
}

static void swap(tbReal* x, tbReal* y, int n) {
  for (int i = 0; i < n; i++) {
    tbReal keep = x[i];
    x[i] = y[i];
    y[i] = keep;
  }
}

void tb_ltdl_solve_many(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* X,
                        int stride, int count) {
  size_t width = (size_t)stride;
  for (int k = forest.n - 1; k >= 0; k--) {
    const tbReal* row = LD + forest.rowadr[k];
    const int* columns = forest.colind + forest.rowadr[k];
    for (int t = 0; t < forest.rownnz[k] - 1; t++) {
      subtract(X + (size_t)columns[t] * width, X + (size_t)k * width, row[t], count);
    }
  }
  for (int k = 0; k < forest.n; k++) {
    const tbReal* row = LD + forest.rowadr[k];
    const int* columns = forest.colind + forest.rowadr[k];
    tbReal* x = X + (size_t)k * width;
    scale(x, -inverse[k], count);
    tb_add_rows(x, forest.rownnz[k] - 1, row, 1, X, columns, stride, count);
    scale(x, -1, count);
  }
}

void tb_lu_solve_many(int n, const tbReal* LU, int lda, const int* pivot, tbReal* X, int stride,
                      int count) {
  size_t width = (size_t)stride;
  for (int i = 0; i < n; i++) {
    if (pivot[i] != i) swap(X + (size_t)i * width, X + (size_t)pivot[i] * width, count);
  }
  // Solved rows carry their sign: sums only add.
  for (int i = 0; i < n; i++) {
    tbReal* x = X + (size_t)i * width;
    tb_add_rows(x, i, LU + (size_t)i * (size_t)lda, 1, X, NULL, stride, count);
    scale(x, -1, count);
  }
  for (int i = n - 1; i >= 0; i--) {
    const tbReal* row = LU + (size_t)i * (size_t)lda;
    tbReal* x = X + (size_t)i * width;
    tb_add_rows(x, n - 1 - i, row + i + 1, 1, X + (size_t)(i + 1) * width, NULL, stride, count);
    scale(x, -1 / row[i], count);
  }
}

void tb_cholesky_solve_many(int n, const tbReal* L, int lda, tbReal* X, int stride, int count) {
  size_t width = (size_t)stride, down = (size_t)lda;
  for (int i = 0; i < n; i++) {
    tbReal* x = X + (size_t)i * width;
    tb_add_rows(x, i, L + (size_t)i * down, 1, X, NULL, stride, count);
    scale(x, -1 / L[(size_t)i * down + (size_t)i], count);
  }
  for (int i = n - 1; i >= 0; i--) {
    tbReal* x = X + (size_t)i * width;
    tb_add_rows(x, n - 1 - i, L + (size_t)(i + 1) * down + (size_t)i, lda,
                X + (size_t)(i + 1) * width, NULL, stride, count);
    scale(x, -1 / L[(size_t)i * down + (size_t)i], count);
  }
}

void tb_lu_solve_transposed(int n, const tbReal* LU, int lda, const int* pivot, tbReal* x) {
  // A = P^T L U, so A^T = U^T L^T P.
  for (int i = 0; i < n; i++) {
    const tbReal* row = LU + (size_t)i * (size_t)lda;
    x[i] /= row[i];
    for (int j = i + 1; j < n; j++) x[j] -= row[j] * x[i];
  }
  for (int i = n - 1; i >= 0; i--) {
    const tbReal* row = LU + (size_t)i * (size_t)lda;
    for (int j = 0; j < i; j++) x[j] -= row[j] * x[i];
  }
  for (int i = n - 1; i >= 0; i--) {
    tbReal keep = x[i];
    x[i] = x[pivot[i]];
    x[pivot[i]] = keep;
  }
}
