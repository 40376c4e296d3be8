// Arguments that several commands share: which model, how it is loaded, and its options.
#ifndef TRIBO_CLI_ARGS_H_
#define TRIBO_CLI_ARGS_H_

#include <stdbool.h>

#include "tribo/tribo.h"

enum { MODEL_ARGS_MOST_PATHS = 32, MODEL_ARGS_MOST_OPTIONS = 64 };

typedef struct {
  const char* path;  // the model, or NULL
  bool json;
  tbLoadOptions options;
  const char* search_paths[MODEL_ARGS_MOST_PATHS];
  int noptions;
  struct {
    char name[64];
    const char* value;
  } option[MODEL_ARGS_MOST_OPTIONS];  // set after loading
} ModelArgs;

// The lines of a usage text about these arguments.
#define MODEL_ARGS_USAGE                                                                           \
  "MODEL is MJCF (.xml), URDF or a compiled model (.tbm). For URDF: --floating gives the base a\n" \
  "free joint, --keep-fixed keeps fixed joints, --keep-visual keeps visual shapes, --srdf FILE\n"  \
  "makes poses keyframes, --package-path FOLDER (any number) is where package:// is looked for.\n"

// Take argv[0] (and its value in argv[1]) if it is one of these. Returns how many were taken, 0 for
// something else, and -1 after a complaint on standard error. `command` names the caller in it.
int model_args_take(ModelArgs* args, const char* command, int argc, char** argv);

// The model with its options set, or NULL after a message on standard error.
tbModel* model_args_load(ModelArgs* args, const char* command);

// The numbers of a text file, separated by blanks, commas, semicolons or lines: how many there are,
// the first `most` of them in `values`, or -1 after a message on standard error.
int read_numbers(const char* path, const char* command, tbReal* values, int most);

// Can `path` be written? False after a message. What is there stays.
bool can_write(const char* path, const char* command);

// Start at a keyframe, given by name or, where it has none, by number. False after a message that
// lists those there are.
bool model_args_reset(const tbModel* model, tbData* data, const char* key, const char* command);

#endif
