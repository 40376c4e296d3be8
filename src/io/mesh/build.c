// Mesh builder: growing arrays, triangulation of polygons, merging of equal vertices.
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "io/mesh/readers.h"
#include "spatial/vec3.h"

// Room for one more item of `bytes`. Old arrays stay in the arena; together they are at most as
// large as the final one.
static void* grown(tbArena* arena, void* array, int count, int* capacity, size_t bytes) {
  if (count < *capacity) return array;
  if (count > (1 << 29)) return NULL;
  int larger = *capacity ? 2 * *capacity : 1024;
  void* copy = tb_arena_alloc(arena, (size_t)larger * bytes);
  if (!copy) return NULL;
  if (count) memcpy(copy, array, (size_t)count * bytes);
  *capacity = larger;
  return copy;
}

bool tb_mesh_add_vertex(tbMeshBuilder* b, const tbReal v[3]) {
  tbReal* vert = grown(b->arena, b->vert, b->nvert, &b->vert_capacity, 3 * sizeof *vert);
  if (!vert) return false;
  b->vert = vert;
  tb_copy3(vert + 3 * (size_t)b->nvert++, v);
  return true;
}

bool tb_mesh_add_face(tbMeshBuilder* b, int i, int j, int k) {
  int* face = grown(b->arena, b->face, b->nface, &b->face_capacity, 3 * sizeof *face);
  if (!face) return false;
  b->face = face;
  int* f = face + 3 * (size_t)b->nface++;
  f[0] = i;
  f[1] = j;
  f[2] = k;
  return true;
}

// Twice the signed area of the triangle a, b, c in the projection along the normal n.
static tbReal turn(const tbReal a[3], const tbReal b[3], const tbReal c[3], const tbReal n[3]) {
  tbReal ab[3], ac[3], cross[3];
  tb_sub3(ab, b, a);
  tb_sub3(ac, c, a);
  tb_cross(cross, ab, ac);
  return tb_dot3(cross, n);
}

// Normal of a polygon by Newell's sum; its length is twice the area.
static void polygon_normal(tbReal n[3], const tbReal* vert, const int* corner, int count) {
  tb_zero3(n);
  const tbReal* origin = vert + 3 * (size_t)corner[0];
  for (int i = 1; i + 1 < count; i++) {
    tbReal a[3], b[3], cross[3];
    tb_sub3(a, vert + 3 * (size_t)corner[i], origin);
    tb_sub3(b, vert + 3 * (size_t)corner[i + 1], origin);
    tb_cross(cross, a, b);
    tb_add3(n, n, cross);
  }
}

static bool is_convex(const tbReal* vert, const int* corner, int count, const tbReal n[3]) {
  for (int i = 0; i < count; i++) {
    const tbReal* a = vert + 3 * (size_t)corner[i];
    const tbReal* b = vert + 3 * (size_t)corner[(i + 1) % count];
    const tbReal* c = vert + 3 * (size_t)corner[(i + 2) % count];
    if (turn(a, b, c, n) < 0) return false;
  }
  return true;
}

// True if the polygon turns left at corner i of the ring and no other corner lies in its triangle.
static bool is_ear(const tbReal* vert, const int* ring, int count, int i, const tbReal n[3]) {
  const tbReal* a = vert + 3 * (size_t)ring[(i + count - 1) % count];
  const tbReal* b = vert + 3 * (size_t)ring[i];
  const tbReal* c = vert + 3 * (size_t)ring[(i + 1) % count];
  if (turn(a, b, c, n) <= 0) return false;
  for (int k = 2; k < count - 1; k++) {
    const tbReal* p = vert + 3 * (size_t)ring[(i + k) % count];
    if (turn(a, b, p, n) >= 0 && turn(b, c, p, n) >= 0 && turn(c, a, p, n) >= 0) return false;
  }
  return true;
}

bool tb_mesh_add_fan(tbMeshBuilder* b, const int* corner, int count) {
  for (int i = 1; i + 1 < count; i++) {
    if (!tb_mesh_add_face(b, corner[0], corner[i], corner[i + 1])) return false;
  }
  return true;
}

bool tb_mesh_add_polygon(tbMeshBuilder* b, const int* corner, int n) {
  // Ear clipping takes at least quadratic time, so huge polygons are split into fans.
  enum { MOST_CORNERS = 512 };
  if (n <= 4 || n > MOST_CORNERS) return tb_mesh_add_fan(b, corner, n);
  tbReal normal[3];
  polygon_normal(normal, b->vert, corner, n);
  if (is_convex(b->vert, corner, n, normal)) return tb_mesh_add_fan(b, corner, n);
  int ring[MOST_CORNERS];
  memcpy(ring, corner, (size_t)n * sizeof *ring);
  while (n > 3) {
    int ear = 0;
    while (ear < n && !is_ear(b->vert, ring, n, ear, normal)) ear++;
    // Without an ear the polygon intersects itself or is degenerate.
    if (ear == n) break;
    if (!tb_mesh_add_face(b, ring[(ear + n - 1) % n], ring[ear], ring[(ear + 1) % n])) return false;
    memmove(ring + ear, ring + ear + 1, (size_t)(n - ear - 1) * sizeof *ring);
    n--;
  }
  return tb_mesh_add_fan(b, ring, n);
}

// Hash of three numbers: a multiplication and a shift per number.
static uint64_t mix(const tbReal v[3]) {
  uint64_t hash = TB_HASH_SEED;
  for (int k = 0; k < 3; k++) {
    uint64_t bits;
    memcpy(&bits, &v[k], sizeof bits);
    hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return hash;
}

tbResult tb_mesh_weld(tbMeshData* mesh, tbArena* arena, const char* name, tbError* error) {
  // Open addressing; an entry of the table is 1 + the new index of a vertex.
  size_t n = (size_t)mesh->nvert, slots = 16;
  while (slots < 2 * n) slots *= 2;
  int* table = TB_ARENA_NEW(arena, int, slots);
  int* renamed = TB_ARENA_NEW(arena, int, n);
  if (!table || !renamed) return tb_fail(error, TB_ERROR_MEMORY, "%s: out of memory", name);
  int kept = 0;
  for (size_t i = 0; i < n; i++) {
    // Adding zero gives -0 and +0 the same hash.
    tbReal v[3] = {mesh->vert[3 * i] + 0.0, mesh->vert[3 * i + 1] + 0.0,
                   mesh->vert[3 * i + 2] + 0.0};
    size_t slot = (size_t)mix(v) & (slots - 1);
    while (table[slot]) {
      const tbReal* other = mesh->vert + 3 * (size_t)(table[slot] - 1);
      if (other[0] == v[0] && other[1] == v[1] && other[2] == v[2]) break;
      slot = (slot + 1) & (slots - 1);
    }
    if (!table[slot]) {
      table[slot] = kept + 1;
      tb_copy3(mesh->vert + 3 * (size_t)kept++, v);
    }
    renamed[i] = table[slot] - 1;
  }
  mesh->nvert = kept;
  for (size_t i = 0; i < 3 * (size_t)mesh->nface; i++) mesh->face[i] = renamed[mesh->face[i]];
  return TB_OK;
}
