// Motions with a closed form or an invariant, beyond those of test_analytic: rolling that begins as
// slipping, rolling resistance, impacts in a row, tiles, momentum, symmetry, a rocking block,
// Painleve's rod, a woodpecker toy, hyperstatic feet. All under the exact law, tiles under every
// rigid one.
#include "common/worlds.h"

#define FLOOR "<geom type='plane' size='50 50 .1' friction='0'/>"

static const tbReal GRAVITY = 9.81;

// A cylinder thrown without spin slips for v / (3 mu g) and rolls at 2/3 of its speed from then on.
static void slipping_becomes_rolling(void** state) {
  (void)state;
  const tbReal speed = 3, mu = 0.25, radius = 0.1;
  tbWorld w = tb_world_text("<mujoco><worldbody>" FLOOR
                            "<body pos='0 0 .1' euler='90 0 0'><freejoint/><geom type='cylinder' "
                            "size='.1 .2' mass='2' friction='.25'/></body></worldbody></mujoco>");
  w.d->qvel[0] = speed;
  const tbReal until = speed / (3 * mu * GRAVITY), h = w.m->opt.timestep;
  while (w.d->time < until - 2 * h) {
    tb_world_run_solved(w, 1);
    assert_near(w.d->qvel[0], speed - mu * GRAVITY * w.d->time, 1e-6);
  }
  tb_world_run_solved(w, 4);
  for (int i = 0; i < 200; i++) {
    tb_world_run_solved(w, 1);
    assert_near(w.d->qvel[0], 2.0 / 3 * speed, 1e-6);
    assert_near(fabs(w.d->qvel[5]), w.d->qvel[0] / radius, 1e-5);
  }
  tb_world_free(w);
}

// Rolling resistance of b metres brakes a rolling ball by g b / r / (1 + 2/5). One cone for force
// and moment lets the ball slip a little as it rolls: 1.8 mm/s here, of which 2/7 show in its
// speed.
static void rolling_resistance_brakes(void** state) {
  (void)state;
  const tbReal b = 0.002, radius = 0.05, speed = 1;
  tbWorld w = tb_world_text(
      "<mujoco><worldbody>" FLOOR
      "<body pos='0 0 .05'><freejoint/><geom size='.05' mass='1' condim='6' friction='.8 0 .002'/>"
      "</body></worldbody></mujoco>");
  w.d->qvel[0] = speed;
  w.d->qvel[4] = speed / radius;
  const tbReal brake = GRAVITY * b / radius / 1.4, h = w.m->opt.timestep;
  for (int i = 0; i < 1000; i++) {
    tb_world_run_solved(w, 1);
    tbReal expected = fmax(0, speed - brake * w.d->time);
    assert_near(w.d->qvel[0], expected, brake * h + 6e-4);
  }
  const tbReal stop = w.d->qpos[0];
  tb_world_run_solved(w, 4500);
  assert_near(w.d->qvel[0], 0, 1e-7);
  assert_near(w.d->qpos[0], speed * speed / (2 * brake), 3e-3);
  assert_true(w.d->qpos[0] > stop);
  tb_world_free(w);
}

// Balls in a row, a little apart, that give back all: the last takes the whole speed of the first.
static void cradle_passes_the_speed_on(void** state) {
  (void)state;
  char xml[4096] = "<mujoco><option gravity='0 0 0'/><worldbody>";
  for (int i = 0; i < 5; i++) {
    char ball[256];
    snprintf(ball, sizeof ball,
             "<body pos='%g 0 0'><freejoint/><geom size='.05' mass='.3' restitution='1' "
             "friction='0'/></body>",
             0.12 * i);
    strcat(xml, ball);
  }
  strcat(xml, "</worldbody></mujoco>");
  tbWorld w = tb_world_text(xml);
  w.d->qvel[0] = 2;
  tb_world_run_solved(w, 200);
  for (int i = 0; i < 5; i++) assert_near(w.d->qvel[6 * i], i == 4 ? 2 : 0, 1e-9);
  tb_world_free(w);
}

