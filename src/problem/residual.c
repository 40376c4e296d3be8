// The one residual function. See docs/manual/problem.md.
#include <math.h>
#include <stdbool.h>

#include "base/kernel.h"
#include "base/minmax.h"
#include "problem/cone.h"
#include "problem/delassus.h"

typedef struct {
  tbReal primal, dual, complementarity;
} BlockResidual;

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
TB_INLINE tbReal dual_distance(const tbBlock* b, tbLaw law, const tbReal* y) {
  tbReal minus[TB_MAX_BLOCK_DIM];
  for (int i = 0; i < b->dim; i++) minus[i] = -y[i];
  tb_block_project(b, law, minus, minus);
  return norm(b->dim, minus);
}

// RaiSim's law (CM eq. 23): Signorini on the normal row, and while in contact lambda minimises the
// block's energy on the cone cut by the plane sigma_N = 0: with the plane's multiplier alpha,
//   K ∋ lambda ⟂ sigma + alpha G_N ∈ K*,   G_N the normal column of the block.
static BlockResidual raisim(const tbProblem* p, int i, const tbReal* lambda, const tbReal* sigma) {
  const tbBlock* b = &p->block[i];
  BlockResidual r = {0, tb_max(-sigma[0], 0), fabs(lambda[0] * sigma[0])};
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

// The usual contact, three rows and one coefficient, without loops: residuals are evaluated so
// often that they dominate the time of small problems. False if squares over- or underflow.
static bool round_cone(const tbBlock* b, tbLaw law, const tbReal* lambda, const tbReal* sigma,
                       BlockResidual* out) {
  tbReal mu = b->mu[0], x2 = lambda[1] * lambda[1] + lambda[2] * lambda[2];
  tbReal y2 = sigma[1] * sigma[1] + sigma[2] * sigma[2];
  if (!(x2 + lambda[0] * lambda[0] < 1e280) || !(y2 + sigma[0] * sigma[0] < 1e280)) return false;
  if ((x2 < 1e-280 && (lambda[1] != 0 || lambda[2] != 0)) ||
      (y2 < 1e-280 && (sigma[1] != 0 || sigma[2] != 0))) {
    return false;
  }
  tbReal x = sqrt(x2), y = sqrt(y2);
  tbReal normal = law == TB_LAW_NCP ? sigma[0] + mu * y : sigma[0];
  BlockResidual r = {0, 0, fabs(lambda[0] * normal + lambda[1] * sigma[1] + lambda[2] * sigma[2])};
  // Outside K the nearest point is the apex or on the side. The same for K*, whose slope is 1 / mu.
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

// Any cone under the exact law. A point in K needs no projection, and Gamma puts sigma in K* if
// sigma_N >= 0.
static BlockResidual elliptic_cone(const tbBlock* b, const tbReal* lambda, const tbReal* sigma) {
  tbReal shift = tb_cone_shift(b->dim, b->mu, sigma), shifted[TB_MAX_BLOCK_DIM] = {0};
  for (int k = 0; k < b->dim; k++) shifted[k] = sigma[k];
  shifted[0] += shift;
  BlockResidual r = {0, 0, fabs(dot(b->dim, lambda, shifted))};
  if (!tb_cone_contains(b->dim, b->mu, lambda)) {
    tbReal projected[TB_MAX_BLOCK_DIM];
    tb_cone_project(b->dim, b->mu, lambda, projected);
    r.primal = distance(b->dim, lambda, projected);
  }
  if (!(shift <= shifted[0])) r.dual = dual_distance(b, TB_LAW_NCP, shifted);
  return r;
}

static BlockResidual cone(const tbProblem* p, int i, tbLaw law, const tbReal* lambda,
                          const tbReal* sigma) {
  const tbBlock* b = &p->block[i];
  BlockResidual result;
  if (b->dim == 3 && b->mu[0] == b->mu[1] && (law == TB_LAW_NCP || law == TB_LAW_CCP) &&
      round_cone(b, law, lambda, sigma, &result)) {
    return result;
  }
  if (law == TB_LAW_RAISIM) return raisim(p, i, lambda, sigma);
  if (law == TB_LAW_NCP) return elliptic_cone(b, lambda, sigma);
  tbReal shifted[TB_MAX_BLOCK_DIM], projected[TB_MAX_BLOCK_DIM];
  for (int k = 0; k < b->dim; k++) shifted[k] = sigma[k];
  if (law == TB_LAW_LCP) shifted[0] += tb_pyramid_shift(b->dim, b->mu, sigma);
  tb_block_project(b, law, lambda, projected);
  return (BlockResidual){distance(b->dim, lambda, projected), dual_distance(b, law, shifted),
                         fabs(dot(b->dim, lambda, shifted))};
}

// The same as box() for a single row, dry friction: half of a robot's rows.
static BlockResidual single(tbReal lower, tbReal upper, tbReal lambda, tbReal sigma) {
  tbReal bound = sigma > 0 ? lower : upper;
  BlockResidual r = {0, 0, 0};
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
static BlockResidual box(const tbBlock* b, const tbReal* lambda, const tbReal* sigma) {
  BlockResidual r = {0, 0, 0};
  tbReal out[TB_MAX_BLOCK_DIM], product = 0, unbounded[TB_MAX_BLOCK_DIM] = {0};
  tb_block_project(b, TB_LAW_NCP, lambda, out);
  r.primal = distance(b->dim, lambda, out);
  for (int k = 0; k < b->dim; k++) {
    if (sigma[k] == 0) continue;
    tbReal bound = sigma[k] > 0 ? b->lower : b->upper;
    if (isfinite(bound)) {
      product += fabs((lambda[k] - bound) * sigma[k]);
    } else {
      unbounded[k] = sigma[k];
    }
  }
  r.dual = norm(b->dim, unbounded);
  r.complementarity = product;
  return r;
}

static BlockResidual block_residual(const tbProblem* p, int i, tbLaw law, const tbReal* lambda,
                                    const tbReal* sigma) {
  const tbBlock* b = &p->block[i];
  BlockResidual r = {0, 0, 0};
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

// The scale of velocities is |g|. If |g| is nearly zero (all bodies at rest without impulses) any
// impulse is an error of the size of the velocity it causes: the scale is then a share of that
// velocity, so that the residual is large but finite. A solution within a thousand times |g| of the
// exact one is not affected by this bound.
static const tbReal LEAST_SHARE = 1e-3;

// The same for impulses: the scale of dry friction with nearly no load is a share of its bound,
// since its complementarity is (bound - lambda) sigma.
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
    BlockResidual part = block_residual(p, i, law, lambda + row, sigma + row);
    tbReal largest = largest_bound(&p->block[i]);
    if (largest > bound) bound = largest;
    if (part.primal > r.primal) r.primal = part.primal;
    if (part.dual > r.dual) r.dual = part.dual;
    if (part.complementarity > r.complementarity) r.complementarity = part.complementarity;
  }
  if (isfinite(moved)) velocity = tb_max(velocity, LEAST_SHARE * moved);
  // Divide one by one, because the product of tiny scales may underflow.
  r.relative =
      tb_max(tb_max(ratio(r.primal, impulse), ratio(r.dual, velocity)),
             ratio(ratio(r.complementarity, tb_max(impulse, LEAST_SHARE * bound)), velocity));
  return r;
}

tbReal tb_residual_absolute(const tbResidual* r) {
  if (!r) return INFINITY;
  return tb_max(r->primal, tb_max(r->dual, r->complementarity));
}
