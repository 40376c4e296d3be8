// Derivatives, inverse dynamics and snapshots with NULL or with things of another model: an error
// with its reason, and nothing changes.
#include "common/test.h"
#include "tribo/derivatives.h"
#include "tribo/inverse.h"
#include "tribo/step.h"

typedef struct {
  tbModel* m[2];
  tbData* d[2];
  tbDerivatives* x[2];
  tbReal* out;
} Worlds;

static void open_worlds(Worlds* w) {
  // The same numbers of dofs and controls, so that only other sizes tell them apart.
  static const char* const XML[2] = {
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.09'><freejoint/>"
      "<geom size='0.1' mass='1'/></body></worldbody></mujoco>",
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.09'>"
      "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"
      "<joint type='slide' axis='0 0 1'/><joint type='ball'/><geom size='0.1' mass='1'/>"
      "<body><geom size='0.1' mass='1'/><body><geom size='0.1' mass='1'/></body></body></body>"
      "</worldbody></mujoco>"};
  tbError error;
  for (int i = 0; i < 2; i++) {
    w->m[i] = tb_load_string(XML[i], NULL, NULL, &error);
    if (!w->m[i]) fail_msg("%s", error.message);
    w->d[i] = tb_data_new(w->m[i]);
    w->x[i] = tb_derivatives_new(w->m[i]);
    assert_int_equal(w->m[i]->nv, 6);
  }
  w->out = calloc(2000, sizeof(tbReal));
}

static void close_worlds(Worlds* w) {
  for (int i = 0; i < 2; i++) {
    tb_derivatives_free(w->x[i]);
    tb_data_free(w->d[i]);
    tb_model_free(w->m[i]);
  }
  free(w->out);
}

static void stale(tbData* d) {
  strcpy(d->message, "OLD");
}

static void assert_says(const tbData* d, const char* part) {
  assert_int_equal(d->status, TB_ERROR_ARGUMENT);
  if (!strstr(d->message, part)) fail_msg("\"%s\" does not say \"%s\"", d->message, part);
}

static void derivatives(void** state) {
  (void)state;
  Worlds w;
  open_worlds(&w);
  for (int i = 0; i < 2; i++) {
    const tbModel* m = w.m[i];
    tbData *d = w.d[i], *other = w.d[1 - i];
    assert_int_equal(tb_step_linearize(m, d, NULL, w.x[i], NULL), TB_OK);
    stale(other);
    assert_int_equal(tb_step_linearize(m, other, NULL, w.x[i], NULL), TB_ERROR_ARGUMENT);
    assert_says(other, "another model");
    // A failure restores the state.
    assert_int_equal(tb_derivatives_inertial(w.x[i], m, d, 1, w.out), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_step_linearize(m, d, NULL, w.x[i], NULL), TB_OK);
    assert_int_equal(tb_derivatives_inertial(w.x[i], m, d, 1, w.out), TB_OK);
    assert_int_equal(tb_derivatives_inertial(w.x[i], m, other, 1, w.out), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_derivatives_inertial(w.x[i], w.m[1 - i], other, 1, w.out),
                     TB_ERROR_ARGUMENT);
    assert_int_equal(tb_derivatives_inertial(w.x[i], w.m[1 - i], d, 1, w.out), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_derivatives_inertial(w.x[i], NULL, d, 1, w.out), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_derivatives_inertial(w.x[i], m, NULL, 1, w.out), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_derivatives_inertial(w.x[i], m, d, 1, NULL), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_derivatives_inertial(NULL, m, d, 1, w.out), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_derivatives_friction(w.x[i], 0, NULL), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_derivatives_friction(NULL, 0, w.out), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_derivatives_acceleration(NULL, w.out, w.out, w.out), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_derivatives_acceleration(w.x[i], NULL, NULL, NULL), TB_OK);
    tb_derivatives_dense(NULL, w.out, w.out);
    tb_derivatives_dense(w.x[i], NULL, NULL);
    tb_derivatives_apply(NULL, w.out, w.out, w.out);
    tb_derivatives_apply(w.x[i], NULL, NULL, NULL);
    tb_derivatives_apply_transposed(NULL, w.out, w.out, w.out, w.out, w.out);
    tb_derivatives_apply_transposed(w.x[i], NULL, w.out, w.out, w.out, w.out);
    tb_derivatives_apply_transposed(w.x[i], w.out, NULL, NULL, NULL, NULL);
    tb_derivatives_force(NULL, w.out, w.out);
    tb_derivatives_force(w.x[i], NULL, w.out);
    tb_derivatives_force(w.x[i], w.out, NULL);
  }
  close_worlds(&w);
}

