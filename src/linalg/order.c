#include "linalg/order.h"

#include <string.h>

// The quotient graph. An eliminated vertex becomes an element: a clique of its former neighbours.
// Each live vertex stores, in the memory of its first neighbours, elements first and then vertices.
typedef struct {
  int n;
  const int* weight;
  int* list;  // neighbours: start[v] .. start[v] + elements[v] + vertices[v]
  int* start;
  int* elements;
  int* vertices;
  bool* dead;      // eliminated
  bool* absorbed;  // element swallowed by a later one
  int* degree;     // approximate weight of neighbours
  int* head;       // lists of live vertices by degree, clipped to n buckets
  int *next, *previous;
  int* mark;  // stamp per vertex
  int stamp;
  int* overlap;  // per element: weight of its live part outside the pivot, by stamp
  int* overlap_stamp;
  tbOrdering* out;
} Quotient;

static void unlink_vertex(Quotient* q, int v) {
  int bucket = q->degree[v] < q->n ? q->degree[v] : q->n - 1;
  if (q->previous[v] >= 0) {
    q->next[q->previous[v]] = q->next[v];
  } else {
    q->head[bucket] = q->next[v];
  }
  if (q->next[v] >= 0) q->previous[q->next[v]] = q->previous[v];
}

static void link_vertex(Quotient* q, int v, int degree) {
  q->degree[v] = degree;
  int bucket = degree < q->n ? degree : q->n - 1;
  q->next[v] = q->head[bucket];
  q->previous[v] = -1;
  if (q->head[bucket] >= 0) q->previous[q->head[bucket]] = v;
  q->head[bucket] = v;
}

static bool quotient_init(Quotient* q, tbArena* arena, const int* start, const int* column) {
  int n = q->n, total = start[n];
  q->list = TB_ARENA_NEW(arena, int, total + 1);
  q->start = TB_ARENA_NEW(arena, int, n + 1);
  q->elements = TB_ARENA_NEW(arena, int, n);
  q->vertices = TB_ARENA_NEW(arena, int, n);
  q->dead = TB_ARENA_NEW(arena, bool, n);
  q->absorbed = TB_ARENA_NEW(arena, bool, n);
  q->degree = TB_ARENA_NEW(arena, int, n);
  q->head = TB_ARENA_NEW(arena, int, n + 1);
  q->next = TB_ARENA_NEW(arena, int, n);
  q->previous = TB_ARENA_NEW(arena, int, n);
  q->mark = TB_ARENA_NEW(arena, int, n);
  q->overlap = TB_ARENA_NEW(arena, int, n);
  q->overlap_stamp = TB_ARENA_NEW(arena, int, n);
  if (arena->failed) return false;
  memcpy(q->list, column, (size_t)total * sizeof(int));
  memcpy(q->start, start, ((size_t)n + 1) * sizeof(int));
  for (int k = 0; k < n; k++) q->head[k] = -1;
  for (int v = n - 1; v >= 0; v--) {
    int degree = 0;
    q->vertices[v] = start[v + 1] - start[v];
    for (int k = start[v]; k < start[v + 1]; k++) degree += q->weight[column[k]];
    link_vertex(q, v, degree);
  }
  return true;
}

// All live vertices that are adjacent to `pivot`, directly or through its elements, which it
// absorbs.
static bool gather(Quotient* q, tbArena* arena, int pivot, int** out, int* count) {
  int size = q->vertices[pivot], begin = q->start[pivot];
  for (int k = begin; k < begin + q->elements[pivot]; k++) {
    size += q->out->fill_count[q->list[k]];
  }
  int* clique = (int*)tb_arena_alloc(arena, (size_t)(size + 1) * sizeof(int));
  if (!clique) return false;
  int found = 0, stamp = ++q->stamp;
  q->mark[pivot] = stamp;
  for (int k = begin; k < begin + q->elements[pivot] + q->vertices[pivot]; k++) {
    bool element = k < begin + q->elements[pivot];
    int id = q->list[k], inner = element ? q->out->fill_count[id] : 1;
    for (int m = 0; m < inner; m++) {
      int v = element ? q->out->fill[id][m] : id;
      if (q->dead[v] || q->mark[v] == stamp) continue;
      q->mark[v] = stamp;
      clique[found++] = v;
    }
    if (element) q->absorbed[id] = true;
  }
  *out = clique;
  *count = found;
  return true;
}

