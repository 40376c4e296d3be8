// Searches on a hull: the farthest vertex and the face that looks along a direction.
#include "base/minmax.h"
#include "collide/hull/hull.h"

#include "collide/hull/cells.h"
#include "linalg/simd2.h"

// Below this many vertices a plain scan is as fast as climbing.
#define SCAN_MAX 16
// An edge that leans less than this (sine) touches along its length.
#define LEVEL_SINE 1e-3

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

// A convex function has no local maximum on the graph of a hull but the global one; strict increase
// ends the climb after at most nvert moves.
int tb_hull_support(const tbHull* hull, const tbReal d[3], int start) {
  if (hull->lanes) return tb_hull_search_all(hull, d);
  if (hull->nvert <= SCAN_MAX || !hull->adj_start) return scan_support(hull, d);
  int best = start;
  if (hull->cells) {
    bool climb;
    best = tb_hull_cells_find(hull, d, &climb);
    if (!climb) return best;
  } else if (start < 0 || start >= hull->nvert) {
    best = hull->guess ? hull->guess[tb_hull_cell(d)] : 0;
  }
  tbReal most = tb_dot3(hull->vert + 3 * best, d);
  for (;;) {
    // Without branches on the outcome: which neighbour is higher cannot be predicted.
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

// The neighbour that is about as far along d as the vertex, if one is: most level first.
static int level_neighbour(const tbHull* hull, const tbReal d[3], int vertex) {
  const tbReal *x = hull->vert + 3 * vertex, height = tb_dot3(x, d);
  tbReal least = LEVEL_SINE;
  int best = -1;
  for (int k = hull->adj_start[vertex]; k < hull->adj_start[vertex + 1]; k++) {
    const tbReal* y = hull->vert + 3 * hull->adj[k];
    tbReal rise = height - tb_dot3(y, d), e[3];
    // No edge is longer than the hull is wide: most are out without their length.
    if (!(rise < 2 * least * hull->radius)) continue;
    tb_sub3(e, x, y);
    tbReal length = tb_norm3(e);
    if (!(rise < least * length)) continue;
    least = rise / length;
    best = hull->adj[k];
  }
  return best;
}

// Where a vertex is among the corners of a face, or -1; and whether another (-1: any) is there too.
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

// n.d of the faces at a vertex has several local maxima on the way around it: all are looked at.
int tb_hull_face_at(const tbHull* hull, const tbReal d[3], int vertex) {
  if (hull->nface < 1) return -1;
  if (!hull->vert_face || !hull->face_adj || !hull->adj_start) return scan_faces(hull, d);
  int first = hull->vert_face[vertex], level = level_neighbour(hull, d, vertex);
  int left = hull->adj_start[vertex + 1] - hull->adj_start[vertex];
  // In a register without branches: which is best cannot be predicted.
  tbSimd2Best best = {tb_simd2(-INFINITY), {first, first}};
  for (int f = first; left >= 0; left--) {
    bool both;
    int at = corner_of(hull, f, vertex, level, &both);
    // A vertex inside of a merged face has no other.
    if (at < 0) break;
    // With the level edge: beyond what any face without it reaches.
    tbReal along = tb_dot3(hull->plane + 4 * f, d) + (both ? 4 : 0);
    tb_simd2_keep(&best, tb_simd2(along), (tbSimd2Mask){f, f});
    // Around the vertex, from face to face over the edges that leave it.
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

bool tb_hull_is_alone(const tbHull* hull, int vertex, const tbReal d[3]) {
  for (int k = hull->adj_start[vertex]; k < hull->adj_start[vertex + 1]; k++) {
    tbReal e[3];
    tb_sub3(e, hull->vert + 3 * vertex, hull->vert + 3 * hull->adj[k]);
    if (tb_dot3(e, d) < 1e-6 * hull->radius) return false;
  }
  return true;
}
