// Many worlds: their arrays, threads and memory. See docs/manual/batch.md.
#include "tribo/batch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "batch/state.h"
#include "model/model.h"

enum { MOST_THREADS = 256, MOST_WORLDS = 1 << 24 };

// ---- arrays ------------------------------------------------------------------------------------

static size_t padded(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

void* tb_batch_alloc_rows(size_t bytes) {
  return aligned_alloc(64, padded(bytes + 1));
}

static size_t arrays_size(const tbModel* model, int nworld) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  size_t total = 64, n = (size_t)nworld;
#define X(type, name, rows, columns, unit, what) \
  total += padded(n * (size_t)((rows) * (columns)) * sizeof(type));
  TB_DATA_STATE(X)
  TB_DATA_INPUT(X)
#undef X
#define X(type, name, columns) total += padded(n * (size_t)(columns) * sizeof(type));
  TB_BATCH_ARRAYS(X)
#undef X
  return total;
}

static void set_pointers(tbBatch* b) {
  const tbModel* model = b->model;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  size_t n = (size_t)b->nworld;
  uintptr_t at = ((uintptr_t)b->state->arrays + 63) & ~(uintptr_t)63;
#define X(type, name, rows, columns, unit, what) \
  b->name = (type*)at;                           \
  at += padded(n * (size_t)((rows) * (columns)) * sizeof(type));
  TB_DATA_STATE(X)
  TB_DATA_INPUT(X)
#undef X
#define X(type, name, columns) \
  b->name = (type*)at;         \
  at += padded(n * (size_t)(columns) * sizeof(type));
  TB_BATCH_ARRAYS(X)
#undef X
}

