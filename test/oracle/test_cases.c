// Small files that each try one corner of the format (test/oracle/cases): every field of the
// compiled model, and the dynamics at random states, as the newest MuJoCo has them.
#include "common/model_compare.h"
#include "common/model_files.h"
#include "common/oracle.h"
#include "common/test.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

enum { SEED = 5, STATES = 3 };

static void set_state(const tbModel* m, tbData* d, const tbOracle* o, int k) {
#define TAKE(field, n)                                           \
  do {                                                           \
    const tbOracleField* f = tb_oracle_state(o, k, #field);      \
    if (f && f->rows * f->columns == (n))                        \
      memcpy(d->field, f->values, (size_t)(n) * sizeof(tbReal)); \
  } while (0)
  TAKE(qpos, m->nq);
  TAKE(qvel, m->nv);
  TAKE(act, m->na);
  TAKE(ctrl, m->nu);
  TAKE(qfrc_applied, m->nv);
  TAKE(xfrc_applied, 6 * m->nbody);
  TAKE(mocap_pos, 3 * m->nmocap);
  TAKE(mocap_quat, 4 * m->nmocap);
#undef TAKE
}

static void compare_matrices(tbCompare* c, const tbModel* m, const tbData* d, const tbOracle* o,
                             int k) {
  size_t nv = (size_t)m->nv, most = nv + (size_t)m->nu + (size_t)m->ntendon;
  tbReal* x = calloc(nv * most + 1, sizeof *x);
  const struct {
    const char* name;
    int rows;
    void (*full)(const tbModel*, const tbData*, tbReal*);
  } matrices[] = {{"M", m->nv, tb_full_m},
                  {"actuator_moment", m->nu, tb_full_moment},
                  {"ten_J", m->ntendon, tb_full_ten_J}};
  for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
    const tbOracleField* f = tb_oracle_state(o, k, matrices[i].name);
    if (!f || f->rows * f->columns != matrices[i].rows * m->nv) continue;
    matrices[i].full(m, d, x);
    tb_compare_rows(c, matrices[i].name, x, f->values, 1, matrices[i].rows * m->nv,
                    10 * c->tolerance);
  }
  free(x);
}

static void compare_state(tbCompare* c, const tbModel* m, tbData* d, const tbOracle* o, int k) {
  // A joint with an infinite range has no random position.
  const tbOracleField* qpos = tb_oracle_state(o, k, "qpos");
  for (int i = 0; qpos && i < qpos->rows * qpos->columns; i++) {
    if (!isfinite(qpos->values[i])) return;
  }
  set_state(m, d, o, k);
  if (tb_forward(m, d) != TB_OK) {
    print_error("%s: state %d: %s\n", c->model, k, d->message);
    c->failures++;
    return;
  }
  tb_subtree_velocity(m, d);
  tb_energy_position(m, d);
  tb_energy_velocity(m, d);
#define SAME(field, n)                                                            \
  do {                                                                            \
    const tbOracleField* f = tb_oracle_state(o, k, #field);                       \
    if (f && f->rows * f->columns == (n))                                         \
      tb_compare_rows(c, #field, d->field, f->values, 1, (n), 10 * c->tolerance); \
  } while (0)
  SAME(xpos, 3 * m->nbody);
  SAME(xmat, 9 * m->nbody);
  SAME(xipos, 3 * m->nbody);
  SAME(xanchor, 3 * m->njnt);
  SAME(xaxis, 3 * m->njnt);
  SAME(site_xpos, 3 * m->nsite);
  SAME(site_xmat, 9 * m->nsite);
  SAME(ten_length, m->ntendon);
  SAME(ten_velocity, m->ntendon);
  SAME(actuator_length, m->nu);
  SAME(actuator_velocity, m->nu);
  SAME(actuator_force, m->nu);
  SAME(act_dot, m->na);
  SAME(qfrc_bias, m->nv);
  SAME(qfrc_passive, m->nv);
  SAME(qfrc_actuator, m->nv);
  // Joints that do the same: MuJoCo's accelerations are without bound, ours those of one of them.
  if (strcmp(c->model, "redundant.xml") != 0) SAME(qacc_smooth, m->nv);
  SAME(energy, 2);
  SAME(sensordata, m->nsensordata);
#undef SAME
  compare_matrices(c, m, d, o, k);
}

static void compare_file(const char* path, tbTally* tally) {
  const char* name = strrchr(path, '/') + 1;
  char message[512];
  tbError error = {0};
  tbOracle* oracle = tb_oracle_run(path, NULL, SEED, STATES, message, sizeof message);
  tbModel* m = tb_load(path, NULL, &error);
  bool refused = strncmp(name, "refused_", 8) == 0;
  if (refused) {
    // Both say no, and we say where.
    if (oracle) print_error("%s: MuJoCo reads it\n", name);
    if (m) print_error("%s: it was read; MuJoCo says: %s\n", name, message);
    if (!m && !strstr(error.message, name)) print_error("%s: %s\n", name, error.message);
    tally->failed += oracle || m || !strstr(error.message, name);
    tally->compared++;
  } else if (!oracle || !m) {
    if (!oracle) print_error("%s: MuJoCo says: %s\n", name, message);
    if (!m) print_error("%s: %s\n", name, error.message);
    tally->failed++;
  } else {
    double tolerance = tb_test_inertia_source(path).by_mesh ? 1e-6 : 1e-9;
    tbCompare compare = {.model = name, .tolerance = tolerance, .mesh = 1e-6};
    tb_compare_model(&compare, m, oracle);
    m->opt.law = TB_LAW_SOFT;
    tbData* d = tb_data_new(m);
    for (int k = 0; k < STATES && compare.failures == 0; k++) {
      compare_state(&compare, m, d, oracle, k);
    }
    tb_data_free(d);
    tally->compared++;
    tally->failed += compare.failures > 0;
  }
  tb_model_free(m);
  tb_oracle_free(oracle);
}

static void cases_agree(void** state) {
  (void)state;
  if (!tb_oracle_available()) skip();
  tbTally tally = {0};
  char** paths;
  int n = tb_test_files(TB_TEST_DIR "/oracle/cases", ".xml", &paths);
  tb_oracle_prepare(paths, n, SEED, STATES);
  for (int i = 0; i < n; i++) {
    // Files of other folders are parts of these.
    const char* folder = strstr(paths[i], "/cases/") + 7;
    if (!strchr(folder, '/')) compare_file(paths[i], &tally);
  }
  tb_test_files_free(paths, n);
  print_message("%d files compared\n", tally.compared);
  assert_int_equal(tally.failed, 0);
}

int main(int argc, char** argv) {
  // Single files, for looking closer.
  if (argc > 1) {
    tbTally tally = {0};
    tb_oracle_prepare(argv + 1, argc - 1, SEED, STATES);
    for (int i = 1; i < argc; i++) compare_file(argv[i], &tally);
    return tally.failed > 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(cases_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
