// Refines an approximate normal of two cores: Newton's method on the separation s(n) over the unit
// sphere, with the contact features fixed (docs/notebook/gjk.md eq. 6-9).
//
// A feature is the part of a core in contact: a point, a line (edge, segment, side of a cylinder),
// a face (polygon, cap) or a smooth piece (ellipsoid, rim). A line restricts n to a great circle, a
// face to one value; Newton's method with exact second derivatives solves for the remaining
// freedom.
#include <string.h>

#include "base/minmax.h"
#include "collide/convex/feature.h"

#define MAX_STEPS 20
#define MAX_OPTIONS 5
// Tolerance of the witness points on their features, relative to the size of the pair.
#define CERTIFIED 1e-10

typedef enum { FEATURE_POINT, FEATURE_LINE, FEATURE_FACE, FEATURE_SMOOTH } FeatureKind;

// In the core's frame.
typedef struct {
  int kind;
  tbReal point[3];      // of a point, one end of a line
  tbReal direction[3];  // of a line from `point` (its length is the edge's), normal of a face
  tbReal side_radius;   // a cylinder's side: distance of the line from the axis, along n
  int top;              // rim of a cylinder
  int vert[3];          // of a polytope's face: the corners that define it
} Feature;

// Distinct support points of one core, with their vertex indices.
typedef struct {
  int count;
  int id[4];
  tbReal point[4][3];
} Corners;

static void add_corner(Corners* c, int id, const tbReal p[3]) {
  for (int i = 0; i < c->count; i++) {
    if (c->id[i] == id) return;
  }
  c->id[c->count] = id;
  tb_copy3(c->point[c->count++], p);
}

static void line_feature(Feature* f, const tbReal from[3], const tbReal to[3]) {
  memset(f, 0, sizeof *f);
  f->kind = FEATURE_LINE;
  tb_copy3(f->point, from);
  tb_sub3(f->direction, to, from);
}

static void point_feature(Feature* f, const tbReal p[3]) {
  memset(f, 0, sizeof *f);
  f->kind = FEATURE_POINT;
  tb_copy3(f->point, p);
}

// A face through three corners, with its normal towards d.
static int face_feature(Feature* f, const Corners* c, const tbReal d[3]) {
  tbReal e1[3], e2[3];
  const tbReal(*p)[3] = c->point;
  memset(f, 0, sizeof *f);
  f->kind = FEATURE_FACE;
  memcpy(f->vert, c->id, sizeof f->vert);
  tb_copy3(f->point, p[0]);
  tb_sub3(e1, p[1], p[0]);
  tb_sub3(e2, p[2], p[0]);
  tb_cross(f->direction, e1, e2);
  if (tb_dot3(f->direction, d) < 0) tb_scale3(f->direction, f->direction, -1);
  return tb_normalize3(f->direction) > 0;
}

// Candidate features of a polytope: the face or edge of its corners, an end of the edge, or the
// vertex that supports d.
static int polytope_options(tbCore* core, const Corners* c, const tbReal d[3], int thorough,
                            Feature* option) {
  int count = 0;
  tbReal p[3];
  if (c->count >= 3) {
    if (face_feature(&option[count], c, d)) count++;
    for (int i = 0; i < 3 && thorough; i++) {
      int j = (i + 1) % 3;
      line_feature(&option[count++], c->point[i], c->point[j]);
    }
  }
  if (c->count == 2) {
    line_feature(&option[count++], c->point[0], c->point[1]);
    if (!thorough) return count;
    point_feature(&option[count++], c->point[0]);
    point_feature(&option[count++], c->point[1]);
    return count;
  }
  if (c->count == 1) point_feature(&option[count++], c->point[0]);
  int vertex = tb_core_support(core, d, p);
  if (c->count != 1 || (thorough && vertex != c->id[0])) point_feature(&option[count++], p);
  return count;
}

static int cylinder_options(const tbCore* core, const Corners* c, const tbReal d[3],
                            Feature* option) {
  tbReal across = sqrt(d[0] * d[0] + d[1] * d[1]), along = fabs(d[2]);
  tbReal half = core->size[2], up = d[2] >= 0 ? 1 : -1;
  int count = 0, both = c->count > 1;
  if (along < 0.3 && (both || along < 0.02)) {
    tbReal low[3] = {0, 0, -half}, high[3] = {0, 0, half};
    line_feature(&option[count], low, high);
    option[count++].side_radius = core->size[0];
  }
  if (across < 0.3 && !both) {
    memset(&option[count], 0, sizeof option[count]);
    option[count].kind = FEATURE_FACE;
    tb_set3(option[count].point, 0, 0, up * half);
    tb_set3(option[count++].direction, 0, 0, up);
  }
  memset(&option[count], 0, sizeof option[count]);
  option[count].kind = FEATURE_SMOOTH;
  option[count++].top = d[2] >= 0;
  return count;
}

