// The linear system of the law, island by island, and solves with it (docs/notebook/derivatives.md,
// eq. 25, 26 and 54).
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "base/kernel.h"
#include "dynamics/mass.h"
#include "linalg/dense.h"
#include "linalg/multi_rhs.h"
#include "partials/derivatives.h"
#include "tribo/step.h"

void tb_response_solve(const tbDerivatives* x, const tbResponse* r, tbReal* X, int width) {
  if (r->LU) {
    tb_lu_solve_multi(x->nv, r->LU, x->nv, r->pivot, X, width, width);
  } else if (width == 1) {
    tb_ltdl_solve(tb_forest(x->m), r->LD, r->inverse, X);
  } else {
    tb_ltdl_solve_multi(tb_forest(x->m), r->LD, r->inverse, X, width, width);
  }
}

void tb_response_solve_transposed(const tbDerivatives* x, const tbResponse* r, tbReal* z) {
  if (r->LU) {
    tb_lu_solve_transposed(x->nv, r->LU, x->nv, r->pivot, z);
  } else {
    tb_ltdl_solve(tb_forest(x->m), r->LD, r->inverse, z);
  }
}

// ---- factor -------------------------------------------------------------------------------------

// Y = J H^-1, one row per active row.
static tbReal* rows_response(tbDerivatives* x, const tbResponse* r) {
  size_t nv = (size_t)x->nv;
  tbReal* Y = TB_ARENA_NEW(&x->arena, tbReal, x->n * x->nv + 1);
  if (!Y) return NULL;
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    for (int i = 0; i < a->dim; i++) {
      tbReal* y = Y + (size_t)(a->row + i) * nv;
      for (int k = 0; k < a->nnz; k++) y[a->col[k]] = a->J[(size_t)i * (size_t)a->nnz + (size_t)k];
      tb_response_solve(x, r, y, 1);
    }
  }
  return Y;
}

static tbReal row_dot(const tbActiveRows* a, int r, const tbReal* y) {
  const tbReal* J = a->J + (size_t)r * (size_t)a->nnz;
  tbReal sum = 0;
  for (int k = 0; k < a->nnz; k++) sum += J[k] * y[a->col[k]];
  return sum;
}

// c G + R of an island (its active constraints are member[0 .. count)), proximal term included.
static void island_delassus(const tbDerivatives* x, const int* member, int count, int n,
                            tbReal proximal, tbReal* G) {
  tbReal trace = 0;
  for (int p = 0, i = 0; p < count; p++) {
    const tbActiveRows* a = &x->active[member[p]];
    for (int r = 0; r < a->dim; r++, i++) {
      for (int q = 0, j = 0; q < count && j <= i; q++) {
        const tbActiveRows* b = &x->active[member[q]];
        for (int s = 0; s < b->dim && j <= i; s++, j++) {
          tbReal g = x->c * row_dot(a, r, x->law.Y + (size_t)(b->row + s) * (size_t)x->nv);
          G[(size_t)i * (size_t)n + (size_t)j] = G[(size_t)j * (size_t)n + (size_t)i] = g;
        }
      }
      trace += G[(size_t)i * (size_t)n + (size_t)i];
      G[(size_t)i * (size_t)n + (size_t)i] += x->R[a->row + r];
    }
  }
  // The proximal term is relative to each row's own diagonal, since the inertias in one island can
  // differ widely. Rows without movable dofs get a share of the mean.
  const tbReal share = 1e-6;
  for (int i = 0; i < n; i++) {
    tbReal* diagonal = &G[(size_t)i * (size_t)n + (size_t)i];
    *diagonal += proximal * (*diagonal + share * trace / n);
  }
}

// K = by_force + by_sigma (c G + R).
static void island_matrix(const tbDerivatives* x, const int* member, int count, int n,
                          const tbReal* G, tbReal* K) {
  for (int p = 0, i = 0; p < count; p++) {
    const tbActiveRows* a = &x->active[member[p]];
    for (int r = 0; r < a->dim; r++) {
      tbReal* row = K + (size_t)(i + r) * (size_t)n;
      for (int s = 0; s < a->dim; s++) {
        tbReal w = a->by_sigma[r * a->dim + s];
        const tbReal* from = G + (size_t)(i + s) * (size_t)n;
        for (int j = 0; w != 0 && j < n; j++) row[j] += w * from[j];
      }
      for (int s = 0; s < a->dim; s++) row[i + s] += a->by_force[r * a->dim + s];
    }
    i += a->dim;
  }
}

