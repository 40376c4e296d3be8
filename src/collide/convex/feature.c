// Features of the cores: their support functions, their borders, and the adjacent features.
#include "collide/convex/feature.h"

#include <string.h>

#include "base/minmax.h"

// Hull faces with more corners than this are treated as triangles.
#define MAX_CORNERS 64
// A hull's face counts as planar if its corners deviate by at most this, relative to its size.
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

static void set_vertex(const tbCore* core, int v, tbFeature* feature) {
  feature->kind = TB_FEATURE_VERTEX;
  feature->vert[0] = feature->vert[1] = feature->vert[2] = v;
  vertex_of(core, v, feature->point);
}

static void set_edge(const tbCore* core, int v, int w, tbFeature* feature) {
  tbReal end[3];
  feature->kind = TB_FEATURE_EDGE;
  feature->vert[0] = feature->vert[2] = v;
  feature->vert[1] = w;
  vertex_of(core, v, feature->point);
  vertex_of(core, w, end);
  tb_sub3(feature->edge, end, feature->point);
}

// The face through an edge and one more vertex, with its normal towards d.
static bool set_face(const tbCore* core, int v, int w, int x, const tbReal d[3],
                     tbFeature* feature) {
  tbReal e1[3], e2[3], p[3];
  set_edge(core, v, w, feature);
  feature->kind = TB_FEATURE_FACE;
  feature->vert[2] = x;
  vertex_of(core, x, p);
  tb_copy3(e1, feature->edge);
  tb_sub3(e2, p, feature->point);
  tb_cross(feature->normal, e1, e2);
  tbReal area = tb_norm3(feature->normal);
  if (!(area > 1e-12 * (tb_dot3(e1, e1) + tb_dot3(e2, e2)))) return false;
  tb_scale3(feature->normal, feature->normal, (tb_dot3(feature->normal, d) < 0 ? -1 : 1) / area);
  return true;
}

static void set_cap(const tbCore* core, int top, tbFeature* feature) {
  feature->kind = TB_FEATURE_CAP;
  feature->vert[0] = top;
  tb_set3(feature->point, 0, 0, top ? core->size[2] : -core->size[2]);
  tb_set3(feature->normal, 0, 0, top ? 1 : -1);
}

static void set_side(const tbCore* core, tbFeature* feature) {
  feature->kind = TB_FEATURE_SIDE;
  tb_set3(feature->edge, 0, 0, 2 * core->size[2]);
}

static void set_rim(int top, tbFeature* feature) {
  feature->kind = TB_FEATURE_RIM;
  feature->vert[0] = top;
}

void tb_feature_at(tbCore* core, const tbReal d[3], tbFeature* feature) {
  if (core->kind == TB_CORE_ELLIPSOID) {
    feature->kind = TB_FEATURE_ELLIPSOID;
  } else if (core->kind == TB_CORE_CYLINDER) {
    tbReal across2 = d[0] * d[0] + d[1] * d[1];
    if (across2 < 1e-20) {
      set_cap(core, d[2] >= 0, feature);
    } else if (fabs(d[2]) < 1e-12 && core->size[2] > 0) {
      set_side(core, feature);
    } else {
      set_rim(d[2] >= 0, feature);
    }
  } else {
    tbReal p[3];
    set_vertex(core, tb_core_support(core, d, p), feature);
  }
}

// h = |S d|: second derivative (S^2 - p p^T) / h with p = S^2 d / h.
static bool ellipsoid_support(const tbCore* core, tbFeature* feature, const tbReal d[3],
                              const tbReal t1[3], const tbReal t2[3], tbReal q[3]) {
  const tbReal* r = core->size;
  tbReal sd[3] = {r[0] * d[0], r[1] * d[1], r[2] * d[2]}, h = tb_norm3(sd);
  if (!(h > 0)) return false;
  tbReal inverse = 1 / h, *p = feature->point;
  tb_set3(p, r[0] * sd[0] * inverse, r[1] * sd[1] * inverse, r[2] * sd[2] * inverse);
  tbReal u[3] = {r[0] * t1[0], r[1] * t1[1], r[2] * t1[2]};
  tbReal v[3] = {r[0] * t2[0], r[1] * t2[1], r[2] * t2[2]};
  tbReal pu = tb_dot3(p, t1), pv = tb_dot3(p, t2);
  tb_set3(q, (tb_dot3(u, u) - pu * pu) * inverse, (tb_dot3(u, v) - pu * pv) * inverse,
          (tb_dot3(v, v) - pv * pv) * inverse);
  return true;
}

