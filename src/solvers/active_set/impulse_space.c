// Newton's method on the active set in impulse space, for small islands: an iteration costs one
// factorisation of a dense matrix over the active rows, often a dozen. Equations are numbered as in
// docs/notebook/active-set.md.
//
// Rows that move a single dof (dry friction and limits of joints, often more than half of a robot's
// rows) stay in velocity space: with their weights W = 1 / (E + R) for active rows,
//
//     M' = M + J_f^T W J_f                                                                    (6)
//
// is M with other diagonal entries, factored as fast as M. The effect of these rows on all others
// is in G' = J M'^-1 J^T = B B^T, B = J L'^-1 D'^-1/2 (dense, by half-solves).
//
// Of the other rows, impulses are lambda = fixed + N z given the modes: a unit column for every row
// with sigma = 0, and for a sliding block the edge (1, mu u) of its cone and a basis t of the
// directions across u. With the test columns T (those of N, but for ncp the normal row instead of
// an edge), (2) of active_set.c becomes
//
//     T^T sigma + D (z - z_k) = 0,    D = E (free rows and edges), 1 / c (across)               (7)
//
// with z_k that of the proximal centre, or 0 across. It is solved for the change from the last
// lambda, so that rounding is relative to the change: with r = E (lambda_k - lambda) - sigma of the
// active rows of (6) and y = M'^-1 J_f^T W r,
//
//     (T^T (G' + R) N + D) dz = D (z_k - z) - T^T (sigma + J y)                                 (8)
//     dx = y + M'^-1 J^T N dz,    dlambda_f = W (r - J_f dx).
#include <math.h>
#include <string.h>

#include "base/kernel.h"
#include "linalg/dense.h"
#include "solvers/active_set/state.h"

enum { MAX = TB_MAX_BLOCK_DIM };

// One entry of z: a column of N over `dim` rows.
typedef struct {
  int row, at, dim;  // its first row in the problem and in G'
  bool normal;       // its test column is the first row alone
  tbReal D;          // of (7)
  tbReal shift;      // D (z_k - z)
  tbReal N[MAX];
} Column;

typedef struct {
  int dof;               // the only dof that this block moves, or -1
  tbReal value;          // its J
  tbReal weight, right;  // W and W r of (8)
  int at;                // of a block with several dofs: first row in G'
  tbReal* B;             // half-solved rows with the present factor,
  bool ready;            // whether B and its data of G' are computed
  bool active;           // some columns of N belong to this block
} BlockData;

typedef struct {
  int size, m;      // rows of G', columns of N
  BlockData* data;  // per block
  Column* column;
  tbReal *G, *GN, *A;  // A: the matrix of (8), then its factors
  tbReal *z, *row;
  int* pivot;
  tbReal* scratch;
  bool symmetric;
  const tbReal *LD, *inverse;            // the factor of M' in use
  tbReal *own_LD, *own_inverse, *x, *y;  // by dof, valid in the island's trees only
  tbReal* change;                        // of lambda
} Impulse;

int tb_active_dense_rows(const tbRows* block) {
  return tb_rows_only_entry(block) >= 0 ? 0 : block->dim;
}

