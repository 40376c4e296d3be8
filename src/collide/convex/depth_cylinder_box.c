// Depth of a cylinder and a box, or a proof of their separation: all normals at which s can be
// maximal (docs/notebook/gjk.md, "Cylinders").
//
// In the box's frame, with z the cylinder's axis and p the vector from its centre to the box's
// centre,
//   s(n) = n.p - sum of h_i |n_i| - r sqrt(1 - (n.z)^2) - l |n.z|.
// Where s < 0 no maximum lies at an n whose support points are a corner of the box and a rim point:
// along the meridian both support points stay fixed, and there s is convex. So n is a face normal
// of the box, the cylinder's axis, perpendicular to the axis, or perpendicular to an edge of the
// box.
#include "base/minmax.h"
#include "collide/convex/arc.h"
#include "collide/convex/convex.h"

// A face or cap is preferred over a direction whose s is larger by at most this, relative to the
// size of the pair.
#define TIE 1e-12

// Which contact feature is a single point, for the witness points: that of the cylinder, that of
// the box, or neither.
typedef enum { ONE_OF_CYLINDER, ONE_OF_BOX, CROSSING } Touching;

typedef struct {
  tbReal p[3], z[3], h[3], r, l;
  tbReal across[3];  // sqrt(1 - z_i^2)
  tbReal best, n[3];
  Touching touching;
} Query;

// s along n. The component of n perpendicular to the axis is computed by a cross product, which
// stays accurate where n is nearly the axis.
static tbReal separation(const Query* q, const tbReal n[3]) {
  tbReal reach = q->h[0] * fabs(n[0]) + q->h[1] * fabs(n[1]) + q->h[2] * fabs(n[2]), cross[3];
  tb_cross(cross, n, q->z);
  return tb_dot3(n, q->p) - reach - q->r * tb_norm3(cross) - q->l * fabs(tb_dot3(n, q->z));
}

static void keep(Query* q, const tbReal n[3], tbReal s, tbReal tie, Touching touching) {
  if (!(s > q->best + tie)) return;
  q->best = s;
  tb_copy3(q->n, n);
  q->touching = touching;
}

static void try_normals(Query* q) {
  tbReal n[3];
  // Faces of the box: the side that p points to.
  for (int i = 0; i < 3; i++) {
    tb_zero3(n);
    n[i] = q->p[i] < 0 ? -1 : 1;
    tbReal s = fabs(q->p[i]) - q->h[i] - q->r * q->across[i] - q->l * fabs(q->z[i]);
    keep(q, n, s, 0, ONE_OF_CYLINDER);
  }
  tb_scale3(n, q->z, tb_dot3(q->p, q->z) < 0 ? -1 : 1);
  tbReal reach = q->h[0] * fabs(n[0]) + q->h[1] * fabs(n[1]) + q->h[2] * fabs(n[2]);
  keep(q, n, tb_dot3(n, q->p) - reach - q->l, 0, ONE_OF_BOX);
}

// Normals perpendicular to the axis: also perpendicular to an edge, or, if p is outside the box
// projected along the axis, from its nearest corner.
static void try_side(Query* q, tbReal tie) {
  tbReal widest = -INFINITY, m[3], best_m[3] = {0, 0, 0};
  int axis = -1;
  for (int i = 0; i < 3; i++) {
    if (!(q->across[i] > 1e-9)) continue;
    int j = i < 2 ? i + 1 : 0, k = 3 - i - j;
    m[i] = 0;
    m[j] = -q->z[k] / q->across[i];
    m[k] = q->z[j] / q->across[i];
    tbReal way = tb_dot3(m, q->p);
    if (way < 0) tb_scale3(m, m, -1);
    tbReal outside = fabs(way) - q->h[j] * fabs(m[j]) - q->h[k] * fabs(m[k]);
    if (outside > widest) {
      widest = outside;
      axis = i;
      tb_copy3(best_m, m);
    }
  }
  if (axis < 0) return;
  keep(q, best_m, widest - q->r, tie, CROSSING);
  if (!(widest > 0)) return;

  // The point of that edge nearest to the axis; if it is an end, the normal points to that corner.
  tbReal x[3], flat[3];
  for (int i = 0; i < 3; i++) x[i] = q->p[i] - (i == axis ? 0 : copysign(q->h[i], best_m[i]));
  tb_add_scaled3(flat, x, -tb_dot3(x, q->z), q->z);
  tbReal t = flat[axis] / (q->across[axis] * q->across[axis]);
  if (fabs(t) <= q->h[axis]) return;
  x[axis] -= copysign(q->h[axis], t);
  tb_add_scaled3(flat, x, -tb_dot3(x, q->z), q->z);
  tbReal length = tb_norm3(flat);
  if (!(length > 0)) return;
  tb_scale3(flat, flat, 1 / length);
  keep(q, flat, separation(q, flat), tie, ONE_OF_BOX);
}