// Bodies that roll or slide over tiles move as over one slab: the edges of the next tile, level
// with the surface, do not stop them.
static void tiles_are_one_floor(void** state) {
  (void)state;
  static const char* const THINGS[] = {
      "<geom size='.05' mass='1'/>",
      "<geom type='cylinder' size='.05 .04' zaxis='0 1 0' mass='1'/>",
      "<geom type='box' size='.05 .05 .05' mass='1'/>"};
  static const int LAWS[] = {TB_LAW_NCP, TB_LAW_CCP, TB_LAW_LCP, TB_LAW_RAISIM};
  for (int i = 0; i < 3 * 4 * 2; i++) {
    const char* thing = THINGS[i % 3];
    tbReal end[2];
    for (int tiled = 0; tiled < 2; tiled++) {
      char xml[4096] = "<mujoco><worldbody>", part[256];
      for (int k = 0; k < (tiled ? 16 : 1); k++) {
        snprintf(part, sizeof part,
                 "<geom type='box' size='%g .5 .05' pos='%g 0 -.05' friction='.1'/>",
                 tiled ? 0.1 : 1.6, tiled ? 0.2 * k : 1.5);
        strcat(xml, part);
      }
      snprintf(part, sizeof part, "<body pos='0 0 .05'><freejoint/>%s</body></worldbody></mujoco>",
               thing);
      tbWorld w = tb_world_text(strcat(xml, part));
      w.m->opt.law = LAWS[i / 3 % 4];
      w.m->opt.timestep = i < 12 ? 0.001 : 0.005;
      w.m->geom_friction[3 * (w.m->ngeom - 1)] = 0.1;
      w.d->qvel[0] = 2.5;
      if (i % 3 < 2) w.d->qvel[4] = 2.5 / 0.05;
      tb_world_run(w, tb_world_steps(w, 1));
      end[tiled] = w.d->qpos[0];
      tb_world_free(w);
    }
    assert_true(end[0] > 1);
    assert_near(end[1], end[0], 1e-3);
  }
}

// A cloud of balls that attract each other: contact forces come in opposite pairs.
static void contacts_keep_momentum(void** state) {
  (void)state;
  enum { SIDE = 3, COUNT = SIDE * SIDE * SIDE };
  char xml[8192] = "<mujoco><option gravity='0 0 0'/><worldbody>";
  for (int i = 0; i < COUNT; i++) {
    char ball[256];
    snprintf(ball, sizeof ball,
             "<body pos='%g %g %g'><freejoint/><geom size='.1' mass='%g' friction='.6' "
             "condim='4'/></body>",
             0.21 * (i % SIDE), 0.21 * (i / SIDE % SIDE), 0.21 * (i / SIDE / SIDE), 1.0 + i % 4);
    strcat(xml, ball);
  }
  strcat(xml, "</worldbody></mujoco>");
  tbWorld w = tb_world_text(xml);
  tbRng rng = {7};
  for (int i = 0; i < w.m->nv; i++) w.d->qvel[i] = tb_rng_normal(&rng);
  for (int i = 0; i < COUNT; i++) {
    // towards the middle
    for (int k = 0; k < 3; k++) w.d->qvel[6 * i + k] -= 4 * (w.d->qpos[7 * i + k] - 0.21);
  }
  tbReal first[6], now[6];
  int touched = 0;
  double energy = INFINITY;
  for (int step = 0; step < 200; step++) {
    tb_compute_position(w.m, w.d);
    memset(now, 0, sizeof now);
    for (int b = 1; b <= COUNT; b++) {
      tbReal mass = w.m->body_mass[b], *v = w.d->qvel + 6 * (b - 1), p[3], spin[3], moment[3];
      for (int k = 0; k < 3; k++) {
        p[k] = mass * v[k];
        spin[k] = w.m->body_inertia[3 * b] * v[3 + k];
        now[k] += p[k];
      }
      // the spin is given in the ball's frame
      const tbReal *R = w.d->xmat + 9 * b, *x = w.d->xipos + 3 * b;
      for (int k = 0; k < 3; k++) {
        moment[k] = R[3 * k] * spin[0] + R[3 * k + 1] * spin[1] + R[3 * k + 2] * spin[2];
        moment[k] += x[(k + 1) % 3] * p[(k + 2) % 3] - x[(k + 2) % 3] * p[(k + 1) % 3];
        now[3 + k] += moment[k];
      }
    }
    if (step == 0) memcpy(first, now, sizeof now);
    assert_near_array(now, first, 6, 1e-9);
    double e = tb_world_kinetic(w);
    assert_true(e <= energy * (1 + 1e-9));
    energy = e;
    tb_world_run(w, 1);
    touched += w.d->ncon > 0;
  }
  assert_true(touched > 20);
  tb_world_free(w);
}

