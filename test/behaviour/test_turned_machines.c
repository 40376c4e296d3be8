// Mechanisms and toys with a closed form or a known outcome, their frames turned any way: ladder,
// pulleys, gears, tops, tippe top, rattleback, tautochrone, Euler's disk, linkages, limits.
#include "common/turned.h"
#include "spatial/vec3.h"

static const tbReal GRAVITY = 9.81;

// A ladder slides down a wall without friction: w^2 = 3 g (sin a0 - sin a) / L, and it leaves the
// wall with (sin a0)^(3/2) sqrt(g L) / 3, its speed along the floor from then on.
static void ladder_leaves_the_wall(void** state) {
  (void)state;
  const tbReal L = 1.3, start = 1.2;
  const int laws[] = {TB_LAW_NCP, TB_LAW_CCP, TB_LAW_LCP, TB_LAW_RAISIM};
  char bodies[1024];
  snprintf(
      bodies, sizeof bodies,
      "<geom type='plane' size='9 9 .1' condim='1'/><geom type='plane' size='9 9 .1' quat='1 0 "
      "1 0' condim='1'/><body pos='%.17g 0 %.17g'><freejoint/><inertial pos='0 0 0' mass='2' "
      "diaginertia='%.17g %.17g 1e-3'/><geom size='.01' pos='%.17g 0 %.17g' condim='1'/><geom "
      "size='.01' pos='%.17g 0 %.17g' condim='1'/></body>",
      0.01 + L / 2 * cos(start), 0.01 + L / 2 * sin(start), 2 * L * L / 12, 2 * L * L / 12,
      L / 2 * cos(start), -L / 2 * sin(start), -L / 2 * cos(start), L / 2 * sin(start));
  for (int k = 0; k < TB_TURNS * TB_COUNT(laws); k++) {
    tbTurned t = tb_turned(k % TB_TURNS, 5e-4, (tbReal[3]){0, 0, -GRAVITY}, bodies, "");
    t.w.m->opt.law = laws[k / TB_TURNS];
    tbReal at[3], v[3];
    for (;;) {
      tb_world_run_solved(t.w, 1);
      tb_turned_place(t, 1, at);
      tbReal sine = (at[2] - 0.01) / (L / 2);
      if (sine < 0.3) break;
      if (sine < 0.68 * sin(start)) continue;
      tbReal w = tb_norm3(t.w.d->qvel + 3);
      assert_near(w, sqrt(3 * GRAVITY * (sin(start) - sine) / L), 0.03);
    }
    tb_turned_look(t, t.w.d->qvel, v);
    assert_near(v[0], pow(sin(start), 1.5) * sqrt(GRAVITY * L) / 3, 1e-3);
    tb_world_free(t.w);
  }
}

// Weights on a cable over a pulley, and over a block and tackle that halves the way.
static void pulleys_share_the_load(void** state) {
  (void)state;
  const tbReal m1 = 3, m2 = 1.1;
  for (int k = 0; k < TB_TURNS * 2; k++) {
    int tackle = k % 2;
    char rest[512];
    snprintf(rest, sizeof rest,
             "<tendon><spatial name='t'><site site='a'/><site site='top'/>%s<site site='top'/>"
             "<site site='b'/></spatial></tendon><equality><tendon tendon1='t'/></equality>",
             tackle ? "<pulley divisor='2'/>" : "<pulley divisor='1'/>");
    tbTurned t = tb_turned(
        k / 2, 2e-3, (tbReal[3]){0, 0, -GRAVITY},
        "<site name='top' pos='0 0 3'/><body pos='0 0 1'><joint type='slide' axis='0 0 1'/><geom "
        "size='.1' mass='3'/><site name='a'/></body><body pos='0 0 .5'><joint type='slide' axis='0 "
        "0 1'/><geom size='.1' mass='1.1' contype='0' conaffinity='0'/><site name='b'/></body>",
        rest);
    tb_world_run_solved(t.w, 200);
    tbReal a1 =
        tackle ? -GRAVITY * (m1 - 2 * m2) / (m1 + 4 * m2) : -GRAVITY * (m1 - m2) / (m1 + m2);
    assert_near(t.w.d->qvel[0], a1 * t.w.d->time, 1e-3);
    assert_near(t.w.d->qvel[1], -(tackle ? 2 : 1) * t.w.d->qvel[0], 1e-3);
    tb_world_free(t.w);
  }
}

