#include "args.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A flag with a value: its place in `target`. Returns as model_args_take.
static int take_value(const char* command, int argc, char** argv, const char** target) {
  if (argc < 2) {
    fprintf(stderr, "tribo %s: %s needs a value (see --help)\n", command, argv[0]);
    return -1;
  }
  *target = argv[1];
  return 2;
}

// Flags that are short for an option of the model.
static const char* const OPTION_FLAGS[][2] = {
    {"--law", "law"},        {"--solver", "solver"},       {"--integrator", "integrator"},
    {"--dt", "timestep"},    {"--tol", "solve_tolerance"}, {"--max-iter", "solve_iterations"},
    {"--threads", "threads"}};

// --option NAME=VALUE or a flag that is short for it. Returns as model_args_take.
static int take_option(ModelArgs* args, const char* command, int argc, char** argv) {
  const char *name = NULL, *value = NULL;
  bool named = strcmp(argv[0], "--option") == 0;
  for (size_t i = 0; i < sizeof OPTION_FLAGS / sizeof OPTION_FLAGS[0]; i++) {
    if (strcmp(argv[0], OPTION_FLAGS[i][0]) == 0) name = OPTION_FLAGS[i][1];
  }
  if (!named && !name) return 0;
  if (take_value(command, argc, argv, &value) < 0) return -1;
  if (args->noptions == MODEL_ARGS_MOST_OPTIONS) {
    fprintf(stderr, "tribo %s: more than %d options\n", command, MODEL_ARGS_MOST_OPTIONS);
    return -1;
  }
  size_t length = named ? strcspn(value, "=") : strlen(name);
  if (named && (value[length] != '=' || length >= sizeof args->option[0].name)) {
    fprintf(stderr, "tribo %s: --option needs NAME=VALUE, not '%s'\n", command, value);
    return -1;
  }
  memcpy(args->option[args->noptions].name, named ? value : name, length);
  args->option[args->noptions++].value = named ? value + length + 1 : value;
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
  if (argv[0][0] == '-') return take_option(args, command, argc, argv);
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
  for (int i = 0; i < args->noptions && model; i++) {
    if (tb_option_set(&model->opt, args->option[i].name, args->option[i].value, &error) == TB_OK) {
      continue;
    }
    tb_model_free(model);
    model = NULL;
  }
  if (!model) fprintf(stderr, "tribo %s: %s\n", command, error.message);
  return model;
}

int read_numbers(const char* path, const char* command, tbReal* values, int most) {
  struct stat status;
  FILE* file = fopen(path, "r");
  bool folder = file && fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode);
  if (!file || folder) {
    fprintf(stderr, "tribo %s: %s: %s\n", command, path,
            folder ? "a folder; expected a text file of numbers" : strerror(errno));
    if (file) fclose(file);
    return -1;
  }
  int count = 0;
  char word[128];
  while (count >= 0 && fscanf(file, "%*[ ,;\t\r\n]") != EOF &&
         fscanf(file, "%127[^ ,;\t\r\n]", word) == 1) {
    char* end;
    double value = strtod(word, &end);
    if (*end || !isfinite(value)) {
      fprintf(stderr, "tribo %s: %s: '%s' is not a finite number\n", command, path, word);
      count = -1;
    } else {
      if (count < most) values[count] = value;
      count++;
    }
  }
  fclose(file);
  return count;
}

bool can_write(const char* path, const char* command) {
  bool there = access(path, F_OK) == 0;
  FILE* file = fopen(path, "ab");
  if (!file) {
    fprintf(stderr, "tribo %s: cannot write %s: %s\n", command, path, strerror(errno));
    return false;
  }
  fclose(file);
  if (!there) remove(path);
  return true;
}

bool model_args_reset(const tbModel* m, tbData* d, const char* key, const char* command) {
  char* end;
  long number = strtol(key, &end, 10);
  int id = tb_name2id(m, TB_OBJ_KEY, key);
  if (id < 0 && *key && !*end && number >= 0 && number < m->nkey) id = (int)number;
  if (id >= 0) return tb_reset_keyframe(m, d, id) == TB_OK;
  fprintf(stderr, "tribo %s: no keyframe '%s'; the model has ", command, key);
  if (m->nkey == 0) fprintf(stderr, "none");
  for (int i = 0; i < m->nkey && i < 10; i++) {
    const char* name = tb_id2name(m, TB_OBJ_KEY, i);
    if (name && *name) {
      fprintf(stderr, "%s'%s'", i ? ", " : "", name);
    } else {
      fprintf(stderr, "%snumber %d", i ? ", " : "", i);
    }
  }
  fprintf(stderr, "%s\n", m->nkey > 10 ? ", ..." : "");
  return false;
}
