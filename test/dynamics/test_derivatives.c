// Kinematics, Jacobians, tendons and actuators against finite differences on random trees.
#include "common/random_tree.h"
#include "common/test.h"
#include "spatial/quat.h"
#include "tribo/dynamics.h"

static const tbReal STEP = 1e-6;

typedef struct {
  tbModel* m;
  tbData* d;
  tbData* low;   // the state one step back along some velocity
  tbData* high;  // and one step on
  tbRng rng;
} World;

static World world_new(uint64_t seed) {
  tbRandomTree options = {.seed = seed, .nbody = 2 + (int)(seed % 9), .ntendon = 4, .nu = 8};
  World w = {tb_random_tree(&options), NULL, NULL, NULL, {seed + 1000}};
  w.d = tb_data_new(w.m);
  w.low = tb_data_new(w.m);
  w.high = tb_data_new(w.m);
  assert_true(w.d && w.low && w.high);
  tb_random_state(w.m, w.d, &w.rng);
  tb_compute_position(w.m, w.d);
  tb_compute_velocity(w.m, w.d);
  return w;
}

static void world_free(World w) {
  tb_data_free(w.d);
  tb_data_free(w.low);
  tb_data_free(w.high);
  tb_model_free(w.m);
}

static void for_worlds(void (*check)(World* w)) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    World w = world_new(seed);
    if (w.m->nv > 0) check(&w);
    world_free(w);
  }
}

static void place(World* w, tbData* d, const tbReal* v, tbReal dt) {
  memcpy(d->qpos, w->d->qpos, (size_t)w->m->nq * sizeof(tbReal));
  memcpy(d->qvel, w->d->qvel, (size_t)w->m->nv * sizeof(tbReal));
  tb_integrate_pos(w->m, d->qpos, v, dt);
  tb_compute_position(w->m, d);
  tb_compute_velocity(w->m, d);
}

// Put `low` and `high` one step along v.
static void spread(World* w, const tbReal* v) {
  place(w, w->low, v, -STEP);
  place(w, w->high, v, STEP);
}

static tbReal slope(tbReal low, tbReal high) {
  return (high - low) / (2 * STEP);
}

// Body and site frames move as cvel and the Jacobians say.
static void velocities_are_derivatives(World* w) {
  const tbModel* m = w->m;
  spread(w, w->d->qvel);
  tbReal* J = calloc((size_t)(6 * m->nv), sizeof(tbReal));
  for (int i = 1; i < m->nbody; i++) {
    tbReal v[6], turn[4], inverse[4], angle[3], product[6] = {0};
    tb_object_velocity(m, w->d, TB_OBJ_XBODY, i, 0, v);
    for (int k = 0; k < 3; k++) {
      assert_near(slope(w->low->xpos[3 * i + k], w->high->xpos[3 * i + k]), v[3 + k], 1e-7);
    }
    tb_quat_conjugate(inverse, w->low->xquat + 4 * i);
    tb_quat_mul(turn, w->high->xquat + 4 * i, inverse);
    tb_quat_log(angle, turn);
    for (int k = 0; k < 3; k++) assert_near(angle[k] / (2 * STEP), v[k], 1e-7);
    tb_jac_body(m, w->d, i, J, J + 3 * m->nv);
    for (int r = 0; r < 6; r++) {
      for (int c = 0; c < m->nv; c++) product[r] += J[r * m->nv + c] * w->d->qvel[c];
    }
    assert_near_array(product, v + 3, 3, 1e-11);
    assert_near_array(product + 3, v, 3, 1e-11);
  }
  for (int s = 0; s < m->nsite; s++) {
    tbReal v[6];
    tb_object_velocity(m, w->d, TB_OBJ_SITE, s, 0, v);
    for (int k = 0; k < 3; k++) {
      assert_near(slope(w->low->site_xpos[3 * s + k], w->high->site_xpos[3 * s + k]), v[3 + k],
                  1e-7);
    }
  }
  for (int i = 0; i < m->nbody; i++) {
    tbReal product[3] = {0}, fd[3];
    tb_jac_subtree_com(m, w->d, i, J);
    for (int r = 0; r < 3; r++) {
      for (int c = 0; c < m->nv; c++) product[r] += J[r * m->nv + c] * w->d->qvel[c];
      fd[r] = slope(w->low->subtree_com[3 * i + r], w->high->subtree_com[3 * i + r]);
    }
    assert_near_array(product, fd, 3, 1e-7);
  }
  tb_subtree_velocity(m, w->d);
  for (int i = 0; i < m->nbody; i++) {
    for (int k = 0; k < 3; k++) {
      tbReal fd = slope(w->low->subtree_com[3 * i + k], w->high->subtree_com[3 * i + k]);
      assert_near(w->d->subtree_linvel[3 * i + k], fd, 1e-7);
    }
  }
  free(J);
}

