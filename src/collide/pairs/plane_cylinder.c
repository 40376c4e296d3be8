// Plane and cylinder: the lowest rim point, the opposite end of its side line, and two more points
// of the lower rim, a third of a turn away: a triangle for a standing cylinder, a line for a lying
// one.
#include "collide/pairs.h"

// A cylinder tilted by less than this, relative to its size, counts as standing: its downward
// radial direction, and with it the contacts, would otherwise turn with the last bits of a resting
// pose.
#define STANDING 5e-9

// Adds a point of the cylinder, given relative to its centre, if within the margin.
static int add_point(const tbShape* b, const tbReal n[3], const tbReal point[3], tbReal dist,
                     tbReal margin, uint32_t feature, tbContactPoint* out) {
  if (!(dist <= margin)) return 0;
  tbReal pos[3];
  tb_add3(pos, b->pos, point);
  tb_add_scaled3(pos, pos, -0.5 * dist, n);
  tb_contact_set(out, pos, n, dist, feature);
  return 1;
}

// The other two corners of the triangle on the lower disc: -radial/2 +- sqrt(3)/2 side, at height
// `low`. The side direction is level unless the cylinder stands; then the radial direction is
// arbitrary.
static int add_thirds(const tbShape* b, const tbReal n[3], const tbReal axis[3],
                      const tbReal radial[3], bool stands, tbReal low, tbReal margin,
                      uint32_t feature, tbContactPoint* out) {
  tbReal side[3], back[3], point[3];
  tb_cross(side, radial, axis);
  tb_scale3(side, side, 0.86602540378443864676);
  tb_scale3(back, axis, b->size[1]);
  tb_add_scaled3(back, back, -0.5, radial);
  tbReal rise = stands ? tb_dot3(side, n) : 0;
  tb_add3(point, back, side);
  int count = add_point(b, n, point, low + rise, margin, feature, out);
  tb_sub3(point, back, side);
  return count + add_point(b, n, point, low - rise, margin, feature + 1, out + count);
}

// Lowers the deepest contact of a standing cylinder to the cylinder's lowest point.
static void lower(tbContactPoint* out, int count, tbReal dist) {
  int deepest = 0;
  for (int i = 1; i < count; i++) deepest = out[i].dist < out[deepest].dist ? i : deepest;
  if (dist < out[deepest].dist) out[deepest].dist = dist;
}

int tb_collide_plane_cylinder(const tbShape* a, const tbShape* b, tbReal margin,
                              tbContactPoint* out, tbCollideCache* warm) {
  (void)warm;
  tbReal n[3] = {a->mat[2], a->mat[5], a->mat[8]};
  tbReal axis[3] = {b->mat[2], b->mat[5], b->mat[8]};
  tbReal radius = b->size[0], half = b->size[1], from_plane[3];
  tb_sub3(from_plane, b->pos, a->pos);
  tbReal center = tb_dot3(from_plane, n), slope = tb_dot3(axis, n);
  // The lower end. Contacts are identified by their ends, since for a rocking wheel the lower end
  // alternates while its contacts stay the same.
  uint32_t end = slope > 0;
  if (end) {
    tb_scale3(axis, axis, -1);
    slope = -slope;
  }

  // The downward radial direction, from the normal's components along the cylinder's x and y, which
  // is accurate even for a nearly standing cylinder. For a standing one it is fixed to the body,
  // except in distance queries, which pass an infinite margin and need the lowest point.
  const tbReal* m = b->mat;
  tbReal x = n[0] * m[0] + n[1] * m[3] + n[2] * m[6], y = n[0] * m[1] + n[1] * m[4] + n[2] * m[7];
  tbReal length = sqrt(x * x + y * y), radial[3], point[3];
  bool stands = !(length * radius > (isinf(margin) ? 1e-12 : STANDING) * (radius + half));
  if (!stands) {
    x *= -radius / length;
    y *= -radius / length;
  } else {
    x = radius;
    y = 0;
  }
  tb_set3(radial, x * m[0] + y * m[1], x * m[3] + y * m[4], x * m[6] + y * m[7]);
  tbReal drop = tb_dot3(radial, n), rise = half * slope;

  // The lowest rim point, then the other end of its side line.
  if (!(center + rise - radius * length <= margin)) return 0;
  tb_add_scaled3(point, radial, half, axis);
  int count = add_point(b, n, point, center + rise + drop, margin, end, out);
  tb_add_scaled3(point, radial, -half, axis);
  count += add_point(b, n, point, center - rise + drop, margin, 1 - end, out + count);
  tbReal low = center + rise - 0.5 * drop;
  if (stands || low <= margin) {
    count += add_thirds(b, n, axis, radial, stands, low, margin, 2 + 2 * end, out + count);
  }
  if (stands && count > 0) lower(out, count, center + rise - radius * length);
  return count;
}
