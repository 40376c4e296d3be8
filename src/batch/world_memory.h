// World memory: the data that one world keeps between steps, separated from the step state so that
// many worlds can share one: cached impulses, what the laws remember, the sleep state, the memory
// of the collision pairs.
#ifndef TRIBO_BATCH_WORLD_MEMORY_H_
#define TRIBO_BATCH_WORLD_MEMORY_H_

#include "step/step.h"

// Zero it before the first use.
typedef struct {
  tbImpulseCache warm;
  void* law[TB_STEP_LAW_COUNT];  // tbLawMemory of each law, NULL where it remembers nothing
  tbSleep sleep;
  void* pairs;  // in the format of tb_detector_memory_save
  size_t pairs_size, pairs_capacity;
} tbWorldMemory;

// Give the world memory to the state before a step, and take it back after the step. Between the
// two calls it belongs to the state. A step needs the memory of the model's law; a snapshot the
// `whole`: that of every law.
tbResult tb_world_memory_enter(const tbModel* model, tbStepState* state, tbWorldMemory* world,
                               bool whole);
tbResult tb_world_memory_leave(const tbModel* model, tbStepState* state, tbWorldMemory* world,
                               bool whole);

// Clear all data; keeps the allocation.
void tb_world_memory_clear(tbWorldMemory* world);
void tb_world_memory_free(tbWorldMemory* world);
size_t tb_world_memory_bytes(const tbModel* model, const tbWorldMemory* world);

#endif
