// The viscoelastic law: closed forms, orders of its integrators, energy, anchors.
#include "common/worlds.h"

static const double G = 9.81;

static const int INTEGRATORS[] = {TB_INTEGRATOR_EULER_EXPLICIT, TB_INTEGRATOR_RK4,
                                  TB_INTEGRATOR_EULER_IMPLICIT, TB_INTEGRATOR_EXPO,
                                  TB_INTEGRATOR_EXPO_MIDPOINT};
enum { NINTEGRATOR = sizeof INTEGRATORS / sizeof INTEGRATORS[0] };

static tbWorld load(const char* xml) {
  tbWorld w = tb_world_text(xml);
  w.m->opt.law = TB_LAW_VISCOELASTIC;
  w.m->opt.integrator = TB_INTEGRATOR_EXPO;
  w.m->opt.expm_accuracy = 0;
  return w;
}

// A ball on a floor. Its point mass is 1 kg; it can only translate.
static const char BALL[] =
    "<mujoco><option timestep='0.001'/><worldbody>"
    "<geom type='plane' size='5 5 0.1' friction='0.3 0 0'/>"
    "<body pos='0 0 0.1'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"
    "<joint type='slide' axis='0 0 1'/><geom type='sphere' size='0.1' mass='1' friction='0.3 0 "
    "0'/></body></worldbody></mujoco>";

// m z'' = -k z - b z' - m g from z, z': underdamped.
static void floor_closed_form(double k, double b, double z0, double v0, double t, double* z,
                              double* v) {
  double rest = -G / k, c = b / 2, w = sqrt(k - c * c), x = z0 - rest, y = (v0 + c * x) / w;
  double e = exp(-c * t), cw = cos(w * t), sw = sin(w * t);
  *z = rest + e * (x * cw + y * sw);
  *v = e * ((y * w - c * x) * cw - (x * w + c * y) * sw);
}

// Whatever the step, expo is on the closed form of a mass on a spring-damper floor: to 1e-10.
static void mass_on_floor_is_exact_for_any_step(void** state) {
  (void)state;
  static const double STEPS[] = {1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1};
  for (int bilateral = 0; bilateral < 2; bilateral++) {
    for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++) {
      tbWorld w = load(BALL);
      double k = 1e5, b = bilateral ? 300 : 20, z0 = bilateral ? -1e-10 : -1.5e-4;
      double v0 = bilateral ? -1 : 0, z, v;
      w.m->opt.contact_stiffness = k;
      w.m->opt.contact_damping = b;
      w.m->opt.contact_bilateral = bilateral;
      w.m->opt.contact_margin = 0.1;
      w.m->opt.timestep = STEPS[i];
      w.d->qpos[2] = z0;
      w.d->qvel[2] = v0;
      int steps = STEPS[i] < 1e-3 ? 100 : 10;
      for (int s = 1; s <= steps; s++) {
        tb_world_run(w, 1);
        floor_closed_form(k, b, z0, v0, s * STEPS[i], &z, &v);
        assert_near(w.d->qpos[2], z, 1e-10);
        assert_near(w.d->qvel[2], v, 1e-10);
      }
      tb_world_free(w);
    }
  }
}

