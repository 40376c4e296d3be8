// Interior points in velocity space: the sure half of the fast path for islands where modes do not
// settle. The equations are those of island_ipm.c (Nesterov-Todd scaling, Mehrotra's predictor and
// corrector, De Saxcé's shift inside Newton's matrix), but G = J M^-1 J^T is never formed. With
// lambda = S x, S making cones round, E = I - theta e t^T and C = E H + S R S, a step solves
//
//     (M + J^T S C^-1 S J) dv = J^T S C^-1 b,    dx = C^-1 (b - S J dv),    b = E c - r      (1)
//     dz = c - H dx
//
// on the sparse matrix of solvers/velocity. See docs/solver-active.md.
#include <math.h>
#include <string.h>

#include "base/kernel.h"
#include "contact/cone.h"
#include "solvers/active.h"
#include "solvers/lorentz.h"

enum { MAX = TB_MAX_BLOCK_DIM, WEIGHTS = 3 };

// A step shorter than this is a sign of trouble; what is kept from the border.
static const tbReal SHORT_STEP = 0.2, INSIDE = 0.99;
// Free rows may depend on each other: a small ridge, whose error the next iteration removes.
static const tbReal RIDGE = 1e-9, FIXED = 1e30;
// Velocities are computed anew below this times the tolerance, and every so many iterations above.
static const tbReal FAR = 100;
enum { EXACT = 4 };

typedef struct {
  const tbActive* a;
  const tbProblem* p;
  tbReal unit;                              // lambda = unit S x, velocity = unit S^-1 z
  tbReal *S, *x, *z, *r, *dx, *dz, *c, *b;  // by row
  tbReal *ax, *az;                          // the affine step
  tbReal* jv;                               // J dv of the last direction
  tbReal *low, *high, *zlow, *zhigh;        // boxes: bounds of x, multipliers
  tbReal *dlow, *dhigh;                     // their steps
  tbReal *lambda, *sigma;                   // of x, as they are outside
  tbReal* K;                                // C^-1: MAX x MAX per block
  tbReal* dv;                               // by place
  tbLorentz* scaling;                       // per block
  tbReal* theta;                            // per block: weight of the shift in E
  int pairs;
  bool eased;  // theta is below 1 somewhere
} Interior;

static bool is_cone(const tbBlock* b) {
  return b->type == TB_BLOCK_CONE;
}

// ---- first point -------------------------------------------------------------------------------

static bool allocate(Interior* m, tbArena* arena) {
  size_t n = (size_t)m->p->n + 1, blocks = (size_t)m->p->nblock + 1;
  tbReal** vectors[] = {&m->S,    &m->x,     &m->z,      &m->r,     &m->dx,   &m->dz,   &m->c,
                        &m->b,    &m->ax,    &m->az,     &m->low,   &m->high, &m->zlow, &m->zhigh,
                        &m->dlow, &m->dhigh, &m->lambda, &m->sigma, &m->jv};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
    *vectors[k] = TB_ARENA_NEW(arena, tbReal, n);
  }
  m->K = tb_arena_alloc(arena, sizeof(tbReal) * MAX * MAX * blocks);
  m->theta = TB_ARENA_NEW(arena, tbReal, blocks);
  m->scaling = tb_arena_alloc(arena, sizeof(tbLorentz) * blocks);
  m->dv = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(m->a->system->size + 1));
  return !arena->failed;
}

// Round cones, energies of like size.
static void set_scale(Interior* m) {
  tbReal largest = 0;
  for (int i = 0; i < m->p->nblock; i++) {
    const tbBlock* b = &m->p->block[i];
    const tbReal* rho = m->a->rho + b->row;
    for (int r = 0; r < b->dim; r++) {
      bool tangent = is_cone(b) && r > 0;
      m->S[b->row + r] = (tangent ? b->mu[r - 1] : 1) / sqrt(is_cone(b) ? rho[0] : rho[r]);
      largest = fmax(largest, fabs(m->S[b->row + r] * m->p->g[b->row + r]));
    }
  }
  m->unit = largest > 0 ? largest : 1;
}

