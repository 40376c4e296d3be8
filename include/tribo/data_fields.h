// Every fixed-size array of tbData, declared once: X(type, name, rows, columns, unit, what).
// Rows and columns are sizes of the model. Variable-size results live in the data's arena.
#ifndef TRIBO_DATA_FIELDS_H_
#define TRIBO_DATA_FIELDS_H_

// The state: everything that a snapshot must hold so that a simulation continues without a
// difference.
#define TB_DATA_STATE(X)                                                                \
  X(tbReal, qpos, nq, 1, "", "configuration")                                           \
  X(tbReal, qvel, nv, 1, "", "velocity")                                                \
  X(tbReal, act, na, 1, "", "activation")                                               \
  X(tbReal, mocap_pos, nmocap, 3, "m", "mocap positions")                               \
  X(tbReal, mocap_quat, nmocap, 4, "", "mocap orientations")                            \
  X(tbReal, qacc_warmstart, nv, 1, "", "last acceleration, where soft solvers start")   \
  X(int, eq_active, neq, 1, "", "1 if the equality constraint is active")               \
  X(tbReal, eq_load, neq, 6, "N", "pull on its two bodies, where it counts as tension") \
  X(tbReal, ten_load, ntendon, 1, "N", "force along it, where it counts as tension")    \
  X(tbReal, userdata, nuserdata, 1, "", "user values")

// Inputs that the user sets before a step.
#define TB_DATA_INPUT(X)                                                  \
  X(tbReal, ctrl, nu, 1, "", "control")                                   \
  X(tbReal, qfrc_applied, nv, 1, "N or N m", "applied generalised force") \
  X(tbReal, xfrc_applied, nbody, 6, "N, N m",                             \
    "applied force, torque at the body's centre of mass, world axes")

#define TB_DATA_DERIVED(X)                                                               \
  /* positions: kinematics */                                                            \
  X(tbReal, xpos, nbody, 3, "m", "body frame")                                           \
  X(tbReal, xquat, nbody, 4, "", "body frame")                                           \
  X(tbReal, xmat, nbody, 9, "", "body frame")                                            \
  X(tbReal, xipos, nbody, 3, "m", "centre of mass")                                      \
  X(tbReal, ximat, nbody, 9, "", "principal axes")                                       \
  X(tbReal, xanchor, njnt, 3, "m", "joint anchor")                                       \
  X(tbReal, xaxis, njnt, 3, "", "joint axis")                                            \
  X(tbReal, geom_xpos, ngeom, 3, "m", "geom frame")                                      \
  X(tbReal, geom_xmat, ngeom, 9, "", "geom frame")                                       \
  X(tbReal, site_xpos, nsite, 3, "m", "site frame")                                      \
  X(tbReal, site_xmat, nsite, 9, "", "site frame")                                       \
  X(tbReal, cam_xpos, ncam, 3, "m", "camera positions")                                  \
  X(tbReal, cam_xmat, ncam, 9, "", "camera frame")                                       \
  X(tbReal, subtree_com, nbody, 3, "m", "centre of mass of the subtree")                 \
  /* positions: spatial quantities, about the root body's subtree centre of mass */      \
  X(tbReal, cdof, nv, 6, "", "motion axis of each dof: angular, linear")                 \
  X(tbReal, cinert, nbody, 10, "", "inertia: xx yy zz xy xz yz, mass * offset, mass")    \
  X(tbReal, crb, nbody, 10, "", "composite inertia of the subtree")                      \
  /* inertia */                                                                          \
  X(tbReal, qM, nM, 1, "", "M by rows of the lower triangle, see M_rowadr")              \
  X(tbReal, qLD, nM, 1, "", "L^T D L of M; after a whole step see tb_factor_m")          \
  X(tbReal, qLDiagInv, nv, 1, "", "1/D")                                                 \
  /* tendons and actuators: lengths and moments */                                       \
  X(tbReal, ten_length, ntendon, 1, "m", "tendon length")                                \
  X(tbReal, ten_J, nJten, 1, "", "tendon Jacobian, rows by Jten_colind")                 \
  X(tbReal, ten_velocity, ntendon, 1, "m/s", "tendon velocity")                          \
  X(tbReal, actuator_length, nu, 1, "", "actuator length")                               \
  X(tbReal, actuator_moment, nJmom, 1, "", "actuator moment arms, rows by Jmom_colind")  \
  X(tbReal, actuator_velocity, nu, 1, "", "actuator velocity")                           \
  X(tbReal, actuator_force, nu, 1, "", "scalar actuator force")                          \
  X(tbReal, act_dot, na, 1, "", "derivative of the activation")                          \
  /* velocities */                                                                       \
  X(tbReal, cvel, nbody, 6, "", "body velocity: angular, linear, about the same point")  \
  X(tbReal, cdof_dot, nv, 6, "", "derivative of cdof")                                   \
  X(tbReal, subtree_linvel, nbody, 3, "m/s", "velocity of the subtree's centre of mass") \
  X(tbReal, subtree_angmom, nbody, 3, "N m s", "angular momentum about it")              \
  /* forces and accelerations */                                                         \
  X(tbReal, qfrc_bias, nv, 1, "", "gravity, Coriolis and centrifugal: b")                \
  X(tbReal, qfrc_spring, nv, 1, "", "joint and tendon springs")                          \
  X(tbReal, qfrc_damper, nv, 1, "", "joint and tendon dampers")                          \
  X(tbReal, qfrc_gravcomp, nv, 1, "", "gravity compensation")                            \
  X(tbReal, qfrc_fluid, nv, 1, "", "fluid forces")                                       \
  X(tbReal, qfrc_passive, nv, 1, "", "sum of the passive forces")                        \
  X(tbReal, qfrc_actuator, nv, 1, "", "actuators")                                       \
  X(tbReal, qfrc_smooth, nv, 1, "", "everything but constraints")                        \
  X(tbReal, qacc_smooth, nv, 1, "", "acceleration without constraints")                  \
  X(tbReal, qfrc_constraint, nv, 1, "", "constraint forces J^T lambda / dt")             \
  X(tbReal, qacc, nv, 1, "", "acceleration")                                             \
  X(tbReal, cacc, nbody, 6, "", "body acceleration, gravity included")                   \
  X(tbReal, cfrc_int, nbody, 6, "", "force between a body and its parent")               \
  X(tbReal, cfrc_ext, nbody, 6, "", "external force on a body")                          \
  X(tbReal, sensordata, nsensordata, 1, "", "sensor values")

#define TB_DATA_ARRAYS(X) TB_DATA_STATE(X) TB_DATA_INPUT(X) TB_DATA_DERIVED(X)

#endif
