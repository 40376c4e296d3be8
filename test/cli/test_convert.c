// tribo convert and tribo compile: every format into every other, and what they refuse.
#include "common/model_difference.h"
#define PROCESS_NAME "convert"
#include "cli/process.h"
#include "tribo/tribo.h"

#define ARM TB_SCENES_DIR "/arm.xml"
#define OUT TB_BUILD_DIR "/cli_convert"

static void run(int expected, const char* arguments) {
  int code = finish(start(PROGRAM, "%s", arguments));
  if (code != expected) fail_msg("'%s' ends with %d", arguments, code);
}

static void same(const char* one, const char* other, double tolerance) {
  tbError error;
  tbModel *a = tb_load(one, NULL, &error), *b = tb_load(other, NULL, &error);
  if (!a || !b) fail_msg("%s", error.message);
  const char* why = tb_test_difference(a, b, tolerance);
  if (why) fail_msg("%s, %s: %s", one, other, why);
  tb_model_free(a);
  tb_model_free(b);
}

static void test_formats(void** state) {
  (void)state;
  run(0, "convert " ARM " " OUT ".xml");
  same(ARM, OUT ".xml", 0);
  run(0, "convert " ARM " " OUT "2.xml --compiled");
  same(ARM, OUT "2.xml", 1e-12);
  run(0, "compile " ARM " " OUT ".tbm");
  same(ARM, OUT ".tbm", 0);
  run(0, "convert " OUT ".tbm " OUT "3.xml");
  same(ARM, OUT "3.xml", 1e-12);
  run(0, "convert " ARM " " OUT ".urdf");
  assert_file_says(STDERR_FILE, "URDF has no words for 1 keyframe: left out");
  run(0, "convert " OUT ".urdf " OUT "4.xml");
  same(OUT ".urdf", OUT "4.xml", 0);
  run(0, "convert " OUT ".urdf " OUT "2.tbm --floating");
  // Options become part of the model.
  run(0, "convert " ARM " " OUT "5.xml --law lcp --option timestep=0.0005 --json");
  tbModel* m = tb_load(OUT "5.xml", NULL, NULL);
  assert_int_equal(m->opt.law, TB_LAW_LCP);
  assert_near(m->opt.timestep, 0.0005, 0);
  tb_model_free(m);
  run(0, "compile " ARM);
  assert_file_says(STDOUT_FILE, "no mistakes");
}

static void test_refusals(void** state) {
  (void)state;
  static const struct {
    const char *arguments, *says;
  } MISTAKES[] = {
      {"convert", "two files are required"},
      {"convert " ARM, "two files are required"},
      {"convert " ARM " " OUT ".abc", "none of the endings .xml, .urdf, .tbm"},
      {"convert " ARM " a.xml b.xml", "two files at most"},
      {"convert /nowhere.xml " OUT "6.xml", "/nowhere.xml"},
      {"convert " ARM " /nowhere/x.xml", "cannot write /nowhere/x.xml"},
      {"convert " TB_SCENES_DIR "/cam.xml " OUT "6.urdf", "has a spring"},
      {"convert " ARM " " OUT "6.xml --compild", "did you mean '--compiled'?"},
      {"compile", "a model file is required"},
      {"compile " ARM " " OUT ".xml", "does not end in .tbm"},
      {"convret " ARM, "did you mean 'convert'?"},
  };
  for (size_t i = 0; i < sizeof MISTAKES / sizeof *MISTAKES; i++) {
    run(2, MISTAKES[i].arguments);
    assert_file_says(STDERR_FILE, MISTAKES[i].says);
  }
  assert_int_equal(file_size(OUT "6.xml"), -1);
  assert_int_equal(file_size(OUT "6.xml.part"), -1);
  assert_int_equal(file_size(OUT "6.urdf"), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_formats),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
