#include "solvers/velocity_dense.h"

#include <string.h>

#include "base/kernel.h"
#include "linalg/dense.h"

// ---- building ----------------------------------------------------------------------------------

static bool allocate(tbVelocity* s, tbArena* arena, int entries, int padded) {
  struct tbVelocityDense* w = s->dense;
  size_t room = (size_t)w->n + 4;
  tbSoftProblem sizes = {.ndof = w->n};
  if (!tb_soft_dense_build(&w->H, &sizes, arena)) return false;
  size_t square = (size_t)(w->n * w->H.stride + 4);
  w->rows = tb_arena_alloc(arena, sizeof(tbDenseRows) * (size_t)(s->nblock + 1));
  s->dof = tb_arena_alloc(arena, sizeof(int) * room);
  s->place = tb_arena_alloc(arena, sizeof(int) * (size_t)(s->forest.n + entries + 1));
  w->base = tb_arena_alloc(arena, sizeof(tbReal) * square);
  w->copy = tb_arena_alloc(arena, sizeof(tbReal) * square);
  w->least = tb_arena_alloc(arena, sizeof(tbReal) * room);
  w->by_dof = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->forest.n + 1));
  w->pivot = tb_arena_alloc(arena, sizeof(int) * room);
  s->scratch = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(TB_ROWS_DIM * w->H.stride + 1));
  w->pile = tb_arena_alloc(arena, sizeof(tbReal) * square);
  w->piled = -1;
  tbReal* J = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(padded + 1));
  if (arena->failed) return false;
  memset(w->base, 0, sizeof(tbReal) * square);
  w->rows[0].padded = J;
  return true;
}

// M by places, both triangles.
static void fill_base(tbVelocity* s, const tbReal* M) {
  struct tbVelocityDense* w = s->dense;
  for (int i = 0; i < w->n; i++) {
    int dof = s->dof[i], adr = s->forest.rowadr[dof];
    w->least[i] = 1 / s->inverse[dof];
    for (int k = 0; k < s->forest.rownnz[dof]; k++) {
      int j = s->place[s->forest.colind[adr + k]];
      w->base[i * w->H.stride + j] = w->base[j * w->H.stride + i] = M[adr + k];
    }
  }
}

// A number of columns, and on to a multiple of four.
static int width_of(int columns) {
  return (columns + 3) & ~3;
}

static void fill_rows(tbVelocity* s) {
  struct tbVelocityDense* w = s->dense;
  int* place = s->place + s->forest.n;
  tbReal* padded = w->rows[0].padded;
  for (int i = 0; i < s->nblock; i++) {
    const tbRows* from = &s->block[i];
    tbDenseRows* rows = &w->rows[i];
    *rows = (tbDenseRows){.dim = from->dim, .nnz = from->nnz, .place = place, .J = from->J};
    rows->only = tb_rows_only_entry(from);
    rows->padded = padded;
    for (int k = 0; k < from->nnz; k++) *place++ = s->place[from->col[k]];
    if (rows->only >= 0) continue;
    rows->straight = from->nnz > 0 && rows->place[from->nnz - 1] - rows->place[0] == from->nnz - 1;
    rows->width = width_of(from->nnz);
    for (int r = 0; r < rows->dim; r++, padded += rows->width) {
      memcpy(padded, from->J + r * from->nnz, sizeof(tbReal) * (size_t)from->nnz);
      for (int k = from->nnz; k < rows->width; k++) padded[k] = 0;
    }
  }
}

// Trees in the order of their dofs, so that places ascend where dofs do; a few dozen at most.
static bool sort_trees(struct tbVelocityDense* w, tbArena* arena, int ntree, const tbRange* tree) {
  tbRange* sorted = tb_arena_alloc(arena, sizeof(tbRange) * (size_t)(ntree + 1));
  if (!sorted) return false;
  for (int t = 0; t < ntree; t++) {
    int at = t;
    for (; at > 0 && sorted[at - 1].first > tree[t].first; at--) sorted[at] = sorted[at - 1];
    sorted[at] = tree[t];
    w->n += tree[t].end - tree[t].first;
  }
  w->ntree = ntree;
  w->tree = sorted;
  return true;
}

