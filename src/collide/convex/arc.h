// The separation of a cylinder from a corner or vertex along part of a great circle of normals, and
// its maximum there (docs/notebook/gjk.md, "Cylinders").
#ifndef TRIBO_COLLIDE_CONVEX_ARC_H_
#define TRIBO_COLLIDE_CONVEX_ARC_H_

#include <math.h>
#include <stdbool.h>

#include "base/minmax.h"
#include "tribo/types.h"

// Normals n = (x, y) in a plane from n1 to n2, less than half a turn. With g the vector from the
// cylinder's centre to the corner and z the cylinder's axis,
//   s(n) = n.g - top l n.z - r sqrt(1 - (n.z)^2).
// The corner and the rim (top = 1 or -1) are the same on the whole arc, so s is smooth.
typedef struct {
  tbReal g[2], z[2];  // in the plane
  tbReal out;         // squared component of z out of the plane
  tbReal r, l;        // radius and half length
  tbReal top;
  tbReal turn;  // 1: from n1 to n2 is counter-clockwise
  tbReal n1[2], n2[2];
  tbReal s1, s2;        // s at the ends
  tbReal rise1, rise2;  // slopes of s at the ends, inwards
} tbArc;

// s at the unit vector n, its slope along the turn, and its curvature -s - r out / w^3.
static inline tbReal tb_arc_at(const tbArc* arc, const tbReal n[2], tbReal* slope,
                               tbReal* curvature) {
  tbReal gx = arc->g[0] - arc->top * arc->l * arc->z[0];
  tbReal gy = arc->g[1] - arc->top * arc->l * arc->z[1];
  tbReal along = arc->z[0] * n[0] + arc->z[1] * n[1], across = arc->z[1] * n[0] - arc->z[0] * n[1];
  tbReal w = sqrt(tb_max(across * across + arc->out, 1e-30)),
         s = gx * n[0] + gy * n[1] - arc->r * w;
  *slope = arc->turn * (gy * n[0] - gx * n[1] + arc->r * along * across / w);
  *curvature = -s - arc->r * arc->out / (w * w * w);
  return s;
}

// Searches the arc for a normal where s is larger than *best, and sets *best and n to the maximum.
// False if there is none.
bool tb_arc_search(const tbArc* arc, tbReal* best, tbReal n[2]);

#endif
