// Closed forms of contact in frames of the tests' own: gravity, floors and bodies turned any way,
// sizes and masses that nothing else here has. Each under the laws that the closed form is of.
#include "common/turned.h"
#include "spatial/vec3.h"

static const tbReal GRAVITY = 9.81;
static const tbReal X[3] = {1, 0, 0};

// --- sliding and rolling -----------------------------------------------------------------------

// A brick thrown flat along a floor goes straight, turns nowhere and stops where the sum of its
// speeds says.
static void brick_stops_where_it_should(void** state) {
  (void)state;
  const tbReal mu = 0.37, speed = 2.3, h = 1e-3, way = 0.7;
  for (int k = 0; k < TB_TURNS; k++) {
    tbTurned t =
        tb_turned(k, h, (tbReal[3]){0, 0, -GRAVITY},
                  "<geom type='plane' size='9 9 .1' friction='.37'/><body pos='0 0 .04'>"
                  "<freejoint/><geom type='box' size='.15 .1 .04' mass='3.7' friction='.37'/>"
                  "</body>",
                  "");
    t.w.m->opt.solve_tolerance = 1e-10;
    const tbReal along[3] = {cos(way), sin(way), 0}, across[3] = {-sin(way), cos(way), 0};
    tb_turned_throw(t, 1, (tbReal[3]){speed * along[0], speed * along[1], 0}, (tbReal[3]){0});
    tbReal distance = 0, at[3], axis[3];
    for (tbReal v = speed - mu * GRAVITY * h; v > 0; v -= mu * GRAVITY * h) distance += h * v;
    tb_world_run_solved(t.w, 800);
    tb_turned_place(t, 1, at);
    tb_turned_axis(t, 1, 0, axis);
    assert_near(tb_dot3(at, along), distance, 2e-9);
    assert_near(tb_dot3(at, across), 0, 2e-9);
    assert_near(at[2], 0.04, 2e-8);
    assert_near_array(axis, X, 3, 1e-7);
    tb_world_free(t.w);
  }
}

// A brick on a slope a thousandth below and above the friction angle.
static void edge_of_stick(void** state) {
  (void)state;
  const tbReal mu = 0.37, way = 2.1;
  for (int k = 0; k < TB_TURNS * 2; k++) {
    int slips = k % 2;
    tbReal theta = atan(mu * (slips ? 1.001 : 0.999)), s = GRAVITY * sin(theta);
    tbTurned t =
        tb_turned(k / 2, 2e-3, (tbReal[3]){s * cos(way), s * sin(way), -GRAVITY * cos(theta)},
                  "<geom type='plane' size='9 9 .1' friction='.37'/><body pos='0 0 .03'>"
                  "<freejoint/><geom type='box' size='.15 .11 .03' mass='.8' friction='.37'/>"
                  "</body>",
                  "");
    t.w.m->opt.solve_tolerance = 1e-10;
    tb_world_run_solved(t.w, 500);
    tbReal v[3], expected = slips ? s - mu * GRAVITY * cos(theta) : 0;
    tb_turned_look(t, t.w.d->qvel, v);
    assert_near(v[0] * cos(way) + v[1] * sin(way), expected, 1e-6);
    assert_near(v[1] * cos(way) - v[0] * sin(way), 0, 1e-6);
    tb_world_free(t.w);
  }
}

// Down a slope of 0.3 rad: a ball at 5/7, a cylinder at 2/3, a hoop at 1/2 of g sin.
static void round_things_roll(void** state) {
  (void)state;
  static const struct {
    const char* geom;
    tbReal share;
  } THINGS[] = {
      {"<geom size='.07' mass='2'/>", 5.0 / 7},
      {"<geom type='cylinder' size='.07 .2' mass='2' quat='1 1 0 0'/>", 2.0 / 3},
      {"<inertial pos='0 0 0' mass='2' diaginertia='.02 .0098 .02'/><geom type='cylinder' "
       "size='.07 .2' quat='1 1 0 0'/>",
       0.5}};
  const int laws[] = {TB_LAW_NCP, TB_LAW_CCP, TB_LAW_LCP, TB_LAW_RAISIM};
  for (int k = 0; k < TB_TURNS * TB_COUNT(THINGS) * TB_COUNT(laws); k++) {
    int thing = k / TB_TURNS % TB_COUNT(THINGS);
    char bodies[512];
    snprintf(bodies, sizeof bodies,
             "<geom type='plane' size='9 9 .1'/><body pos='0 0 .07'><freejoint/>%s</body>",
             THINGS[thing].geom);
    tbTurned t = tb_turned(k % TB_TURNS, 2e-3,
                           (tbReal[3]){GRAVITY * sin(0.3), 0, -GRAVITY * cos(0.3)}, bodies, "");
    t.w.m->opt.law = laws[k / TB_TURNS / TB_COUNT(THINGS)];
    tb_world_run_solved(t.w, 250);
    tbReal v[3];
    tb_turned_look(t, t.w.d->qvel, v);
    assert_near(v[0], THINGS[thing].share * GRAVITY * sin(0.3) * t.w.d->time, 1e-5);
    assert_near(v[1], 0, 1e-6);
    tb_world_free(t.w);
  }
}

