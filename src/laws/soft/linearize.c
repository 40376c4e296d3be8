// The soft law linearised (docs/notebook/derivatives.md, eq. 49, 58): f = -grad s(J a - aref), so
// that df = -W (J da + d(J a) - daref) + f dlog D, on the constraint's own rows (the edges of a
// pyramid are linear combinations of them).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "dynamics/axis.h"
#include "dynamics/mass.h"
#include "linalg/dense.h"
#include "model/workspace.h"
#include "partials/derivatives.h"
#include "forces/implicit_inertia.h"
#include "laws/soft/rows.h"
#include "laws/soft/soft.h"
#include "tribo/dynamics.h"

enum { MAX_EDGES = 10 };

// Rows of the soft problem as linear combinations of the constraint's rows (edges x dim).
static void edge_map(const tbConstraint* c, const tbReal* mu, int edges, tbReal* map) {
  memset(map, 0, sizeof(tbReal) * (size_t)(edges * c->dim));
  for (int e = 0; e < edges; e++) {
    if (edges == c->dim) {
      map[e * c->dim + e] = 1;
    } else {
      map[e * c->dim] = 1;
      map[e * c->dim + 1 + e / 2] = e % 2 ? -mu[e / 2] : mu[e / 2];
    }
  }
}

// W on the constraint's rows: map^T W map.
static void reduce(int edges, int dim, const tbReal* map, const tbReal* W, tbReal* out) {
  memset(out, 0, sizeof(tbReal) * (size_t)(dim * dim));
  for (int e = 0; e < edges; e++) {
    for (int f = 0; f < edges; f++) {
      tbReal w = W[e * edges + f];
      if (w == 0) continue;
      for (int r = 0; r < dim; r++) {
        for (int s = 0; s < dim; s++) out[r * dim + s] += map[e * dim + r] * w * map[f * dim + s];
      }
    }
  }
}

// 1 where a small change of the residual changes W: the boundary of a zone.
static int near_change(const tbSoftBlock* b, const tbReal* D, const tbReal* r, const tbReal* W,
                       tbReal tolerance) {
  tbReal moved[MAX_EDGES], force[MAX_EDGES], other[MAX_EDGES * MAX_EDGES], size = 0, largest = 0;
  int n = b->dim;
  for (int i = 0; i < n; i++) size = tb_max(size, fabs(r[i]));
  if (b->kind == TB_SOFT_EQUALITY) return 0;
  if (b->kind == TB_SOFT_ONE_SIDED) {
    for (int i = 0; i < n; i++) {
      if (fabs(r[i]) <= tolerance * size) return n > 1;
    }
    return n == 1 && size == 0;
  }
  for (int i = 0; i < n; i++) {
    for (int side = -1; side <= 1; side += 2) {
      memcpy(moved, r, sizeof(tbReal) * (size_t)n);
      moved[i] += side * tolerance * size;
      tb_soft_block(b, D, moved, force, other);
      for (int k = 0; k < n * n; k++) {
        largest = tb_max(largest, fabs(other[k] - W[k]) / (D[k / n] + D[k % n]));
      }
    }
  }
  // A relative change of the Hessian above this value indicates a nearby mode change.
  const tbReal kink = 1e-2;
  return largest > kink;
}

