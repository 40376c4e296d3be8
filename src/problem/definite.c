// Whether a symmetric matrix is positive semidefinite.
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/minmax.h"
#include "problem/delassus.h"
#include "problem/problem.h"

// Relative to the diagonal. Matrices read from files have negative eigenvalues by rounding, up to
// 1e-6; an eigenvalue below -NEGATIVE is a true one.
static const tbReal NEGATIVE = 1e-3;

// Find the largest diagonal entry from k on, and exchange its row and column with those of k.
static void exchange(int n, tbReal* A, int k) {
  int p = k;
  for (int i = k + 1; i < n; i++) {
    if (A[i * n + i] > A[p * n + p]) p = i;
  }
  for (int i = 0; i < n && p != k; i++) {
    tbReal swap = A[k * n + i];
    A[k * n + i] = A[p * n + i];
    A[p * n + i] = swap;
  }
  for (int i = 0; i < n && p != k; i++) {
    tbReal swap = A[i * n + k];
    A[i * n + k] = A[i * n + p];
    A[i * n + p] = swap;
  }
}

// Whether the remainder, from row k on, of a matrix with unit diagonal is indefinite: the entries
// of a semidefinite matrix are at most the largest one on its diagonal.
static bool rest_is_indefinite(int n, const tbReal* A, int k) {
  tbReal largest = k < n ? tb_max(A[k * n + k], 0) : 0;
  for (int i = k; i < n; i++) {
    for (int j = k; j < n; j++) {
      tbReal entry = A[i * n + j];
      if (!(entry >= -largest - NEGATIVE && entry <= largest + NEGATIVE)) return true;
      if (i == j && !(entry >= -NEGATIVE)) return true;
    }
  }
  return false;
}

// Whether the leading minors of a 3 x 3 matrix are positive by far more than rounding: the common
// block, without the elimination below.
static bool is_clearly_definite(const tbReal* A) {
  const tbReal share = 1e-6;
  tbReal a = A[0], b = A[4], c = A[8], p = A[1], q = A[2], r = A[5];
  tbReal minor = a * b - p * p, det = c * minor - a * r * r - b * q * q + 2 * p * q * r;
  return a > 0 && minor > share * a * b && det > share * a * b * c;
}

// Elimination with diagonal pivoting of the matrix scaled to a unit diagonal, until the pivots are
// close to zero.
bool tb_is_indefinite(int n, tbReal* A) {
  if (n == 3 && is_clearly_definite(A)) return false;
  for (int i = 0; i < n; i++) {
    if (!(A[i * n + i] >= 0)) return true;
  }
  for (int i = 0; i < n; i++) {
    tbReal scale = A[i * n + i] > 0 ? 1 / sqrt(A[i * n + i]) : 0;
    for (int j = 0; j < n; j++) {
      // A zero diagonal entry of a semidefinite matrix implies a zero row.
      if (scale == 0 && A[i * n + j] != 0) return true;
      A[i * n + j] *= scale;
    }
    for (int j = 0; j < n; j++) A[j * n + i] *= scale;
  }
  for (int k = 0; k < n; k++) {
    exchange(n, A, k);
    tbReal pivot = A[k * n + k];
    if (!(pivot > NEGATIVE)) return rest_is_indefinite(n, A, k);
    for (int i = k + 1; i < n; i++) {
      tbReal factor = A[i * n + k] / pivot;
      if (factor == 0) continue;
      for (int j = k + 1; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
    }
    for (int i = k + 1; i < n; i++) {
      if (!(A[i * n + i] >= -NEGATIVE)) return true;
    }
  }
  return false;
}

tbResult tb_problem_check_definite(const tbProblem* p, tbError* error) {
  enum { MOST_ROWS = 600 };
  if (p->n > MOST_ROWS || p->G.form == TB_DELASSUS_PRODUCT) return TB_OK;
  tbReal* A = malloc(sizeof *A * ((size_t)p->n * (size_t)p->n + 1));
  if (!A) return TB_OK;
  tb_delassus_dense(p, A);
  for (int i = 0; p->R && i < p->n; i++) A[(size_t)i * (size_t)(p->n + 1)] += p->R[i];
  bool indefinite = tb_is_indefinite(p->n, A);
  free(A);
  if (!indefinite) return TB_OK;
  return tb_fail(error, TB_ERROR_ARGUMENT, "G + R is indefinite: it has a negative eigenvalue");
}
