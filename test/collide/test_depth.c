// The fast methods for depth against the general ones, which share no code with them but the
// support functions: a cylinder and a box by their candidate directions, two hulls by the polytope
// without links, and the searches of a hull's farthest vertex.
#include <string.h>

#include "collide/convex/convex.h"
#include "collide/hull/cells.h"
#include "common/shapes.h"

// A pair, and the direction from centre to centre.
static void set_pair(const tbShape* a, const tbShape* b, tbConvexPair* pair, tbConvexResult* r) {
  memset(r, 0, sizeof *r);
  tb_convex_pair_init(pair, a, b);
  tb_copy3(r->normal, pair->pos);
  if (!(tb_normalize3(r->normal) > 0)) r->normal[2] = 1;
}

// As box and cylinder the pair uses the local maximisation and, without a proof of its optimum,
// EPA. The result is a lower bound of the distance, and mostly the distance.
static void test_cylinder_box(void** state) {
  (void)state;
  int overlaps = 0, equal = 0;
  for (int placement = 0; placement < TB_TEST_NPLACEMENTS; placement++) {
    tbRng rng = {(uint64_t)placement + 77};
    for (int i = 0; i < 3000; i++) {
      tbShape a, b;
      tbConvexPair pair, swapped;
      tbConvexResult r, general;
      tb_test_random_pair(&rng, TB_GEOM_CYLINDER, TB_GEOM_BOX, (tbTestPlacement)placement, &a, &b);
      set_pair(&a, &b, &pair, &r);
      set_pair(&b, &a, &swapped, &general);
      bool answered = tb_depth_cylinder_box(&pair, INFINITY, &r);
      tb_convex_solve(&swapped, INFINITY, &general);
      if (!answered) {
        assert_true(general.dist > -1e-6 * pair.scale);
        continue;
      }
      // The separation along its normal is the reported distance.
      tbSupportPoint at;
      assert_near(tb_pair_separation(&pair, r.normal, &at), r.dist, 1e-13 * pair.scale);
      assert_true(general.dist <= r.dist + 1e-8 * pair.scale);
      overlaps++;
      equal += fabs(general.dist - r.dist) <= 1e-8 * pair.scale;

      // And with a limit below the distance it says that they are apart.
      if (i % 8 == 0) {
        tb_add_scaled3(pair.pos, pair.pos, 0.1 - r.dist, r.normal);
        assert_true(tb_depth_cylinder_box(&pair, 0.05, &r));
        assert_int_equal(r.state, TB_CONVEX_APART);
        assert_true(r.dist > 0.05 && r.dist <= 0.1 + 1e-9);
      }
    }
  }
  print_message("%d of %d equal\n", equal, overlaps);
  assert_true(overlaps > 4000 && equal >= 0.999 * overlaps);
}

#ifdef TB_WITH_QHULL

// Points of an ellipsoid, or of a grid: many equal values.
static void random_hull(tbRng* rng, tbArena* arena, int count, bool grid, tbHull* hull) {
  tbReal* points = TB_ARENA_NEW(arena, tbReal, 3 * count);
  for (int i = 0; i < count; i++) {
    tb_test_random_direction(rng, points + 3 * i);
    for (int k = 0; k < 3 && grid; k++) points[3 * i + k] = 0.25 * floor(4 * points[3 * i + k]);
    // A turned part: along its axis a whole rim contends.
    if (count == 400 && grid) {
      tbReal angle = 6.283185307179586 * i / count;
      tb_set3(points + 3 * i, cos(angle), sin(angle), i % 2);
    }
    points[3 * i] *= 1.5;
  }
  assert_int_equal(tb_hull_build(hull, arena, points, count, 0, NULL, NULL), TB_OK);
}

