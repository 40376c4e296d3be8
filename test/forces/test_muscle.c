// The muscle's curves at places where they can be read off: ends, tops and halves.
#include "common/test.h"
#include "forces/muscle.h"

// Lengths are those of the fibre: the range is one optimal length times 0.75 to 1.05.
static const tbReal RANGE[2] = {0.75, 1.05};
static const tbReal PRM[9] = {0.75, 1.05, 100, 200, 0.5, 1.6, 1.5, 1.3, 1.2};

static void force_over_length_is_a_bump(void** state) {
  (void)state;
  static const tbReal AT[][2] = {{0.4, 0},       {0.5, 0}, {0.625, 0.125}, {0.75, 0.5},
                                 {0.875, 0.875}, {1, 1},   {1.15, 0.875},  {1.3, 0.5},
                                 {1.45, 0.125},  {1.6, 0}, {1.7, 0}};
  for (size_t i = 0; i < sizeof AT / sizeof AT[0]; i++) {
    assert_near(tb_muscle_gain(AT[i][0], 0, RANGE, 1, PRM), -100 * AT[i][1], 1e-12);
  }
}

static void force_over_velocity_rises_to_its_bound(void** state) {
  (void)state;
  // Velocity over the largest, and the share of the force at rest.
  static const tbReal AT[][2] = {{-1.5, 0},   {-1, 0},    {-0.5, 0.25}, {0, 1},
                                 {0.1, 1.15}, {0.2, 1.2}, {0.5, 1.2}};
  const tbReal e = 1e-6;
  for (size_t i = 0; i < sizeof AT / sizeof AT[0]; i++) {
    tbReal v = 1.5 * AT[i][0];
    assert_near(tb_muscle_gain(1, v, RANGE, 1, PRM), -100 * AT[i][1], 1e-12);
    // Away from its kinks.
    v += 0.03;
    tbReal slope =
        (tb_muscle_gain(1, v + e, RANGE, 1, PRM) - tb_muscle_gain(1, v - e, RANGE, 1, PRM)) /
        (2 * e);
    assert_near(tb_muscle_gain_velocity(1, v, RANGE, 1, PRM), slope, 1e-7);
  }
}

// A negative force is a scale: the force is the scale over the acceleration of a unit force.
static void peak_force_follows_from_the_scale(void** state) {
  (void)state;
  tbReal prm[9];
  memcpy(prm, PRM, sizeof prm);
  prm[2] = -1;
  assert_near(tb_muscle_gain(1, 0, RANGE, 4, prm), -50, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(force_over_length_is_a_bump),
      cmocka_unit_test(force_over_velocity_rises_to_its_bound),
      cmocka_unit_test(peak_force_follows_from_the_scale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
