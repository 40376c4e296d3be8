// Repairs of an island: where all but a few of its contacts have settled, only what surrounds these
// is solved anew, with the impulses of all other contacts held ((1) of active_parts.c). A region is
// a cluster of bodies whose contacts are unsettled, its core, with rings of neighbours; what it
// leaves at its rim is the core of another one in the next turn, smaller each time. So the price of
// the last digits is that of the places that lack them, not that of the island. See
// docs/solver-interior.md.
#include <string.h>

#include "solvers/active_set/subdomains.h"

// Where more than one contact in FEW is unsettled, solving the island as a whole is the better way.
// But an island that moves and has more than WHOLE rows has places that swing for ever under sweeps
// and keep all others from settling: there the WORST contacts are repaired first, those above a
// target that rises by COARSER until so few are left. (What comes to rest wants the whole island
// solved: repairs are too rough.)
enum { FEW = 4, WHOLE = 3000, WORST = 60 };
static const tbReal COARSER = 4;

// A core of up to SMALL_CORE bodies begins without rings (where it is hard ncp/auto can solve it,
// active_parts.c), a larger one with one. Every region that fails adds a ring, up to LEVELS, and
// after MOST_HARD failures repairs end, as they do after TURNS turns. A region is solved in no more
// than ITERATIONS iterations.
enum { SMALL_CORE = 10, LEVELS = 5, MOST_HARD = 10, TURNS = 80, ITERATIONS = 30 };

// Sweeps at most, at first and between turns. They end early where the last CHUNK of them left more
// than SLOW of the unsettled blocks. The scale of residuals is found anew every RESCALE sweeps;
// below the relative residual EXACT sweeps begin anew then, too, since single precision holds no
// longer.
enum { SWEEPS = 160, SWEEPS_BETWEEN = 60, CHUNK = 20, RESCALE = 5 };
static const tbReal SLOW = 0.95, EXACT = 5e-7;

// What all regions together may cost, in factorisations of the whole island: a heap needs one or
// two; more where the worst contacts come first.
static const tbReal MOST_WORK = 6, MOST_WORK_WORST = 20;

// Over the tolerance: a block is unsettled above ROUGH, and a region is solved to FINE. One that
// does not converge is kept only if it ends below BETTER of the residual it had: else it would
// leave more unsettled than before.
static const tbReal ROUGH = 0.9, FINE = 0.3, BETTER = 0.5;

typedef struct tbSubdomains Parts;

// How far off blocks are.
static void measure(const tbActiveState* s, Parts* g, const tbPartScale* scale) {
  for (int i = 0; i < s->p->nblock; i++) g->miss[i] = tb_active_fixed_point_residual(s, i, scale);
}

static int count_above(const tbActiveState* s, const Parts* g, tbReal target) {
  int count = 0;
  for (int i = 0; i < s->p->nblock; i++) count += !(g->miss[i] <= target);
  return count;
}

// What counts as unsettled in a turn: above the target, or above a multiple of it that leaves the
// worst. Below 1, which what is not a number is above, too.
static void choose_target(const tbActiveState* s, const Parts* g, tbPartScale* scale) {
  int above = count_above(s, g, scale->target);
  while (above > WORST && scale->target < 1) {
    above = count_above(s, g, COARSER * scale->target);
    if (above > 0) scale->target *= COARSER;
  }
}

// Mark the trees of unsettled blocks.
static void mark_rough(const tbActiveState* s, Parts* g, const tbPartScale* scale, int turn) {
  for (int i = 0; i < s->p->nblock; i++) {
    if (g->miss[i] <= scale->target) continue;
    for (int e = g->block_start[i]; e < g->block_start[i + 1]; e++) {
      g->rough[g->block_tree[e]] = turn;
    }
  }
}

static void add_to_core(Parts* g, int tree, int turn, int* n, int* weight) {
  g->seen[tree] = g->stamp;
  g->core[tree] = turn;
  g->set[(*n)++] = tree;
  *weight += g->weight[tree];
}

// The trees of block i and the unsettled ones that hang together with them and are in no other core
// of this turn, in `set`: their number.
static int grow_core(Parts* g, int i, int turn) {
  int n = 0, weight = 0;
  g->stamp++;
  for (int e = g->block_start[i]; e < g->block_start[i + 1]; e++) {
    add_to_core(g, g->block_tree[e], turn, &n, &weight);
  }
  for (int head = 0; head < n; head++) {
    int t = g->set[head];
    for (int k = g->tree_start[t]; k < g->tree_start[t + 1]; k++) {
      int b = g->tree_block[k];
      for (int e = g->block_start[b]; e < g->block_start[b + 1] && weight < TB_PART_DOFS; e++) {
        int other = g->block_tree[e];
        if (g->rough[other] != turn || g->core[other] == turn) continue;
        add_to_core(g, other, turn, &n, &weight);
      }
    }
  }
  return n;
}

