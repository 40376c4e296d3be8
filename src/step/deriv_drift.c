// Partials of the drift dJ/dt v of connects and welds in the soft law, by central differences on a
// second world: exact by v (the drift is quadratic in it), to 1e-9 by q.
#include <string.h>

#include "step/deriv.h"
#include "step/soft_rows.h"
#include "tribo/dynamics.h"

static void place(const tbModel* m, const tbData* d, tbData* probe, int column, tbReal e,
                  tbReal* unit) {
  memcpy(probe->qpos, d->qpos, sizeof(tbReal) * (size_t)m->nq);
  memcpy(probe->qvel, d->qvel, sizeof(tbReal) * (size_t)m->nv);
  if (column < m->nv) {
    unit[column] = 1;
    tb_integrate_pos(m, probe->qpos, unit, e);
    unit[column] = 0;
  } else {
    probe->qvel[column - m->nv] += e;
  }
  // Columns of v leave the frames as the probe has them.
  if (column < m->nv) {
    tb_kinematics(m, probe);
    tb_com_position(m, probe);
  }
  tb_com_velocity(m, probe);
}

tbResult tb_deriv_drift(tbDerivatives* x, const tbData* d, const tbConstraint* c, tbActive* a) {
  const tbReal e = 1e-6;
  const tbModel* m = x->m;
  if (c->source != TB_SOURCE_EQUALITY || c->dim < 3) return TB_OK;
  if (!x->probe) x->probe = tb_data_new(m);
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbReal* unit = TB_ARENA_NEW(&x->arena, tbReal, m->nv);
  if (!x->probe || !unit) return TB_ERROR_MEMORY;
  memcpy(x->probe->mocap_pos, d->mocap_pos, sizeof(tbReal) * 3 * (size_t)m->nmocap);
  memcpy(x->probe->mocap_quat, d->mocap_quat, sizeof(tbReal) * 4 * (size_t)m->nmocap);
  for (int k = 0; k < 2 * a->nnz; k++) {
    int column = k < a->nnz ? a->col[k] : m->nv + a->col[k - a->nnz];
    tbReal low[6], high[6];
    if (k == a->nnz) place(m, d, x->probe, 0, 0, unit);
    place(m, d, x->probe, column, -e, unit);
    tb_soft_drift(m, x->probe, c, low);
    place(m, d, x->probe, column, e, unit);
    tb_soft_drift(m, x->probe, c, high);
    for (int r = 0; r < a->dim; r++) {
      x->S[(size_t)(a->row + r) * (size_t)x->ncol + (size_t)column] += (high[r] - low[r]) / (2 * e);
    }
  }
  x->info.finite_differences = 1;
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}