static bool start(tbActiveState* s, tbArena* arena) {
  const tbActive* a = s->a;
  const tbForest* f = &a->inertia.forest;
  size_t n = (size_t)s->p->n + 1, nv = (size_t)f->n;
  Impulse* w = TB_ARENA_NEW(arena, Impulse, 1);
  BlockData* data = TB_ARENA_NEW(arena, BlockData, s->p->nblock + 1);
  if (!w || !data) return false;
  s->work = w;
  w->data = data;
  w->LD = a->inertia.LD;
  w->inverse = a->inertia.inverse;
  int entries = 0;
  for (int i = 0; i < s->p->nblock; i++) {
    int only = tb_rows_only_entry(&a->block[i]);
    data[i].dof = only >= 0 ? a->block[i].col[only] : -1;
    data[i].value = only >= 0 ? a->block[i].J[only] : 0;
    data[i].at = w->size;
    if (only >= 0) continue;
    w->size += a->block[i].dim;
    entries += a->block[i].dim * a->block[i].nnz;
  }
  size_t size = (size_t)w->size + 1, nM = nv ? (size_t)(f->rowadr[nv - 1] + f->rownnz[nv - 1]) : 0;
  w->column = tb_arena_alloc(arena, sizeof(Column) * size);
  w->G = tb_arena_alloc(arena, sizeof(tbReal) * size * size);
  w->A = tb_arena_alloc(arena, sizeof(tbReal) * size * size);
  w->GN = tb_arena_alloc(arena, sizeof(tbReal) * size * size);
  w->z = tb_arena_alloc(arena, sizeof(tbReal) * size);
  w->row = tb_arena_alloc(arena, sizeof(tbReal) * size);
  w->scratch = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)tb_cholesky_scratch(w->size));
  w->pivot = tb_arena_alloc(arena, sizeof(int) * size);
  w->own_LD = tb_arena_alloc(arena, sizeof(tbReal) * (nM + 1));
  w->own_inverse = tb_arena_alloc(arena, sizeof(tbReal) * (nv + 1));
  w->x = tb_arena_alloc(arena, sizeof(tbReal) * (nv + 1));
  w->y = tb_arena_alloc(arena, sizeof(tbReal) * (nv + 1));
  w->change = tb_arena_alloc(arena, sizeof(tbReal) * n);
  tbReal* B = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(entries + 1));
  if (arena->failed) return false;
  memset(w->G, 0, sizeof(tbReal) * size * size);
  for (int i = 0; i < s->p->nblock; i++) {
    data[i].B = B;
    if (data[i].dof < 0) B += a->block[i].dim * a->block[i].nnz;
  }
  return true;
}

// ---- velocities --------------------------------------------------------------------------------

static void clear(const tbForestInertia* m, tbReal* x) {
  for (int t = 0; t < m->ntree; t++) {
    int first = m->tree[t].first, end = m->tree[t].end;
    memset(x + first, 0, sizeof(tbReal) * (size_t)(end - first));
  }
}

static void inverse(const tbForestInertia* m, const tbReal* LD, const tbReal* diagonal, tbReal* x) {
  for (int t = 0; t < m->ntree; t++) {
    tb_ltdl_solve_range(m->forest, LD, diagonal, x, m->tree[t].first, m->tree[t].end);
  }
}

// x += J^T f of a block.
static void apply_transposed(const tbRows* rows, const BlockData* data, const tbReal* f,
                             tbReal* x) {
  if (data->dof >= 0) {
    x[data->dof] += data->value * f[0];
    return;
  }
  for (int r = 0; r < rows->dim; r++) {
    if (f[r] == 0) continue;
    const tbReal* J = rows->J + r * rows->nnz;
    for (int k = 0; k < rows->nnz; k++) x[rows->col[k]] += J[k] * f[r];
  }
}

// out += J x of a block.
static void apply(const tbRows* rows, const BlockData* data, const tbReal* x, tbReal* out) {
  if (data->dof >= 0) {
    out[0] += data->value * x[data->dof];
    return;
  }
  for (int r = 0; r < rows->dim; r++) {
    const tbReal* J = rows->J + r * rows->nnz;
    tbReal sum = 0;
    for (int k = 0; k < rows->nnz; k++) sum += J[k] * x[rows->col[k]];
    out[r] += sum;
  }
}

static void true_velocity(tbActiveState* s, const tbReal* lambda, tbReal* sigma) {
  const tbActive* a = s->a;
  const tbProblem* p = s->p;
  Impulse* w = s->work;
  clear(&a->inertia, w->x);
  for (int i = 0; i < p->nblock; i++) {
    apply_transposed(&a->block[i], &w->data[i], lambda + p->block[i].row, w->x);
  }
  inverse(&a->inertia, a->inertia.LD, a->inertia.inverse, w->x);
  for (int r = 0; r < p->n; r++) sigma[r] = p->g[r] + (p->R ? p->R[r] * lambda[r] : 0);
  for (int i = 0; i < p->nblock; i++) {
    apply(&a->block[i], &w->data[i], w->x, sigma + p->block[i].row);
  }
}

// ---- G' ----------------------------------------------------------------------------------------

