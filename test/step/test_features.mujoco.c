// Passive forces, actuators, tendons, equalities and sensors against MuJoCo: at random states, and
// over 200 steps of the soft law.
#include <mujoco/mujoco.h>
#include <unistd.h>

#include "common/test.h"
#include "step/features.h"
#include "tribo/tribo.h"

typedef struct {
  mjModel* mj;
  mjData* mjd;
  tbModel* m;
  tbData* d;
} Twins;

static Twins load(const char* xml, const char* theirs) {
  char path[1024], reason[1000] = "";
  snprintf(path, sizeof path, "%s/features-%d.xml", TB_BUILD_DIR, (int)getpid());
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(theirs, file);
  fclose(file);
  tbError error;
  Twins t = {.mj = mj_loadXML(path, NULL, reason, sizeof reason),
             .m = tb_load_string(xml, NULL, NULL, &error)};
  remove(path);
  if (!t.mj) fail_msg("MuJoCo: %s", reason);
  if (!t.m) fail_msg("%s", error.message);
  t.mj->opt.iterations = t.m->opt.iterations = 200;
  t.mj->opt.tolerance = 1e-15;
  t.m->opt.law = TB_LAW_SOFT;
  // Connect equalities are switched off: their reference acceleration includes dJ/dt v in Tribo and
  // in MuJoCo 3.x, but not in MuJoCo 2.2.2. test_newest.c compares them.
  for (int i = 0; i < t.m->neq; i++) {
    if (t.mj->eq_type[i] == mjEQ_CONNECT) t.mj->eq_active[i] = t.m->eq_active0[i] = 0;
  }
  t.mjd = mj_makeData(t.mj);
  t.d = tb_data_new(t.m);
  assert_int_equal(t.mj->nv, t.m->nv);
  assert_int_equal(t.mj->nsensordata, t.m->nsensordata);
  assert_int_equal(t.mj->na, t.m->na);
  return t;
}

static void unload(Twins t) {
  mj_deleteData(t.mjd);
  mj_deleteModel(t.mj);
  tb_data_free(t.d);
  tb_model_free(t.m);
}

static void random_state(Twins t, tbRng* rng, double spread) {
  mj_resetData(t.mj, t.mjd);
  double step[256];
  for (int i = 0; i < t.mj->nv; i++) {
    step[i] = spread * tb_rng_normal(rng);
    t.mjd->qvel[i] = 3 * spread * tb_rng_normal(rng);
  }
  mj_integratePos(t.mj, t.mjd->qpos, step, 1);
  for (int i = 0; i < t.mj->nu; i++) t.mjd->ctrl[i] = 0.5 * tb_rng_normal(rng);
  for (int i = 0; i < t.mj->na; i++) t.mjd->act[i] = tb_rng_uniform(rng, 0, 1);
  for (int i = 0; i < t.mj->nv; i++) t.mjd->qfrc_applied[i] = 0.1 * tb_rng_normal(rng);
  for (int i = 6; i < 6 * t.mj->nbody; i++) t.mjd->xfrc_applied[i] = 0.1 * tb_rng_normal(rng);
}

static void copy_state(Twins t) {
  memcpy(t.d->qpos, t.mjd->qpos, sizeof(double) * (size_t)t.m->nq);
  memcpy(t.d->qvel, t.mjd->qvel, sizeof(double) * (size_t)t.m->nv);
  memcpy(t.d->act, t.mjd->act, sizeof(double) * (size_t)t.m->na);
  memcpy(t.d->ctrl, t.mjd->ctrl, sizeof(double) * (size_t)t.m->nu);
  memcpy(t.d->qfrc_applied, t.mjd->qfrc_applied, sizeof(double) * (size_t)t.m->nv);
  memcpy(t.d->xfrc_applied, t.mjd->xfrc_applied, sizeof(double) * 6 * (size_t)t.m->nbody);
  t.d->time = t.mjd->time;
}

static void compare(const char* what, const double* a, const double* b, int n, double tolerance) {
  double scale = 1;
  for (int i = 0; i < n; i++) scale = fmax(scale, fabs(b[i]));
  for (int i = 0; i < n; i++) {
    if (!(fabs(a[i] - b[i]) <= tolerance * scale)) {
      fail_msg("%s[%d]: %.12g, MuJoCo %.12g", what, i, a[i], b[i]);
    }
  }
}

