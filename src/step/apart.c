#include "step/apart.h"

#include <math.h>
#include <string.h>

// Of the largest free velocity: what comes apart faster is left out at first.
static const tbReal CLEAR = 1e-2;
// Times the tolerance: how much looser a part may be solved than an island of its own.
static const tbReal MOST_EASE = 10, CAUTION = 0.8;

static bool may_open(const tbBlock* b) {
  return b->type == TB_BLOCK_CONE || (b->type == TB_BLOCK_ONE_SIDED && b->dim == 1);
}

static tbReal fastest(const tbProblem* p) {
  tbReal most = 0;
  for (int r = 0; r < p->n; r++) most = fmax(most, fabs(p->g[r]));
  return most;
}

bool tb_apart_open(tbApart* apart, tbArena* arena, tbIsland* island, const tbReal* sigma) {
  const tbProblem* p = &island->problem;
  *apart = (tbApart){.whole = island, .speed = fastest(p)};
  apart->closed = tb_arena_alloc(arena, (size_t)island->nmember + 1);
  apart->part = tb_arena_alloc(arena, sizeof(int) * (size_t)(island->nmember + 1));
  if (!apart->closed || !apart->part) return false;
  for (int k = 0; k < p->nblock; k++) {
    const tbBlock* b = &p->block[k];
    // y of docs/solver-active.md (1), as a velocity.
    tbReal away = sigma[b->row] - island->rho[b->row] * island->lambda[b->row];
    apart->closed[k] = !(may_open(b) && away > CLEAR * apart->speed);
    if (!apart->closed[k]) memset(island->lambda + b->row, 0, sizeof(tbReal) * (size_t)b->dim);
  }
  return true;
}

bool tb_apart_close(tbApart* apart, const tbReal* sigma) {
  const tbProblem* p = &apart->whole->problem;
  bool any = false;
  for (int k = 0; k < p->nblock; k++) {
    if (apart->closed[k] || sigma[p->block[k].row] >= 0) continue;
    apart->closed[k] = 1;
    any = true;
  }
  return any;
}

tbReal tb_apart_ease(const tbApart* apart, const tbIsland* part) {
  tbReal own = fastest(&part->problem);
  return own > 0 ? fmax(1, fmin(CAUTION * apart->speed / own, MOST_EASE)) : 1;
}

// ---- parts -------------------------------------------------------------------------------------

static int find_root(int* parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

// Members that share a tree are of one part, numbered as they come: the number of parts.
static int label_parts(tbApart* a, const tbModel* m, const tbConstraint* list, int* parent,
                       int* first) {
  const tbIsland* island = a->whole;
  int count = 0;
  for (int k = 0; k < island->nmember; k++) parent[k] = k;
  // first: by tree, the first member that moves it. -1 but for the trees of this island.
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &list[island->member[k]];
    for (int j = 0; j < c->nnz && a->closed[k]; j++) {
      int* owner = &first[m->dof_treeid[c->col[j]]];
      if (*owner < 0) *owner = k;
      int x = find_root(parent, *owner), y = find_root(parent, k);
      // The earlier one stays the root.
      parent[x > y ? x : y] = x < y ? x : y;
    }
  }
  for (int k = 0; k < island->nmember; k++) {
    a->part[k] = -1;
    if (!a->closed[k]) continue;
    int root = find_root(parent, k);
    a->part[k] = root == k ? count++ : a->part[root];
  }
  return count;
}

