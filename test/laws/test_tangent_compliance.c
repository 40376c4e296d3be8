// Compliance along the tangents of contacts, R = diag(R_N, R_T, R_T) (ADMM section IV): steps under
// the rigid laws, all solvers, inverse dynamics, derivatives, and springs of the viscoelastic law.
#include <math.h>
#include <string.h>

#include "common/test.h"
#include "common/worlds.h"

static const double G = 9.81, H = 0.002, E = 4e-6;

// A block of 2 kg with E along the tangents of its four contacts, which share a force.
static tbWorld block(const char* more) {
  char xml[1024];
  snprintf(xml, sizeof xml,
           "<mujoco><option timestep='.002'/><worldbody>"
           "<geom name='floor' type='plane' size='5 5 .1' friction='.5 0 0' "
           "tangentcompliance='1e-6'/><body pos='0 0 .1'><freejoint/><geom name='box' type='box' "
           "size='.1 .1 .1' mass='2' friction='.5 0 0' tangentcompliance='3e-6'/></body>"
           "</worldbody>%s</mujoco>",
           more);
  return tb_world_text(xml);
}

static double creep(tbWorld w, double force) {
  w.d->qfrc_applied[0] = force;
  w.d->qfrc_applied[4] = -0.1 * force;  // at the height of the floor
  for (int i = 0; i < 100; i++) {
    assert_int_equal(tb_step(w.m, w.d), TB_OK);
    assert_int_equal(w.d->solve.status, TB_SOLVE_CONVERGED);
  }
  return w.d->qvel[0];
}

// Below Coulomb's limit v = (E / 4) f / h; beyond it the block slides as a rigid one does.
static void friction_creeps_below_its_limit(void** state) {
  (void)state;
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    tbWorld w = block("");
    w.m->opt.law = law;
    assert_near(creep(w, 5), E / 4 * 5 / H, 1e-5 * E * 5 / H);
    tb_reset(w.m, w.d);
    // On the limit the velocity is that of the creep at 0.5 m g, and grows from there.
    double v = creep(w, 0.5 * 2 * G + 1);
    if (law != TB_LAW_CCP) assert_near(v, 100 * H * 0.5, 0.1);
    assert_true(v > 10 * E * 10 / H / 4);
    tb_world_free(w);
  }
  tbWorld pair = block(
      "<contact><pair geom1='floor' geom2='box' tangentcompliance='8e-6' "
      "friction='.5 .5 0 0 0'/></contact>");
  assert_near(creep(pair, 5), 8e-6 / 4 * 5 / H, 1e-5 * 8e-6 * 5 / H);
  tb_world_free(pair);
}

// Every solver of a step finds the same creep, with and without compliance along the normal.
static void solvers_agree(void** state) {
  (void)state;
  static const int SOLVERS[] = {TB_SOLVER_AUTO,   TB_SOLVER_PGS,       TB_SOLVER_ADMM,
                                TB_SOLVER_NEWTON, TB_SOLVER_STAGGERED, TB_SOLVER_PROX_NEWTON,
                                TB_SOLVER_IPM};
  for (int soft = 0; soft < 2; soft++) {
    for (size_t s = 0; s < sizeof SOLVERS / sizeof *SOLVERS; s++) {
      tbWorld w = block("");
      w.m->opt.solver = SOLVERS[s];
      w.m->opt.solve_tolerance = 1e-8;
      w.m->opt.solve_iterations = 20000;
      w.m->geom_compliance[0] = soft ? 1e-6 : 0;
      w.m->geom_contactdamping[0] = soft ? 100 : 0;
      assert_near(creep(w, 5), E / 4 * 5 / H, 1e-4 * E * 5 / H);
      tb_world_free(w);
    }
  }
}

