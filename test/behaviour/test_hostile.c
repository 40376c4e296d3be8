// Adversarial scenes under every law: bodies of milligrams and megatonnes, of a millimetre and a
// kilometre, overlapping, far away, very fast, on spikes, with margins of metres. No step fails, no
// energy is created, and clouds of shapes keep their momentum.
#include "common/turned.h"
#include "spatial/vec3.h"

static const char* const LAWS[] = {"ncp",  "ccp",     "lcp",         "raisim",
                                   "soft", "comfree", "viscoelastic"};
enum { NLAWS = 7, RIGID = 4, RAISIM = 3, SOFT = 4 };

#define FLOOR "<geom type='plane' size='50 50 .1'/>"
#define FREE(pos, geom) "<body pos='" pos "'><freejoint/><geom " geom "/></body>"
#define CUBE "type='box' size='.1 .1 .1' "

#define BALL "size='.1' mass='1'"
#define KILO CUBE "mass='1'"
#define GRAIN "type='box' size='.0005 .0005 .0005' mass='1e-6'"

typedef struct {
  const char *name, *bodies, *option;
  double seconds, velocity[6];  // of the first body
  double gain[3];               // J: what a rigid law, comfree and viscoelastic, and soft may add
  double residual;              // that steps may end at, where it is not the tolerance
} Scene;

// A body that starts inside another is lifted out of it; the soft law throws it out, as MuJoCo.
static const Scene SCENES[] = {
    {.name = "grains",
     .bodies = FLOOR FREE("0 0 .0005", GRAIN) FREE("0 0 .0015", GRAIN),
     .seconds = 0.2,
     .gain = {1e-12, 1e-12, 1e-07}},
    {.name = "mountain",
     .bodies = "<geom type='plane' size='0 0 1'/>" FREE(
         "0 0 500", "type='box' size='500 500 500' mass='1e12'"),
     .seconds = 0.1,
     .gain = {1000, 1000, 1e+09}},
    {.name = "1e9 to 1",
     .bodies = FLOOR FREE("0 0 .1", CUBE "mass='1e-3'") FREE("0 0 .3", CUBE "mass='1e6'"),
     // Rounding of the heavy one's impulse, 2e4 N s, moves the light one by 2e-9 m/s: 1e-7 of g h.
     .residual = 1e-5,
     .seconds = 0.2,
     .gain = {0.01, 10, 10}},
    {.name = "five in one place",
     .bodies = FLOOR FREE("0 0 .3", BALL) FREE("0 0 .3", BALL) FREE("0 0 .3", BALL)
         FREE("0 0 .3", BALL) FREE("0 0 .3", BALL),
     .seconds = 0.4,
     .gain = {1, 5, 100}},
    {.name = "three boxes in one place",
     .bodies = FLOOR FREE("0 0 .3", KILO) FREE("0 0 .3", KILO) FREE("0 0 .3", KILO),
     .seconds = 0.3,
     .gain = {0.3, 3, 100}},
    {.name = "a box in a box",
     .bodies = FLOOR FREE("0 0 .5", "type='box' size='.5 .5 .5' mass='1'") FREE("0 0 .5", KILO),
     .seconds = 0.4,
     .gain = {0.5, 1, 100}},
    {.name = "below the floor",
     .bodies = FLOOR FREE("0 0 -3", KILO),
     .seconds = 0.3,
     .gain = {3, 3, 3000}},
    {.name = "margins of ten metres",
     .bodies = FLOOR FREE("0 0 .1", CUBE "margin='10'") FREE(".4 0 .1", CUBE "margin='10'"),
     .seconds = 0.2,
     .gain = {0.01, 40, 1e+08}},
    {.name = "every condim",
     .bodies = "<geom type='plane' size='9 9 .1' condim='1'/>" FREE(
         "0 0 .2", "size='.1' condim='1' friction='0 0 0'")
         FREE(".3 0 .2", CUBE "condim='3' friction='0 0 0'")
             FREE(".6 0 .2", "type='capsule' size='.05 .1' condim='4'")
                 FREE(".9 0 .2", "type='cylinder' size='.1 .1' condim='6'")
                     FREE("1.2 0 .2",
                          "type='ellipsoid' size='.1 .05 .1' condim='6' friction='1e-9 1e-9 1e-9'"),
     .seconds = 0.4,
     .gain = {0.01, 0.01, 1}},
    {.name = "a needle",
     .bodies = FLOOR FREE("0 0 .6", "type='capsule' size='1e-5 .5' mass='1e-3'"),
     .seconds = 0.4,
     .velocity = {0.1, 0, 0, 0.3, 0, 0},
     .gain = {1e-05, 1e-05, 0.001}},
    {.name = "a sheet",
     .bodies = FLOOR FREE("0 0 .05", "type='box' size='.5 .5 1e-6' mass='1'"),
     .seconds = 0.2,
     .gain = {0.0001, 0.0001, 0.1}},
    {.name = "steps of 20 ms",
     .bodies = FLOOR FREE("0 0 .1", CUBE) FREE("0 0 .3", CUBE) FREE("0 0 .5", CUBE),
     .option = "timestep='.02'",
     .seconds = 2,
     .gain = {0.01, 3, 20}},
    {.name = "ten thousand kilometres away",
     .bodies = "<geom type='plane' size='0 0 1'/>" FREE("1e7 1e7 .1", CUBE),
     .seconds = 0.1,
     .gain = {0.01, 0.01, 1}},
    {.name = "two thousand radians a second",
     .bodies = FLOOR FREE("0 0 .3", "type='box' size='.1 .2 .05' mass='1'"),
     .seconds = 0.2,
     .velocity = {0, 0, 0, 1000, 2000, 500},
     .gain = {100, 1000, 100000}},
    {.name = "a fifth of a radian in a step",
     .bodies = FLOOR FREE("0 0 .25", "type='box' size='.1 .2 .05' mass='1'"),
     .seconds = 0.4,
     .velocity = {0, 0, -1, 100, 10, 50},
     .gain = {3, 500, 500}},
};

