// Convex hulls of points, and the searches for support vertices and faces.
#ifndef TRIBO_COLLIDE_HULL_HULL_H_
#define TRIBO_COLLIDE_HULL_HULL_H_

#include <math.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "spatial/vec3.h"
#include "tribo/collide.h"

// Number of directions for which a hull stores a support vertex: the cells of a 4 x 4 grid on each
// face of a cube.
#define TB_HULL_SEEDS 96

// Tables of a hull; each may be absent.
struct tbHullCache {
  const int* seed;          // TB_HULL_SEEDS: start vertices of the support search (hill climbing)
  const tbReal* lanes;      // 3 x nlane, small hulls only: vertices by coordinate
  int nlane;                // a multiple of eight; entries beyond nvert repeat vertex 0
  const uint8_t* edges;     // small hulls only: the two faces of each edge, one byte each
  const tbReal* planes;     // with `edges`, 4 x nplane: planes by coordinate
  int nplane;               // a multiple of four; entries beyond nface repeat face 0
  tbReal dihedral_bound;    // with `edges`: cosine of half the largest angle between two adjacent
                            // face normals
  bool exact_planes;        // with `edges`: all vertices satisfy the plane inequalities to rounding
  const uint16_t* cells;    // large hulls: candidate vertices by direction cell (cells.h)
  int side;                 // direction cells along each side of a cube's faces
  tbReal inscribed_radius;  // of a ball around the centre inside the hull; 0 where unknown
  tbReal low[3], high[3];   // bounding box in the hull's frame; equal where unknown
};

extern const tbHullCache tb_empty_hull_cache;

static inline const tbHullCache* tb_hull_cache(const tbHull* hull) {
  return hull->cache ? hull->cache : &tb_empty_hull_cache;
}

// The hull of `npoint` points (npoint x 3). All arrays of `hull` are allocated in `arena`; sizes
// are hull->nvert, hull->nface, adj_start[nvert] and face_start[nface]. Equal input gives bitwise
// equal hulls. `max_vert` > 0 stops after about that many vertices (MuJoCo's maxhullvert, at least
// 4); otherwise all are kept. `vert_index` (may be NULL) receives an array in the arena: the input
// point of each hull vertex, ascending. Errors: TB_ERROR_MODEL for fewer than four points,
// non-finite points, points that all lie in one plane, line or point; TB_ERROR_MEMORY;
// TB_ERROR_UNSUPPORTED if Tribo was built without qhull.
tbResult tb_hull_build(tbHull* hull, tbArena* arena, const tbReal* points, int npoint, int max_vert,
                       const int** vert_index, tbError* error);

// Cell of the cube map that contains a direction: the index into tbHullCache.seed.
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

// Size in bytes of the hull's search tables (search.c), and their computation into `cache`, which
// the hull refers to; the seeds stay. `memory`, aligned for tbReal, must live as long as the hull.
size_t tb_hull_search_bytes(const tbHull* hull);
void tb_hull_search_fill(const tbHull* hull, tbHullCache* cache, void* memory);

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

// Radius of the largest ball around the hull's centre that is inside.
tbReal tb_hull_inscribed_radius(const tbHull* hull);

// The box around the hull's vertices in its own frame.
void tb_hull_box(const tbHull* hull, tbReal low[3], tbReal high[3]);

// Fills the inscribed radius and the bounding box of a hull's cache.
void tb_hull_extent_fill(const tbHull* hull, tbHullCache* cache);

// The vertex farthest along d (in the hull's frame, any length): hill climbing on the vertex graph
// from `start`, or from the hull's search seed if start is out of range.
int tb_hull_support(const tbHull* hull, const tbReal d[3], int start);

// The face at `vertex` (a support vertex for d) whose normal is closest to d, chosen from the two
// faces at the vertex's level edge if there is one. On a slightly bulged plate in a side view
// another face may be closer to d, but does not contain the farthest edge. -1 for a hull without
// faces.
int tb_hull_face_at(const tbHull* hull, const tbReal d[3], int vertex);

#endif
