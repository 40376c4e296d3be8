// Scenes that other engines get wrong: stacks, cards, arch, mass ratios, grips. Longer ones are in
// test_behaviour_slow.
#include "base/rng.h"
#include "common/worlds.h"

// Largest distance of any body frame from where it was, free bodies only.
static double largest_shift(tbWorld w, const tbReal* start) {
  double worst = 0;
  for (int j = 0; j < w.m->njnt; j++) {
    if (w.m->jnt_type[j] != TB_JOINT_FREE) continue;
    const tbReal *a = w.d->qpos + w.m->jnt_qposadr[j], *b = start + w.m->jnt_qposadr[j];
    worst = fmax(worst, sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2)));
  }
  return worst;
}

static double deepest(const tbData* d) {
  double worst = 0;
  for (int i = 0; i < d->ncon; i++) worst = fmax(worst, -d->contact[i].dist);
  return worst;
}

// Run and return how far the farthest body went from its start; every step must converge.
static double shift_after(tbWorld w, double seconds, double* depth) {
  tbReal* start = malloc(sizeof(tbReal) * (size_t)w.m->nq);
  memcpy(start, w.d->qpos, sizeof(tbReal) * (size_t)w.m->nq);
  int steps = tb_world_steps(w, seconds);
  *depth = 0;
  for (int i = 0; i < steps; i++) {
    tb_world_run(w, 1);
    assert_int_equal(w.d->solve.status, TB_SOLVE_CONVERGED);
    *depth = fmax(*depth, deepest(w.d));
  }
  double shift = largest_shift(w, start);
  free(start);
  return shift;
}

static void ten_boxes_stand_for_a_minute(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("tower.xml", NULL);
  double depth, shift = shift_after(w, 60, &depth);
  print_message("tower: moved %.1e m in 60 s, deepest overlap %.1e m\n", shift, depth);
  assert_true(shift < 1e-4);
  assert_true(depth < 1e-6);
  tb_world_free(w);
}

static void scene_stands(const char* scene, double seconds, double most) {
  tbWorld w = tb_world_scene(scene, NULL);
  double depth, shift = shift_after(w, seconds, &depth);
  print_message("%s: moved %.1e m in %g s, deepest overlap %.1e m\n", scene, shift, seconds, depth);
  assert_true(shift < most);
  assert_true(depth < 1e-5);
  tb_world_free(w);
}

// ---- bricks side by side ------------------------------------------------------------------------

typedef struct {
  int columns, deep, high;
  double size[3];  // half lengths
  double shift;    // of every second layer
  const char* geom;
} Packing;

// Half lengths 0.05, and a hexagon as high that is as wide between two of its sides.
#define BRICKS                                                                                \
  "<asset><mesh name='cube' vertex='-.05 -.05 -.05 .05 -.05 -.05 -.05 .05 -.05 .05 .05 -.05 " \
  "-.05 -.05 .05 .05 -.05 .05 -.05 .05 .05 .05 .05 .05'/>"                                    \
  "<mesh name='hexagon' vertex='.05 .02886751 -.05 0 .05773503 -.05 -.05 .02886751 -.05 "     \
  "-.05 -.02886751 -.05 0 -.05773503 -.05 .05 -.02886751 -.05 .05 .02886751 .05 0 .05773503 " \
  ".05 -.05 .02886751 .05 -.05 -.02886751 .05 0 -.05773503 .05 .05 -.02886751 .05'/></asset>"

static char* packed_bricks(const Packing* p) {
  size_t size = 1200 + 300 * (size_t)(p->columns * p->deep * p->high), at = 0;
  char* text = malloc(size);
  at += (size_t)snprintf(text, size,
                         "<mujoco>" BRICKS "<worldbody><geom type='plane' size='9 9 1'/>");
  for (int i = 0; i < p->columns * p->deep * p->high; i++) {
    int x = i % p->columns, y = i / p->columns % p->deep, z = i / (p->columns * p->deep);
    const double* s = p->size;
    at += (size_t)snprintf(text + at, size - at,
                           "<body pos='%.17g %.17g %.17g'><freejoint/>"
                           "<geom %s mass='1'/></body>",
                           2 * s[0] * x + (z % 2) * p->shift, 2 * s[1] * y, s[2] * (2 * z + 1),
                           p->geom);
  }
  snprintf(text + at, size - at, "</worldbody></mujoco>");
  return text;
}

