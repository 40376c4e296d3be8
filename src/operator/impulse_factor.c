#include "operator/impulse_factor.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "problem/delassus.h"
#include "operator/impulse_factor_sparse.h"
#include "linalg/dense.h"

// Sparse factors pay for large matrices with many zeros.
static bool prefer_sparse(const tbProblem* p) {
  if (p->G.form != TB_DELASSUS_SPARSE || p->n < 100) return false;
  double entries = 0;
  for (int i = 0; i < p->nblock; i++) {
    for (int k = p->G.block_start[i]; k < p->G.block_start[i + 1]; k++) {
      entries += p->block[i].dim * p->block[p->G.block_column[k]].dim;
    }
  }
  return entries < 0.25 * p->n * p->n;
}

static void fill_dense(tbFactor* f) {
  const tbProblem* p = f->p;
  size_t n = (size_t)p->n;
  tb_delassus_dense(p, f->G);
  for (size_t i = 0; i < n; i++) {
    if (p->R) f->G[i * (n + 1)] += p->R[i];
    for (size_t j = 0; j < n && f->scale; j++) f->G[i * n + j] *= f->scale[i] * f->scale[j];
  }
}

static void fill_product(tbFactor* f) {
  const tbDelassus* G = &f->p->G;
  for (int r = 0; r < f->n; r++) {
    for (int k = G->row_start[r]; k < G->row_start[r + 1]; k++) {
      f->B[(size_t)r * (size_t)f->size + (size_t)G->row_column[k]] =
          G->row_value[k] * (f->scale ? f->scale[r] : 1);
    }
  }
}

bool tb_factor_init(tbFactor* f, const tbProblem* p, const tbReal* scale, tbArena* arena) {
  size_t n = (size_t)p->n;
  *f = (tbFactor){.p = p, .scale = scale, .n = p->n, .size = p->n};
  if (prefer_sparse(p)) {
    f->side = TB_FACTOR_SPARSE;
    f->sparse = tb_factor_sparse_create(p, scale, arena);
    return f->sparse != NULL;
  }
  if (p->G.form == TB_DELASSUS_PRODUCT && p->G.ncol < p->n) {
    f->side = TB_FACTOR_VELOCITY;
    f->size = p->G.ncol;
    f->B = TB_ARENA_NEW(arena, tbReal, n * (size_t)f->size);
    f->diagonal = TB_ARENA_NEW(arena, tbReal, n);
  } else {
    f->side = TB_FACTOR_DENSE;
    f->G = TB_ARENA_NEW(arena, tbReal, n * n);
  }
  size_t size = (size_t)f->size;
  f->M = TB_ARENA_NEW(arena, tbReal, size * size);
  f->work = TB_ARENA_NEW(arena, tbReal, n + size);
  f->scratch = TB_ARENA_NEW(arena, tbReal, tb_cholesky_scratch(f->size));
  if (arena->failed) return false;
  if (f->B) fill_product(f);
  if (f->G) fill_dense(f);
  return true;
}

bool tb_factor_shift(tbFactor* f, const tbReal* shift) {
  size_t n = (size_t)f->n, size = (size_t)f->size;
  f->count++;
  if (f->side == TB_FACTOR_SPARSE) {
    tb_factor_sparse_shift(f->sparse, shift);
    return true;
  }
  if (f->side == TB_FACTOR_DENSE) {
    memcpy(f->M, f->G, n * n * sizeof *f->M);
    for (size_t i = 0; i < n; i++) f->M[i * (n + 1)] += shift[i];
    return tb_cholesky(f->n, f->M, f->n, f->scratch);
  }

  // Lower triangle of I + B^T D^-1 B, row by row of B, skipping its zeros.
  const tbReal* R = f->p->R;
  memset(f->M, 0, size * size * sizeof *f->M);
  for (size_t k = 0; k < size; k++) f->M[k * (size + 1)] = 1;
  for (size_t r = 0; r < n; r++) {
    tbReal s = f->scale ? f->scale[r] : 1;
    f->diagonal[r] = shift[r] + (R ? s * s * R[r] : 0);
    const tbReal* row = f->B + r * size;
    for (size_t a = 0; a < size; a++) {
      if (row[a] == 0) continue;
      tbReal v = row[a] / f->diagonal[r];
      for (size_t b = 0; b <= a; b++) f->M[a * size + b] += v * row[b];
    }
  }
  return tb_cholesky(f->size, f->M, f->size, f->scratch);
}

