// Motions with friction against their closed forms or their differential equations: rolling on what
// turns, oscillators that friction drives, slides that pull on each other. Each error is of first
// order in the step at most.
#include "common/worlds.h"

static const double PI = 3.14159265358979324;
static const tbReal GRAVITY = 9.81;

// y' = f(t, y), n <= 4, by Runge and Kutta's rule in steps of 10 us or less.
typedef void (*Slope)(const double* y, double* out);

static void integrate(Slope slope, int n, double* y, double time) {
  const double ahead[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  int steps = (int)ceil(time / 1e-5);
  double h = time / steps;
  for (int i = 0; i < steps; i++) {
    double k[4] = {0}, sum[4] = {0}, at[4];
    for (int stage = 0; stage < 4; stage++) {
      for (int j = 0; j < n; j++) at[j] = y[j] + h * ahead[stage] * k[j];
      slope(at, k);
      for (int j = 0; j < n; j++) sum[j] += weight[stage] * k[j];
    }
    for (int j = 0; j < n; j++) y[j] += h / 6 * sum[j];
  }
}

// The error at 2 ms, and half of it at 1 ms.
static void assert_first_order(double (*error)(double step), double most) {
  double coarse = error(0.002), fine = error(0.001);
  assert_true(coarse < most);
  assert_near(fine / coarse, 0.5, 0.05);
}

// ---- rolling ------------------------------------------------------------------------------------

// A ball that rolls on a turntable moves on a circle at 2/7 of the table's rate.
static double turntable_error(double step) {
  const double rate = 3, r = 0.05, start = 0.6, speed = 0.4, turn = 2.0 / 7 * rate;
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><body><joint axis='0 0 1'/><geom type='cylinder' size='3 .1' pos='0 0 "
      "-.1' mass='1e5'/></body><body pos='.6 0 .05'><freejoint/><geom size='.05' mass='.3'/></body>"
      "</worldbody></mujoco>");
  w.m->opt.timestep = step;
  w.m->opt.solve_tolerance = 1e-10;
  w.d->qvel[0] = rate;
  w.d->qvel[2] = speed;
  w.d->qvel[4] = (rate * start - speed) / r;
  double worst = 0, circle = speed / turn;
  for (int i = tb_world_steps(w, 2); i > 0; i--) {
    tb_world_run_solved(w, 1);
    double x = start - circle * (1 - cos(turn * w.d->time)), y = circle * sin(turn * w.d->time);
    worst = fmax(worst, hypot(w.d->qpos[1] - x, w.d->qpos[2] - y));
  }
  tb_world_free(w);
  return worst;
}

// A ball that rolls round an upright pillar does not spiral down, but goes up and down at
// sqrt(2/7) of the rate at which it goes round (as a golf ball does in its hole). Weightless, it
// swings about where it began.
static double pillar_error(double step) {
  const double rate = 4, r = 0.05, m = 0.3, from_axis = 0.55, climb = 0.3;
  const double swing = sqrt(2.0 / 7) * rate;
  tbWorld w = tb_world_text(
      "<mujoco><option gravity='0 0 0'/><worldbody><geom type='cylinder' size='.5 9' friction='2'/>"
      "<body pos='.55 0 0'><freejoint/><geom size='.05' mass='.3'/></body></worldbody></mujoco>");
  w.m->opt.timestep = step;
  w.m->opt.solve_tolerance = 1e-10;
  const tbReal start[6] = {0, rate * from_axis, climb, 0, -climb / r, rate * from_axis / r};
  memcpy(w.d->qvel, start, sizeof start);
  double worst = 0;
  for (int i = tb_world_steps(w, 2 * PI / swing); i > 0; i--) {
    for (int k = 0; k < 2; k++) w.d->xfrc_applied[6 + k] = -6 * m * rate * rate * w.d->qpos[k];
    tb_world_run_solved(w, 1);
    worst = fmax(worst, fabs(w.d->qpos[2] - climb / swing * sin(swing * w.d->time)));
  }
  tb_world_free(w);
  return worst;
}

