// The rigid laws linearised at their solution (docs/notebook/derivatives.md, eq. 38-48): which
// constraints are active, how each block relates velocities to forces, and what changes the
// velocities besides dacc.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "dynamics/mass.h"
#include "linalg/dense.h"
#include "model/workspace.h"
#include "laws/rigid/rigid.h"
#include "partials/derivatives.h"
#include "partials/gap.h"
#include "partials/law.h"
#include "forces/implicit_inertia.h"
#include "tribo/step.h"

// gamma and R of a row, and their derivatives.
typedef struct {
  tbReal gamma, R;
  tbReal by_pos;       // dgamma/dpos
  tbReal restitution;  // dgamma/d(J v)
  tbReal gamma_by_y;   // by the diagonal of G
  tbReal R_by_y;
} Terms;

typedef struct {
  tbDerivatives* x;
  tbData* d;
  const tbModel* m;
  const tbDerivativeSettings* settings;
  const tbReal* v_next;
  tbReal largest;    // largest force of any row
  tbReal* gradient;  // nv
  tbReal* body;      // 12 nbody
} Context;

// m/s: a contact without force that opens faster than this is far from being active.
static const tbReal FAR_OPEN = 1e-6;

// A contact is at rest if its velocity is below RESIDUALS times the residual of the solve plus
// STANDSTILL (m/s).
static const tbReal RESIDUALS = 100, STANDSTILL = 1e-12;

// The compliance that selects the force distribution of least norm, over the mean diagonal of G;
// and the distance such forces must have from the boundary of their cones, in units of the mode
// tolerance.
static const tbReal LEAST_NORM = 1e-10, WELL_INSIDE = 1e3;

// ---- gamma and R (assemble/islands.c) ---------------------------------------------------

static tbReal row_velocity(const tbConstraint* c, int r, const tbReal* v) {
  tbReal sum = 0;
  for (int k = 0; k < c->nnz; k++)
    sum += c->J[(size_t)r * (size_t)c->nnz + (size_t)k] * v[c->col[k]];
  return sum;
}

// Normal row of a contact or limit; y is its diagonal of G.
static Terms gap_row(const Context* x, const tbConstraint* c, tbReal y) {
  const tbOption* opt = &x->m->opt;
  tbReal slope, push = tb_gap_term(x->m, x->d, c, c->pos[0], &slope);
  Terms t = {.gamma = push, .by_pos = slope};
  if (c->source == TB_SOURCE_CONTACT) {
    const tbContact* contact = &x->d->contact[c->id];
    tbReal h = opt->timestep, e = contact->compliance;
    if (e > 0) {
      tbReal b = c->pos[0] < 0 ? contact->damping : 0, scale = h + e * b;
      return (Terms){.gamma = c->pos[0] / scale, .R = e / (h * scale), .by_pos = 1 / scale};
    }
    tbReal bounce = tb_restitution_term(x->m, x->d, c);
    if (bounce < 0) {
      t.gamma = bounce;
      t.restitution = contact->restitution;
      t.by_pos = 0;
    }
  }
  if (push >= 0) return t;
  // The bias is reduced where the mechanism has little effective mobility along the row.
  tbInertiaFactor factor = {x->x->law.LD, x->x->law.inverse, NULL};
  tbReal weak, share;
  if (!tb_push_weight(x->m, x->d, factor, &x->x->arena, c, &weak)) return t;
  weak *= 0.01;
  share = y > 0 ? y / (y + weak) : 0;
  t.gamma -= push * (1 - share);
  t.by_pos -= slope * (1 - share);
  t.gamma_by_y = push * weak / ((y + weak) * (y + weak));
  t.R = opt->correction_softness * 100 * weak;
  return t;
}

static Terms equality_row(const Context* x, const tbConstraint* c, int r, tbReal y) {
  const tbOption* opt = &x->m->opt;
  tbReal by_pos, speed = tb_correction(x->m, x->d, c, fabs(c->pos[r]), &by_pos);
  tbReal slope, scale = tb_equality_scale(x->m, c, r, y, &slope);
  return (Terms){.gamma = copysign(speed, c->pos[r]),
                 .by_pos = by_pos,
                 .R = opt->equality_softness * scale,
                 .R_by_y = opt->equality_softness * slope};
}

