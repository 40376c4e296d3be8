// Ropes of free bodies that heavy weights keep taut (forces/geometric_stiffness.h).
#include "common/worlds.h"
#include "model/workspace.h"
#include "spatial/vec3.h"
#include "world/state.h"

// Fifteen links of 10 g with a weight at the end: free bodies tied together, or one tree.
static tbWorld rope(bool tied, double weight, const char* gravity) {
  char xml[8192], part[512], ties[2048] = "", ends[256] = "";
  snprintf(xml, sizeof xml,
           "<mujoco><option gravity='%s'/><default><geom contype='0' conaffinity='0'/>"
           "</default><worldbody>",
           gravity);
  for (int i = 0; i <= 15; i++) {
    snprintf(part, sizeof part, "<body name='l%d' pos='0 0 %g'><joint type='%s'/>", i,
             tied ? 3 - 0.1 * i
             : i  ? -0.1
                  : 3,
             tied ? "free" : "ball");
    strcat(xml, part);
    if (i < 15) {
      snprintf(part, sizeof part,
               "<geom type='capsule' fromto='0 0 0 0 0 -.1' size='.008' mass='.01'/>%s",
               tied ? "</body>" : "");
    } else {
      snprintf(part, sizeof part, "<geom size='.1' pos='0 0 -.1' mass='%.17g'/></body>", weight);
    }
    strcat(xml, part);
    if (!tied && i < 15) strcat(ends, "</body>");
    if (i == 0) {
      snprintf(part, sizeof part, "<connect body1='l0' anchor='0 0 0'/>");
    } else {
      snprintf(part, sizeof part, "<connect body1='l%d' body2='l%d' anchor='0 0 0'/>", i, i - 1);
    }
    if (tied) strcat(ties, part);
  }
  strcat(strcat(xml, ends), "</worldbody><equality>");
  strcat(strcat(xml, ties), "</equality></mujoco>");
  return tb_world_text(xml);
}

// A weight of 50 kg hangs, though at 2 ms and more the links' own swing under that pull is faster
// than steps: without what tension adds to their inertia they tear apart within a second.
static void heavy_weights_hang(void** state) {
  (void)state;
  static const double STEPS[] = {0.002, 0.005, 0.01};
  for (int k = 0; k < 3 * TB_LAW_COUNT; k++) {
    tbWorld w = rope(true, 50, "0 0 -9.81");
    w.m->opt.law = k / 3;
    w.m->opt.timestep = STEPS[k % 3];
    w.d->qvel[3] = 0.5;
    tb_world_run_solved(w, (int)(2 / STEPS[k % 3]));
    // ties yield by their softness, in proportion to the square of the step
    assert_near(w.d->qpos[7 * 15 + 2], 1.5, 2e3 * STEPS[k % 3] * STEPS[k % 3]);
    for (int i = 0; i < w.m->nv; i++) assert_true(fabs(w.d->qvel[i]) < 1);
    tb_world_free(w);
  }
}

// A rope with 1 kg at its end that is pulled with 500 N and vibrates stays as quiet as at small
// steps; pushes from the side or from below make no link heavier.
static void hands_pull_as_weights_do(void** state) {
  (void)state;
  static const double STEPS[] = {0.00025, 0.002, 0.005, 0.01};
  double end[4];
  for (int k = 0; k < 4; k++) {
    tbWorld w = rope(false, 1, "0 0 -9.81");
    tbReal *force = w.d->xfrc_applied + 6 * (w.m->nbody - 1), *M = calloc(2 * (size_t)w.m->nM, 8);
    w.m->opt.timestep = STEPS[k];
    for (int i = 0; i < 3; i++) {
      tb_set3(force, i == 1 ? 500 : 0, 0, i == 2 ? 500 : 0);
      assert_int_equal(tb_forward(w.m, w.d), TB_OK);
      memcpy(i ? M + w.m->nM : M, w.d->qM, sizeof(tbReal) * (size_t)w.m->nM);
      if (i) assert_near_array(M, M + w.m->nM, w.m->nM, 0);
    }
    tb_set3(force, 0, 0, -500);
    for (int i = 0; i < w.m->nv; i++) w.d->qvel[i] = 0.05 * sin(7 * i);
    for (int i = 0; i < tb_world_steps(w, 0.8); i++) {
      tb_world_run(w, 1);
      for (int v = 0; v < w.m->nv; v++) assert_true(fabs(w.d->qvel[v]) < 0.3);
    }
    end[k] = w.d->xpos[3 * (w.m->nbody - 1)];
    assert_near(end[k], end[0], 2e-3);
    free(M);
    tb_world_free(w);
  }
}

