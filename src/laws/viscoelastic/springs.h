// Constraints as springs: the quantities that the viscoelastic law measures at a state.
#ifndef TRIBO_LAWS_VISCOELASTIC_SPRINGS_H_
#define TRIBO_LAWS_VISCOELASTIC_SPRINGS_H_

#include "tribo/types.h"

// One constraint as springs: force = -K stretch - B rate, row by row, before any limit.
typedef struct {
  int constraint;  // index in the step's constraints
  int dim;
  int slipping;        // 1: the friction cone's boundary was reached, the anchor moves
  tbReal depth;        // m: distance of a contact from which its normal stretch is measured
  tbReal supplied;     // J: part of the energy of contact springs that was supplied by the bodies
  tbReal stretch[6];   // m or rad: p - p0, normal first
  tbReal rate[6];      // m/s or rad/s: rate of the stretch; zero along rows that slip
  tbReal velocity[6];  // m/s or rad/s: velocity of the point itself
  tbReal K[6], B[6];
  tbReal raw[6];    // N or N m: before the limits
  tbReal force[6];  // N or N m: within the limits
} tbSpring;

typedef struct {
  int count;
  tbSpring* list;
} tbSprings;

#endif
