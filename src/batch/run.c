// Steps, rollouts and evaluations of the worlds of a batch, and calls of user functions on them.
#include <stdio.h>
#include <string.h>

#include "batch/state.h"
#include "model/model.h"
#include "step/step.h"

// ---- results of a world ------------------------------------------------------------------------

// Copy the results of a step or of an evaluation.
static void take_results(tbBatch* b, tbBatchWorker* worker, int w, bool second_half) {
  tbData* d = worker->data;
  b->ncon[w] = d->ncon;
  if (second_half) b->residual_exact[w] = d->solve.residual_exact.relative;
  const tbRequests* requests = &b->state->requests;
  if (d->status != TB_OK || requests->count == 0) return;
  tb_requests_copy(requests, &worker->model, d, w, second_half);
}

static tbResult leave(tbBatch* b, tbBatchWorker* worker, int w, bool whole) {
  tbResult result = tb_batch_worker_close(worker, b, w, whole);
  if (result == TB_OK) tb_batch_set_status(b, w, TB_OK, NULL);
  return result;
}

// ---- what a world was before -------------------------------------------------------------------

// A snapshot and the sensors, in the worker's buffer. 0: out of memory.
static size_t keep(tbBatchWorker* worker) {
  const tbModel* m = &worker->model;
  tbData* d = worker->data;
  size_t size = tb_snapshot_size(m, d), sensors = sizeof(tbReal) * (size_t)m->nsensordata;
  unsigned char* before = tb_batch_worker_buffer(worker, size + sensors);
  if (!before || tb_snapshot_save(m, d, before, size) != TB_OK) return 0;
  if (sensors) memcpy(before + size, d->sensordata, sensors);
  return size;
}

// State, inputs and world memory as they were; the result of the call and its message stay.
static tbResult restore(tbBatchWorker* worker, size_t size) {
  tbData* d = worker->data;
  tbResult result = d->status;
  char message[256];
  memcpy(message, d->message, sizeof message);
  tbResult restored = tb_snapshot_load(&worker->model, d, worker->buffer, size, NULL);
  d->status = result == TB_OK ? restored : result;
  memcpy(d->message, message, sizeof message);
  return d->status;
}

// ---- rollouts ----------------------------------------------------------------------------------

enum { MOST_RECORDS = 64 };

typedef struct {
  const tbRollout* rollout;
  int every;
  int needs;                    // of the records
  bool derived;                 // a record is not of the state
  tbField field[MOST_RECORDS];  // of the rollout's records
} Trajectory;

// Set the initial state of a rollout; without one the world continues from its own.
static void start_world(tbBatch* b, const tbRollout* r, int w) {
  const tbModel* m = b->model;
  size_t row = (size_t)w, real = sizeof(tbReal);
  if (!r->qpos && !r->qvel && !r->act) return;
  tb_world_memory_clear(&b->state->remembered[w]);
  memset(b->qacc_warmstart + row * (size_t)m->nv, 0, real * (size_t)m->nv);
  memset(b->eq_load + row * 6 * (size_t)m->neq, 0, real * 6 * (size_t)m->neq);
  memset(b->ten_load + row * (size_t)m->ntendon, 0, real * (size_t)m->ntendon);
  b->time[w] = 0;
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv, na = (size_t)m->na;
  if (r->qpos) memcpy(b->qpos + row * nq, r->qpos + row * nq, real * nq);
  if (r->qvel) memcpy(b->qvel + row * nv, r->qvel + row * nv, real * nv);
  if (r->act && na) memcpy(b->act + row * na, r->act + row * na, real * na);
}

static void set_inputs(const tbModel* model, const tbRollout* r, tbData* d, int w, int step) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  size_t at = (size_t)w * (size_t)r->nstep + (size_t)step;
#define X(type, name, rows, columns, unit, what)                 \
  if (r->name && (rows) * (columns) > 0) {                       \
    size_t count = (size_t)((rows) * (columns));                 \
    memcpy(d->name, r->name + at * count, sizeof(type) * count); \
  }
  TB_DATA_INPUT(X)
