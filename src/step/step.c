// The step on one screen: kinematics, collision, rows, smooth forces, law, integration.
#include "tribo/step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/timer.h"
#include "dynamics/mass.h"
#include "model/option.h"
#include "model/workspace.h"
#include "spatial/vec3.h"
#include "step/check.h"
#include "step/comfree.h"
#include "step/forces.h"
#include "step/foresee.h"
#include "step/implicit.h"
#include "step/rigid.h"
#include "step/rk4.h"
#include "step/screen.h"
#include "step/sensor.h"
#include "step/soft.h"
#include "step/state.h"
#include "step/tension.h"
#include "step/viscoelastic.h"
#include "tribo/dynamics.h"

void tb_store_forces(const tbModel* m, tbData* d, tbStepState* state, const tbIslands* islands) {
  for (int i = 0; i < islands->count; i++) {
    const tbReal* lambda = islands->island[i].lambda;
    for (int k = 0; k < islands->island[i].nmember; k++) {
      const tbConstraint* c = &state->constraints.list[islands->island[i].member[k]];
      for (int r = 0; r < c->dim; r++, lambda++) {
        tbReal force = *lambda / m->opt.timestep;
        state->row_force[c->row + r] = force;
        if (c->source == TB_SOURCE_CONTACT) d->contact[c->id].force[r] = force;
      }
    }
  }
}

// ---- errors ------------------------------------------------------------------------------------

static tbResult fail(tbData* d, tbResult status, const char* message) {
  d->status = status;
  if (message) snprintf(d->message, sizeof d->message, "%.250s", message);
  return status;
}

// Whether the world is one of this model: the same as ever, or of the same sizes.
static bool is_world_of(const tbModel* m, const tbData* d) {
  const tbStepState* state = d->work->step;
  return (state && state->block == m->block) || tb_data_fits(m, d);
}

static bool same_options(const tbOption* a, const tbOption* b) {
  uint64_t differ = 0, x, y;
  for (size_t i = 0; i < sizeof *a; i += sizeof x) {
    memcpy(&x, (const char*)a + i, sizeof x);
    memcpy(&y, (const char*)b + i, sizeof y);
    differ |= x ^ y;
  }
  return differ == 0;
}

static tbResult look_at_options(const tbModel* m, tbData* d, tbStepState* state) {
  tbError error;
  tbResult result = tb_option_check(&m->opt, &error);
  if (result != TB_OK) return fail(d, result, error.message);
  state->checked = m->opt;
  return TB_OK;
}

// Options may be written into the model as they are, also between the halves. That they are still
// the same is seen faster than that each has a meaning.
static tbResult check_options(const tbModel* m, tbData* d, tbStepState* state) {
  return same_options(&state->checked, &m->opt) ? TB_OK : look_at_options(m, d, state);
}

// Rows of what was found, and room for their forces.
static tbResult assemble(const tbModel* m, tbData* d, tbStepState* state, tbSight sight) {
  tbResult result = tb_assemble_rows(m, d, sight, state->left_out, &state->constraints);
  if (result != TB_OK) return result;
  state->row_force = TB_ARENA_NEW(&d->work->arena, tbReal, state->constraints.nrow);
  return state->row_force ? TB_OK : TB_ERROR_MEMORY;
}

// How far ahead limits are seen. Rigid laws see contacts and limits before they close.
static tbSight sight_of(const tbModel* m) {
  bool rigid = m->opt.law < TB_LAW_COUNT;
  bool foresees =
      m->opt.law == TB_LAW_VISCOELASTIC && m->opt.integrator == TB_INTEGRATOR_EXPO_MIDPOINT;
  return (tbSight){.horizon = rigid || foresees ? 2 * m->opt.timestep : 0, .near = rigid};
}

// From where on a law that looks ahead sees contacts: what starts at rest falls by h^2 g in a step,
// which at 20 ms is more than the margin.
static tbReal first_reach(const tbModel* m, const tbStepState* state) {
  const tbReal h = m->opt.timestep;
  bool springs = m->opt.law == TB_LAW_VISCOELASTIC;
  tbReal margin = springs ? m->opt.contact_margin : tb_margin(m, state);
  return tb_max(margin, h * h * tb_norm3(m->opt.gravity));
}

// Differences by friction: one contact's own coefficients, of those from `first` on.
static void shift_friction(tbData* d, const tbStepState* state, int first) {
  for (int i = first; state->friction_shift != 0 && i < d->ncon; i++) {
    if (d->contact[i].key != state->friction_key) continue;
    for (int k = 0; k < 2; k++) d->contact[i].friction[k] += state->friction_shift;
  }
}

