// Stability by limit analysis: the thinnest stable arch, self-locking wedges and sprags, a cylinder
// that is pushed over, unbounded friction; and a box that may hang or fall.
#include "common/worlds.h"

static const double PI = 3.14159265358979324;
static const tbReal GRAVITY = 9.81;

// ---- the thinnest arch --------------------------------------------------------------------------

// Whether a half circle of `count` stones of mean radius 1 stands. The thrust goes through the top
// of the crown, and is at least what keeps the stones above each joint from turning inwards about
// its lower corner, at most what keeps each half from turning outwards about its foot.
static bool thrust_stays_inside(int count, double thickness) {
  double inner = 1 - thickness / 2, outer = 1 + thickness / 2, turn = PI / count;
  double centre =
      2.0 / 3 * cos(turn / 2) * (pow(outer, 3) - pow(inner, 3)) / (outer * outer - inner * inner);
  double least = 0, most = 0;
  for (int j = 0; j < count / 2; j++) {
    double foot = turn * j, moment = 0;
    most += (outer - centre * cos(foot + turn / 2)) / outer;
    for (int i = j; i < count / 2; i++) {
      moment += inner * cos(foot) - centre * cos(turn * (i + 0.5));
    }
    least = fmax(least, moment / (outer - inner * sin(foot)));
  }
  return most >= least;
}

static double thinnest(int count) {
  double low = 0.05, high = 0.2;
  for (int i = 0; i < 50; i++) {
    double middle = (low + high) / 2;
    *(thrust_stays_inside(count, middle) ? &high : &low) = middle;
  }
  return high;
}

static tbWorld arch(int count, double thickness) {
  char xml[16384] = "<mujoco><default><geom friction='1.2'/></default><asset>", part[128];
  for (int i = 0; i < count; i++) {
    snprintf(part, sizeof part, "<mesh name='m%d' vertex='", i);
    strcat(xml, part);
    for (int k = 0; k < 8; k++) {
      double angle = PI / count * (i + k % 2), r = 1 + (k / 2 % 2 ? 0.5 : -0.5) * thickness;
      snprintf(part, sizeof part, "%.17g %g %.17g ", r * cos(angle), k < 4 ? -0.2 : 0.2,
               r * sin(angle));
      strcat(xml, part);
    }
    strcat(xml, "'/>");
  }
  strcat(xml, "</asset><worldbody><geom type='plane' size='9 9 1'/>");
  for (int i = 0; i < count; i++) {
    snprintf(part, sizeof part, "<body><freejoint/><geom type='mesh' mesh='m%d'/></body>", i);
    strcat(xml, part);
  }
  return tb_world_text(strcat(xml, "</worldbody></mujoco>"));
}

// Many stones come to Milankovitch's 0.1075 (1907). A hundredth thicker it stands, a hundredth
// thinner it falls, hinge by hinge.
static void thinnest_arch_stands(void** state) {
  (void)state;
  assert_near(thinnest(400), 0.1075, 1e-4);
  for (int law = 0; law < TB_LAW_RAISIM; law++) {
    for (int count = 8; count <= 16; count += 8) {
      assert_true(tb_world_moved(arch(count, 1.01 * thinnest(count)), law, 0.001, 0.2) < 1e-6);
      assert_true(tb_world_moved(arch(count, 0.99 * thinnest(count)), law, 0.001, 0.2) > 2e-3);
    }
  }
}

// ---- self-locking mechanisms -------------------------------------------------------------------

