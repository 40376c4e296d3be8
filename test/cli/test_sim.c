// `tribo sim` as a user runs it: report, JSON, trajectories, snapshots, exit codes.
#include <sys/wait.h>

#include "common/test.h"

static char output[1 << 20];

static int run(const char* format, ...) {
  char command[8192];
  int n =
      snprintf(command, sizeof command, "cd '%s' && '%s/tribo' sim ", TB_SCENES_DIR, TB_BUILD_DIR);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command + n, sizeof command - (size_t)n, format, arguments);
  va_end(arguments);
  FILE* pipe = popen(command, "r");
  assert_non_null(pipe);
  output[fread(output, 1, sizeof output - 1, pipe)] = 0;
  int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The text after "key":, up to the next key that follows it.
static const char* value_of(const char* key) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  const char* at = strstr(output, quoted);
  if (!at) fail_msg("no %s in %s", quoted, output);
  return at + strlen(quoted);
}

static void report_has_every_key(void** state) {
  (void)state;
  assert_int_equal(run("stack.xml --time 0.1 --json"), 0);
  static const char* const KEYS[] = {"law",
                                     "steps",
                                     "time",
                                     "qpos",
                                     "qvel",
                                     "energy",
                                     "kinetic",
                                     "potential",
                                     "seconds",
                                     "steps_per_second",
                                     "contacts_mean",
                                     "penetration",
                                     "residual",
                                     "residual_exact",
                                     "unconverged_steps",
                                     "warnings",
                                     "collide",
                                     "assemble",
                                     "solve",
                                     "dynamics",
                                     "total",
                                     "mean",
                                     "max",
                                     "std",
                                     "iterations_mean",
                                     "primal",
                                     "dual",
                                     "relative",
                                     "complementarity"};
  for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) value_of(KEYS[i]);
  assert_int_equal(atoi(value_of("steps")), 50);
  assert_near(atof(value_of("time")), 0.1, 1e-9);
  assert_near(atof(value_of("contacts_mean")), 40, 1e-9);
  assert_near(atof(value_of("potential")), 9.81 * (0.9 * 9 + 1000 * 1.9), 1e-6);
  assert_int_equal(run("stack.xml --time 0.01"), 0);
  assert_non_null(strstr(output, "5 steps"));
  assert_int_equal(run("--help"), 0);
  static const char* const WORDS[] = {"--law",    "--out",     "--save",
                                      "timestep", "baumgarte", "comfree"};
  for (int i = 0; i < 6; i++) assert_non_null(strstr(output, WORDS[i]));
}

// Every law and word that the help names.
static void laws_and_options_are_taken(void** state) {
  (void)state;
  static const char* const LAWS[] = {"ncp",  "ccp",     "lcp",         "raisim",
                                     "soft", "comfree", "viscoelastic"};
  for (int i = 0; i < 7; i++) {
    assert_int_equal(run("sliding_cube.xml --key thrown --law %s --time 0.02 --json", LAWS[i]), 0);
    assert_true(strncmp(value_of("law"), " \"", 2) == 0);
    assert_true(strncmp(value_of("law") + 2, LAWS[i], strlen(LAWS[i])) == 0);
  }
  assert_int_equal(
      run("sliding_cube.xml --key thrown --dt 0.005 --solver pgs --tol 1e-8 --max-iter "
          "50 --threads 2 --option gravity=0,0,-1 --time 0.1 --json"),
      0);
  assert_int_equal(atoi(value_of("steps")), 20);
  // What files say that were made for other contacts is told, where it will not do.
  static const char* const SPRINGS =
      "sliding_cube.xml --law viscoelastic --integrator rk4 --time 0";
  run("%s --dt 0.002 2>&1", SPRINGS);
  assert_non_null(strstr(output, "--integrator expo"));
  run("%s --dt 0.0001 2>&1", SPRINGS);
  assert_null(strstr(output, "--integrator expo"));
}

static int count_lines(const char* path) {
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  int lines = 0;
  for (int c; (c = fgetc(file)) != EOF;) lines += c == '\n';
  fclose(file);
  return lines;
}

static void trajectories_have_a_row_per_step(void** state) {
  (void)state;
  char csv[512], h5[512];
  snprintf(csv, sizeof csv, "%s/sim-test.csv", TB_BUILD_DIR);
  snprintf(h5, sizeof h5, "%s/sim-test.h5", TB_BUILD_DIR);
  assert_int_equal(run("sliding_cube.xml --key thrown --time 0.05 --out '%s'", csv), 0);
  assert_int_equal(count_lines(csv), 51);
#ifdef TB_WITH_HDF5
  assert_int_equal(run("sliding_cube.xml --key thrown --time 0.05 --out '%s'", h5), 0);
  FILE* file = fopen(h5, "rb");
  char magic[8] = "";
  assert_non_null(file);
  assert_int_equal(fread(magic, 1, 8, file), 8);
  fclose(file);
  assert_memory_equal(magic, "\x89HDF\r\n\x1a\n", 8);
#endif
  assert_int_not_equal(run("sliding_cube.xml --out /nowhere/x.csv 2>/dev/null"), 0);
  assert_int_not_equal(run("sliding_cube.xml --out x.what 2>/dev/null"), 0);
  remove(csv);
  remove(h5);
}

