// Links: mass and inertia, collision and visual shapes.
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "io/urdf/internal.h"
#include "spatial/eig3.h"

// The six numbers of <inertia> as a matrix.
static bool read_inertia(tbUrdf* u, const xmlNode* node, tbReal I[9], bool* any) {
  static const struct {
    const char* name;
    int at, mirror;
  } ENTRY[] = {{"ixx", 0, 0}, {"iyy", 4, 4}, {"izz", 8, 8},
               {"ixy", 1, 3}, {"ixz", 2, 6}, {"iyz", 5, 7}};
  *any = false;
  for (int i = 0; i < 6; i++) {
    tbReal value = 0;
    if (!tb_urdf_numbers(u, node, ENTRY[i].name, 1, &value, NULL)) return false;
    I[ENTRY[i].at] = I[ENTRY[i].mirror] = value;
    *any = *any || value != 0;
  }
  return true;
}

bool tb_urdf_add_inertial(tbUrdf* u, tbUrdfLink* link) {
  const xmlNode* node = tb_urdf_child(link->node, "inertial");
  if (!node) {
    if (link->ncollision) {
      tb_flat_note(u->spec, u->path, tb_urdf_line(link->node),
                   "link without inertial: mass and inertia come from its collision geometry");
    }
    return true;
  }
  if (link->body == 0) return true;
  tbFlatBody* body = &u->spec->body[link->body];
  tbFlatInertial* inertial = &body->inertial;
  body->has_inertial = true;
  inertial->source = u->path;
  inertial->line = tb_urdf_line(node);
  inertial->compiler = u->spec->compiler;
  if (!tb_urdf_origin(u, node, inertial->pos, inertial->quat)) return false;
  const xmlNode* mass = tb_urdf_child(node, "mass");
  bool found = false;
  if (mass && !tb_urdf_numbers(u, mass, "value", 1, &inertial->mass, &found)) return false;
  if (!found) return tb_urdf_fail(u, TB_ERROR_PARSE, node, "expected <mass value=\"...\"/>");
  if (inertial->mass < 0) {
    return tb_urdf_fail(u, TB_ERROR_MODEL, mass, "the mass of link '%s' is negative (%g)",
                        link->name, inertial->mass);
  }

  // Principal moments and axes, in the frame of the inertial's origin.
  tbReal I[9] = {0}, axes[4];
  const xmlNode* inertia = tb_urdf_child(node, "inertia");
  bool any = false;
  if (inertia && !read_inertia(u, inertia, I, &any)) return false;
  if (any) {
    tb_eig3(inertial->diaginertia, axes, I);
    tb_quat_mul(inertial->quat, inertial->quat, axes);
    tb_quat_normalize(inertial->quat);
  }
  tbReal* J = inertial->diaginertia;
  // A rounding error of the eigenvalue computation counts as zero.
  if (fabs(J[2]) < 1e-12 * J[0]) J[2] = 0;
  if (J[2] < 0) {
    return tb_urdf_fail(u, TB_ERROR_MODEL, inertia,
                        "the inertia of link '%s' has a negative principal moment (%g)", link->name,
                        J[2]);
  }
  if (J[1] + J[2] < J[0] * (1 - 1e-12) && !u->spec->compiler->balanceinertia) {
    tb_flat_note(u->spec, u->path, tb_urdf_line(node),
                 "principal moments that no body can have (A + B < C) are kept as given");
  }
  TB_SET_GIVEN(inertial, inertial, pos);
  TB_SET_GIVEN(inertial, inertial, quat);
  TB_SET_GIVEN(inertial, inertial, mass);
  TB_SET_GIVEN(inertial, inertial, diaginertia);
  return true;
}

// Name of the mesh with this file and scale, which is added if it is new.
static const char* find_mesh(tbUrdf* u, const xmlNode* node, const char* path,
                             const tbReal scale[3]) {
  tbFlat* spec = u->spec;
  const char* slash = strrchr(path, '/');
  const char* base = slash ? slash + 1 : path;
  const char* dot = strrchr(base, '.');
  int length = dot ? (int)(dot - base) : (int)strlen(base);
  const char* key = tb_flat_format(spec, "%a %a %a %s", scale[0], scale[1], scale[2], path);
  int* known = key ? tb_urdf_map(u, &u->meshes, key) : NULL;
  if (known && *known >= 0) return spec->mesh[*known].name;
  if (known) *known = spec->nmesh;

  // Meshes of one file name with other scales or folders get a number appended to the name.
  const char* name = tb_flat_format(spec, "%.*s", length, base);
  int* taken = name ? tb_urdf_map(u, &u->mesh_names, name) : NULL;
  while (taken && *taken >= 0) {
    name = tb_flat_format(spec, "%.*s_%d", length, base, ++*taken);
    taken = name ? tb_urdf_map(u, &u->mesh_names, name) : NULL;
  }
  if (taken) *taken = 0;
  if (!known || !taken) name = NULL;
  tbFlatMesh* mesh = name ? tb_flat_add_mesh(spec) : NULL;
  if (!mesh) {
    tb_urdf_no_memory(u);
    return NULL;
  }
  mesh->name = name;
  mesh->source = u->path;
  mesh->line = tb_urdf_line(node);
  mesh->file = path;
  mesh->path = path;
  memcpy(mesh->scale, scale, sizeof mesh->scale);
  TB_SET_GIVEN(mesh, mesh, file);
  TB_SET_GIVEN(mesh, mesh, scale);
  return name;
}

