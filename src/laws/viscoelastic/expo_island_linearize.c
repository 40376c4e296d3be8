// One island of the exponential integrator differentiated (docs/notebook/derivatives.md, eq.
// 68-71): its passes are repeated together with the derivatives of all their inputs.
#include "laws/viscoelastic/expo_linearize.h"

#include <string.h>

#include "dynamics/axis.h"
#include "linalg/oscillator_tangent.h"
#include "laws/viscoelastic/viscoelastic.h"

// Largest size of one island's derivatives; beyond it whole steps are differentiated by
// differences.
enum { MOST_CHANGES = 1 << 23 };

// An island's system and its derivatives, in `w` directions: the ncol columns, a unit load on each
// of its n rows, the friction of each of its members.
typedef struct {
  tbExpoSystem s;
  int w;
  tbActiveRows** active;   // by member, NULL where it is inactive
  tbReal *p, *v, *a;       // n x w
  tbReal* velocity;        // n x w: of the points themselves
  tbReal* friction;        // n x w
  tbReal *first, *second;  // n x w
  int turns;               // number of first columns that change Y: nv, or all where damping
                           // depends on the state
  tbReal* Y;               // n x n x turns
  tbReal *kp, *kv, *ka;    // kept x w
  tbReal *part1, *part2;   // kept x w
  tbReal* kY;              // kept x kept x w
  tbReal* work;
  tbReal* by_raw;  // TB_MAX_DIM x w
} Tangent;

static void add_row(tbReal* to, const tbReal* from, tbReal s, int n) {
  for (int i = 0; s != 0 && i < n; i++) to[i] += s * from[i];
}

// ---- inputs ------------------------------------------------------------------------------------

// d(dJ/dt v) of a contact's rows, by q and v, into `a` (dim rows of w). Beyond TB_EXPO_TURN the
// reduction factor is treated as constant.
static tbResult add_drift(const tbExpoReplay* y, const tbConstraint* c, const tbActiveRows* act,
                          int w, tbReal* a) {
  const tbContact* contact = &y->d->contact[c->id];
  tbReal share[2];
  for (int side = 0; side < 2; side++) {
    share[side] = tb_expo_drift_fade(y->x->m, y->d, y->x->m->geom_bodyid[contact->geom[side]]);
  }
  return tb_contact_drift(y->x, y->d, c, act, share, w, c->dim, a);
}

// d(J qacc_free + dJ/dt v), and the unit loads.
static tbResult load_changes(const tbExpoReplay* y, const tbConstraint* c, Tangent* t, int k,
                             int i) {
  const tbActiveRows* act = t->active[k];
  int w = t->w, ncol = y->x->ncol;
  tbReal* a = t->a + (size_t)i * (size_t)w;
  for (int r = 0; r < c->dim; r++) {
    tbReal* row = a + (size_t)r * (size_t)w;
    for (int q = 0; q < c->nnz; q++) {
      add_row(row, y->free + (size_t)c->col[q] * (size_t)ncol, c->J[(size_t)(r * c->nnz + q)],
              ncol);
    }
    row[ncol + i + r] = 1;
  }
  tb_active_velocity(act, y->context.qacc_free, 1, a, w);
  return c->source == TB_SOURCE_CONTACT ? add_drift(y, c, act, w, a) : TB_OK;
}

// Derivatives of stretch, rate and friction of one spring (tb_springs_measure and tb_expo_gather),
// rows from i on.
static tbResult spring_changes(const tbExpoReplay* y, const tbConstraint* c, const tbSpring* spring,
                               Tangent* t, int k, int i) {
  tbDerivatives* x = y->x;
  size_t w = (size_t)t->w, first = (size_t)i * w;
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbReal* force = TB_ARENA_NEW(&x->arena, tbReal, (size_t)c->dim * w + 1);
  if (!force) return TB_ERROR_MEMORY;
  tbSpringChange change = {t->p + first, t->v + first, t->velocity + first,
                           force,        t->w,         x->ncol + t->s.n + k};
  tbResult result = tb_spring_changes(x, y->d, y->state, c, spring, t->active[k], y->near, &change);
  if (result != TB_OK) return result;
  for (int r = 0; r < c->dim; r++) {
    tbReal *fr = t->friction + first + (size_t)r * w, *df = force + (size_t)r * w;
    if (t->s.state[k] == TB_ROWS_SLIP) {
      add_row(fr, df, 1 / spring->force[0], t->w);
      add_row(fr, force, -t->s.friction[i + r] / spring->force[0], t->w);
    } else {
      add_row(fr, df, 1, t->w);
    }
  }
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}