// Three gears: the torque moves all inertias by their ratios squared.
static void gears_share_the_torque(void** state) {
  (void)state;
  for (int k = 0; k < TB_TURNS; k++) {
    tbTurned t = tb_turned(
        k, 2e-3, (tbReal[3]){0, 0, -GRAVITY},
        "<body><joint name='a' axis='0 0 1'/><inertial pos='0 0 0' mass='1' diaginertia='.01 .01 "
        ".02'/></body><body pos='1 0 0'><joint name='b' axis='0 0 1'/><inertial pos='0 0 0' "
        "mass='1' diaginertia='.2 .2 .3'/></body><body pos='2 0 0'><joint name='c' axis='0 0 1'/>"
        "<inertial pos='0 0 0' mass='1' diaginertia='3 3 5'/></body>",
        "<equality><joint joint1='b' joint2='a' polycoef='0 -.25 0 0 0'/><joint joint1='c' "
        "joint2='b' polycoef='.1 -.5 0 0 0'/></equality><actuator><motor joint='a'/></actuator>");
    t.w.d->qpos[2] = 0.1;
    t.w.d->ctrl[0] = 0.7;
    tb_world_run_solved(t.w, 500);
    const tbReal inertia = 0.02 + 0.3 / 16 + 5.0 / 64;
    assert_near(t.w.d->qvel[0], 0.7 / inertia * t.w.d->time, 5e-3);
    assert_near(t.w.d->qvel[1], -t.w.d->qvel[0] / 4, 1e-4);
    assert_near(t.w.d->qpos[2], 0.1 - t.w.d->qpos[1] / 2, 1e-4);
    tb_world_free(t.w);
  }
}

// A top in steady precession, (I1 cos a) W^2 - I3 s W + m g l = 0: on a ball joint, and on a tip
// that the floor holds by friction.
static void top_precesses(void** state) {
  (void)state;
  const tbReal m = 0.5, l = 0.06, I1c = 4e-4, I3 = 5e-4, lean = 0.4, spin = 200, tip = 1e-4;
  for (int k = 0; k < TB_TURNS * 2; k++) {
    int floor = k % 2;
    const tbReal I1 = I1c + m * l * l, A = I1 * cos(lean), B = I3 * spin, C = m * GRAVITY * l;
    const tbReal W = (B - sqrt(B * B - 4 * A * C)) / (2 * A);
    char bodies[1024];
    snprintf(bodies, sizeof bodies,
             "<geom type='plane' size='9 9 .1' friction='2'/><body pos='0 0 %.17g' quat='%.17g 0 "
             "%.17g 0'>%s<inertial pos='0 0 %.17g' mass='.5' diaginertia='4e-4 4e-4 5e-4'/><geom "
             "size='%.17g'/></body>",
             tip, cos(lean / 2), sin(lean / 2), floor ? "<freejoint/>" : "<joint type='ball'/>", l,
             tip);
    tbTurned t = tb_turned(k / 2, 1e-4, (tbReal[3]){0, 0, -GRAVITY}, bodies, "");
    if (!floor) t.w.m->opt.disableflags |= TB_DISABLE_CONTACT;
    // turning about the upright: W (-sin a, 0, cos a) in the body, and the spin along its axis
    tbReal* w = t.w.d->qvel + (floor ? 3 : 0);
    w[0] = -W * sin(lean);
    w[2] = spin;
    int steps = (int)(1.0 / W / t.w.m->opt.timestep);
    tb_world_run_solved(t.w, steps);
    tbReal axis[3];
    tb_turned_axis(t, 1, 2, axis);
    assert_near(acos(axis[2]), lean, 0.016);
    assert_near(atan2(axis[1], axis[0]), W * t.w.d->time, 0.02);
    tb_world_free(t.w);
  }
}

