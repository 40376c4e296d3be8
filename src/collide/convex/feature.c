// Features of the cores: how they support a direction, where they end, what lies beyond.
#include "collide/convex/feature.h"

#include <string.h>

#include "base/minmax.h"

// Faces with more corners than this are not walked.
#define MAX_CORNERS 64
// A hull's face is plane where its corners are off by no more than this, relative to its size.
#define PLANE_TOLERANCE 1e-10

static const int prism_neighbour[6][3] = {{1, 2, 3}, {0, 2, 4}, {0, 1, 5},
                                          {4, 5, 0}, {3, 5, 1}, {3, 4, 2}};

static void vertex_of(const tbCore* core, int v, tbReal p[3]) {
  const tbReal* h = core->size;
  switch (core->kind) {
    case TB_CORE_BOX:
      tb_set3(p, v & 1 ? h[0] : -h[0], v & 2 ? h[1] : -h[1], v & 4 ? h[2] : -h[2]);
      return;
    case TB_CORE_SEGMENT: tb_set3(p, 0, 0, v ? h[2] : -h[2]); return;
    case TB_CORE_HULL: tb_copy3(p, core->hull->vert + 3 * v); return;
    case TB_CORE_PRISM: tb_copy3(p, core->prism + 3 * v); return;
    default: tb_zero3(p);
  }
}

// Neighbour k of vertex v, or -1.
static inline int neighbour_of(const tbCore* core, int v, int k) {
  switch (core->kind) {
    case TB_CORE_BOX: return k < 3 ? v ^ 1 << k : -1;
    case TB_CORE_SEGMENT: return k < 1 ? 1 - v : -1;
    case TB_CORE_PRISM: return k < 3 ? prism_neighbour[v][k] : -1;
    case TB_CORE_HULL:
      if (!core->hull->adj_start) return -1;
      k += core->hull->adj_start[v];
      return k < core->hull->adj_start[v + 1] ? core->hull->adj[k] : -1;
    default: return -1;
  }
}

static void set_vertex(const tbCore* core, int v, tbFeature* touch) {
  touch->kind = TB_TOUCH_VERTEX;
  touch->vert[0] = touch->vert[1] = touch->vert[2] = v;
  vertex_of(core, v, touch->point);
}

static void set_edge(const tbCore* core, int v, int w, tbFeature* touch) {
  tbReal end[3];
  touch->kind = TB_TOUCH_EDGE;
  touch->vert[0] = touch->vert[2] = v;
  touch->vert[1] = w;
  vertex_of(core, v, touch->point);
  vertex_of(core, w, end);
  tb_sub3(touch->edge, end, touch->point);
}

// The face through an edge and one more vertex, looking along d.
static bool set_face(const tbCore* core, int v, int w, int x, const tbReal d[3], tbFeature* touch) {
  tbReal e1[3], e2[3], p[3];
  set_edge(core, v, w, touch);
  touch->kind = TB_TOUCH_FACE;
  touch->vert[2] = x;
  vertex_of(core, x, p);
  tb_copy3(e1, touch->edge);
  tb_sub3(e2, p, touch->point);
  tb_cross(touch->normal, e1, e2);
  tbReal area = tb_norm3(touch->normal);
  if (!(area > 1e-12 * (tb_dot3(e1, e1) + tb_dot3(e2, e2)))) return false;
  tb_scale3(touch->normal, touch->normal, (tb_dot3(touch->normal, d) < 0 ? -1 : 1) / area);
  return true;
}

static void set_cap(const tbCore* core, int top, tbFeature* touch) {
  touch->kind = TB_TOUCH_CAP;
  touch->vert[0] = top;
  tb_set3(touch->point, 0, 0, top ? core->size[2] : -core->size[2]);
  tb_set3(touch->normal, 0, 0, top ? 1 : -1);
}

static void set_side(const tbCore* core, tbFeature* touch) {
  touch->kind = TB_TOUCH_SIDE;
  tb_set3(touch->edge, 0, 0, 2 * core->size[2]);
}

