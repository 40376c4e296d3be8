// The four motions on robots of our own, all by task-space inverse dynamics: for machines without
// the robots' files, and as a second opinion with them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "own.h"

static const double UP[3] = {0, 0, 1};

typedef struct {
  double com[3], quat[4];
  double point[MAX_POINTS][3];  // where the points start
  double foot_quat[2][4];       // biped: orientation of the feet
  double hold[MAX_POINTS][3];   // where a standing point is to stay
  int stands[MAX_POINTS];
} Start;

static void restart(Motion* motion) {
  Start* s = motion->context;
  memset(s->stands, 0, sizeof s->stands);
}

static void release(Motion* motion) {
  free(motion->context);
}

static void world_point(const tbData* d, int body, const double* point, double* out) {
  for (int i = 0; i < 3; i++) {
    out[i] = d->xpos[3 * body + i];
    for (int k = 0; k < 3; k++) out[i] += d->xmat[9 * body + 3 * i + k] * point[k];
  }
}

static bool remember_start(Motion* motion) {
  const Robot* r = &motion->robot;
  Start* s = calloc(1, sizeof *s);
  tbData* d = tb_data_new(r->m);
  motion->context = s;
  motion->restart = restart;
  motion->release = release;
  if (!s || !d) return false;
  memcpy(d->qpos, motion->qpos0, sizeof(double) * (size_t)r->m->nq);
  tb_compute_position(r->m, d);
  memcpy(s->com, d->subtree_com + 3, sizeof s->com);
  memcpy(s->quat, d->xquat + 4, sizeof s->quat);
  for (int i = 0; i < r->npoint; i++) world_point(d, r->body[i], r->point[i], s->point[i]);
  for (int i = 0; i < 2; i++) {
    memcpy(s->foot_quat[i], d->xquat + 4 * r->body[i * r->npoint / 2], sizeof s->foot_quat[i]);
  }
  tb_data_free(d);
  return true;
}

// A point foot that stands, from where it came down.
static tbSupport point_support(Motion* motion, const tbData* d, int i) {
  Start* s = motion->context;
  const Robot* r = &motion->robot;
  if (!s->stands[i]) {
    world_point(d, r->body[i], r->point[i], s->hold[i]);
    s->stands[i] = 1;
  }
  tbSupport support = {.body = r->body[i],
                       .npoint = 1,
                       .friction = 0.7,
                       .force_min = 0.5,
                       .weight = 1,
                       .kp = 1,
                       .kd = 2,
                       .quat = {1, 0, 0, 0}};
  memcpy(support.point[0], r->point[i], sizeof r->point[i]);
  memcpy(support.normal, UP, sizeof UP);
  memcpy(support.position, s->hold[i], sizeof s->hold[i]);
  return support;
}

static void solve(Motion* motion, tbData* d, const tbTask* task, int ntask,
                  const tbSupport* support, int nsupport, double* tau) {
  tbInverseDynamics controller = {task, ntask, support, nsupport, 1e-6};
  tbError error;
  if (tb_inverse_dynamics_control(motion->robot.m, d, &controller, tau, NULL, NULL, motion->work,
                                  NULL, &error) != TB_OK) {
    memset(tau, 0, sizeof(double) * (size_t)motion->robot.m->nv);
  }
}

// Centre of mass, base orientation, posture.
static int base_tasks(Motion* motion, double kp, tbTask* task) {
  const Start* s = motion->context;
  double kd = 2 * sqrt(kp);
  task[0] = (tbTask){.type = TB_TASK_COM, .body = 1, .weight = 1, .kp = kp, .kd = kd};
  memcpy(task[0].position, s->com, sizeof s->com);
  task[1] = (tbTask){.type = TB_TASK_ORIENTATION, .body = 1, .weight = 0.1, .kp = kp, .kd = kd};
  memcpy(task[1].quat, s->quat, sizeof s->quat);
  task[2] =
      (tbTask){.type = TB_TASK_POSTURE, .weight = 1e-3, .kp = kp, .kd = kd, .qpos = motion->qpos0};
  return 3;
}

