// Hulls: topology, planes and support against brute force, merged faces, and bad input.
#include "collide/hull/hull.h"

#include <string.h>

#include "base/hash.h"
#include "collide/convex/feature_facing.h"
#include "common/test.h"
#include "spatial/quat.h"

#ifdef TB_WITH_QHULL

// The vertex graph is symmetric and ascending.
static void check_graph(const tbHull* h) {
  assert_int_equal(h->adj_start[h->nvert] % 2, 0);
  for (int v = 0; v < h->nvert; v++) {
    for (int k = h->adj_start[v]; k < h->adj_start[v + 1]; k++) {
      int w = h->adj[k], found = 0;
      if (k > h->adj_start[v]) assert_true(h->adj[k - 1] < w);
      for (int m = h->adj_start[w]; m < h->adj_start[w + 1]; m++) found += h->adj[m] == v;
      assert_int_equal(found, 1);
    }
    assert_in_range(h->vert_face[v], 0, h->nface - 1);
  }
}

// What every hull must satisfy, whatever it was built from.
static void check_hull(const tbHull* h, const double* points, int npoint, double tolerance) {
  assert_true(h->nvert >= 4 && h->nface >= 4);
  check_graph(h);
  // Polygons run counter-clockwise, lie in their plane, and share each edge with one neighbour.
  for (int f = 0; f < h->nface; f++) {
    const double* plane = h->plane + 4 * f;
    assert_near(tb_norm3(plane), 1, 1e-12);
    int first = h->face_start[f], count = h->face_start[f + 1] - first;
    assert_true(count >= 3);
    double newell[3] = {0, 0, 0};
    for (int i = 0; i < count; i++) {
      int u = h->face_vert[first + i], v = h->face_vert[first + (i + 1) % count];
      double cross[3];
      tb_cross(cross, h->vert + 3 * u, h->vert + 3 * v);
      tb_add3(newell, newell, cross);
      assert_true(fabs(tb_dot3(plane, h->vert + 3 * u) - plane[3]) < 4e-6 * h->radius);
      int g = h->face_adj[first + i], matches = 0;
      for (int k = h->face_start[g]; k < h->face_start[g + 1]; k++) {
        int next = k + 1 < h->face_start[g + 1] ? k + 1 : h->face_start[g];
        matches += h->face_vert[k] == v && h->face_vert[next] == u && h->face_adj[k] == f;
      }
      assert_int_equal(matches, 1);
    }
    assert_true(tb_dot3(newell, plane) > 0);
  }
  // All points are inside all planes.
  for (int f = 0; f < h->nface; f++) {
    for (int p = 0; p < npoint; p++) {
      double height = tb_dot3(h->plane + 4 * f, points + 3 * p) - h->plane[4 * f + 3];
      assert_true(height <= tolerance * h->radius);
    }
  }
}

static void check_support(const tbHull* h, const double* points, int npoint, tbRng* rng) {
  for (int k = 0; k < 300; k++) {
    double d[3], most = -INFINITY;
    tb_rng_normals(rng, 3, d);
    tb_normalize3(d);
    for (int p = 0; p < npoint; p++) most = fmax(most, tb_dot3(d, points + 3 * p));
    int start = k % 3 == 0 ? -1 : tb_rng_int(rng, h->nvert);
    int v = tb_hull_support(h, d, start);
    assert_true(fabs(tb_dot3(d, h->vert + 3 * v) - most) <= 1e-12 * h->radius);
    int f = tb_hull_face_at(h, d, v);
    assert_in_range(f, 0, h->nface - 1);
  }
}

static void test_cube_with_points_on_faces(void** state) {
  (void)state;
  tbArena arena;
  tb_arena_init(&arena);
  double points[3 * 125];
  int n = 0;
  for (int i = 0; i < 125; i++) {
    points[n++] = i % 5 - 2;
    points[n++] = i / 5 % 5 - 2;
    points[n++] = i / 25 - 2;
  }
  tbHull hull;
  const int* index;
  assert_int_equal(tb_hull_build(&hull, &arena, points, 125, 0, &index, NULL), TB_OK);
  assert_int_equal(hull.nvert, 8);
  assert_int_equal(hull.nface, 6);
  for (int f = 0; f < 6; f++) assert_int_equal(hull.face_start[f + 1] - hull.face_start[f], 4);
  for (int v = 0; v < 8; v++) {
    for (int i = 0; i < 3; i++) assert_true(hull.vert[3 * v + i] == points[3 * index[v] + i]);
  }
  for (int f = 0; f < 6; f++) assert_near(hull.plane[4 * f + 3], 2, 1e-15);
  check_hull(&hull, points, 125, 1e-12);
  tb_arena_free(&arena);
}

