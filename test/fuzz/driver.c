// Runs a fuzz target over files and folders, where libFuzzer is not there to do it:
//
//   fuzz_NAME [--mutants N] [--seed S] FILE|FOLDER...
//
// With mutants, each file is also tried N times with a few bytes changed, cut out, doubled or taken
// from the file before it. An input that ends the program is left in fuzz_NAME.failed.
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "fuzz/fuzz.h"

typedef struct {
  uint8_t* bytes;
  size_t size;
} Input;

// The present input, for the handler that saves it.
static Input current;
static char failed_path[4096];
static int mutants;
static tbRng rng = {1};
static Input previous;  // the last file, to take pieces from

static void save_current(int signal_number) {
  FILE* file = fopen(failed_path, "wb");
  if (file) {
    fwrite(current.bytes, 1, current.size, file);
    fclose(file);
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void try_input(uint8_t* bytes, size_t size) {
  current = (Input){bytes, size};
  LLVMFuzzerTestOneInput(bytes, size);
}

// A place in [0, size], and a short length from there.
static size_t place(size_t size, size_t* length) {
  size_t at = (size_t)tb_rng_int(&rng, (int)size + 1);
  size_t most = size - at < 24 ? size - at : 24;
  *length = (size_t)tb_rng_int(&rng, (int)most + 1);
  return at;
}

// One change in place; the new size. `bytes` has room for 64 more.
static size_t change(uint8_t* bytes, size_t size) {
  static const char* const WORDS[] = {"0",  "-1", "1e308", "nan", "1e-320", "2147483648", "<",
                                      "'",  " ",  "\n",    "=",   "\"",     "inf",        "/>",
                                      "..", "9",  "e",     "-",   "0x7f",   "65536"};
  size_t length, at = place(size, &length);
  switch (tb_rng_int(&rng, 6)) {
    case 0:  // a bit
      if (at < size) bytes[at] ^= (uint8_t)(1 << tb_rng_int(&rng, 8));
      return size;
    case 1:  // a byte
      if (at < size) bytes[at] = (uint8_t)tb_rng_next(&rng);
      return size;
    case 2:  // cut out
      memmove(bytes + at, bytes + at + length, size - at - length);
      return size - length;
    case 3:  // doubled
      memmove(bytes + at + length, bytes + at, size - at);
      return size + length;
    case 4: {  // a word or a number of note
      const char* word = WORDS[tb_rng_int(&rng, (int)(sizeof WORDS / sizeof WORDS[0]))];
      memmove(bytes + at + strlen(word), bytes + at, size - at);
      memcpy(bytes + at, word, strlen(word));
      return size + strlen(word);
    }
    default: {  // from the file before
      if (!previous.size) return size;
      size_t count, from = place(previous.size, &count);
      if (at + count > size) count = size - at;
      memcpy(bytes + at, previous.bytes + from, count);
      return size;
    }
  }
}

static void try_mutants(const Input* file) {
  for (int i = 0; i < mutants; i++) {
    int changes = 1 + tb_rng_int(&rng, 4);
    uint8_t* bytes = malloc(file->size + 64 * (size_t)changes);
    if (!bytes) return;
    memcpy(bytes, file->bytes, file->size);
    size_t size = file->size;
    for (int k = 0; k < changes; k++) size = change(bytes, size);
    // The exact size, so that reading one byte too far is seen.
    uint8_t* exact = realloc(bytes, size ? size : 1);
    if (exact) try_input(exact, size);
    free(exact);
  }
}

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
  uint8_t* exact = realloc(bytes, size ? size : 1);
  if (!exact) {
    free(bytes);
    return -1;
  }
  try_input(exact, size);
  Input input = {exact, size};
  try_mutants(&input);
  free(previous.bytes);
  previous = input;
  return 1;
}

static int compare_names(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}

// Files in the order of their names, so that a run can be repeated.
static int run_folder(const char* path) {
  DIR* folder = opendir(path);
  char* names[1000];
  int n = 0, done = 0;
  if (!folder) return -1;
  for (struct dirent* entry; (entry = readdir(folder)) && n < 1000;) {
    if (entry->d_name[0] != '.') names[n++] = strdup(entry->d_name);
  }
  closedir(folder);
  qsort(names, (size_t)n, sizeof names[0], compare_names);
  for (int i = 0; i < n; i++) {
    char full[4096];
    struct stat info;
    snprintf(full, sizeof full, "%s/%s", path, names[i]);
    if (stat(full, &info) == 0 && S_ISREG(info.st_mode)) done += run_file(full) == 1;
    free(names[i]);
  }
  return done;
}

int main(int argc, char** argv) {
  int total = 0;
  snprintf(failed_path, sizeof failed_path, "%s.failed", argv[0]);
  signal(SIGABRT, save_current);
  signal(SIGSEGV, save_current);
  signal(SIGFPE, save_current);
  signal(SIGALRM, save_current);
  for (int i = 1; i < argc; i++) {
    if (i + 1 < argc && strcmp(argv[i], "--mutants") == 0) {
      mutants = atoi(argv[++i]);
      continue;
    }
    if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
      rng.state = (uint64_t)atoll(argv[++i]);
      continue;
    }
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
  free(previous.bytes);
  printf("%d inputs, %d mutants of each\n", total, mutants);
  return total > 0 ? 0 : 1;
}
