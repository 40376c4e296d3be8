// The exponential integrator (EXP sections III and IV): contact points are linear oscillators over
// the step, and their mean forces are projected on the friction cones.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "base/kernel.h"
#include "linalg/oscillator.h"
#include "model/workspace.h"
#include "spatial/vec3.h"
#include "laws/viscoelastic/expo_system.h"
#include "laws/viscoelastic/viscoelastic.h"
#include "tribo/dynamics.h"

tbReal tb_expo_drift_fade(const tbModel* m, const tbData* d, int body) {
  tbReal turn = tb_norm3(d->cvel + 6 * body) * m->opt.timestep;
  return turn > TB_EXPO_TURN ? TB_EXPO_TURN * TB_EXPO_TURN / (turn * turn) : 1;
}

// Velocity-product term of a contact's rows: dJ/dt v, the acceleration of the points when qacc is
// zero.
static void add_velocity_product(const tbExpoContext* x, const tbConstraint* c, tbReal* a) {
  const tbContact* contact = &x->d->contact[c->id];
  for (int side = 0; side < 2; side++) {
    int body = x->m->geom_bodyid[contact->geom[side]];
    if (x->m->body_lastdof[body] < 0) continue;
    tbReal linear[3], angular[3];
    tbReal sign = (side ? 1 : -1) * tb_expo_drift_fade(x->m, x->d, body);
    tb_jac_dot_v(x->m, x->d, body, contact->pos, linear, angular);
    for (int r = 0; r < c->dim; r++) {
      a[r] += sign * (r < 3 ? tb_dot3(contact->frame + 3 * r, linear)
                            : tb_dot3(contact->frame + 3 * (r - 3), angular));
    }
  }
}

// a = J qacc_free + dJ/dt v (EXP eq. 10). Rows other than contacts have no velocity-product term.
static void load_of(const tbExpoContext* x, const tbConstraint* c, tbReal* a) {
  for (int r = 0; r < c->dim; r++) {
    const tbReal* J = c->J + (size_t)r * (size_t)c->nnz;
    a[r] = 0;
    for (int k = 0; k < c->nnz; k++) a[r] += J[k] * x->qacc_free[c->col[k]];
  }
}

// Rows of Y = B B^T, where `column` holds the columns of B, each `stride` long (a multiple of
// four), followed by room for one row.
TB_INLINE void product(const tbDelassus* G, const int* row, int n, int stride, tbReal* column,
                       tbReal* Y) {
  tbReal* sum = column + (size_t)G->ncol * (size_t)stride;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < stride; j++) sum[j] = 0;
    for (int k = G->row_start[row[i]]; k < G->row_start[row[i] + 1]; k++) {
      const tbReal *b = column + G->row_column[k] * stride, value = G->row_value[k];
      for (int j = 0; j < stride; j += 4) {
        tbReal next[4];
        for (int q = 0; q < 4; q++) next[q] = sum[j + q] + value * b[j + q];
        for (int q = 0; q < 4; q++) sum[j + q] = next[q];
      }
    }
    memcpy(Y + (size_t)i * (size_t)n, sum, sizeof(tbReal) * (size_t)n);
  }
}

static void product_generic(const tbDelassus* G, const int* row, int n, int stride, tbReal* column,
                            tbReal* Y) {
  product(G, row, n, stride, column, Y);
}

TB_WIDE static void product_avx2(const tbDelassus* G, const int* row, int n, int stride,
                                 tbReal* column, tbReal* Y) {
  product(G, row, n, stride, column, Y);
}

// The rows of G that belong to acting constraints, dense: Y = B B^T of the product form. False when
// out of memory.
static bool acting_block(tbArena* arena, const tbDelassus* G, const int* row, int n, tbReal* Y) {
  int stride = (n + 3) & ~3;
  tbReal* column = TB_ARENA_NEW(arena, tbReal, (size_t)(G->ncol + 1) * (size_t)stride);
  if (!column) return false;
  for (int i = 0; i < n; i++) {
    for (int k = G->row_start[row[i]]; k < G->row_start[row[i] + 1]; k++) {
      column[G->row_column[k] * stride + i] = G->row_value[k];
    }
  }
  if (tb_wide()) {
    product_avx2(G, row, n, stride, column, Y);
  } else {
    product_generic(G, row, n, stride, column, Y);
  }
  return true;
}