// A prism over a regular polygon, rounded to float as a mesh file would: two caps, n sides.
static void test_float_prism_merges_caps(void** state) {
  (void)state;
  tbRng rng = {5};
  tbArena arena;
  tb_arena_init(&arena);
  for (int n = 3; n < 64; n += 4) {
    double points[2 * 64 * 3], q[4] = {1, 0.3, -0.2, 0.7};
    tb_quat_normalize(q);
    for (int i = 0; i < 2 * n; i++) {
      double angle = 6.283185307179586 * (i / 2) / n, p[3] = {cos(angle), sin(angle), i % 2};
      tb_quat_rotate(p, q, p);
      for (int k = 0; k < 3; k++) points[3 * i + k] = (float)(0.1 * p[k] + 0.3);
    }
    tbHull hull;
    assert_int_equal(tb_hull_build(&hull, &arena, points, 2 * n, 0, NULL, NULL), TB_OK);
    assert_int_equal(hull.nvert, 2 * n);
    assert_int_equal(hull.nface, n + 2);
    check_hull(&hull, points, 2 * n, 4e-6);
    check_support(&hull, points, 2 * n, &rng);
  }
  tb_arena_free(&arena);
}

static void test_random_clouds(void** state) {
  (void)state;
  tbRng rng = {11};
  tbArena arena;
  tb_arena_init(&arena);
  for (int round = 0; round < 200; round++) {
    int n = 4 + tb_rng_int(&rng, round % 10 == 0 ? 2000 : 60);
    double* points = TB_ARENA_NEW(&arena, double, 3 * n);
    double squash = round % 4 == 1 ? 1e-4 : 1, size = pow(10, tb_rng_uniform(&rng, -6, 6));
    bool grid = round % 5 == 2, ball = round % 3 == 0;
    for (int i = 0; i < n; i++) {
      double p[3];
      for (int k = 0; k < 3; k++) p[k] = grid ? tb_rng_int(&rng, 4) : tb_rng_normal(&rng);
      if (ball && !grid) tb_normalize3(p);
      tb_set3(points + 3 * i, size * p[0], size * p[1], size * squash * p[2]);
    }
    tbHull hull;
    tbError error;
    tbResult result = tb_hull_build(&hull, &arena, points, n, 0, NULL, &error);
    // A few points of a coarse grid may lie in a plane; nothing else may fail.
    if (result != TB_OK) {
      assert_true(grid && result == TB_ERROR_MODEL);
      continue;
    }
    check_hull(&hull, points, n, 2e-6);
    check_support(&hull, points, n, &rng);
    tb_arena_reset(&arena);
  }
  tb_arena_free(&arena);
}

static uint64_t hash_hull(const tbHull* h) {
  uint64_t x = tb_hash(TB_HASH_SEED, h->vert, sizeof(double) * 3 * (size_t)h->nvert);
  x = tb_hash(x, h->plane, sizeof(double) * 4 * (size_t)h->nface);
  x = tb_hash(x, h->face_vert, sizeof(int) * (size_t)h->face_start[h->nface]);
  return tb_hash(x, h->adj, sizeof(int) * (size_t)h->adj_start[h->nvert]);
}

