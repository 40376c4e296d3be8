// `tribo sim` driven and observed: controls from files, recordings, contact problems of its steps.
#include "cli/json_reader.h"
#define PROCESS_NAME "drive"
#include "cli/process.h"

#define ARM TB_SCENES_DIR "/arm.xml --key ready"
#define CUBE TB_SCENES_DIR "/sliding_cube.xml --key thrown"
#define OUT TB_BUILD_DIR "/drive_out"

static int run(const char* arguments) {
  return finish(start(PROGRAM, "%s", arguments));
}

static void write_text(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

// Rows of sines for the six motors of the arm, 10 ms apart.
static void write_controls(const char* path) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs("elbow,time,pan,lift,wrist_1,wrist_2,wrist_3\n", file);
  for (int i = 0; i < 20; i++) {
    fprintf(file, "%g,%g", 20 * sin(0.3 * i), 0.01 * i);
    for (int k = 0; k < 5; k++) fprintf(file, ",%g", 5 * sin(0.2 * i + k));
    fputc('\n', file);
  }
  fclose(file);
}

static void assert_same_files(const char* one, const char* other) {
  size_t size, size_other;
  char *a = read_all(one, &size), *b = read_all(other, &size_other);
  assert_int_equal(size, size_other);
  assert_memory_equal(a, b, size);
  free(a);
  free(b);
}

// The controls that a run records drive another run to the same rows, from CSV and from HDF5.
static void recorded_controls_repeat_a_run(void** state) {
  (void)state;
  write_controls(OUT "_in.csv");
  assert_int_equal(run("sim " ARM " --time 0.2 --ctrl " OUT "_in.csv --out " OUT "_1.csv --strict"),
                   0);
  assert_file_says(OUT "_1.csv", "time,qpos:pan,qpos:lift,");
  assert_file_says(OUT "_1.csv", ",ctrl:pan,ctrl:lift,");
  assert_int_equal(run("sim " ARM " --time 0.2 --ctrl " OUT "_1.csv --out " OUT "_2.csv"), 0);
  assert_same_files(OUT "_1.csv", OUT "_2.csv");
#ifdef TB_WITH_HDF5
  assert_int_equal(
      run("sim " ARM " --time 0.2 --ctrl " OUT "_in.csv --record qacc --out " OUT ".h5"), 0);
  assert_int_equal(run("sim " ARM " --time 0.2 --ctrl " OUT ".h5 --out " OUT "_2.csv"), 0);
  assert_same_files(OUT "_1.csv", OUT "_2.csv");
  remove(OUT ".h5");
#endif
  // Without controls it is another run.
  assert_int_equal(run("sim " ARM " --time 0.2 --out " OUT "_2.csv"), 0);
  size_t size;
  char *a = read_all(OUT "_1.csv", &size), *b = read_all(OUT "_2.csv", &size);
  assert_string_not_equal(a, b);
  free(a);
  free(b);
  // A file that ends before the run is told.
  assert_int_equal(run("sim " ARM " --time 0.3 --ctrl " OUT "_in.csv --strict"), 1);
  assert_file_says(STDERR_FILE, "end after 0.2 s of 0.3 s; the last row was held");
  remove(OUT "_1.csv");
  remove(OUT "_2.csv");
}

static void wrong_controls_are_named(void** state) {
  (void)state;
  write_text(OUT "_in.csv", "pan,lfit,elbow,wrist_1,wrist_2,wrist_3\n0,0,0,0,0,0\n");
  assert_int_equal(run("sim " ARM " --ctrl " OUT "_in.csv --json"), 2);
  assert_file_says(STDERR_FILE, "has no column for actuator 1: ctrl:lift, lift or ctrl1");
  size_t size;
  char* text = read_all(STDOUT_FILE, &size);
  assert_json(text);
  free(text);
  write_text(OUT "_in.csv", "1,2,3\n");
  assert_int_equal(run("sim " ARM " --ctrl " OUT "_in.csv"), 2);
  assert_file_says(STDERR_FILE, "3 columns of numbers, expected 6");
  remove(OUT "_in.csv");
}

static void contacts_are_in_a_file_of_their_own(void** state) {
  (void)state;
  assert_int_equal(run("sim " CUBE " --time 0.05 --record contacts,xpos --out " OUT ".csv"), 0);
  assert_file_says(OUT ".csv", ",residual_exact,xpos:world:0,");
  assert_file_says(OUT ".contacts.csv", "time,geom1,geom2,x,y,z,normal_x");
  assert_no_file(OUT ".csv.part");
  assert_no_file(OUT ".contacts.csv.part");
  remove(OUT ".csv");
  remove(OUT ".contacts.csv");
}

#ifdef TB_WITH_HDF5
// Number of problems in the folder, up to step `steps`; they are removed.
static int count_problems(int steps) {
  int count = 0;
  for (int i = 0; i < steps; i++) {
    char path[512];
    snprintf(path, sizeof path, OUT "_problems/step_%06d.hdf5", i);
    count += remove(path) == 0;
  }
  return count;
}

// The problems of a run do not change it, and can be solved.
static void steps_are_written_as_problems(void** state) {
  (void)state;
  assert_int_equal(run("sim " CUBE " --time 0.02 --out " OUT "_1.csv"), 0);
  assert_int_equal(run("sim " CUBE " --time 0.02 --problems " OUT "_problems --out " OUT "_2.csv"),
                   0);
  assert_same_files(OUT "_1.csv", OUT "_2.csv");
  assert_int_equal(run("solve " OUT "_problems/step_000003.hdf5 --json"), 0);
  assert_file_says(STDOUT_FILE, "\"converged\"");
  assert_int_equal(count_problems(30), 20);
  assert_int_equal(run("sim " CUBE " --time 0.02 --problems " OUT "_problems --problems-of 7"), 0);
  assert_int_equal(count_problems(30), 3);
  assert_int_equal(
      run("sim " CUBE " --time 0.02 --solver pgs --tol 1e-13 --max-iter 2 --problems " OUT
          "_problems --problems-of unconverged"),
      0);
  int unconverged = count_problems(30);
  assert_true(unconverged > 0);
  assert_int_equal(
      run("sim " CUBE " --time 0.02 --problems " OUT "_problems --problems-of unconverged"), 0);
  assert_int_equal(count_problems(30), 0);
  remove(OUT "_1.csv");
  remove(OUT "_2.csv");
  rmdir(OUT "_problems");
}

// Contact problems that FCLIB cannot express are left out with a warning.
static void problems_that_are_left_out_are_told(void** state) {
  (void)state;
  write_text(OUT ".xml",
             "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.1'>"
             "<joint type='slide' axis='0 0 1' frictionloss='0.1'/><geom size='0.1'/></body>"
             "</worldbody></mujoco>");
  assert_int_equal(run("sim " OUT ".xml --time 0.01 --strict --problems " OUT "_problems"), 1);
  assert_file_says(STDERR_FILE, "were left out (0 written)");
  assert_file_says(STDERR_FILE, "dry friction of a joint");
  remove(OUT ".xml");
  rmdir(OUT "_problems");
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recorded_controls_repeat_a_run),
      cmocka_unit_test(wrong_controls_are_named),
      cmocka_unit_test(contacts_are_in_a_file_of_their_own),
#ifdef TB_WITH_HDF5
      cmocka_unit_test(steps_are_written_as_problems),
      cmocka_unit_test(problems_that_are_left_out_are_told),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
