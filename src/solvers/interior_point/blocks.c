// The interior-point method in velocity space on single blocks: all but cones of three rows. The
// equations are those of lorentz.h and velocity_space.c.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/interior_point/state.h"

enum { MAX = TB_MAX_BLOCK_DIM };

// Diagonal of H for rows without scaling. Equality rows may be redundant, so they get a small
// ridge, whose error the next iteration removes; rows that cannot move get FIXED.
static const tbReal RIDGE = 1e-9, FIXED = 1e30;

static bool is_cone(const tbBlock* b) {
  return b->type == TB_BLOCK_CONE;
}

void tb_interior_impulses(tbInteriorState* m) {
  for (int j = 0; j < m->nother; j++) {
    const tbBlock* b = &m->p->block[m->other[j]];
    for (int k = b->row; k < b->row + b->dim; k++) m->lambda[k] = m->S[k] * m->unit * m->x[k];
  }
}

tbReal tb_interior_residual(tbInteriorState* m, tbReal sum) {
  for (int j = 0; j < m->nother; j++) {
    const tbBlock* b = &m->p->block[m->other[j]];
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
    if (is_cone(b) && m->shifted) m->r[b->row] += tb_lorentz_tail(b->dim, m->z + b->row);
    for (int k = b->row; k < b->row + b->dim; k++) {
      m->infeasible = tb_max(m->infeasible, fabs(m->r[k]));
    }
  }
  return sum;
}

// ---- the matrix --------------------------------------------------------------------------------

// K <- (K^-1 + R)^-1 if only the first row has compliance, as for contacts that are pushed apart: a
// change of rank one, with K_00 > 0. The first row and column are divided rather than subtracted,
// because the difference would be rounding error if R K_00 is large.
static void comply_first(int d, tbReal R, tbReal* K) {
  tbReal keep = 1 / (1 + R * K[0]);
  for (int r = 1; r < d; r++) {
    tbReal f = R * keep * K[r * d];
    for (int c = 1; c < d; c++) K[r * d + c] -= f * K[c];
  }
  for (int r = 1; r < d; r++) K[r * d] *= keep;
  for (int c = 0; c < d; c++) K[c] *= keep;
}