// Y = J H^-1 J^T of the acting rows, and dY_rs = dJ_r u_s + dJ_s u_r - u_r^T dM u_s (eq. 68).
static tbResult inverse_inertia(const tbExpoReplay* y, Tangent* t) {
  tbDerivatives* x = y->x;
  size_t nv = (size_t)x->nv, N = (size_t)t->s.n;
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbReal* dM = TB_ARENA_NEW(&x->arena, tbReal, nv * nv + 1);
  tbReal* both = TB_ARENA_NEW(&x->arena, tbReal, nv + 1);
  const tbActiveRows** owner = tb_arena_alloc(&x->arena, sizeof(void*) * (N + 1));
  int* row = tb_arena_alloc(&x->arena, sizeof(int) * (N + 1));
  if (!dM || !both || !owner || !row) return TB_ERROR_MEMORY;
  size_t at = 0;
  for (int k = 0; k < t->s.nmember; k++) {
    for (int r = 0; t->active[k] && r < t->active[k]->dim; r++) {
      owner[at] = t->active[k];
      row[at++] = r;
    }
  }
  for (size_t s = 0; s < N; s++) {
    const tbReal* us = x->law.Y + (size_t)(owner[s]->row + row[s]) * nv;
    // dM u: partials with this acceleration minus those without.
    tb_rne_partials(x->m, y->d, us, NULL, dM, NULL);
    for (size_t i = 0; i < nv * nv; i++) dM[i] -= y->rigid[i];
    for (size_t r = 0; r < N; r++) {
      const tbActiveRows* a = owner[r];
      const tbReal *J = a->J + (size_t)row[r] * (size_t)a->nnz,
                   *ur = x->law.Y + (size_t)(a->row + row[r]) * nv;
      size_t turns = (size_t)t->turns;
      tbReal sum = 0, *dY = t->Y + (r * N + s) * turns, *other = t->Y + (s * N + r) * turns;
      for (int k = 0; k < a->nnz; k++) sum += J[k] * us[a->col[k]];
      t->s.Y[r * N + s] = sum;
      for (size_t i = 0; i < nv; i++) add_row(dY, dM + i * nv, -ur[i], x->nv);
      // dJ_r u_s contributes to both (r, s) and (s, r).
      tbActiveRows one = tb_active_row(a, row[r]);
      memset(both, 0, sizeof(tbReal) * nv);
      tb_active_velocity(&one, us, 1, both, x->nv);
      add_row(dY, both, 1, x->nv);
      add_row(other, both, 1, x->nv);
      if (t->turns > x->nv) tb_deriv_damping_change(x, y->d, ur, us, 1, dY);
    }
  }
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}

// ---- one pass -----------------------------------------------------------------------------------

// dY of the entry (i, j) of all rows, in its directions.
static const tbReal* entry_of(const Tangent* t, int i, int j) {
  return t->Y + ((size_t)i * (size_t)t->s.n + (size_t)j) * (size_t)t->turns;
}

// Derivatives of the results of tb_expo_reduce. `wide`: directions in which the kept Y changes.
static void reduce_changes(Tangent* t, int wide) {
  const tbExpoSystem* s = &t->s;
  size_t w = (size_t)t->w, n = (size_t)s->kept, W = (size_t)wide;
  for (size_t i = 0; i < n; i++) {
    size_t from = (size_t)s->keep[i] * w;
    memcpy(t->kp + i * w, t->p + from, sizeof(tbReal) * w);
    memcpy(t->kv + i * w, t->v + from, sizeof(tbReal) * w);
    memcpy(t->ka + i * w, t->a + from, sizeof(tbReal) * w);
    for (size_t j = 0; j < n; j++) {
      tbReal* to = t->kY + (i * n + j) * W;
      memset(to, 0, sizeof(tbReal) * W);
      add_row(to, entry_of(t, s->keep[i], s->keep[j]), 1, t->turns);
    }
  }
  for (int k = 0, i = 0, j = 0; k < s->nmember; k++) {
    if (!t->active[k]) continue;
    int dim = t->active[k]->dim;
    for (size_t row = 0; row < n; row++) {
      const tbReal* Y = s->Y + (size_t)s->keep[row] * (size_t)s->n;
      // Dry friction at its bound loads the row; slipping friction is proportional to the normal
      // force.
      if (s->state[k] == TB_ROWS_FIXED) {
        add_row(t->ka + row * w, entry_of(t, s->keep[row], i), s->friction[i], t->turns);
        add_row(t->ka + row * w, t->friction + (size_t)i * w, Y[i], t->w);
      }
      for (int r = 1; s->state[k] == TB_ROWS_SLIP && r < dim; r++) {
        tbReal* to = t->kY + (row * n + (size_t)j) * W;
        add_row(to, entry_of(t, s->keep[row], i + r), s->friction[i + r], t->turns);
        add_row(to, t->friction + (size_t)(i + r) * w, Y[i + r], wide);
      }
    }
    j += tb_expo_kept(s->state[k], dim);
    i += dim;
  }
}

