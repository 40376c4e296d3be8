// Applied impulses of a step that evaluates forces more than once (the stages of Runge-Kutta, the
// last iterate of implicit Euler, the midpoint of an exponential step, steps made in parts): the
// sum over those evaluations by constraint, for which the certificate is computed.
//
// The certificate is evaluated at the configuration where the step began, with the velocity where
// it ended. A contact that only a later evaluation detected is moved back there with its two
// bodies.
#ifndef TRIBO_STEP_APPLIED_IMPULSES_H_
#define TRIBO_STEP_APPLIED_IMPULSES_H_

#include <stdbool.h>

#include "world/state.h"

// The impulse of a late constraint, one without rows at the start of the step.
typedef struct {
  uint64_t key;
  int source, dim;     // as of its tbConstraint
  tbContact contact;   // if it is a contact: with the distance of the evaluation that detected it,
  tbReal point[2][3];  // its position in the frames of both bodies,
  tbReal frame[9];     // and its frame in that of body 1
  tbReal impulse[6];   // N s or N m s, by row; for a contact: force and torque in world axes
  tbReal kept[6];      // the value at the last tb_applied_keep
} tbLateImpulse;

typedef struct {
  bool open;         // evaluations of the current step are being added
  tbArenaMark mark;  // the arena data of the start lie below this mark
  // The start of the step, in the arena.
  tbReal *qpos, *qvel, *v_free;
  tbConstraints constraints;
  tbIslands islands;
  tbContact* contact;
  int ncon;
  tbReal* row_force;
  tbReal *impulse, *kept;  // N s or N m s by row of `constraints`
  // Late constraints, without rows at the start; the array grows when needed.
  tbLateImpulse* late;
  int nlate, nkept, capacity;
} tbApplied;

typedef struct tbIntegratorState tbIntegratorState;

// Called after the law has found the forces of the start: stores them. Further evaluations keep the
// arena data of the start. False when out of memory.
bool tb_applied_open(const tbModel* model, tbData* data, tbStepState* state);

// Whether a step is open, and then the mark below which the arena data of its start lie.
bool tb_applied_is_open(const tbStepState* state);
tbArenaMark tb_applied_mark(const tbStepState* state);

// Add the forces of the evaluation just made, which act for `seconds`. Does nothing if no step is
// open. False when out of memory.
bool tb_applied_add(const tbModel* model, const tbData* data, tbStepState* state, tbReal seconds);

// Store the sums so far, and return to them: for an evaluation that may replace the previous one.
void tb_applied_keep(tbStepState* state);
void tb_applied_revert(tbStepState* state);

// At the end of the step: contacts and forces become those of its start, with the mean forces of
// the step, and data->solve gets the residual of the exact law. If a constraint of a later
// evaluation has no row at the start, or memory runs out, the step has no certificate.
void tb_applied_close(const tbModel* model, tbData* data, tbStepState* state);

// Close a failed step without a certificate.
void tb_applied_drop(tbStepState* state);
void tb_applied_free(tbApplied* applied);

#endif
