// r(z) = N(z)/D(z) with N(z) = D(-z) is a product of (1 + s z)/(1 - s z) over the inverse poles s,
// which come in conjugate pairs. With R = (1 - s z)^-1 a real factor is 2 R - 1, and a pair
//
//     (2 R - 1)(2 R' - 1) = 1 - 4 Re R + 4 Im(s R) / Im s
//
// takes one complex solve. With A = [0 I; -YK -YB] a solve (1 - s h A)[x; y] = [r; t] is
//
//     (1 + s h YB + s^2 h^2 YK) y = t - s h YK r,      x = r + s h y
//
// of n rows: no power of A is ever formed, and the approximant is as accurate as its factors.
#include "linalg/oscillator_pade.h"

#include <math.h>
#include <string.h>

#include "base/kernel.h"
#include "linalg/dense.h"

static const tbPadePoles POLES[] = {
    {1, 1, {0.5}, {0}},
    {2, 1, {0.25}, {0.14433756729740643}},
    {3, 2, {0.21531442311611218, 0.14234278844194392}, {0, 0.13579992570815380}},
    {5,
     3,
     {0.13710881296519226, 0.11742725435969863, 0.06401833915770525},
     {0, 0.06104970381853820, 0.09834106917310920}},
    {7,
     4,
     {0.10056746482250484, 0.09269477276632322, 0.07032869697924332, 0.03669279784318104},
     {0, 0.03388248894391369, 0.06077390916617556, 0.07405970370730863}},
    {13,
     7,
     {0.05588022166510302, 0.05451488849914287, 0.05048734669901187, 0.04399623573124688,
      0.03534695462913846, 0.02489286973205527, 0.01282159387685315},
     {0, 0.01072157105718078, 0.02076493343883544, 0.02947281504164988, 0.03621916525342456,
      0.04038291048485566, 0.04115677660542779}},
};

const tbPadePoles* tb_pade_poles(int order) {
  for (size_t i = 0; i < sizeof POLES / sizeof POLES[0]; i++) {
    if (POLES[i].order == order) return &POLES[i];
  }
  return NULL;
}

size_t tb_oscillator_pade_work(int n) {
  size_t N = (size_t)n;
  return N * N * (2 + 2 * TB_MAX_POLES) + 24 * N + 32;
}

// A complex number; C's own type would check for infinities in every product.
typedef struct {
  double re, im;
} Complex;

