// The collision driver: which geoms may touch, and where they do.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel.h"
#include "collide/bounds.h"
#include "collide/broadphase.h"
#include "collide/hull.h"
#include "contact/assemble.h"
#include "model/workspace.h"
#include "spatial/vec3.h"
#include "tribo/collide.h"

// An explicit pair by its geoms, first < second.
typedef struct {
  int first, second, id;
} Explicit;

// What is remembered of two items: by the pair itself, and how far they may come together until
// they can touch (0: nobody knows). Contacts depend on neither.
typedef struct {
  tbPair pair;
  tbCollideCache cache;
  tbReal until;
} Memory;

// How far a body has come since the finder was made, and how fast it is.
typedef struct {
  tbReal pos[3], quat[4];  // of the last search
  tbReal way, turn;        // sum of what its frame moved, and of twice what its quaternion changed
  tbReal speed[2];         // of its centre of mass, and of turning; 0 without a reach
} Travel;

// Items of one body, which follow each other.
typedef struct {
  int body, first, end;
} Group;

struct tbContactFinder {
  const tbModel* model;
  int count;          // geoms that can touch anything
  int* geom;          // them, ascending: item i of the broad phase is geom[i]
  tbShape* shape;     // per item; the pose is set where a pair needs it
  uint64_t* placed;   // per item: the search that its pose is of
  uint64_t search;    // counts searches
  tbHull* hull;       // per mesh
  char* hull_search;  // what makes searches on them fast
  size_t nsearch;     // bytes of it
  tbHField* hfield;   // per height field
  tbReal* plane;      // per item: normal and offset
  tbReal* margin;     // per item: the largest of its geom and pairs
  tbBounds* bounds;   // per item
  bool* bounded;      // per item: it has bounds
  tbReal* arm;        // per item: no point is farther from its body's centre of mass
  tbReal* reach;      // per item: how far from it a contact may be, as far as it is concerned
  tbReal* swing;   // per item: a turn of its body by x moves its box by no more than this times x
  Travel* travel;  // per body
  Group* group;    // bodies with items
  int ngroup;
  tbReal* base;              // per item: its reach without what is due to speed,
  tbReal* ahead;             // what is, and
  tbReal* changed;           // how much that has changed in sum
  tbReal* settled;           // per item: its path when its box was last placed
  tbReal* path;              // per item: no side of its box has come farther (broadphase.h)
  const tbData* data;        // of the current search
  tbReal near, step, extra;  // of the last search: reach, time step, the option's margin
  uint8_t* kind;
  Explicit* pair;             // sorted
  uint64_t* exclude;          // excluded bodies, lower in the high half, sorted
  Memory *memory, *previous;  // of this and of the last step, sorted
  int nmemory, capacity;
  int last_count;  // contacts of the last step: first capacity of the next
  int started;
  const uint8_t* resting;  // per tree: 1 if it rests, or NULL
  size_t allocations;
  tbBroadphase broad;
};

// ---- which geoms may touch ---------------------------------------------------------------------

static int compare_u64(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static int compare_explicit(const void* a, const void* b) {
  const Explicit *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->second > y->second) - (x->second < y->second);
}

static uint64_t body_key(int a, int b) {
  uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
  return low << 32 | high;
}

// The explicit pair of two geoms, or -1.
static int explicit_pair(const tbContactFinder* f, int g1, int g2) {
  if (f->model->npair == 0) return -1;
  Explicit key = {g1 < g2 ? g1 : g2, g1 < g2 ? g2 : g1, 0};
  const Explicit* found =
      bsearch(&key, f->pair, (size_t)f->model->npair, sizeof key, compare_explicit);
  return found ? found->id : -1;
}

