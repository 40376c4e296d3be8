// Types and functions shared by the files of the MJCF parser. One tbMjcf parses one model file with
// its includes; an attached model has its own tbMjcf.
//
// Functions that return false have set the error.
#ifndef TRIBO_IO_MJCF_MJCF_H_
#define TRIBO_IO_MJCF_MJCF_H_

#include <stdbool.h>

#include "io/flat.h"
#include "io/flat_tables.h"
#include "io/spec/tree.h"

enum {
  TB_MJCF_MAX_MODELS = 1000,     // models to attach, all levels together
  TB_MJCF_MAX_ELEMENTS = 100000  // elements of one kind, replicate included
};

// A model that `attach` may refer to.
typedef struct {
  const char* name;
  tbFlat* spec;
} tbMjcfChild;

// Location of an element in the tree: its body, the frames around it, its default class.
typedef struct {
  int body;
  tbReal pos[3], quat[4];              // of the innermost frame in the body
  tbReal world_pos[3], world_quat[4];  // of the body; maintained only for global coordinates
  int childclass;
} tbMjcfPlace;

// resolve_names.c: names by which elements refer to each other.
typedef struct {
  const char** name;
  unsigned char* kind;  // tbFlatKind
  size_t room, used;
} tbMjcfNames;

typedef struct tbMjcf tbMjcf;
struct tbMjcf {
  tbFlat* spec;
  tbError* error;
  const tbLoadOptions* options;
  const tbMjcf* parent;     // the model that attaches this one, or NULL
  int* models;              // number of models read, shared by all levels of attachment
  const char* path;         // of the main file
  const char* directory;    // of the main file, with a slash at the end, or ""
  tbFlatDefault** classes;  // [0] is "main"
  int nclass, class_capacity;
  const char* main_alias;  // another name of "main" in older files, or NULL
  tbMjcfChild* child;
  int nchild, child_capacity;
  bool only_pairs, no_pairs;  // option/collision of older files
  tbMjcfNames frames;         // names of frames so far
};

