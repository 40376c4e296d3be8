// Springs and servos that a step cannot resolve (forces/stiff_springs.h).
#include "common/worlds.h"
#include "tribo/derivatives.h"

// A link of 1 kg on a hinge.
static tbWorld link_with(const char* joint, const char* actuators, const char* gravity) {
  char xml[1024];
  snprintf(xml, sizeof xml,
           "<mujoco><option gravity='%s'/><worldbody><body name='link'><joint name='j' axis='0 1 "
           "0' %s/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.03' mass='1' contype='0' "
           "conaffinity='0'/></body></worldbody><actuator>%s</actuator></mujoco>",
           gravity, joint, actuators);
  return tb_world_text(xml);
}

static bool is_rigid_or_comfree(int law) {
  return law != TB_LAW_SOFT && law != TB_LAW_VISCOELASTIC;
}

// No gain is too high: an undamped servo swings about its target and never farther than where it
// started (a half more, as a symplectic step's energy swings), at any step.
static void servos_never_run_away(void** state) {
  (void)state;
  static const double GAINS[] = {1e2, 1e4, 1e7, 1e10}, STEPS[] = {0.001, 0.005, 0.02};
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    if (!is_rigid_or_comfree(law)) continue;
    for (int k = 0; k < 12; k++) {
      char servo[64];
      snprintf(servo, sizeof servo, "<position joint='j' kp='%g'/>", GAINS[k % 4]);
      tbWorld w = link_with("", servo, "0 0 0");
      w.m->opt.law = law;
      w.m->opt.timestep = STEPS[k / 4];
      w.d->ctrl[0] = 0.1;
      double farthest = 0;
      for (int i = 0; i < 5000; i++) {
        tb_world_run(w, 1);
        farthest = fmax(farthest, fabs(w.d->qpos[0] - 0.1));
      }
      assert_true(farthest < 0.15);
      assert_true(farthest > 0.05);
      tb_world_free(w);
    }
  }
}

// Damped, it comes to rest where the spring bears the weight: inertia is all that was added.
static void what_springs_hold_stays(void** state) {
  (void)state;
  static const double GAINS[] = {1e3, 1e5, 1e7};
  for (int k = 0; k < 6; k++) {
    char text[64];
    snprintf(text, sizeof text,
             k < 3 ? "stiffness='%g' damping='5'" : "<position joint='j' kp='%g' kv='5'/>",
             GAINS[k % 3]);
    tbWorld w = link_with(k < 3 ? text : "", k < 3 ? "" : text, "0 0 -9.81");
    w.m->opt.timestep = 0.005;
    // damping within a step falls as h^2 k grows
    tb_world_run(w, 400000);
    double sag = w.d->qpos[0], moment = 9.81 * 0.15 * cos(sag);
    assert_near(sag * GAINS[k % 3], moment, 1e-6);
    tb_world_free(w);
  }
}

// Below h^2 k = I nothing is added: the recursion of semi-implicit Euler, to rounding.
static void resolved_springs_are_left_alone(void** state) {
  (void)state;
  tbWorld w = link_with("stiffness='20' armature='.1'", "", "0 0 0");
  tb_world_run(w, 1);
  const double inertia = w.d->qM[0], h = w.m->opt.timestep = 0.9 * sqrt(inertia / 20);
  double q = w.d->qpos[0] = 0.2, v = w.d->qvel[0] = 0;
  for (int i = 0; i < 100; i++) {
    v -= h * 20 * q / inertia;
    q += h * v;
    tb_world_run(w, 1);
    assert_near(w.d->qpos[0], q, 1e-11);
  }
  tb_world_free(w);
}

// Two otherwise free bodies with a stiff spring between them: its forces on both are opposite, so
// the base's rows of M a + b stay zero. The bodies rotate little, so b is that of the start.
static void momentum_is_kept(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option gravity='0 0 0' timestep='.01'/><worldbody><body><freejoint/><geom "
      "type='box' size='.2 .1 .1' mass='2'/><body pos='.3 0 0'><joint axis='0 1 0' "
      "stiffness='1e5' springref='.002'/><geom type='box' size='.1 .05 .05' pos='.1 0 0' "
      "mass='.5'/></body></body></worldbody></mujoco>");
  double fastest = 0;
  for (int i = 0; i < 200; i++) {
    tb_world_run(w, 1);
    assert_int_equal(tb_forward(w.m, w.d), TB_OK);
    tbReal rate[7], largest = 0;
    tb_mul_m(w.m, w.d, rate, w.d->qacc);
    for (int k = 0; k < 7; k++) largest = fmax(largest, fabs(rate[k]));
    for (int k = 0; k < 6; k++) assert_near(rate[k] + w.d->qfrc_bias[k], 0, 1e-10 * largest);
    fastest = fmax(fastest, fabs(w.d->qvel[6]));
  }
  // It oscillates within the energy of the spring at the start.
  assert_true(fastest > 2e-4 && fastest < 2e-2);
  tb_world_free(w);
}

