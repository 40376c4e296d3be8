// Decides whether a local optimum of the separation is the global one. The sphere of directions is
// covered by triangles, and each is pruned by one point of b - a (docs/notebook/gjk.md, "The
// cover").
//
// For any point w of b - a, s(m) <= m.w. A triangle of directions is all m ~ sum of c_i m_i with
// c_i >= 0, and sum of c_i >= |sum of c_i m_i|; so if one w has m_i.w <= dist < 0 for its three
// corners, no m in it is better. Around the optimum, the extent of its own features bounds s, by
// more in some directions than in others.
#include <string.h>

#include "collide/convex/feature.h"

#define MAX_ASCENTS 2
#define SECTORS 6
#define MAX_DIRECTIONS 120
#define MAX_TRIANGLES 96
#define NO_MIDDLE 0xffff
// A direction that improves s by less, relative to the size of the pair, counts as equal.
#define TOLERANCE 1e-8
// Cosine of the angle from a corner up to which the bound by curved rims is used.
#define NEAR 0.6
// Cosine of the angle between the ring of directions and the normal.
#define RING 0
// A direction whose depth is at most this multiple may lead to another optimum.
#define RIVAL 1.2
// Number of angles up to which the bound by the optimum's features is tested.
#define LEVELS 9

typedef struct {
  tbReal m[3];
  tbReal w[3];  // the point of b - a lowest along m
  tbReal s;     // m.w
  bool away;    // b - a is symmetric around its centre and m.centre < 0: s(-m) > s(m)
  // For each core that is a cylinder: the tangent of its rim at the support point, and |m x z|.
  tbReal tangent[2][3], across[2];
} Direction;

// Another local optimum: no direction within this angle (cosine) of its normal is better.
typedef struct {
  tbReal normal[3], certified_cone;
} Cone;

typedef struct {
  tbConvexPair* pair;
  const tbConvexResult* optimum;
  Cone cone[MAX_ASCENTS];
  int cones, ascents;
  tbReal rival;      // run an ascent from directions with a larger s
  tbReal threshold;  // the value of s to be exceeded for a better direction
  bool symmetric;
  Direction direction[MAX_DIRECTIONS];
  uint16_t between[MAX_DIRECTIONS];  // the two directions whose midpoint this is, packed
  int count;
  int triangle[MAX_TRIANGLES][3];
  int open;
  int better;  // a direction with a larger s, or -1
} Certificate;

// The support point of a cylinder along e (in its frame), the tangent of its rim there, and |e x
// z|.
static tbReal rim_support(const tbCore* core, const tbReal e[3], tbReal point[3], tbReal t[3]) {
  tbReal across = sqrt(e[0] * e[0] + e[1] * e[1]), scale = across > 0 ? 1 / across : 0;
  tbReal x = scale * e[0], y = scale * e[1], r = core->size[0];
  tb_set3(point, r * x, r * y, copysign(core->size[2], e[2]));
  tb_set3(t, -y, x, 0);
  return across;
}

// The support points along m, and the rim tangents there.
static void find_support(Certificate* c, Direction* d) {
  tbConvexPair* pair = c->pair;
  tbReal e[3], p[3], t[3], a[3], b[3];
  pair->evaluations++;
  if (pair->a.kind == TB_CORE_CYLINDER) {
    d->across[0] = rim_support(&pair->a, d->m, a, d->tangent[0]);
  } else {
    tb_core_support(&pair->a, d->m, a);
  }
  tb_mul_mat3t_vec3(e, pair->mat, d->m);
  tb_scale3(e, e, -1);
  if (pair->b.kind == TB_CORE_CYLINDER) {
    d->across[1] = rim_support(&pair->b, e, p, t);
    tb_mul_mat3_vec3(d->tangent[1], pair->mat, t);
  } else {
    tb_core_support(&pair->b, e, p);
  }
  tb_pair_b_to_a(pair, p, b);
  tb_sub3(d->w, b, a);
  d->s = tb_dot3(d->m, d->w);
}