static void test_same_bits_and_vertex_limit(void** state) {
  (void)state;
  tbRng rng = {3};
  tbArena arena;
  tb_arena_init(&arena);
  double points[3 * 500];
  for (int i = 0; i < 500; i++) {
    for (int k = 0; k < 3; k++) points[3 * i + k] = tb_rng_normal(&rng);
    tb_normalize3(points + 3 * i);
  }
  tbHull a, b;
  assert_int_equal(tb_hull_build(&a, &arena, points, 500, 0, NULL, NULL), TB_OK);
  assert_int_equal(tb_hull_build(&b, &arena, points, 500, -1, NULL, NULL), TB_OK);
  assert_int_equal(a.nvert, 500);
  assert_true(hash_hull(&a) == hash_hull(&b));
  for (int limit = 4; limit < 40; limit += 9) {
    assert_int_equal(tb_hull_build(&b, &arena, points, 500, limit, NULL, NULL), TB_OK);
    assert_in_range(b.nvert, 4, limit > 5 ? limit : 5);
    check_hull(&b, b.vert, b.nvert, 1e-9);
  }
  tb_arena_free(&arena);
}

// Points that qhull cuts into triangles as it likes: a turned box with a bevel, a prism of twelve
// sides, a grid's hull.
static int coplanar_points(int which, tbRng* rng, double* points) {
  double q[4], R[9];
  int count = which == 0 ? 8 : (which == 1 ? 24 : 60);
  for (int i = 0; i < 4; i++) q[i] = tb_rng_normal(rng);
  tb_quat_normalize(q);
  tb_quat_to_mat(R, q);
  for (int i = 0; i < count; i++) {
    double x[3] = {i & 1 ? 1 : -1, i & 2 ? 0.7 : -0.7, i & 4 ? 0.4 : -0.4};
    double angle = 0.5235987755982988 * (i % 12);
    if (which == 1) tb_set3(x, cos(angle), sin(angle), i < 12 ? -0.3 : 0.3);
    for (int k = 0; k < 3 && which == 2; k++) x[k] = 0.25 * tb_rng_int(rng, 5);
    tb_mul_mat3_vec3(points + 3 * i, R, x);
  }
  return count;
}

// The face of `h` with these corners (in h's numbering, any order): -1 where there is none.
static int face_with(const tbHull* h, const int* corner, int count) {
  for (int f = 0; f < h->nface; f++) {
    int same = 0, first = h->face_start[f];
    if (h->face_start[f + 1] - first != count) continue;
    for (int i = 0; i < count; i++) {
      for (int k = 0; k < count; k++) same += h->face_vert[first + k] == corner[i];
    }
    if (same == count) return f;
  }
  return -1;
}

static int vertex_at(const tbHull* h, const double x[3]) {
  for (int v = 0; v < h->nvert; v++) {
    if (memcmp(h->vert + 3 * v, x, 3 * sizeof(double)) == 0) return v;
  }
  return -1;
}

// Faces start at their lowest vertex and follow each other by their first edges; inside a face the
// graph is a fan from there.
static void check_canonical(const tbHull* h) {
  for (int f = 0; f < h->nface; f++) {
    const int *loop = h->face_vert + h->face_start[f], *next = h->face_vert + h->face_start[f + 1];
    int count = (int)(next - loop);
    for (int i = 1; i < count; i++) assert_true(loop[i] > loop[0]);
    if (f + 1 < h->nface) {
      assert_true(loop[0] < next[0] || (loop[0] == next[0] && loop[1] < next[1]));
    }
    for (int i = 0; i < count; i++) {
      for (int k = i + 2; k < count && !(i == 0 && k == count - 1); k++) {
        int joined = 0;
        for (int e = h->adj_start[loop[i]]; e < h->adj_start[loop[i] + 1]; e++) {
          joined += h->adj[e] == loop[k];
        }
        assert_int_equal(joined, i == 0);
      }
    }
  }
}

// Same vertices, faces and planes, whatever their numbers.
static void check_same_faces(const tbHull* h, const tbHull* g) {
  assert_int_equal(h->nvert, g->nvert);
  assert_int_equal(h->nface, g->nface);
  for (int f = 0; f < h->nface; f++) {
    int corner[60], corners = h->face_start[f + 1] - h->face_start[f];
    for (int k = 0; k < corners; k++) {
      corner[k] = vertex_at(g, h->vert + 3 * h->face_vert[h->face_start[f] + k]);
      assert_true(corner[k] >= 0);
    }
    int other = face_with(g, corner, corners);
    assert_true(other >= 0);
    for (int k = 0; k < 4; k++) {
      assert_near(g->plane[4 * other + k], h->plane[4 * f + k], 1e-14);
    }
  }
}

