#include "solvers/velocity.h"

#include <string.h>

#include "base/kernel.h"
#include "linalg/order.h"
#include "linalg/six.h"
#include "solvers/velocity_dense.h"

int tb_rows_only_entry(const tbRows* rows) {
  int found = -1;
  if (rows->dim != 1) return -1;
  for (int k = rows->nnz - 1; k >= 0; k--) {
    if (rows->J[k] == 0) continue;
    if (found >= 0) return -1;
    found = k;
  }
  return found;
}

// ---- nodes -------------------------------------------------------------------------------------

// What is needed only while a system is built. Nodes and trees are numbered by their first dof.
typedef struct {
  tbArena* arena;
  const tbRows* block;
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

// The dofs of all supports in order. Until they have their places, the place of one that follows
// another in the same support is 0 and that of a run's first dof is the run's length: runs are
// sorted, a sixth of the dofs where bodies are free.
static bool collect_dofs(tbVelocity* s, Builder* b) {
  int most = 0, runs = 0;
  for (int i = 0; i < s->nblock; i++) most += b->block[i].nnz;
  if (most > s->forest.n) most = s->forest.n;
  s->dof = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(most + 1));
  if (!s->dof) return false;
  for (int i = 0; i < s->nblock; i++) {
    for (int k = 0, first = -1, next = -1; k < b->block[i].nnz; k++) {
      int dof = b->block[i].col[k];
      if (s->place[dof] >= 0) continue;
      if (dof != next) s->dof[runs++] = first = dof;
      s->place[dof] = 0;
      s->place[first]++;
      next = dof + 1;
      s->size++;
    }
  }
  sort_ints(s->dof, runs);
  // From the last run on, each lands at or behind where its first dof stands.
  for (int r = runs - 1, end = s->size; r >= 0; r--) {
    int first = s->dof[r];
    for (int k = s->place[first] - 1; k >= 0; k--) s->dof[--end] = first + k;
  }
  for (int i = 0; i < s->size; i++) s->place[s->dof[i]] = i;
  return true;
}

// The index of a dof's parent, or -1.
static int parent_index(const tbVelocity* s, int i) {
  int dof = s->dof[i], nnz = s->forest.rownnz[dof];
  return nnz > 1 ? s->place[s->forest.colind[s->forest.rowadr[dof] + nnz - 2]] : -1;
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
  int tree = b->tree[b->node_of[s->place[rows->col[*k]]]];
  int end = s->dof[b->first[b->tree_first[tree + 1]] - 1];
  while (*k < rows->nnz && rows->col[*k] <= end) (*k)++;
  return tree;
}

