// The complementarity-free law: predict without contacts, compute impulses from the violation of
// the dual cone, correct the velocity (CF eq. 2, 8, 9). See docs/manual/comfree.md.
#include "dynamics/mass.h"
#include "laws/comfree/comfree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "base/kernel.h"
#include "base/timer.h"
#include "linalg/ltdl.h"
#include "model/workspace.h"
#include "laws/certificate.h"
#include "laws/comfree/cone.h"
#include "laws/comfree/equality.h"
#include "laws/impedance.h"
#include "forces/implicit_inertia.h"

typedef struct {
  const tbModel* m;
  const tbData* d;
  const tbConstraints* cs;
  tbInertiaFactor factor;
  tbFacets facets;
  tbReal* half;                     // scratch: D^-1/2 L^-T J^T of one constraint
  tbFacetGain* gain;                // by row of a constraint; a contact has one, at its first row
  tbReal* velocity;                 // predicted, by row
  tbReal* lambda;                   // impulses, by row
  tbReal* change;                   // of the row velocity, by row
  tbReal* power[3];                 // vectors of the power method, by row
  tbReal* overshoot;                // by island
  tbReal* trial[2];                 // scratch by dof
  tbReal* v_free;                   // predicted velocity
  tbPresolvedEqualities presolved;  // the equalities
  tbReal* drawn[3];                 // equality impulses: of the prediction, of the correction, of a
                                    // trial
  tbArena* arena;
} Context;

// ---- gains -------------------------------------------------------------------------------------

// k_user and d_user of a contact: the values of its explicit pair if that has them.
static void user_gains(const tbOption* opt, const tbReal own[2], tbReal* k, tbReal* d) {
  *k = own && own[0] >= 0 ? own[0] : opt->comfree_stiffness;
  *d = own && own[1] >= 0 ? own[1] : opt->comfree_damping;
}

// Impedance heuristic (CF eq. 11-13): M = r / (1 - r) / trace, K dt = k M, D dt = d M. The trace is
// that of the normal row, estimated by MuJoCo's inverse weights of the two bodies.
static tbFacetGain heuristic_gain(const Context* x, const tbContact* contact, tbReal mean,
                                  tbReal gap) {
  const tbOption* opt = &x->m->opt;
  tbReal imp[TB_NIMP], k, d;
  memcpy(imp, contact->solimp, sizeof imp);
  tb_impedance_check(imp);
  user_gains(opt, contact->comfree, &k, &d);
  tbReal r = tb_impedance(imp, gap);
  // n facets share the load of four; a frictionless contact carries it alone.
  tbReal share = contact->dim == 1 ? 4 : 4.0 / x->facets.n;
  tbReal M = share * r / (1 - r) / tb_max(mean, TB_TINY);
  tbReal h = opt->timestep, most = share / tb_max(4 * mean, TB_TINY);
  return (tbFacetGain){k * M, (k * h + d) * M, most, opt->correction_speed, h};
}

// The exact diagonal (CF eq. 10): K dt^2 + D dt = 1 / A, where A = J M^-1 J^T of the row. k_user
// and d_user determine how this sum divides into spring and damper.
static tbFacetGain exact_gain(const Context* x, const tbReal own[2], tbReal A) {
  const tbOption* opt = &x->m->opt;
  tbReal k, d, P = 1 / tb_max(A, TB_TINY), h = opt->timestep;
  user_gains(opt, own, &k, &d);
  tbReal spring = k * h + d > 0 ? k * h / (k * h + d) : 0;
  return (tbFacetGain){P * spring / h, P, P, opt->correction_speed, h};
}

