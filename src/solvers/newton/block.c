// The equations of semismooth Newton, block by block (Alart & Curnier 1991, in the form of Acary &
// Brogliato, "Numerical Methods for Nonsmooth Dynamical Systems", 2008, ch. 13).
//
// In rows scaled by (1, mu_i), with y = x - rho sigma, the exact law of a contact is F = 0 where
//   F_N = x_N - max(y_N, 0),   F_T = x_T - P(y_T on the disc of radius max(y_N, 0))            (1)
// Its generalised Jacobian is C + D G, block by block (n = y_T / |y_T|, radius c):
//   apart    C = I, D = 0                stick   C = 0, D = rho
//   sliding  normal row as in stick; C_TT = I - c/|y_T| (I - n n^T), C_TN = -n,
//            D_TT = rho_T c/|y_T| (I - n n^T), D_TN = rho_N n                                   (2)
// C = 0 is replaced by a small multiple of the identity: a proximal term, which does not change the
// solution and makes hyperstatic problems (G singular) solvable.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "linalg/small.h"
#include "solvers/newton/newton.h"

enum { MAX = TB_MAX_BLOCK_DIM };

static void clear_matrices(int d, tbNewtonEquations out) {
  memset(out.C, 0, (size_t)(d * d) * sizeof *out.C);
  memset(out.D, 0, (size_t)(d * d) * sizeof *out.D);
}

static void cone_equation(int d, const tbNewtonPoint* at, tbNewtonEquations out) {
  const tbReal *rho = at->rho, *x = at->x, *sigma = at->sigma;
  tbReal y[MAX] = {0}, length = 0, *F = out.F, *C = out.C, *D = out.D;
  for (int r = 0; r < d; r++) y[r] = x[r] - rho[r] * sigma[r];
  for (int r = 1; r < d; r++) length += y[r] * y[r];
  length = sqrt(length);
  tbReal radius = tb_max(y[0], 0);
  bool slide = length > radius;
  F[0] = x[0] - radius;
  for (int r = 1; r < d; r++) F[r] = slide ? x[r] - y[r] * (radius / length) : rho[r] * sigma[r];
  if (!C) return;

  // C and D by (2).
  clear_matrices(d, out);
  for (int r = 0; r < d; r++) {
    if (y[0] <= 0) {
      C[r * (d + 1)] = 1;
    } else if (r == 0 || !slide) {
      C[r * (d + 1)] = at->proximal;
      D[r * (d + 1)] = rho[r];
    } else {
      tbReal n = y[r] / length, f = radius / length;
      C[r * d] = -n;
      D[r * d] = n * rho[0];
      for (int c = 1; c < d; c++) {
        tbReal across = (r == c) - n * (y[c] / length);
        C[r * d + c] = (r == c) - f * across;
        D[r * d + c] = f * across * rho[c];
      }
    }
  }
}

// The pyramid: every tangential row has its own bounds, +-max(y_N, 0).
static void pyramid_equation(int d, const tbNewtonPoint* at, tbNewtonEquations out) {
  const tbReal *rho = at->rho, *x = at->x, *sigma = at->sigma;
  tbReal normal = x[0] - rho[0] * sigma[0], radius = tb_max(normal, 0);
  tbReal *F = out.F, *C = out.C, *D = out.D;
  if (C) clear_matrices(d, out);
  for (int r = 0; r < d; r++) {
    tbReal y = x[r] - rho[r] * sigma[r];
    bool apart = normal <= 0, slide = r > 0 && fabs(y) > radius;
    tbReal sign = y < 0 ? -1 : 1;
    F[r] = r == 0 ? x[0] - radius : slide ? x[r] - sign * radius : rho[r] * sigma[r];
    if (!C) continue;
    C[r * (d + 1)] = apart || slide ? 1 : at->proximal;
    if (apart) continue;
    if (slide) {
      C[r * d] = -sign;
      D[r * d] = sign * rho[0];
    } else {
      D[r * (d + 1)] = rho[r];
    }
  }
}

// Single rows: unbounded, one-sided or between bounds.
static void row_equations(const tbBlock* b, const tbNewtonPoint* at, tbNewtonEquations out) {
  const tbReal *rho = at->rho, *x = at->x, *sigma = at->sigma;
  tbReal *F = out.F, *C = out.C, *D = out.D;
  int d = b->dim;
  if (C) clear_matrices(d, out);
  for (int r = 0; r < d; r++) {
    tbReal y = x[r] - rho[r] * sigma[r], low = -INFINITY, high = INFINITY;
    if (b->type == TB_BLOCK_ONE_SIDED) low = 0;
    if (b->type == TB_BLOCK_BOX) {
      low = b->lower / at->scale[r];
      high = b->upper / at->scale[r];
    }
    bool inside = y > low && y < high;
    F[r] = inside ? rho[r] * sigma[r] : x[r] - tb_max(low, tb_min(high, y));
    if (!C) continue;
    C[r * (d + 1)] = inside ? at->proximal : 1;
    D[r * (d + 1)] = inside ? rho[r] : 0;
  }
}

void tb_newton_block(const tbBlock* b, tbLaw law, const tbNewtonPoint* at, tbNewtonEquations out) {
  if (b->type == TB_BLOCK_CONE && law == TB_LAW_LCP) {
    pyramid_equation(b->dim, at, out);
  } else if (b->type == TB_BLOCK_CONE) {
    cone_equation(b->dim, at, out);
  } else {
    row_equations(b, at, out);
  }
}

bool tb_newton_divide(int d, const tbReal* C, const tbReal* in, int columns, tbReal* out) {
  tbReal a[MAX * MAX];
  memcpy(a, C, (size_t)(d * d) * sizeof *a);
  memcpy(out, in, (size_t)(d * columns) * sizeof *out);
  return tb_small_divide(d, a, columns, out);
}
