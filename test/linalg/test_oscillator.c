// Coupled oscillators: every method against the augmented exponential, and single ones against
// closed forms.
#include "common/test.h"
#include "linalg/expm.h"
#include "linalg/oscillator.h"
#include "linalg/oscillator_tangent.h"
#include "linalg/symeig.h"

enum { N = 12 };
static double work[60000], tangent_work[60000];
static int iwork[8 * N * N];

// Y = L L^T of the given rank, p, v, a; B = ratio K or free.
typedef struct {
  double Y[N * N], K[N], B[N], p[N], v[N], a[N];
  tbOscillator o;
} Random;

static void make(tbRng* rng, int n, int rank, double stiffness, bool proportional, Random* r) {
  double L[N * N];
  for (int i = 0; i < n * rank; i++) L[i] = tb_rng_uniform(rng, -1, 1);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      r->Y[i * n + j] = 0;
      for (int k = 0; k < rank; k++) r->Y[i * n + j] += L[i * rank + k] * L[j * rank + k];
    }
    r->K[i] = stiffness * tb_rng_uniform(rng, 0.5, 2);
    r->B[i] = proportional ? 0.003 * r->K[i] : tb_rng_uniform(rng, 0, 1) * sqrt(stiffness);
    r->p[i] = tb_rng_uniform(rng, -1, 1) * 1e-3;
    r->v[i] = tb_rng_uniform(rng, -1, 1);
    r->a[i] = tb_rng_uniform(rng, -10, 10);
  }
  r->o = (tbOscillator){n, r->Y, r->K, r->B, r->p, r->v, r->a, false, 0, NULL, NULL};
}

// exp of the augmented matrix (EXP eq. 29-30) at machine precision.
static void augmented(const tbOscillator* o, double h, double* first, double* second) {
  static double A[27 * 27], V[54], X[54];
  int n = o->n, m = 2 * n + 3;
  memset(A, 0, sizeof A);
  memset(V, 0, sizeof V);
  for (int i = 0; i < n; i++) {
    A[i * m + n + i] = h;
    A[i * m + m - 2] = h * o->p[i];
    A[(n + i) * m + m - 3] = h * o->a[i];
    A[(n + i) * m + m - 2] = h * o->v[i];
    for (int j = 0; j < n; j++) {
      A[(n + i) * m + j] = -h * o->Y[i * n + j] * o->K[j];
      A[(n + i) * m + n + j] = -h * o->Y[i * n + j] * o->B[j];
    }
  }
  A[(m - 3) * m + m - 2] = A[(m - 2) * m + m - 1] = h;
  V[2 * (m - 2)] = V[2 * (m - 1) + 1] = 1;
  assert_true(tb_expm_action(m, A, 2, V, NULL, X, work, iwork, NULL));
  for (int i = 0; i < n; i++) {
    first[i] = -o->K[i] * X[2 * i] - o->B[i] * X[2 * (n + i)];
    second[i] = -o->K[i] * X[2 * i + 1] - o->B[i] * X[2 * (n + i) + 1];
  }
}

static void all_methods_agree_with_the_augmented_matrix(void** state) {
  (void)state;
  tbRng rng = {11};
  int seen[3] = {0};
  for (int t = 0; t < 200; t++) {
    Random r;
    int n = 1 + tb_rng_int(&rng, N), rank = t % 5 == 0 ? (n + 1) / 2 : n;
    // Some stiff enough for modes, or where there are none for squaring.
    double least = t % 8 == 1 ? 5 : t % 8 == 3 ? 8 : 1, most = t % 8 == 3 ? 9 : 6;
    make(&rng, n, rank, pow(10, tb_rng_uniform(&rng, least, most)), t % 2, &r);
    double h = pow(10, tb_rng_uniform(&rng, least > 1 ? -1.5 : -4, -1)), F1[N], F2[N], f1[N], f2[N];
    if (t % 4 == 3) {
      // Not symmetric: rows scaled.
      for (int i = 0; i < n * n; i++) r.Y[i] *= 1 + 0.3 * (i / n % 2);
      r.o.general = true;
    }
    augmented(&r.o, h, F1, F2);
    tbOscillatorInfo info;
    assert_true(tb_oscillator_integrals(&r.o, h, NULL, f1, f2, NULL, work, iwork, &info));
    seen[info.method]++;
    assert_near_array(f1, F1, n, 1e-9);
    assert_near_array(f2, F2, n, 1e-9);
  }
  assert_true(seen[TB_OSCILLATOR_PADE] > 10 && seen[TB_OSCILLATOR_MODES] > 10);
  assert_true(seen[TB_OSCILLATOR_DENSE] > 10);
}

