// Facing features of the cores.
#include "collide/convex/feature_facing.h"

// Smallest cosine between the direction and the normal of a facing face or cap.
#define FACE_COSINE 0.1
#define CAP_COSINE 0.95
// A segment or side at a larger angle (sine) to the tangent plane contacts with its end only.
#define SEGMENT_SINE 0.5
// An edge between faces that do not face the direction contacts along its length up to this sine.
#define EDGE_SINE 0.1

static void set_point(tbFacingFeature* facing, const tbReal p[3], int id) {
  facing->kind = TB_FACING_POINT;
  facing->count = 1;
  facing->id[0] = id;
  tb_copy3(facing->point[0], p);
}

static void facing_segment(const tbCore* core, const tbReal d[3], tbFacingFeature* facing) {
  tbReal p[3] = {0, 0, core->size[2]};
  int top = d[2] >= 0;
  if (fabs(d[2]) > SEGMENT_SINE || !(core->size[2] > 0)) {
    tb_set3(p, 0, 0, top ? core->size[2] : -core->size[2]);
    set_point(facing, p, top);
    return;
  }
  facing->kind = TB_FACING_SEGMENT;
  facing->count = 2;
  facing->curvature_radius = core->radius;
  for (int i = 0; i < 2; i++) {
    facing->id[i] = i;
    tb_set3(facing->point[i], 0, 0, i ? core->size[2] : -core->size[2]);
  }
}

static void facing_box(const tbCore* core, const tbReal d[3], tbFacingFeature* facing) {
  tbReal x = fabs(d[0]), y = fabs(d[1]), z = fabs(d[2]);
  int axis = x >= y && x >= z ? 0 : (y >= z ? 1 : 2), u = (axis + 1) % 3, v = (axis + 2) % 3;
  int up = d[axis] >= 0;
  facing->kind = TB_FACING_POLYGON;
  facing->count = 4;
  facing->normal[axis] = up ? 1 : -1;
  // Corners are counter-clockwise from outside.
  static const int corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  for (int i = 0; i < 4; i++) {
    int k = up ? i : 3 - i, su = corner[k][0], sv = corner[k][1];
    facing->point[i][axis] = up ? core->size[axis] : -core->size[axis];
    facing->point[i][u] = su ? core->size[u] : -core->size[u];
    facing->point[i][v] = sv ? core->size[v] : -core->size[v];
    facing->id[i] = up << axis | su << u | sv << v;
  }
}

// The edge at the support vertex of a hull that is most nearly perpendicular to d; false if none
// is.
static bool facing_edge(const tbHull* hull, const tbReal d[3], int vertex,
                        tbFacingFeature* facing) {
  const tbReal* x = hull->vert + 3 * vertex;
  tbReal least = EDGE_SINE;
  int best = -1;
  if (!hull->adj_start) return false;
  for (int k = hull->adj_start[vertex]; k < hull->adj_start[vertex + 1]; k++) {
    tbReal e[3];
    tb_sub3(e, x, hull->vert + 3 * hull->adj[k]);
    tbReal rise = tb_dot3(e, d), length = tb_norm3(e);
    if (!(rise < least * length)) continue;
    least = rise / length;
    best = hull->adj[k];
  }
  if (best < 0) return false;
  facing->kind = TB_FACING_SEGMENT;
  facing->count = 2;
  // An order that does not depend on which end is higher by rounding.
  facing->id[0] = vertex < best ? vertex : best;
  facing->id[1] = vertex < best ? best : vertex;
  for (int i = 0; i < 2; i++) tb_copy3(facing->point[i], hull->vert + 3 * facing->id[i]);
  return true;
}

// Whether corner i of `total` is kept in a thinned-out polygon: all but three of the slots go to
// corners at equal steps, three to the support vertex, at `place`, and its neighbours, whose edges
// may be the contact feature.
static bool is_kept(int i, int total, int place) {
  const long even = TB_FACING_MAX - 3;
  if (total <= TB_FACING_MAX || i == 0) return true;
  int from = i - place;
  bool around = from >= -1 && from <= 1;
  around |= place >= 0 && (from == total - 1 || from == 1 - total);
  return around || i * even / total != (i - 1) * even / total;
}

