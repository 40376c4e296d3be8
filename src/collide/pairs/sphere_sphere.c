// Two spheres.
#include "collide/pairs/ball.h"

int tb_collide_sphere_sphere(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                             tbCollideCache* warm) {
  (void)warm;
  const tbReal any[3] = {1, 0, 0};
  return tb_contact_balls(a->pos, a->size[0], b->pos, b->size[0], any, margin, 0, out);
}