// To MuJoCo 2.2.2 reactions know nothing of tendons; the newest counts them (test/oracle/cases).
static void compare_sensors(Twins t, double tolerance) {
  for (int s = 0; s < t.m->nsensor; s++) {
    int type = t.m->sensor_type[s];
    if (t.m->ntendon && (type == TB_SENS_FORCE || type == TB_SENS_TORQUE)) continue;
    char what[64];
    snprintf(what, sizeof what, "sensor %d (type %d)", s, t.m->sensor_type[s]);
    compare(what, t.d->sensordata + t.m->sensor_adr[s], t.mjd->sensordata + t.mj->sensor_adr[s],
            t.m->sensor_dim[s], tolerance);
  }
}

static void forces_agree(Twins t, int trials, double spread) {
  tbRng rng = {17};
  for (int k = 0; k < trials; k++) {
    random_state(t, &rng, spread);
    copy_state(t);
    mj_forward(t.mj, t.mjd);
    if (tb_forward(t.m, t.d) != TB_OK) fail_msg("%s", t.d->message);
    int nv = t.m->nv;
    assert_int_equal(t.d->ncon, t.mjd->ncon);
    compare("qfrc_passive", t.d->qfrc_passive, t.mjd->qfrc_passive, nv, 1e-6);
    compare("act_dot", t.d->act_dot, t.mjd->act_dot, t.m->na, 1e-10);
    compare("actuator_length", t.d->actuator_length, t.mjd->actuator_length, t.m->nu, 1e-9);
    compare("actuator_force", t.d->actuator_force, t.mjd->actuator_force, t.m->nu, 1e-8);
    compare("qfrc_actuator", t.d->qfrc_actuator, t.mjd->qfrc_actuator, nv, 1e-8);
    compare("qacc_smooth", t.d->qacc_smooth, t.mjd->qacc_smooth, nv, 1e-6);
    compare("qacc", t.d->qacc, t.mjd->qacc, nv, 1e-6);
    compare_sensors(t, 1e-6);
  }
}

// MuJoCo 2.2.2 differentiates a damper's force by velocity with the control as it was given, not as
// it was clamped (2e-5 after 200 steps of `implicit`): controls within their ranges leave nothing
// but rounding.
static void clamp_controls(Twins t) {
  for (int i = 0; i < t.mj->nu; i++) {
    const mjtNum* range = t.mj->actuator_ctrlrange + 2 * i;
    if (!t.mj->actuator_ctrllimited[i]) continue;
    t.mjd->ctrl[i] = fmax(range[0], fmin(range[1], t.mjd->ctrl[i]));
  }
}

static void motion_agrees(Twins t, int steps, double tolerance) {
  tbRng rng = {23};
  random_state(t, &rng, 0.02);
  clamp_controls(t);
  copy_state(t);
  double worst = 0;
  for (int i = 0; i < steps; i++) {
    mj_step(t.mj, t.mjd);
    if (tb_step(t.m, t.d) != TB_OK) fail_msg("%s", t.d->message);
    for (int k = 0; k < t.m->nq; k++) {
      worst = fmax(worst, fabs(t.d->qpos[k] - t.mjd->qpos[k]));
    }
    for (int k = 0; k < t.m->na; k++) worst = fmax(worst, fabs(t.d->act[k] - t.mjd->act[k]));
  }
  print_message("%d steps: %.1e from MuJoCo\n", steps, worst);
  assert_true(worst < tolerance);
}

static void check(const char* xml, const char* theirs, double spread) {
  static const int CONES[] = {mjCONE_PYRAMIDAL, mjCONE_ELLIPTIC};
  static const int INTEGRATORS[] = {mjINT_EULER, mjINT_RK4, mjINT_IMPLICIT};
  for (int cone = 0; cone < 2; cone++) {
    Twins t = load(xml, theirs);
    t.mj->opt.cone = t.m->opt.cone = CONES[cone];
    forces_agree(t, 20, spread);
    for (int k = 0; k < 3; k++) {
      t.mj->opt.integrator = t.m->opt.integrator = INTEGRATORS[k];
      tb_reset(t.m, t.d);
      // Runge-Kutta there adds the stages' angular velocities as vectors, which is of second order.
      motion_agrees(t, 200, INTEGRATORS[k] == mjINT_RK4 ? 3e-5 : 1e-8);
    }
    unload(t);
  }
}

static void fluid_agrees(void** state) {
  (void)state;
  check(FLUID, FLUID, 1);
}

static void adhesion_agrees(void** state) {
  (void)state;
  check(ADHESION, ADHESION_OLD, 0.002);
}

static void mechanism_agrees(void** state) {
  (void)state;
  check(MECHANISM, MECHANISM, 0.05);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fluid_agrees),
                                     cmocka_unit_test(adhesion_agrees),
                                     cmocka_unit_test(mechanism_agrees)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
