// Every type of joint of model/joint_kinds.h, also one that is added later: its functions against
// each other and against centred differences, in a chain with hinges before, beside and after it.
#include "assemble/rows.h"
#include "common/worlds.h"
#include "dynamics/coriolis.h"
#include "forces/forces.h"
#include "model/joint_space.h"
#include "tribo/derivatives.h"
#include "world/state.h"

enum { SAMPLES = 20, MOST = 16 };
static const tbReal STEP = 1e-5, CLOSE = 1e-7;

// The joint of this type is named `joint`, and its body `body`; a hinge follows in a body named
// `last`. With a range the attribute goes into the joint.
static tbWorld world_of(int type, const char* range) {
  const char* word = tb_joint_type_name(type);
  bool floats = tb_joint_floats(type);
  char xml[3000];
  snprintf(xml, sizeof xml,
           "<mujoco><compiler angle='radian'/><option gravity='0 0 0'/><worldbody>%s"
           "<body name='body' pos='.1 .2 .3' quat='.8 .2 .4 .4'>%s"
           "<joint name='joint' type='%s' %s axis='.3 -.5 .8' stiffness='3' %s %s/>"
           "<geom size='.1 .2 .15' type='box' pos='.05 .1 -.2' quat='.9 .1 .2 .3' contype='0'/>"
           "<body name='last' pos='-.2 .3 .1'><joint axis='.6 0 -.8' pos='.1 0 .05' stiffness='2'/>"
           "<geom size='.1 .05 .2' type='box' pos='.3 .1 0' contype='0'/></body>"
           "</body>%s</worldbody><actuator><motor joint='joint' gear='1 2 3 4 5 "
           "6'/></actuator></mujoco>",
           floats ? ""
                  : "<body pos='0 .1 .5'><joint axis='1 0 0'/><joint axis='.6 .8 0' pos='0 .3 0'/>"
                    "<geom size='.1 .15 .12' type='box' contype='0'/>",
           floats ? "" : "<joint axis='0 .8 .6' pos='.1 0 -.1'/>", word,
           floats ? "" : "pos='.1 -.2 .15'",
           tb_joint_is_scalar(type) ? "ref='.2' springref='.5'" : "", range,
           floats ? "" : "</body>");
  return tb_world_text(xml);
}

static int joint_of(tbWorld w) {
  return tb_name2id(w.m, TB_OBJ_JOINT, "joint");
}

// A random configuration and velocity. Rotations stay well below a half turn.
static void randomize(tbWorld w, tbRng* rng) {
  tbReal v[MOST];
  tb_reset(w.m, w.d);
  for (int i = 0; i < w.m->nv; i++) {
    v[i] = tb_rng_uniform(rng, -1, 1);
    w.d->qvel[i] = tb_rng_uniform(rng, -1, 1);
  }
  tb_integrate_pos(w.m, w.d->qpos, v, 1);
}

static void compute(tbWorld w) {
  tb_compute_position(w.m, w.d);
  tb_compute_velocity(w.m, w.d);
}

// The configuration `from`, moved by e along v.
static void move_to(tbWorld w, const tbReal* from, const tbReal* v, tbReal e) {
  memcpy(w.d->qpos, from, sizeof(tbReal) * (size_t)w.m->nq);
  tb_integrate_pos(w.m, w.d->qpos, v, e);
  compute(w);
}

// ---- the list -----------------------------------------------------------------------------------

static void lines_are_consistent(void** state) {
  (void)state;
  assert_true(TB_NJOINTTYPES >= 4);
  for (int t = 0; t < TB_NJOINTTYPES; t++) {
    int nq = tb_joint_nq(t), nv = tb_joint_nv(t), fixed = tb_joint_translations(t);
    assert_true(nv >= 1 && nv <= TB_JOINT_MOST_NV && nq <= TB_JOINT_MOST_NQ);
    assert_true(nq == nv || (nq == nv + 1 && nv >= 3));
    assert_true(fixed == 0 || (fixed == 3 && nv == 6 && nq == 7));
    assert_int_equal(fixed + tb_joint_body_axes(t), nv);
    // A limit needs a number or an angle to bound.
    if (tb_joint_limits(t) == 1) assert_true(tb_joint_has_quaternion(t));
    if (tb_joint_limits(t) == 2) assert_true(tb_joint_numbers(t) > 0);
    if (fixed) assert_int_equal(tb_joint_limits(t), 0);
    for (int u = 0; u < t; u++) {
      assert_string_not_equal(tb_joint_type_name(t), tb_joint_type_name(u));
    }
  }
  assert_string_equal(tb_joint_type_name(TB_NJOINTTYPES), "");
}

