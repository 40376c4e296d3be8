// Sleeping: islands at rest stop costing, wake when touched in any way, and nothing else changes.
#include "base/hash.h"
#include "common/worlds.h"

static const char HEAPS[] =
    "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='9 9 .1'/>"
    "<body name='a' pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
    "<body name='b' pos='0 0 .3'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
    "<body name='c' pos='3 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
    "<body name='arm' pos='-3 0 .5'><joint name='hinge' axis='0 1 0' damping='1'/><geom "
    "type='capsule' fromto='0 0 0 0 0 -.2' size='.03' mass='1'/></body>"
    "<body name='hand' mocap='true' pos='0 3 1'><geom type='sphere' size='.1'/></body>"
    "<body name='ball' pos='.02 0 4'><freejoint/><geom type='sphere' size='.1' mass='1'/></body>"
    "</worldbody><actuator><motor joint='hinge'/></actuator></mujoco>";

// Trees in order: a, b, c, arm, ball.
enum { A, B, C, ARM, BALL };

static tbWorld asleep_world(int law) {
  tbWorld w = tb_world_text(HEAPS);
  w.m->opt.law = law;
  w.m->opt.sleep = 1;
  // 0.4 s: all but the falling ball rest.
  tb_world_run(w, 200);
  return w;
}

static int is_asleep(tbWorld w, int tree) {
  return tb_tree_asleep(w.m, w.d, tree);
}

static void heaps_fall_asleep_and_stay(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    if (law == TB_LAW_VISCOELASTIC) continue;
    tbWorld w = asleep_world(law);
    // Springs take longer to come to rest.
    if (law == TB_LAW_SOFT || law == TB_LAW_COMFREE) tb_world_run(w, 200);
    for (int t = A; t <= ARM; t++) {
      if (!is_asleep(w, t)) fail_msg("tree %d is awake under %s", t, tb_step_law_name(law));
    }
    assert_false(is_asleep(w, BALL));
    tbReal before[14];
    memcpy(before, w.d->qpos, sizeof before);
    tb_world_run(w, 20);
    assert_memory_equal(before, w.d->qpos, sizeof before);
    assert_int_equal(w.d->ncon, 0);
    tb_world_free(w);
  }
}

// Half a rest, a push and half a rest are not a rest.
static void rest_counts_from_the_last_push(void** state) {
  (void)state;
  tbWorld w = tb_world_text(HEAPS);
  w.m->opt.sleep = 1;
  tb_world_run(w, 100);
  assert_false(is_asleep(w, C));
  w.d->qvel[12] = 0.05;
  tb_world_run(w, 60);
  assert_false(is_asleep(w, C));
  assert_true(is_asleep(w, A));
  tb_world_run(w, 100);
  assert_true(is_asleep(w, C));
  tb_world_free(w);
}

// The ball lands on b: the heap of a and b wakes, c does not.
static void contact_wakes_the_island(void** state) {
  (void)state;
  tbWorld w = asleep_world(TB_LAW_NCP), plain = tb_world_text(HEAPS);
  double lowest = 9;
  for (int i = 0; i < 300; i++) {
    tb_world_run(w, 1);
    lowest = fmin(lowest, w.d->qpos[w.m->nq - 5]);
    if (!is_asleep(w, B)) break;
  }
  assert_false(is_asleep(w, A));
  assert_false(is_asleep(w, B));
  assert_true(is_asleep(w, C));
  assert_true(w.d->qpos[w.m->nq - 5] > 0.499);
  // The sleeping body bears the ball as the world without sleep does.
  tb_world_run(plain, 500);
  tb_world_run(w, (int)((plain.d->time - w.d->time) / 0.002 + 0.5));
  for (int k = 0; k < 3; k++) {
    assert_near(w.d->qpos[7 + k], plain.d->qpos[7 + k], 1e-3);
  }
  tb_world_free(w);
  tb_world_free(plain);
}