static bool read_mesh(tbUrdf* u, const xmlNode* node, tbFlatGeom* geom) {
  const char* uri;
  tbReal scale[3] = {1, 1, 1};
  if (!tb_urdf_required(u, node, "filename", &uri)) return false;
  if (!tb_urdf_numbers(u, node, "scale", 3, scale, NULL)) return false;
  const char* path = tb_urdf_resolve(u, node, uri);
  if (!path) return false;
  geom->type = TB_GEOM_MESH;
  geom->mesh = find_mesh(u, node, path, scale);
  TB_SET_GIVEN(geom, geom, mesh);
  return geom->mesh != NULL;
}

// Positive sizes, times `factor`.
static bool read_size(tbUrdf* u, const xmlNode* node, const char* name, int n, tbReal factor,
                      tbReal* size) {
  bool found;
  if (!tb_urdf_numbers(u, node, name, n, size, &found)) return false;
  if (!found) return tb_urdf_fail(u, TB_ERROR_PARSE, node, "the attribute '%s' is missing", name);
  for (int i = 0; i < n; i++) {
    if (!(size[i] > 0)) {
      return tb_urdf_fail(u, TB_ERROR_MODEL, node, "%s must be positive, got %g", name, size[i]);
    }
    size[i] *= factor;
  }
  return true;
}

static bool read_geometry(tbUrdf* u, const xmlNode* shape, tbFlatGeom* geom) {
  const xmlNode* geometry = tb_urdf_child(shape, "geometry");
  if (!geometry) return tb_urdf_fail(u, TB_ERROR_PARSE, shape, "no <geometry>");
  TB_SET_GIVEN(geom, geom, type);
  TB_SET_GIVEN(geom, geom, size);
  const xmlNode* node;
  // URDF gives full lengths, the spec half lengths.
  if ((node = tb_urdf_child(geometry, "box"))) {
    geom->type = TB_GEOM_BOX;
    return read_size(u, node, "size", 3, 0.5, geom->size);
  }
  if ((node = tb_urdf_child(geometry, "sphere"))) {
    geom->type = TB_GEOM_SPHERE;
    return read_size(u, node, "radius", 1, 1, geom->size);
  }
  bool cylinder = (node = tb_urdf_child(geometry, "cylinder")) != NULL;
  if (cylinder || (node = tb_urdf_child(geometry, "capsule"))) {
    geom->type = cylinder ? TB_GEOM_CYLINDER : TB_GEOM_CAPSULE;
    return read_size(u, node, "radius", 1, 1, geom->size) &&
           read_size(u, node, "length", 1, 0.5, geom->size + 1);
  }
  if ((node = tb_urdf_child(geometry, "mesh"))) return read_mesh(u, node, geom);
  return tb_urdf_fail(u, TB_ERROR_UNSUPPORTED, geometry,
                      "expected box, sphere, cylinder, capsule or mesh");
}

// The colour of a visual: its own, or that of the named material.
static bool read_color(tbUrdf* u, const xmlNode* visual, tbReal rgba[4]) {
  const xmlNode* material = tb_urdf_child(visual, "material");
  const xmlNode* color = material ? tb_urdf_child(material, "color") : NULL;
  const char* name = material ? tb_urdf_text(material, "name") : NULL;
  for (int i = 0; !color && name && i < u->nmaterial; i++) {
    const char* other = tb_urdf_text(u->material[i], "name");
    if (other && strcmp(other, name) == 0) color = tb_urdf_child(u->material[i], "color");
  }
  return !color || tb_urdf_numbers(u, color, "rgba", 4, rgba, NULL);
}

