// Geoms: shape, frame, mass and bounds; and the copies of geoms, sites, cameras and lights.
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "base/error.h"
#include "io/compile/internal.h"
#include "model/extent.h"
#include "spatial/quat.h"

// Number of sizes of a primitive.
static int size_count(int type) {
  switch (type) {
    case TB_GEOM_SPHERE: return 1;
    case TB_GEOM_CAPSULE:
    case TB_GEOM_CYLINDER: return 2;
    case TB_GEOM_ELLIPSOID:
    case TB_GEOM_BOX: return 3;
    default: return 0;
  }
}

// frame <- frame * (pos, quat)
static void append_frame(tbCompileFrame* frame, const tbReal pos[3], const tbReal quat[4]) {
  tbReal shift[3];
  tb_quat_rotate(shift, frame->quat, pos);
  tb_add3(frame->pos, frame->pos, shift);
  tb_quat_mul(frame->quat, frame->quat, quat);
  tb_quat_normalize(frame->quat);
}

// Places a geom with a mesh: the geom has the mesh's shape, or that of a primitive fitted to it. In
// both cases its frame is moved to that of the processed mesh.
static tbResult place_on_mesh(tbCompile* c, const tbFlatGeom* s, tbCompileGeom* g) {
  const tbMesh* mesh = &c->mesh[g->mesh];
  tbReal center[3];
  tb_copy3(center, mesh->pos);
  if (g->type == TB_GEOM_MESH) {
    for (int k = 0; k < 3; k++) g->size[k] = tb_max(fabs(mesh->aabb[k]), fabs(mesh->aabb[3 + k]));
  } else {
    tbError reason = {0};
    bool box = c->spec->compiler->fitaabb;
    tbResult result = tb_mesh_fit(mesh, g->type, box, s->fitscale, g->size, center, &reason);
    if (result) return TB_FLAT_FAIL(c->error, result, s, "%s", reason.message);
  }
  // The geoms of a mesh with a pose are in the frame of its vertices already.
  if (!TB_GIVEN(mesh, &c->spec->mesh[g->mesh], pose)) append_frame(&g->frame, center, mesh->quat);
  return TB_OK;
}

// Finds the mesh or height field of a geom.
static tbResult resolve_asset(tbCompile* c, const tbFlatGeom* s, const char* label,
                              tbCompileGeom* g) {
  g->mesh = g->hfield = -1;
  if (s->mesh || g->type == TB_GEOM_MESH) {
    tbResult result =
        tb_compile_resolve(c, TB_FLAT_mesh, s->mesh, s->source, s->line, label, &g->mesh);
    if (result) return result;
    if (s->shellinertia && g->type == TB_GEOM_MESH) {
      return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s,
                          "%s: shellinertia of a mesh is the mesh's: give it inertia=\"shell\"",
                          label);
    }
  }
  if (g->type == TB_GEOM_HFIELD) {
    return tb_compile_resolve(c, TB_FLAT_hfield, s->hfield, s->source, s->line, label, &g->hfield);
  }
  return TB_OK;
}

static tbResult check_size(tbCompile* c, const tbFlatGeom* s, const char* label,
                           const tbCompileGeom* g) {
  if (g->type == TB_GEOM_PLANE && !(s->size[2] > 0)) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s,
                        "%s: the third size of a plane is %g, expected a positive grid spacing",
                        label, s->size[2]);
  }
  for (int k = 0; k < size_count(g->type); k++) {
    // A fitted capsule may have zero length.
    if (g->size[k] > 0 || (g->mesh >= 0 && g->size[k] == 0)) continue;
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s,
                        "%s: size %d is %g, expected a positive number", label, k + 1, g->size[k]);
  }
  return tb_compile_finite(c, s->source, s->line, label, g->size, 3);
}

// Mass from the given mass or from the density.
static tbResult set_mass(tbCompile* c, const tbFlatGeom* s, const char* label, tbCompileGeom* g) {
  if (s->mass < 0 || s->density < 0 || !isfinite(s->mass) || !isfinite(s->density)) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s,
                        "%s: mass %g and density %g, expected numbers that are not negative", label,
                        s->mass, s->density);
  }
  bool is_mesh = g->type == TB_GEOM_MESH;
  const tbMesh* mesh = is_mesh ? &c->mesh[g->mesh] : NULL;
  tbReal volume = is_mesh ? mesh->volume : tb_shape_volume(g->type, g->size, s->shellinertia);
  if (!(volume > TB_COMPILE_TINY)) return TB_OK;
  g->mass = TB_GIVEN(geom, s, mass) ? s->mass : s->density * volume;
  if (is_mesh) {
    tb_scale3(g->inertia, mesh->inertia, g->mass / volume);
  } else {
    tb_shape_inertia(g->type, g->size, s->shellinertia, g->inertia);
    tb_scale3(g->inertia, g->inertia, g->mass);
  }
  return tb_compile_finite(c, s->source, s->line, label, g->inertia, 3);
}

