// Overlap polygon of two box faces, projected along a direction n.
//
// A point q of b's face is moved along n onto the plane of a's face x_k = c (k = face_a):
//   u = q_u - n_u/n_k (q_k - c),   v = q_v - n_v/n_k (q_k - c),   gap = (q_k - c)/n_k
// all linear in the face coordinates (alpha, beta) in [-1, 1]^2 of b's face. In these coordinates
// a's face is the rectangle |u| <= s_u, |v| <= s_v and b's face a parallelogram. The corners of the
// overlap are corners of either face inside the other, and intersections of edges.
#include "base/minmax.h"
#include "collide/pairs/box_box.h"

// b's face, projected: value(alpha, beta) = center + alpha along1 + beta along2, components (u, v,
// gap).
typedef struct {
  tbReal center[3], along1[3], along2[3];
  tbReal half_u, half_v;
  int k, u, v;   // a's axes: normal of its face, and the two in it
  int j1, j2;    // b's axes in its face
  tbReal plane;  // x_k of a's face
  tbReal slack;  // tolerance (m) for coincident points
} Projection;

static void project(const tbBoxPair* p, const Projection* x, const tbReal q[3], bool is_point,
                    tbReal uvg[3]) {
  tbReal gap = (is_point ? q[x->k] - x->plane : q[x->k]) / p->n[x->k];
  uvg[0] = q[x->u] - p->n[x->u] * gap;
  uvg[1] = q[x->v] - p->n[x->v] * gap;
  uvg[2] = gap;
}

static void init_projection(const tbBoxPair* p, Projection* x) {
  x->k = p->face_a;
  x->u = (x->k + 1) % 3;
  x->v = (x->k + 2) % 3;
  x->half_u = p->sa[x->u] + p->tolerance;
  x->half_v = p->sa[x->v] + p->tolerance;
  x->slack = p->touching;
  x->plane = p->side_a * p->sa[x->k];
  x->j1 = (p->face_b + 1) % 3;
  x->j2 = (p->face_b + 2) % 3;
  tbReal center[3], edge1[3], edge2[3];
  for (int m = 0; m < 3; m++) {
    const tbReal* row = p->R + 3 * m;
    center[m] = p->d[m] + row[p->face_b] * p->side_b * p->sb[p->face_b];
    edge1[m] = row[x->j1] * p->sb[x->j1];
    edge2[m] = row[x->j2] * p->sb[x->j2];
  }
  project(p, x, center, true, x->center);
  project(p, x, edge1, false, x->along1);
  project(p, x, edge2, false, x->along2);
}

// Adds the point over (u, v) on a's face with the gap uvg[2].
static int add_point(const tbBoxPair* p, const Projection* x, const tbReal uvg[3], tbReal margin,
                     uint32_t feature, tbBoxPoint* point) {
  if (!(uvg[2] <= margin)) return 0;
  point->local[x->u] = uvg[0];
  point->local[x->v] = uvg[1];
  point->local[x->k] = x->plane;
  tb_add_scaled3(point->local, point->local, 0.5 * uvg[2], p->n);
  point->gap = uvg[2];
  point->feature = feature;
  return 1;
}

// Clips the parameter range of one coordinate of an edge to |x| <= half; stores the side that
// clips. An edge within the slack of a side along its whole length is not clipped, since its
// intersection would be decided by rounding alone.
static void cut(tbReal x, tbReal d, tbReal half, tbReal slack, int side_code, tbReal* low,
                tbReal* high, int* low_side, int* high_side) {
  if (fabs(x) + fabs(d) <= half + slack) return;
  if (d == 0) {
    if (fabs(x) > half) *high = -2;
    return;
  }
  tbReal scale = 1 / d, enter = (-half - x) * scale, leave = (half - x) * scale;
  int enter_side = side_code, leave_side = side_code + 1;
  if (d < 0) {
    tbReal swap = enter;
    enter = leave;
    leave = swap;
    enter_side = side_code + 1;
    leave_side = side_code;
  }
  if (enter > *low) {
    *low = enter;
    *low_side = enter_side;
  }
  if (leave < *high) {
    *high = leave;
    *high_side = leave_side;
  }
}