// A wheel on a hinge of a sled that slides without friction climbs a slope by a motor's torque.
static void driven_wheel_climbs(void** state) {
  (void)state;
  for (int k = 0; k < TB_TURNS; k++) {
    const tbReal slope = 0.2, torque = 0.9, r = 0.12, sled = 2, wheel = 1.5;
    tbTurned t = tb_turned(
        k, 2e-3, (tbReal[3]){-GRAVITY * sin(slope), 0, -GRAVITY * cos(slope)},
        "<geom type='plane' size='9 9 .1'/><body pos='0 0 .12'><joint type='slide' axis='1 0 0'/>"
        "<joint type='slide' axis='0 0 1'/><geom type='box' size='.2 .05 .05' pos='0 .2 0' "
        "mass='2'/><body><joint name='axle' axis='0 1 0'/><geom type='cylinder' size='.12 .03' "
        "quat='1 1 0 0' mass='1.5'/></body></body>",
        "<actuator><motor joint='axle'/></actuator>");
    t.w.d->ctrl[0] = torque;
    tb_world_run_solved(t.w, 250);
    // the wheel's own inertia turns along: m + I / r^2
    tbReal pull = torque / r - (sled + wheel) * GRAVITY * sin(slope);
    tbReal a = pull / (sled + 1.5 * wheel);
    assert_near(t.w.d->qvel[0], a * t.w.d->time, 1e-5);
    assert_near(t.w.d->qvel[0], r * t.w.d->qvel[2], 1e-5);
    tb_world_free(t.w);
  }
}

// --- impacts -----------------------------------------------------------------------------------

// A ball dropped from 0.8 m with e = 0.7 comes back to e^2 of the height, and again.
static void ball_bounces(void** state) {
  (void)state;
  const int laws[] = {TB_LAW_NCP, TB_LAW_CCP, TB_LAW_LCP, TB_LAW_RAISIM};
  for (int k = 0; k < TB_TURNS * TB_COUNT(laws); k++) {
    tbTurned t = tb_turned(k % TB_TURNS, 5e-4, (tbReal[3]){0, 0, -GRAVITY},
                           "<geom type='plane' size='9 9 .1'/><body pos='0 0 .85'><freejoint/>"
                           "<geom size='.05' mass='.4' restitution='.7'/></body>",
                           "");
    t.w.m->opt.law = laws[k / TB_TURNS];
    tbReal top[3] = {0}, last = -1, at[3], v[3];
    for (int i = 0, peak = 0; i < 4000 && peak < 3; i++) {
      tb_world_run_solved(t.w, 1);
      tb_turned_look(t, t.w.d->qvel, v);
      tb_turned_place(t, 1, at);
      if (last > 0 && v[2] <= 0) top[peak++] = at[2] - 0.05;
      last = v[2];
    }
    assert_near(top[0], 0.8 * 0.49, 2e-3);
    assert_near(top[1], 0.8 * 0.49 * 0.49, 2e-3);
    assert_near(top[2], 0.8 * 0.49 * 0.49 * 0.49, 2e-3);
    tb_world_free(t.w);
  }
}

// A ball against the end of a rod that floats: speed and spin of an impact off the centre.
static void rod_is_struck_at_its_end(void** state) {
  (void)state;
  const tbReal m = 0.5, M = 1.2, speed = 3, arm = 0.35, e = 0.6;
  const int laws[] = {TB_LAW_NCP, TB_LAW_CCP, TB_LAW_LCP, TB_LAW_RAISIM};
  for (int k = 0; k < TB_TURNS * TB_COUNT(laws); k++) {
    tbTurned t =
        tb_turned(k % TB_TURNS, 1e-3, (tbReal[3]){0},
                  "<body><freejoint/><geom type='box' size='.4 .02 .03' mass='1.2' "
                  "restitution='.6' friction='0'/></body><body pos='.35 -.15 0'><freejoint/>"
                  "<geom size='.04' mass='.5' friction='0'/></body>",
                  "");
    t.w.m->opt.law = laws[k / TB_TURNS];
    tb_turned_throw(t, 2, (tbReal[3]){0, speed, 0}, (tbReal[3]){0});
    tb_world_run_solved(t.w, 60);
    const tbReal inertia = M / 3 * (0.4 * 0.4 + 0.02 * 0.02);
    const tbReal impulse = (1 + e) * speed / (1 / m + 1 / M + arm * arm / inertia);
    tbReal v[3];
    tb_turned_look(t, t.w.d->qvel, v);
    assert_near(v[1], impulse / M, 3e-6);
    assert_near(t.w.d->qvel[5], impulse * arm / inertia, 3e-6);
    tb_turned_look(t, t.w.d->qvel + 6, v);
    assert_near(v[1], speed - impulse / m, 3e-6);
    tb_world_free(t.w);
  }
}

