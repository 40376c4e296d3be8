// The soft law against MuJoCo: forces, contacts and acceleration at the same states.
#include <unistd.h>

#include "common/mujoco_state.h"

static double largest_difference(const double* a, const double* b, int n) {
  double worst = 0, scale = 1;
  for (int i = 0; i < n; i++) {
    worst = fmax(worst, fabs(a[i] - b[i]));
    scale = fmax(scale, fabs(b[i]));
  }
  return worst / scale;
}

static void compare(const char* robot) {
  mjModel* mj = NULL;
  tbModel* m = NULL;
  if (!tb_mujoco_pair(robot, &mj, &m)) return;
  mj->opt.iterations = m->opt.iterations = 200;
  mj->opt.tolerance = 1e-14;
  tbData* d = tb_data_new(m);
  mjData* mjd = mj_makeData(mj);
  tbRng rng = {7};
  double worst[5] = {0};
  int same = 0, trials = 20, touching = 0;
  for (int t = 0; t < trials; t++) {
    tb_mujoco_random_state(&rng, mj, mjd);
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
  for (size_t i = 0; i < sizeof TB_PRIMITIVE_ROBOTS / sizeof *TB_PRIMITIVE_ROBOTS; i++) {
    compare(TB_PRIMITIVE_ROBOTS[i]);
  }
}

// One solver with one cone, with and without noslip, over random states. Gauss-Seidel is compared
// after the same number of sweeps, far from its limit: every sweep must be MuJoCo's.
static void compare_solver(const char* robot, int solver, int cone, int noslip) {
  static const char* const NAMES[] = {"PGS", "CG", "Newton"};
  mjModel* mj = NULL;
  tbModel* m = NULL;
  if (!tb_mujoco_pair(robot, &mj, &m)) return;
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
    tb_mujoco_random_state(&rng, mj, mjd);
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
      for (int k = 0; k < 4; k++) {
        compare_solver(TB_PRIMITIVE_ROBOTS[r], solver, k % 2, k / 2 * 10);
      }
    }
  }
}

// Bodies of several geoms that touch two things of the world and each other, so that MuJoCo's order
// of contacts, body by body, is not that of their geoms; on a sledge, so that they are one island.
#define MOVES \
  "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint type='ball'/>"
static const char BODIES[] =
    "<mujoco><option gravity='1 .5 -9'/><default><geom friction='.7 .01 .001' size='.1' "
    "solimp='.1 .2 .01'/></default><worldbody><geom type='plane' size='5 5 1'/>"
    "<geom type='plane' size='5 5 1' pos='1 0 0' euler='0 -90 0'/>"
    "<body><joint type='slide' axis='0 1 0'/><inertial pos='0 0 1' mass='5' diaginertia='1 1 1'/>"
    "<body pos='.905 0 .095'>" MOVES
    "<geom/><geom size='.08' pos='0 .2 -.02' condim='4'/>"
    "<geom size='.05' pos='0 -.2 -.05' condim='6'/></body>"
    "<body pos='.71 0 .096'>" MOVES
    "<geom/><geom pos='0 .25 0'/></body>"
    "<body pos='.5 0 .09'><joint type='slide' axis='1 0 0' frictionloss='2'/>"
    "<joint axis='0 1 0' frictionloss='.3'/><geom size='.11'/><geom pos='0 .25 0'/>"
    "<body pos='-.15 0 0'><joint axis='0 1 0' limited='true' range='-.1 10'/><geom/></body></body>"
    "</body></worldbody></mujoco>";

static void load_bodies(mjModel** theirs, tbModel** ours) {
  char path[1024], reason[1000] = "";
  snprintf(path, sizeof path, "%s/bodies-%d.xml", TB_BUILD_DIR, (int)getpid());
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(BODIES, file);
  fclose(file);
  tbError error;
  *theirs = mj_loadXML(path, NULL, reason, sizeof reason);
  *ours = tb_load(path, NULL, &error);
  remove(path);
  if (!*theirs) fail_msg("MuJoCo: %s", reason);
  if (!*ours) fail_msg("%s", error.message);
  (*ours)->opt.law = TB_LAW_SOFT;
}

// Few sweeps and many, from no forces and from those at rest, with and without noslip.
static void sweeps_are_the_same(void** state) {
  (void)state;
  mjModel* mj = NULL;
  tbModel* m = NULL;
  load_bodies(&mj, &m);
  tbData* d = tb_data_new(m);
  mjData* mjd = mj_makeData(mj);
  tbRng rng = {11};
  int contacts = 0;
  mj->opt.solver = mjSOL_PGS;
  m->opt.mjsolver = TB_MJSOLVER_PGS;
  mj->opt.tolerance = m->opt.tolerance = mj->opt.noslip_tolerance = m->opt.noslip_tolerance = 0;
  for (int t = 0; t < 48; t++) {
    mj->opt.cone = m->opt.cone = t % 2;
    mj->opt.iterations = m->opt.iterations = t / 2 % 2 ? 30 : 3;
    mj->opt.disableflags = t / 4 % 2 ? mjDSBL_WARMSTART : 0;
    m->opt.disableflags = t / 4 % 2 ? TB_DISABLE_WARMSTART : 0;
    mj->opt.noslip_iterations = m->opt.noslip_iterations = t / 8 % 2 * 3;
    mj_resetData(mj, mjd);
    tb_reset(m, d);
    double step[32];
    assert_true(mj->nv < 32);
    for (int i = 0; i < mj->nv; i++) {
      step[i] = 0.004 * tb_rng_normal(&rng);
      mjd->qvel[i] = d->qvel[i] = 0.3 * tb_rng_normal(&rng);
    }
    mj_integratePos(mj, mjd->qpos, step, 1);
    memcpy(d->qpos, mjd->qpos, sizeof(double) * (size_t)m->nq);
    mj_forward(mj, mjd);
    if (tb_forward(m, d) != TB_OK) fail_msg("%s", d->message);
    assert_int_equal(d->ncon, mjd->ncon);
    contacts += d->ncon;
    assert_true(largest_difference(d->qacc, mjd->qacc, m->nv) < 1e-6);
  }
  assert_true(contacts > 48 * 6);
  mj_deleteData(mjd);
  mj_deleteModel(mj);
  tb_data_free(d);
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(forward_agrees),
                                     cmocka_unit_test(solvers_agree),
                                     cmocka_unit_test(sweeps_are_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