// Whether an intersection with a side lies, up to a small distance, on the straight line between
// the adjacent corners of the overlap, to which it adds nothing. The intersection of such nearly
// parallel edges is ill-conditioned: for a resting box it would move along them from step to step.
static bool is_between(const tbReal along[3], int side) {
  const tbReal slight = 1e-5;
  tbReal across = along[side < 2 ? 0 : 1];
  return across * across <= slight * slight * (along[0] * along[0] + along[1] * along[1]);
}

// Whether the end t = -1 or 1 of an edge lies in a's face, up to the slack.
static bool end_inside(const Projection* x, const tbReal middle[3], const tbReal along[3],
                       tbReal t) {
  return fabs(middle[0] + t * along[0]) <= x->half_u + x->slack &&
         fabs(middle[1] + t * along[1]) <= x->half_v + x->slack;
}

// Adds a corner of b in a's face; one outside within the slack is moved onto the face's edge.
static int add_corner(const tbBoxPair* p, const Projection* x, const tbReal middle[3],
                      const tbReal along[3], tbReal margin, uint32_t feature, tbBoxPoint* point) {
  tbReal uvg[3], u, v;
  tb_sub3(uvg, middle, along);
  u = tb_max(-x->half_u, tb_min(x->half_u, uvg[0]));
  v = tb_max(-x->half_v, tb_min(x->half_v, uvg[1]));
  if (u != uvg[0] || v != uvg[1]) {
    // The gap is linear over a's face.
    const tbReal *d1 = x->along1, *d2 = x->along2;
    tbReal det = d1[0] * d2[1] - d1[1] * d2[0], du = u - uvg[0], dv = v - uvg[1];
    if (det != 0) {
      uvg[2] += ((du * d2[1] - dv * d2[0]) * d1[2] + (d1[0] * dv - d1[1] * du) * d2[2]) / det;
    }
    uvg[0] = u;
    uvg[1] = v;
  }
  return add_point(p, x, uvg, margin, feature, point);
}

// The corner of b at the start of an edge of its face, in cyclic order.
static int start_of_edge(const tbBoxPair* p, const Projection* x, int edge) {
  int upper1 = edge == 1 || edge == 2, upper2 = edge >= 2;
  return (p->side_b > 0) << p->face_b | upper1 << x->j1 | upper2 << x->j2;
}

// The edge of a on a side of its face: sides 0 and 1 bound u, 2 and 3 bound v.
static int edge_of_side(const tbBoxPair* p, const Projection* x, int side) {
  int corner = (p->side_a > 0) << x->k | (side & 1) << (side < 2 ? x->u : x->v);
  return tb_box_edge(side < 2 ? x->v : x->u, corner);
}

// One edge of b's face: its start if that is inside a's face, and its intersections with a's edges.
// An edge starts at t = -1; its other end is the next edge's start. Ends within the slack of a's
// face count as inside, so that equal faces on each other keep their four contacts while they come
// to rest.
static int clip_edge(const tbBoxPair* p, const Projection* x, const tbReal middle[3],
                     const tbReal along[3], int edge, tbReal margin, tbBoxPoint* points) {
  tbReal low = -1, high = 1, uvg[3];
  int low_side = -1, high_side = -1, count = 0;
  int corner = start_of_edge(p, x, edge), edge_b = tb_box_edge(edge & 1 ? x->j2 : x->j1, corner);
  bool starts = end_inside(x, middle, along, -1), ends = end_inside(x, middle, along, 1);
  if (starts) {
    count += add_corner(p, x, middle, along, margin, TB_BOX_FEATURE(0, corner, 0), points);
    if (ends) return count;
  }
  cut(middle[0], along[0], x->half_u, x->slack, 0, &low, &high, &low_side, &high_side);
  cut(middle[1], along[1], x->half_v, x->slack, 2, &low, &high, &low_side, &high_side);
  // An intersection within the slack of an end that lies inside the face is that corner.
  tbReal next = x->slack / sqrt(along[0] * along[0] + along[1] * along[1]);
  if (!(low <= high) || (starts && high <= next - 1) || (ends && low >= 1 - next)) return count;
  if (!starts && low_side >= 0 && !is_between(along, low_side)) {
    tb_add_scaled3(uvg, middle, low, along);
    uint32_t feature = TB_BOX_FEATURE(2, edge_of_side(p, x, low_side), edge_b);
    count += add_point(p, x, uvg, margin, feature, points + count);
  }
  if (!ends && high_side >= 0 && !is_between(along, high_side)) {
    tb_add_scaled3(uvg, middle, high, along);
    uint32_t feature = TB_BOX_FEATURE(2, edge_of_side(p, x, high_side), edge_b);
    count += add_point(p, x, uvg, margin, feature, points + count);
  }
  return count;
}

