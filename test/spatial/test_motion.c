// Identities of spatial algebra.
#include "spatial/motion.h"

#include "common/test.h"
#include "spatial/quat.h"

static void random_vector(tbRng* rng, tbReal* v, int n) {
  for (int i = 0; i < n; i++) v[i] = tb_rng_normal(rng);
}

// (v x s) . f = - s . (v x* f), and v x v = 0.
static void crosses_are_dual(void** state) {
  (void)state;
  tbRng rng = {21};
  for (int trial = 0; trial < 1000; trial++) {
    tbReal v[6], s[6], f[6], a[6], b[6];
    random_vector(&rng, v, 6);
    random_vector(&rng, s, 6);
    random_vector(&rng, f, 6);
    tb_motion_cross(a, v, s);
    tb_force_cross(b, v, f);
    assert_near(tb_dot6(a, f), -tb_dot6(s, b), 1e-13);
    tb_motion_cross(a, v, v);
    for (int k = 0; k < 6; k++) assert_near(a[k], 0, 1e-15);
  }
}

// Momentum of a body by points: eight equal masses at the corners of a box.
static void inertia_is_that_of_points(void** state) {
  (void)state;
  tbRng rng = {22};
  for (int trial = 0; trial < 200; trial++) {
    tbReal q[4], R[9], c[3], half[3], v[6], I[10], momentum[6], sum[6] = {0};
    random_vector(&rng, q, 4);
    tb_quat_normalize(q);
    tb_quat_to_mat(R, q);
    random_vector(&rng, c, 3);
    random_vector(&rng, half, 3);
    random_vector(&rng, v, 6);
    tbReal mass = 8 * 0.3;
    tbReal moments[3] = {mass * (half[1] * half[1] + half[2] * half[2]),
                         mass * (half[0] * half[0] + half[2] * half[2]),
                         mass * (half[0] * half[0] + half[1] * half[1])};
    tb_inertia_make(I, mass, moments, R, c);
    tb_inertia_mul(momentum, I, v);
    for (int corner = 0; corner < 8; corner++) {
      tbReal p[3], velocity[3], force[6];
      for (int k = 0; k < 3; k++) p[k] = corner >> k & 1 ? half[k] : -half[k];
      tb_mul_mat3_vec3(p, R, p);
      tb_add3(p, p, c);
      tb_motion_at(velocity, v, p);
      tb_scale3(velocity, velocity, 0.3);
      tb_force_make(force, p, velocity, NULL);
      tb_add6(sum, sum, force);
    }
    assert_near_array(momentum, sum, 6, 1e-12);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crosses_are_dual),
      cmocka_unit_test(inertia_is_that_of_points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