// A given order is EXP's: the approximant of that order of the augmented matrix, no scaling.
static void given_orders_are_the_approximants(void** state) {
  (void)state;
  static const int ORDERS[] = {1, 2, 3, 5, 7, 13};
  tbRng rng = {12};
  for (int t = 0; t < 60; t++) {
    Random r;
    int n = 1 + tb_rng_int(&rng, 6), m = 2 * n + 3;
    make(&rng, n, n, 1e3, t % 2, &r);
    double h = 0.01, f1[N], f2[N];
    tbOscillatorSettings given = {ORDERS[t % 6], 0};
    tbOscillatorInfo info;
    assert_true(tb_oscillator_integrals(&r.o, h, &given, f1, f2, NULL, work, iwork, &info));
    assert_int_equal(info.order, given.order);
    // The same through the dense approximant.
    static double A[27 * 27], V[54], X[54];
    memset(A, 0, sizeof A);
    memset(V, 0, sizeof V);
    for (int i = 0; i < n; i++) {
      A[i * m + n + i] = h;
      A[i * m + m - 2] = h * r.p[i];
      A[(n + i) * m + m - 3] = h * r.a[i];
      A[(n + i) * m + m - 2] = h * r.v[i];
      for (int j = 0; j < n; j++) {
        A[(n + i) * m + j] = -h * r.Y[i * n + j] * r.K[j];
        A[(n + i) * m + n + j] = -h * r.Y[i * n + j] * r.B[j];
      }
    }
    A[(m - 3) * m + m - 2] = A[(m - 2) * m + m - 1] = h;
    V[2 * (m - 2)] = V[2 * (m - 1) + 1] = 1;
    tbExpmSettings s = {given.order, 0, 0, false};
    assert_true(tb_expm_action(m, A, 2, V, &s, X, work, iwork, NULL));
    for (int i = 0; i < n; i++) {
      double F1 = -r.K[i] * X[2 * i] - r.B[i] * X[2 * (n + i)];
      double F2 = -r.K[i] * X[2 * i + 1] - r.B[i] * X[2 * (n + i) + 1];
      assert_near(f1[i], F1, 1e-9);
      assert_near(f2[i], F2, 1e-9);
    }
  }
}