// The maximum on an arc, in the plane of the box's axes i and j.
static void search_arc(Query* q, int i, int j, const tbArc* arc, tbReal tie) {
  tbReal best = q->best + tie, at[2], n[3] = {0, 0, 0};
  if (!tb_arc_search(arc, &best, at)) return;
  n[i] = at[0];
  n[j] = at[1];
  keep(q, n, separation(q, n), tie, ONE_OF_CYLINDER);
}

// s and its slope at a face normal at the end of a quarter circle: `side` of the axis `from`,
// towards `way` of the axis `to`.
static tbReal at_face(const Query* q, int from, int to, tbReal side, tbReal way, tbReal top,
                      tbReal* rise) {
  tbReal along = side * q->z[from], turn = way * q->z[to], w = q->across[from];
  // At the pole the slope depends on the direction; that towards the rim is -r.
  tbReal round = w > 1e-8 ? along * turn / w : -1;
  *rise = way * q->p[to] - q->h[to] - top * q->l * turn + q->r * round;
  return side * q->p[from] - q->h[from] - top * q->l * along - q->r * w;
}

// Searches the quarter circle from `side1` of axis i to `side2` of axis j, in one piece or two.
static void search_quarter(Query* q, int i, int j, int k, tbReal side1, tbReal side2, tbReal tie) {
  tbReal z1 = side1 * q->z[i], z2 = side2 * q->z[j];
  tbReal top1 = z1 > 0 || (z1 == 0 && z2 > 0) ? 1 : -1, top2 = z2 != 0 ? (z2 > 0 ? 1 : -1) : top1;
  tbReal rise1, rise2, s1 = at_face(q, i, j, side1, side2, top1, &rise1);
  tbReal s2 = at_face(q, j, i, side2, side1, top2, &rise2);
  // Pruned by the bounds of arc.c, which hold across the change of rims, too.
  tbReal most = 0.5 * tb_max(s1 + rise1, s2 + rise2);
  if (most < 0 && most * most >= 0.5 * q->best * q->best) return;
  tbArc arc = {.g = {q->p[i] - side1 * q->h[i], q->p[j] - side2 * q->h[j]},
               .z = {q->z[i], q->z[j]},
               .out = q->z[k] * q->z[k],
               .r = q->r,
               .l = q->l,
               .top = top1,
               .turn = side1 * side2,
               .n1 = {side1, 0},
               .n2 = {0, side2},
               .s1 = s1,
               .s2 = s2,
               .rise1 = rise1,
               .rise2 = rise2};
  if (!(z1 * z2 < 0)) {
    search_arc(q, i, j, &arc, tie);
    return;
  }
  // Split where n.z = 0, since the rim changes there.
  tbArc rest = arc;
  tbReal scale = 1 / sqrt(z1 * z1 + z2 * z2), slope, curvature;
  arc.n2[0] = rest.n1[0] = side1 * fabs(z2) * scale;
  arc.n2[1] = rest.n1[1] = side2 * fabs(z1) * scale;
  arc.s2 = tb_arc_at(&arc, arc.n2, &slope, &curvature);
  arc.rise2 = -slope;
  rest.top = top2;
  rest.s1 = tb_arc_at(&rest, rest.n1, &rest.rise1, &curvature);
  search_arc(q, i, j, &arc, tie);
  search_arc(q, i, j, &rest, tie);
}

// Normals perpendicular to an edge of the box, with a rim point as support. The best n has n.p >=
// 0, which leaves three quarters of each circle.
static void try_edges(Query* q, tbReal tie) {
  for (int k = 0; k < 3; k++) {
    int i = k < 2 ? k + 1 : 0, j = k > 0 ? k - 1 : 2;
    tbReal si = q->p[i] < 0 ? -1 : 1, sj = q->p[j] < 0 ? -1 : 1;
    search_quarter(q, i, j, k, si, sj, tie);
    search_quarter(q, i, j, k, si, -sj, tie);
    search_quarter(q, i, j, k, -si, sj, tie);
  }
}

