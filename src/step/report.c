#include "tribo/report.h"

#include <math.h>
#include <stdbool.h>

#include "base/minmax.h"

void tb_report_clear(tbWorldReport* r) {
  if (!r) return;
  *r = (tbWorldReport){.first_unconverged = -1, .first_uncertified = -1, .worst_step = -1};
  r->residual = r->residual_exact = NAN;
  r->offender.geom[0] = r->offender.geom[1] = r->offender.body = -1;
}

// The larger one; a NaN is ignored.
static tbReal worse(tbReal a, tbReal b) {
  return a >= b || isnan(b) ? a : b;
}

void tb_report_add(tbWorldReport* r, const tbData* d) {
  if (!r || !d) return;
  bool unconverged = d->solve.status != TB_SOLVE_CONVERGED;
  if (r->offender.reason == TB_OFFENCE_NONE) r->offender = d->offender;
  if (d->status != TB_OK) {
    r->status = (int)d->status;
    return;
  }
  if (unconverged && r->unconverged_steps++ == 0) r->first_unconverged = r->steps;
  if (isnan(d->solve.residual_exact.relative) && r->uncertified_steps++ == 0) {
    r->first_uncertified = r->steps;
  }
  if (!(d->solve.residual_exact.relative <= r->residual_exact) &&
      !isnan(d->solve.residual_exact.relative)) {
    r->worst_step = r->steps;
  }
  r->steps++;
  r->residual = worse(r->residual, d->solve.residual.relative);
  r->residual_exact = worse(r->residual_exact, d->solve.residual_exact.relative);
  for (int i = 0; i < d->ncon; i++) r->penetration = tb_max(r->penetration, -d->contact[i].dist);
}

void tb_report_merge(tbWorldReport* r, const tbWorldReport* later) {
  if (!r || !later) return;
  if (r->first_unconverged < 0 && later->first_unconverged >= 0) {
    r->first_unconverged = r->steps + later->first_unconverged;
  }
  if (r->first_uncertified < 0 && later->first_uncertified >= 0) {
    r->first_uncertified = r->steps + later->first_uncertified;
  }
  if (r->offender.reason == TB_OFFENCE_NONE) r->offender = later->offender;
  if (later->worst_step >= 0 && !(later->residual_exact <= r->residual_exact)) {
    r->worst_step = r->steps + later->worst_step;
  }
  r->steps += later->steps;
  r->unconverged_steps += later->unconverged_steps;
  r->uncertified_steps += later->uncertified_steps;
  r->residual = worse(r->residual, later->residual);
  r->residual_exact = worse(r->residual_exact, later->residual_exact);
  r->penetration = tb_max(r->penetration, later->penetration);
  r->status = later->status;
}
