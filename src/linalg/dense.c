#include "linalg/dense.h"

#include <math.h>
#include <stddef.h>

#include "base/kernel.h"
#include "linalg/simd4.h"
#include "linalg/gemm.h"

enum { PANEL = 24 };

static inline double* at(double* A, int lda, int i, int j) {
  return A + (size_t)i * (size_t)lda + (size_t)j;
}

int tb_cholesky_scratch(int n) {
  return PANEL * (n > 0 ? n : 1);
}

// Unblocked Cholesky of a diagonal block, and the solution of the rows below it: column by column,
// the product with a column is subtracted at once from the columns to its right, so that the inner
// loop runs along rows.
static bool cholesky_panel(int n, int k0, int width, double* A, int lda) {
  double column[PANEL];
  for (int j = 0; j < width; j++) {
    double d = *at(A, lda, k0 + j, k0 + j);
    if (!(d > 0)) return false;
    d = sqrt(d);
    *at(A, lda, k0 + j, k0 + j) = d;
    for (int i = j + 1; i < n - k0; i++) {
      double* TB_RESTRICT row = at(A, lda, k0 + i, k0);
      double f = row[j] / d;
      int end = i < width ? i : width - 1;
      row[j] = f;
      if (i < width) column[i] = f;
      for (int k = j + 1; k <= end; k++) row[k] -= f * column[k];
    }
  }
  return true;
}

bool tb_cholesky(int n, double* A, int lda, double* scratch) {
  for (int k0 = 0; k0 < n; k0 += PANEL) {
    int width = n - k0 < PANEL ? n - k0 : PANEL, rest = n - k0 - width;
    if (!cholesky_panel(n, k0, width, A, lda)) return false;
    if (!rest) break;
    // Subtract L21 L21^T from the trailing matrix, block row by block row up to its diagonal.
    for (int i = 0; i < rest; i++) {
      const double* row = at(A, lda, k0 + width + i, k0);
      for (int k = 0; k < width; k++) scratch[(size_t)k * (size_t)rest + (size_t)i] = row[k];
    }
    for (int i = 0; i < rest; i += PANEL) {
      int height = rest - i < PANEL ? rest - i : PANEL;
      tb_gemm_subtract(height, i + height, width, at(A, lda, k0 + width + i, k0), lda, scratch,
                       rest, at(A, lda, k0 + width + i, k0 + width), lda);
    }
  }
  return true;
}

void tb_cholesky_solve(int n, const double* L, int lda, double* x) {
  for (int i = 0; i < n; i++) {
    const double* row = L + (size_t)i * (size_t)lda;
    x[i] = (x[i] - tb_dot_sums(row, x, i)) / row[i];
  }
  for (int i = n - 1; i >= 0; i--) {
    const double* row = L + (size_t)i * (size_t)lda;
    double v = x[i] / row[i];
    x[i] = v;
    for (int k = 0; k < i; k++) x[k] -= row[k] * v;
  }
}

static void swap_rows(int n, double* A, int lda, int a, int b) {
  double *x = at(A, lda, a, 0), *y = at(A, lda, b, 0);
  for (int j = 0; j < n; j++) {
    double t = x[j];
    x[j] = y[j];
    y[j] = t;
  }
}

bool tb_lu(int n, double* A, int lda, int* pivot) {
  bool regular = true;
  for (int k0 = 0; k0 < n; k0 += PANEL) {
    int width = n - k0 < PANEL ? n - k0 : PANEL, end = k0 + width;
    // The panel's columns, one by one, with whole rows swapped.
    for (int j = k0; j < end; j++) {
      int best = j;
      for (int i = j + 1; i < n; i++) {
        if (fabs(*at(A, lda, i, j)) > fabs(*at(A, lda, best, j))) best = i;
      }
      pivot[j] = best;
      if (best != j) swap_rows(n, A, lda, j, best);
      double d = *at(A, lda, j, j);
      if (d == 0 || !isfinite(d)) {
        regular = false;
        continue;
      }
      const double* source = at(A, lda, j, 0);
      for (int i = j + 1; i < n; i++) {
        double* row = at(A, lda, i, 0);
        double f = row[j] / d;
        row[j] = f;
        if (f == 0) continue;
        for (int c = j + 1; c < end; c++) row[c] -= f * source[c];
      }
    }
    if (end == n) break;
    // The rows right of the panel, then the trailing matrix.
    for (int i = k0 + 1; i < end; i++) {
      double* row = at(A, lda, i, 0);
      for (int k = k0; k < i; k++) {
        double f = row[k];
        const double* source = at(A, lda, k, 0);
        for (int c = end; c < n; c++) row[c] -= f * source[c];
      }
    }
    tb_gemm_subtract(n - end, n - end, width, at(A, lda, end, k0), lda, at(A, lda, k0, end), lda,
                     at(A, lda, end, end), lda);
  }
  return regular;
}

void tb_lu_solve(int n, const double* LU, int lda, const int* pivot, double* x) {
  for (int i = 0; i < n; i++) {
    double t = x[pivot[i]];
    x[pivot[i]] = x[i];
    x[i] = t;
  }
  for (int i = 0; i < n; i++) {
    const double* row = LU + (size_t)i * (size_t)lda;
    double sum = 0;
    for (int k = 0; k < i; k++) sum += row[k] * x[k];
    x[i] -= sum;
  }
  for (int i = n - 1; i >= 0; i--) {
    const double* row = LU + (size_t)i * (size_t)lda;
    double sum = 0;
    for (int k = i + 1; k < n; k++) sum += row[k] * x[k];
    x[i] = (x[i] - sum) / row[i];
  }
}

int tb_cholesky_pivoted(int n, const double* A, int lda, double tolerance, double* B, int ldb,
                        double* work, int* perm) {
  double *first = work, *left = work + n;
  for (int i = 0; i < n; i++) {
    perm[i] = i;
    first[i] = left[i] = A[(size_t)i * (size_t)(lda + 1)];
  }
  int rank = 0;
  for (; rank < n; rank++) {
    // The row whose remaining diagonal is the largest share of its initial value.
    int best = -1;
    double share = tolerance;
    for (int i = rank; i < n; i++) {
      int r = perm[i];
      if (first[r] > 0 && left[r] > share * first[r]) {
        share = left[r] / first[r];
        best = i;
      }
    }
    if (best < 0) break;
    int p = perm[best];
    perm[best] = perm[rank];
    perm[rank] = p;
    double* pivot_row = B + (size_t)p * (size_t)ldb;
    double d = sqrt(left[p]);
    pivot_row[rank] = d;
    for (int i = rank + 1; i < n; i++) {
      int r = perm[i];
      double* row = B + (size_t)r * (size_t)ldb;
      double s0 = A[(size_t)r * (size_t)lda + (size_t)p], s1 = 0;
      int k = 0;
      for (; k + 2 <= rank; k += 2) {
        s0 -= row[k] * pivot_row[k];
        s1 -= row[k + 1] * pivot_row[k + 1];
      }
      if (k < rank) s0 -= row[k] * pivot_row[k];
      row[rank] = (s0 + s1) / d;
      left[r] -= row[rank] * row[rank];
    }
  }
  // Rows chosen early have no entries beyond their own column.
  for (int i = 0; i < rank; i++) {
    for (int k = i + 1; k < rank; k++) B[(size_t)perm[i] * (size_t)ldb + (size_t)k] = 0;
  }
  return rank;
}
