// The report of a batch over all steps of a call equals the reports of each world stepped alone.
#include <stdbool.h>

#include "common/worlds.h"

static const char SCENE[] =
    "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='5 5 .1' condim='4'/>"
    "<body pos='0 0 .0999'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
    "<body pos='0 0 .2997'><freejoint/><geom type='box' size='.1 .1 .1' mass='100'/></body>"
    "<body pos='1 0 .3'><freejoint/><geom type='sphere' size='.1' mass='1'/></body>"
    "</worldbody></mujoco>";

enum { WORLDS = 5, STEPS = 60 };

// Starts that differ from world to world.
static void throw_ball(tbReal* qvel, int world) {
  qvel[12] = 0.2 * world;
  qvel[14] = -0.5 * world;
}

static void assert_same(const tbWorldReport* got, const tbWorldReport* expected, const char* what) {
  if (memcmp(got, expected, sizeof *got) == 0) return;
  fail_msg(
      "%s: %d steps, %d unconverged, %d uncertified, residual %g, exact %g, %g m; alone %d, %d, "
      "%d, %g, %g, %g m",
      what, (int)got->steps, (int)got->unconverged_steps, (int)got->uncertified_steps,
      got->residual, got->residual_exact, got->penetration, (int)expected->steps,
      (int)expected->unconverged_steps, (int)expected->uncertified_steps, expected->residual,
      expected->residual_exact, expected->penetration);
}

static tbBatch* batch_of(const tbModel* m) {
  tbError error;
  tbBatch* b = tb_batch_new(m, WORLDS, 2, 0, &error);
  if (!b) fail_msg("%s", error.message);
  for (int w = 0; w < WORLDS; w++) throw_ball(b->qvel + w * m->nv, w);
  return b;
}

// Steps of one world alone.
static void run_alone(const tbModel* m, int world, int steps, tbWorldReport* report) {
  tbData* d = tb_data_new(m);
  throw_ball(d->qvel, world);
  tb_report_clear(report);
  for (int i = 0; i < steps; i++) {
    tb_step(m, d);
    tb_report_add(report, d);
  }
  tb_data_free(d);
}

// Every law with every integrator: batch steps and rollouts that compute all certificates.
static void reports_are_those_of_worlds_alone(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    int last =
        law == TB_LAW_VISCOELASTIC ? TB_INTEGRATOR_EULER_IMPLICIT : TB_INTEGRATOR_IMPLICITFAST;
    for (int integrator = 0; integrator <= last; integrator++) {
      tbWorld w = tb_world_text(SCENE);
      w.m->opt.law = law;
      w.m->opt.integrator = integrator;
      if (law == TB_LAW_VISCOELASTIC) w.m->opt.timestep = 1e-4;
      tbWorldReport alone[WORLDS];
      for (int k = 0; k < WORLDS; k++) run_alone(w.m, k, STEPS, &alone[k]);
      for (int how = 0; how < 2; how++) {
        tbBatch* b = batch_of(w.m);
        tbRollout rollout = {.nstep = STEPS};
        b->certify_every = 1;
        assert_int_equal(how ? tb_batch_rollout(b, &rollout) : tb_batch_step(b, STEPS), TB_OK);
        char what[96];
        for (int k = 0; k < WORLDS; k++) {
          snprintf(what, sizeof what, "law %d integrator %d %s world %d", law, integrator,
                   how ? "rollout" : "step", k);
          assert_same(&b->report[k], &alone[k], what);
          assert_int_equal(b->report[k].uncertified_steps, 0);
        }
        tb_batch_free(b);
      }
      tb_world_free(w);
    }
  }
}

// A solver cut to one iteration leaves the heavy stack unsolved in every step; the last step of a
// call may be one of the better ones.
static void unconverged_steps_are_counted(void** state) {
  (void)state;
  tbWorld w = tb_world_text(SCENE);
  w.m->opt.solver = TB_SOLVER_PGS;
  w.m->opt.solve_iterations = 1;
  tbWorldReport alone;
  run_alone(w.m, 0, STEPS, &alone);
  assert_true(alone.unconverged_steps > STEPS / 2);
  tbBatch* b = batch_of(w.m);
  assert_int_equal(tb_batch_step(b, STEPS), TB_OK);
  assert_same(&b->report[0], &alone, "one iteration");
  assert_true(alone.residual_exact >= b->residual_exact[0]);
  assert_int_equal(b->report[0].offender.reason, TB_OFFENCE_UNCONVERGED);
  assert_true(b->report[0].offender.body > 0);
  // The next call starts anew.
  w.m->opt.solve_iterations = 1000;
  assert_int_equal(tb_batch_step(b, 1), TB_OK);
  assert_int_equal(b->report[0].steps, 1);
  tb_batch_free(b);
  tb_world_free(w);
}

