// Moments of shapes against sums over points, and sums of parts against the parallel-axis theorem.
#include "common/test.h"
#include "io/compile/internal.h"
#include "spatial/quat.h"
#include "tribo/tribo.h"

// ---- solids: the mean of y^2 + z^2 over a fine grid of points inside ----------------------------

static bool inside(int type, const double s[3], const double p[3]) {
  double radial = p[0] * p[0] + p[1] * p[1], over;
  switch (type) {
    case TB_GEOM_SPHERE: return radial + p[2] * p[2] <= s[0] * s[0];
    case TB_GEOM_CYLINDER: return radial <= s[0] * s[0] && fabs(p[2]) <= s[1];
    case TB_GEOM_CAPSULE:
      over = fmax(0, fabs(p[2]) - s[1]);
      return radial + over * over <= s[0] * s[0];
    case TB_GEOM_ELLIPSOID:
      return p[0] * p[0] / (s[0] * s[0]) + p[1] * p[1] / (s[1] * s[1]) +
                 p[2] * p[2] / (s[2] * s[2]) <=
             1;
    default: return true;
  }
}

static void test_solids(void** state) {
  (void)state;
  static const double box[][3] = {[TB_GEOM_SPHERE] = {0.3, 0.3, 0.3},
                                  [TB_GEOM_CAPSULE] = {0.3, 0.3, 0.8},
                                  [TB_GEOM_ELLIPSOID] = {0.3, 0.5, 0.7},
                                  [TB_GEOM_CYLINDER] = {0.3, 0.3, 0.5},
                                  [TB_GEOM_BOX] = {0.3, 0.5, 0.7}};
  enum { N = 120 };
  for (int type = TB_GEOM_SPHERE; type <= TB_GEOM_BOX; type++) {
    const double* half = box[type];
    double size[3] = {half[0], type == TB_GEOM_CAPSULE || type == TB_GEOM_CYLINDER ? 0.5 : half[1],
                      half[2]};
    double square[3] = {0, 0, 0}, moments[3];
    long count = 0;
    for (long i = 0; i < (long)N * N * N; i++) {
      long cell[3] = {i % N, i / N % N, i / N / N};
      double p[3];
      for (int k = 0; k < 3; k++) p[k] = half[k] * (2 * ((double)cell[k] + 0.5) / N - 1);
      if (!inside(type, size, p)) continue;
      count++;
      for (int k = 0; k < 3; k++) square[k] += p[k] * p[k];
    }
    double volume = 8 * half[0] * half[1] * half[2] * (double)count / ((double)N * N * N);
    assert_near(tb_shape_volume(type, size, false), volume, 2e-3);
    tb_shape_inertia(type, size, false, moments);
    for (int k = 0; k < 3; k++) {
      double expected = (square[(k + 1) % 3] + square[(k + 2) % 3]) / (double)count;
      assert_near(moments[k] / expected, 1, 2e-3);
    }
  }
}

// ---- shells: the difference of two solids that differ by a thin layer ---------------------------

static void test_shells(void** state) {
  (void)state;
  const double layer = 1e-6;
  for (int type = TB_GEOM_SPHERE; type <= TB_GEOM_BOX; type++) {
    double size[3] = {0.3, 0.5, 0.7}, outer[3], moments[3], inner_moments[3], outer_moments[3];
    // A capsule's and a cylinder's layer grows the radius; only the cylinder's length too.
    for (int k = 0; k < 3; k++) outer[k] = size[k] + layer;
    if (type == TB_GEOM_CAPSULE) outer[1] = size[1];
    double inner_volume = tb_shape_volume(type, size, false);
    double outer_volume = tb_shape_volume(type, outer, false);
    tb_shape_inertia(type, size, false, inner_moments);
    tb_shape_inertia(type, outer, false, outer_moments);
    tb_shape_inertia(type, size, true, moments);
    double area = (outer_volume - inner_volume) / layer;
    for (int k = 0; k < 3; k++) {
      double expected = (outer_volume * outer_moments[k] - inner_volume * inner_moments[k]) /
                        (outer_volume - inner_volume);
      assert_near(moments[k] / expected, 1, 1e-5);
    }
    // The layer of an ellipsoid that grows by its radii is not of even thickness.
    if (type != TB_GEOM_ELLIPSOID) assert_near(tb_shape_volume(type, size, true) / area, 1, 1e-5);
  }
}

