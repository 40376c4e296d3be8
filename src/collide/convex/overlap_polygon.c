// Overlap of two facing features in a plane: polygons, discs, and parallel round cores.
#include "collide/convex/overlap_polygon.h"

#include <math.h>

#include "base/elementary.h"
#include "base/minmax.h"

// A core contacts along an edge only if the angle of both to the contact plane is below this
// (sine).
#define LEVEL 0.1

// Contact identities of a disc that are no corner: points fixed to the rim, and intersections. (The
// lowest point of a tilted disc is a corner with the number of the disc, as for a cylinder whose
// side or rim is the feature.)
#define RIM 0x7f00

void tb_overlap_polygon_project(const tbOverlapPolygon* p, const tbReal x[3], tbReal* u, tbReal* v,
                                tbReal* h) {
  tbReal arm[3];
  tb_sub3(arm, x, p->origin);
  *h = tb_dot3(p->m, arm);
  if (p->slanted) {
    *h /= p->cosine;
    tb_add_scaled3(arm, arm, -*h, p->n);
  }
  *u = tb_dot3(p->e1, arm);
  *v = tb_dot3(p->e2, arm);
}

static void flatten_arms(const tbOverlapPolygon* p, const tbFacingFeature* facing,
                         tbFlatFeature* f) {
  f->radius = tb_norm3(facing->arm[0]);
  for (int k = 0; k < 2; k++) {
    tbReal arm[3];
    tb_add_scaled3(arm, facing->arm[k], -tb_dot3(p->m, facing->arm[k]) / p->cosine, p->n);
    f->arm[k][0] = tb_dot3(p->e1, arm);
    f->arm[k][1] = tb_dot3(p->e2, arm);
  }
  tbReal determinant = f->arm[0][0] * f->arm[1][1] - f->arm[1][0] * f->arm[0][1];
  f->inverse[0] = f->arm[1][1] / determinant;
  f->inverse[1] = -f->arm[1][0] / determinant;
  f->inverse[2] = -f->arm[0][1] / determinant;
  f->inverse[3] = f->arm[0][0] / determinant;
}

// (u, v) in coordinates in which the disc is the unit circle.
static void to_circle(const tbFlatFeature* f, tbReal u, tbReal v, tbReal* x, tbReal* y) {
  u -= f->cu;
  v -= f->cv;
  *x = f->inverse[0] * u + f->inverse[1] * v;
  *y = f->inverse[2] * u + f->inverse[3] * v;
}

static void from_circle(const tbFlatFeature* f, tbReal x, tbReal y, tbReal* u, tbReal* v) {
  *u = f->cu + x * f->arm[0][0] + y * f->arm[1][0];
  *v = f->cv + x * f->arm[0][1] + y * f->arm[1][1];
}

static void flatten(const tbOverlapPolygon* p, const tbFacingFeature* facing, tbFlatFeature* f) {
  f->facing = facing;
  f->radius = 0;
  for (int i = 0; i < facing->count; i++) {
    tb_overlap_polygon_project(p, facing->point[i], &f->u[i], &f->v[i], &f->h[i]);
  }
  if (facing->kind == TB_FACING_SEGMENT) {
    // The height is constant across the segment.
    tbReal du = f->u[1] - f->u[0], dv = f->v[1] - f->v[0], length2 = du * du + dv * dv;
    tbReal rate = length2 > 0 ? (f->h[1] - f->h[0]) / length2 : 0;
    f->slope[0] = rate * du;
    f->slope[1] = rate * dv;
    f->slope[2] = f->h[0] - f->slope[0] * f->u[0] - f->slope[1] * f->v[0];
    return;
  }
  tbReal along = tb_dot3(facing->normal, p->n), u, v, h;
  if (facing->kind == TB_FACING_DISC) {
    tb_overlap_polygon_project(p, facing->center, &u, &v, &h);
    f->cu = u;
    f->cv = v;
    flatten_arms(p, facing, f);
  } else {
    u = f->u[0];
    v = f->v[0];
    h = f->h[0];
  }
  // normal.(x - x0) = 0 solved for h.
  f->slope[0] = -tb_dot3(facing->normal, p->e1) / along;
  f->slope[1] = -tb_dot3(facing->normal, p->e2) / along;
  f->slope[2] = h - f->slope[0] * u - f->slope[1] * v;
  f->ccw = along > 0;
}