// A wedge of a gram between the floor and a block of 10 kg, whose slope leads down to it: it is
// squeezed out where its angle is more than twice that of friction.
static tbWorld wedge(double excess) {
  const double mu = 0.25, slope = tan(2 * atan(mu) * (1 + excess));
  char xml[2048];
  snprintf(xml, sizeof xml,
           "<mujoco><asset><mesh name='w' vertex='0 -.1 0 .4 -.1 0 .4 -.1 %.17g 0 .1 0 .4 .1 0 .4 "
           ".1 %.17g'/><mesh name='b' vertex='.1 -.1 %.17g .3 -.1 %.17g .1 -.1 .5 .3 -.1 .5 .1 .1 "
           "%.17g .3 .1 %.17g .1 .1 .5 .3 .1 .5'/></asset><default><geom type='mesh' "
           "friction='%g'/></default><worldbody><geom type='plane' size='9 9 1'/><body><freejoint/>"
           "<geom mesh='w' mass='1e-3'/></body><body><joint type='slide' axis='0 0 1'/><geom "
           "mesh='b' mass='10'/></body></worldbody></mujoco>",
           0.4 * slope, 0.4 * slope, 0.1 * slope, 0.3 * slope, 0.1 * slope, 0.3 * slope, mu);
  return tb_world_text(xml);
}

// A rod on a hinge leans on a slide that 100 N pull along under it: it holds at any force where its
// angle from the normal is less than that of friction.
static tbWorld sprag(double excess) {
  const double mu = 0.3, length = 0.2, angle = atan(mu) * (1 + excess), tip = 1e-4;
  double x = length * sin(angle), z = length * cos(angle);
  char xml[2048];
  snprintf(xml, sizeof xml,
           "<mujoco><option gravity='0 0 0'/><worldbody><body><joint type='slide' axis='1 0 0'/>"
           "<geom type='box' size='5 .5 .1' pos='0 0 -.1' mass='2' friction='%g'/></body><body "
           "pos='0 0 %.17g'><joint axis='0 1 0'/><inertial pos='0 0 0' mass='.1' diaginertia='1e-3 "
           "1e-3 1e-3'/><geom size='%g' pos='%.17g 0 %.17g' friction='%g'/></body></worldbody>"
           "</mujoco>",
           mu, z, tip, -x, tip - z, mu);
  tbWorld w = tb_world_text(xml);
  w.d->qfrc_applied[0] = 100;
  w.d->qfrc_applied[1] = -0.05;
  return w;
}

static void wedges_and_sprags_lock(void** state) {
  (void)state;
  tbWorld (*const scene[])(double) = {wedge, sprag};
  for (int i = 0; i < 2; i++) {
    for (int law = 0; law < TB_LAW_COUNT; law++) {
      assert_true(tb_world_moved(scene[i](-0.01), law, 0.002, 0.2) < 1e-6);
      assert_true(tb_world_moved(scene[i](0.01), law, 0.002, 0.2) > 0.1);
    }
  }
}

// ---- a cylinder that is pushed ------------------------------------------------------------------

// Three points carry a cylinder that stands. It tips over its rim all the same, not over the sides
// of their triangle: where the push at its centre, times its height, is the weight times its
// radius, in every direction.
static void cylinders_tip_over_their_rim(void** state) {
  (void)state;
  static const char* const FLOOR[] = {"type='plane' size='9 9 1'",
                                      "type='box' pos='0 0 -1' size='1 1 1'"};
  for (int k = 0; k < 2 * 8 * 2; k++) {
    char xml[512];
    snprintf(xml, sizeof xml,
             "<mujoco><worldbody><geom %s/><body pos='0 0 .3'><freejoint/><geom type='cylinder' "
             "size='.1 .3' mass='2'/></body></worldbody></mujoco>",
             FLOOR[k % 2]);
    tbWorld w = tb_world_text(xml);
    double tips = k / 16, way = 0.12 + PI / 4 * (k / 2 % 8);
    double push = 2 * GRAVITY * 0.1 / 0.3 * (tips ? 1.03 : 0.97);
    w.d->xfrc_applied[6] = push * cos(way);
    w.d->xfrc_applied[7] = push * sin(way);
    tb_world_run_solved(w, 200);
    tb_kinematics(w.m, w.d);
    double lean = acos(fmin(1, w.d->xmat[9 + 8]));
    assert_true(tips ? lean > 0.01 : lean < 5e-4);
    tb_world_free(w);
  }
}

