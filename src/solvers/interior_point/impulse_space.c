// A primal-dual interior point method on the exact law, on islands. See docs/notebook/ncp-auto.md.
//
// With x_i = lambda_Ti / mu_i and z_i = mu_i y_Ti every friction cone becomes the Lorentz cone L,
// and the law (CM eq. 15) becomes, per contact,
//
//     L ∋ x  ⟂  z ∈ L,      z = sigma + |z_T| e,      sigma = G x + g,      e the normal
//
// since De Saxcé's shift changes the normal row only. The method follows x ∘ z = mu 1 for mu -> 0
// with Nesterov-Todd scaling and Mehrotra's predictor and corrector. The shift is part of the
// Newton system: with t = z_T / |z_T| and E = I - e t^T, d sigma = E dz, which leads to
//
//     (G + E H) dx = E c - r,    dz = c - H dx,    r = sigma + |z_T| e - z              (1)
//
// H the block diagonal matrix of the scaling (H x = z). E makes the method converge on sliding
// contacts.
//
// With E the problem is not monotone and its path may turn back. If a step is short, E is weakened
// to I - theta e t^T, theta < 1 (theta = 0 is the fixed-point iteration on the shift, with a convex
// problem in each step), and complementarity stays above kappa |r|.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/islands/island.h"
#include "solvers/interior_point/lorentz.h"

enum { MAX = TB_MAX_BLOCK_DIM, REFINEMENTS = 3 };

// A step shorter than SHORT_STEP indicates failure; one below NO_STEP is the last.
static const tbReal SHORT_STEP = 0.2, NO_STEP = 1e-10;
// The share of the step to the boundary that is taken: after the affine step, and without it.
static const tbReal INSIDE = 0.99, WELL_INSIDE = 0.9;
// Fixed centring: the share of the present complementarity that a step aims at if Mehrotra's is
// short.
static const tbReal FIXED_TARGET = 0.25;
// A residual above this share of the best one is no progress.
static const tbReal PROGRESS = 0.8;
// Iterations before complementarity is kept above a multiple of the infeasibility.
enum { EARLY = 4 };
// Pivots below this share of their diagonal count as rounding error.
static const tbReal LEAST_PIVOT = 1e-14;
// Diagonal of H for rows without scaling. Equality rows may be redundant, so they get a small
// ridge, whose error the next iteration removes; rows that cannot move get STIFF.
static const tbReal RIDGE = 1e-11, STIFF = 1e30;
// Compliance for the estimate of the impulses, and the largest accepted estimate.
static const tbReal ESTIMATE_COMPLIANCE = 1e-7, MOST_EXPECTED = 1e12;
// A contact adopts its true velocity as z only if each eigenvalue of the product is at least
// CENTRAL_LEAST times the mean, and their sum at most CENTRAL_MOST times the mean.
static const tbReal CENTRAL_LEAST = 0.1, CENTRAL_MOST = 3;

typedef struct {
  tbSolveIsland* island;
  int n, nblock;
  const tbReal* scale;  // D: lambda = D x * unit
  tbReal unit;          // size of D g
  const tbReal* G;      // D G D, in the pattern of the island
  tbReal *g, *x, *z, *sigma, *r, *dx, *dz, *ax, *az, *c, *lambda, *velocity;
  tbReal *low, *high, *zlow, *zhigh;  // boxes: bounds of x, multipliers
  tbReal *dlow, *dhigh;               // their steps
  tbReal *diagonal, *inverse;         // E H and its inverse
  tbLorentz* scaling;
  tbReal theta;  // weight of the shift in E
  int pairs;
} Ipm;

// ---- set-up ------------------------------------------------------------------------------------

static bool is_cone(const tbBlock* b) {
  return b->type == TB_BLOCK_CONE;
}