// Each brick touches its neighbours with faces, edges and rims, at rounding distance, and loads can
// be shared in many ways. Once found, the impulses hold: no brick moves, and few steps need a
// solve.
static void packed_bricks_rest(void** state) {
  (void)state;
  static const Packing PACKINGS[] = {
      {8, 1, 6, {0.05, 0.05, 0.05}, 0, "type='box' size='.05 .05 .05'"},
      {6, 1, 6, {0.1, 0.05, 0.05}, 0.1, "type='box' size='.1 .05 .05'"},
      {3, 3, 3, {0.05, 0.05, 0.05}, 0, "type='box' size='.05 .05 .05'"},
      {4, 4, 4, {0.05, 0.05, 0.05}, 0, "type='box' size='.05 .05 .05'"},
      {2, 2, 3, {0.15, 0.1, 0.1}, 0.15, "type='box' size='.15 .1 .1'"},
      {6, 1, 4, {0.05, 0.05, 0.05}, 0, "type='mesh' mesh='cube'"},
      {3, 3, 3, {0.05, 0.05, 0.05}, 0, "type='mesh' mesh='cube'"},
      {6, 1, 4, {0.05, 0.05, 0.05}, 0, "type='mesh' mesh='hexagon'"},
      {6, 1, 4, {0.05, 0.05, 0.05}, 0, "type='cylinder' size='.05 .05'"},
      {3, 3, 3, {0.05, 0.05, 0.05}, 0, "type='cylinder' size='.05 .05'"}};
  enum { COUNT = sizeof PACKINGS / sizeof *PACKINGS, STEPS = 500 };
  for (int k = 0; k < COUNT; k++) {
    char* text = packed_bricks(&PACKINGS[k]);
    tbWorld w = tb_world_text(text);
    tbReal* start = malloc(sizeof(tbReal) * (size_t)w.m->nq);
    memcpy(start, w.d->qpos, sizeof(tbReal) * (size_t)w.m->nq);
    int solved = 0;
    for (int i = 0; i < STEPS; i++) {
      tb_world_run_solved(w, 1);
      solved += w.d->solve.iterations > 0;
    }
    double shift = largest_shift(w, start);
    print_message("%d of %s, %d contacts: moved %.1e m, %d of %d steps solved\n", w.m->nbody - 1,
                  PACKINGS[k].geom, w.d->ncon, shift, solved, STEPS);
    assert_true(shift < 1e-8);
    assert_true(solved < STEPS / 20);
    free(start);
    free(text);
    tb_world_free(w);
  }
}

static char* filled_bin(const char* geom, int bodies, uint64_t seed) {
  size_t size = 2000 + 250 * (size_t)bodies, at = 0;
  char* text = malloc(size);
  tbRng rng = {seed};
  at += (size_t)snprintf(text, size,
                         "<mujoco>" BRICKS
                         "<worldbody><geom type='plane' size='9 9 1'/>"
                         "<geom type='box' pos='.22 0 .2' size='.02 .24 .2'/>"
                         "<geom type='box' pos='-.22 0 .2' size='.02 .24 .2'/>"
                         "<geom type='box' pos='0 .22 .2' size='.24 .02 .2'/>"
                         "<geom type='box' pos='0 -.22 .2' size='.24 .02 .2'/>");
  for (int i = 0; i < bodies; i++) {
    double x[5];
    for (int k = 0; k < 5; k++) x[k] = tb_rng_uniform(&rng, -1, 1);
    at += (size_t)snprintf(
        text + at, size - at, "<body pos='%g %g %g' euler='%g %g %g'><freejoint/><geom %s/></body>",
        0.12 * x[0], 0.12 * x[1], 0.1 + 0.1 * i, 90 * x[2], 90 * x[3], 90 * x[4], geom);
  }
  snprintf(text + at, size - at, "</worldbody></mujoco>");
  return text;
}

// Whether the bodies of a bin lie, and iterations per step while they do. A box between two of its
// opposite corners may go on turning about them: nothing brakes that.
static bool lies_in_bin(const char* geom, int bodies, uint64_t seed, double* iterations) {
  enum { REST = 500 };
  char* text = filled_bin(geom, bodies, seed);
  tbWorld w = tb_world_text(text);
  bool lies = true;
  tb_world_run(w, tb_world_steps(w, 4));
  *iterations = 0;
  for (int i = 0; i < REST; i++) {
    tb_world_run_solved(w, 1);
    *iterations += (double)w.d->solve.iterations / REST;
  }
  for (int i = 0; i < w.m->nv; i++) lies = lies && (i % 6 >= 3 || fabs(w.d->qvel[i]) < 1e-4);
  tb_world_free(w);
  free(text);
  return lies;
}

