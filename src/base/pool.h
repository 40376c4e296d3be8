// A few threads that wait for work: every worker runs the same job once per call.
#ifndef TRIBO_BASE_POOL_H_
#define TRIBO_BASE_POOL_H_

typedef struct tbPool tbPool;

// `worker` is 0 for the caller's own thread.
typedef void (*tbPoolJob)(void* context, int worker);

// `workers` - 1 threads beside the caller's; NULL when they cannot be had. At least 1 worker.
tbPool* tb_pool_new(int workers);
void tb_pool_free(tbPool* pool);

// Run the job on every worker; returns when all are done. One caller at a time.
void tb_pool_run(tbPool* pool, tbPoolJob job, void* context);

#endif
