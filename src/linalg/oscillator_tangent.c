// Derivatives of the integrals of coupled oscillators (docs/notebook/derivatives.md, eq. 69-70).
//
// A pole's solve (1 - s h A)[x; y] = [r; t] (oscillator_pade.c) has the derivative
//
//     W dy = dt - s YK dr - s dY (K x + B y),      dx = dr + s dy,      W = 1 + s YB + s^2 YK
//
// so that all directions share the factors of W. With eigenvectors: for S = K^1/2 Y K^1/2 = Q
// diag(s) Q^T the derivative of a function g of S is Q (D o Q^T dS Q) Q^T, with D the divided
// differences of g (Daleckii and Krein).
#include "linalg/oscillator_tangent.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "base/kernel.h"
#include "linalg/oscillator_pade.h"
#include "linalg/symeig.h"

typedef struct {
  double re, im;
} Complex;

static Complex times(Complex a, Complex b) {
  return (Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// y += s x
static void add_row(double* TB_RESTRICT y, const double* TB_RESTRICT x, double s, int n) {
  for (int i = 0; i < n; i++) y[i] += s * x[i];
}

// Rows with real and imaginary parts: y += s x for a complex s.
static void add_complex(double* re, double* im, const double* xre, const double* xim, Complex s,
                        int n) {
  for (int i = 0; i < n; i++) {
    re[i] += s.re * xre[i] - s.im * xim[i];
    im[i] += s.re * xim[i] + s.im * xre[i];
  }
}

// ---- poles --------------------------------------------------------------------------------------

// Values and derivatives are columns of the same arrays: column 0 is the value, followed by `width`
// derivatives.
typedef struct {
  const tbOscillator* o;
  const tbOscillatorChange* c;
  const tbPadePoles* poles;
  double tau;
  int columns;        // 1 + width
  double *YK, *YB;    // n x n
  double* matrix;     // per pole: re, im
  int* pivot;         // per pole: n
  double* start[3];   // p, v, a: n x columns
  double *xre, *xim;  // n x columns: r, then x
  double *yre, *yim;  // t, then y
} Context;

// One of the two columns of the augmented system (EXP eq. 29).
typedef struct {
  double *p, *v;  // n x columns
  double chain[3];
} Column;

static void solve_rows(const Context* x, int k) {
  int n = x->o->n, w = x->columns;
  size_t size = (size_t)n * (size_t)n, W = (size_t)w;
  const double *re = x->matrix + 2 * (size_t)k * size, *im = re + size;
  const int* pivot = x->pivot + (size_t)k * (size_t)n;
  for (int i = 0; i < n; i++) {
    for (int part = 0; pivot[i] != i && part < 2; part++) {
      double* a = (part ? x->yim : x->yre) + (size_t)i * W;
      double* b = (part ? x->yim : x->yre) + (size_t)pivot[i] * W;
      for (size_t c = 0; c < W; c++) {
        double swap = a[c];
        a[c] = b[c];
        b[c] = swap;
      }
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      Complex f = {-re[i * n + j], -im[i * n + j]};
      add_complex(x->yre + (size_t)i * W, x->yim + (size_t)i * W, x->yre + (size_t)j * W,
                  x->yim + (size_t)j * W, f, w);
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    double *yre = x->yre + (size_t)i * W, *yim = x->yim + (size_t)i * W;
    for (int j = i + 1; j < n; j++) {
      Complex f = {-re[i * n + j], -im[i * n + j]};
      add_complex(yre, yim, x->yre + (size_t)j * W, x->yim + (size_t)j * W, f, w);
    }
    Complex inverse = {re[i * n + i], im[i * n + i]};
    for (int c = 0; c < w; c++) {
      Complex y = times(inverse, (Complex){yre[c], yim[c]});
      yre[c] = y.re;
      yim[c] = y.im;
    }
  }
}

// t - s YK r for all columns; then - s dY (K x + B y) for the derivatives, which needs the value's
// solution, so the value is solved first.
static void load_rows(const Context* x, Complex s, Complex sc0, Complex sc1, const Column* w) {
  int n = x->o->n, width = x->columns;
  size_t W = (size_t)width;
  for (int i = 0; i < n; i++) {
    size_t at = (size_t)i * W;
    for (size_t c = at; c < at + W; c++) {
      x->xre[c] = w->p[c] + sc1.re * x->start[0][c];
      x->xim[c] = sc1.im * x->start[0][c];
      x->yre[c] = w->v[c] + sc0.re * x->start[2][c] + sc1.re * x->start[1][c];
      x->yim[c] = sc0.im * x->start[2][c] + sc1.im * x->start[1][c];
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double yk = x->YK[i * n + j];
      Complex f = {-s.re * yk, -s.im * yk};
      add_complex(x->yre + (size_t)i * W, x->yim + (size_t)i * W, x->xre + (size_t)j * W,
                  x->xim + (size_t)j * W, f, width);
    }
  }
}

// The value's y, for - s dY (K x + B y).
static void value_force(const Context* x, int k, Complex s, double* fre, double* fim) {
  int n = x->o->n;
  size_t W = (size_t)x->columns;
  Context one = *x;
  one.columns = 1;
  one.yre = fre;
  one.yim = fim;
  for (int i = 0; i < n; i++) {
    fre[i] = x->yre[(size_t)i * W];
    fim[i] = x->yim[(size_t)i * W];
  }
  solve_rows(&one, k);
  for (int i = 0; i < n; i++) {
    Complex y = {fre[i], fim[i]}, step = times(s, y);
    fre[i] = x->o->K[i] * (x->xre[(size_t)i * W] + step.re) + x->o->B[i] * y.re;
    fim[i] = x->o->K[i] * (x->xim[(size_t)i * W] + step.im) + x->o->B[i] * y.im;
  }
}

// One factor of the approximant: 2 R - 1 of the real pole, 1 + 4 (Re s / Im s) Im R of a pair.
static double combine(double w, double re, double im, double ratio) {
  return ratio == 0 ? 2 * re - w : w + ratio * im;
}

static void apply_pole(const Context* x, int k, double* force, Column* w) {
  int n = x->o->n;
  size_t W = (size_t)x->columns, N = (size_t)n, wide = (size_t)x->c->width_Y;
  Complex s = {x->tau * x->poles->re[k], x->tau * x->poles->im[k]};
  double ratio = s.im == 0 ? 0 : 4 * s.re / s.im;
  Complex c1 = {w->chain[1] + s.re * w->chain[2], s.im * w->chain[2]}, sc1 = times(s, c1);
  Complex c0 = {w->chain[0] + sc1.re, sc1.im}, sc0 = times(s, c0);
  load_rows(x, s, sc0, sc1, w);
  double *fre = force, *fim = force + n;
  value_force(x, k, s, fre, fim);
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < N; j++) {
      const double* dY = x->c->Y + (i * N + j) * wide;
      Complex f = times(s, (Complex){fre[j], fim[j]});
      add_row(x->yre + i * W + 1, dY, -f.re, x->c->width_Y);
      if (s.im != 0) add_row(x->yim + i * W + 1, dY, -f.im, x->c->width_Y);
    }
  }
  solve_rows(x, k);
  for (size_t c = 0; c < N * W; c++) {
    Complex step = times(s, (Complex){x->yre[c], x->yim[c]});
    w->p[c] = combine(w->p[c], x->xre[c] + step.re, x->xim[c] + step.im, ratio);
    w->v[c] = combine(w->v[c], x->yre[c], x->yim[c], ratio);
  }
  w->chain[0] = combine(w->chain[0], c0.re, c0.im, ratio);
  w->chain[1] = combine(w->chain[1], c1.re, c1.im, ratio);
}

static bool factor_poles(const Context* x) {
  int n = x->o->n;
  size_t size = (size_t)n * (size_t)n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      x->YK[i * n + j] = x->o->Y[i * n + j] * x->o->K[j];
      x->YB[i * n + j] = x->o->Y[i * n + j] * x->o->B[j];
    }
  }
  for (int k = 0; k < x->poles->count; k++) {
    Complex s = {x->tau * x->poles->re[k], x->tau * x->poles->im[k]}, square = times(s, s);
    double *re = x->matrix + 2 * (size_t)k * size, *im = re + size;
    for (size_t i = 0; i < size; i++) {
      re[i] = s.re * x->YB[i] + square.re * x->YK[i];
      im[i] = s.im * x->YB[i] + square.im * x->YK[i];
    }
    for (int i = 0; i < n; i++) re[i * n + i] += 1;
    if (!tb_complex_lu(n, re, im, x->pivot + (size_t)k * (size_t)n)) return false;
  }
  return true;
}

