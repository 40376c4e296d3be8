// Semismooth Newton on the equations of local/raisim.c, from a good first guess such as the
// solution of the exact law.
//
// A step solves C dlambda + D dsigma = -F, dsigma = (G + R) dlambda, for all blocks at once, on the
// smaller side (system.h), with the compliance in C + D R. A line search on |F| prevents
// divergence; there is no proof of convergence, nor that the law has a solution.
#include <math.h>
#include <string.h>

#include "solvers/newton/newton.h"
#include "solvers/prox_newton/prox.h"
#include "solvers/local/raisim.h"
#include "solvers/newton/raisim.h"
#include "solvers/newton/system.h"

enum { MAX = TB_MAX_BLOCK_DIM, MOST_ROWS = 300, MOST_STEPS = 50, PATIENCE = 5, HALVINGS = 9 };

// Both as shares of the block's mean diagonal: the proximal term that replaces C = 0 for redundant
// contacts, and a ridge that keeps the tangential rows of A regular (the law depends on A's normal
// column alone, so the ridge does not change the solution).
static const tbReal PROXIMAL = 1e-8, RIDGE = 1e-3;

typedef struct {
  tbSolve* s;
  const tbProblem* p;
  tbProblem rigid;  // without R
  tbSystem system;
  int* start;               // of each block's matrices
  tbReal *A, *C, *D, *E;    // matrices by block; E = C^-1 D
  tbReal *mean, *slip;      // by block: mean diagonal of A
  tbReal *F, *CF, *sigma;   // by row; CF = C^-1 F
  tbReal *lambda, *answer;  // the iterate, and the admissible impulses that the law assigns to it
  tbReal *dlambda, *dsigma;
  tbReal *trial, *trial_sigma, *ones;
} Newton;

bool tb_raisim_newton_fits(const tbProblem* p) {
  return p->n <= MOST_ROWS || tb_prox_fits(p);
}

// ---- set-up ------------------------------------------------------------------------------------

static void set_blocks(Newton* q) {
  for (int i = 0; i < q->p->nblock; i++) {
    int d = q->p->block[i].dim;
    tbReal *A = q->A + q->start[i], sum = 0;
    tb_delassus_diagonal_block(q->p, i, A);
    for (int r = 0; r < d; r++) sum += A[r * (d + 1)];
    q->mean[i] = sum > 0 ? sum / d : 1;
    for (int r = 1; r < d; r++) A[r * (d + 1)] += RIDGE * q->mean[i];
  }
}

static bool init(Newton* q, tbSolve* s) {
  const tbProblem* p = s->p;
  *q = (Newton){.s = s, .p = p, .rigid = *p};
  q->start = TB_ARENA_NEW(s->arena, int, p->nblock + 1);
  if (!q->start) return false;
  size_t size = 0, n = (size_t)p->n, blocks = (size_t)p->nblock;
  for (int i = 0; i < p->nblock; i++) {
    q->start[i] = (int)size;
    size += (size_t)(p->block[i].dim * p->block[i].dim);
  }
  tbReal **matrices[] = {&q->A, &q->C, &q->D, &q->E}, **by_block[] = {&q->mean, &q->slip};
  tbReal** rows[] = {&q->F,       &q->CF,     &q->sigma, &q->lambda,      &q->answer,
                     &q->dlambda, &q->dsigma, &q->trial, &q->trial_sigma, &q->ones};
  for (int k = 0; k < 4; k++) *matrices[k] = tb_solve_reals(s, size);
  for (int k = 0; k < 2; k++) *by_block[k] = tb_solve_reals(s, blocks);
  for (int k = 0; k < 10; k++) *rows[k] = tb_solve_reals(s, n);
  if (s->arena->failed) return false;
  for (size_t r = 0; r < n; r++) q->ones[r] = 1;
  set_blocks(q);
  tbSolve rigid = *s;
  q->rigid.R = NULL;
  rigid.p = &q->rigid;
  return tb_system_init(&q->system, &rigid, q->ones);
}

// ---- a step ------------------------------------------------------------------------------------

