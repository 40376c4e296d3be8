#include "linalg/multi_rhs.h"

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

// y += a x + b z
static void add_two(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, tbReal a,
                    const tbReal* TB_RESTRICT z, tbReal b, int n) {
  for (int i = 0; i < n; i++) y[i] += a * x[i] + b * z[i];
}

// y += sum over i < n <= 4 of factor[i] row[i].
static void add_few(tbReal* y, const tbReal* const row[4], const tbReal factor[4], int n,
                    int count) {
  if (n == 4) {
    add_four(y, row[0], factor[0], row[1], factor[1], row[2], factor[2], row[3], factor[3], count);
    return;
  }
  if (n >= 2) add_two(y, row[0], factor[0], row[1], factor[1], count);
  if (n % 2) subtract(y, row[n - 1], -factor[n - 1], count);
}

// tb_add_rows with all factors times `sign`.
static inline void add_signed(tbReal* y, int n, const tbReal* a, int step, const tbReal* X,
                              const int* row, int stride, int count, tbReal sign) {
  size_t w = (size_t)stride, s = (size_t)step;
  // Rows with a zero factor are skipped.
  const tbReal* pending[4] = {X, X, X, X};
  tbReal factor[4] = {0, 0, 0, 0};
  int waiting = 0;
  for (int i = 0; i < n; i++) {
    tbReal f = a[(size_t)i * s];
    if (f == 0) continue;
    pending[waiting] = X + (size_t)(row ? row[i] : i) * w;
    factor[waiting++] = sign * f;
    if (waiting < 4) continue;
    add_few(y, pending, factor, 4, count);
    waiting = 0;
  }
  add_few(y, pending, factor, waiting, count);
}

void tb_add_rows(tbReal* y, int n, const tbReal* a, int step, const tbReal* X, const int* row,
                 int stride, int count) {
  add_signed(y, n, a, step, X, row, stride, count, 1);
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

// The first index of a run of at most four indices that ends with `last`, each the parent of the
// next.
static int run_start(tbForest forest, int last) {
  int k = last;
  while (k > 0 && last - k < 3 && forest.rownnz[k] > 1 &&
         forest.colind[forest.rowadr[k] + forest.rownnz[k] - 2] == k - 1) {
    k--;
  }
  return k;
}

// X <- L^-T X. The indices of a run update the ancestors of its first index together.
static void solve_upward(tbForest forest, const tbReal* LD, tbReal* X, size_t width, int count) {
  for (int last = forest.n - 1, first; last >= 0; last = first - 1) {
    first = run_start(forest, last);
    int above = forest.rownnz[first] - 1;
    const int* columns = forest.colind + forest.rowadr[first];
    for (int k = last; k > first; k--) {
      const tbReal* own = LD + forest.rowadr[k] + above;
      for (int j = first; j < k; j++) {
        subtract(X + (size_t)j * width, X + (size_t)k * width, own[j - first], count);
      }
    }
    const tbReal* row[4] = {X, X, X, X};
    tbReal factor[4] = {0, 0, 0, 0};
    for (int k = first; k <= last; k++) row[k - first] = X + (size_t)k * width;
    for (int t = 0; t < above; t++) {
      for (int k = first; k <= last; k++) factor[k - first] = -LD[forest.rowadr[k] + t];
      add_few(X + (size_t)columns[t] * width, row, factor, last - first + 1, count);
    }
  }
}

void tb_ltdl_solve_multi(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* X,
                         int stride, int count) {
  size_t width = (size_t)stride;
  solve_upward(forest, LD, X, width, count);
  for (int k = 0; k < forest.n; k++) {
    tbReal* x = X + (size_t)k * width;
    scale(x, inverse[k], count);
    add_signed(x, forest.rownnz[k] - 1, LD + forest.rowadr[k], 1, X,
               forest.colind + forest.rowadr[k], stride, count, -1);
  }
}

void tb_lu_solve_multi(int n, const tbReal* LU, int lda, const int* pivot, tbReal* X, int stride,
                       int count) {
  size_t width = (size_t)stride;
  for (int i = 0; i < n; i++) {
    if (pivot[i] != i) swap(X + (size_t)i * width, X + (size_t)pivot[i] * width, count);
  }
  for (int i = 1; i < n; i++) {
    add_signed(X + (size_t)i * width, i, LU + (size_t)i * (size_t)lda, 1, X, NULL, stride, count,
               -1);
  }
  for (int i = n - 1; i >= 0; i--) {
    const tbReal* row = LU + (size_t)i * (size_t)lda;
    tbReal* x = X + (size_t)i * width;
    add_signed(x, n - 1 - i, row + i + 1, 1, X + (size_t)(i + 1) * width, NULL, stride, count, -1);
    scale(x, 1 / row[i], count);
  }
}

void tb_cholesky_solve_multi(int n, const tbReal* L, int lda, tbReal* X, int stride, int count) {
  size_t width = (size_t)stride, down = (size_t)lda;
  for (int i = 0; i < n; i++) {
    tbReal* x = X + (size_t)i * width;
    add_signed(x, i, L + (size_t)i * down, 1, X, NULL, stride, count, -1);
    scale(x, 1 / L[(size_t)i * down + (size_t)i], count);
  }
  for (int i = n - 1; i >= 0; i--) {
    tbReal* x = X + (size_t)i * width;
    add_signed(x, n - 1 - i, L + (size_t)(i + 1) * down + (size_t)i, lda,
               X + (size_t)(i + 1) * width, NULL, stride, count, -1);
    scale(x, 1 / L[(size_t)i * down + (size_t)i], count);
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
