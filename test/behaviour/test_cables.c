// Ropes that are trees of joints, with weights that are tied to them or their last body
// (forces/geometric_stiffness.h).
#include "common/worlds.h"

static const tbReal STEPS[] = {0.001, 0.002, 0.005, 0.01, 0.02};
enum { NSTEPS = 5, LINKS = 20 };

static const char BALL[] = "<joint type='ball'/>", HINGE[] = "<joint axis='0 1 0'/>",
                  TWO_HINGES[] = "<joint axis='0 1 0'/><joint axis='1 0 0'/>";

// Twenty links of 10 g with 50 kg at the end of the last: its own body, or one that is tied to it.
// The first hangs in a joint, or flies and is tied to the world. Gravity pulls aside.
static tbWorld cable(const char* joint, bool tied, bool flies) {
  char xml[8192], part[512];
  snprintf(xml, sizeof xml,
           "<mujoco><option gravity='4 0 -9'/><default><geom contype='0' conaffinity='0'/>"
           "</default><worldbody>");
  for (int i = 0; i < LINKS; i++) {
    snprintf(part, sizeof part,
             "<body name='l%d' pos='0 0 %g'>%s<geom type='capsule' fromto='0 0 0 0 0 -.1' "
             "size='.008' mass='.01'/>",
             i, i ? -0.1 : 3, i == 0 && flies ? "<freejoint/>" : joint);
    strcat(xml, part);
  }
  for (int i = 0; i < (tied ? LINKS : 0); i++) strcat(xml, "</body>");
  snprintf(part, sizeof part,
           "<body name='load' pos='0 0 %g'>%s<geom size='.1' pos='0 0 -.1' mass='50'/></body>",
           tied ? 3 - 0.1 * LINKS : -0.1, tied ? "<freejoint/>" : joint);
  strcat(xml, part);
  for (int i = 0; i < (tied ? 0 : LINKS); i++) strcat(xml, "</body>");
  strcat(xml, "</worldbody><equality>");
  snprintf(part, sizeof part, "<connect body1='load' body2='l%d' anchor='0 0 0'/>", LINKS - 1);
  if (tied) strcat(xml, part);
  if (flies) strcat(xml, "<connect body1='l0' anchor='0 0 0'/>");
  strcat(xml, "</equality></mujoco>");
  return tb_world_text(xml);
}

// From 0.5 ms on the links' own swing under the weight is faster than steps resolve, and from 1 ms
// on it would grow without bound. The weight swings as it does at 0.1 ms, but for the error of
// first order that a pendulum has; no energy comes from nowhere.
static void weights_swing(void** state) {
  (void)state;
  const struct {
    const char* joint;
    bool tied, flies;
  } CASES[] = {{BALL, false, false},      {HINGE, false, false}, {TWO_HINGES, false, false},
               {TWO_HINGES, false, true}, {BALL, true, false},   {TWO_HINGES, true, true}};
  tbWorld fine = cable(HINGE, false, false);
  fine.m->opt.timestep = 0.0001;
  tb_world_run(fine, 8000);
  assert_false(tb_world_is_taut(fine));
  const tbReal* place = tb_world_place(fine, "load");
  for (size_t k = 0; k < NSTEPS * sizeof CASES / sizeof CASES[0]; k++) {
    for (int law = 0; law <= TB_LAW_COMFREE; law++) {
      if (law == TB_LAW_SOFT) continue;
      tbWorld w = cable(CASES[k / NSTEPS].joint, CASES[k / NSTEPS].tied, CASES[k / NSTEPS].flies);
      tbReal h = w.m->opt.timestep = STEPS[k % NSTEPS];
      w.m->opt.law = law;
      double start = tb_world_energy(w);
      assert_true(tb_world_run_energy(w, tb_world_steps(w, 0.8)) < start + 200 * h);
      assert_true(tb_world_is_taut(w));
      assert_near_array(tb_world_place(w, "load"), place, 3, 4 * h);
      tb_world_free(w);
    }
  }
  tb_world_free(fine);
}

