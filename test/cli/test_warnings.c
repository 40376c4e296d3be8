// Warnings of `tribo sim` and `tribo demo` for steps without a certificate, steps that did not
// converge and steps that are not finite. The steps are real; only their reported status is
// modified.
#include <fcntl.h>
#include <unistd.h>

#include "cli/json_reader.h"
#include "commands.h"
#include "common/test.h"
#include "tribo/tribo.h"

#ifdef TB_WITH_HDF5
#include <hdf5.h>
#endif

static const char* const CUBE = TB_SCENES_DIR "/sliding_cube.xml";

// ---- steps -------------------------------------------------------------------------------------

typedef enum { AS_IT_IS, EVERY_OTHER_UNJUDGED, ALL_UNJUDGED, FIRST_STALLED, LAST_INFINITE } Change;

static Change change;
static long step;

tbResult __real_tb_step(const tbModel* m, tbData* d);
tbResult __wrap_tb_step(const tbModel* m, tbData* d);

tbResult __wrap_tb_step(const tbModel* m, tbData* d) {
  tbResult result = __real_tb_step(m, d);
  tbSolveInfo* solve = &d->solve;
  if (change == EVERY_OTHER_UNJUDGED) {
    solve->residual_exact = (tbResidual){1, 2, 3, step % 2 ? NAN : 0.5};
    solve->residual = (tbResidual){NAN, NAN, step == 2 ? 0.25 : NAN, NAN};
  }
  if (change == ALL_UNJUDGED) {
    solve->residual = solve->residual_exact = (tbResidual){NAN, NAN, NAN, -NAN};
  }
  if (change == FIRST_STALLED && step < 2) {
    solve->status = TB_SOLVE_STALLED;
    solve->residual.relative = step ? 0.125 : 0.0625;
  }
  if (change == LAST_INFINITE && step == 9) solve->residual.dual = INFINITY;
  step++;
  return result;
}

// ---- running -----------------------------------------------------------------------------------

static char output[1 << 16], complaints[1 << 14];

static void read_back(const char* path, char* text, size_t size) {
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, size - 1, file)] = 0;
  fclose(file);
  remove(path);
}

// Run a command with its streams in `output` and `complaints`; its exit code.
static int run(int (*command)(int, char**), Change how, const char* const* words) {
  char path[2][1024], *argv[16];
  int argc = 0, saved[2], code;
  while (words[argc]) {
    argv[argc] = (char*)words[argc];
    argc++;
  }
  change = how;
  step = 0;
  for (int i = 0; i < 2; i++) {
    snprintf(path[i], sizeof path[i], "%s/cli_warnings.%d", TB_BUILD_DIR, i);
    int file = open(path[i], O_RDWR | O_CREAT | O_TRUNC, 0600);
    fflush(i ? stderr : stdout);
    saved[i] = dup(i + 1);
    dup2(file, i + 1);
    close(file);
  }
  code = command(argc, argv);
  for (int i = 0; i < 2; i++) {
    fflush(i ? stderr : stdout);
    dup2(saved[i], i + 1);
    close(saved[i]);
  }
  read_back(path[0], output, sizeof output);
  read_back(path[1], complaints, sizeof complaints);
  return code;
}

#define SIM(how, ...) \
  run(tribo_cmd_sim, how, (const char* const[]){CUBE, "--time", "0.01", __VA_ARGS__, NULL})

static void assert_says(const char* text, const char* part) {
  if (!strstr(text, part)) fail_msg("no <%s> in <%s>", part, text);
}

// ---- tests -------------------------------------------------------------------------------------

// Each field over the steps where it is a number.
static void means_leave_out_uncertified_steps(void** state) {
  (void)state;
  assert_int_equal(SIM(EVERY_OTHER_UNJUDGED, "--json"), 0);
  assert_json(output);
  assert_says(output,
              "\"residual\": {\"mean\": {\"primal\": null, \"dual\": null, \"complementarity\": "
              "0.25, \"relative\": null}, \"max\": {\"primal\": null, \"dual\": null, "
              "\"complementarity\": 0.25, \"relative\": null}}");
  assert_says(output,
              "\"residual_exact\": {\"mean\": {\"primal\": 1, \"dual\": 2, \"complementarity\": 3, "
              "\"relative\": 0.5}, \"max\"");
  assert_says(output, "\"unconverged_steps\": 0, \"uncertified_steps\": 5,");
  assert_says(output,
              "5 of 10 steps have no certificate (residual of the exact law), the first at step 1");
  assert_says(complaints, "5 of 10 steps have no certificate");
}

static void nothing_judged_has_no_residual(void** state) {
  (void)state;
  assert_int_equal(SIM(ALL_UNJUDGED, "--json"), 0);
  assert_json(output);
  assert_null(strstr(output, "nan"));
  assert_says(output, "\"uncertified_steps\": 10,");
  assert_int_equal(SIM(ALL_UNJUDGED, "--strict"), 1);
  assert_says(output, "relative residual    mean -, max -; of the exact law mean -, max -");
  assert_says(output, "0 steps not converged, 10 without certificate");
  const char* const demo[] = {TB_SCENES_DIR, "--json", NULL};
  assert_int_equal(run(tribo_cmd_demo, ALL_UNJUDGED, demo), 0);
  assert_json(output);
  assert_says(output, "\"residual_exact\": null");
}

