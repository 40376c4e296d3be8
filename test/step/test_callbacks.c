// Functions of the user within a step: forces, controls, parameters of contacts, filters.
#include "tribo/callbacks.h"

#include <math.h>
#include <string.h>

#include "common/test.h"
#include "common/worlds.h"

static const double G = 9.81;

static const char CUBE[] =
    "<mujoco><option timestep='.002'/><worldbody>"
    "<geom name='floor' type='plane' size='5 5 .1' friction='.9 0 0'/>"
    "<body name='cube' pos='0 0 .1'><freejoint/><geom name='box' type='box' size='.1 .1 .1' "
    "mass='2' "
    "friction='.9 0 0'/></body></worldbody></mujoco>";

// ---- parameters and filters of contacts --------------------------------------------------------

// Ice where x > 1.
static void ice(const tbModel* m, const tbData* d, tbContact* c, const void* user) {
  (void)m, (void)d;
  const double* mu = user;
  c->friction[0] = c->friction[1] = c->pos[0] > 1 ? mu[0] : mu[1];
  // Not a parameter: has no effect.
  c->dist = c->pos[2] = 100;
}

// Sliding at speed v under friction mu: v+ = v - mu g h, by the rigid laws that do not lift a
// sliding body.
static void friction_depends_on_place(void** state) {
  (void)state;
  static const double MU[2] = {0.1, 0.5};
  const tbCallbacks user = {.contact = ice, .user = MU};
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    if (law >= TB_LAW_COUNT || law == TB_LAW_CCP) continue;
    for (int side = 0; side < 2; side++) {
      tbWorld w = tb_world_text(CUBE);
      w.m->opt.law = law;
      w.m->callbacks = &user;
      tb_world_run(w, 50);
      w.d->qpos[0] = side ? 0 : 2;
      w.d->qvel[0] = 3;
      tb_world_run(w, 20);
      assert_near(w.d->qvel[0], 3 - 20 * 0.002 * MU[side] * G, law == TB_LAW_NCP ? 1e-5 : 5e-3);
      assert_near(w.d->qpos[2], 0.1, 2e-2);
      tb_world_free(w);
    }
  }
}

static int no_floor(const tbModel* m, const tbData* d, int geom1, int geom2, const void* user) {
  (void)m, (void)user;
  return d->time > 0.1 && (geom1 == 0 || geom2 == 0);
}

// The floor holds until the filter opens it: free fall from then on.
static void filter_opens_the_floor(void** state) {
  (void)state;
  const tbCallbacks user = {.contact_filter = no_floor};
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(CUBE);
    w.m->opt.law = law;
    w.m->callbacks = &user;
    tb_world_run(w, 50);
    assert_near(w.d->qpos[2], 0.1, 1e-3);
    double v = w.d->qvel[2];
    tb_world_run(w, 51);
    assert_int_equal(w.d->ncon, 0);
    assert_near(w.d->qvel[2], v - 50 * 0.002 * G, 0.03);
    tb_world_free(w);
  }
}

// ---- every parameter ---------------------------------------------------------------------------

// A ball and a box that fall onto a floor and slide, with a pair of geoms for each.
static tbWorld two_bodies(const char* attribute) {
  char xml[2048];
  snprintf(xml, sizeof xml,
           "<mujoco><option timestep='.002'/><worldbody>"
           "<geom name='floor' type='plane' size='5 5 .1'/>"
           "<body pos='0 0 .11'><freejoint/><geom name='ball' size='.1' mass='2'/></body>"
           "<body pos='1 0 .101'><freejoint/><geom name='box' type='box' size='.1 .1 .1' "
           "mass='3'/></body></worldbody><contact>"
           "<pair geom1='floor' geom2='ball' friction='.8 .8 0 0 0' %s/>"
           "<pair geom1='floor' geom2='box' friction='.8 .8 0 0 0' %s/></contact></mujoco>",
           attribute, attribute);
  return tb_world_text(xml);
}