// Neighbours of every tree: counted, listed, and each kept once.
static bool tree_graph(const tbVelocity* s, Builder* b, int** start, int** column) {
  int* count = TB_ARENA_NEW(b->arena, int, b->ntree + 2);
  int* mark = TB_ARENA_NEW(b->arena, int, b->ntree + 1);
  *start = TB_ARENA_NEW(b->arena, int, b->ntree + 2);
  if (b->arena->failed) return false;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < s->nblock; i++) {
      int k = 0, first = next_tree(s, b, &b->block[i], &k), other;
      // Through its first tree a block links all others: enough for an order.
      while ((other = next_tree(s, b, &b->block[i], &k)) >= 0) {
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
  // After the second pass count[t] is where the list of t ends.
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

// Number the nodes, leaves first, and give the dofs their places.
static bool number_nodes(tbVelocity* s, Builder* b) {
  b->number = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(b->nnode + 1));
  b->dim = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(b->nnode + 1));
  if (!b->number || !b->dim) return false;
  for (int t = 0, next = 0, at = 0; t < b->ntree; t++) {
    int tree = b->order[t];
    for (int node = b->tree_first[tree + 1] - 1; node >= b->tree_first[tree]; node--) {
      b->number[node] = next;
      b->dim[next++] = b->first[node + 1] - b->first[node];
      for (int i = b->first[node]; i < b->first[node + 1]; i++) s->place[s->dof[i]] = at++;
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

// Spread the rows of a block over whole nodes. `node_at`: node of each place.
static bool spread_rows(const tbVelocity* s, Builder* b, const int* node_at, const int* place0,
                        const tbRows* rows, tbNodeRows* out) {
  enum { MOST = 64 };
  int node[MOST], begin[MOST], end[MOST], n = 0, width = 0;
  int *list = node, *from = begin, *to = end;
  if (rows->nnz > MOST) {
    list = tb_arena_alloc(b->arena, sizeof(int) * 3 * (size_t)rows->nnz);
    if (!list) return false;
    from = list + rows->nnz;
    to = from + rows->nnz;
  }
  for (int k = 0; k < rows->nnz;) {
    int id = node_at[s->place[rows->col[k]]], k0 = k;
    while (k < rows->nnz && node_at[s->place[rows->col[k]]] == id) k++;
    if (all_zero(rows, k0, k)) continue;
    // Insertion keeps the order of elimination.
    int at = n++;
    for (; at > 0 && list[at - 1] > id; at--) {
      list[at] = list[at - 1];
      from[at] = from[at - 1];
      to[at] = to[at - 1];
    }
    list[at] = id;
    from[at] = k0;
    to[at] = k;
    width += b->dim[id];
  }
  int* ints = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(2 * n + 1 + n * (n - 1) / 2));
  tbReal* J = TB_ARENA_NEW(b->arena, tbReal, rows->dim * width);
  if (!ints || !J) return false;
  int* part = ints + n;
  part[0] = 0;
  for (int p = 0; p < n; p++) {
    ints[p] = list[p];
    part[p + 1] = part[p] + b->dim[list[p]];
    for (int k = from[p]; k < to[p]; k++) {
      int column = part[p] + s->place[rows->col[k]] - place0[list[p]];
      for (int r = 0; r < rows->dim; r++) J[r * width + column] = rows->J[r * rows->nnz + k];
    }
  }
  *out = (tbNodeRows){rows->dim, width, n, ints, part, part + n + 1, J};
  return true;
}

// Each node's ancestors, and for each block the nodes after its first one.
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
    // From counts to starts; the second pass moves them on to the ends.
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
// ancestors. `up`: parents by number.
static void add_row_of_M(tbVelocity* s, const int* up, int own, int k) {
  const tbReal* row = s->LD + s->forest.rowadr[k];
  int last = s->forest.rownnz[k] - 1, end = last + 1;
  tbReal D = row[last];
  int place0 = s->ldu.first[own], size = s->place[k] - place0 + 1;
  for (int node = own; node >= 0;
       size = up[node] >= 0 ? s->ldu.dim[up[node]] : 0, node = up[node]) {
    int d = s->ldu.dim[node], width = s->ldu.width[node], begin = end - size;
    tbReal *diagonal = s->base + s->ldu.at[node], *upper = diagonal + d * d;
    for (int t = begin; t < end; t++) {
      tbReal f = D * (t == last ? 1 : row[t]);
      for (int u = begin; u <= t; u++) {
        diagonal[(t - begin) * d + u - begin] += f * (u == last ? 1 : row[u]);
      }
    }
    // Ancestors lie to the left in the row of L, nearest last.
    for (int a = up[node], right = begin; a >= 0; a = up[a]) {
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

// Of bodies that are apart only the blocks of the diagonal are ever read.
static bool fill_base(tbVelocity* s, Builder* b, const int* node_at) {
  s->base = tb_arena_alloc(b->arena, sizeof(tbReal) * (s->ldu.size + 1));
  int* up = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(b->nnode + 1));
  if (!s->base || !up) return false;
  for (int node = 0; node < b->nnode; node++) {
    up[b->number[node]] = b->parent[node] < 0 ? -1 : b->number[b->parent[node]];
  }
  for (int k = 0; k < s->ldu.nodes; k++) {
    int d = s->ldu.dim[k], columns = d + (s->apart ? 0 : s->ldu.width[k]);
    memset(s->base + s->ldu.at[k], 0, sizeof(tbReal) * (size_t)d * (size_t)columns);
  }
  for (int i = 0; i < s->size; i++) {
    add_row_of_M(s, up, node_at[s->place[s->dof[i]]], s->dof[i]);
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

// ---- all of it ---------------------------------------------------------------------------------

bool tb_velocity_build(tbVelocity* s, tbArena* arena, tbForest forest, const tbReal* LD,
                       const tbReal* inverse, int nblock, const tbRows* block, int* place) {
  Builder b = {.arena = arena, .block = block};
  *s = (tbVelocity){.forest = forest, .LD = LD, .inverse = inverse, .place = place};
  s->nblock = nblock;
  s->block = block;
  s->rows = tb_arena_alloc(arena, sizeof(tbNodeRows) * (size_t)(nblock + 1));
  if (!s->rows || !collect_dofs(s, &b) || !find_nodes(s, &b) || !order_trees(s, &b) ||
      !number_nodes(s, &b)) {
    return false;
  }
  int* node_at = tb_arena_alloc(arena, sizeof(int) * (size_t)(s->size + 1));
  int* place0 = tb_arena_alloc(arena, sizeof(int) * (size_t)(b.nnode + 1));
  if (!node_at || !place0) return false;
  for (int k = 0, at = 0; k < b.nnode; k++) {
    place0[k] = at;
    for (int i = 0; i < b.dim[k]; i++) node_at[at++] = k;
  }
  int widest = 0;
  for (int i = 0; i < nblock; i++) {
    if (!spread_rows(s, &b, node_at, place0, &block[i], &s->rows[i])) return false;
    if (s->rows[i].width > widest) widest = s->rows[i].width;
  }
  s->scratch = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(2 * TB_ROWS_DIM * widest + 1));
  if (!s->scratch || !list_edges(s, &b)) return false;
  if (!tb_ldu_analyze(&s->ldu, arena, b.nnode, b.dim, b.edge_start, b.edge)) return false;
  find_pairs(s);
  s->apart = b.nnode == b.ntree;
  return fill_base(s, &b, node_at);
}

void tb_velocity_release(tbVelocity* s) {
  for (int i = 0; i < s->size; i++) s->place[s->dof[i]] = -1;
}

// A contact of three rows on a free body, by far the most frequent part: out += J x, each row in
// two sums that do not wait for each other.
TB_INLINE void mul_body(const tbReal* J, int width, const tbReal* x, tbReal* out) {
  for (int r = 0; r < 3; r++, J += width) {
    tbReal even = (J[0] * x[0] + J[2] * x[2]) + J[4] * x[4];
    tbReal odd = (J[1] * x[1] + J[3] * x[3]) + J[5] * x[5];
    out[r] += even + odd;
  }
}

// Two free bodies, or one: the shapes of nearly all contacts in a heap.
TB_INLINE bool is_pair(const tbNodeRows* rows) {
  return rows->dim == 3 && rows->nnode == 2 && rows->width == 12 && rows->part[1] == 6;
}

TB_INLINE bool is_single(const tbNodeRows* rows) {
  return rows->dim == 3 && rows->nnode == 1 && rows->width == 6;
}

void tb_velocity_mul(const tbVelocity* s, int block, const tbReal* x, tbReal* out) {
  if (s->dense) {
    tb_velocity_dense_mul(s, block, x, out);
    return;
  }
  const tbNodeRows* rows = &s->rows[block];
  for (int r = 0; r < rows->dim; r++) out[r] = 0;
  if (is_pair(rows)) {
    mul_body(rows->J, 12, x + s->ldu.first[rows->node[0]], out);
    mul_body(rows->J + 6, 12, x + s->ldu.first[rows->node[1]], out);
    return;
  }
  if (is_single(rows)) {
    mul_body(rows->J, 6, x + s->ldu.first[rows->node[0]], out);
    return;
  }
  for (int p = 0; p < rows->nnode; p++) {
    const tbReal* from = x + s->ldu.first[rows->node[p]];
    int n = rows->part[p + 1] - rows->part[p];
    for (int r = 0; r < rows->dim; r++) {
      const tbReal* J = rows->J + r * rows->width + rows->part[p];
      tbReal sum = 0;
      for (int j = 0; j < n; j++) sum += J[j] * from[j];
      out[r] += sum;
    }
  }
}

void tb_velocity_add_impulse(const tbVelocity* s, int block, const tbReal* f, tbReal* x) {
  if (s->dense) {
    tb_velocity_dense_add_impulse(s, block, f, x);
    return;
  }
  const tbNodeRows* rows = &s->rows[block];
  if (is_pair(rows)) {
    tb_six_add(1, f, 1, rows->J, 12, x + s->ldu.first[rows->node[0]], 0);
    tb_six_add(1, f, 1, rows->J + 6, 12, x + s->ldu.first[rows->node[1]], 0);
    return;
  }
  if (is_single(rows)) {
    tb_six_add(1, f, 1, rows->J, 6, x + s->ldu.first[rows->node[0]], 0);
    return;
  }
  for (int p = 0; p < rows->nnode; p++) {
    tbReal* to = x + s->ldu.first[rows->node[p]];
    int n = rows->part[p + 1] - rows->part[p];
    for (int r = 0; r < rows->dim; r++) {
      if (f[r] == 0) continue;
      const tbReal* J = rows->J + r * rows->width + rows->part[p];
      for (int j = 0; j < n; j++) to[j] += J[j] * f[r];
    }
  }
}

void tb_velocity_inverse(const tbVelocity* s, tbReal* x) {
  if (s->dense) {
    tb_velocity_dense_inverse(s, x);
    return;
  }
  for (int i = s->size - 1; i >= 0; i--) {
    int k = s->dof[i], last = s->forest.rownnz[k] - 1;
    const tbReal* row = s->LD + s->forest.rowadr[k];
    const int* column = s->forest.colind + s->forest.rowadr[k];
    tbReal xk = x[s->place[k]];
    if (xk == 0) continue;
    for (int t = 0; t < last; t++) x[s->place[column[t]]] -= row[t] * xk;
  }
  for (int i = 0; i < s->size; i++) {
    int k = s->dof[i], last = s->forest.rownnz[k] - 1;
    const tbReal* row = s->LD + s->forest.rowadr[k];
    const int* column = s->forest.colind + s->forest.rowadr[k];
    tbReal sum = x[s->place[k]] * s->inverse[k];
    for (int t = 0; t < last; t++) sum -= row[t] * x[s->place[column[t]]];
    x[s->place[k]] = sum;
  }
}

void tb_velocity_mass(const tbVelocity* s, const tbReal* x, tbReal* out) {
  if (s->dense) {
    tb_velocity_dense_mass(s, x, out);
    return;
  }
  const tbLdu* l = &s->ldu;
  memset(out, 0, sizeof(tbReal) * (size_t)s->size);
  for (int k = 0; k < l->nodes; k++) {
    int d = l->dim[k], width = l->width[k], row = l->first[k];
    int end = s->apart ? l->start[k] : l->start[k + 1];
    const tbReal *D = s->base + l->at[k], *U = D + d * d;
    for (int r = 0; r < d; r++) {
      tbReal sum = 0, own = x[row + r];
      for (int j = 0; j < d; j++) sum += D[r * d + j] * x[row + j];
      for (int e = l->start[k]; e < end; e++) {
        int at = l->first[l->later[e]], n = l->dim[l->later[e]];
        const tbReal* u = U + (size_t)r * (size_t)width + l->column[e];
        for (int j = 0; j < n; j++) {
          sum += u[j] * x[at + j];
          out[at + j] += u[j] * own;
        }
      }
      out[row + r] += sum;
    }
  }
}

// M has no blocks between nodes: what lies there need not be read.
static void start_apart(tbVelocity* s) {
  for (int k = 0; k < s->ldu.nodes; k++) {
    size_t d = (size_t)s->ldu.dim[k];
    tbReal* D = s->ldu.value + s->ldu.at[k];
    memcpy(D, s->base + s->ldu.at[k], sizeof(tbReal) * d * d);
    memset(D + d * d, 0, sizeof(tbReal) * d * (size_t)s->ldu.width[k]);
  }
  if (!s->symmetric) memset(s->ldu.mirror, 0, sizeof(tbReal) * s->ldu.mirror_size);
}

void tb_velocity_start(tbVelocity* s, bool symmetric) {
  if (s->dense) {
    tb_velocity_dense_start(s, symmetric);
    return;
  }
  s->symmetric = symmetric;
  if (s->apart) {
    start_apart(s);
    return;
  }
  memcpy(s->ldu.value, s->base, sizeof(tbReal) * s->ldu.size);
  if (symmetric) return;
  for (int k = 0; k < s->ldu.nodes; k++) {
    int d = s->ldu.dim[k];
    memcpy(s->ldu.mirror + s->ldu.skew[k], s->base + s->ldu.at[k] + (size_t)(d * d),
           sizeof(tbReal) * (size_t)d * (size_t)s->ldu.width[k]);
  }
}

// Y (rows x n, own stride) += X^T Z for X (depth x rows) and Z (depth x n) with stride `width`.
TB_INLINE void add_product(int rows, int depth, int n, int width, const tbReal* X,
                           const tbReal* TB_RESTRICT Z, tbReal* TB_RESTRICT Y, int stride) {
  if (depth == 3) {
    const tbReal *TB_RESTRICT z1 = Z + width, *TB_RESTRICT z2 = z1 + width;
    const tbReal *x1 = X + width, *x2 = x1 + width;
    for (int i = 0; i < rows; i++) {
      tbReal* TB_RESTRICT y = Y + (size_t)i * (size_t)stride;
      tbReal a = X[i], b = x1[i], c = x2[i];
      for (int j = 0; j < n; j++) y[j] += a * Z[j] + b * z1[j] + c * z2[j];
    }
    return;
  }
  for (int i = 0; i < rows; i++) {
    tbReal* TB_RESTRICT y = Y + (size_t)i * (size_t)stride;
    for (int r = 0; r < depth; r++) {
      tbReal a = X[r * width + i];
      if (a == 0) continue;
      const tbReal* TB_RESTRICT z = Z + r * width;
      for (int j = 0; j < n; j++) y[j] += a * z[j];
    }
  }
}

// out = W J, or W^T J, for three rows.
TB_INLINE void weigh_three(int width, const tbReal* J, const tbReal* W, int row_step, int col_step,
                           tbReal* TB_RESTRICT out) {
  const tbReal *TB_RESTRICT a = J, *TB_RESTRICT b = a + width, *TB_RESTRICT c = b + width;
  for (int r = 0; r < 3; r++) {
    const tbReal* w = W + r * row_step;
    tbReal u = w[0], v = w[col_step], t = w[2 * col_step], *TB_RESTRICT to = out + r * width;
    for (int j = 0; j < width; j++) to[j] = u * a[j] + v * b[j] + t * c[j];
  }
}

// The same for any number of rows, most weights being diagonal.
TB_INLINE void weigh(const tbNodeRows* rows, const tbReal* W, int row_step, int col_step,
                     tbReal* TB_RESTRICT out) {
  int width = rows->width;
  if (rows->dim == 3) {
    weigh_three(width, rows->J, W, row_step, col_step, out);
    return;
  }
  for (int r = 0; r < rows->dim; r++) {
    tbReal *TB_RESTRICT to = out + r * width, own = W[r * (row_step + col_step)];
    const tbReal* TB_RESTRICT J = rows->J + r * width;
    for (int j = 0; j < width; j++) to[j] = own * J[j];
    for (int c = 0; c < rows->dim; c++) {
      tbReal w = W[r * row_step + c * col_step];
      if (w == 0 || c == r) continue;
      const tbReal* TB_RESTRICT other = rows->J + c * width;
      for (int j = 0; j < width; j++) to[j] += w * other[j];
    }
  }
}

// A contact of three rows between two free bodies, or of one with the world: all sizes are known.
TB_INLINE void add_bodies(tbVelocity* s, const tbNodeRows* rows, const tbReal* W) {
  int a = rows->node[0], b = rows->node[1], wa = s->ldu.width[a];
  tbReal *D = s->ldu.value + s->ldu.at[a], *U = D + 36 + rows->pair[0], WJ[36], WtJ[36];
  weigh_three(12, rows->J, W, 3, 1, WJ);
  tb_six_add(6, rows->J, 12, WJ, 12, D, 6);
  tb_six_add(6, rows->J, 12, WJ + 6, 12, U, wa);
  if (!s->symmetric) {
    weigh_three(12, rows->J, W, 1, 3, WtJ);
    tb_six_add(6, rows->J, 12, WtJ + 6, 12, s->ldu.mirror + s->ldu.skew[a] + rows->pair[0], wa);
  }
  tb_six_add(6, rows->J + 6, 12, WJ + 6, 12, s->ldu.value + s->ldu.at[b], 6);
}

TB_INLINE void add_body(tbVelocity* s, const tbNodeRows* rows, const tbReal* W) {
  tbReal WJ[18];
  weigh_three(6, rows->J, W, 3, 1, WJ);
  tb_six_add(6, rows->J, 6, WJ, 6, s->ldu.value + s->ldu.at[rows->node[0]], 6);
}

TB_INLINE void add_block(tbVelocity* s, int block, const tbReal* W) {
  const tbNodeRows* rows = &s->rows[block];
  int dim = rows->dim, width = rows->width;
  tbReal *WJ = s->scratch, *WtJ = s->scratch + dim * width;
  if (is_pair(rows)) {
    add_bodies(s, rows, W);
    return;
  }
  if (is_single(rows)) {
    add_body(s, rows, W);
    return;
  }
  weigh(rows, W, dim, 1, WJ);
  if (!s->symmetric) weigh(rows, W, 1, dim, WtJ);
  const int* pair = rows->pair;
  for (int p = 0; p < rows->nnode; p++) {
    int a = rows->node[p], da = s->ldu.dim[a], wa = s->ldu.width[a], from = rows->part[p];
    tbReal *D = s->ldu.value + s->ldu.at[a], *U = D + da * da;
    tbReal* C = s->ldu.mirror + s->ldu.skew[a];
    const tbReal* J = rows->J + from;
    add_product(da, dim, da, width, J, WJ + from, D, da);
    for (int q = p + 1; q < rows->nnode; q++, pair++) {
      int n = rows->part[q + 1] - rows->part[q];
      add_product(da, dim, n, width, J, WJ + rows->part[q], U + *pair, wa);
      if (!s->symmetric) add_product(da, dim, n, width, J, WtJ + rows->part[q], C + *pair, wa);
    }
  }
}

static void add_narrow(tbVelocity* s, int block, const tbReal* W) {
  add_block(s, block, W);
}

TB_WIDE static void add_wide(tbVelocity* s, int block, const tbReal* W) {
  add_block(s, block, W);
}

void tb_velocity_add(tbVelocity* s, int block, const tbReal* W) {
  if (s->dense) {
    tb_velocity_dense_add(s, block, W);
  } else if (tb_wide()) {
    add_wide(s, block, W);
  } else {
    add_narrow(s, block, W);
  }
}

bool tb_velocity_factor(tbVelocity* s) {
  return s->dense ? tb_velocity_dense_factor(s) : tb_ldu_factor(&s->ldu, s->symmetric);
}

void tb_velocity_solve(const tbVelocity* s, tbReal* x) {
  if (s->dense) {
    tb_velocity_dense_solve(s, x);
  } else {
    tb_ldu_solve(&s->ldu, x);
  }
}
