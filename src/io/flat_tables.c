#include "io/flat_tables.h"

#include <string.h>

#include "io/spec_elements.h"
#include "model/actuator_kinds.h"
#include "model/joint_kinds.h"
#include "model/transmission_kinds.h"

// The words of enumerations; values are those of tribo/enums.h.
#define TABLE(name, ...) static const tbFlatWord WORDS_##name[] = {__VA_ARGS__, {NULL, 0}}
TABLE(BOOL, {"false", 0}, {"true", 1});
TABLE(TRISTATE, {"false", 0}, {"true", 1}, {"auto", TB_AUTO});
#define X(TYPE, word, nq, nv, translations, limits, flags, function) {word, TB_JOINT_##TYPE},
static const tbFlatWord WORDS_JOINTTYPE[] = {TB_JOINTS(X){NULL, 0}};
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
static const tbFlatWord WORDS_DYNTYPE[] = {TB_ACTUATOR_DYNAMICS(X){NULL, 0}};
#undef X
#define X(TYPE, word, affine, function) {word, TB_GAIN_##TYPE},
static const tbFlatWord WORDS_GAINTYPE[] = {TB_ACTUATOR_GAINS(X){NULL, 0}};
#undef X
#define X(TYPE, word, affine, function) {word, TB_BIAS_##TYPE},
static const tbFlatWord WORDS_BIASTYPE[] = {TB_ACTUATOR_BIASES(X){NULL, 0}};
#undef X
TABLE(DATATYPE, {"real", 0}, {"positive", 1}, {"axis", 2}, {"quaternion", 3});
TABLE(STAGE, {"none", 0}, {"pos", 1}, {"vel", 2}, {"acc", 3});
TABLE(COORDINATE, {"local", 0}, {"global", 1});
TABLE(ANGLE, {"radian", 0}, {"degree", 1});
TABLE(LRMODE, {"none", 0}, {"muscle", 1}, {"muscleuser", 2}, {"all", 3});
TABLE(INTEGRATOR, {"Euler", TB_INTEGRATOR_EULER}, {"RK4", TB_INTEGRATOR_RK4},
      {"implicit", TB_INTEGRATOR_IMPLICIT}, {"implicitfast", TB_INTEGRATOR_IMPLICITFAST},
      {"expo", TB_INTEGRATOR_EXPO}, {"expo-midpoint", TB_INTEGRATOR_EXPO_MIDPOINT},
      {"euler-explicit", TB_INTEGRATOR_EULER_EXPLICIT},
      {"euler-implicit", TB_INTEGRATOR_EULER_IMPLICIT});
TABLE(CONE, {"pyramidal", TB_CONE_PYRAMIDAL}, {"elliptic", TB_CONE_ELLIPTIC});
TABLE(JACOBIAN, {"dense", TB_JACOBIAN_DENSE}, {"sparse", TB_JACOBIAN_SPARSE},
      {"auto", TB_JACOBIAN_AUTO});
TABLE(SOLVER, {"PGS", TB_MJSOLVER_PGS}, {"CG", TB_MJSOLVER_CG}, {"Newton", TB_MJSOLVER_NEWTON});
#define WORDS_NONE NULL

const tbFlatWord tb_flat_words_collision[] = {
    {"all", 0}, {"predefined", 1}, {"dynamic", 2}, {NULL, 0}};
const tbFlatWord tb_flat_words_enable[] = {{"disable", 0}, {"enable", 1}, {NULL, 0}};
const tbFlatWord tb_flat_words_object[] = {
    {"body", TB_OBJ_BODY},         {"xbody", TB_OBJ_XBODY},     {"joint", TB_OBJ_JOINT},
    {"dof", TB_OBJ_DOF},           {"geom", TB_OBJ_GEOM},       {"site", TB_OBJ_SITE},
    {"camera", TB_OBJ_CAMERA},     {"light", TB_OBJ_LIGHT},     {"mesh", TB_OBJ_MESH},
    {"hfield", TB_OBJ_HFIELD},     {"pair", TB_OBJ_PAIR},       {"exclude", TB_OBJ_EXCLUDE},
    {"equality", TB_OBJ_EQUALITY}, {"tendon", TB_OBJ_TENDON},   {"actuator", TB_OBJ_ACTUATOR},
    {"sensor", TB_OBJ_SENSOR},     {"numeric", TB_OBJ_NUMERIC}, {"text", TB_OBJ_TEXT},
    {"tuple", TB_OBJ_TUPLE},       {"key", TB_OBJ_KEY},         {NULL, 0}};