enum { FRICTION, RESTITUTION, COMPLIANCE, TANGENT, DAMPING, COMFREE, SOLREF, SLIDING, SOLIMP };

static void set_parameter(const tbModel* m, const tbData* d, tbContact* c, const void* user) {
  (void)m, (void)d;
  switch (*(const int*)user) {
    case FRICTION: c->friction[0] = 0.3, c->friction[1] = 0.2; break;
    case RESTITUTION: c->restitution = 0.5; break;
    case COMPLIANCE: c->compliance = 1e-5; break;
    case TANGENT: c->tangentcompliance = 2e-5; break;
    case DAMPING: c->compliance = 1e-5, c->damping = 300; break;
    case COMFREE: c->comfree[0] = 0.4, c->comfree[1] = 0.003; break;
    case SOLREF: c->solref[0] = 0.05, c->solref[1] = 0.8; break;
    case SLIDING: c->solreffriction[0] = 0.04, c->solreffriction[1] = 0.9; break;
    default: c->solimp[0] = 0.5, c->solimp[1] = 0.7, c->solimp[2] = 0.01; break;
  }
}

// What a callback writes has the bits of a file that says it; comfree's stiffness and damping and
// compliance, normal and tangential, among it. `laws` use it: there it changes the motion.
static void parameters_are_those_of_a_file(void** state) {
  (void)state;
  enum { RIGID = 1 << TB_LAW_NCP | 1 << TB_LAW_CCP | 1 << TB_LAW_LCP | 1 << TB_LAW_RAISIM };
  static const struct {
    int kind;
    const char* attribute;
    unsigned laws;
  } CASES[] = {
      {FRICTION, "friction='.3 .2 0 0 0'", RIGID | 1 << TB_LAW_SOFT | 1 << TB_LAW_COMFREE},
      {RESTITUTION, "restitution='.5'", RIGID},
      {COMPLIANCE, "compliance='1e-5'", RIGID},
      {TANGENT, "tangentcompliance='2e-5'", RIGID},
      {DAMPING, "compliance='1e-5' contactdamping='300'", RIGID},
      {COMFREE, "comfree='.4 .003'", 1 << TB_LAW_COMFREE},
      {SOLREF, "solref='.05 .8'", 1 << TB_LAW_SOFT},
      {SLIDING, "solreffriction='.04 .9'", 1 << TB_LAW_SOFT},
      {SOLIMP, "solimp='.5 .7 .01'", 1 << TB_LAW_SOFT},
  };
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
      const tbCallbacks user = {.contact = set_parameter, .user = &CASES[i].kind};
      tbWorld plain = two_bodies(""), called = two_bodies("");
      tbWorld said = two_bodies(CASES[i].kind == FRICTION ? "" : CASES[i].attribute);
      called.m->callbacks = &user;
      for (int k = 0; k < said.m->npair && CASES[i].kind == FRICTION; k++) {
        said.m->pair_friction[5 * k] = 0.3;
        said.m->pair_friction[5 * k + 1] = 0.2;
      }
      tbWorld worlds[] = {plain, said, called};
      for (int k = 0; k < 3; k++) {
        // Friction with two coefficients and the soft law's second solref are elliptic.
        worlds[k].m->opt.cone = TB_CONE_ELLIPTIC;
        worlds[k].m->opt.law = law;
        worlds[k].d->qvel[0] = worlds[k].d->qvel[6] = 0.5;
        worlds[k].d->qvel[1] = worlds[k].d->qvel[7] = 0.7;
        tb_world_run(worlds[k], 100);
      }
      size_t size = sizeof(tbReal) * (size_t)plain.m->nq;
      if (memcmp(called.d->qpos, said.d->qpos, size) != 0) {
        fail_msg("law %d, %s: a callback has other bits", law, CASES[i].attribute);
      }
      bool differs = memcmp(called.d->qpos, plain.d->qpos, size) != 0;
      if (CASES[i].laws >> law & 1 && !differs) {
        fail_msg("law %d: %s changes nothing", law, CASES[i].attribute);
      }
      for (int k = 0; k < 3; k++) tb_world_free(worlds[k]);
    }
  }
}

