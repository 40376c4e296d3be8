// `tribo info` and `tribo eval` as a user runs them: output, JSON, exit codes.
#include <sys/wait.h>
#include <unistd.h>

#include "cli/json_reader.h"
#include "common/test.h"

static char output[1 << 20];

// Run the command line; returns its exit code. Standard error joins the output with `2>&1`.
static int run(const char* arguments) {
  char command[8192];
  snprintf(command, sizeof command, "'%s/tribo' %s", TB_BUILD_DIR, arguments);
  FILE* pipe = popen(command, "r");
  assert_non_null(pipe);
  size_t n = fread(output, 1, sizeof output - 1, pipe);
  output[n] = 0;
  int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char* write_file(const char* name, const char* text) {
  static char path[1024];
  snprintf(path, sizeof path, "%s/%s", TB_BUILD_DIR, name);
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  return path;
}

// The numbers of "data" behind `key`.
static int numbers(const char* key, double* values, int most) {
  char pattern[64];
  snprintf(pattern, sizeof pattern, "\"%s\": {", key);
  const char* p = strstr(output, pattern);
  assert_non_null(p);
  p = strstr(p, "\"data\": [");
  assert_non_null(p);
  p += strlen("\"data\": [");
  int n = 0;
  while (n < most && *p != ']') {
    char* end;
    values[n++] = strtod(p, &end);
    p = end + strspn(end, ", ");
  }
  return n;
}

// ---- tests --------------------------------------------------------------------------------------

static const char PENDULUM[] =
    "<mujoco model='a \"pendulum\"'><visual><global azimuth='3'/></visual><worldbody>"
    "<body name='rod' pos='0 0 2'><joint name='hinge' axis='0 1 0'/>"
    "<geom type='sphere' size='0.1' pos='0 0 -1' mass='3'/></body></worldbody>"
    "<keyframe><key name='up' qpos='3.14159265358979312' qvel='2'/></keyframe></mujoco>";

static void test_info(void** state) {
  (void)state;
  char arguments[2048];
  snprintf(arguments, sizeof arguments, "info '%s' --json", write_file("cli.xml", PENDULUM));
  assert_int_equal(run(arguments), 0);
  assert_json(output);
  assert_non_null(strstr(output, "\"name\": \"a \\\"pendulum\\\"\""));
  assert_non_null(strstr(output, "\"nq\": 1"));
  assert_non_null(strstr(output, "\"total_mass\": 3"));
  assert_non_null(strstr(output, "\"unsupported\": [\""));
  snprintf(arguments, sizeof arguments, "info '%s'", write_file("cli.xml", PENDULUM));
  assert_int_equal(run(arguments), 0);
  assert_non_null(strstr(output, "rod"));
}

static void test_eval(void** state) {
  (void)state;
  char arguments[4096], model[1024];
  double value[8];
  snprintf(model, sizeof model, "%s", write_file("cli.xml", PENDULUM));
  const char* qpos = write_file("cli_qpos.txt", " 0.5\n");
  snprintf(
      arguments, sizeof arguments,
      "eval '%s' --qpos '%s' --what M,bias,qacc,xipos,body_mass,jac:rod,contacts,energy --json",
      model, qpos);
  assert_int_equal(run(arguments), 0);
  assert_json(output);
  double M = 3 * (1 + 0.4 * 0.01), bias = 3 * 9.81 * sin(0.5);
  assert_int_equal(numbers("M", value, 8), 1);
  assert_near(value[0], M, 1e-15);
  assert_non_null(strstr(output, "\"M\": {\"shape\": [1, 1]"));
  assert_int_equal(numbers("bias", value, 8), 1);
  assert_near(value[0], bias, 1e-14);
  assert_int_equal(numbers("qacc", value, 8), 1);
  assert_near(value[0], -bias / M, 1e-12);
  assert_int_equal(numbers("body_mass", value, 8), 2);
  assert_near(value[1], 3, 0);
  assert_int_equal(numbers("jac:rod", value, 8), 6);
  assert_near(value[4], 1, 1e-15);

  // By keyframe: upright, turning at 2 rad/s.
  snprintf(arguments, sizeof arguments,
           "eval '%s' --key up --what qvel,xipos,energy,xipos,energy --json", model);
  assert_int_equal(run(arguments), 0);
  assert_int_equal(numbers("xipos", value, 8), 6);
  assert_near(value[5], 3, 1e-12);
  assert_non_null(strstr(output, "\"kinetic\": 6.02"));
  // what is asked for twice is one key
  assert_null(strstr(strstr(output, "\"xipos\"") + 1, "\"xipos\""));
  assert_null(strstr(strstr(output, "\"kinetic\"") + 1, "\"kinetic\""));
}

// Every derivative and the inverse of a driven pendulum, against its closed forms.
static void test_derivatives(void** state) {
  (void)state;
  static const char MODEL[] =
      "<mujoco><option timestep='0.002'/><worldbody><body pos='0 0 2'><joint name='hinge' axis='0 "
      "1 0'/><geom type='sphere' size='0.1' pos='0 0 -1' mass='3'/></body></worldbody><actuator>"
      "<motor joint='hinge' gear='2'/></actuator></mujoco>";
  char arguments[8000], model[1024], qpos[1024], qvel[1024], ctrl[1024];
  snprintf(model, sizeof model, "%s", write_file("cli_d.xml", MODEL));
  snprintf(qpos, sizeof qpos, "%s", write_file("cli_dq.txt", "0.5"));
  snprintf(qvel, sizeof qvel, "%s", write_file("cli_dv.txt", "1.5"));
  snprintf(ctrl, sizeof ctrl, "%s", write_file("cli_du.txt", "0.25"));
  snprintf(arguments, sizeof arguments,
           "eval '%s' --qpos '%s' --qvel '%s' --ctrl '%s' --what "
           "inverse,inverse_info,dtau_dq,dtau_dv,dtau_dqacc,dqacc_dq,dqacc_dv,dqacc_dtau,daba_dq,"
           "daba_dv,regressor,A,B --json",
           model, qpos, qvel, ctrl);
  assert_int_equal(run(arguments), 0);
  assert_json(output);
  double value[32], M = 3 * (1 + 0.4 * 0.01), pull = 3 * 9.81 * cos(0.5), h = 0.002;
  const struct {
    const char* name;
    int count;
    double value[4];
  } expected[] = {
      // The motor's torque is the torque that the motion needs.
      {"inverse", 1, {2 * 0.25}},
      {"dtau_dq", 1, {pull}},
      {"dtau_dv", 1, {0}},
      {"dtau_dqacc", 1, {M}},
      {"dqacc_dq", 1, {-pull / M}},
      {"dqacc_dv", 1, {0}},
      {"dqacc_dtau", 1, {1 / M}},
      {"daba_dq", 1, {-pull / M}},
      {"daba_dv", 1, {0}},
      {"A", 4, {1 - h * h * pull / M, h, -h * pull / M, 1}},
      {"B", 2, {2 * h * h / M, 2 * h / M}},
  };
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    assert_int_equal(numbers(expected[i].name, value, 32), expected[i].count);
    for (int k = 0; k < expected[i].count; k++) assert_near(value[k], expected[i].value[k], 1e-11);
  }
  // tau = Y pi: mass, mass times centre, inertia yy about the hinge.
  assert_int_equal(numbers("regressor", value, 32), 20);
  double qacc = (0.5 - 3 * 9.81 * sin(0.5)) / M;
  assert_near(value[13] * -3 + value[16] * 3 * (1 + 0.4 * 0.01), 0.5, 1e-10);
  assert_near(value[16], qacc, 1e-10);
  assert_non_null(strstr(output, "\"A\": {\"shape\": [2, 2]"));
  assert_non_null(strstr(output, "\"B\": {\"shape\": [2, 1]"));

  // Matrices without columns are matrices too.
  snprintf(arguments, sizeof arguments, "eval '%s' --what B --json",
           write_file("cli.xml", PENDULUM));
  assert_int_equal(run(arguments), 0);
  assert_non_null(strstr(output, "\"B\": {\"shape\": [2, 0], \"data\": []}"));
}

