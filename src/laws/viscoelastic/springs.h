// Constraints as springs: what the viscoelastic law measures at a state.
#ifndef TRIBO_LAWS_VISCOELASTIC_SPRINGS_H_
#define TRIBO_LAWS_VISCOELASTIC_SPRINGS_H_

#include "tribo/types.h"

// One constraint as springs: force = -K stretch - B rate, row by row, before any limit.
typedef struct {
  int constraint;  // index in the step's constraints
  int dim;
  int slipping;        // 1: the friction cone's boundary was reached, the anchor moves
  tbReal depth;        // m: distance of a contact from which its normal stretch counts
  tbReal backed;       // J: of what contact springs hold, how much bodies gave them
  tbReal stretch[6];   // m or rad: p - p0, normal first
  tbReal rate[6];      // m/s or rad/s: of the stretch; zero along rows that slip
  tbReal velocity[6];  // m/s or rad/s: of the point itself
  tbReal K[6], B[6];
  tbReal raw[6];    // N or N m: before the limits
  tbReal force[6];  // within them
} tbSpring;

typedef struct {
  int count;
  tbSpring* list;
} tbSprings;

#endif
