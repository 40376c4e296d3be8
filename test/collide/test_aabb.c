// World boxes against support functions along the axes.
#include "collide/bounds.h"
#include "common/shapes.h"

static void test_bounds(void** state) {
  (void)state;
  tbRng rng = {2};
  for (int type = TB_GEOM_SPHERE; type < TB_NGEOMTYPES; type++) {
    for (int i = 0; i < 2000; i++) {
      tbShape s = tb_test_random_shape(&rng, type);
      for (int k = 0; k < 3; k++) s.pos[k] = tb_rng_uniform(&rng, -2, 2);
      tbReal low[3], high[3];
      tb_shape_aabb(&s, low, high);
      for (int k = 0; k < 3; k++) {
        tbReal d[3] = {0, 0, 0};
        d[k] = 1;
        assert_near(high[k], tb_test_support(&s, d), 1e-13);
        d[k] = -1;
        assert_near(low[k], -tb_test_support(&s, d), 1e-13);
      }
    }
  }
}

// Bounds placed in a pose contain the smallest box, with no more room than single precision asks
// for; for meshes no more than the mesh's own box, or the ball around that, does.
static void test_placed_bounds(void** state) {
  (void)state;
  tbRng rng = {3};
  for (int type = TB_GEOM_SPHERE; type < TB_NGEOMTYPES; type++) {
    for (int i = 0; i < 2000; i++) {
      tbShape s = tb_test_random_shape(&rng, type);
      for (int k = 0; k < 3; k++) s.pos[k] = tb_rng_uniform(&rng, -2, 2);
      tbReal margin = tb_rng_uniform(&rng, 0, 0.1), least[3], most[3], d[3];
      tbBounds bounds;
      tbAabb box;
      assert_true(tb_shape_bounds(&s, &bounds));
      tb_bounds_place(&bounds, s.pos, s.mat, margin, &box);
      tb_shape_aabb(&s, least, most);
      for (int k = 0; k < 3; k++) {
        tbReal low = box.low[k], high = box.high[k], room = high - low - 2 * margin;
        assert_true(low <= least[k] - margin && high >= most[k] + margin);
        if (type != TB_GEOM_MESH) {
          assert_near(low, least[k] - margin, 2e-6);
          assert_near(high, most[k] + margin, 2e-6);
        } else {
          assert_true(room <= 2 * tb_norm3(bounds.half) + 2e-6 && room <= 2 * bounds.reach + 2e-6);
        }
      }
      // Along any direction at least the support function, for all but meshes just that.
      for (int k = 0; k < 3; k++) d[k] = tb_rng_normal(&rng);
      tb_normalize3(d);
      tbReal along = tb_bounds_along(&bounds, s.mat, d) + tb_dot3(d, s.pos);
      tbReal support = tb_test_support(&s, d);
      assert_true(along >= support - 1e-13);
      if (type != TB_GEOM_MESH) assert_near(along, support, 1e-13);
    }
  }
  tbShape plane = {.type = TB_GEOM_PLANE};
  tbBounds bounds;
  assert_false(tb_shape_bounds(&plane, &bounds));

  // Not a number: nothing.
  tbShape ball = {.type = TB_GEOM_SPHERE, .size = {1}, .mat = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  tbAabb box;
  assert_true(tb_shape_bounds(&ball, &bounds));
  ball.pos[1] = NAN;
  tb_bounds_place(&bounds, ball.pos, ball.mat, 0, &box);
  assert_true(box.low[0] > box.high[0] && box.low[2] > box.high[2]);
}

// A plane is bounded only above, and only where its normal is an axis; a height field by its solid.
static void test_unbounded(void** state) {
  (void)state;
  tbShape plane = {.type = TB_GEOM_PLANE, .pos = {1, 2, 3}, .mat = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  tbReal low[3], high[3];
  tb_shape_aabb(&plane, low, high);
  assert_near(high[2], 3, 0);
  assert_true(isinf(low[0]) && isinf(low[1]) && isinf(low[2]) && isinf(high[0]) && isinf(high[1]));

  static const tbReal data[4] = {0, 1, 0.5, 0};
  tbHField field = {.nrow = 2, .ncol = 2, .size = {2, 3, 0.5, 0.25}, .data = data};
  tbShape ground = {.type = TB_GEOM_HFIELD, .mat = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .hfield = &field};
  tb_shape_aabb(&ground, low, high);
  const tbReal want_low[3] = {-2, -3, -0.25}, want_high[3] = {2, 3, 0.5};
  assert_near_array(low, want_low, 3, 1e-15);
  assert_near_array(high, want_high, 3, 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounds),
                                     cmocka_unit_test(test_placed_bounds),
                                     cmocka_unit_test(test_unbounded)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