// Derivatives of the results of tb_expo_expand; called after it.
static void expand_changes(const Tangent* t, tbReal h) {
  const tbExpoSystem* s = &t->s;
  size_t w = (size_t)t->w;
  memset(t->first, 0, sizeof(tbReal) * (size_t)s->n * w);
  memset(t->second, 0, sizeof(tbReal) * (size_t)s->n * w);
  for (int i = 0; i < s->kept; i++) {
    memcpy(t->first + (size_t)s->keep[i] * w, t->part1 + (size_t)i * w, sizeof(tbReal) * w);
    memcpy(t->second + (size_t)s->keep[i] * w, t->part2 + (size_t)i * w, sizeof(tbReal) * w);
  }
  for (int k = 0, i = 0; k < s->nmember; k++) {
    if (!t->active[k]) continue;
    int dim = t->active[k]->dim;
    size_t normal = (size_t)i * w;
    for (int r = 1; s->state[k] == TB_ROWS_SLIP && r < dim; r++) {
      size_t to = (size_t)(i + r) * w;
      add_row(t->first + to, t->first + normal, s->friction[i + r], t->w);
      add_row(t->first + to, t->friction + to, s->first[i], t->w);
      add_row(t->second + to, t->second + normal, s->friction[i + r], t->w);
      add_row(t->second + to, t->friction + to, s->second[i], t->w);
    }
    if (s->state[k] == TB_ROWS_FIXED) {
      add_row(t->first + normal, t->friction + normal, h, t->w);
      add_row(t->second + normal, t->friction + normal, 0.5 * h * h, t->w);
    }
    i += dim;
  }
}

// The mean force of rows i on and its derivatives, before any limit: integral times `scale`.
static void mean_changes(Tangent* t, const tbReal* integral, const tbReal* change, int i, int dim,
                         tbReal scale, tbReal* mean) {
  for (int r = 0; r < dim; r++) {
    size_t w = (size_t)t->w;
    mean[r] = scale * integral[i + r];
    memset(t->by_raw + (size_t)r * w, 0, sizeof(tbReal) * w);
    add_row(t->by_raw + (size_t)r * w, change + (size_t)(i + r) * w, scale, t->w);
  }
}

// Called after tb_expo_revise: constraints that start to slip do so with the friction of their mean
// force, those that stop slipping stick with the velocity of their points.
static tbResult revise_changes(const tbExpoReplay* y, Tangent* t, const int* before, tbReal h) {
  tbDerivatives* x = y->x;
  const tbExpoSystem* s = &t->s;
  size_t w = (size_t)t->w;
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbReal* force = tb_arena_alloc(&x->arena, sizeof(tbReal) * (TB_MAX_DIM * w + 1));
  if (!force) return TB_ERROR_MEMORY;
  for (int k = 0, i = 0; k < s->nmember; k++) {
    if (!t->active[k]) continue;
    const tbConstraint* c = &y->context.cs->list[s->member[k]];
    int dim = c->dim, gave_way = before[k] == TB_ROWS_STICK && s->state[k] > TB_ROWS_STICK;
    if (gave_way) {
      tbReal mean[TB_MAX_DIM], normal = s->first[i] / h;
      mean_changes(t, s->first, t->first, i, dim, 1 / h, mean);
      tb_limit_changes(x, y->d, c, mean, y->near, x->ncol + s->n + k, t->by_raw, t->w, force);
      int contact = c->source == TB_SOURCE_CONTACT;
      for (int r = contact; r < dim; r++) {
        tbReal* to = t->friction + (size_t)(i + r) * w;
        memset(to, 0, sizeof(tbReal) * w);
        add_row(to, force + (size_t)r * w, contact ? 1 / normal : 1, t->w);
        if (contact) add_row(to, force, -s->friction[i + r] / normal, t->w);
      }
    } else if (before[k] > TB_ROWS_STICK && s->state[k] == TB_ROWS_STICK) {
      memcpy(t->v + (size_t)i * w, t->velocity + (size_t)i * w, sizeof(tbReal) * w * (size_t)dim);
    }
    i += dim;
  }
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}

