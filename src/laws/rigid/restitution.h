// Limits restitution so that it adds no energy and the problem has a solution.
#ifndef TRIBO_LAWS_RIGID_RESTITUTION_H_
#define TRIBO_LAWS_RIGID_RESTITUTION_H_

#include "laws/rigid/velocity_space.h"

// State of the search for an island's restitution factor.
typedef struct {
  tbReal share;     // factor of the current solve
  tbReal point[3];  // factors tried: too small, too large, a third one
  tbReal work[3];   // work of the contacts at these factors, J
  tbReal least;     // work of the contacts without restitution, J
  int state, solves;
} tbRestitutionBound;

// Called after a solve. Reduces the restitution of impacting contacts whose island gains energy or
// has degenerate contacts, and returns whether another solve is needed. `bounce` has an entry per
// island, zero before the first call; `restitution` has the original values, per contact; `energy`
// is the kinetic energy of all bodies before the step, J.
bool tb_bound_restitution(const tbRigidStep* step, const tbReal* restitution, tbReal energy,
                          tbRestitutionBound* bounce);

#endif