// MuJoCo's rules: bits must match; bodies welded together never collide, nor does a moving body
// with its moving parent; excluded bodies never do. Explicit pairs override all of them.
static bool may_collide(const void* context, int i, int j) {
  const tbContactFinder* f = context;
  const tbModel* m = f->model;
  int g1 = f->geom[i], g2 = f->geom[j];
  if (!tb_collide_supported(m->geom_type[g1], m->geom_type[g2])) return false;
  if (explicit_pair(f, g1, g2) >= 0) return true;
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

static void place_item(void* owner, int item);

static void view_hulls(tbContactFinder* f, const tbModel* m) {
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
        .guess = m->mesh_hullguess + (size_t)TB_NGUESS * (size_t)i,
        .side = m->mesh_hullside[i],
        .radius = m->mesh_hullradius[i],
    };
    if (f->hull[i].side > 0) f->hull[i].cells = m->hull_cell + m->mesh_hullcelladr[i];
    tb_copy3(f->hull[i].center, m->mesh_hullcenter + 3 * i);
    f->hull[i].inner = tb_hull_inner(&f->hull[i]);
    tb_hull_box(&f->hull[i], f->hull[i].low, f->hull[i].high);
  }
}

// Memory for the searches of small hulls (large ones have cells), each on its own cache lines.
static int prepare_hulls(tbContactFinder* f, const tbModel* m) {
  const size_t line = 64;
  f->nsearch = 1;
  for (int i = 0; i < m->nmesh; i++) {
    if (f->hull[i].cells) continue;
    f->nsearch += (tb_hull_search_bytes(&f->hull[i]) + line - 1) / line * line;
  }
  f->hull_search = malloc(f->nsearch);
  if (!f->hull_search) return 0;
  char* at = f->hull_search;
  for (int i = 0; i < m->nmesh; i++) {
    if (f->hull[i].cells) continue;
    tb_hull_search_fill(&f->hull[i], at);
    at += (tb_hull_search_bytes(&f->hull[i]) + line - 1) / line * line;
  }
  return 1;
}

static void view_hfields(tbContactFinder* f, const tbModel* m) {
  for (int i = 0; i < m->nhfield; i++) {
    f->hfield[i] = (tbHField){.nrow = m->hfield_nrow[i],
                              .ncol = m->hfield_ncol[i],
                              .data = m->hfield_data + m->hfield_adr[i]};
    memcpy(f->hfield[i].size, m->hfield_size + 4 * i, sizeof f->hfield[i].size);
  }
}

// Geoms that some filter rule lets touch something.
static void list_geoms(tbContactFinder* f, const tbModel* m) {
  for (int g = 0; g < m->ngeom; g++) {
    int wanted = m->geom_contype[g] || m->geom_conaffinity[g];
    for (int p = 0; p < m->npair && !wanted; p++) {
      wanted = m->pair_geom1[p] == g || m->pair_geom2[p] == g;
    }
    if (m->geom_type[g] == TB_GEOM_MESH && m->mesh_hullvertadr[m->geom_dataid[g]] < 0) wanted = 0;
    if (!wanted) continue;
    int i = f->count++, body = m->geom_bodyid[g];
    f->geom[i] = g;
    if (f->ngroup == 0 || f->group[f->ngroup - 1].body != body) {
      f->group[f->ngroup++] = (Group){body, i, i};
    }
    f->group[f->ngroup - 1].end = i + 1;
    f->margin[i] = fmax(m->geom_margin[g], 0) + m->geom_gap[g];
    for (int p = 0; p < m->npair; p++) {
      if (m->pair_geom1[p] == g || m->pair_geom2[p] == g) {
        f->margin[i] = fmax(f->margin[i], fmax(m->pair_margin[p], 0) + m->pair_gap[p]);
      }
    }
    // Bodies without dofs are static, but mocap bodies move: they only never meet the world.
    int fixed = m->body_lastdof[body] < 0;
    f->kind[i] = (uint8_t)((fixed ? TB_BROAD_STATIC : 0) |
                           (m->geom_type[g] == TB_GEOM_PLANE ? TB_BROAD_PLANE : 0));
    tbShape* shape = &f->shape[i];
    shape->type = m->geom_type[g];
    tb_copy3(shape->size, m->geom_size + 3 * g);
    if (shape->type == TB_GEOM_MESH) shape->hull = &f->hull[m->geom_dataid[g]];
    if (shape->type == TB_GEOM_HFIELD) shape->hfield = &f->hfield[m->geom_dataid[g]];
    f->bounded[i] = tb_shape_bounds(shape, &f->bounds[i]);
    tbReal arm[3];
    const tbBounds* b = &f->bounds[i];
    tb_sub3(arm, m->geom_pos + 3 * g, m->body_ipos + 3 * body);
    f->arm[i] = tb_norm3(arm) + m->geom_rbound[g];
    f->swing[i] = tb_norm3(m->geom_pos + 3 * g) + tb_norm3(b->center) + tb_norm3(b->half) +
                  tb_norm3(b->round);
  }
}

