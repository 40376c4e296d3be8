// Projections on the friction cone and on the other sets of impulses (problem/cone.h).
#include "problem/cone.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/kernel.h"
#include "base/minmax.h"

// The norm below for values whose squares overflow or underflow.
TB_COLD tbReal norm_of_extremes(int n, const tbReal* scale, const tbReal* x) {
  tbReal m = 0, sum = 0;
  for (int i = 0; i < n; i++) m = tb_max(m, fabs(scale[i] * x[i]));
  if (m == 0 || !isfinite(m)) return m;
  for (int i = 0; i < n; i++) sum += (scale[i] * x[i] / m) * (scale[i] * x[i] / m);
  return m * sqrt(sum);
}

// |(scale_i x_i)|
static tbReal scaled_norm(int n, const tbReal* scale, const tbReal* x) {
  tbReal sum = 0;
  for (int i = 0; i < n; i++) sum += (scale[i] * x[i]) * (scale[i] * x[i]);
  return sum > 1e-280 && sum < 1e280 ? sqrt(sum) : norm_of_extremes(n, scale, x);
}

tbReal tb_cone_shift(int dim, const tbReal* mu, const tbReal* sigma) {
  return scaled_norm(dim - 1, mu, sigma + 1);
}

tbReal tb_pyramid_shift(int dim, const tbReal* mu, const tbReal* sigma) {
  tbReal sum = 0;
  for (int i = 0; i < dim - 1; i++) sum += mu[i] * fabs(sigma[i + 1]);
  return sum;
}

// |(x_i / mu_i)|, infinite if an axis without friction has an impulse.
static tbReal inverse_scaled_norm(int n, const tbReal* mu, const tbReal* x) {
  tbReal scale[TB_MAX_BLOCK_DIM];
  for (int i = 0; i < n; i++) {
    if (mu[i] == 0 && x[i] != 0) return INFINITY;
    scale[i] = mu[i] == 0 ? 0 : 1 / mu[i];
  }
  return scaled_norm(n, scale, x);
}

// Projection on the boundary of an elliptic cone. With multiplier nu >= 0 the point is
//     t = t0 / (1 - nu),   y_i = x_i mu_i^2 / (mu_i^2 + nu),
// and nu solves
//     |1 - nu| |(x_i mu_i / (mu_i^2 + nu))| = |t0|.
// With u = nu for t0 > 0 and 1 / nu for t0 < 0 both become (1 - u) N(u) = |t0| on 0 < u < 1, with N
// the norm of c_i / (a_i + u). 1 / N is concave and nearly straight (the secular equation of
// trust-region methods), so Newton's iterates on 1 / N(u) = (1 - u) / |t0| rise monotonically to
// the root from u = 0.
static tbReal secular_root(int n, const tbReal* mu, const tbReal* x, tbReal t0) {
  tbReal a[TB_MAX_BLOCK_DIM], c[TB_MAX_BLOCK_DIM], size = fabs(t0), u = 0;
  for (int i = 0; i < n; i++) {
    tbReal square = mu[i] * mu[i];
    // An axis without friction carries no impulse.
    a[i] = mu[i] == 0 ? 1 : t0 < 0 ? 1 / square : square;
    c[i] = mu[i] == 0 ? 0 : fabs(t0 < 0 ? x[i] / mu[i] : x[i] * mu[i]) / size;
    if (!(c[i] < 1e90)) return 1;
  }
  for (int k = 0; k < 100; k++) {
    tbReal sum = 0, slope = 0;
    for (int i = 0; i < n; i++) {
      tbReal inverse = 1 / (a[i] + u), part = c[i] * inverse;
      sum += part * part;
      slope += part * part * inverse;
    }
    // With one division: u + ((1 - u) - 1 / N) / (1 + slope / (sum N)).
    tbReal N = sqrt(sum), next = u + ((1 - u) * N - 1) * sum / (N * sum + slope);
    if (!(next > u)) break;
    u = tb_min(next, 1);
  }
  return u;
}

static void project_ellipse(int n, const tbReal* mu, tbReal t0, const tbReal* x, tbReal* t,
                            tbReal* y) {
  bool inverse = t0 < 0;
  tbReal u = t0 != 0 ? secular_root(n, mu, x, t0) : 1;
  for (int i = 0; i < n; i++) {
    if (mu[i] == 0) {
      y[i] = 0;
    } else if (inverse) {
      y[i] = x[i] * mu[i] * mu[i] * u / (mu[i] * mu[i] * u + 1);
    } else {
      y[i] = x[i] * mu[i] * mu[i] / (mu[i] * mu[i] + u);
    }
  }
  // On the boundary the normal entry follows from the tangential ones.
  *t = inverse_scaled_norm(n, mu, y);
}

static bool is_round(int n, const tbReal* mu) {
  bool round = true;
  for (int i = 1; i < n; i++) round = round && mu[i] == mu[0];
  return round;
}

