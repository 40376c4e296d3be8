// The interior-point method on the pyramid law.
//
// In rows scaled to |x_T| <= x_N, with u± = x_N -+ x_T, the law is (docs/manual/solvers.md)
//
//   0 <= x_N ⟂ s >= 0,  s = sigma_N;     0 <= u± ⟂ w± >= 0,  sigma_T + w+ - w- = 0
//
// per axis of a contact, and the same with constant bounds for a box. Each product is set to tau
// instead of zero. Newton's step for x, s and w together, after elimination of w, leaves
//
//   dsigma_N + s/x_N dx_N = tau/x_N - sigma_N
//   dsigma_T + (w+/u+ + w-/u-) dx_T + (w-/u- - w+/u+) dx_N = tau/u- - tau/u+ - sigma_T
//
// that is, G plus a block-diagonal matrix, which is not symmetric. tau follows Mehrotra's rule
// (SIAM J. Optim. 2, 1992). The problem is not monotone, and there is no proof of convergence.
//
// With sigma_N - s - sum (w+ + w-) + shift = 0 instead of s = sigma_N the problem is the minimum of
// energy in the pyramid, which is convex, if the shift is fixed, and it is the law if shift = sum
// (w+ + w-). For blocking contacts a share 1 - theta of the shift is fixed.
#include "solvers/interior_point/lcp_interior.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "problem/cone.h"
#include "linalg/small.h"
#include "solvers/interior_point/lorentz.h"

enum { MAX = TB_MAX_BLOCK_DIM, PATIENCE = 12 };

// Entries of H over the diagonal of G: a small proximal term keeps equalities regular, and HELD
// keeps boxes of a single point from moving.
static const tbReal PROXIMAL = 1e-9, HELD = 1e16;

// The share of the step to the boundary that is taken. A step below SHORT indicates failure.
static const tbReal INSIDE = 0.99, SHORT = 0.1;

// The least distance of the first point from every boundary, over the problem's size, so that
// rounding does not put it on one.
static const tbReal LEAST = 1e-14;

// One complementarity pair: its row, and the entries of x it depends on.
typedef struct {
  int block;
  int row;      // the row of sigma it belongs to
  int normal;   // its bound is x[normal], or -1: a constant
  tbReal sign;  // u = bound + sign x[row]
  tbReal bound;
  tbReal u, w;  // both positive
  tbReal du, dw;
} Pair;

typedef struct {
  const tbLcpSystem* system;
  const tbProblem* p;
  const tbReal* scale;
  tbReal *x, *lambda, *sigma, *rhs, *dx, *clean;  // sigma in scaled rows
  tbReal *H, *E;
  int* index;  // per block: of its matrix in H
  int blocks;  // entries of H
  Pair* pair;
  int npair;
  tbReal* theta;  // per block: how much of the shift is inside Newton's matrix
  tbReal size;    // of impulses and velocities in scaled rows
} Interior;

static void add_pair(Interior* q, int block, int row, int normal, tbReal sign, tbReal bound) {
  if (isfinite(bound)) q->pair[q->npair++] = (Pair){block, row, normal, sign, bound, 0, 0, 0, 0};
}

static void list_pairs(Interior* q) {
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    for (int r = b->row; r < b->row + b->dim; r++) {
      if (b->type == TB_BLOCK_ONE_SIDED || (b->type == TB_BLOCK_CONE && r == b->row)) {
        add_pair(q, i, r, -1, 1, 0);
      } else if (b->type == TB_BLOCK_CONE) {
        add_pair(q, i, r, b->row, 1, 0);
        add_pair(q, i, r, b->row, -1, 0);
      } else if (b->type == TB_BLOCK_BOX && b->upper > b->lower) {
        add_pair(q, i, r, -1, 1, -b->lower / q->scale[r]);
        add_pair(q, i, r, -1, -1, b->upper / q->scale[r]);
      }
    }
  }
}

void tb_lcp_scale(const tbProblem* p, const tbReal* d, tbReal* scale) {
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    bool cone = b->type == TB_BLOCK_CONE;
    for (int r = b->row; r < b->row + b->dim; r++) {
      tbReal own = d[cone ? b->row : r], unit = own > 0 ? 1 / sqrt(own) : 1;
      scale[r] = cone && r > b->row ? unit * b->mu[r - b->row - 1] : unit;
    }
  }
}

static bool prepare(Interior* q, tbArena* arena) {
  size_t n = (size_t)q->p->n + 1;
  tbReal** vectors[] = {&q->x, &q->lambda, &q->sigma, &q->rhs, &q->dx, &q->clean};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
    *vectors[k] = TB_ARENA_NEW(arena, tbReal, n);
  }
  q->index = TB_ARENA_NEW(arena, int, q->p->nblock + 1);
  q->pair = TB_ARENA_NEW(arena, Pair, 2 * n);
  q->theta = TB_ARENA_NEW(arena, tbReal, q->p->nblock + 1);
  if (arena->failed) return false;
  for (int i = 0; i < q->p->nblock; i++) {
    q->index[i] = q->blocks;
    q->blocks += q->p->block[i].dim * q->p->block[i].dim;
  }
  q->H = TB_ARENA_NEW(arena, tbReal, q->blocks + 1);
  q->E = TB_ARENA_NEW(arena, tbReal, q->blocks + 1);
  if (arena->failed) return false;
  list_pairs(q);
  return true;
}