static void list_pairs(tbContactFinder* f, const tbModel* m) {
  for (int p = 0; p < m->npair; p++) {
    int a = m->pair_geom1[p], b = m->pair_geom2[p];
    f->pair[p] = (Explicit){a < b ? a : b, a < b ? b : a, p};
  }
  for (int e = 0; e < m->nexclude; e++) {
    f->exclude[e] = body_key(m->exclude_body1[e], m->exclude_body2[e]);
  }
  if (m->npair) qsort(f->pair, (size_t)m->npair, sizeof(Explicit), compare_explicit);
  if (m->nexclude) qsort(f->exclude, (size_t)m->nexclude, sizeof(uint64_t), compare_u64);
}

tbContactFinder* tb_contact_finder_new(const tbModel* m) {
  tbContactFinder* f = calloc(1, sizeof *f);
  if (!f) return NULL;
  size_t n = (size_t)m->ngeom + 1;
  f->model = m;
  f->geom = calloc(n, sizeof(int));
  f->shape = calloc(n, sizeof(tbShape));
  f->hull = calloc((size_t)m->nmesh + 1, sizeof(tbHull));
  f->hfield = calloc((size_t)m->nhfield + 1, sizeof(tbHField));
  f->plane = calloc(4 * n, sizeof(tbReal));
  f->margin = calloc(n, sizeof(tbReal));
  f->placed = calloc(n, sizeof(uint64_t));
  f->bounds = calloc(n, sizeof(tbBounds));
  f->bounded = calloc(n, sizeof(bool));
  f->arm = calloc(n, sizeof(tbReal));
  f->reach = calloc(n, sizeof(tbReal));
  f->swing = calloc(n, sizeof(tbReal));
  f->group = calloc(n, sizeof(Group));
  f->base = calloc(n, sizeof(tbReal));
  f->ahead = calloc(n, sizeof(tbReal));
  f->changed = calloc(n, sizeof(tbReal));
  f->settled = calloc(n, sizeof(tbReal));
  f->path = calloc(n, sizeof(tbReal));
  f->travel = calloc((size_t)m->nbody + 1, sizeof(Travel));
  f->kind = calloc(n, 1);
  f->pair = calloc((size_t)m->npair + 1, sizeof(Explicit));
  f->exclude = calloc((size_t)m->nexclude + 1, sizeof(uint64_t));
  int ok = f->geom && f->shape && f->hull && f->hfield && f->plane && f->margin && f->placed &&
           f->bounds && f->bounded && f->arm && f->reach && f->swing && f->group && f->base &&
           f->ahead && f->changed && f->settled && f->path && f->travel && f->kind && f->pair &&
           f->exclude;
  if (ok) {
    view_hulls(f, m);
    view_hfields(f, m);
    list_pairs(f, m);
    list_geoms(f, m);
    ok = prepare_hulls(f, m) &&
         tb_broadphase_init(&f->broad, f->count, f->kind, may_collide, f) == TB_OK;
    f->broad.place = place_item;
    f->broad.owner = f;
    f->broad.path = f->path;
  }
  if (ok) return f;
  tb_contact_finder_free(f);
  return NULL;
}

void tb_contact_finder_free(tbContactFinder* f) {
  if (!f) return;
  tb_broadphase_free(&f->broad);
  void* const owned[] = {f->geom,     f->shape,       f->hull,    f->hfield,  f->plane,
                         f->margin,   f->placed,      f->bounds,  f->bounded, f->arm,
                         f->reach,    f->kind,        f->pair,    f->exclude, f->memory,
                         f->previous, f->hull_search, f->swing,   f->group,   f->base,
                         f->ahead,    f->changed,     f->settled, f->travel,  f->path};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
  free(f);
}

