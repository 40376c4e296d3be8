// Coupled oscillators with proportional damping, B = beta K. With z = K^1/2 p the matrix S = K^1/2
// Y K^1/2 is symmetric; reflections make it tridiagonal, S = Q T Q^T, and then each pole's system 1
// + (s h beta + s^2 h^2) T is complex symmetric and tridiagonal. It is solved without pivoting,
// since all its eigenvalues lie on a ray from 1 that does not meet 0.
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "base/kernel.h"
#include "linalg/expm.h"
#include "linalg/oscillator_pade.h"
#include "linalg/symeig.h"

enum { LANES = 4 };

typedef struct {
  int n;
  double beta;
  double *d, *e;  // T
} Context;

// Memory of by_poles per row: four poles' factors and solutions, and parts of the integrals.
enum { POLE_ROOM = 6 * LANES + 4 };

size_t tb_oscillator_proportional_work(int n) {
  size_t N = (size_t)n, poles = (N + 1) * POLE_ROOM;
  size_t rotations = 2 * (size_t)tb_eigen_rotations(n);
  size_t stride = (size_t)tb_eigen_stride(n);
  return (N + 2) * stride + 7 * N + (poles > rotations ? poles : rotations);
}

int tb_oscillator_proportional_ints(int n) {
  return tb_eigen_rotations(n);
}

// ---- poles -------------------------------------------------------------------------------------

// Four poles in SIMD lanes; missing poles have zero weight.
typedef struct {
  double mu_re[LANES], mu_im[LANES];      // sigma (sigma + beta)
  double gain_re[LANES], gain_im[LANES];  // sigma + beta
  double w1_re[LANES], w1_im[LANES];      // weights of both integrals
  double w2_re[LANES], w2_im[LANES];
} Poles;

static void load_poles(const tbPadePoles* poles, int from, double beta, double tau, Poles* q) {
  memset(q, 0, sizeof *q);
  for (int c = 0; c < LANES && from + c < poles->count; c++) {
    tbPoleShare share = tb_pole_share(poles, from + c, tau);
    tbComplex gain = {share.sigma.re + beta, share.sigma.im};
    tbComplex mu = tb_complex_times(share.sigma, gain);
    q->mu_re[c] = mu.re;
    q->mu_im[c] = mu.im;
    q->gain_re[c] = gain.re;
    q->gain_im[c] = gain.im;
    q->w1_re[c] = share.first.re;
    q->w1_im[c] = share.first.im;
    q->w2_re[c] = share.second.re;
    q->w2_im[c] = share.second.im;
  }
}

// One row of the elimination of (1 + mu T) g = p + gain v + mu a, by L D L^T: `f` receives its
// inverse pivot and multiplier, `g` its right-hand side, real parts before imaginary ones; `last`
// and `before` are those of the previous row. Here and below all values are loaded before any is
// stored, so that four lanes are one register.
TB_INLINE void eliminate(const Poles* q, double diagonal, double above, double off,
                         const double* start, const double* last, const double* before, double* f,
                         double* g) {
  double inverse_re[LANES], inverse_im[LANES], l_re[LANES], l_im[LANES], re[LANES], im[LANES];
  for (int c = 0; c < LANES; c++) {
    double m_re = last[2 * LANES + c], m_im = last[3 * LANES + c];
    double b_re = q->mu_re[c] * above, b_im = q->mu_im[c] * above;
    double a = 1 + q->mu_re[c] * diagonal - (m_re * b_re - m_im * b_im);
    double b = q->mu_im[c] * diagonal - (m_re * b_im + m_im * b_re);
    double scale = 1 / (a * a + b * b);
    inverse_re[c] = a * scale;
    inverse_im[c] = -b * scale;
    l_re[c] = off * (q->mu_re[c] * inverse_re[c] - q->mu_im[c] * inverse_im[c]);
    l_im[c] = off * (q->mu_re[c] * inverse_im[c] + q->mu_im[c] * inverse_re[c]);
    re[c] = start[0] + q->gain_re[c] * start[1] + q->mu_re[c] * start[2] -
            (m_re * before[c] - m_im * before[LANES + c]);
    im[c] = q->gain_im[c] * start[1] + q->mu_im[c] * start[2] -
            (m_re * before[LANES + c] + m_im * before[c]);
  }
  for (int c = 0; c < LANES; c++) f[c] = inverse_re[c];
  for (int c = 0; c < LANES; c++) f[LANES + c] = inverse_im[c];
  for (int c = 0; c < LANES; c++) f[2 * LANES + c] = l_re[c];
  for (int c = 0; c < LANES; c++) f[3 * LANES + c] = l_im[c];
  for (int c = 0; c < LANES; c++) g[c] = re[c];
  for (int c = 0; c < LANES; c++) g[LANES + c] = im[c];
}