// Bounding radius and bounding box in the frame of the geom.
static void set_bounds(const tbCompile* c, tbCompileGeom* g) {
  if (g->type == TB_GEOM_HFIELD) {
    tb_hfield_extent(c->spec->hfield[g->hfield].size, g->aabb, &g->rbound);
    return;
  }
  tb_geom_extent(g->type, g->size, g->aabb, &g->rbound);
  if (g->type != TB_GEOM_MESH) return;
  const tbReal* box = c->mesh[g->mesh].aabb;
  for (int k = 0; k < 3; k++) {
    g->aabb[k] = (box[3 + k] + box[k]) / 2;
    g->aabb[3 + k] = (box[3 + k] - box[k]) / 2;
  }
}

static tbResult compile_geom(tbCompile* c, int i) {
  const tbFlatGeom* s = &c->spec->geom[i];
  tbCompileGeom* g = &c->geom[i];
  tbCompileLabel label = tb_compile_label("geom", s->name, i);
  g->type = s->type;
  g->frame.body = s->body;
  tb_copy3(g->frame.pos, s->pos);
  memcpy(g->frame.quat, s->quat, sizeof g->frame.quat);
  tbResult result = tb_compile_finite(c, s->source, s->line, label.text, s->pos, 3);
  if (!result) result = tb_compile_finite(c, s->source, s->line, label.text, s->quat, 4);
  if (!result) result = resolve_asset(c, s, label.text, g);
  if (result) return result;
  if (s->condim != 1 && s->condim != 3 && s->condim != 4 && s->condim != 6) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s, "%s: condim is %d, expected 1, 3, 4 or 6",
                        label.text, s->condim);
  }
  if (g->type == TB_GEOM_PLANE && !c->body[s->body].is_static) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s,
                        "%s: a plane must belong to a body that cannot move", label.text);
  }
  // Sizes from the height field, from the mesh, or as given.
  if (g->hfield >= 0) {
    const tbReal* h = c->spec->hfield[g->hfield].size;
    tb_set3(g->size, h[0], h[1], 0.25 * h[2] + 0.5 * h[3]);
  } else if (g->mesh >= 0) {
    result = place_on_mesh(c, s, g);
  } else {
    tb_copy3(g->size, s->size);
  }
  if (!result) result = check_size(c, s, label.text, g);
  if (!result) result = set_mass(c, s, label.text, g);
  if (!result) set_bounds(c, g);
  return result;
}

tbResult tb_compile_geoms(tbCompile* c) {
  const tbFlat* spec = c->spec;
  c->geom = TB_ARENA_NEW(&c->arena, tbCompileGeom, (size_t)spec->ngeom + 1);
  c->site = TB_ARENA_NEW(&c->arena, tbCompileFrame, (size_t)spec->nsite + 1);
  c->camera = TB_ARENA_NEW(&c->arena, tbCompileFrame, (size_t)spec->ncamera + 1);
  c->light = TB_ARENA_NEW(&c->arena, tbCompileFrame, (size_t)spec->nlight + 1);
  if (!c->geom || !c->site || !c->camera || !c->light) {
    return tb_fail(c->error, TB_ERROR_MEMORY, "out of memory");
  }
  for (int i = 0; i < spec->ngeom; i++) {
    tbResult result = compile_geom(c, i);
    if (result) return result;
  }
  for (int i = 0; i < spec->nsite; i++) {
    const tbFlatSite* s = &spec->site[i];
    tbCompileLabel label = tb_compile_label("site", s->name, i);
    c->site[i].body = s->body;
    tb_copy3(c->site[i].pos, s->pos);
    memcpy(c->site[i].quat, s->quat, sizeof s->quat);
    tbResult result = tb_compile_finite(c, s->source, s->line, label.text, s->pos, 3);
    if (!result) result = tb_compile_finite(c, s->source, s->line, label.text, s->quat, 4);
    if (!result) result = tb_compile_finite(c, s->source, s->line, label.text, s->size, 3);
    if (result) return result;
  }
  for (int i = 0; i < spec->ncamera; i++) {
    const tbFlatCamera* camera = &spec->camera[i];
    if (!(camera->fovy < 180)) {
      return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, camera,
                          "%s: fovy is %g degrees, expected less than 180",
                          tb_compile_label("camera", camera->name, i).text, camera->fovy);
    }
    c->camera[i].body = camera->body;
    tb_copy3(c->camera[i].pos, spec->camera[i].pos);
    memcpy(c->camera[i].quat, spec->camera[i].quat, sizeof c->camera[i].quat);
  }
  for (int i = 0; i < spec->nlight; i++) {
    c->light[i].body = spec->light[i].body;
    tb_copy3(c->light[i].pos, spec->light[i].pos);
    tb_quat_identity(c->light[i].quat);
  }
  return TB_OK;
}

// ---- copies -------------------------------------------------------------------------------------

static void copy_rgba(float target[4], const tbReal rgba[4]) {
  for (int k = 0; k < 4; k++) target[k] = (float)rgba[k];
}

