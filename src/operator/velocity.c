#include "operator/velocity.h"

#include <string.h>

#include "operator/body_rows.h"
#include "operator/velocity_chains.h"
#include "operator/velocity_dense.h"

enum { ROWS = TB_CONTACT_ROWS, BODY = TB_BODY_DOFS, PAIR = TB_PAIR_DOFS };

int tb_rows_only_entry(const tbRows* rows) {
  int found = -1;
  if (rows->dim != 1) return -1;
  for (int k = rows->nnz - 1; k >= 0; k--) {
    if (rows->J[k] == 0) continue;
    if (found >= 0) return -1;
    found = k;
  }
  return found;
}

// A contact of three rows on a free body, by far the most frequent case: out += J x, each row as
// two independent sums.
TB_INLINE void mul_body(const tbReal* J, int width, const tbReal* x, tbReal* out) {
  for (int r = 0; r < ROWS; r++, J += width) {
    tbReal even = (J[0] * x[0] + J[2] * x[2]) + J[4] * x[4];
    tbReal odd = (J[1] * x[1] + J[3] * x[3]) + J[5] * x[5];
    out[r] += even + odd;
  }
}

void tb_velocity_mul(const tbVelocity* s, int block, const tbReal* x, tbReal* out) {
  if (s->dense) {
    tb_velocity_dense_mul(s, block, 1, x, out);
    return;
  }
  const tbNodeRows* rows = &s->rows[block];
  for (int r = 0; r < rows->dim; r++) out[r] = 0;
  if (rows->bodies == 2) {
    mul_body(rows->J, PAIR, x + s->ldu.first[rows->node[0]], out);
    mul_body(rows->J + BODY, PAIR, x + s->ldu.first[rows->node[1]], out);
    return;
  }
  if (rows->bodies == 1) {
    mul_body(rows->J, BODY, x + s->ldu.first[rows->node[0]], out);
    return;
  }
  for (int p = 0; p < rows->nnode; p++) {
    const tbReal* from = x + s->ldu.first[rows->node[p]];
    int n = rows->part[p + 1] - rows->part[p];
    for (int r = 0; r < rows->dim; r++) {
      const tbReal* J = rows->J + r * rows->width + rows->part[p];
      tbReal sum = 0;
      for (int j = 0; j < n; j++) sum += J[j] * from[j];
      out[r] += sum;
    }
  }
}

void tb_velocity_apply_transposed(const tbVelocity* s, int block, const tbReal* f, tbReal* x) {
  if (s->dense) {
    tb_velocity_dense_apply_transposed(s, block, 1, f, x);
    return;
  }
  const tbNodeRows* rows = &s->rows[block];
  if (rows->bodies == 2) {
    tb_contact_push_pair(rows->J, f, x + s->ldu.first[rows->node[0]],
                         x + s->ldu.first[rows->node[1]]);
    return;
  }
  if (rows->bodies == 1) {
    tb_contact_push_single(rows->J, f, x + s->ldu.first[rows->node[0]]);
    return;
  }
  for (int p = 0; p < rows->nnode; p++) {
    tbReal* to = x + s->ldu.first[rows->node[p]];
    int n = rows->part[p + 1] - rows->part[p];
    for (int r = 0; r < rows->dim; r++) {
      if (f[r] == 0) continue;
      const tbReal* J = rows->J + r * rows->width + rows->part[p];
      for (int j = 0; j < n; j++) to[j] += J[j] * f[r];
    }
  }
}

void tb_velocity_mul_all(const tbVelocity* s, const tbReal* x, tbReal* out) {
  if (s->dense) {
    tb_velocity_dense_mul(s, 0, s->nblock, x, out);
    return;
  }
  for (int i = 0; i < s->nblock; out += s->rows[i++].dim) tb_velocity_mul(s, i, x, out);
}

void tb_velocity_apply_transposed_all(const tbVelocity* s, const tbReal* f, tbReal* x) {
  if (s->dense) {
    tb_velocity_dense_apply_transposed(s, 0, s->nblock, f, x);
    return;
  }
  for (int i = 0; i < s->nblock; f += s->rows[i++].dim) tb_velocity_apply_transposed(s, i, f, x);
}

void tb_velocity_inverse(const tbVelocity* s, tbReal* x) {
  if (s->dense) {
    tb_velocity_dense_inverse(s, x);
    return;
  }
  for (int i = s->size - 1; i >= 0; i--) {
    int k = s->dof[i], last = s->forest.rownnz[k] - 1;
    const tbReal* row = s->LD + s->forest.rowadr[k];
    const int* column = s->forest.colind + s->forest.rowadr[k];
    tbReal xk = x[s->index[k]];
    if (xk == 0) continue;
    for (int t = 0; t < last; t++) x[s->index[column[t]]] -= row[t] * xk;
  }
  for (int i = 0; i < s->size; i++) {
    int k = s->dof[i], last = s->forest.rownnz[k] - 1;
    const tbReal* row = s->LD + s->forest.rowadr[k];
    const int* column = s->forest.colind + s->forest.rowadr[k];
    tbReal sum = x[s->index[k]] * s->inverse[k];
    for (int t = 0; t < last; t++) sum -= row[t] * x[s->index[column[t]]];
    x[s->index[k]] = sum;
  }
}

