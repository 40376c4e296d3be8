// SIGINT and SIGTERM: the results so far are kept in complete files, and the exit code reports the
// interrupt.
#include <sys/ioctl.h>

#include "cli/fclib_problem.h"
#include "cli/json_reader.h"
#define PROCESS_NAME "interrupts"
#include "cli/process.h"

#ifdef TB_WITH_HDF5
#include <hdf5.h>
#endif

static const int SIGNALS[2] = {SIGINT, SIGTERM};
static const char STACK[] = TB_SCENES_DIR "/stack.xml";

// ---- files -------------------------------------------------------------------------------------

static void assert_report_is_json(void) {
  size_t size;
  char* text = read_all(STDOUT_FILE, &size);
  assert_json(text);
  free(text);
}

// Steps that the report tells of.
static long reported_steps(void) {
  size_t size;
  char* text = read_all(STDOUT_FILE, &size);
  assert_json(text);
  const char* at = strstr(text, "\"steps\": ");
  assert_non_null(at);
  long steps = atol(at + strlen("\"steps\": "));
  free(text);
  return steps;
}

static long count_rows(const char* csv) {
  size_t size;
  char* text = read_all(csv, &size);
  assert_true(size > 0 && text[size - 1] == '\n');
  long lines = 0, commas = 0, first = 0;
  for (size_t i = 0; i < size; i++) {
    commas += text[i] == ',';
    if (text[i] != '\n') continue;
    if (lines++ == 0) first = commas;
    assert_int_equal(commas, first);
    commas = 0;
  }
  free(text);
  return lines - 1;
}

#ifdef TB_WITH_HDF5
static long count_h5_rows(const char* path) {
  hsize_t size[2] = {0, 0};
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  hid_t set = H5Dopen2(file, "qpos", H5P_DEFAULT), space = H5Dget_space(set);
  assert_int_equal(H5Sget_simple_extent_dims(space, size, NULL), 2);
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
  return (long)size[0];
}
#endif

