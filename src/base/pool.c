#include "base/pool.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct {
  tbPool* pool;
  pthread_t thread;
  int id;
} Worker;

struct tbPool {
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  tbPoolJob job;
  void* context;
  unsigned long round;  // counts calls of tb_pool_run
  int busy;             // workers that have not finished this round
  int stop;
  int nthread;  // threads beside the caller's
  Worker worker[];
};

static void* serve(void* argument) {
  Worker* w = argument;
  tbPool* p = w->pool;
  unsigned long seen = 0;
  pthread_mutex_lock(&p->lock);
  for (;;) {
    while (!p->stop && p->round == seen) pthread_cond_wait(&p->work, &p->lock);
    if (p->stop) break;
    seen = p->round;
    tbPoolJob job = p->job;
    void* context = p->context;
    pthread_mutex_unlock(&p->lock);
    job(context, w->id);
    pthread_mutex_lock(&p->lock);
    if (--p->busy == 0) pthread_cond_signal(&p->done);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

tbPool* tb_pool_new(int workers) {
  int nthread = workers > 1 ? workers - 1 : 0;
  tbPool* p = calloc(1, sizeof *p + sizeof(Worker) * (size_t)nthread);
  if (!p) return NULL;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->work, NULL);
  pthread_cond_init(&p->done, NULL);
  for (int i = 0; i < nthread; i++) {
    p->worker[i].pool = p;
    p->worker[i].id = i + 1;
    if (pthread_create(&p->worker[i].thread, NULL, serve, &p->worker[i]) != 0) {
      tb_pool_free(p);
      return NULL;
    }
    p->nthread++;
  }
  return p;
}

void tb_pool_free(tbPool* p) {
  if (!p) return;
  pthread_mutex_lock(&p->lock);
  p->stop = 1;
  pthread_cond_broadcast(&p->work);
  pthread_mutex_unlock(&p->lock);
  for (int i = 0; i < p->nthread; i++) pthread_join(p->worker[i].thread, NULL);
  pthread_mutex_destroy(&p->lock);
  pthread_cond_destroy(&p->work);
  pthread_cond_destroy(&p->done);
  free(p);
}

void tb_pool_run(tbPool* p, tbPoolJob job, void* context) {
  pthread_mutex_lock(&p->lock);
  p->job = job;
  p->context = context;
  p->busy = p->nthread;
  p->round++;
  pthread_cond_broadcast(&p->work);
  pthread_mutex_unlock(&p->lock);
  job(context, 0);
  pthread_mutex_lock(&p->lock);
  while (p->busy > 0) pthread_cond_wait(&p->done, &p->lock);
  pthread_mutex_unlock(&p->lock);
}
