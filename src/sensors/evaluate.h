// Sensors, evaluated as MuJoCo does.
#ifndef TRIBO_SENSORS_EVALUATE_H_
#define TRIBO_SENSORS_EVALUATE_H_

#include <stdbool.h>

#include "world/state.h"

// Sensors of position and velocity (after the first half of a step), and those of acceleration and
// force (after the law). `observed`: bits of tbSensorNeeds that are computed also without a sensor.
void tb_sensor_first(const tbModel* model, tbData* data, const tbConstraints* constraints,
                     int observed);
void tb_sensor_second(const tbModel* model, tbData* data, const tbConstraints* constraints,
                      const tbReal* row_force, int observed);

// cacc, cfrc_ext and cfrc_int from the forces of the constraints, by row.
void tb_reactions(const tbModel* model, tbData* data, const tbConstraints* constraints,
                  const tbReal* row_force);

#endif