// ---- the diagonal of G --------------------------------------------------------------------------

// u = H^-1 J_r^T and y = J_r u.
static tbReal row_response(const Context* x, const tbConstraint* c, int r, tbReal* u) {
  const tbModel* m = x->m;
  tbForest forest = tb_forest(m);
  memset(u, 0, sizeof(tbReal) * (size_t)m->nv);
  for (int k = 0; k < c->nnz; k++) u[c->col[k]] = c->J[(size_t)r * (size_t)c->nnz + (size_t)k];
  tb_ltdl_solve(forest, x->x->law.LD, x->x->law.inverse, u);
  return row_velocity(c, r, u);
}

// S_row += scale dy/dq for the diagonal y of row r: 2 dJ u - u^T dM u (eq. 44).
static void add_diagonal(const Context* x, const tbActiveRows* a, int r, const tbReal* u,
                         tbReal scale, tbReal* S_row) {
  tb_kinetic_gradient(x->m, x->d, u, x->gradient, x->body);
  for (int k = 0; k < x->m->nv; k++) S_row[k] -= 2 * scale * x->gradient[k];
  tb_deriv_damping_change(x->x, x->d, u, u, scale, S_row);
  tbActiveRows one = tb_active_row(a, r);
  tb_active_velocity(&one, u, 2 * scale, S_row, x->x->ncol);
}

// ---- one constraint -----------------------------------------------------------------------------

static void not_differentiable(tbDerivatives* x, const char* what, int id) {
  x->info.differentiable = 0;
  if (!x->info.reason[0]) snprintf(x->info.reason, sizeof x->info.reason, "%s %d", what, id);
}

// S of an active constraint: the change of sigma besides c J dacc and R df.
static void fill_sigma(const Context* x, tbActiveRows* a, const Terms* terms) {
  tbDerivatives* out = x->x;
  const tbModel* m = x->m;
  size_t width = (size_t)out->ncol;
  tbReal* S = out->S + (size_t)a->row * width;
  tb_active_velocity(a, x->v_next, 1, S, out->ncol);
  for (int r = 0; r < a->dim; r++, S += width) {
    const Terms* t = &terms[r];
    const tbReal* J = a->J + (size_t)r * (size_t)a->nnz;
    for (int k = 0; k < a->nnz; k++) {
      S[a->col[k]] += t->by_pos * a->dpos[(size_t)r * (size_t)a->nnz + (size_t)k];
      S[m->nv + a->col[k]] += (1 + t->restitution) * J[k];
    }
    if (t->restitution > 0) {
      tbActiveRows one = tb_active_row(a, r);
      tb_active_velocity(&one, x->d->qvel, t->restitution, S, out->ncol);
    }
    tbReal by_y = t->gamma_by_y + t->R_by_y * out->h * a->force[r];
    a->by_diagonal[0][r] = by_y;
    if (by_y != 0) {
      add_diagonal(x, a, r, out->law.Y + (size_t)(a->row + r) * (size_t)m->nv, by_y, S);
    }
    out->R[a->row + r] = out->h * t->R;
  }
}

