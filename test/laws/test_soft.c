// The soft law by Newton and by conjugate gradients: one minimum, found by both in every step. Its
// integrators on what some of them only take in part.
#include "common/worlds.h"

static void agree(const char* scene, int cone, double impratio, int steps) {
  tbWorld w = tb_world_scene(scene, NULL);
  tbData* other = tb_data_new(w.m);
  w.m->opt.law = TB_LAW_SOFT;
  w.m->opt.cone = cone;
  w.m->opt.impratio = impratio;
  if (w.m->nkey) tb_reset_keyframe(w.m, w.d, 0);
  int n = tb_state_size(w.m), iterations = 0, contacts = 0;
  tbReal* state = malloc(sizeof(tbReal) * (size_t)n);
  for (int i = 0; i < steps; i++) {
    for (int u = 0; u < w.m->nu; u++) w.d->ctrl[u] += 0.02 * sin(0.1 * i + u);
    memcpy(other->ctrl, w.d->ctrl, sizeof(tbReal) * (size_t)w.m->nu);
    tb_state_get(w.m, w.d, state);
    tb_state_set(w.m, other, state);
    w.m->opt.mjsolver = TB_MJSOLVER_CG;
    assert_int_equal(tb_step(w.m, other), TB_OK);
    assert_int_equal(other->solve.status, TB_SOLVE_CONVERGED);
    iterations += other->solve.iterations;
    w.m->opt.mjsolver = TB_MJSOLVER_NEWTON;
    assert_int_equal(tb_step(w.m, w.d), TB_OK);
    contacts += w.d->ncon;
    double largest = 1;
    for (int k = 0; k < w.m->nv; k++) largest = fmax(largest, fabs(w.d->qacc[k]));
    for (int k = 0; k < w.m->nv; k++) {
      assert_true(fabs(w.d->qacc[k] - other->qacc[k]) < 1e-5 * largest);
    }
  }
  print_message("%s: %.1f contacts, %.1f iterations\n", scene, (double)contacts / steps,
                (double)iterations / steps);
  assert_true(contacts > steps);
  // with M alone as preconditioner the hand takes 42
  assert_true(iterations < 35 * steps);
  free(state);
  tb_data_free(other);
  tb_world_free(w);
}

static void conjugate_gradients_agree_with_newton(void** state) {
  (void)state;
  for (int cone = 0; cone < 2; cone++) {
    agree("quadruped.xml", cone, cone ? 100 : 1, 150);
    agree("hand.xml", cone, cone ? 10 : 1, 150);
  }
}

// Two wheels that turn about their own centres of mass, tied at the rim: by MuJoCo's weights the
// tie has no compliance at all (R = 1e-15), and next to that M is rounding. One wheel's torque
// turns both, w = tau t / (2 I), in a few iterations.
static void wheels_without_weight_turn_together(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option gravity='0 0 0'/><default><geom contype='0' conaffinity='0'/></default>"
      "<worldbody><body name='a'><joint axis='0 1 0'/><geom type='cylinder' size='.1 .02' "
      "euler='90 0 0' mass='1'/></body><body name='b' pos='0 .05 0'><joint axis='0 1 0'/><geom "
      "type='cylinder' size='.1 .02' euler='90 0 0' "
      "mass='1'/></body></worldbody><equality><connect "
      "body1='a' body2='b' anchor='.08 .02 0'/></equality></mujoco>");
  w.m->opt.law = TB_LAW_SOFT;
  w.d->qfrc_applied[0] = 0.01;
  const double inertia = 0.5 * 0.1 * 0.1;
  for (int i = 1; i <= 500; i++) {
    tb_world_run(w, 1);
    assert_int_equal(w.d->solve.status, TB_SOLVE_CONVERGED);
    assert_true(w.d->solve.iterations <= 12);
    double speed = 0.01 * i * w.m->opt.timestep / (2 * inertia);
    assert_near(w.d->qvel[0], speed, 1e-9);
    assert_near(w.d->qvel[1], speed, 1e-9);
    assert_near(w.d->qfrc_constraint[1], 0.005, 1e-9);
  }
  tb_world_free(w);
}

// Two links and a string with inertia along it: `implicit`, whose matrix has nothing of the
// string's bias, gets to where Runge-Kutta does, with an error of first order.
static void implicit_steps_with_tendon_armature(void** state) {
  (void)state;
  double off[2], end[3];
  for (int k = 0; k < 3; k++) {
    tbWorld w = tb_world_text(
        "<mujoco><worldbody><site name='w' pos='1 0 0'/><body><joint axis='0 1 0'/><geom size='.1' "
        "pos='0 0 .2'/><body pos='0 0 .5'><joint axis='0 1 0'/><geom size='.1' pos='0 0 .2'/><site "
        "name='s' pos='0 .1 .5'/></body></body></worldbody><tendon><spatial armature='3'><site "
        "site='w'/><site site='s'/></spatial></tendon></mujoco>");
    w.m->opt.law = TB_LAW_SOFT;
    w.m->opt.integrator = k == 0 ? TB_INTEGRATOR_RK4 : TB_INTEGRATOR_IMPLICIT;
    w.m->opt.timestep = k == 2 ? 5e-4 : 1e-3;
    w.d->qvel[0] = 3;
    tb_world_run(w, k == 2 ? 400 : 200);
    end[k] = w.d->qpos[0];
    tb_world_free(w);
  }
  for (int k = 0; k < 2; k++) off[k] = end[k + 1] - end[0];
  assert_true(fabs(off[0]) < 5e-3 && fabs(off[0]) > 1e-6);
  assert_near(off[1] / off[0], 0.5, 0.05);
}

