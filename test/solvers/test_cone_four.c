// Cones by fours against the algebra of one cone at a time, at random points inside, near the
// border and with products over many decades.
#include <float.h>

#include "common/test.h"
#include "solvers/interior_point/cones_simd.h"
#include "solvers/interior_point/state.h"
#include "solvers/interior_point/lorentz.h"

enum { D = TB_CONE_ROWS, FOURS = 3, CASES = 400 };

// How close to the border points come, of their size.
#define CLOSE 1e-5

typedef struct {
  tbReal x[D], z[D], dx[D], dz[D];
} Lane;

static Lane lane_of(const tbConeSimd* g, int l, bool affine) {
  Lane lane;
  for (int r = 0; r < D; r++) {
    lane.x[r] = g->x[r][l];
    lane.z[r] = g->z[r][l];
    lane.dx[r] = affine ? g->ax[r][l] : g->dx[r][l];
    lane.dz[r] = affine ? g->az[r][l] : g->dz[r][l];
  }
  return lane;
}

// A point inside, of any size, close to the border or not.
static void inside(tbRng* rng, tbReal* x) {
  tbReal size = pow(10, tb_rng_uniform(rng, -2, 2)), close = pow(CLOSE, tb_rng_uniform(rng, 0, 1));
  tbReal angle = tb_rng_uniform(rng, 0, 6.28), tail = tb_rng_uniform(rng, 0, 1) * size;
  if (tb_rng_int(rng, 8) == 0) tail = 0;
  x[0] = tail + close * size;
  x[1] = tail * cos(angle);
  x[2] = tail * sin(angle);
}

static void make_lane(tbRng* rng, tbConeSimd* g, int l) {
  tbReal x[D], z[D];
  inside(rng, x);
  inside(rng, z);
  // Opposite to each other, as where a contact slides: w is large.
  tbReal tail = tb_lorentz_tail(D, x), turned = tb_lorentz_tail(D, z);
  for (int r = 1, opposite = tb_rng_int(rng, 2); r < D && opposite && tail > 0; r++) {
    z[r] = -x[r] / tail * turned;
  }
  for (int r = 0; r < D; r++) {
    g->x[r][l] = x[r];
    g->z[r][l] = z[r];
    g->S[r][l] = tb_rng_uniform(rng, 0.1, 1);
    g->R[r][l] = r == 0 && tb_rng_int(rng, 2) ? pow(10, tb_rng_uniform(rng, -4, 4)) : 0;
    g->v[r][l] = tb_rng_normal(rng);
    g->r[r][l] = tb_rng_normal(rng);
    g->jv[r][l] = tb_rng_normal(rng);
    g->ax[r][l] = tb_rng_normal(rng);
    g->az[r][l] = tb_rng_normal(rng);
    g->dx[r][l] = tb_rng_normal(rng);
    g->dz[r][l] = tb_rng_normal(rng);
  }
  g->theta[l] = tb_rng_int(rng, 3) * 0.5;
}

static void make(tbRng* rng, tbConeSimd* four) {
  memset(four, 0, sizeof *four * FOURS);
  for (int k = 0; k < FOURS; k++) {
    for (int l = 0; l < TB_CONE_LANES; l++) make_lane(rng, &four[k], l);
    four[k].used = k + 1 == FOURS ? 1 + tb_rng_int(rng, 4) : TB_CONE_LANES;
  }
}

// E y: the shift of the velocity linearised.
static void shift(const tbReal* z, tbReal theta, const tbReal* y, tbReal* out) {
  tbReal length = tb_lorentz_tail(D, z), along = 0;
  for (int r = 1; r < D; r++) along += length > 0 ? z[r] * y[r] / length : 0;
  for (int r = 0; r < D; r++) out[r] = y[r] - (r == 0 ? theta * along : 0);
}

static tbReal size_of(const tbReal* x) {
  tbReal size = 0;
  for (int r = 0; r < D; r++) size = fmax(size, fabs(x[r]));
  return size;
}

// E H + R of a lane, column by column, and the magnitudes of the terms of its entries.
static void stiffness(const tbConeSimd* g, int l, const tbLorentz* s, tbReal A[D][D],
                      tbReal size[D][D]) {
  tbReal z[D] = {g->z[0][l], g->z[1][l], g->z[2][l]};
  for (int c = 0; c < D; c++) {
    tbReal unit[D] = {c == 0, c == 1, c == 2}, h[D], column[D];
    tb_lorentz_hessian(D, s, unit, h);
    shift(z, g->theta[l], h, column);
    for (int r = 0; r < D; r++) {
      A[r][c] = column[r] + (r == 0 && c == 0 ? g->R[0][l] : 0);
      size[r][c] = fabs(A[r][c]) + (r == 0 ? fabs(h[1]) + fabs(h[2]) : 0);
    }
  }
}