// J M^-1 J^T of one constraint, dim x dim.
static void own_block(const Context* x, const tbConstraint* c, tbReal* G) {
  const tbModel* m = x->m;
  tbForest forest = tb_forest(m);
  memcpy(x->half, c->J, sizeof(tbReal) * (size_t)(c->dim * c->nnz));
  tb_ltdl_half_solve_support(forest, x->factor.LD, x->factor.inverse, c->col, c->nnz, x->half,
                             c->nnz, c->dim);
  for (int r = 0; r < c->dim; r++) {
    for (int s = 0; s <= r; s++) {
      const tbReal *a = x->half + r * c->nnz, *b = x->half + s * c->nnz;
      tbReal sum = 0;
      for (int k = 0; k < c->nnz; k++) sum += a[k] * b[k];
      G[r * c->dim + s] = G[s * c->dim + r] = sum;
    }
  }
}

// The largest J M^-1 J^T of a cone's facets over rows first, first + 1 of a contact.
static tbReal largest_facet(const tbFacets* facets, const tbReal* mu, const tbReal* G, int dim,
                            int first) {
  tbReal largest = 0;
  const tbReal *a = G + first * dim, *b = a + dim;
  for (int j = 0; j < facets->n; j++) {
    tbReal u = -mu[first - 1] * facets->cosine[j], v = -mu[first] * facets->sine[j];
    tbReal A = G[0] + 2 * (u * a[0] + v * b[0]) + u * u * a[first] + 2 * u * v * a[first + 1] +
               v * v * b[first + 1];
    largest = tb_max(largest, A);
  }
  return largest;
}

static tbReal contact_diagonal(const Context* x, const tbConstraint* c, const tbReal* mu) {
  tbReal G[36];
  own_block(x, c, G);
  if (c->dim == 1) return G[0];
  tbReal A = largest_facet(&x->facets, mu, G, c->dim, 1);
  if (c->dim > 3) {
    const tbReal* torsion = G + 3 * c->dim;
    A = tb_max(A, G[0] + 2 * mu[2] * fabs(torsion[0]) + mu[2] * mu[2] * torsion[3]);
  }
  if (c->dim > 4) A = tb_max(A, largest_facet(&x->facets, mu, G, c->dim, 4));
  return A;
}

// ---- impulses ----------------------------------------------------------------------------------

// out = J v, with a single pass for three rows, the usual contact.
static void rows_of(const tbConstraint* c, const tbReal* v, tbReal* out) {
  int n = c->nnz;
  const tbReal* J = c->J;
  if (c->dim == 3) {
    tbReal sum[3] = {0, 0, 0};
    for (int k = 0; k < n; k++) {
      tbReal x = v[c->col[k]];
      sum[0] += J[k] * x;
      sum[1] += J[n + k] * x;
      sum[2] += J[2 * n + k] * x;
    }
    for (int r = 0; r < 3; r++) out[r] = sum[r];
    return;
  }
  for (int r = 0; r < c->dim; r++, J += n) {
    tbReal sum = 0;
    for (int k = 0; k < n; k++) sum += J[k] * v[c->col[k]];
    out[r] = sum;
  }
}

// out += J^T y.
static void add_columns(const tbConstraint* c, const tbReal* y, tbReal* out) {
  int n = c->nnz;
  const tbReal* J = c->J;
  if (c->dim == 3) {
    if (y[0] == 0 && y[1] == 0 && y[2] == 0) return;
    for (int k = 0; k < n; k++) {
      out[c->col[k]] += y[0] * J[k] + y[1] * J[n + k] + y[2] * J[2 * n + k];
    }
    return;
  }
  for (int r = 0; r < c->dim; r++, J += n) {
    for (int k = 0; k < n; k++) out[c->col[k]] += y[r] * J[k];
  }
}

static bool contact_gain(const Context* x, const tbConstraint* c) {
  const tbContact* contact = &x->d->contact[c->id];
  if (x->m->opt.comfree_exact) {
    // The facets of a cone share the load.
    tbReal A = contact_diagonal(x, c, contact->friction);
    x->gain[c->row] = exact_gain(x, contact->comfree, c->dim == 1 ? A : x->facets.n * A);
    return true;
  }
  tbReal mean;
  if (!tb_push_weight(x->m, x->d, x->factor, x->arena, c, &mean)) return false;
  x->gain[c->row] = heuristic_gain(x, contact, mean, c->pos[0] - c->margin);
  x->gain[c->row].speed = tb_correction_cap(x->m, x->d, c, c->margin - c->pos[0]);
  return true;
}

