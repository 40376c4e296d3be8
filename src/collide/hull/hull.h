// Convex hulls of points, and the searches for support vertices and faces.
#ifndef TRIBO_COLLIDE_HULL_HULL_H_
#define TRIBO_COLLIDE_HULL_HULL_H_

#include <math.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "spatial/vec3.h"
#include "tribo/collide.h"

// The hull of `npoint` points (npoint x 3). All arrays of `hull` are allocated in `arena`; sizes
// are hull->nvert, hull->nface, adj_start[nvert] and face_start[nface]. Equal input gives bitwise
// equal hulls. `max_vert` > 0 stops after about that many vertices (MuJoCo's maxhullvert, at least
// 4); otherwise all are kept. `vert_index` (may be NULL) receives an array in the arena: the input
// point of each hull vertex, ascending. Errors: TB_ERROR_MODEL for fewer than four points,
// non-finite points, points that all lie in one plane, line or point; TB_ERROR_MEMORY;
// TB_ERROR_UNSUPPORTED if Tribo was built without qhull.
tbResult tb_hull_build(tbHull* hull, tbArena* arena, const tbReal* points, int npoint, int max_vert,
                       const int** vert_index, tbError* error);

// Cell of the cube map that contains a direction: the index into tbHull.guess.
static inline int tb_hull_cell(const tbReal d[3]) {
  tbReal x = fabs(d[0]), y = fabs(d[1]), z = fabs(d[2]);
  int axis = x >= y ? (x >= z ? 0 : 2) : (y >= z ? 1 : 2);
  int u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
  tbReal major = axis == 0 ? x : (axis == 1 ? y : z);
  // Also keeps a zero or non-finite direction inside the table.
  if (!(major > 0) || !(major < INFINITY)) return 0;
  int i = (int)(2 * (d[u] / major + 1)), j = (int)(2 * (d[v] / major + 1));
  i = i < 0 ? 0 : (i > 3 ? 3 : i);
  j = j < 0 ? 0 : (j > 3 ? 3 : j);
  return 16 * (2 * axis + (d[axis] < 0)) + 4 * i + j;
}

// Size in bytes and computation of the hull's search tables (search.c). `memory`, aligned for
// tbReal, must live as long as the hull.
size_t tb_hull_search_bytes(const tbHull* hull);
void tb_hull_search_fill(tbHull* hull, void* memory);

// Maximum number of vertices of a hull with `lanes`; larger hulls have direction tables only.
#define TB_HULL_LANES 128

// The farthest vertex of a hull with `lanes`; the first of equals.
int tb_hull_search_all(const tbHull* hull, const tbReal d[3]);

// For a hull with `lanes`: height[v] = n.v + offset of every vertex, and the bits of the vertices
// whose height is at most `limit`.
void tb_hull_search_below(const tbHull* hull, const tbReal n[3], tbReal offset, tbReal limit,
                          uint64_t below[2], tbReal height[TB_HULL_LANES]);

// Whether a support vertex of d is unique: no neighbour is equally far along d.
bool tb_hull_is_alone(const tbHull* hull, int vertex, const tbReal d[3]);

// Radius of the largest ball around the hull's centre that is inside: tbHull.inner.
tbReal tb_hull_inscribed_radius(const tbHull* hull);

// The box around the hull's vertices in its own frame: tbHull.low and tbHull.high.
void tb_hull_box(const tbHull* hull, tbReal low[3], tbReal high[3]);

// The vertex farthest along d (in the hull's frame, any length): hill climbing on the vertex graph
// from `start`, or from the hull's search seed if start is out of range.
int tb_hull_support(const tbHull* hull, const tbReal d[3], int start);

// The face at `vertex` (a support vertex for d) whose normal is closest to d, chosen from the two
// faces at the vertex's level edge if there is one. On a slightly bulged plate in a side view
// another face may be closer to d, but does not contain the farthest edge. -1 for a hull without
// faces.
int tb_hull_face_at(const tbHull* hull, const tbReal d[3], int vertex);

#endif
