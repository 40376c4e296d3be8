// ncp/auto: the cheapest method that will do, island by island. See docs/solver-auto.md.
//
// 1. A few sweeps of Gauss-Seidel over everything: small and easy problems end here.
// 2. Each island by itself: sweeps while their measured rate promises to end before interior points
//    would; then interior points, which converge in some ten factorisations whatever the
//    conditioning; then semismooth Newton for the last digits; then all in turn from the best
//    point, with other settings each time.
#include <math.h>
#include <string.h>

#include "solvers/prox.h"
#include "solvers/island.h"
#include "solvers/local.h"
#include "solvers/sweep.h"

// ---- the whole problem -------------------------------------------------------------------------

static void update(void* context, const tbBlock* block, const tbReal* A, const tbReal* b,
                   tbReal* lambda, tbReal* slip) {
  (void)context;
  tb_local_solve(block, TB_LAW_NCP, A, b, lambda, slip);
}

// Sweeps with a check after the first, second, fourth, ... True when done.
static bool first_sweeps(tbSolve* s, int sweeps) {
  tbSweep sweep;
  if (!tb_sweep_init(&sweep, s)) return false;
  tb_sweep_set(&sweep, s->lambda);
  for (int k = 1, next = 1; k <= sweeps && k <= s->settings->max_iter; k++) {
    tbReal change = tb_sweep(&sweep, s->law, 1, false, s->lambda, update, NULL);
    s->info->iterations = k;
    if (k < next && change > 0) continue;
    if (tb_solve_check(s, s->lambda, k, 1)) return true;
    if (change == 0 || !isfinite(change)) return false;
    next *= 2;
  }
  return false;
}

// ---- one island --------------------------------------------------------------------------------

static bool check_island(tbIsland* island, const tbReal* lambda, const tbReal* sigma, int iteration,
                         tbReal penalty) {
  (void)iteration;
  (void)penalty;
  tbSolve* s = island->solve;
  tbResidual residual = tb_residual(&island->p, TB_LAW_NCP, lambda, sigma);
  tbReal measure = tb_island_measure(island, &residual, lambda);
  island->last_measure = measure;
  if (measure < island->best_measure) {
    island->best_measure = measure;
    memcpy(island->best, lambda, (size_t)island->p.n * sizeof *lambda);
  }
  island->converged = island->best_measure <= island->tolerance;
  return tb_solve_late(s) || island->converged;
}

// The relative error that rounding makes of sigma = G lambda + g: no residual can be trusted below.
static tbReal rounding_level(const tbIsland* island) {
  const tbDelassus* G = &island->p.G;
  tbReal largest = 0;
  for (int i = 0; i < island->p.nblock; i++) {
    for (int r = 0; r < island->dim[i]; r++) {
      tbReal sum = 0;
      for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
        int j = G->block_column[k], cols = island->dim[j];
        const tbReal* a = G->block_value + G->block_offset[k] + r * cols;
        for (int c = 0; c < cols; c++) sum += fabs(a[c] * island->best[island->row[j] + c]);
      }
      largest = fmax(largest, sum);
    }
  }
  return island->velocity > 0 ? 2.2e-16 * largest / island->velocity : 0;
}

// Done, out of time, or as good as the arithmetic allows.
static bool give_up(const tbIsland* island) {
  if (island->converged || island->infeasible) return true;
  if (island->solve->info->status == TB_SOLVE_TIME_LIMIT) return true;
  if (island->iterations >= island->solve->settings->max_iter) return true;
  return island->factorizations > 0 && island->best_measure <= 8 * rounding_level(island);
}

// How many sweeps cost as much as an interior-point solve, from counts of operations weighted by
// what they take (nanoseconds) on a machine of 2020: never measured here, so that runs repeat
// exactly.
static int worthwhile_sweeps(const tbIsland* island) {
  double n = island->p.n, entries = island->p.G.block_start[island->p.nblock];
  double sweep = 12 * entries + 250 * (double)island->p.nblock;
  double factor = 0.4 * island->lu.lu.flops + 3 * (double)island->lu.lu.factor_count;
  double interior = 12 * (factor + 20 * entries + 400 * n);
  double count = interior / sweep;
  return count < 10 ? 10 : count > 20000 ? 20000 : (int)count;
}

// The later rounds: other first points and more caution (kappa), warm or not.
static const tbIpmSettings ROUNDS[] = {
    {60, 12, false, false, 0, 1, 1, 1e4, 0},    {80, 20, true, false, 0.03, 1, 0.1, 50, 0},
    {80, 20, true, true, 0.03, 1, 1, 0, 3e-3},  {80, 20, true, true, 0.03, 1, 0.1, 0, 0},
    {80, 20, true, false, 0.03, 30, 0.3, 0, 0}, {100, 30, false, true, 0.03, 1, 1, 50, 0},
    {80, 20, true, false, 0.1, 1, 1, 0, 0},     {80, 20, true, true, 0.01, 1, 1, 0, 3e-2},
    {80, 20, true, false, 0.03, 10, 10, 50, 0}, {120, 30, true, true, 0.003, 1, 10, 0, 0},
};
enum { ROUND_COUNT = sizeof ROUNDS / sizeof ROUNDS[0] };