// Three rows of X times three rows of Y over `n` columns.
static void product_3x3(int n, const tbReal* x, int x_stride, const tbReal* y, int y_stride,
                        tbReal sum[9]) {
  const tbReal *x1 = x + x_stride, *x2 = x1 + x_stride, *y1 = y + y_stride, *y2 = y1 + y_stride;
  tbReal s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0, s8 = 0;
  for (int k = 0; k < n; k++) {
    tbReal a = x[k], b = x1[k], c = x2[k], d = y[k], e = y1[k], f = y2[k];
    s0 += a * d;
    s1 += a * e;
    s2 += a * f;
    s3 += b * d;
    s4 += b * e;
    s5 += b * f;
    s6 += c * d;
    s7 += c * e;
    s8 += c * f;
  }
  const tbReal all[9] = {s0, s1, s2, s3, s4, s5, s6, s7, s8};
  memcpy(sum, all, sizeof all);
}

// The block of G' = B B^T for two blocks of rows of B. Columns ascend, so chains of one tree share
// their first ones; a merge finds the other common columns.
static void block_product(const tbRows* a, const tbReal* A, const tbRows* b, const tbReal* B,
                          tbReal* G, int stride) {
  int common = 0, least = a->nnz < b->nnz ? a->nnz : b->nnz;
  while (common < least && a->col[common] == b->col[common]) common++;
  for (int i = 0; i < a->dim; i += 3) {
    for (int j = 0; j < b->dim; j += 3) {
      int rows = a->dim - i < 3 ? a->dim - i : 3, columns = b->dim - j < 3 ? b->dim - j : 3;
      tbReal sum[9] = {0};
      if (rows == 3 && columns == 3) {
        product_3x3(common, A + i * a->nnz, a->nnz, B + j * b->nnz, b->nnz, sum);
      } else {
        for (int r = 0; r < rows; r++) {
          for (int c = 0; c < columns; c++) {
            const tbReal *x = A + (i + r) * a->nnz, *y = B + (j + c) * b->nnz;
            for (int k = 0; k < common; k++) sum[3 * r + c] += x[k] * y[k];
          }
        }
      }
      for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) G[(i + r) * stride + j + c] = sum[3 * r + c];
      }
    }
  }
  for (int p = common, q = common; p < a->nnz && q < b->nnz;) {
    if (a->col[p] < b->col[q]) {
      p++;
    } else if (a->col[p] > b->col[q]) {
      q++;
    } else {
      for (int r = 0; r < a->dim; r++) {
        for (int c = 0; c < b->dim; c++) {
          G[r * stride + c] += A[r * a->nnz + p] * B[c * b->nnz + q];
        }
      }
      p++;
      q++;
    }
  }
}

// Set W of the rows with a single dof from their modes. True: some weights have changed.
static bool set_single_weights(const tbActiveState* s, Impulse* w, bool* any) {
  bool changed = false;
  *any = false;
  for (int i = 0; i < s->p->nblock; i++) {
    BlockData* data = &w->data[i];
    int row = s->p->block[i].row;
    if (data->dof < 0) continue;
    tbReal weight = 0;
    if (s->mode[row] == TB_MODE_ACTIVE) {
      weight = 1 / (s->proximal_weight * s->a->rho[row] + (s->p->R ? s->p->R[row] : 0));
    }
    changed = changed || weight != data->weight;
    *any = *any || weight != 0;
    data->weight = weight;
  }
  return changed;
}

// Factor M' of (6). False: the factorisation failed.
static bool factor_weighted(const tbForestInertia* m, int nblock, Impulse* w) {
  const tbForest* f = &m->forest;
  for (int t = 0; t < m->ntree; t++) {
    int first = f->rowadr[m->tree[t].first], last = m->tree[t].end - 1;
    int end = f->rowadr[last] + f->rownnz[last];
    memcpy(w->own_LD + first, m->M + first, sizeof(tbReal) * (size_t)(end - first));
  }
  for (int i = 0; i < nblock; i++) {
    const BlockData* data = &w->data[i];
    if (data->dof < 0 || data->weight == 0) continue;
    int diagonal = f->rowadr[data->dof] + f->rownnz[data->dof] - 1;
    w->own_LD[diagonal] += data->weight * data->value * data->value;
  }
  for (int t = 0; t < m->ntree; t++) {
    int first = m->tree[t].first, end = m->tree[t].end;
    if (tb_ltdl_factor_range(*f, w->own_LD, w->own_inverse, 0, first, end) >= 0) return false;
  }
  return true;
}

