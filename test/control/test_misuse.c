// Controllers with NULL or with things of another model: an error with its reason, or nothing done.
#include "common/test.h"
#include "tribo/control.h"

static tbModel* load(int bodies) {
  char xml[2000], *at = xml;
  at += sprintf(at, "<mujoco><worldbody>");
  for (int i = 0; i < bodies; i++) {
    at += sprintf(at, "<body pos='0.3 0 0'><joint axis='0 1 0'/><geom size='0.1' mass='1'/>");
  }
  for (int i = 0; i < bodies; i++) at += sprintf(at, "</body>");
  sprintf(at, "</worldbody></mujoco>");
  tbError error;
  tbModel* m = tb_load_string(xml, NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  return m;
}

static void stale(tbError* error) {
  error->code = TB_OK;
  strcpy(error->message, "OLD");
}

static void assert_says(const tbError* error, const char* part) {
  assert_int_equal(error->code, TB_ERROR_ARGUMENT);
  if (!strstr(error->message, part)) fail_msg("\"%s\" does not say \"%s\"", error->message, part);
}

static void inverse_dynamics(void** state) {
  (void)state;
  tbModel* m[2] = {load(1), load(6)};
  tbData* d[2] = {tb_data_new(m[0]), tb_data_new(m[1])};
  tbReal tau[6], qpos[6] = {0};
  tbTask task = {.type = TB_TASK_POSTURE, .weight = 1, .kp = 1, .kd = 1, .qpos = qpos};
  tbInverseDynamics k = {.task = &task, .ntask = 1, .force_weight = 1e-3};
  tbError error;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tb_inverse_dynamics_control(m[i], d[i], &k, tau, NULL, NULL, NULL, NULL, NULL),
                     TB_OK);
    stale(&error);
    assert_int_equal(
        tb_inverse_dynamics_control(m[i], d[1 - i], &k, tau, NULL, NULL, NULL, NULL, &error),
        TB_ERROR_ARGUMENT);
    assert_says(&error, "another model");
  }
  // Lists that are not there.
  for (int i = 0; i < 4; i++) {
    tbInverseDynamics bad = {.force_weight = 1};
    if (i < 2) bad.ntask = i ? 1 : -1;
    if (i >= 2) bad.nsupport = i > 2 ? 1 : -1;
    stale(&error);
    assert_int_equal(
        tb_inverse_dynamics_control(m[0], d[0], &bad, tau, NULL, NULL, NULL, NULL, &error),
        TB_ERROR_ARGUMENT);
    assert_says(&error, "supports");
  }
  for (int i = 0; i < 4; i++) {
    stale(&error);
    assert_int_equal(
        tb_inverse_dynamics_control(i == 0 ? NULL : m[0], i == 1 ? NULL : d[0], i == 2 ? NULL : &k,
                                    i == 3 ? NULL : tau, NULL, NULL, NULL, NULL, &error),
        TB_ERROR_ARGUMENT);
    assert_says(&error, "NULL");
  }
  for (int i = 0; i < 2; i++) {
    tb_data_free(d[i]);
    tb_model_free(m[i]);
  }
}

static void programs(void** state) {
  (void)state;
  const tbReal H[4] = {2, 0, 0, 2}, c[2] = {-2, -4};
  tbReal x[2];
  tbError error;
  tbQp qp = {.n = 2, .H = H, .c = c};
  assert_int_equal(tb_qp_solve(&qp, 1e-9, x, NULL, NULL, NULL, &error), TB_OK);
  assert_near(x[1], 2, 1e-12);
  stale(&error);
  assert_int_equal(tb_qp_solve(&qp, 1e-9, NULL, NULL, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  assert_says(&error, "x is NULL");
  stale(&error);
  assert_int_equal(tb_qp_solve(NULL, 1e-9, x, NULL, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  assert_says(&error, "unknowns");
  stale(&error);
  assert_int_equal(tb_qp_solve(&qp, NAN, x, NULL, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  assert_says(&error, "tolerance");
  // Sizes whose square does not fit.
  qp.n = 70000;
  stale(&error);
  assert_int_equal(tb_qp_solve(&qp, 1e-9, x, NULL, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  assert_says(&error, "70000 unknowns");
  tb_control_work_free(NULL);
  assert_int_equal(tb_control_work_allocations(NULL), 0);
}

static void feedback(void** state) {
  (void)state;
  tbModel* m = load(1);
  tbData* d = tb_data_new(m);
  tbReal q[8] = {0}, v[8] = {0};
  tbError error;
  for (int i = 0; i < 4; i++) {
    stale(&error);
    assert_null(tb_feedback_load(i == 0 ? NULL : m, i == 1 ? NULL : "a", i == 2 ? NULL : "b",
                                 i == 3 ? NULL : "c", 0.1, 0, NULL, &error));
    assert_says(&error, "NULL");
  }
  stale(&error);
  assert_null(tb_feedback_load(m, "a", "b", "c", 0, 0, NULL, &error));
  assert_says(&error, "dt");
  tb_feedback_reference(m, NULL, 0, q, v);
  tb_feedback_reference(NULL, NULL, 0, q, v);
  tb_feedback_control(m, d, NULL, 0, q);
  tb_feedback_free(NULL);
  assert_int_equal(tb_feedback_count(NULL), 0);
  tb_data_free(d);
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(inverse_dynamics), cmocka_unit_test(programs),
                                     cmocka_unit_test(feedback)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
