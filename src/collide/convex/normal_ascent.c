// Ascent to the best normal: Newton's method on the separation s(n) over the unit sphere, with
// changes of the contact features on the way (docs/notebook/gjk.md eq. 6-9 and "The climb").
//
// s is smooth while the features stay the same and has kinks where they change. A step ends at the
// first kink on its way. There the ascent changes to the next feature if s still rises beyond the
// kink, and otherwise stays on it (an edge instead of a vertex, a face instead of an edge). At the
// end, a feature is released if the witness points slide out of it. No support point is computed on
// the way.
#include "base/minmax.h"
#include "collide/convex/feature.h"

#define MAX_STEPS 40
#define MAX_STEP 0.5
// Tolerance of the witness points on their features, relative to the size of the pair.
#define CERTIFIED 1e-10
// A slope below this, relative to the size of the pair, counts as zero.
#define LEVEL 1e-10
// A curvature below this is not used if the slope counts as zero.
#define WEAK 1e-7
// A cylinder's side at an angle (sine) below this to a face counts as lying on it.
#define LYING 1e-7
// Number of bisections of the interval between the last two cosines tested for the certified_cone.
#define HALVINGS 4

typedef struct {
  tbConvexPair* pair;
  tbFeature feature[2];
  tbReal n[3], n_b[3];  // the normal from a to b; support direction of b in its frame
  tbReal t1[3], t2[3];  // tangents along which n is free
  int freedom;          // their number
  tbReal line[2][3];    // edges of the features in a's frame
  tbReal axis[3];       // what n is perpendicular to if freedom is 1
  tbReal point[2][3];   // support points in a's frame
  tbReal q[3];          // second derivatives of both support functions
  tbReal s;
  int crossed, left;  // the core that crossed a kink in the last step, and the vertex it left
  bool smooth_step;   // the last step reached no kink
} Ascent;

typedef enum { CONFIRMED, RELEASED, FAILED } FeatureCheck;

static bool is_face(const tbFeature* t) {
  return t->kind == TB_FEATURE_FACE || t->kind == TB_FEATURE_CAP;
}

static bool is_line(const tbFeature* t) {
  return t->kind == TB_FEATURE_EDGE || t->kind == TB_FEATURE_SIDE;
}

static bool is_smooth(const tbFeature* t) {
  return t->kind == TB_FEATURE_ELLIPSOID || t->kind == TB_FEATURE_RIM || t->kind == TB_FEATURE_SIDE;
}

static void update_n_b(Ascent* c) {
  tb_mul_mat3t_vec3(c->n_b, c->pair->mat, c->n);
  tb_scale3(c->n_b, c->n_b, -1);
}

static void to_b(const Ascent* c, const tbReal x[3], tbReal out[3]) {
  tbReal arm[3];
  tb_sub3(arm, x, c->pair->pos);
  tb_mul_mat3t_vec3(out, c->pair->mat, arm);
}

// Sets the tangents that the features leave free, and n if none is. False for lines of zero length.
static bool set_freedom(Ascent* c) {
  const tbFeature *a = &c->feature[0], *b = &c->feature[1];
  c->freedom = 0;
  if (is_face(a)) {
    tb_copy3(c->n, a->normal);
    update_n_b(c);
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
  // n is on the great circle perpendicular to one line, or where it intersects that of the other
  // line.
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
      update_n_b(c);
      return true;
    }
  }
  tb_add_scaled3(c->n, c->n, -tb_dot3(c->n, c->axis), c->axis);
  tb_normalize3(c->n);
  tb_cross(c->t1, c->axis, c->n);
  tb_copy3(c->t2, c->axis);
  update_n_b(c);
  return true;
}

