// Dense kernels for matrices of a few rows (up to 6), row-major, no memory of their own.
#ifndef TRIBO_LINALG_SMALL_H_
#define TRIBO_LINALG_SMALL_H_

#include <math.h>
#include <stdbool.h>

enum { TB_SMALL_MAX = 6 };

// L L^T = A + shift I (lower triangle of `a`, n <= 6) into `l`. False where a pivot falls below
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

#endif