static void settings_of_derivatives(void** state) {
  (void)state;
  Worlds w;
  open_worlds(&w);
  tbDerivativeSettings settings = tbDefaultDerivativeSettings();
  settings.relaxation = -1;
  stale(w.d[0]);
  assert_int_equal(tb_step_linearize(w.m[0], w.d[0], &settings, w.x[0], NULL), TB_ERROR_ARGUMENT);
  assert_says(w.d[0], "settings");
  stale(w.d[0]);
  assert_int_equal(tb_step_differences(w.m[0], w.d[0], -1, 1, w.out, NULL), TB_ERROR_ARGUMENT);
  assert_says(w.d[0], "eps");
  assert_int_equal(tb_step_differences(w.m[0], w.d[1], 1e-6, 1, w.out, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_step_differences(NULL, w.d[1], 1e-6, 1, w.out, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_step_differences(w.m[0], NULL, 1e-6, 1, w.out, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_step_linearize(NULL, w.d[0], NULL, w.x[0], NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_step_linearize(w.m[0], NULL, NULL, w.x[0], NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_step_linearize(w.m[0], w.d[0], NULL, NULL, NULL), TB_ERROR_ARGUMENT);
  assert_null(tb_derivatives_new(NULL));
  tb_derivatives_free(NULL);
  close_worlds(&w);
}

static void inverse(void** state) {
  (void)state;
  Worlds w;
  open_worlds(&w);
  tbReal force[6];
  for (int i = 0; i < 2; i++) {
    tbData *d = w.d[i], *other = w.d[1 - i];
    stale(other);
    assert_int_equal(tb_inverse(w.m[i], other, other->qacc, NULL, force, NULL), TB_ERROR_ARGUMENT);
    assert_says(other, "another model");
    stale(d);
    assert_int_equal(tb_inverse(w.m[i], d, NULL, NULL, force, NULL), TB_ERROR_ARGUMENT);
    assert_says(d, "qacc");
    stale(d);
    assert_int_equal(tb_inverse(w.m[i], d, d->qacc, NULL, NULL, NULL), TB_ERROR_ARGUMENT);
    assert_says(d, "qfrc");
    assert_int_equal(tb_inverse(NULL, d, d->qacc, NULL, force, NULL), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_inverse(w.m[i], NULL, d->qacc, NULL, force, NULL), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_inverse(w.m[i], d, d->qacc, NULL, force, NULL), TB_OK);
  }
  close_worlds(&w);
}

static void worlds_of_another_model(void** state) {
  (void)state;
  Worlds w;
  open_worlds(&w);
  tbError error;
  for (int i = 0; i < 2; i++) {
    const tbModel* m = w.m[i];
    tbData* other = w.d[1 - i];
    assert_int_equal(tb_forward(w.m[1 - i], other), TB_OK);
    stale(other);
    assert_int_equal(tb_step(m, other), TB_ERROR_ARGUMENT);
    assert_says(other, "another model");
    assert_int_equal(tb_step1(m, other), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_forward(m, other), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_forward(w.m[1 - i], other), TB_OK);
    error = (tbError){TB_OK, "OLD"};
    assert_null(tb_step_problem(m, other, &error));
    assert_non_null(strstr(error.message, "of that model"));
    assert_int_equal(tb_snapshot_size(m, other), 0);
    assert_int_equal(tb_step_memory(m, other), 0);
    assert_int_equal(tb_tree_asleep(m, other, 0), 0);
    assert_int_equal(tb_snapshot_save(m, other, w.out, 100), TB_ERROR_ARGUMENT);
    error = (tbError){TB_OK, "OLD"};
    assert_int_equal(tb_snapshot_load(m, other, w.out, 100, &error), TB_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "another model"));
  }
  close_worlds(&w);
}

// Sizes of a model that were changed under a world.
static void sizes_that_changed(void** state) {
  (void)state;
  Worlds w;
  open_worlds(&w);
  int* const size[] = {&w.m[0]->nq, &w.m[0]->nv, &w.m[0]->nbody, &w.m[0]->njnt, &w.m[0]->nu};
  assert_int_equal(tb_step(w.m[0], w.d[0]), TB_OK);
  for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
    ++*size[k];
    stale(w.d[0]);
    assert_int_equal(tb_step(w.m[0], w.d[0]), TB_ERROR_ARGUMENT);
    assert_says(w.d[0], "another model");
    assert_int_equal(tb_inverse(w.m[0], w.d[0], w.out, NULL, w.out, NULL), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_step_linearize(w.m[0], w.d[0], NULL, w.x[0], NULL), TB_ERROR_ARGUMENT);
    --*size[k];
  }
  assert_int_equal(tb_step(w.m[0], w.d[0]), TB_OK);
  close_worlds(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives),
      cmocka_unit_test(settings_of_derivatives),
      cmocka_unit_test(inverse),
      cmocka_unit_test(worlds_of_another_model),
      cmocka_unit_test(sizes_that_changed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
