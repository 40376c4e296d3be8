// Proximal ADMM for rigid and compliant contact (ADMM paper, section III; CM Alg. 3).
//
//   s_k = Gamma(z_{k-1})                                                       (Alg. 1, line 2)
//   f_k = -(G + R + (eta + rho) I)^-1 (g + s_k - eta f_{k-1} - rho y_{k-1} - z_{k-1})    (eq. 37)
//   y_k = P_K(f_k - z_{k-1} / rho)                                                       (eq. 39)
//   z_k = z_{k-1} - rho (f_k - y_k)                                                      (eq. 36c)
//
// The iteration runs in rows scaled block by block to a unit diagonal (admm_scaling = 0 switches
// this off): a scalar per cone maps the cone to itself and removes mass ratios from the spectrum.
// Tangential rows of a cone with a coefficient above 1 are also scaled by its square root: the
// shift mu |z_T| feeds back with gain mu, and with a full scaling by mu the normal rows would be
// mu^2 softer than the tangential ones.
#include "solvers/admm/admm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "operator/impulse_factor.h"
#include "solvers/admm/anderson.h"
#include "solvers/islands/island.h"

enum { MAX = TB_MAX_BLOCK_DIM, MANY_ROWS = 200 };

typedef struct {
  tbSolve* s;
  const tbProblem* p;
  tbFactor factor;
  bool shift;
  tbBlock* block;  // the problem's blocks, in scaled rows
  tbReal *scale, *g, *f, *y, *z, *old_f, *old_y, *rhs, *diagonal;
  tbAnderson anderson;
  tbReal *point, *image;  // (sqrt(rho) y, z / sqrt(rho)) before and after an iteration
  tbReal rho, eta, exponent;
  tbReal largest, smallest;  // L and m of ADMM eq. 45
} Admm;

static void choose_scale(Admm* a) {
  for (int i = 0; i < a->p->nblock; i++) {
    const tbBlock* b = &a->p->block[i];
    tbReal A[MAX * MAX], mean = 0;
    tb_delassus_diagonal_block(a->p, i, A);
    for (int r = 0; r < b->dim; r++) mean += A[r * (b->dim + 1)] / b->dim;
    a->block[i] = *b;
    tbReal steep = 1;
    for (int r = 0; r < b->dim - 1 && b->type == TB_BLOCK_CONE; r++)
      steep = tb_max(steep, b->mu[r]);
    steep = sqrt(steep);
    for (int r = 0; r < b->dim; r++) {
      tbReal d = b->type == TB_BLOCK_CONE ? mean : A[r * (b->dim + 1)];
      a->scale[b->row + r] = a->s->settings->admm_scaling && d > 0 ? 1 / sqrt(d) : 1;
      if (r == 0 || b->type != TB_BLOCK_CONE || !a->s->settings->admm_scaling) continue;
      a->scale[b->row + r] *= steep;
      a->block[i].mu[r - 1] = b->mu[r - 1] / steep;
    }
  }
}

// Projection in scaled rows: a box's bounds scale, a cone does not.
static void project(const Admm* a, const tbReal* x, tbReal* out) {
  for (int i = 0; i < a->p->nblock; i++) {
    tbBlock b = a->block[i];
    if (b.type == TB_BLOCK_BOX) {
      for (int r = b.row; r < b.row + b.dim; r++) {
        out[r] = tb_max(b.lower / a->scale[r], tb_min(b.upper / a->scale[r], x[r]));
      }
    } else {
      tb_block_project(&b, TB_LAW_NCP, x + b.row, out + b.row);
    }
  }
}

static bool refactor(Admm* a) {
  for (int i = 0; i < a->p->n; i++) a->diagonal[i] = a->eta + a->rho;
  a->s->info->factorizations++;
  return tb_factor_shift(&a->factor, a->diagonal);
}

static tbReal condition(const Admm* a) {
  return a->largest / a->smallest;
}

