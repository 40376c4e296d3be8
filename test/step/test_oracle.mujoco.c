// The soft law against MuJoCo: forces, contacts and acceleration at the same states.
#include <mujoco/mujoco.h>

#include "common/test.h"
#include "tribo/tribo.h"

// Robots whose colliding geoms are primitives, so that contacts must agree, and whose inertias do
// not come from meshes, which MuJoCo 2.2.2 computes in another way than newer ones. Cassie is in
// test_newest: its connects have dJ/dt v in their reference since 3.x.

static const char* const ROBOTS[] = {
    "models/mujoco/model/humanoid/humanoid.xml",
    "models/mujoco_menagerie/unitree_go2/scene.xml",
    "models/mujoco_menagerie/anybotics_anymal_c/scene.xml",
};

static double largest_difference(const double* a, const double* b, int n) {
  double worst = 0, scale = 1;
  for (int i = 0; i < n; i++) {
    worst = fmax(worst, fabs(a[i] - b[i]));
    scale = fmax(scale, fabs(b[i]));
  }
  return worst / scale;
}

// A state near the first keyframe (or the reference pose), low enough that things touch.
static void random_state(tbRng* rng, const mjModel* mj, mjData* mjd) {
  if (mj->nkey) {
    mj_resetDataKeyframe(mj, mjd, 0);
  } else {
    mj_resetData(mj, mjd);
  }
  double* step = calloc((size_t)mj->nv, sizeof(double));
  for (int i = 0; i < mj->nv; i++) {
    step[i] = 0.1 * tb_rng_normal(rng);
    mjd->qvel[i] = 0.3 * tb_rng_normal(rng);
  }
  mj_integratePos(mj, mjd->qpos, step, 1);
  if (mj->njnt && mj->jnt_type[0] == mjJNT_FREE) mjd->qpos[2] -= tb_rng_uniform(rng, 0, 0.15);
  for (int i = 0; i < mj->nu; i++) mjd->ctrl[i] += 0.1 * tb_rng_normal(rng);
  free(step);
}

static void compare(const char* robot) {
  char path[1024], reason[1000] = "";
  if (!tb_test_shared(robot, path, sizeof path)) return;
  mjModel* mj = mj_loadXML(path, NULL, reason, sizeof reason);
  if (!mj) {
    print_message("skipped: MuJoCo %s cannot load %s: %s\n", mj_versionString(), robot, reason);
    return;
  }
  tbError error;
  tbModel* m = tb_load(path, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  m->opt.law = TB_LAW_SOFT;
  mj->opt.iterations = m->opt.iterations = 200;
  mj->opt.tolerance = 1e-14;
  tbData* d = tb_data_new(m);
  mjData* mjd = mj_makeData(mj);
  tbRng rng = {7};
  double worst[5] = {0};
  int same = 0, trials = 20, touching = 0;
  for (int t = 0; t < trials; t++) {
    random_state(&rng, mj, mjd);
    memcpy(d->qpos, mjd->qpos, sizeof(double) * (size_t)m->nq);
    memcpy(d->qvel, mjd->qvel, sizeof(double) * (size_t)m->nv);
    memcpy(d->ctrl, mjd->ctrl, sizeof(double) * (size_t)m->nu);
    mj_forward(mj, mjd);
    if (tb_forward(m, d) != TB_OK) fail_msg("%s: %s", robot, d->message);
    worst[0] = fmax(worst[0], largest_difference(d->qfrc_bias, mjd->qfrc_bias, m->nv));
    worst[1] = fmax(worst[1], largest_difference(d->qfrc_passive, mjd->qfrc_passive, m->nv));
    worst[2] = fmax(worst[2], largest_difference(d->qfrc_actuator, mjd->qfrc_actuator, m->nv));
    worst[3] = fmax(worst[3], largest_difference(d->qacc_smooth, mjd->qacc_smooth, m->nv));
    touching += mjd->ncon > 0;
    if (d->ncon != mjd->ncon) continue;
    same++;
    worst[4] = fmax(worst[4], largest_difference(d->qacc, mjd->qacc, m->nv));
  }
  print_message(
      "%-60s bias %.1e passive %.1e actuator %.1e smooth %.1e | %d/%d same contacts (%d "
      "touching), qacc %.1e\n",
      robot, worst[0], worst[1], worst[2], worst[3], same, trials, touching, worst[4]);
  for (int k = 0; k < 5; k++) assert_true(worst[k] < 1e-6);
  assert_int_equal(same, trials);
  assert_true(touching > trials / 2);
  mj_deleteData(mjd);
  mj_deleteModel(mj);
  tb_data_free(d);
  tb_model_free(m);
}

static void forward_agrees(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof ROBOTS / sizeof ROBOTS[0]; i++) compare(ROBOTS[i]);
}