#undef X
}

// A failed world repeats its last good state, and the last good row (zeros before the first) of
// what a step computes.
static void record(const Trajectory* t, const tbModel* m, tbData* d, int w, int step, bool good) {
  const tbRollout* r = t->rollout;
  if ((step + 1) % t->every != 0) return;
  size_t row = (size_t)((step + 1) / t->every - 1), nrow = (size_t)(r->nstep / t->every);
  for (int i = 0; i < r->nrecord; i++) {
    const tbField* f = &t->field[i];
    char* out = (char*)r->record[i].out + ((size_t)w * nrow + row) * f->bytes;
    if (good || !f->derived) {
      tb_field_copy(f, m, d, out);
    } else if (row > 0) {
      memcpy(out, out - f->bytes, f->bytes);
    } else {
      memset(out, 0, f->bytes);
    }
  }
}

// Report for a world for which no step can be made.
static void refuse_world(tbWorldReport* report, tbResult result) {
  report->status = (int)result;
  report->offender.reason = TB_OFFENCE_FAILED;
}

// What a step of the rollout is for.
static tbPurpose purpose_of(const tbBatch* b, const Trajectory* t, int step) {
  int nstep = t->rollout->nstep;
  bool last = step + 1 == nstep;
  bool certified = b->certify_every > 0 && (step + 1) % b->certify_every == 0;
  bool recorded = t->derived && (step + 1) % t->every == 0;
  tbPurpose purpose = {.state_only = !last && !certified && !recorded};
  if (last) purpose.observed |= b->state->requests.needs;
  if (recorded) purpose.observed |= t->needs;
  return purpose;
}

static tbResult run_world(tbBatch* b, tbBatchWorker* worker, int w, void* context) {
  const Trajectory* t = context;
  const tbRollout* r = t->rollout;
  tbData* d = worker->data;
  start_world(b, r, w);
  tbResult result = tb_batch_worker_enter(worker, b, w, false);
  tb_report_clear(&b->report[w]);
  if (result != TB_OK) refuse_world(&b->report[w], result);
  for (int i = 0; i < r->nstep; i++) {
    if (result == TB_OK) {
      set_inputs(b->model, r, d, w, i);
      result = tb_step_for(&worker->model, d, purpose_of(b, t, i));
      tb_report_add(&b->report[w], d);
    }
    if (r->nrecord) record(t, &worker->model, d, w, i, result == TB_OK);
    if (result != TB_OK && r->nrecord == 0) break;
  }
  take_results(b, worker, w, true);
  return leave(b, worker, w, false);
}

// Find the fields that are recorded.
static tbResult prepare(tbBatch* b, const tbRollout* r, Trajectory* t) {
  t->rollout = r;
  t->every = r->every > 0 ? r->every : 1;
  t->needs = 0;
  t->derived = false;
  if (r->nstep < 0) {
    return tb_batch_refuse(b, "nstep is %d, expected 0 or more", r->nstep);
  }
  if (r->every < 0) {
    return tb_batch_refuse(b, "tb_batch_rollout: every is %d, expected 0 or more", r->every);
  }
  if (r->nrecord < 0 || r->nrecord > MOST_RECORDS) {
    return tb_batch_refuse(b, "tb_batch_rollout: nrecord is %d, expected 0 to %d", r->nrecord,
                           (int)MOST_RECORDS);
  }
  if (r->nrecord && !r->record) return tb_batch_refuse(b, "tb_batch_rollout: record is NULL");
  for (int i = 0; i < r->nrecord; i++) {
    const tbRecord* record = &r->record[i];
    char hint[96] = "";
    if (!record->field || !record->out) {
      return tb_batch_refuse(b, "tb_batch_rollout: record[%d].%s is NULL", i,
                             record->field ? "out" : "field");
    }
    if (!tb_field_find(b->model, record->field, &t->field[i], hint)) {
      return tb_batch_refuse(b, "tb_batch_rollout: record[%d]: no field is called '%.60s'%s", i,
                             record->field, hint);
    }
    t->needs |= t->field[i].needs;
    t->derived = t->derived || t->field[i].derived;
  }
  return TB_OK;
}