static bool ipm_alloc(Ipm* m, tbSolveIsland* island) {
  size_t n = (size_t)island->p.n, blocks = (size_t)island->p.nblock;
  tbReal** vectors[] = {&m->g,    &m->x,    &m->z,     &m->sigma, &m->r,      &m->dx,
                        &m->dz,   &m->ax,   &m->az,    &m->c,     &m->lambda, &m->low,
                        &m->high, &m->zlow, &m->zhigh, &m->dlow,  &m->dhigh,  &m->velocity};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
    *vectors[k] = TB_ARENA_NEW(island->arena, tbReal, n);
  }
  size_t corner = 0;
  for (int i = 0; i < island->p.nblock; i++) {
    corner += (size_t)(island->dim[i] * island->dim[i]);
  }
  m->diagonal = TB_ARENA_NEW(island->arena, tbReal, corner);
  m->inverse = TB_ARENA_NEW(island->arena, tbReal, corner);
  m->scaling = TB_ARENA_NEW(island->arena, tbLorentz, blocks);
  m->island = island;
  m->n = island->p.n;
  m->nblock = island->p.nblock;
  return !island->arena->failed;
}

static void scale_velocities(Ipm* m) {
  tbReal largest = 0;
  for (int i = 0; i < m->n; i++) {
    m->g[i] = m->scale[i] * m->island->p.g[i];
    largest = tb_max(largest, fabs(m->g[i]));
  }
  m->unit = largest > 0 ? largest : 1;
  for (int i = 0; i < m->n; i++) m->g[i] /= m->unit;
}

// The expected size of the impulses, from a regularised least-norm problem that stops all
// velocities: a heavy body on a light one needs impulses far larger than a single contact suggests,
// and the interior-point method does not recover from a first point that is too small.
static tbReal expected_impulse(Ipm* m, tbReal threshold) {
  tbReal *C = m->diagonal, *inverse = m->inverse;
  for (int i = 0; i < m->nblock; i++) {
    int d = m->island->dim[i];
    for (int k = 0; k < d * d; k++) {
      C[k] = k % (d + 1) == 0 ? ESTIMATE_COMPLIANCE : 0;
      inverse[k] = k % (d + 1) == 0 ? 1 / ESTIMATE_COMPLIANCE : 0;
    }
    C += d * d;
    inverse += d * d;
  }
  tb_group_lu_factor(&m->island->lu, m->G, m->diagonal, m->inverse, LEAST_PIVOT);
  m->island->factorizations++;
  for (int i = 0; i < m->n; i++) m->dx[i] = -m->g[i];
  tb_group_lu_solve(&m->island->lu, REFINEMENTS, m->dx);
  tbReal size = 0;
  for (int i = 0; i < m->n; i++) size = tb_max(size, fabs(m->dx[i]));
  return size > threshold && size < MOST_EXPECTED ? size : 1;
}

// The first point: the centre of the cones. Boxes start inside their bounds.
static void first_point(Ipm* m, const tbIpmSettings* set) {
  tbReal expected = set->threshold > 0 ? expected_impulse(m, set->threshold) : 1;
  m->pairs = 0;
  for (int i = 0; i < m->nblock; i++) {
    const tbBlock* b = &m->island->p.block[i];
    for (int r = 0; r < b->dim; r++) {
      int k = b->row + r;
      tbReal step = m->scale[k] * m->unit;
      m->low[k] = -INFINITY;
      m->high[k] = INFINITY;
      if (b->type == TB_BLOCK_BOX) {
        m->low[k] = b->lower / step;
        m->high[k] = b->upper / step;
        if (m->low[k] == m->high[k]) {
          m->x[k] = m->low[k];
          continue;
        }
        tbReal room = m->high[k] - m->low[k];
        tbReal inset = isfinite(room) ? tb_min(1, 0.5 * room) : 1;
        m->x[k] = isfinite(m->low[k])    ? m->low[k] + inset
                  : isfinite(m->high[k]) ? m->high[k] - inset
                                         : 0;
        m->zlow[k] = isfinite(m->low[k]) ? 1 : 0;
        m->zhigh[k] = isfinite(m->high[k]) ? 1 : 0;
        m->pairs += isfinite(m->low[k]) + isfinite(m->high[k]);
      } else if (b->type == TB_BLOCK_ONE_SIDED || (is_cone(b) && r == 0)) {
        m->x[k] = set->impulse * expected;
        m->z[k] = set->velocity;
        m->pairs++;
      }
    }
  }
}

