// The complementarity-free law differentiated (docs/derivatives.md, eq. 60-62): forces are a closed
// form of the predicted velocity sigma = J v_free, so nothing is solved:
//
//     df = -by_sigma dsigma + E,   by_sigma = sum over facets of slope e e^T / h
//
// Constraints whose gains an island's overshoot has softened are left to differences.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/kernel.h"
#include "model/workspace.h"
#include "step/comfree.h"
#include "step/deriv.h"
#include "step/deriv_law.h"
#include "step/impedance.h"
#include "step/implicit.h"

enum { MOST_FACETS = 2 * TB_MOST_FACETS + 2 };

typedef struct {
  tbReal e[MOST_FACETS][TB_MAX_DIM];
  int n;
} Directions;

// Facets of a contact: normal minus mu times a direction of the sliding, torsional or rolling cone.
static void directions_of(const tbFacets* facets, int dim, const tbReal* mu, Directions* out) {
  memset(out, 0, sizeof *out);
  if (dim == 1) {
    out->e[out->n++][0] = 1;
    return;
  }
  for (int first = 1; first < dim; first += 3) {
    for (int j = 0; j < facets->n && first + 1 < dim; j++) {
      tbReal* e = out->e[out->n++];
      e[0] = 1;
      e[first] = -mu[first - 1] * facets->cosine[j];
      e[first + 1] = -mu[first] * facets->sine[j];
    }
  }
  for (int side = -1; dim > 3 && side <= 1; side += 2) {
    tbReal* e = out->e[out->n++];
    e[0] = 1;
    e[3] = side * mu[2];
  }
}

// The impulse of one facet and its slopes by s, by the gap, and by the logarithm of its gains.
typedef struct {
  tbReal p, by_s, by_gap, by_gain;
  int near_change;
} Facet;

static Facet facet_of(const tbFacetGain* gain, tbReal s, tbReal gap, tbReal tolerance) {
  Facet f = {0};
  tbReal p = gap > 0 ? -gain->slope * (s + gap / gain->dt) : -(gain->stiff * gap + gain->slope * s);
  tbReal cap = gain->most * (gain->speed - s), small = tolerance * gain->slope * (fabs(s) + 1e-6);
  f.near_change = fabs(fmin(p, cap)) < small || fabs(gap) < 1e-10 || fabs(p - cap) < small;
  if (fmin(p, cap) <= 0) return f;
  f.p = fmin(p, cap);
  f.by_s = p < cap ? -gain->slope : -gain->most;
  if (p < cap) {
    f.by_gap = gap > 0 ? -gain->slope / gain->dt : -gain->stiff;
    f.by_gain = p;
  }
  return f;
}

// d log(gains) / d gap of a contact: r / (1 - r) of the impedance r.
static tbReal gain_slope(const tbContact* contact, tbReal gap) {
  tbReal imp[TB_NIMP];
  memcpy(imp, contact->solimp, sizeof imp);
  tb_impedance_check(imp);
  tbReal r = tb_impedance(imp, gap);
  return tb_impedance_slope(imp, gap) / (r * (1 - r));
}

static int contact_law(tbDerivatives* x, const tbData* d, const tbConstraint* c,
                       const tbFacetGain* gain, const tbReal* sigma, tbReal tolerance, tbActive* a,
                       tbReal* by_gap) {
  const tbContact* contact = &d->contact[c->id];
  tbFacets facets;
  Directions way;
  tbReal gap = c->pos[0] - c->margin, slope = gain_slope(contact, gap);
  int dim = c->dim, pushing = 0;
  if (!tb_facets_init(&facets, x->m->opt.comfree_facets)) return -1;
  directions_of(&facets, dim, contact->friction, &way);
  memset(by_gap, 0, sizeof(tbReal) * (size_t)dim);
  for (int j = 0; j < way.n; j++) {
    const tbReal* e = way.e[j];
    tbReal s = 0;
    for (int r = 0; r < dim; r++) s += e[r] * sigma[r];
    Facet f = facet_of(gain, s, gap, tolerance);
    if (f.near_change) x->info.differentiable = 0;
    if (f.p == 0) continue;
    pushing++;
    // By both sliding coefficients: only the facets of sliding lean on them.
    int slides = dim > 1 && j < facets.n;
    tbReal turned[3] = {0, -facets.cosine[j % facets.n], -facets.sine[j % facets.n]};
    tbReal ds = slides ? turned[1] * sigma[1] + turned[2] * sigma[2] : 0;
    for (int r = 0; r < dim; r++) {
      a->by_friction[r] += (f.by_s * ds * e[r] + (slides && r < 3 ? f.p * turned[r] : 0)) / x->h;
      by_gap[r] += (f.by_gap + f.by_gain * slope) * e[r];
      for (int q = 0; q < dim; q++) a->by_sigma[r * dim + q] -= f.by_s * e[r] * e[q] / x->h;
    }
  }
  x->info.sliding += pushing > 0 && pushing < way.n;
  x->info.sticking += pushing == way.n;
  return pushing;
}

