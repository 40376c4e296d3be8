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
#include "solvers/local.h"

// E over the diagonal of G: while all goes well, and where it does not.
static const tbReal SOFTNESS = 1e-7, CAUTIOUS = 1e-2, MOST_CAUTIOUS = 1;
enum { FIRST = 10, CAREFUL = 12, LATER = 6, SWEEPS = 4, MOST_SWEEPS = 256, INNER = 6 };
static const tbReal SETTLED = 1e-6, TIE = 1e-3;
enum { SETTLE = 8, SETTLE_SLIDING = 2 };
enum { CONVEX = 4, CONVEX_AFTER = 1, CONVEX_ROUNDS = 40 };
// Rows from which on interior points come next, and after few rounds only.
enum { MEDIUM = 60, LARGE = 200, FIRST_LARGE = 3, SWEEPS_LARGE = 80, POLISH = 2 };
enum { MAX = TB_MAX_BLOCK_DIM, OPEN = 0, ACTIVE, STICK, SLIDE, LOW, HIGH };

typedef struct {
  const tbActive* a;
  const tbProblem* p;
  tbReal *lambda, *sigma;  // where Newton's method is; sigma is what lambda leads to
  tbReal *next, *speed;    // the same at the end of a full step
  tbReal *old, *slow;      // and before it
  tbReal* anchor;          // lambda_k of the proximal term
  tbReal softness;
  tbReal tie;             // m/s: what opens more slowly is closed
  tbReal *trial, *check;  // lambda within the cones, and the velocity it leads to
  tbReal* good;           // the last trial that was good enough
  tbReal* best;           // the trial with the smallest residual so far
  tbReal best_measure;
  tbReal *x, *c0, *W;  // W: MAX x MAX per block
  int* mode;           // per block; per row for one-sided and box blocks
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
  bool exact = s->a->law == TB_LAW_NCP;
  if (exact && s->tie > 0 && y <= 0 && y >= -s->tie / rho_N) y = fmax(r, 1e-300);
  bool open = exact ? y <= 0 : r <= -y;
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

// The matrix of (3) and its factors; false where it is singular.
static bool factor_modes(Active* s) {
  tbVelocity* v = s->a->system;
  tb_velocity_start(v, !s->sliding);
  for (int i = 0; i < s->p->nblock; i++) {
    const tbReal* W = s->W + (size_t)i * MAX * MAX;
    bool any = false;
    for (int r = 0; r < s->p->block[i].dim * s->p->block[i].dim; r++) any = any || W[r] != 0;
    if (any) tb_velocity_add(v, i, W);
  }
  return tb_velocity_factor(v);
}

// Solve (3) and evaluate lambda and sigma at its solution. False where the matrix is singular.
static bool solve_modes(Active* s) {
  tbVelocity* v = s->a->system;
  const tbProblem* p = s->p;
  memset(s->x, 0, sizeof(tbReal) * (size_t)v->size);
  if (!factor_modes(s)) return false;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    const tbReal *W = s->W + (size_t)i * MAX * MAX, *g = p->g + b->row;
    tbReal f[MAX];
    bool moved = false;
    for (int r = 0; r < b->dim; r++) {
      f[r] = s->c0[b->row + r];
      for (int c = 0; c < b->dim; c++) {
        f[r] -= W[r * b->dim + c] * g[c];
      }
      moved = moved || f[r] != 0;
    }
    if (moved) tb_velocity_add_impulse(v, i, f, s->x);
  }
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
      s->next[row] = sum;
      s->speed[row] = velocity[r] + (p->R ? p->R[row] * sum : 0);
      finite = finite && isfinite(sum);
    }
  }
  return finite;
}

// Solve (3) for the change of lambda and x, with the factors of the last time: what the large W
// rounds away is then relative to the change. sigma must be what lambda leads to.
static bool refine_modes(Active* s) {
  tbVelocity* v = s->a->system;
  const tbProblem* p = s->p;
  memset(s->x, 0, sizeof(tbReal) * (size_t)v->size);
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    const tbReal *W = s->W + (size_t)i * MAX * MAX, *R = p->R ? p->R + b->row : NULL;
    const tbReal *lambda = s->lambda + b->row, *sigma = s->sigma + b->row;
    tbReal* change = s->next + b->row;
    for (int r = 0; r < b->dim; r++) {
      change[r] = s->c0[b->row + r] - lambda[r];
      for (int c = 0; c < b->dim; c++) {
        change[r] -= W[r * b->dim + c] * (sigma[c] - (R ? R[c] * lambda[c] : 0));
      }
    }
    tb_velocity_add_impulse(v, i, change, s->x);
  }
  tb_velocity_solve(v, s->x);
  bool finite = true;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    const tbReal* W = s->W + (size_t)i * MAX * MAX;
    tbReal velocity[MAX];
    tb_velocity_mul(v, i, s->x, velocity);
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

