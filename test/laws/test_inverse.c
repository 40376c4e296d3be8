// Inverse dynamics with contacts: round trips with the forward step, impossible motions.
#include "common/robots.h"
#include "common/test.h"
#include "tribo/tribo.h"

static tbModel* load(const char* bodies, tbReal friction) {
  char xml[4096];
  tbError error;
  snprintf(xml, sizeof xml,
           "<mujoco><option timestep='0.004' cone='elliptic'/><default><geom friction='%g 0.01 "
           "0.01'/></default><worldbody><geom type='plane' size='5 5 1'/>%s</worldbody></mujoco>",
           friction, bodies);
  tbModel* m = tb_load_string(xml, NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  m->opt.solve_tolerance = 1e-13;
  m->opt.warmstart = 0;
  return m;
}

static const char SPHERE[] =
    "<body pos='0 0 0.0998'><freejoint/><geom type='sphere' size='0.1' mass='2'/></body>";
static const char BOX[] =
    "<body pos='0 0 0.0999'><freejoint/><geom type='box' size='.2 .1 .1' mass='2'/></body>";
static const char RESTING[] =
    "<body pos='0 0 0.099995'><freejoint/><geom type='sphere' size='0.1' mass='2'/></body>";
// Two links of a driven arm over the floor, its tip pressed on it.
static const char ARM[] =
    "<body pos='0 0 0.5'><joint type='hinge' axis='0 1 0' damping='0.2'/><joint type='hinge' "
    "axis='0 0 1'/><geom type='capsule' size='.03' fromto='0 0 0 .4 0 -.2'/><body pos='.4 0 "
    "-.2'><joint type='hinge' axis='0 1 0' frictionloss='0.1'/><geom type='capsule' size='.03' "
    "fromto='0 0 0 .3 0 -.270005'/></body></body>";

// qfrc_applied + actuators of a forward step come back from its qacc.
static void round_trip(tbModel* m, tbData* d, tbReal tolerance, bool unique) {
  tbReal *tau = calloc((size_t)(3 * m->nv), sizeof(tbReal)), *qacc = tau + m->nv;
  tbReal* qfrc = qacc + m->nv;
  assert_int_equal(tb_forward(m, d), TB_OK);
  memcpy(qacc, d->qacc, sizeof(tbReal) * (size_t)m->nv);
  for (int i = 0; i < m->nv; i++) tau[i] = d->qfrc_applied[i] + d->qfrc_actuator[i];
  tb_apply_xfrc(m, d, d->xfrc_applied, tau);
  tbInverseInfo info;
  assert_int_equal(tb_inverse(m, d, qacc, NULL, qfrc, &info), TB_OK);
  if (unique) {
    assert_near_array(qfrc, tau, m->nv, tolerance);
    return free(tau);
  }
  // Not unique: the forces found make the same motion.
  if (!info.feasible) fail_msg("%s", info.reason);
  memcpy(d->qfrc_applied, qfrc, sizeof(tbReal) * (size_t)m->nv);
  memset(d->xfrc_applied, 0, sizeof(tbReal) * 6 * (size_t)m->nbody);
  memset(d->ctrl, 0, sizeof(tbReal) * (size_t)m->nu);
  int flags = m->opt.disableflags;
  m->opt.disableflags |= TB_DISABLE_ACTUATION;
  assert_int_equal(tb_forward(m, d), TB_OK);
  m->opt.disableflags = flags;
  assert_near_array(d->qacc, qacc, m->nv, tolerance);
  free(tau);
}

static void test_free_bodies(void** state) {
  (void)state;
  tbRng rng = {3};
  const char* bodies[] = {SPHERE, BOX};
  for (int trial = 0; trial < 120; trial++) {
    tbModel* m = load(bodies[trial % 2], trial / 20 % 2 ? 0.9 : 0.2);
    m->opt.law = trial % 4 < 2 ? TB_LAW_NCP : TB_LAW_SOFT;
    tbData* d = tb_data_new(m);
    // Forces on undriven bodies are known, not sought: a motion that only contacts can explain.
    for (int i = 0; i < m->nv; i++) d->qvel[i] = 0.3 * tb_rng_normal(&rng);
    // The error of the round trip is small relative to the forces.
    assert_int_equal(tb_forward(m, d), TB_OK);
    tbReal force = 1;
    for (int i = 0; i < m->nv; i++) force = fmax(force, fabs(d->qfrc_constraint[i]));
    round_trip(m, d, 1e-7 * force, true);
    tb_data_free(d);
    tb_model_free(m);
  }
}

static void test_arm(void** state) {
  (void)state;
  tbRng rng = {5};
  for (int trial = 0; trial < 30; trial++) {
    tbModel* m = load(ARM, 0.5);
    tbData* d = tb_data_new(m);
    for (int i = 0; i < m->nv; i++) {
      d->qvel[i] = 0.2 * tb_rng_normal(&rng);
      d->qfrc_applied[i] = 3 * tb_rng_normal(&rng);
    }
    round_trip(m, d, 1e-6, false);
    m->opt.law = TB_LAW_SOFT;
    round_trip(m, d, 1e-7, true);
    tb_data_free(d);
    tb_model_free(m);
  }
}

// A guess of the contact force is kept as far as the law allows: the tip rests, any push fits.
static void test_guess(void** state) {
  (void)state;
  tbModel* m = load(ARM, 0.5);
  tbData* d = tb_data_new(m);
  tbReal qfrc[3], pushed[3];
  assert_int_equal(tb_inverse(m, d, d->qacc, NULL, qfrc, NULL), TB_OK);
  assert_true(d->ncon > 0);
  int rows = 0;
  for (int i = 0; i < d->ncon; i++)
    rows = rows > d->contact[i].row + 3 ? rows : d->contact[i].row + 3;
  tbReal* guess = calloc((size_t)rows + 8, sizeof(tbReal));
  guess[d->contact[0].row] = 40;
  tbInverseSettings settings = tbDefaultInverseSettings();
  settings.guess = guess;
  tbInverseInfo info;
  assert_int_equal(tb_inverse(m, d, d->qacc, &settings, pushed, &info), TB_OK);
  print_message("%s normal force %g\n", info.reason, d->contact[0].force[0]);
  assert_near(d->contact[0].force[0], 40, 1e-6);
  assert_true(fabs(pushed[0] - qfrc[0]) > 1);
  free(guess);
  tb_data_free(d);
  tb_model_free(m);
}

static void test_infeasible(void** state) {
  (void)state;
  tbModel* m = load(RESTING, 0.5);
  tbData* d = tb_data_new(m);
  tbReal qacc[6] = {0, 0, -500, 0, 0, 0}, qfrc[6];
  tbInverseInfo info;
  // Into the floor.
  assert_int_equal(tb_inverse(m, d, qacc, NULL, qfrc, &info), TB_OK);
  assert_false(info.feasible);
  assert_true(info.velocity_residual > 0.5 && info.worst_constraint == 0);
  for (int i = 0; i < 6; i++) assert_true(isfinite(qfrc[i]));
  // Up without anything that lifts.
  qacc[2] = 30;
  assert_int_equal(tb_inverse(m, d, qacc, NULL, qfrc, &info), TB_OK);
  assert_false(info.feasible);
  assert_int_equal(info.worst_dof, 2);
  assert_near(info.base_residual, 2 * (30 + 9.81), 1e-9);
  qacc[0] = NAN;
  assert_int_equal(tb_inverse(m, d, qacc, NULL, qfrc, &info), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(d->message, "finite accelerations"));
  qacc[0] = 0;
  for (int k = 0; k < 4; k++) {
    tbInverseSettings settings = tbDefaultInverseSettings();
    *(k < 2 ? &settings.proximal : &settings.tolerance) = k % 2 ? NAN : k ? -1 : INFINITY;
    assert_int_equal(tb_inverse(m, d, qacc, &settings, qfrc, &info), TB_ERROR_ARGUMENT);
  }
  tb_data_free(d);
  tb_model_free(m);
}

// Robots on their floors: the motors that a step had come back (soft: unique), or make the same
// motion.
// Some contact is between bodies that weigh nothing by MuJoCo's estimate: with a compliance of
// 1e-15 its force is below the rounding of the acceleration, and not to be found from it.
static bool has_rigid_contact(const tbModel* m, const tbData* d) {
  for (int k = 0; k < d->ncon; k++) {
    const int* geom = d->contact[k].geom;
    tbReal weight = m->body_invweight0[2 * m->geom_bodyid[geom[0]]] +
                    m->body_invweight0[2 * m->geom_bodyid[geom[1]]];
    if (weight < 1e-9) return true;
  }
  return false;
}

static void test_robots(void** state) {
  (void)state;
  int count = 0, unsolved = 0;
  for (int i = 0; i < TB_TEST_ROBOT_COUNT; i++) {
    tbModel* m = tb_test_robot(i);
    if (!m) continue;
    tbData* d = tb_data_new(m);
    tbRng rng = {(uint64_t)i + 1};
    m->opt.law = TB_LAW_SOFT;
    if (m->nkey > 0) tb_reset_keyframe(m, d, 0);
    for (int s = 0; s < 50; s++) tb_step(m, d);
    for (int k = 0; k < m->nv; k++) d->qfrc_applied[k] = tb_rng_normal(&rng);
    m->opt.tolerance = 1e-14;
    m->opt.iterations = 1000;
    // A forward step that did not converge has no inverse to compare with.
    assert_int_equal(tb_forward(m, d), TB_OK);
    bool solved = d->solve.status == TB_SOLVE_CONVERGED || d->solve.residual.relative < 1e-8;
    solved = solved && !has_rigid_contact(m, d);
    // Contact forces of overlapping starts are a million times larger than the recovered force.
    if (solved) round_trip(m, d, 1e-5, true);
    if (!solved) print_message("%s: the soft step has no inverse\n", tb_test_robot_name(i));
    tb_data_free(d);
    tb_model_free(m);
    unsolved += !solved;
    count++;
  }
  if (count == 0) skip();
  assert_true(10 * unsolved <= count);
}

// ---- every robot under the rigid laws -----------------------------------------------------------

static int trips_failed, other_motions;

typedef struct {
  const char* name;
  int law;
  tbReal compliance;
} Contact;

// The largest change of a velocity within the step, over the largest velocity.
static tbReal motion_error(const tbModel* m, const tbData* d, const tbReal* qacc) {
  tbReal h = m->opt.timestep, error = 0, scale = 1;
  for (int i = 0; i < m->nv; i++) {
    error = fmax(error, h * fabs(d->qacc[i] - qacc[i]));
    scale = fmax(scale, fabs(d->qvel[i] + h * qacc[i]));
  }
  return error / scale;
}

// A robot on its floor, with random motor torques: inverse(forward) reports a motion that contacts
// allow and motors can make, and a forward step with the recovered torques gives the same motion. 0
// if the forward step did not converge.
static int robot_trip(tbModel* m, int index, int draw, const Contact* contact) {
  tbData* d = tb_data_new(m);
  tbRng rng = {(uint64_t)(index + 1 + 100 * draw)};
  m->opt.law = contact->law;
  for (int g = 0; g < m->ngeom && contact->compliance > 0; g++) {
    m->geom_compliance[g] = contact->compliance;
    m->geom_contactdamping[g] = 10;
  }
  if (m->nkey > 0) tb_reset_keyframe(m, d, 0);
  for (int k = 0; k < m->nu; k++) d->ctrl[k] += 0.01 * tb_rng_normal(&rng);
  for (int s = 0; s < 30; s++) tb_step(m, d);
  m->opt.solve_tolerance = 1e-12;
  m->opt.warmstart = 0;
  tbReal *qacc = calloc((size_t)(2 * m->nv), sizeof(tbReal)), *qfrc = qacc + m->nv;
  assert_int_equal(tb_forward(m, d), TB_OK);
  int solved = d->solve.status == TB_SOLVE_CONVERGED;
  memcpy(qacc, d->qacc, sizeof(tbReal) * (size_t)m->nv);
  tbInverseInfo info;
  assert_int_equal(tb_inverse(m, d, qacc, NULL, qfrc, &info), TB_OK);
  for (int i = 0; i < m->nv; i++) assert_true(isfinite(qfrc[i]));
  tb_forward(m, d);
  for (int i = 0; i < m->nv; i++) d->qfrc_applied[i] = qfrc[i] - d->qfrc_actuator[i];
  assert_int_equal(tb_forward(m, d), TB_OK);
  tbReal error = motion_error(m, d, qacc);
  // Normal forces are held by a penalty while the base is balanced: most motions come back to
  // rounding, those of a robot with many contacts to 1e-5.
  bool same = error < 1e-4;
  // Where more contacts than dofs wedge a robot in, these forces may move it in more than one way:
  // the first motion and the last both obey the law under them, then, and differ little.
  bool wedged = d->ncon > m->nv;
  bool obeys = info.residual.relative < 1e-8 && d->solve.status == TB_SOLVE_CONVERGED;
  if (solved && info.feasible && !same && wedged && obeys && error < 1e-2) {
    other_motions++;
    print_message("%s %s: another motion, %g off\n", contact->name, tb_test_robot_name(index),
                  error);
  } else if (solved && (!info.feasible || !same)) {
    trips_failed++;
    print_message("%s %s: %s; the motion differs by %g\n", contact->name, tb_test_robot_name(index),
                  info.feasible ? "feasible" : info.reason, error);
  }
  free(qacc);
  tb_data_free(d);
  return solved;
}

static void test_rigid_robots(void** state) {
  (void)state;
  enum { KINDS = 3, DRAWS = 3 };
  static const Contact CONTACTS[KINDS] = {
      {"ncp", TB_LAW_NCP, 0}, {"ccp", TB_LAW_CCP, 0}, {"compliant", TB_LAW_NCP, 1e-5}};
  int count = 0, solved[KINDS] = {0};
  for (int i = 0; i < TB_TEST_ROBOT_COUNT; i++) {
    tbModel* robot = tb_test_robot(i);
    if (!robot) continue;
    count += DRAWS;
    for (int k = 0; k < KINDS * DRAWS; k++) {
      tbModel* m = tb_model_copy(robot);
      solved[k % KINDS] += robot_trip(m, i, k / KINDS, &CONTACTS[k % KINDS]);
      tb_model_free(m);
    }
    tb_model_free(robot);
  }
  if (count == 0) skip();
  for (int k = 0; k < KINDS; k++) {
    print_message("%s: %d of %d motions of robots\n", CONTACTS[k].name, solved[k], count);
    assert_true(10 * solved[k] >= 9 * count);
  }
  assert_int_equal(trips_failed, 0);
  // Two robots at most.
  assert_true(other_motions <= 2 * KINDS * DRAWS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_free_bodies), cmocka_unit_test(test_arm),
      cmocka_unit_test(test_guess),       cmocka_unit_test(test_infeasible),
      cmocka_unit_test(test_robots),      cmocka_unit_test(test_rigid_robots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
