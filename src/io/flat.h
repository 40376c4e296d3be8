// The flat spec: the contents of a model file before compilation. Parsers (MJCF, URDF) fill it,
// `tb_compile` converts it to a tbModel.
//
// After `tb_flat_finish` all values are resolved: radians, metres, unit quaternions in the parent
// body; default classes applied; frames, replicate and attach expanded; file names resolved. Bodies
// are in depth-first order (the world is 0, a parent precedes its children); joints, geoms, sites,
// cameras and lights are sorted by body, and within a body in the order of the file. Elements refer
// to each other by name; the compiler reports unknown names, with `source` and `line` of the
// element.
//
// The spec's arena contains all data. Adding an element may move the others of its kind: keep
// indices, not pointers.
#ifndef TRIBO_IO_FLAT_H_
#define TRIBO_IO_FLAT_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "tribo/spec_fields.h"
#include "tribo/enums.h"
#include "tribo/model.h"
#include "tribo/option.h"
#include "tribo/spec.h"
#include "tribo/types.h"

typedef tbSpecList tbFlatList;

typedef struct tbFlatCompiler tbFlatCompiler;

// The common members at the start of every element. `given` has one bit per field of the list (in
// its order, including SKIP fields), set if the element or its default class gives the field; see
// TB_GIVEN.
#define TB_FLAT_COMMON              \
  const char* name;   /* or NULL */ \
  const char* source; /* file */    \
  int line;                         \
  uint64_t given;                   \
  const tbFlatCompiler* compiler;

// Whether the element or its class gives the field, for example TB_GIVEN(geom, g, mass).
#define TB_GIVEN(kind, element, field) (((element)->given >> TB_BIT_##kind##_##field) & 1u)
#define TB_SET_GIVEN(kind, element, field) \
  ((element)->given |= (uint64_t)1 << TB_BIT_##kind##_##field)

// The values of a keyframe of an attached model for one joint, actuator or mocap body. The parser
// combines these once the order of the elements is known.
typedef struct tbFlatKeyPart tbFlatKeyPart;
struct tbFlatKeyPart {
  int key;
  tbFlatList first, second;  // joint: qpos, qvel; actuator: ctrl, act; body: mpos, mquat
  const tbFlatKeyPart* next;
};

typedef enum { TB_TENDON_FIXED, TB_TENDON_SPATIAL } tbTendonType;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_LENGTHRANGE(TB_SPEC_MEMBER)
} tbFlatLengthRange;

struct tbFlatCompiler {
  TB_FLAT_COMMON
  TB_SPEC_COMPILER(TB_SPEC_MEMBER)
  tbFlatLengthRange lengthrange;
};

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_SIZE(TB_SPEC_MEMBER)
} tbFlatSize;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_STATISTIC(TB_SPEC_MEMBER)
} tbFlatStatistic;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_INERTIAL(TB_SPEC_MEMBER)
} tbFlatInertial;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_BODY(TB_SPEC_MEMBER)
  int parent;         // -1 for the world
  bool has_inertial;  // the file gives mass and inertia
  tbFlatInertial inertial;
  tbReal own_pos[3], own_quat[4];  // pose relative to the innermost frame
  const tbFlatKeyPart* keys;       // parser only
} tbFlatBody;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_JOINT(TB_SPEC_MEMBER)
  int body;
  const tbFlatKeyPart* keys;  // parser only
} tbFlatJoint;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_GEOM(TB_SPEC_MEMBER)
  int body;
} tbFlatGeom;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_SITE(TB_SPEC_MEMBER)
  int body;
} tbFlatSite;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_CAMERA(TB_SPEC_MEMBER)
  int body;
} tbFlatCamera;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_LIGHT(TB_SPEC_MEMBER)
  int body;
} tbFlatLight;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_MESH(TB_SPEC_MEMBER)
  const char* path;  // file to open, or NULL for inline vertices
} tbFlatMesh;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_HFIELD(TB_SPEC_MEMBER)
  const char* path;  // file to open, or NULL
} tbFlatHField;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_MATERIAL(TB_SPEC_MEMBER)
} tbFlatMaterial;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_PAIR(TB_SPEC_MEMBER)
} tbFlatPair;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_EXCLUDE(TB_SPEC_MEMBER)
} tbFlatExclude;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_EQUALITY(TB_SPEC_MEMBER)
  int type;  // tbEqualityType
} tbFlatEquality;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_TENDON(TB_SPEC_MEMBER)
  int type;     // tbTendonType
  int wrapadr;  // first path element
  int wrapnum;
} tbFlatTendon;

// One element of a tendon's path.
typedef struct {
  TB_FLAT_COMMON
  int type;              // TB_WRAP_JOINT, _PULLEY, _SITE or _SPHERE (any geom until compilation)
  const char* target;    // joint, site or geom; NULL for a pulley
  const char* sidesite;  // geom: or NULL
  tbReal prm;            // joint: coefficient; pulley: divisor
} tbFlatWrap;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_ACTUATOR(TB_SPEC_MEMBER)
  int trntype;                // an extension's transmission,
  const char* target[2];      // whose objects have no field above; or NULL
  const char* element;        // the file's element: "motor", "position", ...
  const tbFlatKeyPart* keys;  // parser only
} tbFlatActuator;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_SENSOR(TB_SPEC_MEMBER)
  int type;             // tbSensorType
  int objtype;          // tbObjType
  const char* objname;  // or NULL
  int reftype;          // tbObjType, TB_OBJ_UNKNOWN for none
  const char* refname;
  int intprm[3];  // contact: data fields, reduction, maximum number
} tbFlatSensor;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_NUMERIC(TB_SPEC_MEMBER)
} tbFlatNumeric;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_TEXTFIELD(TB_SPEC_MEMBER)
} tbFlatTextField;