static Complex multiply(Complex a, Complex b) {
  return (Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

bool tb_complex_lu(int n, double* TB_RESTRICT re, double* TB_RESTRICT im, int* pivot) {
  for (int k = 0; k < n; k++) {
    int best = k;
    double largest = 0;
    for (int i = k; i < n; i++) {
      double size = fabs(re[i * n + k]) + fabs(im[i * n + k]);
      if (size > largest) {
        largest = size;
        best = i;
      }
    }
    pivot[k] = best;
    if (!(largest > 0) || !isfinite(largest)) return false;
    for (int j = 0; best != k && j < n; j++) {
      double a = re[k * n + j], b = im[k * n + j];
      re[k * n + j] = re[best * n + j];
      im[k * n + j] = im[best * n + j];
      re[best * n + j] = a;
      im[best * n + j] = b;
    }
    double x = re[k * n + k], y = im[k * n + k], square = x * x + y * y;
    Complex inverse = {x / square, -y / square};
    re[k * n + k] = inverse.re;
    im[k * n + k] = inverse.im;
    for (int i = k + 1; i < n; i++) {
      Complex f = multiply((Complex){re[i * n + k], im[i * n + k]}, inverse);
      re[i * n + k] = f.re;
      im[i * n + k] = f.im;
      double *row_re = re + i * n, *row_im = im + i * n;
      const double *top_re = re + k * n, *top_im = im + k * n;
      for (int j = k + 1; j < n; j++) {
        row_re[j] -= f.re * top_re[j] - f.im * top_im[j];
        row_im[j] -= f.re * top_im[j] + f.im * top_re[j];
      }
    }
  }
  return true;
}

static void solve(int n, const double* re, const double* im, const int* pivot,
                  double* TB_RESTRICT x, double* TB_RESTRICT y) {
  for (int k = 0; k < n; k++) {
    int p = pivot[k];
    double a = x[k], b = y[k];
    x[k] = x[p];
    y[k] = y[p];
    x[p] = a;
    y[p] = b;
  }
  for (int i = 0; i < n; i++) {
    double a = x[i], b = y[i];
    for (int j = 0; j < i; j++) {
      a -= re[i * n + j] * x[j] - im[i * n + j] * y[j];
      b -= re[i * n + j] * y[j] + im[i * n + j] * x[j];
    }
    x[i] = a;
    y[i] = b;
  }
  for (int i = n - 1; i >= 0; i--) {
    double a = x[i], b = y[i];
    for (int j = i + 1; j < n; j++) {
      a -= re[i * n + j] * x[j] - im[i * n + j] * y[j];
      b -= re[i * n + j] * y[j] + im[i * n + j] * x[j];
    }
    Complex z = multiply((Complex){a, b}, (Complex){re[i * n + i], im[i * n + i]});
    x[i] = z.re;
    y[i] = z.im;
  }
}

// One column of the augmented system: p and v parts, and the three chained scalars.
typedef struct {
  double *p, *v;
  double chain[3];
} Column;

typedef struct {
  const tbOscillator* o;
  const tbPadePoles* poles;
  double tau;       // h / steps
  double *YK, *YB;  // n x n each
  double* matrix;   // per pole: re, im, n x n each
  double* scratch;  // 4 n
  int* pivot;       // per pole: n
} Context;

// W = 1 + s tau YB + (s tau)^2 YK for every pole, factored.
static bool factor_poles(const Context* x) {
  int n = x->o->n;
  size_t size = (size_t)n * (size_t)n;
  for (int k = 0; k < x->poles->count; k++) {
    Complex s = {x->tau * x->poles->re[k], x->tau * x->poles->im[k]}, square = multiply(s, s);
    double *re = x->matrix + 2 * (size_t)k * size, *im = re + size;
    for (size_t i = 0; i < size; i++) {
      re[i] = s.re * x->YB[i] + square.re * x->YK[i];
      im[i] = s.im * x->YB[i] + square.im * x->YK[i];
    }
    for (int i = 0; i < n; i++) re[i * n + i] += 1;
    int* pivot = x->pivot + (size_t)k * (size_t)n;
    bool regular = s.im == 0 ? tb_lu(n, re, n, pivot) : tb_complex_lu(n, re, im, pivot);
    if (!regular) return false;
  }
  return true;
}

// out = M x for an n x n matrix.
static void apply_matrix(int n, const double* M, const double* x, double* out) {
  for (int i = 0; i < n; i++) {
    const double* row = M + (size_t)i * (size_t)n;
    double sum = 0;
    for (int j = 0; j < n; j++) sum += row[j] * x[j];
    out[i] = sum;
  }
}

// The factor 2 R - 1 of the real pole.
static void apply_real(const Context* x, int k, Column* w) {
  const tbOscillator* o = x->o;
  int n = o->n;
  double s = x->tau * x->poles->re[k], *rp = x->scratch, *rv = rp + n;
  double chain1 = w->chain[1] + s * w->chain[2], chain0 = w->chain[0] + s * chain1;
  for (int i = 0; i < n; i++) rp[i] = w->p[i] + s * chain1 * o->p[i];
  apply_matrix(n, x->YK, rp, rv);
  for (int i = 0; i < n; i++) {
    rv[i] = w->v[i] + s * (chain0 * o->a[i] + chain1 * o->v[i] - rv[i]);
  }
  size_t size = (size_t)n * (size_t)n;
  tb_lu_solve(n, x->matrix + 2 * (size_t)k * size, n, x->pivot + (size_t)k * (size_t)n, rv);
  for (int i = 0; i < n; i++) {
    w->p[i] = 2 * (rp[i] + s * rv[i]) - w->p[i];
    w->v[i] = 2 * rv[i] - w->v[i];
  }
  w->chain[0] = 2 * chain0 - w->chain[0];
  w->chain[1] = 2 * chain1 - w->chain[1];
}

// w - 4 Re r + 4 Im(s r) / Im s.
static double pair_factor(double w, Complex s, double re, double im) {
  return w - 4 * re + 4 * (s.re * im + s.im * re) / s.im;
}

// The factor of a pair of poles.
static void apply_pair(const Context* x, int k, Column* w) {
  const tbOscillator* o = x->o;
  int n = o->n;
  size_t size = (size_t)n * (size_t)n;
  const double *re = x->matrix + 2 * (size_t)k * size, *im = re + size;
  Complex s = {x->tau * x->poles->re[k], x->tau * x->poles->im[k]};
  Complex c1 = {w->chain[1] + s.re * w->chain[2], s.im * w->chain[2]}, sc1 = multiply(s, c1);
  Complex c0 = {w->chain[0] + sc1.re, sc1.im}, sc0 = multiply(s, c0);
  double *rp = x->scratch, *ip = rp + n, *rv = ip + n, *iv = rv + n;
  for (int i = 0; i < n; i++) {
    rp[i] = w->p[i] + sc1.re * o->p[i];
    ip[i] = sc1.im * o->p[i];
  }
  apply_matrix(n, x->YK, rp, rv);
  apply_matrix(n, x->YK, ip, iv);
  for (int i = 0; i < n; i++) {
    Complex pull = multiply(s, (Complex){rv[i], iv[i]});
    rv[i] = w->v[i] + sc0.re * o->a[i] + sc1.re * o->v[i] - pull.re;
    iv[i] = sc0.im * o->a[i] + sc1.im * o->v[i] - pull.im;
  }
  solve(n, re, im, x->pivot + (size_t)k * (size_t)n, rv, iv);
  for (int i = 0; i < n; i++) {
    Complex step = multiply(s, (Complex){rv[i], iv[i]});
    w->p[i] = pair_factor(w->p[i], s, rp[i] + step.re, ip[i] + step.im);
    w->v[i] = pair_factor(w->v[i], s, rv[i], iv[i]);
  }
  w->chain[0] = pair_factor(w->chain[0], s, c0.re, c0.im);
  w->chain[1] = pair_factor(w->chain[1], s, c1.re, c1.im);
}

bool tb_oscillator_pade(const tbOscillator* o, double h, int order, int steps, double* first,
                        double* second, double* travel, double* work, int* iwork) {
  const tbPadePoles* poles = tb_pade_poles(order);
  if (!poles || steps < 1) return false;
  int n = o->n;
  size_t size = (size_t)n * (size_t)n;
  Context x = {.o = o, .poles = poles, .tau = h / steps, .YK = work, .YB = work + size};
  x.matrix = work + 2 * size;
  x.scratch = x.matrix + 2 * TB_MAX_POLES * size;
  x.pivot = iwork;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      x.YK[i * n + j] = o->Y[i * n + j] * o->K[j];
      x.YB[i * n + j] = o->Y[i * n + j] * o->B[j];
    }
  }
  if (!factor_poles(&x)) return false;

  // The two columns that give the integral and the double integral (EXP eq. 29).
  double* state = x.scratch + 4 * (size_t)n;
  memset(state, 0, sizeof(double) * 4 * (size_t)n);
  Column column[2] = {{state, state + n, {0, 1, 0}}, {state + 2 * n, state + 3 * n, {0, 0, 1}}};
  for (int c = 0; c < 2; c++) {
    for (int i = 0; i < steps; i++) {
      for (int k = 0; k < poles->count; k++) {
        if (poles->im[k] == 0)
          apply_real(&x, k, &column[c]);
        else
          apply_pair(&x, k, &column[c]);
      }
    }
  }
  for (int i = 0; i < n; i++) {
    first[i] = -o->K[i] * column[0].p[i] - o->B[i] * column[0].v[i];
    second[i] = -o->K[i] * column[1].p[i] - o->B[i] * column[1].v[i];
    travel[i] = column[0].v[i];
  }
  return true;
}
