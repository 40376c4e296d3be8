// The exact law in motion, against closed forms of the time-stepping scheme.
#include "common/worlds.h"

static const double G = 9.81;

static void run(tbWorld w, int steps) {
  for (int i = 0; i < steps; i++) {
    if (tb_step(w.m, w.d) != TB_OK) fail_msg("step %d: %s", i, w.d->message);
    assert_int_equal(w.d->solve.status, TB_SOLVE_CONVERGED);
    assert_true(w.d->solve.residual_exact.relative <= w.m->opt.solve_tolerance);
  }
}

static const char CUBE[] =
    "<mujoco><option timestep='0.001'/><worldbody>"
    "<geom type='plane' size='5 5 0.1' friction='0.4 0 0'/>"
    "<body pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='1' friction='0.4 0 "
    "0'/></body></worldbody></mujoco>";

// v_k = v0 - k mu g h until it stops: the distance is a sum of velocities, the path is straight.
static void thrown_cube_slides_straight_and_stops(void** state) {
  (void)state;
  tbWorld w = tb_world_text(CUBE);
  w.m->opt.solve_tolerance = 1e-12;
  double v0 = 2, angle = 0.3, h = 0.001, mu = 0.4;
  w.d->qvel[0] = v0 * cos(angle);
  w.d->qvel[1] = v0 * sin(angle);
  // It moves for v0 / (mu g), to the step.
  int last = (int)ceil(v0 / (mu * G * h)) - 1;
  run(w, last);
  assert_near(hypot(w.d->qvel[0], w.d->qvel[1]), v0 - last * mu * G * h, 1e-9);
  run(w, 1);
  assert_near(hypot(w.d->qvel[0], w.d->qvel[1]), 0, 1e-9);
  run(w, 150);
  double distance = 0;
  for (double v = v0 - mu * G * h; v > 0; v -= mu * G * h) distance += h * v;
  double along = w.d->qpos[0] * cos(angle) + w.d->qpos[1] * sin(angle);
  double sideways = w.d->qpos[0] * sin(angle) - w.d->qpos[1] * cos(angle);
  assert_near(along, distance, 1e-9);
  assert_near(sideways, 0, 1e-9);
  assert_near(w.d->qpos[2], 0.1, 1e-9);
  for (int i = 0; i < 6; i++) assert_near(w.d->qvel[i], 0, 1e-9);
  tb_world_free(w);
}

// On an incline the cube sticks just below the friction angle and slides just above it.
static void incline_separates_stick_from_slip(void** state) {
  (void)state;
  for (int slips = 0; slips < 2; slips++) {
    tbWorld w = tb_world_text(CUBE);
    double angle = atan(0.4) + (slips ? 1e-3 : -1e-3);
    w.m->opt.gravity[0] = G * sin(angle);
    w.m->opt.gravity[2] = -G * cos(angle);
    w.m->opt.solve_tolerance = 1e-10;
    run(w, 300);
    double expected = slips ? 0.3 * G * (sin(angle) - 0.4 * cos(angle)) : 0;
    assert_near(w.d->qvel[0], expected, 1e-7);
    tb_world_free(w);
  }
}

// Newton's law of restitution: each impact returns e of the speed, so apexes fall by e^2.
static void ball_bounces_to_e_squared(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='0.0001'/><worldbody><geom type='plane' size='1 1 .1' "
      "restitution='0.8'/><body pos='0 0 1.1'><freejoint/><geom type='sphere' size='0.1' "
      "mass='1'/></body></worldbody></mujoco>");
  double apex = 0;
  int impacts = 0;
  for (int i = 0; i < 12000 && impacts < 2; i++) {
    double before = w.d->qvel[2];
    assert_int_equal(tb_step(w.m, w.d), TB_OK);
    if (before < 0 && w.d->qvel[2] > 0) impacts++;
    if (impacts == 1) apex = fmax(apex, w.d->qpos[2] - 0.1);
  }
  assert_int_equal(impacts, 2);
  assert_near(apex, 0.64, 2e-3);
  tb_world_free(w);
}

// A sphere pushed along the floor ends in rolling with 5/7 of its speed.
static void sliding_sphere_ends_rolling(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='5 5 .1' friction='0.3 "
      "0 0'/><body pos='0 0 0.1'><freejoint/><geom type='sphere' size='0.1' mass='1' "
      "friction='0.3 0 0'/></body></worldbody></mujoco>");
  w.m->opt.solve_tolerance = 1e-10;
  w.d->qvel[0] = 1;
  run(w, 500);
  assert_near(w.d->qvel[0], 5.0 / 7, 1e-6);
  assert_near(w.d->qvel[4], w.d->qvel[0] / 0.1, 1e-6);
  tb_world_free(w);
}

