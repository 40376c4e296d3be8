// Arguments that several commands share: flags, the model, how it is loaded, and its options.
#ifndef TRIBO_CLI_ARGS_H_
#define TRIBO_CLI_ARGS_H_

#include <stdbool.h>

#include "tribo/tribo.h"

enum { ARGS_MOST_PATHS = 32, ARGS_MOST_OPTIONS = 64, ARGS_OPTION_NAME = 64 };

// Options by name, in the order of the command line.
typedef struct {
  int count;
  struct {
    char name[ARGS_OPTION_NAME];
    const char* value;
  } item[ARGS_MOST_OPTIONS];
} OptionList;

// Paths in the order of the command line.
typedef struct {
  int count;
  const char* item[ARGS_MOST_PATHS];
} PathList;

// A flag and its target: exactly one of the targets is set. A switch has no value, the other flags
// take the next argument as their value.
typedef struct {
  const char* name;  // "--time"
  bool* on;          // a switch
  const char** text;
  PathList* paths;      // may be given several times
  OptionList* options;  // with `option`, or NAME=VALUE, which may be given several times
  const char* option;   // the option that the flag is an abbreviation of, or NULL
} Flag;

enum { ARGS_MOST_FLAGS = 64 };

// The arguments of a command.
typedef struct {
  const char* command;
  int count;
  Flag flag[ARGS_MOST_FLAGS];
  const char* noun;     // what `path` is: "model"
  const char** path;    // the one argument that is not a flag, or NULL
  const char** second;  // a second such argument, or NULL
} Grammar;

void grammar_add(Grammar* grammar, Flag flag);

// Parse all arguments. False after a complaint: an unknown flag (with the nearest known one), a
// flag without its value or given twice, an empty argument, a second path.
bool grammar_parse(const Grammar* grammar, int argc, char** argv);

typedef struct {
  const char* path;  // the model, or NULL
  bool json, floating_base, keep_fixed, keep_visual;
  const char* srdf;
  PathList search_paths;
  OptionList options;  // set after loading
} ModelArgs;

// Usage text of these arguments.
#define MODEL_ARGS_USAGE                                                                           \
  "MODEL is MJCF (.xml), URDF or a compiled model (.tbm). For URDF: --floating gives the base a\n" \
  "free joint, --keep-fixed keeps fixed joints, --keep-visual keeps visual shapes, --srdf FILE\n"  \
  "makes poses keyframes, --package-path FOLDER (any number) is where package:// is looked for.\n"

// A grammar with the flags of a model.
Grammar model_args_grammar(ModelArgs* args, const char* command);

// How the model is to be loaded.
tbLoadOptions model_args_options(const ModelArgs* args);

// The model with its options set, or NULL after a complaint.
tbModel* model_args_load(const ModelArgs* args, const char* command);

// Whether the model is a file with the root element `robot`.
bool model_args_is_urdf(const ModelArgs* args);

// Report an invalid value with the library's message, and the nearest of the words that the message
// lists. Always returns false.
bool complain_of_value(const char* command, const char* message, const char* value);

// Read the numbers of a text file, separated by blanks, commas, semicolons or lines. Returns their
// number; the first `most` of them are stored in `values`; -1 after a complaint.
int read_numbers(const char* path, const char* command, tbReal* values, int most);

// The first free or ball joint whose quaternion cannot be scaled to length 1, or -1.
int joint_without_rotation(const tbModel* model, const tbReal* qpos);

// Whether every free and ball joint of `qpos`, read from `path`, has a quaternion that can be
// scaled to length 1. False after a complaint that names the joint.
bool quaternions_are_rotations(const tbModel* model, const tbReal* qpos, const char* path,
                               const char* command);

// Reset to a keyframe, given by name or, if it has none, by number. False after a complaint that
// lists the existing ones.
bool model_args_reset(const tbModel* model, tbData* data, const char* key, const char* command);

#endif
