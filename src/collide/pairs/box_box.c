// Two boxes: the best of 15 separating axes, then the overlap polygon of the two faces that face
// each other.
//
// All quantities are in a's frame. The axis of largest signed separation is exact if the boxes
// overlap (the Minkowski difference of two boxes has no other face normals). If they are separated,
// it is exact unless the closest features include a vertex that faces no face; box_apart.c handles
// that case. Contacts are the corners of the overlap polygon of the two faces, projected along the
// normal, each with its own gap along the normal.
#include "base/minmax.h"
#include "collide/pairs/box_box.h"

#include "collide/manifold.h"
#include "collide/pairs/ball.h"

// Keeps an axis only if it improves the separation by more than rounding, so that on a tie faces
// are preferred over edges and a's faces over b's.
static void consider(tbBoxPair* p, tbReal separation, int code, tbReal x, tbReal y, tbReal z) {
  if (!(separation > p->separation + p->tolerance)) return;
  p->separation = separation;
  p->axis_code = code;
  tb_set3(p->n, x, y, z);
}

// Half extents of both boxes along an axis (a's frame), computed from the axis itself.
static tbReal extent_along(const tbBoxPair* p, const tbReal axis[3]) {
  tbReal sum = 0, along_b[3];
  tb_mul_mat3t_vec3(along_b, p->R, axis);
  for (int k = 0; k < 3; k++) sum += p->sa[k] * fabs(axis[k]) + p->sb[k] * fabs(along_b[k]);
  return sum;
}

// An axis that separates by more than the margin ends the search.
static inline bool stop_separated(tbBoxPair* p, tbReal separation) {
  p->separation = separation;
  return false;
}

// Face normals of both boxes. False as soon as one separates by more than the margin.
static bool consider_faces(tbBoxPair* p, tbReal margin) {
  const tbReal* R = p->R;
  for (int i = 0; i < 3; i++) {
    tbReal reach =
        fabs(R[3 * i]) * p->sb[0] + fabs(R[3 * i + 1]) * p->sb[1] + fabs(R[3 * i + 2]) * p->sb[2];
    tbReal separation = fabs(p->d[i]) - p->sa[i] - reach, side = p->d[i] < 0 ? -1 : 1;
    if (!(separation <= margin)) return stop_separated(p, separation);
    consider(p, separation, i, i == 0 ? side : 0, i == 1 ? side : 0, i == 2 ? side : 0);
  }
  for (int j = 0; j < 3; j++) {
    tbReal reach = fabs(R[j]) * p->sa[0] + fabs(R[3 + j]) * p->sa[1] + fabs(R[6 + j]) * p->sa[2];
    tbReal offset = R[j] * p->d[0] + R[3 + j] * p->d[1] + R[6 + j] * p->d[2];
    tbReal separation = fabs(offset) - p->sb[j] - reach, side = offset < 0 ? -1 : 1;
    if (!(separation <= margin)) return stop_separated(p, separation);
    consider(p, separation, 3 + j, side * R[j], side * R[3 + j], side * R[6 + j]);
  }
  return true;
}

// Axis e_i x (column j of R), of squared length 1 - R_ij^2. Written out for constant indices.
static inline bool consider_edge(tbBoxPair* p, tbReal margin, int i, int i1, int i2, int j, int j1,
                                 int j2) {
  const tbReal* R = p->R;
  tbReal y = -R[3 * i2 + j], z = R[3 * i1 + j], squared = y * y + z * z;
  tbReal offset = y * p->d[i1] + z * p->d[i2], axis[3];
  tbReal extent = p->sa[i1] * fabs(y) + p->sa[i2] * fabs(z) + p->sb[j1] * fabs(R[3 * i + j2]) +
                  p->sb[j2] * fabs(R[3 * i + j1]);
  axis[i] = 0;
  axis[i1] = y;
  axis[i2] = z;
  if (squared < 1e-4) {
    // Nearly parallel edges: the extent above loses precision. Parallel edges have no axis.
    if (squared < 1e-18) return true;
    extent = extent_along(p, axis);
  }

  // Compare before normalizing, since most axes are rejected.
  tbReal excess = fabs(offset) - extent, worst = p->separation + p->tolerance;
  if ((excess < 0) & (worst <= 0) & (excess * excess >= worst * worst * squared)) return true;
  tbReal scale = 1 / sqrt(squared), separation = excess * scale;
  if (!(separation <= margin)) return stop_separated(p, separation);
  if (offset < 0) scale = -scale;
  consider(p, separation, 6 + 3 * i + j, axis[0] * scale, axis[1] * scale, axis[2] * scale);
  return true;
}

