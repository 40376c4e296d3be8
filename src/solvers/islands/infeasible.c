// Proof that a problem is infeasible: Farkas' lemma on the rows that must not close.
//
// Let d >= 0 on normal and one-sided rows, any sign on equalities, zero elsewhere. For all impulses
// lambda, a velocity sigma = G lambda + g that the law allows up to tau in each row has
//
//     -tau |d|_1 <= <d, sigma> = <d, G lambda> + <d, g>,
//     <d, G lambda> <= sqrt(d^T G d) sqrt(lambda^T G lambda)                                 (1)
//
// so that sqrt(lambda^T G lambda), the size of the velocity change by the impulses, is at least
// (-<d, g> - tau |d|_1) / sqrt(d^T G d). With G d = 0 and <d, g> < 0 no impulses exist: bodies
// pushed apart between walls, or contradictory equalities.
//
// d is the solution of the frictionless problem with a small compliance, which always exists and,
// if the problem is infeasible, grows along such a d as the compliance falls.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/islands/island.h"

// Compliance of the frictionless problem, over the diagonal of G, and the residual to which it is
// solved.
static const tbReal COMPLIANCE = 1e-8, ACCURACY = 1e-10;
// A problem that needs impulses this many times those that stop all contacts separately counts as
// infeasible.
static const tbReal ENORMOUS = 1e5;
// The smallest tau of (1), over the largest velocity.
static const tbReal LEAST_ALLOWED = 1e-6;

static bool check(tbSolveIsland* island, const tbReal* lambda, const tbReal* sigma, int iteration,
                  tbReal penalty) {
  (void)iteration;
  (void)penalty;
  tbReal measure = tb_residual(&island->p, TB_LAW_NCP, lambda, sigma).relative;
  island->last_residual = measure;
  if (measure < island->best_residual) {
    island->best_residual = measure;
    memcpy(island->best, lambda, (size_t)island->p.n * sizeof *lambda);
  }
  return measure <= ACCURACY || tb_solve_late(island->solve);
}

// A copy of the island without friction and with compliance.
static bool make_compliant(const tbSolveIsland* island, tbSolveIsland* compliant) {
  const tbDelassus* G = &island->p.G;
  tbArena* arena = island->arena;
  size_t values = 0;
  for (int i = 0; i < island->p.nblock; i++) {
    for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
      values += (size_t)(island->dim[i] * island->dim[G->block_column[k]]);
    }
  }
  tbBlock* block = TB_ARENA_NEW(arena, tbBlock, island->p.nblock + 1);
  tbReal* value = TB_ARENA_NEW(arena, tbReal, values + 1);
  *compliant = *island;
  compliant->best = TB_ARENA_NEW(arena, tbReal, island->p.n + 1);
  if (arena->failed) return false;
  memcpy(value, G->block_value, values * sizeof *value);
  for (int i = 0; i < island->p.nblock; i++) {
    block[i] = island->p.block[i];
    memset(block[i].mu, 0, sizeof block[i].mu);
    tbReal* A = value + G->block_offset[island->diagonal[i]];
    for (int r = 0; r < island->dim[i]; r++) A[r * (island->dim[i] + 1)] *= 1 + COMPLIANCE;
  }
  compliant->p.block = block;
  compliant->p.G.block_value = value;
  compliant->check = check;
  compliant->best_residual = INFINITY;
  compliant->analyzed = compliant->converged = false;
  return true;
}

// Turn the solution into d: zero on the other rows, largest entry one. Returns that entry before
// scaling.
static tbReal make_witness(const tbSolveIsland* island, tbReal* d) {
  tbReal largest = 0;
  for (int i = 0; i < island->p.nblock; i++) {
    const tbBlock* b = &island->p.block[i];
    for (int r = 0; r < b->dim; r++) {
      tbReal* x = &d[b->row + r];
      bool normal = b->type == TB_BLOCK_ONE_SIDED || (b->type == TB_BLOCK_CONE && r == 0);
      *x = normal ? tb_max(*x, 0) : b->type == TB_BLOCK_EQUALITY ? *x : 0;
    }
  }
  for (int k = 0; k < island->p.n; k++) largest = tb_max(largest, fabs(d[k]));
  for (int k = 0; k < island->p.n && largest > 0; k++) d[k] /= largest;
  return largest;
}

// Whether (1) exceeds ENORMOUS times the velocity change that stops single contacts.
static bool proves(const tbSolveIsland* island, const tbReal* d, tbReal* sigma) {
  const tbDelassus* G = &island->p.G;
  const tbReal* g = island->p.g;
  tbReal linear = 0, quadratic = 0, sum = 0, single = 0, speed = 0, steepest = 1;
  tb_island_velocity(island, d, sigma);
  for (int i = 0; i < island->p.nblock; i++) {
    const tbBlock* b = &island->p.block[i];
    const tbReal* A = G->block_value + G->block_offset[island->diagonal[i]];
    for (int r = 0; r < b->dim; r++) {
      int k = b->row + r;
      tbReal own = A[r * (b->dim + 1)];
      linear += d[k] * g[k];
      quadratic += d[k] * (sigma[k] - g[k]);
      sum += fabs(d[k]);
      speed = tb_max(speed, fabs(g[k]));
      if (own > 0) single += g[k] * g[k] / own;
      if (b->type == TB_BLOCK_CONE && r > 0) steepest = tb_max(steepest, b->mu[r - 1]);
    }
  }
  tbReal allowed = tb_max(island->tolerance, LEAST_ALLOWED) * speed * (1 + steepest) * sum;
  return -linear - allowed > ENORMOUS * sqrt(single) * sqrt(tb_max(quadratic, 0));
}

bool tb_island_infeasible(tbSolveIsland* island, bool* proven) {
  tbArenaMark mark = tb_arena_mark(island->arena);
  tbSolveIsland compliant;
  tbReal* sigma = TB_ARENA_NEW(island->arena, tbReal, island->p.n + 1);
  *proven = false;
  if (!sigma || !make_compliant(island, &compliant)) return false;
  tbIpmSettings set = {
      .max_iter = 60, .patience = 12, .impulse = 1, .velocity = 1, .threshold = 1e4};
  if (!tb_island_ipm(&compliant, &set, NULL)) return false;
  island->factorizations = compliant.factorizations;
  if (isfinite(compliant.best_residual) && make_witness(island, compliant.best) > 0) {
    *proven = proves(island, compliant.best, sigma);
  }
  tb_arena_release(island->arena, mark);
  return true;
}
