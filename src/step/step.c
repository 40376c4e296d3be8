// A step in one page: position and velocity stage, contacts and rows, smooth forces, the law, the
// motion.
#include "tribo/step.h"

#include <stdbool.h>
#include <string.h>

#include "base/timer.h"
#include "dynamics/mass.h"
#include "forces/forces.h"
#include "forces/geometric_stiffness.h"
#include "forces/implicit_inertia.h"
#include "laws/certificate.h"
#include "laws/rows.h"
#include "model/law_kinds.h"
#include "model/option.h"
#include "model/workspace.h"
#include "sensors/evaluate.h"
#include "step/check.h"
#include "step/integrator.h"
#include "step/rk4.h"
#include "tribo/callbacks.h"
#include "tribo/dynamics.h"

static tbResult out_of_memory(tbData* d) {
  return tb_step_fail(d, TB_ERROR_MEMORY, "out of memory");
}

// Fail with the message that the failing function set, or with `otherwise`.
static tbResult fail_as(tbData* d, tbResult result, const char* otherwise) {
  return tb_step_fail(d, result, d->message[0] ? NULL : otherwise);
}

static bool is_compliant(const tbModel* m) {
  return tb_law_has(&m->opt, TB_TRAIT_COMPLIANT);
}

tbStep tb_step_of(const tbModel* m, tbData* d, tbPurpose purpose) {
  return (tbStep){m, d, d->work->step, tb_law_type(m->opt.law), purpose};
}

// ---- the first half: position and velocity stage -----------------------------------------------

// What the first half is followed by: within a whole step intermediate results are not visible;
// some callers need the rows of contacts that cannot push, too.
typedef enum { FOR_STEP, FOR_HALVES, FOR_ALL_ROWS } Follow;

// Clear the results of the last step except what the world remembers, and check that a step is
// possible.
static tbResult begin(const tbModel* m, tbData* d, bool substep) {
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
  if (tb_check_options(m, d, state, substep) != TB_OK) return d->status;
  bool open = state->law[m->opt.law].state != NULL;
  if (!open && !tb_law_open(m, state, m->opt.law)) return out_of_memory(d);
  if (!tb_workers_resize(&state->workers, m->opt.threads)) {
    return tb_step_fail(d, TB_ERROR_MEMORY, "out of memory or threads");
  }
  if (tb_applied_is_open(state)) {
    tb_arena_release(&d->work->arena, tb_applied_mark(state));
  } else {
    tb_arena_reset(&d->work->arena);
  }
  state->v_move = NULL;
  if (tb_check_state(m, d) != TB_OK) return d->status;
  if (!substep && !tb_sleep_begin(m, d, &state->sleep, &state->allocations)) {
    return out_of_memory(d);
  }
  return TB_OK;
}

// Fills *step, the context of both halves.
static tbResult first_half(const tbModel* m, tbData* d, Follow follow, const tbPurpose* purpose,
                           tbStep* step) {
  if (!m || !d) return TB_ERROR_ARGUMENT;
  tbReal start = tb_seconds();
  if (begin(m, d, purpose->substep) != TB_OK) return d->status;
  *step = tb_step_of(m, d, *purpose);

  // Frames, inertia and velocities of bodies.
  tb_position_stage(m, d);
  // The springs of compliant laws treat geometric stiffness themselves.
  if (!is_compliant(m) && tb_geometric_stiffness_add(m, d) != TB_OK) return out_of_memory(d);
  if (follow != FOR_STEP || is_compliant(m)) tb_factor_m(m, d);
  tb_compute_velocity(m, d);
  if ((m->opt.enableflags & TB_ENABLE_ENERGY) && !purpose->substep) {
    tb_energy_position(m, d);
    tb_energy_velocity(m, d);
  }
  tbReal dynamics_end = tb_seconds(), collide_end;

  // Contacts and constraint rows.
  tbResult result = tb_rows_find(step, follow == FOR_ALL_ROWS, &collide_end);
  if (result == TB_OK && step->law->prepare) result = step->law->prepare(step);
  if (result != TB_OK) return fail_as(d, result, "out of memory for contacts");

  // Forces and sensors of position and velocity.
  tb_adhesion(m, d);
  tb_passive(m, d);
  if (m->callbacks && m->callbacks->passive) m->callbacks->passive(m, d, m->callbacks->user);
  if (!purpose->substep && (m->nsensor > 0 || purpose->observed)) {
    tb_sensor_first(m, d, &step->state->constraints, purpose->observed);
  }

  tbReal end = tb_seconds();
  d->seconds.dynamics = dynamics_end - start;
  d->seconds.collide = collide_end - dynamics_end;
  d->seconds.assemble = end - collide_end;
  d->seconds.total = end - start;
  step->state->clock = end;
  d->work->halfway = 1;
  return TB_OK;
}

