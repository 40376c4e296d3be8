// A step in one page: position and velocity stage, contacts and rows, smooth forces, the law, the
// motion.
#include "tribo/step.h"

#include <stdbool.h>
#include <string.h>

#include "base/timer.h"
#include "dynamics/mass.h"
#include "model/option.h"
#include "model/workspace.h"
#include "laws/certificate.h"
#include "step/check.h"
#include "laws/comfree/comfree.h"
#include "forces/forces.h"
#include "forces/implicit_inertia.h"
#include "step/rk4.h"
#include "step/rows.h"
#include "sensors/evaluate.h"
#include "laws/soft/soft.h"
#include "forces/geometric_stiffness.h"
#include "laws/viscoelastic/viscoelastic.h"
#include "tribo/dynamics.h"

static tbResult out_of_memory(tbData* d) {
  return tb_step_fail(d, TB_ERROR_MEMORY, "out of memory");
}

// Fail with the message that the failing function set, or with `otherwise`.
static tbResult fail_as(tbData* d, tbResult result, const char* otherwise) {
  return tb_step_fail(d, result, d->message[0] ? NULL : otherwise);
}

static bool has_springs(const tbModel* m) {
  return m->opt.law == TB_LAW_VISCOELASTIC;
}

// Laws that need the acceleration computed with M alone. The others take dampers implicitly, and
// compute it with that matrix.
static bool needs_smooth(const tbModel* m) {
  return m->opt.law == TB_LAW_SOFT || has_springs(m);
}

// Laws with geometric stiffness: those of impulses and comfree. The springs of the others treat
// stiffness themselves.
static bool has_geometric_stiffness(const tbModel* m) {
  return m->opt.law < TB_LAW_COUNT || m->opt.law == TB_LAW_COMFREE;
}

// ---- the first half: position and velocity stage -----------------------------------------------

// Purpose of the first half: within a whole step intermediate results are not visible; some callers
// need the rows of contacts that cannot push, too.
typedef enum { FOR_STEP, FOR_HALVES, FOR_ALL_ROWS } Purpose;

// Clear the results of the last step except the world memory, and check that a step is possible.
static tbResult begin(const tbModel* m, tbData* d) {
  d->status = TB_OK;
  d->message[0] = 0;
  d->ncon = 0;
  // The residuals are unknown until the law has been solved.
  d->solve = (tbSolveInfo){.status = TB_SOLVE_FAILED};
  tb_certificate_unknown(&d->solve);
  d->offender = (tbOffender){TB_OFFENCE_NONE, {-1, -1}, -1};
  memset(&d->seconds, 0, sizeof d->seconds);
  if (!tb_is_world_of(m, d)) {
    return tb_step_fail(d, TB_ERROR_ARGUMENT, "this world is of another model");
  }
  tbStepState* state = tb_step_state(m, d);
  if (!state) return out_of_memory(d);
  if (tb_check_options(m, d, state) != TB_OK) return d->status;
  if (!tb_workers_resize(&state->workers, m->opt.threads)) {
    return tb_step_fail(d, TB_ERROR_MEMORY, "out of memory or threads");
  }
  if (state->applied.open) {
    tb_arena_release(&d->work->arena, state->applied.mark);
  } else {
    tb_arena_reset(&d->work->arena);
  }
  state->v_move = state->anchor_slip = state->turn = state->supplied = NULL;
  state->unresolved = 0;
  state->modified = 0;
  if (tb_check_state(m, d) != TB_OK) return d->status;
  if (!state->substep && !tb_sleep_begin(m, d, &state->sleep, &state->allocations)) {
    return out_of_memory(d);
  }
  return TB_OK;
}

static tbResult first_half(const tbModel* m, tbData* d, Purpose purpose) {
  if (!m || !d) return TB_ERROR_ARGUMENT;
  tbReal start = tb_seconds();
  if (begin(m, d) != TB_OK) return d->status;
  tbStepState* state = tb_step_state(m, d);

  // Frames, inertia and velocities of bodies.
  tb_position_stage(m, d);
  if (has_geometric_stiffness(m) && tb_geometric_stiffness_add(m, d) != TB_OK)
    return out_of_memory(d);
  if (purpose != FOR_STEP || needs_smooth(m)) tb_factor_m(m, d);
  tb_compute_velocity(m, d);
  if ((m->opt.enableflags & TB_ENABLE_ENERGY) && !state->substep) {
    tb_energy_position(m, d);
    tb_energy_velocity(m, d);
  }
  tbReal dynamics_end = tb_seconds(), collide_end;

  // Contacts and constraint rows.
  tbResult result = tb_rows_find(m, d, state, purpose == FOR_ALL_ROWS, &collide_end);
  if (result == TB_OK && has_springs(m)) result = tb_springs_measure(m, d, state, &state->springs);
  if (result != TB_OK) return fail_as(d, result, "out of memory for contacts");

  // Forces and sensors of position and velocity.
  tb_adhesion(m, d);
  tb_passive(m, d);
  if (!state->substep) tb_sensor_first(m, d, &state->constraints);

  tbReal end = tb_seconds();
  d->seconds.dynamics = dynamics_end - start;
  d->seconds.collide = collide_end - dynamics_end;
  d->seconds.assemble = end - collide_end;
  d->seconds.total = end - start;
  state->clock = end;
  d->work->halfway = 1;
  return TB_OK;
}

