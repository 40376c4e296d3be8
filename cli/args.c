#include "args.h"

#include <stdio.h>
#include <string.h>

// A flag with a value: its place in `target`. Returns as model_args_take.
static int take_value(const char* command, int argc, char** argv, const char** target) {
  if (argc < 2) {
    fprintf(stderr, "tribo %s: %s needs a value\n", command, argv[0]);
    return -1;
  }
  *target = argv[1];
  return 2;
}

int model_args_take(ModelArgs* args, const char* command, int argc, char** argv) {
  const struct {
    const char* flag;
    int* target;
  } switches[] = {{"--floating", &args->options.floating_base},
                  {"--keep-fixed", &args->options.keep_fixed},
                  {"--keep-visual", &args->options.keep_visual}};
  for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
    if (strcmp(argv[0], switches[i].flag) != 0) continue;
    *switches[i].target = 1;
    return 1;
  }
  if (strcmp(argv[0], "--json") == 0) {
    args->json = true;
    return 1;
  }
  if (strcmp(argv[0], "--srdf") == 0) return take_value(command, argc, argv, &args->options.srdf);
  if (strcmp(argv[0], "--package-path") == 0) {
    if (args->options.nsearch_paths == MODEL_ARGS_MOST_PATHS) {
      fprintf(stderr, "tribo %s: more than %d package paths\n", command, MODEL_ARGS_MOST_PATHS);
      return -1;
    }
    return take_value(command, argc, argv, &args->search_paths[args->options.nsearch_paths++]);
  }
  if (argv[0][0] == '-') return 0;
  if (args->path) {
    fprintf(stderr, "tribo %s: one model at a time, not '%s' as well\n", command, argv[0]);
    return -1;
  }
  args->path = argv[0];
  return 1;
}

tbModel* model_args_load(ModelArgs* args, const char* command) {
  if (!args->path) {
    fprintf(stderr, "tribo %s: a model file is needed (see --help)\n", command);
    return NULL;
  }
  tbError error = {TB_OK, ""};
  args->options.search_paths = args->search_paths;
  tbModel* model = tb_load(args->path, &args->options, &error);
  if (!model) fprintf(stderr, "tribo %s: %s\n", command, error.message);
  return model;
}
