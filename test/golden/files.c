// Compiled models of the project's own files, and every kind of sensor over a few steps of them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/model_files.h"
#include "golden/golden.h"

enum { STEPS = 5 };

// Calls `visit` for every model file of the project, in the order of their names.
static void each_file(void (*visit)(const tbModel* m, const char* name, void* context),
                      void* context) {
  static const char* const FOLDERS[] = {TB_SCENES_DIR, TB_TEST_DIR "/oracle/cases"};
  for (int k = 0; k < 2; k++) {
    char** path;
    int n = tb_test_files(FOLDERS[k], ".xml", &path);
    for (int i = 0; i < n; i++) {
      tbError error;
      tbModel* m = tb_load(path[i], NULL, &error);
      // Parts that other files include, and files that are to be refused.
      if (m) visit(m, golden_name(path[i]), context);
      tb_model_free(m);
    }
    tb_test_files_free(path, n);
  }
}

static uint64_t hash_array(uint64_t hash, const char* type, const void* x, size_t count) {
  if (count == 0) return hash;
  if (strcmp(type, "tbReal") == 0) return golden_reals(hash, x, (int)count);
  return tb_hash(hash, x, count * (strcmp(type, "int") == 0 ? sizeof(int) : 1));
}

static void hash_model(const tbModel* model, const char* name, void* context) {
  (void)context;
  uint64_t hash = TB_HASH_SEED;
#define X(size, what) const int64_t size = model->size;
  TB_MODEL_SIZES(X)
#undef X
  // Notes name files by their paths.
#define X(size, what) \
  if (strcmp(#size, "nnotes") != 0) hash = tb_hash(hash, &size, sizeof size);
  TB_MODEL_SIZES(X)
#undef X
#define X(type, field, rows, columns, unit, what)                               \
  if (strcmp(#field, "notes") != 0) {                                           \
    hash = hash_array(hash, #type, model->field, (size_t)((rows) * (columns))); \
  }
  TB_MODEL_ARRAYS(X)
#undef X
  golden_line("model", name, hash);
}

void golden_models(void) {
  each_file(hash_model, NULL);
}

static void hash_sensors(const tbModel* m, const char* name, void* context) {
  (void)name;
  uint64_t* hash = context;
  tbData* d = m->nsensor ? tb_data_new(m) : NULL;
  tbRng rng = {3};
  for (int k = 0; d && k < STEPS; k++) {
    golden_controls(m, &rng, d->ctrl);
    if (tb_step(m, d) != TB_OK) break;
    for (int i = 0; i < m->nsensor; i++) {
      uint64_t* h = &hash[m->sensor_type[i]];
      *h = golden_reals(*h ? *h : TB_HASH_SEED, d->sensordata + m->sensor_adr[i], m->sensor_dim[i]);
    }
  }
  tb_data_free(d);
}

void golden_sensors(void) {
  uint64_t hash[TB_NSENSORTYPES] = {0};
  each_file(hash_sensors, hash);
  for (int i = 0; i < TB_NSENSORTYPES; i++) {
    char name[32];
    snprintf(name, sizeof name, "type %d", i);
    if (hash[i]) golden_line("sensor", name, hash[i]);
  }
}
