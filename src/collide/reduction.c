#include "collide/reduction.h"

#include "base/kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_AVX2 1
#endif

// A value within this factor of the largest counts as equal to it, since rounding would otherwise
// change the choice from step to step.
#define TIE_FACTOR (1 - 1e-9)
// An area below this fraction of the span squared is that of a point on an existing edge.
#define MIN_AREA 1e-3

// The first of the largest values (see TIE_FACTOR) and the maximum itself, which is at least 0.
// Scalar version of find_largest_wide with bitwise equal results.
static int find_largest(const tbReal* value, int count, tbReal* largest) {
  tbReal top = 0;
  for (int i = 0; i < count; i++) top = value[i] > top ? value[i] : top;
  *largest = top;
  for (int i = 0; i < count; i++) {
    if (value[i] >= TIE_FACTOR * top) return i;
  }
  return 0;
}

#ifdef HAVE_AVX2
TB_WIDE static inline int find_largest_wide(const tbReal* value, int count, tbReal* largest) {
  __m256d top = _mm256_setzero_pd();
  for (int i = 0; i < count; i += 4) top = _mm256_max_pd(_mm256_loadu_pd(value + i), top);
  top = _mm256_max_pd(top, _mm256_permute2f128_pd(top, top, 1));
  top = _mm256_max_pd(top, _mm256_permute_pd(top, 5));
  *largest = _mm256_cvtsd_f64(top);
  __m256d least = _mm256_mul_pd(top, _mm256_set1_pd(TIE_FACTOR));
  for (int i = 0; i < count; i += 4) {
    __m256d is = _mm256_cmp_pd(_mm256_loadu_pd(value + i), least, _CMP_GE_OQ);
    int bits = _mm256_movemask_pd(is);
    if (bits) return i + __builtin_ctz((unsigned)bits);
  }
  return 0;
}
#else
static inline int find_largest_wide(const tbReal* value, int count, tbReal* largest) {
  return find_largest(value, count, largest);
}
#endif

TB_INLINE int largest_of(const tbReal* value, int count, int wide, tbReal* largest) {
  return wide ? find_largest_wide(value, count, largest) : find_largest(value, count, largest);
}

// The point farthest from point `from`, and the squared distance.
TB_INLINE int farthest_from(const tbContactReduction* p, int count, int from, int wide,
                            tbReal* span) {
  tbReal value[TB_SPREAD_MAX], u0 = p->u[from], v0 = p->v[from];
  for (int i = 0; i < count; i += 4) {
    for (int k = i; k < i + 4; k++) {
      tbReal u = p->u[k] - u0, v = p->v[k] - v0;
      value[k] = u * u + v * v;
    }
  }
  return largest_of(value, count, wide, span);
}

// The point farthest to the right of the edge from a to b, and twice the area of the triangle.
TB_INLINE int farthest_right_of(const tbContactReduction* p, int count, int a, int b, int wide,
                                tbReal* area) {
  tbReal value[TB_SPREAD_MAX], u0 = p->u[a], v0 = p->v[a], du = p->u[b] - u0, dv = p->v[b] - v0;
  for (int i = 0; i < count; i += 4) {
    for (int k = i; k < i + 4; k++) value[k] = dv * (p->u[k] - u0) - du * (p->v[k] - v0);
  }
  return largest_of(value, count, wide, area);
}

// Adds a third and a fourth corner to the two in `corner`; returns the number of corners.
TB_INLINE int add_corners(const tbContactReduction* p, int count, tbReal span, int wide,
                          int corner[4]) {
  int a = corner[0], b = corner[1];
  tbReal area[2], more[2];
  int side[2] = {farthest_right_of(p, count, a, b, wide, &area[0]),
                 farthest_right_of(p, count, b, a, wide, &area[1])};
  int first = area[0] < TIE_FACTOR * area[1];
  if (!(area[first] > MIN_AREA * span)) return 2;

  // The third corner lies on one side; the fourth lies on the other side or outside one of the two
  // new edges.
  int c = side[first], from = first ? b : a, to = first ? a : b, fourth = side[1 - first];
  int outside[2] = {farthest_right_of(p, count, from, c, wide, &more[0]),
                    farthest_right_of(p, count, c, to, wide, &more[1])};
  tbReal most = area[1 - first];
  for (int k = 0; k < 2; k++) {
    if (!(TIE_FACTOR * more[k] > most)) continue;
    most = more[k];
    fourth = outside[k];
  }
  corner[2] = c;
  if (!(most > MIN_AREA * span)) return 3;
  corner[3] = fourth;
  return 4;
}

// Pad to a multiple of four with copies of the first point. A search returns the first point before
// its copies.
TB_INLINE int pad(tbContactReduction* p) {
  int count = (p->count + 3) / 4 * 4;
  for (int i = p->count; i < count; i++) {
    p->u[i] = p->u[0];
    p->v[i] = p->v[0];
  }
  return count;
}

TB_INLINE int choose(tbContactReduction* p, int wide, int corner[4]) {
  int count = pad(p), deepest = 0;
  for (int i = 1; i < p->count; i++) deepest = p->dist[i] < p->dist[deepest] ? i : deepest;
  tbReal span, line;
  corner[0] = deepest;
  corner[1] = farthest_from(p, count, deepest, wide, &span);
  if (!(span > 0)) return 1;
  int kept = add_corners(p, count, span, wide, corner);
  if (kept > 2) return kept;

  // All points lie on one line: the deepest may lie between the two ends, so both are kept.
  corner[2] = farthest_from(p, count, corner[1], wide, &line);
  return corner[2] == deepest ? 2 : 3;
}

TB_WIDE static int choose_wide(tbContactReduction* p, int corner[4]) {
  return choose(p, 1, corner);
}

int tb_spread_four(tbContactReduction* points, int chosen[4]) {
  int corner[4], kept = tb_wide() ? choose_wide(points, corner) : choose(points, 0, corner);
  for (int i = 0; i < kept; i++) {
    int j = i;
    for (; j > 0 && chosen[j - 1] > corner[i]; j--) chosen[j] = chosen[j - 1];
    chosen[j] = corner[i];
  }
  return kept;
}
