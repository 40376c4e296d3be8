// Machines as users of other engines bring them, each with what physics says about it: a Stewart
// platform, a vibrating feeder, a differential, rack and pinion, a screw jack, a hexapod, a ball
// bearing, logs, a table on six legs, a peg with ten micrometres of play, boxes of two kilometres.
#include "common/turned.h"

#define FLOOR "<geom type='plane' size='20 20 .1'/>"
#define UNTOUCHED "contype='0' conaffinity='0'"

static tbWorld world(const char* xml, int law, double step) {
  tbWorld w = tb_world_text(xml);
  w.m->opt.law = law;
  if (step > 0) w.m->opt.timestep = step;
  return w;
}

static void run(tbWorld w, double seconds) {
  tb_world_run(w, tb_world_steps(w, seconds));
}

// Energy beyond that of the start and the work of actuators, largest over a run.
static double run_excess(tbWorld w, double seconds) {
  double start = tb_world_energy(w), work = 0, excess = 0;
  int steps = tb_world_steps(w, seconds);
  for (int i = 0; i < steps; i++) {
    tb_world_run(w, 1);
    for (int k = 0; k < w.m->nv; k++) {
      work += w.m->opt.timestep * w.d->qfrc_actuator[k] * w.d->qvel[k];
    }
    excess = fmax(excess, tb_world_energy(w) - start - work);
  }
  return excess;
}

// ---- mechanisms ---------------------------------------------------------------------------------

// Six legs of servos with 20 kN/m lift a platform by 5 cm each, less what weight takes: as tall as
// the legs' triangles say.
static void platform_rises(void** state) {
  (void)state;
  char xml[8192] = "<mujoco><worldbody>", equality[2048] = "", actuator[1024] = "", part[4096];
  double reach = 0;
  for (int i = 0; i < 6; i++) {
    static const double BELOW[] = {-10, 10, 110, 130, 230, 250},
                        ABOVE[] = {-50, 50, 70, 170, 190, 290};
    double a = BELOW[i] * TB_PI / 180, b = ABOVE[i] * TB_PI / 180;
    double p[2] = {0.5 * cos(a), 0.5 * sin(a)}, q[2] = {0.3 * cos(b), 0.3 * sin(b)};
    reach = hypot(q[0] - p[0], q[1] - p[1]);
    double length = hypot(reach, 0.5);
    snprintf(
        part, sizeof part,
        "<body pos='%.15g %.15g .05' zaxis='%.15g %.15g .5'><joint axis='1 0 0' damping='.01'/>"
        "<joint axis='0 1 0' damping='.01'/><geom type='cylinder' size='.02 .15' pos='0 0 .15' "
        "mass='1' " UNTOUCHED
        "/><body name='leg%d' pos='0 0 %.15g'><joint name='leg%d' "
        "type='slide' axis='0 0 1' damping='50'/><geom type='cylinder' size='.015 .15' pos='0 0 "
        ".15' mass='.5' " UNTOUCHED "/></body></body>",
        p[0], p[1], q[0] - p[0], q[1] - p[1], i, length - 0.3, i);
    strcat(xml, part);
    snprintf(part, sizeof part, "<connect body1='top' body2='leg%d' anchor='%.15g %.15g 0'/>", i,
             q[0], q[1]);
    strcat(equality, part);
    snprintf(part, sizeof part, "<position joint='leg%d' kp='20000'/>", i);
    strcat(actuator, part);
  }
  snprintf(part, sizeof part,
           "<body name='top' pos='0 0 .55'><freejoint/><geom type='cylinder' size='.32 .01' "
           "mass='2'/></body></worldbody><equality>%s</equality><actuator>",
           equality);
  strcat(xml, part);
  strcat(strcat(xml, actuator), "</actuator></mujoco>");

  // Each leg leans on the top with its weight's moment, bears a sixth of the top's weight and of
  // what leans on it, and the weight of its own upper part.
  double length = hypot(reach, 0.5) + 0.05, lean = reach / length, upright = sqrt(1 - lean * lean);
  double across = 9.81 * lean * (1 * 0.15 + 0.5 * (length - 0.15)) / length;
  double force = (2 * 9.81 / 6 + across * lean) / upright + 0.5 * 9.81 * upright;
  double height = 0.05 + sqrt(pow(length - force / 20000, 2) - reach * reach);
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    // soft and comfree loops yield
    double off = law < TB_LAW_COUNT ? 2e-5 : 2e-3;
    tbWorld w = world(xml, law, 0.002);
    for (int i = 0; i < 6; i++) w.d->ctrl[i] = 0.05;
    assert_true(run_excess(w, 1.5) < 1e-3);
    const tbReal* top = tb_world_place(w, "top");
    assert_near(top[2], height, off);
    assert_near(hypot(top[0], top[1]), 0, off);
    tb_world_free(w);
  }
}

