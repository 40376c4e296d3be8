// Files that a command writes: under another name in the same folder, and under their own once they
// are complete.
#ifndef TRIBO_CLI_OUTPUT_H_
#define TRIBO_CLI_OUTPUT_H_

#include <stdbool.h>

typedef struct {
  char* target;  // the file that is replaced in the end
  char* write;   // where to write: TARGET.part, or `target` itself where that is no regular file
} Output;

// Find out where to write, and that it can be written. `path` NULL: no output. False after a
// complaint; what is there stays.
bool output_begin(Output* output, const char* path, const char* command);

// Whether the name to write to is another one than that of the file.
bool output_is_aside(const Output* output);

// Whether two regular files are the same one.
bool outputs_collide(const Output* one, const Output* other);

// Give the file its name, or (`keep` false) remove what was written. Frees the names. False after a
// complaint.
bool output_end(Output* output, bool keep, const char* command);

// Whether any file was left unfinished. HDF5 then must not be asked to clean up when the program
// ends: it crashes on files that it could not close.
bool output_was_dropped(void);

#endif
