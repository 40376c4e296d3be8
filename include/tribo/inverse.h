// Inverse dynamics with contacts: the forces that produce a given motion.
//
// Given q, v and the acceleration qacc (so the next velocity v + dt qacc), find contact forces that
// the law allows for that motion, and the remaining generalised force, which actuators and applied
// forces must supply (ADMM Alg. 2). The forces of rigid contacts at rest are not unique: among all
// admissible ones, the solver minimises the force left on unactuated dofs, and then the distance to
// the guess. See docs/manual/inverse.md.
#ifndef TRIBO_INVERSE_H_
#define TRIBO_INVERSE_H_

#include "tribo/data.h"

typedef struct {
  tbReal proximal;      // rho of ADMM Alg. 2, relative to the diagonal of G; > 0
  tbReal tolerance;     // relative residual of the law at which iterations stop; >= 0
  int max_iter;         // of ADMM Alg. 2; >= 1
  const tbReal* guess;  // initial contact forces (N, by row of all constraints), or NULL: zero
  const int* actuated;  // nv: 1 where a motor drives the dof; NULL: dofs that an actuator moves,
                        // or all but those of free joints where there are no actuators
  int keep_base;        // 1: keep the result of ADMM Alg. 2, do not redistribute forces for
                        // unactuated dofs
  tbReal* history;      // NULL, or room for max_iter: |J^T force| after each iteration (N)
} tbInverseSettings;

typedef struct {
  int feasible;              // 1: the law allows the motion, and no force is left on unactuated
                             // dofs
  char reason[160];          // the reason, if infeasible
  tbReal velocity_residual;  // m/s: violation of contacts and limits by the motion
  tbReal base_residual;      // N or N m: largest force left on an unactuated dof
  int worst_constraint;      // row with the largest violation, or -1
  int worst_dof;             // unactuated dof with the largest force left, or -1
  int iterations;            // of ADMM Alg. 2
  tbResidual residual;       // of the law
} tbInverseInfo;

TB_EXTERN_C_BEGIN

// Default settings: no guess, actuated dofs from the model's actuators, forces on unactuated dofs
// minimised.
TB_API tbInverseSettings tbDefaultInverseSettings(void);

// qfrc (nv, N or N m): the required sum of applied forces and actuators, as MuJoCo's qfrc_inverse.
// Fills qacc, qfrc_constraint and the contacts' forces of the data; the state is unchanged.
// Supported laws: ncp and ccp (lcp and raisim are treated as ncp) and soft (MuJoCo's analytic
// inverse: `qacc` is the acceleration before damping is made implicit). `settings` and `info` may
// be NULL. Errors: those of tb_step1, TB_ERROR_ARGUMENT for a qacc that is not finite or settings
// out of range, TB_ERROR_UNSUPPORTED for other laws; data->message has the details.
TB_API tbResult tb_inverse(const tbModel* model, tbData* data, const tbReal* qacc,
                           const tbInverseSettings* settings, tbReal* qfrc, tbInverseInfo* info);

TB_EXTERN_C_END

#endif
