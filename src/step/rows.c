// Rigid laws see contacts and limits before they close, as far as the velocity of the step's start
// tells. An impact or a force that comes on may lead elsewhere: then the law is solved once more,
// with rows of what its answer crossed (docs/step.md).
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

// Searches for contacts that a solve leads to: one body may throw the next.
enum { MOST_SEARCHES = 3 };

static bool is_rigid(const tbModel* m) {
  return m->opt.law < TB_LAW_COUNT;
}

// How far ahead limits are seen.
static tbLookAhead sight_of(const tbModel* m) {
  bool foresees =
      m->opt.law == TB_LAW_VISCOELASTIC && m->opt.integrator == TB_INTEGRATOR_EXPO_MIDPOINT;
  return (tbLookAhead){.horizon = is_rigid(m) || foresees ? 2 * m->opt.timestep : 0,
                       .near = is_rigid(m)};
}

// From where on a law that looks ahead sees contacts: what starts at rest falls by h^2 g in a step,
// which at 20 ms is more than the margin.
static tbReal first_reach(const tbModel* m, const tbStepState* state) {
  const tbReal h = m->opt.timestep;
  bool springs = m->opt.law == TB_LAW_VISCOELASTIC;
  tbReal margin = springs ? m->opt.contact_margin : tb_margin(m, state);
  return tb_max(margin, h * h * tb_norm3(m->opt.gravity));
}

static tbReal reach_of(const tbModel* m, const tbStepState* state) {
  bool springs = m->opt.law == TB_LAW_VISCOELASTIC;
  if (sight_of(m).horizon > 0 || (springs && m->opt.contact_bilateral)) {
    return first_reach(m, state);
  }
  return springs ? tb_touch_gap(m) : 0;
}

// For derivatives by differences: shift the coefficients of one contact, of those from `first` on.
static void shift_friction(tbData* d, const tbStepState* state, int first) {
  for (int i = first; state->friction_shift != 0 && i < d->ncon; i++) {
    if (d->contact[i].key != state->friction_key) continue;
    for (int k = 0; k < 2; k++) d->contact[i].friction[k] += state->friction_shift;
  }
}

// Rows of what was found, and room for their forces.
static tbResult assemble(const tbModel* m, tbData* d, tbStepState* state, tbLookAhead sight) {
  tbResult result = tb_assemble_rows(m, d, sight, state->left_out, &state->constraints);
  if (result != TB_OK) return result;
  state->row_force = TB_ARENA_NEW(&d->work->arena, tbReal, state->constraints.nrow);
  return state->row_force ? TB_OK : TB_ERROR_MEMORY;
}

tbResult tb_rows_find(const tbModel* m, tbData* d, tbStepState* state, bool all,
                      tbReal* collide_end) {
  tbReal reach = reach_of(m, state);
  tbResult result;
  state->left_out = NULL;
  do {
    tb_detector_set_resting(state->finder, state->sleep.count ? state->sleep.fixed : NULL);
    result = tb_find_contacts(state->finder, m, d, reach);
    *collide_end = tb_seconds();
    shift_friction(d, state, 0);
    if (result == TB_OK && !all && !TB_WITHOUT(PRUNING)) result = tb_prune_contacts(m, d, state);
    if (result == TB_OK) result = assemble(m, d, state, sight_of(m));
  } while (result == TB_OK && tb_sleep_disturbed(m, d, &state->sleep, &state->constraints));
  return result;
}

// ---- what an answer leads through --------------------------------------------------------------

// The largest speeds of the dofs that solves have led to. False: out of memory.
static bool keep_speeds(const tbModel* m, tbData* d, const tbReal* v_next, tbLookAhead* sight) {
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
                             tbLookAhead* sight, int* searches, bool* crossed) {
  *crossed = tb_restore_violated_contacts(m, d, state, v_next) > 0;
  if (tb_limits_violated(m, d, *sight, v_next)) {
    if (!keep_speeds(m, d, v_next, sight)) return TB_ERROR_MEMORY;
    *crossed = true;
  }
  if (*crossed || *searches == 0 || TB_WITHOUT(SPECULATIVE)) return TB_OK;
  int found;
  tbResult result =
      tb_find_speculative_contacts(m, d, state, first_reach(m, state), v_next, &found);
  if (result != TB_OK) return result;
  shift_friction(d, state, d->ncon - found);
  *crossed = found > 0;
  --*searches;
  return TB_OK;
}

// The same step once more: impulses of what was crossed start at zero, the others where the last
// solve ended.
static tbResult solve_again(const tbModel* m, tbData* d, tbStepState* state, tbLookAhead sight,
                            tbReal* v_next) {
  tbSolveInfo before = d->solve;
  memset(&d->solve, 0, sizeof d->solve);
  d->offender.reason = TB_OFFENCE_NONE;
  state->clock = tb_seconds();
  tbResult result = assemble(m, d, state, sight);
  // What sleeps and was crossed wakes, and has contacts of its own.
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
  tbLookAhead sight = sight_of(m);
  int searches = MOST_SEARCHES;
  memset(&d->solve, 0, sizeof d->solve);
  tbResult result = tb_rigid_velocity(m, d, state, v_next);
  while (result == TB_OK) {
    bool crossed;
    tb_sleep_still(m, &state->sleep, v_next);
    result = find_crossed(m, d, state, v_next, &sight, &searches, &crossed);
    if (result != TB_OK || !crossed) break;
    result = solve_again(m, d, state, sight, v_next);
  }
  return result;
}