static void facing_hull(tbCore* core, const tbReal d[3], tbFacingFeature* facing) {
  const tbHull* hull = core->hull;
  int vertex = core->known >= 0 ? core->known : tb_hull_support(hull, d, core->hint);
  int face = tb_hull_face_at(hull, d, vertex);
  if (face < 0 || tb_dot3(hull->plane + 4 * face, d) < FACE_COSINE) {
    // A vertex, or an edge so sharp that neither adjacent face faces d.
    if (!facing_edge(hull, d, vertex, facing)) set_point(facing, hull->vert + 3 * vertex, vertex);
    return;
  }
  int first = hull->face_start[face], total = hull->face_start[face + 1] - first;
  facing->kind = TB_FACING_POLYGON;
  tb_copy3(facing->normal, hull->plane + 4 * face);
  const int* corner = hull->face_vert + first;
  int place = -1;
  for (int i = 0; i < total && total > TB_FACING_MAX; i++) place = corner[i] == vertex ? i : place;
  for (int i = 0; i < total && facing->count < TB_FACING_MAX; i++) {
    if (!is_kept(i, total, place)) continue;
    facing->id[facing->count] = corner[i];
    tb_copy3(facing->point[facing->count++], hull->vert + 3 * corner[i]);
  }
}

static void facing_prism(tbCore* core, const tbReal d[3], tbFacingFeature* facing) {
  static const int corner[5][4] = {
      {0, 1, 2, -1}, {5, 4, 3, -1}, {0, 3, 4, 1}, {1, 4, 5, 2}, {2, 5, 3, 0}};
  tbReal most = FACE_COSINE;
  int best = -1;
  for (int f = 0; f < 5; f++) {
    tbReal e1[3], e2[3], n[3];
    tb_sub3(e1, core->prism + 3 * corner[f][1], core->prism + 3 * corner[f][0]);
    tb_sub3(e2, core->prism + 3 * corner[f][2], core->prism + 3 * corner[f][0]);
    tb_cross(n, e1, e2);
    tb_normalize3(n);
    if (tb_dot3(n, d) <= most) continue;
    most = tb_dot3(n, d);
    best = f;
    tb_copy3(facing->normal, n);
  }
  if (best < 0) {
    tbReal p[3];
    int vertex = tb_core_support(core, d, p);
    set_point(facing, p, vertex);
    return;
  }
  facing->kind = TB_FACING_POLYGON;
  for (int i = 0; i < 4 && corner[best][i] >= 0; i++) {
    tb_copy3(facing->point[i], core->prism + 3 * corner[best][i]);
    facing->id[i] = corner[best][i];
    facing->count++;
  }
}

static void facing_cylinder(tbCore* core, const tbReal d[3], tbFacingFeature* facing) {
  tbReal r = core->size[0], half = core->size[2], p[3];
  tbReal across = sqrt(d[0] * d[0] + d[1] * d[1]);
  int top = d[2] >= 0;
  if (fabs(d[2]) > CAP_COSINE && r > 0) {
    facing->kind = TB_FACING_DISC;
    facing->id[0] = top;
    tb_set3(facing->normal, 0, 0, top ? 1 : -1);
    tb_set3(facing->center, 0, 0, top ? half : -half);
    tb_set3(facing->arm[0], r, 0, 0);
    tb_set3(facing->arm[1], 0, top ? r : -r, 0);
  } else if (fabs(d[2]) < SEGMENT_SINE && half > 0) {
    facing->kind = TB_FACING_SEGMENT;
    facing->count = 2;
    facing->curvature_radius = r;
    for (int i = 0; i < 2; i++) {
      facing->id[i] = i;
      tb_set3(facing->point[i], r * d[0] / across, r * d[1] / across, i ? half : -half);
    }
  } else {
    int id = tb_core_support(core, d, p);
    set_point(facing, p, id);
  }
}

void tb_feature_facing(tbCore* core, const tbReal d[3], tbFacingFeature* facing) {
  facing->count = 0;
  facing->curvature_radius = 0;
  tb_zero3(facing->normal);
  switch (core->kind) {
    case TB_CORE_SEGMENT: facing_segment(core, d, facing); return;
    case TB_CORE_BOX: facing_box(core, d, facing); return;
    case TB_CORE_HULL: facing_hull(core, d, facing); return;
    case TB_CORE_PRISM: facing_prism(core, d, facing); return;
    case TB_CORE_CYLINDER: facing_cylinder(core, d, facing); return;
    default: {
      tbReal p[3];
      int id = tb_core_support(core, d, p);
      set_point(facing, p, id);
    }
  }
}

void tb_feature_facing_move(tbFacingFeature* facing, const tbReal mat[9], const tbReal pos[3]) {
  for (int i = 0; i < facing->count; i++) {
    tb_mul_mat3_vec3(facing->point[i], mat, facing->point[i]);
    tb_add3(facing->point[i], facing->point[i], pos);
  }
  tb_mul_mat3_vec3(facing->normal, mat, facing->normal);
  if (facing->kind != TB_FACING_DISC) return;
  tb_mul_mat3_vec3(facing->center, mat, facing->center);
  tb_add3(facing->center, facing->center, pos);
  for (int i = 0; i < 2; i++) tb_mul_mat3_vec3(facing->arm[i], mat, facing->arm[i]);
}
