// What keeps restitution from making energy, and from jamming.
#ifndef TRIBO_LAWS_RIGID_RESTITUTION_H_
#define TRIBO_LAWS_RIGID_RESTITUTION_H_

#include "laws/rigid/velocity_space.h"

// Where the search for an island's share of restitution stands.
typedef struct {
  tbReal share;     // of what was asked for, in the solve at hand
  tbReal point[3];  // shares that were tried: too little, too much, one beside them
  tbReal work[3];   // what contacts did there, J
  tbReal least;     // what they do without restitution, J
  int state, tried;
} tbRestitutionBound;

// After a solve: sets the restitution of contacts that bounce where together with the others of
// their island they do work or jam, and returns whether another solve is needed. `bounce` has an
// entry per island, zero before the first call; `restitution` what was asked for, per contact;
// `energy` is the kinetic energy of all bodies before the step, J.
bool tb_bound_restitution(const tbRigidStep* step, const tbReal* restitution, tbReal energy,
                          tbRestitutionBound* bounce);

#endif
