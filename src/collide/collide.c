// The table of pairs, the checks of input, and what all pairs share.
#include "tribo/collide.h"

#include <math.h>

#include "collide/pairs.h"

// What the table knows about a pair: which functions, and whether the caller's shapes are swapped.
typedef struct {
  tbCollideFn collide;
  tbDistanceFn distance;
  bool swapped;
} PairEntry;

#define ENTRY(A, B, name, distance_fn) \
  [TB_GEOM_##A][TB_GEOM_##B] = {tb_collide_##name, distance_fn, false},
#define ENTRY_SWAPPED(A, B, name, distance_fn) \
  [TB_GEOM_##B][TB_GEOM_##A] = {tb_collide_##name, distance_fn, TB_GEOM_##A != TB_GEOM_##B},
static const PairEntry pair_table[TB_NGEOMTYPES][TB_NGEOMTYPES] = {
    TB_COLLIDE_PAIRS(ENTRY_SWAPPED)  //
    TB_COLLIDE_PAIRS(ENTRY)};
#undef ENTRY
#undef ENTRY_SWAPPED

static bool type_in_range(int type) {
  return type >= 0 && type < TB_NGEOMTYPES;
}

bool tb_collide_supported(int type_a, int type_b) {
  return type_in_range(type_a) && type_in_range(type_b) && pair_table[type_a][type_b].collide;
}

const char* tb_geom_type_name(int type) {
  static const char* const names[TB_NGEOMTYPES] = {"plane",     "hfield",   "sphere", "capsule",
                                                   "ellipsoid", "cylinder", "box",    "mesh"};
  return type_in_range(type) ? names[type] : "unknown";
}

// A sum is finite if all its terms are (terms near the largest double aside, which no pair can
// use).
static bool shape_is_finite(const tbShape* s) {
  tbReal sum = 0;
  for (int i = 0; i < 3; i++) sum += fabs(s->pos[i]) + fabs(s->size[i]);
  for (int i = 0; i < 9; i++) sum += fabs(s->mat[i]);
  return isfinite(sum);
}

static bool shape_has_negative_size(const tbShape* s) {
  return s->size[0] < 0 || s->size[1] < 0 || s->size[2] < 0;
}

static bool shape_has_data(const tbShape* s) {
  if (s->type == TB_GEOM_MESH) return s->hull && s->hull->nvert > 0;
  if (s->type == TB_GEOM_HFIELD) return s->hfield && s->hfield->nrow > 1 && s->hfield->ncol > 1;
  return true;
}

// The entry for a pair, or NULL where the pair or its input cannot touch.
static const PairEntry* find_entry(const tbShape* a, const tbShape* b) {
  if (!tb_collide_supported(a->type, b->type)) return NULL;
  if (!shape_is_finite(a) || !shape_is_finite(b)) return NULL;
  if (!shape_has_data(a) || !shape_has_data(b)) return NULL;
  return &pair_table[a->type][b->type];
}

static const tbShape* with_valid_size(const tbShape* s, tbShape* storage) {
  if (!shape_has_negative_size(s)) return s;
  *storage = *s;
  for (int i = 0; i < 3; i++) storage->size[i] = fmax(s->size[i], 0);
  return storage;
}

// Tangents from the normal, or from the pair's wish for t1 made orthogonal to it.
static void complete_frame(tbContactPoint* c) {
  tbReal *n = c->frame, *t1 = c->frame + 3, *t2 = c->frame + 6;
  tb_add_scaled3(t1, t1, -tb_dot3(t1, n), n);
  tbReal length = tb_norm3(t1);
  if (length > 1e-3) {
    tb_scale3(t1, t1, 1 / length);
    tb_cross(t2, n, t1);
  } else {
    tb_frame_from_normal(n, t1, t2);
  }
}

static void flip_cache(tbCollideCache* warm) {
  tb_scale3(warm->direction, warm->direction, -1);
  int32_t hint = warm->hint[0];
  warm->hint[0] = warm->hint[1];
  warm->hint[1] = hint;
}

static int run_entry(const PairEntry* entry, const tbShape* a, const tbShape* b, tbReal margin,
                     tbContactPoint* out, tbCollideCache* warm) {
  if (!entry->swapped) return entry->collide(a, b, margin, out, warm);
  if (warm) flip_cache(warm);
  int count = entry->collide(b, a, margin, out, warm);
  if (warm) flip_cache(warm);
  for (int i = 0; i < count; i++) tb_scale3(out[i].frame, out[i].frame, -1);
  return count;
}

int tb_collide(const tbShape* a, const tbShape* b, tbReal margin,
               tbContactPoint out[TB_MAX_PAIR_CONTACTS], tbCollideCache* warm) {
  const PairEntry* entry = find_entry(a, b);
  if (!entry || !(margin >= 0)) return 0;
  tbShape storage_a, storage_b;
  int count = run_entry(entry, with_valid_size(a, &storage_a), with_valid_size(b, &storage_b),
                        margin, out, warm);
  for (int i = 0; i < count; i++) complete_frame(&out[i]);
  return count;
}

// The deepest contact that the collide function gives without a margin.
static tbReal distance_from_contacts(const PairEntry* entry, const tbShape* a, const tbShape* b,
                                     tbReal point_a[3], tbReal point_b[3], tbReal normal[3],
                                     tbCollideCache* warm) {
  tbContactPoint contact[TB_MAX_PAIR_CONTACTS];
  int count = run_entry(entry, a, b, INFINITY, contact, warm);
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

tbReal tb_distance(const tbShape* a, const tbShape* b, tbReal point_a[3], tbReal point_b[3],
                   tbReal normal[3], tbCollideCache* warm) {
  const PairEntry* entry = find_entry(a, b);
  if (!entry) return NAN;
  tbShape storage_a, storage_b;
  a = with_valid_size(a, &storage_a);
  b = with_valid_size(b, &storage_b);
  tbReal pa[3], pb[3], n[3], dist;
  if (!entry->distance) {
    dist = distance_from_contacts(entry, a, b, pa, pb, n, warm);
  } else if (!entry->swapped) {
    dist = entry->distance(a, b, pa, pb, n, warm);
  } else {
    if (warm) flip_cache(warm);
    dist = entry->distance(b, a, pb, pa, n, warm);
    if (warm) flip_cache(warm);
    tb_scale3(n, n, -1);
  }
  if (point_a) tb_copy3(point_a, pa);
  if (point_b) tb_copy3(point_b, pb);
  if (normal) tb_copy3(normal, n);
  return dist;
}
