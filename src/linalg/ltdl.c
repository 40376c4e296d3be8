#include "linalg/ltdl.h"

#include <math.h>
#include <stdbool.h>

#include "linalg/simd4.h"

// Inertia of a held index, over its diagonal.
static const tbReal HELD = 1e20;

// A pivot of at most `least` times its diagonal is rounding error: its index is held. False if the
// pivot is then not positive and finite.
static bool take_pivot(tbReal* d, tbReal diagonal, tbReal least) {
  if (*d <= least * diagonal) *d = HELD * diagonal;
  return *d > 0 && *d < INFINITY;
}

// ---- the factor --------------------------------------------------------------------------------

TB_INLINE int factor_range(tbForest forest, tbReal* M, tbReal* inverse, tbReal least, int first,
                           int end) {
  // Before its elimination, an index has its diagonal stored in `inverse`.
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

    // Row j of the ancestor at position t has the columns 0 ... t of this row.
    if (last == 0 || columns[last - 1] != k - 1) {
      for (int t = last - 1; t >= 0; t--) {
        tbReal a = row[t] * inv;
        tb_subtract_scaled(M + forest.rowadr[columns[t]], row, a, t + 1);
        row[t] = a;
      }
      continue;
    }

    // If the parent is the previous dof, both are eliminated at once, which halves the memory
    // traffic.
    tbReal* parent = M + forest.rowadr[k - 1];
    int t = last - 1;
    tbReal a = row[t] * inv;
    tb_subtract_scaled(parent, row, a, last);
    row[t] = a;
    if (!take_pivot(&parent[t], inverse[k - 1], least)) return k - 1;
    tbReal parent_inv = 1 / parent[t];
    inverse[k - 1] = parent_inv;
    for (t--; t >= 0; t--) {
      a = row[t] * inv;
      tbReal b = parent[t] * parent_inv;
      tb_simd2_subtract(M + forest.rowadr[columns[t]], row, a, parent, b, t + 1);
      row[t] = a;
      parent[t] = b;
    }
    k--;
  }
  return -1;
}

static int factor_generic(tbForest forest, tbReal* M, tbReal* inverse, tbReal least, int first,
                          int end) {
  return factor_range(forest, M, inverse, least, first, end);
}

TB_WIDE static int factor_avx2(tbForest forest, tbReal* M, tbReal* inverse, tbReal least, int first,
                               int end) {
  return factor_range(forest, M, inverse, least, first, end);
}

int tb_ltdl_factor_range(tbForest forest, tbReal* M, tbReal* inverse, tbReal least, int first,
                         int end) {
  return tb_wide() ? factor_avx2(forest, M, inverse, least, first, end)
                   : factor_generic(forest, M, inverse, least, first, end);
}

int tb_ltdl_factor(tbForest forest, tbReal* M, tbReal* inverse, tbReal least) {
  return tb_ltdl_factor_range(forest, M, inverse, least, 0, forest.n);
}

// ---- solves ------------------------------------------------------------------------------------

// A run is a sequence of indices of which each is the parent of the next. The rows of a run begin
// with the same columns, those of the ancestors of its first index, and continue with the run
// itself; the ancestors in turn consist of pieces of a few runs. So loops run over contiguous
// numbers.

// x[c] -= sum of L[i][c] x[i] over the run, for the ancestors c: from the last index of the run to
// the first.
TB_INLINE void subtract_from_ancestors(tbForest forest, const tbReal* LD, tbReal* x, int first,
                                       int last) {
  const int *adr = forest.rowadr, *columns = forest.colind + adr[first];
  for (int at = forest.rownnz[first] - 1; at > 0;) {
    int start = forest.run[columns[at - 1]], n = columns[at - 1] - start + 1, c = 0;
    tbReal* y = x + start;
    at -= n;
#define SUBTRACT(Part)                                                                      \
  do {                                                                                      \
    Part sum = *(Part*)(y + c);                                                             \
    for (int i = last; i >= first; i--) sum -= x[i] * *(const Part*)(LD + adr[i] + at + c); \
    *(Part*)(y + c) = sum;                                                                  \
  } while (0)
    for (; c + TB_PART <= n; c += TB_PART) SUBTRACT(tbPart);
#if TB_PART == 4
    if (n & 2) {
      SUBTRACT(tbSimd2);
      c += 2;
    }
#endif
    if (c < n) SUBTRACT(tbReal);
#undef SUBTRACT
  }
}

// x <- L^-T x by runs, from the leaves to the root.
TB_INLINE void solve_transposed_by_runs(tbForest forest, const tbReal* LD, tbReal* x, int begin,
                                        int end) {
  for (int last = end - 1, first; last >= begin; last = first - 1) {
    first = forest.run[last];
    bool moves = x[first] != 0;
    int above = forest.rownnz[first] - 1;
    for (int i = last; i > first; i--) {
      if (x[i] == 0) continue;
      tb_subtract_scaled(x + first, LD + forest.rowadr[i] + above, x[i], i - first);
      moves = true;
    }
    if (moves) subtract_from_ancestors(forest, LD, x, first, last);
  }
}

