// Closest points of two boxes that do not overlap, by exhaustive comparison of features: every edge
// of each box against the other box, which includes vertex-face pairs by the edges' ends. Used only
// where the separating axis is not the closest direction (a vertex or an edge near a vertex or an
// edge), within the margin. Corners that are close to the other box in the same direction are
// added, since parallel edges are in contact along a stretch.
#include "collide/pairs/box_box.h"
#include "collide/manifold.h"
#include "collide/pairs/ball.h"
#include "collide/pairs/segment_box.h"

// An edge counts as level if its direction makes at most this cosine with the closest direction.
#define LEVEL 0.1
// Smallest cosine between the normal of a corner's contact and the closest direction.
#define MIN_COSINE 0.7
// The closest points, and four corners of each box.
#define MAX_NEAR 9

typedef struct {
  tbReal squared;
  tbReal point_a[3], point_b[3];  // in a's frame
} Closest;

// Edge e of a box of half lengths `size`, placed by `R` and `center` in the frame of another box:
// its axis is e/4, and the two low bits are the signs of the other two axes.
static tbSegment box_edge(const tbReal size[3], const tbReal R[9], const tbReal center[3], int e) {
  int k = e / 4, i = (k + 1) % 3, j = (k + 2) % 3;
  tbReal x = e & 1 ? size[i] : -size[i], y = e & 2 ? size[j] : -size[j];
  tbSegment seg;
  for (int m = 0; m < 3; m++) {
    seg.center[m] = center[m] + R[3 * m + i] * x + R[3 * m + j] * y;
    seg.half[m] = R[3 * m + k] * size[k];
  }
  return seg;
}

// Closest points of an edge of one box and the other box, at the origin. Returns whether they
// improve on `best`; `on_edge` is on the edge, `on_box` on the box.
static bool try_edge(const tbSegment* seg, const tbReal size[3], Closest* best, tbReal on_edge[3],
                     tbReal on_box[3]) {
  tbReal excess[3], t = tb_segment_box_closest(seg, size);
  tb_segment_box_excess(seg, size, t, excess);
  tbReal squared = tb_dot3(excess, excess);
  if (!(squared < best->squared * (1 - 4e-16))) return false;
  best->squared = squared;
  tb_add_scaled3(on_edge, seg->center, t, seg->half);
  tb_sub3(on_box, on_edge, excess);
  return true;
}

static void closest_points(const tbBoxPair* p, Closest* best) {
  // Pose of a in b's frame: rotation R^T, centre -R^T d.
  tbReal center_a[3], Rt[9];
  for (int i = 0; i < 9; i++) Rt[i] = p->R[3 * (i % 3) + i / 3];
  tb_mul_mat3t_vec3(center_a, p->R, p->d);
  tb_scale3(center_a, center_a, -1);
  best->squared = INFINITY;
  tb_zero3(best->point_a);
  tb_zero3(best->point_b);
  for (int e = 0; e < 12; e++) {
    tbSegment seg = box_edge(p->sb, p->R, p->d, e);
    try_edge(&seg, p->sa, best, best->point_b, best->point_a);
    seg = box_edge(p->sa, Rt, center_a, e);
    tbReal on_edge[3], on_box[3];
    if (!try_edge(&seg, p->sb, best, on_edge, on_box)) continue;
    tb_mul_mat3_vec3(best->point_a, p->R, on_edge);
    tb_add3(best->point_a, best->point_a, p->d);
    tb_mul_mat3_vec3(best->point_b, p->R, on_box);
    tb_add3(best->point_b, best->point_b, p->d);
  }
}

// The contacts so far, in a's frame: the closest points and up to four corners of each box.
typedef struct {
  const tbBoxPair* p;
  tbReal n[3], dist;  // closest direction from a to b, and the distance
  tbReal margin;
  tbReal touching;  // below this length a vector has no reliable direction
  tbContactPoint contact[MAX_NEAR];
  int count;
} Near;

// The existing contact within a thousandth of the boxes' size of `pos`, or -1.
static int contact_at(const Near* near, const tbReal pos[3]) {
  tbReal reach = 1e9 * near->p->tolerance;
  for (int i = 0; i < near->count; i++) {
    tbReal diff[3];
    tb_sub3(diff, near->contact[i].pos, pos);
    if (tb_dot3(diff, diff) <= reach * reach) return i;
  }
  return -1;
}