// Laws whose certificate is extra work compute it where requested, and report where not.
static void steps_nobody_judged_are_counted(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(SCENE);
    w.m->opt.law = law;
    tbBatch* b = batch_of(w.m);
    for (int every = 0; every <= 20; every += 20) {
      b->certify_every = every;
      assert_int_equal(tb_batch_step(b, STEPS), TB_OK);
      const tbWorldReport* r = &b->report[0];
      bool costs = law == TB_LAW_RAISIM || law >= TB_LAW_SOFT;
      int judged = every ? STEPS / every : 1;
      assert_int_equal(r->steps, STEPS);
      assert_int_equal(r->uncertified_steps, costs ? STEPS - judged : 0);
      assert_int_equal(r->first_uncertified, costs ? 0 : -1);
      assert_true(r->residual_exact >= b->residual_exact[0]);
      // Without any certificate there is no worst step.
      assert_int_equal(tb_batch_step(b, 0), TB_OK);
      assert_int_equal(b->report[0].steps, 0);
      assert_true(isnan(b->report[0].residual_exact) && isnan(b->residual_exact[0]));
    }
    tb_batch_free(b);
    tb_world_free(w);
  }
}

// A world that cannot be stepped reports the cause; its neighbours are not affected.
static void worlds_that_fail_are_named(void** state) {
  (void)state;
  tbWorld w = tb_world_text(SCENE);
  tbBatch* b = batch_of(w.m);
  b->qfrc_applied[1 * w.m->nv + 8] = NAN;
  tbReal* mass = tb_batch_expand(b, "body_mass");
  mass[3 * w.m->nbody + 1] = -1;
  assert_int_not_equal(tb_batch_step(b, 5), TB_OK);
  for (int k = 0; k < WORLDS; k++) {
    const tbWorldReport* r = &b->report[k];
    bool bad = k == 1 || k == 3;
    assert_int_equal(r->steps, bad ? 0 : 5);
    assert_int_equal(r->status, k == 1 ? TB_ERROR_NUMERIC : k == 3 ? TB_ERROR_ARGUMENT : TB_OK);
    assert_int_equal(r->offender.reason, bad ? TB_OFFENCE_FAILED : TB_OFFENCE_NONE);
    assert_int_equal(r->offender.body, k == 1 ? 2 : -1);
    assert_true(isnan(b->residual_exact[k]) == bad);
    assert_true(isnan(r->residual_exact) == bad);
  }
  tb_batch_free(b);
  tb_world_free(w);
}

// Options count as they are at each call, as for a single world.
static void options_may_change_between_calls(void** state) {
  (void)state;
  tbWorld w = tb_world_text(SCENE);
  tbBatch* b = batch_of(w.m);
  assert_int_equal(tb_batch_step(b, 2), TB_OK);
  assert_true(b->residual_exact[0] <= w.m->opt.solve_tolerance);
  w.m->opt.law = TB_LAW_COMFREE;
  assert_int_equal(tb_batch_step(b, 2), TB_OK);
  assert_true(b->residual_exact[0] > 1e-3);
  w.m->opt.law = 99;
  assert_int_equal(tb_batch_step(b, 2), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "law"));
  assert_int_equal(tb_batch_step(b, -5), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "-5"));
  tb_batch_free(b);
  tb_world_free(w);
}

// Two reports in a row are that of all their steps.
static void merged_reports_are_those_of_all_steps(void** state) {
  (void)state;
  tbWorld w = tb_world_text(SCENE);
  tbWorldReport all, part[3];
  tbData* d = tb_data_new(w.m);
  tb_report_clear(&all);
  for (int k = 0; k < 3; k++) {
    tb_report_clear(&part[k]);
    for (int i = 0; i < 7; i++) {
      // One iteration from nothing does not solve it.
      bool hard = k == 1 && i > 3;
      w.m->opt.solve_iterations = hard ? 1 : 1000;
      w.m->opt.solver = hard ? TB_SOLVER_PGS : TB_SOLVER_AUTO;
      w.m->opt.warmstart = !hard;
      assert_int_equal(tb_step(w.m, d), TB_OK);
      tb_report_add(&all, d);
      tb_report_add(&part[k], d);
    }
  }
  assert_true(all.unconverged_steps > 0 && all.first_unconverged >= 7);
  for (int k = 1; k < 3; k++) tb_report_merge(&part[0], &part[k]);
  assert_same(&part[0], &all, "merged");
  tb_data_free(d);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reports_are_those_of_worlds_alone),
      cmocka_unit_test(unconverged_steps_are_counted),
      cmocka_unit_test(steps_nobody_judged_are_counted),
      cmocka_unit_test(worlds_that_fail_are_named),
      cmocka_unit_test(options_may_change_between_calls),
      cmocka_unit_test(merged_reports_are_those_of_all_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
