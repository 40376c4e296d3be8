// raisim/pgs: sweeps whose local solution is the per-contact bisection of CM Alg. 5, after Hwangbo
// et al. 2018. raisim/pgs-exact: the same sweeps, with the same step weights, whose local solution
// is the exact law's (sliding obeys maximum dissipation), so that they solve the exact law.
//
// Sliding: on the plane sigma_N = 0 the impulses of the cone form a conic section. With
// x_i = lambda_Ti / mu_i, lambda_N = n0 - a . x and x = r(theta) (cos, sin), r = n0 / (1 + a . u),
// the block's energy e(theta) = x^T S x / 2 + c . x is minimised by bisection on its derivative.
// Cones of other sizes have the same law, the least energy on the intersection of the cone with
// sigma_N = 0; for these the bisection is on the multiplier (local.c).
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "solvers/local/local.h"
#include "solvers/gauss_seidel/sweep.h"

typedef struct {
  tbReal alpha, alpha_min, gamma;  // CM Alg. 5, lines 12-13
  bool exact;  // local solutions of the exact law
} Raisim;

typedef struct {
  tbReal n0, a[2], S[3], c[2];  // S: xx, xy, yy
} Ellipse;

static tbReal radius(const Ellipse* e, tbReal u, tbReal v) {
  return e->n0 / (1 + e->a[0] * u + e->a[1] * v);
}

// de/dtheta at x = r u: gradient (S x + c) times dx/dtheta.
static tbReal slope(const Ellipse* e, tbReal theta) {
  tbReal u = tb_cos(theta), v = tb_sin(theta), r = radius(e, u, v);
  tbReal dr = -r * r / e->n0 * (-e->a[0] * v + e->a[1] * u);
  tbReal x = r * u, y = r * v;
  tbReal gx = e->S[0] * x + e->S[1] * y + e->c[0], gy = e->S[1] * x + e->S[2] * y + e->c[1];
  return gx * (dr * u - r * v) + gy * (dr * v + r * u);
}

// The conic is bounded in direction theta where 1 + a . u > 0.
static bool reachable(const Ellipse* e, tbReal theta) {
  return 1 + e->a[0] * tb_cos(theta) + e->a[1] * tb_sin(theta) > 1e-9;
}

static tbReal energy(const Ellipse* e, tbReal theta) {
  if (!reachable(e, theta)) return INFINITY;
  tbReal u = tb_cos(theta), v = tb_sin(theta), r = radius(e, u, v), x = r * u, y = r * v;
  return 0.5 * (e->S[0] * x * x + 2 * e->S[1] * x * y + e->S[2] * y * y) + e->c[0] * x +
         e->c[1] * y;
}

static tbReal bisect(const Ellipse* e) {
  enum { DIRECTIONS = 16 };
  const tbReal turn = 6.283185307179586;
  // The best of some directions; its neighbours bracket the minimum.
  int best = 0;
  for (int k = 1; k < DIRECTIONS; k++) {
    if (energy(e, turn * k / DIRECTIONS) < energy(e, turn * best / DIRECTIONS)) best = k;
  }
  tbReal low = turn * (best - 1) / DIRECTIONS, high = turn * (best + 1) / DIRECTIONS;
  for (int k = 0; k < 100; k++) {
    tbReal middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    // Outside the reachable directions, move towards the best direction.
    bool rising = reachable(e, middle) ? slope(e, middle) > 0 : middle > turn * best / DIRECTIONS;
    if (rising) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return 0.5 * (low + high);
}

// Lines 4-10 for one contact of three rows: lambda* into `out`.
static void contact(const tbBlock* block, const tbReal* A, const tbReal* b, tbReal* out) {
  tbReal mu[2] = {block->mu[0], block->mu[1]};
  memset(out, 0, 3 * sizeof *out);
  if (b[0] > 0 || !(A[0] > 0)) return;
  Ellipse e = {.n0 = -b[0] / A[0]};
  for (int i = 0; i < 2; i++) {
    e.a[i] = mu[i] * A[i + 1] / A[0];
    e.c[i] = mu[i] * (b[i + 1] - A[3 * (i + 1)] * b[0] / A[0]);
  }
  e.S[0] = mu[0] * mu[0] * (A[4] - A[3] * A[1] / A[0]);
  e.S[1] = mu[0] * mu[1] * (A[5] - A[3] * A[2] / A[0]);
  e.S[2] = mu[1] * mu[1] * (A[8] - A[6] * A[2] / A[0]);

  // Stiction: the impulse that stops the contact, if it lies inside the cone.
  tbReal det = e.S[0] * e.S[2] - e.S[1] * e.S[1], x = 0, y = 0;
  if (det > 1e-14 * e.S[0] * e.S[2]) {
    x = -(e.S[2] * e.c[0] - e.S[1] * e.c[1]) / det;
    y = -(e.S[0] * e.c[1] - e.S[1] * e.c[0]) / det;
    tbReal normal = e.n0 - e.a[0] * x - e.a[1] * y;
    if (tb_hypot(x, y) <= normal) {
      out[0] = normal;
      out[1] = mu[0] * x;
      out[2] = mu[1] * y;
      return;
    }
  } else if (e.c[0] == 0 && e.c[1] == 0) {
    out[0] = e.n0;
    return;
  }
  if (e.n0 == 0) return;
  tbReal theta = bisect(&e), u = tb_cos(theta), v = tb_sin(theta), r = radius(&e, u, v);
  out[0] = r;
  out[1] = mu[0] * r * u;
  out[2] = mu[1] * r * v;
}

static void update(void* context, const tbBlock* block, const tbReal* A, const tbReal* b,
                   tbReal* lambda, tbReal* slip) {
  Raisim* q = context;
  if (block->type != TB_BLOCK_CONE) {
    tb_local_solve(block, TB_LAW_NCP, A, b, lambda, slip);
    return;
  }
  tbReal target[TB_MAX_BLOCK_DIM] = {0};
  if (q->exact) {
    tb_local_solve(block, TB_LAW_NCP, A, b, target, slip);
  } else if (block->dim == 3) {
    contact(block, A, b, target);
  } else {
    tb_local_raisim(block, A, b, target, slip);
  }
  for (int r = 0; r < block->dim; r++) lambda[r] += q->alpha * (target[r] - lambda[r]);
  q->alpha = q->gamma * q->alpha + (1 - q->gamma) * q->alpha_min;
}

static tbResult run(tbSolve* s, bool exact) {
  const tbSolveSettings* set = s->settings;
  Raisim q = {set->raisim_alpha, set->raisim_alpha_min, set->raisim_gamma, exact};
  return tb_sweep_solve(s, update, &q);
}

tbResult tb_solve_raisim_pgs(tbSolve* s) {
  return run(s, false);
}

// The residual is the exact law's, which this solves.
tbResult tb_solve_raisim_pgs_exact(tbSolve* s) {
  s->law = TB_LAW_NCP;
  s->best_residual = INFINITY;
  return run(s, true);
}
