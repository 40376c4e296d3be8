// The loop over the worlds of a batch, on all threads.
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/state.h"

enum { LARGEST_CHUNK = 8 };

typedef struct {
  tbBatch* batch;
  const unsigned char* mask;
  tbBatchJob job;
  void* context;
  int chunk;        // worlds that a worker takes at a time
  atomic_int next;  // first world not yet taken
} Run;

tbResult tb_batch_refuse(tbBatch* b, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(b->message, sizeof b->message, format, args);
  va_end(args);
  return TB_ERROR_ARGUMENT;
}

tbResult tb_batch_check_world(tbBatch* b, const char* call, const char* argument, int world) {
  if (world >= 0 && world < b->nworld) return TB_OK;
  return tb_batch_refuse(b, "%s: %s is %d, expected 0 to %d", call, argument, world, b->nworld - 1);
}

void tb_batch_set_status(tbBatch* b, int w, tbResult result, const char* message) {
  char** error = &b->state->error[w];
  b->status[w] = (int)result;
  if (*error) {
    free(*error);
    *error = NULL;
  }
  if (result == TB_OK) return;
  size_t size = strlen(message) + 1;
  *error = malloc(size);
  if (*error) memcpy(*error, message, size);
}

const char* tb_batch_error(const tbBatch* b, int world) {
  if (!b || world < 0 || world >= b->nworld || !b->state->error[world]) return "";
  return b->state->error[world];
}

static void run_chunks(void* context, int index) {
  Run* run = context;
  tbBatch* b = run->batch;
  tbBatchWorker* worker = &b->state->worker[index];
  for (;;) {
    int first = atomic_fetch_add(&run->next, run->chunk);
    if (first >= b->nworld) return;
    int end = first + run->chunk < b->nworld ? first + run->chunk : b->nworld;
    for (int w = first; w < end; w++) {
      if (run->mask && !run->mask[w]) continue;
      tbResult result = run->job(b, worker, w, run->context);
      if (result == TB_OK) continue;
      tb_batch_set_status(b, w, result, worker->data->message);
      if (worker->failed >= 0) continue;
      worker->failed = w;
      worker->failure = result;
      memcpy(worker->message, worker->data->message, sizeof worker->message);
    }
  }
}

// The result of the batch is that of the first world that failed.
static tbResult report(tbBatch* b) {
  const tbBatchWorker* first = NULL;
  b->message[0] = 0;
  for (int i = 0; i < b->nthread; i++) {
    const tbBatchWorker* worker = &b->state->worker[i];
    if (worker->failed >= 0 && (!first || worker->failed < first->failed)) first = worker;
  }
  if (!first) return TB_OK;
  int length =
      snprintf(b->message, sizeof b->message, "world %d: %.180s", first->failed, first->message);
  if (first->failure == TB_ERROR_MEMORY && b->state->memory_limit) {
    snprintf(b->message + length, sizeof b->message - (size_t)length, "; the limit is %zu bytes",
             b->state->memory_limit);
  }
  return first->failure;
}

tbResult tb_batch_each(tbBatch* b, const unsigned char* mask, tbBatchJob job, void* context) {
  // Programs may write options into the model at any time, as for a single world.
  for (int i = 0; i < b->nthread; i++) {
    tbModel* own = &b->state->worker[i].model;
    own->opt = b->model->opt;
    own->opt.threads = 1;
    b->state->worker[i].failed = -1;
  }
  Run run = {.batch = b, .mask = mask, .job = job, .context = context};
  run.chunk = b->nworld / (4 * b->nthread);
  if (run.chunk < 1) run.chunk = 1;
  if (run.chunk > LARGEST_CHUNK) run.chunk = LARGEST_CHUNK;
  atomic_init(&run.next, 0);
  tb_pool_run(b->state->pool, run_chunks, &run);
  return report(b);
}
