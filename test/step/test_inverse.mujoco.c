// The soft law's inverse against MuJoCo's qfrc_inverse at random states and accelerations.
#include <mujoco/mujoco.h>

#include "common/test.h"
#include "tribo/tribo.h"

// As test_oracle: robots of primitives whose inertias do not come from meshes.
static const char* const ROBOTS[] = {
    "models/mujoco/model/humanoid/humanoid.xml",
    "models/mujoco_menagerie/unitree_go2/scene.xml",
    "models/mujoco_menagerie/anybotics_anymal_c/scene.xml",
};

static void random_state(tbRng* rng, const mjModel* mj, mjData* mjd) {
  mj_resetData(mj, mjd);
  if (mj->nkey) mj_resetDataKeyframe(mj, mjd, 0);
  double* step = calloc((size_t)mj->nv, sizeof(double));
  for (int i = 0; i < mj->nv; i++) {
    step[i] = 0.1 * tb_rng_normal(rng);
    mjd->qvel[i] = 0.3 * tb_rng_normal(rng);
  }
  mj_integratePos(mj, mjd->qpos, step, 1);
  mjd->qpos[2] -= tb_rng_uniform(rng, 0, 0.15);
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
  tbData* d = tb_data_new(m);
  mjData* mjd = mj_makeData(mj);
  double* qfrc = calloc((size_t)m->nv, sizeof(double));
  tbRng rng = {17};
  double worst = 0;
  int touching = 0, compared = 0;
  for (int t = 0; t < 30; t++) {
    random_state(&rng, mj, mjd);
    memcpy(d->qpos, mjd->qpos, sizeof(double) * (size_t)m->nq);
    memcpy(d->qvel, mjd->qvel, sizeof(double) * (size_t)m->nv);
    for (int i = 0; i < m->nv; i++) mjd->qacc[i] = d->qacc[i] = 5 * tb_rng_normal(&rng);
    mj_inverse(mj, mjd);
    assert_int_equal(tb_inverse(m, d, d->qacc, NULL, qfrc, NULL), TB_OK);
    // States where the two engines choose different contact points are the collision tests' matter.
    if (d->ncon != mjd->ncon) continue;
    double scale = 1, difference = 0, apart = 0;
    for (int i = 0; i < d->ncon; i++)
      apart = fmax(apart, fabs(d->contact[i].dist - mjd->contact[i].dist));
    if (apart > 1e-9) continue;
    for (int i = 0; i < m->nv; i++) {
      scale = fmax(scale, fabs(mjd->qfrc_inverse[i]));
      difference = fmax(difference, fabs(qfrc[i] - mjd->qfrc_inverse[i]));
    }
    worst = fmax(worst, difference / scale);
    touching += d->ncon > 0;
    compared++;
  }
  print_message("%s: %d states, %d with contacts, worst %.2e\n", robot, compared, touching, worst);
  assert_true(compared >= 15 && touching >= 8);
  assert_true(worst < 1e-6);
  free(qfrc);
  mj_deleteData(mjd);
  mj_deleteModel(mj);
  tb_data_free(d);
  tb_model_free(m);
}

static void test_qfrc_inverse(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof ROBOTS / sizeof *ROBOTS; i++) compare(ROBOTS[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_qfrc_inverse)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
