// The climb to the best normal: Newton's method on the separation s(n) over the unit sphere, with
// the features that touch changed on the way (docs/gjk.md eq. 6-9 and "The climb").
//
// s is smooth where the features stay the same and has kinks where they change. A step ends at the
// first kink on its way; there the climb crosses if s still rises beyond, and stays on the kink (an
// edge instead of a vertex, a face instead of an edge) if not. Where it ends, witness points that
// slide out of their feature release it. No support point is searched on the way.
#include "base/minmax.h"
#include "collide/convex/feature.h"

#define MAX_STEPS 40
#define MAX_STEP 0.5
// How far witness points may be off their features, relative to the size of the pair.
#define CERTIFIED 1e-10
// A slope below this, relative to the size of the pair, is none.
#define LEVEL 1e-10
// A curvature below this says nothing about a slope that is none.
#define WEAK 1e-7
// A side that leans less than this against a face lies on it.
#define LYING 1e-7
// How often the last two cosines that the features are tried for are halved.
#define HALVINGS 4

typedef struct {
  tbConvexPair* pair;
  tbFeature touch[2];
  tbReal n[3], n_b[3];  // the normal from a to b; what b looks along, in its frame
  tbReal t1[3], t2[3];  // tangents that n is free along
  int freedom;          // how many of them
  tbReal line[2][3];    // edges of the features in a's frame
  tbReal axis[3];       // what n stays perpendicular to, where freedom is 1
  tbReal point[2][3];   // support points in a's frame
  tbReal q[3];          // second derivatives of both support functions
  tbReal s;
  int crossed, left;  // the core that crossed a kink in the last step, the vertex it left
  bool plain;         // the last step met no kink
} Climb;

typedef enum { SETTLED, RELEASED, FAILED } Settling;

static bool is_face(const tbFeature* t) {
  return t->kind == TB_TOUCH_FACE || t->kind == TB_TOUCH_CAP;
}

static bool is_line(const tbFeature* t) {
  return t->kind == TB_TOUCH_EDGE || t->kind == TB_TOUCH_SIDE;
}

static bool is_smooth(const tbFeature* t) {
  return t->kind == TB_TOUCH_ELLIPSOID || t->kind == TB_TOUCH_RIM || t->kind == TB_TOUCH_SIDE;
}

static void look_from_b(Climb* c) {
  tb_mul_mat3t_vec3(c->n_b, c->pair->mat, c->n);
  tb_scale3(c->n_b, c->n_b, -1);
}

static void to_b(const Climb* c, const tbReal x[3], tbReal out[3]) {
  tbReal arm[3];
  tb_sub3(arm, x, c->pair->pos);
  tb_mul_mat3t_vec3(out, c->pair->mat, arm);
}

// What the features leave free, and n where they leave nothing. False for lines without length.
static bool set_freedom(Climb* c) {
  const tbFeature *a = &c->touch[0], *b = &c->touch[1];
  c->freedom = 0;
  if (is_face(a)) {
    tb_copy3(c->n, a->normal);
    look_from_b(c);
    if (is_line(b)) tb_mul_mat3_vec3(c->line[1], c->pair->mat, b->edge);
    return true;
  }
  if (is_line(a)) tb_copy3(c->line[0], a->edge);
  if (is_face(b)) {
    tb_mul_mat3_vec3(c->n, c->pair->mat, b->normal);
    tb_scale3(c->n, c->n, -1);
    tb_scale3(c->n_b, b->normal, 1);
    return true;
  }
  if (is_line(b)) tb_mul_mat3_vec3(c->line[1], c->pair->mat, b->edge);
  c->freedom = 2;
  if (!is_line(a) && !is_line(b)) {
    tb_frame_from_normal(c->n, c->t1, c->t2);
    return true;
  }
  // On the great circle across one line, or at its crossing with that of the other.
  tb_copy3(c->axis, c->line[is_line(a) ? 0 : 1]);
  if (!(tb_normalize3(c->axis) > 0)) return false;
  c->freedom = 1;
  if (is_line(a) && is_line(b)) {
    tbReal cross[3], length_b = tb_norm3(c->line[1]);
    tb_cross(cross, c->axis, c->line[1]);
    tbReal sine = tb_norm3(cross);
    if (!(length_b > 0)) return false;
    if (sine > 1e-7 * length_b) {
      tb_scale3(c->n, cross, (tb_dot3(cross, c->n) < 0 ? -1 : 1) / sine);
      c->freedom = 0;
      look_from_b(c);
      return true;
    }
  }
  tb_add_scaled3(c->n, c->n, -tb_dot3(c->n, c->axis), c->axis);
  tb_normalize3(c->n);
  tb_cross(c->t1, c->axis, c->n);
  tb_copy3(c->t2, c->axis);
  look_from_b(c);
  return true;
}

