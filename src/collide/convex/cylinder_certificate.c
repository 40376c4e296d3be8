// Decides whether a local optimum of the separation of two cylinders is the global one. The sphere
// of directions is cut into bands around either axis and, where these intersect, into cells; each
// is pruned by an upper bound of s (docs/notebook/gjk.md, "Two cylinders").
//
// With a = n.z1, b = n.z2, x = n.e and c = c1 z1 + c2 z2 + Y e, Y >= 0,
//   s = c1 a + c2 b + Y x - l1 |a| - l2 |b| - r1 sqrt(1 - a^2) - r2 sqrt(1 - b^2).
// Of n and its mirror image across the plane of the axes the one with x >= 0 has the larger s, so
// that a and b determine n. Roots with minus signs are convex: over a range their chords are upper
// bounds.
#include <string.h>

#include "base/minmax.h"
#include "collide/convex/convex.h"

// Axes closer to parallel than this (sine) are left to the general certificate.
#define PARALLEL 1e-3
// A direction that improves s by less, relative to the size of the pair, counts as equal.
#define TOLERANCE 1e-8
// Rounding error of cosines.
#define ROUNDING 1e-9
// Maximum numbers of evaluated, pending and remaining bands, and of cell bisections.
#define MAX_EVALUATIONS 300
#define MAX_OPEN 32
#define MAX_BANDS 12
#define MAX_CUTS 80
// Bands closer to the optimum than its `close` are left to the cells at that width; others when
// they are narrower by this factor.
#define NARROW 0.2
// Maximum number of rotations of a bounding line.
#define MAX_TURNS 3

// A range of n.z of one axis, both ends of one sign, and sqrt(1 - value^2) at the ends.
typedef struct {
  tbReal low, high, across_low, across_high;
} Range;

typedef struct {
  Range of[2];
} Cell;

typedef struct {
  tbReal r[2], l[2];
  tbReal z[3], e[3];              // axis 2 (axis 1 is z), and the unit normal of both
  tbReal cosine, sine2, inverse;  // of the angle between the axes; inverse: 1 / sine2
  tbReal c[2], beside, beside2;   // c1, c2, Y and Y^2
  tbReal along[2];                // c.z1 and c.z2
  tbReal threshold;               // the value of s to be exceeded for a better direction
  // The optimum: its a and b, its coefficients along z1, z2 and e, the cosine of the angle around
  // it within which no direction is better, and a fifth of the sine.
  tbReal at[2], best[3], certified_cone, close;
  // A better direction, if found: its a and b.
  tbReal better[2];
} Query;

static inline tbReal root(tbReal x) {
  return x > 0 ? sqrt(x) : 0;
}

static void halve(const Range* range, Range half[2]) {
  tbReal x = range->low + range->high, y = range->across_low + range->across_high;
  tbReal scale = 1 / sqrt(x * x + y * y);
  half[0] = half[1] = *range;
  half[0].high = half[1].low = scale * x;
  half[0].across_high = half[1].across_low = scale * y;
}

// ---- bands: all directions with n.z_k in a range ------------------------------------------------

// The signed distance of the point c + m z_k from the other cylinder, which is the maximum of n.(c
// + m z_k) - h(n) over all n, and the n.z1, n.z2 of the maximizing n.
static tbReal distance_from_point(const Query* q, int k, tbReal m, tbReal at[2]) {
  int o = 1 - k;
  tbReal along = q->along[o] + m * q->cosine, up = along < 0 ? -1 : 1;
  tbReal side = (q->c[k] + m) * q->sine2, wide = sqrt((q->c[k] + m) * side + q->beside2 + 1e-300);
  tbReal across = wide - q->r[o], beyond = up * along - q->l[o];
  tbReal dist = across > beyond ? across : beyond, x = across > beyond, y = 1 - x;
  if (across > 0 && beyond > 0) {
    dist = sqrt(across * across + beyond * beyond);
    tbReal scale = 1 / dist;
    x = across * scale;
    y = beyond * scale;
  }
  at[k] = x * side / wide + y * up * q->cosine;
  at[o] = y * up;
  return dist;
}

