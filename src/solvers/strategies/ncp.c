// ncp/auto: the cheapest method that converges, island by island. See docs/notebook/ncp-auto.md. A
// step tries Newton's method on the active set first (laws/rigid/velocity_space.c).
//
// 1. A few Gauss-Seidel sweeps over the whole problem: they solve small and easy problems.
// 2. Each island separately: sweeps while their measured rate predicts convergence sooner than
// interior points; then interior points, which converge in some ten factorisations independent of
// the conditioning; then semismooth Newton for the last digits; then all of these again from the
// best point, with other settings in each attempt.
#include <math.h>
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "solvers/islands/island.h"
#include "solvers/local/local.h"
#include "solvers/prox_newton/prox.h"
#include "solvers/gauss_seidel/sweep.h"

// First sweeps over the whole problem: SWEEPS_SMALL for up to SMALL blocks, else SWEEPS; then first
// sweeps on each island.
enum { SMALL = 16, SWEEPS_SMALL = 16, SWEEPS = 2, SWEEPS_ISLAND = 8 };
// Newton steps in each attempt.
enum { NEWTON_STEPS = 100 };
// Sweeps after the first attempt, doubled from attempt to attempt up to MOST_DOUBLED times. They
// continue while their measured rate predicts convergence within SWEEPS_PROMISED times as many.
enum { SWEEPS_ATTEMPT = 100, MOST_DOUBLED = 5, SWEEPS_PROMISED = 10 };
// Iterations of ADMM after every second attempt, times the number of attempts.
enum { ADMM_ATTEMPT = 300 };
// From this attempt on, last_digits() takes over for islands with a small residual.
enum { DIGITS_ATTEMPT = 4 };
// Below this residual the low rank that the LU assumes for the contacts of a pair of bodies is too
// inexact.
static const tbReal REDUNDANT_DIGITS = 1e-6;
// Above this residual after the first attempt, the problem is tested for infeasibility.
static const tbReal FAR = 1e-3;
// Relative rounding error of a number; a residual below SIGNIFICANT times the resulting error of
// sigma is not significant.
static const tbReal ROUNDING = 2.2e-16, SIGNIFICANT = 8;

// ---- the whole problem -------------------------------------------------------------------------

static void update(void* context, const tbBlock* block, const tbReal* A, const tbReal* b,
                   tbReal* lambda, tbReal* slip) {
  (void)context;
  tb_local_solve(block, TB_LAW_NCP, A, b, lambda, slip);
}

// Sweeps with a check after the first, second, fourth, ... Returns true when converged or out of
// time.
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

static bool check_island(tbSolveIsland* island, const tbReal* lambda, const tbReal* sigma,
                         int iteration, tbReal penalty) {
  (void)iteration;
  (void)penalty;
  tbSolve* s = island->solve;
  tbResidual residual = tb_residual(&island->p, TB_LAW_NCP, lambda, sigma);
  tbReal measure = tb_island_measure(island, &residual, lambda);
  island->last_residual = measure;
  if (measure < island->best_residual) {
    island->best_residual = measure;
    memcpy(island->best, lambda, (size_t)island->p.n * sizeof *lambda);
  }
  island->converged = island->best_residual <= island->tolerance;
  return tb_solve_late(s) || island->converged;
}

// The relative rounding error of sigma = G lambda + g: no residual below it is significant.
static tbReal rounding_level(const tbSolveIsland* island) {
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
      largest = tb_max(largest, sum);
    }
  }
  return island->velocity > 0 ? ROUNDING * largest / island->velocity : 0;
}

// Whether to stop: converged, out of time, or at the limit of the arithmetic.
static bool should_stop(const tbSolveIsland* island) {
  if (island->converged || island->infeasible) return true;
  if (island->solve->info->status == TB_SOLVE_TIME_LIMIT) return true;
  if (island->iterations >= island->solve->settings->max_iter) return true;
  return island->factorizations > 0 &&
         island->best_residual <= SIGNIFICANT * rounding_level(island);
}

