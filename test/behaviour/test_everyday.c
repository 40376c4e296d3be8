// Typical first experiments of a roboticist: grippers that lift, a peg in a tight hole, a screw, a
// car, adhesion, a feather under an anvil. Each for a second or two under the exact law; every step
// converges.
#include "common/worlds.h"

#define FLOOR "<geom type='plane' size='20 20 .1'/>"

static void run_solved(tbWorld w, double seconds) {
  tb_world_run_solved(w, tb_world_steps(w, seconds));
}

// Two fingers close with 20 N each and the hand rises by 10 cm, less the sag of the servo.
static void gripper_lifts(void** state) {
  (void)state;
  static const char* const SHAPES[] = {
      "type='box' size='.03 .03 .1'", "type='cylinder' size='.03 .1'",
      "type='sphere' size='.05' condim='6' friction='1 .02 .001'",
      "type='capsule' size='.03 .07' condim='4' friction='.8 .02 .001'",
      "type='ellipsoid' size='.03 .04 .1'"};
  for (int k = 0; k < 5; k++) {
    char xml[2048];
    snprintf(
        xml, sizeof xml,
        "<mujoco><default><geom type='box'/></default><worldbody>" FLOOR
        "<body pos='0 0 .25'><joint name='lift' type='slide' axis='0 0 1'/><geom size='.05 .08 "
        ".02' mass='1'/><body pos='0 .08 -.1'><joint name='l' type='slide' axis='0 -1 0'/>"
        "<geom size='.02 .01 .08' mass='.1'/></body><body pos='0 -.08 -.1'><joint name='r' "
        "type='slide' axis='0 1 0'/><geom size='.02 .01 .08' mass='.1'/></body></body>"
        "<body name='held' pos='0 0 .1'><freejoint/><geom %s mass='.3'/></body></worldbody>"
        "<actuator><position joint='lift' kp='2000' kv='200'/><motor joint='l'/><motor "
        "joint='r'/></actuator></mujoco>",
        SHAPES[k]);
    tbWorld w = tb_world_text(xml);
    w.d->ctrl[1] = w.d->ctrl[2] = 20;
    run_solved(w, 0.4);
    w.d->ctrl[0] = 0.1;
    run_solved(w, 1.2);
    // a sphere and a capsule drop to the floor first
    double height = tb_world_place(w, "held")[2], before = w.d->time;
    assert_true(height > 0.1 + 0.035);
    run_solved(w, 1);
    double creep = fabs(tb_world_place(w, "held")[2] - height) / (w.d->time - before);
    assert_true(creep < 1e-5);
    tb_world_free(w);
  }
}

// A box between two fingers: the exact law holds it, under comfree friction below the cone is
// viscous and it slides down at a steady speed.
static void comfree_grip_creeps(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    tbWorld w = tb_world_text(
        "<mujoco><default><geom type='box' mass='.1'/></default><worldbody><body pos='0 .04 5'>"
        "<joint name='l' type='slide' axis='0 -1 0'/><geom size='.02 .01 .8'/></body><body pos='0 "
        "-.04 5'><joint name='r' type='slide' axis='0 1 0'/><geom size='.02 .01 .8'/></body><body "
        "name='held' pos='0 0 5.6'><freejoint/><geom size='.03 .03 .1' mass='.2'/></body>"
        "</worldbody><actuator><motor joint='l'/><motor joint='r'/></actuator></mujoco>");
    w.m->opt.law = k ? TB_LAW_COMFREE : TB_LAW_NCP;
    w.d->ctrl[0] = w.d->ctrl[1] = 20;
    tb_world_run(w, 200);
    double first = w.d->qvel[4];
    tb_world_run(w, 200);
    assert_near(w.d->qvel[4], k ? -0.119 : 0, k ? 0.01 : 1e-9);
    assert_near(w.d->qvel[4], first, 1e-4);
    tb_world_free(w);
  }
}

