#include "common/oracle.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

// Where setup.sh put the package.
static void oracle_folder(char* folder, size_t size) {
  const char* set = getenv("TRIBO_ORACLE_DIR");
  const char* cache = getenv("XDG_CACHE_HOME");
  const char* home = getenv("HOME");
  if (set) {
    snprintf(folder, size, "%s", set);
  } else if (cache) {
    snprintf(folder, size, "%s/tribo/oracle", cache);
  } else {
    snprintf(folder, size, "%s/.cache/tribo/oracle", home ? home : ".");
  }
}

bool tb_oracle_available(void) {
  char folder[1024], package[1200];
  oracle_folder(folder, sizeof folder);
  snprintf(package, sizeof package, "%s/node_modules/@mujoco/mujoco/mujoco.js", folder);
  if (access(package, R_OK) == 0) return true;
  printf("skipped: @mujoco/mujoco is not here (test/oracle/setup.sh installs it)\n");
  return false;
}

// Read `bytes` values of `type` and widen them to doubles.
static bool read_values(FILE* file, char type, tbOracleField* field) {
  size_t n = (size_t)field->rows * (size_t)field->columns;
  field->values = calloc(n + 1, sizeof(double));
  if (type == 'd') return fread(field->values, sizeof(double), n, file) == n;
  size_t bytes = type == 'i' ? 4 : 1;
  char* raw = calloc(n + 1, bytes);
  bool ok = fread(raw, bytes, n, file) == n;
  for (size_t i = 0; ok && i < n; i++) {
    int32_t value;
    if (type == 'i') memcpy(&value, raw + 4 * i, 4);
    field->values[i] = type == 'i' ? value : (unsigned char)raw[i];
  }
  if (type == 'c') {
    field->text = raw;
  } else {
    free(raw);
  }
  return ok;
}

static tbOracle* read_records(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  tbOracle* oracle = calloc(1, sizeof *oracle);
  for (;;) {
    tbOracleField field = {0};
    char type;
    if (fscanf(file, "%63s %c %d %d", field.name, &type, &field.rows, &field.columns) != 4) break;
    if (fgetc(file) != '\n' || field.rows < 0 || field.columns < 0) break;
    if (!read_values(file, type, &field)) {
      free(field.values);
      free(field.text);
      break;
    }
    // Grow by doubling.
    int n = oracle->nfields;
    if ((n & (n - 1)) == 0) {
      oracle->fields = realloc(oracle->fields, (size_t)(n ? 2 * n : 1) * sizeof field);
    }
    oracle->fields[oracle->nfields++] = field;
  }
  fclose(file);
  return oracle;
}

// The first line of a file, without its end.
static void first_line(const char* path, char* line, size_t size) {
  FILE* file = fopen(path, "r");
  line[0] = 0;
  if (!file) return;
  if (fgets(line, (int)size, file)) line[strcspn(line, "\n")] = 0;
  fclose(file);
}

// ---- cache --------------------------------------------------------------------------------------

static uint64_t hash_file(uint64_t hash, const char* path, const struct stat* info) {
  long long facts[2] = {(long long)info->st_size, (long long)info->st_mtime};
  hash = tb_hash(hash, path, strlen(path));
  return tb_hash(hash, facts, sizeof facts);
}

// Names, sizes and times of all files below a folder.
static uint64_t hash_folder(uint64_t hash, const char* folder) {
  struct dirent** entries;
  int n = scandir(folder, &entries, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    char path[2048];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.' && stat(path, &info) == 0) {
      hash = S_ISDIR(info.st_mode) ? hash_folder(hash, path) : hash_file(hash, path, &info);
    }
    free(entries[i]);
  }
  if (n >= 0) free(entries);
  return hash;
}

static uint64_t hash_content(uint64_t hash, const char* path) {
  char block[4096];
  size_t n;
  FILE* file = fopen(path, "rb");
  if (!file) return hash;
  while ((n = fread(block, 1, sizeof block, file)) > 0) hash = tb_hash(hash, block, n);
  fclose(file);
  return hash;
}

// Dumps are kept under a name that depends on everything that goes into them.
static void cache_name(char* path, size_t size, const char* folder, const char* model,
                       const char* script, const char* arguments) {
  char model_folder[1024];
  snprintf(model_folder, sizeof model_folder, "%s", model);
  char* slash = strrchr(model_folder, '/');
  if (slash) *slash = 0;
  uint64_t hash = tb_hash(TB_HASH_SEED, model, strlen(model));
  hash = tb_hash(hash, arguments, strlen(arguments));
  hash = hash_content(hash, script);
  hash = hash_folder(hash, slash ? model_folder : ".");
  snprintf(path, size, "%s/dumps/%016llx", folder, (unsigned long long)hash);
}