// Set the point near a given impulse, inside the cones by a margin that keeps complementarity
// uniform.
static void warm_point(Ipm* m, const tbReal* lambda, tbReal margin) {
  tb_island_velocity(m->island, lambda, m->sigma);
  for (int i = 0; i < m->nblock; i++) {
    const tbBlock* b = &m->island->p.block[i];
    tbReal *x = m->x + b->row, *z = m->z + b->row;
    if (b->type == TB_BLOCK_EQUALITY) {
      for (int r = 0; r < b->dim; r++) x[r] = lambda[b->row + r] / (m->scale[b->row + r] * m->unit);
    }
    if (!is_cone(b)) continue;
    for (int r = 0; r < b->dim; r++) {
      x[r] = lambda[b->row + r] / (m->scale[b->row + r] * m->unit);
      z[r] = m->scale[b->row + r] * m->sigma[b->row + r] / m->unit;
    }
    z[0] += tb_lorentz_tail(b->dim, z);
    x[0] = tb_max(x[0], tb_lorentz_tail(b->dim, x)) + margin;
    z[0] = tb_max(z[0], tb_lorentz_tail(b->dim, z)) + margin;
  }
}

// ---- one iteration -----------------------------------------------------------------------------

// Axes without friction have a tiny coefficient inside the method, and zero impulse outside.
static void drop_frictionless(Ipm* m) {
  for (int i = 0; i < m->nblock; i++) {
    const tbBlock* b = &m->island->p.block[i];
    for (int r = 1; is_cone(b) && r < b->dim; r++) {
      if (b->mu[r - 1] == 0) m->lambda[b->row + r] = 0;
    }
  }
}

// Compute sigma and the residual r of (1) at the current point; returns the mean complementarity
// mu.
static tbReal evaluate(Ipm* m) {
  const tbSolveIsland* island = m->island;
  tbReal sum = 0;
  for (int i = 0; i < m->n; i++) m->lambda[i] = m->scale[i] * m->unit * m->x[i];
  drop_frictionless(m);
  tb_island_velocity(island, m->lambda, m->velocity);
  for (int i = 0; i < m->n; i++) m->sigma[i] = m->scale[i] * m->velocity[i] / m->unit;
  for (int i = 0; i < m->nblock; i++) {
    const tbBlock* b = &island->p.block[i];
    for (int r = 0; r < b->dim; r++) {
      int k = b->row + r;
      if (b->type == TB_BLOCK_BOX) {
        m->r[k] = m->sigma[k] - m->zlow[k] + m->zhigh[k];
        if (isfinite(m->low[k])) sum += m->zlow[k] * (m->x[k] - m->low[k]);
        if (isfinite(m->high[k])) sum += m->zhigh[k] * (m->high[k] - m->x[k]);
      } else {
        m->r[k] = m->sigma[k] - m->z[k];
        sum += m->x[k] * m->z[k];
      }
    }
    if (is_cone(b)) m->r[b->row] += tb_lorentz_tail(b->dim, m->z + b->row);
  }
  return m->pairs > 0 ? sum / m->pairs : 0;
}

// If the true velocity lies inside the dual cone and its complementarity is near the mean, use it
// as z: this removes the infeasibility of contacts that carry almost nothing.
static void adopt_velocities(Ipm* m, tbReal mu) {
  for (int i = 0; i < m->nblock; i++) {
    const tbBlock* b = &m->island->p.block[i];
    if (!is_cone(b)) continue;
    int d = b->dim;
    tbReal *x = m->x + b->row, *z = m->z + b->row, y[MAX], dot = 0;
    memcpy(y, m->sigma + b->row, (size_t)d * sizeof *y);
    tbReal inside = y[0], length = tb_lorentz_tail(d, y), tail = tb_lorentz_tail(d, x);
    y[0] += length;
    for (int r = 0; r < d; r++) dot += x[r] * y[r];
    // Both eigenvalues of the product, bounded from below; their sum, from above.
    tbReal least = CENTRAL_LEAST * mu;
    bool central = inside * (x[0] + tail) > least && (y[0] + length) * (x[0] - tail) > least;
    if (!central || !(dot < CENTRAL_MOST * mu)) continue;
    memcpy(z, y, (size_t)d * sizeof *y);
    memset(m->r + b->row, 0, (size_t)d * sizeof *y);
  }
}

