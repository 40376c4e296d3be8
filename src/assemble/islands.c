// From constraint rows to problems: islands, the Delassus matrix of each, and the terms of the
// rigid laws (docs/manual/step.md).
#include <math.h>
#include <string.h>

#include "assemble/assemble.h"
#include "dynamics/mass.h"
#include "linalg/ltdl.h"
#include "model/workspace.h"

// Rounding of the free velocity, relative to its largest entry.
static const tbReal ROUNDING = 1e-13;

// A correction of an equality below this speed, relative to the same entry, is dropped: it would be
// lost in the rounding of the velocities that it corrects, so that no impulses could satisfy a
// tolerance relative to it. In free fall, a closed chain has no larger correction than this.
static const tbReal LEAST_CORRECTION = 1e-9;

typedef struct {
  const tbModel* m;
  tbData* d;
  tbArena* arena;
  tbConstraint* list;
  tbInertiaFactor factor;
  tbReal noise;         // m/s, rad/s: velocities below this are rounding errors
  tbReal* const* half;  // per constraint: D^-1/2 L^-T J^T, dim x nnz
  const tbReal* known;  // J v_free by row if it is known, or NULL
  int* bounces;         // counts contacts with restitution
} Context;

// ---- islands -----------------------------------------------------------------------------------

static int find_root(int* parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

// The next tree in a constraint's support from position *k on, or -1.
static int next_tree(const tbModel* m, const tbConstraint* c, int* k) {
  if (*k >= c->nnz) return -1;
  int tree = m->dof_treeid[c->col[*k]], end = m->tree_dofadr[tree] + m->tree_dofnum[tree];
  // Most constraints move one tree.
  if (c->col[c->nnz - 1] < end) *k = c->nnz;
  while (*k < c->nnz && c->col[*k] < end) (*k)++;
  return tree;
}

// Number the islands of constraints; constraints without movable dofs get island -1.
static int label_islands(const tbModel* m, tbArena* arena, tbConstraints* cs) {
  int* parent = tb_arena_alloc(arena, sizeof(int) * (size_t)(m->ntree + 1));
  int* label = tb_arena_alloc(arena, sizeof(int) * (size_t)(m->ntree + 1));
  if (!parent || !label) return -1;
  for (int i = 0; i < m->ntree; i++) {
    parent[i] = i;
    label[i] = -1;
  }
  for (int i = 0; i < cs->count; i++) {
    int k = cs->list[i].lead, first = next_tree(m, &cs->list[i], &k);
    for (int tree; first >= 0 && (tree = next_tree(m, &cs->list[i], &k)) >= 0;) {
      parent[find_root(parent, tree)] = find_root(parent, first);
    }
  }
  int count = 0;
  for (int i = 0; i < cs->count; i++) {
    tbConstraint* c = &cs->list[i];
    int k = c->lead, tree = next_tree(m, c, &k);
    c->island = -1;
    if (tree < 0) continue;
    int root = find_root(parent, tree);
    if (label[root] < 0) label[root] = count++;
    c->island = label[root];
  }
  return count;
}

// Members of every island, by counting sort.
static int fill_members(tbArena* arena, const tbConstraints* cs, tbIslands* out) {
  int* start = TB_ARENA_NEW(arena, int, out->count + 1);
  int* member = tb_arena_alloc(arena, sizeof(int) * (size_t)(cs->count + 1));
  if (!start || !member) return 0;
  for (int i = 0; i < cs->count; i++) {
    if (cs->list[i].island >= 0) out->island[cs->list[i].island].nmember++;
  }
  for (int i = 0, at = 0; i < out->count; i++) {
    out->island[i].member = member + at;
    start[i] = at;
    at += out->island[i].nmember;
  }
  for (int i = 0; i < cs->count; i++) {
    if (cs->list[i].island >= 0) member[start[cs->list[i].island]++] = i;
  }
  return 1;
}

// ---- right-hand side and blocks ----------------------------------------------------------------

static tbReal row_velocity(const tbConstraint* c, int row, const tbReal* v) {
  tbReal sum = 0;
  const tbReal* J = c->J + (size_t)row * (size_t)c->nnz;
  for (int k = c->lead; k < c->nnz; k++) sum += J[k] * v[c->col[k]];
  return sum;
}

// The velocity of all rows of a constraint, three at a time.
static void block_velocity(const tbConstraint* c, const tbReal* v, tbReal* out) {
  int r = 0, n = c->nnz;
  for (; r + 3 <= c->dim; r += 3) {
    const tbReal *J0 = c->J + r * n, *J1 = J0 + n, *J2 = J1 + n;
    tbReal a = 0, b = 0, d = 0;
    for (int k = c->lead; k < n; k++) {
      tbReal x = v[c->col[k]];
      a += J0[k] * x;
      b += J1[k] * x;
      d += J2[k] * x;
    }
    out[r] = a;
    out[r + 1] = b;
    out[r + 2] = d;
  }
  for (; r < c->dim; r++) out[r] = row_velocity(c, r, v);
}

// Contribution of the co-rotation of the bodies to gamma of a contact.
static void add_drift(const Context* x, const tbConstraint* c, tbReal* g) {
  tbCorotation slip;
  if (!tb_contact_corotation(x->m, x->d, c, &slip)) return;
  for (int k = 0; k < 3; k++) {
    tbReal gamma = slip.share * slip.along[k];
    if (fabs(gamma) > x->noise) g[k] += gamma;
  }
}

tbReal tb_restitution_term(const tbModel* model, const tbData* data, const tbConstraint* c) {
  const tbContact* contact = &data->contact[c->id];
  if (!(contact->restitution > 0) || contact->compliance > 0) return 0;
  tbReal approach = row_velocity(c, 0, data->qvel);
  bool closes = c->pos[0] + model->opt.timestep * approach <= 0;
  return approach < -model->opt.restitution_speed && closes ? contact->restitution * approach : 0;
}

tbReal tb_tangent_compliance(const tbModel* m, const tbContact* contact, int r) {
  tbReal h = m->opt.timestep, e = contact->tangentcompliance;
  if (e == 0 || r < 1) return 0;
  tbReal arm = r > 2 ? contact->friction[r - 1] : 1;
  return e / (h * h * arm * arm);
}

// gamma and R of a contact's normal row.
static void contact_terms(const Context* x, const tbConstraint* c, tbReal* gamma, tbReal* R) {
  const tbOption* opt = &x->m->opt;
  const tbContact* contact = &x->d->contact[c->id];
  tbReal h = opt->timestep, gap = c->pos[0], slope;
  *gamma = tb_gap_term(x->m, x->d, c, gap, &slope);
  *R = 0;

  // Spring with compliance e and damping b, implicit: e lambda/h = -(gap + h v) - e b v.
  if (contact->compliance > 0) {
    tbReal e = contact->compliance, b = gap < 0 ? contact->damping : 0;
    *gamma = gap / (h + e * b);
    *R = e / (h * (h + e * b));
    return;
  }
  // Newton's restitution, if the gap closes fast and within this step.
  tbReal bounce = contact->restitution > 0 ? tb_restitution_term(x->m, x->d, c) : 0;
  if (bounce < 0) {
    *gamma = bounce;
    ++*x->bounces;
  }
}

static void tangent_terms(const Context* x, const tbConstraint* c, tbReal* R) {
  for (int r = 1; r < c->dim; r++) R[r] = tb_tangent_compliance(x->m, &x->d->contact[c->id], r);
}

static void fill_block(const Context* x, const tbConstraint* c, int row, const tbReal* v_free,
                       tbBlock* block, tbReal* g, tbReal* R) {
  const tbOption* opt = &x->m->opt;
  tbReal slope;
  memset(block, 0, sizeof *block);
  block->row = row;
  block->dim = c->dim;
  if (!x->known) block_velocity(c, v_free, g);
  for (int r = 0; r < c->dim; r++) {
    if (x->known) g[r] = x->known[c->row + r];
    if (fabs(g[r]) <= x->noise) g[r] = 0;
    R[r] = 0;
  }
  switch (c->source) {
    case TB_SOURCE_EQUALITY:
      block->type = TB_BLOCK_EQUALITY;
      for (int r = 0; r < c->dim; r++) {
        tbReal speed = tb_correction(x->m, x->d, c, fabs(c->pos[r]), &slope);
        if (speed <= LEAST_CORRECTION / ROUNDING * x->noise) continue;
        g[r] += c->pos[r] > 0 ? speed : -speed;
      }
      break;
    case TB_SOURCE_FRICTION_DOF:
    case TB_SOURCE_FRICTION_TENDON:
      block->type = TB_BLOCK_BOX;
      block->upper = c->bound * opt->timestep;
      block->lower = -block->upper;
      break;
    case TB_SOURCE_LIMIT_JOINT:
    case TB_SOURCE_LIMIT_TENDON:
      block->type = TB_BLOCK_ONE_SIDED;
      g[0] += tb_gap_term(x->m, x->d, c, c->pos[0], &slope);
      break;
    default: {
      tbReal gamma;
      block->type = c->dim == 1 ? TB_BLOCK_ONE_SIDED : TB_BLOCK_CONE;
      for (int r = 1; r < c->dim; r++) block->mu[r - 1] = x->d->contact[c->id].friction[r - 1];
      contact_terms(x, c, &gamma, &R[0]);
      if (x->d->contact[c->id].tangentcompliance > 0) tangent_terms(x, c, R);
      g[0] += gamma;
      if (c->dim >= 3) add_drift(x, c, g);
    }
  }
}

// ---- G -----------------------------------------------------------------------------------------

// Renumber the columns of an island's dofs in the order of the dofs: trees are ranges of dofs.
static void number_in_order(const Context* x, const tbIsland* island, int* place) {
  const tbModel* m = x->m;
  int next = 0, low = m->nv, high = 0;
  for (int i = 0; i < island->nmember; i++) {
    const tbConstraint* c = &x->list[island->member[i]];
    if (c->nnz == 0) continue;
    if (c->col[0] < low) low = c->col[0];
    if (c->col[c->nnz - 1] > high) high = c->col[c->nnz - 1];
  }
  for (int dof = low; dof <= high; dof++) {
    if (place[dof] >= 0) place[dof] = next++;
  }
}

// G = B B^T by the rows of B = J L^-1 D^-1/2, over the island's own dofs. `place` maps dofs to
// columns and is -1 everywhere on entry and exit.
static int build_G(const Context* x, tbIsland* island, int* place) {
  int n = island->problem.n, entries = 0, ncol = 0;
  for (int i = 0; i < island->nmember; i++) {
    const tbConstraint* c = &x->list[island->member[i]];
    entries += c->dim * c->nnz;
    for (int k = 0; k < c->nnz; k++) {
      if (place[c->col[k]] < 0) place[c->col[k]] = ncol++;
    }
  }
  int* start = tb_arena_alloc(x->arena, sizeof(int) * (size_t)(n + 1));
  int* column = tb_arena_alloc(x->arena, sizeof(int) * (size_t)(entries + 1));
  tbReal* value = tb_arena_alloc(x->arena, sizeof(tbReal) * (size_t)(entries + 1));
  if (!start || !column || !value) return 0;

  // Columns in the order of dofs, so that every row is ascending.
  if (ncol > 1) number_in_order(x, island, place);
  for (int i = 0, row = 0, at = 0; i < island->nmember; i++) {
    const tbConstraint* c = &x->list[island->member[i]];
    memcpy(value + at, x->half[island->member[i]], sizeof(tbReal) * (size_t)(c->dim * c->nnz));
    for (int r = 0; r < c->dim; r++, row++, at += c->nnz) {
      start[row] = at;
      for (int k = 0; k < c->nnz; k++) column[at + k] = place[c->col[k]];
    }
  }
  start[n] = entries;
  for (int i = 0; i < island->nmember; i++) {
    const tbConstraint* c = &x->list[island->member[i]];
    for (int k = 0; k < c->nnz; k++) place[c->col[k]] = -1;
  }
  island->problem.G = (tbDelassus){.form = TB_DELASSUS_PRODUCT,
                                   .ncol = ncol,
                                   .row_start = start,
                                   .row_column = column,
                                   .row_value = value};
  return 1;
}

// ---- compliance where a rigid answer may not exist ---------------------------------------------

// The diagonal of G at the first `rows` rows of a constraint.
static int exact_diagonal(const Context* x, tbConstraint* c, int rows, tbReal* out) {
  const tbModel* m = x->m;
  size_t bytes = sizeof(tbReal) * (size_t)(rows * c->nnz);
  tbArenaMark mark = tb_arena_mark(x->arena);
  tbReal* half = tb_arena_alloc(x->arena, bytes);
  if (!half) return 0;
  memcpy(half, c->J, bytes);
  tbForest forest = tb_forest(m);
  tb_ltdl_half_solve_support(forest, x->factor.LD, x->factor.inverse, c->col, c->nnz, half, c->nnz,
                             rows);
  for (int r = 0; r < rows; r++) {
    out[r] = 0;
    for (int k = 0; k < c->nnz; k++) out[r] += half[r * c->nnz + k] * half[r * c->nnz + k];
  }
  // Later uses need whole blocks.
  if (rows == c->dim) {
    c->half = half;
  } else {
    tb_arena_release(x->arena, mark);
  }
  return 1;
}

// An inverse mass below this fraction of the inverse of the total mass is a rounding error.
static const tbReal LEAST_WEIGHT = 1e-15;

// The correction of an overlap may be impossible: joints may not allow the motion, or two overlaps
// may contradict each other. Then no rigid solution exists. So the correction is reduced where the
// effective inverse mass along it is small, and it gets a small compliance.
static int soften_push(const Context* x, tbConstraint* c, tbReal free, tbReal* g, tbReal* R) {
  if (!(-c->pos[0] > x->m->opt.overlap_allowed)) return 1;
  if (c->source == TB_SOURCE_CONTACT && x->d->contact[c->id].compliance > 0) return 1;
  tbReal slope, yields, push = tb_gap_term(x->m, x->d, c, c->pos[0], &slope);
  if (push >= 0) return 1;
  if (!exact_diagonal(x, c, 1, &yields)) return 0;
  // A wheel on its axle, for example, cannot be pushed through its centre.
  tbReal kept = yields > 0 ? yields / (yields + 0.01 * free) : 0;
  g[0] -= push * (1 - kept);
  R[0] += x->m->opt.correction_softness * free;
  return 1;
}

// Equalities that contradict each other or are in a singular pose have no rigid solution either: a
// compliance far below anything measurable bounds the impulses. Also sets rho.
static int soften(const Context* x, tbConstraint* c, tbReal* g, tbReal* R, tbReal* rho) {
  if (c->source == TB_SOURCE_EQUALITY) {
    if (!exact_diagonal(x, c, c->dim, rho)) return 0;
    for (int r = 0; r < c->dim; r++) {
      tbReal slope;
      rho[r] = tb_equality_scale(x->m, c, r, rho[r], &slope);
      R[r] += x->m->opt.equality_softness * rho[r];
    }
  } else {
    tbReal free;
    if (!tb_push_weight(x->m, x->d, x->factor, x->arena, c, &free)) return 0;
    for (int r = 0; r < c->dim; r++) rho[r] = r < 3 ? free : tb_row_weight(x->m, x->d, c, r);
    if (c->source >= TB_SOURCE_LIMIT_JOINT && !soften_push(x, c, free, g, R)) return 0;
  }
  // A body that turns about its own centre has no effective inverse mass along the push, except for
  // rounding.
  tbReal least = x->m->total_mass > 0 ? LEAST_WEIGHT / x->m->total_mass : 0;
  for (int r = 0; r < c->dim; r++) rho[r] = rho[r] > least ? rho[r] : 1;
  return 1;
}

// ---- all of it ---------------------------------------------------------------------------------

static int build_terms(const Context* x, tbIsland* island, const tbReal* v_free) {
  tbProblem* p = &island->problem;
  memset(p, 0, sizeof *p);
  p->nblock = island->nmember;
  for (int i = 0; i < island->nmember; i++) p->n += x->list[island->member[i]].dim;
  tbBlock* block = tb_arena_alloc(x->arena, sizeof(tbBlock) * (size_t)p->nblock);
  tbReal* g = tb_arena_alloc(x->arena, sizeof(tbReal) * (size_t)p->n);
  tbReal* R = tb_arena_alloc(x->arena, sizeof(tbReal) * (size_t)p->n);
  island->rho = tb_arena_alloc(x->arena, sizeof(tbReal) * (size_t)p->n);
  island->lambda = TB_ARENA_NEW(x->arena, tbReal, p->n);
  if (!block || !g || !R || !island->rho || !island->lambda) return 0;
  for (int i = 0, row = 0; i < island->nmember; i++) {
    tbConstraint* c = &x->list[island->member[i]];
    fill_block(x, c, row, v_free, &block[i], g + row, R + row);
    if (x->factor.LD && !soften(x, c, g + row, R + row, island->rho + row)) return 0;
    row += c->dim;
  }
  island->start_residual = NAN;
  p->block = block;
  p->g = island->g = g;
  p->R = island->R = R;
  return 1;
}

tbResult tb_assemble_groups(const tbModel* model, tbData* data, tbConstraints* constraints,
                            tbIslands* out) {
  tbArena* arena = &data->work->arena;
  memset(out, 0, sizeof *out);
  int count = label_islands(model, arena, constraints);
  if (count < 0) return TB_ERROR_MEMORY;
  out->count = count;
  out->island = TB_ARENA_NEW(arena, tbIsland, count);
  return out->island && fill_members(arena, constraints, out) ? TB_OK : TB_ERROR_MEMORY;
}

tbReal tb_velocity_rounding(int n, const tbReal* v) {
  tbReal largest = 0;
  for (int i = 0; i < n; i++) {
    tbReal size = fabs(v[i]);
    if (size > largest) largest = size;
  }
  return ROUNDING * largest;
}

tbResult tb_assemble_terms(const tbModel* model, tbData* data, const tbConstraints* constraints,
                           tbInertiaFactor factor, const tbReal* v_free, tbIslands* islands) {
  Context x = {.m = model,
               .d = data,
               .arena = &data->work->arena,
               .list = constraints->list,
               .factor = factor,
               .bounces = &islands->bounces};
  // In free fall, for example, joints move by rounding errors alone, and a problem made of these
  // has no scale.
  x.noise = tb_velocity_rounding(model->nv, v_free);
  for (int i = 0; i < islands->count; i++) {
    if (!build_terms(&x, &islands->island[i], v_free)) return TB_ERROR_MEMORY;
  }
  return TB_OK;
}

tbResult tb_assemble_evaluated(const tbModel* model, tbData* data, const tbConstraints* constraints,
                               const tbReal* row_velocity_free, tbIslands* islands) {
  Context x = {.m = model,
               .d = data,
               .arena = &data->work->arena,
               .list = constraints->list,
               .known = row_velocity_free,
               .bounces = &islands->bounces};
  for (int i = 0; i < islands->count; i++) {
    if (!build_terms(&x, &islands->island[i], NULL)) return TB_ERROR_MEMORY;
  }
  return TB_OK;
}

tbResult tb_assemble_delassus(const tbModel* model, tbData* data, const tbConstraints* constraints,
                              tbInertiaFactor factor, tbIslands* islands) {
  tbArena* arena = &data->work->arena;
  tbReal** half = TB_ARENA_NEW(arena, tbReal*, constraints->count);
  int* place = tb_arena_alloc(arena, sizeof(int) * (size_t)(model->nv + 1));
  if (!half || !place) return TB_ERROR_MEMORY;
  for (int i = 0; i < model->nv; i++) place[i] = -1;

  // Half-solves: G = B B^T with B = J L^-1 D^-1/2.
  tbForest forest = tb_forest(model);
  for (int i = 0; i < constraints->count; i++) {
    const tbConstraint* c = &constraints->list[i];
    if (c->island < 0 || islands->island[c->island].solved) continue;
    size_t bytes = sizeof(tbReal) * (size_t)(c->dim * c->nnz);
    half[i] = tb_arena_alloc(arena, bytes);
    if (!half[i]) return TB_ERROR_MEMORY;
    memcpy(half[i], c->J, bytes);
    tb_ltdl_half_solve_support(forest, factor.LD, factor.inverse, c->col, c->nnz, half[i], c->nnz,
                               c->dim);
  }
  Context x = {.m = model,
               .d = data,
               .arena = arena,
               .list = constraints->list,
               .factor = factor,
               .half = half};
  for (int i = 0; i < islands->count; i++) {
    if (islands->island[i].solved) continue;
    if (!build_G(&x, &islands->island[i], place)) return TB_ERROR_MEMORY;
  }
  return TB_OK;
}

void tb_assembled_velocity(const tbConstraints* constraints, const tbIsland* island,
                           const tbReal* v_free, const tbReal* v, tbReal* sigma) {
  const tbProblem* p = &island->problem;
  for (int k = 0, row = 0; k < island->nmember; k++) {
    const tbConstraint* c = &constraints->list[island->member[k]];
    const int *col = c->col, n = c->nnz;
    int r = 0;
    // Three rows at a time.
    for (; r + 3 <= c->dim; r += 3, row += 3) {
      const tbReal *J0 = c->J + r * n, *J1 = J0 + n, *J2 = J1 + n;
      tbReal sum[3];
      for (int i = 0; i < 3; i++) sum[i] = p->g[row + i] + p->R[row + i] * island->lambda[row + i];
      for (int j = c->lead; j < n; j++) {
        tbReal x = v[col[j]] - v_free[col[j]];
        sum[0] += J0[j] * x;
        sum[1] += J1[j] * x;
        sum[2] += J2[j] * x;
      }
      for (int i = 0; i < 3; i++) sigma[row + i] = sum[i];
    }
    for (; r < c->dim; r++, row++) {
      const tbReal* J = c->J + r * n;
      tbReal sum = p->g[row] + p->R[row] * island->lambda[row];
      for (int j = c->lead; j < n; j++) sum += J[j] * (v[col[j]] - v_free[col[j]]);
      sigma[row] = sum;
    }
  }
}

void tb_gather_island(const tbConstraints* constraints, const tbIsland* island, tbReal* impulse) {
  const tbReal* lambda = island->lambda;
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &constraints->list[island->member[k]];
    const int *col = c->col, n = c->nnz;
    int r = 0;
    // Three rows at a time.
    for (; r + 3 <= c->dim; r += 3, lambda += 3) {
      const tbReal *J0 = c->J + r * n, *J1 = J0 + n, *J2 = J1 + n;
      tbReal a = lambda[0], b = lambda[1], d = lambda[2];
      if (a == 0 && b == 0 && d == 0) continue;
      for (int j = c->lead; j < n; j++) {
        tbReal sum = impulse[col[j]] + a * J0[j];
        impulse[col[j]] = (sum + b * J1[j]) + d * J2[j];
      }
    }
    for (; r < c->dim; r++, lambda++) {
      if (*lambda == 0) continue;
      for (int j = c->lead; j < n; j++) impulse[col[j]] += *lambda * c->J[r * n + j];
    }
  }
}

void tb_gather_impulse(const tbConstraints* constraints, const tbIslands* islands,
                       tbReal* impulse) {
  for (int i = 0; i < islands->count; i++) {
    tb_gather_island(constraints, &islands->island[i], impulse);
  }
}
