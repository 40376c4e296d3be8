#include "operator/velocity_dense.h"

#include <string.h>

#include "base/kernel.h"
#include "linalg/dense.h"
#include "linalg/simd4.h"
#include "operator/velocity_chains.h"

// ---- construction ------------------------------------------------------------------------------

static bool allocate(tbVelocity* s, tbArena* arena, int entries) {
  struct tbVelocityDense* w = s->dense;
  size_t room = (size_t)w->n + 4;
  tbSoftProblem sizes = {.ndof = w->n};
  if (!tb_dense_assembly_build(&w->H, &sizes, arena)) return false;
  size_t square = (size_t)(w->n * w->H.stride + 4);
  w->rows = tb_arena_alloc(arena, sizeof(tbDenseRows) * (size_t)(s->nblock + 1));
  s->dof = tb_arena_alloc(arena, sizeof(int) * room);
  // Indices of dofs and of columns, and groups of four; a block has no more groups than columns.
  s->index = tb_arena_alloc(arena, sizeof(int) * (size_t)(s->forest.n + 2 * entries + 1));
  w->base = tb_arena_alloc(arena, sizeof(tbReal) * square);
  w->copy = tb_arena_alloc(arena, sizeof(tbReal) * square);
  w->least = tb_arena_alloc(arena, sizeof(tbReal) * room);
  w->by_dof = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->forest.n + 1));
  w->pivot = tb_arena_alloc(arena, sizeof(int) * room);
  if (arena->failed) return false;
  memset(w->base, 0, sizeof(tbReal) * square);
  return true;
}

// M by index, both triangles.
static void fill_base(tbVelocity* s, const tbReal* M) {
  struct tbVelocityDense* w = s->dense;
  for (int i = 0; i < w->n; i++) {
    int dof = s->dof[i], adr = s->forest.rowadr[dof];
    w->least[i] = 1 / s->inverse[dof];
    for (int k = 0; k < s->forest.rownnz[dof]; k++) {
      int j = s->index[s->forest.colind[adr + k]];
      w->base[i * w->H.stride + j] = w->base[j * w->H.stride + i] = M[adr + k];
    }
  }
}

// Cover ascending indices by groups of four, none of which extends beyond the last dof.
static int cover(int n, int count, const int* index, int* four) {
  int fours = 0;
  for (int k = 0; k < count && n >= TB_FOUR; k++) {
    if (fours > 0 && index[k] < four[fours - 1] + TB_FOUR) continue;
    four[fours++] = index[k] < n - TB_FOUR ? index[k] : n - TB_FOUR;
  }
  return fours;
}

// A block's J over its groups. A column belongs to the first group that covers it.
static void spread_rows(const tbDenseRows* rows, tbReal* out) {
  int width = TB_FOUR * rows->nfour, q = 0;
  memset(out, 0, sizeof(tbReal) * (size_t)(rows->dim * width));
  for (int k = 0; k < rows->nnz; k++) {
    while (rows->index[k] >= rows->four[q] + TB_FOUR) q++;
    int at = TB_FOUR * q + rows->index[k] - rows->four[q];
    for (int r = 0; r < rows->dim; r++) out[r * width + at] = rows->J[r * rows->nnz + k];
  }
}

// All blocks over the island's dofs. False: out of memory.
static bool fill_rows(tbVelocity* s, tbArena* arena, int entries) {
  struct tbVelocityDense* w = s->dense;
  int *index = s->index + s->forest.n, *four = index + entries, size = 0;
  for (int i = 0; i < s->nblock; i++) {
    const tbRows* from = &s->block[i];
    tbDenseRows* rows = &w->rows[i];
    *rows = (tbDenseRows){.dim = from->dim, .nnz = from->nnz, .index = index, .J = from->J};
    rows->only = tb_rows_only_entry(from);
    rows->four = four;
    for (int k = 0; k < from->nnz; k++) *index++ = s->index[from->col[k]];
    if (rows->only >= 0) continue;
    rows->nfour = cover(w->n, rows->nnz, rows->index, four);
    four += rows->nfour;
    size += rows->dim * TB_FOUR * rows->nfour;
  }
  tbReal* J = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(size + 1));
  if (!J) return false;
  for (int i = 0; i < s->nblock; i++) {
    tbDenseRows* rows = &w->rows[i];
    if (rows->nfour == 0) continue;
    rows->by_four = J;
    spread_rows(rows, J);
    J += rows->dim * TB_FOUR * rows->nfour;
  }
  return true;
}

