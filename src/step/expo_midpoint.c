// The exponential integrator with the slowly varying quantities evaluated at the middle of the
// step.
//
// EXP holds inertia, Jacobian, bias and smooth forces at their values at the start of a step, which
// makes the method first order. Here this step is only the predictor: the world moves to its
// middle, these quantities are computed there, and the springs' motion is integrated again over the
// whole step, from the stretch and rate at its start. If contacts were made or lost before the
// middle, the predictor is the result.
#include <string.h>

#include "laws/viscoelastic/viscoelastic.h"
#include "step/integrator.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

tbResult tb_expo_midpoint(const tbStep* step, const tbReal* v_next) {
  const tbModel* m = step->m;
  tbData* d = step->d;
  tbStepState* state = step->state;
  const tbViscoelasticState* springs = tb_viscoelastic_state(state);
  tbIntegratorState* own = tb_integrator_state(state);
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv;
  // Memory for the state and four velocities.
  if (!own || !tb_integrator_memory(state, &own->middle, nq + 4 * nv + 1)) return TB_ERROR_MEMORY;
  if (!tb_springs_freeze(state)) return TB_ERROR_MEMORY;
  tbReal h = m->opt.timestep, time = d->time;
  tbReal *qpos = own->middle, *v = qpos + nq, *end = v + nv, *move = end + nv, *mean = move + nv;
  memcpy(qpos, d->qpos, sizeof(tbReal) * nq);
  memcpy(v, d->qvel, sizeof(tbReal) * nv);
  memcpy(end, v_next, sizeof(tbReal) * nv);
  memcpy(move, state->v_move, sizeof(tbReal) * nv);

  // Move to the middle of the predicted step.
  for (int i = 0; i < m->nv; i++) {
    d->qvel[i] = 0.5 * (v[i] + end[i]);
    mean[i] = 0.5 * (v[i] + d->qvel[i]);
  }
  tb_integrate_pos(m, d->qpos, mean, 0.5 * h);
  d->time = time + 0.5 * h;
  memcpy(mean, d->qvel, sizeof(tbReal) * nv);
  tbSolveInfo solve = d->solve;
  tb_applied_keep(state);
  bool added = tb_applied_add(m, d, state, h);
  tbPurpose middle = step->purpose;
  middle.substep = middle.frozen_springs = true;
  tbResult result = added ? tb_forward_for(m, d, middle) : TB_ERROR_MEMORY;
  if (result == TB_OK && springs->frozen_match) {
    // The forces of the middle replace those of the start.
    tb_applied_revert(state);
    if (!tb_applied_add(m, d, state, h)) result = TB_ERROR_MEMORY;
    for (int i = 0; i < m->nv; i++) {
      end[i] = v[i] + h * d->qacc[i];
      move[i] = v[i] + state->v_move[i] - mean[i];
    }
  }

  // Move from the start to the end.
  memcpy(d->qpos, qpos, sizeof(tbReal) * nq);
  d->time = time;
  if (result != TB_OK) {
    memcpy(d->qvel, v, sizeof(tbReal) * nv);
    return result;
  }
  memcpy(d->qvel, end, sizeof(tbReal) * nv);
  tb_integrate_pos(m, d->qpos, move, h);
  d->time = time + h;
  d->solve = solve;
  return TB_OK;
}