// S: d(J a) - daref by q and v, and E: f dlog D.
static void fill_sigma(tbDerivatives* x, const tbData* d, const tbConstraint* c, tbActiveRows* a) {
  const tbModel* m = x->m;
  tbSoftReference ref = tb_soft_reference(m, d, c);
  size_t width = (size_t)x->ncol;
  tbReal size = 0, d_log = ref.impedance_slope / (ref.impedance * (1 - ref.impedance));
  int joint_size = c->source == TB_SOURCE_EQUALITY && c->dim > 1;
  for (int r = 0; r < a->dim; r++) size += c->pos[r] * c->pos[r];
  size = sqrt(size);
  tb_active_velocity(a, d->qacc, 1, x->S + (size_t)a->row * width, x->ncol);
  for (int r = 0; r < a->dim; r++) {
    tbReal* S = x->S + (size_t)(a->row + r) * width;
    tbReal* E = x->E + (size_t)(a->row + r) * width;
    tbReal violation = c->pos[r] - c->margin;
    int tangent = c->source == TB_SOURCE_CONTACT && r > 0;
    tbReal damping = tangent ? ref.damping_friction : ref.damping;
    tbActiveRows one = tb_active_row(a, r);
    tb_active_velocity(&one, d->qvel, damping, S, x->ncol);
    for (int k = 0; k < a->nnz; k++) {
      // Derivative of the violation that determines the impedance.
      tbReal dpos = a->dpos[(size_t)r * (size_t)a->nnz + (size_t)k], dsize = a->dpos[k];
      if (joint_size) {
        dsize = 0;
        for (int s = 0; s < a->dim && size > 0; s++) {
          dsize += c->pos[s] / size * a->dpos[(size_t)s * (size_t)a->nnz + (size_t)k];
        }
      }
      if (!tangent) {
        S[a->col[k]] +=
            ref.stiffness * (ref.impedance * dpos + ref.impedance_slope * dsize * violation);
      }
      S[m->nv + a->col[k]] += damping * a->J[(size_t)r * (size_t)a->nnz + (size_t)k];
      E[a->col[k]] += a->force[r] * d_log * dsize;
    }
  }
}

// ---- friction -----------------------------------------------------------------------------------

// Whether an elliptic contact's force is on its cone: normal and tangents are coupled. Slip along
// one tangent couples that one alone.
static int is_on_cone(const tbSoftBlock* b, const tbReal* W) {
  for (int j = 1; j < b->dim; j++) {
    if (W[j] != 0) return 1;
  }
  return 0;
}

// Derivative of an elliptic contact's force at constant acceleration by both sliding coefficients:
// D of the friction rows, the cone's mu and its coefficients depend on them (solvers/soft/block.c,
// laws/soft/rows.c).
static void elliptic_friction(const tbSoftBlock* b, const tbReal* D, const tbReal* r,
                              const tbReal* W, tbReal* out) {
  const tbReal* mu = b->friction;
  int dim = b->dim, middle = is_on_cone(b, W), acts = W[0] != 0;
  tbReal dmu = b->mu / mu[0];
  if (!acts) return;
  if (!middle) {
    // Quadratic rows: D_j = mu_j^2 / (R mu_1^2).
    for (int j = 1; j < dim; j++) {
      tbReal change = 2 * ((j < 3) / mu[j - 1] - 1 / mu[0]);
      out[j] = -D[j] * change * r[j];
    }
    return;
  }
  tbReal N = b->mu * r[0], U[6] = {0}, T = 0, dT = 0;
  for (int j = 1; j < dim; j++) {
    U[j] = r[j] * mu[j - 1];
    T += U[j] * U[j];
    dT += (j < 3) * U[j] * r[j];
  }
  T = sqrt(T);
  dT /= T;
  // f_0 = -slope mu, f_j = slope mu U_j mu_j / T with slope = Dm (N - mu T).
  tbReal square = b->mu * b->mu, Dm = D[0] / (square * (1 + square));
  tbReal dDm = -Dm * (2 / b->mu + 2 * b->mu / (1 + square)) * dmu;
  tbReal slope = Dm * (N - b->mu * T);
  tbReal dslope = dDm * (N - b->mu * T) + Dm * (dmu * r[0] - dmu * T - b->mu * dT);
  tbReal weight = slope * b->mu, dweight = dslope * b->mu + slope * dmu;
  out[0] = -dweight;
  for (int j = 1; j < dim; j++) {
    tbReal lever = U[j] * mu[j - 1] / T;
    tbReal dlever = (j < 3) * 2 * U[j] / T - lever * dT / T;
    out[j] = dweight * lever + weight * dlever;
  }
}

