// `tribo bench NAME...`: each benchmark is a separate program next to this one
// (bench/tribo-bench-NAME), so that the command line links no other engine.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "message.h"
#include "nearest.h"
#include "program_folder.h"

static const char PREFIX[] = "tribo-bench-";
enum { LONGEST_PATH = 4096, MOST_BENCHES = 64, LONGEST_NAME = 64, MOST_ARGUMENTS = 256 };

static int compare_names(const void* a, const void* b) {
  return strcmp((const char*)a, (const char*)b);
}

// Names of all benchmarks that were built, sorted.
static int list_benches(const char* folder, char names[][LONGEST_NAME]) {
  DIR* dir = opendir(folder);
  if (!dir) return 0;
  int count = 0;
  for (struct dirent* entry; (entry = readdir(dir)) && count < MOST_BENCHES;) {
    if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) != 0) continue;
    const char* name = entry->d_name + sizeof PREFIX - 1;
    if (strlen(name) < LONGEST_NAME) strcpy(names[count++], name);
  }
  closedir(dir);
  qsort(names, (size_t)count, LONGEST_NAME, compare_names);
  return count;
}

// Run a program. Returns its exit code, 128 plus the signal that ended it, or -1 if it cannot
// start.
static int run_program(const char* program, char* const* arguments) {
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    execv(program, arguments);
    perror(program);
    _exit(127);
  }
  int status;
  interrupt_goes_to(child);
  while (waitpid(child, &status, 0) != child) {
    if (errno != EINTR) return -1;
  }
  interrupt_goes_to(0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Run one benchmark with the given options; its exit code.
static int run_bench(const char* folder, const char* name, int argc, char** argv) {
  char program[LONGEST_PATH + 128];
  int length = snprintf(program, sizeof program, "%s/%s%s", folder, PREFIX, name);
  if (length >= (int)sizeof program || access(program, X_OK) != 0) {
    complain("bench", "%s%s cannot be run", PREFIX, name);
    return 2;
  }
  char* arguments[MOST_ARGUMENTS] = {program};
  for (int i = 0; i < argc && i < MOST_ARGUMENTS - 2; i++) arguments[i + 1] = argv[i];
  fflush(stdout);
  int code = run_program(program, arguments);
  if (code < 0) complain("bench", "cannot start %s: %s", program, strerror(errno));
  return code < 0 ? 1 : code;
}

static void print_list(char (*names)[LONGEST_NAME], int n, bool as_json) {
  if (as_json) {
    Json json = {stdout, false};
    json_open(&json, NULL);
    json_open_array(&json, "benchmarks");
    for (int i = 0; i < n; i++) json_string(&json, NULL, names[i]);
    json_close_array(&json);
    json_close(&json);
    printf("\n");
    return;
  }
  printf("usage: tribo bench [NAME...] [--short] [--out DIR] [--json]\n\n");
  if (n == 0) printf("  none were built; run `make benchmarks`\n");
  for (int i = 0; i < n; i++) printf("  %s\n", names[i]);
}

// Whether all names are those of benchmarks that were built; false after a complaint.
static bool all_known(char (*known)[LONGEST_NAME], int nknown, int n, char** names) {
  for (int i = 0; i < n; i++) {
    Nearest nearest = {.word = names[i]};
    for (int k = 0; k < nknown; k++) nearest_offer(&nearest, known[k]);
    for (int k = 0; k < i; k++) {
      if (strcmp(names[k], names[i]) == 0) return complain("bench", "%s is given twice", names[i]);
    }
    if (strcmp(nearest.best, names[i]) == 0 && *names[i]) continue;
    return complain("bench",
                    "unknown benchmark '%s'%s (`tribo bench --list` names those that were built, "
                    "`make benchmarks` builds all)",
                    names[i], nearest_hint(&nearest));
  }
  return true;
}

int tribo_cmd_bench(int argc, char** argv) {
  char folder[LONGEST_PATH], all[MOST_BENCHES][LONGEST_NAME];
  int nall = program_folder("bench", folder, sizeof folder) ? list_benches(folder, all) : 0;
  bool list = false, as_json = false;
  for (int i = 0; i < argc; i++) {
    list = list || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "--list") == 0;
    as_json = as_json || strcmp(argv[i], "--json") == 0;
  }
  if (list) {
    print_list(all, nall, as_json);
    return 0;
  }
  if (nall == 0) {
    complain("bench", "no benchmarks were built; run `make benchmarks`");
    return 1;
  }

  // Names come first, options after them.
  int nnames = 0, worst = 0;
  while (nnames < argc && argv[nnames][0] != '-') nnames++;
  if (!all_known(all, nall, nnames, argv)) return 2;
  interrupt_catch();
  for (int i = 0; i < (nnames ? nnames : nall) && !interrupt_signal(); i++) {
    const char* name = nnames ? argv[i] : all[i];
    fprintf(stderr, "== %s\n", name);
    int code = run_bench(folder, name, argc - nnames, argv + nnames);
    if (code > worst) worst = code;
  }
  return interrupt_code(worst);
}
