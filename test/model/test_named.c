// Parts of a world by name: every joint, actuator, sensor and pose of some scenes, and errors.
#include <math.h>
#include <string.h>

#include "common/test.h"
#include "common/worlds.h"

// Set and get by name are the array's own entries, for every joint of these scenes.
static void joints_by_name(void** state) {
  (void)state;
  static const char* const SCENES[] = {"humanoid.xml", "quadruped.xml", "hand.xml",
                                       "rope_bridge.xml"};
  int types[4] = {0};
  for (int s = 0; s < 4; s++) {
    tbWorld w = tb_world_scene(SCENES[s], NULL);
    for (int j = 0; j < w.m->njnt; j++) {
      const char* name = tb_id2name(w.m, TB_OBJ_JOINT, j);
      if (!*name) continue;
      static const int NQ[] = {7, 4, 1, 1}, NV[] = {6, 3, 1, 1};
      int nq = NQ[w.m->jnt_type[j]], nv = NV[w.m->jnt_type[j]];
      tbReal q[7], v[6], back[7];
      types[w.m->jnt_type[j]]++;
      for (int k = 0; k < 7; k++) q[k] = 0.1 * (k + 1) + j;
      for (int k = 0; k < 6; k++) v[k] = -0.2 * (k + 1) - j;
      assert_int_equal(tb_set_joint_qpos(w.m, w.d, name, q, nq, NULL), TB_OK);
      assert_int_equal(tb_set_joint_qvel(w.m, w.d, name, v, nv, NULL), TB_OK);
      assert_memory_equal(w.d->qpos + w.m->jnt_qposadr[j], q, sizeof(tbReal) * (size_t)nq);
      assert_memory_equal(w.d->qvel + w.m->jnt_dofadr[j], v, sizeof(tbReal) * (size_t)nv);
      assert_int_equal(tb_joint_qpos(w.m, w.d, name, back, nq, NULL), TB_OK);
      assert_memory_equal(back, q, sizeof(tbReal) * (size_t)nq);
      assert_int_equal(tb_joint_qvel(w.m, w.d, name, back, nv, NULL), TB_OK);
      assert_memory_equal(back, v, sizeof(tbReal) * (size_t)nv);
    }
    tb_world_free(w);
  }
  assert_true(types[TB_JOINT_HINGE] > 10);
}

static const char ARM[] =
    "<mujoco><worldbody><body name='upper' pos='0 0 1'><joint name='shoulder' axis='0 1 0'/>"
    "<geom name='rod' type='capsule' fromto='0 0 0 0 0 -.5' size='.05' mass='1'/>"
    "<site name='tip' pos='0 0 -.5' euler='0 90 0'/></body></worldbody>"
    "<actuator><motor name='motor' joint='shoulder'/></actuator>"
    "<sensor><jointpos name='angle' joint='shoulder'/><framepos name='where' objtype='site' "
    "objname='tip'/></sensor></mujoco>";