bool tb_expo_allocate(tbArena* arena, int nmember, int nrow, tbExpoSystem* s) {
  size_t N = (size_t)nrow, M = (size_t)nmember;
  s->nmember = nmember;
  s->row =
      tb_arena_alloc(arena, sizeof(int) * (2 * N + 2 * M + (size_t)tb_oscillator_ints((int)N) + 1));
  tbReal* at = tb_arena_alloc(arena, sizeof(tbReal) * (2 * N * N + 18 * N + 1));
  s->work = tb_arena_alloc(arena, sizeof(tbReal) * (tb_oscillator_work((int)N) + 1));
  if (!s->row || !at || !s->work) return false;
  s->keep = s->row + N;
  s->state = s->keep + N;
  s->has_slipped = s->state + M;
  s->iwork = s->has_slipped + M;
  tbReal** const vectors[] = {&s->K,     &s->B,      &s->p,     &s->v,    &s->a,  &s->load,
                              &s->Kk,    &s->Bk,     &s->pk,    &s->vk,   &s->ak, &s->friction,
                              &s->first, &s->second, &s->part1, &s->part2};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++, at += N) *vectors[i] = at;
  s->end = at;
  s->Y = at + 2 * N;
  s->Yk = s->Y + N * N;
  return true;
}

// A point beyond the end of its spring, which has not yet returned to the surface, and which it
// does not reach within the step. As an oscillator it would pull, and release other contacts.
static bool is_slack(const tbExpoContext* x, const tbConstraint* c, const tbSpring* spring,
                     tbReal load) {
  if (c->source < TB_SOURCE_LIMIT_JOINT || x->m->opt.contact_bilateral) return false;
  tbReal h = x->m->opt.timestep;
  tbReal end = spring->stretch[0] + h * (spring->velocity[0] + 0.5 * h * load);
  return spring->stretch[0] > 0 && end > 0;
}

void tb_expo_gather(const tbExpoContext* x, tbExpoSystem* s) {
  s->n = 0;
  for (int k = 0, at = 0; k < s->nmember; k++) {
    int id = s->member[k];
    const tbConstraint* c = &x->cs->list[id];
    const tbSpring* spring = x->spring[id];
    s->state[k] = spring ? TB_ROWS_STICK : TB_ROWS_OFF;
    s->has_slipped[k] = 0;
    if (spring) {
      int slides = spring->slipping && c->source == TB_SOURCE_CONTACT && spring->force[0] > 0;
      if (spring->slipping && c->source != TB_SOURCE_CONTACT) s->state[k] = TB_ROWS_FIXED;
      if (slides) s->state[k] = TB_ROWS_SLIP;
      load_of(x, c, s->load + s->n);
      memcpy(s->a + s->n, s->load + s->n, sizeof(tbReal) * (size_t)c->dim);
      if (c->source == TB_SOURCE_CONTACT) add_velocity_product(x, c, s->a + s->n);
      if (is_slack(x, c, spring, s->a[s->n])) s->state[k] = TB_ROWS_OFF;
      for (int r = 0; r < c->dim; r++, s->n++) {
        s->row[s->n] = at + r;
        s->K[s->n] = spring->K[r];
        s->B[s->n] = spring->B[r];
        s->p[s->n] = spring->stretch[r];
        s->v[s->n] = spring->rate[r];
        s->friction[s->n] = slides ? spring->force[r] / spring->force[0] : spring->force[r];
      }
    }
    at += c->dim;
  }
}

