// The structure of operator/velocity.h: its dofs, the nodes that they form and their order, the
// rows of all blocks by nodes, and M.
#include <string.h>

#include "base/minmax.h"
#include "linalg/order.h"
#include "operator/body_rows.h"
#include "operator/velocity_chains.h"

// ---- nodes -------------------------------------------------------------------------------------

// Data needed only while a system is built. Nodes and trees are numbered by their first dof.
typedef struct {
  tbArena* arena;
  int nnode, ntree;
  int* node_of;     // by index of a dof
  int* first;       // by node: index of its first dof; first[nnode] is their number
  int* parent;      // by node: or -1
  int* tree;        // by node
  int* tree_first;  // by tree: its first node
  int* order;       // trees in order of elimination
  int* number;      // by node: in order of elimination
  int *dim, *edge_start, *edge;
} Builder;

static void sort_ints(int* x, int n) {
  int gap = 1;
  while (gap < n / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (int i = gap; i < n; i++) {
      int v = x[i], j = i;
      for (; j >= gap && x[j - gap] > v; j -= gap) x[j] = x[j - gap];
      x[j] = v;
    }
  }
}

// Collect the dofs of all supports in order. Before indices are assigned, `index` is the run's
// length at the first dof of a run of consecutive dofs, and 0 at the others: only runs are sorted,
// a sixth of the dofs if bodies are free.
static bool collect_dofs(tbVelocity* s, Builder* b) {
  int most = 0, runs = 0;
  for (int i = 0; i < s->nblock; i++) most += s->block[i].nnz;
  if (most > s->forest.n) most = s->forest.n;
  s->dof = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(most + 1));
  if (!s->dof) return false;
  for (int i = 0; i < s->nblock; i++) {
    for (int k = 0, first = -1, next = -1; k < s->block[i].nnz; k++) {
      int dof = s->block[i].col[k];
      if (s->index[dof] >= 0) continue;
      if (dof != next) s->dof[runs++] = first = dof;
      s->index[dof] = 0;
      s->index[first]++;
      next = dof + 1;
      s->size++;
    }
  }
  sort_ints(s->dof, runs);
  // Starting with the last run, each run moves to the position of its first dof or further back.
  for (int r = runs - 1, end = s->size; r >= 0; r--) {
    int first = s->dof[r];
    for (int k = s->index[first] - 1; k >= 0; k--) s->dof[--end] = first + k;
  }
  for (int i = 0; i < s->size; i++) s->index[s->dof[i]] = i;
  return true;
}

// The index of a dof's parent, or -1.
static int parent_index(const tbVelocity* s, int i) {
  int dof = s->dof[i], nnz = s->forest.rownnz[dof];
  return nnz > 1 ? s->index[s->forest.colind[s->forest.rowadr[dof] + nnz - 2]] : -1;
}

static bool find_nodes(tbVelocity* s, Builder* b) {
  size_t n = (size_t)s->size + 1;
  b->node_of = tb_arena_alloc(b->arena, sizeof(int) * n);
  b->first = tb_arena_alloc(b->arena, sizeof(int) * n);
  b->parent = tb_arena_alloc(b->arena, sizeof(int) * n);
  b->tree = tb_arena_alloc(b->arena, sizeof(int) * n);
  b->tree_first = tb_arena_alloc(b->arena, sizeof(int) * n);
  int* children = TB_ARENA_NEW(b->arena, int, n);
  if (b->arena->failed) return false;
  for (int i = 0; i < s->size; i++) {
    int up = parent_index(s, i);
    if (up >= 0) children[up]++;
  }
  for (int i = 0; i < s->size; i++) {
    int up = parent_index(s, i);
    // A single child follows its parent.
    if (up >= 0 && children[up] == 1 && i - b->first[b->node_of[up]] < TB_LDU_DIM) {
      b->node_of[i] = b->node_of[up];
      continue;
    }
    int node = b->nnode++;
    b->node_of[i] = node;
    b->first[node] = i;
    b->parent[node] = up >= 0 ? b->node_of[up] : -1;
    if (up < 0) b->tree_first[b->ntree++] = node;
    b->tree[node] = b->ntree - 1;
  }
  b->first[b->nnode] = s->size;
  b->tree_first[b->ntree] = b->nnode;
  return true;
}