// Terms of every row, and sigma.
static void evaluate(const Context* x, const tbConstraint* c, const tbReal* force, Terms* terms,
                     tbReal* sigma, tbReal* diagonal) {
  // If the constraint is active, the responses become the next rows of Y, so they are computed
  // there.
  tbReal* Y = x->x->law.Y + (size_t)x->x->n * (size_t)x->m->nv;
  tbCorotation slip;
  bool contact = c->source == TB_SOURCE_CONTACT && c->dim >= 3;
  bool drifts = contact && tb_contact_corotation(x->m, x->d, c, &slip);
  for (int r = 0; r < c->dim; r++) {
    terms[r] = (Terms){0};
    diagonal[r] = row_response(x, c, r, Y + (size_t)r * (size_t)x->m->nv);
    if (c->source == TB_SOURCE_EQUALITY) terms[r] = equality_row(x, c, r, diagonal[r]);
    if (c->source >= TB_SOURCE_LIMIT_JOINT && r == 0) terms[r] = gap_row(x, c, diagonal[r]);
    if (c->source == TB_SOURCE_CONTACT && r > 0) {
      terms[r].R = tb_tangent_compliance(x->m, &x->d->contact[c->id], r);
    }
    if (drifts && r < 3) terms[r].gamma += slip.share * slip.along[r];
    sigma[r] =
        row_velocity(c, r, x->v_next) + terms[r].gamma + terms[r].R * x->m->opt.timestep * force[r];
  }
}

// The block of a constraint in the form of tbLawBlock.
static tbLawBlock block_of(const Context* x, const tbConstraint* c, const tbReal* force,
                           const tbReal* sigma, const tbReal* diagonal) {
  tbLawBlock b = {.dim = c->dim, .force = force, .sigma = sigma};
  b.stiffness = 1 / (x->m->opt.timestep * tb_max(diagonal[0], 1e-300));
  // The scale of forces: the largest row force, or the force that would undo the step's change of
  // velocity.
  tbReal change = row_velocity(c, 0, x->v_next) - row_velocity(c, 0, x->d->qvel);
  b.scale = tb_max(x->largest, b.stiffness * fabs(change));
  b.tolerance = x->settings->mode_tolerance;
  b.relaxation = x->settings->relaxation;
  b.bound = c->bound;
  b.law = x->m->opt.law;
  switch (c->source) {
    case TB_SOURCE_EQUALITY: b.kind = TB_BLOCK_EQUALITY; break;
    case TB_SOURCE_FRICTION_DOF:
    case TB_SOURCE_FRICTION_TENDON: b.kind = TB_BLOCK_BOX; break;
    case TB_SOURCE_CONTACT: b.kind = c->dim == 1 ? TB_BLOCK_ONE_SIDED : TB_BLOCK_CONE; break;
    default: b.kind = TB_BLOCK_ONE_SIDED; break;
  }
  if (c->source == TB_SOURCE_CONTACT) b.mu = x->d->contact[c->id].friction;
  return b;
}

// RaiSim's sliding depends on the block of G: A_N (normal column) and its partials by q.
static tbResult raisim_block(const Context* x, const tbConstraint* c, tbActiveRows* a,
                             const tbLawBlock* block, const Terms* terms) {
  const tbModel* m = x->m;
  tbArenaMark mark = tb_arena_mark(&x->x->arena);
  int nv = m->nv, dim = a->dim;
  tbReal* u = TB_ARENA_NEW(&x->x->arena, tbReal, (dim + 1) * nv);
  tbReal* dA = TB_ARENA_NEW(&x->x->arena, tbReal, dim * x->x->ncol);
  if (!u || !dA) return TB_ERROR_MEMORY;
  tbReal A[TB_MAX_DIM], *sum = u + dim * nv;
  for (int r = 0; r < dim; r++) row_response(x, c, r, u + r * nv);
  for (int r = 0; r < dim; r++) {
    tbReal* out = dA + (size_t)r * (size_t)x->x->ncol;
    A[r] = row_velocity(c, r, u);
    // dJ_r u_N + dJ_N u_r - u_r^T dM u_N, the last term by polarisation.
    tbActiveRows one = tb_active_row(a, r);
    tb_active_velocity(&one, u, 1, out, x->x->ncol);
    one = tb_active_row(a, 0);
    tb_active_velocity(&one, u + r * nv, 1, out, x->x->ncol);
    for (int i = 0; i < nv; i++) sum[i] = u[i] + u[r * nv + i];
    for (int pass = 0; pass < 3; pass++) {
      tb_kinetic_gradient(m, x->d,
                          pass == 0   ? sum
                          : pass == 1 ? u
                                      : u + r * nv,
                          x->gradient, x->body);
      for (int k = 0; k < nv; k++) out[k] += (pass == 0 ? -1 : 1) * x->gradient[k];
    }
    tb_deriv_damping_change(x->x, x->d, u, u + r * nv, 1, out);
  }
  A[0] += terms[0].R;
  tb_law_raisim(block, A, dA, x->x->ncol, a, x->x->E + (size_t)a->row * (size_t)x->x->ncol);
  tb_arena_release(&x->x->arena, mark);
  return TB_OK;
}