static uint32_t word_at(const char* bytes) {
  const unsigned char* p = (const unsigned char*)bytes;
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

// Frames of a PNG whose chunks are whole, IEND the last, and as many as it says.
static long count_frames(const char* path) {
  size_t size, at = 8;
  char* bytes = read_all(path, &size);
  long controls = 0, said = 0;
  const char* last = "";
  assert_true(size > 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0);
  while (at + 12 <= size) {
    last = bytes + at + 4;
    controls += memcmp(last, "fcTL", 4) == 0;
    if (memcmp(last, "acTL", 4) == 0) said = (long)word_at(bytes + at + 8);
    at += 12 + (size_t)word_at(bytes + at);
  }
  assert_int_equal(at, size);
  assert_memory_equal(last, "IEND", 4);
  assert_int_equal(controls, said);
  free(bytes);
  return said;
}

// ---- tests -------------------------------------------------------------------------------------

static void a_run_keeps_rows_and_snapshot(void** state) {
  (void)state;
  static const char CSV[] = TB_BUILD_DIR "/cli_signal.csv";
  static const char SAVED[] = TB_BUILD_DIR "/cli_signal.snapshot";
  for (int i = 0; i < 2; i++) {
    remove(CSV);
    remove(SAVED);
    pid_t child = start(PROGRAM, "sim %s --time 1e6 --json --out %s --save %s", STACK, CSV, SAVED);
    wait_for(child, TB_BUILD_DIR "/cli_signal.csv.part", 1 << 16);
    assert_no_file(CSV);
    kill(child, SIGNALS[i]);
    assert_int_equal(finish(child), 128 + SIGNALS[i]);
    assert_file_says(STDOUT_FILE, "\"warnings\": [\"interrupted after ");
    assert_file_says(STDERR_FILE, "interrupted after ");
    assert_int_equal(count_rows(CSV), reported_steps());
    assert_no_file(TB_BUILD_DIR "/cli_signal.csv.part");
    assert_no_file(TB_BUILD_DIR "/cli_signal.snapshot.part");
    assert_int_equal(finish(start(PROGRAM, "sim %s --time 0 --state %s", STACK, SAVED)), 0);
  }
  remove(CSV);
  remove(SAVED);
}

static void a_run_keeps_its_hdf5_file(void** state) {
  (void)state;
#ifdef TB_WITH_HDF5
  static const char H5[] = TB_BUILD_DIR "/cli_signal.h5";
  for (int i = 0; i < 2; i++) {
    remove(H5);
    pid_t child = start(PROGRAM, "sim %s --time 1e6 --json --out %s", STACK, H5);
    wait_for(child, TB_BUILD_DIR "/cli_signal.h5.part", 1 << 16);
    kill(child, SIGNALS[i]);
    assert_int_equal(finish(child), 128 + SIGNALS[i]);
    assert_int_equal(count_h5_rows(H5), reported_steps());
    assert_no_file(TB_BUILD_DIR "/cli_signal.h5.part");
  }
  remove(H5);
#else
  skip();
#endif
}

static bool has_render(void) {
#ifdef TB_WITH_ZLIB
  return true;
#else
  return false;
#endif
}

static void an_animation_has_the_frames_so_far(void** state) {
  (void)state;
  if (!has_render()) skip();
  static const char PNG[] = TB_BUILD_DIR "/cli_signal.png";
  for (int i = 0; i < 2; i++) {
    remove(PNG);
    pid_t child = start(PROGRAM, "render %s --time 1e3 --frames 9000 --size 80x60 --json --out %s",
                        STACK, PNG);
    wait_for(child, TB_BUILD_DIR "/cli_signal.png.part", 4096);
    kill(child, SIGNALS[i]);
    assert_int_equal(finish(child), 128 + SIGNALS[i]);
    assert_report_is_json();
    assert_file_says(STDOUT_FILE, "interrupted after");
    long frames = count_frames(PNG);
    assert_true(frames >= 1 && frames < 9000);
    assert_no_file(TB_BUILD_DIR "/cli_signal.png.part");
  }
  remove(PNG);
}

// Without a frame there is no file, and one that was there stays.
static void a_still_leaves_what_was_there(void** state) {
  (void)state;
  if (!has_render()) skip();
  static const char PNG[] = TB_BUILD_DIR "/cli_signal_still.png";
  for (int there = 0; there < 2; there++) {
    remove(PNG);
    FILE* file = there ? fopen(PNG, "w") : NULL;
    if (file) assert_true(fputs("old", file) >= 0 && fclose(file) == 0);
    pid_t child = start(PROGRAM, "render %s --time 9e5 --json --out %s", STACK, PNG);
    wait_for(child, TB_BUILD_DIR "/cli_signal_still.png.part", 0);
    kill(child, SIGNALS[there]);
    assert_int_equal(finish(child), 128 + SIGNALS[there]);
    assert_report_is_json();
    assert_file_says(STDOUT_FILE, "{\"error\": ");
    if (there) assert_file_says(PNG, "old");
    if (!there) assert_no_file(PNG);
    assert_no_file(TB_BUILD_DIR "/cli_signal_still.png.part");
  }
  remove(PNG);
}

static void the_demo_ends_its_table(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    remove(STDOUT_FILE);
    pid_t child = start(PROGRAM, "demo %s --json", TB_SCENES_DIR);
    wait_for(child, STDOUT_FILE, 1);
    kill(child, SIGNALS[i]);
    int code = finish(child);
    assert_int_equal(code, 128 + SIGNALS[i]);
    assert_report_is_json();
  }
}

static void a_solve_leaves_no_file(void** state) {
  (void)state;
#ifdef TB_WITH_HDF5
  static const char PROBLEM[] = TB_BUILD_DIR "/cli_signal_problem.h5";
  static const char OUT[] = TB_BUILD_DIR "/cli_signal_solution.h5";
  write_fclib_problem(PROBLEM);
  for (int i = 0; i < 2; i++) {
    pid_t child = start(PROGRAM,
                        "solve %s --law raisim --solver pgs --tol 0 --max-iter "
                        "2000000000 --out %s --json",
                        PROBLEM, OUT);
    wait_for(child, TB_BUILD_DIR "/cli_signal_solution.h5.part", 0);
    wait_ms(100);
    kill(child, SIGNALS[i]);
    assert_int_equal(finish(child), 128 + SIGNALS[i]);
    assert_report_is_json();
    assert_no_file(OUT);
    assert_no_file(TB_BUILD_DIR "/cli_signal_solution.h5.part");
  }
  remove(PROBLEM);
#else
  skip();
#endif
}