// x <- L^-1 D^-1 x for one run whose ancestors are solved.
enum { MOST_IN_RUN = 64 };
TB_INLINE void solve_run(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x,
                         int first, int last) {
  int above = forest.rownnz[first] - 1;
  // Copy the factors of the rows to contiguous memory.
  const int* columns = forest.colind + forest.rowadr[first];
  tbReal room[2 * MOST_IN_RUN], *y = above ? room : x + first;
  for (int at = above; at > 0;) {
    int start = forest.run[columns[at - 1]], n = columns[at - 1] - start + 1;
    at -= n;
    tb_copy_four(room + at, x + start, n);
  }
  for (int i = first, n = above; i <= last; i++, n++) {
    const tbReal* row = LD + forest.rowadr[i];
    // The last entry was computed just now: the other products do not wait for it.
    tbReal sum = x[i] * inverse[i];
    if (n > 0) sum = (sum - tb_dot_four(row, y, n - 1)) - row[n - 1] * y[n - 1];
    x[i] = y[n] = sum;
  }
}

// The same for one index, without runs.
TB_INLINE void solve_index(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x,
                           int k) {
  const tbReal* row = LD + forest.rowadr[k];
  const int* columns = forest.colind + forest.rowadr[k];
  tbReal sum = x[k] * inverse[k];
  for (int t = 0; t < forest.rownnz[k] - 1; t++) sum -= row[t] * x[columns[t]];
  x[k] = sum;
}

// x <- L^-1 D^-1 x by runs, from the root to the leaves.
TB_INLINE void solve_by_runs(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x,
                             int begin, int end) {
  for (int first = begin, last; first < end; first = last + 1) {
    last = first;
    while (last + 1 < end && forest.run[last + 1] == first) last++;
    if (forest.rownnz[last] <= 2 * MOST_IN_RUN) {
      solve_run(forest, LD, inverse, x, first, last);
    } else {
      for (int i = first; i <= last; i++) solve_index(forest, LD, inverse, x, i);
    }
  }
}

// x <- L^-T x without runs.
static void solve_transposed(tbForest forest, const tbReal* LD, tbReal* x, int first, int end) {
  for (int k = end - 1; k >= first; k--) {
    const tbReal* row = LD + forest.rowadr[k];
    const int* columns = forest.colind + forest.rowadr[k];
    int last = forest.rownnz[k] - 1;
    tbReal xk = x[k];
    if (xk == 0) continue;
    for (int t = 0; t < last; t++) x[columns[t]] -= row[t] * xk;
  }
}

TB_INLINE void solve_range(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x,
                           int first, int end) {
  solve_transposed_by_runs(forest, LD, x, first, end);
  solve_by_runs(forest, LD, inverse, x, first, end);
}

static void solve_generic(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x,
                          int first, int end) {
  solve_range(forest, LD, inverse, x, first, end);
}

TB_WIDE static void solve_avx2(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x,
                               int first, int end) {
  solve_range(forest, LD, inverse, x, first, end);
}

void tb_ltdl_solve_range(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x,
                         int first, int end) {
  if (!forest.run) {
    solve_transposed(forest, LD, x, first, end);
    for (int k = first; k < end; k++) solve_index(forest, LD, inverse, x, k);
  } else if (tb_wide()) {
    solve_avx2(forest, LD, inverse, x, first, end);
  } else {
    solve_generic(forest, LD, inverse, x, first, end);
  }
}

void tb_ltdl_solve(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x) {
  tb_ltdl_solve_range(forest, LD, inverse, x, 0, forest.n);
}

void tb_ltdl_half_solve(tbForest forest, const tbReal* LD, const tbReal* inverse, tbReal* x) {
  solve_transposed(forest, LD, x, 0, forest.n);
  for (int k = 0; k < forest.n; k++) x[k] *= sqrt(inverse[k]);
}

// x -= row x[own], and then parent x[own - 1], at the first n indices of some rows of x: the same
// result as in sequence, but x is read and written once.
TB_INLINE void subtract_both(int rows, size_t width, int n, int own, const tbReal* row,
                             const tbReal* parent, tbReal* TB_RESTRICT x) {
#define SUBTRACT(Part, at)                                                         \
  do {                                                                             \
    Part a = *(const Part*)(row + (at)), b = *(const Part*)(parent + (at));        \
    for (int r = 0; r < rows; r++) {                                               \
      tbReal* xr = x + (size_t)r * width;                                          \
      *(Part*)(xr + (at)) = (*(Part*)(xr + (at)) - xr[own] * a) - xr[own - 1] * b; \
    }                                                                              \
  } while (0)
  TB_BY_FOURS(SUBTRACT, n);
#undef SUBTRACT
}

