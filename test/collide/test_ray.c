// Rays against meshes: the tree of boxes gives the same bits as a test of every triangle.
#include <math.h>

#include "base/rng.h"
#include "collide/ray/ray.h"
#include "common/test.h"
#include "spatial/quat.h"
#include "spatial/vec3.h"

enum { MOST = 3000 };

typedef struct {
  tbReal vert[3 * 3 * MOST];
  int face[3 * MOST];
  int nvert, nface;
} Mesh;

static Mesh mesh;

static void add_face(int a, int b, int c) {
  int* v = mesh.face + 3 * mesh.nface++;
  v[0] = a;
  v[1] = b;
  v[2] = c;
}

// Triangles anywhere, of any size, some of them without an area.
static void make_soup(tbRng* rng, int n) {
  mesh.nvert = mesh.nface = 0;
  for (int f = 0; f < n; f++) {
    tbReal size = pow(10, tb_rng_uniform(rng, -3, 0)), center[3];
    for (int i = 0; i < 3; i++) center[i] = tb_rng_normal(rng);
    for (int k = 0; k < 3; k++, mesh.nvert++) {
      tbReal* v = mesh.vert + 3 * mesh.nvert;
      for (int i = 0; i < 3; i++) v[i] = center[i] + size * tb_rng_normal(rng);
      if (f % 10 == 9 && k == 2) tb_copy3(v, v - 3);
    }
    add_face(3 * f, 3 * f + 1, 3 * f + 2);
  }
}

// A grid on a flat floor (height 0) or on the unit sphere.
static void make_grid(int n, bool sphere) {
  mesh.nvert = mesh.nface = 0;
  for (int r = 0; r <= n; r++) {
    for (int c = 0; c <= n; c++, mesh.nvert++) {
      tbReal u = 2.0 * r / n - 1, v = 2.0 * c / n - 1, *x = mesh.vert + 3 * mesh.nvert;
      tb_set3(x, u, v, 0);
      tbReal tall = 1.5707963267948966 * (u + 1), around = 3.141592653589793 * v;
      if (sphere) tb_set3(x, sin(tall) * cos(around), sin(tall) * sin(around), cos(tall));
      if (r == n || c == n) continue;
      int at = r * (n + 1) + c;
      add_face(at, at + 1, at + n + 2);
      add_face(at, at + n + 2, at + n + 1);
    }
  }
}

// From far and near, and aimed: at a vertex, along an edge, from within a face, along the axes.
static void aim(tbRng* rng, int kind, tbReal o[3], tbReal d[3]) {
  const int* v = mesh.face + 3 * (int)tb_rng_uniform(rng, 0, mesh.nface);
  const tbReal *a = mesh.vert + 3 * v[0], *b = mesh.vert + 3 * v[1], *c = mesh.vert + 3 * v[2];
  tbReal far = pow(10, tb_rng_uniform(rng, -2, 2));
  for (int i = 0; i < 3; i++) {
    o[i] = far * tb_rng_normal(rng);
    d[i] = tb_rng_normal(rng);
  }
  switch (kind) {
    case 1: tb_sub3(d, a, o); break;
    case 2:
      for (int i = 0; i < 3; i++) d[i] = (a[i] + b[i]) / 2 - o[i];
      break;
    case 3:
      tb_sub3(d, b, a);
      for (int i = 0; i < 3; i++) o[i] = a[i] - d[i];
      break;
    case 4:
      for (int i = 0; i < 3; i++) o[i] = (a[i] + b[i] + c[i]) / 3;
      break;
    case 5: d[(int)far % 3] = 0; break;
    case 6:
      tb_copy3(o, a);
      tb_set3(d, 0, 0, 0);
      d[(int)(10 * far) % 3] = far > 1 ? 1 : -1;
      o[(int)(10 * far) % 3] -= 2 * d[(int)(10 * far) % 3];
      break;
    default:
      // Most of the others at something.
      for (int i = 0; i < 3; i++) d[i] = d[i] * 0.3 - o[i];
  }
}

static void tree_is_brute_force(void** state) {
  (void)state;
  tbRng rng = {(uint64_t)tb_test_setting("TRIBO_TEST_SEED", 7)};
  int rays = (int)tb_test_setting("TRIBO_TEST_RAYS", 4000);
  const tbRayTree none = {0};
  for (int m = 0; m < 8; m++) {
    const int sizes[] = {1, 8, 9, 50, 1000, MOST};
    if (m < 6) make_soup(&rng, sizes[m]);
    if (m >= 6) make_grid(30, m == 7);
    tbRayTree tree;
    assert_true(tb_ray_tree_build(&tree, mesh.vert, mesh.face, mesh.nface) > 0);
    int hits = 0;
    for (int k = 0; k < rays; k++) {
      tbReal pos[3] = {0}, mat[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, o[3], d[3], quat[4];
      aim(&rng, k % 8, o, d);
      // At the origin and at another pose, where degenerate cases are degenerate only up to
      // rounding.
      if (k % 16 >= 8) {
        for (int i = 0; i < 4; i++) quat[i] = tb_rng_normal(&rng);
        for (int i = 0; i < 3; i++) pos[i] = tb_rng_normal(&rng);
        tb_quat_normalize(quat);
        tb_quat_to_mat(mat, quat);
        tb_mul_mat3_vec3(o, mat, o);
        tb_add3(o, o, pos);
        tb_mul_mat3_vec3(d, mat, d);
      }
      tbReal all = tb_ray_mesh(&none, mesh.vert, mesh.face, mesh.nface, pos, mat, o, d, NULL);
      tbReal few = tb_ray_mesh(&tree, mesh.vert, mesh.face, mesh.nface, pos, mat, o, d, NULL);
      if (few != all) fail_msg("mesh %d, ray %d: %.17g, brute force %.17g", m, k, few, all);
      hits += all >= 0;
    }
    assert_true(hits > rays / 20);
    tb_ray_tree_free(&tree);
  }
}

// A mesh of nothing has no tree and is not hit.
static void nothing_is_not_hit(void** state) {
  (void)state;
  const tbReal zero[3] = {0}, same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, down[3] = {0, 0, -1};
  tbRayTree tree;
  assert_true(tb_ray_tree_build(&tree, mesh.vert, mesh.face, 0) == 0);
  assert_true(tb_ray_mesh(&tree, mesh.vert, mesh.face, 0, zero, same, zero, down, NULL) == -1);
  tb_ray_tree_free(&tree);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tree_is_brute_force),
                                     cmocka_unit_test(nothing_is_not_hit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
