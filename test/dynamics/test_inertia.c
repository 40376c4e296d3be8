// M three ways, its factor, and forward dynamics two ways, on random trees.
#include "common/random_tree.h"
#include "common/test.h"
#include "tribo/dynamics.h"

typedef struct {
  tbModel* m;
  tbData* d;
  tbRng rng;
} World;

static World world_of(const tbRandomTree* options) {
  World w = {tb_random_tree(options), NULL, {options->seed * 7 + 1}};
  w.d = tb_data_new(w.m);
  assert_non_null(w.d);
  tb_random_state(w.m, w.d, &w.rng);
  tb_compute_position(w.m, w.d);
  tb_compute_velocity(w.m, w.d);
  return w;
}

static World world_new(uint64_t seed, int nbody) {
  tbRandomTree options = {.seed = seed, .nbody = nbody};
  return world_of(&options);
}

static void world_free(World w) {
  tb_data_free(w.d);
  tb_model_free(w.m);
}

static tbReal* reals(size_t n) {
  tbReal* x = calloc(n + 1, sizeof *x);
  assert_non_null(x);
  return x;
}

// For every world: `check` with a few sizes of trees.
static void for_worlds(void (*check)(World w)) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    World w = world_new(seed, 1 + (int)(seed % 12));
    if (w.m->nv > 0) check(w);
    world_free(w);
  }
}

static void mass_matrix_columns_are_inverse_dynamics(World w) {
  const tbModel* m = w.m;
  size_t nv = (size_t)m->nv;
  tbReal *M = reals(nv * nv), *column = reals(nv), *unit = reals(nv), *bias = reals(nv);
  tb_full_m(m, w.d, M);
  tb_rne(m, w.d, NULL, NULL, bias);
  assert_near_array(bias, w.d->qfrc_bias, m->nv, 0);
  for (size_t j = 0; j < nv; j++) {
    memset(unit, 0, nv * sizeof *unit);
    unit[j] = 1;
    tb_rne(m, w.d, unit, NULL, column);
    for (size_t i = 0; i < nv; i++) column[i] -= bias[i];
    for (size_t i = 0; i < nv; i++) assert_near(column[i], M[i * nv + j], 1e-11);
  }
  free(M), free(column), free(unit), free(bias);
}

// v' M v / 2 is a quadratic form: its Hessian by differences of the sum over bodies is exact.
static tbReal kinetic_energy(World w, const tbReal* v) {
  const tbModel* m = w.m;
  memcpy(w.d->qvel, v, (size_t)m->nv * sizeof *v);
  tb_com_velocity(m, w.d);
  tbReal sum = 0;
  for (int i = 1; i < m->nbody; i++) {
    // Koenig: (mass |v_com|^2 + w . I w) / 2 in the principal axes.
    tbReal velocity[6];
    tb_object_velocity(m, w.d, TB_OBJ_BODY, i, 1, velocity);
    for (int k = 0; k < 3; k++) {
      sum += 0.5 * m->body_inertia[3 * i + k] * velocity[k] * velocity[k];
      sum += 0.5 * m->body_mass[i] * velocity[3 + k] * velocity[3 + k];
    }
  }
  for (int i = 0; i < m->nv; i++) sum += 0.5 * m->dof_armature[i] * v[i] * v[i];
  return sum;
}

static void mass_matrix_is_hessian_of_kinetic_energy(World w) {
  size_t nv = (size_t)w.m->nv;
  tbReal *M = reals(nv * nv), *v = reals(nv), *saved = reals(nv);
  memcpy(saved, w.d->qvel, nv * sizeof *v);
  tb_full_m(w.m, w.d, M);
  tb_energy_velocity(w.m, w.d);
  assert_near(w.d->energy[1], kinetic_energy(w, saved), 1e-11);
  for (size_t i = 0; i < nv; i++) {
    for (size_t j = 0; j <= i; j++) {
      memset(v, 0, nv * sizeof *v);
      v[i] = 1;
      tbReal ei = kinetic_energy(w, v);
      memset(v, 0, nv * sizeof *v);
      v[j] = 1;
      tbReal ej = kinetic_energy(w, v);
      v[i] += 1;
      tbReal both = kinetic_energy(w, v);
      tbReal expected = i == j ? 2 * ei : both - ei - ej;
      assert_near(M[i * nv + j], expected, 1e-10);
    }
  }
  free(M), free(v), free(saved);
}