// Whether a block may still be unsettled (its trees were, and are not all in a core of this turn),
// and whether it is as hard as those whose turn it is.
static bool is_left(const Parts* g, int i, int turn, int level) {
  bool rough = true, done = true;
  int hard = 0;
  for (int e = g->block_start[i]; e < g->block_start[i + 1]; e++) {
    int t = g->block_tree[e];
    rough = rough && g->rough[t] == turn;
    done = done && g->core[t] == turn;
    hard = hard > g->hard[t] ? hard : g->hard[t];
  }
  return rough && !done && hard <= level;
}

// What turns go through.
typedef struct {
  int level;    // how hard are those whose turn it is
  int regions;  // of this turn
  int failed;   // of all
  double work;
} Repair;

// Solve around block i; where that fails, or helps, all of the core counts as hard, or no longer.
// False: out of memory.
static bool solve_region(tbActiveState* s, tbArena* arena, Parts* g, const tbPartScale* scale,
                         int i, int turn, Repair* r) {
  bool solved;
  int core = grow_core(g, i, turn), rings = r->level + (core > SMALL_CORE);
  int trees = tb_subdomain_overlap(g, core, rings);
  tbArenaMark mark = tb_arena_mark(arena);
  tbSubdomain* part = tb_subdomain_make(s, arena, g, trees);
  if (!part || !tb_subdomain_solve(s, arena, part, scale, &solved, &r->work)) return false;
  tb_arena_release(arena, mark);
  for (int k = 0; k < core; k++) g->hard[g->set[k]] = solved ? 0 : r->level + 1;
  r->failed += !solved;
  r->regions++;
  return true;
}

// Solve around everything unsettled once. False: out of memory.
static bool repair(tbActiveState* s, tbArena* arena, Parts* g, const tbPartScale* scale, int turn,
                   Repair* r) {
  tbPartScale fine = *scale;
  fine.target = FINE * s->a->tolerance;
  fine.better = BETTER;
  fine.iterations = ITERATIONS;
  r->regions = 0;
  for (int i = 0; i < s->p->nblock && r->failed < MOST_HARD; i++) {
    if (!is_left(g, i, turn, r->level) ||
        tb_active_fixed_point_residual(s, i, scale) <= scale->target)
      continue;
    if (!solve_region(s, arena, g, &fine, i, turn, r)) return false;
  }
  return true;
}

// Sweeps over what is unsettled, as long as it becomes less.
static void settle(tbActiveState* s, int sweeps) {
  tbPartScale scale = tb_subdomain_scale(s, ROUGH * s->a->tolerance);
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

// Whether repairs have cost no more than a few factors of the island. What a factor costs is looked
// up only where its estimate leaves a doubt. False: out of memory.
static bool keeps_worth(const tbActiveState* s, double work, tbReal most, bool* worth) {
  tbVelocity* system = s->a->system;
  if (work > tb_velocity_work(system) && !tb_velocity_analyze(system)) return false;
  *worth = work <= most * tb_velocity_work(system);
  return true;
}

bool tb_active_subdomain_layers(tbActiveState* s, tbArena* arena, tbSolveInfo* info) {
  Parts* g = tb_subdomains_open(s, arena);
  Repair r = {0};
  if (!g) return false;
  memset(g->hard, 0, sizeof(int) * (size_t)g->ntree);
  bool worth = true, worst_first = s->p->n > WHOLE && tb_active_moving(s);
  for (int k = 0; k < TURNS && r.failed < MOST_HARD && r.level < LEVELS && worth; k++) {
    settle(s, k == 0 ? SWEEPS : SWEEPS_BETWEEN);
    tbPartScale scale = tb_subdomain_scale(s, ROUGH * s->a->tolerance);
    measure(s, g, &scale);
    int turn = ++g->stamp, rough = count_above(s, g, scale.target);
    if (rough == 0 || (k == 0 && !worst_first && rough > s->p->nblock / FEW)) break;
    if (worst_first) choose_target(s, g, &scale);
    mark_rough(s, g, &scale, turn);
    if (!repair(s, arena, g, &scale, turn, &r)) return false;
    if (!keeps_worth(s, r.work, worst_first ? MOST_WORK_WORST : MOST_WORK, &worth)) return false;
    // Where only hard ones are left, these come next.
    r.level = r.regions > 0 ? 0 : r.level + 1;
  }
  tb_subdomains_velocity(s);
  tb_subdomains_count(s, r.work, info);
  return true;
}
