// Where the running program lies.
#ifndef TRIBO_CLI_PROGRAM_FOLDER_H_
#define TRIBO_CLI_PROGRAM_FOLDER_H_

#include <stdbool.h>
#include <stddef.h>

// "<folder of the program>/<below>" in `path`. False where that is unknown or too long.
bool program_folder(const char* below, char* path, size_t size);

#endif
