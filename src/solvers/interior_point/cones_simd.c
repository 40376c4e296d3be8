#include "solvers/interior_point/cones_simd.h"

#include <math.h>

#include "base/minmax.h"
#include "base/kernel.h"
#include "solvers/interior_point/lorentz.h"

enum { LANES = TB_CONE_LANES };

// Added to lengths that are divisors, so that a zero length does no harm.
#define NO_LENGTH 1e-300

// The entries of one lane are plain variables: with the loop over lanes innermost, the compiler
// turns four of them into one SIMD register.

TB_INLINE tbReal tail(tbFourRows x, int l) {
  return sqrt(x[1][l] * x[1][l] + x[2][l] * x[2][l]);
}

// ---- scaling -----------------------------------------------------------------------------------

// w, eta and the scaled point of tb_lorentz_scaling.
TB_INLINE void find_scaling(tbConeSimd* g) {
  for (int l = 0; l < LANES; l++) {
    tbReal x0 = g->x[0][l], x1 = g->x[1][l], x2 = g->x[2][l];
    tbReal z0 = g->z[0][l], z1 = g->z[1][l], z2 = g->z[2][l];
    tbReal tx = sqrt(x1 * x1 + x2 * x2), tz = sqrt(z1 * z1 + z2 * z2);
    tbReal dx = sqrt((x0 - tx) * (x0 + tx)), dz = sqrt((z0 - tz) * (z0 + tz));
    tbReal dot = x0 * z0 + x1 * z1 + x2 * z2;
    tbReal gamma = sqrt(0.5 * (1 + dot / (dx * dz))), half = 0.5 / gamma;
    tbReal byx = half / dx, byz = half / dz, eta = sqrt(dz / dx);
    tbReal w0 = z0 * byz + x0 * byx, w1 = z1 * byz - x1 * byx, w2 = z2 * byz - x2 * byx;
    tbReal cross = w1 * x1 + w2 * x2, factor = x0 + cross / (1 + w0);
    g->w[0][l] = w0;
    g->w[1][l] = w1;
    g->w[2][l] = w2;
    g->eta[l] = eta;
    g->point[0][l] = eta * (w0 * x0 + cross);
    g->point[1][l] = eta * (x1 + factor * w1);
    g->point[2][l] = eta * (x2 + factor * w2);
  }
}

// H^-1 = (2 J w (J w)^T - J) / eta^2, and E^-1 = I + theta e t^T, which adds to its columns. The
// compliance R of a normal subtracts a matrix of rank one: entries become minors over 1 + R a0, and
// with w^T J w = 1 these are sums without cancellation, however large R is.
TB_INLINE void find_inverse(tbConeSimd* g) {
  for (int l = 0; l < LANES; l++) {
    tbReal w0 = g->w[0][l], w1 = g->w[1][l], w2 = g->w[2][l];
    tbReal square = 1 / (g->eta[l] * g->eta[l]), shift = g->theta[l] / (tail(g->z, l) + NO_LENGTH);
    tbReal t1 = shift * g->z[1][l], t2 = shift * g->z[2][l];
    g->slip[0][l] = t1;
    g->slip[1][l] = t2;
    tbReal a0 = square * (2 * w0 * w0 - 1), a1 = square * (-2 * w0 * w1);
    tbReal a2 = square * (-2 * w0 * w2), s1 = square * (2 * w1 * w1 + 1);
    tbReal s2 = square * (2 * w2 * w2 + 1), R = g->R[0][l], yields = R * square;
    tbReal cross = square * (2 * w1 * w2) * (1 - yields), keep = 1 / (1 + R * a0);
    g->K[0][l] = keep * a0;
    g->K[1][l] = keep * (a1 + t1 * a0);
    g->K[2][l] = keep * (a2 + t2 * a0);
    g->K[3][l] = keep * a1;
    g->K[4][l] = keep * (s1 + yields * s2 + t1 * a1);
    g->K[5][l] = keep * (cross + t2 * a1);
    g->K[6][l] = keep * a2;
    g->K[7][l] = keep * (cross + t1 * a2);
    g->K[8][l] = keep * (s2 + yields * s1 + t2 * a2);
  }
}

TB_INLINE void scale_all(tbConeSimd* four, int count) {
  for (int k = 0; k < count; k++) {
    find_scaling(&four[k]);
    find_inverse(&four[k]);
  }
}

