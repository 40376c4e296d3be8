// Plane and convex mesh: the lowest vertex by descent on the vertex graph, then the vertices within
// the margin around it, of which the deepest and the widest stay.
#include "collide/hull.h"
#include "collide/manifold.h"
#include "collide/pairs.h"

// Candidates kept at a time; more are thinned out on the way.
#define MAX_PATCH 64
// Up to this many vertices, looking at all of them is faster than walking the graph.
#define SMALL_HULL 64
// Places of the table of visited vertices; a power of two, twice MAX_PATCH.
#define TABLE 128

typedef struct {
  const tbShape *plane, *mesh;
  const tbHull* hull;
  tbReal n[3];        // the plane's normal
  tbReal n_local[3];  // in the mesh's frame
  tbReal offset;      // distance of a vertex v: n_local.v + offset
} Query;

static tbReal height(const Query* q, int v) {
  return tb_dot3(q->n_local, q->hull->vert + 3 * v) + q->offset;
}

// Vertices within the margin; their places in the contact plane are filled in where it matters.
typedef struct {
  int vertex[MAX_PATCH];
  tbManifoldPoint point[MAX_PATCH];
  int count;
} Patch;

// Keep the four deepest and widest.
static void thin_out(const Query* q, Patch* patch) {
  tbReal t1[3], t2[3];
  tb_frame_from_normal(q->n_local, t1, t2);
  for (int i = 0; i < patch->count; i++) {
    const tbReal* x = q->hull->vert + 3 * patch->vertex[i];
    patch->point[i].u = tb_dot3(t1, x);
    patch->point[i].v = tb_dot3(t2, x);
  }
  int chosen[4], kept = tb_manifold_choose(patch->point, patch->count, 4, chosen);
  for (int i = 0; i < kept; i++) {
    patch->vertex[i] = patch->vertex[chosen[i]];
    patch->point[i] = patch->point[chosen[i]];
  }
  patch->count = kept;
}

static void add_vertex(const Query* q, int v, tbReal dist, Patch* patch) {
  if (patch->count == MAX_PATCH) thin_out(q, patch);
  patch->point[patch->count].dist = dist;
  patch->vertex[patch->count++] = v;
}

// All vertices within the margin, without a branch per vertex.
static void scan_block(const Query* q, int start, int end, tbReal margin, Patch* patch) {
  const tbReal nx = q->n_local[0], ny = q->n_local[1], nz = q->n_local[2], offset = q->offset;
  int found[MAX_PATCH], count = 0;
  tbReal dist[MAX_PATCH];
  const tbReal* x = q->hull->vert + 3 * start;
  for (int v = start; v < end; v++, x += 3) {
    found[count] = v;
    dist[count] = nx * x[0] + ny * x[1] + nz * x[2] + offset;
    count += dist[count] <= margin;
  }
  for (int i = 0; i < count; i++) add_vertex(q, found[i], dist[i], patch);
}

static void scan_all(const Query* q, tbReal margin, Patch* patch) {
  if (q->hull->lanes) {
    int found[TB_HULL_LANES];
    tbReal dist[TB_HULL_LANES];
    int count = tb_hull_search_below(q->hull, q->n_local, q->offset, margin, found, dist);
    for (int i = 0; i < count; i++) add_vertex(q, found[i], dist[i], patch);
    return;
  }
  for (int start = 0; start < q->hull->nvert; start += MAX_PATCH) {
    int end = start + MAX_PATCH < q->hull->nvert ? start + MAX_PATCH : q->hull->nvert;
    scan_block(q, start, end, margin, patch);
  }
}

// Put v in the table of visited vertices; false if it was there.
static bool mark_visited(int* table, int v) {
  unsigned place = ((unsigned)v * 2654435761u) >> 25;
  while (table[place] != 0) {
    if (table[place] == v + 1) return false;
    place = (place + 1) & (TABLE - 1);
  }
  table[place] = v + 1;
  return true;
}

// Whether a neighbour of v is within the margin.
static bool has_company(const Query* q, int v, tbReal margin) {
  for (int i = q->hull->adj_start[v]; i < q->hull->adj_start[v + 1]; i++) {
    if (height(q, q->hull->adj[i]) <= margin) return true;
  }
  return false;
}

// Walk the graph from the lowest vertex: vertices within the margin hang together. A patch too
// large for the table is left to scan_all. Returns whether the patch is complete.
static bool walk(const Query* q, int lowest, tbReal margin, Patch* patch) {
  int table[TABLE] = {0};
  mark_visited(table, lowest);
  add_vertex(q, lowest, height(q, lowest), patch);
  for (int done = 0; done < patch->count; done++) {
    int v = patch->vertex[done];
    for (int i = q->hull->adj_start[v]; i < q->hull->adj_start[v + 1]; i++) {
      int w = q->hull->adj[i];
      tbReal dist = height(q, w);
      if (!(dist <= margin) || !mark_visited(table, w)) continue;
      if (patch->count == MAX_PATCH) return false;
      add_vertex(q, w, dist, patch);
    }
  }
  return true;
}

static void set_contact(const Query* q, int v, tbReal dist, tbContactPoint* out) {
  tbReal pos[3];
  tb_mul_mat3_vec3(pos, q->mesh->mat, q->hull->vert + 3 * v);
  tb_add3(pos, pos, q->mesh->pos);
  tb_add_scaled3(pos, pos, -0.5 * dist, q->n);
  tb_contact_set(out, pos, q->n, dist, (uint32_t)v);
}

// The lowest vertex, found without the last one: which of equals comes first is a matter of the
// pose alone.
static int find_lowest(const Query* q, tbCollideCache* warm) {
  tbReal down[3];
  tb_scale3(down, q->n_local, -1);
  int lowest = tb_hull_support(q->hull, down, -1);
  if (warm) {
    warm->hint[1] = lowest;
    warm->state = 1;
    tb_copy3(warm->direction, q->n);
  }
  return lowest;
}

int tb_collide_plane_mesh(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                          tbCollideCache* warm) {
  Query q = {.plane = a, .mesh = b, .hull = b->hull};
  tbReal from_plane[3];
  tb_set3(q.n, a->mat[2], a->mat[5], a->mat[8]);
  tb_mul_mat3t_vec3(q.n_local, b->mat, q.n);
  tb_sub3(from_plane, b->pos, a->pos);
  q.offset = tb_dot3(from_plane, q.n);
  if (!(tb_dot3(q.n_local, q.hull->center) + q.offset - q.hull->radius <= margin)) return 0;

  Patch patch;
  patch.count = 0;
  bool graph = q.hull->adj_start && q.hull->nface > 0;
  if (isinf(margin) || (graph && q.hull->nvert > SMALL_HULL)) {
    // The lowest vertex decides whether there is contact, and is all that a distance query (which
    // has no margin) or a mesh on its tip wants.
    int lowest = find_lowest(&q, warm);
    tbReal dist = height(&q, lowest);
    if (!(dist <= margin)) return 0;
    if (isinf(margin) || !has_company(&q, lowest, margin)) {
      set_contact(&q, lowest, dist, out);
      return 1;
    }
    if (!walk(&q, lowest, margin, &patch)) {
      patch.count = 0;
      scan_all(&q, margin, &patch);
    }
  } else {
    scan_all(&q, margin, &patch);
  }
  if (patch.count > 4) thin_out(&q, &patch);
  for (int i = 0; i < patch.count; i++) {
    set_contact(&q, patch.vertex[i], patch.point[i].dist, &out[i]);
  }
  return patch.count;
}
