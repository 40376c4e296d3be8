// Models and motions at the limits of a step: singular inertia, mass ratios of 1e9 and more,
// rotations of half a turn per step, gains that no step resolves.
#include "common/robots.h"
#include "common/worlds.h"
#include "world/state.h"

#define FLOOR "<geom type='plane' size='5 5 .1'/>"

// ---- inertia -----------------------------------------------------------------------------------

static tbWorld redundant_arm(int joints, int law, bool damped) {
  char xml[2048], list[1024] = "";
  for (int i = 0; i < joints; i++) strcat(list, "<joint axis='0 1 0'/>");
  snprintf(xml, sizeof xml,
           "<mujoco><worldbody>" FLOOR
           "<body pos='0 0 .5'>%s<geom type='capsule' fromto='0 0 0 .6 0 0' size='.05' mass='1'/>"
           "</body><body pos='2 0 1'><joint axis='0 1 0' damping='%g'/><geom size='.1' pos='.3 0 0'"
           "/></body></worldbody></mujoco>",
           list, damped ? 0.1 : 0.0);
  tbWorld w = tb_world_text(xml);
  w.m->opt.law = law;
  return w;
}

// Six hinges on one axis act as one hinge, with and without load, in the air and on the floor.
static void hinges_on_one_axis_are_one(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    for (int damped = 0; damped < 2; damped++) {
      tbWorld six = redundant_arm(6, law, damped), one = redundant_arm(1, law, damped);
      for (int step = 0; step < 400; step++) {
        six.d->qfrc_applied[5] = one.d->qfrc_applied[0] = 0.5;
        tb_world_run(six, 1);
        tb_world_run(one, 1);
      }
      double angle = 0;
      for (int i = 0; i < 6; i++) angle += six.d->qpos[i];
      // at rest on the floor, held by the contact
      assert_true(one.d->qpos[0] > 0.8);
      assert_near(angle, one.d->qpos[0], 1e-6);
      tb_world_free(six);
      tb_world_free(one);
    }
  }
}

// Chains of links on a ball joint and a hinge each, one dof too many, so that what rounding leaves
// of a pivot is all there is.
static double ball_and_hinge_speed(tbRng* rng, int links) {
  char xml[4096];
  int n = sprintf(xml, "<mujoco><option timestep='0.002'/><worldbody>");
  for (int k = 0; k < links; k++) {
    double x = tb_rng_uniform(rng, -1, 1), y = tb_rng_uniform(rng, -1, 1);
    n += sprintf(xml + n, "<body pos='%g %g 0'>%s<joint axis='%g %g %g' range='-.5 .5'/>",
                 k ? 0.1 : 0, 0.02 * y, k % 2 ? "" : "<joint type='ball'/>", x, y,
                 tb_rng_uniform(rng, -1, 1));
    n += sprintf(xml + n, "<geom type='capsule' size='.02' fromto='0 0 0 .1 0 0' mass='%g'/>",
                 pow(10, tb_rng_uniform(rng, -2, 2)));
  }
  for (int k = 0; k < links; k++) n += sprintf(xml + n, "</body>");
  sprintf(xml + n, "</worldbody></mujoco>");
  tbWorld w = tb_world_text(xml);
  double fastest = 0;
  for (int i = 0; i < 400; i++) {
    tb_world_run(w, 1);
    for (int k = 0; k < w.m->nv; k++) fastest = fmax(fastest, fabs(w.d->qvel[k]));
  }
  tb_world_free(w);
  return fastest;
}

// Where a hinge is nearly one of the ball's axes rounding grows: few of them whirl.
static void ball_and_hinge_share_a_motion(void** state) {
  (void)state;
  enum { TRIALS = 100 };
  int whirl = 0;
  tbRng rng = {41};
  for (int trial = 0; trial < TRIALS; trial++) {
    whirl += ball_and_hinge_speed(&rng, 2 + trial % 5) > 1000;
  }
  print_message("ball and hinge: %d of %d whirl\n", whirl, TRIALS);
  assert_true(whirl <= TRIALS / 8);
}

// A force on a hinge without inertia of its own neither fails nor diverges.
static void force_on_a_held_hinge(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = redundant_arm(6, law, false);
    w.d->qfrc_applied[1] = 10;
    tb_world_run(w, 400);
    for (int i = 0; i < 6; i++) assert_true(fabs(w.d->qvel[i]) < 1);
    tb_world_free(w);
  }
}