static bool evaluate(Climb* c) {
  tbReal qa[3], qb[3], t1[3] = {0}, t2[3] = {0};
  const tbReal* R = c->pair->mat;
  if (!tb_feature_support(&c->pair->a, &c->touch[0], c->n, c->t1, c->t2, qa)) return false;
  if (is_smooth(&c->touch[1])) {
    tb_mul_mat3t_vec3(t1, R, c->t1);
    tb_mul_mat3t_vec3(t2, R, c->t2);
  }
  if (!tb_feature_support(&c->pair->b, &c->touch[1], c->n_b, t1, t2, qb)) return false;
  tb_copy3(c->point[0], c->touch[0].point);
  tb_pair_b_to_a(c->pair, c->touch[1].point, c->point[1]);
  tb_add3(c->q, qa, qb);
  tbReal g[3];
  tb_sub3(g, c->point[1], c->point[0]);
  c->s = tb_dot3(c->n, g);
  return true;
}

// Newton's step along a direction of curvature, or a long one uphill where s has no maximum. Where
// it has no slope and hardly a curvature (every normal of a cone is as good, but for rounding: a
// corner on the axis of a round core) there is nowhere to go.
static tbReal step_along(const Climb* c, tbReal gradient, tbReal curvature) {
  tbReal scale = c->pair->scale;
  if (curvature <= WEAK * scale && fabs(gradient) <= LEVEL * scale) return 0;
  if (!(curvature > 0)) return copysign(MAX_STEP, gradient);
  return tb_min(tb_max(gradient / curvature, -MAX_STEP), MAX_STEP);
}

// The step in the tangents, by the two directions in which the curvature (Q + s I) is extreme.
static void newton_step(const Climb* c, tbReal g1, tbReal g2, tbReal dd[3]) {
  tbReal k11 = c->q[0] + c->s, k12 = c->q[1], k22 = c->q[2] + c->s, x = 0, y = 0;
  tbReal determinant = k11 * k22 - k12 * k12;
  if (c->freedom == 1) {
    x = step_along(c, g1, k11);
  } else if (k11 > 0 && determinant > WEAK * c->pair->scale * (k11 + k22)) {
    x = (k22 * g1 - k12 * g2) / determinant;
    y = (k11 * g2 - k12 * g1) / determinant;
    tbReal length2 = x * x + y * y;
    if (length2 > MAX_STEP * MAX_STEP) {
      tbReal shrink = MAX_STEP / sqrt(length2);
      x *= shrink;
      y *= shrink;
    }
  } else {
    tbReal mean = 0.5 * (k11 + k22), half = 0.5 * (k11 - k22);
    tbReal spread = sqrt(half * half + k12 * k12), u = half + spread, v = k12;
    if (half < 0) {
      u = k12;
      v = spread - half;
    }
    tbReal length = sqrt(u * u + v * v);
    u = length > 0 ? u / length : 1;
    v = length > 0 ? v / length : 0;
    tbReal most = step_along(c, u * g1 + v * g2, mean + spread);
    tbReal least = step_along(c, u * g2 - v * g1, mean - spread);
    x = u * most - v * least;
    y = v * most + u * least;
  }
  for (int i = 0; i < 3; i++) dd[i] = x * c->t1[i] + y * c->t2[i];
}

// At a kink: does s still rise along dd with the feature beyond it?
static bool rises_beyond(const Climb* c, const tbFeatureBorder* border, const tbFeature* beyond,
                         const tbReal dd[3]) {
  tbReal g[3], p[3], q[3];
  tbFeature at = *beyond;
  const tbCore* core = border->which ? &c->pair->b : &c->pair->a;
  static const tbReal none[3] = {0, 0, 0};
  if (!tb_feature_support(core, &at, border->which ? c->n_b : c->n, none, none, q)) return false;
  if (border->which) {
    tb_pair_b_to_a(c->pair, at.point, p);
    tb_sub3(g, p, c->point[0]);
  } else {
    tb_sub3(g, c->point[1], at.point);
  }
  return tb_dot3(g, dd) > 0;
}