// J M^-1 J^T of rows that are not contacts. No joint changes the length of a nearly straight
// string, so its impulse could grow without bound: a hundredth of the bodies' inverse inertias
// bounds the diagonal from below.
static bool plain_diagonal(const Context* x, const tbConstraint* c, tbReal* diagonal) {
  tbReal G[36], weight = 0;
  own_block(x, c, G);
  if (c->source == TB_SOURCE_LIMIT_TENDON &&
      !tb_push_weight(x->m, x->d, x->factor, x->arena, c, &weight)) {
    return false;
  }
  for (int r = 0; r < c->dim; r++) diagonal[r] = G[r * c->dim + r] + 0.01 * weight;
  return true;
}

static bool plain_gain(const Context* x, const tbConstraint* c, tbFacetGain* gain,
                       tbReal* diagonal) {
  if (!plain_diagonal(x, c, diagonal)) return false;
  for (int r = 0; r < c->dim; r++) gain[r] = exact_gain(x, NULL, diagonal[r]);
  return true;
}

static int is_limit(const tbConstraint* c) {
  return c->source == TB_SOURCE_LIMIT_JOINT || c->source == TB_SOURCE_LIMIT_TENDON;
}

// The closed form for rows that are not contacts; dry friction is clamped to its bounds and has no
// spring.
static void plain_impulse(const Context* x, const tbConstraint* c, tbReal* impulse) {
  for (int r = 0; r < c->dim; r++) {
    tbReal s = x->velocity[c->row + r];
    const tbFacetGain* gain = &x->gain[c->row + r];
    if (is_limit(c)) {
      impulse[r] = tb_facet_impulse(gain, s, c->pos[r] - c->margin);
    } else {
      tbReal bound = c->bound * gain->dt;
      impulse[r] = tb_max(-bound, tb_min(bound, -gain->slope * s));
    }
  }
}

// CF eq. 8 for one constraint alone.
static void constraint_impulse(const Context* x, const tbConstraint* c) {
  tbReal* lambda = x->lambda + c->row;
  if (c->source == TB_SOURCE_CONTACT) {
    tb_comfree_contact(&x->facets, &x->gain[c->row], c->dim, x->d->contact[c->id].friction,
                       c->pos[0] - c->margin, x->velocity + c->row, lambda);
  } else {
    plain_impulse(x, c, lambda);
  }
}

// Predicted velocities, gains and impulses of all constraints except equalities, which the
// prediction already satisfies.
static tbResult all_impulses(const Context* x, const tbReal* v_free) {
  for (int i = 0; i < x->cs->count; i++) {
    const tbConstraint* c = &x->cs->list[i];
    rows_of(c, v_free, x->velocity + c->row);
    if (c->source == TB_SOURCE_EQUALITY) {
      for (int r = 0; r < c->dim; r++) x->lambda[c->row + r] = 0;
      continue;
    }
    tbReal diagonal[TB_MAX_BLOCK_DIM];
    bool done = c->source == TB_SOURCE_CONTACT ? contact_gain(x, c)
                                               : plain_gain(x, c, &x->gain[c->row], diagonal);
    if (!done) return TB_ERROR_MEMORY;
    constraint_impulse(x, c);
  }
  return TB_OK;
}

// ---- overshoot ---------------------------------------------------------------------------------

