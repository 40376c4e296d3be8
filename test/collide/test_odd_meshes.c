// Meshes without thickness, needles, single triangles, edges and points, and pairs of sizes that
// differ by a million, with every shape: the signed distance is bounded from both sides.
#include "common/shapes.h"
#include "collide/hull/hull.h"

#define MAX_POINTS 64

// A hull as a user may provide it: points only, without faces, edges and tables.
static tbHull bare_hull(const tbReal* points, int count) {
  tbHull hull = {.nvert = count, .vert = points};
  for (int v = 0; v < count; v++) {
    for (int i = 0; i < 3; i++) hull.center[i] += points[3 * v + i] / count;
  }
  for (int v = 0; v < count; v++) {
    tbReal arm[3];
    tb_sub3(arm, points + 3 * v, hull.center);
    hull.radius = fmax(hull.radius, tb_norm3(arm));
  }
  return hull;
}

typedef struct {
  const char* name;
  tbReal extent[3];  // half lengths of the box that the points are in
  int count;         // points
  bool bare;         // no faces, no edges
} OddMesh;

static const OddMesh meshes[] = {
    {"sheet of a nanometre", {1, 0.7, 1e-9}, 40, false},
    {"sheet of a micrometre", {1, 0.7, 1e-6}, 40, false},
    {"sheet without thickness", {1, 0.7, 0}, 20, true},
    {"needle", {1, 1e-6, 1e-6}, 30, false},
    {"triangle", {1, 1, 0}, 3, true},
    {"edge", {1, 0, 0}, 2, true},
    {"point", {0, 0, 0}, 1, true},
    {"small", {1e-3, 1e-3, 1e-3}, 30, false},
    {"large", {1e3, 1e3, 1e3}, 30, false},
};
enum { NMESHES = sizeof meshes / sizeof meshes[0] };

static tbReal size_of(const tbShape* s) {
  if (s->type == TB_GEOM_MESH) return s->hull->radius + tb_norm3(s->hull->center);
  return s->size[0] + s->size[1] + s->size[2];
}

// The largest separation along directions other than n: random ones, some near n, and those that
// the mesh without its face tables gives.
static tbReal largest_separation(tbRng* rng, const tbShape* a, const tbShape* b,
                                 const tbReal n[3]) {
  tbHull bare = bare_hull(a->hull->vert, a->hull->nvert);
  tbShape points = *a;
  points.hull = &bare;
  tbReal most = -INFINITY;
  for (int k = 0; k < 25; k++) {
    tbReal d[3];
    for (int i = 0; i < 3; i++) d[i] = tb_rng_normal(rng);
    if (k > 12) tb_add_scaled3(d, n, 1e-3, d);
    if (k == 24) tb_distance(&points, b, NULL, NULL, d, NULL);
    tb_normalize3(d);
    most = fmax(most, tb_test_separation(a, b, d));
  }
  return most;
}

// The deepest contact separates the shapes, and no direction separates them more. Round shapes are
// exact to 1e-7 of their length: a side that leans less than that counts as lying on a face, and
// the bounds of a growing polytope count as equal at that distance (docs/notebook/gjk.md). A
// contact at the iteration limit has its flag: its distance is the separation along its normal,
// which need not be the best one. Returns whether the limit was reached.
static bool check_pair(tbRng* rng, const OddMesh* mesh, const tbShape* a, const tbShape* b) {
  tbReal pa[3], pb[3], n[3], rest[3], small = 2e-7 * (size_of(a) + size_of(b));
  tbReal dist = tb_distance(a, b, pa, pb, n, NULL), deepest = INFINITY;
  tbContactPoint c[TB_MAX_PAIR_CONTACTS];
  int count = tb_collide(a, b, 0, c, NULL);
  bool capped = count > 0 && c[0].flags & TB_CONTACT_ITERATION_LIMIT;
  for (int i = 0; i < count; i++) deepest = fmin(deepest, c[i].dist);
  bool ok = isfinite(dist) && fabs(tb_norm3(n) - 1) < 1e-9;
  ok = ok && fabs(tb_test_separation(a, b, n) - dist) <= small;
  ok = ok && (capped || largest_separation(rng, a, b, n) <= dist + small);
  // Apart, the witness points are that far from each other.
  tb_sub3(rest, pb, pa);
  tb_add_scaled3(rest, rest, -dist, n);
  ok = ok && (dist <= 0 || tb_norm3(rest) <= small);
  tbReal swapped = tb_distance(b, a, NULL, NULL, NULL, NULL);
  ok = ok && fabs(swapped - dist) <= small;
  ok = ok && (dist > -small || fabs(deepest - dist) <= small);
  if (!ok) {
    print_error("%s with %s: distance %.17g, swapped %.17g, deepest of %d %.17g\n", mesh->name,
                tb_geom_type_name(b->type), dist, swapped, count, deepest);
    fail();
  }
  return capped;
}

// Returns how many queries stopped at a cap.
static int try_mesh(const OddMesh* mesh, const tbHull* hull) {
  tbRng rng = {(uint64_t)mesh->count};
  int capped = 0;
  for (int type = TB_GEOM_SPHERE; type < TB_NGEOMTYPES; type++) {
    for (int k = 0; k < 300; k++) {
      tbShape a = {.type = TB_GEOM_MESH, .hull = hull}, b = tb_test_random_shape(&rng, type);
      // Some against themselves, parallel or not.
      if (type == TB_GEOM_MESH && k % 3 == 0) b.hull = hull;
      tb_test_random_rotation(&rng, a.mat);
      tb_test_random_rotation(&rng, b.mat);
      if (k % 4 == 0) memcpy(b.mat, a.mat, sizeof b.mat);
      // From deep inside to apart, by the size of the mesh and that of the other.
      tbReal reach = tb_rng_uniform(&rng, 0, 1.2) * (k % 2 ? hull->radius : size_of(&b));
      tbReal d[3];
      tb_rng_normals(&rng, 3, d);
      tb_normalize3(d);
      tb_scale3(b.pos, d, reach);
      capped += check_pair(&rng, mesh, &a, &b);
    }
  }
  return capped;
}

static void test_odd_meshes(void** state) {
  (void)state;
  int capped = 0;
  for (int m = 0; m < NMESHES; m++) {
    const OddMesh* mesh = &meshes[m];
    tbRng rng = {(uint64_t)(100 + m)};
    tbReal points[3 * MAX_POINTS];
    for (int v = 0; v < 3 * mesh->count; v++) {
      points[v] = mesh->extent[v % 3] * tb_rng_uniform(&rng, -1, 1);
    }
    tbHull hull = bare_hull(points, mesh->count);
    tbArena arena;
    tbError error = {0};
    tb_arena_init(&arena);
    // qhull may report the thinnest hulls as flat: then the points alone are the mesh.
    tbHull built;
    if (!mesh->bare &&
        tb_hull_build(&built, &arena, points, mesh->count, 0, NULL, &error) == TB_OK) {
      hull = built;
    }
    capped += try_mesh(mesh, &hull);
    tb_arena_free(&arena);
  }
  print_message("%d queries stopped at a cap\n", capped);
  assert_in_range(capped, 0, 54);  // one of 300; seven are usual
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_odd_meshes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