static tbReal height(const tbFlatFeature* f, tbReal u, tbReal v) {
  return f->slope[0] * u + f->slope[1] * v + f->slope[2];
}

void tb_overlap_polygon_add(tbOverlapPolygon* p, tbReal u, tbReal v, tbReal ha, tbReal hb,
                            uint32_t feature) {
  if (p->count == TB_MANIFOLD_MAX) return;
  int i = p->count++;
  p->point[i].u = u;
  p->point[i].v = v;
  // No gap along n is smaller than s(n), although the planes of merged faces may give slightly
  // less; gaps that exceed s(n) by rounding only are set to it.
  tbReal more = hb - ha - p->least;
  if (more < 1e-3 * p->tolerance) {
    ha += 0.5 * more;
    hb -= 0.5 * more;
    p->point[i].dist = p->least;
  } else {
    p->point[i].dist = hb - ha;
  }
  p->ha[i] = ha;
  p->hb[i] = hb;
  p->feature[i] = feature;
}

// As above, but of two contacts with the same identity only that with the smaller gap is kept.
static void add_once(tbOverlapPolygon* p, tbReal u, tbReal v, tbReal ha, tbReal hb,
                     uint32_t feature) {
  for (int i = 0; i < p->count; i++) {
    if (p->feature[i] != feature) continue;
    if (!(hb - ha < p->point[i].dist)) return;
    int count = p->count;
    p->count = i;
    tb_overlap_polygon_add(p, u, v, ha, hb, feature);
    p->count = count;
    return;
  }
  tb_overlap_polygon_add(p, u, v, ha, hb, feature);
}

static void add_at(tbOverlapPolygon* p, tbReal u, tbReal v, uint32_t feature) {
  tb_overlap_polygon_add(p, u, v, height(&p->a, u, v), height(&p->b, u, v), feature);
}

// Whether (u, v) is in the polygon or disc, up to the tolerance.
static int contains(const tbOverlapPolygon* p, const tbFlatFeature* f, tbReal u, tbReal v) {
  if (f->facing->kind == TB_FACING_DISC) {
    tbReal x, y, reach = 1 + p->tolerance / f->radius;
    to_circle(f, u, v, &x, &y);
    return x * x + y * y <= reach * reach;
  }
  int n = f->facing->count;
  tbReal sign = f->ccw ? 1 : -1;
  for (int i = 0; i < n; i++) {
    int j = i + 1 < n ? i + 1 : 0;
    tbReal du = f->u[j] - f->u[i], dv = f->v[j] - f->v[i];
    tbReal left = sign * (du * (v - f->v[i]) - dv * (u - f->u[i]));
    if (left < 0 && left * left > p->tolerance * p->tolerance * (du * du + dv * dv)) return 0;
  }
  return 1;
}

// Adds corner i of f, which lies over g. `kind` tells whose corner it is.
static void add_corner(tbOverlapPolygon* p, const tbFlatFeature* f, const tbFlatFeature* g, int i,
                       int kind) {
  // A corner's own height is exact, unlike that of the plane of a merged face.
  tbReal other = height(g, f->u[i], f->v[i]);
  tbReal ha = kind == 1 ? f->h[i] : other, hb = kind == 1 ? other : f->h[i];
  tb_overlap_polygon_add(p, f->u[i], f->v[i], ha, hb, TB_FEATURE(kind, f->facing->id[i], 0));
}

static void add_corners(tbOverlapPolygon* p, const tbFlatFeature* f, const tbFlatFeature* g,
                        int kind) {
  for (int i = 0; i < f->facing->count; i++) {
    if (contains(p, g, f->u[i], f->v[i])) add_corner(p, f, g, i, kind);
  }
}

