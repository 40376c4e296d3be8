// Wrenches, velocities and states of contacts as a user asks for them, and the forces between
// bodies.
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "common/test.h"
#include "common/worlds.h"

static const double G = 9.81;

static const char CUBE[] =
    "<mujoco><option timestep='.002'/><worldbody>"
    "<geom name='floor' type='plane' size='5 5 .1' friction='.5 0 0'/>"
    "<body name='cube' pos='0 0 .1'><freejoint/><geom name='box' type='box' size='.1 .1 .1' "
    "mass='2' "
    "friction='.5 0 0'/></body></worldbody></mujoco>";

static void weight_rests_on_the_floor(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(CUBE);
    w.m->opt.law = law;
    // The force is off the centre, so that the floor also carries its moment.
    w.d->xfrc_applied[6 + 2] = -10;
    w.d->xfrc_applied[6 + 4] = 0.2;
    tb_world_run(w, 1500);
    tbReal sum[6], floor[6], pair[6], geom[6], each[6], by_hand[3] = {0};
    tbError error;
    assert_int_equal(tb_body_contact_wrench(w.m, w.d, 1, NULL, sum, &error), TB_OK);
    assert_int_equal(tb_pair_contact_wrench(w.m, w.d, 0, 1, w.d->xipos + 3, floor, NULL), TB_OK);
    assert_int_equal(tb_pair_contact_wrench(w.m, w.d, 1, 0, NULL, pair, NULL), TB_OK);
    assert_int_equal(tb_geom_contact_wrench(w.m, w.d, 1, w.d->xipos + 3, geom, NULL), TB_OK);
    for (int i = 0; i < w.d->ncon; i++) {
      assert_int_equal(tb_contact_wrench(w.m, w.d, i, 1, each, NULL), TB_OK);
      for (int k = 0; k < 3; k++) by_hand[k] += each[k];
    }
    // Laws of springs are still settling by some micrometres.
    double tolerance = law < TB_LAW_COUNT ? 1e-6 : 1e-2;
    assert_near(sum[2], 2 * G + 10, tolerance * 30);
    assert_near(sum[4], -0.2, tolerance);
    for (int k = 0; k < 6; k++) {
      assert_near(floor[k], -sum[k], 1e-12);
      assert_near(pair[k], sum[k], 0);
      assert_near(geom[k], sum[k], 1e-12);
    }
    for (int k = 0; k < 3; k++) assert_near(by_hand[k], sum[k], 1e-12);
    // A wrench about another point: the moment of the force is added.
    tbReal at[3] = {1, 2, 3}, there[6];
    assert_int_equal(tb_body_contact_wrench(w.m, w.d, 1, at, there, NULL), TB_OK);
    const tbReal* c = w.d->xipos + 3;
    assert_near(there[3], sum[3] + (c[1] - 2) * sum[2] - (c[2] - 3) * sum[1], 1e-9);
    tb_world_free(w);
  }
}

// A cube on a slope slides or sticks by the angle; a ball with friction rolls; one in the air is
// open or has no contact.
static void states_follow_the_motion(void** state) {
  (void)state;
  tbWorld w = tb_world_text(CUBE);
  tbContactState now;
  tbReal slip[3];
  for (int slides = 0; slides < 2; slides++) {
    tb_reset(w.m, w.d);
    double tilt = slides ? 0.6 : 0.4;  // tan: 0.68, 0.42
    w.m->opt.gravity[0] = G * sin(tilt);
    w.m->opt.gravity[2] = -G * cos(tilt);
    tb_world_run(w, 100);
    assert_int_equal(w.d->ncon, 4);
    for (int i = 0; i < 4; i++) {
      assert_int_equal(tb_contact_state(w.m, w.d, i, &now, slip, NULL), TB_OK);
      assert_int_equal(now, slides ? TB_CONTACT_SLIDING : TB_CONTACT_STICKING);
      // The slip is that of the body, which does not turn.
      for (int k = 0; k < 3; k++) assert_near(slip[k], k == 0 ? w.d->qvel[0] : 0, 1e-8);
    }
  }
  tb_world_free(w);

  w = tb_world_text(
      "<mujoco><option timestep='.002'/><worldbody><geom type='plane' size='5 5 .1'/>"
      "<body pos='0 0 .1'><freejoint/><geom type='sphere' size='.1'/></body></worldbody></mujoco>");
  w.d->qvel[0] = 1;
  tb_world_run(w, 2);
  assert_int_equal(tb_contact_state(w.m, w.d, 0, &now, slip, NULL), TB_OK);
  assert_int_equal(now, TB_CONTACT_SLIDING);
  assert_near(slip[0], w.d->qvel[0] - 0.1 * w.d->qvel[4], 1e-9);
  tb_world_run(w, 200);
  assert_int_equal(tb_contact_state(w.m, w.d, 0, &now, slip, NULL), TB_OK);
  assert_int_equal(now, TB_CONTACT_ROLLING);
  assert_string_equal(tb_contact_state_name(now), "rolling");
  // Pulled up: the contact separates.
  w.d->qvel[2] = 0.01;
  w.m->opt.gravity[2] = 0;
  tb_world_run(w, 1);
  for (int i = 0; i < w.d->ncon; i++) {
    assert_int_equal(tb_contact_state(w.m, w.d, i, &now, NULL, NULL), TB_OK);
    assert_int_equal(now, TB_CONTACT_OPEN);
  }
  tb_world_free(w);
}

