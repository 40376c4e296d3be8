#include "solvers/prox_newton/impulse_space.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/minmax.h"
#include "linalg/bracket.h"

enum { MAX = TB_MAX_BLOCK_DIM, MOST_TRIALS = 30 };

static tbReal widest_mu(const tbBlock* b) {
  tbReal widest = 0;
  for (int j = 1; j < b->dim; j++) widest = tb_max(widest, b->mu[j - 1]);
  return widest;
}

void tb_prox_cone_rows(const tbBlock* b, tbReal* E) {
  tbReal widest = widest_mu(b);
  for (int r = 1; r < b->dim; r++) {
    tbReal ratio = b->mu[r - 1] > 0 ? widest / b->mu[r - 1] : 0;
    E[r] = E[0] * ratio * ratio;
  }
}

// Projection on |x_T| <= mu x_N and, unless W is NULL, its derivative (dim x dim, zero on entry).
static void project_round(int dim, tbReal mu, tbReal* x, tbReal* W) {
  tbReal tt = 0;
  for (int i = 1; i < dim; i++) tt += x[i] * x[i];
  tbReal t = sqrt(tt), k = 1 / (1 + mu * mu);
  if (t <= mu * x[0]) {
    for (int i = 0; W && i < dim; i++) W[i * dim + i] = 1;
    return;
  }
  if (mu * t <= -x[0]) {
    for (int i = 0; i < dim; i++) x[i] = 0;
    return;
  }
  // On the boundary: along (1, mu x_T / t), of length a.
  tbReal a = k * (x[0] + mu * t);
  for (int i = 1; W && i < dim; i++) {
    tbReal ui = x[i] / t;
    W[i] = W[i * dim] = k * mu * ui;
    for (int j = 1; j < dim; j++) {
      tbReal uj = x[j] / t;
      W[i * dim + j] = k * mu * mu * ui * uj + a * mu / t * ((i == j) - ui * uj);
    }
  }
  if (W) W[0] = k;
  for (int i = 1; i < dim; i++) x[i] *= a * mu / t;
  x[0] = a;
}

static void row_impulses(const tbBlock* b, const tbReal* E, const tbReal* z, tbReal* lambda,
                         tbReal* W) {
  for (int r = 0; r < b->dim; r++) {
    tbReal free = z[r] / E[r], kept = free;
    if (b->type == TB_BLOCK_ONE_SIDED) kept = tb_max(0, free);
    if (b->type == TB_BLOCK_BOX) kept = tb_min(b->upper, tb_max(b->lower, free));
    lambda[r] = kept;
    if (W && kept == free) W[r * b->dim + r] = 1 / E[r];
  }
}

void tb_prox_impulse(const tbBlock* b, const tbReal* E, const tbReal* z, tbReal* lambda,
                     tbReal* W) {
  int d = b->dim;
  if (W) memset(W, 0, sizeof(tbReal) * (size_t)(d * d));
  if (b->type != TB_BLOCK_CONE) {
    row_impulses(b, E, z, lambda, W);
    return;
  }
  // In the coordinates S lambda the metric is E_N and the cone is round.
  tbReal widest = widest_mu(b), S[MAX];
  for (int r = 0; r < d; r++) {
    S[r] = r == 0 ? 1 : b->mu[r - 1] > 0 ? widest / b->mu[r - 1] : 0;
    lambda[r] = S[r] > 0 ? z[r] / (E[0] * S[r]) : 0;
  }
  project_round(d, widest, lambda, W);
  for (int r = 0; r < d; r++) lambda[r] = S[r] > 0 ? lambda[r] / S[r] : 0;
  for (int r = 0; W && r < d; r++) {
    for (int k = 0; k < d; k++) {
      bool both = S[r] > 0 && S[k] > 0;
      W[r * d + k] = both ? W[r * d + k] / (E[0] * S[r] * S[k]) : 0;
    }
  }
}

// Slope and curvature at t; `quadratic` and `linear` are the coefficients of the velocity term.
static tbReal line_slope(const tbProblem* p, const tbReal* E, const tbReal* z, const tbReal* v,
                         tbReal t, tbReal quadratic, tbReal linear, tbReal* curvature) {
  tbReal slope = linear + t * quadratic;
  *curvature = quadratic;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    const tbReal* along = v + b->row;
    tbReal at[MAX], lambda[MAX], W[MAX * MAX];
    for (int r = 0; r < b->dim; r++) at[r] = z[b->row + r] - t * along[r];
    tb_prox_impulse(b, E + b->row, at, lambda, W);
    for (int r = 0; r < b->dim; r++) {
      slope -= lambda[r] * along[r];
      for (int k = 0; k < b->dim; k++) *curvature += along[r] * W[r * b->dim + k] * along[k];
    }
  }
  return slope;
}

tbReal tb_prox_line_search(const tbProblem* p, const tbReal* E, const tbReal* z, const tbReal* v,
                           tbReal quadratic, tbReal linear, tbReal first, tbReal accuracy) {
  tbBracket bracket = {0, INFINITY};
  tbReal curvature, t = 1;
  // One trial suffices when no block changes its zone.
  for (int k = 0; k < MOST_TRIALS; k++) {
    tbReal slope = line_slope(p, E, z, v, t, quadratic, linear, &curvature);
    if (fabs(slope) <= accuracy * fabs(first)) break;
    tbReal next = tb_bracket_next(&bracket, t, slope, curvature);
    if (fabs(next - t) <= 1e-14 * fabs(t)) break;
    t = next;
  }
  return t;
}
