// Controllers: a convex quadratic program on the contact solvers, task-space inverse dynamics, and
// linear state feedback from files.
#ifndef TRIBO_CONTROL_H_
#define TRIBO_CONTROL_H_

#include "tribo/data.h"
#include "tribo/problem.h"

TB_EXTERN_C_BEGIN

// ---- memory ------------------------------------------------------------------------------------

// Memory that a controller keeps between calls: after the first calls, programs of the same size
// allocate nothing. Use one per controller and thread.
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
// under the law ccp. The result is TB_OK also where the solver did not converge: see `info`. With
// `work` NULL the call allocates its own memory. Errors: H not positive definite, bad blocks, out
// of memory.
TB_API tbResult tb_qp_solve(const tbQp* qp, tbReal tolerance, tbReal* x, tbReal* z,
                            tbControlWork* work, tbSolveInfo* info, tbError* error);

// ---- task-space inverse dynamics ---------------------------------------------------------------

typedef enum {
  TB_TASK_COM,          // centre of mass of the tree of `body`
  TB_TASK_POINT,        // a point of `body`
  TB_TASK_ORIENTATION,  // of `body`
  TB_TASK_POSE,         // position and orientation
  TB_TASK_POSTURE,      // every hinge and slide joint
} tbTaskType;

// Desired acceleration: reference acceleration + kd (reference - current velocity) + kp (reference
// - current position). The task's weighted squared error is part of the cost.
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

// A body in contact with the ground: it must not move (one point: its position is constrained; more
// points: the pose of the body), and the contact force at each point lies in the friction cone
// about `normal`.
typedef struct {
  int body;
  int npoint;                          // 1 to TB_SUPPORT_POINTS
  tbReal point[TB_SUPPORT_POINTS][3];  // m, in the body
  tbReal normal[3];                    // unit, in the world, from the ground to the body
  tbReal friction;                     // > 0
  tbReal force_min;                    // N, normal force of each point
  tbReal weight;                       // of the no-motion condition in the cost; 0: a hard
                                       // constraint
  tbReal kp, kd;
  tbReal position[3], quat[4];  // desired position of the first point and of the body's frame
} tbSupport;

typedef struct {
  const tbTask* task;
  int ntask;
  const tbSupport* support;
  int nsupport;
  tbReal force_weight;  // weight of the squared tangential forces, > 0; a 10000th of it for normal
                        // forces
} tbInverseDynamics;

// Generalised forces `tau` (nv; zero on the dofs of free joints, which are unactuated) from the
// state in `data`, whose kinematics and inertia this call recomputes. Where not NULL, `qacc` (nv)
// and `force` (3 per support point, world axes) get the corresponding accelerations and contact
// forces. With `work` NULL the call allocates its own memory.
TB_API tbResult tb_inverse_dynamics_control(const tbModel* model, tbData* data,
                                            const tbInverseDynamics* controller, tbReal* tau,
                                            tbReal* qacc, tbReal* force, tbControlWork* work,
                                            tbSolveInfo* info, tbError* error);

// ---- linear state feedback ---------------------------------------------------------------------

// tau = u[i] + K[i] (x_ref (-) x), as optimal-control codes write it: numpy files of states (N + 1
// x (nq + nv)), controls (N x nu) and gains (N x nu x 2 nv), one row per `dt` seconds. The files
// have Pinocchio's conventions: quaternion last entry w, free-joint velocity in the body's frame,
// base pose difference as the logarithm of the relative pose. The first joint is the free joint of
// the base, followed by the `nu` actuated joints.
typedef struct tbFeedback tbFeedback;

// `joint`: names of the actuated joints in the files' order, NULL for the model's order. `lift`:
// offset added to the base's reference height (m). NULL on error.
TB_API tbFeedback* tb_feedback_load(const tbModel* model, const char* states, const char* controls,
                                    const char* gains, tbReal dt, tbReal lift,
                                    const char* const* joint, tbError* error);
TB_API void tb_feedback_free(tbFeedback* feedback);
TB_API int tb_feedback_count(const tbFeedback* feedback);  // N

// Reference state at a time, linear between the stored states; qpos and qvel in Tribo's
// conventions. The feedback holds the scratch memory of this call and of tb_feedback_control: use
// one per thread. Both do nothing for a model whose sizes differ from those of the model it was
// loaded for.
TB_API void tb_feedback_reference(const tbModel* model, tbFeedback* feedback, tbReal time,
                                  tbReal* qpos, tbReal* qvel);

// Generalised forces (nv) at a time for the state in `data`.
TB_API void tb_feedback_control(const tbModel* model, const tbData* data, tbFeedback* feedback,
                                tbReal time, tbReal* tau);

TB_EXTERN_C_END

#endif
