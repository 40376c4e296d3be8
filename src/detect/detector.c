// Set-up of the collision detector: which geoms may touch, their shapes, and snapshots of the
// caches.
#include "detect/detector.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "spatial/vec3.h"

// ---- which geoms may touch ---------------------------------------------------------------------

static int compare_u64(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static int compare_explicit(const void* a, const void* b) {
  const tbExplicitPair *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  if (x->second != y->second) return x->second < y->second ? -1 : 1;
  return (x->id > y->id) - (x->id < y->id);
}

static uint64_t body_key(int a, int b) {
  uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
  return low << 32 | high;
}

int tb_detector_explicit_pair(const tbDetector* f, int g1, int g2) {
  // If several pairs name the same geoms, the last one applies.
  tbExplicitPair key = {g1 < g2 ? g1 : g2, g1 < g2 ? g2 : g1, f->model->npair};
  int low = 0, high = f->model->npair;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (compare_explicit(&f->pair[middle], &key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const tbExplicitPair* found = low > 0 ? &f->pair[low - 1] : NULL;
  return found && found->first == key.first && found->second == key.second ? found->id : -1;
}

// MuJoCo's rules: the bits must match; bodies welded together never collide, nor does a moving body
// with its moving parent, nor do excluded bodies. Explicit pairs override all of these rules.
bool tb_detector_may_touch(const void* context, int i, int j) {
  const tbDetector* f = context;
  const tbModel* m = f->model;
  int g1 = f->geom[i], g2 = f->geom[j];
  if (!tb_collide_supported(m->geom_type[g1], m->geom_type[g2])) return false;
  if (tb_detector_explicit_pair(f, g1, g2) >= 0) return true;
  if (!(m->geom_contype[g1] & m->geom_conaffinity[g2]) &&
      !(m->geom_contype[g2] & m->geom_conaffinity[g1])) {
    return false;
  }
  int body1 = m->geom_bodyid[g1], body2 = m->geom_bodyid[g2];
  int weld1 = m->body_weldid[body1], weld2 = m->body_weldid[body2];
  if (weld1 == weld2) return false;
  if (!(m->opt.disableflags & TB_DISABLE_FILTERPARENT) && weld1 && weld2) {
    int parent1 = m->body_weldid[m->body_parentid[weld1]];
    int parent2 = m->body_weldid[m->body_parentid[weld2]];
    if (weld1 == parent2 || weld2 == parent1) return false;
  }
  uint64_t key = body_key(body1, body2);
  return m->nexclude == 0 ||
         !bsearch(&key, f->exclude, (size_t)m->nexclude, sizeof key, compare_u64);
}

// ---- set-up ------------------------------------------------------------------------------------

static void view_hulls(tbDetector* f, const tbModel* m) {
  for (int i = 0; i < m->nmesh; i++) {
    if (m->mesh_hullvertadr[i] < 0) continue;
    f->hull[i] = (tbHull){
        .nvert = m->mesh_hullvertnum[i],
        .nface = m->mesh_hullfacenum[i],
        .vert = m->hull_vert + 3 * m->mesh_hullvertadr[i],
        .adj_start = m->hull_vertadr + m->mesh_hulladradr[i],
        .adj = m->hull_edge + m->mesh_hulledgeadr[i],
        .plane = m->hull_plane + 4 * m->mesh_hullfaceadr[i],
        .face_start = m->hull_faceadr + m->mesh_hullfaceadradr[i],
        .face_vert = m->hull_poly + m->mesh_hullpolyadr[i],
        .face_adj = m->hull_polyadj + m->mesh_hullpolyadr[i],
        .vert_face = m->hull_vertface + m->mesh_hullvertadr[i],
        .radius = m->mesh_hullradius[i],
        .cache = &f->hull_cache[i],
    };
    tb_copy3(f->hull[i].center, m->mesh_hullcenter + 3 * i);
    tbHullCache* cache = &f->hull_cache[i];
    cache->seed = m->mesh_hullguess + (size_t)TB_NGUESS * (size_t)i;
    cache->side = m->mesh_hullside[i];
    if (cache->side > 0) cache->cells = m->hull_cell + m->mesh_hullcelladr[i];
    tb_hull_extent_fill(&f->hull[i], cache);
  }
}

// Memory for the search tables of small hulls (large hulls have direction tables in the model),
// each starting on its own cache line.
static int prepare_hulls(tbDetector* f, const tbModel* m) {
  const size_t line = 64;
  f->nsearch = 1;
  for (int i = 0; i < m->nmesh; i++) {
    if (f->hull_cache[i].cells) continue;
    f->nsearch += (tb_hull_search_bytes(&f->hull[i]) + line - 1) / line * line;
  }
  f->hull_search = malloc(f->nsearch);
  if (!f->hull_search) return 0;
  char* at = f->hull_search;
  for (int i = 0; i < m->nmesh; i++) {
    if (f->hull_cache[i].cells) continue;
    tb_hull_search_fill(&f->hull[i], &f->hull_cache[i], at);
    at += (tb_hull_search_bytes(&f->hull[i]) + line - 1) / line * line;
  }
  return 1;
}

static void view_hfields(tbDetector* f, const tbModel* m) {
  for (int i = 0; i < m->nhfield; i++) {
    f->hfield[i] = (tbHField){.nrow = m->hfield_nrow[i],
                              .ncol = m->hfield_ncol[i],
                              .data = m->hfield_data + m->hfield_adr[i]};
    memcpy(f->hfield[i].size, m->hfield_size + 4 * i, sizeof f->hfield[i].size);
  }
}

// Whether a geom has a shape and some filter rule lets it touch another geom.
static bool may_touch(const tbModel* m, int g) {
  bool wanted = m->geom_contype[g] || m->geom_conaffinity[g];
  for (int p = 0; p < m->npair && !wanted; p++) {
    wanted = m->pair_geom1[p] == g || m->pair_geom2[p] == g;
  }
  bool empty = m->geom_type[g] == TB_GEOM_MESH && m->mesh_hullvertadr[m->geom_dataid[g]] < 0;
  return wanted && !empty;
}

static tbReal largest_margin(const tbModel* m, int g) {
  tbReal margin = tb_max(m->geom_margin[g], 0) + m->geom_gap[g];
  for (int p = 0; p < m->npair; p++) {
    if (m->pair_geom1[p] == g || m->pair_geom2[p] == g) {
      margin = tb_max(margin, tb_max(m->pair_margin[p], 0) + m->pair_gap[p]);
    }
  }
  return margin;
}

static void set_shape(tbDetector* f, const tbModel* m, int i, int g) {
  tbShape* shape = &f->shape[i];
  shape->type = m->geom_type[g];
  tb_copy3(shape->size, m->geom_size + 3 * g);
  if (shape->type == TB_GEOM_MESH) shape->hull = &f->hull[m->geom_dataid[g]];
  if (shape->type == TB_GEOM_HFIELD) shape->hfield = &f->hfield[m->geom_dataid[g]];
  f->bounded[i] = tb_shape_bounds(shape, &f->bounds[i]);
  tbReal arm[3];
  const tbBounds* b = &f->bounds[i];
  tb_sub3(arm, m->geom_pos + 3 * g, m->body_ipos + 3 * m->geom_bodyid[g]);
  f->arm[i] = tb_norm3(arm) + m->geom_rbound[g];
  f->swing[i] =
      tb_norm3(m->geom_pos + 3 * g) + tb_norm3(b->center) + tb_norm3(b->half) + tb_norm3(b->round);
}

void tb_detector_reshape(tbDetector* f, const tbModel* m) {
  view_hfields(f, m);
  for (int i = 0; i < f->count; i++) {
    f->margin[i] = largest_margin(m, f->geom[i]);
    set_shape(f, m, i, f->geom[i]);
  }
  // Every box is placed again, also those of geoms that cannot move.
  f->started = 0;
}

static void list_geoms(tbDetector* f, const tbModel* m) {
  for (int g = 0; g < m->ngeom; g++) {
    if (!may_touch(m, g)) continue;
    int i = f->count++, body = m->geom_bodyid[g];
    f->geom[i] = g;
    if (f->ngroup == 0 || f->group[f->ngroup - 1].body != body) {
      f->group[f->ngroup++] = (tbItemGroup){body, i, i};
    }
    f->group[f->ngroup - 1].end = i + 1;
    f->margin[i] = largest_margin(m, g);
    // Bodies without dofs are static. Mocap bodies move, but they count as static, since they never
    // collide with the world.
    int fixed = m->body_lastdof[body] < 0;
    f->kind[i] = (uint8_t)((fixed ? TB_BROAD_STATIC : 0) |
                           (m->geom_type[g] == TB_GEOM_PLANE ? TB_BROAD_PLANE : 0));
    set_shape(f, m, i, g);
  }
}

static void list_pairs(tbDetector* f, const tbModel* m) {
  for (int p = 0; p < m->npair; p++) {
    int a = m->pair_geom1[p], b = m->pair_geom2[p];
    f->pair[p] = (tbExplicitPair){a < b ? a : b, a < b ? b : a, p};
  }
  for (int e = 0; e < m->nexclude; e++) {
    f->exclude[e] = body_key(m->exclude_body1[e], m->exclude_body2[e]);
  }
  if (m->npair) qsort(f->pair, (size_t)m->npair, sizeof(tbExplicitPair), compare_explicit);
  if (m->nexclude) qsort(f->exclude, (size_t)m->nexclude, sizeof(uint64_t), compare_u64);
}

tbDetector* tb_detector_new(const tbModel* m) {
  tbDetector* f = calloc(1, sizeof *f);
  if (!f) return NULL;
  size_t n = (size_t)m->ngeom + 1;
  f->model = m;
  f->geom = calloc(n, sizeof(int));
  f->shape = calloc(n, sizeof(tbShape));
  f->hull = calloc((size_t)m->nmesh + 1, sizeof(tbHull));
  f->hull_cache = calloc((size_t)m->nmesh + 1, sizeof(tbHullCache));
  f->hfield = calloc((size_t)m->nhfield + 1, sizeof(tbHField));
  f->plane = calloc(4 * n, sizeof(tbReal));
  f->margin = calloc(n, sizeof(tbReal));
  f->placed = calloc(n, sizeof(uint64_t));
  f->bounds = calloc(n, sizeof(tbBounds));
  f->bounded = calloc(n, sizeof(bool));
  f->arm = calloc(n, sizeof(tbReal));
  f->reach = calloc(n, sizeof(tbReal));
  f->swing = calloc(n, sizeof(tbReal));
  f->group = calloc(n, sizeof(tbItemGroup));
  f->base = calloc(n, sizeof(tbReal));
  f->ahead = calloc(n, sizeof(tbReal));
  f->changed = calloc(n, sizeof(tbReal));
  f->placed_path = calloc(n, sizeof(tbReal));
  f->path = calloc(n, sizeof(tbReal));
  f->travel = calloc((size_t)m->nbody + 1, sizeof(tbTravel));
  f->kind = calloc(n, 1);
  f->pair = calloc((size_t)m->npair + 1, sizeof(tbExplicitPair));
  f->exclude = calloc((size_t)m->nexclude + 1, sizeof(uint64_t));
  int ok = f->geom && f->shape && f->hull && f->hull_cache && f->hfield && f->plane && f->margin &&
           f->placed && f->bounds && f->bounded && f->arm && f->reach && f->swing && f->group &&
           f->base && f->ahead && f->changed && f->placed_path && f->path && f->travel && f->kind &&
           f->pair && f->exclude;
  if (ok) {
    view_hulls(f, m);
    view_hfields(f, m);
    list_pairs(f, m);
    list_geoms(f, m);
    ok = prepare_hulls(f, m) &&
         tb_broadphase_init(&f->broad, f->count, f->kind, tb_detector_may_touch, f) == TB_OK;
    f->broad.place = tb_detector_place_item;
    f->broad.owner = f;
    f->broad.path = f->path;
  }
  if (ok) return f;
  tb_detector_free(f);
  return NULL;
}

void tb_detector_free(tbDetector* f) {
  if (!f) return;
  for (int i = 0; f->ray_tree && i < f->model->nmesh; i++) tb_ray_tree_free(&f->ray_tree[i]);
  free(f->ray_tree);
  tb_broadphase_free(&f->broad);
  void* const owned[] = {
      f->geom,   f->shape,    f->hull,        f->hfield,     f->plane, f->margin, f->placed,
      f->bounds, f->bounded,  f->arm,         f->reach,      f->kind,  f->pair,   f->exclude,
      f->memory, f->previous, f->hull_search, f->hull_cache, f->swing, f->group,  f->base,
      f->ahead,  f->changed,  f->placed_path, f->travel,     f->path};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
  free(f);
}

const tbRayTree* tb_detector_ray_trees(tbDetector* f) {
  const tbModel* m = f->model;
  if (f->ray_tree || m->nmesh == 0) return f->ray_tree;
  size_t bytes = sizeof(tbRayTree) * (size_t)m->nmesh;
  f->ray_tree = calloc(1, bytes);
  if (!f->ray_tree) return NULL;
  f->nray_tree = bytes;
  f->allocations++;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] != TB_GEOM_MESH || m->geom_rgba[4 * g + 3] == 0) continue;
    int mesh = m->geom_dataid[g];
    if (f->ray_tree[mesh].node) continue;
    f->nray_tree +=
        tb_ray_tree_build(&f->ray_tree[mesh], m->mesh_vert + 3 * m->mesh_vertadr[mesh],
                          m->mesh_face + 3 * m->mesh_faceadr[mesh], m->mesh_facenum[mesh]);
    f->allocations++;
  }
  return f->ray_tree;
}

