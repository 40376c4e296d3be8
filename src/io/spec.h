// The editable spec: the contents of a model file before compilation. Parsers (MJCF, URDF) fill it,
// `tb_compile` converts it to a tbModel.
//
// After `tb_spec_finish` all values are resolved: radians, metres, unit quaternions in the parent
// body; default classes applied; frames, replicate and attach expanded; file names resolved. Bodies
// are in depth-first order (the world is 0, a parent precedes its children); joints, geoms, sites,
// cameras and lights are sorted by body, and within a body in the order of the file. Elements refer
// to each other by name; the compiler reports unknown names, with `source` and `line` of the
// element.
//
// The spec's arena contains all data. Adding an element may move the others of its kind: keep
// indices, not pointers.
#ifndef TRIBO_IO_SPEC_H_
#define TRIBO_IO_SPEC_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "io/spec_fields.h"
#include "tribo/enums.h"
#include "tribo/model.h"
#include "tribo/option.h"
#include "tribo/types.h"

// The third value of `limited` and similar flags: the range decides.
enum { TB_AUTO = 2 };

// A list of any length, in the arena.
typedef struct {
  int n;
  tbReal* v;
} tbSpecList;

// Members of one field.
#define TB_SPEC_SHAPE_1
#define TB_SPEC_SHAPE_2 [2]
#define TB_SPEC_SHAPE_3 [3]
#define TB_SPEC_SHAPE_4 [4]
#define TB_SPEC_SHAPE_5 [5]
#define TB_SPEC_SHAPE_6 [6]
#define TB_SPEC_SHAPE_7 [7]
#define TB_SPEC_SHAPE_10 [10]
#define TB_SPEC_MEMBER_REAL(name, most) tbReal name TB_SPEC_SHAPE_##most;
#define TB_SPEC_MEMBER_INT(name, most) int name TB_SPEC_SHAPE_##most;
#define TB_SPEC_MEMBER_ENUM(name, most) int name;
#define TB_SPEC_MEMBER_TEXT(name, most) const char* name;
#define TB_SPEC_MEMBER_LIST(name, most) tbSpecList name;
#define TB_SPEC_MEMBER_SKIP(name, most)
#define TB_SPEC_MEMBER(kind, name, least, most, initial, words, what) \
  TB_SPEC_MEMBER_##kind(name, most)

typedef struct tbSpecCompiler tbSpecCompiler;

// The common members at the start of every element. `given` has one bit per field of the list (in
// its order, including SKIP fields), set if the element or its default class gives the field; see
// TB_GIVEN.
#define TB_SPEC_COMMON              \
  const char* name;   /* or NULL */ \
  const char* source; /* file */    \
  int line;                         \
  uint64_t given;                   \
  const tbSpecCompiler* compiler;

// Whether the element or its class gives the field, for example TB_GIVEN(geom, g, mass).
#define TB_GIVEN(kind, element, field) (((element)->given >> TB_BIT_##kind##_##field) & 1u)
#define TB_SET_GIVEN(kind, element, field) \
  ((element)->given |= (uint64_t)1 << TB_BIT_##kind##_##field)

// The values of a keyframe of an attached model for one joint, actuator or mocap body. The parser
// combines these once the order of the elements is known.
typedef struct tbSpecKeyPart tbSpecKeyPart;
struct tbSpecKeyPart {
  int key;
  tbSpecList first, second;  // joint: qpos, qvel; actuator: ctrl, act; body: mpos, mquat
  const tbSpecKeyPart* next;
};

typedef enum { TB_TENDON_FIXED, TB_TENDON_SPATIAL } tbTendonType;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_LENGTHRANGE(TB_SPEC_MEMBER)
} tbSpecLengthRange;

struct tbSpecCompiler {
  TB_SPEC_COMMON
  TB_SPEC_COMPILER(TB_SPEC_MEMBER)
  tbSpecLengthRange lengthrange;
  bool keep_moments;  // keep moments that no real body has (A + B < C): URDF
};

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_SIZE(TB_SPEC_MEMBER)
} tbSpecSize;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_STATISTIC(TB_SPEC_MEMBER)
} tbSpecStatistic;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_INERTIAL(TB_SPEC_MEMBER)
} tbSpecInertial;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_BODY(TB_SPEC_MEMBER)
  int parent;         // -1 for the world
  bool has_inertial;  // the file gives mass and inertia
  tbSpecInertial inertial;
  tbReal own_pos[3], own_quat[4];  // pose relative to the innermost frame
  const tbSpecKeyPart* keys;       // parser only
} tbSpecBody;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_JOINT(TB_SPEC_MEMBER)
  int body;
  const tbSpecKeyPart* keys;  // parser only
} tbSpecJoint;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_GEOM(TB_SPEC_MEMBER)
  int body;
} tbSpecGeom;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_SITE(TB_SPEC_MEMBER)
  int body;
} tbSpecSite;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_CAMERA(TB_SPEC_MEMBER)
  int body;
} tbSpecCamera;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_LIGHT(TB_SPEC_MEMBER)
  int body;
} tbSpecLight;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_MESH(TB_SPEC_MEMBER)
  const char* path;  // file to open, or NULL for inline vertices
} tbSpecMesh;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_HFIELD(TB_SPEC_MEMBER)
  const char* path;  // file to open, or NULL
} tbSpecHField;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_MATERIAL(TB_SPEC_MEMBER)
} tbSpecMaterial;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_PAIR(TB_SPEC_MEMBER)
} tbSpecPair;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_EXCLUDE(TB_SPEC_MEMBER)
} tbSpecExclude;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_EQUALITY(TB_SPEC_MEMBER)
  int type;  // tbEqualityType
} tbSpecEquality;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_TENDON(TB_SPEC_MEMBER)
  int type;     // tbTendonType
  int wrapadr;  // first path element
  int wrapnum;
} tbSpecTendon;