// Loading, sizes and the checks of a model take the type; another number is an error.
static void models_have_its_sizes(void** state) {
  (void)state;
  for (int t = 0; t < TB_NJOINTTYPES; t++) {
    tbWorld w = world_of(t, "");
    int j = joint_of(w), fixed = tb_joint_floats(t);
    tbError error;
    assert_int_equal(w.m->jnt_type[j], t);
    assert_int_equal(w.m->nq, tb_joint_nq(t) + (fixed ? 1 : 4));
    assert_int_equal(w.m->nv, tb_joint_nv(t) + (fixed ? 1 : 4));
    assert_int_equal(w.m->actuator_Jnnz[0], tb_joint_nv(t));
    int at = tb_joint_quatadr(w.m, j);
    assert_int_equal(at >= 0, tb_joint_has_quaternion(t));
    if (at >= 0) assert_near(w.m->qpos0[at], 1, 0.5);
    assert_int_equal(tb_model_check(w.m, &error), TB_OK);
    w.m->jnt_type[j] = TB_NJOINTTYPES;
    assert_int_equal(tb_model_check(w.m, &error), TB_ERROR_MODEL);
    tb_world_free(w);
  }
}

// ---- the configuration space --------------------------------------------------------------------

static void a_difference_is_the_velocity_that_was_integrated(void** state) {
  (void)state;
  tbRng rng = {1};
  for (int t = 0; t < TB_NJOINTTYPES; t++) {
    tbWorld w = world_of(t, "");
    for (int s = 0; s < SAMPLES; s++) {
      tbReal from[MOST], v[MOST], end[MOST];
      randomize(w, &rng);
      memcpy(from, w.d->qpos, sizeof from[0] * (size_t)w.m->nq);
      tb_integrate_pos(w.m, w.d->qpos, w.d->qvel, 0.7);
      tb_differentiate_pos(w.m, v, 0.7, from, w.d->qpos);
      assert_near_array(v, w.d->qvel, w.m->nv, 1e-12);
      // And back: the integrated difference ends where it was measured to.
      memcpy(end, w.d->qpos, sizeof end[0] * (size_t)w.m->nq);
      tb_integrate_pos(w.m, from, v, 0.7);
      tb_differentiate_pos(w.m, v, 1, from, end);
      for (int i = 0; i < w.m->nv; i++) assert_near(v[i], 0, 1e-12);
    }
    tb_world_free(w);
  }
}

// Partials of the end of an integration of a joint of this type from q, by dof k.
static void integrate_by(int type, const tbReal* q, const tbReal* v, tbReal dt, int k,
                         bool of_velocity, tbReal* slope) {
  tbReal end[2][TB_JOINT_MOST_NQ], unit[TB_JOINT_MOST_NV] = {0};
  unit[k] = 1;
  for (int s = 0; s < 2; s++) {
    tbReal e = s ? STEP : -STEP, moved[TB_JOINT_MOST_NV];
    memcpy(end[s], q, sizeof(tbReal) * (size_t)tb_joint_nq(type));
    memcpy(moved, v, sizeof(tbReal) * (size_t)tb_joint_nv(type));
    if (of_velocity) {
      moved[k] += e / dt;
    } else {
      tb_joint_integrate(type, end[s], unit, e);
    }
    tb_joint_integrate(type, end[s], moved, dt);
  }
  tb_joint_difference(type, slope, end[0], end[1], 0.5 / STEP);
}

