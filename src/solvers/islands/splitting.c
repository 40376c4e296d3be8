// ADMM and staggered projections on an island, as alternatives in `auto`: slower than interior
// points, but without a path that may turn back.
#include <math.h>
#include <string.h>

#include "solvers/admm/admm.h"
#include "solvers/islands/island.h"
#include "solvers/staggered/staggered.h"

// Run a solver for whole problems from the island's best iterate. False: out of memory.
static bool run(tbSolveIsland* island, tbResult (*method)(tbSolve* s), int max_iter) {
  tbSolve* s = island->solve;
  size_t n = (size_t)island->p.n;
  tbSolveSettings settings = *s->settings;
  tbSolveInfo info = {0};
  tbSolveCache cache = {.n = -1, .capacity = 2 * island->p.n};
  settings.max_iter = max_iter;
  settings.history = NULL;
  settings.warm_start = 1;
  tbSolve sub = *s;
  sub.p = &island->p;
  sub.settings = &settings;
  sub.info = &info;
  sub.cache = &cache;
  sub.best_residual = INFINITY;
  sub.lambda = tb_solve_reals(s, n);
  sub.sigma = tb_solve_reals(s, n);
  sub.best = tb_solve_reals(s, n);
  cache.eigenvector = tb_solve_reals(s, 2 * n);
  if (s->arena->failed) return false;
  memcpy(sub.lambda, island->best, n * sizeof *sub.lambda);
  if (method(&sub) != TB_OK) return false;
  island->iterations += info.iterations;
  island->factorizations += info.factorizations;
  if (!isfinite(sub.best_residual)) return true;
  tb_island_velocity(island, sub.best, sub.sigma);
  island->check(island, sub.best, sub.sigma, island->iterations, 0);
  return true;
}

static tbResult admm(tbSolve* s) {
  return tb_admm(s, true);
}

bool tb_island_admm(tbSolveIsland* island, int max_iter) {
  return run(island, admm, max_iter);
}

static tbResult staggered(tbSolve* s) {
  return tb_staggered(s, false);
}

bool tb_island_staggered(tbSolveIsland* island, int max_iter) {
  return run(island, staggered, max_iter);
}
