// Implicit Euler for the viscoelastic law: v+ = v + h a(q+, v+), q+ = q (+) h v+, by Newton's
// method with a line search.
//
// The unknown is v+. Newton's matrix is M + J^T (h B + h^2 K) J, including the derivatives of the
// springs' limits: the stiff part of the Jacobian. If the iteration does not converge, the matrix
// is computed by finite differences.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "linalg/dense.h"
#include "laws/viscoelastic/viscoelastic.h"
#include "step/integrator.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

enum { ITERATIONS = 30, HALVINGS = 20, SIMPLE_ITERATIONS = 20 };

typedef struct {
  const tbModel* m;
  tbData* d;
  tbStepState* state;
  tbPurpose purpose;
  tbReal *qpos, *qvel;  // at the start
  tbReal scale;         // reference norm of residuals, as norm_of
  tbReal time;
  tbReal *v, *trial, *residual, *trial_residual, *step, *product;  // nv each
  tbReal* matrix;                                                  // nv x nv
  int* pivot;
} Newton;

// sqrt(v . M v): weighs metres and radians, large and small bodies by their inertia.
static tbReal norm_of(const Newton* x, const tbReal* v) {
  tbReal square = 0;
  tb_mul_m(x->m, x->d, x->product, v);
  for (int i = 0; i < x->m->nv; i++) square += v[i] * x->product[i];
  return isfinite(square) ? sqrt(tb_max(square, 0)) : INFINITY;
}

// Copies of the start, six vectors, a matrix, and memory for the pivots.
static int prepare(Newton* x) {
  const tbModel* m = x->m;
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv;
  tbIntegratorState* own = tb_integrator_state(x->state);
  size_t count = nq + 8 * nv + nv * nv + 1;
  if (!own || !tb_integrator_memory(x->state, &own->newton, count)) return 0;
  x->qpos = own->newton;
  x->qvel = x->qpos + nq;
  x->v = x->qvel + nv;
  x->trial = x->v + nv;
  x->residual = x->trial + nv;
  x->trial_residual = x->residual + nv;
  x->step = x->trial_residual + nv;
  x->product = x->step + nv;
  x->matrix = x->product + nv;
  x->pivot = (int*)(x->matrix + nv * nv);
  x->time = x->d->time;
  memcpy(x->qpos, x->d->qpos, sizeof(tbReal) * nq);
  memcpy(x->qvel, x->d->qvel, sizeof(tbReal) * nv);
  // The scale is the velocity at the start plus its change by forces in the step: those without
  // springs, or the springs' if everything else is zero.
  const tbReal* const forces[2] = {x->d->qacc_smooth, x->d->qacc};
  x->scale = norm_of(x, x->qvel);
  for (int k = 0; k < 2 && (k == 0 || !(x->scale > 0)); k++) {
    for (int i = 0; i < m->nv; i++) x->step[i] = m->opt.timestep * forces[k][i];
    x->scale = tb_max(x->scale, norm_of(x, x->step));
  }
  return 1;
}

// Set the world to the end state for velocity v.
static void set_end_state(Newton* x, const tbReal* v) {
  memcpy(x->d->qpos, x->qpos, sizeof(tbReal) * (size_t)x->m->nq);
  memcpy(x->d->qvel, v, sizeof(tbReal) * (size_t)x->m->nv);
  tb_integrate_pos(x->m, x->d->qpos, v, x->m->opt.timestep);
  x->d->time = x->time + x->m->opt.timestep;
}

// r = v - v0 - h a(q(v), v); returns its norm, or infinity if the state has no finite acceleration.
static tbReal evaluate(Newton* x, const tbReal* v, tbReal* r) {
  set_end_state(x, v);
  if (tb_forward_for(x->m, x->d, x->purpose) != TB_OK) return INFINITY;
  for (int i = 0; i < x->m->nv; i++) {
    r[i] = v[i] - x->qvel[i] - x->m->opt.timestep * x->d->qacc[i];
  }
  return norm_of(x, r);
}

// matrix += h J^T D (B + h K) J of one spring.
static void add_spring(Newton* x, const tbSpring* s) {
  const tbConstraint* c = &x->state->constraints.list[s->constraint];
  tbReal D[36], by_friction[6], h = x->m->opt.timestep;
  int n = s->dim, nv = x->m->nv;
  tb_limit_slope(x->m, x->d, c, s->raw, D, by_friction);
  for (int r = 0; r < n; r++) {
    for (int k = 0; k < n; k++) {
      tbReal weight = h * D[r * n + k] * (s->B[k] + h * s->K[k]);
      const tbReal *left = c->J + r * c->nnz, *right = c->J + k * c->nnz;
      for (int i = 0; weight != 0 && i < c->nnz; i++) {
        tbReal f = weight * left[i], *row = x->matrix + (size_t)c->col[i] * (size_t)nv;
        for (int j = 0; f != 0 && j < c->nnz; j++) row[c->col[j]] += f * right[j];
      }
    }
  }
}

// The stiff part of the Jacobian, times M. The world is in the last evaluated state.
static void spring_matrix(Newton* x) {
  const tbModel* m = x->m;
  tb_full_m(m, x->d, x->matrix);
  for (int i = 0; i < m->nv; i++) {
    x->matrix[i * m->nv + i] += m->opt.timestep * m->dof_damping[i];
  }
  const tbSprings* springs = &tb_viscoelastic_state(x->state)->springs;
  for (int i = 0; i < springs->count; i++) add_spring(x, &springs->list[i]);
}

