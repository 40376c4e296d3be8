// After its first cycle a control loop allocates nothing: feedback from files and task-space
// inverse dynamics, each with the step it drives. Calls to malloc are counted at the linker.
#include <stdlib.h>
#include <unistd.h>

#include "common/count_malloc.h"
#include "common/npy.h"
#include "common/worlds.h"
#include "tribo/control.h"

// The quadruped on its feet, and its driven joints.
enum { JOINTS = 12, WIDTH = 2 * JOINTS + 12 };

static tbWorld quadruped(const char* joint[JOINTS]) {
  tbWorld w = tb_world_scene("quadruped_torque.xml", "stand");
  w.m->opt.law = TB_LAW_VISCOELASTIC;
  w.m->opt.integrator = TB_INTEGRATOR_EXPO;
  w.m->opt.timestep = 0.002;
  int n = 0;
  for (int j = 0; j < w.m->njnt; j++) {
    if (w.m->jnt_type[j] == TB_JOINT_HINGE && n < JOINTS) {
      joint[n++] = tb_id2name(w.m, TB_OBJ_JOINT, j);
    }
  }
  assert_int_equal(n, JOINTS);
  return w;
}

// Joints held at the standing pose by gains from files.
static tbFeedback* hold_pose(tbWorld w, const char* const joint[JOINTS]) {
  enum { STATE = 7 + JOINTS + 6 + JOINTS };
  char folder[] = "/tmp/tribo-loop-XXXXXX", path[3][64];
  assert_non_null(mkdtemp(folder));
  for (int i = 0; i < 3; i++) snprintf(path[i], 64, "%s/%d.npy", folder, i);
  static double x[2 * STATE], u[JOINTS], K[JOINTS * WIDTH];
  memcpy(x, w.d->qpos, 3 * sizeof(double));
  x[6] = 1;
  for (int i = 0; i < JOINTS; i++) {
    int j = tb_name2id(w.m, TB_OBJ_JOINT, joint[i]);
    x[7 + i] = w.d->qpos[w.m->jnt_qposadr[j]];
    K[i * WIDTH + 6 + i] = 20;
    K[i * WIDTH + JOINTS + 12 + i] = 0.2;
  }
  memcpy(x + STATE, x, STATE * sizeof(double));
  tb_test_write_npy(path[0], "(2, 37, 1)", x, 2 * STATE);
  tb_test_write_npy(path[1], "(1, 12, 1)", u, JOINTS);
  tb_test_write_npy(path[2], "(1, 12, 36)", K, JOINTS * WIDTH);
  tbError error;
  tbFeedback* f = tb_feedback_load(w.m, path[0], path[1], path[2], 0.01, 0, joint, &error);
  if (!f) fail_msg("%s", error.message);
  for (int i = 0; i < 3; i++) remove(path[i]);
  rmdir(folder);
  return f;
}

static void feedback_loop_allocates_nothing(void** state) {
  (void)state;
  const char* joint[JOINTS];
  long start = calls;
  tbWorld w = quadruped(joint);
  tbFeedback* f = hold_pose(w, joint);
#ifdef TB_WRAPS_MALLOC
  assert_true(calls > start + 10);
#else
  print_message("skipped: this linker cannot wrap malloc\n");
#endif
  for (int i = 0; i < 500; i++) {
    // Landing has found its contacts by then.
    if (i == 100) start = calls;
    tb_feedback_control(w.m, w.d, f, w.d->time, w.d->qfrc_applied);
    if (tb_step(w.m, w.d) != TB_OK) fail_msg("%s", w.d->message);
  }
  assert_int_equal(calls, start);
  // It is the controller that holds the robot up.
  assert_near(w.d->qpos[2], 0.2329, 0.02);
  tb_feedback_free(f);
  tb_world_free(w);
}

static void inverse_dynamics_loop_allocates_nothing(void** state) {
  (void)state;
  static const char* const FEET[] = {"foot_FL", "foot_FR", "foot_HL", "foot_HR"};
  const char* joint[JOINTS];
  tbWorld w = quadruped(joint);
  tb_compute_position(w.m, w.d);
  tbSupport support[4];
  for (int i = 0; i < 4; i++) {
    int g = tb_name2id(w.m, TB_OBJ_GEOM, FEET[i]);
    support[i] = (tbSupport){.body = w.m->geom_bodyid[g],
                             .npoint = 1,
                             .normal = {0, 0, 1},
                             .friction = 0.6,
                             .kp = 10,
                             .kd = 6,
                             .quat = {1, 0, 0, 0}};
    memcpy(support[i].point[0], w.m->geom_pos + 3 * g, 3 * sizeof(double));
    memcpy(support[i].position, w.d->geom_xpos + 3 * g, 3 * sizeof(double));
  }
  tbTask task[2] = {
      {.type = TB_TASK_COM, .body = 1, .weight = 1, .kp = 20, .kd = 9},
      {.type = TB_TASK_POSTURE, .weight = 1e-3, .kp = 20, .kd = 9, .qpos = w.m->key_qpos}};
  memcpy(task[0].position, w.d->subtree_com + 3, sizeof task[0].position);
  tbInverseDynamics controller = {task, 2, support, 4, 1e-6};
  tbControlWork* work = tb_control_work_create();
  long start = 0;
  for (int i = 0; i < 200; i++) {
    tbError error;
    if (i == 100) start = calls;
    assert_int_equal(tb_inverse_dynamics_control(w.m, w.d, &controller, w.d->qfrc_applied, NULL,
                                                 NULL, work, NULL, &error),
                     TB_OK);
    if (tb_step(w.m, w.d) != TB_OK) fail_msg("%s", w.d->message);
  }
  assert_int_equal(calls, start);
  tb_control_work_free(work);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(feedback_loop_allocates_nothing),
      cmocka_unit_test(inverse_dynamics_loop_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