static void leave_out(const tbModel* m, const tbData* d, tbContact* c, const void* user) {
  (void)m, (void)d, (void)user;
  c->exclude = 1;
}

// A contact that the callback leaves out is still there, without a force.
static void a_contact_can_be_left_out(void** state) {
  (void)state;
  const tbCallbacks user = {.contact = leave_out};
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(CUBE);
    w.m->opt.law = law;
    tb_world_run(w, 20);
    w.m->callbacks = &user;
    double v = w.d->qvel[2];
    tb_world_run(w, 1);
    assert_int_equal(w.d->ncon, 4);
    for (int i = 0; i < 4; i++) assert_near(w.d->contact[i].force[0], 0, 0);
    assert_near(w.d->qvel[2], v - 0.002 * G, 1e-12);
    tb_world_free(w);
  }
}

// ---- forces and controls -----------------------------------------------------------------------

static void push(const tbModel* m, tbData* d, const void* user) {
  const double* force = user;
  for (int k = 0; k < m->nv; k++) d->qfrc_passive[k] += force[0] - force[1] * d->qvel[k];
}

// A constant force and a damper of the user in free flight: v+ = v + h (f - c v) / m, where the
// damper is explicit.
static void passive_forces_add_up(void** state) {
  (void)state;
  static const double FORCE[2] = {3, 0.5};
  const tbCallbacks user = {.passive = push, .user = FORCE};
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(
        "<mujoco><option timestep='.002' gravity='0 0 0'/><worldbody><body><joint type='slide'/>"
        "<geom size='.1' mass='2'/></body></worldbody></mujoco>");
    w.m->opt.law = law;
    w.m->callbacks = &user;
    double v = w.d->qvel[0] = 1;
    for (int i = 0; i < 100; i++) {
      tb_world_run(w, 1);
      v += 0.002 * (FORCE[0] - FORCE[1] * v) / 2;
      assert_near(w.d->qvel[0], v, 1e-12);
    }
    tb_world_free(w);
  }
}

static void hold(const tbModel* m, tbData* d, const void* user) {
  const double* gain = user;
  for (int i = 0; i < m->nu; i++)
    d->ctrl[i] = gain[0] * sin(3 * d->time) - gain[1] * d->qvel[6 + i];
}

// A controller gives the bits of a program that sets the same controls between the halves of a
// step.
static void control_is_between_the_halves(void** state) {
  (void)state;
  static const double GAIN[2] = {0.3, 0.01};
  const tbCallbacks user = {.control = hold, .user = GAIN};
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld called = tb_world_scene("humanoid.xml", NULL),
            own = tb_world_scene("humanoid.xml", NULL);
    called.m->opt.law = own.m->opt.law = law;
    called.m->callbacks = &user;
    for (int i = 0; i < 150; i++) {
      tb_world_run(called, 1);
      assert_int_equal(tb_step1(own.m, own.d), TB_OK);
      hold(own.m, own.d, GAIN);
      assert_int_equal(tb_step2(own.m, own.d), TB_OK);
    }
    assert_memory_equal(called.d->qpos, own.d->qpos, sizeof(tbReal) * (size_t)own.m->nq);
    assert_memory_equal(called.d->qvel, own.d->qvel, sizeof(tbReal) * (size_t)own.m->nv);
    tb_world_free(called);
    tb_world_free(own);
  }
}

// ---- order and threads -------------------------------------------------------------------------