// A tendon that no joint can make longer, between links that are one body or to a point on a
// hinge's axis: its limit or equality, far from met, pushes at nothing and is not felt, and the
// body falls as it would.
static void tendons_that_nothing_moves(void** state) {
  (void)state;
  const char* const hinge[] = {"", "<joint axis='.3 .5 .7' pos='.13 .21 .17'/>"};
  const char* const range[] = {"", "limited='true' range='0 .1'", "limited='true' range='1 2'"};
  for (int kind = 0; kind < 6; kind++) {
    for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
      char xml[1024];
      snprintf(
          xml, sizeof xml,
          "<mujoco><worldbody><body pos='0 0 1' euler='10 20 30'><freejoint/><geom size='.1' "
          "pos='.03 .02 .01'/><site name='s' pos='.1 .2 .3'/><body pos='.3 .1 .2' euler='30 20 "
          "10'>%s<geom size='.1'/><site name='q' pos='.13 .21 .17'/></body></body></worldbody>"
          "<tendon><spatial name='t' %s><site site='s'/><site site='q'/></spatial></tendon>"
          "<equality>%s</equality><sensor><force site='q'/></sensor>"
          "</mujoco>",
          hinge[kind / 3], range[kind % 3],
          kind % 3 ? "" : "<tendon tendon1='t' polycoef='-.1 0 0 0 0'/>");
      tbWorld w = tb_world_text(xml);
      w.m->opt.law = law;
      tb_world_run(w, 50);
      assert_near(w.d->qvel[2], -9.81 * w.d->time, 1e-9);
      for (int i = 0; i < w.m->nv; i++) assert_true(i == 2 || fabs(w.d->qvel[i]) < 1e-9);
      for (int i = 0; i < w.m->nsensordata; i++) assert_near(w.d->sensordata[i], 0, 1e-9);
      tb_world_free(w);
    }
  }
}

// A string that is straight at the reference pose, or a hundredth of a millimetre off it, and
// longer than its limit allows. No joint can shorten it at first: the limit yields, and the arm is
// not thrown (9300 and 49000 rad/s otherwise). The arm falls, the string gets shorter, and the
// limit holds.
static void straight_strings_do_not_throw(void** state) {
  (void)state;
  const char* const site[] = {".2 0 0", ".2 0 1e-5"};
  for (int kind = 0; kind < 2; kind++) {
    for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
      if (law == TB_LAW_SOFT || law == TB_LAW_VISCOELASTIC) continue;
      char xml[1024];
      snprintf(xml, sizeof xml,
               "<mujoco><worldbody><site name='w' pos='-.3 0 1'/><body pos='0 0 1'><joint axis='0 1"
               " 0' damping='.01'/><geom type='capsule' fromto='0 0 0 .2 0 0' size='.02' mass='.1'/"
               "><site name='s' pos='%s'/></body></worldbody><tendon><spatial limited='true' "
               "range='0 .45'><site site='w'/><site site='s'/></spatial></tendon></mujoco>",
               site[kind]);
      tbWorld w = tb_world_text(xml);
      w.m->opt.law = law;
      double start = tb_world_energy(w);
      assert_true(tb_world_run_energy(w, 500) < start + 1);
      assert_true(w.d->ten_length[0] < 0.45 + 2e-4);
      assert_true(fabs(w.d->qpos[0]) < 3);
      tb_world_free(w);
    }
  }
}

// A heavy box on a light one, down to 1e-9 of its weight.
static void light_under_heavy(void** state) {
  (void)state;
  static const double LIGHT[] = {1e-3, 1e-6, 1e-9};
  for (int k = 0; k < 3; k++) {
    for (int law = 0; law < TB_LAW_COUNT; law++) {
      char xml[1024];
      snprintf(xml, sizeof xml,
               "<mujoco><worldbody>" FLOOR
               "<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='%g'/></body>"
               "<body pos='0 0 .3'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
               "</worldbody></mujoco>",
               LIGHT[k]);
      tbWorld w = tb_world_text(xml);
      w.m->opt.law = law;
      tb_world_run(w, 500);
      assert_near(w.d->qpos[2], 0.1, 1e-5);
      assert_near(w.d->qpos[9], 0.3, 1e-5);
      tb_world_free(w);
    }
  }
}

// ---- problems that Gauss-Seidel sweeps do not solve --------------------------------------------

// A box wedged between walls 2 cm too close, with a ball on it; five boxes of 1, 1e-3, 1e3, 1e-2
// and 1e2 kg; a four-bar loop closed twice.
static const char JAMMED[] =
    "<mujoco><worldbody>" FLOOR
    "<geom type='box' size='.1 .5 .5' pos='-.19 0 .5'/><geom type='box' size='.1 .5 .5' pos='.19 0 "
    ".5'/><body pos='0 0 .3'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
    "<body pos='0 0 .55'><freejoint/><geom size='.1' mass='1'/></body></worldbody></mujoco>";
static const char TOWER[] =
    "<mujoco><default><geom type='box' size='.1 .1 .1'/></default><worldbody><geom type='plane' "
    "size='5 5 .1'/><body pos='0 0 .1'><freejoint/><geom mass='1'/></body><body pos='0 0 .3'>"
    "<freejoint/><geom mass='1e-3'/></body><body pos='0 0 .5'><freejoint/><geom mass='1e3'/></body>"
    "<body pos='0 0 .7'><freejoint/><geom mass='1e-2'/></body><body pos='0 0 .9'><freejoint/><geom "
    "mass='1e2'/></body></worldbody></mujoco>";
static const char LOOP[] =
    "<mujoco><worldbody><body name='a' pos='0 0 .5'><joint axis='0 1 0'/><geom type='capsule' "
    "fromto='0 0 0 0 0 .2' size='.02' mass='1'/><body name='b' pos='0 0 .2'><joint axis='0 1 0'/>"
    "<geom type='capsule' fromto='.03 0 0 .27 0 0' size='.02' mass='1'/><body name='c' pos='.3 0 "
    "0'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 -.2' size='.02' mass='1'/>"
    "</body></body></body></worldbody><equality><connect body1='c' anchor='0 0 -.2'/><connect "
    "body1='c' anchor='0 0.05 -.2'/></equality></mujoco>";