// Adds the contact of a corner of one box and the nearest point of the other box, if its direction
// is close to the closest direction.
static void add_corner(Near* near, const tbReal on_a[3], const tbReal on_b[3], uint32_t feature) {
  tbReal between[3], pos[3];
  tb_sub3(between, on_b, on_a);
  tbReal dist = tb_norm3(between);
  if (dist > near->touching) {
    tb_scale3(between, between, 1 / dist);
    if (!(tb_dot3(between, near->n) > MIN_COSINE)) return;
  } else {
    tb_copy3(between, near->n);
    dist = near->dist;
  }
  tb_add3(pos, on_a, on_b);
  tb_scale3(pos, pos, 0.5);
  if (!(dist <= near->margin) || contact_at(near, pos) >= 0) return;
  tb_contact_set(&near->contact[near->count++], pos, between, dist, feature);
}

// Corners of a box that are about the farthest along d (in its frame): those of the vertex, edge or
// face that faces d. Bit k of a corner is set for the positive end of axis k.
static int facing_corners(const tbReal d[3], int corners[4]) {
  int count = 1, widened = 0;
  corners[0] = 0;
  for (int k = 0; k < 3; k++) corners[0] |= (d[k] > 0) << k;
  for (int k = 0; k < 3 && widened < 2; k++) {
    if (!(fabs(d[k]) < LEVEL)) continue;
    for (int i = 0; i < count; i++) corners[count + i] = corners[i] ^ (1 << k);
    count *= 2;
    widened++;
  }
  return count;
}

static void corner_of(const tbReal size[3], int corner, tbReal x[3]) {
  for (int k = 0; k < 3; k++) x[k] = corner >> k & 1 ? size[k] : -size[k];
}

static void clamp_to_box(const tbReal x[3], const tbReal size[3], tbReal out[3]) {
  for (int k = 0; k < 3; k++) out[k] = tb_clamp(x[k], -size[k], size[k]);
}

// Along parallel edges or faces the closest points are one pair of many: the corners at the ends of
// the common stretch are added.
static void add_corners(Near* near) {
  const tbBoxPair* p = near->p;
  int corners[4];
  tbReal d[3], x[3], y[3], on_a[3], on_b[3];
  tb_mul_mat3t_vec3(d, p->R, near->n);
  tb_scale3(d, d, -1);
  int count = facing_corners(d, corners);
  for (int i = 0; i < count; i++) {
    corner_of(p->sb, corners[i], x);
    tb_mul_mat3_vec3(on_b, p->R, x);
    tb_add3(on_b, on_b, p->d);
    clamp_to_box(on_b, p->sa, on_a);
    add_corner(near, on_a, on_b, TB_BOX_FEATURE(0, corners[i], 0));
  }
  count = facing_corners(near->n, corners);
  for (int i = 0; i < count; i++) {
    corner_of(p->sa, corners[i], on_a);
    tb_sub3(x, on_a, p->d);
    tb_mul_mat3t_vec3(y, p->R, x);
    clamp_to_box(y, p->sb, x);
    tb_mul_mat3_vec3(on_b, p->R, x);
    tb_add3(on_b, on_b, p->d);
    add_corner(near, on_a, on_b, TB_BOX_FEATURE(1, corners[i], 0));
  }
}

// Adds the closest points; a corner's contact at the same place is replaced and keeps its identity.
static void add_closest(Near* near, const Closest* best) {
  tbReal pos[3];
  tb_add3(pos, best->point_a, best->point_b);
  tb_scale3(pos, pos, 0.5);
  int place = contact_at(near, pos);
  uint32_t feature = place < 0 ? TB_BOX_FEATURE(4, 0, 0) : near->contact[place].feature;
  if (place < 0) place = near->count++;
  tb_contact_set(&near->contact[place], pos, near->n, near->dist, feature);
}

int tb_box_box_apart(const tbBoxPair* p, const tbShape* a, tbReal margin, tbContactPoint* out) {
  Closest best;
  closest_points(p, &best);
  Near near = {.p = p, .margin = margin, .touching = p->touching, .count = 0};
  near.dist = sqrt(best.squared);
  tb_sub3(near.n, best.point_b, best.point_a);

  // Boxes that touch within rounding have no reliable difference vector: keep the separating axis.
  if (near.dist > near.touching) {
    tb_normalize3(near.n);
  } else {
    tb_copy3(near.n, p->n);
    near.dist = p->separation;
  }
  if (!(near.dist <= margin)) return 0;
  if (!isinf(margin)) add_corners(&near);
  add_closest(&near, &best);
  int count = near.count > 4 ? tb_manifold_reduce(near.contact, near.count, 4) : near.count;
  for (int i = 0; i < count; i++) {
    tbReal pos[3], n[3];
    tb_mul_mat3_vec3(pos, a->mat, near.contact[i].pos);
    tb_add3(pos, pos, a->pos);
    tb_mul_mat3_vec3(n, a->mat, near.contact[i].frame);
    tb_contact_set(&out[i], pos, n, near.contact[i].dist, near.contact[i].feature);
  }
  return count;
}
