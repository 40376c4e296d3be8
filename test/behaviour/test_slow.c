// Scenes in violent motion: a wall hit by a ball, a heap of primitives, falling dominoes. Without
// arguments their first part; with any argument all of them, which takes minutes.
#include "common/worlds.h"

static int whole;

static int steps_of(tbWorld w, double brief, double full) {
  return tb_world_steps(w, whole ? full : brief);
}

static double total(tbWorld w) {
  tb_energy_position(w.m, w.d);
  tb_energy_velocity(w.m, w.d);
  return w.d->energy[0] + w.d->energy[1];
}

// Sum of masses times velocity of free bodies.
static void momentum(tbWorld w, double p[3]) {
  p[0] = p[1] = p[2] = 0;
  for (int j = 0; j < w.m->njnt; j++) {
    double mass = w.m->body_mass[w.m->jnt_bodyid[j]];
    for (int k = 0; k < 3; k++) p[k] += mass * w.d->qvel[w.m->jnt_dofadr[j] + k];
  }
}

typedef struct {
  double depth_sum, depth_max;
  long contacts;
  int unconverged;
} Depths;

static void watch(tbWorld w, Depths* s) {
  for (int i = 0; i < w.d->ncon; i++) {
    double depth = fmax(0, -w.d->contact[i].dist);
    s->depth_sum += depth;
    s->depth_max = fmax(s->depth_max, depth);
  }
  s->contacts += w.d->ncon;
  s->unconverged += w.d->solve.status != TB_SOLVE_CONVERGED;
}

// The ball brings all the momentum there is; friction of the floor can only take from it. Bodies of
// one to ten thousand kg keep apart.
static void wall_takes_the_hit(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("wall.xml", "hit");
  Depths s = {0};
  assert_int_equal(tb_step1(w.m, w.d), TB_OK);
  double before[3], energy = total(w), p[3];
  momentum(w, before);
  int steps = steps_of(w, 0.004, 2);
  for (int i = 0; i < steps; i++) {
    tb_world_run(w, 1);
    watch(w, &s);
    momentum(w, p);
    assert_true(p[0] <= before[0] * (1 + 1e-6));
    assert_true(total(w) <= energy * 1.001);
  }
  double mean = s.depth_sum / (double)s.contacts;
  print_message("wall: overlap mean %.1e m, max %.1e m, %d of %d steps not converged\n", mean,
                s.depth_max, s.unconverged, steps);
  assert_true(mean < 1e-4);
  if (whole) assert_true(p[0] < 0.9 * before[0]);
  tb_world_free(w);
}

// Nothing falls through the floor or through another body; in the end all bodies that cannot roll
// are at rest.
static void heap_comes_to_rest(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("drop.xml", NULL);
  Depths s = {0};
  int steps = steps_of(w, 0.3, 4);
  for (int i = 0; i < steps; i++) {
    tb_world_run(w, 1);
    watch(w, &s);
  }
  double mean = s.depth_sum / (double)(s.contacts + 1);
  print_message("drop: overlap mean %.1e m, max %.1e m, %d of %d steps not converged\n", mean,
                s.depth_max, s.unconverged, steps);
  assert_true(mean < 1e-4);
  for (int j = 0; j < w.m->njnt; j++) assert_true(w.d->qpos[w.m->jnt_qposadr[j] + 2] > 0.04);
  // Round bodies roll on, since there is no rolling friction here, and push a box now and then; the
  // others are at rest.
  int boxes = 0, calm = 0;
  for (int j = 0; whole && j < w.m->njnt; j++) {
    if (w.m->geom_type[w.m->body_geomadr[w.m->jnt_bodyid[j]]] != TB_GEOM_BOX) continue;
    double fastest = 0;
    for (int k = 0; k < 6; k++) fastest = fmax(fastest, fabs(w.d->qvel[w.m->jnt_dofadr[j] + k]));
    boxes++;
    calm += fastest < 1e-3;
  }
  print_message("drop: %d of %d boxes lie still\n", calm, boxes);
  assert_true(5 * calm >= 4 * boxes);
  tb_world_free(w);
}

// Height of the z axis of a domino: 1 upright, 0 flat.
static double upright(tbWorld w, int joint) {
  const tbReal* q = w.d->qpos + w.m->jnt_qposadr[joint] + 3;
  return 1 - 2 * (q[1] * q[1] + q[2] * q[2]);
}

// Every domino falls, one after the other.
static void dominoes_fall_in_order(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("dominoes.xml", "push");
  int fallen[20] = {0}, steps = steps_of(w, 0.45, 3), count = w.m->njnt;
  Depths s = {0};
  for (int i = 0; i < steps; i++) {
    tb_world_run(w, 1);
    watch(w, &s);
    for (int j = 0; j < count; j++) {
      if (!fallen[j] && upright(w, j) < 0.9) fallen[j] = i + 1;
    }
  }
  int expected = whole ? count : 2;
  for (int j = 0; j < expected; j++) {
    assert_true(fallen[j] > 0);
    if (j) assert_true(fallen[j] > fallen[j - 1]);
  }
  if (!whole) assert_true(fallen[count - 1] == 0);
  print_message("dominoes: deepest overlap %.1e m\n", s.depth_max);
  tb_world_free(w);
}

int main(int argc, char** argv) {
  (void)argv;
  whole = argc > 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wall_takes_the_hit),
      cmocka_unit_test(heap_comes_to_rest),
      cmocka_unit_test(dominoes_fall_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
