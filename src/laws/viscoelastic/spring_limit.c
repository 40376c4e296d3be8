// Limits of the viscoelastic law's forces, and the derivatives of limited forces by unlimited ones.
//
// Friction outside the cone is projected on the ellipse sum (f_i / mu_i)^2 = N^2, to the nearest
// point in the metric of the springs. The anchor moves by K^-1 (raw - f), so it slips along the
// normal of the ellipse, the direction of maximum dissipation. In x_i = f_i / mu_i
//   x_i = e_i raw_i / mu_i,   e_i = 1 / (1 + nu c_i),   |x| = N                                (1)
// with c_i = K_i / mu_i^2 relative to the contact's stiffness: 1 / mu_i^2 for sliding, 1 for
// torsion and rolling, whose springs have the arm mu_i. If all c_i are equal, as for two rows of
// sliding with one coefficient, this is a radial projection.
#include <math.h>
#include <string.h>

#include "laws/viscoelastic/viscoelastic.h"

// Whether a constraint has unlimited forces.
static bool is_unlimited(const tbModel* m, const tbConstraint* c) {
  return c->source == TB_SOURCE_EQUALITY ||
         (c->source == TB_SOURCE_CONTACT && m->opt.contact_bilateral);
}

static tbReal yield_of(const tbReal* mu, int r) {
  return r < 3 ? 1 / (mu[r - 1] * mu[r - 1]) : 1;
}

// |x| of the forces of rows 1 on.
static tbReal cone_size(const tbReal* force, const tbReal* mu, int dim) {
  tbReal square = 0;
  for (int r = 1; r < dim; r++) square += force[r] * force[r] / (mu[r - 1] * mu[r - 1]);
  return sqrt(square);
}

// e_i of (1) for an unlimited force of size > raw[0] > 0. Newton's method on 1 / |x|, which is
// concave in nu, approaches the root from below.
static void find_cut(const tbReal* mu, int dim, const tbReal* raw, tbReal size, tbReal* e) {
  bool radial = true;
  for (int r = 2; r < dim; r++) radial = radial && yield_of(mu, r) == yield_of(mu, 1);
  tbReal normal = raw[0], nu = 0;
  for (int r = 1; r < dim; r++) e[r] = radial ? normal / size : 1;
  const tbReal enough = 1e-14;
  enum { MOST = 100 };
  for (int k = 0; k < MOST && !radial && size > (1 + enough) * normal; k++) {
    tbReal slope = 0, square = 0;
    for (int r = 1; r < dim; r++) {
      tbReal x = e[r] * raw[r] / mu[r - 1];
      slope += x * x * yield_of(mu, r) * e[r];
    }
    nu += (size / normal - 1) * size * size / slope;
    for (int r = 1; r < dim; r++) {
      e[r] = 1 / (1 + nu * yield_of(mu, r));
      square += raw[r] * e[r] * raw[r] * e[r] / (mu[r - 1] * mu[r - 1]);
    }
    size = sqrt(square);
  }
}

int tb_spring_limit(const tbModel* m, const tbData* d, const tbConstraint* c, tbReal* force) {
  if (is_unlimited(m, c)) return 0;
  if (tb_is_dry_friction(c)) {
    if (fabs(force[0]) <= c->bound) return 0;
    force[0] = copysign(c->bound, force[0]);
    return 1;
  }
  if (!(force[0] > 0)) {
    for (int r = 0; r < c->dim; r++) force[r] = 0;
    return 1;
  }
  if (c->dim < 3) return 0;
  const tbReal* mu = d->contact[c->id].friction;
  tbReal size = cone_size(force, mu, c->dim), e[TB_MAX_BLOCK_DIM];
  if (!(size > force[0])) return 0;
  find_cut(mu, c->dim, force, size, e);
  for (int r = 1; r < c->dim; r++) force[r] *= e[r];
  return 1;
}