static char order[4096];
static void note(char c) {
  size_t n = strlen(order);
  if (n + 1 < sizeof order && (n == 0 || order[n - 1] != c)) order[n] = c;
}
static int note_filter(const tbModel* m, const tbData* d, int g1, int g2, const void* user) {
  (void)m, (void)d, (void)g1, (void)g2, (void)user;
  note('f');
  return 0;
}
static void note_contact(const tbModel* m, const tbData* d, tbContact* c, const void* user) {
  (void)m, (void)d, (void)c, (void)user;
  note('c');
}
static void note_passive(const tbModel* m, tbData* d, const void* user) {
  (void)m, (void)d, (void)user;
  note('p');
}
static void note_control(const tbModel* m, tbData* d, const void* user) {
  (void)m, (void)d, (void)user;
  note('u');
}

static void order_is_fixed(void** state) {
  (void)state;
  const tbCallbacks user = {.contact_filter = note_filter,
                            .contact = note_contact,
                            .passive = note_passive,
                            .control = note_control};
  tbWorld w = tb_world_text(CUBE);
  w.m->callbacks = &user;
  memset(order, 0, sizeof order);
  tb_world_run(w, 2);
  assert_string_equal(order, "fcpufcpu");
  memset(order, 0, sizeof order);
  assert_int_equal(tb_step1(w.m, w.d), TB_OK);
  assert_string_equal(order, "fcpu");
  assert_int_equal(tb_step2(w.m, w.d), TB_OK);
  assert_string_equal(order, "fcpu");
  memset(order, 0, sizeof order);
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_string_equal(order, "fcpu");
  // Inverse dynamics has a motion instead of a controller.
  tbReal qacc[6] = {0}, qfrc[6];
  memset(order, 0, sizeof order);
  assert_int_equal(tb_inverse(w.m, w.d, qacc, NULL, qfrc, NULL), TB_OK);
  assert_string_equal(order, "fcp");
  tb_world_free(w);
}

static tbReal note_dyn(const tbModel* m, const tbData* d, int i, const void* user) {
  (void)m, (void)d, (void)user;
  note((char)('0' + 3 * i));
  return 0;
}
static tbReal note_gain(const tbModel* m, const tbData* d, int i, const void* user) {
  (void)m, (void)d, (void)user;
  note((char)('1' + 3 * i));
  return 1;
}
static tbReal note_bias(const tbModel* m, const tbData* d, int i, const void* user) {
  (void)m, (void)d, (void)user;
  note((char)('2' + 3 * i));
  return 0;
}
static void note_sensor(const tbModel* m, const tbData* d, int s, tbReal* values,
                        const void* user) {
  (void)m, (void)d, (void)user;
  note((char)('s' + s));
  values[0] = s;
}

// Actuators follow the control, each with its three functions; sensors come last.
static void actuators_and_sensors_have_their_place(void** state) {
  (void)state;
  const tbCallbacks user = {.passive = note_passive,
                            .control = note_control,
                            .act_dyn = note_dyn,
                            .act_gain = note_gain,
                            .act_bias = note_bias,
                            .sensor = note_sensor};
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><body><joint name='j' type='slide'/><geom size='.1'/></body></worldbody>"
      "<actuator><general joint='j' dyntype='user' gaintype='user' biastype='user' actdim='1'/>"
      "<general joint='j' dyntype='user' gaintype='user' biastype='user' actdim='1'/></actuator>"
      "<sensor><user dim='1'/><user dim='1'/></sensor></mujoco>");
  w.m->callbacks = &user;
  memset(order, 0, sizeof order);
  tb_world_run(w, 1);
  assert_string_equal(order, "pu012345st");
  memset(order, 0, sizeof order);
  assert_int_equal(tb_step1(w.m, w.d), TB_OK);
  assert_string_equal(order, "pu");
  assert_int_equal(tb_step2(w.m, w.d), TB_OK);
  assert_string_equal(order, "pu012345st");
  tb_world_free(w);
}

