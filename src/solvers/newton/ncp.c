// ncp/newton: semismooth Newton on the Alart-Curnier equations (block.c).
//
// Globalised by a line search on |F|; if that fails, by Gauss-Seidel sweeps, which need no good
// starting point; if these fail too, once by interior points. Near a solution it converges in a few
// steps, down to rounding level.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "linalg/small.h"
#include "solvers/local/local.h"
#include "solvers/newton/newton.h"
#include "solvers/gauss_seidel/sweep.h"
#include "solvers/newton/system.h"

enum { MAX = TB_MAX_BLOCK_DIM };

typedef struct {
  tbSolve* s;
  const tbProblem* p;
  tbSystem system;
  tbReal *scale, *rho;  // row scaling, and the equations' rho
  tbReal *F, *Cb, *dx, *trial, *sigma;
  tbReal *C, *D, *E;  // Jacobian blocks, block i at start[i]
  int* start;
} Newton;

static const tbReal PROXIMAL_CONSTRAINT = 1e-11, PROXIMAL_VELOCITY = 1e-9;

// False when out of memory.
static bool init(Newton* q, tbSolve* s) {
  const tbProblem* p = s->p;
  size_t n = (size_t)p->n;
  *q = (Newton){.s = s, .p = p};
  tbReal** vectors[] = {&q->scale, &q->rho, &q->F, &q->Cb, &q->dx, &q->trial, &q->sigma};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
    *vectors[k] = tb_solve_reals(s, n);
  q->start = TB_ARENA_NEW(s->arena, int, p->nblock + 1);
  if (s->arena->failed) return false;
  int size = 0;
  for (int i = 0; i < p->nblock; i++) {
    q->start[i] = size;
    size += p->block[i].dim * p->block[i].dim;
  }
  q->C = tb_solve_reals(s, (size_t)size);
  q->D = tb_solve_reals(s, (size_t)size);
  q->E = tb_solve_reals(s, (size_t)size);
  if (s->arena->failed) return false;

  // Unit normal diagonal, round cones; rho from the remaining diagonal.
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    bool cone = b->type == TB_BLOCK_CONE;
    tbReal A[MAX * MAX], tangential = 0;
    tb_delassus_diagonal_block(p, i, A);
    for (int r = 0; r < b->dim; r++) {
      tbReal d = cone ? A[0] : A[r * (b->dim + 1)], unit = d > 0 ? 1 / sqrt(d) : 1;
      tbReal scale = cone && r > 0 ? unit * b->mu[r - 1] : unit;
      q->scale[b->row + r] = scale;
      q->rho[b->row + r] = 1;
      if (cone && r > 0) tangential = tb_max(tangential, A[r * (b->dim + 1)] * scale * scale);
    }
    for (int r = 1; r < b->dim && cone; r++) {
      q->rho[b->row + r] = tangential > 0 ? 1 / tangential : 1;
    }
  }
  return tb_system_init(&q->system, s, q->scale);
}

// F at lambda = scale x; returns its norm. sigma is left in q->sigma, scaled.
static tbReal equations(Newton* q, const tbReal* lambda, bool jacobian) {
  tbReal proximal = q->system.velocity ? PROXIMAL_VELOCITY : PROXIMAL_CONSTRAINT, sum = 0;
  tb_delassus_velocity(q->p, lambda, q->s->velocity, q->s->sigma);
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    tbReal x[MAX], sigma[MAX], *F = q->F + b->row;
    tbNewtonPoint at = {x, sigma, q->scale + b->row, q->rho + b->row, proximal};
    tbNewtonEquations out = {.F = F};
    if (jacobian) {
      out.C = q->C + q->start[i];
      out.D = q->D + q->start[i];
    }
    for (int r = 0; r < b->dim; r++) {
      tbReal scale = q->scale[b->row + r];
      x[r] = scale > 0 ? lambda[b->row + r] / scale : 0;
      sigma[r] = q->s->sigma[b->row + r] * scale;
    }
    tb_newton_block(b, q->s->law, &at, out);
    for (int r = 0; r < b->dim; r++) sum += F[r] * F[r];
  }
  return sqrt(sum);
}