// Dry friction at its bound is a load on the kept rows.
static void add_fixed(const tbExpoContext* x, tbExpoSystem* s) {
  for (int k = 0, i = 0; k < s->nmember; k++) {
    int id = s->member[k];
    if (!x->spring[id]) continue;
    for (int j = 0; s->state[k] == TB_ROWS_FIXED && j < s->kept; j++) {
      s->ak[j] += s->Y[(size_t)s->keep[j] * (size_t)s->n + (size_t)i] * s->friction[i];
    }
    i += x->cs->list[id].dim;
  }
}

// The oscillators of the kept rows. The friction of a slipping contact is proportional to its
// normal force, so its columns of Y are added to that of the normal row, and Y is no longer
// symmetric.
bool tb_expo_reduce(const tbExpoContext* x, tbExpoSystem* s) {
  size_t N = (size_t)s->n;
  bool slips = false;
  s->kept = 0;
  for (int k = 0, i = 0; k < s->nmember; k++) {
    int id = s->member[k], dim = x->cs->list[id].dim;
    if (!x->spring[id]) continue;
    int rows = tb_expo_kept(s->state[k], dim);
    for (int r = 0; r < rows; r++) s->keep[s->kept++] = i + r;
    slips |= s->state[k] == TB_ROWS_SLIP;
    i += dim;
  }
  int n = s->kept;
  for (int i = 0; i < n; i++) {
    int row = s->keep[i];
    s->Kk[i] = s->K[row];
    s->Bk[i] = s->B[row];
    s->pk[i] = s->p[row];
    s->vk[i] = s->v[row];
    s->ak[i] = s->a[row];
    for (int j = 0; j < n; j++) s->Yk[i * n + j] = s->Y[(size_t)row * N + (size_t)s->keep[j]];
  }
  add_fixed(x, s);
  if (!slips) return false;
  for (int k = 0, i = 0, j = 0; k < s->nmember; k++) {
    int id = s->member[k], dim = x->cs->list[id].dim;
    if (!x->spring[id]) continue;
    if (s->state[k] == TB_ROWS_SLIP) {
      for (int row = 0; row < n; row++) {
        for (int r = 1; r < dim; r++) {
          s->Yk[row * n + j] +=
              s->friction[i + r] * s->Y[(size_t)s->keep[row] * N + (size_t)(i + r)];
        }
      }
    }
    j += tb_expo_kept(s->state[k], dim);
    i += dim;
  }
  return true;
}

void tb_expo_expand(const tbExpoContext* x, tbExpoSystem* s, tbReal h) {
  memset(s->first, 0, sizeof(tbReal) * (size_t)s->n);
  memset(s->second, 0, sizeof(tbReal) * (size_t)s->n);
  for (int i = 0; i < s->kept; i++) {
    s->first[s->keep[i]] = s->part1[i];
    s->second[s->keep[i]] = s->part2[i];
  }
  for (int k = 0, i = 0; k < s->nmember; k++) {
    int id = s->member[k], dim = x->cs->list[id].dim;
    if (!x->spring[id]) continue;
    for (int r = 1; s->state[k] == TB_ROWS_SLIP && r < dim; r++) {
      s->first[i + r] = s->friction[i + r] * s->first[i];
      s->second[i + r] = s->friction[i + r] * s->second[i];
    }
    if (s->state[k] == TB_ROWS_FIXED) {
      s->first[i] = h * s->friction[i];
      s->second[i] = 0.5 * h * h * s->friction[i];
    }
    i += dim;
  }
}

// Yk = left right^T: rows of B, and the same with the rows of friction added: friction of a
// slipping contact is proportional to the force of its normal row.
static void fill_factors(const tbExpoContext* x, tbExpoSystem* s) {
  const tbDelassus* G = s->G;
  size_t rank = (size_t)s->rank;
  memset(s->left, 0, sizeof(tbReal) * rank * (size_t)s->kept);
  memset(s->right, 0, sizeof(tbReal) * rank * (size_t)s->kept);
  for (int k = 0, i = 0, j = 0; k < s->nmember; k++) {
    int id = s->member[k], dim = x->cs->list[id].dim;
    if (!x->spring[id]) continue;
    int kept = tb_expo_kept(s->state[k], dim);
    for (int r = 0; r < dim && kept > 0; r++) {
      int to = s->state[k] == TB_ROWS_SLIP ? j : j + r, row = s->row[i + r];
      tbReal share = s->state[k] == TB_ROWS_SLIP && r > 0 ? s->friction[i + r] : 1;
      for (int e = G->row_start[row]; e < G->row_start[row + 1]; e++) {
        size_t at = (size_t)to * rank + (size_t)G->row_column[e];
        s->right[at] += share * G->row_value[e];
        if (r < kept) s->left[at] += G->row_value[e];
      }
    }
    i += dim;
    j += kept;
  }
}