// 1 where a contact or limit is far open and carries no force.
static int is_far(const Context* x, const tbConstraint* c, const tbReal* force) {
  if (c->source < TB_SOURCE_LIMIT_JOINT || force[0] != 0 || !(c->pos[0] > 0)) return 0;
  if (c->source == TB_SOURCE_CONTACT && x->d->contact[c->id].restitution > 0) return 0;
  return row_velocity(c, 0, x->v_next) + c->pos[0] / x->m->opt.timestep > FAR_OPEN;
}

// Whether a constraint stays closed while it carries a force (hold_contacts): contacts and limits,
// except compliant contacts.
static bool is_held(const Context* x, const tbConstraint* c) {
  if (c->source < TB_SOURCE_LIMIT_JOINT || !x->settings->hold_contacts) return false;
  return c->source != TB_SOURCE_CONTACT || !(x->d->contact[c->id].compliance > 0);
}

// Keep the gap term constant under changes of the configuration.
static void hold(Terms* t) {
  t->by_pos = t->gamma_by_y = 0;
}

// A contact or limit near a kink of its gap term matters if it carries a force, or would close
// within the step with its gap at the kink.
static void check_gap(const Context* x, const tbConstraint* c, bool carries) {
  if (c->source < TB_SOURCE_LIMIT_JOINT || !x->x->info.differentiable || is_held(x, c)) return;
  if (!tb_gap_has_kink(x->m, x->d, c)) return;
  tbReal least = carries ? 0 : row_velocity(c, 0, x->v_next) + tb_gap_least(x->m, x->d, c);
  if (least <= FAR_OPEN) tb_gap_report(x->x, x->d, c);
}

// Whether a constant force changes the generalised force because its direction depends on the
// configuration: dry friction at its bound of a tendon that is not over joints.
static int turns(const tbModel* m, const tbConstraint* c, const tbReal* force) {
  return c->source == TB_SOURCE_FRICTION_TENDON && force[0] != 0 &&
         m->wrap_type[m->tendon_adr[c->id]] != TB_WRAP_JOINT;
}

static tbResult add_constraint(const Context* x, const tbConstraint* c, const tbReal* row_force) {
  tbDerivatives* out = x->x;
  if (!(x->settings->relaxation > 0) && is_far(x, c, row_force + c->row)) {
    out->info.separated += c->source == TB_SOURCE_CONTACT;
    check_gap(x, c, false);
    return TB_OK;
  }
  Terms terms[TB_MAX_DIM];
  tbReal sigma[TB_MAX_DIM], diagonal[TB_MAX_DIM];
  const tbReal* force = row_force + c->row;
  evaluate(x, c, force, terms, sigma, diagonal);
  tbLawBlock block = block_of(x, c, force, sigma, diagonal);
  tbLawMode mode = tb_law_mode(&block);
  if (c->source == TB_SOURCE_CONTACT) {
    out->info.separated += mode == TB_MODE_FREE;
    out->info.sticking += mode == TB_MODE_STICK;
    out->info.sliding += mode == TB_MODE_SLIDE;
  }
  if (block.near_change) not_differentiable(out, "mode of constraint", c->row);
  check_gap(x, c, mode != TB_MODE_FREE);
  if (mode == TB_MODE_FREE && !turns(x->m, c, force) &&
      !(block.relaxation > 0 && c->source >= TB_SOURCE_LIMIT_JOINT)) {
    return TB_OK;
  }
  if (mode != TB_MODE_FREE && is_held(x, c)) hold(&terms[0]);

  tbActiveRows* a = tb_deriv_activate(out, c);
  if (!a) return TB_ERROR_MEMORY;
  memcpy(a->force, force, sizeof(tbReal) * (size_t)c->dim);
  memcpy(a->sigma, sigma, sizeof(tbReal) * (size_t)c->dim);
  tbResult result = tb_deriv_rows(out, x->d, c, a);
  if (result != TB_OK) return result;
  tb_law_linearize(&block, mode, a);
  if (block.law == TB_LAW_RAISIM && mode == TB_MODE_SLIDE && block.kind == TB_BLOCK_CONE) {
    result = raisim_block(x, c, a, &block, terms);
    if (result != TB_OK) return result;
  }
  fill_sigma(x, a, terms);
  result = tb_deriv_slip(out, x->d, c, a);
  if (result != TB_OK) return result;
  tbPartials partials = {out->law.force, out->ncol};
  tb_active_force(a, &partials);
  return TB_OK;
}

