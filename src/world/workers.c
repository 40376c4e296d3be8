#include "world/workers.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

bool tb_workers_resize(tbWorkers* w, int count) {
  count = count < 1 ? 1 : count > TB_MOST_WORKERS ? TB_MOST_WORKERS : count;
  if (count == w->count) return true;
  size_t allocations = tb_workers_allocations(w);
  tb_workers_free(w);
  w->allocations = allocations + 2 * (size_t)count + 1;
  w->worker = calloc((size_t)count, sizeof *w->worker);
  if (!w->worker) return false;
  w->count = count;
  bool ok = true;
  for (int i = 0; i < count; i++) {
    tb_arena_init(&w->worker[i].arena);
    w->worker[i].solve = tb_solve_work_create();
    ok = ok && w->worker[i].solve;
  }
  if (ok && count > 1) ok = (w->pool = tb_pool_new(count)) != NULL;
  if (!ok) tb_workers_free(w);
  return ok;
}

void tb_workers_free(tbWorkers* w) {
  tb_pool_free(w->pool);
  for (int i = 0; i < w->count; i++) {
    tb_arena_free(&w->worker[i].arena);
    tb_solve_work_free(w->worker[i].solve);
  }
  free(w->worker);
  memset(w, 0, sizeof *w);
}

size_t tb_workers_allocations(const tbWorkers* w) {
  size_t total = w->allocations;
  for (int i = 0; i < w->count; i++) {
    total += w->worker[i].arena.allocations + tb_solve_work_allocations(w->worker[i].solve);
  }
  return total;
}

size_t tb_workers_bytes(const tbWorkers* w) {
  size_t total = sizeof(tbWorker) * (size_t)w->count;
  for (int i = 0; i < w->count; i++) {
    total += w->worker[i].arena.bytes + tb_solve_work_bytes(w->worker[i].solve);
  }
  return total;
}

// ---- one run ------------------------------------------------------------------------------------

typedef struct {
  tbWorkers* workers;
  int count;
  const int* owner;  // per item: its worker, or -1
  tbIslandJob job;
  void* context;
  struct {
    int item;  // the first failed item
    tbResult result;
  } failure[TB_MOST_WORKERS];
} Work;

static void work_share(void* context, int worker) {
  Work* r = context;
  r->failure[worker].result = TB_OK;
  for (int i = 0; i < r->count; i++) {
    if (r->owner[i] != worker) continue;
    tbWorker* self = &r->workers->worker[worker];
    tb_arena_reset(&self->arena);
    tb_error_clear(&self->error);
    tbResult result = r->job(r->context, i, self);
    if (result == TB_OK) continue;
    r->failure[worker].item = i;
    r->failure[worker].result = result;
    return;
  }
}

// Assign each item to the worker with the smallest load so far; equal costs give equal assignments,
// so that the workers' memory stops growing.
static int distribute(const tbWorkers* w, int count, const tbReal* cost, int* owner) {
  tbReal load[TB_MOST_WORKERS] = {0};
  int busy = 0;
  for (int i = 0; i < count; i++) {
    owner[i] = -1;
    if (!(cost[i] > 0)) continue;
    int least = 0;
    for (int k = 1; k < w->count; k++) {
      if (load[k] < load[least]) least = k;
    }
    load[least] += cost[i];
    owner[i] = least;
    busy = least + 1 > busy ? least + 1 : busy;
  }
  return busy;
}

tbResult tb_workers_run(tbWorkers* w, tbArena* arena, int count, const tbReal* cost,
                        tbIslandJob job, void* context) {
  int* owner = TB_ARENA_NEW(arena, int, count);
  if (!owner) return TB_ERROR_MEMORY;
  Work round = {.workers = w, .count = count, .owner = owner, .job = job, .context = context};
  int busy = distribute(w, count, cost, owner);
  if (busy > 1) {
    tb_pool_run(w->pool, work_share, &round);
  } else {
    work_share(&round, 0);
  }
  // The first failed item, whichever worker had it.
  tbResult result = TB_OK;
  int first = count;
  for (int k = 0; k < (busy > 1 ? w->count : 1); k++) {
    if (round.failure[k].result == TB_OK || round.failure[k].item >= first) continue;
    first = round.failure[k].item;
    result = round.failure[k].result;
    w->error = w->worker[k].error;
  }
  return result;
}