// A ball with its centre of mass off the middle, spun fast, turns over; energy only falls.
static void tippe_top_turns_over(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    tbTurned t = tb_turned(k, 5e-4, (tbReal[3]){0, 0, -GRAVITY},
                           "<geom type='plane' size='9 9 .1' friction='.3'/><body pos='0 0 .02' "
                           "quat='.998750 .049979 0 0'><freejoint/><inertial pos='0 0 -.004' "
                           "mass='.02' diaginertia='3e-6 3e-6 3.1e-6'/><geom size='.02' "
                           "friction='.3'/></body>",
                           "");
    tb_turned_throw(t, 1, (tbReal[3]){0}, (tbReal[3]){0, 200 * sin(0.1), 200 * cos(0.1)});
    double least = tb_world_energy(t.w);
    tbReal axis[3], lowest = 1;
    for (int i = 0; i < 8000 && lowest > -0.9; i++) {
      tb_world_run_solved(t.w, 1);
      double now = tb_world_energy(t.w);
      assert_true(now < 1.02 * least);
      least = fmin(least, now);
      tb_turned_axis(t, 1, 2, axis);
      lowest = fmin(lowest, axis[2]);
    }
    assert_true(lowest < -0.9);
    tb_world_free(t.w);
  }
}

// Kane and Levinson's rattleback: spun the wrong way it rattles and turns back, spun the right way
// it does not.
static void rattleback_turns_back(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    int wrong = k % 2;
    tbTurned t = tb_turned(k / 2, 1e-3, (tbReal[3]){0, 0, -GRAVITY},
                           "<geom type='plane' size='9 9 .1' friction='2'/><body pos='0 0 .02' "
                           "quat='.99996 .00873 0 0'><freejoint/><inertial pos='0 0 -.01' mass='1' "
                           "fullinertia='2e-4 1.6e-3 1.7e-3 -2e-5 0 0'/><geom type='ellipsoid' "
                           "size='.2 .03 .02' friction='2'/></body>",
                           "");
    tb_turned_throw(t, 1, (tbReal[3]){0}, (tbReal[3]){0, 0, wrong ? -5 : 5});
    tbReal least = 1e9, most = -1e9;
    for (int i = 0; i < 6000; i++) {
      tb_world_run_solved(t.w, 1);
      least = fmin(least, t.w.d->qvel[5]);
      most = fmax(most, t.w.d->qvel[5]);
    }
    // it loses energy on the way, so it comes back with a part of its spin only
    assert_true(wrong ? most > 0.5 && t.w.d->qvel[5] > 0.5 : least > 4.5);
    tb_world_free(t.w);
  }
}

// A cup with the shape of a cycloid: from any height a ball without friction is at the bottom after
// pi sqrt(R / g). The field's kinks take a little of its speed.
static void tautochrone(void** state) {
  (void)state;
  enum { COLUMNS = 401, ROWS = 3 };
  const tbReal R = 0.5, half = R * TB_PI, low = 0.02;
  static char rest[1 << 16];
  int n = snprintf(rest, sizeof rest,
                   "<asset><hfield name='cup' nrow='%d' ncol='%d' size='%.17g .2 %.17g .1' "
                   "elevation='",
                   ROWS, COLUMNS, half, 2 * R);
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    // x = R (u + sin u), z = R (1 - cos u)
    tbReal x = half * (2.0 * (i % COLUMNS) / (COLUMNS - 1) - 1), u = x / R / 2;
    for (int k = 0; k < 60; k++) u -= (u + sin(u) - x / R) / fmax(1 + cos(u), 1e-3) * 0.7;
    n += snprintf(rest + n, sizeof rest - (size_t)n, "%.9g ", (1 - cos(u)) / 2);
  }
  snprintf(rest + n, sizeof rest - (size_t)n, "'/></asset>");
  for (int k = 0; k < TB_TURNS * 3; k++) {
    const tbReal from[] = {0.6, 1.2, 1.8}, u = from[k % 3];
    // the ball's middle stands off the curve by its radius, along the normal (-tan u/2, 1)
    tbReal x = R * (u + sin(u)) - low * sin(u / 2), z = R * (1 - cos(u)) + low * cos(u / 2);
    char bodies[512];
    snprintf(bodies, sizeof bodies,
             "<geom type='hfield' hfield='cup' condim='1'/><body pos='%.17g 0 %.17g'><freejoint/>"
             "<geom size='%.17g' condim='1' mass='.1'/></body>",
             x, z + 1e-5, low);
    tbTurned t = tb_turned(k / 3, 5e-4, (tbReal[3]){0, 0, -GRAVITY}, bodies, rest);
    tbReal at[3];
    do {
      tb_world_run_solved(t.w, 1);
      tb_turned_place(t, 1, at);
    } while (at[0] > 0 && t.w.d->time < 2);
    assert_near(t.w.d->time, TB_PI * sqrt(R / GRAVITY), 0.02);
    tb_world_free(t.w);
  }
}

