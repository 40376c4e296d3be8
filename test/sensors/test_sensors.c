// Sensors of geometry and contact against values derived by hand.
#include "common/test.h"
#include "sensors/values.h"
#include "tribo/tribo.h"

typedef struct {
  tbModel* m;
  tbData* d;
} World;

static World make(const char* xml) {
  tbError error = {0};
  World w = {tb_load_string(xml, NULL, NULL, &error), NULL};
  if (!w.m) fail_msg("%s", error.message);
  w.d = tb_data_new(w.m);
  return w;
}

static void drop(World w) {
  tb_data_free(w.d);
  tb_model_free(w.m);
}

static const tbReal* sensor(World w, const char* name) {
  int id = tb_name2id(w.m, TB_OBJ_SENSOR, name);
  assert_true(id >= 0);
  return w.d->sensordata + w.m->sensor_adr[id];
}

// Two balls at random places: distance, direction and ends of the segment between them.
static void distances_of_balls(void** state) {
  (void)state;
  World w = make(
      "<mujoco><worldbody><body name='a'><freejoint/><geom name='a' size='0.1'/></body>"
      "<body name='b'><freejoint/><geom name='b' size='0.2'/><geom size='0.05' pos='9 9 9'/></body>"
      "</worldbody><sensor><distance name='d' geom1='a' geom2='b' cutoff='100'/>"
      "<normal name='n' geom1='a' body2='b' cutoff='100'/>"
      "<fromto name='f' body1='b' geom2='a' cutoff='100'/>"
      "<distance name='far' geom1='a' geom2='b' cutoff='0.01'/>"
      "<fromto name='none' geom1='a' geom2='b' cutoff='0.01'/></sensor></mujoco>");
  tbRng rng = {4};
  for (int t = 0; t < 100; t++) {
    tbReal *a = w.d->qpos, *b = w.d->qpos + 7, n[3];
    for (int k = 0; k < 3; k++) {
      a[k] = tb_rng_normal(&rng);
      b[k] = tb_rng_normal(&rng);
    }
    if (tb_forward(w.m, w.d) != TB_OK) fail_msg("%s", w.d->message);
    tbReal length = 0;
    for (int k = 0; k < 3; k++) length += (b[k] - a[k]) * (b[k] - a[k]);
    length = sqrt(length);
    tbReal distance = length - 0.3;
    for (int k = 0; k < 3; k++) n[k] = (b[k] - a[k]) / length;
    assert_near(sensor(w, "d")[0], distance, 1e-12);
    assert_near(sensor(w, "far")[0], fmax(-0.01, fmin(distance, 0.01)), 1e-12);
    for (int k = 0; k < 3; k++) {
      assert_near(sensor(w, "n")[k], distance < 0 ? -n[k] : n[k], 1e-12);
      assert_near(sensor(w, "f")[k], b[k] - 0.2 * n[k], 1e-12);
      assert_near(sensor(w, "f")[3 + k], a[k] + 0.1 * n[k], 1e-12);
      if (distance > 0.01) assert_near(sensor(w, "none")[k], 0, 0);
    }
  }
  drop(w);
}