// The step that leads from a rim past the pole: on the cap, if what is there is over it.
static bool is_over_cap(Climb* c, int which) {
  tbCore* core = which ? &c->pair->b : &c->pair->a;
  tbReal axis[3], d[3], p[3], x[3], up = c->touch[which].vert[0] ? 1 : -1;
  if (which) {
    for (int i = 0; i < 3; i++) d[i] = -up * c->pair->mat[3 * i + 2];
    tb_core_support(&c->pair->a, d, p);
    to_b(c, p, x);
  } else {
    tb_set3(axis, 0, 0, -up);
    tb_mul_mat3t_vec3(d, c->pair->mat, axis);
    tb_core_support(&c->pair->b, d, p);
    tb_pair_b_to_a(c->pair, p, x);
  }
  return x[0] * x[0] + x[1] * x[1] <= core->size[0] * core->size[0];
}

static void find_border(const Climb* c, const tbReal dd[3], tbFeatureBorder* border) {
  tbReal dd_b[3];
  border->t = 1;
  border->which = -1;
  tb_feature_border(&c->pair->a, &c->touch[0], 0, c->n, dd, border);
  tb_mul_mat3t_vec3(dd_b, c->pair->mat, dd);
  tb_scale3(dd_b, dd_b, -1);
  tb_feature_border(&c->pair->b, &c->touch[1], 1, c->n_b, dd_b, border);
}

static bool is_pole(const Climb* c, const tbFeatureBorder* border) {
  return border->which >= 0 && c->touch[border->which].kind == TB_TOUCH_RIM && border->vert == 1;
}

// Go along dd to its end or the first kink, and change the feature there.
static bool advance(Climb* c, tbReal dd[3]) {
  tbFeatureBorder border;
  find_border(c, dd, &border);
  if (is_pole(c, &border) && !is_over_cap(c, border.which)) {
    for (int tries = 0; tries < 6 && is_pole(c, &border); tries++) {
      tb_scale3(dd, dd, 0.5);
      find_border(c, dd, &border);
    }
  }
  tb_add_scaled3(c->n, c->n, border.t, dd);
  tb_normalize3(c->n);
  look_from_b(c);
  int crossed = c->crossed, left = c->left;
  c->crossed = -1;
  c->plain = border.which < 0;
  if (c->plain) return true;
  tbFeature* touch = &c->touch[border.which];
  tbCore* core = border.which ? &c->pair->b : &c->pair->a;
  const tbReal* d = border.which ? c->n_b : c->n;
  bool pole = is_pole(c, &border);
  // Straight back over the kink that was just crossed: both sides rise towards it.
  bool back = border.which == crossed && border.t < 1e-9 &&
              (touch->kind == TB_TOUCH_RIM || border.vert == left);
  if (touch->kind != TB_TOUCH_EDGE && !pole && !back) {
    tbFeature beyond;
    tb_feature_next(core, touch, &border, &beyond);
    if (rises_beyond(c, &border, &beyond, dd)) {
      c->crossed = border.which;
      c->left = touch->vert[0];
      *touch = beyond;
      return true;
    }
  }
  if (!tb_feature_holds(core, &border, d, touch)) return false;
  // From a rim to the middle of its cap is a jump: the other core starts anew there.
  if (pole) {
    if (!set_freedom(c)) return false;
    tb_feature_at(border.which ? &c->pair->a : &c->pair->b, border.which ? c->n : c->n_b,
                  &c->touch[1 - border.which]);
  }
  return true;
}

// The rim of a cylinder that lies on the face but for rounding: somewhere along its side, from the
// rim's point x (in the frame of the face's core) to the other rim. Sets both witness points.
static bool lies_on_face(Climb* c, int face, const tbFeature* f, const tbReal x[3]) {
  int other = 1 - face;
  const tbCore* core = other ? &c->pair->b : &c->pair->a;
  const tbReal* d = other ? c->n_b : c->n;
  if (c->touch[other].kind != TB_TOUCH_RIM || !(fabs(d[2]) <= LYING)) return false;
  tbReal along[3] = {0, 0, c->touch[other].vert[0] ? -2 * core->size[2] : 2 * core->size[2]};
  tbReal way[3], e[3], middle;
  tb_copy3(way, along);
  if (other) tb_mul_mat3_vec3(way, c->pair->mat, along);
  tb_copy3(e, way);
  if (face) tb_mul_mat3t_vec3(e, c->pair->mat, way);
  if (!tb_feature_over_face(face ? &c->pair->b : &c->pair->a, f, x, e, &middle)) return false;
  tb_add_scaled3(c->point[other], c->point[other], middle, way);
  tb_add_scaled3(c->point[face], c->point[other], (face ? 1 : -1) * c->s, c->n);
  return true;
}

