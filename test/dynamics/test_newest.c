// The whole way from a file to dynamics against the newest MuJoCo, on every
// robot of the shared folder and on a file of our own: constants of the model,
// then every dynamics result at random states.
#include "common/oracle.h"
#include "common/test.h"
#include "tribo/dynamics.h"

static const char* robot;  // the file at hand, for messages

typedef struct {
  const char* file;
  tbReal tolerance;  // 1e-6 where a mesh inertia is involved
} Robot;

// We keep the fixed links of a URDF as sites, MuJoCo does not.
static bool is_urdf(void) {
  size_t n = strlen(robot);
  return n > 5 && strcmp(robot + n - 5, ".urdf") == 0;
}

// Compare with a field of the oracle; one that it does not have is skipped.
static void same(const char* name, const tbReal* ours, size_t n, const tbOracleField* theirs,
                 tbReal tolerance) {
  if (!theirs) return;
  if ((size_t)theirs->rows * (size_t)theirs->columns != n) {
    fail_msg("%s: %s has %zu values, MuJoCo's %d x %d", robot, name, n, theirs->rows,
             theirs->columns);
  }
  tbReal scale = 1e-3, worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < n; i++) {
    scale = fmax(scale, fmax(fabs(ours[i]), fabs(theirs->values[i])));
  }
  for (size_t i = 0; i < n; i++) {
    tbReal e = fabs(ours[i] - theirs->values[i]) / scale;
    if (!(e <= worst)) worst = e, where = i;
  }
  if (!(worst <= tolerance)) {
    fail_msg("%s: %s[%zu] is %.17g, MuJoCo's %.17g: relative error %.3g", robot, name, where,
             ours[where], theirs->values[where], worst);
  }
}

static tbReal* reals(size_t n) {
  tbReal* x = calloc(n + 1, sizeof *x);
  assert_non_null(x);
  return x;
}

static void compare_constants(const tbModel* m, const tbOracle* o, tbReal tolerance) {
#define SAME(field, n) same(#field, m->field, (size_t)(n), tb_oracle_model(o, #field), tolerance)
  SAME(body_subtreemass, m->nbody);
  SAME(body_invweight0, 2 * m->nbody);
  SAME(dof_invweight0, m->nv);
  SAME(dof_M0, m->nv);
  SAME(tendon_length0, m->ntendon);
  SAME(tendon_lengthspring, 2 * m->ntendon);
  SAME(tendon_invweight0, m->ntendon);
  SAME(actuator_length0, m->nu);
  SAME(actuator_acc0, m->nu);
  SAME(actuator_gainprm, TB_NGAIN * m->nu);
  SAME(actuator_biasprm, TB_NBIAS * m->nu);
  SAME(eq_data, TB_NEQDATA * m->neq);
#undef SAME
  if (!is_urdf())
    same("extent", &m->extent, 1, tb_oracle_model(o, "stat.extent"), fmax(tolerance, 1e-6));
  same("meaninertia", &m->mean_inertia, 1, tb_oracle_model(o, "stat.meaninertia"), tolerance);
}

static void compare_matrices(const tbModel* m, const tbData* d, const tbOracle* o, int k,
                             tbReal tolerance) {
  size_t nv = (size_t)m->nv;
  if (!tb_oracle_state(o, k, "M")) return;
  tbReal* x = reals(nv * (nv + (size_t)m->nu + (size_t)m->ntendon));
  tb_full_m(m, d, x);
  same("M", x, nv * nv, tb_oracle_state(o, k, "M"), tolerance);
  tb_full_moment(m, d, x);
  if (m->nu) {
    same("moment", x, nv * (size_t)m->nu, tb_oracle_state(o, k, "actuator_moment"), tolerance);
  }
  tb_full_ten_J(m, d, x);
  if (m->ntendon) {
    same("ten_J", x, nv * (size_t)m->ntendon, tb_oracle_state(o, k, "ten_J"), tolerance);
  }
  // Jacobians and their derivatives of some bodies, six rows each.
  const tbOracleField* bodies = tb_oracle_state(o, k, "jac_body");
  const tbOracleField *J = tb_oracle_state(o, k, "jac"), *D = tb_oracle_state(o, k, "jacDot");
  tbReal* row = reals(6 * nv);
  for (int b = 0; bodies && b < bodies->rows * bodies->columns; b++) {
    int body = (int)bodies->values[b];
    tbOracleField part = *J;
    part.rows = 6;
    part.values = J->values + 6 * nv * (size_t)b;
    tb_jac_body(m, d, body, row, row + 3 * nv);
    same("jac", row, 6 * nv, &part, tolerance);
    part.values = D->values + 6 * nv * (size_t)b;
    tb_jac_dot(m, d, body, d->xpos + 3 * body, row, row + 3 * nv);
    same("jacDot", row, 6 * nv, &part, tolerance);
  }
  free(x), free(row);
}