static void factor_solves(World w) {
  const tbModel* m = w.m;
  size_t nv = (size_t)m->nv;
  tbReal *x = reals(2 * nv), *y = reals(2 * nv), *b = reals(2 * nv), *h = reals(2 * nv);
  for (size_t i = 0; i < 2 * nv; i++) b[i] = tb_rng_normal(&w.rng);
  tb_solve_m(m, w.d, x, b, 2);
  tb_mul_m(m, w.d, y, x);
  tb_mul_m(m, w.d, y + nv, x + nv);
  // A force on a joint that is held moves nothing.
  if (!tb_has_redundant_dofs(w.m, w.d)) assert_near_array(y, b, 2 * m->nv, 1e-9);
  // Half-solves: h_i . h_j = b_i . M^-1 b_j.
  tb_half_solve_m(m, w.d, h, b, 2);
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      tbReal a = 0, c = 0;
      for (size_t k = 0; k < nv; k++) {
        a += h[(size_t)i * nv + k] * h[(size_t)j * nv + k];
        c += b[(size_t)i * nv + k] * x[(size_t)j * nv + k];
      }
      assert_near(a, c, 1e-9);
    }
  }
  free(x), free(y), free(b), free(h);
}

static void half_solve_on_support_is_the_dense_one(World w) {
  const tbModel* m = w.m;
  int nv = m->nv, support[256];
  assert_true(nv <= 256);
  tbReal *jacp = reals(3 * 256), *jacr = reals(3 * 256), *dense = reals((size_t)nv);
  for (int trial = 0; trial < 4; trial++) {
    int a = tb_rng_int(&w.rng, m->nbody), b = tb_rng_int(&w.rng, m->nbody);
    int n =
        tb_jac_pair(m, w.d, a, w.d->xipos + 3 * a, b, w.d->xpos + 3 * b, support, jacp, jacr, 256);
    tbReal* rows[2] = {jacp, jacr};
    for (int which = 0; which < 2; which++) {
      tbReal before[3][256];
      for (int r = 0; r < 3; r++) memcpy(before[r], rows[which] + 256 * r, sizeof before[r]);
      tb_half_solve_support(m, w.d, support, n, rows[which], 256, 3);
      for (int r = 0; r < 3; r++) {
        memset(dense, 0, (size_t)nv * sizeof *dense);
        for (int k = 0; k < n; k++) dense[support[k]] = before[r][k];
        tb_half_solve_m(m, w.d, dense, dense, 1);
        for (int k = 0; k < n; k++) {
          assert_near(rows[which][256 * r + k], dense[support[k]], 1e-12);
          dense[support[k]] = 0;
        }
        for (int k = 0; k < nv; k++) assert_true(dense[k] == 0);
      }
    }
  }
  free(jacp), free(jacr), free(dense);
}

static void aba_is_forward_dynamics(World w) {
  const tbModel* m = w.m;
  if (tb_has_redundant_dofs(w.m, w.d)) return;
  size_t nv = (size_t)m->nv;
  tbReal *tau = reals(nv), *a = reals(nv), *b = reals(nv), *back = reals(nv);
  tbReal* xfrc = reals(6 * (size_t)m->nbody);
  for (size_t i = 0; i < nv; i++) tau[i] = tb_rng_normal(&w.rng);
  tb_forward_dynamics(m, w.d, tau, a);
  assert_int_equal(tb_aba(m, w.d, tau, NULL, b), TB_OK);
  assert_near_array(a, b, m->nv, 1e-9);

  // With external wrenches: M^-1 (tau + J^T f - b), and inverse dynamics gives tau back.
  for (int i = 6; i < 6 * m->nbody; i++) xfrc[i] = tb_rng_normal(&w.rng);
  memcpy(back, tau, nv * sizeof *tau);
  tb_apply_xfrc(m, w.d, xfrc, back);
  tb_forward_dynamics(m, w.d, back, a);
  assert_int_equal(tb_aba(m, w.d, tau, xfrc, b), TB_OK);
  assert_near_array(a, b, m->nv, 1e-9);
  tb_rne(m, w.d, b, xfrc, back);
  assert_near_array(back, tau, m->nv, 1e-9);
  free(tau), free(a), free(b), free(back), free(xfrc);
}