// The next tree of a block's support from position *k on, or -1.
static int next_tree(const tbVelocity* s, const Builder* b, const tbRows* rows, int* k) {
  if (*k >= rows->nnz) return -1;
  int tree = b->tree[b->node_of[s->index[rows->col[*k]]]];
  int end = s->dof[b->first[b->tree_first[tree + 1]] - 1];
  while (*k < rows->nnz && rows->col[*k] <= end) (*k)++;
  return tree;
}

// Count and list the neighbours of every tree, without duplicates.
static bool tree_graph(const tbVelocity* s, Builder* b, int** start, int** column) {
  int* count = TB_ARENA_NEW(b->arena, int, b->ntree + 2);
  int* mark = TB_ARENA_NEW(b->arena, int, b->ntree + 1);
  *start = TB_ARENA_NEW(b->arena, int, b->ntree + 2);
  if (b->arena->failed) return false;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < s->nblock; i++) {
      int k = 0, first = next_tree(s, b, &s->block[i], &k), other;
      // A block links its first tree to all others, which suffices for an elimination order.
      while ((other = next_tree(s, b, &s->block[i], &k)) >= 0) {
        if (pass == 0) {
          count[first + 1]++;
          count[other + 1]++;
        } else {
          (*column)[count[first]++] = other;
          (*column)[count[other]++] = first;
        }
      }
    }
    if (pass == 1) break;
    for (int t = 0; t < b->ntree; t++) count[t + 1] += count[t];
    *column = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(count[b->ntree] + 1));
    if (!*column) return false;
  }
  // After the second pass count[t] is the end of the list of t.
  for (int t = 0, at = 0, begin = 0; t < b->ntree; t++) {
    (*start)[t] = at;
    for (int e = begin; e < count[t]; e++) {
      int other = (*column)[e];
      if (mark[other] == t + 1) continue;
      mark[other] = t + 1;
      (*column)[at++] = other;
    }
    begin = count[t];
    (*start)[t + 1] = at;
  }
  return true;
}

static int tree_size(const Builder* b, int tree) {
  return b->first[b->tree_first[tree + 1]] - b->first[b->tree_first[tree]];
}

static bool order_trees(const tbVelocity* s, Builder* b) {
  b->order = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(b->ntree + 1));
  if (!b->order) return false;
  for (int t = 0; t < b->ntree; t++) b->order[t] = t;
  if (b->ntree == 2 && tree_size(b, 0) < tree_size(b, 1)) {
    b->order[0] = 1;
    b->order[1] = 0;
  }
  if (b->ntree <= 2) return true;
  int *start, *column, *weight = tb_arena_alloc(b->arena, sizeof(int) * (size_t)b->ntree);
  tbOrdering ordering;
  if (!weight || !tree_graph(s, b, &start, &column)) return false;
  for (int t = 0; t < b->ntree; t++) weight[t] = tree_size(b, t);
  if (!tb_order_minimum_degree(b->arena, b->ntree, weight, start, column, &ordering) ||
      !tb_order_postorder(b->arena, b->ntree, &ordering)) {
    return false;
  }
  memcpy(b->order, ordering.order, sizeof(int) * (size_t)b->ntree);
  return true;
}

// Number the nodes in the order of elimination, leaves first, and then their dofs.
static bool number_nodes(tbVelocity* s, Builder* b) {
  b->number = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(b->nnode + 1));
  b->dim = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(b->nnode + 1));
  if (!b->number || !b->dim) return false;
  for (int t = 0, next = 0, at = 0; t < b->ntree; t++) {
    int tree = b->order[t];
    for (int node = b->tree_first[tree + 1] - 1; node >= b->tree_first[tree]; node--) {
      b->number[node] = next;
      b->dim[next++] = b->first[node + 1] - b->first[node];
      for (int i = b->first[node]; i < b->first[node + 1]; i++) s->index[s->dof[i]] = at++;
    }
  }
  return true;
}

