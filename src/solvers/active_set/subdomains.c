// Parts of a large island: what a contact does is decided by its neighbours, so that some bodies
// with rings of others around them can be solved with the impulses of all other contacts held,
//
//     sigma_P = g_P + G_PP lambda_P + R lambda_P,   g_P = sigma_P - G_PP lambda_P - R lambda_P at
//     the present lambda                                                                      (1)
//
// by the same machinery as any island, from the present impulses. See docs/solver-interior.md.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/active_set/subdomains.h"
#include "solvers/solver.h"

// Rings stop where a part has LARGEST times the dofs of its core, or of PART where that is more:
// some bodies touch hundreds of others.
enum { PART = TB_PART_DOFS, LARGEST = 4 };
// A part whose velocities and loads are small may be left with so many times its tolerance.
static const tbReal LOOSE = 100;
// Rounds are tried at length on parts of up to FEW rows. Where they fail, ncp/auto is tried on up
// to MOST_GENERAL rows for GENERAL_ITERATIONS iterations: it takes some ms, but a hard place of a
// few bodies keeps the whole island from its answer.
enum { FEW = 300, MOST_GENERAL = 160, GENERAL_ITERATIONS = 200 };

struct tbSubdomain {
  int nblock, n;
  const int* member;  // blocks of the island
  tbBlock* block;
  tbRows* rows;
  tbReal *rho, *R, *g;
  tbReal *lambda, *sigma, *own, *x;  // own: the velocity by the part's impulses alone
  tbVelocity system;
};

typedef struct tbSubdomain Part;
typedef struct tbSubdomains Parts;

// ---- the graph ---------------------------------------------------------------------------------

static int root_of(const tbActive* a, int dof) {
  return a->inertia.forest.colind[a->inertia.forest.rowadr[dof]];
}

// The next tree of a block's support from position *k on, by its first dof, or -1.
static int next_root(const tbActive* a, const tbRows* rows, int* k) {
  if (*k >= rows->nnz) return -1;
  int root = root_of(a, rows->col[*k]);
  while (*k < rows->nnz && root_of(a, rows->col[*k]) == root) (*k)++;
  return root;
}

// Trees of each block. `id`: by dof, all -1.
static bool list_trees(const tbActive* a, int nblock, tbArena* arena, int* id, Parts* g) {
  int total = 0;
  g->block_start = TB_ARENA_NEW(arena, int, nblock + 2);
  if (!g->block_start) return false;
  for (int i = 0; i < nblock; i++) {
    int k = 0;
    while (next_root(a, &a->block[i], &k) >= 0) total++;
    g->block_start[i + 1] = total;
  }
  g->block_tree = TB_ARENA_NEW(arena, int, total + 1);
  if (!g->block_tree) return false;
  for (int i = 0, at = 0; i < nblock; i++) {
    int k = 0, root;
    while ((root = next_root(a, &a->block[i], &k)) >= 0) {
      if (id[root] < 0) id[root] = g->ntree++;
      g->block_tree[at++] = id[root];
    }
  }
  return true;
}

// Blocks of each tree.
static bool list_blocks(int nblock, tbArena* arena, Parts* g) {
  int total = g->block_start[nblock];
  g->tree_start = TB_ARENA_NEW(arena, int, g->ntree + 2);
  g->tree_block = TB_ARENA_NEW(arena, int, total + 1);
  if (arena->failed) return false;
  // From counts to starts; filling moves them on to the ends.
  int* at = g->tree_start + 1;
  for (int e = 0; e < total; e++) at[g->block_tree[e]]++;
  for (int t = 0, sum = 0; t < g->ntree; t++) {
    int count = at[t];
    at[t] = sum;
    sum += count;
  }
  for (int i = 0; i < nblock; i++) {
    for (int e = g->block_start[i]; e < g->block_start[i + 1]; e++) {
      g->tree_block[at[g->block_tree[e]]++] = i;
    }
  }
  return true;
}

static bool build_graph(const tbActiveState* s, tbArena* arena, Parts* g) {
  const tbActive* a = s->a;
  int nblock = s->p->nblock;
  g->place = tb_arena_alloc(arena, sizeof(int) * (size_t)(a->inertia.forest.n + 1));
  if (!g->place) return false;
  for (int i = 0; i < a->inertia.forest.n; i++) g->place[i] = -1;
  if (!list_trees(a, nblock, arena, g->place, g) || !list_blocks(nblock, arena, g)) return false;
  int** const by_tree[] = {&g->weight, &g->seen, &g->set, &g->rough, &g->core, &g->hard};
  for (size_t k = 0; k < sizeof by_tree / sizeof *by_tree; k++) {
    *by_tree[k] = TB_ARENA_NEW(arena, int, g->ntree + 2);
  }
  g->used = TB_ARENA_NEW(arena, int, nblock + 1);
  g->member = TB_ARENA_NEW(arena, int, nblock + 1);
  g->miss = TB_ARENA_NEW(arena, tbReal, nblock + 1);
  if (arena->failed) return false;
  for (int i = 0; i < a->system->size; i++) {
    g->weight[g->place[root_of(a, a->system->dof[i])]]++;
  }
  for (int i = 0; i < a->inertia.forest.n; i++) g->place[i] = -1;
  return true;
}

