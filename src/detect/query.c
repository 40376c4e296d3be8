// Rays, distances and contacts of a pose, with the detector's shapes (detect/query.h).
#include "detect/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "detect/detector.h"
#include "model/workspace.h"
#include "spatial/vec3.h"

// ---- rays --------------------------------------------------------------------------------------

// Does a ray miss the ball around a geom?
static bool misses(const tbModel* m, const tbData* d, int g, const tbRayQuery* ray) {
  tbReal arm[3], radius = m->geom_rbound[g] * (1 + 1e-9);
  tb_sub3(arm, d->geom_xpos + 3 * g, ray->origin);
  tbReal along = tb_dot3(arm, ray->direction), outside = tb_dot3(arm, arm) - radius * radius;
  tbReal length2 = tb_dot3(ray->direction, ray->direction);
  return outside > 0 && (along < 0 || along * along < outside * length2);
}

static bool can_hit(const tbModel* m, const tbRayQuery* ray, int g) {
  int body = m->geom_bodyid[g], group = m->geom_group[g];
  if (body == ray->skip_body || m->geom_rgba[4 * g + 3] == 0) return false;
  if (ray->skip_fixed && m->body_weldid[body] == 0) return false;
  group = group < 0 ? 0 : (group < TB_NGROUP ? group : TB_NGROUP - 1);
  return !ray->group || ray->group[group];
}

// The triangle of a mesh that the ray meets goes to `triangle`.
static tbReal ray_geom(const tbDetector* f, const tbModel* m, const tbData* d,
                       const tbRayTree* trees, int g, const tbRayQuery* ray, int* triangle) {
  const tbReal *pos = d->geom_xpos + 3 * g, *mat = d->geom_xmat + 9 * g;
  int type = m->geom_type[g], id = m->geom_dataid[g];
  if (type == TB_GEOM_HFIELD) {
    return tb_ray_hfield(&f->hfield[id], pos, mat, ray->origin, ray->direction);
  }
  if (type != TB_GEOM_MESH) {
    return tb_ray_shape(type, m->geom_size + 3 * g, pos, mat, ray->origin, ray->direction);
  }
  if (misses(m, d, g, ray)) return -1;
  // Without memory for trees rays try every triangle.
  static const tbRayTree NONE = {0};
  return tb_ray_mesh(trees ? &trees[id] : &NONE, m->mesh_vert + 3 * m->mesh_vertadr[id],
                     m->mesh_face + 3 * m->mesh_faceadr[id], m->mesh_facenum[id], pos, mat,
                     ray->origin, ray->direction, triangle);
}

static void triangle_normal(const tbModel* m, const tbReal* mat, int mesh, int triangle,
                            tbReal normal[3]) {
  const int* v = m->mesh_face + 3 * (m->mesh_faceadr[mesh] + triangle);
  const tbReal* vert = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
  tbReal e1[3], e2[3], n[3];
  tb_sub3(e1, vert + 3 * v[1], vert + 3 * v[0]);
  tb_sub3(e2, vert + 3 * v[2], vert + 3 * v[0]);
  tb_cross(n, e1, e2);
  tb_mul_mat3_vec3(normal, mat, n);
  tb_normalize3(normal);
}

static void normal_at(const tbDetector* f, const tbModel* m, const tbData* d, int g, int triangle,
                      const tbReal point[3], tbReal normal[3]) {
  const tbReal *pos = d->geom_xpos + 3 * g, *mat = d->geom_xmat + 9 * g;
  int type = m->geom_type[g], id = m->geom_dataid[g];
  if (type == TB_GEOM_MESH) {
    triangle_normal(m, mat, id, triangle, normal);
  } else if (type == TB_GEOM_HFIELD) {
    tb_ray_hfield_normal(&f->hfield[id], pos, mat, point, normal);
  } else {
    tb_ray_shape_normal(type, m->geom_size + 3 * g, pos, mat, point, normal);
  }
}

tbReal tb_query_ray(tbDetector* f, const tbModel* m, const tbData* d, const tbRayQuery* ray,
                    int* geom, tbReal normal[3]) {
  const tbRayTree* trees = tb_detector_ray_trees(f);
  tbReal best = -1, point[3];
  int nearest = -1, triangle = -1;
  for (int g = 0; g < m->ngeom; g++) {
    if (!can_hit(m, ray, g)) continue;
    int at = -1;
    tbReal x = ray_geom(f, m, d, trees, g, ray, &at);
    if (!(x >= 0) || (nearest >= 0 && x >= best)) continue;
    best = x;
    nearest = g;
    triangle = at;
  }
  if (geom) *geom = nearest;
  if (normal) tb_zero3(normal);
  if (normal && nearest >= 0) {
    tb_add_scaled3(point, ray->origin, best, ray->direction);
    normal_at(f, m, d, nearest, triangle, point, normal);
  }
  return best;
}

// ---- distances ---------------------------------------------------------------------------------

