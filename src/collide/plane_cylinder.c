// Plane and cylinder: the lowest rim point, the point of the other rim on the same side line, and
// two more points of the lower rim, a third of a turn away: a triangle when it stands, a line when
// it lies.
#include "collide/pairs.h"

// One candidate: a point of the cylinder relative to its centre, and its height over the centre.
static int add_point(const tbShape* b, const tbReal n[3], const tbReal point[3], tbReal dist,
                     tbReal margin, uint32_t feature, tbContactPoint* out) {
  if (!(dist <= margin)) return 0;
  tbReal pos[3];
  tb_add3(pos, b->pos, point);
  tb_add_scaled3(pos, pos, -0.5 * dist, n);
  tb_contact_set(out, pos, n, dist, feature);
  return 1;
}

int tb_collide_plane_cylinder(const tbShape* a, const tbShape* b, tbReal margin,
                              tbContactPoint* out, tbCollideCache* warm) {
  (void)warm;
  tbReal n[3] = {a->mat[2], a->mat[5], a->mat[8]};
  tbReal axis[3] = {b->mat[2], b->mat[5], b->mat[8]};
  tbReal radius = b->size[0], half = b->size[1], from_plane[3];
  tb_sub3(from_plane, b->pos, a->pos);
  tbReal center = tb_dot3(from_plane, n), slope = tb_dot3(axis, n);
  // Which end is the lower one: points are named by their ends, since a wheel that rocks has the
  // one and then the other low, and its contacts are the same all the time.
  uint32_t end = slope > 0;
  if (end) {
    tb_scale3(axis, axis, -1);
    slope = -slope;
  }

  // The radial direction that goes down, from the normal's parts along the cylinder's x and y:
  // exact even where the cylinder almost stands. For a standing one it is any radial direction.
  const tbReal* m = b->mat;
  tbReal x = n[0] * m[0] + n[1] * m[3] + n[2] * m[6], y = n[0] * m[1] + n[1] * m[4] + n[2] * m[7];
  tbReal length = sqrt(x * x + y * y), radial[3], point[3];
  if (length > 1e-12) {
    x *= -radius / length;
    y *= -radius / length;
  } else {
    x = radius;
    y = 0;
  }
  tb_set3(radial, x * m[0] + y * m[1], x * m[3] + y * m[4], x * m[6] + y * m[7]);
  tbReal drop = tb_dot3(radial, n);

  // Lowest rim point, then the far end of its side line.
  tbReal rise = half * slope;
  tb_add_scaled3(point, radial, half, axis);
  if (!add_point(b, n, point, center + rise + drop, margin, end, out)) return 0;
  int count = 1;
  tb_add_scaled3(point, radial, -half, axis);
  count += add_point(b, n, point, center - rise + drop, margin, 1 - end, out + count);

  // The other two corners of the triangle on the lower disc: -radial/2 +- sqrt(3)/2 side.
  tbReal low = center + rise - 0.5 * drop;
  if (low <= margin) {
    tbReal side[3], middle[3];
    tb_cross(side, radial, axis);
    tb_scale3(side, side, 0.86602540378443864676);
    tb_scale3(middle, axis, half);
    tb_add_scaled3(middle, middle, -0.5, radial);
    tb_add3(point, middle, side);
    count += add_point(b, n, point, low, margin, 2 + 2 * end, out + count);
    tb_sub3(point, middle, side);
    count += add_point(b, n, point, low, margin, 3 + 2 * end, out + count);
  }
  return count;
}
