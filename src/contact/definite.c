// Whether a symmetric matrix is positive semidefinite.
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "contact/delassus.h"
#include "contact/problem.h"

// Pivots relative to the diagonal. Data have some 8 digits: elimination by a pivot above the first
// keeps four of them, so that what falls below the second is negative. Where a pivot p is left out,
// the rest of its column is at most sqrt(p) of the diagonal in a semidefinite matrix.
static const tbReal LEAST_PIVOT = 1e-4, NEGATIVE_PIVOT = -1e-3, LARGEST_REST = 0.03;

static tbReal square(const tbReal* x, int n) {
  tbReal sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sum;
}

// A = L L^T row by row, without exchanges. A pivot of next to nothing is a dependent row: it stands
// as zero and eliminates nothing.
int tb_find_indefinite(int n, tbReal* A) {
  for (int k = 0; k < n; k++) {
    tbReal *row = A + (size_t)k * (size_t)n, whole = row[k];
    for (int j = 0; j < k; j++) {
      const tbReal* other = A + (size_t)j * (size_t)n;
      for (int i = 0; i < j; i++) row[j] -= row[i] * other[i];
      if (other[j] > 0) {
        row[j] /= other[j];
      } else if (fabs(row[j]) > LARGEST_REST * sqrt(square(other, j) * whole)) {
        return k;
      } else {
        row[j] = 0;
      }
    }
    tbReal pivot = whole - square(row, k);
    if (!(pivot >= NEGATIVE_PIVOT * whole)) return k;
    row[k] = pivot > LEAST_PIVOT * whole ? sqrt(pivot) : 0;
  }
  return -1;
}

tbResult tb_problem_check_definite(const tbProblem* p, tbError* error) {
  enum { MOST_ROWS = 600 };
  if (p->n > MOST_ROWS || p->G.form == TB_DELASSUS_PRODUCT) return TB_OK;
  tbReal* A = malloc(sizeof *A * ((size_t)p->n * (size_t)p->n + 1));
  if (!A) return TB_OK;
  tb_delassus_dense(p, A);
  for (int i = 0; p->R && i < p->n; i++) A[(size_t)i * (size_t)(p->n + 1)] += p->R[i];
  int row = tb_find_indefinite(p->n, A);
  free(A);
  if (row < 0) return TB_OK;
  return tb_fail(error, TB_ERROR_ARGUMENT,
                 "G + R is indefinite: its first %d rows and columns have a negative eigenvalue",
                 row + 1);
}