// ---- step length -------------------------------------------------------------------------------

// Squared distance of a cone block from its fixed point (1), weighted with rho: an energy.
static tbReal cone_distance(const Active* s, const tbBlock* b, const tbReal* lambda,
                            const tbReal* sigma) {
  const tbReal* rho = s->a->rho + b->row;
  tbReal rho_T = 0, u[MAX] = {0}, rr = 0, sum = 0;
  for (int j = 1; j < b->dim; j++) rho_T = fmax(rho_T, b->mu[j - 1] * b->mu[j - 1] * rho[j]);
  bool exact = s->a->law == TB_LAW_NCP;
  tbReal rho_N = !exact && rho_T > 0 ? rho_T : rho[0], y = lambda[0] - sigma[0] / rho_N;
  for (int j = 1; j < b->dim; j++) {
    tbReal mu = b->mu[j - 1];
    u[j] = mu > 0 ? lambda[j] / mu - mu * sigma[j] / rho_T : 0;
    rr += u[j] * u[j];
  }
  // Where y is projected to: along the normal, and the factor of the tangents.
  tbReal r = sqrt(rr), normal = fmax(0, y), factor = 1;
  if (!exact && r > fabs(y)) normal = 0.5 * (y + r);
  if (!exact && r <= -y) normal = 0;
  if (r > normal) factor = normal / r;
  sum = rho_N * (lambda[0] - normal) * (lambda[0] - normal);
  for (int j = 1; j < b->dim; j++) {
    tbReal mu = b->mu[j - 1], d = mu > 0 ? lambda[j] / mu - factor * u[j] : 0;
    sum += rho_T * d * d;
  }
  return sum;
}

// The same over all blocks, at a point on the line from (old, slow) to (next, speed).
static tbReal distance(const Active* s, tbReal t) {
  tbReal sum = 0;
  for (int i = 0; i < s->p->nblock; i++) {
    const tbBlock* b = &s->p->block[i];
    tbReal lambda[MAX], sigma[MAX];
    for (int r = 0; r < b->dim; r++) {
      int row = b->row + r;
      lambda[r] = s->old[row] + t * (s->next[row] - s->old[row]);
      sigma[r] = s->slow[row] + t * (s->speed[row] - s->slow[row]);
    }
    if (b->type == TB_BLOCK_CONE) {
      sum += cone_distance(s, b, lambda, sigma);
      continue;
    }
    for (int r = 0; r < b->dim; r++) {
      tbReal rho = s->a->rho[b->row + r], y = lambda[r] - sigma[r] / rho;
      if (b->type == TB_BLOCK_ONE_SIDED) y = fmax(0, y);
      if (b->type == TB_BLOCK_BOX) y = fmin(b->upper, fmax(b->lower, y));
      sum += rho * (lambda[r] - y) * (lambda[r] - y);
    }
  }
  return sum;
}

// The length of a step: full where that helps, else the best of some shorter ones, 0 where none
// does. Velocities are linear in impulses, so that a trial costs next to nothing.
static tbReal step_length(const Active* s) {
  tbReal before = distance(s, 0), best = distance(s, 1), length = 1;
  if (best <= 0.5 * before) return 1;
  for (tbReal t = 0.5; t > 1e-2; t *= 0.5) {
    tbReal d = distance(s, t);
    if (d < best) {
      best = d;
      length = t;
    }
  }
  return best < before ? length : 0;
}

// The velocity that impulses lead to.
static void true_velocity(Active* s, const tbReal* lambda, tbReal* sigma) {
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
}

static bool allocate(Active* s, tbArena* arena) {
  size_t n = (size_t)s->p->n + 1;
  s->lambda = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->sigma = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->anchor = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->next = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->speed = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->slow = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->old = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->trial = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->check = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->best = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->good = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->c0 = tb_arena_alloc(arena, sizeof(tbReal) * n);
  s->mode = tb_arena_alloc(arena, sizeof(int) * n);
  s->x = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->a->system->size + 1));
  s->W = tb_arena_alloc(arena, sizeof(tbReal) * MAX * MAX * (size_t)(s->p->nblock + 1));
  return s->lambda && s->sigma && s->anchor && s->next && s->speed && s->slow && s->old &&
         s->trial && s->check && s->best && s->good && s->c0 && s->mode && s->x && s->W;
}

