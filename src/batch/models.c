// The model of one world, as a tbModel.
#include <string.h>

#include "batch/state.h"
#include "model/model.h"

// A model of the batch's sizes, with arrays of its own.
static tbResult check_model(tbBatch* b, const char* call, int world, const tbModel* m) {
  tbResult result = tb_batch_check_world(b, call, "world", world);
  if (result != TB_OK) return result;
  if (!m) return tb_batch_refuse(b, "%s: model is NULL", call);
  if (m == b->model) return tb_batch_refuse(b, "%s: model is the batch's own", call);
  bool fits = memcmp(m, b->model, sizeof(int) * TB_MODEL_NSIZES) == 0 && tb_model_is_laid_out(m);
  return fits ? TB_OK : tb_batch_refuse(b, "%s: model has other sizes than the batch's", call);
}

static tbResult prepare(tbBatch* b, tbBatchWorker* worker, int w, void* context) {
  (void)context;
  tb_batch_worker_view(worker, b, w);
  tbData* d = worker->data;
  if (b->state->expansion.count == 0) return TB_OK;
  d->status = tb_expansion_refresh(&b->state->expansion, worker, b->model, w);
  if (d->status == TB_OK) tb_batch_set_status(b, w, TB_OK, NULL);
  return d->status;
}

static tbResult prepare_again(tbBatch* b, tbBatchWorker* worker, int w, void* context) {
  tb_expansion_touch(&b->state->expansion, w);
  return prepare(b, worker, w, context);
}

tbResult tb_batch_set_constants(tbBatch* b, const unsigned char* mask) {
  if (!b) return TB_ERROR_ARGUMENT;
  return tb_batch_each(b, mask, prepare_again, NULL);
}

// One world, in the thread of the caller.
static tbResult prepare_one(tbBatch* b, int world) {
  tbBatchWorker* worker = &b->state->worker[0];
  worker->model.opt = b->model->opt;
  tbResult result = prepare(b, worker, world, NULL);
  if (result == TB_OK) return TB_OK;
  tb_batch_set_status(b, world, result, worker->data->message);
  tb_batch_refuse(b, "world %d: %.200s", world, worker->data->message);
  return result;
}

tbResult tb_batch_get_model(tbBatch* b, int world, tbModel* m) {
  if (!b) return TB_ERROR_ARGUMENT;
  tbResult result = check_model(b, "tb_batch_get_model", world, m);
  if (result == TB_OK) result = prepare_one(b, world);
  if (result != TB_OK) return result;
  const tbModel* model = &b->state->worker[0].model;
  int threads = b->model->opt.threads;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(type, name, rows, columns, unit, what) \
  memcpy(m->name, model->name, (size_t)((rows) * (columns)) * sizeof(type));
  TB_MODEL_ARRAYS(X)
#undef X
  m->total_mass = model->total_mass;
  m->extent = model->extent;
  m->mean_inertia = model->mean_inertia;
  m->load_to_inertia = model->load_to_inertia;
  m->opt = model->opt;
  m->opt.threads = threads;
  return TB_OK;
}

// Copy what differs, expanding it; constants that follow from other arrays do so here, too.
static tbResult take_field(tbBatch* b, int world, const char* name, const void* now,
                           const void* wanted, size_t bytes) {
  if (bytes == 0 || memcmp(now, wanted, bytes) == 0 || tb_expansion_derives(name)) return TB_OK;
  char* rows = tb_batch_expand(b, name);
  if (!rows) return TB_ERROR_ARGUMENT;
  memcpy(rows + bytes * (size_t)world, wanted, bytes);
  return TB_OK;
}

tbResult tb_batch_set_model(tbBatch* b, int world, const tbModel* m) {
  if (!b) return TB_ERROR_ARGUMENT;
  tbResult result = check_model(b, "tb_batch_set_model", world, m);
  if (result != TB_OK) return result;
  tbBatchWorker* worker = &b->state->worker[0];
  worker->model.opt = b->model->opt;
  tb_batch_worker_view(worker, b, world);
  const tbModel* model = &worker->model;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define TAKE(name, now, wanted, bytes)                     \
  result = take_field(b, world, name, now, wanted, bytes); \
  if (result != TB_OK) return result;
#define X(type, name, rows, columns, unit, what) \
  TAKE(#name, model->name, m->name, (size_t)((rows) * (columns)) * sizeof(type))
  TB_MODEL_ARRAYS(X)
#undef X
#define X(type, name, count, value, allowed, unit, what)                       \
  if (strcmp(#name, "threads") != 0) {                                         \
    TAKE("opt." #name, &model->opt.name, &m->opt.name, sizeof model->opt.name) \
  }
  TB_OPTION_FIELDS(X)
#undef X
#undef TAKE
  return prepare_one(b, world);
}
