#include "solvers/admm/anderson.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "linalg/small.h"

bool tb_anderson_init(tbAnderson* a, tbSolve* s, int n, int memory) {
  *a = (tbAnderson){.n = n, .ridge = 1e-10, .reach = 1e4};
  a->memory = memory > TB_ANDERSON_MAX ? TB_ANDERSON_MAX : memory;
  if (a->memory <= 0) return true;
  for (int k = 0; k < a->memory; k++) {
    a->dR[k] = tb_solve_reals(s, (size_t)n);
    a->dT[k] = tb_solve_reals(s, (size_t)n);
  }
  a->r = tb_solve_reals(s, (size_t)n);
  a->last_r = tb_solve_reals(s, (size_t)n);
  a->last_T = tb_solve_reals(s, (size_t)n);
  a->safe = tb_solve_reals(s, (size_t)n);
  return !s->arena->failed;
}

void tb_anderson_reset(tbAnderson* a) {
  a->count = a->next = 0;
  a->started = a->extrapolated = false;
  a->best = INFINITY;
}

static tbReal dot(int n, const tbReal* x, const tbReal* y) {
  tbReal s0 = 0, s1 = 0;
  int i = 0;
  for (; i + 2 <= n; i += 2) {
    s0 += x[i] * y[i];
    s1 += x[i + 1] * y[i + 1];
  }
  return i < n ? s0 + s1 + x[i] * y[i] : s0 + s1;
}

// Keep the newest pair of differences and its products.
static void remember(tbAnderson* a, const tbReal* T) {
  int k = a->next;
  for (int i = 0; i < a->n; i++) {
    a->dR[k][i] = a->r[i] - a->last_r[i];
    a->dT[k][i] = T[i] - a->last_T[i];
  }
  a->next = (k + 1) % a->memory;
  if (a->count < a->memory) a->count++;
  for (int j = 0; j < a->count; j++) {
    tbReal product = dot(a->n, a->dR[k], a->dR[j]);
    a->gram[k * TB_ANDERSON_MAX + j] = a->gram[j * TB_ANDERSON_MAX + k] = product;
  }
}

void tb_anderson_step(tbAnderson* a, tbReal* w, const tbReal* T) {
  size_t bytes = (size_t)a->n * sizeof *w;
  if (a->memory <= 0) {
    memcpy(w, T, bytes);
    return;
  }
  for (int i = 0; i < a->n; i++) a->r[i] = T[i] - w[i];
  tbReal size = sqrt(dot(a->n, a->r, a->r));

  // Worse than before: back to the last plain image.
  if (a->extrapolated && !(size <= 2 * a->best)) {
    memcpy(w, a->safe, bytes);
    tb_anderson_reset(a);
    return;
  }
  a->best = tb_min(a->best, size);
  if (a->started) remember(a, T);
  a->started = true;
  memcpy(a->last_r, a->r, bytes);
  memcpy(a->last_T, T, bytes);
  memcpy(a->safe, T, bytes);
  memcpy(w, T, bytes);
  a->extrapolated = false;
  if (a->count < 2) return;

  // gamma from the regularised normal equations.
  tbReal G[TB_ANDERSON_MAX * TB_ANDERSON_MAX], L[TB_ANDERSON_MAX * TB_ANDERSON_MAX];
  tbReal gamma[TB_ANDERSON_MAX], trace = 0;
  int m = a->count;
  for (int j = 0; j < m; j++) {
    for (int k = 0; k < m; k++) G[j * m + k] = a->gram[j * TB_ANDERSON_MAX + k];
    gamma[j] = dot(a->n, a->dR[j], a->r);
    trace += G[j * (m + 1)];
  }
  if (!(trace > 0) || !tb_small_cholesky(m, G, a->ridge * trace, 0, L)) return;
  tb_small_solve(m, L, gamma, gamma);
  for (int j = 0; j < m; j++) {
    if (!isfinite(gamma[j]) || fabs(gamma[j]) > a->reach) return;
  }
  for (int j = 0; j < m; j++) {
    for (int i = 0; i < a->n; i++) w[i] -= gamma[j] * a->dT[j][i];
  }
  a->extrapolated = true;
}
