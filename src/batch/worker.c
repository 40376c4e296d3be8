// A worker takes the rows of a world, and returns what the world remembers (batch/worker.h).
#include "batch/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "model/workspace.h"
#include "laws/certificate.h"
#include "tribo/dynamics.h"

int tb_batch_worker_init(tbBatchWorker* worker, const tbModel* model) {
  worker->model = *model;
  worker->model.opt.threads = 1;
  worker->data = tb_data_new(model);
  tbStepState* state = worker->data ? tb_step_state(&worker->model, worker->data) : NULL;
  return state && tb_workers_resize(&state->workers, 1);
}

void tb_batch_worker_free(tbBatchWorker* worker) {
  tb_model_free(worker->scaled);
  tb_data_free(worker->data);
}

size_t tb_batch_worker_bytes(const tbBatchWorker* worker) {
  size_t bytes = sizeof *worker;
  if (worker->scaled) bytes += sizeof(tbModel) + worker->scaled->block_size;
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

// ---- masses ------------------------------------------------------------------------------------

size_t tb_world_masses_bytes(const tbModel* model) {
  size_t count = 0;
#define X(name, rows, columns) count += (size_t)model->rows * columns;
  TB_MASS_ARRAYS(X)
#undef X
  return count * sizeof(tbReal);
}

// Scale all masses in the worker's own copy of the model and recompute the fields that depend on
// them.
static tbResult derive_masses(tbBatchWorker* worker, const tbModel* base, tbReal scale,
                              tbWorldMasses* masses, tbError* error) {
  if (!worker->scaled) worker->scaled = tb_model_copy(base);
  if (!masses->block) masses->block = malloc(tb_world_masses_bytes(base) + sizeof(tbReal));
  if (!worker->scaled || !masses->block) return TB_ERROR_MEMORY;
  tbModel* scaled = worker->scaled;
  for (int i = 0; i < base->nbody; i++) {
    scaled->body_mass[i] = scale * base->body_mass[i];
    for (int k = 0; k < 3; k++) {
      scaled->body_inertia[3 * i + k] = scale * base->body_inertia[3 * i + k];
    }
  }
  tbResult result = tb_set_constants(scaled, error);
  if (result != TB_OK) return result;
  tbReal* at = masses->block;
#define X(name, rows, columns)                                               \
  memcpy(at, scaled->name, sizeof(tbReal) * (size_t)scaled->rows * columns); \
  at += (size_t)scaled->rows * columns;
  TB_MASS_ARRAYS(X)
#undef X
  masses->scale = scale;
  masses->total = scaled->total_mass;
  return TB_OK;
}

// Point the worker's model at the world's masses.
static tbResult enter_masses(tbBatchWorker* worker, const tbModel* base, tbReal scale,
                             tbWorldMasses* masses) {
  tbModel* m = &worker->model;
  if (scale == 1) {
#define X(name, rows, columns) m->name = base->name;
    TB_MASS_ARRAYS(X)
#undef X
    m->total_mass = base->total_mass;
    return TB_OK;
  }
  tbData* d = worker->data;
  if (!(scale > 0 && scale - scale == 0)) {
    strcpy(d->message, "mass_scale is not a positive number");
    return TB_ERROR_ARGUMENT;
  }
  if (masses->scale != scale) {
    tbError error = {0};
    tbResult result = derive_masses(worker, base, scale, masses, &error);
    if (result != TB_OK) {
      memcpy(d->message, error.message, sizeof d->message - 1);
      return result;
    }
  }
  tbReal* at = masses->block;
#define X(name, rows, columns) \
  m->name = at;                \
  at += (size_t)m->rows * columns;
  TB_MASS_ARRAYS(X)
#undef X
  m->total_mass = masses->total;
  return TB_OK;
}

// ---- views -------------------------------------------------------------------------------------

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

// The name of the first invalid parameter of a world, or NULL.
static const char* bad_parameter(const tbBatch* b, int w) {
  struct {
    const char* name;
    tbReal value;
  } parameter[3] = {{"friction_scale", b->friction_scale[w]},
                    {"comfree_stiffness", b->comfree_stiffness[w]},
                    {"comfree_damping", b->comfree_damping[w]}};
  for (int i = 0; i < 3; i++) {
    tbReal x = parameter[i].value;
    if (!(x >= 0 && x - x == 0)) return parameter[i].name;
  }
  return NULL;
}

tbResult tb_batch_worker_enter(tbBatchWorker* worker, tbBatch* b, int w, tbWorldMemory* remembered,
                               tbWorldMasses* masses) {
  tbData* d = worker->data;
  tbOption* opt = &worker->model.opt;
  view_rows(d, b, w);
  d->time = b->time[w];
  d->status = TB_OK;
  d->message[0] = 0;
  // Clear the results of the previous world.
  d->ncon = 0;
  tb_certificate_unknown(&d->solve);
  worker->model.callbacks = b->model->callbacks;
  opt->friction_scale = b->friction_scale[w];
  opt->comfree_stiffness = b->comfree_stiffness[w];
  opt->comfree_damping = b->comfree_damping[w];
  d->status = enter_masses(worker, b->model, b->mass_scale[w], masses);
  tbStepState* state = tb_step_state(&worker->model, d);
  tbResult result = tb_world_memory_enter(&worker->model, state, remembered);
  if (d->status == TB_OK) d->status = result;
  const char* bad = bad_parameter(b, w);
  if (bad) {
    snprintf(d->message, sizeof d->message, "%s is negative or not a number", bad);
    d->status = TB_ERROR_ARGUMENT;
  }
  return d->status;
}

tbResult tb_batch_worker_leave(tbBatchWorker* worker, tbBatch* b, int w,
                               tbWorldMemory* remembered) {
  tbData* d = worker->data;
  tbResult result =
      tb_world_memory_leave(&worker->model, tb_step_state(&worker->model, d), remembered);
  if (d->status == TB_OK) d->status = result;
  b->time[w] = d->time;
  b->status[w] = (int)d->status;
  b->ncon[w] = d->ncon;
  b->residual_exact[w] = d->solve.residual_exact.relative;
  return d->status;
}
