// What the files of the MJCF parser share. One tbMjcf parses one model file with its includes; a
// model that is attached has its own.
//
// Functions return false after they have set the error.
#ifndef TRIBO_IO_MJCF_MJCF_H_
#define TRIBO_IO_MJCF_MJCF_H_

#include <libxml/tree.h>
#include <stdbool.h>

#include "io/spec.h"
#include "io/spec_tables.h"

enum {
  TB_MJCF_MAX_DEPTH = 1000,      // nesting of elements
  TB_MJCF_MAX_MODELS = 1000,     // models to attach, all levels together
  TB_MJCF_MAX_ELEMENTS = 100000  // elements of one kind, replicate included
};

// A model that `attach` may refer to.
typedef struct {
  const char* name;
  tbSpec* spec;
} tbMjcfChild;

// Where an element of the tree stands: its body, the frames around it, its default class.
typedef struct {
  int body;
  tbReal pos[3], quat[4];              // of the innermost frame in the body
  tbReal world_pos[3], world_quat[4];  // of the body; kept up only for global coordinates
  int childclass;
} tbMjcfPlace;

// mjcf_refs.c: names that elements use for each other.
typedef struct {
  const char** name;
  unsigned char* kind;  // tbSpecKind
  size_t room, used;
} tbMjcfNames;

typedef struct tbMjcf tbMjcf;
struct tbMjcf {
  tbSpec* spec;
  tbError* error;
  const tbLoadOptions* options;
  const tbMjcf* parent;   // the model that this one is to be attached to, or NULL
  int* models;            // read so far, by the whole family
  const char* path;       // of the main file
  const char* directory;  // of the main file, with a slash at the end, or ""
  const char** included;  // files read so far, in the spec's arena
  int nincluded, included_capacity;
  tbSpecDefault** classes;  // [0] is "main"
  int nclass, class_capacity;
  const char* main_alias;  // another name of "main" in older files, or NULL
  tbMjcfChild* child;
  int nchild, child_capacity;
  bool only_pairs, no_pairs;  // option/collision of older files
  tbMjcfNames frames;         // names of frames so far
};