// From a motion to its forces and back: with compliance along all rows the forces are unique.
static void inverse_returns_the_forces(void** state) {
  (void)state;
  tbWorld w = block("");
  w.m->geom_compliance[0] = 1e-6;
  w.m->opt.solve_tolerance = 1e-10;
  creep(w, 5);
  w.d->qfrc_applied[1] = 2;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  tbReal qacc[6], qfrc[6], force[4][3];
  memcpy(qacc, w.d->qacc, sizeof qacc);
  assert_int_equal(w.d->ncon, 4);
  for (int i = 0; i < 4; i++) memcpy(force[i], w.d->contact[i].force, sizeof force[i]);
  tbInverseInfo info;
  tbInverseSettings settings = tbDefaultInverseSettings();
  settings.max_iter = 2000;
  settings.tolerance = 1e-12;
  settings.keep_base = 1;
  assert_int_equal(tb_inverse(w.m, w.d, qacc, &settings, qfrc, &info), TB_OK);
  for (int k = 0; k < 6; k++) assert_near(qfrc[k], w.d->qfrc_applied[k], 1e-4);
  for (int i = 0; i < 4; i++) {
    for (int r = 0; r < 3; r++) assert_near(w.d->contact[i].force[r], force[i][r], 1e-4);
  }
  tb_world_free(w);
}

// A and B of sticking, creeping and sliding states against differences of whole steps.
static void derivatives_agree_with_differences(void** state) {
  (void)state;
  static const double FORCE[] = {2, 6, 14};
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    for (int k = 0; k < 3; k++) {
      tbWorld w = block("");
      w.m->opt.law = law;
      w.m->opt.solve_tolerance = 1e-11;
      w.m->geom_compliance[0] = 1e-5;
      w.m->geom_contactdamping[0] = 200;
      for (int i = 0; i < 300; i++) tb_step(w.m, w.d);
      w.d->qfrc_applied[0] = FORCE[k];
      w.d->qfrc_applied[1] = 0.3 * FORCE[k];
      for (int i = 0; i < 20; i++) assert_int_equal(tb_step(w.m, w.d), TB_OK);
      tbReal A[144], D[144];
      tbDerivativeInfo info;
      tbDerivatives* x = tb_derivatives_new(w.m);
      assert_int_equal(tb_step_linearize(w.m, w.d, NULL, x, &info), TB_OK);
      assert_false(info.finite_differences);
      tb_derivatives_dense(x, A, NULL);
      assert_int_equal(tb_step_differences(w.m, w.d, 1e-6, 1, D, NULL), TB_OK);
      double largest = 0;
      for (int i = 0; i < 144; i++) largest = fmax(largest, fabs(D[i]));
      for (int i = 0; i < 144; i++) assert_near(A[i], D[i], 1e-4 * largest);
      tb_derivatives_free(x);
      tb_world_free(w);
    }
  }
}

// Springs with anchors remember: the block is displaced by E f / 4 and stays there.
static void anchored_springs_do_not_creep(void** state) {
  (void)state;
  tbWorld w = tb_world_springs(block(""), TB_INTEGRATOR_EXPO, 0.002);
  w.m->geom_tangentcompliance[0] = 4e-5 - 3e-6;
  for (int i = 0; i < 1000; i++) assert_int_equal(tb_step(w.m, w.d), TB_OK);
  double before = w.d->qpos[0];
  w.d->qfrc_applied[0] = 5;
  w.d->qfrc_applied[4] = -0.5;
  for (int i = 0; i < 2000; i++) assert_int_equal(tb_step(w.m, w.d), TB_OK);
  assert_near(w.d->qpos[0] - before, 4e-5 / 4 * 5, 2e-7);
  assert_near(w.d->qvel[0], 0, 1e-6);
  tb_world_free(w);
}

static void bad_values_are_refused(void** state) {
  (void)state;
  tbError error;
  assert_null(
      tb_load_string("<mujoco><worldbody><geom size='1' tangentcompliance='-1e-5'/>"
                     "</worldbody></mujoco>",
                     NULL, NULL, &error));
  assert_non_null(strstr(error.message, "tangentcompliance cannot be negative"));
  tbWorld w = block("");
  w.m->geom_tangentcompliance[0] = NAN;
  assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
  assert_non_null(strstr(w.d->message, "tangentcompliance is not finite"));
  w.m->geom_tangentcompliance[0] = -1;
  assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
  assert_non_null(strstr(w.d->message, "tangentcompliance is negative"));
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_creeps_below_its_limit),
      cmocka_unit_test(solvers_agree),
      cmocka_unit_test(inverse_returns_the_forces),
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(anchored_springs_do_not_creep),
      cmocka_unit_test(bad_values_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
