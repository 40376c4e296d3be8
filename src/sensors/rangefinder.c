#include "sensors/values.h"
#include "world/state.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collide/ray/ray.h"
#include "model/workspace.h"
#include "spatial/vec3.h"
#include "world/state.h"

static tbReal ray_hfield(const tbModel* m, const tbData* d, int geom, const tbReal origin[3],
                         const tbReal direction[3]) {
  int h = m->geom_dataid[geom];
  tbHField field = {.nrow = m->hfield_nrow[h],
                    .ncol = m->hfield_ncol[h],
                    .data = m->hfield_data + m->hfield_adr[h]};
  memcpy(field.size, m->hfield_size + 4 * h, sizeof field.size);
  return tb_ray_hfield(&field, d->geom_xpos + 3 * geom, d->geom_xmat + 9 * geom, origin, direction);
}

// Does a ray along a unit vector miss the ball around a geom?
static bool misses(const tbModel* m, const tbData* d, int g, const tbReal origin[3],
                   const tbReal direction[3]) {
  tbReal arm[3], radius = m->geom_rbound[g] * (1 + 1e-9);
  tb_sub3(arm, d->geom_xpos + 3 * g, origin);
  tbReal along = tb_dot3(arm, direction), outside = tb_dot3(arm, arm) - radius * radius;
  return outside > 0 && (along < 0 || along * along < outside);
}

static bool is_seen(const tbModel* m, int g) {
  return m->geom_rgba[4 * g + 3] != 0;
}

// Trees of all meshes that can be seen, made with the first ray.
static const tbRayTree* ray_trees(const tbModel* m, tbStepState* state) {
  if (state->ray_tree || m->nmesh == 0) return state->ray_tree;
  size_t bytes = sizeof(tbRayTree) * (size_t)m->nmesh;
  state->ray_tree = calloc(1, bytes);
  if (!state->ray_tree) return NULL;
  state->nray_tree = m->nmesh;
  state->bytes += bytes;
  state->allocations++;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] != TB_GEOM_MESH || !is_seen(m, g)) continue;
    int mesh = m->geom_dataid[g];
    if (state->ray_tree[mesh].node) continue;
    state->bytes +=
        tb_ray_tree_build(&state->ray_tree[mesh], m->mesh_vert + 3 * m->mesh_vertadr[mesh],
                          m->mesh_face + 3 * m->mesh_faceadr[mesh], m->mesh_facenum[mesh]);
    state->allocations++;
  }
  return state->ray_tree;
}

static tbReal ray_geom(const tbModel* m, const tbData* d, const tbRayTree* tree, int g,
                       const tbReal origin[3], const tbReal direction[3]) {
  const tbReal *pos = d->geom_xpos + 3 * g, *mat = d->geom_xmat + 9 * g;
  if (m->geom_type[g] == TB_GEOM_HFIELD) return ray_hfield(m, d, g, origin, direction);
  if (m->geom_type[g] != TB_GEOM_MESH) {
    return tb_ray_shape(m->geom_type[g], m->geom_size + 3 * g, pos, mat, origin, direction);
  }
  if (misses(m, d, g, origin, direction)) return -1;
  // Without memory for trees rays try every triangle.
  static const tbRayTree NONE = {0};
  int mesh = m->geom_dataid[g];
  return tb_ray_mesh(tree ? &tree[mesh] : &NONE, m->mesh_vert + 3 * m->mesh_vertadr[mesh],
                     m->mesh_face + 3 * m->mesh_faceadr[mesh], m->mesh_facenum[mesh], pos, mat,
                     origin, direction);
}

void tb_sensor_rangefinder(const tbSensorContext* x, int s, tbReal* out) {
  const tbModel* m = x->m;
  tbData* d = x->d;
  int site = m->sensor_objid[s];
  const tbRayTree* tree = ray_trees(m, d->work->step);
  const tbReal* R = d->site_xmat + 9 * site;
  tbReal axis[3] = {R[2], R[5], R[8]}, best = -1;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_bodyid[g] == m->site_bodyid[site] || !is_seen(m, g)) continue;
    best = tb_ray_nearer(best, ray_geom(m, d, tree, g, d->site_xpos + 3 * site, axis));
  }
  out[0] = best;
}