static int run_scene(const Scene* s, int law, tbRng* rng) {
  char xml[8192];
  snprintf(xml, sizeof xml, "<mujoco><option %s/><worldbody>%s</worldbody></mujoco>",
           s->option ? s->option : "", s->bodies);
  tbWorld w = tb_world_text(xml);
  tbError error;
  assert_int_equal(tb_option_set(&w.m->opt, "law", LAWS[law], &error), TB_OK);
  memcpy(w.d->qvel, s->velocity, sizeof s->velocity);
  // Where rigid solvers end is a matter of rounding: several starts, a micrometre per second apart.
  for (int i = 0; i < w.m->nv && law < RIGID; i++) w.d->qvel[i] += 1e-6 * tb_rng_normal(rng);
  double start = tb_world_energy(w), most = start, worst = 0;
  for (int i = 0; i < (int)(s->seconds / w.m->opt.timestep); i++) {
    if (tb_step(w.m, w.d) != TB_OK) fail_msg("%s, %s: %s", s->name, LAWS[law], w.d->message);
    if (law < RIGID) worst = fmax(worst, w.d->solve.residual.relative);
    most = fmax(most, tb_world_energy(w));
  }
  double spare = s->gain[law < RIGID ? 0 : law == SOFT ? 2 : 1];
  // RaiSim's law need not have a solution (docs/manual/laws/raisim.md), and boxes in boxes do
  // without.
  double residual = law == RAISIM ? INFINITY : fmax(s->residual, w.m->opt.solve_tolerance);
  bool ok = most <= start + spare && worst <= residual;
  if (!ok) {
    print_message("%s, %s: %g J, at most %+.3g J more, residual up to %g\n", s->name, LAWS[law],
                  start, most - start, worst);
  }
  tb_world_free(w);
  return !ok;
}

static void hostile_scenes_stay_bounded(void** state) {
  (void)state;
  tbRng rng = {12};
  int failures = 0;
  for (int i = 0; i < TB_COUNT(SCENES); i++) {
    for (int k = 0; k < 3 * RIGID; k++) failures += run_scene(&SCENES[i], k % RIGID, &rng);
    for (int law = RIGID; law < NLAWS; law++) failures += run_scene(&SCENES[i], law, &rng);
  }
  assert_int_equal(failures, 0);
}