// dx = -(C + D G)^-1 F.
static bool direction(Newton* q) {
  for (int i = 0; i < q->p->n; i++) q->F[i] = -q->F[i];
  if (q->system.velocity) {
    for (int i = 0; i < q->p->nblock; i++) {
      int d = q->p->block[i].dim, row = q->p->block[i].row;
      const tbReal* C = q->C + q->start[i];
      if (!tb_newton_divide(d, C, q->D + q->start[i], d, q->E + q->start[i])) return false;
      if (!tb_newton_divide(d, C, q->F + row, 1, q->Cb + row)) return false;
    }
  }
  q->s->info->factorizations++;
  if (!tb_system_factor_mixed(&q->system, q->C, q->D, q->E, q->start)) return false;
  tb_system_solve_mixed(&q->system, q->F, q->Cb, q->dx);
  for (int i = 0; i < q->p->n; i++) {
    if (!isfinite(q->dx[i])) return false;
  }
  return true;
}

// One step with line search from lambda; `progress`: lambda moved and |F| fell.
static void take_step(Newton* q, tbReal* lambda, bool* progress) {
  size_t bytes = (size_t)q->p->n * sizeof *lambda;
  *progress = false;
  tbReal before = equations(q, lambda, true);
  if (before == 0 || !direction(q)) return;

  // Backtracking on |F|; any sufficient decrease is accepted.
  for (tbReal t = 1; t > 0.02; t *= 0.5) {
    for (int i = 0; i < q->p->n; i++) q->trial[i] = lambda[i] + t * q->scale[i] * q->dx[i];
    if (equations(q, q->trial, false) <= (1 - 0.1 * t) * before) {
      memcpy(lambda, q->trial, bytes);
      *progress = true;
      break;
    }
  }
}

// Project an iterate to admissible impulses: Newton's lie on the cone only up to rounding.
static void clean_up(const Newton* q, const tbReal* lambda, tbReal* out) {
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    tb_block_project(b, q->s->law, lambda + b->row, out + b->row);
  }
}

static void update(void* context, const tbBlock* block, const tbReal* A, const tbReal* b,
                   tbReal* lambda, tbReal* slip) {
  const tbSolve* s = context;
  tb_local_solve(block, s->law, A, b, lambda, slip);
}

// The same with the pyramid as cone: the equations are then piecewise linear, and Newton ends after
// finitely many steps.
tbResult tb_solve_lcp_newton(tbSolve* s) {
  return tb_solve_ncp_newton(s);
}

tbResult tb_solve_ncp_newton(tbSolve* s) {
  Newton q;
  tbSweep sweep;
  if (!tb_sweep_init(&sweep, s) || !init(&q, s)) return tb_solve_no_memory(s);
  tbReal* clean = tb_solve_reals(s, (size_t)s->p->n);
  if (!clean) return tb_solve_no_memory(s);
  int sweeps = s->settings->warm_start ? 0 : 20, failures = 0;
  bool interior = s->law != TB_LAW_NCP;  // the interior-point method supports the round cone only
  // On a pyramid Newton either converges after some hundred sweeps or not at all.
  int most = s->law == TB_LAW_LCP ? 4 : 8;
  for (int k = 1; k <= s->settings->max_iter; k++) {
    tb_sweep_set(&sweep, s->lambda);
    for (int j = 0; j < sweeps; j++) {
      tb_sweep(&sweep, s->law, 1, j & 1, s->lambda, update, s);
    }
    bool progress = false;
    take_step(&q, s->lambda, &progress);
    clean_up(&q, s->lambda, clean);
    if (tb_solve_check(s, clean, k, sweeps)) {
      memcpy(s->lambda, clean, (size_t)s->p->n * sizeof *clean);
      return TB_OK;
    }
    // No descent: continue with sweeps, more of them each time.
    failures = progress ? 0 : failures + 1;
    sweeps = progress ? 0 : 10 << (failures < 8 ? failures : 8);
    if (failures == 5 && !interior) {
      interior = true;
      failures = sweeps = 0;
      tbResult result = tb_solve_ncp_ipm(s);
      if (result != TB_OK || s->info->status == TB_SOLVE_CONVERGED ||
          s->info->status == TB_SOLVE_TIME_LIMIT) {
        return result;
      }
      memcpy(s->lambda, s->best, (size_t)s->p->n * sizeof *s->best);
    }
    if (failures > most) break;
  }
  s->info->status = failures > most ? TB_SOLVE_STALLED : TB_SOLVE_MAX_ITERATIONS;
  return TB_OK;
}
