// GJK: distance between two convex cores, with the signed-volume sub-algorithm of Montanari,
// Petrinic and Barbieri (2017), which stays well-conditioned on flat and needle-shaped simplices.
#include <float.h>
#include <string.h>

#include "collide/convex/convex.h"

#define MAX_ITERATIONS 128
// A simplex counts as containing the origin if it is closer than this, relative to its points.
#define TOUCH_TOLERANCE 1e-14
// Below this fraction of their size, cores without proof of separation are treated as overlapping.
#define SHALLOW 1e-3

// The point of the simplex nearest to the origin: indices of the vertices it depends on, their
// weights, and the point.
typedef struct {
  int count;
  int keep[4];
  tbReal weight[4];
  tbReal v[3];
} Nearest;

static void nearest_point(const tbSupportPoint* s, int i, Nearest* out) {
  out->count = 1;
  out->keep[0] = i;
  out->weight[0] = 1;
  tb_copy3(out->v, s[i].w);
}

static void nearest_segment(const tbSupportPoint* s, int i, int j, Nearest* out) {
  tbReal e[3];
  tb_sub3(e, s[j].w, s[i].w);
  tbReal length2 = tb_dot3(e, e), along = -tb_dot3(s[i].w, e);
  if (!(along > 0)) {
    nearest_point(s, i, out);
    return;
  }
  if (along >= length2) {
    nearest_point(s, j, out);
    return;
  }
  tbReal t = along / length2;
  out->count = 2;
  out->keep[0] = i;
  out->keep[1] = j;
  out->weight[0] = 1 - t;
  out->weight[1] = t;
  // Interpolate from the nearer end, then make the result exactly perpendicular to the edge.
  if (t < 0.5) {
    tb_add_scaled3(out->v, s[i].w, t, e);
  } else {
    tb_add_scaled3(out->v, s[j].w, t - 1, e);
  }
  tb_add_scaled3(out->v, out->v, -tb_dot3(out->v, e) / length2, e);
}

// Keeps the nearer of two results.
static void keep_nearer(Nearest* best, const Nearest* other) {
  if (tb_dot3(other->v, other->v) < tb_dot3(best->v, best->v)) *best = *other;
}

static void nearest_triangle(const tbSupportPoint* s, int i, int j, int k, Nearest* out) {
  const tbReal *a = s[i].w, *b = s[j].w, *c = s[k].w;
  tbReal e1[3], e2[3], n[3];
  tb_sub3(e1, b, a);
  tb_sub3(e2, c, a);
  tb_cross(n, e1, e2);
  tbReal n2 = tb_dot3(n, n);
  // Signed areas of the three sub-triangles around the origin's projection, in the coordinate plane
  // where the triangle's projection is largest. The point p = n (n.a) / n2 is exact along n.
  tbReal area[3] = {0, 0, 0}, total = 0, p[3] = {0, 0, 0};
  if (n2 > 0) {
    tb_scale3(p, n, tb_dot3(n, a) / n2);
    tbReal ax = fabs(n[0]), ay = fabs(n[1]), az = fabs(n[2]);
    int x = ax >= ay && ax >= az ? 1 : (ay >= az ? 2 : 0), y = x == 2 ? 0 : x + 1;
    total = n[3 - x - y];
    area[0] = (b[x] - p[x]) * (c[y] - p[y]) - (c[x] - p[x]) * (b[y] - p[y]);
    area[1] = (c[x] - p[x]) * (a[y] - p[y]) - (a[x] - p[x]) * (c[y] - p[y]);
    area[2] = total - area[0] - area[1];
    tbReal direct = (a[x] - p[x]) * (b[y] - p[y]) - (b[x] - p[x]) * (a[y] - p[y]);
    if (fabs(direct) < fabs(area[2])) area[2] = direct;
  }
  int inside0 = area[0] * total > 0, inside1 = area[1] * total > 0, inside2 = area[2] * total > 0;
  if (inside0 && inside1 && inside2) {
    tbReal sum = area[0] + area[1] + area[2];
    out->count = 3;
    out->keep[0] = i;
    out->keep[1] = j;
    out->keep[2] = k;
    for (int m = 0; m < 3; m++) out->weight[m] = area[m] / sum;
    tb_copy3(out->v, p);
    return;
  }
  // The projection is outside: the nearest point lies on one of the edges that face the origin.
  Nearest other = {.count = 0};
  out->count = 0;
  if (!inside0) nearest_segment(s, j, k, out);
  if (!inside1) {
    nearest_segment(s, k, i, &other);
    if (out->count == 0) *out = other;
    keep_nearer(out, &other);
  }
  if (!inside2) {
    nearest_segment(s, i, j, &other);
    if (out->count == 0) *out = other;
    keep_nearer(out, &other);
  }
}

