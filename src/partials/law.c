// The laws of one block, differentiated at a solution (docs/notebook/derivatives.md, eq. 38-43).
//
// With w_i = mu_i^2 sigma_i / s and s = sqrt(sum mu_j^2 sigma_j^2), a sliding contact has
// f_i = -f_N w_i. The rows are scaled by s / f_N, so that across the slip they tend to those of
// sticking as s -> 0.
#include "partials/law.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "dynamics/axis.h"
#include "tribo/step.h"

// ---- modes --------------------------------------------------------------------------------------

static tbReal slip_speed(const tbLawBlock* b, const tbReal* sigma) {
  tbReal sum = 0;
  for (int i = 1; i < b->dim; i++) {
    tbReal s = b->mu[i - 1] * sigma[i];
    sum += s * s;
  }
  return sqrt(sum);
}

static tbReal friction_used(const tbLawBlock* b) {
  tbReal sum = 0;
  for (int i = 1; i < b->dim; i++) {
    tbReal s = b->mu[i - 1] > 0 ? b->force[i] / b->mu[i - 1] : 0;
    sum += s * s;
  }
  return sqrt(sum);
}

// A solver has not decided which of two complementary quantities is zero if both are within
// UNDECIDED tolerances of zero and neither is below UNLIKE times the other.
static const tbReal UNDECIDED = 1e3, UNLIKE = 1e-4;

// Relative to the largest force: velocities (as forces) below ROUNDING are rounding errors, and a
// contact force below NOTHING counts as zero.
static const tbReal ROUNDING = 1e-13, NOTHING = 1e-12;

// 1 if the first of two complementary quantities, a force and a velocity, is the one that is zero.
// This is unknown if both are zero, except that a velocity at the rounding level counts as zero, or
// if the solver has not decided.
static int first_is_zero(tbLawBlock* b, tbReal force, tbReal speed, tbReal scale) {
  tbReal other = b->stiffness * speed, small = b->tolerance * scale;
  tbReal larger = tb_max(fabs(force), fabs(other)), smaller = tb_min(fabs(force), fabs(other));
  b->near_change |= larger <= small || (larger <= UNDECIDED * small && smaller > UNLIKE * larger);
  return other > tb_max(force, ROUNDING * scale);
}

tbLawMode tb_law_mode(tbLawBlock* b) {
  const tbReal *f = b->force, *sigma = b->sigma;
  b->near_change = 0;
  if (b->kind == TB_BLOCK_EQUALITY) return TB_MODE_STICK;
  if (b->kind == TB_BLOCK_BOX) {
    tbReal room = b->bound - fabs(f[0]);
    return first_is_zero(b, room, fabs(sigma[0]), b->bound) ? TB_MODE_FREE : TB_MODE_STICK;
  }
  tbReal scale = tb_max(b->scale, fabs(f[0]));
  for (int i = 0; i < b->dim; i++) scale = tb_max(scale, b->stiffness * fabs(sigma[i]));
  // A contact without force, among others with force, is separated.
  int carries = f[0] > NOTHING * scale;
  if (b->kind == TB_BLOCK_ONE_SIDED) {
    return !carries || first_is_zero(b, f[0], sigma[0], scale) ? TB_MODE_FREE : TB_MODE_STICK;
  }
  tbReal slip = slip_speed(b, sigma), open = sigma[0];
  if (b->law == TB_LAW_CCP) open -= slip;
  if (first_is_zero(b, f[0], open, scale) || !carries) return TB_MODE_FREE;
  if (b->law == TB_LAW_LCP) {
    int any = 0;
    for (int i = 1; i < b->dim; i++) {
      tbReal room = b->mu[i - 1] * f[0] - fabs(f[i]);
      any |= first_is_zero(b, room, fabs(sigma[i]), scale);
    }
    return any ? TB_MODE_SLIDE : TB_MODE_STICK;
  }
  int slides = first_is_zero(b, f[0] - friction_used(b), slip, scale);
  return slides ? TB_MODE_SLIDE : TB_MODE_STICK;
}

// ---- rows ---------------------------------------------------------------------------------------

static void stick(int dim, tbActiveRows* out) {
  for (int i = 0; i < dim; i++) out->by_sigma[i * dim + i] = 1;
}

// Derivatives of w_i = mu_i^2 sigma_i / s (into dw) and of the slip speed s (into ds) when both
// sliding friction coefficients change by the same amount.
static void by_coefficient(const tbLawBlock* b, const tbReal* sigma, tbReal s, tbReal* dw,
                           tbReal* ds) {
  *ds = 0;
  int last = b->dim < 3 ? b->dim : 3;
  for (int i = 1; i < last; i++) *ds += b->mu[i - 1] * sigma[i] * sigma[i] / s;
  for (int i = 1; i < b->dim; i++) {
    tbReal w = b->mu[i - 1] * b->mu[i - 1] * sigma[i] / s;
    dw[i] = (i < last ? 2 * b->mu[i - 1] * sigma[i] / s : 0) - w * *ds / s;
  }
}