// Bodies thrown into a bin come to rest there, and then nearly no steps need a solve, also for
// bodies that lean on rims and edges, press against overlapping ones, or could roll. In some bins a
// body rocks or rolls for longer.
static void bins_come_to_rest(void** state) {
  (void)state;
  static const char* const GEOMS[] = {
      "type='box' size='.05 .04 .03'", "type='mesh' mesh='hexagon'",
      "type='cylinder' size='.04 .05' condim='6' friction='.6 .005 .002'",
      "type='capsule' size='.03 .05' condim='6' friction='.6 .005 .01'"};
  enum { BINS = 9, BODIES = 20, KINDS = sizeof GEOMS / sizeof *GEOMS };
  for (int g = 0; g < KINDS; g++) {
    int lie = 0, idle = 0;
    for (int k = 0; k < BINS; k++) {
      double iterations;
      lie += lies_in_bin(GEOMS[g], BODIES, (uint64_t)k + 1, &iterations);
      idle += iterations < 0.3;
    }
    print_message("bins of %s: bodies lie in %d of %d, in %d next to nothing is solved\n", GEOMS[g],
                  lie, BINS, idle);
    assert_true(lie >= BINS - 1 && 2 * idle > BINS);
  }
}

// ---- houses of cards, arches, towers, grips -----------------------------------------------------

static void card_house_stands(void** state) {
  (void)state;
  scene_stands("card_house.xml", 3, 1e-4);
}

static void arch_stands(void** state) {
  (void)state;
  scene_stands("arch.xml", 1, 1e-4);
}

// Without friction neither can.
static void cards_and_arch_need_friction(void** state) {
  (void)state;
  static const char* const SCENES[] = {"card_house.xml", "arch.xml"};
  for (int k = 0; k < 2; k++) {
    tbWorld w = tb_world_scene(SCENES[k], NULL);
    for (int g = 0; g < w.m->ngeom; g++) w.m->geom_friction[3 * g] = 0.02;
    double depth, shift = shift_after(w, 0.5, &depth);
    assert_true(shift > 0.05);
    tb_world_free(w);
  }
}

static void mass_ratios_stand(void** state) {
  (void)state;
  scene_stands("heavy_on_light.xml", 5, 1e-6);
  scene_stands("very_heavy_on_light.xml", 5, 1e-6);
}

// The box between two fingers: friction could hold fifty times its weight, so it does not creep.
static void grip_creep(double tolerance, int start, int condim, double most) {
  tbWorld w = tb_world_scene("grip.xml", "hold");
  for (int g = 0; g < w.m->ngeom; g++) w.m->geom_condim[g] = condim;
  w.m->opt.solve_tolerance = tolerance;
  // Fingers that have yet to close, a box that is not quite where it should be and turns.
  w.d->qpos[0] -= 1e-4 * start;
  w.d->qpos[1] -= 2e-4 * start;
  w.d->qpos[2] += 3e-3 * start;
  w.d->qvel[3] = 0.01 * start;
  tb_world_run(w, 1000);
  int box = w.m->jnt_qposadr[w.m->njnt - 1];
  double height = w.d->qpos[box + 2], begin = w.d->time;
  tb_world_run(w, 2000);
  double creep = fabs(w.d->qpos[box + 2] - height) / (w.d->time - begin);
  print_message("grip: creeps at %.1e m/s with tolerance %g, condim %d\n", creep, tolerance,
                condim);
  assert_true(creep < most);
  tb_world_free(w);
}

// With the tolerance as it comes: impulses of contacts that stick are polished until they hold.
static void grip_does_not_creep(void** state) {
  (void)state;
  for (int start = 0; start < 2; start++) {
    grip_creep(1e-6, start, 3, 1e-9);
    grip_creep(1e-6, start, 4, 1e-9);
    grip_creep(1e-6, start, 6, 1e-9);
  }
  // a box that turns in the grip comes to rest within the tolerance and is left there
  grip_creep(1e-6, 2, 3, 1e-9);
  grip_creep(1e-6, 2, 4, 1e-9);
  grip_creep(1e-6, 2, 6, 1e-9);
  grip_creep(1e-6, 3, 6, 1e-9);
  grip_creep(1e-8, 0, 3, 1e-11);
}

// With less force than the weight needs it falls.
static void loose_grip_lets_go(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("grip.xml", "hold");
  w.d->ctrl[0] = w.d->ctrl[1] = 4.5;
  tb_world_run(w, 200);
  assert_true(w.d->qvel[w.m->nv - 4] < -0.1);
  tb_world_free(w);
}

// Boxes and balls that fall one above the other, 1 cm apart, land one after the other and not in
// each other, though nothing approaches before the lowest stops: at 10 ms they fall by 4 cm in a
// step.
static void columns_land_at_large_steps(void** state) {
  (void)state;
  const char* const shape[] = {"type='box' size='.1 .1 .05'", "size='.05'"};
  for (int kind = 0; kind < 2; kind++) {
    for (int law = 0; law < TB_LAW_COUNT; law++) {
      char xml[512];
      snprintf(xml, sizeof xml,
               "<mujoco><option timestep='%g'/><worldbody><geom type='plane' size='5 5 .1'/>"
               "<replicate count='6' offset='0 0 .11'><body pos='0 0 1'><freejoint/><geom %s "
               "mass='1'/></body></replicate></worldbody></mujoco>",
               kind ? 0.02 : 0.01, shape[kind]);
      tbWorld w = tb_world_text(xml);
      w.m->opt.law = law;
      double depth;
      shift_after(w, 1, &depth);
      assert_true(depth < 1e-6);
      for (int k = 0; k < 6; k++) assert_near(w.d->qpos[7 * k + 2], 0.05 + 0.1 * k, 1e-6);
      tb_world_free(w);
    }
  }
}

