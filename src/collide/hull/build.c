// Conversion of qhull's triangles to a hull: vertex graph, merged polygons with planes, search
// seeds.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "collide/hull/hull.h"
#include "collide/hull/qhull.h"

// Triangles belong to one face if all their corners lie within this fraction of the hull's size of
// its plane. Meshes stored as float are planar to about 1e-7 of their size.
#define COPLANAR_TOLERANCE 1e-6
// ... and if their normals agree to this cosine; slivers have qhull's normal of their facet.
#define COPLANAR_COSINE 0.999

// Inputs with more points than MANY_POINTS may have faces with more than MANY_CORNERS corners, for
// which qhull takes too long without joggled input. The volume of a joggled hull must exceed what
// joggling itself creates, relative to its size.
#define MANY_POINTS 5000
#define MANY_CORNERS 1000
#define JOGGLED_VOLUME 1e-8
// A face is planar to rounding if its corners deviate by at most this, relative to the hull's
// radius.
#define WHIM_TOLERANCE 1e-14

// A directed edge of a triangle: the triangle lies to its left.
typedef struct {
  int from, to, tri;
} Edge;

// Working memory of one build. All arrays are in `temp` except those that become part of the hull.
typedef struct {
  tbArena* temp;
  tbHullTriangles tri;
  Edge* edge;       // 3 tri.count, sorted by (from, to)
  int* tri_adj;     // 3 tri.count: the triangle across edge i of a triangle
  int* group;       // tri.count: face that a triangle belongs to
  int group_count;  // faces
  bool* fanned;     // faces whose triangles are replaced by a fan from their first corner
  tbReal tolerance;
} Build;

static int compare_edges(const void* x, const void* y) {
  const Edge *a = (const Edge*)x, *b = (const Edge*)y;
  if (a->from != b->from) return a->from < b->from ? -1 : 1;
  if (a->to != b->to) return a->to < b->to ? -1 : 1;
  return (a->tri > b->tri) - (a->tri < b->tri);
}