// A rack of balls hit in the middle opens like its mirror image.
static void break_is_symmetric(void** state) {
  (void)state;
  enum { ROWS = 4 };
  char xml[4096] = "<mujoco><worldbody>" FLOOR, ball[256];
  const char* format =
      "<body pos='%.17g %.17g .03'><freejoint/><geom size='.03' mass='.17' restitution='.9' "
      "friction='.1'/></body>";
  int count = 0, mirror[16];
  for (int row = 0; row < ROWS; row++) {
    for (int i = 0; i <= row; i++, count++) {
      snprintf(ball, sizeof ball, format, 0.0521 * row, 0.0602 * (i - 0.5 * row));
      strcat(xml, ball);
      mirror[count] = count - i + (row - i);
    }
  }
  snprintf(ball, sizeof ball, format, -0.2, 0.0);
  strcat(xml, ball);
  strcat(xml, "</worldbody></mujoco>");
  tbWorld w = tb_world_text(xml);
  w.d->qvel[6 * count] = 4;
  tb_world_run_solved(w, 200);
  double spread = 0;
  for (int i = 0; i < count; i++) {
    const tbReal *a = w.d->qpos + 7 * i, *b = w.d->qpos + 7 * mirror[i];
    assert_near(a[0], b[0], 1e-6);
    assert_near(a[1], -b[1], 1e-6);
    spread = fmax(spread, fabs(a[1]));
  }
  assert_true(spread > 0.15);
  tb_world_free(w);
}

// Time until a block that leans by `lean` falls back on its face, and the rate of turning then:
// Housner's theta'' = -p^2 sin(alpha - theta), integrated in small steps.
static void fall_back(tbReal alpha, tbReal reach, tbReal lean, tbReal* time, tbReal* rate) {
  const tbReal p2 = 3 * GRAVITY / (4 * reach), dt = 1e-6;
  tbReal omega = 0;
  *time = 0;
  while (lean > 0) {
    omega -= dt * p2 * sin(alpha - lean);
    lean += dt * omega;
    *time += dt;
  }
  *rate = -omega;
}

// A rocking slender block: it falls back in Housner's time, and the change of its corner reduces
// its rate to 1 - 1.5 sin^2 alpha of the rate before.
static void block_rocks_as_housner_says(void** state) {
  (void)state;
  const tbReal half = 0.05, height = 0.2, alpha = atan2(half, height), lean = 0.5 * alpha;
  const tbReal reach = hypot(half, height);
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='2e-4'/><worldbody><geom type='plane' size='5 5 .1'/><body><joint "
      "type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint axis='0 1 0'/><geom "
      "type='box' size='.05 .1 .2' mass='3' friction='3'/></body></worldbody></mujoco>");
  // on its right lower corner, leaning to the right
  w.d->qpos[0] = half - reach * sin(alpha - lean);
  w.d->qpos[1] = reach * cos(alpha - lean);
  w.d->qpos[2] = lean;
  tbReal time, rate, before = 0;
  fall_back(alpha, reach, lean, &time, &rate);
  while (w.d->qpos[2] > 1e-9 && w.d->time < 1) {
    before = w.d->qvel[2];
    tb_world_run_solved(w, 1);
  }
  assert_near(w.d->time, time, 2e-3);
  assert_near(before, -rate, 0.01 * rate);
  tb_world_run_solved(w, 10);
  assert_near(w.d->qvel[2], -rate * (1 - 1.5 * sin(alpha) * sin(alpha)), 0.02 * rate);
  tb_world_free(w);
}

// Painleve's rod: at this angle and friction a sliding tip has no finite force, and the law of
// impacts must stop it at once. It does, without gaining energy or sinking in.
static void rod_of_painleve_jams(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='1e-3'/><worldbody><geom type='plane' size='5 5 .1'/><body><joint "
      "type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint axis='0 1 0'/><geom "
      "type='capsule' size='1e-3 .5' mass='1' friction='2'/></body></worldbody></mujoco>");
  // The lower end leads: the rod leans backwards, tan = 1/2 to the vertical.
  const tbReal tilt = -atan(0.5), speed = 1;
  w.d->qpos[1] = 0.5 * cos(tilt) + 1e-3;
  w.d->qpos[2] = tilt;
  w.d->qvel[0] = speed;
  double energy = tb_world_kinetic(w);
  tb_world_run_solved(w, 1);
  assert_true(w.d->ncon > 0);
  assert_true(tb_world_kinetic(w) <= energy);
  // velocity of the lower end
  tbReal tip = w.d->qvel[0] - 0.5 * cos(w.d->qpos[2]) * w.d->qvel[2];
  assert_near(tip, 0, 1e-2 * speed);
  for (int i = 0; i < 100; i++) {
    tb_world_run_solved(w, 1);
    for (int c = 0; c < w.d->ncon; c++) assert_true(w.d->contact[c].dist > -2e-5);
  }
  tb_world_free(w);
}