// ---- right-hand sides --------------------------------------------------------------------------

// For zero complementarity the target cancels the scaled point: c = -V V^-1 z.
TB_INLINE void target_none(tbConeSimd* g) {
  for (int l = 0; l < LANES; l++) {
    for (int r = 0; r < TB_CONE_ROWS; r++) g->c[r][l] = -g->z[r][l];
  }
}

// tb_lorentz_target: c = V u with point ∘ u = target e - point ∘ point - second, the last term
// that of the affine step.
TB_INLINE void target_some(tbConeSimd* g, tbReal target, bool correct) {
  for (int l = 0; l < LANES; l++) {
    tbReal p0 = g->point[0][l], p1 = g->point[1][l], p2 = g->point[2][l];
    tbReal w0 = g->w[0][l], w1 = g->w[1][l], w2 = g->w[2][l], eta = g->eta[l];
    tbReal more = 1 / (1 + w0);
    tbReal b0 = target - (p0 * p0 + p1 * p1 + p2 * p2), b1 = -2 * p0 * p1, b2 = -2 * p0 * p2;
    if (correct) {
      // (V dx) ∘ (V^-1 dz), whose factors eta cancel.
      tbReal x0 = g->ax[0][l], x1 = g->ax[1][l], x2 = g->ax[2][l];
      tbReal z0 = g->az[0][l], z1 = g->az[1][l], z2 = g->az[2][l];
      tbReal cx = w1 * x1 + w2 * x2, cz = w1 * z1 + w2 * z2;
      tbReal fx = x0 + cx * more, fz = cz * more - z0;
      tbReal u0 = w0 * x0 + cx, u1 = x1 + fx * w1, u2 = x2 + fx * w2;
      tbReal v0 = w0 * z0 - cz, v1 = z1 + fz * w1, v2 = z2 + fz * w2;
      b0 -= u0 * v0 + u1 * v1 + u2 * v2;
      b1 -= u0 * v1 + v0 * u1;
      b2 -= u0 * v2 + v0 * u2;
    }
    tbReal t = sqrt(p1 * p1 + p2 * p2), by = 1 / p0;
    tbReal q0 = (p0 * b0 - (p1 * b1 + p2 * b2)) / ((p0 - t) * (p0 + t));
    tbReal q1 = (b1 - p1 * q0) * by, q2 = (b2 - p2 * q0) * by;
    tbReal cross = w1 * q1 + w2 * q2, factor = q0 + cross * more;
    g->c[0][l] = eta * (w0 * q0 + cross);
    g->c[1][l] = eta * (q1 + factor * w1);
    g->c[2][l] = eta * (q2 + factor * w2);
  }
}

TB_INLINE void target_all(tbConeSimd* four, int count, tbReal target, bool correct) {
  for (int k = 0; k < count; k++) {
    if (correct) {
      target_some(&four[k], target, true);
    } else if (target == 0) {
      target_none(&four[k]);
    } else {
      target_some(&four[k], target, false);
    }
  }
}

// d = K v. The entries of K are as large as w_0^2: only d_0 is computed with them. The other
// entries follow from d_0 by the tangential rows of H, so that rounding lies along J w, which H
// multiplies by little. In any other direction it would spoil the step once w_0 is in the
// thousands. Compliance along tangents is in K alone.
TB_INLINE void solve_local(const tbConeSimd* g, tbFourRows v, tbFourRows d) {
  for (int l = 0; l < LANES; l++) {
    tbReal w0 = g->w[0][l], w1 = g->w[1][l], w2 = g->w[2][l], square = g->eta[l] * g->eta[l];
    tbReal v1 = v[1][l], v2 = v[2][l];
    tbReal d0 = g->K[0][l] * v[0][l] + g->K[1][l] * v1 + g->K[2][l] * v2;
    tbReal along = 2 * (w0 * square * d0 + w1 * v1 + w2 * v2) / (2 * w0 * w0 - 1);
    d[0][l] = d0;
    d[1][l] = (v1 - along * w1) / square;
    d[2][l] = (v2 - along * w2) / square;
  }
  for (int l = 0; l < LANES && g->tangent_compliance; l++) {
    d[1][l] = g->K[3][l] * v[0][l] + g->K[4][l] * v[1][l] + g->K[5][l] * v[2][l];
    d[2][l] = g->K[6][l] * v[0][l] + g->K[7][l] * v[1][l] + g->K[8][l] * v[2][l];
  }
}