// A coin that wobbles about its middle at the rate that keeps its tilt: W^2 sin a = 4 g / r.
static void coin_wobbles_on(void** state) {
  (void)state;
  const tbReal r = 0.1, tilt = 0.3, thick = 5e-4;
  const tbReal W = sqrt(4 * GRAVITY / (r * sin(tilt)));
  for (int k = 0; k < TB_TURNS; k++) {
    char bodies[512];
    // tilted about y by `tilt`, its lowest rim point at +x
    snprintf(bodies, sizeof bodies,
             "<geom type='plane' size='9 9 .1'/><body pos='0 0 %.17g' quat='%.17g 0 %.17g 0'>"
             "<freejoint/><geom type='cylinder' size='%g %g' mass='.3'/></body>",
             r * sin(tilt) + thick * cos(tilt), cos(tilt / 2), sin(tilt / 2), r, thick);
    tbTurned t = tb_turned(k, 1e-4, (tbReal[3]){0, 0, -GRAVITY}, bodies, "");
    // the line from the middle to the point of contact is at rest: the spin is along it
    tb_turned_throw(t, 1, (tbReal[3]){0}, (tbReal[3]){-W * sin(tilt), 0, 0});
    double start = tb_world_energy(t.w), worst = 0;
    for (int i = 0; i < 3000; i++) {
      tb_world_run_solved(t.w, 1);
      tbReal axis[3];
      tb_turned_axis(t, 1, 2, axis);
      worst = fmax(worst, fabs(acos(fmin(1, axis[2])) - tilt));
    }
    assert_true(worst < 2e-3);
    assert_near(tb_world_energy(t.w), start, 2e-3 * start);
    tb_world_free(t.w);
  }
}

// Peaucellier's linkage: seven bars on pins move a point along a straight line.
static void peaucellier_draws_a_line(void** state) {
  (void)state;
  // O and A are fixed; bars O-B, O-D of 1; B-C, C-D, B-P, D-P of .5; A-C of .3 = |OA|.
  const tbReal arm = 1, bar = 0.5, crank = 0.3, turn = 0.35;
  const tbReal cx = crank * (1 + cos(turn)), cz = crank * sin(turn), c = sqrt(cx * cx + cz * cz);
  const tbReal px = cx / (c * c) * (arm * arm - bar * bar),
               pz = cz / (c * c) * (arm * arm - bar * bar);
  // B and D lie on both sides of the line O-C-P, half way between C and P
  const tbReal mx = (cx + px) / 2, mz = (cz + pz) / 2;
  const tbReal off = sqrt(bar * bar - ((px - cx) * (px - cx) + (pz - cz) * (pz - cz)) / 4);
  const tbReal len = sqrt(mx * mx + mz * mz), bx = mx - off * mz / len, bz = mz + off * mx / len;
  const tbReal dx = mx + off * mz / len, dz = mz - off * mx / len;
  char bodies[4096], rest[1024];
#define PIN "<joint axis='0 1 0'/>"
#define BAR \
  "<geom type='capsule' fromto='0 0 0 %.17g 0 %.17g' size='.01' contype='0' conaffinity='0'/>"
  snprintf(bodies, sizeof bodies,
           "<body name='OB'>" PIN BAR "<body name='BP' pos='%.17g 0 %.17g'>" PIN BAR
           "</body><body name='BC' pos='%.17g 0 %.17g'>" PIN BAR
           "</body></body><body name='OD'>" PIN BAR "<body name='DP' pos='%.17g 0 %.17g'>" PIN BAR
           "</body><body name='DC' pos='%.17g 0 "
           "%.17g'>" PIN BAR "</body></body><body name='AC' pos='%.17g 0 0'>" PIN BAR "</body>",
           bx, bz, bx, bz, px - bx, pz - bz, bx, bz, cx - bx, cz - bz, dx, dz, dx, dz, px - dx,
           pz - dz, dx, dz, cx - dx, cz - dz, crank, cx - crank, cz);
  snprintf(rest, sizeof rest,
           "<equality><connect body1='BP' body2='DP' anchor='%.17g 0 %.17g'/><connect body1='BC' "
           "body2='DC' anchor='%.17g 0 %.17g'/><connect body1='BC' body2='AC' anchor='%.17g 0 "
           "%.17g'/></equality>",
           px - bx, pz - bz, cx - bx, cz - bz, cx - bx, cz - bz);
  const int laws[] = {TB_LAW_NCP,  TB_LAW_CCP,     TB_LAW_LCP,         TB_LAW_RAISIM,
                      TB_LAW_SOFT, TB_LAW_COMFREE, TB_LAW_VISCOELASTIC};
  for (int k = 0; k < TB_TURNS * TB_COUNT(laws); k++) {
    tbTurned t = tb_turned(k % TB_TURNS, 1e-3, (tbReal[3]){1, 0, -GRAVITY}, bodies, rest);
    t.w.m->opt.law = laws[k / TB_TURNS];
    double start = tb_world_energy(t.w), gain = 0;
    tbReal worst = 0, low = 1;
    // at -.83 all bars of one side are in line
    for (int i = 0; i < 700 && low > -0.7; i++) {
      tb_world_run(t.w, 1);
      tb_compute_position(t.w.m, t.w.d);
      int bp = tb_name2id(t.w.m, TB_OBJ_BODY, "BP");
      const tbReal *R = t.w.d->xmat + 9 * bp, tip[3] = {px - bx, 0, pz - bz};
      tbReal at[3], p[3];
      tb_mul_mat3_vec3(at, R, tip);
      tb_add3(at, at, t.w.d->xpos + 3 * bp);
      tb_turned_look(t, at, p);
      worst = fmax(worst, fabs(p[0] - px));
      low = fmin(low, p[2]);
      gain = fmax(gain, tb_world_energy(t.w) - start);
    }
    assert_true(low < -0.7);
    int law = t.w.m->opt.law;
    assert_true(worst < (law == TB_LAW_SOFT ? 0.02 : law == TB_LAW_VISCOELASTIC ? 0.01 : 3e-4));
    assert_true(gain < (law == TB_LAW_VISCOELASTIC ? 0.01 : 1e-6));
    tb_world_free(t.w);
  }
}