// The factor of M' for the weights of the rows with a single dof; that of M if all weights are
// zero. False: the factorisation failed.
static bool factor_inertia(tbActiveState* s) {
  const tbForestInertia* m = &s->a->inertia;
  Impulse* w = s->work;
  int nblock = s->p->nblock;
  bool any;
  if (!set_single_weights(s, w, &any)) return true;
  for (int i = 0; i < nblock; i++) w->data[i].ready = false;
  bool ok = !any || factor_weighted(m, nblock, w);
  for (int i = 0; i < nblock && !ok; i++) w->data[i].weight = 0;
  w->LD = any && ok ? w->own_LD : m->LD;
  w->inverse = any && ok ? w->own_inverse : m->inverse;
  return ok;
}

// Compute B of a block, and G' between it and all other blocks with B.
static void add_to_matrix(tbActiveState* s, int i) {
  const tbRows* rows = &s->a->block[i];
  Impulse* w = s->work;
  BlockData* data = &w->data[i];
  int d = rows->dim, n = rows->nnz, size = w->size;
  memcpy(data->B, rows->J, sizeof(tbReal) * (size_t)(d * n));
  tb_ltdl_half_solve_support(s->a->inertia.forest, w->LD, w->inverse, rows->col, n, data->B, n, d);
  data->ready = true;
  for (int j = 0; j < s->p->nblock; j++) {
    const BlockData* other = &w->data[j];
    if (!other->ready) continue;
    block_product(rows, data->B, &s->a->block[j], other->B, w->G + data->at * size + other->at,
                  size);
    for (int r = 0; r < d && j != i; r++) {
      for (int c = 0; c < s->a->block[j].dim; c++) {
        w->G[(other->at + c) * size + data->at + r] = w->G[(data->at + r) * size + other->at + c];
      }
    }
  }
}

// ---- columns -----------------------------------------------------------------------------------

static void unit_column(tbActiveState* s, int row, int at) {
  Impulse* w = s->work;
  tbReal E = s->proximal_weight * s->a->rho[row];
  Column* c = &w->column[w->m++];
  *c = (Column){.row = row, .at = at, .dim = 1, .D = E, .N = {1}};
  c->shift = E * (s->center[row] - s->lambda[row]);
  s->next[row] = s->lambda[row];
}

// The edge of the cone, and the directions across u: the columns but one of the reflection that
// maps an axis to u (Householder).
static void slide_columns(tbActiveState* s, const tbBlock* b, const tbSlide* slide, int at) {
  Impulse* w = s->work;
  int row = b->row, d = b->dim, axis = 1;
  const tbReal *u = slide->u, *lambda = s->lambda + row;
  tbReal E = s->proximal_weight * s->a->rho[row], *base = s->next + row;
  Column* edge = &w->column[w->m++];
  *edge =
      (Column){.row = row, .at = at, .dim = d, .normal = s->a->law == TB_LAW_NCP, .D = E, .N = {1}};
  edge->shift = E * (s->center[row] - lambda[0]);
  for (int j = 1; j < d; j++) {
    edge->N[j] = b->mu[j - 1] * u[j];
    if (fabs(u[j]) > fabs(u[axis])) axis = j;
  }
  for (int j = 0; j < d; j++) base[j] = lambda[0] * edge->N[j];

  // u + sign(u_axis) e_axis is the normal v of the mirror: t = e_k - 2 v_k v / |v|^2.
  tbReal sign = u[axis] < 0 ? -1 : 1, square = 2 * (1 + fabs(u[axis]));
  tbReal hold = s->proximal_weight * slide->rho;
  for (int k = 1; k < d; k++) {
    if (k == axis) continue;
    Column* c = &w->column[w->m++];
    *c = (Column){.row = row, .at = at, .dim = d, .D = slide->stiffness + hold};
    tbReal z = 0, center = 0;
    for (int j = 1; j < d; j++) {
      tbReal v = u[j] + (j == axis ? sign : 0);
      tbReal t = (j == k) - 2 * u[k] * v / square, mu = b->mu[j - 1];
      c->N[j] = mu * t;
      z += mu > 0 ? t * lambda[j] / mu : 0;
      center += mu > 0 ? t * s->center[row + j] / mu : 0;
    }
    c->shift = hold * center - c->D * z;
    for (int j = 1; j < d; j++) base[j] += z * c->N[j];
  }
}