// Pure callbacks: the same bits on any number of threads, and in a batch.
static void same_bits_on_any_threads(void** state) {
  (void)state;
  static const double MU[2] = {0.2, 0.7};
  const tbCallbacks user = {.contact = ice, .user = MU};
  enum { STEPS = 200 };
  tbWorld one = tb_world_scene("islands.xml", NULL), four = tb_world_scene("islands.xml", NULL);
  one.m->callbacks = four.m->callbacks = &user;
  four.m->opt.threads = 4;
  tb_world_run(one, STEPS);
  tb_world_run(four, STEPS);
  assert_memory_equal(one.d->qpos, four.d->qpos, sizeof(tbReal) * (size_t)one.m->nq);
  tb_world_free(four);

  tbWorld again = tb_world_scene("islands.xml", NULL);
  again.m->callbacks = &user;
  tbBatch* batch = tb_batch_new(again.m, 3, 2, 0, NULL);
  assert_int_equal(tb_batch_step(batch, STEPS), TB_OK);
  for (int i = 0; i < 3; i++) {
    assert_memory_equal(one.d->qpos, batch->qpos + i * one.m->nq,
                        sizeof(tbReal) * (size_t)one.m->nq);
  }
  // Taken away between calls: the batch follows its model.
  again.m->callbacks = NULL;
  assert_int_equal(tb_batch_reset(batch, NULL, -1), TB_OK);
  assert_int_equal(tb_batch_step(batch, STEPS), TB_OK);
  assert_memory_not_equal(one.d->qpos, batch->qpos, sizeof(tbReal) * (size_t)one.m->nq);
  tb_batch_free(batch);
  tb_world_free(again);
  tb_world_free(one);
}

// Every callback at once, under every law: machines with actuators and sensors of the user, which
// push boxes about.
static int filter_by_time(const tbModel* m, const tbData* d, int geom1, int geom2,
                          const void* user) {
  (void)m, (void)user;
  return (geom1 + geom2) % 5 == 0 && d->time > 0.1;
}
static void drag(const tbModel* m, tbData* d, const void* user) {
  (void)user;
  for (int i = 0; i < m->nv; i++) d->qfrc_passive[i] -= 0.05 * d->qvel[i];
}
static void drive(const tbModel* m, tbData* d, const void* user) {
  (void)user;
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = sin(20 * d->time + i);
  for (int b = 1; b < m->nbody; b++) d->xfrc_applied[6 * b] = 0.3 * cos(7 * d->time + b);
}
static tbReal slow(const tbModel* m, const tbData* d, int i, const void* user) {
  (void)m, (void)user;
  return (d->ctrl[i] - d->act[i]) / 0.02;
}
static tbReal weaker(const tbModel* m, const tbData* d, int i, const void* user) {
  (void)m, (void)user;
  return 5 - d->actuator_velocity[i];
}
static tbReal pull(const tbModel* m, const tbData* d, int i, const void* user) {
  (void)m, (void)user;
  return -2 * d->actuator_length[i];
}
static void speed(const tbModel* m, const tbData* d, int s, tbReal* values, const void* user) {
  (void)m, (void)user;
  values[0] = d->actuator_velocity[s];
  values[1] = d->ncon;
}

