// URDF loading against MuJoCo's own: bodies, inertias, joints and shapes of the shared robots.
#include <mujoco/mujoco.h>
#include <unistd.h>

#include "common/test.h"
#include "common/urdf_text.h"
#include "spatial/quat.h"
#include "tribo/tribo.h"

static void tensor(double I[9], const double quat[4], const double J[3]) {
  double R[9], S[9];
  tb_quat_to_mat(R, quat);
  for (int i = 0; i < 9; i++) S[i] = R[i] * J[i % 3];
  tb_mul_mat3_mat3t(I, S, R);
}

// Orientations are equal up to the sign of the quaternion.
static void same_rotation(const double* a, const double* b, double tolerance) {
  double A[9], B[9];
  tb_quat_to_mat(A, a);
  tb_quat_to_mat(B, b);
  assert_near_array(A, B, 9, tolerance);
}

static void compare_bodies(const tbModel* m, const mjModel* p) {
  assert_int_equal(m->nbody, p->nbody);
  for (int i = 0; i < m->nbody; i++) {
    const char* name = mj_id2name(p, mjOBJ_BODY, i);
    assert_string_equal(tb_id2name(m, TB_OBJ_BODY, i), name ? name : "");
    assert_int_equal(m->body_parentid[i], p->body_parentid[i]);
    assert_near_array(m->body_pos + 3 * i, p->body_pos + 3 * i, 3, 1e-12);
    same_rotation(m->body_quat + 4 * i, p->body_quat + 4 * i, 1e-12);
    if (i == 0) continue;
    assert_near(m->body_mass[i], p->body_mass[i], 1e-12);
    assert_near_array(m->body_ipos + 3 * i, p->body_ipos + 3 * i, 3, 1e-12);
    double ours[9], theirs[9], largest = 0;
    tensor(ours, m->body_iquat + 4 * i, m->body_inertia + 3 * i);
    tensor(theirs, p->body_iquat + 4 * i, p->body_inertia + 3 * i);
    // MuJoCo 2.2.2 ends its search for principal axes at turns of about 1e-6 (cosine within 1e-12
    // of 1), so that its tensor is off by that; ours is the file's to rounding (test_urdf.c).
    for (int k = 0; k < 9; k++) largest = fmax(largest, fabs(theirs[k]));
    for (int k = 0; k < 9; k++) {
      if (!(fabs(ours[k] - theirs[k]) < 2e-6 * largest)) {
        print_error("body '%s': inertia entry %d is %.12g, MuJoCo has %.12g\n", name, k, ours[k],
                    theirs[k]);
        fail();
      }
    }
  }
}

static void compare_joints(const tbModel* m, const mjModel* p) {
  assert_int_equal(m->njnt, p->njnt);
  assert_int_equal(m->nq, p->nq);
  for (int i = 0; i < m->njnt; i++) {
    assert_string_equal(tb_id2name(m, TB_OBJ_JOINT, i), mj_id2name(p, mjOBJ_JOINT, i));
    assert_int_equal(m->jnt_type[i], p->jnt_type[i]);
    assert_int_equal(m->jnt_bodyid[i], p->jnt_bodyid[i]);
    assert_int_equal(m->jnt_limited[i], p->jnt_limited[i]);
    assert_near_array(m->jnt_axis + 3 * i, p->jnt_axis + 3 * i, 3, 1e-12);
    assert_near_array(m->jnt_pos + 3 * i, p->jnt_pos + 3 * i, 3, 1e-12);
    if (m->jnt_limited[i]) assert_near_array(m->jnt_range + 2 * i, p->jnt_range + 2 * i, 2, 1e-12);
    int dof = m->jnt_dofadr[i];
    assert_near(m->dof_damping[dof], p->dof_damping[dof], 1e-12);
    assert_near(m->dof_frictionloss[dof], p->dof_frictionloss[dof], 1e-12);
  }
}