// ---- rows by nodes -----------------------------------------------------------------------------

static bool all_zero(const tbRows* rows, int begin, int end) {
  for (int r = 0; r < rows->dim; r++) {
    for (int k = begin; k < end; k++) {
      if (rows->J[r * rows->nnz + k] != 0) return false;
    }
  }
  return true;
}

// Columns begin ... end - 1 of a block of rows, those of one node.
typedef struct {
  int node, begin, end;
} Run;

// List the nodes that move a block, in order of elimination; returns their number. `node_at`: node
// of each index.
static int list_runs(const tbVelocity* s, const Builder* b, const int* node_at, const tbRows* rows,
                     Run* run) {
  int n = 0;
  for (int k = 0; k < rows->nnz;) {
    int node = node_at[s->index[rows->col[k]]], begin = k, whole = k + b->dim[node];
    // The dofs of a node are contiguous, and usually all of them are present.
    if (whole <= rows->nnz && rows->col[whole - 1] - rows->col[k] == whole - 1 - k) k = whole;
    while (k < rows->nnz && node_at[s->index[rows->col[k]]] == node) k++;
    if (all_zero(rows, begin, k)) continue;
    int at = n++;
    for (; at > 0 && run[at - 1].node > node; at--) run[at] = run[at - 1];
    run[at] = (Run){node, begin, k};
  }
  return n;
}

// The number of free bodies that a contact of three rows moves, one or two; 0 for any other block.
static int free_bodies(int dim, int n, const int* part) {
  if (dim != TB_CONTACT_ROWS || n < 1 || n > 2) return 0;
  return part[1] == TB_BODY_DOFS && part[n] == n * TB_BODY_DOFS ? n : 0;
}

// Copy the columns of a run to those of its whole node, of `dim` dofs from index `index0` on.
static void spread_run(const tbVelocity* s, const tbRows* rows, Run run, int index0, int dim,
                       int width, tbReal* J) {
  for (int r = 0; r < rows->dim; r++) {
    const tbReal* from = rows->J + r * rows->nnz + run.begin;
    tbReal* to = J + r * width;
    if (run.end - run.begin == dim) {
      for (int k = 0; k < dim; k++) to[k] = from[k];
      continue;
    }
    for (int k = 0; k < dim; k++) to[k] = 0;
    for (int k = run.begin; k < run.end; k++) {
      to[s->index[rows->col[k]] - index0] = from[k - run.begin];
    }
  }
}

// Copy the rows of a block to columns over whole nodes.
static bool spread_rows(const tbVelocity* s, const Builder* b, const int* node_at,
                        const int* index0, const tbRows* rows, tbNodeRows* out) {
  enum { MOST = 64 };
  Run few[MOST], *run = few;
  if (rows->nnz > MOST) run = tb_arena_alloc(b->arena, sizeof(Run) * (size_t)rows->nnz);
  if (!run) return false;
  int n = list_runs(s, b, node_at, rows, run), width = 0;
  for (int p = 0; p < n; p++) width += b->dim[run[p].node];
  int* node = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(2 * n + 1 + n * (n - 1) / 2));
  tbReal* J = tb_arena_alloc(b->arena, sizeof(tbReal) * (size_t)(rows->dim * width));
  if (!node || !J) return false;
  int *part = node + n, *pair = part + n + 1;
  part[0] = 0;
  for (int p = 0; p < n; p++) {
    node[p] = run[p].node;
    part[p + 1] = part[p] + b->dim[node[p]];
    spread_run(s, rows, run[p], index0[node[p]], b->dim[node[p]], width, J + part[p]);
  }
  int bodies = free_bodies(rows->dim, n, part);
  *out = (tbNodeRows){rows->dim, width, n, bodies, node, part, pair, J};
  return true;
}