// The force between the world and its children carries all weight and inertia.
static void body_forces_balance(World w) {
  const tbModel* m = w.m;
  for (int i = 0; i < m->nv; i++) w.d->qacc[i] = tb_rng_normal(&w.rng);
  memset(w.d->cfrc_ext, 0, (size_t)m->nbody * 6 * sizeof(tbReal));
  tb_body_forces(m, w.d);
  tbReal* tau = reals((size_t)m->nv);
  tb_rne(m, w.d, w.d->qacc, NULL, tau);
  for (int i = 0; i < m->nv; i++) {
    tbReal sum = m->dof_armature[i] * w.d->qacc[i];
    for (int k = 0; k < 6; k++) {
      sum += w.d->cdof[6 * i + k] * w.d->cfrc_int[6 * m->dof_bodyid[i] + k];
    }
    assert_near(sum, tau[i], 1e-11);
  }
  // Newton for everything: force on the world's children = sum of mass (a_com - g).
  tbReal force[3] = {0, 0, 0};
  for (int i = 1; i < m->nbody; i++) {
    tbReal a[6];
    tb_object_acceleration(m, w.d, TB_OBJ_BODY, i, 0, a);
    for (int k = 0; k < 3; k++) force[k] += m->body_mass[i] * a[3 + k];
  }
  assert_near_array(force, w.d->cfrc_int + 3, 3, 1e-10);
  free(tau);
}

#define OVER_WORLDS(name)                 \
  static void test_##name(void** state) { \
    (void)state, for_worlds(name);        \
  }
OVER_WORLDS(mass_matrix_columns_are_inverse_dynamics)
OVER_WORLDS(mass_matrix_is_hessian_of_kinetic_energy)
OVER_WORLDS(factor_solves)
OVER_WORLDS(half_solve_on_support_is_the_dense_one)
OVER_WORLDS(aba_is_forward_dynamics)
OVER_WORLDS(body_forces_balance)

// Inertia along tendons: M and inverse dynamics agree, ABA says that it cannot, and where all dofs
// lie on one branch the kinetic energy is that of M.
static void tendon_armature_is_in_all(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    tbRandomTree options = {.seed = seed, .nbody = 6, .ntendon = 4, .tendon_armature = true};
    World w = world_of(&options);
    const tbModel* m = w.m;
    size_t nv = (size_t)m->nv;
    mass_matrix_columns_are_inverse_dynamics(w);
    assert_int_equal(tb_aba(m, w.d, w.d->qfrc_bias, NULL, w.d->qacc), TB_ERROR_UNSUPPORTED);
    bool branches = false;
    for (int i = 0; i < m->nv; i++) branches |= m->dof_parentid[i] != i - 1;
    if (!branches) {
      tbReal* v = reals(nv);
      memcpy(v, w.d->qvel, nv * sizeof *v);
      tb_energy_velocity(m, w.d);
      tbReal expected = kinetic_energy(w, v);
      for (int t = 0; t < m->ntendon; t++) {
        expected += 0.5 * m->tendon_armature[t] * w.d->ten_velocity[t] * w.d->ten_velocity[t];
      }
      assert_near(w.d->energy[1], expected, 1e-11);
      free(v);
    }
    world_free(w);
  }
}

