// Polytopes against an exact reference: the depth of overlapping polytopes is
// the smallest over all face normals and all cross products of edges
// (separating axes), which shares no code with EPA.
#include "collide/hull/hull.h"
#include "common/shapes.h"
#include "spatial/vec3.h"

#ifdef TB_WITH_QHULL

static void try_axis(const tbShape* a, const tbShape* b, const tbReal axis[3], tbReal* best) {
  tbReal n[3], back[3];
  tb_copy3(n, axis);
  tbReal length = tb_normalize3(n);
  if (!(length > 1e-9)) return;
  tb_scale3(back, n, -1);
  *best = fmax(*best, tb_test_separation(a, b, n));
  *best = fmax(*best, tb_test_separation(a, b, back));
}

static int unique_edges(const tbShape* s, tbReal edge[][3]) {
  const tbHull* h = s->hull;
  int count = 0;
  for (int v = 0; v < h->nvert; v++) {
    for (int k = h->adj_start[v]; k < h->adj_start[v + 1]; k++) {
      if (h->adj[k] < v) continue;
      tbReal e[3];
      tb_sub3(e, h->vert + 3 * h->adj[k], h->vert + 3 * v);
      tb_normalize3(e);
      tb_mul_mat3_vec3(edge[count++], s->mat, e);
    }
  }
  return count;
}

// Largest separation over all axes where one can lie when the polytopes
// overlap.
static tbReal exact_separation(const tbShape* a, const tbShape* b) {
  static tbReal ea[4096][3], eb[4096][3];
  tbReal best = -INFINITY, axis[3];
  for (int side = 0; side < 2; side++) {
    const tbShape* s = side ? b : a;
    for (int f = 0; f < s->hull->nface; f++) {
      tb_mul_mat3_vec3(axis, s->mat, s->hull->plane + 4 * f);
      try_axis(a, b, axis, &best);
    }
  }
  int na = unique_edges(a, ea), nb = unique_edges(b, eb);
  for (int i = 0; i < na; i++) {
    for (int j = 0; j < nb; j++) {
      tb_cross(axis, ea[i], eb[j]);
      try_axis(a, b, axis, &best);
    }
  }
  return best;
}

// A random hull, stretched; sometimes of points on a grid, so that faces have
// many corners.
static void random_hull(tbRng* rng, tbArena* arena, tbHull* hull) {
  tbReal points[3 * 24], stretch[3];
  for (;;) {
    int n = 4 + tb_rng_int(rng, 20), grid = tb_rng_int(rng, 3) == 0;
    for (int k = 0; k < 3; k++) stretch[k] = tb_rng_uniform(rng, 0.1, 0.6);
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < 3; k++) {
        points[3 * i + k] =
            stretch[k] * (grid ? tb_rng_int(rng, 3) - 1 : tb_rng_uniform(rng, -1, 1));
      }
    }
    if (tb_hull_build(hull, arena, points, n, 0, NULL, NULL) == TB_OK) return;
  }
}

static tbShape mesh(tbRng* rng, const tbHull* hull) {
  tbShape s = {.type = TB_GEOM_MESH, .hull = hull};
  tb_test_random_rotation(rng, s.mat);
  return s;
}

static void test_depth_is_exact(void** state) {
  (void)state;
  tbRng rng = {17};
  tbArena arena;
  tb_arena_init(&arena);
  int overlaps = 0;
  for (int round = 0; round < 1500; round++) {
    tbHull ha, hb;
    random_hull(&rng, &arena, &ha);
    random_hull(&rng, &arena, &hb);
    tbShape a = mesh(&rng, &ha), b = mesh(&rng, &hb);
    if (round % 4 == 0) memcpy(b.mat, a.mat, sizeof b.mat);
    for (int k = 0; k < 3; k++) b.pos[k] = (round % 7 ? 0.3 : 0) * tb_rng_normal(&rng);
    tbReal expected = exact_separation(&a, &b);
    tbReal dist = tb_distance(&a, &b, NULL, NULL, NULL, NULL);
    // Apart, axes are only a lower bound.
    assert_true(dist >= expected - 1e-12);
    if (expected < 0) {
      overlaps++;
      assert_near(dist, expected, 1e-11);
      // Shallow and touching versions of the same contact.
      tbReal n[3];
      tb_distance(&a, &b, NULL, NULL, n, NULL);
      tbReal wanted = round % 3 ? -tb_rng_uniform(&rng, 0, 1e-3) : 0;
      tb_add_scaled3(b.pos, b.pos, wanted - dist, n);
      assert_near(tb_distance(&a, &b, NULL, NULL, NULL, NULL), exact_separation(&a, &b), 1e-11);
    }
    tb_arena_reset(&arena);
  }
  assert_true(overlaps > 500);
  tb_arena_free(&arena);
}