// Rows that are not contacts: all of their gains are those of the diagonal A of G, so forces go
// with 1/A. Sets by_gap; returns whether the force may change at all.
static int plain_law(const tbDerivatives* x, const tbConstraint* c, const tbFacetGain* gain,
                     const tbReal* sigma, int r, tbActive* a, tbReal* by_gap) {
  tbReal* by_sigma = &a->by_sigma[r * c->dim + r];
  *by_gap = 0;
  if (c->source == TB_SOURCE_FRICTION_DOF || c->source == TB_SOURCE_FRICTION_TENDON) {
    if (gain->slope * fabs(sigma[r]) >= c->bound * gain->dt) return 0;
    *by_sigma = gain->slope / x->h;
    return 1;
  }
  Facet f = facet_of(gain, sigma[r], c->pos[r] - c->margin, 0);
  *by_sigma = -f.by_s / x->h;
  *by_gap = f.by_gap;
  return f.p > 0;
}

static void fill_rows(tbDerivatives* x, const tbActive* a, const tbReal* v_free,
                      const tbReal* by_gap) {
  size_t width = (size_t)x->ncol, n = (size_t)a->nnz;
  tb_active_velocity(a, v_free, 1, x->S + (size_t)a->row * width, x->ncol);
  for (int r = 0; r < a->dim; r++) {
    tbReal *S = x->S + (size_t)(a->row + r) * width, *E = x->E + (size_t)(a->row + r) * width;
    // A contact has one gap, the others one each.
    const tbReal* dpos = a->dpos + (a->source == TB_SOURCE_CONTACT ? 0 : (size_t)r * n);
    for (size_t k = 0; k < n; k++) {
      S[x->nv + a->col[k]] += a->J[(size_t)r * n + k];
      E[a->col[k]] += by_gap[r] / x->h * dpos[k];
    }
  }
}

static tbResult add_constraint(tbDerivatives* x, tbData* d, const tbConstraint* c,
                               const tbReal* row_force, const tbReal* v_free,
                               const tbReal* gradient_room, const tbDerivativeSettings* settings) {
  const tbModel* m = x->m;
  tbFacetGain gain[TB_MAX_DIM];
  tbReal sigma[TB_MAX_DIM], diagonal[TB_MAX_DIM], by_gap[TB_MAX_DIM];
  tbResult result = tb_comfree_gains(m, d, c, (tbInertiaFactor){x->law.LD, x->law.inverse, NULL},
                                     gain, diagonal, &x->arena);
  if (result != TB_OK) return result;
  int acts = 0;
  for (int r = 0; r < c->dim; r++) {
    acts |= row_force[c->row + r] != 0;
    sigma[r] = 0;
    for (int k = 0; k < c->nnz; k++) {
      sigma[r] += c->J[(size_t)r * (size_t)c->nnz + (size_t)k] * v_free[c->col[k]];
    }
  }
  x->info.separated += c->source == TB_SOURCE_CONTACT && !acts;
  if (!acts) return TB_OK;
  tbActive* a = tb_deriv_activate(x, c);
  if (!a) return TB_ERROR_MEMORY;
  memcpy(a->force, row_force + c->row, sizeof(tbReal) * (size_t)c->dim);
  result = tb_deriv_rows(x, d, c, a);
  if (result != TB_OK) return result;
  for (int r = 0; r < c->dim; r++) a->by_force[r * c->dim + r] = 1;
  int contact = c->source == TB_SOURCE_CONTACT;
  if (contact) contact_law(x, d, c, gain, sigma, settings->mode_tolerance, a, by_gap);
  for (int r = 0; !contact && r < c->dim; r++) {
    if (!plain_law(x, c, &gain[r], sigma, r, a, &by_gap[r])) continue;
    tb_deriv_diagonal(x, d, c, a, r, -a->force[r] / diagonal[r],
                      x->E + (size_t)(a->row + r) * (size_t)x->ncol, (tbReal*)gradient_room);
  }
  fill_rows(x, a, v_free, by_gap);
  tbPartials partials = {x->final.force, x->ncol};
  tb_active_force(a, &partials);
  return TB_OK;
}

