// Sensors, evaluated as MuJoCo does.
#ifndef TRIBO_SENSORS_SENSOR_H_
#define TRIBO_SENSORS_SENSOR_H_

#include <stdbool.h>

#include "world/state.h"

// Sensors of position and velocity (after the first half of a step), and those of acceleration and
// force (after the law).
void tb_sensor_first(const tbModel* model, tbData* data, const tbConstraints* constraints);
void tb_sensor_second(const tbModel* model, tbData* data, const tbConstraints* constraints,
                      const tbReal* row_force);

// Distance, normal or segment between geoms or bodies (TB_SENS_GEOMDIST and the two behind it).
void tb_sensor_distance(const tbModel* model, tbData* data, int sensor, tbReal* out);

// Pixel at which a camera sees a site.
void tb_sensor_projection(const tbModel* model, const tbData* data, int sensor, tbReal out[2]);

// Is a point inside a site?
bool tb_inside_site(const tbModel* model, const tbData* data, int site, const tbReal point[3]);

// Contacts between the objects of a contact sensor, after the law.
void tb_sensor_contact(const tbModel* model, const tbData* data, int sensor, tbReal* out);

#endif
