// Conservation laws of the equations of motion, integrated by a fourth-order Runge-Kutta of this
// test.
#include "common/random_tree.h"
#include "common/test.h"
#include "tribo/dynamics.h"

typedef struct {
  tbModel* m;
  tbData* d;
} World;

static World world_new(const tbRandomTree* options) {
  World w = {tb_random_tree(options), NULL};
  w.d = tb_data_new(w.m);
  assert_non_null(w.d);
  return w;
}

static void world_free(World w) {
  tb_data_free(w.d);
  tb_model_free(w.m);
}

// Acceleration at (qpos, qvel) without forces, by ABA.
static void acceleration(World w, tbReal* qacc) {
  tb_kinematics(w.m, w.d);
  tb_com_position(w.m, w.d);
  tb_com_velocity(w.m, w.d);
  memset(w.d->qfrc_smooth, 0, (size_t)w.m->nv * sizeof(tbReal));
  assert_int_equal(tb_aba(w.m, w.d, w.d->qfrc_smooth, NULL, qacc), TB_OK);
}

// Classical RK4 with stages on the manifold: q_k = q0 + dt c_k v_k.
static void rk4_step(World w, tbReal dt) {
  enum { MOST = 256 };
  const tbModel* m = w.m;
  size_t nv = (size_t)m->nv, nq = (size_t)m->nq;
  assert_true(nq < MOST);
  tbReal q0[MOST], v0[MOST], v[4][MOST], a[4][MOST], sum[MOST];
  static const tbReal C[] = {0, 0.5, 0.5, 1}, B[] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
  memcpy(q0, w.d->qpos, nq * sizeof(tbReal));
  memcpy(v0, w.d->qvel, nv * sizeof(tbReal));
  for (int k = 0; k < 4; k++) {
    for (size_t i = 0; i < nv; i++) v[k][i] = v0[i] + (k ? dt * C[k] * a[k - 1][i] : 0);
    memcpy(w.d->qpos, q0, nq * sizeof(tbReal));
    if (k) tb_integrate_pos(m, w.d->qpos, v[k - 1], dt * C[k]);
    memcpy(w.d->qvel, v[k], nv * sizeof(tbReal));
    acceleration(w, a[k]);
  }
  for (size_t i = 0; i < nv; i++) {
    sum[i] = 0;
    w.d->qvel[i] = v0[i];
    for (int k = 0; k < 4; k++) {
      sum[i] += B[k] * v[k][i];
      w.d->qvel[i] += dt * B[k] * a[k][i];
    }
  }
  memcpy(w.d->qpos, q0, nq * sizeof(tbReal));
  tb_integrate_pos(m, w.d->qpos, sum, dt);
}

static tbReal energy(World w) {
  tb_compute_position(w.m, w.d);
  tb_energy_position(w.m, w.d);
  tb_energy_velocity(w.m, w.d);
  return w.d->energy[0] + w.d->energy[1];
}

// Energy drifts with the step's power, so halving the step must shrink the drift much.
static tbReal energy_drift(uint64_t seed, bool scalar_only, tbReal dt) {
  tbRandomTree options = {.seed = seed,
                          .nbody = 6,
                          .scalar_only = scalar_only,
                          .fixed_base = scalar_only,
                          .conservative = true};
  World w = world_new(&options);
  w.m->opt.disableflags |= TB_DISABLE_SPRING;
  tbRng rng = {seed};
  tb_random_state(w.m, w.d, &rng);
  for (int i = 0; i < w.m->nv; i++) w.d->qvel[i] *= 0.5;
  tbReal before = energy(w);
  int steps = (int)(0.25 / dt + 0.5);
  for (int k = 0; k < steps; k++) rk4_step(w, dt);
  tbReal drift = fabs(energy(w) - before) / (1 + fabs(before));
  world_free(w);
  return drift;
}

static void energy_is_conserved(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    // Hinges and slides: a flat space, full order. With rotations the stages' charts cost order.
    tbReal coarse = energy_drift(seed, true, 2e-3), fine = energy_drift(seed, true, 1e-3);
    assert_true(fine < 1e-7);
    assert_true(fine < 0.1 * coarse + 1e-12);
    assert_true(energy_drift(seed, false, 1e-4) < 1e-5);
  }
}

// A floating tree without gravity keeps its linear and angular momentum.
static void momentum_is_conserved(void** state) {
  (void)state;
  int checked = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    tbRandomTree options = {.seed = seed, .nbody = 5, .conservative = true};
    World w = world_new(&options);
    const tbModel* m = w.m;
    bool floating = m->njnt > 0 && m->jnt_type[0] == TB_JOINT_FREE && m->body_subtreenum[1] == 5;
    if (floating) {
      // Rotor inertia on the floating joint itself would hold the world's axes.
      for (int i = 0; i < m->nv; i++) m->dof_armature[i] = 0;
      for (int k = 0; k < 3; k++) w.m->opt.gravity[k] = 0;
      tbRng rng = {seed};
      tb_random_state(m, w.d, &rng);
      tbReal before[6], after[6];
      for (int when = 0; when < 2; when++) {
        tbReal* at = when ? after : before;
        energy(w);
        tb_com_velocity(m, w.d);
        tb_subtree_velocity(m, w.d);
        memcpy(at, w.d->subtree_linvel + 3, 3 * sizeof(tbReal));
        memcpy(at + 3, w.d->subtree_angmom + 3, 3 * sizeof(tbReal));
        for (int k = 0; when == 0 && k < 2000; k++) rk4_step(w, 1e-4);
      }
      assert_near_array(before, after, 6, 2e-5);
      checked++;
    }
    world_free(w);
  }
  assert_true(checked >= 5);
}

// Energy grows at the rate of the applied force's power, at any state.
static void rate_of_energy_is_power(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    tbRandomTree options = {.seed = seed, .nbody = 8, .conservative = true};
    World w = world_new(&options);
    const tbModel* m = w.m;
    tbRng rng = {seed};
    tb_random_state(m, w.d, &rng);
    tb_compute_position(m, w.d);
    tb_compute_velocity(m, w.d);
    // A force on a joint that is held has no power.
    bool redundant = tb_has_redundant_dofs(m, w.d);
    // d/dt (v' M v / 2) = v' (tau - gravity force): check at one instant by differences.
    tbReal power = 0, *qacc = calloc((size_t)m->nv + 1, sizeof(tbReal)), dt = 1e-6, e[2];
    for (int i = 0; i < m->nv; i++) w.d->qfrc_smooth[i] = tb_rng_normal(&rng);
    for (int i = 0; i < m->nv; i++) power += w.d->qfrc_smooth[i] * w.d->qvel[i];
    tb_forward_dynamics(m, w.d, w.d->qfrc_smooth, qacc);
    w.m->opt.disableflags |= TB_DISABLE_SPRING;
    tbData* copy = tb_data_copy(m, w.d);
    for (int side = 0; side < 2; side++) {
      tbReal h = side ? dt : -dt;
      memcpy(w.d->qpos, copy->qpos, (size_t)m->nq * sizeof(tbReal));
      tb_integrate_pos(m, w.d->qpos, copy->qvel, h);
      for (int i = 0; i < m->nv; i++) w.d->qvel[i] = copy->qvel[i] + h * qacc[i];
      e[side] = energy(w);
    }
    if (!redundant) assert_near((e[1] - e[0]) / (2 * dt), power, 1e-5);
    free(qacc);
    tb_data_free(copy);
    world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energy_is_conserved),
      cmocka_unit_test(momentum_is_conserved),
      cmocka_unit_test(rate_of_energy_is_power),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
