#include "linalg/symeig.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/minmax.h"
#include "base/kernel.h"

enum { COLUMNS = 4 };

int tb_eigen_rotations(int n) {
  return 4 * n * n;
}

// to += s from, four numbers, all loaded before any is stored.
TB_INLINE void add_four(double* to, double s, const double* from) {
  double sum[COLUMNS];
  for (int c = 0; c < COLUMNS; c++) sum[c] = to[c] + s * from[c];
  for (int c = 0; c < COLUMNS; c++) to[c] = sum[c];
}

// Reflections: A <- H A H with H = I - beta v v^T that zeroes row k beyond k + 1, for k = 0, 1, ...
// The vectors v stay in the rows of A right of the diagonal; d, e become the tridiagonal matrix.
// Loops over rows begin at the multiple of four before k + 1, where v and p are zero, and run to
// the stride, where all entries are zero.
TB_INLINE void tridiagonal(int n, int stride, double* TB_RESTRICT A, double* TB_RESTRICT d,
                           double* TB_RESTRICT e, double* TB_RESTRICT beta, double* TB_RESTRICT p) {
  // Rows at rounding level are left as they are: a reflection made from them would be arbitrary,
  // and T with it.
  double noise = 0;
  for (int k = 0; k < n; k++) noise = tb_max(noise, fabs(A[k * stride + k]));
  noise *= 1e-14;
  noise *= noise;
  for (int k = 0; k < n; k++) {
    double* TB_RESTRICT v = A + k * stride;
    d[k] = v[k];
    beta[k] = 0;
    if (k + 1 >= n) break;
    double tail = 0;
    for (int j = k + 2; j < n; j++) tail += v[j] * v[j];
    e[k] = v[k + 1];
    if (tail <= noise) continue;
    double length = sqrt(v[k + 1] * v[k + 1] + tail), alpha = v[k + 1] > 0 ? -length : length;
    e[k] = alpha;
    v[k + 1] -= alpha;
    beta[k] = 2 / (v[k + 1] * v[k + 1] + tail);
    int from = (k + 1) & ~3;
    for (int j = from; j <= k; j++) v[j] = 0;

    // p = beta A v by rows, then A -= v w^T + w v^T with w = p - (beta/2)(p.v) v.
    for (int j = from; j < stride; j++) p[j] = 0;
    for (int i = k + 1; i < n; i++) {
      const double *row = A + i * stride, scale = beta[k] * v[i];
      for (int j = from; j < stride; j += 4) {
        add_four(p + j, scale, row + j);
      }
    }
    double dot = 0;
    for (int i = k + 1; i < n; i++) dot += p[i] * v[i];
    double half = 0.5 * beta[k] * dot;
    for (int i = k + 1; i < n; i++) p[i] -= half * v[i];
    for (int j = from; j <= k; j++) p[j] = 0;
    for (int i = k + 1; i < n; i++) {
      double *TB_RESTRICT row = A + i * stride, vi = v[i], pi = p[i];
      for (int j = from; j < stride; j += 4) {
        double left[4];
        for (int q = 0; q < 4; q++) left[q] = row[j + q] - (vi * p[j + q] + pi * v[j + q]);
        for (int q = 0; q < 4; q++) row[j + q] = left[q];
      }
    }
  }
}

static void tridiagonal_generic(int n, int stride, double* A, double* d, double* e, double* beta,
                                double* p) {
  tridiagonal(n, stride, A, d, e, beta, p);
}

TB_WIDE static void tridiagonal_avx2(int n, int stride, double* A, double* d, double* e,
                                     double* beta, double* p) {
  tridiagonal(n, stride, A, d, e, beta, p);
}

