// Sphere and box: the sphere's centre against the box.
#include "collide/pairs/ball.h"

// Separation through the nearest face for a centre inside the box. Sets the local normal from ball
// to box and returns the (negative) signed distance of the centre.
static tbReal leave_inside(const tbReal center[3], const tbReal size[3], tbReal n[3]) {
  int face = 0;
  for (int k = 1; k < 3; k++) {
    if (size[k] - fabs(center[k]) < size[face] - fabs(center[face])) face = k;
  }
  tb_zero3(n);
  n[face] = center[face] < 0 ? 1 : -1;
  return fabs(center[face]) - size[face];
}

int tb_collide_sphere_box(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                          tbCollideCache* warm) {
  (void)warm;
  const tbReal *size = b->size, radius = a->size[0];
  tbReal offset[3], local[3], excess[3], n[3], normal[3], pos[3];
  tb_sub3(offset, a->pos, b->pos);
  tb_mul_mat3t_vec3(local, b->mat, offset);

  // Vector from the nearest point of the box to the centre.
  for (int k = 0; k < 3; k++) excess[k] = local[k] - tb_clamp(local[k], -size[k], size[k]);
  tbReal squared = tb_dot3(excess, excess), limit = radius + margin;
  if (!(squared <= limit * limit)) return 0;
  tbReal gap = sqrt(squared);
  if (gap > 0) {
    tb_scale3(n, excess, -1 / gap);
  } else {
    gap = leave_inside(local, size, n);
  }
  tbReal dist = gap - radius;
  tb_mul_mat3_vec3(normal, b->mat, n);
  tb_add_scaled3(pos, a->pos, radius + 0.5 * dist, normal);
  tb_contact_set(out, pos, normal, dist, 0);
  return 1;
}
