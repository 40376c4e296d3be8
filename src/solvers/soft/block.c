// The soft model's cost of one block, its force (minus the gradient) and its second derivative W.
#include <math.h>
#include <string.h>

#include "solvers/soft/soft.h"

static tbReal quadratic(int dim, const tbReal* D, const tbReal* r, tbReal* force, tbReal* W) {
  tbReal cost = 0;
  for (int i = 0; i < dim; i++) {
    cost += 0.5 * D[i] * r[i] * r[i];
    force[i] = -D[i] * r[i];
    if (W) W[i * dim + i] = D[i];
  }
  return cost;
}

static tbReal one_sided(int dim, const tbReal* D, const tbReal* r, tbReal* force, tbReal* W) {
  tbReal cost = 0;
  for (int i = 0; i < dim; i++) {
    if (r[i] >= 0) continue;
    cost += 0.5 * D[i] * r[i] * r[i];
    force[i] = -D[i] * r[i];
    if (W) W[i * dim + i] = D[i];
  }
  return cost;
}

// Quadratic within bound/D, linear beyond.
static tbReal huber(tbReal bound, tbReal D, tbReal r, tbReal* force, tbReal* W) {
  tbReal edge = bound / D;
  if (r <= -edge) {
    force[0] = bound;
    return -bound * (0.5 * edge + r);
  }
  if (r >= edge) {
    force[0] = -bound;
    return bound * (r - 0.5 * edge);
  }
  return quadratic(1, &D, &r, force, W);
}

// Half the squared distance to the cone. With N = mu r0, U_j = friction_j r_j and T = |U| there are
// three zones: no force (N >= mu T), all rows quadratic (mu N + T <= 0), and between them
// 1/2 Dm (N - mu T)^2 with Dm = D0 / (mu^2 (1 + mu^2)).
static tbReal cone(const tbSoftBlock* b, const tbReal* D, const tbReal* r, tbReal* force,
                   tbReal* W) {
  int dim = b->dim;
  tbReal mu = b->mu, N = mu * r[0], U[6] = {0}, TT = 0;
  for (int j = 1; j < dim; j++) {
    U[j] = r[j] * b->friction[j - 1];
    TT += U[j] * U[j];
  }
  tbReal T = sqrt(TT);
  if (N >= mu * T || (T <= 0 && N >= 0)) return 0;
  if (mu * N + T <= 0 || (T <= 0 && N < 0)) return quadratic(dim, D, r, force, W);

  tbReal Dm = D[0] / (mu * mu * (1 + mu * mu)), gap = N - mu * T, slope = Dm * gap;
  force[0] = -slope * mu;
  for (int j = 1; j < dim; j++) force[j] = slope * mu * U[j] * b->friction[j - 1] / T;
  if (W) {
    tbReal u[6];  // gradient of mu T with respect to r
    for (int j = 1; j < dim; j++) u[j] = mu * U[j] * b->friction[j - 1] / T;
    W[0] = Dm * mu * mu;
    for (int j = 1; j < dim; j++) {
      W[j] = W[j * dim] = -Dm * mu * u[j];
      for (int k = 1; k < dim; k++) W[j * dim + k] = (Dm + slope / (mu * T)) * u[j] * u[k];
      W[j * dim + j] -= slope * mu * b->friction[j - 1] * b->friction[j - 1] / T;
    }
  }
  return 0.5 * Dm * gap * gap;
}

tbReal tb_soft_block(const tbSoftBlock* block, const tbReal* D, const tbReal* r, tbReal* force,
                     tbReal* W) {
  memset(force, 0, sizeof(tbReal) * (size_t)block->dim);
  if (W) memset(W, 0, sizeof(tbReal) * (size_t)(block->dim * block->dim));
  switch (block->kind) {
    case TB_SOFT_EQUALITY: return quadratic(block->dim, D, r, force, W);
    case TB_SOFT_ONE_SIDED: return one_sided(block->dim, D, r, force, W);
    case TB_SOFT_FRICTION: return huber(block->bound, D[0], r[0], force, W);
    default: return cone(block, D, r, force, W);
  }
}
