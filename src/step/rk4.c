#include "step/rk4.h"

#include <string.h>

#include "model/joint_kinds.h"
#include "spatial/vec3.h"
#include "laws/certificate.h"
#include "step/integrator.h"
#include "forces/forces.h"
#include "model/law_kinds.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

// ---- rates of rotations -------------------------------------------------------------------------

// The first of three dofs of joint j that form a rotation of the body, or -1.
static int rotation_dofs(const tbModel* m, int j) {
  int type = m->jnt_type[j];
  return tb_joint_has_quaternion(type) ? m->jnt_dofadr[j] + tb_joint_numbers(type) : -1;
}

void tb_rk4_rates(const tbModel* m, const tbReal* u, const tbReal* v, tbReal* rate) {
  memcpy(rate, v, sizeof(tbReal) * (size_t)m->nv);
  for (int j = 0; j < m->njnt; j++) {
    int i = rotation_dofs(m, j);
    if (i < 0) continue;
    tbReal first[3], second[3];
    tb_cross(first, u + i, v + i);
    tb_cross(second, u + i, first);
    for (int k = 0; k < 3; k++) rate[i + k] += first[k] / 2 + second[k] / 12;
  }
}

void tb_rk4_rates_change(const tbModel* m, const tbReal* u, const tbReal* v, const tbReal* dv,
                         tbReal* du, int columns) {
  size_t n = (size_t)columns;
  for (int j = 0; j < m->njnt; j++) {
    int first = m->jnt_dofadr[j], i = rotation_dofs(m, j);
    int end = j + 1 < m->njnt ? m->jnt_dofadr[j + 1] : m->nv;
    int plain = i < 0 ? end : i;
    memcpy(du + (size_t)first * n, dv + (size_t)first * n,
           sizeof(tbReal) * n * (size_t)(plain - first));
    if (i < 0) continue;
    tbReal uv[3];
    tb_cross(uv, u + i, v + i);
    for (size_t c = 0; c < n; c++) {
      tbReal x[3], y[3], a[3], b[3], once[3], twice[3], other[3];
      for (int k = 0; k < 3; k++) {
        x[k] = du[((size_t)i + (size_t)k) * n + c];
        y[k] = dv[((size_t)i + (size_t)k) * n + c];
      }
      tb_cross(a, x, v + i);
      tb_cross(b, u + i, y);
      tb_add3(once, a, b);
      tb_cross(twice, u + i, once);
      tb_cross(other, x, uv);
      for (int k = 0; k < 3; k++) {
        du[((size_t)i + (size_t)k) * n + c] = y[k] + once[k] / 2 + (twice[k] + other[k]) / 12;
      }
    }
  }
}

// ---- the step ----------------------------------------------------------------------------------

typedef struct {
  tbReal *qpos, *qvel, *act;       // at the start of the step
  tbReal *rate, *qacc, *act_rate;  // weighted sums over the stages
} Buffers;

static Buffers buffers_of(const tbModel* m, tbReal* memory) {
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv, na = (size_t)m->na;
  Buffers b;
  b.qpos = memory;
  b.qvel = b.qpos + nq;
  b.act = b.qvel + nv;
  b.rate = b.act + na;
  b.qacc = b.rate + nv;
  b.act_rate = b.qacc + nv;
  return b;
}

static void restore(const tbModel* m, tbData* d, const Buffers* b, tbReal time) {
  memcpy(d->qpos, b->qpos, sizeof(tbReal) * (size_t)m->nq);
  memcpy(d->qvel, b->qvel, sizeof(tbReal) * (size_t)m->nv);
  memcpy(d->act, b->act, sizeof(tbReal) * (size_t)m->na);
  d->time = time;
}

static void accumulate(const tbModel* m, const tbData* d, Buffers* b, const tbReal* rate,
                       tbReal weight) {
  for (int i = 0; i < m->nv; i++) {
    b->rate[i] += weight * rate[i];
    b->qacc[i] += weight * d->qacc[i];
  }
  for (int i = 0; i < m->na; i++) b->act_rate[i] += weight * d->act_dot[i];
}

// Set the state to the start plus `h` times the given rates.
static void move(const tbModel* m, tbData* d, const Buffers* b, tbReal h, const tbReal* rate,
                 const tbReal* qacc, const tbReal* act_rate) {
  memcpy(d->qpos, b->qpos, sizeof(tbReal) * (size_t)m->nq);
  tb_integrate_pos(m, d->qpos, rate, h);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = b->qvel[i] + h * qacc[i];
  for (int i = 0; i < m->na; i++) d->act[i] = b->act[i] + h * act_rate[i];
}