// Run the script; the dump gets its name only when it is complete. If MuJoCo refuses the model, its
// message is kept instead.
static void run_script(const char* folder, const char* script, const char* model,
                       const char* arguments, const char* dump, const char* refusal) {
  char out[1300], err[1300], command[8000];
  snprintf(out, sizeof out, "%s.%ld.part", dump, (long)getpid());
  snprintf(err, sizeof err, "%s.%ld.err", dump, (long)getpid());
  snprintf(command, sizeof command,
           "mkdir -p '%s/dumps' && TRIBO_ORACLE_DIR='%s' node '%s' '%s' '%s' %s 2>'%s'", folder,
           folder, script, model, out, arguments, err);
  if (system(command) == 0) {
    rename(out, dump);
    unlink(err);
  } else {
    rename(err, refusal);
    unlink(out);
  }
}

// Where the dump of a model is, and where what MuJoCo said when it refused it.
typedef struct {
  char folder[1024], script[1200], arguments[1024], dump[1200], refusal[1220];
} Place;

static void find_place(Place* place, const char* model, const char* urdf_compiler, int seed,
                       int states) {
  oracle_folder(place->folder, sizeof place->folder);
  snprintf(place->script, sizeof place->script, "%s/oracle/dump_mujoco.mjs", TB_TEST_DIR);
  snprintf(place->arguments, sizeof place->arguments, "--seed %d --states %d --compiler '%s'", seed,
           states, urdf_compiler ? urdf_compiler : "");
  cache_name(place->dump, sizeof place->dump, place->folder, model, place->script,
             place->arguments);
  snprintf(place->refusal, sizeof place->refusal, "%s.err", place->dump);
}

static bool is_there(const Place* place) {
  return access(place->dump, R_OK) == 0 || access(place->refusal, R_OK) == 0;
}

void tb_oracle_prepare(char* const* models, int n, int seed, int states) {
  Place place;
  find_place(&place, "", NULL, seed, states);
  char list[1300], command[5000];
  snprintf(command, sizeof command, "mkdir -p '%s/dumps'", place.folder);
  if (system(command) != 0) return;
  snprintf(list, sizeof list, "%s/dumps/%ld.list", place.folder, (long)getpid());
  FILE* file = fopen(list, "w");
  int missing = 0;
  for (int i = 0; file && i < n; i++) {
    find_place(&place, models[i], NULL, seed, states);
    if (is_there(&place)) continue;
    fprintf(file, "%s\t%s\n", models[i], place.dump);
    missing++;
  }
  if (file) fclose(file);
  snprintf(command, sizeof command, "TRIBO_ORACLE_DIR='%s' node '%s' --batch '%s' %s", place.folder,
           place.script, list, place.arguments);
  // What did not come out here is tried again on its own.
  if (missing && system(command) != 0) printf("the batch of models ended early\n");
  unlink(list);
}

// The dump at a place, made where it is not there yet.
static tbOracle* run_at(const Place* place, const char* model, int states, char* message,
                        size_t size) {
  if (message && size) message[0] = 0;
  if (!is_there(place)) {
    run_script(place->folder, place->script, model, place->arguments, place->dump, place->refusal);
  }
  tbOracle* oracle = access(place->dump, R_OK) == 0 ? read_records(place->dump) : NULL;
  if (oracle) oracle->states = states;
  if (!oracle && message && size) first_line(place->refusal, message, size);
  return oracle;
}

tbOracle* tb_oracle_run(const char* model, const char* urdf_compiler, int seed, int states,
                        char* message, size_t size) {
  Place place;
  find_place(&place, model, urdf_compiler, seed, states);
  return run_at(&place, model, states, message, size);
}

tbOracle* tb_oracle_motion(const char* model, int seed, int states, int steps, char* message,
                           size_t size) {
  Place place;
  oracle_folder(place.folder, sizeof place.folder);
  snprintf(place.script, sizeof place.script, "%s/oracle/step_mujoco.mjs", TB_TEST_DIR);
  snprintf(place.arguments, sizeof place.arguments, "--seed %d --states %d --steps %d", seed,
           states, steps);
  cache_name(place.dump, sizeof place.dump, place.folder, model, place.script, place.arguments);
  snprintf(place.refusal, sizeof place.refusal, "%s.err", place.dump);
  return run_at(&place, model, states, message, size);
}

void tb_oracle_free(tbOracle* oracle) {
  if (!oracle) return;
  for (int i = 0; i < oracle->nfields; i++) {
    free(oracle->fields[i].values);
    free(oracle->fields[i].text);
  }
  free(oracle->fields);
  free(oracle);
}

const tbOracleField* tb_oracle_model(const tbOracle* oracle, const char* name) {
  for (int i = 0; i < oracle->nfields; i++) {
    if (strcmp(oracle->fields[i].name, name) == 0) return &oracle->fields[i];
  }
  return NULL;
}

const tbOracleField* tb_oracle_state(const tbOracle* oracle, int k, const char* name) {
  char full[80];
  snprintf(full, sizeof full, "%d/%s", k, name);
  return tb_oracle_model(oracle, full);
}

int tb_oracle_size(const tbOracle* oracle, const char* name) {
  const tbOracleField* field = tb_oracle_model(oracle, name);
  return field && field->rows == 1 && field->columns == 1 ? (int)field->values[0] : -1;
}