// The file that contains an element, and its line.
static inline const char* tb_mjcf_file(const tbElement* node) {
  return node->source;
}
static inline int tb_mjcf_line(const tbElement* node) {
  return node->line;
}
static inline const tbElement* tb_mjcf_first(const tbElement* node) {
  return node->first;
}
static inline const tbElement* tb_mjcf_next(const tbElement* node) {
  return node->next;
}
static inline bool tb_mjcf_is(const tbElement* node, const char* name) {
  return tb_element_is(node, name);
}
// Sets the error "file:line: <element>: message" and returns false.
bool tb_mjcf_fail(tbMjcf* p, tbResult code, const tbElement* node, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
bool tb_mjcf_no_memory(tbMjcf* p);
// A file name relative to the main file's folder and a folder of the compiler settings; if there is
// no such file, relative to the user's search paths.
const char* tb_mjcf_find_file(tbMjcf* p, const char* folder, const char* file);

// attr.c: attributes. Reads the attributes of `node` that are fields of `table` into `element`; the
// schema has checked that all others are known. `own` (may be NULL) receives the bits of the fields
// that this element itself gives.
bool tb_mjcf_fields(tbMjcf* p, const tbElement* node, tbFlatTable table, void* element,
                    uint64_t* own);
// Sets name, source, line and compiler settings of an element.
bool tb_mjcf_common(tbMjcf* p, const tbElement* node, tbFlatElement* element);
// One attribute as text of the tree; an error if it is absent or empty.
bool tb_mjcf_required(tbMjcf* p, const tbElement* node, const char* name, const char** value);
bool tb_mjcf_has(const tbElement* node, const char* name);
// `least` to `most` numbers of an attribute; *count is 0 if it is absent.
bool tb_mjcf_numbers(tbMjcf* p, const tbElement* node, const char* name, int least, int most,
                     tbReal* values, int* count);
bool tb_mjcf_integer(tbMjcf* p, const tbElement* node, const char* name, int* value, int* count);
// One word of a table; *value is unchanged if the attribute is absent.
bool tb_mjcf_word(tbMjcf* p, const tbElement* node, const char* name, const tbFlatWord* words,
                  int* value, int* count);
// An active limit needs a range that is not empty; with autolimits off, a range needs an explicit
// flag.
bool tb_mjcf_check_limit(tbMjcf* p, const tbElement* node, const char* what, int limited,
                         const tbReal range[2]);

// pose.c: orientations and frames.
typedef struct {
  const char* eulerseq;
  bool degree;
} tbMjcfAngles;
tbMjcfAngles tb_mjcf_angles(const tbFlatCompiler* compiler);
// Euler angles in the file's unit to a quaternion.
void tb_mjcf_euler(tbReal quat[4], const tbReal euler[3], tbMjcfAngles angles);
// The five members of TB_SPEC_ORIENTATION of any element, and which of them the element itself
// gives (bit 0 quat, 1 axisangle, 2 xyaxes, 3 zaxis, 4 euler), and which it or its class gives.
typedef struct {
  tbReal* quat;
  const tbReal *axisangle, *xyaxes, *zaxis, *euler;
  unsigned own, given;
} tbMjcfOrientation;
bool tb_mjcf_orient(tbMjcf* p, const tbElement* node, tbMjcfOrientation orientation);
#define TB_MJCF_ORIENTATION(e, id, own_bits)                                           \
  ((tbMjcfOrientation){(e)->quat, (e)->axisangle, (e)->xyaxes, (e)->zaxis, (e)->euler, \
                       (unsigned)((own_bits) >> TB_BIT_##id##_quat) & 31u,             \
                       (unsigned)((e)->given >> TB_BIT_##id##_quat) & 31u})
// Transforms a pose in a frame to the pose in the frame's parent.
void tb_mjcf_in_frame(const tbReal frame_pos[3], const tbReal frame_quat[4], tbReal pos[3],
                      tbReal quat[4]);
// The inverse: from the frame's parent to the frame.
void tb_mjcf_out_of_frame(const tbReal frame_pos[3], const tbReal frame_quat[4], tbReal pos[3],
                          tbReal quat[4]);
// Quaternion that rotates z to the direction of `axis`.
void tb_mjcf_z_to(tbReal quat[4], const tbReal axis[3]);

// default.c
bool tb_mjcf_defaults(tbMjcf* p, const tbElement* root);
// The class named by the element's `class` (or `attribute`), else `otherwise`.
bool tb_mjcf_class(tbMjcf* p, const tbElement* node, const char* attribute, int otherwise,
                   int* result);

// Sections. Each function reads one section; tb_mjcf_settings reads all of its sections.
bool tb_mjcf_settings(tbMjcf* p, const tbElement* root);  // compiler, option, size, statistic
bool tb_mjcf_assets(tbMjcf* p, const tbElement* section);
bool tb_mjcf_tree(tbMjcf* p, const tbElement* worldbody);
bool tb_mjcf_contact(tbMjcf* p, const tbElement* section);
// Adds a note for each pair that a later pair of the same geoms overrides.
bool tb_mjcf_note_pairs(tbMjcf* p);
bool tb_mjcf_equality(tbMjcf* p, const tbElement* section);
bool tb_mjcf_tendon(tbMjcf* p, const tbElement* section);
bool tb_mjcf_actuator(tbMjcf* p, const tbElement* section);
bool tb_mjcf_sensor(tbMjcf* p, const tbElement* section);
bool tb_mjcf_custom(tbMjcf* p, const tbElement* section);
bool tb_mjcf_keyframe(tbMjcf* p, const tbElement* section);

// Reads one actuator of any kind into `actuator`, which contains its class's values.
bool tb_mjcf_one_actuator(tbMjcf* p, const tbElement* node, tbFlatActuator* actuator,
                          bool is_class);
bool tb_mjcf_is_actuator(const tbElement* node);

bool tb_mjcf_names_add(tbFlat* spec, tbMjcfNames* names, tbFlatKind kind, const char* name);
bool tb_mjcf_names_has(const tbMjcfNames* names, tbFlatKind kind, const char* name);
// Calls `visit` with every reference of an element: the kind of the target, and the name.
typedef void (*tbMjcfVisit)(void* context, tbFlatKind kind, const char** name);
void tb_mjcf_references(const tbFlat* spec, tbFlatKind kind, tbFlatElement* element,
                        tbMjcfVisit visit, void* context);

// keyframe.c: keyframes of attached models.
bool tb_mjcf_split_keys(tbMjcf* p, const tbElement* node, tbFlat* child, const char* prefix,
                        const char* suffix);
bool tb_mjcf_join_keys(tbFlat* spec);

// attach.c
bool tb_mjcf_attach(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place);
bool tb_mjcf_replicate(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place, int depth);
// Parses the children of a body, frame or replicate.
bool tb_mjcf_children(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place, int depth);

// Resolves a spec, which may be attached to `parent`; the implementation of tb_flat_from_spec. The
// flat spec uses texts of the tree.
tbFlat* tb_mjcf_resolve(const tbSpec* spec, const tbLoadOptions* options, const tbMjcf* parent,
                        tbError* error);

#endif
