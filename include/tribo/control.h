// Controllers: a convex quadratic program on the contact solvers, task-space inverse dynamics, and
// linear state feedback from files.
#ifndef TRIBO_CONTROL_H_
#define TRIBO_CONTROL_H_

#include "tribo/data.h"
#include "tribo/problem.h"

TB_EXTERN_C_BEGIN

// ---- memory ------------------------------------------------------------------------------------

// What a controller keeps from call to call: after the first calls, programs of the same size
// allocate nothing. One per controller and thread.
typedef struct tbControlWork tbControlWork;
TB_API tbControlWork* tb_control_work_create(void);  // NULL when out of memory
TB_API void tb_control_work_free(tbControlWork* work);
TB_API size_t tb_control_work_allocations(const tbControlWork* work);

// ---- quadratic programs ------------------------------------------------------------------------

// minimise x'Hx/2 + c'x  such that each block of A x - b lies in its set:
//   equality: zero; one-sided: >= 0; cone: sqrt(sum (mu_i y_Ti)^2) <= y_N, normal row first.
// A force f within the friction cone |f_T| <= mu f_N is therefore a cone block with 1/mu.
typedef struct {
  int n;            // unknowns
  const tbReal* H;  // n x n, symmetric positive definite
  const tbReal* c;  // n
  int nblock;
  const tbBlock* block;  // equality, one-sided, cone; box is not allowed
  const tbReal* A;       // rows x n
  const tbReal* b;       // rows
} tbQp;

// Solve for x (n) and, where z is not NULL, the multipliers (rows). `tolerance` is the relative
// residual of the contact problem that is the program's dual: G = A H^-1 A', g = -A H^-1 c - b
// under the law ccp. TB_OK also where it did not converge: `info` says so. `work` may be NULL for
// memory of its own. Errors: H not positive definite, bad blocks, no memory.
TB_API tbResult tb_qp_solve(const tbQp* qp, tbReal tolerance, tbReal* x, tbReal* z,
                            tbControlWork* work, tbSolveInfo* info, tbError* error);

// ---- task-space inverse dynamics ---------------------------------------------------------------

typedef enum {
  TB_TASK_COM,          // centre of mass of the tree of `body`
  TB_TASK_POINT,        // a point of `body`
  TB_TASK_ORIENTATION,  // of `body`
  TB_TASK_POSE,         // both
  TB_TASK_POSTURE,      // every hinge and slide joint
} tbTaskType;

// Wanted acceleration: reference acceleration + kd (reference - current velocity) + kp (reference -
// current position). Its weighted squared error is part of the cost.
typedef struct {
  int type;  // tbTaskType
  int body;
  tbReal point[3];  // m, in the body
  tbReal weight, kp, kd;
  tbReal position[3], quat[4];  // reference of the point or centre of mass, of the body's frame
  tbReal velocity[6];           // linear, angular, in world axes
  tbReal acceleration[6];       // linear, angular
  const tbReal* qpos;           // posture: reference configuration (nq)
} tbTask;

enum { TB_SUPPORT_POINTS = 4 };

// A body that stands on something: it must not move there (one point: its position; more: the pose
// of the body), and each point may push within the friction cone about `normal`.
typedef struct {
  int body;
  int npoint;                          // 1 to TB_SUPPORT_POINTS
  tbReal point[TB_SUPPORT_POINTS][3];  // m, in the body
  tbReal normal[3];                    // unit, in the world, from the ground to the body
  tbReal friction;                     // > 0
  tbReal force_min;                    // N, normal force of each point
  tbReal weight;                       // of the motion; 0: exactly
  tbReal kp, kd;
  tbReal position[3], quat[4];  // where the first point and the body's frame should be
} tbSupport;

typedef struct {
  const tbTask* task;
  int ntask;
  const tbSupport* support;
  int nsupport;
  tbReal force_weight;  // of the squared tangential forces, > 0; normal forces count a 10000th
} tbInverseDynamics;

// Generalised forces `tau` (nv; zero on the dofs of free joints, which nothing drives) from the
// state in `data`, whose kinematics and inertia it recomputes. Where not NULL, `qacc` (nv) and
// `force` (3 per support point, world axes) get the accelerations and contact forces that go with
// them. `work` may be NULL for memory of its own.
TB_API tbResult tb_inverse_dynamics_control(const tbModel* model, tbData* data,
                                            const tbInverseDynamics* controller, tbReal* tau,
                                            tbReal* qacc, tbReal* force, tbControlWork* work,
                                            tbSolveInfo* info, tbError* error);

// ---- linear state feedback ---------------------------------------------------------------------

// tau = u[i] + K[i] (x_ref (-) x), as optimal-control codes write it: numpy files of states
// (N + 1 x (nq + nv)), controls (N x nu) and gains (N x nu x 2 nv), one row per `dt` seconds. The
// files have Pinocchio's conventions: quaternion last entry w, free-joint velocity in the body's
// frame, base pose difference as the logarithm of the relative pose. The base is a free joint, the
// `nu` driven joints follow.
typedef struct tbFeedback tbFeedback;

// `joint`: names of the driven joints in the files' order, NULL for the model's. `lift`: added to
// the base's reference height (m). NULL on error.
TB_API tbFeedback* tb_feedback_load(const tbModel* model, const char* states, const char* controls,
                                    const char* gains, tbReal dt, tbReal lift,
                                    const char* const* joint, tbError* error);
TB_API void tb_feedback_free(tbFeedback* feedback);
TB_API int tb_feedback_count(const tbFeedback* feedback);  // N

// Reference state at a time: states are interpolated. qpos and qvel in Tribo's conventions. The
// feedback holds the memory that this and the control need: one per thread. Both do nothing for a
// model of other sizes than the one it was loaded for.
TB_API void tb_feedback_reference(const tbModel* model, tbFeedback* feedback, tbReal time,
                                  tbReal* qpos, tbReal* qvel);

// Generalised forces (nv) at a time for the state in `data`.
TB_API void tb_feedback_control(const tbModel* model, const tbData* data, tbFeedback* feedback,
                                tbReal time, tbReal* tau);

TB_EXTERN_C_END

#endif
