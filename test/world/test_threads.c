// Threads over islands change nothing but the time, and steps still allocate nothing.
#include "base/hash.h"
#include "base/pool.h"
#include "common/worlds.h"

static const int THREADS[] = {1, 2, 4};

static uint64_t hash_of_run(const char* scene, int law, int threads, int steps) {
  tbWorld w = tb_world_scene(scene, NULL);
  w.m->opt.law = law;
  w.m->opt.threads = threads;
  uint64_t hash = TB_HASH_SEED;
  for (int i = 0; i < steps; i++) {
    tb_world_run(w, 1);
    hash = tb_world_hash(hash, w);
    hash = tb_hash(hash, &w.d->solve.residual, sizeof w.d->solve.residual);
  }
  tb_world_free(w);
  return hash;
}

static void results_do_not_depend_on_threads(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    uint64_t expected = 0;
    for (size_t t = 0; t < sizeof THREADS / sizeof THREADS[0]; t++) {
      uint64_t hash = hash_of_run("islands.xml", law, THREADS[t], 60);
      if (t == 0) expected = hash;
      if (hash != expected) {
        fail_msg("%s with %d threads differs", tb_step_law_name(law), THREADS[t]);
      }
    }
  }
}

// The number may change between steps; absurd numbers are clamped.
static void threads_may_change_on_the_way(void** state) {
  (void)state;
  tbWorld a = tb_world_scene("islands.xml", NULL), b = tb_world_scene("islands.xml", NULL);
  static const int WILD[] = {3, 1, 0, 1000000, 2, 5};
  for (int i = 0; i < 24; i++) {
    b.m->opt.threads = WILD[i % 6];
    tb_world_run(a, 1);
    tb_world_run(b, 1);
    assert_memory_equal(a.d->qpos, b.d->qpos, sizeof(tbReal) * (size_t)a.m->nq);
  }
  tb_world_free(a);
  tb_world_free(b);
}

static void warm_steps_with_threads_allocate_nothing(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("tower.xml", NULL);
  w.m->opt.threads = 4;
  w.m->opt.solve_tolerance = 1e-12;
  tb_world_run(w, 60);
  size_t warm = tb_step_allocations(w.d);
  tb_world_run(w, 60);
  assert_int_equal(tb_step_allocations(w.d), warm);
  tb_world_free(w);
}

typedef struct {
  int hits[8];
  int rounds;
} Counter;

static void count_hit(void* context, int worker) {
  Counter* c = context;
  c->hits[worker]++;
}

static void pool_runs_every_worker_once_a_round(void** state) {
  (void)state;
  for (int workers = 1; workers <= 8; workers++) {
    Counter c = {0};
    tbPool* pool = tb_pool_new(workers);
    assert_non_null(pool);
    for (int r = 0; r < 500; r++) tb_pool_run(pool, count_hit, &c);
    for (int i = 0; i < 8; i++) assert_int_equal(c.hits[i], i < workers ? 500 : 0);
    tb_pool_free(pool);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_do_not_depend_on_threads),
      cmocka_unit_test(threads_may_change_on_the_way),
      cmocka_unit_test(warm_steps_with_threads_allocate_nothing),
      cmocka_unit_test(pool_runs_every_worker_once_a_round),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