// H and its inverse, times E from the left and its inverse from the right, for a cone.
static void cone_diagonal(Ipm* m, int i, tbReal* C, tbReal* inverse) {
  const tbBlock* b = &m->island->p.block[i];
  int d = b->dim;
  const tbReal *x = m->x + b->row, *z = m->z + b->row;
  tbLorentz* s = &m->scaling[i];
  tb_lorentz_scaling(d, x, z, s);
  tbReal square = s->eta * s->eta, length = tb_lorentz_tail(d, z);
  for (int r = 0; r < d; r++) {
    for (int c = 0; c < d; c++) {
      tbReal J = r != c ? 0 : r == 0 ? 1 : -1, flip = (r == 0) == (c == 0) ? 1 : -1;
      C[r * d + c] = square * (2 * s->w[r] * s->w[c] - J);
      inverse[r * d + c] = (2 * flip * s->w[r] * s->w[c] - J) / square;
    }
  }
  if (!(length > 0)) return;
  // E = I - theta e t^T subtracts from the first row; E^-1 = I + theta e t^T adds the first column.
  for (int r = 1; r < d; r++) {
    tbReal f = m->theta * z[r] / length;
    for (int c = 0; c < d; c++) C[c] -= f * C[r * d + c];
    for (int c = 0; c < d; c++) inverse[c * d + r] += f * inverse[c * d];
  }
}

// The blocks E H of the matrix, and their scaling.
static void fill_diagonal(Ipm* m) {
  tbReal *C = m->diagonal, *inverse = m->inverse;
  for (int i = 0; i < m->nblock; i++) {
    const tbBlock* b = &m->island->p.block[i];
    int d = b->dim;
    const tbReal *x = m->x + b->row, *z = m->z + b->row;
    if (is_cone(b)) {
      cone_diagonal(m, i, C, inverse);
    } else {
      memset(C, 0, (size_t)(d * d) * sizeof *C);
      memset(inverse, 0, (size_t)(d * d) * sizeof *C);
      for (int r = 0; r < d; r++) {
        int k = b->row + r;
        tbReal* entry = &C[r * d + r];
        if (b->type == TB_BLOCK_ONE_SIDED) *entry = z[r] / x[r];
        if (b->type == TB_BLOCK_EQUALITY) *entry = RIDGE;
        if (b->type == TB_BLOCK_BOX) {
          if (m->low[k] == m->high[k]) *entry = STIFF;
          if (m->zlow[k] > 0) *entry += m->zlow[k] / (m->x[k] - m->low[k]);
          if (m->zhigh[k] > 0) *entry += m->zhigh[k] / (m->high[k] - m->x[k]);
          if (*entry == 0) *entry = RIDGE;
        }
        inverse[r * d + r] = 1 / *entry;
      }
    }
    C += d * d;
    inverse += d * d;
  }
}

// c of (1) for complementarity `target`, with the second-order term of the affine step (ax, az) if
// `correct`. For boxes c holds the change of zlow - zhigh at dx = 0.
static void fill_target(Ipm* m, tbReal target, bool correct) {
  for (int i = 0; i < m->nblock; i++) {
    const tbBlock* b = &m->island->p.block[i];
    int d = b->dim, row = b->row;
    if (is_cone(b)) {
      const tbReal* dx = correct ? m->ax + row : NULL;
      tb_lorentz_target(d, &m->scaling[i], target, dx, m->az + row, m->c + row);
      continue;
    }
    for (int k = row; k < row + d; k++) {
      m->c[k] = 0;
      if (b->type == TB_BLOCK_ONE_SIDED) {
        tbReal second = correct ? m->ax[k] * m->az[k] : 0;
        m->c[k] = (target - second) / m->x[k] - m->z[k];
      } else if (b->type == TB_BLOCK_BOX && m->low[k] < m->high[k]) {
        if (isfinite(m->low[k])) m->c[k] += target / (m->x[k] - m->low[k]) - m->zlow[k];
        if (isfinite(m->high[k])) m->c[k] -= target / (m->high[k] - m->x[k]) - m->zhigh[k];
      }
    }
  }
}