// mjcf_xml.c: files and text to a tree whose includes are expanded.
xmlDocPtr tb_mjcf_read(tbMjcf* p, const char* text, size_t size, const char* path);
// The file an element came from, and its line.
const char* tb_mjcf_file(const xmlNode* node);
int tb_mjcf_line(const xmlNode* node);
// Tell a tree that another parser made where it came from, so that errors can name the place.
bool tb_mjcf_mark(tbMjcf* p, xmlNode* node, const char* file);
// First or next element, comments and text skipped; NULL at the end.
xmlNode* tb_mjcf_first(const xmlNode* node);
xmlNode* tb_mjcf_next(const xmlNode* node);
bool tb_mjcf_is(const xmlNode* node, const char* name);
// Set the error "file:line: <element>: message" and return false.
bool tb_mjcf_fail(tbMjcf* p, tbResult code, const xmlNode* node, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
bool tb_mjcf_no_memory(tbMjcf* p);
// A file name against the main file's folder and a folder of the compiler settings; where there is
// no such file, against the user's search paths.
const char* tb_mjcf_resolve(tbMjcf* p, const char* folder, const char* file);

// mjcf_attr.c: attributes.
// Read every attribute of `node` into `element` by `table`; names in `extra` (NULL-terminated, may
// be NULL) are left to the caller; others are errors. `own` (may be NULL) gets the bits of the
// fields that this element itself gave.
bool tb_mjcf_fields(tbMjcf* p, const xmlNode* node, tbSpecTable table, void* element,
                    const char* const* extra, uint64_t* own);
// name, source, line and compiler settings of an element.
bool tb_mjcf_common(tbMjcf* p, const xmlNode* node, tbSpecElement* element);
// One attribute as text in the spec's arena; NULL where absent. `missing` fails when it is absent.
const char* tb_mjcf_text(tbMjcf* p, const xmlNode* node, const char* name);
bool tb_mjcf_required(tbMjcf* p, const xmlNode* node, const char* name, const char** value);
bool tb_mjcf_has(const xmlNode* node, const char* name);
// `least` to `most` numbers of an attribute; *count is 0 where it is absent.
bool tb_mjcf_numbers(tbMjcf* p, const xmlNode* node, const char* name, int least, int most,
                     tbReal* values, int* count);
bool tb_mjcf_integer(tbMjcf* p, const xmlNode* node, const char* name, int* value, int* count);
// One word of a table; *value is left alone where the attribute is absent.
bool tb_mjcf_word(tbMjcf* p, const xmlNode* node, const char* name, const tbSpecWord* words,
                  int* value, int* count);
// Refuse attributes that are not in `known` (NULL-terminated).
bool tb_mjcf_only(tbMjcf* p, const xmlNode* node, const char* const* known);
// Error for a child that `node`'s parent does not know; `known` is NULL-terminated.
bool tb_mjcf_unknown_element(tbMjcf* p, const xmlNode* node, const char* const* known);

// A limit needs a range that is not empty; a range needs to be a limit where autolimits is off.
bool tb_mjcf_check_limit(tbMjcf* p, const xmlNode* node, const char* what, int limited,
                         const tbReal range[2]);

// mjcf_pose.c: orientations and frames.
typedef struct {
  const char* eulerseq;
  bool degree;
} tbMjcfAngles;
tbMjcfAngles tb_mjcf_angles(const tbSpecCompiler* compiler);
// Euler angles in the file's unit to a quaternion.
void tb_mjcf_euler(tbReal quat[4], const tbReal euler[3], tbMjcfAngles angles);
// The five members of TB_SPEC_ORIENTATION, wherever they stand, and which of them the element
// itself gave (bit 0 quat, 1 axisangle, 2 xyaxes, 3 zaxis, 4 euler) and it or its class.
typedef struct {
  tbReal* quat;
  const tbReal *axisangle, *xyaxes, *zaxis, *euler;
  unsigned own, given;
} tbMjcfOrientation;
bool tb_mjcf_orient(tbMjcf* p, const xmlNode* node, tbMjcfOrientation orientation);
#define TB_MJCF_ORIENTATION(e, id, own_bits)                                           \
  ((tbMjcfOrientation){(e)->quat, (e)->axisangle, (e)->xyaxes, (e)->zaxis, (e)->euler, \
                       (unsigned)((own_bits) >> TB_BIT_##id##_quat) & 31u,             \
                       (unsigned)((e)->given >> TB_BIT_##id##_quat) & 31u})
// Pose in a frame to pose in the body.
void tb_mjcf_in_frame(const tbReal frame_pos[3], const tbReal frame_quat[4], tbReal pos[3],
                      tbReal quat[4]);
// The inverse: from the frame around it into the frame.
void tb_mjcf_out_of_frame(const tbReal frame_pos[3], const tbReal frame_quat[4], tbReal pos[3],
                          tbReal quat[4]);
// Quaternion that turns z to the direction of `axis`.
void tb_mjcf_z_to(tbReal quat[4], const tbReal axis[3]);

// mjcf_default.c
bool tb_mjcf_defaults(tbMjcf* p, const xmlNode* root);
// Class named by the element's `class` (or `attribute`), else `otherwise`.
bool tb_mjcf_class(tbMjcf* p, const xmlNode* node, const char* attribute, int otherwise,
                   int* result);

// Sections. Each reads every section of its name under the root.
bool tb_mjcf_settings(tbMjcf* p, const xmlNode* root);  // compiler, option, size, statistic
bool tb_mjcf_assets(tbMjcf* p, const xmlNode* section);
bool tb_mjcf_tree(tbMjcf* p, const xmlNode* worldbody);
bool tb_mjcf_contact(tbMjcf* p, const xmlNode* section);
// Notes pairs of geoms that have a later pair, too.
bool tb_mjcf_note_pairs(tbMjcf* p);
bool tb_mjcf_equality(tbMjcf* p, const xmlNode* section);
bool tb_mjcf_tendon(tbMjcf* p, const xmlNode* section);
bool tb_mjcf_actuator(tbMjcf* p, const xmlNode* section);
bool tb_mjcf_sensor(tbMjcf* p, const xmlNode* section);
bool tb_mjcf_custom(tbMjcf* p, const xmlNode* section);
bool tb_mjcf_keyframe(tbMjcf* p, const xmlNode* section);
// Words for the kinds of objects: "body", "xbody", "joint", ...
const tbSpecWord* tb_mjcf_objects(void);

// One actuator of any kind into `actuator`, which holds its class's values.
bool tb_mjcf_one_actuator(tbMjcf* p, const xmlNode* node, tbSpecActuator* actuator, bool is_class);
bool tb_mjcf_is_actuator(const xmlNode* node);

bool tb_mjcf_names_add(tbSpec* spec, tbMjcfNames* names, tbSpecKind kind, const char* name);
bool tb_mjcf_names_has(const tbMjcfNames* names, tbSpecKind kind, const char* name);
// Call `visit` with every reference of an element: the kind it refers to, and the name.
typedef void (*tbMjcfVisit)(void* context, tbSpecKind kind, const char** name);
void tb_mjcf_references(const tbSpec* spec, tbSpecKind kind, tbSpecElement* element,
                        tbMjcfVisit visit, void* context);

// mjcf_keys.c: keyframes of attached models.
bool tb_mjcf_split_keys(tbMjcf* p, const xmlNode* node, tbSpec* child, const char* prefix);
bool tb_mjcf_join_keys(tbSpec* spec);

// mjcf_attach.c
bool tb_mjcf_attach(tbMjcf* p, const xmlNode* node, const tbMjcfPlace* place);
bool tb_mjcf_replicate(tbMjcf* p, const xmlNode* node, const tbMjcfPlace* place, int depth);
// Parse the children of a body, frame or replicate.
bool tb_mjcf_children(tbMjcf* p, const xmlNode* node, const tbMjcfPlace* place, int depth);

// A model for attach; also the whole of tb_spec_parse_mjcf.
tbSpec* tb_mjcf_parse(const char* text, size_t size, const char* path, const tbLoadOptions* options,
                      const tbMjcf* parent, tbError* error);

#endif