static bool add_shape(tbUrdf* u, const tbUrdfLink* link, const xmlNode* shape, bool collision,
                      const tbReal rgba[4]) {
  tbFlatGeom* geom = tb_flat_add_geom(u->spec);
  if (!geom) return tb_urdf_no_memory(u);
  geom->source = u->path;
  geom->line = tb_urdf_line(shape);
  geom->body = link->body;
  memcpy(geom->rgba, rgba, sizeof geom->rgba);
  if (!collision) {
    geom->contype = geom->conaffinity = 0;
    geom->group = 1;
    geom->density = 0;
    TB_SET_GIVEN(geom, geom, contype);
    TB_SET_GIVEN(geom, geom, conaffinity);
    TB_SET_GIVEN(geom, geom, density);
  }
  // URDF does not require unique names; a repeated one would be rejected later, so it is dropped.
  const char* name = tb_urdf_text(shape, "name");
  if (name && *name) {
    const char* copy = tb_flat_text(u->spec, name);
    int* taken = copy ? tb_urdf_map(u, &u->geom_names, copy) : NULL;
    if (!taken) return tb_urdf_no_memory(u);
    if (*taken < 0) {
      geom->name = copy;
      *taken = 0;
    } else {
      tb_flat_note(u->spec, u->path, geom->line,
                   "a geom's name is used twice: the second has none");
    }
  }
  if (!tb_urdf_origin(u, shape, geom->pos, geom->quat)) return false;
  TB_SET_GIVEN(geom, geom, pos);
  TB_SET_GIVEN(geom, geom, quat);
  // The pointer `geom` stays valid, since adding a mesh does not move geoms.
  return read_geometry(u, shape, geom);
}

bool tb_urdf_list_meshes(tbUrdf* u) {
  bool visuals = !u->spec->compiler->discardvisual;
  for (int i = 0; i < u->nlink; i++) {
    for (const xmlNode* c = u->link[i].node->children; c; c = c->next) {
      if (!tb_urdf_is(c, "collision") && !(visuals && tb_urdf_is(c, "visual"))) continue;
      const xmlNode* geometry = tb_urdf_child(c, "geometry");
      const xmlNode* mesh = geometry ? tb_urdf_child(geometry, "mesh") : NULL;
      tbFlatGeom unused = {0};
      if (mesh && !read_mesh(u, mesh, &unused)) return false;
    }
  }
  return true;
}

bool tb_urdf_add_shapes(tbUrdf* u, tbUrdfLink* link) {
  tbReal rgba[4] = {0.5, 0.5, 0.5, 1};
  bool visuals = !u->spec->compiler->discardvisual;
  for (const xmlNode* c = link->node->children; c; c = c->next) {
    if (c->type != XML_ELEMENT_NODE) continue;
    if (tb_urdf_is(c, "collision")) {
      if (!add_shape(u, link, c, true, rgba)) return false;
    } else if (tb_urdf_is(c, "visual")) {
      if (!read_color(u, c, rgba)) return false;
      if (visuals && !add_shape(u, link, c, false, rgba)) return false;
      if (!visuals) tb_urdf_note_unused(u, c, "link");
    } else if (!tb_urdf_is(c, "inertial")) {
      tb_urdf_note_unused(u, c, "link");
    }
  }
  return true;
}

// A moving body needs mass and inertia, its own or that of links fixed to it. Dummy links get
// values too small to have an effect.
bool tb_urdf_add_missing_mass(tbUrdf* u) {
  static const tbReal LEAST = 1e-7;
  tbReal* mass = TB_ARENA_NEW(&u->spec->arena, tbReal, u->nlink);
  bool* turns = TB_ARENA_NEW(&u->spec->arena, bool, u->nlink);
  if (!mass || !turns) return tb_urdf_no_memory(u);
  for (int i = 0; i < u->nlink; i++) {
    const tbUrdfLink* link = &u->link[i];
    if (link->cluster < 0) continue;
    const tbFlatBody* body = &u->spec->body[link->body];
    bool from_shapes = !body->has_inertial && link->ncollision > 0;
    mass[link->cluster] += from_shapes ? 1 : body->inertial.mass;
    turns[link->cluster] |= from_shapes || body->inertial.diaginertia[2] > 0;
  }
  for (int i = 0; i < u->nlink; i++) {
    const tbUrdfLink* link = &u->link[i];
    if (link->cluster != i || (mass[i] > 0 && turns[i])) continue;
    tbFlatBody* body = &u->spec->body[link->body];
    tbFlatInertial* inertial = &body->inertial;
    if (!body->has_inertial) tb_quat_identity(inertial->quat);
    body->has_inertial = true;
    inertial->source = u->path;
    inertial->line = body->line;
    inertial->compiler = u->spec->compiler;
    if (!(mass[i] > 0)) inertial->mass = mass[i] = LEAST;
    // A missing moment of inertia is that of a ball of water of the link's mass, r^3 = 3 m / (4 pi
    // rho), I = 2/5 m r^2, but at most the largest given moment. Given moments are kept.
    tbReal moment = tb_max(LEAST, 0.4 * mass[i] * tb_pow(mass[i] / 4188.79, 2.0 / 3.0));
    tbReal* J = inertial->diaginertia;
    if (J[0] > 0) moment = tb_min(moment, J[0]);
    for (int k = 0; k < 3; k++) J[k] = J[k] > 0 ? J[k] : moment;
    TB_SET_GIVEN(inertial, inertial, mass);
    TB_SET_GIVEN(inertial, inertial, diaginertia);
    tb_flat_note(u->spec, u->path, body->line,
                 "moving link without mass or inertia: the missing values are added (%g kg, %g kg "
                 "m2, or those of a ball of water)",
                 LEAST, LEAST);
  }
  return true;
}