// One implicit QL sweep over the unreduced block l ... m, with Wilkinson's shift. Rotations are
// recorded; false if their memory is used up.
static bool sweep(int l, int m, double* d, double* e, tbEigenBasis* basis) {
  if (basis->count + m - l > basis->capacity) return false;
  double g = (d[l + 1] - d[l]) / (2 * e[l]), r = sqrt(g * g + 1);
  g = d[m] - d[l] + e[l] / (g + (g >= 0 ? r : -r));
  double s = 1, c = 1, p = 0;
  for (int i = m - 1; i >= l; i--) {
    double f = s * e[i], b = c * e[i];
    r = sqrt(f * f + g * g);
    e[i + 1] = r;
    if (r == 0) {
      // Split here: the next sweep works on the two blocks.
      d[i + 1] -= p;
      e[m] = 0;
      return true;
    }
    double inverse = 1 / r;
    s = f * inverse;
    c = g * inverse;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    basis->cosine[basis->count] = c;
    basis->sine[basis->count] = s;
    basis->row[basis->count++] = i;
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
  return true;
}

bool tb_tridiagonal_eigen(double* d, double* e, tbEigenBasis* basis, double* rotations, int* rows) {
  int n = basis->n;
  basis->cosine = rotations;
  basis->capacity = tb_eigen_rotations(n);
  basis->sine = rotations + basis->capacity;
  basis->row = rows;
  double norm = 0;
  for (int i = 0; i < n; i++) norm = tb_max(norm, fabs(d[i]) + fabs(e[i]));
  if (!isfinite(norm)) return false;
  // Next to zero eigenvalues the off-diagonal is at rounding level and would never pass a test
  // relative to them.
  double negligible = 0.25 * DBL_EPSILON * norm;
  for (int l = 0; l < n; l++) {
    for (int tries = 0;; tries++) {
      int m = l;
      while (m + 1 < n && fabs(e[m]) > DBL_EPSILON * (fabs(d[m]) + fabs(d[m + 1])) + negligible) {
        m++;
      }
      if (m == l) break;
      if (tries == 60 || !sweep(l, m, d, e, basis)) return false;
    }
  }
  return true;
}

void tb_symmetric_tridiagonal(int n, double* A, double* d, double* e, tbEigenBasis* basis,
                              double* memory) {
  int stride = tb_eigen_stride(n);
  double* p = memory + stride;
  *basis = (tbEigenBasis){.n = n, .stride = stride, .reflector = A, .beta = memory};
  if (tb_wide()) {
    tridiagonal_avx2(n, stride, A, d, e, memory, p);
  } else {
    tridiagonal_generic(n, stride, A, d, e, memory, p);
  }
  if (n > 0) e[n - 1] = 0;
}

// X <- H X.
TB_INLINE void reflect(const tbEigenBasis* b, int k, double* X) {
  // The second row of the basis' memory is free at this stage.
  double *v = b->reflector + k * b->stride, *sum = b->beta + b->stride;
  for (int c = 0; c < COLUMNS; c++) sum[c] = 0;
  for (int i = k + 1; i < b->n; i++) add_four(sum, v[i], X + i * COLUMNS);
  double beta = -b->beta[k];
  for (int i = k + 1; i < b->n; i++) add_four(X + i * COLUMNS, beta * v[i], sum);
}

// All reflections, in their order or reversed.
TB_INLINE void reflect_all(const tbEigenBasis* b, bool backwards, double* X) {
  int last = b->n - 2;
  for (int i = 0; i <= last; i++) {
    int k = backwards ? last - i : i;
    if (b->beta[k] != 0) reflect(b, k, X);
  }
}

static void reflect_generic(const tbEigenBasis* b, bool backwards, double* X) {
  reflect_all(b, backwards, X);
}

TB_WIDE static void reflect_avx2(const tbEigenBasis* b, bool backwards, double* X) {
  reflect_all(b, backwards, X);
}

static void reflections(const tbEigenBasis* b, bool backwards, double* X) {
  if (tb_wide()) {
    reflect_avx2(b, backwards, X);
  } else {
    reflect_generic(b, backwards, X);
  }
}

static void turn(double* TB_RESTRICT x, double c, double s) {
  double* TB_RESTRICT y = x + COLUMNS;
  for (int k = 0; k < COLUMNS; k++) {
    double a = x[k], b = y[k];
    y[k] = s * a + c * b;
    x[k] = c * a - s * b;
  }
}

void tb_eigen_to_modes(const tbEigenBasis* b, double* X) {
  reflections(b, false, X);
  for (int i = 0; i < b->count; i++) {
    turn(X + (size_t)b->row[i] * COLUMNS, b->cosine[i], b->sine[i]);
  }
}

void tb_eigen_from_modes(const tbEigenBasis* b, double* X) {
  for (int i = b->count - 1; i >= 0; i--) {
    turn(X + (size_t)b->row[i] * COLUMNS, b->cosine[i], -b->sine[i]);
  }
  reflections(b, true, X);
}
