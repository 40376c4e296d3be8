// A pool of threads: every worker runs the same job once per call.
#ifndef TRIBO_BASE_POOL_H_
#define TRIBO_BASE_POOL_H_

typedef struct tbPool tbPool;

// `worker` is 0 for the caller's own thread.
typedef void (*tbPoolJob)(void* context, int worker);

// Create `workers` - 1 threads in addition to the caller's; NULL if they are not available.
// `workers` is at least 1.
tbPool* tb_pool_new(int workers);
void tb_pool_free(tbPool* pool);

// Run the job on every worker; returns when all are finished. One caller at a time.
void tb_pool_run(tbPool* pool, tbPoolJob job, void* context);

#endif
