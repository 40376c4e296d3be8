// Geoms, sites, meshes, hulls and height fields.

#include "base/error.h"
#include "model/check.h"

#define TRY(expression)                 \
  do {                                  \
    tbResult try_result = (expression); \
    if (try_result) return try_result;  \
  } while (0)

static tbResult check_dim(const char* field, const int* dim, int n, tbError* error) {
  for (int i = 0; i < n; i++) {
    if (dim[i] != 1 && dim[i] != 3 && dim[i] != 4 && dim[i] != 6) {
      return tb_fail(error, TB_ERROR_MODEL, "model: %s[%d] is %d, expected 1, 3, 4 or 6", field, i,
                     dim[i]);
    }
  }
  return TB_OK;
}

static tbResult check_geoms(const tbModel* m, tbError* error) {
  TRY(tb_check_range("geom_type", m->geom_type, m->ngeom, 0, TB_NGEOMTYPES, error));
  TRY(tb_check_range("geom_bodyid", m->geom_bodyid, m->ngeom, 0, m->nbody, error));
  TRY(tb_check_spans("body_geomadr", m->body_geomadr, m->body_geomnum, m->nbody, m->ngeom, error));
  TRY(check_dim("geom_condim", m->geom_condim, m->ngeom, error));
  for (int g = 0; g < m->ngeom; g++) {
    int type = m->geom_type[g], id = m->geom_dataid[g];
    int high = type == TB_GEOM_HFIELD ? m->nhfield : m->nmesh;
    bool needed = type == TB_GEOM_HFIELD || type == TB_GEOM_MESH;
    if (id < (needed ? 0 : -1) || id >= high) {
      return tb_fail(error, TB_ERROR_MODEL, "model: geom_dataid[%d] is %d of %d", g, id, high);
    }
    // A mesh that can collide needs its hull.
    bool collides = m->geom_contype[g] || m->geom_conaffinity[g];
    if (type == TB_GEOM_MESH && collides && m->mesh_hullvertadr[id] < 0) {
      return tb_fail(error, TB_ERROR_MODEL, "model: geom %d collides, but its mesh has no hull", g);
    }
  }
  // Geoms are in the order of their bodies.
  int64_t geom = 0;
  for (int b = 0; b < m->nbody; b++) {
    if (m->body_geomnum[b] && m->body_geomadr[b] != geom) {
      return tb_fail(error, TB_ERROR_MODEL, "model: body_geomadr[%d] leaves a gap", b);
    }
    for (int k = 0; k < m->body_geomnum[b]; k++, geom++) {
      if (m->geom_bodyid[geom] != b) {
        return tb_fail(error, TB_ERROR_MODEL, "model: geom_bodyid[%d] is not %d", (int)geom, b);
      }
    }
  }
  return geom == m->ngeom ? TB_OK : tb_fail(error, TB_ERROR_MODEL, "model: geoms without a body");
}

// The direction cells of a hull: first four vertices for each cell, then four more for some. A flag
// in the first of the four indicates more; the first of the additional four may indicate that there
// are too many.
static tbResult check_cells(const tbModel* m, int mesh, tbError* error) {
  enum { MOST_SIDE = 1024, FOUR = TB_NCELL / 2, MORE = 0x8000, NONE = UINT16_MAX };
  int side = m->mesh_hullside[mesh], first = m->mesh_hullcelladr[mesh];
  int nvert = m->mesh_hullvertnum[mesh];
  if (side == 0) return TB_OK;
  int64_t ncell = side < 0 || side > MOST_SIDE ? 0 : (int64_t)6 * side * side;
  if (ncell == 0 || first < 0 || first + TB_NCELL * ncell > m->nhullcell) {
    return tb_fail(error, TB_ERROR_MODEL, "model: cells of mesh %d's hull are out of bounds", mesh);
  }
  for (int64_t i = 0; i < 2 * ncell; i++) {
    const uint16_t* four = m->hull_cell + first + FOUR * i;
    bool good = true;
    for (int k = 0; k < FOUR; k++) {
      good = good && (k == 0 && i < ncell ? four[k] & ~MORE : four[k]) < nvert;
    }
    if (!good && (i < ncell || four[0] != NONE)) {
      return tb_fail(error, TB_ERROR_MODEL, "model: cells of mesh %d's hull name no vertex", mesh);
    }
  }
  return TB_OK;
}