// Evaluates the new direction m, already stored in the next slot. False if it is better than the
// optimum, which ends the search.
static bool evaluate_direction(Certificate* c) {
  Direction* d = &c->direction[c->count];
  find_support(c, d);
  d->away = c->symmetric && tb_dot3(d->m, c->pair->pos) < 0;
  if (d->s > c->threshold) {
    c->better = c->count;
    return false;
  }
  c->count++;
  return true;
}

// The tangent direction along which the bound by the optimum's features is weakest.
static void find_weakest(const tbExtent* w, tbReal cosine, tbReal weak[2]) {
  tbReal m[3];
  tb_extent_within(w, cosine, m);
  tbReal h = 0.5 * (m[0] - m[2]), spread = sqrt(h * h + m[1] * m[1]);
  weak[0] = h > 0 ? -m[1] : spread - h;
  weak[1] = h > 0 ? h + spread : -m[1];
  tbReal length = sqrt(weak[0] * weak[0] + weak[1] * weak[1]);
  weak[0] = length > 0 ? weak[0] / length : 1;
  weak[1] = length > 0 ? weak[1] / length : 0;
}

// For each sector around the normal, the level (an angle) up to which the features bound s in all
// of its directions: docs/notebook/gjk.md eq. 12 with the minimum over the sector instead of the
// eigenvalue. The quadratic form is mean + h cos(2 phi) + k sin(2 phi).
static void find_levels(const tbConvexResult* o, const tbReal cosines[LEVELS], const tbReal weak[2],
                        int level[SECTORS / 2]) {
  static const tbReal thirds[SECTORS / 2 + 1][2] = {
      {1, 0}, {-0.5, 0.8660254037844386}, {-0.5, -0.8660254037844386}, {1, 0}};
  const tbExtent* w = &o->width;
  // Twice the angles of the sectors' ends; the first is at the weakest direction.
  tbReal ends[SECTORS / 2 + 1][2], x = weak[0] * weak[0] - weak[1] * weak[1];
  tbReal y = 2 * weak[0] * weak[1];
  for (int i = 0; i <= SECTORS / 2; i++) {
    ends[i][0] = thirds[i][0] * x - thirds[i][1] * y;
    ends[i][1] = thirds[i][1] * x + thirds[i][0] * y;
  }
  for (int i = 0; i < SECTORS / 2; i++) level[i] = LEVELS;
  for (int l = LEVELS - 1; l >= 0; l--) {
    tbReal m[3];
    tb_extent_within(w, cosines[l], m);
    tbReal mean = 0.5 * (m[0] + m[2]) + w->ball + o->dist, h = 0.5 * (m[0] - m[2]), k = m[1];
    tbReal spread = sqrt(h * h + k * k);
    for (int i = 0; i < SECTORS / 2; i++) {
      const tbReal *from = ends[i], *to = ends[i + 1];
      tbReal first = h * from[0] + k * from[1], last = h * to[0] + k * to[1];
      // The minimum of the quadratic form is in this sector, or else at one of its ends.
      bool inside = k * from[0] <= h * from[1] && h * to[1] <= k * to[0];
      tbReal least = inside ? -spread : (first < last ? first : last);
      if (level[i] == l + 1 && mean + least >= 0) level[i] = l;
    }
  }
}

// Evaluates the direction at an angle (its cosine) from the normal, towards u in the tangent plane.
static bool evaluate_at_angle(Certificate* c, tbReal cosine, const tbReal t[2][3],
                              const tbReal u[2]) {
  const tbReal* n = c->optimum->normal;
  tbReal sine = sqrt(1 - cosine * cosine), *m = c->direction[c->count].m;
  for (int i = 0; i < 3; i++) m[i] = cosine * n[i] + sine * (u[0] * t[0][i] + u[1] * t[1][i]);
  c->between[c->count] = NO_MIDDLE;
  return evaluate_direction(c);
}

