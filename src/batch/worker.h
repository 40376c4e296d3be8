// One thread's part of a batch: a world of scratch memory that simulates the batch's worlds in
// turn.
#ifndef TRIBO_BATCH_WORKER_H_
#define TRIBO_BATCH_WORKER_H_

#include "batch/world_memory.h"
#include "tribo/batch.h"

typedef struct {
  tbModel model;          // the batch's model with the arrays and options of the current world
  tbModel* own;           // a copy of the model for derived constants of a world, made on first use
  tbData* data;           // its state and input arrays are views into the batch's rows
  unsigned char* buffer;  // of a snapshot
  size_t capacity;        // of the buffer
  // The first of this worker's worlds that failed in the current call, or -1, and its error.
  int failed;
  tbResult failure;
  char message[256];
} tbBatchWorker;

// False when out of memory.
int tb_batch_worker_init(tbBatchWorker* worker, const tbModel* model);
void tb_batch_worker_free(tbBatchWorker* worker);
size_t tb_batch_worker_bytes(const tbBatchWorker* worker);

// Limit in bytes for a step's contacts and rows, and for its solver; 0: unlimited. A step that
// needs more fails with out of memory.
void tb_batch_worker_limit(tbBatchWorker* worker, size_t bytes);

// Point the worker's model and data at the rows of world w. Its state can be read and written.
void tb_batch_worker_view(tbBatchWorker* worker, tbBatch* batch, int w);

// View world w and give its memory to the worker, that of all laws if `whole`. `close` returns
// memory and time to the world, whatever `open` returned.
tbResult tb_batch_worker_open(tbBatchWorker* worker, tbBatch* batch, int w, bool whole);
tbResult tb_batch_worker_close(tbBatchWorker* worker, tbBatch* batch, int w, bool whole);

// Open world w and make its model ready for a step: check its values, derive its constants. On
// failure data->status and data->message say why.
tbResult tb_batch_worker_enter(tbBatchWorker* worker, tbBatch* batch, int w, bool whole);

// Room for `size` bytes in the buffer; NULL when out of memory.
unsigned char* tb_batch_worker_buffer(tbBatchWorker* worker, size_t size);

#endif
