// A proof that a problem has no solution: Farkas' lemma on the rows that must not close.
//
// Let d >= 0 on normal and one-sided rows, any sign on equalities, zero elsewhere. Whatever the
// impulses lambda, a velocity sigma = G lambda + g that the law allows up to tau in each row has
//
//     -tau |d|_1 <= <d, sigma> = <d, G lambda> + <d, g>,
//     <d, G lambda> <= sqrt(d^T G d) sqrt(lambda^T G lambda)                                 (1)
//
// so that sqrt(lambda^T G lambda), the size of the velocity change that the impulses make, is at
// least (-<d, g> - tau |d|_1) / sqrt(d^T G d). With G d = 0 and <d, g> < 0 there is none at all:
// bodies pushed apart between walls, equalities that contradict each other.
//
// d is the answer of the frictionless problem with a little compliance, which always exists and
// grows along such a d where the compliance falls.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/islands/island.h"

// Compliance of the problem without friction, over the diagonal of G, and the residual to which it
// is solved.
static const tbReal COMPLIANCE = 1e-8, ACCURACY = 1e-10;
// No answer has impulses this many times those that stop all contacts one by one.
static const tbReal ENORMOUS = 1e5;
// The least tau of (1), over the largest velocity.
static const tbReal LEAST_ALLOWED = 1e-6;

static bool check(tbSolveIsland* island, const tbReal* lambda, const tbReal* sigma, int iteration,
                  tbReal penalty) {
  (void)iteration;
  (void)penalty;
  tbReal measure = tb_residual(&island->p, TB_LAW_NCP, lambda, sigma).relative;
  island->last_measure = measure;
  if (measure < island->best_measure) {
    island->best_measure = measure;
    memcpy(island->best, lambda, (size_t)island->p.n * sizeof *lambda);
  }
  return measure <= ACCURACY || tb_solve_late(island->solve);
}

// The island without friction and with compliance, in its own memory.
static bool soften(const tbSolveIsland* island, tbSolveIsland* soft) {
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
  *soft = *island;
  soft->best = TB_ARENA_NEW(arena, tbReal, island->p.n + 1);
  if (arena->failed) return false;
  memcpy(value, G->block_value, values * sizeof *value);
  for (int i = 0; i < island->p.nblock; i++) {
    block[i] = island->p.block[i];
    memset(block[i].mu, 0, sizeof block[i].mu);
    tbReal* A = value + G->block_offset[island->diagonal[i]];
    for (int r = 0; r < island->dim[i]; r++) A[r * (island->dim[i] + 1)] *= 1 + COMPLIANCE;
  }
  soft->p.block = block;
  soft->p.G.block_value = value;
  soft->check = check;
  soft->best_measure = INFINITY;
  soft->analyzed = soft->converged = false;
  return true;
}

// d from the answer: only rows that count, the largest entry one. Returns that entry.
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

// (1) against the velocity change that stops single contacts.
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
  tbSolveIsland soft;
  tbReal* sigma = TB_ARENA_NEW(island->arena, tbReal, island->p.n + 1);
  *proven = false;
  if (!sigma || !soften(island, &soft)) return false;
  tbIpmSettings set = {
      .max_iter = 60, .patience = 12, .impulse = 1, .velocity = 1, .threshold = 1e4};
  if (!tb_island_ipm(&soft, &set, NULL)) return false;
  island->factorizations = soft.factorizations;
  if (isfinite(soft.best_measure) && make_witness(island, soft.best) > 0) {
    *proven = proves(island, soft.best, sigma);
  }
  tb_arena_release(island->arena, mark);
  return true;
}
