// Derivatives of exponential and logarithm of rotations, from tiny angles to nearly pi.
#include "common/test.h"
#include "spatial/so3.h"

static void to_quat(tbReal q[4], const tbReal x[3]) {
  tb_quat_identity(q);
  tb_quat_integrate(q, x, 1);
}

static void test_right_jacobian(void** state) {
  (void)state;
  static const tbReal SIZES[] = {0, 1e-9, 1e-5, 0.0099, 0.0101, 0.3, 2, 3.1};
  const tbReal e = 1e-6;
  tbRng rng = {4};
  for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
    tbReal x[3], J[9], inverse[9];
    tb_rng_normals(&rng, 3, x);
    tb_normalize3(x);
    tb_scale3(x, x, SIZES[s]);
    tb_so3_right_jacobian(J, x);
    tb_so3_right_jacobian_inverse(inverse, x);
    for (int k = 0; k < 3; k++) {
      // log(exp(x - e)^-1 exp(x + e)) / 2e is the column.
      tbReal low[3], high[3], a[4], b[4], turn[4], column[3];
      tb_copy3(low, x);
      tb_copy3(high, x);
      low[k] -= e;
      high[k] += e;
      to_quat(a, low);
      to_quat(b, high);
      tb_quat_conjugate(a, a);
      tb_quat_mul(turn, a, b);
      tb_quat_log(column, turn);
      for (int r = 0; r < 3; r++) assert_near(J[3 * r + k], column[r] / (2 * e), 1e-9);
    }
    tbReal product[9];
    tb_mul_mat3(product, J, inverse);
    for (int i = 0; i < 9; i++) assert_near(product[i], i % 4 == 0, 1e-11);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_right_jacobian)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
