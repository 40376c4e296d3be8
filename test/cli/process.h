// Runs the command line for tests, also in the background. An includer defines PROCESS_NAME, a
// unique word for the files of standard output and error.
#ifndef TRIBO_TEST_CLI_PROCESS_H_
#define TRIBO_TEST_CLI_PROCESS_H_

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/test.h"

static const char PROGRAM[] = TB_BUILD_DIR "/tribo";

// Where standard output and standard error of a command go.
static const char STDOUT_FILE[] = TB_BUILD_DIR "/cli_" PROCESS_NAME ".out";
static const char STDERR_FILE[] = TB_BUILD_DIR "/cli_" PROCESS_NAME ".err";

// Start a program with arguments separated by single blanks.
static inline pid_t start(const char* program, const char* format, ...) {
  char line[4096], *argv[64] = {(char*)program};
  va_list values;
  va_start(values, format);
  vsnprintf(line, sizeof line, format, values);
  va_end(values);
  int argc = 1;
  for (char* word = strtok(line, " "); word && argc < 63; word = strtok(NULL, " ")) {
    argv[argc++] = word;
  }
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child > 0) return child;
  int out = open(STDOUT_FILE, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int err = open(STDERR_FILE, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(126);
  execv(program, argv);
  _exit(127);
}

static inline void wait_ms(int ms) {
  struct timespec time = {ms / 1000, 1000000L * (ms % 1000)};
  nanosleep(&time, NULL);
}

// The exit code, or minus the signal that ended it. Five minutes at most: machines under load are
// slow.
static inline int finish(pid_t child) {
  int status;
  for (int i = 0; i < 30000; i++, wait_ms(10)) {
    if (waitpid(child, &status, WNOHANG) != child) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  fail_msg("the command did not end");
  return -1;
}

// Bytes of a file, -1 where there is none.
static inline long file_size(const char* path) {
  struct stat status;
  return stat(path, &status) == 0 ? (long)status.st_size : -1;
}

// Until a file that `child` writes has so many bytes.
static inline void wait_for(pid_t child, const char* path, long size) {
  for (int i = 0; i < 3000; i++, wait_ms(10)) {
    if (file_size(path) >= size) return;
  }
  kill(child, SIGKILL);
  fail_msg("%s did not grow to %ld bytes", path, size);
}

// A whole file with a zero behind it; the caller frees it.
static inline char* read_all(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file) fail_msg("no %s", path);
  long length = file_size(path);
  char* bytes = calloc(1, (size_t)length + 1);
  assert_non_null(bytes);
  *size = fread(bytes, 1, (size_t)length, file);
  fclose(file);
  return bytes;
}

static inline void assert_file_says(const char* path, const char* part) {
  size_t size;
  char* text = read_all(path, &size);
  if (!strstr(text, part)) fail_msg("no <%s> in <%s>", part, text);
  free(text);
}

static inline void assert_no_file(const char* path) {
  if (file_size(path) >= 0) fail_msg("%s is still there", path);
}

#endif
