// The four tests of the paper: squat, jump, trot, walk, each with its controller. Without the
// robots' files, quadruped and biped of our own do the same with task-space controllers.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expo_bench.h"
#include "io/npy.h"
#include "own.h"

static const double SQUAT_Q0[] = {0.605,       -0.083,      223001.532,  0.187,       5.332,
                                  0,           1e6,         0,           -799754.095, 1599492.290,
                                  0,           -799755.961, 1599496.022, 0,           -799781.180,
                                  1599546.460, 0,           -799783.045, 1599550.191};

static const double WALK_Q0[] = {
    1774.19,   -125116.90, 831881.83,  59741.07,   -80404.91,  -1561.47,  994969.15, -15358.75,
    53810.89,  -107487.89, 560647.38,  -292066.73, -174982.92, -12811.18, 59509.60,  -208411.22,
    777854.20, -407874.10, -180094.67, -2954.87,   1581854.05, -33362.66, -71.93,    -9258.54,
    -77.83,    -771.16,    -44.36,     -30.71,     2628.59,    6113.36,   12.31,     1584237.88,
    28815.47,  68.00,      7992.11,    -51.17,     809.79,     482.24};

static const double UP[3] = {0, 0, 1};

// A configuration in the files' order and millionths into the model's.
static void set_configuration(Motion* motion, const double* millionths) {
  const Robot* r = &motion->robot;
  double* q = motion->qpos0;
  for (int i = 0; i < 3; i++) q[i] = 1e-6 * millionths[i];
  q[3] = 1e-6 * millionths[6];
  for (int i = 0; i < 3; i++) q[4 + i] = 1e-6 * millionths[3 + i];
  for (int i = 0; i < r->njoint; i++) {
    int id = tb_name2id(r->m, TB_OBJ_JOINT, r->joint[i]);
    q[r->m->jnt_qposadr[id]] = 1e-6 * millionths[7 + i];
  }
  tb_normalize_quat(r->m, q);
}

static void common_options(tbModel* m) {
  m->opt.contact_stiffness = 1e5;
  m->opt.contact_damping = 300;
  m->opt.contact_anchor_normal = 1;
}

static bool allocate(Motion* motion) {
  tbModel* m = motion->robot.m;
  motion->qpos0 = calloc((size_t)m->nq, sizeof(double));
  motion->qvel0 = calloc((size_t)m->nv, sizeof(double));
  motion->work = tb_control_work_create();
  if (!motion->qpos0 || !motion->qvel0 || !motion->work) return false;
  memcpy(motion->qpos0, m->qpos0, sizeof(double) * (size_t)m->nq);
  common_options(m);
  return true;
}

static void world_point(const tbData* d, int body, const double* point, double* out) {
  for (int i = 0; i < 3; i++) {
    out[i] = d->xpos[3 * body + i];
    for (int k = 0; k < 3; k++) out[i] += d->xmat[9 * body + 3 * i + k] * point[k];
  }
}

// ---- squat -------------------------------------------------------------------------------------

typedef struct {
  double com[3];
  double foot[MAX_POINTS][3];
  tbData* scratch;
} Squat;

static void squat_control(Motion* motion, tbData* d, int step, double* tau) {
  const Squat* s = motion->context;
  const Robot* r = &motion->robot;
  double t = step * motion->control_dt, kd1 = 2, kd2 = 2 * sqrt(2);
  tbTask task[2] = {
      {.type = TB_TASK_COM, .body = 1, .weight = 1, .kp = 2, .kd = kd2},
      {.type = TB_TASK_POSTURE, .weight = 1e-3, .kp = 2, .kd = kd2, .qpos = motion->qpos0}};
  memcpy(task[0].position, s->com, sizeof s->com);
  task[0].position[2] += 0.03 * sin(2 * t);
  task[0].velocity[2] = 0.06 * cos(2 * t);
  task[0].acceleration[2] = -0.12 * sin(2 * t);
  tbSupport support[MAX_POINTS];
  memset(support, 0, sizeof support);
  for (int i = 0; i < r->npoint; i++) {
    support[i] = (tbSupport){.body = r->body[i],
                             .npoint = 1,
                             .friction = 1,
                             .force_min = 1,
                             .weight = 1,
                             .kp = 1,
                             .kd = kd1,
                             .quat = {1, 0, 0, 0}};
    memcpy(support[i].point[0], r->point[i], sizeof r->point[i]);
    memcpy(support[i].normal, UP, sizeof UP);
    memcpy(support[i].position, s->foot[i], sizeof s->foot[i]);
  }
  tbInverseDynamics controller = {task, 2, support, r->npoint, 1e-6};
  tbError error;
  if (tb_inverse_dynamics_control(r->m, d, &controller, tau, NULL, NULL, motion->work, NULL,
                                  &error) != TB_OK) {
    memset(tau, 0, sizeof(double) * (size_t)r->m->nv);
  }
}