// A face and what is over it.
static Settling settle_face(Climb* c, int face) {
  int other = 1 - face;
  tbCore* core = face ? &c->pair->b : &c->pair->a;
  tbFeature *f = &c->touch[face], *t = &c->touch[other];
  tbReal sign = face ? 1 : -1, x[3], e[3], middle = 0, slack = CERTIFIED * c->pair->scale;
  if (is_face(t)) return FAILED;
  // The other's point, moved along n into the plane of the face.
  tb_add_scaled3(x, c->point[other], sign * c->s, c->n);
  if (is_line(t)) {
    tb_copy3(e, c->line[other]);
    if (face) {
      to_b(c, x, x);
      tb_mul_mat3t_vec3(e, c->pair->mat, c->line[other]);
    }
    if (!tb_feature_over_face(core, f, x, e, &middle)) return FAILED;
    tb_add_scaled3(c->point[other], c->point[other], middle, c->line[other]);
  } else {
    tbReal local[3];
    tb_copy3(local, x);
    if (face) to_b(c, x, local);
    tbFeature flat = *f;
    if (!tb_feature_in_face(core, local, slack, f)) {
      if (!lies_on_face(c, face, &flat, local)) return is_face(f) ? FAILED : RELEASED;
      *f = flat;
      return SETTLED;
    }
  }
  tb_add_scaled3(c->point[face], c->point[other], sign * c->s, c->n);
  return SETTLED;
}

static Settling release(Climb* c, int which, int end) {
  tb_feature_release_edge(which ? &c->pair->b : &c->pair->a, end, &c->touch[which]);
  return RELEASED;
}

// One line and a point: the point's foot on the line.
static Settling settle_line(Climb* c, int which) {
  const tbReal* e = c->line[which];
  tbReal arm[3], slack = CERTIFIED * c->pair->scale, length2 = tb_dot3(e, e);
  tb_sub3(arm, c->point[1 - which], c->point[which]);
  tbReal t = tb_dot3(arm, e) / length2, beyond = slack / sqrt(length2);
  if (t < -beyond) return release(c, which, 0);
  if (t > 1 + beyond) return release(c, which, 1);
  tb_add_scaled3(c->point[which], c->point[which], t, e);
  return SETTLED;
}

// Two parallel lines: the middle of where they run side by side.
static Settling settle_parallel(Climb* c) {
  const tbReal *ea = c->line[0], *eb = c->line[1];
  tbReal g[3], aa = tb_dot3(ea, ea), bb = tb_dot3(eb, eb);
  tb_sub3(g, c->point[1], c->point[0]);
  tbReal from = tb_dot3(g, ea) / aa, to = from + tb_dot3(eb, ea) / aa;
  tbReal low = tb_max(tb_min(from, to), 0), high = tb_min(tb_max(from, to), 1);
  if (low > high) return release(c, 0, low > 1);
  tb_add_scaled3(c->point[0], c->point[0], 0.5 * (low + high), ea);
  tb_sub3(g, c->point[0], c->point[1]);
  tb_add_scaled3(c->point[1], c->point[1], tb_dot3(g, eb) / bb, eb);
  return SETTLED;
}

// Two lines that cross.
static Settling settle_lines(Climb* c) {
  const tbReal *ea = c->line[0], *eb = c->line[1];
  tbReal g[3], slack = CERTIFIED * c->pair->scale;
  tb_sub3(g, c->point[1], c->point[0]);
  tbReal aa = tb_dot3(ea, ea), bb = tb_dot3(eb, eb), ab = tb_dot3(ea, eb);
  tbReal ga = tb_dot3(g, ea), gb = tb_dot3(g, eb), determinant = aa * bb - ab * ab;
  if (c->freedom == 1 || !(determinant > 0)) return settle_parallel(c);
  tbReal t = (ga * bb - gb * ab) / determinant, u = (ga * ab - gb * aa) / determinant;
  tbReal out_a = tb_max(-t, t - 1) * sqrt(aa), out_b = tb_max(-u, u - 1) * sqrt(bb);
  if (out_a > slack && out_a >= out_b) return release(c, 0, t > 1);
  if (out_b > slack) return release(c, 1, u > 1);
  tb_add_scaled3(c->point[0], c->point[0], t, ea);
  tb_add_scaled3(c->point[1], c->point[1], u, eb);
  return SETTLED;
}

