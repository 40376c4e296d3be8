// Bodies come to rest and then need no further solves: heaps whose contacts all differ, in which
// errors within the tolerance would keep the lightest bodies, and so all, in motion.
#include <stdio.h>

#include "base/rng.h"
#include "common/worlds.h"

// Runs a world for `steps` more steps; counts the factorisations of all of them, and the bodies
// that are faster than `speed` (m/s, rad/s) at the end.
static void watch(tbWorld w, int steps, double speed, int* factorizations, int* movers) {
  *factorizations = *movers = 0;
  for (int i = 0; i < steps; i++) {
    tb_world_run(w, 1);
    *factorizations += w.d->solve.factorizations;
  }
  for (int j = 0; j < w.m->njnt; j++) {
    double fastest = 0;
    for (int k = 0; k < 6; k++) fastest = fmax(fastest, fabs(w.d->qvel[w.m->jnt_dofadr[j] + k]));
    *movers += fastest > speed;
  }
  print_message("%d factorisations in %d steps, %d bodies move\n", *factorizations, steps, *movers);
}

// A wall of bricks of 1 to 10,000 kg, the last of which fall from its side. Light bricks
// under heavy ones used to keep moving at 1 mm/s, with nine factorisations per step.
static void light_bricks_among_heavy_ones_rest(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("wall.xml", NULL);
  int factorizations, movers;
  tb_world_run(w, tb_world_steps(w, 3));
  watch(w, 100, 1e-5, &factorizations, &movers);
  assert_int_equal(movers, 0);
  assert_true(factorizations <= 100);
  tb_world_free(w);
}

// Boxes of a kilogram in a bin: they used to shake at 1 cm/s with eight factorisations per step.
static void boxes_in_a_bin_rest(void** state) {
  (void)state;
  enum { BOXES = 100, SIDE = 4 };
  static char xml[30000];
  tbRng rng = {9};
  int at = snprintf(xml, sizeof xml,
                    "<mujoco><option timestep='.002'/><worldbody><geom type='plane' size='5 5 1'/>"
                    "<geom type='box' pos='.32 0 .5' size='.02 .34 .5'/>"
                    "<geom type='box' pos='-.32 0 .5' size='.02 .34 .5'/>"
                    "<geom type='box' pos='0 .32 .5' size='.34 .02 .5'/>"
                    "<geom type='box' pos='0 -.32 .5' size='.34 .02 .5'/>");
  for (int i = 0; i < BOXES; i++) {
    double turn[3];
    for (int k = 0; k < 3; k++) turn[k] = tb_rng_uniform(&rng, 0, 180);
    at += snprintf(xml + at, sizeof xml - (size_t)at,
                   "<body pos='%.17g %.17g %.17g' euler='%.17g %.17g %.17g'><freejoint/>"
                   "<geom type='box' size='%s' mass='1'/></body>",
                   0.15 * (i % SIDE) - 0.225, 0.15 * (i / SIDE % SIDE) - 0.225,
                   0.1 + 0.15 * (i / SIDE / SIDE), turn[0], turn[1], turn[2],
                   i % 2 ? ".05 .05 .05" : ".06 .04 .03");
  }
  snprintf(xml + at, sizeof xml - (size_t)at, "</worldbody></mujoco>");
  tbWorld w = tb_world_text(xml);
  int factorizations, movers;
  tb_world_run(w, tb_world_steps(w, 3.5));
  watch(w, 100, 1e-5, &factorizations, &movers);
  // One may turn on a corner, which has no friction against that.
  assert_true(movers <= 3);
  assert_true(factorizations <= 200);
  tb_world_free(w);
}

// A drum of 64 facets on its side, and a box whose edges are cut off by a millimetre, rest on four
// points of many within the margin. The points that span the largest area do not carry the load:
// with these both rocked permanently, at 0.2 and 0.4 rad/s.
static void drums_and_bevelled_boxes_rest(void** state) {
  (void)state;
  enum { FACETS = 64 };
  char drum[16384] = "", box[4096] = "", xml[24576];
  int at = 0, used = 0;
  for (int i = 0; i < 2 * FACETS; i++) {
    double angle = 3.141592653589793 / FACETS * (i / 2 * 2);
    at += snprintf(drum + at, sizeof drum - (size_t)at, "%.12g %.12g %g ", 0.05 * cos(angle),
                   0.05 * sin(angle), i % 2 ? 0.06 : -0.06);
  }
  for (int i = 0; i < 24; i++) {
    const double half[3] = {0.05, 0.04, 0.03};
    double p[3];
    for (int k = 0; k < 3; k++) p[k] = (i >> k & 1 ? 1 : -1) * (half[k] - (k == i / 8 ? 0 : 0.001));
    used += snprintf(box + used, sizeof box - (size_t)used, "%.12g %.12g %.12g ", p[0], p[1], p[2]);
  }
  tbRng rng = {4};
  for (int k = 0; k < 12; k++) {
    double quat[4];
    for (int i = 0; i < 4; i++) quat[i] = tb_rng_normal(&rng);
    snprintf(xml, sizeof xml,
             "<mujoco><asset><mesh name='m' vertex='%s'/><hfield name='flat' nrow='41' ncol='41' "
             "size='2 2 .1 .1'/></asset><worldbody><geom %s/><body pos='0 0 .2' quat='%.17g %.17g "
             "%.17g %.17g'><freejoint/><geom type='mesh' mesh='m' mass='1' condim='6' friction='.8 "
             ".005 .005'/></body></worldbody></mujoco>",
             k % 2 ? box : drum,
             k < 8 ? "type='plane' size='9 9 1'" : "type='hfield' hfield='flat'", quat[0], quat[1],
             quat[2], quat[3]);
    tbWorld w = tb_world_text(xml);
    tb_world_run_solved(w, 1250);
    for (int i = 0; i < 60; i++) {
      tb_world_run_solved(w, 1);
      for (int j = 0; j < 6; j++) assert_near(w.d->qvel[j], 0, 1e-5);
    }
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(light_bricks_among_heavy_ones_rest),
      cmocka_unit_test(boxes_in_a_bin_rest),
      cmocka_unit_test(drums_and_bevelled_boxes_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