// ---- parts --------------------------------------------------------------------------------------

static void random_part(tbRng* rng, tbInertiaPart* part) {
  part->mass = tb_rng_uniform(rng, 0.1, 3);
  for (int k = 0; k < 3; k++) part->pos[k] = tb_rng_uniform(rng, -1, 1);
  for (int k = 0; k < 4; k++) part->quat[k] = tb_rng_normal(rng);
  tb_quat_normalize(part->quat);
  // Any squares give moments of a body.
  double a = tb_rng_uniform(rng, 0, 1), b = tb_rng_uniform(rng, 0, 1),
         c = tb_rng_uniform(rng, 0, 1);
  tb_set3(part->moments, b + c, c + a, a + b);
}

// Kinetic energy of rotation about the origin with angular velocity w.
static double energy(const tbInertiaPart* part, const double w[3]) {
  double velocity[3], local[3], inverse[4];
  tb_cross(velocity, w, part->pos);
  tb_quat_conjugate(inverse, part->quat);
  tb_quat_rotate(local, inverse, w);
  double e = part->mass * tb_dot3(velocity, velocity);
  for (int k = 0; k < 3; k++) e += part->moments[k] * local[k] * local[k];
  return e / 2;
}

static void test_parts(void** state) {
  (void)state;
  tbRng rng = {11};
  for (int round = 0; round < 200; round++) {
    tbInertiaPart parts[5];
    int n = 1 + tb_rng_int(&rng, 5);
    double mass = 0;
    for (int i = 0; i < n; i++) {
      random_part(&rng, &parts[i]);
      mass += parts[i].mass;
    }
    tbInertiaPart total = tb_inertia_combine(parts, n);
    assert_near(total.mass, mass, 1e-14);
    assert_true(total.moments[0] >= total.moments[1] && total.moments[1] >= total.moments[2]);
    for (int trial = 0; trial < 5; trial++) {
      double w[3], sum = 0;
      tb_rng_normals(&rng, 3, w);
      for (int i = 0; i < n; i++) sum += energy(&parts[i], w);
      assert_near(energy(&total, w), sum, 1e-10);
    }
  }
  // Nothing has no mass, and no axes to find.
  tbInertiaPart none = tb_inertia_combine(NULL, 0);
  assert_near(none.mass, 0, 0);
  assert_near(none.quat[0], 1, 0);
}

static void test_full_inertia(void** state) {
  (void)state;
  double moments[3], quat[4];
  const double diagonal[6] = {1, 1.5, 2, 0, 0, 0}, negative[6] = {1, 1.5, 2, 3, 0, 0};
  assert_true(tb_inertia_diagonalize(diagonal, moments, quat));
  assert_near(moments[0], 2, 1e-15);
  assert_near(moments[2], 1, 1e-15);
  assert_false(tb_inertia_diagonalize(negative, moments, quat));
}

// compiler/inertiafromgeom: "auto" and "false" keep an inertial of the file, "true" never does.
static void test_inertia_from_geoms(void** state) {
  (void)state;
  static const char* const words[] = {"auto", "true", "false"};
  // A box of 0.2 x 0.4 x 0.6 m at 1000 kg/m3 has 48 kg; the inertial says 3.
  const double given[3] = {3, 48, 3}, found[3] = {48, 48, -1};
  for (int k = 0; k < 3; k++) {
    for (int inertial = 0; inertial < 2; inertial++) {
      char xml[512];
      snprintf(xml, sizeof xml,
               "<mujoco><compiler inertiafromgeom='%s'/><worldbody><body><freejoint/>%s"
               "<geom type='box' size='.1 .2 .3'/></body></worldbody></mujoco>",
               words[k], inertial ? "<inertial pos='0 0 0' mass='3' diaginertia='1 1 1'/>" : "");
      tbError error;
      tbModel* m = tb_load_string(xml, NULL, NULL, &error);
      double mass = inertial ? given[k] : found[k];
      if (mass < 0) {
        assert_null(m);
        continue;
      }
      if (!m) fail_msg("%s", error.message);
      assert_near(m->body_mass[1], mass, 1e-12);
      tb_model_free(m);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_solids),
      cmocka_unit_test(test_shells),
      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_full_inertia),
      cmocka_unit_test(test_inertia_from_geoms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