// K <- (I + K R)^-1 K by elimination with row exchanges: the inverse of K^-1 + R.
static void comply_all(int d, const tbReal* R, tbReal* K) {
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

void tb_interior_comply(int d, const tbReal* R, tbReal* K) {
  tbReal others = 0;
  for (int r = 1; r < d; r++) others = tb_max(others, R[r]);
  if (others > 0) {
    comply_all(d, R, K);
  } else if (R[0] > 0) {
    comply_first(d, R[0], K);
  }
}

// The scaling of a cone and (E H)^-1.
static void cone_inverse(tbInteriorState* m, int i, int d, tbReal* K) {
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

static tbReal row_stiffness(const tbInteriorState* m, const tbBlock* b, int k) {
  tbReal stiff = 0;
  if (b->type == TB_BLOCK_ONE_SIDED) return m->z[k] / m->x[k];
  if (b->type == TB_BLOCK_EQUALITY) return RIDGE;
  if (!(m->low[k] < m->high[k])) return FIXED;
  if (m->zlow[k] > 0) stiff += m->zlow[k] / (m->x[k] - m->low[k]);
  if (m->zhigh[k] > 0) stiff += m->zhigh[k] / (m->high[k] - m->x[k]);
  return stiff > 0 ? stiff : RIDGE;
}

// C^-1 of a block, and its contribution to the matrix of (1).
static void add_block(tbInteriorState* m, int i) {
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
    tbReal R[MAX] = {0};
    for (int r = 0; r < d; r++) R[r] = S[r] * S[r] * m->p->R[b->row + r];
    tb_interior_comply(d, R, K);
  }
  for (int r = 0; r < d; r++) {
    for (int c = 0; c < d; c++) W[r * d + c] = S[r] * K[r * d + c] * S[c];
  }
  tb_velocity_add(m->a->system, i, W);
}

void tb_interior_add(tbInteriorState* m) {
  for (int j = 0; j < m->nother; j++) add_block(m, m->other[j]);
}

// ---- right-hand sides --------------------------------------------------------------------------

// c of a cone for complementarity `target`, with the second-order term of the affine step if
// `correct`.
static void cone_target(tbInteriorState* m, int i, int d, tbReal target, bool correct) {
  int row = m->p->block[i].row;
  const tbReal* dx = correct ? m->ax + row : NULL;
  // For zero complementarity the target cancels the scaled point: c = -V V^-1 z.
  if (target == 0 && !correct) {
    for (int r = 0; r < d; r++) m->c[row + r] = -m->z[row + r];
    return;
  }
  tb_lorentz_target(d, &m->scaling[i], target, dx, m->az + row, m->c + row);
}

// For a box row, c is the change of zlow - zhigh by the linearised complementarity at dx = 0.
void tb_interior_target(tbInteriorState* m, tbReal target, bool correct) {
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

static bool tangents_yield(const tbInteriorState* m, const tbBlock* b) {
  bool any = false;
  for (int k = b->row + 1; k < b->row + b->dim && m->p->R; k++) any = any || m->p->R[k] > 0;
  return any;
}

// theta t^T v: the contribution of E^-1 to the first row.
static tbReal shift_of(const tbInteriorState* m, int i, const tbReal* v) {
  const tbBlock* b = &m->p->block[i];
  tbReal length = tb_lorentz_tail(b->dim, m->z + b->row), along = 0;
  for (int r = 1; r < b->dim; r++) along += m->z[b->row + r] * v[r];
  return length > 0 ? m->theta[i] * along / length : 0;
}

// d = K v of a block; for a cone the other entries follow from d_0 as in cones_simd.c.
static void solve_local(const tbInteriorState* m, int i, const tbReal* v, tbReal* d) {
  const tbBlock* b = &m->p->block[i];
  multiply(b->dim, m->K + (size_t)i * MAX * MAX, v, d);
  if (!is_cone(b) || tangents_yield(m, b)) return;
  const tbReal* w = m->scaling[i].w;
  tbReal square = m->scaling[i].eta * m->scaling[i].eta, along = w[0] * square * d[0];
  for (int r = 1; r < b->dim; r++) along += w[r] * v[r];
  along *= 2 / (2 * w[0] * w[0] - 1);
  for (int r = 1; r < b->dim; r++) d[r] = (v[r] - along * w[r]) / square;
}

// The right-hand side b = E c - r of a block, and its impulse S K b.
static void push_block(tbInteriorState* m, int i) {
  const tbBlock* block = &m->p->block[i];
  int row = block->row, d = block->dim;
  tbReal f[MAX], *b = m->b + row;
  const tbReal* c = m->c + row;
  for (int r = 0; r < d; r++) {
    bool fixed = block->type == TB_BLOCK_BOX && !(m->low[row + r] < m->high[row + r]);
    b[r] = fixed ? 0 : c[r] - m->r[row + r];
  }
  if (is_cone(block)) b[0] -= shift_of(m, i, c);
  solve_local(m, i, b, f);
  for (int r = 0; r < d; r++) f[r] *= m->S[row + r];
  tb_velocity_apply_transposed(m->a->system, i, f, m->dv);
}

void tb_interior_push(tbInteriorState* m) {
  for (int j = 0; j < m->nother; j++) push_block(m, m->other[j]);
}

// ---- steps -------------------------------------------------------------------------------------

// dx = K (b - S J dv) and dz of a block.
static void solve_block(tbInteriorState* m, int i, tbReal target, tbReal* dx, tbReal* dz) {
  const tbBlock* block = &m->p->block[i];
  int row = block->row, d = block->dim;
  tbReal velocity[TB_ROWS_DIM];
  tb_velocity_mul(m->a->system, i, m->dv, velocity);
  for (int r = 0; r < d; r++) {
    m->jv[row + r] = velocity[r];
    velocity[r] = m->b[row + r] - m->S[row + r] * velocity[r];
  }
  solve_local(m, i, velocity, dx + row);
  if (is_cone(block)) {
    for (int k = row; k < row + d; k++) {
      tbReal compliance = m->p->R ? m->S[k] * m->p->R[k] * dx[k] : 0;
      dz[k] = m->r[k] + m->S[k] * (m->jv[k] + compliance);
    }
    dz[row] += shift_of(m, i, dz + row);
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

void tb_interior_solve(tbInteriorState* m, tbReal target, bool affine) {
  tbReal *dx = affine ? m->ax : m->dx, *dz = affine ? m->az : m->dz;
  for (int j = 0; j < m->nother; j++) solve_block(m, m->other[j], target, dx, dz);
}

// The minimum of `a` and the largest step that keeps x and z of a cone inside. Cones are convex: if
// a step of length a ends inside, no root is needed.
static tbReal cone_step(const tbInteriorState* m, const tbBlock* b, const tbReal* dx,
                        const tbReal* dz, tbReal a) {
  const tbReal *x = m->x + b->row, *z = m->z + b->row;
  int d = b->dim, row = b->row;
  if (!tb_lorentz_holds(d, x, dx + row, a)) a = tb_min(a, tb_lorentz_step(d, x, dx + row));
  if (!tb_lorentz_holds(d, z, dz + row, a)) a = tb_min(a, tb_lorentz_step(d, z, dz + row));
  return a;
}

tbReal tb_interior_length(const tbInteriorState* m, bool affine, tbReal a) {
  const tbReal *dx = affine ? m->ax : m->dx, *dz = affine ? m->az : m->dz;
  for (int j = 0; j < m->nother; j++) {
    const tbBlock* b = &m->p->block[m->other[j]];
    if (is_cone(b)) {
      a = cone_step(m, b, dx, dz, a);
      continue;
    }
    for (int k = b->row; k < b->row + b->dim; k++) {
      if (b->type == TB_BLOCK_ONE_SIDED) {
        a = tb_min(a, tb_pair_step(m->x[k], dx[k], m->z[k], dz[k]));
      } else if (b->type == TB_BLOCK_BOX && m->zlow[k] > 0) {
        a = tb_min(a, tb_pair_step(m->x[k] - m->low[k], dx[k], m->zlow[k], m->dlow[k]));
      }
      if (b->type == TB_BLOCK_BOX && m->zhigh[k] > 0) {
        a = tb_min(a, tb_pair_step(m->high[k] - m->x[k], -dx[k], m->zhigh[k], m->dhigh[k]));
      }
    }
  }
  return a;
}

tbReal tb_interior_complementarity(const tbInteriorState* m, tbReal a, tbReal sum) {
  for (int j = 0; j < m->nother; j++) {
    const tbBlock* b = &m->p->block[m->other[j]];
    for (int k = b->row; k < b->row + b->dim; k++) {
      tbReal x = m->x[k] + a * m->ax[k];
      if (b->type != TB_BLOCK_BOX) {
        sum += x * (m->z[k] + a * m->az[k]);
        continue;
      }
      if (m->zlow[k] > 0) sum += (m->zlow[k] + a * m->dlow[k]) * (x - m->low[k]);
      if (m->zhigh[k] > 0) sum += (m->zhigh[k] + a * m->dhigh[k]) * (m->high[k] - x);
    }
  }
  return sum;
}

// Add a . a, a . t, t . t of one block's rows.
static void add_squares(int d, const tbReal* a, const tbReal* t, tbReal product[3]) {
  for (int r = 0; r < d; r++) {
    product[0] += a[r] * a[r];
    product[1] += a[r] * t[r];
    product[2] += t[r] * t[r];
  }
}

// In the scaled coordinates, V dx and V^-1 dz, the scalar products are Euclidean.
void tb_interior_lengths(const tbInteriorState* m, tbReal product[3]) {
  for (int j = 0; j < m->nother; j++) {
    int i = m->other[j], row = m->p->block[i].row, d = m->p->block[i].dim;
    tbReal t[2][MAX], scaled[2][MAX];
    const tbReal* a[2] = {m->ax + row, m->az + row};
    for (int r = 0; r < d; r++) {
      t[0][r] = m->dx[row + r] - a[0][r];
      t[1][r] = m->dz[row + r] - a[1][r];
    }
    for (int k = 0; k < 2 && is_cone(&m->p->block[i]); k++) {
      tb_lorentz_scale(d, &m->scaling[i], k ? -1 : 1, a[k], scaled[0]);
      tb_lorentz_scale(d, &m->scaling[i], k ? -1 : 1, t[k], scaled[1]);
      add_squares(d, scaled[0], scaled[1], product);
    }
    for (int r = 0; r < d && m->p->block[i].type == TB_BLOCK_ONE_SIDED; r++) {
      tbReal V = sqrt(m->z[row + r] / m->x[row + r]);
      add_squares(1, &(tbReal){V * a[0][r]}, &(tbReal){V * t[0][r]}, product);
      add_squares(1, &(tbReal){a[1][r] / V}, &(tbReal){t[1][r] / V}, product);
    }
  }
}

void tb_interior_go(tbInteriorState* m, tbReal a) {
  const tbReal* R = m->p->R;
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