// Pairs of an edge of a and an edge of b. False as soon as one separates by more than the margin.
static bool consider_edges(tbBoxPair* p, tbReal margin) {
  return consider_edge(p, margin, 0, 1, 2, 0, 1, 2) && consider_edge(p, margin, 0, 1, 2, 1, 2, 0) &&
         consider_edge(p, margin, 0, 1, 2, 2, 0, 1) && consider_edge(p, margin, 1, 2, 0, 0, 1, 2) &&
         consider_edge(p, margin, 1, 2, 0, 1, 2, 0) && consider_edge(p, margin, 1, 2, 0, 2, 0, 1) &&
         consider_edge(p, margin, 2, 0, 1, 0, 1, 2) && consider_edge(p, margin, 2, 0, 1, 1, 2, 0) &&
         consider_edge(p, margin, 2, 0, 1, 2, 0, 1);
}

// Boxes that touch along an edge have zero separation along several axes, and which of them is the
// maximum changes with the last bits of a resting pose. The first face among these axes is chosen.
static void snap_axis(tbBoxPair* p) {
  if (!(fabs(p->separation) <= p->touching)) return;
  tbBoxPair faces = *p;
  faces.axis_code = -1;
  faces.tolerance = p->touching;
  faces.separation -= 2 * p->touching;
  consider_faces(&faces, INFINITY);
  if (faces.axis_code < 0) return;
  p->separation = faces.separation;
  p->axis_code = faces.axis_code;
  tb_copy3(p->n, faces.n);
}

// The faces of the two boxes that face each other along n.
static void choose_faces(tbBoxPair* p) {
  tbReal along_b[3];
  tb_mul_mat3t_vec3(along_b, p->R, p->n);
  p->face_a = p->face_b = 0;
  for (int k = 1; k < 3; k++) {
    if (fabs(p->n[k]) > fabs(p->n[p->face_a])) p->face_a = k;
    if (fabs(along_b[k]) > fabs(along_b[p->face_b])) p->face_b = k;
  }
  p->side_a = p->n[p->face_a] < 0 ? -1 : 1;
  p->side_b = along_b[p->face_b] < 0 ? 1 : -1;
}

// The contact where the two edges of an edge axis are closest.
static void edge_contact(const tbBoxPair* p, tbBoxPoint* point) {
  int i = (p->axis_code - 6) / 3, j = (p->axis_code - 6) % 3;
  tbReal corner_a[3], corner_b[3], edge_b[3], diff[3], along_b[3];
  tb_mul_mat3t_vec3(along_b, p->R, p->n);
  tb_copy3(corner_b, p->d);
  int at_a = 0, at_b = 0;
  for (int k = 0; k < 3; k++) {
    at_a |= (p->n[k] >= 0) << k;
    at_b |= (along_b[k] < 0) << k;
    corner_a[k] = k == i ? 0 : (p->n[k] < 0 ? -p->sa[k] : p->sa[k]);
    tbReal y = k == j ? 0 : (along_b[k] < 0 ? p->sb[k] : -p->sb[k]);
    for (int m = 0; m < 3; m++) corner_b[m] += p->R[3 * m + k] * y;
    edge_b[k] = p->R[3 * k + j];
  }

  // Lines corner_a + s e_i and corner_b + t edge_b.
  tb_sub3(diff, corner_b, corner_a);
  tbReal b = edge_b[i], c = diff[i], f = tb_dot3(diff, edge_b);
  tbReal t = tb_clamp((b * c - f) / tb_max(1 - b * b, 1e-18), -p->sb[j], p->sb[j]);
  tb_add_scaled3(point->local, corner_b, t, edge_b);
  point->gap = p->separation;
  tb_add_scaled3(point->local, point->local, -0.5 * point->gap, p->n);
  point->feature = TB_BOX_FEATURE(2, tb_box_edge(i, at_a), tb_box_edge(j, at_b));
}

