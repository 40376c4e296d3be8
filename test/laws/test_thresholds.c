// Limits of equilibrium a hundredth below and above where statics puts them, and dry friction whose
// motion an independent formula or equation gives. Every rigid law, at 0.5, 2 and 10 ms.
#include "common/worlds.h"

static const double PI = 3.14159265358979324;
static const tbReal GRAVITY = 9.81, STEP[] = {0.0005, 0.002, 0.01};

// A ladder of 2 m leans on a rough wall and a rough floor: it stands where its angle with the floor
// has a tangent of more than (1 - mu1 mu2) / (2 mu1).
static tbWorld ladder(double excess) {
  const double floor = 0.4, wall = 0.3, r = 0.01;
  double angle = atan((1 - floor * wall) / (2 * floor)) * (1 + excess), x = cos(angle),
         z = sin(angle);
  char xml[2048];
  snprintf(xml, sizeof xml,
           "<mujoco><worldbody><geom type='plane' size='9 9 1' friction='0'/><geom type='plane' "
           "zaxis='1 0 0' size='9 9 1' friction='0'/><body pos='%.17g 0 %.17g'><freejoint/>"
           "<inertial pos='0 0 0' mass='10' diaginertia='4 3.3333 4'/><geom pos='%.17g 0 %.17g' "
           "size='%g' friction='%g'/><geom pos='%.17g 0 %.17g' size='%g' friction='%g'/></body>"
           "</worldbody></mujoco>",
           r + x, r + z, x, -z, r, floor, -x, z, r, wall);
  return tb_world_text(xml);
}

// A box of 20 x 20 x 60 cm that is pushed at its top: it tips over from m g b / (2 h) on where it
// does not slide, and slides from mu m g on where it does.
static tbWorld pushed_box(double mu, double force, double excess) {
  char xml[512];
  snprintf(xml, sizeof xml,
           "<mujoco><worldbody><geom type='plane' size='9 9 1' friction='0'/><body pos='0 0 .3'>"
           "<freejoint/><geom type='box' size='.1 .1 .3' mass='2' friction='%g'/></body>"
           "</worldbody></mujoco>",
           mu);
  tbWorld w = tb_world_text(xml);
  w.d->xfrc_applied[6] = force * (1 + excess);
  w.d->xfrc_applied[10] = 0.3 * w.d->xfrc_applied[6];
  return w;
}

static tbWorld tipped_box(double excess) {
  return pushed_box(0.8, 2 * GRAVITY * 0.1 / 0.6, -excess);
}

static tbWorld slid_box(double excess) {
  return pushed_box(0.1, 2 * GRAVITY * 0.1, -excess);
}

// Six bricks of 1 m at the edge of a table, each as far beyond the next as the harmonic series
// allows: half of 1, 1/2, 1/3 ...
static tbWorld overhang(double excess) {
  enum { COUNT = 6 };
  char xml[4096] = "<mujoco><worldbody>", brick[256];
  double x = 0;
  for (int i = 0; i < COUNT; i++) {
    snprintf(brick, sizeof brick,
             "<body pos='%.17g 0 %.17g'><freejoint/><geom type='box' size='.5 .2 .05' mass='3' "
             "friction='.6'/></body>",
             x, 0.15 + 0.1 * (COUNT - 1 - i));
    strcat(xml, brick);
    x -= (1 - excess) / (2 * (i + 1));
  }
  snprintf(brick, sizeof brick,
           "<geom type='box' pos='%.17g 0 .05' size='3 1 .05' friction='0'/></worldbody></mujoco>",
           x - 2.5);
  strcat(xml, brick);
  return tb_world_text(xml);
}

// Two fingers hold a box by friction: each has to press with half its weight over mu.
static tbWorld pinch(double excess) {
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><body><freejoint/><geom type='box' size='.05 .05 .05' mass='1' "
      "friction='0'/></body><body pos='-.06 0 0'><joint type='slide' axis='1 0 0'/><geom "
      "type='box' size='.01 .02 .02' mass='.1' friction='.5'/></body><body pos='.06 0 0'><joint "
      "type='slide' axis='-1 0 0'/><geom type='box' size='.01 .02 .02' mass='.1' friction='.5'/>"
      "</body></worldbody></mujoco>");
  w.d->qfrc_applied[6] = w.d->qfrc_applied[7] = GRAVITY * (1 + excess);
  return w;
}