// With normal anchors the spring starts where the contact is first seen: no force but the damper's
// there, and the closed form about that depth from then on, whatever the step.
static void normal_anchor_starts_where_it_is_first_seen(void** state) {
  (void)state;
  static const double STEPS[] = {1e-5, 1e-4, 1e-3, 2e-3};
  for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++) {
    tbWorld w = load(BALL);
    double k = 1e5, b = 20, z0 = -0.02, v0 = -1, z, v;
    w.m->opt.contact_stiffness = k;
    w.m->opt.contact_damping = b;
    w.m->opt.contact_anchor_normal = 1;
    w.m->opt.timestep = STEPS[i];
    w.d->qpos[2] = z0;
    w.d->qvel[2] = v0;
    // Until it swings back, where the floor does not hold it.
    int steps = (int)(0.008 / STEPS[i] + 0.5);
    for (int s = 1; s <= steps; s++) {
      tb_world_run(w, 1);
      floor_closed_form(k, b, 0, v0, s * STEPS[i], &z, &v);
      assert_near(w.d->qpos[2], z0 + z, 1e-10);
      assert_near(w.d->qvel[2], v, 1e-9);
    }
    // Off the floor the anchor is gone; the next contact has its own.
    w.d->qpos[2] = 0.01;
    w.d->qvel[2] = 0;
    tb_world_run(w, 1);
    w.d->qpos[2] = -0.001;
    assert_int_equal(tb_forward(w.m, w.d), TB_OK);
    assert_true(w.d->contact[0].force[0] < 100);
    w.m->opt.contact_anchor_normal = 0;
    w.m->opt.integrator = TB_INTEGRATOR_EULER_EXPLICIT;
    assert_int_equal(tb_forward(w.m, w.d), TB_OK);
    assert_near(w.d->contact[0].force[0], 100 - b * w.d->qvel[2], 1e-9);
    tb_world_free(w);
  }
}

// Error at a fixed time of each integrator with n steps, against the closed form.
static double floor_error(int integrator, int n) {
  tbWorld w = load(BALL);
  double k = 4000, b = 20, z, v, T = 0.05;
  w.m->opt.contact_stiffness = k;
  w.m->opt.contact_damping = b;
  w.m->opt.integrator = integrator;
  w.m->opt.solve_tolerance = 1e-13;
  w.m->opt.timestep = T / n;
  w.d->qpos[2] = -3e-3;
  tb_world_run(w, n);
  floor_closed_form(k, b, -3e-3, 0, T, &z, &v);
  double error = fmax(fabs(w.d->qpos[2] - z), fabs(w.d->qvel[2] - v));
  tb_world_free(w);
  return error;
}

static void integrators_agree_with_their_orders(void** state) {
  (void)state;
  static const double ORDER[] = {1, 4, 1};
  for (int i = 0; i < 3; i++) {
    double coarse = floor_error(INTEGRATORS[i], 400), fine = floor_error(INTEGRATORS[i], 800);
    double order = log2(coarse / fine);
    assert_true(fabs(order - ORDER[i]) < 0.15);
    assert_true(fine < 1e-2);
  }
  assert_true(floor_error(TB_INTEGRATOR_EXPO, 3) < 1e-11);
}

// A pendulum-like leg on the floor, where nothing is linear: all four go to one solution, expo with
// order 1 or better.
static const char LEG[] =
    "<mujoco><option timestep='0.001'/><worldbody>"
    "<geom type='plane' size='5 5 0.1' friction='1 0 0'/>"
    "<body pos='0 0 0.41'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
    "<geom type='sphere' size='0.05' mass='2' contype='0' conaffinity='0'/>"
    "<body><joint type='hinge' axis='0 1 0' ref='25' stiffness='40' damping='0.5'/>"
    "<geom type='capsule' fromto='0 0 0 0.1 0 -0.2' size='0.02' mass='0.3' contype='0' "
    "conaffinity='0'/>"
    "<body pos='0.1 0 -0.2'><joint type='hinge' axis='0 1 0' stiffness='40' damping='0.5'/>"
    "<geom type='capsule' fromto='0 0 0 -0.1 0 -0.2' size='0.02' mass='0.2' contype='0' "
    "conaffinity='0'/><geom type='sphere' pos='-0.1 0 -0.2' size='0.01' mass='0.01' friction='1 0 "
    "0'/></body></body></body></worldbody></mujoco>";

static void leg_end(int integrator, int n, double* q, double* v) {
  tbWorld w = load(LEG);
  w.m->opt.integrator = integrator;
  w.m->opt.contact_stiffness = 2e4;
  w.m->opt.contact_damping = 50;
  w.m->opt.solve_tolerance = 1e-11;
  w.m->opt.timestep = 0.02 / n;
  w.d->qpos[1] = -0.001;
  w.d->qvel[0] = 0.05;
  tb_world_run(w, n);
  for (int i = 0; i < 4; i++) {
    q[i] = w.d->qpos[i];
    v[i] = w.d->qvel[i];
  }
  tb_world_free(w);
}