void tb_velocity_mass(const tbVelocity* s, const tbReal* x, tbReal* out) {
  if (s->dense) {
    tb_velocity_dense_mass(s, x, out);
    return;
  }
  const tbLdu* l = &s->ldu;
  memset(out, 0, sizeof(tbReal) * (size_t)s->size);
  for (int k = 0; k < l->nodes; k++) {
    int d = l->dim[k], width = l->width[k], row = l->first[k];
    int end = s->uncoupled ? l->start[k] : l->start[k + 1];
    const tbReal *D = s->base + l->at[k], *U = D + d * d;
    for (int r = 0; r < d; r++) {
      tbReal sum = 0, own = x[row + r];
      for (int j = 0; j < d; j++) sum += D[r * d + j] * x[row + j];
      for (int e = l->start[k]; e < end; e++) {
        int at = l->first[l->later[e]], n = l->dim[l->later[e]];
        const tbReal* u = U + (size_t)r * (size_t)width + l->column[e];
        for (int j = 0; j < n; j++) {
          sum += u[j] * x[at + j];
          out[at + j] += u[j] * own;
        }
      }
      out[row + r] += sum;
    }
  }
}

// M has no blocks between nodes, so the off-diagonal blocks of `base` are not read.
static void start_uncoupled(tbVelocity* s) {
  for (int k = 0; k < s->ldu.nodes; k++) {
    size_t d = (size_t)s->ldu.dim[k];
    tbReal* D = s->ldu.value + s->ldu.at[k];
    memcpy(D, s->base + s->ldu.at[k], sizeof(tbReal) * d * d);
    memset(D + d * d, 0, sizeof(tbReal) * d * (size_t)s->ldu.width[k]);
  }
  if (!s->symmetric) memset(s->ldu.mirror, 0, sizeof(tbReal) * s->ldu.mirror_size);
}

void tb_velocity_start(tbVelocity* s, bool symmetric) {
  if (s->dense) {
    tb_velocity_dense_start(s, symmetric);
    return;
  }
  s->symmetric = symmetric;
  if (s->chains) tb_composite_chains_clear(s);
  if (s->uncoupled) {
    start_uncoupled(s);
    return;
  }
  memcpy(s->ldu.value, s->base, sizeof(tbReal) * s->ldu.size);
  if (symmetric) return;
  for (int k = 0; k < s->ldu.nodes; k++) {
    int d = s->ldu.dim[k];
    memcpy(s->ldu.mirror + s->ldu.skew[k], s->base + s->ldu.at[k] + (size_t)(d * d),
           sizeof(tbReal) * (size_t)d * (size_t)s->ldu.width[k]);
  }
}

// Y (rows x n, own stride) += X^T Z for X (depth x rows) and Z (depth x n) with stride `width`.
TB_INLINE void add_product(int rows, int depth, int n, int width, const tbReal* X,
                           const tbReal* TB_RESTRICT Z, tbReal* TB_RESTRICT Y, int stride) {
  if (depth == 3) {
    const tbReal *TB_RESTRICT z1 = Z + width, *TB_RESTRICT z2 = z1 + width;
    const tbReal *x1 = X + width, *x2 = x1 + width;
    for (int i = 0; i < rows; i++) {
      tbReal* TB_RESTRICT y = Y + (size_t)i * (size_t)stride;
      tbReal a = X[i], b = x1[i], c = x2[i];
      for (int j = 0; j < n; j++) y[j] += a * Z[j] + b * z1[j] + c * z2[j];
    }
    return;
  }
  for (int i = 0; i < rows; i++) {
    tbReal* TB_RESTRICT y = Y + (size_t)i * (size_t)stride;
    for (int r = 0; r < depth; r++) {
      tbReal a = X[r * width + i];
      if (a == 0) continue;
      const tbReal* TB_RESTRICT z = Z + r * width;
      for (int j = 0; j < n; j++) y[j] += a * z[j];
    }
  }
}

// out = W J, or W^T J, for three rows.
TB_INLINE void multiply_three(int width, const tbReal* J, const tbReal* W, int row_step,
                              int col_step, tbReal* TB_RESTRICT out) {
  const tbReal *TB_RESTRICT a = J, *TB_RESTRICT b = a + width, *TB_RESTRICT c = b + width;
  for (int r = 0; r < 3; r++) {
    const tbReal* w = W + r * row_step;
    tbReal u = w[0], v = w[col_step], t = w[2 * col_step], *TB_RESTRICT to = out + r * width;
    for (int j = 0; j < width; j++) to[j] = u * a[j] + v * b[j] + t * c[j];
  }
}

