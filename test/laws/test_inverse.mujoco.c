// The soft law's inverse against MuJoCo's qfrc_inverse at random states and accelerations.
#include "common/mujoco_state.h"

static void compare(const char* robot) {
  mjModel* mj = NULL;
  tbModel* m = NULL;
  if (!tb_mujoco_pair(robot, &mj, &m)) return;
  tbData* d = tb_data_new(m);
  mjData* mjd = mj_makeData(mj);
  double* qfrc = calloc((size_t)m->nv, sizeof(double));
  tbRng rng = {17};
  double worst = 0;
  int touching = 0, compared = 0;
  for (int t = 0; t < 30; t++) {
    tb_mujoco_random_state(&rng, mj, mjd);
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
  for (size_t i = 0; i < sizeof TB_PRIMITIVE_ROBOTS / sizeof *TB_PRIMITIVE_ROBOTS; i++) {
    compare(TB_PRIMITIVE_ROBOTS[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_qfrc_inverse)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
