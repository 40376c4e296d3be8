// Snapshots: another world that loads one continues with the same bits, under every law.
#include "base/hash.h"
#include "common/worlds.h"

static unsigned char* save(tbWorld w, size_t* size) {
  *size = tb_snapshot_size(w.m, w.d);
  unsigned char* bytes = malloc(*size);
  assert_non_null(bytes);
  assert_int_equal(tb_snapshot_save(w.m, w.d, bytes, *size), TB_OK);
  return bytes;
}

// Controls and forces that change with time, so that inputs matter.
static void drive(tbWorld w, int step) {
  for (int i = 0; i < w.m->nu; i++) w.d->ctrl[i] += 0.1 * sin(0.1 * step + i);
  if (w.m->nv) w.d->qfrc_applied[step % w.m->nv] = 0.3 * cos(0.2 * step);
}

// 500 steps in one go against 250, a snapshot, and 250 in a world with another past.
static void compare(tbWorld w, int steps) {
  size_t size = 0;
  unsigned char* bytes = NULL;
  uint64_t hash = TB_HASH_SEED, again = TB_HASH_SEED;
  tbWorld other = tb_world_again(w);
  other.d->qvel[0] = 1;
  tb_world_run(other, 7);
  for (int i = 0; i < steps; i++) {
    drive(w, i);
    if (tb_step(w.m, w.d) != TB_OK) fail_msg("%s", w.d->message);
    if (i + 1 == steps / 2) bytes = save(w, &size);
    if (i + 1 > steps / 2) hash = tb_world_hash(hash, w);
  }
  tbError error;
  assert_int_equal(tb_snapshot_load(other.m, other.d, bytes, size, &error), TB_OK);
  for (int i = steps / 2; i < steps; i++) {
    drive(other, i);
    if (tb_step(other.m, other.d) != TB_OK) fail_msg("%s", other.d->message);
    again = tb_world_hash(again, other);
  }
  assert_true(hash == again);
  assert_true(w.d->time == other.d->time);
  free(bytes);
  tb_data_free(other.d);
}

static const char* const SCENES[][2] = {
    {"islands.xml", NULL}, {"sliding_cube.xml", "thrown"}, {"grip.xml", "hold"}};

static void every_law_continues_bit_for_bit(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    for (size_t i = 0; i < sizeof SCENES / sizeof SCENES[0]; i++) {
      tbWorld w = tb_world_scene(SCENES[i][0], SCENES[i][1]);
      w.m->opt.law = law;
      compare(w, i == 0 ? 20 : 500);
      tb_world_free(w);
    }
  }
}

// Integrators with memories and stages of their own, sleeping, more than one thread.
static void every_integrator_continues_bit_for_bit(void** state) {
  (void)state;
  for (int integrator = TB_INTEGRATOR_RK4; integrator <= TB_INTEGRATOR_EULER_IMPLICIT;
       integrator++) {
    for (int springs = 0; springs < 2; springs++) {
      if (!springs && integrator >= TB_INTEGRATOR_EXPO) continue;
      tbWorld w = tb_world_scene("sliding_cube.xml", "thrown");
      w.m->opt.law = springs ? TB_LAW_VISCOELASTIC : TB_LAW_SOFT;
      w.m->opt.integrator = integrator;
      if (springs) w.m->opt.timestep = 5e-4;
      compare(w, 120);
      tb_world_free(w);
    }
  }
  for (int threads = 1; threads <= 2; threads++) {
    tbWorld w = tb_world_scene("islands.xml", NULL);
    w.m->opt.sleep = 1;
    w.m->opt.threads = threads;
    compare(w, 30);
    tb_world_free(w);
  }
}

// Data that solvers keep between solves must not change results.
static void every_solver_continues_bit_for_bit(void** state) {
  (void)state;
  static const int SOLVERS[] = {TB_SOLVER_PGS,         TB_SOLVER_ADMM, TB_SOLVER_NEWTON,
                                TB_SOLVER_PROX_NEWTON, TB_SOLVER_IPM,  TB_SOLVER_STAGGERED};
  for (size_t s = 0; s < sizeof SOLVERS / sizeof SOLVERS[0]; s++) {
    tbWorld w = tb_world_scene("islands.xml", NULL);
    w.m->opt.solver = SOLVERS[s];
    w.m->opt.solve_iterations = 30;
    compare(w, 10);
    tb_world_free(w);
    // A problem of the same size in every step: the kept data of the last one fits this one.
    w = tb_world_scene("sliding_cube.xml", "thrown");
    w.m->opt.solver = SOLVERS[s];
    compare(w, 60);
    tb_world_free(w);
  }
}

// A robot-like mechanism with activations, tendon, equality and meshes.
static void activations_and_equalities_continue(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='2 2 .1'/>"
      "<body name='a' pos='0 0 0.5'><joint name='j' axis='0 1 0' damping='.1'/><geom type='capsule'"
      " fromto='0 0 0 .3 0 0' size='.04' mass='1'/><body name='b' pos='.3 0 0'><joint name='k' "
      "axis='0 1 0' limited='true' range='-40 40' frictionloss='.2'/><geom type='capsule' fromto='0"
      " 0 0 .3 0 0' size='.04' mass='.5'/></body></body>"
      "<body name='c' pos='1 0 .3'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
      "<body name='d' pos='1.3 0 .3'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
      "</worldbody><equality><weld body1='c' body2='d'/></equality><actuator>"
      "<general joint='j' dyntype='filter' dynprm='.05' gainprm='2'/><muscle joint='k' "
      "ctrllimited='true' ctrlrange='0 1'/></actuator></mujoco>");
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    w.m->opt.law = law;
    tb_reset(w.m, w.d);
    compare(w, 300);
  }
  tb_world_free(w);
}

// Damage of any kind is refused and leaves the world alone.
static void bad_bytes_are_refused(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("islands.xml", NULL), other = tb_world_scene("stack.xml", NULL);
  tb_world_run(w, 10);
  size_t size;
  unsigned char* bytes = save(w, &size);
  uint64_t before = tb_world_hash(TB_HASH_SEED, w);
  tbError error;
  tbRng rng = {5};
  for (int k = 0; k < 200; k++) {
    size_t at = (size_t)tb_rng_uniform(&rng, 0, (double)size);
    unsigned char flip = (unsigned char)(1u << (k % 8));
    bytes[at] ^= flip;
    assert_int_not_equal(tb_snapshot_load(w.m, w.d, bytes, size, &error), TB_OK);
    bytes[at] ^= flip;
  }
  for (size_t n = 0; n < size; n += 1 + size / 50) {
    assert_int_not_equal(tb_snapshot_load(w.m, w.d, bytes, n, &error), TB_OK);
  }
  assert_int_not_equal(tb_snapshot_load(other.m, other.d, bytes, size, &error), TB_OK);
  assert_int_not_equal(tb_snapshot_load(w.m, w.d, NULL, size, &error), TB_OK);
  assert_int_not_equal(tb_snapshot_save(w.m, w.d, bytes, size - 1), TB_OK);
  assert_true(before == tb_world_hash(TB_HASH_SEED, w));
  assert_int_equal(tb_snapshot_load(w.m, w.d, bytes, size, NULL), TB_OK);
  free(bytes);
  tb_world_free(w);
  tb_world_free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_law_continues_bit_for_bit),
      cmocka_unit_test(every_integrator_continues_bit_for_bit),
      cmocka_unit_test(every_solver_continues_bit_for_bit),
      cmocka_unit_test(activations_and_equalities_continue),
      cmocka_unit_test(bad_bytes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
