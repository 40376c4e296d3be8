// The symbolic part of the sparse LU: ordering, supernodes, and the position of every block.
#include <stdint.h>
#include <string.h>

#include "linalg/blockgroups.h"
#include "linalg/blocklu.h"
#include "linalg/order.h"

// Supernodes as trees of groups during merging.
typedef struct {
  int* position;  // of a group in the order of elimination
  int* parent;    // group, or -1
  int* merged;    // group whose supernode it joined, or -1
  int* width;     // rows of the supernode whose last group this is
  int* fill;      // rows that remain after it
  int* number;    // of the supernode in postorder, by its last group
} Tree;

// Merging a child saves a pass over a front but adds zeros: it pays if they are few, or if the
// front stays small.
static bool worth_merging(int child_width, int child_fill, int width, int fill) {
  double zeros = 2.0 * (double)(width + fill - child_fill) * (double)child_width;
  double size = (double)child_width + width + fill;
  return zeros <= 0 || size <= 24 || zeros <= 0.08 * size * size;
}

static bool merge_supernodes(tbArena* arena, const tbBlockGroups* g, const tbOrdering* o, Tree* t) {
  int n = g->count;
  t->position = TB_ARENA_NEW(arena, int, n);
  t->parent = TB_ARENA_NEW(arena, int, n);
  t->merged = TB_ARENA_NEW(arena, int, n);
  t->width = TB_ARENA_NEW(arena, int, n);
  t->fill = TB_ARENA_NEW(arena, int, n);
  t->number = TB_ARENA_NEW(arena, int, n);
  if (arena->failed) return false;
  for (int k = 0; k < n; k++) t->position[o->order[k]] = k;
  for (int k = 0; k < n; k++) {
    int v = o->order[k], first = n;
    t->parent[v] = t->merged[v] = -1;
    t->width[v] = g->weight[v];
    for (int m = 0; m < o->fill_count[v]; m++) {
      int u = o->fill[v][m];
      t->fill[v] += g->weight[u];
      if (t->position[u] < first) {
        first = t->position[u];
        t->parent[v] = u;
      }
    }
  }
  // In elimination order a child is complete before its parent is visited.
  for (int k = 0; k < n; k++) {
    int v = o->order[k], up = t->parent[v];
    if (up < 0 || !worth_merging(t->width[v], t->fill[v], t->width[up], t->fill[up])) continue;
    t->merged[v] = up;
    t->width[up] += t->width[v];
  }
  return true;
}

static int last_group(const Tree* t, int v) {
  while (t->merged[v] >= 0) v = t->merged[v];
  return v;
}

// Number the supernodes in postorder; `sequence` receives the last group of each.
static bool postorder(tbArena* arena, const tbBlockGroups* g, const tbOrdering* o, const Tree* t,
                      int* sequence, int* count) {
  int n = g->count;
  int* child = TB_ARENA_NEW(arena, int, n + 1);
  int* sibling = TB_ARENA_NEW(arena, int, n + 1);
  int* stack = TB_ARENA_NEW(arena, int, n + 1);
  if (arena->failed) return false;
  for (int v = 0; v <= n; v++) child[v] = sibling[v] = -1;
  // Children lists; vertex n is the common root.
  for (int k = n - 1; k >= 0; k--) {
    int v = o->order[k];
    if (t->merged[v] >= 0) continue;
    int up = t->parent[v] < 0 ? n : last_group(t, t->parent[v]);
    sibling[v] = child[up];
    child[up] = v;
  }
  int depth = 0;
  *count = 0;
  stack[depth++] = n;
  while (depth > 0) {
    int v = stack[depth - 1];
    if (child[v] >= 0) {
      stack[depth++] = child[v];
      child[v] = sibling[child[v]];
    } else {
      depth--;
      if (v < n) sequence[(*count)++] = v;
    }
  }
  return true;
}

static double front_flops(double width, double below) {
  double flops = 0;
  for (double k = width + below; k > below; k -= 1) flops += 2 * (k - 1) * (k - 1) + (k - 1);
  return flops;
}

