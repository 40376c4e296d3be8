// Meshes and height fields of a spec: read, processed, and copied into the model.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "collide/hull/hull.h"
#include "io/compile/internal.h"
#include "spatial/quat.h"

static void mark_mesh(const tbCompile* c, int geom, bool* need_hull) {
  if (geom < 0 || c->spec->geom[geom].type != TB_GEOM_MESH) return;
  int mesh = tb_compile_find(c, TB_FLAT_mesh, c->spec->geom[geom].mesh);
  if (mesh >= 0) need_hull[mesh] = true;
}

// Distance sensors refer to geoms, or to bodies, which means all geoms of the body.
static void mark_sensor(const tbCompile* c, int type, const char* name, bool* need_hull) {
  if (type == TB_OBJ_GEOM) mark_mesh(c, tb_compile_find(c, TB_FLAT_geom, name), need_hull);
  int body = type == TB_OBJ_BODY ? tb_compile_find(c, TB_FLAT_body, name) : -1;
  for (int i = 0; body >= 0 && i < c->spec->ngeom; i++) {
    if (c->spec->geom[i].body == body) mark_mesh(c, i, need_hull);
  }
}

// A mesh needs a convex hull if a geom that can collide, or that a distance sensor measures, uses
// it.
static void mark_hulls(const tbCompile* c, bool* need_hull) {
  const tbFlat* spec = c->spec;
  for (int i = 0; i < spec->ngeom; i++) {
    const tbFlatGeom* g = &spec->geom[i];
    if (g->contype || g->conaffinity) mark_mesh(c, i, need_hull);
  }
  for (int i = 0; i < spec->npair; i++) {
    mark_mesh(c, tb_compile_find(c, TB_FLAT_geom, spec->pair[i].geom1), need_hull);
    mark_mesh(c, tb_compile_find(c, TB_FLAT_geom, spec->pair[i].geom2), need_hull);
  }
  for (int i = 0; i < spec->nsensor; i++) {
    const tbFlatSensor* s = &spec->sensor[i];
    if (s->type < TB_SENS_GEOMDIST || s->type > TB_SENS_GEOMFROMTO) continue;
    mark_sensor(c, s->objtype, s->objname, need_hull);
    mark_sensor(c, s->reftype, s->refname, need_hull);
  }
}

// Inline vertices and faces. Face indices come from the file as reals, so they must be checked.
static tbResult inline_mesh(tbCompile* c, const tbFlatMesh* s, const char* label, tbMeshData* data,
                            tbError* error) {
  if (s->vertex.n == 0 || s->vertex.n % 3 || s->face.n % 3) {
    return tb_fail(error, TB_ERROR_MODEL,
                   "%s needs a file, or vertex and face with a multiple of 3 numbers", label);
  }
  int* face = TB_ARENA_NEW(&c->scratch, int, (size_t)s->face.n + 1);
  if (!face) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < s->face.n; i++) {
    tbReal index = s->face.v[i];
    if (!(index >= 0 && index < s->vertex.n / 3) || index != floor(index)) {
      return tb_fail(error, TB_ERROR_MODEL, "%s: face index %g, expected 0 to %d", label, index,
                     s->vertex.n / 3 - 1);
    }
    face[i] = (int)index;
  }
  return tb_mesh_from_arrays(data, &c->scratch, label, s->vertex.v, s->vertex.n / 3, face,
                             s->face.n / 3, error);
}

static tbResult compile_mesh(tbCompile* c, int i, bool need_hull) {
  const tbFlatMesh* s = &c->spec->mesh[i];
  tbCompileLabel label = tb_compile_label("mesh", s->name, i);
  tbMeshOptions options = tb_mesh_default_options();
  memcpy(options.scale, s->scale, sizeof options.scale);
  memcpy(options.refpos, s->refpos, sizeof options.refpos);
  memcpy(options.refquat, s->refquat, sizeof options.refquat);
  options.inertia = s->inertia;
  if (s->compiler->exactmeshinertia && !TB_GIVEN(mesh, s, inertia)) options.inertia = TB_MESH_EXACT;
  options.maxhullvert = s->maxhullvert;
  options.need_hull = need_hull;
  options.centred = TB_GIVEN(mesh, s, pose);
  if (options.centred) {
    tbMeshOptions unchanged = tb_mesh_default_options();
    memcpy(options.scale, unchanged.scale, sizeof options.scale);
    memcpy(options.refpos, unchanged.refpos, sizeof options.refpos);
    memcpy(options.refquat, unchanged.refquat, sizeof options.refquat);
  }

  tbMeshData data = {0};
  tbError reason = {0};
  tbResult result = s->path ? tb_mesh_read(&data, &c->scratch, s->path, &reason)
                            : inline_mesh(c, s, label.text, &data, &reason);
  if (!result) {
    result =
        tb_mesh_process(&c->mesh[i], &c->arena, s->name ? s->name : "", &data, &options, &reason);
  }
  if (!result && options.centred) {
    tb_copy3(c->mesh[i].pos, s->pose);
    memcpy(c->mesh[i].quat, s->pose + 3, sizeof c->mesh[i].quat);
    if (tb_quat_normalize(c->mesh[i].quat) < TB_COMPILE_TINY) {
      result = tb_fail(&reason, TB_ERROR_MODEL, "%s: the quaternion of its pose has no length",
                       label.text);
    }
  }
  tb_arena_reset(&c->scratch);
  return result ? TB_FLAT_FAIL(c->error, result, s, "%s", reason.message) : TB_OK;
}