// The decrease of a constraint's impulse when its velocity changes by w.
static void response(const Context* x, const tbConstraint* c, const tbReal* w, tbReal* out) {
  const tbReal *s = x->velocity + c->row, *impulse = x->lambda + c->row;
  const tbFacetGain* gain = &x->gain[c->row];
  if (c->source == TB_SOURCE_CONTACT) {
    tb_comfree_response(&x->facets, gain, c->dim, x->d->contact[c->id].friction,
                        c->pos[0] - c->margin, s, w, out);
    return;
  }
  for (int r = 0; r < c->dim; r++) {
    tbReal slope = c->source == TB_SOURCE_EQUALITY ? 0 : gain[r].slope;
    if (is_limit(c)) slope = tb_facet_slope(&gain[r], s[r], c->pos[r] - c->margin);
    if (c->bound > 0 && fabs(impulse[r]) >= c->bound * gain->dt) slope = 0;
    out[r] = slope * w[r];
  }
}

// One iteration of the power method on M^-1 J^T P J, P being the facets' slopes: from u = M^-1 J^T
// y to y <- P J u; J u goes to `change`. Returns the Rayleigh quotient (J u)^T P (J u) / (u^T M u)
// of the island.
static tbReal power_iteration(const Context* x, const tbIsland* island, const tbReal* u,
                              const tbReal* y, tbReal* next, tbReal* change) {
  tbReal bend = 0, work = 0;
  for (int i = 0; i < island->nmember; i++) {
    const tbConstraint* c = &x->cs->list[island->member[i]];
    tbReal* w = change + c->row;
    rows_of(c, u, w);
    for (int r = 0; r < c->dim; r++) work += y[c->row + r] * w[r];
    response(x, c, w, next + c->row);
    for (int r = 0; r < c->dim; r++) bend += next[c->row + r] * w[r];
  }
  return work > 0 ? bend / work : 0;
}

// u = H^-1 J^T y over all rows, corrected by the equalities (`drawn`: their impulses); J^T y goes
// to `force`.
static void velocity_change(const Context* x, const tbReal* y, tbReal* force, tbReal* u,
                            tbReal* drawn) {
  const tbModel* m = x->m;
  size_t bytes = sizeof(tbReal) * (size_t)m->nv;
  memset(force, 0, bytes);
  for (int i = 0; i < x->cs->count; i++) {
    const tbConstraint* c = &x->cs->list[i];
    add_columns(c, y + c->row, force);
  }
  memcpy(u, force, bytes);
  tb_ltdl_solve(tb_forest(m), x->factor.LD, x->factor.inverse, u);
  for (int r = 0; r < x->presolved.n; r++) drawn[r] = 0;
  tb_presolved_correct(&x->presolved, NULL, u, drawn);
}

// Reduce damping first, and springs only where they alone would overshoot.
static void soften(const Context* x, const tbIsland* island, tbReal length) {
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &x->cs->list[island->member[k]];
    if (c->source == TB_SOURCE_EQUALITY) continue;
    for (int r = 0; r < (c->source == TB_SOURCE_CONTACT ? 1 : c->dim); r++) {
      tbFacetGain* gain = &x->gain[c->row + r];
      gain->slope *= length;
      gain->most *= length;
      gain->stiff = tb_min(gain->stiff, gain->slope / gain->dt);
    }
  }
}

// Every impulse is computed as if it were alone. Together the impulses change the velocity by u =
// M^-1 J^T lambda, which reduces them by the factor rho, an eigenvalue of M^-1 J^T P J: where rho
// is above one they overshoot. Such islands are softened by 1/rho and computed again. Sets
// x->change = J u of the first iteration. Returns 1 if an island was softened.
static int prevent_overshoot(const Context* x, const tbIslands* islands, const tbReal* u) {
  const tbReal near = 0.4;  // below, a second iteration could not find an eigenvalue above one
  int any = 0, again = 0;
  for (int i = 0; i < islands->count; i++) {
    x->overshoot[i] = power_iteration(x, &islands->island[i], u, x->lambda, x->power[0], x->change);
    again |= x->overshoot[i] > near;
  }
  if (!again) return 0;
  velocity_change(x, x->power[0], x->trial[0], x->trial[1], x->drawn[2]);
  for (int i = 0; i < islands->count; i++) {
    const tbIsland* island = &islands->island[i];
    tbReal rho = power_iteration(x, island, x->trial[1], x->power[0], x->power[1], x->power[2]);
    rho = tb_max(rho, x->overshoot[i]);
    if (rho <= 1) continue;
    soften(x, island, 1 / rho);
    for (int k = 0; k < island->nmember; k++) {
      const tbConstraint* c = &x->cs->list[island->member[k]];
      if (c->source != TB_SOURCE_EQUALITY) constraint_impulse(x, c);
    }
    any = 1;
  }
  return any;
}