bool tb_rk4_applies(const tbModel* m, const tbStepState* state) {
  return tb_law_has(&m->opt, TB_TRAIT_COMPLIANT) || state->constraints.nrow == 0;
}

// If a later stage has contacts though the first had none, the step is made by Euler's rule from
// the start.
static tbResult end_as_euler(const tbModel* m, tbData* d, const Buffers* b, tbReal time,
                             tbPurpose purpose, tbReal* v_next) {
  const tbReal h = m->opt.timestep;
  restore(m, d, b, time);
  tbResult result = tb_forward_for(m, d, purpose);
  if (result != TB_OK) return result;
  for (int i = 0; i < m->nv; i++) v_next[i] = d->qvel[i] + h * d->qacc[i];
  memcpy(d->qvel, v_next, sizeof(tbReal) * (size_t)m->nv);
  tb_integrate_pos(m, d->qpos, v_next, h);
  tb_next_activations(m, d, d->act_dot);
  d->time = time + h;
  return TB_OK;
}

tbResult tb_rk4(const tbStep* step) {
  const tbModel* m = step->m;
  tbData* d = step->d;
  tbStepState* state = step->state;
  tbPurpose purpose = step->purpose;
  purpose.substep = true;
  static const tbReal STAGE[3] = {0.5, 0.5, 1}, WEIGHT[3] = {1.0 / 3, 1.0 / 3, 1.0 / 6};
  size_t size = (size_t)m->nq + 3 * (size_t)m->nv + 2 * (size_t)m->na;
  // Three more vectors store a stage's own coordinates and rates, which tb_forward would overwrite.
  tbIntegratorState* own = tb_integrator_state(state);
  size_t count = size + 3 * (size_t)m->nv + (size_t)m->na + 1;
  if (!own || !tb_integrator_memory(state, &own->rk4, count)) return TB_ERROR_MEMORY;
  Buffers b = buffers_of(m, own->rk4);
  tbReal *rate = own->rk4 + size, *qacc = rate + m->nv, *u = qacc + m->nv, *act_rate = u + m->nv;
  tbReal h = m->opt.timestep, time = d->time;
  memcpy(b.qpos, d->qpos, sizeof(tbReal) * (size_t)m->nq);
  memcpy(b.qvel, d->qvel, sizeof(tbReal) * (size_t)m->nv);
  memcpy(b.act, d->act, sizeof(tbReal) * (size_t)m->na);
  memset(b.rate, 0, sizeof(tbReal) * (2 * (size_t)m->nv + (size_t)m->na));
  memcpy(rate, d->qvel, sizeof(tbReal) * (size_t)m->nv);
  accumulate(m, d, &b, rate, 1.0 / 6);
  tbSolveInfo solve = d->solve;
  if (!tb_applied_add(m, d, state, h / 6)) return TB_ERROR_MEMORY;
  for (int s = 0; s < 3; s++) {
    memcpy(qacc, d->qacc, sizeof(tbReal) * (size_t)m->nv);
    memcpy(act_rate, d->act_dot, sizeof(tbReal) * (size_t)m->na);
    move(m, d, &b, STAGE[s] * h, rate, qacc, act_rate);
    d->time = time + STAGE[s] * h;
    tbResult result = tb_forward_for(m, d, purpose);
    if (result == TB_OK && !tb_applied_add(m, d, state, WEIGHT[s] * h)) result = TB_ERROR_MEMORY;
    if (result != TB_OK) {
      restore(m, d, &b, time);
      return result;
    }
    if (!tb_rk4_applies(m, state)) return end_as_euler(m, d, &b, time, purpose, rate);
    tb_certificate_add(&solve, &d->solve);
    for (int i = 0; i < m->nv; i++) u[i] = STAGE[s] * h * rate[i];
    tb_rk4_rates(m, u, d->qvel, rate);
    accumulate(m, d, &b, rate, WEIGHT[s]);
  }
  d->solve = solve;
  move(m, d, &b, h, b.rate, b.qacc, b.act_rate);
  // Filters end as in any other step, exactly integrated or clamped.
  memcpy(d->act, b.act, sizeof(tbReal) * (size_t)m->na);
  tb_next_activations(m, d, b.act_rate);
  d->time = time + h;
  return TB_OK;
}
