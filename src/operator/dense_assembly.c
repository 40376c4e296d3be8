#include "operator/dense_assembly.h"

#include <math.h>
#include <string.h>

#include "base/kernel.h"
#include "linalg/simd4.h"
#include "operator/add_rows.h"

bool tb_dense_assembly_build(tbDenseAssembly* s, const tbSoftProblem* p, tbArena* arena) {
  s->n = p->ndof;
  s->least = NULL;
  s->stride = (p->ndof + 3) & ~3;
  // Loops run on to a multiple of four and may pass the end of the last row.
  s->H = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->n * s->stride + 4));
  s->inverse = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->n + 1));
  s->WJ = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(2 * TB_SOFT_ROWS * s->stride + 1));
  return s->H && s->inverse && s->WJ;
}

void tb_dense_assembly_open(tbDenseAssembly* s, const tbSoftProblem* p) {
  s->skew = false;
  memset(s->H, 0, sizeof(tbReal) * (size_t)(s->n * s->stride));
  for (int i = 0; i < s->n; i++) {
    // The dofs of a tree are contiguous, so within its rows the local index is shifted.
    int dof = p->dof[i], shift = dof - i, adr = p->forest.rowadr[dof], nnz = p->forest.rownnz[dof];
    tbReal* row = s->H + i * s->stride;
    for (int k = 0; k < nnz; k++) row[p->forest.colind[adr + k] - shift] = p->M[adr + k];
  }
}

// ---- J^T W J -----------------------------------------------------------------------------------

// Compute the nonzero rows of W J over all dofs; `kept` receives their row numbers. Returns their
// number.
TB_INLINE int multiply_rows(tbDenseAssembly* s, const tbSoftBlock* b, const int* index,
                            const tbReal* W, int* kept) {
  int dim = b->dim, nnz = b->nnz, n = 0, size = (index[nnz - 1] + 4) & ~3;
  tbReal* spread = s->WJ + TB_SOFT_ROWS * s->stride;
  bool diagonal = true;
  for (int i = 1; i < dim && diagonal; i++) {
    for (int j = 0; j < i; j++) {
      diagonal = diagonal && W[i * dim + j] == 0 && W[j * dim + i] == 0;
    }
  }
  for (int r = 0; r < dim; r++) {
    tbReal own = W[r * dim + r];
    if (diagonal && own == 0) continue;
    tbReal *to = (diagonal ? s->WJ : spread) + n * s->stride, scale = diagonal ? own : 1;
    const tbReal* J = b->J + r * nnz;
    memset(to, 0, sizeof(tbReal) * (size_t)size);
    for (int k = b->lead; k < nnz; k++) to[index[k]] = scale * J[k];
    kept[n++] = r;
  }
  for (int r = 0; r < dim && !diagonal; r++) {
    tbReal* to = s->WJ + r * s->stride;
    memset(to, 0, sizeof(tbReal) * (size_t)size);
    tb_add_rows(dim, size, s->stride, W + r * dim, spread, to);
  }
  return n;
}

TB_INLINE void add_block(tbDenseAssembly* s, const tbSoftBlock* b, const int* index,
                         const tbReal* W) {
  int kept[TB_SOFT_ROWS], n = multiply_rows(s, b, index, W, kept);
  for (int k = b->lead; k < b->nnz; k++) {
    tbReal a[TB_SOFT_ROWS];
    bool any = false;
    for (int r = 0; r < n; r++) {
      a[r] = b->J[kept[r] * b->nnz + k];
      any = any || a[r] != 0;
    }
    // Up to the diagonal, rounded up to a multiple of four: entries above the diagonal are never
    // read.
    int last = s->skew ? index[b->nnz - 1] : index[k];
    if (any) tb_add_rows(n, (last + 4) & ~3, s->stride, a, s->WJ, s->H + index[k] * s->stride);
  }
}

static void add_generic(tbDenseAssembly* s, const tbSoftBlock* b, const int* index,
                        const tbReal* W) {
  add_block(s, b, index, W);
}

TB_WIDE static void add_avx2(tbDenseAssembly* s, const tbSoftBlock* b, const int* index,
                             const tbReal* W) {
  add_block(s, b, index, W);
}