static void open_triangle(Certificate* c, int x, int y, int z) {
  int* t = c->triangle[c->open++];
  t[0] = x;
  t[1] = y;
  t[2] = z;
}

// The initial triangles: from the certified angle of each sector to a ring about a right angle from
// the normal, and from there to the opposite of the normal.
static bool start_triangles(Certificate* c) {
  static const tbReal cosines[LEVELS] = {0, 0.4, 0.7, 0.85, 0.94, 0.98, 0.995, 0.999, 0.9998};
  static const tbReal around[SECTORS][2] = {
      {1, 0},  {0.5, 0.8660254037844386},   {-0.5, 0.8660254037844386},
      {-1, 0}, {-0.5, -0.8660254037844386}, {0.5, -0.8660254037844386}};
  tbReal t[2][3], t1[3], t2[3], weak[2];
  int level[SECTORS / 2];
  find_weakest(&c->optimum->width, cosines[LEVELS - 1], weak);
  find_levels(c->optimum, cosines, weak, level);
  for (int k = 0; k < SECTORS / 2; k++) {
    if (level[k] == LEVELS) return false;
  }
  tb_frame_from_normal(c->optimum->normal, t1, t2);
  for (int i = 0; i < 3; i++) {
    t[0][i] = weak[0] * t1[i] + weak[1] * t2[i];
    t[1][i] = weak[0] * t2[i] - weak[1] * t1[i];
  }
  for (int k = 0; k < SECTORS; k++) {
    if (!evaluate_at_angle(c, RING, t, around[k])) return false;
  }
  // If all directions of the ring are `away`, everything beyond the ring is pruned.
  bool beyond = false;
  for (int k = 0; k < SECTORS; k++) beyond |= !c->direction[k].away;
  if (beyond) {
    tb_scale3(c->direction[SECTORS].m, c->optimum->normal, -1);
    c->between[SECTORS] = NO_MIDDLE;
    if (!evaluate_direction(c)) return false;
  }
  // A corner belongs to the sectors on both sides, so the smaller of their angles is used.
  int first = c->count;
  for (int k = 0; k < SECTORS; k++) {
    int here = level[k % (SECTORS / 2)], before = level[(k + SECTORS - 1) % (SECTORS / 2)];
    tbReal cosine = cosines[here > before ? here : before];
    if (!evaluate_at_angle(c, cosine, t, around[k])) return false;
  }
  for (int k = 0; k < SECTORS; k++) {
    int next = k + 1 < SECTORS ? k + 1 : 0;
    if (beyond) open_triangle(c, k, next, SECTORS);
    open_triangle(c, first + next, k, next);
    open_triangle(c, first + k, first + next, k);
  }
  return true;
}

// Whether one point prunes the triangle. Written without branches, which would be unpredictable.
// The point of a corner need not be tested at that corner.
static bool is_proven(const Certificate* c, const int t[3]) {
  const Direction *x = &c->direction[t[0]], *y = &c->direction[t[1]], *z = &c->direction[t[2]];
  tbReal most = c->threshold;
  tbReal xy = tb_dot3(y->m, x->w), xz = tb_dot3(z->m, x->w), yx = tb_dot3(x->m, y->w);
  tbReal yz = tb_dot3(z->m, y->w), zx = tb_dot3(x->m, z->w), zy = tb_dot3(y->m, z->w);
  bool by_x = (xy <= most) & (xz <= most), by_y = (yx <= most) & (yz <= most);
  bool by_z = (zx <= most) & (zy <= most);
  return by_x | by_y | by_z | (x->away & y->away & z->away);
}

// The maximum of q + g t - a t^2 / 2 over 0 <= t <= 1.
static tbReal top_of_edge(tbReal q, tbReal g, tbReal a) {
  tbReal t = a > 0 ? g / a : (g > 0.5 * a ? 1.0 : 0.0);
  t = t > 0 ? (t < 1 ? t : 1) : 0;
  return q + (g - 0.5 * a * t) * t;
}