// Velocities of contacts are J qvel of the rows that the step assembled: differences of the points
// themselves.
static void velocity_is_that_of_the_surfaces(void** state) {
  (void)state;
  tbRng rng = {7};
  tbWorld w = tb_world_scene("humanoid.xml", NULL);
  for (int draw = 0; draw < 20; draw++) {
    tb_world_run(w, 25);
    for (int i = 0; i < w.m->nv; i++) w.d->qvel[i] += tb_rng_uniform(&rng, -0.2, 0.2);
    for (int i = 0; i < w.d->ncon; i++) {
      const tbContact* c = &w.d->contact[i];
      tbReal v[6], *J = calloc((size_t)(6 * w.m->nv), sizeof(tbReal)), twist[6] = {0};
      assert_int_equal(tb_contact_velocity(w.m, w.d, i, v, NULL), TB_OK);
      for (int side = 0; side < 2; side++) {
        tb_jac(w.m, w.d, w.m->geom_bodyid[c->geom[side]], c->pos, J, J + 3 * w.m->nv);
        for (int k = 0; k < 6; k++) {
          for (int j = 0; j < w.m->nv; j++) {
            twist[k] += (side ? 1 : -1) * J[k * w.m->nv + j] * w.d->qvel[j];
          }
        }
      }
      for (int r = 0; r < 3; r++) {
        const tbReal* axis = c->frame + 3 * r;
        assert_near(v[r], axis[0] * twist[0] + axis[1] * twist[1] + axis[2] * twist[2], 1e-12);
        assert_near(v[3 + r], axis[0] * twist[3] + axis[1] * twist[4] + axis[2] * twist[5], 1e-12);
      }
      free(J);
    }
  }
  tb_world_free(w);
}

// Newton's and Euler's law for every body of a robot: the forces on it and on its children equal
// its inertia times its acceleration; so the root gets no force from the world.
static void reactions_close_the_balance(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = tb_world_scene("humanoid.xml", NULL);
    w.m->opt.law = law;
    for (int i = 0; i < w.m->nu; i++) w.d->ctrl[i] = 0.1;
    tb_world_run(w, 250);
    tbError error;
    assert_int_equal(tb_forward(w.m, w.d), TB_OK);
    assert_int_equal(tb_rne_post_constraint(w.m, w.d, &error), TB_OK);
    int root = 0;
    double largest = 0;
    for (int b = 1; b < w.m->nbody; b++) {
      if (w.m->body_parentid[b] == 0 && w.m->body_dofnum[b] == 6) root = b;
      for (int k = 0; k < 6; k++) largest = fmax(largest, fabs(w.d->cfrc_int[6 * b + k]));
    }
    assert_true(root > 0 && largest > 10);
    // Rigid laws and comfree take the Coriolis forces of the middle of the step.
    double allowed = law == TB_LAW_SOFT || law == TB_LAW_VISCOELASTIC ? 1e-9 : 1e-4;
    for (int k = 0; k < 6; k++) assert_near(w.d->cfrc_int[6 * root + k], 0, allowed * largest);
    tb_world_free(w);
  }
}