// ---- an island ----------------------------------------------------------------------------------

static tbResult allocate(tbArena* arena, Tangent* t) {
  size_t n = (size_t)t->s.n, w = (size_t)t->w;
  tbReal** const rows[] = {&t->p,      &t->v,  &t->a,  &t->velocity, &t->friction, &t->first,
                           &t->second, &t->kp, &t->kv, &t->ka,       &t->part1,    &t->part2};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    *rows[i] = TB_ARENA_NEW(arena, tbReal, n * w + 1);
  }
  t->Y = TB_ARENA_NEW(arena, tbReal, n * n * (size_t)t->turns + 1);
  t->kY = tb_arena_alloc(arena, sizeof(tbReal) * (n * n * w + 1));
  t->work = tb_arena_alloc(arena, sizeof(tbReal) * (tb_oscillator_tangent_work((int)n, t->w) + 1));
  t->by_raw = TB_ARENA_NEW(arena, tbReal, TB_MAX_DIM * w + 1);
  return arena->failed ? TB_ERROR_MEMORY : TB_OK;
}

static tbResult start_changes(const tbExpoReplay* y, Tangent* t) {
  tbResult result = inverse_inertia(y, t);
  for (int k = 0, i = 0; result == TB_OK && k < t->s.nmember; k++) {
    int id = t->s.member[k];
    const tbConstraint* c = &y->context.cs->list[id];
    if (!t->active[k]) continue;
    result = load_changes(y, c, t, k, i);
    if (result == TB_OK) result = spring_changes(y, c, y->context.spring[id], t, k, i);
    i += c->dim;
  }
  return result;
}

// The passes of island_forces in expo.c.
static tbResult passes(const tbExpoReplay* y, Tangent* t) {
  const tbOption* opt = &y->context.m->opt;
  tbExpoSystem* s = &t->s;
  tbOscillatorSettings settings = {opt->expm_order, opt->expm_accuracy};
  int* before = tb_arena_alloc(&y->x->arena, sizeof(int) * (size_t)(s->nmember + 1));
  if (!before) return TB_ERROR_MEMORY;
  for (int pass = 0;; pass++) {
    bool general = tb_expo_reduce(&y->context, s);
    tbOscillator o = tb_expo_oscillator(s, general);
    tbOscillatorInfo plan;
    if (!tb_oscillator_integrals(&o, opt->timestep, &settings, s->part1, s->part2, NULL, s->work,
                                 s->iwork, &plan)) {
      return TB_ERROR_NUMERIC;
    }
    int wide = general ? t->w : t->turns;
    reduce_changes(t, wide);
    tbOscillatorChange change = {t->w, t->kp, t->kv, t->ka, t->kY, wide};
    if (s->kept > 0 && !tb_oscillator_tangents(&o, opt->timestep, &plan, &change, t->part1,
                                               t->part2, t->work, s->iwork)) {
      return TB_ERROR_UNSUPPORTED;
    }
    tb_expo_expand(&y->context, s, opt->timestep);
    expand_changes(t, opt->timestep);
    memcpy(before, s->state, sizeof(int) * (size_t)s->nmember);
    if (pass + 1 == TB_EXPO_PASSES || !tb_expo_revise(&y->context, s, opt->timestep)) return TB_OK;
    tbResult result = revise_changes(y, t, before, opt->timestep);
    if (result != TB_OK) return result;
  }
}

