// The complementarity-free law with equalities, linearised (docs/notebook/derivatives.md, eq.
// 61-62). Equalities are satisfied twice, in the prediction that contacts use and at the end of the
// step:
//
//     dacc_free = X + Y_e^T df_0,                    K df_0 = -(S_0 + h J_e X)
//     df_c      = E - by_sigma (S + h J_c dacc_free)
//     dacc      = X' + Y_c^T df_c + Y_e^T df_e,      K df_e = -(S_1 + h J_e (X' + Y_c^T df_c))
#include <string.h>

#include "dynamics/mass.h"
#include "linalg/dense.h"
#include "linalg/multi_rhs.h"
#include "partials/derivatives.h"

static int is_held(const tbActiveRows* a) {
  return a->source == TB_SOURCE_EQUALITY;
}

tbResult tb_presolved_factor(tbDerivatives* x) {
  tbPresolvedSystem* h = x->presolved;
  h->n = 0;
  for (int b = 0; b < x->nactive; b++) h->n += is_held(&x->active[b]) ? x->active[b].dim : 0;
  size_t n = (size_t)h->n, nv = (size_t)x->nv;
  h->row = tb_arena_alloc(&x->arena, sizeof(int) * (n + 1));
  h->L = TB_ARENA_NEW(&x->arena, tbReal, n * n + 1);
  h->scratch = TB_ARENA_NEW(&x->arena, tbReal, tb_cholesky_scratch(h->n) + h->n + 1);
  if (!h->row || !h->L || !h->scratch) return TB_ERROR_MEMORY;
  size_t i = 0;
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    for (int r = 0; is_held(a) && r < a->dim; r++) h->row[i++] = a->row + r;
  }
  i = 0;
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    for (int r = 0; is_held(a) && r < a->dim; r++, i++) {
      const tbReal* J = a->J + (size_t)r * (size_t)a->nnz;
      for (size_t j = 0; j < n; j++) {
        const tbReal* y = x->law.Y + (size_t)h->row[j] * nv;
        for (int k = 0; k < a->nnz; k++) h->L[i * n + j] += x->c * J[k] * y[a->col[k]];
      }
      tbReal* diagonal = &h->L[i * n + i];
      *diagonal = *diagonal > 0 ? *diagonal + x->R[h->row[i]] : x->c;
    }
  }
  return tb_cholesky(h->n, h->L, h->n, h->scratch) ? TB_OK : TB_ERROR_NUMERIC;
}

// out (rows of a) = start + c J acc.
static void add_velocity(const tbDerivatives* x, const tbActiveRows* a, const tbReal* acc,
                         const tbReal* start, tbReal* out, int width) {
  size_t w = (size_t)width;
  for (int r = 0; r < a->dim; r++) {
    tbReal* to = out + (size_t)r * w;
    memset(to, 0, sizeof(tbReal) * w);
    tb_add_rows(to, a->nnz, a->J + (size_t)r * (size_t)a->nnz, 1, acc, a->col, width, width);
    for (size_t k = 0; k < w; k++) {
      to[k] = x->c * to[k] + (start ? start[(size_t)r * w + k] : 0);
    }
  }
}

// acc += Y_e^T df with df = -K^-1 (S + c J_e acc); `df`: rows of equalities, consecutively.
static void hold(const tbDerivatives* x, const tbReal* S, tbReal* acc, tbReal* df, int width) {
  const tbPresolvedSystem* h = x->presolved;
  size_t w = (size_t)width, i = 0;
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    if (!is_held(a)) continue;
    add_velocity(x, a, acc, S ? S + (size_t)a->row * w : NULL, df + i * w, width);
    i += (size_t)a->dim;
  }
  for (size_t k = 0; k < i * w; k++) df[k] = -df[k];
  tb_cholesky_solve_multi(h->n, h->L, h->n, df, width, width);
  for (size_t r = 0; r < i; r++) {
    const tbReal* y = x->law.Y + (size_t)h->row[r] * (size_t)x->nv;
    for (int dof = 0; dof < x->nv; dof++) {
      if (y[dof] == 0) continue;
      tb_add_rows(acc + (size_t)dof * w, 1, y + dof, 1, df + r * w, NULL, width, width);
    }
  }
}