// Assign rows to positions in elimination order, and compute each supernode's sizes.
static bool place_rows(tbArena* arena, tbBlockLu* lu, const tbBlockGroups* g, const tbOrdering* o,
                       const Tree* t, const int* sequence) {
  const tbBlockPattern* p = &lu->pattern;
  int n = g->count, rows = 0, nodes = 0;
  // Groups of each supernode: a list per last group, in order of elimination.
  int* head = TB_ARENA_NEW(arena, int, n);
  int* next = TB_ARENA_NEW(arena, int, n);
  if (arena->failed) return false;
  for (int v = 0; v < n; v++) head[v] = -1;
  for (int k = n - 1; k >= 0; k--) {
    int v = o->order[k], last = last_group(t, v);
    next[v] = head[last];
    head[last] = v;
  }
  for (int s = 0; s < lu->supernodes; s++) {
    int last = sequence[s];
    tbSupernode* node = &lu->node[s];
    t->number[last] = s;
    node->first = rows;
    node->width = t->width[last];
    node->below = t->fill[last];
    lu->first_diagonal[s] = nodes;
    for (int v = head[last]; v >= 0; v = next[v]) {
      for (int m = g->begin[v]; m < g->begin[v + 1]; m++) {
        int i = g->member[m];
        lu->diagonal_order[nodes++] = i;
        lu->diagonal_place[i] = rows - node->first;
        for (int r = 0; r < p->dim[i]; r++) lu->position[p->row[i] + r] = rows++;
      }
    }
    lu->flops += front_flops(node->width, node->below);
  }
  lu->first_diagonal[lu->supernodes] = nodes;
  return true;
}

static void sort_ints(int* x, int n) {
  // Shell sort: lists are short and this runs once per pattern.
  for (int gap = n / 2; gap > 0; gap /= 2) {
    for (int i = gap; i < n; i++) {
      int v = x[i], j = i;
      for (; j >= gap && x[j - gap] > v; j -= gap) x[j] = x[j - gap];
      x[j] = v;
    }
  }
}

// The remaining rows of every supernode, ascending, and their indices in the parent's front.
static bool map_rows(tbArena* arena, tbBlockLu* lu, const tbBlockGroups* g, const tbOrdering* o,
                     const Tree* t, const int* sequence) {
  const tbBlockPattern* p = &lu->pattern;
  size_t total = 0;
  for (int s = 0; s < lu->supernodes; s++) total += (size_t)lu->node[s].below;
  if (total > INT32_MAX / 2) return false;
  lu->below_rows = TB_ARENA_NEW(arena, int, total + (size_t)lu->supernodes + 1);
  lu->map = TB_ARENA_NEW(arena, int, total + 1);
  int* index = TB_ARENA_NEW(arena, int, lu->size);
  if (arena->failed) return false;
  int at = 0;
  for (int s = 0; s < lu->supernodes; s++) {
    int last = sequence[s], begin = at;
    lu->node[s].index = at;
    lu->node[s].parent = t->parent[last] < 0 ? -1 : t->number[last_group(t, t->parent[last])];
    for (int m = 0; m < o->fill_count[last]; m++) {
      int u = o->fill[last][m];
      for (int q = g->begin[u]; q < g->begin[u + 1]; q++) {
        int i = g->member[q];
        for (int r = 0; r < p->dim[i]; r++) lu->below_rows[at++] = lu->position[p->row[i] + r];
      }
    }
    sort_ints(lu->below_rows + begin, at - begin);
  }
  lu->node[lu->supernodes].index = at;
  for (int s = 0; s < lu->supernodes; s++) {
    const tbSupernode* node = &lu->node[s];
    if (node->parent < 0) continue;
    const tbSupernode* up = &lu->node[node->parent];
    for (int r = 0; r < up->below; r++) index[lu->below_rows[up->index + r]] = up->width + r;
    for (int r = 0; r < node->below; r++) {
      int row = lu->below_rows[node->index + r];
      lu->map[node->index + r] = row < up->first + up->width ? row - up->first : index[row];
    }
  }
  return true;
}