// Slide the witness points within their features until b - a is along n.
static Settling settle(Climb* c) {
  const tbFeature *a = &c->touch[0], *b = &c->touch[1];
  if (is_face(a)) return settle_face(c, 0);
  if (is_face(b)) return settle_face(c, 1);
  if (is_line(a) && is_line(b)) return settle_lines(c);
  if (is_line(a)) return settle_line(c, 0);
  if (is_line(b)) return settle_line(c, 1);
  return SETTLED;
}

// What a core adds to the width, in the tangents (docs/gjk.md eq. 11).
static void add_width(const Climb* c, int which, tbWidth* w) {
  tbFeatureExtent width;
  tbReal x[3], d[3];
  tb_copy3(x, c->point[which]);
  if (which) to_b(c, c->point[1], x);
  tb_feature_extent(which ? &c->pair->b : &c->pair->a, &c->touch[which], x, &width);
  w->flat[0] += width.inset;
  w->flat[2] += width.inset;
  w->ball += width.ball;
  const tbReal* n = which ? c->n_b : c->n;
  w->lean[which] = tb_min(sqrt(n[0] * n[0] + n[1] * n[1]), 1);
  for (int k = 0; k < width.count; k++) {
    tb_copy3(d, width.direction[k]);
    if (which) tb_mul_mat3_vec3(d, c->pair->mat, width.direction[k]);
    tbReal u = tb_dot3(d, c->t1), v = tb_dot3(d, c->t2);
    tbReal* m = width.round[k] ? w->round[which] : w->flat;
    m[0] += width.extent[k] * u * u;
    m[1] += width.extent[k] * u * v;
    m[2] += width.extent[k] * v * v;
  }
}

// The depth up to which the features hold b - a away from the origin in all directions within an
// angle of the normal.
static tbReal held_within(const tbWidth* w, tbReal cosine) {
  tbReal m[3];
  tb_width_within(w, cosine, m);
  tbReal mean = 0.5 * (m[0] + m[2]), half = 0.5 * (m[0] - m[2]);
  return w->ball + mean - sqrt(half * half + m[1] * m[1]);
}

// Beyond an angle from the normal a ball inside b - a holds it away (docs/gjk.md eq. 10): its
// cosine, or 2 where the ball does so everywhere.
static tbReal cosine_of_ball(const Climb* c) {
  tbReal depth = -c->s, x[3], y[3], center[3], down[3];
  tbReal ball = tb_feature_ball(&c->pair->a, c->point[0], center);
  to_b(c, c->point[1], x);
  ball += tb_feature_ball(&c->pair->b, x, y);
  tb_pair_b_to_a(c->pair, y, x);
  tb_sub3(down, x, center);
  tbReal far = tb_norm3(down), reach = ball - depth;
  if (reach >= far) return 2;
  tbReal lean = tb_max(tb_min(tb_dot3(down, c->n) / far, 1), -1), hold = tb_max(reach / far, -1);
  // The sum of two angles, of which half a turn is the most.
  tbReal lean_sine = sqrt(1 - lean * lean), hold_sine = sqrt(1 - hold * hold);
  return lean_sine * hold + lean * hold_sine > 0 ? lean * hold - lean_sine * hold_sine : -1;
}

// Is the local maximum the deepest of all? Near the normal the features themselves hold b - a away
// from the origin, beyond some angle a ball inside of it does. Sufficient, not necessary; where it
// fails `basin` tells how near is near (a cosine; none: 2), by the `width` of the features.
static bool is_global(Climb* c, tbReal* basin, tbWidth* width) {
  static const tbReal cosines[] = {0.3, 0.7, 0.9, 0.97, 0.99, 0.997, 0.999, 0.9998, 0.99998};
  tbReal depth = -c->s, beyond = cosine_of_ball(c);
  if (beyond > 1) return true;
  tbWidth w = {.ball = 0};
  tb_frame_from_normal(c->n, c->t1, c->t2);
  add_width(c, 0, &w);
  add_width(c, 1, &w);
  if (held_within(&w, beyond) >= depth) return true;
  *basin = 2;
  *width = w;
  size_t i = 0, count = sizeof cosines / sizeof cosines[0];
  tbReal outside = cosines[0];
  while (i < count && !(held_within(&w, cosines[i]) >= depth)) outside = cosines[i++];
  if (i == count) return false;
  *basin = cosines[i];
  for (int k = 0; k < HALVINGS && i > 0; k++) {
    tbReal middle = 0.5 * (*basin + outside);
    if (held_within(&w, middle) >= depth) {
      *basin = middle;
    } else {
      outside = middle;
    }
  }
  return false;
}

