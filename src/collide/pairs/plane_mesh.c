// Plane and convex mesh: the vertices within the margin, reduced to the deepest and those that span
// most. The vertices of a small hull are found by a SIMD scan, those of a large one by a walk on
// the vertex graph around the lowest vertex.
#include <string.h>

#include "base/bits.h"
#include "collide/hull/hull.h"
#include "collide/manifold.h"
#include "collide/pairs.h"
#include "collide/reduction.h"

// Maximum number of vertices found by a walk, and of vertices of a hull that is walked; beyond
// these limits all vertices are scanned.
#define MAX_WALK 64
#define MAX_MARKED 65536

typedef struct {
  const tbShape* mesh;
  const tbHull* hull;
  tbReal n[3];        // the plane's normal
  tbReal n_local[3];  // in the mesh's frame
  tbReal offset;      // distance of a vertex v: n_local.v + offset
} Query;

static tbReal height(const Query* q, int v) {
  return tb_dot3(q->n_local, q->hull->vert + 3 * v) + q->offset;
}

// Vertices within the margin; their coordinates in the contact plane are computed only for a
// reduction.
typedef struct {
  int vertex[TB_SPREAD_MAX];
  tbContactReduction at;
} VertexSet;

// Two tangents of the unit vector n, without an unpredictable branch (Duff et al., "Building an
// orthonormal basis, revisited", 2017).
static void find_tangents(const tbReal n[3], tbReal t1[3], tbReal t2[3]) {
  tbReal sign = copysign(1, n[2]), a = -1 / (sign + n[2]), b = n[0] * n[1] * a;
  tb_set3(t1, 1 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]);
  tb_set3(t2, b, sign + n[1] * n[1] * a, -n[1]);
}

// Keeps four vertices: the deepest and those that span most. Higher vertices are moved towards the
// deepest, all the way at the margin: otherwise, for a drum on its side, the adjacent facets would
// span more than the facet that carries it.
static void reduce(const Query* q, tbReal margin, VertexSet* found) {
  tbReal t1[3], t2[3];
  int chosen[4], deepest = 0;
  find_tangents(q->n_local, t1, t2);
  for (int i = 1; i < found->at.count; i++) {
    deepest = found->at.dist[i] < found->at.dist[deepest] ? i : deepest;
  }
  const tbReal* lowest = q->hull->vert + 3 * found->vertex[deepest];
  for (int i = 0; i < found->at.count; i++) {
    tbReal way[3], share = tb_contact_share(found->at.dist[i], found->at.dist[deepest], margin);
    tb_sub3(way, q->hull->vert + 3 * found->vertex[i], lowest);
    found->at.u[i] = share * tb_dot3(t1, way);
    found->at.v[i] = share * tb_dot3(t2, way);
  }
  int kept = tb_spread_four(&found->at, chosen);
  for (int i = 0; i < kept; i++) {
    found->vertex[i] = found->vertex[chosen[i]];
    found->at.dist[i] = found->at.dist[chosen[i]];
  }
  found->at.count = kept;
}

static void add_vertex(const Query* q, int v, tbReal dist, tbReal margin, VertexSet* found) {
  if (found->at.count == TB_SPREAD_MAX) reduce(q, margin, found);
  found->at.dist[found->at.count] = dist;
  found->vertex[found->at.count++] = v;
}

// Collects all vertices within the margin.
static void scan_all(const Query* q, tbReal margin, VertexSet* found) {
  for (int v = 0; v < q->hull->nvert; v++) {
    tbReal dist = height(q, v);
    if (dist <= margin) add_vertex(q, v, dist, margin, found);
  }
}

// The same for a hull with lanes.
static void scan_lanes(const Query* q, tbReal margin, VertexSet* found) {
  tbReal heights[TB_HULL_LANES];
  uint64_t below[2];
  int count = 0;
  tb_hull_search_below(q->hull, q->n_local, q->offset, margin, below, heights);
  for (int word = 0; word < 2; word++) {
    for (uint64_t rest = below[word]; rest != 0; rest &= rest - 1) {
      int v = 64 * word + tb_lowest_bit(rest);
      found->vertex[count] = v;
      found->at.dist[count++] = heights[v];
    }
  }
  found->at.count = count;
}

// Mark v in the bits of visited vertices; false if it was marked.
static bool mark_visited(uint64_t* visited, int v) {
  uint64_t *word = visited + (v >> 6), bit = (uint64_t)1 << (v & 63);
  bool first = !(*word & bit);
  *word |= bit;
  return first;
}

// Whether a neighbour of v is within the margin.
static bool has_neighbour_within(const Query* q, int v, tbReal margin) {
  for (int i = q->hull->adj_start[v]; i < q->hull->adj_start[v + 1]; i++) {
    if (height(q, q->hull->adj[i]) <= margin) return true;
  }
  return false;
}

// Walks the graph from the lowest vertex, since the vertices within the margin are connected.
// Returns whether all of them were found; larger sets are left to scan_all.
static bool walk(const Query* q, int lowest, tbReal margin, VertexSet* found) {
  uint64_t visited[MAX_MARKED / 64];
  if (q->hull->nvert > MAX_MARKED) return false;
  memset(visited, 0, sizeof *visited * (size_t)((q->hull->nvert + 63) / 64));
  mark_visited(visited, lowest);
  add_vertex(q, lowest, height(q, lowest), margin, found);
  for (int done = 0; done < found->at.count; done++) {
    int v = found->vertex[done];
    for (int i = q->hull->adj_start[v]; i < q->hull->adj_start[v + 1]; i++) {
      int w = q->hull->adj[i];
      if (!mark_visited(visited, w)) continue;
      tbReal dist = height(q, w);
      if (!(dist <= margin)) continue;
      if (found->at.count == MAX_WALK) return false;
      add_vertex(q, w, dist, margin, found);
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

// The lowest vertex, found without the cached one, so that the choice among equal vertices depends
// on the pose only.
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
  Query q = {.mesh = b, .hull = b->hull};
  tbReal from_plane[3];
  tb_set3(q.n, a->mat[2], a->mat[5], a->mat[8]);
  tb_mul_mat3t_vec3(q.n_local, b->mat, q.n);
  tb_sub3(from_plane, b->pos, a->pos);
  q.offset = tb_dot3(from_plane, q.n);
  if (!(tb_dot3(q.n_local, q.hull->center) + q.offset - q.hull->radius <= margin)) return 0;

  VertexSet found;
  found.at.count = 0;
  bool graph = q.hull->adj_start && q.hull->nface > 0;
  if (isinf(margin) || (graph && q.hull->nvert > TB_HULL_LANES)) {
    // The lowest vertex decides whether there is contact, and is the only one needed by a distance
    // query (infinite margin) or for a mesh that touches with one vertex.
    int lowest = find_lowest(&q, warm);
    tbReal dist = height(&q, lowest);
    if (!(dist <= margin)) return 0;
    if (isinf(margin) || !has_neighbour_within(&q, lowest, margin)) {
      set_contact(&q, lowest, dist, out);
      return 1;
    }
    if (!walk(&q, lowest, margin, &found)) {
      found.at.count = 0;
      scan_all(&q, margin, &found);
    }
  } else if (tb_hull_cache(q.hull)->lanes) {
    scan_lanes(&q, margin, &found);
  } else {
    scan_all(&q, margin, &found);
  }
  if (found.at.count > 4) reduce(&q, margin, &found);
  for (int i = 0; i < found.at.count; i++) {
    set_contact(&q, found.vertex[i], found.at.dist[i], &out[i]);
  }
  return found.at.count;
}
