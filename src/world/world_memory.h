// What one world remembers between steps, taken out of a step state, so that many worlds can share
// one: warm impulses, anchors of springs, who sleeps, memories of the collision pairs.
#ifndef TRIBO_WORLD_WORLD_MEMORY_H_
#define TRIBO_WORLD_WORLD_MEMORY_H_

#include "world/state.h"

// Zero it before the first use.
typedef struct {
  tbImpulseCache warm;
  tbAnchorTable anchors;
  tbSleep sleep;
  void* pairs;  // as tb_detector_memory_save writes them
  size_t pairs_size, pairs_capacity;
} tbWorldMemory;

// Give the state what the world remembers, and take it back after the step. Between the two calls
// the memories are the state's.
tbResult tb_world_memory_enter(tbStepState* state, tbWorldMemory* world);
tbResult tb_world_memory_leave(tbStepState* state, tbWorldMemory* world);

// Forget everything; keeps the memory.
void tb_world_memory_clear(tbWorldMemory* world);
void tb_world_memory_free(tbWorldMemory* world);
size_t tb_world_memory_bytes(const tbModel* model, const tbWorldMemory* world);

#endif