// One mass on a spring and damper: m p'' = -k p - b p' + m g. The force's integral is the change of
// momentum, whatever k, b and h.
static void single_oscillator_closed_form(void** state) {
  (void)state;
  tbRng rng = {13};
  for (int t = 0; t < 2000; t++) {
    double mass = pow(10, tb_rng_uniform(&rng, -1, 2)), k = pow(10, tb_rng_uniform(&rng, 0, 8));
    double zeta = t % 7 == 0 ? 1 : pow(10, tb_rng_uniform(&rng, -2, 2));
    double b = t % 11 == 0 ? 0 : 2 * zeta * sqrt(k * mass),
           h = pow(10, tb_rng_uniform(&rng, -5, 0));
    double Y = 1 / mass, p = 1e-3, v = -0.7, a = -9.81, f1, f2, end[2];
    tbOscillator o = {1, &Y, &k, &b, &p, &v, &a, false, 0, NULL, NULL};
    assert_true(tb_oscillator_integrals(&o, h, NULL, &f1, &f2, end, work, iwork, NULL));
    // Closed form about the equilibrium, by complex or real roots.
    double x0 = p - a * mass / k, c = b / mass / 2, w2 = k / mass - c * c, x, dx;
    if (w2 > 0) {
      double w = sqrt(w2), e = exp(-c * h), A = x0, B = (v + c * x0) / w;
      x = e * (A * cos(w * h) + B * sin(w * h));
      dx = e * ((B * w - c * A) * cos(w * h) - (A * w + c * B) * sin(w * h));
    } else {
      double fast = -c - sqrt(-w2), slow = k / mass / fast;
      double B = (v - slow * x0) / (fast - slow), A = x0 - B;
      if (fast - slow > -1e-3 * c) continue;
      x = A * exp(slow * h) + B * exp(fast * h);
      dx = A * slow * exp(slow * h) + B * fast * exp(fast * h);
    }
    double phase = sqrt(k / mass) * h;
    double tolerance = 1e-11 + 4e-15 * phase;
    assert_near(end[0], x + a * mass / k, tolerance);
    assert_near(end[1], dx, 1e-10 + 1e-13 * phase);
    assert_near(f1 / mass, dx - v - a * h, 1e-10 + 1e-13 * phase);
    assert_near(f2 / mass, end[0] - p - v * h - a * h * h / 2, 1e-10 + 1e-13 * phase);
  }
}

// p and v at the end continue: two halves are one whole.
static void halves_make_a_whole(void** state) {
  (void)state;
  tbRng rng = {14};
  for (int t = 0; t < 50; t++) {
    Random r;
    make(&rng, 6, 4 + t % 3, 1e4, t % 2, &r);
    double h = 0.02, whole[2 * N], half[2 * N], f1[N], f2[N], a1[N], a2[N], b1[N], b2[N];
    assert_true(tb_oscillator_integrals(&r.o, h, NULL, f1, f2, whole, work, iwork, NULL));
    assert_true(tb_oscillator_integrals(&r.o, h / 2, NULL, a1, a2, half, work, iwork, NULL));
    memcpy(r.p, half, sizeof(double) * 6);
    memcpy(r.v, half + 6, sizeof(double) * 6);
    assert_true(tb_oscillator_integrals(&r.o, h / 2, NULL, b1, b2, half, work, iwork, NULL));
    for (int i = 0; i < 6; i++) {
      a2[i] += h / 2 * a1[i] + b2[i];
      a1[i] += b1[i];
    }
    assert_near_array(half, whole, 12, 1e-10);
    assert_near_array(a1, f1, 6, 1e-10);
    assert_near_array(a2, f2, 6, 1e-10);
  }
}

// The accuracy asked for is met by whatever the automatic choice takes.
static void automatic_choice_meets_the_accuracy(void** state) {
  (void)state;
  tbRng rng = {15};
  for (int t = 0; t < 300; t++) {
    Random r;
    int n = 1 + tb_rng_int(&rng, N);
    make(&rng, n, n, pow(10, tb_rng_uniform(&rng, 1, 6)), t % 3 == 0, &r);
    double h = pow(10, tb_rng_uniform(&rng, -4, -1.5)), f1[N], f2[N], F1[N], F2[N];
    tbOscillatorSettings s = {0, pow(10, -tb_rng_uniform(&rng, 2, 10))};
    assert_true(tb_oscillator_integrals(&r.o, h, &s, f1, f2, NULL, work, iwork, NULL));
    augmented(&r.o, h, F1, F2);
    assert_near_array(f1, F1, n, 30 * s.accuracy + 1e-9);
    assert_near_array(f2, F2, n, 30 * s.accuracy + 1e-9);
  }
}