// A sphere that rolls down an incline gains 5/7 of g sin(angle), one on ice all of it.
static void sphere_rolls_down_an_incline(void** state) {
  (void)state;
  for (int ice = 0; ice < 2; ice++) {
    tbWorld w = tb_world_text(
        "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='5 5 .1' "
        "friction='0.8 0 0'/><body pos='0 0 0.1'><freejoint/><geom type='sphere' size='0.1' "
        "mass='1' friction='0.8 0 0'/></body></worldbody></mujoco>");
    w.m->opt.solve_tolerance = 1e-11;
    if (ice) w.m->geom_condim[0] = w.m->geom_condim[1] = 1;
    double angle = 0.3, t = 0.5;
    w.m->opt.gravity[0] = G * sin(angle);
    w.m->opt.gravity[2] = -G * cos(angle);
    run(w, 500);
    assert_near(w.d->qvel[0], (ice ? 1 : 5.0 / 7) * G * sin(angle) * t, 1e-8);
    assert_near(w.d->qvel[4], ice ? 0 : w.d->qvel[0] / 0.1, 1e-7);
    tb_world_free(w);
  }
}

// Complete elliptic integral of the first kind by the arithmetic-geometric mean.
static double quarter_period(double k) {
  double a = 1, b = sqrt(1 - k * k);
  for (int i = 0; i < 8; i++) {
    double mean = 0.5 * (a + b);
    b = sqrt(a * b);
    a = mean;
  }
  return 1.5707963267948966 / a;
}

// A pendulum let go at rest keeps its energy and comes back after 4 K(sin(angle / 2)) sqrt(I /
// mgl).
static void pendulum_swings_in_its_period(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='0.0005' integrator='RK4'><flag energy='enable'/></option>"
      "<worldbody><body><joint axis='0 1 0'/><inertial pos='0 0 -.5' mass='2' diaginertia='.1 .1 "
      ".1'/></body></worldbody></mujoco>");
  double angle = 2, h = 0.0005, inertia = 0.1 + 2 * 0.25, before = 0, after = 0;
  double period = 4 * quarter_period(sin(0.5 * angle)) * sqrt(inertia / (2 * G * 0.5));
  w.d->qpos[0] = angle;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  double start = w.d->energy[0] + w.d->energy[1], worst = 0;
  // At half a period the velocity passes through zero, at the whole one again.
  int steps = (int)(period / h);
  for (int i = 0; i <= steps + 1; i++) {
    assert_int_equal(tb_step(w.m, w.d), TB_OK);
    worst = fmax(worst, fabs(w.d->energy[0] + w.d->energy[1] - start));
    before = after;
    after = w.d->qvel[0];
    if (i > steps - 3 && before >= 0 && after < 0) {
      double zero = w.d->time - h * after / (after - before);
      assert_near(zero, period, 1e-7);
      period = 0;
    }
  }
  assert_true(period == 0);
  print_message("pendulum: energy drifts by %.1e J of %.1f\n", worst, fabs(start));
  assert_true(worst < 2e-8);
  tb_world_free(w);
}

// A compliant contact carries the weight at depth c m g.
static void compliant_contact_sinks_by_its_compliance(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='1 1 .1' "
      "compliance='1e-4' contactdamping='200'/><body pos='0 0 0.1'><freejoint/><geom "
      "type='sphere' size='0.1' mass='2'/></body></worldbody></mujoco>");
  w.m->opt.solve_tolerance = 1e-10;
  run(w, 3000);
  assert_near(w.d->qpos[2] - 0.1, -1e-4 * 2 * G, 1e-7);
  tb_world_free(w);
}

