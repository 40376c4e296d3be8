// Dense kernels for matrices of a few rows, row-major, without memory of their own.
#ifndef TRIBO_LINALG_SMALL_H_
#define TRIBO_LINALG_SMALL_H_

#include <math.h>
#include <stdbool.h>

enum { TB_SMALL_MAX = 6 };

// L L^T = A + shift I (lower triangle of `a`, n <= 6) into `l`. False if a pivot falls below
// `floor`.
static inline bool tb_small_cholesky(int n, const double* a, double shift, double floor,
                                     double* l) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = a[i * n + j] + (i == j ? shift : 0);
      for (int k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
      if (i == j) {
        if (!(sum > floor)) return false;
        l[i * n + i] = sqrt(sum);
      } else {
        l[i * n + j] = sum / l[j * n + j];
      }
    }
  }
  return true;
}

// x = (L L^T)^-1 b. `x` may be `b`.
static inline void tb_small_solve(int n, const double* l, const double* b, double* x) {
  for (int i = 0; i < n; i++) {
    double sum = b[i];
    for (int k = 0; k < i; k++) sum -= l[i * n + k] * x[k];
    x[i] = sum / l[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    double sum = x[i];
    for (int k = i + 1; k < n; k++) sum -= l[k * n + i] * x[k];
    x[i] = sum / l[i * n + i];
  }
}

// b <- a^-1 b for a small general matrix, several columns at once (Gauss-Jordan with row pivots); a
// is overwritten. If a is singular, the rows without a pivot become zero and the result is false.
static inline bool tb_small_divide(int n, double* a, int columns, double* b) {
  bool regular = true;
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int r = k + 1; r < n; r++) {
      if (fabs(a[r * n + k]) > fabs(a[best * n + k])) best = r;
    }
    for (int c = 0; c < n && best != k; c++) {
      double t = a[k * n + c];
      a[k * n + c] = a[best * n + c];
      a[best * n + c] = t;
    }
    for (int c = 0; c < columns && best != k; c++) {
      double t = b[k * columns + c];
      b[k * columns + c] = b[best * columns + c];
      b[best * columns + c] = t;
    }
    if (!(fabs(a[k * n + k]) > 0)) {
      regular = false;
      continue;
    }
    for (int r = 0; r < n; r++) {
      if (r == k) continue;
      double f = a[r * n + k] / a[k * n + k];
      for (int c = k; c < n; c++) a[r * n + c] -= f * a[k * n + c];
      for (int c = 0; c < columns; c++) b[r * columns + c] -= f * b[k * columns + c];
    }
  }
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < columns; c++) {
      b[r * columns + c] = fabs(a[r * n + r]) > 0 ? b[r * columns + c] / a[r * n + r] : 0;
    }
  }
  return regular;
}

#endif
