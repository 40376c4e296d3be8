// The soft law against the newest MuJoCo on every robot of the shared models: forces,
// accelerations, sensors and reactions at states in contact, and 200 steps from the first keyframe.
#include <sys/stat.h>

#include "common/oracle.h"
#include "common/worlds.h"
#include "step/features.h"

enum { STATES = 10, STEPS = 200 };

typedef struct {
  const char* file;
  // 1: contacts must agree. Not for mesh pairs (the reported vertices of a face differ), boxes
  // whose edges cross (we report the whole overlap polygon), nor an ellipsoid on a box (MuJoCo's
  // iteration stops at 1e-6 m, ours later): car, G1 and the hands.
  int exact;
} Robot;

static const Robot ROBOTS[] = {
    {"mujoco/model/humanoid/humanoid.xml", 1},
    {"mujoco/model/car/car.xml", 0},
    {"mujoco/model/slider_crank/slider_crank.xml", 1},
    {"mujoco/model/tendon_arm/arm26.xml", 1},
    {"mujoco_menagerie/agility_cassie/scene.xml", 1},
    {"mujoco_menagerie/anybotics_anymal_c/scene.xml", 1},
    {"mujoco_menagerie/anybotics_anymal_c/scene_mjx.xml", 1},
    {"mujoco_menagerie/leap_hand/scene_left.xml", 0},
    {"mujoco_menagerie/leap_hand/scene_right.xml", 0},
    {"mujoco_menagerie/pal_talos/scene_motor.xml", 0},
    {"mujoco_menagerie/pal_talos/scene_position.xml", 0},
    {"mujoco_menagerie/unitree_g1/scene.xml", 0},
    {"mujoco_menagerie/unitree_g1/scene_mjx.xml", 0},
    {"mujoco_menagerie/unitree_go2/scene.xml", 1},
    {"mujoco_menagerie/unitree_go2/scene_mjx.xml", 1},
    {"mujoco_menagerie/universal_robots_ur5e/scene.xml", 1},
    {"mujoco_menagerie/wonik_allegro/scene_left.xml", 0},
    {"mujoco_menagerie/wonik_allegro/scene_right.xml", 0},
};

// Largest difference over the largest entry (at least 1).
static double difference(const tbReal* ours, const tbOracleField* theirs, int n) {
  if (!theirs || theirs->rows * theirs->columns != n) return n ? NAN : 0;
  double worst = 0, scale = 1;
  for (int i = 0; i < n; i++) {
    worst = fmax(worst, fabs(ours[i] - theirs->values[i]));
    scale = fmax(scale, fabs(theirs->values[i]));
  }
  return worst / scale;
}

static void take(tbReal* ours, const tbOracle* o, int k, const char* name, int n) {
  const tbOracleField* field = tb_oracle_state(o, k, name);
  if (n) memcpy(ours, field->values, sizeof(tbReal) * (size_t)n);
}

// Whether the same contacts were found, by their distances and places in order: meshes may touch at
// another corner of the same face.
static bool same_contacts(const tbData* d, const tbOracleField* dist, const tbOracleField* pos) {
  if (d->ncon != dist->rows) return false;
  for (int i = 0; i < d->ncon; i++) {
    if (!(fabs(d->contact[i].dist - dist->values[i]) < 1e-8)) return false;
    for (int k = 0; k < 3; k++) {
      if (!(fabs(d->contact[i].pos[k] - pos->values[3 * i + k]) < 1e-7)) return false;
    }
  }
  return true;
}

typedef struct {
  double smooth, qacc, sensor, reaction;
  int same, touching;
} Verdict;

// Accelerations of bodies and the forces between them.
static double reaction_difference(const tbModel* m, tbData* d, const tbOracle* o, int k) {
  tbError error;
  if (tb_rne_post_constraint(m, d, &error) != TB_OK) fail_msg("%s", error.message);
  double acc = difference(d->cacc, tb_oracle_state(o, k, "cacc"), 6 * m->nbody);
  double in = difference(d->cfrc_int, tb_oracle_state(o, k, "cfrc_int"), 6 * m->nbody);
  double ext = difference(d->cfrc_ext, tb_oracle_state(o, k, "cfrc_ext"), 6 * m->nbody);
  return fmax(acc, fmax(in, ext));
}

// The same sensor by sensor; names the first that is off.
static double sensor_difference(const tbModel* m, const tbData* d, const tbOracleField* theirs) {
  double worst = 0;
  for (int s = 0; s < m->nsensor; s++) {
    int adr = m->sensor_adr[s];
    tbOracleField one = {.rows = m->sensor_dim[s], .columns = 1, .values = theirs->values + adr};
    double off = difference(d->sensordata + adr, &one, one.rows);
    if (!(off < 1e-6)) {
      print_message("sensor %d of type %d: %g, MuJoCo %g\n", s, m->sensor_type[s],
                    d->sensordata[adr], one.values[0]);
    }
    worst = off > worst ? off : worst;
  }
  return worst;
}