// ---- forces that are not unique -----------------------------------------------------------------

// Rows of one island's resting contacts whose force is not determined by a compliance.
typedef struct {
  int* constraint;
  int* row;  // of the constraint
  tbReal *Y, *G, *rhs, *scratch;
  int n, near_change;
} Resting;

// 1 where a contact neither slides nor opens, within the solver's accuracy of velocities (`noise`):
// a slowly sliding contact slides, and its force is determined.
static int is_resting(const tbLawBlock* b, tbReal noise) {
  for (int r = 0; r < b->dim; r++) {
    if (fabs(b->sigma[r]) > tb_min(noise, b->tolerance * b->scale / b->stiffness)) return 0;
  }
  return b->kind == TB_BLOCK_CONE;
}

static void list_resting(const Context* x, const tbConstraints* cs, int island, const tbReal* force,
                         Resting* rest) {
  for (int i = 0; i < cs->count; i++) {
    const tbConstraint* c = &cs->list[i];
    if (c->island != island || c->source != TB_SOURCE_CONTACT) continue;
    Terms terms[TB_MAX_DIM];
    tbReal sigma[TB_MAX_DIM], diagonal[TB_MAX_DIM];
    if (is_far(x, c, force + c->row)) continue;
    evaluate(x, c, force + c->row, terms, sigma, diagonal);
    tbLawBlock block = block_of(x, c, force + c->row, sigma, diagonal);
    tb_law_mode(&block);
    if (!is_resting(&block, RESIDUALS * x->d->solve.residual.dual + STANDSTILL)) continue;
    rest->near_change |= block.near_change;
    for (int r = 0; r < c->dim; r++) {
      if (terms[r].R > 0) continue;
      rest->constraint[rest->n] = i;
      rest->row[rest->n++] = r;
    }
  }
}

// f <- (G + eps)^-1 G f: the same J^T f with the least norm. False where G cannot be factored.
static int least_norm(const Context* x, const tbConstraints* cs, const tbReal* force,
                      Resting* rest) {
  int n = rest->n, nv = x->m->nv;
  for (int i = 0; i < n; i++) {
    row_response(x, &cs->list[rest->constraint[i]], rest->row[i], rest->Y + (size_t)i * (size_t)nv);
  }
  tbReal trace = 0;
  for (int i = 0; i < n; i++) {
    const tbConstraint* c = &cs->list[rest->constraint[i]];
    rest->rhs[i] = 0;
    for (int j = 0; j < n; j++) {
      tbReal g = row_velocity(c, rest->row[i], rest->Y + (size_t)j * (size_t)nv);
      rest->G[(size_t)i * (size_t)n + (size_t)j] = g;
      rest->rhs[i] += g * force[cs->list[rest->constraint[j]].row + rest->row[j]];
    }
    trace += rest->G[(size_t)i * (size_t)n + (size_t)i];
  }
  for (int i = 0; i < n; i++) rest->G[(size_t)i * (size_t)n + (size_t)i] += LEAST_NORM * trace / n;
  if (!tb_cholesky(n, rest->G, n, rest->scratch)) return 0;
  tb_cholesky_solve(n, rest->G, n, rest->rhs);
  return 1;
}