// How many sweeps cost as much as an interior-point solve, from operation counts weighted by their
// times (nanoseconds) on a machine of 2020. The times are not measured at run time, so that runs
// repeat exactly.
static int affordable_sweeps(const tbSolveIsland* island) {
  enum { FACTORIZATIONS = 12, FEWEST = 10, MOST = 20000 };
  const double sweep_entry = 12, sweep_block = 250, flop = 0.4, factor_entry = 3;
  const double step_entry = 20, step_row = 400;
  double n = island->p.n, entries = island->p.G.block_start[island->p.nblock];
  double sweep = sweep_entry * entries + sweep_block * (double)island->p.nblock;
  double factor = flop * island->lu.lu.flops + factor_entry * (double)island->lu.lu.factor_count;
  double interior = FACTORIZATIONS * (factor + step_entry * entries + step_row * n);
  double count = interior / sweep;
  return count < FEWEST ? FEWEST : count > MOST ? MOST : (int)count;
}

// Settings of the attempts: different first points, more or less caution (kappa), warm start
// (margin) or not.
static const tbIpmSettings ATTEMPTS[] = {
    // iterations, patience, ladder, adopt, kappa, impulse, velocity, threshold, margin
    {60, 12, false, false, 0, 1, 1, 1e4, 0},     // plain
    {80, 20, true, false, 0.03, 1, 0.1, 50, 0},  // slow, with a weakened shift if steps are short
    {80, 20, true, true, 0.03, 1, 1, 0, 3e-3},   // near the last impulses
    {80, 20, true, true, 0.03, 1, 0.1, 0, 0},    // slow, with true velocities
    {80, 20, true, false, 0.03, 30, 0.3, 0, 0},  // large impulses
    {100, 30, false, true, 0.03, 1, 1, 50, 0},   // the whole shift, with patience
    {80, 20, true, false, 0.1, 1, 1, 0, 0},      // cautious
    {80, 20, true, true, 0.01, 1, 1, 0, 3e-2},   // near the last impulses, farther from the cones
    {80, 20, true, false, 0.03, 10, 10, 50, 0},  // large impulses and velocities
    {120, 30, true, true, 0.003, 1, 10, 0, 0},   // large velocities, hardly any caution
};
enum { ATTEMPT_COUNT = sizeof ATTEMPTS / sizeof ATTEMPTS[0] };

// Splitting methods, which follow no path that could turn back; they use dense matrices. ADMM keeps
// converging as long as it runs. Its iterations need no factorisation, so AS_ONE of them count as
// one, which leaves iterations for the other methods.
enum {
  SPLIT_ROWS = 160,         // the largest island for these methods
  SPLIT_ATTEMPTS = 2,       // the first attempts, which include them
  SPLIT_TURNS = 40,         // iterations of staggered projections in each of these
  SPLIT_ITERATIONS = 5000,  // iterations of ADMM in the first attempt
  AS_ONE = 500              // iterations of ADMM that count as one
};

static bool split(tbSolveIsland* island, int attempt) {
  if (attempt >= SPLIT_ATTEMPTS || island->p.n > SPLIT_ROWS) return true;
  if (!tb_island_staggered(island, SPLIT_TURNS)) return false;
  if (should_stop(island) || attempt > 0) return true;
  int before = island->iterations;
  if (!tb_island_admm(island, SPLIT_ITERATIONS)) return false;
  island->iterations = before + (island->iterations - before) / AS_ONE;
  return true;
}

