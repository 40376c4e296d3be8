#include "linalg/oscillator.h"

#include <math.h>
#include <string.h>

#include "linalg/expm.h"
#include "linalg/oscillator_pade.h"

// Beyond this many applications of an approximant, squaring is cheaper.
enum { MAX_STEPS = 256, NORDER = 4 };
// Order 13 is for whoever asks for it: its poles' shares are a hundred thousand times their sum, so
// it rounds to 1e-11; order 7 in several steps is as fast and rounds to 1e-14. So is order 1: its
// z^3 is a half too large, so that where Y is small it is off however small h A is (a point under a
// constant load has a stretch of t^2, and integrals of t^3 and t^4).
static const int ORDERS[NORDER] = {2, 3, 5, 7};

int tb_oscillator_ints(int n) {
  int rotations = tb_oscillator_proportional_ints(n), pade = 7 * n + 3;
  return rotations > pade ? rotations : pade;
}

size_t tb_oscillator_work(int n) {
  size_t m = 2 * (size_t)n + 3, most = tb_expm_work((int)m, 2) + m * m + 4 * m;
  size_t pade = tb_oscillator_pade_work(n), proportional = tb_oscillator_proportional_work(n);
  if (pade > most) most = pade;
  return proportional > most ? proportional : most;
}

// ---- the augmented matrix ----------------------------------------------------------------------

// EXP eq. 29-30 as they are: xint and xint2 are the last two columns of exp(h Abar).
static bool dense(const tbOscillator* o, double h, double accuracy, double* first, double* second,
                  double* work, int* iwork, tbOscillatorInfo* info) {
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

// Nanoseconds, roughly, on a machine of 2020; only their ratios matter: each pole is a
// factorisation.
static double pade_cost(double n, int order, double steps) {
  double poles = 0.4 * (order & 1) + 1.1 * (order / 2);
  return poles * (0.7 * n * n * n + 2 * n * n + steps * (2.5 * n * n + 20 * n));
}

static tbOscillatorInfo choose(const tbOscillator* o, double h, const tbOscillatorSettings* s) {
  if (s->order) return (tbOscillatorInfo){TB_OSCILLATOR_PADE, s->order, 1};
  double norm = balanced_norm(o, h), best = INFINITY;
  tbOscillatorInfo info = {TB_OSCILLATOR_DENSE, 0, 1};
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
  double beta = damping_ratio(o);
  tbOscillatorInfo plan = {0, 0, 0};
  bool ok;
  if (beta >= 0) {
    ok = tb_oscillator_proportional(o, beta, h, settings, first, second, work, iwork, &plan);
  } else {
    plan = choose(o, h, settings);
    ok = plan.method == TB_OSCILLATOR_PADE
             ? tb_oscillator_pade(o, h, plan.order, plan.steps, first, second, work, iwork)
             : dense(o, h, settings->accuracy, first, second, work, iwork, &plan);
  }
  if (info) *info = plan;
  if (!ok || !all_finite(n, first) || !all_finite(n, second)) return false;

  // p'' = a + Y force, integrated once and twice.
  for (int i = 0; end && i < n; i++) {
    const double* row = o->Y + (size_t)i * (size_t)n;
    double once = 0, twice = 0;
    for (int j = 0; j < n; j++) {
      once += row[j] * first[j];
      twice += row[j] * second[j];
    }
    end[i] = o->p[i] + h * (o->v[i] + 0.5 * h * o->a[i]) + twice;
    end[n + i] = o->v[i] + h * o->a[i] + once;
  }
  return true;
}
