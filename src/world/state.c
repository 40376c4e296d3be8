#include "world/state.h"

#include <stdlib.h>

#include "model/workspace.h"
#include "laws/rigid/speculative_contacts.h"
#include "tribo/step.h"

static void free_state(void* pointer) {
  tbStepState* state = pointer;
  tb_detector_free(state->finder);
  tb_workers_free(&state->workers);
  tb_impulse_cache_free(&state->warm);
  tb_sleep_free(&state->sleep);
  tb_anchors_free(&state->anchors);
  tb_anchors_free(&state->spare);
  tb_applied_free(&state->applied);
  free(state->newton);
  free(state->middle);
  free(state->start);
  free(state->frozen);
  free(state->rk4);
  for (int i = 0; i < state->nray_tree; i++) tb_ray_tree_free(&state->ray_tree[i]);
  free(state->ray_tree);
  free(state);
}

tbStepState* tb_step_state(const tbModel* model, tbData* data) {
  if (data->work->step) return data->work->step;
  tbStepState* state = calloc(1, sizeof *state);
  if (!state) return NULL;
  state->finder = tb_detector_new(model);
  if (!state->finder) {
    free_state(state);
    return NULL;
  }
  state->smallest_half_thickness = tb_smallest_half_thickness(model);
  state->most_margin = tb_most_margin(model);
  data->work->step = state;
  data->work->step_free = free_state;
  return state;
}

void tb_store_forces(const tbModel* m, tbData* d, tbStepState* state, const tbIslands* islands) {
  for (int i = 0; i < islands->count; i++) {
    const tbReal* lambda = islands->island[i].lambda;
    for (int k = 0; k < islands->island[i].nmember; k++) {
      const tbConstraint* c = &state->constraints.list[islands->island[i].member[k]];
      for (int r = 0; r < c->dim; r++, lambda++) {
        tbReal force = *lambda / m->opt.timestep;
        state->row_force[c->row + r] = force;
        if (c->source == TB_SOURCE_CONTACT) d->contact[c->id].force[r] = force;
      }
    }
  }
}

size_t tb_step_allocations(const tbData* data) {
  if (!data) return 0;
  const tbStepState* state = data->work->step;
  size_t count = data->work->arena.allocations;
  if (state) {
    count += state->allocations + tb_detector_allocations(state->finder) + state->warm.allocations +
             state->anchors.allocations + state->spare.allocations +
             tb_workers_allocations(&state->workers);
  }
  return count;
}

size_t tb_step_memory(const tbModel* model, const tbData* data) {
  if (!tb_is_world_of(model, data)) return 0;
  const tbStepState* state = data->work->step;
  size_t bytes = sizeof *data + data->block_size + sizeof *data->work + data->work->arena.bytes;
  if (!state) return bytes;
  return bytes + sizeof *state + state->bytes + tb_detector_bytes(state->finder) +
         tb_workers_bytes(&state->workers) + tb_impulse_cache_bytes(&state->warm) +
         tb_anchors_bytes(&state->anchors) + tb_anchors_bytes(&state->spare) +
         tb_sleep_size(model, &state->sleep);
}

int tb_tree_asleep(const tbModel* model, const tbData* data, int tree) {
  if (!tb_is_world_of(model, data) || tree < 0 || tree >= model->ntree) return 0;
  const tbStepState* state = data->work->step;
  return state && state->sleep.count > 0 && state->sleep.fixed[tree];
}