// The edges n +- mu_j t_j of a pyramid change direction, and D is proportional to 1 / (mu_1^2 (1 +
// mu_1^2)).
static void pyramid_friction(const tbData* d, const tbConstraint* c, tbReal damping,
                             const tbSoftBlock* b, const tbReal* D, const tbReal* r,
                             const tbReal* W, const tbReal* force, tbReal* out) {
  const tbReal* mu = d->contact[c->id].friction;
  tbReal log_D = -(2 / mu[0] + 2 * mu[0] / (1 + mu[0] * mu[0]));
  for (int e = 0; e < b->dim; e++) {
    int row = 1 + e / 2;
    tbReal side = e % 2 ? -1 : 1, along = 0, df = 0;
    const tbReal* J = c->J + (size_t)row * (size_t)c->nnz;
    for (int k = 0; k < c->nnz; k++) {
      along += J[k] * (d->qacc[c->col[k]] + damping * d->qvel[c->col[k]]);
    }
    if (W[e * b->dim + e] != 0) df = -D[e] * (log_D * r[e] + (row < 3) * side * along);
    out[0] += df;
    out[row] += side * (mu[row - 1] * df + (row < 3) * force[e]);
  }
}

// Count a contact by its mode.
static void count_contact(const tbSoftBlock* b, const tbReal* W, int acts, tbDerivativeInfo* info) {
  int slides = b->kind == TB_SOFT_CONE && is_on_cone(b, W);
  for (int e = 0; e < b->dim; e++) slides |= W[e * b->dim + e] == 0;
  info->separated += !acts;
  info->sliding += acts && slides;
  info->sticking += acts && !slides;
}

static tbResult add_constraint(tbDerivatives* x, tbData* d, const tbConstraint* c,
                               const tbReal* row_force, const tbDerivativeSettings* settings) {
  const tbModel* m = x->m;
  tbSoftBlock block;
  tbReal aref[MAX_EDGES], D[MAX_EDGES], r[MAX_EDGES], force[MAX_EDGES];
  tbReal W[MAX_EDGES * MAX_EDGES], map[MAX_EDGES * TB_MAX_DIM];
  tbResult result = tb_soft_fill(m, d, c, &x->arena, &block, aref, D);
  if (result != TB_OK) return result;
  for (int e = 0; e < block.dim; e++) {
    r[e] = -aref[e];
    for (int k = 0; k < block.nnz; k++) {
      r[e] += block.J[(size_t)e * (size_t)block.nnz + (size_t)k] * d->qacc[block.col[k]];
    }
  }
  tb_soft_block(&block, D, r, force, W);
  int acts = 0;
  for (int e = 0; e < block.dim; e++) acts |= W[e * block.dim + e] != 0;
  if (near_change(&block, D, r, W, settings->mode_tolerance)) {
    x->info.differentiable = 0;
    if (!x->info.reason[0]) {
      snprintf(x->info.reason, sizeof x->info.reason, "zone of constraint %d", c->row);
    }
  }
  if (c->source == TB_SOURCE_CONTACT) count_contact(&block, W, acts, &x->info);
  // A constant force still changes direction with the configuration.
  for (int e = 0; e < block.dim; e++) acts |= force[e] != 0;
  if (!acts) return TB_OK;
  tbActiveRows* a = tb_deriv_activate(x, c);
  if (!a) return TB_ERROR_MEMORY;
  memcpy(a->force, row_force + c->row, sizeof(tbReal) * (size_t)c->dim);
  result = tb_deriv_rows(x, d, c, a);
  if (result != TB_OK) return result;
  edge_map(c, c->source == TB_SOURCE_CONTACT ? d->contact[c->id].friction : NULL, block.dim, map);
  reduce(block.dim, c->dim, map, W, a->by_sigma);
  for (int i = 0; i < c->dim; i++) a->by_force[i * c->dim + i] = 1;
  if (c->source == TB_SOURCE_CONTACT && block.kind == TB_SOFT_CONE) {
    elliptic_friction(&block, D, r, W, a->by_friction);
  } else if (block.pyramid) {
    tbReal damping = tb_soft_reference(m, d, c).damping;
    pyramid_friction(d, c, damping, &block, D, r, W, force, a->by_friction);
  }
  fill_sigma(x, d, c, a);
  result = tb_deriv_drift(x, d, c, a);
  if (result != TB_OK) return result;
  tbReal zone = 0;
  for (int i = 0; i < c->dim * c->dim; i++) zone = tb_max(zone, fabs(a->by_sigma[i]));
  if (zone == 0) {
    // Saturated dry friction: the force is constant.
    memset(x->E + (size_t)a->row * (size_t)x->ncol, 0,
           sizeof(tbReal) * (size_t)c->dim * (size_t)x->ncol);
  }
  tbPartials partials = {x->law.force, x->ncol};
  tb_active_force(a, &partials);
  if (x->final.force) {
    partials.value = x->final.force;
    tb_active_force(a, &partials);
  }
  return TB_OK;
}

