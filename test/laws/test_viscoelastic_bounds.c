// What keeps the viscoelastic law bounded: limits that start violated, bodies that whirl in flight,
// and Newton's method of implicit Euler where its first guess is far off.
#include "common/test.h"
#include "common/worlds.h"
#include "laws/viscoelastic/viscoelastic.h"
#include "model/workspace.h"
#include "step/step.h"

// ---- limits -------------------------------------------------------------------------------------

// A door that starts 0.8 rad beyond its limit returns to it at correction_speed and rests there,
// instead of being thrown at K 0.8 / B = 267 rad/s; a slider 30 cm beyond its limit likewise. A
// later load compresses the spring fully: a contact that was within its range once is a plain
// spring.
static void limit_comes_up_slowly(void** state) {
  (void)state;
  static const char ROBOT[] =
      "<mujoco><option gravity='0 0 0'/><worldbody><body><joint type='hinge' axis='0 0 1' "
      "limited='true' range='0 170'/><geom type='box' pos='.3 0 0' size='.3 .02 .2' mass='2'/>"
      "</body><body pos='0 0 2'><joint type='slide' axis='1 0 0' limited='true' range='0 5'/>"
      "<geom type='box' size='.1 .1 .1' mass='1'/></body></worldbody></mujoco>";
  for (size_t i = 0; i < TB_SPRING_CASES; i++) {
    double h = TB_SPRING_CASE[i].timestep;
    tbWorld w = tb_world_springs(tb_world_text(ROBOT), TB_SPRING_CASE[i].integrator, h);
    double speed = w.m->opt.correction_speed, arrives = 0.8 / speed;
    // Pressed against the stop, so that they follow the end of the spring instead of coasting.
    w.d->qfrc_applied[0] = w.d->qfrc_applied[1] = -500;
    w.d->qpos[0] = -0.8;
    w.d->qpos[1] = -0.3;
    while (w.d->time < arrives + 0.5) {
      tb_world_run(w, 1);
      double ends[2] = {fmin(0, -0.8 + fmax(0.02, 20 * h) + speed * w.d->time),
                        fmin(0, -0.3 + 0.005 + speed * w.d->time)};
      assert_true(fabs(w.d->qvel[0]) < 14);
      assert_true(fabs(w.d->qvel[1]) < 2.5);
      assert_true(w.d->qpos[0] > ends[0] - 0.05 && w.d->qpos[0] < ends[0] + 0.06);
      assert_true(w.d->qpos[1] > ends[1] - 0.01 && w.d->qpos[1] < ends[1] + 0.04);
    }
    assert_near(w.d->qpos[0], -500 / 1e5, 1e-6);
    assert_near(w.d->qpos[1], -500 / 1e5, 1e-6);
    // Far beyond the bound of the first look_ahead, but slowly: a spring all the way.
    for (int k = 1; k <= 50; k++) {
      w.d->qfrc_applied[0] = -500 - 90.0 * k;
      tb_world_run(w, (int)(0.004 / h + 0.5));
    }
    tb_world_run(w, (int)(0.1 / h + 0.5));
    assert_near(w.d->qpos[0], -0.05, 1e-4);
    tb_world_free(w);
  }
}

// ---- flight -------------------------------------------------------------------------------------