static void nonlinear_leg_converges_with_all_integrators(void** state) {
  (void)state;
  double exact_q[4], exact_v[4], q[4], v[4];
  leg_end(TB_INTEGRATOR_RK4, 4000, exact_q, exact_v);
  for (int i = 0; i < NINTEGRATOR; i++) {
    double error[2];
    for (int fine = 0; fine < 2; fine++) {
      leg_end(INTEGRATORS[i], fine ? 800 : 400, q, v);
      error[fine] = 0;
      for (int k = 0; k < 4; k++) {
        error[fine] = fmax(error[fine], fmax(fabs(q[k] - exact_q[k]), fabs(v[k] - exact_v[k])));
      }
    }
    double order = log2(error[0] / error[1]);
    assert_true(error[1] < 2e-2);
    // RK4 meets the moment where the contact's damper would pull: of order 1 there, like the rest.
    assert_true(order > (INTEGRATORS[i] == TB_INTEGRATOR_EXPO_MIDPOINT ? 1.6 : 0.7));
  }
}

// With dampers only, energy (springs of the contacts included) never grows, at any step size.
static void energy_decays(void** state) {
  (void)state;
  static const double STEPS[] = {1e-3, 4e-3, 2e-2};
  for (int s = 0; s < 3; s++) {
    tbWorld w = load(BALL);
    w.m->opt.contact_damping = 30;
    w.m->opt.timestep = STEPS[s];
    w.d->qpos[2] = -5e-5;
    w.d->qvel[0] = 0.001;
    double before = INFINITY;
    for (int i = 0; i < 1500; i++) {
      const double *q = w.d->qpos, *v = w.d->qvel;
      // The tangential anchor is where the ball was when contact began: x = y = 0, as long as it
      // sticks.
      double energy =
          0.5 * (v[0] * v[0] + v[2] * v[2]) + G * q[2] + 0.5e5 * (q[2] * q[2] + q[0] * q[0]);
      assert_true(energy <= before + 1e-15);
      before = energy;
      tb_world_run(w, 1);
    }
    assert_near(w.d->qpos[2], -G / 1e5, s == 0 ? 1e-7 : 1e-9);
    tb_world_free(w);
  }
}

// EXP's sliding mass: pushed from the side it slips at the boundary of the cone. While it slips,
// x'' = f(t) - mu N; the normal force converges to N = m g + 0.19.
static void sliding_mass_follows_coulomb(void** state) {
  (void)state;
  for (int i = 0; i < NINTEGRATOR; i++) {
    tbWorld w = load(BALL);
    double h = INTEGRATORS[i] == TB_INTEGRATOR_EULER_EXPLICIT ? 1e-4 : 1e-3, N = G + 0.19, mu = 0.3;
    w.m->opt.integrator = INTEGRATORS[i];
    w.m->opt.timestep = h;
    w.m->opt.contact_damping = 200;
    w.d->qpos[2] = -N / 1e5;
    w.d->qvel[0] = 1;
    double T = 0.3, push = 2;
    w.d->qfrc_applied[0] = push;
    w.d->qfrc_applied[2] = -0.19;
    tb_world_run(w, (int)lround(T / h));
    double a = push - mu * N, v = 1 + a * T, x = T + a * T * T / 2;
    assert_true(v > 0.5);
    assert_near(w.d->qvel[0], v, 2e-3);
    assert_near(w.d->qpos[0], x, 1e-3);
    assert_near(w.d->contact[0].force[0], N, 1e-6);
    double* f = w.d->contact[0].force;
    assert_near(sqrt(f[1] * f[1] + f[2] * f[2]), mu * N, 1e-6);
    tb_world_free(w);
  }
}

