// The linearised soft law in velocity space (docs/notebook/derivatives.md, eq. 58-59).
#include <string.h>

#include "linalg/dense.h"
#include "linalg/multi_rhs.h"
#include "partials/derivatives.h"

// H += J^T W J of one constraint, lower triangle.
static void add_block(const tbActiveRows* a, tbReal* WJ, tbReal* H, size_t nv) {
  size_t n = (size_t)a->nnz;
  for (int r = 0; r < a->dim; r++) {
    memset(WJ, 0, sizeof(tbReal) * n);
    for (int s = 0; s < a->dim; s++) {
      tbReal w = a->by_sigma[r * a->dim + s];
      const tbReal* J = a->J + (size_t)s * n;
      for (size_t k = 0; w != 0 && k < n; k++) WJ[k] += w * J[k];
    }
    const tbReal* J = a->J + (size_t)r * n;
    for (size_t i = 0; i < n; i++) {
      tbReal* row = H + (size_t)a->col[i] * nv;
      if (J[i] == 0) continue;
      for (size_t k = 0; k <= i; k++) row[a->col[k]] += J[i] * WJ[k];
    }
  }
}

tbResult tb_primal_factor(tbDerivatives* x, const tbReal* M) {
  const tbModel* m = x->m;
  size_t nv = (size_t)m->nv;
  tbReal* H = TB_ARENA_NEW(&x->arena, tbReal, m->nv * m->nv);
  tbReal* copy = tb_arena_alloc(&x->arena, sizeof(tbReal) * (size_t)(m->nM + 1));
  tbReal* scratch = TB_ARENA_NEW(&x->arena, tbReal, tb_cholesky_scratch(m->nv) + m->nv);
  tbReal* Jt = TB_ARENA_NEW(&x->arena, tbReal, m->nv * x->n);
  if (!H || !copy || !scratch || !Jt) return TB_ERROR_MEMORY;
  memcpy(copy, M, sizeof(tbReal) * (size_t)m->nM);
  for (int i = 0; i < m->nv; i++) {
    for (int k = 0; k < m->M_rownnz[i]; k++) {
      H[(size_t)i * nv + (size_t)m->M_colind[m->M_rowadr[i] + k]] = M[m->M_rowadr[i] + k];
    }
  }
  for (int b = 0; b < x->nactive; b++) add_block(&x->active[b], scratch, H, nv);
  if (!tb_cholesky(m->nv, H, m->nv, scratch)) return TB_ERROR_NUMERIC;
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    for (int r = 0; r < a->dim; r++) {
      for (int k = 0; k < a->nnz; k++) {
        Jt[(size_t)a->col[k] * (size_t)x->n + (size_t)(a->row + r)] =
            a->J[(size_t)r * (size_t)a->nnz + (size_t)k];
      }
    }
  }
  x->Jt = Jt;
  x->primal = H;
  x->M = copy;
  return TB_OK;
}

// out (nv x width) += s M X
static void add_M(const tbDerivatives* x, const tbReal* X, tbReal* out, int width) {
  const tbModel* m = x->m;
  size_t w = (size_t)width;
  for (int i = 0; i < m->nv; i++) {
    const tbReal* row = x->M + m->M_rowadr[i];
    const int* col = m->M_colind + m->M_rowadr[i];
    int last = m->M_rownnz[i] - 1;
    tb_add_rows(out + (size_t)i * w, last + 1, row, 1, X, col, width, width);
    for (int k = 0; k < last; k++) {
      tb_add_rows(out + (size_t)col[k] * w, 1, row + k, 1, X + (size_t)i * w, NULL, width, width);
    }
  }
}

// rows <- E - W rows of one constraint, the first `count` of `width` columns.
static void law_rows(const tbActiveRows* a, tbReal* rhs, const tbReal* E, tbReal* room, int width,
                     int count) {
  size_t w = (size_t)width;
  for (int r = 0; r < a->dim; r++) {
    memcpy(room + (size_t)r * w, rhs + (size_t)(a->row + r) * w, sizeof(tbReal) * (size_t)count);
  }
  for (int r = 0; r < a->dim; r++) {
    tbReal *row = rhs + (size_t)(a->row + r) * w, minus[TB_MAX_DIM];
    for (int s = 0; s < a->dim; s++) minus[s] = -a->by_sigma[r * a->dim + s];
    if (E) {
      memcpy(row, E + (size_t)(a->row + r) * w, sizeof(tbReal) * (size_t)count);
    } else {
      memset(row, 0, sizeof(tbReal) * (size_t)count);
    }
    tb_add_rows(row, a->dim, minus, 1, room, NULL, width, count);
  }
}

void tb_primal_solve(tbDerivatives* x, tbReal* force, tbReal* final_force, tbReal* rhs,
                     tbReal* gathered, const tbReal* E, int width) {
  const tbModel* m = x->m;
  size_t w = (size_t)width;
  // final - force, before the law's part is added.
  if (final_force != force) {
    for (size_t i = 0; i < (size_t)m->nv * w; i++) final_force[i] -= force[i];
  }
  // force + J^T (E - W S); only the columns of q and v have S and E.
  int count = width == x->ncol ? 2 * m->nv : width;
  for (int b = 0; b < x->nactive; b++) law_rows(&x->active[b], rhs, E, gathered, width, count);
  for (int i = 0; i < m->nv; i++) {
    tb_add_rows(force + (size_t)i * w, x->n, x->Jt + (size_t)i * (size_t)x->n, 1, rhs, NULL, width,
                count);
  }
  tb_cholesky_solve_multi(m->nv, x->primal, m->nv, force, width, width);
  // J^T df = M da - force, so the second inertia acts on final - force + M da.
  if (final_force == force) return;
  add_M(x, force, final_force, width);
  tb_response_solve(x, &x->final, final_force, width);
}

void tb_primal_solve_transposed(tbDerivatives* x, const tbReal* z, tbReal* force,
                                tbReal* final_force, tbReal* sigma, tbReal* law) {
  const tbModel* m = x->m;
  size_t bytes = sizeof(tbReal) * (size_t)m->nv;
  if (final_force == force) {
    memcpy(force, z, bytes);
  } else {
    memcpy(final_force, z, bytes);
    tb_response_solve_transposed(x, &x->final, final_force);
    memset(force, 0, bytes);
    add_M(x, final_force, force, 1);
  }
  tb_cholesky_solve(m->nv, x->primal, m->nv, force);
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    for (int r = 0; r < a->dim; r++) {
      tbReal sum = 0;
      for (int k = 0; k < a->nnz; k++) {
        sum += a->J[(size_t)r * (size_t)a->nnz + (size_t)k] * force[a->col[k]];
      }
      law[a->row + r] = sum;
    }
    for (int s = 0; s < a->dim; s++) {
      tbReal sum = 0;
      for (int r = 0; r < a->dim; r++) sum -= a->by_sigma[r * a->dim + s] * law[a->row + r];
      sigma[a->row + s] = sum;
    }
  }
  for (int i = 0; final_force != force && i < m->nv; i++) force[i] -= final_force[i];
}