// Sparse Jacobians are the dense ones, and pairs are differences.
static void sparse_jacobians_are_dense_ones(World* w) {
  const tbModel* m = w->m;
  size_t nv = (size_t)m->nv;
  tbReal *dense = calloc(12 * nv, sizeof(tbReal)), *sparse = calloc(6 * nv, sizeof(tbReal));
  int* support = calloc(nv, sizeof(int));
  for (int trial = 0; trial < 5; trial++) {
    int a = tb_rng_int(&w->rng, m->nbody), b = tb_rng_int(&w->rng, m->nbody);
    tbReal p[3] = {1, 2, 3}, q[3] = {-1, 0.5, 2};
    tb_jac(m, w->d, a, p, dense, dense + 3 * nv);
    tb_jac(m, w->d, b, q, dense + 6 * nv, dense + 9 * nv);
    int n = tb_jac_pair(m, w->d, a, p, b, q, support, sparse, sparse + 3 * nv, (int)nv);
    for (size_t r = 0; r < 6; r++) {
      for (int k = 0; k < n; k++) {
        size_t c = (size_t)support[k];
        tbReal expected = dense[(6 + r) * nv + c] - dense[r * nv + c];
        assert_near(sparse[r * nv + (size_t)k], expected, 1e-13);
        dense[(6 + r) * nv + c] = dense[r * nv + c] = 0;
      }
      for (size_t c = 0; c < nv; c++) assert_true(dense[(6 + r) * nv + c] == dense[r * nv + c]);
    }
    const int* dofs;
    int count = tb_chain(m, a, &dofs);
    tb_jac(m, w->d, a, p, dense, NULL);
    assert_int_equal(tb_jac_sparse(m, w->d, a, p, sparse, NULL, (int)nv), count);
    for (size_t r = 0; r < 3; r++) {
      for (int k = 0; k < count; k++) {
        assert_true(sparse[r * nv + (size_t)k] == dense[r * nv + (size_t)dofs[k]]);
      }
    }
  }
  free(dense), free(sparse), free(support);
}

// Ids that are not there: zero, not a crash.
static void unknown_ids_do_not_move(World* w) {
  const tbModel* m = w->m;
  size_t nv = (size_t)m->nv;
  tbReal* J = calloc(6 * nv, sizeof(tbReal));
  int* support = calloc(nv, sizeof(int));
  const int* dofs;
  static const int IDS[] = {-1, -2147483647, 2147483647};
  for (int k = 0; k < 3; k++) {
    int id = IDS[k];
    tbReal point[3] = {1, 2, 3}, v[6];
    assert_int_equal(tb_chain(m, id, &dofs), 0);
    for (size_t i = 0; i < 6 * nv; i++) J[i] = 1;
    tb_jac(m, w->d, id, point, J, J + 3 * nv);
    for (size_t i = 0; i < 6 * nv; i++) assert_true(J[i] == 0);
    tb_jac_geom(m, w->d, id, J, NULL);
    tb_jac_site(m, w->d, id, J, NULL);
    tb_jac_body(m, w->d, id, J, NULL);
    tb_jac_body_com(m, w->d, id, J, NULL);
    tb_jac_dot(m, w->d, id, point, J, NULL);
    tb_jac_dot_v(m, w->d, id, point, v, NULL);
    tb_apply_wrench(m, w->d, id, point, v, v, J);
    for (size_t i = 0; i < 3 * nv; i++) assert_true(J[i] == 0);
    assert_int_equal(tb_jac_pair(m, w->d, id, point, id, point, support, J, NULL, (int)nv), 0);
    tb_object_velocity(m, w->d, TB_OBJ_SITE, id, 0, v);
    for (int i = 0; i < 6; i++) assert_true(v[i] == 0);
    tb_add_tendon_wrench(m, w->d, id, 1);
  }
  free(J), free(support);
}