// A peg of 40 mm falls into a square hole 0.2 mm wider, to the floor.
static void peg_falls_into_its_hole(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><default><geom type='box'/></default><worldbody>" FLOOR
      "<geom size='.02 .08 .03' pos='.0401 0 .03'/><geom size='.02 .08 .03' pos='-.0401 0 .03'/>"
      "<geom size='.0201 .02 .03' pos='0 .0401 .03'/><geom size='.0201 .02 .03' pos='0 -.0401 "
      ".03'/><body name='peg' pos='0 0 .1'><freejoint/><geom type='cylinder' size='.02 .03' "
      "mass='.2'/></body></worldbody></mujoco>");
  run_solved(w, 0.6);
  assert_near(tb_world_place(w, "peg")[2], 0.03, 1e-6);
  tb_world_free(w);
}

// A nut with 10 mm per radian carries a weight up as it turns.
static void screw_lifts(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><body name='nut' pos='0 0 .5'><joint name='z' type='slide' axis='0 0 "
      "1'/><joint name='r' axis='0 0 1'/><geom type='box' size='.1 .1 .02' mass='1'/></body><body "
      "name='load' pos='0 0 .56'><freejoint/><geom type='box' size='.05 .05 .04' mass='2'/></body>"
      "</worldbody><equality><joint joint1='z' joint2='r' polycoef='0 .01 0 0 0'/></equality>"
      "<actuator><velocity joint='r' kv='1'/></actuator></mujoco>");
  w.d->ctrl[0] = 5;
  run_solved(w, 2);
  assert_near(w.d->qpos[0], 0.01 * w.d->qpos[1], 1e-6);
  // friction loss of no kind: the weight takes 3 g 0.01 N m, 0.294 rad/s of the servo's gain
  assert_near(w.d->qvel[1], 5 - 3 * 9.81 * 0.01, 1e-3);
  assert_near(tb_world_place(w, "load")[2], 0.56 + w.d->qpos[0], 1e-5);
  tb_world_free(w);
}

// Four driven wheels: straight on, at the speed of their rims.
static void car_goes_straight(void** state) {
  (void)state;
  char xml[4096] = "<mujoco><worldbody>" FLOOR
                   "<body name='car' pos='0 0 .1'><freejoint/><geom type='box' size='.2 .1 .04' "
                   "mass='4'/>",
       part[512], motors[512] = "";
  for (int i = 0; i < 4; i++) {
    snprintf(part, sizeof part,
             "<body pos='%g %g -.04'><joint name='w%d' axis='0 1 0'/><geom type='cylinder' "
             "size='.06 .02' euler='90 0 0' mass='.3'/></body>",
             i < 2 ? 0.15 : -0.15, i % 2 ? 0.14 : -0.14, i);
    strcat(xml, part);
    snprintf(part, sizeof part, "<velocity joint='w%d' kv='.5'/>", i);
    strcat(motors, part);
  }
  strcat(xml, "</body></worldbody><actuator>");
  strcat(xml, motors);
  strcat(xml, "</actuator></mujoco>");
  tbWorld w = tb_world_text(xml);
  for (int i = 0; i < 4; i++) w.d->ctrl[i] = 6;
  run_solved(w, 2);
  assert_near(w.d->qvel[0], 6 * 0.06, 1e-3);
  // Errors within the tolerance turn it by up to 7e-6 m, depending on the last bits of the speed.
  assert_near(tb_world_place(w, "car")[1], 0, 2e-5);
  assert_near(tb_world_place(w, "car")[2], 0.1, 1e-5);
  tb_world_free(w);
}

// Adhesion of 50 N holds a box of 1 kg under a ceiling, 5 N do not.
static void adhesion_holds(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    tbWorld w = tb_world_text(
        "<mujoco><worldbody><geom type='box' size='.5 .5 .02' pos='0 0 1'/><body name='box' pos='0 "
        "0 .93'><freejoint/><geom type='box' size='.05 .05 .05' mass='1'/></body></worldbody>"
        "<actuator><adhesion body='box' ctrlrange='0 1' gain='50'/></actuator></mujoco>");
    w.d->ctrl[0] = k ? 0.1 : 1;
    run_solved(w, 1);
    double height = tb_world_place(w, "box")[2];
    if (k == 0) assert_near(height, 0.93, 1e-7);
    if (k == 1) assert_true(height < 0);
    tb_world_free(w);
  }
}

