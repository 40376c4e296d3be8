// Plane and sphere: the lowest point of the sphere.
#include "collide/pairs.h"

int tb_collide_plane_sphere(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                            tbCollideCache* warm) {
  (void)warm;
  tbReal n[3] = {a->mat[2], a->mat[5], a->mat[8]}, from_plane[3], pos[3];
  tb_sub3(from_plane, b->pos, a->pos);
  tbReal height = tb_dot3(from_plane, n), dist = height - b->size[0];
  if (!(dist <= margin)) return 0;
  tb_add_scaled3(pos, b->pos, -(b->size[0] + 0.5 * dist), n);
  tb_contact_set(out, pos, n, dist, 0);
  return 1;
}
