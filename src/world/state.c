#include "world/state.h"

#include <stdlib.h>

#include "model/workspace.h"
#include "tribo/step.h"

static void free_owned(tbOwned* owned) {
  if (owned->state) owned->free(owned->state);
}

static void free_state(void* pointer) {
  tbStepState* state = pointer;
  tb_detector_free(state->detector);
  tb_workers_free(&state->workers);
  tb_impulse_cache_free(&state->warm);
  tb_sleep_free(&state->sleep);
  for (int i = 0; i < TB_STEP_LAW_COUNT; i++) free_owned(&state->law[i]);
  free_owned(&state->integrator);
  free(state);
}

tbStepState* tb_step_state(const tbModel* model, tbData* data) {
  if (data->work->step) return data->work->step;
  tbStepState* state = calloc(1, sizeof *state);
  if (!state) return NULL;
  state->detector = tb_detector_new(model);
  if (!state->detector) {
    free_state(state);
    return NULL;
  }
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

int tb_tree_asleep(const tbModel* model, const tbData* data, int tree) {
  if (!tb_is_world_of(model, data) || tree < 0 || tree >= model->ntree) return 0;
  const tbStepState* state = data->work->step;
  return state && state->sleep.count > 0 && state->sleep.fixed[tree];
}
