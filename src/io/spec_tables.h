// The lists of spec_fields.h as tables, for code that handles all kinds of elements.
#ifndef TRIBO_IO_SPEC_TABLES_H_
#define TRIBO_IO_SPEC_TABLES_H_

#include "io/spec.h"

typedef enum {
  TB_FIELD_REAL,
  TB_FIELD_INT,
  TB_FIELD_ENUM,
  TB_FIELD_TEXT,
  TB_FIELD_LIST,
  TB_FIELD_SKIP
} tbSpecFieldKind;

// A word of an enumeration; a table ends with a NULL word.
typedef struct {
  const char* word;
  int value;
} tbSpecWord;

typedef struct {
  const char* name;
  tbSpecFieldKind kind;
  int least, most;
  size_t offset;  // of the member
  const tbSpecWord* words;
} tbSpecField;

// The member with the name of the first (k = 0) or the second object of an actuator by a type of
// transmission; NULL where the actuator can have none.
const char** tb_spec_transmission(tbSpecActuator* actuator, int type, int k);

// The fields of one kind of element; the position of a field is its bit in `given`.
typedef struct {
  const tbSpecField* field;
  int nfield;
} tbSpecTable;

// X(name, LIST, Type): every list with its struct.
#define TB_SPEC_TABLES(X)                                \
  X(body, TB_SPEC_BODY, tbSpecBody)                      \
  X(inertial, TB_SPEC_INERTIAL, tbSpecInertial)          \
  X(joint, TB_SPEC_JOINT, tbSpecJoint)                   \
  X(geom, TB_SPEC_GEOM, tbSpecGeom)                      \
  X(site, TB_SPEC_SITE, tbSpecSite)                      \
  X(camera, TB_SPEC_CAMERA, tbSpecCamera)                \
  X(light, TB_SPEC_LIGHT, tbSpecLight)                   \
  X(mesh, TB_SPEC_MESH, tbSpecMesh)                      \
  X(hfield, TB_SPEC_HFIELD, tbSpecHField)                \
  X(material, TB_SPEC_MATERIAL, tbSpecMaterial)          \
  X(pair, TB_SPEC_PAIR, tbSpecPair)                      \
  X(exclude, TB_SPEC_EXCLUDE, tbSpecExclude)             \
  X(equality, TB_SPEC_EQUALITY, tbSpecEquality)          \
  X(tendon, TB_SPEC_TENDON, tbSpecTendon)                \
  X(actuator, TB_SPEC_ACTUATOR, tbSpecActuator)          \
  X(sensor, TB_SPEC_SENSOR, tbSpecSensor)                \
  X(numeric, TB_SPEC_NUMERIC, tbSpecNumeric)             \
  X(text, TB_SPEC_TEXTFIELD, tbSpecTextField)            \
  X(tupleitem, TB_SPEC_TUPLEITEM, tbSpecTupleItem)       \
  X(key, TB_SPEC_KEY, tbSpecKey)                         \
  X(compiler, TB_SPEC_COMPILER, tbSpecCompiler)          \
  X(lengthrange, TB_SPEC_LENGTHRANGE, tbSpecLengthRange) \
  X(size, TB_SPEC_SIZE, tbSpecSize)                      \
  X(statistic, TB_SPEC_STATISTIC, tbSpecStatistic)

// tb_spec_table_geom() and the element with initial values, tb_spec_initial_geom().
#define X(name, list, type)               \
  tbSpecTable tb_spec_table_##name(void); \
  type tb_spec_initial_##name(void);
TB_SPEC_TABLES(X)
#undef X

// A default class with the initial values of every kind.
tbSpecDefault tb_spec_initial_default(void);

// Name and size of a kind, and access to its array.
typedef struct {
  const char* name;
  size_t size;          // of one element
  size_t array_offset;  // of the pointer in tbSpec
  size_t count_offset;  // of the count in tbSpec
} tbSpecKindInfo;
const tbSpecKindInfo* tb_spec_kind_info(tbSpecKind kind);

// Number of elements of a kind, and element `index` of its array. Every element starts with
// TB_SPEC_COMMON, so its common part can be accessed as tbSpecElement.
typedef struct {
  TB_SPEC_COMMON
} tbSpecElement;
int tb_spec_count(const tbSpec* spec, tbSpecKind kind);
tbSpecElement* tb_spec_at(const tbSpec* spec, tbSpecKind kind, int index);

// Adds one uninitialized element.
void* tb_spec_grow(tbSpec* spec, tbSpecKind kind);

#endif