static const Edge* find_edge(const Build* b, int from, int to) {
  int low = 0, high = 3 * b->tri.count;
  while (low < high) {
    int mid = low + (high - low) / 2;
    const Edge* e = &b->edge[mid];
    if (e->from < from || (e->from == from && e->to < to)) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  const Edge* e = &b->edge[low];
  return low < 3 * b->tri.count && e->from == from && e->to == to ? e : NULL;
}

// The hull keeps the points that triangles use, in the input's order.
static bool keep_vertices(Build* b, tbHull* hull, tbArena* arena, const tbReal* points, int npoint,
                          const int** vert_index) {
  int* rank = TB_ARENA_NEW(b->temp, int, npoint);
  if (!rank) return false;
  for (int k = 0; k < 3 * b->tri.count; k++) rank[b->tri.vert[k]] = 1;
  hull->nvert = 0;
  for (int p = 0; p < npoint; p++) hull->nvert += rank[p];
  tbReal* vert = TB_ARENA_NEW(arena, tbReal, 3 * (size_t)hull->nvert);
  int* index = TB_ARENA_NEW(arena, int, hull->nvert);
  if (!vert || !index) return false;
  for (int p = 0, v = 0; p < npoint; p++) {
    if (!rank[p]) continue;
    tb_copy3(vert + 3 * v, points + 3 * p);
    index[v] = p;
    rank[p] = v++;
  }
  for (int k = 0; k < 3 * b->tri.count; k++) b->tri.vert[k] = rank[b->tri.vert[k]];
  hull->vert = vert;
  if (vert_index) *vert_index = index;
  return true;
}

typedef struct {
  int vert[3];
  tbReal normal[3];
} Triangle;

static int compare_triangles(const void* x, const void* y) {
  const Triangle *a = (const Triangle*)x, *b = (const Triangle*)y;
  for (int i = 0; i < 3; i++) {
    if (a->vert[i] != b->vert[i]) return a->vert[i] < b->vert[i] ? -1 : 1;
  }
  return 0;
}

// Smallest vertex first, triangles in ascending order, so that the hull does not depend on the
// order of qhull's lists.
static bool order_triangles(Build* b) {
  Triangle* list = TB_ARENA_NEW(b->temp, Triangle, b->tri.count);
  if (!list) return false;
  for (int t = 0; t < b->tri.count; t++) {
    const int* v = b->tri.vert + 3 * t;
    int first = v[0] < v[1] ? (v[0] < v[2] ? 0 : 2) : (v[1] < v[2] ? 1 : 2);
    for (int i = 0; i < 3; i++) list[t].vert[i] = v[(first + i) % 3];
    tb_copy3(list[t].normal, b->tri.normal + 3 * t);
  }
  qsort(list, (size_t)b->tri.count, sizeof *list, compare_triangles);
  for (int t = 0; t < b->tri.count; t++) {
    memcpy(b->tri.vert + 3 * t, list[t].vert, sizeof list[t].vert);
    tb_copy3(b->tri.normal + 3 * t, list[t].normal);
  }
  return true;
}

// The mean of the vertices and the radius of the hull around it.
static void set_ball(tbHull* hull) {
  tb_zero3(hull->center);
  for (int v = 0; v < hull->nvert; v++) {
    tb_add_scaled3(hull->center, hull->center, 1.0 / hull->nvert, hull->vert + 3 * v);
  }
  hull->radius = 0;
  for (int v = 0; v < hull->nvert; v++) {
    tbReal arm[3];
    tb_sub3(arm, hull->vert + 3 * v, hull->center);
    hull->radius = tb_max(hull->radius, tb_norm3(arm));
  }
}

// Every edge must have exactly one partner, and the surface must have the Euler characteristic of a
// sphere.
static bool link_edges(Build* b, const tbHull* hull) {
  int n = 3 * b->tri.count;
  b->edge = TB_ARENA_NEW(b->temp, Edge, n);
  b->tri_adj = TB_ARENA_NEW(b->temp, int, n);
  if (!b->edge || !b->tri_adj) return false;
  for (int k = 0; k < n; k++) {
    int t = k / 3, next = 3 * t + (k + 1) % 3;
    b->edge[k] = (Edge){b->tri.vert[k], b->tri.vert[next], t};
  }
  qsort(b->edge, (size_t)n, sizeof *b->edge, compare_edges);
  for (int k = 1; k < n; k++) {
    const Edge *e = &b->edge[k], *before = e - 1;
    if (e->from == before->from && e->to == before->to) return false;
  }
  for (int k = 0; k < n; k++) {
    int t = k / 3, next = 3 * t + (k + 1) % 3;
    const Edge* partner = find_edge(b, b->tri.vert[next], b->tri.vert[k]);
    if (!partner) return false;
    b->tri_adj[k] = partner->tri;
  }
  return hull->nvert - n / 2 + b->tri.count == 2;
}

static tbReal signed_volume(const Build* b, const tbHull* hull) {
  tbReal volume = 0;
  for (int t = 0; t < b->tri.count; t++) {
    tbReal arm[3][3], cross[3];
    for (int i = 0; i < 3; i++) {
      tb_sub3(arm[i], hull->vert + 3 * b->tri.vert[3 * t + i], hull->center);
    }
    tb_cross(cross, arm[1], arm[2]);
    volume += tb_dot3(arm[0], cross) / 6;
  }
  return volume;
}

static tbReal triangle_normal(const Build* b, const tbHull* hull, int t, tbReal normal[3]) {
  const int* v = b->tri.vert + 3 * t;
  tbReal e1[3], e2[3];
  tb_sub3(e1, hull->vert + 3 * v[1], hull->vert + 3 * v[0]);
  tb_sub3(e2, hull->vert + 3 * v[2], hull->vert + 3 * v[0]);
  tb_cross(normal, e1, e2);
  return tb_normalize3(normal);
}

typedef struct {
  tbReal area;
  int tri;
} Seed;

static int compare_seeds(const void* x, const void* y) {
  const Seed *a = (const Seed*)x, *b = (const Seed*)y;
  if (a->area != b->area) return a->area > b->area ? -1 : 1;
  return (a->tri > b->tri) - (a->tri < b->tri);
}

static bool fits_plane(const Build* b, const tbHull* hull, int t, const tbReal plane[4]) {
  for (int i = 0; i < 3; i++) {
    tbReal height = tb_dot3(plane, hull->vert + 3 * b->tri.vert[3 * t + i]) - plane[3];
    if (fabs(height) > b->tolerance) return false;
  }
  return tb_dot3(plane, b->tri.normal + 3 * t) > COPLANAR_COSINE;
}

// Grows a face from each triangle that is still free, the largest first.
static bool merge_coplanar(Build* b, const tbHull* hull) {
  int n = b->tri.count;
  Seed* seed = TB_ARENA_NEW(b->temp, Seed, n);
  int* stack = TB_ARENA_NEW(b->temp, int, n);
  b->group = TB_ARENA_NEW(b->temp, int, n);
  if (!seed || !stack || !b->group) return false;
  for (int t = 0; t < n; t++) {
    tbReal normal[3];
    seed[t] = (Seed){triangle_normal(b, hull, t, normal), t};
    b->group[t] = -1;
  }
  qsort(seed, (size_t)n, sizeof *seed, compare_seeds);
  b->group_count = 0;
  for (int s = 0; s < n; s++) {
    int top = 0, first = seed[s].tri, face = b->group_count;
    if (b->group[first] >= 0) continue;
    b->group_count++;
    tbReal plane[4];
    triangle_normal(b, hull, first, plane);
    if (seed[s].area <= 0) tb_copy3(plane, b->tri.normal + 3 * first);
    plane[3] = tb_dot3(plane, hull->vert + 3 * b->tri.vert[3 * first]);
    b->group[first] = face;
    stack[top++] = first;
    while (top > 0) {
      int t = stack[--top];
      for (int i = 0; i < 3; i++) {
        int other = b->tri_adj[3 * t + i];
        if (b->group[other] >= 0 || !fits_plane(b, hull, other, plane)) continue;
        b->group[other] = face;
        stack[top++] = other;
      }
    }
  }
  return true;
}

// Follows the border of a face from a border edge: around the end vertex of each edge to the next
// edge of the same face whose partner is another face. Returns the number of border edges.
static int trace_border(const Build* b, int tri, int corner, int* loop, int* across, int max) {
  int count = 0, t = tri, i = corner, face = b->group[tri];
  do {
    if (count == max) return -1;
    loop[count] = b->tri.vert[3 * t + i];
    across[count] = b->group[b->tri_adj[3 * t + i]];
    count++;
    // Turn around the end of this edge until the next border edge.
    int pivot = b->tri.vert[3 * t + (i + 1) % 3];
    i = (i + 1) % 3;
    for (int turns = 0; b->group[b->tri_adj[3 * t + i]] == face; turns++) {
      if (turns > b->tri.count) return -1;
      t = b->tri_adj[3 * t + i];
      for (i = 0; b->tri.vert[3 * t + i] != pivot; i++) {
      }
    }
  } while (t != tri || i != corner);
  return count;
}

// Splits faces whose border is not a single loop (because of a bump of rounding size in the middle)
// into their triangles.
static bool split_broken_faces(Build* b, int* loop, int* across) {
  int n = b->tri.count, faces = b->group_count;
  int *border = TB_ARENA_NEW(b->temp, int, faces), *start = TB_ARENA_NEW(b->temp, int, faces);
  if (!border || !start) return false;
  for (int k = 0; k < 3 * n; k++) {
    int face = b->group[k / 3];
    if (b->group[b->tri_adj[k]] == face) continue;
    border[face]++;
    start[face] = k;
  }
  bool* broken = TB_ARENA_NEW(b->temp, bool, faces);
  if (!broken) return false;
  for (int f = 0; f < faces; f++) {
    int k = start[f];
    broken[f] = border[f] < 3 || trace_border(b, k / 3, k % 3, loop, across, 3 * n) != border[f];
  }
  bool* taken = TB_ARENA_NEW(b->temp, bool, faces);
  if (!taken) return false;
  for (int t = 0; t < n; t++) {
    int f = b->group[t];
    if (f >= faces || !broken[f]) continue;
    if (taken[f]) b->group[t] = b->group_count++;
    taken[f] = true;
  }
  return true;
}

// Unit normal by Newell's sum over the polygon; the plane contains the polygon's outermost vertex.
static void set_plane(const tbHull* hull, const int* loop, int count, tbReal plane[4]) {
  tbReal sum[3] = {0, 0, 0};
  const tbReal* origin = hull->vert + 3 * loop[0];
  for (int i = 1; i + 1 < count; i++) {
    tbReal e1[3], e2[3], cross[3];
    tb_sub3(e1, hull->vert + 3 * loop[i], origin);
    tb_sub3(e2, hull->vert + 3 * loop[i + 1], origin);
    tb_cross(cross, e1, e2);
    tb_add3(sum, sum, cross);
  }
  // A sliver that joggling inverted keeps the normal of its facet.
  if (tb_normalize3(sum) > 0 && tb_dot3(sum, plane) >= 0) tb_copy3(plane, sum);
  plane[3] = -INFINITY;
  for (int i = 0; i < count; i++) {
    plane[3] = tb_max(plane[3], tb_dot3(plane, hull->vert + 3 * loop[i]));
  }
}

// Orders the faces by their first edges, which start at the lowest vertex of a face: `first` holds
// the indices of these edges in the triangles' list. The order does not depend on the triangulation
// of a face.
static bool order_faces(Build* b, int* first, int* faces, int* border) {
  int n = 3 * b->tri.count, groups = b->group_count;
  Edge* key = TB_ARENA_NEW(b->temp, Edge, groups);
  int *rank = TB_ARENA_NEW(b->temp, int, groups), *at = TB_ARENA_NEW(b->temp, int, groups);
  if (!key || !rank || !at) return false;
  for (int f = 0; f < groups; f++) key[f] = (Edge){n, n, f};
  *border = *faces = 0;
  for (int k = 0; k < n; k++) {
    int f = b->group[k / 3];
    if (b->group[b->tri_adj[k]] == f) continue;
    Edge e = {b->tri.vert[k], b->tri.vert[3 * (k / 3) + (k + 1) % 3], f};
    if (compare_edges(&e, &key[f]) < 0) {
      key[f] = e;
      at[f] = k;
    }
    ++*border;
  }
  qsort(key, (size_t)groups, sizeof *key, compare_edges);
  for (int f = 0; f < groups; f++) {
    rank[key[f].tri] = f;
    if (key[f].from == n) continue;
    first[f] = at[key[f].tri];
    ++*faces;
  }
  for (int t = 0; t < b->tri.count; t++) b->group[t] = rank[b->group[t]];
  return true;
}

// Whether a face has no vertex besides those of its border and is planar to rounding: qhull's
// triangulation of such a face is arbitrary and differs between machines.
static bool is_any_fan(const tbHull* hull, const int* loop, int corners, int triangles,
                       const tbReal plane[4]) {
  if (triangles != corners - 2) return false;
  for (int i = 0; i < corners; i++) {
    tbReal height = tb_dot3(plane, hull->vert + 3 * loop[i]) - plane[3];
    if (!(fabs(height) <= WHIM_TOLERANCE * hull->radius)) return false;
  }
  return true;
}

// Computes polygons, planes and neighbours of all faces.
static bool set_faces(Build* b, tbHull* hull, tbArena* arena) {
  int n = 3 * b->tri.count, faces, border;
  int *loop = TB_ARENA_NEW(b->temp, int, n), *across = TB_ARENA_NEW(b->temp, int, n);
  if (!loop || !across || !split_broken_faces(b, loop, across)) return false;
  int* first = TB_ARENA_NEW(b->temp, int, b->group_count);
  int* triangles = TB_ARENA_NEW(b->temp, int, b->group_count);
  b->fanned = TB_ARENA_NEW(b->temp, bool, b->group_count);
  if (!first || !triangles || !b->fanned || !order_faces(b, first, &faces, &border)) return false;
  for (int t = 0; t < b->tri.count; t++) triangles[b->group[t]]++;
  tbReal* plane = TB_ARENA_NEW(arena, tbReal, 4 * (size_t)faces);
  int* start = TB_ARENA_NEW(arena, int, faces + 1);
  int *vert = TB_ARENA_NEW(arena, int, border), *adj = TB_ARENA_NEW(arena, int, border);
  int* vert_face = TB_ARENA_NEW(arena, int, hull->nvert);
  if (!plane || !start || !vert || !adj || !vert_face) return false;
  for (int f = 0; f < faces; f++) {
    int k = first[f], at = start[f];
    int count = trace_border(b, k / 3, k % 3, vert + at, adj + at, border - at);
    if (count < 3) return false;
    start[f + 1] = at + count;
    tb_copy3(plane + 4 * f, b->tri.normal + 3 * (k / 3));
    set_plane(hull, vert + at, count, plane + 4 * f);
    b->fanned[f] = is_any_fan(hull, vert + at, count, triangles[f], plane + 4 * f);
  }
  // The first face at a vertex; vertices in the interior of a face get that face.
  for (int k = n - 1; k >= 0; k--) vert_face[b->tri.vert[k]] = b->group[k / 3];
  for (int f = faces - 1; f >= 0; f--) {
    for (int k = start[f]; k < start[f + 1]; k++) vert_face[vert[k]] = f;
  }
  hull->nface = faces;
  hull->plane = plane;
  hull->face_start = start;
  hull->face_vert = vert;
  hull->face_adj = adj;
  hull->vert_face = vert_face;
  return true;
}

// The vertex graph: sorted by (from, to), directed edges are its rows. They are the edges of the
// triangles, except inside fanned faces, where they are those of the fans.
static bool set_graph(const Build* b, tbHull* hull, tbArena* arena) {
  int n = 3 * b->tri.count, count = 0;
  int* start = TB_ARENA_NEW(arena, int, hull->nvert + 1);
  int* adj = TB_ARENA_NEW(arena, int, n);
  if (!start || !adj) return false;
  for (int k = 0; k < n; k++) {
    int face = b->group[k / 3];
    if (b->fanned[face] && b->group[b->tri_adj[k]] == face) continue;
    b->edge[count++] = (Edge){b->tri.vert[k], b->tri.vert[3 * (k / 3) + (k + 1) % 3], 0};
  }
  for (int f = 0; f < hull->nface; f++) {
    const int* loop = hull->face_vert + hull->face_start[f];
    int corners = hull->face_start[f + 1] - hull->face_start[f];
    for (int i = 2; i < corners - 1 && b->fanned[f]; i++) {
      b->edge[count++] = (Edge){loop[0], loop[i], 0};
      b->edge[count++] = (Edge){loop[i], loop[0], 0};
    }
  }
  qsort(b->edge, (size_t)count, sizeof *b->edge, compare_edges);
  // Both faces of a sheet have the same fan; duplicate edges are dropped.
  int kept = 0;
  for (int k = 0; k < count; k++) {
    if (k > 0 && compare_edges(&b->edge[k - 1], &b->edge[k]) == 0) continue;
    adj[kept++] = b->edge[k].to;
    start[b->edge[k].from + 1] = kept;
  }
  hull->adj_start = start;
  hull->adj = adj;
  return true;
}

// Search seeds: the support vertex of the centre of each cell of a cube map.
static bool set_seeds(const tbHull* hull, tbHullCache* cache, tbArena* arena) {
  int* seed = TB_ARENA_NEW(arena, int, TB_HULL_SEEDS);
  if (!seed) return false;
  for (int cell = 0; cell < TB_HULL_SEEDS; cell++) {
    int axis = cell / 32, u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
    tbReal d[3];
    d[axis] = cell / 16 % 2 ? -1 : 1;
    d[u] = (cell / 4 % 4 - 1.5) / 2;
    d[v] = (cell % 4 - 1.5) / 2;
    seed[cell] = tb_hull_support(hull, d, 0);
  }
  cache->seed = seed;
  return true;
}

static bool set_cache(tbHull* hull, tbArena* arena) {
  tbHullCache* cache = TB_ARENA_NEW(arena, tbHullCache, 1);
  if (!cache || !set_seeds(hull, cache, arena)) return false;
  void* search = tb_arena_alloc(arena, tb_hull_search_bytes(hull) + 1);
  if (!search) return false;
  hull->cache = cache;
  tb_hull_search_fill(hull, cache, search);
  tb_hull_extent_fill(hull, cache);
  return true;
}

static tbResult check_points(const tbReal* points, int npoint, int max_vert, tbError* error) {
  if (npoint < 4) {
    return tb_fail(error, TB_ERROR_MODEL, "a hull needs at least 4 points, not %d", npoint);
  }
  if (max_vert > 0 && max_vert < 4) {
    return tb_fail(error, TB_ERROR_MODEL, "a hull needs at least 4 vertices, not %d", max_vert);
  }
  if (npoint > (1 << 26)) {
    return tb_fail(error, TB_ERROR_MEMORY, "a hull takes at most %d points, not %d", 1 << 26,
                   npoint);
  }
  for (int k = 0; k < 3 * npoint; k++) {
    if (!(fabs(points[k]) < 1e100)) {
      return tb_fail(error, TB_ERROR_MODEL, "point %d of a mesh is not finite (or beyond 1e100)",
                     k / 3);
    }
  }
  return TB_OK;
}

// The steps of the build in order. *retry is set if qhull fails or its triangles do not close, for
// which joggled input is the remedy.
static tbResult build(Build* b, tbHull* hull, tbArena* arena, const tbReal* points, int npoint,
                      int max_vert, int joggle, const int** vert_index, bool* retry,
                      tbError* error) {
  tbResult result = tb_hull_triangulate(&b->tri, b->temp, points, npoint, max_vert, joggle, error);
  *retry = result == TB_ERROR_NUMERIC;
  if (result != TB_OK) return result;
  if (!keep_vertices(b, hull, arena, points, npoint, vert_index) || !order_triangles(b)) {
    return tb_fail(error, TB_ERROR_MEMORY, "out of memory for a hull of %d points", npoint);
  }
  set_ball(hull);
  b->tolerance = COPLANAR_TOLERANCE * hull->radius;
  *retry = !link_edges(b, hull) && !b->temp->failed;
  if (*retry) return tb_fail(error, TB_ERROR_NUMERIC, "the hull's triangles do not close");
  tbReal least = joggle ? JOGGLED_VOLUME * hull->radius * hull->radius * hull->radius : 0;
  if (!(signed_volume(b, hull) > least)) {
    return tb_fail(error, TB_ERROR_MODEL, "the hull of the points has no volume");
  }
  if (!merge_coplanar(b, hull) || !set_faces(b, hull, arena) || !set_graph(b, hull, arena) ||
      !set_cache(hull, arena)) {
    return tb_fail(error, TB_ERROR_MEMORY, "out of memory for a hull of %d points", npoint);
  }
  return TB_OK;
}

// The same with an arena for temporary memory.
static tbResult attempt(tbHull* hull, tbArena* arena, const tbReal* points, int npoint,
                        int max_vert, int joggle, const int** vert_index, bool* retry,
                        tbError* error) {
  tbArena temp;
  tb_arena_init(&temp);
  Build b = {.temp = &temp};
  *retry = false;
  memset(hull, 0, sizeof *hull);
  tbResult result =
      build(&b, hull, arena, points, npoint, max_vert, joggle, vert_index, retry, error);
  tb_arena_free(&temp);
  return result;
}

// Number of corners of the largest face.
static int most_corners(const tbHull* hull) {
  int most = 0;
  for (int f = 0; f < hull->nface; f++) {
    int corners = hull->face_start[f + 1] - hull->face_start[f];
    most = corners > most ? corners : most;
  }
  return most;
}

tbResult tb_hull_build(tbHull* hull, tbArena* arena, const tbReal* points, int npoint, int max_vert,
                       const int** vert_index, tbError* error) {
  memset(hull, 0, sizeof *hull);
  tbResult result = check_points(points, npoint, max_vert, error);
  if (result != TB_OK) return result;
  bool retry = true;
  // qhull takes time quadratic in the corners of a face, which is too long for finely divided rims,
  // but not with joggled input. If the joggled hull has such a face, it is the result.
  if (npoint > MANY_POINTS && max_vert == 0) {
    tbArenaMark mark = tb_arena_mark(arena);
    result = attempt(hull, arena, points, npoint, 0, 1, vert_index, &retry, error);
    if (result == TB_OK && most_corners(hull) > MANY_CORNERS) return TB_OK;
    tb_arena_release(arena, mark);
    retry = true;
  }
  for (int joggle = 0; joggle < 2 && retry; joggle++) {
    result = attempt(hull, arena, points, npoint, max_vert, joggle, vert_index, &retry, error);
  }
  if (result != TB_OK) memset(hull, 0, sizeof *hull);
  return result;
}