// Along the slip y the rows contain forces only, scaled by s / f_N: give that direction its own
// scale 1 / stiffness, so that a slow slip does not make the rows singular.
static void scale_along_slip(const tbLawBlock* b, const tbReal* y, tbReal ratio,
                             tbActiveRows* out) {
  int dim = b->dim;
  tbReal length = 0, friction = 0, factor = 1 / (ratio * b->stiffness) - 1;
  for (int i = 1; i < dim; i++) length += y[i] * y[i];
  if (!(length > 0) || !isfinite(factor)) return;
  for (int j = 0; j < dim; j++) {
    tbReal along = 0;
    for (int i = 1; i < dim; i++) along += y[i] * out->by_force[i * dim + j];
    for (int i = 1; i < dim; i++) out->by_force[i * dim + j] += factor * along * y[i] / length;
  }
  for (int i = 1; i < dim; i++) friction += y[i] * out->by_friction[i];
  for (int i = 1; i < dim; i++) out->by_friction[i] += factor * friction * y[i] / length;
}

// Tangential rows of a sliding contact: (s/f_N)(df_i + w_i df_N) + mu_i^2 dy_i - w_i sum w_j dy_j,
// with dy = dsigma (RaiSim's y has more terms, see tb_law_raisim). `smooth` rounds the corner at
// zero slip.
static void slide_rows(const tbLawBlock* b, const tbReal* y, tbReal smooth, tbReal normal,
                       tbReal w[TB_MAX_DIM], tbActiveRows* out) {
  int dim = b->dim;
  tbReal slip = slip_speed(b, y), s = sqrt(slip * slip + smooth * smooth), ratio = s / normal;
  tbReal dw[TB_MAX_DIM], ds;
  w[0] = 0;
  for (int i = 1; i < dim; i++) w[i] = b->mu[i - 1] * b->mu[i - 1] * y[i] / s;
  by_coefficient(b, y, s, dw, &ds);
  for (int i = 1; i < dim; i++) {
    out->by_force[i * dim + i] = ratio;
    out->by_force[i * dim] = ratio * w[i];
    for (int j = 1; j < dim; j++) out->by_sigma[i * dim + j] = -w[i] * w[j];
    out->by_sigma[i * dim + i] += b->mu[i - 1] * b->mu[i - 1];
    out->by_friction[i] = -s * dw[i];
  }
  if (smooth == 0) scale_along_slip(b, y, ratio, out);
}

// The pyramid: every tangent sticks or slides independently.
static void pyramid_rows(const tbLawBlock* b, tbActiveRows* out) {
  int dim = b->dim;
  out->by_sigma[0] = 1;
  for (int i = 1; i < dim; i++) {
    tbReal limit = b->mu[i - 1] * b->force[0], room = limit - fabs(b->force[i]);
    if (b->stiffness * fabs(b->sigma[i]) <= room) {
      out->by_sigma[i * dim + i] = 1;
      continue;
    }
    tbReal sign = b->sigma[i] > 0 ? 1 : -1;
    out->by_force[i * dim + i] = 1 / b->stiffness;
    out->by_force[i * dim] = sign * b->mu[i - 1] / b->stiffness;
    if (i < 3) out->by_friction[i] = -sign * b->force[0] / b->stiffness;
  }
}

// Complementarity of f >= 0 and speed >= 0 smoothed: f = (p + sqrt(p^2 + 4 (k e)^2)) / 2 at
// p = f - k speed, so that (1 - t) df / k + t dspeed = 0 with t = df/dp (eq. 43).
static void relaxed_normal(const tbLawBlock* b, tbReal* normal, tbActiveRows* out) {
  tbReal e = b->stiffness * b->relaxation, p = b->force[0] - b->stiffness * b->sigma[0];
  tbReal root = sqrt(p * p + 4 * e * e), t = 0.5 * (1 + p / root);
  *normal = 0.5 * (p + root);
  out->by_sigma[0] = t;
  out->by_force[0] = (1 - t) / b->stiffness;
}

static void relaxed(const tbLawBlock* b, tbActiveRows* out) {
  tbReal normal, w[TB_MAX_DIM];
  relaxed_normal(b, &normal, out);
  if (b->dim > 1) slide_rows(b, b->sigma, b->relaxation, tb_max(normal, 1e-300), w, out);
  memset(out->by_friction, 0, sizeof out->by_friction);
}

void tb_law_linearize(const tbLawBlock* b, tbLawMode mode, tbActiveRows* out) {
  int dim = b->dim;
  memset(out->by_sigma, 0, sizeof out->by_sigma);
  memset(out->by_force, 0, sizeof out->by_force);
  memset(out->by_friction, 0, sizeof out->by_friction);
  if (b->relaxation > 0 && (b->kind == TB_BLOCK_CONE || b->kind == TB_BLOCK_ONE_SIDED)) {
    relaxed(b, out);
    return;
  }
  if (mode == TB_MODE_FREE) {
    for (int r = 0; r < dim; r++) out->by_force[r * dim + r] = 1;
    return;
  }
  if (mode == TB_MODE_STICK) {
    stick(dim, out);
    return;
  }
  if (b->law == TB_LAW_LCP) {
    pyramid_rows(b, out);
    return;
  }
  tbReal w[TB_MAX_DIM];
  slide_rows(b, b->sigma, 0, b->force[0], w, out);
  out->by_sigma[0] = 1;
  if (b->law == TB_LAW_CCP) {
    // sigma_N = s
    tbReal dw[TB_MAX_DIM], ds;
    for (int j = 1; j < dim; j++) out->by_sigma[j] = -w[j];
    by_coefficient(b, b->sigma, slip_speed(b, b->sigma), dw, &ds);
    out->by_friction[0] = ds;
  }
}