// The state of the report as text.
static void final_state(char* text, size_t size) {
  const char *start = strstr(output, "\"qpos\""), *end = strstr(output, "\"energy\"");
  assert_true(start && end && end > start);
  snprintf(text, size, "%.*s", (int)(end - start), start);
}

// The last row's energies are those of its state, which the report has too; and writing changes
// nothing of the motion.
static void rows_have_the_energy_of_their_state(void** state) {
  (void)state;
  char csv[512], line[4096], last[4096] = "", alone[4096], along[4096];
  snprintf(csv, sizeof csv, "%s/sim-energy.csv", TB_BUILD_DIR);
  assert_int_equal(run("ragdoll_stairs.xml --time 0.5 --json"), 0);
  final_state(alone, sizeof alone);
  assert_int_equal(run("ragdoll_stairs.xml --time 0.5 --json --out '%s'", csv), 0);
  final_state(along, sizeof along);
  assert_string_equal(alone, along);
  FILE* file = fopen(csv, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) memcpy(last, line, sizeof last);
  fclose(file);
  remove(csv);
  // ..., energy0, energy1, ncon, residual
  char* field[4];
  for (int i = 3; i >= 0; i--) {
    field[i] = strrchr(last, ',');
    assert_non_null(field[i]);
    *field[i]++ = 0;
  }
  assert_near(atof(field[0]), atof(value_of("potential")), 1e-12);
  assert_near(atof(field[1]), atof(value_of("kinetic")), 1e-12);
  assert_true(atof(field[1]) > 1e-3);
}

static void snapshots_go_on_bit_for_bit(void** state) {
  (void)state;
  char file[512], whole[1 << 16], parts[1 << 16];
  snprintf(file, sizeof file, "%s/sim-test.snapshot", TB_BUILD_DIR);
  assert_int_equal(run("islands.xml --time 0.1 --json"), 0);
  final_state(whole, sizeof whole);
  assert_int_equal(run("islands.xml --time 0.05 --save '%s'", file), 0);
  assert_int_equal(run("islands.xml --time 0.05 --state '%s' --json", file), 0);
  final_state(parts, sizeof parts);
  assert_string_equal(whole, parts);
  // The text tells what this run simulated, not where it ended.
  assert_int_equal(run("islands.xml --time 0.05 --state '%s'", file), 0);
  assert_non_null(strstr(output, ": 0.05 s simulated"));
  // Of another model.
  assert_int_equal(run("stack.xml --state '%s' 2>/dev/null", file), 2);
  remove(file);
}

static void bad_calls_say_so(void** state) {
  (void)state;
  static const char* const CALLS[] = {"",
                                      "nothing.xml",
                                      "stack.xml --law what",
                                      "stack.xml --option nonsense=1",
                                      "stack.xml --time -1",
                                      "stack.xml --key none",
                                      "stack.xml --state nothing.txt",
                                      "stack.xml --what",
                                      "stack.xml --dt zero",
                                      "stack.xml --dt 0",
                                      "stack.xml --dt 1e300",
                                      "stack.xml --dt 1e-300",
                                      "stack.xml --threads -1",
                                      "stack.xml --tol -1",
                                      "stack.xml --max-iter -1",
                                      "stack.xml --max-iter 1e30",
                                      "stack.xml --option law=9",
                                      "stack.xml --law lcp --solver admm",
                                      "stack.xml --integrator expo",
                                      "stack.xml --save nowhere/a",
                                      "sliding_cube.xml --key thrown --state state.txt",
                                      "stack.xml --out nowhere/a.h5",
                                      "stack.xml --out nowhere/a.csv",
                                      "sliding_cube.xml --key 1"};
  for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++) {
    if (run("%s 2>/dev/null", CALLS[i]) != 2) fail_msg("'%s' is not refused", CALLS[i]);
    // A run that did not start prints no report.
    assert_int_equal(strlen(output), 0);
  }
  // The message names the valid values.
  run("sliding_cube.xml --key none 2>&1");
  assert_non_null(strstr(output, "'thrown'"));
  run("stack.xml --law lcp --solver pgs-exact 2>&1");
  assert_non_null(strstr(output, "it has pgs, newton"));
}

// An interrupt ends a run as its time would: report, trajectory and snapshot are whole.
static void interrupts_end_a_run(void** state) {
  (void)state;
  char csv[512];
  snprintf(csv, sizeof csv, "%s/sim-interrupt.csv", TB_BUILD_DIR);
  assert_int_equal(
      // A background job ignores interrupts until the handler is installed.
      run("stack.xml --time 1e6 --out '%s' --json & p=$!; n=0; while [ ! -e '%s.part' ] && [ $n "
          "-lt "
          "600 ]; do sleep 0.1; n=$((n+1)); done; sleep 0.3; kill -INT $p; wait $p",
          csv, csv),
      130);
  assert_non_null(strstr(value_of("warnings"), "interrupted after"));
  assert_int_equal(count_lines(csv), 1 + atoi(value_of("steps")));
  remove(csv);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(report_has_every_key),
      cmocka_unit_test(laws_and_options_are_taken),
      cmocka_unit_test(trajectories_have_a_row_per_step),
      cmocka_unit_test(rows_have_the_energy_of_their_state),
      cmocka_unit_test(snapshots_go_on_bit_for_bit),
      cmocka_unit_test(bad_calls_say_so),
      cmocka_unit_test(interrupts_end_a_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
