#include "contact/factor_sparse.h"

#ifdef TB_WITH_CHOLMOD

#include <cholmod.h>
#include <stdlib.h>
#include <string.h>

struct tbSparseFactor {
  int n;
  cholmod_common common;
  cholmod_sparse* A;  // lower triangle of the scaled G + R, columns ascending
  double* base;       // its values without shift
  int* diagonal;      // where the diagonal entries lie
  cholmod_factor* L;
  cholmod_dense *b, *x, *y, *e;
};

bool tb_factor_sparse_available(void) {
  return true;
}

void tb_factor_sparse_free(tbSparseFactor* f) {
  if (!f) return;
  cholmod_free_dense(&f->b, &f->common);
  cholmod_free_dense(&f->x, &f->common);
  cholmod_free_dense(&f->y, &f->common);
  cholmod_free_dense(&f->e, &f->common);
  cholmod_free_factor(&f->L, &f->common);
  cholmod_free_sparse(&f->A, &f->common);
  cholmod_finish(&f->common);
  free(f->base);
  free(f->diagonal);
  free(f);
}

// By symmetry, block row i holds column i of the lower triangle, at the rows of its columns.
static void fill(tbSparseFactor* f, const tbProblem* p, const tbReal* scale) {
  const tbDelassus* G = &p->G;
  int *start = f->A->p, *row = f->A->i, at = 0;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* bi = &p->block[i];
    for (int r = 0; r < bi->dim; r++) {
      int column = bi->row + r;
      start[column] = at;
      for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
        const tbBlock* bj = &p->block[G->block_column[k]];
        const tbReal* a = G->block_value + G->block_offset[k];
        for (int c = 0; c < bj->dim; c++) {
          int other = bj->row + c;
          if (other < column) continue;
          if (other == column) f->diagonal[column] = at;
          tbReal s = scale ? scale[other] * scale[column] : 1;
          row[at] = other;
          f->base[at] = s * a[r * bj->dim + c];
          if (other == column && p->R) f->base[at] += s * p->R[column];
          at++;
        }
      }
    }
  }
  start[p->n] = at;
}

tbSparseFactor* tb_factor_sparse_create(const tbProblem* p, const tbReal* scale) {
  tbSparseFactor* f = calloc(1, sizeof *f);
  if (!f) return NULL;
  cholmod_start(&f->common);
  f->common.print = 0;
  f->n = p->n;
  size_t entries = 0;
  for (int i = 0; i < p->nblock; i++) {
    for (int k = p->G.block_start[i]; k < p->G.block_start[i + 1]; k++) {
      entries += (size_t)(p->block[i].dim * p->block[p->G.block_column[k]].dim);
    }
  }
  f->A = cholmod_allocate_sparse((size_t)p->n, (size_t)p->n, entries, 0, 1, -1, CHOLMOD_REAL,
                                 &f->common);
  f->b = cholmod_allocate_dense((size_t)p->n, 1, (size_t)p->n, CHOLMOD_REAL, &f->common);
  f->base = malloc((entries + 1) * sizeof *f->base);
  f->diagonal = malloc(((size_t)p->n + 1) * sizeof *f->diagonal);
  if (!f->A || !f->b || !f->base || !f->diagonal) {
    tb_factor_sparse_free(f);
    return NULL;
  }
  fill(f, p, scale);
  f->L = cholmod_analyze(f->A, &f->common);
  if (!f->L) {
    tb_factor_sparse_free(f);
    return NULL;
  }
  return f;
}

bool tb_factor_sparse_shift(tbSparseFactor* f, const tbReal* shift) {
  double* value = f->A->x;
  int entries = ((int*)f->A->p)[f->n];
  memcpy(value, f->base, (size_t)entries * sizeof *value);
  for (int i = 0; i < f->n; i++) value[f->diagonal[i]] += shift[i];
  return cholmod_factorize(f->A, f->L, &f->common) && f->common.status == CHOLMOD_OK;
}

void tb_factor_sparse_solve(tbSparseFactor* f, const tbReal* b, tbReal* x) {
  memcpy(f->b->x, b, (size_t)f->n * sizeof *b);
  cholmod_solve2(CHOLMOD_A, f->L, f->b, NULL, &f->x, NULL, &f->y, &f->e, &f->common);
  if (f->x) memcpy(x, f->x->x, (size_t)f->n * sizeof *x);
}

#else

bool tb_factor_sparse_available(void) {
  return false;
}

tbSparseFactor* tb_factor_sparse_create(const tbProblem* p, const tbReal* scale) {
  (void)p;
  (void)scale;
  return NULL;
}

void tb_factor_sparse_free(tbSparseFactor* sparse) {
  (void)sparse;
}

bool tb_factor_sparse_shift(tbSparseFactor* sparse, const tbReal* shift) {
  (void)sparse;
  (void)shift;
  return false;
}

void tb_factor_sparse_solve(tbSparseFactor* sparse, const tbReal* b, tbReal* x) {
  (void)sparse;
  (void)b;
  (void)x;
}

#endif