// A ball at rest on the floor: the contact sensor has its weight, whichever side it is seen from.
static void contact_carries_the_weight(void** state) {
  (void)state;
  World w = make(
      "<mujoco><option gravity='0 0 -10'/><worldbody><geom name='floor' type='plane' size='5 5 1'/>"
      "<site name='here' size='0.5'/><site name='there' size='0.5' pos='3 0 0'/>"
      "<body name='ball' pos='0 0 0.1'><freejoint/><geom name='ball' size='0.1' mass='2'/>"
      "</body></worldbody><sensor>"
      "<contact name='down' geom1='ball' data='found force dist pos normal tangent'/>"
      "<contact name='up' geom1='floor' data='found force normal'/>"
      "<contact name='net' body1='ball' reduce='netforce' data='force torque pos' num='2'/>"
      "<contact name='here' site='here'/><contact name='there' site='there'/>"
      "<contact name='three' num='3' data='found dist'/></sensor></mujoco>");
  for (int law = 0; law < 2; law++) {
    w.m->opt.law = law ? TB_LAW_SOFT : TB_LAW_NCP;
    tb_reset(w.m, w.d);
    for (int i = 0; i < 500; i++) {
      if (tb_step(w.m, w.d) != TB_OK) fail_msg("%s", w.d->message);
    }
    const tbReal *down = sensor(w, "down"), *up = sensor(w, "up"), *net = sensor(w, "net");
    assert_near(down[0], 1, 0);
    assert_near(down[1], 20, 1e-3);
    assert_near(down[4], w.d->contact[0].dist, 0);
    assert_near(down[10], -1, 1e-9);  // normal: from the ball to the floor
    assert_near(up[1], 20, 1e-3);
    assert_near(up[6], 1, 1e-9);
    // The net force of body 1 on the bodies that it touches points down, in world axes.
    assert_near(net[2], -20, 1e-3);
    for (int k = 9; k < 18; k++) assert_near(net[k], 0, 0);
    assert_near(sensor(w, "here")[0], 1, 0);
    assert_near(sensor(w, "there")[0], 0, 0);
    assert_near(sensor(w, "three")[0], 1, 0);
    assert_near(sensor(w, "three")[2], 0, 0);
  }
  drop(w);
}

// Inside each shape, by the share of a box around it that it fills.
static void sites_hold_their_volume(void** state) {
  (void)state;
  World w = make(
      "<mujoco><worldbody><site name='0' type='sphere' size='0.3' pos='1 2 3' euler='10 20 30'/>"
      "<site name='1' type='capsule' size='0.2 0.3' pos='1 2 3' euler='10 20 30'/>"
      "<site name='2' type='ellipsoid' size='0.1 0.2 0.4' pos='1 2 3' euler='10 20 30'/>"
      "<site name='3' type='cylinder' size='0.2 0.3' pos='1 2 3' euler='10 20 30'/>"
      "<site name='4' type='box' size='0.1 0.2 0.3' pos='1 2 3' euler='10 20 30'/>"
      "</worldbody></mujoco>");
  if (tb_forward(w.m, w.d) != TB_OK) fail_msg("%s", w.d->message);
  const double PI = 3.14159265358979323846;
  const double volume[5] = {4 * PI / 3 * 0.027, PI * 0.04 * 0.6 + 4 * PI / 3 * 0.008,
                            4 * PI / 3 * 0.008, PI * 0.04 * 0.6, 8 * 0.006};
  tbRng rng = {11};
  enum { N = 200000 };
  for (int s = 0; s < 5; s++) {
    int inside = 0;
    for (int i = 0; i < N; i++) {
      tbReal p[3];
      for (int k = 0; k < 3; k++) p[k] = 1 + k + tb_rng_uniform(&rng, -0.6, 0.6);
      inside += tb_inside_site(w.m, w.d, s, p);
    }
    // Within five standard deviations of the number of points.
    double share = volume[s] / 1.728;
    assert_true(fabs(inside - share * N) < 5 * sqrt(share * (1 - share) * N));
  }
  drop(w);
}

// A point on the axis is seen in the middle, one at the edge of the field of view at the edge.
static void cameras_project(void** state) {
  (void)state;
  World w = make(
      "<mujoco><worldbody><camera name='c' pos='1 2 5' fovy='60' resolution='400 300'/>"
      "<site name='axis' pos='1 2 0'/><site name='top' pos='1 4.8867513459481287 0'/>"
      "</worldbody><sensor><camprojection name='a' site='axis' camera='c'/>"
      "<camprojection name='t' site='top' camera='c'/></sensor></mujoco>");
  if (tb_forward(w.m, w.d) != TB_OK) fail_msg("%s", w.d->message);
  assert_near(sensor(w, "a")[0], 200, 1e-12);
  assert_near(sensor(w, "a")[1], 150, 1e-12);
  assert_near(sensor(w, "t")[0], 200, 1e-12);
  assert_near(sensor(w, "t")[1], 0, 1e-9);
  drop(w);
}