// A body at rest within gap_allowed is supported at its place; a body that is farther away, or
// moves, comes to rest on the surface. Bodies tied to each other count as one; a mocap body may
// move at any time.
static void small_gaps_of_what_rests_are_closed(void** state) {
  (void)state;
  static const char TIED[] =
      "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='5 5 0.1'/>"
      "<body pos='0 0 0.1'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='.01 .01 .01'/>"
      "<body><geom type='box' size='.1 .1 .1'/></body></body></worldbody></mujoco>";
  static const char LED[] =
      "<mujoco><option timestep='0.001'/><worldbody><body mocap='true' pos='0 0 -.1'>"
      "<geom type='box' size='5 5 .1'/></body><body pos='0 0 0.1'><freejoint/>"
      "<geom type='box' size='.1 .1 .1' mass='1'/></body></worldbody></mujoco>";
  static const struct {
    const char* model;
    double start, speed, end;
  } CASES[] = {{CUBE, 0.9e-6, 0, 0.9e-6}, {CUBE, 0, 0, 0},           {CUBE, -0.9e-5, 0, -0.9e-5},
               {CUBE, 0.9e-6, -1e-4, 0},  {CUBE, 1.1e-6, 0, 0},      {CUBE, 1e-4, 0, 0},
               {CUBE, 1e-3, 0, 0},        {TIED, 0.9e-6, 0, 0.9e-6}, {LED, 0.9e-6, 0, 0}};
  for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
    tbWorld w = tb_world_text(CASES[k].model);
    assert_near(w.m->opt.gap_allowed, 1e-6, 0);
    w.d->qpos[2] += CASES[k].start;
    w.d->qvel[2] = CASES[k].speed;
    run(w, 100);
    assert_near(w.d->qpos[2] - 0.1, CASES[k].end, 1e-9);
    assert_near(w.d->qvel[2], 0, 1e-9);
    tb_world_free(w);
  }
}

// Two cubes that start deep inside each other part slowly.
static void deep_overlap_does_not_launch(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='1 1 .1'/>"
      "<body pos='0 0 0.05'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
      "<body pos='0.02 0.01 0.12'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
      "</worldbody></mujoco>");
  double fastest = 0;
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(tb_step(w.m, w.d), TB_OK);
    for (int k = 0; k < w.m->nv; k++) {
      if (k % 6 < 3) fastest = fmax(fastest, fabs(w.d->qvel[k]));
    }
  }
  assert_true(fastest < 3);
  tb_world_free(w);
}

// A wheel on an axle through its centre, pressed into a wall: no joint yields to the push, so there
// is none. The law leaves the normal force open, and so how much the wheel is braked.
static void overlap_that_nothing_can_undo(void** state) {
  (void)state;
  static const tbLaw LAWS[] = {TB_LAW_NCP, TB_LAW_CCP, TB_LAW_LCP, TB_LAW_RAISIM};
  for (int i = 0; i < 4; i++) {
    tbWorld w = tb_world_text(
        "<mujoco><worldbody><geom type='box' size='1 1 1'/><body pos='1.2 1.2 0'><joint axis='0 0 "
        "1'/><geom type='sphere' size='1'/></body></worldbody></mujoco>");
    w.m->opt.law = LAWS[i];
    w.d->qvel[0] = 2;
    for (int k = 0; k < 50; k++) {
      assert_int_equal(tb_step(w.m, w.d), TB_OK);
      assert_int_equal(w.d->ncon, 1);
      assert_int_equal(w.d->solve.status, TB_SOLVE_CONVERGED);
      assert_true(isfinite(w.d->solve.residual_exact.relative));
    }
    assert_true(w.d->qvel[0] > -1e-9 && w.d->qvel[0] < 2 + 1e-9);
    tb_world_free(w);
  }
}

// A free body tumbles without torque; returns how far (rad) it is from where steps a hundred times
// shorter lead after a second.
static double tumble_error(double h) {
  tbReal quat[2][4];
  for (int k = 0; k < 2; k++) {
    tbWorld w = tb_world_text(
        "<mujoco><option gravity='0 0 0' integrator='RK4'/><worldbody><body><freejoint/>"
        "<inertial pos='0 0 0' mass='1' diaginertia='.01 .02 .025'/></body></worldbody></mujoco>");
    w.m->opt.timestep = k ? h / 100 : h;
    const tbReal spin[3] = {3, 1, 2};
    memcpy(w.d->qvel + 3, spin, sizeof spin);
    tb_world_run(w, tb_world_steps(w, 1));
    memcpy(quat[k], w.d->qpos + 3, sizeof quat[k]);
    tb_world_free(w);
  }
  tbReal vector = 0;
  const tbReal *a = quat[0], *b = quat[1];
  for (int k = 1; k < 4; k++) {
    int i = k % 3 + 1, j = i % 3 + 1;
    tbReal x = a[0] * b[k] - b[0] * a[k] - (a[i] * b[j] - a[j] * b[i]);
    vector += x * x;
  }
  return 2 * asin(sqrt(vector));
}

// Runge and Kutta's rule is of fourth order for rotations, too.
static void runge_kutta_tumbles_to_fourth_order(void** state) {
  (void)state;
  double coarse = tumble_error(0.01), fine = tumble_error(0.005);
  print_message("a free body tumbles under RK4 for 1 s: off by %.1e rad at 10 ms, %.1e at 5 ms\n",
                coarse, fine);
  assert_true(coarse < 1e-6);
  assert_true(log2(coarse / fine) > 3.8);
}

