#include "io/spec/from_flat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "io/compile/compile.h"
#include "io/flat_tables.h"
#include "io/spec/schema.h"
#include "io/spec/write_field.h"
#include "io/spec_elements.h"
#include "model/equality_kinds.h"
#include "model/joint_kinds.h"
#include "model/option.h"
#include "model/sensor_kinds.h"
#include "model/transmission_kinds.h"
#include "spatial/quat.h"

// The spec being written. After the first failure nothing more is added.
typedef struct {
  const tbFlat* flat;
  tbSpec* spec;
  tbElement** body;  // by body of the flat spec
  bool failed;       // out of memory
} Output;

// ---- attributes ---------------------------------------------------------------------------------

static void set(Output* out, tbElement* e, const char* name, const char* value) {
  if (!out->failed && value) out->failed = !tb_element_set(e, name, value);
}

static void set_reals(Output* out, tbElement* e, const char* name, const tbReal* values, int n) {
  tbText text = {0};
  tb_text_reals(&text, values, n);
  out->failed |= text.failed;
  if (n) set(out, e, name, text.s);
  free(text.s);
}

static void set_ints(Output* out, tbElement* e, const char* name, const int* values, int n) {
  char text[16 * TB_FLAT_MOST] = "";
  size_t used = 0;
  for (int i = 0; i < n; i++) {
    used += (size_t)snprintf(text + used, sizeof text - used, i ? " %d" : "%d", values[i]);
  }
  set(out, e, name, text);
}

// Forms that the flat spec has resolved to others.
static bool is_resolved(const char* name) {
  static const char* const NAMES[] = {"axisangle", "xyaxes", "zaxis",
                                      "euler",     "fromto", "childclass"};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    if (strcmp(name, NAMES[i]) == 0) return true;
  }
  return false;
}

static void normalize(tbReal* v, int n) {
  if (n == 4) {
    tb_quat_normalize(v);
  } else {
    tb_normalize3(v);
  }
}

// The number `steps` representable numbers away from a value other than zero.
static tbReal neighbour(tbReal value, int steps) {
  for (; steps > 0 && value != 0; steps--) value = nextafter(value, INFINITY);
  for (; steps < 0 && value != 0; steps++) value = nextafter(value, -INFINITY);
  return value;
}

// The neighbours within a few steps are tried, the nearest first.
void tb_spec_before_normalizing(tbReal* result, const tbReal* unit, int n, int times) {
  enum { RADIUS = 3 };
  const size_t size = sizeof(tbReal) * (size_t)n;
  for (int radius = 0; radius <= RADIUS; radius++) {
    int width = 2 * radius + 1, combinations = 1;
    for (int k = 0; k < n; k++) combinations *= width;
    for (int c = 0; c < combinations; c++) {
      tbReal candidate[4], back[4];
      for (int k = 0, code = c; k < n; k++, code /= width) {
        candidate[k] = neighbour(unit[k], code % width - radius);
      }
      memcpy(back, candidate, size);
      for (int i = 0; i < times; i++) normalize(back, n);
      if (memcmp(back, unit, size) != 0) continue;
      memcpy(result, candidate, size);
      return;
    }
  }
  memcpy(result, unit, size);
}

// The numbers to write so that the compiler gets the same unit vector: after the reader, the
// compiler normalizes an axis or a direction once more.
static const tbReal* set_unit(tbReal text[4], const void* member, int n) {
  tbReal unit[4];
  memcpy(unit, member, sizeof(tbReal) * (size_t)n);
  if (n == 3) normalize(unit, n);
  tb_spec_before_normalizing(text, unit, n, n == 3 ? 2 : 1);
  return text;
}

static bool is_unit(const char* name) {
  return strcmp(name, "quat") == 0 || strcmp(name, "axis") == 0 || strcmp(name, "dir") == 0;
}