// V x = V^-1 z, and K is the inverse of E H + R, to the rounding of each of its entries however
// soft a contact is. A point comes as close to the border as CLOSE of its size and leaves its
// determinant, and with it w^T J w = 1, that much less precise.
static void scaling(void** state) {
  (void)state;
  const tbReal precision = 8 * DBL_EPSILON / CLOSE;
  tbRng rng = {5};
  tbConeSimd four[FOURS];
  for (int n = 0; n < CASES; n++) {
    make(&rng, four);
    tb_cone_simd_scale(four, FOURS);
    for (int k = 0; k < FOURS; k++) {
      for (int l = 0; l < TB_CONE_LANES; l++) {
        const tbConeSimd* g = &four[k];
        Lane a = lane_of(g, l, true);
        tbLorentz s;
        tbReal A[D][D], size[D][D];
        tb_lorentz_scaling(D, a.x, a.z, &s);
        for (int r = 0; r < D; r++) {
          assert_near(g->point[r][l], s.point[r], 1e-9 * size_of(s.point));
          assert_near(g->w[r][l], s.w[r], 1e-9 * size_of(s.w));
        }
        stiffness(g, l, &s, A, size);
        for (int r = 0; r < D; r++) {
          for (int c = 0; c < D; c++) {
            tbReal sum = 0, most = 0;
            for (int i = 0; i < D; i++) {
              sum += g->K[r * D + i][l] * A[i][c];
              most += fabs(g->K[r * D + i][l]) * size[i][c];
            }
            assert_true(fabs(sum - (r == c)) <= precision * most);
          }
        }
      }
    }
  }
}

// Blocks one by one come to the same K: the first row and column entry by entry, the rest to its
// size, of which the compliance leaves as little as 1 / w_0^2.
static void compliances(void** state) {
  (void)state;
  tbRng rng = {9};
  tbConeSimd soft[FOURS], hard[FOURS];
  for (int n = 0; n < CASES; n++) {
    make(&rng, soft);
    memcpy(hard, soft, sizeof hard);
    for (int k = 0; k < FOURS; k++) memset(hard[k].R, 0, sizeof hard[k].R);
    tb_cone_simd_scale(soft, FOURS);
    tb_cone_simd_scale(hard, FOURS);
    for (int k = 0; k < FOURS; k++) {
      for (int l = 0; l < TB_CONE_LANES; l++) {
        tbReal R[D] = {soft[k].R[0][l], 0, 0}, K[D * D], most = 0;
        for (int e = 0; e < D * D; e++) {
          K[e] = hard[k].K[e][l];
          most = fmax(most, fabs(K[e]));
        }
        tb_interior_comply(D, R, K);
        for (int e = 0; e < D * D; e++) {
          tbReal size = e < D || e % D == 0 ? fabs(K[e]) : most;
          assert_true(fabs(soft[k].K[e][l] - K[e]) <= 8 * DBL_EPSILON / CLOSE * size);
        }
      }
    }
  }
}

// J dv for which dx is about y across w, so that H y = -eta^2 J y: as in use, b - S J dv and dx are
// of moderate size next to the borders, though neither K nor H is.
static void move(tbRng* rng, tbConeSimd* g, int l) {
  tbReal y[D], v[D], z[D] = {g->z[0][l], g->z[1][l], g->z[2][l]}, along = 0, square = 0;
  for (int r = 0; r < D; r++) {
    y[r] = tb_rng_normal(rng);
    along += g->w[r][l] * y[r];
    square += g->w[r][l] * g->w[r][l];
  }
  for (int r = 0; r < D; r++) {
    y[r] -= along / square * g->w[r][l];
    v[r] = g->eta[l] * g->eta[l] * (r == 0 ? -y[r] : y[r]);
  }
  shift(z, g->theta[l], v, v);
  v[0] += g->R[0][l] * y[0];
  for (int r = 0; r < D; r++) g->jv[r][l] = (g->b[r][l] - v[r]) / g->S[r][l];
}