static void eigenvectors_rebuild_the_matrix(void** state) {
  (void)state;
  tbRng rng = {16};
  for (int t = 0; t < 300; t++) {
    int n = 1 + tb_rng_int(&rng, N), rank = t % 3 == 0 ? n / 2 : n;
    double A[N * N], copy[N * N], Q[N * N], w[N], e[N], back[N * N];
    double memory[2 * N + 8], rotations[8 * N * N], padded[N * (N + 4)] = {0};
    int places[4 * N * N], stride = tb_eigen_stride(n);
    Random r;
    make(&rng, n, rank, 1, true, &r);
    memcpy(A, r.Y, sizeof A);
    if (t % 7 == 0) {
      for (int i = 0; i < n * n; i++) A[i] = i % (n + 1) == 0 ? i % 3 : 0;
    }
    memcpy(copy, A, sizeof A);
    tbEigenBasis basis;
    assert_true(tb_eigen_rotations(n) <= 4 * N * N);
    for (int i = 0; i < n; i++) memcpy(padded + i * stride, A + i * n, sizeof(double) * (size_t)n);
    tb_symmetric_tridiagonal(n, padded, w, e, &basis, memory);
    assert_true(tb_tridiagonal_eigen(w, e, &basis, rotations, places));
    // Unit vectors to modes: column i of the basis, four at a time.
    for (int first = 0; first < n; first += 4) {
      double X[4 * N] = {0}, round[4 * N];
      for (int c = 0; c < 4 && first + c < n; c++) X[4 * (first + c) + c] = 1;
      memcpy(round, X, sizeof X);
      tb_eigen_to_modes(&basis, X);
      for (int i = 0; i < n; i++) {
        for (int c = 0; c < 4 && first + c < n; c++) Q[i * n + first + c] = X[4 * i + c];
      }
      tb_eigen_from_modes(&basis, X);
      for (int i = 0; i < 4 * n; i++) assert_near(X[i], round[i], 1e-13);
    }
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        back[i * n + j] = 0;
        for (int k = 0; k < n; k++) back[i * n + j] += w[k] * Q[k * n + i] * Q[k * n + j];
      }
    }
    assert_near_array(back, copy, n * n, 1e-13);
  }
}

// Directions in which everything changes, and their derivatives by centred differences of the
// integrals themselves, for every way of computing them.
enum { WIDTH = 5, WIDTH_Y = 3 };
static double dY[N * N * WIDTH_Y], dp[N * WIDTH], dv[N * WIDTH], da[N * WIDTH];

// The integrals with everything moved by e along direction k; returns the plan.
static tbOscillatorInfo moved_integrals(const Random* r, double h, const tbOscillatorSettings* s,
                                        int k, double e, double* f1, double* f2) {
  static Random moved;
  int n = r->o.n;
  moved = *r;
  for (int i = 0; i < n; i++) {
    moved.p[i] += e * dp[i * WIDTH + k];
    moved.v[i] += e * dv[i * WIDTH + k];
    moved.a[i] += e * da[i * WIDTH + k];
  }
  for (int i = 0; i < n * n && k < WIDTH_Y; i++) moved.Y[i] += e * dY[i * WIDTH_Y + k];
  moved.o = (tbOscillator){n,       moved.Y,      moved.K, moved.B, moved.p, moved.v,
                           moved.a, r->o.general, 0,       NULL,    NULL};
  tbOscillatorInfo info;
  assert_true(tb_oscillator_integrals(&moved.o, h, s, f1, f2, NULL, work, iwork, &info));
  return info;
}

static void random_directions(tbRng* rng, int n, double size, bool general) {
  for (int i = 0; i < n * WIDTH; i++) {
    dp[i] = 1e-3 * tb_rng_uniform(rng, -1, 1);
    dv[i] = tb_rng_uniform(rng, -1, 1);
    da[i] = tb_rng_uniform(rng, -10, 10);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      for (int k = 0; k < WIDTH_Y; k++) {
        double x = size * tb_rng_uniform(rng, -1, 1);
        dY[(i * n + j) * WIDTH_Y + k] = x;
        dY[(j * n + i) * WIDTH_Y + k] = general ? size * tb_rng_uniform(rng, -1, 1) : x;
      }
    }
  }
}