tbReal tb_query_distance(const tbDetector* f, const tbModel* m, const tbData* d, int geom1,
                         int geom2, tbReal distmax, tbReal fromto[6]) {
  tbShape a, b;
  tbReal from[3], to[3];
  if (fromto) memset(fromto, 0, 6 * sizeof(tbReal));
  if (!tb_detector_shape(f, m, d, geom1, &a) || !tb_detector_shape(f, m, d, geom2, &b)) {
    return distmax;
  }
  tbReal distance = tb_distance(&a, &b, from, to, NULL, NULL);
  if (!(distance < distmax)) return distmax;
  if (fromto) {
    tb_copy3(fromto, from);
    tb_copy3(fromto + 3, to);
  }
  return distance;
}

// ---- pairs -------------------------------------------------------------------------------------

// Sweep and prune: items in the order of the lower ends of their boxes along one axis.
typedef struct {
  float low;
  int item;
} Start;

static int compare_starts(const void* a, const void* b) {
  const Start *x = a, *y = b;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  return (x->item > y->item) - (x->item < y->item);
}

static int compare_pairs(const void* a, const void* b) {
  const tbPair *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->second > y->second) - (x->second < y->second);
}

// The world box of an item grown by `margin`.
static void place_box(const tbDetector* f, const tbModel* m, const tbData* d, int i, tbReal margin,
                      tbAabb* box) {
  int g = f->geom[i];
  if (f->bounded[i]) {
    tb_bounds_place(&f->bounds[i], d->geom_xpos + 3 * g, d->geom_xmat + 9 * g, margin, box);
    return;
  }
  tbShape shape;
  tbReal low[3], high[3];
  tb_detector_shape(f, m, d, g, &shape);
  tb_shape_aabb(&shape, low, high);
  for (int k = 0; k < 3; k++) {
    low[k] -= margin;
    high[k] += margin;
  }
  tb_aabb_round(box, low, high);
}

// The axis along which the boxes' lower ends are spread farthest; infinite ends do not count.
static int widest_axis(const tbAabb* box, int n) {
  float widest = -1;
  int axis = 0;
  for (int k = 0; k < 3; k++) {
    float low = INFINITY, high = -INFINITY;
    for (int i = 0; i < n; i++) {
      float x = box[i].low[k];
      if (!(fabsf(x) < INFINITY)) continue;
      low = x < low ? x : low;
      high = x > high ? x : high;
    }
    if (high - low > widest) {
      widest = high - low;
      axis = k;
    }
  }
  return axis;
}

// Whether a plane is farther than `margin` from a bounded item.
static bool plane_is_far(const tbDetector* f, const tbData* d, int plane, int item, tbReal margin) {
  int p = f->geom[plane], g = f->geom[item];
  const tbReal* mat = d->geom_xmat + 9 * p;
  tbReal down[3] = {-mat[2], -mat[5], -mat[8]}, arm[3];
  tb_sub3(arm, d->geom_xpos + 3 * p, d->geom_xpos + 3 * g);
  tbReal lowest =
      tb_dot3(down, arm) - tb_bounds_along(&f->bounds[item], d->geom_xmat + 9 * g, down);
  return lowest > margin * (1 + 1e-9) + 1e-9 * (fabs(tb_dot3(down, arm)) + fabs(lowest));
}

static bool is_candidate(const tbDetector* f, const tbData* d, const tbAabb* box, int i, int j,
                         const tbReal* margin) {
  if (!tb_aabb_overlap(&box[i], &box[j])) return false;
  if (f->kind[i] & f->kind[j] & TB_BROAD_STATIC) return false;
  int plane = f->kind[i] & TB_BROAD_PLANE ? i : f->kind[j] & TB_BROAD_PLANE ? j : -1;
  int other = plane == i ? j : i;
  if (plane >= 0 && f->bounded[other] && plane_is_far(f, d, plane, other, margin[i] + margin[j])) {
    return false;
  }
  return tb_detector_may_touch(f, i < j ? i : j, i < j ? j : i);
}

typedef struct {
  tbPair* pair;
  int count, capacity;
} PairList;

// Replaced lists stay in the arena until the query ends.
static bool add_pair(PairList* list, tbArena* arena, int i, int j) {
  if (list->count == list->capacity) {
    int capacity = 2 * list->capacity + 64;
    tbPair* grown = tb_arena_alloc(arena, sizeof(tbPair) * (size_t)capacity);
    if (!grown) return false;
    if (list->count) memcpy(grown, list->pair, sizeof(tbPair) * (size_t)list->count);
    list->pair = grown;
    list->capacity = capacity;
  }
  list->pair[list->count++] = i < j ? (tbPair){i, j} : (tbPair){j, i};
  return true;
}

