// A model that can be changed: load or build it, edit it, compile it, write it.
//
// A spec is a tree of elements with the names, nesting and attributes of MJCF; a URDF is converted
// when it is loaded. Attributes are kept as given: default classes, frames, replicate and attach
// are elements like others, and only compilation resolves them. The manual's page "Models in
// memory" (docs/manual/spec.md) has examples. The table of elements and attributes is the page
// "Elements of MJCF" of the reference, which `make docs` writes from src/io/spec_elements.h.
//
// Functions that return a tbResult or a pointer set `error`, which may be NULL, as loading does; a
// failed call changes nothing. A NULL element is an error, so that calls can be nested. An element
// belongs to its spec; a deleted one stays valid memory until the spec is freed, but using it is an
// error.
#ifndef TRIBO_SPEC_H_
#define TRIBO_SPEC_H_

#include "tribo/data.h"
#include "tribo/model.h"
#include "tribo/spec_fields.h"
#include "tribo/types.h"

typedef struct tbSpec tbSpec;
typedef struct tbElement tbElement;

TB_EXTERN_C_BEGIN

// ---- whole specs --------------------------------------------------------------------------------

// An empty spec: <mujoco><worldbody/></mujoco>. NULL only if out of memory.
TB_API tbSpec* tb_spec_create(void);

// Load MJCF or URDF (mj_parseXML) without compiling it. Included files become part of the spec.
// `options` may be NULL; they are copied and apply to every compilation. Free with tb_spec_free.
TB_API tbSpec* tb_spec_load(const char* path, const tbLoadOptions* options, tbError* error);

// As tb_spec_load from text; relative file names are against `directory` (may be NULL).
TB_API tbSpec* tb_spec_load_xml(const char* xml, const char* directory,
                                const tbLoadOptions* options, tbError* error);

// A spec with the contents of a compiled model, which may have been changed in memory: explicit
// inertias, meshes with inline vertices, no classes. It compiles to the same model, up to rounding
// and the notes.
TB_API tbSpec* tb_spec_from_model(const tbModel* model, tbError* error);

// A deep copy, or NULL when out of memory.
TB_API tbSpec* tb_spec_copy(const tbSpec* spec, tbError* error);
TB_API void tb_spec_free(tbSpec* spec);

// A new model from the spec (mj_compile), which stays as it is and can be changed and compiled
// again.
TB_API tbModel* tb_spec_compile(const tbSpec* spec, tbError* error);

// Compile, and replace *model and its world *data by new ones (mj_recompile). The state is carried
// over: time, qpos and qvel of joints, act and ctrl of actuators, poses of mocap bodies. Elements
// are recognised by name; those without a name by their order among the unnamed ones of their body
// or section. New elements start at their reference. On failure both stay as they are.
TB_API tbResult tb_spec_recompile(const tbSpec* spec, tbModel** model, tbData** data,
                                  tbError* error);

// ---- writing ------------------------------------------------------------------------------------

// Write MJCF (mj_saveXML): every element and attribute as given, numbers set by tb_spec_set_reals
// with the fewest digits that read back as the same number. Reading the file gives an equal spec.
// Folders of meshes and textures are written so that they are found from the new place. Specs that
// were attached in memory are written resolved, into the one file.
TB_API tbResult tb_spec_save(const tbSpec* spec, const char* path, tbError* error);

// The same as text, which the caller frees with tb_text_free. Folders stay as they are given.
TB_API char* tb_spec_save_xml(const tbSpec* spec, tbError* error);
TB_API void tb_text_free(char* text);

// Write a compiled model as MJCF: tb_spec_from_model, then tb_spec_save.
TB_API tbResult tb_save_mjcf(const tbModel* model, const char* path, tbError* error);

// Write a compiled model as URDF, its meshes as .obj files beside it. TB_ERROR_UNSUPPORTED, and no
// file, where bodies or joints have no words there: several joints of a body, ball joints, springs.
// *left_out (may be NULL) lists what else URDF has no words for, a line each ("6 actuators"); NULL
// for nothing. Free it with tb_text_free.
TB_API tbResult tb_save_urdf(const tbModel* model, const char* path, char** left_out,
                             tbError* error);

// Whether two specs have the same elements with the same attributes, in the same order.
TB_API int tb_spec_equal(const tbSpec* a, const tbSpec* b);

// ---- elements -----------------------------------------------------------------------------------

