// Newton's method on the active set in velocity space: every block is affine in its velocity,
// lambda = c0 - W (g + J x), and x solves (3) of active.c by sparse factors.
#include <math.h>
#include <string.h>

#include "solvers/active_state.h"

enum { MAX = TB_MAX_BLOCK_DIM };

typedef struct {
  tbReal *x, *c0, *W;  // W: MAX x MAX per block
} Velocity;

static bool start(tbActiveState* s, tbArena* arena) {
  Velocity* w = TB_ARENA_NEW(arena, Velocity, 1);
  if (!w) return false;
  s->work = w;
  w->x = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->a->system->size + 1));
  w->c0 = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->p->n + 1));
  w->W = tb_arena_alloc(arena, sizeof(tbReal) * MAX * MAX * (size_t)(s->p->nblock + 1));
  return w->x && w->c0 && w->W;
}

// ---- the system --------------------------------------------------------------------------------

// The weights of all blocks and the factors of (3).
static bool factor_modes(tbActiveState* s) {
  tbVelocity* v = s->a->system;
  Velocity* w = s->work;
  tb_velocity_start(v, !s->sliding);
  for (int i = 0; i < s->p->nblock; i++) {
    tbReal* W = w->W + (size_t)i * MAX * MAX;
    tb_active_weights(s, i, w->c0, W);
    bool any = false;
    for (int r = 0; r < s->p->block[i].dim * s->p->block[i].dim; r++) any = any || W[r] != 0;
    if (any) tb_velocity_add(v, i, W);
  }
  return tb_velocity_factor(v);
}

// Solve (3) and evaluate lambda and sigma at its solution.
static bool solve_modes(tbActiveState* s) {
  tbVelocity* v = s->a->system;
  Velocity* w = s->work;
  const tbProblem* p = s->p;
  memset(w->x, 0, sizeof(tbReal) * (size_t)v->size);
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    const tbReal *W = w->W + (size_t)i * MAX * MAX, *g = p->g + b->row;
    tbReal f[MAX];
    bool moved = false;
    for (int r = 0; r < b->dim; r++) {
      f[r] = w->c0[b->row + r];
      for (int c = 0; c < b->dim; c++) {
        f[r] -= W[r * b->dim + c] * g[c];
      }
      moved = moved || f[r] != 0;
    }
    if (moved) tb_velocity_add_impulse(v, i, f, w->x);
  }
  tb_velocity_solve(v, w->x);
  bool finite = true;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    const tbReal *W = w->W + (size_t)i * MAX * MAX, *g = p->g + b->row;
    tbReal velocity[MAX];
    tb_velocity_mul(v, i, w->x, velocity);
    for (int r = 0; r < b->dim; r++) velocity[r] += g[r];
    for (int r = 0; r < b->dim; r++) {
      int row = b->row + r;
      tbReal sum = w->c0[row];
      for (int c = 0; c < b->dim; c++) sum -= W[r * b->dim + c] * velocity[c];
      s->next[row] = sum;
      s->speed[row] = velocity[r] + (p->R ? p->R[row] * sum : 0);
      finite = finite && isfinite(sum);
    }
  }
  return finite;
}

// Solve (3) for the change of lambda and x. sigma must be what lambda leads to; the weights are
// those that were factored, with the new anchor.
static bool refine_modes(tbActiveState* s) {
  tbVelocity* v = s->a->system;
  Velocity* w = s->work;
  const tbProblem* p = s->p;
  memset(w->x, 0, sizeof(tbReal) * (size_t)v->size);
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    const tbReal* R = p->R ? p->R + b->row : NULL;
    tbReal* W = w->W + (size_t)i * MAX * MAX;
    tb_active_weights(s, i, w->c0, W);
    const tbReal *lambda = s->lambda + b->row, *sigma = s->sigma + b->row;
    tbReal* change = s->next + b->row;
    for (int r = 0; r < b->dim; r++) {
      change[r] = w->c0[b->row + r] - lambda[r];
      for (int c = 0; c < b->dim; c++) {
        change[r] -= W[r * b->dim + c] * (sigma[c] - (R ? R[c] * lambda[c] : 0));
      }
    }
    tb_velocity_add_impulse(v, i, change, w->x);
  }
  tb_velocity_solve(v, w->x);
  bool finite = true;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    const tbReal* W = w->W + (size_t)i * MAX * MAX;
    tbReal velocity[MAX];
    tb_velocity_mul(v, i, w->x, velocity);
    for (int r = 0; r < b->dim; r++) {
      int row = b->row + r;
      tbReal change = s->next[row];
      for (int c = 0; c < b->dim; c++) change -= W[r * b->dim + c] * velocity[c];
      s->next[row] = s->lambda[row] + change;
      s->speed[row] = s->sigma[row] + velocity[r] + (p->R ? p->R[row] * change : 0);
      finite = finite && isfinite(s->next[row]);
    }
  }
  return finite;
}

// The velocity that impulses lead to.
static void true_velocity(tbActiveState* s, const tbReal* lambda, tbReal* sigma) {
  tbVelocity* v = s->a->system;
  Velocity* w = s->work;
  const tbProblem* p = s->p;
  memset(w->x, 0, sizeof(tbReal) * (size_t)v->size);
  for (int i = 0; i < p->nblock; i++) {
    tb_velocity_add_impulse(v, i, lambda + p->block[i].row, w->x);
  }
  tb_velocity_inverse(v, w->x);
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    tb_velocity_mul(v, i, w->x, sigma + row);
    for (int r = row; r < row + p->block[i].dim; r++) {
      sigma[r] += p->g[r] + (p->R ? p->R[r] * lambda[r] : 0);
    }
  }
}

// Small islands take every step as a change.
const tbActiveForm TB_ACTIVE_DENSE = {start, factor_modes, refine_modes, refine_modes,
                                      true_velocity};
const tbActiveForm TB_ACTIVE_VELOCITY = {start, factor_modes, solve_modes, refine_modes,
                                         true_velocity};