bool tb_velocity_build_dense(tbVelocity* s, tbArena* arena, tbForest forest, const tbReal* M,
                             const tbReal* LD, const tbReal* inverse, int ntree,
                             const tbRange* tree, int nblock, const tbRows* block) {
  *s = (tbVelocity){
      .forest = forest, .LD = LD, .inverse = inverse, .nblock = nblock, .block = block};
  s->dense = TB_ARENA_NEW(arena, struct tbVelocityDense, 1);
  if (!s->dense) return false;
  struct tbVelocityDense* w = s->dense;
  int entries = 0, padded = 0;
  if (!sort_trees(w, arena, ntree, tree)) return false;
  for (int i = 0; i < nblock; i++) {
    entries += block[i].nnz;
    padded += block[i].dim * width_of(block[i].nnz);
  }
  s->size = w->n;
  if (!allocate(s, arena, entries, padded)) return false;
  for (int t = 0, at = 0; t < ntree; t++) {
    for (int k = w->tree[t].first; k < w->tree[t].end; k++, at++) {
      s->dof[at] = k;
      s->place[k] = at;
    }
  }
  fill_base(s, M);
  fill_rows(s);
  return true;
}

// ---- products ----------------------------------------------------------------------------------

void tb_velocity_dense_mul(const tbVelocity* s, int block, const tbReal* x, tbReal* out) {
  const tbDenseRows* rows = &s->dense->rows[block];
  const int *place = rows->place, n = rows->nnz;
  if (rows->only >= 0) {
    out[0] = rows->J[rows->only] * x[place[rows->only]];
    return;
  }
  int r = 0;
  for (; r + 3 <= rows->dim; r += 3) {
    const tbReal *a = rows->J + r * n, *b = a + n, *c = b + n;
    tbReal sa = 0, sb = 0, sc = 0;
    for (int k = 0; k < n; k++) {
      tbReal v = x[place[k]];
      sa += a[k] * v;
      sb += b[k] * v;
      sc += c[k] * v;
    }
    out[r] = sa;
    out[r + 1] = sb;
    out[r + 2] = sc;
  }
  for (; r < rows->dim; r++) {
    tbReal sum = 0;
    for (int k = 0; k < n; k++) sum += rows->J[r * n + k] * x[place[k]];
    out[r] = sum;
  }
}

void tb_velocity_dense_add_impulse(const tbVelocity* s, int block, const tbReal* f, tbReal* x) {
  const tbDenseRows* rows = &s->dense->rows[block];
  const int *place = rows->place, n = rows->nnz;
  if (rows->only >= 0) {
    x[place[rows->only]] += rows->J[rows->only] * f[0];
    return;
  }
  int r = 0;
  for (; r + 3 <= rows->dim; r += 3) {
    const tbReal *a = rows->J + r * n, *b = a + n, *c = b + n;
    if (f[r] == 0 && f[r + 1] == 0 && f[r + 2] == 0) continue;
    for (int k = 0; k < n; k++) x[place[k]] += a[k] * f[r] + b[k] * f[r + 1] + c[k] * f[r + 2];
  }
  for (; r < rows->dim; r++) {
    if (f[r] == 0) continue;
    for (int k = 0; k < n; k++) x[place[k]] += rows->J[r * n + k] * f[r];
  }
}

void tb_velocity_dense_inverse(const tbVelocity* s, tbReal* x) {
  struct tbVelocityDense* w = s->dense;
  for (int k = 0; k < w->n; k++) w->by_dof[s->dof[k]] = x[k];
  for (int t = 0; t < w->ntree; t++) {
    tb_ltdl_solve_range(s->forest, s->LD, s->inverse, w->by_dof, w->tree[t].first, w->tree[t].end);
  }
  for (int k = 0; k < w->n; k++) x[k] = w->by_dof[s->dof[k]];
}

