// Messages of refused calls say which object, by its name, and what was expected.
#include <math.h>
#include <string.h>

#include "common/test.h"
#include "common/worlds.h"

static const char CUBE[] =
    "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/>"
    "<body name='cube' pos='0 0 0.0999'><joint name='slide' type='slide' axis='1 0 0'/>"
    "<joint type='slide' axis='0 0 1'/><geom name='ball' size='0.1'/></body></worldbody></mujoco>";

static void assert_says(const char* message, const char* words) {
  if (!strstr(message, words)) fail_msg("no <%s> in <%s>", words, message);
}

static void contacts_and_keyframes_that_do_not_exist(void** state) {
  (void)state;
  tbWorld w = tb_world_text(CUBE);
  tbError error;
  tbReal wrench[6];
  tb_contact_wrench(w.m, w.d, 0, 0, wrench, &error);
  assert_says(error.message, "contact 0 does not exist: there are no contacts");
  tb_world_run(w, 1);
  assert_int_equal(w.d->ncon, 1);
  tb_contact_wrench(w.m, w.d, 77, 0, wrench, &error);
  assert_says(error.message, "contact 77 does not exist: 1 contact (0 to 0)");
  // A message of an earlier failure does not stay.
  w.d->qvel[0] = NAN;
  assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
  assert_int_equal(tb_reset_keyframe(w.m, w.d, -1), TB_ERROR_ARGUMENT);
  assert_string_equal(w.d->message, "no keyframe -1, the model has none");
  tbBatch* b = tb_batch_new(w.m, 2, 1, 0, &error);
  assert_int_equal(tb_batch_reset(b, NULL, 5), TB_ERROR_ARGUMENT);
  assert_says(b->message, "the model has no keyframes (-1: reference pose)");
  tb_batch_free(b);
  tb_world_free(w);
  w = tb_world_scene("sliding_cube.xml", NULL);
  assert_int_equal(tb_reset_keyframe(w.m, w.d, 9), TB_ERROR_ARGUMENT);
  assert_says(w.d->message, "no keyframe 9, the model has 0 to ");
  tb_world_free(w);
}

// Unnamed objects have no empty quotes.
static void numbers_that_are_not_finite(void** state) {
  (void)state;
  tbWorld w = tb_world_text(CUBE);
  w.d->qpos[0] = NAN;
  assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
  assert_says(w.d->message, "qpos 0 (joint 0 'slide' of body 1 'cube') is not finite");
  w.d->qpos[0] = 0;
  w.d->qpos[1] = NAN;
  assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
  assert_says(w.d->message, "qpos 1 (joint 1 of body 1 'cube') is not finite");
  tb_world_free(w);
}

static void values_of_a_model(void** state) {
  (void)state;
  tbWorld w = tb_world_text(CUBE);
  tbError error;
  w.m->body_mass[1] = -1;
  assert_int_equal(tb_set_constants(w.m, &error), TB_ERROR_MODEL);
  assert_string_equal(error.message, "body_mass[1] ('cube') is -1, expected x >= 0");
  w.m->body_mass[1] = 1;
  assert_int_equal(tb_set_constants(w.m, &error), TB_OK);
  tbBatch* b = tb_batch_new(w.m, 2, 1, 0, &error);
  tbReal* friction = tb_batch_expand(b, "geom_friction");
  friction[3] = NAN;
  assert_int_equal(tb_batch_step(b, 1), TB_ERROR_ARGUMENT);
  assert_says(b->message,
              "geom_friction[3] (geom 1 'ball', number 0) is nan, expected a finite x >= 0");
  tb_batch_free(b);
  tb_world_free(w);
}

static void scratch_memory_of_another_kind(void** state) {
  (void)state;
  static const tbReal G[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, g[3] = {-1, 0, 0};
  tbReal mu = 0.5, lambda[3] = {0}, sigma[64] = {0};
  tbBlock block;
  tbError error;
  tb_blocks_contacts(1, &mu, &block);
  tbProblem* problem = tb_problem_create_dense(1, &block, G, NULL, g, &error);
  assert_non_null(problem);
  tbSolveWork* wrong = (tbSolveWork*)(void*)sigma;
  assert_int_equal(tb_solve(problem, NULL, lambda, wrong, NULL, &error), TB_ERROR_ARGUMENT);
  assert_says(error.message, "work is not a tbSolveWork");
  tb_problem_free(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(contacts_and_keyframes_that_do_not_exist),
      cmocka_unit_test(numbers_that_are_not_finite),
      cmocka_unit_test(values_of_a_model),
      cmocka_unit_test(scratch_memory_of_another_kind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
