#include "laws/inverse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "model/floating.h"
#include "model/workspace.h"

int* tb_inverse_actuated(const tbModel* m, tbData* d, const tbInverseSettings* settings) {
  int* actuated = TB_ARENA_NEW(&d->work->arena, int, m->nv);
  if (!actuated) return NULL;
  if (settings->actuated) {
    memcpy(actuated, settings->actuated, sizeof(int) * (size_t)m->nv);
    return actuated;
  }
  for (int i = 0; i < m->nv; i++) {
    actuated[i] = m->nu == 0 && !tb_dof_floats(m, i);
  }
  for (int u = 0; u < m->nu; u++) {
    for (int k = m->actuator_Jadr[u]; k < m->actuator_Jadr[u] + m->actuator_Jnnz[u]; k++) {
      if (d->actuator_moment[k] != 0) actuated[m->Jmom_colind[k]] = 1;
    }
  }
  return actuated;
}

// Tolerance of the force left on an unactuated dof, as a fraction of the acting forces
// (docs/manual/inverse.md).
static const tbReal FORCE_TOLERANCE = 5e-6;

static tbReal largest_force(const tbStepState* state) {
  tbReal largest = 0;
  for (int r = 0; r < state->constraints.nrow; r++) {
    largest = tb_max(largest, fabs(state->row_force[r]));
  }
  return largest;
}

void tb_inverse_feasible(const tbModel* m, const tbData* d, const tbStepState* state,
                         const int* actuated, const tbReal* qfrc, tbInverseInfo* info) {
  tbReal scale = tb_max(1, largest_force(state)), most = 0;
  int unactuated = 0;  // the dof with the largest excess
  for (int i = 0; i < m->nv; i++) {
    scale = tb_max(scale, tb_max(fabs(qfrc[i]), fabs(d->qfrc_constraint[i])));
    if (actuated[i] || fabs(qfrc[i]) <= info->base_residual) continue;
    info->base_residual = fabs(qfrc[i]);
    info->worst_dof = i;
  }
  int moves = info->velocity_residual <= 10 * TB_INVERSE_REST, stands = 1;
  for (int i = 0; i < m->nv; i++) {
    tbReal negligible = 10 * TB_INVERSE_REST * m->dof_M0[i] / m->opt.timestep;
    tbReal excess = actuated[i] ? 0 : fabs(qfrc[i]) / tb_max(FORCE_TOLERANCE * scale, negligible);
    stands &= excess <= 1;
    if (excess > most) unactuated = i;
    most = tb_max(most, excess);
  }
  info->feasible = moves && stands;
  if (!moves) {
    snprintf(info->reason, sizeof info->reason,
             "constraint row %d does not allow the motion: violated by %.3g m/s",
             info->worst_constraint, info->velocity_residual);
  } else if (!stands) {
    snprintf(info->reason, sizeof info->reason,
             "dof %d is unactuated, but needs %.3g N or N m more", unactuated,
             fabs(qfrc[unactuated]));
  }
}