static void squat_release(Motion* motion) {
  free(motion->context);
}

static bool squat_context(Motion* motion) {
  Squat* s = calloc(1, sizeof *s);
  tbData* d = tb_data_new(motion->robot.m);
  motion->context = s;
  motion->release = squat_release;
  motion->control = squat_control;
  if (!s || !d) return false;
  memcpy(d->qpos, motion->qpos0, sizeof(double) * (size_t)motion->robot.m->nq);
  tb_compute_position(motion->robot.m, d);
  memcpy(s->com, d->subtree_com + 3, sizeof s->com);
  for (int i = 0; i < motion->robot.npoint; i++) {
    world_point(d, motion->robot.body[i], motion->robot.point[i], s->foot[i]);
  }
  tb_data_free(d);
  return true;
}

// ---- linear feedback: jump and trot ------------------------------------------------------------

static void feedback_control(Motion* motion, tbData* d, int step, double* tau) {
  // Aim a little past the grid point, so that rounding never picks the gain before.
  tb_feedback_control(motion->robot.m, d, motion->context, step * motion->control_dt, tau);
}

static void feedback_release(Motion* motion) {
  tb_feedback_free(motion->context);
}

static bool feedback_context(Motion* motion, const char* prefix, double lift) {
  char path[3][512];
  static const char* const PARTS[] = {"reference_states", "reference_controls", "feedback"};
  const char* joint[MAX_NAMES];
  for (int i = 0; i < 3; i++) {
    snprintf(path[i], sizeof path[i], "%s/experiments/consim/%s_%s.npy", TB_SHARED_DIR, prefix,
             PARTS[i]);
  }
  for (int i = 0; i < motion->robot.njoint; i++) joint[i] = motion->robot.joint[i];
  tbError error;
  motion->context =
      tb_feedback_load(motion->robot.m, path[0], path[1], path[2], 0.01, lift, joint, &error);
  motion->control = feedback_control;
  motion->release = feedback_release;
  if (!motion->context) {
    fprintf(stderr, "%s\n", error.message);
    return false;
  }
  tb_feedback_reference(motion->robot.m, motion->context, 0, motion->qpos0, motion->qvel0);
  memset(motion->qvel0, 0, sizeof(double) * (size_t)motion->robot.m->nv);
  return true;
}

// ---- walk --------------------------------------------------------------------------------------

enum { BEFORE = 37, EVERY = 20, SIDES = 2 };
typedef struct {
  tbNpy com, dcom, ddcom;
  tbNpy foot[SIDES], dfoot[SIDES], ddfoot[SIDES];  // right, left
  double offset[3];                                // of the references
  double foot_quat[SIDES][4], hold[SIDES][3], hold_quat[SIDES][4], waist_quat[4];
  int stands[SIDES];
} Walk;

static double sample(const tbNpy* a, int row, int column) {
  if (column > a->shape[1] - 1) column = a->shape[1] - 1;
  double value = a->data[row * a->shape[1] + column];
  return isfinite(value) ? value : 0;
}

static void walk_restart(Motion* motion) {
  Walk* w = motion->context;
  w->stands[0] = w->stands[1] = 0;
}

// Which feet stand at a control step: both before the walk; then right, left, right, left.
static int foot_stands(int step, int side) {
  int i = (step - BEFORE) * EVERY;
  if (step < BEFORE) return 1;
  return (i / 600) % 2 == side || i >= 2400;
}

static void walk_support(const Motion* motion, const Walk* w, int side, tbSupport* s) {
  const Robot* r = &motion->robot;
  *s = (tbSupport){.body = r->body[4 * side],
                   .npoint = 4,
                   .friction = 0.3,
                   .force_min = 0,
                   .weight = 0,
                   .kp = 10,
                   .kd = 2 * sqrt(10)};
  memcpy(s->point, r->point + 4 * side, sizeof s->point);
  memcpy(s->normal, UP, sizeof UP);
  memcpy(s->position, w->hold[side], sizeof s->position);
  memcpy(s->quat, w->hold_quat[side], sizeof s->quat);
}

