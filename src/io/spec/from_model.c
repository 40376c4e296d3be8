#include "io/spec/from_model.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/minmax.h"
#include "io/flat_tables.h"
#include "io/mesh/mesh.h"
#include "io/spec/from_flat.h"
#include "model/equality_kinds.h"
#include "model/joint_kinds.h"
#include "model/transmission_kinds.h"
#include "spatial/vec3.h"

typedef struct {
  const tbModel* m;
  tbFlat* flat;
  tbError* error;
} Input;

static bool no_memory(const Input* in) {
  tb_fail(in->error, TB_ERROR_MEMORY, "out of memory");
  return false;
}

static bool refuse(const Input* in, const char* kind, const char* name, int id, const char* why) {
  char number[16];
  snprintf(number, sizeof number, "%d", id);
  tb_fail(in->error, TB_ERROR_UNSUPPORTED, "%s %s%s%s: %s", kind, *name ? "'" : "",
          *name ? name : number, *name ? "'" : "", why);
  return false;
}

static const char* name_or_null(const tbModel* m, tbObjType type, int id) {
  const char* name = tb_id2name(m, type, id);
  return *name ? name : NULL;
}

// The name of an element that another one refers to. One without a name is given one.
static const char* refer(const Input* in, tbFlatKind kind, int id) {
  tbFlat* flat = in->flat;
  if (id < 0) return NULL;
  tbFlatElement* element = tb_flat_at(flat, kind, id);
  if (element->name) return element->name;
  const char* word = tb_flat_kind_info(kind)->name;
  const char* name = tb_flat_format(flat, "%s%d", word, id);
  for (int i = 0; name && tb_flat_find(flat, kind, name) >= 0; i++) {
    name = tb_flat_format(flat, "%s%d_%d", word, id, i);
  }
  return element->name = name;
}

// The user values of an element, if it has any that is not zero: the sizes are explicit.
static tbFlatList user(tbReal* values, int row, int width) {
  tbFlatList list = {0, NULL};
  tbReal* first = values + (size_t)row * (size_t)width;
  for (int i = 0; i < width; i++) {
    if (first[i] != 0) list = (tbFlatList){width, first};
  }
  return list;
}

#define COPY(target, array, id) \
  memcpy((target), (array) + (sizeof(target) / sizeof *(target)) * (size_t)(id), sizeof(target))

// A flag as the file would give it: nothing where an empty range says the same.
static int flag(int on, const tbReal range[2]) {
  return !on && !tb_flat_limited(TB_AUTO, range) ? TB_AUTO : on;
}

static void copy_rgba(tbReal rgba[4], const float* values, int id) {
  for (int k = 0; k < 4; k++) rgba[k] = values[4 * id + k];
}

// ---- bodies and joints --------------------------------------------------------------------------

static bool read_bodies(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->nbody; i++) {
    tbFlatBody* b = i ? tb_flat_add_body(in->flat) : &in->flat->body[0];
    if (!b) return no_memory(in);
    b->user = user(m->body_user, i, m->nuser_body);
    if (i == 0) continue;
    b->name = name_or_null(m, TB_OBJ_BODY, i);
    b->parent = m->body_parentid[i];
    b->mocap = m->body_mocapid[i] >= 0;
    b->gravcomp = m->body_gravcomp[i];
    COPY(b->pos, m->body_pos, i);
    COPY(b->quat, m->body_quat, i);
    COPY(b->own_pos, m->body_pos, i);
    COPY(b->own_quat, m->body_quat, i);
    tbFlatInertial* inertial = &b->inertial;
    *inertial = tb_flat_initial_inertial();
    b->has_inertial = true;
    inertial->mass = m->body_mass[i];
    COPY(inertial->pos, m->body_ipos, i);
    COPY(inertial->quat, m->body_iquat, i);
    COPY(inertial->diaginertia, m->body_inertia, i);
    TB_SET_GIVEN(inertial, inertial, mass);
    TB_SET_GIVEN(inertial, inertial, pos);
    TB_SET_GIVEN(inertial, inertial, diaginertia);
    const tbReal* I = inertial->diaginertia;
    tbReal largest = tb_max(I[0], tb_max(I[1], I[2]));
    // The tolerance of the compiler's check.
    if (I[0] + I[1] + I[2] - largest < largest * (1 - 1e-12)) in->flat->compiler->keepmoments = 1;
  }
  return true;
}

