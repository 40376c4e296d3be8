// The first point of the interior-point method in velocity space: scales, and the central path near
// a guess.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/interior_point/state.h"

static bool allocate(tbInteriorState* m, tbArena* arena) {
  size_t n = (size_t)m->p->n + 1, blocks = (size_t)m->p->nblock + 1;
  tbReal** vectors[] = {&m->S,    &m->x,     &m->z,      &m->r,     &m->dx,   &m->dz,   &m->c,
                        &m->b,    &m->ax,    &m->az,     &m->low,   &m->high, &m->zlow, &m->zhigh,
                        &m->dlow, &m->dhigh, &m->lambda, &m->sigma, &m->jv};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
    *vectors[k] = TB_ARENA_NEW(arena, tbReal, n);
  }
  m->K = tb_arena_alloc(arena, sizeof(tbReal) * TB_MAX_BLOCK_DIM * TB_MAX_BLOCK_DIM * blocks);
  m->other = tb_arena_alloc(arena, sizeof(int) * blocks);
  m->contact = tb_arena_alloc(arena, sizeof(int) * blocks);
  m->rows = tb_arena_alloc(arena, sizeof(tbReal) * TB_CONE_ROWS * blocks);
  m->four = tb_arena_alloc(arena, sizeof(tbConeSimd) * (blocks / TB_CONE_LANES + 1));
  m->theta = TB_ARENA_NEW(arena, tbReal, blocks);
  m->scaling = tb_arena_alloc(arena, sizeof(tbLorentz) * blocks);
  m->dv = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(m->a->system->size + 1));
  return !arena->failed;
}

// Scales that make cones round and give all rows similar energies.
static void set_scale(tbInteriorState* m) {
  tbReal largest = 0;
  for (int i = 0; i < m->p->nblock; i++) {
    const tbBlock* b = &m->p->block[i];
    const tbReal *rho = m->a->rho + b->row, *g = m->p->g + b->row;
    bool cone = b->type == TB_BLOCK_CONE;
    tbReal* S = m->S + b->row;
    for (int r = 0; r < b->dim; r++) {
      S[r] = (cone && r > 0 ? b->mu[r - 1] : 1) / sqrt(rho[cone ? 0 : r]);
      largest = tb_max(largest, fabs(S[r] * g[r]));
    }
  }
  m->unit = largest > 0 ? largest : 1;
}

// The point of the central path near (x, z) in the algebra of the cone, by its two eigenvalues.
static void central_cone(int d, tbReal mu, tbReal* x, tbReal* z) {
  tbReal y[TB_MAX_BLOCK_DIM] = {0}, x1, x2, z1, z2;
  for (int r = 0; r < d; r++) y[r] = x[r] - z[r];
  tbReal tail = tb_lorentz_tail(d, y);
  tb_central_pair(y[0] + tail, mu, &x1, &z1);
  tb_central_pair(y[0] - tail, mu, &x2, &z2);
  x[0] = 0.5 * (x1 + x2);
  z[0] = 0.5 * (z1 + z2);
  for (int r = 1; r < d; r++) {
    tbReal u = tail > 0 ? y[r] / tail : 0;
    x[r] = 0.5 * (x1 - x2) * u;
    z[r] = 0.5 * (z1 - z2) * u;
  }
}

static void first_box(tbInteriorState* m, const tbBlock* b, int k, tbReal center) {
  tbReal step = m->S[k] * m->unit;
  m->low[k] = b->lower / step;
  m->high[k] = b->upper / step;
  tbReal room = m->high[k] - m->low[k],
         inset = isfinite(room) ? tb_min(center, 0.25 * room) : center;
  if (!(room > 0)) {
    m->x[k] = m->low[k];
    return;
  }
  m->x[k] = tb_min(m->high[k] - inset, tb_max(m->low[k] + inset, m->lambda[k] / step));
  m->zlow[k] = isfinite(m->low[k]) ? center : 0;
  m->zhigh[k] = isfinite(m->high[k]) ? center : 0;
  m->pairs += isfinite(m->low[k]) + isfinite(m->high[k]);
}

// The largest impulse of a contact, because light bodies may carry far more than their weight.
static tbReal largest_load(const tbInteriorState* m) {
  tbReal largest = 1;
  for (int i = 0; i < m->p->nblock; i++) {
    const tbBlock* b = &m->p->block[i];
    if (b->type != TB_BLOCK_CONE) continue;
    largest = tb_max(largest, m->lambda[b->row] / (m->S[b->row] * m->unit));
  }
  return largest;
}

// The point of the central path near lambda and its velocity sigma with complementarity `mu`.
static void first_point(tbInteriorState* m, tbReal mu) {
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
        tb_central_pair(x[r] - z[r], mu, &x[r], &z[r]);
        m->pairs++;
      }
    }
    if (b->type != TB_BLOCK_CONE) continue;
    if (m->shifted) z[0] += tb_lorentz_tail(b->dim, z);
    central_cone(b->dim, mu, x, z);
    m->pairs++;
  }
}

bool tb_interior_start(tbInteriorState* m, tbArena* arena, tbReal mu, const tbReal* lambda,
                       const tbReal* sigma) {
  size_t bytes = sizeof(tbReal) * (size_t)m->p->n;
  if (!allocate(m, arena)) return false;
  set_scale(m);
  memcpy(m->lambda, lambda, bytes);
  memcpy(m->sigma, sigma, bytes);
  first_point(m, mu * largest_load(m));
  return true;
}