typedef enum { BELOW, BETTER, UNKNOWN } Verdict;

// Bounds s over a band. A line base + m a above -l|a| - r sqrt(1 - a^2) reduces the bound to the
// distance of a point. If the maximizing n lies outside the range, the line is rotated around that
// end of the range, away from the chord.
static Verdict bound_band(Query* q, int k, const Range* range) {
  tbReal r = q->r[k], l = range->high > 0 ? q->l[k] : -q->l[k], at[2];
  tbReal chord = r * (range->across_low - range->across_high) / (range->high - range->low) - l;
  tbReal m = chord, base = -r * range->across_low - (m + l) * range->low;
  tbReal top = base + distance_from_point(q, k, m, at);
  if (top <= q->threshold) return BELOW;
  bool below = at[k] < range->low, beside = below || at[k] > range->high;
  tbReal end = below ? range->low : range->high;
  tbReal value = -r * (below ? range->across_low : range->across_high) - l * end;
  for (int turns = 0; turns < MAX_TURNS && beside; turns++) {
    m += (end - at[k]) * (q->r[0] + q->r[1]);
    m = below == (m < chord) ? chord : m;
    base = value - m * end;
    top = base + distance_from_point(q, k, m, at);
    if (top <= q->threshold) return BELOW;
    beside = at[k] < range->low || at[k] > range->high;
  }
  tbReal s = top - base - m * at[k] - q->l[k] * fabs(at[k]) - r * root(1 - at[k] * at[k]);
  if (!(s > q->threshold)) return UNKNOWN;
  q->better[0] = at[0];
  q->better[1] = at[1];
  return BETTER;
}

// Ranges of n.z_k, within those given, that no line prunes; -1 if there are too many or the verdict
// is BETTER.
static int find_bands(Query* q, int k, tbReal low, tbReal high, Range* kept, Verdict* verdict) {
  static const Range sides[2] = {{0, 1, 1, 0}, {-1, 0, 0, 1}};
  Range open[MAX_OPEN];
  int count = 2, found = 0;
  memcpy(open, sides, sizeof sides);
  for (int evaluations = 0; count > 0; evaluations++) {
    Range range = open[--count];
    if (range.low > high || range.high < low) continue;
    // No line can prune a band that contains the optimum.
    bool holds = range.low <= q->at[k] && q->at[k] <= range.high;
    *verdict = holds ? UNKNOWN : bound_band(q, k, &range);
    if (*verdict == BELOW) continue;
    if (*verdict == BETTER || evaluations == MAX_EVALUATIONS || count + 2 > MAX_OPEN) return -1;
    bool near = range.low < q->at[k] + q->close && range.high > q->at[k] - q->close;
    if (range.high - range.low > (near ? 1 : NARROW) * q->close) {
      halve(&range, &open[count]);
      count += 2;
      continue;
    }
    // Merge neighbours, which come in descending order.
    Range* last = found > 0 ? &kept[found - 1] : NULL;
    if (last && last->low == range.high && last->high - range.low <= q->close) {
      last->low = range.low;
      last->across_low = range.across_low;
    } else {
      if (found == MAX_BANDS) return -1;
      kept[found++] = range;
    }
  }
  return found;
}

// The range of n.z of one cylinder axis z over all directions n in the bands of the other axis.
static void find_reach(const Query* q, const Range* band, int count, tbReal* low, tbReal* high) {
  tbReal sine = sqrt(q->sine2);
  *low = 1;
  *high = -1;
  for (int i = 0; i < count; i++) {
    const Range* range = &band[i];
    tbReal from = q->cosine * range->low, from_side = sine * range->across_low;
    tbReal to = q->cosine * range->high, to_side = sine * range->across_high;
    bool top = range->low <= q->cosine && q->cosine <= range->high;
    bool bottom = range->low <= -q->cosine && -q->cosine <= range->high;
    *low = bottom ? -1 : tb_min(*low, tb_min(from - from_side, to - to_side));
    *high = top ? 1 : tb_max(*high, tb_max(from + from_side, to + to_side));
  }
  *low -= ROUNDING;
  *high += ROUNDING;
}