// Whether two intersecting edges are close to each other along one of them: both ends of that one
// are within `touching` of the other's line. t / cross and s / cross are the edges' parameters at
// the intersection.
static bool are_collinear(const tbOverlapPolygon* p, tbReal t, tbReal s, tbReal cross, tbReal a2,
                          tbReal b2) {
  tbReal far_a = tb_max(t, cross - t), far_b = tb_max(s, cross - s),
         reach2 = p->touching * p->touching;
  return far_a * far_a <= reach2 * b2 || far_b * far_b <= reach2 * a2;
}

// Adds the intersection of edge i of a and edge j of b, if there is one.
static void add_crossing(tbOverlapPolygon* p, int i, int j) {
  const tbFlatFeature *a = &p->a, *b = &p->b;
  int ni = i + 1 < a->facing->count ? i + 1 : 0, nj = j + 1 < b->facing->count ? j + 1 : 0;
  tbReal au = a->u[ni] - a->u[i], av = a->v[ni] - a->v[i];
  tbReal bu = b->u[nj] - b->u[j], bv = b->v[nj] - b->v[j];
  tbReal gu = b->u[j] - a->u[i], gv = b->v[j] - a->v[i];
  tbReal cross = au * bv - av * bu, t = gu * bv - gv * bu, s = gu * av - gv * au;
  if (cross < 0) {
    cross = -cross;
    t = -t;
    s = -s;
  }
  // Parallel edges have no intersection; ends that touch are corners and found as such.
  if (!(t > 0 && t < cross && s > 0 && s < cross)) return;
  if (p->touching > 0 && are_collinear(p, t, s, cross, au * au + av * av, bu * bu + bv * bv))
    return;
  t /= cross;
  tbReal u = a->u[i] + t * au, v = a->v[i] + t * av;
  // The parameter on b's edge follows from the same point: for edges parallel up to 1e-11, rounding
  // moves the intersection along them, and both heights must belong to one point.
  s = ((u - b->u[j]) * bu + (v - b->v[j]) * bv) / (bu * bu + bv * bv);
  if (!(s > 0 && s < 1)) return;
  tbReal ha = a->h[i] + t * (a->h[ni] - a->h[i]), hb = b->h[j] + s * (b->h[nj] - b->h[j]);
  tb_overlap_polygon_add(p, u, v, ha, hb, TB_FEATURE(3, a->facing->id[i], b->facing->id[j]));
}

// Proper intersections of the edges of a and b, one of which is a segment.
static void add_crossings(tbOverlapPolygon* p) {
  int na = p->a.facing->count, nb = p->b.facing->count;
  for (int i = 0; i < (na == 2 ? 1 : na); i++) {
    for (int j = 0; j < (nb == 2 ? 1 : nb); j++) add_crossing(p, i, j);
  }
}

// Classifies the corners of g by the lines through the edges of polygon f, without branches. For
// each edge, `crossed` has a bit for each of g's edges that crosses its line; returns a bit for
// each corner of g that lies in f.
static uint64_t cut_by_edges(const tbOverlapPolygon* p, const tbFlatFeature* f,
                             const tbFlatFeature* g, uint64_t crossed[TB_FACING_MAX]) {
  int n = f->facing->count, m = g->facing->count;
  uint64_t outside = 0;
  tbReal sign = f->ccw ? 1 : -1, tolerance2 = p->tolerance * p->tolerance;
  for (int i = 0, j = n - 1; i < n; j = i++) {
    tbReal du = sign * (f->u[i] - f->u[j]), dv = sign * (f->v[i] - f->v[j]);
    tbReal allowed = -tolerance2 * (du * du + dv * dv), u = f->u[j], v = f->v[j];
    uint64_t right = 0;
    for (int k = 0; k < m; k++) {
      tbReal left = du * (g->v[k] - v) - dv * (g->u[k] - u);
      right |= (uint64_t)(left < 0) << k;
      outside |= (uint64_t)(left * fabs(left) < allowed) << k;
    }
    crossed[j] = right ^ (right >> 1 | (right & 1) << (m - 1));
  }
  return ~outside;
}

