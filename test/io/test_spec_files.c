// Round trips of all model files found. A file read as a spec, written, read again and compiled
// gives the same bits as the file loaded directly. A spec made from the compiled model, compiled
// again, gives the same numbers to 1e-12.
#include "common/model_files.h"
#include "common/model_difference.h"
#include "common/test.h"
#include "tribo/tribo.h"

static void folder_of(const char* path, char* folder, size_t size) {
  snprintf(folder, size, "%s", path);
  char* slash = strrchr(folder, '/');
  *(slash ? slash : folder) = 0;
}

static bool same(const char* path, const char* what, const tbModel* a, const tbModel* b,
                 double tolerance) {
  const char* why = tb_test_difference(a, b, tolerance);
  if (why) printf("%s: %s: %s\n", path, what, why);
  return !why;
}

// The spec's text reads back as an equal spec, which compiles to the same bits.
static bool text_route(const char* path, const tbSpec* spec, const tbModel* expected) {
  char folder[1024];
  tbError error;
  folder_of(path, folder, sizeof folder);
  char* text = tb_spec_save_xml(spec, &error);
  tbSpec* again = text ? tb_spec_load_xml(text, folder, NULL, &error) : NULL;
  tbModel* model = again ? tb_spec_compile(again, &error) : NULL;
  bool good = model && tb_spec_equal(spec, again) && same(path, "text", expected, model, 0);
  if (!model) printf("%s: text: %s\n", path, error.message);
  if (model && !tb_spec_equal(spec, again)) printf("%s: the text reads as another spec\n", path);
  tb_model_free(model);
  tb_spec_free(again);
  tb_text_free(text);
  return good;
}

static bool model_route(const char* path, const tbModel* expected) {
  tbError error;
  tbSpec* spec = tb_spec_from_model(expected, &error);
  tbModel* model = spec ? tb_spec_compile(spec, &error) : NULL;
  if (!model) printf("%s: model: %s\n", path, error.message);
  bool good = model && same(path, "model", expected, model, 1e-12) && text_route(path, spec, model);
  tb_model_free(model);
  tb_spec_free(spec);
  return good;
}

static bool check(const char* path, tbTally* tally) {
  tbError error = {0}, other = {0};
  tbModel* expected = tb_load(path, NULL, &error);
  tbSpec* spec = tb_spec_load(path, NULL, &other);
  tbModel* model = spec ? tb_spec_compile(spec, &other) : NULL;
  bool good = !expected == !model;
  if (good && !expected) {
    good = strcmp(error.message, other.message) == 0;
    if (!good) printf("%s: '%s', as a spec '%s'\n", path, error.message, other.message);
    tally->skipped++;
  } else if (!good) {
    printf("%s: %s\n", path, expected ? other.message : error.message);
  } else {
    good = same(path, "spec", expected, model, 0);
    // Large meshes take minutes: with TRIBO_ALL_MESHES=1 they go the whole way, too.
    bool large = expected->nmeshvert > 20000 && !getenv("TRIBO_ALL_MESHES");
    if (!large) good = text_route(path, spec, expected) && good;
    if (!large) good = model_route(path, expected) && good;
    tally->compared++;
  }
  tally->failed += !good;
  tb_model_free(expected);
  tb_model_free(model);
  tb_spec_free(spec);
  return good;
}

static void check_folder(const char* folder, const char* ending) {
  tbTally tally = {0};
  char** paths;
  int n = tb_test_files(folder, ending, &paths);
  for (int i = 0; i < n; i++) check(paths[i], &tally);
  tb_test_files_free(paths, n);
  printf("%s: %d compared, %d refused, %d failed\n", folder, tally.compared, tally.skipped,
         tally.failed);
  assert_int_equal(tally.failed, 0);
}

static void test_scenes(void** state) {
  (void)state;
  check_folder(TB_SCENES_DIR, ".xml");
  check_folder(TB_TEST_DIR "/io/features", ".xml");
}

static void test_shared(void** state) {
  (void)state;
  char folder[1024];
  if (!tb_test_shared("models", folder, sizeof folder)) skip();
  check_folder(folder, ".xml");
  check_folder(folder, ".urdf");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scenes),
      cmocka_unit_test(test_shared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