// 1 where all of the contacts lie well inside of their cones.
static int is_inside(const Context* x, const tbConstraints* cs, const Resting* rest,
                     const tbReal* force) {
  for (int i = 0; i < rest->n; i++) {
    const tbConstraint* c = &cs->list[rest->constraint[i]];
    const tbReal *f = force + c->row, *mu = x->d->contact[c->id].friction;
    tbReal used = 0, room = WELL_INSIDE * x->settings->mode_tolerance * x->largest;
    for (int r = 1; r < c->dim; r++) used += f[r] * f[r] / (mu[r - 1] * mu[r - 1]);
    int pyramid = x->m->opt.law == TB_LAW_LCP;
    for (int r = 1; pyramid && r < c->dim; r++) {
      if (!(fabs(f[r]) < mu[r - 1] * (f[0] - room))) return 0;
    }
    if (!(f[0] > room) || (!pyramid && !(sqrt(used) < f[0] - room))) return 0;
  }
  return 1;
}

// 1 where some contact at rest is on the boundary of its cone, by an estimate of the scale.
static int has_edge(const Context* x, const tbConstraints* cs, const tbReal* force) {
  tbReal small = x->settings->mode_tolerance * x->largest;
  for (int i = 0; i < cs->count; i++) {
    const tbConstraint* c = &cs->list[i];
    const tbReal* f = force + c->row;
    if (c->source != TB_SOURCE_CONTACT || c->dim < 3 || c->island < 0 || is_far(x, c, f)) continue;
    const tbReal* mu = x->d->contact[c->id].friction;
    tbReal used = 0, slip = 0, free = tb_max(tb_row_weight(x->m, x->d, c, 0), 1e-12);
    for (int r = 1; r < c->dim; r++) {
      used += f[r] * f[r] / (mu[r - 1] * mu[r - 1]);
      slip = tb_max(slip, fabs(row_velocity(c, r, x->v_next)));
    }
    if (slip > 100 * small * x->m->opt.timestep * free) continue;
    if (f[0] - sqrt(used) <= small) return 1;
  }
  return 0;
}

// Redundant contacts at rest can share their load in many ways, and a solver may leave one of them
// on the boundary of its cone. If the force distribution of least norm lies inside of all cones, it
// is used instead: the motion is the same, and so is its derivative.
static tbResult share_load(const Context* x, const tbConstraints* cs, tbReal* force) {
  if (!has_edge(x, cs, force)) return TB_OK;
  int islands = 0;
  size_t rows = (size_t)cs->nrow, nv = (size_t)x->m->nv;
  for (int i = 0; i < cs->count; i++) {
    if (cs->list[i].island >= islands) islands = cs->list[i].island + 1;
  }
  for (int k = 0; k < islands; k++) {
    tbArenaMark mark = tb_arena_mark(&x->x->arena);
    Resting rest = {.constraint = TB_ARENA_NEW(&x->x->arena, int, rows + 1)};
    rest.row = TB_ARENA_NEW(&x->x->arena, int, rows + 1);
    if (!rest.constraint || !rest.row) return TB_ERROR_MEMORY;
    list_resting(x, cs, k, force, &rest);
    size_t n = (size_t)rest.n;
    if (rest.near_change && n > 0 && n < 400) {
      rest.Y = TB_ARENA_NEW(&x->x->arena, tbReal, n * nv + n * n + n + rows);
      rest.scratch = TB_ARENA_NEW(&x->x->arena, tbReal, tb_cholesky_scratch(rest.n) + 1);
      if (!rest.Y || !rest.scratch) return TB_ERROR_MEMORY;
      rest.G = rest.Y + n * nv;
      rest.rhs = rest.G + n * n;
      tbReal* trial = rest.rhs + n;
      memcpy(trial, force, sizeof(tbReal) * rows);
      int found = least_norm(x, cs, force, &rest);
      for (size_t i = 0; found && i < n; i++) {
        trial[cs->list[rest.constraint[i]].row + rest.row[i]] = rest.rhs[i];
      }
      if (found && is_inside(x, cs, &rest, trial)) memcpy(force, trial, sizeof(tbReal) * rows);
    }
    tb_arena_release(&x->x->arena, mark);
  }
  return TB_OK;
}

