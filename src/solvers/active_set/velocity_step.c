// Newton's method on the active set in velocity space: every block is affine in its velocity,
// lambda = c0 - W (g + J x), and x solves (3) of active_set.c by sparse factors.
#include <math.h>
#include <string.h>

#include "base/kernel.h"
#include "solvers/active_set/state.h"
#include "operator/velocity_dense.h"

enum { MAX = TB_MAX_BLOCK_DIM };

typedef struct {
  tbReal *x, *c0, *W;  // W: MAX x MAX per block
  bool fresh;          // c0 and W belong to the present centre and modes
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

// Whether a block has nonzero weights with its present modes.
static bool has_weight(const tbActiveState* s, const tbBlock* b) {
  if (b->type == TB_BLOCK_CONE) return s->mode[b->row] != TB_MODE_OPEN;
  bool any = false;
  for (int row = b->row; row < b->row + b->dim; row++) {
    any = any || s->mode[row] == TB_MODE_ACTIVE;
  }
  return any;
}

// The weights of all blocks and the factors of (3).
static bool factor_modes(tbActiveState* s) {
  tbVelocity* v = s->a->system;
  Velocity* w = s->work;
  tb_velocity_start(v, !s->skew);
  for (int i = 0; i < s->p->nblock; i++) {
    tbReal* W = w->W + (size_t)i * MAX * MAX;
    tb_active_weights(s, i, w->c0, W);
    if (has_weight(s, &s->p->block[i])) tb_velocity_add(v, i, W);
  }
  w->fresh = true;
  return tb_velocity_factor(v);
}

// Solve (3) and evaluate lambda and sigma at its solution.
static bool solve_modes(tbActiveState* s) {
  tbVelocity* v = s->a->system;
  Velocity* w = s->work;
  const tbProblem* p = s->p;
  w->fresh = false;
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
    if (moved) tb_velocity_apply_transposed(v, i, f, w->x);
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
      s->next_sigma[row] = velocity[r] + (p->R ? p->R[row] * sum : 0);
      finite = finite && isfinite(sum);
    }
  }
  return finite;
}

// c0 - lambda - W (sigma - R lambda) of a block.
TB_INLINE void block_change(tbActiveState* s, const tbBlock* b, int d, const tbReal* c0,
                            const tbReal* W) {
  const tbReal *lambda = s->lambda + b->row, *sigma = s->sigma + b->row;
  const tbReal* R = s->p->R ? s->p->R + b->row : NULL;
  tbReal rest[MAX], *change = s->next + b->row;
  for (int r = 0; r < d; r++) rest[r] = sigma[r] - (R ? R[r] * lambda[r] : 0);
  for (int r = 0; r < d; r++) {
    change[r] = c0[b->row + r] - lambda[r];
    for (int c = 0; c < d; c++) change[r] -= W[r * d + c] * rest[c];
  }
}

// lambda and sigma of a block after its change, minus W times its velocity. False: not finite.
TB_INLINE bool block_next(tbActiveState* s, const tbBlock* b, int d, const tbReal* W,
                          const tbReal* velocity) {
  bool finite = true;
  for (int r = 0; r < d; r++) {
    int row = b->row + r;
    tbReal change = s->next[row];
    for (int c = 0; c < d; c++) change -= W[r * d + c] * velocity[c];
    s->next[row] = s->lambda[row] + change;
    s->next_sigma[row] = s->sigma[row] + velocity[r] + (s->p->R ? s->p->R[row] * change : 0);
    finite = finite && isfinite(s->next[row]);
  }
  return finite;
}

// Solve (3) for the changes of lambda and x. sigma must be the velocity of lambda; the weights are
// those of the factors, with the new proximal centre.
static bool refine_modes(tbActiveState* s) {
  tbVelocity* v = s->a->system;
  Velocity* w = s->work;
  const tbProblem* p = s->p;
  memset(w->x, 0, sizeof(tbReal) * (size_t)v->size);
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    tbReal* W = w->W + (size_t)i * MAX * MAX;
    if (!w->fresh) tb_active_weights(s, i, w->c0, W);
    if (b->dim == 1) {
      block_change(s, b, 1, w->c0, W);
    } else if (b->dim == 3) {
      block_change(s, b, 3, w->c0, W);
    } else if (b->dim == 6) {
      block_change(s, b, 6, w->c0, W);
    } else {
      block_change(s, b, b->dim, w->c0, W);
    }
  }
  tb_velocity_apply_transposed_all(v, s->next, w->x);
  w->fresh = false;
  tb_velocity_solve(v, w->x);
  tb_velocity_mul_all(v, w->x, s->next_sigma);
  bool finite = true;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    const tbReal* W = w->W + (size_t)i * MAX * MAX;
    tbReal velocity[MAX];
    for (int r = 0; r < b->dim; r++) velocity[r] = s->next_sigma[b->row + r];
    if (b->dim == 1) {
      finite = block_next(s, b, 1, W, velocity) && finite;
    } else if (b->dim == 3) {
      finite = block_next(s, b, 3, W, velocity) && finite;
    } else if (b->dim == 6) {
      finite = block_next(s, b, 6, W, velocity) && finite;
    } else {
      finite = block_next(s, b, b->dim, W, velocity) && finite;
    }
  }
  return finite;
}

// The velocity of impulses lambda.
static void true_velocity(tbActiveState* s, const tbReal* lambda, tbReal* sigma) {
  tbVelocity* v = s->a->system;
  Velocity* w = s->work;
  const tbProblem* p = s->p;
  tbLastApplied* applied = v->dense ? s->a->last_applied : NULL;
  memset(w->x, 0, sizeof(tbReal) * (size_t)v->size);
  tb_velocity_apply_transposed_all(v, lambda, w->x);
  if (applied) tb_velocity_dense_by_dof(v, w->x, applied->push);
  tb_velocity_inverse(v, w->x);
  if (applied) {
    tb_velocity_dense_by_dof(v, w->x, applied->velocity);
    memcpy(applied->lambda, lambda, sizeof(tbReal) * (size_t)p->n);
    applied->valid = true;
  }
  tb_velocity_mul_all(v, w->x, sigma);
  for (int r = 0; r < p->n; r++) sigma[r] += p->g[r] + (p->R ? p->R[r] * lambda[r] : 0);
}

// Dense factors solve every step as a change.
const tbActiveForm TB_ACTIVE_DENSE = {start, factor_modes, refine_modes, refine_modes,
                                      true_velocity};
const tbActiveForm TB_ACTIVE_VELOCITY = {start, factor_modes, solve_modes, refine_modes,
                                         true_velocity};