// After an attempt in which interior points did not converge: splitting methods on small islands;
// sweeps, which turn sliding directions, for which interior points are slow; and in every second
// attempt ADMM on any island.
static bool other_methods(tbSolveIsland* island, int attempt, int patience, tbReal* lambda) {
  size_t bytes = (size_t)island->p.n * sizeof *lambda;
  int sweeps = SWEEPS_ATTEMPT << (attempt < MOST_DOUBLED ? attempt : MOST_DOUBLED);
  if (attempt == 0 && patience > sweeps) sweeps = patience;
  if (!split(island, attempt)) return false;
  if (should_stop(island)) return true;
  memcpy(lambda, island->best, bytes);
  if (!tb_island_pgs(island, lambda, sweeps, SWEEPS_PROMISED * sweeps)) return false;
  if (should_stop(island) || attempt % 2 == 0) return true;
  if (!tb_island_admm(island, ADMM_ATTEMPT * (attempt + 1))) return false;
  memcpy(lambda, island->best, bytes);
  return true;
}

// The last digits need the matrix without low-rank assumption, and patience: small steps along a
// path with turning points, then Newton as long as it descends.
static bool last_digits(tbSolveIsland* island) {
  // First points with small impulses and velocities on the normal axis; columns as in ATTEMPTS.
  static const tbIpmSettings starts[] = {{400, 120, true, true, 1e-2, 0.05, 0.05, 0, 0},
                                         {400, 120, true, true, 1e-5, 0.1, 0.1, 0, 0},
                                         {400, 120, true, true, 1e-4, 0.05, 0.05, 0, 0}};
  enum { STARTS = sizeof starts / sizeof starts[0] };
  if (!tb_island_analyze_plain(island)) return false;
  for (int k = 0; k < STARTS && !should_stop(island); k++) {
    tbArenaMark mark = tb_arena_mark(island->arena);
    if (!tb_island_ipm(island, &starts[k], NULL)) return false;
    if (!should_stop(island) && !tb_island_newton(island, NEWTON_STEPS)) return false;
    tb_arena_release(island->arena, mark);
  }
  return true;
}

// Interior points, Newton from their end, and other methods. False: out of memory.
static bool run_attempt(tbSolveIsland* island, int attempt, int patience, tbReal* lambda) {
  const tbIpmSettings* set = &ATTEMPTS[attempt];
  tbArenaMark mark = tb_arena_mark(island->arena);
  if (!tb_island_ipm(island, set, set->margin > 0 ? lambda : NULL)) return false;
  if (!should_stop(island) && !tb_island_newton(island, NEWTON_STEPS)) return false;
  if (!should_stop(island) && !other_methods(island, attempt, patience, lambda)) return false;
  tb_arena_release(island->arena, mark);
  return true;
}

static bool solve_island(tbSolveIsland* island, tbReal* lambda) {
  size_t bytes = (size_t)island->p.n * sizeof *lambda;
  const int most = island->solve->settings->max_iter;
  const int first = most < SWEEPS_ISLAND ? most : SWEEPS_ISLAND;
  if (!tb_island_pgs(island, lambda, first, SWEEPS_ISLAND)) return false;
  if (should_stop(island)) return true;
  if (!tb_island_analyze(island)) return false;
  int patience = affordable_sweeps(island);
  if (!tb_island_pgs(island, lambda, 2 * patience, patience)) return false;
  bool fine = false;
  int attempts = TB_WITHOUT(STRATEGY_REPEATS) ? 1 : ATTEMPT_COUNT;
  for (int attempt = 0; attempt < attempts && !should_stop(island); attempt++) {
    if (attempt >= DIGITS_ATTEMPT && !fine && island->best_residual < REDUNDANT_DIGITS) {
      fine = true;
      if (!last_digits(island)) return false;
      if (should_stop(island)) break;
    }
    if (!run_attempt(island, attempt, patience, lambda)) return false;
    // Far from a solution: the problem may be infeasible.
    if (attempt == 0 && !should_stop(island) && island->best_residual > FAR &&
        !tb_island_infeasible(island, &island->infeasible)) {
      return false;
    }
  }
  // As a last resort, sweeps up to the iteration limit.
  memcpy(lambda, island->best, bytes);
  if (!should_stop(island) && !tb_island_pgs(island, lambda, most, most)) return false;
  memcpy(lambda, island->best, bytes);
  return true;
}

