// Actuators at sites with a reference site, and strings: lengths and moments by hand.
#include "common/worlds.h"

static const char ARM[] =
    "<mujoco><worldbody><site name='origin'/><site name='turned' quat='1 0 0 1'/>"
    "<body><joint axis='0 0 1'/><geom size='.1'/><site name='tip' pos='.5 0 0'/></body>"
    "</worldbody><actuator>"
    "<general site='tip' refsite='origin' gear='3 0 0 0 0 0'/>"
    "<general site='tip' refsite='turned' gear='3 0 0 0 0 0'/>"
    "<general site='tip' refsite='origin' gear='0 0 0 0 0 2'/>"
    "<general site='tip' refsite='turned' gear='0 0 0 0 0 2'/>"
    "</actuator></mujoco>";

static void pose_in_the_reference_along_the_gear(void** state) {
  (void)state;
  tbWorld w = tb_world_text(ARM);
  for (tbReal q = -1.5; q < 1.5; q += 0.25) {
    w.d->qpos[0] = q;
    tb_compute_position(w.m, w.d);
    // The x axis of `turned` is the world's y axis, and it is turned by a quarter about z.
    tbReal length[4] = {1.5 * cos(q), 1.5 * sin(q), 2 * q, 2 * (q - 0.5 * 3.14159265358979323846)};
    tbReal slope[4] = {-1.5 * sin(q), 1.5 * cos(q), 2, 2}, moment[4];
    tb_full_moment(w.m, w.d, moment);
    assert_near_array(w.d->actuator_length, length, 4, 1e-12);
    assert_near_array(moment, slope, 4, 1e-12);
  }
  tb_world_free(w);
}

// A string across a cylinder of radius 0.2. With a side site within that radius the string runs
// inside the cylinder and touches its wall from within, which a straight string does; with a side
// site farther out, on the same line along the axis, it wraps around that side.
static void side_sites_are_inside_within_the_radius(void** state) {
  (void)state;
  for (int outside = 0; outside < 2; outside++) {
    char xml[600];
    snprintf(xml, sizeof xml,
             "<mujoco><worldbody><geom name='g' type='cylinder' size='0.2 1'/><site name='s' "
             "pos='0 0.1 %g'/><site name='a' pos='-0.4 0 0'/><site name='b' pos='0.4 0 0'/>"
             "</worldbody><tendon><spatial><site site='a'/><geom geom='g' sidesite='s'/>"
             "<site site='b'/></spatial></tendon></mujoco>",
             outside ? 0.18 : 0.17);
    tbWorld w = tb_world_text(xml);
    tb_compute_position(w.m, w.d);
    // Two tangents of 60 degrees, and the arc between them.
    tbReal round = 2 * sqrt(0.4 * 0.4 - 0.2 * 0.2) + 0.2 * 3.14159265358979323846 / 3;
    assert_near(w.d->ten_length[0], outside ? round : 0.8, 1e-12);
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pose_in_the_reference_along_the_gear),
      cmocka_unit_test(side_sites_are_inside_within_the_radius),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
