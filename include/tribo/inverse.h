// Inverse dynamics with contacts: the forces that make a wanted motion.
//
// Given q, v and the acceleration qacc (so the next velocity v + dt qacc), find contact forces that
// the law allows for that motion and the generalised force that is left for motors and applied
// forces (ADMM Alg. 2). A rigid contact at rest fixes no force: among all that fit, the one that
// leaves the least on dofs that nothing drives is taken, and then the one closest to the guess.
// docs/inverse.md.
#ifndef TRIBO_INVERSE_H_
#define TRIBO_INVERSE_H_

#include "tribo/data.h"

typedef struct {
  tbReal proximal;      // rho of ADMM Alg. 2, relative to the diagonal of G; > 0
  tbReal tolerance;     // relative residual of the law at which iterations stop; >= 0
  int max_iter;         // of ADMM Alg. 2; >= 1
  const tbReal* guess;  // first contact forces (N, by row of all constraints), or NULL: zero
  const int* driven;    // nv: 1 where a motor drives the dof; NULL: dofs that an actuator moves, or
                        // all but those of free joints where there are no actuators
  int keep_base;        // 1: leave the result of ADMM Alg. 2 as it is, ignore dofs nothing drives
  tbReal* history;      // NULL, or room for max_iter: |J^T force| after each iteration (N)
} tbInverseSettings;

typedef struct {
  int feasible;              // 1: the law allows the motion, and nothing is left on undriven dofs
  char reason[160];          // what is wrong with it, where it is not
  tbReal velocity_residual;  // m/s: how far the motion is from what contacts and limits allow
  tbReal base_residual;      // N or N m: largest force left on a dof that nothing drives
  int worst_constraint;      // the row that is violated most, or -1
  int worst_dof;             // the undriven dof with the largest force left, or -1
  int iterations;            // of ADMM Alg. 2
  tbResidual residual;       // of the law
} tbInverseInfo;

TB_EXTERN_C_BEGIN

// No guess, dofs driven as the model's actuators say, the base balanced.
TB_API tbInverseSettings tbDefaultInverseSettings(void);

// qfrc (nv, N or N m): what applied forces and actuators must add up to, as MuJoCo's qfrc_inverse.
// Fills qacc, qfrc_constraint and the contacts' forces of the data; the state stays. The laws ncp
// and ccp (also for lcp and raisim, as ncp) and soft (MuJoCo's analytic inverse: `qacc` is the
// acceleration before damping is made implicit). `settings` and `info` may be NULL. Errors: those
// of tb_step1, TB_ERROR_ARGUMENT for a qacc that is not finite or settings out of range,
// TB_ERROR_UNSUPPORTED for other laws; data->message says more.
TB_API tbResult tb_inverse(const tbModel* model, tbData* data, const tbReal* qacc,
                           const tbInverseSettings* settings, tbReal* qfrc, tbInverseInfo* info);

TB_EXTERN_C_END

#endif
