// `tribo`: finds the subcommand and hands over.
#include <stdio.h>
#include <string.h>

#include "commands.h"

typedef struct {
  const char* name;
  int (*run)(int argc, char** argv);
  const char* usage;
} Command;

static const Command COMMANDS[] = {
    {"info", tribo_cmd_info, "MODEL                                        what is in a model"},
    {"eval", tribo_cmd_eval,
     "MODEL [--qpos F --qvel F --key K --what ...]   quantities at a state"},
    {"sim", tribo_cmd_sim, "MODEL [--law L --solver S --dt X --time X ...]   simulate"},
    {"solve", tribo_cmd_solve, "PROBLEM.hdf5 [--law L --solver S --tol X]    an FCLIB problem"},
#ifdef TB_WITH_ZLIB
    {"render", tribo_cmd_render,
     "MODEL --out FILE.png [--time X --frames N --forces]   a picture or an animation"},
#endif
    {"demo", tribo_cmd_demo, "[FOLDER]                                     the laws side by side"},
    {"bench", tribo_cmd_bench, "[NAME...] [--short --out DIR --json]   benchmarks"},
};
enum { NCOMMANDS = sizeof COMMANDS / sizeof COMMANDS[0] };

static void print_usage(FILE* out) {
  fprintf(out, "tribo %s: contact physics for robots\n\n", TRIBO_VERSION);
  for (int i = 0; i < NCOMMANDS; i++) {
    fprintf(out, "  tribo %-6s %s\n", COMMANDS[i].name, COMMANDS[i].usage);
  }
  fprintf(out, "\nEvery command takes --help; --json prints one JSON object on standard output.\n");
}

int main(int argc, char** argv) {
  if (argc < 2) {
    print_usage(stderr);
    return 2;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
    print_usage(stdout);
    return 0;
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("tribo %s\n", TRIBO_VERSION);
    return 0;
  }
  for (int i = 0; i < NCOMMANDS; i++) {
    if (strcmp(argv[1], COMMANDS[i].name) == 0) return COMMANDS[i].run(argc - 2, argv + 2);
  }
  fprintf(stderr, "tribo: no command '%s'\n\n", argv[1]);
  print_usage(stderr);
  return 2;
}
