// Inverse dynamics with contacts: checks, and the law's own (laws/rigid/inverse.c,
// laws/soft/inverse.c).
#include "tribo/inverse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/workspace.h"
#include "step/check.h"
#include "step/step.h"
#include "tribo/step.h"

tbInverseSettings tbDefaultInverseSettings(void) {
  return (tbInverseSettings){.proximal = 1e-8, .tolerance = 1e-9, .max_iter = 200};
}

static bool is_valid(const tbModel* m, const tbReal* qacc, const tbInverseSettings* settings) {
  for (int i = 0; i < m->nv; i++) {
    if (!isfinite(qacc[i])) return false;
  }
  return settings->proximal > 0 && isfinite(settings->proximal) && settings->tolerance >= 0 &&
         settings->max_iter >= 1;
}

// A law without inverse dynamics: say which laws have it.
static tbResult refuse_law(const tbModel* m, tbData* d) {
  char has[128] = "";
  for (int law = 0, n = 0; law < TB_STEP_LAW_COUNT; law++) {
    if (!tb_law_type(law)->inverse) continue;
    n += snprintf(has + n, sizeof has - (size_t)n, "%s%s", n ? ", " : "", tb_step_law_name(law));
  }
  snprintf(d->message, sizeof d->message, "law %s has no inverse dynamics; these laws do: %s",
           tb_step_law_name(m->opt.law), has);
  return d->status = TB_ERROR_UNSUPPORTED;
}

tbResult tb_inverse(const tbModel* m, tbData* d, const tbReal* qacc,
                    const tbInverseSettings* settings, tbReal* qfrc, tbInverseInfo* info) {
  if (!m || !d) return TB_ERROR_ARGUMENT;
  if (!tb_is_world_of(m, d)) {
    return tb_step_fail(d, TB_ERROR_ARGUMENT, "this world is of another model");
  }
  if (!qacc || !qfrc) {
    return tb_step_fail(d, TB_ERROR_ARGUMENT,
                        "tb_inverse needs qacc and qfrc; one of them is NULL");
  }
  tbInverseSettings chosen = settings ? *settings : tbDefaultInverseSettings();
  tbInverseInfo unused;
  if (!info) info = &unused;
  *info = (tbInverseInfo){.worst_constraint = -1, .worst_dof = -1};
  if (!is_valid(m, qacc, &chosen)) {
    return tb_step_fail(
        d, TB_ERROR_ARGUMENT,
        "tb_inverse needs finite accelerations, a finite proximal > 0, tolerance >= 0 "
        "and max_iter >= 1");
  }
  const tbLawType* law = tb_law_type(m->opt.law);
  if (!law || !law->inverse) return refuse_law(m, d);
  tbResult result = tb_step1_all_rows(m, d);
  if (result != TB_OK) return result;
  tbStep step = tb_step_of(m, d, (tbPurpose){0});
  d->work->halfway = 0;
  if (qacc != d->qacc) memcpy(d->qacc, qacc, sizeof(tbReal) * (size_t)m->nv);
  return law->inverse(&step, qacc, &chosen, qfrc, info);
}