// One row of the substitution: g = inverse pivot g - multiplier g of the row after.
TB_INLINE void substitute(const double* f, const double* after, double* g) {
  double re[LANES], im[LANES];
  for (int c = 0; c < LANES; c++) {
    re[c] = f[c] * g[c] - f[LANES + c] * g[LANES + c] -
            (f[2 * LANES + c] * after[c] - f[3 * LANES + c] * after[LANES + c]);
    im[c] = f[c] * g[LANES + c] + f[LANES + c] * g[c] -
            (f[2 * LANES + c] * after[LANES + c] + f[3 * LANES + c] * after[c]);
  }
  for (int c = 0; c < LANES; c++) g[c] = re[c];
  for (int c = 0; c < LANES; c++) g[LANES + c] = im[c];
}

// The sum over the lanes of Re(w g).
TB_INLINE double weigh(const double* re, const double* im, const double* g) {
  double x[LANES];
  for (int c = 0; c < LANES; c++) x[c] = re[c] * g[c] - im[c] * g[LANES + c];
  return (x[0] + x[1]) + (x[2] + x[3]);
}

// Subtract four poles' contributions from the integrals. `start`: n x 4; `room`: 6 LANES (n + 1),
// whose last row serves as neighbour of the first and the last one.
TB_INLINE void add_poles(const Context* x, const Poles* q, const double* start, double* room,
                         double* first, double* second) {
  int n = x->n;
  double *factor = room, *g = room + 4 * LANES * (n + 1);
  double *last = factor + 4 * LANES * n, *zero = g + 2 * LANES * n, *near = zero, above = 0;
  for (int i = 0; i < 4 * LANES; i++) last[i] = 0;
  for (int i = 0; i < 2 * LANES; i++) zero[i] = 0;
  for (int i = 0; i < n; i++) {
    double *f = factor + 4 * LANES * i, *now = g + 2 * LANES * i;
    eliminate(q, x->d[i], above, x->e[i], start + 4 * i, last, near, f, now);
    last = f;
    near = now;
    above = x->e[i];
  }
  near = zero;
  for (int i = n - 1; i >= 0; i--) {
    double* now = g + 2 * LANES * i;
    substitute(factor + 4 * LANES * i, near, now);
    first[i] -= weigh(q->w1_re, q->w1_im, now);
    second[i] -= weigh(q->w2_re, q->w2_im, now);
    near = now;
  }
}

static void add_generic(const Context* x, const Poles* q, const double* start, double* room,
                        double* first, double* second) {
  add_poles(x, q, start, room, first, second);
}

TB_WIDE static void add_avx2(const Context* x, const Poles* q, const double* start, double* room,
                             double* first, double* second) {
  add_poles(x, q, start, room, first, second);
}

// z'' = a + T force, integrated once and twice: the state after a part of the step.
static void advance(const Context* x, double tau, const double* part1, const double* part2,
                    double* start) {
  for (int i = 0; i < x->n; i++) {
    double *y = start + 4 * i, once = x->d[i] * part1[i], twice = x->d[i] * part2[i];
    if (i > 0) {
      once += x->e[i - 1] * part1[i - 1];
      twice += x->e[i - 1] * part2[i - 1];
    }
    if (i + 1 < x->n) {
      once += x->e[i] * part1[i + 1];
      twice += x->e[i] * part2[i + 1];
    }
    y[0] += tau * (y[1] + 0.5 * tau * y[2]) + twice;
    y[1] += tau * y[2] + once;
  }
}

