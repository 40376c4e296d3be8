// Derivatives of steps with all that is not a contact between rough bodies, against centred
// differences of whole steps: limits of ball joints and strings, polynomials of joints and tendons,
// dry friction, springs, gravity compensation, actuators and their clamps.
#include "common/inertial_differences.h"
#include "common/test.h"
#include "tribo/tribo.h"

#define HEAD "<mujoco><option timestep='0.005'/><worldbody>"
#define ARM                                                                                \
  "<site name='hook' pos='0.3 0.2 1.6'/>"                                                  \
  "<body pos='0 0 1'><joint name='a' type='hinge' axis='0.3 1 0.2' damping='0.2'/>"        \
  "<geom type='capsule' size='.03' fromto='0 0 0 .4 0 .1' mass='1.5'/><site name='mid' "   \
  "pos='.2 .05 .1'/><body pos='.4 0 .1'><joint name='b' type='hinge' axis='0 0.8 0.6'/>"   \
  "<geom type='capsule' size='.03' fromto='0 0 0 .3 0 0' mass='1'/><site name='tip' "      \
  "pos='.3 0 .02'/><body pos='.3 0 0'><joint name='c' type='slide' axis='1 0 0.1'/><geom " \
  "size='.04' mass='.4'/></body></body></body>"

typedef struct {
  const char *name, *xml;
  tbReal qpos[4], qvel[3];
  bool is_plain;  // nothing is differenced but by the integrator
} Scene;

static const Scene SCENES[] = {
    {"ball joint beyond its limit",
     HEAD
     "<body pos='0 0 1'><joint type='ball' limited='true' range='0 30' damping='0.1'/><geom "
     "type='capsule' size='.04' fromto='0 0 0 .3 .1 .1' mass='2'/></body></worldbody></mujoco>",
     {0.96, 0.2, 0.15, 0.1},
     {0.7, 0.5, -0.2},
     true},
    {"joints tied by a polynomial",
     HEAD ARM "</worldbody><equality><joint joint1='a' joint2='b' polycoef='0.02 0.6 0.7 -0.4 "
              "0.3'/></equality></mujoco>",
     {0.35, 0.4, 0.01},
     {0.4, -0.6, 0.2},
     true},
    {"tendons over joints tied by a polynomial",
     HEAD ARM
     "</worldbody><tendon><fixed name='f'><joint joint='a' coef='0.5'/><joint joint='c' "
     "coef='2'/></fixed><fixed name='g'><joint joint='b' coef='1'/><joint joint='c' "
     "coef='-1'/></fixed></tendon><equality><tendon tendon1='f' tendon2='g' polycoef='0 0.8 "
     "0.5 0.2 0'/></equality></mujoco>",
     {0.3, 0.4, 0.01},
     {0.4, -0.6, 0.2},
     true},
    {"string that is taut",
     HEAD ARM "</worldbody><tendon><spatial limited='true' range='0 0.6'><site site='hook'/><site "
              "site='tip'/></spatial></tendon></mujoco>",
     {0.3, 0.4, 0.01},
     {0.8, 0.5, 0.2},
     false},
    {"strings tied by a polynomial",
     HEAD ARM
     "</worldbody><tendon><spatial name='s'><site site='hook'/><site site='tip'/></spatial>"
     "<spatial name='t'><site site='hook'/><site site='mid'/></spatial></tendon><equality>"
     "<tendon tendon1='s' tendon2='t' polycoef='0.1 1.2 0.8 0 0'/></equality></mujoco>",
     {0.3, 0.4, 0.01},
     {0.4, -0.6, 0.2},
     false},
    {"string with dry friction",
     HEAD ARM
     "</worldbody><tendon><spatial frictionloss='0.6'><site site='hook'/><site site='tip'/>"
     "</spatial></tendon></mujoco>",
     {0.3, 0.4, 0.01},
     {0.8, 0.5, 0.2},
     false},
    {"string with a spring and a damper",
     HEAD ARM "</worldbody><tendon><spatial stiffness='40' damping='3'><site site='hook'/><site "
              "site='tip'/></spatial></tendon></mujoco>",
     {0.3, 0.4, 0.01},
     {0.8, 0.5, 0.2},
     false},
    {"joints with dry friction",
     HEAD "<body pos='0 0 1'><joint type='hinge' axis='0.3 1 0.2' frictionloss='0.4'/><geom "
          "type='capsule' size='.03' fromto='0 0 0 .4 0 .1' mass='1.5'/><body pos='.4 0 .1'><joint "
          "type='hinge' axis='0 0.8 0.6' frictionloss='30'/><geom type='capsule' size='.03' "
          "fromto='0 0 0 .3 0 0' mass='1'/><body pos='.3 0 0'><joint type='slide' axis='1 0 0.1' "
          "frictionloss='0.5'/><geom size='.04' mass='.4'/></body></body></body></worldbody>"
          "</mujoco>",
     {0.3, 0.4, 0.01},
     {0.8, 0, 0.2},
     true},
    {"ball joint with a spring and half of its weight",
     HEAD
     "<body pos='0 0 1' gravcomp='0.5'><joint type='ball' stiffness='4' damping='0.1'/><geom "
     "type='capsule' size='.04' fromto='0 0 0 .3 .1 .1' mass='2'/></body></worldbody></mujoco>",
     {0.9, 0.3, 0.2, 0.1},
     {0.7, 0.5, -0.2},
     true},
    {"actuators with activations",
     HEAD ARM "</worldbody><actuator><general joint='a' dyntype='integrator' gainprm='3' "
              "biastype='affine' biasprm='0 -2 -0.5'/><general joint='b' dyntype='filterexact' "
              "dynprm='0.03' gainprm='2'/><general joint='c' dyntype='filter' dynprm='0.02' "
              "gainprm='5'/><general joint='a' dyntype='integrator' actlimited='true' actrange='-1 "
              "0.2' gainprm='3'/></actuator></mujoco>",
     {0.3, 0.4, 0.01},
     {0.4, -0.6, 0.2},
     true},
    {"actuators at their clamps",
     HEAD
     "<body pos='0 0 1'><joint name='a' type='hinge' axis='0.3 1 0.2' actuatorfrclimited='true' "
     "actuatorfrcrange='-1 1'/><geom type='capsule' size='.03' fromto='0 0 0 .4 0 .1' "
     "mass='1.5'/><body pos='.4 0 .1' gravcomp='1'><joint name='b' type='hinge' axis='0 .8 .6' "
     "actuatorgravcomp='true'/><geom type='capsule' size='.03' fromto='0 0 0 .3 0 0' mass='1'/>"
     "</body></body></worldbody><actuator><position joint='a' kp='40' kv='2'/><general joint='b' "
     "gainprm='8' biastype='affine' biasprm='0 -3 -1' forcelimited='true' forcerange='-0.5 "
     "0.5'/><general joint='b' gainprm='2' biastype='affine' biasprm='0 -3 -1' "
     "ctrllimited='true' ctrlrange='-0.1 0.1'/></actuator></mujoco>",
     {0.3, 0.4},
     {0.4, -0.6},
     true},
    {"arm in a thick medium",
     "<mujoco><option timestep='0.005' density='900' viscosity='0.4' wind='0.3 0.1 "
     "0'/><worldbody>" ARM "</worldbody></mujoco>",
     {0.3, 0.4, 0.01},
     {0.8, 0.5, 0.2},
     false},
    {"ball on a floor without friction",
     "<mujoco><option timestep='0.005'/><worldbody><geom type='plane' size='1 1 1' "
     "condim='1'/><body "
     "pos='0 0 .1'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint "
     "type='hinge' axis='0 1 0'/><geom size='.1003' mass='1' pos='.01 0 0' condim='1'/></body>"
     "</worldbody></mujoco>",
     {0.1, 0, 0.3},
     {0.4, -0.01, 2},
     true},
};