static int feature_options(tbCore* core, const Corners* c, const tbReal d[3], int thorough,
                           Feature option[MAX_OPTIONS]) {
  if (core->kind == TB_CORE_ELLIPSOID) {
    memset(option, 0, sizeof *option);
    option->kind = FEATURE_SMOOTH;
    return 1;
  }
  if (core->kind == TB_CORE_CYLINDER) return cylinder_options(core, c, d, option);
  return polytope_options(core, c, d, thorough, option);
}

// Support point of a feature along the unit vector d and second derivatives of its support function
// along the tangents t[0], t[1]: q = (q11, q12, q22). All in the core's frame.
static int feature_support(const tbCore* core, const Feature* f, const tbReal d[3],
                           const tbReal t[2][3], tbReal p[3], tbReal q[3]) {
  tb_zero3(q);
  if (f->kind != FEATURE_SMOOTH) {
    tb_copy3(p, f->point);
    // In the projection along its axis, the side of a cylinder is a circle.
    if (f->side_radius > 0) {
      tbReal across = sqrt(d[0] * d[0] + d[1] * d[1]);
      if (!(across > 0)) return 0;
      p[0] += f->side_radius * d[0] / across;
      p[1] += f->side_radius * d[1] / across;
      for (int k = 0; k < 3; k++) {
        const tbReal *u = t[k / 2], *v = t[(k + 1) / 2];
        q[k] = f->side_radius * (u[0] * v[0] + u[1] * v[1]);
      }
    }
    return 1;
  }
  if (core->kind == TB_CORE_CYLINDER) {
    // h = r |d_xy| +- half d_z: the curvature is r / |d_xy|, around the axis only.
    tbReal across = sqrt(d[0] * d[0] + d[1] * d[1]), r = core->size[0];
    if (!(across > 1e-12)) return 0;
    tbReal x = d[0] / across, y = d[1] / across;
    tb_set3(p, r * x, r * y, f->top ? core->size[2] : -core->size[2]);
    tbReal u = t[0][1] * x - t[0][0] * y, v = t[1][1] * x - t[1][0] * y, k = r / across;
    tb_set3(q, k * u * u, k * u * v, k * v * v);
    return 1;
  }
  // h = |S d|: second derivative (S^2 - p p^T) / h with p = S^2 d / h.
  const tbReal* r = core->size;
  tbReal sd[3] = {r[0] * d[0], r[1] * d[1], r[2] * d[2]}, h = tb_norm3(sd);
  if (!(h > 0)) return 0;
  tb_set3(p, r[0] * sd[0] / h, r[1] * sd[1] / h, r[2] * sd[2] / h);
  for (int k = 0; k < 3; k++) {
    const tbReal *u = t[k / 2], *v = t[(k + 1) / 2];
    tbReal metric =
        r[0] * r[0] * u[0] * v[0] + r[1] * r[1] * u[1] * v[1] + r[2] * r[2] * u[2] * v[2];
    q[k] = (metric - tb_dot3(p, u) * tb_dot3(p, v)) / h;
  }
  return 1;
}

// Both features in a's frame during one Newton solve.
typedef struct {
  tbConvexPair* pair;
  const Feature *fa, *fb;
  tbReal tangent[2][3];
  int freedom;  // 2: sphere, 1: great circle (tangent[0]), 0: n is given
  tbReal axis[3];
  tbReal n[3];
  tbReal a[3], b[3];
  tbReal q[3];
} Newton;

static int evaluate(Newton* w) {
  tbReal qa[3], qb[3], d[3], t[2][3], p[3];
  const tbReal* R = w->pair->mat;
  if (!feature_support(&w->pair->a, w->fa, w->n, w->tangent, w->a, qa)) return 0;
  tb_mul_mat3t_vec3(d, R, w->n);
  tb_scale3(d, d, -1);
  for (int i = 0; i < 2; i++) tb_mul_mat3t_vec3(t[i], R, w->tangent[i]);
  if (!feature_support(&w->pair->b, w->fb, d, t, p, qb)) return 0;
  tb_pair_b_to_a(w->pair, p, w->b);
  tb_add3(w->q, qa, qb);
  return 1;
}