// A double pendulum keeps its energy: fourth order with RK4.
static void pendulum_keeps_energy(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='0.001' integrator='RK4'><flag energy='enable'/></option>"
      "<worldbody><body pos='0 0 0'><joint type='hinge' axis='0 1 0'/><geom type='capsule' "
      "fromto='0 0 0 0.5 0 0' size='0.02' contype='0' conaffinity='0'/><body pos='0.5 0 0'><joint "
      "type='hinge' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0.5 0 0' size='0.02' "
      "contype='0' conaffinity='0'/></body></body></worldbody></mujoco>");
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  double start = w.d->energy[0] + w.d->energy[1];
  for (int i = 0; i < 2000; i++) assert_int_equal(tb_step(w.m, w.d), TB_OK);
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_near(w.d->energy[0] + w.d->energy[1], start, 1e-7);
  tb_world_free(w);
}

// Hyperstatic: a table on many legs; the forces sum to the weight.
static void hyperstatic_table_carries_its_weight(void** state) {
  (void)state;
  char xml[4096] =
      "<mujoco><worldbody><geom type='plane' size='2 2 .1'/><body pos='0 0 0.1'><freejoint/>"
      "<geom type='box' size='.5 .5 .01' pos='0 0 .1' mass='10'/>";
  for (int i = 0; i < 12; i++) {
    char leg[128];
    snprintf(leg, sizeof leg, "<geom type='sphere' size='.1' pos='%g %g 0' mass='.1'/>",
             0.4 * cos(i * 0.5236), 0.4 * sin(i * 0.5236));
    strncat(xml, leg, sizeof xml - strlen(xml) - 1);
  }
  strncat(xml, "</body></worldbody></mujoco>", sizeof xml - strlen(xml) - 1);
  tbWorld w = tb_world_text(xml);
  run(w, 200);
  double total = 0;
  for (int i = 0; i < w.d->ncon; i++) total += w.d->contact[i].force[0];
  assert_near(total, 11.2 * G, 1e-4);
  tb_world_free(w);
}

// A spinning sphere with torsional friction mu_t loses mu_t m g h / I of its spin per step.
static void spinning_sphere_is_braked_by_torsion(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='5 5 .1' friction='0.5 "
      "0.01 0' condim='4'/><body pos='0 0 0.1'><freejoint/><geom type='sphere' size='0.1' "
      "mass='1' friction='0.5 0.01 0' condim='4'/></body></worldbody></mujoco>");
  w.m->opt.solve_tolerance = 1e-11;
  double rate = 0.01 * G / (0.4 * 0.01), spin = 10;
  w.d->qvel[5] = spin;
  run(w, 300);
  assert_near(w.d->qvel[5], spin - 0.3 * rate, 1e-7);
  run(w, 200);
  assert_near(w.d->qvel[5], 0, 1e-8);
  for (int i = 0; i < 5; i++) assert_near(w.d->qvel[i], 0, 1e-8);
  tb_world_free(w);
}

// A block of 1 kg on a block of 3 kg on ice, mu = 0.5 between them. Pulled with less than
// mu g (m1 + m2) they go together, with more the upper one lags with mu g.
static void upper_block_sticks_or_lags(void** state) {
  (void)state;
  for (int lags = 0; lags < 2; lags++) {
    tbWorld w = tb_world_text(
        "<mujoco><option timestep='0.001'/><worldbody><geom name='ice' type='plane' size='9 9 .1' "
        "condim='1'/><body pos='0 0 .1'><freejoint/><geom name='low' type='box' size='1 .5 .1' "
        "mass='3' condim='1'/></body><body pos='0 0 .3'><freejoint/><geom name='high' type='box' "
        "size='.1 .1 .1' mass='1' condim='1'/></body></worldbody><contact><pair geom1='low' "
        "geom2='high' condim='3' friction='.5 .5 .005 .0001 .0001'/></contact></mujoco>");
    w.m->opt.solve_tolerance = 1e-11;
    double limit = 0.5 * G * 4, force = limit + (lags ? 5 : -0.01), t = 0.4;
    w.d->xfrc_applied[6] = force;
    run(w, 400);
    assert_near(w.d->qvel[6], lags ? 0.5 * G * t : force / 4 * t, 1e-7);
    assert_near(w.d->qvel[0], lags ? (force - 0.5 * G) / 3 * t : force / 4 * t, 1e-7);
    tb_world_free(w);
  }
}