// One element of a tendon's path.
typedef struct {
  TB_SPEC_COMMON
  int type;              // TB_WRAP_JOINT, _PULLEY, _SITE or _SPHERE (any geom until compilation)
  const char* target;    // joint, site or geom; NULL for a pulley
  const char* sidesite;  // geom: or NULL
  tbReal prm;            // joint: coefficient; pulley: divisor
} tbSpecWrap;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_ACTUATOR(TB_SPEC_MEMBER)
  int trntype;                // an extension's transmission,
  const char* target[2];      // whose objects have no field above; or NULL
  const char* element;        // the file's element: "motor", "position", ...
  const tbSpecKeyPart* keys;  // parser only
} tbSpecActuator;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_SENSOR(TB_SPEC_MEMBER)
  int type;             // tbSensorType
  int objtype;          // tbObjType
  const char* objname;  // or NULL
  int reftype;          // tbObjType, TB_OBJ_UNKNOWN for none
  const char* refname;
  int intprm[3];  // contact: data fields, reduction, maximum number
} tbSpecSensor;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_NUMERIC(TB_SPEC_MEMBER)
} tbSpecNumeric;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_TEXTFIELD(TB_SPEC_MEMBER)
} tbSpecTextField;

typedef struct {
  TB_SPEC_COMMON
  int itemadr;  // first of its objects
  int itemnum;
} tbSpecTuple;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_TUPLEITEM(TB_SPEC_MEMBER)
  int objtype;  // tbObjType
} tbSpecTupleItem;

typedef struct {
  TB_SPEC_COMMON
  TB_SPEC_KEY(TB_SPEC_MEMBER)
  bool from_parts;  // of an attached model, or too short: a NaN in qpos, mpos or mquat is the value
                    // at qpos0
} tbSpecKey;

// A default class: one record per kind, inherited from the parent class. All actuators share one.
typedef struct {
  TB_SPEC_COMMON
  int parent;  // -1 for "main"
  tbSpecMesh mesh;
  tbSpecMaterial material;
  tbSpecJoint joint;
  tbSpecGeom geom;
  tbSpecSite site;
  tbSpecCamera camera;
  tbSpecLight light;
  tbSpecPair pair;
  tbSpecEquality equality;
  tbSpecTendon tendon;
  tbSpecActuator actuator;
} tbSpecDefault;

// A note about something in the file that Tribo does not use.
typedef struct {
  const char* file;
  int line;
  int count;  // occurrences of this text; file and line are those of the first
  const char* text;
} tbSpecNote;

// X(Type, member): the arrays of a spec; `member` has nmember elements. tbSpecKind enumerates the
// kinds in this order.
#define TB_SPEC_KINDS(X)        \
  X(tbSpecBody, body)           \
  X(tbSpecJoint, joint)         \
  X(tbSpecGeom, geom)           \
  X(tbSpecSite, site)           \
  X(tbSpecCamera, camera)       \
  X(tbSpecLight, light)         \
  X(tbSpecMesh, mesh)           \
  X(tbSpecHField, hfield)       \
  X(tbSpecMaterial, material)   \
  X(tbSpecPair, pair)           \
  X(tbSpecExclude, exclude)     \
  X(tbSpecEquality, equality)   \
  X(tbSpecTendon, tendon)       \
  X(tbSpecWrap, wrap)           \
  X(tbSpecActuator, actuator)   \
  X(tbSpecSensor, sensor)       \
  X(tbSpecNumeric, numeric)     \
  X(tbSpecTextField, text)      \
  X(tbSpecTuple, tuple)         \
  X(tbSpecTupleItem, tupleitem) \
  X(tbSpecKey, key)

typedef enum {
#define X(type, member) TB_SPEC_##member,
  TB_SPEC_KINDS(X)
#undef X
      TB_NSPECKINDS
} tbSpecKind;

typedef struct tbSpec tbSpec;
struct tbSpec {
  const char* model_name;    // or NULL
  tbSpecCompiler* compiler;  // the main file's settings
  tbOption option;
  tbSpecSize size;
  tbSpecStatistic statistic;
#define X(type, member) \
  type* member;         \
  int n##member;
  TB_SPEC_KINDS(X)
#undef X
  tbSpecNote* note;
  int nnote;
  int capacity[TB_NSPECKINDS];
  int note_capacity;
  tbArena arena;
  tbSpec* attached;  // attached models, whose memory this one uses
  tbSpec* next;
};

