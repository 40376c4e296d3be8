// With sigma = g + J x + R lambda, x = M^-1 J^T lambda, a contact of the exact law is open
// (lambda = 0), sticks (sigma = 0) or slides (sigma_N = 0, lambda_T = mu lambda_N u). Which of them
// follows from the fixed point of Alart and Curnier (1991),
//
//     y = lambda - sigma / rho:   y_N <= 0 open,   |y_T| <= mu y_N sticks,   else slides along
//     u = y_T / |y_T|                                                                         (1)
//
// and so does the derivative of the direction: across u, lambda_T = -c sigma_T with
// c = kappa / (rho (1 - kappa)), kappa = mu y_N / |y_T|. Given the modes, every block is affine in
// its velocity,
//
//     lambda = c0 - W (g + J x)                                                               (2)
//
// where rows with sigma = 0 get the proximal term E (lambda - lambda_k) that makes W = 1/(E + R)
// finite. Together with M x = J^T lambda this is one linear system with M + J^T W J (3), which is
// symmetric unless something slides. Modes and system in turn are Newton's method; near the
// solution of the last step two rounds are typical. Elliptic cones become round in the coordinates
// lambda_j / mu_j, mu_j sigma_j. ccp differs in the sliding zone of (1) only: the projection on the
// cone, with W along the edge d = (1, mu u).
#include "solvers/active.h"

#include <math.h>
#include <string.h>

#include "contact/cone.h"

// E over the diagonal of G: while all goes well; after modes have not settled within PATIENCE
// rounds.
static const tbReal SOFTNESS = 1e-7, CAUTIOUS = 1e-2, MOST_CAUTIOUS = 1;
enum { PATIENCE = 5, INNER = 8 };
enum { MAX = TB_MAX_BLOCK_DIM, OPEN = 0, ACTIVE, STICK, SLIDE, LOW, HIGH };

typedef struct {
  const tbActive* a;
  const tbProblem* p;
  tbReal *lambda, *sigma;  // of the last linear system
  tbReal* anchor;          // lambda_k of the proximal term
  tbReal softness;
  tbReal *trial, *check;  // lambda within the cones, and the velocity it leads to
  tbReal *x, *c0, *W;     // W: MAX x MAX per block
  int* mode;              // per block; per row for one-sided and box blocks
  bool changed, sliding;
} Active;

// ---- modes -------------------------------------------------------------------------------------

static void set_mode(Active* s, int row, int mode) {
  s->changed = s->changed || s->mode[row] != mode;
  s->mode[row] = mode;
}

// A row with sigma = 0, or a constant.
static void affine_row(Active* s, int row, int mode, tbReal constant, tbReal* w) {
  set_mode(s, row, mode);
  if (mode != ACTIVE) {
    s->c0[row] = constant;
    *w = 0;
    return;
  }
  tbReal E = s->softness * s->a->rho[row], R = s->p->R ? s->p->R[row] : 0;
  s->c0[row] = E * s->anchor[row] / (E + R);
  *w = 1 / (E + R);
}

static void plain_block(Active* s, const tbBlock* b, tbReal* W) {
  memset(W, 0, sizeof(tbReal) * (size_t)(b->dim * b->dim));
  for (int r = 0; r < b->dim; r++) {
    int row = b->row + r, mode = ACTIVE;
    tbReal y = s->lambda[row] - s->sigma[row] / s->a->rho[row], constant = 0;
    if (b->type == TB_BLOCK_ONE_SIDED && y <= 0) mode = OPEN;
    if (b->type == TB_BLOCK_BOX && y <= b->lower) {
      mode = LOW;
      constant = b->lower;
    } else if (b->type == TB_BLOCK_BOX && y >= b->upper) {
      mode = HIGH;
      constant = b->upper;
    }
    affine_row(s, row, mode, constant, &W[r * b->dim + r]);
  }
}

// Sliding along u (scaled coordinates), by (1) and (2).
static void slide(Active* s, const tbBlock* b, const tbReal* u, tbReal across, tbReal* W) {
  int row = b->row, d = b->dim, exact = s->a->law == TB_LAW_NCP;
  tbReal E = s->softness * s->a->rho[row], R = s->p->R ? s->p->R[row] : 0, w = 1 / (E + R);
  tbReal edge[MAX] = {1};
  for (int j = 1; j < d; j++) edge[j] = b->mu[j - 1] * u[j];
  tbReal constant = E * s->anchor[row] * w;
  for (int i = 0; i < d; i++) {
    s->c0[row + i] = edge[i] * constant;
    for (int j = 0; j < d; j++) {
      tbReal along = edge[i] * w * (exact ? (j == 0) : edge[j]);
      tbReal mu = i && j ? across * b->mu[i - 1] * b->mu[j - 1] : 0;
      W[i * d + j] = along + mu * ((i == j) - u[i] * u[j]);
    }
  }
  s->sliding = s->sliding || exact;
}