tbResult tb_rigid_linearize(tbDerivatives* x, const tbStep* step,
                            const tbDerivativeSettings* settings) {
  tbData* d = step->d;
  const tbStepState* state = step->state;
  const tbModel* m = x->m;
  const tbConstraints* cs = &state->constraints;
  tbReal* room = TB_ARENA_NEW(&x->arena, tbReal, 2 * m->nv + 12 * m->nbody);
  if (!room) return TB_ERROR_MEMORY;
  for (int i = 0; i < m->nv; i++) room[i] = d->qvel[i] + m->opt.timestep * d->qacc[i];
  Context context = {.x = x, .d = d, .m = m, .settings = settings, .v_next = room};
  context.gradient = room + m->nv;
  context.body = room + 2 * m->nv;
  for (int r = 0; r < cs->nrow; r++) {
    context.largest = tb_max(context.largest, fabs(state->row_force[r]));
  }
  tbInertiaFactor factor;
  tbResult result = tb_implicit_factor(m, d, TB_IMPLICIT_STIFF, &factor);
  if (result != TB_OK) return result;
  memcpy(x->law.LD, factor.LD, sizeof(tbReal) * (size_t)m->nM);
  memcpy(x->law.inverse, factor.inverse, sizeof(tbReal) * (size_t)m->nv);

  x->law.Y = tb_arena_alloc(&x->arena, sizeof(tbReal) * (size_t)(cs->nrow * m->nv + 1));
  if (!x->law.Y) return TB_ERROR_MEMORY;
  tbPartials partials = {x->law.force, x->ncol};
  result = tb_deriv_inertia(x, d, d->qacc, &partials);
  if (result == TB_OK) result = tb_deriv_smooth(x, d, d->qacc, TB_IMPLICIT_STIFF, &partials);
  x->c = m->opt.timestep;
  x->input_damps = tb_deriv_input_damps(m);
  tbReal* force = tb_arena_alloc(&x->arena, sizeof(tbReal) * (size_t)(cs->nrow + 1));
  if (!force) return TB_ERROR_MEMORY;
  memcpy(force, state->row_force, sizeof(tbReal) * (size_t)cs->nrow);
  if (tb_rigid_state(m, state)->modified) {
    x->info.differentiable = 0;
    snprintf(x->info.reason, sizeof x->info.reason,
             "restitution is reduced, or a degenerate contact softened, in this step");
  }
  if (m->opt.law == TB_LAW_RAISIM && !tb_deriv_reserve_sources(x, cs)) return TB_ERROR_MEMORY;
  // RaiSim's law depends on the force of each individual contact.
  int shares = !(settings->relaxation > 0) && m->opt.law != TB_LAW_RAISIM;
  if (result == TB_OK && shares) result = share_load(&context, cs, force);
  for (int i = 0; result == TB_OK && i < cs->count; i++) {
    if (cs->list[i].island >= 0) result = add_constraint(&context, &cs->list[i], force);
  }
  x->by_responses = m->opt.law == TB_LAW_RAISIM && x->info.sliding > 0;
  return result;
}

void tb_deriv_diagonal(const tbDerivatives* x, const tbData* d, const tbConstraint* c,
                       const tbActiveRows* a, int r, tbReal scale, tbReal* out, tbReal* room) {
  Context context = {.x = (tbDerivatives*)x, .d = (tbData*)d, .m = x->m};
  context.gradient = room + x->nv;
  context.body = room + 2 * x->nv;
  row_response(&context, c, r, room);
  add_diagonal(&context, a, r, room, scale, out);
}