// ---- cells: intersections of bands --------------------------------------------------------------

// x^2 of the direction with the given a and b; negative if there is none.
static inline tbReal x2_of(const Query* q, tbReal a, tbReal b) {
  return 1 - (a * a + b * b - 2 * q->cosine * a * b) * q->inverse;
}

// The maximum of n.w, w = W1 z1 + W2 z2 + Y e, where n.z_k is `fixed` and n.z of the other axis is
// in its range.
static tbReal top_of_side(const Query* q, const tbReal W[2], int k, tbReal fixed, tbReal around,
                          const Range* other) {
  tbReal wide = W[1 - k] * q->sine2, across = sqrt(W[1 - k] * wide + q->beside2 + 1e-300);
  tbReal free = q->cosine * fixed + around * wide / across;
  tbReal clamped = free < other->low ? other->low : (free > other->high ? other->high : free);
  if (clamped == free) return fixed * (W[k] + q->cosine * W[1 - k]) + around * across;
  // The maximum at a corner, or -INFINITY if there is no such direction.
  tbReal x2 = x2_of(q, fixed, clamped);
  return x2 > -ROUNDING ? W[k] * fixed + W[1 - k] * clamped + q->beside * root(x2) : -INFINITY;
}

// An upper bound of s over the cell: with chords for both roots it is linear in n, n.w plus a
// constant.
static tbReal bound_cell(const Query* q, const Cell* cell) {
  tbReal W[2], base = 0, top = -INFINITY;
  for (int i = 0; i < 2; i++) {
    const Range* range = &cell->of[i];
    tbReal slope = q->r[i] * (range->across_low - range->across_high) / (range->high - range->low);
    base -= q->r[i] * range->across_low + slope * range->low;
    W[i] = q->c[i] + slope - (range->high > 0 ? q->l[i] : -q->l[i]);
  }
  tbReal p[2] = {W[0] + q->cosine * W[1], W[1] + q->cosine * W[0]};
  tbReal length = sqrt(W[0] * p[0] + W[1] * p[1] + q->beside2);
  bool inside = true;
  // If the maximizer of n.w is outside the cell, the maximum over the cell is on one of the sides
  // beyond which the maximizer lies.
  for (int i = 0; i < 2; i++) {
    const Range* range = &cell->of[i];
    bool below = p[i] < range->low * length;
    bool above = p[i] > range->high * length;
    if (!below && !above) continue;
    tbReal around = below ? range->across_low : range->across_high;
    tbReal side = top_of_side(q, W, i, below ? range->low : range->high, around, &cell->of[1 - i]);
    inside = false;
    top = side > top ? side : top;
  }
  return base + (inside ? length : top);
}

// Whether the whole cell is inside the certified cone of the optimum. n.best is concave in a and b,
// so its minimum is at the corners; where x = 0 is reached, the term in x is dropped.
static bool is_near(const Query* q, const Cell* cell) {
  tbReal least = INFINITY, flat = INFINITY, lowest = 0;
  for (int i = 0; i < 4; i++) {
    tbReal a = i & 1 ? cell->of[0].high : cell->of[0].low;
    tbReal b = i & 2 ? cell->of[1].high : cell->of[1].low;
    tbReal x2 = x2_of(q, a, b), cosine = q->best[0] * a + q->best[1] * b;
    lowest = x2 < lowest ? x2 : lowest;
    flat = cosine < flat ? cosine : flat;
    cosine += q->best[2] * root(x2);
    least = cosine < least ? cosine : least;
  }
  return (lowest < 0 ? flat : least) >= q->certified_cone;
}

