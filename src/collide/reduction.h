// Of many points in a plane the deepest and those that span most, at most four.
#ifndef TRIBO_COLLIDE_REDUCTION_H_
#define TRIBO_COLLIDE_REDUCTION_H_

#include "tribo/collide.h"

#define TB_SPREAD_MAX 128

// Points by component: coordinates along two tangents, and distances. What lies behind `count`, up
// to a multiple of four, is scratch.
typedef struct {
  tbReal u[TB_SPREAD_MAX], v[TB_SPREAD_MAX], dist[TB_SPREAD_MAX];
  int count;  // 1 to TB_SPREAD_MAX
} tbContactReduction;

// The deepest, the one farthest from it, then twice the one that adds most area to the polygon so
// far; fewer where that is nothing, and on a line the deepest and both ends. Of equals, to 1e-9,
// the first. Writes their indices, ascending, and returns how many.
int tb_spread_four(tbContactReduction* points, int chosen[4]);

#endif