bool tb_expo_integrate(const tbExpoContext* x, tbExpoSystem* s, tbReal h) {
  const tbOption* opt = &x->m->opt;
  tbOscillatorSettings settings = {opt->expm_order, opt->expm_accuracy};
  bool general = tb_expo_reduce(x, s);
  tbReal* end = general || x->event ? s->end : NULL;
  tbOscillator system = tb_expo_oscillator(s, general);
  if (s->G) fill_factors(x, s);
  if (!tb_oscillator_integrals(&system, h, &settings, s->part1, s->part2, end, s->work, s->iwork,
                               NULL)) {
    return false;
  }
  tb_expo_expand(x, s, h);
  return true;
}

// Speed along the slip at the end of the step of a constraint whose rows start at i: rows `from`
// and later, against the friction.
static tbReal slip_speed(const tbExpoSystem* s, const tbReal* rate, int i, int from, int dim,
                         tbReal h) {
  tbReal along = 0;
  for (int r = from; r < dim; r++) {
    const tbReal* row = s->Y + (size_t)(i + r) * (size_t)s->n;
    tbReal end = rate[r] + h * s->a[i + r];
    for (int j = 0; j < s->n; j++) end += row[j] * s->first[j];
    along -= end * s->friction[i + r];
  }
  return along;
}

bool tb_expo_turns(const tbExpoSystem* s, int k, const tbSpring* spring, int i, tbReal h) {
  if (s->state[k] == TB_ROWS_SLIP) return slip_speed(s, spring->velocity, i, 1, spring->dim, h) < 0;
  return s->state[k] == TB_ROWS_FIXED && slip_speed(s, spring->velocity, i, 0, 1, h) < 0;
}

// Whether the mean force of a sticking constraint over the step exceeds its limits. If so,
// `friction` is set to the friction force while it slips: for a contact divided by the normal
// force, for dry friction the force at its bound.
static bool exceeds_limits(const tbExpoContext* x, tbExpoSystem* s, const tbConstraint* c, int i,
                           tbReal h) {
  tbReal mean[6];
  for (int r = 0; r < c->dim; r++) mean[r] = s->first[i + r] / h;
  if (!tb_spring_limit(x->m, x->d, c, mean)) return false;
  int contact = c->source == TB_SOURCE_CONTACT;
  if (contact && !(mean[0] > 0)) return false;
  for (int r = contact; r < c->dim; r++) {
    s->friction[i + r] = contact ? mean[r] / mean[0] : mean[r];
  }
  return true;
}

int tb_expo_revise(const tbExpoContext* x, tbExpoSystem* s, tbReal h) {
  int changed = 0;
  for (int k = 0, i = 0; k < s->nmember; k++) {
    int id = s->member[k];
    const tbConstraint* c = &x->cs->list[id];
    const tbSpring* spring = x->spring[id];
    if (!spring) continue;
    int one_sided = c->source >= TB_SOURCE_LIMIT_JOINT &&
                    !(c->source == TB_SOURCE_CONTACT && x->m->opt.contact_bilateral);
    int sticks = s->state[k] == TB_ROWS_STICK, next = s->state[k];
    if ((sticks || next == TB_ROWS_SLIP) && one_sided && s->first[i] < 0 && s->second[i] < 0) {
      next = TB_ROWS_OFF;
    } else if (sticks && !s->has_slipped[k] && exceeds_limits(x, s, c, i, h)) {
      next = c->source == TB_SOURCE_CONTACT ? TB_ROWS_SLIP : TB_ROWS_FIXED;
      s->has_slipped[k] = 1;
    } else if (!sticks && !s->has_slipped[k] && tb_expo_turns(s, k, spring, i, h)) {
      next = TB_ROWS_STICK;
      for (int r = 0; r < c->dim; r++) s->v[i + r] = spring->velocity[r];
    }
    changed |= next != s->state[k];
    s->state[k] = next;
    i += c->dim;
  }
  return changed;
}