// Stick, slip, stick: pushed below, above, and below the cone. It holds still at first, moves, and
// holds where it stopped: the anchor came along, and the spring carries the push.
static void anchors_survive_stick_slip_stick(void** state) {
  (void)state;
  for (int i = 0; i < NINTEGRATOR; i++) {
    tbWorld w = load(BALL);
    double h = INTEGRATORS[i] == TB_INTEGRATOR_EULER_EXPLICIT ? 1e-4 : 1e-3, limit = 0.3 * G;
    w.m->opt.integrator = INTEGRATORS[i];
    w.m->opt.timestep = h;
    w.d->qpos[2] = -G / 1e5;
    int n = (int)lround(0.2 / h);
    w.d->qfrc_applied[0] = 0.6 * limit;
    tb_world_run(w, n);
    assert_near(w.d->qpos[0], 0.6 * limit / 1e5, 1e-8);
    w.d->qfrc_applied[0] = 1.5 * limit;
    tb_world_run(w, n);
    double moved = 0.5 * (0.5 * limit) * 0.04;
    assert_near(w.d->qpos[0], moved, 1e-3);
    w.d->qfrc_applied[0] = 0.5 * limit;
    tb_world_run(w, 4 * n);
    double stopped = w.d->qpos[0];
    assert_true(stopped > moved + 0.01);
    assert_near(w.d->qvel[0], 0, 1e-8);
    assert_near(-w.d->contact[0].force[1] * w.d->contact[0].frame[3] -
                    w.d->contact[0].force[2] * w.d->contact[0].frame[6],
                0.5 * limit, 1e-6);
    tb_world_run(w, n);
    assert_near(w.d->qpos[0], stopped, 1e-9);
    // After the release it springs back by the stretch of the push and no more.
    w.d->qfrc_applied[0] = 0;
    tb_world_run(w, n);
    assert_near(stopped - w.d->qpos[0], 0.5 * limit / 1e5, 1e-8);
    tb_world_free(w);
  }
}

// Implicit Euler on the floor's spring is linear: v+ (1 + h b + h^2 k) = v - h (k z + g), and
// Newton's matrix is exact, so that one iteration does it.
static void implicit_euler_is_its_formula(void** state) {
  (void)state;
  tbWorld w = load(BALL);
  double h = 0.002, k = 1e5, b = 300, z = -1.5e-4, v = -0.02;
  w.m->opt.integrator = TB_INTEGRATOR_EULER_IMPLICIT;
  w.m->opt.timestep = h;
  w.m->opt.solve_tolerance = 1e-12;
  w.d->qpos[2] = z;
  w.d->qvel[2] = v;
  for (int i = 0; i < 5; i++) {
    tb_world_run(w, 1);
    v = (v - h * (k * z + G)) / (1 + h * b + h * h * k);
    z += h * v;
    assert_near(w.d->qvel[2], v, 1e-9);
    assert_near(w.d->qpos[2], z, 1e-11);
    assert_true(w.d->solve.iterations <= 2);
  }
  tb_world_free(w);
}

// A ball that rolls without slipping keeps rolling: the anchor follows the point of contact.
static void rolling_ball_is_not_held_back(void** state) {
  (void)state;
  tbWorld w = load(
      "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='9 9 .1'/><body pos='0 "
      "0 0.1'><freejoint/><geom type='sphere' size='0.1' mass='1'/></body></worldbody></mujoco>");
  w.d->qpos[2] = 0.1 - G / 1e5;
  w.d->qvel[0] = 1;
  w.d->qvel[4] = 1 / (0.1 - G / 1e5 / 2);
  tb_world_run(w, 1000);
  assert_near(w.d->qvel[0], 1, 1e-3);
  assert_near(w.d->qpos[0], 1, 1e-3);
  tb_world_free(w);
}