static void set_rim(int top, tbFeature* touch) {
  touch->kind = TB_TOUCH_RIM;
  touch->vert[0] = top;
}

void tb_feature_at(tbCore* core, const tbReal d[3], tbFeature* touch) {
  if (core->kind == TB_CORE_ELLIPSOID) {
    touch->kind = TB_TOUCH_ELLIPSOID;
  } else if (core->kind == TB_CORE_CYLINDER) {
    tbReal across2 = d[0] * d[0] + d[1] * d[1];
    if (across2 < 1e-20) {
      set_cap(core, d[2] >= 0, touch);
    } else if (fabs(d[2]) < 1e-12 && core->size[2] > 0) {
      set_side(core, touch);
    } else {
      set_rim(d[2] >= 0, touch);
    }
  } else {
    tbReal p[3];
    set_vertex(core, tb_core_support(core, d, p), touch);
  }
}

// h = |S d|: second derivative (S^2 - p p^T) / h with p = S^2 d / h.
static bool ellipsoid_support(const tbCore* core, tbFeature* touch, const tbReal d[3],
                              const tbReal t1[3], const tbReal t2[3], tbReal q[3]) {
  const tbReal* r = core->size;
  tbReal sd[3] = {r[0] * d[0], r[1] * d[1], r[2] * d[2]}, h = tb_norm3(sd);
  if (!(h > 0)) return false;
  tbReal inverse = 1 / h, *p = touch->point;
  tb_set3(p, r[0] * sd[0] * inverse, r[1] * sd[1] * inverse, r[2] * sd[2] * inverse);
  tbReal u[3] = {r[0] * t1[0], r[1] * t1[1], r[2] * t1[2]};
  tbReal v[3] = {r[0] * t2[0], r[1] * t2[1], r[2] * t2[2]};
  tbReal pu = tb_dot3(p, t1), pv = tb_dot3(p, t2);
  tb_set3(q, (tb_dot3(u, u) - pu * pu) * inverse, (tb_dot3(u, v) - pu * pv) * inverse,
          (tb_dot3(v, v) - pv * pv) * inverse);
  return true;
}

bool tb_feature_support(const tbCore* core, tbFeature* touch, const tbReal d[3], const tbReal t1[3],
                        const tbReal t2[3], tbReal q[3]) {
  tb_zero3(q);
  if (touch->kind == TB_TOUCH_ELLIPSOID) return ellipsoid_support(core, touch, d, t1, t2, q);
  if (touch->kind != TB_TOUCH_RIM && touch->kind != TB_TOUCH_SIDE) return true;
  tbReal across = sqrt(d[0] * d[0] + d[1] * d[1]), r = core->size[0], half = core->size[2];
  if (!(across > 1e-12)) return false;
  tbReal x = d[0] / across, y = d[1] / across;
  int top = touch->kind == TB_TOUCH_RIM && touch->vert[0];
  tb_set3(touch->point, r * x, r * y, top ? half : -half);
  // A circle around the axis: curvature r / |d_xy| across it only.
  tbReal u = t1[1] * x - t1[0] * y, v = t2[1] * x - t2[0] * y, k = r / across;
  tb_set3(q, k * u * u, k * u * v, k * v * v);
  return true;
}

// Neighbours of `origin` that rise above it on the way.
static void vertex_border(const tbCore* core, const tbFeature* touch, int origin, int which,
                          const tbReal d[3], const tbReal dd[3], tbFeatureBorder* border) {
  tbReal p[3], q[3], e[3];
  vertex_of(core, origin, p);
  for (int k = 0;; k++) {
    int v = neighbour_of(core, origin, k);
    if (v < 0) return;
    if (v == touch->vert[0] || v == touch->vert[1]) continue;
    vertex_of(core, v, q);
    tb_sub3(e, q, p);
    tbReal rate = tb_dot3(e, dd), below = -tb_dot3(e, d);
    // The step must cross before the best so far.
    if (!(rate > 0) || !(below < border->t * rate)) continue;
    border->t = below > 0 ? below / rate : 0;
    border->which = which;
    border->vert = v;
    border->origin = origin;
  }
}