static void balls_roll_on_what_turns(void** state) {
  (void)state;
  assert_first_order(turntable_error, 2e-3);
  assert_first_order(pillar_error, 4e-3);
}

// ---- oscillators --------------------------------------------------------------------------------

// A plank lies across two rollers that spin towards each other: friction makes it oscillate at w^2
// = mu g / (L - mu d), with the rollers 2 L apart and the plank's middle d above them, at any speed
// of the rollers.
static double plank_error(double step) {
  const double mu = 0.3, apart = 0.4, above = 0.02, start = 0.05;
  const double swing = sqrt(mu * GRAVITY / (apart - mu * above));
  tbWorld w = tb_world_text(
      "<mujoco><default><geom friction='.3'/><default class='roller'><geom type='cylinder' "
      "size='.1 .2' zaxis='0 1 0' mass='1e6'/></default></default><worldbody><body pos='-.4 0 0'>"
      "<joint axis='0 1 0'/><geom class='roller'/></body><body pos='.4 0 0'><joint axis='0 1 0'/>"
      "<geom class='roller'/></body><body pos='0 0 .12'><freejoint/><geom type='box' size='2 .1 "
      ".02' mass='2'/></body></worldbody></mujoco>");
  w.m->opt.timestep = step;
  w.m->opt.solve_tolerance = 1e-10;
  for (int g = 0; g < w.m->ngeom; g++) w.m->geom_friction[3 * g] = mu;
  w.d->qvel[0] = 30;
  w.d->qvel[1] = -30;
  w.d->qpos[2] = start;
  double worst = 0;
  for (int i = tb_world_steps(w, 5); i > 0; i--) {
    tb_world_run_solved(w, 1);
    worst = fmax(worst, fabs(w.d->qpos[2] - start * cos(swing * w.d->time)));
  }
  tb_world_free(w);
  return worst;
}

static void plank_swings_on_rollers(void** state) {
  (void)state;
  assert_first_order(plank_error, 3e-4);
}

// A block on a belt, held by a spring: the belt carries it along until the friction limit is
// reached. From then on it oscillates with amplitude v / w and touches the belt's speed once a
// period. Under every rigid law except the convex one.
static void block_on_a_belt_swings(void** state) {
  (void)state;
  const double mu = 0.4, k = 40, belt = 0.3, leaves = mu * GRAVITY / k, swing = sqrt(k);
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    if (law == TB_LAW_CCP) continue;
    tbWorld w = tb_world_text(
        "<mujoco><default><geom friction='.4'/></default><worldbody><body><joint type='slide' "
        "axis='1 0 0'/><geom type='box' size='20 .5 .1' pos='0 0 -.1' mass='1e9'/></body><body "
        "pos='0 0 .1'><joint type='slide' axis='1 0 0' stiffness='40'/><joint type='slide' axis='0 "
        "0 1'/><geom type='box' size='.1 .1 .1' mass='1'/></body></worldbody></mujoco>");
    w.m->opt.law = law;
    w.m->opt.solve_tolerance = 1e-10;
    w.d->qvel[0] = w.d->qvel[1] = belt;
    for (int i = tb_world_steps(w, 5); i > 0; i--) {
      tb_world_run_solved(w, 1);
      double since = w.d->time - leaves / belt;
      double x = since < 0 ? belt * w.d->time : leaves + belt / swing * sin(swing * since);
      assert_near(w.d->qpos[1], x, 3e-5);
    }
    tb_world_free(w);
  }
}

// ---- sliding ------------------------------------------------------------------------------------

// A ladder slides down a rough wall and a rough floor, by Newton's three equations for its turning
// and both normal forces. Its ends are round, r = 1 cm: friction acts on their surfaces.
static const double LADDER = 1, LADDER_END = 0.01, ON_FLOOR = 0.15, ON_WALL = 0.2;