static void walk_control(Motion* motion, tbData* d, int step, double* tau) {
  Walk* w = motion->context;
  const Robot* r = &motion->robot;
  int i = step < BEFORE ? 0 : (step - BEFORE) * EVERY, ntask = 3, nsupport = 0;
  double kp = 10, kd = 2 * sqrt(10);
  tbTask task[5] = {
      {.type = TB_TASK_COM, .body = 1, .weight = 1, .kp = kp, .kd = kd},
      {.type = TB_TASK_ORIENTATION, .body = 1, .weight = 1e-2, .kp = kp, .kd = kd},
      {.type = TB_TASK_POSTURE, .weight = 1e-4, .kp = kp, .kd = kd, .qpos = motion->qpos0}};
  memcpy(task[1].quat, w->waist_quat, sizeof w->waist_quat);
  for (int k = 0; k < 3; k++) {
    task[0].position[k] = w->offset[k] + sample(&w->com, k, i);
    task[0].velocity[k] = step < BEFORE ? 0 : sample(&w->dcom, k, i);
    task[0].acceleration[k] = step < BEFORE ? 0 : sample(&w->ddcom, k, i);
  }
  tb_kinematics(r->m, d);
  tbSupport support[SIDES];
  for (int side = 0; side < SIDES; side++) {
    int body = r->body[4 * side];
    if (foot_stands(step, side)) {
      if (!w->stands[side]) {
        // A foot that comes down stays where it is.
        world_point(d, body, r->point[4 * side], w->hold[side]);
        memcpy(w->hold_quat[side], d->xquat + 4 * body, sizeof w->hold_quat[side]);
        w->stands[side] = 1;
      }
      walk_support(motion, w, side, &support[nsupport++]);
      continue;
    }
    w->stands[side] = 0;
    tbTask* t = &task[ntask++];
    *t = (tbTask){.type = TB_TASK_POSE, .body = body, .weight = 1, .kp = kp, .kd = kd};
    memcpy(t->quat, w->foot_quat[side], sizeof t->quat);
    for (int k = 0; k < 3; k++) {
      t->position[k] = w->offset[k] + sample(&w->foot[side], k, i);
      t->velocity[k] = sample(&w->dfoot[side], k, i);
      t->acceleration[k] = sample(&w->ddfoot[side], k, i);
    }
  }
  tbInverseDynamics controller = {task, ntask, support, nsupport, 1e-5};
  tbError error;
  if (tb_inverse_dynamics_control(r->m, d, &controller, tau, NULL, NULL, motion->work, NULL,
                                  &error) != TB_OK) {
    memset(tau, 0, sizeof(double) * (size_t)r->m->nv);
  }
}

static void walk_release(Motion* motion) {
  Walk* w = motion->context;
  if (!w) return;
  tbNpy* const all[] = {&w->com,      &w->dcom,     &w->ddcom,     &w->foot[0],  &w->foot[1],
                        &w->dfoot[0], &w->dfoot[1], &w->ddfoot[0], &w->ddfoot[1]};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tb_npy_free(all[i]);
  free(w);
}

static bool walk_context(Motion* motion) {
  static const char* const NAMES[] = {"com",   "dcom",  "ddcom",  "x_RF",  "x_LF",
                                      "dx_RF", "dx_LF", "ddx_RF", "ddx_LF"};
  Walk* w = calloc(1, sizeof *w);
  motion->context = w;
  motion->control = walk_control;
  motion->restart = walk_restart;
  motion->release = walk_release;
  if (!w) return false;
  tbNpy* const all[] = {&w->com,      &w->dcom,     &w->ddcom,     &w->foot[0],  &w->foot[1],
                        &w->dfoot[0], &w->dfoot[1], &w->ddfoot[0], &w->ddfoot[1]};
  char path[512];
  snprintf(path, sizeof path, "%s/experiments/consim/romeo_walking_traj_tsid.npz", TB_SHARED_DIR);
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    tbError error;
    if (tb_npy_read(path, NAMES[i], all[i], &error) != TB_OK) {
      fprintf(stderr, "%s\n", error.message);
      return false;
    }
  }
  // The right sole on the floor, references from where the right foot is.
  const Robot* r = &motion->robot;
  tbData* d = tb_data_new(r->m);
  if (!d) return false;
  memcpy(d->qpos, motion->qpos0, sizeof(double) * (size_t)r->m->nq);
  tb_compute_position(r->m, d);
  double lowest = INFINITY, at[3];
  for (int i = 0; i < 4; i++) {
    world_point(d, r->body[i], r->point[i], at);
    lowest = fmin(lowest, at[2]);
  }
  motion->qpos0[2] -= lowest;
  d->qpos[2] -= lowest;
  tb_compute_position(r->m, d);
  for (int k = 0; k < 3; k++) {
    w->offset[k] = d->xpos[3 * r->body[0] + k] - sample(&w->foot[0], k, 0);
  }
  for (int side = 0; side < SIDES; side++) {
    memcpy(w->foot_quat[side], d->xquat + 4 * r->body[4 * side], sizeof w->foot_quat[side]);
  }
  memcpy(w->waist_quat, d->xquat + 4, sizeof w->waist_quat);
  tb_data_free(d);
  return true;
}

