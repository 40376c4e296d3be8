// The manifold of two cores: both patches are projected along the normal into one plane, their
// intersection is the contact region, and its corners, with the gap along the normal at each, are
// the contacts (docs/gjk.md eq. 13-14). The construction is symmetric in a and b.
#include <string.h>

#include "collide/convex.h"
#include "collide/manifold.h"
#include "collide/patch.h"

#define MAX_CANDIDATES 128
// A core lies along an edge where neither leans more than this (sine) against the normal.
#define LEVEL 0.1
// Contacts nearer than this, relative to the size of the pair, are at one place.
#define STRETCH 1e-3

// Features of a disc that are no corner: points fixed to the rim, crossings. (Its lowest point is a
// corner with the number of the disc, as for a cylinder that lies or leans.)
#define RIM 0x7f00

// A patch in the plane: corners (u, v) and the height above the plane along the normal.
typedef struct {
  const tbPatch* patch;
  tbReal u[TB_PATCH_MAX], v[TB_PATCH_MAX], h[TB_PATCH_MAX];
  tbReal slope[3];  // height of the patch's plane: slope[0] u + slope[1] v + slope[2]
  // A disc: centre, its two arms in the plane (an ellipse where it leans), and the inverse map that
  // takes it to the unit circle.
  tbReal cu, cv, radius, arm[2][2], inverse[4];
  int ccw;  // corners run counter-clockwise in (u, v)
} Flat;

// A place for witness points and how far off they would be there: sideways and along the normal.
typedef struct {
  tbReal u, v, h, off;
} Place;

typedef struct {
  tbReal origin[3];
  tbReal e1[3], e2[3];  // x = origin + u e1 + v e2 + h n
  tbReal n[3], m[3];    // e1 and e2 are perpendicular to m, which may lean against n
  tbReal lean;          // m.n
  int slanted;          // m is not n
  tbReal tolerance;     // lengths below this are rounding
  tbReal least;         // s(n)
  int terrain;          // nothing beyond the region where the patches meet
  Flat a, b;
  Place lowest;  // of the corners, before any is left out
  tbManifoldPoint point[MAX_CANDIDATES];
  tbReal ha[MAX_CANDIDATES], hb[MAX_CANDIDATES];
  uint32_t feature[MAX_CANDIDATES];
  int count;
} Plane;

static void project(const Plane* p, const tbReal x[3], tbReal* u, tbReal* v, tbReal* h) {
  tbReal arm[3];
  tb_sub3(arm, x, p->origin);
  *h = tb_dot3(p->m, arm);
  if (p->slanted) {
    *h /= p->lean;
    tb_add_scaled3(arm, arm, -*h, p->n);
  }
  *u = tb_dot3(p->e1, arm);
  *v = tb_dot3(p->e2, arm);
}

static void flatten_arms(const Plane* p, const tbPatch* patch, Flat* f) {
  f->radius = tb_norm3(patch->arm[0]);
  for (int k = 0; k < 2; k++) {
    tbReal arm[3];
    tb_add_scaled3(arm, patch->arm[k], -tb_dot3(p->m, patch->arm[k]) / p->lean, p->n);
    f->arm[k][0] = tb_dot3(p->e1, arm);
    f->arm[k][1] = tb_dot3(p->e2, arm);
  }
  tbReal determinant = f->arm[0][0] * f->arm[1][1] - f->arm[1][0] * f->arm[0][1];
  f->inverse[0] = f->arm[1][1] / determinant;
  f->inverse[1] = -f->arm[1][0] / determinant;
  f->inverse[2] = -f->arm[0][1] / determinant;
  f->inverse[3] = f->arm[0][0] / determinant;
}

// (u, v) in coordinates where the disc is the unit circle.
static void to_circle(const Flat* f, tbReal u, tbReal v, tbReal* x, tbReal* y) {
  u -= f->cu;
  v -= f->cv;
  *x = f->inverse[0] * u + f->inverse[1] * v;
  *y = f->inverse[2] * u + f->inverse[3] * v;
}

static void from_circle(const Flat* f, tbReal x, tbReal y, tbReal* u, tbReal* v) {
  *u = f->cu + x * f->arm[0][0] + y * f->arm[1][0];
  *v = f->cv + x * f->arm[0][1] + y * f->arm[1][1];
}

