// Adhesion: an actuator on a body pulls along the normals of all its contacts (MuJoCo's body
// transmission). Its moment is minus the mean of the contacts' normal Jacobians.
#include <string.h>

#include "spatial/vec3.h"
#include "forces/forces.h"
#include "model/transmission_kinds.h"
#include "tribo/dynamics.h"

static int touches(const tbModel* m, const tbContact* c, int body) {
  return m->geom_bodyid[c->geom[0]] == body || m->geom_bodyid[c->geom[1]] == body;
}

void tb_adhesion(const tbModel* m, tbData* d) {
  for (int u = 0; u < m->nu; u++) {
    if (!tb_transmission_has_arm(m->actuator_trntype[u], TB_ARM_CONTACTS)) continue;
    // The row of such an actuator has an entry for every dof.
    tbReal* moment = d->actuator_moment + m->actuator_Jadr[u];
    int body = m->actuator_trnid[2 * u], count = 0;
    memset(moment, 0, sizeof(tbReal) * (size_t)m->nv);
    for (int i = 0; i < d->ncon; i++) count += touches(m, &d->contact[i], body);
    for (int i = 0; i < d->ncon; i++) {
      const tbContact* c = &d->contact[i];
      if (!touches(m, c, body)) continue;
      tbReal pull[3], back[3];
      tb_scale3(pull, c->frame, -1.0 / count);
      tb_scale3(back, c->frame, 1.0 / count);
      tb_apply_wrench(m, d, m->geom_bodyid[c->geom[1]], c->pos, pull, NULL, moment);
      tb_apply_wrench(m, d, m->geom_bodyid[c->geom[0]], c->pos, back, NULL, moment);
    }
    d->actuator_velocity[u] = 0;
    for (int i = 0; i < m->nv; i++) d->actuator_velocity[u] += moment[i] * d->qvel[i];
  }
}
