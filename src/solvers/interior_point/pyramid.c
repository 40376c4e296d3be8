// The interior-point method on the pyramid law (lcp_interior.c) in velocity space: the fallback
// after the Newton iterations of the active set for an island under lcp. With S the scale of the
// rows and E = H^-1 by block, (S G S + H) dx = b is
//
//     (M + J^T S E S J) dv = J^T S E b,    dx = E (b - S J dv)                                 (1)
//
// so that G is never formed. H includes the compliance.
#include <string.h>

#include "base/minmax.h"
#include "solvers/active_set/state.h"
#include "solvers/interior_point/lcp_interior.h"

enum { MAX = TB_MAX_BLOCK_DIM };

// Limits of iterations per attempt and of attempts, and the Newton iterations after the attempts.
enum { ITERATIONS = 60, ATTEMPTS = 3, AFTER = 2 };
// Barrier parameter of an attempt's first point over the residual of the best point; 0: start from
// the centre.
static const tbReal BARRIER[ATTEMPTS] = {0.1, 1, 0};

typedef struct {
  tbActiveState* s;
  tbReal* lambda;  // receives the solution
  tbSolveInfo* info;
  tbReal *scale, *dv;
  const tbReal* E;
  const int* start;
} Pyramid;

static bool factor(void* owner, const tbReal* H, const tbReal* E, const int* start) {
  Pyramid* q = owner;
  const tbProblem* p = q->s->p;
  tbVelocity* system = q->s->a->system;
  (void)H;
  q->E = E;
  q->start = start;
  q->info->factorizations++;
  tb_velocity_start(system, false);
  for (int i = 0; i < p->nblock; i++) {
    int d = p->block[i].dim;
    const tbReal *own = E + start[i], *S = q->scale + p->block[i].row;
    tbReal W[MAX * MAX];
    for (int r = 0; r < d; r++) {
      for (int c = 0; c < d; c++) W[r * d + c] = S[r] * own[r * d + c] * S[c];
    }
    tb_velocity_add(system, i, W);
  }
  return tb_velocity_factor(system);
}

// out = E_i x of a block.
static void multiply(const Pyramid* q, int i, int d, const tbReal* x, tbReal* out) {
  const tbReal* E = q->E + q->start[i];
  for (int r = 0; r < d; r++) {
    out[r] = 0;
    for (int c = 0; c < d; c++) out[r] += E[r * d + c] * x[c];
  }
}

static void solve(void* owner, const tbReal* rhs, tbReal* dx) {
  Pyramid* q = owner;
  const tbProblem* p = q->s->p;
  const tbVelocity* system = q->s->a->system;
  memset(q->dv, 0, sizeof(tbReal) * (size_t)system->size);
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row, d = p->block[i].dim;
    tbReal f[MAX];
    multiply(q, i, d, rhs + row, f);
    for (int r = 0; r < d; r++) f[r] *= q->scale[row + r];
    tb_velocity_apply_transposed(system, i, f, q->dv);
  }
  tb_velocity_solve(system, q->dv);
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row, d = p->block[i].dim;
    tbReal left[TB_ROWS_DIM];
    tb_velocity_mul(system, i, q->dv, left);
    for (int r = 0; r < d; r++) left[r] = rhs[row + r] - q->scale[row + r] * left[r];
    multiply(q, i, d, left, dx + row);
  }
}

static void velocity(void* owner, const tbReal* lambda, tbReal* sigma) {
  Pyramid* q = owner;
  q->s->form->velocity(q->s, lambda, sigma);
}

static bool check(void* owner, const tbReal* lambda, int iteration, tbReal mu, tbReal* measure) {
  Pyramid* q = owner;
  tbActiveState* s = q->s;
  (void)iteration, (void)mu;
  q->info->iterations++;
  memcpy(s->candidate, lambda, sizeof(tbReal) * (size_t)s->p->n);
  s->form->velocity(s, s->candidate, s->candidate_sigma);
  bool enough = tb_active_evaluate(s, q->lambda, q->info);
  *measure = q->info->residual.relative;
  return enough;
}

// One attempt, near the best point so far or from the centre. False: out of memory.
static bool attempt(Pyramid* q, tbArena* arena, tbReal mu, bool* solved) {
  tbActiveState* s = q->s;
  const tbLcpSystem system = {q, factor, solve, velocity, check};
  int left = s->a->max_iter - q->info->iterations;
  tbLcpInterior interior = {.p = s->p, .scale = q->scale};
  interior.max_iter = left < ITERATIONS ? left : ITERATIONS;
  if (mu > 0) {
    memcpy(s->lambda, s->best, sizeof(tbReal) * (size_t)s->p->n);
    s->form->velocity(s, s->lambda, s->sigma);
    interior.lambda = s->lambda;
    interior.sigma = s->sigma;
    interior.mu = mu * tb_min(1, s->best_residual);
  }
  tbArenaMark mark = tb_arena_mark(arena);
  bool ok = tb_lcp_interior(&interior, &system, arena, solved);
  tb_arena_release(arena, mark);
  return ok;
}

bool tb_active_pyramid(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                       bool* solved) {
  Pyramid q = {.s = s, .lambda = lambda, .info = info};
  if (!tb_velocity_analyze(s->a->system)) return false;
  q.scale = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->p->n + 1));
  q.dv = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->a->system->size + 1));
  if (!q.scale || !q.dv) return false;
  tb_lcp_scale(s->p, s->a->rho, q.scale);
  for (int k = 0; k < ATTEMPTS && !*solved; k++) {
    if (!attempt(&q, arena, BARRIER[k], solved)) return false;
  }
  // Newton iterations from the end of the attempts gain the last digits, so that bodies that come
  // to rest keep their impulses. They may also find a solution if the interior-point method
  // stalled.
  tbSolveInfo found = *info;
  memcpy(s->lambda, s->best, sizeof(tbReal) * (size_t)s->p->n);
  s->form->velocity(s, s->lambda, s->sigma);
  bool converges = !(*solved && tb_active_moving(s)) && tb_active_iterate(s, AFTER, lambda, info);
  if (*solved && !converges) {
    found.iterations = info->iterations;
    found.factorizations = info->factorizations;
    *info = found;
  }
  *solved = *solved || converges;
  return true;
}