// Means within the limits (limit_means in expo.c): forces of the velocity and of the position into
// the active rows, their partials into E and move.E, and responses to loads and friction.
static tbResult store(const tbExpoReplay* y, Tangent* t, tbExpoResponse* out) {
  tbDerivatives* x = y->x;
  tbReal h = x->h;
  size_t w = (size_t)t->w, ncol = (size_t)x->ncol, n = (size_t)t->s.n,
         members = (size_t)t->s.nmember;
  tbReal* force = tb_arena_alloc(&x->arena, sizeof(tbReal) * (TB_MAX_DIM * w + 1));
  out->n = t->s.n;
  out->nmember = t->s.nmember;
  out->row = tb_arena_alloc(&x->arena, sizeof(int) * (n + 1));
  out->contact = tb_arena_alloc(&x->arena, sizeof(int) * (members + 1));
  for (int second = 0; second < 2; second++) {
    out->by_load[second] = tb_arena_alloc(&x->arena, sizeof(tbReal) * (n * n + 1));
    out->by_friction[second] = tb_arena_alloc(&x->arena, sizeof(tbReal) * (n * members + 1));
  }
  if (x->arena.failed || !force) return TB_ERROR_MEMORY;
  for (int k = 0, i = 0; k < t->s.nmember; k++) {
    const tbConstraint* c = &y->context.cs->list[t->s.member[k]];
    tbActiveRows* a = t->active[k];
    out->contact[k] = c->source == TB_SOURCE_CONTACT ? c->id : -1;
    if (!a) continue;
    for (int second = 0; second < 2; second++) {
      tbReal mean[TB_MAX_DIM], *E = second ? x->move.E : x->E;
      mean_changes(t, second ? t->s.second : t->s.first, second ? t->second : t->first, i, c->dim,
                   second ? 2 / (h * h) : 1 / h, mean);
      if (t->s.state[k] <= TB_ROWS_STICK) {
        tb_limit_changes(x, y->d, c, mean, y->near, x->ncol + t->s.n + k, t->by_raw, t->w, force);
      } else {
        // The force is on the boundary already, and so are its derivatives by friction.
        memcpy(force, t->by_raw, sizeof(tbReal) * (size_t)c->dim * w);
        if (c->source == TB_SOURCE_CONTACT && !(mean[0] > y->near)) {
          tb_springs_kink(x, "limit of constraint", c->row);
        }
      }
      tb_spring_limit(x->m, y->d, c, mean);
      memcpy(second ? a->sigma : a->force, mean, sizeof(tbReal) * (size_t)c->dim);
      for (int r = 0; r < c->dim; r++) {
        size_t to = (size_t)(i + r);
        memcpy(E + (size_t)(a->row + r) * ncol, force + (size_t)r * w, sizeof(tbReal) * ncol);
        memcpy(out->by_load[second] + to * n, force + (size_t)r * w + ncol, sizeof(tbReal) * n);
        memcpy(out->by_friction[second] + to * members, force + (size_t)r * w + ncol + n,
               sizeof(tbReal) * members);
        out->row[to] = a->row + r;
      }
    }
    if (c->source == TB_SOURCE_CONTACT) {
      x->info.separated += !(a->force[0] > 0);
      x->info.sliding += a->force[0] > 0 && t->s.state[k] == TB_ROWS_SLIP;
      x->info.sticking += a->force[0] > 0 && t->s.state[k] == TB_ROWS_STICK;
    }
    i += c->dim;
  }
  return TB_OK;
}

tbResult tb_expo_island_changes(const tbExpoReplay* y, const int* member, int count,
                                tbActiveRows** active, tbExpoResponse* out) {
  tbArena* arena = &y->x->arena;
  int rows = 0;
  for (int k = 0; k < count; k++) rows += y->context.cs->list[member[k]].dim;
  Tangent t = {.s = {.member = member}, .active = active};
  if (!tb_expo_allocate(arena, count, rows, &t.s)) return TB_ERROR_MEMORY;
  // The rank of Y determines which method the step used.
  char* seen = TB_ARENA_NEW(arena, char, y->x->nv + 1);
  if (!seen) return TB_ERROR_MEMORY;
  for (int k = 0; k < count; k++) {
    const tbConstraint* c = &y->context.cs->list[member[k]];
    for (int q = 0; q < c->nnz; q++) t.s.rank += !seen[c->col[q]], seen[c->col[q]] = 1;
  }
  tb_expo_gather(&y->context, &t.s);
  t.w = y->x->ncol + t.s.n + count;
  t.turns = y->turns;
  if ((double)t.s.n * t.s.n * t.w > MOST_CHANGES) return TB_ERROR_UNSUPPORTED;
  tbResult result = allocate(arena, &t);
  if (result == TB_OK) result = start_changes(y, &t);
  if (result == TB_OK) result = passes(y, &t);
  return result == TB_OK ? store(y, &t, out) : result;
}
