// Coupled oscillators with more rows than degrees of freedom: many contact points on few bodies.
// Then Y = L R^T has a rank r < n, and with D = sigma (sigma K + B), a diagonal matrix, a pole's
// system (oscillator_pade.c) becomes, by the Sherman-Morrison-Woodbury formula,
//
//     (1 + D L R^T) g = c      <=>      g = c - D L w,    (1 + R^T D L) w = R^T c
//
// with R^T D L = sigma^2 R^T K L + sigma R^T B L: two real r x r matrices serve all poles.
#include <string.h>

#include "base/kernel.h"
#include "linalg/dense.h"
#include "linalg/oscillator_pade.h"

typedef struct {
  const tbOscillator* o;
  const tbPadePoles* poles;
  double tau;
  double* matrix;       // by pole: r x r factored, real parts before imaginary ones
  int* pivot;           // by pole: r
  double *re, *im;      // n: a pole's right-hand side, then its contribution
  double *w_re, *w_im;  // r
} Context;

size_t tb_oscillator_low_rank_work(int n) {
  // A rank of at most 4/5 n (tb_oscillator_is_low_rank).
  size_t N = (size_t)n, R = 4 * N / 5 + 1;
  return R * R * (2 * TB_MAX_POLES + 2) + 10 * N;
}

// y (r) += s row, for one row of a factor.
static void add_row(double* TB_RESTRICT y, const double* TB_RESTRICT row, double s, int r) {
  for (int j = 0; j < r; j++) y[j] += s * row[j];
}