// ---- the law -----------------------------------------------------------------------------------

static tbResult prepare(Context* x, tbData* d) {
  const tbModel* m = x->m;
  if (!tb_facets_init(&x->facets, m->opt.comfree_facets)) {
    snprintf(d->message, sizeof d->message,
             "comfree_facets is %d: expected an even number, %d...%d", m->opt.comfree_facets,
             TB_LEAST_FACETS, TB_MOST_FACETS);
    return TB_ERROR_ARGUMENT;
  }
  if (!(m->opt.comfree_stiffness >= 0 && m->opt.comfree_damping >= 0 &&
        m->opt.correction_speed >= 0)) {
    snprintf(
        d->message, sizeof d->message,
        "comfree_stiffness %g, comfree_damping %g and correction_speed %g must not be negative",
        m->opt.comfree_stiffness, m->opt.comfree_damping, m->opt.correction_speed);
    return TB_ERROR_ARGUMENT;
  }
  tbArena* arena = &d->work->arena;
  size_t nrow = (size_t)x->cs->nrow, nv = (size_t)m->nv;
  tbReal* rows = tb_arena_alloc(arena, sizeof(tbReal) * (7 * nrow + 9 * nv + 6));
  x->gain = tb_arena_alloc(arena, sizeof(tbFacetGain) * (nrow + 1));
  if (!rows || !x->gain) return TB_ERROR_MEMORY;
  x->velocity = rows;
  x->lambda = rows + nrow;
  x->change = rows + 2 * nrow;
  for (int i = 0; i < 3; i++) x->power[i] = rows + (3 + (size_t)i) * nrow;
  // Rows without an island keep zeros.
  memset(x->change, 0, sizeof(tbReal) * 2 * nrow);
  x->overshoot = rows + 6 * nrow;
  x->half = rows + 7 * nrow;
  for (int i = 0; i < 2; i++) x->trial[i] = x->half + 6 * (nv + 1) + (size_t)i * nv;
  x->v_free = x->trial[1] + nv;
  return TB_OK;
}

// x->change = J u.
static void change_rows(const Context* x, const tbReal* u) {
  for (int i = 0; i < x->cs->count; i++) {
    const tbConstraint* c = &x->cs->list[i];
    rows_of(c, u, x->change + c->row);
  }
}

// Impulses lambda at predicted velocities s add the energy lambda.s + lambda.(J u)/2. No facet
// pushes beyond its fastest correction, so the energy is at most that speed times the impulse.
// Where two iterations of the power method have missed an overshoot the energy is larger, and the
// island is scaled down to this bound. Returns 1 if an island was scaled.
static int bound_energy(const Context* x, const tbIslands* islands) {
  int any = 0;
  for (int i = 0; i < islands->count; i++) {
    const tbIsland* island = &islands->island[i];
    tbReal first = 0, second = 0, most = 0;
    for (int k = 0; k < island->nmember; k++) {
      const tbConstraint* c = &x->cs->list[island->member[k]];
      if (c->source == TB_SOURCE_EQUALITY) continue;
      for (int r = 0; r < c->dim; r++) {
        first += x->lambda[c->row + r] * x->velocity[c->row + r];
        second += x->lambda[c->row + r] * x->change[c->row + r];
      }
      if (c->bound == 0) most += x->lambda[c->row] * x->gain[c->row].speed;
    }
    tbReal share = 2 * (most - first) / tb_max(second, TB_TINY);
    if (!(second > 0) || share >= 1) continue;
    for (int k = 0; k < island->nmember; k++) {
      const tbConstraint* c = &x->cs->list[island->member[k]];
      for (int r = 0; r < c->dim; r++) x->lambda[c->row + r] *= tb_max(0, share);
    }
    any = 1;
  }
  return any;
}