// Weight of the part of each element outside the pivot's clique: start from its whole live weight
// and subtract every clique member in it.
static void measure_overlaps(Quotient* q, const int* clique, int count) {
  for (int c = 0; c < count; c++) {
    int v = clique[c];
    for (int k = q->start[v]; k < q->start[v] + q->elements[v]; k++) {
      int e = q->list[k];
      if (q->absorbed[e]) continue;
      if (q->overlap_stamp[e] != q->stamp) {
        int whole = 0;
        for (int m = 0; m < q->out->fill_count[e]; m++) {
          int u = q->out->fill[e][m];
          if (!q->dead[u]) whole += q->weight[u];
        }
        q->overlap[e] = whole;
        q->overlap_stamp[e] = q->stamp;
      }
      q->overlap[e] -= q->weight[v];
    }
  }
}

// Replace the neighbours of v that the pivot's clique covers by the pivot itself; returns the new
// degree.
static int update_vertex(Quotient* q, int v, int pivot, int clique_weight) {
  int begin = q->start[v], elements = q->elements[v], vertices = q->vertices[v];
  int degree = clique_weight - q->weight[v], to = begin;
  // The memory suffices: v loses the pivot, or an element that the pivot absorbed.
  int kept[1] = {0};
  for (int k = begin; k < begin + elements; k++) {
    int e = q->list[k];
    if (q->absorbed[e]) continue;
    q->list[to++] = e;
    degree += q->overlap[e];
  }
  kept[0] = to - begin;
  int hold = begin + elements, write = to;
  for (int k = hold; k < hold + vertices; k++) {
    int u = q->list[k];
    if (q->dead[u] || u == pivot || q->mark[u] == q->stamp) continue;
    degree += q->weight[u];
    q->list[write++] = u;
  }
  // Insert the pivot between elements and vertices: move the first vertex to the end.
  if (write > to) q->list[write] = q->list[to];
  q->list[to] = pivot;
  q->elements[v] = kept[0] + 1;
  q->vertices[v] = write - to;
  return degree;
}

bool tb_order_minimum_degree(tbArena* arena, int n, const int* weight, const int* start,
                             const int* column, tbOrdering* out) {
  out->order = TB_ARENA_NEW(arena, int, n);
  out->fill = TB_ARENA_NEW(arena, int*, n);
  out->fill_count = TB_ARENA_NEW(arena, int, n);
  Quotient q = {.n = n, .weight = weight, .out = out};
  if (arena->failed || !quotient_init(&q, arena, start, column)) return false;
  int lowest = 0;
  for (int step = 0; step < n; step++) {
    while (q.head[lowest] < 0) lowest++;
    int pivot = q.head[lowest];
    unlink_vertex(&q, pivot);
    int count = 0, *clique = NULL, clique_weight = 0;
    if (!gather(&q, arena, pivot, &clique, &count)) return false;
    q.dead[pivot] = true;
    out->order[step] = pivot;
    out->fill[pivot] = clique;
    out->fill_count[pivot] = count;
    for (int c = 0; c < count; c++) clique_weight += weight[clique[c]];
    measure_overlaps(&q, clique, count);
    for (int c = 0; c < count; c++) {
      unlink_vertex(&q, clique[c]);
      link_vertex(&q, clique[c], update_vertex(&q, clique[c], pivot, clique_weight));
      int bucket = q.degree[clique[c]] < n ? q.degree[clique[c]] : n - 1;
      if (bucket < lowest) lowest = bucket;
    }
  }
  return true;
}

bool tb_order_postorder(tbArena* arena, int n, tbOrdering* ordering) {
  tbArenaMark mark = tb_arena_mark(arena);
  int* position = TB_ARENA_NEW(arena, int, n + 1);
  int* parent = TB_ARENA_NEW(arena, int, n + 1);
  int* size = TB_ARENA_NEW(arena, int, n + 1);
  int* end = TB_ARENA_NEW(arena, int, n + 1);
  if (arena->failed) return false;
  for (int k = 0; k < n; k++) position[ordering->order[k]] = k;
  // The parent of a vertex is the first eliminated of its connected vertices; by position. All
  // roots have the parent n.
  for (int k = 0; k < n; k++) {
    int v = ordering->order[k], first = n;
    for (int m = 0; m < ordering->fill_count[v]; m++) {
      int p = position[ordering->fill[v][m]];
      if (p < first) first = p;
    }
    parent[k] = first;
    size[first] += ++size[k];
  }
  // From the last vertex back, each subtree takes the free positions closest before its parent.
  end[n] = n;
  for (int k = n - 1; k >= 0; k--) {
    int last = end[parent[k]];
    end[parent[k]] -= size[k];
    end[k] = last - 1;
    size[k] = last - 1;
  }
  // Now `size` holds the new positions and `position` is free.
  memcpy(position, ordering->order, sizeof(int) * (size_t)n);
  for (int k = 0; k < n; k++) ordering->order[size[k]] = position[k];
  tb_arena_release(arena, mark);
  return true;
}