bool tb_feature_support(const tbCore* core, tbFeature* feature, const tbReal d[3],
                        const tbReal t1[3], const tbReal t2[3], tbReal q[3]) {
  tb_zero3(q);
  if (feature->kind == TB_FEATURE_ELLIPSOID) return ellipsoid_support(core, feature, d, t1, t2, q);
  if (feature->kind != TB_FEATURE_RIM && feature->kind != TB_FEATURE_SIDE) return true;
  tbReal across = sqrt(d[0] * d[0] + d[1] * d[1]), r = core->size[0], half = core->size[2];
  if (!(across > 1e-12)) return false;
  tbReal x = d[0] / across, y = d[1] / across;
  int top = feature->kind == TB_FEATURE_RIM && feature->vert[0];
  tb_set3(feature->point, r * x, r * y, top ? half : -half);
  // The rim is a circle around the axis: its curvature is r / |d_xy|, in the direction around the
  // axis only.
  tbReal u = t1[1] * x - t1[0] * y, v = t2[1] * x - t2[0] * y, k = r / across;
  tb_set3(q, k * u * u, k * u * v, k * v * v);
  return true;
}

// The first neighbour of `origin` that becomes the support vertex on the way from d along dd.
static void vertex_border(const tbCore* core, const tbFeature* feature, int origin, int which,
                          const tbReal d[3], const tbReal dd[3], tbFeatureBorder* border) {
  tbReal p[3], q[3], e[3];
  vertex_of(core, origin, p);
  for (int k = 0;; k++) {
    int v = neighbour_of(core, origin, k);
    if (v < 0) return;
    if (v == feature->vert[0] || v == feature->vert[1]) continue;
    vertex_of(core, v, q);
    tb_sub3(e, q, p);
    tbReal rate = tb_dot3(e, dd), below = -tb_dot3(e, d);
    // The neighbour must take over before the best so far.
    if (!(rate > 0) || !(below < border->t * rate)) continue;
    border->t = below > 0 ? below / rate : 0;
    border->which = which;
    border->vert = v;
    border->origin = origin;
  }
}

static void rim_border(const tbFeature* feature, int which, const tbReal d[3], const tbReal dd[3],
                       tbFeatureBorder* border) {
  tbReal side = feature->vert[0] ? 1 : -1, above = side * d[2], rate = -side * dd[2];
  if (rate > 0 && above < border->t * rate) {
    border->t = above > 0 ? above / rate : 0;
    border->which = which;
    border->vert = 0;
  }
  // Past the pole the component of d perpendicular to the axis reverses.
  tbReal x = d[0] + border->t * dd[0], y = d[1] + border->t * dd[1];
  tbReal across2 = d[0] * d[0] + d[1] * d[1];
  if (x * d[0] + y * d[1] < 0.02 * across2) {
    border->t = tb_min(border->t, 1);
    border->which = which;
    border->vert = 1;
  }
}

void tb_feature_border(const tbCore* core, const tbFeature* feature, int which, const tbReal d[3],
                       const tbReal dd[3], tbFeatureBorder* border) {
  if (feature->kind == TB_FEATURE_RIM) {
    rim_border(feature, which, d, dd, border);
  } else if (feature->kind == TB_FEATURE_VERTEX || feature->kind == TB_FEATURE_EDGE) {
    vertex_border(core, feature, feature->vert[0], which, d, dd, border);
    if (feature->kind == TB_FEATURE_EDGE) {
      vertex_border(core, feature, feature->vert[1], which, d, dd, border);
    }
  }
}

void tb_feature_next(const tbCore* core, const tbFeature* feature, const tbFeatureBorder* border,
                     tbFeature* beyond) {
  if (feature->kind == TB_FEATURE_RIM) {
    set_rim(!feature->vert[0], beyond);
  } else {
    set_vertex(core, border->vert, beyond);
  }
}

