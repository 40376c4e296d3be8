// Products and solves with M by the sparsity of the tree (docs/manual/dynamics.md, eq. 13-16).
#include "dynamics/mass.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "model/workspace.h"
#include "tribo/dynamics.h"

static tbResult factor(const tbModel* m, const tbData* d) {
  d->work->unfactored = 0;
  memcpy(d->qLD, d->qM, (size_t)m->nM * sizeof(tbReal));
  bool heavy = true;
  for (int i = 0; i < m->nv; i++) heavy &= d->qM[m->M_rowadr[i] + m->M_rownnz[i] - 1] > 0;
  // Joints with identical effect (two hinges on one axis) make M singular: only the last of them
  // moves.
  if (heavy && tb_ltdl_factor(tb_forest(m), d->qLD, d->qLDiagInv, TB_LEAST_PIVOT) < 0) return TB_OK;
  // Solves without a valid factor give NaN, which cannot be mistaken for a result.
  for (int i = 0; i < m->nv; i++) d->qLDiagInv[i] = NAN;
  return TB_ERROR_NUMERIC;
}

tbResult tb_factor_m(const tbModel* m, tbData* d) {
  if (!tb_is_data_of(m, d)) return TB_ERROR_ARGUMENT;
  return factor(m, d);
}

void tb_factor_ready(const tbModel* m, const tbData* d) {
  if (d->work->unfactored) factor(m, d);
}

void tb_full_m(const tbModel* m, const tbData* d, tbReal* M) {
  if (!tb_is_world_of(m, d) || !M) return;
  size_t nv = (size_t)m->nv;
  memset(M, 0, nv * nv * sizeof(tbReal));
  for (size_t i = 0; i < nv; i++) {
    for (int k = 0; k < m->M_rownnz[i]; k++) {
      size_t j = (size_t)m->M_colind[m->M_rowadr[i] + k];
      M[i * nv + j] = M[j * nv + i] = d->qM[m->M_rowadr[i] + k];
    }
  }
}

void tb_mul_m(const tbModel* m, const tbData* d, tbReal* r, const tbReal* v) {
  if (!tb_is_data_of(m, d) || !r || !v) return;
  tb_forest_mul(tb_forest(m), d->qM, r, v);
}

static void copy_rows(const tbModel* m, tbReal* x, const tbReal* y, int n) {
  if (x != y) memcpy(x, y, (size_t)n * (size_t)m->nv * sizeof(tbReal));
}

void tb_solve_m(const tbModel* m, const tbData* d, tbReal* x, const tbReal* y, int n) {
  if (!tb_is_data_of(m, d) || !x || !y || n <= 0) return;
  tb_factor_ready(m, d);
  copy_rows(m, x, y, n);
  for (int r = 0; r < n; r++) {
    tb_ltdl_solve(tb_forest(m), d->qLD, d->qLDiagInv, x + (size_t)r * (size_t)m->nv);
  }
}

void tb_half_solve_m(const tbModel* m, const tbData* d, tbReal* x, const tbReal* y, int n) {
  if (!tb_is_data_of(m, d) || !x || !y || n <= 0) return;
  tb_factor_ready(m, d);
  copy_rows(m, x, y, n);
  for (int r = 0; r < n; r++) {
    tb_ltdl_half_solve(tb_forest(m), d->qLD, d->qLDiagInv, x + (size_t)r * (size_t)m->nv);
  }
}

void tb_half_solve_support(const tbModel* m, const tbData* d, const int* support, int nsupport,
                           tbReal* x, int stride, int n) {
  if (!tb_is_data_of(m, d) || !support || !x) return;
  tb_factor_ready(m, d);
  tb_ltdl_half_solve_support(tb_forest(m), d->qLD, d->qLDiagInv, support, nsupport, x, stride, n);
}