// The support point of the cylinder, in the box's frame relative to the cylinder's centre; the
// middle of the line if the support is a line on the side.
static void cylinder_point(const Query* q, tbReal x[3]) {
  tbReal along = tb_dot3(q->n, q->z), flat[3];
  tb_add_scaled3(flat, q->n, -along, q->z);
  tbReal length = tb_norm3(flat);
  tb_scale3(x, flat, length > 1e-12 ? q->r / length : 0);
  if (fabs(along) > 1e-12) tb_add_scaled3(x, x, copysign(q->l, along), q->z);
}

// Intersection of the box's edge with a line on the cylinder's side; both lie in a plane normal to
// n.
static void crossing_point(const Query* q, tbReal x[3]) {
  int axis = fabs(q->n[0]) <= fabs(q->n[1]) && fabs(q->n[0]) <= fabs(q->n[2])
                 ? 0
                 : (fabs(q->n[1]) <= fabs(q->n[2]) ? 1 : 2);
  tbReal from[3];
  for (int i = 0; i < 3; i++) from[i] = i == axis ? q->p[i] : q->p[i] - copysign(q->h[i], q->n[i]);
  // Move along the edge to the point nearest to the cylinder's axis: the projection of from + t e
  // perpendicular to z and n vanishes there.
  tbReal flat[3];
  tb_add_scaled3(flat, from, -tb_dot3(from, q->z), q->z);
  tbReal t = flat[axis] / (q->across[axis] * q->across[axis]);
  tb_copy3(x, from);
  x[axis] -= tb_min(tb_max(t, -q->h[axis]), q->h[axis]);
  tb_add_scaled3(x, x, -q->best, q->n);
}

// Whether x is in the cylinder and, translated along n, in the box.
static bool is_in_both(const Query* q, const tbReal x[3], tbReal slack) {
  tbReal along = tb_dot3(x, q->z), flat[3], y[3];
  tb_add_scaled3(flat, x, -along, q->z);
  tb_sub3(y, x, q->p);
  tb_add_scaled3(y, y, q->best, q->n);
  bool in_box = true;
  for (int i = 0; i < 3; i++) in_box &= fabs(y[i]) <= q->h[i] + slack;
  return in_box && fabs(along) <= q->l + slack && tb_norm3(flat) <= q->r + slack;
}

// If the chosen point is not in both (parallel lines or faces), the witness points are support
// points, which do not face each other; the caller must still compute witness points.
static void set_result(const Query* q, const tbConvexPair* pair, tbConvexResult* r) {
  tbReal x[3], corner[3];
  for (int i = 0; i < 3; i++) corner[i] = q->p[i] - copysign(q->h[i], q->n[i]);
  if (q->touching == ONE_OF_CYLINDER) {
    cylinder_point(q, x);
  } else if (q->touching == CROSSING) {
    crossing_point(q, x);
  } else {
    tb_add_scaled3(x, corner, -q->best, q->n);
  }
  bool fits = is_in_both(q, x, 1e-10 * pair->scale);
  if (!fits) cylinder_point(q, x);
  tb_mul_mat3_vec3(r->normal, pair->mat, q->n);
  tb_mul_mat3_vec3(r->point_a, pair->mat, x);
  tb_add_scaled3(r->point_b, r->point_a, q->best, r->normal);
  if (!fits) tb_mul_mat3_vec3(r->point_b, pair->mat, corner);
  r->dist = q->best;
  r->count = r->capped = r->certified = 0;
}

bool tb_depth_cylinder_box(const tbConvexPair* pair, tbReal limit, tbConvexResult* r) {
  Query q = {.best = -INFINITY, .r = pair->a.size[0], .l = pair->a.size[2]};
  tb_mul_mat3t_vec3(q.p, pair->mat, pair->pos);
  tb_copy3(q.z, pair->mat + 6);
  tb_copy3(q.h, pair->b.size);
  for (int i = 0; i < 3; i++) {
    tbReal y = q.z[i < 2 ? i + 1 : 0], x = q.z[i > 0 ? i - 1 : 2];
    q.across[i] = sqrt(x * x + y * y);
  }
  tbReal tie = TIE * pair->scale;
  try_normals(&q);
  if (!(q.best > limit)) try_side(&q, tie);
  if (!(q.best > limit)) try_edges(&q, tie);
  set_result(&q, pair, r);
  return tb_depth_answers(r, limit);
}
