// Plane and capsule: the two end spheres.
#include "collide/pairs.h"

int tb_collide_plane_capsule(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                             tbCollideCache* warm) {
  (void)warm;
  tbReal n[3] = {a->mat[2], a->mat[5], a->mat[8]};
  tbReal axis[3] = {b->mat[2], b->mat[5], b->mat[8]};
  tbReal from_plane[3];
  tb_sub3(from_plane, b->pos, a->pos);
  tbReal height = tb_dot3(from_plane, n) - b->size[0];
  tbReal slope = tb_dot3(axis, n) * b->size[1];
  int count = 0;
  for (int end = 0; end < 2; end++) {
    tbReal side = end ? -1 : 1, dist = height + side * slope, pos[3];
    if (!(dist <= margin)) continue;
    tb_add_scaled3(pos, b->pos, side * b->size[1], axis);
    tb_add_scaled3(pos, pos, -(b->size[0] + 0.5 * dist), n);
    tb_contact_set(&out[count], pos, n, dist, (uint32_t)end);

    // The first tangent is along the axis, so that the second is the rolling direction.
    tb_copy3(out[count].frame + 3, axis);
    count++;
  }
  return count;
}
