// Axis-aligned bounding boxes of placed shapes, in the world frame.
#include <math.h>

#include "base/minmax.h"
#include "collide/bounds.h"
#include "collide/hull/hull.h"
#include "tribo/collide.h"

// A plane's solid half space is bounded only along a world axis that its normal is parallel to.
static void plane_aabb(const tbShape* s, tbReal low[3], tbReal high[3]) {
  for (int i = 0; i < 3; i++) {
    low[i] = -INFINITY;
    high[i] = INFINITY;
    tbReal n = s->mat[3 * i + 2];
    if (n >= 1) high[i] = s->pos[i];
    if (n <= -1) low[i] = s->pos[i];
  }
}

// A box with centre `center` and half lengths `half` in the shape's frame.
static void oriented_box_aabb(const tbShape* s, const tbReal center[3], const tbReal half[3],
                              tbReal low[3], tbReal high[3]) {
  tbReal middle[3];
  tb_mul_mat3_vec3(middle, s->mat, center);
  for (int i = 0; i < 3; i++) {
    const tbReal* row = s->mat + 3 * i;
    tbReal reach = fabs(row[0]) * half[0] + fabs(row[1]) * half[1] + fabs(row[2]) * half[2];
    low[i] = s->pos[i] + middle[i] - reach;
    high[i] = s->pos[i] + middle[i] + reach;
  }
}

// Support vertices along the six axis directions. Each search takes few steps on the vertex graph
// of a large hull.
static void mesh_aabb(const tbShape* s, tbReal low[3], tbReal high[3]) {
  if (!s->hull || s->hull->nvert < 1) {
    tb_copy3(low, s->pos);
    tb_copy3(high, s->pos);
    return;
  }
  for (int i = 0; i < 3; i++) {
    const tbReal* axis = s->mat + 3 * i;
    tbReal back[3] = {-axis[0], -axis[1], -axis[2]};
    int last = tb_hull_support(s->hull, axis, -1);
    int first = tb_hull_support(s->hull, back, -1);
    high[i] = s->pos[i] + tb_dot3(axis, s->hull->vert + 3 * last);
    low[i] = s->pos[i] + tb_dot3(axis, s->hull->vert + 3 * first);
  }
}

// Half extent of a round shape along world axis i.
static tbReal round_reach(const tbShape* s, int i) {
  const tbReal *row = s->mat + 3 * i, *size = s->size;
  tbReal across = tb_max(1 - row[2] * row[2], 0);
  switch (s->type) {
    case TB_GEOM_SPHERE: return size[0];
    case TB_GEOM_CAPSULE: return size[0] + size[1] * fabs(row[2]);
    case TB_GEOM_CYLINDER: return size[0] * sqrt(across) + size[1] * fabs(row[2]);
    default: {
      tbReal x = row[0] * size[0], y = row[1] * size[1], z = row[2] * size[2];
      return sqrt(x * x + y * y + z * z);
    }
  }
}

void tb_shape_aabb(const tbShape* s, tbReal low[3], tbReal high[3]) {
  static const tbReal zero[3] = {0, 0, 0};
  if (!s || !low || !high) return;
  if (s->type == TB_GEOM_PLANE) {
    plane_aabb(s, low, high);
  } else if (s->type == TB_GEOM_BOX) {
    oriented_box_aabb(s, zero, s->size, low, high);
  } else if (s->type == TB_GEOM_HFIELD && s->hfield) {
    const tbReal* size = s->hfield->size;
    tbReal center[3] = {0, 0, 0.5 * (size[2] - size[3])};
    tbReal half[3] = {size[0], size[1], 0.5 * (size[2] + size[3])};
    oriented_box_aabb(s, center, half, low, high);
  } else if (s->type == TB_GEOM_MESH) {
    mesh_aabb(s, low, high);
  } else {
    for (int i = 0; i < 3; i++) {
      tbReal reach = round_reach(s, i);
      low[i] = s->pos[i] - reach;
      high[i] = s->pos[i] + reach;
    }
  }
}

static void mesh_bounds(const tbHull* hull, tbBounds* b) {
  tbReal low[3] = {0, 0, 0}, high[3] = {0, 0, 0}, far2 = 0;
  b->is_mesh = true;
  if (hull && hull->nvert > 0) tb_hull_box(hull, low, high);
  for (int i = 0; i < 3; i++) {
    b->center[i] = 0.5 * (low[i] + high[i]);
    b->half[i] = tb_max(high[i] - b->center[i], b->center[i] - low[i]);
  }
  for (int v = 0; hull && v < hull->nvert; v++) {
    tbReal arm[3];
    tb_sub3(arm, hull->vert + 3 * v, b->center);
    far2 = tb_max(far2, tb_dot3(arm, arm));
  }
  // The factor covers the rounding errors here and in tb_bounds_place.
  b->reach = sqrt(far2) * (1 + 1e-12);
  tb_scale3(b->half, b->half, 1 + 1e-12);
}

bool tb_shape_bounds(const tbShape* s, tbBounds* b) {
  const tbReal* size = s->size;
  *b = (tbBounds){.reach = INFINITY};
  switch (s->type) {
    case TB_GEOM_SPHERE: b->radius = size[0]; return true;
    case TB_GEOM_CAPSULE:
      b->radius = size[0];
      b->half[2] = size[1];
      return true;
    case TB_GEOM_ELLIPSOID:
      tb_copy3(b->round, size);
      b->is_round = true;
      return true;
    case TB_GEOM_CYLINDER:
      tb_set3(b->round, size[0], size[0], 0);
      b->is_round = true;
      b->half[2] = size[1];
      return true;
    case TB_GEOM_BOX: tb_copy3(b->half, size); return true;
    case TB_GEOM_MESH: mesh_bounds(s->hull, b); return true;
    default: return false;
  }
}