// Edges of the elimination graph: each node's ancestors, and for each block its further nodes at
// its first one.
static bool list_edges(const tbVelocity* s, Builder* b) {
  b->edge_start = TB_ARENA_NEW(b->arena, int, b->nnode + 2);
  if (!b->edge_start) return false;
  int* at = b->edge_start + 1;
  for (int pass = 0; pass < 2; pass++) {
    for (int node = 0; node < b->nnode; node++) {
      for (int up = b->parent[node]; up >= 0; up = b->parent[up]) {
        if (pass) b->edge[at[b->number[node]]] = b->number[up];
        at[b->number[node]]++;
      }
    }
    for (int i = 0; i < s->nblock; i++) {
      const tbNodeRows* rows = &s->rows[i];
      for (int p = 1; p < rows->nnode; p++) {
        if (pass) b->edge[at[rows->node[0]]] = rows->node[p];
        at[rows->node[0]]++;
      }
    }
    if (pass) break;
    // From counts to starts; the second pass advances the starts to the ends.
    int total = 0;
    for (int k = 0; k < b->nnode; k++) {
      int count = at[k];
      at[k] = total;
      total += count;
    }
    b->edge = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(total + 1));
    if (!b->edge) return false;
  }
  return true;
}

static void find_pairs(tbVelocity* s) {
  for (int i = 0; i < s->nblock; i++) {
    const tbNodeRows* rows = &s->rows[i];
    int* pair = (int*)rows->pair;
    for (int p = 0; p < rows->nnode; p++) {
      for (int q = p + 1; q < rows->nnode; q++) {
        *pair++ = tb_ldu_column(&s->ldu, rows->node[p], rows->node[q]);
      }
    }
  }
}

// ---- M -----------------------------------------------------------------------------------------

// Add D_k l l^T, l the row of L that belongs to a dof of node `own`, over the node and its
// ancestors.
static void add_row_of_M(tbVelocity* s, int own, int k) {
  const tbReal* row = s->LD + s->forest.rowadr[k];
  int last = s->forest.rownnz[k] - 1, end = last + 1;
  tbReal D = row[last];
  int index0 = s->ldu.first[own], size = s->index[k] - index0 + 1;
  for (int node = own; node >= 0;
       size = s->parent[node] >= 0 ? s->ldu.dim[s->parent[node]] : 0, node = s->parent[node]) {
    int d = s->ldu.dim[node], width = s->ldu.width[node], begin = end - size;
    tbReal *diagonal = s->base + s->ldu.at[node], *upper = diagonal + d * d;
    for (int t = begin; t < end; t++) {
      tbReal f = D * (t == last ? 1 : row[t]);
      for (int u = begin; u <= t; u++) {
        diagonal[(t - begin) * d + u - begin] += f * (u == last ? 1 : row[u]);
      }
    }
    // Ancestors are to the left in the row of L, the nearest one last.
    for (int a = s->parent[node], right = begin; a >= 0; a = s->parent[a]) {
      int da = s->ldu.dim[a], left = right - da, column = tb_ldu_column(&s->ldu, node, a);
      for (int t = begin; t < end; t++) {
        tbReal f = D * (t == last ? 1 : row[t]);
        tbReal* out = upper + (size_t)(t - begin) * (size_t)width + column;
        for (int u = 0; u < da; u++) out[u] += f * row[left + u];
      }
      right = left;
    }
    end = begin;
  }
}

