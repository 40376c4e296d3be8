// The exponential integrator differentiated (docs/notebook/derivatives.md, eq. 68-71): the parts of
// a step around its islands.
#include "laws/viscoelastic/expo_linearize.h"

#include <string.h>

#include "dynamics/axis.h"
#include "dynamics/mass.h"
#include "linalg/multi_rhs.h"
#include "forces/implicit_inertia.h"
#include "forces/stiff_springs.h"

// Members of every island in order; those whose springs act become active.
static tbResult islands_changes(tbExpoReplay* y) {
  tbDerivatives* x = y->x;
  const tbConstraints* cs = y->context.cs;
  int most = 0;
  for (int i = 0; i < cs->count; i++) {
    if (cs->list[i].island >= most) most = cs->list[i].island + 1;
  }
  int* member = tb_arena_alloc(&x->arena, sizeof(int) * (size_t)(cs->count + 1));
  tbActiveRows** active = TB_ARENA_NEW(&x->arena, tbActiveRows*, cs->count + 1);
  x->expo = TB_ARENA_NEW(&x->arena, tbExpoResponse, most + 1);
  if (!member || !active || !x->expo) return TB_ERROR_MEMORY;
  tbResult result = TB_OK;
  for (int i = 0; result == TB_OK && i < cs->count; i++) {
    if (!y->context.spring[i] || cs->list[i].island < 0 || cs->list[i].nnz == 0) continue;
    active[i] = tb_deriv_activate(x, &cs->list[i]);
    result = active[i] ? tb_deriv_rows(x, y->d, &cs->list[i], active[i]) : TB_ERROR_MEMORY;
  }
  if (result == TB_OK) result = tb_deriv_responses(x);
  tbActiveRows** of_island = tb_arena_alloc(&x->arena, sizeof(void*) * (size_t)(cs->count + 1));
  if (!of_island) return TB_ERROR_MEMORY;
  for (int island = 0; result == TB_OK && island < most; island++) {
    int count = 0, acts = 0;
    for (int i = 0; i < cs->count; i++) {
      if (cs->list[i].island != island) continue;
      of_island[count] = active[i];
      member[count++] = i;
      acts |= active[i] != NULL;
    }
    if (acts) result = tb_expo_island_changes(y, member, count, of_island, &x->expo[x->nexpo++]);
  }
  return result;
}

// - K h v/2, the mean of springs and servos over the step, whose directions are constant.
static void spring_partials(const tbDerivatives* x, const tbData* d, tbPartials* partials) {
  const tbModel* m = x->m;
  for (int i = 0; i < tb_stiffness_count(m); i++) {
    tbStiffness s;
    if (!tb_stiffness_get(m, d, i, &s)) continue;
    for (int r = 0; r < s.n; r++) {
      for (int c = 0; c < s.n; c++) {
        *tb_partial(partials, s.col[r], m->nv + s.col[c]) -= 0.5 * x->h * s.k * s.x[r] * s.x[c];
      }
    }
  }
}

// Partials of the smooth forces minus H acc.
static tbResult smooth_partials(tbDerivatives* x, tbData* d, const tbReal* acc, tbReal* force) {
  tbPartials partials = {force, x->ncol};
  tbResult result = tb_deriv_inertia(x, d, acc, &partials);
  if (result == TB_OK) result = tb_deriv_smooth(x, d, acc, TB_IMPLICIT_ALL, &partials);
  if (result == TB_OK) spring_partials(x, d, &partials);
  return result;
}

// Implicit damping whose dependence on the state has no analytic derivative.
static int has_changing_damping(const tbModel* m) {
  for (int i = 0; i < m->nu; i++) {
    int gain = m->actuator_gaintype[i];
    if (gain != TB_GAIN_FIXED && gain != TB_GAIN_AFFINE) return 1;
  }
  for (int t = 0; t < m->ntendon; t++) {
    int spatial = m->tendon_num[t] > 0 && m->wrap_type[m->tendon_adr[t]] != TB_WRAP_JOINT;
    if (spatial && (m->tendon_damping[t] != 0 || m->tendon_armature[t] != 0)) return 1;
  }
  return tb_deriv_input_damps(m) && !tb_deriv_is_plain(m);
}