// The Jacobian by forward differences, column by column.
static int difference_matrix(Newton* x) {
  int nv = x->m->nv;
  memcpy(x->trial, x->v, sizeof(tbReal) * (size_t)nv);
  for (int j = 0; j < nv; j++) {
    // The increment, relative to the velocity at which this dof alone would have the norm of the
    // scale.
    tbReal diagonal = x->d->qM[x->m->M_rowadr[j] + x->m->M_rownnz[j] - 1];
    tbReal eps = 1e-7 * x->scale / sqrt(diagonal);
    x->trial[j] = x->v[j] + eps;
    if (!isfinite(evaluate(x, x->trial, x->trial_residual))) return 0;
    for (int i = 0; i < nv; i++) {
      x->matrix[i * nv + j] = (x->trial_residual[i] - x->residual[i]) / eps;
    }
    x->trial[j] = x->v[j];
  }
  return 1;
}

// Newton's step into x->step; 0 if the matrix is singular.
static int newton_step(Newton* x, int differences) {
  int nv = x->m->nv;
  if (differences) {
    if (!difference_matrix(x)) return 0;
    memcpy(x->step, x->residual, sizeof(tbReal) * (size_t)nv);
  } else {
    spring_matrix(x);
    tb_mul_m(x->m, x->d, x->step, x->residual);
  }
  for (int i = 0; i < nv; i++) x->step[i] = -x->step[i];
  if (!tb_lu(nv, x->matrix, nv, x->pivot)) return 0;
  tb_lu_solve(nv, x->matrix, nv, x->pivot, x->step);
  return 1;
}

// Halve the step until the residual decreases. Returns the new norm, or the old one if none did.
static tbReal line_search(Newton* x, tbReal norm) {
  int nv = x->m->nv;
  tbReal length = 1;
  for (int i = 0; i < HALVINGS; i++, length *= 0.5) {
    for (int k = 0; k < nv; k++) x->trial[k] = x->v[k] + length * x->step[k];
    tbReal next = evaluate(x, x->trial, x->trial_residual);
    if (!(next < (1 - 1e-4 * length) * norm)) continue;
    memcpy(x->v, x->trial, sizeof(tbReal) * (size_t)nv);
    memcpy(x->residual, x->trial_residual, sizeof(tbReal) * (size_t)nv);
    return next;
  }
  return norm;
}

// The body with the largest residual.
static int worst_body(const Newton* x) {
  int worst = 0;
  for (int i = 1; i < x->m->nv; i++) {
    if (fabs(x->residual[i]) > fabs(x->residual[worst])) worst = i;
  }
  return x->m->nv > 0 ? x->m->dof_bodyid[worst] : -1;
}

tbResult tb_euler_implicit(const tbStep* s) {
  const tbModel* m = s->m;
  tbData* d = s->d;
  tbStepState* state = s->state;
  Newton x = {.m = m, .d = d, .state = state, .purpose = s->purpose};
  x.purpose.substep = true;
  if (!prepare(&x)) return TB_ERROR_MEMORY;
  size_t bytes = sizeof(tbReal) * (size_t)m->nv;

  // The explicit step is the initial guess, unless zero velocity has a smaller residual.
  for (int i = 0; i < m->nv; i++) x.v[i] = x.qvel[i] + m->opt.timestep * d->qacc[i];
  tbReal enough = m->opt.solve_tolerance * x.scale;
  tbReal norm = evaluate(&x, x.v, x.residual);
  tbReal still = evaluate(&x, x.qvel, x.trial_residual);
  if (still < norm || !isfinite(norm)) {
    memcpy(x.v, x.qvel, bytes);
    memcpy(x.residual, x.trial_residual, bytes);
    norm = still;
  } else {
    norm = evaluate(&x, x.v, x.residual);
  }
  int iterations = 0, differences = 0;
  for (; iterations < ITERATIONS && norm > enough; iterations++) {
    if (iterations == SIMPLE_ITERATIONS) differences = 1;
    if (!isfinite(norm) || !newton_step(&x, differences)) break;
    tbReal next = line_search(&x, norm);
    if (next == norm) {
      // The simple matrix gives no further progress; try finite differences once per iteration.
      if (differences) break;
      differences = 1;
      evaluate(&x, x.v, x.residual);
    }
    norm = next;
  }
  // The last trial may not be the answer.
  if (isfinite(norm) && memcmp(d->qvel, x.v, bytes) != 0) norm = evaluate(&x, x.v, x.residual);
  set_end_state(&x, x.v);
  bool added = tb_applied_add(m, d, state, m->opt.timestep);
  if (!isfinite(norm) || !added) {
    memcpy(d->qpos, x.qpos, sizeof(tbReal) * (size_t)m->nq);
    memcpy(d->qvel, x.qvel, bytes);
    d->time = x.time;
    return added ? TB_ERROR_NUMERIC : TB_ERROR_MEMORY;
  }
  d->status = TB_OK;
  d->message[0] = 0;
  d->solve.solver = "newton";
  d->solve.iterations = iterations;
  d->solve.status = norm <= enough ? TB_SOLVE_CONVERGED : TB_SOLVE_STALLED;
  if (d->solve.status != TB_SOLVE_CONVERGED) {
    d->offender = (tbOffender){TB_OFFENCE_UNCONVERGED, {-1, -1}, worst_body(&x)};
  }
  d->solve.residual.relative = norm > 0 ? norm / x.scale : 0;  // of Newton's equation
  return TB_OK;
}
