// The certificate of a depth by a subdivision of the sphere, against the polytope and against many
// local searches, and the start direction of the search for two cylinders.
#include <string.h>

#include "collide/convex/convex.h"
#include "common/shapes.h"

static const int pairs[][2] = {
    {TB_GEOM_CYLINDER, TB_GEOM_CYLINDER},   {TB_GEOM_ELLIPSOID, TB_GEOM_CYLINDER},
    {TB_GEOM_ELLIPSOID, TB_GEOM_ELLIPSOID}, {TB_GEOM_ELLIPSOID, TB_GEOM_BOX},
    {TB_GEOM_ELLIPSOID, TB_GEOM_MESH},      {TB_GEOM_CAPSULE, TB_GEOM_CYLINDER},
};
#define NPAIRS ((int)(sizeof(pairs) / sizeof(pairs[0])))
#define CLIMBS 30

// The local search from a direction.
static tbAscent climb(tbConvexPair* pair, const tbReal n[3], tbConvexResult* r) {
  memset(r, 0, sizeof *r);
  tb_copy3(r->normal, n);
  r->dist = -INFINITY;
  return tb_normal_ascent(pair, INFINITY, r);
}

// The best result of local searches from many directions of the sphere.
static tbReal best_of_many(tbRng* rng, tbConvexPair* pair) {
  tbReal best = -INFINITY, d[3];
  for (int i = 0; i < CLIMBS; i++) {
    tbConvexResult r;
    tb_test_random_direction(rng, d);
    if (climb(pair, d, &r) >= TB_ASCENT_LOCAL && r.dist > best) best = r.dist;
  }
  return best;
}

// From any local optimum: a certified depth is never exceeded, and a rejected one has a better
// direction.
static void check_optimum(tbRng* rng, tbConvexPair* pair, const tbConvexResult* local,
                          int counts[3]) {
  tbConvexResult r = *local;
  tbReal small = 1e-7 * pair->scale;
  tbDepthCertificate cover = tb_depth_certificate(pair, &r);
  counts[cover]++;
  if (cover == TB_COVER_BETTER) {
    tbSupportPoint at;
    assert_near(tb_norm3(r.normal), 1, 1e-12);
    assert_true(tb_pair_separation(pair, r.normal, &at) > local->dist);
  }
  if (cover != TB_COVER_PROVEN) return;
  assert_true(best_of_many(rng, pair) <= local->dist + small);
  tbConvexResult general;
  memset(&general, 0, sizeof general);
  tb_copy3(general.normal, local->normal);
  tb_epa(pair, 1e-7, &general);
  assert_near(general.dist, local->dist, 2 * small);
}

static void test_cover(void** state) {
  (void)state;
  for (int p = 0; p < NPAIRS; p++) {
    int counts[3] = {0, 0, 0};
    tbRng rng = {(uint64_t)p + 5};
    // Two cylinders have their own subdivision.
    int poses = p == 0 ? 12000 : 3000;
    for (int i = 0; i < poses; i++) {
      tbShape a, b;
      tbReal d[3];
      tbConvexPair pair;
      tbConvexResult r;
      tbTestPlacement placement = (tbTestPlacement)(i % TB_TEST_NPLACEMENTS);
      tb_test_random_pair(&rng, pairs[p][0], pairs[p][1], placement, &a, &b);
      tb_convex_pair_init(&pair, &a, &b);
      tb_test_random_direction(&rng, d);
      if (climb(&pair, d, &r) == TB_ASCENT_LOCAL) check_optimum(&rng, &pair, &r, counts);
    }
    print_message("%s-%s: %d proven, %d better, %d open\n", tb_geom_type_name(pairs[p][0]),
                  tb_geom_type_name(pairs[p][1]), counts[TB_COVER_PROVEN], counts[TB_COVER_BETTER],
                  counts[TB_COVER_OPEN]);
    // Shapes that are curved everywhere have no sector with constant features: left to the
    // polytope.
    if (p == 0) {
      assert_true(counts[TB_COVER_PROVEN] > 5 * counts[TB_COVER_OPEN]);
      assert_true(counts[TB_COVER_BETTER] > 100);
    }
  }
}