// Adds the contact of the edge axis; it replaces an intersection of the same edges.
static int add_edge_contact(const tbBoxPair* p, tbBoxPoint* points, int count) {
  edge_contact(p, &points[count]);
  for (int i = 0; i < count; i++) {
    if (points[i].feature != points[count].feature) continue;
    points[i] = points[count];
    return count;
  }
  return count + 1;
}

static void write_contacts(const tbShape* a, const tbBoxPair* p, const tbBoxPoint* points,
                           int count, tbContactPoint* out) {
  tbReal normal[3], pos[3];
  tb_mul_mat3_vec3(normal, a->mat, p->n);
  for (int i = 0; i < count; i++) {
    tb_mul_mat3_vec3(pos, a->mat, points[i].local);
    tb_add3(pos, pos, a->pos);
    tb_contact_set(&out[i], pos, normal, points[i].gap, points[i].feature);
  }
}

// Drops coincident points, which only boxes of zero thickness have.
static int drop_duplicates(const tbBoxPair* p, tbBoxPoint* points, int count) {
  int kept = 0;
  for (int i = 0; i < count; i++) {
    bool twin = false;
    for (int j = 0; j < kept && !twin; j++) {
      tbReal diff[3];
      tb_sub3(diff, points[i].local, points[j].local);
      twin = tb_dot3(diff, diff) < p->tolerance * p->tolerance;
    }
    if (!twin) points[kept++] = points[i];
  }
  return kept;
}

static void init_pair(tbBoxPair* p, const tbShape* a, const tbShape* b, tbReal margin) {
  tbReal offset[3];
  tb_sub3(offset, b->pos, a->pos);
  tb_mul_mat3t_vec3(p->d, a->mat, offset);
  tb_mul_mat3t_mat3(p->R, a->mat, b->mat);
  p->sa = a->size;
  p->sb = b->size;
  tbReal scale = 0, thin = INFINITY;
  for (int k = 0; k < 3; k++) {
    scale += a->size[k] + b->size[k];
    tbReal thinner = a->size[k] < b->size[k] ? a->size[k] : b->size[k];
    thin = thinner < thin ? thinner : thin;
  }
  p->tolerance = 1e-12 * scale;
  // Distance queries, which pass an infinite margin, need a smaller tolerance than resting contacts
  // do.
  p->touching = (isinf(margin) ? 2e-10 : 1e-8) * scale;
  p->thin = thin < 1e-9 * scale;
  p->separation = -INFINITY;
  p->axis_code = -1;
}

int tb_collide_box_box(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                       tbCollideCache* warm) {
  tbBoxPair p;
  init_pair(&p, a, b, margin);
  if (!consider_faces(&p, margin) || !consider_edges(&p, margin) || p.axis_code < 0) {
    if (warm) warm->gap = p.separation;
    return 0;
  }
  snap_axis(&p);
  choose_faces(&p);

  tbBoxPoint points[TB_BOX_MAX_POINTS];
  int count = tb_box_box_clip(&p, margin, points);
  if (p.thin) count = drop_duplicates(&p, points, count);
  tbReal deepest = INFINITY;
  for (int i = 0; i < count; i++) deepest = points[i].gap < deepest ? points[i].gap : deepest;

  // The polygon must contain a point as deep as the separating axis gives.
  tbReal slack = fabs(p.separation) <= p.touching ? 2 * p.touching : 4 * p.tolerance;
  if (!(deepest <= p.separation + slack)) {
    if (p.separation > 0) return tb_box_box_apart(&p, a, margin, out);
    if (p.axis_code >= 6) count = add_edge_contact(&p, points, count);
  }
  if (count == 0) return tb_box_box_apart(&p, a, margin, out);
  tbContactPoint all[TB_BOX_MAX_POINTS];
  if (count <= TB_MAX_MANIFOLD) {
    write_contacts(a, &p, points, count, out);
    return count;
  }
  write_contacts(a, &p, points, count, all);
  count = tb_manifold_reduce(all, count, TB_MAX_MANIFOLD);
  for (int i = 0; i < count; i++) out[i] = all[i];
  return count;
}