// Mean and mean of the running mean, each within the limits (EXP eq. 23-26).
static void limit_means(const tbExpoContext* x, const tbExpoSystem* s, tbReal h, tbReal* lambda,
                        tbReal* second) {
  for (int k = 0, i = 0, at = 0; k < s->nmember; k++) {
    int id = s->member[k];
    const tbConstraint* c = &x->cs->list[id];
    if (x->spring[id]) {
      tbReal* mean = second + c->row;
      for (int r = 0; r < c->dim; r++) mean[r] = s->first[i + r] / h;
      tb_spring_limit(x->m, x->d, c, mean);
      for (int r = 0; r < c->dim; r++) lambda[at + r] = h * mean[r];
      for (int r = 0; r < c->dim; r++) mean[r] = 2 * s->second[i + r] / (h * h);
      tb_spring_limit(x->m, x->d, c, mean);
      i += c->dim;
    }
    at += c->dim;
  }
}

// Energy bound: springs, dampers and friction supply no more energy than the springs store, plus
// the work of the load on the displacement that the impulses add. With c = J (v + h qacc_free) this
// is
//     lambda . c + lambda . Y lambda / 2 <= sum K p^2 / 2 + h |lambda . a|.
// Means that were limited separately can violate this bound, where large forces balance each other:
// then all of the island are scaled down to it. If one of its contacts is unresolved, springs store
// no more than bodies supplied, and a is not a load: impulses whose work, lambda . (v + h load / 2)
// + lambda . Y lambda / 2, exceeds this energy are scaled until their work is zero.
static void bound_energy(const tbExpoContext* x, const tbExpoSystem* s, tbReal h, tbReal* lambda,
                         tbReal* second) {
  const tbReal most = 1.5;
  tbReal approach = 0, square = 0, stored = 0, load = 0, work = 0, supplied = 0;
  bool unresolved = false;
  for (int k = 0, i = 0, at = 0; k < s->nmember; k++) {
    const tbConstraint* c = &x->cs->list[s->member[k]];
    const tbSpring* spring = x->spring[s->member[k]];
    tbReal holds = 0;
    for (int r = 0; spring && r < c->dim; r++, i++) {
      tbReal impulse = lambda[at + r];
      approach += impulse * (spring->velocity[r] + h * s->a[i]);
      work += impulse * (spring->velocity[r] + 0.5 * h * s->load[i]);
      load += h * impulse * s->a[i];
      // A one-sided spring stores no energy in tension.
      bool slack = r == 0 && c->source >= TB_SOURCE_LIMIT_JOINT && s->p[i] > 0;
      if (!slack || x->m->opt.contact_bilateral) holds += 0.5 * s->K[i] * s->p[i] * s->p[i];
      s->first[i] = impulse;
    }
    stored += holds;
    if (spring) {
      supplied += c->source == TB_SOURCE_CONTACT ? tb_min(holds, spring->supplied) : holds;
      unresolved |= tb_contact_is_unresolved(x->m, x->d, c);
    }
    at += c->dim;
  }
  for (int i = 0; i < s->n; i++) {
    const tbReal* row = s->Y + (size_t)i * (size_t)s->n;
    for (int j = 0; j < s->n; j++) square += s->first[i] * row[j] * s->first[j];
  }
  if (!(square > 0)) return;
  tbReal allowed = most * (stored + fabs(load)), share = 1;
  if (unresolved && work + 0.5 * square > most * supplied) {
    share = tb_max(0, -2 * work / square);
    *x->unresolved = true;
  } else if (approach + 0.5 * square > allowed) {
    share = (sqrt(approach * approach + 2 * square * allowed) - approach) / square;
  } else {
    return;
  }
  for (int k = 0, at = 0; k < s->nmember; k++) {
    const tbConstraint* c = &x->cs->list[s->member[k]];
    for (int r = 0; r < c->dim; r++) {
      lambda[at + r] *= share;
      if (x->spring[s->member[k]]) second[c->row + r] *= share;
    }
    at += c->dim;
  }
}

