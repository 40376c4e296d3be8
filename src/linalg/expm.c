#include "linalg/expm.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "linalg/dense.h"
#include "linalg/gemm.h"

enum { NORDER = 6, MAX_ORDER = 13, MAX_SQUARINGS = 1100, SLOTS = 8 };

typedef struct {
  int order;
  int products;    // matrix-matrix products that the approximant takes
  double leading;  // c of exp(z) - r(z) = c z^(2 order + 1) + ...
} Order;

static const Order ORDERS[NORDER] = {
    {1, 0, 0.083333333333333329},  {2, 1, 0.0013888888888888889},  {3, 2, 9.9206349206349206e-06},
    {5, 3, 9.941312851365762e-11}, {7, 4, 2.2281945605535596e-16}, {13, 6, 8.8299616020186782e-36},
};

static const Order* find_order(int order) {
  for (int i = 0; i < NORDER; i++) {
    if (ORDERS[i].order == order) return &ORDERS[i];
  }
  return NULL;
}

tbExpmSettings tb_expm_defaults(void) {
  return (tbExpmSettings){.order = 0, .accuracy = 0, .squarings = -1, .balance = true};
}

// The approximant is the exponential of A + E with |E| about c |A|^(2m+1).
double tb_pade_norm(int order, double accuracy) {
  const Order* o = find_order(order);
  if (!o) return 0;
  double wanted = accuracy > DBL_EPSILON / 2 ? tb_min(accuracy, 0.1) : DBL_EPSILON / 2;
  return tb_pow(wanted / o->leading, 0.5 / o->order);
}

size_t tb_expm_work(int n, int columns) {
  return (size_t)n * ((size_t)n * SLOTS + (size_t)columns * 2 + 2);
}

// ---- balancing ---------------------------------------------------------------------------------

static double norm1(int n, const double* A) {
  double largest = 0;
  for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(A[i * n + j]);
    if (!(sum <= largest)) largest = sum;
  }
  return largest;
}

// A <- S^-1 A S with S diagonal of powers of two, until the norms of each row and its column are
// similar.
static void balance(int n, double* A, double* scale) {
  for (int i = 0; i < n; i++) scale[i] = 1;
  bool changed = true;
  for (int sweep = 0; changed && sweep < 100; sweep++) {
    changed = false;
    for (int i = 0; i < n; i++) {
      double row = 0, column = 0;
      for (int j = 0; j < n; j++) {
        if (j == i) continue;
        row += fabs(A[i * n + j]);
        column += fabs(A[j * n + i]);
      }
      if (!(row > 0 && column > 0) || !isfinite(row + column)) continue;
      int power = (int)lrint(0.5 * (tb_log2(row) - tb_log2(column)));
      double f = ldexp(1, power < -500 ? -500 : power > 500 ? 500 : power);
      if (power == 0 || !(column * f + row / f < 0.95 * (row + column))) continue;
      double next = scale[i] * f;
      if (!(next > 1e-150 && next < 1e150)) continue;
      scale[i] = next;
      changed = true;
      for (int j = 0; j < n; j++) A[i * n + j] /= f;
      for (int j = 0; j < n; j++) A[j * n + i] *= f;
    }
  }
}

// ---- the approximant ---------------------------------------------------------------------------

// Coefficients of N, with b[order] = 1; those of D have alternating signs.
static void coefficients(int order, double b[MAX_ORDER + 1]) {
  b[order] = 1;
  for (int j = order; j > 0; j--) {
    b[j - 1] = b[j] * (double)j * (double)(2 * order - j + 1) / (double)(order - j + 1);
  }
}

static void multiply(int n, const double* A, const double* B, double* C) {
  memset(C, 0, sizeof(double) * (size_t)n * (size_t)n);
  tb_gemm_add(n, n, n, A, n, B, n, C, n);
}

// out = sum of c[k] P[k] over `count` matrices, plus `unit` I.
static void combine(int n, int count, const double* c, double* const* P, double unit, double* out) {
  size_t size = (size_t)n * (size_t)n;
  memset(out, 0, sizeof(double) * size);
  for (int k = 0; k < count; k++) {
    for (size_t i = 0; i < size; i++) out[i] += c[k] * P[k][i];
  }
  for (int i = 0; i < n; i++) out[(size_t)i * (size_t)n + (size_t)i] += unit;
}

// Even and odd part of N: N = even + odd, D = even - odd. `P` holds A, A^2, A^4, A^6 and two more.
static void parts(int n, int order, double* const P[6], double* even, double* odd) {
  double b[MAX_ORDER + 1], c[4] = {0}, *const power[3] = {P[1], P[2], P[3]};
  coefficients(order, b);
  if (order >= 2) multiply(n, P[0], P[0], P[1]);
  if (order >= 5) multiply(n, P[1], P[1], P[2]);
  if (order >= 7) multiply(n, P[1], P[2], P[3]);
  if (order == 1) {
    combine(n, 0, NULL, NULL, b[0], even);
    combine(n, 1, &b[1], P, 0, odd);
    return;
  }
  int count = order == 13 ? 3 : order / 2;
  if (order == 2) {
    combine(n, 1, &b[2], power, b[0], even);
    combine(n, 1, &b[1], P, 0, odd);
    return;
  }
  // odd = A (b1 + b3 A^2 + ...); for order 13 the higher terms are A^6 (...).
  for (int k = 0; k < count; k++) c[k] = b[2 * k + 3];
  combine(n, count, c, power, b[1], P[4]);
  if (order == 13) {
    for (int k = 0; k < 3; k++) c[k] = b[2 * k + 9];
    combine(n, 3, c, power, 0, P[5]);
    tb_gemm_add(n, n, n, P[3], n, P[5], n, P[4], n);
  }
  multiply(n, P[0], P[4], odd);
  for (int k = 0; k < count; k++) c[k] = b[2 * k + 2];
  combine(n, count, c, power, b[0], even);
  if (order == 13) {
    for (int k = 0; k < 3; k++) c[k] = b[2 * k + 8];
    combine(n, 3, c, power, 0, P[5]);
    tb_gemm_add(n, n, n, P[3], n, P[5], n, even, n);
  }
}

