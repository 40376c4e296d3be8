#include "io/spec_tables.h"

#include <string.h>

#include "model/actuator_kinds.h"
#include "model/joint_kinds.h"
#include "model/transmission_kinds.h"

// The words of enumerations; values are those of tribo/enums.h.
#define TABLE(name, ...) static const tbSpecWord WORDS_##name[] = {__VA_ARGS__, {NULL, 0}}
TABLE(BOOL, {"false", 0}, {"true", 1});
TABLE(TRISTATE, {"false", 0}, {"true", 1}, {"auto", TB_AUTO});
#define X(TYPE, word, nq, nv, translations, limits, flags, function) {word, TB_JOINT_##TYPE},
static const tbSpecWord WORDS_JOINTTYPE[] = {TB_JOINTS(X){NULL, 0}};
#undef X
TABLE(GEOMTYPE, {"plane", TB_GEOM_PLANE}, {"hfield", TB_GEOM_HFIELD}, {"sphere", TB_GEOM_SPHERE},
      {"capsule", TB_GEOM_CAPSULE}, {"ellipsoid", TB_GEOM_ELLIPSOID},
      {"cylinder", TB_GEOM_CYLINDER}, {"box", TB_GEOM_BOX}, {"mesh", TB_GEOM_MESH});
TABLE(SLEEP, {"auto", 0}, {"never", 1}, {"allowed", 2}, {"init", 3});
TABLE(PROJECTION, {"perspective", 0}, {"orthographic", 1});
TABLE(LIGHTTYPE, {"spot", 0}, {"directional", 1}, {"point", 2}, {"image", 3});
TABLE(FLUIDSHAPE, {"none", 0}, {"ellipsoid", 1});
TABLE(CAMLIGHT, {"fixed", 0}, {"track", 1}, {"trackcom", 2}, {"targetbody", 3},
      {"targetbodycom", 4});
TABLE(MESHINERTIA, {"convex", 0}, {"exact", 1}, {"legacy", 2}, {"shell", 3});
#define X(TYPE, word, affine, function) {word, TB_DYN_##TYPE},
static const tbSpecWord WORDS_DYNTYPE[] = {TB_ACTUATOR_DYNAMICS(X){NULL, 0}};
#undef X
#define X(TYPE, word, affine, function) {word, TB_GAIN_##TYPE},
static const tbSpecWord WORDS_GAINTYPE[] = {TB_ACTUATOR_GAINS(X){NULL, 0}};
#undef X
#define X(TYPE, word, affine, function) {word, TB_BIAS_##TYPE},
static const tbSpecWord WORDS_BIASTYPE[] = {TB_ACTUATOR_BIASES(X){NULL, 0}};
#undef X
TABLE(DATATYPE, {"real", 0}, {"positive", 1}, {"axis", 2}, {"quaternion", 3});
TABLE(STAGE, {"none", 0}, {"pos", 1}, {"vel", 2}, {"acc", 3});
TABLE(COORDINATE, {"local", 0}, {"global", 1});
TABLE(ANGLE, {"radian", 0}, {"degree", 1});
TABLE(LRMODE, {"none", 0}, {"muscle", 1}, {"muscleuser", 2}, {"all", 3});
#define WORDS_NONE NULL

// Initial values: a plain one, or a parenthesised list of several.
#define UNWRAP(...) \
  { __VA_ARGS__ }
#define VALUE_1(initial) initial
#define VALUE_2(initial) UNWRAP initial
#define VALUE_3(initial) UNWRAP initial
#define VALUE_4(initial) UNWRAP initial
#define VALUE_5(initial) UNWRAP initial
#define VALUE_6(initial) UNWRAP initial
#define VALUE_7(initial) UNWRAP initial
#define VALUE_10(initial) UNWRAP initial
#define INIT_REAL(member, most, initial) .member = VALUE_##most(initial),
#define INIT_INT(member, most, initial) .member = VALUE_##most(initial),
#define INIT_ENUM(member, most, initial) .member = initial,
#define INIT_TEXT(member, most, initial) .member = initial,
#define INIT_LIST(member, most, initial) .member = {0, NULL},
#define INIT_SKIP(member, most, initial)
#define INIT(kind, member, least, most, initial, words, what) INIT_##kind(member, most, initial)

#define OFFSET_REAL(type, member) offsetof(type, member)
#define OFFSET_INT(type, member) offsetof(type, member)
#define OFFSET_ENUM(type, member) offsetof(type, member)
#define OFFSET_TEXT(type, member) offsetof(type, member)
#define OFFSET_LIST(type, member) offsetof(type, member)
#define OFFSET_SKIP(type, member) 0
#define ROW(kind, member, least, most, initial, words, what) \
  {#member, TB_FIELD_##kind, least, most, OFFSET_##kind(TYPE, member), WORDS_##words},

// One table and one initial element per list; TYPE is the struct of the current list.
#define DEFINE(id, list)                                             \
  tbSpecTable tb_spec_table_##id(void) {                             \
    static const tbSpecField FIELDS[] = {list(ROW)};                 \
    _Static_assert(sizeof FIELDS / sizeof FIELDS[0] <= 64, "given"); \
    tbSpecTable table = {FIELDS, sizeof FIELDS / sizeof FIELDS[0]};  \
    return table;                                                    \
  }                                                                  \
  TYPE tb_spec_initial_##id(void) {                                  \
    TYPE element = {list(INIT)};                                     \
    return element;                                                  \
  }
