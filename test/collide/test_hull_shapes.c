// The contract for hulls of robots and for degenerate hulls: nearly flat tetrahedra, turned parts
// with many sides, cones, wedges of long thin triangles, grids on a cube that merge, thousands of
// vertices, against every shape, from a millionth to a million times as large, with margins larger
// than the shapes.
#include "collide/hull/hull.h"
#include "common/shapes.h"

#define PI 3.14159265358979323846
#define MAX_POINTS 10000

// Points of a kind of hull; returns how many.
typedef int (*MakePoints)(tbRng* rng, tbReal* points);

static void put(tbReal* points, int* count, tbReal x, tbReal y, tbReal z) {
  tb_set3(points + 3 * (*count)++, x, y, z);
}

static int flat_tetrahedron(tbRng* rng, tbReal* points) {
  tbReal thin = pow(10, tb_rng_uniform(rng, -7, -2));
  for (int i = 0; i < 4; i++) {
    for (int k = 2; k >= 0; k--)
      points[3 * i + k] = tb_rng_uniform(rng, -1, 1) * (k < 2 ? 1 : thin);
  }
  return 4;
}

static int turned(tbRng* rng, int sides, tbReal* points) {
  int count = 0;
  tbReal length = tb_rng_uniform(rng, 0.02, 1), taper = tb_rng_int(rng, 2) ? 1 : 0.3;
  for (int i = 0; i < sides; i++) {
    tbReal x = cos(2 * PI * i / sides), y = sin(2 * PI * i / sides);
    put(points, &count, 0.3 * x, 0.3 * y, -length);
    put(points, &count, 0.3 * taper * x, 0.3 * taper * y, length);
  }
  return count;
}

static int turned_part(tbRng* rng, tbReal* points) {
  return turned(rng, 3 + tb_rng_int(rng, 62), points);
}

static int fine_part(tbRng* rng, tbReal* points) {
  return turned(rng, 65 + tb_rng_int(rng, 100), points);
}

static int cone(tbRng* rng, tbReal* points) {
  int count = 0, sides = 3 + tb_rng_int(rng, 40);
  put(points, &count, 0, 0, tb_rng_uniform(rng, 0.01, 1));
  for (int i = 0; i < sides; i++) {
    put(points, &count, 0.4 * cos(2 * PI * i / sides), 0.4 * sin(2 * PI * i / sides), 0);
  }
  return count;
}

// Two edges of many vertices each, at right angles: triangles a thousand times as long as wide.
static int wedge(tbRng* rng, tbReal* points) {
  int count = 0, steps = 2 + tb_rng_int(rng, 30);
  for (int i = 0; i <= steps; i++) {
    tbReal t = 2 * (tbReal)i / steps - 1, bulge = 1e-3 * (1 - t * t);
    put(points, &count, t, 0, 0.2 + bulge);
    put(points, &count, 0, t, -0.2 - bulge);
  }
  return count;
}

static int grid_on_cube(tbRng* rng, tbReal* points) {
  int count = 0, n = 2 + tb_rng_int(rng, 7);
  for (int k = 0; k <= n * n * n - 1; k++) {
    int x = k % n, y = k / n % n, z = k / n / n;
    bool border = x % (n - 1) == 0 || y % (n - 1) == 0 || z % (n - 1) == 0;
    if (border) put(points, &count, 0.4 * x / (n - 1), 0.3 * y / (n - 1), 0.2 * z / (n - 1));
  }
  return count;
}

static int long_thin_prism(tbRng* rng, tbReal* points) {
  int count = 0;
  tbReal thin = pow(10, tb_rng_uniform(rng, -4, -2));
  for (int i = 0; i < 3; i++) {
    tbReal y = thin * tb_rng_uniform(rng, -1, 1), z = thin * tb_rng_uniform(rng, -1, 1);
    put(points, &count, -1, y, z);
    put(points, &count, 1, y + 0.1 * thin, z);
  }
  return count;
}

static int stored_as_float(tbRng* rng, tbReal* points) {
  int count = turned_part(rng, points);
  tbReal turn[9];
  tb_test_random_rotation(rng, turn);
  for (int i = 0; i < count; i++) {
    tb_mul_mat3_vec3(points + 3 * i, turn, points + 3 * i);
    for (int k = 0; k < 3; k++) points[3 * i + k] = (float)points[3 * i + k];
  }
  return count;
}