static void intersect_polygons(tbOverlapPolygon* p) {
  uint64_t by_a[TB_FACING_MAX], by_b[TB_FACING_MAX];
  uint64_t b_inside = cut_by_edges(p, &p->a, &p->b, by_a);
  uint64_t a_inside = cut_by_edges(p, &p->b, &p->a, by_b);
  int na = p->a.facing->count, nb = p->b.facing->count;
  for (int i = 0; i < na; i++) {
    if (a_inside >> i & 1) add_corner(p, &p->a, &p->b, i, 1);
  }
  for (int j = 0; j < nb; j++) {
    if (b_inside >> j & 1) add_corner(p, &p->b, &p->a, j, 2);
  }
  for (int i = 0; i < na; i++) {
    for (int j = 0; j < nb && by_a[i] >> j; j++) {
      if (by_a[i] >> j & by_b[j] >> i & 1) add_crossing(p, i, j);
    }
  }
}

// Adds the intersections of the edges of f with the rim of the disc g.
static void add_rim_crossings(tbOverlapPolygon* p, const tbFlatFeature* f, const tbFlatFeature* g) {
  int n = f->facing->count;
  for (int i = 0; i < (n == 2 ? 1 : n); i++) {
    int j = i + 1 < n ? i + 1 : 0;
    tbReal x0, y0, x1, y1;
    to_circle(g, f->u[i], f->v[i], &x0, &y0);
    to_circle(g, f->u[j], f->v[j], &x1, &y1);
    tbReal dx = x1 - x0, dy = y1 - y0, a = dx * dx + dy * dy, b = dx * x0 + dy * y0;
    tbReal root = b * b - a * (x0 * x0 + y0 * y0 - 1);
    // For an edge along a tangent the intersections are ill-conditioned.
    if (!(a > 0) || !(root > 8 * a * p->touching / g->radius)) continue;
    root = sqrt(root);
    for (int k = 0; k < 2; k++) {
      tbReal t = (-b + (k ? root : -root)) / a;
      if (!(t > 0 && t < 1)) continue;
      add_at(p, f->u[i] + t * (f->u[j] - f->u[i]), f->v[i] + t * (f->v[j] - f->v[i]),
             TB_FEATURE(3, RIM + k, f->facing->id[i] + (f == &p->b ? 0 : 0x4000)));
    }
  }
}

// Adds a point of the rim of f if it lies in g.
static void add_rim_point(tbOverlapPolygon* p, const tbFlatFeature* f, const tbFlatFeature* g,
                          tbReal x, tbReal y, uint32_t feature) {
  tbReal u, v;
  from_circle(f, x, y, &u, &v);
  if (contains(p, g, u, v)) add_at(p, u, v, feature);
}

