// lcp/ipm: interior points on the pyramid law, for what neither Newton nor Lemke solves.
//
// In rows scaled to |x_T| <= x_N, with u± = x_N -+ x_T, the law is (docs/solvers.md)
//
//   0 <= x_N ⟂ s >= 0,  s = sigma_N;     0 <= u± ⟂ w± >= 0,  sigma_T + w+ - w- = 0
//
// per axis of a contact, and the same with constant bounds for a box. Each product is asked to be
// tau instead of zero. Newton's step for x, s and w at once leaves, w eliminated,
//
//   dsigma_N + s/x_N dx_N = tau/x_N - sigma_N
//   dsigma_T + (w+/u+ + w-/u-) dx_T + (w-/u- - w+/u+) dx_N = tau/u- - tau/u+ - sigma_T
//
// so G plus a block-diagonal matrix, which is not symmetric. tau follows Mehrotra's rule (SIAM J.
// Optim. 2, 1992). Not a monotone problem: no proof that it ends.
#include <math.h>
#include <string.h>

#include "solvers/newton.h"
#include "solvers/system.h"

enum { MAX = TB_MAX_BLOCK_DIM, PATIENCE = 12 };

// Equalities yield by this share of their diagonal towards where they are, boxes of one point not
// at all.
static const tbReal PROXIMAL = 1e-9, HELD = 1e16;

// One pair of numbers whose product is to vanish: of which row, made of which entries of x.
typedef struct {
  int row;      // the row of sigma it belongs to
  int normal;   // its bound is x[normal], or -1: a constant
  tbReal sign;  // u = bound + sign x[row]
  tbReal bound;
  tbReal u, w;  // both positive
  tbReal du, dw;
} Pair;

typedef struct {
  tbSolve* s;
  const tbProblem* p;
  tbProblem rigid;  // the same without compliance, which goes into H
  tbSystem system;
  tbReal *scale, *x, *sigma, *rhs, *dx, *clean;
  tbReal *H, *E;
  int* start;
  Pair* pair;
  int npair;
  tbReal size;  // of impulses and velocities in scaled rows
} Interior;

static void add_pair(Interior* q, int row, int normal, tbReal sign, tbReal bound) {
  if (isfinite(bound)) q->pair[q->npair++] = (Pair){row, normal, sign, bound, 0, 0, 0, 0};
}

static void list_pairs(Interior* q) {
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    for (int r = b->row; r < b->row + b->dim; r++) {
      if (b->type == TB_BLOCK_ONE_SIDED || (b->type == TB_BLOCK_CONE && r == b->row)) {
        add_pair(q, r, -1, 1, 0);
      } else if (b->type == TB_BLOCK_CONE) {
        add_pair(q, r, b->row, 1, 0);
        add_pair(q, r, b->row, -1, 0);
      } else if (b->type == TB_BLOCK_BOX && b->upper > b->lower) {
        add_pair(q, r, -1, 1, -b->lower / q->scale[r]);
        add_pair(q, r, -1, -1, b->upper / q->scale[r]);
      }
    }
  }
}

static bool prepare(Interior* q, tbSolve* s) {
  const tbProblem* p = s->p;
  size_t n = (size_t)p->n, blocks = 0;
  *q = (Interior){.s = s, .p = p};
  tbReal** vectors[] = {&q->scale, &q->x, &q->sigma, &q->rhs, &q->dx, &q->clean};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
    *vectors[k] = tb_solve_reals(s, n);
  q->start = TB_ARENA_NEW(s->arena, int, p->nblock + 1);
  q->pair = TB_ARENA_NEW(s->arena, Pair, 2 * n + 1);
  if (s->arena->failed) return false;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    tbReal A[MAX * MAX];
    tb_delassus_diagonal_block(p, i, A);
    for (int r = 0; r < b->dim; r++) {
      bool cone = b->type == TB_BLOCK_CONE;
      tbReal d = cone ? A[0] : A[r * (b->dim + 1)], unit = d > 0 ? 1 / sqrt(d) : 1;
      q->scale[b->row + r] = cone && r > 0 ? unit * b->mu[r - 1] : unit;
    }
    q->start[i] = (int)blocks;
    blocks += (size_t)(b->dim * b->dim);
  }
  q->H = tb_solve_reals(s, blocks);
  q->E = tb_solve_reals(s, blocks);
  if (s->arena->failed) return false;
  list_pairs(q);
  q->rigid = *p;
  q->rigid.R = NULL;
  s->p = &q->rigid;
  bool done = tb_system_init(&q->system, s, q->scale);
  s->p = p;
  return done;
}

