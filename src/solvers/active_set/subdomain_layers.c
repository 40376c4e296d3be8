// Domain decomposition of an island by residual-ordered subdomains: once all but a few contacts
// have converged, only the subdomains around these are solved again, with the impulses of all other
// contacts fixed ((1) of subdomains.c). A subdomain is a seed, a cluster of bodies with unconverged
// contacts, plus overlap layers of neighbours. The error it leaves at its boundary seeds another
// subdomain in the next turn, smaller each time. So the cost of the last digits depends on the
// number of unconverged contacts, not on the size of the island. See
// docs/notebook/interior-point.md.
#include <string.h>

#include "solvers/active_set/subdomains.h"

// If more than one contact in FEW is unconverged, it is cheaper to solve the island as a whole. But
// in a moving island of more than WHOLE rows some contacts oscillate under sweeps and keep all
// others from converging: there only the WORST contacts with the largest residuals are seeds, those
// above a target that is multiplied by COARSER until so few are left. (An island that comes to rest
// is solved as a whole, because subdomain solves are not accurate enough.)
enum { FEW = 4, WHOLE = 3000, WORST = 60 };
static const tbReal COARSER = 4;

// A seed of up to SMALL_SEED bodies starts without overlap (if it does not converge, ncp/auto can
// solve it, subdomains.c), a larger one with one layer. Every failed subdomain adds a layer, up to
// LEVELS. Subdomain solves end after MOST_FAILURES failures or TURNS turns. A subdomain takes at
// most ITERATIONS iterations.
enum { SMALL_SEED = 10, LEVELS = 5, MOST_FAILURES = 10, TURNS = 80, ITERATIONS = 30 };

// Limits of sweeps, at first and between turns. Sweeps end early if the last CHUNK of them left
// more than SLOW of the unconverged blocks. The scale of residuals is recomputed every RESCALE
// sweeps; below the relative residual EXACT sweeps also restart then, because single precision no
// longer suffices.
enum { SWEEPS = 160, SWEEPS_BETWEEN = 60, CHUNK = 20, RESCALE = 5 };
static const tbReal SLOW = 0.95, EXACT = 5e-7;

// Cost limit of all subdomains together, in factorisations of the whole island: a heap needs one or
// two; more with residual-ordered subdomains.
static const tbReal MOST_WORK = 6, MOST_WORK_BY_RESIDUAL = 20;

// Relative to the tolerance: a block is unconverged above UNCONVERGED, and a subdomain is solved to
// FINE. A subdomain that does not converge is accepted only if its residual falls below BETTER of
// the old one; otherwise it would leave more unconverged blocks than before.
static const tbReal UNCONVERGED = 0.9, FINE = 0.3, BETTER = 0.5;

typedef struct tbSubdomains Subdomains;

// Fixed-point residuals of all blocks.
static void measure(const tbActiveState* s, Subdomains* g, const tbSubdomainScale* scale) {
  for (int i = 0; i < s->p->nblock; i++)
    g->residual[i] = tb_active_fixed_point_residual(s, i, scale);
}

static int count_above(const tbActiveState* s, const Subdomains* g, tbReal target) {
  int count = 0;
  for (int i = 0; i < s->p->nblock; i++) count += !(g->residual[i] <= target);
  return count;
}

// The residual above which a block counts as unconverged in a turn: the target, or a multiple of it
// that only the largest residuals exceed. It stays below 1, so that a block with a NaN counts too.
static void choose_target(const tbActiveState* s, const Subdomains* g, tbSubdomainScale* scale) {
  int above = count_above(s, g, scale->target);
  while (above > WORST && scale->target < 1) {
    above = count_above(s, g, COARSER * scale->target);
    if (above > 0) scale->target *= COARSER;
  }
}

// Mark the trees of unconverged blocks.
static void mark_unconverged(const tbActiveState* s, Subdomains* g, const tbSubdomainScale* scale,
                             int turn) {
  for (int i = 0; i < s->p->nblock; i++) {
    if (g->residual[i] <= scale->target) continue;
    for (int e = g->block_start[i]; e < g->block_start[i + 1]; e++) {
      g->unconverged[g->block_tree[e]] = turn;
    }
  }
}

static void add_to_seed(Subdomains* g, int tree, int turn, int* n, int* weight) {
  g->seen[tree] = g->stamp;
  g->seed[tree] = turn;
  g->set[(*n)++] = tree;
  *weight += g->weight[tree];
}

// Collect in `set` the trees of block i and the connected unconverged trees that are in no other
// seed of this turn; returns their number.
static int grow_seed(Subdomains* g, int i, int turn) {
  int n = 0, weight = 0;
  g->stamp++;
  for (int e = g->block_start[i]; e < g->block_start[i + 1]; e++) {
    add_to_seed(g, g->block_tree[e], turn, &n, &weight);
  }
  for (int head = 0; head < n; head++) {
    int t = g->set[head];
    for (int k = g->tree_start[t]; k < g->tree_start[t + 1]; k++) {
      int b = g->tree_block[k];
      for (int e = g->block_start[b]; e < g->block_start[b + 1] && weight < TB_SUBDOMAIN_DOFS;
           e++) {
        int other = g->block_tree[e];
        if (g->unconverged[other] != turn || g->seed[other] == turn) continue;
        add_to_seed(g, other, turn, &n, &weight);
      }
    }
  }
  return n;
}

