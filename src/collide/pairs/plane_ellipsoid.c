// Plane and ellipsoid: the lowest point of the ellipsoid.
#include "collide/pairs.h"

int tb_collide_plane_ellipsoid(const tbShape* a, const tbShape* b, tbReal margin,
                               tbContactPoint* out, tbCollideCache* warm) {
  (void)warm;
  tbReal n[3] = {a->mat[2], a->mat[5], a->mat[8]}, down[3], lowest[3], from_plane[3];

  // With D = diag(radii), the lowest point along the local normal n is -D^2 n / |D n|.
  tb_mul_mat3t_vec3(down, b->mat, n);
  for (int i = 0; i < 3; i++) down[i] *= -b->size[i];
  tbReal reach = tb_norm3(down);
  tbReal scale = reach > 0 ? 1 / reach : 0;
  for (int i = 0; i < 3; i++) lowest[i] = b->size[i] * down[i] * scale;

  tb_sub3(from_plane, b->pos, a->pos);
  tbReal dist = tb_dot3(from_plane, n) - reach;
  if (!(dist <= margin)) return 0;
  tbReal pos[3];
  tb_mul_mat3_vec3(pos, b->mat, lowest);
  tb_add3(pos, pos, b->pos);
  tb_add_scaled3(pos, pos, -0.5 * dist, n);
  tb_contact_set(out, pos, n, dist, 0);
  return 1;
}