// Numbers at the end that are the initial ones are left out where the file may do so.
static void set_field(Output* out, tbElement* e, const tbFlatField* full, const void* member,
                      const void* initial) {
  tbReal unit[4];
  tbText text = {0};
  tbFlatField part = *full, *field = &part;
  const tbReal *values = (const tbReal*)member, *usual = (const tbReal*)initial;
  while (part.kind == TB_FIELD_REAL && part.most > part.least &&
         values[part.most - 1] == usual[part.most - 1]) {
    part.most--;
  }
  if (is_unit(field->name)) member = set_unit(unit, member, field->most);
  if (tb_field_text(field, member, &text)) set(out, e, field->name, text.s);
  out->failed |= text.failed;
  free(text.s);
}

// Every field that the element gives or that differs from its initial value.
static void set_fields(Output* out, tbElement* e, tbFlatTable table, const void* element,
                       const void* initial) {
  for (int i = 0; i < table.nfield; i++) {
    const tbFlatField* field = &table.field[i];
    const char* member = (const char*)element + field->offset;
    bool known, given = ((const tbFlatElement*)element)->given >> i & 1;
    bool differs = memcmp(member, (const char*)initial + field->offset, tb_field_size(field)) != 0;
    bool any_length = field->kind == TB_FIELD_TEXT || field->kind == TB_FIELD_LIST;
    tb_schema_field(e->kind, field->name, &known);
    if (!known || is_resolved(field->name) || !(given || differs || any_length)) continue;
    set_field(out, e, field, member, (const char*)initial + field->offset);
  }
}

// Whether a field differs from its initial value.
static bool differs(tbFlatTable table, const void* element, const void* initial) {
  for (int i = 0; i < table.nfield; i++) {
    const tbFlatField* field = &table.field[i];
    const char* member = (const char*)element + field->offset;
    size_t size = tb_field_size(field);
    if (size && memcmp(member, (const char*)initial + field->offset, size) != 0) return true;
  }
  return false;
}