// The pair on the central path, x ∘ z = mu, with x - z = y: x = (y + sqrt(y^2 + 4 mu)) / 2 in the
// algebra of the cone (Chen and Harker; Kanzow; Smale). However small mu is, the point is centred.
static void central_pair(tbReal y, tbReal mu, tbReal* x, tbReal* z) {
  tbReal root = sqrt(y * y + 4 * mu);
  *x = y > 0 ? 0.5 * (y + root) : 2 * mu / (root - y);
  *z = y > 0 ? 2 * mu / (root + y) : 0.5 * (root - y);
}

static void central_cone(int d, tbReal mu, tbReal* x, tbReal* z) {
  tbReal y[MAX], x1, x2, z1, z2;
  for (int r = 0; r < d; r++) y[r] = x[r] - z[r];
  tbReal tail = tb_lorentz_tail(d, y);
  central_pair(y[0] + tail, mu, &x1, &z1);
  central_pair(y[0] - tail, mu, &x2, &z2);
  x[0] = 0.5 * (x1 + x2);
  z[0] = 0.5 * (z1 + z2);
  for (int r = 1; r < d; r++) {
    tbReal u = tail > 0 ? y[r] / tail : 0;
    x[r] = 0.5 * (x1 - x2) * u;
    z[r] = 0.5 * (z1 - z2) * u;
  }
}

static void first_box(Interior* m, const tbBlock* b, int k, tbReal center) {
  tbReal step = m->S[k] * m->unit;
  m->low[k] = b->lower / step;
  m->high[k] = b->upper / step;
  tbReal room = m->high[k] - m->low[k], inset = isfinite(room) ? fmin(center, 0.25 * room) : center;
  if (!(room > 0)) {
    m->x[k] = m->low[k];
    return;
  }
  m->x[k] = fmin(m->high[k] - inset, fmax(m->low[k] + inset, m->lambda[k] / step));
  m->zlow[k] = isfinite(m->low[k]) ? center : 0;
  m->zhigh[k] = isfinite(m->high[k]) ? center : 0;
  m->pairs += isfinite(m->low[k]) + isfinite(m->high[k]);
}

// The largest impulse of a contact: light bodies may carry far more than their weight.
static tbReal largest_load(const Interior* m) {
  tbReal largest = 1;
  for (int i = 0; i < m->p->nblock; i++) {
    int row = m->p->block[i].row;
    if (is_cone(&m->p->block[i])) largest = fmax(largest, m->lambda[row] / (m->S[row] * m->unit));
  }
  return largest;
}

// The point of the central path near lambda and its velocity sigma at products `mu`.
static void first_point(Interior* m, tbReal mu) {
  bool shifted = m->a->law == TB_LAW_NCP;
  m->pairs = 0;
  for (int i = 0; i < m->p->nblock; i++) {
    const tbBlock* b = &m->p->block[i];
    tbReal *x = m->x + b->row, *z = m->z + b->row;
    for (int r = 0; r < b->dim; r++) {
      int k = b->row + r;
      tbReal step = m->S[k] * m->unit;
      if (b->type == TB_BLOCK_BOX) {
        first_box(m, b, k, sqrt(mu));
        continue;
      }
      x[r] = step > 0 ? m->lambda[k] / step : 0;
      z[r] = b->type == TB_BLOCK_EQUALITY ? 0 : m->S[k] * m->sigma[k] / m->unit;
      if (b->type == TB_BLOCK_ONE_SIDED) {
        central_pair(x[r] - z[r], mu, &x[r], &z[r]);
        m->pairs++;
      }
    }
    if (!is_cone(b)) continue;
    if (shifted) z[0] += tb_lorentz_tail(b->dim, z);
    central_cone(b->dim, mu, x, z);
    m->pairs++;
  }
}

// ---- one iteration -----------------------------------------------------------------------------

