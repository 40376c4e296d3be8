// Four of many points: the contract of tb_spread_four by a search that knows nothing of registers,
// and plane on mesh by all vertices of hulls of every size.
#include "base/arena.h"
#include "collide/hull/hull.h"
#include "collide/reduction.h"
#include "common/test.h"
#include "spatial/quat.h"

// Twice the area of the triangle a, b, c; positive where c is right of the way from a to b.
static tbReal right_of(const tbContactReduction* p, int a, int b, int c) {
  return (p->v[b] - p->v[a]) * (p->u[c] - p->u[a]) - (p->u[b] - p->u[a]) * (p->v[c] - p->v[a]);
}

static tbReal distance2(const tbContactReduction* p, int a, int b) {
  tbReal u = p->u[a] - p->u[b], v = p->v[a] - p->v[b];
  return u * u + v * v;
}

static bool is_among(const int* list, int count, int i) {
  for (int k = 0; k < count; k++) {
    if (list[k] == i) return true;
  }
  return false;
}

// What point i adds to the triangle of `corner`: the area beside the edge that it is widest beside.
static tbReal gain_of(const tbContactReduction* p, const int corner[3], int i) {
  tbReal most = 0, sign = right_of(p, corner[0], corner[1], corner[2]) > 0 ? -1 : 1;
  for (int k = 0; k < 3; k++) {
    most = fmax(most, sign * right_of(p, corner[k], corner[(k + 1) % 3], i));
  }
  return most;
}

// Is the fourth the best beside the other three? Where it is one of them, nothing adds anything.
static bool is_best_fourth(const tbContactReduction* p, const int corner[3], int fourth,
                           tbReal span) {
  tbReal most = 0;
  for (int i = 0; i < p->count; i++) most = fmax(most, gain_of(p, corner, i));
  if (fourth == corner[2]) return most <= 1e-3 * span;
  return gain_of(p, corner, fourth) >= (1 - 1e-8) * most;
}

static void check_choice(const tbContactReduction* p, const int* chosen, int kept) {
  int deepest = 0, far;
  tbReal span = 0, width = 0;
  assert_in_range(kept, 1, 4);
  for (int i = 0; i < kept; i++) {
    assert_in_range(chosen[i], 0, p->count - 1);
    if (i > 0) assert_true(chosen[i] > chosen[i - 1]);
  }
  for (int i = 0; i < p->count; i++) {
    if (p->dist[i] < p->dist[deepest]) deepest = i;
  }
  far = deepest;
  for (int i = 0; i < p->count; i++) {
    if (distance2(p, deepest, i) > (1 + 1e-9) * span) {
      span = distance2(p, deepest, i);
      far = i;
    }
  }
  assert_true(is_among(chosen, kept, deepest));
  assert_true(is_among(chosen, kept, far));

  // Two more: one is the widest beside the line of these two, the other adds most to the three.
  for (int i = 0; i < p->count; i++) width = fmax(width, fabs(right_of(p, deepest, far, i)));
  if (!(width > 1e-3 * span)) {
    assert_true(kept <= 3);
    return;
  }
  int rest[2] = {deepest, deepest}, count = 0;
  for (int i = 0; i < kept; i++) {
    if (chosen[i] != deepest && chosen[i] != far) rest[count++] = chosen[i];
  }
  bool right = false;
  for (int k = 0; k < count; k++) {
    int corner[3] = {deepest, far, rest[k]};
    bool widest = fabs(right_of(p, deepest, far, rest[k])) >= (1 - 1e-8) * width;
    right |= widest && is_best_fourth(p, corner, rest[count == 2 ? 1 - k : k], span);
  }
  assert_true(right);
}

// Of random points, on a grid (ties everywhere), on a line, and on one place.
static void test_contract(void** state) {
  (void)state;
  tbRng rng = {3};
  int full = 0;
  for (int trial = 0; trial < 20000; trial++) {
    tbContactReduction p;
    int kind = trial % 4, chosen[4];
    p.count = 1 + tb_rng_int(&rng, trial % 8 == 0 ? TB_SPREAD_MAX : 12);
    tbReal size = pow(10, tb_rng_uniform(&rng, -4, 4));
    for (int i = 0; i < p.count; i++) {
      tbReal x = tb_rng_uniform(&rng, -1, 1), y = tb_rng_uniform(&rng, -1, 1);
      bool grid = kind == 1;
      p.u[i] = size * (kind == 3 ? 0.3 : (grid ? round(2 * x) : x));
      p.v[i] = size * (kind == 3 ? 0.3 : (grid ? round(2 * y) : (kind == 2 ? 0.7 * x : y)));
      p.dist[i] = grid ? 0.1 * tb_rng_int(&rng, 3) : tb_rng_uniform(&rng, -1, 0);
    }
    int kept = tb_spread_four(&p, chosen);
    check_choice(&p, chosen, kept);
    full += kept == 4;
    if (kind == 3) assert_int_equal(kept, 1);
    if (kind == 2) assert_true(kept <= 3);
  }
  assert_true(full > 5000);
}