static void tangents_are_differences(void** state) {
  (void)state;
  static const int ORDERS[] = {0, 1, 2, 3, 5, 7, 13};
  tbRng rng = {29};
  int seen[3] = {0}, compared = 0;
  double worst = 0, worst13 = 0;
  for (int t = 0; t < 420; t++) {
    Random r;
    int n = 1 + tb_rng_int(&rng, N), general = t % 4 == 3;
    // Twins among the eigenvalues now and then, and Y of low rank (where a change of Y would make
    // negative eigenvalues, which modes take as zero).
    int rank = t % 10 == 0 ? (n + 1) / 2 : n;
    make(&rng, n, rank, pow(10, tb_rng_uniform(&rng, t % 8 == 1 ? 6 : 1, 7)), t % 2, &r);
    for (int i = 0; i < n * n && t % 20 == 1; i++) r.Y[i] = i % (n + 1) == 0;
    r.o.general = general;
    double h = pow(10, tb_rng_uniform(&rng, -4, -1)), f1[2][N], f2[2][N];
    static double t1[N * WIDTH], t2[N * WIDTH];
    tbOscillatorSettings s = {t % 3 ? 0 : ORDERS[t % 7], t % 3 == 1 ? 0.03 : 1e-8};
    random_directions(&rng, n, 0.3, general);
    tbOscillatorInfo plan = moved_integrals(&r, h, &s, 0, 0, f1[0], f2[0]);
    tbOscillatorChange change = {WIDTH, dp, dv, da, dY, WIDTH_Y};
    assert_true(tb_oscillator_tangent_work(n, WIDTH) <= sizeof tangent_work / sizeof(double));
    bool ok = tb_oscillator_tangents(&r.o, h, &plan, &change, t1, t2, tangent_work, iwork);
    assert_int_equal(ok, plan.method != TB_OSCILLATOR_DENSE);
    for (int k = 0; ok && k < WIDTH; k++) {
      double e = 1e-5, size = 0;
      tbOscillatorInfo high = moved_integrals(&r, h, &s, k, e, f1[0], f2[0]);
      tbOscillatorInfo low = moved_integrals(&r, h, &s, k, -e, f1[1], f2[1]);
      if (memcmp(&high, &plan, sizeof plan) || memcmp(&low, &plan, sizeof plan)) continue;
      for (int i = 0; i < n; i++) size = fmax(size, fabs(f1[0][i]) + fabs(t1[i * WIDTH + k]));
      for (int i = 0; i < n; i++) {
        // Order 13 rounds to 1e-11, which differences divide by e.
        double* most = plan.order == 13 ? &worst13 : &worst;
        *most = fmax(*most, fabs((f1[0][i] - f1[1][i]) / (2 * e) - t1[i * WIDTH + k]) / size);
        *most = fmax(*most, fabs((f2[0][i] - f2[1][i]) / (2 * e) - t2[i * WIDTH + k]) / (h * size));
      }
      compared++;
      seen[plan.method]++;
    }
  }
  print_message("tangents: %d compared (poles %d, modes %d), error %.1e, of order 13 %.1e\n",
                compared, seen[TB_OSCILLATOR_PADE], seen[TB_OSCILLATOR_MODES], worst, worst13);
  assert_true(worst < 1e-5);
  assert_true(worst13 < 1e-3);
  assert_true(seen[TB_OSCILLATOR_PADE] > 100 && seen[TB_OSCILLATOR_MODES] > 50);
}

