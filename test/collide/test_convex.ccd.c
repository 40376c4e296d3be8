// Against libccd, which knows shapes by support functions only: the same yes or
// no, its distance where apart, and never a shorter way out than ours where
// they overlap (its way out is not the shortest).
#include <ccd/ccd.h>

#include "common/shapes.h"
#include "spatial/vec3.h"

// Support point for libccd, from the parametrisation of the surfaces.
static void support(const void* object, const ccd_vec3_t* direction, ccd_vec3_t* out) {
  const tbShape* s = (const tbShape*)object;
  tbReal world[3] = {direction->v[0], direction->v[1], direction->v[2]}, d[3], p[3] = {0, 0, 0};
  tb_mul_mat3t_vec3(d, s->mat, world);
  tb_normalize3(d);
  const tbReal* r = s->size;
  tbReal across = hypot(d[0], d[1]);
  if (s->type == TB_GEOM_SPHERE) tb_scale3(p, d, r[0]);
  if (s->type == TB_GEOM_CAPSULE) {
    tb_scale3(p, d, r[0]);
    p[2] += d[2] > 0 ? r[1] : -r[1];
  }
  if (s->type == TB_GEOM_ELLIPSOID) {
    tbReal q[3] = {r[0] * d[0], r[1] * d[1], r[2] * d[2]};
    tb_normalize3(q);
    tb_set3(p, r[0] * q[0], r[1] * q[1], r[2] * q[2]);
  }
  if (s->type == TB_GEOM_CYLINDER) {
    tb_set3(p, across > 0 ? r[0] * d[0] / across : 0, across > 0 ? r[0] * d[1] / across : 0,
            d[2] > 0 ? r[1] : -r[1]);
  }
  if (s->type == TB_GEOM_BOX) {
    for (int i = 0; i < 3; i++) p[i] = d[i] > 0 ? r[i] : -r[i];
  }
  if (s->type == TB_GEOM_MESH) {
    int best = 0;
    for (int v = 1; v < s->hull->nvert; v++) {
      if (tb_dot3(s->hull->vert + 3 * v, d) > tb_dot3(s->hull->vert + 3 * best, d)) best = v;
    }
    tb_copy3(p, s->hull->vert + 3 * best);
  }
  tb_mul_mat3_vec3(p, s->mat, p);
  tb_add3(p, p, s->pos);
  ccdVec3Set(out, p[0], p[1], p[2]);
}

static void center(const void* object, ccd_vec3_t* out) {
  const tbShape* s = (const tbShape*)object;
  ccdVec3Set(out, s->pos[0], s->pos[1], s->pos[2]);
}

static void test_same_answer(void** state) {
  (void)state;
  ccd_t ccd;
  CCD_INIT(&ccd);
  ccd.support1 = ccd.support2 = support;
  ccd.center1 = ccd.center2 = center;
  ccd.max_iterations = 1000;
  ccd.mpr_tolerance = 1e-7;
  static const int types[] = {TB_GEOM_SPHERE,   TB_GEOM_CAPSULE, TB_GEOM_ELLIPSOID,
                              TB_GEOM_CYLINDER, TB_GEOM_BOX,     TB_GEOM_MESH};
  tbRng rng = {31};
  int overlaps = 0, apart = 0, equal = 0;
  for (int round = 0; round < 6000; round++) {
    tbShape a, b;
    tb_test_random_pair(&rng, types[round % 6], types[round / 6 % 6],
                        round % 2 ? TB_TEST_FREE : TB_TEST_SHALLOW, &a, &b);
    tbReal dist = tb_distance(&a, &b, NULL, NULL, NULL, NULL);
    // Its search leaves two balls that overlap by up to 4e-4 apart.
    bool balls = a.type == TB_GEOM_SPHERE && b.type == TB_GEOM_SPHERE;
    if (fabs(dist) < (balls ? 1e-3 : 1e-4)) continue;
    int touches = ccdGJKIntersect(&a, &b, &ccd);
    assert_int_equal(touches, dist < 0);
    apart += dist > 0;
    if (dist > 0) continue;
    ccd_real_t depth;
    ccd_vec3_t way, pos;
    if (ccdMPRPenetration(&a, &b, &ccd, &depth, &way, &pos) != 0) continue;
    // Its portals end within their tolerance of the surface.
    assert_true(-dist <= depth + 1e-4);
    overlaps++;
    equal += fabs(depth + dist) < 1e-3;
  }
  assert_true(overlaps > 1000 && apart > 1000);
  assert_true(equal > overlaps / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_answer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