static const tbReal ONE[TB_MAX_BLOCK_DIM] = {1, 1, 1, 1, 1, 1};

bool tb_cone_contains(int dim, const tbReal* mu, const tbReal* x) {
  int n = dim - 1;
  if (!is_round(n, mu)) return inverse_scaled_norm(n, mu, x + 1) <= x[0];
  return x[0] >= 0 && scaled_norm(n, ONE, x + 1) <= (n ? mu[0] : 0) * x[0];
}

void tb_cone_project(int dim, const tbReal* mu, const tbReal* x, tbReal* out) {
  int n = dim - 1;
  tbReal t0 = x[0];
  if (is_round(n, mu)) {
    // A round cone: closed form.
    tbReal m = n ? mu[0] : 0, length = scaled_norm(n, ONE, x + 1);
    if (t0 >= 0 && length <= m * t0) {
      memmove(out, x, (size_t)dim * sizeof *out);
    } else if (m * length <= -t0) {
      memset(out, 0, (size_t)dim * sizeof *out);
    } else {
      tbReal t = (t0 + m * length) / (1 + m * m);
      out[0] = t;
      for (int i = 1; i < dim; i++) out[i] = m * t * (x[i] / length);
    }
    return;
  }
  if (inverse_scaled_norm(n, mu, x + 1) <= t0) {
    memmove(out, x, (size_t)dim * sizeof *out);
  } else if (scaled_norm(n, mu, x + 1) <= -t0) {
    memset(out, 0, (size_t)dim * sizeof *out);
  } else {
    // Axes without friction carry no impulse; if the other axes lie inside the cone, only the
    // former change.
    tbReal rest[TB_MAX_BLOCK_DIM];
    for (int i = 0; i < n; i++) rest[i] = mu[i] == 0 ? 0 : x[i + 1];
    if (inverse_scaled_norm(n, mu, rest) <= t0) {
      out[0] = t0;
      memcpy(out + 1, rest, (size_t)n * sizeof *out);
    } else {
      project_ellipse(n, mu, t0, rest, &out[0], out + 1);
    }
  }
}

void tb_cone_project_metric(int dim, const tbReal* mu, const tbReal* metric, const tbReal* x,
                            tbReal* out) {
  tbReal scaled[TB_MAX_BLOCK_DIM] = {0}, scaled_mu[TB_MAX_BLOCK_DIM] = {0};
  for (int i = 0; i < dim; i++) scaled[i] = sqrt(metric[i]) * x[i];
  for (int i = 1; i < dim; i++) scaled_mu[i - 1] = mu[i - 1] * sqrt(metric[i] / metric[0]);
  tb_cone_project(dim, scaled_mu, scaled, scaled);
  for (int i = 0; i < dim; i++) out[i] = scaled[i] / sqrt(metric[i]);
}

// Minimise (t - t0)^2 + sum max(|x_i| - mu_i t, 0)^2 over t >= 0: the derivative is concave and
// increasing, so Newton's iterates rise to the root and end after at most dim steps.
void tb_pyramid_project(int dim, const tbReal* mu, const tbReal* x, tbReal* out) {
  int n = dim - 1;
  tbReal t = tb_max(x[0], 0), slope = 0;
  for (int i = 0; i < n; i++) slope += mu[i] * fabs(x[i + 1]);
  if (x[0] < 0 && slope <= -x[0]) {
    memset(out, 0, (size_t)dim * sizeof *out);
    return;
  }
  for (int k = 0; k <= n; k++) {
    tbReal top = x[0], bottom = 1;
    for (int i = 0; i < n; i++) {
      if (fabs(x[i + 1]) > mu[i] * t) {
        top += mu[i] * fabs(x[i + 1]);
        bottom += mu[i] * mu[i];
      }
    }
    tbReal next = top / bottom;
    if (!(next > t)) break;
    t = next;
  }
  for (int i = 0; i < n; i++) out[i + 1] = tb_max(-mu[i] * t, tb_min(mu[i] * t, x[i + 1]));
  out[0] = t;
}

void tb_block_project(const tbBlock* block, tbLaw law, const tbReal* x, tbReal* out) {
  switch (block->type) {
    case TB_BLOCK_ONE_SIDED:
      for (int i = 0; i < block->dim; i++) out[i] = x[i] > 0 ? x[i] : 0;
      break;
    case TB_BLOCK_BOX:
      for (int i = 0; i < block->dim; i++) {
        tbReal y = x[i] < block->upper ? x[i] : block->upper;
        out[i] = y > block->lower ? y : block->lower;
      }
      break;
    case TB_BLOCK_CONE:
      if (law == TB_LAW_LCP) {
        tb_pyramid_project(block->dim, block->mu, x, out);
      } else {
        tb_cone_project(block->dim, block->mu, x, out);
      }
      break;
    default: memmove(out, x, (size_t)block->dim * sizeof *out);
  }
}
