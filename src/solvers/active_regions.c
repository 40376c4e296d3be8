// Repairs of an island: where all but a few of its contacts have settled, only what surrounds these
// is solved anew, with the impulses of all other contacts held ((1) of active_parts.c). A region is
// a cluster of bodies whose contacts are unsettled, its core, with rings of neighbours; what it
// leaves at its rim is the core of another one in the next turn, smaller each time. So the price of
// the last digits is that of the places that lack them, not that of the island. See
// docs/solver-interior.md.
#include <string.h>

#include "solvers/active_parts.h"

// Where more than one contact in so many is unsettled, the island as a whole is the better way, up
// to that many rows or where it could come to rest, which repairs are too rough for. In a larger
// one there are places that swing for ever under sweeps and keep all others from settling: the
// worst contacts, no more than so many, those of a few places, are repaired first.
enum { FEW = 4, WHOLE = 3000, WORST = 60 };
static const tbReal COARSER = 4;
// Rings around a core: none at first around that many bodies, which are few enough for ncp/auto
// where they are hard (active_parts.c), else one, and one more for every region around it that was
// not solved; how often that may be, and how many regions. Most turns, and most iterations in one.
enum { SMALL_CORE = 10, LEVELS = 5, MOST_HARD = 10, TURNS = 80, ITERATIONS = 30 };
// Most sweeps at first and between turns, after how many of them it shows whether they help, what
// of the unsettled blocks may be left then, and after how many their scale is found anew.
enum { SWEEPS = 160, SWEEPS_BETWEEN = 60, CHUNK = 20, RESCALE = 5 };
static const tbReal SLOW = 0.95;
// Relative residual: below that, single precision holds for a few sweeps only, which then begin
// anew.
static const tbReal EXACT = 5e-7;
// Factorisations of the island that regions may cost: those of a heap cost one or two; and where
// the worst contacts come first.
static const tbReal MOST_WORK = 6, MOST_WORK_WORST = 20;
// Times the tolerance: what is unsettled, and what regions are solved to. What does not converge
// would leave more unsettled than before, unless it is that much closer.
static const tbReal ROUGH = 0.9, FINE = 0.3, BETTER = 0.5;

typedef struct tbActiveParts Parts;

// How far off blocks are.
static void measure(const tbActiveState* s, Parts* g, const tbPartScale* scale) {
  for (int i = 0; i < s->p->nblock; i++) g->miss[i] = tb_active_miss(s, i, scale);
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

// Whether a block may be unsettled still: its trees were, and are not all in a core of this turn;
// and whether it is as hard as the ones whose turn it is.
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
  int trees = tb_active_part_rings(g, core, rings);
  tbArenaMark mark = tb_arena_mark(arena);
  tbActivePart* part = tb_active_part_make(s, arena, g, trees);
  if (!part || !tb_active_part_solve(s, arena, part, scale, &solved, &r->work)) return false;
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
    if (!is_left(g, i, turn, r->level) || tb_active_miss(s, i, scale) <= scale->target) continue;
    if (!solve_region(s, arena, g, &fine, i, turn, r)) return false;
  }
  return true;
}

// Sweeps over what is unsettled, as long as it becomes less.
static void settle(tbActiveState* s, int sweeps) {
  tbPartScale scale = tb_active_part_scale(s, ROUGH * s->a->tolerance);
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
    int count = tb_active_settle(s, &scale);
    if (count == 0 || (k % CHUNK == CHUNK - 1 && count > SLOW * last)) break;
    if (k % CHUNK == CHUNK - 1) last = count;
  }
  tb_active_sweeps_end(s);
}

// Whether repairs have cost no more than a few factors of the island. What these cost is looked up
// only where the estimate leaves a doubt. False: out of memory.
static bool keeps_worth(const tbActiveState* s, double work, tbReal most, bool* worth) {
  tbVelocity* system = s->a->system;
  if (work > tb_velocity_work(system) && !tb_velocity_finish(system)) return false;
  *worth = work <= most * tb_velocity_work(system);
  return true;
}

bool tb_active_regions(tbActiveState* s, tbArena* arena, tbSolveInfo* info) {
  Parts* g = tb_active_parts_start(s, arena);
  Repair r = {0};
  if (!g) return false;
  memset(g->hard, 0, sizeof(int) * (size_t)g->ntree);
  bool worth = true, worst_first = s->p->n > WHOLE && tb_active_moving(s);
  for (int k = 0; k < TURNS && r.failed < MOST_HARD && r.level < LEVELS && worth; k++) {
    settle(s, k == 0 ? SWEEPS : SWEEPS_BETWEEN);
    tbPartScale scale = tb_active_part_scale(s, ROUGH * s->a->tolerance);
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
  tb_active_parts_velocity(s);
  tb_active_parts_count(s, r.work, info);
  return true;
}