// The same for any number of rows; most weights are diagonal.
TB_INLINE void multiply_rows(const tbNodeRows* rows, const tbReal* W, int row_step, int col_step,
                             tbReal* TB_RESTRICT out) {
  int width = rows->width;
  if (rows->dim == 3) {
    multiply_three(width, rows->J, W, row_step, col_step, out);
    return;
  }
  for (int r = 0; r < rows->dim; r++) {
    tbReal *TB_RESTRICT to = out + r * width, own = W[r * (row_step + col_step)];
    const tbReal* TB_RESTRICT J = rows->J + r * width;
    for (int j = 0; j < width; j++) to[j] = own * J[j];
    for (int c = 0; c < rows->dim; c++) {
      tbReal w = W[r * row_step + c * col_step];
      if (w == 0 || c == r) continue;
      const tbReal* TB_RESTRICT other = rows->J + c * width;
      for (int j = 0; j < width; j++) to[j] += w * other[j];
    }
  }
}

// A contact of three rows between two free bodies, or of one with the world: all sizes are
// constant.
TB_INLINE void add_bodies(tbVelocity* s, const tbNodeRows* rows, const tbReal* W) {
  int a = rows->node[0], b = rows->node[1], wa = s->ldu.width[a];
  const tbReal *Ja = rows->J, *Jb = rows->J + BODY;
  tbReal *D = s->ldu.value + s->ldu.at[a], *U = D + BODY * BODY + rows->pair[0];
  tbReal WJ[ROWS * PAIR], WtJ[ROWS * PAIR];
  multiply_three(PAIR, rows->J, W, ROWS, 1, WJ);
  tb_simd6_add(BODY, Ja, PAIR, WJ, PAIR, D, BODY);
  tb_simd6_add(BODY, Ja, PAIR, WJ + BODY, PAIR, U, wa);
  if (!s->symmetric) {
    tbReal* C = s->ldu.mirror + s->ldu.skew[a] + rows->pair[0];
    multiply_three(PAIR, rows->J, W, 1, ROWS, WtJ);
    tb_simd6_add(BODY, Ja, PAIR, WtJ + BODY, PAIR, C, wa);
  }
  tb_simd6_add(BODY, Jb, PAIR, WJ + BODY, PAIR, s->ldu.value + s->ldu.at[b], BODY);
}

TB_INLINE void add_body(tbVelocity* s, const tbNodeRows* rows, const tbReal* W) {
  tbReal WJ[ROWS * BODY];
  multiply_three(BODY, rows->J, W, ROWS, 1, WJ);
  tb_simd6_add(BODY, rows->J, BODY, WJ, BODY, s->ldu.value + s->ldu.at[rows->node[0]], BODY);
}

TB_INLINE void add_block(tbVelocity* s, int block, const tbReal* W) {
  const tbNodeRows* rows = &s->rows[block];
  int dim = rows->dim, width = rows->width;
  tbReal *WJ = s->scratch, *WtJ = s->scratch + dim * width;
  if (rows->bodies == 2) {
    add_bodies(s, rows, W);
    return;
  }
  if (rows->bodies == 1) {
    add_body(s, rows, W);
    return;
  }
  multiply_rows(rows, W, dim, 1, WJ);
  if (!s->symmetric) multiply_rows(rows, W, 1, dim, WtJ);
  const int* pair = rows->pair;
  for (int p = 0; p < rows->nnode; p++) {
    int a = rows->node[p], da = s->ldu.dim[a], wa = s->ldu.width[a], from = rows->part[p];
    tbReal *D = s->ldu.value + s->ldu.at[a], *U = D + da * da;
    tbReal* C = s->ldu.mirror + s->ldu.skew[a];
    const tbReal* J = rows->J + from;
    add_product(da, dim, da, width, J, WJ + from, D, da);
    for (int q = p + 1; q < rows->nnode; q++, pair++) {
      int n = rows->part[q + 1] - rows->part[q];
      add_product(da, dim, n, width, J, WJ + rows->part[q], U + *pair, wa);
      if (!s->symmetric) add_product(da, dim, n, width, J, WtJ + rows->part[q], C + *pair, wa);
    }
  }
}

static void add_generic(tbVelocity* s, int block, const tbReal* W) {
  add_block(s, block, W);
}

TB_WIDE static void add_avx2(tbVelocity* s, int block, const tbReal* W) {
  add_block(s, block, W);
}

void tb_velocity_add(tbVelocity* s, int block, const tbReal* W) {
  if (s->dense) {
    tb_velocity_dense_add(s, block, W);
  } else if (s->chains && s->chains->last[block] >= 0) {
    tb_composite_chains_add(s, block, W);
  } else if (tb_wide()) {
    add_avx2(s, block, W);
  } else {
    add_generic(s, block, W);
  }
}

bool tb_velocity_factor(tbVelocity* s) {
  if (s->dense) return tb_velocity_dense_factor(s);
  if (s->chains) tb_composite_chains_scatter_sparse(s);
  return tb_ldu_factor(&s->ldu, s->symmetric);
}

void tb_velocity_solve(const tbVelocity* s, tbReal* x) {
  if (s->dense) {
    tb_velocity_dense_solve(s, x);
  } else {
    tb_ldu_solve(&s->ldu, x);
  }
}
