// lcp/ipm: the interior-point method on the pyramid law (lcp_interior.c) over the Delassus matrix,
// for problems that neither Newton nor Lemke solves.
#include <string.h>

#include "solvers/interior_point/lcp_interior.h"
#include "solvers/newton/newton.h"
#include "solvers/newton/system.h"

typedef struct {
  tbSolve* s;
  tbProblem rigid;  // the problem without compliance, which H includes
  tbSystem system;
} Delassus;

static bool factor(void* owner, const tbReal* H, const tbReal* E, const int* start) {
  Delassus* q = owner;
  q->s->info->factorizations++;
  return tb_system_factor(&q->system, H, E, start);
}

static void solve(void* owner, const tbReal* rhs, tbReal* dx) {
  Delassus* q = owner;
  tb_system_solve(&q->system, rhs, 1, dx);
}

static void velocity(void* owner, const tbReal* lambda, tbReal* sigma) {
  Delassus* q = owner;
  tb_delassus_velocity(q->s->p, lambda, q->s->velocity, sigma);
}

static bool check(void* owner, const tbReal* lambda, int iteration, tbReal mu, tbReal* measure) {
  Delassus* q = owner;
  bool enough = tb_solve_check(q->s, lambda, iteration, mu);
  *measure = tb_solve_measure(q->s, &q->s->last);
  if (enough) memcpy(q->s->lambda, lambda, sizeof(tbReal) * (size_t)q->s->p->n);
  return enough;
}

// Scaled rows of the problem without compliance.
static bool prepare(Delassus* q, tbReal** scale) {
  tbSolve* s = q->s;
  const tbProblem* p = s->p;
  tbReal* diagonal = tb_solve_reals(s, (size_t)p->n);
  *scale = tb_solve_reals(s, (size_t)p->n);
  if (s->arena->failed) return false;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    tbReal A[TB_MAX_BLOCK_DIM * TB_MAX_BLOCK_DIM];
    tb_delassus_diagonal_block(p, i, A);
    for (int r = 0; r < b->dim; r++) diagonal[b->row + r] = A[r * (b->dim + 1)];
  }
  tb_lcp_scale(p, diagonal, *scale);
  q->rigid = *p;
  q->rigid.R = NULL;
  s->p = &q->rigid;
  bool done = tb_system_init(&q->system, s, *scale);
  s->p = p;
  return done;
}

tbResult tb_solve_lcp_ipm(tbSolve* s) {
  Delassus q = {.s = s};
  const tbLcpSystem system = {&q, factor, solve, velocity, check};
  tbReal* scale;
  bool solved;
  if (!prepare(&q, &scale)) return tb_solve_no_memory(s);
  const tbLcpInterior interior = {.p = s->p, .scale = scale, .max_iter = s->settings->max_iter};
  s->info->status = TB_SOLVE_MAX_ITERATIONS;
  if (!tb_lcp_interior(&interior, &system, s->arena, &solved)) return tb_solve_no_memory(s);
  if (solved) return TB_OK;
  memcpy(s->lambda, s->best, (size_t)s->p->n * sizeof *s->lambda);
  s->info->status = tb_solve_gave_up(s);
  return TB_OK;
}
