// The tree of bodies and their elements. The resulting poses are relative to the parent body: the
// poses of <frame> elements are applied here.
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "model/joint_kinds.h"
#include "spatial/quat.h"

static const tbReal PI = 3.14159265358979323846;
// The default class of an element of the tree.
static bool class_of(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place,
                     const tbFlatDefault** record) {
  int id;
  if (!tb_mjcf_class(p, node, "class", place->childclass, &id)) return false;
  *record = p->classes[id];
  return true;
}

// Converts a pose of the file to the pose in the body: applies the frames around it, and converts
// from the world frame if the file uses global coordinates.
static void to_body_pose(const tbMjcf* p, const tbMjcfPlace* place, tbReal pos[3], tbReal quat[4]) {
  tb_mjcf_in_frame(place->pos, place->quat, pos, quat);
  if (p->spec->compiler->coordinate) {
    tb_mjcf_out_of_frame(place->world_pos, place->world_quat, pos, quat);
  }
}

// The same for a unit vector.
static void to_body_axis(const tbMjcf* p, const tbMjcfPlace* place, tbReal axis[3]) {
  static const tbReal ORIGIN[3] = {0, 0, 0};
  tb_quat_rotate(axis, place->quat, axis);
  if (p->spec->compiler->coordinate) tb_mjcf_out_of_frame(ORIGIN, place->world_quat, axis, NULL);
  tb_normalize3(axis);
}

static bool room_for(tbMjcf* p, const tbElement* node, int count) {
  if (count < TB_MJCF_MAX_ELEMENTS) return true;
  return tb_mjcf_fail(p, TB_ERROR_MEMORY, node, "more than %d elements of this kind",
                      TB_MJCF_MAX_ELEMENTS);
}

bool tb_mjcf_check_limit(tbMjcf* p, const tbElement* node, const char* what, int limited,
                         const tbReal range[2]) {
  if (limited == 1 && !(range[0] < range[1])) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node,
                        "%s: the lower end %g is not below the upper end %g", what, range[0],
                        range[1]);
  }
  bool given = range[0] != 0 || range[1] != 0;
  if (limited == TB_AUTO && given && !p->spec->compiler->autolimits) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node,
                        "%s is given, but autolimits is false and no flag tells if it is a limit",
                        what);
  }
  return true;
}

static bool joint_units(tbMjcf* p, const tbElement* node, tbFlatJoint* joint) {
  int limits = tb_joint_limits(joint->type);
  if (tb_joint_limits_angle(joint->type) && p->spec->compiler->angle == 1) {
    // A range that is not a limit is not converted, as in MuJoCo.
    tbReal unit = tb_flat_limited(joint->limited, joint->range) ? PI / 180 : 1;
    for (int i = 0; i < 2; i++) joint->range[i] *= unit;
    if (tb_joint_turns_about_axis(joint->type)) {
      joint->ref *= PI / 180;
      joint->springref *= PI / 180;
    }
  }
  if (limits == 0) {
    joint->limited = 0;
  } else if (limits == 1 && joint->range[0] != 0 && tb_flat_limited(joint->limited, joint->range)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "range: a %s joint's lower end is 0",
                        tb_joint_type_name(joint->type));
  }
  return tb_mjcf_check_limit(p, node, "range", joint->limited, joint->range) &&
         tb_mjcf_check_limit(p, node, "actuatorfrcrange", joint->actuatorfrclimited,
                             joint->actuatorfrcrange);
}

static bool joint_frame(tbMjcf* p, const tbElement* node, tbFlatJoint* joint,
                        const tbMjcfPlace* place) {
  if (!tb_joint_has_axis(joint->type)) {
    tb_set3(joint->axis, 0, 0, 1);
  } else {
    if (tb_norm3(joint->axis) < 1e-14) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "axis has no length");
    }
    to_body_axis(p, place, joint->axis);
  }
  if (tb_joint_floats(joint->type)) {
    tb_zero3(joint->pos);
  } else {
    to_body_pose(p, place, joint->pos, NULL);
  }
  return true;
}