// Contacts and rows, once more where they wake someone. With `all`, rows of every contact.
static tbResult find_rows(const tbModel* m, tbData* d, tbStepState* state, int all,
                          tbReal* collide_end) {
  int springs = m->opt.law == TB_LAW_VISCOELASTIC;
  tbSight sight = sight_of(m);
  int early = sight.horizon > 0 || (springs && m->opt.contact_bilateral);
  tbReal reach = early ? first_reach(m, state) : springs ? tb_touching(m) : 0;
  tbResult result;
  state->left_out = NULL;
  do {
    tb_contact_finder_rest(state->finder, state->sleep.count ? state->sleep.fixed : NULL);
    result = tb_find_contacts(state->finder, m, d, reach);
    *collide_end = tb_seconds();
    shift_friction(d, state, 0);
    if (result == TB_OK && !all) result = tb_screen_contacts(m, d, state);
    if (result == TB_OK) result = assemble(m, d, state, sight);
  } while (result == TB_OK && tb_sleep_disturbed(m, d, &state->sleep, &state->constraints));
  return result;
}

// ---- the two halves ----------------------------------------------------------------------------

// Laws that need the acceleration by M alone. The others take dampers implicitly, and have theirs
// from that matrix.
static int needs_smooth(const tbModel* m) {
  return m->opt.law == TB_LAW_SOFT || m->opt.law == TB_LAW_VISCOELASTIC;
}

// Laws of impulses; the others' springs have their own ways with stiffness.
static bool knows_tension(const tbModel* m) {
  return m->opt.law < TB_LAW_COUNT || m->opt.law == TB_LAW_COMFREE;
}

// For whom the first half is: in a whole step nobody looks at what is between the halves; some want
// rows of contacts that cannot push, too.
enum { FOR_STEP, FOR_HALVES, FOR_ALL_ROWS };

static tbResult first_half(const tbModel* m, tbData* d, int purpose) {
  if (!m || !d) return TB_ERROR_ARGUMENT;
  tbReal start = tb_seconds();
  d->status = TB_OK;
  d->message[0] = 0;
  d->ncon = 0;
  memset(&d->solve, 0, sizeof d->solve);
  memset(&d->seconds, 0, sizeof d->seconds);
  if (!is_world_of(m, d)) return fail(d, TB_ERROR_ARGUMENT, "this world is of another model");
  tbStepState* state = tb_step_state(m, d);
  if (state && check_options(m, d, state) != TB_OK) return d->status;
  if (!state || !tb_workers_resize(&state->workers, m->opt.threads)) {
    return fail(d, TB_ERROR_MEMORY, "out of memory or threads");
  }
  tb_arena_reset(&d->work->arena);
  if (tb_check_state(m, d) != TB_OK) return d->status;
  if (!state->inner && !tb_sleep_begin(m, d, &state->sleep, &state->allocations)) {
    return fail(d, TB_ERROR_MEMORY, "out of memory");
  }

  // What follows from position and velocity.
  tb_position_stage(m, d);
  if (knows_tension(m) && tb_tension_add(m, d) != TB_OK) {
    return fail(d, TB_ERROR_MEMORY, "out of memory");
  }
  if (purpose != FOR_STEP || needs_smooth(m)) tb_factor_m(m, d);
  tb_compute_velocity(m, d);
  if ((m->opt.enableflags & TB_ENABLE_ENERGY) && !state->inner) {
    tb_energy_position(m, d);
    tb_energy_velocity(m, d);
  }
  tbReal dynamics_end = tb_seconds();

  // Contacts and constraint rows.
  tbReal collide_end;
  tbResult result = find_rows(m, d, state, purpose == FOR_ALL_ROWS, &collide_end);
  state->v_move = state->slid = state->turn = state->backed = NULL;
  state->unresolved = 0;
  state->bounce_cut = 0;
  if (result == TB_OK && m->opt.law == TB_LAW_VISCOELASTIC) {
    result = tb_springs_measure(m, d, state, &state->springs);
  }
  if (result != TB_OK) return fail(d, result, d->message[0] ? NULL : "out of memory for contacts");
  tb_adhesion(m, d);
  tb_passive(m, d);
  if (!state->inner) tb_sensor_first(m, d, &state->constraints);
  tbReal end = tb_seconds();
  d->seconds.dynamics = dynamics_end - start;
  d->seconds.collide = collide_end - dynamics_end;
  d->seconds.assemble = end - collide_end;
  d->seconds.total = end - start;
  state->clock = end;
  d->work->halfway = 1;
  return TB_OK;
}