bool tb_feature_on_border(const tbCore* core, const tbFeatureBorder* border, const tbReal d[3],
                          tbFeature* feature) {
  if (feature->kind == TB_FEATURE_RIM) {
    if (border->vert == 1) {
      set_cap(core, feature->vert[0], feature);
    } else {
      if (!(core->size[2] > 0)) return false;
      set_side(core, feature);
    }
    return true;
  }
  if (feature->kind == TB_FEATURE_VERTEX) {
    set_edge(core, feature->vert[0], border->vert, feature);
    return true;
  }
  return set_face(core, feature->vert[0], feature->vert[1], border->vert, d, feature);
}

void tb_feature_release_edge(const tbCore* core, int end, tbFeature* feature) {
  if (feature->kind == TB_FEATURE_SIDE) {
    set_rim(end, feature);
  } else {
    set_vertex(core, feature->vert[end], feature);
  }
}

// The corners of a hull's face if it is planar. The polygon of a face merged from triangles that
// are not exactly coplanar can have points outside the hull; the corners are then those of the
// triangle.
static int hull_corners(const tbHull* hull, const tbFeature* feature, int corner[MAX_CORNERS]) {
  const tbReal* m = feature->normal;
  int face = tb_hull_face_at(hull, m, feature->vert[0]);
  int first = face < 0 ? 0 : hull->face_start[face];
  int count = face < 0 ? 0 : hull->face_start[face + 1] - first;
  bool plane = count >= 3 && count <= MAX_CORNERS && tb_dot3(hull->plane + 4 * face, m) > 1 - 1e-9;
  for (int i = 0; i < count && plane; i++) {
    corner[i] = hull->face_vert[first + i];
    tbReal arm[3];
    tb_sub3(arm, hull->vert + 3 * corner[i], feature->point);
    plane = fabs(tb_dot3(arm, m)) <= PLANE_TOLERANCE * hull->radius;
  }
  if (plane) return count;
  tbReal e1[3], e2[3], cross[3];
  tb_sub3(e1, hull->vert + 3 * feature->vert[1], feature->point);
  tb_sub3(e2, hull->vert + 3 * feature->vert[2], feature->point);
  tb_cross(cross, e1, e2);
  bool turned = tb_dot3(cross, m) < 0;
  corner[0] = feature->vert[0];
  corner[1] = feature->vert[turned ? 2 : 1];
  corner[2] = feature->vert[turned ? 1 : 2];
  return 3;
}

// Corners of the face in order, counter-clockwise from outside.
static int face_corners(const tbCore* core, const tbFeature* feature, int corner[MAX_CORNERS]) {
  static const int prism_face[5][4] = {
      {0, 1, 2, -1}, {5, 4, 3, -1}, {0, 3, 4, 1}, {1, 4, 5, 2}, {2, 5, 3, 0}};
  static const int square[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  const tbReal* m = feature->normal;
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
        for (int k = 0; k < 3; k++) found += prism_face[f][i] == feature->vert[k];
      }
      if (found < 3) continue;
      memcpy(corner, prism_face[f], sizeof prism_face[f]);
      return count;
    }
    return 0;
  }
  return core->kind == TB_CORE_HULL ? hull_corners(core->hull, feature, corner) : 0;
}

// A side of a face: from the corner p along e; `inward` is perpendicular to e in the face, with the
// length of e.
typedef struct {
  tbReal p[3], e[3], inward[3];
} Side;

static void set_side_of_face(const tbCore* core, const tbFeature* feature, int from, int to,
                             Side* side) {
  tbReal q[3];
  vertex_of(core, from, side->p);
  vertex_of(core, to, q);
  tb_sub3(side->e, q, side->p);
  tb_cross(side->inward, feature->normal, side->e);
}

// Distance of x from the side, positive inside, times the side's length.
static tbReal inside_of(const Side* side, const tbReal x[3]) {
  tbReal arm[3];
  tb_sub3(arm, x, side->p);
  return tb_dot3(side->inward, arm);
}

