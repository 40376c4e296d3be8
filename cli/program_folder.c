#include "program_folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool program_folder(const char* below, char* path, size_t size) {
  char self[4096];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0) return false;
  self[n] = 0;
  char* slash = strrchr(self, '/');
  if (slash) *slash = 0;
  return (size_t)snprintf(path, size, "%s/%s", self, below) < size;
}
