// Quaternions against rotation matrices, and the exponential against the logarithm.
#include "spatial/quat.h"

#include "common/test.h"

static void random_quat(tbRng* rng, tbReal q[4]) {
  for (int i = 0; i < 4; i++) q[i] = tb_rng_normal(rng);
  tb_quat_normalize(q);
}

static void rotation_and_matrix_agree(void** state) {
  (void)state;
  tbRng rng = {2};
  for (int trial = 0; trial < 1000; trial++) {
    tbReal q[4], p[4], v[3], a[3], b[3], R[9], S[9], T[9], qp[4], back[4];
    random_quat(&rng, q);
    random_quat(&rng, p);
    for (int i = 0; i < 3; i++) v[i] = tb_rng_normal(&rng);
    tb_quat_to_mat(R, q);
    tb_quat_to_mat(S, p);
    tb_quat_rotate(a, q, v);
    tb_mul_mat3_vec3(b, R, v);
    assert_near_array(a, b, 3, 1e-14);
    tb_quat_mul(qp, q, p);
    tb_mul_mat3(T, R, S);
    tb_quat_to_mat(S, qp);
    assert_near_array(T, S, 9, 1e-14);
    tb_quat_from_mat(back, R);
    tbReal sign = back[0] * q[0] + back[1] * q[1] + back[2] * q[2] + back[3] * q[3] < 0 ? -1 : 1;
    for (int i = 0; i < 4; i++) back[i] *= sign;
    assert_near_array(q, back, 4, 1e-14);
  }
}

static void log_inverts_integrate(void** state) {
  (void)state;
  tbRng rng = {3};
  for (int trial = 0; trial < 1000; trial++) {
    tbReal q[4] = {1, 0, 0, 0}, w[3], r[3];
    tbReal size = pow(10, tb_rng_uniform(&rng, -12, 0));
    for (int i = 0; i < 3; i++) w[i] = tb_rng_uniform(&rng, -1, 1) * size;
    tb_quat_integrate(q, w, 1);
    tb_quat_log(r, q);
    for (int i = 0; i < 3; i++) assert_true(fabs(r[i] - w[i]) <= 1e-14 * size + 1e-15 * fabs(w[i]));
  }
}

static void frame_is_right_handed(void** state) {
  (void)state;
  tbRng rng = {4};
  for (int trial = 0; trial < 1000; trial++) {
    tbReal F[9], G[9], identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, c[3];
    for (int i = 0; i < 3; i++) F[i] = tb_rng_normal(&rng);
    tb_normalize3(F);
    tb_frame_from_normal(F, F + 3, F + 6);
    tb_mul_mat3_mat3t(G, F, F);
    assert_near_array(G, identity, 9, 1e-14);
    tb_cross(c, F, F + 3);
    assert_near_array(c, F + 6, 3, 1e-14);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rotation_and_matrix_agree),
      cmocka_unit_test(log_inverts_integrate),
      cmocka_unit_test(frame_is_right_handed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