// Methods that follow no path that could turn back, on dense matrices: rows of an island that they
// are tried on, turns of staggered projections in each of the first rounds, and iterations of ADMM,
// which comes closer as long as it goes on, in the first one. These need no factorisation each: so
// many count as one iteration, which leaves the other methods their turns.
enum {
  SPLIT_ROWS = 160,
  SPLIT_ROUNDS = 2,
  SPLIT_TURNS = 40,
  SPLIT_ITERATIONS = 5000,
  AS_ONE = 500
};

static bool split(tbIsland* island, int round) {
  if (round >= SPLIT_ROUNDS || island->p.n > SPLIT_ROWS) return true;
  if (!tb_island_staggered(island, SPLIT_TURNS)) return false;
  if (give_up(island) || round > 0) return true;
  int before = island->iterations;
  if (!tb_island_admm(island, SPLIT_ITERATIONS)) return false;
  island->iterations = before + (island->iterations - before) / AS_ONE;
  return true;
}

// After a round of interior points that did not do: such methods on small islands; sweeps, which
// turn the directions of sliding, at which interior points are slow; and now and then ADMM on any.
static bool other_methods(tbIsland* island, int round, int patience, tbReal* lambda) {
  size_t bytes = (size_t)island->p.n * sizeof *lambda;
  int sweeps = round == 0 ? (patience > 100 ? patience : 100) : 100 << (round < 5 ? round : 5);
  if (!split(island, round)) return false;
  if (give_up(island)) return true;
  memcpy(lambda, island->best, bytes);
  if (!tb_island_pgs(island, lambda, sweeps, 10 * sweeps)) return false;
  if (give_up(island) || round % 2 == 0) return true;
  if (!tb_island_admm(island, 300 * (round + 1))) return false;
  memcpy(lambda, island->best, bytes);
  return true;
}

// Residuals below which contacts of a pair of bodies differ by more than their redundancy allows.
static const tbReal REDUNDANT_DIGITS = 1e-6, FAR = 1e-3;

// The last digits need the matrix as it is, and patience: small steps along a path that turns, then
// Newton as long as it descends.
static bool last_digits(tbIsland* island) {
  static const tbIpmSettings starts[] = {{400, 120, true, true, 1e-2, 0.05, 0.05, 0, 0},
                                         {400, 120, true, true, 1e-5, 0.1, 0.1, 0, 0},
                                         {400, 120, true, true, 1e-4, 0.05, 0.05, 0, 0}};
  if (!tb_island_analyze_plain(island)) return false;
  for (int k = 0; k < 3 && !give_up(island); k++) {
    tbArenaMark mark = tb_arena_mark(island->arena);
    if (!tb_island_ipm(island, &starts[k], NULL)) return false;
    if (!give_up(island) && !tb_island_newton(island, 100)) return false;
    tb_arena_release(island->arena, mark);
  }
  return true;
}

static bool solve_island(tbIsland* island, tbReal* lambda) {
  size_t bytes = (size_t)island->p.n * sizeof *lambda;
  if (!tb_island_pgs(island, lambda, 8, 8)) return false;
  if (give_up(island)) return true;
  if (!tb_island_analyze(island)) return false;
  int patience = worthwhile_sweeps(island);
  if (!tb_island_pgs(island, lambda, 2 * patience, patience)) return false;
  bool fine = false;
  for (int round = 0; round < ROUND_COUNT && !give_up(island); round++) {
    const tbIpmSettings* set = &ROUNDS[round];
    if (round >= 4 && !fine && island->best_measure < REDUNDANT_DIGITS) {
      fine = true;
      if (!last_digits(island)) return false;
      if (give_up(island)) break;
    }
    tbArenaMark mark = tb_arena_mark(island->arena);
    if (!tb_island_ipm(island, set, set->margin > 0 ? lambda : NULL)) return false;
    if (!give_up(island) && !tb_island_newton(island, 100)) return false;
    if (!give_up(island) && !other_methods(island, round, patience, lambda)) return false;
    tb_arena_release(island->arena, mark);
    // Far from a solution: perhaps there is none.
    if (round == 0 && !give_up(island) && island->best_measure > FAR &&
        !tb_island_infeasible(island, &island->infeasible)) {
      return false;
    }
  }
  // Nothing is left but patience.
  memcpy(lambda, island->best, bytes);
  int rest = island->solve->settings->max_iter;
  if (!give_up(island) && !tb_island_pgs(island, lambda, rest, rest)) return false;
  memcpy(lambda, island->best, bytes);
  return true;
}