// c as in lorentz.h, b = E c - r, f = S K b, dx = K (b - S J dv); and dz = c - H dx with an error
// relative to dz, although H dx is a sum of terms up to 1 / CLOSE times as large.
static void directions(void** state) {
  (void)state;
  tbRng rng = {6};
  tbConeSimd four[FOURS];
  for (int n = 0; n < CASES; n++) {
    make(&rng, four);
    bool correct = n % 3 == 0, affine = n % 3 == 1;
    tbReal target = n % 3 == 1 ? 0 : 0.3;
    tbConeSimd before[FOURS];
    tb_cone_simd_scale(four, FOURS);
    memcpy(before, four, sizeof four);
    tb_cone_simd_target(four, FOURS, target, correct);
    tb_cone_simd_right(four, FOURS);
    for (int k = 0; k < FOURS * TB_CONE_LANES; k++) {
      move(&rng, &four[k / TB_CONE_LANES], k % TB_CONE_LANES);
    }
    tb_cone_simd_solve(four, FOURS, affine);
    for (int k = 0; k < FOURS; k++) {
      for (int l = 0; l < TB_CONE_LANES; l++) {
        const tbConeSimd* g = &four[k];
        Lane old = lane_of(&before[k], l, true), now = lane_of(g, l, affine);
        tbLorentz s;
        tbReal c[D], b[D], h[D], rest[D];
        tb_lorentz_scaling(D, old.x, old.z, &s);
        tb_lorentz_target(D, &s, target, correct ? old.dx : NULL, old.dz, c);
        for (int r = 0; r < D; r++) assert_near(g->c[r][l], c[r], 1e-8 * size_of(c));
        for (int r = 0; r < D; r++) c[r] = g->c[r][l];
        shift(old.z, g->theta[l], c, b);
        tb_lorentz_hessian(D, &s, now.dx, h);
        for (int r = 0; r < D; r++) {
          b[r] -= g->r[r][l];
          assert_near(g->b[r][l], b[r], 1e-12 * (size_of(b) + size_of(c)));
          rest[r] = g->b[r][l] - g->S[r][l] * g->jv[r][l];
        }
        for (int r = 0; r < D; r++) {
          tbReal push = 0, dx = 0, scale = 0;
          for (int i = 0; i < D; i++) {
            tbReal K = g->K[r * D + i][l];
            push += g->S[r][l] * K * g->b[i][l];
            dx += K * rest[i];
            scale = fmax(scale, fabs(K) * (fabs(rest[i]) + fabs(g->b[i][l])));
          }
          const tbReal precision = 8 * DBL_EPSILON / CLOSE, size = size_of(c) + size_of(rest);
          assert_true(fabs(g->f[r][l] - push) <= precision * scale);
          assert_true(fabs(now.dx[r] - dx) <= precision * scale);
          assert_true(fabs(now.dz[r] - (c[r] - h[r])) <= 16 * precision * size);
        }
      }
    }
  }
}

// The length that keeps every cone inside is that of the one which lets the least pass.
static void lengths(void** state) {
  (void)state;
  tbRng rng = {7};
  tbConeSimd four[FOURS];
  int cut = 0;
  for (int n = 0; n < CASES; n++) {
    make(&rng, four);
    bool affine = n % 2;
    tbReal expected = 1.25;
    tbReal shrink = pow(10, tb_rng_uniform(&rng, -6, 1));
    for (int k = 0; k < FOURS; k++) {
      for (int l = 0; l < TB_CONE_LANES; l++) {
        for (int r = 0; r < D; r++) {
          four[k].dx[r][l] *= shrink;
          four[k].dz[r][l] *= shrink;
        }
        Lane a = lane_of(&four[k], l, affine);
        expected = fmin(expected, tb_lorentz_step(D, a.x, a.dx));
        expected = fmin(expected, tb_lorentz_step(D, a.z, a.dz));
      }
    }
    cut += expected < 1.25;
    assert_near(tb_cone_simd_length(four, FOURS, affine, 1.25), expected, 1e-9 * expected);
  }
  assert_true(cut > CASES / 4 && cut < CASES);
  // With NaN no step length is returned that a caller would use.
  make(&rng, four);
  four[1].x[0][2] = NAN;
  tbReal a = tb_cone_simd_length(four, FOURS, false, 1.25);
  assert_true(!(a > 1.25));
}

// Products of the lanes in use only; r of the shifted velocity; x and z after a step.
static void points(void** state) {
  (void)state;
  tbRng rng = {8};
  tbConeSimd four[FOURS];
  for (int n = 0; n < CASES; n++) {
    make(&rng, four);
    bool shifted = n % 2;
    tbReal step = tb_rng_uniform(&rng, 0, 1), after = 0, now = 0, most = 0, largest = 0;
    for (int k = 0; k < FOURS; k++) {
      // The others are copies.
      for (int l = four[k].used; l < TB_CONE_LANES; l++) {
        for (int r = 0; r < D; r++) {
          four[k].v[r][l] = four[k].v[r][0];
          four[k].z[r][l] = four[k].z[r][0];
        }
      }
      for (int l = 0; l < four[k].used; l++) {
        Lane a = lane_of(&four[k], l, true);
        for (int r = 0; r < D; r++) {
          after += (a.x[r] + step * a.dx[r]) * (a.z[r] + step * a.dz[r]);
          now += a.x[r] * a.z[r];
          tbReal rest = four[k].v[r][l] - a.z[r];
          if (r == 0 && shifted) rest += tb_lorentz_tail(D, a.z);
          most = fmax(most, fabs(rest));
        }
      }
    }
    assert_near(tb_cone_simd_complementarity(four, FOURS, step), after, 1e-9 * (fabs(after) + 1));
    assert_near(tb_cone_simd_residual(four, FOURS, shifted, &largest), now, 1e-9 * (now + 1));
    assert_near(largest, most, 1e-12 * (1 + most));
    tbConeSimd before = four[1];
    tb_cone_simd_go(four, FOURS, step);
    for (int l = 0; l < TB_CONE_LANES; l++) {
      for (int r = 0; r < D; r++) {
        assert_near(four[1].x[r][l], before.x[r][l] + step * before.dx[r][l], 1e-12 * 1e3);
        assert_near(four[1].z[r][l], before.z[r][l] + step * before.dz[r][l], 1e-12 * 1e3);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scaling), cmocka_unit_test(compliances), cmocka_unit_test(directions),
      cmocka_unit_test(lengths), cmocka_unit_test(points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
