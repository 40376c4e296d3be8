// A wall that is hit: 4 x 5 cubes of 1 kg at the bottom to 10,000 kg at the top, and a ball of a
// tonne. In the first steps after the impact the central path of the interior-point method has
// turning points; a method that only decreases the barrier parameter left eight steps of such a run
// unsolved.
#include <stdio.h>

#include "common/worlds.h"

static void walls_that_are_hit(void** state) {
  (void)state;
  enum { STARTS = 4, BRICKS = 20 };
  static char xml[8000];
  int at = snprintf(xml, sizeof xml,
                    "<mujoco><option timestep='.002'/><worldbody>"
                    "<geom type='plane' size='50 50 1'/>");
  for (int i = 0; i < BRICKS; i++) {
    at += snprintf(xml + at, sizeof xml - (size_t)at,
                   "<body pos='0 %g %g'><freejoint/><geom type='box' size='.25 .25 .25' "
                   "mass='1e%d'/></body>",
                   0.51 * (i % 4 - 1.5), 0.25 + 0.5 * (i / 4), i / 4);
  }
  snprintf(xml + at, sizeof xml - (size_t)at,
           "<body pos='-3 0 1.2'><freejoint/><geom type='sphere' size='.4' mass='1000'/></body>"
           "</worldbody></mujoco>");
  int unsolved = 0;
  double worst = 0;
  for (int start = 0; start < STARTS; start++) {
    tbWorld w = tb_world_text(xml);
    w.d->qvel[6 * BRICKS] = 10 + 1e-6 * start;
    int steps = tb_world_steps(w, 0.32);
    for (int i = 0; i < steps; i++) {
      tb_world_run(w, 1);
      unsolved += w.d->solve.status != TB_SOLVE_CONVERGED;
      worst = fmax(worst, w.d->solve.residual.relative);
    }
    tb_world_free(w);
  }
  print_message("%d steps of %d runs not solved, residuals up to %.1e\n", unsolved, STARTS, worst);
  assert_true(unsolved <= 3 * STARTS);
  assert_true(worst < 1e-2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(walls_that_are_hit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