static void flatten(const Plane* p, const tbPatch* patch, Flat* f) {
  f->patch = patch;
  f->slope[0] = f->slope[1] = f->slope[2] = 0;
  f->radius = 0;
  for (int i = 0; i < patch->count; i++) {
    project(p, patch->point[i], &f->u[i], &f->v[i], &f->h[i]);
  }
  if (patch->kind == TB_PATCH_POLYGON || patch->kind == TB_PATCH_DISC) {
    // normal.(x - x0) = 0 solved for h.
    tbReal along = tb_dot3(patch->normal, p->n), u = 0, v = 0, h = 0;
    if (patch->kind == TB_PATCH_DISC) {
      project(p, patch->center, &u, &v, &h);
      f->cu = u;
      f->cv = v;
      flatten_arms(p, patch, f);
    } else {
      u = f->u[0];
      v = f->v[0];
      h = f->h[0];
    }
    f->slope[0] = -tb_dot3(patch->normal, p->e1) / along;
    f->slope[1] = -tb_dot3(patch->normal, p->e2) / along;
    f->slope[2] = h - f->slope[0] * u - f->slope[1] * v;
    f->ccw = along > 0;
  } else if (patch->kind == TB_PATCH_SEGMENT) {
    // Height changes along the segment only.
    tbReal du = f->u[1] - f->u[0], dv = f->v[1] - f->v[0], length2 = du * du + dv * dv;
    tbReal rate = length2 > 0 ? (f->h[1] - f->h[0]) / length2 : 0;
    f->slope[0] = rate * du;
    f->slope[1] = rate * dv;
    f->slope[2] = f->h[0] - f->slope[0] * f->u[0] - f->slope[1] * f->v[0];
  } else {
    f->slope[2] = f->h[0];
  }
}

static tbReal height(const Flat* f, tbReal u, tbReal v) {
  return f->slope[0] * u + f->slope[1] * v + f->slope[2];
}

