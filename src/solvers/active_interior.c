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
#include "solvers/active.h"
#include "solvers/cone_four.h"
#include "solvers/lorentz.h"

enum { MAX = TB_MAX_BLOCK_DIM, WEIGHTS = 3 };

// A step shorter than this is a sign of trouble; what is kept from the border.
static const tbReal SHORT_STEP = 0.2, INSIDE = 0.99;
// Free rows may depend on each other: a small ridge, whose error the next iteration removes.
static const tbReal RIDGE = 1e-9, FIXED = 1e30;
// Velocities are computed anew below this times the tolerance, and every so many iterations above.
static const tbReal FAR = 100;
enum { EXACT = 4 };

// Cones of three rows are held by fours, all other blocks one by one: what is by row is theirs, but
// for lambda, sigma and S, and for the first point.
typedef struct {
  const tbActive* a;
  const tbProblem* p;
  tbConeFour* four;
  int *contact, nfour, ncontact;            // the blocks of all fours, one after the other
  tbReal* rows;                             // three numbers of each
  int *other, nother;                       // blocks one by one
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
  tbReal infeasible;  // the largest entry of r
  bool eased;         // theta is below 1 somewhere
} Interior;

static bool is_cone(const tbBlock* b) {
  return b->type == TB_BLOCK_CONE;
}