// Every rigid law solves (nearly) every step of these, in a bounded number of iterations.
static void hyperstatic_scenes_converge(void** state) {
  (void)state;
  static const char* const XML[] = {JAMMED, TOWER, LOOP};
  for (int k = 0; k < 3; k++) {
    for (int law = 0; law < TB_LAW_COUNT; law++) {
      tbWorld w = tb_world_text(XML[k]);
      w.m->opt.law = law;
      int failed = 0;
      for (int i = 0; i < 300; i++) {
        tb_world_run(w, 1);
        failed += w.d->solve.status != TB_SOLVE_CONVERGED;
        assert_true(w.d->solve.iterations <= 2000);
      }
      if (failed > 3) fail_msg("scene %d, %s: %d steps", k, tb_step_law_name(law), failed);
      tb_world_free(w);
    }
  }
}

// Bodies that start inside each other: RaiSim's sweeps diverge in some steps. These steps report
// it, and their contacts still push: no body sinks into the floor.
static void unsolved_steps_still_push(void** state) {
  (void)state;
  tbWorld w =
      tb_world_text("<mujoco><default><geom size='.1 .1 .1' mass='1'/></default><worldbody>" FLOOR
                    "<body pos='0 0 .1'><freejoint/><geom type='box'/></body><body pos='0 0 "
                    ".1'><freejoint/><geom "
                    "type='box'/></body><body pos='0 0 .1'><freejoint/><geom "
                    "type='cylinder'/></body><body pos='0 "
                    "0 .1'><freejoint/><geom type='capsule'/></body></worldbody></mujoco>");
  w.m->opt.law = TB_LAW_RAISIM;
  for (int i = 0; i < 150; i++) {
    tb_world_run(w, 1);
    if (w.d->solve.status != TB_SOLVE_CONVERGED) {
      assert_true(w.d->solve.residual.relative > w.m->opt.solve_tolerance);
    }
    for (int b = 0; b < 4; b++) assert_true(w.d->qpos[7 * b + 2] > 0.02);
  }
  tb_world_free(w);
}

// Romeo's links always overlap, and RaiSim's sweeps do not converge on them: the exact law's
// impulses act in their place.
static void overlapping_links_are_pushed(void** state) {
  (void)state;
  int index = 0;
  while (index < TB_TEST_ROBOT_COUNT && !strstr(tb_test_robot_name(index), "romeo")) index++;
  tbModel* m = index < TB_TEST_ROBOT_COUNT ? tb_test_robot(index) : NULL;
  if (!m) skip();
  tbWorld w = {m, tb_data_new(m)};
  m->opt.law = TB_LAW_RAISIM;
  m->opt.timestep = 0.002;
  for (int i = 0; i < 10; i++) {
    tb_world_run(w, 1);
    assert_true(w.d->solve.residual_exact.relative < 0.1);
  }
  tb_world_free(w);
}

// A plank that turns on a hinge rests on a drum around the hinge: the drum could stop it only by
// impulses of 1e13 N s, and the weight that lands on its end makes some steps unsolvable. Nothing
// is shot away.
static void impulses_make_no_energy(void** state) {
  (void)state;
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(
        "<mujoco><option timestep='0.005'/><worldbody>" FLOOR
        "<body pos='0 0 .2'><joint axis='0 1 0'/><geom type='box' size='.8 .1 .02' mass='3'/>"
        "</body><geom type='cylinder' size='.1 .1' pos='0 0 .08' euler='90 0 0'/>"
        "<body pos='-.6 0 .28'><freejoint/><geom type='box' size='.06 .06 .06' mass='1'/></body>"
        "<body pos='.6 0 1.2'><freejoint/><geom type='box' size='.1 .08 .1' mass='20'/></body>"
        "</worldbody></mujoco>");
    w.m->opt.law = law;
    // the weight falls by 1.2 m at most; 3e9 J without the guard
    for (int i = 0; i < 200; i++) {
      tb_world_run(w, 1);
      assert_true(tb_world_kinetic(w) < 4 * 24 * 9.81 * 1.2);
    }
    tb_world_free(w);
  }
}

// An outstretched arm is welded to a hand that moves towards the shoulder: no joint velocity allows
// that at first. It bends without being thrown about.
static void singular_pose_does_not_throw(void** state) {
  (void)state;
  static const int LAWS[] = {TB_LAW_NCP, TB_LAW_CCP, TB_LAW_LCP, TB_LAW_RAISIM, TB_LAW_COMFREE};
  for (int k = 0; k < 5; k++) {
    tbWorld w = tb_world_text(
        "<mujoco><default><joint damping='.1'/><geom size='.03'/></default><worldbody><body "
        "name='hand' mocap='true' pos='.6 0 .5'/><body pos='0 0 .5'><joint axis='0 1 0'/><joint "
        "axis='0 0 1'/><geom type='capsule' fromto='0 0 0 .3 0 0' mass='1'/><body pos='.3 0 0'>"
        "<joint axis='0 1 0'/><joint axis='0 0 1'/><geom type='capsule' fromto='0 0 0 .3 0 0' "
        "mass='1'/><body name='tip' pos='.3 0 0'><joint type='ball'/><geom mass='.1'/></body>"
        "</body></body></worldbody><equality><weld body1='hand' body2='tip'/></equality></mujoco>");
    w.m->opt.law = LAWS[k];
    for (int step = 0; step < 500; step++) {
      static const tbReal SPEED[3] = {-0.1, 0.05, 0.05};
      for (int i = 0; i < 3; i++) w.d->mocap_pos[i] += 0.002 * SPEED[i];
      tb_world_run(w, 1);
      for (int i = 0; i < w.m->nv; i++) assert_true(fabs(w.d->qvel[i]) < 30);
    }
    int tip = tb_name2id(w.m, TB_OBJ_BODY, "tip");
    assert_near_array(w.d->xpos + 3 * tip, w.d->mocap_pos, 3, 2e-3);
    tb_world_free(w);
  }
}