// ---- the second half: forces, the law, the motion ----------------------------------------------

// All forces except those of constraints, and the inertia of the step.
static tbResult smooth_forces(const tbModel* m, tbData* d, tbStepState* state) {
  tb_actuation(m, d);
  for (int i = 0; i < m->nv; i++) {
    d->qfrc_smooth[i] =
        d->qfrc_passive[i] - d->qfrc_bias[i] + d->qfrc_applied[i] + d->qfrc_actuator[i];
  }
  tb_apply_xfrc(m, d, d->xfrc_applied, d->qfrc_smooth);
  tbResult result = tb_implicit_factor(m, d, tb_implicit_of(&m->opt), &state->factor);
  if (result != TB_OK) return tb_step_fail(d, result, "the inertia has no factor");
  tb_add_coriolis(m, d, state->factor, 1, d->qfrc_smooth);
  if (tb_check_dofs(m, d, d->qfrc_smooth, "force of dof") != TB_OK) return d->status;
  if (tb_check_activations(m, d, d->act_dot) != TB_OK) return d->status;
  if (needs_smooth(m)) tb_solve_m(m, d, d->qacc_smooth, d->qfrc_smooth, 1);
  return TB_OK;
}

// The law: constraint impulses and the resulting velocity.
static tbResult law_velocity(const tbModel* m, tbData* d, tbStepState* state, tbReal* v_next) {
  switch (m->opt.law) {
    case TB_LAW_SOFT: return tb_soft_velocity(m, d, state, v_next);
    case TB_LAW_COMFREE: return tb_comfree_velocity(m, d, state, v_next);
    case TB_LAW_VISCOELASTIC: return tb_viscoelastic_velocity(m, d, state, v_next);
    default: return tb_rows_solve(m, d, state, v_next);
  }
}

// Integrators that evaluate forces again within the step: it does not apply the forces of its
// start.
static bool evaluates_again(const tbModel* m) {
  int integrator = m->opt.integrator;
  return integrator == TB_INTEGRATOR_RK4
             ? needs_smooth(m)
             : has_springs(m) && (integrator == TB_INTEGRATOR_EXPO_MIDPOINT ||
                                  integrator == TB_INTEGRATOR_EULER_IMPLICIT);
}

// Compute the certificate of laws of forces, whose answers no solver has evaluated. A step of
// several evaluations gets its certificate after the last one.
static void compute_certificate(const tbModel* m, tbData* d, tbStepState* state,
                                const tbReal* v_next, bool moves) {
  if (!needs_smooth(m) || state->substep || state->state_only || (moves && evaluates_again(m)))
    return;
  tb_certificate_answer(m, d, &state->constraints, &state->islands, state->v_free, v_next,
                        &d->solve);
}

// All of the second half except the motion, which follows if `moves`.
static tbResult next_velocity(const tbModel* m, tbData* d, tbReal* v_next, bool moves) {
  tbStepState* state = tb_step_state(m, d);
  if (!state || !d->work->halfway)
    return tb_step_fail(d, TB_ERROR_ARGUMENT, "tb_step1 comes first");
  d->work->halfway = 0;
  if (tb_check_method(m, d) != TB_OK) return d->status;
  if (tb_check_inputs(m, d) != TB_OK) return d->status;
  if (smooth_forces(m, d, state) != TB_OK) return d->status;
  tbResult result = law_velocity(m, d, state, v_next);
  if (result != TB_OK) return fail_as(d, result, "the solve broke down");
  tb_sleep_hold(m, d, &state->sleep, v_next);
  tbReal timestep = state->parts > 0 ? state->whole : m->opt.timestep;
  if (tb_check_motion(m, d, v_next, timestep) != TB_OK) return d->status;
  compute_certificate(m, d, state, v_next, moves);
  if (!state->substep) tb_sensor_second(m, d, &state->constraints, state->row_force);
  return TB_OK;
}

// Semi-implicit Euler: the configuration moves by the new velocity, or under springs by the mean
// one.
static tbResult euler(const tbModel* m, tbData* d, const tbReal* v_next, const tbReal* v_move) {
  tb_next_activations(m, d, d->act_dot);
  memcpy(d->qvel, v_next, sizeof(tbReal) * (size_t)m->nv);
  tb_integrate_pos(m, d->qpos, v_move, m->opt.timestep);
  d->time += m->opt.timestep;
  return TB_OK;
}