// cfrc_int and cfrc_ext are a torque and a force about the centre of mass of the tree: about
// another point, force first.
static void wrench_about(const tbModel* m, const tbData* d, const tbReal* cfrc, int body,
                         const tbReal point[3], tbReal out[6]) {
  const tbReal *f = cfrc + 6 * body + 3, *c = d->subtree_com + 3 * m->body_rootid[body];
  tbReal arm[3] = {c[0] - point[0], c[1] - point[1], c[2] - point[2]};
  tbReal moment[3] = {arm[1] * f[2] - arm[2] * f[1], arm[2] * f[0] - arm[0] * f[2],
                      arm[0] * f[1] - arm[1] * f[0]};
  for (int k = 0; k < 3; k++) {
    out[k] = f[k];
    out[3 + k] = cfrc[6 * body + k] + moment[k];
  }
}

// Acceleration of a body's centre of mass less gravity, and its angular acceleration: J qacc +
// dJ/dt qvel.
static void acceleration(const tbModel* m, const tbData* d, const tbReal* qvel, int body,
                         tbReal linear[3], tbReal angular[3]) {
  int nv = m->nv;
  tbReal *J = calloc((size_t)(12 * nv), sizeof *J), *D = J + 6 * nv;
  tb_jac_body_com(m, d, body, J, J + 3 * nv);
  tb_jac_dot(m, d, body, d->xipos + 3 * body, D, D + 3 * nv);
  for (int k = 0; k < 6; k++) {
    tbReal sum = k < 3 ? -m->opt.gravity[k] : 0;
    for (int j = 0; j < nv; j++) sum += J[k * nv + j] * d->qacc[j] + D[k * nv + j] * qvel[j];
    (k < 3 ? linear : angular)[k % 3] = sum;
  }
  free(J);
}

// Newton's and Euler's law for every single body: its mass and inertia times the acceleration that
// qacc gives it are the wrench of its parent, less those on its children, and what acts on it from
// outside, which is what was applied and the sum of its contacts.
static void assert_newton_and_euler(tbWorld w, const tbReal* qvel) {
  const tbModel* m = w.m;
  tbData* d = w.d;
  assert_true(d->ncon > 0);
  assert_int_equal(tb_rne_post_constraint(m, d, NULL), TB_OK);
  double largest = 1;
  for (int i = 0; i < 6 * m->nbody; i++) largest = fmax(largest, fabs(d->cfrc_int[i]));
  for (int b = 1; b < m->nbody; b++) {
    const tbReal *at = d->xipos + 3 * b, *R = d->ximat + 9 * b, *inertia = m->body_inertia + 3 * b;
    tbReal a[3], alpha[3], sum[6], part[6], contacts[6], spin[3] = {0}, turn[3] = {0};
    acceleration(m, d, qvel, b, a, alpha);
    wrench_about(m, d, d->cfrc_ext, b, at, part);
    assert_int_equal(tb_body_contact_wrench(m, d, b, NULL, contacts, NULL), TB_OK);
    for (int k = 0; k < 6; k++) {
      assert_near(part[k], contacts[k] + d->xfrc_applied[6 * b + k], 1e-9 * largest);
      sum[k] = part[k];
    }
    wrench_about(m, d, d->cfrc_int, b, at, part);
    for (int k = 0; k < 6; k++) sum[k] += part[k];
    for (int c = b + 1; c < m->nbody; c++) {
      if (m->body_parentid[c] != b) continue;
      wrench_about(m, d, d->cfrc_int, c, at, part);
      for (int k = 0; k < 6; k++) sum[k] -= part[k];
    }
    // In the axes of the inertia: I alpha + w x I w.
    const tbReal* omega = d->cvel + 6 * b;
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < 3; k++) {
        spin[i] += R[3 * k + i] * omega[k];
        turn[i] += R[3 * k + i] * alpha[k];
      }
    }
    tbReal euler[3];
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      euler[i] = inertia[i] * turn[i] + (inertia[k] - inertia[j]) * spin[j] * spin[k];
    }
    for (int k = 0; k < 3; k++) {
      assert_near(sum[k], m->body_mass[b] * a[k], 1e-9 * largest);
      tbReal torque = 0;
      for (int i = 0; i < 3; i++) torque += R[3 * k + i] * euler[i];
      assert_near(sum[3 + k], torque, 1e-9 * largest);
    }
    // cacc is the same acceleration: that of an object corrects it for the point.
    tbReal object[6];
    tb_object_acceleration(m, d, TB_OBJ_BODY, b, 0, object);
    for (int k = 0; k < 3; k++) {
      assert_near(object[k], alpha[k], 1e-9 * largest);
      assert_near(object[3 + k], a[k], 1e-9 * largest);
    }
  }
}