static tbResult roll(tbBatch* b, const tbRollout* rollout) {
  Trajectory trajectory;
  tbResult result = prepare(b, rollout, &trajectory);
  if (result != TB_OK) return result;
  result = tb_batch_each(b, rollout->mask, run_world, &trajectory);
  size_t limit = b->state->memory_limit;
  if (result == TB_OK && limit && tb_batch_memory(b) > limit) {
    snprintf(b->message, sizeof b->message, "the batch holds %zu bytes, the limit is %zu",
             tb_batch_memory(b), limit);
    return TB_ERROR_MEMORY;
  }
  return result;
}

tbResult tb_batch_step(tbBatch* batch, int nstep) {
  if (!batch) return TB_ERROR_ARGUMENT;
  return roll(batch, &(tbRollout){.nstep = nstep});
}

tbResult tb_batch_rollout(tbBatch* batch, const tbRollout* rollout) {
  if (!batch) return TB_ERROR_ARGUMENT;
  if (!rollout) return tb_batch_refuse(batch, "tb_batch_rollout: rollout is NULL");
  return roll(batch, rollout);
}

// ---- evaluations -------------------------------------------------------------------------------

// What an evaluation leaves in the world's memory (warm starts) would change the next step.
static tbResult evaluate(tbBatch* b, tbBatchWorker* worker, int w, void* context) {
  bool all = *(const tbForwardStage*)context == TB_FORWARD_FORCE;
  tbPurpose purpose = {.observed = b->state->requests.needs};
  tbData* d = worker->data;
  if (tb_batch_worker_enter(worker, b, w, true) == TB_OK) {
    size_t size = keep(worker);
    if (size == 0) {
      d->status = TB_ERROR_MEMORY;
    } else {
      all ? tb_forward_for(&worker->model, d, purpose) : tb_step1_for(&worker->model, d, purpose);
      take_results(b, worker, w, all);
      restore(worker, size);
    }
  }
  return leave(b, worker, w, true);
}

tbResult tb_batch_forward(tbBatch* b, const unsigned char* mask, tbForwardStage stage) {
  if (!b) return TB_ERROR_ARGUMENT;
  if (stage != TB_FORWARD_VELOCITY && stage != TB_FORWARD_FORCE) {
    return tb_batch_refuse(b, "tb_batch_forward: stage is %d, expected a tbForwardStage",
                           (int)stage);
  }
  return tb_batch_each(b, mask, evaluate, &stage);
}

// ---- functions of the user ---------------------------------------------------------------------

typedef struct {
  tbBatchFunction function;
  void* argument;
  bool keep;
} Applied;

// Call the function; the world becomes what it was if the call fails or is not kept.
static tbResult apply(tbBatch* b, tbBatchWorker* worker, int w, void* context) {
  const Applied* a = context;
  tbData* d = worker->data;
  if (tb_batch_worker_enter(worker, b, w, true) == TB_OK) {
    size_t size = keep(worker), sensors = sizeof(tbReal) * (size_t)b->model->nsensordata;
    d->status = size ? a->function(&worker->model, d, w, a->argument) : TB_ERROR_MEMORY;
    if (d->status != TB_OK && !d->message[0]) {
      snprintf(d->message, sizeof d->message, "the function failed: %s", tb_result_name(d->status));
    }
    if (size && (d->status != TB_OK || !a->keep)) {
      restore(worker, size);
      if (sensors) memcpy(d->sensordata, worker->buffer + size, sensors);
    }
  }
  return leave(b, worker, w, true);
}

tbResult tb_batch_apply(tbBatch* b, const unsigned char* mask, tbBatchFunction function,
                        void* argument, int keep) {
  if (!b) return TB_ERROR_ARGUMENT;
  if (!function) return tb_batch_refuse(b, "tb_batch_apply: function is NULL");
  Applied applied = {function, argument, keep != 0};
  return tb_batch_each(b, mask, apply, &applied);
}
