// Threads over islands. The result does not depend on which worker solves an island: workers have
// memory of their own, and islands share no data that is written.
#ifndef TRIBO_WORLD_WORKERS_H_
#define TRIBO_WORLD_WORKERS_H_

#include <stdbool.h>

#include "base/arena.h"
#include "base/pool.h"
#include "tribo/problem.h"

enum { TB_MOST_WORKERS = 64 };

// Memory of one worker. The arena is empty at the start of every job.
typedef struct {
  tbSolveWork* solve;
  tbArena arena;
  tbError error;  // of the item that failed
} tbWorker;

typedef struct {
  int count;
  tbWorker* worker;
  tbPool* pool;   // NULL for one worker
  tbError error;  // of the first item that failed
  size_t allocations;
} tbWorkers;

// Solve item `index`; any result except TB_OK ends the worker's share.
typedef tbResult (*tbIslandJob)(void* context, int index, tbWorker* worker);

// As many workers as asked for, between 1 and TB_MOST_WORKERS; false when out of memory or threads.
bool tb_workers_resize(tbWorkers* workers, int count);
void tb_workers_free(tbWorkers* workers);

// Calls to malloc so far, the workers' memory included.
size_t tb_workers_allocations(const tbWorkers* workers);

// Bytes held, the solvers' memory included.
size_t tb_workers_bytes(const tbWorkers* workers);

// Run the job for every item, distributed by `cost` (count entries; 0: skip the item). The result
// is that of the first failed item. `arena` provides scratch memory.
tbResult tb_workers_run(tbWorkers* workers, tbArena* arena, int count, const tbReal* cost,
                        tbIslandJob job, void* context);

#endif
