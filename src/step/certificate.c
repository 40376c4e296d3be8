#include "step/certificate.h"

#include <math.h>

#include "model/workspace.h"

static void worst_residual(tbResidual* worst, const tbResidual* r) {
  worst->primal = fmax(worst->primal, r->primal);
  worst->dual = fmax(worst->dual, r->dual);
  worst->complementarity = fmax(worst->complementarity, r->complementarity);
  worst->relative = fmax(worst->relative, r->relative);
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