// lambda and its velocity (which far from the answer has come along with the steps), the residual r
// of the shifted velocity, the mean product.
static tbReal evaluate(Interior* m, bool exact) {
  const tbProblem* p = m->p;
  bool shifted = m->a->law == TB_LAW_NCP;
  tbReal sum = 0;
  for (int k = 0; k < p->n; k++) m->lambda[k] = m->S[k] * m->unit * m->x[k];
  if (exact) tb_active_response(m->a, m->lambda, m->dv, m->sigma);
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    for (int k = b->row; k < b->row + b->dim; k++) {
      tbReal velocity = m->S[k] * m->sigma[k] / m->unit;
      if (b->type == TB_BLOCK_BOX) {
        m->r[k] = velocity - m->zlow[k] + m->zhigh[k];
        if (m->zlow[k] > 0) sum += m->zlow[k] * (m->x[k] - m->low[k]);
        if (m->zhigh[k] > 0) sum += m->zhigh[k] * (m->high[k] - m->x[k]);
      } else {
        m->r[k] = velocity - m->z[k];
        sum += m->x[k] * m->z[k];
      }
    }
    if (is_cone(b) && shifted) m->r[b->row] += tb_lorentz_tail(b->dim, m->z + b->row);
  }
  return m->pairs > 0 ? sum / m->pairs : 0;
}

// K <- (K^-1 + R)^-1 where only the first row has any compliance, as contacts that are pushed
// apart: of rank one, and K_00 > 0.
TB_INLINE void add_normal(int d, tbReal R, tbReal* K) {
  tbReal row[MAX], f = R / (1 + R * K[0]);
  for (int c = 0; c < d; c++) row[c] = K[c];
  for (int r = 0; r < d; r++) {
    tbReal a = f * K[r * d];
    for (int c = 0; c < d; c++) K[r * d + c] -= a * row[c];
  }
}

// K <- (I + K R)^-1 K by elimination with row exchanges: the inverse of K^-1 + R.
static void add_compliance(int d, const tbReal* R, tbReal* K) {
  tbReal A[MAX * MAX];
  for (int r = 0; r < d; r++) {
    for (int c = 0; c < d; c++) A[r * d + c] = (r == c) + K[r * d + c] * R[c];
  }
  for (int k = 0; k < d; k++) {
    int best = k;
    for (int r = k + 1; r < d; r++) {
      if (fabs(A[r * d + k]) > fabs(A[best * d + k])) best = r;
    }
    for (int c = 0; c < d && best != k; c++) {
      tbReal a = A[k * d + c], b = K[k * d + c];
      A[k * d + c] = A[best * d + c];
      K[k * d + c] = K[best * d + c];
      A[best * d + c] = a;
      K[best * d + c] = b;
    }
    tbReal pivot = 1 / A[k * d + k];
    for (int c = 0; c < d; c++) {
      A[k * d + c] *= pivot;
      K[k * d + c] *= pivot;
    }
    for (int r = 0; r < d; r++) {
      tbReal f = A[r * d + k];
      for (int c = 0; c < d && r != k; c++) {
        A[r * d + c] -= f * A[k * d + c];
        K[r * d + c] -= f * K[k * d + c];
      }
    }
  }
}

// The scaling of a cone and (E H)^-1.
TB_INLINE void cone_inverse(Interior* m, int i, int d, tbReal* K) {
  const tbBlock* b = &m->p->block[i];
  const tbReal *x = m->x + b->row, *z = m->z + b->row;
  tbLorentz* s = &m->scaling[i];
  tb_lorentz_scaling(d, x, z, s);
  tbReal square = 1 / (s->eta * s->eta), length = tb_lorentz_tail(d, z);
  for (int r = 0; r < d; r++) {
    for (int c = 0; c < d; c++) {
      tbReal J = r != c ? 0 : r == 0 ? 1 : -1, flip = (r == 0) == (c == 0) ? 2 : -2;
      K[r * d + c] = square * (flip * s->w[r] * s->w[c] - J);
    }
  }
  // E^-1 = I + theta e t^T adds to the columns of H^-1.
  for (int r = 1; r < d && length > 0; r++) {
    tbReal f = m->theta[i] * z[r] / length;
    for (int c = 0; c < d; c++) K[c * d + r] += f * K[c * d];
  }
}

