#include "operator/impulse_factor_sparse.h"

#include <string.h>

#include "linalg/grouplu.h"

struct tbSparseFactor {
  const tbProblem* p;
  tbReal* value;               // the scaled G + R, in the pattern of G
  tbReal *diagonal, *inverse;  // shift, block by block
  int *dim, *row;
  tbGroupLu lu;
};

// Scaled blocks; R is added to the diagonal ones.
static void fill(tbSparseFactor* f, const tbReal* scale) {
  const tbProblem* p = f->p;
  const tbDelassus* G = &p->G;
  for (int i = 0; i < p->nblock; i++) {
    for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
      int j = G->block_column[k], rows = f->dim[i], cols = f->dim[j];
      const tbReal* from = G->block_value + G->block_offset[k];
      tbReal* to = f->value + G->block_offset[k];
      for (int r = 0; r < rows; r++) {
        for (int c = 0; c < cols; c++) {
          int a = f->row[i] + r, b = f->row[j] + c;
          tbReal entry = from[r * cols + c] + (a == b && p->R ? p->R[a] : 0);
          to[r * cols + c] = scale ? scale[a] * entry * scale[b] : entry;
        }
      }
    }
  }
}

tbSparseFactor* tb_factor_sparse_create(const tbProblem* p, const tbReal* scale, tbArena* arena) {
  tbSparseFactor* f = TB_ARENA_NEW(arena, tbSparseFactor, 1);
  if (!f) return NULL;
  size_t values = 0, corner = 0;
  f->p = p;
  f->dim = TB_ARENA_NEW(arena, int, p->nblock + 1);
  f->row = TB_ARENA_NEW(arena, int, p->nblock + 1);
  if (arena->failed) return NULL;
  for (int i = 0; i < p->nblock; i++) {
    f->dim[i] = p->block[i].dim;
    f->row[i] = p->block[i].row;
    corner += (size_t)(f->dim[i] * f->dim[i]);
    for (int k = p->G.block_start[i]; k < p->G.block_start[i + 1]; k++) {
      size_t end =
          (size_t)p->G.block_offset[k] + (size_t)(f->dim[i] * p->block[p->G.block_column[k]].dim);
      if (end > values) values = end;
    }
  }
  f->row[p->nblock] = p->n;
  f->value = TB_ARENA_NEW(arena, tbReal, values);
  f->diagonal = TB_ARENA_NEW(arena, tbReal, corner);
  f->inverse = TB_ARENA_NEW(arena, tbReal, corner);
  if (arena->failed) return NULL;
  fill(f, scale);
  tbBlockPattern pattern = {p->nblock,         f->dim,           f->row, p->G.block_start,
                            p->G.block_column, p->G.block_offset};
  return tb_group_lu_analyze(&f->lu, arena, &pattern, f->value, NULL) ? f : NULL;
}

void tb_factor_sparse_shift(tbSparseFactor* f, const tbReal* shift) {
  tbReal *C = f->diagonal, *inverse = f->inverse;
  for (int i = 0; i < f->p->nblock; i++) {
    int d = f->dim[i];
    for (int r = 0; r < d; r++) {
      C[r * (d + 1)] = shift[f->row[i] + r];
      inverse[r * (d + 1)] = 1 / shift[f->row[i] + r];
    }
    C += d * d;
    inverse += d * d;
  }
  tb_group_lu_factor(&f->lu, f->value, f->diagonal, f->inverse, 0);
}

void tb_factor_sparse_solve(tbSparseFactor* f, const tbReal* b, tbReal* x) {
  if (x != b) memcpy(x, b, (size_t)f->p->n * sizeof *x);
  tb_group_lu_solve(&f->lu, 1, x);
}