// Points on a line keep the deepest and both ends.
static void test_line(void** state) {
  (void)state;
  tbContactReduction p = {.count = 10};
  int chosen[4];
  for (int i = 0; i < 10; i++) {
    p.u[i] = i;
    p.v[i] = 2 * i;
    p.dist[i] = i == 4 ? -1 : 0;
  }
  assert_int_equal(tb_spread_four(&p, chosen), 3);
  assert_int_equal(chosen[0], 0);
  assert_int_equal(chosen[1], 4);
  assert_int_equal(chosen[2], 9);
}

// Plane on a mesh of `size` points, deep enough for many vertices: contacts are vertices, the
// lowest of all is among them, and four of them span most of the area of all.
static void check_mesh(tbRng* rng, const tbHull* hull) {
  tbShape plane = {.type = TB_GEOM_PLANE}, mesh = {.type = TB_GEOM_MESH, .hull = hull};
  tbReal q[4], lowest = INFINITY, margin = 0.01, below = tb_rng_uniform(rng, 0, 0.3);
  tbContactPoint c[TB_MAX_PAIR_CONTACTS];
  int reach = 0;
  plane.mat[0] = plane.mat[4] = plane.mat[8] = 1;
  for (int i = 0; i < 4; i++) q[i] = tb_rng_normal(rng);
  tb_quat_normalize(q);
  tb_quat_to_mat(mesh.mat, q);
  for (int i = 0; i < hull->nvert; i++) {
    lowest = fmin(lowest, tb_dot3(mesh.mat + 6, hull->vert + 3 * i));
  }
  tb_set3(mesh.pos, 0.3, -0.2, -lowest - below);
  for (int i = 0; i < hull->nvert; i++) {
    reach += tb_dot3(mesh.mat + 6, hull->vert + 3 * i) + mesh.pos[2] <= margin;
  }
  int count = tb_collide(&plane, &mesh, margin, c, NULL);
  assert_int_equal(count > 0, reach > 0);
  assert_true(count <= 4 && count <= reach);
  if (reach <= 4) assert_int_equal(count, reach);
  if (reach > 6) assert_true(count >= 3);
  tbReal least = INFINITY;
  for (int i = 0; i < count; i++) {
    tbReal x[3], up[3];
    tb_mul_mat3_vec3(x, mesh.mat, hull->vert + 3 * c[i].feature);
    tb_add3(x, x, mesh.pos);
    tb_add_scaled3(up, c[i].pos, 0.5 * c[i].dist, c[i].frame);
    assert_near_array(up, x, 3, 1e-12);
    assert_near(c[i].dist, x[2], 1e-12);
    least = fmin(least, c[i].dist);
    for (int k = 0; k < i; k++) assert_true(c[i].feature != c[k].feature);
  }
  assert_near(least, -below, 1e-12);
}

static void test_plane_mesh(void** state) {
  (void)state;
  static const int sizes[] = {4, 5, 7, 8, 9, 30, 63, 64, 65, 100, 127, 128, 129, 400};
  tbRng rng = {8};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    tbArena arena;
    tbHull hull;
    tbError error;
    tbReal points[3 * 400];
    tb_arena_init(&arena);
    for (int i = 0; i < sizes[s]; i++) {
      tbReal* x = points + 3 * i;
      for (int k = 2; k >= 0; k--) x[k] = tb_rng_normal(&rng);
      tb_normalize3(x);
    }
    assert_int_equal(tb_hull_build(&hull, &arena, points, sizes[s], 0, NULL, &error), TB_OK);
    for (int round = 0; round < 300; round++) check_mesh(&rng, &hull);
    tb_arena_free(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_contract),
      cmocka_unit_test(test_line),
      cmocka_unit_test(test_plane_mesh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