// ---- friction without measure -------------------------------------------------------------------

// Friction coefficients above a thousand count as a thousand: thrown bodies stop, or roll.
static void strong_friction_holds(void** state) {
  (void)state;
  static const double MU[] = {1e3, 1e5, 1e7, 1e12};
  for (int k = 0; k < 4 * TB_LAW_RAISIM; k++) {
    char xml[512];
    snprintf(xml, sizeof xml,
             "<mujoco><worldbody><geom type='plane' size='9 9 1' friction='%g'/><body pos='0 0 .1'>"
             "<freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body><body pos='1 0 .1'>"
             "<freejoint/><geom size='.1' mass='1'/></body></worldbody></mujoco>",
             MU[k / TB_LAW_RAISIM]);
    tbWorld w = tb_world_text(xml);
    w.m->opt.law = k % TB_LAW_RAISIM;
    w.d->qvel[0] = w.d->qvel[6] = 0.3;
    w.d->qvel[4] = 2;
    tb_world_run_solved(w, 200);
    assert_near(w.d->qpos[2], 0.1, 1e-6);
    assert_near(w.d->qpos[9], 0.1, 1e-6);
    assert_near(w.d->qvel[0], 0, 1e-6);
    assert_near(w.d->qvel[6], 0.3 * 5 / 7, 1e-5);
    tb_world_free(w);
  }
}

// ---- more than one answer -----------------------------------------------------------------------

// A box that just fits between two walls may hang between them, pressed as hard as it takes, or
// fall along them without a touch: the exact law allows both, and the step takes the latter. The
// convex law, whose sliding contacts part, allows the first alone.
static void box_between_walls_hangs_or_falls(void** state) {
  (void)state;
  static const char BETWEEN_WALLS[] =
      "<mujoco><default><geom type='box' friction='.5'/></default><worldbody><geom pos='-.2 0 0' "
      "size='.1 .5 .5'/><geom pos='.2 0 0' size='.1 .5 .5'/><body><freejoint/><geom size='.1 .1 "
      ".1' mass='1'/></body></worldbody></mujoco>";
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(BETWEEN_WALLS);
    const double h = w.m->opt.timestep;
    w.m->opt.law = law;
    tb_world_run_solved(w, 100);
    assert_near(w.d->qvel[2], law == TB_LAW_CCP ? 0 : -100 * h * GRAVITY, 1e-6);
    tb_world_free(w);
  }
  tbWorld w = tb_world_text(BETWEEN_WALLS);
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_int_equal(w.d->ncon, 8);
  tbProblem* p = tb_step_problem(w.m, w.d, NULL);
  assert_non_null(p);
  tbReal hangs[24] = {0}, falls[24] = {0}, sigma[24], weight = GRAVITY * w.m->opt.timestep;
  for (int i = 0; i < 8; i++) {
    const tbContact* c = &w.d->contact[i];
    tbReal sign = w.m->geom_bodyid[c->geom[1]] ? 1 : -1;
    hangs[c->row] = weight;
    for (int k = 0; k < 3; k++) hangs[c->row + k] += sign * c->frame[3 * k + 2] * weight / 8;
  }
  assert_int_equal(tb_problem_velocity(p, hangs, sigma, NULL), TB_OK);
  assert_true(tb_residual(p, TB_LAW_NCP, hangs, sigma).relative < 1e-12);
  for (int i = 0; i < 24; i++) assert_near(sigma[i], 0, 1e-12);
  assert_int_equal(tb_problem_velocity(p, falls, sigma, NULL), TB_OK);
  assert_true(tb_residual(p, TB_LAW_NCP, falls, sigma).relative < 1e-12);
  tb_problem_free(p);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thinnest_arch_stands),
      cmocka_unit_test(wedges_and_sprags_lock),
      cmocka_unit_test(cylinders_tip_over_their_rim),
      cmocka_unit_test(strong_friction_holds),
      cmocka_unit_test(box_between_walls_hangs_or_falls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