// A body that turns about its middle axis, 0.6 rad a step, and a chain that whirls: neither gains
// energy under expo.
static void whirling_gains_no_energy(void** state) {
  (void)state;
  static const char BODIES[] =
      "<mujoco><option gravity='0 0 0'/><worldbody><body pos='0 0 5'><freejoint/>"
      "<geom type='box' size='.3 .2 .05' mass='3'/></body>"
      "<body pos='0 0 9'><freejoint/><geom type='box' size='.1 .1 .1' mass='2'/>"
      "<body pos='.1 0 0'><joint type='hinge' axis='0 1 0'/><geom type='capsule' size='.03' "
      "fromto='0 0 0 .3 0 0' mass='.5'/><body pos='.3 0 0'><joint type='hinge' axis='0 1 0'/>"
      "<geom type='capsule' size='.03' fromto='0 0 0 .3 0 0' mass='.5'/></body></body></body>"
      "</worldbody></mujoco>";
  tbWorld w = tb_world_springs(tb_world_text(BODIES), TB_INTEGRATOR_EXPO, 0.005);
  for (int i = 0; i < w.m->ngeom; i++) w.m->geom_contype[i] = w.m->geom_conaffinity[i] = 0;
  w.m->opt.enableflags |= TB_ENABLE_ENERGY;
  w.d->qvel[3] = 1;
  w.d->qvel[4] = 120;
  w.d->qvel[5] = 4;
  w.d->qvel[6 + 4] = 40;
  w.d->qvel[12] = -80;
  w.d->qvel[13] = 120;
  tb_world_run(w, 1);
  double start = w.d->energy[1], most = 0;
  for (int i = 0; i < 2000; i++) {
    tb_world_run(w, 1);
    most = fmax(most, w.d->energy[1]);
  }
  print_message("energy %.4g J, at most %.4g J, at the end %.4g J\n", start, most, w.d->energy[1]);
  assert_true(most < 1.1 * start);
  tb_world_free(w);
}

// ---- implicit Euler -----------------------------------------------------------------------------

static const double G = 9.81, STIFFNESS = 1e5, DAMPING = 300;

// A mass above or in a frictionless floor.
static const char BALL[] =
    "<mujoco><worldbody><geom type='plane' size='5 5 .1' condim='1'/><body pos='0 0 .1'>"
    "<joint type='slide' axis='0 0 1'/><geom type='sphere' size='.1' mass='1' condim='1'/></body>"
    "</worldbody></mujoco>";

// Implicit Euler's equation for it: v - v0 - h a(z0 + h v, v).
static double residual(double z0, double v0, double h, double v) {
  double z = z0 + h * v, force = z <= 0 ? fmax(0, -STIFFNESS * z - DAMPING * v) : 0;
  return v - v0 + h * G - h * force;
}

// Whether the equation has a root: the damper's force jumps where the floor is reached, and a root
// may lie in the jump.
static bool has_root(double z0, double v0, double h) {
  double free = v0 - h * G;
  double held = (v0 - h * (STIFFNESS * z0 + G)) / (1 + h * DAMPING + h * h * STIFFNESS);
  return fabs(residual(z0, v0, h, free)) < 1e-9 || fabs(residual(z0, v0, h, held)) < 1e-9;
}

// From random starts in and above the floor: where there is a root Newton's method finds it, and
// where there is none its line search ends no worse than the better of the two guesses it has.
static void newton_finds_the_root_or_improves(void** state) {
  (void)state;
  tbRng rng = {5};
  int roots = 0, none = 0;
  for (int i = 0; i < 400; i++) {
    double h = pow(10, tb_rng_uniform(&rng, -4, -2)), v0 = tb_rng_uniform(&rng, -2, 1);
    double z0 = tb_rng_uniform(&rng, -2e-3, 2e-3 + 2 * h);
    tbWorld w = tb_world_springs(tb_world_text(BALL), TB_INTEGRATOR_EULER_IMPLICIT, h);
    w.m->opt.solve_tolerance = 1e-10;
    w.d->qpos[0] = z0;
    w.d->qvel[0] = v0;
    double force = z0 <= 0 ? fmax(0, -STIFFNESS * z0 - DAMPING * v0) : 0;
    double guess = v0 + h * (force - G);
    double start = fmin(fabs(residual(z0, v0, h, guess)), fabs(residual(z0, v0, h, v0)));
    tb_world_run(w, 1);
    double v = w.d->qvel[0], left = fabs(residual(z0, v0, h, v));
    assert_near(w.d->qpos[0], z0 + h * v, 1e-12);
    assert_near(w.d->solve.residual.relative, left / fmax(fabs(v0), h * G), 1e-9);
    if (has_root(z0, v0, h)) {
      roots++;
      if (!(left <= 1e-9)) fail_msg("start %.17g %.17g, step %g: %g left", z0, v0, h, left);
    } else {
      none++;
      if (!(left <= start * (1 + 1e-9))) fail_msg("%g after %g: %g, %g", left, start, z0, v0);
    }
    tb_world_free(w);
  }
  print_message("%d starts with a root, %d without\n", roots, none);
  assert_true(roots > 200 && none > 5);
}