// Whether one of the points lies at (u, v), up to rounding.
static bool have_point(const tbBoxPair* p, const Projection* x, const tbReal uv[2],
                       const tbBoxPoint* points, int count) {
  tbReal near = 4 * x->slack;
  for (int i = 0; i < count; i++) {
    tbReal shift = 0.5 * points[i].gap;
    tbReal u = points[i].local[x->u] - shift * p->n[x->u] - uv[0];
    tbReal v = points[i].local[x->v] - shift * p->n[x->v] - uv[1];
    if (u * u + v * v < near * near) return true;
  }
  return false;
}

// Adds the corners of a's face inside b's face to the `count` points. Returns the new count.
static int corners_of_a(const tbBoxPair* p, const Projection* x, tbReal margin, tbBoxPoint* points,
                        int count) {
  const tbReal *d1 = x->along1, *d2 = x->along2;
  tbReal det = d1[0] * d2[1] - d1[1] * d2[0];
  tbReal smallest = p->tolerance * p->tolerance;
  if (fabs(det) <= smallest) return count;
  tbReal half_u = p->sa[x->u], half_v = p->sa[x->v], scale = 1 / det;

  // A corner on b's edge may already have been added as an intersection.
  tbReal inside = 1 - 1e-4, touching = 1 + 1e-9;
  for (int corner = 0; corner < 4; corner++) {
    tbReal uvg[3] = {corner & 1 ? half_u : -half_u, corner & 2 ? half_v : -half_v, 0};
    tbReal u = uvg[0] - x->center[0], v = uvg[1] - x->center[1];
    tbReal alpha = (u * d2[1] - v * d2[0]) * scale, beta = (d1[0] * v - d1[1] * u) * scale;
    tbReal most = tb_max(fabs(alpha), fabs(beta));
    if (!(most < touching) || (most > inside && have_point(p, x, uvg, points, count))) continue;
    uvg[2] = x->center[2] + alpha * d1[2] + beta * d2[2];
    int which = (p->side_a > 0) << x->k | (corner & 1) << x->u | corner >> 1 << x->v;
    count += add_point(p, x, uvg, margin, TB_BOX_FEATURE(1, which, 0), points + count);
  }
  return count;
}

int tb_box_box_clip(const tbBoxPair* p, tbReal margin, tbBoxPoint* points) {
  Projection x;
  init_projection(p, &x);

  // Faces that are laterally separated, by their bounding rectangles.
  for (int i = 0; i < 2; i++) {
    tbReal reach = fabs(x.along1[i]) + fabs(x.along2[i]) + (i ? x.half_v : x.half_u);
    if (!(fabs(x.center[i]) <= reach + x.slack)) return 0;
  }

  // The four edges of b's face in cyclic order.
  tbReal middle[3], back1[3], back2[3];
  int count = 0;
  tb_scale3(back1, x.along1, -1);
  tb_scale3(back2, x.along2, -1);
  tb_sub3(middle, x.center, x.along2);
  count += clip_edge(p, &x, middle, x.along1, 0, margin, points);
  tb_add3(middle, x.center, x.along1);
  count += clip_edge(p, &x, middle, x.along2, 1, margin, points + count);
  tb_add3(middle, x.center, x.along2);
  count += clip_edge(p, &x, middle, back1, 2, margin, points + count);
  tb_sub3(middle, x.center, x.along1);
  count += clip_edge(p, &x, middle, back2, 3, margin, points + count);
  return corners_of_a(p, &x, margin, points, count);
}