// Sort the trees by their dofs, so that indices ascend with dofs; there are a few dozen trees at
// most.
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

bool tb_velocity_build_dense(tbVelocity* s, tbArena* arena, const tbForestInertia* inertia,
                             int nblock, const tbRows* block, const tbCompositeChains* chains) {
  *s = (tbVelocity){.forest = inertia->forest,
                    .LD = inertia->LD,
                    .inverse = inertia->inverse,
                    .nblock = nblock,
                    .block = block,
                    .chains = chains};
  s->dense = TB_ARENA_NEW(arena, struct tbVelocityDense, 1);
  if (!s->dense) return false;
  struct tbVelocityDense* w = s->dense;
  int entries = 0;
  if (!sort_trees(w, arena, inertia->ntree, inertia->tree)) return false;
  for (int i = 0; i < nblock; i++) entries += block[i].nnz;
  s->size = w->n;
  if (!allocate(s, arena, entries)) return false;
  for (int t = 0, at = 0; t < w->ntree; t++) {
    for (int k = w->tree[t].first; k < w->tree[t].end; k++, at++) {
      s->dof[at] = k;
      s->index[k] = at;
    }
  }
  fill_base(s, inertia->M);
  return fill_rows(s, arena, entries) && (!chains || tb_composite_chains_open(s, arena));
}

// ---- products ----------------------------------------------------------------------------------

// out = J x over the groups.
TB_INLINE void mul_fours(const tbDenseRows* rows, int dim, const tbReal* x, tbReal* out) {
  int width = TB_FOUR * rows->nfour;
  for (int r = 0; r < dim; r++) {
    out[r] = tb_dot_fours(rows->nfour, rows->by_four + r * width, x, rows->four);
  }
}

// x += J^T f over the groups.
TB_INLINE void push_fours(const tbDenseRows* rows, int dim, const tbReal* f, tbReal* x) {
  int width = TB_FOUR * rows->nfour;
  tbReal own[TB_ROWS_DIM];
  for (int r = 0; r < dim; r++) own[r] = f[r];
  for (int q = 0; q < rows->nfour; q++) {
    tb_sum_fours(dim, own, rows->by_four + TB_FOUR * q, width, x + rows->four[q], true);
  }
}

// Loops for contacts of three and six rows are unrolled.
TB_INLINE void mul_rows(const tbDenseRows* rows, const tbReal* x, tbReal* out) {
  if (rows->dim == 3) {
    mul_fours(rows, 3, x, out);
  } else if (rows->dim == 6) {
    mul_fours(rows, 6, x, out);
  } else {
    mul_fours(rows, rows->dim, x, out);
  }
}

TB_INLINE void push_rows(const tbDenseRows* rows, const tbReal* f, tbReal* x) {
  if (rows->dim == 3) {
    push_fours(rows, 3, f, x);
  } else if (rows->dim == 6) {
    push_fours(rows, 6, f, x);
  } else {
    push_fours(rows, rows->dim, f, x);
  }
}

TB_INLINE void mul_block(const tbDenseRows* rows, const tbReal* x, tbReal* out) {
  if (rows->only >= 0) {
    out[0] = rows->J[rows->only] * x[rows->index[rows->only]];
  } else if (rows->nfour == 0) {
    for (int r = 0; r < rows->dim; r++) {
      out[r] = 0;
      for (int k = 0; k < rows->nnz; k++) out[r] += rows->J[r * rows->nnz + k] * x[rows->index[k]];
    }
  } else {
    mul_rows(rows, x, out);
  }
}

TB_INLINE void push_block(const tbDenseRows* rows, const tbReal* f, tbReal* x) {
  bool any = false;
  for (int r = 0; r < rows->dim; r++) any = any || f[r] != 0;
  if (!any) return;
  if (rows->only >= 0) {
    x[rows->index[rows->only]] += rows->J[rows->only] * f[0];
  } else if (rows->nfour == 0) {
    for (int r = 0; r < rows->dim; r++) {
      for (int k = 0; k < rows->nnz; k++) x[rows->index[k]] += rows->J[r * rows->nnz + k] * f[r];
    }
  } else {
    push_rows(rows, f, x);
  }
}