// The angle by which friction of the island can turn the slip direction of a contact in a step, in
// radians: the largest change of a row's velocity over that velocity, both times the row's
// coefficient.
static tbReal slip_turn(const tbExpoContext* x, const tbExpoSystem* s, const tbConstraint* c, int i,
                        const tbReal* velocity) {
  const tbReal* mu = x->d->contact[c->id].friction;
  tbReal square = 0, most = 0;
  for (int r = 1; r < c->dim; r++) {
    const tbReal* row = s->Y + (size_t)(i + r) * (size_t)s->n;
    tbReal sum = 0;
    for (int k = 0, j = 0; k < s->nmember; k++) {
      const tbConstraint* other = &x->cs->list[s->member[k]];
      if (!x->spring[s->member[k]]) continue;
      for (int q = 1; s->state[k] == TB_ROWS_SLIP && q < other->dim; q++) {
        sum += fabs(row[j + q]) * x->d->contact[other->id].friction[q - 1] * s->first[j];
      }
      j += other->dim;
    }
    most = tb_max(most, mu[r - 1] * sum);
    square += mu[r - 1] * velocity[r] * mu[r - 1] * velocity[r];
  }
  return most / sqrt(square);
}

// Energy that bodies have supplied to the springs of unresolved contacts after the step: the
// previous value minus the work of their impulses, lambda . (v + v+) / 2 with v+ = v + h load + Y
// lambda, plus the work that returns their ends to the surface. The total of an island is at most
// the sum of these. For springs of other contacts it is infinite: their energy follows from the
// geometry.
static void update_supplied_energy(const tbExpoContext* x, const tbExpoSystem* s, tbReal h,
                                   const tbReal* lambda) {
  tbReal total = 0, positive = 0;
  for (int k = 0, i = 0, at = 0; k < s->nmember; k++) {
    int id = s->member[k], dim = x->cs->list[id].dim;
    for (int r = 0; x->spring[id] && r < dim; r++) s->first[i++] = lambda[at + r];
    at += dim;
  }
  for (int k = 0, i = 0; k < s->nmember; k++) {
    const tbConstraint* c = &x->cs->list[s->member[k]];
    const tbSpring* spring = x->spring[s->member[k]];
    x->supplied[s->member[k]] = INFINITY;
    if (!spring) continue;
    if (!tb_contact_is_unresolved(x->m, x->d, c)) {
      i += c->dim;
      continue;
    }
    tbReal force = s->first[i] / h, supplied = spring->supplied;
    supplied += force * (tb_next_depth(x->m, c, spring->depth) - spring->depth);
    for (int r = 0; r < c->dim; r++, i++) {
      const tbReal* row = s->Y + (size_t)i * (size_t)s->n;
      tbReal mean = spring->velocity[r] + 0.5 * h * s->load[i];
      for (int j = 0; j < s->n; j++) mean += 0.5 * row[j] * s->first[j];
      supplied -= s->first[i] * mean;
    }
    total += supplied;
    x->supplied[s->member[k]] = tb_max(0, supplied);
    positive += tb_max(0, supplied);
  }
  tbReal share = positive > 0 ? tb_max(0, total) / positive : 0;
  for (int k = 0; k < s->nmember; k++) {
    if (isfinite(x->supplied[s->member[k]])) x->supplied[s->member[k]] *= share;
  }
}