// ---- momentum -----------------------------------------------------------------------------------

// Linear and angular momentum of all bodies about the origin. Returns the sum of |omega|^2 |I
// omega|.
static tbReal momentum(tbWorld w, tbReal p[6]) {
  tbReal turning = 0;
  memset(p, 0, 6 * sizeof *p);
  tb_compute_position(w.m, w.d);
  tb_compute_velocity(w.m, w.d);
  for (int b = 1; b < w.m->nbody; b++) {
    tbReal v[3], local[3], spin[3], moment[3], mass = w.m->body_mass[b];
    const tbReal *R = w.d->ximat + 9 * b, *at = w.d->xipos + 3 * b,
                 *c = w.d->subtree_com + 3 * w.m->body_rootid[b];
    const tbReal* cvel = w.d->cvel + 6 * b;
    // cvel is about the tree's centre of mass: angular, linear
    tbReal arm[3];
    tb_sub3(arm, at, c);
    tb_cross(v, cvel, arm);
    tb_add3(v, v, cvel + 3);
    tb_mul_mat3t_vec3(local, R, cvel);
    for (int k = 0; k < 3; k++) local[k] *= w.m->body_inertia[3 * b + k];
    tb_mul_mat3_vec3(spin, R, local);
    turning += tb_dot3(cvel, cvel) * tb_norm3(spin);
    tb_cross(moment, at, v);
    for (int k = 0; k < 3; k++) {
      p[k] += mass * v[k];
      p[3 + k] += mass * moment[k] + spin[k];
    }
  }
  return turning;
}

// Shapes of all kinds fly into each other without gravity. Gyroscopic couples omega x I omega are
// those of the start of a step: the angular momentum changes by their change, h^2 |omega|^2 |I
// omega| at most.
static void clouds_keep_momentum(void** state) {
  (void)state;
  static const char* const SHAPES[] = {
      CUBE, "size='.1'", "type='capsule' size='.06 .08' condim='4'",
      "type='cylinder' size='.08 .1' condim='6'", "type='ellipsoid' size='.1 .07 .12'"};
  char xml[8192] = "<mujoco><option gravity='0 0 0'/><worldbody>", part[512];
  for (int i = 0; i < 8; i++) {
    snprintf(part, sizeof part,
             "<body pos='%g %g %g' euler='%d 20 50'><freejoint/><geom %s mass='%g'/></body>",
             0.24 * (i % 2) - 0.12, 0.24 * (i / 2 % 2) - 0.12, 0.24 * (i / 4) - 0.12, 31 * i,
             SHAPES[i % 5], 0.5 + i % 3);
    strcat(xml, part);
  }
  strcat(xml, "</worldbody></mujoco>");
  for (int law = 0; law < NLAWS; law++) {
    tbWorld w = tb_world_text(xml);
    tbError error;
    assert_int_equal(tb_option_set(&w.m->opt, "law", LAWS[law], &error), TB_OK);
    w.m->opt.timestep = 5e-4;
    tbRng rng = {11};
    for (int b = 1; b < w.m->nbody; b++) {
      int at = w.m->body_dofadr[b];
      if (w.m->body_dofnum[b] == 6) {
        for (int k = 0; k < 3; k++)
          w.d->qvel[at + k] = -4 * w.m->body_pos[3 * b + k] + 0.3 * tb_rng_normal(&rng);
      }
    }
    tbReal first[6], now[6], worst[2] = {0}, off = 1e-9, h = w.m->opt.timestep;
    momentum(w, first);
    int touched = 0;
    for (int i = 0; i < 400; i++) {
      tb_world_run(w, 1);
      touched += w.d->ncon;
      off += h * h * momentum(w, now);
      for (int k = 0; k < 6; k++) worst[k / 3] = fmax(worst[k / 3], fabs(now[k] - first[k]));
    }
    assert_true(worst[0] < 1e-9);
    assert_true(worst[1] < off);
    assert_true(touched > 100);
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hostile_scenes_stay_bounded),
      cmocka_unit_test(clouds_keep_momentum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