void tb_compile_copy_geoms(const tbCompile* c, tbModel* m) {
  const size_t real = sizeof(tbReal);
  for (int i = 0; i < c->spec->ngeom; i++) {
    int id = c->geom_id[i];
    if (id < 0) continue;
    const tbFlatGeom* s = &c->spec->geom[i];
    const tbCompileGeom* g = &c->geom[i];
    m->geom_type[id] = g->type;
    m->geom_contype[id] = s->contype;
    m->geom_conaffinity[id] = s->conaffinity;
    m->geom_condim[id] = s->condim;
    m->geom_bodyid[id] = c->body_id[g->frame.body];
    m->geom_dataid[id] = g->mesh >= 0 ? c->mesh_id[g->mesh] : g->hfield;
    m->geom_group[id] = s->group;
    m->geom_priority[id] = s->priority;
    m->geom_fluid[id] = s->fluidshape;
    memcpy(m->geom_size + 3 * id, g->size, 3 * real);
    memcpy(m->geom_aabb + 6 * id, g->aabb, 6 * real);
    m->geom_rbound[id] = g->rbound;
    memcpy(m->geom_pos + 3 * id, g->frame.pos, 3 * real);
    memcpy(m->geom_quat + 4 * id, g->frame.quat, 4 * real);
    memcpy(m->geom_friction + 3 * id, s->friction, 3 * real);
    m->geom_solmix[id] = s->solmix;
    memcpy(m->geom_solref + TB_NREF * id, s->solref, TB_NREF * real);
    memcpy(m->geom_solimp + TB_NIMP * id, s->solimp, TB_NIMP * real);
    m->geom_margin[id] = s->margin;
    m->geom_gap[id] = s->gap;
    m->geom_restitution[id] = s->restitution;
    m->geom_compliance[id] = s->compliance;
    m->geom_tangentcompliance[id] = s->tangentcompliance;
    m->geom_contactdamping[id] = s->contactdamping;
    memcpy(m->geom_fluidcoef + 5 * id, s->fluidcoef, 5 * real);
    copy_rgba(m->geom_rgba + 4 * id, s->rgba);
    tb_compile_copy_user(m->geom_user, id, m->nuser_geom, &s->user);
  }
}

// Focal lengths and principal point are in metres or pixels of a sensor of known size; without one
// the field of view is used.
static void copy_lens(tbModel* m, int id, const tbFlatCamera* s) {
  tbReal* lens = m->cam_intrinsic + 4 * id;
  m->cam_fovy[id] = s->fovy;
  lens[0] = lens[1] = 0.01;
  for (int k = 0; k < 2; k++) {
    m->cam_resolution[2 * id + k] = s->resolution[k];
    m->cam_sensorsize[2 * id + k] = s->sensorsize[k];
  }
  if (!(s->sensorsize[0] > 0 && s->sensorsize[1] > 0)) return;
  for (int k = 0; k < 2; k++) {
    tbReal pixel = s->sensorsize[k] / s->resolution[k];
    lens[k] = s->focalpixel[k] * pixel + s->focal[k];
    lens[2 + k] = s->principalpixel[k] * pixel + s->principal[k];
  }
  m->cam_fovy[id] = 2 * tb_atan2(s->sensorsize[1] / 2, lens[1]) * 180 / 3.14159265358979323846;
}

void tb_compile_copy_frames(const tbCompile* c, tbModel* m) {
  const tbFlat* spec = c->spec;
  const size_t real = sizeof(tbReal);
  for (int i = 0; i < spec->nsite; i++) {
    int id = c->site_id[i];
    const tbFlatSite* s = &spec->site[i];
    m->site_type[id] = s->type;
    m->site_bodyid[id] = c->body_id[c->site[i].body];
    m->site_group[id] = s->group;
    memcpy(m->site_size + 3 * id, s->size, 3 * real);
    memcpy(m->site_pos + 3 * id, c->site[i].pos, 3 * real);
    memcpy(m->site_quat + 4 * id, c->site[i].quat, 4 * real);
    copy_rgba(m->site_rgba + 4 * id, s->rgba);
    tb_compile_copy_user(m->site_user, id, m->nuser_site, &s->user);
  }
  for (int i = 0; i < spec->ncamera; i++) {
    int id = c->camera_id[i];
    m->cam_bodyid[id] = c->body_id[c->camera[i].body];
    memcpy(m->cam_pos + 3 * id, c->camera[i].pos, 3 * real);
    memcpy(m->cam_quat + 4 * id, c->camera[i].quat, 4 * real);
    copy_lens(m, id, &spec->camera[i]);
    int target = tb_compile_find(c, TB_FLAT_body, spec->camera[i].target);
    m->cam_mode[id] = spec->camera[i].mode;
    m->cam_targetbodyid[id] = target < 0 ? -1 : c->body_id[target];
  }
  for (int i = 0; i < spec->nlight; i++) {
    int id = c->light_id[i];
    m->light_bodyid[id] = c->body_id[c->light[i].body];
    memcpy(m->light_pos + 3 * id, c->light[i].pos, 3 * real);
    tb_quat_rotate(m->light_dir + 3 * id, c->light[i].quat, spec->light[i].dir);
    tb_normalize3(m->light_dir + 3 * id);
  }
}