static int ball_of(tbRng* rng, tbReal* points, int count) {
  for (int i = 0; i < count; i++) tb_test_random_direction(rng, points + 3 * i);
  return count;
}

static int many_vertices(tbRng* rng, tbReal* points) {
  return ball_of(rng, points, 500 + tb_rng_int(rng, 1500));
}

static int ten_thousand(tbRng* rng, tbReal* points) {
  return ball_of(rng, points, MAX_POINTS);
}

// Planes of merged faces are good to a millionth where vertices were stored as float or the hull is
// as thin as that. Of faces with more than 64 corners some are left out. Balls and capsules deep
// inside of thousands of faces may end at the cap of EPA.
static const struct {
  MakePoints make;
  int hulls, poses;
  tbReal tolerance;
  bool shallow;
} kinds[] = {
    {flat_tetrahedron, 12, 20, 2e-5, false},
    {turned_part, 12, 20, 1e-6, false},
    {fine_part, 4, 20, 1e-3, false},
    {cone, 12, 20, 1e-6, false},
    {wedge, 12, 20, 1e-6, false},
    {grid_on_cube, 12, 20, 1e-6, false},
    {long_thin_prism, 12, 20, 1e-6, false},
    {stored_as_float, 12, 20, 2e-5, false},
    {many_vertices, 2, 20, 1e-6, true},
    {ten_thousand, 1, 10, 1e-6, true},
};

// The hull against a shape of another size, moved to where they touch, overlap a little or are
// apart a little, or anywhere.
static void try_pose(tbRng* rng, const tbHull* hull, int type, int pose, tbReal tolerance) {
  tbShape a = {.type = TB_GEOM_MESH, .hull = hull}, b = tb_test_random_shape(rng, type);
  tb_test_random_rotation(rng, a.mat);
  if (pose % 5 == 0) memcpy(b.mat, a.mat, sizeof b.mat);
  bool resized = type != TB_GEOM_MESH && type != TB_GEOM_PLANE && pose % 3 == 0;
  tbReal ratio = resized ? pow(10, tb_rng_uniform(rng, -6, 6)) : 1, n[3];
  for (int k = 0; k < 3; k++) b.size[k] *= ratio;
  tbReal size = fmin(tb_test_size(&a), tb_test_size(&b)), way[3];
  tb_test_random_direction(rng, way);
  tb_scale3(b.pos, way, tb_rng_uniform(rng, 0, 1) * (tb_test_size(&a) + tb_test_size(&b)));
  if (pose % 4 > 0) {
    tbReal dist = tb_distance(&a, &b, NULL, NULL, n, NULL);
    tbReal wanted = pose % 4 == 1 ? 0 : pow(10, tb_rng_uniform(rng, -9, -1)) * size;
    tb_add_scaled3(b.pos, b.pos, (pose % 4 == 2 ? -wanted : wanted) - dist, n);
  }
  tbReal margin = pose % 2 ? 0 : pow(10, tb_rng_uniform(rng, -3, 1)) * size;
  tb_test_contract(rng, &a, &b, margin, tolerance);
}

static void test_hull_shapes(void** state) {
  (void)state;
  tbReal* points = malloc(3 * MAX_POINTS * sizeof(tbReal));
  const char *seed = getenv("TRIBO_TEST_SEED"), *more = getenv("TRIBO_TEST_POSES");
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    tbRng rng = {1000 * k + (seed ? (uint64_t)atoi(seed) << 32 : 0)};
    int hulls = more ? atoi(more) : kinds[k].hulls;
    for (int h = 0; h < hulls; h++) {
      tbArena arena;
      tbHull hull;
      tbError error = {0};
      tb_arena_init(&arena);
      int count = kinds[k].make(&rng, points);
      // qhull may report the thinnest hulls as flat.
      if (tb_hull_build(&hull, &arena, points, count, 0, NULL, &error) == TB_OK) {
        for (int type = 0; type < TB_NGEOMTYPES; type++) {
          if (type == TB_GEOM_HFIELD) continue;
          for (int pose = 0; pose < kinds[k].poses; pose++) {
            if (kinds[k].shallow && pose % 4 == 0) continue;
            try_pose(&rng, &hull, type, pose, kinds[k].tolerance);
          }
        }
      }
      tb_arena_free(&arena);
    }
  }
  free(points);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_hull_shapes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