// Replace start by the integrals of the force, by the approximant applied `steps` times.
static void by_poles(const Context* x, double h, int order, int steps, double* start,
                     double* memory) {
  size_t n = (size_t)x->n;
  const tbPadePoles* poles = tb_pade_poles(order);
  double *first = memory, *second = first + n, *part1 = second + n, *part2 = part1 + n;
  double *room = part2 + n, tau = h / steps;
  memset(first, 0, sizeof(double) * 2 * n);
  for (int step = 0; step < steps; step++) {
    memset(part1, 0, sizeof(double) * 2 * n);
    for (int from = 0; from < poles->count; from += LANES) {
      Poles q;
      load_poles(poles, from, x->beta, tau, &q);
      if (tb_wide()) {
        add_avx2(x, &q, start, room, part1, part2);
      } else {
        add_generic(x, &q, start, room, part1, part2);
      }
    }
    for (size_t i = 0; i < n; i++) {
      second[i] += tau * first[i] + part2[i];
      first[i] += part1[i];
    }
    if (step + 1 < steps) advance(x, tau, part1, part2, start);
  }
  for (size_t i = 0; i < n; i++) {
    start[4 * i] = first[i];
    start[4 * i + 1] = second[i];
  }
}

// ---- modes -------------------------------------------------------------------------------------