// Six times the volume of the tetrahedron (a, b, c, origin).
static tbReal volume(const tbReal a[3], const tbReal b[3], const tbReal c[3]) {
  tbReal cross[3];
  tb_cross(cross, b, c);
  return tb_dot3(a, cross);
}

static void nearest_tetrahedron(const tbSupportPoint* s, Nearest* out) {
  const tbReal *a = s[0].w, *b = s[1].w, *c = s[2].w, *d = s[3].w;
  tbReal e1[3], e2[3], e3[3], cross[3];
  tb_sub3(e1, b, a);
  tb_sub3(e2, c, a);
  tb_sub3(e3, d, a);
  tb_cross(cross, e2, e3);
  tbReal total = tb_dot3(e1, cross);
  tbReal part[4] = {volume(b, c, d), -volume(a, c, d), volume(a, b, d), -volume(a, b, c)};
  // A degenerate tetrahedron contains no point: its volume must exceed the rounding errors.
  tbReal size = fabs(e1[0] * cross[0]) + fabs(e1[1] * cross[1]) + fabs(e1[2] * cross[2]);
  int solid = fabs(total) > 8 * DBL_EPSILON * size;
  int outside[4], any = 0;
  for (int m = 0; m < 4; m++) any |= outside[m] = !solid || !(part[m] * total > 0);
  if (!any) {
    out->count = 4;
    for (int m = 0; m < 4; m++) {
      out->keep[m] = m;
      out->weight[m] = part[m] / total;
    }
    tb_zero3(out->v);
    return;
  }
  static const int face[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
  Nearest other = {.count = 0};
  out->count = 0;
  for (int m = 0; m < 4; m++) {
    if (!outside[m]) continue;
    nearest_triangle(s, face[m][0], face[m][1], face[m][2], &other);
    if (out->count == 0) *out = other;
    keep_nearer(out, &other);
  }
}

// The point of the simplex nearest to the origin.
static void find_nearest(const tbSupportPoint* s, int count, Nearest* out) {
  switch (count) {
    case 1: nearest_point(s, 0, out); break;
    case 2: nearest_segment(s, 0, 1, out); break;
    case 3: nearest_triangle(s, 0, 1, 2, out); break;
    default: nearest_tetrahedron(s, out); break;
  }
}

// Keeps only the vertices on which the nearest point depends. In ascending order, copies only move
// vertices down, so no copy overwrites one that is still needed.
static void keep_nearest(tbConvexResult* r, Nearest* nearest) {
  int* keep = nearest->keep;
  tbReal* weight = nearest->weight;
  for (int m = 1; m < nearest->count; m++) {
    for (int k = m; k > 0 && keep[k] < keep[k - 1]; k--) {
      int index = keep[k];
      tbReal share = weight[k];
      keep[k] = keep[k - 1];
      weight[k] = weight[k - 1];
      keep[k - 1] = index;
      weight[k - 1] = share;
    }
  }
  for (int m = 0; m < nearest->count; m++) {
    if (keep[m] != m) r->simplex[m] = r->simplex[keep[m]];
    r->weight[m] = weight[m];
  }
  r->count = nearest->count;
}

static int already_in(const tbConvexResult* r, const tbSupportPoint* s) {
  for (int i = 0; i < r->count; i++) {
    const tbReal* w = r->simplex[i].w;
    if (w[0] == s->w[0] && w[1] == s->w[1] && w[2] == s->w[2]) return 1;
  }
  return 0;
}

// Squared size of the simplex's points, the reference for rounding errors of v.
static tbReal simplex_size2(const tbConvexResult* r) {
  tbReal size2 = 0;
  for (int i = 0; i < r->count; i++) {
    tbReal pos2 = tb_dot3(r->simplex[i].a, r->simplex[i].a);
    tbReal way2 = tb_dot3(r->simplex[i].w, r->simplex[i].w);
    size2 = pos2 > size2 ? pos2 : size2;
    size2 = way2 > size2 ? way2 : size2;
  }
  return size2;
}

static void set_witness(tbConvexResult* r) {
  tb_zero3(r->point_a);
  tb_zero3(r->point_b);
  for (int i = 0; i < r->count; i++) {
    tb_add_scaled3(r->point_a, r->point_a, r->weight[i], r->simplex[i].a);
    tb_add_scaled3(r->point_b, r->point_b, r->weight[i], r->simplex[i].b);
  }
}

// The GJK iteration, from the point v of the simplex in `r` nearest to the origin; r->dist is the
// best lower bound.
static void iterate(tbConvexPair* pair, tbReal limit, tbReal tolerance, int patient, tbReal v[3],
                    tbConvexResult* r) {
  tbReal s, best = r->dist, small = 0.1 * tolerance * pair->scale;
  tbReal shallow = SHALLOW * pair->scale;
  int stalled = 0;
  for (int iteration = 0;; iteration++) {
    tbReal v2 = tb_dot3(v, v), size2 = simplex_size2(r);
    if (r->count == 4 || v2 <= TOUCH_TOLERANCE * TOUCH_TOLERANCE * size2) {
      r->state = TB_CONVEX_OVERLAP;
      set_witness(r);
      return;
    }
    // Lower bound along v. The best one gives the resulting normal, the latest among equals.
    tbReal length = sqrt(v2), n[3];
    tb_scale3(n, v, 1 / length);
    tbSupportPoint* next = &r->simplex[r->count];
    s = tb_pair_separation(pair, n, next);
    if (s >= best - 8 * DBL_EPSILON * length) {
      best = s > best ? s : best;
      r->dist = s;
      tb_copy3(r->normal, n);
    }
    r->state = TB_CONVEX_APART;
    if (s > limit) return;
    r->state = TB_CONVEX_NEAR;
    r->capped = iteration >= MAX_ITERATIONS;
    bool closed = length - s <= tolerance * length || length - s <= small;
    if (closed || already_in(r, next) || r->capped) break;
    if (s > pair->early_stop && length <= limit) break;
    // Very close without proof of separation: the cores more likely overlap by a small depth.
    if (!patient && length < shallow && !(best > 0)) {
      r->state = TB_CONVEX_OVERLAP;
      set_witness(r);
      return;
    }
    // The new nearest point. With parallel features the distance can stall for a few steps while
    // the normal still improves; a step that increases the distance is due to rounding.
    Nearest nearest = {.count = 0};
    find_nearest(r->simplex, r->count + 1, &nearest);
    tbReal now2 = tb_dot3(nearest.v, nearest.v);
    if (nearest.count < 4 && !(now2 < v2)) {
      if (now2 > v2 * (1 + 1e-14) || ++stalled > 4) break;
    }
    keep_nearest(r, &nearest);
    tb_copy3(v, nearest.v);
  }
  set_witness(r);
}

void tb_gjk(tbConvexPair* pair, tbReal limit, tbReal tolerance, int patient, tbConvexResult* r) {
  tbReal v[3];
  r->capped = 0;
  // The first support point, which may already prove that the shapes are farther apart than the
  // limit.
  r->dist = tb_pair_separation(pair, r->normal, &r->simplex[0]);
  r->state = TB_CONVEX_APART;
  r->count = 1;
  r->weight[0] = 1;
  if (r->dist > limit) return;
  tb_copy3(v, r->simplex[0].w);
  iterate(pair, limit, tolerance, patient, v, r);
}

void tb_gjk_from(tbConvexPair* pair, tbReal limit, tbReal tolerance, tbConvexResult* r) {
  Nearest nearest = {.count = 0};
  find_nearest(r->simplex, r->count, &nearest);
  keep_nearest(r, &nearest);
  r->capped = 0;
  iterate(pair, limit, tolerance, 1, nearest.v, r);
}

// Vertex i of a polytope; false if it has no such vertex.
static bool vertex_of(const tbCore* core, int i, tbReal p[3]) {
  if (i < 0) return false;
  if (core->kind == TB_CORE_BOX && i < 8) {
    for (int k = 0; k < 3; k++) p[k] = i >> k & 1 ? core->size[k] : -core->size[k];
    return true;
  }
  if (core->kind != TB_CORE_HULL || i >= core->hull->nvert) return false;
  tb_copy3(p, core->hull->vert + 3 * i);
  return true;
}

bool tb_gjk_again(tbConvexPair* pair, tbReal limit, tbReal tolerance, tbConvexResult* r) {
  for (int i = 0; i < r->count; i++) {
    tbSupportPoint* at = &r->simplex[i];
    tbReal p[3];
    if (!vertex_of(&pair->a, at->ia, at->a) || !vertex_of(&pair->b, at->ib, p)) return false;
    tb_pair_b_to_a(pair, p, at->b);
    tb_sub3(at->w, at->b, at->a);
  }
  r->dist = -INFINITY;
  tb_gjk_from(pair, limit, tolerance, r);
  return true;
}
