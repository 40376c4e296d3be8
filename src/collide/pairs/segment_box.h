// A segment against a box, in the box's frame: points center + t half, |t| <= 1.
#ifndef TRIBO_COLLIDE_PAIRS_SEGMENT_BOX_H_
#define TRIBO_COLLIDE_PAIRS_SEGMENT_BOX_H_

#include "base/minmax.h"
#include "collide/pairs/ball.h"

typedef struct {
  tbReal center[3];
  tbReal half[3];  // half the segment's vector
} tbSegment;

// From the nearest point of the box to the segment's point at t.
static inline void tb_segment_box_excess(const tbSegment* seg, const tbReal size[3], tbReal t,
                                         tbReal excess[3]) {
  for (int k = 0; k < 3; k++) {
    tbReal x = seg->center[k] + t * seg->half[k];
    excess[k] = x - tb_clamp(x, -size[k], size[k]);
  }
}

// Half the derivative with respect to t of the squared distance to the box.
static inline tbReal tb_segment_box_slope(const tbSegment* seg, const tbReal size[3], tbReal t) {
  tbReal excess[3];
  tb_segment_box_excess(seg, size, t, excess);
  return tb_dot3(excess, seg->half);
}

// A t that minimizes the distance to the box. The squared distance is convex in t, and its
// derivative is piecewise linear with kinks only where the segment crosses one of the six face
// planes: shrink [-1, 1] by the sign of the derivative at each kink, then find the root of the
// linear piece.
static inline tbReal tb_segment_box_closest(const tbSegment* seg, const tbReal size[3]) {
  tbReal low = -1, high = 1;
  tbReal slope_low = tb_segment_box_slope(seg, size, low);
  if (!(slope_low < 0)) return low;
  tbReal slope_high = tb_segment_box_slope(seg, size, high);
  if (!(slope_high > 0)) return high;
  for (int k = 0; k < 3; k++) {
    if (seg->half[k] == 0) continue;
    tbReal scale = 1 / seg->half[k];
    for (int side = -1; side <= 1; side += 2) {
      tbReal t = (side * size[k] - seg->center[k]) * scale;
      if (!(t > low && t < high)) continue;
      tbReal slope = tb_segment_box_slope(seg, size, t);
      if (slope < 0) {
        low = t;
        slope_low = slope;
      } else if (slope > 0) {
        high = t;
        slope_high = slope;
      } else {
        return t;
      }
    }
  }
  return low + (high - low) * (-slope_low / (slope_high - slope_low));
}

// Clips [low, high] to the range where |x_k(t)| <= size_k.
static inline void tb_segment_clip_slab(const tbSegment* seg, int k, tbReal size, tbReal* low,
                                        tbReal* high) {
  tbReal x = seg->center[k], d = seg->half[k];
  if (fabs(d) <= 1e-14 * (fabs(x) + size)) {
    if (fabs(x) > size) *high = *low - 1;
    return;
  }
  tbReal near_side = (-size - x) / d, far_side = (size - x) / d;
  *low = tb_max(*low, tb_min(near_side, far_side));
  *high = tb_min(*high, tb_max(near_side, far_side));
}

#endif