// x <- D^-1/2 L^-T x for index number k of the support, if its ancestors are the first of the
// support. If the parent is the previous dof, both are processed at once. Returns the number of
// processed indices.
TB_INLINE int half_solve_chain(tbForest forest, const tbReal* LD, const tbReal* inverse,
                               const int* support, int k, tbReal* x, size_t width, int rows) {
  int dof = support[k];
  const tbReal* row = LD + forest.rowadr[dof];
  tbReal root = sqrt(inverse[dof]);
  if (k == 0 || support[k - 1] != dof - 1) {
    for (int r = 0; r < rows; r++) {
      tbReal* xr = x + (size_t)r * width;
      tb_subtract_scaled(xr, row, xr[k], k);
      xr[k] *= root;
    }
    return 1;
  }
  tbReal up = row[k - 1], parent_root = sqrt(inverse[dof - 1]);
  for (int r = 0; r < rows; r++)
    x[(size_t)r * width + (size_t)k - 1] -= up * x[(size_t)r * width + (size_t)k];
  subtract_both(rows, width, k - 1, k, row, LD + forest.rowadr[dof - 1], x);
  for (int r = 0; r < rows; r++) {
    tbReal* xr = x + (size_t)r * width + (size_t)k;
    xr[0] *= root;
    xr[-1] *= parent_root;
  }
  return 2;
}

TB_INLINE void half_solve_rows(tbForest forest, const tbReal* LD, const tbReal* inverse,
                               const int* support, int nsupport, tbReal* x, int stride, int rows) {
  size_t width = (size_t)stride;
  for (int k = nsupport - 1; k >= 0;) {
    int dof = support[k];
    const tbReal* row = LD + forest.rowadr[dof];
    const int* columns = forest.colind + forest.rowadr[dof];
    int last = forest.rownnz[dof] - 1;
    if (last == k) {
      k -= half_solve_chain(forest, LD, inverse, support, k, x, width, rows);
      continue;
    }
    if (forest.run) {
      // Both ascending lists are traversed downwards from k, run by run: a run is contiguous in
      // both.
      for (int at = last, a = k - 1; at > 0;) {
        int n = columns[at - 1] - forest.run[columns[at - 1]] + 1;
        while (support[a] != columns[at - 1]) a--;
        at -= n;
        a -= n;
        for (int r = 0; r < rows; r++) {
          tbReal* xr = x + (size_t)r * width;
          tb_subtract_scaled(xr + a + 1, row + at, xr[k], n);
        }
      }
    } else {
      for (int t = last - 1, a = k - 1; t >= 0; t--, a--) {
        while (support[a] != columns[t]) a--;
        for (int r = 0; r < rows; r++)
          x[(size_t)r * width + (size_t)a] -= row[t] * x[(size_t)r * width + (size_t)k];
      }
    }
    tbReal root = sqrt(inverse[dof]);
    for (int r = 0; r < rows; r++) x[(size_t)r * width + (size_t)k] *= root;
    k--;
  }
}

// Loops for three rows of a contact and six of a twist are unrolled.
TB_INLINE void half_solve_support(tbForest forest, const tbReal* LD, const tbReal* inverse,
                                  const int* support, int nsupport, tbReal* x, int stride,
                                  int rows) {
  if (rows == 3) {
    half_solve_rows(forest, LD, inverse, support, nsupport, x, stride, 3);
  } else if (rows == 6) {
    half_solve_rows(forest, LD, inverse, support, nsupport, x, stride, 6);
  } else {
    half_solve_rows(forest, LD, inverse, support, nsupport, x, stride, rows);
  }
}

static void half_solve_generic(tbForest forest, const tbReal* LD, const tbReal* inverse,
                               const int* support, int nsupport, tbReal* x, int stride, int rows) {
  half_solve_support(forest, LD, inverse, support, nsupport, x, stride, rows);
}

TB_WIDE static void half_solve_avx2(tbForest forest, const tbReal* LD, const tbReal* inverse,
                                    const int* support, int nsupport, tbReal* x, int stride,
                                    int rows) {
  half_solve_support(forest, LD, inverse, support, nsupport, x, stride, rows);
}

void tb_ltdl_half_solve_support(tbForest forest, const tbReal* LD, const tbReal* inverse,
                                const int* support, int nsupport, tbReal* x, int stride, int rows) {
  if (tb_wide()) {
    half_solve_avx2(forest, LD, inverse, support, nsupport, x, stride, rows);
  } else {
    half_solve_generic(forest, LD, inverse, support, nsupport, x, stride, rows);
  }
}

void tb_forest_mul(tbForest forest, const tbReal* M, tbReal* r, const tbReal* v) {
  for (int k = 0; k < forest.n; k++) {
    const tbReal* row = M + forest.rowadr[k];
    const int* columns = forest.colind + forest.rowadr[k];
    int last = forest.rownnz[k] - 1;
    // The product with the row itself, and with its mirror image above the diagonal.
    tbReal sum = row[last] * v[k];
    for (int t = 0; t < last; t++) {
      sum += row[t] * v[columns[t]];
      r[columns[t]] += row[t] * v[k];
    }
    r[k] = sum;
  }
}
