// Models by world: which arrays they may have for themselves, and how their constants stay true.
//
// A row is hashed when a world is entered. Where a hash differs from that of the last check, the
// values are checked as those of a loaded model are (model/value_rules.h), and constants are
// derived by tb_set_constants in the worker's copy of the model.
#include "batch/expand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "batch/state.h"
#include "dynamics/constants/table.h"
#include "model/check.h"
#include "model/model.h"
#include "model/option.h"
#include "step/step.h"
#include "tribo/dynamics.h"

// ---- which arrays there are --------------------------------------------------------------------

typedef struct {
  const char *name, *type;
  size_t offset, size;  // in tbModel; of a value
  int count;            // of an option's values
} Field;

static const Field ARRAYS[] = {
#define X(type, name, rows, columns, unit, what) \
  {#name, #type, offsetof(tbModel, name), sizeof(type), 0},
    TB_MODEL_ARRAYS(X)
#undef X
};

static const Field OPTIONS[] = {
#define X(type, name, count, value, allowed, unit, what) \
  {"opt." #name, #type, offsetof(tbModel, opt) + offsetof(tbOption, name), sizeof(type), count},
    TB_OPTION_FIELDS(X)
#undef X
};

enum { NARRAY = sizeof ARRAYS / sizeof *ARRAYS, NOPTION = sizeof OPTIONS / sizeof *OPTIONS };

static unsigned group_of(const char* name) {
#define X(field, group) \
  if (strcmp(name, #field) == 0) return group;
  TB_CONSTANT_SOURCES(X)
#undef X
  return 0;
}

static unsigned groups_before(const char* name) {
#define X(field, groups) \
  if (strcmp(name, #field) == 0) return groups;
  TB_CONSTANT_RESULTS(X)
#undef X
  return 0;
}

// Arrays that the collision search and the rigid laws remember in a form of their own.
static bool reshapes(const char* name) {
  static const char* const NAMES[] = {"geom_size", "geom_pos",    "geom_quat",   "geom_margin",
                                      "geom_gap",  "geom_rbound", "geom_aabb",   "pair_margin",
                                      "pair_gap",  "hfield_size", "hfield_data", "body_ipos",
                                      "body_pos",  "body_quat"};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    if (strcmp(name, NAMES[i]) == 0) return true;
  }
  return false;
}

static bool starts_with(const char* text, const char* start) {
  return strncmp(text, start, strlen(start)) == 0;
}

// Why all worlds share a field; NULL: they need not.
static const char* shared_because(const Field* f) {
  if (f->count > 0) {
    if (strcmp(f->name, "opt.threads") == 0) return "a world of a batch is stepped by one thread";
    bool flags =
        strcmp(f->name, "opt.disableflags") == 0 || strcmp(f->name, "opt.enableflags") == 0;
    return flags ? "the collision search of all worlds reads it once" : NULL;
  }
  if (starts_with(f->name, "mesh_") || starts_with(f->name, "hull_")) {
    return "meshes are shared by all worlds";
  }
  if (strcmp(f->type, "tbReal") != 0 && strcmp(f->type, "float") != 0) {
    return "its integers are the structure that all worlds share";
  }
  return tb_expansion_derives(f->name)
             ? "tb_set_constants computes it from other arrays: expand those"
             : NULL;
}

static const Field* find(const char* name, char hint[96]) {
  tbNearest nearest = {.name = name};
  for (int i = 0; i < NARRAY + NOPTION; i++) {
    const Field* f = i < NARRAY ? &ARRAYS[i] : &OPTIONS[i - NARRAY];
    if (strcmp(name, f->name) == 0) return f;
    if (shared_because(f)) continue;
    tb_nearest_offer(&nearest, f->name);
    bool unprefixed = f->count > 0 && strcmp(name, strchr(f->name, '.') + 1) == 0;
    if (unprefixed) nearest = (tbNearest){name, f->name, 0};
  }
  tb_nearest_hint(&nearest, hint);
  return NULL;
}

// ---- rows --------------------------------------------------------------------------------------

void tb_expansion_free(tbExpansion* x) {
  for (int i = 0; i < x->count; i++) free(x->array[i].rows);
  free(x->array);
  free(x->check);
}

size_t tb_expansion_bytes(const tbExpansion* x, int nworld) {
  size_t bytes = x->check ? sizeof(tbWorldCheck) * (size_t)nworld : 0;
  for (int i = 0; i < x->count; i++) {
    bytes += sizeof(tbWorldArray) + x->array[i].bytes * (size_t)nworld;
  }
  return bytes;
}

const tbWorldArray* tb_expansion_find(const tbExpansion* x, const char* name) {
  for (int i = 0; i < x->count; i++) {
    if (strcmp(x->array[i].name, name) == 0) return &x->array[i];
  }
  return NULL;
}

static char* row_of(const tbWorldArray* a, int w) {
  return a->rows + a->bytes * (size_t)w;
}

// Where a model has the values of an array.
static void* place_in(const tbModel* m, const tbWorldArray* a) {
  char* at = (char*)(uintptr_t)m + a->offset;
  return a->by_value ? (void*)at : *(void**)(void*)at;
}

void tb_expansion_view(const tbExpansion* x, tbModel* m, int w) {
  for (int i = 0; i < x->count; i++) {
    const tbWorldArray* a = &x->array[i];
    char* at = (char*)m + a->offset;
    if (a->by_value) {
      memcpy(at, row_of(a, w), a->bytes);
    } else {
      *(void**)(void*)at = row_of(a, w);
    }
  }
}

static uint64_t mix(uint64_t hash, const char* bytes, size_t size) {
  uint64_t word = 0;
  for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
    memcpy(&word, bytes, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  if (size == 0) return hash;
  word = 0;
  memcpy(&word, bytes, size);
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ (hash >> 29);
}

static tbWorldCheck hash_rows(const tbExpansion* x, int w) {
  tbWorldCheck now = {1, 1};
  for (int i = 0; i < x->count; i++) {
    const tbWorldArray* a = &x->array[i];
    if (!a->own) continue;
    uint64_t* hash = a->source ? &now.sources : &now.values;
    *hash = mix(*hash, row_of(a, w), a->bytes);
  }
  return now;
}

void tb_expansion_touch(tbExpansion* x, int w) {
  if (x->check) x->check[w] = (tbWorldCheck){0, 0};
}

// ---- values ------------------------------------------------------------------------------------

// A mesh and a height field have their own size, which that of the geom only repeats.
static tbResult check_sizes(const tbModel* base, const tbReal* size, tbError* error) {
  for (int i = 0; i < 3 * base->ngeom; i++) {
    int type = base->geom_type[i / 3];
    if ((type != TB_GEOM_MESH && type != TB_GEOM_HFIELD) || size[i] == base->geom_size[i]) continue;
    return tb_fail(error, TB_ERROR_MODEL,
                   "geom_size[%d] is %g, expected %g: geom %d is a mesh or height field", i,
                   size[i], base->geom_size[i], i / 3);
  }
  return TB_OK;
}

static tbResult check_row(const tbModel* base, const tbWorldArray* a, const void* row,
                          tbError* error) {
  if (strcmp(a->type, "real") != 0) return TB_OK;
  tbResult result = tb_check_values(base, a->name, row, a->count, error);
  if (result != TB_OK) return result;
  if (strcmp(a->name, "qpos0") == 0 || strcmp(a->name, "qpos_spring") == 0) {
    return tb_check_configuration(base, a->name, row, error);
  }
  return strcmp(a->name, "geom_size") == 0 ? check_sizes(base, row, error) : TB_OK;
}

static tbResult check_rows(const tbExpansion* x, const tbModel* m, const tbModel* base, int w,
                           tbError* error) {
  for (int i = 0; i < x->count; i++) {
    const tbWorldArray* a = &x->array[i];
    if (!a->own || a->by_value) continue;
    tbResult result = check_row(base, a, row_of(a, w), error);
    if (result != TB_OK) return result;
  }
  return tb_option_check(&m->opt, error);
}

// ---- constants ---------------------------------------------------------------------------------

// Write the world's rows into the worker's copy of the model. An array that tb_set_constants only
// completes starts from the values of the batch's model.
static void fill_own(const tbExpansion* x, tbModel* own, const tbModel* base, int w) {
  for (int i = 0; i < x->count; i++) {
    const tbWorldArray* a = &x->array[i];
    if (a->own) memcpy(place_in(own, a), row_of(a, w), a->bytes);
    if (!a->own && group_of(a->name)) memcpy(place_in(own, a), place_in(base, a), a->bytes);
  }
}

static tbResult derive(const tbExpansion* x, tbBatchWorker* worker, const tbModel* base, int w,
                       tbError* error) {
  if (!worker->own) worker->own = tb_model_copy(base);
  tbModel* own = worker->own;
  if (!own) return tb_fail(error, TB_ERROR_MEMORY, "out of memory for a copy of the model");
  fill_own(x, own, base, w);
  own->opt = worker->model.opt;
  tbResult result = tb_set_constants(own, error);
  if (result == TB_OK && memcmp(own, base, sizeof(int) * TB_MODEL_NSIZES) != 0) {
    result = tb_fail(error, TB_ERROR_MODEL, "the values change the sparsity of the model");
  }
  if (result != TB_OK) {
    tb_model_free(worker->own);
    worker->own = NULL;
    return result;
  }
  for (int i = 0; i < x->count; i++) {
    const tbWorldArray* a = &x->array[i];
    if (a->follows) memcpy(row_of(a, w), place_in(own, a), a->bytes);
  }
  // Totals are copied, not pointed to.
  tb_expansion_view(x, &worker->model, w);
  return TB_OK;
}

tbResult tb_expansion_refresh(tbExpansion* x, tbBatchWorker* worker, const tbModel* base, int w) {
  tbWorldCheck now = hash_rows(x, w), *then = &x->check[w];
  bool sources = now.sources != then->sources;
  if (!sources && now.values == then->values) return TB_OK;
  tbError error = {0};
  tbResult result = check_rows(x, &worker->model, base, w, &error);
  if (result == TB_OK && sources) result = derive(x, worker, base, w, &error);
  if (result == TB_OK) {
    // Placeholder values that were replaced have changed the hash.
    *then = sources ? hash_rows(x, w) : now;
    return TB_OK;
  }
  const char* text = starts_with(error.message, "model: ") ? error.message + 7 : error.message;
  snprintf(worker->data->message, sizeof worker->data->message, "%.250s", text);
  return result == TB_ERROR_MEMORY ? result : TB_ERROR_ARGUMENT;
}

tbResult tb_expansion_enter(tbExpansion* x, tbBatchWorker* worker, const tbModel* base, int w) {
  tbResult result = tb_expansion_refresh(x, worker, base, w);
  if (result != TB_OK || !x->reshapes) return result;
  tbStepState* state = tb_step_state(&worker->model, worker->data);
  tb_detector_reshape(state->detector, &worker->model);
  tb_law_reshape(&worker->model, state);
  return TB_OK;
}

bool tb_expansion_derives(const char* name) {
  return groups_before(name) && !group_of(name);
}

// ---- expanding ---------------------------------------------------------------------------------

// Add an array with the values of the batch's model in every row. NULL when out of memory.
static tbWorldArray* add(tbBatch* b, tbWorldArray a) {
  tbExpansion* x = &b->state->expansion;
  size_t n = (size_t)b->nworld;
  tbWorldArray* grown = realloc(x->array, sizeof *grown * (size_t)(x->count + 1));
  if (!grown) return NULL;
  x->array = grown;
  a.bytes = (size_t)a.count * (a.bytes ? a.bytes : 1);
  a.rows = tb_batch_alloc_rows(n * a.bytes);
  if (!a.rows) return NULL;
  const void* value = place_in(b->model, &a);
  for (size_t w = 0; w < n && a.bytes; w++) memcpy(a.rows + w * a.bytes, value, a.bytes);
  x->reshapes = x->reshapes || reshapes(a.name);
  grown[x->count] = a;
  return &grown[x->count++];
}

static tbWorldArray describe(const tbModel* m, const Field* f) {
  int rows = f->count, columns = 1;
  if (f->count == 0) tb_model_field(m, f->name, NULL, &rows, &columns);
  return (tbWorldArray){.name = f->name,
                        .type = strcmp(f->type, "tbReal") == 0 ? "real" : f->type,
                        .offset = f->offset,
                        .count = rows * columns,
                        .bytes = f->size,
                        .by_value = f->count > 0,
                        .source = f->count > 0 ? 0 : group_of(f->name),
                        .follows = f->count > 0 ? 0 : groups_before(f->name)};
}

// Add the constants that follow from a group and are not there yet.
static bool add_constants(tbBatch* b, unsigned group) {
  tbExpansion* x = &b->state->expansion;
  for (int i = 0; i < NARRAY; i++) {
    unsigned follows = groups_before(ARRAYS[i].name);
    if (!(follows & group) || tb_expansion_find(x, ARRAYS[i].name)) continue;
    if (!add(b, describe(b->model, &ARRAYS[i]))) return false;
  }
#define X(field, groups)                                                                        \
  if (((groups)&group) && !tb_expansion_find(x, #field)) {                                      \
    tbWorldArray total = {.name = #field, .type = "real", .count = 1, .bytes = sizeof(tbReal)}; \
    total.offset = offsetof(tbModel, field);                                                    \
    total.by_value = true;                                                                      \
    total.follows = groups;                                                                     \
    if (!add(b, total)) return false;                                                           \
  }
  TB_CONSTANT_TOTALS(X)
#undef X
  return true;
}

// Whether the limit has room for one more array of the user and the constants that follow.
static bool fits(tbBatch* b, const Field* f, size_t* needed) {
  tbWorldArray a = describe(b->model, f);
  size_t bytes = (size_t)a.count * f->size;
  for (int i = 0; i < NARRAY && a.source; i++) {
    if (!(groups_before(ARRAYS[i].name) & a.source)) continue;
    if (tb_expansion_find(&b->state->expansion, ARRAYS[i].name)) continue;
    bytes += (size_t)describe(b->model, &ARRAYS[i]).count * ARRAYS[i].size;
  }
  *needed = tb_batch_memory(b) + bytes * (size_t)b->nworld;
  return b->state->memory_limit == 0 || *needed <= b->state->memory_limit;
}

// The user's own array: one that was added as a constant becomes the user's.
static tbWorldArray* make_own(tbBatch* b, const Field* f) {
  tbExpansion* x = &b->state->expansion;
  size_t n = (size_t)b->nworld;
  if (!x->check) {
    x->check = malloc(sizeof(tbWorldCheck) * n);
    if (!x->check) return NULL;
    for (size_t w = 0; w < n; w++) x->check[w] = (tbWorldCheck){1, 1};
  }
  // A world whose rows were checked stays so: it gets the values of the batch's model.
  bool* checked = malloc(n * sizeof *checked);
  if (!checked) return NULL;
  for (size_t w = 0; w < n; w++) {
    tbWorldCheck now = hash_rows(x, (int)w);
    checked[w] = now.values == x->check[w].values && now.sources == x->check[w].sources;
  }
  tbWorldArray* a = (tbWorldArray*)(uintptr_t)tb_expansion_find(x, f->name);
  if (!a) a = add(b, describe(b->model, f));
  int index = a ? (int)(a - x->array) : -1;
  if (a && a->source && !add_constants(b, a->source)) index = -1;
  if (index >= 0) x->array[index].own = true;
  for (size_t w = 0; w < n && index >= 0; w++) {
    if (checked[w]) x->check[w] = hash_rows(x, (int)w);
  }
  free(checked);
  return index >= 0 ? &x->array[index] : NULL;
}

void* tb_batch_expand(tbBatch* b, const char* name) {
  if (!b) return NULL;
  if (!name) {
    tb_batch_refuse(b, "tb_batch_expand: name is NULL");
    return NULL;
  }
  char hint[96];
  const Field* f = find(name, hint);
  const char* why = f ? shared_because(f) : NULL;
  if (!f || why) {
    tb_batch_refuse(b,
                    f ? "tb_batch_expand: '%.60s' cannot differ by world: %s"
                      : "tb_batch_expand: no array or option is called '%.60s'%s",
                    name, f ? why : hint);
    return NULL;
  }
  const tbWorldArray* there = tb_expansion_find(&b->state->expansion, f->name);
  if (there && there->own) return there->rows;
  size_t needed;
  if (!there && !fits(b, f, &needed)) {
    tb_batch_refuse(b, "tb_batch_expand: '%s' for %d worlds needs %zu bytes, the limit is %zu",
                    name, b->nworld, needed, b->state->memory_limit);
    return NULL;
  }
  const tbWorldArray* a = make_own(b, f);
  if (!a) tb_batch_refuse(b, "tb_batch_expand: out of memory for '%s'", name);
  return a ? a->rows : NULL;
}