// The rope of one tree with a tendon that starts below it: to its end, or on through every link up
// to the ceiling.
static tbWorld winch(bool through, const char* tendon, const char* actuator) {
  char xml[8192] =
      "<mujoco><default><geom contype='0' conaffinity='0'/></default><worldbody>"
      "<site name='low' pos='0 0 -1'/>",
       part[256], path[1024] = "", ends[256] = "";
  for (int i = 0; i <= 15; i++) {
    snprintf(part, sizeof part,
             "<body pos='0 0 %g'><joint type='ball'/><site name='s%d' pos='0 0 %g'/>%s",
             i ? -0.1 : 3, i, i < 15 ? -0.05 : 0,
             i < 15 ? "<geom type='capsule' fromto='0 0 0 0 0 -.1' size='.008' mass='.01'/>"
                    : "<geom size='.1' pos='0 0 -.1' mass='1'/>");
    strcat(xml, part);
    strcat(ends, "</body>");
    snprintf(part, sizeof part, "<site site='s%d'/>", 15 - i);
    if (i == 0 || through) strcat(path, part);
  }
  strcat(strcat(xml, ends), "<site name='top' pos='0 0 3.1'/></worldbody><tendon><spatial ");
  strcat(strcat(xml, tendon), "name='t'><site site='low'/>");
  strcat(strcat(xml, path), through ? "<site site='top'/>" : "");
  strcat(strcat(xml, "</spatial></tendon><actuator>"), actuator);
  return tb_world_text(strcat(xml, "</actuator></mujoco>"));
}

// Motors and springs of a tendon that pull with some 500 N.
static void tendons_pull_as_weights_do(void** state) {
  (void)state;
  static const struct {
    const char *tendon, *actuator;
  } CASES[] = {{"", "<motor tendon='t'/>"}, {"stiffness='200' springlength='0' ", ""}};
  static const double STEPS[] = {0.00025, 0.002, 0.005, 0.01};
  for (int k = 0; k < 8; k++) {
    tbWorld w = winch(false, CASES[k / 4].tendon, CASES[k / 4].actuator);
    w.m->opt.timestep = STEPS[k % 4];
    if (w.m->nu) w.d->ctrl[0] = -500;
    for (int i = 0; i < w.m->nv; i++) w.d->qvel[i] = 0.05 * sin(7 * i);
    for (int i = 0; i < tb_world_steps(w, 0.8); i++) {
      tb_world_run(w, 1);
      for (int v = 0; v < w.m->nv; v++) assert_true(fabs(w.d->qvel[v]) < 1);
    }
    tb_world_free(w);
  }
}

// What runs through all links pulls each both ways, and makes none heavier.
static void tendons_along_a_rope_cancel(void** state) {
  (void)state;
  tbWorld w = winch(true, "", "<motor tendon='t'/>"), slack = tb_world_again(w);
  w.m->opt.timestep = 0.002;
  w.d->ctrl[0] = -500;
  tb_world_run(w, 1);
  assert_near(w.d->ten_load[0], -500, 0);
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  memcpy(slack.d->qpos, w.d->qpos, sizeof(tbReal) * (size_t)w.m->nq);
  assert_int_equal(tb_forward(w.m, slack.d), TB_OK);
  assert_near_array(w.d->qM, slack.d->qM, w.m->nM, 0);
  tb_data_free(slack.d);
  tb_world_free(w);
}

// It swings as the tree does at small steps.
static void heavy_weights_swing(void** state) {
  (void)state;
  tbWorld tied = rope(true, 20, "6.94 0 -6.94"), tree = rope(false, 20, "6.94 0 -6.94");
  tied.m->opt.timestep = 0.002;
  tree.m->opt.timestep = 0.00025;
  double start = tb_world_energy(tied);
  for (int i = 0; i < 400; i++) {
    tb_world_run(tied, 1);
    assert_true(tb_world_energy(tied) < start + 0.1);
  }
  tb_world_run(tree, 3200);
  tb_compute_position(tied.m, tied.d);
  tb_compute_position(tree.m, tree.d);
  assert_near_array(tied.d->xpos + 3 * 16, tree.d->xpos + 3 * 16, 3, 0.01);
  tb_world_free(tied);
  tb_world_free(tree);
}

// ---- other functions that use the load ----------------------------------------------------------

// A rope that swings, with a weight that makes its links stiff.
static tbWorld taut_rope(void) {
  tbWorld w = rope(true, 50, "0 0 -9.81");
  w.m->opt.timestep = 0.005;
  w.m->opt.solve_tolerance = 1e-12;
  w.d->qvel[3] = 0.5;
  tb_world_run(w, 40);
  return w;
}

