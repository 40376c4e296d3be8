// Cheap boxes around placed shapes for the broad phase: what a shape needs is computed once, and a
// pose then costs a few multiplications whatever the shape.
//
// The bounds are the sum of a box, an ellipsoid and a ball in the shape's own frame: a capsule is a
// box without width and a ball, a cylinder such a box and an ellipsoid without height. The world
// box that follows is as small as can be but for meshes, where it is that of the box around the
// mesh.
#ifndef TRIBO_COLLIDE_BOUNDS_H_
#define TRIBO_COLLIDE_BOUNDS_H_

#include <math.h>

#include "tribo/collide.h"

typedef struct {
  tbReal center[3], half[3];  // of the box
  tbReal round[3];            // radii of the ellipsoid
  bool is_round;              // they are not zero
  tbReal radius;              // of the ball
  tbReal reach;               // all of the shape is this near to the center
} tbBounds;

// Bounds of a shape, whatever its pose. False for planes and height fields.
bool tb_shape_bounds(const tbShape* shape, tbBounds* bounds);

// The world box of the bounds in a pose, grown by `margin`.
static inline void tb_bounds_place(const tbBounds* b, const tbReal pos[3], const tbReal mat[9],
                                   tbReal margin, tbReal low[3], tbReal high[3]) {
  for (int i = 0; i < 3; i++) {
    const tbReal* row = mat + 3 * i;
    tbReal middle =
        pos[i] + (row[0] * b->center[0] + row[1] * b->center[1] + row[2] * b->center[2]);
    tbReal half = fabs(row[0]) * b->half[0] + fabs(row[1]) * b->half[1] +
                  fabs(row[2]) * b->half[2] + b->radius;
    if (b->is_round) {
      tbReal x = row[0] * b->round[0], y = row[1] * b->round[1], z = row[2] * b->round[2];
      half += sqrt(x * x + y * y + z * z);
    }
    half = (half < b->reach ? half : b->reach) + margin;
    low[i] = middle - half;
    high[i] = middle + half;
  }
}

#endif