static void set_tangents(Newton* w) {
  if (w->freedom == 1) {
    tb_add_scaled3(w->n, w->n, -tb_dot3(w->n, w->axis), w->axis);
    tb_normalize3(w->n);
    tb_cross(w->tangent[0], w->axis, w->n);
    tb_copy3(w->tangent[1], w->axis);
  } else {
    tb_frame_from_normal(w->n, w->tangent[0], w->tangent[1]);
  }
}

// Sets the freedom that the features leave, and n if they leave none.
static int set_freedom(Newton* w, const tbReal start[3]) {
  tbReal face[3], line_b[3], cross[3];
  const Feature *fa = w->fa, *fb = w->fb;
  tb_copy3(w->n, start);
  w->freedom = 0;
  if (fa->kind == FEATURE_FACE) {
    tb_copy3(w->n, fa->direction);
    return 1;
  }
  if (fb->kind == FEATURE_FACE) {
    tb_mul_mat3_vec3(face, w->pair->mat, fb->direction);
    tb_scale3(w->n, face, -1);
    return 1;
  }
  int line_of_a = fa->kind == FEATURE_LINE, line_of_b = fb->kind == FEATURE_LINE;
  w->freedom = 2;
  if (line_of_b) {
    tb_mul_mat3_vec3(line_b, w->pair->mat, fb->direction);
    if (!(tb_normalize3(line_b) > 0)) return 0;
    tb_copy3(w->axis, line_b);
    w->freedom = 1;
  }
  if (line_of_a) {
    tb_copy3(w->axis, fa->direction);
    if (!(tb_normalize3(w->axis) > 0)) return 0;
    w->freedom = 1;
  }
  if (line_of_a && line_of_b) {
    tb_cross(cross, w->axis, line_b);
    if (tb_norm3(cross) > 1e-7) {
      tb_normalize3(cross);
      tb_scale3(w->n, cross, tb_dot3(cross, start) < 0 ? -1 : 1);
      w->freedom = 0;
    }
  }
  return 1;
}

// Whether a step passes the pole. A rim's support function has a kink where n is the cylinder's
// axis: the component of n perpendicular to the axis may shrink in a step, but not reverse.
static int crosses_pole(const Newton* w, const tbReal from[3]) {
  const tbReal* R = w->pair->mat;
  for (int k = 0; k < 2; k++) {
    const tbCore* core = k ? &w->pair->b : &w->pair->a;
    if ((k ? w->fb : w->fa)->kind != FEATURE_SMOOTH || core->kind != TB_CORE_CYLINDER) continue;
    tbReal old[3], now[3];
    tb_copy3(old, from);
    tb_copy3(now, w->n);
    if (k) {
      tb_mul_mat3t_vec3(old, R, from);
      tb_mul_mat3t_vec3(now, R, w->n);
    }
    if (old[0] * now[0] + old[1] * now[1] < 0.05 * (old[0] * old[0] + old[1] * old[1])) return 1;
  }
  return 0;
}

// Newton's method: (Q + s I) delta = tangential part of b - a (docs/notebook/gjk.md eq. 8). Returns
// 0 if the second-order condition fails: there is no optimum with these features nearby.
static int newton_solve(Newton* w, const tbReal start[3]) {
  if (!set_freedom(w, start) || tb_dot3(w->n, start) < 0.8) return 0;
  set_tangents(w);
  tbReal small = 1e-15 * w->pair->scale, touching = 1e10 * small * small;
  for (int step = 0; step <= MAX_STEPS; step++) {
    if (!evaluate(w)) return 0;
    if (w->freedom == 0) return 1;
    tbReal g[3], delta[2] = {0, 0};
    tb_sub3(g, w->b, w->a);
    tbReal s = tb_dot3(w->n, g), g1 = tb_dot3(w->tangent[0], g), g2 = tb_dot3(w->tangent[1], g);
    if (w->freedom == 1) g2 = 0;
    tbReal k11 = w->q[0] + s, k12 = w->q[1], k22 = w->q[2] + s;
    // Converged, or touching points, for which all normals between the two surfaces are optimal.
    if (fabs(g1) + fabs(g2) <= small || tb_dot3(g, g) <= touching) return 1;
    if (!(k11 > 0)) return 0;
    if (w->freedom == 1) {
      delta[0] = g1 / k11;
    } else {
      tbReal determinant = k11 * k22 - k12 * k12;
      if (!(determinant > 0)) return 0;
      delta[0] = (k22 * g1 - k12 * g2) / determinant;
      delta[1] = (k11 * g2 - k12 * g1) / determinant;
    }
    tbReal length = sqrt(delta[0] * delta[0] + delta[1] * delta[1]);
    // Long steps indicate wrong features.
    if (!(length < 2) || tb_dot3(w->n, start) < 0.8) return 0;
    if (length <= 1e-16) return 1;
    tbReal shrink = length > 0.5 ? 0.5 / length : 1, from[3];
    tb_copy3(from, w->n);
    for (int tries = 0; tries < 8; tries++, shrink *= 0.5) {
      tb_add_scaled3(w->n, from, shrink * delta[0], w->tangent[0]);
      tb_add_scaled3(w->n, w->n, shrink * delta[1], w->tangent[1]);
      tb_normalize3(w->n);
      if (!crosses_pole(w, from)) break;
    }
    set_tangents(w);
  }
  return 1;
}