bool tb_detector_shape(const tbDetector* f, const tbModel* m, const tbData* d, int geom,
                       tbShape* shape) {
  int data = m->geom_dataid[geom];
  memset(shape, 0, sizeof *shape);
  shape->type = m->geom_type[geom];
  tb_copy3(shape->size, m->geom_size + 3 * geom);
  tb_copy3(shape->pos, d->geom_xpos + 3 * geom);
  memcpy(shape->mat, d->geom_xmat + 9 * geom, sizeof shape->mat);
  if (shape->type == TB_GEOM_HFIELD) shape->hfield = &f->hfield[data];
  if (shape->type != TB_GEOM_MESH) return true;
  shape->hull = &f->hull[data];
  return m->mesh_hullvertadr[data] >= 0;
}

void tb_detector_set_resting(tbDetector* f, const uint8_t* resting) {
  f->resting = resting;
}

size_t tb_detector_allocations(const tbDetector* f) {
  return f->allocations + (size_t)f->broad.nallocation;
}

size_t tb_detector_bytes(const tbDetector* f) {
  const tbModel* m = f->model;
  size_t item = sizeof(int) + sizeof(uint64_t) + sizeof(tbShape) + sizeof(tbBounds) + sizeof(bool) +
                13 * sizeof(tbReal) + sizeof(tbItemGroup) + 1;
  return sizeof *f + f->nsearch + item * ((size_t)m->ngeom + 1) +
         sizeof(tbTravel) * ((size_t)m->nbody + 1) +
         (sizeof(tbHull) + sizeof(tbHullCache)) * ((size_t)m->nmesh + 1) +
         sizeof(tbHField) * ((size_t)m->nhfield + 1) +
         sizeof(tbExplicitPair) * ((size_t)m->npair + 1) +
         sizeof(uint64_t) * ((size_t)m->nexclude + 1) +
         2 * sizeof(tbPairMemory) * (size_t)f->capacity + f->broad.bytes + f->nray_tree;
}