// ---- other functions that use the inertia -------------------------------------------------------

// A leg on the ground with stiff springs of every kind: of a joint, of a tendon over two of them,
// servos on a joint and a tendon; and, if `turning`, those whose arms change with the pose.
static tbWorld leg(bool turning) {
  static const char* XML =
      "<mujoco><option timestep='.01'/><worldbody><geom type='plane' size='5 5 .1'/><site "
      "name='far' pos='1 0 .3'/><body pos='0 0 .605'><joint type='slide' axis='0 0 1'/><joint "
      "type='slide' axis='1 0 0'/><geom size='.1' mass='3'/><body name='thigh'><joint name='hip' "
      "axis='0 1 0' stiffness='300' springref='25' ref='20'/><geom type='capsule' fromto='0 0 0 .1 "
      "0 -.28' size='.02' mass='.3'/><body pos='.1 0 -.28'><joint name='knee' axis='0 1 0' "
      "damping='.02'/><site name='knee'/><geom type='capsule' fromto='0 0 0 -.1 0 -.28' size='.02' "
      "mass='.2'/><body pos='-.1 0 -.28'><joint name='ankle' axis='0 1 0'/><geom size='.03' "
      "pos='.01 0 -.02' mass='.05'/></body></body></body></body></worldbody><tendon><fixed "
      "name='t' "
      "stiffness='500' springlength='.1'><joint joint='hip' coef='.5'/><joint joint='knee' "
      "coef='1'/></fixed>%s</tendon><actuator><position joint='knee' kp='400'/><position "
      "tendon='t' kp='200' kv='.1'/><position %s/></actuator></mujoco>";
  char xml[4096];
  snprintf(xml, sizeof xml, XML,
           turning ? "<spatial name='s' stiffness='5e4' springlength='.8'><site site='far'/><site "
                     "site='knee'/></spatial>"
                   : "",
           turning ? "tendon='s' kp='4e4' kv='10'" : "joint='ankle' kp='100' gear='2'");
  tbWorld w = tb_world_text(xml);
  for (int i = 0; i < w.m->nu; i++) w.d->ctrl[i] = 0.1 * (i + 1);
  if (turning) w.d->ctrl[2] = 0.9;
  for (int i = 0; i < w.m->nv; i++) w.d->qvel[i] = 0.3 * ((i * 5) % 7 - 3);
  return w;
}

static void derivatives_know_of_it(void** state) {
  (void)state;
  enum { NX = 10, NU = 3 };
  for (int k = 0; k < 2 * TB_STEP_LAW_COUNT; k++) {
    int law = k / 2;
    if (!is_rigid_or_comfree(law)) continue;
    tbWorld w = leg(k % 2);
    w.m->opt.law = law;
    w.m->opt.solve_tolerance = 1e-12;
    tb_world_run(w, 3);
    tbReal A[NX * NX], B[NX * NU], FA[NX * NX], FB[NX * NU];
    tbDerivativeInfo info;
    tbDerivatives* x = tb_derivatives_new(w.m);
    assert_int_equal(2 * w.m->nv + w.m->na, NX);
    assert_int_equal(tb_step_linearize(w.m, w.d, NULL, x, &info), TB_OK);
    assert_true(info.differentiable);
    tb_derivatives_dense(x, A, B);
    assert_int_equal(tb_step_differences(w.m, w.d, 1e-6, 1, FA, FB), TB_OK);
    for (int i = 0; i < NX * NX; i++) assert_near(A[i], FA[i], 1e-5 * fmax(1, fabs(FA[i])));
    for (int i = 0; i < NX * NU; i++) assert_near(B[i], FB[i], 1e-5 * fmax(1, fabs(FB[i])));
    tb_derivatives_free(x);
    tb_world_free(w);
  }
}