bool tb_contact_finder_shape(const tbContactFinder* f, const tbModel* m, const tbData* d, int geom,
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

void tb_contact_finder_rest(tbContactFinder* f, const uint8_t* resting) {
  f->resting = resting;
}

size_t tb_contact_finder_allocations(const tbContactFinder* f) {
  return f->allocations + (size_t)f->broad.nallocation;
}

size_t tb_contact_finder_bytes(const tbContactFinder* f) {
  const tbModel* m = f->model;
  size_t item = sizeof(int) + sizeof(uint64_t) + sizeof(tbShape) + sizeof(tbBounds) + sizeof(bool) +
                13 * sizeof(tbReal) + sizeof(Group) + 1;
  return sizeof *f + f->nsearch + item * ((size_t)m->ngeom + 1) +
         sizeof(Travel) * ((size_t)m->nbody + 1) + sizeof(tbHull) * ((size_t)m->nmesh + 1) +
         sizeof(tbHField) * ((size_t)m->nhfield + 1) + sizeof(Explicit) * ((size_t)m->npair + 1) +
         sizeof(uint64_t) * ((size_t)m->nexclude + 1) + 2 * sizeof(Memory) * (size_t)f->capacity +
         f->broad.bytes;
}

// ---- snapshots ---------------------------------------------------------------------------------

// Room for `n` pairs in both lists; the current one keeps its entries.
static int reserve_memory(tbContactFinder* f, int n) {
  if (n <= f->capacity) return 1;
  int capacity = 2 * n + 16;
  Memory* a = calloc((size_t)capacity, sizeof(Memory));
  Memory* b = calloc((size_t)capacity, sizeof(Memory));
  if (!a || !b) {
    free(a);
    free(b);
    return 0;
  }
  f->allocations += 2;
  if (f->nmemory) memcpy(a, f->memory, sizeof(Memory) * (size_t)f->nmemory);
  free(f->memory);
  free(f->previous);
  f->memory = a;
  f->previous = b;
  f->capacity = capacity;
  return 1;
}

// Pairs without a memory are as good as absent.
size_t tb_contact_finder_memory_size(const tbContactFinder* f) {
  size_t count = 0;
  for (int i = 0; i < f->nmemory; i++) count += f->memory[i].cache.state != 0;
  return sizeof(Memory) * count;
}

void tb_contact_finder_memory_save(const tbContactFinder* f, void* bytes) {
  char* at = bytes;
  for (int i = 0; i < f->nmemory; i++) {
    if (f->memory[i].cache.state == 0) continue;
    Memory entry = f->memory[i];
    entry.until = 0;
    memcpy(at, &entry, sizeof entry);
    at += sizeof entry;
  }
}

tbResult tb_contact_finder_memory_load(tbContactFinder* f, const void* bytes, size_t size) {
  if (size % sizeof(Memory) || size / sizeof(Memory) > INT_MAX / 4) return TB_ERROR_ARGUMENT;
  int n = (int)(size / sizeof(Memory));
  // Sorted pairs of items that exist.
  Memory entry, last = {.pair = {-1, -1}};
  for (int i = 0; i < n; i++, last = entry) {
    memcpy(&entry, (const char*)bytes + sizeof(Memory) * (size_t)i, sizeof entry);
    tbPair p = entry.pair, q = last.pair;
    bool ascends = p.first > q.first || (p.first == q.first && p.second > q.second);
    if (!ascends || p.first < 0 || p.second <= p.first || p.second >= f->count) {
      return TB_ERROR_ARGUMENT;
    }
  }
  if (!reserve_memory(f, n)) return TB_ERROR_MEMORY;
  if (n) memcpy(f->memory, bytes, size);
  // Ways of another world.
  for (int i = 0; i < n; i++) f->memory[i].until = 0;
  f->nmemory = n;
  return TB_OK;
}

const tbShape* tb_contact_shape(const tbContactFinder* f, int geom) {
  int low = 0, high = f->count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (f->geom[middle] < geom) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < f->count && f->geom[low] == geom ? &f->shape[low] : NULL;
}

// ---- where they touch --------------------------------------------------------------------------

// Velocity of the point of geom g's body that is at `pos`.
static void point_velocity(const tbModel* m, const tbData* d, int g, const tbReal pos[3],
                           tbReal out[3]) {
  int body = m->geom_bodyid[g];
  const tbReal* v = d->cvel + 6 * body;
  tbReal arm[3], swing[3];
  tb_sub3(arm, pos, d->subtree_com + 3 * m->body_rootid[body]);
  tb_cross(swing, v, arm);
  tb_add3(out, v + 3, swing);
}

// How fast a body moves: speed of its centre of mass, and of turning.
static void body_speed(const tbModel* m, const tbData* d, int body, tbReal speed[2]) {
  const tbReal* v = d->cvel + 6 * body;
  tbReal arm[3], swing[3];
  tb_sub3(arm, d->xipos + 3 * body, d->subtree_com + 3 * m->body_rootid[body]);
  tb_cross(swing, v, arm);
  tb_add3(swing, swing, v + 3);
  speed[0] = tb_norm3(swing);
  speed[1] = tb_norm3(v);
}

// Boxes of planes and height fields.
static void place_ground(tbContactFinder* f, int i, const tbReal* pos, const tbReal* mat,
                         tbReal margin) {
  tbShape shape = f->shape[i];
  tb_copy3(shape.pos, pos);
  memcpy(shape.mat, mat, sizeof shape.mat);
  if (shape.type == TB_GEOM_PLANE) {
    tbReal* plane = f->plane + 4 * i;
    tb_set3(plane, mat[2], mat[5], mat[8]);
    plane[3] = tb_dot3(plane, pos) + margin;
    return;
  }
  tbReal low[3], high[3];
  tb_shape_aabb(&shape, low, high);
  for (int k = 0; k < 3; k++) {
    low[k] -= margin;
    high[k] += margin;
  }
  tb_aabb_round(&f->broad.box[i], low, high);
}

// The box of one item.
static void place_item(void* owner, int i) {
  tbContactFinder* f = owner;
  const tbReal* pos = f->data->geom_xpos + 3 * f->geom[i];
  const tbReal* mat = f->data->geom_xmat + 9 * f->geom[i];
  if (f->bounded[i]) {
    tb_bounds_place(&f->bounds[i], pos, mat, f->reach[i], &f->broad.box[i]);
  } else {
    place_ground(f, i, pos, mat, f->reach[i]);
  }
}

// How far a body's frame has moved since the last search: rotations by unit quaternions q and p
// differ by no more than 2 |q - p| in the spectral norm. False where that is not known.
static bool travel_on(tbContactFinder* f, const tbModel* m, const tbData* d, int body) {
  Travel* t = &f->travel[body];
  const tbReal *pos = d->xpos + 3 * body, *quat = d->xquat + 4 * body;
  tbReal moved[3], turned = 0;
  tb_sub3(moved, pos, t->pos);
  for (int k = 0; k < 4; k++) {
    turned += (quat[k] - t->quat[k]) * (quat[k] - t->quat[k]);
    t->quat[k] = quat[k];
  }
  tb_copy3(t->pos, pos);
  t->way += tb_norm3(moved);
  t->turn += 2 * sqrt(turned);
  if (f->near > TB_TOUCHING && m->body_lastdof[body] >= 0) body_speed(m, d, body, t->speed);
  if (t->way + t->turn < 1e9) return true;
  t->way = t->turn = 0;
  return false;
}

// The reach of the items of a body, and how far the sides of their boxes have come.
static void move_items(tbContactFinder* f, const Group* group) {
  const Travel* t = &f->travel[group->body];
  const tbReal step = f->step, speed = t->speed[0], spin = t->speed[1], way = t->way;
  const tbReal turn = t->turn, *TB_RESTRICT arm = f->arm, *TB_RESTRICT swing = f->swing;
  const tbReal* TB_RESTRICT base = f->base;
  tbReal *TB_RESTRICT ahead = f->ahead, *TB_RESTRICT changed = f->changed;
  tbReal *TB_RESTRICT reach = f->reach, *TB_RESTRICT path = f->path;
  for (int i = group->first; i < group->end; i++) {
    tbReal now = step * (speed + spin * arm[i]);
    reach[i] = base[i] + now;
    changed[i] += fabs(now - ahead[i]);
    ahead[i] = now;
    path[i] = way + turn * swing[i] + changed[i];
  }
}

// Place the boxes of those items of a body that may have left their fat ones; all where it is not
// `known` how far it has come.
static void place_group(tbContactFinder* f, const Group* group, bool known) {
  for (int i = group->first; i < group->end; i++) {
    bool sure = known && f->bounded[i];
    f->broad.still[i] = sure && f->path[i] - f->settled[i] <= f->broad.slack[i];
    if (f->broad.still[i]) continue;
    f->settled[i] = f->path[i];
    if (!sure) f->path[i] = INFINITY;
    place_item(f, i);
  }
}

// What is the same for all searches with these options. Each side carries its own margin, or half
// of the common reach.
static void start_travel(tbContactFinder* f, const tbModel* m) {
  memset(f->travel, 0, sizeof(Travel) * (size_t)m->nbody);
  for (int i = 0; i < f->count; i++) {
    f->base[i] = fmax(f->margin[i] + f->extra, 0.5 * f->near);
  }
}

// Boxes of all items that may have left their fat ones.
static void place_boxes(tbContactFinder* f, const tbModel* m, const tbData* d, tbReal reach) {
  tbReal extra = m->opt.enableflags & TB_ENABLE_OVERRIDE ? fmax(m->opt.o_margin, 0) : 0;
  bool same = f->started && reach == f->near && m->opt.timestep == f->step && extra == f->extra;
  f->data = d;
  f->near = reach;
  f->step = m->opt.timestep;
  f->extra = extra;
  if (!same) start_travel(f, m);
  for (int g = 0; g < f->ngroup; g++) {
    const Group* group = &f->group[g];
    if (same && m->body_lastdof[group->body] < 0 && m->nmocap == 0) {
      for (int i = group->first; i < group->end; i++) {
        f->broad.still[i] = 1;
        f->path[i] = f->settled[i];
      }
      continue;
    }
    bool known = travel_on(f, m, d, group->body) && same;
    move_items(f, group);
    place_group(f, group, known);
  }
  f->started = 1;
}

// The shape of an item in its present pose.
static const tbShape* place_shape(tbContactFinder* f, const tbData* d, int i) {
  tbShape* shape = &f->shape[i];
  if (f->placed[i] == f->search) return shape;
  f->placed[i] = f->search;
  tb_copy3(shape->pos, d->geom_xpos + 3 * f->geom[i]);
  memcpy(shape->mat, d->geom_xmat + 9 * f->geom[i], sizeof shape->mat);
  return shape;
}

// Room for `extra` more contacts. Arrays given up on the way stay in the arena until the next step.
static int reserve(tbContactFinder* f, tbData* d, int* capacity, int extra) {
  if (d->ncon + extra <= *capacity) return 1;
  int wanted = 2 * (d->ncon + extra);
  if (wanted < f->last_count + TB_MAX_PAIR_CONTACTS) wanted = f->last_count + TB_MAX_PAIR_CONTACTS;
  tbContact* grown = tb_arena_alloc(&d->work->arena, sizeof(tbContact) * (size_t)wanted);
  if (!grown) return 0;
  if (d->ncon) memcpy(grown, d->contact, sizeof(tbContact) * (size_t)d->ncon);
  d->contact = grown;
  *capacity = wanted;
  return 1;
}

// The caches of this step's pairs: what the last step knew of each, both lists being sorted.
static int recall(tbContactFinder* f) {
  int nold = f->nmemory, n = f->broad.npair;
  if (!reserve_memory(f, n)) return 0;
  Memory *old = f->memory, *now = f->previous;
  for (int i = 0, j = 0; i < n; i++) {
    tbPair p = f->broad.pairs[i];
    while (j < nold && (old[j].pair.first < p.first ||
                        (old[j].pair.first == p.first && old[j].pair.second < p.second))) {
      j++;
    }
    if (j < nold && old[j].pair.first == p.first && old[j].pair.second == p.second) {
      now[i] = old[j];
    } else {
      memset(&now[i], 0, sizeof now[i]);
      now[i].pair = p;
    }
  }
  f->memory = now;
  f->previous = old;
  f->nmemory = n;
  return 1;
}

// How far apart two geoms may be and still meet within a step: their centres approach each other,
// and both turn.
static tbReal way_of(const tbContactFinder* f, const tbModel* m, const tbData* d, int g1, int g2) {
  tbReal v[2][3] = {{0}}, turn = 0;
  for (int k = 0; k < 2; k++) {
    int g = k ? g2 : g1, body = m->geom_bodyid[g];
    if (m->body_lastdof[body] < 0) continue;
    point_velocity(m, d, g, d->geom_xpos + 3 * g, v[k]);
    turn += f->travel[body].speed[1] * m->geom_rbound[g];
  }
  tb_sub3(v[1], v[1], v[0]);
  return m->opt.timestep * (tb_norm3(v[1]) + turn);
}

// Whether a gap beyond the reach would close within a step at the current velocities.
static bool closes(const tbModel* m, const tbData* d, int g1, int g2, const tbContactPoint* point,
                   tbReal reach) {
  tbReal v1[3], v2[3];
  point_velocity(m, d, g1, point->pos, v1);
  point_velocity(m, d, g2, point->pos, v2);
  tb_sub3(v2, v2, v1);
  return point->dist + m->opt.timestep * tb_dot3(point->frame, v2) <= reach;
}

// Whether neither item moves, and one of them because it rests.
static bool both_rest(const tbContactFinder* f, const tbModel* m, int i, int j) {
  if (!f->resting) return false;
  int tree1 = m->body_treeid[m->geom_bodyid[f->geom[i]]];
  int tree2 = m->body_treeid[m->geom_bodyid[f->geom[j]]];
  bool rests1 = tree1 < 0 || f->resting[tree1], rests2 = tree2 < 0 || f->resting[tree2];
  return rests1 && rests2;
}

// How far two items that are apart by `gap` may come together, or their reach grow, until they can
// touch: less what rounding can hide. Not positive where that is not known.
static tbReal way_until(const tbContactFinder* f, const tbData* d, int i, int j, tbReal gap) {
  const tbReal *x = d->geom_xpos + 3 * f->geom[i], *y = d->geom_xpos + 3 * f->geom[j];
  tbReal reach = f->reach[i] + f->reach[j], place = 0;
  for (int k = 0; k < 3; k++) place += fabs(x[k]) + fabs(y[k]);
  return 0.999 * (gap - reach) - 1e-6 * (gap + reach) - 1e-12 * place;
}

// The gap of two items along the direction that last parted them, seen by their bounds alone; not
// positive where that proves nothing.
static tbReal bounds_gap(const tbContactFinder* f, const tbData* d, const Memory* memory) {
  int i = memory->pair.first, j = memory->pair.second;
  if (!memory->cache.state || !f->bounded[i] || !f->bounded[j]) return 0;
  // It points from the lower type, as pairs are ordered where they are collided.
  if (f->shape[i].type > f->shape[j].type) {
    i = memory->pair.second;
    j = memory->pair.first;
  }
  const tbReal *n = memory->cache.direction, *x = d->geom_xpos + 3 * f->geom[i];
  const tbReal* y = d->geom_xpos + 3 * f->geom[j];
  tbReal back[3] = {-n[0], -n[1], -n[2]}, between[3], length2 = tb_dot3(n, n);
  // A unit vector, but for rounding.
  if (!(fabs(length2 - 1) < 1e-12)) return 0;
  tb_sub3(between, y, x);
  tbReal gap = tb_dot3(n, between);
  gap -= tb_bounds_along(&f->bounds[i], d->geom_xmat + 9 * f->geom[i], n);
  if (!(gap > 0)) return 0;
  return gap - tb_bounds_along(&f->bounds[j], d->geom_xmat + 9 * f->geom[j], back);
}

// Whether two items, which together have come as far as `path`, are known to be apart by `gap`, and
// until when.
static bool are_apart(const tbContactFinder* f, const tbData* d, Memory* memory, tbReal gap,
                      tbReal path) {
  if (!(gap > 0)) return false;
  tbReal way = way_until(f, d, memory->pair.first, memory->pair.second, gap);
  memory->until = way > 0 && path < INFINITY ? path + way : 0;
  return way > 0;
}

// A contact is seen within margin + gap and pushes within the margin; those of two geoms add up. An
// override replaces the margin only.
static tbReal seen_within(const tbModel* m, int g1, int g2, int pair) {
  tbReal margin = pair >= 0 ? m->pair_margin[pair] : m->geom_margin[g1] + m->geom_margin[g2];
  tbReal gap = pair >= 0 ? m->pair_gap[pair] : m->geom_gap[g1] + m->geom_gap[g2];
  if (m->opt.enableflags & TB_ENABLE_OVERRIDE) margin = m->opt.o_margin;
  return margin + gap;
}

// All contacts of one pair of items.
static tbResult collide_pair(tbContactFinder* f, const tbModel* m, tbData* d, Memory* memory,
                             tbReal reach, int* capacity) {
  // MuJoCo's order: lower type first, then lower id.
  int i = memory->pair.first, j = memory->pair.second;
  tbReal path = f->path[i] + f->path[j];
  if (path < memory->until) return TB_OK;
  memory->until = 0;
  if (both_rest(f, m, i, j)) return TB_OK;
  if (are_apart(f, d, memory, bounds_gap(f, d, memory), path)) return TB_OK;
  if (m->geom_type[f->geom[i]] > m->geom_type[f->geom[j]]) {
    int swap = i;
    i = j;
    j = swap;
  }
  int g1 = f->geom[i], g2 = f->geom[j], pair = explicit_pair(f, g1, g2);
  tbContactPoint point[TB_MAX_PAIR_CONTACTS];
  tbReal near = fmax(seen_within(m, g1, g2, pair), reach), far = near;
  bool ahead = reach > TB_TOUCHING;
  if (ahead) far += way_of(f, m, d, g1, g2);
  memory->cache.gap = 0;
  int n = tb_collide(place_shape(f, d, i), place_shape(f, d, j), far, point, &memory->cache);
  if (n == 0) {
    are_apart(f, d, memory, memory->cache.gap, path);
    return TB_OK;
  }
  if (!reserve(f, d, capacity, n)) return TB_ERROR_MEMORY;
  tbContact parameters;
  tb_contact_parameters(m, g1, g2, pair, &parameters);
  // RaiSim's per-contact problem is that of a point: no torsion, no rolling.
  if (m->opt.law == TB_LAW_RAISIM && parameters.dim > 3) parameters.dim = 3;
  for (int k = 0; k < n; k++) {
    if (point[k].dist > near && !(ahead && closes(m, d, g1, g2, &point[k], near))) continue;
    tbContact* c = &d->contact[d->ncon++];
    *c = parameters;
    c->dist = point[k].dist;
    tb_copy3(c->pos, point[k].pos);
    memcpy(c->frame, point[k].frame, sizeof c->frame);
    c->key = ((uint64_t)g1 * (uint64_t)m->ngeom + (uint64_t)g2) << 32 | point[k].feature;
    // In the gap a soft contact is seen but does not push; a rigid one has no gap.
    c->exclude = reach <= 0 && c->dist >= c->includemargin;
  }
  return TB_OK;
}

tbResult tb_find_contacts(tbContactFinder* f, const tbModel* m, tbData* d, tbReal reach) {
  d->ncon = 0;
  d->contact = NULL;
  if (m->opt.disableflags & (TB_DISABLE_CONTACT | TB_DISABLE_CONSTRAINT)) return TB_OK;
  f->search++;
  place_boxes(f, m, d, reach);
  tbResult result = tb_broadphase_update(&f->broad, f->plane);
  if (result != TB_OK) return result;
  if (!recall(f)) return TB_ERROR_MEMORY;
  int capacity = 0;
  for (int i = 0; i < f->nmemory; i++) {
    result = collide_pair(f, m, d, &f->memory[i], reach, &capacity);
    if (result != TB_OK) return result;
  }
  f->last_count = d->ncon;
  return TB_OK;
}
