// Arguments of the functions that evaluate sensors.
#ifndef TRIBO_SENSORS_CONTEXT_H_
#define TRIBO_SENSORS_CONTEXT_H_

#include "assemble/assemble.h"

typedef struct {
  const tbModel* m;
  tbData* d;
  const tbConstraints* constraints;
  const tbReal* row_force;  // N or N m by row of the constraints; NULL in the first half of a step
} tbSensorContext;

#endif