// rho = sqrt(m L) kappa^p (eq. 45).
static tbReal spectral_rho(const Admm* a) {
  return sqrt(a->largest * a->smallest) * tb_pow(condition(a), a->exponent);
}

// Spectrum and first penalty. The smallest eigenvalue costs only solves with the existing
// factorisation.
static bool choose_penalty(Admm* a, tbReal* vectors, tbReal* work) {
  const tbSolveSettings* set = a->s->settings;
  tbSolveCache* cache = a->s->cache;
  bool warm = set->warm_start && cache->n == a->p->n && cache->rho > 0;
  a->largest = tb_eigen_largest(a->p, a->scale, 20, vectors, work);
  if (!(a->largest > 0)) a->largest = 1;
  a->eta = set->admm_proximal * a->largest;
  a->smallest = a->eta;
  a->exponent = 0.2;
  a->rho = set->admm_rho > 0 ? set->admm_rho : warm ? cache->rho : spectral_rho(a);
  if (!refactor(a)) return false;
  tbReal lowest = tb_eigen_smallest(&a->factor, a->eta + a->rho, 10, vectors + a->p->n, work);
  a->smallest = a->eta + lowest;
  tbReal kappa = tb_max(condition(a), 1 + 1e-9);
  // The exponent that corresponds to the present penalty.
  a->exponent = tb_log(a->rho / sqrt(a->largest * a->smallest)) / tb_log(kappa);
  if (!(set->admm_rho > 0) && !warm && set->admm_rule == TB_PENALTY_SPECTRAL) {
    a->exponent = tb_max(-0.5, tb_min(0.5, a->exponent));
    a->rho = spectral_rho(a);
    return refactor(a);
  }
  return true;
}

// The penalty follows the ratio of the residuals: eq. 44 (linear) or eq. 46 (spectral).
static bool update_penalty(Admm* a, tbReal primal, tbReal dual) {
  const tbSolveSettings* set = a->s->settings;
  int direction = primal >= set->admm_ratio * dual ? 1 : dual >= set->admm_ratio * primal ? -1 : 0;
  if (direction == 0 || set->admm_rule == TB_PENALTY_CONSTANT) return true;
  tbReal rho = a->rho;
  if (set->admm_rule == TB_PENALTY_LINEAR) {
    rho = direction > 0 ? rho * set->admm_tau : rho / set->admm_tau;
  } else {
    a->exponent += direction * set->admm_exponent_step;
    rho = spectral_rho(a);
  }
  rho = tb_max(1e-12 * a->largest, tb_min(1e12 * a->largest, rho));
  if (rho == a->rho) return true;
  a->rho = rho;
  return refactor(a);
}

// s = Gamma(z) added to `out`. Scaled rows of a cone keep the proportions of z.
static void add_shift(const Admm* a, tbReal* out) {
  for (int i = 0; i < a->p->nblock; i++) {
    const tbBlock* b = &a->block[i];
    if (b->type == TB_BLOCK_CONE) {
      out[b->row] += tb_cone_shift(b->dim, b->mu, a->z + b->row);
    }
  }
}

// One iteration; the residuals of eq. 40 and 41.
static void iterate(Admm* a, tbReal* primal, tbReal* dual) {
  int n = a->p->n;
  tbReal relaxation = a->s->settings->admm_relaxation;
  for (int i = 0; i < n; i++) {
    a->rhs[i] = a->eta * a->f[i] + a->rho * a->y[i] + a->z[i] - a->g[i];
    a->old_f[i] = a->f[i];
    a->old_y[i] = a->y[i];
  }
  if (a->shift) {
    for (int i = 0; i < n; i++) a->f[i] = 0;
    add_shift(a, a->f);
    for (int i = 0; i < n; i++) a->rhs[i] -= a->f[i];
  }
  tb_factor_solve(&a->factor, a->rhs, a->f);

  // Over-relaxation mixes f with the last y (Boyd et al. 2011, 3.4.3).
  for (int i = 0; i < n; i++) {
    a->rhs[i] = relaxation * a->f[i] + (1 - relaxation) * a->old_y[i];
    a->diagonal[i] = a->rhs[i] - a->z[i] / a->rho;
  }
  project(a, a->diagonal, a->y);
  *primal = *dual = 0;
  for (int i = 0; i < n; i++) {
    a->z[i] -= a->rho * (a->rhs[i] - a->y[i]);
    *primal = tb_max(*primal, fabs(a->f[i] - a->y[i]));
    *dual =
        tb_max(*dual, fabs(a->eta * (a->f[i] - a->old_f[i]) + a->rho * (a->y[i] - a->old_y[i])));
  }
}