// dJ/dt by differences of J along the motion; dJ/dt v two ways.
static void jacobian_derivatives(World* w) {
  const tbModel* m = w->m;
  size_t nv = (size_t)m->nv;
  tbReal *J = calloc(18 * nv, sizeof(tbReal)), *K = J + 6 * nv, *D = J + 12 * nv;
  spread(w, w->d->qvel);
  for (int i = 1; i < m->nbody; i++) {
    tb_jac_body_com(m, w->low, i, J, J + 3 * nv);
    tb_jac_body_com(m, w->high, i, K, K + 3 * nv);
    tb_jac_dot(m, w->d, i, w->d->xipos + 3 * i, D, D + 3 * nv);
    for (size_t k = 0; k < 6 * nv; k++) assert_near(slope(J[k], K[k]), D[k], 1e-6);
    tbReal acceleration[6], product[6] = {0};
    tb_jac_dot_v(m, w->d, i, w->d->xipos + 3 * i, acceleration, acceleration + 3);
    for (size_t r = 0; r < 6; r++) {
      for (size_t c = 0; c < nv; c++) product[r] += D[r * nv + c] * w->d->qvel[c];
    }
    assert_near_array(product, acceleration, 6, 1e-10);
  }
  free(J);
}

// Tendon and actuator lengths change as their sparse Jacobians say, dof by dof.
static void lengths_have_their_jacobians(World* w) {
  const tbModel* m = w->m;
  size_t nv = (size_t)m->nv;
  tbReal* unit = calloc(nv, sizeof(tbReal));
  tbReal* J = calloc((size_t)m->ntendon * nv, sizeof(tbReal));
  tbReal* moment = calloc((size_t)m->nu * nv, sizeof(tbReal));
  tb_full_ten_J(m, w->d, J);
  tb_full_moment(m, w->d, moment);
  for (size_t i = 0; i < nv; i++) {
    memset(unit, 0, nv * sizeof(tbReal));
    unit[i] = 1;
    spread(w, unit);
    for (int t = 0; t < m->ntendon; t++) {
      tbReal low = slope(w->low->ten_length[t], w->d->ten_length[t]) * 2;
      tbReal high = slope(w->d->ten_length[t], w->high->ten_length[t]) * 2;
      // A string that starts or stops to wrap within the step has no slope.
      if (fabs(high - low) > 1e-3) continue;
      assert_near((low + high) / 2, J[(size_t)t * nv + i], 1e-6);
    }
    for (int u = 0; u < m->nu; u++) {
      int trn = m->actuator_trntype[u], joint = m->actuator_trnid[2 * u];
      // Forces at sites have no length; nor have free joints, and ball joints' is not exact.
      if (trn == TB_TRN_SITE) continue;
      if ((trn == TB_TRN_JOINT || trn == TB_TRN_JOINTINPARENT) && m->jnt_type[joint] < 2) continue;
      tbReal low = slope(w->low->actuator_length[u], w->d->actuator_length[u]) * 2;
      tbReal high = slope(w->d->actuator_length[u], w->high->actuator_length[u]) * 2;
      if (fabs(high - low) > 1e-3) continue;
      assert_near((low + high) / 2, moment[(size_t)u * nv + i], 1e-6);
    }
  }
  free(unit), free(J), free(moment);
}

