// Plane and convex mesh: the lowest vertex by descent on the vertex graph, then the vertices within
// the margin around it, of which the deepest and the widest stay.
#include "collide/manifold.h"
#include "collide/pairs.h"

// Vertices followed from the lowest one; a patch with more is searched over all vertices instead.
#define MAX_PATCH 64

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

static int lowest_of_all(const Query* q) {
  int best = 0;
  tbReal least = height(q, 0);
  for (int v = 1; v < q->hull->nvert; v++) {
    tbReal h = height(q, v);
    if (h < least) {
      least = h;
      best = v;
    }
  }
  return best;
}

// Descend to the lowest vertex: on a convex polytope a vertex lower than its neighbours is the
// lowest.
static int lowest_vertex(const Query* q, int start) {
  if (q->hull->nvert <= 8 || !q->hull->adj_start || q->hull->nface == 0) return lowest_of_all(q);
  int v = start >= 0 && start < q->hull->nvert ? start : 0;
  tbReal least = height(q, v);
  for (int step = 0; step < q->hull->nvert; step++) {
    int next = v;
    for (int i = q->hull->adj_start[v]; i < q->hull->adj_start[v + 1]; i++) {
      tbReal h = height(q, q->hull->adj[i]);
      if (h < least) {
        least = h;
        next = q->hull->adj[i];
      }
    }
    if (next == v) return v;
    v = next;
  }
  return lowest_of_all(q);
}

static void set_contact(const Query* q, int v, tbContactPoint* out) {
  tbReal pos[3], dist = height(q, v);
  tb_mul_mat3_vec3(pos, q->mesh->mat, q->hull->vert + 3 * v);
  tb_add3(pos, pos, q->mesh->pos);
  tb_add_scaled3(pos, pos, -0.5 * dist, q->n);
  tb_contact_set(out, pos, q->n, dist, (uint32_t)v);
}

// Add v to the patch unless it is there or too high.
static int visit(const Query* q, int v, tbReal margin, int* patch, int count) {
  if (!(height(q, v) <= margin)) return count;
  for (int i = 0; i < count; i++) {
    if (patch[i] == v) return count;
  }
  if (count < MAX_PATCH) patch[count] = v;
  return count + 1;
}

// The vertices within the margin, which hang together in the graph. Returns MAX_PATCH + 1 when
// there are more than fit.
static int grow_patch(const Query* q, int lowest, tbReal margin, int* patch) {
  int count = 1;
  patch[0] = lowest;
  if (!q->hull->adj_start || q->hull->nface == 0) return MAX_PATCH + 1;
  for (int done = 0; done < count; done++) {
    int v = patch[done];
    for (int i = q->hull->adj_start[v]; i < q->hull->adj_start[v + 1]; i++) {
      count = visit(q, q->hull->adj[i], margin, patch, count);
      if (count > MAX_PATCH) return count;
    }
  }
  return count;
}

// Many vertices below the margin: reduce whenever the buffer is full. The deepest never leaves.
static int scan_all(const Query* q, int lowest, tbReal margin, tbContactPoint* buffer) {
  int count = 1;
  set_contact(q, lowest, &buffer[0]);
  for (int v = 0; v < q->hull->nvert; v++) {
    if (v == lowest || !(height(q, v) <= margin)) continue;
    if (count == MAX_PATCH) count = tb_manifold_reduce(buffer, count, 4);
    set_contact(q, v, &buffer[count++]);
  }
  return count;
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

  int lowest = lowest_vertex(&q, warm && warm->state ? warm->hint[1] : 0);
  if (warm) {
    warm->hint[1] = lowest;
    warm->state = 1;
    tb_copy3(warm->direction, q.n);
  }
  if (!(height(&q, lowest) <= margin)) return 0;

  // A distance query has no margin and wants the lowest vertex only.
  if (isinf(margin)) {
    set_contact(&q, lowest, out);
    return 1;
  }
  tbContactPoint buffer[MAX_PATCH];
  int patch[MAX_PATCH], count = grow_patch(&q, lowest, margin, patch);
  if (count <= MAX_PATCH) {
    for (int i = 0; i < count; i++) set_contact(&q, patch[i], &buffer[i]);
  } else {
    count = scan_all(&q, lowest, margin, buffer);
  }
  count = tb_manifold_reduce(buffer, count, 4);
  for (int i = 0; i < count; i++) out[i] = buffer[i];
  return count;
}
