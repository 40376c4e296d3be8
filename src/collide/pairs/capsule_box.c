// Capsule and box. The capsule's axis is a segment: if it is outside the box, its closest point
// gives the contact, and a second ball is added where the segment runs along the same face or edge.
// A segment that enters the box is separated along the shortest of 3 face normals and 3 edge cross
// products.
#include "collide/pairs/segment_box.h"

typedef struct {
  const tbShape *capsule, *box;
  tbSegment seg;  // the capsule's axis in the box's frame
  tbReal margin;
} Query;

// Writes a contact from local quantities: x is a point of the axis, n the local normal from capsule
// to box.
static int add_contact(const Query* q, const tbReal x[3], const tbReal n[3], tbReal dist,
                       uint32_t feature, tbContactPoint* out) {
  if (!(dist <= q->margin)) return 0;
  tbReal local[3], pos[3], normal[3];
  tb_add_scaled3(local, x, q->capsule->size[0] + 0.5 * dist, n);
  tb_mul_mat3_vec3(pos, q->box->mat, local);
  tb_add3(pos, pos, q->box->pos);
  tb_mul_mat3_vec3(normal, q->box->mat, n);
  tb_contact_set(out, pos, normal, dist, feature);
  return 1;
}

static void point_at(const tbSegment* seg, tbReal t, tbReal x[3]) {
  tb_add_scaled3(x, seg->center, t, seg->half);
}

// A ball of the capsule at t, outside the box.
static int add_ball(const Query* q, tbReal t, uint32_t feature, tbContactPoint* out) {
  tbReal excess[3], x[3];
  tb_segment_box_excess(&q->seg, q->box->size, t, excess);
  tbReal gap = tb_norm3(excess);
  if (!(gap > 0) || !(gap - q->capsule->size[0] <= q->margin)) return 0;
  tb_scale3(excess, excess, -1 / gap);
  point_at(&q->seg, t, x);
  return add_contact(q, x, excess, gap - q->capsule->size[0], feature, out);
}

// The stretch of the segment along the box feature closest at t: the part within the slabs of the
// axes along which the closest direction has (almost) no component.
static bool stretch_along(const Query* q, const tbReal excess[3], tbReal low_high[2]) {
  tbReal gap = tb_norm3(excess);
  int face = 0;
  for (int k = 1; k < 3; k++) {
    if (fabs(excess[k]) > fabs(excess[face])) face = k;
  }
  low_high[0] = -1;
  low_high[1] = 1;
  for (int k = 0; k < 3; k++) {
    if (k == face || fabs(excess[k]) > 0.2 * gap) continue;
    tb_segment_clip_slab(&q->seg, k, q->box->size[k], &low_high[0], &low_high[1]);
  }
  return low_high[0] <= low_high[1];
}

// Whether the end of a stretch is the same point as t.
static bool same_point(tbReal t, const tbReal end[2], int i) {
  return fabs(end[i] - t) <= 1e-2 * (end[1] - end[0]);
}

// Adds balls at the ends of the stretch, besides the closest ball out[0] at t: the end farther from
// it, and the nearer one if it is nearly as deep. Ends with another normal belong to other
// features.
static int add_ends(const Query* q, tbReal t, const tbReal end[2], tbContactPoint* out) {
  int count = 1, far = fabs(end[1] - t) > fabs(end[0] - t) ? 1 : 0;
  tbReal level = out[0].dist + 1e-3 * q->capsule->size[0];
  for (int i = 0; i < 2; i++) {
    if (same_point(t, end, i) || !add_ball(q, end[i], 1 + (uint32_t)i, out + count)) continue;
    bool same_way = tb_dot3(out[0].frame, out[count].frame) > 0.8;
    if (same_way && (i == far || out[count].dist <= level)) count++;
  }
  return count - 1;
}

// The segment is outside: the closest ball, and the ends of the stretch along the same feature.
static int collide_outside(const Query* q, tbReal t, const tbReal excess[3], tbReal gap,
                           tbContactPoint* out) {
  tbReal end[2], other[3];
  if (!(gap - q->capsule->size[0] <= q->margin)) return 0;
  bool beside = stretch_along(q, excess, end);

  // If the segment is parallel to the feature, move the closest point to an end.
  uint32_t feature = 0;
  for (int i = 0; i < 2 && beside && feature == 0; i++) {
    tb_segment_box_excess(&q->seg, q->box->size, end[i], other);
    tb_sub3(other, other, excess);
    if (tb_dot3(other, other) > 1e-22 * gap * gap) continue;
    t = end[i];
    feature = 1 + (uint32_t)i;
  }
  // A closest ball at an end has that end's identity, since the closer end alternates as a log
  // rocks.
  for (int i = 0; i < 2 && beside && feature == 0; i++) {
    if (same_point(t, end, i)) feature = 1 + (uint32_t)i;
  }
  if (!add_ball(q, t, feature, out)) return 0;
  return beside ? 1 + add_ends(q, t, end, out) : 1;
}

// Overlap along face normal k of the box, with the capsule leaving on the side of its centre.
static tbReal face_depth(const Query* q, int k) {
  return q->box->size[k] + fabs(q->seg.half[k]) - fabs(q->seg.center[k]);
}

