// Inverse dynamics under the rigid laws (ADMM sec. IV): the law determines the forces block by
// block, since the motion is given and R is diagonal; RNEA gives the remaining force. See
// docs/manual/inverse.md.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "forces/forces.h"
#include "forces/implicit_inertia.h"
#include "laws/inverse.h"
#include "laws/rigid/inverse_base.h"
#include "laws/rigid/rigid.h"
#include "model/workspace.h"
#include "problem/cone.h"
#include "tribo/dynamics.h"

// ---- ADMM Alg. 2 --------------------------------------------------------------------------------

// Project on K in the metric of the diagonal D: x = D^-1/2 P(D^1/2 x), with coefficients of
// friction scaled by sqrt(D_T / D_N) (after ADMM eq. 48).
static void project(const tbBlock* b, int law, const tbReal* D, tbReal* x) {
  tbBlock scaled = *b;
  tbReal root[TB_MAX_BLOCK_DIM];
  for (int r = 0; r < b->dim; r++) {
    root[r] = sqrt(D[r]);
    x[r] *= root[r];
    if (b->type == TB_BLOCK_CONE && r > 0) scaled.mu[r - 1] = b->mu[r - 1] * root[r] / root[0];
  }
  if (b->type == TB_BLOCK_BOX) {
    scaled.lower *= root[0];
    scaled.upper *= root[0];
  }
  tb_block_project(&scaled, (tbLaw)law, x, x);
  for (int r = 0; r < b->dim; r++) x[r] /= root[r];
}

// sigma = R lambda + g
static void velocities(const tbIsland* island, tbReal* sigma) {
  for (int r = 0; r < island->problem.n; r++) {
    sigma[r] = island->R[r] * island->lambda[r] + island->g[r];
  }
}

// One iteration: lambda <- P(-(R + rho)^-1 (g + s - rho lambda)), s = Gamma(sigma).
static void iterate(const tbIsland* island, int law, const tbReal* rho, const tbReal* sigma) {
  const tbProblem* p = &island->problem;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    tbReal D[TB_MAX_BLOCK_DIM], x[TB_MAX_BLOCK_DIM];
    tbReal* lambda = island->lambda + b->row;
    tbReal shift = 0;
    if (b->type == TB_BLOCK_CONE && law == TB_LAW_NCP) {
      shift = tb_cone_shift(b->dim, b->mu, sigma + b->row);
    }
    for (int r = 0; r < b->dim; r++) {
      int row = b->row + r;
      D[r] = island->R[row] + rho[row];
      x[r] = -(island->g[row] + (r == 0 ? shift : 0) - rho[row] * lambda[r]) / D[r];
    }
    project(b, law, D, x);
    memcpy(lambda, x, sizeof(tbReal) * (size_t)b->dim);
  }
}

static tbReal constraint_force(const tbModel* m, tbData* d, const tbConstraints* cs,
                               const tbIslands* islands) {
  tbReal sum = 0;
  memset(d->qfrc_constraint, 0, sizeof(tbReal) * (size_t)m->nv);
  tb_gather_impulse(cs, islands, d->qfrc_constraint);
  for (int i = 0; i < m->nv; i++) {
    d->qfrc_constraint[i] /= m->opt.timestep;
    sum += d->qfrc_constraint[i] * d->qfrc_constraint[i];
  }
  return sqrt(sum);
}

static void worst_of(tbResidual* worst, const tbResidual* r) {
  worst->primal = tb_max(worst->primal, r->primal);
  worst->dual = tb_max(worst->dual, r->dual);
  worst->complementarity = tb_max(worst->complementarity, r->complementarity);
  worst->relative = tb_max(worst->relative, r->relative);
}

static tbResult proximal(const tbModel* m, tbData* d, const tbConstraints* cs,
                         const tbIslands* islands, int law, const tbInverseSettings* settings,
                         tbInverseInfo* info) {
  int most = 0;
  for (int i = 0; i < islands->count; i++) {
    if (islands->island[i].problem.n > most) most = islands->island[i].problem.n;
  }
  tbReal* sigma = TB_ARENA_NEW(&d->work->arena, tbReal, most);
  tbReal* rho = TB_ARENA_NEW(&d->work->arena, tbReal, most);
  if (!sigma || !rho) return TB_ERROR_MEMORY;
  // An iteration leaves the fraction rho / (R + rho) of the guess's error: for compliant contacts
  // at least two are needed.
  int least = 1;
  for (int k = 0; k < settings->max_iter; k++) {
    tbResidual worst = {0, 0, 0, 0};
    for (int i = 0; i < islands->count; i++) {
      const tbIsland* island = &islands->island[i];
      for (int r = 0; r < island->problem.n; r++) {
        rho[r] = settings->proximal * island->rho[r];
        if (island->R[r] > 0) least = 2;
      }
      velocities(island, sigma);
      iterate(island, law, rho, sigma);
      velocities(island, sigma);
      tbResidual r = tb_residual(&island->problem, (tbLaw)law, island->lambda, sigma);
      worst_of(&worst, &r);
    }
    info->iterations = k + 1;
    info->residual = worst;
    if (settings->history) settings->history[k] = constraint_force(m, d, cs, islands);
    if (worst.relative <= settings->tolerance && k + 1 >= least && !settings->history) break;
  }
  return TB_OK;
}

// ---- the motion --------------------------------------------------------------------------------