static void partials_of_an_integration_are_its_differences(void** state) {
  (void)state;
  tbRng rng = {2};
  for (int t = 0; t < TB_NJOINTTYPES; t++) {
    tbWorld w = world_of(t, "");
    int numbers = tb_joint_numbers(t), nv = tb_joint_nv(t), j = joint_of(w);
    for (int s = 0; s < SAMPLES; s++) {
      tbReal partial[2][9], slope[TB_JOINT_MOST_NV];
      randomize(w, &rng);
      const tbReal *q = w.d->qpos + w.m->jnt_qposadr[j], *v = w.d->qvel + w.m->jnt_dofadr[j];
      int rotates = tb_joint_integrate_partials(t, v, 0.6, partial[0], partial[1]);
      assert_int_equal(rotates, tb_joint_has_quaternion(t));
      for (int k = 0; k < 2 * nv; k++) {
        int dof = k % nv, of_velocity = k >= nv;
        integrate_by(t, q, v, 0.6, dof, of_velocity, slope);
        for (int r = 0; r < nv; r++) {
          bool both = r >= numbers && dof >= numbers;
          tbReal expected =
              both ? partial[of_velocity][3 * (r - numbers) + dof - numbers] : r == dof;
          assert_near(slope[r], expected, CLOSE);
        }
      }
    }
    tb_world_free(w);
  }
}

// ---- the motion of the body ---------------------------------------------------------------------

// Jacobians (each 3 x nv) of the frame of `body`.
static void jacobian(tbWorld w, int body, tbReal* jacp, tbReal* jacr) {
  tb_jac(w.m, w.d, body, w.d->xpos + 3 * body, jacp, jacr);
}

static void axes_are_differences_of_the_place(void** state) {
  (void)state;
  tbRng rng = {3};
  for (int t = 0; t < TB_NJOINTTYPES; t++) {
    tbWorld w = world_of(t, "");
    const char* names[] = {"body", "last"};
    for (int s = 0; s < 2 * SAMPLES; s++) {
      int body = tb_name2id(w.m, TB_OBJ_BODY, names[s % 2]), nv = w.m->nv;
      tbReal from[MOST], jacp[3 * MOST], jacr[3 * MOST];
      randomize(w, &rng);
      memcpy(from, w.d->qpos, sizeof from[0] * (size_t)w.m->nq);
      compute(w);
      jacobian(w, body, jacp, jacr);
      for (int k = 0; k < nv; k++) {
        tbReal unit[MOST] = {0}, pos[2][3], quat[2][4], turn[4], angle[3];
        unit[k] = 1;
        for (int e = 0; e < 2; e++) {
          move_to(w, from, unit, e ? STEP : -STEP);
          tb_copy3(pos[e], w.d->xpos + 3 * body);
          memcpy(quat[e], w.d->xquat + 4 * body, sizeof quat[e]);
        }
        tb_quat_conjugate(quat[0], quat[0]);
        tb_quat_mul(turn, quat[1], quat[0]);
        tb_quat_log(angle, turn);
        for (int r = 0; r < 3; r++) {
          assert_near(jacp[r * nv + k], (pos[1][r] - pos[0][r]) / (2 * STEP), CLOSE);
          assert_near(jacr[r * nv + k], angle[r] / (2 * STEP), CLOSE);
        }
      }
    }
    tb_world_free(w);
  }
}