// A tray that swings at 31 Hz and throws its parts forward: neither they nor the spring get energy
// from nowhere, and they go where they are thrown.
static void feeder_conveys(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = world(
        "<mujoco><worldbody><body><joint type='slide' axis='.9397 0 .342' stiffness='200000'/>"
        "<geom type='box' size='.5 .2 .02' mass='5' friction='.4'/></body><body name='box' "
        "pos='-.3 "
        ".05 .0411'><freejoint/><geom type='box' size='.02 .02 .02' mass='.02' friction='.4'/>"
        "</body><body name='tin' pos='-.3 -.05 .0411'><freejoint/><geom type='cylinder' size='.02 "
        ".02' mass='.02' friction='.4'/></body></worldbody></mujoco>",
        law, 0.0005);
    w.d->qpos[0] = 0.003;
    // semi-implicit Euler goes on an ellipse that is off by h w/2 of the spring's 0.9 J
    assert_true(run_excess(w, 0.8) < 0.06);
    assert_true(tb_world_place(w, "box")[0] > -0.29 && tb_world_place(w, "tin")[0] > -0.29);
    tb_world_free(w);
  }
}

// Half the torque to each side, whatever their speeds; the input turns at their mean.
static void differential_shares(void** state) {
  (void)state;
#define WHEEL(x, name, rest)                                        \
  "<body pos='" x " 0 0'><joint name='" name "' axis='0 0 1' " rest \
  "/><geom type='cylinder' size='.05 .01' mass='.2' " UNTOUCHED "/></body>"
  static const char XML[] =
      "<mujoco><worldbody>" WHEEL("0", "in", "") WHEEL(".5", "l", "damping='.01'")
          WHEEL("-.5", "r", "damping='.03'") "</worldbody><tendon><fixed name='d'><joint joint='l' "
      "coef='.5'/><joint joint='r' coef='.5'/><joint joint='in' coef='-1'/></fixed></tendon>"
      "<equality><tendon tendon1='d'/></equality><actuator><motor joint='in'/></actuator></mujoco>";
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = world(XML, law, 0.002);
    w.d->ctrl[0] = 0.2;
    run(w, 1);
    assert_near(w.d->qvel[1], 10, 1e-3);
    assert_near(w.d->qvel[2], 10.0 / 3, 1e-3);
    assert_near(w.d->qvel[0], 20.0 / 3, 1e-3);
    tb_world_free(w);
  }
}

// A screw of 2 mm a turn with a rotor of next to no inertia lifts 43 kg, tied by joints or by
// tendons: the nut stays on its thread, at steps of 1 and of 5 ms.
static void screw_lifts(void** state) {
  (void)state;
  static const char* const TIES[] = {
      "<equality><joint joint1='nut' joint2='screw' polycoef='0 .000318309886 0 0 0'/></equality>",
      "<tendon><fixed name='n'><joint joint='nut' coef='1'/></fixed><fixed name='s'><joint "
      "joint='screw' coef='1'/></fixed></tendon><equality><tendon tendon1='n' tendon2='s' "
      "polycoef='0 .000318309886 0 0 0'/></equality>"};
  static const int LAWS[] = {TB_LAW_NCP, TB_LAW_COMFREE};
  for (int i = 0; i < 8; i++) {
    char xml[2048];
    snprintf(xml, sizeof xml,
             "<mujoco><worldbody><body><joint name='screw' axis='0 0 1' armature='1e-5'/><geom "
             "size='.004' mass='.05'/></body><body pos='0 0 1'><joint name='nut' type='slide' "
             "axis='0 0 1'/><geom type='box' size='.1 .1 .01' mass='3'/></body><body "
             "pos='0 0 1.0601'><freejoint/><geom type='box' size='.05 .05 .05' mass='40'/></body>"
             "</worldbody>%s<actuator><velocity joint='screw' kv='.05'/></actuator></mujoco>",
             TIES[i / 4]);
    tbWorld w = world(xml, LAWS[i / 2 % 2], i % 2 ? 0.005 : 0.001);
    w.d->ctrl[0] = 30;
    run(w, 1);
    // 0.13 N m of weight on 0.05 N m s take 2.7 rad/s.
    assert_near(w.d->qpos[0], 27.3, 0.2);
    assert_near(w.d->qpos[1], 0.000318309886 * w.d->qpos[0], 5e-6);
    tb_world_free(w);
  }
}