// ---- sweeps ------------------------------------------------------------------------------------

// What Gauss-Seidel needs of a block: B = J L^-1 D^-1/2 on its support, and B B^T + R.
typedef struct {
  tbReal* B;
  tbReal A[MAX * MAX];
  tbReal slip;
} Local;

static bool whiten(Active* s, tbArena* arena, Local* local) {
  const tbVelocity* v = s->a->system;
  for (int i = 0; i < s->p->nblock; i++) {
    const tbRows* rows = &v->block[i];
    int d = rows->dim, n = rows->nnz, row = s->p->block[i].row;
    Local* l = &local[i];
    l->B = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(d * n + 1));
    if (!l->B) return false;
    l->slip = 0;
    memcpy(l->B, rows->J, sizeof(tbReal) * (size_t)(d * n));
    tb_ltdl_half_solve_support(v->forest, v->LD, v->inverse, rows->col, n, l->B, n, d);
    for (int r = 0; r < d; r++) {
      for (int c = 0; c <= r; c++) {
        tbReal sum = 0;
        for (int k = 0; k < n; k++) sum += l->B[r * n + k] * l->B[c * n + k];
        l->A[r * d + c] = l->A[c * d + r] = sum;
      }
      if (s->p->R) l->A[r * d + r] += s->p->R[row + r];
    }
  }
  return true;
}

// sigma of a block at whitened velocity w.
static void block_velocity(const Active* s, const Local* l, int i, const tbReal* w, tbReal* out) {
  const tbVelocity* v = s->a->system;
  const tbRows* rows = &v->block[i];
  int row = s->p->block[i].row;
  for (int r = 0; r < rows->dim; r++) {
    tbReal sum = s->p->g[row + r] + (s->p->R ? s->p->R[row + r] * s->lambda[row + r] : 0);
    for (int k = 0; k < rows->nnz; k++) sum += l->B[r * rows->nnz + k] * w[v->place[rows->col[k]]];
    out[r] = sum;
  }
}

static void add_whitened(const Active* s, const Local* l, int i, const tbReal* f, tbReal* w) {
  const tbVelocity* v = s->a->system;
  const tbRows* rows = &v->block[i];
  for (int r = 0; r < rows->dim; r++) {
    if (f[r] == 0) continue;
    for (int k = 0; k < rows->nnz; k++) w[v->place[rows->col[k]]] += l->B[r * rows->nnz + k] * f[r];
  }
}

// Gauss-Seidel with exact local solutions (CM Alg. 6) on lambda: slow to converge, but what opens,
// sticks or slides shows after a few sweeps.
static void sweep(Active* s, Local* local, int count) {
  const tbProblem* p = s->p;
  tbReal* w = s->x;
  memset(w, 0, sizeof(tbReal) * (size_t)s->a->system->size);
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    tb_block_project(b, s->a->law, s->lambda + b->row, s->lambda + b->row);
    add_whitened(s, &local[i], i, s->lambda + b->row, w);
  }
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < p->nblock; i++) {
      const tbBlock* b = &p->block[i];
      tbReal velocity[MAX], old[MAX], *lambda = s->lambda + b->row;
      block_velocity(s, &local[i], i, w, velocity);
      for (int r = 0; r < b->dim; r++) {
        old[r] = lambda[r];
        for (int c = 0; c < b->dim; c++) velocity[r] -= local[i].A[r * b->dim + c] * lambda[c];
      }
      tb_local_solve(b, s->a->law, local[i].A, velocity, lambda, &local[i].slip);
      for (int r = 0; r < b->dim; r++) old[r] = lambda[r] - old[r];
      add_whitened(s, &local[i], i, old, w);
    }
  }
  for (int i = 0; i < p->nblock; i++) {
    block_velocity(s, &local[i], i, w, s->sigma + p->block[i].row);
  }
}

// ---- rounds ------------------------------------------------------------------------------------