// ---- snapshots ---------------------------------------------------------------------------------

int tb_detector_reserve(tbDetector* f, int n) {
  if (n <= f->capacity) return 1;
  int capacity = 2 * n + 16;
  tbPairMemory* a = calloc((size_t)capacity, sizeof(tbPairMemory));
  tbPairMemory* b = calloc((size_t)capacity, sizeof(tbPairMemory));
  if (!a || !b) {
    free(a);
    free(b);
    return 0;
  }
  f->allocations += 2;
  if (f->nmemory) memcpy(a, f->memory, sizeof(tbPairMemory) * (size_t)f->nmemory);
  free(f->memory);
  free(f->previous);
  f->memory = a;
  f->previous = b;
  f->capacity = capacity;
  return 1;
}

// Only pairs with a non-empty cache are saved: a pair that is absent starts with an empty one.
size_t tb_detector_memory_size(const tbDetector* f) {
  size_t count = 0;
  for (int i = 0; i < f->nmemory; i++) count += f->memory[i].cache.state != 0;
  return sizeof(tbPairMemory) * count;
}

void tb_detector_memory_save(const tbDetector* f, void* bytes) {
  char* at = bytes;
  for (int i = 0; i < f->nmemory; i++) {
    if (f->memory[i].cache.state == 0) continue;
    tbPairMemory entry = f->memory[i];
    entry.until = 0;
    memcpy(at, &entry, sizeof entry);
    at += sizeof entry;
  }
}

tbResult tb_detector_memory_load(tbDetector* f, const void* bytes, size_t size) {
  if (size % sizeof(tbPairMemory) || size / sizeof(tbPairMemory) > INT_MAX / 4)
    return TB_ERROR_ARGUMENT;
  int n = (int)(size / sizeof(tbPairMemory));
  // Entries must be sorted pairs of existing items.
  tbPairMemory entry, last = {.pair = {-1, -1}};
  for (int i = 0; i < n; i++, last = entry) {
    memcpy(&entry, (const char*)bytes + sizeof(tbPairMemory) * (size_t)i, sizeof entry);
    tbPair p = entry.pair, q = last.pair;
    bool ascends = p.first > q.first || (p.first == q.first && p.second > q.second);
    if (!ascends || p.first < 0 || p.second <= p.first || p.second >= f->count) {
      return TB_ERROR_ARGUMENT;
    }
  }
  if (!tb_detector_reserve(f, n)) return TB_ERROR_MEMORY;
  if (n) memcpy(f->memory, bytes, size);
  // `until` is valid for the path lengths of the world that saved it, not for those of this one.
  for (int i = 0; i < n; i++) f->memory[i].until = 0;
  f->nmemory = n;
  return TB_OK;
}
