// A worker takes the rows of a world, and returns what the world remembers (batch/worker.h).
#include "batch/worker.h"

#include <stdlib.h>

#include "batch/state.h"
#include "laws/certificate.h"
#include "model/model.h"
#include "model/workspace.h"

int tb_batch_worker_init(tbBatchWorker* worker, const tbModel* model) {
  worker->model = *model;
  worker->model.opt.threads = 1;
  worker->data = tb_data_new(model);
  tbStepState* state = worker->data ? tb_step_state(&worker->model, worker->data) : NULL;
  return state && tb_workers_resize(&state->workers, 1);
}

void tb_batch_worker_free(tbBatchWorker* worker) {
  tb_model_free(worker->own);
  tb_data_free(worker->data);
  free(worker->buffer);
}

size_t tb_batch_worker_bytes(const tbBatchWorker* worker) {
  size_t bytes = sizeof *worker + worker->capacity;
  if (worker->own) bytes += sizeof(tbModel) + worker->own->block_size;
  if (!worker->data) return bytes;
  return bytes + tb_step_memory(&worker->model, worker->data);
}

void tb_batch_worker_limit(tbBatchWorker* worker, size_t bytes) {
  tbStepState* state = worker->data->work->step;
  worker->data->work->arena.limit = bytes;
  for (int i = 0; i < state->workers.count; i++) {
    state->workers.worker[i].arena.limit = bytes;
    tb_solve_work_limit(state->workers.worker[i].solve, bytes);
  }
}

unsigned char* tb_batch_worker_buffer(tbBatchWorker* worker, size_t size) {
  if (size <= worker->capacity) return worker->buffer;
  unsigned char* buffer = realloc(worker->buffer, 2 * size);
  if (!buffer) return NULL;
  worker->buffer = buffer;
  worker->capacity = 2 * size;
  return buffer;
}

// Point the data's state and input arrays at the batch's rows.
static void view_rows(tbData* d, const tbBatch* b, int w) {
  const tbModel* model = b->model;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  size_t row = (size_t)w;
#define X(type, name, rows, columns, unit, what) \
  d->name = b->name + row * (size_t)((rows) * (columns));
  TB_DATA_STATE(X)
  TB_DATA_INPUT(X)
#undef X
  d->sensordata = b->sensordata + row * (size_t)nsensordata;
}

void tb_batch_worker_view(tbBatchWorker* worker, tbBatch* b, int w) {
  tbData* d = worker->data;
  view_rows(d, b, w);
  d->time = b->time[w];
  d->status = TB_OK;
  d->message[0] = 0;
  // Clear the results of the previous world.
  d->ncon = 0;
  d->work->halfway = 0;
  tb_certificate_unknown(&d->solve);
  worker->model.callbacks = b->model->callbacks;
  tb_expansion_view(&b->state->expansion, &worker->model, w);
}

tbResult tb_batch_worker_open(tbBatchWorker* worker, tbBatch* b, int w, bool whole) {
  tb_batch_worker_view(worker, b, w);
  tbData* d = worker->data;
  tbStepState* state = tb_step_state(&worker->model, d);
  d->status = tb_world_memory_enter(&worker->model, state, &b->state->remembered[w], whole);
  return d->status;
}

tbResult tb_batch_worker_close(tbBatchWorker* worker, tbBatch* b, int w, bool whole) {
  tbData* d = worker->data;
  tbResult result = tb_world_memory_leave(&worker->model, tb_step_state(&worker->model, d),
                                          &b->state->remembered[w], whole);
  if (d->status == TB_OK) d->status = result;
  b->time[w] = d->time;
  return d->status;
}

tbResult tb_batch_worker_enter(tbBatchWorker* worker, tbBatch* b, int w, bool whole) {
  tbResult result = tb_batch_worker_open(worker, b, w, whole);
  if (result != TB_OK || b->state->expansion.count == 0) return result;
  tbData* d = worker->data;
  d->status = tb_expansion_enter(&b->state->expansion, worker, b->model, w);
  return d->status;
}
