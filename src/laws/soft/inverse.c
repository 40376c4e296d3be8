// Inverse dynamics under the soft law: forces follow from the residual of the given acceleration
// (MuJoCo, "Inverse dynamics").
#include <string.h>

#include "forces/forces.h"
#include "forces/implicit_inertia.h"
#include "laws/inverse.h"
#include "laws/soft/rows.h"
#include "laws/soft/soft.h"
#include "model/workspace.h"
#include "tribo/dynamics.h"

tbResult tb_soft_inverse(const tbStep* step, const tbReal* qacc, const tbInverseSettings* settings,
                         tbReal* qfrc, tbInverseInfo* info) {
  enum { MOST = 10 };
  const tbModel* m = step->m;
  tbData* d = step->d;
  tbStepState* state = step->state;
  tbArena* arena = &d->work->arena;
  const tbConstraints* cs = &state->constraints;
  int* actuated = tb_inverse_actuated(m, d, settings);
  if (!actuated) return TB_ERROR_MEMORY;
  memset(d->qfrc_constraint, 0, sizeof(tbReal) * (size_t)m->nv);
  for (int i = 0; i < cs->count; i++) {
    const tbConstraint* c = &cs->list[i];
    tbSoftBlock block;
    tbReal aref[MOST], D[MOST], r[MOST], force[MOST];
    tbResult result = tb_soft_fill(m, d, c, arena, &block, aref, D);
    if (result != TB_OK) return result;
    for (int e = 0; e < block.dim; e++) {
      const tbReal* J = block.J + (size_t)e * (size_t)block.nnz;
      r[e] = -aref[e];
      for (int k = 0; k < block.nnz; k++) r[e] += J[k] * qacc[block.col[k]];
    }
    tb_soft_block(&block, D, r, force, NULL);
    for (int e = 0; e < block.dim; e++) {
      const tbReal* J = block.J + (size_t)e * (size_t)block.nnz;
      for (int k = 0; k < block.nnz; k++) d->qfrc_constraint[block.col[k]] += J[k] * force[e];
    }
    tb_soft_decode(m, d, c, force, state->row_force + c->row);
    if (c->source == TB_SOURCE_CONTACT) {
      memcpy(d->contact[c->id].force, state->row_force + c->row, sizeof(tbReal) * (size_t)c->dim);
    }
  }
  tb_rne(m, d, qacc, NULL, qfrc);
  for (int i = 0; i < m->nv; i++) qfrc[i] -= d->qfrc_passive[i] + d->qfrc_constraint[i];
  tbInertiaFactor M;
  tbResult result = tb_implicit_factor(m, d, tb_implicit_of(&m->opt), &M);
  if (result != TB_OK) return result;
  tb_add_coriolis(m, d, M, -1, qfrc);
  tb_inverse_feasible(m, d, state, actuated, qfrc, info);
  return TB_OK;
}