// Coins, rods and needles overlap deeply, so that many directions are nearly the deepest. Local
// searches start at directions all over the sphere, and along and across both axes; each result is
// compared with the best one. The mirror image of a result across the plane of the axes is worse,
// and must never be certified.
static void test_cylinder_cover_deep(void** state) {
  (void)state;
  enum { STARTS = 14 };
  tbRng rng = {12};
  int counts[3] = {0, 0, 0}, mirrored = 0;
  for (int i = 0; i < 6000; i++) {
    tbShape shape[2];
    tbConvexPair pair;
    tbConvexResult end[STARTS];
    tbReal best = -INFINITY, e[3];
    int count = 0;
    for (int k = 0; k < 2; k++) {
      shape[k] = tb_test_random_shape(&rng, TB_GEOM_CYLINDER);
      for (int c = 0; c < 2; c++) shape[k].size[c] = exp(tb_rng_uniform(&rng, log(0.01), log(1)));
    }
    for (int c = 0; c < 3; c++) shape[1].pos[c] = shape[0].pos[c] + 0.1 * tb_rng_normal(&rng);
    tb_convex_pair_init(&pair, &shape[0], &shape[1]);
    const tbReal z[3] = {pair.mat[2], pair.mat[5], pair.mat[8]};
    tb_set3(e, -z[1], z[0], 0);
    if (!(tb_normalize3(e) > 1e-2)) continue;
    for (int k = 0; k < STARTS; k++) {
      tbReal n[3];
      tb_test_random_direction(&rng, n);
      for (int c = 0; c < 3 && k < 6; c++)
        n[c] = 0.01 * n[c] + (k < 2 ? c == 2 : k < 4 ? z[c] : e[c]);
      if (k < 6 && k % 2) tb_scale3(n, n, -1);
      tb_normalize3(n);
      if (climb(&pair, n, &end[count]) == TB_ASCENT_LOCAL) best = fmax(best, end[count++].dist);
    }
    tbReal small = 1e-7 * pair.scale;
    for (int k = 0; k < count; k++) {
      tbConvexResult r = end[k];
      tbSupportPoint at;
      tbDepthCertificate cover = tb_cylinder_certificate(&pair, &r);
      counts[cover]++;
      if (cover == TB_COVER_PROVEN) assert_true(best <= r.dist + small);
      if (cover == TB_COVER_BETTER) {
        assert_true(tb_pair_separation(&pair, r.normal, &at) > end[k].dist);
      }
      r = end[k];
      tb_add_scaled3(r.normal, r.normal, -2 * tb_dot3(r.normal, e), e);
      r.dist = tb_pair_separation(&pair, r.normal, &at);
      if (r.dist >= end[k].dist - small) continue;
      mirrored++;
      assert_int_not_equal(tb_cylinder_certificate(&pair, &r), TB_COVER_PROVEN);
    }
  }
  print_message("deep: %d proven, %d better, %d open, %d mirror images\n", counts[TB_COVER_PROVEN],
                counts[TB_COVER_BETTER], counts[TB_COVER_OPEN], mirrored);
  int total = counts[TB_COVER_PROVEN] + counts[TB_COVER_BETTER] + counts[TB_COVER_OPEN];
  assert_true(counts[TB_COVER_OPEN] < 0.06 * total && mirrored > 1000);
}

// Two cylinders: the start is a unit vector whose separation is at least that of the directions it
// is made of, and a local search from it mostly ends on the deepest of all.
static void test_cylinder_start(void** state) {
  (void)state;
  tbRng rng = {9};
  int right = 0, total = 0;
  for (int i = 0; i < 4000; i++) {
    tbShape a, b;
    tbConvexPair pair;
    tbConvexResult r;
    tbSupportPoint at;
    tbReal n[3], axis[3], side[3];
    tb_test_random_pair(&rng, TB_GEOM_CYLINDER, TB_GEOM_CYLINDER, TB_TEST_SHALLOW, &a, &b);
    tb_convex_pair_init(&pair, &a, &b);
    if (!tb_cylinder_start(&pair, INFINITY, n)) continue;
    assert_near(tb_norm3(n), 1, 1e-12);
    tbAscent ascent = climb(&pair, n, &r);
    tbReal top = r.dist, slack = 1e-9 * pair.scale;
    if (ascent < TB_ASCENT_LOCAL) continue;
    for (int sign = -1; sign <= 1; sign += 2) {
      tb_set3(axis, 0, 0, sign);
      assert_true(tb_pair_separation(&pair, axis, &at) <= top + slack);
      tb_set3(axis, sign * pair.mat[2], sign * pair.mat[5], sign * pair.mat[8]);
      assert_true(tb_pair_separation(&pair, axis, &at) <= top + slack);
      tb_set3(side, -sign * pair.mat[5], sign * pair.mat[2], 0);
      if (tb_normalize3(side) > 1e-2) {
        assert_true(tb_pair_separation(&pair, side, &at) <= top + slack);
      }
    }
    tbReal best = best_of_many(&rng, &pair);
    right += best <= top + slack;
    total++;
  }
  print_message("%d of %d starts end on the deepest\n", right, total);
  assert_true(total > 3900 && right > 0.97 * total);
}

// Axes that are parallel, in one line, or of length zero.
static void test_cylinder_start_odd(void** state) {
  (void)state;
  tbRng rng = {10};
  for (int i = 0; i < 3000; i++) {
    tbShape a, b;
    tbConvexPair pair;
    tbReal n[3];
    tbTestPlacement placement = i % 2 ? TB_TEST_ALIGNED : TB_TEST_NEARLY;
    tb_test_random_pair(&rng, TB_GEOM_CYLINDER, TB_GEOM_CYLINDER, placement, &a, &b);
    if (i % 5 == 0) tb_copy3(b.pos, a.pos);
    if (i % 7 == 0) a.size[0] = 0;
    if (i % 11 == 0) b.size[1] = 0;
    tb_convex_pair_init(&pair, &a, &b);
    if (tb_cylinder_start(&pair, 0, n)) assert_near(tb_norm3(n), 1, 1e-12);
    tb_test_contract(&rng, &a, &b, 0.05, 1e-6);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cover),
      cmocka_unit_test(test_cylinder_cover_deep),
      cmocka_unit_test(test_cylinder_start),
      cmocka_unit_test(test_cylinder_start_odd),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
