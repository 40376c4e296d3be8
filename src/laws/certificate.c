#include "laws/certificate.h"

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

static const tbResidual UNKNOWN = {NAN, NAN, NAN, NAN};

void tb_certificate_unknown(tbSolveInfo* info) {
  info->residual = info->residual_exact = UNKNOWN;
}

void tb_certificate_not_evaluated(tbSolveInfo* info) {
  info->residual_exact = UNKNOWN;
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

tbResult tb_certificate_evaluate(const tbModel* model, tbData* data,
                                 const tbConstraints* constraints, const tbIslands* islands,
                                 const tbReal* v_free, const tbReal* v_next, tbSolveInfo* info) {
  tbReal noise = tb_velocity_rounding(model->nv, v_free);
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

void tb_certificate_answer(const tbModel* model, tbData* data, const tbConstraints* constraints,
                           const tbIslands* islands, const tbReal* v_free, const tbReal* v_next,
                           tbSolveInfo* info) {
  info->residual_exact = (tbResidual){0};
  tbResult result =
      tb_certificate_evaluate(model, data, constraints, islands, v_free, v_next, info);
  if (result != TB_OK) tb_certificate_not_evaluated(info);
}

tbResult tb_certificate_whole(const tbModel* model, tbData* data, const tbConstraints* constraints,
                              tbInertiaFactor factor, const tbIslands* islands,
                              const tbReal* v_free, const tbReal* v_next, tbSolveInfo* info,
                              bool state_only) {
  int dropped = 0;
  for (int i = 0; i < constraints->count; i++) {
    const tbConstraint* c = &constraints->list[i];
    if (c->source == TB_SOURCE_CONTACT) dropped += data->contact[c->id].dim - c->dim;
  }
  if (dropped == 0) return TB_OK;
  if (state_only) {
    tb_certificate_not_evaluated(info);
    return TB_OK;
  }

  // The same islands with all rows of their contacts, and the impulses of the rows that the law
  // has.
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
  return tb_certificate_evaluate(model, data, &all, &whole, v_free, v_next, info);
}

// The residual of one block of an island, as a problem of its own.
static tbResidual block_residual(const tbIsland* island, int i, tbLaw law, const tbReal* sigma) {
  tbBlock block = island->problem.block[i];
  int row = block.row;
  block.row = 0;
  tbProblem p = {.n = block.dim, .nblock = 1, .block = &block, .g = island->g + row};
  return tb_residual(&p, law, island->lambda + row, sigma + row);
}

const tbConstraint* tb_certificate_worst(const tbConstraints* constraints, const tbIsland* island,
                                         tbLaw law, const tbReal* sigma) {
  const tbProblem* p = &island->problem;
  tbReal impulse = TB_TINY, velocity = TB_TINY, worst = -1;
  int row = 0, at = 0;
  for (int i = 0; i < p->n; i++) {
    impulse = tb_max(impulse, fabs(island->lambda[i]));
    velocity = tb_max(velocity, fabs(island->g[i]));
  }
  // RaiSim's residual of a block needs G; its Signorini and Coulomb conditions are also those of
  // the exact law.
  if (law == TB_LAW_RAISIM) law = TB_LAW_NCP;
  for (int i = 0; i < p->nblock; i++) {
    tbResidual r = block_residual(island, i, law, sigma);
    tbReal relative = tb_max(tb_max(r.primal / impulse, r.dual / velocity),
                             r.complementarity / impulse / velocity);
    if (relative > worst) {
      worst = relative;
      row = p->block[i].row;
    }
  }
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &constraints->list[island->member[k]];
    if (row < at + c->dim) return c;
    at += c->dim;
  }
  return NULL;
}

void tb_certificate_blame(const tbModel* m, tbData* d, const tbConstraint* c) {
  tbOffender* offender = &d->offender;
  *offender = (tbOffender){TB_OFFENCE_UNCONVERGED, {-1, -1}, -1};
  if (!c) return;
  if (c->source != TB_SOURCE_CONTACT) {
    offender->body = c->nnz > 0 ? m->dof_bodyid[c->col[c->nnz - 1]] : -1;
    return;
  }
  const int* geom = d->contact[c->id].geom;
  for (int i = 0; i < 2; i++) {
    int body = m->geom_bodyid[geom[i]];
    offender->geom[i] = geom[i];
    if (m->body_lastdof[body] >= 0) offender->body = body;
  }
}
