// The complementarity-free law: predict without contacts, push back what violates the dual cone,
// correct the velocity (CF eq. 2, 8, 9). See docs/comfree.md.
#include "step/comfree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/kernel.h"
#include "base/timer.h"
#include "linalg/ltdl.h"
#include "model/workspace.h"
#include "step/certificate.h"
#include "step/comfree_cone.h"
#include "step/impedance.h"
#include "step/implicit.h"

typedef struct {
  const tbModel* m;
  const tbData* d;
  const tbConstraints* cs;
  tbInertiaFactor factor;
  tbFacets facets;
  const int* tree_rows;  // rows, facets included, that share a tree's inertia
  tbReal* half;          // scratch: D^-1/2 L^-T J^T of one constraint
} Context;

// ---- gains -------------------------------------------------------------------------------------

// k_user and d_user of a contact: the pair's own where it has them.
static void user_gains(const tbOption* opt, const tbReal own[2], tbReal* k, tbReal* d) {
  *k = own && own[0] >= 0 ? own[0] : opt->comfree_stiffness;
  *d = own && own[1] >= 0 ? own[1] : opt->comfree_damping;
}

// Impedance heuristic (CF eq. 11-13): M = r / (1 - r) / trace, K dt = k M, D dt = d M. The trace of
// the two bodies' inverse inertia at the contact is estimated by its value at qpos0.
static tbFacetGain heuristic_gain(const Context* x, const tbContact* contact, tbReal gap) {
  const tbModel* m = x->m;
  const tbOption* opt = &m->opt;
  tbReal imp[TB_NIMP], k, d;
  memcpy(imp, contact->solimp, sizeof imp);
  tb_impedance_check(imp);
  user_gains(opt, contact->comfree, &k, &d);
  tbReal mean = m->body_invweight0[2 * m->geom_bodyid[contact->geom[0]]] +
                m->body_invweight0[2 * m->geom_bodyid[contact->geom[1]]];
  tbReal r = tb_impedance(imp, gap);
  // More facets share the load of four, a frictionless contact carries it alone.
  tbReal share = contact->dim == 1 ? 4 : 4.0 / x->facets.n;
  tbReal M = share * r / (1 - r) / fmax(3 * mean, TB_TINY);
  return (tbFacetGain){k * M, d * M, share / fmax(4 * mean, TB_TINY), opt->correction_speed,
                       opt->timestep};
}

// The exact diagonal (CF eq. 10): K dt^2 + D dt = 1 / (n A), where A = J M^-1 J^T of the row and n
// counts the rows that act on the same tree. Since J M^-1 J^T <= n diag(J M^-1 J^T), the correction
// never overshoots. k_user and d_user set how it divides into spring and damper.
static tbFacetGain exact_gain(const Context* x, const tbReal own[2], tbReal A, int n) {
  const tbOption* opt = &x->m->opt;
  tbReal k, d, P = 1 / fmax(n * A, TB_TINY), h = opt->timestep;
  user_gains(opt, own, &k, &d);
  tbReal spring = k * h + d > 0 ? k * h / (k * h + d) : 0;
  return (tbFacetGain){P * spring / h, P * (1 - spring), P, opt->correction_speed, h};
}

// J M^-1 J^T of one constraint, dim x dim.
static void own_block(const Context* x, const tbConstraint* c, tbReal* G) {
  const tbModel* m = x->m;
  tbForest forest = {m->nv, m->M_rowadr, m->M_rownnz, m->M_colind};
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

// Rows that share the inertia of the busiest tree of a constraint.
static int rows_nearby(const Context* x, const tbConstraint* c) {
  int most = 1;
  for (int k = 0; k < c->nnz; k++) {
    int rows = x->tree_rows[x->m->dof_treeid[c->col[k]]];
    if (rows > most) most = rows;
  }
  return most;
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
    largest = fmax(largest, A);
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
    A = fmax(A, G[0] + 2 * mu[2] * fabs(torsion[0]) + mu[2] * mu[2] * torsion[3]);
  }
  if (c->dim > 4) A = fmax(A, largest_facet(&x->facets, mu, G, c->dim, 4));
  return A;
}

// ---- impulses ----------------------------------------------------------------------------------