static void test_errors(void** state) {
  (void)state;
  char arguments[4096], model[1024];
  snprintf(model, sizeof model, "%s", write_file("cli.xml", PENDULUM));
  assert_int_equal(run("info no_such_file.xml 2>&1"), 2);
  assert_non_null(strstr(output, "no_such_file.xml"));
  assert_int_equal(run("info 2>&1"), 2);
  assert_int_equal(run("info --nonsense 2>&1"), 2);
  snprintf(arguments, sizeof arguments, "eval '%s' --what qpos,nonsense 2>/dev/null", model);
  assert_int_equal(run(arguments), 2);
  assert_string_equal(output, "");
  snprintf(arguments, sizeof arguments, "eval '%s' --qpos '%s' 2>&1", model,
           write_file("cli_qpos.txt", "1 2"));
  assert_int_equal(run(arguments), 2);
  assert_non_null(strstr(output, "has 2 numbers, expected 1"));
  snprintf(arguments, sizeof arguments, "eval '%s' --qpos '%s' 2>&1", model,
           write_file("cli_qpos.txt", "nan"));
  assert_int_equal(run(arguments), 2);
  snprintf(arguments, sizeof arguments, "eval '%s' --what '' 2>&1", model);
  assert_int_equal(run(arguments), 2);
  snprintf(arguments, sizeof arguments, "eval '%s' --qpos / 2>&1", model);
  assert_int_equal(run(arguments), 2);
  assert_non_null(strstr(output, "a folder"));
  // A state that cannot be computed is no bad call.
  snprintf(arguments, sizeof arguments, "eval '%s' --qvel '%s' 2>&1", model,
           write_file("cli_qvel.txt", "1e200"));
  assert_int_equal(run(arguments), 1);
  snprintf(arguments, sizeof arguments, "eval '%s' --key down 2>&1", model);
  assert_int_equal(run(arguments), 2);
}

