#include "linalg/symeig.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/kernel.h"

// Reflect: A <- H A H with H = I - beta v v^T that zeroes row k beyond k + 1, for k = 0, 1, ...
// The vectors v stay in the rows of A right of the diagonal; d, e become the tridiagonal matrix.
static void tridiagonal(int n, double* TB_RESTRICT A, double* TB_RESTRICT d, double* TB_RESTRICT e,
                        double* TB_RESTRICT beta, double* TB_RESTRICT p) {
  for (int k = 0; k < n; k++) {
    double* v = A + (size_t)k * (size_t)n;
    d[k] = v[k];
    beta[k] = 0;
    if (k + 1 >= n) break;
    double tail = 0;
    for (int j = k + 2; j < n; j++) tail += v[j] * v[j];
    e[k] = v[k + 1];
    if (tail == 0) continue;
    double length = sqrt(v[k + 1] * v[k + 1] + tail), alpha = v[k + 1] > 0 ? -length : length;
    e[k] = alpha;
    v[k + 1] -= alpha;
    beta[k] = 2 / (v[k + 1] * v[k + 1] + tail);

    // p = beta A v, then A -= v w^T + w v^T with w = p - (beta/2)(p.v) v.
    double dot = 0;
    for (int i = k + 1; i < n; i++) {
      const double* row = A + (size_t)i * (size_t)n;
      double sum = 0;
      for (int j = k + 1; j < n; j++) sum += row[j] * v[j];
      p[i] = beta[k] * sum;
      dot += p[i] * v[i];
    }
    double half = 0.5 * beta[k] * dot;
    for (int i = k + 1; i < n; i++) p[i] -= half * v[i];
    for (int i = k + 1; i < n; i++) {
      double *row = A + (size_t)i * (size_t)n, vi = v[i], pi = p[i];
      for (int j = k + 1; j < n; j++) row[j] -= vi * p[j] + pi * v[j];
    }
  }
}

// Q = (H_0 H_1 ...)^T from the stored vectors.
static void basis(int n, const double* A, const double* beta, double* Q) {
  memset(Q, 0, sizeof(double) * (size_t)n * (size_t)n);
  for (int i = 0; i < n; i++) Q[(size_t)i * (size_t)n + (size_t)i] = 1;
  for (int k = n - 3; k >= 0; k--) {
    if (beta[k] == 0) continue;
    const double* v = A + (size_t)k * (size_t)n;
    for (int i = k + 1; i < n; i++) {
      double *row = Q + (size_t)i * (size_t)n, sum = 0;
      for (int j = k + 1; j < n; j++) sum += row[j] * v[j];
      sum *= beta[k];
      for (int j = k + 1; j < n; j++) row[j] -= sum * v[j];
    }
  }
}

// Turn rows i and i + 1 of Q.
static void rotate(int n, double* TB_RESTRICT a, double* TB_RESTRICT b, double c, double s) {
  for (int j = 0; j < n; j++) {
    double x = a[j], y = b[j];
    b[j] = s * x + c * y;
    a[j] = c * x - s * y;
  }
}

// One implicit QL sweep over the unreduced block l ... m, with Wilkinson's shift.
static void sweep(int n, int l, int m, double* d, double* e, double* Q) {
  double g = (d[l + 1] - d[l]) / (2 * e[l]), r = sqrt(g * g + 1);
  g = d[m] - d[l] + e[l] / (g + (g >= 0 ? r : -r));
  double s = 1, c = 1, p = 0;
  for (int i = m - 1; i >= l; i--) {
    double f = s * e[i], b = c * e[i];
    r = sqrt(f * f + g * g);
    e[i + 1] = r;
    if (r == 0) {
      // Split here: the next sweep works on the parts.
      d[i + 1] -= p;
      e[m] = 0;
      return;
    }
    double inverse = 1 / r;
    s = f * inverse;
    c = g * inverse;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    rotate(n, Q + (size_t)i * (size_t)n, Q + (size_t)(i + 1) * (size_t)n, c, s);
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
}

bool tb_symmetric_eigen(int n, double* A, double* w, double* Q, double* work) {
  if (n <= 0) return true;
  double *e = work, *beta = work + n;
  // Q's first row serves as scratch until Q is formed.
  tridiagonal(n, A, w, e, beta, Q);
  basis(n, A, beta, Q);
  e[n - 1] = 0;
  double norm = 0;
  for (int i = 0; i < n; i++) norm = fmax(norm, fabs(w[i]) + fabs(e[i]));
  if (!isfinite(norm)) return false;
  double negligible = DBL_EPSILON * DBL_EPSILON * norm;
  for (int l = 0; l < n; l++) {
    for (int tries = 0;; tries++) {
      int m = l;
      while (m + 1 < n && fabs(e[m]) > DBL_EPSILON * (fabs(w[m]) + fabs(w[m + 1])) + negligible) {
        m++;
      }
      if (m == l) break;
      if (tries == 60) return false;
      sweep(n, l, m, w, e, Q);
    }
  }
  return true;
}
