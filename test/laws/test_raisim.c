// RaiSim's law on a slope, at the edge between rest and sliding.
#include <math.h>

#include "common/worlds.h"

static const tbReal GRAVITY = 9.81;

// A thing on a floor that gravity makes a slope of `angle`, along x.
static tbWorld on_slope(const char* shape, double angle, double mu, double timestep) {
  char xml[1024];
  snprintf(xml, sizeof xml,
           "<mujoco><option timestep='%g' gravity='%.17g 0 %.17g'/><worldbody>"
           "<geom type='plane' size='50 50 1' friction='%.17g'/><body pos='0 0 .1'><freejoint/>"
           "<geom type='%s' size='.1 .1 .1' mass='1' friction='%.17g'/></body></worldbody>"
           "</mujoco>",
           timestep, GRAVITY * sin(angle), -GRAVITY * cos(angle), mu, shape, mu);
  tbWorld w = tb_world_text(xml);
  w.m->opt.law = TB_LAW_RAISIM;
  w.m->opt.solve_tolerance = 1e-9;
  return w;
}

// Sliding by this law is y = -t (a + u) in scaled rows (raisim_block.c), u the direction of
// friction. A cube's corner has A_TN / A_NN = (+-3/8, +-3/8), so a = 3/8 mu (+-1, +-1): where all
// corners move along x, u_y = -a_y and friction along x is mu sqrt(1 - a_y^2) at each of them,
// whatever each bears. The cube starts that much faster than by Coulomb's law, also at the edge of
// rest, where Coulomb's law starts it at next to no speed; after some steps it turns.
static void cube_starts_as_the_law_says(void** state) {
  (void)state;
  const double angles[] = {10, 20, 40}, below[] = {0.1, 1e-2, 1e-3}, steps[] = {1e-3, 2e-3, 1e-2};
  for (int k = 0; k < 27; k++) {
    double angle = angles[k % 3] * 3.141592653589793 / 180, h = steps[k / 9];
    double mu = tan(angle) * (1 - below[k / 3 % 3]), across = 0.375 * mu;
    double speedup = GRAVITY * (sin(angle) - mu * cos(angle) * sqrt(1 - across * across));
    tbWorld w = on_slope("box", angle, mu, h);
    for (int i = 1; i <= 3; i++) {
      tb_world_run_solved(w, 1);
      assert_near(w.d->qvel[0], i * h * speedup, 1e-4 * i * h * speedup);
    }
    tb_world_free(w);
  }
}

// Within the cone nothing moves.
static void cube_rests_above_the_edge(void** state) {
  (void)state;
  const double angles[] = {5, 20, 40};
  for (int k = 0; k < 3; k++) {
    double angle = angles[k] * 3.141592653589793 / 180;
    tbWorld w = on_slope("box", angle, tan(angle) * 1.001, 2e-3);
    tb_world_run_solved(w, 100);
    assert_near(w.d->qvel[0], 0, 1e-8);
    tb_world_free(w);
  }
}

// A ball's normal and tangent are not coupled: the law is Coulomb's. It rolls with 5/7 of the
// slope's pull while friction can turn it (mu above 2/7 tan), and slides below.
static void ball_obeys_coulomb(void** state) {
  (void)state;
  const double angles[] = {5, 20, 40, 60}, shares[] = {-1e-3, 1e-3};
  for (int k = 0; k < 8; k++) {
    double angle = angles[k / 2] * 3.141592653589793 / 180;
    double mu = 2.0 / 7 * tan(angle) * (1 + shares[k % 2]);
    double pull = GRAVITY * fmax(5.0 / 7 * sin(angle), sin(angle) - mu * cos(angle));
    tbWorld w = on_slope("sphere", angle, mu, 2e-3);
    tb_world_run_solved(w, 100);
    assert_near(w.d->qvel[0], 0.2 * pull, 1e-6 * pull);
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cube_starts_as_the_law_says),
                                     cmocka_unit_test(cube_rests_above_the_edge),
                                     cmocka_unit_test(ball_obeys_coulomb)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