// Extrapolate (y, z) from this and the last iterations; y goes back to its cones.
static void accelerate(Admm* a) {
  int n = a->p->n;
  tbReal root = sqrt(a->rho);
  if (a->anderson.memory <= 0) return;
  for (int i = 0; i < n; i++) {
    a->image[i] = root * a->y[i];
    a->image[n + i] = a->z[i] / root;
  }
  tb_anderson_step(&a->anderson, a->point, a->image);
  for (int i = 0; i < n; i++) {
    a->y[i] = a->point[i] / root;
    a->z[i] = a->point[n + i] * root;
  }
  if (!a->anderson.extrapolated) return;
  project(a, a->y, a->y);
  for (int i = 0; i < n; i++) a->point[i] = root * a->y[i];
}

// The fixed-point map changes with rho: restart the acceleration from the present iterate.
static void restart(Admm* a) {
  int n = a->p->n;
  tbReal root = sqrt(a->rho);
  if (a->anderson.memory <= 0) return;
  tb_anderson_reset(&a->anderson);
  for (int i = 0; i < n; i++) {
    a->point[i] = root * a->y[i];
    a->point[n + i] = a->z[i] / root;
  }
}

static tbResult run(Admm* a) {
  tbSolve* s = a->s;
  int n = a->p->n, last_update = 0, next_check = 1, last_gain = 0;
  tbReal impulse = 0, velocity = 0, mark = INFINITY, interval = s->settings->admm_interval;
  for (int i = 0; i < n; i++) velocity = tb_max(velocity, fabs(a->g[i]));
  restart(a);
  for (int k = 1; k <= s->settings->max_iter; k++) {
    tbReal primal, dual;
    iterate(a, &primal, &dual);
    s->info->iterations = k;
    if (!isfinite(primal) || !isfinite(dual)) {
      s->info->status = TB_SOLVE_FAILED;
      return TB_OK;
    }

    // The residual function costs a product with G: evaluate it only if ADMM's own test nearly
    // passes.
    impulse = 0;
    for (int i = 0; i < n; i++) impulse = tb_max(impulse, fabs(a->y[i]));
    bool near = primal <= s->tolerance * impulse && dual <= s->tolerance * velocity;
    if (near || k >= next_check || s->settings->history) {
      for (int i = 0; i < n; i++) s->lambda[i] = a->scale[i] * a->y[i];
      if (tb_solve_check(s, s->lambda, k, a->rho)) return TB_OK;
      next_check = k + 10;
      // Extrapolation may cycle for a nonconvex law: after 200 iterations without gain it is
      // switched off.
      tbReal measure = tb_solve_measure(s, &s->last);
      if (measure < 0.7 * mark) {
        mark = measure;
        last_gain = k;
      } else if (k - last_gain > 200) {
        a->anderson.memory = 0;
      }
    }
    accelerate(a);
    // Penalty changes become rarer and rarer, so that an oscillating penalty comes to rest.
    if (k - last_update >= interval) {
      tbReal rho = a->rho;
      bool relative = s->settings->admm_relative;
      if (!update_penalty(a, relative && impulse > 0 ? primal / impulse : primal,
                          relative && velocity > 0 ? dual / velocity : dual)) {
        s->info->status = TB_SOLVE_FAILED;
        return TB_OK;
      }
      if (rho != a->rho) {
        last_update = k;
        interval *= s->settings->admm_backoff;
        restart(a);
      }
    }
  }
  s->info->status = TB_SOLVE_MAX_ITERATIONS;
  return TB_OK;
}