static void controls_sensors_and_poses(void** state) {
  (void)state;
  tbWorld w = tb_world_text(ARM);
  tbReal q = 0.7, ctrl = 0, pos[3], quat[4], angle, where[3];
  assert_int_equal(tb_set_joint_qpos(w.m, w.d, "shoulder", &q, 1, NULL), TB_OK);
  assert_int_equal(tb_set_actuator_ctrl(w.m, w.d, "motor", 2.5, NULL), TB_OK);
  assert_int_equal(tb_actuator_ctrl(w.m, w.d, "motor", &ctrl, NULL), TB_OK);
  assert_near(ctrl, 2.5, 0);
  assert_near(w.d->ctrl[0], 2.5, 0);
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_int_equal(tb_sensor_values(w.m, w.d, "angle", &angle, 1, NULL), TB_OK);
  assert_near(angle, 0.7, 1e-15);
  assert_int_equal(tb_pose(w.m, w.d, TB_OBJ_SITE, "tip", pos, NULL, NULL), TB_OK);
  assert_int_equal(tb_sensor_values(w.m, w.d, "where", where, 3, NULL), TB_OK);
  assert_memory_equal(pos, where, sizeof pos);
  assert_near(pos[0], -0.5 * sin(0.7), 1e-12);
  assert_near(pos[2], 1 - 0.5 * cos(0.7), 1e-12);
  // The site is turned by a quarter within a body that is turned by 0.7, about the same axis.
  assert_int_equal(tb_pose(w.m, w.d, TB_OBJ_SITE, "tip", NULL, quat, NULL), TB_OK);
  assert_near(fabs(quat[0]), cos(0.5 * (0.7 + acos(-1) / 2)), 1e-12);
  assert_int_equal(tb_pose(w.m, w.d, TB_OBJ_BODY, "upper", pos, quat, NULL), TB_OK);
  assert_near(quat[2], sin(0.35), 1e-12);
  assert_int_equal(tb_pose(w.m, w.d, TB_OBJ_GEOM, "rod", pos, quat, NULL), TB_OK);
  assert_near(pos[2], 1 - 0.25 * cos(0.7), 1e-12);
  tb_world_free(w);
}

static void errors_say_the_nearest_name(void** state) {
  (void)state;
  tbWorld w = tb_world_text(ARM), other = tb_world_scene("humanoid.xml", NULL);
  tbError error;
  tbReal x[7] = {0}, nan = NAN;
#define REFUSED(call, word)                  \
  assert_int_equal(call, TB_ERROR_ARGUMENT); \
  assert_non_null(strstr(error.message, word));
  REFUSED(tb_joint_qpos(w.m, w.d, "sholder", x, 1, &error),
          "no joint is called 'sholder', did you mean 'shoulder'?")
  REFUSED(tb_joint_qpos(w.m, w.d, "shoulder", x, 3, &error), "has 1 values, but count is 3")
  REFUSED(tb_joint_qpos(w.m, w.d, "shoulder", NULL, 1, &error), "are NULL")
  REFUSED(tb_joint_qvel(w.m, w.d, NULL, x, 1, &error), "name of the joint is NULL")
  REFUSED(tb_joint_qvel(NULL, w.d, "shoulder", x, 1, &error), "model is NULL")
  REFUSED(tb_joint_qvel(w.m, NULL, "shoulder", x, 1, &error), "data is NULL")
  REFUSED(tb_joint_qvel(w.m, other.d, "shoulder", x, 1, &error), "another model")
  REFUSED(tb_set_joint_qpos(w.m, w.d, "shoulder", &nan, 1, &error),
          "value 0 for joint 'shoulder' is not finite")
  REFUSED(tb_set_actuator_ctrl(w.m, w.d, "mtor", 1, &error), "did you mean 'motor'?")
  REFUSED(tb_set_actuator_ctrl(w.m, w.d, "motor", INFINITY, &error), "not finite")
  REFUSED(tb_sensor_values(w.m, w.d, "where", x, 1, &error), "has 3 values")
  REFUSED(tb_pose(w.m, w.d, TB_OBJ_JOINT, "shoulder", x, NULL, &error), "no pose")
  REFUSED(tb_pose(w.m, w.d, TB_OBJ_SITE, "tipp", x, NULL, &error), "'tip'")
#undef REFUSED
  // A refused call changed nothing.
  assert_near(w.d->qpos[0], 0, 0);
  assert_near(w.d->ctrl[0], 0, 0);
  tb_world_free(w);
  tb_world_free(other);
  w = tb_world_text(
      "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>");
  assert_int_equal(tb_joint_qpos(w.m, w.d, "knee", x, 1, &error), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "has no named joint"));
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joints_by_name),
      cmocka_unit_test(controls_sensors_and_poses),
      cmocka_unit_test(errors_say_the_nearest_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