// Judge impulses within the cones and the velocity they lead to. True: they are good enough.
static bool judge_trial(Active* s, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  info->residual = tb_residual(s->p, s->a->law, s->trial, s->check);
  if (info->residual.relative < s->best_measure) {
    s->best_measure = info->residual.relative;
    memcpy(s->best, s->trial, bytes);
  }
  if (!(info->residual.relative <= s->a->tolerance)) return false;
  memcpy(lambda, s->trial, bytes);
  info->residual_exact =
      s->a->law == TB_LAW_NCP ? info->residual : tb_residual(s->p, TB_LAW_NCP, s->trial, s->check);
  info->status = TB_SOLVE_CONVERGED;
  return true;
}

// What the modes lead to, within the cones, is a candidate.
static bool accept(Active* s, tbReal* lambda, tbSolveInfo* info) {
  const tbProblem* p = s->p;
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    tb_block_project(&p->block[i], s->a->law, s->lambda + row, s->trial + row);
  }
  true_velocity(s, s->trial, s->check);
  return judge_trial(s, lambda, info);
}

// Solutions of the same modes with the same factors, until the residual is far below the tolerance
// or no longer falls: what rests on these impulses then stays where it is, and they are good for
// the next steps too. True: one of them is good enough.
static bool settle(Active* s, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  tbSolveInfo best = *info;
  tbReal last = INFINITY;
  for (int k = 0; k < SETTLE; k++) {
    tbSolveInfo now = *info;
    bool enough = accept(s, s->good, &now);
    tbReal measure = now.residual.relative;
    if (enough && (best.status != TB_SOLVE_CONVERGED || measure < best.residual.relative)) {
      best = now;
      memcpy(lambda, s->good, bytes);
    }
    if (measure <= SETTLED * s->a->tolerance || !(measure < 0.5 * last)) break;
    last = measure;
    memcpy(s->lambda, s->trial, bytes);
    memcpy(s->sigma, s->check, bytes);
    memcpy(s->anchor, s->lambda, bytes);
    linearise(s);
    if (s->changed) break;
    // Directions of sliding change the matrix.
    if (s->sliding) {
      best.factorizations++;
      if (k >= SETTLE_SLIDING || !factor_modes(s)) break;
    }
    if (!refine_modes(s)) break;
    memcpy(s->lambda, s->next, bytes);
    memcpy(s->sigma, s->speed, bytes);
    memcpy(s->anchor, s->lambda, bytes);
    linearise(s);
  }
  *info = best;
  return info->status == TB_SOLVE_CONVERGED;
}

// Sweeps from the best point so far; what they end with is a candidate too.
static bool sweep_best(Active* s, Local* local, int count, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  memcpy(s->lambda, s->best, bytes);
  sweep(s, local, count);
  memcpy(s->trial, s->lambda, bytes);
  memcpy(s->check, s->sigma, bytes);
  return judge_trial(s, lambda, info);
}

// Every round is a proximal step that is cut short. Where full steps do not help, the proximal term
// grows until they do.
static bool eager(Active* s, int rounds, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  s->softness = SOFTNESS;
  memcpy(s->anchor, s->lambda, bytes);
  // What falls together is closed at first: loads need not travel up a stack contact by contact.
  if (info->iterations == 0) {
    tbReal fastest = 0;
    for (int r = 0; r < s->p->n; r++) fastest = fmax(fastest, fabs(s->p->g[r]));
    s->tie = TIE * fastest;
  }
  linearise(s);
  s->tie = 0;
  for (int k = 0; k < rounds && info->iterations < s->a->max_iter; k++) {
    memcpy(s->old, s->lambda, bytes);
    memcpy(s->slow, s->sigma, bytes);
    info->iterations++;
    info->factorizations++;
    if (!solve_modes(s)) return false;
    memcpy(s->lambda, s->next, bytes);
    memcpy(s->sigma, s->speed, bytes);
    memcpy(s->anchor, s->lambda, bytes);
    linearise(s);
    if (!s->changed && settle(s, lambda, info)) return true;
    tbReal t = step_length(s);
    if (t == 1) {
      s->softness = fmax(SOFTNESS, 1e-2 * s->softness);
      continue;
    }
    if (t < 0.3) s->softness = fmin(MOST_CAUTIOUS, fmax(1e-4, 30 * s->softness));
    for (int r = 0; r < s->p->n; r++) {
      s->lambda[r] = s->old[r] + t * (s->next[r] - s->old[r]);
      s->sigma[r] = s->slow[r] + t * (s->speed[r] - s->slow[r]);
    }
    memcpy(s->anchor, s->lambda, bytes);
    linearise(s);
  }
  return false;
}