// Weights of tendons and accelerations of actuators, found on their chains alone, are those of
// whole solves.
static void lengths_have_the_weights_of_whole_solves(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    tbRandomTree options = {
        .seed = seed, .nbody = 2 + (int)(seed % 20), .ntendon = (int)(seed % 5), .nu = 8};
    World w = world_of(&options);
    const tbModel* m = w.m;
    size_t nv = (size_t)m->nv;
    tbReal *rows = reals(nv * (size_t)(m->nu + m->ntendon)), *x = reals(nv);
    memcpy(w.d->qpos, m->qpos0, (size_t)m->nq * sizeof(tbReal));
    tb_compute_position(m, w.d);
    bool redundant = tb_has_redundant_dofs(w.m, w.d);
    tb_full_moment(m, w.d, rows);
    for (int u = 0; u < m->nu && !redundant; u++) {
      tb_solve_m(m, w.d, x, rows + nv * (size_t)u, 1);
      tbReal sum = 0;
      for (size_t i = 0; i < nv; i++) sum += x[i] * x[i];
      assert_near(m->actuator_acc0[u], sqrt(sum), 1e-9);
    }
    tb_full_ten_J(m, w.d, rows);
    for (int t = 0; t < m->ntendon && !redundant; t++) {
      tb_solve_m(m, w.d, x, rows + nv * (size_t)t, 1);
      tbReal sum = 0;
      for (size_t i = 0; i < nv; i++) sum += x[i] * rows[nv * (size_t)t + i];
      assert_near(m->tendon_invweight0[t], sum, 1e-9);
    }
    free(rows), free(x);
    world_free(w);
  }
}

// Is the weight of a body its mass alone (constants.md)? Only for bodies on slides.
static bool slides(const tbModel* m, int body) {
  bool only = m->body_jntnum[body] > 0;
  for (int j = m->body_jntadr[body]; j < m->body_jntadr[body] + m->body_jntnum[body]; j++) {
    only &= m->jnt_type[j] == TB_JOINT_SLIDE;
  }
  return only && m->body_subtreenum[body] == 1;
}

// Inverse weights, carried along the tree, are those of whole solves; so are those of models with
// inertia along tendons, which are not.
static void bodies_have_the_weights_of_whole_solves(void** state) {
  (void)state;
  int compared = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    tbRandomTree options = {.seed = seed,
                            .nbody = 2 + (int)(seed % 25),
                            .ntendon = (int)(seed % 3),
                            .tendon_armature = seed % 2};
    World w = world_of(&options);
    const tbModel* m = w.m;
    size_t nv = (size_t)m->nv;
    tbReal *rows = reals(6 * nv), *x = reals(6 * nv);
    memcpy(w.d->qpos, m->qpos0, (size_t)m->nq * sizeof(tbReal));
    tb_compute_position(m, w.d);
    bool redundant = tb_has_redundant_dofs(w.m, w.d);
    for (int b = 1; b < m->nbody && !redundant; b++) {
      if (slides(m, b)) continue;
      tb_jac_body_com(m, w.d, b, rows, rows + 3 * nv);
      tb_solve_m(m, w.d, x, rows, 6);
      tbReal sum[2] = {0, 0};
      for (size_t k = 0; k < 6 * nv; k++) sum[k / (3 * nv)] += rows[k] * x[k] / 3;
      assert_near(m->body_invweight0[2 * b], sum[0], 1e-9);
      assert_near(m->body_invweight0[2 * b + 1], sum[1], 1e-9);
      compared++;
    }
    for (int j = 0; j < m->njnt; j++) {
      int dof = m->jnt_dofadr[j];
      if (redundant || m->jnt_type[j] != TB_JOINT_HINGE) continue;
      memset(x, 0, nv * sizeof *x);
      x[dof] = 1;
      tb_solve_m(m, w.d, x, x, 1);
      assert_near(m->dof_invweight0[dof], x[dof], 1e-9);
    }
    free(rows), free(x);
    world_free(w);
  }
  assert_true(compared > 300);
}