// Columns of all modes, and in `next` the point from which the change is taken: the last lambda, as
// far as the modes allow.
static void list_columns(tbActiveState* s) {
  Impulse* w = s->work;
  w->m = 0;
  for (int i = 0; i < s->p->nblock; i++) {
    const tbBlock* b = &s->p->block[i];
    BlockData* data = &w->data[i];
    int before = w->m;
    bool cone = b->type == TB_BLOCK_CONE;
    if (cone && s->mode[b->row] == TB_MODE_SLIDE) {
      slide_columns(s, b, &s->slide[i], data->at);
    } else {
      for (int r = 0; r < b->dim; r++) {
        int row = b->row + r, mode = s->mode[cone ? b->row : row];
        if (mode == TB_MODE_ACTIVE && data->dof >= 0) {
          s->next[row] = s->lambda[row];
        } else if (mode == TB_MODE_ACTIVE ||
                   (mode == TB_MODE_STICK && (r == 0 || b->mu[r - 1] > 0))) {
          unit_column(s, row, data->at + r);
        } else {
          s->next[row] = mode == TB_MODE_LOW ? b->lower : mode == TB_MODE_HIGH ? b->upper : 0;
        }
      }
    }
    data->active = w->m > before;
  }
}

// T^T y; y starts at the column's first row.
static tbReal test(const Column* c, const tbReal* y) {
  const tbReal* N = c->N;
  if (c->dim == 1 || c->normal) return y[0];
  if (c->dim == 3) return N[0] * y[0] + N[1] * y[1] + N[2] * y[2];
  tbReal sum = 0;
  for (int r = 0; r < c->dim; r++) sum += N[r] * y[r];
  return sum;
}

// ---- iterations --------------------------------------------------------------------------------

// The matrix of (8): rows of N^T (G' + R), transposed, then T^T times the result, so that all loops
// run along rows.
static void assemble(Impulse* w, const tbReal* R) {
  int m = w->m, size = w->size;
  for (int k = 0; k < m; k++) {
    const Column* c = &w->column[k];
    const tbReal* G = w->G + c->at * size;
    tbReal* TB_RESTRICT sum = w->row;
    if (c->dim == 1) {
      memcpy(sum, G, sizeof(tbReal) * (size_t)size);
      if (R) sum[c->at] += R[c->row];
    } else {
      memset(sum, 0, sizeof(tbReal) * (size_t)size);
      for (int r = 0; r < c->dim; r++) {
        const tbReal *TB_RESTRICT from = G + r * size, f = c->N[r];
        if (f == 0) continue;
        for (int j = 0; j < size; j++) sum[j] += f * from[j];
        if (R) sum[c->at + r] += R[c->row + r] * f;
      }
    }
    for (int j = 0; j < size; j++) w->GN[j * m + k] = sum[j];
  }
  for (int i = 0; i < m; i++) {
    const Column* c = &w->column[i];
    tbReal* TB_RESTRICT out = w->A + i * m;
    const tbReal* from = w->GN + c->at * m;
    if (c->dim == 1 || c->normal) {
      memcpy(out, from, sizeof(tbReal) * (size_t)m);
    } else {
      memset(out, 0, sizeof(tbReal) * (size_t)m);
      for (int r = 0; r < c->dim; r++) {
        const tbReal *TB_RESTRICT y = from + r * m, f = c->N[r];
        if (f == 0) continue;
        for (int k = 0; k < m; k++) out[k] += f * y[k];
      }
    }
    out[i] += c->D;
  }
}

// With free rows only: the active data of G' itself, below the diagonal.
static void assemble_free(Impulse* w, const tbReal* R) {
  for (int i = 0; i < w->m; i++) {
    const Column* c = &w->column[i];
    const tbReal* G = w->G + c->at * w->size;
    tbReal* out = w->A + i * w->m;
    for (int k = 0; k <= i; k++) out[k] = G[w->column[k].at];
    out[i] += c->D + (R ? R[c->row] : 0);
  }
}