static void unconverged_steps_are_a_warning(void** state) {
  (void)state;
  assert_int_equal(SIM(FIRST_STALLED, "--json"), 0);
  assert_json(output);
  assert_says(output, "\"unconverged_steps\": 2,");
  static const char WARNING[] =
      "2 of 10 steps did not converge, the first at step 0, the worst at step 1 with a relative "
      "residual of 1.2e-01";
  assert_says(output, WARNING);
  assert_says(complaints, WARNING);
  assert_int_equal(SIM(FIRST_STALLED, "--json", "--strict"), 1);
  assert_int_equal(SIM(AS_IT_IS, "--json", "--strict"), 0);
  assert_says(output, "\"warnings\": []");
  assert_string_equal(complaints, "");
}

static void infinite_values_are_a_warning(void** state) {
  (void)state;
  assert_int_equal(SIM(LAST_INFINITE, "--strict", "--json"), 1);
  assert_json(output);
  assert_null(strstr(output, "inf,"));
  assert_says(output, "1 of 10 steps have values that are not finite");
  assert_says(output, "the first at step 9");
}

static void long_steps_are_a_warning(void** state) {
  (void)state;
  const char* const below[] = {CUBE, "--time", "0.05", "--dt", "0.05", "--strict", "--json", NULL};
  assert_int_equal(run(tribo_cmd_sim, AS_IT_IS, below), 0);
  assert_says(output, "\"warnings\": []");
  const char* const above[] = {CUBE, "--time", "0.06", "--dt", "0.06", "--strict", "--json", NULL};
  assert_int_equal(run(tribo_cmd_sim, AS_IT_IS, above), 1);
  assert_json(output);
  assert_says(output, "[\"the time step of 0.06 s is above 0.05 s");
  assert_says(complaints, "the time step of 0.06 s is above 0.05 s");
}

// Two balls of 0.1 m whose centres are `apart`, beside one that overlaps another less.
static void write_balls(const char* path, double apart) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs("<mujoco><option gravity='0 0 0'/><worldbody>", file);
  const double x[4] = {0, apart, 5, 5.189};
  for (int i = 0; i < 4; i++) {
    fprintf(file,
            "<body name='ball%d' pos='%.17g 0 0'><freejoint/><geom name='shell%d' type='sphere' "
            "size='0.1' mass='1'/></body>",
            i, x[i], i);
  }
  fputs("</worldbody></mujoco>", file);
  fclose(file);
}

static void a_first_pose_that_overlaps_is_a_warning(void** state) {
  (void)state;
  char model[1024];
  snprintf(model, sizeof model, "%s/cli_balls.xml", TB_BUILD_DIR);
  const char* const call[] = {model, "--time", "0.01", "--strict", "--json", NULL};
  write_balls(model, 0.16);
  assert_int_equal(run(tribo_cmd_sim, AS_IT_IS, call), 1);
  assert_json(output);
  static const char WARNING[] =
      "the first pose overlaps: 2 contacts deeper than 0.01 m, the deepest 0.04 m between geom 0 "
      "'shell0' of body 1 'ball0' and geom 1 'shell1' of body 2 'ball1'";
  assert_says(output, WARNING);
  assert_says(complaints, WARNING);
  // Less than a centimetre does not count.
  write_balls(model, 0.195);
  assert_int_equal(run(tribo_cmd_sim, AS_IT_IS, call), 1);
  assert_says(output, "1 contact deeper than 0.01 m, the deepest 0.011 m");
  remove(model);
}

static int count(const char* text, const char* part) {
  int n = 0;
  for (const char* at = text; (at = strstr(at, part)); at++) n++;
  return n;
}

// In CSV a residual that is not known is "nan", whatever its sign; in HDF5 it is NaN.
static void trajectories_write_nan(void** state) {
  (void)state;
  char csv[1024], text[1 << 14];
  snprintf(csv, sizeof csv, "%s/cli_nan.csv", TB_BUILD_DIR);
  assert_int_equal(SIM(ALL_UNJUDGED, "--out", csv), 0);
  read_back(csv, text, sizeof text);
  assert_int_equal(count(text, ",nan\n"), 10);
  assert_int_equal(count(text, "-nan"), 0);
#ifdef TB_WITH_HDF5
  char h5[1024];
  double residual[10];
  snprintf(h5, sizeof h5, "%s/cli_nan.h5", TB_BUILD_DIR);
  assert_int_equal(SIM(ALL_UNJUDGED, "--out", h5), 0);
  hid_t file = H5Fopen(h5, H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t set = H5Dopen2(file, "residual_exact", H5P_DEFAULT);
  assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, residual) >= 0);
  H5Dclose(set);
  H5Fclose(file);
  for (int i = 0; i < 10; i++) assert_true(isnan(residual[i]));
  remove(h5);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_leave_out_uncertified_steps),
      cmocka_unit_test(nothing_judged_has_no_residual),
      cmocka_unit_test(unconverged_steps_are_a_warning),
      cmocka_unit_test(infinite_values_are_a_warning),
      cmocka_unit_test(long_steps_are_a_warning),
      cmocka_unit_test(a_first_pose_that_overlaps_is_a_warning),
      cmocka_unit_test(trajectories_write_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