// ---- fast turns --------------------------------------------------------------------------------

static const char SPINNER[] =
    "<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody><body pos='0 0 0'><freejoint/>"
    "<geom type='box' size='.2 .1 .02' mass='1'/></body></worldbody></mujoco>";

// A body that turns by a radian in a step: its energy does not grow, and its flight is straight.
static void spin_keeps_energy_and_path(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    if (law == TB_LAW_VISCOELASTIC || law == TB_LAW_SOFT) continue;
    tbWorld w = tb_world_text(SPINNER);
    w.m->opt.law = law;
    static const tbReal START[] = {3, -2, 1, 500, 20, 100};
    memcpy(w.d->qvel, START, sizeof START);
    double before = tb_world_kinetic(w);
    tb_compute_position(w.m, w.d);
    tbReal start[3], moment[6], after[6];
    memcpy(start, w.d->xipos + 3, sizeof start);
    tb_mul_m(w.m, w.d, moment, w.d->qvel);
    for (int step = 0; step < 1000; step++) {
      tb_world_run(w, 1);
      assert_true(tb_world_kinetic(w) <= before * (1 + 1e-9));
    }
    assert_true(tb_world_kinetic(w) > 0.99 * before);
    tb_mul_m(w.m, w.d, after, w.d->qvel);
    assert_near_array(after, moment, 3, 1e-9);
    for (int k = 0; k < 3; k++) start[k] += 2 * moment[k];
    assert_near_array(w.d->xipos + 3, start, 3, 1e-9);
    tb_world_free(w);
  }
}

// From a turn of a milliradian to four radians in a step, about an arbitrary axis: energy is
// constant to rounding, and the angular momentum oscillates by half the rotation of a step, also
// after thousands of steps.
static void turns_keep_energy_and_momentum(void** state) {
  (void)state;
  for (int i = 0; i < 6; i++) {
    static const tbReal SPEED[] = {0.5, 5, 20, 100, 500, 2000};
    tbWorld w = tb_world_text(SPINNER);
    w.d->qvel[3] = SPEED[i];
    w.d->qvel[4] = 0.5 * SPEED[i];
    w.d->qvel[5] = 0.8 * SPEED[i];
    double before = tb_world_kinetic(w), start[3], now[3], most = 0;
    for (int step = 0; step <= 4000; step++) {
      tb_compute_position(w.m, w.d);
      for (int k = 0; k < 3; k++) {
        const tbReal *R = w.d->xmat + 9, *I = w.m->body_inertia + 3, *turn = w.d->qvel + 3;
        now[k] = 0;
        for (int j = 0; j < 3; j++) now[k] += R[3 * k + j] * I[j] * turn[j];
      }
      if (step == 0) memcpy(start, now, sizeof start);
      for (int k = 0; k < 3; k++) most = fmax(most, fabs(now[k] - start[k]));
      tb_world_run(w, 1);
      assert_near(tb_world_kinetic(w), before, 1e-11 * before);
    }
    double size = sqrt(start[0] * start[0] + start[1] * start[1] + start[2] * start[2]);
    if (SPEED[i] < 200) assert_true(most < 1.4 * SPEED[i] * w.m->opt.timestep * size);
    tb_world_free(w);
  }
}

// A body whose frame is 10 cm from its centre of mass: its momentum oscillates by half the rotation
// of a step and does not drift; at any speed its energy is bounded.
static void centres_keep_their_momentum(void** state) {
  (void)state;
  for (int i = 0; i < 5; i++) {
    static const tbReal SPEED[] = {3, 10, 30, 300, 1000};
    tbWorld w = tb_world_text(
        "<mujoco><option timestep='0.005' gravity='0 0 0'/><worldbody><body><freejoint/><geom "
        "type='box' size='.2 .1 .02' mass='2' pos='.1 .02 .03'/></body></worldbody></mujoco>");
    const tbReal s = SPEED[i], start[] = {1, 0, 2, s, 0.3 * s, -0.2 * s};
    memcpy(w.d->qvel, start, sizeof start);
    double before = tb_world_kinetic(w), most = 0, energy = 0;
    tbReal first[6], now[6];
    tb_mul_m(w.m, w.d, first, w.d->qvel);
    for (int step = 0; step < 4000; step++) {
      tb_world_run(w, 1);
      energy = fmax(energy, tb_world_kinetic(w));
      tb_mul_m(w.m, w.d, now, w.d->qvel);
      for (int k = 0; k < 3; k++) most = fmax(most, fabs(now[k] - first[k]) / 2);
    }
    // Half of h w^2 c.
    assert_true(s > 100 || (most < 0.0025 * 1.13 * s * s * 0.106 && energy < 1.1 * before));
    assert_true(energy < 10 * before);
    tb_world_free(w);
  }
}