typedef void (*Touch)(tbWorld w);
static void touch_ctrl(tbWorld w) {
  w.d->ctrl[0] = 1;
}
static void touch_applied(tbWorld w) {
  w.d->qfrc_applied[w.m->tree_dofadr[C]] = 20;
}
static void touch_wrench(tbWorld w) {
  w.d->xfrc_applied[6 * w.m->tree_bodyadr[C] + 2] = 20;
}
static void touch_qvel(tbWorld w) {
  w.d->qvel[w.m->tree_dofadr[C]] = 1;
}
static void touch_qpos(tbWorld w) {
  w.d->qpos[14 + 2] += 0.2;
}
static void touch_mocap(tbWorld w) {
  w.d->mocap_pos[0] = 2.9;
  w.d->mocap_pos[1] = 0;
  w.d->mocap_pos[2] = 0.1;
}
static void touch_gravity(tbWorld w) {
  w.m->opt.gravity[0] = 8;
}
static void touch_wind(tbWorld w) {
  w.m->opt.density = 1.2;
  w.m->opt.wind[0] = 80;
}
static void touch_flags(tbWorld w) {
  w.m->opt.disableflags = TB_DISABLE_CONTACT;
}
static void touch_gravcomp(tbWorld w) {
  w.m->body_gravcomp[w.m->tree_bodyadr[C]] = 2;
}
static void touch_threads(tbWorld w) {
  w.m->opt.threads = 2;
  w.m->opt.timestep = 0.001;
}

static void any_change_wakes(void** state) {
  (void)state;
  static const struct {
    Touch touch;
    int tree, others;  // who wakes; 1: the rest wakes too
  } CASES[] = {{touch_ctrl, ARM, 0},  {touch_applied, C, 0}, {touch_wrench, C, 0},
               {touch_qvel, C, 0},    {touch_qpos, C, 0},    {touch_mocap, C, 1},
               {touch_gravity, C, 1}, {touch_wind, C, 1},    {touch_flags, C, 1},
               {touch_gravcomp, C, 0}};
  for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
    tbWorld w = asleep_world(TB_LAW_NCP);
    tbReal before = w.d->qpos[14], height = w.d->qpos[16], angle = w.d->qpos[21];
    CASES[i].touch(w);
    tb_world_run(w, 10);
    assert_false(is_asleep(w, CASES[i].tree));
    assert_int_equal(is_asleep(w, A), !CASES[i].others);
    // The woken body moves.
    double moved =
        fabs(w.d->qpos[14] - before) + fabs(w.d->qpos[16] - height) + fabs(w.d->qpos[21] - angle);
    assert_true(moved > 1e-5);
    tb_world_free(w);
  }
}

// Neither a smaller step nor more threads wake a sleeping tree.
static void some_options_wake_nobody(void** state) {
  (void)state;
  tbWorld w = asleep_world(TB_LAW_NCP);
  touch_threads(w);
  tb_world_run(w, 10);
  for (int t = A; t <= ARM; t++) assert_true(is_asleep(w, t));
  tb_world_free(w);
}

// A sleeping box or arm wakes when a tendon or an actuator without constraint rows connects it to a
// slider that starts to move, or when an activation changes. It then moves as in a world without
// sleep.
static void pulls_without_a_row_wake(void** state) {
  (void)state;
  static const char* const TIES[] = {
      "<tendon><spatial stiffness='150' springlength='.8'><site site='a'/><site "
      "site='s'/></spatial>"
      "</tendon><actuator><velocity joint='slide' kv='500'/></actuator>",
      "<tendon><spatial damping='50'><site site='a'/><site site='s'/></spatial></tendon>"
      "<actuator><velocity joint='slide' kv='500'/></actuator>",
      "<tendon><fixed stiffness='20'><joint joint='hinge' coef='1'/><joint joint='slide' "
      "coef='-1'/></fixed></tendon><actuator><velocity joint='slide' kv='500'/></actuator>",
      "<actuator><velocity joint='slide' kv='500'/><general site='a' refsite='s' "
      "biastype='affine' biasprm='0 -50 0' gainprm='0'/></actuator>",
      "<actuator><general joint='hinge' dyntype='integrator' gainprm='.2'/></actuator>"};
  for (size_t i = 0; i < sizeof TIES / sizeof TIES[0]; i++) {
    char xml[2048];
    snprintf(xml, sizeof xml,
             "<mujoco><worldbody><geom type='plane' size='9 9 .1'/><body name='box' pos='0 0 .1'>"
             "<freejoint/><geom type='box' size='.1 .1 .1' mass='1'/><site name='a' pos='.1 0 0'/>"
             "</body><body name='slider' pos='1 0 .1'><joint name='slide' type='slide' axis='1 0 0'"
             " damping='5'/><geom type='sphere' size='.1' mass='1' contype='0' conaffinity='0'/>"
             "<site name='s' pos='-.1 0 0'/></body><body pos='0 2 .5'><joint name='hinge' "
             "axis='0 0 1' damping='.5'/><geom size='.1' pos='.3 0 0' mass='1'/></body>"
             "</worldbody>%s</mujoco>",
             TIES[i]);
    tbWorld w[2];
    for (int k = 0; k < 2; k++) {
      w[k] = tb_world_text(xml);
      w[k].m->opt.sleep = k;
      tb_world_run(w[k], 400);
      if (w[k].m->na) w[k].d->act[0] = 1;
      w[k].d->ctrl[0] = w[k].m->na ? 0 : 0.5;
    }
    assert_true(is_asleep(w[1], 0) || is_asleep(w[1], 2));
    tb_world_run(w[0], 300);
    tb_world_run(w[1], 300);
    assert_near(w[0].d->qpos[0], w[1].d->qpos[0], 3e-3);
    assert_near(w[0].d->qpos[8], w[1].d->qpos[8], 3e-3);
    assert_true(fabs(w[0].d->qpos[0]) + fabs(w[0].d->qpos[8]) > 0.05);
    tb_world_free(w[0]);
    tb_world_free(w[1]);
  }
}

