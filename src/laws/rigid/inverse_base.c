// Selects one of the contact forces that are compatible with a motion: a least-squares problem over
// cones (docs/manual/inverse.md, eq. 6-8). With u the unactuated dofs and W their inverse inertia,
//
//     minimise  1/2 |r_u - (J^T lambda)_u|_W^2 + rho/2 |lambda - lambda_0|^2
//
// over the impulses that the law allows at the given velocity: a cone for a resting contact, a ray
// for a sliding one, an interval for dry friction at rest. This is a contact problem of the convex
// law.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "problem/cone.h"
#include "model/workspace.h"
#include "laws/rigid/inverse_base.h"

#include "laws/inverse.h"

typedef struct {
  const tbModel* m;
  tbData* d;
  const int* actuated;
  const tbReal* target;
  tbReal proximal;
  int law;
} Context;

// The set of impulses that the law allows in a block at the given velocity.
typedef enum { FIXED, CONE, RAY, INTERVAL } Freedom;

static Freedom freedom_of(const tbBlock* b, const tbReal* R, const tbReal* sigma,
                          const tbReal* lambda, int law) {
  tbReal slip = 0, open = sigma[0];
  for (int r = 1; r < b->dim; r++) slip = tb_max(slip, fabs(sigma[r]));
  // Under the convex law a sliding contact separates and still carries a force.
  if (b->type == TB_BLOCK_CONE && law == TB_LAW_CCP) open -= tb_cone_shift(b->dim, b->mu, sigma);
  switch (b->type) {
    case TB_BLOCK_BOX: return fabs(sigma[0]) < TB_INVERSE_REST ? INTERVAL : FIXED;
    case TB_BLOCK_ONE_SIDED: return R[0] == 0 && fabs(sigma[0]) < TB_INVERSE_REST ? RAY : FIXED;
    case TB_BLOCK_CONE:
      // The motion determines the friction of compliant tangents.
      if (b->dim > 1 && R[1] > 0) return FIXED;
      if (R[0] > 0 ? !(lambda[0] > 0) : fabs(open) >= TB_INVERSE_REST) return FIXED;
      if (slip >= TB_INVERSE_REST) return R[0] > 0 ? FIXED : RAY;
      return CONE;
    default: return FIXED;
  }
}

// Whether a constraint can push unactuated dofs. A constraint that cannot (the limit of an actuated
// joint) is left out.
static int reaches(const Context* x, const tbConstraint* c) {
  for (int k = 0; k < c->dim * c->nnz; k++) {
    if (!x->actuated[c->col[k % c->nnz]] && c->J[k] != 0) return 1;
  }
  return 0;
}

// Direction of a ray: normal, and tangents that oppose the slip.
static void ray_of(const tbBlock* b, const tbReal* sigma, tbReal* direction) {
  tbReal speed = b->type == TB_BLOCK_CONE ? tb_cone_shift(b->dim, b->mu, sigma) : 0;
  direction[0] = 1;
  for (int r = 1; r < b->dim; r++) {
    direction[r] = speed > 0 ? -b->mu[r - 1] * b->mu[r - 1] * sigma[r] / speed : 0;
  }
}

typedef struct {
  tbBlock* block;
  int *start, *column, *member;  // rows of B, and which member of the island a block is
  tbReal *value, *R, *g, *lambda, *first;
  int nblock, n, entries;
} Problem;

static int problem_new(Problem* p, tbArena* arena, int members, int rows, int entries) {
  memset(p, 0, sizeof *p);
  p->block = TB_ARENA_NEW(arena, tbBlock, members + 1);
  p->member = TB_ARENA_NEW(arena, int, members + 1);
  p->start = TB_ARENA_NEW(arena, int, rows + 1);
  p->column = TB_ARENA_NEW(arena, int, entries + 1);
  p->value = TB_ARENA_NEW(arena, tbReal, entries + 1);
  p->R = TB_ARENA_NEW(arena, tbReal, 4 * rows + 1);
  if (!p->block || !p->member || !p->start || !p->column || !p->value || !p->R) return 0;
  p->g = p->R + rows;
  p->lambda = p->g + rows;
  p->first = p->lambda + rows;
  return 1;
}

// Add a row of B = J_u W^1/2: the linear combination `weight` of the constraint's rows.
static void add_row(const Context* x, Problem* p, const tbConstraint* c, const tbReal* weight,
                    tbReal lambda, tbReal hold) {
  tbReal sum = 0, along = 0;
  p->start[p->n] = p->entries;
  for (int k = 0; k < c->nnz; k++) {
    int dof = c->col[k];
    if (x->actuated[dof]) continue;
    tbReal J = 0, root = 1 / sqrt(x->m->dof_M0[dof] > 0 ? x->m->dof_M0[dof] : 1);
    for (int r = 0; r < c->dim; r++) J += weight[r] * c->J[(size_t)r * (size_t)c->nnz + (size_t)k];
    p->column[p->entries] = dof;
    p->value[p->entries++] = J * root;
    sum += J * J * root * root;
    along += J * root * root * x->target[dof];
  }
  // Compliant rows get a spring, the others only the proximal term.
  tbReal scale = tb_max(sum, 1e-9);
  p->R[p->n] = scale * (hold > 0 ? hold : x->proximal);
  p->g[p->n] = -along - p->R[p->n] * lambda;
  p->lambda[p->n] = p->first[p->n] = lambda;
  p->n++;
  p->start[p->n] = p->entries;
}

