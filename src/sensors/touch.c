// The touch sensor: normal forces whose line of action meets a site.
#include "collide/ray/ray.h"
#include "sensors/values.h"

void tb_sensor_touch(const tbSensorContext* x, int s, tbReal* out) {
  const tbModel* m = x->m;
  const tbData* d = x->d;
  int site = m->sensor_objid[s];
  int body = m->site_bodyid[site];
  tbReal total = 0;
  for (int i = 0; i < d->ncon; i++) {
    const tbContact* c = &d->contact[i];
    int on1 = m->geom_bodyid[c->geom[0]] == body, on2 = m->geom_bodyid[c->geom[1]] == body;
    if (c->force[0] <= 0 || !(on1 || on2)) continue;
    tbReal direction[3];
    tb_scale3(direction, c->frame, on2 ? -1 : 1);
    if (tb_ray_shape(m->site_type[site], m->site_size + 3 * site, d->site_xpos + 3 * site,
                     d->site_xmat + 9 * site, c->pos, direction) >= 0) {
      total += c->force[0];
    }
  }
  out[0] = total;
}