const tbFlatWord tb_flat_words_contact[] = {
    {"found", TB_CONTACT_FOUND},     {"force", TB_CONTACT_FORCE},
    {"torque", TB_CONTACT_TORQUE},   {"dist", TB_CONTACT_DIST},
    {"pos", TB_CONTACT_POS},         {"normal", TB_CONTACT_NORMAL},
    {"tangent", TB_CONTACT_TANGENT}, {NULL, 0}};
const tbFlatWord tb_flat_words_reduce[] = {{"none", TB_REDUCE_NONE},
                                           {"mindist", TB_REDUCE_MINDIST},
                                           {"maxforce", TB_REDUCE_MAXFORCE},
                                           {"netforce", TB_REDUCE_NETFORCE},
                                           {NULL, 0}};
#define WORDS_OBJECT tb_flat_words_object
#define WORDS_REDUCE tb_flat_words_reduce
#define WORDS_COLLISION tb_flat_words_collision

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
  tbFlatTable tb_flat_table_##id(void) {                             \
    static const tbFlatField FIELDS[] = {list(ROW)};                 \
    _Static_assert(sizeof FIELDS / sizeof FIELDS[0] <= 64, "given"); \
    tbFlatTable table = {FIELDS, sizeof FIELDS / sizeof FIELDS[0]};  \
    return table;                                                    \
  }                                                                  \
  TYPE tb_flat_initial_##id(void) {                                  \
    TYPE element = {list(INIT)};                                     \
    return element;                                                  \
  }
#define TYPE tbFlatBody
DEFINE(body, TB_SPEC_BODY)
#undef TYPE
#define TYPE tbFlatInertial
DEFINE(inertial, TB_SPEC_INERTIAL)
#undef TYPE
#define TYPE tbFlatJoint
DEFINE(joint, TB_SPEC_JOINT)
#undef TYPE
#define TYPE tbFlatGeom
DEFINE(geom, TB_SPEC_GEOM)
#undef TYPE
#define TYPE tbFlatSite
DEFINE(site, TB_SPEC_SITE)
#undef TYPE
#define TYPE tbFlatCamera
DEFINE(camera, TB_SPEC_CAMERA)
#undef TYPE
#define TYPE tbFlatLight
DEFINE(light, TB_SPEC_LIGHT)
#undef TYPE
#define TYPE tbFlatMesh
DEFINE(mesh, TB_SPEC_MESH)
#undef TYPE
#define TYPE tbFlatHField
DEFINE(hfield, TB_SPEC_HFIELD)
#undef TYPE
#define TYPE tbFlatMaterial
DEFINE(material, TB_SPEC_MATERIAL)
#undef TYPE
#define TYPE tbFlatPair
DEFINE(pair, TB_SPEC_PAIR)
#undef TYPE
#define TYPE tbFlatExclude
DEFINE(exclude, TB_SPEC_EXCLUDE)
#undef TYPE
#define TYPE tbFlatEquality
DEFINE(equality, TB_SPEC_EQUALITY)
#undef TYPE
#define TYPE tbFlatTendon
DEFINE(tendon, TB_SPEC_TENDON)
#undef TYPE
#define TYPE tbFlatActuator
DEFINE(actuator, TB_SPEC_ACTUATOR)
#undef TYPE
#define TYPE tbFlatSensor
DEFINE(sensor, TB_SPEC_SENSOR)
#undef TYPE
#define TYPE tbFlatNumeric
DEFINE(numeric, TB_SPEC_NUMERIC)
#undef TYPE
#define TYPE tbFlatTextField
DEFINE(text, TB_SPEC_TEXTFIELD)
#undef TYPE
#define TYPE tbFlatTupleItem
DEFINE(tupleitem, TB_SPEC_TUPLEITEM)
#undef TYPE
#define TYPE tbFlatKey
DEFINE(key, TB_SPEC_KEY)
#undef TYPE
#define TYPE tbFlatCompiler
DEFINE(compiler, TB_SPEC_COMPILER)
#undef TYPE
#define TYPE tbFlatLengthRange
DEFINE(lengthrange, TB_SPEC_LENGTHRANGE)
#undef TYPE
#define TYPE tbFlatSize
DEFINE(size, TB_SPEC_SIZE)
#undef TYPE
#define TYPE tbFlatStatistic
DEFINE(statistic, TB_SPEC_STATISTIC)
#undef TYPE

