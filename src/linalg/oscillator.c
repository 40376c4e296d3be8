#include "linalg/oscillator.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "linalg/expm.h"
#include "linalg/oscillator_pade.h"

// Beyond this many applications of an approximant, squaring is cheaper.
enum { MAX_STEPS = 256, NORDER = 4, LARGE = 24 };
// Orders for the automatic choice. Not 13: the weights of its poles are a hundred thousand times
// their sum, so that it rounds to 1e-11, while order 7 in several steps is as fast and rounds to
// 1e-14. Nor 1: the z^3 term of its series is too large by a half, which is visible if Y is small,
// however small h A is (a point under a constant load has a displacement of t^2, and integrals of
// t^3 and t^4).
static const int ORDERS[NORDER] = {2, 3, 5, 7};

int tb_oscillator_ints(int n) {
  int rotations = tb_oscillator_proportional_ints(n), pade = 7 * n + 3;
  return rotations > pade ? rotations : pade;
}

size_t tb_oscillator_work(int n) {
  size_t m = 2 * (size_t)n + 3, most = tb_expm_work((int)m, 2) + m * m + 4 * m;
  size_t pade = tb_oscillator_pade_work(n), proportional = tb_oscillator_proportional_work(n);
  size_t low_rank = tb_oscillator_low_rank_work(n);
  if (pade > most) most = pade;
  if (low_rank > most) most = low_rank;
  return 4 * (size_t)n + (proportional > most ? proportional : most);
}

// ---- the augmented matrix ----------------------------------------------------------------------

// EXP eq. 29-30 literally: xint and xint2 are the last two columns of exp(h Abar).
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

// The common ratio B/K, or -1 if there is none.
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
    damping = tb_max(damping, b);
    stiffness = tb_max(stiffness, k);
  }
  return h * 0.5 * (damping + sqrt(damping * damping + 4 * stiffness));
}

// Estimated nanoseconds on a machine of 2020, of which only the ratios matter: each pole costs a
// factorisation of `rank` rows.
static double pade_cost(double n, double rank, int order, double steps) {
  double poles = 0.4 * (order & 1) + 1.1 * (order / 2);
  return poles * (0.7 * rank * rank * rank + 2 * n * rank + steps * (2.5 * n * rank + 20 * n));
}

bool tb_oscillator_is_low_rank(int n, int rank) {
  return rank > 0 && n >= LARGE && 5 * rank <= 4 * n;
}

// Number of parts of a graded step of this order, 0 if it is not applicable. Small systems do not
// use it: equal steps have closed-form derivatives (oscillator_tangent.c). Every mode beyond the
// range of one part must be overdamped (z real), and all others, on a circle of diameter 2 h /
// beta, must be within it; then modes too fast for a part of four times the length have mostly
// decayed before it.
static int graded_parts(const tbOscillator* o, double h, double norm, int order, double accuracy) {
  static const double LEAST = 1e-2, MOST = 1e12;
  if (o->n < LARGE || accuracy < LEAST || !(norm <= MOST)) return 0;
  double beta = INFINITY, reach = tb_pade_norm(order, accuracy);
  for (int i = 0; i < o->n; i++) beta = tb_min(beta, o->K[i] > 0 ? o->B[i] / o->K[i] : INFINITY);
  if (!(2 * h <= reach * beta)) return 0;
  return norm <= reach ? 1 : 1 + (int)ceil(tb_log(norm / reach) / tb_log(4));
}

