// Semismooth Newton (block.c) on an island, with the sparse LU of the interior-point method.
//
// The Jacobian is C + D G with singular D: apart contacts have D = 0, sliding ones have no D along
// the direction of sliding. With T = D + delta C and E = T^-1 C,
//
//     T^-1 (C + D G) = E + G - delta E G                                                    (1)
//
// and for a small delta the last term is a small relative error of the step, which the next
// iteration removes: the matrix to factor is G + E, as in the interior-point method.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/islands/island.h"
#include "solvers/newton/newton.h"

enum { MAX = TB_MAX_BLOCK_DIM, REFINEMENTS = 3 };

static const tbReal DELTA = 1e-8;
// The proximal term over the diagonal; a step that descends multiplies it by DECREASE, a failed one
// by INCREASE.
static const tbReal LEAST_PROXIMAL = 1e-10, FIRST_PROXIMAL = 1e-7, MOST_PROXIMAL = 1e-2;
static const tbReal DECREASE = 0.1, INCREASE = 100;
// The shortest step length tried. A step of length t must reduce |F| by the share DESCENT t.
static const tbReal SHORTEST = 0.02, DESCENT = 0.1;
// Pivots below this share of their diagonal count as rounding error.
static const tbReal LEAST_PIVOT = 1e-14;

typedef struct {
  tbSolveIsland* island;
  tbReal *rho, *F, *dx, *trial, *sigma, *E, *inverse;
  tbReal proximal;
} Newton;

static bool newton_alloc(Newton* q, tbSolveIsland* island) {
  size_t n = (size_t)island->p.n, corner = 0;
  for (int i = 0; i < island->p.nblock; i++) corner += (size_t)(island->dim[i] * island->dim[i]);
  tbReal** vectors[] = {&q->rho, &q->F, &q->dx, &q->trial, &q->sigma};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
    *vectors[k] = TB_ARENA_NEW(island->arena, tbReal, n + 1);
  }
  q->E = TB_ARENA_NEW(island->arena, tbReal, corner + 1);
  q->inverse = TB_ARENA_NEW(island->arena, tbReal, corner + 1);
  q->island = island;
  return !island->arena->failed;
}

static bool without_friction(const tbBlock* b, int r) {
  return b->type == TB_BLOCK_CONE && r > 0 && b->mu[r - 1] == 0;
}

// rho: the inverse of the diagonal, one value for the tangents of a cone.
static void choose_rho(Newton* q) {
  const tbSolveIsland* island = q->island;
  for (int i = 0; i < island->p.nblock; i++) {
    const tbBlock* b = &island->p.block[i];
    const tbReal* A = island->scaled + island->p.G.block_offset[island->diagonal[i]];
    tbReal* rho = q->rho + b->row;
    tbReal tangential = 0;
    for (int r = 0; r < b->dim; r++) {
      tbReal d = A[r * (b->dim + 1)];
      rho[r] = d > 0 ? 1 / d : 1;
      if (r > 0 && !without_friction(b, r)) tangential = tb_max(tangential, d);
    }
    for (int r = 1; r < b->dim && b->type == TB_BLOCK_CONE; r++) {
      rho[r] = tangential > 0 ? 1 / tangential : 1;
    }
  }
}

// F, C, D of block i at lambda with the velocity in q->sigma.
static void block_equation(const Newton* q, int i, const tbReal* lambda, tbNewtonEquations out) {
  const tbBlock* b = &q->island->p.block[i];
  const tbReal* scale = q->island->scale + b->row;
  int d = b->dim;
  tbReal x[MAX] = {0}, sigma[MAX] = {0};
  for (int r = 0; r < d; r++) {
    bool none = without_friction(b, r);
    x[r] = none ? 0 : lambda[b->row + r] / scale[r];
    sigma[r] = none ? 0 : q->sigma[b->row + r] * scale[r];
  }
  tbNewtonPoint at = {x, sigma, scale, q->rho + b->row, q->proximal};
  tb_newton_block(b, TB_LAW_NCP, &at, out);
  // Axes without friction keep a zero impulse.
  for (int r = 1; r < d; r++) {
    if (!without_friction(b, r)) continue;
    out.F[r] = 0;
    for (int k = 0; k < d && out.C; k++) {
      out.C[r * d + k] = out.C[k * d + r] = k == r;
      out.D[r * d + k] = out.D[k * d + r] = 0;
    }
  }
}