tbResult tb_step1(const tbModel* m, tbData* d) {
  return first_half(m, d, FOR_HALVES);
}

tbResult tb_step1_all_rows(const tbModel* m, tbData* d) {
  return first_half(m, d, FOR_ALL_ROWS);
}

// The largest speeds of the dofs that solves have led to. False: out of memory.
static bool keep_speeds(const tbModel* m, tbData* d, const tbReal* v_next, tbSight* sight) {
  tbReal* led = tb_arena_alloc(&d->work->arena, sizeof(tbReal) * (size_t)(m->nv + 1));
  if (!led) return false;
  for (int i = 0; i < m->nv; i++) {
    led[i] = sight->led ? tb_max(sight->led[i], fabs(v_next[i])) : fabs(v_next[i]);
  }
  sight->led = led;
  return true;
}

// Whether a solve has led through something that has no rows: contacts that were left out or not
// even found, limits. From now on they have.
static tbResult find_crossed(const tbModel* m, tbData* d, tbStepState* state, const tbReal* v_next,
                             tbSight* sight, int* searches, bool* crossed) {
  *crossed = tb_screen_missed(m, d, state, v_next) > 0;
  if (tb_limits_crossed(m, d, *sight, v_next)) {
    if (!keep_speeds(m, d, v_next, sight)) return TB_ERROR_MEMORY;
    *crossed = true;
  }
  if (*crossed || *searches == 0) return TB_OK;
  int found;
  tbResult result = tb_foresee(m, d, state, first_reach(m, state), v_next, &found);
  if (result != TB_OK) return result;
  shift_friction(d, state, d->ncon - found);
  *crossed = found > 0;
  --*searches;
  return TB_OK;
}

// For contacts that a solve leads to: one body may throw the next.
enum { MOST_SEARCHES = 3 };

// A rigid law, once more with what was crossed: impulses of that start at zero, the others where
// the last solve ended.
static tbResult rigid_velocity(const tbModel* m, tbData* d, tbStepState* state, tbReal* v_next) {
  tbSight sight = sight_of(m);
  int searches = MOST_SEARCHES;
  tbResult result = tb_rigid_velocity(m, d, state, v_next);
  while (result == TB_OK) {
    bool crossed;
    tb_sleep_still(m, &state->sleep, v_next);
    result = find_crossed(m, d, state, v_next, &sight, &searches, &crossed);
    if (result != TB_OK || !crossed) break;
    tbSolveInfo before = d->solve;
    memset(&d->solve, 0, sizeof d->solve);
    state->clock = tb_seconds();
    result = assemble(m, d, state, sight);
    // What sleeps and was crossed wakes, and has contacts of its own.
    if (result == TB_OK && tb_sleep_disturbed(m, d, &state->sleep, &state->constraints)) {
      result = find_rows(m, d, state, 0, &state->clock);
    }
    if (result == TB_OK) result = tb_rigid_velocity(m, d, state, v_next);
    d->solve.iterations += before.iterations;
    d->solve.factorizations += before.factorizations;
    d->solve.seconds += before.seconds;
  }
  return result;
}

// The law: constraint impulses and the velocity they lead to.
static tbResult law_velocity(const tbModel* m, tbData* d, tbStepState* state, tbReal* v_next) {
  switch (m->opt.law) {
    case TB_LAW_SOFT: return tb_soft_velocity(m, d, state, v_next);
    case TB_LAW_COMFREE: return tb_comfree_velocity(m, d, state, v_next);
    case TB_LAW_VISCOELASTIC: return tb_viscoelastic_velocity(m, d, state, v_next);
    default: return rigid_velocity(m, d, state, v_next);
  }
}

