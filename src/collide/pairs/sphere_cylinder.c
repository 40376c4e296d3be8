// Sphere and cylinder: in the half plane through the axis and the sphere's centre, the cylinder is
// a rectangle (radius by half length), and the problem is a point against that rectangle.
#include "base/minmax.h"
#include "collide/pairs/ball.h"

// Separation through the nearer of side and cap for a centre inside the cylinder.
static tbReal leave_inside(tbReal rho, tbReal z, const tbReal size[2], const tbReal radial[3],
                           const tbReal axis[3], tbReal n[3], uint32_t* feature) {
  tbReal to_side = size[0] - rho, to_cap = size[1] - fabs(z);
  if (to_side < to_cap) {
    tb_scale3(n, radial, -1);
    *feature = 0;
    return -to_side;
  }
  tb_scale3(n, axis, z < 0 ? 1 : -1);
  *feature = z < 0 ? 1 : 2;
  return -to_cap;
}

int tb_collide_sphere_cylinder(const tbShape* a, const tbShape* b, tbReal margin,
                               tbContactPoint* out, tbCollideCache* warm) {
  (void)warm;
  tbReal axis[3] = {b->mat[2], b->mat[5], b->mat[8]}, offset[3], radial[3];
  tb_sub3(offset, a->pos, b->pos);
  tbReal z = tb_dot3(offset, axis);
  if (!(fabs(z) <= b->size[1] + a->size[0] + margin)) return 0;
  tb_add_scaled3(radial, offset, -z, axis);
  tbReal squared = tb_dot3(radial, radial), limit = b->size[0] + a->size[0] + margin;
  if (!(squared <= limit * limit)) return 0;
  tbReal rho = sqrt(squared);
  if (rho > 0) {
    tb_scale3(radial, radial, 1 / rho);
  } else {
    tb_set3(radial, b->mat[0], b->mat[3], b->mat[6]);
  }

  // Signed distances of the centre beyond the side and beyond a cap.
  tbReal beyond_side = rho - b->size[0], beyond_cap = fabs(z) - b->size[1];
  tbReal n[3], gap;
  uint32_t feature;
  if (beyond_side <= 0 && beyond_cap <= 0) {
    gap = leave_inside(rho, z, b->size, radial, axis, n, &feature);
  } else {
    tbReal side = tb_max(beyond_side, 0), cap = tb_max(beyond_cap, 0);
    gap = side > 0 && cap > 0 ? sqrt(side * side + cap * cap) : side + cap;
    tb_scale3(n, radial, -side / gap);
    tb_add_scaled3(n, n, (z < 0 ? cap : -cap) / gap, axis);
    feature = (side > 0 ? 0 : 1) + (cap > 0 && z > 0 ? 1 : 0) + (side > 0 && cap > 0 ? 3 : 0);
  }
  tbReal dist = gap - a->size[0];
  if (!(dist <= margin)) return 0;
  tbReal pos[3];
  tb_add_scaled3(pos, a->pos, a->size[0] + 0.5 * dist, n);
  tb_contact_set(out, pos, n, dist, feature);
  return 1;
}
