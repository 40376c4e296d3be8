#include "problem/delassus.h"

#include <string.h>

#include "linalg/simd4.h"

static void apply_dense(const tbProblem* p, const tbReal* x, tbReal* y) {
  for (int i = 0; i < p->n; i++) {
    const tbReal* row = p->G.dense + (size_t)i * (size_t)p->G.stride;
    y[i] += tb_dot_sums(row, x, p->n);
  }
}

static void apply_sparse(const tbProblem* p, const tbReal* x, tbReal* y) {
  const tbDelassus* G = &p->G;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* bi = &p->block[i];
    tbReal sum[TB_MAX_BLOCK_DIM] = {0};
    for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
      const tbBlock* bj = &p->block[G->block_column[k]];
      const tbReal *a = G->block_value + G->block_offset[k], *xj = x + bj->row;
      if (bi->dim == 3 && bj->dim == 3) {
        sum[0] += a[0] * xj[0] + a[1] * xj[1] + a[2] * xj[2];
        sum[1] += a[3] * xj[0] + a[4] * xj[1] + a[5] * xj[2];
        sum[2] += a[6] * xj[0] + a[7] * xj[1] + a[8] * xj[2];
      } else {
        for (int r = 0; r < bi->dim; r++) {
          for (int c = 0; c < bj->dim; c++) sum[r] += a[r * bj->dim + c] * xj[c];
        }
      }
    }
    for (int r = 0; r < bi->dim; r++) y[bi->row + r] += sum[r];
  }
}

static void apply_product(const tbProblem* p, const tbReal* x, tbReal* velocity, tbReal* y) {
  const tbDelassus* G = &p->G;
  memset(velocity, 0, (size_t)G->ncol * sizeof *velocity);
  for (int r = 0; r < p->n; r++) {
    for (int k = G->row_start[r]; k < G->row_start[r + 1]; k++) {
      velocity[G->row_column[k]] += G->row_value[k] * x[r];
    }
  }
  for (int r = 0; r < p->n; r++) {
    tbReal sum = 0;
    for (int k = G->row_start[r]; k < G->row_start[r + 1]; k++) {
      sum += G->row_value[k] * velocity[G->row_column[k]];
    }
    y[r] += sum;
  }
}

// y += G x.
static void add_product(const tbProblem* p, const tbReal* x, tbReal* velocity, tbReal* y) {
  switch (p->G.form) {
    case TB_DELASSUS_DENSE: apply_dense(p, x, y); break;
    case TB_DELASSUS_SPARSE: apply_sparse(p, x, y); break;
    default: apply_product(p, x, velocity, y);
  }
}

void tb_delassus_velocity(const tbProblem* p, const tbReal* lambda, tbReal* velocity,
                          tbReal* sigma) {
  for (int i = 0; i < p->n; i++) sigma[i] = p->g[i] + (p->R ? p->R[i] * lambda[i] : 0);
  add_product(p, lambda, velocity, sigma);
}

void tb_delassus_apply(const tbProblem* p, const tbReal* x, tbReal* velocity, tbReal* y) {
  for (int i = 0; i < p->n; i++) y[i] = p->R ? p->R[i] * x[i] : 0;
  add_product(p, x, velocity, y);
}

tbReal tb_delassus_row_product(const tbDelassus* G, int r, int s) {
  tbReal sum = 0;
  int a = G->row_start[r], b = G->row_start[s];
  while (a < G->row_start[r + 1] && b < G->row_start[s + 1]) {
    if (G->row_column[a] == G->row_column[b]) {
      sum += G->row_value[a++] * G->row_value[b++];
    } else if (G->row_column[a] < G->row_column[b]) {
      a++;
    } else {
      b++;
    }
  }
  return sum;
}

void tb_delassus_diagonal_block(const tbProblem* p, int i, tbReal* out) {
  const tbDelassus* G = &p->G;
  const tbBlock* b = &p->block[i];
  if (G->form == TB_DELASSUS_SPARSE) {
    memset(out, 0, (size_t)(b->dim * b->dim) * sizeof *out);
    for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
      if (G->block_column[k] != i) continue;
      memcpy(out, G->block_value + G->block_offset[k], (size_t)(b->dim * b->dim) * sizeof *out);
    }
  } else {
    for (int r = 0; r < b->dim; r++) {
      for (int c = 0; c < b->dim; c++) {
        out[r * b->dim + c] = G->form == TB_DELASSUS_DENSE
                                  ? G->dense[(size_t)(b->row + r) * (size_t)G->stride + b->row + c]
                                  : tb_delassus_row_product(G, b->row + r, b->row + c);
      }
    }
  }
  if (p->R) {
    for (int r = 0; r < b->dim; r++) out[r * b->dim + r] += p->R[b->row + r];
  }
}

void tb_delassus_dense(const tbProblem* p, tbReal* out) {
  const tbDelassus* G = &p->G;
  size_t n = (size_t)p->n;
  if (G->form == TB_DELASSUS_DENSE) {
    for (size_t i = 0; i < n; i++) {
      memcpy(out + i * n, G->dense + i * (size_t)G->stride, n * sizeof *out);
    }
  } else if (G->form == TB_DELASSUS_SPARSE) {
    memset(out, 0, n * n * sizeof *out);
    for (int i = 0; i < p->nblock; i++) {
      const tbBlock* bi = &p->block[i];
      for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
        const tbBlock* bj = &p->block[G->block_column[k]];
        const tbReal* a = G->block_value + G->block_offset[k];
        for (int r = 0; r < bi->dim; r++) {
          memcpy(out + (size_t)(bi->row + r) * n + bj->row, a + r * bj->dim,
                 (size_t)bj->dim * sizeof *out);
        }
      }
    }
  } else {
    for (int r = 0; r < p->n; r++) {
      for (int s = 0; s <= r; s++) {
        out[(size_t)r * n + (size_t)s] = out[(size_t)s * n + (size_t)r] =
            tb_delassus_row_product(G, r, s);
      }
    }
  }
}
