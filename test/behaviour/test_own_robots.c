// The robots in scenes/: masses and inertias that bodies can have, and poses that they keep.
#include <math.h>
#include <string.h>

#include "common/test.h"
#include "tribo/tribo.h"

typedef struct {
  const char *file, *key;
  double mass[2];  // kg, at least and at most
  bool floats;     // stands on a free joint
} Robot;

static const Robot ROBOTS[] = {
    {"quadruped.xml", "stand", {2.2, 2.8}, true},  // Solo-12: 2.5 kg
    {"biped.xml", "stand", {30, 45}, true},        // Cassie: 33 kg
    {"humanoid.xml", "stand", {60, 95}, true},     // Talos: 95 kg, a person: 75 kg
    {"hand.xml", "grasp", {0.4, 1.2}, false},      // Allegro: 1.1 kg, with a cube
    {"arm.xml", "ready", {15, 22}, false},         // UR5: 18 to 21 kg
};

static tbModel* load(const Robot* robot) {
  char path[1024];
  tbError error;
  snprintf(path, sizeof path, "%s/%s", TB_SCENES_DIR, robot->file);
  tbModel* m = tb_load(path, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  return m;
}

static double total_mass(const tbModel* m) {
  double sum = 0;
  for (int b = 1; b < m->nbody; b++) sum += m->body_mass[b];
  return sum;
}

static void bodies_are_possible(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof ROBOTS / sizeof *ROBOTS; i++) {
    tbModel* m = load(&ROBOTS[i]);
    double mass = total_mass(m);
    assert_true(mass >= ROBOTS[i].mass[0] && mass <= ROBOTS[i].mass[1]);
    for (int b = 1; b < m->nbody; b++) {
      const tbReal* I = m->body_inertia + 3 * b;
      if (m->body_mass[b] == 0) continue;
      // No moment exceeds the sum of the others, and none needs a body longer than a metre.
      for (int k = 0; k < 3; k++) {
        assert_true(I[k] > 0);
        assert_true(I[k] <= (I[(k + 1) % 3] + I[(k + 2) % 3]) * (1 + 1e-9));
        assert_true(sqrt(I[k] / m->body_mass[b]) < 0.6);
      }
    }
    tb_model_free(m);
  }
}

// Weight carried by contacts with the world.
static double carried(const tbModel* m, const tbData* d) {
  double sum = 0;
  for (int c = 0; c < d->ncon; c++) {
    const tbContact* contact = &d->contact[c];
    int body = m->geom_bodyid[contact->geom[0]];
    if (body != 0) continue;
    for (int r = 0; r < 3; r++) sum += contact->frame[3 * r + 2] * contact->force[r];
  }
  return sum;
}

static void poses_are_kept(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof ROBOTS / sizeof *ROBOTS; i++) {
    tbModel* m = load(&ROBOTS[i]);
    tbData* d = tb_data_new(m);
    assert_non_null(d);
    int key = tb_name2id(m, TB_OBJ_KEY, ROBOTS[i].key);
    assert_true(key >= 0);
    tb_reset_keyframe(m, d, key);
    double start[7];
    memcpy(start, d->qpos,
           sizeof start < sizeof(tbReal) * (size_t)m->nq ? sizeof start
                                                         : sizeof(tbReal) * (size_t)m->nq);
    int steps = (int)lround(3 / m->opt.timestep), unconverged = 0;
    double weight = 0;
    for (int k = 0; k < steps; k++) {
      assert_int_equal(tb_step(m, d), TB_OK);
      unconverged += d->solve.status != TB_SOLVE_CONVERGED;
      if (k >= steps / 2) weight += carried(m, d) / (steps - steps / 2);
    }
    assert_int_equal(unconverged, 0);
    for (int k = 0; k < m->nv; k++) assert_true(fabs(d->qvel[k]) < 0.05);
    if (ROBOTS[i].floats) {
      assert_true(hypot(d->qpos[0] - start[0], d->qpos[1] - start[1]) < 0.03);
      assert_true(fabs(d->qpos[2] - start[2]) < 0.02);
      assert_true(d->xmat[9 + 8] > cos(0.05));
      assert_near(weight, 9.81 * total_mass(m), 0.01 * 9.81 * total_mass(m));
    }
    tb_data_free(d);
    tb_model_free(m);
  }
}