static void every_callback_has_the_same_bits_on_any_threads(void** state) {
  (void)state;
  static const double MU[2] = {0.2, 0.7};
  const tbCallbacks user = {filter_by_time, ice, drag, drive, slow, weaker, pull, speed, MU};
  enum { MACHINES = 8, STEPS = 120 };
  char xml[8192] = "<mujoco><option timestep='.002'/><worldbody><geom type='plane' size='9 9 .1'/>";
  char actuators[2048] = "", sensors[1024] = "", part[512];
  for (int i = 0; i < MACHINES; i++) {
    snprintf(part, sizeof part,
             "<body pos='%d 0 .1'><joint name='j%d' type='slide'/><geom type='box' "
             "size='.05 .05 .05' mass='1'/></body><body pos='%d.15 0 .101'><freejoint/><geom "
             "type='box' size='.1 .1 .1' mass='.5'/></body>",
             i, i, i);
    strcat(xml, part);
    snprintf(part, sizeof part,
             "<general joint='j%d' dyntype='user' gaintype='user' biastype='user' actdim='1'/>", i);
    strcat(actuators, part);
    strcat(sensors, "<user dim='2'/>");
  }
  strcat(strcat(strcat(xml, "</worldbody><actuator>"), actuators), "</actuator><sensor>");
  strcat(strcat(xml, sensors), "</sensor></mujoco>");
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld one = tb_world_text(xml);
    one.m->callbacks = &user;
    one.m->opt.law = law;
    tb_world_run(one, STEPS);
    size_t nq = sizeof(tbReal) * (size_t)one.m->nq, na = sizeof(tbReal) * (size_t)one.m->na;
    size_t ns = sizeof(tbReal) * (size_t)one.m->nsensordata;
    for (int threads = 2; threads <= 4; threads++) {
      tbWorld many = tb_world_text(xml);
      many.m->callbacks = &user;
      many.m->opt.law = law;
      many.m->opt.threads = threads;
      tb_world_run(many, STEPS);
      assert_memory_equal(one.d->qpos, many.d->qpos, nq);
      assert_memory_equal(one.d->act, many.d->act, na);
      assert_memory_equal(one.d->sensordata, many.d->sensordata, ns);
      many.m->opt.threads = 1;
      tbBatch* batch = tb_batch_new(many.m, 5, threads - 1, 0, NULL);
      assert_int_equal(tb_batch_step(batch, STEPS), TB_OK);
      for (int i = 0; i < 5; i++) {
        assert_memory_equal(one.d->qpos, batch->qpos + i * one.m->nq, nq);
        assert_memory_equal(one.d->sensordata, batch->sensordata + i * one.m->nsensordata, ns);
      }
      tb_batch_free(batch);
      tb_world_free(many);
    }
    tb_world_free(one);
  }
}

// ---- derivatives -------------------------------------------------------------------------------

static void spring(const tbModel* m, tbData* d, const void* user) {
  (void)m;
  d->qfrc_passive[0] -= *(const double*)user * d->qpos[0];
}

// A step with a force of the user is differentiated by differences, which contain it: a spring of
// the user has the derivative of the model's own, treated explicitly.
static void derivatives_contain_the_force(void** state) {
  (void)state;
  static const double K = 40;
  const tbCallbacks user = {.passive = spring, .user = &K};
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='.002' gravity='0 0 0'/><worldbody><body><joint type='slide'/>"
      "<geom size='.1' mass='2'/></body></worldbody></mujoco>");
  w.m->callbacks = &user;
  w.d->qpos[0] = 0.3;
  tbDerivatives* x = tb_derivatives_new(w.m);
  tbReal A[4];
  tbDerivativeInfo info;
  tbDerivativeSettings settings = tbDefaultDerivativeSettings();
  assert_int_equal(tb_step_linearize(w.m, w.d, &settings, x, &info), TB_OK);
  tb_derivatives_dense(x, A, NULL);
  assert_true(info.finite_differences);
  assert_near(A[2], -0.002 * K / 2, 1e-7);
  assert_near(A[3], 1, 1e-7);
  tb_derivatives_free(x);
  tb_world_free(w);
}

// ---- actuators and sensors ---------------------------------------------------------------------