// Sixteen teeth turn a turn and push the rack by their circle, but for the play.
static void rack_follows_its_pinion(void** state) {
  (void)state;
  const double radius = 0.1, pitch = 2 * TB_PI * radius / 16;
  char xml[2048];
  snprintf(
      xml, sizeof xml,
      "<mujoco><default><geom type='box' friction='.1 0 0' mass='.01'/></default><worldbody>"
      "<body><joint name='pinion' axis='0 0 1'/><replicate count='16' euler='0 0 22.5'><geom "
      "pos='.1 0 0' "
      "size='.012 .006 .02'/></replicate><geom type='cylinder' size='.08 .02' mass='.5' " UNTOUCHED
      "/></body><body pos='0 -.108 0'><joint type='slide' axis='1 0 0' damping='5'/><replicate "
      "count='21' offset='%.15g 0 0'><geom pos='%.15g 0 0' size='.006 .012 .02'/></replicate>"
      "</body></worldbody><actuator><velocity joint='pinion' kv='2'/></actuator></mujoco>",
      pitch, -9.5 * pitch);
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = world(xml, law, 0.002);
    w.d->ctrl[0] = 2;
    run(w, 1.5);
    assert_true(w.d->qpos[0] > 2.8);
    assert_near(w.d->qpos[1], radius * w.d->qpos[0], 0.012);
    tb_world_free(w);
  }
}

// ---- bodies on bodies ---------------------------------------------------------------------------

// Ten logs between two stops: what lies still stays.
static void logs_lie(void** state) {
  (void)state;
  char xml[4096] = "<mujoco><worldbody>" FLOOR
                   "<geom type='box' size='.02 .5 .1' pos='.43 0 .05'/>"
                   "<geom type='box' size='.02 .5 .1' pos='-.43 0 .05'/>",
       part[256];
  for (int row = 0; row < 4; row++) {
    for (int i = 0; i < 4 - row; i++) {
      snprintf(
          part, sizeof part,
          "<body name='log%d%d' pos='%.15g 0 %.15g'><freejoint/><geom type='cylinder' size='.1 "
          ".5' euler='90 0 0' mass='5' friction='.5'/></body>",
          row, i, (i - (3 - row) / 2.0) * 0.2001, 0.1 + row * 0.1733);
      strcat(xml, part);
    }
  }
  strcat(xml, "</worldbody></mujoco>");
  tbWorld w = world(xml, TB_LAW_NCP, 0.002);
  run(w, 0.5);
  double height = tb_world_place(w, "log30")[2], side = tb_world_place(w, "log30")[0];
  tb_world_run_solved(w, 250);
  assert_near(tb_world_place(w, "log30")[2], height, 1e-8);
  assert_near(tb_world_place(w, "log30")[0], side, 1e-8);
  assert_near(side, 0, 1e-6);
  tb_world_free(w);
}

// Six legs, two more than there must be, and 200 kg off the middle: forces add up to the weight and
// have its moment.
static void six_legs_bear(void** state) {
  (void)state;
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    tbWorld w = world(
        "<mujoco><worldbody>" FLOOR
        "<body name='table' pos='0 0 .5'><freejoint/><geom type='box' "
        "size='.6 .4 .02' mass='10'/><replicate count='3' offset='.55 0 0'><geom type='cylinder' "
        "size='.02 .24' pos='-.55 .35 -.26' mass='.5'/><geom type='cylinder' size='.02 .24' "
        "pos='-.55 -.35 -.26' mass='.5'/></replicate></body><body name='load' pos='.3 .1 .62'>"
        "<freejoint/><geom type='box' size='.1 .1 .1' mass='200'/></body></worldbody></mujoco>",
        law, 0.002);
    run(w, 0.2);
    tb_world_run_solved(w, 50);
    double sum = 0, moment[2] = {0, 0};
    for (int k = 0; k < w.d->ncon; k++) {
      const tbContact* c = &w.d->contact[k];
      if (w.m->geom_bodyid[c->geom[0]] != 0) continue;
      sum += c->force[0];
      moment[0] += c->pos[0] * c->force[0];
      moment[1] += c->pos[1] * c->force[0];
    }
    assert_near(sum, 213 * 9.81, 1e-3);
    assert_near(moment[0], 0.3 * 200 * 9.81, 1e-2);
    assert_near(moment[1], 0.1 * 200 * 9.81, 1e-2);
    assert_near(tb_world_place(w, "table")[2], 0.5, 1e-6);
    tb_world_free(w);
  }
}