// A milligram under a ton, and on it.
static void feather_and_anvil_stand(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    char xml[1024];
    snprintf(xml, sizeof xml,
             "<mujoco><worldbody>" FLOOR
             "<body name='feather' pos='0 0 %g'><freejoint/><geom type='box' size='.05 .05 .01' "
             "mass='1e-6'/></body><body name='anvil' pos='0 0 %g'><freejoint/><geom type='box' "
             "size='.1 .1 .1' mass='1e3'/></body></worldbody></mujoco>",
             k ? 0.21 : 0.01, k ? 0.1 : 0.12);
    tbWorld w = tb_world_text(xml);
    run_solved(w, 1);
    assert_near(tb_world_place(w, "feather")[2], k ? 0.21 : 0.01, 1e-6);
    assert_near(tb_world_place(w, "anvil")[2], k ? 0.1 : 0.12, 1e-6);
    tb_world_free(w);
  }
}

// Balls that approach by several millimetres a step are detected in advance, and stop at the
// surface of any shape.
static void fast_balls_stop_at_the_surface(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><worldbody>" FLOOR
      "<geom type='box' size='.5 .5 .1' pos='2 0 .1'/><geom "
      "type='capsule' size='.1 .5' pos='4 0 .1' euler='0 90 0'/><body pos='0 0 .537'><freejoint/>"
      "<geom size='.1'/></body><body pos='2 0 .737'><freejoint/><geom size='.1'/></body><body "
      "pos='4 "
      "0 .737'><freejoint/><geom size='.1'/></body></worldbody></mujoco>");
  for (int b = 0; b < 3; b++) w.d->qvel[6 * b + 2] = -5;
  for (int i = 0; i < 100; i++) {
    tb_world_run_solved(w, 1);
    for (int k = 0; k < w.d->ncon; k++) assert_true(w.d->contact[k].dist > -1e-6);
  }
  assert_near(w.d->qpos[2], 0.1, 1e-6);
  assert_near(w.d->qpos[9], 0.3, 1e-6);
  tb_world_free(w);
}

// A pair's own values count, zero included: a lively ball on a lively floor that does not bounce.
static void pair_decides_the_bounce(void** state) {
  (void)state;
  static const char* const PAIRS[] = {"", "restitution='0'", "restitution='.5'"};
  static const double BOUNCES[] = {0.8, 0, 0.5};
  for (int k = 0; k < 3; k++) {
    char xml[512];
    snprintf(
        xml, sizeof xml,
        "<mujoco><worldbody><geom name='f' type='plane' size='9 9 .1' restitution='.8'/><body "
        "pos='0 0 .1'><freejoint/><geom name='b' size='.1' restitution='.8'/></body></worldbody>"
        "<contact><pair geom1='f' geom2='b' %s/></contact></mujoco>",
        PAIRS[k]);
    tbWorld w = tb_world_text(xml);
    w.d->qvel[2] = -1;
    tb_world_run_solved(w, 1);
    assert_near(w.d->qvel[2], BOUNCES[k], 0.03);
    tb_world_free(w);
  }
}

