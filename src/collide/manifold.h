// Contact reduction: choosing few contacts out of many.
#ifndef TRIBO_COLLIDE_MANIFOLD_H_
#define TRIBO_COLLIDE_MANIFOLD_H_

#include <math.h>

#include "tribo/collide.h"

// A candidate in the contact plane: coordinates along two tangents, and signed distance.
typedef struct {
  tbReal u, v, dist;
} tbManifoldPoint;

#define TB_MANIFOLD_MAX 128

// Weight of a candidate's lateral offset by its distance: 1 at the distance of the deepest contact,
// less than half a tenth of the way from there to the margin, 0 at the margin. Without the weight
// the outermost candidates would be kept and the deeper ones, which carry the load, dropped. The
// distance is rounded to thousandths of the way, so that rounding errors do not change the choice.
static inline tbReal tb_contact_share(tbReal dist, tbReal deepest, tbReal margin) {
  if (!(margin > deepest && margin < INFINITY)) return 1;
  int above = (int)(1000 * (dist - deepest) / (margin - deepest) + 0.5);
  tbReal low = 1 - 0.001 * above, squared = low * low;
  return squared * squared * squared * squared;
}

// Choose at most `max` (1 to TB_MAX_PAIR_CONTACTS) of `count` points (1 to TB_MANIFOLD_MAX); writes
// their indices, ascending.
int tb_manifold_choose(const tbManifoldPoint* points, int count, int max, int* chosen);

// Keep at most `max` (>= 1) of `count` contacts whose normals are (nearly) equal, moved to the
// front in their old order: the deepest, then the one farthest from it, then those that add most
// area to the polygon in the contact plane. Ties go to the lower index, so the choice is
// deterministic.
int tb_manifold_reduce(tbContactPoint* contacts, int count, int max);

#endif