void tb_dense_assembly_add(tbDenseAssembly* s, const tbSoftBlock* b, const int* index,
                           const tbReal* W) {
  if (b->nnz == 0) return;
  // One row over a single dof: dry friction or a limit.
  if (b->dim == 1 && b->lead == b->nnz - 1) {
    int at = index[b->lead];
    s->H[at * s->stride + at] += W[0] * b->J[b->lead] * b->J[b->lead];
  } else if (tb_wide()) {
    add_avx2(s, b, index, W);
  } else {
    add_generic(s, b, index, W);
  }
}

// ---- factor and solve --------------------------------------------------------------------------

// The pivot of row k, or zero. Redundant joints (two hinges on one axis) leave a pivot at rounding
// level; it is held, as in M's own factor. Rows of very small compliance dominate the sum so that
// little of M remains, but since H >= M, the pivots of H are no smaller than M's.
TB_INLINE tbReal pivot_of(const tbDenseAssembly* s, int k, tbReal value, tbReal diagonal) {
  tbReal own = s->least ? s->least[k] : 0;
  if (own > 0) return value > 0.5 * own ? value : own;
  return value > TB_LEAST_PIVOT * diagonal ? value : 0;
}

// to[0..n) -= f times a row, or multiples of two rows; n is rounded up to a multiple of four.
TB_INLINE void subtract_row(int n, tbReal f, const tbReal* TB_RESTRICT row,
                            tbReal* TB_RESTRICT to) {
  for (int j = 0; j < n; j += 4) {
    for (int q = j; q < j + 4; q++) to[q] -= f * row[q];
  }
}

TB_INLINE void subtract_rows(int n, tbReal f, const tbReal* TB_RESTRICT row, tbReal g,
                             const tbReal* TB_RESTRICT other, tbReal* TB_RESTRICT to) {
  for (int j = 0; j < n; j += 4) {
    for (int q = j; q < j + 4; q++) to[q] = (to[q] - f * row[q]) - g * other[q];
  }
}

// Replace the initial diagonal by 1/D. False: no pivot exists.
TB_INLINE bool take_pivot(tbDenseAssembly* s, int k) {
  tbReal value = s->H[k * (s->stride + 1)], diagonal = s->inverse[k];
  tbReal pivot = pivot_of(s, k, value, diagonal);
  if (!(diagonal > 0 && value < INFINITY)) return false;
  s->inverse[k] = pivot > 0 ? 1 / pivot : 0;
  return true;
}

TB_INLINE void scale_row(int n, tbReal f, tbReal* row) {
  for (int i = 0; i < n; i += 4) {
    for (int q = i; q < i + 4; q++) row[q] *= f;
  }
}

// H = L^T D L, two pivots at a time, so that every other row is read and written half as often.
// Loops run on to a multiple of four: entries above the diagonal are never read.
TB_INLINE bool factor(tbDenseAssembly* s) {
  int stride = s->stride, k = s->n - 1;
  for (int i = 0; i <= k; i++) s->inverse[i] = s->H[i * (stride + 1)];
  for (; k > 0; k -= 2) {
    tbReal *row = s->H + k * stride, *other = row - stride;
    if (!take_pivot(s, k)) return false;
    tbReal inverse = s->inverse[k];
    if (row[k - 1] != 0) subtract_row(k, row[k - 1] * inverse, row, other);
    if (!take_pivot(s, k - 1)) return false;
    tbReal second = s->inverse[k - 1];
    for (int i = 0; i < k - 1; i++) {
      tbReal *to = s->H + i * stride, f = row[i], g = other[i];
      if (f != 0 && g != 0) {
        subtract_rows(i + 1, f * inverse, row, g * second, other, to);
      } else if (f != 0) {
        subtract_row(i + 1, f * inverse, row, to);
      } else if (g != 0) {
        subtract_row(i + 1, g * second, other, to);
      }
    }
    scale_row(k, inverse, row);
    scale_row(k - 1, second, other);
  }
  return k < 0 || take_pivot(s, k);
}