static bool same(const tbReal* values, int n, int width) {
  for (int i = 1; i < n; i++) {
    if (memcmp(values, values + i * width, sizeof(tbReal) * (size_t)width) != 0) return false;
  }
  return true;
}

// MJCF has one value per joint, and the reference pose of free and ball joints is the body's.
static bool check_joint(const Input* in, int i, int nv) {
  const tbModel* m = in->m;
  const char* name = tb_id2name(m, TB_OBJ_JOINT, i);
  int dof = m->jnt_dofadr[i];
  if (!same(m->dof_solref + TB_NREF * dof, nv, TB_NREF) ||
      !same(m->dof_solimp + TB_NIMP * dof, nv, TB_NIMP) ||
      !same(m->dof_frictionloss + dof, nv, 1) || !same(m->dof_armature + dof, nv, 1) ||
      !same(m->dof_damping + dof, nv, 1)) {
    return refuse(in, "joint", name, i, "its dofs differ, but MJCF has one value per joint");
  }
  const tbReal *q = m->qpos0 + m->jnt_qposadr[i], *spring = m->qpos_spring + m->jnt_qposadr[i];
  const tbReal identity[4] = {1, 0, 0, 0};
  bool good = true;
  if (tb_joint_floats(m->jnt_type[i])) {
    int body = m->jnt_bodyid[i];
    good = memcmp(q, m->body_pos + 3 * body, 3 * sizeof *q) == 0 &&
           memcmp(q + 3, m->body_quat + 4 * body, 4 * sizeof *q) == 0 &&
           memcmp(q, spring, 7 * sizeof *q) == 0;
  } else if (tb_joint_is_rotation(m->jnt_type[i])) {
    good = memcmp(q, identity, sizeof identity) == 0 && memcmp(spring, q, sizeof identity) == 0;
  }
  return good || refuse(in, "joint", name, i,
                        "qpos0 or qpos_spring is not the body's pose, as MJCF requires");
}

static bool read_joints(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->njnt; i++) {
    tbFlatJoint* j = tb_flat_add_joint(in->flat);
    if (!j) return no_memory(in);
    int dof = m->jnt_dofadr[i], adr = m->jnt_qposadr[i], type = m->jnt_type[i];
    if (!check_joint(in, i, tb_joint_nv(type))) return false;
    j->name = name_or_null(m, TB_OBJ_JOINT, i);
    j->body = m->jnt_bodyid[i];
    j->type = type;
    j->group = m->jnt_group[i];
    j->limited = flag(m->jnt_limited[i], m->jnt_range + 2 * i);
    j->actuatorfrclimited = flag(m->jnt_actfrclimited[i], m->jnt_actfrcrange + 2 * i);
    j->actuatorgravcomp = m->jnt_actgravcomp[i];
    COPY(j->solreflimit, m->jnt_solref, i);
    COPY(j->solimplimit, m->jnt_solimp, i);
    COPY(j->pos, m->jnt_pos, i);
    tb_spec_before_normalizing(j->axis, m->jnt_axis + 3 * i, 3, 1);
    COPY(j->range, m->jnt_range, i);
    COPY(j->actuatorfrcrange, m->jnt_actfrcrange, i);
    COPY(j->solreffriction, m->dof_solref, dof);
    COPY(j->solimpfriction, m->dof_solimp, dof);
    j->stiffness[0] = m->jnt_stiffness[i];
    j->margin = m->jnt_margin[i];
    j->armature = m->dof_armature[dof];
    j->damping[0] = m->dof_damping[dof];
    j->frictionloss = m->dof_frictionloss[dof];
    j->user = user(m->jnt_user, i, m->nuser_jnt);
    if (!tb_joint_is_scalar(type)) continue;
    j->ref = m->qpos0[adr];
    j->springref = m->qpos_spring[adr];
  }
  return true;
}