// Solve (1) for dx and dz.
static void find_step(Ipm* m, tbReal target, tbReal* dx, tbReal* dz) {
  for (int i = 0; i < m->nblock; i++) {
    const tbBlock* b = &m->island->p.block[i];
    int row = b->row;
    for (int k = row; k < row + b->dim; k++) dx[k] = m->c[k] - m->r[k];
    if (is_cone(b)) {
      tbReal length = tb_lorentz_tail(b->dim, m->z + row);
      for (int r = 1; r < b->dim && length > 0; r++) {
        dx[row] -= m->theta * m->z[row + r] / length * m->c[row + r];
      }
    }
    for (int k = row; k < row + b->dim; k++) {
      if (b->type == TB_BLOCK_BOX && m->low[k] == m->high[k]) dx[k] = 0;
    }
  }
  tb_group_lu_solve(&m->island->lu, REFINEMENTS, dx);
  for (int i = 0; i < m->nblock; i++) {
    const tbBlock* b = &m->island->p.block[i];
    int row = b->row;
    if (is_cone(b)) {
      tb_lorentz_hessian(b->dim, &m->scaling[i], dx + row, dz + row);
      for (int k = row; k < row + b->dim; k++) dz[k] = m->c[k] - dz[k];
    }
    for (int k = row; !is_cone(b) && k < row + b->dim; k++) {
      dz[k] = 0;
      if (b->type == TB_BLOCK_ONE_SIDED) dz[k] = m->c[k] - m->z[k] / m->x[k] * dx[k];
      if (b->type == TB_BLOCK_BOX) {
        tbReal down = m->x[k] - m->low[k], up = m->high[k] - m->x[k];
        m->dlow[k] = tb_bound_slope(target, down, dx[k], m->zlow[k]);
        m->dhigh[k] = tb_bound_slope(target, up, -dx[k], m->zhigh[k]);
      }
    }
  }
}

// The largest step that keeps x and z inside.
static tbReal step_length(const Ipm* m, const tbReal* dx, const tbReal* dz) {
  tbReal a = INFINITY;
  for (int i = 0; i < m->nblock; i++) {
    const tbBlock* b = &m->island->p.block[i];
    int row = b->row;
    if (is_cone(b)) {
      a = tb_min(a, tb_lorentz_step(b->dim, m->x + row, dx + row));
      a = tb_min(a, tb_lorentz_step(b->dim, m->z + row, dz + row));
      continue;
    }
    for (int k = row; k < row + b->dim; k++) {
      if (b->type == TB_BLOCK_ONE_SIDED) {
        a = tb_min(a, tb_pair_step(m->x[k], dx[k], m->z[k], dz[k]));
      } else if (b->type == TB_BLOCK_BOX && m->low[k] < m->high[k]) {
        if (m->zlow[k] > 0) {
          a = tb_min(a, tb_pair_step(m->x[k] - m->low[k], dx[k], m->zlow[k], m->dlow[k]));
        }
        if (m->zhigh[k] > 0) {
          a = tb_min(a, tb_pair_step(m->high[k] - m->x[k], -dx[k], m->zhigh[k], m->dhigh[k]));
        }
      }
    }
  }
  return a;
}

// Mehrotra's choice of the centring, from the complementarity after the affine step alone.
static tbReal centering(const Ipm* m, tbReal mu, tbReal step) {
  tbReal sum = 0;
  for (int i = 0; i < m->nblock; i++) {
    const tbBlock* b = &m->island->p.block[i];
    for (int k = b->row; k < b->row + b->dim; k++) {
      if (b->type == TB_BLOCK_BOX) {
        tbReal x = m->x[k] + step * m->ax[k];
        if (m->zlow[k] > 0) sum += (m->zlow[k] + step * m->dlow[k]) * (x - m->low[k]);
        if (m->zhigh[k] > 0) sum += (m->zhigh[k] + step * m->dhigh[k]) * (m->high[k] - x);
      } else {
        sum += (m->x[k] + step * m->ax[k]) * (m->z[k] + step * m->az[k]);
      }
    }
  }
  return tb_centering(m->pairs > 0 ? sum / m->pairs : 0, mu);
}