// A puck on a turntable, both turning, pushed against each other by equal and opposite torques: the
// spring between them turns with the table and stays as long as the push makes it.
static void anchors_turn_with_their_body(void** state) {
  (void)state;
  static const int KINDS[] = {TB_INTEGRATOR_EXPO, TB_INTEGRATOR_EXPO_MIDPOINT,
                              TB_INTEGRATOR_EULER_EXPLICIT};
  for (int i = 0; i < 3; i++) {
    tbWorld w = load(
        "<mujoco><worldbody><body><joint type='hinge' axis='0 0 1'/><geom type='cylinder' size='1 "
        ".05' mass='10'/></body><body><joint type='hinge' axis='0 0 1'/><geom type='sphere' "
        "pos='.5 "
        "0 .149' size='.1' mass='1'/></body></worldbody></mujoco>");
    double torque = 10, spin = 3, r = 0.5;
    w.m->opt.integrator = KINDS[i];
    w.m->opt.timestep = i < 2 ? 1e-3 : 1e-4;
    w.d->qfrc_applied[0] = -torque;
    w.d->qfrc_applied[1] = torque;
    w.d->qvel[0] = w.d->qvel[1] = spin;
    tb_world_run(w, (int)(0.5 / w.m->opt.timestep + 0.5));
    assert_near((w.d->qpos[1] - w.d->qpos[0]) * r, torque / r / 1e5, 1e-8);
    assert_near(w.d->qpos[0], 1.5, 1e-3);
    tb_world_free(w);
  }
}

// Two worlds: one stepped on, one restored from a snapshot taken while the contact slips.
static void snapshots_hold_the_anchors(void** state) {
  (void)state;
  tbWorld w = load(BALL);
  w.d->qvel[0] = 1;
  w.d->qpos[2] = -1e-4;
  tb_world_run(w, 57);
  size_t size = tb_snapshot_size(w.m, w.d);
  void* bytes = malloc(size);
  assert_int_equal(tb_snapshot_save(w.m, w.d, bytes, size), TB_OK);
  tbData* other = tb_data_new(w.m);
  assert_int_equal(tb_snapshot_load(w.m, other, bytes, size, NULL), TB_OK);
  tb_world_run(w, 50);
  tb_world_run((tbWorld){w.m, other}, 50);
  assert_memory_equal(w.d->qpos, other->qpos, sizeof(tbReal) * 3);
  assert_memory_equal(w.d->qvel, other->qvel, sizeof(tbReal) * 3);
  tb_data_free(other);
  free(bytes);
  tb_world_free(w);
}

// Looking at a state (tb_forward) changes nothing of the simulation.
static void forward_does_not_move_anchors(void** state) {
  (void)state;
  tbWorld a = load(BALL), b = load(BALL);
  a.d->qvel[0] = b.d->qvel[0] = 1;
  a.d->qpos[2] = b.d->qpos[2] = -1e-4;
  for (int i = 0; i < 50; i++) {
    double keep = b.d->qpos[0];
    b.d->qpos[0] += 0.3;
    assert_int_equal(tb_forward(b.m, b.d), TB_OK);
    b.d->qpos[0] = keep;
    tb_world_run(a, 1);
    tb_world_run(b, 1);
    assert_memory_equal(a.d->qpos, b.d->qpos, sizeof(tbReal) * 3);
  }
  tb_world_free(a);
  tb_world_free(b);
}