static bool by_poles(const tbOscillator* o, double h, const tbOscillatorInfo* plan,
                     const tbOscillatorChange* change, double* first, double* second, double* work,
                     int* iwork) {
  size_t N = (size_t)o->n, W = (size_t)change->width + 1, size = N * N, block = N * W;
  Context x = {.o = o, .c = change, .poles = tb_pade_poles(plan->order), .columns = (int)W};
  if (!x.poles || plan->steps < 1) return false;
  x.tau = h / plan->steps;
  x.YK = work;
  x.YB = x.YK + size;
  x.matrix = x.YB + size;
  double* at = x.matrix + 2 * TB_MAX_POLES * size;
  for (int i = 0; i < 3; i++, at += block) x.start[i] = at;
  double** const rooms[] = {&x.xre, &x.xim, &x.yre, &x.yim};
  for (int i = 0; i < 4; i++, at += block) *rooms[i] = at;
  Column column = {at, at + block, {0, 0, 0}};
  double* force = at + 2 * block;
  x.pivot = iwork;
  const double* const value[] = {o->p, o->v, o->a};
  const double* const moved[] = {change->p, change->v, change->a};
  for (int i = 0; i < 3; i++) {
    for (size_t r = 0; r < N; r++) {
      x.start[i][r * W] = value[i][r];
      memcpy(x.start[i] + r * W + 1, moved[i] + r * (W - 1), sizeof(double) * (W - 1));
    }
  }
  if (!factor_poles(&x)) return false;
  for (int c = 0; c < 2; c++) {
    double* out = c ? second : first;
    memset(column.p, 0, sizeof(double) * 2 * block);
    column.chain[0] = 0;
    column.chain[1] = c == 0;
    column.chain[2] = c == 1;
    for (int i = 0; i < plan->steps; i++) {
      for (int k = 0; k < x.poles->count; k++) apply_pole(&x, k, force, &column);
    }
    for (size_t r = 0; r < N; r++) {
      for (size_t k = 1; k < W; k++) {
        out[r * (W - 1) + k - 1] = -o->K[r] * column.p[r * W + k] - o->B[r] * column.v[r * W + k];
      }
    }
  }
  return true;
}

