#include <math.h>

#include "tribo/measure.h"

// Position of a point at row `at` (not whole: in between), before the first row and after the last
// one those.
static void position_at(const tbPath* p, tbReal at, int point, tbReal out[3]) {
  tbReal nearest = floor(at + 0.5), low = fabs(at - nearest) < 1e-6 ? nearest : floor(at);
  int i = low < 0 ? 0 : low < p->rows - 1 ? (int)low : p->rows - 1;
  int j = i + 1 < p->rows ? i + 1 : i;
  tbReal t = fmin(1, fmax(0, at - i));
  if (fabs(at - nearest) < 1e-6) t = 0;
  for (int k = 0; k < 3; k++) {
    tbReal a = p->position[3 * (i * p->points + point) + k];
    out[k] = a + t * (p->position[3 * (j * p->points + point) + k] - a);
  }
}

tbReal tb_path_distance(const tbPath* path, const tbPath* reference, tbReal* end) {
  tbReal worst = NAN, last = NAN;
  if (end) *end = NAN;
  if (!path || !reference || path->points != reference->points || !(reference->interval > 0) ||
      reference->rows < 1 || !path->position || !reference->position) {
    return NAN;
  }
  for (int point = 0; point < path->points; point++) {
    tbReal sum = 0, distance = NAN;
    for (int i = 0; i < path->rows; i++) {
      // Row numbers of the reference, which begins at its own interval.
      tbReal at = (i + 1) * path->interval / reference->interval - 1, p[3];
      if (at > reference->rows - 1 + 1e-6) break;
      position_at(reference, at, point, p);
      const tbReal* q = path->position + 3 * (i * path->points + point);
      distance = sqrt((q[0] - p[0]) * (q[0] - p[0]) + (q[1] - p[1]) * (q[1] - p[1]) +
                      (q[2] - p[2]) * (q[2] - p[2]));
      sum += distance * path->interval;
    }
    if (isnan(distance)) continue;
    worst = fmax(worst, sum);
    last = fmax(last, distance);
  }
  if (end) *end = last;
  return worst;
}
