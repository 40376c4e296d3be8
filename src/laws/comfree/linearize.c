// The complementarity-free law differentiated (docs/notebook/derivatives.md, eq. 60-62): forces are
// a closed form of the predicted velocity sigma = J v_free, so no system is solved:
//
//     df = -by_sigma dsigma + E,   by_sigma = sum over facets of slope e e^T / h
//
// Equalities have a system of their own (equality_linearize.c). Constraints whose gains were
// softened because their island overshoots are differentiated by differences.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "dynamics/mass.h"
#include "model/workspace.h"
#include "laws/comfree/comfree.h"
#include "laws/comfree/equality.h"
#include "partials/derivatives.h"
#include "partials/law.h"
#include "laws/impedance.h"
#include "forces/implicit_inertia.h"

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

// The tolerance of mode changes is relative to the facet's speed and LEAST_SPEED, m/s; a gap below
// AT_TOUCH, m, counts as the change from open to closed.
static const tbReal LEAST_SPEED = 1e-6, AT_TOUCH = 1e-10;

// Both relative: facets whose diagonals of G differ from the largest by less than TIE share the
// maximum; their derivatives must then agree to within ALIKE.
static const tbReal TIE = 1e-9, ALIKE = 1e-6;

// The impulse of one facet and its slopes by s, by the gap, and by the logarithm of its gains.
typedef struct {
  tbReal p, by_s, by_gap, by_gain;
  int near_change;
} Facet;