// List the blocks that enter the front of every supernode.
static bool list_entries(tbArena* arena, tbBlockLu* lu) {
  const tbBlockPattern* p = &lu->pattern;
  size_t count = (size_t)p->start[p->nodes] + 1;
  lu->entry = TB_ARENA_NEW(arena, tbFrontalEntry, count);
  lu->row_dim = TB_ARENA_NEW(arena, int, count);
  lu->col_dim = TB_ARENA_NEW(arena, int, count);
  int* index = TB_ARENA_NEW(arena, int, lu->size);
  if (arena->failed) return false;
  int at = 0;
  for (int s = 0; s < lu->supernodes; s++) {
    tbSupernode* node = &lu->node[s];
    node->entry_begin = at;
    for (int r = 0; r < node->width; r++) index[node->first + r] = r;
    for (int r = 0; r < node->below; r++) {
      index[lu->below_rows[node->index + r]] = node->width + r;
    }
    for (int m = lu->first_diagonal[s]; m < lu->first_diagonal[s + 1]; m++) {
      int i = lu->diagonal_order[m];
      for (int k = p->start[i]; k < p->start[i + 1]; k++) {
        int j = p->column[k], where = lu->position[p->row[j]];
        if (where < node->first) continue;
        bool later = where >= node->first + node->width;
        lu->entry[at] = (tbFrontalEntry){k, lu->diagonal_place[i], index[where], later};
        lu->row_dim[at] = p->dim[i];
        lu->col_dim[at++] = p->dim[j];
      }
    }
    node->entry_end = at;
  }
  return true;
}

// Allocate the factors, the largest front and the deepest stack.
static bool allocate_scratch(tbArena* arena, tbBlockLu* lu) {
  size_t factors = 0, front = 0, stack = 0, deepest = 0;
  size_t* open = (size_t*)tb_arena_alloc(arena, ((size_t)lu->supernodes + 1) * sizeof(size_t));
  int* owner = TB_ARENA_NEW(arena, int, lu->supernodes + 1);
  if (arena->failed) return false;
  int waiting = 0;
  for (int s = 0; s < lu->supernodes; s++) {
    tbSupernode* node = &lu->node[s];
    size_t width = (size_t)node->width, below = (size_t)node->below, size = width + below;
    node->factor = factors;
    factors += width * size + below * width;
    if (size * size > front) front = size * size;
    while (waiting > 0 && lu->node[owner[waiting - 1]].parent == s) stack -= open[--waiting];
    if (below > 0) {
      owner[waiting] = s;
      open[waiting++] = below * below;
      stack += below * below;
    }
    if (stack > deepest) deepest = stack;
  }
  if (factors > SIZE_MAX / 64 || front > SIZE_MAX / 64 || deepest > SIZE_MAX / 64) return false;
  lu->factor_count = factors;
  lu->factors = (tbReal*)tb_arena_alloc(arena, (factors + 1) * sizeof(tbReal));
  lu->front = (tbReal*)tb_arena_alloc(arena, (front + 1) * sizeof(tbReal));
  lu->stack = (tbReal*)tb_arena_alloc(arena, (deepest + 1) * sizeof(tbReal));
  lu->work = TB_ARENA_NEW(arena, tbReal, lu->size);
  lu->pivot = TB_ARENA_NEW(arena, int, lu->size);
  return !arena->failed;
}

bool tb_block_lu_analyze(tbBlockLu* lu, tbArena* arena, const tbBlockPattern* pattern) {
  memset(lu, 0, sizeof *lu);
  lu->pattern = *pattern;
  lu->size = pattern->row[pattern->nodes];
  int n = pattern->nodes;
  tbBlockGroups groups;
  tbOrdering ordering;
  Tree tree;
  if (!tb_block_groups(arena, pattern, &groups)) return false;
  if (!tb_order_minimum_degree(arena, groups.count, groups.weight, groups.start, groups.column,
                               &ordering)) {
    return false;
  }
  int* sequence = TB_ARENA_NEW(arena, int, groups.count);
  lu->position = TB_ARENA_NEW(arena, int, lu->size);
  lu->diagonal_front = TB_ARENA_NEW(arena, int, n);
  lu->diagonal_place = TB_ARENA_NEW(arena, int, n);
  lu->diagonal_order = TB_ARENA_NEW(arena, int, n);
  if (arena->failed || !merge_supernodes(arena, &groups, &ordering, &tree)) return false;
  if (!postorder(arena, &groups, &ordering, &tree, sequence, &lu->supernodes)) return false;
  lu->node = TB_ARENA_NEW(arena, tbSupernode, lu->supernodes + 1);
  lu->first_diagonal = TB_ARENA_NEW(arena, int, lu->supernodes + 1);
  if (arena->failed) return false;
  for (int i = 0, at = 0; i < n; i++) {
    lu->diagonal_front[i] = at;
    at += pattern->dim[i] * pattern->dim[i];
  }
  return place_rows(arena, lu, &groups, &ordering, &tree, sequence) &&
         map_rows(arena, lu, &groups, &ordering, &tree, sequence) && list_entries(arena, lu) &&
         allocate_scratch(arena, lu);
}
