// `tribo`: finds the subcommand and runs it.
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "message.h"
#include "nearest.h"

typedef struct {
  const char* name;
  int (*run)(int argc, char** argv);
  const char *arguments, *what;
} Command;

static const Command COMMANDS[] = {
    {"info", tribo_cmd_info, "MODEL", "contents of a model"},
    {"convert", tribo_cmd_convert, "IN OUT", "a model in another format"},
    {"compile", tribo_cmd_compile, "MODEL [OUT.tbm]", "check a model, and save it compiled"},
    {"eval", tribo_cmd_eval, "MODEL [--qpos F --qvel F --key K --what ...]",
     "quantities at a state"},
    {"sim", tribo_cmd_sim, "MODEL [--law L --solver S --dt X --time X ...]", "simulate"},
    {"compare", tribo_cmd_compare, "MODEL [--laws L,L --time X --out FOLDER]",
     "one scene under several laws"},
    {"solve", tribo_cmd_solve, "PROBLEM.hdf5 [--law L --solver S --tol X]", "an FCLIB problem"},
    {"render", tribo_cmd_render, "MODEL --out FILE.png|.mp4 [--time X --frames N ...]",
     "a picture or an animation"},
    {"demo", tribo_cmd_demo, "[FOLDER]", "the laws side by side"},
    {"bench", tribo_cmd_bench, "[NAME...] [--short --out DIR --json]", "benchmarks"},
};
enum { NCOMMANDS = sizeof COMMANDS / sizeof COMMANDS[0] };

static void print_usage(FILE* out) {
  fprintf(out, "tribo %s: contact physics for robots\n\n", TRIBO_VERSION);
  for (int i = 0; i < NCOMMANDS; i++) {
    fprintf(out, "  tribo %-7s %-52s %s\n", COMMANDS[i].name, COMMANDS[i].arguments,
            COMMANDS[i].what);
  }
  fprintf(out, "\nEvery command takes --help; --json prints one JSON object on standard output.\n");
}

// The next opened file would get the number of a closed standard stream. Occupy that number with a
// file that can be neither read nor written by mistake.
static void occupy_standard_streams(void) {
  for (int stream = 0; stream < 3; stream++) {
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF &&
        open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY) != stream) {
      return;
    }
  }
}

// With --json the reason of a failure without a report goes to standard output, too.
static void report_failure(int argc, char** argv, int code) {
  bool as_json = false;
  for (int i = 1; i < argc; i++) as_json = as_json || strcmp(argv[i], "--json") == 0;
  if (code != 0 && as_json && !json_started()) message_report();
}

// If the output could not be written, a success becomes a failure.
static int finish(int code) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  fprintf(stderr, "tribo: cannot write to standard output%s%s\n", errno ? ": " : "",
          errno ? strerror(errno) : "");
  return code ? code : 1;
}

static int is_help(const char* word) {
  return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run(int argc, char** argv) {
  if (argc < 2) {
    print_usage(stderr);
    return 2;
  }
  static char help[] = "--help";
  char* asked[] = {help};
  bool about_one = strcmp(argv[1], "help") == 0 && argc > 2;
  if (is_help(argv[1]) || (strcmp(argv[1], "help") == 0 && argc == 2)) {
    print_usage(stdout);
    return 0;
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("tribo %s\n", TRIBO_VERSION);
    return 0;
  }
  const char* name = argv[about_one ? 2 : 1];
  for (int i = 2; i < argc; i++) about_one |= is_help(argv[i]);
  for (int i = 0; i < NCOMMANDS; i++) {
    if (strcmp(name, COMMANDS[i].name) != 0) continue;
    return about_one ? COMMANDS[i].run(1, asked) : COMMANDS[i].run(argc - 2, argv + 2);
  }
  Nearest nearest = {.word = name};
  for (int i = 0; i < NCOMMANDS; i++) nearest_offer(&nearest, COMMANDS[i].name);
  complain(NULL, "unknown command '%s'%s (see tribo --help)", name, nearest_hint(&nearest));
  return 2;
}

int main(int argc, char** argv) {
  occupy_standard_streams();
  int code = run(argc, argv);
  report_failure(argc, argv, code);
  return finish(code);
}