// x <- LU^-1 x for every column of the n x columns matrix X, through `column`.
static void solve_columns(int n, int columns, const double* LU, const int* pivot, double* X,
                          double* column) {
  for (int j = 0; j < columns; j++) {
    for (int i = 0; i < n; i++) column[i] = X[i * columns + j];
    tb_lu_solve(n, LU, n, pivot, column);
    for (int i = 0; i < n; i++) X[i * columns + j] = column[i];
  }
}

// Choose order and squarings: the fewest products, and among these the higher order.
static void choose(const tbExpmSettings* s, double norm, tbExpmInfo* info) {
  int best = 1 << 30;
  for (int i = 0; i < NORDER; i++) {
    if (s->order && s->order != ORDERS[i].order) continue;
    double reach = tb_pade_norm(ORDERS[i].order, s->accuracy);
    int squarings = norm > reach ? (int)ceil(tb_log2(norm / reach)) : 0;
    if (s->squarings >= 0) {
      squarings = s->squarings;
      // With given squarings, the smallest order that reaches the accuracy.
      if (!s->order && ldexp(norm, -squarings) > reach && i + 1 < NORDER) continue;
    }
    int cost = ORDERS[i].products + squarings;
    if (cost < best || (cost == best && s->squarings < 0)) {
      best = cost;
      info->order = ORDERS[i].order;
      info->squarings = squarings;
    }
  }
}

typedef struct {
  double *P[6], *even, *odd, *scale, *column;
} Memory;

// Balanced and scaled A, its order, N = even + odd, and D factored in `even`; N is left in `odd`.
static bool prepare(int n, const double* A, const tbExpmSettings* given, double* work, int* iwork,
                    Memory* x, tbExpmInfo* info) {
  size_t size = (size_t)n * (size_t)n;
  tbExpmSettings s = given ? *given : tb_expm_defaults();
  memset(info, 0, sizeof *info);
  if ((s.order && !find_order(s.order)) || s.squarings > MAX_SQUARINGS) return false;
  for (int i = 0; i < 6; i++) x->P[i] = work + (size_t)i * size;
  x->even = work + 6 * size;
  x->odd = work + 7 * size;
  x->scale = work + SLOTS * size;
  x->column = x->scale + n;
  double* scaled = x->P[0];
  memcpy(scaled, A, sizeof(double) * size);
  for (int i = 0; i < n; i++) x->scale[i] = 1;
  info->norm = norm1(n, scaled);
  if (!isfinite(info->norm)) return false;
  if (s.balance) balance(n, scaled, x->scale);
  info->norm_balanced = norm1(n, scaled);
  choose(&s, info->norm_balanced, info);
  if (info->squarings > MAX_SQUARINGS) return false;
  double factor = ldexp(1, -info->squarings);
  for (size_t i = 0; i < size; i++) scaled[i] *= factor;

  parts(n, info->order, x->P, x->even, x->odd);
  for (size_t i = 0; i < size; i++) {
    double even = x->even[i], odd = x->odd[i];
    x->odd[i] = even + odd;
    x->even[i] = even - odd;
  }
  return tb_lu(n, x->even, n, iwork);
}

static bool all_finite(size_t count, const double* x) {
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(x[i])) return false;
  }
  return true;
}

// E = exp of the balanced matrix: D^-1 N, squared `squarings` times.
static double* form(int n, Memory* x, const int* iwork, int squarings) {
  solve_columns(n, n, x->even, iwork, x->odd, x->column);
  double *E = x->odd, *spare = x->P[0];
  for (int i = 0; i < squarings; i++) {
    multiply(n, E, E, spare);
    double* swap = E;
    E = spare;
    spare = swap;
  }
  return E;
}

// W <- N W, through `spare`, then D^-1 of it.
static void apply(int n, int columns, const Memory* x, const int* iwork, double* W, double* spare) {
  memset(spare, 0, sizeof(double) * (size_t)n * (size_t)columns);
  tb_gemm_add(n, columns, n, x->odd, n, W, columns, spare, columns);
  memcpy(W, spare, sizeof(double) * (size_t)n * (size_t)columns);
  solve_columns(n, columns, x->even, iwork, W, x->column);
}

bool tb_expm_action(int n, const double* A, int columns, const double* V,
                    const tbExpmSettings* settings, double* Y, double* work, int* iwork,
                    tbExpmInfo* info) {
  tbExpmInfo own;
  Memory x;
  if (!info) info = &own;
  if (!prepare(n, A, settings, work, iwork, &x, info)) return false;
  size_t size = (size_t)n * (size_t)columns;
  double *W = x.column + n, *spare = W + size;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < columns; j++) W[i * columns + j] = V[i * columns + j] / x.scale[i];
  }

  // Compare the cost of 2^s applications with that of s squarings and one solve with n columns.
  int s = info->squarings;
  if (s < 12 && ldexp(2 * columns, s) <= (double)n * (s + 1)) {
    for (int i = 0; i < 1 << s; i++) apply(n, columns, &x, iwork, W, spare);
  } else {
    const double* E = form(n, &x, iwork, s);
    memset(spare, 0, sizeof(double) * size);
    tb_gemm_add(n, columns, n, E, n, W, columns, spare, columns);
    W = spare;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < columns; j++) Y[i * columns + j] = W[i * columns + j] * x.scale[i];
  }
  return all_finite(size, Y);
}
