// Random kinematic trees for property tests, built without a loader.
#ifndef TRIBO_TEST_RANDOM_TREE_H_
#define TRIBO_TEST_RANDOM_TREE_H_

#include <stdbool.h>

#include "base/rng.h"
#include "tribo/data.h"

typedef struct {
  uint64_t seed;
  int nbody;             // bodies without the world
  bool fixed_base;       // no free joints
  bool scalar_only;      // hinges and slides only
  bool conservative;     // no damping, armature stays
  int ntendon;           // alternately fixed and spatial (sites, pulleys, spheres and cylinders)
  bool tendon_armature;  // on every second tendon, of sites and joints only
  int nu;                // actuators over all transmissions but adhesion
} tbRandomTree;

// A model with random joints (also several or none per body), inertias, frames, two sites and one
// geom per body, constants set. Never NULL: a failure fails the test.
tbModel* tb_random_tree(const tbRandomTree* options);

// A random state: configuration on the manifold, velocities of size about one.
void tb_random_state(const tbModel* m, tbData* d, tbRng* rng);

// Joints that do the same, as a hinge and a ball about one point, leave rounding for a pivot: a
// step holds all but the last of them (mass.c), weights leave them free (constants.c). After
// tb_compute_position.
bool tb_has_redundant_dofs(const tbModel* m, const tbData* d);

#endif