// Whole proximal steps, each until its modes hold, stiffer as long as that is easy.
static bool cautious(Active* s, int rounds, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  int end = info->iterations + rounds;
  if (end > s->a->max_iter) end = s->a->max_iter;
  s->softness = CAUTIOUS;
  while (info->iterations < end) {
    memcpy(s->anchor, s->lambda, bytes);
    int k = 0;
    for (; k < INNER && info->iterations < end; k++) {
      linearise(s);
      if (k > 0 && !s->changed) break;
      info->iterations++;
      info->factorizations++;
      if (!solve_modes(s)) return false;
      memcpy(s->lambda, s->next, bytes);
      memcpy(s->sigma, s->speed, bytes);
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

// Large islands, where modes rarely settle by themselves: interior points from the best point so
// far, with more caution each time, and modes from where they end, which brings the last digits.
// Sets *solved. False: out of memory.
static bool interior(Active* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info, bool* solved) {
  static const tbInterior ATTEMPTS[] = {
      {40, 6, 0.5, 1, 0.005}, {40, 8, 0.5, 0.01, 0.05}, {60, 12, 0.5, 1, 0.1}};
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  Local* local = NULL;
  for (int k = 0; k < 3 && info->iterations < s->a->max_iter; k++) {
    // Sweeps turn directions of sliding, at which interior points are slow.
    if (k > 0) {
      if (!local) {
        local = tb_arena_alloc(arena, sizeof(Local) * (size_t)(s->p->nblock + 1));
        if (!local || !whiten(s, arena, local)) return false;
      }
      *solved =
          sweep_best(s, local, k * SWEEPS_LARGE, lambda, info) || eager(s, LATER, lambda, info);
      if (*solved) return true;
    }
    memcpy(s->trial, s->best, bytes);
    true_velocity(s, s->trial, s->check);
    if (!tb_active_interior(s->a, arena, &ATTEMPTS[k], s->trial, s->check, info)) return false;
    memcpy(s->lambda, s->trial, bytes);
    memcpy(s->sigma, s->check, bytes);
    tbSolveInfo found = *info;
    *solved = judge_trial(s, lambda, &found);
    bool better = eager(s, *solved ? POLISH : LATER, lambda, info);
    if (!better && *solved) {
      found.iterations = info->iterations;
      found.factorizations = info->factorizations;
      *info = found;
    }
    *solved = *solved || better;
    if (*solved) return true;
  }
  return true;
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
  memcpy(s.best, lambda, bytes);
  s.best_measure = tb_residual(a->p, a->law, lambda, sigma).relative;
  for (int r = 0; r < a->p->n; r++) s.mode[r] = -1;
  bool large = a->p->n > MEDIUM, solved = false;
  if (eager(&s, a->p->n > LARGE ? FIRST_LARGE : FIRST, lambda, info)) return true;
  if (large && !interior(&s, arena, lambda, info, &solved)) return false;
  if (solved) return true;

  // Where modes do not settle: caution, then sweeps, which turn directions of sliding, then convex
  // problems.
  memcpy(s.lambda, lambda, bytes);
  memcpy(s.sigma, sigma, bytes);
  if (!large && cautious(&s, CAREFUL, lambda, info)) return true;
  if (!large) {
    Local* local = tb_arena_alloc(arena, sizeof(Local) * (size_t)(a->p->nblock + 1));
    if (!local || !whiten(&s, arena, local)) return false;
    for (int count = SWEEPS; count <= MOST_SWEEPS; count *= 2) {
      if (sweep_best(&s, local, count, lambda, info)) return true;
      if (eager(&s, LATER, lambda, info)) return true;
    }
  }
  int convex = large ? CONVEX_AFTER : CONVEX;
  for (int k = 0; k < convex && info->iterations < a->max_iter; k++) {
    memcpy(s.trial, s.best, bytes);
    true_velocity(&s, s.trial, s.check);
    if (!tb_active_convex(a, arena, CONVEX_ROUNDS, a->tolerance, s.trial, s.check, info)) {
      return false;
    }
    true_velocity(&s, s.trial, s.check);
    memcpy(s.lambda, s.trial, bytes);
    memcpy(s.sigma, s.check, bytes);
    if (judge_trial(&s, lambda, info) || eager(&s, LATER, lambda, info)) return true;
  }

  // Not good enough, but the best there is.
  memcpy(lambda, s.best, bytes);
  true_velocity(&s, s.best, s.check);
  info->residual = tb_residual(a->p, a->law, s.best, s.check);
  info->residual_exact = tb_residual(a->p, TB_LAW_NCP, s.best, s.check);
  return true;
}