// F of block i, with its C and D unless C is NULL.
static void block_equation(Newton* q, int i, const tbReal* lambda, const tbReal* sigma, tbReal* C,
                           tbReal* D) {
  const tbBlock* b = &q->p->block[i];
  int d = b->dim;
  tbReal *F = q->F + b->row, *answer = q->answer + b->row, rho[MAX] = {0};
  if (b->type == TB_BLOCK_CONE && q->A[q->start[i]] > 0) {
    tbRaisimCone cone = {b, q->A + q->start[i], &q->slip[i]};
    tb_raisim_cone(&cone, lambda, sigma, answer, F, C, D);
    return;
  }
  // Single rows; a contact without inertia carries no impulse.
  tbBlock rows = *b;
  if (b->type == TB_BLOCK_CONE) rows = (tbBlock){.type = TB_BLOCK_BOX, .row = b->row, .dim = d};
  for (int r = 0; r < d; r++) rho[r] = 1 / q->mean[i];
  tbNewtonPoint at = {lambda, sigma, q->ones, rho, 0};
  tb_newton_block(&rows, TB_LAW_NCP, &at, (tbNewtonEquations){F, C, D});
  for (int r = 0; r < d; r++) {
    answer[r] = lambda[r] - rho[r] * sigma[r];
    F[r] *= q->mean[i];
  }
  tb_block_project(&rows, TB_LAW_NCP, answer, answer);
  for (int k = 0; C && k < d * d; k++) {
    C[k] *= q->mean[i];
    D[k] *= q->mean[i];
  }
}

// F of all blocks; returns its norm.
static tbReal equations(Newton* q, const tbReal* lambda, const tbReal* sigma, bool derivatives) {
  tbReal sum = 0;
  for (int i = 0; i < q->p->nblock; i++) {
    int row = q->p->block[i].row;
    block_equation(q, i, lambda + row, sigma + row, derivatives ? q->C + q->start[i] : NULL,
                   q->D + q->start[i]);
    for (int r = row; r < row + q->p->block[i].dim; r++) sum += q->F[r] * q->F[r];
  }
  return sqrt(sum);
}

// dlambda = -(C + D (G + R))^-1 F and its dsigma.
static bool direction(Newton* q) {
  const tbReal* R = q->p->R;
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    int d = b->dim;
    tbReal *C = q->C + q->start[i], *D = q->D + q->start[i];
    for (int k = 0; R && k < d * d; k++) C[k] += D[k] * R[b->row + k % d];
    for (int r = 0; r < d; r++) {
      C[r * (d + 1)] += PROXIMAL * q->mean[i];
      q->F[b->row + r] = -q->F[b->row + r];
    }
    if (!tb_newton_divide(d, C, D, d, q->E + q->start[i])) return false;
    if (!tb_newton_divide(d, C, q->F + b->row, 1, q->CF + b->row)) return false;
  }
  q->s->info->factorizations++;
  if (!tb_system_factor_mixed(&q->system, q->C, q->D, q->E, q->start)) return false;
  tb_system_solve_mixed(&q->system, q->F, q->CF, q->dlambda);
  tb_system_apply(&q->system, q->dlambda, q->dsigma);
  for (int r = 0; r < q->p->n; r++) {
    if (R) q->dsigma[r] += R[r] * q->dlambda[r];
    if (!isfinite(q->dlambda[r]) || !isfinite(q->dsigma[r])) return false;
  }
  return true;
}

// The step length: the first of 1, 1/2, ... with a sufficient decrease of |F|, or the best of them.
static tbReal line_search(Newton* q, tbReal size) {
  tbReal least = INFINITY, best = 1, t = 1;
  for (int k = 0; k < HALVINGS; k++, t *= 0.5) {
    for (int r = 0; r < q->p->n; r++) {
      q->trial[r] = q->lambda[r] + t * q->dlambda[r];
      q->trial_sigma[r] = q->sigma[r] + t * q->dsigma[r];
    }
    tbReal now = equations(q, q->trial, q->trial_sigma, false);
    if (now < least) {
      least = now;
      best = t;
    }
    if (now <= (1 - 0.1 * t) * size) break;
  }
  return best;
}

tbResult tb_solve_raisim_newton(tbSolve* s) {
  Newton q;
  if (!init(&q, s)) return tb_solve_no_memory(s);
  memcpy(q.lambda, s->lambda, (size_t)q.p->n * sizeof *q.lambda);
  tb_delassus_velocity(q.p, q.lambda, s->velocity, q.sigma);
  tbReal size = equations(&q, q.lambda, q.sigma, true);
  int vain = 0, most = s->settings->max_iter < MOST_STEPS ? s->settings->max_iter : MOST_STEPS;
  s->info->status = TB_SOLVE_STALLED;
  for (int k = 1; k <= most && vain <= PATIENCE && direction(&q); k++) {
    tbReal t = line_search(&q, size), before = size;
    for (int r = 0; r < q.p->n; r++) q.lambda[r] += t * q.dlambda[r];
    tb_delassus_velocity(q.p, q.lambda, s->velocity, q.sigma);
    size = equations(&q, q.lambda, q.sigma, true);
    memcpy(s->lambda, q.answer, (size_t)q.p->n * sizeof *q.answer);
    if (tb_solve_check(s, s->lambda, k, t)) return TB_OK;
    vain = size < 0.9 * before ? 0 : vain + 1;
  }
  return TB_OK;
}
