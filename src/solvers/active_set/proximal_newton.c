// Proximal Newton: proximal steps on the impulses for a fixed De Saxcé shift. Each step is a convex
// problem of the velocity, which Newton's method with an exact line search solves from any point:
// the slow and robust half of the fast path. The equations (1) to (3) are those of ncp/prox-newton,
// here on the sparse matrix M + J^T W J.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "problem/cone.h"
#include "solvers/active_set/active_set.h"
#include "solvers/prox_newton/impulse_space.h"

static const tbReal FIRST_WEIGHT = 1e-2, LEAST_WEIGHT = 1e-7, MOST_WEIGHT = 1;
// A step of up to EASY iterations divides the next proximal weight by ten; one that takes all
// MOST_INNER iterations multiplies it by ten.
enum { EASY = 3 };
static const tbReal DECREASE = 0.1, INCREASE = 10;
// The accuracy of a step, as a share of the tolerance.
static const tbReal STEP_ACCURACY = 0.01;
enum { MAX = TB_MAX_BLOCK_DIM, MOST_INNER = 8 };

typedef struct {
  const tbActive* a;
  const tbProblem* p;
  tbReal weight;
  tbReal *center, *shift;        // lambda_k, s per block
  tbReal *x, *Mx, *grad, *step;  // by index in the system
  tbReal *z, *lambda, *Jstep;    // by row
  tbReal* E;                     // by row: proximal weight plus R
} Convex;

// E by row for the current proximal weight.
static void set_weight(Convex* c, tbReal weight) {
  c->weight = weight;
  for (int i = 0; i < c->p->nblock; i++) {
    const tbBlock* b = &c->p->block[i];
    for (int r = b->row; r < b->row + b->dim; r++) {
      c->E[r] = weight * c->a->rho[r] + (c->p->R ? c->p->R[r] : 0);
    }
    if (b->type == TB_BLOCK_CONE) tb_prox_cone_rows(b, c->E + b->row);
  }
}

// z = P lambda_k - g - s e_N - J x at x, P = E - R.
static void set_z(Convex* c) {
  for (int i = 0; i < c->p->nblock; i++) {
    const tbBlock* b = &c->p->block[i];
    tbReal velocity[MAX];
    tb_velocity_mul(c->a->system, i, c->x, velocity);
    for (int r = 0; r < b->dim; r++) {
      int row = b->row + r;
      tbReal P = c->E[row] - (c->p->R ? c->p->R[row] : 0);
      c->z[row] = P * c->center[row] - c->p->g[row] - velocity[r];
    }
    if (b->type == TB_BLOCK_CONE) c->z[b->row] -= c->shift[i];
  }
}

// lambda(z), M x and the gradient M x - J^T lambda; returns its size relative to M x.
static tbReal gradient(Convex* c) {
  const tbVelocity* v = c->a->system;
  tb_velocity_mass(v, c->x, c->Mx);
  for (int j = 0; j < v->size; j++) c->grad[j] = -c->Mx[j];
  for (int i = 0; i < c->p->nblock; i++) {
    const tbBlock* b = &c->p->block[i];
    tb_prox_impulse(b, c->E + b->row, c->z + b->row, c->lambda + b->row, NULL);
    tb_velocity_apply_transposed(v, i, c->lambda + b->row, c->grad);
  }
  tbReal largest = 0, scale = 0;
  for (int j = 0; j < v->size; j++) {
    c->grad[j] = -c->grad[j];
    largest = tb_max(largest, fabs(c->grad[j]));
    scale = tb_max(scale, tb_max(fabs(c->Mx[j]), fabs(c->Mx[j] - c->grad[j])));
  }
  return scale > 0 ? largest / scale : 0;
}

static tbReal line_search(const Convex* c, tbReal* Mstep) {
  const tbVelocity* v = c->a->system;
  tbReal ww = 0, ws = 0, first = 0;
  tb_velocity_mass(v, c->step, Mstep);
  for (int j = 0; j < v->size; j++) {
    ww += c->step[j] * Mstep[j];
    ws += c->step[j] * c->Mx[j];
    first += c->step[j] * c->grad[j];
  }
  return tb_prox_line_search(c->p, c->E, c->z, c->Jstep, ww, ws, first, 1e-2);
}

// Minimise for the current proximal centre and shift; returns the iterations, or -1 if a
// factorisation failed.
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
      tb_prox_impulse(b, c->E + b->row, c->z + b->row, unused, W);
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
    tb_velocity_apply_transposed(v, i, lambda + p->block[i].row, x);
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
  c->center = TB_ARENA_NEW(arena, tbReal, n);
  c->z = TB_ARENA_NEW(arena, tbReal, n);
  c->lambda = TB_ARENA_NEW(arena, tbReal, n);
  c->Jstep = TB_ARENA_NEW(arena, tbReal, n);
  c->E = TB_ARENA_NEW(arena, tbReal, n);
  c->shift = TB_ARENA_NEW(arena, tbReal, c->p->nblock + 1);
  c->x = TB_ARENA_NEW(arena, tbReal, m);
  c->Mx = TB_ARENA_NEW(arena, tbReal, m);
  c->grad = TB_ARENA_NEW(arena, tbReal, m);
  c->step = TB_ARENA_NEW(arena, tbReal, m);
  *Mstep = TB_ARENA_NEW(arena, tbReal, m);
  return !arena->failed;
}

bool tb_active_proximal_newton(const tbActive* a, tbArena* arena, int iterations, tbReal target,
                               tbReal* lambda, tbReal* sigma, tbSolveInfo* info) {
  Convex c = {.a = a, .p = a->p};
  tbReal* Mstep;
  if (!allocate(&c, arena, &Mstep)) return false;
  tbVelocity* v = a->system;
  set_weight(&c, FIRST_WEIGHT);
  for (int i = 0; i < c.p->nblock; i++) {
    int row = c.p->block[i].row;
    tb_block_project(&c.p->block[i], a->law, lambda + row, c.center + row);
    tb_velocity_apply_transposed(v, i, c.center + row, c.x);
  }
  tb_velocity_inverse(v, c.x);
  tbReal best = tb_residual(c.p, a->law, lambda, sigma).relative;
  for (int end = info->iterations + iterations; info->iterations < end;) {
    for (int i = 0; i < c.p->nblock; i++) {
      const tbBlock* b = &c.p->block[i];
      bool shifted = b->type == TB_BLOCK_CONE && a->law == TB_LAW_NCP;
      c.shift[i] = shifted ? tb_cone_shift(b->dim, b->mu, sigma + b->row) : 0;
    }
    int inner = minimise(&c, STEP_ACCURACY * a->tolerance, Mstep, info);
    if (inner < 0) break;
    tb_active_response(a, c.lambda, c.step, sigma);
    memcpy(c.center, c.lambda, sizeof(tbReal) * (size_t)c.p->n);
    tbReal now = tb_residual(c.p, a->law, c.lambda, sigma).relative;
    if (now < best) {
      best = now;
      memcpy(lambda, c.lambda, sizeof(tbReal) * (size_t)c.p->n);
    }
    if (now <= target || inner == 0) break;
    if (inner <= EASY) set_weight(&c, tb_max(LEAST_WEIGHT, DECREASE * c.weight));
    if (inner >= MOST_INNER) set_weight(&c, tb_min(MOST_WEIGHT, INCREASE * c.weight));
  }
  return true;
}
