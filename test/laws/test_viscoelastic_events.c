// The exponential integrators where contacts change within a step: landing, slipping, letting go,
// and where the step is long or the contact stiff.
#include "common/robots.h"
#include "common/worlds.h"

// A mass that only translates, over a floor.
static const char MASS[] =
    "<mujoco><worldbody><geom type='plane' size='5 5 0.1' friction='0.5 0 0'/>"
    "<body pos='0 0 0.1'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"
    "<joint type='slide' axis='0 0 1'/><geom type='sphere' size='0.1' mass='1' friction='0.5 0 "
    "0'/></body></worldbody></mujoco>";

// ---- events ------------------------------------------------------------------------------------

// Thrown at the floor askew: it lands, slips while the normal force rises, turns, sticks or lets go
// again. Position and velocity after 20 ms.
static void thrown(int integrator, int n, const double* start, double* end) {
  tbWorld w = tb_world_springs(tb_world_text(MASS), integrator, 0.02 / n);
  for (int i = 0; i < 3; i++) w.d->qvel[i] = start[i];
  w.d->qpos[2] = start[3];
  tb_world_run(w, n);
  memcpy(end, w.d->qpos, 3 * sizeof(double));
  memcpy(end + 3, w.d->qvel, 3 * sizeof(double));
  tb_world_free(w);
}