static const struct {
  int law, integrator;
  const char* name;
} LAWS[] = {
    {TB_LAW_NCP, TB_INTEGRATOR_EULER, "ncp"},
    {TB_LAW_CCP, TB_INTEGRATOR_EULER, "ccp"},
    {TB_LAW_LCP, TB_INTEGRATOR_EULER, "lcp"},
    {TB_LAW_RAISIM, TB_INTEGRATOR_EULER, "raisim"},
    {TB_LAW_SOFT, TB_INTEGRATOR_EULER, "soft"},
    {TB_LAW_SOFT, TB_INTEGRATOR_IMPLICITFAST, "soft implicitfast"},
    {TB_LAW_COMFREE, TB_INTEGRATOR_EULER, "comfree"},
    {TB_LAW_VISCOELASTIC, TB_INTEGRATOR_EULER_EXPLICIT, "explicit"},
    {TB_LAW_VISCOELASTIC, TB_INTEGRATOR_RK4, "rk4"},
    {TB_LAW_VISCOELASTIC, TB_INTEGRATOR_EULER_IMPLICIT, "implicit Euler"},
    {TB_LAW_VISCOELASTIC, TB_INTEGRATOR_EXPO, "expo"},
};

// The largest difference over the largest entry.
static tbReal distance(const tbReal* found, const tbReal* expected, int n) {
  tbReal scale = 1, worst = 0;
  for (int i = 0; i < n; i++) scale = fmax(scale, fabs(expected[i]));
  for (int i = 0; i < n; i++) worst = fmax(worst, fabs(found[i] - expected[i]) / scale);
  return worst;
}

