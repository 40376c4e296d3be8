// Rangefinder: a ray along the z axis of its site that passes through the geoms of the site's body.
#include "detect/query.h"
#include "model/workspace.h"
#include "sensors/values.h"
#include "world/state.h"

void tb_sensor_rangefinder(const tbSensorContext* x, int s, tbReal* out) {
  const tbModel* m = x->m;
  const tbData* d = x->d;
  const tbStepState* state = d->work->step;
  int site = m->sensor_objid[s];
  const tbReal* R = d->site_xmat + 9 * site;
  const tbReal axis[3] = {R[2], R[5], R[8]};
  tbRayQuery ray = {
      .origin = d->site_xpos + 3 * site, .direction = axis, .skip_body = m->site_bodyid[site]};
  out[0] = tb_query_ray(state->detector, m, d, &ray, NULL, NULL);
}
