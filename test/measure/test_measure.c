// Measures of runs against closed forms.
#include "tribo/measure.h"

#include "common/test.h"
#include "tribo/tribo.h"

// ---- paths -------------------------------------------------------------------------------------

// A point on the line (v t, 0, 0), with rows every `interval` seconds up to `time`.
static int line(tbReal v, tbReal interval, tbReal time, tbReal* rows) {
  int n = (int)lround(time / interval);
  for (int i = 0; i < n; i++) {
    rows[3 * i] = v * (i + 1) * interval;
    rows[3 * i + 1] = rows[3 * i + 2] = 0;
  }
  return n;
}

static void distances_of_lines(void** state) {
  (void)state;
  tbReal a[300], b[3000], end;
  int na = line(1, 0.1, 2, a), nb = line(1.5, 0.01, 2, b);
  tbPath slow = {a, na, 1, 0.1}, fast = {b, nb, 1, 0.01};
  // Sum over i of 0.5 (i h) h = 0.5 h^2 n (n + 1) / 2.
  assert_near(tb_path_distance(&slow, &fast, &end), 0.25 * 0.01 * 20 * 21, 1e-12);
  assert_near(end, 1, 1e-12);
  assert_near(tb_path_distance(&slow, &slow, &end), 0, 0);
  // A reference in between of whose rows the points lie: linear is exact for a line.
  tbPath coarse = {a, line(1.5, 0.13, 2, a + 100), 1, 0.13};
  coarse.position = a + 100;
  tb_path_distance(&slow, &coarse, &end);
  assert_near(end, 0.5 * 1.9, 1e-9);
  // The body that deviates most counts.
  const tbReal two[6] = {0, 0, 0, 1, 0, 0}, other[6] = {0, 0, 0.1, 1, 3, 0};
  tbPath p = {two, 1, 2, 0.5}, q = {other, 1, 2, 0.5};
  assert_near(tb_path_distance(&p, &q, &end), 1.5, 1e-12);
  assert_near(end, 3, 1e-12);
  q.points = 1;
  assert_true(isnan(tb_path_distance(&p, &q, &end)) && isnan(end));
  assert_true(isnan(tb_path_distance(NULL, &q, NULL)));
}

// ---- internal forces ---------------------------------------------------------------------------

static tbModel* load(const char* xml) {
  tbError error;
  tbModel* m = tb_load_string(xml, NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  return m;
}

// A box on its four corners: forces that pull two corners apart along the line between them are
// internal, weights are not.
static void a_box_that_is_pulled_apart(void** state) {
  (void)state;
  tbError error;
  tbModel* m = load(
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.1'><freejoint/>"
      "<geom type='box' size='0.1 0.1 0.1'/></body></worldbody></mujoco>");
  tbData* d = tb_data_new(m);
  tbReal norm, force[64];
  assert_int_equal(tb_forward(m, d), TB_OK);
  assert_int_equal(d->ncon, 4);
  // The same vertical force everywhere: nothing is internal.
  for (int c = 0; c < 4; c++) {
    for (int k = 0; k < 6; k++) d->contact[c].force[k] = k == 0 ? 10 : 0;
  }
  assert_int_equal(tb_internal_force(m, d, force, &norm, &error), TB_OK);
  assert_near(norm, 0, 1e-8);
  // +-3 N along the line from corner 0 to corner 1.
  tbReal along[3], length = 0;
  for (int k = 0; k < 3; k++) along[k] = d->contact[1].pos[k] - d->contact[0].pos[k];
  for (int k = 0; k < 3; k++) length += along[k] * along[k];
  for (int c = 0; c < 2; c++) {
    for (int r = 0; r < 3; r++) {
      for (int k = 0; k < 3; k++) {
        d->contact[c].force[r] +=
            (c ? 3 : -3) * d->contact[c].frame[3 * r + k] * along[k] / sqrt(length);
      }
    }
  }
  assert_int_equal(tb_internal_force(m, d, force, &norm, &error), TB_OK);
  assert_near(norm, 3 * sqrt(2), 1e-7);
  for (int r = 0; r < 3; r++) {
    assert_near(force[r], d->contact[0].force[r] - (r == 0 ? 10 : 0), 1e-7);
    assert_near(force[12 + r], 0, 1e-7);
  }
  assert_int_equal(tb_internal_force(m, d, force, NULL, &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_internal_force(NULL, d, NULL, &norm, NULL), TB_ERROR_ARGUMENT);
  tb_data_free(d);
  tb_model_free(m);
}

// Forces between the feet of a floating robot count, although joints carry them; the force of a
// gripper that is fixed to the world on a wall does not.
static void joints_of_floating_robots_are_locked(void** state) {
  (void)state;
  tbError error;
  const char* const SCENE[2] = {
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.3'><freejoint/>"
      "<geom size='0.01'/><body pos='-0.4 0 0'><joint type='slide' axis='1 0 0'/>"
      "<geom size='0.3'/></body><body pos='0.4 0 0'><joint type='slide' axis='1 0 0'/>"
      "<geom size='0.3'/></body></body></worldbody></mujoco>",
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.3'>"
      "<geom size='0.01'/><body pos='-0.4 0 0'><joint type='slide' axis='1 0 0'/>"
      "<joint type='slide' axis='0 1 0'/><joint type='slide' axis='0 0 1'/>"
      "<geom size='0.3'/></body></body></worldbody></mujoco>"};
  for (int fixed = 0; fixed < 2; fixed++) {
    tbModel* m = load(SCENE[fixed]);
    tbData* d = tb_data_new(m);
    tbReal norm;
    assert_int_equal(tb_forward(m, d), TB_OK);
    assert_int_equal(d->ncon, fixed ? 1 : 2);
    for (int c = 0; c < d->ncon; c++) {
      memset(d->contact[c].force, 0, sizeof d->contact[c].force);
      tbReal sign = d->contact[c].pos[0] > 0 ? 2 : -2;
      for (int r = 0; r < 3; r++) d->contact[c].force[r] = sign * d->contact[c].frame[3 * r];
    }
    assert_int_equal(tb_internal_force(m, d, NULL, &norm, &error), TB_OK);
    assert_near(norm, fixed ? 0 : 2 * sqrt(2), 1e-7);
    tb_data_free(d);
    tb_model_free(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_of_lines),
      cmocka_unit_test(a_box_that_is_pulled_apart),
      cmocka_unit_test(joints_of_floating_robots_are_locked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