void tb_presolved_solve(tbDerivatives* x, tbReal* force, tbReal* final_force, tbReal* rhs,
                        tbReal* gathered, const tbReal* E, int width) {
  size_t w = (size_t)width;
  tb_ltdl_solve_multi(tb_forest(x->m), x->law.LD, x->law.inverse, force, width, width);
  tb_ltdl_solve_multi(tb_forest(x->m), x->law.LD, x->law.inverse, final_force, width, width);
  // The prediction, with equalities satisfied.
  hold(x, rhs, force, gathered, width);
  // The contact impulses of the law.
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    if (is_held(a)) continue;
    tbReal* rows = rhs + (size_t)a->row * w;
    add_velocity(x, a, force, rows, gathered, width);
    memcpy(rows, gathered, sizeof(tbReal) * w * (size_t)a->dim);
  }
  tb_deriv_apply_law(x, rhs, E, gathered, width);
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    if (is_held(a)) continue;
    for (int dof = 0; dof < x->nv; dof++) {
      tb_add_rows(final_force + (size_t)dof * w, a->dim,
                  x->law.Y + (size_t)a->row * (size_t)x->nv + dof, x->nv, rhs + (size_t)a->row * w,
                  NULL, width, width);
    }
  }
  // The end of the step, with equalities satisfied.
  hold(x, E, final_force, gathered, width);
  for (int i = 0; i < x->presolved->n; i++) {
    memcpy(rhs + (size_t)x->presolved->row[i] * w, gathered + (size_t)i * w, sizeof(tbReal) * w);
  }
}

// The adjoint of `hold`: acc (nv) goes from the adjoint of the result to that of the input; `S` (by
// active row) gets that of S. `scratch`: equality rows.
static void hold_transposed(const tbDerivatives* x, tbReal* acc, tbReal* S, tbReal* scratch) {
  const tbPresolvedSystem* h = x->presolved;
  for (int i = 0; i < h->n; i++) {
    const tbReal* y = x->law.Y + (size_t)h->row[i] * (size_t)x->nv;
    scratch[i] = 0;
    for (int k = 0; k < x->nv; k++) scratch[i] -= y[k] * acc[k];
  }
  tb_cholesky_solve(h->n, h->L, h->n, scratch);
  for (int i = 0; i < h->n; i++) S[h->row[i]] = scratch[i];
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    for (int r = 0; is_held(a) && r < a->dim; r++) {
      const tbReal* J = a->J + (size_t)r * (size_t)a->nnz;
      for (int k = 0; k < a->nnz; k++) acc[a->col[k]] += x->c * J[k] * S[a->row + r];
    }
  }
}

void tb_presolved_solve_transposed(tbDerivatives* x, const tbReal* z, tbReal* force,
                                   tbReal* final_force, tbReal* sigma, tbReal* law) {
  size_t nv = (size_t)x->nv;
  memcpy(final_force, z, sizeof(tbReal) * nv);
  hold_transposed(x, final_force, law, x->presolved->scratch);
  memset(force, 0, sizeof(tbReal) * nv);
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    if (is_held(a)) continue;
    for (int r = 0; r < a->dim; r++) {
      const tbReal* y = x->law.Y + (size_t)(a->row + r) * nv;
      law[a->row + r] = 0;
      for (size_t k = 0; k < nv; k++) law[a->row + r] += y[k] * final_force[k];
    }
    tb_active_pull(x, a, law, sigma, force);
  }
  hold_transposed(x, force, sigma, x->presolved->scratch);
  tb_ltdl_solve(tb_forest(x->m), x->law.LD, x->law.inverse, final_force);
  tb_ltdl_solve(tb_forest(x->m), x->law.LD, x->law.inverse, force);
}