// Anchor slip of one slipping contact, whose rows start at i; `normal` is its normal force at the
// end. `turn` gets the angle by which friction can turn its slip in a step.
static void slide_anchor(const tbExpoContext* x, const tbExpoSystem* s, const tbConstraint* c,
                         const tbSpring* spring, int i, tbReal normal, tbReal h, tbReal* turn) {
  tbReal* anchor_slip = x->anchor_slip + c->row;
  tbReal velocity[6] = {0}, way[6] = {0}, friction[6];
  for (int r = 1; r < c->dim; r++) {
    const tbReal* row = s->Y + (size_t)(i + r) * (size_t)s->n;
    velocity[r] = spring->velocity[r] + h * s->a[i + r];
    way[r] = h * (spring->velocity[r] + 0.5 * h * s->a[i + r]);
    for (int q = 0; q < s->n; q++) {
      velocity[r] += row[q] * s->first[q];
      way[r] += row[q] * s->second[q];
    }
    friction[r] = s->friction[i + r];
  }
  *turn = slip_turn(x, s, c, i, velocity);
  tb_slip_direction(x->d, c, velocity, *turn, friction);
  for (int r = 1; r < c->dim; r++) {
    tbReal end = spring->K[r] > 0 ? -friction[r] * normal / spring->K[r] : 0;
    anchor_slip[r] = end - way[r] - spring->stretch[r];
  }
}

// The anchor of a contact that slips over the step moves: at the end its spring must hold the force
// that the cone allows then, not the force at the start (EXP eq. 28). The anchor slip stored beside
// the stretch at the start corrects for that, and for the motion of the point. The same holds for a
// contact that separates, whose spring holds no force: if the anchor stayed behind, it would pull
// ever more along the surface, so that the contact separates again and again while it sinks.
static void slide_anchors(const tbExpoContext* x, const tbExpoSystem* s, tbReal h) {
  for (int k = 0, i = 0, j = 0; k < s->nmember; k++) {
    int id = s->member[k];
    const tbConstraint* c = &x->cs->list[id];
    if (!x->spring[id]) continue;
    bool slips = s->state[k] == TB_ROWS_SLIP, off = s->state[k] == TB_ROWS_OFF;
    if (slips || (off && c->source == TB_SOURCE_CONTACT)) {
      tbReal normal = slips ? -s->Kk[j] * s->end[j] - s->Bk[j] * s->end[s->kept + j] : 0;
      slide_anchor(x, s, c, x->spring[id], i, tb_max(0, normal), h, &x->turn[id]);
    }
    j += tb_expo_kept(s->state[k], c->dim);
    i += c->dim;
  }
}

// Unstable slip: whether friction proportional to the normal force made the oscillators diverge,
// with an end rate an order of magnitude above what initial rate, load and springs can cause. Light
// bodies on stiff dampers grow by e^(1e5) in a step where slip increases the normal force (as in
// Painleve's rod).
static bool is_unstable(const tbExpoSystem* s, tbReal h) {
  const tbReal most = 10;
  tbReal reach = 0, last = 0;
  for (int i = 0; i < s->kept; i++) {
    tbReal rate = sqrt(s->Kk[i] * fabs(s->Yk[i * (s->kept + 1)]));
    reach = tb_max(reach, fabs(s->vk[i]) + h * fabs(s->ak[i]) + rate * fabs(s->pk[i]));
    last = tb_max(last, fabs(s->end[s->kept + i]));
  }
  return !(last <= most * reach);
}

// Force slipping contacts to stick for the whole step, which is stable: springs and dampers with a
// symmetric Y. Their means are limited to the cone afterwards. True if there was one.
static bool force_stick(const tbExpoContext* x, tbExpoSystem* s) {
  bool any = false;
  for (int k = 0, i = 0; k < s->nmember; k++) {
    int id = s->member[k];
    if (!x->spring[id]) continue;
    if (s->state[k] == TB_ROWS_SLIP) {
      const tbSpring* spring = x->spring[id];
      for (int r = 0; r < spring->dim; r++) s->v[i + r] = spring->velocity[r];
      s->state[k] = TB_ROWS_STICK;
      any = true;
    }
    s->has_slipped[k] = 1;
    i += x->cs->list[id].dim;
  }
  return any;
}