// ---- eigenvectors -------------------------------------------------------------------------------

// Divided differences of the six functions between eigenvalues a and b; derivatives if a and b
// coincide.
static void divided(double a, double b, double beta, double h, double out[6]) {
  double mean = 0.5 * (a + b), apart = fabs(a - b);
  // The least distance for a difference; closer eigenvalues use a slope over this distance.
  double least = 1e-5 * mean + 1e-9 / (h * h);
  if (apart < least) {
    a = mean + least;
    b = tb_max(mean - least, 0);
  }
  double high[6], low[6];
  tb_oscillator_mode(a, beta, h, high, high + 3);
  tb_oscillator_mode(b, beta, h, low, low + 3);
  for (int i = 0; i < 6; i++) out[i] = (high[i] - low[i]) / (a - b);
}

// Q (n x n): columns are eigenvectors of S; eigenvalues into d.
static bool eigenvectors(const tbOscillator* o, const double* root, double* Q, double* d,
                         double* work, int* iwork) {
  int n = o->n;
  size_t N = (size_t)n, stride = (size_t)tb_eigen_stride(n);
  double *S = work, *memory = S + N * stride, *e = memory + 2 * stride, *strip = e + N;
  double* rest = strip + 4 * N;
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < N; j++) S[i * stride + j] = root[i] * o->Y[i * N + j] * root[j];
    for (size_t j = N; j < stride; j++) S[i * stride + j] = 0;
  }
  tbEigenBasis basis;
  tb_symmetric_tridiagonal(n, S, d, e, &basis, memory);
  if (!tb_tridiagonal_eigen(d, e, &basis, rest, iwork)) return false;
  for (size_t j = 0; j < N; j += 4) {
    memset(strip, 0, sizeof(double) * 4 * N);
    for (size_t k = 0; k < 4 && j + k < N; k++) strip[4 * (j + k) + k] = 1;
    tb_eigen_from_modes(&basis, strip);
    for (size_t i = 0; i < N; i++) {
      for (size_t k = 0; k < 4 && j + k < N; k++) Q[i * N + j + k] = strip[4 * i + k];
    }
  }
  for (int i = 0; i < n; i++) d[i] = tb_max(d[i], 0);
  return true;
}

