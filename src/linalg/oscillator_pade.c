// With r(z) = (-1)^m + sum of rho_k / (1 - s_k z), and r equal to e^z to second order at 0, the
// functions of h Abar in EXP eq. 29 are sums over the same poles: (r - 1)/z, (r - 1 - z)/z^2 and (r
// - 1 - z - z^2/2)/z^3 have the weights rho s, rho s^2 and rho s^3. So with sigma = s h,
//
//     xint = h sum rho s w,   xint2 = h^2 sum rho s^2 w,   (1 - sigma A) w = x0 + sigma b
//
// with one solve per pole for both. With A = [0 I; -YK -YB] and g = [K B] w, the negative force,
//
//     (1 + sigma (sigma K + B) Y) g = K p + (sigma K + B)(v + sigma a)
//
// has n rows. No power of A is formed.
#include "linalg/oscillator_pade.h"

#include <math.h>
#include <string.h>

#include "base/kernel.h"
#include "linalg/dense.h"

static const tbPadePoles POLES[] = {
    {1, 1, {0.5}, {0}, {2}, {0}},
    {2, 1, {0.25}, {0.14433756729740644}, {0}, {-3.4641016151377546}},
    {3,
     2,
     {0.21531442311611218, 0.14234278844194391},
     {0, 0.13579992570815380},
     {12.316531954090976, -5.1582659770454878},
     {0, 0.67541659589994856}},
    {5,
     3,
     {0.13710881296519226, 0.11742725435969863, 0.064018339157705238},
     {0, 0.061049703818538197, 0.098341069173109195},
     {111.19246769512184, -62.904997450980662, 8.3087636034197395},
     {0, 12.511079352843651, -5.0427756660001236}},
    {7,
     4,
     {0.10056746482250484, 0.092694772766323216, 0.070328696979243325, 0.036692797843181041},
     {0, 0.033882488943913687, 0.060773909166175561, 0.074059703707308632},
     {1155.4459072334179, -749.44875831050293, 180.45287141685061, -7.7270667230566511},
     {0, 175.16920710609597, -105.74629222156023, 13.895342037021289}},
    {13,
     7,
     {0.055880221665103015, 0.054514888499142868, 0.05048734669901187, 0.043996235731246886,
      0.035346954629138455, 0.024892869732055268, 0.012821593876853146},
     {0, 0.010721571057180783, 0.020764933438835436, 0.029472815041649886, 0.036219165253424565,
      0.040382910484855664, 0.041156776605427787},
     {1825103.2831995793, -1398535.1993886903, 609320.19214685634, -132446.54738548011,
      8324.4861331566076, 832.89374250446136, -46.466848136677997},
     {0, 390677.89516148507, -386176.04976163992, 167891.65801482418, -33382.582695878262,
      2324.5545711611707, -11.984183003108278}},
};

const tbPadePoles* tb_pade_poles(int order) {
  for (size_t i = 0; i < sizeof POLES / sizeof POLES[0]; i++) {
    if (POLES[i].order == order) return &POLES[i];
  }
  return NULL;
}

tbPoleShare tb_pole_share(const tbPadePoles* poles, int k, double tau) {
  tbComplex s = {poles->re[k], poles->im[k]};
  double both = s.im == 0 ? tau : 2 * tau;
  tbComplex rho = {both * poles->rho_re[k], both * poles->rho_im[k]};
  tbPoleShare share = {{tau * s.re, tau * s.im}, tb_complex_times(rho, s), {0, 0}};
  share.second = tb_complex_times(share.first, share.sigma);
  return share;
}

size_t tb_oscillator_pade_work(int n) {
  size_t N = (size_t)n;
  return N * N * 2 * TB_MAX_POLES + 6 * N;
}

// row -= f top, from column `from` on; four entries at a time are loaded before any is stored.
TB_INLINE void subtract_row(int n, int from, tbComplex f, const double* top_re,
                            const double* top_im, double* row_re, double* row_im) {
  int j = from;
  for (; j + 4 <= n; j += 4) {
    double re[4], im[4];
    for (int q = 0; q < 4; q++) {
      re[q] = row_re[j + q] - (f.re * top_re[j + q] - f.im * top_im[j + q]);
      im[q] = row_im[j + q] - (f.re * top_im[j + q] + f.im * top_re[j + q]);
    }
    for (int q = 0; q < 4; q++) row_re[j + q] = re[q];
    for (int q = 0; q < 4; q++) row_im[j + q] = im[q];
  }
  for (; j < n; j++) {
    row_re[j] -= f.re * top_re[j] - f.im * top_im[j];
    row_im[j] -= f.re * top_im[j] + f.im * top_re[j];
  }
}

TB_INLINE bool factor(int n, double* re, double* im, int* pivot) {
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
    tbComplex inverse = {x / square, -y / square};
    re[k * n + k] = inverse.re;
    im[k * n + k] = inverse.im;
    for (int i = k + 1; i < n; i++) {
      tbComplex f = tb_complex_times((tbComplex){re[i * n + k], im[i * n + k]}, inverse);
      re[i * n + k] = f.re;
      im[i * n + k] = f.im;
      subtract_row(n, k + 1, f, re + k * n, im + k * n, re + i * n, im + i * n);
    }
  }
  return true;
}

