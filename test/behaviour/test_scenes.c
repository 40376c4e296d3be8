// Typical scenes of users under every law: a hand that lifts a box, a belt, a pusher, a rope, a
// stiff door, collisions in free space, steps and sizes of all magnitudes. Each has a property that
// every contact model must have.
#include "common/worlds.h"

#define FLOOR "<geom type='plane' size='5 5 .1'/>"

static bool is_rigid(int law) {
  return law < TB_LAW_COUNT;
}

static double* body_pos(tbWorld w, const char* name) {
  return w.d->xpos + 3 * tb_name2id(w.m, TB_OBJ_BODY, name);
}

// ---- hands and belts ---------------------------------------------------------------------------

static const char LIFT[] =
    "<mujoco><worldbody>" FLOOR
    "<body name='wrist' pos='0 0 .13'><joint name='lift' type='slide' axis='0 0 1' damping='10'/>"
    "<geom type='box' size='.06 .02 .01' mass='.5'/>"
    "<body pos='-.05 0 -.06'><joint name='l' type='slide' axis='1 0 0'/><geom type='box' size='.01 "
    ".02 .05' mass='.1' condim='4' friction='1 .01 .001'/></body>"
    "<body pos='.05 0 -.06'><joint name='r' type='slide' axis='-1 0 0'/><geom type='box' size='.01 "
    ".02 .05' mass='.1' condim='4' friction='1 .01 .001'/></body></body>"
    "<body name='box' pos='0 0 .03'><freejoint/><geom type='box' size='.03 .03 .03' mass='.2'/>"
    "</body></worldbody><actuator><position joint='lift' kp='500'/><motor joint='l' gear='10'/>"
    "<motor joint='r' gear='10'/></actuator></mujoco>";

// A box that is held goes where the hand goes. Friction of the complementarity-free law is a
// damper, so there it slips out.
static void hand_lifts_a_box(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    if (law == TB_LAW_COMFREE) continue;
    tbWorld w = tb_world_text(LIFT);
    w.m->opt.law = law;
    w.d->ctrl[1] = w.d->ctrl[2] = 1;
    tb_world_run(w, 150);
    double apart = body_pos(w, "wrist")[2] - body_pos(w, "box")[2];
    w.d->ctrl[0] = 0.15;
    tb_world_run(w, 350);
    double slip = fabs(body_pos(w, "wrist")[2] - body_pos(w, "box")[2] - apart);
    if (is_rigid(law)) assert_true(slip < 1e-6);
    assert_true(slip < 0.01);
    assert_true(body_pos(w, "box")[2] > 0.1);
    tb_world_free(w);
  }
}

// A belt carries what lies on it, after the time that friction needs.
static void belt_carries_a_box(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(
        "<mujoco><worldbody><body pos='0 0 .1'><joint name='belt' type='slide' axis='1 0 0'/><geom "
        "type='box' size='3 .3 .05' mass='50'/></body><body name='box' pos='-2 0 .25'><freejoint/>"
        "<geom type='box' size='.1 .1 .1' mass='1'/></body></worldbody><actuator><velocity "
        "joint='belt' kv='5e3'/></actuator></mujoco>");
    w.m->opt.law = law;
    w.d->ctrl[0] = 0.5;
    tb_world_run(w, 300);
    // The sliding distance is v^2 / (2 mu g).
    double behind = 0.5 * w.d->time - (w.d->qpos[1] + 2);
    assert_near(w.d->qvel[1], 0.5, is_rigid(law) ? 1e-6 : 0.02);
    if (is_rigid(law)) assert_near(behind, 0.25 / (2 * 9.81), 1.5e-3);
    tb_world_free(w);
  }
}

// A mocap body pushes a box before it and does not enter it. (With coefficients of one, hand and
// floor could wedge the box between them: then ccp does.)
static void pusher_pushes(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(
        "<mujoco><default><geom friction='.5'/></default><worldbody>" FLOOR
        "<body name='hand' mocap='true' pos='-.2 0 .1'><geom type='box' size='.05 .2 .05'/></body>"
        "<body name='box' pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/>"
        "</body></worldbody></mujoco>");
    w.m->opt.law = law;
    for (int i = 0; i < 500; i++) {
      w.d->mocap_pos[0] = -0.2 + 0.2 * i * w.m->opt.timestep;
      tb_world_run(w, 1);
    }
    double gap = w.d->qpos[0] - w.d->mocap_pos[0] - 0.15;
    assert_true(gap > (is_rigid(law) ? -2e-3 : -0.02));
    assert_true(gap < 0.05);
    tb_world_free(w);
  }
}

// ---- joints ------------------------------------------------------------------------------------