// Lengths and gravity, and with them velocities, in another unit are the same problem: stiffness,
// in kg/s^2, damping, in kg/s, and radians have no length. So the same iterations solve it.
static void newton_knows_no_metres(void** state) {
  (void)state;
  const double units[2] = {1, 0x1p-10};
  tbWorld w[2];
  for (int k = 0; k < 2; k++) {
    char xml[512];
    double u = units[k];
    snprintf(xml, sizeof xml,
             "<mujoco><option gravity='0 0 %.17g'/><worldbody><geom type='plane' size='5 5 .1'/>"
             "<body pos='0 0 %.17g' euler='20 10 0'><freejoint/><geom type='box' size='%.17g %.17g "
             "%.17g' mass='.5'/></body></worldbody></mujoco>",
             -G * u, .16 * u, .1 * u, .1 * u, .1 * u);
    w[k] = tb_world_springs(tb_world_text(xml), TB_INTEGRATOR_EULER_IMPLICIT, 0.002);
    w[k].m->opt.correction_speed *= u;
    w[k].d->qvel[0] = 0.5 * u;
    w[k].d->qvel[5] = 2;
  }
  int iterations = 0;
  for (int i = 0; i < 500; i++) {
    for (int k = 0; k < 2; k++) tb_world_run(w[k], 1);
    assert_int_equal(w[0].d->solve.iterations, w[1].d->solve.iterations);
    iterations += w[0].d->solve.iterations;
    for (int j = 0; j < 7; j++) {
      assert_near(w[1].d->qpos[j] / (j < 3 ? units[1] : 1), w[0].d->qpos[j], 1e-6);
    }
  }
  assert_true(iterations > 100);
  for (int k = 0; k < 2; k++) tb_world_free(w[k]);
}

// Boxes that start inside of each other at rest, without gravity: only springs say how much of a
// motion there is to be right about.
static void newton_starts_from_nothing(void** state) {
  (void)state;
  tbWorld w = tb_world_springs(
      tb_world_text(
          "<mujoco><option gravity='0 0 0'/><worldbody><geom type='plane' size='5 5 .1'/>"
          "<body pos='0 0 .0995' euler='3 5 0'><freejoint/><geom type='box' size='.1 .1 .09'/>"
          "</body><body pos='.05 0 .27' euler='0 7 0'><freejoint/><geom type='box' "
          "size='.1 .1 .09'/></body></worldbody></mujoco>"),
      TB_INTEGRATOR_EULER_IMPLICIT, 0.001);
  tb_world_run(w, 1);
  assert_int_equal(w.d->solve.status, TB_SOLVE_CONVERGED);
  assert_true(w.d->solve.iterations > 0);
  assert_true(w.d->solve.residual.relative <= w.m->opt.solve_tolerance);
  tb_world_free(w);
}

// A box of 1 mm comes to rest on the springs of large ones, whose dampers stop it in microseconds.
static void newton_lands_a_grain(void** state) {
  (void)state;
  tbWorld w = tb_world_springs(
      tb_world_text("<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body pos='0 0 .0016' "
                    "euler='20 10 0'><freejoint/><geom type='box' size='.001 .001 .001' "
                    "mass='8e-6'/></body></worldbody></mujoco>"),
      TB_INTEGRATOR_EULER_IMPLICIT, 1e-4);
  int unsolved = 0;
  for (int i = 0; i < 1000; i++) {
    tb_world_run(w, 1);
    unsolved += w.d->solve.status != TB_SOLVE_CONVERGED;
  }
  print_message("%d of 1000 steps unsolved\n", unsolved);
  assert_true(unsolved < 300);
  assert_near(w.d->qpos[2], 0.001, 1e-8);
  for (int i = 0; i < 6; i++) assert_near(w.d->qvel[i], 0, 1e-6);
  tb_world_free(w);
}