// Fingers at rest that start to grip a sleeping box are 0.13 m farther after a step of 5 ms unless
// they see it: it wakes within that step, another box sleeps on.
static void sudden_grip_wakes(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='0.005'/><default><geom type='box' size='.02 .02 .02' mass='.1'/>"
      "</default><worldbody><geom type='plane' size='1 1 .1'/><body pos='-.04 0 .03'><joint "
      "type='slide' axis='1 0 0'/><geom size='.005 .01 .01' mass='.015'/></body><body pos='.04 0 "
      ".03'><joint type='slide' axis='-1 0 0'/><geom size='.005 .01 .01' mass='.015'/></body><body "
      "pos='0 0 .02'><freejoint/><geom/></body><body pos='0 .5 .02'><freejoint/><geom/></body>"
      "</worldbody></mujoco>");
  w.m->opt.sleep = 1;
  tb_world_run(w, 100);
  for (int t = 0; t < 4; t++) assert_true(is_asleep(w, t));
  for (int k = 0; k < 2; k++) w.d->qfrc_applied[k] = 80;
  tb_world_run(w, 1);
  assert_false(is_asleep(w, 2));
  assert_true(is_asleep(w, 3));
  tb_world_run_solved(w, 20);
  for (int k = 0; k < 2; k++) assert_near(w.d->qpos[k], 0.015, 1e-6);
  tb_world_free(w);
}

static void snapshots_know_who_sleeps(void** state) {
  (void)state;
  tbWorld w = asleep_world(TB_LAW_NCP), other = tb_world_again(w);
  size_t size = tb_snapshot_size(w.m, w.d);
  void* bytes = malloc(size);
  tbError error;
  assert_int_equal(tb_snapshot_save(w.m, w.d, bytes, size), TB_OK);
  assert_int_equal(tb_snapshot_load(other.m, other.d, bytes, size, &error), TB_OK);
  uint64_t a = TB_HASH_SEED, b = TB_HASH_SEED;
  for (int i = 0; i < 300; i++) {
    tb_world_run(w, 1);
    tb_world_run(other, 1);
    a = tb_world_hash(a, w);
    b = tb_world_hash(b, other);
  }
  assert_true(a == b);
  free(bytes);
  tb_data_free(other.d);
  tb_world_free(w);
}

static void sleeping_steps_allocate_nothing(void** state) {
  (void)state;
  tbWorld w = asleep_world(TB_LAW_NCP);
  size_t warm = tb_step_allocations(w.d);
  tb_world_run(w, 20);
  assert_int_equal(tb_step_allocations(w.d), warm);
  // Switched off, all wake.
  w.m->opt.sleep = 0;
  tb_world_run(w, 1);
  assert_false(is_asleep(w, A));
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(heaps_fall_asleep_and_stay),
      cmocka_unit_test(rest_counts_from_the_last_push),
      cmocka_unit_test(contact_wakes_the_island),
      cmocka_unit_test(any_change_wakes),
      cmocka_unit_test(some_options_wake_nobody),
      cmocka_unit_test(pulls_without_a_row_wake),
      cmocka_unit_test(sudden_grip_wakes),
      cmocka_unit_test(snapshots_know_who_sleeps),
      cmocka_unit_test(sleeping_steps_allocate_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
