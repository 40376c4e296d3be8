#include "batch/world_memory.h"

#include <stdlib.h>
#include <string.h>

// Exchange two blocks of the size of a law's memory.
static void exchange(void* a, void* b, size_t size) {
  unsigned char *x = a, *y = b;
  for (size_t i = 0; i < size; i++) {
    unsigned char swap = x[i];
    x[i] = y[i];
    y[i] = swap;
  }
}

// Exchange the memory of a law; both keep their allocations. False when out of memory.
static bool exchange_law(const tbModel* m, tbStepState* state, tbWorldMemory* world, int law) {
  const tbLawType* type = tb_law_type(law);
  if (!type || !type->memory) return true;
  if (!tb_law_open(m, state, law)) return false;
  if (!world->law[law]) world->law[law] = calloc(1, type->memory->size);
  if (!world->law[law]) return false;
  exchange(state->law[law].state, world->law[law], type->memory->size);
  return true;
}

// Exchange the tables; each keeps its allocation.
static tbResult exchange_tables(const tbModel* m, tbStepState* state, tbWorldMemory* world,
                                bool whole) {
  tbImpulseCache warm = state->warm;
  state->warm = world->warm;
  world->warm = warm;
  tbSleep sleep = state->sleep;
  state->sleep = world->sleep;
  world->sleep = sleep;
  bool done = whole || exchange_law(m, state, world, m->opt.law);
  for (int i = 0; whole && i < TB_STEP_LAW_COUNT; i++) {
    done = exchange_law(m, state, world, i) && done;
  }
  return done ? TB_OK : TB_ERROR_MEMORY;
}

tbResult tb_world_memory_enter(const tbModel* m, tbStepState* state, tbWorldMemory* world,
                               bool whole) {
  tbResult result = exchange_tables(m, state, world, whole);
  return result == TB_OK ? tb_detector_memory_load(state->detector, world->pairs, world->pairs_size)
                         : result;
}

tbResult tb_world_memory_leave(const tbModel* m, tbStepState* state, tbWorldMemory* world,
                               bool whole) {
  tbResult result = exchange_tables(m, state, world, whole);
  if (result != TB_OK) return result;
  size_t size = tb_detector_memory_size(state->detector);
  if (size > world->pairs_capacity) {
    void* pairs = realloc(world->pairs, 2 * size);
    if (!pairs) {
      world->pairs_size = 0;
      return TB_ERROR_MEMORY;
    }
    world->pairs = pairs;
    world->pairs_capacity = 2 * size;
  }
  world->pairs_size = size;
  tb_detector_memory_save(state->detector, world->pairs);
  return TB_OK;
}

void tb_world_memory_clear(tbWorldMemory* world) {
  world->pairs_size = 0;
  if (world->warm.capacity) tb_impulse_cache_clear(&world->warm, 0);
  for (int i = 0; i < TB_STEP_LAW_COUNT; i++) {
    if (world->law[i]) tb_law_type(i)->memory->clear(world->law[i]);
  }
  tb_sleep_free(&world->sleep);
}

void tb_world_memory_free(tbWorldMemory* world) {
  tb_impulse_cache_free(&world->warm);
  for (int i = 0; i < TB_STEP_LAW_COUNT; i++) {
    if (!world->law[i]) continue;
    tb_law_type(i)->memory->free(world->law[i]);
    free(world->law[i]);
  }
  tb_sleep_free(&world->sleep);
  free(world->pairs);
}

size_t tb_world_memory_bytes(const tbModel* model, const tbWorldMemory* world) {
  size_t bytes = tb_impulse_cache_bytes(&world->warm) + world->pairs_capacity +
                 tb_sleep_size(model, &world->sleep);
  for (int i = 0; i < TB_STEP_LAW_COUNT; i++) {
    const tbLawMemory* memory = tb_law_type(i)->memory;
    if (world->law[i]) bytes += memory->size + memory->bytes(world->law[i]);
  }
  return bytes;
}