static void constraint_velocity(const tbConstraint* c, const tbReal* v, tbReal* out) {
  for (int r = 0; r < c->dim; r++) {
    const tbReal* J = c->J + (size_t)r * (size_t)c->nnz;
    tbReal sum = 0;
    for (int k = 0; k < c->nnz; k++) sum += J[k] * v[c->col[k]];
    out[r] = sum;
  }
}

static void contact_impulse(const Context* x, const tbConstraint* c, const tbReal* s,
                            tbReal* impulse) {
  const tbContact* contact = &x->d->contact[c->id];
  tbReal gap = c->pos[0] - c->margin;
  tbFacetGain gain = x->m->opt.comfree_exact
                         ? exact_gain(x, contact->comfree,
                                      contact_diagonal(x, c, contact->friction), rows_nearby(x, c))
                         : heuristic_gain(x, contact, gap);
  tb_comfree_contact(&x->facets, &gain, c->dim, contact->friction, gap, s, impulse);
}

// The same closed form for rows that are not contacts, each with the exact diagonal: without the
// positive part for an equality, between bounds and without a spring for dry friction.
static void plain_impulse(const Context* x, const tbConstraint* c, const tbReal* s,
                          tbReal* impulse) {
  tbReal G[36], h = x->m->opt.timestep;
  own_block(x, c, G);
  int n = rows_nearby(x, c);
  for (int r = 0; r < c->dim; r++) {
    tbFacetGain gain = exact_gain(x, NULL, G[r * c->dim + r], n);
    if (c->source == TB_SOURCE_LIMIT_JOINT || c->source == TB_SOURCE_LIMIT_TENDON) {
      impulse[r] = tb_facet_impulse(&gain, s[r], c->pos[r] - c->margin);
    } else if (c->source == TB_SOURCE_EQUALITY) {
      // The position's part asks for no more than the fastest correction.
      tbReal pull = fmin(gain.stiff * fabs(c->pos[r]), gain.most * gain.speed);
      impulse[r] = -(gain.stiff * h + gain.damp) * s[r] - copysign(pull, c->pos[r]);
    } else {
      tbReal bound = c->bound * h, wanted = -gain.most * s[r];
      impulse[r] = fmax(-bound, fmin(bound, wanted));
    }
  }
}

// CF eq. 8 for every constraint by itself.
static void all_impulses(const Context* x, const tbIsland* island, const tbReal* v_free) {
  tbReal* lambda = island->lambda;
  for (int i = 0; i < island->nmember; i++) {
    const tbConstraint* c = &x->cs->list[island->member[i]];
    tbReal s[6];
    constraint_velocity(c, v_free, s);
    if (c->source == TB_SOURCE_CONTACT) {
      contact_impulse(x, c, s, lambda);
    } else {
      plain_impulse(x, c, s, lambda);
    }
    lambda += c->dim;
  }
}

// Rows of every tree: facets of contacts count where their gains are exact.
static void count_rows(const Context* x, int* tree_rows) {
  const tbModel* m = x->m;
  for (int t = 0; t < m->ntree; t++) tree_rows[t] = 0;
  for (int i = 0; i < x->cs->count; i++) {
    const tbConstraint* c = &x->cs->list[i];
    int rows = c->dim;
    if (c->source == TB_SOURCE_CONTACT) {
      if (!m->opt.comfree_exact) continue;
      rows = tb_facet_count(x->facets.n, c->dim);
    }
    for (int k = 0, tree = -1; k < c->nnz; k++) {
      if (m->dof_treeid[c->col[k]] == tree) continue;
      tree = m->dof_treeid[c->col[k]];
      tree_rows[tree] += rows;
    }
  }
}

static tbResult prepare(Context* x, tbData* d) {
  const tbModel* m = x->m;
  if (!tb_facets_init(&x->facets, m->opt.comfree_facets)) {
    snprintf(d->message, sizeof d->message,
             "comfree_facets is %d: expected an even number, %d...%d", m->opt.comfree_facets,
             TB_LEAST_FACETS, TB_MOST_FACETS);
    return TB_ERROR_ARGUMENT;
  }
  int* tree_rows = tb_arena_alloc(&d->work->arena, sizeof(int) * (size_t)(m->ntree + 1));
  x->half = tb_arena_alloc(&d->work->arena, sizeof(tbReal) * 6 * (size_t)(m->nv + 1));
  if (!tree_rows || !x->half) return TB_ERROR_MEMORY;
  count_rows(x, tree_rows);
  x->tree_rows = tree_rows;
  return TB_OK;
}