// The same bound with the curvature of the rims around the direction d: m ~ d + x in the plane
// normal to d has
//   s(m) |d + x| <= s + w.x - sum of r_k (t_k.x)^2 / (2 max |(d + x) x z_k|),
// where the max is attained at a corner, and the bound must not exceed dist |d + x| <= dist (1 +
// x.x / 2).
static bool is_proven_by_rims(const Certificate* c, const Direction* d, const Direction* y,
                              const Direction* z) {
  const tbConvexPair* pair = c->pair;
  tbReal cy = tb_dot3(d->m, y->m), cz = tb_dot3(d->m, z->m), u[3], v[3];
  if (!(cy > NEAR && cz > NEAR)) return false;
  for (int i = 0; i < 3; i++) {
    u[i] = y->m[i] / cy - d->m[i];
    v[i] = z->m[i] / cz - d->m[i];
  }
  tbReal depth = -c->threshold, q = d->s + depth;
  tbReal gu = tb_dot3(d->w, u), gv = tb_dot3(d->w, v);
  tbReal uu = -depth * tb_dot3(u, u), uv = -depth * tb_dot3(u, v), vv = -depth * tb_dot3(v, v);
  for (int k = 0; k < 2; k++) {
    const tbCore* core = k ? &pair->b : &pair->a;
    if (core->kind != TB_CORE_CYLINDER) continue;
    tbReal at_y = y->across[k] / cy, at_z = z->across[k] / cz, most = d->across[k];
    most = at_y > most ? at_y : most;
    most = at_z > most ? at_z : most;
    tbReal bend = most > 0 ? core->size[0] / most : 0;
    tbReal tu = tb_dot3(d->tangent[k], u), tv = tb_dot3(d->tangent[k], v);
    uu += bend * tu * tu;
    uv += bend * tu * tv;
    vv += bend * tv * tv;
  }
  // The maximum over the triangle, on its sides or inside.
  if (top_of_edge(q, gu, uu) > 0 || top_of_edge(q, gv, vv) > 0) return false;
  tbReal at_u = q + gu - 0.5 * uu, slope = (gv - gu) + uu - uv;
  if (top_of_edge(at_u, slope, uu - 2 * uv + vv) > 0) return false;
  tbReal determinant = uu * vv - uv * uv;
  if (!(uu > 0 && determinant > 0)) return true;
  tbReal a = vv * gu - uv * gv, b = uu * gv - uv * gu;
  if (!(a > 0 && b > 0 && a + b < determinant)) return true;
  return q * determinant + 0.5 * (a * gu + b * gv) <= 0;
}

// Tests the rim bound from the corner with the largest s; the other corners rarely prove more.
static bool is_proven_from_best_corner(const Certificate* c, const int t[3]) {
  const Direction* d = c->direction;
  int first = d[t[0]].s >= d[t[1]].s ? 0 : 1;
  if (d[t[2]].s > d[t[first]].s) first = 2;
  int y = first < 2 ? first + 1 : 0, z = 3 - first - y;
  return is_proven_by_rims(c, &d[t[first]], &d[t[y]], &d[t[z]]);
}

static bool is_in_cone(const Certificate* c, const int t[3]) {
  for (int k = 0; k < c->cones; k++) {
    const Cone* cone = &c->cone[k];
    if (tb_dot3(c->direction[t[0]].m, cone->normal) >= cone->certified_cone &&
        tb_dot3(c->direction[t[1]].m, cone->normal) >= cone->certified_cone &&
        tb_dot3(c->direction[t[2]].m, cone->normal) >= cone->certified_cone) {
      return true;
    }
  }
  return false;
}

