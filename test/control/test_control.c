// Controllers: quadratic programs against their optimality conditions, inverse dynamics against the
// dynamics it inverts, feedback against its own formula.
#include <unistd.h>

#include "common/npy.h"
#include "common/test.h"
#include "io/npy.h"
#include "tribo/tribo.h"

enum { MAX = 24 };

static void random_spd(tbRng* rng, int n, double* H) {
  double L[MAX * MAX];
  for (int i = 0; i < n * n; i++) L[i] = tb_rng_uniform(rng, -1, 1);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      H[i * n + j] = i == j ? 0.1 : 0;
      for (int k = 0; k < n; k++) H[i * n + j] += L[i * n + k] * L[j * n + k];
    }
  }
}

// Random programs with equalities, inequalities and cones: x and z satisfy the KKT conditions.
static void programs_meet_their_optimality_conditions(void** state) {
  (void)state;
  tbRng rng = {21};
  for (int t = 0; t < 60; t++) {
    // As many unknowns as rows at least: with fewer, some have no solution.
    int n = 7 + tb_rng_int(&rng, 8);
    double H[MAX * MAX], c[MAX], A[MAX * MAX], b[MAX], x[MAX], z[MAX];
    random_spd(&rng, n, H);
    tbBlock block[4] = {{.type = TB_BLOCK_EQUALITY, .dim = 2},
                        {.type = TB_BLOCK_ONE_SIDED, .row = 2, .dim = 2},
                        {.type = TB_BLOCK_CONE, .row = 4, .dim = 3, .mu = {0.7, 0.7}}};
    int rows = 7;
    for (int i = 0; i < n; i++) c[i] = tb_rng_uniform(&rng, -3, 3);
    for (int i = 0; i < rows * n; i++) A[i] = tb_rng_uniform(&rng, -1, 1);
    for (int i = 0; i < rows; i++) b[i] = tb_rng_uniform(&rng, -1, 1);
    tbQp qp = {n, H, c, 3, block, A, b};
    tbSolveInfo info;
    tbError error;
    assert_int_equal(tb_qp_solve(&qp, 1e-10, x, z, NULL, &info, &error), TB_OK);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
    // Stationarity: H x + c = A'z.
    for (int i = 0; i < n; i++) {
      double sum = c[i];
      for (int k = 0; k < n; k++) sum += H[i * n + k] * x[k];
      for (int r = 0; r < rows; r++) sum -= A[r * n + i] * z[r];
      assert_near(sum, 0, 1e-7);
    }
    double y[7];
    for (int r = 0; r < rows; r++) {
      y[r] = -b[r];
      for (int k = 0; k < n; k++) y[r] += A[r * n + k] * x[k];
    }
    for (int r = 0; r < 2; r++) assert_near(y[r], 0, 1e-7);
    for (int r = 2; r < 4; r++) {
      assert_true(y[r] > -1e-7 && z[r] > -1e-7);
      assert_near(y[r] * z[r], 0, 1e-6);
    }
    assert_true(0.7 * hypot(y[5], y[6]) <= y[4] + 1e-6);
    assert_true(hypot(z[5], z[6]) <= 0.7 * z[4] + 1e-6);
    assert_near(y[4] * z[4] + y[5] * z[5] + y[6] * z[6], 0, 1e-6);
  }
}

