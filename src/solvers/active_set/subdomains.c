// Subdomains of a large island: the impulse of a contact depends mostly on its neighbours, so that
// some bodies with layers of neighbours can be solved with the impulses of all other contacts
// fixed,
//
//     sigma_P = g_P + G_PP lambda_P + R lambda_P,   g_P = sigma_P - G_PP lambda_P - R lambda_P at
//     the present lambda                                                                      (1)
//
// by the same method as any island, from the present impulses. See docs/notebook/interior-point.md.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/active_set/subdomains.h"
#include "solvers/solver.h"

// The overlap stops growing at LARGEST times the dofs of the seed, or of DOFS if that is more: some
// bodies touch hundreds of others.
enum { DOFS = TB_SUBDOMAIN_DOFS, LARGEST = 4 };
// The tolerance of a subdomain with small velocities and loads may be multiplied by up to this.
static const tbReal MOST_EASE = 100;
// On subdomains of up to FEW rows Newton iterations are cheap. If they fail, ncp/auto is tried on
// up to MOST_GENERAL rows for GENERAL_ITERATIONS iterations: this takes some ms, but one
// unconverged subdomain of a few bodies keeps the whole island from converging.
enum { FEW = 300, MOST_GENERAL = 160, GENERAL_ITERATIONS = 200 };

struct tbSubdomain {
  int nblock, n;
  const int* member;  // blocks of the island
  tbBlock* block;
  tbRows* rows;
  tbReal *rho, *R, *g;
  tbReal *lambda, *sigma, *own, *x;  // own: the velocity by the subdomain's impulses alone
  tbVelocity system;
};

