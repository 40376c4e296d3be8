// Reading files.
#ifndef TRIBO_BASE_FILE_H_
#define TRIBO_BASE_FILE_H_

#include "base/arena.h"
#include "tribo/types.h"

// Bytes that a file may have.
#define TB_LARGEST_FILE ((size_t)1 << 30)

// A whole file in the arena, with a zero byte behind it. Directories, files that cannot be read and
// those beyond TB_LARGEST_FILE are errors.
tbResult tb_read_file(const char* path, tbArena* arena, const unsigned char** bytes, size_t* size,
                      tbError* error);

#endif
