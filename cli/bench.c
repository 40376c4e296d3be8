// `tribo bench NAME...`: each benchmark is a program of its own beside this one
// (bench/tribo-bench-NAME), so that the command line links no peer engine.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "json.h"

static const char PREFIX[] = "tribo-bench-";
enum { LONGEST_PATH = 4096, MOST_BENCHES = 64, LONGEST_NAME = 64, MOST_ARGUMENTS = 256 };

// The folder of the benchmark programs: bench/ beside the running executable.
static int bench_folder(char* folder, size_t size) {
  char self[LONGEST_PATH];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0) return 0;
  self[n] = 0;
  char* slash = strrchr(self, '/');
  if (slash) *slash = 0;
  return (size_t)snprintf(folder, size, "%s/bench", self) < size;
}

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

// Run one benchmark with the given options; its exit code.
static int run_bench(const char* folder, const char* name, int argc, char** argv) {
  char program[LONGEST_PATH + 128];
  int length = snprintf(program, sizeof program, "%s/%s%s", folder, PREFIX, name);
  if (length >= (int)sizeof program || access(program, X_OK) != 0) {
    fprintf(
        stderr,
        "tribo bench: no benchmark '%s' here (`tribo bench --list` names those that were built, "
        "`make benchmarks` builds all)\n",
        name);
    return 2;
  }
  char* arguments[MOST_ARGUMENTS] = {program};
  for (int i = 0; i < argc && i < MOST_ARGUMENTS - 2; i++) arguments[i + 1] = argv[i];
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) {
    perror("tribo bench: fork");
    return 1;
  }
  if (child == 0) {
    execv(program, arguments);
    perror(program);
    _exit(127);
  }
  int status;
  if (waitpid(child, &status, 0) != child) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
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

int tribo_cmd_bench(int argc, char** argv) {
  char folder[LONGEST_PATH], all[MOST_BENCHES][LONGEST_NAME];
  int nall = bench_folder(folder, sizeof folder) ? list_benches(folder, all) : 0;
  if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "--list") == 0)) {
    print_list(all, nall, argc > 1 && strcmp(argv[1], "--json") == 0);
    return 0;
  }
  if (nall == 0) {
    fprintf(stderr, "tribo bench: no benchmarks were built; run `make benchmarks`\n");
    return 1;
  }

  // Names come first, options after them.
  int nnames = 0;
  while (nnames < argc && argv[nnames][0] != '-') nnames++;
  int worst = 0;
  for (int i = 0; i < (nnames ? nnames : nall); i++) {
    const char* name = nnames ? argv[i] : all[i];
    fprintf(stderr, "== %s\n", name);
    int code = run_bench(folder, name, argc - nnames, argv + nnames);
    if (code > worst) worst = code;
  }
  return worst;
}
