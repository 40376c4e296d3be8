// tb_rne_post_constraint: the checked call for users. Force and torque sensors are in values.h.
#include "base/error.h"
#include "model/workspace.h"
#include "sensors/evaluate.h"
#include "tribo/contact.h"
#include "world/state.h"

tbResult tb_rne_post_constraint(const tbModel* m, tbData* d, tbError* error) {
  tb_error_clear(error);
  if (!m || !d) return tb_fail(error, TB_ERROR_ARGUMENT, "%s is NULL", m ? "data" : "model");
  if (!tb_is_world_of(m, d)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "data is a world of another model");
  }
  const tbStepState* state = d->work->step;
  if (!state || d->status != TB_OK || d->work->halfway || !d->work->arena.used) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "data has no forces of constraints yet: call tb_step or tb_forward first");
  }
  tb_reactions(m, d, &state->constraints, state->row_force);
  return TB_OK;
}