static void squat(Motion* motion, tbData* d, int step, double* tau) {
  tbTask task[3];
  tbSupport support[MAX_POINTS];
  double t = step * motion->control_dt;
  int n = base_tasks(motion, 2, task);
  task[0].position[2] += 0.03 * sin(2 * t);
  task[0].velocity[2] = 0.06 * cos(2 * t);
  task[0].acceleration[2] = -0.12 * sin(2 * t);
  tb_kinematics(motion->robot.m, d);
  for (int i = 0; i < motion->robot.npoint; i++) support[i] = point_support(motion, d, i);
  solve(motion, d, task, n, support, motion->robot.npoint, tau);
}

// Hold, push off, fly with the legs in posture, stand again.
static void jump(Motion* motion, tbData* d, int step, double* tau) {
  const Robot* r = &motion->robot;
  Start* s = motion->context;
  tbTask task[3];
  tbSupport support[MAX_POINTS];
  double t = step * motion->control_dt, push = 0.5, length = 0.1, accelerate = 18;
  int n = base_tasks(motion, 40, task), nsupport = 0;
  tb_kinematics(r->m, d);
  if (t >= push && t < push + length) {
    task[0].kp = task[0].kd = 0;
    task[0].acceleration[2] = accelerate;
  }
  for (int i = 0; i < r->npoint; i++) {
    double at[3];
    world_point(d, r->body[i], r->point[i], at);
    if (at[2] > s->point[i][2] + 1e-3 && t >= push + length) {
      s->stands[i] = 0;
      continue;
    }
    support[nsupport++] = point_support(motion, d, i);
  }
  if (nsupport == 0) {
    // Nothing to push against: the legs go back to their posture.
    task[2].weight = 1;
    task[2].kp = 400;
    task[2].kd = 40;
    solve(motion, d, task + 2, 1, support, 0, tau);
    return;
  }
  solve(motion, d, task, n, support, nsupport, tau);
}

// Diagonal pairs in turn, in place.
static void trot(Motion* motion, tbData* d, int step, double* tau) {
  const Robot* r = &motion->robot;
  Start* s = motion->context;
  tbTask task[3 + MAX_POINTS];
  tbSupport support[MAX_POINTS];
  double t = step * motion->control_dt - 0.2, period = 0.16, height = 0.03;
  int n = base_tasks(motion, 40, task), nsupport = 0;
  int phase = t < 0 ? -1 : (int)(t / period) % 2;
  tb_kinematics(r->m, d);
  for (int i = 0; i < r->npoint; i++) {
    int pair = i == 0 || i == 3 ? 0 : 1;
    if (phase != pair) {
      support[nsupport++] = point_support(motion, d, i);
      continue;
    }
    s->stands[i] = 0;
    double u = fmod(t, period) / period, w = acos(-1) / period;
    tbTask* swing = &task[n++];
    *swing = (tbTask){.type = TB_TASK_POINT,
                      .body = r->body[i],
                      .weight = 1,
                      .kp = 900,
                      .kd = 60,
                      .quat = {1, 0, 0, 0}};
    memcpy(swing->point, r->point[i], sizeof r->point[i]);
    memcpy(swing->position, s->point[i], sizeof s->point[i]);
    swing->position[2] += height * sin(acos(-1) * u) - 1e-3;
    swing->velocity[2] = height * w * cos(acos(-1) * u);
    swing->acceleration[2] = -height * w * w * sin(acos(-1) * u);
  }
  solve(motion, d, task, n, support, nsupport, tau);
}

// ---- walk --------------------------------------------------------------------------------------

// Lateral motion of a linear inverted pendulum over feet at -+y: in a phase of length T over the
// foot at y_s, com = y_s (1 - cosh(w (t - T/2)) / cosh(w T/2)), so phases join at the middle.
typedef struct {
  double y, v, a;
} Lateral;

static Lateral pendulum(double y_s, double w, double T, double t) {
  double c = cosh(w * T / 2), u = w * (t - T / 2);
  return (Lateral){y_s * (1 - cosh(u) / c), -y_s * w * sinh(u) / c, -y_s * w * w * cosh(u) / c};
}

// The first phase starts at rest, a little inside of the foot: com = y_s - y_s cosh(w t) / cosh(w
// T).
static Lateral first_phase(double y_s, double w, double T, double t) {
  double c = cosh(w * T), u = w * t;
  return (Lateral){y_s * (1 - cosh(u) / c), -y_s * w * sinh(u) / c, -y_s * w * w * cosh(u) / c};
}