static tbReal distance(const Pair* c, const tbReal* x) {
  return (c->normal >= 0 ? x[c->normal] : c->bound) + c->sign * x[c->row];
}

// lambda = scale x, and its sigma in scaled rows.
static void velocities(Interior* q) {
  for (int i = 0; i < q->p->n; i++) q->s->lambda[i] = q->scale[i] * q->x[i];
  tb_delassus_velocity(q->p, q->s->lambda, q->s->velocity, q->s->sigma);
  for (int i = 0; i < q->p->n; i++) q->sigma[i] = q->s->sigma[i] * q->scale[i];
}

// A start well inside: no impulse along tangents, normal ones and velocities of the problem's size.
static void start(Interior* q) {
  tbReal size = 0;
  for (int i = 0; i < q->p->n; i++) size = fmax(size, fabs(q->p->g[i] * q->scale[i]));
  q->size = size > 0 ? size : 1;
  memset(q->x, 0, (size_t)q->p->n * sizeof *q->x);
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    for (int r = b->row; r < b->row + b->dim; r++) {
      tbReal unit = q->scale[r] > 0 ? q->scale[r] : 1, low = b->lower / unit,
             high = b->upper / unit;
      if (b->type == TB_BLOCK_ONE_SIDED || (b->type == TB_BLOCK_CONE && r == b->row)) {
        q->x[r] = q->size;
      } else if (b->type == TB_BLOCK_BOX && isfinite(low) && isfinite(high)) {
        q->x[r] = 0.5 * (low + high);
      } else if (b->type == TB_BLOCK_BOX && (isfinite(low) || isfinite(high))) {
        q->x[r] = isfinite(low) ? low + q->size : high - q->size;
      }
    }
  }
  for (int i = 0; i < q->npair; i++) {
    q->pair[i].u = distance(&q->pair[i], q->x);
    q->pair[i].w = q->size;
  }
}

static tbReal mean_product(const Interior* q, tbReal step) {
  tbReal sum = 0;
  for (int i = 0; i < q->npair; i++) {
    const Pair* c = &q->pair[i];
    sum += (c->u + step * c->du) * (c->w + step * c->dw);
  }
  return q->npair > 0 ? sum / q->npair : 0;
}

// The blocks of H and their inverses: lower triangular, the normal row first.
static bool factor(Interior* q) {
  size_t blocks = 0;
  for (int i = 0; i < q->p->nblock; i++) {
    blocks += (size_t)(q->p->block[i].dim * q->p->block[i].dim);
  }
  memset(q->H, 0, blocks * sizeof *q->H);
  memset(q->E, 0, blocks * sizeof *q->E);
  int at = 0;
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    int d = b->dim;
    tbReal *H = q->H + q->start[i], *E = q->E + q->start[i];
    for (int r = 0; r < d; r++) {
      tbReal scale = q->scale[b->row + r];
      H[r * (d + 1)] = PROXIMAL + (q->p->R ? q->p->R[b->row + r] * scale * scale : 0);
      if (b->type == TB_BLOCK_BOX && !(b->upper > b->lower)) H[r * (d + 1)] = HELD;
    }
    for (; at < q->npair && q->pair[at].row < b->row + d; at++) {
      const Pair* c = &q->pair[at];
      int r = c->row - b->row;
      tbReal stiff = c->w / c->u;
      H[r * (d + 1)] += stiff;
      if (c->normal >= 0) H[r * d] += c->sign * stiff;
    }
    for (int r = 0; r < d; r++) E[r * (d + 1)] = 1 / H[r * (d + 1)];
    for (int r = 1; r < d; r++) E[r * d] = -H[r * d] * E[0] * E[r * (d + 1)];
  }
  q->s->info->factorizations++;
  return tb_system_factor(&q->system, q->H, q->E, q->start);
}