// One hull: graph of vertices, polygons and their neighbours.
static tbResult check_hull(const tbModel* m, int mesh, tbError* error) {
  int nvert = m->mesh_hullvertnum[mesh], nface = m->mesh_hullfacenum[mesh];
  int vertadr = m->mesh_hulladradr[mesh], edge = m->mesh_hulledgeadr[mesh];
  int faceadr = m->mesh_hullfaceadradr[mesh], poly = m->mesh_hullpolyadr[mesh];
  int64_t nedge, npoly;
  if (nvert < 1 || vertadr < 0 || (int64_t)vertadr + nvert + 1 > m->nhulladr || faceadr < 0 ||
      (int64_t)faceadr + nface + 1 > m->nhullfaceadr) {
    return tb_fail(error, TB_ERROR_MODEL, "model: hull of mesh %d is out of bounds", mesh);
  }
  TRY(tb_check_rows("hull_vertadr", m->hull_vertadr + vertadr, nvert, &nedge, error));
  TRY(tb_check_rows("hull_faceadr", m->hull_faceadr + faceadr, nface, &npoly, error));
  if (edge < 0 || edge + nedge > m->nhulledge || poly < 0 || poly + npoly > m->nhullpoly) {
    return tb_fail(error, TB_ERROR_MODEL, "model: hull of mesh %d is out of bounds", mesh);
  }
  TRY(tb_check_range("hull_edge", m->hull_edge + edge, nedge, 0, nvert, error));
  TRY(tb_check_range("hull_poly", m->hull_poly + poly, npoly, 0, nvert, error));
  TRY(tb_check_range("hull_polyadj", m->hull_polyadj + poly, npoly, 0, nface, error));
  TRY(tb_check_range("mesh_hullguess", m->mesh_hullguess + (size_t)TB_NGUESS * (size_t)mesh,
                     TB_NGUESS, 0, nvert, error));
  TRY(check_cells(m, mesh, error));
  if (nface) {
    TRY(tb_check_range("hull_vertface", m->hull_vertface + m->mesh_hullvertadr[mesh], nvert, 0,
                       nface, error));
  }
  for (int f = 0; f < nface; f++) {
    const int* start = m->hull_faceadr + faceadr + f;
    if (start[1] - start[0] < 3) {
      return tb_fail(error, TB_ERROR_MODEL, "model: face %d of mesh %d's hull has %d corners", f,
                     mesh, start[1] - start[0]);
    }
  }
  return TB_OK;
}

static tbResult check_meshes(const tbModel* m, tbError* error) {
  TRY(tb_check_spans("mesh_vertadr", m->mesh_vertadr, m->mesh_vertnum, m->nmesh, m->nmeshvert,
                     error));
  TRY(tb_check_spans("mesh_faceadr", m->mesh_faceadr, m->mesh_facenum, m->nmesh, m->nmeshface,
                     error));
  TRY(tb_check_spans("mesh_hullvertadr", m->mesh_hullvertadr, m->mesh_hullvertnum, m->nmesh,
                     m->nhullvert, error));
  TRY(tb_check_spans("mesh_hullfaceadr", m->mesh_hullfaceadr, m->mesh_hullfacenum, m->nmesh,
                     m->nhullface, error));
  for (int i = 0; i < m->nmesh; i++) {
    int64_t first = m->mesh_facenum[i] ? m->mesh_faceadr[i] : 0;
    TRY(tb_check_range("mesh_face", m->mesh_face + 3 * first, 3 * (int64_t)m->mesh_facenum[i], 0,
                       m->mesh_vertnum[i], error));
    if (m->mesh_hullvertadr[i] >= 0) TRY(check_hull(m, i, error));
  }
  return TB_OK;
}

static tbResult check_hfields(const tbModel* m, tbError* error) {
  for (int i = 0; i < m->nhfield; i++) {
    int64_t n = (int64_t)m->hfield_nrow[i] * m->hfield_ncol[i];
    if (m->hfield_nrow[i] < 2 || m->hfield_ncol[i] < 2 || m->hfield_adr[i] < 0 ||
        m->hfield_adr[i] + n > m->nhfielddata) {
      return tb_fail(error, TB_ERROR_MODEL, "model: hfield %d is out of bounds", i);
    }
  }
  return TB_OK;
}

tbResult tb_check_shapes(const tbModel* m, tbError* error) {
  TRY(check_meshes(m, error));
  TRY(check_hfields(m, error));
  TRY(check_geoms(m, error));
  TRY(tb_check_range("site_type", m->site_type, m->nsite, 0, TB_NGEOMTYPES, error));
  TRY(tb_check_range("site_bodyid", m->site_bodyid, m->nsite, 0, m->nbody, error));
  TRY(tb_check_range("cam_bodyid", m->cam_bodyid, m->ncam, 0, m->nbody, error));
  TRY(tb_check_range("cam_mode", m->cam_mode, m->ncam, 0, TB_CAM_TARGETBODYCOM + 1, error));
  TRY(tb_check_range("cam_targetbodyid", m->cam_targetbodyid, m->ncam, -1, m->nbody, error));
  TRY(tb_check_range("light_bodyid", m->light_bodyid, m->nlight, 0, m->nbody, error));
  TRY(check_dim("pair_dim", m->pair_dim, m->npair, error));
  TRY(tb_check_range("pair_geom1", m->pair_geom1, m->npair, 0, m->ngeom, error));
  TRY(tb_check_range("pair_geom2", m->pair_geom2, m->npair, 0, m->ngeom, error));
  for (int i = 0; i < m->npair; i++) {
    for (int side = 0; side < 2; side++) {
      int g = side ? m->pair_geom2[i] : m->pair_geom1[i];
      if (m->geom_type[g] == TB_GEOM_MESH && m->mesh_hullvertadr[m->geom_dataid[g]] < 0) {
        return tb_fail(error, TB_ERROR_MODEL, "model: pair %d: the mesh of geom %d has no hull", i,
                       g);
      }
    }
  }
  TRY(tb_check_range("exclude_body1", m->exclude_body1, m->nexclude, 0, m->nbody, error));
  return tb_check_range("exclude_body2", m->exclude_body2, m->nexclude, 0, m->nbody, error);
}