// CF eq. 8-9: impulses of every constraint alone and the velocity change u that they cause;
// computed again where they would overshoot. `force` gets J^T lambda. Returns 1 if an island was
// softened.
static int solve(const Context* x, const tbIslands* islands, tbReal* force, tbReal* u) {
  velocity_change(x, x->lambda, force, u, x->drawn[1]);
  int softened = prevent_overshoot(x, islands, u);
  if (softened) {
    velocity_change(x, x->lambda, force, u, x->drawn[1]);
    change_rows(x, u);
  }
  if (!bound_energy(x, islands)) return softened;
  velocity_change(x, x->lambda, force, u, x->drawn[1]);
  change_rows(x, u);
  return 1;
}

// The residual of the answer under the exact law.
static tbResult evaluate_residual(const Context* x, tbData* d, tbIslands* islands) {
  tbReal *sigma = x->power[0], noise = tb_velocity_rounding(x->m->nv, x->v_free);
  tbResult result = tb_assemble_evaluated(x->m, d, x->cs, x->velocity, islands);
  if (result != TB_OK) return result;
  d->solve.residual_exact = (tbResidual){0};
  for (int i = 0; i < islands->count; i++) {
    const tbIsland* island = &islands->island[i];
    for (int k = 0, row = 0; k < island->nmember; k++) {
      const tbConstraint* c = &x->cs->list[island->member[k]];
      for (int r = 0; r < c->dim; r++, row++) {
        island->lambda[row] = x->lambda[c->row + r];
        sigma[row] = island->g[row] + x->change[c->row + r] + island->R[row] * island->lambda[row];
      }
    }
    tb_certificate_exact(island, noise, sigma, &d->solve);
  }
  return TB_OK;
}

// Forces by row and by contact. Rows without movable dofs keep zero.
static void store_forces(const Context* x, tbData* d, tbReal* row_force) {
  for (int i = 0; i < x->cs->count; i++) {
    const tbConstraint* c = &x->cs->list[i];
    if (c->island < 0) continue;
    for (int r = 0; r < c->dim; r++) {
      tbReal force = x->lambda[c->row + r] / x->m->opt.timestep;
      row_force[c->row + r] = force;
      if (c->source == TB_SOURCE_CONTACT) d->contact[c->id].force[r] = force;
    }
  }
}

// The prediction satisfies the equalities: it is without contacts, but keeps the mechanism
// together.
static tbResult hold_equalities(Context* x, tbData* d) {
  tbArena* arena = &d->work->arena;
  tbResult result = tb_presolved_build(x->m, arena, x->cs, x->factor, &x->presolved);
  if (result != TB_OK || x->presolved.n == 0) return result;
  size_t n = (size_t)x->presolved.n;
  tbReal* rows = TB_ARENA_NEW(arena, tbReal, 4 * n);
  if (!rows) return TB_ERROR_MEMORY;
  for (int i = 0; i < 3; i++) x->drawn[i] = rows + (size_t)i * n;
  tb_presolved_bias(x->m, d, &x->presolved, rows + 3 * n);
  tb_presolved_correct(&x->presolved, rows + 3 * n, x->v_free, x->drawn[0]);
  return TB_OK;
}