TB_INLINE void right_all(tbConeSimd* four, int count) {
  for (int k = 0; k < count; k++) {
    tbConeSimd* g = &four[k];
    tbFourRows d;
    for (int l = 0; l < LANES; l++) {
      tbReal shift = g->slip[0][l] * g->c[1][l] + g->slip[1][l] * g->c[2][l];
      g->b[0][l] = g->c[0][l] - g->r[0][l] - shift;
      g->b[1][l] = g->c[1][l] - g->r[1][l];
      g->b[2][l] = g->c[2][l] - g->r[2][l];
    }
    solve_local(g, g->b, d);
    for (int r = 0; r < TB_CONE_ROWS; r++) {
      for (int l = 0; l < LANES; l++) g->f[r][l] = g->S[r][l] * d[r][l];
    }
  }
}

// ---- steps -------------------------------------------------------------------------------------

// dz from the velocity rather than from c - H dx, so that r shrinks as the step predicts.
TB_INLINE void solve_four(tbConeSimd* g, tbFourRows dx, tbFourRows dz) {
  tbFourRows v;
  for (int r = 0; r < TB_CONE_ROWS; r++) {
    for (int l = 0; l < LANES; l++) v[r][l] = g->b[r][l] - g->S[r][l] * g->jv[r][l];
  }
  solve_local(g, v, dx);
  for (int r = 0; r < TB_CONE_ROWS; r++) {
    for (int l = 0; l < LANES; l++) {
      dz[r][l] = g->r[r][l] + g->S[r][l] * g->jv[r][l] + g->R[r][l] * dx[r][l];
    }
  }
  for (int l = 0; l < LANES; l++) {
    dz[0][l] += g->slip[0][l] * dz[1][l] + g->slip[1][l] * dz[2][l];
  }
}

TB_INLINE void solve_all(tbConeSimd* four, int count, bool affine) {
  for (int k = 0; k < count; k++) {
    if (affine) {
      solve_four(&four[k], four[k].ax, four[k].az);
    } else {
      solve_four(&four[k], four[k].dx, four[k].dz);
    }
  }
}

// By how much a step of length a leaves the cone, as maximum over all lanes; not positive if no
// lane leaves it.
TB_INLINE tbReal outside(tbFourRows x, tbFourRows dx, tbReal a) {
  tbReal over[LANES];
  for (int l = 0; l < LANES; l++) {
    tbReal y0 = x[0][l] + a * dx[0][l], y1 = x[1][l] + a * dx[1][l], y2 = x[2][l] + a * dx[2][l];
    tbReal out = (y1 * y1 + y2 * y2) - y0 * y0;
    over[l] = out > -y0 ? out : -y0;
  }
  tbReal even = over[0] > over[2] ? over[0] : over[2], odd = over[1] > over[3] ? over[1] : over[3];
  return even > odd ? even : odd;
}

// The minimum of `a` and the largest step of each lane.
static tbReal least_step(tbFourRows x, tbFourRows dx, tbReal a) {
  for (int l = 0; l < LANES; l++) {
    tbReal p[TB_CONE_ROWS] = {x[0][l], x[1][l], x[2][l]};
    tbReal d[TB_CONE_ROWS] = {dx[0][l], dx[1][l], dx[2][l]};
    if (!tb_lorentz_holds(TB_CONE_ROWS, p, d, a))
      a = tb_min(a, tb_lorentz_step(TB_CONE_ROWS, p, d));
  }
  return a;
}

// Cones are convex: if a step of length a ends inside, no root is needed. A NaN counts as outside.
TB_INLINE tbReal length_all(tbConeSimd* four, int count, bool affine, tbReal a) {
  for (int k = 0; k < count; k++) {
    tbConeSimd* g = &four[k];
    tbReal(*dx)[LANES] = affine ? g->ax : g->dx;
    tbReal(*dz)[LANES] = affine ? g->az : g->dz;
    if (!(outside(g->x, dx, a) <= 0)) a = least_step(g->x, dx, a);
    if (!(outside(g->z, dz, a) <= 0)) a = least_step(g->z, dz, a);
  }
  return a;
}