static Verdict compare_states(const tbModel* m, const tbOracle* o, const char* robot) {
  Verdict v = {0};
  for (int k = 0; k < STATES; k++) {
    tbData* d = tb_data_new(m);
    take(d->qpos, o, k, "qpos", m->nq);
    take(d->qvel, o, k, "qvel", m->nv);
    take(d->act, o, k, "act", m->na);
    take(d->ctrl, o, k, "ctrl", m->nu);
    if (tb_forward(m, d) != TB_OK) fail_msg("%s: %s", robot, d->message);
    const tbOracleField* dist = tb_oracle_state(o, k, "contact_dist");
    v.touching += dist->rows > 0;
    v.smooth =
        fmax(v.smooth, difference(d->qacc_smooth, tb_oracle_state(o, k, "qacc_smooth"), m->nv));
    v.smooth =
        fmax(v.smooth, difference(d->qfrc_passive, tb_oracle_state(o, k, "qfrc_passive"), m->nv));
    v.smooth =
        fmax(v.smooth, difference(d->qfrc_actuator, tb_oracle_state(o, k, "qfrc_actuator"), m->nv));
    v.smooth = fmax(v.smooth, difference(d->act_dot, tb_oracle_state(o, k, "act_dot"), m->na));
    if (same_contacts(d, dist, tb_oracle_state(o, k, "contact_pos"))) {
      v.same++;
      v.qacc = fmax(v.qacc, difference(d->qacc, tb_oracle_state(o, k, "qacc"), m->nv));
      v.sensor = fmax(v.sensor, sensor_difference(m, d, tb_oracle_state(o, k, "sensordata")));
      v.reaction = fmax(v.reaction, reaction_difference(m, d, o, k));
    }
    tb_data_free(d);
  }
  return v;
}

// How far 200 steps lead away from MuJoCo's, in qpos.
static double compare_motion(tbModel* m, const tbOracle* o) {
  tbData* d = tb_data_new(m);
  if (m->nkey) tb_reset_keyframe(m, d, 0);
  const tbOracleField* qpos = tb_oracle_model(o, "trajectory/qpos");
  double worst = 0;
  for (int i = 0; i < STEPS; i++) {
    if (tb_step(m, d) != TB_OK) fail_msg("%s", d->message);
    for (int k = 0; k < m->nq; k++) {
      worst = fmax(worst, fabs(d->qpos[k] - qpos->values[i * m->nq + k]));
    }
  }
  tb_data_free(d);
  return worst;
}

static void compare(const Robot* robot, const char* path) {
  char message[512];
  tbOracle* o = tb_oracle_motion(path, 5, STATES, STEPS, message, sizeof message);
  if (!o) fail_msg("%s: MuJoCo: %s", robot->file, message);
  tbError error;
  tbModel* m = tb_load(path, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  m->opt.law = TB_LAW_SOFT;
  m->opt.iterations = 200;
  Verdict v = compare_states(m, o, robot->file);
  double motion = compare_motion(m, o);
  print_message(
      "%-50s smooth %.0e, %2d/%d same contacts (%d touch): qacc %.0e sensors %.0e "
      "reactions %.0e; motion %.0e\n",
      robot->file, v.smooth, v.same, STATES, v.touching, v.qacc, v.sensor, v.reaction, motion);
  assert_true(v.smooth < 1e-6);
  assert_true(v.qacc < 1e-6);
  assert_true(v.sensor < 1e-6);
  assert_true(v.reaction < 1e-6);
  if (robot->exact) {
    assert_int_equal(v.same, STATES);
    assert_true(motion < 1e-4);
  }
  tb_oracle_free(o);
  tb_model_free(m);
}

static void write_if_new(const char* path, const char* text) {
  char old[16384] = "";
  FILE* file = fopen(path, "r");
  if (file) {
    old[fread(old, 1, sizeof old - 1, file)] = 0;
    fclose(file);
  }
  if (strcmp(old, text) == 0) return;
  file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void robots_agree(void** state) {
  (void)state;
  if (!tb_oracle_available()) return;
  for (size_t i = 0; i < sizeof ROBOTS / sizeof ROBOTS[0]; i++) {
    char relative[512], path[1024];
    snprintf(relative, sizeof relative, "models/%s", ROBOTS[i].file);
    if (tb_test_shared(relative, path, sizeof path)) compare(&ROBOTS[i], path);
  }
}

// Everything that a step can have, in files of our own.
static void features_agree(void** state) {
  (void)state;
  if (!tb_oracle_available()) return;
  char flying[4096], swimming[4096];
  snprintf(flying, sizeof flying, FLYING, "0", "0", "-.5");
  snprintf(swimming, sizeof swimming, FLYING, "5", ".1", ".01");
  const char* const TEXTS[] = {FLUID, ADHESION, MECHANISM, NEWER, flying, swimming, STAGES};
  static const char* const NAMES[] = {"fluid",  "adhesion", "mechanism", "newer",
                                      "flying", "swimming", "stages"};
  char folder[900], path[1024];
  snprintf(folder, sizeof folder, "%s/features", TB_BUILD_DIR);
  mkdir(folder, 0777);
  for (int i = 0; i < 7; i++) {
    // Written only where it changed, so that MuJoCo's answer is kept.
    snprintf(path, sizeof path, "%s/%s.xml", folder, NAMES[i]);
    write_if_new(path, TEXTS[i]);
    compare(&(Robot){NAMES[i], 1}, path);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(features_agree),
                                     cmocka_unit_test(robots_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
