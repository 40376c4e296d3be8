// Proximal steps on the impulses for a fixed De Saxcé shift, each a convex problem of the velocity
// that Newton's method with an exact line search solves from anywhere: the slow and sure half of
// the fast path, as ncp/prox (whose equations (1) to (3) these are) but on sparse M + J^T W J.
#include <math.h>
#include <string.h>

#include "contact/cone.h"
#include "solvers/active.h"

static const tbReal FIRST_SOFTNESS = 1e-2, LEAST_SOFTNESS = 1e-7, MOST_SOFTNESS = 1;
enum { MAX = TB_MAX_BLOCK_DIM, MOST_INNER = 8 };

typedef struct {
  const tbActive* a;
  const tbProblem* p;
  tbReal softness;
  tbReal *anchor, *shift;        // lambda_k, s per block
  tbReal *x, *Mx, *grad, *step;  // by place
  tbReal *z, *lambda, *Jstep;    // by row
} Convex;

// E of a block's row; E of a cone's rows makes it round: E_j = E_N (largest mu / mu_j)^2.
static tbReal row_softness(const Convex* c, const tbBlock* b, int r, tbReal widest) {
  const tbReal *rho = c->a->rho + b->row, *R = c->p->R ? c->p->R + b->row : NULL;
  if (b->type != TB_BLOCK_CONE) return c->softness * rho[r] + (R ? R[r] : 0);
  tbReal E = c->softness * rho[0] + (R ? R[0] : 0);
  if (r == 0) return E;
  tbReal mu = b->mu[r - 1];
  return mu > 0 ? E * (widest / mu) * (widest / mu) : 0;
}

static tbReal widest_mu(const tbBlock* b) {
  tbReal widest = 0;
  for (int j = 1; b->type == TB_BLOCK_CONE && j < b->dim; j++) widest = fmax(widest, b->mu[j - 1]);
  return widest;
}

// Projection on |x_T| <= mu x_N and its derivative W (dim x dim, zero on entry) where wanted.
static void project_round(int dim, tbReal mu, tbReal* x, tbReal* W) {
  tbReal tt = 0;
  for (int i = 1; i < dim; i++) tt += x[i] * x[i];
  tbReal t = sqrt(tt), k = 1 / (1 + mu * mu);
  if (t <= mu * x[0]) {
    for (int i = 0; W && i < dim; i++) W[i * dim + i] = 1;
    return;
  }
  if (mu * t <= -x[0]) {
    for (int i = 0; i < dim; i++) x[i] = 0;
    return;
  }
  tbReal a = k * (x[0] + mu * t);
  if (W) {
    W[0] = k;
    for (int i = 1; i < dim; i++) {
      tbReal ui = x[i] / t;
      W[i] = W[i * dim] = k * mu * ui;
      for (int j = 1; j < dim; j++) {
        tbReal uj = x[j] / t;
        W[i * dim + j] = k * mu * mu * ui * uj + a * mu / t * ((i == j) - ui * uj);
      }
    }
  }
  for (int i = 1; i < dim; i++) x[i] *= a * mu / t;
  x[0] = a;
}

// lambda = Proj(z) / E of a block and, where wanted, its derivative by z.
static void block_impulse(const Convex* c, const tbBlock* b, const tbReal* z, tbReal* lambda,
                          tbReal* W) {
  int d = b->dim;
  tbReal widest = widest_mu(b), E[MAX], scale[MAX];
  if (W) memset(W, 0, sizeof(tbReal) * (size_t)(d * d));
  for (int r = 0; r < d; r++) E[r] = row_softness(c, b, r, widest);
  if (b->type != TB_BLOCK_CONE) {
    for (int r = 0; r < d; r++) {
      tbReal free = z[r] / E[r], kept = free;
      if (b->type == TB_BLOCK_ONE_SIDED) kept = fmax(0, free);
      if (b->type == TB_BLOCK_BOX) kept = fmin(b->upper, fmax(b->lower, free));
      lambda[r] = kept;
      if (W && kept == free) W[r * d + r] = 1 / E[r];
    }
    return;
  }
  for (int r = 0; r < d; r++) {
    scale[r] = r == 0 ? 1 : E[r] > 0 ? widest / b->mu[r - 1] : 0;
    lambda[r] = scale[r] > 0 ? z[r] / (E[0] * scale[r]) : 0;
  }
  project_round(d, widest, lambda, W);
  for (int r = 0; r < d; r++) lambda[r] = scale[r] > 0 ? lambda[r] / scale[r] : 0;
  for (int r = 0; W && r < d; r++) {
    for (int k = 0; k < d; k++) {
      bool both = scale[r] > 0 && scale[k] > 0;
      W[r * d + k] = both ? W[r * d + k] / (E[0] * scale[r] * scale[k]) : 0;
    }
  }
}

