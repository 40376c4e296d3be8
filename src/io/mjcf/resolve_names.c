// References of elements by name, and sets of names.
#include <string.h>

#include "base/hash.h"
#include "io/mjcf/mjcf.h"
#include "io/spec_tables.h"
#include "model/transmission_kinds.h"

static size_t slot_of(const tbMjcfNames* names, tbSpecKind kind, const char* name) {
  uint64_t hash = tb_hash(TB_HASH_SEED + (uint64_t)kind, name, strlen(name));
  size_t at = (size_t)hash & (names->room - 1);
  while (names->name[at] &&
         (names->kind[at] != (unsigned char)kind || strcmp(names->name[at], name) != 0)) {
    at = (at + 1) & (names->room - 1);
  }
  return at;
}

bool tb_mjcf_names_has(const tbMjcfNames* names, tbSpecKind kind, const char* name) {
  return names->room && name && names->name[slot_of(names, kind, name)] != NULL;
}

bool tb_mjcf_names_add(tbSpec* spec, tbMjcfNames* names, tbSpecKind kind, const char* name) {
  if (!name || !*name) return true;
  if (2 * (names->used + 1) > names->room) {
    tbMjcfNames larger = {.room = names->room ? 4 * names->room : 64};
    larger.name = TB_ARENA_NEW(&spec->arena, const char*, larger.room);
    larger.kind = TB_ARENA_NEW(&spec->arena, unsigned char, larger.room);
    if (!larger.name || !larger.kind) return false;
    for (size_t i = 0; i < names->room; i++) {
      if (!names->name[i]) continue;
      size_t at = slot_of(&larger, (tbSpecKind)names->kind[i], names->name[i]);
      larger.name[at] = names->name[i];
      larger.kind[at] = names->kind[i];
    }
    larger.used = names->used;
    *names = larger;
  }
  size_t at = slot_of(names, kind, name);
  if (!names->name[at]) names->used++;
  names->name[at] = name;
  names->kind[at] = (unsigned char)kind;
  return true;
}

// The spec's kind for a tbObjType.
static tbSpecKind kind_of(int objtype) {
  switch (objtype) {
    case TB_OBJ_BODY:
    case TB_OBJ_XBODY: return TB_SPEC_body;
    case TB_OBJ_JOINT:
    case TB_OBJ_DOF: return TB_SPEC_joint;
    case TB_OBJ_GEOM: return TB_SPEC_geom;
    case TB_OBJ_SITE: return TB_SPEC_site;
    case TB_OBJ_CAMERA: return TB_SPEC_camera;
    case TB_OBJ_LIGHT: return TB_SPEC_light;
    case TB_OBJ_MESH: return TB_SPEC_mesh;
    case TB_OBJ_HFIELD: return TB_SPEC_hfield;
    case TB_OBJ_PAIR: return TB_SPEC_pair;
    case TB_OBJ_EXCLUDE: return TB_SPEC_exclude;
    case TB_OBJ_EQUALITY: return TB_SPEC_equality;
    case TB_OBJ_TENDON: return TB_SPEC_tendon;
    case TB_OBJ_ACTUATOR: return TB_SPEC_actuator;
    case TB_OBJ_SENSOR: return TB_SPEC_sensor;
    case TB_OBJ_NUMERIC: return TB_SPEC_numeric;
    case TB_OBJ_TEXT: return TB_SPEC_text;
    case TB_OBJ_TUPLE: return TB_SPEC_tuple;
    case TB_OBJ_KEY: return TB_SPEC_key;
    default: return TB_NSPECKINDS;
  }
}

static void visit_one(tbMjcfVisit visit, void* context, tbSpecKind kind, const char** name) {
  if (kind != TB_NSPECKINDS && *name) visit(context, kind, name);
}

static void visit_equality(tbSpecEquality* e, tbMjcfVisit visit, void* context) {
  visit_one(visit, context, TB_SPEC_body, &e->body1);
  visit_one(visit, context, TB_SPEC_body, &e->body2);
  visit_one(visit, context, TB_SPEC_site, &e->site1);
  visit_one(visit, context, TB_SPEC_site, &e->site2);
  visit_one(visit, context, TB_SPEC_joint, &e->joint1);
  visit_one(visit, context, TB_SPEC_joint, &e->joint2);
  visit_one(visit, context, TB_SPEC_tendon, &e->tendon1);
  visit_one(visit, context, TB_SPEC_tendon, &e->tendon2);
}

