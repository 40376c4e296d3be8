// Speculative rows of rigid laws: contacts and limits get rows before they close, as predicted from
// the velocity at the start of the step. After an impact or a sudden force the solution may violate
// rows that were not predicted: then the law is solved again with these rows added
// (docs/manual/step.md).
#include "step/rows.h"

#include <math.h>
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "base/timer.h"
#include "model/workspace.h"
#include "spatial/vec3.h"
#include "laws/rigid/speculative_contacts.h"
#include "laws/rigid/rigid.h"
#include "laws/rigid/pruned_contacts.h"
#include "laws/viscoelastic/viscoelastic.h"
#include "tribo/step.h"

// Maximum number of searches for contacts that a solve leads to: one body may push the next.
enum { MOST_SEARCHES = 3 };

static bool is_rigid(const tbModel* m) {
  return m->opt.law < TB_LAW_COUNT;
}

// The look-ahead of limits.
static tbLookAhead look_ahead_of(const tbModel* m) {
  bool predicts =
      m->opt.law == TB_LAW_VISCOELASTIC && m->opt.integrator == TB_INTEGRATOR_EXPO_MIDPOINT;
  return (tbLookAhead){.horizon = is_rigid(m) || predicts ? 2 * m->opt.timestep : 0,
                       .near = is_rigid(m)};
}

// Detection distance of a law with look-ahead: a body that starts at rest falls by h^2 g in a step,
// which at 20 ms is more than the margin.
static tbReal detection_distance(const tbModel* m, const tbStepState* state) {
  const tbReal h = m->opt.timestep;
  bool springs = m->opt.law == TB_LAW_VISCOELASTIC;
  tbReal margin = springs ? m->opt.contact_margin : tb_margin(m, state);
  return tb_max(margin, h * h * tb_norm3(m->opt.gravity));
}

static tbReal reach_of(const tbModel* m, const tbStepState* state) {
  bool springs = m->opt.law == TB_LAW_VISCOELASTIC;
  if (look_ahead_of(m).horizon > 0 || (springs && m->opt.contact_bilateral)) {
    return detection_distance(m, state);
  }
  return springs ? tb_touch_gap(m) : 0;
}

// For derivatives by differences: change the coefficients of one contact, among those from `first`
// on.
static void shift_friction(tbData* d, const tbStepState* state, int first) {
  for (int i = first; state->friction_shift != 0 && i < d->ncon; i++) {
    if (d->contact[i].key != state->friction_key) continue;
    for (int k = 0; k < 2; k++) d->contact[i].friction[k] += state->friction_shift;
  }
}

// Assemble rows of the detected constraints, and memory for their forces.
static tbResult assemble(const tbModel* m, tbData* d, tbStepState* state, tbLookAhead ahead) {
  tbResult result = tb_assemble_rows(m, d, ahead, state->pruned, &state->constraints);
  if (result != TB_OK) return result;
  state->row_force = TB_ARENA_NEW(&d->work->arena, tbReal, state->constraints.nrow);
  return state->row_force ? TB_OK : TB_ERROR_MEMORY;
}

tbResult tb_rows_find(const tbModel* m, tbData* d, tbStepState* state, bool all,
                      tbReal* collide_end) {
  tbReal reach = reach_of(m, state);
  tbResult result;
  state->pruned = NULL;
  do {
    tb_detector_set_resting(state->finder, state->sleep.count ? state->sleep.fixed : NULL);
    result = tb_find_contacts(state->finder, m, d, reach);
    *collide_end = tb_seconds();
    shift_friction(d, state, 0);
    if (result == TB_OK && !all && !TB_WITHOUT(PRUNING)) result = tb_prune_contacts(m, d, state);
    if (result == TB_OK) result = assemble(m, d, state, look_ahead_of(m));
  } while (result == TB_OK && tb_sleep_disturbed(m, d, &state->sleep, &state->constraints));
  return result;
}

// ---- rows that a solution violates -------------------------------------------------------------

// Store the largest speeds of the dofs over all solutions. False: out of memory.
static bool store_speeds(const tbModel* m, tbData* d, const tbReal* v_next, tbLookAhead* ahead) {
  tbReal* led = tb_arena_alloc(&d->work->arena, sizeof(tbReal) * (size_t)(m->nv + 1));
  if (!led) return false;
  for (int i = 0; i < m->nv; i++) {
    led[i] = ahead->led ? tb_max(ahead->led[i], fabs(v_next[i])) : fabs(v_next[i]);
  }
  ahead->led = led;
  return true;
}

// Whether a solution violates constraints without rows: contacts that were pruned or not detected,
// and limits. They get rows from now on.
static tbResult find_violated(const tbModel* m, tbData* d, tbStepState* state, const tbReal* v_next,
                              tbLookAhead* ahead, int* searches, bool* violated) {
  *violated = tb_restore_violated_contacts(m, d, state, v_next) > 0;
  if (tb_limits_violated(m, d, *ahead, v_next)) {
    if (!store_speeds(m, d, v_next, ahead)) return TB_ERROR_MEMORY;
    *violated = true;
  }
  if (*violated || *searches == 0 || TB_WITHOUT(SPECULATIVE)) return TB_OK;
  int found;
  tbResult result =
      tb_find_speculative_contacts(m, d, state, detection_distance(m, state), v_next, &found);
  if (result != TB_OK) return result;
  shift_friction(d, state, d->ncon - found);
  *violated = found > 0;
  --*searches;
  return TB_OK;
}

// Solve the same step again: impulses of the new rows start at zero, the others from the last
// solution.
static tbResult solve_again(const tbModel* m, tbData* d, tbStepState* state, tbLookAhead ahead,
                            tbReal* v_next) {
  tbSolveInfo before = d->solve;
  memset(&d->solve, 0, sizeof d->solve);
  d->offender.reason = TB_OFFENCE_NONE;
  state->clock = tb_seconds();
  tbResult result = assemble(m, d, state, ahead);
  // A sleeping tree whose constraint was violated wakes, and has contacts of its own.
  if (result == TB_OK && tb_sleep_disturbed(m, d, &state->sleep, &state->constraints)) {
    result = tb_rows_find(m, d, state, false, &state->clock);
  }
  if (result == TB_OK) result = tb_rigid_velocity(m, d, state, v_next);
  d->solve.iterations += before.iterations;
  d->solve.factorizations += before.factorizations;
  d->solve.seconds += before.seconds;
  return result;
}

tbResult tb_rows_solve(const tbModel* m, tbData* d, tbStepState* state, tbReal* v_next) {
  tbLookAhead ahead = look_ahead_of(m);
  int searches = MOST_SEARCHES;
  memset(&d->solve, 0, sizeof d->solve);
  tbResult result = tb_rigid_velocity(m, d, state, v_next);
  while (result == TB_OK) {
    bool violated;
    tb_sleep_still(m, &state->sleep, v_next);
    result = find_violated(m, d, state, v_next, &ahead, &searches, &violated);
    if (result != TB_OK || !violated) break;
    result = solve_again(m, d, state, ahead, v_next);
  }
  return result;
}