static void cone_block(Active* s, const tbBlock* b, tbReal* W) {
  int row = b->row, d = b->dim;
  const tbReal *lambda = s->lambda + row, *sigma = s->sigma + row, *rho = s->a->rho + row;
  // Round coordinates, with one rho for all tangents (and, for ccp, for the normal too).
  tbReal rho_T = 0, u[MAX] = {0}, rr = 0;
  for (int j = 1; j < d; j++) rho_T = fmax(rho_T, b->mu[j - 1] * b->mu[j - 1] * rho[j]);
  tbReal rho_N = s->a->law == TB_LAW_CCP && rho_T > 0 ? rho_T : rho[0];
  tbReal y = lambda[0] - sigma[0] / rho_N;
  for (int j = 1; j < d; j++) {
    tbReal mu = b->mu[j - 1];
    u[j] = mu > 0 ? lambda[j] / mu - mu * sigma[j] / rho_T : 0;
    rr += u[j] * u[j];
  }
  tbReal r = sqrt(rr);
  bool open = s->a->law == TB_LAW_NCP ? y <= 0 : r <= -y;
  memset(W, 0, sizeof(tbReal) * (size_t)(d * d));
  if (open) {
    set_mode(s, row, OPEN);
    for (int i = 0; i < d; i++) s->c0[row + i] = 0;
  } else if (r <= y) {
    set_mode(s, row, STICK);
    for (int i = 0; i < d; i++) {
      tbReal E = s->softness * rho[i], R = s->p->R ? s->p->R[row + i] : 0;
      bool free = i == 0 || b->mu[i - 1] > 0;
      s->c0[row + i] = free ? E * s->anchor[row + i] / (E + R) : 0;
      W[i * d + i] = free ? 1 / (E + R) : 0;
    }
  } else {
    set_mode(s, row, SLIDE);
    for (int j = 1; j < d; j++) u[j] /= r;
    tbReal kappa = s->a->law == TB_LAW_NCP ? y / r : 0.5 * (y + r) / r;
    tbReal across = kappa / (rho_T * fmax(1 - kappa, SOFTNESS));
    slide(s, b, u, across, W);
  }
}

// Modes of all blocks from lambda and sigma, and (2) for each.
static void linearise(Active* s) {
  s->changed = s->sliding = false;
  for (int i = 0; i < s->p->nblock; i++) {
    const tbBlock* b = &s->p->block[i];
    tbReal* W = s->W + (size_t)i * MAX * MAX;
    if (b->type == TB_BLOCK_CONE) {
      cone_block(s, b, W);
    } else {
      plain_block(s, b, W);
    }
  }
}

// ---- the system --------------------------------------------------------------------------------

// Solve (3) and evaluate lambda and sigma. False where the matrix is singular.
static bool solve_modes(Active* s) {
  tbVelocity* v = s->a->system;
  const tbProblem* p = s->p;
  memset(s->x, 0, sizeof(tbReal) * (size_t)v->size);
  tb_velocity_start(v, !s->sliding);
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    const tbReal *W = s->W + (size_t)i * MAX * MAX, *g = p->g + b->row;
    tbReal f[MAX];
    bool any = false, moved = false;
    for (int r = 0; r < b->dim; r++) {
      f[r] = s->c0[b->row + r];
      for (int c = 0; c < b->dim; c++) {
        f[r] -= W[r * b->dim + c] * g[c];
        any = any || W[r * b->dim + c] != 0;
      }
      moved = moved || f[r] != 0;
    }
    if (any) tb_velocity_add(v, i, W);
    if (moved) tb_velocity_add_impulse(v, i, f, s->x);
  }
  if (!tb_velocity_factor(v)) return false;
  tb_velocity_solve(v, s->x);
  bool finite = true;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    const tbReal *W = s->W + (size_t)i * MAX * MAX, *g = p->g + b->row;
    tbReal velocity[MAX];
    tb_velocity_mul(v, i, s->x, velocity);
    for (int r = 0; r < b->dim; r++) velocity[r] += g[r];
    for (int r = 0; r < b->dim; r++) {
      int row = b->row + r;
      tbReal sum = s->c0[row];
      for (int c = 0; c < b->dim; c++) sum -= W[r * b->dim + c] * velocity[c];
      s->lambda[row] = sum;
      s->sigma[row] = velocity[r] + (p->R ? p->R[row] * sum : 0);
      finite = finite && isfinite(sum);
    }
  }
  return finite;
}