// From rest to rest over a distance, with the least jerk.
static Lateral lead_in(double distance, double T, double t) {
  double x = t / T;
  return (Lateral){distance * x * x * x * (10 + x * (6 * x - 15)),
                   distance * 30 * x * x * (1 + x * (x - 2)) / T,
                   distance * 60 * x * (1 + x * (2 * x - 3)) / (T * T)};
}

enum { LEAD = 37 };

static void walk(Motion* motion, tbData* d, int step, double* tau) {
  const Robot* r = &motion->robot;
  Start* s = motion->context;
  tbTask task[5];
  tbSupport support[2];
  double T = 1.2, w = sqrt(9.81 / s->com[2]), y = fabs(s->point[0][1] + s->point[2][1]) / 2;
  double t = (step - LEAD) * motion->control_dt, u = fmod(t, T) / T, pi = acos(-1);
  int swing = t < 0 ? -1 : (int)(t / T) % 2 == 0, n = base_tasks(motion, 10, task), nsupport = 0;
  // Points 0 to 3 are the right foot's; the first phase stands on it.
  double foot_y = swing == 1 ? -y : y;
  double lead = LEAD * motion->control_dt;
  Lateral com = t < 0   ? lead_in(first_phase(-y, w, T, 0).y, lead, t + lead)
                : t < T ? first_phase(-y, w, T, t)
                        : pendulum(foot_y, w, T, fmod(t, T));
  task[0].position[1] += com.y;
  task[0].velocity[1] = com.v;
  task[0].acceleration[1] = com.a;
  tb_kinematics(r->m, d);
  for (int side = 0; side < 2; side++) {
    int body = r->body[4 * side];
    if (side != swing) {
      if (!s->stands[side]) {
        world_point(d, body, r->point[4 * side], s->hold[side]);
        s->stands[side] = 1;
      }
      tbSupport* p = &support[nsupport++];
      *p = (tbSupport){
          .body = body, .npoint = 4, .friction = 0.7, .weight = 0, .kp = 10, .kd = 2 * sqrt(10)};
      memcpy(p->point, r->point + 4 * side, sizeof p->point);
      memcpy(p->normal, UP, sizeof UP);
      memcpy(p->position, s->hold[side], sizeof p->position);
      memcpy(p->quat, s->foot_quat[side], sizeof p->quat);
      continue;
    }
    s->stands[side] = 0;
    double height = 0.04, k = 2 * pi / T;
    tbTask* lift = &task[n++];
    *lift = (tbTask){.type = TB_TASK_POSE, .body = body, .weight = 1, .kp = 10, .kd = 2 * sqrt(10)};
    memcpy(lift->point, r->point[4 * side], sizeof lift->point);
    memcpy(lift->position, s->point[4 * side], sizeof lift->position);
    memcpy(lift->quat, s->foot_quat[side], sizeof lift->quat);
    lift->position[2] += height * (1 - cos(2 * pi * u)) / 2;
    lift->velocity[2] = height * k * sin(2 * pi * u) / 2;
    lift->acceleration[2] = height * k * k * cos(2 * pi * u) / 2;
  }
  solve(motion, d, task, n, support, nsupport, tau);
}

bool own_open(Motion* motion, int which) {
  static void (*const CONTROL[])(Motion*, tbData*, int, double*) = {squat, jump, trot, walk};
  static const char* const NAME[] = {"quadruped-squat", "quadruped-jump", "quadruped-trot",
                                     "biped-walk"};
  if (!robot_from_scene(which == 3 ? "biped_torque.xml" : "quadruped_torque.xml", &motion->robot))
    return false;
  tbModel* m = motion->robot.m;
  motion->name = NAME[which];
  motion->control = CONTROL[which];
  motion->qpos0 = calloc((size_t)m->nq, sizeof(double));
  motion->qvel0 = calloc((size_t)m->nv, sizeof(double));
  motion->work = tb_control_work_create();
  if (!motion->qpos0 || !motion->qvel0 || m->nkey < 1) return false;
  memcpy(motion->qpos0, m->key_qpos, sizeof(double) * (size_t)m->nq);
  m->opt.contact_stiffness = 1e5;
  m->opt.contact_damping = 300;
  return remember_start(motion);
}