// Newton's step to products of tau, less the second-order term of the last one where `corrects`.
static bool step_to(Interior* q, tbReal tau, bool corrects) {
  for (int i = 0; i < q->p->n; i++) q->rhs[i] = -q->sigma[i];
  for (int i = 0; i < q->npair; i++) {
    const Pair* c = &q->pair[i];
    q->rhs[c->row] += c->sign * (tau - (corrects ? c->du * c->dw : 0)) / c->u;
  }
  tb_system_solve(&q->system, q->rhs, 1, q->dx);
  for (int i = 0; i < q->p->n; i++) {
    if (!isfinite(q->dx[i])) return false;
  }
  for (int i = 0; i < q->npair; i++) {
    Pair* c = &q->pair[i];
    tbReal second = corrects ? c->du * c->dw : 0;
    c->du = c->sign * q->dx[c->row] + (c->normal >= 0 ? q->dx[c->normal] : 0);
    c->dw = (tau - second) / c->u - c->w - c->w / c->u * c->du;
  }
  return true;
}

// The longest step that keeps `share` of the way to the boundary.
static tbReal longest_step(const Interior* q, tbReal share) {
  tbReal step = 1;
  for (int i = 0; i < q->npair; i++) {
    const Pair* c = &q->pair[i];
    if (c->du < 0) step = fmin(step, -share * c->u / c->du);
    if (c->dw < 0) step = fmin(step, -share * c->w / c->dw);
  }
  return step;
}

static void go(Interior* q, tbReal step) {
  for (int i = 0; i < q->p->n; i++) q->x[i] += step * q->dx[i];
  for (int i = 0; i < q->npair; i++) {
    Pair* c = &q->pair[i];
    c->u += step * c->du;
    c->w += step * c->dw;
  }
}

// The iterate's projection, checked.
static bool check(Interior* q, int iteration) {
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    tb_block_project(b, q->s->law, q->s->lambda + b->row, q->clean + b->row);
  }
  return tb_solve_check(q->s, q->clean, iteration, mean_product(q, 0));
}

tbResult tb_solve_lcp_ipm(tbSolve* s) {
  Interior q;
  if (!prepare(&q, s)) return tb_solve_no_memory(s);
  start(&q);
  tbReal best = INFINITY;
  s->info->status = TB_SOLVE_MAX_ITERATIONS;
  for (int k = 1, idle = 0; k <= s->settings->max_iter; k++) {
    velocities(&q);
    if (check(&q, k)) {
      memcpy(s->lambda, q.clean, (size_t)s->p->n * sizeof *q.clean);
      return TB_OK;
    }
    tbReal measure = tb_solve_measure(s, &s->last);
    idle = measure < 0.9 * best ? 0 : idle + 1;
    best = fmin(best, measure);
    if (idle > PATIENCE || !factor(&q) || !step_to(&q, 0, false)) break;

    // How far the step to zero goes says how much to aim for.
    tbReal mean = mean_product(&q, 0), ahead = mean_product(&q, longest_step(&q, 1));
    tbReal ratio = mean > 0 ? ahead / mean : 0, centre = ratio * ratio * ratio;
    if (!step_to(&q, fmax(centre, 1e-4) * mean, true)) break;
    // Too close to a boundary to move: back towards the middle first.
    if (longest_step(&q, 0.99) < 0.1 && !step_to(&q, 0.5 * mean, false)) break;
    go(&q, longest_step(&q, 0.99));
  }
  memcpy(s->lambda, s->best, (size_t)s->p->n * sizeof *s->lambda);
  if (s->info->iterations < s->settings->max_iter) s->info->status = TB_SOLVE_STALLED;
  return TB_OK;
}