static void rim_border(const tbFeature* touch, int which, const tbReal d[3], const tbReal dd[3],
                       tbFeatureBorder* border) {
  tbReal side = touch->vert[0] ? 1 : -1, above = side * d[2], rate = -side * dd[2];
  if (rate > 0 && above < border->t * rate) {
    border->t = above > 0 ? above / rate : 0;
    border->which = which;
    border->vert = 0;
  }
  // Past the pole where the part across the axis turns round.
  tbReal x = d[0] + border->t * dd[0], y = d[1] + border->t * dd[1];
  tbReal across2 = d[0] * d[0] + d[1] * d[1];
  if (x * d[0] + y * d[1] < 0.02 * across2) {
    border->t = tb_min(border->t, 1);
    border->which = which;
    border->vert = 1;
  }
}

void tb_feature_border(const tbCore* core, const tbFeature* touch, int which, const tbReal d[3],
                       const tbReal dd[3], tbFeatureBorder* border) {
  if (touch->kind == TB_TOUCH_RIM) {
    rim_border(touch, which, d, dd, border);
  } else if (touch->kind == TB_TOUCH_VERTEX || touch->kind == TB_TOUCH_EDGE) {
    vertex_border(core, touch, touch->vert[0], which, d, dd, border);
    if (touch->kind == TB_TOUCH_EDGE) {
      vertex_border(core, touch, touch->vert[1], which, d, dd, border);
    }
  }
}

void tb_feature_next(const tbCore* core, const tbFeature* touch, const tbFeatureBorder* border,
                     tbFeature* beyond) {
  if (touch->kind == TB_TOUCH_RIM) {
    set_rim(!touch->vert[0], beyond);
  } else {
    set_vertex(core, border->vert, beyond);
  }
}

bool tb_feature_holds(const tbCore* core, const tbFeatureBorder* border, const tbReal d[3],
                      tbFeature* touch) {
  if (touch->kind == TB_TOUCH_RIM) {
    if (border->vert == 1) {
      set_cap(core, touch->vert[0], touch);
    } else {
      if (!(core->size[2] > 0)) return false;
      set_side(core, touch);
    }
    return true;
  }
  if (touch->kind == TB_TOUCH_VERTEX) {
    set_edge(core, touch->vert[0], border->vert, touch);
    return true;
  }
  return set_face(core, touch->vert[0], touch->vert[1], border->vert, d, touch);
}

void tb_feature_release_edge(const tbCore* core, int end, tbFeature* touch) {
  if (touch->kind == TB_TOUCH_SIDE) {
    set_rim(end, touch);
  } else {
    set_vertex(core, touch->vert[end], touch);
  }
}

// Those of a hull's face where it is plane. Where it was merged from triangles that lean, points of
// its polygon may be outside of the hull, but those of the triangle are not.
static int hull_corners(const tbHull* hull, const tbFeature* touch, int corner[MAX_CORNERS]) {
  const tbReal* m = touch->normal;
  int face = tb_hull_face_at(hull, m, touch->vert[0]);
  int first = face < 0 ? 0 : hull->face_start[face];
  int count = face < 0 ? 0 : hull->face_start[face + 1] - first;
  bool plane = count >= 3 && count <= MAX_CORNERS && tb_dot3(hull->plane + 4 * face, m) > 1 - 1e-9;
  for (int i = 0; i < count && plane; i++) {
    corner[i] = hull->face_vert[first + i];
    tbReal arm[3];
    tb_sub3(arm, hull->vert + 3 * corner[i], touch->point);
    plane = fabs(tb_dot3(arm, m)) <= PLANE_TOLERANCE * hull->radius;
  }
  if (plane) return count;
  tbReal e1[3], e2[3], cross[3];
  tb_sub3(e1, hull->vert + 3 * touch->vert[1], touch->point);
  tb_sub3(e2, hull->vert + 3 * touch->vert[2], touch->point);
  tb_cross(cross, e1, e2);
  bool turned = tb_dot3(cross, m) < 0;
  corner[0] = touch->vert[0];
  corner[1] = touch->vert[turned ? 2 : 1];
  corner[2] = touch->vert[turned ? 1 : 2];
  return 3;
}