// Where the climb ended, measured by true support points, so that a wrong feature cannot fake it.
static tbAscent finish(Climb* c, tbConvexResult* r) {
  tbSupportPoint at;
  tbReal rest[3], slack = CERTIFIED * c->pair->scale;
  tbReal s = tb_pair_separation(c->pair, c->n, &at);
  tb_sub3(rest, c->point[1], c->point[0]);
  tb_add_scaled3(rest, rest, -s, c->n);
  bool certified = fabs(s - c->s) <= slack && tb_norm3(rest) <= slack;
  if (!certified) {
    if (s > r->dist) {
      r->dist = s;
      tb_copy3(r->normal, c->n);
      tb_copy3(r->point_a, c->point[0]);
      tb_copy3(r->point_b, c->point[1]);
    }
    return TB_ASCENT_OPEN;
  }
  r->dist = s;
  tb_copy3(r->normal, c->n);
  tb_copy3(r->point_a, c->point[0]);
  tb_copy3(r->point_b, c->point[1]);
  return s > 0 || is_global(c, &r->basin, &r->width) ? TB_ASCENT_GLOBAL : TB_ASCENT_LOCAL;
}

// The tangential part of b - a, and Newton's step from it. False at rest: there, or where points
// touch and every normal between the two surfaces is optimal.
static bool uphill(const Climb* c, tbReal dd[3]) {
  tbReal g[3], g1 = 0, g2 = 0, small = 1e-15 * c->pair->scale, touching = 1e10 * small * small;
  tb_sub3(g, c->point[1], c->point[0]);
  if (c->freedom > 0) g1 = tb_dot3(c->t1, g);
  if (c->freedom > 1) g2 = tb_dot3(c->t2, g);
  if (fabs(g1) + fabs(g2) <= small || tb_dot3(g, g) <= touching) return false;
  newton_step(c, g1, g2, dd);
  return true;
}

// The next place: settled (true), or a step on.
static bool step_on(Climb* c, tbReal from[3], tbReal dd[3], Settling* settling) {
  tbReal last = tb_dot3(dd, dd);
  bool rest = (c->plain && last <= 1e-14) || !uphill(c, dd);
  tb_copy3(from, c->n);
  if (rest) {
    tb_zero3(dd);
    c->plain = false;
    *settling = settle(c);
    return *settling != RELEASED;
  }
  *settling = advance(c, dd) ? RELEASED : FAILED;
  return *settling == FAILED;
}

tbAscent tb_normal_ascent(tbConvexPair* pair, tbReal limit, tbConvexResult* r) {
  Climb c;
  tbReal s = -INFINITY, from[3] = {0, 0, 0}, dd[3] = {1, 1, 1};
  Settling settling = RELEASED;
  c.pair = pair;
  c.crossed = -1;
  c.plain = false;
  tb_copy3(c.n, r->normal);
  look_from_b(&c);
  tb_feature_at(&pair->a, c.n, &c.touch[0]);
  tb_feature_at(&pair->b, c.n_b, &c.touch[1]);
  for (int step = 0; step < MAX_STEPS; step++) {
    if (!set_freedom(&c) || !evaluate(&c)) return TB_ASCENT_OPEN;
    if (c.s > limit) {
      tbSupportPoint at;
      tbReal apart = tb_pair_separation(pair, c.n, &at);
      if (apart > limit) {
        r->dist = apart;
        tb_copy3(r->normal, c.n);
        return TB_ASCENT_APART;
      }
    }
    // Too far: s must not fall.
    if (c.plain && c.s < s - 1e-12 * pair->scale) {
      tb_scale3(dd, dd, 0.3);
      tb_add3(c.n, from, dd);
      tb_normalize3(c.n);
      look_from_b(&c);
      continue;
    }
    s = c.s;
    if (step_on(&c, from, dd, &settling)) break;
  }
  return finish(&c, r);
}