static void set_state(const tbModel* m, tbData* d, const tbOracle* o, int k) {
#define TAKE(field, n)                                                              \
  do {                                                                              \
    const tbOracleField* f = tb_oracle_state(o, k, #field);                         \
    if (f && f->rows * f->columns == (n)) {                                         \
      memcpy(d->field, f->values, (size_t)(n) * sizeof(tbReal));                    \
    } else if ((n) > 0) {                                                           \
      fail_msg("%s: MuJoCo's %s does not have %d values", robot, #field, (int)(n)); \
    }                                                                               \
  } while (0)
  TAKE(qpos, m->nq);
  TAKE(qvel, m->nv);
  TAKE(mocap_pos, 3 * m->nmocap);
  TAKE(mocap_quat, 4 * m->nmocap);
#undef TAKE
}

static void compare_state(const tbModel* m, tbData* d, const tbOracle* o, int k, tbReal tolerance) {
  set_state(m, d, o, k);
  tb_compute_position(m, d);
  tb_compute_velocity(m, d);
  tb_subtree_velocity(m, d);
  tb_energy_position(m, d);
  tb_energy_velocity(m, d);
#define SAME(field, n) same(#field, d->field, (size_t)(n), tb_oracle_state(o, k, #field), tolerance)
  SAME(xpos, 3 * m->nbody);
  SAME(xquat, 4 * m->nbody);
  SAME(xmat, 9 * m->nbody);
  SAME(xipos, 3 * m->nbody);
  SAME(xanchor, 3 * m->njnt);
  SAME(xaxis, 3 * m->njnt);
  // Mesh geoms sit at the mesh's centre of mass, whose vertices MuJoCo keeps as
  // floats.
  same("geom_xpos", d->geom_xpos, (size_t)(3 * m->ngeom), tb_oracle_state(o, k, "geom_xpos"), 1e-6);
  if (!is_urdf()) {
    SAME(site_xpos, 3 * m->nsite);
    SAME(site_xmat, 9 * m->nsite);
  }
  SAME(subtree_com, 3 * m->nbody);
  SAME(cdof, 6 * m->nv);
  SAME(cinert, 10 * m->nbody);
  SAME(ten_length, m->ntendon);
  SAME(ten_velocity, m->ntendon);
  SAME(actuator_length, m->nu);
  SAME(actuator_velocity, m->nu);
  SAME(cvel, 6 * m->nbody);
  SAME(cdof_dot, 6 * m->nv);
  SAME(qfrc_bias, m->nv);
  SAME(subtree_linvel, 3 * m->nbody);
  SAME(subtree_angmom, 3 * m->nbody);
  SAME(energy, 2);
#undef SAME
  compare_matrices(m, d, o, k, tolerance);
}

// False where the file is not here or either side refuses it (then with a
// message).
static bool compare_file(const char* path, tbReal tolerance) {
  tbError error = {0};
  tbModel* m = tb_load(path, NULL, &error);
  if (!m) {
    print_message("skipped: we cannot load %s: %s\n", robot, error.message);
    return false;
  }
  char message[512] = "";
  tbOracle* o =
      tb_oracle_run(path, NULL, TB_ORACLE_SEED, TB_ORACLE_STATES, message, sizeof message);
  if (!o) print_message("skipped: MuJoCo cannot load %s: %s\n", robot, message);
  tbData* d = tb_data_new(m);
  if (o) {
    compare_constants(m, o, tolerance);
    for (int k = 0; k < o->states; k++) compare_state(m, d, o, k, tolerance);
  }
  tb_oracle_free(o);
  tb_data_free(d);
  tb_model_free(m);
  return o != NULL;
}

static void robots_agree(void** state) {
  (void)state;
  if (!tb_oracle_available()) skip();
  static const Robot ROBOTS[] = {
      {"mujoco/model/car/car.xml", 1e-6},
      {"mujoco/model/cube/cube_3x3x3.xml", 1e-6},
      {"mujoco/model/humanoid/humanoid.xml", 1e-9},
      {"mujoco/model/humanoid/22_humanoids.xml", 1e-9},
      {"mujoco/model/humanoid/humanoid100.xml", 1e-9},
      {"mujoco/model/replicate/container.xml", 1e-9},
      {"mujoco/model/replicate/newton_cradle.xml", 1e-9},
      {"mujoco/model/replicate/particle.xml", 1e-9},
      {"mujoco/model/replicate/particle_free.xml", 1e-9},
      {"mujoco/model/replicate/stonehenge.xml", 1e-9},
      {"mujoco/model/sleep/dominos.xml", 1e-9},
      {"mujoco/model/slider_crank/slider_crank.xml", 1e-9},
      {"mujoco/model/tendon_arm/arm26.xml", 1e-9},
      {"mujoco_menagerie/agility_cassie/scene.xml", 1e-9},
      {"mujoco_menagerie/anybotics_anymal_c/scene.xml", 1e-9},
      {"mujoco_menagerie/anybotics_anymal_c/scene_mjx.xml", 1e-9},
      {"mujoco_menagerie/leap_hand/scene_left.xml", 1e-6},
      {"mujoco_menagerie/leap_hand/scene_right.xml", 1e-6},
      {"mujoco_menagerie/pal_talos/scene_motor.xml", 1e-9},
      {"mujoco_menagerie/pal_talos/scene_position.xml", 1e-9},
      {"mujoco_menagerie/unitree_g1/scene.xml", 1e-9},
      {"mujoco_menagerie/unitree_g1/scene_mjx.xml", 1e-9},
      {"mujoco_menagerie/unitree_go2/scene.xml", 1e-9},
      {"mujoco_menagerie/unitree_go2/scene_mjx.xml", 1e-9},
      {"mujoco_menagerie/universal_robots_ur5e/scene.xml", 1e-9},
      {"mujoco_menagerie/wonik_allegro/scene_left.xml", 1e-9},
      {"mujoco_menagerie/wonik_allegro/scene_right.xml", 1e-9},
      {"example-robot-data/robots/allegro_hand_description/urdf/"
       "allegro_left_hand.urdf",
       1e-9},
      {"example-robot-data/robots/allegro_hand_description/urdf/"
       "allegro_right_hand.urdf",
       1e-9},
      {"example-robot-data/robots/romeo_description/urdf/romeo.urdf", 1e-9},
      {"example-robot-data/robots/romeo_description/urdf/romeo_small.urdf", 1e-9},
      {"example-robot-data/robots/solo_description/robots/solo12.urdf", 1e-9},
      {"example-robot-data/robots/talos_data/robots/talos_reduced.urdf", 1e-9},
      {"example-robot-data/robots/ur_description/urdf/ur5_robot.urdf", 1e-9},
  };
  int compared = 0;
  for (size_t i = 0; i < sizeof ROBOTS / sizeof *ROBOTS; i++) {
    char relative[512], path[1024];
    robot = ROBOTS[i].file;
    snprintf(relative, sizeof relative, "models/%s", robot);
    if (tb_test_shared(relative, path, sizeof path)) {
      compared += compare_file(path, ROBOTS[i].tolerance);
    }
  }
  print_message("%d robots compared\n", compared);
}

// Features that no shared robot has: reference sites on one branch, damping ratios, welds and
// connects without a pose, tendon armature, spring lengths, jointinparent.
static void own_file_agrees(void** state) {
  (void)state;
  if (!tb_oracle_available()) skip();
  robot = "dynamics.xml";
  char path[1024];
  snprintf(path, sizeof path, "%s/dynamics/dynamics.xml", TB_TEST_DIR);
  assert_true(compare_file(path, 1e-9));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(own_file_agrees),
      cmocka_unit_test(robots_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
