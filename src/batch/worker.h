// One thread's part of a batch: a world of scratch memory that simulates the batch's worlds in
// turn.
#ifndef TRIBO_BATCH_WORKER_H_
#define TRIBO_BATCH_WORKER_H_

#include "batch/world_memory.h"
#include "tribo/batch.h"

// Arrays of the model that depend on masses, in the order of a world's block.
#define TB_MASS_ARRAYS(X)          \
  X(body_mass, nbody, 1)           \
  X(body_inertia, nbody, 3)        \
  X(body_subtreemass, nbody, 1)    \
  X(body_invweight0, nbody, 2)     \
  X(dof_invweight0, nv, 1)         \
  X(dof_M0, nv, 1)                 \
  X(tendon_invweight0, ntendon, 1) \
  X(actuator_acc0, nu, 1)

// Masses of a world whose scale is not one.
typedef struct {
  tbReal scale;  // scale for which they were computed; 0: none yet
  tbReal total;  // kg
  tbReal* block;
} tbWorldMasses;

typedef struct {
  tbModel model;    // the batch's model with the options and masses of the current world
  tbModel* scaled;  // the worker's own copy with scaled masses, made on first use
  tbData* data;     // its state and input arrays are views into the batch's rows
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

// Bytes of a world's own mass arrays.
size_t tb_world_masses_bytes(const tbModel* model);

// Make the worker's model and data those of world w. On failure data->status says why.
tbResult tb_batch_worker_enter(tbBatchWorker* worker, tbBatch* batch, int w,
                               tbWorldMemory* remembered, tbWorldMasses* masses);

// After the steps of world w: copy results that are not written in place to the batch.
tbResult tb_batch_worker_leave(tbBatchWorker* worker, tbBatch* batch, int w,
                               tbWorldMemory* remembered);

#endif