// ---- meshes and height fields -------------------------------------------------------------------

// How the mesh is to be processed so that the result is the same: the volume that is computed (the
// file's choice is not in the model), and how many vertices the hull has.
static bool choose_processing(const Input* in, tbFlatMesh* mesh, int id) {
  const tbModel* m = in->m;
  tbArena arena;
  tb_arena_init(&arena);
  bool has_hull = m->mesh_hullvertadr[id] >= 0, needed = false;
  for (int i = 0; i < m->ngeom; i++) {
    needed = needed || (m->geom_type[i] == TB_GEOM_MESH && m->geom_dataid[i] == id);
  }
  tbMeshData data = {m->mesh_vertnum[id], m->mesh_facenum[id],
                     m->mesh_vert + 3 * (size_t)m->mesh_vertadr[id],
                     m->mesh_face + 3 * (size_t)m->mesh_faceadr[id]};
  tbMeshOptions options = tb_mesh_default_options();
  options.centred = true;
  options.need_hull = has_hull;
  if (has_hull && !needed) options.inertia = TB_MESH_CONVEX;
  tbMesh result = {0};
  const char* name = mesh->name ? mesh->name : "";
  bool good = tb_mesh_process(&result, &arena, name, &data, &options, NULL) == TB_OK;
  if (!good) {
    options.inertia = TB_MESH_SHELL;
    good = tb_mesh_process(&result, &arena, name, &data, &options, in->error) == TB_OK;
  }
  mesh->inertia = options.inertia;
  if (good && has_hull && result.hull.nvert > m->mesh_hullvertnum[id]) {
    mesh->maxhullvert = m->mesh_hullvertnum[id];
  }
  tb_arena_free(&arena);
  return good;
}

static bool read_meshes(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->nmesh; i++) {
    tbFlatMesh* mesh = tb_flat_add_mesh(in->flat);
    int nface = 3 * m->mesh_facenum[i];
    tbReal* face = TB_ARENA_NEW(&in->flat->arena, tbReal, nface + 1);
    if (!mesh || !face) return no_memory(in);
    const int* from = m->mesh_face + 3 * (size_t)m->mesh_faceadr[i];
    for (int k = 0; k < nface; k++) face[k] = from[k];
    mesh->name = name_or_null(m, TB_OBJ_MESH, i);
    mesh->vertex =
        (tbFlatList){3 * m->mesh_vertnum[i], m->mesh_vert + 3 * (size_t)m->mesh_vertadr[i]};
    mesh->face = (tbFlatList){nface, face};
    COPY(mesh->scale, m->mesh_scale, i);
    tb_copy3(mesh->pose, m->mesh_pos + 3 * i);
    memcpy(mesh->pose + 3, m->mesh_quat + 4 * i, 4 * sizeof(tbReal));
    TB_SET_GIVEN(mesh, mesh, pose);
    if (!refer(in, TB_FLAT_mesh, i) || !choose_processing(in, mesh, i)) return false;
  }
  return true;
}

static bool read_hfields(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->nhfield; i++) {
    tbFlatHField* h = tb_flat_add_hfield(in->flat);
    int nrow = m->hfield_nrow[i], ncol = m->hfield_ncol[i];
    tbReal* elevation = TB_ARENA_NEW(&in->flat->arena, tbReal, (size_t)nrow * (size_t)ncol);
    if (!h || !elevation) return no_memory(in);
    h->name = name_or_null(m, TB_OBJ_HFIELD, i);
    h->nrow = nrow;
    h->ncol = ncol;
    COPY(h->size, m->hfield_size, i);
    TB_SET_GIVEN(hfield, h, size);
    // The file's first row is the model's last.
    const tbReal* data = m->hfield_data + m->hfield_adr[i];
    tbReal low = data[0], high = data[0];
    for (int r = 0; r < nrow; r++) {
      memcpy(elevation + (size_t)r * (size_t)ncol, data + (size_t)(nrow - 1 - r) * (size_t)ncol,
             sizeof *data * (size_t)ncol);
    }
    for (int k = 0; k < nrow * ncol; k++) {
      low = tb_min(low, data[k]);
      high = tb_max(high, data[k]);
    }
    if (high > 0 || low < 0) h->elevation = (tbFlatList){nrow * ncol, elevation};
    if (h->elevation.n && !(low == 0 && high == 1)) {
      return refuse(in, "hfield", h->name ? h->name : "", i,
                    "MJCF scales the samples to the range from 0 to 1, which these do not have");
    }
    if (!refer(in, TB_FLAT_hfield, i)) return no_memory(in);
  }
  return true;
}