static void add(Plane* p, tbReal u, tbReal v, tbReal ha, tbReal hb, uint32_t feature) {
  if (p->count == MAX_CANDIDATES) return;
  int i = p->count++;
  p->point[i].u = u;
  p->point[i].v = v;
  // No gap along n is smaller than s(n), though planes of merged faces may say so by a little; gaps
  // equal to it but for rounding are it.
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

// As above for a feature that may be there: the smaller gap stays.
static void add_once(Plane* p, tbReal u, tbReal v, tbReal ha, tbReal hb, uint32_t feature) {
  for (int i = 0; i < p->count; i++) {
    if (p->feature[i] != feature) continue;
    if (!(hb - ha < p->point[i].dist)) return;
    int count = p->count;
    p->count = i;
    add(p, u, v, ha, hb, feature);
    p->count = count;
    return;
  }
  add(p, u, v, ha, hb, feature);
}

static void add_at(Plane* p, tbReal u, tbReal v, uint32_t feature) {
  add(p, u, v, height(&p->a, u, v), height(&p->b, u, v), feature);
}

// Is (u, v) in the polygon or disc, up to the tolerance?
static int contains(const Plane* p, const Flat* f, tbReal u, tbReal v) {
  if (f->patch->kind == TB_PATCH_DISC) {
    tbReal x, y, reach = 1 + p->tolerance / f->radius;
    to_circle(f, u, v, &x, &y);
    return x * x + y * y <= reach * reach;
  }
  int n = f->patch->count;
  tbReal sign = f->ccw ? 1 : -1;
  for (int i = 0; i < n; i++) {
    int j = i + 1 < n ? i + 1 : 0;
    tbReal du = f->u[j] - f->u[i], dv = f->v[j] - f->v[i];
    tbReal left = sign * (du * (v - f->v[i]) - dv * (u - f->u[i]));
    if (left < 0 && left * left > p->tolerance * p->tolerance * (du * du + dv * dv)) return 0;
  }
  return 1;
}

// Corner i of f, over g. `kind` says whose corners they are.
static void add_corner(Plane* p, const Flat* f, const Flat* g, int i, int kind) {
  // A corner's own height is exact; planes of merged faces are not quite.
  tbReal other = height(g, f->u[i], f->v[i]);
  tbReal ha = kind == 1 ? f->h[i] : other, hb = kind == 1 ? other : f->h[i];
  add(p, f->u[i], f->v[i], ha, hb, TB_FEATURE(kind, f->patch->id[i], 0));
}

static void add_corners(Plane* p, const Flat* f, const Flat* g, int kind) {
  for (int i = 0; i < f->patch->count; i++) {
    if (contains(p, g, f->u[i], f->v[i])) add_corner(p, f, g, i, kind);
  }
}

// Where edge i of a crosses edge j of b, if they do.
static void add_crossing(Plane* p, int i, int j) {
  const Flat *a = &p->a, *b = &p->b;
  int ni = i + 1 < a->patch->count ? i + 1 : 0, nj = j + 1 < b->patch->count ? j + 1 : 0;
  tbReal au = a->u[ni] - a->u[i], av = a->v[ni] - a->v[i];
  tbReal bu = b->u[nj] - b->u[j], bv = b->v[nj] - b->v[j];
  tbReal gu = b->u[j] - a->u[i], gv = b->v[j] - a->v[i];
  tbReal cross = au * bv - av * bu, t = gu * bv - gv * bu, s = gu * av - gv * au;
  if (cross < 0) {
    cross = -cross;
    t = -t;
    s = -s;
  }
  // Parallel edges have no crossing; ends that touch are corners and found as such.
  if (!(t > 0 && t < cross && s > 0 && s < cross)) return;
  t /= cross;
  tbReal u = a->u[i] + t * au, v = a->v[i] + t * av;
  // Where along b's edge by that same point: edges parallel but for 1e-11 cross at a place that
  // rounding moves along them, and heights must belong to one place.
  s = ((u - b->u[j]) * bu + (v - b->v[j]) * bv) / (bu * bu + bv * bv);
  if (!(s > 0 && s < 1)) return;
  tbReal ha = a->h[i] + t * (a->h[ni] - a->h[i]), hb = b->h[j] + s * (b->h[nj] - b->h[j]);
  add(p, u, v, ha, hb, TB_FEATURE(3, a->patch->id[i], b->patch->id[j]));
}

// Proper crossings of the edges of a and b, one of them a segment.
static void add_crossings(Plane* p) {
  int na = p->a.patch->count, nb = p->b.patch->count;
  for (int i = 0; i < (na == 2 ? 1 : na); i++) {
    for (int j = 0; j < (nb == 2 ? 1 : nb); j++) add_crossing(p, i, j);
  }
}

// The corners of g against the lines through the edges of polygon f, without branches. For each
// edge, bits of g's edges that cross its line; returns bits of the corners of g that lie in f.
static uint64_t cut_by_edges(const Plane* p, const Flat* f, const Flat* g,
                             uint64_t crossed[TB_PATCH_MAX]) {
  int n = f->patch->count, m = g->patch->count;
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

static void intersect_polygons(Plane* p) {
  uint64_t by_a[TB_PATCH_MAX], by_b[TB_PATCH_MAX];
  uint64_t b_inside = cut_by_edges(p, &p->a, &p->b, by_a);
  uint64_t a_inside = cut_by_edges(p, &p->b, &p->a, by_b);
  int na = p->a.patch->count, nb = p->b.patch->count;
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

// Where the edges of f cross the rim of the disc g.
static void add_rim_crossings(Plane* p, const Flat* f, const Flat* g) {
  int n = f->patch->count;
  for (int i = 0; i < (n == 2 ? 1 : n); i++) {
    int j = i + 1 < n ? i + 1 : 0;
    tbReal x0, y0, x1, y1;
    to_circle(g, f->u[i], f->v[i], &x0, &y0);
    to_circle(g, f->u[j], f->v[j], &x1, &y1);
    tbReal dx = x1 - x0, dy = y1 - y0, a = dx * dx + dy * dy, b = dx * x0 + dy * y0;
    tbReal root = b * b - a * (x0 * x0 + y0 * y0 - 1);
    if (!(a > 0) || !(root > 0)) continue;
    root = sqrt(root);
    for (int k = 0; k < 2; k++) {
      tbReal t = (-b + (k ? root : -root)) / a;
      if (!(t > 0 && t < 1)) continue;
      add_at(p, f->u[i] + t * (f->u[j] - f->u[i]), f->v[i] + t * (f->v[j] - f->v[i]),
             TB_FEATURE(3, RIM + k, f->patch->id[i] + (f == &p->b ? 0 : 0x4000)));
    }
  }
}

// A point of the rim of f, if it lies in g.
static void add_rim_point(Plane* p, const Flat* f, const Flat* g, tbReal x, tbReal y,
                          uint32_t feature) {
  tbReal u, v;
  from_circle(f, x, y, &u, &v);
  if (contains(p, g, u, v)) add_at(p, u, v, feature);
}

// Points of the rim of disc f that lie in g: four that are fixed to the body, and the one where the
// gap is smallest when the patches lean against each other.
static void add_rim(Plane* p, const Flat* f, const Flat* g, int kind) {
  static const tbReal fixed[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  for (int k = 0; k < 4; k++) {
    add_rim_point(p, f, g, fixed[k][0], fixed[k][1], TB_FEATURE(kind, RIM + k, 0));
  }
  tbReal du = p->a.slope[0] - p->b.slope[0], dv = p->a.slope[1] - p->b.slope[1];
  tbReal x = du * f->arm[0][0] + dv * f->arm[0][1], y = du * f->arm[1][0] + dv * f->arm[1][1];
  tbReal steep = sqrt(x * x + y * y);
  if (steep > p->tolerance) {
    add_rim_point(p, f, g, x / steep, y / steep, TB_FEATURE(kind, f->patch->id[0], 0));
  }
}

// Slide a point of the rim of a along it until it lies on the rim of b: Newton on its angle.
static void add_rims_meet(Plane* p, tbReal u, tbReal v, uint32_t feature) {
  const Flat *a = &p->a, *b = &p->b;
  tbReal x, y, bx, by, qx, qy;
  to_circle(a, u, v, &x, &y);
  tbReal angle = atan2(y, x);
  for (int k = 0; k < 6; k++) {
    x = cos(angle);
    y = sin(angle);
    from_circle(a, x, y, &u, &v);
    to_circle(b, u, v, &bx, &by);
    // Velocity of the point in b's coordinates.
    from_circle(a, -y, x, &u, &v);
    to_circle(b, u - a->cu + b->cu, v - a->cv + b->cv, &qx, &qy);
    tbReal slope = 2 * (bx * qx + by * qy), error = bx * bx + by * by - 1;
    if (!(fabs(slope) > 1e-6)) return;
    if (fabs(error) < 1e-14) break;
    angle -= fmin(fmax(error / slope, -0.3), 0.3);
  }
  add_rim_point(p, a, b, x, y, feature);
}

// Two discs: where the rims cross and where the line of centres leaves each.
static void add_disc_disc(Plane* p) {
  const Flat *a = &p->a, *b = &p->b;
  add_rim(p, a, b, 1);
  add_rim(p, b, a, 2);
  tbReal du = b->cu - a->cu, dv = b->cv - a->cv, apart = sqrt(du * du + dv * dv), x, y, length;
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

// Corners of a lie below the contact, those of b above it.
static tbReal kind_sign(int kind) {
  return kind == 1 ? 1 : -1;
}

// A segment patch or an edge of a polygon in the plane: what lies beside another such.
typedef struct {
  tbReal u[2], v[2], h[2];
  tbReal radius, lean;  // how round the core is across it; sine of its angle against the plane
  int id[2];
} Rod;

static void set_rod(const Flat* f, int i, Rod* rod) {
  int n = f->patch->count;
  for (int k = 0; k < 2; k++) {
    int at = i + k < n ? i + k : 0;
    rod->u[k] = f->u[at];
    rod->v[k] = f->v[at];
    rod->h[k] = f->h[at];
    rod->id[k] = f->patch->id[at];
  }
  tbReal du = rod->u[1] - rod->u[0], dv = rod->v[1] - rod->v[0], rise = rod->h[1] - rod->h[0];
  tbReal length2 = du * du + dv * dv + rise * rise;
  rod->radius = f->patch->curvature_radius;
  rod->lean = length2 > 0 ? rise / sqrt(length2) : 0;
}

// How far the surface of a round core falls below its highest line at distance x beside it, and not
// less where the core leans against the normal.
static tbReal fall(const Rod* f, tbReal x) {
  tbReal r = f->radius, lean = f->lean;
  return (r - sqrt(fmax(r * r - x * x, 0))) / fmax(1 - lean * lean, 0.5);
}

// An end of rod f beside rod g: the contact lies where both round surfaces are parallel, at
// distances from their highest lines as the radii (docs/gjk.md eq. 14).
static void add_beside(Plane* p, const Rod* f, const Rod* g, int kind) {
  tbReal du = g->u[1] - g->u[0], dv = g->v[1] - g->v[0], length = sqrt(du * du + dv * dv);
  tbReal rf = f->radius, round = rf + g->radius;
  if (!(length > 0) || !(round > 0)) return;
  for (int i = 0; i < 2; i++) {
    int o = 1 - i;
    tbReal side = ((f->v[i] - g->v[0]) * du - (f->u[i] - g->u[0]) * dv) / length;
    if (fabs(side) > 0.1 * round) continue;
    // Going sideways, which is at right angles to g, and where the core leans also falling along
    // the normal, moves along the axis of f: stay inside.
    tbReal eu = f->u[o] - f->u[i], ev = f->v[o] - f->v[i], span = sqrt(eu * eu + ev * ev);
    tbReal turn = fabs(eu * dv - ev * du) / (span * length), x_most = 1.1 * fabs(side) * rf / round;
    tbReal way = fabs(f->lean) * fall(f, x_most) + turn * x_most;
    tbReal e = fmin((way + 1e-3 * p->tolerance) / span, 0.5);
    tbReal fu = f->u[i] + e * eu, fv = f->v[i] + e * ev;
    side = ((fv - g->v[0]) * du - (fu - g->u[0]) * dv) / length;
    tbReal x = side * rf / round, fall_f = fall(f, x), fall_g = fall(g, side - x);
    tbReal u = fu + x * dv / length, v = fv - x * du / length;
    tbReal along = ((u - f->u[i]) * eu + (v - f->v[i]) * ev) / (span * span);
    tbReal hf = f->h[i] + along * (f->h[o] - f->h[i]) - kind_sign(kind) * fall_f;
    tbReal t = ((fu - g->u[0]) * du + (fv - g->v[0]) * dv) / (length * length);
    tbReal inset = fabs(g->lean) * fall_g / length;
    if (!(t >= inset && t <= 1 - inset)) continue;
    tbReal hg = g->h[0] + t * (g->h[1] - g->h[0]) + kind_sign(kind) * fall_g;
    add_once(p, u, v, kind == 1 ? hf : hg, kind == 1 ? hg : hf, TB_FEATURE(kind, f->id[i], 0));
  }
}

static int is_nearly_parallel(const Rod* a, const Rod* b) {
  tbReal au = a->u[1] - a->u[0], av = a->v[1] - a->v[0];
  tbReal bu = b->u[1] - b->u[0], bv = b->v[1] - b->v[0], cross = au * bv - av * bu;
  return cross * cross < 0.01 * (au * au + av * av) * (bu * bu + bv * bv);
}

static void add_rods(Plane* p, const Rod* a, const Rod* b) {
  if (!is_nearly_parallel(a, b)) return;
  add_beside(p, a, b, 1);
  add_beside(p, b, a, 2);
}

// Whether all candidates lie within `reach` of one another.
static int is_one_place(const Plane* p, tbReal reach) {
  for (int i = 1; i < p->count; i++) {
    tbReal du = p->point[i].u - p->point[0].u, dv = p->point[i].v - p->point[0].v;
    if (du * du + dv * dv > reach * reach) return 0;
  }
  return 1;
}

// A round core along an edge of a polygon: but for exactly parallel ones they cross at one place
// and are over the face on one side of it only, though they touch, to a hair, all along.
static void add_along_edges(Plane* p) {
  const Flat* polygon = p->a.patch->kind == TB_PATCH_POLYGON ? &p->a : &p->b;
  Rod segment, edge;
  set_rod(polygon == &p->a ? &p->b : &p->a, 0, &segment);
  if (!(segment.radius > 0) || !(fabs(segment.lean) < LEVEL)) return;
  for (int i = 0; i < polygon->patch->count; i++) {
    set_rod(polygon, i, &edge);
    if (!(fabs(edge.lean) < LEVEL)) continue;
    add_rods(p, polygon == &p->a ? &edge : &segment, polygon == &p->a ? &segment : &edge);
  }
}

static void intersect(Plane* p) {
  int ka = p->a.patch->kind, kb = p->b.patch->kind;
  if (ka == TB_PATCH_POINT || kb == TB_PATCH_POINT) return;
  if (ka == TB_PATCH_DISC && kb == TB_PATCH_DISC) {
    add_disc_disc(p);
  } else if (ka == TB_PATCH_DISC || kb == TB_PATCH_DISC) {
    const Flat* disc = ka == TB_PATCH_DISC ? &p->a : &p->b;
    const Flat* other = ka == TB_PATCH_DISC ? &p->b : &p->a;
    add_corners(p, other, disc, disc == &p->a ? 2 : 1);
    add_rim_crossings(p, other, disc);
    if (other->patch->kind == TB_PATCH_POLYGON) add_rim(p, disc, other, disc == &p->a ? 1 : 2);
  } else if (ka == TB_PATCH_SEGMENT && kb == TB_PATCH_SEGMENT) {
    Rod a, b;
    set_rod(&p->a, 0, &a);
    set_rod(&p->b, 0, &b);
    add_rods(p, &a, &b);
    // A sharp edge of a hull crosses what it touches.
    if (!(a.radius > 0) || !(b.radius > 0)) add_crossings(p);
  } else if (ka == TB_PATCH_POLYGON && kb == TB_PATCH_POLYGON) {
    intersect_polygons(p);
  } else {
    if (kb == TB_PATCH_POLYGON) add_corners(p, &p->a, &p->b, 1);
    if (ka == TB_PATCH_POLYGON) add_corners(p, &p->b, &p->a, 2);
    add_crossings(p);
    if (!p->terrain) add_along_edges(p);
  }
}

// Twice the area of the chosen points' hull, by the order that the choice returns: sort by angle.
static tbReal chosen_area(const Plane* p, const int* chosen, int count) {
  tbReal cu = 0, cv = 0, area = 0, angle[TB_MAX_MANIFOLD];
  int order[TB_MAX_MANIFOLD];
  for (int i = 0; i < count; i++) {
    cu += p->point[chosen[i]].u / count;
    cv += p->point[chosen[i]].v / count;
  }
  for (int i = 0; i < count; i++) {
    tbReal a = atan2(p->point[chosen[i]].v - cv, p->point[chosen[i]].u - cu);
    int k = i;
    for (; k > 0 && angle[k - 1] > a; k--) {
      angle[k] = angle[k - 1];
      order[k] = order[k - 1];
    }
    angle[k] = a;
    order[k] = chosen[i];
  }
  for (int i = 0; i < count; i++) {
    const tbManifoldPoint *x = &p->point[order[i]], *y = &p->point[order[(i + 1) % count]];
    area += (x->u - cu) * (y->v - cv) - (y->u - cu) * (x->v - cv);
  }
  return area;
}

// Four contacts, or up to eight where four would give away much of the contact region.
static int choose(const Plane* p, int* chosen) {
  if (is_one_place(p, p->tolerance)) {
    chosen[0] = 0;
    for (int i = 1; i < p->count; i++) {
      if (p->point[i].dist < p->point[chosen[0]].dist) chosen[0] = i;
    }
    return 1;
  }
  int four[4], kept = tb_manifold_choose(p->point, p->count, 4, four);
  if (kept == 4 && p->count > 4) {
    int more = tb_manifold_choose(p->point, p->count, TB_MAX_MANIFOLD, chosen);
    if (more > 4 && chosen_area(p, chosen, more) > 1.2 * chosen_area(p, four, kept)) return more;
  }
  memcpy(chosen, four, (size_t)kept * sizeof *four);
  return kept;
}

// The plane through the middle of the witness points; its corners are projected along n.
static void set_plane(Plane* p, const tbConvexPair* pair, const tbConvexResult* r,
                      const tbPatch* pa, const tbPatch* pb) {
  tb_copy3(p->n, r->normal);
  tb_copy3(p->m, r->normal);
  p->slanted = pa->kind == TB_PATCH_DISC || pb->kind == TB_PATCH_DISC;
  if (pa->kind == TB_PATCH_DISC) {
    tb_copy3(p->m, pa->normal);
  } else if (pb->kind == TB_PATCH_DISC) {
    tb_scale3(p->m, pb->normal, -1);
  }
  tb_frame_from_normal(p->m, p->e1, p->e2);
  p->lean = tb_dot3(p->m, p->n);
  p->tolerance = 1e-9 * pair->scale;
  p->least = r->dist;
  p->count = 0;
  for (int i = 0; i < 3; i++) p->origin[i] = 0.5 * (r->point_a[i] + r->point_b[i]);
}

// The corners of f against the edges of g, which is above f for sign 1.
static void nearest_corner(const Plane* p, const Flat* f, const Flat* g, tbReal sign, Place* best) {
  int n = g->patch->count;
  for (int i = 0; i < f->patch->count; i++) {
    for (int j = 0; j < n; j++) {
      int k = j + 1 < n ? j + 1 : 0;
      tbReal du = g->u[k] - g->u[j], dv = g->v[k] - g->v[j], length2 = du * du + dv * dv;
      tbReal u = f->u[i] - g->u[j], v = f->v[i] - g->v[j];
      tbReal t = length2 > 0 ? fmin(fmax((u * du + v * dv) / length2, 0), 1) : 0;
      tbReal h = g->h[j] + t * (g->h[k] - g->h[j]);
      u -= t * du;
      v -= t * dv;
      tbReal off = sqrt(u * u + v * v) + fabs(sign * (h - f->h[i]) - p->least);
      if (!(off < best->off)) continue;
      *best = (Place){f->u[i] - 0.5 * u, f->v[i] - 0.5 * v, 0.5 * (f->h[i] + h), off};
    }
  }
}

// The witness points, put at the heights that the normal measures. EPA's may lie beside each other;
// then a core that touches with one point knows better, or else the corners and edges of the
// patches. The lowest corner (-1: none) gives way where it is the same place, and leaves its
// identity.
static void add_witness(Plane* p, const tbConvexResult* r, const tbPatch* pa, const tbPatch* pb,
                        int lowest) {
  tbReal rest[3], x[3], u, v, h;
  tb_sub3(rest, r->point_b, r->point_a);
  tb_add_scaled3(rest, rest, -r->dist, r->normal);
  int off = tb_norm3(rest) > 0.1 * p->tolerance;
  if (off && pa->kind == TB_PATCH_POINT) {
    tb_add_scaled3(x, pa->point[0], 0.5 * r->dist, r->normal);
  } else if (off && pb->kind == TB_PATCH_POINT) {
    tb_add_scaled3(x, pb->point[0], -0.5 * r->dist, r->normal);
  } else {
    tb_copy3(x, p->origin);
  }
  project(p, x, &u, &v, &h);
  if (off && pa->kind != TB_PATCH_POINT && pb->kind != TB_PATCH_POINT) {
    Place best = {u, v, h, tb_norm3(rest)};
    if (p->lowest.off < best.off) best = p->lowest;
    nearest_corner(p, &p->a, &p->b, 1, &best);
    nearest_corner(p, &p->b, &p->a, -1, &best);
    u = best.u;
    v = best.v;
    h = best.h;
  }
  int count = p->count;
  // A core that touches with one point names the contact.
  uint32_t feature = TB_FEATURE(0, 0, 0);
  if (pa->kind == TB_PATCH_POINT) feature = TB_FEATURE(1, pa->id[0], 0);
  if (pb->kind == TB_PATCH_POINT) feature = TB_FEATURE(2, pb->id[0], 0);
  if (lowest >= 0) {
    tbReal du = u - p->point[lowest].u, dv = v - p->point[lowest].v, same = 1e3 * p->tolerance;
    if (du * du + dv * dv < same * same) {
      feature = p->feature[lowest];
      p->count = lowest;
    }
  }
  add(p, u, v, h - 0.5 * r->dist, h + 0.5 * r->dist, feature);
  if (p->count < count) p->count = count;
}

// Keep what is within the limit. Returns the deepest; there must be one, from the witness points if
// need be.
static int keep_within(Plane* p, tbReal limit, tbReal* deepest) {
  int kept = 0, lowest = 0;
  for (int i = 1; i < p->count; i++) {
    if (p->point[i].dist < p->point[lowest].dist) lowest = i;
  }
  // A corner that rounding moved along a nearly parallel edge: its gap is s(n). (A gap that is more
  // than rounding is a true one, and its points would leave the shapes.)
  tbReal more = p->count > 0 ? p->point[lowest].dist - p->least : 0;
  if (more > 0 && more <= p->tolerance && !p->terrain) {
    p->ha[lowest] += 0.5 * more;
    p->hb[lowest] -= 0.5 * more;
    p->point[lowest].dist = p->least;
  }
  p->lowest.off = INFINITY;
  if (p->count > 0) {
    const tbManifoldPoint* low = &p->point[lowest];
    p->lowest = (Place){low->u, low->v, 0.5 * (p->ha[lowest] + p->hb[lowest]), more};
  }
  lowest = 0;
  for (int i = 0; i < p->count; i++) {
    if (!(p->point[i].dist <= limit)) continue;
    if (p->point[i].dist < *deepest) lowest = kept;
    p->point[kept] = p->point[i];
    p->ha[kept] = p->ha[i];
    p->hb[kept] = p->hb[i];
    p->feature[kept] = p->feature[i];
    *deepest = fmin(*deepest, p->point[kept++].dist);
  }
  p->count = kept < MAX_CANDIDATES ? kept : MAX_CANDIDATES - 1;
  return lowest;
}

// `terrain` keeps every corner of the region, and no more than the region.
static int manifold(tbConvexPair* pair, const tbConvexResult* r, tbReal margin, int terrain,
                    tbContactPoint* out) {
  tbReal ra = pair->a.radius, rb = pair->b.radius, limit = margin + ra + rb;
  if (!(r->dist <= limit)) return 0;
  tbPatch pa, pb;
  Plane p;
  tbReal d[3];
  tb_patch_of(&pair->a, r->normal, &pa);
  tb_mul_mat3t_vec3(d, pair->mat, r->normal);
  tb_scale3(d, d, -1);
  tb_patch_of(&pair->b, d, &pb);
  tb_patch_move(&pb, pair->mat, pair->pos);
  set_plane(&p, pair, r, &pa, &pb);
  p.terrain = terrain;
  if (pa.kind != TB_PATCH_POINT && pb.kind != TB_PATCH_POINT) {
    flatten(&p, &pa, &p.a);
    flatten(&p, &pb, &p.b);
    intersect(&p);
  }
  tbReal deepest = INFINITY;
  int lowest = keep_within(&p, limit, &deepest);
  int single = pa.kind == TB_PATCH_POINT || pb.kind == TB_PATCH_POINT;
  // In a terrain what overlaps has no more than the region, but where that is one point which
  // rounding may leave out.
  bool witness = !terrain || single || r->dist > 0 || (r->certified && p.count == 0);
  if (!(deepest <= r->dist + p.tolerance) && witness) {
    add_witness(&p, r, &pa, &pb, p.count > 0 ? lowest : -1);
  }
  if (p.count == 0) return 0;

  int chosen[TB_TERRAIN_MANIFOLD], count = p.count;
  if (!terrain) {
    count = choose(&p, chosen);
  } else {
    if (count > TB_TERRAIN_MANIFOLD) count = TB_TERRAIN_MANIFOLD;
    for (int i = 0; i < count; i++) chosen[i] = i;
  }
  for (int i = 0; i < count; i++) {
    int k = chosen[i];
    tbReal pos[3], middle = 0.5 * (p.ha[k] + ra + p.hb[k] - rb);
    tb_add_scaled3(pos, p.origin, p.point[k].u, p.e1);
    tb_add_scaled3(pos, pos, p.point[k].v, p.e2);
    tb_add_scaled3(pos, pos, middle, p.n);
    tb_contact_set(&out[i], pos, p.n, p.point[k].dist - ra - rb, p.feature[k]);
  }
  bool edges = r->dist > 0 && pa.kind == TB_PATCH_POLYGON && pb.kind == TB_PATCH_POLYGON;
  if (!edges || terrain || isinf(margin) || !is_one_place(&p, STRETCH * pair->scale)) return count;
  return tb_stretch(&pa, &pb, r->normal, STRETCH * pair->scale, margin, out, count);
}

int tb_convex_manifold(tbConvexPair* pair, const tbConvexResult* r, tbReal margin,
                       tbContactPoint* out) {
  return manifold(pair, r, margin, 0, out);
}

int tb_convex_manifold_terrain(tbConvexPair* pair, const tbConvexResult* r, tbReal margin,
                               tbContactPoint* out) {
  return manifold(pair, r, margin, 1, out);
}