// The damping that the integrator takes implicitly (laws/soft/soft.c).
static tbImplicit damping_of(const tbModel* m) {
  int explicit = m->opt.disableflags & (TB_DISABLE_EULERDAMP | TB_DISABLE_DAMPER);
  if (m->opt.integrator == TB_INTEGRATOR_IMPLICITFAST) return TB_IMPLICIT_ALL;
  return explicit ? TB_IMPLICIT_NOTHING : TB_IMPLICIT_DAMPERS;
}

// The second inertia M + h D and the acceleration that the integrator computes from the forces.
static tbResult final_response(tbDerivatives* x, tbData* d, const tbInertiaFactor* factor) {
  const tbModel* m = x->m;
  tbForest forest = tb_forest(m);
  x->final.LD = TB_ARENA_NEW(&x->arena, tbReal, m->nM);
  x->final.inverse = TB_ARENA_NEW(&x->arena, tbReal, m->nv);
  x->final.force = TB_ARENA_NEW(&x->arena, tbReal, m->nv * x->ncol);
  x->final_acc = TB_ARENA_NEW(&x->arena, tbReal, m->nv);
  if (!x->final.LD || !x->final.inverse || !x->final.force || !x->final_acc) return TB_ERROR_MEMORY;
  memcpy(x->final.LD, factor->LD, sizeof(tbReal) * (size_t)m->nM);
  memcpy(x->final.inverse, factor->inverse, sizeof(tbReal) * (size_t)m->nv);
  for (int i = 0; i < m->nv; i++) x->final_acc[i] = d->qfrc_smooth[i] + d->qfrc_constraint[i];
  tb_ltdl_solve(forest, x->final.LD, x->final.inverse, x->final_acc);
  tbPartials partials = {x->final.force, x->ncol};
  tbResult result = tb_deriv_inertia(x, d, x->final_acc, &partials);
  return result == TB_OK ? tb_deriv_smooth(x, d, x->final_acc, damping_of(m), &partials) : result;
}

// -h d(db/dv a) of the implicit integrator, with b the bias at velocity v. b is quadratic in v, so
// differences of its partials are exact (eq. 76): the derivative of db/dq along a by q, and of
// db/dv at a by v.
static tbResult add_bias_slopes(tbDerivatives* x, const tbData* d, const tbReal* a,
                                tbPartials* out) {
  const tbModel* m = x->m;
  size_t nv = (size_t)m->nv;
  if (!x->probe) x->probe = tb_data_new(m);
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbReal* low = tb_arena_alloc(&x->arena, sizeof(tbReal) * (2 * nv * nv + 1));
  if (!x->probe || !low) return TB_ERROR_MEMORY;
  tbReal *high = low + nv * nv, speed = 0, size = 0;
  tbData* p = x->probe;
  memcpy(p->qpos, d->qpos, sizeof(tbReal) * (size_t)m->nq);
  memcpy(p->mocap_pos, d->mocap_pos, sizeof(tbReal) * 3 * (size_t)m->nmocap);
  memcpy(p->mocap_quat, d->mocap_quat, sizeof(tbReal) * 4 * (size_t)m->nmocap);
  tb_compute_position(m, p);
  for (size_t i = 0; i < nv; i++) {
    speed = tb_max(speed, fabs(d->qvel[i]));
    size = tb_max(size, fabs(a[i]));
  }
  tbReal s = tb_max(speed, 1) / tb_max(size, 1e-300), h = m->opt.timestep;
  for (int side = -1; side <= 1; side += 2) {
    for (size_t i = 0; i < nv; i++) p->qvel[i] = d->qvel[i] + side * s * a[i];
    tb_compute_velocity(m, p);
    tb_rne_partials(m, p, NULL, NULL, side < 0 ? low : high, NULL);
  }
  for (size_t i = 0; i < nv; i++) {
    for (size_t k = 0; k < nv; k++) {
      *tb_partial(out, (int)i, (int)k) -= h * (high[i * nv + k] - low[i * nv + k]) / (2 * s);
    }
  }
  memcpy(p->qvel, a, sizeof(tbReal) * nv);
  tb_compute_velocity(m, p);
  tb_rne_partials(m, p, NULL, NULL, NULL, low);
  for (size_t i = 0; i < nv; i++) {
    for (size_t k = 0; k < nv; k++) *tb_partial(out, (int)i, (int)(nv + k)) -= h * low[i * nv + k];
  }
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}

