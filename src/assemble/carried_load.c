#include "assemble/carried_load.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "dynamics/equality/equality.h"
#include "dynamics/tendon_path.h"
#include "forces/forces.h"
#include "forces/geometric_stiffness.h"
#include "model/floating.h"
#include "model/transmission_kinds.h"
#include "model/workspace.h"
#include "spatial/vec3.h"

static bool is_jointed(const tbModel* m, int body) {
  return !tb_tree_is_free_body(m, m->body_treeid[body]);
}

// Upper bound of the forces of redundant closed loops.
static tbReal largest_kept_force(const tbModel* m) {
  return TB_MOST_WEIGHTS * m->total_mass * tb_norm3(m->opt.gravity);
}

static tbResult keep_equality_loads(const tbModel* m, tbData* d, const tbConstraints* cs,
                                    const tbReal* row_force) {
  memset(d->eq_load, 0, sizeof(tbReal) * 6 * (size_t)m->neq);
  char* lies = TB_ARENA_NEW(&d->work->arena, char, m->nbody);
  if (!lies) return TB_ERROR_MEMORY;
  for (int i = 0; i < d->ncon; i++) {
    if (d->contact[i].force[0] == 0) continue;
    for (int k = 0; k < 2; k++) lies[m->geom_bodyid[d->contact[i].geom[k]]] = 1;
  }
  for (int i = 0; i < cs->count; i++) {
    const tbConstraint* c = &cs->list[i];
    if (c->source != TB_SOURCE_EQUALITY || c->dim < 3) continue;
    tbReal point[2][3], quat[2][4], force = tb_norm3(row_force + c->row);
    int body[2];
    tb_equality_points(m, d, c->id, body, point, quat);
    bool loop = m->body_treeid[body[0]] == m->body_treeid[body[1]];
    if (loop && !tb_belt_is_tight(m, d, body[0], body[1], force)) continue;
    for (int k = 0; k < 2; k++) {
      if ((lies[body[k]] && !loop) || !tb_load_is_unresolved(m, d, body[k], force, point[k]))
        continue;
      tbReal most = is_jointed(m, body[k]) && !loop ? largest_kept_force(m) : INFINITY;
      tb_scale3(d->eq_load + 6 * c->id + 3 * k, row_force + c->row,
                (k ? -1 : 1) * tb_min(1, most / force));
    }
  }
  return TB_OK;
}

static bool is_tendon_kept(const tbModel* m, const tbData* d, int tendon, tbReal force) {
  for (tbTendonWalk walk = tb_tendon_walk(m, tendon); tb_tendon_piece(m, d, &walk);) {
    tbReal size = fabs(force) * tb_norm3(walk.pull);
    if (tb_load_is_unresolved(m, d, walk.from->body, size, walk.from->pos)) return true;
    if (tb_load_is_unresolved(m, d, walk.to->body, size, walk.to->pos)) return true;
  }
  return false;
}

// Limits, springs, dampers and actuators of tendons.
static void keep_tendon_loads(const tbModel* m, tbData* d, const tbConstraints* cs,
                              const tbReal* row_force) {
  tbReal *pull = d->ten_load, most = largest_kept_force(m);
  memset(pull, 0, sizeof(tbReal) * (size_t)m->ntendon);
  for (int i = 0; i < cs->count; i++) {
    const tbConstraint* c = &cs->list[i];
    if (c->source != TB_SOURCE_LIMIT_TENDON) continue;
    // the row of an upper limit has the opposite sign (tb_plain_key)
    pull[c->id] += (c->key & 1 ? -1 : 1) * tb_min(row_force[c->row], most);
  }
  for (int t = 0; t < m->ntendon; t++) pull[t] += tb_tendon_passive(m, d, t);
  for (int i = 0; i < m->nu; i++) {
    int tendon = tb_geared_tendon(m, i);
    if (tendon < 0) continue;
    pull[tendon] += m->actuator_gear[6 * i] * d->actuator_force[i];
  }
  for (int t = 0; t < m->ntendon; t++) {
    if (pull[t] == 0 || !is_tendon_kept(m, d, t, pull[t])) pull[t] = 0;
  }
}

tbResult tb_carried_load_keep(const tbModel* m, tbData* d, const tbConstraints* cs,
                              const tbReal* row_force) {
  if (m->ntendon > 0) keep_tendon_loads(m, d, cs, row_force);
  return m->neq > 0 ? keep_equality_loads(m, d, cs, row_force) : TB_OK;
}