typedef struct {
  TB_FLAT_COMMON
  int itemadr;  // first of its objects
  int itemnum;
} tbFlatTuple;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_TUPLEITEM(TB_SPEC_MEMBER)
  int objtype;  // tbObjType
} tbFlatTupleItem;

typedef struct {
  TB_FLAT_COMMON
  TB_SPEC_KEY(TB_SPEC_MEMBER)
  bool from_parts;  // of an attached model, or too short: a NaN in qpos, mpos or mquat is the value
                    // at qpos0
} tbFlatKey;

// A default class: one record per kind, inherited from the parent class. All actuators share one.
typedef struct {
  TB_FLAT_COMMON
  int parent;  // -1 for "main"
  tbFlatMesh mesh;
  tbFlatMaterial material;
  tbFlatJoint joint;
  tbFlatGeom geom;
  tbFlatSite site;
  tbFlatCamera camera;
  tbFlatLight light;
  tbFlatPair pair;
  tbFlatEquality equality;
  tbFlatTendon tendon;
  tbFlatActuator actuator;
} tbFlatDefault;

// A note about something in the file that Tribo does not use.
typedef struct {
  const char* file;
  int line;
  int count;  // occurrences of this text; file and line are those of the first
  const char* text;
} tbFlatNote;

// X(Type, member): the arrays of a spec; `member` has nmember elements. tbFlatKind enumerates the
// kinds in this order.
#define TB_FLAT_KINDS(X)        \
  X(tbFlatBody, body)           \
  X(tbFlatJoint, joint)         \
  X(tbFlatGeom, geom)           \
  X(tbFlatSite, site)           \
  X(tbFlatCamera, camera)       \
  X(tbFlatLight, light)         \
  X(tbFlatMesh, mesh)           \
  X(tbFlatHField, hfield)       \
  X(tbFlatMaterial, material)   \
  X(tbFlatPair, pair)           \
  X(tbFlatExclude, exclude)     \
  X(tbFlatEquality, equality)   \
  X(tbFlatTendon, tendon)       \
  X(tbFlatWrap, wrap)           \
  X(tbFlatActuator, actuator)   \
  X(tbFlatSensor, sensor)       \
  X(tbFlatNumeric, numeric)     \
  X(tbFlatTextField, text)      \
  X(tbFlatTuple, tuple)         \
  X(tbFlatTupleItem, tupleitem) \
  X(tbFlatKey, key)

typedef enum {
#define X(type, member) TB_FLAT_##member,
  TB_FLAT_KINDS(X)
#undef X
      TB_NFLATKINDS
} tbFlatKind;

typedef struct tbFlat tbFlat;
struct tbFlat {
  const char* model_name;    // or NULL
  tbFlatCompiler* compiler;  // the main file's settings
  tbOption option;
  tbFlatSize size;
  tbFlatStatistic statistic;
#define X(type, member) \
  type* member;         \
  int n##member;
  TB_FLAT_KINDS(X)
#undef X
  tbFlatNote* note;
  int nnote;
  int capacity[TB_NFLATKINDS];
  int note_capacity;
  tbArena arena;
  tbFlat* attached;  // attached models, whose memory this one uses
  tbFlat* next;
  tbSpec* tree;  // whose texts this one uses, if it owns it; or NULL
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
tbFlat* tb_flat_new(tbError* error);
void tb_flat_free(tbFlat* spec);

// tb_flat_add_geom(spec), ...: adds an element with the initial values of its kind and returns it,
// or NULL if out of memory. Its index is the count before the call.
#define X(type, member) type* tb_flat_add_##member(tbFlat* spec);
TB_FLAT_KINDS(X)
#undef X

// A copy of a string in the spec's arena, and printf into the arena; NULL if out of memory.
const char* tb_flat_text(tbFlat* spec, const char* text);
const char* tb_flat_format(tbFlat* spec, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
// A file name with forward slashes; files from other systems may have backslashes.
const char* tb_flat_slashes(tbFlat* spec, const char* file);

// Adds a note about something in the file that Tribo does not use. Equal texts are counted, not
// repeated.
void tb_flat_note(tbFlat* spec, const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// Sorts the elements as described at the top of this file, and rejects duplicate names. The last
// step of every parser.
tbResult tb_flat_finish(tbFlat* spec, tbError* error);

// Index of a named element, or -1.
int tb_flat_find(const tbFlat* spec, tbFlatKind kind, const char* name);

// For limited, ctrllimited and similar flags: 1 if the range is a limit.
static inline int tb_flat_limited(int limited, const tbReal range[2]) {
  return limited == TB_AUTO ? range[0] < range[1] : limited;
}

// Sets `error` to "file:line: message" for an element (any tbFlat* struct) and returns `code`.
#define TB_FLAT_FAIL(error, code, element, ...) \
  tb_flat_fail((error), (code), (element)->source, (element)->line, __VA_ARGS__)
tbResult tb_flat_fail(tbError* error, tbResult code, const char* file, int line, const char* format,
                      ...) __attribute__((format(printf, 5, 6)));

// Resolves an editable spec, which must outlive the result: default classes, frames, replicate,
// attach, angles. NULL with `error` on failure.
tbFlat* tb_flat_from_spec(const tbSpec* spec, tbError* error);

// Parses MJCF text. `path` names the text in messages, and relative file names refer to its folder.
// NULL with `error` on failure.
tbFlat* tb_flat_parse_mjcf(const char* text, size_t size, const char* path,
                           const tbLoadOptions* options, tbError* error);

#endif
