// Derivatives of the rigid-body algorithms and of a step, on the configuration manifold.
//
// A derivative with respect to the configuration is with respect to a displacement in the
// coordinates of qvel: d/dq_k f means d/de f(integrate(q, e unit_k)) at e = 0. Matrices are dense,
// row-major: d f_i / d x_k stands at [i * columns + k]. Formulas: docs/derivatives.md.
#ifndef TRIBO_DERIVATIVES_H_
#define TRIBO_DERIVATIVES_H_

#include "tribo/data.h"

// Inertial parameters of a body in its own frame: mass, mass times centre of mass (x, y, z),
// inertia about the frame's origin (xx, xy, yy, xz, yz, zz).
#define TB_NINERTIAL 10

TB_EXTERN_C_BEGIN

// ---- rigid-body algorithms: no memory, in place, any number of threads on different tbData
// --------

// Partials (nv x nv, either may be NULL) of tb_rne's tau at constant qacc (NULL: zero) and xfrc
// (NULL: none); its partial by qacc is M. TB_ERROR_UNSUPPORTED for spatial tendons with armature.
// After tb_compute_position and tb_compute_velocity (or tb_crb and tb_com_velocity).
TB_API tbResult tb_rne_derivatives(const tbModel* m, tbData* d, const tbReal* qacc,
                                   const tbReal* xfrc, tbReal* dtau_dq, tbReal* dtau_dv);

// Partials (nv x nv, any may be NULL) of the acceleration qacc = M^-1 (tau - b + J^T xfrc) at
// constant tau and xfrc; `qacc` is that acceleration. After tb_compute_position and
// tb_compute_velocity. Errors: as tb_rne_derivatives.
TB_API tbResult tb_forward_derivatives(const tbModel* m, tbData* d, const tbReal* qacc,
                                       const tbReal* xfrc, tbReal* dqacc_dq, tbReal* dqacc_dv,
                                       tbReal* dqacc_dtau);

// dqfrc (nv x nv) += scale d(J^T (force, torque))/dq at a world point fixed to `body`, of a force
// and torque (either may be NULL) that do not turn. After tb_com_position.
TB_API void tb_wrench_derivative(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                                 const tbReal force[3], const tbReal torque[3], tbReal scale,
                                 tbReal* dqfrc);

// Partials by q of tb_jac's Jacobians (each 3 x nv x nv, [row][column][q], or NULL) of a world
// point fixed to `body`. After tb_com_position.
TB_API void tb_jac_derivative(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                              tbReal* djacp, tbReal* djacr);

// Partials by q (each 3 x nv, or NULL) of the point's linear and angular velocity J `velocity`, for
// a given generalised velocity (by qvel the partial is J itself). After tb_com_position.
TB_API void tb_velocity_derivative(const tbModel* m, const tbData* d, int body,
                                   const tbReal point[3], const tbReal* velocity,
                                   tbReal* dlinear_dq, tbReal* dangular_dq);

// The regressor Y (nv x TB_NINERTIAL nbody): tau of tb_rne without xfrc is Y times the inertial
// parameters of all bodies, plus armature. After tb_com_velocity.
TB_API void tb_rne_regressor(const tbModel* m, tbData* d, const tbReal* qacc, tbReal* Y);

// Inertial parameters of a body, read and set. Setting: TB_ERROR_MODEL where no body of positive
// density has them; call tb_set_constants afterwards.
TB_API void tb_inertial_get(const tbModel* m, int body, tbReal parameters[TB_NINERTIAL]);
TB_API tbResult tb_inertial_set(tbModel* m, int body, const tbReal parameters[TB_NINERTIAL]);

TB_EXTERN_C_END

#endif