// z = P lambda_k - g - s e_N - J x at x, P = E - R.
static void set_z(Convex* c) {
  for (int i = 0; i < c->p->nblock; i++) {
    const tbBlock* b = &c->p->block[i];
    tbReal widest = widest_mu(b), velocity[MAX];
    tb_velocity_mul(c->a->system, i, c->x, velocity);
    for (int r = 0; r < b->dim; r++) {
      int row = b->row + r;
      tbReal P = row_softness(c, b, r, widest) - (c->p->R ? c->p->R[row] : 0);
      c->z[row] = P * c->anchor[row] - c->p->g[row] - velocity[r];
    }
    if (b->type == TB_BLOCK_CONE) c->z[b->row] -= c->shift[i];
  }
}

// lambda(z), M x and the gradient M x - J^T lambda; its size relative to M x.
static tbReal gradient(Convex* c) {
  const tbVelocity* v = c->a->system;
  tb_velocity_mass(v, c->x, c->Mx);
  for (int j = 0; j < v->size; j++) c->grad[j] = -c->Mx[j];
  for (int i = 0; i < c->p->nblock; i++) {
    const tbBlock* b = &c->p->block[i];
    block_impulse(c, b, c->z + b->row, c->lambda + b->row, NULL);
    tb_velocity_add_impulse(v, i, c->lambda + b->row, c->grad);
  }
  tbReal largest = 0, scale = 0;
  for (int j = 0; j < v->size; j++) {
    c->grad[j] = -c->grad[j];
    largest = fmax(largest, fabs(c->grad[j]));
    scale = fmax(scale, fmax(fabs(c->Mx[j]), fabs(c->Mx[j] - c->grad[j])));
  }
  return scale > 0 ? largest / scale : 0;
}

// Slope and curvature along the step.
static tbReal line_slope(const Convex* c, tbReal t, tbReal ww, tbReal ws, tbReal* curvature) {
  tbReal slope = ws + t * ww;
  *curvature = ww;
  for (int i = 0; i < c->p->nblock; i++) {
    const tbBlock* b = &c->p->block[i];
    tbReal z[MAX], lambda[MAX], W[MAX * MAX];
    const tbReal* v = c->Jstep + b->row;
    for (int r = 0; r < b->dim; r++) z[r] = c->z[b->row + r] - t * v[r];
    block_impulse(c, b, z, lambda, W);
    for (int r = 0; r < b->dim; r++) {
      slope -= lambda[r] * v[r];
      for (int k = 0; k < b->dim; k++) *curvature += v[r] * W[r * b->dim + k] * v[k];
    }
  }
  return slope;
}

static tbReal line_search(const Convex* c, tbReal* Mstep) {
  const tbVelocity* v = c->a->system;
  tbReal ww = 0, ws = 0, curvature, t = 1, low = 0, high = INFINITY, first = 0;
  tb_velocity_mass(v, c->step, Mstep);
  for (int j = 0; j < v->size; j++) {
    ww += c->step[j] * Mstep[j];
    ws += c->step[j] * c->Mx[j];
    first += c->step[j] * c->grad[j];
  }
  for (int k = 0; k < 20; k++) {
    tbReal slope = line_slope(c, t, ww, ws, &curvature);
    if (fabs(slope) <= 1e-2 * fabs(first)) break;
    if (slope < 0) {
      low = t;
    } else {
      high = t;
    }
    tbReal next = curvature > 0 ? t - slope / curvature : 0;
    if (!(next > low && next < high)) next = isinf(high) ? 2 * low + 1 : 0.5 * (low + high);
    if (fabs(next - t) <= 1e-12 * fabs(t)) break;
    t = next;
  }
  return t;
}

