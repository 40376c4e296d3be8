// Every robot here as the newest MuJoCo compiles it: sizes, names and every field that both have.
#include <dirent.h>
#include <sys/stat.h>

#include "common/model_compare.h"
#include "common/oracle.h"
#include "common/test.h"
#include "io/spec.h"

typedef struct {
  int compared, skipped, failed;
} Tally;

// Does a mesh contribute mass? MuJoCo rounds vertices to float, so what follows from them agrees
// only to about 1e-7.
static bool has_mesh_inertia(const char* path) {
  bool result = false;
  tbSpec* spec = tb_spec_load_mjcf(path, NULL, NULL);
  for (int i = 0; spec && i < spec->ngeom; i++) {
    const tbSpecGeom* g = &spec->geom[i];
    const tbSpecBody* b = &spec->body[g->body];
    int from_geom = b->compiler->inertiafromgeom;
    bool inferred = from_geom == 1 || (from_geom == TB_AUTO && !b->has_inertial);
    bool massless = TB_GIVEN(geom, g, mass) ? g->mass == 0 : g->density == 0;
    result |= g->mesh && g->body > 0 && inferred && !massless;
  }
  tb_spec_free(spec);
  return result;
}

static void compare_file(const char* path, Tally* tally) {
  const char* name = strstr(path, "models/") ? strstr(path, "models/") + 7 : path;
  char message[512];
  tbError error = {0};
  tbOracle* oracle = tb_oracle_run(path, NULL, 1, 1, message, sizeof message);
  tbModel* m = tb_load(path, NULL, &error);
  if (!oracle) {
    print_message("skipped: %s: MuJoCo says: %s\n", name, message);
    tally->skipped++;
  } else if (!m) {
    print_error("%s: %s\n", name, error.message);
    tally->failed++;
  } else {
    double tolerance = has_mesh_inertia(path) ? 1e-6 : 1e-9;
    tbCompare compare = {.model = name, .tolerance = tolerance, .mesh = 1e-6};
    tb_compare_model(&compare, m, oracle);
    print_message("%-55s to %.0e: %4d comparisons, %d differ, %d meshes with other axes\n", name,
                  tolerance, compare.fields, compare.failures, compare.turned);
    tally->compared++;
    tally->failed += compare.failures > 0;
  }
  tb_model_free(m);
  tb_oracle_free(oracle);
}

// Every .xml file below a folder, in the order of their names.
static void compare_folder(const char* folder, Tally* tally) {
  struct dirent** entries;
  int n = scandir(folder, &entries, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    char path[2048];
    const char* name = entries[i]->d_name;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    struct stat info;
    size_t length = strlen(name);
    if (name[0] != '.' && stat(path, &info) == 0) {
      if (S_ISDIR(info.st_mode)) compare_folder(path, tally);
      if (length > 4 && strcmp(name + length - 4, ".xml") == 0) compare_file(path, tally);
    }
    free(entries[i]);
  }
  if (n >= 0) free(entries);
}

static void run(const char* folder) {
  if (!tb_oracle_available()) skip();
  Tally tally = {0};
  compare_folder(folder, &tally);
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
    Tally tally = {0};
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
