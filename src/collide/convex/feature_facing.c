// Patches of the cores.
#include "collide/convex/feature_facing.h"

// A face or cap that leans more than this (cosine) away from the direction is no patch.
#define FACE_COSINE 0.1
#define CAP_COSINE 0.95
// A segment or side that leans more than this (sine) towards the direction touches with its end.
#define SEGMENT_SINE 0.5
// An edge between faces that are no patch touches along its length up to this sine.
#define EDGE_SINE 0.1

static void set_point(tbFacingFeature* patch, const tbReal p[3], int id) {
  patch->kind = TB_PATCH_POINT;
  patch->count = 1;
  patch->id[0] = id;
  tb_copy3(patch->point[0], p);
}

static void segment_patch(const tbCore* core, const tbReal d[3], tbFacingFeature* patch) {
  tbReal p[3] = {0, 0, core->size[2]};
  int top = d[2] >= 0;
  if (fabs(d[2]) > SEGMENT_SINE || !(core->size[2] > 0)) {
    tb_set3(p, 0, 0, top ? core->size[2] : -core->size[2]);
    set_point(patch, p, top);
    return;
  }
  patch->kind = TB_PATCH_SEGMENT;
  patch->count = 2;
  patch->curvature_radius = core->radius;
  for (int i = 0; i < 2; i++) {
    patch->id[i] = i;
    tb_set3(patch->point[i], 0, 0, i ? core->size[2] : -core->size[2]);
  }
}

static void box_patch(const tbCore* core, const tbReal d[3], tbFacingFeature* patch) {
  tbReal x = fabs(d[0]), y = fabs(d[1]), z = fabs(d[2]);
  int axis = x >= y && x >= z ? 0 : (y >= z ? 1 : 2), u = (axis + 1) % 3, v = (axis + 2) % 3;
  int up = d[axis] >= 0;
  patch->kind = TB_PATCH_POLYGON;
  patch->count = 4;
  patch->normal[axis] = up ? 1 : -1;
  // Counter-clockwise seen from outside.
  static const int corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  for (int i = 0; i < 4; i++) {
    int k = up ? i : 3 - i, su = corner[k][0], sv = corner[k][1];
    patch->point[i][axis] = up ? core->size[axis] : -core->size[axis];
    patch->point[i][u] = su ? core->size[u] : -core->size[u];
    patch->point[i][v] = sv ? core->size[v] : -core->size[v];
    patch->id[i] = up << axis | su << u | sv << v;
  }
}

// The edge of a hull at its support vertex that is most level, seen along d; false where none is.
static bool edge_patch(const tbHull* hull, const tbReal d[3], int vertex, tbFacingFeature* patch) {
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
  patch->kind = TB_PATCH_SEGMENT;
  patch->count = 2;
  // In an order that does not depend on which end is higher by rounding.
  patch->id[0] = vertex < best ? vertex : best;
  patch->id[1] = vertex < best ? best : vertex;
  for (int i = 0; i < 2; i++) tb_copy3(patch->point[i], hull->vert + 3 * patch->id[i]);
  return true;
}

// Whether corner i of `total` stays in a patch: all but three of its places go to corners at equal
// steps, three to the support vertex, at `place`, and its neighbours, whose edges may be what
// touches.
static bool is_kept(int i, int total, int place) {
  const long even = TB_PATCH_MAX - 3;
  if (total <= TB_PATCH_MAX || i == 0) return true;
  int from = i - place;
  bool around = from >= -1 && from <= 1;
  around |= place >= 0 && (from == total - 1 || from == 1 - total);
  return around || i * even / total != (i - 1) * even / total;
}