static tbResult compile_hfield(tbCompile* c, int i) {
  const tbFlatHField* s = &c->spec->hfield[i];
  tbCompileLabel label = tb_compile_label("hfield", s->name, i);
  for (int k = 0; k < 4; k++) {
    if (s->size[k] > 0 && isfinite(s->size[k])) continue;
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s,
                        "%s: size %d is %g, expected a positive number", label.text, k + 1,
                        s->size[k]);
  }
  tbError reason = {0};
  tbResult result =
      s->path ? tb_hfield_read(&c->hfield[i], &c->arena, s->path, &reason)
              : tb_hfield_from_elevation(&c->hfield[i], &c->arena, label.text, s->nrow, s->ncol,
                                         s->elevation.v, s->elevation.n, &reason);
  return result ? TB_FLAT_FAIL(c->error, result, s, "%s", reason.message) : TB_OK;
}

tbResult tb_compile_assets(tbCompile* c) {
  const tbFlat* spec = c->spec;
  c->mesh = TB_ARENA_NEW(&c->arena, tbMesh, (size_t)spec->nmesh + 1);
  c->hfield = TB_ARENA_NEW(&c->arena, tbHFieldData, (size_t)spec->nhfield + 1);
  bool* need_hull = TB_ARENA_NEW(&c->arena, bool, (size_t)spec->nmesh + 1);
  if (!c->mesh || !c->hfield || !need_hull) {
    return tb_fail(c->error, TB_ERROR_MEMORY, "out of memory");
  }
  mark_hulls(c, need_hull);
  for (int i = 0; i < spec->nmesh; i++) {
    tbResult result = compile_mesh(c, i, need_hull[i]);
    if (result) return result;
  }
  for (int i = 0; i < spec->nhfield; i++) {
    tbResult result = compile_hfield(c, i);
    if (result) return result;
  }
  return TB_OK;
}

// Sums saturate to -1, which the model's allocation rejects.
static void add_size(int* total, int64_t more) {
  *total = *total < 0 || *total + more > INT_MAX ? -1 : (int)(*total + more);
}

// Entries of the direction table, which the model stores for large hulls only; those of small hulls
// are recomputed.
static int cell_entries(const tbHull* hull) {
  const tbHullCache* cache = tb_hull_cache(hull);
  return cache->cells && !cache->lanes ? TB_NCELL * 6 * cache->side * cache->side : 0;
}

void tb_compile_count_assets(const tbCompile* c, tbModel* sizes) {
  for (int i = 0; i < c->spec->nmesh; i++) {
    if (c->mesh_id[i] < 0) continue;
    const tbMesh* mesh = &c->mesh[i];
    sizes->nmesh++;
    add_size(&sizes->nmeshvert, mesh->nvert);
    add_size(&sizes->nmeshface, mesh->nface);
    if (!mesh->has_hull) continue;
    const tbHull* hull = &mesh->hull;
    add_size(&sizes->nhullvert, hull->nvert);
    add_size(&sizes->nhulladr, hull->nvert + 1);
    add_size(&sizes->nhulledge, hull->adj_start[hull->nvert]);
    add_size(&sizes->nhullface, hull->nface);
    add_size(&sizes->nhullfaceadr, hull->nface + 1);
    add_size(&sizes->nhullpoly, hull->face_start[hull->nface]);
    add_size(&sizes->nhullcell, cell_entries(hull));
  }
  sizes->nhfield = c->spec->nhfield;
  for (int i = 0; i < c->spec->nhfield; i++) {
    add_size(&sizes->nhfielddata, (int64_t)c->hfield[i].nrow * c->hfield[i].ncol);
  }
}

// Position of the next hull in each of the model's arrays.
typedef struct {
  int vert, adr, edge, face, faceadr, poly, cell;
} HullCursor;

static void copy_ints(int* target, const int* source, int n) {
  if (n > 0) memcpy(target, source, (size_t)n * sizeof *target);
}

