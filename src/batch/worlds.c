// Worlds as a whole: reset, copied, gathered, taken out and put back.
//
// What a world remembers travels as a snapshot (step/snapshot.c), so that a world alone, a world of
// a batch and a row of states are the same thing.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/state.h"
#include "model/model.h"
#include "model/workspace.h"
#include "step/step.h"

// ---- results -----------------------------------------------------------------------------------

// No step has been made from this state.
static void clear_results(tbBatch* b, int w) {
  const tbModel* model = b->model;
  memset(b->sensordata + (size_t)w * (size_t)model->nsensordata, 0,
         (size_t)model->nsensordata * sizeof(tbReal));
  b->ncon[w] = 0;
  b->residual_exact[w] = NAN;
  tb_report_clear(&b->report[w]);
  const tbRequests* r = &b->state->requests;
  for (int i = 0; i < r->count; i++) {
    memset(r->list[i].rows + r->list[i].field.bytes * (size_t)w, 0, r->list[i].field.bytes);
  }
  tb_batch_set_status(b, w, TB_OK, NULL);
}

// ---- reset -------------------------------------------------------------------------------------

static tbResult reset(tbBatch* b, tbBatchWorker* worker, int w, void* context) {
  tb_batch_worker_view(worker, b, w);
  tb_reset_state(&worker->model, worker->data, *(const int*)context);
  b->time[w] = worker->data->time;
  tb_world_memory_clear(&b->state->remembered[w]);
  clear_results(b, w);
  return TB_OK;
}

static tbResult check_key(tbBatch* b, int key) {
  if (key >= -1 && key < b->model->nkey) return TB_OK;
  if (b->model->nkey == 0) {
    return tb_batch_refuse(
        b, "tb_batch_reset: no keyframe %d: the model has no keyframes (-1: reference pose)", key);
  }
  return tb_batch_refuse(
      b, "tb_batch_reset: no keyframe %d: the model has 0 to %d (-1: reference pose)", key,
      b->model->nkey - 1);
}

tbResult tb_batch_reset(tbBatch* b, const unsigned char* mask, int key) {
  if (!b) return TB_ERROR_ARGUMENT;
  if (check_key(b, key) != TB_OK) return TB_ERROR_ARGUMENT;
  return tb_batch_each(b, mask, reset, &key);
}

tbResult tb_batch_reset_worlds(tbBatch* b, const int* world, int count, const int* key) {
  if (!b) return TB_ERROR_ARGUMENT;
  if (count < 0 || (count > 0 && !world)) {
    return tb_batch_refuse(b,
                           count < 0 ? "tb_batch_reset_worlds: count is %d"
                                     : "tb_batch_reset_worlds: world is NULL, count %d",
                           count);
  }
  for (int i = 0; i < count; i++) {
    tbResult result = tb_batch_check_world(b, "tb_batch_reset_worlds", "world", world[i]);
    if (result == TB_OK && key) result = check_key(b, key[i]);
    if (result != TB_OK) return result;
  }
  for (int i = 0; i < count; i++) {
    int to = key ? key[i] : -1;
    reset(b, &b->state->worker[0], world[i], &to);
  }
  return TB_OK;
}

// ---- states ------------------------------------------------------------------------------------

typedef struct {
  unsigned char* rows;
  const int* index;  // row of each world, whose results have moved already; NULL: its own
  size_t size;       // of a row
} States;

static tbResult measure(tbBatch* b, tbBatchWorker* worker, int w, void* context) {
  size_t* size = context;
  if (tb_batch_worker_open(worker, b, w, true) == TB_OK) {
    size[w] = tb_snapshot_size(&worker->model, worker->data);
  }
  return tb_batch_worker_close(worker, b, w, true);
}

size_t tb_batch_state_size(tbBatch* b) {
  if (!b) return 0;
  size_t *size = calloc((size_t)b->nworld, sizeof(size_t)), most = 0;
  if (!size || tb_batch_each(b, NULL, measure, size) != TB_OK) {
    free(size);
    return 0;
  }
  for (int w = 0; w < b->nworld; w++) most = size[w] > most ? size[w] : most;
  free(size);
  return (most + 7) / 8 * 8;
}