static void test_search(void** state) {
  (void)state;
  static const int counts[] = {8, 17, 50, 64, 100, 128, 129, 400, 1500, 5000};
  tbRng rng = {3};
  int climbs = 0;
  tbArena arena;
  tb_arena_init(&arena);
  for (size_t c = 0; c < 2 * sizeof counts / sizeof counts[0]; c++) {
    tbHull hull;
    random_hull(&rng, &arena, counts[c / 2], c % 2 && counts[c / 2] > 20, &hull);
    assert_true(hull.cache->lanes || hull.cache->cells);
    for (int i = 0; i < 500; i++) {
      tbReal d[3], most = -INFINITY;
      int first = 0;
      tb_test_random_direction(&rng, d);
      for (int k = 0; k < 3 && i % 3 == 0; k++) d[k] = floor(2 * d[k]);
      // On borders between cells, and a hair beside them.
      if (hull.cache->cells && i % 3 == 1) {
        int axis = i % 9 / 3, side = hull.cache->side;
        tbReal hair = i % 2 ? 0 : tb_rng_normal(&rng) * 1e-15;
        d[axis] = d[axis] < 0 ? -1 : 1;
        d[(axis + 1) % 3] = 2.0 * tb_rng_int(&rng, side + 1) / side - 1 + hair;
        d[(axis + 2) % 3] = 2.0 * tb_rng_int(&rng, side + 1) / side - 1;
        tb_scale3(d, d, tb_rng_uniform(&rng, 0.1, 10));
      }
      for (int v = 0; v < hull.nvert; v++) {
        tbReal along = tb_dot3(hull.vert + 3 * v, d);
        first = along > most ? v : first;
        most = along > most ? along : most;
      }
      int found = tb_hull_support(&hull, d, -1);
      assert_near(tb_dot3(hull.vert + 3 * found, d), most, 1e-14 * hull.radius);
      bool climb = false;
      if (hull.cache->cells) tb_hull_cells_find(&hull, d, &climb);
      climbs += climb;
      if (!climb) assert_int_equal(found, first);
    }
    // Directions that are none still give a vertex.
    tbReal odd[4][3] = {{0, 0, 0}, {NAN, 1, 0}, {INFINITY, 0, 0}, {1e308, -1e308, 1e308}};
    for (int i = 0; i < 4; i++) {
      assert_in_range(tb_hull_support(&hull, odd[i], -1), 0, hull.nvert - 1);
    }
    tb_arena_reset(&arena);
  }
  print_message("%d of %d searches climb\n", climbs, 20 * 500);
  assert_true(climbs > 0 && climbs < 500);
  tb_arena_free(&arena);
}

// The support point of a pair is the pair of support points of both hulls, to the bit, also along
// borders of cells and for the zero direction; and from the vertices of a simplex GJK continues in
// a new pose.
static void test_pair_search(void** state) {
  (void)state;
  static const int counts[] = {20, 24, 50, 128, 300, 1500};
  tbRng rng = {5};
  tbArena arena;
  tb_arena_init(&arena);
  int cold = 0, warm = 0;
  for (int c = 0; c < 36; c++) {
    tbHull ha, hb;
    random_hull(&rng, &arena, counts[c % 6], c % 4 == 0 && counts[c % 6] > 20, &ha);
    random_hull(&rng, &arena, counts[c / 6], false, &hb);
    tbShape a = {.type = TB_GEOM_MESH, .hull = &ha}, b = {.type = TB_GEOM_MESH, .hull = &hb};
    for (int i = 0; i < 3; i++) a.mat[4 * i] = b.mat[4 * i] = 1;
    if (c % 3) tb_test_random_rotation(&rng, b.mat);
    tb_test_random_direction(&rng, b.pos);
    tb_scale3(b.pos, b.pos, 4);
    tbConvexPair pair;
    tbConvexResult r, again;
    set_pair(&a, &b, &pair, &r);
    for (int i = 0; i < 400; i++) {
      tbReal n[3], d[3];
      tb_test_random_direction(&rng, n);
      for (int k = 0; k < 3 && i % 3 == 0; k++) n[k] = floor(8 * n[k]);
      if (i == 1) tb_set3(n, NAN, 0, 1);
      if (i == 2) tb_set3(n, INFINITY, 0, 1);
      tb_mul_mat3t_vec3(d, pair.mat, n);
      tb_scale3(d, d, -1);
      tbSupportPoint at;
      tb_pair_support(&pair, n, &at);
      assert_in_range(at.ia, 0, ha.nvert - 1);
      assert_in_range(at.ib, 0, hb.nvert - 1);
      if (i == 1 || i == 2) continue;
      assert_int_equal(at.ia, tb_hull_support(&ha, n, -1));
      assert_int_equal(at.ib, tb_hull_support(&hb, d, -1));
    }
    // A small motion: one or two points prove that the simplex still is the nearest.
    tb_gjk(&pair, INFINITY, 1e-12, 1, &r);
    assert_int_equal(r.state, TB_CONVEX_NEAR);
    pair.pos[c % 3] += 1e-4;
    pair.evaluations = 0;
    again = r;
    assert_true(tb_gjk_again(&pair, INFINITY, 1e-12, &again));
    warm += pair.evaluations;
    pair.evaluations = 0;
    tb_gjk(&pair, INFINITY, 1e-12, 1, &r);
    cold += pair.evaluations;
    assert_near(again.dist, r.dist, 1e-12);
    again.simplex[0].ia = ha.nvert;
    assert_false(tb_gjk_again(&pair, INFINITY, 1e-12, &again));
    tb_arena_reset(&arena);
  }
  print_message("%d support points, %d from the last direction\n", warm, cold);
  assert_true(2 * warm < cold);
  tb_arena_free(&arena);
}

