// The detector keeps boxes from search to search while bodies move little: its contacts must be
// those of a new detector, to the bit.
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "common/test.h"
#include "common/worlds.h"

// A tree of bars that turn and slide among posts, and one on a mocap body; `posts` of them.
static tbWorld mill(int posts) {
  static char xml[1 << 14];
  int n = snprintf(
      xml, sizeof xml,
      "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='5 5 .1'/>"
      "<body name='hand' mocap='true' pos='0 0 2'><geom type='box' size='.3 .05 .05'/></body>"
      "<body pos='0 0 .6'><joint type='slide' axis='0 0 1'/><joint axis='0 0 1'/>"
      "<geom type='box' size='.7 .03 .02' mass='1'/><geom type='sphere' size='.05' pos='-.6 0 0'/>"
      "<body pos='.7 0 0'><joint axis='0 1 0'/><geom type='capsule' size='.03' fromto='0 0 0 .5 0 "
      "0'/>"
      "<body pos='.5 0 0'><joint type='ball'/><geom type='ellipsoid' size='.2 .05 .03' pos='.2 0 "
      "0'/>"
      "<geom type='cylinder' size='.04 .2' pos='0 .2 0'/></body></body></body>");
  static const char* const SHAPES[] = {"type='ellipsoid' size='.05 .05 .3'",
                                       "type='box' size='.05 .05 .3'",
                                       "type='capsule' size='.05 .25'"};
  for (int i = 0; i < posts; i++) {
    n += snprintf(xml + n, sizeof xml - (size_t)n, "<geom %s pos='%g %g %g'/>", SHAPES[i % 3],
                  0.2 + 0.05 * i, 0.3 * (i % 7) - 1, 0.2 + 0.1 * (i % 5));
  }
  snprintf(xml + n, sizeof xml - (size_t)n, "</worldbody></mujoco>");
  return tb_world_text(xml);
}

static void assert_same_contacts(const tbData* a, const tbData* b) {
  assert_int_equal(a->ncon, b->ncon);
  for (int i = 0; i < a->ncon; i++) {
    assert_int_equal(a->contact[i].geom[0], b->contact[i].geom[0]);
    assert_int_equal(a->contact[i].geom[1], b->contact[i].geom[1]);
    assert_true(a->contact[i].dist == b->contact[i].dist);
    assert_memory_equal(a->contact[i].pos, b->contact[i].pos, sizeof a->contact[i].pos);
    assert_memory_equal(a->contact[i].frame, b->contact[i].frame, sizeof a->contact[i].frame);
  }
}

static void random_velocity(tbRng* rng, tbWorld w, double size, tbReal* v) {
  for (int i = 0; i < w.m->nv; i++) v[i] = size * tb_rng_normal(rng);
  // Mostly turns: the first bar's frame then stays where it is.
  v[0] *= 0.01;
}

// Go on in another world, which has been elsewhere.
static void move_on(tbWorld* w, tbWorld* other) {
  static char snapshot[1 << 18];
  size_t size = tb_snapshot_size(w->m, w->d);
  assert_true(size <= sizeof snapshot);
  assert_int_equal(tb_snapshot_save(w->m, w->d, snapshot, size), TB_OK);
  assert_int_equal(tb_snapshot_load(other->m, other->d, snapshot, size, NULL), TB_OK);
  tbWorld swap = *w;
  *w = *other;
  *other = swap;
}