static tbReal row_stiffness(const Interior* m, const tbBlock* b, int k) {
  tbReal stiff = 0;
  if (b->type == TB_BLOCK_ONE_SIDED) return m->z[k] / m->x[k];
  if (b->type == TB_BLOCK_EQUALITY) return RIDGE;
  if (!(m->low[k] < m->high[k])) return FIXED;
  if (m->zlow[k] > 0) stiff += m->zlow[k] / (m->x[k] - m->low[k]);
  if (m->zhigh[k] > 0) stiff += m->zhigh[k] / (m->high[k] - m->x[k]);
  return stiff > 0 ? stiff : RIDGE;
}

// C^-1 of a block, and its part of the matrix of (1).
TB_INLINE void add_block(Interior* m, int i, int d, bool cone) {
  const tbBlock* b = &m->p->block[i];
  const tbReal* S = m->S + b->row;
  tbReal *K = m->K + (size_t)i * MAX * MAX, W[MAX * MAX];
  if (cone) {
    cone_inverse(m, i, d, K);
  } else {
    memset(K, 0, sizeof(tbReal) * (size_t)(d * d));
    for (int r = 0; r < d; r++) K[r * (d + 1)] = 1 / row_stiffness(m, b, b->row + r);
  }
  if (m->p->R) {
    tbReal R[MAX], others = 0;
    for (int r = 0; r < d; r++) R[r] = S[r] * S[r] * m->p->R[b->row + r];
    for (int r = 1; r < d; r++) others = fmax(others, R[r]);
    if (others > 0) {
      add_compliance(d, R, K);
    } else if (R[0] > 0) {
      add_normal(d, R[0], K);
    }
  }
  for (int r = 0; r < d; r++) {
    for (int c = 0; c < d; c++) W[r * d + c] = S[r] * K[r * d + c] * S[c];
  }
  tb_velocity_add(m->a->system, i, W);
}

// The same of all blocks, and the factors of the matrix.
static bool factor(Interior* m, tbSolveInfo* info) {
  tbVelocity* v = m->a->system;
  tb_velocity_start(v, m->a->law != TB_LAW_NCP);
  info->factorizations++;
  for (int i = 0; i < m->p->nblock; i++) {
    const tbBlock* b = &m->p->block[i];
    if (is_cone(b) && b->dim == 3) {
      add_block(m, i, 3, true);
    } else {
      add_block(m, i, b->dim, is_cone(b));
    }
  }
  return tb_velocity_factor(v);
}

// c of a cone: towards products `target`, with the second-order term of the affine step if
// `correct`.
TB_INLINE void cone_target(Interior* m, int i, int d, tbReal target, bool correct) {
  int row = m->p->block[i].row;
  const tbReal* dx = correct ? m->ax + row : NULL;
  // Towards no products at all the scaled point is taken away: c = -V V^-1 z.
  if (target == 0 && !correct) {
    for (int r = 0; r < d; r++) m->c[row + r] = -m->z[row + r];
    return;
  }
  tb_lorentz_target(d, &m->scaling[i], target, dx, m->az + row, m->c + row);
}

// The same of all blocks. For boxes c holds the change of zlow - zhigh at dx = 0.
static void fill_target(Interior* m, tbReal target, bool correct) {
  for (int i = 0; i < m->p->nblock; i++) {
    const tbBlock* b = &m->p->block[i];
    if (is_cone(b) && b->dim == 3) {
      cone_target(m, i, 3, target, correct);
      continue;
    }
    if (is_cone(b)) {
      cone_target(m, i, b->dim, target, correct);
      continue;
    }
    for (int k = b->row; k < b->row + b->dim; k++) {
      m->c[k] = 0;
      if (b->type == TB_BLOCK_ONE_SIDED) {
        tbReal second = correct ? m->ax[k] * m->az[k] : 0;
        m->c[k] = (target - second) / m->x[k] - m->z[k];
      } else if (b->type == TB_BLOCK_BOX && m->low[k] < m->high[k]) {
        if (m->zlow[k] > 0) m->c[k] += target / (m->x[k] - m->low[k]) - m->zlow[k];
        if (m->zhigh[k] > 0) m->c[k] -= target / (m->high[k] - m->x[k]) - m->zhigh[k];
      }
    }
  }
}

