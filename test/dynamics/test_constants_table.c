// The table of what tb_set_constants reads and writes is complete: every array of a model is
// disturbed in turn, and only constants that the table names for it may change.
#include "common/model_files.h"
#include "common/robots.h"
#include "common/test.h"
#include "dynamics/constants/table.h"
#include "model/model.h"
#include "tribo/tribo.h"

static unsigned source_group(const char* field) {
#define X(name, group) \
  if (strcmp(field, #name) == 0) return group;
  TB_CONSTANT_SOURCES(X)
#undef X
  return 0;
}

static unsigned result_groups(const char* field) {
#define X(name, groups) \
  if (strcmp(field, #name) == 0) return groups;
  TB_CONSTANT_RESULTS(X)
  TB_CONSTANT_TOTALS(X)
#undef X
  return 0;
}

// Number of times that a result has changed, by its line in the table.
#define X(name, groups) +1
enum { NRESULT = 0 TB_CONSTANT_RESULTS(X) };
#undef X
static int seen[NRESULT];

static void note(const char* field) {
  int line = 0;
#define X(name, groups)                           \
  if (strcmp(field, #name) == 0) seen[line] += 1; \
  line++;
  TB_CONSTANT_RESULTS(X)
#undef X
}

static void disturb(tbRng* rng, const char* field, tbReal* x, int64_t n) {
  bool shifts = strstr(field, "pos") && !strstr(field, "qpos");
  for (int64_t i = 0; i < n; i++) {
    x[i] *= 1 + tb_rng_uniform(rng, 0.001, 0.01);
    if (shifts) x[i] += tb_rng_uniform(rng, 1e-4, 1e-3);
  }
  int columns = strstr(field, "quat") ? 4 : strcmp(field, "jnt_axis") == 0 ? 3 : 0;
  for (int64_t i = 0; columns && i + columns <= n; i += columns) {
    tbReal norm = 0;
    for (int k = 0; k < columns; k++) {
      x[i + k] += tb_rng_uniform(rng, 1e-3, 1e-2);
      norm += x[i + k] * x[i + k];
    }
    for (int k = 0; k < columns; k++) x[i + k] /= sqrt(norm);
  }
}

// Fail where a constant differs that does not follow from `field`.
static void compare(const tbModel* a, const tbModel* b, const char* field, const char* file) {
  const tbModel* model = a;
  const unsigned group = source_group(field);
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define CHECK(name, differs)                                                    \
  if (strcmp(#name, field) != 0 && (differs)) {                                 \
    note(#name);                                                                \
    if (!(result_groups(#name) & group)) {                                      \
      fail_msg("%s: %s changes with %s, not in the table", file, #name, field); \
    }                                                                           \
  }
#define X(type, name, rows, columns, unit, what) \
  CHECK(name, memcmp(a->name, b->name, (size_t)((rows) * (columns)) * sizeof(type)) != 0)
  TB_MODEL_ARRAYS(X)
#undef X
  CHECK(total_mass, a->total_mass != b->total_mass)
  CHECK(load_to_inertia, a->load_to_inertia != b->load_to_inertia)
  CHECK(extent, a->extent != b->extent)
  CHECK(mean_inertia, a->mean_inertia != b->mean_inertia)
#undef CHECK
}

static void check_model(tbModel* model, const char* file) {
  tbRng rng = {17};
  tbError error;
  if (tb_set_constants(model, &error) != TB_OK) fail_msg("%s: %s", file, error.message);
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define REAL_tbReal(name, n)                                                           \
  if ((n) > 0 && strncmp(#name, "mesh_", 5) != 0 && strncmp(#name, "hull_", 5) != 0) { \
    tbModel* other = tb_model_copy(model);                                             \
    assert_non_null(other);                                                            \
    disturb(&rng, #name, (tbReal*)(void*)other->name, n);                              \
    if (tb_set_constants(other, &error) == TB_OK) compare(model, other, #name, file);  \
    tb_model_free(other);                                                              \
  }
#define REAL_int(name, n)
#define REAL_char(name, n)
#define REAL_float(name, n)
#define REAL_uint16_t(name, n)
#define X(type, name, rows, columns, unit, what) REAL_##type(name, (rows) * (columns))
  TB_MODEL_ARRAYS(X)
#undef X
  tb_model_free(model);
}

static void the_table_names_every_constant_that_changes(void** state) {
  (void)state;
  char** path;
  int n = tb_test_files(TB_SCENES_DIR, ".xml", &path), robots = 0;
  assert_true(n > 20);
  for (int i = 0; i < n; i++) {
    tbError error;
    tbModel* model = tb_load(path[i], NULL, &error);
    if (!model) fail_msg("%s", error.message);
    check_model(model, path[i]);
  }
  tb_test_files_free(path, n);
  for (int i = 0; i < TB_TEST_ROBOT_COUNT; i += 3) {
    tbModel* model = tb_test_robot(i);
    if (!model) continue;
    check_model(model, tb_test_robot_name(i));
    robots++;
  }
  tbError error;
  tbModel* model = tb_load_string(
      "<mujoco><worldbody><camera pos='0 -1 1'/><body pos='0 0 1'><camera mode='trackcom' "
      "pos='1 0 0'/><joint axis='0 1 0' name='a'/><geom size='.1' pos='.1 0 0'/><site name='s' "
      "pos='.1 0 0'/><body name='b' pos='.3 0 0'><joint name='c' axis='0 1 0'/><geom size='.1' "
      "pos='.1 0 0'/></body></body><geom type='hfield' hfield='h'/></worldbody><asset><hfield "
      "name='h' nrow='2' ncol='2' size='1 1 1 .1'/></asset><equality><connect body1='b' "
      "anchor='.1 0 0'/></equality><tendon><fixed name='t' armature='.1' springlength='.1'><joint "
      "joint='a' coef='1'/><joint joint='c' coef='2'/></fixed></tendon><actuator><position "
      "joint='a' kp='3' kv='.1'/><motor tendon='t' gear='2'/></actuator></mujoco>",
      NULL, NULL, &error);
  if (!model) fail_msg("%s", error.message);
  check_model(model, "model with each kind of constant");
  // The models have shown every line of the table at work, those apart that only complete.
  int line = 0;
#define X(name, groups)                                                        \
  if (seen[line++] == 0 && strcmp(#name, "tendon_lengthspring") != 0 &&        \
      strcmp(#name, "actuator_biasprm") != 0 && !strstr(#name, "sameframe")) { \
    fail_msg("%s never changes", #name);                                       \
  }
  TB_CONSTANT_RESULTS(X)
#undef X
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_names_every_constant_that_changes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
