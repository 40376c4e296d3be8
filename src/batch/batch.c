// Many worlds: arrays, threads, rollouts. See docs/manual/batch.md.
#include "tribo/batch.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/pool.h"
#include "batch/worker.h"
#include "model/model.h"

enum { MOST_THREADS = 256, MOST_WORLDS = 1 << 24, LARGEST_CHUNK = 8 };

struct tbBatchState {
  tbPool* pool;
  tbBatchWorker* worker;      // nthread
  tbWorldMemory* remembered;  // nworld
  tbWorldMasses* masses;      // nworld
  void* arrays;               // owns every array of the batch
  size_t arrays_size, memory_limit;
};

// Arrays of the batch in addition to those of tbData: name, columns.
#define BATCH_ARRAYS(X)              \
  X(tbReal, time, 1)                 \
  X(tbReal, sensordata, nsensordata) \
  X(int, status, 1)                  \
  X(int, ncon, 1)                    \
  X(tbReal, residual_exact, 1)       \
  X(tbReal, friction_scale, 1)       \
  X(tbReal, mass_scale, 1)           \
  X(tbReal, comfree_stiffness, 1)    \
  X(tbReal, comfree_damping, 1)

// ---- arrays ------------------------------------------------------------------------------------

static size_t padded(size_t bytes) {
  return (bytes + 63) / 64 * 64;
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
  BATCH_ARRAYS(X)
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
  BATCH_ARRAYS(X)
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
  BATCH_ARRAYS(X)
#undef X
#undef FOUND
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
         (sizeof(tbWorldMemory) + sizeof(tbWorldMasses) + sizeof(tbWorldReport)) * (size_t)nworld;
}

static int build(tbBatch* b) {
  struct tbBatchState* s = b->state;
  size_t n = (size_t)b->nworld;
  s->arrays_size = arrays_size(b->model, b->nworld);
  s->arrays = calloc(1, s->arrays_size);
  s->remembered = calloc(n, sizeof(tbWorldMemory));
  s->masses = calloc(n, sizeof(tbWorldMasses));
  s->worker = calloc((size_t)b->nthread, sizeof(tbBatchWorker));
  s->pool = tb_pool_new(b->nthread);
  b->report = calloc(n, sizeof(tbWorldReport));
  if (!b->report || !s->arrays || !s->remembered || !s->masses || !s->worker || !s->pool) return 0;
  for (int i = 0; i < b->nthread; i++) {
    if (!tb_batch_worker_init(&s->worker[i], b->model)) return 0;
  }
  set_pointers(b);
  for (int w = 0; w < b->nworld; w++) {
    b->friction_scale[w] = b->model->opt.friction_scale;
    b->mass_scale[w] = 1;
    b->comfree_stiffness[w] = b->model->opt.comfree_stiffness;
    b->comfree_damping[w] = b->model->opt.comfree_damping;
  }
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
  if (nworld < 1 || nworld > MOST_WORLDS || nthread < 0 || nthread > MOST_THREADS) {
    tb_fail(error, TB_ERROR_ARGUMENT,
            "a batch needs 1 to %d worlds and 0 to %d threads, not %d worlds and %d threads",
            (int)MOST_WORLDS, (int)MOST_THREADS, nworld, nthread);
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
    if (s->masses) free(s->masses[w].block);
  }
  free(s->worker);
  free(s->remembered);
  free(s->masses);
  free(b->report);
  free(s->arrays);
  free(s);
  free(b);
}

size_t tb_batch_memory(const tbBatch* b) {
  if (!b) return 0;
  const struct tbBatchState* s = b->state;
  size_t bytes = least_memory(b->model, b->nworld), masses = tb_world_masses_bytes(b->model);
  for (int i = 0; i < b->nthread; i++) bytes += tb_batch_worker_bytes(&s->worker[i]);
  for (int w = 0; w < b->nworld; w++) {
    bytes += tb_world_memory_bytes(b->model, &s->remembered[w]);
    if (s->masses[w].block) bytes += masses;
  }
  return bytes;
}

// ---- running -----------------------------------------------------------------------------------

typedef struct {
  tbBatch* batch;
  const tbRollout* rollout;
  int chunk;        // worlds that a worker takes at a time
  atomic_int next;  // first world not yet taken
} Run;

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

static void record(const tbBatch* b, const tbRollout* r, int w, int step, const tbData* d) {
  const tbModel* m = b->model;
  size_t at = (size_t)w * (size_t)r->nstep + (size_t)step, real = sizeof(tbReal);
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv, ns = (size_t)m->nsensordata;
  if (r->qpos_out) memcpy(r->qpos_out + at * nq, d->qpos, real * nq);
  if (r->qvel_out) memcpy(r->qvel_out + at * nv, d->qvel, real * nv);
  if (r->sensordata_out && ns) memcpy(r->sensordata_out + at * ns, d->sensordata, real * ns);
}

// Report for a world for which no step can be made.
static void refuse_world(tbWorldReport* report, tbResult result) {
  report->status = (int)result;
  report->offender.reason = TB_OFFENCE_FAILED;
}