// ---- all four ----------------------------------------------------------------------------------

static bool open_solo(Motion* motion) {
  static const PointSpec FEET[4] = {
      {"FL_FOOT", {0}}, {"FR_FOOT", {0}}, {"HL_FOOT", {0}}, {"HR_FOOT", {0}}};
  char path[512];
  snprintf(path, sizeof path,
           "%s/models/example-robot-data/robots/solo_description/robots/solo12.urdf",
           TB_SHARED_DIR);
  return robot_from_urdf(path, FEET, 4, &motion->robot) && allocate(motion);
}

static bool open_romeo(Motion* motion) {
  PointSpec feet[8];
  for (int i = 0; i < 8; i++) {
    double x = i & 1 ? 0.10 : -0.05, y = i & 2 ? 0.05 : -0.05;
    feet[i] = (PointSpec){i < 4 ? "r_ankle" : "l_ankle", {x, y, -0.07}};
  }
  char path[512];
  snprintf(path, sizeof path,
           "%s/models/example-robot-data/robots/romeo_description/urdf/romeo_small.urdf",
           TB_SHARED_DIR);
  return robot_from_urdf(path, feet, 8, &motion->robot) && allocate(motion);
}

// The references of jump and trot were computed for a heavier Solo than the URDF's 2.5 kg: with f
// the foot forces that the reference torques balance, the six equations of the base hold to 0.05 N
// over both motions once the base weighs 0.2 kg more. Without it the robot jumps 9 cm too high,
// lands after the controls have gone on, and falls over. With just that mass the touch-down, which
// comes on two feet first, is on the edge; 10 g more and it lands at any step.
enum { TROT_PAYLOAD_GRAMS = 200, JUMP_PAYLOAD_GRAMS = 210 };

static bool add_payload(Motion* motion, double mass) {
  tbModel* m = motion->robot.m;
  tbError error;
  for (int k = 0; k < 3; k++) m->body_inertia[3 + k] *= 1 + mass / m->body_mass[1];
  m->body_mass[1] += mass;
  return tb_set_constants(m, &error) == TB_OK;
}

// Times of the four tests: control step, control steps, sub-steps of the truth and of the finest
// run, largest stable steps of the paper.
static const Motion TESTS[] = {
    {.name = "solo-squat",
     .control_dt = 0.04,
     .steps = 100,
     .stable_steps = 250,
     .truth = 2560,
     .finest = 256,
     .paper_finest = 256,
     .paper = {40, 40.0 / 512, 20}},
    {.name = "solo-jump",
     .control_dt = 0.01,
     .steps = 299,
     .stable_steps = 299,
     .truth = 2560,
     .finest = 2048,
     .paper_finest = 64,
     .paper = {10, 10.0 / 64, 5}},
    {.name = "solo-trot",
     .control_dt = 0.002,
     .steps = 1500,
     .stable_steps = 1500,
     .truth = 512,
     .finest = 256,
     .paper_finest = 16,
     .paper = {2, 2.0 / 16, 2}},
    {.name = "romeo-walk",
     .control_dt = 0.04,
     .steps = 157,
     .stable_steps = 157,
     .truth = 2560,
     .finest = 2048,
     .paper_finest = 256,
     .paper = {5, 1.25, 10}},
};

static bool open_shared(Motion* motion, int which) {
  switch (which) {
    case 0:
      if (!open_solo(motion)) return false;
      set_configuration(motion, SQUAT_Q0);
      motion->qpos0[2] -= 6e-6;
      return squat_context(motion);
    case 1:
      return open_solo(motion) && add_payload(motion, 1e-3 * JUMP_PAYLOAD_GRAMS) &&
             feedback_context(motion, "jump", -1e-6);
    case 2:
      return open_solo(motion) && add_payload(motion, 1e-3 * TROT_PAYLOAD_GRAMS) &&
             feedback_context(motion, "trot", -15.37e-3);
    default:
      if (!open_romeo(motion)) return false;
      set_configuration(motion, WALK_Q0);
      return walk_context(motion);
  }
}

bool motion_open(tbBench* bench, int which, bool own, Motion* motion) {
  *motion = TESTS[which];
  if (!own && open_shared(motion, which)) return true;
  if (!own) tb_bench_note(bench, "%s: files missing, our own robot instead", TESTS[which].name);
  motion_close(motion);
  *motion = TESTS[which];
  if (own_open(motion, which)) return true;
  motion_close(motion);
  return false;
}

void motion_close(Motion* motion) {
  if (motion->release) motion->release(motion);
  free(motion->qpos0);
  free(motion->qvel0);
  tb_control_work_free(motion->work);
  robot_free(&motion->robot);
  memset(motion, 0, sizeof *motion);
}