static double dot(const double* a, const double* b, int r) {
  double sum[4] = {0, 0, 0, 0};
  int j = 0;
  for (; j + 4 <= r; j += 4) {
    for (int q = 0; q < 4; q++) sum[q] += a[j + q] * b[j + q];
  }
  for (; j < r; j++) sum[0] += a[j] * b[j];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// R^T diag(gain) L.
static void gram(const tbOscillator* o, const double* gain, double* out) {
  size_t r = (size_t)o->rank;
  memset(out, 0, sizeof(double) * r * r);
  for (size_t i = 0; i < (size_t)o->n; i++) {
    const double *right = o->right + i * r, *left = o->left + i * r;
    for (size_t k = 0; k < r; k++) {
      if (right[k] != 0) add_row(out + k * r, left, gain[i] * right[k], o->rank);
    }
  }
}

static bool factor_poles(const Context* x, const double* SK, const double* SB) {
  int r = x->o->rank;
  size_t size = (size_t)r * (size_t)r;
  for (int k = 0; k < x->poles->count; k++) {
    tbComplex s = {x->tau * x->poles->re[k], x->tau * x->poles->im[k]};
    tbComplex square = tb_complex_times(s, s);
    double *re = x->matrix + 2 * (size_t)k * size, *im = re + size;
    for (size_t i = 0; i < size; i++) {
      re[i] = square.re * SK[i] + s.re * SB[i];
      im[i] = square.im * SK[i] + s.im * SB[i];
    }
    for (int i = 0; i < r; i++) re[i * r + i] += 1;
    int* pivot = x->pivot + (size_t)k * (size_t)r;
    bool regular = s.im == 0 ? tb_lu(r, re, r, pivot) : tb_complex_lu(r, re, im, pivot);
    if (!regular) return false;
  }
  return true;
}

// Compute one pole's g in x->re, x->im.
static void solve_pole(const Context* x, int k, tbComplex s, const double* p, const double* v) {
  const tbOscillator* o = x->o;
  int n = o->n, r = o->rank;
  size_t R = (size_t)r, size = R * R;
  memset(x->w_re, 0, sizeof(double) * R);
  memset(x->w_im, 0, sizeof(double) * R);
  for (int i = 0; i < n; i++) {
    tbComplex gain = {s.re * o->K[i] + o->B[i], s.im * o->K[i]};
    tbComplex move = {v[i] + s.re * o->a[i], s.im * o->a[i]};
    tbComplex load = tb_complex_times(gain, move);
    x->re[i] = o->K[i] * p[i] + load.re;
    x->im[i] = load.im;
    add_row(x->w_re, o->right + (size_t)i * R, x->re[i], r);
    if (s.im != 0) add_row(x->w_im, o->right + (size_t)i * R, x->im[i], r);
  }
  const double* re = x->matrix + 2 * (size_t)k * size;
  const int* pivot = x->pivot + (size_t)k * R;
  if (s.im == 0) {
    tb_lu_solve(r, re, r, pivot, x->w_re);
  } else {
    tb_complex_solve(r, re, re + size, pivot, x->w_re, x->w_im);
  }
  for (int i = 0; i < n; i++) {
    const double* left = o->left + (size_t)i * R;
    tbComplex gain = {s.re * o->K[i] + o->B[i], s.im * o->K[i]};
    tbComplex moved = {dot(left, x->w_re, r), s.im == 0 ? 0 : dot(left, x->w_im, r)};
    tbComplex share = tb_complex_times(tb_complex_times(s, gain), moved);
    x->re[i] -= share.re;
    x->im[i] -= share.im;
  }
}

// p'' = a + Y force, integrated once and twice; `sum`: 2 r.
static void advance(const Context* x, const double* part1, const double* part2, double* sum,
                    double* p, double* v) {
  const tbOscillator* o = x->o;
  size_t R = (size_t)o->rank;
  memset(sum, 0, sizeof(double) * 2 * R);
  for (size_t i = 0; i < (size_t)o->n; i++) {
    add_row(sum, o->right + i * R, part1[i], o->rank);
    add_row(sum + R, o->right + i * R, part2[i], o->rank);
  }
  for (size_t i = 0; i < (size_t)o->n; i++) {
    const double* left = o->left + i * R;
    p[i] += x->tau * (v[i] + 0.5 * x->tau * o->a[i]) + dot(left, sum + R, o->rank);
    v[i] += x->tau * o->a[i] + dot(left, sum, o->rank);
  }
}

bool tb_oscillator_low_rank(const tbOscillator* o, double h, int order, int steps, double* first,
                            double* second, double* work, int* iwork) {
  const tbPadePoles* poles = tb_pade_poles(order);
  if (!poles || steps < 1) return false;
  size_t N = (size_t)o->n, R = (size_t)o->rank;
  double *SK = work, *SB = SK + R * R, *matrix = SB + R * R;
  double* at = matrix + 2 * TB_MAX_POLES * R * R;
  double *p = at, *v = p + N, *part1 = v + N, *part2 = part1 + N;
  Context x = {.o = o,
               .poles = poles,
               .tau = h / steps,
               .matrix = matrix,
               .pivot = iwork,
               .re = part2 + N,
               .im = part2 + 2 * N,
               .w_re = part2 + 3 * N,
               .w_im = part2 + 3 * N + R};
  gram(o, o->K, SK);
  gram(o, o->B, SB);
  if (!factor_poles(&x, SK, SB)) return false;
  memset(first, 0, sizeof(double) * N);
  memset(second, 0, sizeof(double) * N);
  memcpy(p, o->p, sizeof(double) * N);
  memcpy(v, o->v, sizeof(double) * N);
  for (int step = 0; step < steps; step++) {
    memset(part1, 0, sizeof(double) * 2 * N);
    for (int k = 0; k < poles->count; k++) {
      tbPoleShare share = tb_pole_share(poles, k, x.tau);
      solve_pole(&x, k, share.sigma, p, v);
      for (size_t i = 0; i < N; i++) {
        part1[i] -= share.first.re * x.re[i] - share.first.im * x.im[i];
        part2[i] -= share.second.re * x.re[i] - share.second.im * x.im[i];
      }
    }
    for (size_t i = 0; i < N; i++) {
      second[i] += x.tau * first[i] + part2[i];
      first[i] += part1[i];
    }
    if (step + 1 < steps) advance(&x, part1, part2, x.w_re, p, v);
  }
  return true;
}