// If s at the last direction is close to the optimum, runs an ascent from there, which may lead to
// another optimum. False if that is better.
static bool ascend_from_last(Certificate* c) {
  Direction* last = &c->direction[c->count - 1];
  tbReal s = last->s;
  if (c->ascents == MAX_ASCENTS || !(s > c->rival)) return true;
  for (int k = 0; k < c->cones; k++) {
    if (tb_dot3(last->m, c->cone[k].normal) >= c->cone[k].certified_cone) return true;
  }
  tbConvexResult top;
  top.dist = -INFINITY;
  tb_copy3(top.normal, last->m);
  tbAscent ascent = tb_normal_ascent(c->pair, INFINITY, &top);
  c->ascents++;
  c->rival = 0.5 * (s + c->threshold);
  bool known = tb_dot3(top.normal, c->optimum->normal) > 1 - 1e-9;
  if (ascent < TB_ASCENT_LOCAL || known) return true;
  if (top.dist > c->threshold) {
    tb_copy3(last->m, top.normal);
    c->better = c->count - 1;
    return false;
  }
  Cone* cone = &c->cone[c->cones++];
  tb_copy3(cone->normal, top.normal);
  cone->certified_cone = ascent == TB_ASCENT_GLOBAL ? -1 : top.certified_cone;
  return true;
}

// Index of the midpoint of two directions, which the triangle across that side may have evaluated
// before; -1 if it ends the search.
static int middle_of(Certificate* c, int from, int to) {
  uint16_t key = (uint16_t)(from < to ? from << 8 | to : to << 8 | from);
  int known = -1;
  for (int i = 0; i < c->count; i++) known = c->between[i] == key ? i : known;
  if (known >= 0) return known;
  if (c->count == MAX_DIRECTIONS) return -1;
  tbReal* m = c->direction[c->count].m;
  tb_add3(m, c->direction[from].m, c->direction[to].m);
  tb_normalize3(m);
  c->between[c->count] = key;
  return evaluate_direction(c) && ascend_from_last(c) ? c->count - 1 : -1;
}

// Bisects a triangle at the midpoint of its longest side.
static bool bisect(Certificate* c, const int t[3]) {
  if (c->open + 2 > MAX_TRIANGLES) return false;
  int longest = 0;
  tbReal least = 2;
  for (int i = 0; i < 3; i++) {
    tbReal cosine = tb_dot3(c->direction[t[i]].m, c->direction[t[i < 2 ? i + 1 : 0]].m);
    if (cosine < least) longest = i;
    least = cosine < least ? cosine : least;
  }
  int from = t[longest], to = t[(longest + 1) % 3], third = t[(longest + 2) % 3];
  int middle = middle_of(c, from, to);
  if (middle < 0) return false;
  int corners[2][3] = {{from, middle, third}, {middle, to, third}};
  memcpy(c->triangle[c->open], corners, sizeof corners);
  c->open += 2;
  return true;
}

static bool is_symmetric(const tbCore* core) {
  return core->kind != TB_CORE_HULL && core->kind != TB_CORE_PRISM;
}

tbDepthCertificate tb_depth_certificate(tbConvexPair* pair, tbConvexResult* r) {
  if (pair->a.kind == TB_CORE_CYLINDER && pair->b.kind == TB_CORE_CYLINDER) {
    tbDepthCertificate known = tb_cylinder_certificate(pair, r);
    if (known != TB_COVER_OPEN) return known;
  }
  Certificate c;
  c.pair = pair;
  c.optimum = r;
  c.threshold = r->dist + TOLERANCE * pair->scale;
  c.count = c.open = 0;
  c.symmetric = is_symmetric(&pair->a) && is_symmetric(&pair->b);
  c.better = -1;
  c.cones = c.ascents = 0;
  c.rival = RIVAL * r->dist;
  bool searching = start_triangles(&c);
  while (searching && c.open > 0) {
    int t[3] = {c.triangle[c.open - 1][0], c.triangle[c.open - 1][1], c.triangle[c.open - 1][2]};
    c.open--;
    if (is_proven(&c, t) || is_in_cone(&c, t) || is_proven_from_best_corner(&c, t)) continue;
    searching = bisect(&c, t);
  }
  if (searching) return TB_COVER_PROVEN;
  if (c.better < 0) return TB_COVER_OPEN;
  tb_copy3(r->normal, c.direction[c.better].m);
  return TB_COVER_BETTER;
}
