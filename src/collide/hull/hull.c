// Searches on a hull: the support vertex of a direction and the face that faces it.
#include "base/minmax.h"
#include "collide/hull/hull.h"

#include "collide/hull/cells.h"
#include "linalg/simd2.h"

// Up to this many vertices a linear scan is as fast as hill climbing.
#define SCAN_MAX 16
// An edge within this angle (sine) of the plane normal to the direction contacts along its length.
#define LEVEL_SINE 1e-3

const tbHullCache tb_empty_hull_cache = {0};

static int scan_support(const tbHull* hull, const tbReal d[3]) {
  int best = 0;
  tbReal most = tb_dot3(hull->vert, d);
  for (int v = 1; v < hull->nvert; v++) {
    tbReal along = tb_dot3(hull->vert + 3 * v, d);
    best = along > most ? v : best;
    most = along > most ? along : most;
  }
  return best;
}

// On the vertex graph of a hull every local maximum of a linear function is global; strict increase
// bounds the climb to nvert moves.
int tb_hull_support(const tbHull* hull, const tbReal d[3], int start) {
  const tbHullCache* cache = tb_hull_cache(hull);
  if (cache->lanes) return tb_hull_search_all(hull, d);
  if (hull->nvert <= SCAN_MAX || !hull->adj_start) return scan_support(hull, d);
  int best = start;
  if (cache->cells) {
    bool climb;
    best = tb_hull_cells_find(hull, d, &climb);
    if (!climb) return best;
  } else if (start < 0 || start >= hull->nvert) {
    best = cache->seed ? cache->seed[tb_hull_cell(d)] : 0;
  }
  tbReal most = tb_dot3(hull->vert + 3 * best, d);
  for (;;) {
    // Written without branches on the comparison, which would be unpredictable.
    int from = best, end = hull->adj_start[from + 1];
    for (int k = hull->adj_start[from]; k < end; k++) {
      int v = hull->adj[k];
      tbReal along = tb_dot3(hull->vert + 3 * v, d);
      best = along > most ? v : best;
      most = along > most ? along : most;
    }
    if (best == from) return best;
  }
}

static int scan_faces(const tbHull* hull, const tbReal d[3]) {
  int best = 0;
  for (int f = 1; f < hull->nface; f++) {
    if (tb_dot3(hull->plane + 4 * f, d) > tb_dot3(hull->plane + 4 * best, d)) best = f;
  }
  return best;
}

// The neighbour that is as far along d as the vertex up to LEVEL_SINE, the most nearly so; -1 if
// none.
static int level_neighbour(const tbHull* hull, const tbReal d[3], int vertex) {
  const tbReal *x = hull->vert + 3 * vertex, height = tb_dot3(x, d);
  tbReal least = LEVEL_SINE;
  int best = -1;
  for (int k = hull->adj_start[vertex]; k < hull->adj_start[vertex + 1]; k++) {
    const tbReal* y = hull->vert + 3 * hull->adj[k];
    tbReal rise = height - tb_dot3(y, d), e[3];
    // No edge is longer than twice the radius, which excludes most neighbours without a square
    // root.
    if (!(rise < 2 * least * hull->radius)) continue;
    tb_sub3(e, x, y);
    tbReal length = tb_norm3(e);
    if (!(rise < least * length)) continue;
    least = rise / length;
    best = hull->adj[k];
  }
  return best;
}

// Index of a vertex among the corners of a face, or -1; `both`: whether `other` (-1: any) is a
// corner, too.
static int corner_of(const tbHull* hull, int face, int vertex, int other, bool* both) {
  int at = -1;
  *both = other < 0;
  for (int k = hull->face_start[face]; k < hull->face_start[face + 1]; k++) {
    at = hull->face_vert[k] == vertex ? k : at;
    *both |= hull->face_vert[k] == other;
  }
  *both &= at >= 0;
  return at;
}

// n.d of the faces at a vertex has several local maxima around it, so all faces are tested.
int tb_hull_face_at(const tbHull* hull, const tbReal d[3], int vertex) {
  if (hull->nface < 1) return -1;
  if (!hull->vert_face || !hull->face_adj || !hull->adj_start) return scan_faces(hull, d);
  int first = hull->vert_face[vertex], level = level_neighbour(hull, d, vertex);
  int left = hull->adj_start[vertex + 1] - hull->adj_start[vertex];
  // The maximum is kept in SIMD registers without branches, which would be unpredictable.
  tbSimd2Best best = {tb_simd2(-INFINITY), {first, first}};
  for (int f = first; left >= 0; left--) {
    bool both;
    int at = corner_of(hull, f, vertex, level, &both);
    // A vertex in the interior of a merged face belongs to no other face.
    if (at < 0) break;
    // Faces at the level edge get a bonus that no other face can reach.
    tbReal along = tb_dot3(hull->plane + 4 * f, d) + (both ? 4 : 0);
    tb_simd2_keep(&best, tb_simd2(along), (tbSimd2Mask){f, f});
    // Continue around the vertex, from face to face over the edges that start there.
    f = hull->face_adj[at];
    if (f == first) break;
  }
  return (int)best.index[0];
}

tbReal tb_hull_inscribed_radius(const tbHull* hull) {
  tbReal inner = hull->nface > 0 ? INFINITY : 0;
  for (int f = 0; f < hull->nface; f++) {
    inner = tb_min(inner, hull->plane[4 * f + 3] - tb_dot3(hull->plane + 4 * f, hull->center));
  }
  return tb_max(inner, 0);
}

void tb_hull_box(const tbHull* hull, tbReal low[3], tbReal high[3]) {
  tb_copy3(low, hull->vert);
  tb_copy3(high, hull->vert);
  for (int v = 1; v < hull->nvert; v++) {
    for (int i = 0; i < 3; i++) {
      low[i] = tb_min(low[i], hull->vert[3 * v + i]);
      high[i] = tb_max(high[i], hull->vert[3 * v + i]);
    }
  }
}

void tb_hull_extent_fill(const tbHull* hull, tbHullCache* cache) {
  cache->inscribed_radius = tb_hull_inscribed_radius(hull);
  tb_hull_box(hull, cache->low, cache->high);
}

bool tb_hull_is_alone(const tbHull* hull, int vertex, const tbReal d[3]) {
  for (int k = hull->adj_start[vertex]; k < hull->adj_start[vertex + 1]; k++) {
    tbReal e[3];
    tb_sub3(e, hull->vert + 3 * vertex, hull->vert + 3 * hull->adj[k]);
    if (tb_dot3(e, d) < 1e-6 * hull->radius) return false;
  }
  return true;
}