// ---- geoms, sites, cameras, lights --------------------------------------------------------------

static bool read_geoms(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->ngeom; i++) {
    tbFlatGeom* g = tb_flat_add_geom(in->flat);
    if (!g) return no_memory(in);
    g->name = name_or_null(m, TB_OBJ_GEOM, i);
    g->body = m->geom_bodyid[i];
    g->type = m->geom_type[i];
    g->contype = m->geom_contype[i];
    g->conaffinity = m->geom_conaffinity[i];
    g->condim = m->geom_condim[i];
    g->group = m->geom_group[i];
    g->priority = m->geom_priority[i];
    g->fluidshape = m->geom_fluid[i];
    COPY(g->pos, m->geom_pos, i);
    COPY(g->quat, m->geom_quat, i);
    COPY(g->friction, m->geom_friction, i);
    COPY(g->solref, m->geom_solref, i);
    COPY(g->solimp, m->geom_solimp, i);
    COPY(g->fluidcoef, m->geom_fluidcoef, i);
    g->solmix = m->geom_solmix[i];
    g->margin = m->geom_margin[i];
    g->gap = m->geom_gap[i];
    g->restitution = m->geom_restitution[i];
    g->compliance = m->geom_compliance[i];
    g->tangentcompliance = m->geom_tangentcompliance[i];
    g->contactdamping = m->geom_contactdamping[i];
    copy_rgba(g->rgba, m->geom_rgba, i);
    g->user = user(m->geom_user, i, m->nuser_geom);
    if (g->type == TB_GEOM_MESH) {
      g->mesh = refer(in, TB_FLAT_mesh, m->geom_dataid[i]);
    } else if (g->type == TB_GEOM_HFIELD) {
      g->hfield = refer(in, TB_FLAT_hfield, m->geom_dataid[i]);
    } else {
      COPY(g->size, m->geom_size, i);
      TB_SET_GIVEN(geom, g, size);
    }
  }
  return true;
}

static bool read_sites(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->nsite; i++) {
    tbFlatSite* s = tb_flat_add_site(in->flat);
    if (!s) return no_memory(in);
    s->name = name_or_null(m, TB_OBJ_SITE, i);
    s->body = m->site_bodyid[i];
    s->type = m->site_type[i];
    s->group = m->site_group[i];
    COPY(s->size, m->site_size, i);
    COPY(s->pos, m->site_pos, i);
    COPY(s->quat, m->site_quat, i);
    copy_rgba(s->rgba, m->site_rgba, i);
    s->user = user(m->site_user, i, m->nuser_site);
  }
  return true;
}

static bool read_cameras(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->ncam; i++) {
    tbFlatCamera* c = tb_flat_add_camera(in->flat);
    if (!c) return no_memory(in);
    c->name = name_or_null(m, TB_OBJ_CAMERA, i);
    c->body = m->cam_bodyid[i];
    COPY(c->pos, m->cam_pos, i);
    COPY(c->quat, m->cam_quat, i);
    COPY(c->resolution, m->cam_resolution, i);
    COPY(c->sensorsize, m->cam_sensorsize, i);
    c->mode = m->cam_mode[i];
    c->target = refer(in, TB_FLAT_body, m->cam_targetbodyid[i]);
    if (c->sensorsize[0] > 0 && c->sensorsize[1] > 0) {
      memcpy(c->focal, m->cam_intrinsic + 4 * i, sizeof c->focal);
      memcpy(c->principal, m->cam_intrinsic + 4 * i + 2, sizeof c->principal);
    } else {
      c->fovy = m->cam_fovy[i];
    }
  }
  for (int i = 0; i < m->nlight; i++) {
    tbFlatLight* l = tb_flat_add_light(in->flat);
    if (!l) return no_memory(in);
    l->name = name_or_null(m, TB_OBJ_LIGHT, i);
    l->body = m->light_bodyid[i];
    COPY(l->pos, m->light_pos, i);
    tb_spec_before_normalizing(l->dir, m->light_dir + 3 * i, 3, 1);
  }
  return true;
}