static bool read_joint(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place) {
  const tbFlatDefault* record;
  if (place->body == 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "the world cannot have joints");
  }
  if (!class_of(p, node, place, &record) || !room_for(p, node, p->spec->njoint)) return false;
  tbFlatJoint* joint = tb_flat_add_joint(p->spec);
  if (!joint) return tb_mjcf_no_memory(p);
  bool is_free = tb_mjcf_is(node, "freejoint");
  if (is_free) {
    // Defaults do not apply to <freejoint>.
    joint->type = TB_JOINT_FREE;
  } else {
    *joint = record->joint;
  }
  joint->body = place->body;
  if (!tb_mjcf_common(p, node, (tbFlatElement*)joint) ||
      !tb_mjcf_fields(p, node, tb_flat_table_joint(), joint, NULL)) {
    return false;
  }
  if (joint->stiffness[1] != 0 || joint->stiffness[2] != 0 || joint->damping[1] != 0 ||
      joint->damping[2] != 0) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node,
                        "polynomial stiffness and damping are not supported");
  }
  if (joint->frictionloss < 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "frictionloss cannot be negative");
  }
  const tbReal* given = joint->springdamper;
  if ((given[0] != 0 || given[1] != 0) && !(given[0] > 0 && given[1] > 0)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "springdamper needs two positive numbers");
  }
  return joint_units(p, node, joint) && joint_frame(p, node, joint, place);
}

// fromto: the shape's z axis points from the second point to the first, as in MuJoCo.
static bool apply_fromto(tbMjcf* p, const tbElement* node, int type, const tbReal fromto[6],
                         tbReal pos[3], tbReal quat[4], tbReal size[3]) {
  if (type != TB_GEOM_CAPSULE && type != TB_GEOM_CYLINDER && type != TB_GEOM_BOX &&
      type != TB_GEOM_ELLIPSOID) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node,
                        "fromto needs a capsule, a cylinder, a box or an ellipsoid");
  }
  tbReal axis[3];
  tb_sub3(axis, fromto, fromto + 3);
  tbReal length = tb_norm3(axis);
  if (length < 1e-14) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "fromto: the points coincide");
  tb_add3(pos, fromto, fromto + 3);
  tb_scale3(pos, pos, 0.5);
  tb_mjcf_z_to(quat, axis);
  if (type == TB_GEOM_BOX || type == TB_GEOM_ELLIPSOID) {
    size[1] = size[0];
    size[2] = 0.5 * length;
  } else {
    size[1] = 0.5 * length;
  }
  return true;
}

// An element without its own colour gets that of its material.
static bool apply_material(tbMjcf* p, const tbElement* node, const char* material, bool has_rgba,
                           tbReal rgba[4]) {
  if (!material || !*material) return true;
  int id = tb_flat_find(p->spec, TB_FLAT_material, material);
  if (id < 0) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "unknown material '%s'", material);
  if (!has_rgba) memcpy(rgba, p->spec->material[id].rgba, 4 * sizeof(tbReal));
  return true;
}

static bool check_geom(tbMjcf* p, const tbElement* node, const tbFlatGeom* geom) {
  if (geom->condim != 1 && geom->condim != 3 && geom->condim != 4 && geom->condim != 6) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "condim must be 1, 3, 4 or 6");
  }
  for (int i = 0; i < 3; i++) {
    if (geom->friction[i] < 0 || geom->size[i] < 0) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "%s cannot be negative",
                          geom->size[i] < 0 ? "size" : "friction");
    }
  }
  if (geom->restitution < 0 || geom->restitution > 1) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "restitution must be between 0 and 1");
  }
  const char* negative = geom->compliance < 0          ? "compliance"
                         : geom->tangentcompliance < 0 ? "tangentcompliance"
                         : geom->contactdamping < 0    ? "contactdamping"
                                                       : NULL;
  if (negative) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "%s cannot be negative", negative);
  if ((TB_GIVEN(geom, geom, mass) && geom->mass < 0) || geom->density < 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "mass and density cannot be negative");
  }
  bool moving_surface = false;
  for (int i = 0; i < 6; i++) moving_surface |= geom->surfacevel[i] != 0;
  if (moving_surface || geom->adhesion != 0) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "%s is not supported",
                        moving_surface ? "surfacevel" : "adhesion");
  }
  return true;
}