static bool evaluate(Ascent* c) {
  tbReal qa[3], qb[3], t1[3] = {0}, t2[3] = {0};
  const tbReal* R = c->pair->mat;
  if (!tb_feature_support(&c->pair->a, &c->feature[0], c->n, c->t1, c->t2, qa)) return false;
  if (is_smooth(&c->feature[1])) {
    tb_mul_mat3t_vec3(t1, R, c->t1);
    tb_mul_mat3t_vec3(t2, R, c->t2);
  }
  if (!tb_feature_support(&c->pair->b, &c->feature[1], c->n_b, t1, t2, qb)) return false;
  tb_copy3(c->point[0], c->feature[0].point);
  tb_pair_b_to_a(c->pair, c->feature[1].point, c->point[1]);
  tb_add3(c->q, qa, qb);
  tbReal g[3];
  tb_sub3(g, c->point[1], c->point[0]);
  c->s = tb_dot3(c->n, g);
  return true;
}

// Newton's step along a principal direction, or a long uphill step if s has no maximum. The step is
// zero if both slope and curvature nearly vanish: then all normals of a cone are equally good up to
// rounding, as for a corner on the axis of a round core.
static tbReal step_along(const Ascent* c, tbReal gradient, tbReal curvature) {
  tbReal scale = c->pair->scale;
  if (curvature <= WEAK * scale && fabs(gradient) <= LEVEL * scale) return 0;
  if (!(curvature > 0)) return copysign(MAX_STEP, gradient);
  return tb_min(tb_max(gradient / curvature, -MAX_STEP), MAX_STEP);
}