static tbResult run_world(Run* run, tbBatchWorker* worker, int w) {
  tbBatch* b = run->batch;
  const tbRollout* r = run->rollout;
  struct tbBatchState* s = b->state;
  size_t nu = (size_t)b->model->nu;
  start_world(b, r, w);
  tbData* d = worker->data;
  tbResult result = tb_batch_worker_enter(worker, b, w, &s->remembered[w], &s->masses[w]);
  tb_report_clear(&b->report[w]);
  if (result != TB_OK) refuse_world(&b->report[w], result);
  for (int i = 0; i < r->nstep; i++) {
    // Only results of the last step are visible: the other steps may skip unused ones.
    bool judged = b->certify_every > 0 && (i + 1) % b->certify_every == 0;
    tbPurpose purpose = {.state_only = i + 1 < r->nstep && !judged};
    if (result == TB_OK && r->ctrl && nu) {
      memcpy(d->ctrl, r->ctrl + ((size_t)w * (size_t)r->nstep + (size_t)i) * nu,
             sizeof(tbReal) * nu);
    }
    if (result == TB_OK) {
      result = tb_step_for(&worker->model, d, purpose);
      tb_report_add(&b->report[w], d);
    }
    // A failed world repeats its last valid state.
    record(b, r, w, i, d);
    if (result != TB_OK && !r->qpos_out && !r->qvel_out && !r->sensordata_out) break;
  }
  return tb_batch_worker_leave(worker, b, w, &s->remembered[w]);
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
      tbResult result = run_world(run, worker, w);
      if (result == TB_OK || worker->failed >= 0) continue;
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

static tbResult run_all(tbBatch* b, const tbRollout* rollout) {
  // Programs may write options into the model at any time, as for a single world.
  for (int i = 0; i < b->nthread; i++) {
    tbModel* own = &b->state->worker[i].model;
    own->opt = b->model->opt;
    own->opt.threads = 1;
  }
  Run run = {.batch = b, .rollout = rollout, .chunk = b->nworld / (4 * b->nthread)};
  if (run.chunk < 1) run.chunk = 1;
  if (run.chunk > LARGEST_CHUNK) run.chunk = LARGEST_CHUNK;
  atomic_init(&run.next, 0);
  for (int i = 0; i < b->nthread; i++) b->state->worker[i].failed = -1;
  tb_pool_run(b->state->pool, run_chunks, &run);
  tbResult result = report(b);
  size_t limit = b->state->memory_limit;
  if (result == TB_OK && limit && tb_batch_memory(b) > limit) {
    snprintf(b->message, sizeof b->message, "the batch holds %zu bytes, the limit is %zu",
             tb_batch_memory(b), limit);
    return TB_ERROR_MEMORY;
  }
  return result;
}

// The error for an invalid argument of a call.
static tbResult refuse(tbBatch* b, const char* what, int value) {
  snprintf(b->message, sizeof b->message, "%s: %d", what, value);
  return TB_ERROR_ARGUMENT;
}

tbResult tb_batch_step(tbBatch* batch, int nstep) {
  if (!batch) return TB_ERROR_ARGUMENT;
  if (nstep < 0) return refuse(batch, "the number of steps must not be negative", nstep);
  tbRollout rollout = {.nstep = nstep};
  return run_all(batch, &rollout);
}

tbResult tb_batch_rollout(tbBatch* batch, const tbRollout* rollout) {
  if (!batch || !rollout) return TB_ERROR_ARGUMENT;
  if (rollout->nstep < 0)
    return refuse(batch, "the number of steps must not be negative", rollout->nstep);
  return run_all(batch, rollout);
}

tbResult tb_batch_reset(tbBatch* b, const unsigned char* mask, int key) {
  if (!b) return TB_ERROR_ARGUMENT;
  if (key < -1 || key >= b->model->nkey) return refuse(b, "the model has no such keyframe", key);
  const tbModel* model = b->model;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  // One world in its reset state, copied to the rows of the others.
  tbData* d = tb_data_new(model);
  if (!d) return TB_ERROR_MEMORY;
  if (key >= 0) tb_reset_keyframe(model, d, key);
  for (int w = 0; w < b->nworld; w++) {
    if (mask && !mask[w]) continue;
    size_t row = (size_t)w;
#define X(type, name, rows, columns, unit, what)                \
  memcpy(b->name + row * (size_t)((rows) * (columns)), d->name, \
         (size_t)((rows) * (columns)) * sizeof(type));
    TB_DATA_STATE(X)
    TB_DATA_INPUT(X)
#undef X
    memset(b->sensordata + row * (size_t)nsensordata, 0, (size_t)nsensordata * sizeof(tbReal));
    b->time[w] = d->time;
    b->status[w] = TB_OK;
    b->ncon[w] = 0;
    b->residual_exact[w] = NAN;
    tb_report_clear(&b->report[w]);
    tb_world_memory_clear(&b->state->remembered[w]);
  }
  tb_data_free(d);
  return TB_OK;
}
