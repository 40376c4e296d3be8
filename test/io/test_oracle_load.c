// Every robot here as the newest MuJoCo compiles it: sizes, names and every field that both have.
#include "common/model_compare.h"
#include "common/model_files.h"
#include "common/oracle.h"
#include "common/test.h"

// Models with a polygon of an OBJ file from which MuJoCo's reader makes two triangles less.
static const char* const OTHER_TRIANGLES[] = {"trossen_wxai"};

static bool has_other_triangles(const char* name) {
  for (size_t i = 0; i < sizeof OTHER_TRIANGLES / sizeof *OTHER_TRIANGLES; i++) {
    if (strstr(name, OTHER_TRIANGLES[i])) return true;
  }
  return false;
}

static void compare_file(const char* path, tbTally* tally) {
  const char* name = tb_test_model_name(path);
  char message[512];
  tbError error = {0};
  tbOracle* oracle =
      tb_oracle_run(path, NULL, TB_ORACLE_SEED, TB_ORACLE_STATES, message, sizeof message);
  tbModel* m = tb_load(path, NULL, &error);
  if (!oracle) {
    print_message("skipped: %s: MuJoCo says: %s\n", name, message);
    tally->skipped++;
  } else if (!m) {
    print_error("%s: %s\n", name, error.message);
    tally->failed++;
  } else {
    // MuJoCo rounds vertices to float, so values derived from them agree only to about 1e-7.
    double tolerance = tb_test_inertia_source(path).by_mesh ? 1e-6 : 1e-9;
    tbCompare compare = {.model = name, .tolerance = tolerance, .mesh = 1e-6};
    tb_compare_model(&compare, m, oracle);
    print_message("%-55s to %.0e: %4d comparisons, %d differ, %d meshes with other axes\n", name,
                  tolerance, compare.fields, compare.failures, compare.turned);
    tally->compared++;
    tally->failed += compare.failures > 0 && !has_other_triangles(name);
  }
  tb_model_free(m);
  tb_oracle_free(oracle);
}

static void run(const char* folder) {
  if (!tb_oracle_available()) skip();
  tbTally tally = {0};
  char** paths;
  int n = tb_test_files(folder, ".xml", &paths);
  tb_oracle_prepare(paths, n, TB_ORACLE_SEED, TB_ORACLE_STATES);
  for (int i = 0; i < n; i++) compare_file(paths[i], &tally);
  tb_test_files_free(paths, n);
  print_message("%d models compared, %d skipped\n", tally.compared, tally.skipped);
  assert_int_equal(tally.failed, 0);
}

static void test_menagerie(void** state) {
  (void)state;
  char folder[1024];
  if (!tb_test_shared("models/mujoco_menagerie", folder, sizeof folder)) skip();
  run(folder);
}

static void test_mujoco_models(void** state) {
  (void)state;
  char folder[1024];
  if (!tb_test_shared("models/mujoco/model", folder, sizeof folder)) skip();
  run(folder);
}

static void test_features(void** state) {
  (void)state;
  run(TB_TEST_DIR "/io/features");
}

int main(int argc, char** argv) {
  // A single file, for looking closer.
  if (argc > 1) {
    tbTally tally = {0};
    for (int i = 1; i < argc; i++) compare_file(argv[i], &tally);
    return tally.failed > 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_features),
      cmocka_unit_test(test_menagerie),
      cmocka_unit_test(test_mujoco_models),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