// Calls of the medium's force, where the linker can put a counter between.
static int evaluations;
#ifdef TB_WRAPS_FLUID
void __real_tb_fluid(const tbModel* model, tbData* data);
void __wrap_tb_fluid(const tbModel* model, tbData* data);
void __wrap_tb_fluid(const tbModel* model, tbData* data) {
  evaluations++;
  __real_tb_fluid(model, data);
}
#endif

static tbWorld plates(int count) {
  char xml[512];
  snprintf(xml, sizeof xml,
           "<mujoco><option density='1.2' viscosity='1.8e-5' integrator='implicitfast'/><worldbody>"
           "<replicate count='%d' offset='1 0 0'><body><freejoint/><geom type='box' mass='.002' "
           "size='.05 .03 .0003' fluidshape='ellipsoid'/></body></replicate></worldbody></mujoco>",
           count);
  tbWorld w = tb_world_text(xml);
  w.m->opt.law = TB_LAW_SOFT;
  for (int i = 0; i < w.m->nv; i++) w.d->qvel[i] = 3 * sin(1 + i);
  return w;
}

// Plates that fall through air, each its own way: `implicitfast` moves every one as if it were
// alone, and differentiates the medium's forces on all by as many calls as on one.
static void plates_fall_as_if_alone(void** state) {
  (void)state;
  enum { COUNT = 20 };
  tbWorld all = plates(COUNT), again = tb_world_again(all);
  memcpy(again.d->qvel, all.d->qvel, sizeof(tbReal) * (size_t)all.m->nv);
  evaluations = 0;
  tb_world_run(all, 1);
  int together = evaluations;
  for (int k = 0; k < COUNT; k++) {
    tbWorld one = plates(1);
    memcpy(one.d->qpos, again.d->qpos + 7 * k, 7 * sizeof(tbReal));
    memcpy(one.d->qvel, again.d->qvel + 6 * k, 6 * sizeof(tbReal));
    evaluations = 0;
    tb_world_run(one, 1);
    assert_int_equal(evaluations, together);
    for (int i = 0; i < 6; i++) assert_near(one.d->qvel[i], all.d->qvel[6 * k + i], 1e-9);
    tb_world_free(one);
  }
  tb_data_free(again.d);
  tb_world_free(all);
}

// Both ends of a string's range push at once, within a margin that is wider, and nearly cancel: the
// remaining gradient is their rounding, which no iteration reduces.
static void forces_that_cancel_converge(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='.001'/><worldbody><site name='1'/><body pos='1 0 0'>"
      "<site name='2'/><freejoint/><geom size='.01'/></body></worldbody><tendon><spatial "
      "range='.99 1.01' margin='.1'><site site='1'/><site site='2'/></spatial></tendon></mujoco>");
  w.m->opt.law = TB_LAW_SOFT;
  for (int i = 0; i < 20; i++) {
    tb_world_run_solved(w, 1);
    assert_true(w.d->solve.iterations < 10);
  }
  tb_world_free(w);
}

// A linkage at rest in its plane, whose pin has a third row that nothing can move along: all forces
// are rounding, and relative to them so is the gradient.
static void linkages_at_rest_converge(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><option timestep='5e-4'/><default><joint axis='0 0 1'/><geom type='capsule' "
      "size='.05' mass='.6'/></default><worldbody><body pos='-2 0 .5'><joint/>"
      "<geom fromto='0 0 0 1.4 1.4 0'/><body name='c' pos='1.4 1.4 0'><joint/>"
      "<geom fromto='0 0 0 2 -.5 0'/></body></body><body name='r' pos='2 0 .5'><joint/>"
      "<geom fromto='0 0 0 -1.4 1.4 0'/></body></worldbody><equality>"
      "<connect body1='c' body2='r' anchor='2 -.5 0'/></equality></mujoco>");
  w.m->opt.law = TB_LAW_SOFT;
  tb_world_run_solved(w, 4000);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(conjugate_gradients_agree_with_newton),
                                     cmocka_unit_test(wheels_without_weight_turn_together),
                                     cmocka_unit_test(implicit_steps_with_tendon_armature),
                                     cmocka_unit_test(plates_fall_as_if_alone),
                                     cmocka_unit_test(forces_that_cancel_converge),
                                     cmocka_unit_test(linkages_at_rest_converge)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