// Atwood's machine: 10 and 12 kg on a chain of 10 g links over a wheel of 2 kg, which it turns.
static tbWorld atwood(void) {
  enum { STRAIGHT = 12, ARC = 20 };
  const double radius = 0.3, thick = 0.01, turn = 3.14159265358979323846 / ARC,
               length = 2 * (radius + thick) * tan(turn / 2);
  char xml[16384], part[512];
  snprintf(xml, sizeof xml,
           "<mujoco><compiler angle='radian'/><worldbody><body "
           "name='wheel' pos='0 0 3'><joint axis='0 1 0'/><geom type='cylinder' size='%g .2' "
           "zaxis='0 1 0' mass='2' conaffinity='2'/></body><body name='light' pos='%.17g 0 "
           "%.17g'><joint type='slide' axis='0 0 1'/><joint type='slide' axis='1 0 0'/>%s<geom "
           "size='.08' pos='0 0 -.08' mass='10' contype='0' conaffinity='0'/>",
           radius, -radius - thick, 3 - STRAIGHT * length, HINGE);
  for (int i = 0; i <= ARC + 2 * STRAIGHT; i++) {
    int on = i - STRAIGHT;
    double bend = on < 0 || on > ARC ? 0 : on == 0 || on == ARC ? turn / 2 : turn;
    snprintf(part, sizeof part,
             "<body pos='0 0 %.17g' euler='0 %.17g 0'>%s<geom type='capsule' fromto='0 0 0 0 0 "
             "%.17g' size='%g' mass='.01' contype='2'/>",
             i ? length : 0, bend, HINGE, length, thick);
    strcat(xml, part);
  }
  snprintf(part, sizeof part,
           "<body name='heavy' pos='0 0 %.17g'>%s<geom size='.08' pos='0 0 .08' mass='12' "
           "contype='0' conaffinity='0'/></body>",
           length, HINGE);
  strcat(xml, part);
  for (int i = 0; i <= ARC + 2 * STRAIGHT; i++) strcat(xml, "</body>");
  return tb_world_text(strcat(xml, "</body></worldbody></mujoco>"));
}

static void a_chain_runs_over_a_wheel(void** state) {
  (void)state;
  // weights, half a wheel, and 45 links; those that change sides make it a little faster
  const double a = 2 * 9.81 / (22 + 1 + 0.45), way = 0.5 * a * 0.8 * 0.8;
  for (int k = 1; k < 4; k++) {
    tbWorld w = atwood();
    w.m->opt.timestep = STEPS[k];
    tbReal heavy = tb_world_place(w, "heavy")[2], light = tb_world_place(w, "light")[2];
    tb_world_run(w, tb_world_steps(w, 0.8));
    assert_near(heavy - tb_world_place(w, "heavy")[2], way, 0.03 * way);
    assert_near(tb_world_place(w, "light")[2] - light, way, 0.03 * way);
    assert_near(w.d->qpos[0] * 0.31, way, 0.03 * way);
    tb_world_free(w);
  }
}