// A square peg of 20 mm in a hole 20 um wider falls to its ground. (Under ccp friction acts from
// afar: it may go no faster than play / (mu h), and hangs.)
static void tight_peg_falls(void** state) {
  (void)state;
  static const int LAWS[] = {TB_LAW_NCP, TB_LAW_LCP, TB_LAW_RAISIM, TB_LAW_SOFT,
                             TB_LAW_VISCOELASTIC};
  for (int k = 0; k < TB_COUNT(LAWS); k++) {
    tbWorld w = world("<mujoco><default><geom type='box'/></default><worldbody>" FLOOR
                      "<geom size='.02 .06 .03' pos='.03001 0 .03'/><geom size='.02 .06 .03' "
                      "pos='-.03001 0 .03'/>"
                      "<geom size='.01001 .02 .03' pos='0 .03001 .03'/><geom size='.01001 .02 .03' "
                      "pos='0 -.03001 "
                      ".03'/><body name='peg' pos='0 0 .09'><freejoint/><geom size='.01 .01 .03' "
                      "mass='.1'/></body>"
                      "</worldbody></mujoco>",
                      LAWS[k], 0.002);
    run(w, 0.8);
    assert_near(tb_world_place(w, "peg")[2], 0.03, LAWS[k] < TB_LAW_COUNT ? 1e-7 : 2e-4);
    tb_world_free(w);
  }
}

// Twelve balls with 10 um of play between a ring of 48 flats and a wheel: the wheel turns as if
// they were not there.
static void bearing_turns(void** state) {
  (void)state;
  tbWorld w = world(
      "<mujoco><worldbody>" FLOOR
      "<replicate count='48' euler='0 0 7.5'><geom type='box' size='.02 "
      ".0092 .03' pos='.12 0 .03'/></replicate><body pos='0 0 .03'><joint name='in' axis='0 0 1' "
      "armature='.001'/><geom type='cylinder' size='.06999 .03' mass='.5'/></body><replicate "
      "count='12' euler='0 0 30'><body pos='.085 0 .015'><freejoint/><geom size='.01499' "
      "mass='.02' "
      "friction='.3'/></body></replicate></worldbody><actuator><velocity joint='in' kv='.1'/>"
      "</actuator></mujoco>",
      TB_LAW_NCP, 0.002);
  w.d->ctrl[0] = 10;
  tb_world_run_solved(w, 300);
  assert_near(w.d->qvel[0], 10, 1e-3);
  tb_world_free(w);
}

// Six legs of servos stand as they are mirrored: straight down, not turned, not moved.
static void hexapod_stands(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = world(
        "<mujoco><default><joint axis='0 1 0' damping='.5' stiffness='40'/><geom type='capsule' "
        "friction='.9'/></default><worldbody>" FLOOR
        "<body name='trunk' pos='0 0 .18'><freejoint/>"
        "<geom type='cylinder' size='.12 .03' mass='2'/><replicate count='6' euler='0 0 60'><body "
        "pos='.12 0 0'><joint axis='0 0 1'/><geom fromto='0 0 0 .05 0 0' size='.015' mass='.05'/>"
        "<body pos='.05 0 0'><joint springref='-12'/><geom fromto='0 0 0 .1 0 0' size='.012' "
        "mass='.06'/><body pos='.1 0 0'><joint springref='14'/><geom fromto='0 0 0 0 0 -.16' "
        "size='.01' mass='.05'/></body></body></body></replicate></body></worldbody></mujoco>",
        law, 0.002);
    assert_true(run_excess(w, 1.2) < 0.05);
    const tbReal* trunk = tb_world_place(w, "trunk");
    assert_true(trunk[2] > 0.12 && trunk[2] < 0.19);
    assert_near(hypot(trunk[0], trunk[1]), 0, 1e-5);
    assert_near(fabs(w.d->xquat[4]), 1, 1e-6);
    tb_world_free(w);
  }
}

// Four cubes of two kilometres and 1.6e13 kg at 10 ms fall the last 50 m and stay.
static void mountains_pile_up(void** state) {
  (void)state;
  char xml[2048] = "<mujoco><worldbody><geom type='plane' size='0 0 1'/>", part[256];
  for (int i = 0; i < 4; i++) {
    snprintf(part, sizeof part,
             "<body pos='%d 0 %d'><freejoint/><geom type='box' size='1000 1000 1000' "
             "density='2000'/></body>",
             100 * i, 1020 + 2050 * i);
    strcat(xml, part);
  }
  strcat(xml, "</worldbody></mujoco>");
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    tbWorld w = world(xml, law, 0.01);
    run(w, 10);
    for (int i = 0; i < 4; i++) {
      assert_near(w.d->qpos[7 * i + 2], 1000 + 2000 * i, 1e-9);
      assert_near(w.d->qpos[7 * i], 100 * i, 1e-6);
    }
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(platform_rises),      cmocka_unit_test(feeder_conveys),
      cmocka_unit_test(differential_shares), cmocka_unit_test(rack_follows_its_pinion),
      cmocka_unit_test(screw_lifts),         cmocka_unit_test(logs_lie),
      cmocka_unit_test(six_legs_bear),       cmocka_unit_test(tight_peg_falls),
      cmocka_unit_test(bearing_turns),       cmocka_unit_test(hexapod_stands),
      cmocka_unit_test(mountains_pile_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