// One pass over the island; unstable slip is replaced by forced stick.
static bool integrate_bounded(const tbExpoContext* x, tbExpoSystem* s, tbReal h) {
  bool finite = tb_expo_integrate(x, s, h), slips = false;
  for (int k = 0; k < s->nmember; k++) slips |= s->state[k] == TB_ROWS_SLIP;
  if (!slips || (finite && !is_unstable(s, h))) return finite;
  force_stick(x, s);
  return tb_expo_integrate(x, s, h);
}

// Means over the step of one island's forces, into lambda (times h) and `second`.
static tbResult island_forces(const tbExpoContext* x, const tbIsland* island, tbReal* second) {
  tbArena* arena = &x->d->work->arena;
  tbArenaMark mark = tb_arena_mark(arena);
  tbExpoSystem s = {.member = island->member, .rank = island->problem.G.ncol};
  if (!tb_expo_allocate(arena, island->nmember, island->problem.n, &s)) return TB_ERROR_MEMORY;
  tb_expo_gather(x, &s);
  if (!acting_block(arena, &island->problem.G, s.row, s.n, s.Y)) return TB_ERROR_MEMORY;

  // Factors of Y where it has many more rows than rank.
  size_t factor = (size_t)s.rank * (size_t)s.n;
  if (tb_oscillator_is_low_rank(s.n, s.rank)) {
    s.left = tb_arena_alloc(arena, sizeof(tbReal) * (factor + 1));
    s.right = tb_arena_alloc(arena, sizeof(tbReal) * (factor + 1));
    if (!s.left || !s.right) return TB_ERROR_MEMORY;
    s.G = &island->problem.G;
  }

  // The oscillators (EXP eq. 11-18), again if a contact separates or stops slipping.
  tbReal h = x->m->opt.timestep;
  for (int pass = 0;; pass++) {
    if (!integrate_bounded(x, &s, h)) return TB_ERROR_NUMERIC;
    if (pass == 0 && x->event) tb_expo_locate(x, &s, h);
    if (pass + 1 == TB_EXPO_PASSES || !tb_expo_revise(x, &s, h)) break;
  }
  slide_anchors(x, &s, h);
  limit_means(x, &s, h, island->lambda, second);
  bound_energy(x, &s, h, island->lambda, second);
  update_supplied_energy(x, &s, h, island->lambda);
  tb_arena_release(arena, mark);
  return TB_OK;
}

tbResult tb_expo_forces(const tbStep* step, const tbSprings* springs, tbInertiaFactor factor,
                        const tbReal* qacc_free, tbIslands* islands, tbReal* second) {
  const tbModel* m = step->m;
  tbData* d = step->d;
  tbStepState* state = step->state;
  tbViscoelasticState* own = tb_viscoelastic_state(state);
  const tbSpring** spring =
      TB_ARENA_NEW(&d->work->arena, const tbSpring*, state->constraints.count);
  own->anchor_slip = TB_ARENA_NEW(&d->work->arena, tbReal, state->constraints.nrow);
  own->turn = TB_ARENA_NEW(&d->work->arena, tbReal, state->constraints.count);
  own->supplied = TB_ARENA_NEW(&d->work->arena, tbReal, state->constraints.count);
  if (!spring || !own->anchor_slip || !own->turn || !own->supplied) return TB_ERROR_MEMORY;
  for (int i = 0; i < springs->count; i++) {
    spring[springs->list[i].constraint] = &springs->list[i];
  }
  tbResult result = tb_assemble_delassus(m, d, &state->constraints, factor, islands);
  own->event = m->opt.timestep;
  tbExpoContext x = {.m = m,
                     .d = d,
                     .cs = &state->constraints,
                     .spring = spring,
                     .qacc_free = qacc_free,
                     .anchor_slip = own->anchor_slip,
                     .turn = own->turn,
                     .supplied = own->supplied,
                     .unresolved = &own->unresolved,
                     .event = step->purpose.locates_events ? &own->event : NULL};
  for (int i = 0; result == TB_OK && i < islands->count; i++) {
    result = island_forces(&x, &islands->island[i], second);
  }
  return result;
}