static bool factor(tbActiveState* s) {
  Impulse* w = s->work;
  list_columns(s);
  if (!factor_inertia(s)) return false;
  bool free = true;
  for (int i = 0; i < s->p->nblock; i++) {
    if (w->data[i].active && !w->data[i].ready) add_to_matrix(s, i);
    free = free && s->mode[s->p->block[i].row] != TB_MODE_SLIDE;
  }
  w->symmetric = !s->skew;
  if (free) {
    assemble_free(w, s->p->R);
  } else {
    assemble(w, s->p->R);
  }
  return w->symmetric ? tb_cholesky(w->m, w->A, w->m, w->scratch)
                      : tb_lu(w->m, w->A, w->m, w->pivot);
}

// y of (8).
static void push_single(tbActiveState* s, tbReal* sigma) {
  const tbActive* a = s->a;
  Impulse* w = s->work;
  clear(&a->inertia, w->y);
  for (int i = 0; i < s->p->nblock; i++) {
    BlockData* data = &w->data[i];
    int row = s->p->block[i].row;
    if (data->weight == 0) continue;
    tbReal E = s->proximal_weight * a->rho[row];
    data->right = data->weight * (E * (s->center[row] - s->lambda[row]) - sigma[row]);
    w->y[data->dof] += data->value * data->right;
  }
  inverse(&a->inertia, w->LD, w->inverse, w->y);
}

// z of (8); sigma of the active blocks is next_sigma plus the contribution of y.
static void solve_columns(tbActiveState* s) {
  const tbProblem* p = s->p;
  Impulse* w = s->work;
  tbReal* pushed = w->change;
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    if (!w->data[i].active) continue;
    memcpy(pushed + row, s->next_sigma + row, sizeof(tbReal) * (size_t)p->block[i].dim);
    apply(&s->a->block[i], &w->data[i], w->y, pushed + row);
  }
  for (int k = 0; k < w->m; k++) {
    w->z[k] = w->column[k].shift - test(&w->column[k], pushed + w->column[k].row);
  }
  if (w->symmetric) {
    tb_cholesky_solve(w->m, w->A, w->m, w->z);
  } else {
    tb_lu_solve(w->m, w->A, w->m, w->pivot, w->z);
  }
}

// The change of lambda of the active blocks, N z, and dx of (8), the change of the generalized
// velocity.
static void push_columns(tbActiveState* s) {
  const tbActive* a = s->a;
  const tbProblem* p = s->p;
  Impulse* w = s->work;
  memset(w->change, 0, sizeof(tbReal) * (size_t)p->n);
  for (int k = 0; k < w->m; k++) {
    const Column* c = &w->column[k];
    for (int r = 0; r < c->dim; r++) w->change[c->row + r] += c->N[r] * w->z[k];
  }
  clear(&a->inertia, w->x);
  for (int i = 0; i < p->nblock; i++) {
    if (w->data[i].active) {
      apply_transposed(&a->block[i], &w->data[i], w->change + p->block[i].row, w->x);
    }
  }
  inverse(&a->inertia, w->LD, w->inverse, w->x);
  for (int t = 0; t < a->inertia.ntree; t++) {
    const tbRange* tree = &a->inertia.tree[t];
    for (int k = tree->first; k < tree->end; k++) w->x[k] += w->y[k];
  }
}

// Solve (8) with the present factors.
static bool correct(tbActiveState* s) {
  const tbProblem* p = s->p;
  Impulse* w = s->work;
  size_t bytes = sizeof(tbReal) * (size_t)p->n;
  bool finite = true;
  list_columns(s);
  // sigma at the point from which the change is taken.
  if (memcmp(s->next, s->lambda, bytes) == 0) {
    memcpy(s->next_sigma, s->sigma, bytes);
  } else {
    true_velocity(s, s->next, s->next_sigma);
  }
  push_single(s, s->next_sigma);
  solve_columns(s);
  push_columns(s);
  for (int i = 0; i < p->nblock; i++) {
    const BlockData* data = &w->data[i];
    int row = p->block[i].row;
    if (data->weight != 0) {
      w->change[row] = data->right - data->weight * data->value * w->x[data->dof];
    }
    apply(&s->a->block[i], data, w->x, s->next_sigma + row);
    for (int r = row; r < row + p->block[i].dim; r++) {
      s->next[r] += w->change[r];
      s->next_sigma[r] += p->R ? p->R[r] * w->change[r] : 0;
      finite = finite && isfinite(s->next[r]);
    }
  }
  return finite;
}

const tbActiveForm TB_ACTIVE_DUAL = {start, factor, correct, correct, true_velocity};