// A wheel of ten spokes without a rim rolls down a slope at McGeer's speed: right after a spoke has
// landed, w^2 = 4 (m g l / J) sin a sin s r^2 / (1 - r^2) with r = 1 - m l^2 (1 - cos 2a) / J.
static void rimless_wheel_settles(void** state) {
  (void)state;
  enum { SPOKES = 10 };
  const tbReal l = 0.5, m = 4, inertia = 0.3, slope = 0.06, a = TB_PI / SPOKES, tip = 0.002;
  char bodies[8192];
  int n = snprintf(bodies, sizeof bodies,
                   "<geom type='plane' size='30 9 .1'/><body pos='0 0 %.17g' quat='%.17g 0 %.17g "
                   "0'><joint type='slide' axis='%.17g 0 %.17g'/><joint type='slide' axis='%.17g 0 "
                   "%.17g'/><joint axis='0 1 0'/><inertial pos='0 0 0' mass='4' diaginertia='.3 .3 "
                   ".3'/>",
                   l * cos(a) + tip, cos(a / 2), sin(a / 2), cos(a), sin(a), -sin(a), cos(a));
  for (int i = 0; i < SPOKES; i++) {
    n += snprintf(bodies + n, sizeof bodies - (size_t)n, "<geom size='.002' pos='%.17g 0 %.17g'/>",
                  l * sin(2 * a * i), l * cos(2 * a * i));
  }
  snprintf(bodies + n, sizeof bodies - (size_t)n, "</body>");
  const tbReal J = inertia + m * l * l, r = 1 - m * l * l * (1 - cos(2 * a)) / J;
  const tbReal w2 = 4 * m * GRAVITY * l / J * sin(a) * sin(slope) * r * r / (1 - r * r);
  for (int k = 0; k < TB_TURNS; k++) {
    tbTurned t =
        tb_turned(k, 5e-4, (tbReal[3]){GRAVITY * sin(slope), 0, -GRAVITY * cos(slope)}, bodies, "");
    const tbReal start[3] = {2 * l * cos(a), 2 * l * sin(a), 2};
    memcpy(t.w.d->qvel, start, sizeof start);
    // right before a landing it is fastest
    tbReal fastest = 0;
    tb_world_run_solved(t.w, 12000);
    for (int i = 0; i < 2000; i++) {
      tb_world_run_solved(t.w, 1);
      fastest = fmax(fastest, t.w.d->qvel[2]);
    }
    assert_near(fastest, sqrt(w2) / r, 0.005);
    tb_world_free(t.w);
  }
}

// At long steps a box that starts at rest within reach of one step's fall stops on the floor.
static void long_steps_do_not_sink(void** state) {
  (void)state;
  const int laws[] = {TB_LAW_NCP, TB_LAW_CCP, TB_LAW_LCP, TB_LAW_RAISIM};
  const tbReal steps[] = {0.01, 0.02, 0.05, 0.1};
  for (int k = 0; k < TB_TURNS * TB_COUNT(laws) * TB_COUNT(steps); k++) {
    tbReal h = steps[k / TB_TURNS / TB_COUNT(laws)], fall = h * h * GRAVITY;
    char bodies[256];
    snprintf(bodies, sizeof bodies,
             "<geom type='plane' size='9 9 .1'/><body pos='0 0 %.17g'><freejoint/><geom type='box' "
             "size='.2 .15 .1'/></body>",
             0.1 + 0.6 * fall);
    tbTurned t = tb_turned(k % TB_TURNS, h, (tbReal[3]){0, 0, -GRAVITY}, bodies, "");
    t.w.m->opt.law = laws[k / TB_TURNS % TB_COUNT(laws)];
    for (int i = 0; i < 5; i++) {
      tbReal at[3];
      tb_world_run_solved(t.w, 1);
      tb_turned_place(t, 1, at);
      assert_near(at[2], 0.1, 1e-6);
    }
    tb_world_free(t.w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(brick_stops_where_it_should),
      cmocka_unit_test(edge_of_stick),
      cmocka_unit_test(round_things_roll),
      cmocka_unit_test(driven_wheel_climbs),
      cmocka_unit_test(ball_bounces),
      cmocka_unit_test(rod_is_struck_at_its_end),
      cmocka_unit_test(rimless_wheel_settles),
      cmocka_unit_test(long_steps_do_not_sink),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
