// The impulses of a step that evaluates forces more than once (Runge and Kutta's stages, implicit
// Euler's last iterate, the middle of an exponential step, steps made in parts), summed over those
// evaluations by constraint: what the step applied, and what its certificate judges.
//
// They are judged where the step began, by the velocity it ended with. A contact that only a later
// evaluation found is carried back there by its two bodies.
#ifndef TRIBO_STEP_APPLIED_IMPULSES_H_
#define TRIBO_STEP_APPLIED_IMPULSES_H_

#include <stdbool.h>

#include "assemble/assemble.h"

// The impulse of a constraint that has no rows at the start of the step.
typedef struct {
  uint64_t key;
  int source, dim;     // as of its tbConstraint
  tbContact contact;   // of a contact: with the distance of the evaluation that found it,
  tbReal point[2][3];  // its position in the frames of both bodies,
  tbReal frame[9];     // and its frame in that of body 1
  tbReal impulse[6];   // N s or N m s, by row; of a contact: force and torque in world axes
  tbReal kept[6];      // the same when tb_applied_keep was last called
} tbLateImpulse;

typedef struct {
  bool open;         // evaluations of the current step are being added
  tbArenaMark mark;  // what the start of the step has in the arena lies below
  // The start of the step, in the arena.
  tbReal *qpos, *qvel, *v_free;
  tbConstraints constraints;
  tbIslands islands;
  tbContact* contact;
  int ncon;
  tbReal* row_force;
  tbReal *impulse, *kept;  // N s or N m s by row of `constraints`
  // Constraints without rows at the start; grown where needed.
  tbLateImpulse* late;
  int nlate, nkept, capacity;
} tbApplied;

typedef struct tbStepState tbStepState;

// After the law has found the forces of the start: remember it. Evaluations from now on keep what
// it has in the arena. False when out of memory.
bool tb_applied_open(const tbModel* model, tbData* data, tbStepState* state);

// Add the forces of the evaluation just made, which act for `seconds`. Nothing where no step is
// open. False when out of memory.
bool tb_applied_add(const tbModel* model, const tbData* data, tbStepState* state, tbReal seconds);

// Remember what has been added so far, and go back to that: for an evaluation that may replace the
// one before it.
void tb_applied_keep(tbStepState* state);
void tb_applied_revert(tbStepState* state);

// At the end of the step: contacts and forces are those of its start, with the mean forces of the
// step, and data->solve gets the residual of the exact law. Where a constraint of a later
// evaluation cannot be placed there, or memory runs out, the step stays unjudged.
void tb_applied_close(const tbModel* model, tbData* data, tbStepState* state);

// Without judging, where a step has failed.
void tb_applied_drop(tbStepState* state);
void tb_applied_free(tbApplied* applied);

#endif
