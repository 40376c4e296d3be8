// The private state of a batch, and the loop over its worlds.
#ifndef TRIBO_BATCH_STATE_H_
#define TRIBO_BATCH_STATE_H_

#include "base/pool.h"
#include "batch/expand.h"
#include "batch/request.h"
#include "batch/worker.h"

struct tbBatchState {
  tbPool* pool;
  tbBatchWorker* worker;      // nthread
  tbWorldMemory* remembered;  // nworld
  char** error;               // nworld: text of a failed world, or NULL
  tbExpansion expansion;
  tbRequests requests;
  void* arrays;  // owns the batch's public arrays but the report
  size_t arrays_size, memory_limit;
};

// Arrays of the batch in addition to those of tbData: type, name, columns.
#define TB_BATCH_ARRAYS(X)           \
  X(tbReal, time, 1)                 \
  X(tbReal, sensordata, nsensordata) \
  X(int, status, 1)                  \
  X(int, ncon, 1)                    \
  X(tbReal, residual_exact, 1)

// Memory for an array, aligned as the others are, to be freed with free.
void* tb_batch_alloc_rows(size_t bytes);

// ---- errors ------------------------------------------------------------------------------------

// Write the error for an argument of a call to batch->message, and return TB_ERROR_ARGUMENT.
tbResult tb_batch_refuse(tbBatch* batch, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// The result of a world's last call; `message` belongs to a failure.
void tb_batch_set_status(tbBatch* batch, int world, tbResult result, const char* message);

// TB_OK for a world of the batch; `call` is the function that was given it.
tbResult tb_batch_check_world(tbBatch* batch, const char* call, const char* argument, int world);

// ---- worlds ------------------------------------------------------------------------------------

// Work on one world; a failure leaves its message in worker->data.
typedef tbResult (*tbBatchJob)(tbBatch* batch, tbBatchWorker* worker, int world, void* context);

// The job for every world with a nonzero mask (NULL: all) on all threads. Returns the result of the
// first world that failed, with its message in batch->message.
tbResult tb_batch_each(tbBatch* batch, const unsigned char* mask, tbBatchJob job, void* context);

#endif