static bool read_geom(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place) {
  const tbFlatDefault* record;
  uint64_t own;
  if (!class_of(p, node, place, &record) || !room_for(p, node, p->spec->ngeom)) return false;
  tbFlatGeom* geom = tb_flat_add_geom(p->spec);
  if (!geom) return tb_mjcf_no_memory(p);
  *geom = record->geom;
  geom->body = place->body;
  const char* type = tb_element_get(node, "type");
  if (type && strcmp(type, "sdf") == 0) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "type 'sdf' is not supported");
  }
  if (!tb_mjcf_common(p, node, (tbFlatElement*)geom) ||
      !tb_mjcf_fields(p, node, tb_flat_table_geom(), geom, &own) ||
      !tb_mjcf_orient(p, node, TB_MJCF_ORIENTATION(geom, geom, own))) {
    return false;
  }
  if (!check_geom(p, node, geom)) return false;
  if (TB_GIVEN(geom, geom, fromto) &&
      !apply_fromto(p, node, geom->type, geom->fromto, geom->pos, geom->quat, geom->size)) {
    return false;
  }
  if (!apply_material(p, node, geom->material, TB_GIVEN(geom, geom, rgba), geom->rgba)) {
    return false;
  }
  to_body_pose(p, place, geom->pos, geom->quat);
  return true;
}

static bool read_site(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place) {
  const tbFlatDefault* record;
  uint64_t own;
  if (!class_of(p, node, place, &record) || !room_for(p, node, p->spec->nsite)) return false;
  tbFlatSite* site = tb_flat_add_site(p->spec);
  if (!site) return tb_mjcf_no_memory(p);
  *site = record->site;
  site->body = place->body;
  if (tb_mjcf_has(node, "mesh")) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "a mesh is not supported");
  }
  if (!tb_mjcf_common(p, node, (tbFlatElement*)site) ||
      !tb_mjcf_fields(p, node, tb_flat_table_site(), site, &own) ||
      !tb_mjcf_orient(p, node, TB_MJCF_ORIENTATION(site, site, own))) {
    return false;
  }
  if (site->type == TB_GEOM_PLANE || site->type == TB_GEOM_HFIELD || site->type == TB_GEOM_MESH) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "a site cannot be a plane, hfield or mesh");
  }
  if (TB_GIVEN(site, site, fromto) &&
      !apply_fromto(p, node, site->type, site->fromto, site->pos, site->quat, site->size)) {
    return false;
  }
  if (!apply_material(p, node, site->material, TB_GIVEN(site, site, rgba), site->rgba)) {
    return false;
  }
  to_body_pose(p, place, site->pos, site->quat);
  return true;
}

static bool read_camera(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place) {
  const tbFlatDefault* record;
  uint64_t own;
  if (!class_of(p, node, place, &record) || !room_for(p, node, p->spec->ncamera)) return false;
  tbFlatCamera* camera = tb_flat_add_camera(p->spec);
  if (!camera) return tb_mjcf_no_memory(p);
  *camera = record->camera;
  camera->body = place->body;
  if (!tb_mjcf_common(p, node, (tbFlatElement*)camera) ||
      !tb_mjcf_fields(p, node, tb_flat_table_camera(), camera, &own) ||
      !tb_mjcf_orient(p, node, TB_MJCF_ORIENTATION(camera, camera, own))) {
    return false;
  }
  if (camera->resolution[0] < 1 || camera->resolution[1] < 1 || camera->sensorsize[0] < 0 ||
      camera->sensorsize[1] < 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node,
                        "resolution must be positive and sensorsize not negative");
  }
  to_body_pose(p, place, camera->pos, camera->quat);
  return true;
}