// A and B against differences, and the transpose of A against A. Returns 1 where the step was not
// differentiable.
static int check(const tbModel* m, tbData* d, const char* what, bool is_plain) {
  enum { MOST = 12 };
  int nx = 2 * m->nv + m->na, nu = m->nu;
  tbReal A[MOST * MOST], FA[MOST * MOST], B[MOST * MOST], FB[MOST * MOST], y[MOST], back[MOST];
  tbDerivatives* x = tb_derivatives_new(m);
  tbDerivativeInfo info;
  assert_true(nx <= MOST);
  assert_int_equal(tb_step_linearize(m, d, NULL, x, &info), TB_OK);
  tb_derivatives_dense(x, A, B);
  assert_int_equal(tb_step_differences(m, d, 1e-6, 1, FA, FB), TB_OK);
  tbReal error = fmax(distance(A, FA, nx * nx), distance(B, FB, nx * nu));
  if (!info.differentiable) print_message("%s: not differentiable (%s)\n", what, info.reason);
  if (info.differentiable && !(error < 1e-5)) fail_msg("%s: off by %g", what, error);
  // Under comfree gains that an island has softened are differenced.
  if (is_plain && m->opt.law != TB_LAW_COMFREE) assert_false(info.finite_differences);
  tbRng rng = {3};
  for (int i = 0; i < nx; i++) y[i] = tb_rng_normal(&rng);
  tb_derivatives_apply_transposed(x, y, back, NULL, NULL, NULL);
  for (int k = 0; k < nx; k++) {
    tbReal sum = 0;
    for (int i = 0; i < nx; i++) sum += A[i * nx + k] * y[i];
    assert_near(back[k], sum, 1e-8);
  }
  tb_derivatives_free(x);
  return !info.differentiable;
}

// By the inertial parameters of the last body.
static void check_inertial(const tbModel* m, tbData* d, const char* what) {
  enum { MOST = 12 };
  int nx = 2 * m->nv + m->na, body = m->nbody - 1, count = TB_NINERTIAL * 2 * m->nv;
  tbReal found[MOST * TB_NINERTIAL], expected[MOST * TB_NINERTIAL], error = INFINITY;
  tbDerivatives* x = tb_derivatives_new(m);
  assert_true(nx <= MOST);
  assert_int_equal(tb_step_linearize(m, d, NULL, x, NULL), TB_OK);
  assert_int_equal(tb_derivatives_inertial(x, m, d, body, found), TB_OK);
  size_t size = tb_snapshot_size(m, d);
  void* start = malloc(size);
  assert_int_equal(tb_snapshot_save(m, d, start, size), TB_OK);
  // Large increments cross kinks, small ones show the solver's tolerance.
  for (tbReal share = 1e-5; share < 1e-3 && !(error < 1e-5); share *= 10) {
    tb_test_inertial_differences(m, body, share, start, size, expected);
    error = fmin(error, distance(found, expected, count));
  }
  if (!(error < 1e-5)) fail_msg("%s: off by %g by inertia", what, error);
  free(start);
  tb_derivatives_free(x);
}

static void all_laws_know_all_forces(void** state) {
  (void)state;
  int kinks = 0;
  for (size_t k = 0; k < sizeof SCENES / sizeof *SCENES; k++) {
    const Scene* s = &SCENES[k];
    tbError error;
    tbModel* m = tb_load_string(s->xml, NULL, NULL, &error);
    if (!m) fail_msg("%s: %s", s->name, error.message);
    m->opt.solve_tolerance = 1e-13;
    m->opt.warmstart = 0;
    m->opt.equality_softness = 0.1;
    for (size_t law = 0; law < sizeof LAWS / sizeof *LAWS; law++) {
      m->opt.law = LAWS[law].law;
      m->opt.integrator = LAWS[law].integrator;
      bool is_explicit = LAWS[law].integrator == TB_INTEGRATOR_EULER_EXPLICIT ||
                         LAWS[law].integrator == TB_INTEGRATOR_RK4;
      m->opt.timestep = is_explicit ? 1e-4 : 0.005;
      tbData* d = tb_data_new(m);
      memcpy(d->qpos, s->qpos, sizeof(tbReal) * (size_t)m->nq);
      memcpy(d->qvel, s->qvel, sizeof(tbReal) * (size_t)m->nv);
      tb_normalize_quat(m, d->qpos);
      for (int i = 0; i < m->nu; i++) d->ctrl[i] = 0.6;
      for (int i = 0; i < m->na; i++) d->act[i] = 0.2;
      char what[128];
      snprintf(what, sizeof what, "%s under %s", s->name, LAWS[law].name);
      kinks += check(m, d, what, s->is_plain);
      check_inertial(m, d, what);
      tb_data_free(d);
    }
    tb_model_free(m);
  }
  assert_int_equal(kinks, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_laws_know_all_forces)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