static tbResult save(tbBatch* b, tbBatchWorker* worker, int w, void* context) {
  const States* s = context;
  tbData* d = worker->data;
  if (tb_batch_worker_open(worker, b, w, true) == TB_OK) {
    size_t size = tb_snapshot_size(&worker->model, d);
    unsigned char* row = s->rows + s->size * (size_t)w;
    if (size > s->size) {
      snprintf(d->message, sizeof d->message, "size is %zu, its state has %zu bytes", s->size,
               size);
      d->status = TB_ERROR_ARGUMENT;
    } else {
      d->status = tb_snapshot_save(&worker->model, d, row, size);
      memset(row + size, 0, s->size - size);
    }
  }
  return tb_batch_worker_close(worker, b, w, true);
}

static tbResult restore(tbBatch* b, tbBatchWorker* worker, int w, void* context) {
  const States* s = context;
  tbData* d = worker->data;
  size_t from = (size_t)(s->index ? s->index[w] : w);
  const unsigned char* row = s->rows + s->size * from;
  if (tb_batch_worker_open(worker, b, w, true) == TB_OK) {
    tbError error = {0};
    size_t length = tb_snapshot_length(row, s->size);
    tbResult result = tb_snapshot_load(&worker->model, d, row, length, &error);
    d->status = result;
    if (result != TB_OK) snprintf(d->message, sizeof d->message, "its row: %.240s", error.message);
  }
  tbResult result = tb_batch_worker_close(worker, b, w, true);
  if (result == TB_OK && !s->index) clear_results(b, w);
  return result;
}

static tbResult check_rows(tbBatch* b, const char* call, const void* rows) {
  return rows ? TB_OK : tb_batch_refuse(b, "%s: rows is NULL", call);
}

tbResult tb_batch_state_get(tbBatch* b, const unsigned char* mask, void* rows, size_t size) {
  if (!b) return TB_ERROR_ARGUMENT;
  if (check_rows(b, "tb_batch_state_get", rows) != TB_OK) return TB_ERROR_ARGUMENT;
  States states = {rows, NULL, size};
  return tb_batch_each(b, mask, save, &states);
}

tbResult tb_batch_state_set(tbBatch* b, const unsigned char* mask, const void* rows, size_t size) {
  if (!b) return TB_ERROR_ARGUMENT;
  if (check_rows(b, "tb_batch_state_set", rows) != TB_OK) return TB_ERROR_ARGUMENT;
  States states = {(unsigned char*)(uintptr_t)rows, NULL, size};
  return tb_batch_each(b, mask, restore, &states);
}

// ---- copies ------------------------------------------------------------------------------------

// Every array of the batch that has a row per world, beside the worlds' memory.
typedef void (*RowsFunction)(char* rows, size_t bytes, void* context);

static void for_each_array(tbBatch* b, RowsFunction function, void* context) {
  const tbModel* model = b->model;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(type, name, rows, columns, unit, what) \
  function((char*)b->name, (size_t)((rows) * (columns)) * sizeof(type), context);
  TB_DATA_STATE(X)
  TB_DATA_INPUT(X)
#undef X
#define X(type, name, columns) function((char*)b->name, (size_t)(columns) * sizeof(type), context);
  TB_BATCH_ARRAYS(X)
#undef X
  function((char*)b->report, sizeof *b->report, context);
  tbExpansion* x = &b->state->expansion;
  for (int i = 0; i < x->count; i++) function(x->array[i].rows, x->array[i].bytes, context);
  if (x->check) function((char*)x->check, sizeof *x->check, context);
  tbRequests* r = &b->state->requests;
  for (int i = 0; i < r->count; i++) function(r->list[i].rows, r->list[i].field.bytes, context);
}

typedef struct {
  int from, to;
} Pair;

static void copy_row(char* rows, size_t bytes, void* context) {
  const Pair* p = context;
  if (bytes) memcpy(rows + bytes * (size_t)p->to, rows + bytes * (size_t)p->from, bytes);
}