// Nine beads on strings around a drum of half a metre, friction 0.3: the one end holds what
// friction, bead by bead, makes of the other: Euler and Eytelwein's rope, in corners. Ten newtons
// hold 29.
static tbWorld capstan(double excess) {
  enum { BEADS = 9 };
  const double mu = 0.3, drum = 0.5, bead = 0.02, turn = PI / 8, circle = drum + bead;
  char xml[8192], part[512];
  snprintf(xml, sizeof xml,
           "<mujoco><option gravity='0 0 0'/><worldbody><geom type='cylinder' size='%g 1' "
           "euler='90 0 0' friction='0' contype='2' conaffinity='1'/>",
           drum);
  for (int i = 0; i < BEADS; i++) {
    double angle = PI / 2 + turn * (i - (BEADS - 1) / 2);
    snprintf(part, sizeof part,
             "<body pos='%.17g 0 %.17g'><joint type='slide' axis='1 0 0'/><joint type='slide' "
             "axis='0 0 1'/><geom size='%g' mass='.01' friction='%g' contype='1' "
             "conaffinity='2'/><site name='s%d'/></body>",
             circle * cos(angle), circle * sin(angle), bead, mu, i);
    strcat(xml, part);
  }
  strcat(xml, "</worldbody><tendon>");
  for (int i = 0; i + 1 < BEADS; i++) {
    snprintf(part, sizeof part,
             "<spatial limited='true' range='0 %.17g'><site site='s%d'/><site site='s%d'/>"
             "</spatial>",
             2 * circle * sin(turn / 2), i, i + 1);
    strcat(xml, part);
  }
  strcat(xml, "</tendon></mujoco>");
  tbWorld w = tb_world_text(xml);
  double corner = (cos(turn / 2) + mu * sin(turn / 2)) / (cos(turn / 2) - mu * sin(turn / 2));
  double pull = 10 * pow(corner, BEADS) * (1 - excess), end = turn * BEADS / 2;
  // Both ends pull along the next string of the polygon.
  w.d->qfrc_applied[0] = 10 * cos(end);
  w.d->qfrc_applied[1] = -10 * sin(end);
  w.d->qfrc_applied[2 * BEADS - 2] = -pull * cos(end);
  w.d->qfrc_applied[2 * BEADS - 1] = -pull * sin(end);
  return w;
}

// A hundredth to the safe side nothing moves, to the other side it starts to go.
static void limits_of_equilibrium(void** state) {
  (void)state;
  tbWorld (*const scene[])(double) = {ladder, tipped_box, slid_box, overhang, pinch, capstan};
  for (int i = 0; i < 6; i++) {
    for (int law = 0; law < TB_LAW_COUNT; law++) {
      for (int k = 0; k < 3; k++) {
        assert_true(tb_world_moved(scene[i](0.01), law, STEP[k], 0.3) < 1e-7);
        assert_true(tb_world_moved(scene[i](-0.01), law, STEP[k], 0.3) > 4e-4);
      }
    }
  }
}

// A weight at rest at its limit, a rounding error or a little more away, is held from the first
// step on: the limit's force stops the weight there and holds it.
static void limits_hold_what_rests(void** state) {
  (void)state;
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    for (int i = 0; i < 4; i++) {
      static const double GAP[] = {1e-15, 1e-12, 1e-9, 1e-6};
      tbWorld w = tb_world_text(
          "<mujoco><worldbody><body><joint name='j' type='slide' axis='0 0 1' limited='true' "
          "range='0 .5'/><geom size='.1' mass='2'/></body></worldbody><sensor><jointlimitfrc "
          "joint='j'/></sensor></mujoco>");
      w.m->opt.law = law;
      w.d->qpos[0] = GAP[i];
      for (int step = 0; step < 50; step++) {
        tb_world_run_solved(w, 1);
        assert_near(w.d->sensordata[0], 2 * GRAVITY, step < 2 ? 1 : 1e-5);
        assert_true(w.d->qpos[0] > -1e-8);
      }
      tb_world_free(w);
    }
  }
}

// A pendulum with a dry hinge: from turning point a to turning point b it loses f (a + b) of its
// energy.
static void dry_pendulum_loses_by_the_angle(void** state) {
  (void)state;
  const double f = 0.05;
  for (int k = 0; k < 3; k++) {
    tbWorld w = tb_world_text(
        "<mujoco><worldbody><body><joint axis='0 1 0' frictionloss='.05'/><inertial pos='0 0 -1' "
        "mass='1' diaginertia='1e-4 1e-4 1e-4'/></body></worldbody></mujoco>");
    w.m->opt.timestep = STEP[k];
    w.d->qpos[0] = 0.5;
    for (int turn = 0, steps = 0; turn < 12 && steps < 100000; steps++) {
      double before = w.d->qvel[0], from = 0.5;
      tb_world_run_solved(w, 1);
      if (before == 0 || before * w.d->qvel[0] > 0) continue;
      turn++;
      for (int i = 0; i < turn; i++) {
        double low = 0, high = from;
        for (int round = 0; round < 60; round++) {
          double to = (low + high) / 2;
          *(GRAVITY * (cos(to) - cos(from)) > f * (from + to) ? &low : &high) = to;
        }
        from = low;
      }
      assert_near(fabs(w.d->qpos[0]), from, 5 * STEP[k] * STEP[k] + 1e-6);
    }
    tb_world_free(w);
  }
}