// Newton's step in the tangent plane, by the two principal directions of the curvature Q + s I.
static void newton_step(const Ascent* c, tbReal g1, tbReal g2, tbReal dd[3]) {
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

// Whether s still rises along dd with the feature beyond a kink.
static bool rises_beyond(const Ascent* c, const tbFeatureBorder* border, const tbFeature* beyond,
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

// For a step from a rim past the pole: whether the other core's support point lies over the cap.
static bool is_over_cap(Ascent* c, int which) {
  tbCore* core = which ? &c->pair->b : &c->pair->a;
  tbReal axis[3], d[3], p[3], x[3], up = c->feature[which].vert[0] ? 1 : -1;
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

static void find_border(const Ascent* c, const tbReal dd[3], tbFeatureBorder* border) {
  tbReal dd_b[3];
  border->t = 1;
  border->which = -1;
  tb_feature_border(&c->pair->a, &c->feature[0], 0, c->n, dd, border);
  tb_mul_mat3t_vec3(dd_b, c->pair->mat, dd);
  tb_scale3(dd_b, dd_b, -1);
  tb_feature_border(&c->pair->b, &c->feature[1], 1, c->n_b, dd_b, border);
}

static bool is_pole(const Ascent* c, const tbFeatureBorder* border) {
  return border->which >= 0 && c->feature[border->which].kind == TB_FEATURE_RIM &&
         border->vert == 1;
}

// Moves along dd to its end or to the first kink, and changes the feature there.
static bool move_to_kink(Ascent* c, tbReal dd[3]) {
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
  update_n_b(c);
  int crossed = c->crossed, left = c->left;
  c->crossed = -1;
  c->smooth_step = border.which < 0;
  if (c->smooth_step) return true;
  tbFeature* feature = &c->feature[border.which];
  tbCore* core = border.which ? &c->pair->b : &c->pair->a;
  const tbReal* d = border.which ? c->n_b : c->n;
  bool pole = is_pole(c, &border);
  // A return over the kink that was just crossed: s rises towards it from both sides.
  bool back = border.which == crossed && border.t < 1e-9 &&
              (feature->kind == TB_FEATURE_RIM || border.vert == left);
  if (feature->kind != TB_FEATURE_EDGE && !pole && !back) {
    tbFeature beyond;
    tb_feature_next(core, feature, &border, &beyond);
    if (rises_beyond(c, &border, &beyond, dd)) {
      c->crossed = border.which;
      c->left = feature->vert[0];
      *feature = beyond;
      return true;
    }
  }
  if (!tb_feature_on_border(core, &border, d, feature)) return false;
  // The change from a rim to the cap is a jump of the normal, so the other core's feature is
  // recomputed.
  if (pole) {
    if (!set_freedom(c)) return false;
    tb_feature_at(border.which ? &c->pair->a : &c->pair->b, border.which ? c->n : c->n_b,
                  &c->feature[1 - border.which]);
  }
  return true;
}

// For a cylinder that lies on the face up to rounding, by a rim as feature: finds a point along its
// side, from the rim's point x (in the frame of the face's core) to the other rim, that is over the
// face. Sets both witness points.
static bool lies_on_face(Ascent* c, int face, const tbFeature* f, const tbReal x[3]) {
  int other = 1 - face;
  const tbCore* core = other ? &c->pair->b : &c->pair->a;
  const tbReal* d = other ? c->n_b : c->n;
  if (c->feature[other].kind != TB_FEATURE_RIM || !(fabs(d[2]) <= LYING)) return false;
  tbReal along[3] = {0, 0, c->feature[other].vert[0] ? -2 * core->size[2] : 2 * core->size[2]};
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

// Witness points of a face and the feature over it.
static FeatureCheck check_face(Ascent* c, int face) {
  int other = 1 - face;
  tbCore* core = face ? &c->pair->b : &c->pair->a;
  tbFeature *f = &c->feature[face], *t = &c->feature[other];
  tbReal sign = face ? 1 : -1, x[3], e[3], middle = 0, slack = CERTIFIED * c->pair->scale;
  if (is_face(t)) return FAILED;
  // The other core's point, moved along n into the plane of the face.
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
      return CONFIRMED;
    }
  }
  tb_add_scaled3(c->point[face], c->point[other], sign * c->s, c->n);
  return CONFIRMED;
}

static FeatureCheck release(Ascent* c, int which, int end) {
  tb_feature_release_edge(which ? &c->pair->b : &c->pair->a, end, &c->feature[which]);
  return RELEASED;
}

// Witness points of a line and a point: the projection of the point on the line.
static FeatureCheck check_line(Ascent* c, int which) {
  const tbReal* e = c->line[which];
  tbReal arm[3], slack = CERTIFIED * c->pair->scale, length2 = tb_dot3(e, e);
  tb_sub3(arm, c->point[1 - which], c->point[which]);
  tbReal t = tb_dot3(arm, e) / length2, beyond = slack / sqrt(length2);
  if (t < -beyond) return release(c, which, 0);
  if (t > 1 + beyond) return release(c, which, 1);
  tb_add_scaled3(c->point[which], c->point[which], t, e);
  return CONFIRMED;
}

// Witness points of two parallel lines: the middle of their overlap.
static FeatureCheck check_parallel(Ascent* c) {
  const tbReal *ea = c->line[0], *eb = c->line[1];
  tbReal g[3], aa = tb_dot3(ea, ea), bb = tb_dot3(eb, eb);
  tb_sub3(g, c->point[1], c->point[0]);
  tbReal from = tb_dot3(g, ea) / aa, to = from + tb_dot3(eb, ea) / aa;
  tbReal low = tb_max(tb_min(from, to), 0), high = tb_min(tb_max(from, to), 1);
  if (low > high) return release(c, 0, low > 1);
  tb_add_scaled3(c->point[0], c->point[0], 0.5 * (low + high), ea);
  tb_sub3(g, c->point[0], c->point[1]);
  tb_add_scaled3(c->point[1], c->point[1], tb_dot3(g, eb) / bb, eb);
  return CONFIRMED;
}

// Witness points of two crossing lines.
static FeatureCheck check_lines(Ascent* c) {
  const tbReal *ea = c->line[0], *eb = c->line[1];
  tbReal g[3], slack = CERTIFIED * c->pair->scale;
  tb_sub3(g, c->point[1], c->point[0]);
  tbReal aa = tb_dot3(ea, ea), bb = tb_dot3(eb, eb), ab = tb_dot3(ea, eb);
  tbReal ga = tb_dot3(g, ea), gb = tb_dot3(g, eb), determinant = aa * bb - ab * ab;
  if (c->freedom == 1 || !(determinant > 0)) return check_parallel(c);
  tbReal t = (ga * bb - gb * ab) / determinant, u = (ga * ab - gb * aa) / determinant;
  tbReal out_a = tb_max(-t, t - 1) * sqrt(aa), out_b = tb_max(-u, u - 1) * sqrt(bb);
  if (out_a > slack && out_a >= out_b) return release(c, 0, t > 1);
  if (out_b > slack) return release(c, 1, u > 1);
  tb_add_scaled3(c->point[0], c->point[0], t, ea);
  tb_add_scaled3(c->point[1], c->point[1], u, eb);
  return CONFIRMED;
}

// Moves the witness points within their features until b - a is along n.
static FeatureCheck check_features(Ascent* c) {
  const tbFeature *a = &c->feature[0], *b = &c->feature[1];
  if (is_face(a)) return check_face(c, 0);
  if (is_face(b)) return check_face(c, 1);
  if (is_line(a) && is_line(b)) return check_lines(c);
  if (is_line(a)) return check_line(c, 0);
  if (is_line(b)) return check_line(c, 1);
  return CONFIRMED;
}

// Adds a core's part of the extent, in the tangents (docs/notebook/gjk.md eq. 11).
static void add_width(const Ascent* c, int which, tbExtent* w) {
  tbFeatureExtent width;
  tbReal x[3], d[3];
  tb_copy3(x, c->point[which]);
  if (which) to_b(c, c->point[1], x);
  tb_feature_extent(which ? &c->pair->b : &c->pair->a, &c->feature[which], x, &width);
  w->flat[0] += width.inset;
  w->flat[2] += width.inset;
  w->ball += width.ball;
  const tbReal* n = which ? c->n_b : c->n;
  w->tilt[which] = tb_min(sqrt(n[0] * n[0] + n[1] * n[1]), 1);
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

// The depth that the features guarantee in all directions within an angle (its cosine) of the
// normal.
static tbReal depth_within(const tbExtent* w, tbReal cosine) {
  tbReal m[3];
  tb_extent_within(w, cosine, m);
  tbReal mean = 0.5 * (m[0] + m[2]), half = 0.5 * (m[0] - m[2]);
  return w->ball + mean - sqrt(half * half + m[1] * m[1]);
}

// Cosine of the angle of docs/notebook/gjk.md eq. 10: in all directions farther than this from the
// normal, balls inside a and b prove that the penetration is no shallower. 2 if they prove it in
// all directions.
static tbReal cosine_of_ball(const Ascent* c) {
  tbReal depth = -c->s, x[3], y[3], center[3], down[3];
  tbReal ball = tb_feature_ball(&c->pair->a, c->point[0], center);
  to_b(c, c->point[1], x);
  ball += tb_feature_ball(&c->pair->b, x, y);
  tb_pair_b_to_a(c->pair, y, x);
  tb_sub3(down, x, center);
  tbReal far = tb_norm3(down), reach = ball - depth;
  if (reach >= far) return 2;
  tbReal tilt = tb_max(tb_min(tb_dot3(down, c->n) / far, 1), -1), hold = tb_max(reach / far, -1);
  // Cosine of the sum of two angles, which is clamped to half a turn.
  tbReal lean_sine = sqrt(1 - tilt * tilt), hold_sine = sqrt(1 - hold * hold);
  return lean_sine * hold + tilt * hold_sine > 0 ? tilt * hold - lean_sine * hold_sine : -1;
}

// Whether the local maximum is proven to be the global one: near the normal the features guarantee
// the depth, beyond some angle a ball inside b - a does. The test is sufficient, not necessary. If
// it fails, `certified_cone` is the cosine of the angle up to which the features guarantee the
// depth (2: none), and `width` their extent.
static bool is_global(Ascent* c, tbReal* certified_cone, tbExtent* width) {
  static const tbReal cosines[] = {0.3, 0.7, 0.9, 0.97, 0.99, 0.997, 0.999, 0.9998, 0.99998};
  tbReal depth = -c->s, beyond = cosine_of_ball(c);
  if (beyond > 1) return true;
  tbExtent w = {.ball = 0};
  tb_frame_from_normal(c->n, c->t1, c->t2);
  add_width(c, 0, &w);
  add_width(c, 1, &w);
  if (depth_within(&w, beyond) >= depth) return true;
  *certified_cone = 2;
  *width = w;
  size_t i = 0, count = sizeof cosines / sizeof cosines[0];
  tbReal outside = cosines[0];
  while (i < count && !(depth_within(&w, cosines[i]) >= depth)) outside = cosines[i++];
  if (i == count) return false;
  *certified_cone = cosines[i];
  for (int k = 0; k < HALVINGS && i > 0; k++) {
    tbReal middle = 0.5 * (*certified_cone + outside);
    if (depth_within(&w, middle) >= depth) {
      *certified_cone = middle;
    } else {
      outside = middle;
    }
  }
  return false;
}

// The result of the ascent, evaluated by exact support points, so that a wrong feature cannot
// falsify it.
static tbAscent finish(Ascent* c, tbConvexResult* r) {
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
  return s > 0 || is_global(c, &r->certified_cone, &r->width) ? TB_ASCENT_GLOBAL : TB_ASCENT_LOCAL;
}

// Newton's step from the tangential part of b - a. False if that vanishes, or if the points touch,
// in which case all normals between the two surfaces are optimal.
static bool find_step(const Ascent* c, tbReal dd[3]) {
  tbReal g[3], g1 = 0, g2 = 0, small = 1e-15 * c->pair->scale, touching = 1e10 * small * small;
  tb_sub3(g, c->point[1], c->point[0]);
  if (c->freedom > 0) g1 = tb_dot3(c->t1, g);
  if (c->freedom > 1) g2 = tb_dot3(c->t2, g);
  if (fabs(g1) + fabs(g2) <= small || tb_dot3(g, g) <= touching) return false;
  newton_step(c, g1, g2, dd);
  return true;
}

// One step of the ascent, or the final check of the features. True if the ascent is finished.
static bool take_step(Ascent* c, tbReal from[3], tbReal dd[3], FeatureCheck* check) {
  tbReal last = tb_dot3(dd, dd);
  bool rest = (c->smooth_step && last <= 1e-14) || !find_step(c, dd);
  tb_copy3(from, c->n);
  if (rest) {
    tb_zero3(dd);
    c->smooth_step = false;
    *check = check_features(c);
    return *check != RELEASED;
  }
  *check = move_to_kink(c, dd) ? RELEASED : FAILED;
  return *check == FAILED;
}

tbAscent tb_normal_ascent(tbConvexPair* pair, tbReal limit, tbConvexResult* r) {
  Ascent c;
  tbReal s = -INFINITY, from[3] = {0, 0, 0}, dd[3] = {1, 1, 1};
  FeatureCheck check = RELEASED;
  c.pair = pair;
  c.crossed = -1;
  c.smooth_step = false;
  tb_copy3(c.n, r->normal);
  update_n_b(&c);
  tb_feature_at(&pair->a, c.n, &c.feature[0]);
  tb_feature_at(&pair->b, c.n_b, &c.feature[1]);
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
    // The step was too long: s must not decrease.
    if (c.smooth_step && c.s < s - 1e-12 * pair->scale) {
      tb_scale3(dd, dd, 0.3);
      tb_add3(c.n, from, dd);
      tb_normalize3(c.n);
      update_n_b(&c);
      continue;
    }
    s = c.s;
    if (take_step(&c, from, dd, &check)) break;
  }
  return finish(&c, r);
}
