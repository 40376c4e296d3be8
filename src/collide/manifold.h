// Choosing few contacts out of many.
#ifndef TRIBO_COLLIDE_MANIFOLD_H_
#define TRIBO_COLLIDE_MANIFOLD_H_

#include "tribo/collide.h"

// A candidate in the contact plane: coordinates along two tangents, and its distance.
typedef struct {
  tbReal u, v, dist;
} tbManifoldPoint;

#define TB_MANIFOLD_MAX 128

// Choose at most `max` (1 to TB_MAX_PAIR_CONTACTS) of `count` points (1 to TB_MANIFOLD_MAX); writes
// their indices, ascending.
int tb_manifold_choose(const tbManifoldPoint* points, int count, int max, int* chosen);

// Keep at most `max` (>= 1) of `count` contacts with (nearly) one normal, moved to the front in
// their old order: the deepest, then the one farthest from it, then those that add most area to the
// polygon in the contact plane. Ties go to the lower index, so the choice is deterministic.
int tb_manifold_reduce(tbContactPoint* contacts, int count, int max);

#endif
