#include "linalg/oscillator.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/kernel.h"
#include "linalg/expm.h"
#include "linalg/oscillator_pade.h"
#include "linalg/symeig.h"

// Beyond this many applications of an approximant, squaring is cheaper.
enum { MAX_STEPS = 256, NORDER = 6 };
static const int ORDERS[NORDER] = {1, 2, 3, 5, 7, 13};

size_t tb_oscillator_work(int n) {
  size_t m = 2 * (size_t)n + 3, N = (size_t)n;
  size_t dense = tb_expm_work((int)m, 2) + m * m + 4 * m;
  size_t modes = 2 * N * N + 12 * N, pade = tb_oscillator_pade_work(n);
  size_t most = dense > modes ? dense : modes;
  return (most > pade ? most : pade) + 4 * N;
}

// ---- modes -------------------------------------------------------------------------------------

// phi_j(z) = sum of z^k / (k + j)! for j = 0 ... 3, z <= 0 real.
static void phi_functions(double z, double phi[4]) {
  phi[0] = exp(z);
  if (z < -1) {
    phi[1] = (phi[0] - 1) / z;
    phi[2] = (phi[1] - 1) / z;
    phi[3] = (phi[2] - 0.5) / z;
    return;
  }
  // phi_3 by its series, the others from it.
  double term = 1.0 / 6, sum = term;
  for (int k = 4; k < 22; k++) {
    term *= z / k;
    sum += term;
  }
  phi[3] = sum;
  phi[2] = 0.5 + z * phi[3];
  phi[1] = 1 + z * phi[2];
}

// Of u'' + c u' + k u = 0 with u(0) = 0, u'(0) = 1: u and its first three integrals at time 1.
static void impulse_response(double c, double k, double out[4]) {
  double discriminant = c * c - 4 * k;
  if (c + k < 2) {
    // Taylor series about 0: u_(j+2) = -c u_(j+1) - k u_j.
    double now = 0, next = 1, weight = 1;
    out[0] = out[1] = out[2] = out[3] = 0;
    for (int j = 0; j < 32; j++) {
      // weight = 1/j!
      double w1 = weight / (j + 1), w2 = w1 / (j + 2), w3 = w2 / (j + 3);
      out[0] += now * weight;
      out[1] += now * w1;
      out[2] += now * w2;
      out[3] += now * w3;
      double after = -c * next - k * now;
      now = next;
      next = after;
      weight = w1;
    }
  } else if (discriminant > 0.25 * c * c) {
    // Two real roots well apart: divided differences of phi_j.
    double fast = -0.5 * (c + sqrt(discriminant)), slow = k / fast, x[4], y[4];
    phi_functions(slow, x);
    phi_functions(fast, y);
    for (int j = 0; j < 4; j++) out[j] = (x[j] - y[j]) / (slow - fast);
  } else {
    // Complex or nearly double roots; each integral from the equation integrated once more.
    double w = sqrt(fabs(discriminant)) / 2, decay = exp(-c / 2), sine = decay, cosine = decay;
    if (w > 1e-6 && discriminant < 0) {
      sine *= sin(w) / w;
      cosine *= cos(w);
    } else if (w > 1e-6) {
      double slow = exp(w - c / 2), fast = exp(-w - c / 2);
      sine = (slow - fast) / (2 * w);
      cosine = (slow + fast) / 2;
    }
    double rate = cosine - 0.5 * c * sine;
    out[0] = sine;
    out[1] = (1 - rate - c * out[0]) / k;
    out[2] = (1 - out[0] - c * out[1]) / k;
    out[3] = (0.5 - out[1] - c * out[2]) / k;
  }
}

// y = Q (s x), by rows of Q.
static void to_modes(int n, const double* Q, const double* s, const double* x, double* y) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += Q[(size_t)i * (size_t)n + (size_t)j] * s[j] * x[j];
    y[i] = sum;
  }
}

// x += w Q^T y for one mode's row.
static void add_mode(int n, const double* row, double weight, double* x) {
  for (int j = 0; j < n; j++) x[j] += weight * row[j];
}