// Distance of sigma, including Gamma, from K*, the set of velocities that the law allows with any
// lambda.
static void evaluate_motion(const tbConstraints* cs, const tbIslands* islands, int law,
                            tbReal* sigma, tbInverseInfo* info) {
  for (int i = 0; i < islands->count; i++) {
    const tbIsland* island = &islands->island[i];
    velocities(island, sigma);
    for (int k = 0; k < island->problem.nblock; k++) {
      const tbBlock* b = &island->problem.block[k];
      const tbReal* s = sigma + b->row;
      tbReal violation = 0;
      if (b->type == TB_BLOCK_EQUALITY) {
        for (int r = 0; r < b->dim; r++) violation = tb_max(violation, fabs(s[r]));
      } else if (b->type != TB_BLOCK_BOX) {
        violation = tb_max(0, -s[0]);
        // Under the convex law a contact can slide only if it separates.
        if (b->type == TB_BLOCK_CONE && law == TB_LAW_CCP) {
          violation = tb_max(violation, tb_cone_shift(b->dim, b->mu, s) - s[0]);
        }
      }
      if (violation <= info->velocity_residual) continue;
      info->velocity_residual = violation;
      info->worst_constraint = cs->list[island->member[k]].row;
    }
  }
}

// ---- the forces --------------------------------------------------------------------------------

// H x = L^T D L x from the factor.
static void mul_factor(const tbModel* m, tbInertiaFactor f, const tbReal* x, tbReal* scratch,
                       tbReal* out) {
  for (int k = 0; k < m->nv; k++) {
    const int* col = m->M_colind + m->M_rowadr[k];
    const tbReal* row = f.LD + m->M_rowadr[k];
    tbReal sum = x[k];
    for (int t = 0; t < m->M_rownnz[k] - 1; t++) sum += row[t] * x[col[t]];
    scratch[k] = sum / f.inverse[k];
  }
  for (int k = 0; k < m->nv; k++) {
    const int* col = m->M_colind + m->M_rowadr[k];
    const tbReal* row = f.LD + m->M_rowadr[k];
    out[k] = scratch[k];
    for (int t = 0; t < m->M_rownnz[k] - 1; t++) out[col[t]] += row[t] * scratch[k];
  }
}

// All forces except those of constraints: M a + b - passive, with the damping of a step's implicit
// treatment.
static tbResult free_force(const tbModel* m, tbData* d, const tbReal* qacc, tbInertiaFactor factor,
                           tbReal* qfrc) {
  tbReal* room = TB_ARENA_NEW(&d->work->arena, tbReal, 2 * m->nv);
  if (!room) return TB_ERROR_MEMORY;
  mul_factor(m, factor, qacc, room, room + m->nv);
  for (int i = 0; i < m->nv; i++) {
    qfrc[i] = room[m->nv + i] + d->qfrc_bias[i] - d->qfrc_passive[i];
  }
  tb_add_coriolis(m, d, factor, -1, qfrc);
  return TB_OK;
}

static void start_from(const tbConstraints* cs, const tbIslands* islands, const tbReal* guess,
                       tbReal h) {
  for (int i = 0; i < islands->count; i++) {
    const tbIsland* island = &islands->island[i];
    for (int k = 0, at = 0; k < island->nmember; k++) {
      const tbConstraint* c = &cs->list[island->member[k]];
      for (int r = 0; r < c->dim; r++, at++) {
        island->lambda[at] = guess ? guess[c->row + r] * h : 0;
      }
    }
  }
}

tbResult tb_rigid_inverse(const tbStep* step, const tbReal* qacc, const tbInverseSettings* settings,
                          tbReal* qfrc, tbInverseInfo* info) {
  const tbModel* m = step->m;
  tbData* d = step->d;
  tbStepState* state = step->state;
  tbArena* arena = &d->work->arena;
  tbConstraints* cs = &state->constraints;
  int law = m->opt.law == TB_LAW_CCP ? TB_LAW_CCP : TB_LAW_NCP;
  tbReal h = m->opt.timestep;
  tbReal* v_next = TB_ARENA_NEW(arena, tbReal, 2 * m->nv + cs->nrow);
  int* actuated = tb_inverse_actuated(m, d, settings);
  if (!v_next || !actuated) return TB_ERROR_MEMORY;
  tbReal *target = v_next + m->nv, *sigma = target + m->nv;
  for (int i = 0; i < m->nv; i++) v_next[i] = d->qvel[i] + h * qacc[i];

  // The same terms as in a step, with the given velocity instead of the free one.
  tbInertiaFactor factor;
  tbIslands islands;
  tbResult result = tb_implicit_factor(m, d, TB_IMPLICIT_STIFF, &factor);
  if (result == TB_OK) result = tb_assemble_groups(m, d, cs, &islands);
  if (result == TB_OK) result = tb_assemble_terms(m, d, cs, factor, v_next, &islands);
  if (result == TB_OK) result = free_force(m, d, qacc, factor, qfrc);
  if (result != TB_OK) return result;
  start_from(cs, &islands, settings->guess, h);
  result = proximal(m, d, cs, &islands, law, settings, info);
  if (result != TB_OK) return result;
  evaluate_motion(cs, &islands, law, sigma, info);

  // Forces that the motion does not determine are chosen to act on the unactuated dofs.
  for (int i = 0; i < m->nv; i++) target[i] = h * qfrc[i];
  if (!settings->keep_base) {
    result = tb_inverse_base(m, d, cs, &islands, actuated, target, settings->proximal, law);
    if (result != TB_OK) return result;
  }
  constraint_force(m, d, cs, &islands);
  for (int i = 0; i < m->nv; i++) qfrc[i] -= d->qfrc_constraint[i];
  tb_store_forces(m, d, state, &islands);
  tb_inverse_feasible(m, d, state, actuated, qfrc, info);
  return TB_OK;
}