#define SET_FIELDS(out, e, id, element)                                 \
  do {                                                                  \
    tbFlatElement_##id initial_ = tb_flat_initial_##id();               \
    set_fields((out), (e), tb_flat_table_##id(), (element), &initial_); \
  } while (0)
#define X(name, list, type) typedef type tbFlatElement_##name;
TB_FLAT_TABLES(X)
#undef X

// ---- elements -----------------------------------------------------------------------------------

static tbElement* add(Output* out, tbElement* parent, const char* tag, const char* name) {
  tbElement* e = out->failed ? NULL : tb_element_new(out->spec, parent, tag);
  if (!e) {
    // The root takes what is written after a failure; the spec is then dropped.
    out->failed = true;
    return out->spec->root;
  }
  e->kind = tb_schema_tag(parent->kind, tag);
  if (name && *name) set(out, e, "name", name);
  return e;
}

static tbElement* section(Output* out, const char* tag) {
  tbElement* e = out->spec->root->last;
  while (e && !tb_element_is(e, tag)) e = e->prev;
  return e ? e : add(out, out->spec->root, tag, NULL);
}

static void write_compiler(Output* out) {
  static const char* const KEPT[] = {
      "boundmass",  "boundinertia", "settotalmass",    "fitaabb",           "discardvisual",
      "fusestatic", "keepmoments",  "inertiafromgeom", "inertiagrouprange", "balanceinertia"};
  const tbFlatCompiler* compiler = out->flat->compiler;
  tbFlatCompiler initial = tb_flat_initial_compiler();
  tbFlatTable table = tb_flat_table_compiler();
  tbElement* e = section(out, "compiler");
  set(out, e, "angle", "radian");
  for (int i = 0; i < table.nfield; i++) {
    const tbFlatField* field = &table.field[i];
    const char* member = (const char*)compiler + field->offset;
    bool kept = false;
    for (size_t k = 0; k < sizeof KEPT / sizeof *KEPT; k++) {
      kept = kept || strcmp(KEPT[k], field->name) == 0;
    }
    if (!kept) continue;
    if (memcmp(member, (const char*)&initial + field->offset, tb_field_size(field)) == 0) continue;
    set_field(out, e, field, member, (const char*)&initial + field->offset);
  }
  tbFlatLengthRange usual = tb_flat_initial_lengthrange();
  if (!differs(tb_flat_table_lengthrange(), &compiler->lengthrange, &usual)) return;
  SET_FIELDS(out, add(out, e, "lengthrange", NULL), lengthrange, &compiler->lengthrange);
}

// Tribo's own options.
typedef struct {
  const char* name;
  bool is_int;
  int count;
  size_t offset;
} OwnOption;
static const OwnOption OWN[] = {
#define X(type, name, count, value, allowed, unit, what) \
  {#name, sizeof #type == sizeof "int", count, offsetof(tbOption, name)},
    TB_OPTION_FIELDS(X)
#undef X
};

// Writes an own option as text, under MuJoCo's name for it if that differs.
static void write_own_option(Output* out, const OwnOption* own, const char* attribute) {
  tbOption usual = tbDefaultOption();
  const char* value = (const char*)&out->flat->option + own->offset;
  size_t size = (own->is_int ? sizeof(int) : sizeof(tbReal)) * (size_t)own->count;
  if (memcmp(value, (const char*)&usual + own->offset, size) == 0) return;
  tbElement* e = section(out, "option");
  if (!own->is_int) {
    set_reals(out, e, attribute, (const tbReal*)(const void*)value, own->count);
    return;
  }
  const int* whole = (const int*)(const void*)value;
  const char* word = tb_option_word(own->name, *whole);
  if (strcmp(word, "unknown") == 0) {
    set_ints(out, e, attribute, whole, own->count);
  } else {
    set(out, e, attribute, word);
  }
}

static void write_flags(Output* out, const tbOption* option) {
  int disable = option->disableflags, enable = option->enableflags;
  if (!disable && !enable) return;
  tbElement* flag = add(out, section(out, "option"), "flag", NULL);
#define X(name, off, on, unused)                                               \
  if ((off) && ((off) & (disable)) == (off)) set(out, flag, #name, "disable"); \
  if ((off)) disable &= ~(off);                                                \
  if ((on) > 0 && ((on) & (enable))) set(out, flag, #name, "enable");
  TB_SPEC_FLAGS(X)
#undef X
}

static void write_option(Output* out) {
  const tbOption* option = &out->flat->option;
  tbOption usual = tbDefaultOption();
  tbFlatTable table = tb_flat_table_option();
  for (int i = 0; i < table.nfield; i++) {
    const tbFlatField* field = &table.field[i];
    const char* member = (const char*)option + field->offset;
    // Older names repeat a member; flags and groups follow below.
    bool older = strncmp(field->name, "mpr_", 4) == 0 || strcmp(field->name, "collision") == 0;
    size_t size = tb_field_size(field);
    if (older || !size || memcmp(member, (char*)&usual + field->offset, size) == 0) continue;
    set_field(out, section(out, "option"), field, member, (char*)&usual + field->offset);
  }
  // Those that the table has only as texts; flags and disabled groups have words of their own.
  for (size_t k = 0; k < sizeof OWN / sizeof *OWN; k++) {
    const char* name = OWN[k].name;
    int i = 0;
    while (strcmp(table.field[i].name, name) != 0) i++;
    bool apart = strncmp(name, "disable", 7) == 0 || strcmp(name, "enableflags") == 0 ||
                 strcmp(name, "mjsolver") == 0;
    if (strcmp(name, "solver") == 0) {
      write_own_option(out, &OWN[k], "law_solver");
    } else if (table.field[i].kind == TB_FIELD_TEXT && !apart) {
      write_own_option(out, &OWN[k], name);
    }
  }
  tbReal group[31];
  int n = 0;
  for (int i = 0; i < 31; i++) {
    if (option->disableactuator >> i & 1) group[n++] = i;
  }
  if (n) set_reals(out, section(out, "option"), "actuatorgroupdisable", group, n);
  write_flags(out, option);
}

static void write_sizes(Output* out) {
  tbFlatSize usual = tb_flat_initial_size();
  const tbFlatSize* size = &out->flat->size;
  if (differs(tb_flat_table_size(), size, &usual)) {
    SET_FIELDS(out, section(out, "size"), size, size);
  }
  const tbFlatStatistic* statistic = &out->flat->statistic;
  if (statistic->given) SET_FIELDS(out, section(out, "statistic"), statistic, statistic);
}

// ---- assets and tree ----------------------------------------------------------------------------

// The file to open, as a path that does not depend on the folder of the spec.
static void set_file(Output* out, tbElement* e, const char* path) {
  if (!path) return;
  char* full = tb_absolute_path(path);
  set(out, e, "file", full ? full : path);
  free(full);
}

static void write_assets(Output* out) {
  const tbFlat* flat = out->flat;
  for (int i = 0; i < flat->nmaterial; i++) {
    tbElement* e = add(out, section(out, "asset"), "material", flat->material[i].name);
    SET_FIELDS(out, e, material, &flat->material[i]);
  }
  for (int i = 0; i < flat->nmesh; i++) {
    tbElement* e = add(out, section(out, "asset"), "mesh", flat->mesh[i].name);
    SET_FIELDS(out, e, mesh, &flat->mesh[i]);
    set_file(out, e, flat->mesh[i].path);
  }
  for (int i = 0; i < flat->nhfield; i++) {
    tbElement* e = add(out, section(out, "asset"), "hfield", flat->hfield[i].name);
    SET_FIELDS(out, e, hfield, &flat->hfield[i]);
    set_file(out, e, flat->hfield[i].path);
  }
}

// As in MuJoCo a body without mass has its inertial frame at its pose relative to the innermost
// frame around it. Where that was another pose than the body's, an inertial without mass says so.
static void write_inertial(Output* out, int i, bool has_geom) {
  const tbFlatBody* b = &out->flat->body[i];
  bool moved = memcmp(b->own_pos, b->pos, sizeof b->pos) != 0 ||
               memcmp(b->own_quat, b->quat, sizeof b->quat) != 0;
  if (b->has_inertial) {
    tbElement* e = add(out, out->body[i], "inertial", NULL);
    SET_FIELDS(out, e, inertial, &b->inertial);
  } else if (i > 0 && moved && !has_geom) {
    tbElement* e = add(out, out->body[i], "inertial", NULL);
    set_reals(out, e, "pos", b->own_pos, 3);
    set_reals(out, e, "quat", b->own_quat, 4);
    set(out, e, "mass", "0");
  }
}

static void write_joint(Output* out, const tbFlatJoint* joint) {
  tbElement* e = add(out, out->body[joint->body], "joint", joint->name);
  SET_FIELDS(out, e, joint, joint);
  // The setting of the file that the joint came from is not written.
  bool aligned = joint->align == TB_AUTO && joint->compiler->alignfree;
  if (tb_joint_floats(joint->type) && aligned) set(out, e, "align", "true");
}

static void write_tree(Output* out) {
  const tbFlat* flat = out->flat;
  out->body = TB_ARENA_NEW(&out->spec->arena, tbElement*, flat->nbody);
  if (!out->body) {
    out->failed = true;
    return;
  }
  int geom = 0;
  for (int i = 0; i < flat->nbody; i++) {
    const tbFlatBody* b = &flat->body[i];
    out->body[i] =
        i == 0 ? section(out, "worldbody") : add(out, out->body[b->parent], "body", b->name);
    if (i > 0) SET_FIELDS(out, out->body[i], body, b);
    bool has_geom = geom < flat->ngeom && flat->geom[geom].body == i;
    while (geom < flat->ngeom && flat->geom[geom].body == i) geom++;
    write_inertial(out, i, has_geom);
  }
  for (int i = 0; i < flat->njoint; i++) write_joint(out, &flat->joint[i]);
#define EACH(id)                                                                          \
  for (int i = 0; i < flat->n##id; i++) {                                                 \
    const tbFlatElement_##id* element = &flat->id[i];                                     \
    SET_FIELDS(out, add(out, out->body[element->body], #id, element->name), id, element); \
  }
  EACH(geom)
  EACH(site)
  EACH(camera)
  EACH(light)
#undef EACH
}

// ---- what refers to the tree --------------------------------------------------------------------

static void write_contacts(Output* out) {
  const tbFlat* flat = out->flat;
  for (int i = 0; i < flat->npair; i++) {
    tbElement* e = add(out, section(out, "contact"), "pair", flat->pair[i].name);
    SET_FIELDS(out, e, pair, &flat->pair[i]);
  }
  for (int i = 0; i < flat->nexclude; i++) {
    tbElement* e = add(out, section(out, "contact"), "exclude", flat->exclude[i].name);
    SET_FIELDS(out, e, exclude, &flat->exclude[i]);
  }
  for (int i = 0; i < flat->nequality; i++) {
    const tbFlatEquality* equality = &flat->equality[i];
    tbElement* e =
        add(out, section(out, "equality"), tb_equality_kinds[equality->type].word, equality->name);
    SET_FIELDS(out, e, equality, equality);
  }
}

static void write_wrap(Output* out, tbElement* tendon, const tbFlatWrap* wrap) {
  bool joint = wrap->type == TB_WRAP_JOINT, site = wrap->type == TB_WRAP_SITE;
  bool pulley = wrap->type == TB_WRAP_PULLEY;
  const char* tag = joint ? "joint" : site ? "site" : pulley ? "pulley" : "geom";
  tbElement* e = add(out, tendon, tag, NULL);
  if (!pulley) set(out, e, tag, wrap->target);
  if (joint || pulley) set_reals(out, e, joint ? "coef" : "divisor", &wrap->prm, 1);
  if (!joint && !site && !pulley) set(out, e, "sidesite", wrap->sidesite);
}

static void write_tendons(Output* out) {
  const tbFlat* flat = out->flat;
  for (int i = 0; i < flat->ntendon; i++) {
    const tbFlatTendon* tendon = &flat->tendon[i];
    tbElement* e = add(out, section(out, "tendon"),
                       tendon->type == TB_TENDON_SPATIAL ? "spatial" : "fixed", tendon->name);
    SET_FIELDS(out, e, tendon, tendon);
    for (int k = 0; k < tendon->wrapnum; k++) {
      write_wrap(out, e, &flat->wrap[tendon->wrapadr + k]);
    }
  }
}

// A servo that inherits its range keeps its element: the general actuator has no such attribute.
static void write_servo(Output* out, const tbFlatActuator* a) {
  tbElement* e = add(out, section(out, "actuator"),
                     a->dyntype == TB_DYN_INTEGRATOR ? "intvelocity" : "position", a->name);
  SET_FIELDS(out, e, actuator, a);
  set_reals(out, e, "kp", &a->gainprm[0], 1);
  tbReal damping = fabs(a->biasprm[2]);
  set_reals(out, e, a->biasprm[2] > 0 ? "dampratio" : "kv", &damping, 1);
  if (a->dyntype == TB_DYN_FILTEREXACT) set_reals(out, e, "timeconst", &a->dynprm[0], 1);
}

// The objects of an extension's transmission, which have no fields.
static void write_extension(Output* out, tbElement* e, const tbFlatActuator* a) {
  const tbTransmissionKind* kind = &tb_transmission_kinds[a->trntype];
  if (a->target[0]) set(out, e, kind->word, a->target[0]);
  if (a->target[1]) set(out, e, kind->second_word, a->target[1]);
}

static void write_actuators(Output* out) {
  for (int i = 0; i < out->flat->nactuator; i++) {
    const tbFlatActuator* a = &out->flat->actuator[i];
    if (a->inheritrange > 0) {
      write_servo(out, a);
      continue;
    }
    tbElement* e = add(out, section(out, "actuator"), "general", a->name);
    SET_FIELDS(out, e, actuator, a);
    write_extension(out, e, a);
  }
}

// The attribute that names an object of a pair or contact sensor.
static const char* choice(int type, bool second) {
  switch (type) {
    case TB_OBJ_GEOM: return second ? "geom2" : "geom1";
    case TB_OBJ_BODY: return second ? "body2" : "body1";
    case TB_OBJ_XBODY: return second ? "subtree2" : "subtree1";
    default: return "site";
  }
}

static void write_contact_sensor(Output* out, tbElement* e, const tbFlatSensor* s) {
  char data[80] = "";
  size_t used = 0;
  for (const tbFlatWord* word = tb_flat_words_contact; word->word; word++) {
    if (!(s->intprm[0] & word->value)) continue;
    used += (size_t)snprintf(data + used, sizeof data - used, used ? " %s" : "%s", word->word);
  }
  set(out, e, "data", data);
  set(out, e, "reduce", tb_field_word(tb_flat_words_reduce, s->intprm[1]));
  set_ints(out, e, "num", &s->intprm[2], 1);
}

static void write_target(Output* out, tbElement* e, const tbFlatSensor* s) {
  static const char* const ONE[] = {[TB_SENSOR_SITE] = "site",
                                    [TB_SENSOR_JOINT] = "joint",
                                    [TB_SENSOR_TENDON] = "tendon",
                                    [TB_SENSOR_ACTUATOR] = "actuator",
                                    [TB_SENSOR_BODY] = "body"};
  int target = tb_sensor_kinds[s->type].target;
  if (target >= TB_SENSOR_SITE && target <= TB_SENSOR_BODY) {
    set(out, e, ONE[target], s->objname);
  } else if (target == TB_SENSOR_ON_CAMERA) {
    set(out, e, "site", s->objname);
    set(out, e, "camera", s->refname);
  } else if (target == TB_SENSOR_PAIR || target == TB_SENSOR_CONTACT) {
    if (s->objname) set(out, e, choice(s->objtype, false), s->objname);
    if (s->refname) set(out, e, choice(s->reftype, true), s->refname);
    if (target == TB_SENSOR_CONTACT) write_contact_sensor(out, e, s);
  } else if (target != TB_SENSOR_NONE && s->objname) {
    set(out, e, "objtype", tb_field_word(tb_flat_words_object, s->objtype));
    set(out, e, "objname", s->objname);
    if (target == TB_SENSOR_IN_SITE) set(out, e, "site", s->refname);
    if (target != TB_SENSOR_REFERENCE || !s->refname) return;
    set(out, e, "reftype", tb_field_word(tb_flat_words_object, s->reftype));
    set(out, e, "refname", s->refname);
  }
}

static void write_sensors(Output* out) {
  for (int i = 0; i < out->flat->nsensor; i++) {
    const tbFlatSensor* s = &out->flat->sensor[i];
    tbElement* e = add(out, section(out, "sensor"), tb_sensor_kinds[s->type].word, s->name);
    SET_FIELDS(out, e, sensor, s);
    write_target(out, e, s);
  }
}

static void write_custom(Output* out) {
  const tbFlat* flat = out->flat;
  for (int i = 0; i < flat->nnumeric; i++) {
    tbElement* e = add(out, section(out, "custom"), "numeric", flat->numeric[i].name);
    SET_FIELDS(out, e, numeric, &flat->numeric[i]);
  }
  for (int i = 0; i < flat->ntext; i++) {
    tbElement* e = add(out, section(out, "custom"), "text", flat->text[i].name);
    SET_FIELDS(out, e, text, &flat->text[i]);
  }
  for (int i = 0; i < flat->ntuple; i++) {
    tbElement* e = add(out, section(out, "custom"), "tuple", flat->tuple[i].name);
    for (int k = 0; k < flat->tuple[i].itemnum; k++) {
      const tbFlatTupleItem* item = &flat->tupleitem[flat->tuple[i].itemadr + k];
      tbElement* part = add(out, e, "element", NULL);
      set(out, part, "objtype", tb_field_word(tb_flat_words_object, item->objtype));
      SET_FIELDS(out, part, tupleitem, item);
    }
  }
}

// The row of a keyframe's array in a model.
static tbFlatList row(tbReal* array, int key, int width) {
  return (tbFlatList){width, array ? array + (size_t)key * (size_t)width : NULL};
}

// A keyframe of an attached model may leave values open, which are those of the reference pose: the
// compiler knows them.
static tbResult write_keys(Output* out, tbError* error) {
  const tbFlat* flat = out->flat;
  tbModel* m = NULL;
  for (int i = 0; i < flat->nkey; i++) {
    tbFlatKey key = flat->key[i];
    if (key.from_parts) {
      if (!m) m = tb_compile(flat, NULL, error);
      if (!m) return TB_ERROR_MODEL;
      key.qpos = row(m->key_qpos, i, m->nq);
      key.qvel = row(m->key_qvel, i, m->nv);
      key.act = row(m->key_act, i, m->na);
      key.ctrl = row(m->key_ctrl, i, m->nu);
      key.mpos = row(m->key_mpos, i, 3 * m->nmocap);
      key.mquat = row(m->key_mquat, i, 4 * m->nmocap);
    }
    tbElement* e = add(out, section(out, "keyframe"), "key", key.name);
    SET_FIELDS(out, e, key, &key);
  }
  tb_model_free(m);
  return TB_OK;
}

// ---- settings of attached models ----------------------------------------------------------------

// Settings that the compiler applies body by body must be the same everywhere.
static tbResult check_settings(const tbFlat* flat, tbError* error) {
  const tbFlatCompiler* a = flat->compiler;
  for (int i = 1; i < flat->nbody; i++) {
    const tbFlatCompiler* b = flat->body[i].compiler;
    const char* what =
        a->boundmass != b->boundmass             ? "boundmass"
        : a->boundinertia != b->boundinertia     ? "boundinertia"
        : a->balanceinertia != b->balanceinertia ? "balanceinertia"
        : a->keepmoments != b->keepmoments       ? "keepmoments"
        : a->inertiafromgeom != b->inertiafromgeom ||
                memcmp(a->inertiagrouprange, b->inertiagrouprange, sizeof a->inertiagrouprange) != 0
            ? "inertiafromgeom or inertiagrouprange"
            : NULL;
    if (!what) continue;
    return tb_fail(error, TB_ERROR_UNSUPPORTED,
                   "body '%s' was attached from a model with another compiler setting (%s), which "
                   "one file cannot say; save the compiled model instead (tb_save_mjcf)",
                   flat->body[i].name ? flat->body[i].name : "", what);
  }
  return TB_OK;
}

tbSpec* tb_spec_from_flat(const tbFlat* flat, const char* path, const tbLoadOptions* options,
                          tbError* error) {
  if (check_settings(flat, error) != TB_OK) return NULL;
  Output out = {.flat = flat, .spec = tb_spec_new(path, options, error)};
  if (!out.spec) return NULL;
  out.spec->root->kind = &tb_schema_root;
  set(&out, out.spec->root, "model", flat->model_name);
  write_compiler(&out);
  write_option(&out);
  write_sizes(&out);
  write_assets(&out);
  write_tree(&out);
  write_contacts(&out);
  write_tendons(&out);
  write_actuators(&out);
  write_sensors(&out);
  write_custom(&out);
  tbResult result = write_keys(&out, error);
  if (!out.failed && result == TB_OK) return out.spec;
  if (out.failed) tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  tb_spec_free(out.spec);
  return NULL;
}