// A mass that slides askew while it is pressed down. Newton's matrix holds the slope of the cone:
// the normal force's part of friction and how friction turns with the slip. With it the residual's
// digits double from one iteration to the next; without, they come one by one.
static void newton_knows_the_cone(void** state) {
  (void)state;
  static const char MASS[] =
      "<mujoco><worldbody><geom type='plane' size='5 5 .1' friction='.5 0 0'/><body pos='0 0 .1'>"
      "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"
      "<joint type='slide' axis='0 0 1'/><geom type='sphere' size='.1' mass='1' "
      "friction='.5 0 0'/></body></worldbody></mujoco>";
  tbRng rng = {7};
  enum { DRAWS = 500 };
  int most = 0, sum = 0, slid = 0;
  for (int i = 0; i < DRAWS; i++) {
    tbWorld w = tb_world_springs(tb_world_text(MASS), TB_INTEGRATOR_EULER_IMPLICIT, 0.002);
    w.m->opt.solve_tolerance = 1e-11;
    double angle = tb_rng_uniform(&rng, 0, 6.2), speed = tb_rng_uniform(&rng, 0.1, 0.5);
    w.d->qpos[2] = -1e-4;
    w.d->qvel[0] = speed * cos(angle);
    w.d->qvel[1] = speed * sin(angle);
    w.d->qvel[2] = tb_rng_uniform(&rng, -0.1, 0);
    w.d->qfrc_applied[0] = tb_rng_uniform(&rng, -20, 20);
    w.d->qfrc_applied[1] = tb_rng_uniform(&rng, -20, 20);
    w.d->qfrc_applied[2] = -30;
    tb_world_run(w, 1);
    assert_int_equal(w.d->solve.status, TB_SOLVE_CONVERGED);
    most = w.d->solve.iterations > most ? w.d->solve.iterations : most;
    sum += w.d->solve.iterations;
    const tbViscoelasticState* step = tb_viscoelastic_state(w.d->work->step);
    slid += step->springs.count == 1 && step->springs.list[0].slipping;
    tb_world_free(w);
  }
  print_message("at most %d iterations, %.2f in the mean, %d of %d slide\n", most,
                (double)sum / DRAWS, slid, DRAWS);
  assert_true(10 * slid >= 9 * DRAWS);
  // Quadratic convergence: without the derivative of the friction direction it takes 10 iterations,
  // without that of the limit by the normal force 3.1 on average.
  assert_true(most <= 4 && sum <= 3 * DRAWS);
}

// ---- events of expo-midpoint --------------------------------------------------------------------

// Two feet of one mass, one of them still in the floor but leaving it so fast that its damper would
// pull: it is off from the start, and the moment to find is when the other one lets go.
static void foot_that_is_off_hides_no_event(void** state) {
  (void)state;
  static const char FEET[] =
      "<mujoco><worldbody><geom type='plane' size='5 5 .1' condim='1'/><body pos='0 0 .1'>"
      "<joint type='slide' axis='0 0 1'/><geom type='sphere' size='.1' mass='1' condim='1'/>"
      "<geom type='sphere' pos='1 0 .0009' size='.1' mass='1' condim='1'/></body>"
      "</worldbody></mujoco>";
  double h = 0.01, v = 0.1, z = -1e-3, t = 0, dt = 1e-7;
  tbWorld w = tb_world_springs(tb_world_text(FEET), TB_INTEGRATOR_EXPO_MIDPOINT, h);
  w.d->qpos[0] = z;
  w.d->qvel[0] = v;
  assert_int_equal(tb_forward_for(w.m, w.d, (tbPurpose){.locates_events = true}), TB_OK);
  // The deeper one alone, by small steps, until it would pull.
  while (-STIFFNESS * z - DAMPING * v > 0) {
    v += dt * ((-STIFFNESS * z - DAMPING * v) / 2 - G);
    z += dt * v;
    t += dt;
  }
  assert_true(t > 0.1 * h && t < 0.9 * h);
  assert_near(tb_viscoelastic_state(w.d->work->step)->event, t, 2e-3 * h);
  tb_world_free(w);
}