// ---- a ladder ----------------------------------------------------------------------------------

static tbModel* humanoid_at_ladder(void) {
  enum { RUNGS = 9 };
  char xml[4096], *end = xml;
  end += sprintf(end, "<mujoco><include file=\"humanoid.xml\"/><worldbody>");
  for (int side = -1; side <= 1; side += 2) {
    double y = 0.25 * side;
    end += sprintf(end, "<geom size=\"0.03\" fromto=\"0.45 %g 0 0.45 %g 3\"/>", y, y);
  }
  for (int i = 0; i < RUNGS; i++) {
    double z = 0.25 + 0.3 * i;
    end += sprintf(end, "<geom size=\"0.02\" fromto=\"0.45 -0.25 %g 0.45 0.25 %g\"/>", z, z);
  }
  sprintf(end, "</worldbody></mujoco>");
  tbError error;
  tbModel* m = tb_load_string(xml, TB_SCENES_DIR, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  return m;
}

// Hands to a rung, then a foot.
static void reach(const tbModel* m, tbData* d) {
  static const struct {
    const char* name;
    double from, until, to;
  } REACH[] = {{"left_shoulder_pitch", 0, 0.8, -1.9}, {"right_shoulder_pitch", 0, 0.8, -1.9},
               {"left_shoulder_pitch", 0.8, 3, -1.2}, {"right_shoulder_pitch", 0.8, 3, -1.2},
               {"left_elbow", 0, 0.8, -0.2},          {"right_elbow", 0, 0.8, -0.2},
               {"left_elbow", 0.8, 3, -1.5},          {"right_elbow", 0.8, 3, -1.5},
               {"left_hip_pitch", 1, 2, -1.6},        {"left_knee", 1, 2, 1.6}};
  memcpy(d->ctrl, m->key_ctrl, sizeof(tbReal) * (size_t)m->nu);
  for (size_t r = 0; r < sizeof REACH / sizeof *REACH; r++) {
    tbReal* ctrl = &d->ctrl[tb_name2id(m, TB_OBJ_ACTUATOR, REACH[r].name)];
    double share = (d->time - REACH[r].from) / (REACH[r].until - REACH[r].from);
    *ctrl += fmin(fmax(share, 0), 1) * (REACH[r].to - *ctrl);
  }
}

// Pulled against the ladder and wedged between its rungs: each method alone has difficulties, but
// the island is small, so that all of them are tried.
static void climber_leaves_no_step_unsolved(void** state) {
  (void)state;
  static const double STEPS[] = {0.001, 0.005}, PULL[] = {55, 65};
  tbModel* m = humanoid_at_ladder();
  int torso = tb_name2id(m, TB_OBJ_BODY, "torso"), unconverged = 0;
  for (int k = 0; k < 4; k++) {
    m->opt.timestep = STEPS[k / 2];
    tbData* d = tb_data_new(m);
    assert_non_null(d);
    tb_reset_keyframe(m, d, 0);
    while (d->time < 5) {
      reach(m, d);
      d->xfrc_applied[6 * torso] = d->time > 0.2 ? PULL[k % 2] : 0;
      assert_int_equal(tb_step(m, d), TB_OK);
      unconverged += d->solve.status != TB_SOLVE_CONVERGED;
    }
    tb_data_free(d);
  }
  assert_int_equal(unconverged, 0);
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_are_possible),
      cmocka_unit_test(poses_are_kept),
      cmocka_unit_test(climber_leaves_no_step_unsolved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