// Room for the members, blocks and rows of a part.
static bool make_part(tbIsland* part, tbArena* arena, const tbIsland* whole) {
  size_t n = (size_t)part->problem.n, count = (size_t)part->nmember;
  enum { VECTORS = 6 };
  int* member = tb_arena_alloc(arena, sizeof(int) * (count + 1));
  tbBlock* block = tb_arena_alloc(arena, sizeof(tbBlock) * (count + 1));
  tbReal* reals = tb_arena_alloc(arena, sizeof(tbReal) * (VECTORS * n + 1));
  if (!member || !block || !reals) return false;
  part->member = member;
  part->problem.block = block;
  part->g = reals;
  part->R = reals + n;
  part->rho = reals + 2 * n;
  part->lambda = reals + 3 * n;
  part->sigma = reals + 4 * n;
  part->rest = whole->rest ? reals + 5 * n : NULL;
  part->problem.g = part->g;
  part->problem.R = part->R;
  part->problem.dt = whole->problem.dt;
  part->measure = NAN;
  part->inherited = whole->inherited;
  return true;
}

// Rows of member k of the whole to the end of its part.
static void add_member(const tbApart* a, int k, const tbReal* sigma) {
  const tbIsland* whole = a->whole;
  tbIsland* part = &a->parts.island[a->part[k]];
  const tbBlock* b = &whole->problem.block[k];
  int to = part->problem.n, from = b->row;
  size_t bytes = sizeof(tbReal) * (size_t)b->dim;
  ((int*)part->member)[part->nmember] = whole->member[k];
  tbBlock* block = (tbBlock*)part->problem.block + part->nmember++;
  *block = *b;
  block->row = to;
  part->problem.n += b->dim;
  part->problem.nblock++;
  memcpy(part->g + to, whole->g + from, bytes);
  memcpy(part->R + to, whole->R + from, bytes);
  memcpy(part->rho + to, whole->rho + from, bytes);
  memcpy(part->lambda + to, whole->lambda + from, bytes);
  memcpy(part->sigma + to, sigma + from, bytes);
  if (part->rest) memcpy(part->rest + to, whole->lambda + from, bytes);
}

bool tb_apart_divide(tbApart* a, tbArena* arena, const tbModel* m, const tbConstraints* constraints,
                     const tbReal* sigma) {
  const tbIsland* whole = a->whole;
  int* parent = tb_arena_alloc(arena, sizeof(int) * (size_t)(whole->nmember + 1));
  int* first = tb_arena_alloc(arena, sizeof(int) * (size_t)(m->ntree + 1));
  if (!parent || !first) return false;
  for (int k = 0; k < whole->nmember; k++) {
    const tbConstraint* c = &constraints->list[whole->member[k]];
    for (int j = 0; j < c->nnz; j++) first[m->dof_treeid[c->col[j]]] = -1;
  }
  int count = label_parts(a, m, constraints->list, parent, first);
  a->parts = (tbIslands){count, TB_ARENA_NEW(arena, tbIsland, count + 1)};
  if (!a->parts.island) return false;
  for (int k = 0; k < whole->nmember; k++) {
    if (a->part[k] < 0) continue;
    tbIsland* part = &a->parts.island[a->part[k]];
    part->nmember++;
    part->problem.n += whole->problem.block[k].dim;
  }
  for (int i = 0; i < count; i++) {
    tbIsland* part = &a->parts.island[i];
    if (!make_part(part, arena, whole)) return false;
    part->nmember = part->problem.n = 0;
  }
  for (int k = 0; k < whole->nmember; k++) {
    if (a->part[k] >= 0) add_member(a, k, sigma);
  }
  return true;
}

void tb_apart_collect(const tbApart* a, tbIsland* island) {
  size_t bytes = sizeof(tbReal) * (size_t)island->problem.n;
  if (island->rest) memset(island->rest, 0, bytes);
  // Parts have their members in the order of the island's.
  for (int i = 0; i < a->parts.count; i++) a->parts.island[i].nmember = 0;
  for (int k = 0; k < island->nmember; k++) {
    if (a->part[k] < 0) continue;
    tbIsland* part = &a->parts.island[a->part[k]];
    const tbBlock* b = &part->problem.block[part->nmember++];
    size_t size = sizeof(tbReal) * (size_t)b->dim;
    int to = island->problem.block[k].row;
    memcpy(island->lambda + to, part->lambda + b->row, size);
    if (island->rest) memcpy(island->rest + to, part->rest + b->row, size);
  }
}
