// Impacts with restitution and friction at once: those with a closed form, and those in which
// Newton's law of restitution would make energy (Kane and Levinson's paradox).
#include "common/worlds.h"

// A double pendulum of two rods of 1 m and 1 kg hangs above a floor that its tip just touches, with
// its rods at these angles from the vertical.
static tbWorld double_pendulum(double upper, double lower, double e, double mu, int law) {
  char xml[2048];
  snprintf(xml, sizeof xml,
           "<mujoco><option timestep='1e-5' gravity='0 0 0'/><worldbody><geom type='plane' size='9 "
           "9 1' friction='0'/><body pos='0 0 %.17g'><joint axis='0 1 0'/><geom type='capsule' "
           "fromto='0 0 0 0 0 -1' size='.005' mass='1' contype='0' conaffinity='0'/><body pos='0 0 "
           "-1'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 -1' size='.005' "
           "mass='1' contype='0' conaffinity='0'/><geom pos='0 0 -1' size='.01' mass='0' "
           "restitution='%g' friction='%g'/></body></body></worldbody></mujoco>",
           cos(upper) + cos(lower) + 0.01 - 1e-9, e, mu);
  tbWorld w = tb_world_text(xml);
  w.m->opt.law = law;
  w.d->qpos[0] = upper;
  w.d->qpos[1] = lower - upper;
  return w;
}

// At e = 0.5 the straight pendulum would have 3900 times its energy after the impact.
static void no_impact_makes_energy(void** state) {
  (void)state;
  int cut = 0;
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    for (int pose = 0; pose < 36; pose++) {
      double upper = 0.1 + 0.2 * (pose % 6), lower = 0.1 + 0.2 * (pose / 6);
      for (int trial = 0; trial < 12; trial++) {
        double e = 0.25 + 0.375 * (trial % 3), mu = trial % 4 * 0.3 + 0.1;
        tbWorld w = double_pendulum(upper, lower, e, mu, law);
        w.d->qvel[0] = -1;
        w.d->qvel[1] = trial % 2 ? -2.5 : 1.7;
        double before = tb_world_kinetic(w);
        tb_world_run(w, 1);
        assert_true(tb_world_kinetic(w) <= before * (1 + 1e-3));
        cut += w.d->ncon > 0 && w.d->contact[0].restitution < e;
        tb_world_free(w);
      }
    }
  }
  assert_true(cut > 100);
}

// Where restitution is reduced, energy is conserved and all outputs of the step agree: the exported
// problem has the impulse that acted, and derivatives report a kink.
static void cut_bounce_is_reported(void** state) {
  (void)state;
  tbWorld w = double_pendulum(0.1, 0.1, 1, 0.8, TB_LAW_NCP);
  w.d->qvel[0] = -1;
  w.d->qvel[1] = -2.5;
  double before = tb_world_kinetic(w), lambda[3], h = w.m->opt.timestep;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_int_equal(w.d->ncon, 1);
  assert_true(w.d->contact[0].restitution > 0 && w.d->contact[0].restitution < 0.1);
  tbProblem* problem = tb_step_problem(w.m, w.d, NULL);
  assert_non_null(problem);
  assert_int_equal(tb_solve(problem, NULL, lambda, NULL, &(tbSolveInfo){0}, NULL), TB_OK);
  for (int k = 0; k < 3; k++) {
    assert_near(lambda[k], h * w.d->contact[0].force[k], 1e-4 * lambda[0]);
  }
  tb_problem_free(problem);
  tbDerivatives* derivatives = tb_derivatives_new(w.m);
  tbDerivativeInfo info;
  assert_int_equal(tb_step_linearize(w.m, w.d, NULL, derivatives, &info), TB_OK);
  assert_false(info.differentiable);
  tb_derivatives_free(derivatives);
  tb_world_run_solved(w, 1);
  assert_near(tb_world_kinetic(w), before, 1e-3 * before);
  tb_world_free(w);
}

// A box that lands on corners and edges, with and without friction: at e = 1 only friction
// dissipates energy, and no energy is created.
static void thrown_box_gains_nothing(void** state) {
  (void)state;
  static const double MU[] = {0.2, 0.45, 0.9};
  for (int i = 0; i < 3; i++) {
    char xml[1024];
    snprintf(xml, sizeof xml,
             "<mujoco><worldbody><geom type='plane' size='9 9 1' friction='0'/><body pos='0 0 1'>"
             "<freejoint/><geom type='box' size='.1 .2 .3' mass='1' restitution='1' "
             "friction='%g'/></body></worldbody></mujoco>",
             MU[i]);
    tbWorld w = tb_world_text(xml);
    static const tbReal START[] = {2, 0, 0, 5, 3, -4};
    memcpy(w.d->qvel, START, sizeof START);
    double before = tb_world_energy(w);
    assert_true(tb_world_run_energy(w, tb_world_steps(w, 2)) < 1.01 * before);
    tb_world_free(w);
  }
}

