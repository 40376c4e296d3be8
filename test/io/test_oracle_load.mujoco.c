// Every robot here that MuJoCo 2.2.2 reads as it is: sizes, names and every field that both have.
#include <mujoco/mjxmacro.h>
#include <mujoco/mujoco.h>

#include "common/model_compare.h"
#include "common/model_files.h"
#include "common/test.h"

// ---- MuJoCo's model as records ------------------------------------------------------------------

enum { MOST_FIELDS = 400 };

static double* add_field(tbOracle* oracle, const char* name, int rows, int columns) {
  assert_true(oracle->nfields < MOST_FIELDS);
  tbOracleField* field = &oracle->fields[oracle->nfields++];
  snprintf(field->name, sizeof field->name, "%s", name);
  field->rows = rows;
  field->columns = columns;
  field->values = calloc((size_t)rows * (size_t)columns + 1, sizeof(double));
  return field->values;
}

static tbOracle* records(const mjModel* m) {
  tbOracle* oracle = calloc(1, sizeof *oracle);
  oracle->fields = calloc(MOST_FIELDS, sizeof *oracle->fields);
#define X(name) add_field(oracle, #name, 1, 1)[0] = (double)m->name;
  MJMODEL_INTS
#undef X
  MJMODEL_POINTERS_PREAMBLE(m)
#define X(type, name, nr, nc)                                                             \
  {                                                                                       \
    double* values = add_field(oracle, #name, (int)(m->nr), (int)(nc));                   \
    for (long i = 0; i < (long)(m->nr) * (long)(nc); i++) values[i] = (double)m->name[i]; \
  }
  MJMODEL_POINTERS
#undef X
  for (int i = 0; i < oracle->nfields; i++) {
    if (strcmp(oracle->fields[i].name, "names") != 0) continue;
    oracle->fields[i].text = malloc((size_t)m->nnames);
    memcpy(oracle->fields[i].text, m->names, (size_t)m->nnames);
  }
#define X(type, name, n)                                       \
  {                                                            \
    double* values = add_field(oracle, "opt." #name, n, 1);    \
    for (int i = 0; i < n; i++) values[i] = (&m->opt.name)[0]; \
  }
  X(mjtNum, timestep, 1)
  X(mjtNum, impratio, 1)
  X(mjtNum, tolerance, 1)
  X(mjtNum, density, 1)
  X(mjtNum, viscosity, 1)
  X(int, integrator, 1)
  X(int, cone, 1)
  X(int, iterations, 1)
  X(int, noslip_iterations, 1)
  X(int, disableflags, 1)
#undef X
  memcpy(add_field(oracle, "opt.gravity", 3, 1), m->opt.gravity, 3 * sizeof(double));
  return oracle;
}

// ---- comparison ---------------------------------------------------------------------------------

// Changes in MuJoCo itself since 2.2.2; the newest is the reference, see test_oracle_load.c. First
// the values that follow from the volume of a mesh.
static const char* const CHANGED[] = {"body_mass",
                                      "body_subtreemass",
                                      "body_invweight0",
                                      "dof_invweight0",
                                      "dof_M0",
                                      "actuator_acc0",
                                      "inertia",
                                      "tendon_lengthspring",  // a dead band needs two lengths
                                      "body_weldid",          // mocap bodies are their own
                                      "body_sameframe",
                                      "geom_sameframe",
                                      "site_sameframe",        // hints for speed
                                      "actuator_lengthrange",  // simulated with other damping since
                                      "actuator_dyntype",
                                      "sensor_type",
                                      "sensor_objtype",
                                      "sensor_reftype",  // new kinds between
                                      NULL};
enum { OF_MESHES = 7 };

static void compare_file(const char* path, tbTally* tally) {
  const char* name = tb_test_model_name(path);
  char message[1000] = "";
  tbError error = {0};
  mjModel* theirs = mj_loadXML(path, NULL, message, sizeof message);
  if (!theirs) {
    message[strcspn(message, "\n")] = 0;
    print_message("skipped: %s: MuJoCo says: %s\n", name, message);
    tally->skipped++;
    return;
  }
  tbModel* m = tb_load(path, NULL, &error);
  if (!m) {
    print_error("%s: %s\n", name, error.message);
    tally->failed++;
  } else {
    // 2.2.2 diagonalises a full matrix to 1e-6 only.
    tbInertiaSource inertia = tb_test_inertia_source(path);
    double tolerance = inertia.by_mesh || inertia.by_full ? 1e-6 : 1e-9;
    tbCompare compare = {.model = name,
                         .tolerance = tolerance,
                         .mesh = 1e-5,
                         .unlike = CHANGED + (inertia.by_mesh ? 0 : OF_MESHES)};
    tbOracle* oracle = records(theirs);
    tb_compare_model(&compare, m, oracle);
    tb_oracle_free(oracle);
    print_message("%-55s to %.0e: %4d comparisons, %d differ, %d meshes with other axes\n", name,
                  tolerance, compare.fields, compare.failures, compare.turned);
    tally->compared++;
    tally->failed += compare.failures > 0;
  }
  tb_model_free(m);
  mj_deleteModel(theirs);
}

static void test_models(void** state) {
  (void)state;
  char folder[1024];
  // MuJoCo's own test files are of a later version.
  static const char* const FOLDERS[] = {"models/mujoco/model", "models/mujoco_menagerie"};
  tbTally tally = {0};
  for (int k = 0; k < 2; k++) {
    if (!tb_test_shared(FOLDERS[k], folder, sizeof folder)) skip();
    char** paths;
    int n = tb_test_files(folder, ".xml", &paths);
    for (int i = 0; i < n; i++) compare_file(paths[i], &tally);
    tb_test_files_free(paths, n);
  }
  print_message("%d models compared, %d skipped\n", tally.compared, tally.skipped);
  assert_int_equal(tally.failed, 0);
  assert_true(tally.compared > 5);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    tbTally tally = {0};
    for (int i = 1; i < argc; i++) compare_file(argv[i], &tally);
    return tally.failed > 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
