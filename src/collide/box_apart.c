// The closest points of two boxes that do not overlap, by comparing all features: every edge of
// each box against the other box, which covers every pair of features but vertex-face pairs of
// edges' ends, which it covers as well. Used only where the separating axis is not the closest
// direction (a vertex near a vertex or an edge), within the margin.
#include "collide/box_box.h"
#include "collide/segment_box.h"

typedef struct {
  tbReal squared;
  tbReal point_a[3], point_b[3];  // in a's frame
} Closest;

// Edges of a box of half lengths `size`, placed by `R` and `center` in the frame of another box.
// Edge e: axis e/4, and the signs of the other two axes in the two low bits.
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

// Edge e of one box against the other at the origin. Returns whether it improves on `best`; the
// points are on the edge (`on_edge`) and on the box.
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
  // a seen from b's frame: rotation R^T, centre -R^T d.
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

int tb_box_box_apart(const tbBoxPair* p, const tbShape* a, tbReal margin, tbContactPoint* out) {
  Closest best;
  closest_points(p, &best);
  tbReal n[3], dist = sqrt(best.squared);
  tb_sub3(n, best.point_b, best.point_a);

  // Boxes that touch within rounding have no difference vector: keep the axis.
  if (dist > 200 * p->tolerance) {
    tb_normalize3(n);
  } else {
    tb_copy3(n, p->n);
    dist = p->separation;
  }
  if (!(dist <= margin)) return 0;
  tbReal local[3], pos[3], normal[3];
  tb_add3(local, best.point_a, best.point_b);
  tb_scale3(local, local, 0.5);
  tb_mul_mat3_vec3(pos, a->mat, local);
  tb_add3(pos, pos, a->pos);
  tb_mul_mat3_vec3(normal, a->mat, n);
  tb_contact_set(out, pos, normal, dist, TB_BOX_FEATURE(4, 0, 0));
  return 1;
}
