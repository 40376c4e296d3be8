// Derivatives of the rigid-body algorithms and of a step, on the configuration manifold.
//
// A derivative with respect to the configuration is with respect to a displacement in the
// coordinates of qvel: d/dq_k f means d/de f(integrate(q, e unit_k)) at e = 0. Matrices are dense,
// row-major: d f_i / d x_k stands at [i * columns + k]. Formulas: docs/notebook/derivatives.md.
// NULL arguments and data of another model are handled as in dynamics.h.
#ifndef TRIBO_DERIVATIVES_H_
#define TRIBO_DERIVATIVES_H_

#include "tribo/data.h"

// Inertial parameters of a body in its own frame: mass, mass times centre of mass (x, y, z),
// inertia about the frame's origin (xx, xy, yy, xz, yz, zz).
#define TB_NINERTIAL 10

TB_EXTERN_C_BEGIN

// ---- rigid-body algorithms: no allocation, in place, any number of threads on different tbData
// ---

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

// dqfrc (nv x nv) += scale d(J^T (force, torque))/dq for a force and torque (either may be NULL) of
// constant world direction at a world point fixed to `body`. After tb_com_position.
TB_API void tb_wrench_derivative(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                                 const tbReal force[3], const tbReal torque[3], tbReal scale,
                                 tbReal* dqfrc);

// Partials by q of tb_jac's Jacobians (each 3 x nv x nv, [row][column][q], or NULL) of a world
// point fixed to `body`. After tb_com_position.
TB_API void tb_jac_derivative(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                              tbReal* djacp, tbReal* djacr);

// Partials by q (each 3 x nv, or NULL) of the point's linear and angular velocity J times
// `velocity`, a given generalised velocity (by qvel the partial is J itself). After
// tb_com_position.
TB_API void tb_velocity_derivative(const tbModel* m, const tbData* d, int body,
                                   const tbReal point[3], const tbReal* velocity,
                                   tbReal* dlinear_dq, tbReal* dangular_dq);

// The regressor Y (nv x TB_NINERTIAL nbody): tau of tb_rne without xfrc is Y times the inertial
// parameters of all bodies, plus armature. After tb_com_velocity.
TB_API void tb_rne_regressor(const tbModel* m, tbData* d, const tbReal* qacc, tbReal* Y);

// Read and set the inertial parameters of a body. Setting returns TB_ERROR_MODEL if no body of
// positive density has these parameters; call tb_set_constants afterwards.
TB_API void tb_inertial_get(const tbModel* m, int body, tbReal parameters[TB_NINERTIAL]);
TB_API tbResult tb_inertial_set(tbModel* m, int body, const tbReal parameters[TB_NINERTIAL]);

// ---- a step ------------------------------------------------------------------------------------
//
// The state is x = (q, v, act), its displacement dx has 2 nv + na entries; u is ctrl. A step x+ =
// f(x, u) is linearised at the data's state by implicit differentiation of the solved contact
// problem; then dx+ = A dx + B du. This covers every law and integrator except expo-midpoint,
// noslip, adhesion and sleeping; these use centred differences of the whole step, and the info
// reports it (all cases: docs/notebook/derivatives.md).

typedef struct tbDerivatives tbDerivatives;

typedef struct {
  tbReal mode_tolerance;  // relative distance to a mode change below which the step counts as not
                          // differentiable
  tbReal proximal;    // compliance that selects a solution where forces are not unique, relative
                      // to the diagonal of G
  tbReal relaxation;  // m/s: 0 for the exact active set; else complementarity is smoothed over
                      // this speed (rigid laws)
  int samples;        // > 1: mean over this many random states with standard deviation `spread`
                      // (seeded)
  tbReal spread;      // standard deviation of the samples in q, v, act and u
  uint64_t seed;
  int hold_contacts;  // 1: contacts and limits that carry a force stay closed, whatever their gap
                      // (rigid laws, docs/manual/lqr.md)
} tbDerivativeSettings;