static void visit_actuator(tbSpecActuator* a, tbMjcfVisit visit, void* context) {
  for (int type = 0; type < TB_NTRNTYPES; type++) {
    int object = tb_transmission_kinds[type].first;
    tbSpecKind kind = object == TB_OBJ_JOINT    ? TB_SPEC_joint
                      : object == TB_OBJ_TENDON ? TB_SPEC_tendon
                      : object == TB_OBJ_SITE   ? TB_SPEC_site
                                                : TB_SPEC_body;
    for (int k = 0; k < 2; k++) {
      const char** name = tb_spec_transmission(a, type, k);
      if (name) visit_one(visit, context, kind, name);
    }
  }
}

static void visit_wraps(const tbSpec* spec, const tbSpecTendon* t, tbMjcfVisit visit,
                        void* context) {
  for (int i = t->wrapadr; i < t->wrapadr + t->wrapnum; i++) {
    tbSpecWrap* wrap = &spec->wrap[i];
    tbSpecKind kind = wrap->type == TB_WRAP_JOINT  ? TB_SPEC_joint
                      : wrap->type == TB_WRAP_SITE ? TB_SPEC_site
                                                   : TB_SPEC_geom;
    visit_one(visit, context, kind, &wrap->target);
    visit_one(visit, context, TB_SPEC_site, &wrap->sidesite);
  }
}

void tb_mjcf_references(const tbSpec* spec, tbSpecKind kind, tbSpecElement* element,
                        tbMjcfVisit visit, void* context) {
  void* e = element;
  switch (kind) {
    case TB_SPEC_geom:
      visit_one(visit, context, TB_SPEC_mesh, &((tbSpecGeom*)e)->mesh);
      visit_one(visit, context, TB_SPEC_hfield, &((tbSpecGeom*)e)->hfield);
      visit_one(visit, context, TB_SPEC_material, &((tbSpecGeom*)e)->material);
      break;
    case TB_SPEC_site:
      visit_one(visit, context, TB_SPEC_material, &((tbSpecSite*)e)->material);
      break;
    case TB_SPEC_camera:
      visit_one(visit, context, TB_SPEC_body, &((tbSpecCamera*)e)->target);
      break;
    case TB_SPEC_light: visit_one(visit, context, TB_SPEC_body, &((tbSpecLight*)e)->target); break;
    case TB_SPEC_pair:
      visit_one(visit, context, TB_SPEC_geom, &((tbSpecPair*)e)->geom1);
      visit_one(visit, context, TB_SPEC_geom, &((tbSpecPair*)e)->geom2);
      break;
    case TB_SPEC_exclude:
      visit_one(visit, context, TB_SPEC_body, &((tbSpecExclude*)e)->body1);
      visit_one(visit, context, TB_SPEC_body, &((tbSpecExclude*)e)->body2);
      break;
    case TB_SPEC_equality: visit_equality((tbSpecEquality*)e, visit, context); break;
    case TB_SPEC_tendon:
      visit_wraps(spec, (tbSpecTendon*)e, visit, context);
      visit_one(visit, context, TB_SPEC_material, &((tbSpecTendon*)e)->material);
      break;
    case TB_SPEC_actuator: visit_actuator((tbSpecActuator*)e, visit, context); break;
    case TB_SPEC_sensor: {
      tbSpecSensor* s = (tbSpecSensor*)e;
      visit_one(visit, context, kind_of(s->objtype), &s->objname);
      visit_one(visit, context, kind_of(s->reftype), &s->refname);
      break;
    }
    case TB_SPEC_tuple: {
      const tbSpecTuple* t = (const tbSpecTuple*)e;
      for (int i = t->itemadr; i < t->itemadr + t->itemnum; i++) {
        visit_one(visit, context, kind_of(spec->tupleitem[i].objtype), &spec->tupleitem[i].objname);
      }
      break;
    }
    default: break;
  }
}
