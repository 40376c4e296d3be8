// ncp/ipm: the interior-point method on the exact law, on the whole problem at once
// (docs/notebook/ncp-auto.md). It calls tb_island_ipm; `auto` adds islands, sweeps and other
// starting points.
#include <string.h>

#include "solvers/islands/island.h"

static bool check(tbSolveIsland* island, const tbReal* lambda, const tbReal* sigma, int iteration,
                  tbReal penalty) {
  bool stop = tb_solve_check_sigma(island->solve, lambda, sigma, iteration, penalty);
  island->last_residual = tb_solve_measure(island->solve, &island->solve->last);
  if (island->last_residual < island->best_residual) {
    island->best_residual = island->last_residual;
    memcpy(island->best, lambda, (size_t)island->p.n * sizeof *lambda);
  }
  island->converged = island->best_residual <= island->tolerance;
  return stop;
}

tbResult tb_solve_ncp_ipm(tbSolve* s) {
  tbSolveIsland island;
  if (!tb_island_extract(&island, s, NULL, 0)) return tb_solve_no_memory(s);
  island.check = check;
  island.tolerance = s->tolerance;
  for (int i = 0; i < s->p->n; i++) {
    if (island.velocity < (s->p->g[i] < 0 ? -s->p->g[i] : s->p->g[i])) {
      island.velocity = s->p->g[i] < 0 ? -s->p->g[i] : s->p->g[i];
    }
  }
  tbIpmSettings set = {
      .max_iter = s->settings->max_iter, .patience = 20, .impulse = 1, .velocity = 1};
  if (!tb_island_analyze(&island) || !tb_island_ipm(&island, &set, NULL)) {
    return tb_solve_no_memory(s);
  }
  s->info->factorizations += island.factorizations;
  memcpy(s->lambda, island.best, (size_t)s->p->n * sizeof *s->lambda);
  if (!island.converged && s->info->status != TB_SOLVE_TIME_LIMIT) {
    s->info->status = tb_solve_gave_up(s);
  }
  return TB_OK;
}
