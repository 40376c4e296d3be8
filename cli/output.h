// Output files of a command: written under a temporary name in the same folder, and renamed when
// they are complete.
#ifndef TRIBO_CLI_OUTPUT_H_
#define TRIBO_CLI_OUTPUT_H_

#include <stdbool.h>

typedef struct {
  char* target;  // the file that is finally replaced
  char* write;   // the file to write: TARGET.part, or `target` itself if that is not a regular file
} Output;

// Determine the file to write, and check that it can be written. `path` NULL: no output. False
// after a complaint; existing files are kept.
bool output_begin(Output* output, const char* path, const char* command);

// Whether the file to write has a temporary name.
bool output_is_aside(const Output* output);

// Whether two regular files are the same one.
bool outputs_collide(const Output* one, const Output* other);

// Rename the file to its final name, or (`keep` false) remove it. Frees the names. False after a
// complaint.
bool output_end(Output* output, bool keep, const char* command);

#endif
