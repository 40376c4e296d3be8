#include "solvers/soft_dense.h"

#include <string.h>

#include "base/kernel.h"

bool tb_soft_dense_build(tbSoftDense* s, const tbSoftProblem* p, tbArena* arena) {
  int room = 1;
  for (int b = 0; b < p->nblock; b++) {
    int size = p->block[b].dim * p->block[b].nnz;
    room = size > room ? size : room;
  }
  s->n = p->ndof;
  s->stride = (p->ndof + 3) & ~3;
  s->H = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->n * s->stride + 1));
  s->inverse = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->n + 1));
  s->WJ = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)room);
  return s->H && s->inverse && s->WJ;
}

void tb_soft_dense_start(tbSoftDense* s, const tbSoftProblem* p) {
  memset(s->H, 0, sizeof(tbReal) * (size_t)(s->n * s->stride));
  for (int i = 0; i < s->n; i++) {
    // A tree's dofs follow each other, so within its rows the local index is shifted.
    int dof = p->dof[i], shift = dof - i, adr = p->forest.rowadr[dof], nnz = p->forest.rownnz[dof];
    tbReal* row = s->H + i * s->stride;
    for (int k = 0; k < nnz; k++) row[p->forest.colind[adr + k] - shift] = p->M[adr + k];
  }
}

// ---- J^T W J -----------------------------------------------------------------------------------

// y += sum of a[r] z[r], up to four rows at a time.
TB_INLINE void add_rows(int depth, int n, const tbReal* a, int step, const tbReal* TB_RESTRICT z,
                        tbReal* TB_RESTRICT y) {
  int r = 0;
  for (; r + 4 <= depth; r += 4) {
    const tbReal *TB_RESTRICT z0 = z + r * step, *TB_RESTRICT z1 = z0 + step,
                              *TB_RESTRICT z2 = z1 + step, *TB_RESTRICT z3 = z2 + step;
    tbReal a0 = a[r * step], a1 = a[(r + 1) * step], a2 = a[(r + 2) * step], a3 = a[(r + 3) * step];
    for (int j = 0; j < n; j++) y[j] += (a0 * z0[j] + a1 * z1[j]) + (a2 * z2[j] + a3 * z3[j]);
  }
  for (; r + 2 <= depth; r += 2) {
    const tbReal *TB_RESTRICT z0 = z + r * step, *TB_RESTRICT z1 = z0 + step;
    tbReal a0 = a[r * step], a1 = a[(r + 1) * step];
    for (int j = 0; j < n; j++) y[j] += a0 * z0[j] + a1 * z1[j];
  }
  if (r < depth) {
    const tbReal* TB_RESTRICT z0 = z + r * step;
    tbReal a0 = a[r * step];
    for (int j = 0; j < n; j++) y[j] += a0 * z0[j];
  }
}

// out = W J
TB_INLINE void weigh(const tbSoftBlock* b, const tbReal* W, tbReal* TB_RESTRICT out) {
  int dim = b->dim, nnz = b->nnz;
  for (int r = 0; r < dim; r++) {
    tbReal *TB_RESTRICT to = out + r * nnz, own = W[r * dim + r];
    const tbReal* TB_RESTRICT J = b->J + r * nnz;
    for (int k = 0; k < nnz; k++) to[k] = own * J[k];
    for (int c = 0; c < dim; c++) {
      tbReal w = W[r * dim + c];
      if (w == 0 || c == r) continue;
      const tbReal* TB_RESTRICT other = b->J + c * nnz;
      for (int k = 0; k < nnz; k++) to[k] += w * other[k];
    }
  }
}

TB_INLINE void add_block(tbSoftDense* s, const tbSoftBlock* b, const int* place, const tbReal* W) {
  int dim = b->dim, nnz = b->nnz;
  weigh(b, W, s->WJ);
  // Columns that follow each other are added together.
  for (int begin = 0, end; begin < nnz; begin = end) {
    for (end = begin + 1; end < nnz && place[end] == place[end - 1] + 1;) end++;
    for (int k = begin; k < nnz; k++) {
      int n = (k < end ? k + 1 : end) - begin;
      add_rows(dim, n, b->J + k, nnz, s->WJ + begin, s->H + place[k] * s->stride + place[begin]);
    }
  }
}

static void add_narrow(tbSoftDense* s, const tbSoftBlock* b, const int* place, const tbReal* W) {
  add_block(s, b, place, W);
}

TB_WIDE static void add_wide(tbSoftDense* s, const tbSoftBlock* b, const int* place,
                             const tbReal* W) {
  add_block(s, b, place, W);
}

void tb_soft_dense_add(tbSoftDense* s, const tbSoftBlock* b, const int* place, const tbReal* W) {
  // One row over a single dof: dry friction or a limit.
  if (b->dim == 1 && b->lead == b->nnz - 1) {
    int at = place[b->lead];
    s->H[at * s->stride + at] += W[0] * b->J[b->lead] * b->J[b->lead];
  } else if (tb_wide()) {
    add_wide(s, b, place, W);
  } else {
    add_narrow(s, b, place, W);
  }
}

// ---- factor and solve --------------------------------------------------------------------------

TB_INLINE bool factor(tbSoftDense* s) {
  for (int k = s->n - 1; k >= 0; k--) {
    tbReal* TB_RESTRICT row = s->H + k * s->stride;
    if (!(row[k] > 0)) return false;
    tbReal inverse = s->inverse[k] = 1 / row[k];
    for (int i = 0; i < k; i++) {
      if (row[i] == 0) continue;
      tbReal f = row[i] * inverse, *TB_RESTRICT to = s->H + i * s->stride;
      for (int j = 0; j <= i; j++) to[j] -= f * row[j];
    }
    for (int i = 0; i < k; i++) row[i] *= inverse;
  }
  return true;
}

static bool factor_narrow(tbSoftDense* s) {
  return factor(s);
}

TB_WIDE static bool factor_wide(tbSoftDense* s) {
  return factor(s);
}

bool tb_soft_dense_factor(tbSoftDense* s) {
  return tb_wide() ? factor_wide(s) : factor_narrow(s);
}

TB_INLINE void solve(const tbSoftDense* s, tbReal* TB_RESTRICT x) {
  for (int k = s->n - 1; k > 0; k--) {
    const tbReal* TB_RESTRICT row = s->H + k * s->stride;
    tbReal xk = x[k];
    for (int j = 0; j < k; j++) x[j] -= row[j] * xk;
  }
  for (int k = 0; k < s->n; k++) {
    const tbReal* TB_RESTRICT row = s->H + k * s->stride;
    tbReal a = 0, b = 0, c = 0, d = 0;
    int j = 0;
    for (; j + 4 <= k; j += 4) {
      a += row[j] * x[j];
      b += row[j + 1] * x[j + 1];
      c += row[j + 2] * x[j + 2];
      d += row[j + 3] * x[j + 3];
    }
    for (; j < k; j++) a += row[j] * x[j];
    x[k] = x[k] * s->inverse[k] - ((a + b) + (c + d));
  }
}

static void solve_narrow(const tbSoftDense* s, tbReal* x) {
  solve(s, x);
}

TB_WIDE static void solve_wide(const tbSoftDense* s, tbReal* x) {
  solve(s, x);
}

void tb_soft_dense_solve(const tbSoftDense* s, tbReal* x) {
  if (tb_wide()) {
    solve_wide(s, x);
  } else {
    solve_narrow(s, x);
  }
}