// ---- putting it together -----------------------------------------------------------------------

static void gather(const tbSolveIsland* island, const tbReal* all, tbReal* lambda) {
  for (int a = 0; a < island->p.nblock; a++) {
    int from = island->solve->p->block[island->source[a]].row;
    for (int r = 0; r < island->dim[a]; r++) lambda[island->row[a] + r] = all[from + r];
  }
}

static void scatter(const tbSolveIsland* island, const tbReal* lambda, tbReal* all) {
  for (int a = 0; a < island->p.nblock; a++) {
    int to = island->solve->p->block[island->source[a]].row;
    for (int r = 0; r < island->dim[a]; r++) all[to + r] = lambda[island->row[a] + r];
  }
}

// Solve island `id`; writes its impulses to s->lambda and their largest size to `impulse`. False:
// out of memory.
static bool run_island(tbSolve* s, const int* part, int id, tbReal velocity, tbReal* impulse,
                       bool* infeasible) {
  tbArenaMark mark = tb_arena_mark(s->arena);
  tbSolveIsland island;
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
  for (int i = 0; i < island.p.n; i++) *impulse = tb_max(*impulse, fabs(lambda[i]));
  if (island.iterations > s->info->iterations) s->info->iterations = island.iterations;
  if (island.factorizations > 0) s->info->solver = "ipm";
  *infeasible = *infeasible || island.infeasible;
  s->info->factorizations += island.factorizations;
  tb_arena_release(s->arena, mark);
  return true;
}

// Sort islands by number of blocks, small ones first, so that a time limit leaves as few contacts
// as possible unsolved.
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

// All islands in turn. False: out of memory.
static bool solve_islands(tbSolve* s, bool* infeasible) {
  bool apart = s->settings->islands;
  int* part = TB_ARENA_NEW(s->arena, int, s->p->nblock + 1);
  if (!part) return false;
  int count = apart ? tb_island_find(s->arena, s->p, part) : 1;
  if (count < 0) return false;
  int* order = TB_ARENA_NEW(s->arena, int, count + 1);
  if (!order || !order_islands(s, part, count, order)) return false;
  tbReal velocity = 0, impulse = 0;  // impulse: of the islands so far, a lower bound of |lambda|
  for (int i = 0; i < s->p->n; i++) velocity = tb_max(velocity, fabs(s->p->g[i]));
  for (int k = 0; k < count; k++) {
    if (!run_island(s, apart ? part : NULL, order[k], velocity, &impulse, infeasible)) return false;
    if (s->info->status == TB_SOLVE_TIME_LIMIT) break;
  }
  return true;
}

tbResult tb_solve_ncp_auto(tbSolve* s) {
  // Sweeps solve most small problems; on larger ones they would only spoil a good first guess for
  // Newton.
  bool fits = tb_prox_fits(s->p), small = s->p->nblock <= SMALL, infeasible = false;
  s->info->solver = "pgs";
  if ((small || !fits) && first_sweeps(s, small ? SWEEPS_SMALL : SWEEPS)) return TB_OK;
  if (fits) {
    // With few dofs and many rows, Newton in velocity space is the cheapest exact method.
    s->info->solver = "prox-newton";
    tbResult result = tb_solve_prox_newton(s);
    if (result != TB_OK || s->info->status == TB_SOLVE_CONVERGED) return result;
    memcpy(s->lambda, s->best, sizeof(tbReal) * (size_t)s->p->n);
  }
  if (!solve_islands(s, &infeasible)) return tb_solve_no_memory(s);
  if (s->info->status == TB_SOLVE_TIME_LIMIT) return TB_OK;
  if (!tb_solve_check(s, s->lambda, s->info->iterations, 0)) {
    s->info->status = infeasible ? TB_SOLVE_INFEASIBLE : tb_solve_gave_up(s);
  }
  return TB_OK;
}