void tb_factor_solve(tbFactor* f, const tbReal* b, tbReal* x) {
  size_t n = (size_t)f->n, size = (size_t)f->size;
  if (f->side == TB_FACTOR_SPARSE) {
    tb_factor_sparse_solve(f->sparse, b, x);
    return;
  }
  if (f->side == TB_FACTOR_DENSE) {
    if (x != b) memcpy(x, b, n * sizeof *x);
    tb_cholesky_solve(f->n, f->M, f->n, x);
    return;
  }
  // x = D^-1 (b - B w), (I + B^T D^-1 B) w = B^T D^-1 b.
  tbReal* w = f->work;
  memset(w, 0, size * sizeof *w);
  for (size_t r = 0; r < n; r++) {
    tbReal v = b[r] / f->diagonal[r];
    const tbReal* row = f->B + r * size;
    for (size_t k = 0; k < size; k++) w[k] += row[k] * v;
  }
  tb_cholesky_solve(f->size, f->M, f->size, w);
  for (size_t r = 0; r < n; r++) {
    const tbReal* row = f->B + r * size;
    tbReal sum = 0;
    for (size_t k = 0; k < size; k++) sum += row[k] * w[k];
    x[r] = (b[r] - sum) / f->diagonal[r];
  }
}

// Normalise v; a zero or non-finite v is replaced by a vector with components along every
// eigenvector, the same on every machine.
static tbReal normalise(int n, tbReal* v) {
  tbReal norm = 0;
  for (int i = 0; i < n; i++) norm += v[i] * v[i];
  norm = sqrt(norm);
  if (!(norm > 0) || !isfinite(norm)) {
    for (int i = 0; i < n; i++) v[i] = 1 + 0.5 * tb_sin(1.0 + 12.9898 * i);
    return normalise(n, v);
  }
  for (int i = 0; i < n; i++) v[i] /= norm;
  return norm;
}

tbReal tb_eigen_largest(const tbProblem* p, const tbReal* scale, int iterations, tbReal* v,
                        tbReal* work) {
  if (p->n == 0) return 0;
  tbReal value = 0, *y = work, *velocity = work + p->n;
  normalise(p->n, v);
  for (int k = 0; k < iterations; k++) {
    for (int i = 0; i < p->n && scale; i++) v[i] *= scale[i];
    tb_delassus_apply(p, v, velocity, y);
    for (int i = 0; i < p->n; i++) v[i] = scale ? y[i] * scale[i] : y[i];
    tbReal next = 0;
    for (int i = 0; i < p->n; i++) next += v[i] * v[i];
    next = sqrt(next);
    if (!(next > 0)) return 0;
    normalise(p->n, v);
    bool converged = fabs(next - value) <= 1e-3 * next;
    value = next;
    if (converged) break;
  }
  return value;
}

tbReal tb_eigen_smallest(tbFactor* f, tbReal shift, int iterations, tbReal* v, tbReal* work) {
  if (f->n == 0) return 0;
  tbReal value = 0;
  normalise(f->n, v);
  for (int k = 0; k < iterations; k++) {
    tb_factor_solve(f, v, work);
    tbReal next = 0;
    for (int i = 0; i < f->n; i++) next += work[i] * work[i];
    next = sqrt(next);
    if (!(next > 0) || !isfinite(next)) return 0;
    memcpy(v, work, (size_t)f->n * sizeof *v);
    normalise(f->n, v);
    bool converged = fabs(next - value) <= 1e-3 * next;
    value = next;
    if (converged) break;
  }
  return tb_max(0, 1 / value - shift);
}
