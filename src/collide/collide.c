// The table of pair functions, input checks, and the steps that all pairs share.
#include "tribo/collide.h"

#include <math.h>

#include "base/minmax.h"
#include "collide/pairs.h"

// The functions of a pair. Only entries whose first type is not after the second are filled.
typedef struct {
  tbCollideFn collide;
  tbDistanceFn distance;
} PairEntry;

#define ENTRY(A, B, name, distance_fn) \
  [TB_GEOM_##A][TB_GEOM_##B] = {tb_collide_##name, distance_fn},
static const PairEntry pair_table[TB_NGEOMTYPES][TB_NGEOMTYPES] = {TB_COLLIDE_PAIRS(ENTRY)};
#undef ENTRY

static bool type_in_range(int type) {
  return type >= 0 && type < TB_NGEOMTYPES;
}

bool tb_collide_supported(int type_a, int type_b) {
  if (!type_in_range(type_a) || !type_in_range(type_b)) return false;
  return type_a <= type_b ? pair_table[type_a][type_b].collide != NULL
                          : pair_table[type_b][type_a].collide != NULL;
}

const char* tb_geom_type_name(int type) {
  static const char* const names[TB_NGEOMTYPES] = {"plane",     "hfield",   "sphere", "capsule",
                                                   "ellipsoid", "cylinder", "box",    "mesh"};
  return type_in_range(type) ? names[type] : "unknown";
}

// True if pose and sizes are finite and the type's data are present. 0 times finite factors is 0,
// and 0 times any other factor is NAN. Four products instead of one shorten the dependency chain.
static bool shape_is_usable(const tbShape* s) {
  const tbReal *size = s->size, *pos = s->pos, *mat = s->mat;
  tbReal x = 0 * size[0] * size[1] * size[2], y = 0 * pos[0] * pos[1] * pos[2] * mat[8];
  tbReal z = 0 * mat[0] * mat[1] * mat[2] * mat[3], w = 0 * mat[4] * mat[5] * mat[6] * mat[7];
  if (!((x + y) + (z + w) == 0)) return false;
  if (s->type == TB_GEOM_MESH) return s->hull && s->hull->nvert > 0;
  if (s->type == TB_GEOM_HFIELD) return s->hfield && s->hfield->nrow > 1 && s->hfield->ncol > 1;
  return true;
}

static bool has_negative_size(const tbShape* s) {
  return (s->size[0] < 0) | (s->size[1] < 0) | (s->size[2] < 0);
}

static bool inputs_are_usable(const tbShape* a, const tbShape* b) {
  return a && b && type_in_range(a->type) && type_in_range(b->type) && shape_is_usable(a) &&
         shape_is_usable(b);
}

// A copy with negative sizes set to zero.
static void copy_with_valid_size(tbShape* copy, const tbShape* s) {
  *copy = *s;
  for (int i = 0; i < 3; i++) copy->size[i] = tb_max(s->size[i], 0);
}

// Completes the frame with tangents: t1 from the pair's preferred t1, made orthogonal to the
// normal, or from the normal alone where no preference is given.
static void complete_frame(tbContactPoint* c) {
  tbReal *n = c->frame, *t1 = c->frame + 3, *t2 = c->frame + 6;
  if (t1[0] != 0 || t1[1] != 0 || t1[2] != 0) {
    tb_add_scaled3(t1, t1, -tb_dot3(t1, n), n);
    tbReal length = tb_norm3(t1);
    if (length > 1e-3) {
      tb_scale3(t1, t1, 1 / length);
      tb_cross(t2, n, t1);
      return;
    }
  }
  tb_frame_from_normal(n, t1, t2);
}

static void flip_cache(tbCollideCache* warm) {
  tb_scale3(warm->direction, warm->direction, -1);
  int32_t hint = warm->hint[0];
  warm->hint[0] = warm->hint[1];
  warm->hint[1] = hint;
}

// Finite but huge input can overflow to a contact that is not finite or has no normal, and rounding
// in a pair's own margin test can admit a contact slightly beyond the margin. Both are dropped
// here.
static bool contact_is_valid(const tbContactPoint* c, tbReal margin) {
  tbReal zero = 0 * c->dist * c->pos[0] * c->pos[1] * c->pos[2];
  return (fabs(tb_dot3(c->frame, c->frame) + zero - 1) < 1e-6) & (c->dist <= margin);
}

static int keep_valid(tbContactPoint* out, int count, tbReal margin) {
  int kept = 0;
  for (int i = 0; i < count; i++) {
    if (!contact_is_valid(&out[i], margin)) continue;
    if (kept != i) out[kept] = out[i];
    kept++;
  }
  return kept;
}

int tb_collide_normals(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                       tbCollideCache* warm) {
  if (a->type <= b->type) {
    tbCollideFn collide = pair_table[a->type][b->type].collide;
    return collide ? keep_valid(out, collide(a, b, margin, out, warm), margin) : 0;
  }
  tbCollideFn collide = pair_table[b->type][a->type].collide;
  if (!collide) return 0;
  if (warm) flip_cache(warm);
  int count = keep_valid(out, collide(b, a, margin, out, warm), margin);
  if (warm) flip_cache(warm);
  for (int i = 0; i < count; i++) tb_scale3(out[i].frame, out[i].frame, -1);
  return count;
}

static void complete_frames(tbContactPoint* contacts, int count) {
  for (int i = 0; i < count; i++) {
    // The contacts of a manifold often share one normal; they then share the whole frame.
    const tbReal* first = contacts[0].frame;
    tbReal* frame = contacts[i].frame;
    bool shared = i > 0 && frame[0] == first[0] && frame[1] == first[1] && frame[2] == first[2] &&
                  frame[3] == 0 && frame[4] == 0 && frame[5] == 0;
    if (shared) {
      for (int k = 3; k < 9; k++) frame[k] = first[k];
    } else {
      complete_frame(&contacts[i]);
    }
  }
}

int tb_collide(const tbShape* a, const tbShape* b, tbReal margin,
               tbContactPoint out[TB_MAX_PAIR_CONTACTS], tbCollideCache* warm) {
  if (!(margin >= 0) || !inputs_are_usable(a, b) || !out) return 0;
  tbShape copy_a, copy_b;
  if (has_negative_size(a) || has_negative_size(b)) {
    copy_with_valid_size(&copy_a, a);
    copy_with_valid_size(&copy_b, b);
    a = &copy_a;
    b = &copy_b;
  }
  int count = tb_collide_normals(a, b, margin, out, warm);
  complete_frames(out, count);
  return count;
}

// The signed distance as that of the deepest contact which the collide function returns without a
// margin.
static tbReal distance_from_contacts(const tbShape* a, const tbShape* b, tbReal point_a[3],
                                     tbReal point_b[3], tbReal normal[3], tbCollideCache* warm) {
  tbContactPoint contact[TB_MAX_PAIR_CONTACTS];
  int count = tb_collide_normals(a, b, INFINITY, contact, warm);
  if (count == 0) return NAN;
  const tbContactPoint* deepest = contact;
  for (int i = 1; i < count; i++) {
    if (contact[i].dist < deepest->dist) deepest = &contact[i];
  }
  tb_copy3(normal, deepest->frame);
  tb_add_scaled3(point_a, deepest->pos, -0.5 * deepest->dist, normal);
  tb_add_scaled3(point_b, deepest->pos, 0.5 * deepest->dist, normal);
  return deepest->dist;
}

static tbReal distance_by_entry(const tbShape* a, const tbShape* b, tbReal point_a[3],
                                tbReal point_b[3], tbReal normal[3], tbCollideCache* warm) {
  bool swapped = a->type > b->type;
  tbDistanceFn distance =
      swapped ? pair_table[b->type][a->type].distance : pair_table[a->type][b->type].distance;
  if (!distance) return distance_from_contacts(a, b, point_a, point_b, normal, warm);
  if (!swapped) return distance(a, b, point_a, point_b, normal, warm);
  if (warm) flip_cache(warm);
  tbReal dist = distance(b, a, point_b, point_a, normal, warm);
  if (warm) flip_cache(warm);
  tb_scale3(normal, normal, -1);
  return dist;
}

tbReal tb_distance(const tbShape* a, const tbShape* b, tbReal point_a[3], tbReal point_b[3],
                   tbReal normal[3], tbCollideCache* warm) {
  if (!inputs_are_usable(a, b) || !tb_collide_supported(a->type, b->type)) return NAN;
  tbShape copy_a, copy_b;
  copy_with_valid_size(&copy_a, a);
  copy_with_valid_size(&copy_b, b);
  tbReal pa[3] = {0}, pb[3] = {0}, n[3] = {0};
  tbReal dist = distance_by_entry(&copy_a, &copy_b, pa, pb, n, warm);
  if (point_a) tb_copy3(point_a, pa);
  if (point_b) tb_copy3(point_b, pb);
  if (normal) tb_copy3(normal, n);
  return dist;
}