// If all trees are uncoupled, only the diagonal blocks are ever read.
static bool fill_base(tbVelocity* s, Builder* b, const int* node_at) {
  s->base = tb_arena_alloc(b->arena, sizeof(tbReal) * (s->ldu.size + 1));
  s->parent = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(b->nnode + 1));
  if (!s->base || !s->parent) return false;
  for (int node = 0; node < b->nnode; node++) {
    s->parent[b->number[node]] = b->parent[node] < 0 ? -1 : b->number[b->parent[node]];
  }
  for (int k = 0; k < s->ldu.nodes; k++) {
    int d = s->ldu.dim[k], columns = d + (s->uncoupled ? 0 : s->ldu.width[k]);
    memset(s->base + s->ldu.at[k], 0, sizeof(tbReal) * (size_t)d * (size_t)columns);
  }
  for (int i = 0; i < s->size; i++) {
    add_row_of_M(s, node_at[s->index[s->dof[i]]], s->dof[i]);
  }
  for (int k = 0; k < s->ldu.nodes; k++) {
    int d = s->ldu.dim[k];
    tbReal* D = s->base + s->ldu.at[k];
    for (int i = 0; i < d; i++) {
      for (int j = 0; j < i; j++) D[j * d + i] = D[i * d + j];
    }
  }
  return true;
}

// ---- construction ------------------------------------------------------------------------------

bool tb_velocity_open_rows(tbVelocity* s, tbArena* arena, const tbForestInertia* inertia,
                           int nblock, const tbRows* block, const tbCompositeChains* chains,
                           int* index) {
  Builder b = {.arena = arena};
  *s = (tbVelocity){.arena = arena,
                    .forest = inertia->forest,
                    .LD = inertia->LD,
                    .inverse = inertia->inverse,
                    .nblock = nblock,
                    .block = block,
                    .chains = chains,
                    .index = index};
  return collect_dofs(s, &b);
}

bool tb_velocity_analyze(tbVelocity* s) {
  if (s->rows || s->dense) return true;
  Builder b = {.arena = s->arena};
  s->rows = tb_arena_alloc(b.arena, sizeof(tbNodeRows) * (size_t)(s->nblock + 1));
  if (!s->rows || !find_nodes(s, &b) || !order_trees(s, &b) || !number_nodes(s, &b)) return false;
  int* node_at = tb_arena_alloc(b.arena, sizeof(int) * (size_t)(s->size + 1));
  int* index0 = tb_arena_alloc(b.arena, sizeof(int) * (size_t)(b.nnode + 1));
  if (!node_at || !index0) return false;
  for (int k = 0, at = 0; k < b.nnode; k++) {
    index0[k] = at;
    for (int i = 0; i < b.dim[k]; i++) node_at[at++] = k;
  }
  int widest = 0;
  for (int i = 0; i < s->nblock; i++) {
    if (!spread_rows(s, &b, node_at, index0, &s->block[i], &s->rows[i])) return false;
    if (s->rows[i].width > widest) widest = s->rows[i].width;
  }
  s->scratch = tb_arena_alloc(b.arena, sizeof(tbReal) * (size_t)(2 * TB_ROWS_DIM * widest + 1));
  if (!s->scratch || !list_edges(s, &b)) return false;
  if (!tb_ldu_analyze(&s->ldu, b.arena, b.nnode, b.dim, b.edge_start, b.edge)) return false;
  find_pairs(s);
  s->uncoupled = b.nnode == b.ntree;
  return fill_base(s, &b, node_at) && (!s->chains || tb_composite_chains_open(s, b.arena));
}

bool tb_velocity_build(tbVelocity* s, tbArena* arena, const tbForestInertia* inertia, int nblock,
                       const tbRows* block, int* index) {
  return tb_velocity_open_rows(s, arena, inertia, nblock, block, NULL, index) &&
         tb_velocity_analyze(s);
}

double tb_velocity_work(const tbVelocity* s) {
  // An estimate that is correct within a factor of two for heaps of 200 to 2000 bodies.
  return s->rows ? tb_max(1, s->ldu.flops) : 1.2 * s->nblock * s->nblock;
}

void tb_velocity_release(tbVelocity* s) {
  for (int i = 0; i < s->size; i++) s->index[s->dof[i]] = -1;
}