// Adds points of the rim of disc f that lie in g: four that are fixed to the body, and the one
// where the gap is smallest if the features are tilted against each other.
static void add_rim(tbOverlapPolygon* p, const tbFlatFeature* f, const tbFlatFeature* g, int kind) {
  static const tbReal fixed[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  for (int k = 0; k < 4; k++) {
    add_rim_point(p, f, g, fixed[k][0], fixed[k][1], TB_FEATURE(kind, RIM + k, 0));
  }
  tbReal du = p->a.slope[0] - p->b.slope[0], dv = p->a.slope[1] - p->b.slope[1];
  tbReal x = du * f->arm[0][0] + dv * f->arm[0][1], y = du * f->arm[1][0] + dv * f->arm[1][1];
  tbReal steep = sqrt(x * x + y * y);
  if (steep > p->tolerance) {
    add_rim_point(p, f, g, x / steep, y / steep, TB_FEATURE(kind, f->facing->id[0], 0));
  }
}

// Moves a point along the rim of a until it lies on the rim of b: Newton's method on its angle.
static void add_rims_meet(tbOverlapPolygon* p, tbReal u, tbReal v, uint32_t feature) {
  const tbFlatFeature *a = &p->a, *b = &p->b;
  tbReal x, y, bx, by, qx, qy;
  to_circle(a, u, v, &x, &y);
  tbReal angle = tb_atan2(y, x);
  for (int k = 0; k < 6; k++) {
    x = tb_cos(angle);
    y = tb_sin(angle);
    from_circle(a, x, y, &u, &v);
    to_circle(b, u, v, &bx, &by);
    // Velocity of the point in b's coordinates.
    from_circle(a, -y, x, &u, &v);
    to_circle(b, u - a->cu + b->cu, v - a->cv + b->cv, &qx, &qy);
    tbReal slope = 2 * (bx * qx + by * qy), error = bx * bx + by * by - 1;
    if (!(fabs(slope) > 1e-6)) return;
    if (fabs(error) < 1e-14) break;
    angle -= tb_min(tb_max(error / slope, -0.3), 0.3);
  }
  add_rim_point(p, a, b, x, y, feature);
}

// Whether two parallel discs, with centres `apart` from each other, touch with their rims or
// almost: a narrow lens between the rims counts as one place.
static bool are_rims_in_contact(const tbOverlapPolygon* p, tbReal apart) {
  tbReal reach = p->a.radius + p->b.radius, du = p->a.slope[0] - p->b.slope[0];
  tbReal dv = p->a.slope[1] - p->b.slope[1], steep = sqrt(du * du + dv * dv) * reach;
  bool level = steep <= p->touching && p->cosine >= 1 - 1e-12;
  return p->touching > 0 && level && fabs(apart - reach) <= 4 * p->touching;
}

// Two discs: the intersections of the rims, and the points where the line of centres leaves each.
static void add_disc_disc(tbOverlapPolygon* p) {
  const tbFlatFeature *a = &p->a, *b = &p->b;
  tbReal du = b->cu - a->cu, dv = b->cv - a->cv, apart = sqrt(du * du + dv * dv), x, y, length;
  if (are_rims_in_contact(p, apart)) {
    tbReal half = 0.5 * (apart + a->radius - b->radius) / apart;
    add_at(p, a->cu + half * du, a->cv + half * dv, TB_FEATURE(3, RIM, RIM));
    return;
  }
  add_rim(p, a, b, 1);
  add_rim(p, b, a, 2);
  if (apart <= p->tolerance || apart <= fabs(a->radius - b->radius)) return;
  to_circle(a, b->cu, b->cv, &x, &y);
  length = sqrt(x * x + y * y);
  add_rim_point(p, a, b, x / length, y / length, TB_FEATURE(1, RIM + 5, 0));
  to_circle(b, a->cu, a->cv, &x, &y);
  length = sqrt(x * x + y * y);
  add_rim_point(p, b, a, x / length, y / length, TB_FEATURE(2, RIM + 5, 0));
  du /= apart;
  dv /= apart;
  tbReal along = 0.5 * (apart + (a->radius * a->radius - b->radius * b->radius) / apart);
  tbReal across2 = a->radius * a->radius - along * along;
  if (!(across2 > 0)) return;
  tbReal across = sqrt(across2), u = a->cu + along * du, v = a->cv + along * dv;
  add_rims_meet(p, u - across * dv, v + across * du, TB_FEATURE(3, RIM, RIM));
  add_rims_meet(p, u + across * dv, v - across * du, TB_FEATURE(3, RIM + 1, RIM));
}

// Sign of the height of the contact over a corner: corners of a lie below it, those of b above it.
static tbReal kind_sign(int kind) {
  return kind == 1 ? 1 : -1;
}

// A segment or an edge of a polygon, in the plane, which may be parallel to another one.
typedef struct {
  tbReal u[2], v[2], h[2];
  tbReal radius, sine;  // radius of the core around it; sine of its angle to the plane
  int id[2];
} Rod;

static void set_rod(const tbFlatFeature* f, int i, Rod* rod) {
  int n = f->facing->count;
  for (int k = 0; k < 2; k++) {
    int at = i + k < n ? i + k : 0;
    rod->u[k] = f->u[at];
    rod->v[k] = f->v[at];
    rod->h[k] = f->h[at];
    rod->id[k] = f->facing->id[at];
  }
  tbReal du = rod->u[1] - rod->u[0], dv = rod->v[1] - rod->v[0], rise = rod->h[1] - rod->h[0];
  tbReal length2 = du * du + dv * dv + rise * rise;
  rod->radius = f->facing->curvature_radius;
  rod->sine = length2 > 0 ? rise / sqrt(length2) : 0;
}

// An upper bound of how far the surface of a round core falls below its highest line at the lateral
// distance x, for a core tilted against the plane.
static tbReal fall(const Rod* f, tbReal x) {
  tbReal r = f->radius, sine = f->sine;
  return (r - sqrt(tb_max(r * r - x * x, 0))) / tb_max(1 - sine * sine, 0.5);
}

// Contacts at the ends of rod f along the parallel rod g: a contact lies where both round surfaces
// are parallel, at distances from their highest lines in the ratio of the radii
// (docs/notebook/gjk.md eq. 14).
static void add_parallel_ends(tbOverlapPolygon* p, const Rod* f, const Rod* g, int kind) {
  tbReal du = g->u[1] - g->u[0], dv = g->v[1] - g->v[0], length = sqrt(du * du + dv * dv);
  tbReal rf = f->radius, round = rf + g->radius;
  if (!(length > 0) || !(round > 0)) return;
  for (int i = 0; i < 2; i++) {
    int o = 1 - i;
    tbReal side = ((f->v[i] - g->v[0]) * du - (f->u[i] - g->u[0]) * dv) / length;
    if (fabs(side) > 0.1 * round) continue;
    // A displacement perpendicular to g, and for a tilted core also the fall along the normal,
    // moves the point along the axis of f: the contact must stay inside its end.
    tbReal eu = f->u[o] - f->u[i], ev = f->v[o] - f->v[i], span = sqrt(eu * eu + ev * ev);
    tbReal turn = fabs(eu * dv - ev * du) / (span * length), x_most = 1.1 * fabs(side) * rf / round;
    tbReal way = fabs(f->sine) * fall(f, x_most) + turn * x_most;
    tbReal e = tb_min((way + 1e-3 * p->tolerance) / span, 0.5);
    tbReal fu = f->u[i] + e * eu, fv = f->v[i] + e * ev;
    side = ((fv - g->v[0]) * du - (fu - g->u[0]) * dv) / length;
    tbReal x = side * rf / round, fall_f = fall(f, x), fall_g = fall(g, side - x);
    tbReal u = fu + x * dv / length, v = fv - x * du / length;
    tbReal along = ((u - f->u[i]) * eu + (v - f->v[i]) * ev) / (span * span);
    tbReal hf = f->h[i] + along * (f->h[o] - f->h[i]) - kind_sign(kind) * fall_f;
    tbReal t = ((fu - g->u[0]) * du + (fv - g->v[0]) * dv) / (length * length);
    tbReal inset = fabs(g->sine) * fall_g / length;
    tbReal slack = p->touching / length;
    if (!(t >= inset - slack && t <= 1 - inset + slack)) continue;
    tbReal hg = g->h[0] + t * (g->h[1] - g->h[0]) + kind_sign(kind) * fall_g;
    add_once(p, u, v, kind == 1 ? hf : hg, kind == 1 ? hg : hf, TB_FEATURE(kind, f->id[i], 0));
  }
}

static int is_nearly_parallel(const Rod* a, const Rod* b) {
  tbReal au = a->u[1] - a->u[0], av = a->v[1] - a->v[0];
  tbReal bu = b->u[1] - b->u[0], bv = b->v[1] - b->v[0], cross = au * bv - av * bu;
  return cross * cross < 0.01 * (au * au + av * av) * (bu * bu + bv * bv);
}

static void add_parallel_rods(tbOverlapPolygon* p, const Rod* a, const Rod* b) {
  if (!is_nearly_parallel(a, b)) return;
  add_parallel_ends(p, a, b, 1);
  add_parallel_ends(p, b, a, 2);
}

// A round core along an edge of a polygon. Unless exactly parallel, the two intersect in one point,
// and the core is over the face on one side of it only, although it is in contact all along the
// edge up to a small gap.
static void add_along_edges(tbOverlapPolygon* p) {
  const tbFlatFeature* polygon = p->a.facing->kind == TB_FACING_POLYGON ? &p->a : &p->b;
  Rod segment, edge;
  set_rod(polygon == &p->a ? &p->b : &p->a, 0, &segment);
  if (!(segment.radius > 0) || !(fabs(segment.sine) < LEVEL)) return;
  for (int i = 0; i < polygon->facing->count; i++) {
    set_rod(polygon, i, &edge);
    if (!(fabs(edge.sine) < LEVEL)) continue;
    add_parallel_rods(p, polygon == &p->a ? &edge : &segment, polygon == &p->a ? &segment : &edge);
  }
}

static void intersect(tbOverlapPolygon* p) {
  int ka = p->a.facing->kind, kb = p->b.facing->kind;
  if (ka == TB_FACING_DISC && kb == TB_FACING_DISC) {
    add_disc_disc(p);
  } else if (ka == TB_FACING_DISC || kb == TB_FACING_DISC) {
    const tbFlatFeature* disc = ka == TB_FACING_DISC ? &p->a : &p->b;
    const tbFlatFeature* other = ka == TB_FACING_DISC ? &p->b : &p->a;
    add_corners(p, other, disc, disc == &p->a ? 2 : 1);
    add_rim_crossings(p, other, disc);
    if (other->facing->kind == TB_FACING_POLYGON) add_rim(p, disc, other, disc == &p->a ? 1 : 2);
  } else if (ka == TB_FACING_SEGMENT && kb == TB_FACING_SEGMENT) {
    Rod a, b;
    set_rod(&p->a, 0, &a);
    set_rod(&p->b, 0, &b);
    add_parallel_rods(p, &a, &b);
    // A sharp edge of a hull intersects the other segment.
    if (!(a.radius > 0) || !(b.radius > 0)) add_crossings(p);
  } else if (ka == TB_FACING_POLYGON && kb == TB_FACING_POLYGON) {
    intersect_polygons(p);
  } else {
    if (kb == TB_FACING_POLYGON) add_corners(p, &p->a, &p->b, 1);
    if (ka == TB_FACING_POLYGON) add_corners(p, &p->b, &p->a, 2);
    add_crossings(p);
    if (!p->terrain) add_along_edges(p);
  }
}

// The plane through the midpoint of the witness points; points are projected onto it along n.
static void set_plane(tbOverlapPolygon* p, const tbConvexPair* pair, const tbConvexResult* r,
                      const tbFacingFeature* pa, const tbFacingFeature* pb) {
  tb_copy3(p->n, r->normal);
  tb_copy3(p->m, r->normal);
  p->slanted = pa->kind == TB_FACING_DISC || pb->kind == TB_FACING_DISC;
  if (pa->kind == TB_FACING_DISC) {
    tb_copy3(p->m, pa->normal);
  } else if (pb->kind == TB_FACING_DISC) {
    tb_scale3(p->m, pb->normal, -1);
  }
  tb_frame_from_normal(p->m, p->e1, p->e2);
  p->cosine = tb_dot3(p->m, p->n);
  p->touching = pair->touching;
  p->tolerance = tb_max(1e-9 * pair->scale, p->touching);
  p->least = r->dist;
  p->count = 0;
  for (int i = 0; i < 3; i++) p->origin[i] = 0.5 * (r->point_a[i] + r->point_b[i]);
}

// Drops repeated points: where shapes touch, corners of a, corners of b and intersections may
// coincide. The first of them is kept.
static void drop_duplicates(tbOverlapPolygon* p) {
  tbReal near2 = 16 * p->touching * p->touching;
  int kept = 0;
  for (int i = 0; i < p->count; i++) {
    bool twin = false;
    for (int j = 0; j < kept && !twin; j++) {
      tbReal du = p->point[i].u - p->point[j].u, dv = p->point[i].v - p->point[j].v;
      twin = du * du + dv * dv <= near2;
    }
    if (twin) continue;
    p->point[kept] = p->point[i];
    p->ha[kept] = p->ha[i];
    p->hb[kept] = p->hb[i];
    p->feature[kept++] = p->feature[i];
  }
  p->count = kept;
}

void tb_overlap_polygon_find(tbOverlapPolygon* p, const tbConvexPair* pair, const tbConvexResult* r,
                             const tbFacingFeature* a, const tbFacingFeature* b, int terrain) {
  set_plane(p, pair, r, a, b);
  p->terrain = terrain;
  if (a->kind == TB_FACING_POINT || b->kind == TB_FACING_POINT) return;
  flatten(p, a, &p->a);
  flatten(p, b, &p->b);
  intersect(p);
  if (p->touching > 0) drop_duplicates(p);
}