// The free flight of a rotating body about a frame away from its centre has closed-form
// derivatives, also by its inertia, and an inverse.
static void turns_have_derivatives(void** state) {
  (void)state;
  static const tbReal SPEED[] = {2, 30, 200};
  for (int i = 0; i < 6; i++) {
    tbWorld w = tb_world_text(
        "<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom type='box' size='.2 .1 .02' "
        "mass='1' pos='.05 .02 .03' euler='10 20 30'/><body pos='.1 .2 .1'><geom size='.05' "
        "mass='.4'/></body></body></worldbody></mujoco>");
    w.m->opt.law = i < 3 ? TB_LAW_NCP : TB_LAW_COMFREE;
    const tbReal s = SPEED[i % 3], start[] = {1, 0, 0, s, 0.3 * s, -0.2 * s};
    memcpy(w.d->qvel, start, sizeof start);
    tbDerivatives* x = tb_derivatives_new(w.m);
    tbDerivativeInfo info;
    tbReal A[144], expected[144], inertial[12 * TB_NINERTIAL];
    assert_int_equal(tb_step_linearize(w.m, w.d, NULL, x, &info), TB_OK);
    assert_false(info.finite_differences);
    tb_derivatives_dense(x, A, NULL);
    for (int body = 1; body < 3; body++) {
      assert_int_equal(tb_derivatives_inertial(x, w.m, w.d, body, inertial), TB_OK);
      for (int p = 0; p < TB_NINERTIAL; p++) {
        const tbReal e = 1e-6;
        tbReal own[TB_NINERTIAL], changed[TB_NINERTIAL], v[2][6];
        tb_inertial_get(w.m, body, own);
        for (int side = 0; side < 2; side++) {
          memcpy(changed, own, sizeof own);
          changed[p] += side ? e : -e;
          assert_int_equal(tb_inertial_set(w.m, body, changed), TB_OK);
          assert_int_equal(tb_set_constants(w.m, NULL), TB_OK);
          tbWorld other = tb_world_again(w);
          memcpy(other.d->qvel, start, sizeof start);
          tb_world_run(other, 1);
          memcpy(v[side], other.d->qvel, sizeof v[side]);
          tb_data_free(other.d);
        }
        assert_int_equal(tb_inertial_set(w.m, body, own), TB_OK);
        assert_int_equal(tb_set_constants(w.m, NULL), TB_OK);
        for (int k = 0; k < 6; k++) {
          tbReal slope = (v[1][k] - v[0][k]) / (2 * e);
          assert_near(inertial[(6 + k) * TB_NINERTIAL + p], slope, 1e-5 * (1 + s * s / 10));
        }
      }
    }
    assert_int_equal(tb_step_differences(w.m, w.d, 1e-6, 1, expected, NULL), TB_OK);
    assert_near_array(A, expected, 144, 1e-7);
    tb_derivatives_free(x);
    if (w.m->opt.law == TB_LAW_NCP) {
      tbReal qacc[6], left[6];
      assert_int_equal(tb_forward(w.m, w.d), TB_OK);
      memcpy(qacc, w.d->qacc, sizeof qacc);
      assert_int_equal(tb_inverse(w.m, w.d, qacc, NULL, left, NULL), TB_OK);
      for (int k = 0; k < 6; k++) assert_near(left[k], 0, 1e-10);
    }
    tb_world_free(w);
  }
}

// Light links on the way to a heavy one, and six hinges that are three: both blow up in a step that
// takes Coriolis forces as they come.
static const char POLE[] =
    "<mujoco><worldbody><body pos='0 0 1.5'><joint axis='0 1 0'/><geom size='.01' mass='1e-7'/>"
    "<body pos='.1 0 0'><joint axis='0 1 0'/><geom size='.01' mass='1e-7'/>"
    "<body pos='.1 0 0'><joint axis='0 1 0'/><geom type='box' size='.1 .1 .1' mass='100'/></body>"
    "</body></body></worldbody></mujoco>";
static const char SKEW[] =
    "<mujoco><worldbody><body pos='0 0 .5'><joint axis='-.5 .7 0'/><joint axis='.1 .7 .1'/>"
    "<joint axis='.7 .7 .2'/><joint axis='-.2 .7 .3'/><joint axis='.4 .7 .4'/><joint axis='-.5 .7 "
    ".5'/><geom type='capsule' fromto='0 0 0 .6 0 0' size='.05' mass='1'/><geom type='box' "
    "size='.1 .1 .1' pos='0 .2 .1' mass='.3'/></body></worldbody></mujoco>";

