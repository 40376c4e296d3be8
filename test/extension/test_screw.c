// The screw joint of examples/extension, against closed forms.
// test/dynamics/test_joint_kinds.c compares its functions with differences.
#include "common/worlds.h"
#include "spatial/vec3.h"

static const tbReal PI = 3.14159265358979323846, LEAD = SCREW_PITCH / (2 * 3.14159265358979323846);

static tbWorld nut(void) {
  tbError error = {0};
  tbModel* m = tb_load(TB_EXAMPLES_DIR "/extension/screw.xml", NULL, &error);
  if (!m) fail_msg("%s", error.message);
  assert_int_equal(m->jnt_type[0], TB_JOINT_SCREW);
  return (tbWorld){m, tb_data_new(m)};
}

// A quarter turn about a vertical axis 1 m beside the body's frame, from the coordinate 0.3 at
// which the body is where the file has it.
static void a_quarter_turn_advances_a_quarter_of_the_pitch(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><body name='b' pos='1 2 3'><joint type='screw' axis='0 0 2' pos='1 0 0' "
      "ref='.3'/><geom size='.1'/></body></worldbody><compiler angle='radian'/></mujoco>");
  const tbReal speed = 4;
  const tbReal place[3] = {2, 1, 3 + SCREW_PITCH / 4}, turn[4] = {sqrt(0.5), 0, 0, sqrt(0.5)};
  // The frame is at (0, -1) from the axis, and rises.
  const tbReal velocity[6] = {0, 0, speed, speed, 0, LEAD * speed};
  tbReal moved[6];
  assert_near(w.d->qpos[0], 0.3, 0);
  w.d->qpos[0] = 0.3 + PI / 2;
  w.d->qvel[0] = speed;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_near_array(w.d->xpos + 3, place, 3, 1e-14);
  assert_near_array(w.d->xquat + 4, turn, 4, 1e-14);
  tb_object_velocity(w.m, w.d, TB_OBJ_XBODY, 1, 0, moved);
  assert_near_array(moved, velocity, 6, 1e-14);
  tb_world_free(w);
}

// Moment of inertia of the nut about its axis, and its mass.
static tbReal mass_of(tbWorld w, tbReal* inertia) {
  *inertia = 0.5 * 0.5 * 0.03 * 0.03;
  assert_near(w.m->body_mass[1], 0.5, 1e-12);
  return 0.5;
}

// Potential energy m g L q and kinetic energy (I + m L^2) v^2 / 2, with the lead L:
// the acceleration is -g L / (L^2 + I / m). A semi-implicit step with it is exact.
static void a_nut_falls_as_in_closed_form(void** state) {
  (void)state;
  for (int tilted = 0; tilted < 2; tilted++) {
    tbWorld w = nut();
    tbReal inertia, mass = mass_of(w, &inertia), g = 9.81, h = w.m->opt.timestep;
    if (tilted) {
      tb_set3(w.m->opt.gravity, 3, -5, -4);
      g = 4;
    }
    tbReal alpha = g * LEAD / (LEAD * LEAD + inertia / mass);
    for (int n = 1; n <= 500; n++) {
      assert_int_equal(tb_step(w.m, w.d), TB_OK);
      assert_near(w.d->qvel[0], -alpha * h * n, 1e-10);
      assert_near(w.d->qpos[0], -alpha * h * h * n * (n + 1) / 2, 1e-10);
    }
    assert_true(fabs(w.d->qpos[0]) > 2 * PI);
    assert_int_equal(tb_forward(w.m, w.d), TB_OK);
    assert_near(w.d->xpos[5], 1 + LEAD * w.d->qpos[0], 1e-13);
    assert_near(w.d->sensordata[0], w.d->qpos[0], 0);
    tb_world_free(w);
  }
}

// With the lead L per radian, the torque m g L holds the nut against gravity, and an additional
// torque m L a + I a / L accelerates it upward at a.
static void a_torque_holds_and_lifts_the_weight(void** state) {
  (void)state;
  tbWorld w = nut();
  tbReal inertia, mass = mass_of(w, &inertia), lift = 0.2;
  w.d->ctrl[0] = mass * 9.81 * LEAD;
  tb_world_run(w, 1000);
  assert_near(w.d->qpos[0], 0, 1e-9);
  assert_near(w.d->xpos[5], 1, 1e-12);
  w.d->ctrl[0] += mass * LEAD * lift + inertia * lift / LEAD;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_near(w.d->qacc[0], lift / LEAD, 1e-9);
  tb_world_free(w);
}

// A range in degrees is one of the angle; the nut stops there.
static void a_nut_stops_at_its_range(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><body><joint type='screw' axis='0 0 1' range='-180 90'/>"
      "<geom type='cylinder' size='.03 .02' mass='.5'/></body></worldbody></mujoco>");
  assert_near(w.m->jnt_range[0], -PI, 1e-14);
  assert_near(w.m->jnt_range[1], PI / 2, 1e-14);
  tb_world_run(w, 1500);
  assert_near(w.d->qpos[0], -PI, 1e-3);
  assert_near(w.d->qvel[0], 0, 1e-6);
  tb_world_free(w);
}

// Energy of an eccentric screw that carries a swinging arm, kept at fourth order in the step.
static void energy_is_conserved(void** state) {
  (void)state;
  tbReal worst[2];
  for (int i = 0; i < 2; i++) {
    tbWorld w = tb_world_text(
        "<mujoco><option integrator='RK4'/><worldbody><body><joint type='screw' axis='.6 0 .8' "
        "pos='.02 .1 0'/><geom type='box' size='.1 .05 .02' contype='0'/><body pos='.1 .1 0'>"
        "<joint axis='0 .6 .8'/><geom type='box' size='.02 .1 .05' pos='0 .1 0' contype='0'/>"
        "</body></body></worldbody></mujoco>");
    w.m->opt.timestep = i ? 0.005 : 0.01;
    w.d->qvel[0] = 5;
    w.d->qvel[1] = -7;
    tbReal before = tb_world_energy(w), height = w.d->energy[0], fell = 0;
    worst[i] = 0;
    for (int n = tb_world_steps(w, 2); n > 0; n--) {
      assert_int_equal(tb_step(w.m, w.d), TB_OK);
      worst[i] = fmax(worst[i], fabs(tb_world_energy(w) - before));
      fell = fmax(fell, fabs(w.d->energy[0] - height));
    }
    assert_true(fell > 0.2);
    tb_world_free(w);
  }
  assert_true(worst[0] < 1e-6);
  assert_true(worst[1] < worst[0] / 16);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_quarter_turn_advances_a_quarter_of_the_pitch),
      cmocka_unit_test(a_nut_falls_as_in_closed_form),
      cmocka_unit_test(a_torque_holds_and_lifts_the_weight),
      cmocka_unit_test(a_nut_stops_at_its_range),
      cmocka_unit_test(energy_is_conserved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