static double distance(const double* a, const double* b) {
  double most = 0;
  for (int i = 0; i < 6; i++) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

static int ascending(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// The midpoint integrator with events: second order through all events, and the same limit as
// explicit Euler, which locates none. Where the normal force falls faster than a sticking spring
// relaxes, sticking and slipping alternate ever faster as the speed goes to zero, and rounding
// decides the result: throws whose reference changes with the number of steps are skipped. Some
// throws near these have larger errors at a shorter step: the order is that of the median.
static void events_keep_the_order(void** state) {
  (void)state;
  tbRng rng = {3};
  enum { RUNS = 16 };
  double error[3][RUNS], median[3];
  int counted = 0;
  for (int t = 0; t < RUNS; t++) {
    static const double LOW[4] = {-0.6, -0.6, -0.8, 0}, HIGH[4] = {0.6, 0.6, -0.3, 0.003};
    double start[4];
    for (int k = 0; k < 4; k++) start[k] = tb_rng_uniform(&rng, LOW[k], HIGH[k]);
    double truth[6], twice[6], end[6];
    thrown(TB_INTEGRATOR_EXPO_MIDPOINT, 2560, start, truth);
    thrown(TB_INTEGRATOR_EXPO_MIDPOINT, 1280, start, twice);
    if (distance(twice, truth) > 1e-5) continue;
    for (int k = 0; k < 3; k++) {
      thrown(TB_INTEGRATOR_EXPO_MIDPOINT, 10 << (2 * k), start, end);
      error[k][counted] = distance(end, truth);
    }
    counted++;
    if (t % 4) continue;
    thrown(TB_INTEGRATOR_EULER_EXPLICIT, 10000, start, end);
    assert_true(distance(end, truth) < 5e-3);
  }
  assert_true(counted >= RUNS / 2);
  for (int k = 0; k < 3; k++) {
    qsort(error[k], (size_t)counted, sizeof(double), ascending);
    median[k] = error[k][counted / 2];
  }
  print_message("errors at 2, 0.5, 0.125 ms: %.1e %.1e %.1e, %d of %d throws\n", median[0],
                median[1], median[2], counted, RUNS);
  // A fourth of the step: a sixteenth of the error.
  assert_true(median[0] < 2e-4);
  assert_true(median[1] < median[0] / 16 && median[2] < median[1] / 16);
}

// A mass slips slowly while the force that presses it down grows, pushed by a little less than the
// friction limit: friction is on the cone at every step, since the anchor ends each step where the
// cone at its end allows. An anchor that used the cone of the start would stick from the third step
// on: the cone grows by 100 N a step, and the damper adds 30 N at most.
static void slipping_anchor_keeps_up_with_the_cone(void** state) {
  (void)state;
  static const int INTEGRATORS[] = {TB_INTEGRATOR_EXPO, TB_INTEGRATOR_EXPO_MIDPOINT};
  for (int i = 0; i < 2; i++) {
    double h = 0.002, g = 9.81, mu = 0.5;
    tbWorld w = tb_world_springs(tb_world_text(MASS), INTEGRATORS[i], h);
    w.d->qpos[2] = -g / 1e5;
    w.d->qvel[0] = 0.05;
    for (int k = 0; k < 8; k++) {
      double press = 200.0 * k, push = mu * (g + press) - (k > 0) * 40, before = w.d->qvel[0];
      w.d->qfrc_applied[0] = push;
      w.d->qfrc_applied[2] = -press;
      tb_world_run(w, 1);
      const double* f = w.d->contact[0].force;
      assert_true(w.d->qvel[0] > 0);
      assert_near(hypot(f[1], f[2]), mu * f[0], 1e-9 * f[0]);
      if (i == 0) assert_near(w.d->qvel[0] - before, h * (push - mu * f[0]), 1e-9);
    }
    tb_world_free(w);
  }
}

// A slow slip whose direction rotates: friction stays opposite to the velocity.
static void friction_turns_with_the_slip(void** state) {
  (void)state;
  double worst = 1, h = 0.001, spin = 60;
  tbWorld w = tb_world_springs(tb_world_text(MASS), TB_INTEGRATOR_EXPO, h);
  w.d->qpos[2] = -9.81 / 1e5;
  w.d->qvel[0] = 0.03;
  for (int k = 0; k < 100; k++) {
    double push = 0.5 * 9.81 * 1.05, angle = spin * (k + 0.5) * h;
    w.d->qfrc_applied[0] = push * cos(angle);
    w.d->qfrc_applied[1] = push * sin(angle);
    double v[2] = {w.d->qvel[0], w.d->qvel[1]};
    tb_world_run(w, 1);
    const tbContact* c = &w.d->contact[0];
    double f[2], along = 0, speed = hypot(v[0], v[1]);
    for (int i = 0; i < 2; i++) {
      f[i] = c->force[1] * c->frame[3 + i] + c->force[2] * c->frame[6 + i];
      along -= f[i] * v[i] / speed;
    }
    worst = fmin(worst, along / hypot(f[0], f[1]));
  }
  print_message("cosine between friction and slip: %.6f at least\n", worst);
  assert_true(worst > 0.9999);
  tb_world_free(w);
}

// The same with a push that holds its direction for 4 ms, each made in n steps.
static void circled(int n, double* end) {
  tbWorld w = tb_world_springs(tb_world_text(MASS), TB_INTEGRATOR_EXPO_MIDPOINT, 0.004 / n);
  w.d->qpos[2] = -9.81 / 1e5;
  w.d->qvel[0] = 0.1;
  for (int k = 0; k < 25; k++) {
    w.d->qfrc_applied[0] = 0.5 * 9.81 * cos(0.1 * k);
    w.d->qfrc_applied[1] = 0.5 * 9.81 * sin(0.1 * k);
    tb_world_run(w, n);
  }
  memcpy(end, w.d->qpos, 3 * sizeof(double));
  memcpy(end + 3, w.d->qvel, 3 * sizeof(double));
  tb_world_free(w);
}

// Friction that has the direction of the middle keeps the second order where the slip turns.
static void turning_slip_keeps_the_order(void** state) {
  (void)state;
  double truth[6], end[6], error[2];
  circled(64, truth);
  for (int k = 0; k < 2; k++) {
    circled(k ? 4 : 1, end);
    error[k] = distance(end, truth);
  }
  print_message("turning slip at 4 and 1 ms: %.1e %.1e\n", error[0], error[1]);
  assert_true(error[0] < 1e-3);
  assert_true(error[1] < error[0] / 10);
}

// ---- means within the limits -------------------------------------------------------------------

// EXP eq. 23-24: over three quarters of a period a ball let go inside the floor would be pulled
// more than it is pushed. The floor does not pull: no force on the velocity; the position goes by
// the mean of the running mean, which pushes (eq. 25-26): half of h^2 times it is K d / w^2 = d.
static void mean_that_pulls_is_none(void** state) {
  (void)state;
  double d = 1e-3, w0 = sqrt(1e5), h = 0.75 * 2 * acos(-1) / w0;
  tbWorld w = tb_world_springs(tb_world_text(MASS), TB_INTEGRATOR_EXPO, h);
  for (int i = 0; i < 3; i++) w.m->opt.gravity[i] = 0;
  w.m->opt.contact_damping = 1e-9;
  w.d->qpos[2] = -d;
  tb_world_run(w, 1);
  assert_near(w.d->contact[0].force[0], 0, 0);
  assert_near(w.d->qvel[2], 0, 0);
  assert_near(w.d->qpos[2], 0, 1e-8);
  tb_world_free(w);
}

// EXP eq. 25-26: a mass that makes one oscillation on its tangential spring within a step. The mean
// of the friction is zero. Its running mean averages to twice the limit of the cone and is limited
// to it: the position is that of a mass slowed down by mu m g.
static void mean_of_the_mean_is_in_the_cone(void** state) {
  (void)state;
  double v = 0.1, w0 = sqrt(1e5), h = 2 * acos(-1) / w0, g = 9.81;
  tbWorld w = tb_world_springs(tb_world_text(MASS), TB_INTEGRATOR_EXPO, h);
  w.m->opt.contact_damping = 1e-9;
  w.d->qpos[2] = -g / 1e5;
  w.d->qvel[0] = v;
  tb_world_run(w, 1);
  assert_near(w.d->qvel[0], v, 1e-8);
  assert_true(2 * v / h > 2 * 0.5 * g);
  assert_near(w.d->qpos[0], h * v - 0.5 * h * h * 0.5 * g, 1e-9);
  tb_world_free(w);
}

// ---- contacts that change over a step ----------------------------------------------------------

// A slip that ends within a long step does not turn into one backwards.
static void slip_that_ends_sticks(void** state) {
  (void)state;
  tbWorld w = tb_world_springs(tb_world_text(MASS), TB_INTEGRATOR_EXPO, 0.02);
  w.d->qpos[2] = -9.81 / 1e5;
  w.d->qvel[0] = 0.02;
  tb_world_run(w, 1);
  assert_true(fabs(w.d->qvel[0]) < 0.01);
  tb_world_free(w);
}

// A bar on two feet, the first with friction 0.1 and perhaps no contact at all.
static tbWorld bar(int collides, double h) {
  char xml[700];
  snprintf(
      xml, sizeof xml,
      "<mujoco><worldbody><geom type='plane' size='5 5 .1' friction='.01 0 0'/><body pos='0 0 "
      ".05'><freejoint/><geom type='sphere' pos='-.5 0 0' size='.05' mass='.5' friction='.1 0 "
      "0' contype='%d' conaffinity='%d'/><geom type='sphere' pos='.5 0 0' size='.05' mass='.5' "
      "friction='1 0 0'/></body></worldbody></mujoco>",
      collides, collides);
  tbWorld w = tb_world_springs(tb_world_text(xml), TB_INTEGRATOR_EXPO, h);
  w.d->qpos[2] = 0.05 - 0.5 * 9.81 / 1e5;
  return w;
}

// One foot is lifted: over the step the other carries the same load as without it.
static void lifted_foot_lets_go(void** state) {
  (void)state;
  tbWorld w[2] = {bar(1, 0.02), bar(0, 0.02)};
  for (int i = 0; i < 2; i++) {
    w[i].d->qfrc_applied[2] = 20;
    w[i].d->qfrc_applied[4] = 0.5 * 20;
    tb_world_run(w[i], 1);
  }
  assert_true(w[0].d->qvel[4] > 0.1);
  for (int i = 0; i < 6; i++) assert_near(w[0].d->qvel[i], w[1].d->qvel[i], 1e-9);
  for (int i = 0; i < 7; i++) assert_near(w[0].d->qpos[i], w[1].d->qpos[i], 1e-9);
  for (int i = 0; i < 2; i++) tb_world_free(w[i]);
}

// A push on a bar with two feet: the foot of low friction slips under its share, and within the
// same step the other foot takes over the rest, so that the bar stays in place.
static void foot_that_gives_way_leaves_its_share(void** state) {
  (void)state;
  tbWorld w = bar(1, 0.2);
  w.d->qfrc_applied[0] = 3;
  tb_world_run(w, 1);
  assert_int_equal(w.d->ncon, 2);
  double weak = 1e9, strong = 0;
  for (int i = 0; i < 2; i++) {
    const double* f = w.d->contact[i].force;
    weak = fmin(weak, hypot(f[1], f[2]));
    strong = fmax(strong, hypot(f[1], f[2]));
  }
  print_message("friction %.4f and %.4f N, speed %.1e\n", weak, strong, w.d->qvel[0]);
  assert_near(weak + strong, 3, 0.02);
  assert_true(fabs(w.d->qvel[0]) < 2e-3);
  tb_world_free(w);
}

// A light rod leans on its tip, mu beyond Painleve's 4/3. Stuck, its spring and damper along the
// floor would turn it off the floor within the step, so the tip lets go. Its anchor comes along:
// left behind, it would pull ever more, and the tip sink without any force (27 mm in these 40 ms).
static void anchor_of_a_tip_that_lets_go_follows(void** state) {
  (void)state;
  static const char ROD[] =
      "<mujoco><worldbody><geom type='plane' size='5 5 0.1' friction='2.2 0 0'/>"
      "<body pos='0 0 0.0984427'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'"
      "/><joint type='hinge' axis='0 1 0'/><inertial pos='0 0 0' mass='0.05' diaginertia='6.67e-4 "
      "6.67e-4 6.67e-4'/><geom type='sphere' size='0.01' pos='-0.178885 0 -0.0894427' "
      "friction='2.2 0 0'/></body></worldbody></mujoco>";
  tbWorld w = tb_world_springs(tb_world_text(ROD), TB_INTEGRATOR_EXPO, 0.002);
  w.d->qvel[0] = 1.31;
  w.d->qvel[1] = -0.5;
  double depth = 0;
  for (int i = 0; i < 20; i++) {
    tb_world_run(w, 1);
    for (int c = 0; c < w.d->ncon; c++) depth = fmax(depth, -w.d->contact[c].dist);
  }
  print_message("at most %.1f mm deep\n", 1e3 * depth);
  assert_true(depth < 5e-3);
  tb_world_free(w);
}

// ---- long steps, stiff contacts ----------------------------------------------------------------

// EXP section VI-F: constant A and b predict the forces over 20 ms. One step of that length applies
// the impulses of 320 small ones, up to the effect of the robot's motion.
static void one_long_step_predicts_the_impulse(void** state) {
  (void)state;
  double sum[2] = {0};
  for (int fine = 0; fine < 2; fine++) {
    int n = fine ? 320 : 1;
    tbWorld w = tb_world_springs(tb_world_scene("quadruped_torque.xml", "stand"),
                                 TB_INTEGRATOR_EXPO, 0.02 / n);
    // Just touching, on its way down.
    tb_compute_position(w.m, w.d);
    int foot = tb_name2id(w.m, TB_OBJ_GEOM, "foot_FL");
    w.d->qpos[2] -= w.d->geom_xpos[3 * foot + 2] - w.m->geom_size[3 * foot] + 1e-9;
    w.d->qvel[2] = -0.1;
    for (int i = 0; i < n; i++) {
      tb_world_run(w, 1);
      for (int c = 0; c < w.d->ncon; c++) sum[fine] += w.d->contact[c].force[0] * 0.02 / n;
    }
    tb_world_free(w);
  }
  print_message("impulse over 20 ms: %.4f predicted, %.4f N s\n", sum[0], sum[1]);
  assert_true(sum[1] > 0.03);
  assert_near(sum[0], sum[1], 0.1 * sum[1]);
}

// Contacts of 1e3 to 1e8 N/m, thousands of their own times in a step: the robot stays where it is.
static void stable_at_any_stiffness(void** state) {
  (void)state;
  static const int INTEGRATORS[] = {TB_INTEGRATOR_EXPO, TB_INTEGRATOR_EXPO_MIDPOINT};
  for (int i = 0; i < 2; i++) {
    for (int digits = 4; digits <= 8; digits++) {
      tbWorld w = tb_world_springs(
          tb_world_text("<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body pos='0 0 "
                        "0.1'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
                        "<body pos='0 0 0.31'><freejoint/><geom type='box' size='.1 .1 .1' "
                        "mass='3'/></body></worldbody></mujoco>"),
          INTEGRATORS[i], 0.002);
      double K = pow(10, digits), start;
      w.m->opt.contact_stiffness = K;
      w.m->opt.contact_damping = sqrt(K);
      w.m->opt.contact_anchor_normal = 1;
      start = w.d->qpos[9];
      tb_world_run(w, 500);
      for (int k = 0; k < w.m->nv; k++) assert_true(fabs(w.d->qvel[k]) < 0.02);
      assert_near(w.d->qpos[9], start - 0.01, 0.01);
      tb_world_free(w);
    }
  }
}

// ---- deep overlaps -----------------------------------------------------------------------------

// A ball that starts 8 cm inside the floor: its spring is first as long as that of 5 mm, then its
// end comes up to the surface at correction_speed. The ball rises with it, and rests where its
// weight puts it. From the surface on the spring would throw it out at 13 m/s.
static void deep_start_comes_up_slowly(void** state) {
  (void)state;
  double start = -0.08, g = 9.81;
  for (size_t i = 0; i < TB_SPRING_CASES; i++) {
    double h = TB_SPRING_CASE[i].timestep;
    tbWorld w = tb_world_springs(tb_world_text(MASS), TB_SPRING_CASE[i].integrator, h);
    double fastest = 0, speed = w.m->opt.correction_speed, arrives = -start / speed;
    w.d->qpos[2] = start;
    int steps = (int)(1.0 / h + 0.5);
    for (int k = 0; k < steps; k++) {
      tb_world_run(w, 1);
      fastest = fmax(fastest, fabs(w.d->qvel[2]));
      // Never far above or below the end of the spring: one hop off it at the start.
      double end = fmin(0, start + 0.005 + speed * w.d->time);
      assert_true(w.d->qpos[2] > end - 0.006 && w.d->qpos[2] < end + 0.03);
      if (w.d->time < 0.5 * arrives) assert_true(w.d->qpos[2] < -0.02);
    }
    assert_true(fastest < 1.5);
    assert_near(w.d->qpos[2], -g / 1e5, 1e-6);
    assert_near(w.d->qvel[2], 0, 1e-5);
    tb_world_free(w);
  }

  // The force at first look_ahead: of the overlap up to 5 mm, of 5 mm beyond.
  static const double DEPTH[] = {1e-3, 4.9e-3, 0.02, 0.3}, SEEN[] = {1e-3, 4.9e-3, 5e-3, 5e-3};
  for (size_t i = 0; i < sizeof DEPTH / sizeof DEPTH[0]; i++) {
    tbWorld w = tb_world_springs(tb_world_text(MASS), TB_INTEGRATOR_EULER_EXPLICIT, 1e-4);
    w.d->qpos[2] = -DEPTH[i];
    assert_int_equal(tb_forward(w.m, w.d), TB_OK);
    assert_near(w.d->contact[0].force[0], 1e5 * SEEN[i], 1e-6);
    tb_world_free(w);
  }
}

// A hand without armature under random controls at 2 ms: its fingers are centimetres deep in each
// other when they are first seen. Neither springs that count from there (contact_anchor_normal) nor
// those that come up from 5 mm above it throw them out ever faster.
static void hand_survives_random_controls(void** state) {
  (void)state;
  int index = -1;
  for (int i = 0; i < TB_TEST_ROBOT_COUNT; i++) {
    if (strstr(tb_test_robot_name(i), "leap_hand/scene_right")) index = i;
  }
  for (int anchored = 0; anchored < 2; anchored++) {
    tbModel* m = index >= 0 ? tb_test_robot(index) : NULL;
    if (!m) {
      print_message("skipped: no hand\n");
      return;
    }
    tbWorld w = tb_world_springs((tbWorld){m, tb_data_new(m)}, TB_INTEGRATOR_EXPO, 0.002);
    tbRng rng = {(uint64_t)(11 + index)};
    m->opt.contact_anchor_normal = anchored;
    for (int i = 0; i < 3000; i++) {
      for (int k = 0; i % 25 == 0 && k < m->nu; k++) {
        const tbReal* range = m->actuator_ctrlrange + 2 * k;
        w.d->ctrl[k] = tb_rng_uniform(&rng, range[0], range[1]);
      }
      tb_world_run(w, 1);
      for (int k = 0; k < m->nv; k++) assert_true(fabs(w.d->qvel[k]) < 1e3);
    }
    tb_world_free(w);
  }
}

// A box put on a slope at 0.97 of its friction limit slips a little while its springs take the
// load, and stops, with every integrator and step. Friction that overshoots from one side of the
// slip to the other brakes less than gravity pulls: the box would then slide on at h mu g.
static void what_nearly_slips_stops(void** state) {
  (void)state;
  const double angle = 0.97 * atan(0.5);
  const struct {
    int integrator;
    double timestep;
  } CASE[] = {{TB_INTEGRATOR_EXPO, 0.004},
              {TB_INTEGRATOR_EXPO, 0.002},
              {TB_INTEGRATOR_EXPO, 0.0005},
              {TB_INTEGRATOR_EXPO_MIDPOINT, 0.002},
              {TB_INTEGRATOR_EXPO_MIDPOINT, 0.0005},
              {TB_INTEGRATOR_EULER_EXPLICIT, 1e-4},
              {TB_INTEGRATOR_RK4, 1e-4},
              {TB_INTEGRATOR_EULER_IMPLICIT, 0.002}};
  for (size_t i = 0; i < sizeof CASE / sizeof CASE[0]; i++) {
    tbWorld w = tb_world_springs(
        tb_world_text("<mujoco><default><geom friction='0.5'/></default><worldbody><geom "
                      "type='plane' size='5 5 0.1'/><body pos='0 0 0.1' euler='0 0 20'><freejoint/>"
                      "<geom type='box' size='.1 .1 .1' mass='2'/></body></worldbody></mujoco>"),
        CASE[i].integrator, CASE[i].timestep);
    w.m->opt.gravity[0] = 9.81 * sin(angle);
    w.m->opt.gravity[2] = -9.81 * cos(angle);
    tb_world_run(w, tb_world_steps(w, 0.5));
    double rest = w.d->qpos[0];
    assert_true(rest > 0 && rest < 2e-3);
    tb_world_run(w, tb_world_steps(w, 0.2));
    assert_near(w.d->qpos[0], rest, 1e-7);
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_nearly_slips_stops),
      cmocka_unit_test(events_keep_the_order),
      cmocka_unit_test(slipping_anchor_keeps_up_with_the_cone),
      cmocka_unit_test(friction_turns_with_the_slip),
      cmocka_unit_test(turning_slip_keeps_the_order),
      cmocka_unit_test(mean_that_pulls_is_none),
      cmocka_unit_test(mean_of_the_mean_is_in_the_cone),
      cmocka_unit_test(slip_that_ends_sticks),
      cmocka_unit_test(lifted_foot_lets_go),
      cmocka_unit_test(foot_that_gives_way_leaves_its_share),
      cmocka_unit_test(anchor_of_a_tip_that_lets_go_follows),
      cmocka_unit_test(one_long_step_predicts_the_impulse),
      cmocka_unit_test(stable_at_any_stiffness),
      cmocka_unit_test(deep_start_comes_up_slowly),
      cmocka_unit_test(hand_survives_random_controls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