static void copy_reals(tbReal* target, const tbReal* source, size_t n) {
  if (n > 0) memcpy(target, source, n * sizeof *target);
}

static void copy_hull(tbModel* m, int id, const tbHull* hull, HullCursor* at) {
  const tbHullCache* cache = tb_hull_cache(hull);
  int nedge = hull->adj_start[hull->nvert], npoly = hull->face_start[hull->nface];
  m->mesh_hullvertadr[id] = at->vert;
  m->mesh_hullvertnum[id] = hull->nvert;
  m->mesh_hulladradr[id] = at->adr;
  m->mesh_hulledgeadr[id] = at->edge;
  m->mesh_hullfaceadr[id] = at->face;
  m->mesh_hullfacenum[id] = hull->nface;
  m->mesh_hullfaceadradr[id] = at->faceadr;
  m->mesh_hullpolyadr[id] = at->poly;
  copy_reals(m->mesh_hullcenter + 3 * id, hull->center, 3);
  m->mesh_hullradius[id] = hull->radius;
  if (cache->seed) copy_ints(m->mesh_hullguess + TB_NGUESS * id, cache->seed, TB_NGUESS);
  copy_reals(m->hull_vert + 3 * (size_t)at->vert, hull->vert, 3 * (size_t)hull->nvert);
  if (hull->vert_face) copy_ints(m->hull_vertface + at->vert, hull->vert_face, hull->nvert);
  copy_ints(m->hull_vertadr + at->adr, hull->adj_start, hull->nvert + 1);
  copy_ints(m->hull_edge + at->edge, hull->adj, nedge);
  copy_reals(m->hull_plane + 4 * (size_t)at->face, hull->plane, 4 * (size_t)hull->nface);
  copy_ints(m->hull_faceadr + at->faceadr, hull->face_start, hull->nface + 1);
  copy_ints(m->hull_poly + at->poly, hull->face_vert, npoly);
  copy_ints(m->hull_polyadj + at->poly, hull->face_adj, npoly);
  m->mesh_hullside[id] = cell_entries(hull) > 0 ? cache->side : 0;
  m->mesh_hullcelladr[id] = at->cell;
  if (cell_entries(hull) > 0) {
    memcpy(m->hull_cell + at->cell, cache->cells, sizeof(uint16_t) * (size_t)cell_entries(hull));
  }
  at->vert += hull->nvert;
  at->adr += hull->nvert + 1;
  at->edge += nedge;
  at->face += hull->nface;
  at->faceadr += hull->nface + 1;
  at->poly += npoly;
  at->cell += cell_entries(hull);
}

static void copy_meshes(const tbCompile* c, tbModel* m) {
  HullCursor hull = {0};
  int vert = 0, face = 0;
  for (int i = 0; i < c->spec->nmesh; i++) {
    int id = c->mesh_id[i];
    if (id < 0) continue;
    const tbMesh* mesh = &c->mesh[i];
    m->mesh_vertadr[id] = vert;
    m->mesh_vertnum[id] = mesh->nvert;
    m->mesh_faceadr[id] = face;
    m->mesh_facenum[id] = mesh->nface;
    copy_reals(m->mesh_vert + 3 * (size_t)vert, mesh->vert, 3 * (size_t)mesh->nvert);
    copy_ints(m->mesh_face + 3 * (size_t)face, mesh->face, 3 * mesh->nface);
    vert += mesh->nvert;
    face += mesh->nface;
    copy_reals(m->mesh_pos + 3 * id, mesh->pos, 3);
    copy_reals(m->mesh_quat + 4 * id, mesh->quat, 4);
    copy_reals(m->mesh_scale + 3 * id, c->spec->mesh[i].scale, 3);
    if (mesh->has_hull) {
      copy_hull(m, id, &mesh->hull, &hull);
    } else {
      m->mesh_hullvertadr[id] = m->mesh_hulladradr[id] = m->mesh_hulledgeadr[id] = -1;
      m->mesh_hullfaceadr[id] = m->mesh_hullfaceadradr[id] = m->mesh_hullpolyadr[id] = -1;
      m->mesh_hullcelladr[id] = -1;
    }
  }
}

void tb_compile_copy_assets(const tbCompile* c, tbModel* m) {
  copy_meshes(c, m);
  int at = 0;
  for (int i = 0; i < c->spec->nhfield; i++) {
    const tbHFieldData* h = &c->hfield[i];
    copy_reals(m->hfield_size + 4 * i, c->spec->hfield[i].size, 4);
    m->hfield_nrow[i] = h->nrow;
    m->hfield_ncol[i] = h->ncol;
    m->hfield_adr[i] = at;
    copy_reals(m->hfield_data + at, h->data, (size_t)h->nrow * (size_t)h->ncol);
    at += h->nrow * h->ncol;
  }
}