// Somewhere around the origin, turned at random or as `like` is.
static void place_near(tbRng* rng, const tbShape* like, tbShape* shape) {
  tb_test_random_rotation(rng, shape->mat);
  if (like) memcpy(shape->mat, like->mat, sizeof shape->mat);
  tb_test_random_direction(rng, shape->pos);
  tb_scale3(shape->pos, shape->pos, tb_rng_uniform(rng, 0, 2));
}

// A cylinder and hulls, round ones and ones with many equal edges, compared with the local
// maximisation and EPA, which the pair uses if the hull is first.
static void test_cylinder_hull(void** state) {
  (void)state;
  tbRng rng = {11};
  tbArena arena;
  tb_arena_init(&arena);
  int overlaps = 0, equal = 0;
  for (int i = 0; i < 1500; i++) {
    tbHull hull;
    tbShape a = tb_test_random_shape(&rng, TB_GEOM_CYLINDER);
    tbShape b = {.type = TB_GEOM_MESH, .hull = &hull};
    random_hull(&rng, &arena, 30 + tb_rng_int(&rng, 60), i % 3 == 0, &hull);
    assert_true(tb_depth_cylinder_hull_fits(&hull));
    place_near(&rng, i % 5 == 0 ? &a : NULL, &b);
    tbConvexPair pair, swapped;
    tbConvexResult r, general;
    set_pair(&a, &b, &pair, &r);
    set_pair(&b, &a, &swapped, &general);
    bool answered = tb_depth_cylinder_hull(&pair, INFINITY, &r);
    tb_convex_solve(&swapped, INFINITY, &general);
    if (i % 4 == 0) tb_test_contract(&rng, &a, &b, 0.05, 1e-6);
    if (answered) {
      tbSupportPoint at;
      assert_near(tb_pair_separation(&pair, r.normal, &at), r.dist, 1e-13 * pair.scale);
      assert_true(general.dist <= r.dist + 1e-8 * pair.scale);
      overlaps++;
      equal += fabs(general.dist - r.dist) <= 1e-8 * pair.scale;
    } else {
      assert_true(general.dist > -1e-6 * pair.scale);
    }
    tb_arena_reset(&arena);
  }
  print_message("%d of %d equal\n", equal, overlaps);
  assert_true(overlaps > 700 && equal >= 0.995 * overlaps);
  tb_arena_free(&arena);
}

// A box and hulls against the polytope, which the pair takes with the hull first: both are exact.
// Boxes as the hull's axes lie, too, where edges are parallel to edges and faces to faces.
static void test_box_hull(void** state) {
  (void)state;
  tbRng rng = {13};
  tbArena arena;
  tb_arena_init(&arena);
  int overlaps = 0, answers = 0;
  for (int i = 0; i < 3000; i++) {
    tbHull hull;
    tbShape a = tb_test_random_shape(&rng, TB_GEOM_BOX);
    tbShape b = {.type = TB_GEOM_MESH, .hull = &hull};
    random_hull(&rng, &arena, 8 + tb_rng_int(&rng, 110), i % 3 == 0, &hull);
    place_near(&rng, i % 5 == 0 ? &a : NULL, &b);
    tbConvexPair pair, swapped;
    tbConvexResult r, general;
    set_pair(&a, &b, &pair, &r);
    set_pair(&b, &a, &swapped, &general);
    // Sheets are left to the polytope.
    bool fits = tb_depth_box_hull_fits(&hull);
    bool answered = fits && tb_depth_box_hull(&pair, INFINITY, &r);
    tb_convex_solve(&swapped, INFINITY, &general);
    if (i % 4 == 0) tb_test_contract(&rng, &a, &b, 0.05, 1e-9);
    if (answered) {
      tbSupportPoint at;
      assert_near(tb_pair_separation(&pair, r.normal, &at), r.dist, 1e-11 * pair.scale);
      assert_near(general.dist, r.dist, 1e-10 * pair.scale);
      overlaps++;
      tb_add_scaled3(pair.pos, pair.pos, 0.1 - r.dist, r.normal);
      assert_true(tb_depth_box_hull(&pair, 0.05, &r));
      assert_int_equal(r.state, TB_CONVEX_APART);
      assert_true(r.dist > 0.05 && r.dist <= 0.1 + 1e-9);
    } else if (fits) {
      assert_true(general.dist > -1e-10 * pair.scale);
    }
    answers += fits;
    tb_arena_reset(&arena);
  }
  print_message("%d overlaps, %d of 3000 hulls fit\n", overlaps, answers);
  assert_true(overlaps > 1500 && answers > 2700);
  tb_arena_free(&arena);
}

