#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

tbResult tb_read_file(const char* path, tbArena* arena, const unsigned char** bytes, size_t* size,
                      tbError* error) {
  struct stat info;
  if (stat(path, &info) != 0) return tb_fail(error, TB_ERROR_FILE, "%s: no such file", path);
  if (!S_ISREG(info.st_mode)) {
    return tb_fail(error, TB_ERROR_FILE, "%s: not a regular file", path);
  }
  if (info.st_size < 0 || (uintmax_t)info.st_size > TB_LARGEST_FILE) {
    return tb_fail(error, TB_ERROR_FILE, "%s: larger than 1 GiB", path);
  }
  FILE* file = fopen(path, "rb");
  if (!file) return tb_fail(error, TB_ERROR_FILE, "%s: cannot be opened for reading", path);
  size_t expected = (size_t)info.st_size;
  unsigned char* buffer = tb_arena_alloc(arena, expected + 1);
  size_t got = buffer ? fread(buffer, 1, expected, file) : 0;
  fclose(file);
  if (!buffer) return tb_fail(error, TB_ERROR_MEMORY, "%s: out of memory", path);
  if (got != expected) return tb_fail(error, TB_ERROR_FILE, "%s: cannot be read", path);
  buffer[got] = 0;
  *bytes = buffer;
  *size = got;
  return TB_OK;
}

char* tb_absolute_path(const char* path) {
  enum { LONGEST = 4096 };
  char folder[LONGEST] = "";
  if (path[0] != '/' && !getcwd(folder, sizeof folder)) return NULL;
  size_t n = strlen(folder), size = n + strlen(path) + 2;
  char* full = malloc(size);
  if (!full) return NULL;
  memcpy(full, folder, n);
  // Part by part, so that "//" and "/./" become "/".
  for (const char* at = path; *at; at += strspn(at, "/")) {
    size_t length = strcspn(at, "/");
    if (length && !(length == 1 && *at == '.')) {
      full[n++] = '/';
      memcpy(full + n, at, length);
      n += length;
    }
    at += length;
  }
  if (n == 0) full[n++] = '/';
  full[n] = 0;
  return full;
}