// A tripod slides and spins: each foot brakes against its own path, with its share of the weight.
// That share has the moment of friction, which acts below the centre of mass. Coulomb's law as an
// ordinary differential equation, without steps of contact.
enum { FEET = 3 };
static const double TRIPOD_HEIGHT = 0.05, TRIPOD_MASS = 2, TRIPOD_INERTIA = 0.05, TRIPOD_MU = 0.3;
static const double FOOT[FEET][2] = {{0.2, 0}, {-0.1, 0.17}, {-0.12, -0.16}};

// The moments of the feet's forces by their loads, solved for the loads by Cramer's rule.
static void tripod_loads(double place[FEET][2], double slip[FEET][2], double* load) {
  double a[3][3];
  for (int i = 0; i < FEET; i++) {
    a[0][i] = 1;
    for (int k = 0; k < 2; k++) {
      a[1 + k][i] = place[i][k] - TRIPOD_MU * TRIPOD_HEIGHT * slip[i][k];
    }
  }
  double minor[3], det = 0;
  for (int i = 0; i < 3; i++) {
    int p = (i + 1) % 3, q = (i + 2) % 3;
    minor[i] = a[1][p] * a[2][q] - a[1][q] * a[2][p];
    det += a[0][i] * minor[i];
  }
  for (int i = 0; i < 3; i++) load[i] = TRIPOD_MASS * GRAVITY * minor[i] / det;
}

// q: x, y, angle, and their velocities, after `seconds`.
static void tripod_motion(double q[6], double seconds) {
  const double dt = 2e-6;
  for (double t = 0; t < seconds - dt / 2; t += dt) {
    double place[FEET][2], slip[FEET][2], load[FEET], force[3] = {0, 0, 0};
    double c = cos(q[2]), s = sin(q[2]);
    for (int i = 0; i < FEET; i++) {
      place[i][0] = c * FOOT[i][0] - s * FOOT[i][1];
      place[i][1] = s * FOOT[i][0] + c * FOOT[i][1];
      double vx = q[3] - q[5] * place[i][1], vy = q[4] + q[5] * place[i][0], v = hypot(vx, vy);
      slip[i][0] = vx / v;
      slip[i][1] = vy / v;
    }
    tripod_loads(place, slip, load);
    for (int i = 0; i < FEET; i++) {
      double fx = -TRIPOD_MU * load[i] * slip[i][0], fy = -TRIPOD_MU * load[i] * slip[i][1];
      force[0] += fx / TRIPOD_MASS;
      force[1] += fy / TRIPOD_MASS;
      force[2] += (place[i][0] * fy - place[i][1] * fx) / TRIPOD_INERTIA;
    }
    for (int k = 0; k < 3; k++) {
      q[3 + k] += dt * force[k];
      q[k] += dt * q[3 + k];
    }
  }
}

static void spinning_tripod_slides(void** state) {
  (void)state;
  char xml[1024] =
      "<mujoco><worldbody><geom type='plane' size='9 9 1' friction='0'/><body pos='0 "
      "0 .05'><freejoint/><inertial pos='0 0 0' mass='2' diaginertia='.03 .03 .05'/>",
       foot[128];
  for (int i = 0; i < FEET; i++) {
    snprintf(foot, sizeof foot, "<geom pos='%g %g 0' size='.05' friction='.3'/>", FOOT[i][0],
             FOOT[i][1]);
    strcat(xml, foot);
  }
  strcat(xml, "</body></worldbody></mujoco>");
  double expected[6] = {0, 0, 0, 1, 0.2, 6}, last = 0;
  tripod_motion(expected, 0.3);
  for (int k = 2; k >= 0; k--) {
    tbWorld w = tb_world_text(xml);
    w.m->opt.timestep = STEP[k];
    w.d->qvel[0] = 1;
    w.d->qvel[1] = 0.2;
    w.d->qvel[5] = 6;
    tb_world_run_solved(w, tb_world_steps(w, 0.3));
    double error = hypot(w.d->qpos[0] - expected[0], w.d->qpos[1] - expected[1]);
    error += 0.2 * fabs(2 * atan2(w.d->qpos[6], w.d->qpos[3]) - expected[2]);
    print_message("tripod at %g ms: %.1e m off\n", 1e3 * STEP[k], error);
    // First order.
    assert_true(error < 1.2 * STEP[k]);
    assert_true(k == 2 || error < 0.4 * last);
    last = error;
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_of_equilibrium),
      cmocka_unit_test(limits_hold_what_rests),
      cmocka_unit_test(dry_pendulum_loses_by_the_angle),
      cmocka_unit_test(spinning_tripod_slides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
