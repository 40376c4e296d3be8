// Contact reduction to at most four points in a plane: the deepest and those that span most area.
#ifndef TRIBO_COLLIDE_REDUCTION_H_
#define TRIBO_COLLIDE_REDUCTION_H_

#include "tribo/collide.h"

#define TB_SPREAD_MAX 128

// Points as structure of arrays: coordinates along two tangents, and signed distances. Entries from
// `count` up to the next multiple of four are scratch.
typedef struct {
  tbReal u[TB_SPREAD_MAX], v[TB_SPREAD_MAX], dist[TB_SPREAD_MAX];
  int count;  // 1 to TB_SPREAD_MAX
} tbContactReduction;

// Chooses the deepest point, the one farthest from it, then twice the point that adds most area to
// the polygon. Fewer points are chosen where the added area is zero; of points on a line, the
// deepest and both ends. Among values equal to 1e-9 the first wins. Writes the indices in ascending
// order and returns their number.
int tb_spread_four(tbContactReduction* points, int chosen[4]);

#endif