// ---- the point ---------------------------------------------------------------------------------

// The sum over lanes in use.
TB_INLINE tbReal sum_lanes(const tbReal* sum, int used) {
  tbReal all = 0;
  for (int l = 0; l < used; l++) all += sum[l];
  return all;
}

TB_INLINE tbReal complementarity_all(const tbConeSimd* four, int count, tbReal a) {
  tbReal all = 0;
  for (int k = 0; k < count; k++) {
    const tbConeSimd* g = &four[k];
    tbReal sum[LANES];
    for (int l = 0; l < LANES; l++) {
      tbReal x0 = g->x[0][l] + a * g->ax[0][l], z0 = g->z[0][l] + a * g->az[0][l];
      tbReal x1 = g->x[1][l] + a * g->ax[1][l], z1 = g->z[1][l] + a * g->az[1][l];
      tbReal x2 = g->x[2][l] + a * g->ax[2][l], z2 = g->z[2][l] + a * g->az[2][l];
      sum[l] = x0 * z0 + x1 * z1 + x2 * z2;
    }
    all += sum_lanes(sum, g->used);
  }
  return all;
}

TB_INLINE tbReal residual_all(tbConeSimd* four, int count, tbReal shift, tbReal* largest) {
  tbReal all = 0, most[LANES] = {0};
  for (int k = 0; k < count; k++) {
    tbConeSimd* g = &four[k];
    tbReal sum[LANES];
    for (int l = 0; l < LANES; l++) {
      tbReal r0 = g->v[0][l] - g->z[0][l] + shift * tail(g->z, l);
      tbReal r1 = g->v[1][l] - g->z[1][l], r2 = g->v[2][l] - g->z[2][l];
      tbReal m = fabs(r0), m1 = fabs(r1), m2 = fabs(r2);
      m = m1 > m ? m1 : m;
      m = m2 > m ? m2 : m;
      most[l] = m > most[l] ? m : most[l];
      g->r[0][l] = r0;
      g->r[1][l] = r1;
      g->r[2][l] = r2;
      sum[l] = g->x[0][l] * g->z[0][l] + g->x[1][l] * g->z[1][l] + g->x[2][l] * g->z[2][l];
    }
    all += sum_lanes(sum, g->used);
  }
  for (int l = 0; l < LANES; l++) *largest = tb_max(*largest, most[l]);
  return all;
}

// dx . H ex + dz . H^-1 ez of a lane, with H = eta^2 (2 w w^T - J) and H^-1 of find_inverse.
TB_INLINE tbReal inner(const tbConeSimd* g, int l, const tbReal* dx, const tbReal* dz,
                       const tbReal* ex, const tbReal* ez) {
  tbReal w0 = g->w[0][l], w1 = g->w[1][l], w2 = g->w[2][l], square = g->eta[l] * g->eta[l];
  tbReal d = w0 * dx[0] + w1 * dx[1] + w2 * dx[2], e = w0 * ex[0] + w1 * ex[1] + w2 * ex[2];
  tbReal p = w0 * dz[0] - w1 * dz[1] - w2 * dz[2], q = w0 * ez[0] - w1 * ez[1] - w2 * ez[2];
  return square * (2 * d * e - (dx[0] * ex[0] - dx[1] * ex[1] - dx[2] * ex[2])) +
         (2 * p * q - (dz[0] * ez[0] - dz[1] * ez[1] - dz[2] * ez[2])) / square;
}

void tb_cone_simd_lengths(const tbConeSimd* four, int count, tbReal product[3]) {
  for (int k = 0; k < 3; k++) product[k] = 0;
  for (int k = 0; k < count; k++) {
    const tbConeSimd* g = &four[k];
    for (int l = 0; l < g->used; l++) {
      tbReal ax[TB_CONE_ROWS], az[TB_CONE_ROWS], tx[TB_CONE_ROWS], tz[TB_CONE_ROWS];
      for (int r = 0; r < TB_CONE_ROWS; r++) {
        ax[r] = g->ax[r][l];
        az[r] = g->az[r][l];
        tx[r] = g->dx[r][l] - ax[r];
        tz[r] = g->dz[r][l] - az[r];
      }
      product[0] += inner(g, l, ax, az, ax, az);
      product[1] += inner(g, l, ax, az, tx, tz);
      product[2] += inner(g, l, tx, tz, tx, tz);
    }
  }
}