// ---- parts -------------------------------------------------------------------------------------

int tb_subdomain_overlap(Parts* g, int n, int rings) {
  int weight = 0, stamp = g->stamp;
  for (int k = 0; k < n; k++) weight += g->weight[g->set[k]];
  int most = LARGEST * (weight > PART ? weight : PART);
  for (int ring = 0, begin = 0; ring < rings; ring++) {
    int end = n;
    for (int k = begin; k < end; k++) {
      int t = g->set[k];
      for (int j = g->tree_start[t]; j < g->tree_start[t + 1] && weight < most; j++) {
        int b = g->tree_block[j];
        for (int e = g->block_start[b]; e < g->block_start[b + 1]; e++) {
          int other = g->block_tree[e];
          if (g->seen[other] == stamp) continue;
          g->seen[other] = stamp;
          g->set[n++] = other;
          weight += g->weight[other];
        }
      }
    }
    begin = end;
  }
  return n;
}

// Blocks that move none but the first `trees` in `set`, in `member`: their number.
static int list_members(Parts* g, int trees) {
  int count = 0, stamp = g->stamp;
  for (int k = 0; k < trees; k++) {
    int t = g->set[k];
    for (int j = g->tree_start[t]; j < g->tree_start[t + 1]; j++) {
      int b = g->tree_block[j];
      if (g->used[b] == stamp) continue;
      g->used[b] = stamp;
      bool inside = true;
      for (int e = g->block_start[b]; e < g->block_start[b + 1]; e++) {
        inside = inside && g->seen[g->block_tree[e]] == stamp;
      }
      if (inside) g->member[count++] = b;
    }
  }
  return count;
}

// The part's blocks, its compliance and its matrix.
Part* tb_subdomain_make(const tbActiveState* s, tbArena* arena, Parts* g, int trees) {
  const tbActive* a = s->a;
  Part* part = TB_ARENA_NEW(arena, Part, 1);
  int count = list_members(g, trees), n = 0;
  for (int k = 0; k < count; k++) n += s->p->block[g->member[k]].dim;
  int* member = tb_arena_alloc(arena, sizeof(int) * (size_t)(count + 1));
  tbBlock* block = tb_arena_alloc(arena, sizeof(tbBlock) * (size_t)(count + 1));
  tbRows* rows = tb_arena_alloc(arena, sizeof(tbRows) * (size_t)(count + 1));
  tbReal* reals = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(6 * n + 1));
  if (arena->failed) return NULL;
  memcpy(member, g->member, sizeof(int) * (size_t)count);
  *part = (Part){.nblock = count, .n = n, .member = member, .block = block, .rows = rows};
  part->rho = reals;
  part->R = reals + n;
  part->g = reals + 2 * n;
  part->lambda = reals + 3 * n;
  part->sigma = reals + 4 * n;
  part->own = reals + 5 * n;
  for (int k = 0, row = 0; k < count; row += block[k++].dim) {
    int from = s->p->block[member[k]].row;
    block[k] = s->p->block[member[k]];
    block[k].row = row;
    rows[k] = a->block[member[k]];
    for (int r = 0; r < block[k].dim; r++) {
      part->rho[row + r] = a->rho[from + r];
      part->R[row + r] = s->p->R ? s->p->R[from + r] : 0;
    }
  }
  tbVelocity* v = &part->system;
  if (!tb_velocity_build(v, arena, &a->inertia, count, rows, g->place)) return NULL;
  part->x = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(v->size + 1));
  return part->x ? part : NULL;
}

// ---- their solution ----------------------------------------------------------------------------

tbPartScale tb_subdomain_scale(const tbActiveState* s, tbReal target) {
  tbPartScale scale = {.speed = s->fastest, .target = target};
  for (int r = 0; r < s->p->n; r++) {
    tbReal size = fabs(s->lambda[r]);
    if (size > scale.load) scale.load = size;
  }
  if (!(scale.load > 0)) scale.load = INFINITY;
  return scale;
}

tbReal tb_subdomain_residual(const tbResidual* r, const tbPartScale* scale) {
  return tb_max(tb_max(r->primal / scale->load, r->dual / scale->speed),
                r->complementarity / scale->load / scale->speed);
}

// The part as a problem of its own, at the present impulses. False: it is good enough.
static bool pose(const tbActiveState* s, Part* part, const tbPartScale* scale, tbProblem* p) {
  for (int k = 0; k < part->nblock; k++) {
    int from = s->p->block[part->member[k]].row, row = part->block[k].row;
    tb_active_whitened_velocity(s, part->member[k], part->sigma + row);
    memcpy(part->lambda + row, s->lambda + from, sizeof(tbReal) * (size_t)part->block[k].dim);
  }
  *p = (tbProblem){.n = part->n, .nblock = part->nblock, .block = part->block, .g = part->sigma};
  p->R = s->p->R ? part->R : NULL;
  tbResidual now = tb_residual(p, s->a->law, part->lambda, part->sigma);
  return !(tb_subdomain_residual(&now, scale) <= scale->target);
}