// With z = K^1/2 p and B = beta K the system is z'' + beta S z' + S z = K^1/2 a, S = K^1/2 Y K^1/2:
// one scalar oscillator per eigenvector of S.
static bool modes(const tbOscillator* o, double beta, double h, double* first, double* second,
                  double* travel, double* work) {
  int n = o->n;
  size_t N = (size_t)n;
  double *S = work, *Q = S + N * N, *root = Q + N * N, *w = root + n, *scratch = w + n;
  double *p = scratch + 2 * N, *v = p + n, *a = v + n;
  for (int i = 0; i < n; i++) root[i] = sqrt(o->K[i]);
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < N; j++) S[i * N + j] = root[i] * o->Y[i * N + j] * root[j];
  }
  if (!tb_symmetric_eigen(n, S, w, Q, scratch)) return false;
  to_modes(n, Q, root, o->p, p);
  to_modes(n, Q, root, o->v, v);
  to_modes(n, Q, root, o->a, a);
  memset(first, 0, sizeof(double) * N);
  memset(second, 0, sizeof(double) * N);
  memset(travel, 0, sizeof(double) * N);
  for (int i = 0; i < n; i++) {
    double s = fmax(w[i], 0), I[4];
    impulse_response(beta * s * h, s * h * h, I);
    double power = h;
    for (int j = 0; j < 4; j++, power *= h) I[j] *= power;
    double p1 = (h - s * I[2]) * p[i] + I[1] * v[i] + I[2] * a[i];
    double v1 = -s * I[1] * p[i] + I[0] * v[i] + I[1] * a[i];
    double p2 = (0.5 * h * h - s * I[3]) * p[i] + I[2] * v[i] + I[3] * a[i];
    double v2 = -s * I[2] * p[i] + I[1] * v[i] + I[2] * a[i];
    const double* row = Q + (size_t)i * N;
    add_mode(n, row, -(p1 + beta * v1), first);
    add_mode(n, row, -(p2 + beta * v2), second);
    add_mode(n, row, v1, travel);
  }
  for (int i = 0; i < n; i++) {
    first[i] *= root[i];
    second[i] *= root[i];
    travel[i] /= root[i];
  }
  return true;
}

// ---- the augmented matrix ----------------------------------------------------------------------

// EXP eq. 29-30 as they are: xint and xint2 are the last two columns of exp(h Abar).
static bool dense(const tbOscillator* o, double h, double accuracy, double* first, double* second,
                  double* travel, double* work, int* iwork, tbOscillatorInfo* info) {
  int n = o->n, m = 2 * n + 3;
  size_t M = (size_t)m;
  double *A = work, *V = A + M * M, *X = V + 2 * M, *scratch = X + 2 * M;
  memset(A, 0, sizeof(double) * (M * M + 4 * M));
  for (int i = 0; i < n; i++) {
    double *upper = A + (size_t)i * M, *lower = A + (size_t)(n + i) * M;
    upper[n + i] = h;
    upper[2 * n + 1] = h * o->p[i];
    for (int j = 0; j < n; j++) {
      double y = o->Y[(size_t)i * (size_t)n + (size_t)j];
      lower[j] = -h * y * o->K[j];
      lower[n + j] = -h * y * o->B[j];
    }
    lower[2 * n] = h * o->a[i];
    lower[2 * n + 1] = h * o->v[i];
  }
  A[(M - 3) * M + M - 2] = A[(M - 2) * M + M - 1] = h;
  V[2 * (M - 2)] = V[2 * (M - 1) + 1] = 1;
  tbExpmSettings settings = tb_expm_defaults();
  settings.accuracy = accuracy;
  tbExpmInfo found;
  if (!tb_expm_action(m, A, 2, V, &settings, X, scratch, iwork, &found)) return false;
  for (int i = 0; i < n; i++) {
    const double *p = X + 2 * i, *v = X + 2 * (n + i);
    first[i] = -o->K[i] * p[0] - o->B[i] * v[0];
    second[i] = -o->K[i] * p[1] - o->B[i] * v[1];
    travel[i] = v[0];
  }
  *info = (tbOscillatorInfo){TB_OSCILLATOR_DENSE, found.order,
                             found.squarings < 30 ? 1 << found.squarings : 1 << 30};
  return true;
}

// ---- choice ------------------------------------------------------------------------------------

