// Files that commands write are complete or absent; where writing fails the previous file stays.
#include <sys/resource.h>

#include "cli/fclib_problem.h"
#include "cli/json_reader.h"
#define PROCESS_NAME "files"
#include "cli/process.h"

static const char STACK[] = TB_SCENES_DIR "/stack.xml";

static void write_text(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

// Run with files of at most `bytes`, as on a disk that is full then.
static int run_on_small_disk(long bytes, const char* arguments) {
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = (rlim_t)bytes;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  int code = finish(start(PROGRAM, "%s", arguments));
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  return code;
}

static const char* const KINDS[] = {"csv", "h5", "snapshot", "png"};

// Arguments of a command that writes `path` of one of the kinds.
static void arguments_of(int kind, const char* path, char arguments[2048]) {
  static const char* const FLAGS[] = {"sim %s --time 1 --out %s", "sim %s --time 1 --out %s",
                                      "sim %s --time 0.01 --save %s",
                                      "render %s --size 900x900 --out %s"};
  snprintf(arguments, 2048, FLAGS[kind], STACK, path);
}

static void a_full_disk_leaves_the_old_file(void** state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    char path[1024], part[1040], arguments[2048];
    snprintf(path, sizeof path, "%s/cli_full.%s", TB_BUILD_DIR, KINDS[kind]);
    snprintf(part, sizeof part, "%s.part", path);
    write_text(path, "old\n");
    arguments_of(kind, path, arguments);
    int code = run_on_small_disk(1500, arguments);
    if (code <= 0) fail_msg("%s ends with %d", arguments, code);
    assert_int_equal(file_size(path), 4);
    assert_file_says(path, "old\n");
    assert_no_file(part);
    remove(path);
  }
}

// HDF5 reports no error if writing fails while it closes the file.
static void a_solution_is_whole_or_not_there(void** state) {
  (void)state;
#ifdef TB_WITH_HDF5
  static const char PROBLEM[] = TB_BUILD_DIR "/cli_full_problem.h5";
  static const char OUT[] = TB_BUILD_DIR "/cli_full_solution.h5";
  char arguments[2048];
  write_fclib_problem(PROBLEM);
  snprintf(arguments, sizeof arguments, "solve %s --out %s", PROBLEM, OUT);
  remove(OUT);
  assert_int_equal(finish(start(PROGRAM, "%s", arguments)), 0);
  const long whole = file_size(OUT);
  assert_true(whole > 10000);
  static const long LEFT[] = {100, 1500, 4000, 9000, 12000};
  for (int i = 0; i < 6; i++) {
    write_text(OUT, "old\n");
    int code = run_on_small_disk(i < 5 ? LEFT[i] : whole - 1, arguments);
    if (code != 2) fail_msg("with %ld bytes it ends with %d", i < 5 ? LEFT[i] : whole - 1, code);
    assert_int_equal(file_size(OUT), 4);
    assert_no_file(TB_BUILD_DIR "/cli_full_solution.h5.part");
  }
  assert_int_equal(finish(start(PROGRAM, "solve %s --out /dev/null", PROBLEM)), 0);
  remove(PROBLEM);
  remove(OUT);
#else
  skip();
#endif
}

static void a_full_device_is_an_error(void** state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) skip();
  for (int kind = 0; kind < 4; kind++) {
    char path[1024], arguments[2048];
    snprintf(path, sizeof path, "%s/cli_device.%s", TB_BUILD_DIR, KINDS[kind]);
    remove(path);
    assert_int_equal(symlink("/dev/full", path), 0);
    arguments_of(kind, path, arguments);
    int code = finish(start(PROGRAM, "%s", arguments));
    if (code <= 0) fail_msg("%s ends with %d", arguments, code);
    // The link and its target stay.
    char target[64] = "";
    assert_int_equal(readlink(path, target, sizeof target - 1), strlen("/dev/full"));
    assert_int_equal(access("/dev/full", W_OK), 0);
    remove(path);
  }
}

static void what_is_no_regular_file_is_written_as_it_is(void** state) {
  (void)state;
  assert_int_equal(finish(start(PROGRAM, "sim %s --time 0.01 --save /dev/null", STACK)), 0);
  struct stat status;
  assert_int_equal(stat("/dev/null", &status), 0);
  assert_true(S_ISCHR(status.st_mode));
  assert_int_equal(finish(start(PROGRAM, "sim %s --time 0.01 --save /dev/stdout", STACK)), 0);
  size_t size;
  char* bytes = read_all(STDOUT_FILE, &size);
  assert_memory_equal(bytes, "tribosn", 7);
  free(bytes);

  // Through a pipe the reader gets the whole trajectory.
  static const char PIPE[] = TB_BUILD_DIR "/cli_pipe.csv";
  remove(PIPE);
  assert_int_equal(mkfifo(PIPE, 0600), 0);
  pid_t child = start(PROGRAM, "sim %s --time 0.1 --out %s", STACK, PIPE);
  FILE* pipe = fopen(PIPE, "r");
  int lines = 0;
  for (int c; (c = fgetc(pipe)) != EOF;) lines += c == '\n';
  fclose(pipe);
  assert_int_equal(finish(child), 0);
  assert_int_equal(lines, 51);
  remove(PIPE);
}

static void links_and_permissions_stay(void** state) {
  (void)state;
  static const char FILE_NAME[] = TB_BUILD_DIR "/cli_kept.csv";
  static const char LINK[] = TB_BUILD_DIR "/cli_link.csv";
  write_text(FILE_NAME, "old\n");
  assert_int_equal(chmod(FILE_NAME, 0640), 0);
  remove(LINK);
  assert_int_equal(symlink(FILE_NAME, LINK), 0);
  assert_int_equal(finish(start(PROGRAM, "sim %s --time 0.01 --out %s", STACK, LINK)), 0);
  struct stat status;
  assert_int_equal(lstat(LINK, &status), 0);
  assert_true(S_ISLNK(status.st_mode));
  assert_int_equal(lstat(FILE_NAME, &status), 0);
  assert_true(S_ISREG(status.st_mode) && status.st_size > 100);
  assert_int_equal(status.st_mode & 0777, 0640);
  remove(LINK);
  remove(FILE_NAME);
}

// A run that the first step refuses, or one that fails, writes no file in place of another.
static void refused_runs_leave_the_old_file(void** state) {
  (void)state;
  static const char CSV[] = TB_BUILD_DIR "/cli_refused.csv";
  static const char* const CALLS[] = {"--law lcp --solver admm", "--save /nowhere/x",
                                      "--integrator expo"};
  for (int i = 0; i < 3; i++) {
    write_text(CSV, "old\n");
    assert_int_equal(finish(start(PROGRAM, "sim %s --json --out %s %s", STACK, CSV, CALLS[i])), 2);
    assert_int_equal(file_size(CSV), 4);
    assert_no_file(TB_BUILD_DIR "/cli_refused.csv.part");
    size_t size;
    char* text = read_all(STDOUT_FILE, &size);
    assert_json(text);
    assert_memory_equal(text, "{\"error\": ", 10);
    free(text);
  }
  remove(CSV);
  assert_int_equal(finish(start(PROGRAM, "sim %s --save /tmp", STACK)), 2);
  assert_file_says(STDERR_FILE, "it is a folder");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_full_disk_leaves_the_old_file),
      cmocka_unit_test(a_solution_is_whole_or_not_there),
      cmocka_unit_test(a_full_device_is_an_error),
      cmocka_unit_test(what_is_no_regular_file_is_written_as_it_is),
      cmocka_unit_test(links_and_permissions_stay),
      cmocka_unit_test(refused_runs_leave_the_old_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