static void rates_of_axes_are_differences_of_axes(void** state) {
  (void)state;
  tbRng rng = {4};
  for (int t = 0; t < TB_NJOINTTYPES; t++) {
    tbWorld w = world_of(t, "");
    const char* names[] = {"body", "last"};
    for (int s = 0; s < 2 * SAMPLES; s++) {
      int body = tb_name2id(w.m, TB_OBJ_BODY, names[s % 2]), n = 3 * w.m->nv;
      tbReal from[MOST], dot[2][3 * MOST], jac[2][2][3 * MOST], v[MOST], linear[3], angular[3];
      randomize(w, &rng);
      memcpy(from, w.d->qpos, sizeof from[0] * (size_t)w.m->nq);
      memcpy(v, w.d->qvel, sizeof v[0] * (size_t)w.m->nv);
      compute(w);
      tb_jac_dot(w.m, w.d, body, w.d->xpos + 3 * body, dot[0], dot[1]);
      tb_jac_dot_v(w.m, w.d, body, w.d->xpos + 3 * body, linear, angular);
      for (int e = 0; e < 2; e++) {
        move_to(w, from, v, e ? STEP : -STEP);
        jacobian(w, body, jac[e][0], jac[e][1]);
      }
      for (int part = 0; part < 2; part++) {
        tbReal sum[3] = {0};
        for (int i = 0; i < n; i++) {
          assert_near(dot[part][i], (jac[1][part][i] - jac[0][part][i]) / (2 * STEP), CLOSE);
          sum[i / w.m->nv] += dot[part][i] * v[i % w.m->nv];
        }
        assert_near_array(sum, part ? angular : linear, 3, 1e-12);
      }
    }
    tb_world_free(w);
  }
}

// Twice the kinetic energy; of a tree that floats without its translation.
static tbReal twice_energy(tbWorld w) {
  tbReal jac[3 * MOST], momentum[3] = {0};
  int nv = w.m->nv;
  compute(w);
  tb_energy_velocity(w.m, w.d);
  if (w.m->jnt_type[0] != w.m->jnt_type[joint_of(w)] || !tb_joint_floats(w.m->jnt_type[0])) {
    return 2 * w.d->energy[1];
  }
  tb_jac_subtree_com(w.m, w.d, 1, jac);
  for (int i = 0; i < 3 * nv; i++) momentum[i / nv] += jac[i] * w.d->qvel[i % nv];
  return 2 * w.d->energy[1] - w.m->body_subtreemass[1] * tb_dot3(momentum, momentum);
}

// Frames with their velocities (tb_joint_carry) have the energy of the frames at that time.
static void carried_frames_have_the_energy_of_placed_ones(void** state) {
  (void)state;
  tbRng rng = {5};
  for (int t = 0; t < TB_NJOINTTYPES; t++) {
    tbWorld w = world_of(t, "");
    for (int s = 0; s < SAMPLES; s++) {
      const tbReal h = 0.3;
      tbReal momentum[3];
      randomize(w, &rng);
      tbReal now = twice_energy(w), growth = tb_kinetic_energy_growth(w.m, w.d, 0, h, momentum);
      tb_integrate_pos(w.m, w.d->qpos, w.d->qvel, -h);
      assert_near(growth, now - twice_energy(w), 1e-11);
    }
    tb_world_free(w);
  }
}

static void coriolis_forces_are_those_of_inverse_dynamics(void** state) {
  (void)state;
  tbRng rng = {6};
  for (int t = 0; t < TB_NJOINTTYPES; t++) {
    tbWorld w = world_of(t, "");
    for (int s = 0; s < SAMPLES; s++) {
      tbReal force[MOST], tau[MOST];
      randomize(w, &rng);
      compute(w);
      tb_coriolis(w.m, w.d, 0, w.d->qvel, force);
      tb_rne(w.m, w.d, NULL, NULL, tau);
      assert_near_array(force, tau, w.m->nv, 1e-12);
    }
    tb_world_free(w);
  }
}

// Derivatives of inverse dynamics: how axes and their rates change with the configuration.
static void derivatives_of_inverse_dynamics_are_differences(void** state) {
  (void)state;
  tbRng rng = {7};
  for (int t = 0; t < TB_NJOINTTYPES; t++) {
    tbWorld w = world_of(t, "");
    int nv = w.m->nv;
    for (int s = 0; s < SAMPLES; s++) {
      tbReal from[MOST], qacc[MOST], v[MOST], by_q[MOST * MOST], by_v[MOST * MOST];
      randomize(w, &rng);
      for (int i = 0; i < nv; i++) qacc[i] = tb_rng_uniform(&rng, -1, 1);
      memcpy(from, w.d->qpos, sizeof from[0] * (size_t)w.m->nq);
      memcpy(v, w.d->qvel, sizeof v[0] * (size_t)nv);
      compute(w);
      assert_int_equal(tb_rne_derivatives(w.m, w.d, qacc, NULL, by_q, by_v), TB_OK);
      for (int k = 0; k < 2 * nv; k++) {
        tbReal tau[2][MOST], unit[MOST] = {0};
        unit[k % nv] = 1;
        for (int e = 0; e < 2; e++) {
          w.d->qvel[k % nv] = v[k % nv] + (k < nv ? 0 : e ? STEP : -STEP);
          move_to(w, from, unit, k >= nv ? 0 : e ? STEP : -STEP);
          tb_rne(w.m, w.d, qacc, NULL, tau[e]);
        }
        w.d->qvel[k % nv] = v[k % nv];
        for (int i = 0; i < nv; i++) {
          tbReal slope = (tau[1][i] - tau[0][i]) / (2 * STEP);
          assert_near((k < nv ? by_q : by_v)[i * nv + k % nv], slope, CLOSE);
        }
      }
    }
    tb_world_free(w);
  }
}