// A contact that was carried away from its anchor beyond the cone, and now comes back: it sticks
// from the start, and nothing happens within the step.
static void slip_that_turns_at_once_is_no_event(void** state) {
  (void)state;
  static const char MASS[] =
      "<mujoco><worldbody><geom type='plane' size='5 5 .1' friction='.5 0 0'/><body pos='0 0 .1'>"
      "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
      "<geom type='sphere' size='.1' mass='1' friction='.5 0 0'/></body></worldbody></mujoco>";
  tbWorld w = tb_world_springs(tb_world_text(MASS), TB_INTEGRATOR_EXPO_MIDPOINT, 0.002);
  w.d->qpos[1] = -G / STIFFNESS;
  tb_world_run(w, 1);
  w.d->qpos[0] += 1e-3;
  w.d->qvel[0] = -0.01;
  assert_int_equal(tb_forward_for(w.m, w.d, (tbPurpose){.locates_events = true}), TB_OK);
  const tbViscoelasticState* step = tb_viscoelastic_state(w.d->work->step);
  assert_true(step->springs.count == 1 && step->springs.list[0].slipping);
  assert_near(step->event, w.m->opt.timestep, 1e-12);
  tb_world_free(w);
}

// ---- energy from nowhere -----------------------------------------------------------------------

// A box that starts within a larger one falls to the floor inside it, and both rest there. Springs
// whose ends have not come up yet are slack; as oscillators they pulled, so that the floor let go
// of the box and threw it out again with 700 J from 16 cm below.
static void slack_springs_do_not_pull(void** state) {
  (void)state;
  tbWorld w =
      tb_world_springs(tb_world_text("<mujoco><default><geom type='box' mass='1'/></default>"
                                     "<worldbody><geom type='plane' size='5 5 .1'/><body pos='0 0 "
                                     ".5'><freejoint/><geom size='.5 .5 .5'/></body><body pos='0 0 "
                                     ".5'><freejoint/><geom size='.1 .1 .1'/></body></worldbody>"
                                     "</mujoco>"),
                       TB_INTEGRATOR_EXPO, 0.002);
  for (int i = 0; i < 500; i++) {
    tb_world_run(w, 1);
    assert_true(tb_world_energy(w) < 2 * 9.81 * 0.5 + 3);
    assert_true(w.d->qpos[9] > 0.08);
  }
  assert_near(w.d->qpos[2], 0.5, 1e-3);
  assert_near(w.d->qpos[9], 0.1, 1e-3);
  tb_world_free(w);
}

// Grains of a milligram at steps of up to 3e6 times their contact's time constant: if slip
// increases the normal force, friction proportional to it is unstable within a step. No step fails,
// and the energy is not much more than that of the fall.
static void grains_do_not_run_away(void** state) {
  (void)state;
  static const char* const SHAPES[] = {
      "capsule' size='.0003 .0005", "sphere' size='.0005", "ellipsoid' size='.0005 .0004 .0003",
      "cylinder' size='.0005 .0005", "box' size='.0005 .0005 .0005"};
  static const double STEPS[] = {0.002, 0.005};
  for (int k = 0; k < 10; k++) {
    char xml[4096] = "<mujoco><worldbody><geom type='plane' size='5 5 .1'/>", grain[256];
    for (int i = 0; i < 6; i++) {
      snprintf(grain, sizeof grain,
               "<body pos='%g %g %g'><freejoint/><geom type='%s' mass='1e-6'/></body>",
               0.00041 * (i % 3), 0.0003 * (i % 2), 0.001 + 0.0012 * i, SHAPES[k / 2]);
      strcat(xml, grain);
    }
    strcat(xml, "</worldbody></mujoco>");
    tbWorld w = tb_world_springs(tb_world_text(xml), TB_INTEGRATOR_EXPO, STEPS[k % 2]);
    double start = tb_world_energy(w), most = tb_world_run_energy(w, 150);
    print_message("%s: %.2g J, at most %.2g J\n", SHAPES[k / 2], start, most);
    assert_true(most < 100 * start);
    tb_world_free(w);
  }
}

