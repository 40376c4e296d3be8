// Maximum of the separation on an arc of normals: branch and bound, then Newton's method.
#include "base/minmax.h"
#include "collide/convex/arc.h"

#define MAX_STEPS 40
// Maximum number of bisections of an arc.
#define MAX_CUTS 8

static void copy2(tbReal to[2], const tbReal from[2]) {
  to[0] = from[0];
  to[1] = from[1];
}

static void normalize2(tbReal n[2]) {
  tbReal scale = 1 / sqrt(n[0] * n[0] + n[1] * n[1]);
  n[0] *= scale;
  n[1] *= scale;
}

// The maximum on an arc at both of whose ends s rises inwards: Newton's method within a bracket, or
// bisection where a Newton step leaves the bracket.
static tbReal maximize(const tbArc* arc, tbReal at[2]) {
  tbReal low[2] = {arc->n1[0], arc->n1[1]}, high[2] = {arc->n2[0], arc->n2[1]}, slope;
  tbReal part = arc->rise1 / (arc->rise1 + arc->rise2), delta = 1, curvature, turn = arc->turn;
  for (int i = 0; i < 2; i++) at[i] = low[i] + part * (high[i] - low[i]);
  for (int step = 0; step < MAX_STEPS && fabs(delta) > 1e-9; step++) {
    normalize2(at);
    tb_arc_at(arc, at, &slope, &curvature);
    copy2(slope > 0 ? low : high, at);
    delta = curvature < 0 ? -turn * slope / curvature : INFINITY;
    tbReal x = at[0] - delta * at[1], y = at[1] + delta * at[0];
    bool inside = fabs(delta) < 1 && turn * (low[0] * y - low[1] * x) >= 0 &&
                  turn * (x * high[1] - y * high[0]) >= 0;
    if (!inside) {
      x = low[0] + high[0];
      y = low[1] + high[1];
      delta = low[0] * high[1] - low[1] * high[0];
    }
    at[0] = x;
    at[1] = y;
  }
  normalize2(at);
  return tb_arc_at(arc, at, &slope, &curvature);
}

// Upper bound of n.P = s cos + rise sin over the half arc next to an end with separation s and
// slope `rise`; `sine` and `cosine` are those of the half arc.
static tbReal bound_of_half(tbReal s, tbReal rise, tbReal sine, tbReal cosine) {
  return (s > 0 ? s : s * cosine) + tb_max(rise, 0) * sine;
}

// Whether s may exceed `best` on the arc. For every point P of the Minkowski difference s(n) <=
// n.P, and the support points of both ends are known: each bounds s on its half of the arc.
static bool may_improve(const tbArc* arc, tbReal best) {
  if (best > 0) {
    // Separated shapes. The angle comes from the chord, since an arc may be as short as rounding.
    tbReal x = arc->n2[0] - arc->n1[0], y = arc->n2[1] - arc->n1[1];
    tbReal sine = 0.5 * sqrt(x * x + y * y), cosine = sqrt(tb_max(0, 1 - sine * sine));
    return tb_max(bound_of_half(arc->s1, arc->rise1, sine, cosine),
                  bound_of_half(arc->s2, arc->rise2, sine, cosine)) > best;
  }
  tbReal cosine = arc->n1[0] * arc->n2[0] + arc->n1[1] * arc->n2[1];
  tbReal sine = fabs(arc->n1[0] * arc->n2[1] - arc->n1[1] * arc->n2[0]);
  // Bounds at the middle, times the length of (n1 + n2) / 2.
  tbReal middle1 = 0.5 * (arc->s1 + cosine * arc->s1 + sine * arc->rise1);
  tbReal middle2 = 0.5 * (arc->s2 + cosine * arc->s2 + sine * arc->rise2);
  tbReal most = tb_max(middle1, middle2);
  return most >= 0 || most * most < best * best * 0.5 * (1 + cosine);
}

static bool keep(tbReal s, const tbReal at[2], tbReal* best, tbReal n[2]) {
  if (!(s > *best)) return false;
  *best = s;
  copy2(n, at);
  return true;
}

// An arc from both of whose ends s rises inwards contains one maximum (the two maxima of an ellipse
// seen from inside lie on opposite rims). Other arcs are bisected until the bound rules them out.
bool tb_arc_search(const tbArc* whole, tbReal* best, tbReal n[2]) {
  tbArc stack[MAX_CUTS + 1];
  int cuts[MAX_CUTS + 1], count = 1;
  bool found = keep(whole->s1, whole->n1, best, n);
  found |= keep(whole->s2, whole->n2, best, n);
  stack[0] = *whole;
  cuts[0] = 0;
  while (count > 0) {
    tbArc arc = stack[--count];
    int level = cuts[count];
    tbReal at[2], slope, curvature;
    if (!may_improve(&arc, *best)) continue;
    if (arc.rise1 > 0 && arc.rise2 > 0) {
      tbReal s = maximize(&arc, at);
      found |= keep(s, at, best, n);
      continue;
    }
    if (level == MAX_CUTS) continue;
    for (int i = 0; i < 2; i++) at[i] = arc.n1[i] + arc.n2[i];
    normalize2(at);
    tbReal s = tb_arc_at(&arc, at, &slope, &curvature);
    found |= keep(s, at, best, n);
    tbArc *first = &stack[count], *second = &stack[count + 1];
    *first = *second = arc;
    copy2(first->n2, at);
    copy2(second->n1, at);
    first->s2 = second->s1 = s;
    first->rise2 = -slope;
    second->rise1 = slope;
    cuts[count] = cuts[count + 1] = level + 1;
    count += 2;
  }
  return found;
}