// ---- springs and limits -------------------------------------------------------------------------

static void springs_have_the_slope_of_their_energy(void** state) {
  (void)state;
  tbRng rng = {8};
  for (int t = 0; t < TB_NJOINTTYPES; t++) {
    tbWorld w = world_of(t, "");
    for (int s = 0; s < SAMPLES; s++) {
      tbReal from[MOST], force[MOST], energy[2];
      randomize(w, &rng);
      memcpy(from, w.d->qpos, sizeof from[0] * (size_t)w.m->nq);
      compute(w);
      tb_passive(w.m, w.d);
      memcpy(force, w.d->qfrc_spring, sizeof force[0] * (size_t)w.m->nv);
      for (int k = 0; k < w.m->nv; k++) {
        tbReal unit[MOST] = {0};
        unit[k] = 1;
        for (int e = 0; e < 2; e++) {
          move_to(w, from, unit, e ? STEP : -STEP);
          tb_energy_position(w.m, w.d);
          energy[e] = w.d->energy[0];
        }
        assert_near(force[k], -(energy[1] - energy[0]) / (2 * STEP), CLOSE);
      }
    }
    tb_world_free(w);
  }
}

static void partials_of_a_stretch_are_its_differences(void** state) {
  (void)state;
  tbRng rng = {9};
  for (int t = 0; t < TB_NJOINTTYPES; t++) {
    tbWorld w = world_of(t, "");
    int nv = tb_joint_nv(t), at = w.m->jnt_qposadr[joint_of(w)];
    for (int s = 0; s < SAMPLES; s++) {
      tbReal stretch[2][TB_JOINT_MOST_NV], by_q[TB_JOINT_MOST_NV * TB_JOINT_MOST_NV];
      const tbReal* rest = w.m->qpos_spring + at;
      randomize(w, &rng);
      tb_joint_stretch(t, w.d->qpos + at, rest, stretch[0]);
      tb_joint_stretch_partials(t, stretch[0], by_q);
      for (int k = 0; k < nv; k++) {
        tbReal unit[TB_JOINT_MOST_NV] = {0};
        unit[k] = 1;
        for (int e = 0; e < 2; e++) {
          tbReal q[TB_JOINT_MOST_NQ];
          memcpy(q, w.d->qpos + at, sizeof q[0] * (size_t)tb_joint_nq(t));
          tb_joint_integrate(t, q, unit, e ? STEP : -STEP);
          tb_joint_stretch(t, q, rest, stretch[e]);
        }
        for (int r = 0; r < nv; r++) {
          assert_near(by_q[r * nv + k], (stretch[1][r] - stretch[0][r]) / (2 * STEP), CLOSE);
        }
      }
    }
    tb_world_free(w);
  }
}

// The gap of the only limit with a row, whose side is `side`, and the row over all dofs (or NULL).
static tbReal limit_gap(tbWorld w, int* side, tbReal* row) {
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  const tbConstraints* list = &tb_step_state(w.m, w.d)->constraints;
  assert_int_equal(list->count, 1);
  const tbConstraint* c = &list->list[0];
  assert_int_equal(c->source, TB_SOURCE_LIMIT_JOINT);
  assert_int_equal(c->id, joint_of(w));
  *side = c->key != tb_plain_key(TB_SOURCE_LIMIT_JOINT, c->id, 0);
  for (int i = 0; row && i < w.m->nv; i++) row[i] = 0;
  for (int k = 0; row && k < c->nnz; k++) row[c->col[k]] = c->J[k];
  return c->pos[0];
}