static void slide_down(const double* y, double* out) {
  const double c = cos(y[0]), s = sin(y[0]), fall = y[1] * y[1];
  // x'' = N2 - mu1 N1, z'' = N1 + mu2 N2 - g, both of unit mass, in terms of the turning a: N1 =
  // p1 + q1 a, N2 = p2 + q2 a.
  const double det = 1 + ON_FLOOR * ON_WALL;
  const double x[2] = {-LADDER * c * fall, -LADDER * s};
  const double z[2] = {-LADDER * s * fall + GRAVITY, LADDER * c};
  double floor[2], wall[2];
  for (int k = 0; k < 2; k++) {
    floor[k] = (z[k] - ON_WALL * x[k]) / det;
    wall[k] = (x[k] + ON_FLOOR * z[k]) / det;
  }
  const double arm1 = LADDER * c - ON_FLOOR * (LADDER * s + LADDER_END);
  const double arm2 = LADDER * s + ON_WALL * (LADDER * c + LADDER_END);
  const double inertia = LADDER * LADDER / 3;
  out[0] = y[1];
  out[1] = (-arm1 * floor[0] + arm2 * wall[0]) / (inertia + arm1 * floor[1] - arm2 * wall[1]);
}

static double ladder_error(double step) {
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><geom type='plane' size='9 9 1' friction='0'/><geom type='plane' size='9 "
      "9 1' zaxis='1 0 0' friction='0'/><body pos='.51 0 .87602540378443865'><joint type='slide' "
      "axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint axis='0 1 0'/><inertial pos='0 0 0' "
      "mass='2' diaginertia='.66666666666666667 .66666666666666667 .66666666666666667'/><geom "
      "size='.01' pos='.5 0 -.86602540378443865' friction='.15'/><geom size='.01' pos='-.5 0 "
      ".86602540378443865' friction='.2'/></body></worldbody></mujoco>");
  w.m->opt.timestep = step;
  w.m->opt.solve_tolerance = 1e-11;
  double y[2] = {PI / 3, 0};
  tb_world_run_solved(w, tb_world_steps(w, 0.35));
  integrate(slide_down, 2, y, w.d->time);
  double error = fabs(w.d->qpos[2] - (y[0] - PI / 3));
  assert_near(w.d->qvel[2], y[1], 1e-5);
  tb_world_free(w);
  return error;
}

static void ladder_slides_down_a_rough_wall(void** state) {
  (void)state;
  assert_first_order(ladder_error, 8e-4);
}

// Friction that differs along two axes brakes by mu_i^2 v_i over the length of mu_i v_i: the path
// bends towards the smoother one.
static const double SMOOTH = 0.2, ROUGH = 0.6;

static void bend(const double* y, double* out) {
  double slow = hypot(SMOOTH * y[2], ROUGH * y[3]);
  out[0] = y[2];
  out[1] = y[3];
  out[2] = -GRAVITY * SMOOTH * SMOOTH * y[2] / slow;
  out[3] = -GRAVITY * ROUGH * ROUGH * y[3] / slow;
}

static double bent_path_error(double step) {
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><geom name='floor' type='plane' size='9 9 1'/><body><joint type='slide' "
      "axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint type='slide' axis='0 0 1'/><geom "
      "name='ball' size='.05' pos='0 0 .05' mass='1'/></body></worldbody><contact><pair "
      "geom1='floor' geom2='ball' condim='3' friction='.2 .6 0 0 0'/></contact></mujoco>");
  w.m->opt.timestep = step;
  w.m->opt.solve_tolerance = 1e-11;
  w.d->qvel[0] = 1;
  w.d->qvel[1] = 0.5;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  const tbReal* axis = w.d->contact[0].frame + 3;
  bool swapped = fabs(axis[0]) < 0.5;
  assert_near(fabs(axis[swapped]), 1, 1e-12);
  double y[4] = {0, 0, swapped ? 0.5 : 1, swapped ? 1 : 0.5};
  tb_world_run_solved(w, tb_world_steps(w, 0.2));
  integrate(bend, 4, y, w.d->time);
  double error = hypot(w.d->qpos[0] - y[swapped], w.d->qpos[1] - y[!swapped]);
  tb_world_free(w);
  return error;
}