// Pairs of items whose boxes, grown by the margin of each, overlap. False: out of memory.
static bool sweep(const tbDetector* f, const tbModel* m, const tbData* d, const tbReal* margin,
                  tbArena* arena, PairList* list) {
  int n = f->count;
  tbAabb* box = tb_arena_alloc(arena, sizeof(tbAabb) * (size_t)(n + 1));
  Start* start = tb_arena_alloc(arena, sizeof(Start) * (size_t)(n + 1));
  if (!box || !start) return false;
  for (int i = 0; i < n; i++) place_box(f, m, d, i, margin[i], &box[i]);
  int axis = widest_axis(box, n);
  for (int i = 0; i < n; i++) start[i] = (Start){box[i].low[axis], i};
  qsort(start, (size_t)n, sizeof(Start), compare_starts);
  for (int p = 0; p < n; p++) {
    int i = start[p].item;
    for (int q = p + 1; q < n && start[q].low <= box[i].high[axis]; q++) {
      int j = start[q].item;
      if (is_candidate(f, d, box, i, j, margin) && !add_pair(list, arena, i, j)) return false;
    }
  }
  if (list->count) qsort(list->pair, (size_t)list->count, sizeof(tbPair), compare_pairs);
  return true;
}

int tb_query_pairs(const tbDetector* f, const tbModel* m, const tbData* d, tbReal margin,
                   tbArena* arena, const tbPair** pairs) {
  PairList list = {0};
  tbReal* each = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(f->count + 1));
  if (!each) return -1;
  for (int i = 0; i < f->count; i++) each[i] = 0.5 * margin;
  if (!sweep(f, m, d, each, arena, &list)) return -1;
  int count = 0;
  for (int k = 0; k < list.count; k++) {
    int g1 = f->geom[list.pair[k].first], g2 = f->geom[list.pair[k].second];
    // MuJoCo's order, in which a step asks the user's filter.
    bool swap = m->geom_type[g1] > m->geom_type[g2];
    if (tb_contact_is_filtered(m, d, swap ? g2 : g1, swap ? g1 : g2)) continue;
    list.pair[count++] = (tbPair){g1, g2};
  }
  *pairs = list.pair;
  return count;
}

// ---- contacts ----------------------------------------------------------------------------------

static bool reserve(tbData* d, int* capacity, int extra) {
  if (d->ncon + extra <= *capacity) return true;
  int wanted = 2 * (d->ncon + extra);
  tbContact* grown = tb_arena_alloc(&d->work->query, sizeof(tbContact) * (size_t)wanted);
  if (!grown) return false;
  if (d->ncon) memcpy(grown, d->contact, sizeof(tbContact) * (size_t)d->ncon);
  d->contact = grown;
  *capacity = wanted;
  return true;
}

static tbResult add_contacts(const tbDetector* f, const tbModel* m, tbData* d, tbPair items,
                             tbReal reach, int* capacity) {
  // MuJoCo's order: lower type first, then lower id.
  int g1 = f->geom[items.first], g2 = f->geom[items.second];
  if (m->geom_type[g1] > m->geom_type[g2]) {
    int swap = g1;
    g1 = g2;
    g2 = swap;
  }
  if (tb_contact_is_filtered(m, d, g1, g2)) return TB_OK;
  tbShape a, b;
  tbContactPoint point[TB_MAX_PAIR_CONTACTS];
  tbContact parameters;
  const tbContactRange range = tb_contact_range(f, m, g1, g2, reach);
  if (!tb_detector_shape(f, m, d, g1, &a) || !tb_detector_shape(f, m, d, g2, &b)) return TB_OK;
  int n = tb_collide(&a, &b, tb_max(range.near + range.inset, 0), point, NULL);
  if (n == 0) return TB_OK;
  if (!reserve(d, capacity, n)) return TB_ERROR_MEMORY;
  tbResult result = tb_contact_values(m, d, g1, g2, range.pair, &parameters);
  for (int k = 0; k < n && result == TB_OK; k++) {
    if (point[k].dist - range.inset > range.near) continue;
    tbContact* c = &d->contact[d->ncon++];
    *c = parameters;
    result = tb_contact_place(m, d, &point[k], reach, c);
  }
  return result;
}

tbResult tb_query_contacts(const tbDetector* f, const tbModel* m, tbData* d, tbReal reach) {
  tbArena* arena = &d->work->query;
  tbReal extra = m->opt.enableflags & TB_ENABLE_OVERRIDE ? tb_max(m->opt.o_margin, 0) : 0;
  tb_arena_reset(arena);
  d->ncon = 0;
  d->contact = NULL;
  d->work->queried = 1;
  if (m->opt.disableflags & (TB_DISABLE_CONTACT | TB_DISABLE_CONSTRAINT)) return TB_OK;
  PairList list = {0};
  tbReal* margin = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(f->count + 1));
  if (!margin) return TB_ERROR_MEMORY;
  for (int i = 0; i < f->count; i++) margin[i] = tb_max(f->margin[i] + extra, 0.5 * reach);
  if (!sweep(f, m, d, margin, arena, &list)) return TB_ERROR_MEMORY;
  int capacity = 0;
  tbResult result = TB_OK;
  for (int k = 0; k < list.count && result == TB_OK; k++) {
    result = add_contacts(f, m, d, list.pair[k], reach, &capacity);
  }
  return result;
}