// A belt of 32 links of 20 g that fits around two wheels without play, or is too tight for them.
static tbWorld belt(double play) {
  enum { STRAIGHT = 6, ARC = 10, COUNT = 2 * (STRAIGHT + ARC) };
  const double radius = 0.1, thick = 0.006, turn = 3.14159265358979323846 / ARC,
               length = 2 * (radius + thick + play) * tan(turn / 2);
  char xml[16384], part[512];
  snprintf(xml, sizeof xml,
           "<mujoco><compiler angle='radian'/><default><geom contype='0' conaffinity='0'/>"
           "</default><worldbody>");
  for (int k = -1; k <= 1; k += 2) {
    snprintf(part, sizeof part,
             "<body pos='%.17g 0 0'>%s<geom type='cylinder' size='%g .04' zaxis='0 1 0' mass='1' "
             "conaffinity='1'/></body>",
             k * STRAIGHT * length / 2, HINGE, radius);
    strcat(xml, part);
  }
  for (int i = 0; i < COUNT; i++) {
    int on = i % (STRAIGHT + ARC) - STRAIGHT;
    double bend = on < 0 && on > -STRAIGHT ? 0 : on > 0 ? turn : turn / 2;
    snprintf(part, sizeof part,
             "<body name='l%d' pos='%.17g 0 %.17g' euler='0 %.17g 0'>%s<geom type='capsule' "
             "fromto='0 0 0 %.17g 0 0' size='%g' mass='.02' contype='1'/>",
             i, i ? length : -STRAIGHT * length / 2, i ? 0 : radius + thick + play, i ? bend : 0,
             i ? HINGE : "<freejoint/>", length, thick);
    strcat(xml, part);
  }
  for (int i = 0; i < COUNT; i++) strcat(xml, "</body>");
  strcat(xml, "</worldbody><equality>");
  for (int k = -1; k <= 1; k += 2) {
    snprintf(part, sizeof part, "<connect body1='l%d' body2='l0' anchor='%.17g %g 0'/>", COUNT - 1,
             length, 0.02 * k);
    strcat(xml, part);
  }
  return tb_world_text(strcat(xml, "</equality></mujoco>"));
}

// A rigid belt that is too tight has no rigid answer, and is as taut as overlaps are parted. Its
// links do not shake themselves to thousands of joules.
static void a_tight_belt_stays(void** state) {
  (void)state;
  for (int k = 0; k < 3 * TB_LAW_COUNT; k++) {
    for (int tight = 0; tight < 3; tight++) {
      tbWorld w = belt(-0.0005 * tight);
      w.m->opt.timestep = STEPS[k % 3];
      w.m->opt.law = k / 3;
      assert_true(tb_world_run_energy(w, tb_world_steps(w, 0.3)) < 3);
      tb_world_free(w);
    }
  }
}

// Half a tonne on a crane whose jib and trolley move forth and back for 12 s.
static void drive_crane(tbWorld w, tbReal place[3]) {
  for (int n = tb_world_steps(w, 12); n > 0; n--) {
    w.d->ctrl[0] = w.d->time < 4 ? 0.3 : w.d->time < 8 ? -0.3 : 0;
    w.d->ctrl[1] = w.d->time < 2 ? -0.5 : w.d->time < 5 ? 0.4 : 0;
    tb_world_run(w, 1);
  }
  memcpy(place, tb_world_place(w, "load"), 3 * sizeof(tbReal));
}

static void a_crane_swings_its_load(void** state) {
  (void)state;
  tbReal fine[3], place[3];
  tbWorld w = tb_world_scene("crane.xml", NULL);
  w.m->opt.timestep = 0.00025;
  drive_crane(w, fine);
  tb_world_free(w);
  for (int k = 1; k < 4; k++) {
    for (int law = 0; law <= TB_LAW_COMFREE; law++) {
      if (law == TB_LAW_SOFT) continue;
      w = tb_world_scene("crane.xml", NULL);
      w.m->opt.law = law;
      w.m->opt.timestep = STEPS[k];
      drive_crane(w, place);
      assert_near_array(place, fine, 3, 2 * STEPS[k]);
      tb_world_free(w);
    }
  }
}

