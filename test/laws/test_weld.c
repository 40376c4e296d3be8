// Welds hold the relative pose of two bodies, also with frames far from them.
#include "common/worlds.h"

enum { NLAW = 5, NWELD = 3, NFAR = 4, NMASS = 2 };

static const char* const LAWS[NLAW] = {"ncp", "ccp", "lcp", "raisim", "comfree"};

// A body of that mass, `far` m from the world's origin on an arm of its own, and its weld.
static tbWorld welded(const char* weld, double mass, double far) {
  char xml[1024];
  snprintf(xml, sizeof xml,
           "<mujoco><worldbody><site name='origin'/>"
           "<body name='a' pos='%g 0 1'><freejoint/><geom type='box' size='.1 .1 .1' mass='%g'/>"
           "<site name='a' pos='%g 0 -1'/></body>"
           "<body name='b' pos='%g 0 2'><freejoint/><geom type='box' size='.1 .1 .1' mass='%g' "
           "pos='1 0 0'/></body></worldbody><equality>%s</equality></mujoco>",
           far, mass, -far, far, 0.01 * mass, weld);
  return tb_world_text(xml);
}

// Its frame at the world's origin, with the world first or last, by sites, and with a second body
// that hangs on the first.
static void far_frames_hold(void** state) {
  (void)state;
  const char* const welds[NWELD] = {
      "<weld body1='a'/><weld body1='b' body2='a'/>",
      "<weld body2='a' body1='world' anchor='7 -8 9'/><weld body2='b' body1='a'/>",
      "<weld site1='a' site2='origin'/><weld body1='b' body2='a' anchor='-9 8 7'/>"};
  const double far[NFAR] = {0, 1, 5, 50}, mass[NMASS] = {1, 1000};
  for (int k = 0; k < NWELD * NFAR * NMASS * NLAW; k++) {
    tbWorld w = welded(welds[k % NWELD], mass[k / NWELD / NFAR % NMASS], far[k / NWELD % NFAR]);
    assert_int_equal(tb_option_set(&w.m->opt, "law", LAWS[k / (NWELD * NFAR * NMASS)], NULL),
                     TB_OK);
    tb_world_run(w, tb_world_steps(w, 0.5));
    for (int i = 0; i < 14; i++) assert_near(w.d->qpos[i], w.m->qpos0[i], 2e-6);
    tb_world_free(w);
  }
}

// Without torques a weld is a connect at its anchor, where body 2's frame is by default.
static void no_torque_is_a_connect(void** state) {
  (void)state;
  const char* const equalities[2] = {"<weld body1='a' torquescale='0'/>",
                                     "<connect body1='a' anchor='.1 -.2 -1'/>"};
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbReal end[2][7];
    for (int k = 0; k < 2; k++) {
      char xml[512];
      snprintf(xml, sizeof xml,
               "<mujoco><worldbody><body name='a' pos='-.1 .2 1'><freejoint/><geom type='box' "
               "size='.1 .2 .3'/></body></worldbody><equality>%s</equality></mujoco>",
               equalities[k]);
      tbWorld w = tb_world_text(xml);
      w.m->opt.law = law;
      tb_world_run(w, 200);
      memcpy(end[k], w.d->qpos, sizeof end[k]);
      tb_world_free(w);
    }
    // It swings: the box is no more than a metre from the anchor, and well below where it was.
    assert_true(end[0][2] < 0.95);
    assert_near_array(end[0], end[1], 7, 1e-5);
  }
}

// Boxes that are welded together and overlap by 1 cm: nothing pushes them apart (with 54 kN, and by
// 1.2 mm), the floor carries each as it would alone. Without the weld they part.
static void welded_bodies_do_not_push(void** state) {
  (void)state;
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(
        "<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body name='a' pos='0 0 .05'>"
        "<freejoint/><geom type='box' size='.05 .05 .05' mass='1'/></body><body name='b' pos='.09 0"
        " .05'><freejoint/><geom type='box' size='.05 .05 .05' mass='.1'/></body></worldbody>"
        "<equality><weld body1='a' body2='b'/></equality></mujoco>");
    w.m->opt.law = law;
    tb_world_run_solved(w, 100);
    assert_near(w.d->qpos[7] - w.d->qpos[0], 0.09, 1e-8);
    assert_int_equal(w.d->ncon, 12);
    for (int i = 0; i < w.d->ncon; i++) {
      const tbContact* c = &w.d->contact[i];
      bool floor = w.m->geom_type[c->geom[0]] == TB_GEOM_PLANE;
      tbReal weight = 9.81 * w.m->body_mass[w.m->geom_bodyid[c->geom[1]]];
      assert_near(c->force[0], floor ? weight / 4 : 0, 1e-4);
    }
    w.d->eq_active[0] = 0;
    tb_world_run(w, 100);
    assert_true(w.d->qpos[7] - w.d->qpos[0] > 0.1 - 2e-5);
    tb_world_free(w);
  }
}

// A ring of links in free fall, whose connections need only the forces that rounding of their
// positions causes: these steps are solved at any velocity of the ring.
static void falling_ring_converges(void** state) {
  (void)state;
  enum { LINKS = 36 };
  char xml[16384] = "<mujoco><option timestep='.001'/><worldbody>", part[256], ties[4096] = "";
  const double radius = 0.5, turn = 2 * acos(-1) / LINKS;
  for (int i = 0; i < LINKS; i++) {
    double x = radius * (sin((i + 1) * turn) - sin(i * turn));
    double z = radius * (cos((i + 1) * turn) - cos(i * turn));
    snprintf(part, sizeof part,
             "<body name='l%d' pos='%.17g 0 %.17g'><freejoint/><geom type='capsule' size='.01' "
             "fromto='0 0 0 %.17g 0 %.17g' contype='0'/></body>",
             i, radius * sin(i * turn), 1.5 + radius * cos(i * turn), x, z);
    strcat(xml, part);
    snprintf(part, sizeof part, "<connect body1='l%d' body2='l%d' anchor='%.17g 0 %.17g'/>", i,
             (i + 1) % LINKS, x, z);
    strcat(ties, part);
  }
  strcat(strcat(strcat(xml, "</worldbody><equality>"), ties), "</equality></mujoco>");
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(xml);
    w.m->opt.law = law;
    tb_world_run_solved(w, 200);
    assert_near(w.d->qpos[2], 2 - 0.5 * 9.81 * 0.2 * 0.2, 2e-3);
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(far_frames_hold), cmocka_unit_test(no_torque_is_a_connect),
      cmocka_unit_test(welded_bodies_do_not_push), cmocka_unit_test(falling_ring_converges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
