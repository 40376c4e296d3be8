// Coupled oscillators with proportional damping, B = beta K. With z = K^1/2 p the matrix
// S = K^1/2 Y K^1/2 is symmetric; reflections make it tridiagonal, S = Q T Q^T, and then each
// pole's system 1 + (s h beta + s^2 h^2) T is complex symmetric and tridiagonal: it is solved
// without pivoting, since all its eigenvalues lie on a ray from 1 that does not meet 0.
#include <math.h>
#include <string.h>

#include "base/kernel.h"
#include "linalg/expm.h"
#include "linalg/oscillator_pade.h"
#include "linalg/symeig.h"

enum { COLUMNS = 2 };

typedef struct {
  double re, im;
} Complex;

static Complex times(Complex a, Complex b) {
  return (Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

typedef struct {
  int n;
  double beta, tau;
  const tbPadePoles* poles;
  double *d, *e;             // T
  const double* start;       // n x 4: p, v, a in the reflected basis
  double* factor;            // per pole: n inverse pivots, n multipliers, complex
  double *p, *v;             // n x COLUMNS: the two columns
  double chain[3][COLUMNS];  // their chained scalars
  double *rp, *rv;           // n x COLUMNS x 2: real parts, then imaginary parts, row by row
} Context;

size_t tb_oscillator_proportional_work(int n) {
  size_t N = (size_t)n, poles = N * (4 * TB_MAX_POLES + 2 * COLUMNS + 4 * COLUMNS) + 16;
  size_t rotations = 2 * (size_t)tb_eigen_rotations(n);
  return N * N + 9 * N + (poles > rotations ? poles : rotations);
}

int tb_oscillator_proportional_ints(int n) {
  return tb_eigen_rotations(n);
}

// L D L^T of 1 + mu T for every pole.
static void factor_poles(const Context* x) {
  for (int k = 0; k < x->poles->count; k++) {
    Complex s = {x->tau * x->poles->re[k], x->tau * x->poles->im[k]}, mu = times(s, s);
    mu.re += x->beta * s.re;
    mu.im += x->beta * s.im;
    double* f = x->factor + 4 * (size_t)k * (size_t)x->n;
    Complex last = {0, 0}, below = {0, 0};
    for (int i = 0; i < x->n; i++, f += 4) {
      // pivot = 1 + mu d - l (mu e), l = mu e / previous pivot
      Complex fill = times(last, below);
      double a = 1 + mu.re * x->d[i] - fill.re, b = mu.im * x->d[i] - fill.im;
      double scale = 1 / (a * a + b * b);
      Complex inverse = {a * scale, -b * scale};
      double off = i + 1 < x->n ? x->e[i] : 0;
      below = (Complex){mu.re * off, mu.im * off};
      last = times(below, inverse);
      f[0] = inverse.re;
      f[1] = inverse.im;
      f[2] = last.re;
      f[3] = last.im;
    }
  }
}

// x -= l y for both columns; rows hold real parts, then imaginary parts.
static inline void subtract(double* TB_RESTRICT x, const double* TB_RESTRICT y, double re,
                            double im) {
  for (int c = 0; c < COLUMNS; c++) {
    double a = y[c], b = y[COLUMNS + c];
    x[c] -= re * a - im * b;
    x[COLUMNS + c] -= re * b + im * a;
  }
}

static inline void scale_row(double* TB_RESTRICT x, double re, double im) {
  for (int c = 0; c < COLUMNS; c++) {
    double a = x[c], b = x[COLUMNS + c];
    x[c] = re * a - im * b;
    x[COLUMNS + c] = re * b + im * a;
  }
}

// One factor of the approximant on both columns: 2 R - 1 of the real pole, or of a pair
// 1 - 4 Re R + 4 Im(s R) / Im s = 1 + (4 Re s / Im s) Im R, since Im(s R) = Re s Im R + Im s Re R.
static double combine(double w, double re, double im, double ratio) {
  return ratio == 0 ? 2 * re - w : w + ratio * im;
}

// r = w + s1 start of one row, real parts then imaginary parts.
static inline void load_row(const double* TB_RESTRICT w, const Complex* s1, double start,
                            double* TB_RESTRICT r) {
  for (int c = 0; c < COLUMNS; c++) {
    r[c] = w[c] + s1[c].re * start;
    r[COLUMNS + c] = s1[c].im * start;
  }
}

static void apply_pole(Context* x, int k) {
  enum { WIDTH = 2 * COLUMNS };
  Complex s = {x->tau * x->poles->re[k], x->tau * x->poles->im[k]};
  double ratio = s.im == 0 ? 0 : 4 * s.re / s.im;
  int n = x->n;
  Complex c1[COLUMNS], c0[COLUMNS], s1[COLUMNS], s0[COLUMNS];
  for (int c = 0; c < COLUMNS; c++) {
    c1[c] = (Complex){x->chain[1][c] + s.re * x->chain[2][c], s.im * x->chain[2][c]};
    s1[c] = times(s, c1[c]);
    c0[c] = (Complex){x->chain[0][c] + s1[c].re, s1[c].im};
    s0[c] = times(s, c0[c]);
  }

  // Down: right-hand side v + ... - s T r, and elimination.
  const double* f = x->factor + 4 * (size_t)k * (size_t)n;
  double before[WIDTH] = {0}, above = 0;
  load_row(x->p, s1, x->start[0], x->rp);
  for (int i = 0; i < n; i++) {
    double *rp = x->rp + i * WIDTH, *rv = x->rv + i * WIDTH, sum[WIDTH];
    double v0 = x->start[4 * i + 1], a0 = x->start[4 * i + 2], d = x->d[i], e = x->e[i];
    for (int c = 0; c < WIDTH; c++) sum[c] = d * rp[c] + above * before[c];
    if (i + 1 < n) {
      load_row(x->p + (i + 1) * COLUMNS, s1, x->start[4 * i + 4], rp + WIDTH);
      for (int c = 0; c < WIDTH; c++) sum[c] += e * rp[WIDTH + c];
    }
    for (int c = 0; c < WIDTH; c++) before[c] = rp[c];
    above = e;
    for (int c = 0; c < COLUMNS; c++) {
      double re = sum[c], im = sum[COLUMNS + c];
      rv[c] = x->v[i * COLUMNS + c] + s0[c].re * a0 + s1[c].re * v0 - (s.re * re - s.im * im);
      rv[COLUMNS + c] = s0[c].im * a0 + s1[c].im * v0 - (s.re * im + s.im * re);
    }
    if (i > 0) subtract(rv, rv - WIDTH, f[4 * i - 2], f[4 * i - 1]);
  }

  // Up: substitution, and the factor's result.
  for (int i = n - 1; i >= 0; i--) {
    double *rp = x->rp + i * WIDTH, *rv = x->rv + i * WIDTH;
    scale_row(rv, f[4 * i], f[4 * i + 1]);
    if (i + 1 < n) subtract(rv, rv + WIDTH, f[4 * i + 2], f[4 * i + 3]);
    for (int c = 0; c < COLUMNS; c++) {
      double re = rv[c], im = rv[COLUMNS + c], *p = &x->p[i * COLUMNS + c];
      double* v = &x->v[i * COLUMNS + c];
      *p = combine(*p, rp[c] + s.re * re - s.im * im, rp[COLUMNS + c] + s.re * im + s.im * re,
                   ratio);
      *v = combine(*v, re, im, ratio);
    }
  }
  for (int c = 0; c < COLUMNS; c++) {
    x->chain[0][c] = combine(x->chain[0][c], c0[c].re, c0[c].im, ratio);
    x->chain[1][c] = combine(x->chain[1][c], c1[c].re, c1[c].im, ratio);
  }
}

// Both columns by the approximant; start becomes the integrals of the force and of v.
static void by_poles(Context* x, double h, int order, int steps, double* start, double* memory) {
  size_t N = (size_t)x->n;
  x->tau = h / steps;
  x->poles = tb_pade_poles(order);
  x->p = memory;
  x->v = x->p + COLUMNS * N;
  x->rp = x->v + COLUMNS * N;
  x->rv = x->rp + 2 * COLUMNS * N;
  x->factor = x->rv + 2 * COLUMNS * N;
  factor_poles(x);
  // The columns that give the integral and the double integral (EXP eq. 29).
  memset(x->p, 0, sizeof(double) * 2 * COLUMNS * N);
  x->chain[1][0] = x->chain[2][1] = 1;
  for (int i = 0; i < steps; i++) {
    for (int k = 0; k < x->poles->count; k++) apply_pole(x, k);
  }
  for (int i = 0; i < x->n; i++) {
    start[4 * i] = -x->p[2 * i] - x->beta * x->v[2 * i];
    start[4 * i + 1] = -x->p[2 * i + 1] - x->beta * x->v[2 * i + 1];
    start[4 * i + 2] = x->v[2 * i];
  }
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

void tb_oscillator_mode(double s, double beta, double h, double first[3], double second[3]) {
  double I[4], power = h;
  impulse_response(beta * s * h, s * h * h, I);
  for (int j = 0; j < 4; j++, power *= h) I[j] *= power;
  // Minus (stretch + beta rate), once and twice integrated, of a start p, a start v, a load a.
  first[0] = -(h - s * I[2] - beta * s * I[1]);
  first[1] = -(I[1] + beta * I[0]);
  first[2] = -(I[2] + beta * I[1]);
  second[0] = -(0.5 * h * h - s * I[3] - beta * s * I[2]);
  second[1] = -(I[2] + beta * I[1]);
  second[2] = -(I[3] + beta * I[2]);
}

// Every mode by itself; start (in the eigenbasis) becomes the integrals.
static void by_modes(const Context* x, double h, double* start) {
  for (int i = 0; i < x->n; i++) {
    double s = fmax(x->d[i], 0), I[4], *y = start + 4 * i, p = y[0], v = y[1], a = y[2];
    impulse_response(x->beta * s * h, s * h * h, I);
    double power = h;
    for (int j = 0; j < 4; j++, power *= h) I[j] *= power;
    double p1 = (h - s * I[2]) * p + I[1] * v + I[2] * a;
    double v1 = -s * I[1] * p + I[0] * v + I[1] * a;
    double p2 = (0.5 * h * h - s * I[3]) * p + I[2] * v + I[3] * a;
    double v2 = -s * I[2] * p + I[1] * v + I[2] * a;
    y[0] = -(p1 + x->beta * v1);
    y[1] = -(p2 + x->beta * v2);
    y[2] = v1;
  }
}

// ---- choice ------------------------------------------------------------------------------------

// The largest |z| of h A: T's largest eigenvalue s is bounded by its rows, and z^2 + beta s h z +
// s h^2 = 0.
static double spectral_radius(const Context* x, double h) {
  double s = 0;
  for (int i = 0; i < x->n; i++) {
    s = fmax(s, x->d[i] + fabs(x->e[i]) + (i > 0 ? fabs(x->e[i - 1]) : 0));
  }
  double c = x->beta * s * h, k = s * h * h, square = c * c - 4 * k;
  return square > 0 ? 0.5 * (c + sqrt(square)) : sqrt(k);
}

// The largest |z| at which the approximants of order 1, 2, 3, 5, 7, 13 have the error 1e-2 ...
// 1e-6, 1e-8 on the negative real axis, and on every circle through 0 in the left half plane with
// that diameter: where damped oscillators have their eigenvalues, with circles of diameter 2 h /
// beta.
enum { NORDER = 6, NACCURACY = 7 };
static const int ORDERS[NORDER] = {1, 2, 3, 5, 7, 13};
static const double ACCURACIES[NACCURACY] = {3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8};
static const double REACH[NORDER][NACCURACY] = {
    {0.95, 0.60, 0.25, 0.11, 0.05, 0.02, 0.005}, {3.12, 2.18, 1.17, 0.68, 0.40, 0.25, 0.10},
    {6.48, 4.73, 2.77, 1.76, 1.18, 0.81, 0.40},  {16.7, 12.4, 7.91, 5.42, 3.96, 3.00, 1.79},
    {31.6, 23.8, 15.2, 11.0, 8.40, 6.48, 4.28},  {103.8, 78.7, 51.9, 38.1, 30.1, 24.4, 17.4},
};

static double reach(const Context* x, double h, double radius, int i, double accuracy) {
  // Few damped modes: eigenvalues near the imaginary axis, where only the norm counts.
  if (x->beta * radius < 2 * h) return tb_pade_norm(ORDERS[i], accuracy);
  for (int k = 0; k < NACCURACY; k++) {
    if (ACCURACIES[k] <= accuracy * 1.001) return REACH[i][k];
  }
  return tb_pade_norm(ORDERS[i], accuracy);
}

// Nanoseconds, roughly, on a machine of 2020; only their ratios matter.
static tbOscillatorInfo choose(const Context* x, double h, const tbOscillatorSettings* s) {
  if (s->order) return (tbOscillatorInfo){TB_OSCILLATOR_PADE, s->order, 1};
  double n = x->n, radius = spectral_radius(x, h), best = 43 * n * n + 100 * n;
  tbOscillatorInfo info = {TB_OSCILLATOR_MODES, 0, 1};
  for (int i = 0; i < NORDER; i++) {
    double steps = fmax(1, ceil(radius / reach(x, h, radius, i, s->accuracy)));
    double cost = (0.5 + steps) * ((ORDERS[i] + 1) / 2) * 27 * n;
    if (cost >= best) continue;
    best = cost;
    info = (tbOscillatorInfo){TB_OSCILLATOR_PADE, ORDERS[i], (int)steps};
  }
  return info;
}

bool tb_oscillator_proportional(const tbOscillator* o, double beta, double h,
                                const tbOscillatorSettings* settings, double* first, double* second,
                                double* travel, double* work, int* iwork, tbOscillatorInfo* info) {
  int n = o->n;
  size_t N = (size_t)n;
  double *S = work, *root = S + N * N, *memory = root + N, *start = memory + 2 * N;
  Context x = {.n = n, .beta = beta, .start = start, .d = start + 4 * N, .e = start + 5 * N};
  double* rest = start + 6 * N;
  if (settings->order && !tb_pade_poles(settings->order)) return false;
  for (int i = 0; i < n; i++) root[i] = sqrt(o->K[i]);
  for (size_t i = 0; i < N; i++) {
    double scale = root[i];
    for (size_t j = 0; j < N; j++) S[i * N + j] = scale * o->Y[i * N + j] * root[j];
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
    travel[i] = start[4 * i + 2] / root[i];
  }
  return true;
}