// Corners of the face in order, counter-clockwise seen from outside.
static int face_corners(const tbCore* core, const tbFeature* touch, int corner[MAX_CORNERS]) {
  static const int prism_face[5][4] = {
      {0, 1, 2, -1}, {5, 4, 3, -1}, {0, 3, 4, 1}, {1, 4, 5, 2}, {2, 5, 3, 0}};
  static const int square[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  const tbReal* m = touch->normal;
  if (core->kind == TB_CORE_BOX) {
    int axis = fabs(m[0]) > 0.5 ? 0 : (fabs(m[1]) > 0.5 ? 1 : 2), up = m[axis] > 0;
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (int i = 0; i < 4; i++) {
      int k = up ? i : 3 - i;
      corner[i] = up << axis | square[k][0] << u | square[k][1] << v;
    }
    return 4;
  }
  if (core->kind == TB_CORE_PRISM) {
    for (int f = 0; f < 5; f++) {
      int found = 0, count = prism_face[f][3] < 0 ? 3 : 4;
      for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) found += prism_face[f][i] == touch->vert[k];
      }
      if (found < 3) continue;
      memcpy(corner, prism_face[f], sizeof prism_face[f]);
      return count;
    }
    return 0;
  }
  return core->kind == TB_CORE_HULL ? hull_corners(core->hull, touch, corner) : 0;
}

// A side of a face: from the corner p along e, with `inward` across it in the face, as long as e.
typedef struct {
  tbReal p[3], e[3], inward[3];
} Side;

static void set_side_of_face(const tbCore* core, const tbFeature* touch, int from, int to,
                             Side* side) {
  tbReal q[3];
  vertex_of(core, from, side->p);
  vertex_of(core, to, q);
  tb_sub3(side->e, q, side->p);
  tb_cross(side->inward, touch->normal, side->e);
}

// How far x is inside of the side, times its length.
static tbReal inside_of(const Side* side, const tbReal x[3]) {
  tbReal arm[3];
  tb_sub3(arm, x, side->p);
  return tb_dot3(side->inward, arm);
}

bool tb_feature_in_face(const tbCore* core, const tbReal x[3], tbReal slack, tbFeature* touch) {
  if (touch->kind == TB_TOUCH_CAP) {
    if (x[0] * x[0] + x[1] * x[1] <= (core->size[0] + slack) * (core->size[0] + slack)) return true;
    set_rim(touch->vert[0], touch);
    return false;
  }
  int corner[MAX_CORNERS], count = face_corners(core, touch, corner), ends[2] = {-1, -1};
  tbReal worst = -slack;
  Side side;
  if (count < 3) return false;
  for (int i = 0, last = corner[count - 1]; i < count; last = corner[i++]) {
    set_side_of_face(core, touch, last, corner[i], &side);
    tbReal length = tb_norm3(side.e), inside = length > 0 ? inside_of(&side, x) / length : INFINITY;
    if (!(inside < worst)) continue;
    worst = inside;
    ends[0] = last;
    ends[1] = corner[i];
  }
  if (ends[0] < 0) return true;
  set_edge(core, ends[0], ends[1], touch);
  return false;
}

bool tb_feature_over_face(const tbCore* core, const tbFeature* touch, const tbReal p[3],
                          const tbReal e[3], tbReal* middle) {
  tbReal low = 0, high = 1;
  if (touch->kind == TB_TOUCH_CAP) {
    tbReal ee = e[0] * e[0] + e[1] * e[1], pe = p[0] * e[0] + p[1] * e[1];
    *middle = ee > 0 ? tb_min(tb_max(-pe / ee, 0), 1) : 0.5;
    tbReal x = p[0] + *middle * e[0], y = p[1] + *middle * e[1];
    return x * x + y * y <= core->size[0] * core->size[0];
  }
  int corner[MAX_CORNERS], count = face_corners(core, touch, corner);
  Side side;
  if (count < 3) return false;
  for (int i = 0, last = corner[count - 1]; i < count; last = corner[i++]) {
    set_side_of_face(core, touch, last, corner[i], &side);
    tbReal at = inside_of(&side, p), rate = tb_dot3(side.inward, e);
    if (rate > 0) low = tb_max(low, -at / rate);
    if (rate < 0) high = tb_min(high, -at / rate);
    if (rate == 0 && at < 0) return false;
  }
  *middle = 0.5 * (low + high);
  return low <= high;
}