// ---- RaiSim -------------------------------------------------------------------------------------

// Here f opposes y = sigma + alpha A with alpha A_N = s(y), so that
// dy = dsigma + A dalpha + alpha dA and (A_N - w . A) dalpha = w . (dsigma + alpha dA) - alpha dA_N
// (eq. 42).
void tb_law_raisim(const tbLawBlock* b, const tbReal* A, const tbReal* dA, int stride,
                   tbActiveRows* out, tbReal* E) {
  int dim = b->dim;
  tbReal y[TB_MAX_DIM] = {0}, w[TB_MAX_DIM] = {0}, reach = 0, power = 0, gain = A[0];
  for (int i = 0; i < dim; i++) {
    reach += b->force[i] * A[i];
    power += b->force[i] * b->sigma[i];
  }
  tbReal alpha = reach != 0 ? -power / reach : 0;
  for (int i = 0; i < dim; i++) y[i] = b->sigma[i] + alpha * A[i];
  memset(out->by_sigma, 0, sizeof out->by_sigma);
  memset(out->by_force, 0, sizeof out->by_force);
  slide_rows(b, y, 0, b->force[0], w, out);
  out->by_sigma[0] = 1;
  for (int i = 1; i < dim; i++) gain -= w[i] * A[i];
  if (gain == 0) return;

  // P = mu^2 - w w^T acts on dy, which also contains w . dsigma through dalpha.
  tbReal PA[TB_MAX_DIM] = {0}, dw[TB_MAX_DIM], ds;
  tbReal P[TB_MAX_DIM * TB_MAX_DIM];
  memcpy(P, out->by_sigma, sizeof P);
  for (int i = 1; i < dim; i++) {
    for (int j = 1; j < dim; j++) PA[i] += P[i * dim + j] * A[j] / gain;
  }
  for (int i = 1; i < dim; i++) {
    for (int j = 1; j < dim; j++) out->by_sigma[i * dim + j] += PA[i] * w[j];
  }
  by_coefficient(b, y, slip_speed(b, y), dw, &ds);
  for (int i = 1; i < dim; i++) out->by_friction[i] -= PA[i] * ds;
  for (int k = 0; k < stride; k++) {
    tbReal rate = -dA[k];
    for (int j = 1; j < dim; j++) rate += w[j] * dA[(size_t)j * (size_t)stride + (size_t)k];
    for (int i = 1; i < dim; i++) {
      tbReal sum = PA[i] * rate;
      for (int j = 1; j < dim; j++) {
        sum += P[i * dim + j] * dA[(size_t)j * (size_t)stride + (size_t)k];
      }
      E[(size_t)i * (size_t)stride + (size_t)k] -= alpha * sum;
    }
  }
}

// ---- kinetic energy -----------------------------------------------------------------------------

// d(u^T M u / 2)/dq_k = (momentum of the bodies that k moves) . dS_k, with velocities from u (eq.
// 45).
void tb_kinetic_gradient(const tbModel* m, const tbData* d, const tbReal* u, tbReal* out,
                         tbReal* scratch) {
  tbReal *velocity = scratch, *momentum = scratch + 6 * m->nbody;
  tb_zero6(velocity);
  for (int b = 1; b < m->nbody; b++) {
    tbReal* v = velocity + 6 * b;
    tb_copy6(v, velocity + 6 * m->body_parentid[b]);
    int first = m->body_dofadr[b], end = first + m->body_dofnum[b];
    for (int i = first; i < end; i++) tb_add_scaled6(v, v, u[i], d->cdof + 6 * i);
    tb_inertia_mul(momentum + 6 * b, d->cinert + 10 * b, v);
  }
  for (int b = m->nbody - 1; b > 0; b--) {
    tbReal* parent = momentum + 6 * m->body_parentid[b];
    if (m->body_parentid[b]) tb_add6(parent, parent, momentum + 6 * b);
  }
  for (int k = 0; k < m->nv; k++) {
    // Velocity before dof k: without the dofs of its body that k moves.
    int body = m->dof_bodyid[k];
    tbReal before[6], rate[6];
    out[k] = 0;
    if (tb_is_free_translation(m, k)) continue;
    tb_copy6(before, velocity + 6 * m->body_parentid[body]);
    for (int i = m->body_dofadr[body]; i < m->body_dofadr[body] + m->body_dofnum[body]; i++) {
      if (i != k && !tb_axis_moves(m, k, i)) tb_add_scaled6(before, before, u[i], d->cdof + 6 * i);
    }
    tb_motion_cross(rate, before, d->cdof + 6 * k);
    out[k] = tb_dot6(momentum + 6 * body, rate);
  }
}