static void whirling_trees_stay_bounded(void** state) {
  (void)state;
  static const char* const XML[] = {POLE, SKEW};
  for (int k = 0; k < 2; k++) {
    for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
      if (law == TB_LAW_VISCOELASTIC || (law == TB_LAW_SOFT && k == 1)) continue;
      tbWorld w = tb_world_text(XML[k]);
      w.m->opt.law = law;
      tb_energy_position(w.m, w.d);
      // A bound of many times the energy of the fall, or of a rotation by a radian in a step under
      // the soft law: an instability reaches 1e100 of it.
      double most = 10 * w.m->total_mass * 9.81 * 2, rim = 0.5 / w.m->opt.timestep;
      if (law == TB_LAW_SOFT) most = w.m->total_mass * rim * rim;
      for (int step = 0; step < 1000; step++) {
        tb_world_run(w, 1);
        if (step % 50 == 0) assert_true(tb_world_kinetic(w) < most);
      }
      tb_world_free(w);
    }
  }
}

// Inverse dynamics include the inertia that the step adds there.
static void fast_turns_have_an_inverse(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    if (law == TB_LAW_VISCOELASTIC || law == TB_LAW_COMFREE) continue;
    tbWorld w = tb_world_text(SPINNER);
    w.m->opt.law = law;
    static const tbReal START[] = {3, -2, 1, 300, 200, 100};
    memcpy(w.d->qvel, START, sizeof START);
    assert_int_equal(tb_forward(w.m, w.d), TB_OK);
    tbReal qacc[6], qfrc[6], zero[6] = {0};
    memcpy(qacc, w.d->qacc, sizeof qacc);
    tbInverseInfo info;
    assert_int_equal(tb_inverse(w.m, w.d, qacc, NULL, qfrc, &info), TB_OK);
    assert_near_array(qfrc, zero, 6, 1e-8);
    tb_world_free(w);
  }
}

// ---- unstable gains ----------------------------------------------------------------------------

// An unstable motor, whose torque grows with its angle, ends in an error that says what to do, long
// before numbers overflow, and the state is that of the last good step.
static void runaway_is_an_error_with_advice(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(
        "<mujoco><worldbody><body name='link' pos='0 0 1'><joint name='j' axis='0 1 0'/><geom "
        "type='capsule' fromto='0 0 0 .3 0 0' size='.03' mass='1'/></body></worldbody><actuator>"
        "<general joint='j' biastype='affine' biasprm='0 1e7 0'/></actuator></mujoco>");
    w.m->opt.law = law;
    tbResult result = TB_OK;
    tbReal last = 0;
    for (int i = 0; i < 1000 && result == TB_OK; i++) {
      last = w.d->qvel[0];
      result = tb_step(w.m, w.d);
    }
    assert_int_equal(result, TB_ERROR_NUMERIC);
    assert_non_null(strstr(w.d->message, "'link'"));
    assert_non_null(strstr(w.d->message, "timestep"));
    assert_true(fabs(w.d->qvel[0]) <= 1e10);
    assert_true(w.d->qvel[0] == last);
    tb_world_free(w);
  }
}

// Gym's files ask for Runge-Kutta, which is not stable with the springs of the viscoelastic law:
// the error names an integrator that is, and the run with that one succeeds.
static void explicit_springs_are_told_of_expo(void** state) {
  (void)state;
  static const int INTEGRATORS[] = {TB_INTEGRATOR_RK4, TB_INTEGRATOR_EULER_EXPLICIT,
                                    TB_INTEGRATOR_EXPO};
  for (int k = 0; k < 3; k++) {
    tbWorld w = tb_world_springs(
        tb_world_text(
            "<mujoco><worldbody><body name='bob' pos='0 0 1'><freejoint/><geom size='.02' "
            "mass='.01'/></body></worldbody><equality><connect body1='bob' anchor='0 0 .1'/>"
            "</equality></mujoco>"),
        INTEGRATORS[k], 0.002);
    tbResult result = TB_OK;
    for (int i = 0; i < 500 && result == TB_OK; i++) result = tb_step(w.m, w.d);
    assert_int_equal(result, k < 2 ? TB_ERROR_NUMERIC : TB_OK);
    if (k < 2) assert_non_null(strstr(w.d->message, "integrator expo"));
    tb_world_free(w);
  }
}

// ---- laws and solvers --------------------------------------------------------------------------

// Every supported pair of law and solver runs on a robot; every other pair is refused by a message
// that lists the supported ones.
static void every_law_with_every_solver(void** state) {
  (void)state;
  int pairs[TB_STEP_LAW_COUNT] = {0};
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    for (int solver = 0; solver < TB_SOLVER_COUNT; solver++) {
      tbWorld w = tb_world_scene("quadruped.xml", NULL);
      w.m->opt.law = law;
      w.m->opt.solver = solver;
      tbResult result = TB_OK;
      // until it stands on the floor, the step has not met the solver
      bool touched = false;
      for (int i = 0; i < 60 && result == TB_OK; i++) {
        result = tb_step(w.m, w.d);
        touched = touched || w.d->ncon > 0;
      }
      if (result == TB_OK) {
        pairs[law]++;
        assert_true(touched);
        assert_true(w.d->qpos[2] > 0.1);
      } else {
        assert_int_equal(result, TB_ERROR_UNSUPPORTED);
        assert_non_null(strstr(w.d->message, tb_step_law_name(law)));
        assert_non_null(strstr(w.d->message, "auto"));
      }
      tb_world_free(w);
    }
  }
  // auto and: pgs, admm, newton, staggered, prox-newton, ipm; pgs, admm, newton, prox-newton, ipm;
  // pgs, newton, staggered, lemke, ipm; pgs, pgs-exact; newton, pgs
  static const int EXPECTED[TB_STEP_LAW_COUNT] = {7, 6, 6, 3, 3, 1, 1};
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) assert_int_equal(pairs[law], EXPECTED[law]);
}