void* tb_batch_field(const tbBatch* batch, const char* field, const char** type_out,
                     int* columns_out) {
  if (!batch || !field) return NULL;
  const tbModel* model = batch->model;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  const char* kind = NULL;
  int64_t width = 0;
  void* found = NULL;
#define FOUND(type, name, columns)                        \
  if (strcmp(field, #name) == 0) {                        \
    found = batch->name;                                  \
    width = (columns);                                    \
    kind = sizeof #type == sizeof "int" ? "int" : "real"; \
  }
#define X(type, name, rows, columns, unit, what) FOUND(type, name, (rows) * (columns))
  TB_DATA_STATE(X)
  TB_DATA_INPUT(X)
#undef X
#define X(type, name, columns) FOUND(type, name, columns)
  TB_BATCH_ARRAYS(X)
#undef X
#undef FOUND
  const tbWorldArray* expanded = tb_expansion_find(&batch->state->expansion, field);
  if (!found && expanded) {
    found = expanded->rows;
    kind = expanded->type;
    width = expanded->count;
  }
  const tbRequests* requests = &batch->state->requests;
  for (int i = 0; !found && i < requests->count; i++) {
    const tbRequest* r = &requests->list[i];
    if (strcmp(field, r->field.name) != 0) continue;
    found = r->rows;
    kind = r->field.type;
    width = r->field.count;
  }
  if (found && type_out) *type_out = kind;
  if (found && columns_out) *columns_out = (int)width;
  return found;
}

// ---- life --------------------------------------------------------------------------------------

static int core_count(void) {
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (int)n;
}

// Memory of a batch without the world memories.
static size_t least_memory(const tbModel* model, int nworld) {
  return sizeof(tbBatch) + sizeof(struct tbBatchState) + arrays_size(model, nworld) +
         (sizeof(tbWorldMemory) + sizeof(char*) + sizeof(tbWorldReport)) * (size_t)nworld;
}

static int build(tbBatch* b) {
  struct tbBatchState* s = b->state;
  size_t n = (size_t)b->nworld;
  s->arrays_size = arrays_size(b->model, b->nworld);
  s->arrays = calloc(1, s->arrays_size);
  s->remembered = calloc(n, sizeof(tbWorldMemory));
  s->error = calloc(n, sizeof(char*));
  s->worker = calloc((size_t)b->nthread, sizeof(tbBatchWorker));
  s->pool = tb_pool_new(b->nthread);
  b->report = calloc(n, sizeof(tbWorldReport));
  if (!b->report || !s->arrays || !s->remembered || !s->error || !s->worker || !s->pool) return 0;
  for (int i = 0; i < b->nthread; i++) {
    if (!tb_batch_worker_init(&s->worker[i], b->model)) return 0;
  }
  set_pointers(b);
  return 1;
}

// The memory that the limit leaves besides the arrays is shared among the workers' contacts, rows
// and solvers.
static int share_limit(tbBatch* b, tbError* error) {
  struct tbBatchState* s = b->state;
  size_t held = tb_batch_memory(b);
  if (s->memory_limit == 0) return 1;
  if (held >= s->memory_limit) {
    tb_fail(error, TB_ERROR_MEMORY, "a batch of %d worlds needs %zu bytes, the limit is %zu",
            b->nworld, held, s->memory_limit);
    return 0;
  }
  size_t share = (s->memory_limit - held) / (size_t)b->nthread;
  for (int i = 0; i < b->nthread; i++) tb_batch_worker_limit(&s->worker[i], share + 1);
  return 1;
}

tbBatch* tb_batch_new(const tbModel* model, int nworld, int nthread, size_t memory_limit,
                      tbError* error) {
  if (!model) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_batch_new: model is NULL");
    return NULL;
  }
  if (nworld < 1 || nworld > MOST_WORLDS) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_batch_new: nworld is %d, expected 1 to %d", nworld,
            (int)MOST_WORLDS);
    return NULL;
  }
  if (nthread < 0 || nthread > MOST_THREADS) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_batch_new: nthread is %d, expected 0 to %d", nthread,
            (int)MOST_THREADS);
    return NULL;
  }
  // Worlds get copies of parts of the model, so changes since loading must be valid.
  if (tb_model_check(model, error) != TB_OK) return NULL;
  size_t least = least_memory(model, nworld);
  if (memory_limit && least > memory_limit) {
    tb_fail(error, TB_ERROR_MEMORY, "a batch of %d worlds needs %zu bytes, the limit is %zu",
            nworld, least, memory_limit);
    return NULL;
  }
  tbBatch* b = calloc(1, sizeof *b);
  struct tbBatchState* s = calloc(1, sizeof *s);
  if (b) {
    b->model = model;
    b->nworld = nworld;
    b->nthread = nthread ? nthread : core_count();
    if (b->nthread > nworld) b->nthread = nworld;
    b->state = s;
  }
  if (s) s->memory_limit = memory_limit;
  if (!b || !s || !build(b)) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory or threads for a batch of %d worlds", nworld);
    if (!s) free(b);
    if (s && !b) free(s);
    if (b && s) tb_batch_free(b);
    return NULL;
  }
  if (!share_limit(b, error)) {
    tb_batch_free(b);
    return NULL;
  }
  tb_batch_reset(b, NULL, -1);
  return b;
}

void tb_batch_free(tbBatch* b) {
  if (!b) return;
  struct tbBatchState* s = b->state;
  tb_pool_free(s->pool);
  for (int i = 0; s->worker && i < b->nthread; i++) tb_batch_worker_free(&s->worker[i]);
  for (int w = 0; w < b->nworld; w++) {
    if (s->remembered) tb_world_memory_free(&s->remembered[w]);
    if (s->error) free(s->error[w]);
  }
  free(s->worker);
  free(s->remembered);
  free(s->error);
  tb_expansion_free(&s->expansion);
  tb_requests_free(&s->requests);
  free(b->report);
  free(s->arrays);
  free(s);
  free(b);
}

size_t tb_batch_memory(const tbBatch* b) {
  if (!b) return 0;
  const struct tbBatchState* s = b->state;
  size_t bytes = least_memory(b->model, b->nworld);
  bytes += tb_expansion_bytes(&s->expansion, b->nworld);
  bytes += tb_requests_bytes(&s->requests, b->nworld);
  for (int i = 0; i < b->nthread; i++) bytes += tb_batch_worker_bytes(&s->worker[i]);
  for (int w = 0; w < b->nworld; w++) {
    bytes += tb_world_memory_bytes(b->model, &s->remembered[w]);
    if (s->error[w]) bytes += strlen(s->error[w]) + 1;
  }
  return bytes;
}