static bool by_modes(const tbOscillator* o, double h, const tbOscillatorChange* change,
                     double* first, double* second, double* work, int* iwork) {
  size_t N = (size_t)o->n, W = (size_t)change->width, wide = (size_t)change->width_Y;
  double *root = work, *Q = root + N, *d = Q + N * N, *z = d + N, *mode = z + 3 * N;
  double *sum = mode + 3 * N, *rest = sum + 2 * N * W;
  double beta = o->B[0] / o->K[0];
  for (size_t i = 0; i < N; i++) root[i] = sqrt(o->K[i]);
  if (!eigenvectors(o, root, Q, d, rest, iwork)) return false;
  // Start and load along the modes.
  const double* const value[] = {o->p, o->v, o->a};
  const double* const moved[] = {change->p, change->v, change->a};
  for (int k = 0; k < 3; k++) {
    for (size_t i = 0; i < N; i++) {
      z[3 * i + (size_t)k] = 0;
      for (size_t j = 0; j < N; j++) z[3 * i + (size_t)k] += Q[j * N + i] * root[j] * value[k][j];
    }
  }
  memset(sum, 0, sizeof(double) * 2 * N * W);
  for (size_t i = 0; i < N; i++) {
    double f[6], *to1 = sum + i * W, *to2 = sum + (N + i) * W;
    tb_oscillator_mode(d[i], beta, h, f, f + 3);
    for (size_t j = 0; j < N; j++) {
      double q = Q[j * N + i] * root[j];
      for (int k = 0; k < 3; k++) {
        add_row(to1, moved[k] + j * W, f[k] * q, change->width);
        add_row(to2, moved[k] + j * W, f[3 + k] * q, change->width);
      }
    }
    // The derivative of S between modes i and j, times the state of mode j: over all entries of dY.
    memset(mode, 0, sizeof(double) * 2 * N);
    for (size_t j = 0; j < N; j++) {
      double D[6], w1 = 0, w2 = 0;
      divided(d[i], d[j], beta, h, D);
      for (size_t k = 0; k < 3; k++) {
        w1 += D[k] * z[3 * j + k];
        w2 += D[3 + k] * z[3 * j + k];
      }
      for (size_t r = 0; r < N; r++) {
        mode[r] += w1 * Q[r * N + j] * root[r];
        mode[N + r] += w2 * Q[r * N + j] * root[r];
      }
    }
    for (size_t l = 0; l < N; l++) {
      double left = Q[l * N + i] * root[l];
      for (size_t r = 0; r < N; r++) {
        const double* dY = change->Y + (l * N + r) * wide;
        add_row(to1, dY, left * mode[r], change->width_Y);
        add_row(to2, dY, left * mode[N + r], change->width_Y);
      }
    }
  }
  memset(first, 0, sizeof(double) * N * W);
  memset(second, 0, sizeof(double) * N * W);
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < N; j++) {
      add_row(first + i * W, sum + j * W, root[i] * Q[i * N + j], change->width);
      add_row(second + i * W, sum + (N + j) * W, root[i] * Q[i * N + j], change->width);
    }
  }
  return true;
}

size_t tb_oscillator_tangent_work(int n, int width) {
  size_t N = (size_t)n, W = (size_t)width + 1;
  size_t poles = N * N * (2 + 2 * TB_MAX_POLES) + 9 * N * W + 2 * N + 1;
  size_t modes = 2 * N * N + 26 * N + 6 + 2 * N * W + 3 * W + 2 * (size_t)tb_eigen_rotations(n) + 1;
  return poles > modes ? poles : modes;
}

static bool all_finite(size_t n, const double* x) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += fabs(x[i]);
  return isfinite(sum);
}

bool tb_oscillator_tangents(const tbOscillator* o, double h, const tbOscillatorInfo* plan,
                            const tbOscillatorChange* change, double* first, double* second,
                            double* work, int* iwork) {
  size_t total = (size_t)o->n * (size_t)change->width;
  bool ok = false;
  if (o->n == 0) return true;
  if (plan->method == TB_OSCILLATOR_PADE) {
    ok = by_poles(o, h, plan, change, first, second, work, iwork);
  } else if (plan->method == TB_OSCILLATOR_MODES) {
    ok = by_modes(o, h, change, first, second, work, iwork);
  }
  return ok && all_finite(total, first) && all_finite(total, second);
}