// The common ratio B/K, or -1 where there is none.
static double damping_ratio(const tbOscillator* o) {
  if (o->n == 0 || o->general || !(o->K[0] > 0)) return -1;
  double beta = o->B[0] / o->K[0];
  for (int i = 1; i < o->n; i++) {
    if (!(o->K[i] > 0) || fabs(o->B[i] - beta * o->K[i]) > 1e-13 * o->B[i]) return -1;
  }
  return beta;
}

// A bound of |h A| after balancing: eigenvalues solve z^2 + z |YB| + |YK| = 0 in norm.
static double balanced_norm(const tbOscillator* o, double h) {
  double damping = 0, stiffness = 0;
  for (int i = 0; i < o->n; i++) {
    double b = 0, k = 0;
    for (int j = 0; j < o->n; j++) {
      double y = fabs(o->Y[(size_t)i * (size_t)o->n + (size_t)j]);
      b += y * o->B[j];
      k += y * o->K[j];
    }
    damping = fmax(damping, b);
    stiffness = fmax(stiffness, k);
  }
  return h * 0.5 * (damping + sqrt(damping * damping + 4 * stiffness));
}

// Operations, roughly: a factorisation per pole (complex ones cost four times as much), a solve per
// pole and application; modes cost tridiagonal form, QL and three products.
static double pade_cost(double n, int order, double steps) {
  double real = order & 1, pairs = order / 2;
  double factor = (real + 4 * pairs) * (0.7 * n * n * n + 3 * n * n);
  return factor + steps * (real + 4 * pairs) * (6 * n * n + 40 * n);
}
static double modes_cost(double n) {
  return 9 * n * n * n + 40 * n * n + 120 * n;
}

static tbOscillatorInfo choose(const tbOscillator* o, double h, const tbOscillatorSettings* s,
                               double beta) {
  if (s->order) return (tbOscillatorInfo){TB_OSCILLATOR_PADE, s->order, 1};
  double norm = balanced_norm(o, h), best = beta >= 0 ? modes_cost(o->n) : INFINITY;
  tbOscillatorInfo info = {beta >= 0 ? TB_OSCILLATOR_MODES : TB_OSCILLATOR_DENSE, 0, 1};
  for (int i = 0; i < NORDER; i++) {
    double steps = fmax(1, ceil(norm / tb_pade_norm(ORDERS[i], s->accuracy)));
    double cost = pade_cost(o->n, ORDERS[i], steps);
    if (!(steps <= MAX_STEPS) || cost >= best) continue;
    best = cost;
    info = (tbOscillatorInfo){TB_OSCILLATOR_PADE, ORDERS[i], (int)steps};
  }
  return info;
}

static bool all_finite(int n, const double* x) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += fabs(x[i]);
  return isfinite(sum);
}

bool tb_oscillator_integrals(const tbOscillator* o, double h, const tbOscillatorSettings* settings,
                             double* first, double* second, double* end, double* work, int* iwork,
                             tbOscillatorInfo* info) {
  tbOscillatorSettings automatic = {0, 0};
  if (!settings) settings = &automatic;
  int n = o->n;
  double *travel = work, *rest = work + 4 * (size_t)n, beta = damping_ratio(o);
  tbOscillatorInfo plan = choose(o, h, settings, beta);
  bool ok;
  if (plan.method == TB_OSCILLATOR_MODES) {
    ok = modes(o, beta, h, first, second, travel, rest);
  } else if (plan.method == TB_OSCILLATOR_PADE) {
    ok = tb_oscillator_pade(o, h, plan.order, plan.steps, first, second, travel, rest, iwork);
  } else {
    ok = dense(o, h, settings->accuracy, first, second, travel, rest, iwork, &plan);
  }
  if (info) *info = plan;
  if (!ok || !all_finite(n, first) || !all_finite(n, second)) return false;

  // p(h) = p + int v, v(h) = v + h a + Y int force.
  for (int i = 0; end && i < n; i++) {
    const double* row = o->Y + (size_t)i * (size_t)n;
    double sum = 0;
    for (int j = 0; j < n; j++) sum += row[j] * first[j];
    end[i] = o->p[i] + travel[i];
    end[n + i] = o->v[i] + h * o->a[i] + sum;
  }
  return true;
}