// phi_j(z) = sum of z^k / (k + j)! for j = 0 ... 3, z <= 0 real.
static void phi_functions(double z, double phi[4]) {
  phi[0] = tb_exp(z);
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

// For u'' + c u' + k u = 0 with u(0) = 0, u'(0) = 1: u and its first three integrals at time 1.
static void impulse_response(double c, double k, double out[4]) {
  double discriminant = c * c - 4 * k;
  if (c + k < 2) {
    // Taylor series about 0: u_(j+2) = -c u_(j+1) - k u_j.
    double now = 0, next = 1, weight = 1;
    out[0] = out[1] = out[2] = out[3] = 0;
    for (int j = 0; j < 32 && fabs(now) * weight + fabs(next) * weight > 1e-19; j++) {
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
    // Two well separated real roots: divided differences of phi_j.
    double fast = -0.5 * (c + sqrt(discriminant)), slow = k / fast, x[4], y[4];
    phi_functions(slow, x);
    phi_functions(fast, y);
    for (int j = 0; j < 4; j++) out[j] = (x[j] - y[j]) / (slow - fast);
  } else {
    // Complex or nearly double roots; each integral from the equation integrated once more.
    double w = sqrt(fabs(discriminant)) / 2, decay = tb_exp(-c / 2), sine = decay, cosine = decay;
    if (w > 1e-6 && discriminant < 0) {
      sine *= tb_sin(w) / w;
      cosine *= tb_cos(w);
    } else if (w > 1e-6) {
      double slow = tb_exp(w - c / 2), fast = tb_exp(-w - c / 2);
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

void tb_oscillator_mode(double s, double beta, double h, double first[3], double second[3]) {
  double I[4], power = h;
  impulse_response(beta * s * h, s * h * h, I);
  for (int j = 0; j < 4; j++, power *= h) I[j] *= power;
  // Minus (displacement + beta velocity), integrated once and twice, for an initial p, an initial
  // v, a load a.
  first[0] = -(h - s * I[2] - beta * s * I[1]);
  first[1] = -(I[1] + beta * I[0]);
  first[2] = -(I[2] + beta * I[1]);
  second[0] = -(0.5 * h * h - s * I[3] - beta * s * I[2]);
  second[1] = -(I[2] + beta * I[1]);
  second[2] = -(I[3] + beta * I[2]);
}

// Each mode separately; start (in the eigenbasis) is replaced by the integrals.
static void by_modes(const Context* x, double h, double* start) {
  for (int i = 0; i < x->n; i++) {
    double s = tb_max(x->d[i], 0), I[4], *y = start + 4 * i, p = y[0], v = y[1], a = y[2];
    impulse_response(x->beta * s * h, s * h * h, I);
    double power = h;
    for (int j = 0; j < 4; j++, power *= h) I[j] *= power;
    double p1 = (h - s * I[2]) * p + I[1] * v + I[2] * a;
    double v1 = -s * I[1] * p + I[0] * v + I[1] * a;
    double p2 = (0.5 * h * h - s * I[3]) * p + I[2] * v + I[3] * a;
    double v2 = -s * I[2] * p + I[1] * v + I[2] * a;
    y[0] = -(p1 + x->beta * v1);
    y[1] = -(p2 + x->beta * v2);
  }
}

// ---- choice ------------------------------------------------------------------------------------

// The largest |z| of h A: T's largest eigenvalue s is bounded by its rows, and z^2 + beta s h z +
// s h^2 = 0.
static double spectral_radius(const Context* x, double h) {
  double s = 0;
  for (int i = 0; i < x->n; i++) {
    s = tb_max(s, x->d[i] + fabs(x->e[i]) + (i > 0 ? fabs(x->e[i - 1]) : 0));
  }
  double c = x->beta * s * h, k = s * h * h, square = c * c - 4 * k;
  return square > 0 ? 0.5 * (c + sqrt(square)) : sqrt(k);
}

// The largest |z| at which the approximant of order 7 has the error 3e-2, 1e-2, ... 1e-6, 1e-8 on
// the negative real axis, and on every circle through 0 in the left half plane with that diameter:
// damped oscillators have their eigenvalues there, on circles of diameter 2 h / beta.
enum { AUTOMATIC = 7, NACCURACY = 7 };
static const double ACCURACIES[NACCURACY] = {3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8};
static const double REACH[NACCURACY] = {31.6, 23.8, 15.2, 11.0, 8.40, 6.48, 4.28};

static double reach(const Context* x, double h, double radius, double accuracy) {
  // Few damped modes: eigenvalues near the imaginary axis, for which only the norm counts.
  if (x->beta * radius < 2 * h) return tb_pade_norm(AUTOMATIC, accuracy);
  for (int k = 0; k < NACCURACY; k++) {
    if (ACCURACIES[k] <= accuracy * 1.001) return REACH[k];
  }
  return tb_pade_norm(AUTOMATIC, accuracy);
}

// Four poles in SIMD lanes cost as much as one, so order 7 is as cheap as any lower one. Estimated
// nanoseconds on a machine of 2020, of which only the ratios matter.
static tbOscillatorInfo choose(const Context* x, double h, const tbOscillatorSettings* s) {
  if (s->order) return (tbOscillatorInfo){TB_OSCILLATOR_PADE, s->order, 1};
  double n = x->n, radius = spectral_radius(x, h);
  double steps = tb_max(1, ceil(radius / reach(x, h, radius, s->accuracy)));
  if (steps * (30 * n + 60) < 43 * n * n + 100 * n) {
    return (tbOscillatorInfo){TB_OSCILLATOR_PADE, AUTOMATIC, (int)steps};
  }
  return (tbOscillatorInfo){TB_OSCILLATOR_MODES, 0, 1};
}

bool tb_oscillator_proportional(const tbOscillator* o, double beta, double h,
                                const tbOscillatorSettings* settings, double* first, double* second,
                                double* work, int* iwork, tbOscillatorInfo* info) {
  int n = o->n;
  size_t N = (size_t)n, stride = (size_t)tb_eigen_stride(n);
  double *S = work, *memory = S + N * stride, *start = memory + 2 * stride, *root = start + 6 * N;
  Context x = {.n = n, .beta = beta, .d = start + 4 * N, .e = start + 5 * N};
  double* rest = root + N;
  if (settings->order && !tb_pade_poles(settings->order)) return false;
  for (int i = 0; i < n; i++) root[i] = sqrt(o->K[i]);
  for (size_t i = 0; i < N; i++) {
    double scale = root[i];
    double* row = S + i * stride;
    for (size_t j = 0; j < N; j++) row[j] = scale * o->Y[i * N + j] * root[j];
    for (size_t j = N; j < stride; j++) row[j] = 0;
    start[4 * i] = scale * o->p[i];
    start[4 * i + 1] = scale * o->v[i];
    start[4 * i + 2] = scale * o->a[i];
    start[4 * i + 3] = 0;
  }
  tbEigenBasis basis;
  tb_symmetric_tridiagonal(n, S, x.d, x.e, &basis, memory);
  *info = choose(&x, h, settings);
  if (info->method == TB_OSCILLATOR_MODES) {
    if (!tb_tridiagonal_eigen(x.d, x.e, &basis, rest, iwork)) return false;
    tb_eigen_to_modes(&basis, start);
    by_modes(&x, h, start);
  } else {
    tb_eigen_to_modes(&basis, start);
    by_poles(&x, h, info->order, info->steps, start, rest);
  }
  tb_eigen_from_modes(&basis, start);
  for (int i = 0; i < n; i++) {
    first[i] = root[i] * start[4 * i];
    second[i] = root[i] * start[4 * i + 1];
  }
  return true;
}
