#include "linalg/symeig.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/kernel.h"

enum { COLUMNS = 4 };

int tb_eigen_rotations(int n) {
  return 4 * n * n;
}

// Reflect: A <- H A H with H = I - beta v v^T that zeroes row k beyond k + 1, for k = 0, 1, ...
// The vectors v stay in the rows of A right of the diagonal; d, e become the tridiagonal matrix.
static void tridiagonal(int n, double* TB_RESTRICT A, double* TB_RESTRICT d, double* TB_RESTRICT e,
                        double* TB_RESTRICT beta, double* TB_RESTRICT p) {
  // Rows that hold rounding errors only are left as they are: a reflection made of them would turn
  // what follows by chance, and T with it.
  double noise = 0;
  for (int k = 0; k < n; k++) noise = fmax(noise, fabs(A[(size_t)k * (size_t)n + (size_t)k]));
  noise *= 1e-14;
  noise *= noise;
  for (int k = 0; k < n; k++) {
    double* TB_RESTRICT v = A + (size_t)k * (size_t)n;
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

    // p = beta A v by rows, then A -= v w^T + w v^T with w = p - (beta/2)(p.v) v.
    for (int j = k + 1; j < n; j++) p[j] = 0;
    for (int i = k + 1; i < n; i++) {
      const double *row = A + (size_t)i * (size_t)n, scale = beta[k] * v[i];
      for (int j = k + 1; j < n; j++) p[j] += scale * row[j];
    }
    double dot = 0;
    for (int i = k + 1; i < n; i++) dot += p[i] * v[i];
    double half = 0.5 * beta[k] * dot;
    for (int i = k + 1; i < n; i++) p[i] -= half * v[i];
    for (int i = k + 1; i < n; i++) {
      double *TB_RESTRICT row = A + (size_t)i * (size_t)n, vi = v[i], pi = p[i];
      for (int j = k + 1; j < n; j++) row[j] -= vi * p[j] + pi * v[j];
    }
  }
}

// One implicit QL sweep over the unreduced block l ... m, with Wilkinson's shift. Rotations are
// recorded; false where there is no more room.
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
      // Split here: the next sweep works on the parts.
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
    basis->place[basis->count++] = i;
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
  return true;
}

bool tb_tridiagonal_eigen(double* d, double* e, tbEigenBasis* basis, double* rotations,
                          int* places) {
  int n = basis->n;
  basis->cosine = rotations;
  basis->capacity = tb_eigen_rotations(n);
  basis->sine = rotations + basis->capacity;
  basis->place = places;
  double norm = 0;
  for (int i = 0; i < n; i++) norm = fmax(norm, fabs(d[i]) + fabs(e[i]));
  if (!isfinite(norm)) return false;
  // Beside eigenvalues that are zero only rounding errors stand: they would never pass a test
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
  *basis = (tbEigenBasis){.n = n, .reflector = A, .beta = memory};
  tridiagonal(n, A, d, e, memory, memory + n);
  if (n > 0) e[n - 1] = 0;
}

// X <- H X.
static void reflect(const tbEigenBasis* b, int k, double* TB_RESTRICT X) {
  const double* v = b->reflector + (size_t)k * (size_t)b->n;
  double sum[COLUMNS] = {0};
  for (int i = k + 1; i < b->n; i++) {
    for (int c = 0; c < COLUMNS; c++) sum[c] += v[i] * X[i * COLUMNS + c];
  }
  for (int c = 0; c < COLUMNS; c++) sum[c] *= b->beta[k];
  for (int i = k + 1; i < b->n; i++) {
    for (int c = 0; c < COLUMNS; c++) X[i * COLUMNS + c] -= v[i] * sum[c];
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
  for (int k = 0; k < b->n - 1; k++) {
    if (b->beta[k] != 0) reflect(b, k, X);
  }
  for (int i = 0; i < b->count; i++) {
    turn(X + (size_t)b->place[i] * COLUMNS, b->cosine[i], b->sine[i]);
  }
}

void tb_eigen_from_modes(const tbEigenBasis* b, double* X) {
  for (int i = b->count - 1; i >= 0; i--) {
    turn(X + (size_t)b->place[i] * COLUMNS, b->cosine[i], -b->sine[i]);
  }
  for (int k = b->n - 2; k >= 0; k--) {
    if (b->beta[k] != 0) reflect(b, k, X);
  }
}