static tbReal distance(const Pair* c, const tbReal* x) {
  return (c->normal >= 0 ? x[c->normal] : c->bound) + c->sign * x[c->row];
}

// lambda = scale x, and its sigma in scaled rows.
static void velocities(Interior* q) {
  for (int i = 0; i < q->p->n; i++) q->lambda[i] = q->scale[i] * q->x[i];
  q->system->velocity(q->system->owner, q->lambda, q->sigma);
  for (int i = 0; i < q->p->n; i++) q->sigma[i] *= q->scale[i];
}

// The largest free velocity, in scaled rows.
static tbReal size_of(const Interior* q) {
  tbReal size = 0;
  for (int i = 0; i < q->p->n; i++) size = tb_max(size, fabs(q->p->g[i] * q->scale[i]));
  return size > 0 ? size : 1;
}

// Bounds of an entry of x. The bounds of tangents depend on the normal entry, which comes first.
static void bounds_of(const Interior* q, const tbBlock* b, int r, tbReal* low, tbReal* high) {
  bool cone = b->type == TB_BLOCK_CONE;
  *low = -INFINITY;
  *high = INFINITY;
  if (b->type == TB_BLOCK_ONE_SIDED || (cone && r == b->row)) {
    *low = 0;
  } else if (cone) {
    *low = -q->x[b->row];
    *high = q->x[b->row];
  } else if (b->type == TB_BLOCK_BOX) {
    *low = b->lower / q->scale[r];
    *high = b->upper / q->scale[r];
  }
}

// A point well inside the bounds: zero tangential impulses, normal impulses and velocities of the
// problem's size.
static tbReal centre_of(const Interior* q, tbReal low, tbReal high) {
  if (isfinite(low) && isfinite(high)) return 0.5 * (low + high);
  if (isfinite(low)) return low + q->size;
  return isfinite(high) ? high - q->size : 0;
}

// x between bounds with x - y = tau / (x - low) - tau / (high - x), which grows with x.
static tbReal near(tbReal y, tbReal low, tbReal high, tbReal tau) {
  enum { HALVINGS = 60 };
  tbReal up, down, a = low, b = high, x = low;
  if (!(low < high) || (!isfinite(low) && !isfinite(high))) return isfinite(low) ? low : y;
  if (!isfinite(high)) {
    tb_central_pair(y - low, tau, &up, &down);
    return low + up;
  }
  if (!isfinite(low)) {
    tb_central_pair(high - y, tau, &down, &up);
    return high - down;
  }
  for (int k = 0; k < HALVINGS; k++) {
    x = 0.5 * (a + b);
    if (x <= low || x >= high) break;
    bool above = x - y - tau / (x - low) + tau / (high - x) > 0;
    a = above ? a : x;
    b = above ? x : b;
  }
  return x;
}

// The first point: the centre, or, near given impulses and their velocity, the point of the central
// path with products tau. It is computed row by row, as if rows were coupled only by the bounds
// that a normal imposes on its tangents.
static void start(Interior* q, const tbLcpInterior* from) {
  tbReal tau = from->mu * q->size * q->size;
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    for (int r = b->row; r < b->row + b->dim; r++) {
      tbReal low, high, unit = q->scale[r];
      bounds_of(q, b, r, &low, &high);
      if (from->lambda) {
        tbReal y = unit > 0 ? from->lambda[r] / unit - from->sigma[r] * unit : 0;
        q->x[r] = near(y, low, high, tau);
      } else {
        q->x[r] = centre_of(q, low, high);
      }
    }
  }
  for (int i = 0; i < q->npair; i++) {
    Pair* c = &q->pair[i];
    c->u = tb_max(distance(c, q->x), LEAST * q->size);
    c->w = from->lambda ? tau / c->u : q->size;
  }
}

static tbReal mean_complementarity(const Interior* q, tbReal step) {
  tbReal sum = 0;
  for (int i = 0; i < q->npair; i++) {
    const Pair* c = &q->pair[i];
    sum += (c->u + step * c->du) * (c->w + step * c->dw);
  }
  return q->npair > 0 ? sum / q->npair : 0;
}