// A pendulum on a ball joint leans on the cone of its limit; a slider rests on its end stop, which
// bears the load.
static void limits_bear_loads(void** state) {
  (void)state;
  const int laws[] = {TB_LAW_NCP,  TB_LAW_CCP,     TB_LAW_LCP,         TB_LAW_RAISIM,
                      TB_LAW_SOFT, TB_LAW_COMFREE, TB_LAW_VISCOELASTIC};
  for (int k = 0; k < TB_TURNS * TB_COUNT(laws); k++) {
    int law = laws[k / TB_TURNS], rigid = law < TB_LAW_COUNT;
    tbTurned t = tb_turned(
        k % TB_TURNS, 2e-3, (tbReal[3]){GRAVITY * sin(1.0), 0, -GRAVITY * cos(1.0)},
        "<body><joint type='ball' limited='true' range='0 .5' damping='.05'/><geom size='.05' "
        "pos='0 0 -.4' mass='1.3'/></body><body pos='0 2 0'><joint type='slide' axis='0 0 1' "
        "limited='true' range='-.25 .1' damping='1'/><geom size='.05' mass='4.2'/></body>",
        "");
    t.w.m->opt.law = law;
    tb_world_run(t.w, 2500);
    tbReal axis[3];
    tb_turned_axis(t, 1, 2, axis);
    assert_near(acos(axis[2]), 0.5, rigid ? 1e-4 : 0.02);
    assert_near(t.w.d->qpos[4], -0.25, rigid ? 2e-5 : 0.005);
    assert_near(t.w.d->qfrc_constraint[3], 4.2 * GRAVITY * cos(1.0), 1e-4);
    tb_world_free(t.w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ladder_leaves_the_wall),
      cmocka_unit_test(pulleys_share_the_load),
      cmocka_unit_test(gears_share_the_torque),
      cmocka_unit_test(top_precesses),
      cmocka_unit_test(tippe_top_turns_over),
      cmocka_unit_test(rattleback_turns_back),
      cmocka_unit_test(tautochrone),
      cmocka_unit_test(coin_wobbles_on),
      cmocka_unit_test(peaucellier_draws_a_line),
      cmocka_unit_test(limits_bear_loads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