// A motor whose force falls with its speed, with a first-order lag; and a sensor of its power.
static tbReal lag(const tbModel* m, const tbData* d, int i, const void* user) {
  (void)m, (void)user;
  return (d->ctrl[i] - d->act[i]) / 0.05;
}
static tbReal strength(const tbModel* m, const tbData* d, int i, const void* user) {
  (void)m, (void)user;
  return 2 - 0.1 * d->actuator_velocity[i];
}
static tbReal offset(const tbModel* m, const tbData* d, int i, const void* user) {
  (void)m, (void)d, (void)i;
  return *(const double*)user;
}
static void power(const tbModel* m, const tbData* d, int sensor, tbReal* values, const void* user) {
  (void)user;
  assert_int_equal(m->sensor_dim[sensor], 2);
  values[0] = d->actuator_force[0] * d->actuator_velocity[0];
  values[1] = d->qfrc_actuator[0];
}

static void actuators_and_sensors_of_the_user(void** state) {
  (void)state;
  static const double OFFSET = 0.3;
  const tbCallbacks user = {
      .act_dyn = lag, .act_gain = strength, .act_bias = offset, .sensor = power, .user = &OFFSET};
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='.001' gravity='0 0 0'/><worldbody><body><joint name='j' "
      "type='slide'/><geom size='.1' mass='2'/></body></worldbody><actuator><general joint='j' "
      "dyntype='user' gaintype='user' biastype='user' actdim='1'/></actuator><sensor><user dim='2' "
      "datatype='real' needstage='acc'/></sensor></mujoco>");
  w.m->callbacks = &user;
  w.d->ctrl[0] = 1;
  double act = 0, v = 0;
  for (int i = 0; i < 200; i++) {
    tb_world_run(w, 1);
    double force = (2 - 0.1 * v) * act + OFFSET;
    assert_near(w.d->actuator_force[0], force, 1e-12);
    assert_near(w.d->sensordata[0], force * v, 1e-12);
    assert_near(w.d->sensordata[1], force, 1e-12);
    v += 0.001 * force / 2;
    act += 0.001 * (1 - act) / 0.05;
    assert_near(w.d->qvel[0], v, 1e-12);
    assert_near(w.d->act[0], act, 1e-12);
  }
  // Without callbacks: no dynamics, gain 1, bias 0, and values that stay.
  w.m->callbacks = NULL;
  w.d->sensordata[1] = 7;
  tb_world_run(w, 1);
  assert_near(w.d->act[0], act, 0);
  assert_near(w.d->actuator_force[0], act, 1e-15);
  assert_near(w.d->sensordata[1], 7, 0);
  tb_world_free(w);
}

// ---- bad values --------------------------------------------------------------------------------

static void write_nan(const tbModel* m, tbData* d, const void* user) {
  (void)m, (void)user;
  d->qfrc_passive[2] = NAN;
}
static void control_nan(const tbModel* m, tbData* d, const void* user) {
  (void)m, (void)user;
  d->qfrc_applied[1] = INFINITY;
}
static void control_ctrl_nan(const tbModel* m, tbData* d, const void* user) {
  (void)m, (void)user;
  d->ctrl[0] = NAN;
}
static tbReal nan_of_actuator(const tbModel* m, const tbData* d, int i, const void* user) {
  (void)m, (void)d, (void)i, (void)user;
  return NAN;
}
static void nan_of_sensor(const tbModel* m, const tbData* d, int s, tbReal* values,
                          const void* user) {
  (void)m, (void)d, (void)s, (void)user;
  values[0] = NAN;
}

enum { BAD_CONTACTS = 14 };
static void bad_contact(const tbModel* m, const tbData* d, tbContact* c, const void* user) {
  (void)m, (void)d;
  switch (*(const int*)user) {
    case 0: c->friction[0] = NAN; break;
    case 1: c->friction[1] = -1; break;
    case 2: c->compliance = -1; break;
    case 3: c->restitution = NAN; break;
    case 4: c->damping = INFINITY; break;
    case 5: c->tangentcompliance = -1; break;
    case 6: c->tangentcompliance = NAN; break;
    case 7: c->restitution = 1.5; break;
    case 8: c->comfree[0] = NAN; break;
    case 9: c->comfree[1] = INFINITY; break;
    case 10: c->solref[0] = NAN; break;
    case 11: c->solreffriction[1] = NAN; break;
    case 12: c->solimp[2] = NAN; break;
    default: c->restitution = -0.1; break;
  }
}