TB_INLINE void multiply(int d, const tbReal* A, const tbReal* x, tbReal* out) {
  for (int r = 0; r < d; r++) {
    tbReal sum = 0;
    for (int c = 0; c < d; c++) sum += A[r * d + c] * x[c];
    out[r] = sum;
  }
}

// Impulse S K b of a block; change of dx = K (b - S J dv).
TB_INLINE void block_push(Interior* m, int i, int d) {
  int row = m->p->block[i].row;
  tbReal f[MAX];
  multiply(d, m->K + (size_t)i * MAX * MAX, m->b + row, f);
  for (int r = 0; r < d; r++) f[r] *= m->S[row + r];
  tb_velocity_add_impulse(m->a->system, i, f, m->dv);
}

TB_INLINE void block_solution(Interior* m, int i, int d, tbReal* dx) {
  int row = m->p->block[i].row;
  tbReal velocity[TB_ROWS_DIM];
  tb_velocity_mul(m->a->system, i, m->dv, velocity);
  for (int r = 0; r < d; r++) {
    m->jv[row + r] = velocity[r];
    velocity[r] = m->b[row + r] - m->S[row + r] * velocity[r];
  }
  multiply(d, m->K + (size_t)i * MAX * MAX, velocity, dx + row);
}

// dx of (1) for the right-hand side b.
static void solve_impulses(Interior* m, tbReal* dx) {
  tbVelocity* v = m->a->system;
  memset(m->dv, 0, sizeof(tbReal) * (size_t)v->size);
  for (int i = 0; i < m->p->nblock; i++) {
    int d = m->p->block[i].dim;
    if (d == 3) {
      block_push(m, i, 3);
    } else {
      block_push(m, i, d);
    }
  }
  tb_velocity_solve(v, m->dv);
  for (int i = 0; i < m->p->nblock; i++) {
    int d = m->p->block[i].dim;
    if (d == 3) {
      block_solution(m, i, 3, dx);
    } else {
      block_solution(m, i, d, dx);
    }
  }
}

// The right-hand side b = E c - r of a cone.
TB_INLINE void cone_right(Interior* m, int i, int d) {
  int row = m->p->block[i].row;
  const tbReal *z = m->z + row, *c = m->c + row;
  tbReal length = tb_lorentz_tail(d, z), along = 0;
  for (int r = 0; r < d; r++) m->b[row + r] = c[r] - m->r[row + r];
  for (int r = 1; r < d; r++) along += z[r] * c[r];
  if (length > 0) m->b[row] -= m->theta[i] * along / length;
}

static void fill_right(Interior* m) {
  for (int i = 0; i < m->p->nblock; i++) {
    const tbBlock* b = &m->p->block[i];
    if (is_cone(b) && b->dim == 3) {
      cone_right(m, i, 3);
      continue;
    }
    if (is_cone(b)) {
      cone_right(m, i, b->dim);
      continue;
    }
    for (int k = b->row; k < b->row + b->dim; k++) {
      bool fixed = b->type == TB_BLOCK_BOX && !(m->low[k] < m->high[k]);
      m->b[k] = fixed ? 0 : m->c[k] - m->r[k];
    }
  }
}

// Solve (1) for dx and dz.
static void find_step(Interior* m, tbReal target, tbReal* dx, tbReal* dz) {
  fill_right(m);
  solve_impulses(m, dx);
  for (int i = 0; i < m->p->nblock; i++) {
    const tbBlock* block = &m->p->block[i];
    int row = block->row;
    if (is_cone(block)) {
      int d = block->dim;
      if (d == 3) {
        tb_lorentz_hessian(3, &m->scaling[i], dx + row, dz + row);
      } else {
        tb_lorentz_hessian(d, &m->scaling[i], dx + row, dz + row);
      }
      for (int k = row; k < row + d; k++) dz[k] = m->c[k] - dz[k];
      continue;
    }
    for (int k = row; k < row + block->dim; k++) {
      dz[k] = 0;
      if (block->type == TB_BLOCK_ONE_SIDED) dz[k] = m->c[k] - m->z[k] / m->x[k] * dx[k];
      if (block->type != TB_BLOCK_BOX) continue;
      tbReal down = m->x[k] - m->low[k], up = m->high[k] - m->x[k];
      m->dlow[k] = tb_bound_slope(target, down, dx[k], m->zlow[k]);
      m->dhigh[k] = tb_bound_slope(target, up, -dx[k], m->zhigh[k]);
    }
  }
}