void tb_velocity_dense_mass(const tbVelocity* s, const tbReal* x, tbReal* out) {
  const struct tbVelocityDense* w = s->dense;
  for (int i = 0; i < w->n; i++) {
    tbReal sum = 0;
    for (int j = 0; j < w->n; j++) sum += w->base[i * w->H.stride + j] * x[j];
    out[i] = sum;
  }
}

// ---- the matrix --------------------------------------------------------------------------------

void tb_velocity_dense_start(tbVelocity* s, bool symmetric) {
  struct tbVelocityDense* w = s->dense;
  s->symmetric = symmetric;
  w->H.skew = !symmetric;
  w->exchanged = false;
  w->piled = -1;
  memcpy(w->H.H, w->base, sizeof(tbReal) * (size_t)(w->n * w->H.stride));
}

// H += the pile, run by run of columns whose places follow each other. On and below the diagonal
// where H is symmetric.
TB_INLINE void spread_pile(tbVelocity* s) {
  struct tbVelocityDense* w = s->dense;
  const tbDenseRows* rows = &w->rows[w->piled];
  const int *place = rows->place, nnz = rows->nnz;
  for (int first = 0, end; first < nnz; first = end) {
    end = first + 1;
    while (end < nnz && place[end] == place[end - 1] + 1) end++;
    for (int k = s->symmetric ? first : 0; k < nnz; k++) {
      const tbReal* TB_RESTRICT from = w->pile + k * rows->width + first;
      tbReal* TB_RESTRICT to = w->H.H + place[k] * w->H.stride + place[first];
      int n = (s->symmetric && k < end ? k + 1 : end) - first;
      for (int j = 0; j < n; j++) to[j] += from[j];
    }
  }
  w->piled = -1;
}

// W J over a block's own columns, in s->scratch.
TB_INLINE void weigh_rows(int dim, int width, const tbReal* W, const tbReal* TB_RESTRICT J,
                          tbReal* TB_RESTRICT out) {
  bool diagonal = true;
  for (int r = 0; r < dim; r++) {
    for (int c = 0; c < dim; c++) diagonal = diagonal && (c == r || W[r * dim + c] == 0);
  }
  for (int r = 0; r < dim && diagonal; r++) {
    tbReal w = W[r * dim + r];
    for (int j = r * width; j < (r + 1) * width; j += 4) {
      for (int k = j; k < j + 4; k++) out[k] = w * J[k];
    }
  }
  for (int r = 0; r < dim && !diagonal; r++) {
    for (int j = 0; j < width; j += 4) {
      tbReal sum[4] = {0};
      for (int c = 0; c < dim; c++) {
        for (int k = 0; k < 4; k++) sum[k] += W[r * dim + c] * J[c * width + j + k];
      }
      for (int k = 0; k < 4; k++) out[r * width + j + k] = sum[k];
    }
  }
}

// y[0..n) += the sum of column[r] z[r] over the rows of z, n a multiple of four.
TB_INLINE void add_column(int dim, int n, int width, const tbReal* TB_RESTRICT column,
                          const tbReal* TB_RESTRICT z, tbReal* TB_RESTRICT y) {
  tbReal a[TB_ROWS_DIM];
  for (int r = 0; r < dim; r++) a[r] = column[r * width];
  for (int j = 0; j < n; j += 4) {
    tbReal sum[4];
    for (int k = 0; k < 4; k++) sum[k] = a[0] * z[j + k];
    for (int r = 1; r < dim; r++) {
      for (int k = 0; k < 4; k++) sum[k] += a[r] * z[r * width + j + k];
    }
    for (int k = 0; k < 4; k++) y[j + k] += sum[k];
  }
}