// Accelerations follow from those of the joints: without sensors of force the forces between bodies
// are not computed, and an accelerometer reads the same as next to one.
static void accelerations_need_no_forces(void** state) {
  (void)state;
  const char* const force[] = {"", "<force site='s'/>"};
  tbReal read[2][6];
  for (int k = 0; k < 2; k++) {
    char xml[1000];
    snprintf(xml, sizeof xml,
             "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.1'><freejoint/>"
             "<geom size='0.1'/><body pos='0.3 0 0.5'><joint axis='0 1 0' range='-1 1'/><geom "
             "size='0.1' pos='0.1 0 0.2'/><site name='s' pos='0.2 0 0.1' euler='10 20 30'/></body>"
             "</body></worldbody><sensor><accelerometer name='a' site='s'/><frameangacc name='w' "
             "objtype='site' objname='s'/>%s</sensor></mujoco>",
             force[k]);
    World w = make(xml);
    for (int i = 0; i < 20; i++) {
      if (tb_step(w.m, w.d) != TB_OK) fail_msg("%s", w.d->message);
    }
    memcpy(read[k], sensor(w, "a"), 3 * sizeof(tbReal));
    memcpy(read[k] + 3, sensor(w, "w"), 3 * sizeof(tbReal));
    tbReal forces = 0;
    for (int i = 0; i < 6 * w.m->nbody; i++) {
      forces += fabs(w.d->cfrc_int[i]) + fabs(w.d->cfrc_ext[i]);
    }
    assert_true(k == 0 ? forces == 0 : forces > 1);
    drop(w);
  }
  assert_true(fabs(read[0][0]) + fabs(read[0][2]) > 1 && fabs(read[0][4]) > 1e-3);
  assert_memory_equal(read[0], read[1], sizeof read[0]);
}

// A ball on a horizontal slide, pulled at 45 degrees by a tendon: nothing acts on the slide along
// its axis, so the pull is mass times acceleration in both directions, and the slide bears the
// weight less the pull's vertical part.
static void tendons_pull_on_bodies(void** state) {
  (void)state;
  const struct {
    const char *tendon, *rest;
  } kinds[] = {
      {"stiffness='50' springlength='0 0.2'", ""},
      {"armature='3'",
       "<actuator><motor joint='x'/></actuator><keyframe><key ctrl='7'/></keyframe>"},
      {"",
       "<actuator><motor tendon='t' gear='-2'/></actuator><keyframe><key ctrl='7'/></keyframe>"},
      {"frictionloss='2'", "<keyframe><key qvel='0.5'/></keyframe>"},
      {"range='0 1.4'", ""},
      {"", "<equality><tendon tendon1='t' polycoef='-0.01 0 0 0 0'/></equality>"},
      {"", "<equality><tendon tendon1='u' tendon2='t' polycoef='-0.01 2 0 0 0'/></equality>"},
  };
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
      char xml[1200];
      snprintf(
          xml, sizeof xml,
          "<mujoco><compiler autolimits='true'/><worldbody><site name='w' pos='1 0 -1'/><body>"
          "<joint name='x' type='slide' axis='1 0 0'/><geom size='0.1' mass='2'/>"
          "<site name='s'/></body><body pos='0 3 0'><joint name='y' type='slide' axis='1 0 0'/>"
          "<geom size='0.1'/></body></worldbody><tendon><spatial name='t' %s>"
          "<site site='w'/><site site='s'/></spatial><fixed name='u'><joint joint='y' "
          "coef='1'/></fixed></tendon><sensor><force name='f' site='s'/></sensor>%s</mujoco>",
          kinds[k].tendon, kinds[k].rest);
      World w = make(xml);
      w.m->opt.law = law;
      if (w.m->nkey) tb_reset_keyframe(w.m, w.d, 0);
      tb_forward(w.m, w.d);
      tbReal across = k == 1 ? 2 * w.d->qacc[0] - 7 : 2 * w.d->qacc[0];
      assert_true(fabs(across) > 0.5);
      // The exponential integrator's acceleration is the mean over the step.
      tbReal near = k == 0 && law == TB_LAW_VISCOELASTIC ? 1e-2 : 1e-9;
      assert_near(sensor(w, "f")[0], k == 1 ? 7 : 0, near);
      assert_near(sensor(w, "f")[1], 0, 1e-9);
      assert_near(sensor(w, "f")[2], 2 * 9.81 + across, near);
      drop(w);
    }
  }
}

