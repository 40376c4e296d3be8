// The table of pairs, the checks of input, and what all pairs share.
#include "tribo/collide.h"

#include <math.h>

#include "collide/pairs.h"

// The functions of a pair. The table is filled where the first type is not after the second.
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

// Finite pose and sizes, and data where the type needs it. x * 0 is 0 for every finite x.
static bool shape_is_usable(const tbShape* s) {
  const tbReal *size = s->size, *pos = s->pos, *mat = s->mat;
  tbReal x = size[0] * 0 + size[1] * 0 + size[2] * 0;
  tbReal y = pos[0] * 0 + pos[1] * 0 + pos[2] * 0 + mat[8] * 0;
  tbReal z = mat[0] * 0 + mat[1] * 0 + mat[2] * 0 + mat[3] * 0;
  tbReal w = mat[4] * 0 + mat[5] * 0 + mat[6] * 0 + mat[7] * 0;
  if (!((x + y) + (z + w) == 0)) return false;
  if (s->type == TB_GEOM_MESH) return s->hull && s->hull->nvert > 0;
  if (s->type == TB_GEOM_HFIELD) return s->hfield && s->hfield->nrow > 1 && s->hfield->ncol > 1;
  return true;
}

// The shape itself, or a copy with negative sizes set to zero.
static const tbShape* with_valid_size(const tbShape* s, tbShape* storage) {
  if (s->size[0] >= 0 && s->size[1] >= 0 && s->size[2] >= 0) return s;
  *storage = *s;
  for (int i = 0; i < 3; i++) storage->size[i] = fmax(s->size[i], 0);
  return storage;
}

// A pair in the table's order, ready to run.
typedef struct {
  const PairEntry* entry;
  const tbShape *a, *b;
  bool swapped;
  tbShape storage_a, storage_b;
} Prepared;

static bool prepare(Prepared* p, const tbShape* a, const tbShape* b) {
  if (!type_in_range(a->type) || !type_in_range(b->type)) return false;
  p->swapped = a->type > b->type;
  p->entry = p->swapped ? &pair_table[b->type][a->type] : &pair_table[a->type][b->type];
  if (!p->entry->collide || !shape_is_usable(a) || !shape_is_usable(b)) return false;
  p->a = with_valid_size(p->swapped ? b : a, &p->storage_a);
  p->b = with_valid_size(p->swapped ? a : b, &p->storage_b);
  return true;
}

// Tangents from the normal, or from the pair's wish for t1 made orthogonal to it.
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

// Overflow of huge but finite input can still make a contact that is not finite.
static bool contact_is_finite(const tbContactPoint* c) {
  tbReal sum = c->dist * 0;
  for (int i = 0; i < 3; i++) sum += c->pos[i] * 0 + c->frame[i] * 0;
  return sum == 0;
}

// Run the pair's function; contacts come back in the caller's order of shapes, normals only.
static int run(const Prepared* p, tbReal margin, tbContactPoint* out, tbCollideCache* warm) {
  if (p->swapped && warm) flip_cache(warm);
  int count = p->entry->collide(p->a, p->b, margin, out, warm), kept = 0;
  if (p->swapped && warm) flip_cache(warm);
  for (int i = 0; i < count; i++) {
    if (!contact_is_finite(&out[i])) continue;
    if (kept != i) out[kept] = out[i];
    if (p->swapped) tb_scale3(out[kept].frame, out[kept].frame, -1);
    kept++;
  }
  return kept;
}

int tb_collide(const tbShape* a, const tbShape* b, tbReal margin,
               tbContactPoint out[TB_MAX_PAIR_CONTACTS], tbCollideCache* warm) {
  Prepared p;
  if (!(margin >= 0) || !prepare(&p, a, b)) return 0;
  int count = run(&p, margin, out, warm);
  for (int i = 0; i < count; i++) {
    bool shared = i > 0 && out[i].frame[0] == out[0].frame[0] &&
                  out[i].frame[1] == out[0].frame[1] && out[i].frame[2] == out[0].frame[2] &&
                  out[i].frame[3] == 0 && out[i].frame[4] == 0 && out[i].frame[5] == 0;
    if (shared) {
      for (int k = 3; k < 9; k++) out[i].frame[k] = out[0].frame[k];
    } else {
      complete_frame(&out[i]);
    }
  }
  return count;
}

// The deepest contact that the collide function gives without a margin.
static tbReal distance_from_contacts(const Prepared* p, tbReal point_a[3], tbReal point_b[3],
                                     tbReal normal[3], tbCollideCache* warm) {
  tbContactPoint contact[TB_MAX_PAIR_CONTACTS];
  int count = run(p, INFINITY, contact, warm);
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
  Prepared p;
  if (!prepare(&p, a, b)) return NAN;
  tbReal pa[3] = {0}, pb[3] = {0}, n[3] = {0}, dist;
  if (!p.entry->distance) {
    dist = distance_from_contacts(&p, pa, pb, n, warm);
  } else if (!p.swapped) {
    dist = p.entry->distance(p.a, p.b, pa, pb, n, warm);
  } else {
    if (warm) flip_cache(warm);
    dist = p.entry->distance(p.a, p.b, pb, pa, n, warm);
    if (warm) flip_cache(warm);
    tb_scale3(n, n, -1);
  }
  if (point_a) tb_copy3(point_a, pa);
  if (point_b) tb_copy3(point_b, pb);
  if (normal) tb_copy3(normal, n);
  return dist;
}
