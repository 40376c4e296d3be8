#include "step/integrator.h"

#include <stdlib.h>

static void free_state(void* pointer) {
  tbIntegratorState* own = pointer;
  tb_applied_free(&own->applied);
  free(own->rk4);
  free(own->newton);
  free(own->middle);
  free(own->substeps);
  free(own);
}

tbIntegratorState* tb_integrator_state(tbStepState* state) {
  if (!state->integrator.state) {
    state->integrator = (tbOwned){calloc(1, sizeof(tbIntegratorState)), free_state};
    if (state->integrator.state) state->bytes += sizeof(tbIntegratorState);
  }
  return state->integrator.state;
}

tbReal* tb_integrator_memory(tbStepState* state, tbReal** memory, size_t count) {
  if (!*memory) {
    *memory = malloc(sizeof(tbReal) * count);
    if (*memory) state->bytes += sizeof(tbReal) * count;
    state->allocations++;
  }
  return *memory;
}