// Stiffness and damping of geoms in series, of a pair, and the options' where neither says
// anything: by where the ball rests, and by the force at a speed.
static void stiffness_by_geom_pair_and_option(void** state) {
  (void)state;
  static const char* const XML[] = {
      "<mujoco><worldbody><geom name='a' type='plane' size='5 5 .1' compliance='1e-4' "
      "contactdamping='100'/><body pos='0 0 .1'><joint type='slide' axis='0 0 1'/><geom name='b' "
      "type='sphere' size='.1' mass='1' compliance='3e-4' contactdamping='100'/></body></worldbody>"
      "</mujoco>",
      "<mujoco><worldbody><geom name='a' type='plane' size='5 5 .1'/><body pos='0 0 .1'><joint "
      "type='slide' axis='0 0 1'/><geom name='b' type='sphere' size='.1' mass='1'/></body>"
      "</worldbody><contact><pair geom1='a' geom2='b' compliance='5e-4' "
      "contactdamping='80'/></contact></mujoco>",
      ("<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body pos='0 0 .1'><joint "
       "type='slide' "
       "axis='0 0 1'/><geom type='sphere' size='.1' mass='1'/></body></worldbody></mujoco>")};
  static const double COMPLIANCE[] = {4e-4, 5e-4, 1e-5}, DAMPING[] = {50, 80, 300};
  for (int i = 0; i < 3; i++) {
    tbWorld w = load(XML[i]);
    w.d->qpos[0] = -1e-5;
    tb_world_run(w, 2000);
    assert_near(w.d->qpos[0] / COMPLIANCE[i], -G, 1e-6);
    w.m->opt.integrator = TB_INTEGRATOR_EULER_EXPLICIT;
    w.d->qvel[0] = -0.25;
    assert_int_equal(tb_forward(w.m, w.d), TB_OK);
    assert_near(w.d->contact[0].force[0], G + 0.25 * DAMPING[i], 1e-5);
    tb_world_free(w);
  }
}

// Joint limits and equalities are springs too, dry friction holds below its bound.
static void other_constraints_are_springs(void** state) {
  (void)state;
  tbWorld w = load(
      "<mujoco><option timestep='0.002'/><worldbody>"
      "<body><joint name='a' type='slide' axis='0 0 1' range='-0.01 1' limited='true'/><geom "
      "type='sphere' size='.1' mass='1' contype='0' conaffinity='0'/></body>"
      "<body pos='1 0 0'><joint name='b' type='slide' axis='0 0 1' frictionloss='20'/><geom "
      "type='sphere' size='.1' mass='1' contype='0' conaffinity='0'/></body>"
      "<body pos='2 0 0'><joint name='c' type='slide' axis='0 0 1' frictionloss='5'/><geom "
      "type='sphere' size='.1' mass='1' contype='0' conaffinity='0'/></body>"
      "<body pos='3 0 0'><joint name='e' type='slide' axis='0 0 1'/><geom type='sphere' size='.1' "
      "mass='1' contype='0' conaffinity='0'/></body></worldbody>"
      "<equality><joint joint1='e' polycoef='0.02 0 0 0 0'/></equality></mujoco>");
  tb_world_run(w, 500);
  assert_near(w.d->qpos[0], -0.01 - G / 1e5, 1e-8);
  assert_near(w.d->qpos[1], -G / 1e5, 1e-8);
  // The friction spring takes a moment to stretch.
  assert_near(w.d->qvel[2], -(G - 5), 2e-3);
  assert_near(w.d->qpos[3], 0.02 - G / 1e5, 1e-8);
  tb_world_free(w);
}

// A ball pressed into the floor along a joint with dry friction, which is at its bound: a constant
// force upwards in the closed form.
static void dry_friction_loads_the_contact(void** state) {
  (void)state;
  tbWorld w = load(
      "<mujoco><worldbody><geom type='plane' size='9 9 .1'/><body pos='0 0 .1'><joint type='slide' "
      "axis='0 0 1' frictionloss='5'/><geom type='sphere' size='.1' mass='1'/></body></worldbody>"
      "</mujoco>");
  double k = 1e5, b = 20, h = 1e-3, z, v, rest = 5 / k;
  w.m->opt.contact_damping = b;
  w.m->opt.timestep = h;
  w.m->opt.expm_accuracy = 0;
  w.d->qpos[0] = -1e-4;
  w.d->qvel[0] = -0.5;
  tb_world_run(w, 1);
  floor_closed_form(k, b, -1e-4 - rest, -0.5, h, &z, &v);
  assert_near(w.d->qpos[0], z + rest, 1e-10);
  assert_near(w.d->qvel[0], v, 1e-9);
  tb_world_free(w);
}

