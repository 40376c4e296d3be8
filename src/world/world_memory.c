#include "world/world_memory.h"

#include <stdlib.h>

// Exchange the tables; each keeps its allocation.
static void exchange_tables(tbStepState* state, tbWorldMemory* world) {
  tbImpulseCache warm = state->warm;
  state->warm = world->warm;
  world->warm = warm;
  tbAnchorTable anchors = state->anchors;
  state->anchors = world->anchors;
  world->anchors = anchors;
  tbSleep sleep = state->sleep;
  state->sleep = world->sleep;
  world->sleep = sleep;
}

tbResult tb_world_memory_enter(tbStepState* state, tbWorldMemory* world) {
  exchange_tables(state, world);
  return tb_detector_memory_load(state->finder, world->pairs, world->pairs_size);
}

tbResult tb_world_memory_leave(tbStepState* state, tbWorldMemory* world) {
  exchange_tables(state, world);
  size_t size = tb_detector_memory_size(state->finder);
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
  tb_detector_memory_save(state->finder, world->pairs);
  return TB_OK;
}

void tb_world_memory_clear(tbWorldMemory* world) {
  world->pairs_size = 0;
  if (world->warm.capacity) tb_impulse_cache_clear(&world->warm, 0);
  if (world->anchors.capacity) tb_anchors_clear(&world->anchors, 0);
  tb_sleep_free(&world->sleep);
}

void tb_world_memory_free(tbWorldMemory* world) {
  tb_impulse_cache_free(&world->warm);
  tb_anchors_free(&world->anchors);
  tb_sleep_free(&world->sleep);
  free(world->pairs);
}

size_t tb_world_memory_bytes(const tbModel* model, const tbWorldMemory* world) {
  return tb_impulse_cache_bytes(&world->warm) + tb_anchors_bytes(&world->anchors) +
         world->pairs_capacity + tb_sleep_size(model, &world->sleep);
}