typedef struct {
  int differentiable;                // 0: the step changes mode within the tolerance
  char reason[128];                  // which constraint, if not differentiable
  int finite_differences;            // 1: smooth forces or the whole step were differentiated by
                                     // differences
  int separated, sticking, sliding;  // contacts by mode
  int rows;                          // rows of active constraints
} tbDerivativeInfo;

// Default settings: the exact active set, no samples.
TB_API tbDerivativeSettings tbDefaultDerivativeSettings(void);

// Memory for the derivatives of steps of `model`; NULL when out of memory. It grows during the
// first linearisations and allocates nothing afterwards, except for samples and differences.
TB_API tbDerivatives* tb_derivatives_new(const tbModel* model);
TB_API void tb_derivatives_free(tbDerivatives* derivatives);

// Evaluate the step at the data's state (as tb_forward; the state is unchanged) and linearise it.
// `settings` and `info` may be NULL. Errors: those of tb_forward, settings that are negative or not
// finite (TB_ERROR_ARGUMENT), out of memory; data->message has the details.
TB_API tbResult tb_step_linearize(const tbModel* model, tbData* data,
                                  const tbDerivativeSettings* settings, tbDerivatives* out,
                                  tbDerivativeInfo* info);

// All of the following require a tb_step_linearize that returned TB_OK. Otherwise they give NaN, or
// TB_ERROR_ARGUMENT where they return a result.

// Dense A (nx x nx) and B (nx x nu), nx = 2 nv + na; either may be NULL.
TB_API void tb_derivatives_dense(tbDerivatives* derivatives, tbReal* A, tbReal* B);

// Partials (nv x nv, any may be NULL) of the acceleration qacc that tb_forward gives, contacts and
// actuators included, by q, v and the generalised force. Computed by differences if the whole step
// was.
TB_API tbResult tb_derivatives_acceleration(tbDerivatives* derivatives, tbReal* dqacc_dq,
                                            tbReal* dqacc_dv, tbReal* dqacc_dtau);

// dx_next = A dx + B du without A and B; dx or du may be NULL for zero.
TB_API void tb_derivatives_apply(tbDerivatives* derivatives, const tbReal* dx, const tbReal* du,
                                 tbReal* dx_next);

// dx = A^T y, du = B^T y, and the adjoints of two other inputs: dforce (nv) of qfrc_applied,
// dfriction (ncon) of the two sliding coefficients of each contact, changed together (NaN when out
// of memory). Any output may be NULL.
TB_API void tb_derivatives_apply_transposed(tbDerivatives* derivatives, const tbReal* y, tbReal* dx,
                                            tbReal* du, tbReal* dforce, tbReal* dfriction);

// dx_next (nx) caused by a change of the generalised force (nv).
TB_API void tb_derivatives_force(tbDerivatives* derivatives, const tbReal* dforce, tbReal* dx_next);

// dx_next (nx) caused by a unit change of both sliding coefficients of contact `contact` of
// data->contact, as tb_step_linearize found it. Computed by differences under Runge-Kutta, implicit
// Euler and where the whole step was.
TB_API tbResult tb_derivatives_friction(tbDerivatives* derivatives, int contact, tbReal* dx_next);

// dx_dparameters (nx x TB_NINERTIAL): derivative by the inertial parameters of `body`, with the
// data as tb_step_linearize left it. Derived constants of the model (inverse weights) are held
// fixed. Computed by differences in the cases of tb_derivatives_friction, for the exponential and
// the full implicit integrator, raisim's sliding, comfree's exact gains, and with a fluid medium.
TB_API tbResult tb_derivatives_inertial(tbDerivatives* derivatives, const tbModel* model,
                                        tbData* data, int body, tbReal* dx_dparameters);

// A and B by differences of whole steps (centred, or forward), with increments `eps` on the
// manifold: slow, for tests and for cases without analytic derivatives. The data is left as
// tb_forward leaves it.
TB_API tbResult tb_step_differences(const tbModel* model, tbData* data, tbReal eps, int centred,
                                    tbReal* A, tbReal* B);

TB_EXTERN_C_END

#endif
