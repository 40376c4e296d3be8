// The problem a step hands out is the one it solves.
#include "common/worlds.h"

// Impulses of the step, put through the residual of the problem handed out.
static void the_steps_impulses_solve_it(void** state) {
  (void)state;
  static const struct {
    const char *scene, *key;
  } SCENES[] = {{"cm_cube.xml", NULL}, {"sliding_cube.xml", "thrown"}, {"tower.xml", NULL}};
  for (size_t i = 0; i < sizeof SCENES / sizeof *SCENES; i++) {
    tbWorld w = tb_world_scene(SCENES[i].scene, SCENES[i].key);
    tbError error;
    w.d->qvel[0] += 0.3;
    assert_int_equal(tb_forward(w.m, w.d), TB_OK);
    tbProblem* p = tb_step_problem(w.m, w.d, &error);
    if (!p) fail_msg("%s", error.message);

    // One island of contacts: rows in the order of the contacts.
    int rows = 0;
    for (int c = 0; c < w.d->ncon; c++) rows += w.d->contact[c].dim;
    assert_int_equal(p->n, rows);
    assert_true(rows > 0);
    tbReal* lambda = calloc((size_t)rows, sizeof *lambda);
    tbReal* sigma = calloc((size_t)rows, sizeof *sigma);
    for (int c = 0, r = 0; c < w.d->ncon; c++) {
      for (int k = 0; k < w.d->contact[c].dim; k++) {
        lambda[r++] = w.d->contact[c].force[k] * w.m->opt.timestep;
      }
    }
    assert_int_equal(tb_problem_velocity(p, lambda, sigma, &error), TB_OK);
    tbResidual residual = tb_residual(p, TB_LAW_NCP, lambda, sigma);
    assert_true(residual.relative <= 1.01 * w.m->opt.solve_tolerance);

    // Half the impulses do not solve it.
    for (int r = 0; r < rows; r++) lambda[r] *= 0.5;
    tb_problem_velocity(p, lambda, sigma, &error);
    assert_true(tb_residual(p, TB_LAW_NCP, lambda, sigma).relative > 1e-3);
    free(lambda);
    free(sigma);
    tb_problem_free(p);
    tb_world_free(w);
  }
}

static void several_islands_are_one_problem(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("islands.xml", NULL);
  tbError error;
  tb_world_run(w, 200);
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  tbProblem* p = tb_step_problem(w.m, w.d, &error);
  assert_non_null(p);
  tbReal* lambda = calloc((size_t)p->n + 1, sizeof *lambda);
  tbSolveInfo info;
  assert_int_equal(tb_solve(p, NULL, lambda, NULL, &info, &error), TB_OK);
  assert_int_equal(info.status, TB_SOLVE_CONVERGED);

  // Islands that were joined wrongly would carry each other's loads.
  double normal = 0, expected = 0;
  for (int b = 0; b < p->nblock; b++) {
    if (p->block[b].type == TB_BLOCK_CONE) normal += lambda[p->block[b].row];
  }
  for (int c = 0; c < w.d->ncon; c++) expected += w.d->contact[c].force[0] * w.m->opt.timestep;
  assert_true(expected > 0);
  assert_near(normal, expected, 1e-4 * expected);
  free(lambda);
  tb_problem_free(p);
  tb_world_free(w);
}

static void other_laws_have_none(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("cm_cube.xml", NULL);
  tbError error;
  assert_null(tb_step_problem(w.m, w.d, &error));
  w.m->opt.law = TB_LAW_SOFT;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_null(tb_step_problem(w.m, w.d, &error));
  assert_non_null(strstr(error.message, "rigid law"));
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_steps_impulses_solve_it),
      cmocka_unit_test(several_islands_are_one_problem),
      cmocka_unit_test(other_laws_have_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