// Site forces: moment = J^T (force, torque) in the site's axes.
static void site_moments_are_jacobian_transposes(World* w) {
  const tbModel* m = w->m;
  size_t nv = (size_t)m->nv;
  tbReal *J = calloc(6 * nv, sizeof(tbReal)), *moment = calloc((size_t)m->nu * nv, sizeof(tbReal));
  tb_full_moment(m, w->d, moment);
  for (int u = 0; u < m->nu; u++) {
    if (m->actuator_trntype[u] != TB_TRN_SITE) continue;
    int site = m->actuator_trnid[2 * u];
    tbReal f[6];
    tb_jac_site(m, w->d, site, J, J + 3 * nv);
    tb_mul_mat3_vec3(f, w->d->site_xmat + 9 * site, m->actuator_gear + 6 * u);
    tb_mul_mat3_vec3(f + 3, w->d->site_xmat + 9 * site, m->actuator_gear + 6 * u + 3);
    for (size_t i = 0; i < nv; i++) {
      tbReal sum = 0;
      for (size_t r = 0; r < 6; r++) sum += J[r * nv + i] * f[r];
      assert_near(sum, moment[(size_t)u * nv + i], 1e-11);
    }
  }
  free(J), free(moment);
}

// dE/dq = - (static forces): gravity by RNEA at rest, springs by their energies' slopes.
static void bias_at_rest_is_gradient_of_potential(World* w) {
  const tbModel* m = w->m;
  size_t nv = (size_t)m->nv;
  tbReal *unit = calloc(nv, sizeof(tbReal)), *bias = calloc(nv, sizeof(tbReal));
  w->m->opt.disableflags = TB_DISABLE_SPRING;
  memset(w->d->qvel, 0, nv * sizeof(tbReal));
  tb_compute_velocity(m, w->d);
  memcpy(bias, w->d->qfrc_bias, nv * sizeof(tbReal));
  for (size_t i = 0; i < nv; i++) {
    memset(unit, 0, nv * sizeof(tbReal));
    unit[i] = 1;
    spread(w, unit);
    tb_energy_position(m, w->low);
    tb_energy_position(m, w->high);
    assert_near(slope(w->low->energy[0], w->high->energy[0]), bias[i], 1e-6);
  }
  free(unit), free(bias);
}

// Integrating a difference gives the second configuration, also far apart.
static void differences_integrate(World* w) {
  const tbModel* m = w->m;
  tbReal *q = calloc((size_t)m->nq, sizeof(tbReal)), *v = calloc((size_t)m->nv, sizeof(tbReal));
  tb_random_state(m, w->low, &w->rng);
  memcpy(q, w->d->qpos, (size_t)m->nq * sizeof(tbReal));
  tb_differentiate_pos(m, v, 0.3, q, w->low->qpos);
  tb_integrate_pos(m, q, v, 0.3);
  tb_differentiate_pos(m, v, 0.3, q, w->low->qpos);
  for (int i = 0; i < m->nv; i++) assert_near(v[i], 0, 1e-12);
  free(q), free(v);
}

#define OVER_WORLDS(name)                 \
  static void test_##name(void** state) { \
    (void)state, for_worlds(name);        \
  }
OVER_WORLDS(velocities_are_derivatives)
OVER_WORLDS(sparse_jacobians_are_dense_ones)
OVER_WORLDS(unknown_ids_do_not_move)
OVER_WORLDS(jacobian_derivatives)
OVER_WORLDS(lengths_have_their_jacobians)
OVER_WORLDS(site_moments_are_jacobian_transposes)
OVER_WORLDS(bias_at_rest_is_gradient_of_potential)
OVER_WORLDS(differences_integrate)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_velocities_are_derivatives),
      cmocka_unit_test(test_sparse_jacobians_are_dense_ones),
      cmocka_unit_test(test_unknown_ids_do_not_move),
      cmocka_unit_test(test_jacobian_derivatives),
      cmocka_unit_test(test_lengths_have_their_jacobians),
      cmocka_unit_test(test_site_moments_are_jacobian_transposes),
      cmocka_unit_test(test_bias_at_rest_is_gradient_of_potential),
      cmocka_unit_test(test_differences_integrate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
