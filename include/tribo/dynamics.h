// Rigid-body dynamics of the kinematic trees: quantities that depend on the state alone, without
// contacts.
//
// Names of results are those of tbData (and MuJoCo's). Spatial vectors have the angular part first
// and are expressed in world axes about the centre of mass of the body's tree (subtree_com of its
// root); forces given by a user have the force first. Every function here works in place, allocates
// nothing, and may run in any number of threads on different tbData. "After f" means that f must
// have been called first for the current state. With a NULL that is not allowed here, or the data
// of another model, functions do nothing; those with a result return TB_ERROR_ARGUMENT.
#ifndef TRIBO_DYNAMICS_H_
#define TRIBO_DYNAMICS_H_

#include "tribo/data.h"

TB_EXTERN_C_BEGIN

// --- the two stages -------------------------------------------------------------------------

// Everything that depends on qpos: kinematics, centres of mass, tendons, M, its factor, actuator
// lengths and moments.
TB_API void tb_compute_position(const tbModel* m, tbData* d);

// Everything that depends on qvel too: body velocities, tendon and actuator velocities, qfrc_bias.
// After tb_compute_position.
TB_API void tb_compute_velocity(const tbModel* m, tbData* d);

// --- kinematics -----------------------------------------------------------------------------

// Frames of bodies (also mocap), joints, geoms and sites. Quaternions in qpos are normalised for
// use, not in place.
TB_API void tb_kinematics(const tbModel* m, tbData* d);

// subtree_com, cinert, cdof. After tb_kinematics.
TB_API void tb_com_position(const tbModel* m, tbData* d);

// cvel, cdof_dot. After tb_com_position.
TB_API void tb_com_velocity(const tbModel* m, tbData* d);

// subtree_linvel, subtree_angmom: momentum of every subtree. After tb_com_velocity.
TB_API void tb_subtree_velocity(const tbModel* m, tbData* d);

// energy[0]: gravity, joint springs, tendon springs. After tb_com_position (and tb_tendon, where
// tendons have springs).
TB_API void tb_energy_position(const tbModel* m, tbData* d);

// energy[1]: v' M v / 2. After tb_crb.
TB_API void tb_energy_velocity(const tbModel* m, tbData* d);

// --- tendons and actuators ------------------------------------------------------------------

// ten_length, ten_J. After tb_com_position.
TB_API void tb_tendon(const tbModel* m, tbData* d);

// actuator_length, actuator_moment (by rows of Jmom_colind). After tb_tendon. Adhesion
// (transmission body) has length zero; its row is over all dofs, comes from contacts and is left at
// zero here.
TB_API void tb_transmission(const tbModel* m, tbData* d);

// Actuator moments as a dense nu x nv matrix, tendon Jacobian as ntendon x nv.
TB_API void tb_full_moment(const tbModel* m, const tbData* d, tbReal* moment);
TB_API void tb_full_ten_J(const tbModel* m, const tbData* d, tbReal* J);

// --- inertia --------------------------------------------------------------------------------

// crb, qM (armature of dofs and tendons included), by the composite-rigid-body algorithm. After
// tb_com_position (and tb_tendon, where tendons have armature).
TB_API void tb_crb(const tbModel* m, tbData* d);

// qLD, qLDiagInv: M = L^T D L. TB_ERROR_NUMERIC if M is not positive definite; solves then give
// NaN. After tb_crb. A whole tb_step of a rigid law or comfree factors M plus damping instead and
// leaves this factor out of date; this function, or the first call of one of the solves below, then
// computes it.
TB_API tbResult tb_factor_m(const tbModel* m, tbData* d);

// M as a dense nv x nv matrix; r = M v. After tb_crb.
TB_API void tb_full_m(const tbModel* m, const tbData* d, tbReal* M);
TB_API void tb_mul_m(const tbModel* m, const tbData* d, tbReal* r, const tbReal* v);

// x = M^-1 y for `n` rows of length nv; x may be y. After tb_factor_m.
TB_API void tb_solve_m(const tbModel* m, const tbData* d, tbReal* x, const tbReal* y, int n);

// x = D^-1/2 L^-T y for `n` rows, so that x_i . x_j = y_i . M^-1 y_j. After tb_factor_m.
TB_API void tb_half_solve_m(const tbModel* m, const tbData* d, tbReal* x, const tbReal* y, int n);

// As tb_half_solve_m, in place, for `n` rows that are nonzero only on `support`: `nsupport` dofs in
// ascending order that hold the ancestors of each of their dofs (as tb_chain and tb_jac_pair give).
// Row r of x is x[r * stride ... + nsupport).
TB_API void tb_half_solve_support(const tbModel* m, const tbData* d, const int* support,
                                  int nsupport, tbReal* x, int stride, int n);

// --- forces and accelerations ---------------------------------------------------------------

// tau = M qacc + b - J^T xfrc, by recursive Newton-Euler. qacc NULL means zero; xfrc (nbody x 6:
// force, torque at each centre of mass) may be NULL. Armature is included where qacc is given.
// After tb_com_velocity.
TB_API void tb_rne(const tbModel* m, tbData* d, const tbReal* qacc, const tbReal* xfrc,
                   tbReal* tau);

// qacc = M^-1 (tau - b + J^T xfrc) by the articulated-body algorithm, without M. Tendon armature
// cannot be expressed by it: TB_ERROR_UNSUPPORTED for such a model. TB_ERROR_NUMERIC where a
// joint's articulated inertia is not positive. After tb_com_velocity.
TB_API tbResult tb_aba(const tbModel* m, tbData* d, const tbReal* tau, const tbReal* xfrc,
                       tbReal* qacc);

