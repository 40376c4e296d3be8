// Reading files.
#ifndef TRIBO_BASE_FILE_H_
#define TRIBO_BASE_FILE_H_

#include "base/arena.h"
#include "tribo/types.h"

// The largest file size, in bytes.
#define TB_LARGEST_FILE ((size_t)1 << 30)

// Read a whole file into the arena, with a zero byte after it. Directories, unreadable files and
// files larger than TB_LARGEST_FILE are errors.
tbResult tb_read_file(const char* path, tbArena* arena, const unsigned char** bytes, size_t* size,
                      tbError* error);

// The path as it is seen from any folder: with the current folder before it, "." removed. The
// caller frees it; NULL if out of memory.
char* tb_absolute_path(const char* path);

#endif