// A four-bar linkage closed by a connect constraint: the loop stays shut while it swings, and the
// motion keeps its energy to the order of the step.
static void four_bar_stays_closed(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='0.0005'><flag energy='enable' contact='disable'/></option>"
      "<worldbody><body pos='0 0 0'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 .4'"
      " size='.02' mass='1'/><body name='bar' pos='0 0 .4'><joint axis='0 1 0'/><geom "
      "type='capsule' fromto='0 0 0 .6 0 0' size='.02' mass='1'/><site name='end' pos='.6 0 0'/>"
      "</body></body><body name='rocker' pos='.6 0 0'><joint axis='0 1 0'/><geom type='capsule' "
      "fromto='0 0 0 0 0 .4' size='.02' mass='1'/><site name='tip' pos='0 0 .4'/></body>"
      "</worldbody><equality><connect body1='bar' body2='rocker' anchor='.6 0 0'/></equality>"
      "</mujoco>");
  w.m->opt.solve_tolerance = 1e-10;
  // The crank turns at 2 rad/s, the coupler stays level, the rocker follows.
  w.d->qvel[0] = 2;
  w.d->qvel[1] = -2;
  w.d->qvel[2] = 2;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  double start = w.d->energy[0] + w.d->energy[1], open = 0, drift = 0;
  int end = tb_name2id(w.m, TB_OBJ_SITE, "end"), tip = tb_name2id(w.m, TB_OBJ_SITE, "tip");
  for (int i = 0; i < 4000; i++) {
    run(w, 1);
    for (int k = 0; k < 3; k++) {
      open = fmax(open, fabs(w.d->site_xpos[3 * end + k] - w.d->site_xpos[3 * tip + k]));
    }
    drift = fmax(drift, fabs(w.d->energy[0] + w.d->energy[1] - start));
  }
  print_message("four-bar: opens by %.1e m, energy drifts by %.1e J of %.1f\n", open, drift,
                fabs(start));
  assert_true(open < 1e-5);
  assert_true(drift < 0.02 * fabs(start));
  tb_world_free(w);
}

// A hammer that goes several of its own sizes a step, by turning alone, stops at a thin wall
// wherever it is when the step begins.
static void nothing_fast_passes_a_thin_wall(void** state) {
  (void)state;
  for (int k = 0; k < 20; k++) {
    double angle = 0.5 + 0.013 * k;
    char xml[1024];
    snprintf(xml, sizeof xml,
             "<mujoco><compiler angle='radian'/><option timestep='0.002' gravity='0 0 0'/>"
             "<worldbody><geom type='box' size='0.2 0.001 0.2' pos='%.9g %.9g 0' euler='0 0 %.9g'/>"
             "<body><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
             "<joint name='hinge' axis='0 0 1'/><geom size='0.02' pos='1 0 0'/></body>"
             "</worldbody></mujoco>",
             cos(angle), sin(angle), angle);
    tbWorld w = tb_world_text(xml);
    w.d->qvel[0] = 60;
    tb_world_run(w, 50);
    // The sphere and the wall take 0.021 of it; a step's arc is taken for a straight line.
    assert_true(w.d->qpos[0] < angle - 0.02 && w.d->qpos[0] > angle - 0.05);
    assert_true(fabs(w.d->qvel[0]) < 0.5);
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runge_kutta_tumbles_to_fourth_order),
      cmocka_unit_test(nothing_fast_passes_a_thin_wall),
      cmocka_unit_test(thrown_cube_slides_straight_and_stops),
      cmocka_unit_test(incline_separates_stick_from_slip),
      cmocka_unit_test(ball_bounces_to_e_squared),
      cmocka_unit_test(sliding_sphere_ends_rolling),
      cmocka_unit_test(sphere_rolls_down_an_incline),
      cmocka_unit_test(pendulum_swings_in_its_period),
      cmocka_unit_test(compliant_contact_sinks_by_its_compliance),
      cmocka_unit_test(small_gaps_of_what_rests_are_closed),
      cmocka_unit_test(deep_overlap_does_not_launch),
      cmocka_unit_test(overlap_that_nothing_can_undo),
      cmocka_unit_test(pendulum_keeps_energy),
      cmocka_unit_test(hyperstatic_table_carries_its_weight),
      cmocka_unit_test(spinning_sphere_is_braked_by_torsion),
      cmocka_unit_test(upper_block_sticks_or_lags),
      cmocka_unit_test(four_bar_stays_closed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