static bool is_contact(const tbBlock* b) {
  return is_cone(b) && b->dim == TB_CONE_ROWS;
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
  m->other = tb_arena_alloc(arena, sizeof(int) * blocks);
  m->contact = tb_arena_alloc(arena, sizeof(int) * blocks);
  m->rows = tb_arena_alloc(arena, sizeof(tbReal) * TB_CONE_ROWS * blocks);
  m->four = tb_arena_alloc(arena, sizeof(tbConeFour) * (blocks / TB_CONE_LANES + 1));
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

// ---- cones by fours ----------------------------------------------------------------------------

// One contact of four at its first point.
static void load_lane(const Interior* m, int i, tbConeFour* g, int l) {
  int row = m->p->block[i].row;
  g->block[l] = i;
  g->row[l] = row;
  for (int r = 0; r < TB_CONE_ROWS; r++) {
    tbReal S = m->S[row + r];
    g->S[r][l] = S;
    g->R[r][l] = m->p->R ? S * S * m->p->R[row + r] : 0;
    g->yields = g->yields || (r > 0 && g->R[r][l] > 0);
    g->x[r][l] = m->x[row + r];
    g->z[r][l] = m->z[row + r];
  }
}

// Contacts by fours at their first point, and the list of all other blocks.
static void load_fours(Interior* m) {
  m->nfour = m->nother = m->ncontact = 0;
  int lanes = 0;
  for (int i = 0; i < m->p->nblock; i++) {
    if (!is_contact(&m->p->block[i])) {
      m->other[m->nother++] = i;
      continue;
    }
    if (lanes == 0) {
      memset(&m->four[m->nfour], 0, sizeof *m->four);
      m->nfour++;
    }
    tbConeFour* g = &m->four[m->nfour - 1];
    m->contact[m->ncontact++] = i;
    load_lane(m, i, g, lanes);
    g->used = ++lanes;
    lanes %= TB_CONE_LANES;
  }
  // What is left of the last four are copies.
  for (int l = lanes; l > 0 && l < TB_CONE_LANES; l++) {
    load_lane(m, m->four[m->nfour - 1].block[0], &m->four[m->nfour - 1], l);
  }
}

// Their velocities out of sigma.
static void load_velocities(Interior* m) {
  for (int k = 0; k < m->nfour; k++) {
    tbConeFour* g = &m->four[k];
    for (int l = 0; l < TB_CONE_LANES; l++) {
      for (int r = 0; r < TB_CONE_ROWS; r++) {
        g->v[r][l] = g->S[r][l] * m->sigma[g->row[l] + r] / m->unit;
      }
    }
  }
}

// Their impulses.
static void store_impulses(Interior* m) {
  for (int k = 0; k < m->nfour; k++) {
    const tbConeFour* g = &m->four[k];
    for (int l = 0; l < g->used; l++) {
      for (int r = 0; r < TB_CONE_ROWS; r++) {
        m->lambda[g->row[l] + r] = g->S[r][l] * m->unit * g->x[r][l];
      }
    }
  }
}

// ---- one iteration -----------------------------------------------------------------------------

// lambda and its velocity (which far from the answer has come along with the steps), the residual r
// of the shifted velocity, the mean product.
static tbReal evaluate(Interior* m, bool exact) {
  const tbProblem* p = m->p;
  bool shifted = m->a->law == TB_LAW_NCP;
  store_impulses(m);
  for (int j = 0; j < m->nother; j++) {
    const tbBlock* b = &p->block[m->other[j]];
    for (int k = b->row; k < b->row + b->dim; k++) m->lambda[k] = m->S[k] * m->unit * m->x[k];
  }
  if (exact) tb_active_response(m->a, m->lambda, m->dv, m->sigma);
  load_velocities(m);
  m->infeasible = 0;
  tbReal sum = tb_cone_four_residual(m->four, m->nfour, shifted, &m->infeasible);
  for (int j = 0; j < m->nother; j++) {
    const tbBlock* b = &p->block[m->other[j]];
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
    for (int k = b->row; k < b->row + b->dim; k++) {
      m->infeasible = fmax(m->infeasible, fabs(m->r[k]));
    }
  }
  return m->pairs > 0 ? sum / m->pairs : 0;
}

// K <- (K^-1 + R)^-1 where only the first row has any compliance, as contacts that are pushed
// apart: of rank one, and K_00 > 0.
static void add_normal(int d, tbReal R, tbReal* K) {
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
static void cone_inverse(Interior* m, int i, int d, tbReal* K) {
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
static void add_block(Interior* m, int i) {
  const tbBlock* b = &m->p->block[i];
  const tbReal* S = m->S + b->row;
  tbReal *K = m->K + (size_t)i * MAX * MAX, W[MAX * MAX];
  int d = b->dim;
  if (is_cone(b)) {
    cone_inverse(m, i, d, K);
  } else {
    memset(K, 0, sizeof(tbReal) * (size_t)(d * d));
    for (int r = 0; r < d; r++) K[r * (d + 1)] = 1 / row_stiffness(m, b, b->row + r);
  }
  if (m->p->R) {
    tbReal R[MAX] = {0}, others = 0;
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

// Compliance of four contacts along their tangents.
static void add_compliances(tbConeFour* g) {
  enum { ENTRIES = TB_CONE_ROWS * TB_CONE_ROWS };
  for (int l = 0; l < TB_CONE_LANES; l++) {
    tbReal K[ENTRIES], R[TB_CONE_ROWS] = {0, g->R[1][l], g->R[2][l]};
    for (int e = 0; e < ENTRIES; e++) K[e] = g->K[e][l];
    add_compliance(TB_CONE_ROWS, R, K);
    for (int e = 0; e < ENTRIES; e++) g->K[e][l] = K[e];
  }
}

// Their parts of the matrix.
static void add_four(const Interior* m, const tbConeFour* g) {
  for (int l = 0; l < g->used; l++) {
    tbReal W[TB_CONE_ROWS * TB_CONE_ROWS];
    for (int r = 0, e = 0; r < TB_CONE_ROWS; r++) {
      for (int c = 0; c < TB_CONE_ROWS; c++, e++) W[e] = g->S[r][l] * g->K[e][l] * g->S[c][l];
    }
    tb_velocity_add(m->a->system, g->block[l], W);
  }
}

// The same of all blocks, and the factors of the matrix.
static bool factor(Interior* m, tbSolveInfo* info) {
  tbVelocity* v = m->a->system;
  tb_velocity_start(v, m->a->law != TB_LAW_NCP);
  info->factorizations++;
  tb_cone_four_scale(m->four, m->nfour);
  for (int k = 0; k < m->nfour; k++) {
    if (m->four[k].yields) add_compliances(&m->four[k]);
    add_four(m, &m->four[k]);
  }
  for (int j = 0; j < m->nother; j++) add_block(m, m->other[j]);
  return tb_velocity_factor(v);
}

// c of a cone: towards products `target`, with the second-order term of the affine step if
// `correct`.
static void cone_target(Interior* m, int i, int d, tbReal target, bool correct) {
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
  tb_cone_four_target(m->four, m->nfour, target, correct);
  for (int j = 0; j < m->nother; j++) {
    const tbBlock* b = &m->p->block[m->other[j]];
    if (is_cone(b)) {
      cone_target(m, m->other[j], b->dim, target, correct);
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

static void multiply(int d, const tbReal* A, const tbReal* x, tbReal* out) {
  for (int r = 0; r < d; r++) {
    tbReal sum = 0;
    for (int c = 0; c < d; c++) sum += A[r * d + c] * x[c];
    out[r] = sum;
  }
}

// The right-hand side b = E c - r of a block, and its impulse S K b.
static void push_block(Interior* m, int i) {
  const tbBlock* block = &m->p->block[i];
  int row = block->row, d = block->dim;
  tbReal f[MAX], *b = m->b + row;
  const tbReal *z = m->z + row, *c = m->c + row;
  for (int r = 0; r < d; r++) {
    bool fixed = block->type == TB_BLOCK_BOX && !(m->low[row + r] < m->high[row + r]);
    b[r] = fixed ? 0 : c[r] - m->r[row + r];
  }
  if (is_cone(block)) {
    tbReal length = tb_lorentz_tail(d, z), along = 0;
    for (int r = 1; r < d; r++) along += z[r] * c[r];
    if (length > 0) b[0] -= m->theta[i] * along / length;
  }
  multiply(d, m->K + (size_t)i * MAX * MAX, b, f);
  for (int r = 0; r < d; r++) f[r] *= m->S[row + r];
  tb_velocity_add_impulse(m->a->system, i, f, m->dv);
}

// dx = K (b - S J dv) and dz of a block.
static void solve_block(Interior* m, int i, tbReal target, tbReal* dx, tbReal* dz) {
  const tbBlock* block = &m->p->block[i];
  int row = block->row, d = block->dim;
  tbReal velocity[TB_ROWS_DIM];
  tb_velocity_mul(m->a->system, i, m->dv, velocity);
  for (int r = 0; r < d; r++) {
    m->jv[row + r] = velocity[r];
    velocity[r] = m->b[row + r] - m->S[row + r] * velocity[r];
  }
  multiply(d, m->K + (size_t)i * MAX * MAX, velocity, dx + row);
  if (is_cone(block)) {
    tb_lorentz_hessian(d, &m->scaling[i], dx + row, dz + row);
    for (int k = row; k < row + d; k++) dz[k] = m->c[k] - dz[k];
    return;
  }
  for (int k = row; k < row + d; k++) {
    dz[k] = 0;
    if (block->type == TB_BLOCK_ONE_SIDED) dz[k] = m->c[k] - m->z[k] / m->x[k] * dx[k];
    if (block->type != TB_BLOCK_BOX) continue;
    tbReal down = m->x[k] - m->low[k], up = m->high[k] - m->x[k];
    m->dlow[k] = tb_bound_slope(target, down, dx[k], m->zlow[k]);
    m->dhigh[k] = tb_bound_slope(target, up, -dx[k], m->zhigh[k]);
  }
}

// Impulses of contacts onto the dofs; J dv of them.
static void push_contacts(const Interior* m) {
  tbReal* f = m->rows;
  for (int k = 0; k < m->nfour; k++) {
    const tbConeFour* g = &m->four[k];
    for (int l = 0; l < g->used; l++, f += TB_CONE_ROWS) {
      for (int r = 0; r < TB_CONE_ROWS; r++) f[r] = g->f[r][l];
    }
  }
  tb_velocity_push_contacts(m->a->system, m->ncontact, m->contact, m->rows, m->dv);
}

static void move_contacts(Interior* m) {
  const tbReal* velocity = m->rows;
  tb_velocity_mul_contacts(m->a->system, m->ncontact, m->contact, m->dv, m->rows);
  for (int k = 0; k < m->nfour; k++) {
    tbConeFour* g = &m->four[k];
    for (int l = 0; l < TB_CONE_LANES; l++) {
      const tbReal* own = velocity + (l < g->used ? TB_CONE_ROWS * l : 0);
      for (int r = 0; r < TB_CONE_ROWS; r++) g->jv[r][l] = own[r];
    }
    velocity += TB_CONE_ROWS * TB_CONE_LANES;
  }
}

// Solve (1) for dx and dz, or for ax and az.
static void find_step(Interior* m, tbReal target, bool affine) {
  tbVelocity* v = m->a->system;
  tbReal *dx = affine ? m->ax : m->dx, *dz = affine ? m->az : m->dz;
  memset(m->dv, 0, sizeof(tbReal) * (size_t)v->size);
  tb_cone_four_right(m->four, m->nfour);
  push_contacts(m);
  for (int j = 0; j < m->nother; j++) push_block(m, m->other[j]);
  tb_velocity_solve(v, m->dv);
  move_contacts(m);
  tb_cone_four_solve(m->four, m->nfour, affine);
  for (int j = 0; j < m->nother; j++) solve_block(m, m->other[j], target, dx, dz);
}

// Steps are cut at 1, and at 0.9 or more of what is found below.
static const tbReal LONGEST = 1.25;

// The least of `a` and the largest step that keeps x and z of a cone inside. Cones are convex:
// where a step of length a ends inside, no root need be found.
static tbReal cone_step(const Interior* m, const tbBlock* b, const tbReal* dx, const tbReal* dz,
                        tbReal a) {
  const tbReal *x = m->x + b->row, *z = m->z + b->row;
  int d = b->dim, row = b->row;
  if (!tb_lorentz_holds(d, x, dx + row, a)) a = fmin(a, tb_lorentz_step(d, x, dx + row));
  if (!tb_lorentz_holds(d, z, dz + row, a)) a = fmin(a, tb_lorentz_step(d, z, dz + row));
  return a;
}

// The largest step that keeps x and z inside, up to LONGEST.
static tbReal step_length(const Interior* m, bool affine) {
  const tbReal *dx = affine ? m->ax : m->dx, *dz = affine ? m->az : m->dz;
  tbReal a = tb_cone_four_length(m->four, m->nfour, affine, LONGEST);
  for (int j = 0; j < m->nother; j++) {
    const tbBlock* b = &m->p->block[m->other[j]];
    if (is_cone(b)) {
      a = cone_step(m, b, dx, dz, a);
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
  tbReal sum = tb_cone_four_products(m->four, m->nfour, step);
  for (int j = 0; j < m->nother; j++) {
    const tbBlock* b = &m->p->block[m->other[j]];
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
  find_step(m, target, false);
  return fmin(1, (correct ? INSIDE : 0.9) * step_length(m, false));
}

// The step for the current theta: Mehrotra's, a plain one where that is short, towards the centre
// where that is short too. Its length, or 0 where the matrix broke down.
static tbReal attempt(Interior* m, tbReal mu, tbReal floor, tbSolveInfo* info) {
  if (!factor(m, info)) return 0;
  fill_target(m, 0, false);
  find_step(m, 0, true);
  tbReal affine = fmin(1, step_length(m, true));
  tbReal a = aim(m, fmax(centering(m, mu, affine) * mu, floor), true);
  if (a < SHORT_STEP) a = aim(m, fmax(0.25 * mu, floor), false);
  return a < SHORT_STEP ? aim(m, mu, false) : a;
}

// Whether a cone lets no step of some length pass.
static bool stands_in_way(int d, const tbReal* x, const tbReal* dx, const tbReal* z,
                          const tbReal* dz) {
  return 0.9 * fmin(tb_lorentz_step(d, x, dx), tb_lorentz_step(d, z, dz)) < SHORT_STEP;
}

static bool lane_stands_in_way(const tbConeFour* g, int l) {
  enum { D = TB_CONE_ROWS };
  tbReal x[D], dx[D], z[D], dz[D];
  for (int r = 0; r < D; r++) {
    x[r] = g->x[r][l];
    dx[r] = g->dx[r][l];
    z[r] = g->z[r][l];
    dz[r] = g->dz[r][l];
  }
  return stands_in_way(D, x, dx, z, dz);
}

// The shift of cones that let no step of some length pass becomes weaker. False: there are none.
static bool weaken(Interior* m, tbReal weight) {
  bool any = false;
  for (int k = 0; k < m->nfour; k++) {
    tbConeFour* g = &m->four[k];
    for (int l = 0; l < TB_CONE_LANES; l++) {
      if (g->theta[l] <= weight || !lane_stands_in_way(g, l)) continue;
      g->theta[l] = weight;
      any = true;
    }
  }
  for (int j = 0; j < m->nother; j++) {
    int i = m->other[j], row = m->p->block[i].row;
    if (!is_cone(&m->p->block[i]) || m->theta[i] <= weight) continue;
    if (!stands_in_way(m->p->block[i].dim, m->x + row, m->dx + row, m->z + row, m->dz + row)) {
      continue;
    }
    m->theta[i] = weight;
    any = true;
  }
  return any;
}

static void set_shift(Interior* m, tbReal theta) {
  for (int i = 0; i < m->p->nblock; i++) m->theta[i] = theta;
  for (int k = 0; k < m->nfour; k++) {
    for (int l = 0; l < TB_CONE_LANES; l++) m->four[k].theta[l] = theta;
  }
}

// Weaken the shift where it stands in the way until a step of some length is found.
static tbReal choose_step(Interior* m, tbReal mu, tbReal kappa, tbSolveInfo* info) {
  static const tbReal weights[WEIGHTS] = {0.9, 0.5, 0};
  bool eased = false;
  if (!m->eased) set_shift(m, m->a->law == TB_LAW_NCP);
  tbReal floor = fmin(mu, kappa * m->infeasible), a = attempt(m, mu, floor, info);
  for (int k = 0; k < WEIGHTS && a < SHORT_STEP && weaken(m, weights[k]); k++) {
    a = attempt(m, mu, floor, info);
    eased = true;
  }
  m->eased = eased || (m->eased && a < 0.9);
  return a;
}

// Go a step of length a; velocities come along.
static void go(Interior* m, tbReal a) {
  const tbReal* R = m->p->R;
  tb_cone_four_go(m->four, m->nfour, a);
  for (int k = 0; k < m->nfour; k++) {
    const tbConeFour* g = &m->four[k];
    for (int l = 0; l < g->used; l++) {
      for (int r = 0; r < TB_CONE_ROWS; r++) {
        int row = g->row[l] + r;
        tbReal compliance = R ? R[row] * g->S[r][l] * g->dx[r][l] : 0;
        m->sigma[row] += a * m->unit * (g->jv[r][l] + compliance);
      }
    }
  }
  for (int j = 0; j < m->nother; j++) {
    const tbBlock* b = &m->p->block[m->other[j]];
    for (int r = b->row; r < b->row + b->dim; r++) {
      tbReal compliance = R ? R[r] * m->S[r] * m->dx[r] : 0;
      m->sigma[r] += a * m->unit * (m->jv[r] + compliance);
      m->x[r] += a * m->dx[r];
      m->z[r] += a * m->dz[r];
      m->zlow[r] += a * m->dlow[r];
      m->zhigh[r] += a * m->dhigh[r];
    }
  }
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
  load_fours(&m);
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
    go(&m, step);
  }
  tb_arena_release(arena, mark);
  return true;
}