// After a step sensors and energy are those of its start, whatever its integrator evaluates
// between.
static void steps_leave_the_sensors_of_their_start(void** state) {
  (void)state;
  static const struct {
    int law, integrator;
  } kinds[] = {{TB_LAW_SOFT, TB_INTEGRATOR_EULER},
               {TB_LAW_SOFT, TB_INTEGRATOR_RK4},
               {TB_LAW_NCP, TB_INTEGRATOR_RK4},
               {TB_LAW_VISCOELASTIC, TB_INTEGRATOR_RK4},
               {TB_LAW_VISCOELASTIC, TB_INTEGRATOR_EULER_IMPLICIT},
               {TB_LAW_VISCOELASTIC, TB_INTEGRATOR_EXPO_MIDPOINT}};
  World w = make(
      "<mujoco><option><flag energy='enable'/></option><worldbody><body><joint name='j' axis='0 1 "
      "0'/>"
      "<geom size='0.1' pos='1 0 0'/><site name='s' pos='1 0 0'/></body></worldbody><sensor>"
      "<clock/><jointvel joint='j'/><accelerometer site='s'/><e_kinetic/></sensor></mujoco>");
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    w.m->opt.law = kinds[k].law;
    w.m->opt.integrator = kinds[k].integrator;
    tb_reset(w.m, w.d);
    w.d->qvel[0] = 3;
    if (tb_forward(w.m, w.d) != TB_OK) fail_msg("%s", w.d->message);
    tbReal start[16], energy[2] = {w.d->energy[0], w.d->energy[1]};
    memcpy(start, w.d->sensordata, sizeof(tbReal) * (size_t)w.m->nsensordata);
    if (tb_step(w.m, w.d) != TB_OK) fail_msg("%s", w.d->message);
    for (int i = 0; i < w.m->nsensordata; i++) assert_near(w.d->sensordata[i], start[i], 1e-12);
    for (int i = 0; i < 2; i++) assert_near(w.d->energy[i], energy[i], 1e-12);
  }
  drop(w);
}

// An accelerometer that is fixed to the world, or to a body that is, reads gravity under every law.
static void fixed_accelerometers_read_gravity(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    World w = make(
        "<mujoco><worldbody><site name='a' euler='90 0 0'/><body pos='1 0 0'><geom size='.1'/>"
        "<site name='b'/></body><body pos='0 0 1'><freejoint/><geom size='.1'/></body></worldbody>"
        "<sensor><accelerometer site='a'/><accelerometer site='b'/></sensor></mujoco>");
    w.m->opt.law = law;
    for (int i = 0; i < 2; i++) assert_int_equal(tb_step(w.m, w.d), TB_OK);
    const double expected[6] = {0, 9.81, 0, 0, 0, 9.81};
    assert_near_array(w.d->sensordata, expected, 6, 1e-12);
    drop(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_of_balls),
      cmocka_unit_test(contact_carries_the_weight),
      cmocka_unit_test(sites_hold_their_volume),
      cmocka_unit_test(cameras_project),
      cmocka_unit_test(accelerations_need_no_forces),
      cmocka_unit_test(tendons_pull_on_bodies),
      cmocka_unit_test(steps_leave_the_sensors_of_their_start),
      cmocka_unit_test(fixed_accelerometers_read_gravity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
