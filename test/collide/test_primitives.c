// The contract of tribo/collide.h for every closed-form pair, over random and degenerate poses. Set
// TRIBO_TEST_POSES for a longer run, TRIBO_TEST_SEED for other poses.
#include "common/shapes.h"

static const int pairs[][2] = {
    {TB_GEOM_PLANE, TB_GEOM_SPHERE},    {TB_GEOM_PLANE, TB_GEOM_CAPSULE},
    {TB_GEOM_PLANE, TB_GEOM_ELLIPSOID}, {TB_GEOM_PLANE, TB_GEOM_CYLINDER},
    {TB_GEOM_PLANE, TB_GEOM_BOX},       {TB_GEOM_PLANE, TB_GEOM_MESH},
    {TB_GEOM_SPHERE, TB_GEOM_SPHERE},   {TB_GEOM_SPHERE, TB_GEOM_CAPSULE},
    {TB_GEOM_SPHERE, TB_GEOM_CYLINDER}, {TB_GEOM_SPHERE, TB_GEOM_BOX},
    {TB_GEOM_CAPSULE, TB_GEOM_CAPSULE}, {TB_GEOM_CAPSULE, TB_GEOM_BOX},
    {TB_GEOM_BOX, TB_GEOM_BOX},
};
#define NPAIRS ((int)(sizeof(pairs) / sizeof(pairs[0])))

static void test_contract(void** state) {
  (void)state;
  int poses = tb_test_setting("TRIBO_TEST_POSES", 800),
      seed = tb_test_setting("TRIBO_TEST_SEED", 0);
  for (int p = 0; p < NPAIRS; p++) {
    for (int placement = 0; placement < TB_TEST_NPLACEMENTS; placement++) {
      tbRng rng = {(uint64_t)(1000 * p + placement) + ((uint64_t)seed << 32)};
      for (int i = 0; i < poses; i++) {
        tbShape a, b;
        tb_test_random_pair(&rng, pairs[p][0], pairs[p][1], (tbTestPlacement)placement, &a, &b);
        tbReal margin = i % 2 ? 0 : tb_rng_uniform(&rng, 0, 0.1);
        tb_test_contract(&rng, &a, &b, margin, 1e-9);
        if (i % 4 == 0) tb_test_contract(&rng, &b, &a, margin, 1e-9);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_contract)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
