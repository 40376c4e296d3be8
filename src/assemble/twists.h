// Groups the contacts of an island by body: the reduced active-set solver works with the twists of
// these bodies.
#ifndef TRIBO_ASSEMBLE_TWISTS_H_
#define TRIBO_ASSEMBLE_TWISTS_H_

#include "assemble/assemble.h"
#include "solvers/active_set/reduced.h"

// Twists of the bodies that touch the world with more than six rows. False: out of memory.
bool tb_island_reduced_space(const tbModel* model, const tbData* data,
                             const tbConstraints* constraints, const tbIsland* island,
                             tbArena* arena, tbReducedSpace* out);

// Contacts with the world as blocks on composite chains, in `out` if that is cheaper. False: out of
// memory.
bool tb_composite_chains(const tbModel* model, const tbData* data, const tbConstraints* constraints,
                         const tbIsland* island, const tbForestInertia* inertia, tbArena* arena,
                         tbCompositeChains* out, bool* pays);

#endif