static tbOscillatorInfo choose(const tbOscillator* o, double h, const tbOscillatorSettings* s) {
  if (s->order) return (tbOscillatorInfo){TB_OSCILLATOR_PADE, s->order, 1};
  double norm = balanced_norm(o, h), best = INFINITY,
         rank = tb_oscillator_is_low_rank(o->n, o->rank) ? o->rank : o->n;
  tbOscillatorInfo info = {TB_OSCILLATOR_DENSE, 0, 1};
  for (int i = 0; i < NORDER; i++) {
    double steps = tb_max(1, ceil(norm / tb_pade_norm(ORDERS[i], s->accuracy)));
    double cost = pade_cost(o->n, rank, ORDERS[i], steps);
    if (steps <= MAX_STEPS && cost < best) {
      best = cost;
      info = (tbOscillatorInfo){TB_OSCILLATOR_PADE, ORDERS[i], (int)steps};
    }
    int parts = graded_parts(o, h, norm, ORDERS[i], s->accuracy);
    cost = parts * pade_cost(o->n, rank, ORDERS[i], 1);
    if (parts > 1 && cost < best) {
      best = cost;
      info = (tbOscillatorInfo){TB_OSCILLATOR_GRADED, ORDERS[i], parts};
    }
  }
  return info;
}

// Equal steps of the approximant, in as few unknowns as possible.
static bool by_poles(const tbOscillator* o, double h, int order, int steps, double* first,
                     double* second, double* work, int* iwork) {
  if (o->left && tb_oscillator_is_low_rank(o->n, o->rank)) {
    return tb_oscillator_low_rank(o, h, order, steps, first, second, work, iwork);
  }
  return tb_oscillator_pade(o, h, order, steps, first, second, work, iwork);
}

// p and v after a time tau under forces with these integrals: p'' = a + Y force.
static void advance(const tbOscillator* o, double tau, const double* once, const double* twice,
                    double* p, double* v) {
  size_t n = (size_t)o->n;
  for (size_t i = 0; i < n; i++) {
    const double* row = o->Y + i * n;
    double force1 = 0, force2 = 0;
    for (size_t j = 0; j < n; j++) {
      force1 += row[j] * once[j];
      force2 += row[j] * twice[j];
    }
    p[i] += tau * (v[i] + 0.5 * tau * o->a[i]) + force2;
    v[i] += tau * o->a[i] + force1;
  }
}

// Parts: the first of length h / 4^(parts - 1), each further one three times the time before it.
static bool by_parts(const tbOscillator* o, double h, int order, int parts, double* first,
                     double* second, double* work, int* iwork) {
  size_t N = (size_t)o->n;
  double *p = work, *v = p + N, *part1 = v + N, *part2 = part1 + N, *rest = part2 + N, done = 0;
  memcpy(p, o->p, sizeof(double) * N);
  memcpy(v, o->v, sizeof(double) * N);
  memset(first, 0, sizeof(double) * N);
  memset(second, 0, sizeof(double) * N);
  tbOscillator part = *o;
  part.p = p;
  part.v = v;
  for (int k = 0; k < parts; k++) {
    double end = ldexp(h, 2 * (k + 1 - parts)), tau = end - done;
    if (!by_poles(&part, tau, order, 1, part1, part2, rest, iwork)) return false;
    for (size_t i = 0; i < N; i++) {
      second[i] += tau * first[i] + part2[i];
      first[i] += part1[i];
    }
    advance(o, tau, part1, part2, p, v);
    done = end;
  }
  return true;
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
  tbOscillatorInfo plan = {TB_OSCILLATOR_DENSE, 0, 0};
  bool ok, low_rank = tb_oscillator_is_low_rank(n, o->rank);
  if (low_rank || beta < 0) plan = choose(o, h, settings);
  if (plan.method == TB_OSCILLATOR_PADE) {
    ok = by_poles(o, h, plan.order, plan.steps, first, second, work, iwork);
  } else if (plan.method == TB_OSCILLATOR_GRADED) {
    ok = by_parts(o, h, plan.order, plan.steps, first, second, work, iwork);
  } else if (beta >= 0) {
    ok = tb_oscillator_proportional(o, beta, h, settings, first, second, work, iwork, &plan);
  } else {
    ok = dense(o, h, settings->accuracy, first, second, work, iwork, &plan);
  }
  if (info) *info = plan;
  if (!ok || !all_finite(n, first) || !all_finite(n, second)) return false;

  if (end) {
    memcpy(end, o->p, sizeof(double) * (size_t)n);
    memcpy(end + n, o->v, sizeof(double) * (size_t)n);
    advance(o, h, first, second, end, end + n);
  }
  return true;
}