// ---- the law -----------------------------------------------------------------------------------

// All constraints that can move, as one island: nothing couples them here, but forces and the
// certificate are reported by island.
static tbResult one_island(const tbModel* m, tbData* d, const tbConstraints* cs,
                           const tbReal* v_free, tbIslands* out) {
  tbArena* arena = &d->work->arena;
  *out = (tbIslands){0};
  if (cs->count == 0) return TB_OK;
  out->count = 1;
  out->island = TB_ARENA_NEW(arena, tbIsland, 1);
  int* member = tb_arena_alloc(arena, sizeof(int) * (size_t)cs->count);
  if (!out->island || !member) return TB_ERROR_MEMORY;
  out->island[0].member = member;
  for (int i = 0; i < cs->count; i++) {
    if (cs->list[i].nnz > 0) member[out->island[0].nmember++] = i;
  }
  return tb_assemble_terms(m, d, cs, v_free, out);
}

// Damping is implicit as the integrator says: H = M + h D.
static tbImplicit implicit_part(const tbOption* opt) {
  if (opt->integrator == TB_INTEGRATOR_IMPLICITFAST) return TB_IMPLICIT_ALL;
  int explicit = opt->disableflags & (TB_DISABLE_EULERDAMP | TB_DISABLE_DAMPER);
  return explicit ? TB_IMPLICIT_NOTHING : TB_IMPLICIT_DAMPERS;
}

tbResult tb_comfree_velocity(const tbModel* m, tbData* d, tbStepState* state, tbReal* v_next) {
  const tbConstraints* cs = &state->constraints;
  tbForest forest = {m->nv, m->M_rowadr, m->M_rownnz, m->M_colind};
  tbReal h = m->opt.timestep, start = tb_seconds();
  size_t bytes = sizeof(tbReal) * (size_t)m->nv;
  tbReal* v_free = tb_arena_alloc(&d->work->arena, bytes);
  tbReal* impulse = TB_ARENA_NEW(&d->work->arena, tbReal, m->nv);
  Context x = {.m = m, .d = d, .cs = cs};
  if (!v_free || !impulse) return TB_ERROR_MEMORY;
  tbResult result = prepare(&x, d);

  // Prediction: v_f = v + h H^-1 (tau - b), CF eq. 2.
  if (result == TB_OK) result = tb_implicit_factor(m, d, implicit_part(&m->opt), &x.factor);
  if (result != TB_OK) return result;
  memcpy(v_free, d->qfrc_smooth, bytes);
  tb_ltdl_solve(forest, x.factor.LD, x.factor.inverse, v_free);
  for (int i = 0; i < m->nv; i++) v_free[i] = d->qvel[i] + h * v_free[i];
  tbReal dynamics_end = tb_seconds();
  d->seconds.dynamics += dynamics_end - start;

  // Every constraint by itself.
  tbIslands islands;
  result = one_island(m, d, cs, v_free, &islands);
  if (result != TB_OK) return result;
  if (islands.count) all_impulses(&x, &islands.island[0], v_free);
  tb_store_forces(m, d, state, &islands);

  // Correction: v+ = v_f + H^-1 J^T lambda, CF eq. 9.
  tb_gather_impulse(cs, &islands, impulse);
  for (int i = 0; i < m->nv; i++) d->qfrc_constraint[i] = impulse[i] / h;
  tb_ltdl_solve(forest, x.factor.LD, x.factor.inverse, impulse);
  for (int i = 0; i < m->nv; i++) v_next[i] = v_free[i] + impulse[i];
  for (int i = 0; i < m->nv; i++) d->qacc[i] = (v_next[i] - d->qvel[i]) / h;
  d->solve = (tbSolveInfo){.law = "comfree", .solver = "closed form", .iterations = 1};
  d->solve.seconds = tb_seconds() - dynamics_end;
  d->seconds.solve += d->solve.seconds;
  return tb_certificate_judge(d, cs, &islands, v_free, v_next, &d->solve);
}
