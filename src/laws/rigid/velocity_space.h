// The fast path of the rigid laws: Newton's method on the active set, island by island.
#ifndef TRIBO_LAWS_RIGID_VELOCITY_SPACE_H_
#define TRIBO_LAWS_RIGID_VELOCITY_SPACE_H_

#include "world/state.h"

// Data of a step between its smooth forces and its next velocity.
typedef struct {
  const tbModel* m;
  tbData* d;
  tbStepState* state;
  tbInertiaFactor factor;    // of H, M with damping made implicit
  const tbReal* v_free;      // by dof
  tbIslands islands;         // a problem each
  tbReal *impulse, *v_next;  // by dof: applied impulse and resulting velocity
} tbRigidStep;

// True for solver "auto" without an absolute tolerance: then the fast path is tried first.
bool tb_rigid_is_fast(const tbOption* opt);

// Whether the tolerance asks for an exact answer at any cost.
bool tb_rigid_has_tight_tolerance(const tbOption* opt);

// Improve the impulses of all islands that are not solved yet. Islands that it solves are marked as
// solved, and so are large unsolved ones, whose result is final.
tbResult tb_rigid_fast(tbRigidStep* step);

#endif
