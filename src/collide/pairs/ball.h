// Contacts between balls: a round shape is a point or segment with a radius.
#ifndef TRIBO_COLLIDE_PAIRS_BALL_H_
#define TRIBO_COLLIDE_PAIRS_BALL_H_

#include "collide/pairs.h"

// Contact of a ball at `center_a` and a ball at `center_b`. If the centres coincide, the normal is
// `fallback`, a unit vector. Returns 1, or 0 beyond the margin.
static inline int tb_contact_balls(const tbReal center_a[3], tbReal radius_a,
                                   const tbReal center_b[3], tbReal radius_b,
                                   const tbReal fallback[3], tbReal margin, uint32_t feature,
                                   tbContactPoint* out) {
  tbReal n[3], pos[3], reach = radius_a + radius_b;
  tb_sub3(n, center_b, center_a);
  tbReal squared = tb_dot3(n, n), limit = reach + margin;
  if (!(squared <= limit * limit)) return 0;
  tbReal length = sqrt(squared);
  if (squared > 1e-280) {
    tb_scale3(n, n, 1 / length);
  } else {
    tb_copy3(n, fallback);
  }
  tbReal dist = length - reach;
  tb_add_scaled3(pos, center_a, radius_a + 0.5 * dist, n);
  tb_contact_set(out, pos, n, dist, feature);
  return 1;
}

static inline tbReal tb_clamp(tbReal x, tbReal low, tbReal high) {
  return x < low ? low : (x > high ? high : x);
}

#endif
