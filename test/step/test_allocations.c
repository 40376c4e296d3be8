// A step that has been made before allocates nothing: calls to malloc are counted at the linker, so
// that no part of the library can forget to count its own. Every law, every integrator and solver
// that it has, over scenes with joints, tendons, equalities, limits and many contacts.
#include "common/count_malloc.h"
#include "common/worlds.h"

static void calls_are_counted(void** state) {
  (void)state;
  long before = atomic_load(&calls);
  tbWorld w = tb_world_scene("stack.xml", NULL);
  tb_world_run(w, 1);
#ifdef TB_WRAPS_MALLOC
  assert_true(atomic_load(&calls) > before + 10);
#else
  print_message("skipped: this linker cannot wrap malloc\n");
  assert_int_equal(atomic_load(&calls), before);
#endif
  tb_world_free(w);
}

// ---- scenes ------------------------------------------------------------------------------------

static const char MECHANISM[] =
    "<mujoco><compiler angle='radian'/><option timestep='0.002'/><worldbody><geom type='plane' "
    "size='2 2 .1' condim='6'/><body name='a' pos='0 0 .5'><joint name='j' axis='0 1 0' "
    "damping='.1'/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.04' mass='1'/><site name='s' "
    "pos='.1 0 .1'/><body name='b' pos='.3 0 0'><joint name='k' axis='0 1 0' limited='true' "
    "range='-.7 .7' frictionloss='.2'/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.04' "
    "mass='.5'/><site name='t' pos='.2 0 0'/></body></body><body name='c' pos='1 0 .3'>"
    "<freejoint/><geom type='cylinder' size='.1 .1' mass='1' condim='4'/></body><body name='d' "
    "pos='1.3 0 .3'><freejoint/><geom type='ellipsoid' size='.1 .08 .12' mass='1'/></body>"
    "</worldbody><tendon><spatial damping='.3' limited='true' range='0 .3'><site site='s'/><site "
    "site='t'/></spatial></tendon><equality><weld body1='c' body2='d'/></equality><actuator>"
    "<general joint='j' dyntype='filter' dynprm='.05' gainprm='2'/><position joint='k' kp='3'/>"
    "</actuator><sensor><touch site='t'/><accelerometer site='s'/><rangefinder site='s'/>"
    "</sensor></mujoco>";

static tbWorld scene(int index) {
  switch (index) {
    case 0: return tb_world_scene("hand.xml", NULL);
    case 1: return tb_world_scene("stack.xml", NULL);
    default: return tb_world_text(MECHANISM);
  }
}

// A stretch of motion, and the same once more from a snapshot: memory fits by then.
static void check(tbWorld w, int steps, const char* what) {
  if (w.m->nkey) tb_reset_keyframe(w.m, w.d, 0);
  tb_world_run(w, 3);
  size_t size = tb_snapshot_size(w.m, w.d);
  unsigned char* bytes = malloc(size);
  assert_int_equal(tb_snapshot_save(w.m, w.d, bytes, size), TB_OK);
  // twice: arenas merge their blocks at the start of the next step
  for (int round = 0; round < 3; round++) {
    assert_int_equal(tb_snapshot_load(w.m, w.d, bytes, size, NULL), TB_OK);
    long before = atomic_load(&calls);
    size_t counted = tb_step_allocations(w.d);
    for (int i = 0; i < steps; i++) {
      for (int u = 0; u < w.m->nu; u++) w.d->ctrl[u] = 0.3 * sin(0.05 * i + u);
      if (tb_step(w.m, w.d) != TB_OK) fail_msg("%s: %s", what, w.d->message);
    }
    long made = atomic_load(&calls) - before;
    if (round == 2 && (made || tb_step_allocations(w.d) != counted)) {
      fail_msg("%s: %ld calls to malloc in %d warm steps", what, made, steps);
    }
  }
  free(bytes);
}

static void every_law_and_integrator(void** state) {
  (void)state;
  for (int s = 0; s < 3; s++) {
    for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
      int last =
          law == TB_LAW_VISCOELASTIC ? TB_INTEGRATOR_EULER_IMPLICIT : TB_INTEGRATOR_IMPLICITFAST;
      for (int integrator = 0; integrator <= last; integrator++) {
        tbWorld w = scene(s);
        char what[100];
        w.m->opt.law = law;
        w.m->opt.integrator = integrator;
        w.m->opt.timestep = law == TB_LAW_VISCOELASTIC ? 2e-4 : 2e-3;
        w.m->opt.solve_iterations = 100;
        snprintf(what, sizeof what, "scene %d, %s, integrator %d", s, tb_step_law_name(law),
                 integrator);
        check(w, 15, what);
        tb_world_free(w);
      }
    }
  }
}

static void every_solver(void** state) {
  (void)state;
  for (int solver = 0; solver < TB_SOLVER_COUNT; solver++) {
    for (int law = 0; law < TB_LAW_COUNT; law++) {
      tbWorld w = scene(1);
      char what[100];
      w.m->opt.law = law;
      w.m->opt.solver = solver;
      w.m->opt.solve_iterations = 30;
      snprintf(what, sizeof what, "%s with solver %d", tb_step_law_name(law), solver);
      // not every law has every solver
      if (tb_step(w.m, w.d) == TB_OK) check(w, 10, what);
      tb_world_free(w);
    }
  }
  // MuJoCo's solvers of the soft law, noslip, pyramids
  for (int k = 0; k < 6; k++) {
    tbWorld w = scene(2);
    w.m->opt.law = TB_LAW_SOFT;
    w.m->opt.mjsolver = k % 3;
    w.m->opt.cone = k / 3;
    w.m->opt.noslip_iterations = k / 3 ? 5 : 0;
    check(w, 10, "soft");
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(calls_are_counted),
                                     cmocka_unit_test(every_law_and_integrator),
                                     cmocka_unit_test(every_solver)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
