// Inverse dynamics with contacts (ADMM sec. IV): the law determines the forces block by block,
// since the motion is given and R is diagonal; RNEA gives the remaining force. See
// docs/manual/inverse.md.
#include "laws/rigid/inverse_base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "problem/cone.h"
#include "model/workspace.h"
#include "step/check.h"
#include "forces/forces.h"
#include "forces/implicit_inertia.h"
#include "laws/soft/rows.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

tbInverseSettings tbDefaultInverseSettings(void) {
  return (tbInverseSettings){.proximal = 1e-8, .tolerance = 1e-9, .max_iter = 200};
}

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

// ---- feasibility -------------------------------------------------------------------------------

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

static void find_driven(const tbModel* m, const tbData* d, int* driven) {
  for (int i = 0; i < m->nv; i++) {
    driven[i] = m->nu == 0 && m->jnt_type[m->dof_jntid[i]] != TB_JOINT_FREE;
  }
  for (int u = 0; u < m->nu; u++) {
    for (int k = m->actuator_Jadr[u]; k < m->actuator_Jadr[u] + m->actuator_Jnnz[u]; k++) {
      if (d->actuator_moment[k] != 0) driven[m->Jmom_colind[k]] = 1;
    }
  }
}

// Tolerance of the force left on an unactuated dof, as a fraction of the acting forces
// (docs/manual/inverse.md).
static const tbReal FORCE_TOLERANCE = 5e-6;

// `largest`: the largest row force. The force left is compared with all forces that it is the sum
// of, and counts only if the motion would be visible: compliant contacts turn rounding errors of
// velocities into forces.
static void evaluate_unactuated(const tbModel* m, const tbData* d, const int* driven,
                                const tbReal* qfrc, tbReal largest, tbInverseInfo* info) {
  tbReal scale = tb_max(1, largest), most = 0;
  int undriven = 0;  // the dof with the largest excess
  for (int i = 0; i < m->nv; i++) {
    scale = tb_max(scale, tb_max(fabs(qfrc[i]), fabs(d->qfrc_constraint[i])));
    if (driven[i] || fabs(qfrc[i]) <= info->base_residual) continue;
    info->base_residual = fabs(qfrc[i]);
    info->worst_dof = i;
  }
  int moves = info->velocity_residual <= 10 * TB_INVERSE_REST, stands = 1;
  for (int i = 0; i < m->nv; i++) {
    tbReal negligible = 10 * TB_INVERSE_REST * m->dof_M0[i] / m->opt.timestep;
    tbReal excess = driven[i] ? 0 : fabs(qfrc[i]) / tb_max(FORCE_TOLERANCE * scale, negligible);
    stands &= excess <= 1;
    if (excess > most) undriven = i;
    most = tb_max(most, excess);
  }
  info->feasible = moves && stands;
  if (!moves) {
    snprintf(info->reason, sizeof info->reason,
             "constraint row %d does not allow the motion: violated by %.3g m/s",
             info->worst_constraint, info->velocity_residual);
  } else if (!stands) {
    snprintf(info->reason, sizeof info->reason,
             "dof %d is unactuated, but needs %.3g N or N m more", undriven, fabs(qfrc[undriven]));
  }
}

static tbReal largest_force(const tbStepState* state) {
  tbReal largest = 0;
  for (int r = 0; r < state->constraints.nrow; r++) {
    largest = tb_max(largest, fabs(state->row_force[r]));
  }
  return largest;
}

// ---- rigid laws ---------------------------------------------------------------------------------

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