// The true velocity of impulses, and their residual.
static tbResidual judge(Active* s, const tbReal* lambda, tbReal* sigma) {
  tbVelocity* v = s->a->system;
  const tbProblem* p = s->p;
  memset(s->x, 0, sizeof(tbReal) * (size_t)v->size);
  for (int i = 0; i < p->nblock; i++) {
    tb_velocity_add_impulse(v, i, lambda + p->block[i].row, s->x);
  }
  tb_velocity_inverse(v, s->x);
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    tb_velocity_mul(v, i, s->x, sigma + row);
    for (int r = row; r < row + p->block[i].dim; r++) {
      sigma[r] += p->g[r] + (p->R ? p->R[r] * lambda[r] : 0);
    }
  }
  return tb_residual(p, s->a->law, lambda, sigma);
}

static bool allocate(Active* s, tbArena* arena) {
  size_t n = (size_t)s->p->n + 1;
  s->lambda = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->sigma = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->anchor = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->trial = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->check = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->c0 = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->mode = tb_arena_alloc(arena, sizeof(int) * n);
  s->x = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->a->system->size + 1));
  s->W = tb_arena_alloc(arena, sizeof(tbReal) * MAX * MAX * (size_t)(s->p->nblock + 1));
  return s->lambda && s->sigma && s->anchor && s->trial && s->check && s->c0 && s->mode && s->x &&
         s->W;
}

// What the modes lead to, within the cones, is a candidate. True: it is good enough.
static bool accept(Active* s, tbReal* lambda, tbSolveInfo* info) {
  const tbProblem* p = s->p;
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    tb_block_project(&p->block[i], s->a->law, s->lambda + row, s->trial + row);
  }
  info->residual = judge(s, s->trial, s->check);
  if (!(info->residual.relative <= s->a->tolerance)) return false;
  memcpy(lambda, s->trial, sizeof(tbReal) * (size_t)p->n);
  info->residual_exact =
      s->a->law == TB_LAW_NCP ? info->residual : tb_residual(p, TB_LAW_NCP, lambda, s->check);
  info->status = TB_SOLVE_CONVERGED;
  return true;
}

// Rounds in which modes may still change are proximal steps that are cut short.
static bool eager(Active* s, tbReal* lambda, tbSolveInfo* info) {
  s->softness = SOFTNESS;
  for (int k = 0, settled = 0; k <= PATIENCE + settled && info->iterations < s->a->max_iter; k++) {
    size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
    memcpy(s->anchor, s->lambda, bytes);
    linearise(s);
    if (!s->changed) {
      if (accept(s, lambda, info)) return true;
      if (settled < PATIENCE) settled++;
    }
    info->iterations++;
    info->factorizations++;
    if (!solve_modes(s)) return false;
  }
  return false;
}

// Whole proximal steps, each until its modes hold, stiffer as long as that is easy.
static bool cautious(Active* s, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  s->softness = CAUTIOUS;
  while (info->iterations < s->a->max_iter) {
    memcpy(s->anchor, s->lambda, bytes);
    int k = 0;
    for (; k < INNER && info->iterations < s->a->max_iter; k++) {
      linearise(s);
      if (k > 0 && !s->changed) break;
      info->iterations++;
      info->factorizations++;
      if (!solve_modes(s)) return false;
    }
    if (accept(s, lambda, info)) return true;
    if (k < 3) {
      s->softness = fmax(SOFTNESS, 0.1 * s->softness);
    } else if (k == INNER) {
      s->softness = fmin(MOST_CAUTIOUS, 10 * s->softness);
    }
    memcpy(s->lambda, s->trial, bytes);
    memcpy(s->sigma, s->check, bytes);
  }
  return false;
}

bool tb_active_solve(const tbActive* a, tbArena* arena, const tbReal* sigma, tbReal* lambda,
                     tbSolveInfo* info) {
  Active s = {.a = a, .p = a->p};
  size_t bytes = sizeof(tbReal) * (size_t)a->p->n;
  *info = (tbSolveInfo){.status = TB_SOLVE_MAX_ITERATIONS, .law = tb_law_name(a->law)};
  info->solver = "active";
  if (!allocate(&s, arena)) return false;

  memcpy(s.lambda, lambda, bytes);
  memcpy(s.sigma, sigma, bytes);
  for (int r = 0; r < a->p->n; r++) s.mode[r] = -1;
  if (eager(&s, lambda, info)) return true;
  memcpy(s.lambda, lambda, bytes);
  memcpy(s.sigma, sigma, bytes);
  cautious(&s, lambda, info);
  return true;
}