// The nearest force in a friction cone: a program with a closed form.
static void projection_on_a_friction_cone(void** state) {
  (void)state;
  double H[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {0};
  double c[3] = {-1, -3, 0}, x[3], mu = 0.5;
  tbBlock block = {.type = TB_BLOCK_CONE, .dim = 3, .mu = {1 / mu, 1 / mu}};
  tbQp qp = {3, H, c, 1, &block, A, b};
  tbError error;
  assert_int_equal(tb_qp_solve(&qp, 1e-11, x, NULL, NULL, NULL, &error), TB_OK);
  double normal = (1 + mu * 3) / (1 + mu * mu);
  assert_near(x[0], normal, 1e-8);
  assert_near(x[1], mu * normal, 1e-8);
  assert_near(x[2], 0, 1e-8);
}

static void bad_programs_are_refused(void** state) {
  (void)state;
  double H[4] = {1, 2, 2, 1}, c[2] = {0}, A[2] = {1, 0}, b[1] = {0}, x[2];
  tbBlock block = {.type = TB_BLOCK_EQUALITY, .dim = 1};
  tbQp qp = {2, H, c, 1, &block, A, b};
  tbError error;
  assert_int_equal(tb_qp_solve(&qp, 1e-9, x, NULL, NULL, NULL, &error), TB_ERROR_NUMERIC);
  H[0] = NAN;
  assert_int_equal(tb_qp_solve(&qp, 1e-9, x, NULL, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  H[0] = 5;
  block.type = TB_BLOCK_BOX;
  assert_int_equal(tb_qp_solve(&qp, 1e-9, x, NULL, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  block = (tbBlock){.type = TB_BLOCK_EQUALITY, .dim = 99};
  assert_int_equal(tb_qp_solve(&qp, 1e-9, x, NULL, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "99 rows"));
  block.dim = 1;
  qp.A = NULL;
  assert_int_equal(tb_qp_solve(&qp, 1e-9, x, NULL, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  qp.nblock = 0;
  H[0] = H[3] = 2, H[1] = H[2] = 0, c[0] = -4;
  assert_int_equal(tb_qp_solve(&qp, 1e-9, x, NULL, NULL, NULL, &error), TB_OK);
  assert_near(x[0], 2, 1e-12);
}

// ---- inverse dynamics --------------------------------------------------------------------------

typedef struct {
  tbModel* m;
  tbData* d;
  int foot[4];
  tbSupport support[4];
  tbTask task[2];
  double com[3];
} Quadruped;

static void open_quadruped(Quadruped* q) {
  static const char* const FEET[] = {"foot_FL", "foot_FR", "foot_HL", "foot_HR"};
  tbError error;
  q->m = tb_load(TB_SCENES_DIR "/quadruped_torque.xml", NULL, &error);
  if (!q->m) fail_msg("%s", error.message);
  q->d = tb_data_new(q->m);
  assert_int_equal(tb_reset_keyframe(q->m, q->d, 0), TB_OK);
  tb_compute_position(q->m, q->d);
  memcpy(q->com, q->d->subtree_com + 3, sizeof q->com);
  memset(q->support, 0, sizeof q->support);
  for (int i = 0; i < 4; i++) {
    int g = tb_name2id(q->m, TB_OBJ_GEOM, FEET[i]);
    q->foot[i] = g;
    q->support[i] = (tbSupport){.body = q->m->geom_bodyid[g],
                                .npoint = 1,
                                .normal = {0, 0, 1},
                                .friction = 0.6,
                                .kp = 10,
                                .kd = 6,
                                .quat = {1, 0, 0, 0}};
    memcpy(q->support[i].point[0], q->m->geom_pos + 3 * g, 3 * sizeof(double));
    memcpy(q->support[i].position, q->d->geom_xpos + 3 * g, 3 * sizeof(double));
  }
  q->task[0] = (tbTask){.type = TB_TASK_COM, .body = 1, .weight = 1, .kp = 20, .kd = 9};
  memcpy(q->task[0].position, q->com, sizeof q->com);
  q->task[1] =
      (tbTask){.type = TB_TASK_POSTURE, .weight = 1e-3, .kp = 20, .kd = 9, .qpos = q->m->key_qpos};
}

static void close_quadruped(Quadruped* q) {
  tb_data_free(q->d);
  tb_model_free(q->m);
}

// In a random state: the forces are within their cones, the feet do not accelerate, the centre of
// mass does as asked, and forward dynamics with these torques and forces gives the accelerations.
static void inverse_dynamics_is_inverse(void** state) {
  (void)state;
  Quadruped q;
  open_quadruped(&q);
  tbRng rng = {31};
  int nv = q.m->nv;
  for (int i = 6; i < nv; i++) q.m->dof_damping[i] = 0.3;
  for (int t = 0; t < 20; t++) {
    tb_reset_keyframe(q.m, q.d, 0);
    for (int i = 6; i < nv; i++) q.d->qpos[i + 1] += tb_rng_uniform(&rng, -0.05, 0.05);
    for (int i = 0; i < nv; i++) q.d->qvel[i] = tb_rng_uniform(&rng, -0.1, 0.1);
    q.task[0].position[1] = q.com[1] + tb_rng_uniform(&rng, -0.01, 0.01);
    tb_compute_position(q.m, q.d);
    for (int i = 0; i < 4; i++) {
      memcpy(q.support[i].position, q.d->geom_xpos + 3 * q.foot[i], 3 * sizeof(double));
      q.support[i].kd = 0;
    }
    tbInverseDynamics k = {q.task, 2, q.support, 4, 1e-6};
    double tau[18], qacc[18], force[12], back[18], total = 0;
    tbSolveInfo info;
    tbError error;
    assert_int_equal(
        tb_inverse_dynamics_control(q.m, q.d, &k, tau, qacc, force, NULL, &info, &error), TB_OK);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
    for (int i = 0; i < 6; i++) assert_true(tau[i] == 0);
    for (int i = 0; i < 4; i++) {
      double *f = force + 3 * i, linear[3], J[54], a[3];
      assert_true(hypot(f[0], f[1]) <= 0.6 * f[2] + 1e-6);
      total += f[2];
      const double* at = q.d->geom_xpos + 3 * q.foot[i];
      tb_jac(q.m, q.d, q.support[i].body, at, J, NULL);
      tb_jac_dot_v(q.m, q.d, q.support[i].body, at, linear, NULL);
      for (int r = 0; r < 3; r++) {
        a[r] = linear[r];
        for (int j = 0; j < nv; j++) a[r] += J[r * nv + j] * qacc[j];
        assert_near(a[r], 0, 1e-6);
      }
      tb_apply_wrench(q.m, q.d, q.support[i].body, at, f, NULL, tau);
    }
    assert_true(fabs(total - 9.81 * q.m->total_mass) < 5);
    for (int i = 0; i < nv; i++) tau[i] += q.d->qfrc_passive[i];
    tb_forward_dynamics(q.m, q.d, tau, back);
    assert_near_array(back, qacc, nv, 1e-6);
  }
  close_quadruped(&q);
}

// Centre of mass and base accelerate as their tasks ask, seen from outside: second differences of
// positions, differences of the angular velocity. The base is tilted and turns.
static void tasks_are_met(void** state) {
  (void)state;
  Quadruped q;
  open_quadruped(&q);
  tbRng rng = {32};
  int nv = q.m->nv;
  double *v = q.d->qvel, *pos = q.d->qpos, dt = 1e-4;
  for (int t = 0; t < 5; t++) {
    tb_reset_keyframe(q.m, q.d, 0);
    for (int i = 0; i < nv; i++) v[i] = tb_rng_uniform(&rng, -0.5, 0.5);
    double tilt = 0.15, angle = tb_rng_uniform(&rng, 0.1, 0.3);
    pos[3] = cos(tilt);
    pos[4] = sin(tilt);
    pos[5] = pos[6] = 0;
    tb_compute_position(q.m, q.d);
    for (int i = 0; i < 4; i++) {
      q.support[i].friction = 20;
      q.support[i].kd = 0;
      memcpy(q.support[i].position, q.d->geom_xpos + 3 * q.foot[i], 3 * sizeof(double));
    }
    // Turned by `angle` about the world's y from where it is: (c, 0, s, 0) q.
    double c = cos(angle / 2), s = sin(angle / 2), com[3][3], spin[3][3], start[64], v0[64];
    tbTask task[2] = {q.task[0], {.type = TB_TASK_ORIENTATION, .body = 1, .weight = 1}};
    task[1].kp = 5;
    task[1].kd = 3;
    double target[4] = {c * pos[3] - s * pos[5], c * pos[4] + s * pos[6], c * pos[5] + s * pos[3],
                        c * pos[6] - s * pos[4]};
    memcpy(task[1].quat, target, sizeof target);
    tbInverseDynamics k = {task, 2, q.support, 4, 1e-8};
    double tau[18], qacc[18], force[12];
    tbError error;
    assert_int_equal(
        tb_inverse_dynamics_control(q.m, q.d, &k, tau, qacc, force, NULL, NULL, &error), TB_OK);
    memcpy(start, pos, sizeof(double) * (size_t)q.m->nq);
    memcpy(v0, v, sizeof(double) * (size_t)nv);
    for (int side = 0; side < 3; side++) {
      double move[18], h = (side - 1) * dt;
      memcpy(pos, start, sizeof(double) * (size_t)q.m->nq);
      for (int i = 0; i < nv; i++) {
        move[i] = v0[i] + 0.5 * h * qacc[i];
        v[i] = v0[i] + h * qacc[i];
      }
      tb_integrate_pos(q.m, pos, move, h);
      tb_compute_position(q.m, q.d);
      memcpy(com[side], q.d->subtree_com + 3, sizeof com[side]);
      for (int r = 0; r < 3; r++) {
        const double* R = q.d->xmat + 9 + 3 * r;
        spin[side][r] = R[0] * v[3] + R[1] * v[4] + R[2] * v[5];
      }
    }
    for (int r = 0; r < 3; r++) {
      double rate = (com[2][r] - com[0][r]) / (2 * dt);
      double a = (com[2][r] - 2 * com[1][r] + com[0][r]) / (dt * dt);
      assert_near(a, 20 * (q.com[r] - com[1][r]) - 9 * rate, 1e-3);
      a = (spin[2][r] - spin[0][r]) / (2 * dt);
      assert_near(a, 5 * angle * (r == 1) - 3 * spin[1][r], 1e-3);
    }
  }
  close_quadruped(&q);
}

// A pose task equals a point task and an orientation task together; the point follows its target.
static void poses_are_points_and_orientations(void** state) {
  (void)state;
  Quadruped q;
  open_quadruped(&q);
  tbRng rng = {33};
  int nv = q.m->nv;
  for (int i = 0; i < nv; i++) q.d->qvel[i] = tb_rng_uniform(&rng, -0.5, 0.5);
  tb_compute_position(q.m, q.d);
  for (int i = 0; i < 4; i++) q.support[i].friction = 20;
  tbTask pose = {.type = TB_TASK_POSE, .body = 1, .weight = 100, .kp = 30, .kd = 7};
  tbTask both[2];
  for (int r = 0; r < 3; r++) {
    pose.point[r] = tb_rng_uniform(&rng, -0.1, 0.1);
    pose.position[r] = q.d->xpos[3 + r] + tb_rng_uniform(&rng, -0.05, 0.05);
    pose.acceleration[r] = tb_rng_uniform(&rng, -1, 1);
    pose.velocity[3 + r] = tb_rng_uniform(&rng, -0.2, 0.2);
  }
  memcpy(pose.quat, (double[4]){0.8, 0, 0.6, 0}, sizeof pose.quat);
  for (int i = 0; i < 2; i++) {
    both[i] = pose;
    both[i].type = i ? TB_TASK_ORIENTATION : TB_TASK_POINT;
  }
  double tau[2][18], qacc[2][18], force[12];
  for (int i = 0; i < 2; i++) {
    tbInverseDynamics k = {i ? both : &pose, i ? 2 : 1, q.support, 4, 1e-8};
    tbError error;
    assert_int_equal(
        tb_inverse_dynamics_control(q.m, q.d, &k, tau[i], qacc[i], force, NULL, NULL, &error),
        TB_OK);
  }
  assert_near_array(qacc[1], qacc[0], nv, 1e-6);
  assert_near_array(tau[1], tau[0], nv, 1e-6);
  double at[3], J[3 * 18], bias[3];
  for (int r = 0; r < 3; r++) {
    const double* R = q.d->xmat + 9 + 3 * r;
    at[r] = q.d->xpos[3 + r] + R[0] * pose.point[0] + R[1] * pose.point[1] + R[2] * pose.point[2];
  }
  tb_jac(q.m, q.d, 1, at, J, NULL);
  tb_jac_dot_v(q.m, q.d, 1, at, bias, NULL);
  for (int r = 0; r < 3; r++) {
    double a = bias[r], v = 0;
    for (int i = 0; i < nv; i++) {
      a += J[r * nv + i] * qacc[0][i];
      v += J[r * nv + i] * q.d->qvel[i];
    }
    assert_near(a, pose.acceleration[r] + 30 * (pose.position[r] - at[r]) - 7 * v, 1e-3);
  }
  close_quadruped(&q);
}

// Pushed aside by more than friction allows, the feet's forces stay in their cones, and reach them;
// a foot that is to bear two fifths of the weight does.
static void forces_keep_to_their_limits(void** state) {
  (void)state;
  Quadruped q;
  open_quadruped(&q);
  double tau[18], force[12], weight = 9.81 * q.m->total_mass, most = 0;
  for (int i = 0; i < 4; i++) q.support[i].friction = 0.2;
  q.support[0].force_min = 0.4 * weight;
  q.task[0].acceleration[1] = 3;
  tbInverseDynamics k = {q.task, 2, q.support, 4, 1e-6};
  tbError error;
  for (int i = 0; i < 4; i++) q.support[i].weight = 1;
  assert_int_equal(tb_inverse_dynamics_control(q.m, q.d, &k, tau, NULL, force, NULL, NULL, &error),
                   TB_OK);
  for (int i = 0; i < 4; i++) {
    const double* f = force + 3 * i;
    assert_true(hypot(f[0], f[1]) <= 0.2 * f[2] + 1e-6);
    most = fmax(most, hypot(f[0], f[1]) / f[2]);
  }
  assert_true(most > 0.199);
  assert_true(force[2] >= 0.4 * weight - 1e-6);
  close_quadruped(&q);
}

// Standing under the controller: the centre of mass follows a shift of 1 cm, within the law.
static void quadruped_stands_and_shifts(void** state) {
  (void)state;
  Quadruped q;
  open_quadruped(&q);
  q.m->opt.law = TB_LAW_VISCOELASTIC;
  q.m->opt.integrator = TB_INTEGRATOR_EXPO;
  q.m->opt.timestep = 0.005;
  q.task[0].position[1] += 0.01;
  tbInverseDynamics k = {q.task, 2, q.support, 4, 1e-6};
  tbControlWork* work = tb_control_work_create();
  assert_non_null(work);
  size_t warm = 0;
  for (int i = 0; i < 600; i++) {
    tbError error;
    if (i == 50) warm = tb_control_work_allocations(work);
    assert_int_equal(tb_inverse_dynamics_control(q.m, q.d, &k, q.d->qfrc_applied, NULL, NULL, work,
                                                 NULL, &error),
                     TB_OK);
    if (tb_step(q.m, q.d) != TB_OK) fail_msg("%s", q.d->message);
  }
  // The loop allocates nothing once warm.
  assert_int_equal(tb_control_work_allocations(work), warm);
  assert_true(warm > 0);
  tb_control_work_free(work);
  assert_near(q.d->subtree_com[4], q.com[1] + 0.01, 1e-3);
  assert_near(q.d->subtree_com[5], q.com[2], 1e-3);
  close_quadruped(&q);
}

static void refuse(Quadruped* q, const tbInverseDynamics* k, const char* words) {
  double tau[18];
  tbError error;
  assert_int_equal(tb_inverse_dynamics_control(q->m, q->d, k, tau, NULL, NULL, NULL, NULL, &error),
                   TB_ERROR_ARGUMENT);
  if (!strstr(error.message, words)) fail_msg("got '%s', expected '%s'", error.message, words);
}

// Every invalid request to a controller, with a message that names the valid ones.
static void nonsense_is_refused(void** state) {
  (void)state;
  Quadruped q;
  open_quadruped(&q);
  tbTask task = {.type = TB_TASK_POINT, .body = 1, .weight = 1};
  tbSupport support = {.body = 1, .npoint = 1, .normal = {0, 0, 1}, .friction = 0.5};
  tbInverseDynamics k = {
      .task = &task, .ntask = 1, .support = &support, .nsupport = 1, .force_weight = 1};
  const tbTask good_task = task;
  const tbSupport good_support = support;
  k.force_weight = 0;
  refuse(&q, &k, "force_weight must be positive");
  k.force_weight = 1;
  task.type = TB_TASK_POSTURE + 1;
  refuse(&q, &k, "task 0: type is 5, no tbTaskType");
  task.type = TB_TASK_POSTURE;
  refuse(&q, &k, "task 0: a posture needs a reference qpos");
  task = good_task;
  task.body = q.m->nbody;
  refuse(&q, &k, "task 0: body is");
  task.body = 0;
  refuse(&q, &k, "task 0: body is 0, expected 1 to");
  task = good_task;
  task.weight = NAN;
  refuse(&q, &k, "task 0: weight is");
  task = good_task;
  support.npoint = TB_SUPPORT_POINTS + 1;
  refuse(&q, &k, "support 0: body is 1 with 5 points");
  support = good_support;
  support.friction = 0;
  refuse(&q, &k, "support 0: friction is 0");
  support = good_support;
  support.normal[2] = 2;
  refuse(&q, &k, "support 0: normal has length 2, expected 1");
  support.normal[2] = NAN;
  refuse(&q, &k, "support 0: normal has length");
  close_quadruped(&q);
}

// ---- feedback ----------------------------------------------------------------------------------

// A floating base with one joint, and its files: three states, two controls, gains that pick each
// coordinate.
typedef struct {
  char folder[32], path[3][64];
  double x[45];
  tbModel* m;
  tbData* d;
} Files;

static const double QUARTER = 0.70710678118654752;  // sine and cosine of half a quarter turn

static void write_files(const Files* files, const double* x, const double* u, const double* K) {
  tb_test_write_npy(files->path[0], "(3, 15, 1)", x, 45);
  tb_test_write_npy(files->path[1], "(2, 1, 1)", u, 2);
  tb_test_write_npy(files->path[2], "(2, 1, 14)", K, 28);
}

static void open_files(Files* files) {
  strcpy(files->folder, "/tmp/tribo-control-XXXXXX");
  assert_non_null(mkdtemp(files->folder));
  snprintf(files->path[0], 64, "%s/x.npy", files->folder);
  snprintf(files->path[1], 64, "%s/u.npy", files->folder);
  snprintf(files->path[2], 64, "%s/k.npy", files->folder);
  // Quaternion (x y z w): a quarter turn about z; the base moves along its own x.
  double *x = files->x, u[2] = {4, 5}, K[28];
  const double first[15] = {1, 2, 3, 0, 0, QUARTER, QUARTER, 0.5, 0.3, 0, 0, 0, 0, 0, 0.7};
  for (int i = 0; i < 3; i++) memcpy(x + 15 * i, first, sizeof first);
  x[15] += 0.1;
  x[30] += 0.3;
  x[29] += 0.2;
  for (int i = 0; i < 28; i++) K[i] = i % 14 + 1;
  write_files(files, x, u, K);
  tbError error;
  files->m = tb_load_string(
      "<mujoco><worldbody><body><freejoint/><geom size='.1'/><body pos='1 0 0'><joint name='j' "
      "axis='0 1 0'/><geom size='.1'/></body></body></worldbody></mujoco>",
      NULL, NULL, &error);
  assert_non_null(files->m);
  files->d = tb_data_new(files->m);
  assert_non_null(files->d);
}

static tbFeedback* load_feedback(const Files* files, const char* joint, tbError* error) {
  return tb_feedback_load(files->m, files->path[0], files->path[1], files->path[2], 0.01, 0.5,
                          &joint, error);
}

static tbFeedback* feedback_of(const Files* files) {
  tbError error;
  tbFeedback* f = load_feedback(files, "j", &error);
  if (!f) fail_msg("%s", error.message);
  return f;
}

static void close_files(Files* files) {
  for (int i = 0; i < 3; i++) remove(files->path[i]);
  rmdir(files->folder);
  tb_data_free(files->d);
  tb_model_free(files->m);
}

static void feedback_is_its_formula(void** state) {
  (void)state;
  Files files;
  open_files(&files);
  tbModel* m = files.m;
  tbData* d = files.d;
  tbFeedback* f = feedback_of(&files);
  assert_int_equal(tb_feedback_count(f), 2);
  tb_feedback_reference(m, f, 0, d->qpos, d->qvel);
  // In Tribo's conventions: lifted, w first, velocity in the world.
  double q[8] = {1, 2, 3.5, QUARTER, 0, 0, QUARTER, 0.5}, v[7] = {0, 0.3, 0, 0, 0, 0, 0.7}, tau[7];
  assert_near_array(d->qpos, q, 8, 1e-14);
  assert_near_array(d->qvel, v, 7, 1e-14);
  tb_feedback_control(m, d, f, 0, tau);
  assert_near(tau[6], 4, 1e-12);
  for (int i = 0; i < 6; i++) assert_true(tau[i] == 0);
  // Behind by (0, -0.2, 0) in the world is behind by 0.2 along the base's own x: gain 1. Joint
  // behind by 0.1: gain 7. Velocities: base x slower by 0.3 (gain 8), joint by 0.7 (gain 14).
  d->qpos[1] -= 0.2;
  d->qpos[7] -= 0.1;
  memset(d->qvel, 0, sizeof(double) * 7);
  tb_feedback_control(m, d, f, 0, tau);
  assert_near(tau[6], 4 + 0.2 * 1 + 0.1 * 7 + 0.3 * 8 + 0.7 * 14, 1e-12);
  tb_feedback_free(f);
  close_files(&files);
}

// Between states, and before and after all of them.
static void references_are_interpolated(void** state) {
  (void)state;
  Files files;
  open_files(&files);
  tbFeedback* f = feedback_of(&files);
  const double times[] = {-1, 0.005, 0.01, 0.015, 0.02, 7};
  const double places[] = {1, 1.05, 1.1, 1.2, 1.3, 1.3};
  for (int i = 0; i < 6; i++) {
    tb_feedback_reference(files.m, f, times[i], files.d->qpos, files.d->qvel);
    assert_near(files.d->qpos[0], places[i], 1e-12);
  }
  tb_feedback_reference(files.m, f, 0.005, files.d->qpos, files.d->qvel);
  assert_near(files.d->qvel[6], 0.8, 1e-12);
  tb_feedback_free(f);
  close_files(&files);
}

static void feedback_sees_turns_and_screws(void** state) {
  (void)state;
  Files files;
  open_files(&files);
  tbModel* m = files.m;
  tbData* d = files.d;
  tbFeedback* f = feedback_of(&files);
  // A turn of 0.2 rad about z ahead: rotation gain 6, and no translation. The base's velocity is
  // along its x in either frame: 0.3 wanted, 0.3 rotated away measured.
  double a = 0.2, turn[7] = {0, 0, 0, 0, 0, -a, 0}, tau[7];
  double wx = 0.3 - 0.3 * cos(a), wy = 0 - 0.3 * sin(a);
  tb_feedback_reference(m, f, 0, d->qpos, d->qvel);
  tb_integrate_pos(m, d->qpos, turn, 1);
  tb_feedback_control(m, d, f, 0, tau);
  assert_near(tau[6], 4 + a * 6 + wx * 8 + wy * 9, 1e-9);
  // Behind by a screw: 0.3 along the base's x while it turns by 0.2 about its z, which is a chord
  // of (sin a, 1 - cos a) 0.3 / a. The frame from which this is seen is the base's, 0.2 behind the
  // quarter turn; the velocity is as wanted there.
  double heading = acos(0) - a, along = 0.3 * sin(a) / a, aside = 0.3 * (1 - cos(a)) / a;
  tb_feedback_reference(m, f, 0, d->qpos, d->qvel);
  d->qpos[0] -= along * cos(heading) - aside * sin(heading);
  d->qpos[1] -= along * sin(heading) + aside * cos(heading);
  d->qpos[3] = cos(heading / 2);
  d->qpos[6] = sin(heading / 2);
  d->qvel[0] = 0.3 * cos(heading);
  d->qvel[1] = 0.3 * sin(heading);
  tb_feedback_control(m, d, f, 0, tau);
  assert_near(tau[6], 4 + 0.3 * 1 + a * 6, 1e-9);
  tb_feedback_free(f);
  close_files(&files);
}

// Each control is for its whole interval, rounding aside.
static void controls_hold_for_their_interval(void** state) {
  (void)state;
  static const double TIMES[] = {0, 0.006, 0.0099, 0.00999999999999999, 0.01, 0.03};
  Files files;
  open_files(&files);
  const double two[2] = {4, 9}, none[28] = {0};
  write_files(&files, files.x, two, none);
  tbFeedback* f = feedback_of(&files);
  for (int i = 0; i < 6; i++) {
    double tau[7];
    tb_feedback_control(files.m, files.d, f, TIMES[i], tau);
    assert_near(tau[6], i < 3 ? 4 : 9, 0);
  }
  tb_feedback_free(f);
  close_files(&files);
}

// Files that do not fit each other or the model, or are no arrays.
static void files_that_do_not_fit_are_refused(void** state) {
  (void)state;
  Files files, other;
  tbError error;
  open_files(&files);
  other = files;
  memcpy(other.path[0], files.path[1], sizeof other.path[0]);
  assert_null(load_feedback(&other, "j", &error));
  strcpy(other.path[0], "/nowhere");
  assert_null(load_feedback(&other, "j", &error));
  assert_null(load_feedback(&files, "k", &error));
  FILE* broken = fopen(files.path[1], "wb");
  assert_non_null(broken);
  fputs("no numpy", broken);
  fclose(broken);
  assert_null(load_feedback(&files, "j", &error));
  assert_int_equal(error.code, TB_ERROR_PARSE);
  close_files(&files);
}

// Truncated and damaged files are refused, whatever the damage.
static void put(unsigned char* at, size_t value, int bytes) {
  for (int i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> (8 * i));
}

// Append a member to a zip file as numpy's savez stores it, and its entry to the central directory.
static void add_member(unsigned char* zip, size_t* size, unsigned char* list, size_t* listed,
                       const char* name, const unsigned char* bytes, size_t count) {
  unsigned char *local = zip + *size, *entry = list + *listed;
  size_t length = strlen(name);
  memset(local, 0, 30);
  put(local, 0x04034b50, 4);
  put(local + 26, length, 2);
  memcpy(local + 30, name, length);
  memcpy(local + 30 + length, bytes, count);
  memset(entry, 0, 46);
  put(entry, 0x02014b50, 4);
  put(entry + 20, count, 4);
  put(entry + 24, count, 4);
  put(entry + 28, length, 2);
  put(entry + 42, *size, 4);
  memcpy(entry + 46, name, length);
  *size += 30 + length + count;
  *listed += 46 + length;
}

// Arrays of an archive are found by name; compressed, truncated or missing ones are refused.
static void arrays_of_an_archive_are_found(void** state) {
  (void)state;
  char path[] = "/tmp/tribo-npz-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  unsigned char zip[2048], list[512], bytes[256];
  double x[2][2] = {{1, 2}, {-3, 4.5}};
  static const char* const NAMES[2] = {"q.npy", "com.npy"};
  size_t size = 0, listed = 0;
  for (int i = 0; i < 2; i++) {
    tb_test_write_npy(path, "(2,)", x[i], 2);
    FILE* f = fopen(path, "rb");
    size_t count = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    add_member(zip, &size, list, &listed, NAMES[i], bytes, count);
  }
  remove(path);
  size_t start = size;
  memcpy(zip + size, list, listed);
  size += listed;
  memset(zip + size, 0, 22);
  put(zip + size, 0x06054b50, 4);
  put(zip + size + 10, 2, 2);
  put(zip + size + 16, start, 4);
  size += 22;

  tbNpy a;
  tbError error;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tb_npy_parse(zip, size, "a.npz", i ? "com" : "q", &a, &error), TB_OK);
    assert_int_equal(a.count, 2);
    assert_near_array(a.data, x[i], 2, 0);
    tb_npy_free(&a);
  }
  assert_int_equal(tb_npy_parse(zip, size, "a.npz", "co", &a, &error), TB_ERROR_PARSE);
  assert_non_null(strstr(error.message, "co.npy"));
  assert_int_equal(tb_npy_parse(zip, size - 1, "a.npz", "q", &a, &error), TB_ERROR_PARSE);
  put(zip + start + 24, 1 << 20, 4);  // more than there is
  assert_int_equal(tb_npy_parse(zip, size, "a.npz", "q", &a, &error), TB_ERROR_PARSE);
  put(zip + start + 10, 8, 2);  // deflated
  assert_int_equal(tb_npy_parse(zip, size, "a.npz", "q", &a, &error), TB_ERROR_PARSE);
  assert_null(a.data);
}

static void damaged_arrays_are_refused(void** state) {
  (void)state;
  char path[] = "/tmp/tribo-npy-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  double x[6] = {1, 2, 3, 4, 5, 6};
  tb_test_write_npy(path, "(2, 3)", x, 6);
  tbNpy a;
  tbError error;
  assert_int_equal(tb_npy_read(path, NULL, &a, &error), TB_OK);
  assert_int_equal(a.ndim, 2);
  assert_near_array(a.data, x, 6, 0);
  tb_npy_free(&a);
  assert_int_equal(tb_npy_read(path, "member", &a, &error), TB_ERROR_PARSE);
  static const char* const SHAPES[] = {
      "(2, 4)", "(-2, 3)", "(2, 3", "(999999999, 999999999)", "(1, 1, 1, 2, 3)", "x"};
  for (size_t i = 0; i < sizeof SHAPES / sizeof SHAPES[0]; i++) {
    tb_test_write_npy(path, SHAPES[i], x, 6);
    assert_int_equal(tb_npy_read(path, NULL, &a, &error), TB_ERROR_PARSE);
    assert_null(a.data);
  }
  remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_meet_their_optimality_conditions),
      cmocka_unit_test(projection_on_a_friction_cone),
      cmocka_unit_test(bad_programs_are_refused),
      cmocka_unit_test(inverse_dynamics_is_inverse),
      cmocka_unit_test(tasks_are_met),
      cmocka_unit_test(poses_are_points_and_orientations),
      cmocka_unit_test(forces_keep_to_their_limits),
      cmocka_unit_test(quadruped_stands_and_shifts),
      cmocka_unit_test(nonsense_is_refused),
      cmocka_unit_test(feedback_is_its_formula),
      cmocka_unit_test(references_are_interpolated),
      cmocka_unit_test(feedback_sees_turns_and_screws),
      cmocka_unit_test(controls_hold_for_their_interval),
      cmocka_unit_test(files_that_do_not_fit_are_refused),
      cmocka_unit_test(arrays_of_an_archive_are_found),
      cmocka_unit_test(damaged_arrays_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