// Each side of a range that is violated has one row, the derivative of its gap.
static void rows_of_limits_are_differences_of_their_gaps(void** state) {
  (void)state;
  tbRng rng = {10};
  for (int t = 0; t < TB_NJOINTTYPES; t++) {
    int sides = tb_joint_limits(t), seen[2] = {0, 0};
    if (sides == 0) continue;
    tbWorld w = world_of(t, sides == 1 ? "range='0 .05'" : "range='.19 .21'");
    for (int s = 0; s < SAMPLES; s++) {
      tbReal from[MOST], row[MOST];
      int side, other;
      randomize(w, &rng);
      memcpy(from, w.d->qpos, sizeof from[0] * (size_t)w.m->nq);
      tbReal gap = limit_gap(w, &side, row);
      assert_true(gap < 0.05);
      seen[side]++;
      for (int k = 0; k < w.m->nv; k++) {
        tbReal unit[MOST] = {0}, at[2];
        unit[k] = 1;
        for (int e = 0; e < 2; e++) {
          move_to(w, from, unit, e ? STEP : -STEP);
          at[e] = limit_gap(w, &other, NULL);
          assert_int_equal(other, side);
        }
        assert_near(row[k], (at[1] - at[0]) / (2 * STEP), CLOSE);
      }
    }
    assert_true(seen[0] > 0 && (sides == 1 || seen[1] > 0));
    tb_world_free(w);
  }
}

static void partials_of_an_angle_limit_are_its_differences(void** state) {
  (void)state;
  tbRng rng = {11};
  const tbReal range[2] = {0, 1};
  for (int t = 0; t < TB_NJOINTTYPES; t++) {
    if (tb_joint_limits(t) != 1) continue;
    tbWorld w = world_of(t, "");
    int numbers = tb_joint_numbers(t), at = w.m->jnt_qposadr[joint_of(w)];
    for (int s = 0; s < SAMPLES; s++) {
      tbReal by_q[9], axis[2][3];
      randomize(w, &rng);
      tb_joint_angle_partials(t, w.d->qpos + at, by_q);
      for (int k = 0; k < 3; k++) {
        tbReal unit[TB_JOINT_MOST_NV] = {0};
        unit[numbers + k] = 1;
        for (int e = 0; e < 2; e++) {
          tbReal q[TB_JOINT_MOST_NQ];
          memcpy(q, w.d->qpos + at, sizeof q[0] * (size_t)tb_joint_nq(t));
          tb_joint_integrate(t, q, unit, e ? STEP : -STEP);
          tb_joint_angle_gap(t, q, range, axis[e]);
        }
        for (int r = 0; r < 3; r++) {
          assert_near(by_q[3 * r + k], -(axis[1][r] - axis[0][r]) / (2 * STEP), 1e-6);
        }
      }
    }
    tb_world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_consistent),
      cmocka_unit_test(models_have_its_sizes),
      cmocka_unit_test(a_difference_is_the_velocity_that_was_integrated),
      cmocka_unit_test(partials_of_an_integration_are_its_differences),
      cmocka_unit_test(axes_are_differences_of_the_place),
      cmocka_unit_test(rates_of_axes_are_differences_of_axes),
      cmocka_unit_test(carried_frames_have_the_energy_of_placed_ones),
      cmocka_unit_test(coriolis_forces_are_those_of_inverse_dynamics),
      cmocka_unit_test(derivatives_of_inverse_dynamics_are_differences),
      cmocka_unit_test(springs_have_the_slope_of_their_energy),
      cmocka_unit_test(partials_of_a_stretch_are_its_differences),
      cmocka_unit_test(rows_of_limits_are_differences_of_their_gaps),
      cmocka_unit_test(partials_of_an_angle_limit_are_its_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