// The inertia of MuJoCo's implicit integrator, M - h dtau/dv.
static tbResult full_response(tbDerivatives* x, tbData* d) {
  const tbModel* m = x->m;
  x->final.LU = TB_ARENA_NEW(&x->arena, tbReal, m->nv * m->nv + 1);
  x->final.pivot = TB_ARENA_NEW(&x->arena, int, m->nv + 1);
  x->final.force = TB_ARENA_NEW(&x->arena, tbReal, m->nv * x->ncol + 1);
  x->final_acc = TB_ARENA_NEW(&x->arena, tbReal, m->nv + 1);
  if (x->arena.failed) return TB_ERROR_MEMORY;
  tbResult result = tb_implicit_full_matrix(m, d, x->final.LU);
  if (result != TB_OK) return result;
  if (!tb_lu(m->nv, x->final.LU, m->nv, x->final.pivot)) return TB_ERROR_NUMERIC;
  for (int i = 0; i < m->nv; i++) x->final_acc[i] = d->qfrc_smooth[i] + d->qfrc_constraint[i];
  tb_response_solve(x, &x->final, x->final_acc, 1);
  tbPartials partials = {x->final.force, x->ncol};
  result = tb_deriv_inertia(x, d, x->final_acc, &partials);
  if (result == TB_OK) result = tb_deriv_smooth(x, d, x->final_acc, TB_IMPLICIT_FULL, &partials);
  return result == TB_OK ? add_bias_slopes(x, d, x->final_acc, &partials) : result;
}

tbResult tb_soft_linearize(tbDerivatives* x, const tbStep* step,
                           const tbDerivativeSettings* settings) {
  tbData* d = step->d;
  const tbStepState* state = step->state;
  const tbModel* m = x->m;
  const tbConstraints* cs = &state->constraints;
  if (!tb_deriv_reserve_sources(x, cs)) return TB_ERROR_MEMORY;
  x->is_compliant = 1;
  memcpy(x->law.LD, d->qLD, sizeof(tbReal) * (size_t)m->nM);
  memcpy(x->law.inverse, d->qLDiagInv, sizeof(tbReal) * (size_t)m->nv);
  tbPartials partials = {x->law.force, x->ncol};
  tbResult result = tb_deriv_inertia(x, d, d->qacc, &partials);
  if (result == TB_OK) result = tb_deriv_smooth(x, d, d->qacc, TB_IMPLICIT_NOTHING, &partials);
  x->c = 1;
  tbInertiaFactor factor = {d->qLD, NULL, NULL};
  int full = m->opt.integrator == TB_INTEGRATOR_IMPLICIT;
  if (result == TB_OK && full) result = full_response(x, d);
  if (result == TB_OK && !full) result = tb_implicit_factor(m, d, damping_of(m), &factor);
  if (result == TB_OK && factor.LD != d->qLD) result = final_response(x, d, &factor);
  for (int i = 0; result == TB_OK && i < cs->count; i++) {
    if (cs->list[i].island < 0) continue;
    result = add_constraint(x, d, &cs->list[i], state->row_force, settings);
  }
  return result;
}
