#include "common/oracle.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

tbOracle* tb_oracle_run(const char* model, const char* urdf_compiler, int seed, int states,
                        char* message, size_t size) {
  char folder[1024], out[1200], err[1200], command[6000];
  oracle_folder(folder, sizeof folder);
  snprintf(out, sizeof out, "%s/oracle.%ld.dump", TB_BUILD_DIR, (long)getpid());
  snprintf(err, sizeof err, "%s/oracle.%ld.err", TB_BUILD_DIR, (long)getpid());
  snprintf(command, sizeof command,
           "TRIBO_ORACLE_DIR='%s' node '%s/oracle/dump_mujoco.mjs' '%s' '%s' --seed %d --states %d "
           "--compiler '%s' 2>'%s'",
           folder, TB_TEST_DIR, model, out, seed, states, urdf_compiler ? urdf_compiler : "", err);
  int status = system(command);
  tbOracle* oracle = status == 0 ? read_records(out) : NULL;
  if (message && size) first_line(err, message, size);
  if (oracle) oracle->states = states;
  unlink(out);
  unlink(err);
  return oracle;
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