// Distance of x from the nearest edge of its face.
static tbReal face_inset(const tbCore* core, const tbFeature* touch, const tbReal x[3]) {
  int corner[MAX_CORNERS], count = face_corners(core, touch, corner);
  tbReal least2 = INFINITY;
  Side side;
  if (count < 3) return 0;
  for (int i = 0, last = corner[count - 1]; i < count; last = corner[i++]) {
    set_side_of_face(core, touch, last, corner[i], &side);
    tbReal inside = inside_of(&side, x), length2 = tb_dot3(side.e, side.e);
    if (!(inside > 0)) return 0;
    if (inside * inside < least2 * length2) least2 = inside * inside / length2;
  }
  return sqrt(least2);
}

static void add_width(tbFeatureExtent* width, bool round, tbReal extent, tbReal x, tbReal y,
                      tbReal z) {
  width->round[width->count] = round;
  width->extent[width->count] = extent;
  tb_set3(width->direction[width->count++], x, y, z);
}

void tb_feature_extent(const tbCore* core, const tbFeature* touch, const tbReal x[3],
                       tbFeatureExtent* width) {
  const tbReal *h = core->size, *e = touch->edge;
  tbReal across = sqrt(x[0] * x[0] + x[1] * x[1]), along, length, arm[3];
  width->inset = width->ball = 0;
  width->count = 0;
  switch (touch->kind) {
    case TB_TOUCH_EDGE:
      length = tb_norm3(e);
      tb_sub3(arm, x, touch->point);
      along = tb_dot3(arm, e) / length;
      add_width(width, false, tb_min(along, length - along), e[0] / length, e[1] / length,
                e[2] / length);
      return;
    case TB_TOUCH_FACE: width->inset = face_inset(core, touch, x); return;
    case TB_TOUCH_CAP: width->inset = h[0] - across; return;
    case TB_TOUCH_ELLIPSOID:
      // The smallest radius of curvature: a ball of it rolls inside (Blaschke).
      along = tb_min(h[0], tb_min(h[1], h[2]));
      length = tb_max(h[0], tb_max(h[1], h[2]));
      width->ball = length > 0 ? along * along / length : 0;
      return;
    default: break;
  }
  if (touch->kind == TB_TOUCH_SIDE) add_width(width, false, h[2] - fabs(x[2]), 0, 0, 1);
  if (touch->kind == TB_TOUCH_VERTEX || !(across > 0)) return;
  add_width(width, true, h[0], -x[1] / across, x[0] / across, 0);
}

tbReal tb_feature_ball(const tbCore* core, const tbReal x[3], tbReal center[3]) {
  const tbReal* h = core->size;
  tbReal radius, room;
  tb_zero3(center);
  switch (core->kind) {
    case TB_CORE_ELLIPSOID: return tb_min(h[0], tb_min(h[1], h[2]));
    case TB_CORE_BOX:
      radius = tb_min(h[0], tb_min(h[1], h[2]));
      for (int i = 0; i < 3; i++) center[i] = tb_min(tb_max(x[i], radius - h[i]), h[i] - radius);
      return radius;
    case TB_CORE_CYLINDER:
      radius = tb_min(h[0], h[2]);
      center[2] = tb_min(tb_max(x[2], radius - h[2]), h[2] - radius);
      room =
          h[0] > radius ? tb_min((h[0] - radius) / sqrt(x[0] * x[0] + x[1] * x[1] + 1e-300), 1) : 0;
      center[0] = room * x[0];
      center[1] = room * x[1];
      return radius;
    case TB_CORE_HULL: tb_copy3(center, core->hull->center); return core->hull->inner;
    default: tb_copy3(center, x); return 0;
  }
}