static tbResult factor_island(tbDerivatives* x, const int* member, int count, tbReal proximal,
                              tbIslandSystem* out) {
  int n = 0;
  for (int p = 0; p < count; p++) n += x->active[member[p]].dim;
  out->n = n;
  out->row = TB_ARENA_NEW(&x->arena, int, n);
  out->LU = TB_ARENA_NEW(&x->arena, tbReal, n * n);
  out->pivot = TB_ARENA_NEW(&x->arena, int, n);
  tbReal* G = tb_arena_alloc(&x->arena, sizeof(tbReal) * (size_t)n * (size_t)n);
  if (!out->row || !out->LU || !out->pivot || !G) return TB_ERROR_MEMORY;
  for (int p = 0, i = 0; p < count; p++) {
    for (int r = 0; r < x->active[member[p]].dim; r++) out->row[i++] = x->active[member[p]].row + r;
  }
  island_delassus(x, member, count, n, proximal, G);
  island_matrix(x, member, count, n, G, out->LU);
  if (tb_lu(n, out->LU, n, out->pivot)) return TB_OK;

  // Still singular: use a stronger proximal term.
  const tbReal stronger = 1e-6;
  tbReal size = 0;
  for (int i = 0; i < n; i++) size = tb_max(size, fabs(G[(size_t)i * (size_t)n + (size_t)i]));
  for (int i = 0; i < n; i++) G[(size_t)i * (size_t)n + (size_t)i] += stronger * size + 1e-300;
  memset(out->LU, 0, sizeof(tbReal) * (size_t)n * (size_t)n);
  island_matrix(x, member, count, n, G, out->LU);
  x->info.differentiable = 0;
  return tb_lu(n, out->LU, n, out->pivot) ? TB_OK : TB_ERROR_NUMERIC;
}

// Active constraints by island: a counting sort.
static tbResult factor_islands(tbDerivatives* x, tbReal proximal) {
  int most = 0;
  for (int b = 0; b < x->nactive; b++) {
    if (x->active[b].island >= most) most = x->active[b].island + 1;
  }
  int* start = TB_ARENA_NEW(&x->arena, int, most + 2);
  int* member = TB_ARENA_NEW(&x->arena, int, x->nactive + 1);
  x->island = TB_ARENA_NEW(&x->arena, tbIslandSystem, most + 1);
  if (!start || !member || !x->island) return TB_ERROR_MEMORY;
  for (int b = 0; b < x->nactive; b++) start[x->active[b].island + 2]++;
  for (int i = 2; i < most + 2; i++) start[i] += start[i - 1];
  for (int b = 0; b < x->nactive; b++) member[start[x->active[b].island + 1]++] = b;
  x->nisland = 0;
  for (int i = 0; i < most; i++) {
    int count = start[i + 1] - start[i];
    if (count == 0) continue;
    tbResult result =
        factor_island(x, member + start[i], count, proximal, &x->island[x->nisland++]);
    if (result != TB_OK) return result;
  }
  return TB_OK;
}

tbResult tb_deriv_responses(tbDerivatives* x) {
  x->law.Y = rows_response(x, &x->law);
  return x->law.Y ? TB_OK : TB_ERROR_MEMORY;
}

tbResult tb_deriv_factor(tbDerivatives* x, const tbData* d, tbReal proximal) {
  // One dense factor over all dofs is cheaper for many rows and few dofs.
  if (x->is_compliant && 2 * x->n > x->nv && x->nv < 200) {
    return tb_primal_factor(x, d->qM);
  }
  if (!x->law.Y) x->law.Y = rows_response(x, &x->law);
  int second = x->final.force && x->final.LD != x->law.LD;
  x->final.Y = second ? rows_response(x, &x->final) : x->law.Y;
  if (!x->law.Y || !x->final.Y) return TB_ERROR_MEMORY;
  if (x->presolved) return tb_presolved_factor(x);
  return x->explicit_law ? TB_OK : factor_islands(x, proximal);
}

// ---- solve --------------------------------------------------------------------------------------

// y += s x
static void add_scaled(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, tbReal s, int n) {
  for (int i = 0; i < n; i++) y[i] += s * x[i];
}

void tb_deriv_apply_law(const tbDerivatives* x, tbReal* rhs, const tbReal* E, tbReal* room,
                        int width) {
  size_t w = (size_t)width;
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    if (x->presolved && a->source == TB_SOURCE_EQUALITY) continue;
    tbReal* rows = rhs + (size_t)a->row * w;
    memcpy(room, rows, sizeof(tbReal) * w * (size_t)a->dim);
    if (E) {
      memcpy(rows, E + (size_t)a->row * w, sizeof(tbReal) * w * (size_t)a->dim);
    } else {
      memset(rows, 0, sizeof(tbReal) * w * (size_t)a->dim);
    }
    for (int r = 0; r < a->dim; r++) {
      for (int s = 0; s < a->dim; s++) {
        tbReal by = a->by_sigma[r * a->dim + s];
        if (by != 0) add_scaled(rows + (size_t)r * w, room + (size_t)s * w, -by, width);
      }
    }
  }
}