const char** tb_flat_transmission(tbFlatActuator* a, int type, int k) {
  const tbTransmissionKind* kind = &tb_transmission_kinds[type];
  const char* word = k ? kind->second_word : kind->word;
  tbFlatTable table = tb_flat_table_actuator();
  for (int i = 0; word && i < table.nfield; i++) {
    if (strcmp(table.field[i].name, word) != 0) continue;
    return (const char**)(void*)((char*)a + table.field[i].offset);
  }
  return word && a->trntype == type ? &a->target[k] : NULL;
}

// Attributes that are not fields.
#define NAMED(kind, name, least, most, initial, words, what) \
  {#name, TB_FIELD_##kind, least, most, 0, WORDS_##words},
#define DEFINE_NAMED(id, list)                                      \
  tbFlatTable tb_flat_table_##id(void) {                            \
    static const tbFlatField FIELDS[] = {list(NAMED)};              \
    tbFlatTable table = {FIELDS, sizeof FIELDS / sizeof FIELDS[0]}; \
    return table;                                                   \
  }
DEFINE_NAMED(replicate, TB_SPEC_REPLICATE)
DEFINE_NAMED(attach, TB_SPEC_ATTACH)
DEFINE_NAMED(model, TB_SPEC_MODEL)
DEFINE_NAMED(texture, TB_SPEC_TEXTURE)
DEFINE_NAMED(wrap, TB_SPEC_WRAP)
DEFINE_NAMED(shortcut, TB_SPEC_SHORTCUT)
DEFINE_NAMED(target, TB_SPEC_TARGET)

tbFlatTable tb_flat_table_none(void) {
  tbFlatTable table = {NULL, 0};
  return table;
}

tbFlatTable tb_flat_table_flag(void) {
#define X(name, disable, enable, unused) {#name, TB_FIELD_ENUM, 1, 1, 0, tb_flat_words_enable},
  static const tbFlatField FIELDS[] = {TB_SPEC_FLAGS(X)};
#undef X
  tbFlatTable table = {FIELDS, sizeof FIELDS / sizeof FIELDS[0]};
  return table;
}

tbFlatTable tb_flat_table_option(void) {
#define MEMBER(member) offsetof(tbOption, member)
#define MEMBER_REAL(member) MEMBER(member)
#define MEMBER_INT(member) MEMBER(member)
#define MEMBER_ENUM(member) MEMBER(member)
#define MEMBER_LIST(member) MEMBER(member)
#define MEMBER_TEXT(member) MEMBER(member)
#define MEMBER_SKIP(member) 0
#define X(kind, name, least, most, member, words, what) \
  {#name, TB_FIELD_##kind, least, most, MEMBER_##kind(member), WORDS_##words},
#define OWN(type, name, count, value, allowed, unit, what) \
  {#name, TB_FIELD_TEXT, 0, 0, MEMBER(name), NULL},
  static const tbFlatField FIELDS[] = {TB_SPEC_OPTION(X) TB_OPTION_FIELDS(OWN)};
#undef OWN
#undef X
  tbFlatTable table = {FIELDS, sizeof FIELDS / sizeof FIELDS[0]};
  return table;
}

tbFlatDefault tb_flat_initial_default(void) {
  tbFlatDefault record = {.parent = -1};
  record.mesh = tb_flat_initial_mesh();
  record.material = tb_flat_initial_material();
  record.joint = tb_flat_initial_joint();
  record.geom = tb_flat_initial_geom();
  record.site = tb_flat_initial_site();
  record.camera = tb_flat_initial_camera();
  record.light = tb_flat_initial_light();
  record.pair = tb_flat_initial_pair();
  record.equality = tb_flat_initial_equality();
  record.tendon = tb_flat_initial_tendon();
  record.actuator = tb_flat_initial_actuator();
  return record;
}

const tbFlatKindInfo* tb_flat_kind_info(tbFlatKind kind) {
  static const tbFlatKindInfo KINDS[] = {
#define X(type, member) \
  {#member, sizeof(type), offsetof(tbFlat, member), offsetof(tbFlat, n##member)},
      TB_FLAT_KINDS(X)
#undef X
  };
  return &KINDS[kind];
}

int tb_flat_count(const tbFlat* spec, tbFlatKind kind) {
  int count;
  memcpy(&count, (const char*)spec + tb_flat_kind_info(kind)->count_offset, sizeof count);
  return count;
}

tbFlatElement* tb_flat_at(const tbFlat* spec, tbFlatKind kind, int index) {
  const tbFlatKindInfo* info = tb_flat_kind_info(kind);
  char* array;
  memcpy(&array, (const char*)spec + info->array_offset, sizeof array);
  return (tbFlatElement*)(void*)(array + (size_t)index * info->size);
}