// Steps are cut at 1, and at 0.9 or more of what is found below.
static const tbReal LONGEST = 1.25;

// The least of `a` and the largest step that keeps x and z of a cone inside. Cones are convex:
// where a step of length a ends inside, no root need be found.
TB_INLINE tbReal cone_step(const Interior* m, int row, int d, const tbReal* dx, const tbReal* dz,
                           tbReal a) {
  const tbReal *x = m->x + row, *z = m->z + row;
  if (!tb_lorentz_holds(d, x, dx + row, a)) a = fmin(a, tb_lorentz_step(d, x, dx + row));
  if (!tb_lorentz_holds(d, z, dz + row, a)) a = fmin(a, tb_lorentz_step(d, z, dz + row));
  return a;
}

// The largest step that keeps x and z inside, up to LONGEST.
static tbReal step_length(const Interior* m, const tbReal* dx, const tbReal* dz) {
  tbReal a = LONGEST;
  for (int i = 0; i < m->p->nblock; i++) {
    const tbBlock* b = &m->p->block[i];
    if (is_cone(b)) {
      a = b->dim == 3 ? cone_step(m, b->row, 3, dx, dz, a)
                      : cone_step(m, b->row, b->dim, dx, dz, a);
      continue;
    }
    for (int k = b->row; k < b->row + b->dim; k++) {
      if (b->type == TB_BLOCK_ONE_SIDED) {
        a = fmin(a, tb_pair_step(m->x[k], dx[k], m->z[k], dz[k]));
      } else if (b->type == TB_BLOCK_BOX && m->zlow[k] > 0) {
        a = fmin(a, tb_pair_step(m->x[k] - m->low[k], dx[k], m->zlow[k], m->dlow[k]));
      }
      if (b->type == TB_BLOCK_BOX && m->zhigh[k] > 0) {
        a = fmin(a, tb_pair_step(m->high[k] - m->x[k], -dx[k], m->zhigh[k], m->dhigh[k]));
      }
    }
  }
  return a;
}

// Mehrotra's choice: how far the affine step alone would bring the products down.
static tbReal centering(const Interior* m, tbReal mu, tbReal step) {
  tbReal sum = 0;
  for (int i = 0; i < m->p->nblock; i++) {
    const tbBlock* b = &m->p->block[i];
    for (int k = b->row; k < b->row + b->dim; k++) {
      tbReal x = m->x[k] + step * m->ax[k];
      if (b->type != TB_BLOCK_BOX) {
        sum += x * (m->z[k] + step * m->az[k]);
        continue;
      }
      if (m->zlow[k] > 0) sum += (m->zlow[k] + step * m->dlow[k]) * (x - m->low[k]);
      if (m->zhigh[k] > 0) sum += (m->zhigh[k] + step * m->dhigh[k]) * (m->high[k] - x);
    }
  }
  tbReal ratio = m->pairs > 0 && mu > 0 ? fmax(sum / m->pairs, 0) / mu : 0;
  return fmin(1, fmax(ratio * ratio * ratio, 1e-6));
}

// ---- all of it ---------------------------------------------------------------------------------

// A step towards products `target`, after the affine step or by itself; its length.
static tbReal aim(Interior* m, tbReal target, bool correct) {
  fill_target(m, target, correct);
  find_step(m, target, m->dx, m->dz);
  return fmin(1, (correct ? INSIDE : 0.9) * step_length(m, m->dx, m->dz));
}

// The step for the current theta: Mehrotra's, a plain one where that is short, towards the centre
// where that is short too. Its length, or 0 where the matrix broke down.
static tbReal attempt(Interior* m, tbReal mu, tbReal floor, tbSolveInfo* info) {
  if (!factor(m, info)) return 0;
  fill_target(m, 0, false);
  find_step(m, 0, m->ax, m->az);
  tbReal affine = fmin(1, step_length(m, m->ax, m->az));
  tbReal a = aim(m, fmax(centering(m, mu, affine) * mu, floor), true);
  if (a < SHORT_STEP) a = aim(m, fmax(0.25 * mu, floor), false);
  return a < SHORT_STEP ? aim(m, mu, false) : a;
}