// Where J^T W J of a block goes: to the pile, what has other columns starts a new one; to H itself
// where its columns follow each other. What goes on to a multiple of four adds zeros there.
TB_INLINE tbReal* pile_of(tbVelocity* s, int block, int* stride) {
  struct tbVelocityDense* w = s->dense;
  const tbDenseRows* rows = &w->rows[block];
  if (rows->straight) {
    *stride = w->H.stride;
    return w->H.H + rows->place[0] * (w->H.stride + 1);
  }
  bool same = w->piled >= 0 && s->block[w->piled].col == s->block[block].col &&
              s->block[w->piled].nnz == rows->nnz;
  if (w->piled >= 0 && !same) spread_pile(s);
  if (w->piled < 0) {
    w->piled = block;
    memset(w->pile, 0, sizeof(tbReal) * (size_t)(rows->nnz * rows->width));
  }
  *stride = rows->width;
  return w->pile;
}

// The pile += J^T W J of a block of `dim` rows: on and below the diagonal where H is symmetric, and
// on to a multiple of four.
TB_INLINE void add_rows_of(tbVelocity* s, int block, int dim, const tbReal* W) {
  const tbDenseRows* rows = &s->dense->rows[block];
  int nnz = rows->nnz, width = rows->width, stride;
  tbReal* pile = pile_of(s, block, &stride);
  weigh_rows(dim, width, W, rows->padded, s->scratch);
  for (int k = 0; k < nnz; k++) {
    int n = s->symmetric ? width_of(k + 1) : width;
    add_column(dim, n, width, rows->padded + k, s->scratch, pile + k * stride);
  }
}

// Contacts of three and six rows written out.
TB_INLINE void add_block(tbVelocity* s, int block, const tbReal* W) {
  int dim = s->dense->rows[block].dim;
  if (dim == 3) {
    add_rows_of(s, block, 3, W);
  } else if (dim == 6) {
    add_rows_of(s, block, 6, W);
  } else {
    add_rows_of(s, block, dim, W);
  }
}

static void add_narrow(tbVelocity* s, int block, const tbReal* W) {
  add_block(s, block, W);
}

TB_WIDE static void add_wide(tbVelocity* s, int block, const tbReal* W) {
  add_block(s, block, W);
}

static void spread_narrow(tbVelocity* s) {
  spread_pile(s);
}

TB_WIDE static void spread_wide(tbVelocity* s) {
  spread_pile(s);
}

void tb_velocity_dense_add(tbVelocity* s, int block, const tbReal* W) {
  struct tbVelocityDense* w = s->dense;
  const tbDenseRows* rows = &w->rows[block];
  if (rows->only >= 0) {
    tbReal value = rows->J[rows->only];
    w->H.H[rows->place[rows->only] * (w->H.stride + 1)] += W[0] * value * value;
  } else if (rows->nnz == 0) {
    return;
  } else if (tb_wide()) {
    add_wide(s, block, W);
  } else {
    add_narrow(s, block, W);
  }
}

bool tb_velocity_dense_factor(tbVelocity* s) {
  struct tbVelocityDense* w = s->dense;
  int n = w->n, stride = w->H.stride;
  if (w->piled >= 0 && tb_wide()) {
    spread_wide(s);
  } else if (w->piled >= 0) {
    spread_narrow(s);
  }
  if (s->symmetric) return tb_soft_dense_factor(&w->H);
  memcpy(w->copy, w->H.H, sizeof(tbReal) * (size_t)(n * stride));
  if (tb_soft_dense_factor_skew(&w->H, w->least)) return true;
  // A pivot vanishes or nearly so: once more with row exchanges.
  w->exchanged = true;
  return tb_lu(n, w->copy, stride, w->pivot);
}

void tb_velocity_dense_solve(const tbVelocity* s, tbReal* x) {
  const struct tbVelocityDense* w = s->dense;
  if (w->exchanged) {
    tb_lu_solve(w->n, w->copy, w->H.stride, w->pivot, x);
  } else {
    tb_soft_dense_solve(&w->H, x);
  }
}