// Products with `count` blocks, one after the other.
TB_INLINE void mul_blocks(const tbDenseRows* rows, int count, const tbReal* x, tbReal* out) {
  for (int i = 0; i < count; out += rows[i++].dim) mul_block(&rows[i], x, out);
}

TB_INLINE void push_blocks(const tbDenseRows* rows, int count, const tbReal* f, tbReal* x) {
  for (int i = 0; i < count; f += rows[i++].dim) push_block(&rows[i], f, x);
}

static void mul_generic(const tbDenseRows* rows, int count, const tbReal* x, tbReal* out) {
  mul_blocks(rows, count, x, out);
}

TB_WIDE static void mul_avx2(const tbDenseRows* rows, int count, const tbReal* x, tbReal* out) {
  mul_blocks(rows, count, x, out);
}

static void push_generic(const tbDenseRows* rows, int count, const tbReal* f, tbReal* x) {
  push_blocks(rows, count, f, x);
}

TB_WIDE static void push_avx2(const tbDenseRows* rows, int count, const tbReal* f, tbReal* x) {
  push_blocks(rows, count, f, x);
}

void tb_velocity_dense_mul(const tbVelocity* s, int first, int count, const tbReal* x,
                           tbReal* out) {
  (tb_wide() ? mul_avx2 : mul_generic)(s->dense->rows + first, count, x, out);
}

void tb_velocity_dense_apply_transposed(const tbVelocity* s, int first, int count, const tbReal* f,
                                        tbReal* x) {
  (tb_wide() ? push_avx2 : push_generic)(s->dense->rows + first, count, f, x);
}

void tb_velocity_dense_by_dof(const tbVelocity* s, const tbReal* x, tbReal* out) {
  for (int k = 0; k < s->dense->n; k++) out[s->dof[k]] = x[k];
}

void tb_velocity_dense_inverse(const tbVelocity* s, tbReal* x) {
  struct tbVelocityDense* w = s->dense;
  tb_velocity_dense_by_dof(s, x, w->by_dof);
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
  memcpy(w->H.H, w->base, sizeof(tbReal) * (size_t)(w->n * w->H.stride));
  if (s->chains) tb_composite_chains_clear(s);
}

// Four columns of W J, in SIMD registers.
TB_INLINE void multiply_four(int dim, int width, const tbReal* W, const tbReal* J,
                             tbPart WJ[][TB_PARTS]) {
  for (int r = 0; r < dim; r++) {
    for (int p = 0; p < TB_PARTS; p++) {
      tbPart sum = W[r * dim] * *(const tbPart*)(J + p * TB_PART);
      for (int c = 1; c < dim; c++) {
        sum += W[r * dim + c] * *(const tbPart*)(J + c * width + p * TB_PART);
      }
      WJ[r][p] = sum;
    }
  }
}

// Four columns of J^T W J in one row of H: `J` is one column of J.
TB_INLINE void add_four(int dim, int nnz, const tbReal* J, tbPart WJ[][TB_PARTS], tbReal* to) {
  tbPart sum[TB_PARTS];
  for (int p = 0; p < TB_PARTS; p++) sum[p] = J[0] * WJ[0][p];
  for (int r = 1; r < dim; r++) {
    for (int p = 0; p < TB_PARTS; p++) sum[p] += J[r * nnz] * WJ[r][p];
  }
  for (int p = 0; p < TB_PARTS; p++) *(tbPart*)(to + p * TB_PART) += sum[p];
}

