// A cube of 26 pieces that turn about its core, as Rubik's: two hundred contacts and the dry
// friction of joints in one island of jointed bodies. Subdomain solves before plain sweeps
// (solvers/active_set/active_set.c) make it shake.
#include "common/worlds.h"

// Corners of a piece: of a cube, cut so that pieces pass each other.
static void append_corners(char* text, size_t size) {
  for (int i = 0; i < 24; i++) {
    size_t used = strlen(text);
    double p[3];
    for (int k = 0; k < 3; k++) {
      p[k] = (i >> k & 1 ? 1 : -1) * (i / 8 == k ? 9.5e-3 : 8.075e-3);
    }
    snprintf(text + used, size - used, "%g %g %g ", p[0], p[1], p[2]);
  }
}

// Faces turn on hinges, which motors drive; edges and corners on ball joints.
static tbWorld puzzle(void) {
  char xml[16384] =
      "<mujoco><option timestep='0.002'/><default><joint armature='1e-4' "
      "damping='5e-4' frictionloss='1e-3'/><geom type='mesh' mesh='piece' "
      "condim='1' mass='.0025'/></default><asset><mesh name='piece' vertex='";
  char motors[1024] = "";
  append_corners(xml, sizeof xml);
  strcat(xml, "'/></asset><worldbody>");
  for (int i = 0; i < 27; i++) {
    int place[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
    int away = abs(place[0]) + abs(place[1]) + abs(place[2]);
    char part[512];
    if (away == 0) continue;
    snprintf(part, sizeof part,
             "<body><joint name='j%d' type='%s' axis='%d %d %d'/><geom pos='%g %g %g'/></body>", i,
             away == 1 ? "hinge" : "ball", place[0], place[1], place[2], 0.019 * place[0],
             0.019 * place[1], 0.019 * place[2]);
    strcat(xml, part);
    snprintf(part, sizeof part, "<motor joint='j%d'/>", i);
    if (away == 1) strcat(motors, part);
  }
  strcat(strcat(strcat(xml, "</worldbody><actuator>"), motors), "</actuator></mujoco>");
  return tb_world_text(xml);
}

static const int LAWS[] = {TB_LAW_NCP, TB_LAW_CCP};

static double fastest(tbWorld w) {
  double speed = 0;
  for (int i = 0; i < w.m->nv; i++) speed = fmax(speed, fabs(w.d->qvel[i]));
  return speed;
}

// The joints' dry friction bears the pieces: nothing moves.
static void it_rests(void** state) {
  (void)state;
  static const double STEPS[] = {0.002, 0.01};
  for (int k = 0; k < 4; k++) {
    tbWorld w = puzzle();
    w.m->opt.law = LAWS[k / 2];
    w.m->opt.timestep = STEPS[k % 2];
    for (int i = 0; i < 120; i++) {
      tb_world_run_solved(w, 1);
      assert_true(w.d->ncon > 150);
      assert_true(fastest(w) < 1e-5);
    }
    tb_world_free(w);
  }
}

// A motor turns a face, and nothing gains more than its work.
static void a_face_turns(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    tbWorld w = puzzle();
    w.m->opt.law = LAWS[k];
    double start = tb_world_energy(w), work = 0;
    w.d->ctrl[0] = 0.05;
    int turned = w.m->jnt_qposadr[w.m->actuator_trnid[0]];
    for (int i = 0; i < 120; i++) {
      tb_world_run_solved(w, 1);
      for (int v = 0; v < w.m->nv; v++) {
        work += w.m->opt.timestep * w.d->qfrc_actuator[v] * w.d->qvel[v];
      }
      assert_true(tb_world_energy(w) < start + work + 1e-9);
    }
    assert_true(fabs(w.d->qpos[turned]) > 0.1);
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_rests),
      cmocka_unit_test(a_face_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