static bool read_light(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place) {
  const tbFlatDefault* record;
  if (!class_of(p, node, place, &record) || !room_for(p, node, p->spec->nlight)) return false;
  tbFlatLight* light = tb_flat_add_light(p->spec);
  if (!light) return tb_mjcf_no_memory(p);
  *light = record->light;
  light->body = place->body;
  if (!tb_mjcf_common(p, node, (tbFlatElement*)light) ||
      !tb_mjcf_fields(p, node, tb_flat_table_light(), light, NULL)) {
    return false;
  }
  if (tb_norm3(light->dir) < 1e-14) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "dir has no length");
  }
  to_body_axis(p, place, light->dir);
  to_body_pose(p, place, light->pos, NULL);
  return true;
}

// Rotates an inertia tensor (xx yy zz xy xz yz) from an MJCF frame to its body: R I R^T.
static void rotate_inertia(tbReal full[6], const tbReal quat[4]) {
  tbReal R[9], RI[9], turned[9];
  const tbReal I[9] = {full[0], full[3], full[4], full[3], full[1],
                       full[5], full[4], full[5], full[2]};
  tb_quat_to_mat(R, quat);
  tb_mul_mat3(RI, R, I);
  tb_mul_mat3_mat3t(turned, RI, R);
  const int at[6] = {0, 4, 8, 1, 2, 5};
  for (int i = 0; i < 6; i++) full[i] = turned[at[i]];
}

static bool read_inertial(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place) {
  if (place->body == 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "the world cannot have an inertial");
  }
  tbFlatBody* body = &p->spec->body[place->body];
  if (body->has_inertial) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "the body already has an inertial at line %d",
                        body->inertial.line);
  }
  tbFlatInertial* inertial = &body->inertial;
  uint64_t own;
  *inertial = tb_flat_initial_inertial();
  body->has_inertial = true;
  if (!tb_mjcf_common(p, node, (tbFlatElement*)inertial) ||
      !tb_mjcf_fields(p, node, tb_flat_table_inertial(), inertial, &own) ||
      !tb_mjcf_orient(p, node, TB_MJCF_ORIENTATION(inertial, inertial, own))) {
    return false;
  }
  if (!TB_GIVEN(inertial, inertial, pos) || !TB_GIVEN(inertial, inertial, mass)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "attribute '%s' is missing",
                        TB_GIVEN(inertial, inertial, pos) ? "mass" : "pos");
  }
  bool full = TB_GIVEN(inertial, inertial, fullinertia);
  uint64_t forms = (uint64_t)31 << TB_BIT_inertial_quat;
  if (full && p->spec->compiler->coordinate) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node,
                        "fullinertia with global coordinates is not supported");
  }
  if (full && ((own & forms) || TB_GIVEN(inertial, inertial, diaginertia))) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node,
                        "fullinertia excludes diaginertia and orientations");
  }
  if (inertial->mass < 0) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "mass cannot be negative");
  if (full) rotate_inertia(inertial->fullinertia, place->quat);
  to_body_pose(p, place, inertial->pos, inertial->quat);
  return true;
}

// Registers a frame. Frames only affect the poses of their contents; their names must be unique.
static bool new_frame(tbMjcf* p, const tbElement* node) {
  const char* name = tb_element_get(node, "name");
  if (tb_mjcf_names_has(&p->frames, TB_FLAT_body, name)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "there are two frames called '%s'", name);
  }
  return tb_mjcf_names_add(p->spec, &p->frames, TB_FLAT_body, name) || tb_mjcf_no_memory(p);
}