// Fingers of 15 g that start to grip a box with 80 N, 15 mm away from it, would be 21 mm farther
// after one step, though nothing moves yet: they stop at the box.
static void sudden_grips_stop_at_the_surface(void** state) {
  (void)state;
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(
        "<mujoco><default><geom type='box'/></default><worldbody><geom type='plane' size='1 1 .1'/>"
        "<body pos='-.04 0 .03'><joint type='slide' axis='1 0 0'/><geom size='.005 .01 .01' "
        "mass='.015'/></body><body pos='.04 0 .03'><joint type='slide' axis='-1 0 0'/><geom "
        "size='.005 .01 .01' mass='.015'/></body><body pos='0 0 .02'><freejoint/><geom size='.02 "
        ".02 .02' mass='.1'/></body></worldbody></mujoco>");
    w.m->opt.law = law;
    for (int k = 0; k < 2; k++) w.d->qfrc_applied[k] = 80;
    double depth;
    shift_after(w, 0.1, &depth);
    assert_true(depth < 1e-6);
    assert_near(w.d->qpos[0], 0.015, 1e-6);
    assert_near(w.d->qpos[1], 0.015, 1e-6);
    tb_world_free(w);
  }
}

// A plate of 2 mm and 10 g that 1 N starts to push, from anywhere within a centimetre, presses a
// ball of 4 mm onto a wall of 1 mm: none of them comes out on the other side.
static void small_parts_meet(void** state) {
  (void)state;
  static const double STEPS[] = {0.001, 0.005, 0.01};
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    for (int k = 0; k < 30; k++) {
      char xml[1024];
      snprintf(xml, sizeof xml,
               "<mujoco><option gravity='0 0 0'/><worldbody><geom type='box' pos='.0045 0 0' "
               "size='.0005 .01 .01'/><body><joint type='slide' axis='1 0 0'/><geom size='.002' "
               "mass='.001'/></body><body pos='%.17g 0 0'><joint type='slide' axis='1 0 0'/><geom "
               "type='box' size='.001 .005 .005' mass='.01'/></body></worldbody></mujoco>",
               -0.003 - 0.0003 * (k / 3 + 1) * (k / 3 + 1) / 3);
      tbWorld w = tb_world_text(xml);
      w.m->opt.law = law;
      w.m->opt.timestep = STEPS[k % 3];
      w.d->qfrc_applied[1] = 1;
      tb_world_run(w, tb_world_steps(w, 0.3));
      tb_kinematics(w.m, w.d);
      assert_near(w.d->xpos[3], 0.002, 1e-4);
      assert_near(w.d->xpos[6], -0.001, 1e-4);
      tb_world_free(w);
    }
  }
}

// The added mass of an ellipsoid in a medium is kept from step to step, and computed again for
// another size.
static void a_medium_sees_new_sizes(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option density='1000'/><worldbody><body><freejoint/><geom type='ellipsoid' "
      "size='.1 .2 .3' fluidshape='ellipsoid'/></body></worldbody></mujoco>");
  for (int i = 0; i < 6; i++) w.d->qvel[i] = 1 + i;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  double before = w.d->qfrc_fluid[3];
  w.m->geom_size[0] = 0.25;
  tbData* fresh = tb_data_copy(w.m, w.d);
  assert_non_null(fresh);
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_int_equal(tb_forward(w.m, fresh), TB_OK);
  assert_true(fabs(w.d->qfrc_fluid[3] - before) > 1e-3 * fabs(before));
  for (int i = 0; i < 6; i++) assert_true(w.d->qfrc_fluid[i] == fresh->qfrc_fluid[i]);
  tb_data_free(fresh);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_medium_sees_new_sizes),
      cmocka_unit_test(ten_boxes_stand_for_a_minute),
      cmocka_unit_test(packed_bricks_rest),
      cmocka_unit_test(bins_come_to_rest),
      cmocka_unit_test(card_house_stands),
      cmocka_unit_test(arch_stands),
      cmocka_unit_test(cards_and_arch_need_friction),
      cmocka_unit_test(mass_ratios_stand),
      cmocka_unit_test(grip_does_not_creep),
      cmocka_unit_test(loose_grip_lets_go),
      cmocka_unit_test(columns_land_at_large_steps),
      cmocka_unit_test(sudden_grips_stop_at_the_surface),
      cmocka_unit_test(small_parts_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