// Certifies all directions that lie in a remaining band of both axes.
static bool prove_cells(const Query* q, Range bands[2][MAX_BANDS], const int count[2]) {
  Cell open[MAX_BANDS * MAX_BANDS + MAX_CUTS];
  int left = 0;
  for (int i = 0; i < count[0]; i++) {
    for (int j = 0; j < count[1]; j++, left++) {
      open[left].of[0] = bands[0][i];
      open[left].of[1] = bands[1][j];
    }
  }
  for (int cuts = 0; left > 0;) {
    const Cell cell = open[--left];
    if (is_near(q, &cell) || bound_cell(q, &cell) <= q->threshold) continue;
    if (++cuts == MAX_CUTS) return false;
    // Bisect the range whose chord has the larger error.
    tbReal size[2];
    for (int i = 0; i < 2; i++) {
      tbReal x = cell.of[i].high - cell.of[i].low;
      tbReal y = cell.of[i].across_high - cell.of[i].across_low;
      size[i] = q->r[i] * (x * x + y * y);
    }
    int wide = size[1] > size[0];
    Range half[2];
    halve(&cell.of[wide], half);
    for (int i = 0; i < 2; i++, left++) {
      open[left] = cell;
      open[left].of[wide] = half[i];
    }
  }
  return true;
}

// False if the axes are nearly parallel or the optimum has no certified cone.
static bool init(Query* q, const tbConvexPair* pair, const tbConvexResult* r) {
  tbReal* z = q->z;
  tb_set3(z, pair->mat[2], pair->mat[5], pair->mat[8]);
  q->cosine = z[2];
  q->sine2 = z[0] * z[0] + z[1] * z[1];
  if (!(q->sine2 > PARALLEL * PARALLEL) || !(r->certified_cone < 1)) return false;
  q->inverse = 1 / q->sine2;
  tbReal scale = sqrt(q->inverse);
  tb_set3(q->e, -z[1] * scale, z[0] * scale, 0);
  q->beside = tb_dot3(pair->pos, q->e);
  if (q->beside < 0) tb_scale3(q->e, q->e, -1);
  q->beside = fabs(q->beside);
  q->beside2 = q->beside * q->beside;
  q->along[0] = pair->pos[2];
  q->along[1] = tb_dot3(pair->pos, z);
  q->at[0] = r->normal[2];
  q->at[1] = tb_dot3(r->normal, z);
  for (int i = 0; i < 2; i++) {
    const tbCore* core = i ? &pair->b : &pair->a;
    q->r[i] = core->size[0];
    q->l[i] = core->size[2];
    q->c[i] = (q->along[i] - q->cosine * q->along[1 - i]) * q->inverse;
    q->best[i] = (q->at[i] - q->cosine * q->at[1 - i]) * q->inverse;
  }
  q->best[2] = tb_dot3(r->normal, q->e);
  // If the axes intersect, both sides of their plane are equal; otherwise x >= 0 is the better
  // side.
  if (q->beside <= 1e-12 * pair->scale) q->best[2] = fabs(q->best[2]);
  q->certified_cone = q->best[2] > -ROUNDING ? r->certified_cone + ROUNDING : 2;
  q->close = 0.2 * root(1 - r->certified_cone * r->certified_cone);
  q->threshold = r->dist + TOLERANCE * pair->scale;
  return true;
}

tbDepthCertificate tb_cylinder_certificate(const tbConvexPair* pair, tbConvexResult* r) {
  Query q;
  Range bands[2][MAX_BANDS];
  Verdict verdict = UNKNOWN;
  int count[2] = {0, 0};
  tbReal low = -1, high = 1;
  if (!init(&q, pair, r)) return TB_COVER_OPEN;
  for (int k = 0; k < 2 && count[0] >= 0; k++) {
    count[k] = find_bands(&q, k, low, high, bands[k], &verdict);
    if (k == 0) find_reach(&q, bands[0], count[0], &low, &high);
  }
  if (count[0] >= 0 && count[1] >= 0) {
    return prove_cells(&q, bands, count) ? TB_COVER_PROVEN : TB_COVER_OPEN;
  }
  if (verdict != BETTER) return TB_COVER_OPEN;
  tbReal a = q.better[0], b = q.better[1], x = root(x2_of(&q, a, b));
  tb_scale3(r->normal, q.z, (b - q.cosine * a) * q.inverse);
  tb_add_scaled3(r->normal, r->normal, x, q.e);
  r->normal[2] += (a - q.cosine * b) * q.inverse;
  tb_normalize3(r->normal);
  return TB_COVER_BETTER;
}
