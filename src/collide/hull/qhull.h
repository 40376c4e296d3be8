// The only interface to qhull: points in, oriented triangles of their hull out.
#ifndef TRIBO_COLLIDE_HULL_QHULL_H_
#define TRIBO_COLLIDE_HULL_QHULL_H_

#include "base/arena.h"
#include "base/error.h"
#include "tribo/types.h"

typedef struct {
  int count;
  int* vert;       // count x 3: input points, counter-clockwise from outside
  tbReal* normal;  // count x 3: outward unit normal of qhull's facet of this triangle
} tbHullTriangles;

// Triangulated hull in `arena`. `joggle` perturbs the input by amounts of rounding size, which
// always gives a valid triangulation. Errors as tb_hull_build.
tbResult tb_hull_triangulate(tbHullTriangles* out, tbArena* arena, const tbReal* points, int npoint,
                             int max_vert, int joggle, tbError* error);

#endif