// An operation that a law does not support is refused, with the list of laws that do.
static void missing_inverse_names_laws(void** state) {
  (void)state;
  char arguments[4096];
  snprintf(arguments, sizeof arguments,
           "eval '%s/sliding_cube.xml' --law viscoelastic --what inverse 2>&1", TB_SCENES_DIR);
  assert_int_equal(run(arguments), 1);
  if (!strstr(output, "law viscoelastic") || !strstr(output, "ncp")) fail_msg("said: %s", output);
}

// A motion that no force makes is said to be one, once.
static void notes_come_once(void** state) {
  (void)state;
  char arguments[4096];
  snprintf(arguments, sizeof arguments,
           "eval '%s/sliding_cube.xml' --qacc '%s' --what inverse 2>&1", TB_SCENES_DIR,
           write_file("cli_qacc.txt", "0 0 -500 0 0 0"));
  assert_int_equal(run(arguments), 0);
  const char* note = strstr(output, "not feasible");
  if (!note) fail_msg("no note in: %s", output);
  assert_null(strstr(note + 1, "not feasible"));
}

// Output that does not reach its reader is a failure, and never ends up in another file.
static void lost_output_is_a_failure(void** state) {
  (void)state;
  char arguments[4096], csv[1024];
  snprintf(csv, sizeof csv, "%s/cli_closed.csv", TB_BUILD_DIR);
  snprintf(arguments, sizeof arguments, "sim '%s/stack.xml' --time 0.01 --out '%s' 2>/dev/null >&-",
           TB_SCENES_DIR, csv);
  assert_int_equal(run(arguments), 1);
  FILE* file = fopen(csv, "r");
  assert_non_null(file);
  for (char line[1 << 16]; fgets(line, sizeof line, file);) assert_null(strstr(line, "steps"));
  fclose(file);
  remove(csv);
  if (access("/dev/full", W_OK) != 0) return;
  snprintf(arguments, sizeof arguments, "info '%s/stack.xml' 2>/dev/null >/dev/full",
           TB_SCENES_DIR);
  assert_int_equal(run(arguments), 1);
}

static void help_is_found(void** state) {
  (void)state;
  static const char* const CALLS[] = {"-h", "help", "--help"};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(run(CALLS[i]), 0);
    assert_non_null(strstr(output, "tribo solve"));
  }
  static const char* const SIM[] = {"help sim", "sim -h", "sim stack.xml --help"};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(run(SIM[i]), 0);
    assert_non_null(strstr(output, "--integrator"));
  }
  assert_int_equal(run("help nonsense 2>/dev/null"), 2);
  assert_int_equal(run("demo --nonsense 2>/dev/null"), 2);
  assert_int_equal(run("demo /nowhere 2>/dev/null"), 2);
}

// The README shows what the demo prints: the rows of its table are those of the thrown cube.
static void test_demo(void** state) {
  (void)state;
  char path[1024], line[1024], arguments[1024];
  snprintf(arguments, sizeof arguments, "demo '%s' --json", TB_SCENES_DIR);
  assert_int_equal(run(arguments), 0);
  assert_json(output);
  assert_non_null(strstr(output, "\"heavy_stack\": ["));
  snprintf(arguments, sizeof arguments, "demo '%s'", TB_SCENES_DIR);
  assert_int_equal(run(arguments), 0);
  snprintf(path, sizeof path, "%s/../README.md", TB_SCENES_DIR);
  FILE* readme = fopen(path, "r");
  assert_non_null(readme);
  int rows = 0;
  while (fgets(line, sizeof line, readme)) {
    char law[32], cell[5][32];
    if (sscanf(line, "| `%31[a-z]`", law) != 1 || !strstr(line, "e-0")) continue;
    const char* numbers_at = strstr(strstr(line, law), "|");
    assert_int_equal(sscanf(numbers_at, "| %31s | %31s | %31s | %31s | %31s |", cell[0], cell[1],
                            cell[2], cell[3], cell[4]),
                     5);
    char start[40];
    snprintf(start, sizeof start, "\n  %s ", law);
    const char* at = strstr(output, start);
    assert_non_null(at);
    at += strlen(start);
    for (int k = 0; k < 5; k++) {
      char word[32];
      int length;
      assert_int_equal(sscanf(at, "%31s%n", word, &length), 1);
      if (strcmp(word, cell[k]) != 0) fail_msg("%s: README says %s, not %s", law, cell[k], word);
      at += length;
    }
    rows++;
  }
  fclose(readme);
  assert_int_equal(rows, 7);
}

// The list of benchmarks is JSON too; words without their value are named.
static void test_small_things(void** state) {
  (void)state;
  assert_int_equal(run("bench --list --json"), 0);
  assert_json(output);
  assert_int_equal(run("sim stack.xml --time 2>&1"), 2);
  assert_non_null(strstr(output, "no value after '--time'"));
  assert_int_equal(run("sim stack.xml --nonsense 2>&1"), 2);
  assert_non_null(strstr(output, "unknown flag '--nonsense'"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_demo),
      cmocka_unit_test(test_small_things),
      cmocka_unit_test(test_info),
      cmocka_unit_test(test_eval),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(missing_inverse_names_laws),
      cmocka_unit_test(notes_come_once),
      cmocka_unit_test(lost_output_is_a_failure),
      cmocka_unit_test(help_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
