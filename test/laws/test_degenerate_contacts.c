// Contacts whose impulses joints take up (laws/rigid/degenerate_contacts.h): the impulses could
// have any size, but stay within the forces that a robot of this weight needs.
#include "common/worlds.h"

// Two boxes of 10 kg on a universal joint, with a stop beside it and arms, that fall and lie.
static const char* const WAIST =
    "<mujoco><default><geom friction='1'/><joint damping='.1'/></default><worldbody>"
    "<geom type='plane' size='9 9 1'/><body pos='0 0 .35' euler='29.5 121.9 0'><freejoint/>"
    "<geom type='box' size='.15 .12 .06' mass='10'/>"
    "<geom type='box' size='.02 .03 .02' pos='.0595 -.0171 .08' mass='.2'/>"
    "<body pos='0 0 .08'><inertial pos='0 0 0' mass='.01' diaginertia='1e-4 1e-4 1e-4'/>"
    "<joint axis='0 0 1' range='-60 60' damping='.05'/>"
    "<body><joint axis='0 1 0' range='-40 70' damping='.05'/>"
    "<geom type='box' size='.0395 .04 .01' mass='.5'/>"
    "<geom type='box' size='.03 .12 .15' pos='-.0086 0 .2' mass='10'/>"
    "<body pos='0 .15 .3'><joint axis='0 1 0'/><joint axis='1 0 0'/>"
    "<geom type='capsule' size='.04' fromto='0 .02 0 0 .1 -.3' mass='2'/></body>"
    "<body pos='0 -.15 .3'><joint axis='0 1 0'/><joint axis='1 0 0'/>"
    "<geom type='capsule' size='.04' fromto='0 -.02 0 0 -.1 -.3' mass='2'/></body>"
    "</body></body></body></worldbody></mujoco>";

static void waist_takes_up_no_huge_impulses(void** state) {
  (void)state;
  static const int LAWS[] = {TB_LAW_NCP, TB_LAW_CCP, TB_LAW_LCP};
  static const double STEPS[] = {0.001, 0.002, 0.005};
  tbWorld w = tb_world_text(WAIST);
  for (int k = 0; k < 9; k++) {
    int unconverged = 0;
    double largest = 0;
    w.m->opt.law = LAWS[k / 3];
    w.m->opt.timestep = STEPS[k % 3];
    tb_data_free(w.d);
    w.d = tb_data_new(w.m);
    while (w.d->time < 1.5) {
      assert_int_equal(tb_step(w.m, w.d), TB_OK);
      unconverged += w.d->solve.status != TB_SOLVE_CONVERGED;
      for (int c = 0; c < w.d->ncon; c++) {
        largest = fmax(largest, w.m->opt.timestep * w.d->contact[c].force[0]);
      }
    }
    // 24 kg at 2 m/s are 50 N s; held between stop and joint by levers of a tenth and less.
    assert_true(largest < 3e3);
    assert_int_equal(unconverged, 0);
  }
  tb_world_free(w);
}

// A prop of 1 kg on a ball joint, which transmits its load, carries 10,000 tons: on a slide, on
// free-flying bodies, and as the foot of its load.
static void props_carry_what_stands_on_them(void** state) {
  (void)state;
  static const char* const SCENES[] = {
      "<body pos='0 0 .1'><joint type='ball'/>"
      "<geom type='capsule' fromto='0 0 0 0 0 1' size='.05' mass='1'/></body>"
      "<body pos='0 0 1.6505'><joint type='slide' axis='0 0 1'/>"
      "<geom type='box' size='1 1 .5' mass='1e7'/></body>",
      "<body pos='0 0 .1'><joint axis='1 0 0' type='slide' range='-.01 .01'/>"
      "<joint axis='0 1 0' type='slide' range='-.01 .01'/>"
      "<geom type='capsule' fromto='0 0 0 0 0 1' size='.05' mass='1'/></body>"
      "<body pos='0 0 1.6505'><freejoint/><geom type='box' size='1 1 .5' mass='1e7'/></body>",
      "<geom type='plane' size='9 9 1'/><body pos='0 0 1.5505'><joint type='slide' axis='0 0 1'/>"
      "<geom type='box' size='1 1 .5' mass='1e7' contype='0' conaffinity='0'/>"
      "<body pos='0 0 -.5'><joint type='ball' damping='1'/>"
      "<geom type='capsule' fromto='0 0 0 0 0 -1' size='.05' mass='1'/></body></body>",
  };
  for (int i = 0; i < 3; i++) {
    char text[2048];
    snprintf(text, sizeof text, "<mujoco><worldbody>%s</worldbody></mujoco>", SCENES[i]);
    tbWorld w = tb_world_text(text);
    while (w.d->time < 0.4) {
      assert_int_equal(tb_step(w.m, w.d), TB_OK);
      assert_int_equal(w.d->solve.status, TB_SOLVE_CONVERGED);
      for (int c = 0; c < w.d->ncon; c++) assert_true(w.d->contact[c].dist > -1e-6);
    }
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(waist_takes_up_no_huge_impulses),
                                     cmocka_unit_test(props_carry_what_stands_on_them)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
