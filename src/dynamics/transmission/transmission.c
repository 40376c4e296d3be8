// Lengths and moment arms of actuators.
#include <string.h>

#include "dynamics/stage.h"
#include "dynamics/transmission/length.h"
#include "model/workspace.h"
#include "tribo/dynamics.h"

void tb_stage_transmission(const tbModel* m, tbData* d) {
  memset(d->actuator_moment, 0, (size_t)m->nJmom * sizeof(tbReal));
  for (int u = 0; u < m->nu; u++) {
    int at = m->actuator_Jadr[u];
    tbMomentRow row = {m->Jmom_colind + at, m->actuator_Jnnz[u], d->actuator_moment + at};
    d->actuator_length[u] = tb_transmission_length(m, d, u, row);
  }
}

void tb_transmission(const tbModel* m, tbData* d) {
  if (tb_is_world_of(m, d)) tb_stage_transmission(m, d);
}

void tb_full_moment(const tbModel* m, const tbData* d, tbReal* moment) {
  if (!tb_is_world_of(m, d) || !moment) return;
  size_t nv = (size_t)m->nv;
  memset(moment, 0, (size_t)m->nu * nv * sizeof(tbReal));
  for (int u = 0; u < m->nu; u++) {
    for (int s = m->actuator_Jadr[u]; s < m->actuator_Jadr[u] + m->actuator_Jnnz[u]; s++) {
      moment[(size_t)u * nv + (size_t)m->Jmom_colind[s]] = d->actuator_moment[s];
    }
  }
}