TB_INLINE void go_all(tbConeSimd* four, int count, tbReal a) {
  for (int k = 0; k < count; k++) {
    tbConeSimd* g = &four[k];
    for (int r = 0; r < TB_CONE_ROWS; r++) {
      for (int l = 0; l < LANES; l++) {
        g->x[r][l] += a * g->dx[r][l];
        g->z[r][l] += a * g->dz[r][l];
      }
    }
  }
}

// ---- dispatch: generic and AVX2 ----------------------------------------------------------------

static void scale_generic(tbConeSimd* four, int count) {
  scale_all(four, count);
}

TB_WIDE static void scale_avx2(tbConeSimd* four, int count) {
  scale_all(four, count);
}

void tb_cone_simd_scale(tbConeSimd* four, int count) {
  tb_wide() ? scale_avx2(four, count) : scale_generic(four, count);
}

static void target_generic(tbConeSimd* four, int count, tbReal target, bool correct) {
  target_all(four, count, target, correct);
}

TB_WIDE static void target_avx2(tbConeSimd* four, int count, tbReal target, bool correct) {
  target_all(four, count, target, correct);
}

void tb_cone_simd_target(tbConeSimd* four, int count, tbReal target, bool correct) {
  tb_wide() ? target_avx2(four, count, target, correct)
            : target_generic(four, count, target, correct);
}

static void right_generic(tbConeSimd* four, int count) {
  right_all(four, count);
}

TB_WIDE static void right_avx2(tbConeSimd* four, int count) {
  right_all(four, count);
}

void tb_cone_simd_right(tbConeSimd* four, int count) {
  tb_wide() ? right_avx2(four, count) : right_generic(four, count);
}

static void solve_generic(tbConeSimd* four, int count, bool affine) {
  solve_all(four, count, affine);
}

TB_WIDE static void solve_avx2(tbConeSimd* four, int count, bool affine) {
  solve_all(four, count, affine);
}

void tb_cone_simd_solve(tbConeSimd* four, int count, bool affine) {
  tb_wide() ? solve_avx2(four, count, affine) : solve_generic(four, count, affine);
}

static tbReal length_generic(tbConeSimd* four, int count, bool affine, tbReal a) {
  return length_all(four, count, affine, a);
}

TB_WIDE static tbReal length_avx2(tbConeSimd* four, int count, bool affine, tbReal a) {
  return length_all(four, count, affine, a);
}

tbReal tb_cone_simd_length(tbConeSimd* four, int count, bool affine, tbReal a) {
  return tb_wide() ? length_avx2(four, count, affine, a) : length_generic(four, count, affine, a);
}

static tbReal complementarity_generic(const tbConeSimd* four, int count, tbReal a) {
  return complementarity_all(four, count, a);
}

TB_WIDE static tbReal complementarity_avx2(const tbConeSimd* four, int count, tbReal a) {
  return complementarity_all(four, count, a);
}

tbReal tb_cone_simd_complementarity(const tbConeSimd* four, int count, tbReal a) {
  return tb_wide() ? complementarity_avx2(four, count, a) : complementarity_generic(four, count, a);
}

static tbReal residual_generic(tbConeSimd* four, int count, tbReal shift, tbReal* largest) {
  return residual_all(four, count, shift, largest);
}

TB_WIDE static tbReal residual_avx2(tbConeSimd* four, int count, tbReal shift, tbReal* largest) {
  return residual_all(four, count, shift, largest);
}

tbReal tb_cone_simd_residual(tbConeSimd* four, int count, bool shifted, tbReal* largest) {
  return tb_wide() ? residual_avx2(four, count, shifted, largest)
                   : residual_generic(four, count, shifted, largest);
}

static void go_generic(tbConeSimd* four, int count, tbReal a) {
  go_all(four, count, a);
}

TB_WIDE static void go_avx2(tbConeSimd* four, int count, tbReal a) {
  go_all(four, count, a);
}

void tb_cone_simd_go(tbConeSimd* four, int count, tbReal a) {
  tb_wide() ? go_avx2(four, count, a) : go_generic(four, count, a);
}
