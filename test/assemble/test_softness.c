// The reference value for the softness of an equality (docs/notebook/contact-rows.md eq. 7).
#include "common/worlds.h"
#include "assemble/assemble.h"

// The diagonal y of G itself in usual poses; near a singular one a tenth of the weight w takes its
// place, half way (a quarter of it) at y = w / 1000. The slope is that of the function.
static void a_share_of_the_weight_near_singular_poses(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><body name='a'><freejoint/><geom size='.1' mass='2'/></body><body "
      "name='b' pos='1 0 0'><freejoint/><geom size='.1' mass='3'/></body></worldbody><equality>"
      "<connect body1='a' body2='b' anchor='.5 0 0'/></equality></mujoco>");
  const tbConstraint c = {.source = TB_SOURCE_EQUALITY, .id = 0, .dim = 3};
  tbReal slope;
  // vanishing y: a tenth of the weight, which is that of two bodies
  tbReal weight = 10 * tb_equality_scale(w.m, &c, 0, 1e-12, &slope);
  assert_true(weight > 1.0 / 2 + 1.0 / 3 - 1e-6);
  assert_near(tb_equality_scale(w.m, &c, 0, 1e-3 * weight, &slope), (1e-3 + 0.025) * weight, 1e-9);
  assert_near(tb_equality_scale(w.m, &c, 0, weight, &slope), weight, 1e-6 * weight);
  assert_near(slope, 1, 1e-6);
  for (tbReal y = 1e-5 * weight; y < weight; y *= 3) {
    tbReal step = 1e-6 * y, unused;
    tbReal above = tb_equality_scale(w.m, &c, 0, y + step, &unused);
    tbReal below = tb_equality_scale(w.m, &c, 0, y - step, &unused);
    tb_equality_scale(w.m, &c, 0, y, &slope);
    assert_near(slope, (above - below) / (2 * step), 1e-5);
  }
  // a row that no dof moves keeps its value
  assert_near(tb_equality_scale(w.m, &c, 0, 0, &slope), 0, 0);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_share_of_the_weight_near_singular_poses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
