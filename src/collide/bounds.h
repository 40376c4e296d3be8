// Conservative bounding boxes of placed shapes for the broad phase. The data that depend on the
// shape only are computed once; a new pose then costs a few multiplications for every shape type.
//
// The bounds are the Minkowski sum of a box, an ellipsoid and a ball in the shape's own frame: a
// capsule is a box of zero width plus a ball, a cylinder is such a box plus an ellipsoid of zero
// height. The world-aligned box is exact for all shapes but meshes, where it bounds the box around
// the mesh.
#ifndef TRIBO_COLLIDE_BOUNDS_H_
#define TRIBO_COLLIDE_BOUNDS_H_

#include <math.h>

#include "collide/broadphase/bvh.h"
#include "tribo/collide.h"

typedef struct {
  tbReal center[3], half[3];  // of the box
  tbReal round[3];            // radii of the ellipsoid
  bool is_round, is_mesh;     // radii are not zero; center is not zero
  tbReal radius;              // of the ball
  tbReal reach;               // distance from center within which all of the shape lies
} tbBounds;

// Bounds of a shape in its own frame. False for planes and height fields, which have none.
bool tb_shape_bounds(const tbShape* shape, tbBounds* bounds);

// An upper bound of the shape's support function along the unit vector d, relative to its position.
static inline tbReal tb_bounds_along(const tbBounds* b, const tbReal mat[9], const tbReal d[3]) {
  tbReal x = mat[0] * d[0] + mat[3] * d[1] + mat[6] * d[2];
  tbReal y = mat[1] * d[0] + mat[4] * d[1] + mat[7] * d[2];
  tbReal z = mat[2] * d[0] + mat[5] * d[1] + mat[8] * d[2];
  tbReal half = fabs(x) * b->half[0] + fabs(y) * b->half[1] + fabs(z) * b->half[2] + b->radius;
  if (b->is_round) {
    tbReal u = x * b->round[0], v = y * b->round[1], w = z * b->round[2];
    half += sqrt(u * u + v * v + w * w);
  }
  half = half < b->reach ? half : b->reach;
  return half + (x * b->center[0] + y * b->center[1] + z * b->center[2]);
}

// The world-aligned box of the bounds at a pose, grown by `margin` and by more than the rounding to
// single precision. The box is empty where a bound is NAN.
static inline void tb_bounds_place(const tbBounds* b, const tbReal pos[3], const tbReal mat[9],
                                   tbReal margin, tbAabb* box) {
  bool valid = true;
  for (int i = 0; i < 3; i++) {
    const tbReal* row = mat + 3 * i;
    tbReal middle = pos[i], half = fabs(row[0]) * b->half[0] + fabs(row[1]) * b->half[1] +
                                   fabs(row[2]) * b->half[2] + b->radius;
    if (b->is_mesh) {
      middle += row[0] * b->center[0] + row[1] * b->center[1] + row[2] * b->center[2];
      half = half < b->reach ? half : b->reach;
    }
    if (b->is_round) {
      tbReal x = row[0] * b->round[0], y = row[1] * b->round[1], z = row[2] * b->round[2];
      half += sqrt(x * x + y * y + z * z);
    }
    half += margin;
    half += 1.2e-7 * (fabs(middle) + half) + 1e-37;
    box->low[i] = (float)(middle - half);
    box->high[i] = (float)(middle + half);
    valid &= box->low[i] <= box->high[i];
  }
  if (!valid) tb_aabb_make_empty(box);
}

#endif