// The blocks of H and their inverses: lower triangular with the normal row first, and symmetric if
// the whole shift is fixed.
static bool factor(Interior* q) {
  memset(q->H, 0, sizeof *q->H * (size_t)q->blocks);
  memset(q->E, 0, sizeof *q->E * (size_t)q->blocks);
  int at = 0;
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    int d = b->dim;
    tbReal *H = q->H + q->index[i], *E = q->E + q->index[i];
    for (int r = 0; r < d; r++) {
      tbReal scale = q->scale[b->row + r];
      H[r * (d + 1)] = PROXIMAL + (q->p->R ? q->p->R[b->row + r] * scale * scale : 0);
      if (b->type == TB_BLOCK_BOX && !(b->upper > b->lower)) H[r * (d + 1)] = HELD;
    }
    tbReal lag = 1 - q->theta[i];
    for (; at < q->npair && q->pair[at].block == i; at++) {
      const Pair* c = &q->pair[at];
      int r = c->row - b->row;
      tbReal stiff = c->w / c->u;
      H[r * (d + 1)] += stiff;
      if (c->normal < 0) continue;
      H[r * d] += c->sign * stiff;
      H[r] += lag * c->sign * stiff;
      H[0] += lag * stiff;
    }
    if (lag > 0) {
      tbReal copy[MAX * MAX];
      memcpy(copy, H, sizeof(tbReal) * (size_t)(d * d));
      for (int r = 0; r < d; r++) E[r * (d + 1)] = 1;
      if (!tb_small_divide(d, copy, d, E)) return false;
      continue;
    }
    for (int r = 0; r < d; r++) E[r * (d + 1)] = 1 / H[r * (d + 1)];
    for (int r = 1; r < d; r++) E[r * d] = -H[r * d] * E[0] * E[r * (d + 1)];
  }
  return q->system->factor(q->system->owner, q->H, q->E, q->index);
}

// Newton's step for products equal to tau, minus the second-order term of the last step if
// `corrects`.
static bool step_to(Interior* q, tbReal tau, bool corrects) {
  for (int i = 0; i < q->p->n; i++) q->rhs[i] = -q->sigma[i];
  for (int i = 0; i < q->npair; i++) {
    const Pair* c = &q->pair[i];
    tbReal wanted = (tau - (corrects ? c->du * c->dw : 0)) / c->u;
    q->rhs[c->row] += c->sign * wanted;
    if (c->normal >= 0) q->rhs[c->normal] += (1 - q->theta[c->block]) * (wanted - c->w);
  }
  q->system->solve(q->system->owner, q->rhs, q->dx);
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

// The longest step that covers at most `share` of the distance to the boundary.
static tbReal longest_step(const Interior* q, tbReal share) {
  tbReal step = 1;
  for (int i = 0; i < q->npair; i++) {
    const Pair* c = &q->pair[i];
    if (c->du < 0) step = tb_min(step, -share * c->u / c->du);
    if (c->dw < 0) step = tb_min(step, -share * c->w / c->dw);
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

// Mehrotra's step, or if that is short, one towards the centre. Returns its length; 0: no step
// exists.
static tbReal find_step(Interior* q) {
  if (!factor(q) || !step_to(q, 0, false)) return 0;
  // The complementarity after the affine step determines the centring.
  tbReal mean = mean_complementarity(q, 0), ahead = mean_complementarity(q, longest_step(q, 1));
  tbReal ratio = mean > 0 ? ahead / mean : 0, centre = ratio * ratio * ratio;
  if (!step_to(q, tb_max(centre, 1e-4) * mean, true)) return 0;
  if (longest_step(q, INSIDE) < SHORT && !step_to(q, 0.5 * mean, false)) return 0;
  return longest_step(q, INSIDE);
}

// Reduce theta of the blocks that stop every step of useful length. False: there are none.
static bool weaken(Interior* q, tbReal weight) {
  bool any = false;
  for (int i = 0; i < q->npair; i++) {
    const Pair* c = &q->pair[i];
    bool bars = (c->du < 0 && -INSIDE * c->u / c->du < SHORT) ||
                (c->dw < 0 && -INSIDE * c->w / c->dw < SHORT);
    if (!bars || q->p->block[c->block].type != TB_BLOCK_CONE || q->theta[c->block] <= weight) {
      continue;
    }
    q->theta[c->block] = weight;
    any = true;
  }
  return any;
}

static tbReal choose_step(Interior* q) {
  static const tbReal WEIGHTS[] = {0.9, 0.5, 0};
  for (int i = 0; i < q->p->nblock; i++) q->theta[i] = 1;
  tbReal step = find_step(q);
  for (int k = 0; k < 3 && step < SHORT && weaken(q, WEIGHTS[k]); k++) step = find_step(q);
  return step;
}

// Check the projection of the iterate.
static bool check(Interior* q, int iteration, tbReal* measure) {
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    tb_block_project(b, TB_LAW_LCP, q->lambda + b->row, q->clean + b->row);
  }
  return q->system->check(q->system->owner, q->clean, iteration, mean_complementarity(q, 0),
                          measure);
}

bool tb_lcp_interior(const tbLcpInterior* set, const tbLcpSystem* system, tbArena* arena,
                     bool* solved) {
  Interior q = {.system = system, .p = set->p, .scale = set->scale};
  *solved = false;
  if (!prepare(&q, arena)) return false;
  q.size = size_of(&q);
  start(&q, set);
  tbReal best = INFINITY;
  for (int k = 1, idle = 0; k <= set->max_iter; k++) {
    tbReal measure;
    velocities(&q);
    if (check(&q, k, &measure)) {
      *solved = true;
      return true;
    }
    idle = measure < 0.9 * best ? 0 : idle + 1;
    best = tb_min(best, measure);
    if (idle > PATIENCE) break;
    tbReal step = choose_step(&q);
    if (!(step > 0)) break;
    go(&q, step);
  }
  return true;
}