bool tb_feature_in_face(const tbCore* core, const tbReal x[3], tbReal slack, tbFeature* feature) {
  if (feature->kind == TB_FEATURE_CAP) {
    if (x[0] * x[0] + x[1] * x[1] <= (core->size[0] + slack) * (core->size[0] + slack)) return true;
    set_rim(feature->vert[0], feature);
    return false;
  }
  int corner[MAX_CORNERS], count = face_corners(core, feature, corner), ends[2] = {-1, -1};
  tbReal worst = -slack;
  Side side;
  if (count < 3) return false;
  for (int i = 0, last = corner[count - 1]; i < count; last = corner[i++]) {
    set_side_of_face(core, feature, last, corner[i], &side);
    tbReal length = tb_norm3(side.e), inside = length > 0 ? inside_of(&side, x) / length : INFINITY;
    if (!(inside < worst)) continue;
    worst = inside;
    ends[0] = last;
    ends[1] = corner[i];
  }
  if (ends[0] < 0) return true;
  set_edge(core, ends[0], ends[1], feature);
  return false;
}

bool tb_feature_over_face(const tbCore* core, const tbFeature* feature, const tbReal p[3],
                          const tbReal e[3], tbReal* middle) {
  tbReal low = 0, high = 1;
  if (feature->kind == TB_FEATURE_CAP) {
    tbReal ee = e[0] * e[0] + e[1] * e[1], pe = p[0] * e[0] + p[1] * e[1];
    *middle = ee > 0 ? tb_min(tb_max(-pe / ee, 0), 1) : 0.5;
    tbReal x = p[0] + *middle * e[0], y = p[1] + *middle * e[1];
    return x * x + y * y <= core->size[0] * core->size[0];
  }
  int corner[MAX_CORNERS], count = face_corners(core, feature, corner);
  Side side;
  if (count < 3) return false;
  for (int i = 0, last = corner[count - 1]; i < count; last = corner[i++]) {
    set_side_of_face(core, feature, last, corner[i], &side);
    tbReal at = inside_of(&side, p), rate = tb_dot3(side.inward, e);
    if (rate > 0) low = tb_max(low, -at / rate);
    if (rate < 0) high = tb_min(high, -at / rate);
    if (rate == 0 && at < 0) return false;
  }
  *middle = 0.5 * (low + high);
  return low <= high;
}

// Distance of x from the nearest edge of its face; 0 outside.
static tbReal face_inset(const tbCore* core, const tbFeature* feature, const tbReal x[3]) {
  int corner[MAX_CORNERS], count = face_corners(core, feature, corner);
  tbReal least2 = INFINITY;
  Side side;
  if (count < 3) return 0;
  for (int i = 0, last = corner[count - 1]; i < count; last = corner[i++]) {
    set_side_of_face(core, feature, last, corner[i], &side);
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

void tb_feature_extent(const tbCore* core, const tbFeature* feature, const tbReal x[3],
                       tbFeatureExtent* width) {
  const tbReal *h = core->size, *e = feature->edge;
  tbReal across = sqrt(x[0] * x[0] + x[1] * x[1]), along, length, arm[3];
  width->inset = width->ball = 0;
  width->count = 0;
  switch (feature->kind) {
    case TB_FEATURE_EDGE:
      length = tb_norm3(e);
      tb_sub3(arm, x, feature->point);
      along = tb_dot3(arm, e) / length;
      add_width(width, false, tb_min(along, length - along), e[0] / length, e[1] / length,
                e[2] / length);
      return;
    case TB_FEATURE_FACE: width->inset = face_inset(core, feature, x); return;
    case TB_FEATURE_CAP: width->inset = h[0] - across; return;
    case TB_FEATURE_ELLIPSOID:
      // The smallest radius of curvature: a ball of this radius rolls freely inside (Blaschke).
      along = tb_min(h[0], tb_min(h[1], h[2]));
      length = tb_max(h[0], tb_max(h[1], h[2]));
      width->ball = length > 0 ? along * along / length : 0;
      return;
    default: break;
  }
  if (feature->kind == TB_FEATURE_SIDE) add_width(width, false, h[2] - fabs(x[2]), 0, 0, 1);
  if (feature->kind == TB_FEATURE_VERTEX || !(across > 0)) return;
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
    case TB_CORE_HULL:
      tb_copy3(center, core->hull->center);
      return tb_hull_cache(core->hull)->inscribed_radius;
    default: tb_copy3(center, x); return 0;
  }
}
