// Distance along a site's z axis to the nearest geom of another body.
#ifndef TRIBO_SENSORS_RANGEFINDER_H_
#define TRIBO_SENSORS_RANGEFINDER_H_

#include "tribo/data.h"

// Metres, or -1 where nothing is hit. Geoms of the site's body and invisible ones do not count, as
// in MuJoCo; height fields are seen as their two triangles per cell. Within a step.
tbReal tb_rangefinder(const tbModel* model, tbData* data, int site);

#endif