// Many contacts of few bodies: most eigenvalues are zero, and so are the entries between them but
// for rounding. The iteration ends, and finds as many as there are.
static void low_rank_has_eigenvalues(void** state) {
  (void)state;
  enum { MANY = 120, RANK = 15 };
  static double A[MANY * MANY], L[MANY * RANK], d[MANY], e[MANY], memory[2 * MANY];
  static double rotations[8 * MANY * MANY];
  static int places[4 * MANY * MANY];
  tbRng rng = {5};
  for (int t = 0; t < 6; t++) {
    double trace = 0, sum = 0;
    for (int i = 0; i < MANY * RANK; i++) L[i] = tb_rng_uniform(&rng, -1, 1);
    // Some rows again and again: corners of one face.
    for (int i = RANK; i < MANY && t % 2; i++)
      memcpy(L + i * RANK, L + i % 7 * RANK, sizeof L / MANY);
    for (int i = 0; i < MANY; i++) {
      for (int j = 0; j < MANY; j++) {
        A[i * MANY + j] = 0;
        for (int k = 0; k < RANK; k++) A[i * MANY + j] += L[i * RANK + k] * L[j * RANK + k];
      }
      trace += A[i * MANY + i];
    }
    tbEigenBasis basis;
    assert_true(tb_eigen_rotations(MANY) <= 4 * MANY * MANY);
    tb_symmetric_tridiagonal(MANY, A, d, e, &basis, memory);
    assert_true(tb_tridiagonal_eigen(d, e, &basis, rotations, places));
    int positive = 0;
    for (int i = 0; i < MANY; i++) {
      sum += d[i];
      positive += d[i] > 1e-10 * trace;
      assert_true(d[i] > -1e-12 * trace);
    }
    assert_near(sum, trace, 1e-10 * trace);
    assert_true(positive <= RANK && positive >= 7);
  }
}

// ---- many rows on few bodies --------------------------------------------------------------------

enum { WIDE = 36 };
typedef struct {
  double Y[WIDE * WIDE], left[WIDE * WIDE], right[WIDE * WIDE];
  double K[WIDE], B[WIDE], p[WIDE], v[WIDE], a[WIDE];
  tbOscillator o;
} Wide;

// Rows of a rank; where `slips`, every third one takes two others of right's along, as a slipping
// contact's normal row does. `lightest`: the largest inverse mass, the smallest being 1.
static void make_wide(tbRng* rng, int n, int rank, bool slips, double lightest, Wide* r) {
  for (int k = 0; k < rank; k++) {
    double size = pow(lightest, 0.5 * k / rank);
    for (int i = 0; i < n; i++) {
      r->left[i * rank + k] = r->right[i * rank + k] = size * tb_rng_uniform(rng, -1, 1);
    }
  }
  for (int i = 0; slips && i < n * rank; i++) {
    if (i / rank % 3 == 0)
      r->right[i] += tb_rng_uniform(rng, -0.5, 0.5) * r->left[(i + rank) % (n * rank)];
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      r->Y[i * n + j] = 0;
      for (int k = 0; k < rank; k++) {
        r->Y[i * n + j] += r->left[i * rank + k] * r->right[j * rank + k];
      }
    }
    r->K[i] = 1e5;
    r->B[i] = 300;
    r->p[i] = tb_rng_uniform(rng, -1, 1) * 1e-4;
    r->v[i] = tb_rng_uniform(rng, -1, 1) * 0.1;
    r->a[i] = tb_rng_uniform(rng, -10, 10);
  }
  r->o = (tbOscillator){n, r->Y, r->K, r->B, r->p, r->v, r->a, slips, rank, r->left, r->right};
}

// In as few unknowns as there is rank: the same approximant, order by order, and the same integrals
// at full precision.
static void few_unknowns_give_the_same(void** state) {
  (void)state;
  static const int ORDERS[] = {0, 1, 2, 3, 5, 7};
  static Wide r;
  static double room[120000];
  static int places[8 * WIDE * WIDE];
  tbRng rng = {17};
  for (int t = 0; t < 60; t++) {
    int n = 24 + tb_rng_int(&rng, WIDE - 23), rank = 3 + tb_rng_int(&rng, 4 * n / 5 - 3);
    make_wide(&rng, n, rank, t % 2, 30, &r);
    assert_true(tb_oscillator_is_low_rank(n, rank));
    assert_true(tb_oscillator_work(n) <= sizeof room / sizeof *room);
    assert_true(tb_oscillator_ints(n) <= 8 * WIDE * WIDE);
    tbOscillatorSettings settings = {ORDERS[t % 6], 0};
    double h = 2e-3, f1[WIDE], f2[WIDE], F1[WIDE], F2[WIDE], end[2 * WIDE], End[2 * WIDE];
    tbOscillator plain = r.o;
    plain.rank = 0;
    assert_true(tb_oscillator_integrals(&r.o, h, &settings, f1, f2, end, room, places, NULL));
    assert_true(tb_oscillator_integrals(&plain, h, &settings, F1, F2, End, room, places, NULL));
    for (int i = 0; i < n; i++) {
      assert_near(f1[i], F1[i], 1e-8);
      assert_near(f2[i], F2[i], 1e-11);
      assert_near(end[i], End[i], 1e-10);
      assert_near(end[n + i], End[n + i], 1e-7);
    }
  }
}