// A rope of free links that swings from one end: the connections hold while the tip whips.
static void rope_holds(void** state) {
  (void)state;
  enum { LINKS = 10 };
  char xml[8192] = "<mujoco><worldbody>", text[256];
  for (int i = 0; i < LINKS; i++) {
    snprintf(
        text, sizeof text,
        "<body name='r%d' pos='%g 0 1'><freejoint/><geom type='capsule' fromto='-.04 0 0 .04 0 "
        "0' size='.012' mass='.02' contype='0'/></body>",
        i, 0.1 * i);
    strcat(xml, text);
  }
  strcat(xml, "</worldbody><equality><connect body1='r0' anchor='-.05 0 0'/>");
  for (int i = 1; i < LINKS; i++) {
    snprintf(text, sizeof text, "<connect body1='r%d' body2='r%d' anchor='.05 0 0'/>", i - 1, i);
    strcat(xml, text);
  }
  strcat(xml, "</equality></mujoco>");
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(xml);
    w.m->opt.law = law;
    double worst = 0;
    for (int step = 0; step < 300; step++) {
      tb_world_run(w, 1);
      for (int i = 1; i < LINKS; i++) {
        const tbReal *a = w.d->xpos + 3 * i, *b = a + 3, *A = w.d->xmat + 9 * i, *B = A + 9;
        double open = 0;
        for (int k = 0; k < 3; k++) {
          open += pow(a[k] + 0.05 * A[3 * k] - b[k] + 0.05 * B[3 * k], 2);
        }
        worst = fmax(worst, sqrt(open));
      }
    }
    if (!(worst < 0.02)) {
      fail_msg("%s: open by %g m", tb_step_law_name(law), worst);
    }
    tb_world_free(w);
  }
}

// A door with dry friction: pushed with less it stays, with more it opens.
static void stiff_door(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(
        "<mujoco><worldbody><body><joint axis='0 0 1' frictionloss='0.5'/><geom type='box' "
        "size='.4 .02 .45' pos='.4 0 0' mass='5'/></body></worldbody></mujoco>");
    w.m->opt.law = law;
    w.d->qfrc_applied[0] = 0.49;
    tb_world_run(w, 500);
    assert_near(w.d->qpos[0], 0, is_rigid(law) ? 1e-9 : 0.02);
    tbReal before = w.d->qvel[0];
    w.d->qfrc_applied[0] = 1;
    tb_world_run(w, 500);
    // The rest of the torque turns it: I = m (4 a^2 + b^2 (/3)) about the hinge.
    double inertia = 5 * (0.16 * 4 / 3 + 0.0004 / 3), rate = w.d->qvel[0] - before;
    assert_near(rate, 0.5 / inertia, is_rigid(law) ? 1e-6 : 0.02);
    tb_world_free(w);
  }
}

// ---- collisions, steps and sizes ---------------------------------------------------------------

// Bodies that meet in free space: whatever the law, forces come in pairs.
static void collisions_keep_momentum(void** state) {
  (void)state;
  static const char* const KIND[] = {"box", "sphere", "capsule", "cylinder", "ellipsoid"};
  char xml[2048] = "<mujoco><option gravity='0 0 0'/><worldbody>", text[200];
  for (int i = 0; i < 5; i++) {
    snprintf(text, sizeof text,
             "<body pos='%g %g 0'><freejoint/><geom type='%s' size='.1 .1 .1' mass='%d'/></body>",
             0.3 * i, 0.01 * i, KIND[i], 1 + i);
    strcat(xml, text);
  }
  strcat(xml, "</worldbody></mujoco>");
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(xml);
    w.m->opt.law = law;
    double before[3] = {0}, after[3] = {0};
    for (int i = 0; i < 5; i++) {
      w.d->qvel[6 * i] = 2 - i;
      w.d->qvel[6 * i + 3] = i;
      for (int k = 0; k < 3; k++) before[k] += (1 + i) * w.d->qvel[6 * i + k];
    }
    int touched = 0;
    for (int step = 0; step < 400; step++) {
      tb_world_run(w, 1);
      touched += w.d->ncon > 0;
    }
    assert_true(touched > 0);
    for (int i = 0; i < 5; i++) {
      for (int k = 0; k < 3; k++) after[k] += (1 + i) * w.d->qvel[6 * i + k];
    }
    for (int k = 0; k < 3; k++) assert_near(after[k], before[k], 1e-9);
    tb_world_free(w);
  }
}

// Two boxes rest on each other whatever the time step and their size.
static void rest_at_every_scale(void** state) {
  (void)state;
  static const double STEP[] = {1e-5, 1e-4, 1e-3, 1e-2, 2e-2}, SIZE[] = {1e-3, 1e-2, 1, 1e2, 1e3};
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    for (int k = 0; k < 10; k++) {
      double dt = k < 5 ? STEP[k] : 2e-3, size = k < 5 ? 0.1 : SIZE[k - 5];
      char xml[1024];
      snprintf(xml, sizeof xml,
               "<mujoco><option timestep='%g'/><worldbody><geom type='plane' size='%g %g %g'/>"
               "<body pos='0 0 %g'><freejoint/><geom type='box' size='%g %g %g'/></body>"
               "<body pos='0 0 %g'><freejoint/><geom type='box' size='%g %g %g'/></body>"
               "</worldbody></mujoco>",
               dt, 20 * size, 20 * size, size, size, size, size, size, 3 * size, size, size, size);
      tbWorld w = tb_world_text(xml);
      w.m->opt.law = law;
      tb_world_run(w, 200);
      for (int b = 0; b < 2; b++) {
        assert_near(w.d->qpos[7 * b] / size, 0, 1e-6);
        assert_near(w.d->qpos[7 * b + 2] / size, 1 + 2 * b, 2e-5 / fmin(size, 1));
      }
      tb_world_free(w);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hand_lifts_a_box),    cmocka_unit_test(belt_carries_a_box),
      cmocka_unit_test(pusher_pushes),       cmocka_unit_test(rope_holds),
      cmocka_unit_test(stiff_door),          cmocka_unit_test(collisions_keep_momentum),
      cmocka_unit_test(rest_at_every_scale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