// Slow, fast and sudden motion, with and without the velocity that belongs to it; other time steps.
static void finds_what_a_new_one_finds(void** state) {
  (void)state;
  const int posts[] = {4, 60};
  for (int world = 0; world < 2; world++) {
    tbWorld w = mill(posts[world]), other = tb_world_again(w);
    tbRng rng = {(uint64_t)world};
    int touching = 0;
    tbReal v[16] = {0};
    assert_true(w.m->nv <= 16);
    for (int step = 0; step < 1500; step++) {
      double speed = step % 500 < 250 ? 0.3 : 5;
      if (step % 50 == 0) random_velocity(&rng, w, speed, v);
      if (step % 97 == 0) random_velocity(&rng, w, 30 * speed, v);
      w.m->opt.timestep = step % 300 == 7 ? 0.01 : 0.002;
      if (step % 200 == 11) w.d->mocap_pos[2] = tb_rng_uniform(&rng, 0.1, 1);
      w.d->mocap_pos[0] += 1e-3;
      for (int i = 0; i < w.m->nv; i++) w.d->qvel[i] = step / 100 % 2 ? v[i] : 0;
      assert_int_equal(tb_forward(w.m, w.d), TB_OK);
      tbWorld fresh = tb_world_again(w);
      memcpy(fresh.d->qpos, w.d->qpos, sizeof(tbReal) * (size_t)w.m->nq);
      memcpy(fresh.d->qvel, w.d->qvel, sizeof(tbReal) * (size_t)w.m->nv);
      memcpy(fresh.d->mocap_pos, w.d->mocap_pos, 3 * sizeof(tbReal));
      assert_int_equal(tb_forward(fresh.m, fresh.d), TB_OK);
      assert_same_contacts(w.d, fresh.d);
      touching += w.d->ncon > 0;
      tb_data_free(fresh.d);
      if (step % 60 == 31) move_on(&w, &other);
      tb_integrate_pos(w.m, w.d->qpos, v, 0.002);
    }
    assert_true(touching > 300);
    tb_data_free(other.d);
    tb_world_free(w);
  }
}

// An overridden margin leaves the gap: the ball 8 mm above the floor is seen within 2 + 10 mm, and
// does not push. Without the override its own margin counts.
static void override_keeps_the_gap(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option o_margin='.002'><flag override='enable'/></option><worldbody>"
      "<geom type='plane' size='5 5 .1'/><body pos='0 0 .108'><freejoint/>"
      "<geom size='.1' gap='.01' margin='-.05'/></body></worldbody></mujoco>");
  w.m->opt.law = TB_LAW_SOFT;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_int_equal(w.d->ncon, 1);
  assert_true(w.d->contact[0].exclude);
  assert_near(w.d->qacc[2], -9.81, 1e-9);
  w.m->opt.enableflags = 0;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_int_equal(w.d->ncon, 0);
  tb_world_free(w);
}

// Within margin + gap also where that is negative: a ball that overlaps the floor by less is not
// seen, by a little more is seen, by more than the margin pushes.
static void negative_margins_hide_overlaps(void** state) {
  (void)state;
  static const struct {
    double height;
    int seen, pushes;
  } AT[] = {{.07, 0, 0}, {.055, 1, 0}, {.045, 1, 1}};
  for (int k = 0; k < 3; k++) {
    tbWorld w = tb_world_text(
        "<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body><freejoint/>"
        "<geom size='.1' gap='.01' margin='-.05'/></body></worldbody></mujoco>");
    w.m->opt.law = TB_LAW_SOFT;
    w.d->qpos[2] = AT[k].height;
    assert_int_equal(tb_forward(w.m, w.d), TB_OK);
    assert_int_equal(w.d->ncon, AT[k].seen);
    if (w.d->ncon) assert_near(w.d->contact[0].dist, AT[k].height - .1, 1e-12);
    assert_true((w.d->qacc[2] > -9.81 + 1e-9) == AT[k].pushes);
    tb_world_free(w);
  }
}

// If several pairs name the same geoms, the last in the file holds.
static void last_pair_holds(void** state) {
  (void)state;
  char xml[4096];
  for (int many = 1; many <= 12; many++) {
    int n =
        snprintf(xml, sizeof xml,
                 "<mujoco><worldbody><geom name='f' type='plane' size='5 5 .1'/><body><freejoint/>"
                 "<geom name='s' size='.1'/></body></worldbody><contact>");
    for (int i = 0; i < many; i++) {
      n += snprintf(xml + n, sizeof xml - (size_t)n,
                    "<pair geom1='%s' geom2='%s' friction='.%02d'/>", i % 2 ? "f" : "s",
                    i % 2 ? "s" : "f", 10 + i);
    }
    snprintf(xml + n, sizeof xml - (size_t)n, "</contact></mujoco>");
    tbWorld w = tb_world_text(xml);
    w.d->qpos[2] = 0.09;
    assert_int_equal(tb_forward(w.m, w.d), TB_OK);
    assert_int_equal(w.d->ncon, 1);
    assert_near(w.d->contact[0].friction[0], 0.01 * (9 + many), 1e-12);
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_what_a_new_one_finds),
      cmocka_unit_test(override_keeps_the_gap),
      cmocka_unit_test(negative_margins_hide_overlaps),
      cmocka_unit_test(last_pair_holds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