// Five feet and a push: forces are not unique, their sums are.
static void hyperstatic_feet_balance(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><default><geom size='.02' mass='0'/></default><worldbody>" FLOOR
      "<body pos='0 0 .02'><freejoint/><geom type='box' size='.2 .2 .05' pos='0 0 .1' mass='4'/>"
      "<geom pos='.2 .2 0'/><geom pos='-.2 .2 0'/><geom pos='.2 -.2 0'/><geom pos='-.2 -.2 0'/>"
      "<geom/></body></worldbody></mujoco>");
  const tbReal push[2] = {5, -3}, weight = 4 * GRAVITY;
  w.d->xfrc_applied[6] = push[0];
  w.d->xfrc_applied[7] = push[1];
  tb_world_run_solved(w, 300);
  assert_int_equal(w.d->ncon, 5);
  tbReal sum[3] = {0}, moment[2] = {0};
  for (int c = 0; c < 5; c++) {
    const tbContact* contact = &w.d->contact[c];
    assert_true(contact->force[0] >= 0);
    assert_true(hypot(contact->force[1], contact->force[2]) <= contact->force[0] * (1 + 1e-9));
    tbReal sign = w.m->geom_bodyid[contact->geom[1]] ? 1 : -1;
    for (int k = 0; k < 3; k++) {
      for (int r = 0; r < 3; r++) sum[k] += sign * contact->frame[3 * r + k] * contact->force[r];
    }
    for (int k = 0; k < 2; k++) moment[k] += contact->pos[k] * contact->force[0];
  }
  assert_near(sum[0], -push[0], 1e-5);
  assert_near(sum[1], -push[1], 1e-5);
  assert_near(sum[2], weight, 1e-5);
  // The push acts at the centre of mass, 0.12 m above the floor: the normal forces move that way.
  assert_near(moment[0], push[0] * 0.12, 1e-5);
  assert_near(moment[1], push[1] * 0.12, 1e-5);
  for (int i = 0; i < 6; i++) assert_near(w.d->qvel[i], 0, 1e-8);
  tb_world_free(w);
}

// Pfeiffer's woodpecker: a sleeve of 0.3 g that sits loosely on a pole, and on its spring a bird
// that pecks the pole. The sleeve locks by friction and releases, so that it comes down by steps.
// Moreau's midpoint rule with Gauss-Seidel on these three coordinates has 0.1344 s and 16.67 mm at
// 10 us.
static void woodpecker_descends(void** state) {
  (void)state;
  enum { BEAK = 3, FIRST = 3, LAST = 13 };
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='1e-4'/><worldbody><geom type='box' size='.0025 .01 5' "
      "friction='.3'/><body><joint type='slide' axis='0 0 1'/><joint axis='0 -1 0'/><inertial "
      "pos='0 0 0' mass='.0003' diaginertia='5e-9 5e-9 5e-9'/><geom size='.0005' pos='.0036 0 "
      "-.0058' friction='.3'/><geom size='.0005' pos='.0036 0 .0058' friction='.3'/><body "
      "pos='.01 0 0'><joint axis='0 -1 0' stiffness='.0056'/><inertial pos='.015 0 0' mass='.0045' "
      "diaginertia='7e-7 7e-7 7e-7'/><geom size='.0005' pos='-.0046 0 .02' friction='.3' "
      "restitution='.5'/></body></body></worldbody></mujoco>");
  static const tbReal POSE[] = {0, -0.1036, -0.1752}, SPEED[] = {-0.3411, 0, -7.4583};
  memcpy(w.d->qpos, POSE, sizeof POSE);
  memcpy(w.d->qvel, SPEED, sizeof SPEED);
  tbReal time[LAST + 1] = {0}, height[LAST + 1] = {0}, pecked = -1;
  for (int pecks = 0; pecks <= LAST;) {
    tb_world_run_solved(w, 1);
    assert_true(w.d->time < 2);
    for (int k = 0; k < w.d->ncon; k++) {
      const tbContact* c = &w.d->contact[k];
      if (c->geom[0] != BEAK || !(c->force[0] > 0) || w.d->time < pecked + 0.05) continue;
      time[pecks] = pecked = w.d->time;
      height[pecks++] = w.d->qpos[0];
    }
  }
  assert_near((time[LAST] - time[FIRST]) / (LAST - FIRST), 0.1344, 2e-4);
  assert_near((height[LAST] - height[FIRST]) / (LAST - FIRST), -0.01667, 2e-4);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slipping_becomes_rolling),    cmocka_unit_test(rolling_resistance_brakes),
      cmocka_unit_test(cradle_passes_the_speed_on),  cmocka_unit_test(tiles_are_one_floor),
      cmocka_unit_test(contacts_keep_momentum),      cmocka_unit_test(break_is_symmetric),
      cmocka_unit_test(block_rocks_as_housner_says), cmocka_unit_test(rod_of_painleve_jams),
      cmocka_unit_test(hyperstatic_feet_balance),    cmocka_unit_test(woodpecker_descends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