// Grams that slip: modes up to a hundred thousand times faster than the step. Parts that grow
// fourfold are better than asked for.
static void graded_parts_meet_the_accuracy(void** state) {
  (void)state;
  static Wide r;
  static double room[120000];
  static int places[8 * WIDE * WIDE];
  tbRng rng = {18};
  int graded = 0;
  double worst = 0;
  for (int t = 0; t < 30; t++) {
    int n = 24 + tb_rng_int(&rng, WIDE - 23), rank = 3 + tb_rng_int(&rng, 4 * n / 5 - 3);
    make_wide(&rng, n, rank, true, pow(10, tb_rng_uniform(&rng, 3, 6)), &r);
    tbOscillatorSettings rough = {0, 0.03};
    double h = pow(10, tb_rng_uniform(&rng, -3, -2)), f1[WIDE], f2[WIDE], F1[WIDE], F2[WIDE];
    tbOscillatorInfo info;
    if (t % 2) r.o.rank = 0;
    assert_true(tb_oscillator_integrals(&r.o, h, &rough, f1, f2, NULL, room, places, &info));
    if (info.method != TB_OSCILLATOR_GRADED) continue;
    graded++;
    assert_true(tb_oscillator_integrals(&r.o, h, NULL, F1, F2, NULL, room, places, NULL));
    double most1 = 0, most2 = 0;
    for (int i = 0; i < n; i++) {
      most1 = fmax(most1, fabs(F1[i]));
      most2 = fmax(most2, fabs(F2[i]));
    }
    for (int i = 0; i < n; i++) {
      worst = fmax(worst, fmax(fabs(f1[i] - F1[i]) / most1, fabs(f2[i] - F2[i]) / most2));
    }
  }
  print_message("worst error %.1e\n", worst);
  assert_true(worst < 4e-3);
  assert_true(graded > 20);
}

static void bad_input_is_refused(void** state) {
  (void)state;
  double Y = 1, K = 1e3, B = 1, p = NAN, v = 0, a = 0, f1, f2;
  tbOscillator o = {1, &Y, &K, &B, &p, &v, &a, false, 0, NULL, NULL};
  assert_false(tb_oscillator_integrals(&o, 0.1, NULL, &f1, &f2, NULL, work, iwork, NULL));
  p = 0;
  Y = INFINITY;
  assert_false(tb_oscillator_integrals(&o, 0.1, NULL, &f1, &f2, NULL, work, iwork, NULL));
  Y = 1;
  tbOscillatorSettings s = {6, 0};
  assert_false(tb_oscillator_integrals(&o, 0.1, &s, &f1, &f2, NULL, work, iwork, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(eigenvectors_rebuild_the_matrix),
      cmocka_unit_test(all_methods_agree_with_the_augmented_matrix),
      cmocka_unit_test(given_orders_are_the_approximants),
      cmocka_unit_test(single_oscillator_closed_form),
      cmocka_unit_test(halves_make_a_whole),
      cmocka_unit_test(automatic_choice_meets_the_accuracy),
      cmocka_unit_test(low_rank_has_eigenvalues),
      cmocka_unit_test(tangents_are_differences),
      cmocka_unit_test(few_unknowns_give_the_same),
      cmocka_unit_test(graded_parts_meet_the_accuracy),
      cmocka_unit_test(bad_input_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