// The first half of a step or of tb_forward, after which the user's controller is called.
static tbResult first_half_controlled(const tbModel* m, tbData* d, Follow follow,
                                      const tbPurpose* purpose, tbStep* step) {
  tbResult result = first_half(m, d, follow, purpose, step);
  if (result != TB_OK || !m->callbacks || !m->callbacks->control) return result;
  m->callbacks->control(m, d, m->callbacks->user);
  return TB_OK;
}

// ---- the second half: forces, the law, the motion ----------------------------------------------

// All forces except those of constraints, and the factor of M with what the step takes implicitly.
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
  if (tb_check_forces(m, d) != TB_OK) return d->status;
  if (tb_check_activations(m, d, d->act_dot) != TB_OK) return d->status;
  // The other laws compute their smooth acceleration with the factor that has implicit dampers.
  if (is_compliant(m)) tb_solve_m(m, d, d->qacc_smooth, d->qfrc_smooth, 1);
  return TB_OK;
}

// Integrators that evaluate forces again within the step: it does not apply the forces of its
// start.
static bool evaluates_again(const tbModel* m) {
  switch (m->opt.integrator) {
    case TB_INTEGRATOR_RK4: return is_compliant(m);
    case TB_INTEGRATOR_EXPO_MIDPOINT:
    case TB_INTEGRATOR_EULER_IMPLICIT: return true;
    default: return false;
  }
}

// Compute the certificate of compliant laws, whose answers no solver has evaluated. A step of
// several evaluations gets its certificate after the last one.
static void compute_certificate(const tbStep* s, const tbReal* v_next, bool moves) {
  if (!is_compliant(s->m) || s->purpose.substep || s->purpose.state_only ||
      (moves && evaluates_again(s->m)))
    return;
  tb_certificate_answer(s->m, s->d, &s->state->constraints, &s->state->islands, s->state->v_free,
                        v_next, &s->d->solve);
}

// All of the second half except the motion, which follows if `moves`.
static tbResult next_velocity(const tbStep* s, tbReal* v_next, bool moves) {
  const tbModel* m = s->m;
  tbData* d = s->d;
  tbStepState* state = s->state;
  const tbDivision* division = s->purpose.division;
  if (!d->work->halfway) return tb_step_fail(d, TB_ERROR_ARGUMENT, "tb_step1 comes first");
  d->work->halfway = 0;
  if (tb_check_method(s) != TB_OK) return d->status;
  if (tb_check_inputs(m, d) != TB_OK) return d->status;
  if (smooth_forces(m, d, state) != TB_OK) return d->status;
  tbResult result = s->law->velocity(s, v_next);
  if (result != TB_OK) return fail_as(d, result, "the solve broke down");
  tb_sleep_hold(m, d, &state->sleep, v_next);
  tbReal timestep = division ? division->whole : m->opt.timestep;
  if (tb_check_motion(m, d, v_next, timestep) != TB_OK) return d->status;
  compute_certificate(s, v_next, moves);
  if (!s->purpose.substep && (m->nsensor > 0 || s->purpose.observed)) {
    tb_sensor_second(m, d, &state->constraints, state->row_force, s->purpose.observed);
  }
  return TB_OK;
}

// Semi-implicit Euler: the configuration moves by the new velocity, or under springs by the mean
// one.
static tbResult euler(const tbStep* s, const tbReal* v_next) {
  const tbModel* m = s->m;
  tbData* d = s->d;
  tb_next_activations(m, d, d->act_dot);
  memcpy(d->qvel, v_next, sizeof(tbReal) * (size_t)m->nv);
  tb_integrate_pos(m, d->qpos, s->state->v_move ? s->state->v_move : v_next, m->opt.timestep);
  d->time += m->opt.timestep;
  return TB_OK;
}

static tbResult integrate(const tbStep* s, const tbReal* v_next) {
  const tbModel* m = s->m;
  tbData* d = s->d;
  tbResult result;
  switch (m->opt.integrator) {
    case TB_INTEGRATOR_RK4:
      // Its further stages are evaluations of their own.
      return tb_rk4_applies(m, s->state) ? tb_rk4(s) : euler(s, v_next);
    case TB_INTEGRATOR_EXPO_MIDPOINT:
      result = tb_expo_midpoint(s, v_next);
      if (result == TB_OK) tb_next_activations(m, d, d->act_dot);
      return result;
    case TB_INTEGRATOR_EULER_IMPLICIT:
      tb_next_activations(m, d, d->act_dot);
      return tb_euler_implicit(s);
    default: return euler(s, v_next);
  }
}