// |F| at lambda.
static tbReal merit(Newton* q, const tbReal* lambda) {
  tbReal sum = 0;
  tb_island_velocity(q->island, lambda, q->sigma);
  for (int i = 0; i < q->island->p.nblock; i++) {
    tbReal F[MAX];
    block_equation(q, i, lambda, (tbNewtonEquations){.F = F});
    for (int r = 0; r < q->island->dim[i]; r++) sum += F[r] * F[r];
  }
  return sqrt(sum);
}

// dx of (1) at lambda, whose velocity is in q->sigma.
static bool direction(Newton* q, const tbReal* lambda) {
  tbSolveIsland* island = q->island;
  tbReal *E = q->E, *inverse = q->inverse;
  for (int i = 0; i < island->p.nblock; i++) {
    int d = island->dim[i], row = island->row[i];
    tbReal F[MAX], C[MAX * MAX], D[MAX * MAX], T[MAX * MAX];
    block_equation(q, i, lambda, (tbNewtonEquations){F, C, D});
    for (int r = 0; r < d; r++) {
      F[r] = -F[r];
      C[r * (d + 1)] += q->proximal;
    }
    for (int k = 0; k < d * d; k++) T[k] = D[k] + DELTA * C[k];
    if (!tb_newton_divide(d, T, C, d, E) || !tb_newton_divide(d, C, T, d, inverse)) return false;
    if (!tb_newton_divide(d, T, F, 1, q->dx + row)) return false;
    E += d * d;
    inverse += d * d;
  }
  tb_group_lu_factor(&island->lu, island->scaled, q->E, q->inverse, LEAST_PIVOT);
  island->factorizations++;
  tb_group_lu_solve(&island->lu, REFINEMENTS, q->dx);
  for (int k = 0; k < island->p.n; k++) {
    if (!isfinite(q->dx[k])) return false;
  }
  return true;
}

// A step with backtracking on |F|. True if |F| fell sufficiently.
static bool step(Newton* q, tbReal* lambda) {
  const tbSolveIsland* island = q->island;
  size_t bytes = (size_t)island->p.n * sizeof *lambda;
  tbReal size = merit(q, lambda);
  if (!(size > 0) || !direction(q, lambda)) return false;
  for (tbReal t = 1; t > SHORTEST; t *= 0.5) {
    for (int k = 0; k < island->p.n; k++) {
      q->trial[k] = lambda[k] + t * island->scale[k] * q->dx[k];
    }
    if (merit(q, q->trial) <= (1 - DESCENT * t) * size) {
      memcpy(lambda, q->trial, bytes);
      return true;
    }
  }
  return false;
}

bool tb_island_newton(tbSolveIsland* island, int max_iter) {
  Newton q;
  memset(&q, 0, sizeof q);
  size_t n = (size_t)island->p.n;
  tbReal *lambda = TB_ARENA_NEW(island->arena, tbReal, n + 1),
         *clean = TB_ARENA_NEW(island->arena, tbReal, n + 1);
  if (!newton_alloc(&q, island) || !tb_island_analyze(island)) return false;
  memcpy(lambda, island->best, n * sizeof *lambda);
  choose_rho(&q);
  q.proximal = FIRST_PROXIMAL;
  for (int k = 0; k < max_iter; k++) {
    bool descent = step(&q, lambda);
    // Newton's impulses lie on the cones only up to rounding.
    for (int i = 0; i < island->p.nblock; i++) {
      const tbBlock* b = &island->p.block[i];
      tb_block_project(b, TB_LAW_NCP, lambda + b->row, clean + b->row);
    }
    tb_island_velocity(island, clean, q.sigma);
    if (island->check(island, clean, q.sigma, ++island->iterations, 0)) break;
    // Redundant impulses diverge if the proximal term is below the rounding level of the other
    // terms.
    q.proximal *= descent ? DECREASE : INCREASE;
    if (q.proximal > MOST_PROXIMAL) break;
    q.proximal = tb_max(q.proximal, LEAST_PROXIMAL);
  }
  return true;
}
