// What a world keeps between steps.
#ifndef TRIBO_STEP_STATE_H_
#define TRIBO_STEP_STATE_H_

#include "contact/assemble.h"
#include "step/warm.h"
#include "step/workers.h"
#include "tribo/data.h"

typedef struct {
  tbContactFinder* finder;
  tbWorkers workers;
  tbWarmTable warm;
  tbReal* rk4;  // stages of tb_rk4, made on first use
  size_t allocations;
  int first_half;             // 1 after tb_step1, 0 after tb_step2
  tbConstraints constraints;  // of the current step, in the arena
  tbReal* row_force;          // N or N m by row of the constraints, in the arena
} tbStepState;

// The state of a world, made on first use. NULL when out of memory.
tbStepState* tb_step_state(const tbModel* model, tbData* data);

// After the law: contact forces and row forces from the islands' impulses.
void tb_store_forces(const tbModel* model, tbData* data, tbStepState* state,
                     const tbIslands* islands);

#endif