static bool factor_generic(int n, double* re, double* im, int* pivot) {
  return factor(n, re, im, pivot);
}

TB_WIDE static bool factor_avx2(int n, double* re, double* im, int* pivot) {
  return factor(n, re, im, pivot);
}

bool tb_complex_lu(int n, double* re, double* im, int* pivot) {
  return tb_wide() ? factor_avx2(n, re, im, pivot) : factor_generic(n, re, im, pivot);
}

void tb_complex_solve(int n, const double* re, const double* im, const int* pivot,
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
    tbComplex z = tb_complex_times((tbComplex){a, b}, (tbComplex){re[i * n + i], im[i * n + i]});
    x[i] = z.re;
    y[i] = z.im;
  }
}

// Factor 1 + sigma (sigma K + B) Y for every pole; that of the real pole is in its first half.
static bool factor_poles(const tbOscillator* o, const tbPadePoles* poles, double tau,
                         double* matrix, int* pivot) {
  int n = o->n;
  size_t size = (size_t)n * (size_t)n;
  for (int k = 0; k < poles->count; k++, matrix += 2 * size, pivot += n) {
    tbComplex s = {tau * poles->re[k], tau * poles->im[k]}, square = tb_complex_times(s, s);
    double *re = matrix, *im = matrix + size;
    for (int i = 0; i < n; i++) {
      double a = s.re * o->B[i] + square.re * o->K[i], b = s.im * o->B[i] + square.im * o->K[i];
      for (int j = 0; j < n; j++) {
        re[i * n + j] = a * o->Y[i * n + j];
        im[i * n + j] = b * o->Y[i * n + j];
      }
      re[i * n + i] += 1;
    }
    bool regular = s.im == 0 ? tb_lu(n, re, n, pivot) : tb_complex_lu(n, re, im, pivot);
    if (!regular) return false;
  }
  return true;
}

// Integrals over one step of length tau from p, v; g: 2 n.
static void add_poles(const tbOscillator* o, const tbPadePoles* poles, double tau, const double* p,
                      const double* v, const double* matrix, const int* pivot, double* g,
                      double* first, double* second) {
  int n = o->n;
  size_t size = (size_t)n * (size_t)n;
  memset(first, 0, sizeof(double) * (size_t)n);
  memset(second, 0, sizeof(double) * (size_t)n);
  for (int k = 0; k < poles->count; k++, matrix += 2 * size, pivot += n) {
    tbPoleShare share = tb_pole_share(poles, k, tau);
    tbComplex s = share.sigma;
    double *re = g, *im = g + n;
    for (int i = 0; i < n; i++) {
      tbComplex gain = {s.re * o->K[i] + o->B[i], s.im * o->K[i]};
      tbComplex move = {v[i] + s.re * o->a[i], s.im * o->a[i]};
      tbComplex load = tb_complex_times(gain, move);
      re[i] = o->K[i] * p[i] + load.re;
      im[i] = load.im;
    }
    if (s.im == 0) {
      tb_lu_solve(n, matrix, n, pivot, re);
    } else {
      tb_complex_solve(n, matrix, matrix + size, pivot, re, im);
    }
    for (int i = 0; i < n; i++) {
      first[i] -= share.first.re * re[i] - share.first.im * im[i];
      second[i] -= share.second.re * re[i] - share.second.im * im[i];
    }
  }
}

bool tb_oscillator_pade(const tbOscillator* o, double h, int order, int steps, double* first,
                        double* second, double* work, int* iwork) {
  const tbPadePoles* poles = tb_pade_poles(order);
  if (!poles || steps < 1) return false;
  int n = o->n;
  size_t N = (size_t)n;
  double *matrix = work, *g = work + 2 * TB_MAX_POLES * N * N, *p = g + 2 * N, *v = p + N;
  double *part1 = v + N, *part2 = part1 + N, tau = h / steps;
  if (!factor_poles(o, poles, tau, matrix, iwork)) return false;
  memset(first, 0, sizeof(double) * N);
  memset(second, 0, sizeof(double) * N);
  memcpy(p, o->p, sizeof(double) * N);
  memcpy(v, o->v, sizeof(double) * N);
  for (int step = 0; step < steps; step++) {
    add_poles(o, poles, tau, p, v, matrix, iwork, g, part1, part2);
    for (int i = 0; i < n; i++) {
      second[i] += tau * first[i] + part2[i];
      first[i] += part1[i];
    }
    // p'' = a + Y force, integrated once and twice.
    for (int i = 0; step + 1 < steps && i < n; i++) {
      const double* row = o->Y + (size_t)i * N;
      double force1 = 0, force2 = 0;
      for (int j = 0; j < n; j++) {
        force1 += row[j] * part1[j];
        force2 += row[j] * part2[j];
      }
      p[i] += tau * (v[i] + 0.5 * tau * o->a[i]) + force2;
      v[i] += tau * o->a[i] + force1;
    }
  }
  return true;
}
