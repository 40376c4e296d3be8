// Sphere and capsule: the sphere against the nearest ball on the capsule's axis.
#include "collide/pairs/ball.h"

int tb_collide_sphere_capsule(const tbShape* a, const tbShape* b, tbReal margin,
                              tbContactPoint* out, tbCollideCache* warm) {
  (void)warm;
  tbReal axis[3] = {b->mat[2], b->mat[5], b->mat[8]}, radial[3] = {b->mat[0], b->mat[3], b->mat[6]};
  tbReal offset[3], nearest[3];
  tb_sub3(offset, a->pos, b->pos);
  tbReal along = tb_clamp(tb_dot3(offset, axis), -b->size[1], b->size[1]);
  tb_add_scaled3(nearest, b->pos, along, axis);
  return tb_contact_balls(a->pos, a->size[0], nearest, b->size[0], radial, margin, 0, out);
}