// From (1): dx_i = e_i dx0_i - x_i e_i (c_i dnu + nu dc_i), x0_i = raw_i / mu_i, and x . dx = N dN.
int tb_limit_slope(const tbModel* m, const tbData* d, const tbConstraint* c, const tbReal* raw,
                   tbReal* L, tbReal* by_friction) {
  int dim = c->dim;
  memset(L, 0, sizeof(tbReal) * (size_t)(dim * dim));
  memset(by_friction, 0, sizeof(tbReal) * (size_t)dim);
  bool free = is_unlimited(m, c), dry = tb_is_dry_friction(c);
  if (!free && dry && !(fabs(raw[0]) <= c->bound)) return 0;
  if (!free && !dry && !(raw[0] > 0)) return 0;
  for (int r = 0; r < dim; r++) L[r * dim + r] = 1;
  if (free || dry || dim < 3) return 1;
  const tbReal* mu = d->contact[c->id].friction;
  tbReal size = cone_size(raw, mu, dim), normal = raw[0], e[TB_MAX_BLOCK_DIM];
  if (!(size > normal)) return 1;
  find_cut(mu, dim, raw, size, e);
  // x_i, and the part of dx_i without dnu, by the coefficient of sliding.
  tbReal x[TB_MAX_BLOCK_DIM], own[TB_MAX_BLOCK_DIM], divisor = 0, turn = 0;
  for (int r = 1; r < dim; r++) {
    x[r] = e[r] * raw[r] / mu[r - 1];
    own[r] = r < 3 ? x[r] * (1 - 2 * e[r]) / mu[r - 1] : 0;
    divisor += x[r] * x[r] * yield_of(mu, r) * e[r];
    turn += x[r] * own[r];
  }
  for (int i = 1; i < dim; i++) {
    tbReal along = mu[i - 1] * x[i] * yield_of(mu, i) * e[i] / divisor;
    L[i * dim] = along * normal;
    for (int j = 1; j < dim; j++) {
      L[i * dim + j] = (i == j) * e[i] - along * x[j] * e[j] / mu[j - 1];
    }
    by_friction[i] = (i < 3 ? x[i] : 0) + mu[i - 1] * own[i] - along * turn;
  }
  return 1;
}

int tb_limit_near(const tbModel* m, const tbData* d, const tbConstraint* c, const tbReal* raw,
                  tbReal near) {
  if (c->source == TB_SOURCE_EQUALITY) return 0;
  if (tb_is_dry_friction(c)) return fabs(fabs(raw[0]) - c->bound) < near;
  if (is_unlimited(m, c)) return 0;
  if (fabs(raw[0]) <= near) return 1;
  if (c->dim < 3 || raw[0] < 0) return 0;
  return fabs(cone_size(raw, d->contact[c->id].friction, c->dim) - raw[0]) < near;
}

// Maximum dissipation: x against y_i = mu_i v_i.
void tb_slip_direction(const tbData* d, const tbConstraint* c, const tbReal* velocity, tbReal turn,
                       tbReal* friction) {
  const tbReal* mu = d->contact[c->id].friction;
  tbReal square = 0, along = 0, size = 0;
  for (int r = 1; r < c->dim; r++) {
    square += mu[r - 1] * velocity[r] * mu[r - 1] * velocity[r];
    along -= velocity[r] * friction[r];
  }
  // A slip that has nearly stopped says little about its direction.
  if (!isfinite(square) || !(along > 0.5 * sqrt(square))) return;
  for (int r = 1; r < c->dim; r++) {
    tbReal old = friction[r];
    friction[r] = -mu[r - 1] * mu[r - 1] * velocity[r] / sqrt(square);
    if (turn > 1) friction[r] = old + (friction[r] - old) / turn;
    size += friction[r] / mu[r - 1] * friction[r] / mu[r - 1];
  }
  // A point between both directions lies on a chord of the cone's ellipse; scale it to the
  // boundary.
  for (int r = 1; r < c->dim && turn > 1; r++) friction[r] /= sqrt(size);
}