static void hull_patch(tbCore* core, const tbReal d[3], tbFacingFeature* patch) {
  const tbHull* hull = core->hull;
  int vertex = core->known >= 0 ? core->known : tb_hull_support(hull, d, core->hint);
  int face = tb_hull_face_at(hull, d, vertex);
  if (face < 0 || tb_dot3(hull->plane + 4 * face, d) < FACE_COSINE) {
    // A tip, or an edge so sharp that both of its faces look away.
    if (!edge_patch(hull, d, vertex, patch)) set_point(patch, hull->vert + 3 * vertex, vertex);
    return;
  }
  int first = hull->face_start[face], total = hull->face_start[face + 1] - first;
  patch->kind = TB_PATCH_POLYGON;
  tb_copy3(patch->normal, hull->plane + 4 * face);
  const int* corner = hull->face_vert + first;
  int place = -1;
  for (int i = 0; i < total && total > TB_PATCH_MAX; i++) place = corner[i] == vertex ? i : place;
  for (int i = 0; i < total && patch->count < TB_PATCH_MAX; i++) {
    if (!is_kept(i, total, place)) continue;
    patch->id[patch->count] = corner[i];
    tb_copy3(patch->point[patch->count++], hull->vert + 3 * corner[i]);
  }
}

static void prism_patch(tbCore* core, const tbReal d[3], tbFacingFeature* patch) {
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
    tb_copy3(patch->normal, n);
  }
  if (best < 0) {
    tbReal p[3];
    int vertex = tb_core_support(core, d, p);
    set_point(patch, p, vertex);
    return;
  }
  patch->kind = TB_PATCH_POLYGON;
  for (int i = 0; i < 4 && corner[best][i] >= 0; i++) {
    tb_copy3(patch->point[i], core->prism + 3 * corner[best][i]);
    patch->id[i] = corner[best][i];
    patch->count++;
  }
}

static void cylinder_patch(tbCore* core, const tbReal d[3], tbFacingFeature* patch) {
  tbReal r = core->size[0], half = core->size[2], p[3];
  tbReal across = sqrt(d[0] * d[0] + d[1] * d[1]);
  int top = d[2] >= 0;
  if (fabs(d[2]) > CAP_COSINE && r > 0) {
    patch->kind = TB_PATCH_DISC;
    patch->id[0] = top;
    tb_set3(patch->normal, 0, 0, top ? 1 : -1);
    tb_set3(patch->center, 0, 0, top ? half : -half);
    tb_set3(patch->arm[0], r, 0, 0);
    tb_set3(patch->arm[1], 0, top ? r : -r, 0);
  } else if (fabs(d[2]) < SEGMENT_SINE && half > 0) {
    patch->kind = TB_PATCH_SEGMENT;
    patch->count = 2;
    patch->curvature_radius = r;
    for (int i = 0; i < 2; i++) {
      patch->id[i] = i;
      tb_set3(patch->point[i], r * d[0] / across, r * d[1] / across, i ? half : -half);
    }
  } else {
    int id = tb_core_support(core, d, p);
    set_point(patch, p, id);
  }
}

void tb_feature_facing(tbCore* core, const tbReal d[3], tbFacingFeature* patch) {
  patch->count = 0;
  patch->curvature_radius = 0;
  tb_zero3(patch->normal);
  switch (core->kind) {
    case TB_CORE_SEGMENT: segment_patch(core, d, patch); return;
    case TB_CORE_BOX: box_patch(core, d, patch); return;
    case TB_CORE_HULL: hull_patch(core, d, patch); return;
    case TB_CORE_PRISM: prism_patch(core, d, patch); return;
    case TB_CORE_CYLINDER: cylinder_patch(core, d, patch); return;
    default: {
      tbReal p[3];
      int id = tb_core_support(core, d, p);
      set_point(patch, p, id);
    }
  }
}

void tb_feature_facing_move(tbFacingFeature* patch, const tbReal mat[9], const tbReal pos[3]) {
  for (int i = 0; i < patch->count; i++) {
    tb_mul_mat3_vec3(patch->point[i], mat, patch->point[i]);
    tb_add3(patch->point[i], patch->point[i], pos);
  }
  tb_mul_mat3_vec3(patch->normal, mat, patch->normal);
  if (patch->kind != TB_PATCH_DISC) return;
  tb_mul_mat3_vec3(patch->center, mat, patch->center);
  tb_add3(patch->center, patch->center, pos);
  for (int i = 0; i < 2; i++) tb_mul_mat3_vec3(patch->arm[i], mat, patch->arm[i]);
}