static void solve_islands(const tbDerivatives* x, tbReal* rhs, tbReal* gathered, int width) {
  size_t w = (size_t)width;
  for (int i = 0; i < x->nisland; i++) {
    const tbIslandSystem* s = &x->island[i];
    if (x->nisland == 1) {
      tb_lu_solve_multi(s->n, s->LU, s->n, s->pivot, rhs, width, width);
      return;
    }
    for (int r = 0; r < s->n; r++) {
      memcpy(gathered + (size_t)r * w, rhs + (size_t)s->row[r] * w, sizeof(tbReal) * w);
    }
    tb_lu_solve_multi(s->n, s->LU, s->n, s->pivot, gathered, width, width);
    for (int r = 0; r < s->n; r++) {
      memcpy(rhs + (size_t)s->row[r] * w, gathered + (size_t)r * w, sizeof(tbReal) * w);
    }
  }
}

void tb_deriv_solve(tbDerivatives* x, tbReal* force, tbReal* final_force, tbReal* rhs,
                    tbReal* gathered, const tbReal* E, int width) {
  if (x->primal) {
    tb_primal_solve(x, force, final_force, rhs, gathered, E, width);
    return;
  }
  if (x->presolved) {
    tb_presolved_solve(x, force, final_force, rhs, gathered, E, width);
    return;
  }
  size_t w = (size_t)width;
  tb_ltdl_solve_multi(tb_forest(x->m), x->law.LD, x->law.inverse, force, width, width);
  if (final_force != force) {
    tb_response_solve(x, &x->final, final_force, width);
  }
  // rhs = S + c J X
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    for (int r = 0; r < a->dim; r++) {
      tbReal* to = rhs + (size_t)(a->row + r) * w;
      memset(gathered, 0, sizeof(tbReal) * w);
      tb_add_rows(gathered, a->nnz, a->J + (size_t)r * (size_t)a->nnz, 1, force, a->col, width,
                  width);
      add_scaled(to, gathered, x->c, width);
    }
  }
  tb_deriv_apply_law(x, rhs, E, gathered, width);
  solve_islands(x, rhs, gathered, width);
  const tbReal* Y = final_force == force ? x->law.Y : x->final.Y;
  for (int i = 0; i < x->nv; i++) {
    tb_add_rows(final_force + (size_t)i * w, x->n, Y + i, x->nv, rhs, NULL, width, width);
  }
}

void tb_active_pull(const tbDerivatives* x, const tbActiveRows* a, const tbReal* law, tbReal* sigma,
                    tbReal* force) {
  for (int s = 0; s < a->dim; s++) {
    tbReal sum = 0;
    for (int r = 0; r < a->dim; r++) sum -= a->by_sigma[r * a->dim + s] * law[a->row + r];
    sigma[a->row + s] = sum;
    for (int k = 0; k < a->nnz; k++) {
      force[a->col[k]] += x->c * sum * a->J[(size_t)s * (size_t)a->nnz + (size_t)k];
    }
  }
}

void tb_deriv_solve_transposed(tbDerivatives* x, const tbReal* z, tbReal* force,
                               tbReal* final_force, tbReal* sigma, tbReal* law) {
  if (x->primal) {
    tb_primal_solve_transposed(x, z, force, final_force, sigma, law);
    return;
  }
  if (x->presolved) {
    tb_presolved_solve_transposed(x, z, force, final_force, sigma, law);
    return;
  }
  size_t nv = (size_t)x->nv;
  tbForest forest = tb_forest(x->m);
  // Adjoint of the forces: law = K^-T (Y z).
  for (int r = 0; r < x->n; r++) {
    tbReal sum = 0;
    for (size_t i = 0; i < nv; i++) sum += x->final.Y[(size_t)r * nv + i] * z[i];
    law[r] = sum;
  }
  for (int i = 0; i < x->nisland; i++) {
    const tbIslandSystem* s = &x->island[i];
    for (int r = 0; r < s->n; r++) sigma[r] = law[s->row[r]];
    tb_lu_solve_transposed(s->n, s->LU, s->n, s->pivot, sigma);
    for (int r = 0; r < s->n; r++) law[s->row[r]] = sigma[r];
  }
  // sigma = -by_sigma^T law, and through J to the accelerations.
  memset(force, 0, sizeof(tbReal) * nv);
  for (int b = 0; b < x->nactive; b++) tb_active_pull(x, &x->active[b], law, sigma, force);
  if (final_force == force) {
    for (size_t i = 0; i < nv; i++) force[i] += z[i];
  } else {
    memcpy(final_force, z, sizeof(tbReal) * nv);
    tb_response_solve_transposed(x, &x->final, final_force);
  }
  tb_ltdl_solve(forest, x->law.LD, x->law.inverse, force);
}
