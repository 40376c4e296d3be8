// Lengths along the central path of cones by fours and one by one, and of one-sided rows: both
// forms of the same sums, and H and H^-1 from their definition.
#include "base/rng.h"
#include "common/test.h"
#include "solvers/interior_point/state.h"

enum { MAX = TB_MAX_BLOCK_DIM };

typedef struct {
  tbReal x[MAX], z[MAX], ax[MAX], az[MAX], dx[MAX], dz[MAX];
  tbLorentz scaling;
  tbBlock block;
  tbProblem p;
  int other;
} Block;

static void fill(tbRng* rng, int n, tbReal* x) {
  for (int i = 0; i < n; i++) x[i] = tb_rng_uniform(rng, -1, 1);
}

// A pair inside the cone or above zero, and two random steps.
static void make_block(Block* b, tbRng* rng, tbBlockType type, int d) {
  memset(b, 0, sizeof *b);
  b->block.type = type;
  b->block.dim = d;
  b->p.block = &b->block;
  b->p.nblock = 1;
  fill(rng, d, b->x);
  fill(rng, d, b->z);
  b->x[0] = tb_lorentz_tail(d, b->x) + tb_rng_uniform(rng, 0.01, 1);
  b->z[0] = tb_lorentz_tail(d, b->z) + tb_rng_uniform(rng, 0.01, 1);
  fill(rng, d, b->ax);
  fill(rng, d, b->az);
  fill(rng, d, b->dx);
  fill(rng, d, b->dz);
  if (type == TB_BLOCK_CONE) tb_lorentz_scaling(d, b->x, b->z, &b->scaling);
}

static void lengths_of(Block* b, tbReal product[3]) {
  tbInteriorState m = {.p = &b->p, .other = &b->other, .nother = 1, .scaling = &b->scaling};
  m.x = b->x;
  m.z = b->z;
  m.ax = b->ax;
  m.az = b->az;
  m.dx = b->dx;
  m.dz = b->dz;
  for (int k = 0; k < 3; k++) product[k] = 0;
  tb_interior_lengths(&m, product);
}

static void assert_same(const tbReal* a, const tbReal* b) {
  tbReal scale = a[0] + a[2];
  for (int k = 0; k < 3; k++) assert_true(fabs(a[k] - b[k]) < 1e-11 * scale);
}

static void fours_and_blocks_agree(void** state) {
  (void)state;
  tbRng rng = {1};
  for (int n = 0; n < 1000; n++) {
    Block b;
    tbConeSimd four;
    tbReal one[3], by_four[3];
    make_block(&b, &rng, TB_BLOCK_CONE, TB_CONE_ROWS);
    memset(&four, 0, sizeof four);
    four.used = 1;
    four.eta[0] = b.scaling.eta;
    for (int r = 0; r < TB_CONE_ROWS; r++) {
      four.w[r][0] = b.scaling.w[r];
      four.ax[r][0] = b.ax[r];
      four.az[r][0] = b.az[r];
      four.dx[r][0] = b.dx[r];
      four.dz[r][0] = b.dz[r];
    }
    lengths_of(&b, one);
    tb_cone_simd_lengths(&four, 1, by_four);
    assert_same(one, by_four);
  }
}

// H x = z, so that the step (x, z) has the length 2 x . z, of cones of any size and of rows.
static void the_point_itself_has_twice_its_products(void** state) {
  (void)state;
  tbRng rng = {2};
  for (int n = 0; n < 1000; n++) {
    Block b;
    tbReal product[3], twice[3] = {0, 0, 0};
    bool cone = n % 5 > 0;
    int d = cone ? 2 + n % 5 : 1;
    make_block(&b, &rng, cone ? TB_BLOCK_CONE : TB_BLOCK_ONE_SIDED, d);
    for (int r = 0; r < d; r++) {
      b.ax[r] = b.x[r];
      b.az[r] = b.z[r];
      b.dx[r] = 3 * b.x[r];
      b.dz[r] = 3 * b.z[r];
      for (int k = 0; k < 3; k++) twice[k] += (2 << k) * b.x[r] * b.z[r];
    }
    lengths_of(&b, product);
    assert_same(product, twice);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fours_and_blocks_agree),
                                     cmocka_unit_test(the_point_itself_has_twice_its_products)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
