// The fast path of the rigid laws: Newton on the active set, island by island.
#ifndef TRIBO_LAWS_RIGID_VELOCITY_SPACE_H_
#define TRIBO_LAWS_RIGID_VELOCITY_SPACE_H_

#include "world/state.h"

// What is known of a step between its smooth forces and its next velocity.
typedef struct {
  const tbModel* m;
  tbData* d;
  tbStepState* state;
  tbInertiaFactor factor;    // of H, M with damping made implicit
  const tbReal* v_free;      // by dof
  tbIslands islands;         // a problem each
  tbReal *impulse, *v_next;  // by dof: what acts, and where it leads to
} tbRigidStep;

// Whether nobody asked for a solver, or for an absolute tolerance: the fast path is tried first.
bool tb_rigid_is_fast(const tbOption* opt);

// Whether somebody wants digits, whatever they cost.
bool tb_rigid_wants_digits(const tbOption* opt);

// Improve the impulses of all islands that are not solved yet. Those that it solves count, and
// large ones, which are left as they are.
tbResult tb_rigid_fast(tbRigidStep* step);

#endif
