#include "step/certificate.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "model/workspace.h"

static void worst_residual(tbResidual* worst, const tbResidual* r) {
  worst->primal = tb_max(worst->primal, r->primal);
  worst->dual = tb_max(worst->dual, r->dual);
  worst->complementarity = tb_max(worst->complementarity, r->complementarity);
  worst->relative = tb_max(worst->relative, r->relative);
}

void tb_certificate_add(tbSolveInfo* total, const tbSolveInfo* one) {
  if (one->status > total->status) total->status = one->status;
  if (one->iterations > total->iterations) total->iterations = one->iterations;
  total->factorizations += one->factorizations;
  total->seconds += one->seconds;
  total->law = one->law;
  total->solver = one->solver;
  worst_residual(&total->residual, &one->residual);
  worst_residual(&total->residual_exact, &one->residual_exact);
}

void tb_certificate_exact(const tbIsland* island, tbReal noise, tbReal* sigma, tbSolveInfo* info) {
  for (int i = 0; i < island->problem.n; i++) {
    if (fabs(sigma[i]) <= noise) sigma[i] = 0;
  }
  tbResidual exact = tb_residual(&island->problem, TB_LAW_NCP, island->lambda, sigma);
  worst_residual(&info->residual_exact, &exact);
}

tbResult tb_certificate_judge(const tbModel* model, tbData* data, const tbConstraints* constraints,
                              const tbIslands* islands, const tbReal* v_free, const tbReal* v_next,
                              tbSolveInfo* info) {
  tbReal noise = tb_velocity_noise(model->nv, v_free);
  for (int i = 0; i < islands->count; i++) {
    const tbIsland* island = &islands->island[i];
    const tbProblem* p = &island->problem;
    tbReal* sigma = tb_arena_alloc(&data->work->arena, sizeof(tbReal) * (size_t)p->n);
    if (!sigma) return TB_ERROR_MEMORY;
    tb_assembled_velocity(constraints, island, v_free, v_next, sigma);
    tb_certificate_exact(island, noise, sigma, info);
  }
  return TB_OK;
}

tbResult tb_certificate_whole(const tbModel* model, tbData* data, const tbConstraints* constraints,
                              tbInertiaFactor factor, const tbIslands* islands,
                              const tbReal* v_free, const tbReal* v_next, tbSolveInfo* info) {
  int left_out = 0;
  for (int i = 0; i < constraints->count; i++) {
    const tbConstraint* c = &constraints->list[i];
    if (c->source == TB_SOURCE_CONTACT) left_out += data->contact[c->id].dim - c->dim;
  }
  if (left_out == 0) return TB_OK;

  // The same islands with all rows, and the impulses of those that the law has.
  tbArena* arena = &data->work->arena;
  size_t nlist = (size_t)constraints->count, nisland = (size_t)islands->count;
  tbConstraints all = *constraints;
  tbIslands whole = *islands;
  all.list = tb_arena_alloc(arena, sizeof(tbConstraint) * (nlist + 1));
  whole.island = tb_arena_alloc(arena, sizeof(tbIsland) * (nisland + 1));
  if (!all.list || !whole.island) return TB_ERROR_MEMORY;
  memcpy(all.list, constraints->list, sizeof(tbConstraint) * nlist);
  memcpy(whole.island, islands->island, sizeof(tbIsland) * nisland);
  for (int i = 0; i < all.count; i++) {
    tbConstraint* c = &all.list[i];
    if (c->source == TB_SOURCE_CONTACT) c->dim = data->contact[c->id].dim;
  }
  tbResult result = tb_assemble_terms(model, data, &all, factor, v_free, &whole);
  if (result != TB_OK) return result;
  for (int i = 0; i < whole.count; i++) {
    const tbReal* from = islands->island[i].lambda;
    tbReal* to = whole.island[i].lambda;
    for (int k = 0; k < whole.island[i].nmember; k++) {
      int member = whole.island[i].member[k], dim = constraints->list[member].dim;
      memcpy(to, from, sizeof(tbReal) * (size_t)dim);
      from += dim;
      to += all.list[member].dim;
    }
  }
  return tb_certificate_judge(model, data, &all, &whole, v_free, v_next, info);
}