static void inverse_gives_the_force_back(void** state) {
  (void)state;
  for (int law = TB_LAW_NCP; law <= TB_LAW_CCP; law++) {
    tbWorld w = leg(false);
    w.m->opt.law = law;
    // In the air: the friction of a foot that stands bears any force.
    w.d->qpos[0] = 1;
    tb_world_run(w, 3);
    tbReal qacc[8], qfrc[8];
    for (int i = 0; i < w.m->nv; i++) w.d->qfrc_applied[i] = 0.1 * ((i * 3) % 5 - 2);
    assert_int_equal(tb_forward(w.m, w.d), TB_OK);
    memcpy(qacc, w.d->qacc, sizeof(tbReal) * (size_t)w.m->nv);
    tbInverseSettings settings = tbDefaultInverseSettings();
    settings.keep_base = 1;
    assert_int_equal(tb_inverse(w.m, w.d, qacc, &settings, qfrc, NULL), TB_OK);
    for (int i = 0; i < w.m->nv; i++) {
      assert_near(qfrc[i], w.d->qfrc_applied[i] + w.d->qfrc_actuator[i], 1e-9);
    }
    tb_world_free(w);
  }
}

static void the_problem_is_that_of_the_step(void** state) {
  (void)state;
  tbWorld w = leg(false);
  tb_world_run(w, 3);
  tbError error;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_true(w.d->ncon > 0 && w.d->contact[0].row >= 0);
  tbReal lambda[3], sigma[3];
  for (int r = 0; r < 3; r++) lambda[r] = w.d->contact[0].force[r] * w.m->opt.timestep;
  assert_true(lambda[0] > 0);
  tbProblem* p = tb_step_problem(w.m, w.d, &error);
  if (!p) fail_msg("%s", error.message);
  assert_int_equal(p->n, 3);
  assert_int_equal(tb_problem_velocity(p, lambda, sigma, &error), TB_OK);
  assert_true(tb_residual(p, TB_LAW_NCP, lambda, sigma).relative <= 1e-6);
  tb_problem_free(p);
  tb_world_free(w);
}

// A chain of light links in syrup, whose drag would stop each of them many times over within a
// step: no velocity is reversed, and a falling body reaches its terminal velocity to within g h.
static void syrup_stops_what_moves(void** state) {
  (void)state;
  static const double STEPS[] = {0.001, 0.005, 0.02};
  for (int k = 0; k < 6 * (TB_LAW_COMFREE + 1); k++) {
    int law = k / 6;
    if (law == TB_LAW_SOFT) continue;
    char xml[1024];
    snprintf(xml, sizeof xml,
             "<mujoco><option viscosity='1' density='%d'/><default><geom contype='0' "
             "conaffinity='0' %s/></default><worldbody><body><freejoint/><geom type='box' "
             "size='.05 .01 .002' mass='1e-4'/><body pos='.05 0 0'><joint type='ball'/><geom "
             "size='.01' pos='.03 0 0' mass='1e-4'/><body pos='.06 0 0'><joint axis='0 1 0'/><geom "
             "type='capsule' size='.01' fromto='0 0 0 .05 0 0' mass='.05'/></body></body></body>"
             "<body name='ball' pos='1 0 0'><freejoint/><geom size='.01' mass='1e-4'/></body>"
             "</worldbody></mujoco>",
             k % 2 ? 0 : 900, k % 2 ? "fluidshape='ellipsoid'" : "");
    tbWorld w = tb_world_text(xml);
    tbReal h = w.m->opt.timestep = STEPS[k % 6 / 2];
    w.m->opt.law = law;
    for (int i = 0; i < 10; i++) w.d->qvel[i] = 3 * sin(2 * i + 1);
    double start = tb_world_energy(w);
    assert_true(tb_world_run_energy(w, tb_world_steps(w, 0.5)) < start + 1e-3);
    for (int i = 0; i < w.m->nv; i++) assert_true(fabs(w.d->qvel[i]) < 10);
    const double weight = 1e-4 * 9.81, speed = weight / (3 * 3.14159265358979323846 * 0.02);
    assert_true(fabs(w.d->qvel[w.m->nv - 4] + speed) < 9.81 * h);
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(syrup_stops_what_moves),
      cmocka_unit_test(servos_never_run_away),
      cmocka_unit_test(what_springs_hold_stays),
      cmocka_unit_test(resolved_springs_are_left_alone),
      cmocka_unit_test(momentum_is_kept),
      cmocka_unit_test(derivatives_know_of_it),
      cmocka_unit_test(inverse_gives_the_force_back),
      cmocka_unit_test(the_problem_is_that_of_the_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