tbResult tb_comfree_velocity(const tbStep* step, tbReal* v_next) {
  const tbModel* m = step->m;
  tbData* d = step->d;
  tbStepState* state = step->state;
  const tbConstraints* cs = &state->constraints;
  tbForest forest = tb_forest(m);
  tbReal h = m->opt.timestep, start = tb_seconds();
  Context x = {.m = m, .d = d, .cs = cs, .arena = &d->work->arena};
  tbResult result = prepare(&x, d);

  // Prediction: v_f = v + h H^-1 (tau - b), CF eq. 2.
  if (result != TB_OK) return result;
  x.factor = state->factor;
  memcpy(x.v_free, d->qfrc_smooth, sizeof(tbReal) * (size_t)m->nv);
  tb_ltdl_solve(forest, x.factor.LD, x.factor.inverse, x.v_free);
  memcpy(d->qacc_smooth, x.v_free, sizeof(tbReal) * (size_t)m->nv);
  for (int i = 0; i < m->nv; i++) x.v_free[i] = d->qvel[i] + h * x.v_free[i];
  result = hold_equalities(&x, d);
  if (result != TB_OK) return result;
  tbReal dynamics_end = tb_seconds();
  d->seconds.dynamics += dynamics_end - start;

  // Impulses and correction, by island.
  tbIslands islands;
  result = all_impulses(&x, x.v_free);
  if (result == TB_OK) result = tb_assemble_groups(m, d, &state->constraints, &islands);
  if (result != TB_OK) return result;
  tbComfreeState* own = state->law[TB_LAW_COMFREE].state;
  own->softened = solve(&x, &islands, d->qfrc_constraint, v_next);
  for (int r = 0; r < x.presolved.n; r++) x.drawn[0][r] += x.drawn[1][r];
  tb_presolved_store(&x.presolved, x.drawn[0], x.lambda, d->qfrc_constraint);
  for (int i = 0; i < m->nv; i++) {
    v_next[i] += x.v_free[i];
    d->qfrc_constraint[i] /= h;
    d->qacc[i] = (v_next[i] - d->qvel[i]) / h;
  }
  d->solve = (tbSolveInfo){.law = "comfree", .solver = "closed form", .iterations = 1};
  tb_certificate_unknown(&d->solve);
  if (!step->purpose.state_only) result = evaluate_residual(&x, d, &islands);
  store_forces(&x, d, state->row_force);
  d->solve.seconds = tb_seconds() - dynamics_end;
  d->seconds.solve += d->solve.seconds;
  return result;
}

tbResult tb_comfree_gains(const tbModel* m, const tbData* d, const tbConstraint* c,
                          tbInertiaFactor factor, tbFacetGain* gain, tbReal* diagonal,
                          tbArena* arena) {
  Context x = {.m = m, .d = d, .factor = factor, .arena = arena};
  if (!tb_facets_init(&x.facets, m->opt.comfree_facets)) return TB_ERROR_ARGUMENT;
  if (c->source == TB_SOURCE_CONTACT && !m->opt.comfree_exact) {
    tbReal mean;
    if (!tb_push_weight(m, d, factor, arena, c, &mean)) return TB_ERROR_MEMORY;
    gain[0] = heuristic_gain(&x, &d->contact[c->id], mean, c->pos[0] - c->margin);
    gain[0].speed = tb_correction_cap(m, d, c, c->margin - c->pos[0]);
    return TB_OK;
  }
  x.half = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(c->dim * c->nnz + 1));
  if (!x.half) return TB_ERROR_MEMORY;
  if (c->source == TB_SOURCE_CONTACT) {
    const tbContact* contact = &d->contact[c->id];
    diagonal[0] = contact_diagonal(&x, c, contact->friction);
    gain[0] =
        exact_gain(&x, contact->comfree, c->dim == 1 ? diagonal[0] : x.facets.n * diagonal[0]);
    return TB_OK;
  }
  return plain_gain(&x, c, gain, diagonal) ? TB_OK : TB_ERROR_MEMORY;
}