// Shapes with a negative margin touch where they overlap by as much, under every law: a box sinks
// in so far and rests, a fast ball stops there, and neighbours that overlap by less leave each
// other alone, as the pieces of a puzzle cube that are a little larger than their places.
static void negative_margins_set_surfaces_back(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(
        "<mujoco><worldbody>" FLOOR
        "<body pos='0 0 .1'><freejoint/><geom type='box' "
        "size='.1 .1 .1' margin='-.01'/></body><body pos='1 0 1.1'><freejoint/><geom size='.1' "
        "margin='-.01'/></body><body pos='2 0 .1'><joint axis='0 0 1'/><geom type='box' "
        "size='.1 .1 .05' margin='-.005'/></body><body pos='2.195 0 .1'><joint axis='0 0 1'/>"
        "<geom type='box' size='.1 .1 .05' margin='-.005'/></body></worldbody></mujoco>");
    bool rigid = law < TB_LAW_COUNT;
    w.m->opt.law = law;
    if (rigid) w.d->qvel[8] = -20;
    if (!rigid) w.d->qpos[9] = 0.1;
    tb_world_run_solved(w, tb_world_steps(w, 0.06));
    if (rigid) assert_near(w.d->qpos[9], 0.09, 1e-4);
    tb_world_run_solved(w, tb_world_steps(w, 2));
    for (int i = 0; i < 2; i++) assert_near(w.d->qpos[7 * i + 2], 0.09, rigid ? 1e-4 : 5e-3);
    for (int i = 0; i < 2; i++) assert_near(w.d->qpos[14 + i], 0, 1e-12);
    for (int c = 0; c < w.d->ncon; c++) assert_true(w.d->contact[c].geom[1] < 3);
    tb_world_free(w);
  }
}

// So do limits: a weight on a slide, a pendulum on a hinge and one on a ball joint, and a weight on
// a string are held a little beyond the range, and fast ones stop there under the rigid laws.
static void negative_margins_set_limits_back(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(
        "<mujoco><default><joint limited='true' damping='.1'/></default><worldbody>"
        "<site name='hook' pos='3 0 2'/>"
        "<body><joint type='slide' axis='0 0 1' range='-.1 .1' margin='-.02'/><geom size='.1' "
        "mass='1'/></body><body pos='1 0 0'><joint axis='0 1 0' range='-20 20' margin='-.02'/>"
        "<geom pos='.2 0 0' size='.1' mass='1'/></body>"
        "<body pos='2 0 0'><joint type='ball' range='0 20' margin='-.02'/>"
        "<geom pos='.2 0 0' size='.1' mass='1'/></body>"
        "<body pos='3 0 1'><joint type='slide' axis='0 0 1' limited='false'/><site name='eye'/>"
        "<geom size='.1' mass='1'/></body></worldbody><tendon><spatial limited='true' range='0 "
        "1.1' margin='-.02'><site site='hook'/><site site='eye'/></spatial></tendon></mujoco>");
    bool rigid = law < TB_LAW_COUNT;
    const tbReal angle = 20 * 3.14159265358979323846 / 180 + 0.02;
    w.m->opt.law = law;
    if (rigid) w.d->qvel[0] = w.d->qvel[5] = -20;
    tb_world_run_solved(w, tb_world_steps(w, 0.05));
    if (rigid) assert_near(w.d->qpos[0], -0.12, 1e-6);
    if (rigid) assert_near(w.d->qpos[6], -0.12, 1e-6);
    tb_world_run_solved(w, tb_world_steps(w, 3));
    assert_near(w.d->qpos[0], -0.12, rigid ? 1e-6 : 5e-3);
    assert_near(w.d->qpos[1], angle, rigid ? 1e-6 : 1e-2);
    assert_near(2 * acos(fabs(w.d->qpos[2])), angle, rigid ? 1e-6 : 1e-2);
    assert_near(w.d->qpos[6], -0.12, rigid ? 1e-6 : 5e-3);
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gripper_lifts),
      cmocka_unit_test(comfree_grip_creeps),
      cmocka_unit_test(peg_falls_into_its_hole),
      cmocka_unit_test(screw_lifts),
      cmocka_unit_test(car_goes_straight),
      cmocka_unit_test(adhesion_holds),
      cmocka_unit_test(feather_and_anvil_stand),
      cmocka_unit_test(pair_decides_the_bounce),
      cmocka_unit_test(fast_balls_stop_at_the_surface),
      cmocka_unit_test(negative_margins_set_surfaces_back),
      cmocka_unit_test(negative_margins_set_limits_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