// Whether x is between the walls of a prism, which are vertical.
static int in_prism(const tbCore* core, const tbReal x[3], tbReal slack) {
  for (int i = 0; i < 3; i++) {
    const tbReal *u = core->prism + 3 * i, *v = core->prism + 3 * ((i + 1) % 3);
    tbReal ex = v[0] - u[0], ey = v[1] - u[1];
    tbReal left = ex * (x[1] - u[1]) - ey * (x[0] - u[0]);
    if (left < -slack * sqrt(ex * ex + ey * ey)) return 0;
  }
  return 1;
}

// Whether the point x of the core's frame is inside the core's face f (up to `slack`).
static int inside_face(const tbCore* core, const Feature* f, const tbReal x[3], tbReal slack) {
  const tbReal* h = core->size;
  if (core->kind == TB_CORE_CYLINDER) return sqrt(x[0] * x[0] + x[1] * x[1]) <= h[0] + slack;
  if (core->kind == TB_CORE_BOX) {
    return fabs(x[0]) <= h[0] + slack && fabs(x[1]) <= h[1] + slack && fabs(x[2]) <= h[2] + slack;
  }
  if (core->kind == TB_CORE_PRISM && fabs(f->direction[2]) > 1e-3) return in_prism(core, x, slack);
  if (core->kind != TB_CORE_HULL) return 0;
  tbFeature face = {.kind = TB_FEATURE_FACE};
  memcpy(face.vert, f->vert, sizeof face.vert);
  tb_copy3(face.point, f->point);
  tb_copy3(face.normal, f->direction);
  return tb_feature_in_face(core, x, slack, &face);
}

// The point of a line feature nearest to x (a's frame).
static void nearest_on_line(const tbReal from[3], const tbReal e[3], const tbReal x[3],
                            tbReal out[3]) {
  tbReal arm[3], length2 = tb_dot3(e, e);
  tb_sub3(arm, x, from);
  tbReal t = length2 > 0 ? tb_dot3(arm, e) / length2 : 0;
  tb_add_scaled3(out, from, tb_min(tb_max(t, 0), 1), e);
}

// Nearest points of two parallel line features: the middle of their overlap.
static void nearest_parallel(Newton* w, const tbReal ea[3], const tbReal eb[3]) {
  tbReal g[3], aa = tb_dot3(ea, ea), bb = tb_dot3(eb, eb);
  if (!(aa > 0) || !(bb > 0)) return;
  tb_sub3(g, w->b, w->a);
  tbReal from = tb_dot3(g, ea) / aa, to = from + tb_dot3(eb, ea) / aa;
  tbReal low = tb_max(tb_min(from, to), 0), high = tb_min(tb_max(from, to), 1);
  tbReal t = tb_min(tb_max(0.5 * (low + high), 0), 1);
  tb_add_scaled3(w->a, w->a, t, ea);
  tb_sub3(g, w->a, w->b);
  tb_add_scaled3(w->b, w->b, tb_min(tb_max(tb_dot3(g, eb) / bb, 0), 1), eb);
}

// Nearest points of two line features.
static void nearest_lines(Newton* w, const tbReal ea[3], const tbReal eb[3]) {
  tbReal g[3];
  tb_sub3(g, w->b, w->a);
  tbReal aa = tb_dot3(ea, ea), bb = tb_dot3(eb, eb), ab = tb_dot3(ea, eb);
  tbReal ga = tb_dot3(g, ea), gb = tb_dot3(g, eb), determinant = aa * bb - ab * ab;
  if (w->freedom == 1 || !(determinant > 0)) {
    nearest_parallel(w, ea, eb);
    return;
  }
  tbReal t = tb_min(tb_max((ga * bb - gb * ab) / determinant, 0), 1);
  tbReal u = tb_min(tb_max((ga * ab - gb * aa) / determinant, 0), 1);
  tb_add_scaled3(w->a, w->a, t, ea);
  tb_add_scaled3(w->b, w->b, u, eb);
}