// Light parts that are thrown together spin by more than a step resolves: overlaps caused by this
// rotation once counted as compressed springs, 1e12 J at 2 ms. And a screw that spins in flight
// keeps its energy, with its frame 2 cm off its centre of mass.
static void screws_in_a_bin_come_to_rest(void** state) {
  (void)state;
  enum { SCREWS = 20 };
  static const char SCREW[] =
      "<body pos='%g %g %g' euler='%g %g %g'><freejoint/><geom type='cylinder' size='.012 .004' "
      "mass='.01'/><geom type='cylinder' size='.006 .025' pos='0 0 .029' mass='.02'/></body>";
  char xml[8192] =
      "<mujoco><default><geom type='box'/></default><worldbody><geom type='plane' size='1 1 .1'/>"
      "<geom size='.01 .08 .15' pos='.07 0 .15'/><geom size='.01 .08 .15' pos='-.07 0 .15'/>"
      "<geom size='.08 .01 .15' pos='0 .07 .15'/><geom size='.08 .01 .15' pos='0 -.07 .15'/>";
  for (int i = 0; i < SCREWS; i++) {
    size_t at = strlen(xml);
    snprintf(xml + at, sizeof xml - at, SCREW, 0.01 * ((i * 7) % 5 - 2), 0.01 * ((i * 3) % 5 - 2),
             0.06 + 0.05 * i, i * 77.0, i * 131.0, i * 53.0);
  }
  strcat(xml, "</worldbody></mujoco>");
  tbWorld w = tb_world_springs(tb_world_text(xml), TB_INTEGRATOR_EXPO, 0.002);
  double start = tb_world_energy(w), most = tb_world_run_energy(w, 1000), end = tb_world_energy(w);
  print_message("screws: %.3g J, at most %.3g, in the end %.3g\n", start, most, end);
  assert_true(most < 1.1 * start && end < 0.2 * start);
  tb_world_free(w);

  static const double STEP[] = {0.0005, 0.001, 0.002, 0.005, 0.01};
  snprintf(xml, sizeof xml, "<mujoco><option gravity='0 0 0'/><worldbody>");
  size_t at = strlen(xml);
  snprintf(xml + at, sizeof xml - at, SCREW, 0., 0., 0., 0., 0., 0.);
  strcat(xml, "</worldbody></mujoco>");
  for (int k = 0; k < 5; k++) {
    w = tb_world_springs(tb_world_text(xml), TB_INTEGRATOR_EXPO, STEP[k]);
    for (int i = 3; i < 6; i++) w.d->qvel[i] = 100 + 50 * i;
    tbReal before = tb_world_energy(w), now;
    tb_world_run(w, tb_world_steps(w, 1));
    now = tb_world_energy(w);
    print_message("%g s: %.4g J, then %.4g\n", STEP[k], before, now);
    assert_near(now, before, 0.05 * before);
    tb_world_free(w);
  }
}

// A tonne falls on a box of a milligram at 10 ms: means that are cut one by one threw them apart
// with 4e8 J.
static void cut_means_make_no_energy(void** state) {
  (void)state;
  tbWorld w = tb_world_springs(
      tb_world_text("<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body pos='0 0 .1'>"
                    "<freejoint/><geom type='box' size='.1 .1 .1' mass='1e-6'/></body><body "
                    "pos='.03 .02 .5'><freejoint/><geom size='.1' mass='1e3'/></body></worldbody>"
                    "</mujoco>"),
      TB_INTEGRATOR_EXPO, 0.01);
  double start = tb_world_energy(w);
  for (int i = 0; i < 50; i++) {
    tb_world_run(w, 1);
    assert_true(tb_world_energy(w) < 1.1 * start);
  }
  tb_world_free(w);
}

// A robot without torques falls down at steps of 5 and 10 ms; its lower legs turn at up to a radian
// in a step, whose dJ/dt v is no acceleration any more. It made a million joules.
static void fast_legs_make_no_energy(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    tbWorld w = tb_world_springs(tb_world_scene("quadruped_torque.xml", NULL), TB_INTEGRATOR_EXPO,
                                 k ? 0.01 : 0.005);
    double most = tb_world_run_energy(w, k ? 1000 : 2000);
    print_message("at most %.3g J\n", most);
    assert_true(most < 300);
    tb_world_free(w);
  }
}

// ---- springs and servos -------------------------------------------------------------------------