// The snapshot of a world, in the buffer of the first worker; and a world's state from there.
static tbResult take(tbBatch* b, int w, size_t* size) {
  tbBatchWorker* worker = &b->state->worker[0];
  tbData* d = worker->data;
  if (tb_batch_worker_open(worker, b, w, true) == TB_OK) {
    *size = tb_snapshot_size(&worker->model, d);
    unsigned char* bytes = tb_batch_worker_buffer(worker, *size);
    d->status = bytes ? tb_snapshot_save(&worker->model, d, bytes, *size) : TB_ERROR_MEMORY;
  }
  return tb_batch_worker_close(worker, b, w, true);
}

static tbResult put(tbBatch* b, int w, size_t size, tbError* error) {
  tbBatchWorker* worker = &b->state->worker[0];
  tbData* d = worker->data;
  if (tb_batch_worker_open(worker, b, w, true) == TB_OK) {
    d->status = tb_snapshot_load(&worker->model, d, worker->buffer, size, error);
  }
  return tb_batch_worker_close(worker, b, w, true);
}

tbResult tb_batch_clone(tbBatch* b, int from, int to) {
  if (!b) return TB_ERROR_ARGUMENT;
  tbResult result = tb_batch_check_world(b, "tb_batch_clone", "from", from);
  if (result == TB_OK) result = tb_batch_check_world(b, "tb_batch_clone", "to", to);
  if (result != TB_OK || from == to) return result;
  size_t size;
  result = take(b, from, &size);
  if (result == TB_OK) result = put(b, to, size, NULL);
  if (result != TB_OK) {
    tb_batch_refuse(b, "tb_batch_clone: %s", tb_result_name(result));
    return result;
  }
  for_each_array(b, copy_row, &(Pair){from, to});
  tb_batch_set_status(b, to, (tbResult)b->status[from], tb_batch_error(b, from));
  return TB_OK;
}

typedef struct {
  const int* index;
  int nworld;
  size_t room;  // bytes of the largest array
  char* copy;   // of one array
} Gather;

static void find_room(char* rows, size_t bytes, void* context) {
  (void)rows;
  Gather* g = context;
  size_t total = bytes * (size_t)g->nworld;
  if (total > g->room) g->room = total;
}

static void gather_rows(char* rows, size_t bytes, void* context) {
  const Gather* g = context;
  if (bytes == 0) return;
  memcpy(g->copy, rows, bytes * (size_t)g->nworld);
  for (int w = 0; w < g->nworld; w++) {
    memcpy(rows + bytes * (size_t)w, g->copy + bytes * (size_t)g->index[w], bytes);
  }
}

// Texts of errors, copied one by one. False when out of memory.
static bool gather_errors(tbBatch* b, const int* index) {
  char **now = b->state->error, **then = calloc((size_t)b->nworld, sizeof(char*));
  bool good = then != NULL;
  for (int w = 0; good && w < b->nworld; w++) {
    const char* text = now[index[w]];
    if (!text) continue;
    then[w] = malloc(strlen(text) + 1);
    good = then[w] != NULL;
    if (good) strcpy(then[w], text);
  }
  char** old = good ? now : then;
  if (good) b->state->error = then;
  for (int w = 0; old && w < b->nworld; w++) free(old[w]);
  free(old);
  return good;
}

// Save the worlds that are sources, move the arrays, and give the moved worlds their memory.
static tbResult gather(tbBatch* b, States* states, Gather* arrays, unsigned char* mask) {
  const int* index = arrays->index;
  for (int w = 0; w < b->nworld; w++) mask[index[w]] = 1;
  tbResult result = tb_batch_each(b, mask, save, states);
  if (result != TB_OK) return result;
  if (!gather_errors(b, index)) return TB_ERROR_MEMORY;
  for_each_array(b, gather_rows, arrays);
  for (int w = 0; w < b->nworld; w++) mask[w] = index[w] != w;
  states->index = index;
  return tb_batch_each(b, mask, restore, states);
}

