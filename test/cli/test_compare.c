// `tribo compare`: what each law does to a thrown cube; pages of `compare` and `demo`.
#include "cli/json_reader.h"
#define PROCESS_NAME "compare"
#include "cli/process.h"

#define CUBE TB_SCENES_DIR "/sliding_cube.xml --key thrown"
#define OUT TB_BUILD_DIR "/compare_out"

// The number `key` of the law's object in the JSON report.
static double value(const char* text, const char* law, const char* key) {
  char quoted[96];
  snprintf(quoted, sizeof quoted, "\"law\": \"%s\"", law);
  const char* at = strstr(text, quoted);
  if (!at) fail_msg("no %s in %s", law, text);
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  at = strstr(at, quoted);
  if (!at) fail_msg("no %s", key);
  return strtod(at + strlen(quoted), NULL);
}

static char* compare(const char* arguments, int code) {
  size_t size;
  assert_int_equal(finish(start(PROGRAM, "compare %s --json", arguments)), code);
  char* text = read_all(STDOUT_FILE, &size);
  assert_json(text);
  return text;
}

// Known differences of the laws: lcp turns the cube aside, ccp lifts it, soft sinks, and only the
// exact law has a small residual.
static void laws_do_what_is_known_of_them(void** state) {
  (void)state;
  char* t = compare(CUBE " --time 0.8 --laws ncp,ccp,lcp,soft", 0);
  assert_near(value(t, "ncp", "path"), 0, 0);
  assert_near(value(t, "ncp", "end"), 0, 0);
  assert_true(value(t, "ncp", "lift") < 1e-12);
  assert_true(value(t, "ncp", "gap") < 1e-8);
  assert_true(value(t, "ncp", "energy_gain") < 1e-6);
  assert_true(value(t, "ncp", "residual_exact") < 1e-5);
  assert_true(value(t, "lcp", "end") > 0.1);
  assert_true(value(t, "ccp", "lift") > 0.02 && value(t, "ccp", "gap") > 5e-4);
  assert_true(value(t, "soft", "penetration") > 1e-4);
  assert_true(value(t, "soft", "residual_exact") > 1e-2);
  assert_true(value(t, "ncp", "penetration") < 1e-6);
  assert_true(value(t, "ncp", "internal") > 0);
  free(t);
}

// Under the exact law the path depends on the time step to first order: ten times the step, ten
// times the distance from the finer run.
static void consistency_is_of_first_order(void** state) {
  (void)state;
  double error[2];
  for (int i = 0; i < 2; i++) {
    char arguments[512];
    snprintf(arguments, sizeof arguments, CUBE " --time 0.5 --laws ncp --finer 10 --dt %g",
             i ? 0.01 : 0.001);
    char* t = compare(arguments, 0);
    error[i] = value(t, "ncp", "consistency");
    free(t);
  }
  assert_true(error[1] > 6 * error[0] && error[1] < 15 * error[0]);
  char* t = compare(CUBE " --time 0.1 --laws ncp --finer 0", 0);
  assert_non_null(strstr(t, "\"consistency\": null"));
  free(t);
}

// Distances are from the reference, whichever place it has.
static void any_law_can_be_the_reference(void** state) {
  (void)state;
  char* one = compare(CUBE " --time 0.3 --laws ncp,soft --finer 0", 0);
  double end = value(one, "soft", "end"), energy = value(one, "soft", "energy_end");
  free(one);
  char* two = compare(CUBE " --time 0.3 --laws ncp,soft --finer 0 --reference soft", 0);
  assert_near(value(two, "ncp", "end"), end, 1e-12);
  assert_near(value(two, "ncp", "energy_end"), -energy, 1e-12);
  assert_near(value(two, "soft", "path"), 0, 0);
  assert_non_null(strstr(two, "\"reference\": \"soft\""));
  free(two);
}

// A law whose step fails is a row with the reason, and the exit code says it.
static void a_law_that_fails_is_a_row_with_the_reason(void** state) {
  (void)state;
  char* t = compare(CUBE " --time 0.1 --laws ncp,soft --solver prox-newton --finer 0", 1);
  assert_non_null(strstr(t, "\"law\": \"soft\", \"ok\": false, \"message\": "));
  free(t);
}

// A page without links that lead nowhere, and with all it needs inside.
static void assert_page(const char* path, const char* const* says, int count) {
  size_t size;
  char* page = read_all(path, &size);
  for (int i = 0; i < count; i++) {
    if (!strstr(page, says[i])) fail_msg("no '%s' in %s", says[i], path);
  }
  for (const char* at = page; (at = strstr(at, "href=\"")); at++) {
    fail_msg("a link in %s: %.60s", path, at);
  }
  for (const char* at = page; (at = strstr(at, "src=\"")); at++) {
    assert_int_equal(strncmp(at, "src=\"data:", 10), 0);
  }
  assert_non_null(strstr(page, "</body></html>"));
  free(page);
}

static void compare_writes_a_page(void** state) {
  (void)state;
  assert_int_equal(finish(start(PROGRAM, "compare " CUBE " --time 0.1 --laws ncp,soft --out " OUT)),
                   0);
  assert_file_says(STDOUT_FILE, OUT "/index.html");
  static const char* const SAYS[] = {"<b>ncp</b>", "<b>soft</b>", "lift mm", "<svg"};
  assert_page(OUT "/index.html", SAYS, 4);
  remove(OUT "/index.html");
  remove(OUT "/compare.svg");
  remove(OUT "/compare.png");
  rmdir(OUT);
  assert_int_equal(finish(start(PROGRAM, "compare " CUBE " --time 0.1 --out /nonexistent/x")), 2);
}

static void demo_writes_a_page(void** state) {
  (void)state;
  assert_int_equal(finish(start(PROGRAM, "demo " TB_SCENES_DIR " --out " OUT)), 0);
  static const char* const SAYS[] = {"ncp",
                                     "viscoelastic",
                                     "Ten boxes",
                                     "Your robot next",
#ifdef TB_WITH_ZLIB
                                     "the thrown cube under every law",
                                     "<b>comfree</b>"
#endif
  };
  assert_page(OUT "/index.html", SAYS, sizeof SAYS / sizeof *SAYS);
  remove(OUT "/index.html");
  remove(OUT "/cube.png");
  remove(OUT "/stack.png");
  rmdir(OUT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(laws_do_what_is_known_of_them),
      cmocka_unit_test(consistency_is_of_first_order),
      cmocka_unit_test(any_law_can_be_the_reference),
      cmocka_unit_test(a_law_that_fails_is_a_row_with_the_reason),
      cmocka_unit_test(compare_writes_a_page),
      cmocka_unit_test(demo_writes_a_page),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