static tbResult prepare(tbDerivatives* x, tbData* d, tbImplicit what, tbReal* free_acc) {
  const tbModel* m = x->m;
  tbInertiaFactor factor;
  tbForest forest = {m->nv, m->M_rowadr, m->M_rownnz, m->M_colind};
  tbResult result = tb_implicit_factor(m, d, what, &factor);
  if (result != TB_OK) return result;
  memcpy(x->law.LD, factor.LD, sizeof(tbReal) * (size_t)m->nM);
  memcpy(x->law.inverse, factor.inverse, sizeof(tbReal) * (size_t)m->nv);
  x->final.LD = x->law.LD;
  x->final.inverse = x->law.inverse;
  x->final.force = TB_ARENA_NEW(&x->arena, tbReal, m->nv * x->ncol + 1);
  x->final_acc = TB_ARENA_NEW(&x->arena, tbReal, m->nv + 1);
  if (!x->final.force || !x->final_acc) return TB_ERROR_MEMORY;
  memcpy(x->final_acc, d->qacc, sizeof(tbReal) * (size_t)m->nv);
  memcpy(free_acc, d->qfrc_smooth, sizeof(tbReal) * (size_t)m->nv);
  tb_ltdl_solve(forest, x->law.LD, x->law.inverse, free_acc);
  x->law_acc = free_acc;
  tbPartials law = {x->law.force, x->ncol}, final = {x->final.force, x->ncol};
  result = tb_deriv_inertia(x, d, free_acc, &law);
  if (result == TB_OK) result = tb_deriv_smooth(x, d, free_acc, what, &law);
  if (result == TB_OK) result = tb_deriv_inertia(x, d, d->qacc, &final);
  if (result == TB_OK) result = tb_deriv_smooth(x, d, d->qacc, what, &final);
  return result;
}

tbResult tb_deriv_comfree(tbDerivatives* x, tbData* d, tbStepState* state,
                          const tbDerivativeSettings* settings) {
  const tbModel* m = x->m;
  const tbConstraints* cs = &state->constraints;
  int explicit = m->opt.disableflags & (TB_DISABLE_EULERDAMP | TB_DISABLE_DAMPER);
  tbImplicit what = m->opt.integrator == TB_INTEGRATOR_IMPLICITFAST ? TB_IMPLICIT_ALL
                    : explicit                                      ? TB_IMPLICIT_NOTHING
                                                                    : TB_IMPLICIT_DAMPERS;
  tbReal* room = TB_ARENA_NEW(&x->arena, tbReal, 4 * m->nv + 12 * m->nbody);
  if (!room) return TB_ERROR_MEMORY;
  tbReal *free_acc = room, *v_free = room + m->nv;
  tbResult result = prepare(x, d, what, free_acc);
  x->c = x->h;
  x->explicit_law = 1;
  for (int i = 0; i < m->nv; i++) v_free[i] = d->qvel[i] + x->h * free_acc[i];
  for (int i = 0; result == TB_OK && i < cs->count; i++) {
    if (cs->list[i].nnz == 0) continue;
    result =
        add_constraint(x, d, &cs->list[i], state->row_force, v_free, room + 2 * m->nv, settings);
  }
  return result;
}