// A snake of 60 links falls on the floor and a step: hundreds of rows on few dofs, where Newton on
// the pyramid loses its way and Lemke's tableau is out of reach.
static void pyramids_hold_a_snake(void** state) {
  (void)state;
  char xml[16384] =
      "<mujoco><worldbody><geom type='plane' size='9 9 .1'/><geom type='box' "
      "size='.3 .3 .03' pos='1.5 .1 .03' euler='0 0 20'/>",
       link[256];
  for (int i = 0; i < 60; i++) {
    snprintf(link, sizeof link,
             "<body pos='%s'>%s<geom type='capsule' fromto='0 0 0 .05 0 0' size='.02' mass='.05' "
             "friction='.6 .01 .001'/>",
             i == 0 ? "0 0 .08" : ".06 0 0",
             i == 0  ? "<freejoint/>"
             : i % 2 ? "<joint axis='0 0 1' damping='.01' range='-50 50' stiffness='.05'/>"
                     : "<joint axis='0 1 0' damping='.01' range='-50 50' stiffness='.05'/>");
    strcat(xml, link);
  }
  for (int i = 0; i < 60; i++) strcat(xml, "</body>");
  strcat(xml, "</worldbody></mujoco>");
  tbWorld w = tb_world_text(xml);
  w.m->opt.law = TB_LAW_LCP;
  int unsolved = 0;
  for (int i = 0; i < 80; i++) {
    tb_world_run(w, 1);
    unsolved += w.d->solve.status != TB_SOLVE_CONVERGED;
  }
  print_message("%d of 80 steps not solved\n", unsolved);
  assert_true(unsolved <= 2);
  tb_world_free(w);
}

// The words of the command line.
static void solvers_have_words(void** state) {
  (void)state;
  tbOption option = tbDefaultOption();
  tbError error;
  assert_int_equal(tb_option_set(&option, "solver", "pgs-exact", &error), TB_OK);
  assert_int_equal(option.solver, TB_SOLVER_PGS_EXACT);
  assert_int_equal(tb_option_set(&option, "solver", "lemke", &error), TB_OK);
  assert_int_equal(option.solver, TB_SOLVER_LEMKE);
  assert_int_equal(tb_option_set(&option, "solver", "lemk", &error), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "lemke"));
}

// A wheel that rotates about its own centre moves along no axis: its inverse mass is rounding, and
// is not used as an estimate of the mobility at its contact.
static void wheels_on_the_floor_are_no_levers(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0.3 0.1 0.1'>"
      "<joint type='hinge' axis='0 1 0'/><geom type='sphere' size='0.1' mass='1'/></body>"
      "</worldbody></mujoco>");
  int wheel = 1;
  w.m->body_invweight0[2 * wheel] = 2.6e-34;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  tbConstraints* constraints = &tb_step_state(w.m, w.d)->constraints;
  tbInertiaFactor factor = {w.d->qLD, w.d->qLDiagInv, NULL};
  tbIslands islands;
  assert_int_equal(tb_assemble_groups(w.m, w.d, constraints, &islands), TB_OK);
  assert_int_equal(tb_assemble_terms(w.m, w.d, constraints, factor, w.d->qvel, &islands), TB_OK);
  assert_int_equal(islands.count, 1);
  for (int r = 0; r < islands.island[0].problem.n; r++) {
    assert_true(islands.island[0].rho[r] > 1e-3);
  }
  w.d->qvel[0] = 5;
  for (int i = 0; i < 200; i++) {
    assert_int_equal(tb_step(w.m, w.d), TB_OK);
    assert_int_equal(w.d->solve.status, TB_SOLVE_CONVERGED);
    assert_true(fabs(w.d->qvel[0]) <= 5);
    for (int k = 0; k < w.d->ncon; k++) assert_true(fabs(w.d->contact[k].force[0]) < 1e6);
  }
  tb_world_free(w);
}

// A link that turns about its own centre sits 3 mm deep in its base, along its axis and across: no
// joint takes it out, and its inverse mass is zero. Every step has an answer, and nothing moves.
static void stuck_links_stay(void** state) {
  (void)state;
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    for (int condim = 1; condim <= 3; condim += 2) {
      for (int across = 0; across < 2; across++) {
        char xml[1024];
        snprintf(xml, sizeof xml,
                 "<mujoco><option timestep='0.001'/><default><geom type='box' condim='%d'/>"
                 "</default><worldbody><geom size='.1 .1 .01'/><body pos='0 0 .027'>"
                 "<joint axis='%d 0 %d'/><geom size='.02 .02 .02' mass='.1'/><body pos='0 0 .06'>"
                 "<joint axis='0 1 0'/><geom size='.01 .01 .03' mass='.05'/></body></body>"
                 "</worldbody></mujoco>",
                 condim, across, !across);
        tbWorld w = tb_world_text(xml);
        w.m->opt.law = law;
        for (int i = 0; i < 100; i++) {
          tb_world_run(w, 1);
          assert_int_equal(w.d->solve.status, TB_SOLVE_CONVERGED);
          for (int k = 0; k < w.d->ncon; k++) assert_true(w.d->contact[k].force[0] < 1e6);
          assert_true(fabs(w.d->qvel[0]) < 1e-6);
        }
        tb_world_free(w);
      }
    }
  }
}