// Moves the witness points within their features until b - a is along n. True if that succeeds,
// which proves the optimum.
static int certify(Newton* w, tbReal s) {
  tbReal slack = CERTIFIED * w->pair->scale, eb[3], x[3], foot[3], rest[3];
  const Feature *fa = w->fa, *fb = w->fb;
  tb_mul_mat3_vec3(eb, w->pair->mat, fb->direction);
  if (fa->kind == FEATURE_FACE || fb->kind == FEATURE_FACE) {
    // Only a point or smooth piece over a face is certified; other features are left to the bounds.
    if (fa->kind == FEATURE_FACE) {
      if (fb->kind != FEATURE_POINT && fb->kind != FEATURE_SMOOTH) return 0;
      tb_add_scaled3(w->a, w->b, -s, w->n);
      return inside_face(&w->pair->a, fa, w->a, slack);
    }
    if (fa->kind != FEATURE_POINT && fa->kind != FEATURE_SMOOTH) return 0;
    tb_add_scaled3(w->b, w->a, s, w->n);
    tb_sub3(foot, w->b, w->pair->pos);
    tb_mul_mat3t_vec3(x, w->pair->mat, foot);
    return inside_face(&w->pair->b, fb, x, slack);
  }
  if (fa->kind == FEATURE_LINE && fb->kind == FEATURE_LINE) {
    nearest_lines(w, fa->direction, eb);
  } else if (fa->kind == FEATURE_LINE) {
    nearest_on_line(w->a, fa->direction, w->b, foot);
    tb_copy3(w->a, foot);
  } else if (fb->kind == FEATURE_LINE) {
    nearest_on_line(w->b, eb, w->a, foot);
    tb_copy3(w->b, foot);
  }
  tb_sub3(rest, w->b, w->a);
  tb_add_scaled3(rest, rest, -s, w->n);
  return tb_norm3(rest) <= slack;
}

// Tries one pair of features; keeps the result if it separates the cores by more than before.
static int try_features(tbConvexPair* pair, const Feature* fa, const Feature* fb,
                        const tbReal start[3], tbConvexResult* r) {
  Newton w = {.pair = pair, .fa = fa, .fb = fb};
  tbSupportPoint at;
  if (!newton_solve(&w, start)) return 0;
  // The separation is evaluated by exact support points, so that a wrong feature cannot falsify it.
  tbReal s = tb_pair_separation(pair, w.n, &at), rounding = 1e-13 * pair->scale;
  if (!(s >= r->dist - rounding)) return 0;
  tbReal g[3];
  tb_sub3(g, w.b, w.a);
  int certified = fabs(s - tb_dot3(w.n, g)) <= CERTIFIED * pair->scale && certify(&w, s);
  if (certified || s > r->dist) {
    tb_copy3(r->normal, w.n);
    r->dist = s;
  }
  if (certified) {
    tb_copy3(r->point_a, w.a);
    tb_copy3(r->point_b, w.b);
  }
  return certified;
}

int tb_normal_newton(tbConvexPair* pair, const tbSupportPoint* support, int count, int thorough,
                     tbConvexResult* r) {
  Corners ca = {0}, cb = {0};
  for (int i = 0; i < count; i++) {
    tbReal x[3], p[3];
    add_corner(&ca, support[i].ia, support[i].a);
    tb_sub3(x, support[i].b, pair->pos);
    tb_mul_mat3t_vec3(p, pair->mat, x);
    add_corner(&cb, support[i].ib, p);
  }
  tbReal d[3], start[3];
  tb_copy3(start, r->normal);
  Feature oa[MAX_OPTIONS], ob[MAX_OPTIONS];
  tb_mul_mat3t_vec3(d, pair->mat, r->normal);
  tb_scale3(d, d, -1);
  int na = feature_options(&pair->a, &ca, r->normal, thorough, oa);
  int nb = feature_options(&pair->b, &cb, d, thorough, ob);
  for (int i = 0; i < na; i++) {
    for (int j = 0; j < nb; j++) {
      if (try_features(pair, &oa[i], &ob[j], start, r)) return 1;
    }
  }
  return 0;
}