static void add_block(const Context* x, Problem* p, const tbConstraint* c, const tbBlock* b,
                      int member, Freedom freedom, const tbReal* R, const tbReal* sigma,
                      const tbReal* lambda) {
  tbBlock* out = &p->block[p->nblock];
  *out = *b;
  out->row = p->n;
  tbReal weight[TB_MAX_BLOCK_DIM] = {0};
  if (freedom == RAY) {
    out->type = TB_BLOCK_ONE_SIDED;
    out->dim = 1;
    ray_of(b, sigma, weight);
    add_row(x, p, c, weight, lambda[0], 0);
  } else {
    for (int r = 0; r < b->dim; r++) {
      memset(weight, 0, sizeof weight);
      weight[r] = 1;
      add_row(x, p, c, weight, lambda[r], R[r] > 0 ? 100 : 0);
    }
  }
  p->member[p->nblock++] = member;
}

// Subtract the impulses that fixed blocks already exert on unactuated dofs.
static void subtract_fixed(const tbConstraint* c, const tbReal* lambda, tbReal* target) {
  for (int r = 0; r < c->dim; r++) {
    for (int k = 0; k < c->nnz; k++) {
      target[c->col[k]] -= lambda[r] * c->J[(size_t)r * (size_t)c->nnz + (size_t)k];
    }
  }
}

static void copy_back(const Problem* p, const tbProblem* original, const Freedom* freedom,
                      const tbReal* sigma, tbReal* lambda) {
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &original->block[p->member[i]];
    const tbReal* found = p->lambda + p->block[i].row;
    tbReal direction[TB_MAX_BLOCK_DIM];
    if (freedom[p->member[i]] == RAY) {
      ray_of(b, sigma + b->row, direction);
      for (int r = 0; r < b->dim; r++) lambda[b->row + r] = found[0] * direction[r];
    } else {
      memcpy(lambda + b->row, found, sizeof(tbReal) * (size_t)b->dim);
    }
  }
}

static tbResult solve_island(Context x, const tbConstraints* cs, const tbIsland* island) {
  tbArena* arena = &x.d->work->arena;
  const tbProblem* from = &island->problem;
  int entries = 0;
  for (int k = 0; k < island->nmember; k++) {
    entries += cs->list[island->member[k]].dim * cs->list[island->member[k]].nnz;
  }
  Problem p;
  tbReal* sigma = TB_ARENA_NEW(arena, tbReal, from->n + x.m->nv);
  Freedom* freedom = TB_ARENA_NEW(arena, Freedom, from->nblock + 1);
  if (!sigma || !freedom || !problem_new(&p, arena, island->nmember, from->n + 1, entries)) {
    return TB_ERROR_MEMORY;
  }
  tbReal* left = sigma + from->n;
  memcpy(left, x.target, sizeof(tbReal) * (size_t)x.m->nv);
  int open = 0;
  for (int k = 0; k < from->nblock; k++) {
    const tbBlock* b = &from->block[k];
    for (int r = b->row; r < b->row + b->dim; r++) {
      sigma[r] = island->R[r] * island->lambda[r] + island->g[r];
    }
    freedom[k] = FIXED;
    if (reaches(&x, &cs->list[island->member[k]])) {
      freedom[k] =
          freedom_of(b, island->R + b->row, sigma + b->row, island->lambda + b->row, x.law);
    }
    open += freedom[k] != FIXED;
    if (freedom[k] == FIXED) {
      subtract_fixed(&cs->list[island->member[k]], island->lambda + b->row, left);
    }
  }
  if (open == 0) return TB_OK;
  x.target = left;
  for (int k = 0; k < from->nblock; k++) {
    const tbBlock* b = &from->block[k];
    if (freedom[k] == FIXED) continue;
    add_block(&x, &p, &cs->list[island->member[k]], b, k, freedom[k], island->R + b->row,
              sigma + b->row, island->lambda + b->row);
  }
  // The convex law of this problem is the optimality condition of the least-squares problem.
  tbProblem problem = {.n = p.n, .nblock = p.nblock, .block = p.block, .R = p.R, .g = p.g};
  problem.G = (tbDelassus){.form = TB_DELASSUS_PRODUCT,
                           .ncol = x.m->nv,
                           .row_start = p.start,
                           .row_column = p.column,
                           .row_value = p.value};
  tbSolveSettings settings = tbDefaultSolveSettings();
  tbSolveInfo info;
  tbError error;
  settings.law = TB_LAW_CCP;
  settings.tol = 1e-12;
  settings.warm_start = 1;
  tbResult result = tb_solve(&problem, &settings, p.lambda, NULL, &info, &error);
  if (result != TB_OK) return result;
  copy_back(&p, from, freedom, sigma, island->lambda);
  return TB_OK;
}

tbResult tb_inverse_base(const tbModel* m, tbData* d, const tbConstraints* cs,
                         const tbIslands* islands, const int* actuated, const tbReal* target,
                         tbReal proximal, int law) {
  Context x = {m, d, actuated, target, proximal, law};
  int unactuated = 0;
  for (int i = 0; i < m->nv; i++) unactuated += !actuated[i];
  if (unactuated == 0) return TB_OK;
  for (int i = 0; i < islands->count; i++) {
    tbResult result = solve_island(x, cs, &islands->island[i]);
    if (result != TB_OK) return result;
  }
  return TB_OK;
}
