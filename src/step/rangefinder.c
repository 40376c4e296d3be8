#include "step/rangefinder.h"

#include "collide/ray.h"
#include "spatial/vec3.h"

// The surface of a height field, cell by cell.
static tbReal ray_hfield(const tbModel* m, const tbData* d, int geom, const tbReal origin[3],
                         const tbReal direction[3]) {
  static const int FACES[6] = {0, 1, 2, 1, 3, 2};
  int h = m->geom_dataid[geom], nrow = m->hfield_nrow[h], ncol = m->hfield_ncol[h];
  const tbReal *size = m->hfield_size + 4 * h, *data = m->hfield_data + m->hfield_adr[h];
  tbReal best = -1;
  for (int r = 0; r + 1 < nrow; r++) {
    for (int c = 0; c + 1 < ncol; c++) {
      tbReal corner[12];
      for (int k = 0; k < 4; k++) {
        int row = r + k / 2, col = c + k % 2;
        tb_set3(corner + 3 * k, size[0] * (2.0 * col / (ncol - 1) - 1),
                size[1] * (2.0 * row / (nrow - 1) - 1), size[2] * data[row * ncol + col]);
      }
      tbReal t = tb_ray_triangles(corner, FACES, 2, d->geom_xpos + 3 * geom,
                                  d->geom_xmat + 9 * geom, origin, direction);
      if (t >= 0 && (best < 0 || t < best)) best = t;
    }
  }
  return best;
}

static tbReal ray_geom(const tbModel* m, const tbData* d, int g, const tbReal origin[3],
                       const tbReal direction[3]) {
  const tbReal *pos = d->geom_xpos + 3 * g, *mat = d->geom_xmat + 9 * g;
  if (m->geom_type[g] == TB_GEOM_HFIELD) return ray_hfield(m, d, g, origin, direction);
  if (m->geom_type[g] != TB_GEOM_MESH) {
    return tb_ray_shape(m->geom_type[g], m->geom_size + 3 * g, pos, mat, origin, direction);
  }
  int mesh = m->geom_dataid[g];
  return tb_ray_triangles(m->mesh_vert + 3 * m->mesh_vertadr[mesh],
                          m->mesh_face + 3 * m->mesh_faceadr[mesh], m->mesh_facenum[mesh], pos, mat,
                          origin, direction);
}

tbReal tb_rangefinder(const tbModel* m, const tbData* d, int site) {
  const tbReal* R = d->site_xmat + 9 * site;
  tbReal axis[3] = {R[2], R[5], R[8]}, best = -1;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_bodyid[g] == m->site_bodyid[site] || m->geom_rgba[4 * g + 3] == 0) continue;
    tbReal t = ray_geom(m, d, g, d->site_xpos + 3 * site, axis);
    if (t >= 0 && (best < 0 || t < best)) best = t;
  }
  return best;
}
