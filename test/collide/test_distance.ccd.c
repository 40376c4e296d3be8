// Signed distance against two slower ways: libccd's GJK and EPA for the depth, and a dense sampling
// of directions with refinement for both signs.
#include <ccd/ccd.h>
#include <ccd/vec3.h>

#include "common/shapes.h"

// A support point by the support function's gradient: central differences would do, but the shapes
// are simple enough to write out.
static void support_point(const void* object, const ccd_vec3_t* direction, ccd_vec3_t* out) {
  const tbShape* s = (const tbShape*)object;
  tbReal world[3] = {direction->v[0], direction->v[1], direction->v[2]}, d[3], x[3] = {0, 0, 0};
  const tbReal* size = s->size;
  tb_mul_mat3t_vec3(d, s->mat, world);
  tbReal length = tb_norm3(d), side = sqrt(d[0] * d[0] + d[1] * d[1]);
  if (length == 0) length = 1;
  if (s->type == TB_GEOM_SPHERE || s->type == TB_GEOM_CAPSULE) {
    tb_scale3(x, d, size[0] / length);
    if (s->type == TB_GEOM_CAPSULE) x[2] += d[2] > 0 ? size[1] : -size[1];
  } else if (s->type == TB_GEOM_CYLINDER) {
    tbReal scale = side > 0 ? size[0] / side : 0;
    tb_set3(x, d[0] * scale, d[1] * scale, d[2] > 0 ? size[1] : -size[1]);
  } else {
    for (int k = 0; k < 3; k++) x[k] = d[k] > 0 ? size[k] : -size[k];
  }
  tb_mul_mat3_vec3(world, s->mat, x);
  tb_add3(world, world, s->pos);
  ccdVec3Set(out, world[0], world[1], world[2]);
}

static const int pairs[][2] = {
    {TB_GEOM_SPHERE, TB_GEOM_CAPSULE},  {TB_GEOM_SPHERE, TB_GEOM_BOX},
    {TB_GEOM_SPHERE, TB_GEOM_CYLINDER}, {TB_GEOM_CAPSULE, TB_GEOM_CAPSULE},
    {TB_GEOM_CAPSULE, TB_GEOM_BOX},     {TB_GEOM_BOX, TB_GEOM_BOX}};
#define NPAIRS ((int)(sizeof(pairs) / sizeof(pairs[0])))

// EPA's depth comes from below, exact for boxes and within its tolerance for round shapes; now and
// then it stops early, so nearly all depths must agree, not all.
static void test_against_epa(void** state) {
  (void)state;
  ccd_t ccd;
  CCD_INIT(&ccd);
  ccd.support1 = ccd.support2 = support_point;
  ccd.max_iterations = 500;
  ccd.epa_tolerance = 1e-6;
  for (int p = 0; p < NPAIRS; p++) {
    tbRng rng = {(uint64_t)p};
    int compared = 0, equal = 0, disagree = 0;
    bool boxes = pairs[p][0] == TB_GEOM_BOX;
    for (int i = 0; i < 1500; i++) {
      tbShape a, b;
      tb_test_random_pair(&rng, pairs[p][0], pairs[p][1], i % 2 ? TB_TEST_FREE : TB_TEST_SHALLOW,
                          &a, &b);
      tbReal dist = tb_distance(&a, &b, NULL, NULL, NULL, NULL);
      ccd_real_t depth;
      ccd_vec3_t direction, position;
      bool hit = ccdGJKPenetration(&a, &b, &ccd, &depth, &direction, &position) == 0;
      if (fabs(dist) > 1e-4) disagree += hit != (dist < 0);
      if (!hit || dist > -1e-3) continue;
      compared++;
      equal += fabs(depth + dist) < (boxes ? 1e-6 : 2e-3);

      // Its polytope lies inside the Minkowski difference.
      assert_true(depth <= -dist + 1e-6);
    }
    print_message("%s-%s: %d depths compared, %d equal, %d disagree on touching\n",
                  tb_geom_type_name(pairs[p][0]), tb_geom_type_name(pairs[p][1]), compared, equal,
                  disagree);
    assert_true(compared > 400);
    assert_true(equal > 0.9 * compared);
    assert_true(disagree < 15);
  }
}

// The best of many directions, improved by shrinking random steps.
static tbReal sampled_distance(tbRng* rng, const tbShape* a, const tbShape* b) {
  tbReal best = -INFINITY, best_d[3] = {1, 0, 0};
  for (int i = 0; i < 4000; i++) {
    tbReal d[3];
    tb_test_random_direction(rng, d);
    tbReal s = tb_test_separation(a, b, d);
    if (s > best) {
      best = s;
      tb_copy3(best_d, d);
    }
  }
  tbReal step = 0.05;
  for (int i = 0; i < 3000; i++) {
    tbReal d[3];
    tb_test_random_direction(rng, d);
    tb_add_scaled3(d, best_d, step, d);
    tb_normalize3(d);
    tbReal s = tb_test_separation(a, b, d);
    if (s > best) {
      best = s;
      tb_copy3(best_d, d);
    } else {
      step = fmax(0.99 * step, 1e-9);
    }
  }
  return best;
}

static void test_against_sampling(void** state) {
  (void)state;
  for (int p = 0; p < NPAIRS; p++) {
    tbRng rng = {(uint64_t)p + 50};
    for (int i = 0; i < 60; i++) {
      tbShape a, b;
      tb_test_random_pair(&rng, pairs[p][0], pairs[p][1], i % 2 ? TB_TEST_FREE : TB_TEST_SHALLOW,
                          &a, &b);
      tbReal dist = tb_distance(&a, &b, NULL, NULL, NULL, NULL);
      tbReal sampled = sampled_distance(&rng, &a, &b);
      assert_true(sampled <= dist + 1e-9);
      assert_true(sampled >= dist - 0.02);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_epa),
                                     cmocka_unit_test(test_against_sampling)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