static tbResult inverse_rigid(const tbModel* m, tbData* d, tbStepState* state, const tbReal* qacc,
                              const tbInverseSettings* settings, tbReal* qfrc,
                              tbInverseInfo* info) {
  tbArena* arena = &d->work->arena;
  tbConstraints* cs = &state->constraints;
  int law = m->opt.law == TB_LAW_CCP ? TB_LAW_CCP : TB_LAW_NCP;
  tbReal h = m->opt.timestep;
  tbReal* v_next = TB_ARENA_NEW(arena, tbReal, 2 * m->nv + cs->nrow);
  int* driven = TB_ARENA_NEW(arena, int, m->nv);
  if (!v_next || !driven) return TB_ERROR_MEMORY;
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
  find_driven(m, d, driven);
  if (settings->driven) memcpy(driven, settings->driven, sizeof(int) * (size_t)m->nv);
  for (int i = 0; i < m->nv; i++) target[i] = h * qfrc[i];
  if (!settings->keep_base) {
    result = tb_inverse_base(m, d, cs, &islands, driven, target, settings->proximal, law);
    if (result != TB_OK) return result;
  }
  constraint_force(m, d, cs, &islands);
  for (int i = 0; i < m->nv; i++) qfrc[i] -= d->qfrc_constraint[i];
  tb_store_forces(m, d, state, &islands);
  evaluate_unactuated(m, d, driven, qfrc, largest_force(state), info);
  return TB_OK;
}

// ---- the soft law -------------------------------------------------------------------------------

// Forces follow from the residual of the given acceleration (MuJoCo, "Inverse dynamics").
static tbResult inverse_soft(const tbModel* m, tbData* d, tbStepState* state, const tbReal* qacc,
                             const tbInverseSettings* settings, tbReal* qfrc, tbInverseInfo* info) {
  enum { MOST = 10 };
  tbArena* arena = &d->work->arena;
  const tbConstraints* cs = &state->constraints;
  int* driven = TB_ARENA_NEW(arena, int, m->nv);
  if (!driven) return TB_ERROR_MEMORY;
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
  find_driven(m, d, driven);
  if (settings->driven) memcpy(driven, settings->driven, sizeof(int) * (size_t)m->nv);
  evaluate_unactuated(m, d, driven, qfrc, largest_force(state), info);
  return TB_OK;
}

// ---- the public function -----------------------------------------------------------------------

static bool is_valid(const tbModel* m, const tbReal* qacc, const tbInverseSettings* settings) {
  for (int i = 0; i < m->nv; i++) {
    if (!isfinite(qacc[i])) return false;
  }
  return settings->proximal > 0 && isfinite(settings->proximal) && settings->tolerance >= 0 &&
         settings->max_iter >= 1;
}

tbResult tb_inverse(const tbModel* m, tbData* d, const tbReal* qacc,
                    const tbInverseSettings* settings, tbReal* qfrc, tbInverseInfo* info) {
  if (!m || !d) return TB_ERROR_ARGUMENT;
  if (!tb_is_world_of(m, d)) {
    return tb_step_fail(d, TB_ERROR_ARGUMENT, "this world is of another model");
  }
  if (!qacc || !qfrc) {
    return tb_step_fail(d, TB_ERROR_ARGUMENT,
                        "tb_inverse needs qacc and qfrc; one of them is NULL");
  }
  tbInverseSettings chosen = settings ? *settings : tbDefaultInverseSettings();
  tbInverseInfo unused;
  if (!info) info = &unused;
  *info = (tbInverseInfo){.worst_constraint = -1, .worst_dof = -1};
  if (!is_valid(m, qacc, &chosen)) {
    return tb_step_fail(
        d, TB_ERROR_ARGUMENT,
        "tb_inverse needs finite accelerations, a finite proximal > 0, tolerance >= 0 "
        "and max_iter >= 1");
  }
  if (m->opt.law < 0 || m->opt.law > TB_LAW_SOFT) {
    snprintf(d->message, sizeof d->message,
             "law %s has no inverse dynamics; the laws ncp, ccp, lcp, raisim and soft do",
             tb_step_law_name(m->opt.law));
    return d->status = TB_ERROR_UNSUPPORTED;
  }
  tbResult result = tb_step1_all_rows(m, d);
  if (result != TB_OK) return result;
  tbStepState* state = tb_step_state(m, d);
  d->work->halfway = 0;
  if (qacc != d->qacc) memcpy(d->qacc, qacc, sizeof(tbReal) * (size_t)m->nv);
  result = m->opt.law == TB_LAW_SOFT ? inverse_soft(m, d, state, qacc, &chosen, qfrc, info)
                                     : inverse_rigid(m, d, state, qacc, &chosen, qfrc, info);
  return result;
}
