#include "problem/cone_derivative.h"

#include <stdbool.h>
#include <string.h>

#include "problem/cone.h"
#include "linalg/small.h"

void tb_cone_project_derivative(int dim, const tbReal* mu, const tbReal* x, tbReal* out) {
  tbReal y[TB_MAX_BLOCK_DIM] = {0}, q[TB_MAX_BLOCK_DIM] = {0};
  tb_cone_project(dim, mu, x, y);
  memset(out, 0, (size_t)(dim * dim) * sizeof *out);
  bool moved = false, zero = true, frictionless = true;
  for (int i = 0; i < dim; i++) {
    if (i == 0 || mu[i - 1] > 0) moved = moved || y[i] != x[i];
    zero = zero && y[i] == 0;
    if (i > 0) frictionless = frictionless && mu[i - 1] == 0;
  }
  if (zero) return;
  if (!moved || frictionless) {
    // Inside: the identity on the axes with friction.
    for (int i = 0; i < dim; i++) out[i * (dim + 1)] = i == 0 || mu[i - 1] > 0;
    return;
  }

  // On the boundary y = P(x) solves y - x + nu Q y = 0, y^T Q y = 0 with Q = diag(-1, 1/mu_i^2).
  // Differentiated: [I + nu Q, Q y; (Q y)^T, 0] [dy; dnu] = [dx; 0], a system of dim + 1 rows.
  // nu is computed by least squares over all components; rows and columns without friction drop
  // out.
  tbReal nu = 0, weight = 0;
  for (int i = 0; i < dim; i++) {
    if (i > 0 && mu[i - 1] == 0) continue;
    q[i] = i == 0 ? -1 : 1 / (mu[i - 1] * mu[i - 1]);
    nu += (x[i] - y[i]) * q[i] * y[i];
    weight += q[i] * y[i] * q[i] * y[i];
  }
  nu /= weight;
  int n = dim + 1;
  tbReal a[(TB_MAX_BLOCK_DIM + 1) * (TB_MAX_BLOCK_DIM + 1)] = {0};
  tbReal b[(TB_MAX_BLOCK_DIM + 1) * TB_MAX_BLOCK_DIM] = {0};
  for (int i = 0; i < dim; i++) {
    bool free = i == 0 || mu[i - 1] > 0;
    a[i * n + i] = free ? 1 + nu * q[i] : 1;
    a[i * n + dim] = a[dim * n + i] = q[i] * y[i];
    b[i * dim + i] = free;
  }
  tb_small_divide(n, a, dim, b);
  for (int i = 0; i < dim; i++) {
    for (int j = 0; j < dim; j++) out[i * dim + j] = 0.5 * (b[i * dim + j] + b[j * dim + i]);
  }
}