// Laws of one method, or of two, take no other. (tb_solve says the same of the rigid laws.)
static tbResult check_method(const tbModel* m, tbData* d) {
  int solver = m->opt.solver, soft = m->opt.law == TB_LAW_SOFT;
  if (m->opt.integrator >= TB_INTEGRATOR_EXPO && m->opt.law != TB_LAW_VISCOELASTIC) {
    return fail(
        d, TB_ERROR_ARGUMENT,
        "this integrator is the viscoelastic law's; set law viscoelastic, or integrator euler, "
        "implicitfast, implicit or rk4");
  }
  if (m->opt.law < TB_LAW_COUNT || solver == TB_SOLVER_AUTO) return TB_OK;
  if (soft && (solver == TB_SOLVER_NEWTON || solver == TB_SOLVER_PGS)) return TB_OK;
  d->status = TB_ERROR_UNSUPPORTED;
  snprintf(d->message, sizeof d->message, "law %s has no solver \"%s\", it has %sauto",
           tb_step_law_name(m->opt.law), tb_option_word("solver", solver),
           soft ? "newton, pgs, " : "");
  return d->status;
}

// Forces, the law, the next velocity.
static tbResult next_velocity(const tbModel* m, tbData* d, tbReal* v_next) {
  tbStepState* state = tb_step_state(m, d);
  if (!state || !d->work->halfway) return fail(d, TB_ERROR_ARGUMENT, "tb_step1 comes first");
  d->work->halfway = 0;
  if (check_method(m, d) != TB_OK) return d->status;
  if (tb_check_inputs(m, d) != TB_OK) return d->status;
  tb_actuation(m, d);
  for (int i = 0; i < m->nv; i++) {
    d->qfrc_smooth[i] =
        d->qfrc_passive[i] - d->qfrc_bias[i] + d->qfrc_applied[i] + d->qfrc_actuator[i];
  }
  tb_apply_xfrc(m, d, d->xfrc_applied, d->qfrc_smooth);
  tbResult result = tb_implicit_factor(m, d, tb_implicit_of(&m->opt), &state->factor);
  if (result != TB_OK) return fail(d, result, "the inertia has no factor");
  tb_add_coriolis(m, d, state->factor, 1, d->qfrc_smooth);
  if (tb_check_dofs(m, d, d->qfrc_smooth, "force of dof") != TB_OK) return d->status;
  if (tb_check_activations(m, d, d->act_dot) != TB_OK) return d->status;
  if (needs_smooth(m)) tb_solve_m(m, d, d->qacc_smooth, d->qfrc_smooth, 1);
  result = law_velocity(m, d, state, v_next);
  if (result != TB_OK) return fail(d, result, d->message[0] ? NULL : "the solve broke down");
  tb_sleep_hold(m, d, &state->sleep, v_next);
  tbReal timestep = state->parts > 0 ? state->whole : m->opt.timestep;
  if (tb_check_motion(m, d, v_next, timestep) != TB_OK) return d->status;
  if (!state->inner) tb_sensor_second(m, d, &state->constraints, state->row_force);
  return TB_OK;
}

static tbResult stages_end(tbData* d, tbResult result) {
  return result == TB_OK ? TB_OK : fail(d, result, d->message[0] ? NULL : "out of memory");
}

// Move the state. Rigid laws and comfree are impulses at the end of a step, so Runge-Kutta is
// theirs only where nothing touches.
static tbResult integrate(const tbModel* m, tbData* d, const tbReal* v_next) {
  tbStepState* state = tb_step_state(m, d);
  int springs = m->opt.law == TB_LAW_VISCOELASTIC;
  int smooth = m->opt.law == TB_LAW_SOFT || springs || state->constraints.nrow == 0;
  memcpy(d->qacc_warmstart, d->qacc, sizeof(tbReal) * (size_t)m->nv);
  if (m->opt.integrator == TB_INTEGRATOR_RK4 && smooth) {
    state->inner = 1;
    tbResult result = tb_rk4(m, d, state);
    state->inner = 0;
    return stages_end(d, result);
  }
  if (m->opt.integrator == TB_INTEGRATOR_EXPO_MIDPOINT && springs) {
    tbResult result = tb_expo_midpoint(m, d, state, v_next);
    if (result == TB_OK) tb_next_activations(m, d, d->act_dot);
    return stages_end(d, result);
  }
  if (m->opt.integrator == TB_INTEGRATOR_EULER_IMPLICIT && springs) {
    tb_next_activations(m, d, d->act_dot);
    return stages_end(d, tb_euler_implicit(m, d, state));
  }
  // Semi-implicit Euler: the new velocity moves the configuration, or the law's mean one.
  tb_next_activations(m, d, d->act_dot);
  memcpy(d->qvel, v_next, sizeof(tbReal) * (size_t)m->nv);
  tb_integrate_pos(m, d->qpos, springs ? state->v_move : d->qvel, m->opt.timestep);
  d->time += m->opt.timestep;
  return TB_OK;
}