// The shift of cones that let no step of some length pass becomes weaker. False: there are none.
static bool weaken(Interior* m, tbReal weight) {
  bool any = false;
  for (int i = 0; i < m->p->nblock; i++) {
    const tbBlock* b = &m->p->block[i];
    if (!is_cone(b) || m->theta[i] <= weight) continue;
    tbReal x = tb_lorentz_step(b->dim, m->x + b->row, m->dx + b->row);
    tbReal z = tb_lorentz_step(b->dim, m->z + b->row, m->dz + b->row);
    if (0.9 * fmin(x, z) >= SHORT_STEP) continue;
    m->theta[i] = weight;
    any = true;
  }
  return any;
}

// Weaken the shift where it stands in the way until a step of some length is found.
static tbReal choose_step(Interior* m, tbReal mu, tbReal kappa, tbSolveInfo* info) {
  static const tbReal weights[WEIGHTS] = {0.9, 0.5, 0};
  bool exact = m->a->law == TB_LAW_NCP, eased = false;
  tbReal infeasible = 0;
  for (int k = 0; k < m->p->n; k++) infeasible = fmax(infeasible, fabs(m->r[k]));
  for (int i = 0; i < m->p->nblock && !m->eased; i++) m->theta[i] = exact;
  tbReal floor = fmin(mu, kappa * infeasible), a = attempt(m, mu, floor, info);
  for (int k = 0; k < WEIGHTS && a < SHORT_STEP && weaken(m, weights[k]); k++) {
    a = attempt(m, mu, floor, info);
    eased = true;
  }
  m->eased = eased || (m->eased && a < 0.9);
  return a;
}

bool tb_active_interior(const tbActive* a, tbArena* arena, const tbInterior* set, tbReal* lambda,
                        tbReal* sigma, tbSolveInfo* info) {
  Interior m = {.a = a, .p = a->p};
  size_t bytes = sizeof(tbReal) * (size_t)a->p->n;
  tbArenaMark mark = tb_arena_mark(arena);
  if (!allocate(&m, arena)) return false;
  set_scale(&m);
  memcpy(m.lambda, lambda, bytes);
  memcpy(m.sigma, sigma, bytes);
  first_point(&m, set->mu * largest_load(&m));
  tbReal best = tb_residual(a->p, a->law, lambda, sigma).relative, last = INFINITY;
  bool exact = true;
  for (int k = 0, since = 0;
       k < set->rounds && since < set->patience && info->iterations < a->max_iter; k++) {
    tbReal mu = evaluate(&m, exact);
    tbReal now = tb_residual(a->p, a->law, m.lambda, m.sigma).relative;
    if (!exact && !(now > FAR * a->tolerance)) {
      mu = evaluate(&m, true);
      now = tb_residual(a->p, a->law, m.lambda, m.sigma).relative;
    }
    exact = !(now > FAR * a->tolerance) || k % EXACT == EXACT - 1;
    if (!isfinite(mu)) break;
    if (now < best) {
      best = now;
      memcpy(lambda, m.lambda, bytes);
      memcpy(sigma, m.sigma, bytes);
    }
    if (now <= set->target * a->tolerance) break;
    since = now < 0.8 * last ? 0 : since + 1;
    last = fmin(last, now);
    info->iterations++;
    tbReal step = choose_step(&m, mu, k < 4 ? 0 : set->kappa, info);
    if (!(step > 1e-10) || !isfinite(step)) break;
    for (int r = 0; r < a->p->n; r++) {
      tbReal compliance = a->p->R ? a->p->R[r] * m.S[r] * m.dx[r] : 0;
      m.sigma[r] += step * m.unit * (m.jv[r] + compliance);
      m.x[r] += step * m.dx[r];
      m.z[r] += step * m.dz[r];
      m.zlow[r] += step * m.dlow[r];
      m.zhigh[r] += step * m.dhigh[r];
    }
  }
  tb_arena_release(arena, mark);
  return true;
}