// The root <mujoco>, the world body, and a section ("asset", "default", "actuator", ...), which is
// added where the spec has none. NULL for a name that is no section.
TB_API tbElement* tb_spec_root(tbSpec* spec);
TB_API tbElement* tb_spec_world(tbSpec* spec);
TB_API tbElement* tb_spec_section(tbSpec* spec, const char* name, tbError* error);

// Append an element to another: tb_spec_add(world, "body", "arm", &error). The name may be NULL.
// An unknown tag is an error with the nearest known one.
TB_API tbElement* tb_spec_add(tbElement* parent, const char* tag, const char* name, tbError* error);

// Append one element written in XML, with its contents: "<geom name='foot' size='0.1'/>".
TB_API tbElement* tb_spec_add_xml(tbElement* parent, const char* xml, tbError* error);

// Set an attribute from text as in MJCF, or remove it (NULL). An unknown attribute or a value of
// the wrong form is TB_ERROR_PARSE, with the nearest known word.
TB_API tbResult tb_spec_set(tbElement* element, const char* attribute, const char* text,
                            tbError* error);
// The same from numbers, which must be finite (ranges may be infinite).
TB_API tbResult tb_spec_set_reals(tbElement* element, const char* attribute, const tbReal* values,
                                  int count, tbError* error);

// The attribute's text as given, NULL where it is not given. The pointer is valid until the
// attribute is set again.
TB_API const char* tb_spec_get(const tbElement* element, const char* attribute);
// Its numbers: stores the first `most` of them and returns their count; -1 if it is not given or
// not a list of numbers.
TB_API int tb_spec_get_reals(const tbElement* element, const char* attribute, tbReal* values,
                             int most);

// The attributes as structs, for every kind of TB_SPEC_STRUCTS (spec_fields.h), for instance
//
//   tbSpecGeom tb_spec_default_geom(void);
//   tbResult tb_spec_get_geom(const tbElement* element, tbSpecGeom* values, tbError* error);
//   tbResult tb_spec_set_geom(tbElement* element, const tbSpecGeom* values, tbError* error);
//
// `default` has the initial values, `get` the values that the element itself gives over them, not
// those of its class. `set` sets each attribute whose value differs from what `get` finds; the
// others stay as they are, given or not. Numbers are in the units of the file. Texts and lists of
// `get` are valid until the spec is freed. An element of another kind is TB_ERROR_ARGUMENT.
#define TB_SPEC_STRUCT_FUNCTIONS(kind, type)                                                  \
  TB_API type tb_spec_default_##kind(void);                                                   \
  TB_API tbResult tb_spec_get_##kind(const tbElement* element, type* values, tbError* error); \
  TB_API tbResult tb_spec_set_##kind(tbElement* element, const type* values, tbError* error);
TB_SPEC_STRUCTS(TB_SPEC_STRUCT_FUNCTIONS)
#undef TB_SPEC_STRUCT_FUNCTIONS

// Remove an element with its contents (mjs_delete). An element that refers to it by name is
// an error of the next compilation.
TB_API tbResult tb_spec_delete(tbElement* element, tbError* error);

// The element called `name`. `kind` is "body", "joint", "geom", "site", "camera", "light", "frame",
// "default", "mesh", "hfield", "material", "texture", "model", "pair", "exclude", "equality",
// "tendon", "actuator", "sensor", "numeric", "text", "tuple" or "key". NULL with the nearest name
// in `error` where there is none.
TB_API tbElement* tb_spec_find(const tbSpec* spec, const char* kind, const char* name,
                               tbError* error);

// Walk the tree, and what an element is. NULL where there is nothing.
TB_API const char* tb_spec_tag(const tbElement* element);
TB_API const char* tb_spec_name(const tbElement* element);
TB_API tbElement* tb_spec_parent(const tbElement* element);
TB_API tbElement* tb_spec_first(const tbElement* element);
TB_API tbElement* tb_spec_next(const tbElement* element);

// Attach a copy of a spec to a body, frame or site of another (mjs_attach). `child` is the root or
// the world of a spec (all of its world) or one of its bodies (that body with its subtree); what
// refers only to the attached part comes along. Names get the prefix and the suffix, which may be
// NULL. The result is the new <attach> element.
TB_API tbElement* tb_spec_attach(tbElement* place, const tbElement* child, const char* prefix,
                                 const char* suffix, tbError* error);

TB_EXTERN_C_END

#endif