static tbResult second_half(const tbModel* m, tbData* d, tbReal start);

// A step of expo-midpoint in which a contact changes its kind is made in two parts: up to that
// moment, from what the first half has already found, and on, as a step by itself. Returns 1 where
// that was done.
static int springs_split(const tbModel* m, tbData* d, const tbReal* v_next, tbResult* result) {
  tbStepState* state = tb_step_state(m, d);
  if (state->parts == 0) {
    state->splits = 0;
    state->whole = m->opt.timestep;
  }
  tbReal touch = tb_step_splits(m, state) ? tb_first_touch(m, d, state, v_next) : 0;
  if (touch <= 0) return 0;
  if (!state->start) {
    size_t bytes = sizeof(tbReal) * TB_EXPO_PARTS * (size_t)tb_state_size(m);
    state->start = malloc(bytes);
    state->allocations++;
    state->bytes += bytes;
    if (!state->start) return 0;
  }
  tbReal* start = state->start + (size_t)state->parts * (size_t)tb_state_size(m);
  tb_state_get(m, d, start);
  tbModel part = *m;
  part.opt.timestep = touch;
  int until = state->until_event;
  state->parts++;
  state->splits++;
  d->work->halfway = state->until_event = 1;
  *result = second_half(&part, d, tb_seconds());
  state->until_event = until;
  if (*result == TB_OK) {
    part.opt.timestep = m->opt.timestep - touch;
    *result = tb_step(&part, d);
    if (*result != TB_OK) tb_state_set(m, d, start);
  }
  state->parts--;
  return 1;
}

// From `start` of the clock on; reading it takes a tenth of a microsecond on virtual machines.
static tbResult second_half(const tbModel* m, tbData* d, tbReal start) {
  tbReal* v_next = tb_arena_alloc(&d->work->arena, sizeof(tbReal) * (size_t)(m->nv + 1));
  tbReal before = d->seconds.total;
  if (!v_next) return fail(d, TB_ERROR_MEMORY, "out of memory");
  if (next_velocity(m, d, v_next) != TB_OK) return d->status;

  tbResult result;
  if (springs_split(m, d, v_next, &result)) {
    d->seconds.total = before + tb_seconds() - start;
    return result;
  }
  // The springs' anchors of this state count from here on; a step that fails takes them back.
  tbStepState* state = tb_step_state(m, d);
  int springs = m->opt.law == TB_LAW_VISCOELASTIC;
  if (springs && tb_anchors_exchange(m, d, state) != TB_OK) {
    return fail(d, TB_ERROR_MEMORY, "out of memory");
  }
  if (knows_tension(m) && tb_tension_keep(m, d, state) != TB_OK) {
    return fail(d, TB_ERROR_MEMORY, "out of memory");
  }
  result = integrate(m, d, v_next);
  if (springs && result != TB_OK) tb_anchors_restore(state);
  if (result == TB_OK) tb_sleep_end(m, d, &state->sleep, &state->constraints);
  d->seconds.total += tb_seconds() - start;
  return result;
}

tbResult tb_step2(const tbModel* m, tbData* d) {
  if (!m || !d) return TB_ERROR_ARGUMENT;
  if (d->status != TB_OK) return d->status;
  if (!is_world_of(m, d)) return fail(d, TB_ERROR_ARGUMENT, "this world is of another model");
  tbStepState* state = tb_step_state(m, d);
  if (!state) return fail(d, TB_ERROR_MEMORY, "out of memory");
  if (check_options(m, d, state) != TB_OK) return d->status;
  state->clock = tb_seconds();
  return second_half(m, d, state->clock);
}

tbResult tb_step(const tbModel* m, tbData* d) {
  tbResult result = first_half(m, d, FOR_STEP);
  return result == TB_OK ? second_half(m, d, tb_step_state(m, d)->clock) : result;
}

tbResult tb_forward(const tbModel* m, tbData* d) {
  if (first_half(m, d, FOR_ALL_ROWS) != TB_OK) return d ? d->status : TB_ERROR_ARGUMENT;
  tbReal* v_next = tb_arena_alloc(&d->work->arena, sizeof(tbReal) * (size_t)(m->nv + 1));
  if (!v_next) return fail(d, TB_ERROR_MEMORY, "out of memory");
  return next_velocity(m, d, v_next);
}

const char* tb_step_law_name(int law) {
  return tb_option_word("law", law);
}
