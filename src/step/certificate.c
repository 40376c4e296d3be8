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

tbResult tb_certificate_judge(const tbModel* model, tbData* data, const tbConstraints* constraints,
                              const tbIslands* islands, const tbReal* v_free, const tbReal* v_next,
                              tbSolveInfo* info) {
  (void)model;
  for (int i = 0; i < islands->count; i++) {
    // sigma = g + J (v_next - v_free) + R lambda
    const tbIsland* island = &islands->island[i];
    const tbProblem* p = &island->problem;
    tbReal* sigma = tb_arena_alloc(&data->work->arena, sizeof(tbReal) * (size_t)p->n);
    if (!sigma) return TB_ERROR_MEMORY;
    for (int k = 0, row = 0; k < island->nmember; k++) {
      const tbConstraint* c = &constraints->list[island->member[k]];
      for (int r = 0; r < c->dim; r++, row++) {
        const tbReal* J = c->J + (size_t)r * (size_t)c->nnz;
        sigma[row] = p->g[row] + p->R[row] * island->lambda[row];
        for (int j = 0; j < c->nnz; j++)
          sigma[row] += J[j] * (v_next[c->col[j]] - v_free[c->col[j]]);
      }
    }
    tbResidual exact = tb_residual(p, TB_LAW_NCP, island->lambda, sigma);
    worst_residual(&info->residual_exact, &exact);
  }
  return TB_OK;
}