// Inputs of the replayed step: springs by constraint, qacc_free and its partials.
static tbResult prepare(tbExpoReplay* y, const tbInertiaFactor* factor) {
  tbDerivatives* x = y->x;
  const tbModel* m = x->m;
  size_t nv = (size_t)m->nv;
  const tbSpring** spring = TB_ARENA_NEW(&x->arena, const tbSpring*, y->state->constraints.count);
  tbReal* qacc_free = tb_arena_alloc(&x->arena, sizeof(tbReal) * (nv + 1));
  tbReal* free = TB_ARENA_NEW(&x->arena, tbReal, nv * (size_t)x->ncol + 1);
  tbReal* rigid = TB_ARENA_NEW(&x->arena, tbReal, nv * nv + 1);
  if (!spring || !qacc_free || !free || !rigid) return TB_ERROR_MEMORY;
  for (int i = 0; i < tb_viscoelastic_state(y->state)->springs.count; i++) {
    spring[tb_viscoelastic_state(y->state)->springs.list[i].constraint] =
        &tb_viscoelastic_state(y->state)->springs.list[i];
  }
  tbForest forest = tb_forest(m);
  memcpy(qacc_free, y->d->qfrc_smooth, sizeof(tbReal) * nv);
  tb_stiffness_mean(m, y->d, qacc_free);
  tb_ltdl_solve(forest, factor->LD, factor->inverse, qacc_free);
  tbResult result = smooth_partials(x, y->d, qacc_free, free);
  if (result != TB_OK) return result;
  tb_ltdl_solve_multi(forest, factor->LD, factor->inverse, free, x->ncol, x->ncol);
  tb_rne_partials(m, y->d, NULL, NULL, rigid, NULL);
  y->context = (tbExpoContext){
      .m = m, .d = y->d, .cs = &y->state->constraints, .spring = spring, .qacc_free = qacc_free};
  y->free = free;
  y->rigid = rigid;
  return tb_deriv_drift_prepare(x, y->d);
}

// Partials of the forces of one acceleration, with those of J^T f; for the position f is in sigma.
static tbResult acceleration_partials(tbDerivatives* x, tbData* d, const tbReal* acc, int second,
                                      tbReal* force) {
  tbResult result = smooth_partials(x, d, acc, force);
  tbPartials partials = {force, x->ncol};
  for (int b = 0; result == TB_OK && b < x->nactive; b++) {
    tbActiveRows a = x->active[b];
    if (second) memcpy(a.force, a.sigma, sizeof a.force);
    tb_active_force(&a, &partials);
  }
  return result;
}

tbResult tb_expo_linearize(tbDerivatives* x, const tbStep* step,
                           const tbDerivativeSettings* settings) {
  tbData* d = step->d;
  tbStepState* state = step->state;
  tbViscoelasticState* own = tb_viscoelastic_state(state);
  const tbModel* m = x->m;
  if (has_changing_damping(m) || tb_stiff_springs_turn(m)) return TB_ERROR_UNSUPPORTED;
  if (own->unresolved) return TB_ERROR_UNSUPPORTED;
  if (!tb_deriv_reserve_sources(x, &state->constraints)) return TB_ERROR_MEMORY;
  tbInertiaFactor factor;
  tbResult result = tb_implicit_factor(m, d, TB_IMPLICIT_SPRINGS, &factor);
  if (result != TB_OK) return result;
  memcpy(x->law.LD, factor.LD, sizeof(tbReal) * (size_t)m->nM);
  memcpy(x->law.inverse, factor.inverse, sizeof(tbReal) * (size_t)m->nv);
  x->c = 0;
  x->explicit_law = 1;
  x->move_share = 0.5;
  tbExpoReplay y = {.x = x, .d = d, .state = state};
  x->input_damps = tb_deriv_input_damps(m);
  y.turns = x->input_damps ? x->ncol : x->nv;
  y.near = settings->mode_tolerance * tb_springs_largest(&own->springs);
  size_t rows = (size_t)state->constraints.nrow * (size_t)x->ncol;
  x->move.force = TB_ARENA_NEW(&x->arena, tbReal, (size_t)m->nv * (size_t)x->ncol + 1);
  x->move.E = TB_ARENA_NEW(&x->arena, tbReal, rows + 1);
  x->move.acc = TB_ARENA_NEW(&x->arena, tbReal, m->nv + 1);
  if (!x->move.force || !x->move.E || !x->move.acc) return TB_ERROR_MEMORY;
  result = prepare(&y, &factor);
  if (result == TB_OK) result = islands_changes(&y);
  if (result != TB_OK) return result;
  for (int b = 0; b < x->nactive; b++) {
    tbActiveRows* a = &x->active[b];
    for (int r = 0; r < a->dim; r++) a->by_force[r * a->dim + r] = 1;
  }
  // v_move = v + h/2 acc: the acceleration of the position.
  for (int i = 0; i < m->nv; i++) {
    x->move.acc[i] = 2 * (state->v_move[i] - d->qvel[i]) / x->h;
  }
  result = acceleration_partials(x, d, d->qacc, 0, x->law.force);
  return result == TB_OK ? acceleration_partials(x, d, x->move.acc, 1, x->move.force) : result;
}