// qacc = M^-1 (tau - qfrc_bias) by the factor of M. After tb_factor_m and tb_compute_velocity.
TB_API void tb_forward_dynamics(const tbModel* m, const tbData* d, const tbReal* tau, tbReal* qacc);

// cacc from qacc. After tb_com_velocity.
TB_API void tb_body_accelerations(const tbModel* m, tbData* d);

// The same, and cfrc_int with cfrc_ext (see tb_add_wrench).
TB_API void tb_body_forces(const tbModel* m, tbData* d);

// Add a force and torque (either may be NULL) at world point `point` of `body` to cfrc_ext.
TB_API void tb_add_wrench(const tbModel* m, tbData* d, int body, const tbReal point[3],
                          const tbReal force[3], const tbReal torque[3]);

// Add to cfrc_ext the forces that a spatial tendon with the force `force` along its length
// (negative: it pulls) exerts on the bodies of its path, and the inertial forces of its armature at
// qacc. Fixed tendons act on joints only. After tb_compute_velocity.
TB_API void tb_add_tendon_wrench(const tbModel* m, tbData* d, int tendon, tbReal force);

// qfrc += J^T (force, torque) at world point `point` of `body`; either may be NULL.
TB_API void tb_apply_wrench(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                            const tbReal force[3], const tbReal torque[3], tbReal* qfrc);

// qfrc += sum over bodies of J^T xfrc, with xfrc as xfrc_applied.
TB_API void tb_apply_xfrc(const tbModel* m, const tbData* d, const tbReal* xfrc, tbReal* qfrc);

// Velocity and acceleration (angular, linear) of an object's frame (body, xbody, geom, site) at its
// origin, in world axes or, with `local`, in the object's. Gravity is subtracted from the
// acceleration, as in an accelerometer's reading; it requires tb_body_accelerations.
TB_API void tb_object_velocity(const tbModel* m, const tbData* d, tbObjType type, int id, int local,
                               tbReal velocity[6]);
TB_API void tb_object_acceleration(const tbModel* m, const tbData* d, tbObjType type, int id,
                                   int local, tbReal acceleration[6]);

// --- Jacobians (after tb_com_position) ------------------------------------------------------
// An id out of range stands for the world, whose Jacobian is zero.

// The dofs that move `body`, ascending: returns how many and points `dofs` into the model.
TB_API int tb_chain(const tbModel* m, int body, const int** dofs);

// Dense 3 x nv Jacobians of a world point fixed to `body`: linear, angular; either may be NULL.
TB_API void tb_jac(const tbModel* m, const tbData* d, int body, const tbReal point[3], tbReal* jacp,
                   tbReal* jacr);

// Jacobians of a body's frame, a body's centre of mass, a geom and a site: tb_jac at that point.
TB_API void tb_jac_body(const tbModel* m, const tbData* d, int body, tbReal* jacp, tbReal* jacr);
TB_API void tb_jac_body_com(const tbModel* m, const tbData* d, int body, tbReal* jacp,
                            tbReal* jacr);
TB_API void tb_jac_geom(const tbModel* m, const tbData* d, int geom, tbReal* jacp, tbReal* jacr);
TB_API void tb_jac_site(const tbModel* m, const tbData* d, int site, tbReal* jacp, tbReal* jacr);

// Jacobian of the centre of mass of a subtree (3 x nv).
TB_API void tb_jac_subtree_com(const tbModel* m, const tbData* d, int body, tbReal* jacp);

// Only the columns of the chain: three rows of length `stride` >= the chain's length, which is
// returned (if `stride` is smaller, nothing is written). Either output may be NULL.
TB_API int tb_jac_sparse(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                         tbReal* jacp, tbReal* jacr, int stride);

// Jacobian of (point2 on body2) - (point1 on body1), and of the difference of angular velocities,
// only over the dofs that move either body. `support` (room for nv) gets these dofs in ascending
// order; their number is returned. Where the two points are the same, dofs that move both bodies
// drop out of the Jacobian but stay in the support, which half-solves require.
TB_API int tb_jac_pair(const tbModel* m, const tbData* d, int body1, const tbReal point1[3],
                       int body2, const tbReal point2[3], int* support, tbReal* jacp, tbReal* jacr,
                       int stride);

// Time derivatives of tb_jac's Jacobians. After tb_com_velocity.
TB_API void tb_jac_dot(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                       tbReal* jacp_dot, tbReal* jacr_dot);

// dJ/dt v of a point fixed to `body`: its linear and angular acceleration when qacc is zero,
// without gravity. After tb_com_velocity.
TB_API void tb_jac_dot_v(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                         tbReal linear[3], tbReal angular[3]);

// --- configuration space --------------------------------------------------------------------

// qpos <- qpos + dt qvel on the manifold.
TB_API void tb_integrate_pos(const tbModel* m, tbReal* qpos, const tbReal* qvel, tbReal dt);

// The qvel that moves qpos1 to qpos2 in time dt.
TB_API void tb_differentiate_pos(const tbModel* m, tbReal* qvel, tbReal dt, const tbReal* qpos1,
                                 const tbReal* qpos2);

// Normalise every quaternion of qpos.
TB_API void tb_normalize_quat(const tbModel* m, tbReal* qpos);

// --- constants ------------------------------------------------------------------------------

// Fill every field of a model that is a function of the others at qpos0, as MuJoCo's mj_setConst:
// subtree masses, inverse weights, dof_M0, tendon and actuator lengths, ranges of muscles, damping
// ratios, statistics. Call it again after changing masses, inertias or frames of a model.
TB_API tbResult tb_set_constants(tbModel* m, tbError* error);

TB_EXTERN_C_END

#endif