// One solver with one cone, with and without noslip, over random states. Gauss-Seidel is compared
// after the same number of sweeps, far from its limit: every sweep must be MuJoCo's.
static void compare_solver(const char* robot, int solver, int cone, int noslip) {
  static const char* const NAMES[] = {"PGS", "CG", "Newton"};
  char path[1024], reason[1000] = "";
  if (!tb_test_shared(robot, path, sizeof path)) return;
  mjModel* mj = mj_loadXML(path, NULL, reason, sizeof reason);
  tbError error;
  tbModel* m = tb_load(path, NULL, &error);
  if (!mj || !m) fail_msg("%s: %s%s", robot, reason, m ? "" : error.message);
  m->opt.law = TB_LAW_SOFT;
  // Conjugate gradients end where Newton does, MuJoCo's own long before it in some states.
  m->opt.mjsolver = solver;
  mj->opt.solver = solver == mjSOL_CG ? mjSOL_NEWTON : solver;
  mj->opt.cone = m->opt.cone = cone;
  mj->opt.noslip_iterations = m->opt.noslip_iterations = noslip;
  mj->opt.iterations = m->opt.iterations = solver == mjSOL_PGS  ? 20
                                           : solver == mjSOL_CG ? 2000
                                                                : 100;
  mj->opt.tolerance = m->opt.tolerance = solver == mjSOL_PGS ? 0 : 1e-14;
  mj->opt.noslip_tolerance = m->opt.noslip_tolerance = 0;
  tbData* d = tb_data_new(m);
  mjData* mjd = mj_makeData(mj);
  tbRng rng = {7};
  double worst = 0;
  for (int t = 0; t < 10; t++) {
    random_state(&rng, mj, mjd);
    tb_reset(m, d);
    memcpy(d->qpos, mjd->qpos, sizeof(double) * (size_t)m->nq);
    memcpy(d->qvel, mjd->qvel, sizeof(double) * (size_t)m->nv);
    memcpy(d->ctrl, mjd->ctrl, sizeof(double) * (size_t)m->nu);
    mj_forward(mj, mjd);
    if (tb_forward(m, d) != TB_OK) fail_msg("%s: %s", robot, d->message);
    worst = fmax(worst, largest_difference(d->qacc, mjd->qacc, m->nv));
  }
  print_message("%-50s %-6s %s noslip %2d: qacc %.1e\n", robot, NAMES[solver],
                cone == mjCONE_ELLIPTIC ? "elliptic " : "pyramidal", noslip, worst);
  assert_true(worst < 1e-6);
  mj_deleteData(mjd);
  mj_deleteModel(mj);
  tb_data_free(d);
  tb_model_free(m);
}

static void solvers_agree(void** state) {
  (void)state;
  for (size_t r = 0; r < 2; r++) {
    for (int solver = 0; solver < 3; solver++) {
      // The feet of Go2 (impratio 100) are too stiff for conjugate gradients, MuJoCo's and ours.
      if (r && solver == mjSOL_CG) continue;
      for (int k = 0; k < 4; k++) compare_solver(ROBOTS[r], solver, k % 2, k / 2 * 10);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(forward_agrees),
                                     cmocka_unit_test(solvers_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
