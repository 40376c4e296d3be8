// References of elements by name, and sets of names.
#include <string.h>

#include "base/hash.h"
#include "io/mjcf/mjcf.h"
#include "io/flat_tables.h"
#include "model/transmission_kinds.h"

static size_t slot_of(const tbMjcfNames* names, tbFlatKind kind, const char* name) {
  uint64_t hash = tb_hash(TB_HASH_SEED + (uint64_t)kind, name, strlen(name));
  size_t at = (size_t)hash & (names->room - 1);
  while (names->name[at] &&
         (names->kind[at] != (unsigned char)kind || strcmp(names->name[at], name) != 0)) {
    at = (at + 1) & (names->room - 1);
  }
  return at;
}

bool tb_mjcf_names_has(const tbMjcfNames* names, tbFlatKind kind, const char* name) {
  return names->room && name && names->name[slot_of(names, kind, name)] != NULL;
}

bool tb_mjcf_names_add(tbFlat* spec, tbMjcfNames* names, tbFlatKind kind, const char* name) {
  if (!name || !*name) return true;
  if (2 * (names->used + 1) > names->room) {
    tbMjcfNames larger = {.room = names->room ? 4 * names->room : 64};
    larger.name = TB_ARENA_NEW(&spec->arena, const char*, larger.room);
    larger.kind = TB_ARENA_NEW(&spec->arena, unsigned char, larger.room);
    if (!larger.name || !larger.kind) return false;
    for (size_t i = 0; i < names->room; i++) {
      if (!names->name[i]) continue;
      size_t at = slot_of(&larger, (tbFlatKind)names->kind[i], names->name[i]);
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
static tbFlatKind kind_of(int objtype) {
  switch (objtype) {
    case TB_OBJ_BODY:
    case TB_OBJ_XBODY: return TB_FLAT_body;
    case TB_OBJ_JOINT:
    case TB_OBJ_DOF: return TB_FLAT_joint;
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

static void visit_one(tbMjcfVisit visit, void* context, tbFlatKind kind, const char** name) {
  if (kind != TB_NFLATKINDS && *name) visit(context, kind, name);
}

static void visit_equality(tbFlatEquality* e, tbMjcfVisit visit, void* context) {
  visit_one(visit, context, TB_FLAT_body, &e->body1);
  visit_one(visit, context, TB_FLAT_body, &e->body2);
  visit_one(visit, context, TB_FLAT_site, &e->site1);
  visit_one(visit, context, TB_FLAT_site, &e->site2);
  visit_one(visit, context, TB_FLAT_joint, &e->joint1);
  visit_one(visit, context, TB_FLAT_joint, &e->joint2);
  visit_one(visit, context, TB_FLAT_tendon, &e->tendon1);
  visit_one(visit, context, TB_FLAT_tendon, &e->tendon2);
}

static void visit_actuator(tbFlatActuator* a, tbMjcfVisit visit, void* context) {
  for (int type = 0; type < TB_NTRNTYPES; type++) {
    int object = tb_transmission_kinds[type].first;
    tbFlatKind kind = object == TB_OBJ_JOINT    ? TB_FLAT_joint
                      : object == TB_OBJ_TENDON ? TB_FLAT_tendon
                      : object == TB_OBJ_SITE   ? TB_FLAT_site
                                                : TB_FLAT_body;
    for (int k = 0; k < 2; k++) {
      const char** name = tb_flat_transmission(a, type, k);
      if (name) visit_one(visit, context, kind, name);
    }
  }
}

static void visit_wraps(const tbFlat* spec, const tbFlatTendon* t, tbMjcfVisit visit,
                        void* context) {
  for (int i = t->wrapadr; i < t->wrapadr + t->wrapnum; i++) {
    tbFlatWrap* wrap = &spec->wrap[i];
    tbFlatKind kind = wrap->type == TB_WRAP_JOINT  ? TB_FLAT_joint
                      : wrap->type == TB_WRAP_SITE ? TB_FLAT_site
                                                   : TB_FLAT_geom;
    visit_one(visit, context, kind, &wrap->target);
    visit_one(visit, context, TB_FLAT_site, &wrap->sidesite);
  }
}

void tb_mjcf_references(const tbFlat* spec, tbFlatKind kind, tbFlatElement* element,
                        tbMjcfVisit visit, void* context) {
  void* e = element;
  switch (kind) {
    case TB_FLAT_geom:
      visit_one(visit, context, TB_FLAT_mesh, &((tbFlatGeom*)e)->mesh);
      visit_one(visit, context, TB_FLAT_hfield, &((tbFlatGeom*)e)->hfield);
      visit_one(visit, context, TB_FLAT_material, &((tbFlatGeom*)e)->material);
      break;
    case TB_FLAT_site:
      visit_one(visit, context, TB_FLAT_material, &((tbFlatSite*)e)->material);
      break;
    case TB_FLAT_camera:
      visit_one(visit, context, TB_FLAT_body, &((tbFlatCamera*)e)->target);
      break;
    case TB_FLAT_light: visit_one(visit, context, TB_FLAT_body, &((tbFlatLight*)e)->target); break;
    case TB_FLAT_pair:
      visit_one(visit, context, TB_FLAT_geom, &((tbFlatPair*)e)->geom1);
      visit_one(visit, context, TB_FLAT_geom, &((tbFlatPair*)e)->geom2);
      break;
    case TB_FLAT_exclude:
      visit_one(visit, context, TB_FLAT_body, &((tbFlatExclude*)e)->body1);
      visit_one(visit, context, TB_FLAT_body, &((tbFlatExclude*)e)->body2);
      break;
    case TB_FLAT_equality: visit_equality((tbFlatEquality*)e, visit, context); break;
    case TB_FLAT_tendon:
      visit_wraps(spec, (tbFlatTendon*)e, visit, context);
      visit_one(visit, context, TB_FLAT_material, &((tbFlatTendon*)e)->material);
      break;
    case TB_FLAT_actuator: visit_actuator((tbFlatActuator*)e, visit, context); break;
    case TB_FLAT_sensor: {
      tbFlatSensor* s = (tbFlatSensor*)e;
      visit_one(visit, context, kind_of(s->objtype), &s->objname);
      visit_one(visit, context, kind_of(s->reftype), &s->refname);
      break;
    }
    case TB_FLAT_tuple: {
      const tbFlatTuple* t = (const tbFlatTuple*)e;
      for (int i = t->itemadr; i < t->itemadr + t->itemnum; i++) {
        visit_one(visit, context, kind_of(spec->tupleitem[i].objtype), &spec->tupleitem[i].objname);
      }
      break;
    }
    default: break;
  }
}
