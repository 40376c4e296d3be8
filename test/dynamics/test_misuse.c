// Calls with NULL or with the data of another model: void functions do nothing, others return an
// error.
#include "common/test.h"
#include "tribo/derivatives.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

enum { ROOM = 40000 };

// Models of different sizes with a world each. Outputs are larger than any of them needs; entries
// that a call has not touched are 7.
typedef struct {
  tbModel* m[2];
  tbData* d[2];
  tbReal* out;
  tbReal in[400];
} Worlds;

static void open_worlds(Worlds* w) {
  static const char SMALL[] =
      "<mujoco><worldbody><body name='a' pos='0 0 1'><joint name='j' type='slide' axis='1 0 0'/>"
      "<geom size='0.1' mass='1'/><site name='s'/></body></worldbody>"
      "<actuator><motor joint='j'/></actuator></mujoco>";
  static const char LARGE[] =
      "<mujoco><worldbody><body name='a' pos='0 0 1'><freejoint/><geom size='0.1' mass='1'/>"
      "<body pos='0.3 0 0'><joint name='j' axis='0 1 0'/><geom size='0.1' mass='1'/><site "
      "name='s'/>"
      "<body pos='0.3 0 0'><joint name='k' type='ball'/><geom size='0.1' mass='1'/><site name='t'/>"
      "</body></body></body></worldbody><tendon><fixed><joint joint='j' coef='2'/></fixed>"
      "<spatial armature='0.1'><site site='s'/><site site='t'/></spatial></tendon>"
      "<actuator><motor joint='j'/><motor joint='k'/></actuator></mujoco>";
  tbError error;
  w->m[0] = tb_load_string(SMALL, NULL, NULL, &error);
  if (!w->m[0]) fail_msg("%s", error.message);
  w->m[1] = tb_load_string(LARGE, NULL, NULL, &error);
  if (!w->m[1]) fail_msg("%s", error.message);
  for (int i = 0; i < 2; i++) {
    w->d[i] = tb_data_new(w->m[i]);
    tb_compute_position(w->m[i], w->d[i]);
    tb_compute_velocity(w->m[i], w->d[i]);
  }
  w->out = malloc(ROOM * sizeof *w->out);
  for (int i = 0; i < ROOM; i++) w->out[i] = 7;
  for (int i = 0; i < 400; i++) w->in[i] = 0.1;
}

static void close_worlds(Worlds* w) {
  for (int i = 0; i < 2; i++) {
    tb_data_free(w->d[i]);
    tb_model_free(w->m[i]);
  }
  free(w->out);
}

static void assert_untouched(const Worlds* w, const char* call) {
  for (int i = 0; i < ROOM; i++) {
    if (w->out[i] != 7) fail_msg("%s wrote entry %d", call, i);
  }
}