static bool factor_generic(tbDenseAssembly* s) {
  return factor(s);
}

TB_WIDE static bool factor_avx2(tbDenseAssembly* s) {
  return factor(s);
}

bool tb_dense_assembly_factor(tbDenseAssembly* s) {
  return tb_wide() ? factor_avx2(s) : factor_generic(s);
}

TB_INLINE bool skew_pivot(tbDenseAssembly* s, const tbReal* least, int k) {
  tbReal pivot = s->H[k * (s->stride + 1)];
  s->inverse[k] = 1 / pivot;
  return fabs(pivot) > 0.1 * least[k];
}

// The same for a full square, H = U D L: D L below and on the diagonal, U above it.
TB_INLINE bool factor_skew(tbDenseAssembly* s, const tbReal* least) {
  int stride = s->stride, k = s->n - 1;
  for (; k > 0; k -= 2) {
    tbReal *row = s->H + k * stride, *other = row - stride;
    if (!skew_pivot(s, least, k)) return false;
    tbReal inverse = s->inverse[k];
    if (other[k] != 0) {
      other[k] *= inverse;
      tb_subtract_scaled(other, row, other[k], k);
    }
    if (!skew_pivot(s, least, k - 1)) return false;
    tbReal second = s->inverse[k - 1];
    for (int i = 0; i < k - 1; i++) {
      tbReal *to = s->H + i * stride, f = to[k] * inverse;
      tbReal g = (f != 0 ? to[k - 1] - f * row[k - 1] : to[k - 1]) * second;
      to[k] = f;
      to[k - 1] = g;
      if (f != 0 && g != 0) {
        tb_simd2_subtract(to, row, f, other, g, k - 1);
      } else if (f != 0) {
        tb_subtract_scaled(to, row, f, k - 1);
      } else if (g != 0) {
        tb_subtract_scaled(to, other, g, k - 1);
      }
    }
  }
  return k < 0 || skew_pivot(s, least, k);
}

static bool factor_skew_generic(tbDenseAssembly* s, const tbReal* least) {
  return factor_skew(s, least);
}

TB_WIDE static bool factor_skew_avx2(tbDenseAssembly* s, const tbReal* least) {
  return factor_skew(s, least);
}

bool tb_dense_assembly_factor_skew(tbDenseAssembly* s, const tbReal* least) {
  return tb_wide() ? factor_skew_avx2(s, least) : factor_skew_generic(s, least);
}

TB_INLINE void solve_skew(const tbDenseAssembly* s, tbReal* TB_RESTRICT x) {
  for (int i = s->n - 2; i >= 0; i--) {
    x[i] -= tb_dot_four(s->H + i * s->stride + i + 1, x + i + 1, s->n - i - 1);
  }
  for (int k = 0; k < s->n; k++) {
    x[k] = (x[k] - tb_dot_four(s->H + k * s->stride, x, k)) * s->inverse[k];
  }
}

static void solve_skew_generic(const tbDenseAssembly* s, tbReal* x) {
  solve_skew(s, x);
}

TB_WIDE static void solve_skew_avx2(const tbDenseAssembly* s, tbReal* x) {
  solve_skew(s, x);
}

TB_INLINE void solve(const tbDenseAssembly* s, tbReal* TB_RESTRICT x) {
  for (int k = s->n - 1; k > 0; k--) tb_subtract_scaled(x, s->H + k * s->stride, x[k], k);
  for (int k = 0; k < s->n; k++) {
    x[k] = x[k] * s->inverse[k] - tb_dot_four(s->H + k * s->stride, x, k);
  }
}

static void solve_generic(const tbDenseAssembly* s, tbReal* x) {
  solve(s, x);
}

TB_WIDE static void solve_avx2(const tbDenseAssembly* s, tbReal* x) {
  solve(s, x);
}

void tb_dense_assembly_solve(const tbDenseAssembly* s, tbReal* x) {
  if (s->skew && tb_wide()) {
    solve_skew_avx2(s, x);
  } else if (s->skew) {
    solve_skew_generic(s, x);
  } else if (tb_wide()) {
    solve_avx2(s, x);
  } else {
    solve_generic(s, x);
  }
}
