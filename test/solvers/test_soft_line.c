// The exact line search of the soft law: slope and curvature along a step, block by block, against
// the block's own force and second derivative (tb_soft_block), in every zone of every kind; and
// those forces against the cost.
#include "common/test.h"
// The search is private to its file.
#include "solvers/soft/newton.c"  // NOLINT

enum { KINDS = TB_SOFT_CONE + 1 };

static tbSoftBlock random_block(tbRng* rng, int kind, tbReal D[6]) {
  tbSoftBlock b = {.kind = kind, .dim = 1 + tb_rng_int(rng, 6)};
  if (kind == TB_SOFT_FRICTION) b.dim = 1;
  if (kind == TB_SOFT_CONE) b.dim = 2 + tb_rng_int(rng, 5);
  b.bound = tb_rng_uniform(rng, 0.1, 3);
  b.mu = tb_rng_uniform(rng, 0.1, 2);
  for (int j = 0; j < 5; j++) b.friction[j] = tb_rng_uniform(rng, 0.1, 2);
  for (int i = 0; i < 6; i++) D[i] = tb_rng_uniform(rng, 0.2, 5);
  // The rows of a cone are weighted so that its zones join: D_j mu^2 = D_0 friction_j^2.
  for (int i = 1; i < 6 && kind == TB_SOFT_CONE; i++) {
    tbReal share = b.friction[i - 1] / b.mu;
    D[i] = D[0] * share * share;
  }
  return b;
}

static void slopes_are_those_of_the_blocks(void** state) {
  (void)state;
  tbRng rng = {11};
  int curved[KINDS] = {0}, flat[KINDS] = {0};
  for (int trial = 0; trial < 40000; trial++) {
    int kind = trial % KINDS;
    tbReal D[6], r[16], v[6], force[6], W[36], bend = 0, slope = 0, curvature = 0, along = 0;
    tbSoftBlock b = random_block(&rng, kind, D);
    for (int i = 0; i < b.dim; i++) r[i] = tb_rng_normal(&rng), v[i] = tb_rng_normal(&rng);
    tb_soft_block(&b, D, r, force, W);
    for (int i = 0; i < b.dim; i++) {
      along -= force[i] * v[i];
      for (int j = 0; j < b.dim; j++) bend += v[i] * W[i * b.dim + j] * v[j];
      if (kind != TB_SOFT_CONE) row_slope(&b, D[i], r[i], v[i], &slope, &curvature);
    }
    if (kind == TB_SOFT_CONE) cone_slope(&b, D, r, v, &slope, &curvature);
    assert_near(slope, along, 1e-12);
    assert_near(curvature, bend, 1e-11);
    if (curvature > 0) curved[kind]++;
    if (curvature == 0) flat[kind]++;
  }
  // Zones with and without curvature were met; an equality has but one.
  for (int k = 0; k < KINDS; k++) {
    assert_true(curved[k] > 1000);
    assert_true(flat[k] > 500 || k == TB_SOFT_EQUALITY);
  }
}

// The force is the cost's slope, downhill; the cost is zero where there is no force, never less,
// and jumps nowhere.
static void forces_are_slopes_of_the_cost(void** state) {
  (void)state;
  tbRng rng = {12};
  for (int trial = 0; trial < 40000; trial++) {
    tbReal D[6], r[6], force[6], unused[6], W[36], step = 1e-6, size = 0;
    tbSoftBlock b = random_block(&rng, trial % KINDS, D);
    for (int i = 0; i < b.dim; i++) r[i] = tb_rng_normal(&rng);
    tbReal cost = tb_soft_block(&b, D, r, force, W);
    assert_true(cost >= 0);
    for (int i = 0; i < b.dim; i++) {
      tbReal at = r[i];
      r[i] = at + step;
      tbReal ahead = tb_soft_block(&b, D, r, unused, W);
      r[i] = at - step;
      tbReal behind = tb_soft_block(&b, D, r, unused, W);
      r[i] = at;
      // Zones join with a continuous slope: a step across a border is off by its length at most.
      assert_near((behind - ahead) / (2 * step), force[i], 1e-4);
      size = fmax(size, fabs(force[i]));
    }
    if (size == 0) assert_near(cost, 0, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(slopes_are_those_of_the_blocks),
                                     cmocka_unit_test(forces_are_slopes_of_the_cost)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