// Far from its ends a long chain has the same weights everywhere: rounding does not add up along
// it.
static void long_chains_keep_their_weights(void** state) {
  (void)state;
  enum { LINKS = 500, SIZE = 200 * LINKS };
  char* xml = malloc(SIZE);
  int n = snprintf(xml, SIZE, "<mujoco><worldbody>");
  for (int i = 0; i < LINKS; i++) {
    n += snprintf(xml + n, (size_t)(SIZE - n),
                  "<body pos='0.1 0 0'><joint axis='0 1 0'/><joint axis='0 0 1'/><geom "
                  "type='capsule' size='.01' fromto='0 0 0 .1 0 0'/>");
  }
  for (int i = 0; i < LINKS; i++) n += snprintf(xml + n, (size_t)(SIZE - n), "</body>");
  snprintf(xml + n, (size_t)(SIZE - n), "</worldbody></mujoco>");
  tbError error = {0};
  tbModel* m = tb_load_string(xml, NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  const tbReal* middle = m->body_invweight0 + LINKS;
  for (int b = 50; b < LINKS - 50; b++) {
    for (int k = 0; k < 2; k++) {
      assert_near(m->body_invweight0[2 * b + k] / middle[k], 1, 1e-8);
      assert_near(m->dof_invweight0[2 * b + k] / m->dof_invweight0[LINKS + k], 1, 1e-8);
    }
  }
  tb_model_free(m);
  free(xml);
}

// Two hinges on one axis share the acceleration that one alone would have; forward dynamics agree.
static void redundant_joints_move_together(void** state) {
  (void)state;
  static const char* const JOINTS[] = {"<joint axis='0 1 0'/>",
                                       "<joint axis='0 1 0'/><joint axis='0 1 0'/>"};
  tbReal qacc[2][2] = {{0}};
  for (int k = 0; k < 2; k++) {
    char xml[512];
    snprintf(
        xml, sizeof xml,
        "<mujoco><worldbody><body>%s<geom size='0.1' pos='0.3 0 0'/></body></worldbody></mujoco>",
        JOINTS[k]);
    tbError error = {0};
    tbModel* m = tb_load_string(xml, NULL, NULL, &error);
    if (!m) fail_msg("%s", error.message);
    tbData* d = tb_data_new(m);
    tbReal tau[2] = {0, 0}, aba[2];
    tb_compute_position(m, d);
    tb_compute_velocity(m, d);
    tb_forward_dynamics(m, d, tau, qacc[k]);
    assert_int_equal(tb_aba(m, d, tau, NULL, aba), TB_OK);
    assert_near_array(aba, qacc[k], m->nv, 1e-12);
    // It needs no M, and is not misled by one of another pose.
    memset(d->crb, 0, (size_t)m->nbody * 10 * sizeof(tbReal));
    assert_int_equal(tb_aba(m, d, tau, NULL, aba), TB_OK);
    assert_near_array(aba, qacc[k], m->nv, 1e-12);
    tb_data_free(d);
    tb_model_free(m);
  }
  assert_near(qacc[1][0] + qacc[1][1], qacc[0][0], 1e-9);
}

// A body without mass or inertia on a joint is an error, not a crash.
static void massless_body_is_an_error(void** state) {
  (void)state;
  World w = world_new(5, 3);
  for (int i = 0; i < 3; i++) w.m->body_mass[1 + i] = 0;
  memset(w.m->body_inertia, 0, (size_t)w.m->nbody * 3 * sizeof(tbReal));
  memset(w.m->dof_armature, 0, (size_t)w.m->nv * sizeof(tbReal));
  tbError error;
  assert_int_equal(tb_set_constants(w.m, &error), TB_ERROR_MODEL);
  tb_compute_position(w.m, w.d);
  tb_compute_velocity(w.m, w.d);
  assert_int_equal(tb_aba(w.m, w.d, w.d->qfrc_bias, NULL, w.d->qacc), TB_ERROR_NUMERIC);
  assert_int_equal(tb_factor_m(w.m, w.d), TB_ERROR_NUMERIC);
  tb_solve_m(w.m, w.d, w.d->qacc, w.d->qfrc_bias, 1);
  assert_true(isnan(w.d->qacc[0]));
  world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mass_matrix_columns_are_inverse_dynamics),
      cmocka_unit_test(test_mass_matrix_is_hessian_of_kinetic_energy),
      cmocka_unit_test(test_factor_solves),
      cmocka_unit_test(test_half_solve_on_support_is_the_dense_one),
      cmocka_unit_test(test_aba_is_forward_dynamics),
      cmocka_unit_test(test_body_forces_balance),
      cmocka_unit_test(tendon_armature_is_in_all),
      cmocka_unit_test(lengths_have_the_weights_of_whole_solves),
      cmocka_unit_test(bodies_have_the_weights_of_whole_solves),
      cmocka_unit_test(long_chains_keep_their_weights),
      cmocka_unit_test(redundant_joints_move_together),
      cmocka_unit_test(massless_body_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