// A ball that comes in obliquely with spin: normal and tangent do not mix, so restitution is
// Newton's. It slips throughout, with mu (1 + e) of its normal momentum, or stops slipping, with
// 2/7 of its tangential momentum.
static void spinning_ball_bounces_as_newton_says(void** state) {
  (void)state;
  static const double MU[] = {0.05, 0.2, 0.8}, SPIN[] = {-60, 0, 60};
  const double e = 0.8, r = 0.1, vx = 1.5, vz = -2, inertia = 0.4 * r * r;
  for (int i = 0; i < 9; i++) {
    double mu = MU[i % 3], spin = SPIN[i / 3], slip = vx - spin * r;
    char xml[1024];
    snprintf(xml, sizeof xml,
             "<mujoco><option gravity='0 0 0'/><worldbody><geom type='plane' size='9 9 1' "
             "friction='0'/><body pos='0 0 .1'><freejoint/><geom size='.1' mass='1' "
             "restitution='%g' friction='%g'/></body></worldbody></mujoco>",
             e, mu);
    for (int law = 0; law < TB_LAW_COUNT; law++) {
      tbWorld w = tb_world_text(xml);
      w.m->opt.law = law;
      w.d->qvel[0] = vx;
      w.d->qvel[2] = vz;
      w.d->qvel[4] = spin;
      tb_world_run_solved(w, 1);
      double impulse = fmin(mu * (1 + e) * -vz, 2.0 / 7 * fabs(slip));
      if (slip > 0) impulse = -impulse;
      // Under the convex law sliding bodies lift off.
      if (law != TB_LAW_CCP) {
        assert_near(w.d->qvel[2], -e * vz, 1e-5);
        assert_near(w.d->qvel[0], vx + impulse, 1e-5);
        assert_near(w.d->qvel[4], spin - r * impulse / inertia, 1e-3);
      }
      tb_world_free(w);
    }
  }
}

// A rod on a hinge whose tip meets the floor at an angle a from the vertical: with friction below
// tan a it bounces as Newton says, above it locks, and no motion lets the tip bounce. It stops.
static void rod_that_jams_does_not_bounce(void** state) {
  (void)state;
  const double a = 0.3, e = 0.5, spin = 2;
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    for (int jams = 0; jams < 2; jams++) {
      char xml[1024];
      snprintf(xml, sizeof xml,
               "<mujoco><option timestep='1e-4' gravity='0 0 0'/><worldbody><geom type='plane' "
               "size='9 9 1' friction='0'/><body pos='0 0 %.17g'><joint axis='0 1 0'/><geom "
               "type='capsule' fromto='0 0 0 0 0 -1' size='.005' mass='1' contype='0' "
               "conaffinity='0'/><geom pos='0 0 -1' size='.01' mass='0' restitution='%g' "
               "friction='%g'/></body></worldbody></mujoco>",
               cos(a) + 0.01, e, tan(a) * (jams ? 1.5 : 0.5));
      tbWorld w = tb_world_text(xml);
      w.m->opt.law = law;
      w.d->qpos[0] = a;
      w.d->qvel[0] = -spin;
      tb_world_run_solved(w, 1);
      assert_int_equal(w.d->ncon, 1);
      // Under the convex law sliding bodies lift off.
      if (law != TB_LAW_CCP || jams) assert_near(w.d->qvel[0], jams ? 0 : e * spin, 1e-3);
      assert_true(w.d->contact[0].force[0] < 1e6);
      tb_world_free(w);
    }
  }
}

// A ball that falls into a groove narrower than its friction: between two walls, neither of which
// holds it alone.
static void ball_stays_in_a_narrow_groove(void** state) {
  (void)state;
  const char* xml =
      "<mujoco><option timestep='1e-3'/><worldbody><geom type='box' size='.5 .5 .05' pos='-.15 0 "
      ".3' euler='0 70 0'/><geom type='box' size='.5 .5 .05' pos='.15 0 .3' euler='0 -70 0'/><body "
      "pos='0 0 .9'><freejoint/><geom size='.1' mass='4' restitution='.5' friction='1'/></body>"
      "</worldbody></mujoco>";
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(xml);
    w.m->opt.law = law;
    for (int i = 0; i < 1000; i++) {
      tb_world_run_solved(w, 1);
      // What stops 4 kg at 4 m/s within a step between such walls is some 1e5 N.
      for (int k = 0; k < w.d->ncon; k++) assert_true(w.d->contact[k].force[0] < 1e6);
    }
    assert_int_equal(w.d->ncon, 2);
    assert_near(w.d->qvel[2], 0, 1e-3);
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_impact_makes_energy),
      cmocka_unit_test(cut_bounce_is_reported),
      cmocka_unit_test(thrown_box_gains_nothing),
      cmocka_unit_test(spinning_ball_bounces_as_newton_says),
      cmocka_unit_test(rod_that_jams_does_not_bounce),
      cmocka_unit_test(ball_stays_in_a_narrow_groove),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