typedef struct tbSubdomain Subdomain;
typedef struct tbSubdomains Subdomains;

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
static bool list_trees(const tbActive* a, int nblock, tbArena* arena, int* id, Subdomains* g) {
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
static bool list_blocks(int nblock, tbArena* arena, Subdomains* g) {
  int total = g->block_start[nblock];
  g->tree_start = TB_ARENA_NEW(arena, int, g->ntree + 2);
  g->tree_block = TB_ARENA_NEW(arena, int, total + 1);
  if (arena->failed) return false;
  // From counts to starts; filling advances the starts to the ends.
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

static bool build_graph(const tbActiveState* s, tbArena* arena, Subdomains* g) {
  const tbActive* a = s->a;
  int nblock = s->p->nblock;
  g->index = tb_arena_alloc(arena, sizeof(int) * (size_t)(a->inertia.forest.n + 1));
  if (!g->index) return false;
  for (int i = 0; i < a->inertia.forest.n; i++) g->index[i] = -1;
  if (!list_trees(a, nblock, arena, g->index, g) || !list_blocks(nblock, arena, g)) return false;
  int** const by_tree[] = {&g->weight, &g->seen, &g->set, &g->unconverged, &g->seed, &g->failures};
  for (size_t k = 0; k < sizeof by_tree / sizeof *by_tree; k++) {
    *by_tree[k] = TB_ARENA_NEW(arena, int, g->ntree + 2);
  }
  g->used = TB_ARENA_NEW(arena, int, nblock + 1);
  g->member = TB_ARENA_NEW(arena, int, nblock + 1);
  g->residual = TB_ARENA_NEW(arena, tbReal, nblock + 1);
  if (arena->failed) return false;
  for (int i = 0; i < a->system->size; i++) {
    g->weight[g->index[root_of(a, a->system->dof[i])]]++;
  }
  for (int i = 0; i < a->inertia.forest.n; i++) g->index[i] = -1;
  return true;
}

// ---- construction ------------------------------------------------------------------------------

int tb_subdomain_overlap(Subdomains* g, int n, int layers) {
  int weight = 0, stamp = g->stamp;
  for (int k = 0; k < n; k++) weight += g->weight[g->set[k]];
  int most = LARGEST * (weight > DOFS ? weight : DOFS);
  for (int layer = 0, begin = 0; layer < layers; layer++) {
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

// Collect in `member` the blocks that move only the first `trees` in `set`; returns their number.
static int list_members(Subdomains* g, int trees) {
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

// The subdomain's blocks, compliance and matrix.
Subdomain* tb_subdomain_make(const tbActiveState* s, tbArena* arena, Subdomains* g, int trees) {
  const tbActive* a = s->a;
  Subdomain* sub = TB_ARENA_NEW(arena, Subdomain, 1);
  int count = list_members(g, trees), n = 0;
  for (int k = 0; k < count; k++) n += s->p->block[g->member[k]].dim;
  int* member = tb_arena_alloc(arena, sizeof(int) * (size_t)(count + 1));
  tbBlock* block = tb_arena_alloc(arena, sizeof(tbBlock) * (size_t)(count + 1));
  tbRows* rows = tb_arena_alloc(arena, sizeof(tbRows) * (size_t)(count + 1));
  tbReal* reals = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(6 * n + 1));
  if (arena->failed) return NULL;
  memcpy(member, g->member, sizeof(int) * (size_t)count);
  *sub = (Subdomain){.nblock = count, .n = n, .member = member, .block = block, .rows = rows};
  sub->rho = reals;
  sub->R = reals + n;
  sub->g = reals + 2 * n;
  sub->lambda = reals + 3 * n;
  sub->sigma = reals + 4 * n;
  sub->own = reals + 5 * n;
  for (int k = 0, row = 0; k < count; row += block[k++].dim) {
    int from = s->p->block[member[k]].row;
    block[k] = s->p->block[member[k]];
    block[k].row = row;
    rows[k] = a->block[member[k]];
    for (int r = 0; r < block[k].dim; r++) {
      sub->rho[row + r] = a->rho[from + r];
      sub->R[row + r] = s->p->R ? s->p->R[from + r] : 0;
    }
  }
  tbVelocity* v = &sub->system;
  if (!tb_velocity_build(v, arena, &a->inertia, count, rows, g->index)) return NULL;
  sub->x = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(v->size + 1));
  return sub->x ? sub : NULL;
}

// ---- solution ----------------------------------------------------------------------------------

tbSubdomainScale tb_subdomain_scale(const tbActiveState* s, tbReal target) {
  tbSubdomainScale scale = {.speed = s->max_speed, .target = target};
  for (int r = 0; r < s->p->n; r++) {
    tbReal size = fabs(s->lambda[r]);
    if (size > scale.load) scale.load = size;
  }
  if (!(scale.load > 0)) scale.load = INFINITY;
  return scale;
}

tbReal tb_subdomain_residual(const tbResidual* r, const tbSubdomainScale* scale) {
  return tb_max(tb_max(r->primal / scale->load, r->dual / scale->speed),
                r->complementarity / scale->load / scale->speed);
}

// Set up the subdomain as a problem at the present impulses. False: its residual is small enough.
static bool set_up(const tbActiveState* s, Subdomain* sub, const tbSubdomainScale* scale,
                   tbProblem* p) {
  for (int k = 0; k < sub->nblock; k++) {
    int from = s->p->block[sub->member[k]].row, row = sub->block[k].row;
    tb_active_whitened_velocity(s, sub->member[k], sub->sigma + row);
    memcpy(sub->lambda + row, s->lambda + from, sizeof(tbReal) * (size_t)sub->block[k].dim);
  }
  *p = (tbProblem){.n = sub->n, .nblock = sub->nblock, .block = sub->block, .g = sub->sigma};
  p->R = s->p->R ? sub->R : NULL;
  tbResidual now = tb_residual(p, s->a->law, sub->lambda, sub->sigma);
  return !(tb_subdomain_residual(&now, scale) <= scale->target);
}

// Solve the subdomain again, by ncp/auto on its Delassus matrix. False: out of memory.
static bool solve_general(const tbActive* local, const Subdomain* sub, tbArena* arena,
                          tbSolveInfo* info) {
  int n = sub->n;
  size_t bytes = sizeof(tbReal) * (size_t)n;
  tbReal* G = tb_arena_alloc(arena, bytes * (size_t)n);
  tbReal *unit = TB_ARENA_NEW(arena, tbReal, n), *none = TB_ARENA_NEW(arena, tbReal, n);
  tbReal* lambda = tb_arena_alloc(arena, bytes);
  if (arena->failed) return false;
  // Columns are the velocities of unit impulses; the matrix is symmetric up to rounding.
  tbProblem rigid = *local->p;
  rigid.g = none;
  rigid.R = NULL;
  tbActive response = *local;
  response.p = &rigid;
  for (int c = 0; c < n; c++) {
    unit[c] = 1;
    tb_active_response(&response, unit, sub->x, G + (size_t)c * (size_t)n);
    unit[c] = 0;
    for (int r = 0; r < c; r++) G[r * n + c] = G[c * n + r];
  }
  tbProblem dense = *local->p;
  dense.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = G, .stride = n};
  tbSolveInfo found;
  memcpy(lambda, sub->lambda, bytes);
  if (!tb_solve_exact(&dense, local->tolerance, GENERAL_ITERATIONS, arena, lambda, &found)) {
    return false;
  }
  found.factorizations += info->factorizations;
  info->factorizations = found.factorizations;
  if (found.residual.relative < info->residual.relative) {
    memcpy(sub->lambda, lambda, bytes);
    *info = found;
  }
  return true;
}

// Solve (1), and copy the impulses to the island.
bool tb_subdomain_solve(tbActiveState* s, tbArena* arena, Subdomain* sub,
                        const tbSubdomainScale* scale, bool* solved, double* work) {
  tbProblem p;
  tbVelocity* v = &sub->system;
  *solved = true;
  if (!set_up(s, sub, scale, &p)) {
    tb_velocity_release(v);
    return true;
  }
  tbActive local = *s->a;
  local.p = &p;
  local.block = sub->rows;
  local.system = v;
  local.rho = sub->rho;
  local.start_residual = NULL;
  local.carried_error = NULL;
  local.resting_start = NULL;
  local.last_applied = NULL;
  local.part = true;
  local.few_dofs = sub->n <= FEW;
  local.max_iter = scale->iterations;
  // g of (1).
  memset(sub->g, 0, sizeof(tbReal) * (size_t)sub->n);
  p.g = sub->g;
  tb_active_response(&local, sub->lambda, sub->x, sub->own);
  tbReal speed = 0, load = 0;
  for (int r = 0; r < sub->n; r++) {
    sub->g[r] = sub->sigma[r] - sub->own[r];
    speed = tb_max(speed, fabs(sub->g[r]));
    load = tb_max(load, fabs(sub->lambda[r]));
  }
  // Small velocities and loads need less relative accuracy in the scale of the whole island.
  tbReal ease = tb_min(scale->speed / speed, load > 0 ? scale->load / load : 1);
  local.tolerance = scale->target * tb_max(1, tb_min(ease, MOST_EASE));
  local.acceptable = 0;
  tbReal before = tb_residual(&p, s->a->law, sub->lambda, sub->sigma).relative;
  tbSolveInfo info;
  tbArenaMark mark = tb_arena_mark(arena);
  bool ok = tb_active_solve(&local, arena, sub->sigma, sub->lambda, &info);
  bool hard = ok && info.status != TB_SOLVE_CONVERGED && local.law == TB_LAW_NCP;
  if (hard && sub->n <= MOST_GENERAL) ok = solve_general(&local, sub, arena, &info);
  tb_arena_release(arena, mark);
  tb_velocity_release(v);
  *work += info.factorizations * v->ldu.flops;
  bool better = info.residual.relative < scale->better * before;
  *solved = info.status == TB_SOLVE_CONVERGED;
  if (!ok || !(*solved || better)) return ok;
  for (int k = 0; k < sub->nblock; k++) {
    int from = s->p->block[sub->member[k]].row, row = sub->block[k].row;
    tbReal change[TB_MAX_BLOCK_DIM];
    for (int r = 0; r < sub->block[k].dim; r++) {
      change[r] = sub->lambda[row + r] - s->lambda[from + r];
      s->lambda[from + r] = sub->lambda[row + r];
    }
    tb_active_whitened_push(s, sub->member[k], change);
  }
  return true;
}

void tb_subdomains_velocity(tbActiveState* s) {
  for (int i = 0; i < s->p->nblock; i++) {
    tb_active_whitened_velocity(s, i, s->sigma + s->p->block[i].row);
  }
}

Subdomains* tb_subdomains_open(tbActiveState* s, tbArena* arena) {
  if (s->subdomains) return s->subdomains;
  Subdomains* g = TB_ARENA_NEW(arena, Subdomains, 1);
  if (!g || !build_graph(s, arena, g)) return NULL;
  return s->subdomains = g;
}

void tb_subdomains_count(const tbActiveState* s, double work, tbSolveInfo* info) {
  info->factorizations += (int)ceil(work / tb_velocity_work(s->a->system));
}