static void take_step(Ipm* m, tbReal a) {
  for (int k = 0; k < m->n; k++) {
    m->x[k] += a * m->dx[k];
    m->z[k] += a * m->dz[k];
    m->zlow[k] += a * m->dlow[k];
    m->zhigh[k] += a * m->dhigh[k];
  }
}

// The step for the current theta: Mehrotra's, or if that is short and `cautious`, one with fixed
// centring. Returns its length.
static tbReal attempt_step(Ipm* m, tbReal mu, tbReal floor, bool cautious) {
  fill_diagonal(m);
  tb_group_lu_factor(&m->island->lu, m->G, m->diagonal, m->inverse, LEAST_PIVOT);
  m->island->factorizations++;
  fill_target(m, 0, false);
  find_step(m, 0, m->ax, m->az);
  tbReal affine = tb_min(1, step_length(m, m->ax, m->az));
  tbReal target = tb_max(centering(m, mu, affine) * mu, floor);
  fill_target(m, target, true);
  find_step(m, target, m->dx, m->dz);
  tbReal a = tb_min(1, INSIDE * step_length(m, m->dx, m->dz));
  if (a >= SHORT_STEP || !cautious) return a;
  target = tb_max(FIXED_TARGET * mu, floor);
  fill_target(m, target, false);
  find_step(m, target, m->dx, m->dz);
  return tb_min(1, WELL_INSIDE * step_length(m, m->dx, m->dz));
}

// Weaken the shift until a step of useful length is found; finally, only centre.
static tbReal choose_step(Ipm* m, const tbIpmSettings* set, tbReal mu, bool early) {
  enum { WEIGHTS = 4 };
  static const tbReal weights[WEIGHTS] = {1, 0.9, 0.5, 0};
  tbReal infeasible = 0, a = 0;
  for (int i = 0; i < m->n; i++) infeasible = tb_max(infeasible, fabs(m->r[i]));
  tbReal floor = early ? 0 : tb_min(mu, set->kappa * infeasible);
  for (int k = 0; k < WEIGHTS; k++) {
    m->theta = weights[k];
    a = attempt_step(m, mu, floor, set->ladder);
    if (!(a < SHORT_STEP) || !set->ladder) return a;
  }
  fill_target(m, mu, false);
  find_step(m, mu, m->dx, m->dz);
  return tb_min(1, WELL_INSIDE * step_length(m, m->dx, m->dz));
}

bool tb_island_ipm(tbSolveIsland* island, const tbIpmSettings* set, const tbReal* lambda) {
  Ipm m;
  memset(&m, 0, sizeof m);
  if (!ipm_alloc(&m, island) || !tb_island_analyze(island)) return false;
  m.scale = island->scale;
  m.G = island->scaled;
  scale_velocities(&m);
  first_point(&m, set);
  if (lambda) warm_point(&m, lambda, set->margin);
  tbReal best = INFINITY;
  int idle = 0;
  for (int k = 0; k < set->max_iter; k++) {
    tbReal mu = evaluate(&m);
    if (!isfinite(mu)) break;
    if (island->check(island, m.lambda, m.velocity, ++island->iterations, mu)) break;
    // No improvement for a while: leave the island to another method.
    idle = island->last_residual < PROGRESS * best ? 0 : idle + 1;
    best = tb_min(best, island->last_residual);
    if (idle > set->patience) break;
    if (set->adopt) adopt_velocities(&m, mu);
    tbReal a = choose_step(&m, set, mu, k < EARLY);
    if (!(a > NO_STEP) || !isfinite(a)) break;
    take_step(&m, a);
  }
  return true;
}