// The impulses of a step solve the problem that is handed out before it.
static void the_problem_is_that_of_the_step(void** state) {
  (void)state;
  tbWorld w = taut_rope();
  tbError error;
  assert_true(tb_world_is_taut(w));
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  tbProblem* p = tb_step_problem(w.m, w.d, &error);
  if (!p) fail_msg("%s", error.message);
  assert_int_equal(tb_step(w.m, w.d), TB_OK);

  // one island of connects: rows in the order of the equalities
  const tbStepState* step = w.d->work->step;
  assert_int_equal(p->n, step->constraints.nrow);
  tbReal lambda[48], sigma[48];
  for (int r = 0; r < p->n; r++) lambda[r] = step->row_force[r] * w.m->opt.timestep;
  assert_int_equal(tb_problem_velocity(p, lambda, sigma, &error), TB_OK);
  assert_true(tb_residual(p, TB_LAW_NCP, lambda, sigma).relative <= 1e-10);
  tb_problem_free(p);
  tb_world_free(w);
}

// Inverse dynamics of the resulting acceleration gives the applied force.
static void inverse_gives_the_force_back(void** state) {
  (void)state;
  for (int law = TB_LAW_NCP; law <= TB_LAW_CCP; law++) {
    tbWorld w = taut_rope();
    w.m->opt.law = law;
    assert_true(tb_world_is_taut(w));
    tb_world_assert_inverse(w);
    tb_world_free(w);
  }
}

// Looking at a state changes nothing of the step from it, and the state is all that a step needs.
static void a_look_moves_nothing(void** state) {
  (void)state;
  tbWorld w = taut_rope(), again = tb_world_again(w);
  tbReal* start = calloc((size_t)tb_state_size(w.m), sizeof *start);
  tb_state_get(w.m, w.d, start);
  tb_world_run(w, 1);
  tb_state_set(w.m, again.d, start);
  for (int i = 0; i < 3; i++) assert_int_equal(tb_forward(w.m, again.d), TB_OK);
  tb_world_run(again, 1);
  assert_near_array(again.d->qvel, w.d->qvel, w.m->nv, 1e-7);
  free(start);
  tb_data_free(again.d);
  tb_world_free(w);
}

// A rollout that is given a state starts slack, whatever the world did before.
static void rollouts_start_slack(void** state) {
  (void)state;
  enum { STEPS = 3 };
  tbWorld w = taut_rope();
  tbError error;
  tbBatch* batch = tb_batch_new(w.m, 1, 1, 0, &error);
  assert_non_null(batch);
  tbReal once[STEPS * 96], again[STEPS * 96];
  tbRollout r = {.nstep = STEPS, .qpos = w.d->qpos, .qvel = w.d->qvel};
  tbRecord record = {"qvel", once};
  r.record = &record;
  r.nrecord = 1;
  assert_int_equal(tb_batch_rollout(batch, &r), TB_OK);
  record.out = again;
  assert_int_equal(tb_batch_rollout(batch, &r), TB_OK);
  assert_memory_equal(once, again, sizeof once);
  tb_batch_free(batch);
  tb_world_free(w);
}

// A ball of 1 kg balances on a box, tied to it: the box lies on the floor, the ball flies.
static void what_lies_is_not_stiffened(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><geom type='plane' size='1 1 .1'/><body name='box' pos='0 0 .05'>"
      "<freejoint/><geom type='box' size='.05 .05 .05' mass='.01'/></body><body name='ball' "
      "pos='0 0 .25'><freejoint/><geom size='.1' mass='1'/></body></worldbody><equality>"
      "<connect body1='box' body2='ball' anchor='0 0 .1'/></equality></mujoco>");
  w.m->opt.timestep = 0.03;
  tb_world_run(w, 2);
  assert_near_array(w.d->eq_load, ((tbReal[3]){0}), 3, 0);
  assert_true(w.d->eq_load[5] > 9);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(heavy_weights_hang),
      cmocka_unit_test(hands_pull_as_weights_do),
      cmocka_unit_test(tendons_pull_as_weights_do),
      cmocka_unit_test(tendons_along_a_rope_cancel),
      cmocka_unit_test(heavy_weights_swing),
      cmocka_unit_test(the_problem_is_that_of_the_step),
      cmocka_unit_test(inverse_gives_the_force_back),
      cmocka_unit_test(a_look_moves_nothing),
      cmocka_unit_test(rollouts_start_slack),
      cmocka_unit_test(what_lies_is_not_stiffened),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