// A spinning top on a condim-6 contact slows down by its torsional friction.
static void torsion_slows_a_top(void** state) {
  (void)state;
  tbWorld w = load(
      "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='9 9 .1' condim='6' "
      "friction='1 0.01 0.001'/><body pos='0 0 0.1'><freejoint/><geom type='sphere' size='0.1' "
      "mass='1' condim='6' friction='1 0.01 0.001'/></body></worldbody></mujoco>");
  w.d->qpos[2] = 0.1 - G / 1e5;
  w.d->qvel[5] = 10;
  tb_world_run(w, 200);
  double inertia = 0.4 * 0.01, slowed = 10 - 0.01 * G / inertia * 0.2;
  assert_near(w.d->qvel[5], slowed, 2e-2);

  // Below the bound it holds, by springs of K l^2 about the normal and about a tangent.
  tb_reset(w.m, w.d);
  w.d->qpos[2] = 0.1 - G / 1e5;
  w.d->qfrc_applied[5] = 0.005 * G;
  tb_world_run(w, 3000);
  assert_near(2 * atan2(w.d->qpos[6], w.d->qpos[3]), 0.005 * G / (1e5 * 0.01 * 0.01), 1e-7);
  tb_world_free(w);
}

// A ball that slides, spins and rolls at once is braked along each as by the exact law, whatever
// its coefficient of sliding: with little sliding friction torsional friction is the same.
static void friction_brakes_as_much_as_it_can(void** state) {
  (void)state;
  static const double SLIDING[] = {0, 1e-3, 0.05, 0.2, 0.5, 2};
  for (int k = 0; k < 6 * NINTEGRATOR; k++) {
    char xml[512];
    snprintf(xml, sizeof xml,
             "<mujoco><option timestep='2e-4'/><worldbody><geom type='plane' size='9 9 .1' "
             "friction='0 0 0'/><body pos='0 0 0.1'><freejoint/><geom type='sphere' size='0.1' "
             "mass='1' condim='6' friction='%g 0.02 0.01'/></body></worldbody></mujoco>",
             SLIDING[k % 6]);
    tbReal end[2][6];
    for (int exact = 0; exact < 2; exact++) {
      tbWorld w = load(xml);
      w.m->opt.integrator = INTEGRATORS[k / 6];
      if (exact) {
        w.m->opt.law = TB_LAW_NCP;
        w.m->opt.integrator = TB_INTEGRATOR_EULER;
      }
      w.d->qpos[2] = exact ? 0.1 : 0.1 - G / 1e5;
      const tbReal start[6] = {1, 0.5, 0, 3, -2, 8};
      memcpy(w.d->qvel, start, sizeof start);
      tb_world_run(w, 250);
      memcpy(end[exact], w.d->qvel, sizeof start);
      tb_world_free(w);
    }
    for (int i = 0; i < 6; i++) assert_near(end[0][i], end[1][i], i == 2 ? 1e-3 : 1e-2);
  }
}

// A foot on an arm passes the lowest point of its circle inside the floor: the normal row of J is
// zero there, so that all that lifts it is dJ/dt v = r w^2, and the mean force over a step is that
// of the stretch p + r w^2 t^2 / 2 (EXP eq. 10).
static void circling_foot_is_lifted_by_the_drift(void** state) {
  (void)state;
  tbWorld w = load(
      "<mujoco><worldbody><geom type='plane' size='9 9 .1' friction='1e-6 0 0'/><body pos='0 0 1'>"
      "<joint type='hinge' axis='0 1 0'/><geom type='sphere' pos='0 0 -0.999' size='0.002' "
      "mass='1' "
      "friction='1e-6 0 0'/></body></worldbody></mujoco>");
  double h = 0.002, spin = 3, k = 1e5, b = 300;
  w.m->opt.timestep = h;
  w.m->opt.expm_accuracy = 0;
  w.d->qvel[0] = spin;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_int_equal(w.d->ncon, 1);
  const tbContact* c = &w.d->contact[0];
  double lift = (1 - c->pos[2]) * spin * spin;
  assert_near(c->dist, -0.001, 1e-12);
  assert_near(c->force[0], k * 0.001 - k * lift * h * h / 6 - b * lift * h / 2, 1e-6);
  tb_world_free(w);
}