static Facet facet_of(const tbFacetGain* gain, tbReal s, tbReal gap, tbReal tolerance) {
  Facet f = {0};
  tbReal p = gap > 0 ? -gain->slope * (s + gap / gain->dt) : -(gain->stiff * gap + gain->slope * s);
  tbReal cap = gain->most * (gain->speed - s),
         small = tolerance * gain->slope * (fabs(s) + LEAST_SPEED);
  f.near_change = fabs(tb_min(p, cap)) < small || fabs(gap) < AT_TOUCH || fabs(p - cap) < small;
  if (tb_min(p, cap) <= 0) return f;
  f.p = tb_min(p, cap);
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
                       const tbFacetGain* gain, const tbReal* sigma, tbReal tolerance,
                       tbActiveRows* a, tbReal* by_gap) {
  const tbContact* contact = &d->contact[c->id];
  tbFacets facets;
  Directions way;
  tbReal gap = c->pos[0] - c->margin,
         slope = x->m->opt.comfree_exact ? 0 : gain_slope(contact, gap);
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
    // By both sliding coefficients, on which only the sliding facets depend.
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

// Rows that are not contacts: all their gains are derived from the diagonal A of G, so forces are
// proportional to 1/A. Sets by_gap; returns whether the force can change at all.
static int plain_law(const tbDerivatives* x, const tbConstraint* c, const tbFacetGain* gain,
                     const tbReal* sigma, int r, tbActiveRows* a, tbReal* by_gap) {
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

static void fill_rows(tbDerivatives* x, const tbActiveRows* a, const tbReal* v_free,
                      const tbReal* by_gap) {
  size_t width = (size_t)x->ncol, n = (size_t)a->nnz;
  tb_active_velocity(a, v_free, 1, x->S + (size_t)a->row * width, x->ncol);
  for (int r = 0; r < a->dim; r++) {
    tbReal *S = x->S + (size_t)(a->row + r) * width, *E = x->E + (size_t)(a->row + r) * width;
    // A contact has one gap, other constraints have one per row.
    const tbReal* dpos = a->dpos + (a->source == TB_SOURCE_CONTACT ? 0 : (size_t)r * n);
    for (size_t k = 0; k < n; k++) {
      S[x->nv + a->col[k]] += a->J[(size_t)r * n + k];
      E[a->col[k]] += by_gap[r] / x->h * dpos[k];
    }
  }
}

// Data shared by all constraints of the step.
typedef struct {
  tbDerivatives* x;
  tbData* d;
  tbInertiaFactor factor;
  const tbReal *row_force, *v_free, *v_next;
  tbReal tolerance;
  tbReal* room;  // 2 nv + 12 nbody
} Context;

// Rows u = H^-1 J^T of a contact (dim x nv), and its block G = J u.
static void contact_response(const tbDerivatives* x, const tbConstraint* c, tbReal* u, tbReal* G) {
  size_t nv = (size_t)x->nv;
  for (int r = 0; r < c->dim; r++) {
    tbReal* ur = u + (size_t)r * nv;
    memset(ur, 0, sizeof(tbReal) * nv);
    for (int k = 0; k < c->nnz; k++) ur[c->col[k]] = c->J[(size_t)(r * c->nnz + k)];
    tb_ltdl_solve(tb_forest(x->m), x->law.LD, x->law.inverse, ur);
    for (int s = 0; s < c->dim; s++) {
      tbReal sum = 0;
      for (int k = 0; k < c->nnz; k++) sum += c->J[(size_t)(s * c->nnz + k)] * ur[c->col[k]];
      G[s * c->dim + r] = sum;
    }
  }
}

// Exact gains of a contact, and with them its forces, are inversely proportional to the largest
// diagonal A of its facets: df = -f dA / A. If facets share the maximum, their derivatives must
// agree.
static tbResult exact_gain(const Context* y, const tbConstraint* c, const tbReal* mu,
                           tbActiveRows* a) {
  tbDerivatives* x = y->x;
  tbFacets facets;
  Directions way;
  if (!tb_facets_init(&facets, x->m->opt.comfree_facets)) return TB_ERROR_ARGUMENT;
  directions_of(&facets, c->dim, mu, &way);
  size_t nv = (size_t)x->nv, rows = (size_t)c->dim * nv;
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbReal* u = tb_arena_alloc(&x->arena, sizeof(tbReal) * (2 * rows + 3 * nv + 1));
  if (!u) return TB_ERROR_MEMORY;
  tbReal *dJ = u + rows, *way_u = dJ + rows, *dA = way_u + nv, *first = dA + nv;
  tbReal G[TB_MAX_DIM * TB_MAX_DIM], A[MOST_FACETS], largest = 0;
  contact_response(x, c, u, G);
  for (int j = 0; j < way.n; j++) {
    A[j] = 0;
    for (int r = 0; r < c->dim; r++) {
      for (int s = 0; s < c->dim; s++) A[j] += way.e[j][r] * G[r * c->dim + s] * way.e[j][s];
    }
    largest = tb_max(largest, A[j]);
  }
  for (int j = 0, found = 0; j < way.n; j++) {
    if (A[j] < largest * (1 - TIE)) continue;
    memset(way_u, 0, sizeof(tbReal) * nv);
    memset(dJ, 0, sizeof(tbReal) * rows);
    for (int r = 0; r < c->dim; r++) {
      for (size_t k = 0; k < nv; k++) way_u[k] += way.e[j][r] * u[(size_t)r * nv + k];
    }
    tb_kinetic_gradient(x->m, y->d, way_u, dA, y->room);
    tb_active_velocity(a, way_u, 1, dJ, x->nv);
    tbReal by_mu = 0, apart = 0, size = 0;
    for (size_t k = 0; k < nv; k++) {
      dA[k] *= -2;
      for (int r = 0; r < c->dim; r++) dA[k] += 2 * way.e[j][r] * dJ[(size_t)r * nv + k];
      apart = tb_max(apart, found ? fabs(dA[k] - first[k]) : 0);
      size = tb_max(size, fabs(dA[k]));
    }
    if (apart > ALIKE * (size + largest)) x->info.differentiable = 0;
    if (found++) continue;
    memcpy(first, dA, sizeof(tbReal) * nv);
    // By both sliding coefficients, on which the sliding facets depend.
    for (int r = 0; c->dim > 1 && j < facets.n && r < c->dim; r++) {
      by_mu -=
          2 * (facets.cosine[j] * G[c->dim + r] + facets.sine[j] * G[2 * c->dim + r]) * way.e[j][r];
    }
    for (int r = 0; r < c->dim; r++) {
      tbReal* E = x->E + (size_t)(a->row + r) * (size_t)x->ncol;
      tb_deriv_damping_change(x, y->d, way_u, way_u, -a->force[r] / largest, E);
      for (size_t k = 0; k < nv; k++) E[k] -= a->force[r] / largest * dA[k];
      a->by_friction[r] -= a->force[r] / largest * by_mu;
    }
  }
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}

static tbResult add_constraint(const Context* y, const tbConstraint* c) {
  tbDerivatives* x = y->x;
  tbData* d = y->d;
  const tbReal* row_force = y->row_force;
  tbFacetGain gain[TB_MAX_DIM];
  tbReal sigma[TB_MAX_DIM], diagonal[TB_MAX_DIM], by_gap[TB_MAX_DIM];
  tbResult result = tb_comfree_gains(x->m, d, c, y->factor, gain, diagonal, &x->arena);
  if (result != TB_OK) return result;
  int acts = 0, contact = c->source == TB_SOURCE_CONTACT;
  for (int r = 0; r < c->dim; r++) {
    acts |= row_force[c->row + r] != 0;
    sigma[r] = 0;
    for (int k = 0; k < c->nnz; k++) {
      sigma[r] += c->J[(size_t)r * (size_t)c->nnz + (size_t)k] * y->v_free[c->col[k]];
    }
  }
  x->info.separated += contact && !acts;
  if (!acts) return TB_OK;
  tbActiveRows* a = tb_deriv_activate(x, c);
  if (!a) return TB_ERROR_MEMORY;
  memcpy(a->force, row_force + c->row, sizeof(tbReal) * (size_t)c->dim);
  result = tb_deriv_rows(x, d, c, a);
  if (result != TB_OK) return result;
  for (int r = 0; r < c->dim; r++) a->by_force[r * c->dim + r] = 1;
  if (contact) contact_law(x, d, c, gain, sigma, y->tolerance, a, by_gap);
  if (contact && x->m->opt.comfree_exact) {
    result = exact_gain(y, c, d->contact[c->id].friction, a);
    if (result != TB_OK) return result;
  }
  for (int r = 0; !contact && r < c->dim; r++) {
    if (!plain_law(x, c, &gain[r], sigma, r, a, &by_gap[r])) continue;
    a->by_diagonal[1][r] = -a->force[r] / diagonal[r];
    tb_deriv_diagonal(x, d, c, a, r, a->by_diagonal[1][r],
                      x->E + (size_t)(a->row + r) * (size_t)x->ncol, y->room);
  }
  fill_rows(x, a, y->v_free, by_gap);
  tbPartials partials = {x->final.force, x->ncol};
  tb_active_force(a, &partials);
  return TB_OK;
}

// An equality: velocity and bias, in the prediction (S; `first`: its forces there) and at the end
// of the step (E).
static tbResult add_equality(const Context* y, const tbConstraint* c, const tbReal* first) {
  tbDerivatives* x = y->x;
  const tbOption* opt = &x->m->opt;
  tbFacetGain gain[TB_MAX_DIM];
  tbReal diagonal[TB_MAX_DIM];
  tbResult result = tb_comfree_gains(x->m, y->d, c, y->factor, gain, diagonal, &x->arena);
  if (result != TB_OK) return result;
  tbActiveRows* a = tb_deriv_activate(x, c);
  if (!a) return TB_ERROR_MEMORY;
  result = tb_deriv_rows(x, y->d, c, a);
  if (result != TB_OK) return result;
  tbReal* const rows[2] = {x->S, x->E};
  const tbReal *force[2] = {first, y->row_force + c->row}, *v[2] = {y->v_free, y->v_next};
  for (int end = 0; end < 2; end++) {
    tbReal* out = rows[end] + (size_t)a->row * (size_t)x->ncol;
    memcpy(a->force, force[end], sizeof(tbReal) * (size_t)c->dim);
    tbPartials partials = {end ? x->final.force : x->law.force, x->ncol};
    tb_active_force(a, &partials);
    tb_active_velocity(a, v[end], 1, out, x->ncol);
    for (int r = 0; r < c->dim; r++, out += x->ncol) {
      tbReal by_pos;
      tb_correction(x->m, y->d, c, fabs(c->pos[r]), &by_pos);
      for (int k = 0; k < a->nnz; k++) {
        out[a->col[k]] += by_pos * a->dpos[(size_t)(r * a->nnz + k)];
        out[x->nv + a->col[k]] += a->J[(size_t)(r * a->nnz + k)];
      }
      if (diagonal[r] <= 0) continue;
      tbReal slope, scale = tb_equality_scale(x->m, c, r, diagonal[r], &slope);
      x->R[a->row + r] = x->h * opt->equality_softness * scale;
      a->by_diagonal[end][r] = opt->equality_softness * slope * x->h * a->force[r];
      tb_deriv_diagonal(x, y->d, c, a, r, a->by_diagonal[end][r], out, y->room);
    }
  }
  return TB_OK;
}

// The prediction with equalities satisfied: free_acc, and the equality forces there (`first`, by
// equality row).
static tbResult hold_equalities(tbDerivatives* x, tbData* d, const tbConstraints* cs,
                                tbInertiaFactor factor, tbReal* free_acc, tbReal** first) {
  tbPresolvedEqualities presolved;
  size_t nv = (size_t)x->nv;
  tbResult result = tb_presolved_build(x->m, &x->arena, cs, factor, &presolved);
  if (result != TB_OK || presolved.n == 0) return result;
  size_t n = (size_t)presolved.n;
  tbReal* bias = TB_ARENA_NEW(&x->arena, tbReal, 2 * n + nv + 1);
  x->presolved = TB_ARENA_NEW(&x->arena, tbPresolvedSystem, 1);
  if (!bias || !x->presolved) return TB_ERROR_MEMORY;
  tbReal* v = bias + 2 * n;
  *first = bias + n;
  tb_presolved_bias(x->m, d, &presolved, bias);
  for (size_t i = 0; i < nv; i++) v[i] = d->qvel[i] + x->h * free_acc[i];
  tb_presolved_correct(&presolved, bias, v, *first);
  for (size_t i = 0; i < nv; i++) free_acc[i] = (v[i] - d->qvel[i]) / x->h;
  for (size_t i = 0; i < n; i++) (*first)[i] /= x->h;
  return TB_OK;
}

static tbResult prepare(tbDerivatives* x, tbData* d, tbImplicit what, const tbConstraints* cs,
                        tbReal* free_acc, tbReal** first) {
  const tbModel* m = x->m;
  tbInertiaFactor factor;
  tbForest forest = tb_forest(m);
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
  result = hold_equalities(x, d, cs, factor, free_acc, first);
  if (result != TB_OK) return result;
  x->law_acc = free_acc;
  tbPartials law = {x->law.force, x->ncol}, final = {x->final.force, x->ncol};
  result = tb_deriv_inertia(x, d, free_acc, &law);
  if (result == TB_OK) result = tb_deriv_smooth(x, d, free_acc, what, &law);
  if (result == TB_OK) result = tb_deriv_inertia(x, d, d->qacc, &final);
  if (result == TB_OK) result = tb_deriv_smooth(x, d, d->qacc, what, &final);
  return result;
}

tbResult tb_comfree_linearize(tbDerivatives* x, const tbStep* step,
                              const tbDerivativeSettings* settings) {
  tbData* d = step->d;
  const tbStepState* state = step->state;
  const tbModel* m = x->m;
  const tbConstraints* cs = &state->constraints;
  tbImplicit what = tb_implicit_of(&m->opt);
  tbReal* room = TB_ARENA_NEW(&x->arena, tbReal, 5 * m->nv + 12 * m->nbody);
  if (!room) return TB_ERROR_MEMORY;
  tbReal *free_acc = room, *v_free = room + m->nv, *v_next = v_free + m->nv, *first = NULL;
  x->c = x->h;
  x->explicit_law = 1;
  x->by_responses = m->opt.comfree_exact && x->ncon > 0;
  if (!tb_deriv_reserve_sources(x, cs)) return TB_ERROR_MEMORY;
  x->input_damps = what == TB_IMPLICIT_STIFF && tb_deriv_input_damps(m);
  tbResult result = prepare(x, d, what, cs, free_acc, &first);
  for (int i = 0; i < m->nv; i++) {
    v_free[i] = d->qvel[i] + x->h * free_acc[i];
    v_next[i] = d->qvel[i] + x->h * d->qacc[i];
  }
  Context y = {x,      d,      {x->law.LD, x->law.inverse, NULL}, state->row_force,
               v_free, v_next, settings->mode_tolerance,          v_next + m->nv};
  for (int i = 0; result == TB_OK && i < cs->count; i++) {
    const tbConstraint* c = &cs->list[i];
    if (c->nnz == 0) continue;
    if (c->source == TB_SOURCE_EQUALITY) {
      result = add_equality(&y, c, first);
      first += c->dim;
    } else {
      result = add_constraint(&y, c);
    }
  }
  return result;
}