// ---- contacts and equalities --------------------------------------------------------------------

static bool read_contacts(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->npair; i++) {
    tbFlatPair* p = tb_flat_add_pair(in->flat);
    if (!p) return no_memory(in);
    p->name = name_or_null(m, TB_OBJ_PAIR, i);
    p->geom1 = refer(in, TB_FLAT_geom, m->pair_geom1[i]);
    p->geom2 = refer(in, TB_FLAT_geom, m->pair_geom2[i]);
    p->condim = m->pair_dim[i];
    COPY(p->solref, m->pair_solref, i);
    COPY(p->solreffriction, m->pair_solreffriction, i);
    COPY(p->solimp, m->pair_solimp, i);
    COPY(p->friction, m->pair_friction, i);
    COPY(p->comfree, m->pair_comfree, i);
    p->margin = m->pair_margin[i];
    p->gap = m->pair_gap[i];
    p->restitution = m->pair_restitution[i];
    p->compliance = m->pair_compliance[i];
    p->tangentcompliance = m->pair_tangentcompliance[i];
    p->contactdamping = m->pair_contactdamping[i];
  }
  for (int i = 0; i < m->nexclude; i++) {
    tbFlatExclude* e = tb_flat_add_exclude(in->flat);
    if (!e) return no_memory(in);
    e->name = name_or_null(m, TB_OBJ_EXCLUDE, i);
    e->body1 = refer(in, TB_FLAT_body, m->exclude_body1[i]);
    e->body2 = refer(in, TB_FLAT_body, m->exclude_body2[i]);
  }
  return true;
}

static void equality_objects(const Input* in, tbFlatEquality* e, int i) {
  const tbReal* data = in->m->eq_data + TB_NEQDATA * i;
  int first = in->m->eq_obj1id[i], second = in->m->eq_obj2id[i];
  switch (in->m->eq_objtype[i]) {
    case TB_OBJ_JOINT:
      e->joint1 = refer(in, TB_FLAT_joint, first);
      e->joint2 = refer(in, TB_FLAT_joint, second);
      memcpy(e->polycoef, data, sizeof e->polycoef);
      break;
    case TB_OBJ_TENDON:
      e->tendon1 = refer(in, TB_FLAT_tendon, first);
      e->tendon2 = refer(in, TB_FLAT_tendon, second);
      memcpy(e->polycoef, data, sizeof e->polycoef);
      break;
    case TB_OBJ_SITE:
      e->site1 = refer(in, TB_FLAT_site, first);
      e->site2 = refer(in, TB_FLAT_site, second);
      break;
    default:
      e->body1 = refer(in, TB_FLAT_body, first);
      e->body2 = refer(in, TB_FLAT_body, second);
      memcpy(e->anchor, data, sizeof e->anchor);
      TB_SET_GIVEN(equality, e, anchor);
      if (tb_equality_ends(in->m, i) == TB_ENDS_FRAMES)
        memcpy(e->relpose, data + 3, sizeof e->relpose);
  }
}

static bool read_equalities(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->neq; i++) {
    tbFlatEquality* e = tb_flat_add_equality(in->flat);
    if (!e) return no_memory(in);
    e->name = name_or_null(m, TB_OBJ_EQUALITY, i);
    e->type = m->eq_type[i];
    e->active = m->eq_active0[i];
    COPY(e->solref, m->eq_solref, i);
    COPY(e->solimp, m->eq_solimp, i);
    if (tb_equality_ends(m, i) == TB_ENDS_FRAMES) e->torquescale = m->eq_data[TB_NEQDATA * i + 10];
    equality_objects(in, e, i);
  }
  return true;
}

