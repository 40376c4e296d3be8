// URDF loading against the newest MuJoCo's: every field that both have, of the shared robots and of
// small files for each kind of joint, shape and gap of the format (test/oracle/urdf).
#include "common/model_compare.h"
#include "common/model_files.h"
#include "common/oracle.h"
#include "common/test.h"
#include "common/urdf_text.h"

// We keep the links that are fused as sites, MuJoCo does not. Moments that break the triangle
// inequality are averaged on both sides.
static const char* const OURS[] = {"nsite",     "site_bodyid",    "site_pos",   "site_quat",
                                   "site_size", "site_type",      "site_group", "site_rgba",
                                   "site_user", "site_sameframe", NULL};
static const char BALANCE[] = "balanceinertia=\"true\"";

static void compare_file(const char* path, tbTally* tally) {
  const char* name = tb_test_model_name(path);
  char folder[1024], message[512];
  snprintf(folder, sizeof folder, "%s", path);
  *strrchr(folder, '/') = 0;
  tbError error = {0};
  tbOracle* oracle = tb_oracle_run(path, BALANCE, 1, 1, message, sizeof message);
  char* text = tb_test_urdf_text(path, "<compiler balanceinertia=\"true\"/>", NULL);
  tbModel* m = tb_load_string(text, folder, NULL, &error);
  free(text);
  if (!m) {
    print_error("%s: %s\n", name, error.message);
    tally->failed++;
  } else if (!oracle) {
    print_message("skipped: %s: MuJoCo says: %s\n", name, message);
    tally->skipped++;
  } else if (m->nmesh != tb_oracle_size(oracle, "nmesh")) {
    // Its dynamics are compared in test/dynamics/test_newest.c.
    print_message("skipped: %s: files of one name in two folders are one mesh in MuJoCo\n", name);
    tally->skipped++;
  } else {
    tbCompare compare = {.model = name, .tolerance = 1e-9, .mesh = 1e-6, .unlike = OURS};
    tb_compare_model(&compare, m, oracle);
    print_message("%-75s %4d comparisons, %d differ\n", name, compare.fields, compare.failures);
    tally->compared++;
    tally->failed += compare.failures > 0;
  }
  tb_model_free(m);
  tb_oracle_free(oracle);
}

static void run(const char* folder, int least) {
  if (!tb_oracle_available()) skip();
  tbTally tally = {0};
  char** paths;
  int n = tb_test_files(folder, ".urdf", &paths);
  for (int i = 0; i < n; i++) compare_file(paths[i], &tally);
  tb_test_files_free(paths, n);
  assert_true(tally.compared >= least);
  assert_int_equal(tally.failed, 0);
}

static void test_small_files(void** state) {
  (void)state;
  run(TB_TEST_DIR "/oracle/urdf", 9);
}

// URDF files as models that a file of MJCF attaches.
static void test_attached(void** state) {
  (void)state;
  if (!tb_oracle_available()) skip();
  const char* path = TB_TEST_DIR "/oracle/urdf/attach.xml";
  char message[512] = "";
  tbError error = {0};
  tbOracle* oracle = tb_oracle_run(path, NULL, 1, 1, message, sizeof message);
  tbModel* m = tb_load(path, NULL, &error);
  if (!oracle || !m) fail_msg("MuJoCo says: '%s', we: '%s'", message, error.message);
  tbCompare compare = {.model = "attach.xml", .tolerance = 1e-9, .mesh = 1e-6, .unlike = OURS};
  tb_compare_model(&compare, m, oracle);
  assert_true(compare.fields > 100);
  assert_int_equal(compare.failures, 0);
  tb_model_free(m);
  tb_oracle_free(oracle);
}

static void test_robots(void** state) {
  (void)state;
  char folder[1024];
  if (!tb_test_shared("models/example-robot-data", folder, sizeof folder)) skip();
  run(folder, 6);
}

int main(int argc, char** argv) {
  // Single files, for looking closer.
  if (argc > 1) {
    tbTally tally = {0};
    for (int i = 1; i < argc; i++) compare_file(argv[i], &tally);
    return tally.failed > 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small_files),
      cmocka_unit_test(test_attached),
      cmocka_unit_test(test_robots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