// Undamped springs by the trapezoidal rule: after n steps at n theta of their circle, tan(theta/2)
// = h w/2, whatever pulls and however stiff. Without gravity, 2 kg at 5000 N/m.
static void springs_stay_on_their_circle(void** state) {
  (void)state;
  static const char* const PULLS[] = {
      "<joint name='j' type='slide' axis='0 1 0' stiffness='5000'/>",
      "",
      "<joint name='j' type='slide' axis='0 1 0'/>",
      "<actuator><position joint='j' kp='5000'/></actuator>",
      "<joint name='j' type='slide' axis='0 1 0'/>",
      "<tendon><fixed stiffness='1250' springlength='0'><joint joint='j' "
      "coef='2'/></fixed></tendon>",
      "<joint name='j' type='slide' axis='0 1 0'/>",
      "<tendon><spatial stiffness='5000' springlength='3'><site site='a'/><site site='b'/>"
      "</spatial></tendon>"};
  static const double STEPS[] = {0.002, 0.02, 0.1};
  for (int k = 0; k < 12; k++) {
    char xml[1024];
    snprintf(xml, sizeof xml,
             "<mujoco><option gravity='0 0 0'/><worldbody><site name='a' pos='0 3 0'/><body>%s"
             "<geom type='box' size='.1 .1 .1' mass='2'/><site name='b'/></body></worldbody>%s"
             "</mujoco>",
             PULLS[2 * (k / 3)], PULLS[2 * (k / 3) + 1]);
    double h = STEPS[k % 3], turn = 2 * atan(0.5 * h * 50);
    tbWorld w = tb_world_springs(tb_world_text(xml), TB_INTEGRATOR_EXPO, h);
    w.d->qpos[0] = 0.3;
    for (int i = 1; i <= 3000; i++) {
      tb_world_run(w, 1);
      assert_near(w.d->qpos[0], 0.3 * cos(i * turn), 1e-8);
    }
    tb_world_free(w);
  }
}

// An inactive force does not change within the step either: a slack tendon does not brake its body,
// a saturated servo keeps its force.
static void slack_and_held_springs_are_constant(void** state) {
  (void)state;
  tbWorld w = tb_world_springs(
      tb_world_text(
          "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='a' type='slide' "
          "axis='1 0 0'/><geom size='.1' mass='2'/></body><body pos='0 1 0'><joint name='b' "
          "type='slide' axis='1 0 0'/><geom size='.1' mass='2'/></body></worldbody><tendon>"
          "<fixed stiffness='5000' springlength='-1 1'><joint joint='a' coef='1'/></fixed>"
          "</tendon><actuator><position joint='b' kp='5000' forcerange='-3 3'/></actuator>"
          "</mujoco>"),
      TB_INTEGRATOR_EXPO, 0.01);
  w.d->qvel[0] = 0.5;
  w.d->ctrl[0] = 10;
  tb_world_run(w, 100);
  assert_near(w.d->qvel[0], 0.5, 1e-12);
  assert_near(w.d->qpos[0], 0.5, 1e-12);
  assert_near(w.d->qvel[1], 1.5, 1e-12);
  assert_near(w.d->qpos[1], 0.75, 1e-12);
  tb_world_free(w);
}

// Balls and trees of springs, at h w up to 2: what nonlinear forces held over 5 ms add in 20 s.
static void trees_of_springs_stay_bounded(void** state) {
  (void)state;
  tbWorld w = tb_world_springs(
      tb_world_text("<mujoco><worldbody><body><joint type='ball' stiffness='40'/><geom "
                    "type='capsule' fromto='0 0 0 .3 0 0' size='.02' mass='.5'/><body pos='.3 0 "
                    "0'><joint axis='0 1 0' stiffness='900'/><geom type='capsule' fromto='0 0 0 .2 "
                    "0 0' size='.02' mass='.1'/><body pos='.2 0 0'><joint axis='0 0 1' "
                    "stiffness='30'/><geom type='capsule' fromto='0 0 0 .1 0 0' size='.01' "
                    "mass='.02'/></body></body></body></worldbody></mujoco>"),
      TB_INTEGRATOR_EXPO, 0.005);
  w.d->qvel[1] = w.d->qvel[2] = 5;
  double start = tb_world_energy(w), most = tb_world_run_energy(w, 4000);
  print_message("%.4g J at the start, at most %.4g J\n", start, most);
  assert_true(most < 1.25 * start);
  tb_world_free(w);
}