// A ball that slides and spins about its normal has one cone for force and torsion (condim 4):
// both brake by mu_i^2 v_i over the length of both.
static const double SPIN_RADIUS = 0.1, SLIDING = 0.3, TORSION = 0.02;

static void slide_and_spin(const double* y, double* out) {
  double slip = y[1] - SPIN_RADIUS * y[2], inertia = 0.4 * SPIN_RADIUS * SPIN_RADIUS;
  double slow = hypot(SLIDING * slip, TORSION * y[3]);
  double force = -GRAVITY * SLIDING * SLIDING * slip / slow;
  out[0] = y[1];
  out[1] = force;
  out[2] = -SPIN_RADIUS * force / inertia;
  out[3] = -GRAVITY * TORSION * TORSION * y[3] / slow / inertia;
}

static double spinning_ball_error(double step) {
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><geom type='plane' size='9 9 1' friction='0 0 0'/><body pos='0 0 .1'>"
      "<freejoint/><geom size='.1' mass='1' condim='4' friction='.3 .02 0'/></body></worldbody>"
      "</mujoco>");
  w.m->opt.timestep = step;
  w.m->opt.solve_tolerance = 1e-11;
  double y[4] = {0, 1, -5, 30};
  w.d->qvel[0] = y[1];
  w.d->qvel[4] = y[2];
  w.d->qvel[5] = y[3];
  tb_world_run_solved(w, tb_world_steps(w, 0.2));
  integrate(slide_and_spin, 4, y, w.d->time);
  double error = fabs(w.d->qpos[0] - y[0]);
  tb_world_free(w);
  return error;
}

static void axes_share_one_cone(void** state) {
  (void)state;
  assert_first_order(bent_path_error, 2e-3);
  assert_first_order(spinning_ball_error, 4e-4);
}

// A block slides down a rough wedge that slides on ice: two accelerations that do not change, by
// three equations.
static void block_slides_down_a_free_wedge(void** state) {
  (void)state;
  const double slope = 0.6, mu = 0.2, m = 1, M = 3, s = sin(slope), c = cos(slope);
  const double height = tan(slope), down = 0.3, time = 0.25;
  for (int law = 0; law < TB_LAW_RAISIM; law++) {
    if (law == TB_LAW_CCP) continue;
    char xml[2048];
    snprintf(xml, sizeof xml,
             "<mujoco><asset><mesh name='w' vertex='0 -.3 0 1 -.3 0 0 -.3 %.17g 0 .3 0 1 .3 0 0 .3 "
             "%.17g'/></asset><worldbody><geom type='plane' size='9 9 1' condim='1'/><body><joint "
             "type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><inertial pos='0 0 0' "
             "mass='3' diaginertia='1 1 1'/><geom name='w' type='mesh' mesh='w' condim='1' "
             "friction='0'/></body><body pos='%.17g 0 %.17g' quat='%.17g 0 %.17g 0'><freejoint/>"
             "<geom name='b' type='box' size='.05 .05 .05' mass='1' condim='1'/></body></worldbody>"
             "<contact><pair geom1='w' geom2='b' condim='3' friction='%g %g 0 0 0'/></contact>"
             "</mujoco>",
             height, height, down + 0.05 * s, height * (1 - down) + 0.05 * c, cos(slope / 2),
             sin(slope / 2), mu, mu);
    tbWorld w = tb_world_text(xml);
    w.m->opt.law = law;
    w.m->opt.solve_tolerance = 1e-10;
    tb_world_run_solved(w, tb_world_steps(w, time));
    // With N between them: M A = -N (s - mu c); m (A + a c) = N (s - mu c); m a s = m g - N (c +
    // mu s), a along the slope.
    double push = s - mu * c, lift = c + mu * s;
    double N = m * GRAVITY * c / (lift * c + push * s * (1 + m / M));
    assert_near(w.d->qvel[0], -N * push / M * time, 1e-8);
    assert_near(w.d->qvel[2], N * push / m * time, 1e-8);
    tb_world_free(w);
  }
}

// ---- impacts ------------------------------------------------------------------------------------