// The program with one benchmark, which sleeps.
static void a_benchmark_ends_with_its_caller(void** state) {
  (void)state;
  static const char FOLDER[] = TB_BUILD_DIR "/cli_bench";
  static const char COPY[] = TB_BUILD_DIR "/cli_bench/tribo";
  static const char SLOW[] = TB_BUILD_DIR "/cli_bench/bench/tribo-bench-slow";
  mkdir(FOLDER, 0700);
  mkdir(TB_BUILD_DIR "/cli_bench/bench", 0700);
  remove(COPY);
  assert_int_equal(link(PROGRAM, COPY), 0);
  FILE* script = fopen(SLOW, "w");
  assert_non_null(script);
  fputs("#!/bin/sh\necho $$\nexec sleep 50\n", script);
  fclose(script);
  chmod(SLOW, 0700);
  for (int i = 0; i < 2; i++) {
    remove(STDOUT_FILE);
    pid_t child = start(COPY, "bench slow");
    wait_for(child, STDOUT_FILE, 2);
    kill(child, SIGNALS[i]);
    assert_int_equal(finish(child), 128 + SIGNALS[i]);
    size_t size;
    char* text = read_all(STDOUT_FILE, &size);
    // No process with this number is left.
    assert_int_not_equal(kill((pid_t)atol(text), 0), 0);
    free(text);
  }
  assert_int_equal(finish(start(COPY, "bench slwo --json")), 2);
  assert_file_says(STDOUT_FILE, "did you mean 'slow'?");
  assert_int_equal(finish(start(COPY, "bench slow slow --json")), 2);
  assert_file_says(STDOUT_FILE, "slow is given twice");
  assert_int_equal(finish(start(COPY, "bench --json --list")), 0);
  assert_file_says(STDOUT_FILE, "{\"benchmarks\": [\"slow\"]}");
  remove(SLOW);
  remove(COPY);
}

// Until bytes wait in a pipe and no more come.
static void wait_until_full(int pipe) {
  for (int i = 0, same = 0, before = 0, now = 0; i < 600 && same < 5; i++, wait_ms(100)) {
    assert_int_equal(ioctl(pipe, FIONREAD, &now), 0);
    same = now > 0 && now == before ? same + 1 : 0;
    before = now;
  }
}

// A run that blocks on a pipe without a reader.
static void a_second_signal_ends_at_once(void** state) {
  (void)state;
  static const char PIPE[] = TB_BUILD_DIR "/cli_signal_pipe.csv";
  remove(PIPE);
  assert_int_equal(mkfifo(PIPE, 0600), 0);
  for (int i = 0; i < 2; i++) {
    int reader = open(PIPE, O_RDONLY | O_NONBLOCK);
    pid_t child = start(PROGRAM, "sim %s --time 1e6 --out %s", STACK, PIPE);
    wait_until_full(reader);
    kill(child, SIGNALS[i]);
    wait_ms(100);
    assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
    kill(child, SIGNALS[1 - i]);
    assert_int_equal(finish(child), -SIGNALS[1 - i]);
    close(reader);
  }
  remove(PIPE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_keeps_rows_and_snapshot),
      cmocka_unit_test(a_run_keeps_its_hdf5_file),
      cmocka_unit_test(an_animation_has_the_frames_so_far),
      cmocka_unit_test(a_still_leaves_what_was_there),
      cmocka_unit_test(the_demo_ends_its_table),
      cmocka_unit_test(a_solve_leaves_no_file),
      cmocka_unit_test(a_benchmark_ends_with_its_caller),
      cmocka_unit_test(a_second_signal_ends_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