// Runge-Kutta, whose further stages are steps of their own.
static bool takes_stages(const tbModel* m, const tbStepState* state) {
  return m->opt.integrator == TB_INTEGRATOR_RK4 && tb_rk4_applies(m, state);
}

static tbResult move_stages(const tbModel* m, tbData* d, tbStepState* state) {
  state->substep = 1;
  tbResult result = tb_rk4(m, d, state);
  state->substep = 0;
  return result;
}

static tbResult move_springs(const tbModel* m, tbData* d, tbStepState* state,
                             const tbReal* v_next) {
  tbResult result;
  switch (m->opt.integrator) {
    case TB_INTEGRATOR_EXPO_MIDPOINT:
      result = tb_expo_midpoint(m, d, state, v_next);
      if (result == TB_OK) tb_next_activations(m, d, d->act_dot);
      return result;
    case TB_INTEGRATOR_EULER_IMPLICIT:
      tb_next_activations(m, d, d->act_dot);
      return tb_euler_implicit(m, d, state);
    default: return euler(m, d, v_next, state->v_move);
  }
}

// Move the state, or leave it unchanged. The springs' anchors and the carried loads of ropes are
// valid from here on; a step that fails restores the anchors.
static tbResult move(const tbModel* m, tbData* d, tbStepState* state, const tbReal* v_next) {
  bool springs = has_springs(m);
  if (springs && tb_anchors_exchange(m, d, state) != TB_OK) return out_of_memory(d);
  if (has_geometric_stiffness(m) && tb_carried_load_keep(m, d, state) != TB_OK)
    return out_of_memory(d);
  memcpy(d->qacc_warmstart, d->qacc, sizeof(tbReal) * (size_t)m->nv);
  tbResult result = takes_stages(m, state) ? move_stages(m, d, state)
                    : springs              ? move_springs(m, d, state, v_next)
                                           : euler(m, d, v_next, v_next);
  if (result == TB_OK) {
    tb_sleep_end(m, d, &state->sleep, &state->constraints);
    return TB_OK;
  }
  if (springs) tb_anchors_restore(state);
  return fail_as(d, result, "out of memory");
}

tbResult tb_step2_from(const tbModel* m, tbData* d, tbReal start) {
  tbReal* v_next = tb_arena_alloc(&d->work->arena, sizeof(tbReal) * (size_t)(m->nv + 1));
  tbReal before = d->seconds.total;
  if (!v_next) return out_of_memory(d);
  tbStepState* state = tb_step_state(m, d);
  if (!state) return out_of_memory(d);
  tbResult result = next_velocity(m, d, v_next, true);
  if (result != TB_OK) return result;
  bool opens = evaluates_again(m) && !state->state_only && !state->applied.open;
  if (opens && !tb_applied_open(m, d, state)) return out_of_memory(d);
  if (!has_springs(m) || !tb_expo_substeps(m, d, v_next, &result)) {
    result = move(m, d, state, v_next);
  }
  if (opens && result == TB_OK) tb_applied_close(m, d, state);
  if (opens && result != TB_OK) tb_applied_drop(state);
  d->seconds.total = before + tb_seconds() - start;
  return result;
}

// ---- the step ----------------------------------------------------------------------------------

tbResult tb_step1(const tbModel* m, tbData* d) {
  return first_half(m, d, FOR_HALVES);
}

tbResult tb_step1_all_rows(const tbModel* m, tbData* d) {
  return first_half(m, d, FOR_ALL_ROWS);
}

tbResult tb_step2(const tbModel* m, tbData* d) {
  if (!m || !d) return TB_ERROR_ARGUMENT;
  if (d->status != TB_OK) return d->status;
  if (!tb_is_world_of(m, d)) {
    return tb_step_fail(d, TB_ERROR_ARGUMENT, "this world is of another model");
  }
  tbStepState* state = tb_step_state(m, d);
  if (!state) return out_of_memory(d);
  if (tb_check_options(m, d, state) != TB_OK) return d->status;
  state->clock = tb_seconds();
  return tb_step2_from(m, d, state->clock);
}

tbResult tb_step(const tbModel* m, tbData* d) {
  tbResult result = first_half(m, d, FOR_STEP);
  return result == TB_OK ? tb_step2_from(m, d, tb_step_state(m, d)->clock) : result;
}

tbResult tb_forward(const tbModel* m, tbData* d) {
  tbResult result = first_half(m, d, FOR_ALL_ROWS);
  if (result != TB_OK) return result;
  tbReal* v_next = tb_arena_alloc(&d->work->arena, sizeof(tbReal) * (size_t)(m->nv + 1));
  return v_next ? next_velocity(m, d, v_next, false) : out_of_memory(d);
}

const char* tb_step_law_name(int law) {
  return tb_option_word("law", law);
}
