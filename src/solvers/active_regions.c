// Repairs of an island: where all but a few of its contacts have settled, only what surrounds these
// is solved anew, with the impulses of all other contacts held ((1) of active_parts.c). A region is
// a cluster of bodies whose contacts are unsettled, its core, with rings of neighbours; what it
// leaves at its rim is the core of another one in the next turn, smaller each time. So the price of
// the last digits is that of the places that lack them, not that of the island. See
// docs/solver-interior.md.
#include <string.h>

#include "solvers/active_parts.h"

// Where more than one contact in so many is unsettled, the island as a whole is the better way.
enum { FEW = 12 };
// Rings around a core: at first, and where that many regions around it were not solved; how many of
// these there may be. Most turns, and most iterations in a region.
enum { LEVELS = 4, MOST_HARD = 10, TURNS = 40, ITERATIONS = 30 };
static const int RINGS[LEVELS] = {2, 1, 3, 4};
// Times the tolerance: what is unsettled, and what regions are solved to. What does not converge
// would leave more unsettled than before, unless it is that much closer.
static const tbReal ROUGH = 0.9, FINE = 0.3, BETTER = 0.1;

typedef struct tbActiveParts Parts;

static bool is_rough(const tbActiveState* s, int i, const tbPartScale* scale) {
  tbBlock b = s->p->block[i];
  const tbReal* lambda = s->lambda + b.row;
  tbReal sigma[TB_MAX_BLOCK_DIM];
  tb_active_whitened_velocity(s, i, sigma);
  b.row = 0;
  tbProblem one = {.n = b.dim, .nblock = 1, .block = &b, .g = sigma};
  tbResidual r = tb_residual(&one, s->a->law, lambda, sigma);
  return !tb_active_part_holds(&r, scale);
}

// Whether a block's velocity may have changed, or was not good enough, since turn `last` began.
static bool is_new(const Parts* g, int i, int last) {
  bool changed = last == 0;
  for (int e = g->block_start[i]; e < g->block_start[i + 1]; e++) {
    int t = g->block_tree[e];
    changed = changed || g->touched[t] == last || g->rough[t] == last;
  }
  return changed;
}

// Mark the trees of unsettled blocks: the number of such blocks.
static int mark_rough(const tbActiveState* s, Parts* g, const tbPartScale* scale, int last,
                      int turn) {
  int count = 0;
  // In two passes, since marks are looked at.
  for (int i = 0; i < s->p->nblock; i++) g->used[i] = is_new(g, i, last) ? turn : 0;
  for (int i = 0; i < s->p->nblock; i++) {
    if (g->used[i] != turn || !is_rough(s, i, scale)) continue;
    count++;
    for (int e = g->block_start[i]; e < g->block_start[i + 1]; e++) {
      g->rough[g->block_tree[e]] = turn;
    }
  }
  return count;
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
  int core = grow_core(g, i, turn), trees = tb_active_part_rings(g, core, RINGS[r->level]);
  tbArenaMark mark = tb_arena_mark(arena);
  tbActivePart* part = tb_active_part_make(s, arena, g, trees);
  if (!part || !tb_active_part_solve(s, arena, g, part, scale, &solved, &r->work)) return false;
  tb_arena_release(arena, mark);
  for (int k = 0; k < trees; k++) g->touched[g->set[k]] = turn;
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
    if (!is_left(g, i, turn, r->level) || !is_rough(s, i, scale)) continue;
    if (!solve_region(s, arena, g, &fine, i, turn, r)) return false;
  }
  return true;
}

bool tb_active_regions(tbActiveState* s, tbArena* arena, tbSolveInfo* info) {
  Parts* g = tb_active_parts_start(s, arena);
  Repair r = {0};
  if (!g) return false;
  memset(g->hard, 0, sizeof(int) * (size_t)g->ntree);
  for (int k = 0, last = 0; k < TURNS && r.failed < MOST_HARD && r.level < LEVELS; k++) {
    tbPartScale scale = tb_active_part_scale(s, ROUGH * s->a->tolerance);
    int turn = ++g->stamp;
    int rough = mark_rough(s, g, &scale, last, turn);
    if (rough == 0 || (k == 0 && rough > s->p->nblock / FEW)) break;
    last = turn;
    if (!repair(s, arena, g, &scale, turn, &r)) return false;
    // Where only hard ones are left, these come next.
    r.level = r.regions > 0 ? 0 : r.level + 1;
  }
  tb_active_parts_velocity(s);
  tb_active_parts_count(s, r.work, info);
  return true;
}
