#include "laws/rows.h"

#include "base/ablation.h"
#include "base/minmax.h"
#include "base/timer.h"
#include "model/workspace.h"
#include "spatial/vec3.h"

tbReal tb_rows_detection(const tbModel* m, tbReal margin) {
  const tbReal h = m->opt.timestep;
  return tb_max(margin, h * h * tb_norm3(m->opt.gravity));
}

void tb_rows_shift_friction(const tbStep* s, int first) {
  tbData* d = s->d;
  for (int i = first; s->purpose.friction_shift != 0 && i < d->ncon; i++) {
    if (d->contact[i].key != s->purpose.friction_key) continue;
    for (int k = 0; k < 2; k++) d->contact[i].friction[k] += s->purpose.friction_shift;
  }
}

tbResult tb_rows_assemble(const tbStep* s, tbLookAhead ahead) {
  tbStepState* state = s->state;
  tbResult result = tb_assemble_rows(s->m, s->d, ahead, state->pruned, &state->constraints);
  if (result != TB_OK) return result;
  state->row_force = TB_ARENA_NEW(&s->d->work->arena, tbReal, state->constraints.nrow);
  return state->row_force ? TB_OK : TB_ERROR_MEMORY;
}

tbResult tb_rows_find(const tbStep* s, bool all, tbReal* collide_end) {
  const tbModel* m = s->m;
  tbData* d = s->d;
  tbStepState* state = s->state;
  tbReal reach = s->law->reach ? s->law->reach(s) : 0;
  tbLookAhead ahead = {0};
  if (s->law->look_ahead) ahead = s->law->look_ahead(m);
  bool prunes = !all && s->law->prune && !TB_WITHOUT(PRUNING);
  tbResult result;
  state->pruned = NULL;
  do {
    tb_detector_set_resting(state->detector, state->sleep.count ? state->sleep.fixed : NULL);
    result = tb_detect_contacts(state->detector, m, d, reach);
    *collide_end = tb_seconds();
    if (s->purpose.friction_shift != 0) tb_rows_shift_friction(s, 0);
    if (result == TB_OK && prunes) result = s->law->prune(s);
    if (result == TB_OK) result = tb_rows_assemble(s, ahead);
  } while (result == TB_OK && tb_sleep_disturbed(m, d, &state->sleep, &state->constraints));
  return result;
}