// NaN from functions of actuators and sensors, and as a control.
static void bad_values_of_actuators_are_named(void** state) {
  (void)state;
  const tbCallbacks USERS[] = {{.control = control_ctrl_nan},
                               {.act_dyn = nan_of_actuator},
                               {.act_gain = nan_of_actuator},
                               {.act_bias = nan_of_actuator}};
  static const char* const SAYS[] = {"ctrl of actuator 0", "act 0", "force of actuator 0",
                                     "force of actuator 0"};
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><body><joint name='j' type='slide'/><geom size='.1'/></body></worldbody>"
      "<actuator><general name='motor' joint='j' dyntype='user' gaintype='user' biastype='user' "
      "actdim='1'/></actuator><sensor><user name='gauge' dim='1'/></sensor></mujoco>");
  w.d->ctrl[0] = 1;
  tb_world_run(w, 3);
  tbReal before = w.d->qpos[0];
  for (int i = 0; i < 4; i++) {
    w.m->callbacks = &USERS[i];
    w.d->ctrl[0] = 1;
    if (tb_step(w.m, w.d) == TB_OK) fail_msg("%d is accepted", i);
    if (!strstr(w.d->message, SAYS[i])) fail_msg("%s, expected %s", w.d->message, SAYS[i]);
    assert_near(w.d->qpos[0], before, 0);
  }
  // What a sensor says is its own matter: NaN may be "no reading".
  const tbCallbacks sensor = {.sensor = nan_of_sensor};
  w.m->callbacks = &sensor;
  w.d->ctrl[0] = 1;
  tb_world_run(w, 1);
  assert_true(isnan(w.d->sensordata[0]));
  tb_world_free(w);
}

static void bad_values_are_named(void** state) {
  (void)state;
  tbWorld w = tb_world_text(CUBE);
  tbReal before[7];
  memcpy(before, w.d->qpos, sizeof before);
  const tbCallbacks force = {.passive = write_nan}, control = {.control = control_nan};
  w.m->callbacks = &force;
  assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
  assert_non_null(strstr(w.d->message, "force of dof 2 (body 1 'cube') is not finite"));
  w.m->callbacks = &control;
  assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
  assert_non_null(strstr(w.d->message, "applied force of dof 1 (body 1 'cube') is not finite"));
  w.d->qfrc_applied[1] = 0;
  for (int kind = 0; kind < BAD_CONTACTS; kind++) {
    const tbCallbacks contact = {.contact = bad_contact, .user = &kind};
    w.m->callbacks = &contact;
    if (tb_step(w.m, w.d) != TB_ERROR_NUMERIC) fail_msg("bad contact %d is accepted", kind);
    assert_non_null(strstr(w.d->message, "contact of geoms 0 'floor' and 1 'box'"));
  }
  assert_memory_equal(before, w.d->qpos, sizeof before);
  w.m->callbacks = NULL;
  tb_world_run(w, 10);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_depends_on_place),
      cmocka_unit_test(parameters_are_those_of_a_file),
      cmocka_unit_test(a_contact_can_be_left_out),
      cmocka_unit_test(filter_opens_the_floor),
      cmocka_unit_test(passive_forces_add_up),
      cmocka_unit_test(control_is_between_the_halves),
      cmocka_unit_test(order_is_fixed),
      cmocka_unit_test(actuators_and_sensors_have_their_place),
      cmocka_unit_test(same_bits_on_any_threads),
      cmocka_unit_test(every_callback_has_the_same_bits_on_any_threads),
      cmocka_unit_test(derivatives_contain_the_force),
      cmocka_unit_test(actuators_and_sensors_of_the_user),
      cmocka_unit_test(bad_values_are_named),
      cmocka_unit_test(bad_values_of_actuators_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