static void every_body_obeys_newton_and_euler(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    int integrators = law == TB_LAW_VISCOELASTIC ? TB_SPRING_CASES : 1;
    for (int k = 0; k < integrators; k++) {
      tbWorld w = tb_world_scene("humanoid.xml", NULL);
      tbReal before[64];
      w.m->opt.law = law;
      if (integrators > 1) {
        w = tb_world_springs(w, TB_SPRING_CASE[k].integrator, TB_SPRING_CASE[k].timestep);
      }
      for (int i = 0; i < w.m->nu; i++) w.d->ctrl[i] = 0.1;
      tb_world_run(w, tb_world_steps(w, 0.5));
      for (int i = 6; i < 6 * w.m->nbody; i++) w.d->xfrc_applied[i] = 0.1 * (i % 7);
      assert_int_equal(tb_forward(w.m, w.d), TB_OK);
      assert_newton_and_euler(w, w.d->qvel);
      // A step leaves the frames and forces of its start, and the velocity of its end; integrators
      // with several evaluations leave those of the last one.
      int integrator = w.m->opt.integrator;
      bool several = integrators > 1 && integrator != TB_INTEGRATOR_EXPO &&
                     integrator != TB_INTEGRATOR_EULER_EXPLICIT;
      memcpy(before, w.d->qvel, sizeof(tbReal) * (size_t)w.m->nv);
      tb_world_run(w, 1);
      if (!several) assert_newton_and_euler(w, before);
      tb_world_free(w);
    }
  }
}

static void bad_arguments_are_named(void** state) {
  (void)state;
  tbWorld w = tb_world_text(CUBE), other = tb_world_scene("humanoid.xml", NULL);
  tbError error;
  tbReal wrench[6], nan[3] = {0, NAN, 0};
  tbContactState now;
  assert_int_equal(tb_rne_post_constraint(w.m, w.d, &error), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "tb_step or tb_forward first"));
  tb_world_run(w, 10);
#define REFUSED(call, word)                  \
  assert_int_equal(call, TB_ERROR_ARGUMENT); \
  assert_non_null(strstr(error.message, word));
  REFUSED(tb_contact_wrench(NULL, w.d, 0, 1, wrench, &error), "model is NULL")
  REFUSED(tb_contact_wrench(w.m, NULL, 0, 1, wrench, &error), "data is NULL")
  REFUSED(tb_contact_wrench(w.m, other.d, 0, 1, wrench, &error), "another model")
  REFUSED(tb_contact_wrench(w.m, w.d, 99, 1, wrench, &error), "contact is 99")
  REFUSED(tb_contact_wrench(w.m, w.d, -1, 1, wrench, &error), "contact is -1")
  REFUSED(tb_contact_wrench(w.m, w.d, 0, 5, wrench, &error), "on_geom is 5")
  REFUSED(tb_contact_wrench(w.m, w.d, 0, 1, NULL, &error), "wrench is NULL")
  REFUSED(tb_geom_contact_wrench(w.m, w.d, 2, NULL, wrench, &error), "geom is 2")
  REFUSED(tb_body_contact_wrench(w.m, w.d, 2, NULL, wrench, &error), "body is 2")
  REFUSED(tb_body_contact_wrench(w.m, w.d, 1, nan, wrench, &error), "about is not finite")
  REFUSED(tb_pair_contact_wrench(w.m, w.d, 1, -3, NULL, wrench, &error), "by_body is -3")
  REFUSED(tb_contact_velocity(w.m, w.d, 77, wrench, &error), "contact is 77")
  REFUSED(tb_contact_state(w.m, w.d, 0, NULL, NULL, &error), "state is NULL")
  REFUSED(tb_contact_state(w.m, w.d, 50, &now, NULL, &error), "contact is 50")
#undef REFUSED
  assert_string_equal(tb_contact_state_name((tbContactState)9), "unknown");
  tb_world_free(w);
  tb_world_free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weight_rests_on_the_floor),
      cmocka_unit_test(states_follow_the_motion),
      cmocka_unit_test(velocity_is_that_of_the_surfaces),
      cmocka_unit_test(reactions_close_the_balance),
      cmocka_unit_test(every_body_obeys_newton_and_euler),
      cmocka_unit_test(bad_arguments_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