// A hash of everything that a world holds.
static uint64_t fingerprint(const tbData* d) {
  uint64_t hash = 1469598103934665603u;
  const unsigned char* bytes = d->block;
  for (size_t i = 0; i < d->block_size; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

// Every call of a function of m and d, with outputs in `o` and inputs in `x`.
#define ON_WORLD(X)                                      \
  X(tb_compute_position(m, d))                           \
  X(tb_compute_velocity(m, d))                           \
  X(tb_kinematics(m, d))                                 \
  X(tb_com_position(m, d))                               \
  X(tb_com_velocity(m, d))                               \
  X(tb_subtree_velocity(m, d))                           \
  X(tb_energy_position(m, d))                            \
  X(tb_energy_velocity(m, d))                            \
  X(tb_tendon(m, d))                                     \
  X(tb_transmission(m, d))                               \
  X(tb_crb(m, d))                                        \
  X(tb_body_accelerations(m, d))                         \
  X(tb_body_forces(m, d))                                \
  X(tb_full_moment(m, d, o))                             \
  X(tb_full_ten_J(m, d, o))                              \
  X(tb_full_m(m, d, o))                                  \
  X(tb_mul_m(m, d, o, x))                                \
  X(tb_solve_m(m, d, o, x, 2))                           \
  X(tb_half_solve_m(m, d, o, x, 2))                      \
  X(tb_half_solve_support(m, d, dofs, 1, o, 1, 1))       \
  X(tb_rne(m, d, x, NULL, o))                            \
  X(tb_forward_dynamics(m, d, x, o))                     \
  X(tb_add_wrench(m, d, 1, x, x, x))                     \
  X(tb_add_tendon_wrench(m, d, 0, 1))                    \
  X(tb_apply_wrench(m, d, 1, x, x, x, o))                \
  X(tb_apply_xfrc(m, d, x, o))                           \
  X(tb_object_velocity(m, d, TB_OBJ_BODY, 1, 0, o))      \
  X(tb_object_acceleration(m, d, TB_OBJ_SITE, 0, 1, o))  \
  X(tb_jac(m, d, 1, x, o, o))                            \
  X(tb_jac_body(m, d, 1, o, o))                          \
  X(tb_jac_body_com(m, d, 1, o, o))                      \
  X(tb_jac_geom(m, d, 0, o, o))                          \
  X(tb_jac_site(m, d, 0, o, o))                          \
  X(tb_jac_subtree_com(m, d, 1, o))                      \
  X((void)tb_jac_sparse(m, d, 1, x, o, o, 20))           \
  X((void)tb_jac_pair(m, d, 0, x, 1, x, dofs, o, o, 20)) \
  X(tb_jac_dot(m, d, 1, x, o, o))                        \
  X(tb_jac_dot_v(m, d, 1, x, o, o))                      \
  X(tb_wrench_derivative(m, d, 1, x, x, x, 1, o))        \
  X(tb_jac_derivative(m, d, 1, x, o, o))                 \
  X(tb_velocity_derivative(m, d, 1, x, x, o, o))         \
  X(tb_rne_regressor(m, d, x, o))                        \
  X(tb_reset(m, d))                                      \
  X(tb_state_get(m, d, o))                               \
  X(tb_state_set(m, d, x))                               \
  X((void)tb_data_field(m, d, "qpos", NULL, NULL, NULL))

#define RESULT_OF_WORLD(X)                          \
  X(tb_factor_m(m, d))                              \
  X(tb_aba(m, d, x, NULL, o))                       \
  X(tb_rne_derivatives(m, d, x, NULL, o, o))        \
  X(tb_forward_derivatives(m, d, x, NULL, o, o, o)) \
  X(tb_reset_keyframe(m, d, 0))

static void no_world_of_the_model(void** state) {
  (void)state;
  Worlds w;
  open_worlds(&w);
  tbReal *o = w.out, *x = w.in;
  int dofs[40] = {0};
  for (int k = 0; k < 5; k++) {
    // In both orders of the arguments, and NULL for one or both.
    const tbModel* m = k < 2 ? w.m[k] : k == 2 ? w.m[0] : NULL;
    tbData* d = k < 2 ? w.d[1 - k] : k == 3 ? w.d[0] : NULL;
    uint64_t before[2] = {fingerprint(w.d[0]), fingerprint(w.d[1])};
#define CALL(call) \
  call;            \
  assert_untouched(&w, #call);
    ON_WORLD(CALL)
#undef CALL
#define CALL(call) assert_int_equal(call, TB_ERROR_ARGUMENT);
    RESULT_OF_WORLD(CALL)
#undef CALL
    assert_untouched(&w, "a function with a result");
    assert_null(tb_data_copy(m, d));
    assert_true(before[0] == fingerprint(w.d[0]) && before[1] == fingerprint(w.d[1]));
  }
  close_worlds(&w);
}

// A model whose sizes were changed is no longer the one that its world was made for.
static void sizes_that_changed(void** state) {
  (void)state;
  Worlds w;
  open_worlds(&w);
  tbModel* m = w.m[1];
  tbData* d = w.d[1];
  int* const size[] = {&m->nq, &m->nv, &m->nbody, &m->njnt, &m->nM, &m->nu};
  for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
    int before = *size[k];
    *size[k] = 1000;
    uint64_t held = fingerprint(d);
    tb_compute_position(m, d);
    tb_kinematics(m, d);
    tb_crb(m, d);
    tb_rne(m, d, NULL, NULL, w.out);
    tb_full_m(m, d, w.out);
    tb_jac_dot(m, d, 1, w.in, w.out, w.out);
    tb_rne_regressor(m, d, NULL, w.out);
    tb_reset(m, d);
    tb_state_get(m, d, w.out);
    assert_int_equal(tb_aba(m, d, w.in, NULL, w.out), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_rne_derivatives(m, d, NULL, NULL, w.out, w.out), TB_ERROR_ARGUMENT);
    assert_untouched(&w, "a model of other sizes");
    assert_true(held == fingerprint(d));
    *size[k] = before;
  }
  close_worlds(&w);
}

// Calls with a valid world, but without room for the result or without an argument.
static void null_arguments(void** state) {
  (void)state;
  Worlds w;
  open_worlds(&w);
  for (int k = 0; k < 2; k++) {
    const tbModel* m = w.m[k];
    tbData* d = w.d[k];
    tbReal *o = NULL, *x = NULL;
    int* dofs = NULL;
#define CALL(call) call;
    ON_WORLD(CALL)
    // NULL accelerations and forces stand for zero.
    assert_int_equal(tb_rne_derivatives(m, d, x, NULL, o, o), k ? TB_ERROR_UNSUPPORTED : TB_OK);
    assert_int_equal(tb_aba(m, d, w.in, NULL, NULL), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_aba(m, d, NULL, NULL, w.out), TB_ERROR_ARGUMENT);
    x = w.in;
    tb_mul_m(m, d, o, x);
    tb_solve_m(m, d, o, x, 1);
    tb_solve_m(m, d, w.out, x, -1);
    tb_half_solve_m(m, d, w.out, x, -1);
    assert_untouched(&w, "no rows");
    // Rows that are too short get nothing, but say how long they should be.
    dofs = malloc(40 * sizeof *dofs);
    int n = tb_jac_sparse(m, d, 1, x, w.out, w.out, 0);
    assert_int_equal(n, k ? 6 : 1);
    assert_int_equal(tb_jac_pair(m, d, 0, x, 1, x, dofs, w.out, w.out, n - 1), n);
    assert_untouched(&w, "short rows");
    free(dofs);
  }
  tbReal q[7] = {0};
  assert_int_equal(tb_chain(NULL, 1, NULL), 0);
  assert_int_equal(tb_chain(w.m[0], 1, NULL), 0);
  tb_integrate_pos(NULL, q, q, 1);
  tb_integrate_pos(w.m[0], NULL, q, 1);
  tb_integrate_pos(w.m[0], q, NULL, 1);
  tb_differentiate_pos(NULL, q, 1, q, q);
  tb_differentiate_pos(w.m[0], NULL, 1, q, q);
  tb_differentiate_pos(w.m[0], q, 1, NULL, q);
  tb_differentiate_pos(w.m[0], q, 1, q, NULL);
  tb_normalize_quat(NULL, q);
  tb_normalize_quat(w.m[1], NULL);
  tb_inertial_get(NULL, 1, w.out);
  tb_inertial_get(w.m[0], 1, NULL);
  assert_int_equal(tb_inertial_set(NULL, 1, w.in), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_inertial_set(w.m[0], 1, NULL), TB_ERROR_ARGUMENT);
  tbError error = {TB_OK, "OLD"};
  assert_int_equal(tb_set_constants(NULL, &error), TB_ERROR_ARGUMENT);
  assert_string_not_equal(error.message, "OLD");
  close_worlds(&w);
}

// A quaternion of length zero counts as the identity, and is a rotation after a step.
static void zero_quaternions(void** state) {
  (void)state;
  tbModel* m = tb_load_string(
      "<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom type='box' size='0.1 0.2 0.3'/>"
      "</body></worldbody></mujoco>",
      NULL, NULL, NULL);
  tbData *zero = tb_data_new(m), *one = tb_data_new(m);
  memset(zero->qpos + 3, 0, 4 * sizeof(tbReal));
  zero->qvel[3] = one->qvel[3] = 1;
  assert_int_equal(tb_forward(m, zero), TB_OK);
  assert_int_equal(tb_forward(m, one), TB_OK);
  assert_memory_equal(zero->xquat + 4, one->xquat + 4, 4 * sizeof(tbReal));
  assert_memory_equal(zero->qacc, one->qacc, 6 * sizeof(tbReal));
  assert_int_equal(tb_step(m, zero), TB_OK);
  const tbReal* q = zero->qpos + 3;
  assert_near(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-15);
  tb_data_free(zero);
  tb_data_free(one);
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_world_of_the_model), cmocka_unit_test(sizes_that_changed),
      cmocka_unit_test(null_arguments), cmocka_unit_test(zero_quaternions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