// Move the state, or leave it unchanged. What the law keeps for the next step is valid from here
// on; a step that fails restores it.
static tbResult move(const tbStep* s, const tbReal* v_next) {
  const tbModel* m = s->m;
  tbData* d = s->d;
  if (s->law->keep && s->law->keep(s) != TB_OK) return out_of_memory(d);
  memcpy(d->qacc_warmstart, d->qacc, sizeof(tbReal) * (size_t)m->nv);
  tbResult result = integrate(s, v_next);
  if (result == TB_OK) {
    tb_sleep_end(m, d, &s->state->sleep, &s->state->constraints);
    return TB_OK;
  }
  if (s->law->undo) s->law->undo(s);
  return fail_as(d, result, "out of memory");
}

tbResult tb_step_second_half(tbStep* step, tbReal start) {
  const tbModel* m = step->m;
  tbData* d = step->d;
  step->purpose.locates_events = tb_expo_locates(m, step->purpose.division);
  tbReal* v_next = tb_arena_alloc(&d->work->arena, sizeof(tbReal) * (size_t)(m->nv + 1));
  tbReal before = d->seconds.total;
  if (!v_next) return out_of_memory(d);
  tbResult result = next_velocity(step, v_next, true);
  if (result != TB_OK) return result;
  bool opens = evaluates_again(m) && !step->purpose.state_only && !tb_applied_is_open(step->state);
  if (opens && !tb_applied_open(m, d, step->state)) return out_of_memory(d);
  bool divides = m->opt.integrator == TB_INTEGRATOR_EXPO_MIDPOINT;
  if (!divides || !tb_expo_substeps(step, v_next, &result)) result = move(step, v_next);
  if (opens && result == TB_OK) tb_applied_close(m, d, step->state);
  if (opens && result != TB_OK) tb_applied_drop(step->state);
  d->seconds.total = before + tb_seconds() - start;
  return result;
}

// ---- the step ----------------------------------------------------------------------------------

tbResult tb_step1(const tbModel* m, tbData* d) {
  return tb_step1_for(m, d, (tbPurpose){0});
}

tbResult tb_step1_for(const tbModel* m, tbData* d, tbPurpose purpose) {
  tbStep step;
  return first_half_controlled(m, d, FOR_HALVES, &purpose, &step);
}

tbResult tb_step1_all_rows(const tbModel* m, tbData* d) {
  tbStep step;
  return first_half(m, d, FOR_ALL_ROWS, &(tbPurpose){0}, &step);
}

tbResult tb_step2(const tbModel* m, tbData* d) {
  if (!m || !d) return TB_ERROR_ARGUMENT;
  if (d->status != TB_OK) return d->status;
  if (!tb_is_world_of(m, d)) {
    return tb_step_fail(d, TB_ERROR_ARGUMENT, "this world is of another model");
  }
  tbStepState* state = tb_step_state(m, d);
  if (!state) return out_of_memory(d);
  d->message[0] = 0;  // of a query that failed since the first half
  if (tb_check_options(m, d, state, false) != TB_OK) return d->status;
  if (!tb_law_open(m, state, m->opt.law)) return out_of_memory(d);
  state->clock = tb_seconds();
  tbStep step = tb_step_of(m, d, (tbPurpose){0});
  return tb_step_second_half(&step, state->clock);
}

tbResult tb_step_for(const tbModel* m, tbData* d, tbPurpose purpose) {
  tbStep step;
  tbResult result = first_half_controlled(m, d, FOR_STEP, &purpose, &step);
  if (result != TB_OK) return result;
  return tb_step_second_half(&step, step.state->clock);
}

tbResult tb_step(const tbModel* m, tbData* d) {
  return tb_step_for(m, d, (tbPurpose){0});
}

tbResult tb_forward_for(const tbModel* m, tbData* d, tbPurpose purpose) {
  tbStep step;
  tbResult result = first_half_controlled(m, d, FOR_ALL_ROWS, &purpose, &step);
  if (result != TB_OK) return result;
  tbReal* v_next = tb_arena_alloc(&d->work->arena, sizeof(tbReal) * (size_t)(m->nv + 1));
  if (!v_next) return out_of_memory(d);
  return next_velocity(&step, v_next, false);
}

tbResult tb_forward(const tbModel* m, tbData* d) {
  return tb_forward_for(m, d, (tbPurpose){0});
}

const char* tb_step_law_name(int law) {
  return tb_option_word("law", law);
}