// H += J^T W J of a block of `dim` rows, eight columns at a time in the rows of all its columns; if
// H is symmetric, in the rows from the diagonal down.
TB_INLINE void add_rows_of(tbVelocity* s, const tbDenseRows* rows, int dim, const tbReal* W) {
  tbReal* H = s->dense->H.H;
  const int *index = rows->index, *four = rows->four;
  int nnz = rows->nnz, fours = rows->nfour, width = TB_FOUR * fours, first = 0, q = 0;
  int stride = s->dense->H.stride;
  bool symmetric = s->symmetric;
  for (; q + 2 <= fours; q += 2) {
    tbPart one[TB_ROWS_DIM][TB_PARTS], two[TB_ROWS_DIM][TB_PARTS];
    multiply_four(dim, width, W, rows->by_four + TB_FOUR * q, one);
    multiply_four(dim, width, W, rows->by_four + TB_FOUR * q + TB_FOUR, two);
    while (symmetric && index[first] < four[q]) first++;
    for (int i = first; i < nnz; i++) {
      tbReal* to = H + index[i] * stride;
      add_four(dim, nnz, rows->J + i, one, to + four[q]);
      add_four(dim, nnz, rows->J + i, two, to + four[q + 1]);
    }
  }
  if (q == fours) return;
  tbPart last[TB_ROWS_DIM][TB_PARTS];
  multiply_four(dim, width, W, rows->by_four + TB_FOUR * q, last);
  while (symmetric && index[first] < four[q]) first++;
  for (int i = first; i < nnz; i++) {
    add_four(dim, nnz, rows->J + i, last, H + index[i] * stride + four[q]);
  }
}

TB_INLINE void add_block(tbVelocity* s, int block, const tbReal* W) {
  const tbDenseRows* rows = &s->dense->rows[block];
  if (rows->dim == 3) {
    add_rows_of(s, rows, 3, W);
  } else if (rows->dim == 6) {
    add_rows_of(s, rows, 6, W);
  } else {
    add_rows_of(s, rows, rows->dim, W);
  }
}

static void add_generic(tbVelocity* s, int block, const tbReal* W) {
  add_block(s, block, W);
}

TB_WIDE static void add_avx2(tbVelocity* s, int block, const tbReal* W) {
  add_block(s, block, W);
}

// The same entry by entry, for fewer than four dofs.
static void add_small(tbVelocity* s, const tbDenseRows* rows, const tbReal* W) {
  int dim = rows->dim, nnz = rows->nnz;
  for (int j = 0; j < nnz; j++) {
    tbReal WJ[TB_ROWS_DIM], *to = s->dense->H.H + rows->index[j];
    for (int r = 0; r < dim; r++) {
      WJ[r] = 0;
      for (int c = 0; c < dim; c++) WJ[r] += W[r * dim + c] * rows->J[c * nnz + j];
    }
    for (int i = 0; i < nnz; i++) {
      tbReal sum = 0;
      for (int r = 0; r < dim; r++) sum += rows->J[r * nnz + i] * WJ[r];
      to[rows->index[i] * s->dense->H.stride] += sum;
    }
  }
}

void tb_velocity_dense_add(tbVelocity* s, int block, const tbReal* W) {
  struct tbVelocityDense* w = s->dense;
  const tbDenseRows* rows = &w->rows[block];
  if (s->chains && s->chains->last[block] >= 0) {
    tb_composite_chains_add(s, block, W);
  } else if (rows->only >= 0) {
    tbReal value = rows->J[rows->only];
    w->H.H[rows->index[rows->only] * (w->H.stride + 1)] += W[0] * value * value;
  } else if (rows->nfour == 0) {
    add_small(s, rows, W);
  } else if (tb_wide()) {
    add_avx2(s, block, W);
  } else {
    add_generic(s, block, W);
  }
}

bool tb_velocity_dense_factor(tbVelocity* s) {
  struct tbVelocityDense* w = s->dense;
  int n = w->n, stride = w->H.stride;
  if (s->chains) tb_composite_chains_scatter_dense(s);
  if (s->symmetric) return tb_dense_assembly_factor(&w->H);
  memcpy(w->copy, w->H.H, sizeof(tbReal) * (size_t)(n * stride));
  if (tb_dense_assembly_factor_skew(&w->H, w->least)) return true;
  // A pivot is nearly zero: factor again with row exchanges.
  w->exchanged = true;
  return tb_lu(n, w->copy, stride, w->pivot);
}

void tb_velocity_dense_solve(const tbVelocity* s, tbReal* x) {
  const struct tbVelocityDense* w = s->dense;
  if (w->exchanged) {
    tb_lu_solve(w->n, w->copy, w->H.stride, w->pivot, x);
  } else {
    tb_dense_assembly_solve(&w->H, x);
  }
}
