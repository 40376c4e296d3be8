// Memory that a world takes.
#include "model/workspace.h"
#include "step/step.h"
#include "tribo/step.h"

static void count_laws(const tbStepState* state, size_t* bytes, size_t* allocations) {
  for (int i = 0; i < TB_STEP_LAW_COUNT; i++) {
    const tbLawType* type = tb_law_type(i);
    if (state->law[i].state && type->count) type->count(state->law[i].state, bytes, allocations);
  }
}

size_t tb_step_allocations(const tbData* data) {
  if (!data) return 0;
  const tbStepState* state = data->work->step;
  size_t count = data->work->arena.allocations + data->work->query.allocations;
  if (state) {
    size_t bytes = 0;
    count += state->allocations + tb_detector_allocations(state->detector) +
             state->warm.allocations + tb_workers_allocations(&state->workers);
    count_laws(state, &bytes, &count);
  }
  return count;
}

size_t tb_step_memory(const tbModel* model, const tbData* data) {
  if (!tb_is_world_of(model, data)) return 0;
  const tbStepState* state = data->work->step;
  size_t bytes = sizeof *data + data->block_size + sizeof *data->work + data->work->arena.bytes +
                 data->work->query.bytes;
  if (!state) return bytes;
  size_t allocations = 0;
  count_laws(state, &bytes, &allocations);
  return bytes + sizeof *state + state->bytes + tb_detector_bytes(state->detector) +
         tb_workers_bytes(&state->workers) + tb_impulse_cache_bytes(&state->warm) +
         tb_sleep_size(model, &state->sleep);
}
