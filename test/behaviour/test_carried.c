// Sticking contacts are carried along: touching points move together over whole steps, also on
// rotating bodies.
#include "common/worlds.h"
#include "spatial/vec3.h"

static const int LAWS[] = {TB_LAW_NCP, TB_LAW_CCP, TB_LAW_LCP, TB_LAW_RAISIM};

// A box rides a turntable at 2 rad/s, half a metre from its axis. On the tangent of its circle it
// would leave it by h/2 w^2 r: 2 and 10 mm/s.
static void box_rides_a_turntable(void** state) {
  (void)state;
  for (int k = 0; k < 8; k++) {
    tbReal h = k % 2 ? 0.01 : 0.002;
    tbWorld w = tb_world_text(
        "<mujoco><worldbody><body><joint name='t' axis='0 0 1'/><geom type='cylinder' size='1 .05' "
        "mass='100'/></body><body pos='.5 0 .1'><freejoint/><geom type='box' size='.05 .05 .05' "
        "mass='1'/>"
        "</body></worldbody><actuator><velocity joint='t' kv='1e4'/></actuator></mujoco>");
    w.m->opt.law = LAWS[k / 2];
    w.m->opt.timestep = h;
    w.d->qvel[0] = w.d->qvel[6] = w.d->ctrl[0] = 2;
    w.d->qvel[2] = 1;
    tb_world_run(w, (int)(5 / h));
    tbReal off = hypot(w.d->qpos[1], w.d->qpos[2]) - 0.5;
    print_message("%s, %g ms: %.1e m off\n", tb_step_law_name(LAWS[k / 2]), 1e3 * h, off);
    assert_near(off, 0, h == 0.01 ? 1e-5 : 1e-6);
    tb_world_free(w);
  }
}

// An arm of three hinges swings a box that it holds between two fingers: in its hand the box stays
// where it is.
static void swung_box_stays_in_the_hand(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    tbWorld w = tb_world_text(
        "<mujoco><default><default class='finger'><joint type='slide' axis='1 0 0' damping='2'/>"
        "<geom type='box' size='.01 .03 .03' mass='.1' friction='1'/></default></default>"
        "<worldbody><body pos='0 0 1'><joint name='a' axis='0 0 1'/><joint name='b' axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 .4 0 0' size='.03' mass='2'/><body name='hand' pos="
        "'.4 0 0'><joint name='c' axis='1 0 0'/><geom type='box' size='.02 .08 .02' mass='.5'/>"
        "<body pos='.06 -.03 0' euler='0 0 90' childclass='finger'><joint name='l'/><geom/></body>"
        "<body pos='.06 .03 0' euler='0 0 -90' childclass='finger'><joint name='r'/><geom/></body>"
        "</body></body><body name='box' pos='.46 0 1'><freejoint/><geom type='box' size='.02 .02 "
        ".02' mass='.2'/></body></worldbody><actuator><position joint='a' kp='500' kv='50'/>"
        "<position joint='b' kp='500' kv='50'/><position joint='c' kp='100' kv='5'/><position "
        "joint="
        "'l' kp='4000'/><position joint='r' kp='4000'/></actuator></mujoco>");
    w.m->opt.law = LAWS[k];
    int hand = tb_name2id(w.m, TB_OBJ_BODY, "hand"), box = tb_name2id(w.m, TB_OBJ_BODY, "box");
    w.d->ctrl[3] = w.d->ctrl[4] = 0.01;
    tbReal held[3], moved = 0;
    for (int i = 0; i < 1500; i++) {
      tbReal t = 0.002 * fmax(0, i - 250), apart[3], now[3];
      for (int j = 0; j < 3; j++) w.d->ctrl[j] = 0.4 * (1 - cos((3 + j) * t));
      tb_world_run(w, 1);
      tb_sub3(apart, w.d->xpos + 3 * box, w.d->xpos + 3 * hand);
      tb_mul_mat3t_vec3(now, w.d->xmat + 9 * hand, apart);
      if (i < 250) tb_copy3(held, now);
      moved = fmax(moved, hypot(now[0] - held[0], now[2] - held[2]));
    }
    print_message("%s: %.1e m\n", tb_step_law_name(LAWS[k]), moved);
    assert_true(moved < 1e-4);
    tb_world_free(w);
  }
}

// A ball that rolls and spins touches the floor at a new point in every step, and the later motion
// of the old points does not matter: it rolls straight on.
static void spinning_ball_rolls_straight(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><geom type='plane' size='9 9 .1'/><body pos='0 0 .05'><freejoint/>"
      "<geom size='.05' mass='1'/></body></worldbody></mujoco>");
  w.d->qvel[0] = 1;
  w.d->qvel[4] = 20;
  w.d->qvel[5] = 10;
  tb_world_run_solved(w, 1000);
  assert_near(w.d->qpos[0], 2, 1e-6);
  assert_near(w.d->qpos[1], 0, 1e-6);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_rides_a_turntable),
      cmocka_unit_test(swung_box_stays_in_the_hand),
      cmocka_unit_test(spinning_ball_rolls_straight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