tbResult tb_batch_gather(tbBatch* b, const int* index) {
  if (!b) return TB_ERROR_ARGUMENT;
  if (!index) return tb_batch_refuse(b, "tb_batch_gather: index is NULL");
  for (int w = 0; w < b->nworld; w++) {
    if (index[w] >= 0 && index[w] < b->nworld) continue;
    return tb_batch_refuse(b, "tb_batch_gather: index[%d] is %d, expected 0 to %d", w, index[w],
                           b->nworld - 1);
  }
  Gather arrays = {.index = index, .nworld = b->nworld};
  for_each_array(b, find_room, &arrays);
  States states = {.size = tb_batch_state_size(b)};
  size_t n = (size_t)b->nworld;
  states.rows = states.size ? malloc(states.size * n) : NULL;
  arrays.copy = malloc(arrays.room);
  unsigned char* mask = calloc(n, 1);
  tbResult result = TB_ERROR_MEMORY;
  if (states.rows && arrays.copy && mask) result = gather(b, &states, &arrays, mask);
  if (result == TB_ERROR_MEMORY) tb_batch_refuse(b, "tb_batch_gather: out of memory");
  free(states.rows);
  free(arrays.copy);
  free(mask);
  return result;
}

// ---- one world and a tbData --------------------------------------------------------------------

// A model and a world of it, of the batch's sizes.
static tbResult check_data(tbBatch* b, const char* call, int world, const tbModel* m,
                           const tbData* d) {
  tbResult result = tb_batch_check_world(b, call, "world", world);
  if (result != TB_OK) return result;
  if (!m || !d) return tb_batch_refuse(b, "%s: %s is NULL", call, m ? "data" : "model");
  if (memcmp(m, b->model, sizeof(int) * TB_MODEL_NSIZES) != 0) {
    return tb_batch_refuse(b, "%s: model has other sizes than the batch's", call);
  }
  if (tb_data_fits(m, d)) return TB_OK;
  return tb_batch_refuse(b, "%s: data is a world of another model", call);
}

tbResult tb_batch_get_world(tbBatch* b, int world, const tbModel* m, tbData* data) {
  if (!b) return TB_ERROR_ARGUMENT;
  tbResult result = check_data(b, "tb_batch_get_world", world, m, data);
  if (result != TB_OK) return result;
  size_t size;
  tbError error = {0};
  result = take(b, world, &size);
  const unsigned char* bytes = b->state->worker[0].buffer;
  if (result == TB_OK) result = tb_snapshot_load(m, data, bytes, size, &error);
  if (result != TB_OK) {
    tb_batch_refuse(b, "tb_batch_get_world: %s",
                    error.message[0] ? error.message : "out of memory");
    return result;
  }
  size_t sensors = (size_t)m->nsensordata;
  if (sensors)
    memcpy(data->sensordata, b->sensordata + sensors * (size_t)world, sensors * sizeof(tbReal));
  return TB_OK;
}

tbResult tb_batch_set_world(tbBatch* b, int world, const tbModel* m, const tbData* data) {
  if (!b) return TB_ERROR_ARGUMENT;
  tbResult result = check_data(b, "tb_batch_set_world", world, m, data);
  if (result != TB_OK) return result;
  tbBatchWorker* worker = &b->state->worker[0];
  size_t size = tb_snapshot_size(m, data);
  unsigned char* bytes = tb_batch_worker_buffer(worker, size);
  if (!bytes) {
    tb_batch_refuse(b, "tb_batch_set_world: out of memory");
    return TB_ERROR_MEMORY;
  }
  tbError error = {0};
  result = tb_snapshot_save(m, data, bytes, size);
  if (result == TB_OK) result = put(b, world, size, &error);
  if (result != TB_OK) {
    tb_batch_refuse(b, "tb_batch_set_world: %s",
                    error.message[0] ? error.message : "out of memory");
    return result;
  }
  clear_results(b, world);
  size_t sensors = (size_t)m->nsensordata;
  if (sensors)
    memcpy(b->sensordata + sensors * (size_t)world, data->sensordata, sensors * sizeof(tbReal));
  return TB_OK;
}