// Minimise for the current anchor and shift; rounds taken, or -1 where a matrix broke down.
static int minimise(Convex* c, tbReal tolerance, tbReal* Mstep, tbSolveInfo* info) {
  tbVelocity* v = c->a->system;
  set_z(c);
  tbReal size = gradient(c);
  int k = 0;
  for (; k < MOST_INNER && size > tolerance; k++) {
    info->iterations++;
    info->factorizations++;
    tb_velocity_start(v, true);
    for (int i = 0; i < c->p->nblock; i++) {
      const tbBlock* b = &c->p->block[i];
      tbReal W[MAX * MAX], unused[MAX];
      block_impulse(c, b, c->z + b->row, unused, W);
      bool any = false;
      for (int r = 0; r < b->dim; r++) any = any || W[r * (b->dim + 1)] != 0;
      if (any) tb_velocity_add(v, i, W);
    }
    if (!tb_velocity_factor(v)) return -1;
    for (int j = 0; j < v->size; j++) c->step[j] = -c->grad[j];
    tb_velocity_solve(v, c->step);
    for (int i = 0; i < c->p->nblock; i++) {
      tb_velocity_mul(v, i, c->step, c->Jstep + c->p->block[i].row);
    }
    tbReal t = line_search(c, Mstep);
    for (int j = 0; j < v->size; j++) c->x[j] += t * c->step[j];
    for (int r = 0; r < c->p->n; r++) c->z[r] -= t * c->Jstep[r];
    size = gradient(c);
  }
  return k;
}

void tb_active_response(const tbActive* a, const tbReal* lambda, tbReal* x, tbReal* sigma) {
  const tbVelocity* v = a->system;
  const tbProblem* p = a->p;
  memset(x, 0, sizeof(tbReal) * (size_t)v->size);
  for (int i = 0; i < p->nblock; i++) {
    tb_velocity_add_impulse(v, i, lambda + p->block[i].row, x);
  }
  tb_velocity_inverse(v, x);
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    tb_velocity_mul(v, i, x, sigma + row);
    for (int r = row; r < row + p->block[i].dim; r++) {
      sigma[r] += p->g[r] + (p->R ? p->R[r] * lambda[r] : 0);
    }
  }
}

static bool allocate(Convex* c, tbArena* arena, tbReal** Mstep) {
  size_t n = (size_t)c->p->n + 1, m = (size_t)c->a->system->size + 1;
  c->anchor = TB_ARENA_NEW(arena, tbReal, n);
  c->z = TB_ARENA_NEW(arena, tbReal, n);
  c->lambda = TB_ARENA_NEW(arena, tbReal, n);
  c->Jstep = TB_ARENA_NEW(arena, tbReal, n);
  c->shift = TB_ARENA_NEW(arena, tbReal, c->p->nblock + 1);
  c->x = TB_ARENA_NEW(arena, tbReal, m);
  c->Mx = TB_ARENA_NEW(arena, tbReal, m);
  c->grad = TB_ARENA_NEW(arena, tbReal, m);
  c->step = TB_ARENA_NEW(arena, tbReal, m);
  *Mstep = TB_ARENA_NEW(arena, tbReal, m);
  return !arena->failed;
}

bool tb_active_convex(const tbActive* a, tbArena* arena, int rounds, tbReal target, tbReal* lambda,
                      tbReal* sigma, tbSolveInfo* info) {
  Convex c = {.a = a, .p = a->p, .softness = FIRST_SOFTNESS};
  tbReal* Mstep;
  if (!allocate(&c, arena, &Mstep)) return false;
  tbVelocity* v = a->system;
  for (int i = 0; i < c.p->nblock; i++) {
    int row = c.p->block[i].row;
    tb_block_project(&c.p->block[i], a->law, lambda + row, c.anchor + row);
    tb_velocity_add_impulse(v, i, c.anchor + row, c.x);
  }
  tb_velocity_inverse(v, c.x);
  tbReal best = tb_residual(c.p, a->law, lambda, sigma).relative;
  for (int end = info->iterations + rounds; info->iterations < end;) {
    for (int i = 0; i < c.p->nblock; i++) {
      const tbBlock* b = &c.p->block[i];
      bool shifted = b->type == TB_BLOCK_CONE && a->law == TB_LAW_NCP;
      c.shift[i] = shifted ? tb_cone_shift(b->dim, b->mu, sigma + b->row) : 0;
    }
    int inner = minimise(&c, 0.01 * a->tolerance, Mstep, info);
    if (inner < 0) break;
    tb_active_response(a, c.lambda, c.step, sigma);
    memcpy(c.anchor, c.lambda, sizeof(tbReal) * (size_t)c.p->n);
    tbReal now = tb_residual(c.p, a->law, c.lambda, sigma).relative;
    if (now < best) {
      best = now;
      memcpy(lambda, c.lambda, sizeof(tbReal) * (size_t)c.p->n);
    }
    if (now <= target || inner == 0) break;
    if (inner <= 3) c.softness = fmax(LEAST_SOFTNESS, 0.1 * c.softness);
    if (inner >= MOST_INNER) c.softness = fmin(MOST_SOFTNESS, 10 * c.softness);
  }
  return true;
}