// Initial point: y from the guess; for a warm start also z = sigma + Gamma(sigma).
static void start(Admm* a) {
  const tbProblem* p = a->p;
  for (int i = 0; i < p->n; i++) {
    a->g[i] = a->scale[i] * p->g[i];
    a->f[i] = a->y[i] = a->s->lambda[i] / a->scale[i];
  }
  if (!a->s->settings->warm_start) return;
  tb_delassus_velocity(p, a->s->lambda, a->s->velocity, a->s->sigma);
  for (int i = 0; i < p->n; i++) a->z[i] = a->scale[i] * a->s->sigma[i];
  if (a->shift) {
    memset(a->rhs, 0, (size_t)p->n * sizeof *a->rhs);
    add_shift(a, a->rhs);
    for (int i = 0; i < p->n; i++) a->z[i] += a->rhs[i];
  }
}

// Memory for both eigenvectors that outlives the solve. They serve as first guess only for warm
// solves: a cold solve must not depend on earlier problems.
static tbReal* eigenvectors(tbSolve* s) {
  tbSolveCache* cache = s->cache;
  int size = 2 * s->p->n;
  if (cache->capacity < size) {
    tbReal* grown = realloc(cache->eigenvector, (size_t)size * sizeof *grown);
    if (!grown) return NULL;
    cache->eigenvector = grown;
    cache->capacity = size;
    cache->allocations++;
    cache->n = 0;
  }
  if (cache->n != s->p->n || !s->settings->warm_start) {
    memset(cache->eigenvector, 0, (size_t)size * sizeof *cache->eigenvector);
  }
  return cache->eigenvector;
}

tbResult tb_admm(tbSolve* s, bool shift) {
  size_t n = (size_t)s->p->n;
  Admm a = {.s = s, .p = s->p, .shift = shift};
  // With many bodies: assemble the matrix in sparse blocks.
  tbSolveIsland island;
  if (s->p->G.form == TB_DELASSUS_PRODUCT && s->p->n >= MANY_ROWS) {
    if (!tb_island_extract(&island, s, NULL, 0)) return tb_solve_no_memory(s);
    a.p = &island.p;
  }
  tbReal** vectors[] = {&a.scale, &a.g, &a.f, &a.y, &a.z, &a.old_f, &a.old_y, &a.rhs, &a.diagonal};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
    *vectors[k] = tb_solve_reals(s, n);
  size_t ncol = s->p->G.form == TB_DELASSUS_PRODUCT ? (size_t)s->p->G.ncol : 0;
  tbReal *eigen = eigenvectors(s), *work = tb_solve_reals(s, n + ncol);
  a.block = TB_ARENA_NEW(s->arena, tbBlock, s->p->nblock);
  a.point = tb_solve_reals(s, 2 * n);
  a.image = tb_solve_reals(s, 2 * n);
  tb_anderson_init(&a.anderson, s, 2 * s->p->n, s->settings->admm_memory);
  if (s->arena->failed || (!eigen && n)) return tb_solve_no_memory(s);
  choose_scale(&a);
  start(&a);
  if (!tb_factor_init(&a.factor, a.p, a.scale, s->arena)) return tb_solve_no_memory(s);
  tbResult result = TB_OK;
  if (choose_penalty(&a, eigen, work)) {
    result = run(&a);
    s->cache->n = s->p->n;
    s->cache->rho = a.rho;
  } else {
    s->info->status = TB_SOLVE_FAILED;
  }
  return result;
}