// Whether a block may still be unconverged (its trees were, and are not all in a seed of this
// turn), and whether its failures do not exceed those of the present level.
static bool is_left(const Subdomains* g, int i, int turn, int level) {
  bool unconverged = true, done = true;
  int failures = 0;
  for (int e = g->block_start[i]; e < g->block_start[i + 1]; e++) {
    int t = g->block_tree[e];
    unconverged = unconverged && g->unconverged[t] == turn;
    done = done && g->seed[t] == turn;
    failures = failures > g->failures[t] ? failures : g->failures[t];
  }
  return unconverged && !done && failures <= level;
}

// State over all turns.
typedef struct {
  int level;   // failures of the subdomains to solve in this turn, at most
  int solves;  // subdomains of this turn
  int failed;  // failed subdomains of all turns
  double work;
} Turns;

// Solve the subdomain around block i; the failure count of its seed is raised if it fails, cleared
// if it converges. False: out of memory.
static bool solve_around(tbActiveState* s, tbArena* arena, Subdomains* g,
                         const tbSubdomainScale* scale, int i, int turn, Turns* r) {
  bool solved;
  int seed = grow_seed(g, i, turn), layers = r->level + (seed > SMALL_SEED);
  int trees = tb_subdomain_overlap(g, seed, layers);
  tbArenaMark mark = tb_arena_mark(arena);
  tbSubdomain* sub = tb_subdomain_make(s, arena, g, trees);
  if (!sub || !tb_subdomain_solve(s, arena, sub, scale, &solved, &r->work)) return false;
  tb_arena_release(arena, mark);
  for (int k = 0; k < seed; k++) g->failures[g->set[k]] = solved ? 0 : r->level + 1;
  r->failed += !solved;
  r->solves++;
  return true;
}

// Solve the subdomains around all unconverged blocks once. False: out of memory.
static bool solve_unconverged(tbActiveState* s, tbArena* arena, Subdomains* g,
                              const tbSubdomainScale* scale, int turn, Turns* r) {
  tbSubdomainScale fine = *scale;
  fine.target = FINE * s->a->tolerance;
  fine.better = BETTER;
  fine.iterations = ITERATIONS;
  r->solves = 0;
  for (int i = 0; i < s->p->nblock && r->failed < MOST_FAILURES; i++) {
    if (!is_left(g, i, turn, r->level) ||
        tb_active_fixed_point_residual(s, i, scale) <= scale->target)
      continue;
    if (!solve_around(s, arena, g, &fine, i, turn, r)) return false;
  }
  return true;
}

// Sweeps over unconverged blocks, as long as their number falls.
static void relax(tbActiveState* s, int sweeps) {
  tbSubdomainScale scale = tb_subdomain_scale(s, UNCONVERGED * s->a->tolerance);
  tb_active_sweeps_begin(s);
  for (int k = 0, last = s->p->nblock; k < sweeps; k++) {
    if (k > 0 && k % RESCALE == 0 && scale.target < EXACT) {
      tb_active_sweeps_end(s);
      tb_active_sweeps_begin(s);
    }
    if (k % RESCALE == 0) {
      tbReal load = scale.load;
      scale.load = tb_active_sweeps_load(s);
      if (scale.load < load) tb_active_forget(s);
    }
    int count = tb_active_refine(s, &scale);
    if (count == 0 || (k % CHUNK == CHUNK - 1 && count > SLOW * last)) break;
    if (k % CHUNK == CHUNK - 1) last = count;
  }
  tb_active_sweeps_end(s);
}

// Whether subdomain solves have cost no more than a few factorisations of the island. The exact
// cost of a factorisation is computed only if the estimate leaves doubt. False: out of memory.
static bool is_worth(const tbActiveState* s, double work, tbReal most, bool* worth) {
  tbVelocity* system = s->a->system;
  if (work > tb_velocity_work(system) && !tb_velocity_analyze(system)) return false;
  *worth = work <= most * tb_velocity_work(system);
  return true;
}

bool tb_active_subdomain_layers(tbActiveState* s, tbArena* arena, tbSolveInfo* info) {
  Subdomains* g = tb_subdomains_open(s, arena);
  Turns r = {0};
  if (!g) return false;
  memset(g->failures, 0, sizeof(int) * (size_t)g->ntree);
  bool worth = true, by_residual = s->p->n > WHOLE && tb_active_moving(s);
  for (int k = 0; k < TURNS && r.failed < MOST_FAILURES && r.level < LEVELS && worth; k++) {
    relax(s, k == 0 ? SWEEPS : SWEEPS_BETWEEN);
    tbSubdomainScale scale = tb_subdomain_scale(s, UNCONVERGED * s->a->tolerance);
    measure(s, g, &scale);
    int turn = ++g->stamp, unconverged = count_above(s, g, scale.target);
    if (unconverged == 0 || (k == 0 && !by_residual && unconverged > s->p->nblock / FEW)) break;
    if (by_residual) choose_target(s, g, &scale);
    mark_unconverged(s, g, &scale, turn);
    if (!solve_unconverged(s, arena, g, &scale, turn, &r)) return false;
    if (!is_worth(s, r.work, by_residual ? MOST_WORK_BY_RESIDUAL : MOST_WORK, &worth)) return false;
    // If only subdomains with more failures are left, they come next.
    r.level = r.solves > 0 ? 0 : r.level + 1;
  }
  tb_subdomains_velocity(s);
  tb_subdomains_count(s, r.work, info);
  return true;
}