static void steps_allocate_nothing_and_failures_change_nothing(void** state) {
  (void)state;
  for (int i = 0; i < NINTEGRATOR; i++) {
    tbWorld w = load(LEG);
    w.m->opt.integrator = INTEGRATORS[i];
    w.m->opt.timestep = 1e-4;
    w.d->qpos[1] = -0.01;
    tb_world_run(w, 100);
    size_t before = tb_step_allocations(w.d);
    tb_world_run(w, 300);
    assert_int_equal(tb_step_allocations(w.d), before);
    // A force that is no number: refused, and the world is as it was.
    double q[4], v[4];
    memcpy(q, w.d->qpos, sizeof q);
    memcpy(v, w.d->qvel, sizeof v);
    w.d->qfrc_applied[1] = NAN;
    assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
    assert_memory_equal(q, w.d->qpos, sizeof q);
    assert_memory_equal(v, w.d->qvel, sizeof v);
    w.d->qfrc_applied[1] = 0;
    tb_world_run(w, 10);
    tb_world_free(w);
  }
  tbWorld w = load(BALL);
  w.m->opt.expm_order = 4;
  w.d->qpos[2] = -1e-3;
  assert_int_not_equal(tb_step(w.m, w.d), TB_OK);
  w.m->opt.expm_order = 3;
  assert_int_equal(tb_step(w.m, w.d), TB_OK);
  w.m->opt.law = TB_LAW_NCP;
  assert_int_equal(tb_step(w.m, w.d), TB_ERROR_ARGUMENT);
  tb_world_free(w);
}

// Random boxes thrown on a floor and on each other end at rest, on top of the floor.
static void boxes_come_to_rest(void** state) {
  (void)state;
  tbWorld w = load(
      "<mujoco><option timestep='0.002'/><default><geom compliance='5e-5' contactdamping='150'/>"
      "</default><worldbody><geom type='plane' size='9 9 .1'/>"
      "<body pos='0 0 .15' euler='20 10 0'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/>"
      "</body><body pos='.05 .02 .45' euler='0 30 10'><freejoint/><geom type='box' size='.1 .1 .1' "
      "mass='1'/></body></worldbody></mujoco>");
  tb_world_run(w, 2500);
  for (int i = 0; i < 12; i++) assert_near(w.d->qvel[i], 0, 2e-3);
  assert_true(w.d->qpos[2] > 0.09 && w.d->qpos[9] > 0.09);
  assert_true(isfinite(w.d->solve.residual_exact.relative));
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mass_on_floor_is_exact_for_any_step),
      cmocka_unit_test(normal_anchor_starts_where_it_is_first_seen),
      cmocka_unit_test(integrators_agree_with_their_orders),
      cmocka_unit_test(nonlinear_leg_converges_with_all_integrators),
      cmocka_unit_test(energy_decays),
      cmocka_unit_test(sliding_mass_follows_coulomb),
      cmocka_unit_test(anchors_survive_stick_slip_stick),
      cmocka_unit_test(implicit_euler_is_its_formula),
      cmocka_unit_test(rolling_ball_is_not_held_back),
      cmocka_unit_test(anchors_turn_with_their_body),
      cmocka_unit_test(snapshots_hold_the_anchors),
      cmocka_unit_test(forward_does_not_move_anchors),
      cmocka_unit_test(stiffness_by_geom_pair_and_option),
      cmocka_unit_test(other_constraints_are_springs),
      cmocka_unit_test(dry_friction_loads_the_contact),
      cmocka_unit_test(torsion_slows_a_top),
      cmocka_unit_test(friction_brakes_as_much_as_it_can),
      cmocka_unit_test(circling_foot_is_lifted_by_the_drift),
      cmocka_unit_test(steps_allocate_nothing_and_failures_change_nothing),
      cmocka_unit_test(boxes_come_to_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
