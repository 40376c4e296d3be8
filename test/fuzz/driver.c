// Runs a fuzz target over files and folders, where libFuzzer is not there to do it.
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz/fuzz.h"

static int run_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) return -1;
  size_t size = 0, room = 1 << 12;
  uint8_t* bytes = malloc(room);
  while (bytes) {
    size += fread(bytes + size, 1, room - size, file);
    if (size < room) break;
    room *= 2;
    uint8_t* larger = realloc(bytes, room);
    if (!larger) free(bytes);
    bytes = larger;
  }
  fclose(file);
  if (!bytes) return -1;
  // A copy of the exact size, so that reading one byte too far is seen.
  uint8_t* exact = malloc(size ? size : 1);
  if (exact) {
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
  }
  free(exact);
  free(bytes);
  return 1;
}

static int run_folder(const char* path) {
  DIR* folder = opendir(path);
  int n = 0;
  if (!folder) return -1;
  for (struct dirent* entry; (entry = readdir(folder));) {
    char full[4096];
    struct stat info;
    snprintf(full, sizeof full, "%s/%s", path, entry->d_name);
    if (entry->d_name[0] != '.' && stat(full, &info) == 0 && S_ISREG(info.st_mode)) {
      n += run_file(full) == 1;
    }
  }
  closedir(folder);
  return n;
}

int main(int argc, char** argv) {
  int total = 0;
  for (int i = 1; i < argc; i++) {
    struct stat info;
    int n = stat(argv[i], &info) != 0 ? -1
            : S_ISDIR(info.st_mode)   ? run_folder(argv[i])
                                      : run_file(argv[i]);
    if (n < 0) {
      fprintf(stderr, "%s: cannot be read\n", argv[i]);
      return 1;
    }
    total += n;
  }
  printf("%d inputs\n", total);
  return total > 0 ? 0 : 1;
}