static bool read_frame(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place, int depth) {
  // A frame has the pose attributes of a body.
  tbFlatBody pose = tb_flat_initial_body();
  tbMjcfPlace inside = *place;
  uint64_t own;
  if (!new_frame(p, node) || !tb_mjcf_fields(p, node, tb_flat_table_body(), &pose, &own) ||
      !tb_mjcf_orient(p, node, TB_MJCF_ORIENTATION(&pose, body, own)) ||
      !tb_mjcf_class(p, node, "childclass", place->childclass, &inside.childclass)) {
    return false;
  }
  tb_mjcf_in_frame(place->pos, place->quat, pose.pos, pose.quat);
  tb_copy3(inside.pos, pose.pos);
  memcpy(inside.quat, pose.quat, sizeof inside.quat);
  return tb_mjcf_children(p, node, &inside, depth + 1);
}

static bool read_body(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place, int depth) {
  if (!room_for(p, node, p->spec->nbody)) return false;
  int id = p->spec->nbody;
  tbFlatBody* body = tb_flat_add_body(p->spec);
  if (!body) return tb_mjcf_no_memory(p);
  tbMjcfPlace inside = {.body = id, .quat = {1, 0, 0, 0}, .world_quat = {1, 0, 0, 0}};
  uint64_t own;
  body->parent = place->body;
  if (!tb_mjcf_common(p, node, (tbFlatElement*)body) ||
      !tb_mjcf_fields(p, node, tb_flat_table_body(), body, &own) ||
      !tb_mjcf_orient(p, node, TB_MJCF_ORIENTATION(body, body, own)) ||
      !tb_mjcf_class(p, node, "childclass", place->childclass, &inside.childclass)) {
    return false;
  }
  if (p->spec->compiler->coordinate && !TB_GIVEN(body, body, pos)) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node,
                        "global coordinates are supported only where every body has a pos");
  }
  if (body->mocap && place->body != 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "a mocap body must be a child of the world");
  }
  tb_copy3(inside.world_pos, body->pos);
  memcpy(inside.world_quat, body->quat, sizeof inside.world_quat);
  tb_copy3(body->own_pos, body->pos);
  memcpy(body->own_quat, body->quat, sizeof body->own_quat);
  to_body_pose(p, place, body->pos, body->quat);
  return tb_mjcf_children(p, node, &inside, depth + 1);
}

bool tb_mjcf_children(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place, int depth) {
  if (depth > TB_SPEC_MAX_DEPTH) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "nested more than %d deep", TB_SPEC_MAX_DEPTH);
  }
  for (const tbElement* child = tb_mjcf_first(node); child; child = tb_mjcf_next(child)) {
    bool good;
    if (p->spec->compiler->coordinate &&
        (tb_mjcf_is(child, "frame") || tb_mjcf_is(child, "replicate") ||
         tb_mjcf_is(child, "attach"))) {
      return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, child,
                          "is not supported together with global coordinates");
    }
    if (tb_mjcf_is(child, "geom")) {
      good = read_geom(p, child, place);
    } else if (tb_mjcf_is(child, "body")) {
      good = read_body(p, child, place, depth);
    } else if (tb_mjcf_is(child, "joint") || tb_mjcf_is(child, "freejoint")) {
      good = read_joint(p, child, place);
    } else if (tb_mjcf_is(child, "inertial")) {
      good = read_inertial(p, child, place);
    } else if (tb_mjcf_is(child, "site")) {
      good = read_site(p, child, place);
    } else if (tb_mjcf_is(child, "camera")) {
      good = read_camera(p, child, place);
    } else if (tb_mjcf_is(child, "light")) {
      good = read_light(p, child, place);
    } else if (tb_mjcf_is(child, "frame")) {
      good = read_frame(p, child, place, depth);
    } else if (tb_mjcf_is(child, "replicate")) {
      good = tb_mjcf_replicate(p, child, place, depth);
    } else {
      good = tb_mjcf_attach(p, child, place);
    }
    if (!good) return false;
  }
  return true;
}

bool tb_mjcf_tree(tbMjcf* p, const tbElement* worldbody) {
  tbMjcfPlace place = {.quat = {1, 0, 0, 0}, .world_quat = {1, 0, 0, 0}};
  return tb_mjcf_children(p, worldbody, &place, 0);
}