// ---- long steps ---------------------------------------------------------------------------------

// Three boxes put on each other, and so with gaps of rounding, sink to where their springs bear
// them and stay: no step is too long, because their contacts are there from the first one on.
static void stack_stands_at_any_step(void** state) {
  (void)state;
  static const char BOX[] = "<freejoint/><geom type='box' size='.1 .1 .1' mass='8'/></body>";
  static const double STEPS[] = {0.002, 0.01, 0.02, 0.05, 0.1};
  char xml[1024];
  snprintf(xml, sizeof xml,
           "<mujoco><worldbody><geom type='plane' size='9 9 .1'/><body pos='0 0 .1'>%s<body pos='0 "
           "0 .3'>%s<body pos='0 0 .5'>%s</worldbody></mujoco>",
           BOX, BOX, BOX);
  for (int k = 0; k < 5; k++) {
    tbWorld w = tb_world_springs(tb_world_text(xml), TB_INTEGRATOR_EXPO, STEPS[k]);
    double start = tb_world_energy(w), sunk = 0;
    for (int i = 0; i * STEPS[k] < 2; i++) {
      tb_world_run(w, 1);
      assert_true(tb_world_energy(w) <= start + 1e-9);
    }
    // each rests on four springs of 1e5 N/m
    for (int b = 0; b < 3; b++) {
      sunk += (3 - b) * 8 * 9.81 / (4 * 1e5);
      assert_near(w.d->qpos[7 * b + 2], 0.1 + 0.2 * b - sunk, 1e-8);
      assert_near(w.d->qpos[7 * b], 0, 1e-8);
    }
    tb_world_free(w);
  }
}

// A runaway motor beside a ball that lands within the step, which is so made in parts: the message
// names the step that the user chose.
static void messages_name_the_whole_step(void** state) {
  (void)state;
  tbWorld w = tb_world_springs(
      tb_world_text(
          "<mujoco><worldbody><geom type='plane' size='5 5 1'/><body pos='0 0 .11'><joint "
          "type='slide' axis='0 0 1'/><geom size='.1' mass='1'/></body><body pos='3 0 1'>"
          "<joint name='j' axis='0 0 1'/><geom size='.1' mass='1'/></body></worldbody>"
          "<actuator><general joint='j' biastype='affine' gainprm='0'/></actuator>"
          "</mujoco>"),
      TB_INTEGRATOR_EXPO_MIDPOINT, 0.01);
  w.m->actuator_biasprm[2] = 4;
  w.d->qvel[0] = -3;
  w.d->qvel[1] = 2e8;
  assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
  assert_non_null(strstr(w.d->message, "now 0.01 s"));
  assert_true(w.d->time == 0 && w.d->qvel[1] == 2e8);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limit_comes_up_slowly),
      cmocka_unit_test(whirling_gains_no_energy),
      cmocka_unit_test(newton_finds_the_root_or_improves),
      cmocka_unit_test(newton_knows_no_metres),
      cmocka_unit_test(newton_starts_from_nothing),
      cmocka_unit_test(newton_lands_a_grain),
      cmocka_unit_test(newton_knows_the_cone),
      cmocka_unit_test(foot_that_is_off_hides_no_event),
      cmocka_unit_test(slip_that_turns_at_once_is_no_event),
      cmocka_unit_test(slack_springs_do_not_pull),
      cmocka_unit_test(grains_do_not_run_away),
      cmocka_unit_test(cut_means_make_no_energy),
      cmocka_unit_test(fast_legs_make_no_energy),
      cmocka_unit_test(springs_stay_on_their_circle),
      cmocka_unit_test(screws_in_a_bin_come_to_rest),
      cmocka_unit_test(slack_and_held_springs_are_constant),
      cmocka_unit_test(trees_of_springs_stay_bounded),
      cmocka_unit_test(stack_stands_at_any_step),
      cmocka_unit_test(messages_name_the_whole_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