// Five balls of different masses with gaps between them hit each other one by one, as often as it
// takes: impact after impact, between flights.
static void row_of_unequal_balls(void** state) {
  (void)state;
  enum { COUNT = 5 };
  const double mass[COUNT] = {1, 0.5, 2, 0.7, 1.3}, e = 0.8, time = 2;
  double x[COUNT], v[COUNT] = {3};
  char xml[2048] = "<mujoco><option gravity='0 0 0' timestep='.001'/><worldbody>", ball[256];
  for (int i = 0; i < COUNT; i++) {
    x[i] = 0.13 * i;
    snprintf(ball, sizeof ball,
             "<body pos='%g 0 0'><freejoint/><geom size='.05' mass='%g' restitution='%g'/></body>",
             x[i], mass[i], e);
    strcat(xml, ball);
  }
  int impacts = 0;
  for (double left = time;; impacts++) {
    int next = -1;
    double first = left;
    for (int i = 0; i + 1 < COUNT; i++) {
      double closing = v[i] - v[i + 1];
      if (closing < 1e-12 || !((x[i + 1] - x[i] - 0.1) / closing < first)) continue;
      first = (x[i + 1] - x[i] - 0.1) / closing;
      next = i;
    }
    if (next < 0) break;
    for (int i = 0; i < COUNT; i++) x[i] += first * v[i];
    left -= first;
    double push = (1 + e) * (v[next] - v[next + 1]) / (1 / mass[next] + 1 / mass[next + 1]);
    v[next] -= push / mass[next];
    v[next + 1] += push / mass[next + 1];
  }
  assert_true(impacts > 5);
  tbWorld w = tb_world_text(strcat(xml, "</worldbody></mujoco>"));
  w.d->qvel[0] = 3;
  tb_world_run_solved(w, tb_world_steps(w, time));
  for (int i = 0; i < COUNT; i++) assert_near(w.d->qvel[6 * i], v[i], 1e-9);
  tb_world_free(w);
}

// Under Runge and Kutta's rule a ball flies exactly and bounces as high as under Euler's, of first
// order; the step whose later stages touch, though it starts free, is differenced.
static void runge_kutta_bounces(void** state) {
  (void)state;
  const double e = 0.8;
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(
        "<mujoco><option timestep='.001' integrator='RK4'/><worldbody><geom type='plane' size='1 1 "
        "1' restitution='.8'/><body pos='0 0 1.1'><freejoint/><geom size='.1' mass='1'/></body>"
        "</worldbody></mujoco>");
    w.m->opt.law = law;
    tbDerivatives* x = tb_derivatives_new(w.m);
    tbDerivativeInfo info;
    tbReal last = 0;
    int differenced = 0, impacts = 0;
    double top = 0;
    for (int i = 0; i < 1000 && impacts < 2; i++) {
      if (w.d->time > 0.44 && impacts == 0) {
        assert_int_equal(tb_step_linearize(w.m, w.d, NULL, x, &info), TB_OK);
        differenced += info.finite_differences;
      }
      last = w.d->qvel[2];
      tb_world_run_solved(w, 1);
      if (w.d->time < 0.44) {
        assert_near(w.d->qpos[2], 1.1 - GRAVITY * w.d->time * w.d->time / 2, 1e-12);
      }
      if (last < 0 && w.d->qvel[2] > 0) impacts++;
      if (impacts == 1) top = fmax(top, w.d->qpos[2] - 0.1);
    }
    assert_near(top, e * e, 6e-3);
    assert_true(differenced > 0);
    tb_derivatives_free(x);
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(balls_roll_on_what_turns), cmocka_unit_test(plank_swings_on_rollers),
      cmocka_unit_test(block_on_a_belt_swings),   cmocka_unit_test(ladder_slides_down_a_rough_wall),
      cmocka_unit_test(axes_share_one_cone),      cmocka_unit_test(block_slides_down_a_free_wedge),
      cmocka_unit_test(row_of_unequal_balls),     cmocka_unit_test(runge_kutta_bounces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