// ---- putting it together -----------------------------------------------------------------------

static void gather(const tbIsland* island, const tbReal* all, tbReal* lambda) {
  for (int a = 0; a < island->p.nblock; a++) {
    int from = island->solve->p->block[island->source[a]].row;
    for (int r = 0; r < island->dim[a]; r++) lambda[island->row[a] + r] = all[from + r];
  }
}

static void scatter(const tbIsland* island, const tbReal* lambda, tbReal* all) {
  for (int a = 0; a < island->p.nblock; a++) {
    int to = island->solve->p->block[island->source[a]].row;
    for (int r = 0; r < island->dim[a]; r++) all[to + r] = lambda[island->row[a] + r];
  }
}

// Solve island `id` and put its impulses into s->lambda, their size into `impulse`. False: out of
// memory.
static bool run_island(tbSolve* s, const int* part, int id, tbReal velocity, tbReal* impulse,
                       bool* infeasible) {
  tbArenaMark mark = tb_arena_mark(s->arena);
  tbIsland island;
  if (!tb_island_extract(&island, s, part, id)) return false;
  tbReal* lambda = tb_solve_reals(s, (size_t)island.p.n);
  if (!lambda) return false;
  island.check = check_island;
  island.velocity = velocity;
  island.tolerance = s->tolerance;
  island.impulse = *impulse;
  gather(&island, s->lambda, lambda);
  if (!solve_island(&island, lambda)) return false;
  scatter(&island, lambda, s->lambda);
  for (int i = 0; i < island.p.n; i++) *impulse = fmax(*impulse, fabs(lambda[i]));
  if (island.iterations > s->info->iterations) s->info->iterations = island.iterations;
  if (island.factorizations > 0) s->info->solver = "ipm";
  *infeasible = *infeasible || island.infeasible;
  s->info->factorizations += island.factorizations;
  tb_arena_release(s->arena, mark);
  return true;
}

// Islands by number of blocks, small ones first, so that a time limit costs the fewest contacts.
static bool order_islands(tbSolve* s, const int* part, int count, int* order) {
  int blocks = s->p->nblock;
  int* size = TB_ARENA_NEW(s->arena, int, count + 1);
  int* first = TB_ARENA_NEW(s->arena, int, blocks + 2);
  if (!size || !first) return false;
  if (!s->settings->islands) size[0] = blocks;
  for (int i = 0; s->settings->islands && i < blocks; i++) size[part[i]]++;
  for (int k = 0; k < count; k++) first[size[k] + 1]++;
  for (int k = 0; k <= blocks; k++) first[k + 1] += first[k];
  for (int k = 0; k < count; k++) order[first[size[k]]++] = k;
  return true;
}

tbResult tb_solve_ncp_auto(tbSolve* s) {
  // Sweeps end most small problems; on larger ones they would only spoil a good first guess for
  // Newton.
  bool fits = tb_prox_fits(s->p), small = s->p->nblock <= 16;
  s->info->solver = "pgs";
  if ((small || !fits) && first_sweeps(s, small ? 16 : 2)) return TB_OK;
  if (fits) {
    // Few dofs carry many rows: Newton in velocity space is the cheapest exact method.
    s->info->solver = "prox";
    tbResult result = tb_solve_ncp_prox(s);
    if (result != TB_OK || s->info->status == TB_SOLVE_CONVERGED) return result;
    memcpy(s->lambda, s->best, sizeof(tbReal) * (size_t)s->p->n);
  }
  int* part = TB_ARENA_NEW(s->arena, int, s->p->nblock + 1);
  if (!part) return tb_solve_no_memory(s);
  int count = s->settings->islands ? tb_island_find(s->arena, s->p, part) : 1;
  if (count < 0) return tb_solve_no_memory(s);
  tbReal velocity = 0;
  for (int i = 0; i < s->p->n; i++) velocity = fmax(velocity, fabs(s->p->g[i]));
  tbReal impulse = 0;  // of the islands solved so far: a lower bound of |lambda|
  int* order = TB_ARENA_NEW(s->arena, int, count + 1);
  if (!order || !order_islands(s, part, count, order)) return tb_solve_no_memory(s);
  bool infeasible = false;
  for (int k = 0; k < count; k++) {
    if (!run_island(s, s->settings->islands ? part : NULL, order[k], velocity, &impulse,
                    &infeasible)) {
      return tb_solve_no_memory(s);
    }
    if (s->info->status == TB_SOLVE_TIME_LIMIT) return TB_OK;
  }
  if (!tb_solve_check(s, s->lambda, s->info->iterations, 0)) {
    s->info->status = infeasible ? TB_SOLVE_INFEASIBLE : TB_SOLVE_STALLED;
  }
  return TB_OK;
}