// Direction e_k x half (unit, from the box's centre to the segment) and the overlap along it. False
// for a segment parallel to e_k.
static bool edge_axis(const Query* q, int k, tbReal axis[3], tbReal* depth) {
  int i = (k + 1) % 3, j = (k + 2) % 3;
  const tbReal *d = q->seg.half, *size = q->box->size;
  tbReal length = sqrt(d[i] * d[i] + d[j] * d[j]);
  if (length <= 1e-9 * (fabs(d[k]) + size[k])) return false;
  axis[k] = 0;
  axis[i] = -d[j] / length;
  axis[j] = d[i] / length;
  tbReal offset = tb_dot3(axis, q->seg.center);
  if (offset < 0) tb_scale3(axis, axis, -1);
  *depth = size[i] * fabs(axis[i]) + size[j] * fabs(axis[j]) - fabs(offset);
  return true;
}

// Separation through face k: contacts at the ends of the stretch over that face.
static int leave_by_face(const Query* q, int k, tbContactPoint* out) {
  const tbSegment* seg = &q->seg;
  tbReal side = seg->center[k] < 0 ? -1 : 1, end[2] = {-1, 1}, n[3] = {0, 0, 0}, x[3];
  n[k] = -side;
  for (int i = 0; i < 3; i++) {
    if (i != k) tb_segment_clip_slab(seg, i, q->box->size[i], &end[0], &end[1]);
  }

  // The deepest end always counts, even if rounding clipped it.
  if (side * seg->half[k] > 0) end[0] = -1;
  if (side * seg->half[k] < 0) end[1] = 1;
  if (end[1] < end[0]) end[1] = end[0] = seg->half[k] * side > 0 ? -1 : 1;
  int count = 0, ends = end[1] - end[0] > 1e-9 ? 2 : 1;
  for (int i = 0; i < ends; i++) {
    point_at(seg, end[i], x);
    tbReal dist = side * x[k] - q->box->size[k] - q->capsule->size[0];
    count += add_contact(q, x, n, dist, 1 + (uint32_t)i, out + count);
  }
  return count;
}

// Separation across the box's edge along e_k: one contact where the segment passes that edge.
static int leave_by_edge(const Query* q, int k, const tbReal axis[3], tbReal depth,
                         tbContactPoint* out) {
  int i = (k + 1) % 3, j = (k + 2) % 3;
  const tbReal *c = q->seg.center, *d = q->seg.half, *size = q->box->size;

  // In the plane perpendicular to e_k: the segment's point closest to the corner that sticks out.
  tbReal corner_i = axis[i] < 0 ? -size[i] : size[i], corner_j = axis[j] < 0 ? -size[j] : size[j];
  tbReal across = d[i] * d[i] + d[j] * d[j];
  tbReal t = tb_clamp(((corner_i - c[i]) * d[i] + (corner_j - c[j]) * d[j]) / across, -1, 1);
  tbReal x[3], n[3];
  point_at(&q->seg, t, x);
  tb_scale3(n, axis, -1);
  return add_contact(q, x, n, -depth - q->capsule->size[0], 3 + (uint32_t)k, out);
}

// The segment enters the box.
static int collide_inside(const Query* q, tbContactPoint* out) {
  int face = 0, edge = -1;
  for (int k = 1; k < 3; k++) {
    if (face_depth(q, k) < face_depth(q, face)) face = k;
  }
  tbReal best = face_depth(q, face), axis[3], depth, edge_direction[3] = {0, 0, 0};
  tbReal scale = q->box->size[0] + q->box->size[1] + q->box->size[2] + q->capsule->size[1];
  for (int k = 0; k < 3; k++) {
    if (!edge_axis(q, k, axis, &depth) || depth >= best - 1e-10 * scale) continue;
    best = depth;
    edge = k;
    tb_copy3(edge_direction, axis);
  }
  if (edge < 0) return leave_by_face(q, face, out);
  return leave_by_edge(q, edge, edge_direction, best, out);
}

int tb_collide_capsule_box(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                           tbCollideCache* warm) {
  (void)warm;
  Query q = {.capsule = a, .box = b, .margin = margin};
  tbReal offset[3], axis[3] = {a->mat[2], a->mat[5], a->mat[8]}, excess[3];
  tb_sub3(offset, a->pos, b->pos);
  tb_mul_mat3t_vec3(q.seg.center, b->mat, offset);
  tb_mul_mat3t_vec3(q.seg.half, b->mat, axis);
  tb_scale3(q.seg.half, q.seg.half, a->size[1]);
  for (int k = 0; k < 3; k++) {
    tbReal reach = b->size[k] + fabs(q.seg.half[k]) + a->size[0] + margin;
    if (!(fabs(q.seg.center[k]) <= reach)) return 0;
  }
  tbReal t = tb_segment_box_closest(&q.seg, b->size);
  tb_segment_box_excess(&q.seg, b->size, t, excess);
  tbReal gap = tb_norm3(excess);

  // Within rounding of the surface the difference vector has no reliable direction; the separating
  // direction of the overlap has.
  tbReal scale = b->size[0] + b->size[1] + b->size[2] + a->size[1];
  if (gap <= 1e-11 * scale) return collide_inside(&q, out);
  return collide_outside(&q, t, excess, gap, out);
}