static void compare_geoms(const tbModel* m, const mjModel* p) {
  assert_int_equal(m->ngeom, p->ngeom);
  for (int i = 0; i < m->ngeom; i++) {
    assert_int_equal(m->geom_type[i], p->geom_type[i]);
    assert_int_equal(m->geom_bodyid[i], p->geom_bodyid[i]);
    // MuJoCo 2.2.2 keeps mesh vertices in single precision.
    bool mesh = m->geom_type[i] == TB_GEOM_MESH;
    // It also takes files of the same name in different folders for one mesh; here the second is
    // called NAME_1.
    char second[256] = "";
    if (mesh) {
      snprintf(second, sizeof second, "%s_1", mj_id2name(p, mjOBJ_MESH, p->geom_dataid[i]));
    }
    if (tb_name2id(m, TB_OBJ_MESH, second) >= 0) continue;
    assert_near_array(m->geom_pos + 3 * i, p->geom_pos + 3 * i, 3, mesh ? 1e-6 : 1e-12);
    if (mesh) continue;
    same_rotation(m->geom_quat + 4 * i, p->geom_quat + 4 * i, 1e-12);
    assert_near_array(m->geom_size + 3 * i, p->geom_size + 3 * i, 3, 1e-12);
  }
}

static void compare(const char* text) {
  char path[] = "/tmp/tribo_urdf_XXXXXX", reason[1000] = "";
  tbError error = {0};
  int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  FILE* out = fdopen(descriptor, "w");
  fputs(text, out);
  fclose(out);
  mjModel* theirs = mj_loadXML(path, NULL, reason, sizeof reason);
  tbModel* ours = tb_load(path, NULL, &error);
  remove(path);
  if (!theirs) fail_msg("MuJoCo: %s", reason);
  if (!ours) fail_msg("%s", error.message);
  compare_bodies(ours, theirs);
  compare_joints(ours, theirs);
  compare_geoms(ours, theirs);
  mj_deleteModel(theirs);
  tb_model_free(ours);
}

static void test_shared(void** state) {
  (void)state;
  static const char* const ROBOTS[] = {
      "solo_description/robots/solo12.urdf", "romeo_description/urdf/romeo_small.urdf",
      "talos_data/robots/talos_reduced.urdf", "ur_description/urdf/ur5_robot.urdf",
      "allegro_hand_description/urdf/allegro_right_hand.urdf"};
  char folder[1024];
  if (!tb_test_shared("models/example-robot-data/robots", folder, sizeof folder)) skip();
  for (size_t i = 0; i < sizeof ROBOTS / sizeof ROBOTS[0]; i++) {
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", folder, ROBOTS[i]);
    char* text =
        tb_test_urdf_text(path, "<compiler strippath=\"false\" balanceinertia=\"true\"/>", folder);
    print_message("%s\n", ROBOTS[i]);
    compare(text);
    free(text);
  }
}

// Features that the robots above do not have: planar and floating joints, spheres, links without
// inertial.
static void test_features(void** state) {
  (void)state;
  compare(
      "<robot name='r'><link name='base'><collision><geometry><sphere radius='.1'/></geometry>"
      "</collision></link><link name='a'><inertial><origin xyz='.1 .2 .3' rpy='1 2 3'/><mass "
      "value='1'/><inertia ixx='1' iyy='1.1' izz='1.2' ixy='.1' ixz='.05' iyz='-.1'/></inertial>"
      "</link><link name='b'><collision><origin xyz='1 0 0' rpy='.1 .2 .3'/><geometry><cylinder "
      "radius='.1' length='.4'/></geometry></collision><collision><geometry><box size='.1 .2 .3'/>"
      "</geometry></collision></link><link name='c'><collision><geometry><sphere radius='.2'/>"
      "</geometry></collision></link>"
      "<joint name='j' type='planar'><parent link='base'/><child link='a'/><origin xyz='0 0 1' "
      "rpy='.3 .2 .1'/><axis xyz='.6 0 .8'/><dynamics damping='1' friction='2'/></joint>"
      "<joint name='k' type='fixed'><parent link='a'/><child link='b'/><origin xyz='.5 0 0' "
      "rpy='0 .7 0'/></joint>"
      "<joint name='l' type='prismatic'><parent link='b'/><child link='c'/><limit lower='-1' "
      "upper='.5' effort='1' velocity='1'/></joint></robot>");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shared),
                                     cmocka_unit_test(test_features)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
