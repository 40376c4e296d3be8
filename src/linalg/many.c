#include "linalg/many.h"

#include "base/kernel.h"

// y -= a x
static void subtract(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, tbReal a, int n) {
  for (int i = 0; i < n; i++) y[i] -= a * x[i];
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
    scale(x, inverse[k], count);
    for (int t = 0; t < forest.rownnz[k] - 1; t++) {
      subtract(x, X + (size_t)columns[t] * width, row[t], count);
    }
  }
}

void tb_lu_solve_many(int n, const tbReal* LU, int lda, const int* pivot, tbReal* X, int stride,
                      int count) {
  size_t width = (size_t)stride;
  for (int i = 0; i < n; i++) {
    if (pivot[i] != i) swap(X + (size_t)i * width, X + (size_t)pivot[i] * width, count);
  }
  for (int i = 0; i < n; i++) {
    const tbReal* row = LU + (size_t)i * (size_t)lda;
    for (int j = 0; j < i; j++) {
      if (row[j] != 0) subtract(X + (size_t)i * width, X + (size_t)j * width, row[j], count);
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    const tbReal* row = LU + (size_t)i * (size_t)lda;
    for (int j = i + 1; j < n; j++) {
      if (row[j] != 0) subtract(X + (size_t)i * width, X + (size_t)j * width, row[j], count);
    }
    scale(X + (size_t)i * width, 1 / row[i], count);
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