// The answer with a warm start is the answer without, along a path with contact
// and without.
static void test_warm_start(void** state) {
  (void)state;
  tbRng rng = {23};
  tbArena arena;
  tb_arena_init(&arena);
  static const int types[] = {TB_GEOM_MESH, TB_GEOM_BOX, TB_GEOM_CYLINDER, TB_GEOM_ELLIPSOID,
                              TB_GEOM_CAPSULE};
  for (int round = 0; round < 60; round++) {
    tbHull ha, hb;
    random_hull(&rng, &arena, &ha);
    random_hull(&rng, &arena, &hb);
    tbShape a = mesh(&rng, &ha), b = tb_test_random_shape(&rng, types[round % 5]);
    if (b.type == TB_GEOM_MESH) b.hull = &hb;
    tbCollideCache warm = {.state = 0};
    tbReal way[3];
    tb_test_random_direction(&rng, way);
    for (int step = 0; step < 50; step++) {
      tb_scale3(b.pos, way, 1.2 - 0.03 * step);
      tbContactPoint c[TB_MAX_PAIR_CONTACTS], d[TB_MAX_PAIR_CONTACTS];
      int count = tb_collide(&a, &b, 0.01, c, &warm), cold = tb_collide(&a, &b, 0.01, d, NULL);
      assert_true((count > 0) == (cold > 0));
      tbReal deepest = INFINITY, expected = INFINITY;
      for (int i = 0; i < count; i++) deepest = fmin(deepest, c[i].dist);
      for (int i = 0; i < cold; i++) expected = fmin(expected, d[i].dist);
      if (count > 0) assert_near(deepest, expected, 1e-6);
    }
    tb_arena_reset(&arena);
  }
  tb_arena_free(&arena);
}

// Flat things rest flat: polygons, discs and prisms on top of each other have
// three contacts or more around the centre of mass, all equally deep.
static void test_rests_flat(void** state) {
  (void)state;
  tbRng rng = {29};
  tbArena arena;
  tb_arena_init(&arena);
  for (int round = 0; round < 300; round++) {
    // A prism over a regular polygon, as a mesh file has it, and its like.
    int n = 3 + tb_rng_int(&rng, 30);
    tbReal points[2 * 33 * 3];
    for (int i = 0; i < 2 * n; i++) {
      tbReal angle = 6.283185307179586 * (i / 2) / n;
      tb_set3(points + 3 * i, (float)(0.2 * cos(angle)), (float)(0.2 * sin(angle)),
              i % 2 ? 0.1 : -0.1);
    }
    tbHull hull;
    assert_int_equal(tb_hull_build(&hull, &arena, points, 2 * n, 0, NULL, NULL), TB_OK);
    static const int types[] = {TB_GEOM_MESH, TB_GEOM_BOX, TB_GEOM_CYLINDER};
    int ta = types[round % 3], tb = types[round / 3 % 3];
    tbShape a = {.type = ta, .size = {0.2, ta == TB_GEOM_BOX ? 0.2 : 0.1, 0.1}, .hull = &hull};
    tbShape b = {.type = tb, .size = {0.15, tb == TB_GEOM_BOX ? 0.15 : 0.1, 0.1}, .hull = &hull};
    for (int side = 0; side < 2; side++) {
      tbReal turn = tb_rng_uniform(&rng, 0, 6), *m = side ? b.mat : a.mat;
      m[0] = m[4] = cos(turn);
      m[3] = sin(turn);
      m[1] = -m[3];
      m[8] = 1;
    }
    for (int k = 1; k >= 0; k--) b.pos[k] = tb_rng_uniform(&rng, -0.03, 0.03);
    b.pos[2] = 0.2 - 1e-4;
    tbContactPoint c[TB_MAX_PAIR_CONTACTS];
    int count = tb_collide(&a, &b, 0, c, NULL);
    assert_in_range(count, 3, TB_MAX_MANIFOLD);
    // The centre of b is inside the polygon of contacts: every direction has
    // one on its far side.
    for (int k = 0; k < 12; k++) {
      tbReal far = -1, angle = 6.283185307179586 * k / 12;
      for (int i = 0; i < count; i++) {
        assert_near(c[i].frame[2], 1, 1e-9);
        assert_near(c[i].dist, -1e-4, 1e-7);
        far = fmax(far,
                   (c[i].pos[0] - b.pos[0]) * cos(angle) + (c[i].pos[1] - b.pos[1]) * sin(angle));
      }
      assert_true(far > 0.02);
    }
    tb_arena_reset(&arena);
  }
  tb_arena_free(&arena);
}

// Edges parallel but for 1e-8, found by a long run: the corner where they cross is known to little
// more than that, but the deepest contact has the distance.
static void test_deepest_is_the_distance(void** state) {
  (void)state;
  tbShape a = {.type = TB_GEOM_CAPSULE, .size = {0.25, 0.125}, .mat = {1, 0, 0, 0, 0, -1, 0, 1, 0}};
  tbShape b = {
      .type = TB_GEOM_MESH,
      .pos = {0.375, 0.125, 0.5},
      .mat = {-1.9076440696043491e-09, -1, -1.034109067276876e-09, -1.4617643693466024e-08,
              1.034109095162137e-09, -1, 1, -1.9076440544881107e-09, -1.4617643695438737e-08}};
  for (int h = 0; h < TB_TEST_NHULLS; h++) {
    b.hull = tb_test_hull(h);
    tbContactPoint c[TB_MAX_PAIR_CONTACTS];
    int count = tb_collide(&a, &b, 1, c, NULL);
    tbReal dist = tb_distance(&a, &b, NULL, NULL, NULL, NULL), deepest = INFINITY;
    for (int i = 0; i < count; i++) deepest = fmin(deepest, c[i].dist);
    assert_true(count > 0);
    assert_near(deepest, dist, 1e-12);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_depth_is_exact),
      cmocka_unit_test(test_warm_start),
      cmocka_unit_test(test_rests_flat),
      cmocka_unit_test(test_deepest_is_the_distance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
  return 0;
}

#endif