#define TYPE tbSpecBody
DEFINE(body, TB_SPEC_BODY)
#undef TYPE
#define TYPE tbSpecInertial
DEFINE(inertial, TB_SPEC_INERTIAL)
#undef TYPE
#define TYPE tbSpecJoint
DEFINE(joint, TB_SPEC_JOINT)
#undef TYPE
#define TYPE tbSpecGeom
DEFINE(geom, TB_SPEC_GEOM)
#undef TYPE
#define TYPE tbSpecSite
DEFINE(site, TB_SPEC_SITE)
#undef TYPE
#define TYPE tbSpecCamera
DEFINE(camera, TB_SPEC_CAMERA)
#undef TYPE
#define TYPE tbSpecLight
DEFINE(light, TB_SPEC_LIGHT)
#undef TYPE
#define TYPE tbSpecMesh
DEFINE(mesh, TB_SPEC_MESH)
#undef TYPE
#define TYPE tbSpecHField
DEFINE(hfield, TB_SPEC_HFIELD)
#undef TYPE
#define TYPE tbSpecMaterial
DEFINE(material, TB_SPEC_MATERIAL)
#undef TYPE
#define TYPE tbSpecPair
DEFINE(pair, TB_SPEC_PAIR)
#undef TYPE
#define TYPE tbSpecExclude
DEFINE(exclude, TB_SPEC_EXCLUDE)
#undef TYPE
#define TYPE tbSpecEquality
DEFINE(equality, TB_SPEC_EQUALITY)
#undef TYPE
#define TYPE tbSpecTendon
DEFINE(tendon, TB_SPEC_TENDON)
#undef TYPE
#define TYPE tbSpecActuator
DEFINE(actuator, TB_SPEC_ACTUATOR)
#undef TYPE
#define TYPE tbSpecSensor
DEFINE(sensor, TB_SPEC_SENSOR)
#undef TYPE
#define TYPE tbSpecNumeric
DEFINE(numeric, TB_SPEC_NUMERIC)
#undef TYPE
#define TYPE tbSpecTextField
DEFINE(text, TB_SPEC_TEXTFIELD)
#undef TYPE
#define TYPE tbSpecTupleItem
DEFINE(tupleitem, TB_SPEC_TUPLEITEM)
#undef TYPE
#define TYPE tbSpecKey
DEFINE(key, TB_SPEC_KEY)
#undef TYPE
#define TYPE tbSpecCompiler
DEFINE(compiler, TB_SPEC_COMPILER)
#undef TYPE
#define TYPE tbSpecLengthRange
DEFINE(lengthrange, TB_SPEC_LENGTHRANGE)
#undef TYPE
#define TYPE tbSpecSize
DEFINE(size, TB_SPEC_SIZE)
#undef TYPE
#define TYPE tbSpecStatistic
DEFINE(statistic, TB_SPEC_STATISTIC)
#undef TYPE

const char** tb_spec_transmission(tbSpecActuator* a, int type, int k) {
  const tbTransmissionKind* kind = &tb_transmission_kinds[type];
  const char* word = k ? kind->second_word : kind->word;
  tbSpecTable table = tb_spec_table_actuator();
  for (int i = 0; word && i < table.nfield; i++) {
    if (strcmp(table.field[i].name, word) != 0) continue;
    return (const char**)(void*)((char*)a + table.field[i].offset);
  }
  return word && a->trntype == type ? &a->target[k] : NULL;
}

tbSpecDefault tb_spec_initial_default(void) {
  tbSpecDefault record = {.parent = -1};
  record.mesh = tb_spec_initial_mesh();
  record.material = tb_spec_initial_material();
  record.joint = tb_spec_initial_joint();
  record.geom = tb_spec_initial_geom();
  record.site = tb_spec_initial_site();
  record.camera = tb_spec_initial_camera();
  record.light = tb_spec_initial_light();
  record.pair = tb_spec_initial_pair();
  record.equality = tb_spec_initial_equality();
  record.tendon = tb_spec_initial_tendon();
  record.actuator = tb_spec_initial_actuator();
  return record;
}

const tbSpecKindInfo* tb_spec_kind_info(tbSpecKind kind) {
  static const tbSpecKindInfo KINDS[] = {
#define X(type, member) \
  {#member, sizeof(type), offsetof(tbSpec, member), offsetof(tbSpec, n##member)},
      TB_SPEC_KINDS(X)
#undef X
  };
  return &KINDS[kind];
}

int tb_spec_count(const tbSpec* spec, tbSpecKind kind) {
  int count;
  memcpy(&count, (const char*)spec + tb_spec_kind_info(kind)->count_offset, sizeof count);
  return count;
}

tbSpecElement* tb_spec_at(const tbSpec* spec, tbSpecKind kind, int index) {
  const tbSpecKindInfo* info = tb_spec_kind_info(kind);
  char* array;
  memcpy(&array, (const char*)spec + info->array_offset, sizeof array);
  return (tbSpecElement*)(void*)(array + (size_t)index * info->size);
}
