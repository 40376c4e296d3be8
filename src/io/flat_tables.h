// The lists of spec_fields.h as tables, for code that handles all kinds of elements.
#ifndef TRIBO_IO_FLAT_TABLES_H_
#define TRIBO_IO_FLAT_TABLES_H_

#include "io/flat.h"

typedef enum {
  TB_FIELD_REAL,
  TB_FIELD_INT,
  TB_FIELD_ENUM,
  TB_FIELD_TEXT,
  TB_FIELD_LIST,
  TB_FIELD_SKIP
} tbFlatFieldKind;

// A word of an enumeration; a table ends with a NULL word.
typedef struct {
  const char* word;
  int value;
} tbFlatWord;

typedef struct {
  const char* name;
  tbFlatFieldKind kind;
  int least, most;
  size_t offset;  // of the member
  const tbFlatWord* words;
} tbFlatField;

// The member with the name of the first (k = 0) or the second object of an actuator by a type of
// transmission; NULL where the actuator can have none.
const char** tb_flat_transmission(tbFlatActuator* actuator, int type, int k);

enum { TB_FLAT_MOST = 16 };  // numbers of a field that is not a list

// The fields of one kind of element; the position of a field is its bit in `given`.
typedef struct {
  const tbFlatField* field;
  int nfield;
} tbFlatTable;

// X(name, LIST, Type): every list with its struct.
#define TB_FLAT_TABLES(X)                                \
  X(body, TB_SPEC_BODY, tbFlatBody)                      \
  X(inertial, TB_SPEC_INERTIAL, tbFlatInertial)          \
  X(joint, TB_SPEC_JOINT, tbFlatJoint)                   \
  X(geom, TB_SPEC_GEOM, tbFlatGeom)                      \
  X(site, TB_SPEC_SITE, tbFlatSite)                      \
  X(camera, TB_SPEC_CAMERA, tbFlatCamera)                \
  X(light, TB_SPEC_LIGHT, tbFlatLight)                   \
  X(mesh, TB_SPEC_MESH, tbFlatMesh)                      \
  X(hfield, TB_SPEC_HFIELD, tbFlatHField)                \
  X(material, TB_SPEC_MATERIAL, tbFlatMaterial)          \
  X(pair, TB_SPEC_PAIR, tbFlatPair)                      \
  X(exclude, TB_SPEC_EXCLUDE, tbFlatExclude)             \
  X(equality, TB_SPEC_EQUALITY, tbFlatEquality)          \
  X(tendon, TB_SPEC_TENDON, tbFlatTendon)                \
  X(actuator, TB_SPEC_ACTUATOR, tbFlatActuator)          \
  X(sensor, TB_SPEC_SENSOR, tbFlatSensor)                \
  X(numeric, TB_SPEC_NUMERIC, tbFlatNumeric)             \
  X(text, TB_SPEC_TEXTFIELD, tbFlatTextField)            \
  X(tupleitem, TB_SPEC_TUPLEITEM, tbFlatTupleItem)       \
  X(key, TB_SPEC_KEY, tbFlatKey)                         \
  X(compiler, TB_SPEC_COMPILER, tbFlatCompiler)          \
  X(lengthrange, TB_SPEC_LENGTHRANGE, tbFlatLengthRange) \
  X(size, TB_SPEC_SIZE, tbFlatSize)                      \
  X(statistic, TB_SPEC_STATISTIC, tbFlatStatistic)

// tb_flat_table_geom() and the element with initial values, tb_flat_initial_geom().
#define X(name, list, type)               \
  tbFlatTable tb_flat_table_##name(void); \
  type tb_flat_initial_##name(void);
TB_FLAT_TABLES(X)
#undef X

// The attributes of spec_elements.h that are not fields: tables without offsets. `option` has the
// offsets of its members, and Tribo's own options as texts.
tbFlatTable tb_flat_table_none(void);
tbFlatTable tb_flat_table_replicate(void);
tbFlatTable tb_flat_table_attach(void);
tbFlatTable tb_flat_table_model(void);
tbFlatTable tb_flat_table_texture(void);
tbFlatTable tb_flat_table_wrap(void);
tbFlatTable tb_flat_table_shortcut(void);
tbFlatTable tb_flat_table_target(void);
tbFlatTable tb_flat_table_option(void);
tbFlatTable tb_flat_table_flag(void);

// Words that more than one file needs.
extern const tbFlatWord tb_flat_words_object[], tb_flat_words_enable[], tb_flat_words_contact[],
    tb_flat_words_reduce[], tb_flat_words_collision[];

// A default class with the initial values of every kind.
tbFlatDefault tb_flat_initial_default(void);

// Name and size of a kind, and access to its array.
typedef struct {
  const char* name;
  size_t size;          // of one element
  size_t array_offset;  // of the pointer in tbFlat
  size_t count_offset;  // of the count in tbFlat
} tbFlatKindInfo;
const tbFlatKindInfo* tb_flat_kind_info(tbFlatKind kind);

// Number of elements of a kind, and element `index` of its array. Every element starts with
// TB_FLAT_COMMON, so its common part can be accessed as tbFlatElement.
typedef struct {
  TB_FLAT_COMMON
} tbFlatElement;
int tb_flat_count(const tbFlat* spec, tbFlatKind kind);
tbFlatElement* tb_flat_at(const tbFlat* spec, tbFlatKind kind, int index);

// Adds one uninitialized element.
void* tb_flat_grow(tbFlat* spec, tbFlatKind kind);

#endif