// The part once more, by ncp/auto on its Delassus matrix. False: out of memory.
static bool solve_generally(const tbActive* local, const Part* part, tbArena* arena,
                            tbSolveInfo* info) {
  int n = part->n;
  size_t bytes = sizeof(tbReal) * (size_t)n;
  tbReal* G = tb_arena_alloc(arena, bytes * (size_t)n);
  tbReal *unit = TB_ARENA_NEW(arena, tbReal, n), *none = TB_ARENA_NEW(arena, tbReal, n);
  tbReal* lambda = tb_arena_alloc(arena, bytes);
  if (arena->failed) return false;
  // Columns are what unit impulses lead to; rounding apart the matrix is symmetric.
  tbProblem rigid = *local->p;
  rigid.g = none;
  rigid.R = NULL;
  tbActive response = *local;
  response.p = &rigid;
  for (int c = 0; c < n; c++) {
    unit[c] = 1;
    tb_active_response(&response, unit, part->x, G + (size_t)c * (size_t)n);
    unit[c] = 0;
    for (int r = 0; r < c; r++) G[r * n + c] = G[c * n + r];
  }
  tbProblem dense = *local->p;
  dense.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = G, .stride = n};
  tbSolveInfo found;
  memcpy(lambda, part->lambda, bytes);
  if (!tb_solve_exact(&dense, local->tolerance, GENERAL_ITERATIONS, arena, lambda, &found)) {
    return false;
  }
  found.factorizations += info->factorizations;
  info->factorizations = found.factorizations;
  if (found.residual.relative < info->residual.relative) {
    memcpy(part->lambda, lambda, bytes);
    *info = found;
  }
  return true;
}

// Solve (1), and give the island its impulses.
bool tb_subdomain_solve(tbActiveState* s, tbArena* arena, Part* part, const tbPartScale* scale,
                        bool* solved, double* work) {
  tbProblem p;
  tbVelocity* v = &part->system;
  *solved = true;
  if (!pose(s, part, scale, &p)) {
    tb_velocity_release(v);
    return true;
  }
  tbActive local = *s->a;
  local.p = &p;
  local.block = part->rows;
  local.system = v;
  local.rho = part->rho;
  local.measure = NULL;
  local.inherited = NULL;
  local.rest = NULL;
  local.led = NULL;
  local.part = true;
  local.few = part->n <= FEW;
  local.max_iter = scale->iterations;
  // g of (1).
  memset(part->g, 0, sizeof(tbReal) * (size_t)part->n);
  p.g = part->g;
  tb_active_response(&local, part->lambda, part->x, part->own);
  tbReal speed = 0, load = 0;
  for (int r = 0; r < part->n; r++) {
    part->g[r] = part->sigma[r] - part->own[r];
    speed = tb_max(speed, fabs(part->g[r]));
    load = tb_max(load, fabs(part->lambda[r]));
  }
  // Judged by the whole island, small velocities and loads need not be so exact.
  tbReal ease = tb_min(scale->speed / speed, load > 0 ? scale->load / load : 1);
  local.tolerance = scale->target * tb_max(1, tb_min(ease, LOOSE));
  local.enough = 0;
  tbReal before = tb_residual(&p, s->a->law, part->lambda, part->sigma).relative;
  tbSolveInfo info;
  tbArenaMark mark = tb_arena_mark(arena);
  bool ok = tb_active_solve(&local, arena, part->sigma, part->lambda, &info);
  bool hard = ok && info.status != TB_SOLVE_CONVERGED && local.law == TB_LAW_NCP;
  if (hard && part->n <= MOST_GENERAL) ok = solve_generally(&local, part, arena, &info);
  tb_arena_release(arena, mark);
  tb_velocity_release(v);
  *work += info.factorizations * v->ldu.flops;
  bool better = info.residual.relative < scale->better * before;
  *solved = info.status == TB_SOLVE_CONVERGED;
  if (!ok || !(*solved || better)) return ok;
  for (int k = 0; k < part->nblock; k++) {
    int from = s->p->block[part->member[k]].row, row = part->block[k].row;
    tbReal change[TB_MAX_BLOCK_DIM];
    for (int r = 0; r < part->block[k].dim; r++) {
      change[r] = part->lambda[row + r] - s->lambda[from + r];
      s->lambda[from + r] = part->lambda[row + r];
    }
    tb_active_whitened_push(s, part->member[k], change);
  }
  return true;
}

void tb_subdomains_velocity(tbActiveState* s) {
  for (int i = 0; i < s->p->nblock; i++) {
    tb_active_whitened_velocity(s, i, s->sigma + s->p->block[i].row);
  }
}

Parts* tb_subdomains_open(tbActiveState* s, tbArena* arena) {
  if (s->parts) return s->parts;
  Parts* g = TB_ARENA_NEW(arena, Parts, 1);
  if (!g || !build_graph(s, arena, g)) return NULL;
  return s->parts = g;
}

void tb_subdomains_count(const tbActiveState* s, double work, tbSolveInfo* info) {
  info->factorizations += (int)ceil(work / tb_velocity_work(s->a->system));
}
