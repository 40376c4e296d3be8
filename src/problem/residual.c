// The one residual function. See docs/problem.md.
#include <math.h>
#include <stdbool.h>

#include "base/minmax.h"
#include "problem/cone.h"
#include "problem/delassus.h"

typedef struct {
  tbReal primal, dual, complementarity;
} Parts;

static tbReal norm(int n, const tbReal* x) {
  tbReal m = 0, sum = 0;
  for (int i = 0; i < n; i++) m = tb_max(m, fabs(x[i]));
  if (m == 0 || !isfinite(m)) return m;
  for (int i = 0; i < n; i++) sum += (x[i] / m) * (x[i] / m);
  return m * sqrt(sum);
}

static tbReal dot(int n, const tbReal* x, const tbReal* y) {
  tbReal sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

static tbReal distance(int n, const tbReal* x, const tbReal* y) {
  tbReal d[TB_MAX_BLOCK_DIM];
  for (int i = 0; i < n; i++) d[i] = x[i] - y[i];
  return norm(n, d);
}

// dist(y, K*) = |P_K(-y)| (Moreau).
static tbReal dual_distance(const tbBlock* b, tbLaw law, const tbReal* y) {
  tbReal minus[TB_MAX_BLOCK_DIM];
  for (int i = 0; i < b->dim; i++) minus[i] = -y[i];
  tb_block_project(b, law, minus, minus);
  return norm(b->dim, minus);
}

// RaiSim's law (CM eq. 23): Signorini on the normal row, and while in contact lambda minimises the
// block's energy on the cone cut by the plane sigma_N = 0: with the plane's multiplier alpha,
//   K ∋ lambda ⟂ sigma + alpha G_N ∈ K*,   G_N the normal column of the block.
static Parts raisim(const tbProblem* p, int i, const tbReal* lambda, const tbReal* sigma) {
  const tbBlock* b = &p->block[i];
  Parts r = {0, tb_max(-sigma[0], 0), fabs(lambda[0] * sigma[0])};
  tbReal A[TB_MAX_BLOCK_DIM * TB_MAX_BLOCK_DIM], y[TB_MAX_BLOCK_DIM], projected[TB_MAX_BLOCK_DIM];
  tb_cone_project(b->dim, b->mu, lambda, projected);
  r.primal = distance(b->dim, lambda, projected);
  if (norm(b->dim, lambda) == 0) return r;

  // The multiplier that makes the modified velocity orthogonal to lambda.
  tb_delassus_diagonal_block(p, i, A);
  tbReal reach = 0;
  for (int k = 0; k < b->dim; k++) reach += lambda[k] * A[k * b->dim];
  tbReal alpha = reach != 0 ? -dot(b->dim, lambda, sigma) / reach : 0;
  for (int k = 0; k < b->dim; k++) y[k] = sigma[k] + alpha * A[k * b->dim];
  r.dual = tb_max(r.dual, dual_distance(b, TB_LAW_NCP, y));
  return r;
}

// The usual contact, three rows and one coefficient, written out: residuals are taken so often that
// this decides the time of small problems. False where squares over- or underflow.
static bool round_cone(const tbBlock* b, tbLaw law, const tbReal* lambda, const tbReal* sigma,
                       Parts* out) {
  tbReal mu = b->mu[0], x2 = lambda[1] * lambda[1] + lambda[2] * lambda[2];
  tbReal y2 = sigma[1] * sigma[1] + sigma[2] * sigma[2];
  if (!(x2 + lambda[0] * lambda[0] < 1e280) || !(y2 + sigma[0] * sigma[0] < 1e280)) return false;
  if ((x2 < 1e-280 && (lambda[1] != 0 || lambda[2] != 0)) ||
      (y2 < 1e-280 && (sigma[1] != 0 || sigma[2] != 0))) {
    return false;
  }
  tbReal x = sqrt(x2), y = sqrt(y2);
  tbReal normal = law == TB_LAW_NCP ? sigma[0] + mu * y : sigma[0];
  Parts r = {0, 0, fabs(lambda[0] * normal + lambda[1] * sigma[1] + lambda[2] * sigma[2])};
  // Outside of K: nearest to its apex or to its side. The same for K*, whose slope is 1 / mu.
  if (x > mu * lambda[0]) {
    bool apex = mu * x <= -lambda[0];
    r.primal = apex ? sqrt(x2 + lambda[0] * lambda[0]) : (x - mu * lambda[0]) / sqrt(1 + mu * mu);
  }
  if (mu * y > normal) {
    bool apex = y <= -mu * normal;
    r.dual = apex ? sqrt(y2 + normal * normal) : (mu * y - normal) / sqrt(1 + mu * mu);
  }
  *out = r;
  return true;
}

// Any cone under the exact law. What is in K needs no projection, and Gamma puts sigma in K* where
// sigma_N >= 0.
static Parts elliptic_cone(const tbBlock* b, const tbReal* lambda, const tbReal* sigma) {
  tbReal shift = tb_cone_shift(b->dim, b->mu, sigma), shifted[TB_MAX_BLOCK_DIM] = {0};
  for (int k = 0; k < b->dim; k++) shifted[k] = sigma[k];
  shifted[0] += shift;
  Parts r = {0, 0, fabs(dot(b->dim, lambda, shifted))};
  if (!tb_cone_contains(b->dim, b->mu, lambda)) {
    tbReal projected[TB_MAX_BLOCK_DIM];
    tb_cone_project(b->dim, b->mu, lambda, projected);
    r.primal = distance(b->dim, lambda, projected);
  }
  if (!(shift <= shifted[0])) r.dual = dual_distance(b, TB_LAW_NCP, shifted);
  return r;
}

static Parts cone(const tbProblem* p, int i, tbLaw law, const tbReal* lambda, const tbReal* sigma) {
  const tbBlock* b = &p->block[i];
  Parts written_out;
  if (b->dim == 3 && b->mu[0] == b->mu[1] && (law == TB_LAW_NCP || law == TB_LAW_CCP) &&
      round_cone(b, law, lambda, sigma, &written_out)) {
    return written_out;
  }
  if (law == TB_LAW_RAISIM) return raisim(p, i, lambda, sigma);
  if (law == TB_LAW_NCP) return elliptic_cone(b, lambda, sigma);
  tbReal shifted[TB_MAX_BLOCK_DIM], projected[TB_MAX_BLOCK_DIM];
  for (int k = 0; k < b->dim; k++) shifted[k] = sigma[k];
  if (law == TB_LAW_LCP) shifted[0] += tb_pyramid_shift(b->dim, b->mu, sigma);
  tb_block_project(b, law, lambda, projected);
  return (Parts){distance(b->dim, lambda, projected), dual_distance(b, law, shifted),
                 fabs(dot(b->dim, lambda, shifted))};
}

// The same as box() for a single row, dry friction: half of a robot's rows.
static Parts single(tbReal lower, tbReal upper, tbReal lambda, tbReal sigma) {
  tbReal bound = sigma > 0 ? lower : upper;
  Parts r = {0, 0, 0};
  r.primal = lambda < lower ? lower - lambda : lambda > upper ? lambda - upper : 0;
  if (sigma == 0) return r;
  if (isfinite(bound)) {
    r.complementarity = fabs((lambda - bound) * sigma);
  } else {
    r.dual = fabs(sigma);
  }
  return r;
}

// A row between bounds: sigma > 0 only at the lower bound, sigma < 0 only at the upper one.
static Parts box(const tbBlock* b, const tbReal* lambda, const tbReal* sigma) {
  Parts r = {0, 0, 0};
  tbReal out[TB_MAX_BLOCK_DIM], opening = 0, open[TB_MAX_BLOCK_DIM] = {0};
  tb_block_project(b, TB_LAW_NCP, lambda, out);
  r.primal = distance(b->dim, lambda, out);
  for (int k = 0; k < b->dim; k++) {
    if (sigma[k] == 0) continue;
    tbReal bound = sigma[k] > 0 ? b->lower : b->upper;
    if (isfinite(bound)) {
      opening += fabs((lambda[k] - bound) * sigma[k]);
    } else {
      open[k] = sigma[k];
    }
  }
  r.dual = norm(b->dim, open);
  r.complementarity = opening;
  return r;
}

static Parts block_residual(const tbProblem* p, int i, tbLaw law, const tbReal* lambda,
                            const tbReal* sigma) {
  const tbBlock* b = &p->block[i];
  Parts r = {0, 0, 0};
  switch (b->type) {
    case TB_BLOCK_CONE: return cone(p, i, law, lambda, sigma);
    case TB_BLOCK_BOX:
      return b->dim == 1 ? single(b->lower, b->upper, *lambda, *sigma) : box(b, lambda, sigma);
    case TB_BLOCK_ONE_SIDED: {
      if (b->dim == 1) {
        r.primal = *lambda < 0 ? -*lambda : 0;
        r.dual = *sigma < 0 ? -*sigma : 0;
        r.complementarity = fabs(*lambda * *sigma);
        return r;
      }
      tbReal out[TB_MAX_BLOCK_DIM];
      tb_block_project(b, law, lambda, out);
      r.primal = distance(b->dim, lambda, out);
      r.dual = dual_distance(b, law, sigma);
      for (int k = 0; k < b->dim; k++) r.complementarity += fabs(lambda[k] * sigma[k]);
      return r;
    }
    default:
      r.dual = norm(b->dim, sigma);
      r.complementarity = fabs(dot(b->dim, lambda, sigma));
      return r;
  }
}

static tbReal ratio(tbReal x, tbReal scale) {
  return x == 0 ? 0 : scale > 0 ? x / scale : INFINITY;
}

// Velocities are measured by |g|. Where that is next to nothing (all that is free rests) any
// impulse is wrong, by as much as it moves: a part of that, so that the answer is a large number
// and not an infinite one. An answer within a thousand times |g| of the truth never meets this
// guard.
static const tbReal LEAST_PART = 1e-3;

// The same for impulses: dry friction that has next to nothing to hold is measured by a part of
// what it could hold, since its complementarity is (bound - lambda) sigma.
static tbReal largest_bound(const tbBlock* b) {
  if (b->type != TB_BLOCK_BOX) return 0;
  tbReal lower = fabs(b->lower), upper = fabs(b->upper);
  if (!isfinite(lower)) lower = 0;
  if (!isfinite(upper)) upper = 0;
  return lower > upper ? lower : upper;
}

tbResidual tb_residual(const tbProblem* p, tbLaw law, const tbReal* lambda, const tbReal* sigma) {
  tbResidual r = {0, 0, 0, 0};
  tbReal impulse = 0, velocity = 0, moved = 0, bound = 0;
  bool finite = p && (p->n <= 0 || (lambda && sigma && p->g && p->block));
  if (!finite) return (tbResidual){INFINITY, INFINITY, INFINITY, INFINITY};
  for (int i = 0; i < p->n; i++) {
    tbReal size = fabs(lambda[i]), speed = fabs(p->g[i]);
    finite &= (size < INFINITY) & (fabs(sigma[i]) < INFINITY);
    if (size > impulse) impulse = size;
    if (speed > velocity) velocity = speed;
    tbReal change = fabs(sigma[i] - p->g[i]);
    if (change > moved) moved = change;
  }
  if (!finite) return (tbResidual){INFINITY, INFINITY, INFINITY, INFINITY};
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    Parts part = block_residual(p, i, law, lambda + row, sigma + row);
    tbReal largest = largest_bound(&p->block[i]);
    if (largest > bound) bound = largest;
    if (part.primal > r.primal) r.primal = part.primal;
    if (part.dual > r.dual) r.dual = part.dual;
    if (part.complementarity > r.complementarity) r.complementarity = part.complementarity;
  }
  if (isfinite(moved)) velocity = tb_max(velocity, LEAST_PART * moved);
  // Divided one by one, so that tiny scales do not underflow in their product.
  r.relative =
      tb_max(tb_max(ratio(r.primal, impulse), ratio(r.dual, velocity)),
             ratio(ratio(r.complementarity, tb_max(impulse, LEAST_PART * bound)), velocity));
  return r;
}

tbReal tb_residual_absolute(const tbResidual* r) {
  if (!r) return INFINITY;
  return tb_max(r->primal, tb_max(r->dual, r->complementarity));
}
