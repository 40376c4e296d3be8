// Speculative rows of rigid laws: contacts and limits get rows before they close, as predicted from
// the velocity at the start of the step. After an impact or a sudden force the solution may violate
// rows that were not predicted: then the law is solved again with these rows added
// (docs/manual/step.md).
#include <math.h>
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "base/timer.h"
#include "laws/rigid/pruned_contacts.h"
#include "laws/rigid/rigid.h"
#include "laws/rigid/speculative_contacts.h"
#include "laws/rows.h"
#include "model/workspace.h"

// Maximum number of searches for contacts that a solve leads to: one body may push the next.
enum { MOST_SEARCHES = 3 };

tbLookAhead tb_rigid_look_ahead(const tbModel* m) {
  return (tbLookAhead){.horizon = 2 * m->opt.timestep, .near = true};
}

tbReal tb_rigid_reach(const tbStep* s) {
  return tb_rows_detection(s->m, tb_margin(s->m, s->state));
}

// Store the largest speeds of the dofs over all solutions. False: out of memory.
static bool store_speeds(const tbModel* m, tbData* d, const tbReal* v_next, tbLookAhead* ahead) {
  tbReal* bound = tb_arena_alloc(&d->work->arena, sizeof(tbReal) * (size_t)(m->nv + 1));
  if (!bound) return false;
  for (int i = 0; i < m->nv; i++) {
    bound[i] =
        ahead->speed_bound ? tb_max(ahead->speed_bound[i], fabs(v_next[i])) : fabs(v_next[i]);
  }
  ahead->speed_bound = bound;
  return true;
}

// Whether a solution violates constraints without rows: contacts that were pruned or not detected,
// and limits. They get rows from now on.
static tbResult find_violated(const tbStep* s, const tbReal* v_next, tbLookAhead* ahead,
                              int* searches, bool* violated) {
  const tbModel* m = s->m;
  tbData* d = s->d;
  *violated = tb_restore_violated_contacts(m, d, s->state, v_next) > 0;
  if (tb_limits_violated(m, d, *ahead, v_next)) {
    if (!store_speeds(m, d, v_next, ahead)) return TB_ERROR_MEMORY;
    *violated = true;
  }
  if (*violated || *searches == 0 || TB_WITHOUT(SPECULATIVE)) return TB_OK;
  int found;
  tbResult result = tb_find_speculative_contacts(m, d, s->state, tb_rigid_reach(s), v_next, &found);
  if (result != TB_OK) return result;
  tb_rows_shift_friction(s, d->ncon - found);
  *violated = found > 0;
  --*searches;
  return TB_OK;
}

// Solve the same step again: impulses of the new rows start at zero, the others from the last
// solution.
static tbResult solve_again(const tbStep* s, tbLookAhead ahead, tbReal* v_next) {
  tbData* d = s->d;
  tbStepState* state = s->state;
  tbSolveInfo before = d->solve;
  memset(&d->solve, 0, sizeof d->solve);
  d->offender.reason = TB_OFFENCE_NONE;
  state->clock = tb_seconds();
  tbResult result = tb_rows_assemble(s, ahead);
  // A sleeping tree whose constraint was violated wakes, and has contacts of its own.
  if (result == TB_OK && tb_sleep_disturbed(s->m, d, &state->sleep, &state->constraints)) {
    result = tb_rows_find(s, false, &state->clock);
  }
  if (result == TB_OK) result = tb_rigid_solve(s, v_next);
  d->solve.iterations += before.iterations;
  d->solve.factorizations += before.factorizations;
  d->solve.seconds += before.seconds;
  return result;
}

tbResult tb_rigid_velocity(const tbStep* s, tbReal* v_next) {
  tbLookAhead ahead = tb_rigid_look_ahead(s->m);
  int searches = MOST_SEARCHES;
  tb_rigid_state(s->m, s->state)->modified = false;
  memset(&s->d->solve, 0, sizeof s->d->solve);
  tbResult result = tb_rigid_solve(s, v_next);
  while (result == TB_OK) {
    bool violated;
    tb_sleep_still(s->m, &s->state->sleep, v_next);
    result = find_violated(s, v_next, &ahead, &searches, &violated);
    if (result != TB_OK || !violated) break;
    result = solve_again(s, ahead, v_next);
  }
  return result;
}