// Two weights on a cable of light links rotate about each other in flight: the inertia that their
// load adds to the links does not brake the rotation.
static void a_bola_turns_on(void** state) {
  (void)state;
  char xml[8192] =
      "<mujoco><default><geom contype='0' conaffinity='0'/>"
      "</default><worldbody><body name='a'><freejoint/><geom size='.05' mass='2'/>",
       part[256];
  for (int i = 0; i < LINKS; i++) {
    snprintf(part, sizeof part,
             "<body pos='%g 0 0'>%s<geom type='capsule' fromto='0 0 0 .1 0 0' size='.008' "
             "mass='.005'/>",
             i ? 0.1 : 0, BALL);
    strcat(xml, part);
  }
  strcat(xml, "<body name='b' pos='.1 0 0'><joint type='ball'/><geom size='.05' mass='2'/></body>");
  for (int i = 0; i <= LINKS; i++) strcat(xml, "</body>");
  tbWorld w = tb_world_text(strcat(xml, "</worldbody></mujoco>"));
  w.m->opt.timestep = 0.005;
  // 4 rad/s about the middle, 32 N in the cable
  w.d->qvel[1] = -4;
  w.d->qvel[5] = 4;
  tbReal start[3];
  assert_true(tb_world_is_taut(w));
  tb_subtree_velocity(w.m, w.d);
  memcpy(start, w.d->subtree_angmom, sizeof start);
  tb_world_run(w, 400);
  tb_compute_position(w.m, w.d);
  tb_compute_velocity(w.m, w.d);
  tb_subtree_velocity(w.m, w.d);
  assert_near_array(w.d->subtree_angmom, start, 3, 1e-6);
  tb_world_free(w);
}

// Inverse dynamics of the resulting acceleration gives the applied force.
static void inverse_gives_the_force_back(void** state) {
  (void)state;
  tbWorld w = cable(BALL, true, false);
  w.m->opt.timestep = 0.005;
  w.m->opt.solve_tolerance = 1e-12;
  tb_world_run(w, 40);
  assert_true(tb_world_is_taut(w));
  tb_world_assert_inverse(w);
  tb_world_free(w);
}

// Derivatives in closed form are those of the step, whose links are heavier than they say.
static void derivatives_know_of_it(void** state) {
  (void)state;
  enum { NX = 2 * (2 * LINKS + 6) };
  static tbReal A[NX * NX], FA[NX * NX];
  for (int k = 0; k < 2; k++) {
    tbWorld w = cable(TWO_HINGES, true, false);
    w.m->opt.law = k ? TB_LAW_COMFREE : TB_LAW_NCP;
    w.m->opt.timestep = 0.005;
    w.m->opt.solve_tolerance = 1e-13;
    tb_world_run(w, 60);
    assert_true(tb_world_is_taut(w));
    assert_int_equal(2 * w.m->nv, NX);
    tbDerivatives* x = tb_derivatives_new(w.m);
    assert_int_equal(tb_step_linearize(w.m, w.d, NULL, x, NULL), TB_OK);
    tb_derivatives_dense(x, A, NULL);
    assert_int_equal(tb_step_differences(w.m, w.d, 1e-6, 1, FA, NULL), TB_OK);
    for (int i = 0; i < NX * NX; i++) assert_near(A[i], FA[i], 1e-4 * fmax(1, fabs(FA[i])));
    tb_derivatives_free(x);
    tb_world_free(w);
  }
}

// Robots bear no more than steps resolve.
static void robots_are_left_alone(void** state) {
  (void)state;
  static const char* const SCENES[] = {"humanoid.xml", "quadruped.xml", "hand.xml", "arm.xml"};
  for (int k = 0; k < 4; k++) {
    tbWorld w = tb_world_scene(SCENES[k], NULL);
    w.m->opt.timestep = 0.002;
    for (int i = 0; i < 50; i++) {
      tb_world_run(w, 1);
      assert_false(tb_world_is_taut(w));
    }
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_swing),          cmocka_unit_test(a_chain_runs_over_a_wheel),
      cmocka_unit_test(a_tight_belt_stays),     cmocka_unit_test(a_crane_swings_its_load),
      cmocka_unit_test(a_bola_turns_on),        cmocka_unit_test(inverse_gives_the_force_back),
      cmocka_unit_test(derivatives_know_of_it), cmocka_unit_test(robots_are_left_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
