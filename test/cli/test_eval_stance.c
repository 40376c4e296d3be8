// `tribo eval` with the derivatives of contacts that stay closed.
#include <sys/wait.h>

#include "common/test.h"

static char output[1 << 20];

static int run(const char* arguments) {
  char command[2048];
  snprintf(command, sizeof command, "'%s/tribo' eval '%s/quadruped.xml' --key stand %s",
           TB_BUILD_DIR, TB_SCENES_DIR, arguments);
  FILE* pipe = popen(command, "r");
  assert_non_null(pipe);
  output[fread(output, 1, sizeof output - 1, pipe)] = 0;
  int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The largest number of a matrix.
static double largest(const char* name) {
  char key[64];
  snprintf(key, sizeof key, "\"%s\": {\"shape\": [36, 36], \"data\": [", name);
  char* at = strstr(output, key);
  if (!at) fail_msg("no %s", name);
  at += strlen(key);
  double most = 0;
  for (int i = 0; i < 36 * 36; i++) {
    most = fmax(most, fabs(strtod(at, &at)));
    at += strspn(at, ", ");
  }
  assert_true(*at == ']');
  return most;
}

// At the keyframe of the standing robot gaps of 4e-6 m close within the step.
static void test_word_behind_the_name(void** state) {
  (void)state;
  assert_int_equal(run("--json --what A,A_info,A:hold_contacts,A_info:hold_contacts 2>/dev/null"),
                   0);
  assert_true(largest("A") > 1000);
  assert_true(largest("A:hold_contacts") < 10);
  assert_non_null(strstr(output,
                         "\"A_info\": {\"differentiable\": false, \"reason\": \"gap between "
                         "floor and foot_FL is near a kink"));
  assert_non_null(
      strstr(output, "\"A_info:hold_contacts\": {\"differentiable\": true, \"reason\": \"\""));
  assert_int_equal(run("--what A_info:hold_contacts,dqacc_dq:hold_contacts,B:hold_contacts"), 0);
  assert_non_null(strstr(output, "A:hold_contacts: differentiable"));
  assert_non_null(strstr(output, "dqacc_dq:hold_contacts (18 x 18)"));
  assert_non_null(strstr(output, "B:hold_contacts (36 x 12)"));
}

static void test_other_words_and_names(void** state) {
  (void)state;
  static const char* const NAMES[] = {"A:hold", "A:", "M:hold_contacts", "regressor:hold_contacts",
                                      "inverse_info:hold_contacts"};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    char arguments[128];
    snprintf(arguments, sizeof arguments, "--what %s 2>&1", NAMES[i]);
    assert_int_equal(run(arguments), 2);
    assert_non_null(strstr(output, "unknown quantity"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_word_behind_the_name),
      cmocka_unit_test(test_other_words_and_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