// Bits of `given`: TB_BIT_geom_mass is the position of mass in TB_SPEC_GEOM.
#define X(kind, name, least, most, initial, words, what) TB_BIT_body_##name,
enum { TB_SPEC_BODY(X) TB_NBITS_body };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_inertial_##name,
enum { TB_SPEC_INERTIAL(X) TB_NBITS_inertial };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_joint_##name,
enum { TB_SPEC_JOINT(X) TB_NBITS_joint };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_geom_##name,
enum { TB_SPEC_GEOM(X) TB_NBITS_geom };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_site_##name,
enum { TB_SPEC_SITE(X) TB_NBITS_site };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_camera_##name,
enum { TB_SPEC_CAMERA(X) TB_NBITS_camera };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_light_##name,
enum { TB_SPEC_LIGHT(X) TB_NBITS_light };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_mesh_##name,
enum { TB_SPEC_MESH(X) TB_NBITS_mesh };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_hfield_##name,
enum { TB_SPEC_HFIELD(X) TB_NBITS_hfield };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_material_##name,
enum { TB_SPEC_MATERIAL(X) TB_NBITS_material };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_pair_##name,
enum { TB_SPEC_PAIR(X) TB_NBITS_pair };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_exclude_##name,
enum { TB_SPEC_EXCLUDE(X) TB_NBITS_exclude };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_equality_##name,
enum { TB_SPEC_EQUALITY(X) TB_NBITS_equality };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_tendon_##name,
enum { TB_SPEC_TENDON(X) TB_NBITS_tendon };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_actuator_##name,
enum { TB_SPEC_ACTUATOR(X) TB_NBITS_actuator };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_sensor_##name,
enum { TB_SPEC_SENSOR(X) TB_NBITS_sensor };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_numeric_##name,
enum { TB_SPEC_NUMERIC(X) TB_NBITS_numeric };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_text_##name,
enum { TB_SPEC_TEXTFIELD(X) TB_NBITS_text };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_tupleitem_##name,
enum { TB_SPEC_TUPLEITEM(X) TB_NBITS_tupleitem };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_key_##name,
enum { TB_SPEC_KEY(X) TB_NBITS_key };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_compiler_##name,
enum { TB_SPEC_COMPILER(X) TB_NBITS_compiler };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_lengthrange_##name,
enum { TB_SPEC_LENGTHRANGE(X) TB_NBITS_lengthrange };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_size_##name,
enum { TB_SPEC_SIZE(X) TB_NBITS_size };
#undef X
#define X(kind, name, least, most, initial, words, what) TB_BIT_statistic_##name,
enum { TB_SPEC_STATISTIC(X) TB_NBITS_statistic };
#undef X

// An empty spec: a world body and MuJoCo's default settings. NULL if out of memory.
tbSpec* tb_spec_new(tbError* error);
void tb_spec_free(tbSpec* spec);

// tb_spec_add_geom(spec), ...: adds an element with the initial values of its kind and returns it,
// or NULL if out of memory. Its index is the count before the call.
#define X(type, member) type* tb_spec_add_##member(tbSpec* spec);
TB_SPEC_KINDS(X)
#undef X

// A copy of a string in the spec's arena, and printf into the arena; NULL if out of memory.
const char* tb_spec_text(tbSpec* spec, const char* text);
const char* tb_spec_format(tbSpec* spec, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
// A file name with forward slashes; files from other systems may have backslashes.
const char* tb_spec_slashes(tbSpec* spec, const char* file);

// Adds a note about something in the file that Tribo does not use. Equal texts are counted, not
// repeated.
void tb_spec_note(tbSpec* spec, const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// Sorts the elements as described at the top of this file, and rejects duplicate names. The last
// step of every parser.
tbResult tb_spec_finish(tbSpec* spec, tbError* error);

// Index of a named element, or -1.
int tb_spec_find(const tbSpec* spec, tbSpecKind kind, const char* name);

// For limited, ctrllimited and similar flags: 1 if the range is a limit.
static inline int tb_spec_limited(int limited, const tbReal range[2]) {
  return limited == TB_AUTO ? range[0] < range[1] : limited;
}

// Sets `error` to "file:line: message" for an element (any tbSpec* struct) and returns `code`.
#define TB_SPEC_FAIL(error, code, element, ...) \
  tb_spec_fail((error), (code), (element)->source, (element)->line, __VA_ARGS__)
tbResult tb_spec_fail(tbError* error, tbResult code, const char* file, int line, const char* format,
                      ...) __attribute__((format(printf, 5, 6)));

// Parses MJCF text. `path` names the text in messages, and relative file names refer to its folder.
// NULL with `error` on failure.
tbSpec* tb_spec_parse_mjcf(const char* text, size_t size, const char* path,
                           const tbLoadOptions* options, tbError* error);

#endif