// The flat spec's kind of a type of object.
static tbFlatKind kind_of(int type) {
  switch (type) {
    case TB_OBJ_BODY:
    case TB_OBJ_XBODY: return TB_FLAT_body;
    case TB_OBJ_JOINT: return TB_FLAT_joint;
    case TB_OBJ_GEOM: return TB_FLAT_geom;
    case TB_OBJ_SITE: return TB_FLAT_site;
    case TB_OBJ_CAMERA: return TB_FLAT_camera;
    case TB_OBJ_LIGHT: return TB_FLAT_light;
    case TB_OBJ_MESH: return TB_FLAT_mesh;
    case TB_OBJ_HFIELD: return TB_FLAT_hfield;
    case TB_OBJ_PAIR: return TB_FLAT_pair;
    case TB_OBJ_EXCLUDE: return TB_FLAT_exclude;
    case TB_OBJ_EQUALITY: return TB_FLAT_equality;
    case TB_OBJ_TENDON: return TB_FLAT_tendon;
    case TB_OBJ_ACTUATOR: return TB_FLAT_actuator;
    case TB_OBJ_SENSOR: return TB_FLAT_sensor;
    case TB_OBJ_NUMERIC: return TB_FLAT_numeric;
    case TB_OBJ_TEXT: return TB_FLAT_text;
    case TB_OBJ_TUPLE: return TB_FLAT_tuple;
    case TB_OBJ_KEY: return TB_FLAT_key;
    default: return TB_NFLATKINDS;
  }
}

// ---- tendons and actuators ----------------------------------------------------------------------

static bool read_wrap(const Input* in, int k) {
  static const tbFlatKind KINDS[] = {[TB_WRAP_JOINT] = TB_FLAT_joint,
                                     [TB_WRAP_SITE] = TB_FLAT_site,
                                     [TB_WRAP_SPHERE] = TB_FLAT_geom,
                                     [TB_WRAP_CYLINDER] = TB_FLAT_geom};
  const tbModel* m = in->m;
  tbFlatWrap* w = tb_flat_add_wrap(in->flat);
  if (!w) return no_memory(in);
  w->type = m->wrap_type[k];
  w->prm = m->wrap_prm[k];
  if (w->type != TB_WRAP_PULLEY) w->target = refer(in, KINDS[w->type], m->wrap_objid[k]);
  if (w->type == TB_WRAP_SPHERE || w->type == TB_WRAP_CYLINDER) {
    w->sidesite = refer(in, TB_FLAT_site, (int)m->wrap_prm[k]);
  }
  return true;
}

static bool read_tendons(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->ntendon; i++) {
    tbFlatTendon* t = tb_flat_add_tendon(in->flat);
    if (!t) return no_memory(in);
    int adr = m->tendon_adr[i], num = m->tendon_num[i];
    t->name = name_or_null(m, TB_OBJ_TENDON, i);
    t->type = num && m->wrap_type[adr] == TB_WRAP_JOINT ? TB_TENDON_FIXED : TB_TENDON_SPATIAL;
    t->wrapadr = in->flat->nwrap;
    t->wrapnum = num;
    t->group = m->tendon_group[i];
    t->limited = flag(m->tendon_limited[i], m->tendon_range + 2 * i);
    t->actuatorfrclimited = flag(m->tendon_actfrclimited[i], m->tendon_actfrcrange + 2 * i);
    COPY(t->range, m->tendon_range, i);
    COPY(t->actuatorfrcrange, m->tendon_actfrcrange, i);
    COPY(t->solreflimit, m->tendon_solref_lim, i);
    COPY(t->solimplimit, m->tendon_solimp_lim, i);
    COPY(t->solreffriction, m->tendon_solref_fri, i);
    COPY(t->solimpfriction, m->tendon_solimp_fri, i);
    COPY(t->springlength, m->tendon_lengthspring, i);
    t->margin = m->tendon_margin[i];
    t->stiffness[0] = m->tendon_stiffness[i];
    t->damping[0] = m->tendon_damping[i];
    t->armature = m->tendon_armature[i];
    t->frictionloss = m->tendon_frictionloss[i];
    copy_rgba(t->rgba, m->tendon_rgba, i);
    t->user = user(m->tendon_user, i, m->nuser_tendon);
    for (int k = 0; k < num; k++) {
      if (!read_wrap(in, adr + k)) return false;
    }
  }
  return true;
}