// A mocap body moves at 2 m/s, far above the speed at which overlaps are corrected: a body welded
// to it follows, and a box before a paddle is pushed along, both with at most the lag of MuJoCo's
// soft law.
static void mocap_bodies_lead(void** state) {
  (void)state;
  // friction of one locks under ccp: the floor asks for v_z >= v_x, the paddle for v_x >= v + v_z
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(
        "<mujoco><default><geom friction='.5 .005 .0001'/></default><worldbody>" FLOOR
        "<body name='hand' mocap='true' pos='0 0 .5'/><body name='held'"
        " pos='0 0 .5'><freejoint/><geom type='box' size='.05 .05 .05' mass='1'/></body><body "
        "mocap='true' pos='0 1 .1'><geom type='box' size='.02 .2 .1'/></body><body name='box' "
        "pos='.125 1 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body></worldbody>"
        "<equality><weld body1='hand' body2='held'/></equality></mujoco>");
    w.m->opt.law = law;
    int held = tb_name2id(w.m, TB_OBJ_BODY, "held"), box = tb_name2id(w.m, TB_OBJ_BODY, "box");
    for (int step = 0; step < 300; step++) {
      for (int k = 0; k < 2; k++) w.d->mocap_pos[3 * k] += 2 * w.m->opt.timestep;
      tb_world_run(w, 1);
      assert_true(fabs(w.d->xpos[3 * held] - w.d->mocap_pos[0]) < 0.08);
      assert_true(w.d->xpos[3 * box] - w.d->mocap_pos[3] > 0.12 - 0.08);
    }
    // A body whose velocity is its violation over 0.02 s lags by the way of 0.02 s, less a step.
    tb_compute_position(w.m, w.d);
    double behind = w.d->mocap_pos[0] - w.d->xpos[3 * held];
    if (law < TB_LAW_COUNT) assert_near(behind, 2 * (0.02 - w.m->opt.timestep), 1e-4);
    tb_world_free(w);
  }
}

// ---- limits that start beyond their range -------------------------------------------------------

// Below a millisecond a limit is pushed back no harder than at a millisecond: a door takes that
// long to reach correction_speed. Pushed at full speed in every step, what closed loops contradict
// makes energy without end: 6, 180 and 400 J in Cassie's reference pose at 0.1, 0.02 and 0.002 ms.
static void limits_push_no_harder_at_small_steps(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option gravity='0 0 0' timestep='2e-5'/><worldbody><body><joint type='hinge' "
      "axis='0 0 1' limited='true' range='0 170'/><geom type='box' pos='.3 0 0' size='.3 .02 .2' "
      "mass='2'/></body></worldbody></mujoco>");
  double speed = w.m->opt.correction_speed;
  w.d->qpos[0] = -0.3;
  tb_world_run(w, 1);
  assert_near(w.d->qvel[0], 0.02 * speed, 1e-3 * speed);
  tb_world_run(w, 99);
  assert_near(w.d->qvel[0], speed, 0.02 * speed);
  tb_world_free(w);

  int cassie = 0;
  while (!strstr(tb_test_robot_name(cassie), "agility_cassie")) cassie++;
  w.m = tb_test_robot(cassie);
  if (!w.m) return;
  w.d = tb_data_new(w.m);
  assert_non_null(w.d);
  w.m->opt.timestep = 2e-5;
  double start = tb_world_energy(w), most = tb_world_run_energy(w, 1000);
  print_message("Cassie: %.4g J, at most %.4g\n", start, most);
  assert_true(most < start + 2);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wheels_on_the_floor_are_no_levers),
      cmocka_unit_test(stuck_links_stay),
      cmocka_unit_test(mocap_bodies_lead),
      cmocka_unit_test(hinges_on_one_axis_are_one),
      cmocka_unit_test(ball_and_hinge_share_a_motion),
      cmocka_unit_test(force_on_a_held_hinge),
      cmocka_unit_test(tendons_that_nothing_moves),
      cmocka_unit_test(straight_strings_do_not_throw),
      cmocka_unit_test(light_under_heavy),
      cmocka_unit_test(hyperstatic_scenes_converge),
      cmocka_unit_test(unsolved_steps_still_push),
      cmocka_unit_test(overlapping_links_are_pushed),
      cmocka_unit_test(impulses_make_no_energy),
      cmocka_unit_test(singular_pose_does_not_throw),
      cmocka_unit_test(spin_keeps_energy_and_path),
      cmocka_unit_test(turns_keep_energy_and_momentum),
      cmocka_unit_test(centres_keep_their_momentum),
      cmocka_unit_test(turns_have_derivatives),
      cmocka_unit_test(whirling_trees_stay_bounded),
      cmocka_unit_test(fast_turns_have_an_inverse),
      cmocka_unit_test(runaway_is_an_error_with_advice),
      cmocka_unit_test(explicit_springs_are_told_of_expo),
      cmocka_unit_test(every_law_with_every_solver),
      cmocka_unit_test(pyramids_hold_a_snake),
      cmocka_unit_test(solvers_have_words),
      cmocka_unit_test(limits_push_no_harder_at_small_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