// What may touch along a direction has the same corners: the face is the best at the vertex, not
// one that a climb from some first face ends at.
static void check_same_patches(const tbHull* h, const tbHull* g, tbRng* rng) {
  for (int k = 0; k < 30; k++) {
    double d[3];
    tb_rng_normals(rng, 3, d);
    tb_normalize3(d);
    tbCore one = {.kind = TB_CORE_HULL, .hint = -1, .known = -1, .hull = h}, two = one;
    tbFacingFeature p, q;
    two.hull = g;
    tb_feature_facing(&one, d, &p);
    tb_feature_facing(&two, d, &q);
    assert_int_equal(p.kind, q.kind);
    assert_int_equal(p.count, q.count);
    for (int i = 0; i < p.count; i++) {
      int found = 0;
      for (int m = 0; m < q.count; m++)
        found += memcmp(p.point[i], q.point[m], sizeof p.point[i]) == 0;
      assert_int_equal(found, 1);
    }
  }
}

// The deepest contact with a box is the same. Others need not be: which of the region's corners are
// kept is decided by their order where several would add the same area, as the ends of an edge
// do that is parallel to the line between the first two.
static void check_same_depth(const tbHull* h, const tbHull* g, tbRng* rng) {
  tbShape a = {.type = TB_GEOM_BOX, .size = {0.3, 0.5, 0.2}, .mat = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  tbShape b = {.type = TB_GEOM_MESH, .mat = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  for (int k = 0; k < 3; k++) b.pos[k] = tb_rng_uniform(rng, -0.8, 0.8);
  tbContactPoint deepest[2];
  int found[2];
  for (int k = 0; k < 2; k++) {
    tbContactPoint c[TB_MAX_PAIR_CONTACTS];
    b.hull = k ? g : h;
    found[k] = tb_collide(&a, &b, 0.01, c, NULL);
    deepest[k] = c[0];
    for (int i = 1; i < found[k]; i++) deepest[k] = c[i].dist < deepest[k].dist ? c[i] : deepest[k];
  }
  assert_int_equal(found[0] > 0, found[1] > 0);
  if (!found[0]) return;
  assert_near(deepest[0].dist, deepest[1].dist, 1e-9);
  for (int k = 0; k < 3; k++) {
    assert_near(deepest[0].pos[k], deepest[1].pos[k], 1e-9);
    assert_near(deepest[0].frame[k], deepest[1].frame[k], 1e-9);
  }
}

// In another order the same points give the same hull, up to the vertices' numbers.
static void test_order_of_points(void** state) {
  (void)state;
  tbRng rng = {17};
  tbArena arena;
  tb_arena_init(&arena);
  for (int i = 0; i < 300; i++) {
    double points[180], shuffled[180];
    tbHull h, g;
    int count = coplanar_points(i % 3, &rng, points);
    memcpy(shuffled, points, sizeof points);
    for (int k = count - 1; k > 0; k--) {
      int other = tb_rng_int(&rng, k + 1);
      for (int c = 0; c < 3; c++) {
        double x = shuffled[3 * k + c];
        shuffled[3 * k + c] = shuffled[3 * other + c];
        shuffled[3 * other + c] = x;
      }
    }
    assert_int_equal(tb_hull_build(&h, &arena, points, count, 0, NULL, NULL), TB_OK);
    assert_int_equal(tb_hull_build(&g, &arena, shuffled, count, 0, NULL, NULL), TB_OK);
    check_canonical(&h);
    check_canonical(&g);
    check_same_faces(&h, &g);
    check_same_patches(&h, &g, &rng);
    check_same_depth(&h, &g, &rng);
    tb_arena_reset(&arena);
  }
  tb_arena_free(&arena);
}

static void test_bad_input(void** state) {
  (void)state;
  tbArena arena;
  tb_arena_init(&arena);
  tbHull hull;
  tbError error;
  double p[3 * 8] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 1, 1};
  assert_int_equal(tb_hull_build(&hull, &arena, p, 3, 0, NULL, &error), TB_ERROR_MODEL);
  assert_int_equal(tb_hull_build(&hull, &arena, p, 0, 0, NULL, &error), TB_ERROR_MODEL);
  assert_int_equal(tb_hull_build(&hull, &arena, p, -5, 0, NULL, &error), TB_ERROR_MODEL);
  assert_int_equal(tb_hull_build(&hull, &arena, p, 8, 3, NULL, &error), TB_ERROR_MODEL);
  assert_int_equal(tb_hull_build(&hull, &arena, p, 8, 0, NULL, &error), TB_OK);
  // Not a number, infinite, in one plane, on one line, all the same.
  p[7] = NAN;
  assert_int_equal(tb_hull_build(&hull, &arena, p, 8, 0, NULL, &error), TB_ERROR_MODEL);
  assert_non_null(strstr(error.message, "point 2"));
  p[7] = INFINITY;
  assert_int_equal(tb_hull_build(&hull, &arena, p, 8, 0, NULL, &error), TB_ERROR_MODEL);
  for (int axis = 0; axis < 3; axis++) {
    for (int i = 0; i < 8; i++) {
      tb_set3(p + 3 * i, i % 3, i * i % 5, i % 3);
      p[3 * i + axis] = 0.25;
    }
    assert_int_equal(tb_hull_build(&hull, &arena, p, 8, 0, NULL, &error), TB_ERROR_MODEL);
    assert_non_null(strstr(error.message, "plane"));
    assert_int_equal(hull.nvert, 0);
  }
  for (int i = 0; i < 8; i++) tb_set3(p + 3 * i, i, 2 * i, -i);
  assert_int_equal(tb_hull_build(&hull, &arena, p, 8, 0, NULL, &error), TB_ERROR_MODEL);
  for (int i = 0; i < 8; i++) tb_set3(p + 3 * i, 1, 2, 3);
  assert_int_equal(tb_hull_build(&hull, &arena, p, 8, 0, NULL, &error), TB_ERROR_MODEL);
  tb_arena_free(&arena);
}

// A hull of a random cloud, of each point many times, of any size, far off; or nothing at all.
static void test_hostile_points(void** state) {
  (void)state;
  enum { N = 40, COPIES = 200 };
  static double points[3 * N * COPIES];
  tbArena arena;
  tb_arena_init(&arena);
  static const double sizes[] = {1, 1e6, 1e-8, 1e40, 1e-40};
  int expected = 0;
  for (int k = 0; k < 6; k++) {
    tbRng rng = {7};
    int count = k ? N : N * COPIES;
    for (int i = 0; i < 3 * N; i++) points[i] = tb_rng_normal(&rng) * sizes[k % 5];
    for (int i = 3 * N; i < 3 * count; i++) points[i] = points[i % (3 * N)];
    for (int i = 0; i < 3 * N && k == 5; i++) points[i] += 1e6;
    tbHull hull;
    assert_int_equal(tb_hull_build(&hull, &arena, points, count, 0, NULL, NULL), TB_OK);
    if (k == 0) expected = hull.nvert;
    assert_int_equal(hull.nvert, expected);
    check_hull(&hull, points, N, 1e-9);
    tb_arena_reset(&arena);
  }
  // Too thin or too small to have a volume, also after joggling.
  tbRng rng = {8};
  for (int k = 0; k < 2; k++) {
    int count = k ? 50 : N * COPIES;
    for (int i = 0; i < count; i++) {
      double angle = 6.283185307179586 * i / count, scale = k ? 1e-160 : 1;
      tb_set3(points + 3 * i, scale * cos(angle), scale * sin(angle),
              k ? scale * tb_rng_normal(&rng) : 0.25);
    }
    tbHull hull;
    tbError error = {0};
    assert_int_equal(tb_hull_build(&hull, &arena, points, count, 0, NULL, &error), TB_ERROR_MODEL);
    assert_non_null(strstr(error.message, "no volume"));
    assert_int_equal(hull.nvert, 0);
  }
  tb_arena_free(&arena);
}

// Planes with noise, rotated and far off, down to the smallest numbers: a hull, or an error without
// one; never the failure of a precondition of qhull.
static void test_planes_with_noise(void** state) {
  (void)state;
  tbRng rng = {10};
  tbArena arena;
  tb_arena_init(&arena);
  int built = 0;
  for (int k = 0; k < 1000; k++) {
    int count = 4 + tb_rng_int(&rng, 27);
    double noise = pow(10, tb_rng_uniform(&rng, -18, -6)), points[3 * 30], q[4];
    double far = k % 3 ? 0 : pow(10, tb_rng_uniform(&rng, 0, 6));
    for (int i = 0; i < 4; i++) q[i] = tb_rng_normal(&rng);
    tb_quat_normalize(q);
    for (int i = 0; i < count; i++) {
      double x = tb_rng_uniform(&rng, -1, 1), y = tb_rng_uniform(&rng, -1, 1);
      tb_set3(points + 3 * i, x, y, noise * tb_rng_normal(&rng));
      if (k % 2) tb_quat_rotate(points + 3 * i, q, points + 3 * i);
      for (int c = 0; c < 3; c++) points[3 * i + c] += far;
    }
    tbHull hull;
    tbError error = {0};
    tbResult result = tb_hull_build(&hull, &arena, points, count, 0, NULL, &error);
    // A hull thinner than the tolerance of merging has two faces, and its sliver faces lean.
    if (result == TB_OK) check_graph(&hull);
    if (result != TB_OK) assert_non_null(strstr(error.message, "no volume"));
    built += result == TB_OK;
    tb_arena_reset(&arena);
  }
  assert_in_range(built, 300, 900);
  tb_arena_free(&arena);
}

// A turned part of many thousand corners, which takes qhull minutes when it merges them.
static void test_fine_rims(void** state) {
  (void)state;
  enum { N = 24000 };
  static double points[3 * N];
  tbArena arena;
  tbRng rng = {9};
  tbHull hull;
  for (int i = 0; i < N; i++) {
    double angle = 6.283185307179586 * (i / 2) / (N / 2);
    tb_set3(points + 3 * i, cos(angle), sin(angle), i % 2);
  }
  tb_arena_init(&arena);
  assert_int_equal(tb_hull_build(&hull, &arena, points, N, 0, NULL, NULL), TB_OK);
  assert_true(hull.nvert > N / 2);
  assert_near(hull.cache->inscribed_radius, 0.5, 1e-3);
  // Caps are one face each but for slivers, and no point is outside.
  int caps = 0;
  for (int f = 0; f < hull.nface; f++) {
    int corners = hull.face_start[f + 1] - hull.face_start[f];
    caps += fabs(hull.plane[4 * f + 2]) > 0.999999 && corners > N / 4;
    for (int i = 0; i < N; i += 37) {
      assert_true(tb_dot3(hull.plane + 4 * f, points + 3 * i) <= hull.plane[4 * f + 3] + 4e-6);
    }
  }
  assert_int_equal(caps, 2);
  for (int k = 0; k < 300; k++) {
    double d[3];
    tb_rng_normals(&rng, 3, d);
    double most = sqrt(d[0] * d[0] + d[1] * d[1]) + fmax(d[2], 0);
    int v = tb_hull_support(&hull, d, -1);
    assert_near(tb_dot3(d, hull.vert + 3 * v), most, 1e-6);
  }
  tb_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hostile_points),
      cmocka_unit_test(test_planes_with_noise),
      cmocka_unit_test(test_fine_rims),
      cmocka_unit_test(test_cube_with_points_on_faces),
      cmocka_unit_test(test_float_prism_merges_caps),
      cmocka_unit_test(test_random_clouds),
      cmocka_unit_test(test_same_bits_and_vertex_limit),
      cmocka_unit_test(test_order_of_points),
      cmocka_unit_test(test_bad_input),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void test_says_unsupported(void** state) {
  (void)state;
  tbArena arena;
  tb_arena_init(&arena);
  tbHull hull;
  double p[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  assert_int_equal(tb_hull_build(&hull, &arena, p, 4, 0, NULL, NULL), TB_ERROR_UNSUPPORTED);
  tb_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_says_unsupported)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