static void read_transmission(const Input* in, tbFlatActuator* a, int i) {
  int type = in->m->actuator_trntype[i];
  a->trntype = type;
  for (int k = 0; k < 2; k++) {
    const char** name = tb_flat_transmission(a, type, k);
    tbFlatKind kind = kind_of(tb_transmission_kinds[type].first);
    if (name) *name = refer(in, kind, in->m->actuator_trnid[2 * i + k]);
  }
}

static bool read_actuators(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->nu; i++) {
    tbFlatActuator* a = tb_flat_add_actuator(in->flat);
    if (!a) return no_memory(in);
    a->name = name_or_null(m, TB_OBJ_ACTUATOR, i);
    a->dyntype = m->actuator_dyntype[i];
    a->gaintype = m->actuator_gaintype[i];
    a->biastype = m->actuator_biastype[i];
    a->actdim = m->actuator_actnum[i] > 1 ? m->actuator_actnum[i] : -1;
    a->group = m->actuator_group[i];
    a->ctrllimited = flag(m->actuator_ctrllimited[i], m->actuator_ctrlrange + 2 * i);
    a->forcelimited = flag(m->actuator_forcelimited[i], m->actuator_forcerange + 2 * i);
    a->actlimited = flag(m->actuator_actlimited[i], m->actuator_actrange + 2 * i);
    a->actearly = m->actuator_actearly[i];
    COPY(a->dynprm, m->actuator_dynprm, i);
    COPY(a->gainprm, m->actuator_gainprm, i);
    COPY(a->biasprm, m->actuator_biasprm, i);
    COPY(a->ctrlrange, m->actuator_ctrlrange, i);
    COPY(a->forcerange, m->actuator_forcerange, i);
    COPY(a->actrange, m->actuator_actrange, i);
    COPY(a->lengthrange, m->actuator_lengthrange, i);
    COPY(a->gear, m->actuator_gear, i);
    a->cranklength = m->actuator_cranklength[i];
    a->user = user(m->actuator_user, i, m->nuser_actuator);
    read_transmission(in, a, i);
  }
  return true;
}

// ---- sensors and custom fields ------------------------------------------------------------------

static const char* refer_object(const Input* in, int type, int id) {
  tbFlatKind kind = kind_of(type);
  return kind == TB_NFLATKINDS ? NULL : refer(in, kind, id);
}

static bool read_sensors(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->nsensor; i++) {
    tbFlatSensor* s = tb_flat_add_sensor(in->flat);
    if (!s) return no_memory(in);
    s->name = name_or_null(m, TB_OBJ_SENSOR, i);
    s->type = m->sensor_type[i];
    s->objtype = m->sensor_objtype[i];
    s->reftype = m->sensor_reftype[i];
    COPY(s->intprm, m->sensor_intprm, i);
    s->cutoff = m->sensor_cutoff[i];
    s->noise = m->sensor_noise[i];
    if (s->type == TB_SENS_USER) s->dim = m->sensor_dim[i];
    s->user = user(m->sensor_user, i, m->nuser_sensor);
  }
  // Sensors may refer to sensors.
  for (int i = 0; i < m->nsensor; i++) {
    const char* object = refer_object(in, m->sensor_objtype[i], m->sensor_objid[i]);
    const char* reference = refer_object(in, m->sensor_reftype[i], m->sensor_refid[i]);
    in->flat->sensor[i].objname = object;
    in->flat->sensor[i].refname = reference;
  }
  return true;
}

static bool read_fields(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->nnumeric; i++) {
    tbFlatNumeric* n = tb_flat_add_numeric(in->flat);
    if (!n) return no_memory(in);
    n->name = name_or_null(m, TB_OBJ_NUMERIC, i);
    n->size = m->numeric_size[i];
    n->data = (tbFlatList){n->size, m->numeric_data + m->numeric_adr[i]};
  }
  for (int i = 0; i < m->ntext; i++) {
    tbFlatTextField* t = tb_flat_add_text(in->flat);
    if (!t) return no_memory(in);
    t->name = name_or_null(m, TB_OBJ_TEXT, i);
    t->data = m->text_data + m->text_adr[i];
  }
  return true;
}

