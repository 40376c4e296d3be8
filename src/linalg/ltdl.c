#include "linalg/ltdl.h"

#include <math.h>
#include <stdbool.h>

#include "base/kernel.h"

// y -= a x
static void subtract_scaled(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, tbReal a, int n) {
  for (int i = 0; i < n; i++) y[i] -= a * x[i];
}

// y -= a x + b z
static void subtract_two(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, tbReal a,
                         const tbReal* TB_RESTRICT z, tbReal b, int n) {
  for (int i = 0; i < n; i++) y[i] -= a * x[i] + b * z[i];
}

// Inertia of an index that is held, over its diagonal.
static const tbReal HELD = 1e20;

// A pivot of no more than `least` of its diagonal is rounding: its index is held. False if it is
// then not positive and finite.
static bool take_pivot(tbReal* d, tbReal diagonal, tbReal least) {
  if (*d <= least * diagonal) *d = HELD * diagonal;
  return *d > 0 && *d < INFINITY;
}

int tb_ltdl_factor(tbForest forest, tbReal* M, tbReal* inverse, tbReal least) {
  return tb_ltdl_factor_range(forest, M, inverse, least, 0, forest.n);
}

int tb_ltdl_factor_range(tbForest forest, tbReal* M, tbReal* inverse, tbReal least, int first,
                         int end) {
  // Until its turn comes, an index has its diagonal where the inverse of its pivot will be.
  for (int k = first; k < end; k++) {
    inverse[k] = least > 0 ? M[forest.rowadr[k] + forest.rownnz[k] - 1] : 0;
  }
  for (int k = end - 1; k >= first; k--) {
    tbReal* row = M + forest.rowadr[k];
    const int* columns = forest.colind + forest.rowadr[k];
    int last = forest.rownnz[k] - 1;
    if (!take_pivot(&row[last], inverse[k], least)) return k;
    tbReal inv = 1 / row[last];
    inverse[k] = inv;

    // Row j of the ancestor at place t has the columns 0 ... t of this row.
    if (last == 0 || columns[last - 1] != k - 1) {
      for (int t = last - 1; t >= 0; t--) {
        tbReal a = row[t] * inv;
        subtract_scaled(M + forest.rowadr[columns[t]], row, a, t + 1);
        row[t] = a;
      }
      continue;
    }

    // Where the parent is the dof before, both are eliminated at once: half the traffic of memory.
    tbReal* parent = M + forest.rowadr[k - 1];
    int t = last - 1;
    tbReal a = row[t] * inv;
    subtract_scaled(parent, row, a, last);
    row[t] = a;
    if (!take_pivot(&parent[t], inverse[k - 1], least)) return k - 1;
    tbReal parent_inv = 1 / parent[t];
    inverse[k - 1] = parent_inv;
    for (t--; t >= 0; t--) {
      a = row[t] * inv;
      tbReal b = parent[t] * parent_inv;
      subtract_two(M + forest.rowadr[columns[t]], row, a, parent, b, t + 1);
      row[t] = a;
      parent[t] = b;
    }
    k--;
  }
  return -1;
}

// x <- L^-T x: from the leaves to the root.
static void solve_transposed(tbForest forest, const tbReal* LD, tbReal* x, int first, int end) {
  for (int k = end - 1; k >= first; k--) {
    const tbReal* row = LD + forest.rowadr[k];
    const int* columns = forest.colind + forest.rowadr[k];
    int last = forest.rownnz[k] - 1;
    tbReal xk = x[k];
    if (xk == 0) continue;
    // Two at a time: no column occurs twice.
    int t = 0;
    for (; t + 2 <= last; t += 2) {
      tbReal a = x[columns[t]] - row[t] * xk, b = x[columns[t + 1]] - row[t + 1] * xk;
      x[columns[t]] = a;
      x[columns[t + 1]] = b;
    }
    if (t < last) x[columns[t]] -= row[t] * xk;
  }
}

void tb_ltdl_solve(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x) {
  tb_ltdl_solve_range(forest, LD, inverse, x, 0, forest.n);
}

void tb_ltdl_solve_range(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x,
                         int first, int end) {
  solve_transposed(forest, LD, x, first, end);
  // x <- L^-1 D^-1 x: from the root to the leaves.
  for (int k = first; k < end; k++) {
    const tbReal* row = LD + forest.rowadr[k];
    const int* columns = forest.colind + forest.rowadr[k];
    int last = forest.rownnz[k] - 1;
    tbReal sum = x[k] * inverse[k];
    for (int t = 0; t < last; t++) sum -= row[t] * x[columns[t]];
    x[k] = sum;
  }
}

void tb_ltdl_half_solve(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x) {
  solve_transposed(forest, LD, x, 0, forest.n);
  for (int k = 0; k < forest.n; k++) x[k] *= sqrt(inverse[k]);
}

void tb_ltdl_half_solve_support(tbForest forest, const tbReal* LD, const tbReal* inverse,
                                const int* support, int nsupport, tbReal* x, int stride, int rows) {
  size_t width = (size_t)stride;
  for (int k = nsupport - 1; k >= 0; k--) {
    int dof = support[k];
    const tbReal* row = LD + forest.rowadr[dof];
    const int* columns = forest.colind + forest.rowadr[dof];
    int last = forest.rownnz[dof] - 1;
    tbReal root = sqrt(inverse[dof]);
    if (last == k) {
      // One chain this far: the ancestors are the first of the support.
      for (int r = 0; r < rows; r++) {
        tbReal* xr = x + (size_t)r * width;
        subtract_scaled(xr, row, xr[k], last);
      }
    } else {
      // Otherwise walk both ascending lists down from k.
      for (int t = last - 1, a = k - 1; t >= 0; t--, a--) {
        while (support[a] != columns[t]) a--;
        for (int r = 0; r < rows; r++)
          x[(size_t)r * width + (size_t)a] -= row[t] * x[(size_t)r * width + (size_t)k];
      }
    }
    for (int r = 0; r < rows; r++) x[(size_t)r * width + (size_t)k] *= root;
  }
}

void tb_forest_mul(tbForest forest, const tbReal* M, tbReal* r, const tbReal* v) {
  for (int k = 0; k < forest.n; k++) {
    const tbReal* row = M + forest.rowadr[k];
    const int* columns = forest.colind + forest.rowadr[k];
    int last = forest.rownnz[k] - 1;
    // The row's own part of the product, and its mirror image above the diagonal.
    tbReal sum = row[last] * v[k];
    for (int t = 0; t < last; t++) {
      sum += row[t] * v[columns[t]];
      r[columns[t]] += row[t] * v[k];
    }
    r[k] = sum;
  }
}
