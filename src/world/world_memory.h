// What one world remembers between steps, taken out of a step state, so that many worlds can share
// one: warm impulses, anchors of springs, who sleeps, memories of the collision pairs.
#ifndef TRIBO_WORLD_WORLD_MEMORY_H_
#define TRIBO_WORLD_WORLD_MEMORY_H_

#include "world/state.h"

// Zero it before the first use.
typedef struct {
  tbWarmTable warm;
  tbAnchorTable anchors;
  tbSleep sleep;
  void* pairs;  // as tb_contact_finder_memory_save writes them
  size_t pairs_size, pairs_capacity;
} tbRemembered;

// Give the state what the world remembers, and take it back after the step. Between the two calls
// the memories are the state's.
tbResult tb_remember_enter(tbStepState* state, tbRemembered* world);
tbResult tb_remember_leave(tbStepState* state, tbRemembered* world);

// Forget everything; keeps the memory.
void tb_remember_clear(tbRemembered* world);
void tb_remember_free(tbRemembered* world);
size_t tb_remember_bytes(const tbModel* model, const tbRemembered* world);

#endif