// Hulls up to sizes where brute force (test_polytope.c) is too slow, deep and shallow.
static void test_hulls(void** state) {
  (void)state;
  tbRng rng = {5};
  tbArena arena;
  tb_arena_init(&arena);
  int answered = 0, overlaps = 0;
  for (int i = 0; i < 400; i++) {
    tbHull hull[2];
    tbShape s[2] = {{.type = TB_GEOM_MESH, .hull = &hull[0]},
                    {.type = TB_GEOM_MESH, .hull = &hull[1]}};
    for (int k = 0; k < 2; k++) {
      random_hull(&rng, &arena, 30 + tb_rng_int(&rng, 200), i % 5 == 0, &hull[k]);
      tb_test_random_rotation(&rng, s[k].mat);
    }
    tb_test_random_direction(&rng, s[1].pos);
    tb_scale3(s[1].pos, s[1].pos, tb_rng_uniform(&rng, 0.5, 2.2));
    tbConvexPair pair, other;
    tbConvexResult r, general;
    set_pair(&s[0], &s[1], &pair, &r);
    set_pair(&s[0], &s[1], &other, &general);
    bool ok = tb_depth(&pair, &r);
    tb_gjk(&other, INFINITY, 1e-14, 1, &general);
    if (general.state == TB_CONVEX_NEAR) {
      assert_false(ok);
      tb_arena_reset(&arena);
      continue;
    }
    tb_epa(&other, 1e-14, &general);
    overlaps++;
    answered += ok;
    if (ok) assert_near(r.dist, general.dist, 1e-12 * pair.scale);
    tb_arena_reset(&arena);
  }
  print_message("%d of %d answered\n", answered, overlaps);
  assert_true(overlaps > 150 && answered > 0.95 * overlaps);
  tb_arena_free(&arena);
}

// Hulls that are barely apart: GJK continues from the points of the search for their depth, and
// ends with the same distance as from a direction alone.
static void test_hardly_apart(void** state) {
  (void)state;
  static const tbReal gaps[] = {1e-3, 1e-5, 1e-7};
  tbRng rng = {17};
  tbArena arena;
  tb_arena_init(&arena);
  int pairs = 0, from = 0, cold = 0;
  for (int i = 0; i < 300; i++) {
    tbHull hull[2];
    tbShape s[2] = {{.type = TB_GEOM_MESH, .hull = &hull[0]},
                    {.type = TB_GEOM_MESH, .hull = &hull[1]}};
    for (int k = 0; k < 2; k++) {
      random_hull(&rng, &arena, 30 + tb_rng_int(&rng, 300), i % 5 == 0, &hull[k]);
      place_near(&rng, k && i % 7 == 0 ? &s[0] : NULL, &s[k]);
    }
    tbConvexPair pair, other;
    tbConvexResult r, general;
    set_pair(&s[0], &s[1], &pair, &r);
    tb_convex_solve(&pair, INFINITY, &r);
    tb_add_scaled3(pair.pos, pair.pos, gaps[i % 3] - r.dist, r.normal);
    tb_copy3(r.normal, pair.pos);
    tb_normalize3(r.normal);
    r.count = 0;
    general = r;
    other = pair;
    // The way of a whole solve, and the same without the points.
    pair.evaluations = other.evaluations = 0;
    tb_convex_solve(&pair, 1, &r);
    if (!tb_depth(&other, &general)) {
      from += pair.evaluations - other.evaluations;
      other.evaluations = 0;
      tb_gjk(&other, 1, 1e-14, 1, &general);
      cold += other.evaluations;
      pairs++;
    }
    assert_int_equal(r.state, TB_CONVEX_NEAR);
    assert_near(r.dist, gaps[i % 3], 1e-10);
    assert_near(r.dist, general.dist, 1e-12);
    tb_arena_reset(&arena);
  }
  print_message("%d pairs: %d support points, %d from a direction alone\n", pairs, from, cold);
  assert_true(pairs > 250 && 2 * from < cold);
  tb_arena_free(&arena);
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cylinder_box),
#ifdef TB_WITH_QHULL
      cmocka_unit_test(test_search),        cmocka_unit_test(test_pair_search),
      cmocka_unit_test(test_cylinder_hull), cmocka_unit_test(test_box_hull),
      cmocka_unit_test(test_hulls),         cmocka_unit_test(test_hardly_apart),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