static bool read_keys(const Input* in) {
  const tbModel* m = in->m;
  int na = m->na, nu = m->nu, nmocap = m->nmocap;
#define ROW(array, width) ((tbFlatList){(width), m->array + (size_t)i * (size_t)(width)})
  for (int i = 0; i < m->nkey; i++) {
    tbFlatKey* k = tb_flat_add_key(in->flat);
    if (!k) return no_memory(in);
    k->name = name_or_null(m, TB_OBJ_KEY, i);
    k->time = m->key_time[i];
    k->qpos = ROW(key_qpos, m->nq);
    k->qvel = ROW(key_qvel, m->nv);
    k->act = ROW(key_act, na);
    k->ctrl = ROW(key_ctrl, nu);
    k->mpos = ROW(key_mpos, 3 * nmocap);
    k->mquat = ROW(key_mquat, 4 * nmocap);
  }
#undef ROW
  return true;
}

static bool read_tuples(const Input* in) {
  const tbModel* m = in->m;
  for (int i = 0; i < m->ntuple; i++) {
    tbFlatTuple* t = tb_flat_add_tuple(in->flat);
    if (!t) return no_memory(in);
    t->name = name_or_null(m, TB_OBJ_TUPLE, i);
    t->itemadr = in->flat->ntupleitem;
    t->itemnum = m->tuple_size[i];
    for (int k = m->tuple_adr[i]; k < m->tuple_adr[i] + m->tuple_size[i]; k++) {
      tbFlatTupleItem* item = tb_flat_add_tupleitem(in->flat);
      if (!item) return no_memory(in);
      item->objtype = m->tuple_objtype[k];
      item->prm = m->tuple_objprm[k];
    }
  }
  for (int k = 0; k < m->ntupledata; k++) {
    in->flat->tupleitem[k].objname = refer_object(in, m->tuple_objtype[k], m->tuple_objid[k]);
  }
  return true;
}

static void read_settings(const Input* in) {
  const tbModel* m = in->m;
  tbFlat* flat = in->flat;
  flat->model_name = *m->names ? m->names : NULL;
  flat->option = m->opt;
  flat->size.nuserdata = m->nuserdata;
  if (m->nuser_body) flat->size.nuser_body = m->nuser_body;
  if (m->nuser_jnt) flat->size.nuser_jnt = m->nuser_jnt;
  if (m->nuser_geom) flat->size.nuser_geom = m->nuser_geom;
  if (m->nuser_site) flat->size.nuser_site = m->nuser_site;
  if (m->nuser_tendon) flat->size.nuser_tendon = m->nuser_tendon;
  if (m->nuser_actuator) flat->size.nuser_actuator = m->nuser_actuator;
  if (m->nuser_sensor) flat->size.nuser_sensor = m->nuser_sensor;
  flat->statistic.extent = m->extent;
  flat->statistic.meaninertia = m->mean_inertia;
  if (m->extent > 0) TB_SET_GIVEN(statistic, &flat->statistic, extent);
  TB_SET_GIVEN(statistic, &flat->statistic, meaninertia);
}

tbFlat* tb_flat_from_model(const tbModel* m, tbError* error) {
  Input in = {m, tb_flat_new(error), error};
  if (!in.flat) return NULL;
  read_settings(&in);
  bool good = read_bodies(&in) && read_joints(&in) && read_meshes(&in) && read_hfields(&in) &&
              read_geoms(&in) && read_sites(&in) && read_cameras(&in) && read_contacts(&in) &&
              read_tendons(&in) && read_equalities(&in) && read_actuators(&in) &&
              read_fields(&in) && read_keys(&in) && read_sensors(&in) && read_tuples(&in);
  if (good && !in.flat->arena.failed) return in.flat;
  if (good) no_memory(&in);
  tb_flat_free(in.flat);
  return NULL;
}
